//! Rows side by side: what is multiplied with many others.

use rayon::prelude::*;

use super::whole::{Meaning, Scale};
use super::{Footing, Gram};
use crate::data::{Matrix, Rows};
use crate::kernel::{Kernel, Pairing};
use crate::simd::{FOUR, LANES, LINE, most_lanes, total};
use crate::similarity::Similarity;

/// A few rows side by side.
#[derive(Clone, Debug)]
pub struct Tiles {
    pub(super) len: usize,
    pub(super) floats: Option<Floats>,
    /// On each scale that is needed.
    pub(super) bytes: Vec<Bytes>,
    /// The scales of each row: where there are both kinds, they tell which of them a pair of rows is meant for.
    pub(super) scales: Vec<u8>,
    /// The rows as they are, for kernels that we do not know.
    pub(super) rows: Option<Matrix<'static>>,
}

/// In single precision.
#[derive(Clone, Debug)]
pub(super) struct Floats {
    pub(super) alone: Vec<f32>,
    /// Σ|v| of each row, and zeros to fill the last tile, where values are made of distances.
    pub(super) totals: Vec<f64>,
    /// Rows in a tile.
    pub(super) lanes: usize,
    pub(super) tiles: Vec<Tile>,
}

/// Rows of a table, each with an entry for each row of the tile: one for each column, or for those that have an entry at all.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) table: Vec<f32>,
    /// For each column its row of the table, counted from 1; 0 where it has none.
    places: Option<Vec<u32>>,
}

/// As whole numbers, in panels of sixteen rows, four columns of a row together.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    pub(super) scale: Scale,
    pub(super) fours: usize,
    pub(super) panels: Vec<u8>,
    /// What each row adds to its sums.
    pub(super) added: Vec<i32>,
    pub(super) alone: Vec<f32>,
}

/// A table that stays in the second cache, in numbers.
const TABLE: usize = 1 << 18;

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

impl Gram<'_> {
    /// Rows of `of`, made ready for values with rows of these.
    pub fn tiles(&self, of: &Gram<'_>, rows: &[usize]) -> Tiles {
        let bare = Tiles { len: rows.len(), floats: None, bytes: Vec::new(), scales: Vec::new(), rows: None };
        let kernel = match &self.kernel {
            _ if self.is_empty() => return bare,
            Similarity::User(_) => return Tiles { rows: Some(of.x.select(rows)), ..bare },
            Similarity::Kernel(kernel) => *kernel,
        };
        let Footing { floats, scales } = self.footing(of);
        let fours = self.x.n_cols().max(of.x.n_cols()).div_ceil(FOUR);
        Tiles {
            floats: floats.then(|| self.float_tiles(kernel, of, rows)),
            bytes: Scale::of(scales).map(|scale| Bytes::new(kernel, of, rows, scale, fours)).collect(),
            scales: if floats && scales != 0 { of.whole.of_rows(rows) } else { Vec::new() },
            ..bare
        }
    }

    fn float_tiles(&self, kernel: Kernel, of: &Gram<'_>, rows: &[usize]) -> Floats {
        let n_cols = self.width().max(of.width());
        let multiplied = self.dense && kernel.pairing() == Pairing::Product;
        let lanes = if multiplied { LANES } else { lanes(kernel, n_cols, of.x, rows.len()) };
        let compressed = !self.dense && n_cols * lanes > TABLE;
        let tile = |rows: &[usize]| of.tile(rows, lanes, n_cols, compressed);
        let tiles = rows.par_chunks(lanes).map(tile).collect();
        let mut totals = Vec::new();
        if kernel.pairing() != Pairing::Product {
            let mut values = Vec::new();
            totals.extend(rows.iter().map(|&i| {
                values.clear();
                of.each(i, |_, v| values.push(v));
                total(&values)
            }));
            totals.resize(rows.len().next_multiple_of(lanes), 0.0);
        }
        Floats { alone: rows.iter().map(|&i| of.alone[i]).collect(), totals, lanes, tiles }
    }

    fn tile(&self, rows: &[usize], lanes: usize, n_cols: usize, compressed: bool) -> Tile {
        if compressed {
            return self.compressed_tile(rows, lanes);
        }
        let mut table = vec![0.0; n_cols * lanes];
        for (lane, &i) in rows.iter().enumerate() {
            self.each(i, |j, v| table[j * lanes + lane] = v);
        }
        Tile { table, places: None }
    }

    fn compressed_tile(&self, rows: &[usize], lanes: usize) -> Tile {
        let (mut table, mut places) = (Vec::new(), Vec::new());
        for (lane, &i) in rows.iter().enumerate() {
            self.each(i, |j, v| {
                // As long as the tile's own largest column asks for.
                places.resize(places.len().max(j + 1), 0u32);
                let place = &mut places[j];
                if *place == 0 {
                    table.resize(table.len() + lanes, 0.0);
                    *place = (table.len() / lanes) as u32;
                }
                table[(*place as usize - 1) * lanes + lane] = v;
            });
        }
        Tile { table, places: Some(places) }
    }
}

impl Tile {
    /// The entries in columns that the tile has, each with its row of the table.
    pub(super) fn find<'e>(
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

impl Bytes {
    fn new(kernel: Kernel, of: &Gram<'_>, rows: &[usize], scale: Scale, fours: usize) -> Self {
        let (meaning, padded) = (Meaning::of(kernel), rows.len().next_multiple_of(LANES));
        let (mut added, mut alone) = (vec![0; padded], vec![0.0; padded]);
        let mut panels = vec![0; padded / LANES * fours * LINE];
        let mut row = vec![0; fours * FOUR];
        for (at, &i) in rows.iter().enumerate() {
            scale.bytes(of.x, i, &mut row);
            let panel = &mut panels[at / LANES * fours * LINE..][..fours * LINE];
            for (line, four) in panel.chunks_exact_mut(LINE).zip(row.as_chunks::<FOUR>().0) {
                line[at % LANES * FOUR..][..FOUR].copy_from_slice(four);
            }
            (added[at], alone[at]) = meaning.of_panel(&row, scale);
        }
        Bytes { scale, fours, panels, added, alone }
    }
}

/// Rows of a tile, as many as leave its table in the second cache.
pub(super) fn lanes(kernel: Kernel, n_cols: usize, x: &Matrix<'_>, rows: usize) -> usize {
    let entries = x.entries().div_ceil(x.n_rows().max(1));
    let most = if kernel.pairing() == Pairing::Product { most_lanes() } else { 96 };
    let fits =
        |lanes: &usize| *lanes <= most && lanes * n_cols.min(lanes * entries) <= TABLE && *lanes < 2 * rows;
    [192, 128, 96, 48, 32].into_iter().find(fits).unwrap_or(LANES)
}
