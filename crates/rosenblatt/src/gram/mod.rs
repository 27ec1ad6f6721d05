//! Blocks of kernel values.
//!
//! Some rows are laid out side by side as [`Tiles`]; others are gone through one after the other (`Lines`), and all sums of one row with a tile stay in registers. Dense rows are multiplied
//! a dozen at a time with two panels of sixteen; of sparse rows only what is not zero is looked at, in a table of the columns that the tile has; rows of whole numbers are multiplied as
//! bytes. Nothing here is as large as n × n: a caller asks for as many rows as it has room for.

mod block;
mod centre;
mod combine;
mod lines;
mod precise;
mod strips;
mod tiles;
mod whole;

use rayon::prelude::*;

use crate::data::{Csr, DataError, Matrix, Rows};
use crate::kernel::{Kernel, Pairing};
use crate::simd::{Loop, ROWS, has_wide_products, widely};
use crate::similarity::Similarity;

use block::{Room, fill};
pub(crate) use centre::{Centre, Reach};
pub(crate) use combine::Combination;
pub(crate) use strips::Strips;
pub use tiles::Tiles;
use whole::Whole;

/// Rows that a kernel is evaluated on.
///
/// Values are single precision: off by a few ten millionths of √(K(u, u)·K(v, v)), and so of themselves where no product of entries is negative; where these cancel, as much less is left of them, and a power multiplies errors by its degree. A
/// distance has that part of γ·‖u − c‖² (of γ·Σ|u − c|, for sums of differences), c being the middle of the rows: learners and models refuse rows for which that is more than 10⁴.
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
    /// ‖x‖² of each row, where values are made of products.
    alone: Vec<f32>,
    /// Where values are precomputed, a row is known to others by its number: that of the first.
    first: Option<usize>,
    /// What is taken from every row before distances are formed.
    centre: Centre,
    /// Whether rows are gone through with their zeros.
    dense: bool,
    /// Which rows are whole numbers, for kernels that are made of products.
    whole: Whole,
}

/// How values of the rows of two matrices are formed.
struct Footing {
    /// Whether they are, or some are, in single precision.
    floats: bool,
    /// The scales on which those of whole numbers are formed.
    scales: u8,
}

/// Rows that one task goes through: with a few hundred columns at a time they stay in the second cache.
const CHUNK: usize = 8 * ROWS;

impl<'a> Gram<'a> {
    /// Refuses rows the kernel is not defined for.
    pub fn new(kernel: impl Into<Similarity>, x: &'a Matrix<'a>) -> Result<Self, DataError> {
        let kernel = kernel.into();
        kernel.check_range(x, 0)?;
        kernel.check_training(x)?;
        Ok(Gram::about(&kernel, x, Centre::middle(&kernel, x), Some(0)))
    }

    /// Rows that have been checked, and others to compare them with, from the middle of the first.
    pub(crate) fn both(kernel: &Similarity, x: &'a Matrix<'a>, z: &'a Matrix<'a>) -> (Self, Self) {
        let centre = Centre::middle(kernel, x);
        (Gram::about(kernel, x, centre.clone(), None), Gram::about(kernel, z, centre, None))
    }

    /// Rows that have been checked, where they are.
    pub(crate) fn plain(kernel: &Similarity, x: &'a Matrix<'a>) -> Self {
        Gram::about(kernel, x, Centre::default(), None)
    }

    /// Refuses rows that are not to be seen from where they are: those that the kernel is not defined for, and those too far from 0.
    pub(crate) fn check_plain(kernel: &Similarity, x: &Matrix<'_>) -> Result<(), DataError> {
        kernel.check_range(x, 0)?;
        Reach::Learning.check(kernel, x, 0..x.n_rows(), &Centre::default())
    }

    /// The same, seen from a centre.
    pub(crate) fn from(kernel: &Similarity, x: &'a Matrix<'a>, centre: &Centre) -> Self {
        Gram::about(kernel, x, centre.clone(), None)
    }

    /// The same for rows to learn from, the first of which has this number.
    pub(crate) fn numbered(kernel: &Similarity, x: &'a Matrix<'a>, first: usize, centre: &Centre) -> Self {
        Gram::about(kernel, x, centre.clone(), Some(first))
    }

    /// Refuses rows that are too far away from the centre of these, or some of these themselves, for their distances to be told.
    pub(crate) fn check_reach(&self, x: &Matrix<'_>, reach: Reach) -> Result<(), DataError> {
        reach.check(&self.kernel, x, 0..x.n_rows(), &self.centre)
    }

