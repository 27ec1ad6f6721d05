//! Values of some rows with some tiles.

use super::lines::{ByteLines, Entries, FloatLines, Lines};
use super::tiles::{Bytes, Floats, Tiles};
use super::whole::Meaning;
use crate::kernel::{Kernel, Pairing};
use crate::simd::{Absolute, Chi, LANES, LINE, ROWS, distances, multiply, multiply_bytes, pair, total};

/// Room for sums, used again and again.
#[derive(Default)]
pub(super) struct Room {
    floats: Vec<f32>,
    counts: Vec<i32>,
    other: Vec<f32>,
    known: (Vec<u32>, Vec<f32>),
}

/// Lines of a panel that are multiplied in one go.
const COLUMNS: usize = 8192;

/// Panels that are gone through with a dozen rows before their values are formed: these stay in the first cache.
const PANELS: usize = 16;

/// Bytes of panels that stay in the second cache.
const NEAR: usize = 1 << 20;

/// How many panels of so many lines, of 64 bytes each, are gone through together.
pub(super) fn panels_together(lines: usize) -> usize {
    (NEAR / (64 * lines.clamp(1, COLUMNS))).clamp(2, PANELS) & !1
}

/// Values of all lines with all of the set, for each line a slice.
pub(super) fn fill(kernel: Kernel, set: &Tiles, lines: &Lines<'_>, out: &mut [&mut [f32]], room: &mut Room) {
    if let (Some(tiles), Some(rows)) = (&set.floats, &lines.floats) {
        match rows {
            FloatLines::Dense(rows) => {
                let rows: Vec<&[f32]> = rows.iter().map(|row| &row[..]).collect();
                fill_dense(kernel, tiles, &rows, &lines.alone, out, &mut room.floats);
            }
            FloatLines::Sparse(rows) => fill_sparse(kernel, tiles, rows, &lines.alone, out, room),
        }
    }
    for (bytes, rows) in set.bytes.iter().zip(&lines.bytes) {
        match set.floats {
            None => fill_whole(kernel, bytes, rows, out, &mut room.counts),
            Some(_) => fill_mixed(kernel, (set, bytes), (lines, rows), out, room),
        }
    }
}

fn fill_dense(
    kernel: Kernel,
    tiles: &Floats,
    rows: &[&[f32]],
    alone: &[f32],
    out: &mut [&mut [f32]],
    room: &mut Vec<f32>,
) {
    let panels: Vec<&[f32]> = tiles.tiles.iter().map(|tile| &tile.table[..]).collect();
    products::<f32>(rows, &panels, room, |row, first, sums| {
        let set = &tiles.alone[first..];
        let out = &mut out[row][first..];
        let shown = out.len().min(sums.len());
        out[..shown].copy_from_slice(&sums[..shown]);
        kernel.finish(&mut out[..shown], alone[row], &set[..shown]);
    });
}

fn fill_whole(kernel: Kernel, tiles: &Bytes, lines: &ByteLines, out: &mut [&mut [f32]], room: &mut Vec<i32>) {
    let panels: Vec<&[u8]> = tiles.panels.chunks_exact(tiles.fours * LINE).collect();
    let meaning = Meaning::of(kernel);
    products::<i8>(&lines.rows(), &panels, room, |row, first, sums| {
        let out = &mut out[row][first..];
        let shown = out.len().min(sums.len());
        let (out, set) = (&mut out[..shown], first..first + shown);
        meaning.read(&sums[..shown], lines.added[row], &tiles.added[set.clone()], tiles.scale, out);
        kernel.finish(out, lines.alone[row], &tiles.alone[set]);
    });
}

