//! Damage makes Parquet neither panic nor print. Alone in its program, for the hook of panics is one for all threads.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/parquet.rs"]
mod support;

use std::sync::{Arc, Mutex};

use parquet::basic::Compression;
use parquet::file::properties::WriterVersion;
use rosenblatt::{DataError, Rng, Rows};
use rosenblatt_io::{ReadOptions, parse};
use support::{Style, small};

fn styles() -> Vec<Style> {
    let mut styles = Vec::new();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [true, false] {
                styles.push(Style { compression, version, dictionary, rows_a_group: 40 });
            }
        }
    }
    styles
}

/// Reads or refuses; what is read is as large as it says.
fn survives(bytes: &[u8]) {
    let Ok(table) = parse(bytes, "t.parquet", &ReadOptions::default()) else { return };
    assert_eq!(table.lines.len(), table.x.n_rows());
    assert_eq!(table.features.count, table.x.n_cols());
    assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
}

#[test]
fn no_damage_makes_it_panic_or_print() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    std::panic::set_hook(Box::new(move |panic| ear.lock().unwrap().push(panic.to_string())));
    for (number, style) in styles().iter().enumerate() {
        let whole = small(style);
        (0..whole.len()).for_each(|end| survives(&whole[..end]));
        let mut rng = Rng::new(number as u64);
        for _ in 0..500 {
            let mut bytes = whole.clone();
            for _ in 0..1 + rng.bits() % 3 {
                let at = (rng.bits() % bytes.len() as u64) as usize;
                bytes[at] = rng.bits() as u8;
            }
            survives(&bytes);
        }
        for at in 4..whole.len() {
            for value in [0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                survives(&bytes);
            }
        }
    }
    let _ = std::panic::take_hook();
    let heard = heard.lock().unwrap();
    assert!(heard.is_empty(), "{} panics were heard, the first: {}", heard.len(), heard[0]);
}
