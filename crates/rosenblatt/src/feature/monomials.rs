//! Products of features.

/// All products of `least` to `degree` of m features, repetitions allowed, each times the root of how often it occurs in (u·v + 1)^d, or (u·v)^d where only whole degrees count: the dot
/// product of two rows so mapped is the kernel.
///
/// They are numbered by degree, then in lexicographic order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monomials {
    pub(crate) m: usize,
    pub(crate) degree: u32,
    pub(crate) least: u32,
}

/// n over r; saturates.
fn choose(n: u128, r: u128) -> u128 {
    if r > n {
        return 0;
    }
    let r = r.min(n - r);
    // Each partial product is a binomial coefficient itself, so that divisions leave no rest.
    (1..=r).fold(1, |product: u128, i| product.saturating_mul(n - r + i) / i)
}

/// Products of exactly k of m features.
fn of_degree(m: usize, k: u32) -> u128 {
    if m == 0 { u128::from(k == 0) } else { choose(m as u128 + u128::from(k) - 1, u128::from(k)) }
}

impl Monomials {
    /// How many there are; saturates.
    pub(super) fn count(self) -> u128 {
        (self.least..=self.degree).fold(0, |sum: u128, k| sum.saturating_add(of_degree(self.m, k)))
    }

    /// How many of them a row with so many entries has.
    pub(super) fn of_entries(self, entries: usize) -> u128 {
        Monomials { m: entries, ..self }.count()
    }

    /// Calls `f(number, value)` for each product of a row's entries, numbers ascending.
    pub(super) fn each(self, entries: &[(usize, f64)], f: &mut impl FnMut(usize, f64)) {
        let weighted = &mut |product: Begun<f64>| f(product.number, product.value * product.often.sqrt());
        self.begin(entries, 1.0, &|a: &f64, b: &f64| a * b, weighted);
    }

    /// The same without the roots, which no fraction holds, of numbers of any kind.
    pub(crate) fn each_product<V: Clone>(
        self,
        entries: &[(usize, V)],
        one: V,
        times: &impl Fn(&V, &V) -> V,
        f: &mut impl FnMut(usize, V),
    ) {
        self.begin(entries, one, times, &mut |product: Begun<V>| f(product.number, product.value));
    }

    fn begin<V: Clone>(
        self,
        entries: &[(usize, V)],
        one: V,
        times: &impl Fn(&V, &V) -> V,
        f: &mut impl FnMut(Begun<V>),
    ) {
        let mut first = 0;
        for k in self.least..=self.degree {
            let often = if self.least == self.degree { 1 } else { choose(self.degree.into(), k.into()) };
            let begun = Begun { number: first, value: one.clone(), often: often as f64, last: 0, run: 0 };
            self.extend(entries, (0, k), begun, times, f);
            first += of_degree(self.m, k) as usize;
        }
    }

    /// Goes on with a product that has `had` of its `k` factors.
    fn extend<V: Clone>(
        self,
        entries: &[(usize, V)],
        (had, k): (u32, u32),
        begun: Begun<V>,
        times: &impl Fn(&V, &V) -> V,
        f: &mut impl FnMut(Begun<V>),
    ) {
        if had == k {
            return f(begun);
        }
        let left = u128::from(k - had);
        // So many products have a smaller column here.
        let before = |column: usize| choose((self.m - column) as u128 + left - 1, left);
        for (at, (column, value)) in entries.iter().enumerate() {
            let column = *column;
            let run = if had > 0 && column == begun.last { begun.run + 1 } else { 1 };
            let next = Begun {
                number: begun.number + (before(begun.last) - before(column)) as usize,
                value: times(&begun.value, value),
                // k!/(run₁!·run₂!·…), factor by factor.
                often: begun.often * f64::from(had + 1) / f64::from(run),
                last: column,
                run,
            };
            self.extend(&entries[at..], (had + 1, k), next, times, f);
        }
    }

    /// The factors of a product by its number, columns ascending.
    pub(super) fn factors(self, number: usize) -> Vec<usize> {
        let mut left = number as u128;
        let mut k = self.least;
        while k < self.degree && left >= of_degree(self.m, k) {
            left -= of_degree(self.m, k);
            k += 1;
        }
        let (mut factors, mut column) = (Vec::new(), 0);
        for rest in (0..k).rev() {
            while column + 1 < self.m && left >= of_degree(self.m - column, rest) {
                left -= of_degree(self.m - column, rest);
                column += 1;
            }
            factors.push(column);
        }
        factors
    }
}

/// A product that may get more factors.
#[derive(Clone)]
struct Begun<V> {
    /// The smallest number it may come to have.
    number: usize,
    value: V,
    often: f64,
    last: usize,
    /// How often its last factor has come in a row.
    run: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_the_lectures_say() {
        assert_eq!(Monomials { m: 100, degree: 6, least: 6 }.count(), 1_609_344_100);
        assert_eq!(Monomials { m: 2, degree: 2, least: 0 }.count(), 6);
        assert_eq!(Monomials { m: 1 << 40, degree: 60, least: 0 }.count(), u128::MAX);
    }

    #[test]
    fn numbers_are_places_and_factors() {
        for (m, degree, least) in [(1, 3, 0), (3, 2, 0), (4, 3, 3), (2, 5, 0), (5, 1, 1)] {
            let monomials = Monomials { m, degree, least };
            let entries: Vec<(usize, f64)> = (0..m).map(|j| (j, 2.0 + j as f64)).collect();
            let mut seen = Vec::new();
            monomials.each(&entries, &mut |number, value| seen.push((number, value)));
            assert_eq!(seen.len() as u128, monomials.count());
            for (at, (number, value)) in seen.into_iter().enumerate() {
                assert_eq!(at, number);
                let factors = monomials.factors(number);
                let product: f64 = factors.iter().map(|&j| entries[j].1).product();
                assert!(factors.is_sorted() && value >= product * (1.0 - 1e-12), "{factors:?}");
            }
        }
    }
}
