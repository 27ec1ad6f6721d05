//! Blocks of kernel values.
//!
//! A few rows (a working set, a block of examples) are laid out side by side as [`Tiles`]; many rows are gone through one after the other, and all sums of one row with a tile stay in
//! registers. Dense rows are multiplied a dozen at a time with two panels of sixteen, a few hundred columns at a time; of sparse rows only what is not zero is looked at, in a table of the columns
//! that the tile has. Nothing here is as large as n × n: a caller asks for as many rows as it has room for.

mod combine;

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use crate::data::{Csr, DataError, Matrix, Rows};
use crate::kernel::{Kernel, Pairing};
use crate::simd::{Absolute, Chi, LANES, Product, ROWS, multiply, pair};
use crate::similarity::Similarity;
use crate::with_rows;

pub(crate) use combine::Combination;

/// Rows that a kernel is evaluated on.
///
/// ```
/// use rosenblatt::{Dense, Gram, Kernel};
/// let x = Dense::new(vec![1.0f32, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?.into();
/// let gram = Gram::new(Kernel::Poly { degree: 2, gamma: 1.0, coef0: 0.0 }, &x)?;
/// let set = gram.tiles(&gram, &[0, 1]);
/// let mut values = [0.0; 8];
/// gram.values(&set, &[0, 1, 2, 3], &mut values); // each row with each of the set
/// assert_eq!(values, [4.0, 0.0, 0.0, 4.0, 4.0, 0.0, 0.0, 4.0]);
/// # Ok::<(), rosenblatt::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gram<'a> {
    kernel: Similarity,
    x: &'a Matrix<'a>,
    /// What each row brings by itself.
    alone: Vec<f32>,
    /// Where values are precomputed, a row is known to others by its number: that of the first.
    first: Option<usize>,
    /// What is taken from every row before distances are formed.
    centre: Option<Arc<[f32]>>,
    /// Whether rows are gone through with their zeros.
    dense: bool,
}

/// A few rows side by side.
#[derive(Clone, Debug)]
pub struct Tiles {
    len: usize,
    alone: Vec<f32>,
    /// Rows in a tile.
    lanes: usize,
    tiles: Vec<Tile>,
    /// The rows as they are, for kernels that we do not know.
    rows: Option<Matrix<'static>>,
}

/// Rows of a table, each with an entry for each row of the tile: one for each column, or for those that have an entry at all.
#[derive(Clone, Debug)]
struct Tile {
    table: Vec<f32>,
    /// For each column its row of the table, counted from 1; 0 where it has none.
    places: Option<Vec<u32>>,
}

/// Rows that one task goes through: with a few hundred columns at a time they stay in the second cache.
const CHUNK: usize = 8 * ROWS;

/// Columns of two panels that stay in the first cache.
const COLUMNS: usize = 1024;

/// A table that stays in the second cache, in numbers.
const TABLE: usize = 1 << 17;

impl<'a> Gram<'a> {
    /// Refuses rows the kernel is not defined for.
    pub fn new(kernel: impl Into<Similarity>, x: &'a Matrix<'a>) -> Result<Self, DataError> {
        let kernel = kernel.into();
        kernel.check_range(x)?;
        kernel.check_training(x)?;
        Ok(Gram::about(&kernel, x, middle(&kernel, x), Some(0)))
    }

    /// Rows that have been checked, and others to compare them with, from the middle of the first, if they are of the same width.
    pub(crate) fn both(kernel: &Similarity, x: &'a Matrix<'a>, z: &'a Matrix<'a>) -> (Self, Self) {
        let centre = if x.n_cols() == z.n_cols() { middle(kernel, x) } else { None };
        (Gram::about(kernel, x, centre.clone(), None), Gram::about(kernel, z, centre, None))
    }

    /// Rows that have been checked, where they are: streams cannot know the middle of what is to come.
    pub(crate) fn stored(kernel: &Similarity, x: &'a Matrix<'a>) -> Self {
        Gram::about(kernel, x, None, None)
    }

    /// The same for rows to learn from, the first of which has this number.
    pub(crate) fn numbered(kernel: &Similarity, x: &'a Matrix<'a>, first: usize) -> Self {
        Gram::about(kernel, x, None, Some(first))
    }

