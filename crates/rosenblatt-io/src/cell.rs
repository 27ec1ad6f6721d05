//! What a cell of a table holds.

/// The kind of a cell, by its text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Number {
        zero: bool,
    },
    Missing,
    /// `inf` in one of its spellings.
    Infinite,
    /// Digits with a comma, such as `1,5` or `1,234`: a number for its writer, but not one that can be read safely.
    CommaNumber,
    Text,
}

const MISSING: &[&str] = &["?", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing"];
const INFINITE: &[&str] = &["inf", "infinity"];

impl Cell {
    pub(crate) fn of(text: &str) -> Cell {
        let bytes = text.as_bytes();
        match bytes.first() {
            None => Cell::Missing,
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => Cell::of_digits(bytes),
            Some(_) => Cell::of_word(text),
        }
    }

    fn of_digits(bytes: &[u8]) -> Cell {
        let unsigned = match bytes {
            [b'+' | b'-', rest @ ..] => rest,
            _ => bytes,
        };
        if let Some(zero) = number(unsigned) {
            Cell::Number { zero }
        } else if is_word(unsigned, INFINITE) {
            Cell::Infinite
        } else if is_word(unsigned, &["nan"]) || matches!(bytes, b"-" | b"--" | b".") {
            Cell::Missing
        } else if is_comma_number(unsigned) {
            Cell::CommaNumber
        } else {
            Cell::Text
        }
    }

    fn of_word(text: &str) -> Cell {
        if is_word(text.as_bytes(), MISSING) {
            Cell::Missing
        } else if is_word(text.as_bytes(), INFINITE) {
            Cell::Infinite
        } else {
            Cell::Text
        }
    }
}

/// Whether a label or a cell says that nothing is known.
pub(crate) fn is_missing(text: &str) -> bool {
    Cell::of(text.trim()) == Cell::Missing
}

fn is_word(bytes: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| bytes.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether the text is a decimal number as the standard library reads it, without sign; if so, whether it is zero.
fn number(bytes: &[u8]) -> Option<bool> {
    let is_digit = |b: &&u8| b.is_ascii_digit();
    let whole = bytes.iter().take_while(is_digit).count();
    let (mut rest, mut digits) = (&bytes[whole..], whole);
    let mut zero = bytes[..whole].iter().all(|&b| b == b'0');
    if let [b'.', after @ ..] = rest {
        let decimals = after.iter().take_while(is_digit).count();
        zero &= after[..decimals].iter().all(|&b| b == b'0');
        digits += decimals;
        rest = &after[decimals..];
    }
    let power = match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', power @ ..] | [b'e' | b'E', power @ ..] => {
            !power.is_empty() && power.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    (digits > 0 && power).then_some(zero)
}

fn is_comma_number(bytes: &[u8]) -> bool {
    let in_number = |&b: &u8| b.is_ascii_digit() || matches!(b, b',' | b'.');
    bytes.contains(&b',') && bytes.iter().all(in_number) && bytes.iter().any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::Cell;
    use proptest::prelude::*;

    #[test]
    fn kinds_by_text() {
        let (number, zero) = (Cell::Number { zero: false }, Cell::Number { zero: true });
        let cases = [
            (number, &["1", "-2.5", "+3", ".5", "5.", "1e3", "1E-3", "0.10", "1e999"][..]),
            (zero, &["0", "-0", "0.000", ".0", "0e7"]),
            (Cell::Missing, &["", "?", "NA", "n/a", "NaN", "-nan", "NULL", "None", "-"]),
            (Cell::Infinite, &["inf", "-inf", "+Infinity"]),
            (Cell::CommaNumber, &["1,5", "-1,234.50", "1,234"]),
            (Cell::Text, &["ford", "1.2.3", "e5", "1e", "1e+", "2024-01-01", "-x", "1 2", "0x10", "a,b"]),
        ];
        for (kind, texts) in cases {
            texts.iter().for_each(|text| assert_eq!(Cell::of(text), kind, "{text:?}"));
        }
    }

    proptest! {
        #[test]
        fn numbers_are_what_the_standard_library_reads(text in "[-+.0-9eE]{1,8}") {
            let is_number = matches!(Cell::of(&text), Cell::Number { .. });
            prop_assert_eq!(is_number, text.parse::<f64>().is_ok());
        }
    }
}