    /// Refuses rows that cannot be compared with stored ones: those that the kernel is not defined for, and those too far from the middle of these.
    pub(crate) fn check_new(
        kernel: &Similarity,
        stored: &Matrix<'_>,
        x: &Matrix<'_>,
    ) -> Result<(), DataError> {
        kernel.check_range(x, 0)?;
        Reach::Predicting.check(kernel, x, 0..x.n_rows(), &Centre::middle(kernel, stored))
    }

    /// Other rows, seen from the same centre: to predict on.
    pub fn other<'b>(&self, x: &'b Matrix<'b>) -> Result<Gram<'b>, DataError> {
        self.kernel.check_range(x, 0)?;
        let bound = !self.centre.is_zero() || self.first.is_some();
        if bound && x.n_cols() != self.x.n_cols() {
            return Err(DataError::Features { found: x.n_cols(), expected: self.x.n_cols() });
        }
        Ok(Gram::about(&self.kernel, x, self.centre.clone(), None))
    }

    fn about<'b>(kernel: &Similarity, x: &'b Matrix<'b>, centre: Centre, first: Option<usize>) -> Gram<'b> {
        /// From this share of entries on zeros cost less than going around them.
        const FULL: f64 = 0.5;
        let first = first.filter(|_| kernel.kernel() == Some(Kernel::Precomputed));
        let cells = x.n_rows() as f64 * x.n_cols() as f64;
        let full = cells > 0.0 && x.entries() as f64 >= FULL * cells;
        let dense = first.is_none() && (centre.fills(x.n_cols()) || !x.is_sparse() || full);
        let (alone, whole) = (vec![0.0; x.n_rows()], Whole::default());
        let mut gram = Gram { kernel: kernel.clone(), x, alone, first, centre, dense, whole };
        if gram.is_of_products() {
            gram.alone = gram.squares();
            gram.whole = Whole::of(x);
        }
        gram
    }

    /// Whether values are made of products, and so are the same to the bit if two rows change places.
    fn is_of_products(&self) -> bool {
        let kernel = self.kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed);
        kernel.is_some_and(|kernel| kernel.pairing() == Pairing::Product)
    }

    /// Values of two rows of whole numbers are exact. Where single precision is so, too, it is a question of time.
    fn footing(&self, of: &Gram<'_>) -> Footing {
        /// One of so many entries is not zero where bytes are as fast as going around zeros.
        const SPARSEST: usize = 10;
        let everywhere = self.whole.all & of.whole.all;
        let loose = self.whole.loose | of.whole.loose | if self.centre.is_zero() { 0 } else { !0 };
        if !self.is_of_products() {
            return Footing { floats: true, scales: 0 };
        }
        if everywhere == 0 {
            return Footing { floats: true, scales: self.whole.any & of.whole.any & loose };
        }
        let scale = everywhere & everywhere.wrapping_neg();
        let filled = self.dense || self.x.entries() / self.len() * SPARSEST >= self.x.n_cols();
        if loose & scale != 0 || (filled && has_wide_products()) {
            return Footing { floats: false, scales: scale };
        }
        Footing { floats: true, scales: 0 }
    }

    fn squares(&self) -> Vec<f32> {
        (0..self.len()).into_par_iter().map(|i| widely(Square { gram: self, i })).collect()
    }

    /// How far a row is from the centre; 0 where values are not made of products.
    pub(crate) fn length(&self, i: usize) -> f64 {
        f64::from(self.alone[i]).sqrt()
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

    /// The entries of a row as the kernel sees them.
    #[inline(always)]
    fn each(&self, i: usize, mut f: impl FnMut(usize, f32)) {
        self.centre.each(self.x, i, |j, v| f(j, v as f32));
    }

    /// How many columns rows have as the kernel sees them.
    fn width(&self) -> usize {
        self.x.n_cols().max(self.centre.width())
    }

    /// A row as others meet it: its entries, or where values are precomputed its number, of which theirs have a column.
    fn each_met(&self, i: usize, mut f: impl FnMut(usize, f32)) {
        match self.first {
            None => self.each(i, f),
            Some(first) => f(first + i, 1.0),
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
        chunks.for_each_init(Room::default, |room, (out, rows)| {
            let lines = self.lines(kernel, set, rows);
            let mut out: Vec<&mut [f32]> = out.chunks_mut(set.len).collect();
            fill(kernel, set, &lines, &mut out, room);
        });
    }
}

/// ‖x‖², summed up as the product of the row with itself is, so that ‖x − x‖² comes to 0.
struct Square<'g> {
    gram: &'g Gram<'g>,
    i: usize,
}

impl Loop for Square<'_> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        let mut sum = 0.0;
        self.gram.each(self.i, |_, v| sum = v.mul_add(v, sum));
        sum
    }
}
