//! Kernel rows: values of a few rows with many, strip by strip.

use std::borrow::Cow;

use rayon::prelude::*;

use super::block::{Room, fill, panels_together};
use super::tiles::lanes;
use super::{Footing, Gram, Tiles};
use crate::data::Rows;
use crate::kernel::Kernel;
use crate::simd::{FOUR, LANES};

/// The rows that kernel rows have values with, in strips that are laid out once, or anew in every sweep where that would take too much room.
#[derive(Clone, Debug)]
pub(crate) struct Strips {
    columns: Vec<usize>,
    /// Columns of a strip.
    width: usize,
    kept: Vec<Tiles>,
}

impl Gram<'_> {
    /// The bytes that so many columns take at the most when they are kept laid out; nothing where they would not be.
    pub(crate) fn bytes_of_strips(&self, columns: usize) -> Option<usize> {
        let Footing { floats, scales } = self.footing(self);
        let (n_cols, padded) = (self.x.n_cols(), columns.next_multiple_of(LANES));
        let each = |bytes: u32| bytes as usize * (n_cols.next_multiple_of(FOUR) + 2 * size_of::<f32>());
        let cells = each(scales.count_ones()) + if floats { each(4) } else { 0 };
        self.is_of_products().then_some(padded * cells)
    }

    /// These columns, laid out for good if that is asked for.
    pub(crate) fn strips(&self, columns: Vec<usize>, kept: bool) -> Strips {
        let width = match self.kernel.kernel() {
            Some(kernel) if self.is_of_products() => self.strip_width(kernel),
            _ => 1,
        };
        let tiles = |strip: &[usize]| self.tiles(self, strip);
        let kept = if kept { columns.par_chunks(width).map(tiles).collect() } else { Vec::new() };
        Strips { columns, width, kept }
    }

    /// As many columns as stay in the second cache.
    fn strip_width(&self, kernel: Kernel) -> usize {
        /// Of sparse rows: several of the widest tiles, as going through rows has its own costs.
        const MANY: usize = 384;
        let (n_cols, footing) = (self.x.n_cols(), self.footing(self));
        match (footing.floats, self.dense) {
            (true, true) => LANES * panels_together(n_cols),
            (true, false) => lanes(kernel, n_cols, self.x, MANY),
            (false, _) => LANES * panels_together(n_cols.div_ceil(FOUR)),
        }
    }

    /// Kernel rows of a set: for each of its rows the values with all columns.
    pub(crate) fn kernel_rows(&self, set: &[usize], strips: &Strips, out: Vec<&mut [f32]>) {
        match self.kernel.kernel() {
            _ if set.is_empty() || strips.columns.is_empty() => {}
            Some(kernel) if self.is_of_products() => self.sweep(kernel, set, strips, out),
            _ => self.sweep_turned(set, &strips.columns, out),
        }
    }

    /// The set is gone through with strip after strip.
    fn sweep(&self, kernel: Kernel, set: &[usize], strips: &Strips, out: Vec<&mut [f32]>) {
        let columns: Vec<&[usize]> = strips.columns.chunks(strips.width).collect();
        let strip = |at: usize| match strips.kept.get(at) {
            Some(tiles) => Cow::Borrowed(tiles),
            None => Cow::Owned(self.tiles(self, columns[at])),
        };
        let lines = self.lines(kernel, &strip(0), set);
        let mut pieces: Vec<Vec<&mut [f32]>> =
            columns.iter().map(|_| Vec::with_capacity(set.len())).collect();
        for row in out {
            pieces
                .iter_mut()
                .zip(row.chunks_mut(strips.width))
                .for_each(|(of_strip, piece)| of_strip.push(piece));
        }
        pieces.into_par_iter().enumerate().for_each_init(Room::default, |room, (at, mut out)| {
            fill(kernel, &strip(at), &lines, &mut out, room);
        });
    }

    /// The columns are gone through with the set: for values that are not the same to the bit if two rows change places.
    fn sweep_turned(&self, set: &[usize], columns: &[usize], mut out: Vec<&mut [f32]>) {
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
}
