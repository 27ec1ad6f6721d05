//! Sums of products of rows, for many pairs of rows at a time.
//!
//! Every sum is taken in the order of columns, in single precision, whatever the registers and the storage: a column that is zero in the first row adds nothing. So
//! the results do not depend on tiles, threads or zeros being stored.

/// Rows that lie side by side in a panel.
pub const LANES: usize = 16;

/// Rows that are multiplied with two panels at once: their sums fill 24 of the 32 registers of the widest kind.
pub const ROWS: usize = 12;

/// `sums[r·stride + p·LANES + l] += Σₖ rows[r][k] · panels[p][k·LANES + l]`, each product fused with its addition, for up to two panels.
///
/// All rows must be as long as the panels.
#[inline]
pub fn multiply(rows: &[&[f32]], panels: &[&[f32]], sums: &mut [f32], stride: usize) {
    let columns = panels.first().map_or(0, |panel| panel.len() / LANES);
    assert!(panels.iter().all(|panel| panel.len() == columns * LANES), "panels are as long as each other");
    assert!(rows.iter().all(|row| row.len() == columns), "rows are as long as the panels");
    let width = panels.len() * LANES;
    assert!(
        stride >= width && sums.len() + stride >= rows.len() * stride + width,
        "there is room for all sums"
    );
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has just said that it knows these instructions; lengths have been checked.
        return unsafe { avx512::multiply(rows, panels, sums, stride) };
    }
    for (p, panel) in panels.iter().enumerate() {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            unsafe { avx2::multiply(rows, panel, &mut sums[p * LANES..], stride) };
            continue;
        }
        plain_multiply(rows, panel, &mut sums[p * LANES..], stride);
    }
}

fn plain_multiply(rows: &[&[f32]], panel: &[f32], sums: &mut [f32], stride: usize) {
    for (r, row) in rows.iter().enumerate() {
        let sums = &mut sums[r * stride..][..LANES];
        for (&u, lanes) in row.iter().zip(panel.chunks_exact(LANES)) {
            sums.iter_mut().zip(lanes).for_each(|(sum, &v)| *sum = u.mul_add(v, *sum));
        }
    }
}

/// How many sums of products [`pair`] keeps in registers.
#[inline]
pub fn most_lanes() -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return 192;
    }
    96
}

/// `sums[l] += values[e] · table[places[e]·L + l]`, each product fused with its addition, for all entries e of a row, L being the number of sums: 16, 32, 48, 96, 128 or 192.
#[inline]
pub fn pair(places: &[u32], values: &[f32], table: &[f32], sums: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has just said that it knows these instructions.
        unsafe {
            match sums.len() {
                16 => return avx512::pair::<1>(places, values, table, sums),
                32 => return avx512::pair::<2>(places, values, table, sums),
                48 => return avx512::pair::<3>(places, values, table, sums),
                96 => return avx512::pair::<6>(places, values, table, sums),
                128 => return avx512::pair::<8>(places, values, table, sums),
                192 => return avx512::pair::<12>(places, values, table, sums),
                _ => {}
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has just said that it knows these instructions.
        unsafe {
            match sums.len() {
                16 => return avx2::pair::<2>(places, values, table, sums),
                32 => return avx2::pair::<4>(places, values, table, sums),
                48 => return avx2::pair::<6>(places, values, table, sums),
                96 => return avx2::pair::<12>(places, values, table, sums),
                _ => {}
            }
        }
    }
    plain_pair(places, values, table, sums);
}

fn plain_pair(places: &[u32], values: &[f32], table: &[f32], sums: &mut [f32]) {
    let lanes = sums.len();
    for (&place, &u) in places.iter().zip(values) {
        let row = &table[place as usize * lanes..][..lanes];
        sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum = u.mul_add(v, *sum));
    }
}

