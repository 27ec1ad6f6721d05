//! Decimal numbers from bytes, correctly rounded and fast.
//!
//! A number of at most 19 digits is an integer m times a power of ten. Where both are exact in double precision one operation rounds
//! correctly (Clinger 1990). For single precision a double that is off by a few units in its last place decides every rounding but
//! those next to a tie. All else is left to the standard library.
//!
//! Most numbers in files are a digit, a point and some digits. These are read from words of eight bytes, with as few branches as will
//! do: what a reader does next must not have to wait for what a number turns out to be.

use crate::builder::Value;

/// The correctly rounded number that the whole text is, as the standard library reads it.
pub(crate) fn parse<T: Value>(text: &[u8]) -> Option<T> {
    match prefix(text) {
        Some((value, length)) if length == text.len() => Some(value),
        _ => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// The number a text begins with and its length, if it can be had fast: for all else ask [`parse`] with the number's end known.
#[inline(always)]
pub(crate) fn prefix<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    match text.first_chunk().and_then(usual) {
        Some(found) => Some(found),
        None => unusual(text),
    }
}

/// The least length of a number with many digits: one, a point, sixteen more.
pub(crate) const LONG: usize = 2 + 16;

/// Bytes that hold any number of the usual form: a digit, a point, two words of digits, the rest of them and what follows.
const USUAL: usize = 2 + 3 * 8 + 1;

/// A number that is one digit, or one digit, a point and digits, without sign or power.
#[inline(always)]
fn usual<T: Value>(text: &[u8; USUAL]) -> Option<(T, usize)> {
    let whole = u64::from(text[0].wrapping_sub(b'0'));
    if whole > 9 {
        return None;
    }
    if text[1] != b'.' {
        return (text[1] <= b' ').then(|| (T::narrow(whole as f64), 1));
    }
    let (high, low, rest) = (Word::load(text, 2)?, Word::load(text, 10)?, Word::load(text, 18)?);
    let (value, length) = match (high.is_full(), low.is_full()) {
        (true, true) => {
            (T::round_cut(whole * TENS[16] + high.sum() * TENS[8] + low.sum())?, 18 + rest.length())
        }
        (full, _) => {
            let digits = if full { 8 + low.length() } else { high.length() };
            // Moved to the end of the two words, so that what follows the digits falls off.
            let both = (u128::from(low.0) << 64 | u128::from(high.0)) << 8 << (8 * (15 - digits));
            let mantissa = Word(both as u64).sum() * TENS[8] + Word((both >> 64) as u64).sum();
            (T::round(whole * TENS[digits] + mantissa, -(digits as i32))?, 2 + digits)
        }
    };
    let ends = !matches!(text[length], b'e' | b'E' | b'0'..=b'9');
    ends.then_some((value, length))
}

/// Any other number; apart, so that signs do not delay those that have none.
#[inline(never)]
fn unusual<T: Value>(text: &[u8]) -> Option<(T, usize)> {
    if let Some((size, length)) = text.strip_prefix(b"-").and_then(|size| usual(size.first_chunk()?)) {
        return Some((T::negate(size), length + 1));
    }
    let decimal = Decimal::scan(text)?;
    let size = T::round(decimal.mantissa, decimal.exponent)?;
    let value = if decimal.negative { T::negate(size) } else { size };
    Some((value, decimal.length))
}

/// ±mantissa·10^exponent, the first `length` bytes of a text.
struct Decimal {
    mantissa: u64,
    exponent: i32,
    negative: bool,
    length: usize,
}

/// Every integer of so many digits fits 64 bits.
const DIGITS: usize = 19;

impl Decimal {
    fn scan(text: &[u8]) -> Option<Decimal> {
        let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
        let negative = text.first() == Some(&b'-');
        let (mut mantissa, mut at) = digits(text, sign, 0);
        let mut n_digits = at - sign;
        let mut exponent = 0;
        if text.get(at) == Some(&b'.') {
            let first = at + 1;
            (mantissa, at) = digits(text, first, mantissa);
            n_digits += at - first;
            exponent = first as i32 - at as i32;
        }
        if n_digits == 0 || (n_digits > DIGITS && n_digits - leading_zeros(&text[sign..at]) > DIGITS) {
            return None;
        }
        if matches!(text.get(at), Some(b'e' | b'E')) {
            let (power, end) = power(text, at + 1)?;
            exponent += power;
            at = end;
        }
        Some(Decimal { mantissa, exponent, negative, length: at })
    }
}

/// Appends the digits from `at` on to a number; wraps silently, for the caller counts them.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, mut number: u64) -> (u64, usize) {
    while let Some(word) = Word::load(text, at) {
        if !word.is_full() {
            let (part, length) = word.number();
            return (number.wrapping_mul(TENS[length]).wrapping_add(part), at + length);
        }
        number = number.wrapping_mul(TENS[8]).wrapping_add(word.sum());
        at += 8;
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (number, at)
}

pub(crate) const TENS: [u64; 17] = {
    let mut tens = [1; 17];
    let mut power = 1;
    while power < 17 {
        tens[power] = 10 * tens[power - 1];
        power += 1;
    }
    tens
};

/// Eight bytes of text, of which digits have become their values.
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

impl Word {
    /// Nothing within eight bytes of the end.
    #[inline(always)]
    pub(crate) fn load(text: &[u8], at: usize) -> Option<Word> {
        let bytes = text.get(at..)?.first_chunk()?;
        Some(Word(u64::from_le_bytes(*bytes) ^ 0x3030_3030_3030_3030))
    }

    /// The high bit of each byte above 9; what such a byte carries over reaches only bytes behind it, which no longer matter.
    #[inline(always)]
    fn others(self) -> u64 {
        (self.0.wrapping_add(0x7676_7676_7676_7676) | self.0) & 0x8080_8080_8080_8080
    }

    #[inline(always)]
    fn is_full(self) -> bool {
        self.others() == 0
    }

    /// How many digits it begins with.
    #[inline(always)]
    fn length(self) -> usize {
        self.others().trailing_zeros() as usize / 8
    }

    /// The digits it begins with as a number, and how many there are; a full word counts as 0.
    #[inline(always)]
    pub(crate) fn number(self) -> (u64, usize) {
        let end = self.others().trailing_zeros();
        // Two shifts, so that no digit at all gives 0; the second is by 63 − end, written as the processor counts.
        let in_place = (self.0 << 8).wrapping_shl(!end);
        (Word(in_place).sum(), end as usize / 8)
    }

    /// Its first digits, at least one, as a number.
    #[inline(always)]
    pub(crate) fn first(self, digits: usize) -> u64 {
        Word(self.0 << (64 - 8 * digits)).sum()
    }

    /// Eight digits, the first the most significant: of ones tens, of these hundreds, of these all (Lemire 2018, after Muła).
    #[inline(always)]
    fn sum(self) -> u64 {
        let twos = self.0.wrapping_mul(10).wrapping_add(self.0 >> 8);
        let fours = (twos & 0x00FF_00FF_00FF_00FF).wrapping_mul(100 << 16 | 1) >> 16;
        (fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(10_000 << 32 | 1) >> 32
    }
}

#[cold]
fn leading_zeros(digits: &[u8]) -> usize {
    digits.iter().take_while(|byte| matches!(byte, b'0' | b'.')).filter(|&&byte| byte == b'0').count()
}

fn power(text: &[u8], at: usize) -> Option<(i32, usize)> {
    let sign = usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let (size, end) = digits(text, at + sign, 0);
    let n_digits = end - at - sign;
    let negative = text.get(at) == Some(&b'-');
    let size = if (1..=4).contains(&n_digits) { size as i32 } else { return None };
    Some((if negative { -size } else { size }, end))
}

/// Powers of ten that are exact in double precision.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Their inverses, each rounded.
const INVERSES: [f64; 23] = {
    let mut inverses = [1.0; 23];
    let mut power = 0;
    while power < 23 {
        inverses[power] = 1.0 / POWERS[power];
        power += 1;
    }
    inverses
};

/// Rounds mantissa·10^exponent to nearest, or declines.
pub(crate) trait Round: Sized {
    fn round(mantissa: u64, exponent: i32) -> Option<Self>;
    /// Rounds a number known to be from mantissa·10⁻¹⁶ to below (mantissa + 1)·10⁻¹⁶.
    fn round_cut(mantissa: u64) -> Option<Self>;
    fn negate(self) -> Self;
}

impl Round for f64 {
    #[inline]
    fn round(mantissa: u64, exponent: i32) -> Option<f64> {
        let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
        let m = mantissa as f64;
        let exact = mantissa <= 1 << 53;
        exact.then(|| if exponent < 0 { m / power } else { m * power })
    }
    #[inline]
    fn round_cut(_: u64) -> Option<f64> {
        None
    }
    #[inline]
    fn negate(self) -> f64 {
        -self
    }
}

/// Whether a double, which may be off by so many units in its last place, could be on the wrong side of the middle between two singles.
#[inline(always)]
fn is_near_tie(wide: f64, doubt: u64) -> bool {
    /// Bits of a double that a single does not have, and their middle.
    const LOST: u64 = (1 << 29) - 1;
    const TIE: u64 = 1 << 28;
    wide.to_bits().wrapping_sub(TIE - doubt) & LOST <= 2 * doubt
}

impl Round for f32 {
    #[inline]
    fn round(mantissa: u64, exponent: i32) -> Option<f32> {
        /// More than the three units that three roundings (of m, of the inverse, of the product) may be off by.
        const DOUBT: u64 = 4;
        let size = exponent.unsigned_abs() as usize;
        let factor = *if exponent < 0 { INVERSES.get(size) } else { POWERS.get(size) }?;
        // A signed conversion is one instruction, and hardly a number has a 64th bit.
        let wide = i64::try_from(mantissa).ok()? as f64 * factor;
        let exact = wide == 0.0 || (f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX)).contains(&wide);
        (exact && !is_near_tie(wide, DOUBT)).then_some(wide as f32)
    }

    #[inline]
    fn round_cut(mantissa: u64) -> Option<f32> {
        /// A mantissa of 2³⁸ or more is a double to within 2⁵³⁻³⁸ of its units; twice that leaves room for the roundings.
        const LEAST: u64 = 1 << 38;
        const DOUBT: u64 = 1 << 16;
        let wide = i64::try_from(mantissa).ok()? as f64 * INVERSES[16];
        (mantissa >= LEAST && !is_near_tie(wide, DOUBT)).then_some(wide as f32)
    }

    #[inline]
    fn negate(self) -> f32 {
        -self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The fast path declines or agrees with the standard library, bit by bit; the whole always agrees.
    fn agrees(text: &str) {
        let double: Option<f64> = text.parse().ok();
        let single: Option<f32> = text.parse().ok();
        assert_eq!(parse::<f64>(text.as_bytes()).map(f64::to_bits), double.map(f64::to_bits), "{text}");
        assert_eq!(parse::<f32>(text.as_bytes()).map(f32::to_bits), single.map(f32::to_bits), "{text}");
        agrees_in_text::<f64>(text);
        agrees_in_text::<f32>(text);
    }

    /// The same with more text behind it, as in a line, where whole words can be loaded.
    fn agrees_in_text<T: Value>(text: &str) {
        let line = format!("{text} 12:0.25 13:0.5 14:0.75 15:1 16:2");
        if let Some((value, length)) = prefix::<T>(line.as_bytes()) {
            let expected: Option<T> = line[..length].parse().ok();
            assert_eq!(Some(value.wide().to_bits()), expected.map(|value| value.wide().to_bits()), "{text}");
        }
    }

    #[test]
    fn usual_numbers_are_read_to_their_end() {
        for text in
            ["7", "0.5", "3.", "0.9333333", "0.93333334", "1.234567890123456", "0.0084021284741138246"]
        {
            let line = format!("{text} 12:0.25 13:0.5 14:0.75 15:1 16:2");
            let read: Option<(f32, usize)> = line.as_bytes().first_chunk().and_then(usual);
            assert_eq!(read, Some((text.parse().unwrap(), text.len())));
        }
        for text in ["0.5e3", "1.2345678901234567e-5", "0.1234567890123456789012345", "12", "-1", ".5", "a"] {
            let line = format!("{text} 12:0.25 13:0.5 14:0.75 15:1 16:2");
            assert_eq!(line.as_bytes().first_chunk().and_then(usual::<f32>), None, "{text}");
        }
    }

    /// Every text of up to five of the characters that numbers are made of.
    #[test]
    fn short_forms_exhaustively() {
        const ALPHABET: &[u8] = b"0159.eE+-";
        let mut texts = vec![Vec::new()];
        for _ in 0..5 {
            texts = texts
                .iter()
                .flat_map(|text| ALPHABET.iter().map(move |&byte| [text.as_slice(), &[byte]].concat()))
                .collect();
            texts.iter().for_each(|text| agrees(std::str::from_utf8(text).unwrap()));
        }
    }

    #[test]
    fn other_forms() {
        for text in [
            "inf",
            "-Infinity",
            "nan",
            "1e400",
            "1e-400",
            "1e99999",
            "1e999999999",
            "0x10",
            " 1",
            "1 ",
            "1_0",
            "00000000000000000000001.5",
            "0.00000000000000000000012345678901234567",
            "123456789012345678901234567890",
            "18446744073709551615",
            "18446744073709551616",
            "16777217",
            "9007199254740993",
            "0.1e-44",
            "1.1754943e-38",
            "3.4028236e38",
            "-0",
            "-0.0e5",
            "1e22",
            "1e23",
            "8.5e-46",
        ] {
            agrees(text);
        }
        agrees(&"9".repeat(10_000));
        agrees(&format!("0.{}1", "0".repeat(10_000)));
    }

    /// Numbers next to the middle between two singles are where a double that is slightly off would round wrongly.
    #[test]
    fn ties_of_single_precision() {
        let mut rng = rosenblatt::Rng::new(1);
        for _ in 0..20_000 {
            let low = f32::from_bits((rng.bits() as u32 & 0x7FFF_FFFF) % f32::MAX.to_bits());
            let high = f32::from_bits(low.to_bits() + 1);
            let middle = (f64::from(low) + f64::from(high)) / 2.0;
            for digits in [8, 12, 16, 17, 18, 25] {
                agrees(&format!("{middle:.digits$e}"));
                agrees(&format!("{middle:.digits$}"));
            }
        }
    }

    /// The same where digits are cut: sixteen of them, then some that decide.
    #[test]
    fn ties_of_cut_numbers() {
        let (from, to) = (1e-6f32.to_bits(), 10f32.to_bits());
        let mut rng = rosenblatt::Rng::new(2);
        for _ in 0..20_000 {
            let low = from + rng.bits() as u32 % (to - from);
            let middle = (f64::from(f32::from_bits(low)) + f64::from(f32::from_bits(low + 1))) / 2.0;
            let sixteen = format!("{middle:.16}");
            for tail in ["", "0", "1", "49999", "5", "50000001", "9999999", "999999999"] {
                agrees(&format!("{sixteen}{tail}"));
            }
            agrees(&format!("{middle:.22}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn doubles_as_written(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            agrees(&value.to_string());
            agrees(&format!("{value:e}"));
            agrees(&format!("{value:.16e}"));
        }

        #[test]
        fn values_as_in_files(value in -2.0..2.0f64, decimals in 0usize..22, power in -12i32..12) {
            agrees(&format!("{value:.decimals$}"));
            agrees(&format!("{value:.decimals$}e{power}"));
        }

        #[test]
        fn any_syntax(text in "[-+]?[0-9]{0,24}[.]?[0-9]{0,24}([eE][-+]?[0-9]{0,5})?") {
            agrees(&text);
        }
    }
}
