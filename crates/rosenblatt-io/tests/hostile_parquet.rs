//! Hostile Parquet files get no memory for what they only claim.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/parquet.rs"]
mod support;

use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterVersion;
use rosenblatt_io::{Problem, ReadOptions, parse};
use support::{Cells, Style, small, write};

fn reason(bytes: &[u8]) -> String {
    parse(bytes, "t.parquet", &ReadOptions::default()).unwrap_err().to_string()
}

#[test]
fn a_few_bytes_may_not_become_billions_of_cells() {
    let column = Cells::Int32(vec![Some(7); 7 << 20]);
    let columns = ["a", "b", "c", "d", "e"].map(|name| (name, column.clone()));
    let bytes = write(&columns, &Style::default());
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let error = parse(&bytes, "t.parquet", &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.problem(), Problem::Bomb { .. }), "{error}");
}

#[test]
fn a_text_may_not_be_repeated_for_nothing() {
    let texts = Cells::Text(vec![Some("a".repeat(1 << 19)); 160]);
    let style = Style {
        compression: Compression::GZIP(Default::default()),
        version: WriterVersion::PARQUET_2_0,
        dictionary: false,
        ..Style::default()
    };
    let bytes = write(&[("x", texts)], &style);
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    let error = parse(&bytes, "t.parquet", &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.problem(), Problem::Bomb { .. }), "{error}");
}

/// The file with another footer.
fn with_footer(pages: &[u8], footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [pages, footer, &length, b"PAR1"].concat()
}

#[test]
fn claimed_rows_are_counted() {
    let whole = small(&Style::default());
    let tail: [u8; 4] = whole[whole.len() - 8..whole.len() - 4].try_into().unwrap();
    let (pages, rest) = whole.split_at(whole.len() - 8 - u32::from_le_bytes(tail) as usize);
    let about = ParquetMetaDataReader::decode_metadata(&rest[..rest.len() - 8]).unwrap();
    let group = about.row_group(0).clone().into_builder().set_num_rows(1 << 50).build().unwrap();
    let about = about.into_builder().set_row_groups(vec![group]).build();
    let mut bytes = pages.to_vec();
    ParquetMetaDataWriter::new(&mut bytes, &about).finish().unwrap();
    let expected = "t.parquet, row 61, column 1 (x): the Parquet data is damaged: a column has fewer rows than the table";
    assert_eq!(reason(&bytes), expected);
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A footer whose schema is a list of groups with so many children.
fn schema(children: &[u64]) -> Vec<u8> {
    let element = |&count: &u64| [&[0x35, 0x00, 0x18, 1, b'g', 0x15][..], &varint(2 * count), &[0]].concat();
    let elements: Vec<u8> = children.iter().flat_map(element).collect();
    let list = [&[0x15, 0x02, 0x19, 0xfc][..], &varint(children.len() as u64)].concat();
    [&list[..], &elements, &[0x16, 0, 0x19, 0x0c, 0]].concat()
}

#[test]
fn schemas_neither_bury_nor_inflate() {
    let expected = "t.parquet: the Parquet data is damaged: the schema is not a tree of columns";
    let deep = [vec![1; 200_000], vec![0]].concat();
    for children in [&deep[..], &[i32::MAX as u64, 0], &[2, 0], &[1 << 40]] {
        assert_eq!(reason(&with_footer(b"PAR1", &schema(children))), expected);
    }
    assert_eq!(reason(&with_footer(b"PAR1", &schema(&[0]))), "t.parquet: it is empty");
    let elements = [&[0x15, 0x02, 0x19, 0xfc][..], &varint(1 << 40)].concat();
    assert_eq!(reason(&with_footer(b"PAR1", &elements)), expected);
}

/// Field 9 of the first page's header is a list of 2³¹ − 1 booleans, which take no room.
#[test]
fn no_header_takes_for_ever() {
    let whole = small(&Style::default());
    let header = [&[0x99, 0xf1][..], &varint(i32::MAX as u64)].concat();
    let endless = [&b"PAR1"[..], &header.repeat(10), &whole[4 + 10 * header.len()..]].concat();
    let expected = "t.parquet, row 1, column 1 (x): the Parquet data is damaged: this is no header of a page";
    assert_eq!(reason(&endless), expected);
}