    /// Other rows, seen from the same centre: to predict on.
    pub fn other<'b>(&self, x: &'b Matrix<'b>) -> Result<Gram<'b>, DataError> {
        self.kernel.check_range(x)?;
        let bound = self.centre.is_some() || self.first.is_some();
        if bound && x.n_cols() != self.x.n_cols() {
            return Err(DataError::Features { found: x.n_cols(), expected: self.x.n_cols() });
        }
        Ok(Gram::about(&self.kernel, x, self.centre.clone(), None))
    }

    fn about<'b>(
        kernel: &Similarity,
        x: &'b Matrix<'b>,
        centre: Option<Arc<[f32]>>,
        first: Option<usize>,
    ) -> Gram<'b> {
        /// From this share of entries on zeros cost less than going around them.
        const FULL: f64 = 0.5;
        let first = first.filter(|_| kernel.kernel() == Some(Kernel::Precomputed));
        let cells = x.n_rows() as f64 * x.n_cols() as f64;
        let full = cells > 0.0 && x.entries() as f64 >= FULL * cells;
        let dense = first.is_none() && (centre.is_some() || !x.is_sparse() || full);
        let mut gram = Gram { kernel: kernel.clone(), x, alone: vec![0.0; x.n_rows()], first, centre, dense };
        if let Some(pairing) =
            kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed).map(Kernel::pairing)
        {
            gram.alone = gram.alone_by(pairing);
        }
        gram
    }

    fn alone_by(&self, pairing: Pairing) -> Vec<f32> {
        (0..self.len())
            .into_par_iter()
            .map_init(Vec::new, |room, i| {
                self.entries(i, room);
                pairing.alone(room.iter().map(|&(_, v)| v))
            })
            .collect()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.x.n_rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows.
    pub fn rows(&self) -> &'a Matrix<'a> {
        self.x
    }

    /// The kernel.
    pub fn kernel(&self) -> &Similarity {
        &self.kernel
    }

    /// Rows of `of`, made ready for values with rows of these.
    pub fn tiles(&self, of: &Gram<'_>, rows: &[usize]) -> Tiles {
        let bare = Tiles { len: rows.len(), alone: Vec::new(), lanes: LANES, tiles: Vec::new(), rows: None };
        let kernel = match &self.kernel {
            _ if self.is_empty() => return bare,
            Similarity::User(_) => return Tiles { rows: Some(of.x.select(rows)), ..bare },
            Similarity::Kernel(kernel) => kernel,
        };
        let n_cols = self.x.n_cols().max(of.x.n_cols());
        let multiplied = self.dense && kernel.pairing() == Pairing::Product;
        let lanes = if multiplied { LANES } else { lanes(n_cols, of.x, rows) };
        let compressed = !self.dense && n_cols * lanes > TABLE;
        let tile = |rows: &[usize]| of.tile(rows, lanes, n_cols, compressed);
        let tiles = rows.par_chunks(lanes).map(tile).collect();
        Tiles { alone: rows.iter().map(|&i| of.alone[i]).collect(), lanes, tiles, ..bare }
    }

    fn tile(&self, rows: &[usize], lanes: usize, n_cols: usize, compressed: bool) -> Tile {
        let mut room = Vec::new();
        let mut places = compressed.then(Vec::new);
        let mut table = if compressed { Vec::new() } else { vec![0.0; n_cols * lanes] };
        for (lane, &i) in rows.iter().enumerate() {
            self.entries(i, &mut room);
            for &(j, v) in &room {
                let at = match &mut places {
                    None => j as usize,
                    Some(places) => {
                        // As long as the tile's own largest column asks for.
                        places.resize(places.len().max(j as usize + 1), 0u32);
                        let place = &mut places[j as usize];
                        if *place == 0 {
                            table.resize(table.len() + lanes, 0.0);
                            *place = (table.len() / lanes) as u32;
                        }
                        *place as usize - 1
                    }
                };
                table[at * lanes + lane] = v;
            }
        }
        Tile { table, places }
    }

    /// The entries of a row as the kernel sees them.
    fn entries(&self, i: usize, room: &mut Vec<(u32, f32)>) {
        room.clear();
        match &self.centre {
            None => with_rows!(self.x, x => x.each(i, |j, v| room.push((j as u32, v as f32)))),
            Some(centre) => {
                room.extend((0..).zip(centre.iter().map(|c| -c)));
                with_rows!(self.x, x => x.each(i, |j, v| room[j].1 = v as f32 - centre[j]));
            }
        }
    }

    /// A row as others meet it: its entries, or where values are precomputed its number, of which theirs have a column.
    fn entries_met(&self, i: usize, room: &mut Vec<(u32, f32)>) {
        match self.first {
            None => self.entries(i, room),
            Some(first) => {
                room.clear();
                room.push(((first + i) as u32, 1.0));
            }
        }
    }

    /// What is kept of a row where its number is all that is needed.
    pub(crate) fn number(&self, i: usize) -> Option<Csr<'static, f32>> {
        let column = self.first? + i;
        Csr::new(vec![0, 1], vec![column as u32], vec![1.0], column + 1).ok()
    }

    /// K of each of these rows with each of the set, row after row.
    pub fn values(&self, set: &Tiles, rows: &[usize], out: &mut [f32]) {
        assert_eq!(out.len(), rows.len() * set.len, "room for each row with each of the set");
        match (&self.kernel, &set.rows) {
            _ if set.len == 0 => {}
            (Similarity::Kernel(kernel), _) => self.values_by(*kernel, set, rows, out),
            (Similarity::User(user), Some(z)) => user.block(self.x, rows, z, out),
            // Tiles are made for these rows, of which there are none.
            (Similarity::User(_), None) => {}
        }
    }

    fn values_by(&self, kernel: Kernel, set: &Tiles, rows: &[usize], out: &mut [f32]) {
        let chunks = out.par_chunks_mut(CHUNK * set.len).zip(rows.par_chunks(CHUNK));
        chunks.for_each_init(Vec::new, |sums, (out, rows)| {
            let stride = set.tiles.len() * set.lanes;
            sums.clear();
            sums.resize(rows.len() * stride, 0.0);
            match (self.dense, kernel.pairing()) {
                (true, Pairing::Product) => self.multiply(set, rows, sums, stride),
                (_, Pairing::Product) => self.pair::<Product>(set, rows, sums, stride),
                (_, Pairing::Absolute) => self.pair::<Absolute>(set, rows, sums, stride),
                (_, Pairing::Chi) => self.pair::<Chi>(set, rows, sums, stride),
            }
            for ((out, sums), &i) in out.chunks_mut(set.len).zip(sums.chunks(stride)).zip(rows) {
                out.copy_from_slice(&sums[..set.len]);
                kernel.finish(out, self.alone[i], &set.alone);
            }
        });
    }

    fn multiply(&self, set: &Tiles, rows: &[usize], sums: &mut [f32], stride: usize) {
        let rows: Vec<Cow<'_, [f32]>> = rows.iter().map(|&i| self.dense_row(i)).collect();
        let n_cols = self.x.n_cols();
        for from in (0..n_cols).step_by(COLUMNS) {
            let columns = from..(from + COLUMNS).min(n_cols);
            for (at, tiles) in set.tiles.chunks(2).enumerate() {
                let lines = columns.start * LANES..columns.end * LANES;
                let panels: Vec<&[f32]> = tiles.iter().map(|tile| &tile.table[lines.clone()]).collect();
                for (rows, sums) in rows.chunks(ROWS).zip(sums.chunks_mut(ROWS * stride)) {
                    let mut parts: [&[f32]; ROWS] = [&[]; ROWS];
                    parts.iter_mut().zip(rows).for_each(|(part, row)| *part = &row[columns.clone()]);
                    multiply(&parts[..rows.len()], &panels, &mut sums[2 * at * LANES..], stride);
                }
            }
        }
    }

    /// Kernel rows of a set: for each of its rows K with each of the columns, which are rows, too.
    pub(crate) fn kernel_rows(&self, set: &[usize], columns: &[usize], mut out: Vec<&mut [f32]>) {
        /// Columns that are gone through at a time: their values are turned around before they are kept.
        const STRIP: usize = 4096;
        let tiles = self.tiles(self, set);
        let mut room = vec![0.0; STRIP.min(columns.len()) * set.len()];
        for (at, strip) in columns.chunks(STRIP).enumerate() {
            let room = &mut room[..strip.len() * set.len()];
            self.values(&tiles, strip, room);
            out.par_iter_mut().enumerate().for_each(|(row, out)| {
                let places = out[at * STRIP..].iter_mut();
                places.zip(room.chunks(set.len())).for_each(|(place, values)| *place = values[row]);
            });
        }
    }

    /// A row with its zeros; copied only where it is not stored so.
    fn dense_row(&self, i: usize) -> Cow<'_, [f32]> {
        if let (Matrix::DenseF32(x), None) = (self.x, &self.centre) {
            return Cow::Borrowed(x.row(i));
        }
        let mut row = match &self.centre {
            Some(centre) => centre.iter().map(|c| -c).collect(),
            None => vec![0.0; self.x.n_cols()],
        };
        match &self.centre {
            Some(centre) => with_rows!(self.x, x => x.each(i, |j, v| row[j] = v as f32 - centre[j])),
            None => with_rows!(self.x, x => x.each(i, |j, v| row[j] = v as f32)),
        }
        Cow::Owned(row)
    }

    /// A tile at a time, so that its table stays near.
    fn pair<P: crate::simd::Pair>(&self, set: &Tiles, rows: &[usize], sums: &mut [f32], stride: usize) {
        let chunk = Entries::of(self, rows);
        let mut known = (Vec::new(), Vec::new());
        for (at, tile) in set.tiles.iter().enumerate() {
            for (row, sums) in sums.chunks_mut(stride).enumerate() {
                let (columns, values) = chunk.row(row);
                let sums = &mut sums[at * set.lanes..][..set.lanes];
                let (places, values) = tile.find(columns, values, &mut known);
                pair::<P>(places, values, &tile.table, sums);
            }
        }
    }
}

