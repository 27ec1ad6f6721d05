//! Sums of kernel values in double precision.

use rayon::prelude::*;

use super::Gram;
use crate::kernel::{Kernel, Pairing};
use crate::simd::{Loop, exp_double, widest};

/// Stored rows side by side.
const WIDTH: usize = 64;

/// Bytes of tables of stored rows at a time, which all rows are gone through with.
const TABLES: usize = 1 << 23;

impl Gram<'_> {
    /// Σ aₛ·K(xₛ, xᵢ) over stored rows s for each of these rows i, all in double precision; nothing where the kernel is known in single precision only.
    ///
    /// Several times slower than [`combine`](Gram::combine): for rows whose last digits matter.
    pub(crate) fn combine_precisely(
        &self,
        rows: &[usize],
        stored: &[usize],
        coefficients: &[f64],
    ) -> Option<Vec<f64>> {
        let kernel = self.kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed)?;
        let tables_fit = self.width() * WIDTH * size_of::<f64>() <= TABLES;
        Some(match kernel.pairing() {
            Pairing::Product if tables_fit => by_tables(kernel, self, rows, stored, coefficients),
            _ => one_by_one(kernel, self, rows, stored, coefficients),
        })
    }

    /// K of each of some rows with each, in double precision, row after row, `stride` apart; nothing where it is known in single precision only.
    pub(crate) fn values_precisely(&self, rows: &[usize], stride: usize) -> Option<Vec<f64>> {
        let kernel = self.kernel.kernel().filter(|kernel| *kernel != Kernel::Precomputed)?;
        let mut all = vec![0.0; rows.len() * stride];
        each_row(kernel, self, rows, rows, all.par_chunks_mut(stride), |out, values| {
            out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
        });
        Some(all)
    }
}

fn one_by_one(
    kernel: Kernel,
    x: &Gram<'_>,
    rows: &[usize],
    stored: &[usize],
    coefficients: &[f64],
) -> Vec<f64> {
    let mut sums = vec![0.0; rows.len()];
    each_row(kernel, x, rows, stored, sums.par_iter_mut(), |sum, values| {
        *sum = values.zip(coefficients).map(|(value, a)| a * value).sum();
    });
    sums
}

/// Gives the values of each row with all stored ones, and the place of its result.
fn each_row<O: Send>(
    kernel: Kernel,
    x: &Gram<'_>,
    rows: &[usize],
    stored: &[usize],
    out: impl IndexedParallelIterator<Item = O>,
    take: impl Fn(O, &mut dyn Iterator<Item = f64>) + Sync,
) {
    let pairing = kernel.pairing();
    let own: Vec<f64> = stored.par_iter().map(|&s| alone(pairing, x, s)).collect();
    rows.par_iter().zip(out).for_each_init(Vec::new, |room, (&i, out)| {
        room.resize(x.width(), 0.0);
        x.each_precisely(i, |j, v| room[j] = v);
        let mine = alone(pairing, x, i);
        let value = |(&s, &own): (&usize, &f64)| kernel.of_sums(paired(pairing, x, s, room), own, mine);
        take(out, &mut stored.iter().zip(&own).map(value));
        x.each_precisely(i, |j, _| room[j] = 0.0);
    });
}

/// Stored rows that are gone through at once, column after column.
struct Table {
    columns: Vec<[f64; WIDTH]>,
    own: [f64; WIDTH],
    coefficients: [f64; WIDTH],
}

impl Table {
    fn new(x: &Gram<'_>, stored: &[usize], coefficients: &[f64]) -> Self {
        let mut columns = vec![[0.0; WIDTH]; x.width()];
        let mut table = ([0.0; WIDTH], [0.0; WIDTH]);
        for (at, (&s, &a)) in stored.iter().zip(coefficients).enumerate() {
            x.each_precisely(s, |j, v| columns[j][at] = v);
            (table.0[at], table.1[at]) = (alone(Pairing::Product, x, s), a);
        }
        Table { columns, own: table.0, coefficients: table.1 }
    }
}

/// What is not zero of a row is multiplied with its columns of all stored ones, a table at a time.
fn by_tables(
    kernel: Kernel,
    x: &Gram<'_>,
    rows: &[usize],
    stored: &[usize],
    coefficients: &[f64],
) -> Vec<f64> {
    const ROWS: usize = 64;
    let many = WIDTH * (TABLES / (x.width() * WIDTH * size_of::<f64>())).max(1);
    let mut sums = vec![0.0; rows.len()];
    for (stored, coefficients) in stored.chunks(many).zip(coefficients.chunks(many)) {
        let tables: Vec<Table> = stored
            .par_chunks(WIDTH)
            .zip(coefficients.par_chunks(WIDTH))
            .map(|(stored, coefficients)| Table::new(x, stored, coefficients))
            .collect();
        sums.par_chunks_mut(ROWS).zip(rows.par_chunks(ROWS)).for_each(|(sums, rows)| {
            let (mut entries, mut ends) = (Vec::new(), vec![0]);
            for &i in rows {
                x.each_precisely(i, |j, v| entries.push((j, v)));
                ends.push(entries.len());
            }
            let mine: Vec<f64> = rows.iter().map(|&i| alone(Pairing::Product, x, i)).collect();
            for table in &tables {
                for (at, sum) in sums.iter_mut().enumerate() {
                    let entries = &entries[ends[at]..ends[at + 1]];
                    *sum += widest(Sums { kernel, entries, mine: mine[at], table });
                }
            }
        });
    }
    sums
}

