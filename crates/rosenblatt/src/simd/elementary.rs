//! Elementary functions in single precision, written so that loops over them fill wide registers.
//!
//! Products and sums are rounded one by one, so that every processor gives the same bits. Reduction and coefficients are those of the Cephes library (Moshier 1992).

/// eˣ to about an ulp; 0 below −87, where single precision has no normal numbers left, and e⁸⁸ above 88.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    /// Adding it leaves a whole number in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-87.0, 88.0);
    let rounded = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = clamped - n * LN2_HIGH - n * LN2_LOW;
    let p = 1.987_569_1e-4 * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let p = p * (r * r) + r + 1.0;
    // 2ⁿ by its bits.
    let power = f32::from_bits(rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { p * power }
}

/// eˣ in double precision, to an ulp or two; 0 below −708, where there are no normal numbers left, and e⁷⁰⁹ above 709.
#[inline(always)]
pub fn exp_double(x: f64) -> f64 {
    /// Adding it leaves a whole number in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// So many of its bits that whole numbers up to 2¹¹ times it are exact.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// 1/k! from 13 on down to 2: the series up to there is exact to the last bit.
    const SERIES: [f64; 12] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ];
    let clamped = x.clamp(-708.0, 709.0);
    let rounded = clamped * std::f64::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = clamped - n * LN2_HIGH - n * LN2_LOW;
    let p = SERIES.iter().fold(0.0, |p, c| p * r + c);
    let p = p * (r * r) + r + 1.0;
    let power = f64::from_bits(rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(1023) << 52);
    if x < -708.0 { 0.0 } else { p * power }
}

/// tanh x to about two ulps.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let z = x * x;
    let p = -5.704_988_7e-3 * z + 2.063_909e-2;
    let p = p * z - 5.373_971_6e-2;
    let p = p * z + 1.333_144_2e-1;
    let p = p * z - 3.333_328e-1;
    let small = p * z * x + x;
    // From here on it is 1 to the last bit.
    let e = exp(2.0 * x.abs().min(10.0));
    let large = (1.0 - 2.0 / (e + 1.0)).copysign(x);
    if x.abs() < 0.625 { small } else { large }
}

/// cos 2πt to about an ulp of 1. Whole turns are taken away without rounding, so that it is a cosine however large t is.
#[inline(always)]
pub fn cos_turns(t: f32) -> f32 {
    // cos 2πt = sin 2π(¼ − |t|), an angle from −π/2 to π/2, where six terms of the series are enough.
    let angle = std::f32::consts::TAU * (0.25 - (t - t.round_ties_even()).abs());
    let z = angle * angle;
    let p = -2.505_210_8e-8 * z + 2.755_731_9e-6;
    let p = p * z - 1.984_127e-4;
    let p = p * z + 8.333_334e-3;
    let p = p * z - 0.166_666_67;
    p * z * angle + angle
}

/// x to a whole power, by squares.
#[inline(always)]
pub fn power(x: f32, degree: u32) -> f32 {
    let (mut result, mut square, mut left) = (1.0, x, degree);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(from: f32, to: f32, near: fn(f32) -> f32, exact: fn(f64) -> f64) -> f64 {
        let steps = 200_000u32;
        let at = |k: u32| from + (to - from) * k as f32 / steps as f32;
        let error = |x: f32| {
            let exact = exact(f64::from(x));
            (f64::from(near(x)) - exact).abs() / exact.abs().max(1e-37)
        };
        (0..=steps).map(|k| error(at(k))).fold(0.0, f64::max)
    }

    #[test]
    fn exp_and_tanh_are_right_to_the_last_bits() {
        assert!(worst(-86.9, 87.9, exp, f64::exp) < 2e-7);
        assert!(worst(-1.0, 1.0, tanh, f64::tanh) < 3e-7);
        assert!(worst(-30.0, 30.0, tanh, f64::tanh) < 3e-7);
    }

    #[test]
    fn cosines_are_right_however_many_turns() {
        let exact = |t: f32| (std::f64::consts::TAU * f64::from(t).fract()).cos();
        for (from, to) in [(-0.75f32, 0.75), (20.0, 21.0), (-70_000.0, 5e6)] {
            let at = |k: u16| from + (to - from) * f32::from(k) / 65_535.0;
            let worst = (0..=u16::MAX).map(|k| (f64::from(cos_turns(at(k))) - exact(at(k))).abs());
            assert!(worst.fold(0.0, f64::max) < 3e-7, "{from} to {to}");
        }
        assert_eq!((cos_turns(0.0), cos_turns(0.25), cos_turns(1e30)), (cos_turns(7.0), 0.0, cos_turns(0.0)));
        assert!(cos_turns(f32::INFINITY).is_nan());
    }

    #[test]
    fn ends_of_the_range() {
        for at in -7070..=7080 {
            let x = f64::from(at) / 10.0 + 0.0123;
            assert!((exp_double(x) / x.exp() - 1.0).abs() < 1e-15, "{x}: {}", exp_double(x));
        }
        assert_eq!((exp_double(0.0), exp_double(-1e300), exp_double(f64::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-1e30), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(1e30).is_finite());
        assert_eq!((tanh(0.0), tanh(1e30), tanh(-1e30)), (0.0, 1.0, -1.0));
        assert_eq!((power(3.0, 0), power(3.0, 1), power(-2.0, 5)), (1.0, 3.0, -32.0));
    }
}
