//! Entries by column, for solvers that look at one feature at a time.

use super::Binary;
use crate::data::{Float, Matrix, Rows};

/// The entries of the examples of a problem by column, in the precision that they came in. Made once for all problems over the same rows.
pub(crate) enum Columns {
    Single(Table<f32>),
    Double(Table<f64>),
}

impl Columns {
    pub(super) fn new<R: Rows>(problem: &Binary<'_, R>) -> Self {
        if R::SINGLE { Columns::Single(Table::new(problem)) } else { Columns::Double(Table::new(problem)) }
    }

    /// Bytes that it takes at most.
    pub(super) fn bytes(x: &Matrix<'_>) -> usize {
        let value = if x.is_single() { size_of::<f32>() } else { size_of::<f64>() };
        let starts = (x.n_cols() + 1).saturating_mul(size_of::<usize>());
        x.entries().saturating_mul(size_of::<u32>() + value).saturating_add(starts)
    }
}

/// Columns one behind the other.
pub(crate) struct Table<T> {
    /// Where each column starts.
    starts: Vec<usize>,
    /// Which example of the problem an entry belongs to.
    places: Vec<u32>,
    values: Vec<T>,
}

impl<T: Float> Table<T> {
    fn new<R: Rows>(problem: &Binary<'_, R>) -> Self {
        let mut starts = vec![0; problem.x.n_cols() + 1];
        let each = |of: &mut dyn FnMut(usize, usize, f64)| {
            for (i, example) in problem.examples.iter().enumerate() {
                problem.x.each(example.row as usize, |j, value| {
                    if value != 0.0 {
                        of(i, j, value);
                    }
                });
            }
        };
        each(&mut |_, j, _| starts[j + 1] += 1);
        (1..starts.len()).for_each(|j| starts[j] += starts[j - 1]);
        let mut next = starts.clone();
        let size = starts.last().copied().unwrap_or(0);
        let (mut places, mut values) = (vec![0; size], vec![T::narrow(0.0); size]);
        each(&mut |i, j, value| {
            let at = next[j];
            (places[at], values[at]) = (i as u32, T::narrow(value));
            next[j] = at + 1;
        });
        Table { starts, places, values }
    }

    /// How many columns there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Examples and values of a column.
    #[inline]
    pub(super) fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let range = self.starts[j]..self.starts[j + 1];
        let places = self.places[range.clone()].iter().map(|&i| i as usize);
        places.zip(self.values[range].iter().map(|value| value.wide()))
    }
}
