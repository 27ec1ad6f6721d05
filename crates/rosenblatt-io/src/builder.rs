//! Matrices row by row.

use std::str::FromStr;

use rosenblatt::{Csr, DataError, Dense, Float, Matrix};

use crate::number::Round;

/// A type features are read into.
pub(crate) trait Value: Float + FromStr + Round {
    fn sparse(x: Csr<'static, Self>) -> Matrix<'static>;
    fn dense(x: Dense<'static, Self>) -> Matrix<'static>;
}

impl Value for f32 {
    fn sparse(x: Csr<'static, f32>) -> Matrix<'static> {
        x.into()
    }
    fn dense(x: Dense<'static, f32>) -> Matrix<'static> {
        x.into()
    }
}

impl Value for f64 {
    fn sparse(x: Csr<'static, f64>) -> Matrix<'static> {
        x.into()
    }
    fn dense(x: Dense<'static, f64>) -> Matrix<'static> {
        x.into()
    }
}

/// Fills a dense or a sparse matrix; entries of a row come in ascending order.
pub(crate) struct Builder<T> {
    width: usize,
    sparse: bool,
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Value> Builder<T> {
    pub(crate) fn new(width: usize, sparse: bool) -> Self {
        Builder { width, sparse, pointers: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    /// Dense rows are laid out before their entries are set.
    pub(crate) fn begin_row(&mut self) {
        if !self.sparse {
            self.values.resize(self.values.len() + self.width, T::narrow(0.0));
        }
    }

    pub(crate) fn set(&mut self, column: usize, value: T) {
        if !self.sparse {
            let row = self.values.len() - self.width;
            self.values[row + column] = value;
        } else if value.wide() != 0.0 {
            self.columns.push(column as u32);
            self.values.push(value);
        }
    }

    pub(crate) fn end_row(&mut self) {
        self.pointers.push(self.columns.len() as u64);
    }

    pub(crate) fn finish(self) -> Result<Matrix<'static>, DataError> {
        match self.sparse {
            true => Csr::new(self.pointers, self.columns, self.values, self.width).map(T::sparse),
            false => Dense::new(self.values, self.width).map(T::dense),
        }
    }
}
