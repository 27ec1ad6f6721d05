//! What bytes look like.

use crate::{Format, Problem, ReadError};

const MAGIC: &[(&[u8], &str)] = &[
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"PK\x03\x04", "a zip archive or a spreadsheet"),
    (PARQUET, "a Parquet file"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"\x93NUMPY", "a NumPy file"),
    (b"\x00\x00\x08\x01", "labels of images"),
    (b"SQLite format 3\x00", "a database"),
];

/// After the magic word comes the first field of a header. A column of text may be named PAR1.
pub(crate) const PARQUET: &[u8] = b"PAR1\x15";
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";
const HEAD: usize = 8 << 10;

/// Refuses what is certainly not text, and says what it may be.
pub(crate) fn refuse_binary(bytes: &[u8]) -> Result<(), ReadError> {
    let what = match MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, what)) => what,
        None if is_model(bytes) => "a model file",
        None if memchr::memchr(0, &bytes[..bytes.len().min(HEAD)]).is_some() => "a binary file",
        None => return Ok(()),
    };
    Err(Problem::NotData { what }.into())
}

/// Model files are safetensors: the length of a JSON header as a 64-bit number, then that header.
fn is_model(bytes: &[u8]) -> bool {
    match bytes.split_first_chunk::<8>() {
        Some((length, rest)) => {
            let length = u64::from_le_bytes(*length);
            rest.first() == Some(&b'{') && (2..1 << 32).contains(&length)
        }
        None => false,
    }
}

/// The format of text that has no telling name.
pub(crate) fn format(bytes: &[u8]) -> Format {
    let lines = bytes.split(|&b| b == b'\n').take(50).map(<[u8]>::trim_ascii);
    let mut content = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let first = content.next().unwrap_or_default();
    if first.starts_with(b"{") {
        Format::Jsonl
    } else if is_vw(first) && content.clone().all(is_vw) {
        Format::Vw
    } else if is_libsvm(first) || (is_one_token(first) && content.any(is_libsvm)) {
        Format::Libsvm
    } else if first.contains(&b'\t') && !first.contains(&b',') {
        Format::Tsv
    } else {
        Format::Csv
    }
}

/// Whether there is nothing but a few words before a `|`, and a space or a tag right before it.
fn is_vw(line: &[u8]) -> bool {
    let Some(bar) = memchr::memchr(b'|', line) else { return false };
    let head = &line[..bar];
    let last = head.rsplit(|&b| b == b' ').next().unwrap_or_default();
    let words = head.split(|&b| b == b' ').filter(|word| !word.is_empty()).count();
    (last.is_empty() || last.starts_with(b"'"))
        && words <= 4
        && !head.iter().any(|b| matches!(b, b',' | b';' | b'\t'))
}

/// Whether the first or the second word of a line is `digits:…`.
fn is_libsvm(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_pair = |word: &[u8]| {
        let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && word.get(digits) == Some(&b':') || word.starts_with(b"qid:")
    };
    match (words.next(), words.next()) {
        (Some(_), Some(second)) if is_pair(second) => !second.contains(&b','),
        (Some(first), second) => is_pair(first) && !first.contains(&b',') && second.is_none_or(is_pair),
        _ => false,
    }
}

fn is_one_token(line: &[u8]) -> bool {
    !line.iter().any(|b| b.is_ascii_whitespace() || matches!(b, b',' | b';'))
}

/// The character between the cells of a table: the one that divides the first lines alike.
pub(crate) fn delimiter(text: &[u8]) -> u8 {
    let lines: Vec<&[u8]> = text
        .split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .take(20)
        .collect();
    let score = |delimiter: u8| {
        let first = lines.first().map_or(0, |line| count_unquoted(line, delimiter));
        let alike = lines.iter().all(|line| count_unquoted(line, delimiter) == first);
        (first > 0 && alike, first)
    };
    // The last of equals wins.
    let delimiters = [b'\t', b';', b','];
    match delimiters.into_iter().max_by_key(|&delimiter| score(delimiter)) {
        Some(best) if score(best).1 > 0 => best,
        _ if score(b' ').0 => b' ',
        _ => b',',
    }
}

pub(crate) fn count_unquoted(line: &[u8], delimiter: u8) -> usize {
    let mut quoted = false;
    let counts = |&&b: &&u8| {
        quoted ^= b == b'"';
        b == delimiter && !quoted
    };
    line.iter().filter(counts).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_content() {
        let cases: &[(&[u8], Format)] = &[
            (b"1 1:0.5 7:2\n", Format::Libsvm),
            (b"# made by hand\n\n+1\n-1 3:1\n", Format::Libsvm),
            (b"3 qid:1 1:2\n", Format::Libsvm),
            (b"1:0.5 2:0.5\n", Format::Libsvm),
            (b"1\t2:3\n", Format::Libsvm),
            (b"a,b,c\n1,2,3\n", Format::Csv),
            (b"a;b\n1;2\n", Format::Csv),
            (b"time,n\n12:30,4\n", Format::Csv),
            (b"a\tb\n1\t2\n", Format::Tsv),
            (b"", Format::Csv),
            (b"1 |f a b:2\n-1 |f c\n", Format::Vw),
            (b"| 1:2 3:4\n", Format::Vw),
            (b"spam 2 'a|w free money\n", Format::Vw),
            (b"a|b|c\n1|2|3\n", Format::Csv),
            (b"x | y,c\n1,2\n", Format::Csv),
            (b"{\"a\": 1}\n", Format::Jsonl),
        ];
        for (bytes, expected) in cases {
            assert_eq!(format(bytes), *expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn delimiters_by_content() {
        let cases: &[(&[u8], u8)] = &[
            (b"a,b\n1,2\n", b','),
            (b"a;b\n1,5;2,5\n", b';'),
            (b"a\tb\n1\t2\n", b'\t'),
            (b"\"a;b\",c\n\"x;y\",1\n", b','),
            (b"alone\n1\n", b','),
            (b"0 0.5 1\n1 2.5 0\n", b' '),
            (b"two words\none\n", b','),
        ];
        for (bytes, expected) in cases {
            assert_eq!(delimiter(bytes), *expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn binary_files_are_named() {
        let model = [&b"\x10\0\0\0\0\0\0\0{\"__metadata__\""[..], &[0; 9]].concat();
        let cases: &[(&[u8], &str)] = &[
            (&model, "a model file"),
            (b"PAR1\x15", "a Parquet file"),
            (b"\xff\xfea\0,\0b\0", "UTF-16 text"),
            (b"1,2\0,3", "a binary file"),
        ];
        for (bytes, expected) in cases {
            let error = refuse_binary(bytes).unwrap_err();
            assert_eq!(error.problem(), &Problem::NotData { what: expected });
        }
        assert!(refuse_binary(b"1,2\n").is_ok());
    }
}
