//! What every format of tables shows of itself.

use std::borrow::Cow;

use crate::error::{ReadError, Unit};

/// A table that can be gone through again and again.
pub(super) trait Tabular {
    /// What the places of its rows are counted in.
    const UNIT: Unit;
    type Row<'r>: Cells<'r>;

    /// Shows the rows of data, of which only the wanted columns are looked at. `header`: the first row is none of them, where
    /// rows are all there is to a table.
    fn each_row(
        &self,
        header: bool,
        wanted: &[usize],
        visit: impl FnMut(Self::Row<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError>;
}

/// The cells of one row.
pub(super) trait Cells<'r>: Copy {
    /// Its line or number, from 1.
    fn line(self) -> u64;

    /// The cell as text without spaces around it, empty where there is nothing.
    fn text(self, column: usize) -> Cow<'r, str>;

    /// The number, where the format itself says that the cell is one.
    fn number(self, column: usize) -> Option<f64>;
}
