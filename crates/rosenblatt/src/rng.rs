//! The one source of randomness: a seed fixes everything, on every platform.

/// xoshiro256++ (Blackman and Vigna 2021, ACM TOMS 47:4), seeded by splitmix64.
///
/// ```
/// use rosenblatt::Rng;
/// let mut rows = [0, 1, 2, 3];
/// Rng::new(1).shuffle(&mut rows);
/// let mut again = [0, 1, 2, 3];
/// Rng::new(1).shuffle(&mut again);
/// assert_eq!(rows, again);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng([u64; 4]);

impl Rng {
    /// The generator for a seed.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Rng(std::array::from_fn(|_| splitmix(&mut state)))
    }

    /// The generator for the `stream`-th independent use of a seed, such as a pass.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut state = seed;
        let base = splitmix(&mut state);
        Rng::new(base ^ stream.wrapping_mul(0xD1B5_4A32_D192_ED03))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to `bound` − 1, all equally likely (Lemire 2019, ACM TOMACS 29:1).
    pub fn below(&mut self, bound: u64) -> u64 {
        let threshold = bound.wrapping_neg() % bound.max(1);
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of the normal distribution with mean 0 and variance 1 (Marsaglia and Bray 1964, SIAM Review 6:3).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return u * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_values() {
        // First outputs of the authors' C code from state {1, 2, 3, 4}.
        let mut rng = Rng([1, 2, 3, 4]);
        let first: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
        assert_eq!(first, [41943041, 58720359, 3588806011781223]);
    }

    #[test]
    fn normal_numbers_have_their_moments() {
        let mut rng = Rng::new(5);
        let drawn: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        let moment = |power: i32| drawn.iter().map(|v| v.powi(power)).sum::<f64>() / drawn.len() as f64;
        for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            assert!((moment(power) - expected).abs() < 0.06, "{power}: {}", moment(power));
        }
    }

    #[test]
    fn below_is_uniform_enough() {
        let mut rng = Rng::new(3);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[rng.below(5) as usize] += 1);
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
    }
}
