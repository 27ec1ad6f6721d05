//! Typed cells.

use std::borrow::Cow;

use crate::tabular::records::trimmed;
use crate::tabular::survey::Holdings;

/// A cell as the file holds it.
#[derive(Clone, Debug)]
pub(super) enum Datum {
    Missing,
    Flag(bool),
    Integer(i64),
    /// The upper half of 64 bits.
    Unsigned(u64),
    Single(f32),
    Double(f64),
    /// Digits with a point among them, as decimals are exact.
    Decimal(Box<str>),
    Text(Box<str>),
}

impl Datum {
    /// As one would write it into a text file; labels and levels are made of it.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Datum::Missing => "".into(),
            Datum::Flag(flag) => if *flag { "true" } else { "false" }.into(),
            Datum::Integer(number) => number.to_string().into(),
            Datum::Unsigned(number) => number.to_string().into(),
            Datum::Single(number) => number.to_string().into(),
            Datum::Double(number) => number.to_string().into(),
            Datum::Decimal(digits) => (&**digits).into(),
            Datum::Text(text) => trimmed(text).into(),
        }
    }

    /// The number it is by its type, if it is one.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Datum::Missing | Datum::Text(_) => None,
            Datum::Flag(flag) => Some(f64::from(u8::from(*flag))),
            Datum::Integer(number) => Some(*number as f64),
            Datum::Unsigned(number) => Some(*number as f64),
            Datum::Single(number) => Some(f64::from(*number)),
            Datum::Double(number) => Some(*number),
            Datum::Decimal(digits) => digits.parse().ok(),
        }
    }

    /// Adds to what its column holds. Texts are texts here, even those of digits.
    pub(super) fn count(&self, holdings: &mut Holdings, line: u64) {
        let text = || self.text();
        match (self, self.number()) {
            (Datum::Text(_), _) if !text().is_empty() => holdings.texts.add(text, line),
            (_, Some(number)) if number.is_infinite() => holdings.infinite.add(text, line),
            (_, Some(number)) if !number.is_nan() => {
                holdings.zeros += usize::from(number == 0.0);
                holdings.numbers.add(text, line);
            }
            _ => holdings.missing.add(text, line),
        }
    }
}

/// An unscaled decimal as digits with a point.
pub(super) fn decimal(unscaled: i128, scale: usize) -> Datum {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    Datum::Decimal(format!("{sign}{whole}{point}{rest}").into())
}

/// The big-endian two's complement of any length up to 16.
pub(super) fn big_endian(bytes: &[u8]) -> Option<i128> {
    let sign = bytes.first()? >> 7;
    let fill = if sign == 1 { -1 } else { 0 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(fill, |number, &byte| number << 8 | i128::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_as_digits() {
        let cases =
            [(12345, 2, "123.45"), (-5, 3, "-0.005"), (7, 0, "7"), (0, 2, "0.00"), (-100, 2, "-1.00")];
        for (unscaled, scale, text) in cases {
            assert_eq!(decimal(unscaled, scale).text(), text);
        }
        assert_eq!(decimal(12345, 2).number(), Some(123.45));
        for number in [0, 1, -1, 127, 128, -128, -129, i128::MAX, i128::MIN] {
            assert_eq!(big_endian(&number.to_be_bytes()), Some(number));
        }
        assert_eq!(big_endian(&[0xff]), Some(-1));
        assert_eq!(big_endian(&[0x00, 0xff]), Some(255));
        assert_eq!((big_endian(&[]), big_endian(&[0; 17])), (None, None));
    }
}