impl Tile {
    /// The entries in columns that the tile has, each with its row of the table.
    fn find<'e>(
        &self,
        columns: &'e [u32],
        values: &'e [f32],
        known: &'e mut (Vec<u32>, Vec<f32>),
    ) -> (&'e [u32], &'e [f32]) {
        let Some(places) = &self.places else { return (columns, values) };
        let (found, kept) = known;
        found.clear();
        kept.clear();
        for (&j, &v) in columns.iter().zip(values) {
            if let Some(&place @ 1..) = places.get(j as usize) {
                found.push(place - 1);
                kept.push(v);
            }
        }
        (found, kept)
    }
}

/// The entries of a few rows as the kernel sees them.
struct Entries {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Entries {
    fn of(gram: &Gram<'_>, rows: &[usize]) -> Self {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut room = Vec::new();
        for &i in rows {
            gram.entries_met(i, &mut room);
            columns.extend(room.iter().map(|&(j, _)| j));
            values.extend(room.iter().map(|&(_, v)| v));
            starts.push(columns.len());
        }
        Entries { starts, columns, values }
    }

    fn row(&self, at: usize) -> (&[u32], &[f32]) {
        let range = self.starts[at]..self.starts[at + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
}

impl Tiles {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Rows of a tile, as many as leave its table in the second cache.
fn lanes(n_cols: usize, x: &Matrix<'_>, rows: &[usize]) -> usize {
    let entries = x.entries().div_ceil(x.n_rows().max(1));
    let fits = |lanes: &usize| lanes * n_cols.min(lanes * entries) <= TABLE && *lanes < 2 * rows.len();
    [96, 48, 32].into_iter().find(fits).unwrap_or(LANES)
}

/// What is taken from rows before distances are formed, if anything is to be.
fn middle(kernel: &Similarity, x: &Matrix<'_>) -> Option<Arc<[f32]>> {
    if kernel.kernel().is_some_and(Kernel::is_of_distance) { centre(x) } else { None }
}

/// The mean row, where it is long beside the distances between rows: ‖u‖² + ‖v‖² − 2u·v would be a small difference of large numbers.
fn centre(x: &Matrix<'_>) -> Option<Arc<[f32]>> {
    /// Rows looked at.
    const MANY: usize = 4096;
    /// Share of entries below which zeros are where the middle is.
    const FULL: f64 = 0.25;
    let (n_rows, n_cols) = (x.n_rows(), x.n_cols());
    let step = n_rows.div_ceil(MANY).max(1);
    // Rows with few entries may have more columns than there is room for.
    if (x.entries() as f64) < FULL * n_rows.div_ceil(step) as f64 * n_cols as f64 {
        return None;
    }
    let (mut mean, mut squares, mut seen, mut entries) = (vec![0.0; n_cols], 0.0, 0.0, 0.0);
    for i in (0..n_rows).step_by(step) {
        with_rows!(x, x => x.each(i, |j, v| {
            mean[j] += v;
            squares += v * v;
            entries += f64::from(u8::from(v != 0.0));
        }));
        seen += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= f64::max(seen, 1.0));
    let middle: f64 = mean.iter().map(|m| m * m).sum();
    let apart = squares / f64::max(seen, 1.0) - middle;
    let pays = middle > apart && entries >= FULL * seen * n_cols as f64;
    pays.then(|| mean.iter().map(|&m| m as f32).collect())
}