/// Σ aₛ·K(xₛ, xᵢ) over the rows of a table.
struct Sums<'a> {
    kernel: Kernel,
    entries: &'a [(usize, f64)],
    mine: f64,
    table: &'a Table,
}

impl Loop for Sums<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        const LANES: usize = 8;
        let Sums { kernel, entries, mine, table } = self;
        let mut products = [0.0; WIDTH];
        for &(j, v) in entries {
            products.iter_mut().zip(&table.columns[j]).for_each(|(sum, u)| *sum += u * v);
        }
        match kernel {
            Kernel::Rbf { gamma } => {
                for (value, own) in products.iter_mut().zip(&table.own) {
                    *value = exp_double(-gamma * (own + mine - 2.0 * *value).max(0.0));
                }
            }
            _ => {
                let values = products.iter_mut().zip(&table.own);
                values.for_each(|(value, &own)| *value = kernel.of_sums(*value, own, mine));
            }
        }
        let mut sums = [0.0; LANES];
        let (values, coefficients) =
            (products.as_chunks::<LANES>().0, table.coefficients.as_chunks::<LANES>().0);
        for (values, coefficients) in values.iter().zip(coefficients) {
            (0..LANES).for_each(|l| sums[l] += values[l] * coefficients[l]);
        }
        sums.iter().sum()
    }
}

impl Gram<'_> {
    /// The entries of a row as the kernel sees them, before they are rounded.
    #[inline(always)]
    fn each_precisely(&self, i: usize, f: impl FnMut(usize, f64)) {
        self.centre.each(self.x, i, f);
    }
}

/// What a row brings by itself: ‖u‖², ‖u‖₁ or Σ u.
fn alone(pairing: Pairing, x: &Gram<'_>, i: usize) -> f64 {
    let mut sum = 0.0;
    x.each_precisely(i, |_, v| {
        sum += match pairing {
            Pairing::Product => v * v,
            Pairing::Absolute => v.abs(),
            Pairing::Chi => v,
        }
    });
    sum
}

/// A sum over the columns where row `i` is not zero; what the other adds in the others it adds by itself.
fn paired(pairing: Pairing, x: &Gram<'_>, i: usize, other: &[f64]) -> f64 {
    let mut sum = 0.0;
    x.each_precisely(i, |j, u| {
        let v = other[j];
        sum += match pairing {
            Pairing::Product => u * v,
            Pairing::Absolute => (u - v).abs() - v.abs(),
            Pairing::Chi if u == 0.0 => 0.0,
            Pairing::Chi => (u - v) * (u - v) / (u + v) - v,
        }
    });
    sum
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::rng::Rng;

    #[test]
    fn precise_sums_are_naive_ones() {
        let mut rng = Rng::new(7);
        let values: Vec<f64> = (0..60).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.uniform() }).collect();
        let x: Matrix<'_> = Dense::new(values, 4).unwrap().into();
        let (rows, stored, a) = ([0, 7, 14], [1, 2, 7], [0.5, -2.0, 1.5]);
        for kernel in [
            Kernel::Linear,
            Kernel::Poly { degree: 3, gamma: 0.5, coef0: 1.0 },
            Kernel::Rbf { gamma: 0.7 },
            Kernel::Sigmoid { gamma: 0.3, coef0: -0.1 },
            Kernel::Laplacian { gamma: 0.4 },
            Kernel::Cosine,
            Kernel::Chi2 { gamma: 0.9 },
        ] {
            let gram = Gram::new(kernel, &x).unwrap();
            let found = gram.combine_precisely(&rows, &stored, &a).unwrap();
            let slowly = one_by_one(kernel, &gram, &rows, &stored, &a);
            for (&i, found) in rows.iter().chain(&rows).zip(found.into_iter().chain(slowly)) {
                let naive: f64 = stored.iter().zip(a).map(|(&s, a)| a * kernel.value(&x, s, &x, i)).sum();
                assert!((found - naive).abs() < 1e-13, "{kernel:?}: {found} is not {naive}");
            }
        }
    }
}