/// Whole numbers where both rows are, what there is elsewhere.
fn fill_mixed(
    kernel: Kernel,
    (set, tiles): (&Tiles, &Bytes),
    (lines, rows): (&Lines<'_>, &ByteLines),
    out: &mut [&mut [f32]],
    room: &mut Room,
) {
    room.other.clear();
    room.other.resize(lines.len * set.len, 0.0);
    let mut other: Vec<&mut [f32]> = room.other.chunks_mut(set.len).collect();
    fill_whole(kernel, tiles, rows, &mut other, &mut room.counts);
    for ((out, other), scales) in out.iter_mut().zip(other).zip(&lines.scales) {
        let scales = scales & tiles.scale.0;
        for ((out, other), of_set) in out.iter_mut().zip(other).zip(&set.scales) {
            if scales & of_set != 0 {
                *out = *other;
            }
        }
    }
}

/// A tile at a time, so that its table stays near.
fn fill_sparse(
    kernel: Kernel,
    tiles: &Floats,
    rows: &Entries,
    alone: &[f32],
    out: &mut [&mut [f32]],
    room: &mut Room,
) {
    let Room { floats: sums, known, .. } = room;
    for (at, tile) in tiles.tiles.iter().enumerate() {
        let of_tile = at * tiles.lanes..(at + 1) * tiles.lanes;
        for (row, (out, &alone)) in out.iter_mut().zip(alone).enumerate() {
            let (columns, values) = rows.row(row);
            let found = tile.find(columns, values, known);
            sums.clear();
            sums.resize(tiles.lanes, 0.0);
            match kernel.pairing() {
                Pairing::Product => pair(found.0, found.1, &tile.table, sums),
                pairing => {
                    let totals = (total(values), &tiles.totals[of_tile.clone()]);
                    match pairing {
                        Pairing::Chi => distances::<Chi>(found, &tile.table, totals, sums),
                        _ => distances::<Absolute>(found, &tile.table, totals, sums),
                    }
                }
            }
            let shown = of_tile.start..of_tile.end.min(out.len());
            let (out, set) = (&mut out[shown.clone()], &tiles.alone[shown]);
            out.copy_from_slice(&sums[..set.len()]);
            kernel.finish(out, alone, set);
        }
    }
}

/// Numbers that are multiplied with panels of others.
trait Factor: Copy {
    type Cell;
    type Sum: Copy + Default;
    /// Columns in a line of a panel.
    const TOGETHER: usize;
    fn multiply(rows: &[&[Self]], panels: &[&[Self::Cell]], sums: &mut [Self::Sum], stride: usize);
}

impl Factor for f32 {
    type Cell = f32;
    type Sum = f32;
    const TOGETHER: usize = 1;

    fn multiply(rows: &[&[f32]], panels: &[&[f32]], sums: &mut [f32], stride: usize) {
        multiply(rows, panels, sums, stride);
    }
}

impl Factor for i8 {
    type Cell = u8;
    type Sum = i32;
    const TOGETHER: usize = crate::simd::FOUR;

    fn multiply(rows: &[&[i8]], panels: &[&[u8]], sums: &mut [i32], stride: usize) {
        multiply_bytes(rows, panels, sums, stride);
    }
}

/// Products of all rows with all panels. `finish` gets a row's sums, those from a lane on, while they are in the first cache.
fn products<F: Factor>(
    rows: &[&[F]],
    panels: &[&[F::Cell]],
    room: &mut Vec<F::Sum>,
    mut finish: impl FnMut(usize, usize, &[F::Sum]),
) {
    /// Rows whose sums wait for the rest of their columns.
    const CHUNK: usize = 8 * ROWS;
    let lines = rows.first().map_or(0, |row| row.len() / F::TOGETHER);
    let together = panels_together(lines);
    let chunk = if lines <= COLUMNS { ROWS } else { CHUNK };
    for (at, panels) in panels.chunks(together).enumerate() {
        let (first, width) = (at * together * LANES, panels.len() * LANES);
        for (c, rows) in rows.chunks(chunk).enumerate() {
            room.clear();
            room.resize(rows.len() * width, F::Sum::default());
            for from in (0..lines).step_by(COLUMNS) {
                let part = from..(from + COLUMNS).min(lines);
                multiply_part::<F>(rows, panels, part, room, width);
            }
            for (r, sums) in room.chunks(width).enumerate() {
                finish(c * chunk + r, first, sums);
            }
        }
    }
}

/// Adds the products of some of the columns.
fn multiply_part<F: Factor>(
    rows: &[&[F]],
    panels: &[&[F::Cell]],
    lines: std::ops::Range<usize>,
    sums: &mut [F::Sum],
    width: usize,
) {
    let columns = lines.start * F::TOGETHER..lines.end * F::TOGETHER;
    let cells = columns.start * LANES..columns.end * LANES;
    for (rows, sums) in rows.chunks(ROWS).zip(sums.chunks_mut(ROWS * width)) {
        let mut parts: [&[F]; ROWS] = [&[]; ROWS];
        parts.iter_mut().zip(rows).for_each(|(part, row)| *part = &row[columns.clone()]);
        for (at, pair) in panels.chunks(2).enumerate() {
            let mut cut: [&[F::Cell]; 2] = [&[]; 2];
            cut.iter_mut().zip(pair).for_each(|(cut, panel)| *cut = &panel[cells.clone()]);
            F::multiply(&parts[..rows.len()], &cut[..pair.len()], &mut sums[2 * at * LANES..], width);
        }
    }
}