/// As `avx2`, with all lanes of a panel in a register: the same bits.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{LANES, ROWS};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f")]
    pub(super) fn multiply(rows: &[&[f32]], panels: &[&[f32]], sums: &mut [f32], stride: usize) {
        match *panels {
            [a, b] => by_rows(rows, [a, b], sums, stride),
            _ => panels.iter().enumerate().for_each(|(p, panel)| {
                by_rows(rows, [panel], &mut sums[p * LANES..], stride);
            }),
        }
    }

    #[target_feature(enable = "avx512f")]
    fn by_rows<const P: usize>(rows: &[&[f32]], panels: [&[f32]; P], sums: &mut [f32], stride: usize) {
        const FEW: usize = 4;
        let (groups, rest) = rows.as_chunks::<ROWS>();
        let (fours, last) = rest.as_chunks::<FEW>();
        let mut first = 0;
        for &group in groups {
            tile(group, panels, &mut sums[first * stride..], stride);
            first += ROWS;
        }
        for &four in fours {
            tile(four, panels, &mut sums[first * stride..], stride);
            first += FEW;
        }
        for &row in last {
            tile([row], panels, &mut sums[first * stride..], stride);
            first += 1;
        }
    }

    #[target_feature(enable = "avx512f")]
    fn tile<const R: usize, const P: usize>(
        rows: [&[f32]; R],
        panels: [&[f32]; P],
        sums: &mut [f32],
        stride: usize,
    ) {
        let mut kept: [[__m512; P]; R] = std::array::from_fn(|r| {
            let sums = &sums[r * stride..][..P * LANES];
            // SAFETY: sixteen numbers for each panel lie there; the loads need no alignment.
            std::array::from_fn(|p| unsafe { _mm512_loadu_ps(sums.as_ptr().add(p * LANES)) })
        });
        let (columns, rows) = (panels[0].len() / LANES, rows.map(<[f32]>::as_ptr));
        let panels = panels.map(<[f32]>::as_ptr);
        for k in 0..columns {
            // SAFETY: `super::multiply` has seen that all panels are as long as the first.
            let v: [__m512; P] =
                std::array::from_fn(|p| unsafe { _mm512_loadu_ps(panels[p].add(k * LANES)) });
            for r in 0..R {
                // SAFETY: `super::multiply` has seen that every row has so many entries.
                let u = _mm512_set1_ps(unsafe { *rows[r].add(k) });
                for p in 0..P {
                    kept[r][p] = _mm512_fmadd_ps(u, v[p], kept[r][p]);
                }
            }
        }
        // By number: an iterator would take the registers through memory.
        for r in 0..R {
            let sums = &mut sums[r * stride..][..P * LANES];
            for (p, sum) in kept[r].iter().enumerate() {
                // SAFETY: there is room for sixteen numbers for each panel; the store needs no alignment.
                unsafe { _mm512_storeu_ps(sums.as_mut_ptr().add(p * LANES), *sum) };
            }
        }
    }

    /// Sums of products, as `super::pair`.
    #[target_feature(enable = "avx512f")]
    pub(super) fn pair<const G: usize>(places: &[u32], values: &[f32], table: &[f32], sums: &mut [f32]) {
        let sums = &mut sums[..LANES * G];
        // SAFETY: so many numbers lie there; the loads need no alignment.
        let mut kept: [__m512; G] =
            std::array::from_fn(|g| unsafe { _mm512_loadu_ps(sums.as_ptr().add(LANES * g)) });
        for (&place, &u) in places.iter().zip(values) {
            let row = &table[place as usize * LANES * G..][..LANES * G];
            let u = _mm512_set1_ps(u);
            for (g, kept) in kept.iter_mut().enumerate() {
                // SAFETY: as above.
                let v = unsafe { _mm512_loadu_ps(row.as_ptr().add(LANES * g)) };
                *kept = _mm512_fmadd_ps(u, v, *kept);
            }
        }
        for (g, kept) in kept.iter().enumerate() {
            // SAFETY: as above, and the stores need none, either.
            unsafe { _mm512_storeu_ps(sums.as_mut_ptr().add(LANES * g), *kept) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::LANES;
    use std::arch::x86_64::*;

    /// Rows that are multiplied with a panel at once: with two registers each they and their factors fill the sixteen there are.
    const ROWS: usize = 6;

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn multiply(rows: &[&[f32]], panel: &[f32], sums: &mut [f32], stride: usize) {
        let (groups, rest) = rows.as_chunks::<ROWS>();
        for (at, &group) in groups.iter().enumerate() {
            tile(group, panel, &mut sums[at * ROWS * stride..], stride);
        }
        for (at, &row) in rest.iter().enumerate() {
            tile([row], panel, &mut sums[(groups.len() * ROWS + at) * stride..], stride);
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn tile<const R: usize>(rows: [&[f32]; R], panel: &[f32], sums: &mut [f32], stride: usize) {
        let mut kept: [[__m256; 2]; R] = std::array::from_fn(|r| {
            let sums = &sums[r * stride..][..LANES];
            // SAFETY: sixteen numbers lie there; the loads need no alignment.
            unsafe { [_mm256_loadu_ps(sums.as_ptr()), _mm256_loadu_ps(sums.as_ptr().add(8))] }
        });
        let rows = rows.map(<[f32]>::as_ptr);
        for (k, lanes) in panel.chunks_exact(LANES).enumerate() {
            // SAFETY: sixteen numbers lie there; the loads need no alignment.
            let v = unsafe { [_mm256_loadu_ps(lanes.as_ptr()), _mm256_loadu_ps(lanes.as_ptr().add(8))] };
            for r in 0..R {
                // SAFETY: `super::multiply` has seen that every row has so many entries.
                let u = unsafe { _mm256_broadcast_ss(&*rows[r].add(k)) };
                kept[r] = [_mm256_fmadd_ps(u, v[0], kept[r][0]), _mm256_fmadd_ps(u, v[1], kept[r][1])];
            }
        }
        for (r, kept) in kept.into_iter().enumerate() {
            let sums = &mut sums[r * stride..][..LANES];
            // SAFETY: there is room for sixteen numbers; the stores need no alignment.
            unsafe {
                _mm256_storeu_ps(sums.as_mut_ptr(), kept[0]);
                _mm256_storeu_ps(sums.as_mut_ptr().add(8), kept[1]);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn pair<const G: usize>(places: &[u32], values: &[f32], table: &[f32], sums: &mut [f32]) {
        let sums = &mut sums[..8 * G];
        // SAFETY: eight numbers lie at each place; loads and stores need no alignment.
        let load = |numbers: &[f32], g: usize| unsafe { _mm256_loadu_ps(numbers[8 * g..][..8].as_ptr()) };
        let mut kept: [__m256; G] = std::array::from_fn(|g| load(sums, g));
        for (&place, &u) in places.iter().zip(values) {
            let row = &table[place as usize * 8 * G..][..8 * G];
            let u = _mm256_set1_ps(u);
            for (g, kept) in kept.iter_mut().enumerate() {
                // SAFETY: 8·G numbers lie there.
                let v = unsafe { _mm256_loadu_ps(row.as_ptr().add(8 * g)) };
                *kept = _mm256_fmadd_ps(u, v, *kept);
            }
        }
        for (g, kept) in kept.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { _mm256_storeu_ps(sums[8 * g..][..8].as_mut_ptr(), kept) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn numbers(len: usize, rng: &mut Rng) -> Vec<f32> {
        (0..len).map(|_| if rng.below(4) == 0 { 0.0 } else { rng.uniform() as f32 }).collect()
    }

    fn same_pairs(lanes: usize, rng: &mut Rng) {
        let table = numbers(30 * lanes, rng);
        let places: Vec<u32> = (0..20).map(|_| rng.below(30) as u32).collect();
        let values = numbers(places.len(), rng);
        let mut wide = numbers(lanes, rng);
        let mut plain = wide.clone();
        pair(&places, &values, &table, &mut wide);
        plain_pair(&places, &values, &table, &mut plain);
        assert_eq!(wide, plain, "{lanes} lanes");
    }

    #[test]
    fn wide_pairs_are_plain_pairs() {
        let mut rng = Rng::new(1);
        for lanes in [16, 32, 48, 96, 128, 192] {
            same_pairs(lanes, &mut rng);
        }
    }

    #[test]
    fn wide_products_are_plain_products() {
        let mut rng = Rng::new(2);
        for n_rows in 0..30 {
            let (columns, n_panels) = (n_rows * 3 % 41, 1 + n_rows % 2);
            let rows: Vec<Vec<f32>> = (0..n_rows).map(|_| numbers(columns, &mut rng)).collect();
            let panels: Vec<Vec<f32>> = (0..n_panels).map(|_| numbers(columns * LANES, &mut rng)).collect();
            let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            let panels: Vec<&[f32]> = panels.iter().map(Vec::as_slice).collect();
            let stride = n_panels * LANES + n_rows % 3;
            let mut wide = numbers(n_rows * stride + LANES, &mut rng);
            let mut plain = wide.clone();
            multiply(&rows, &panels, &mut wide, stride);
            for (p, panel) in panels.iter().enumerate() {
                plain_multiply(&rows, panel, &mut plain[p * LANES..], stride);
            }
            assert_eq!(wide, plain, "{n_rows} rows");
        }
    }
}
