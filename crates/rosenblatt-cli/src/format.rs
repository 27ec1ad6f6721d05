//! Numbers, sizes and times as people read them.

use std::time::Duration;

/// Up to `digits` significant digits, without trailing zeros.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..15).contains(&magnitude) {
        return format!("{value:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// 97.33%
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// 1,234,567
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 pass", "3 passes"
pub(crate) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// 4.7 KiB
pub(crate) fn bytes(n: usize) -> String {
    let mut size = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return format!("{} {unit}", number(size, 3));
        }
        size /= 1024.0;
    }
    format!("{} TiB", number(size, 3))
}

/// 1.2 ms
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{} µs", number(s * 1e6, 3)),
        s if s < 1.0 => format!("{} ms", number(s * 1e3, 3)),
        s if s < 120.0 => format!("{} s", number(s, 3)),
        s => format!("{} min", number(s / 60.0, 3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (3.0, "3"),
            (-12.0, "-12"),
            (0.1, "0.1"),
            (2.0 / 3.0, "0.6667"),
            (1234.56, "1235"),
            (1e-9, "1.000e-9"),
            (0.0, "0"),
            (1e20, "1.000e20"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 4), text);
        }
    }

    #[test]
    fn counts_and_sizes() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
        assert_eq!(bytes(4800), "4.69 KiB");
        assert_eq!(time(Duration::from_micros(1500)), "1.5 ms");
        assert_eq!(plural(1, "pass", "passes"), "1 pass");
    }
}
