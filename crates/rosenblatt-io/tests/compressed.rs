//! Compressed data is read, damaged data and bombs are refused.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use flate2::{Compression, write::GzEncoder};
use rosenblatt_io::{Problem, ReadOptions, parse};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

const TEXT: &[u8] = b"1 1:0.5 3:2\n-1 2:1\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn compressed_or_not_the_table_is_the_same() {
    let plain = parse(TEXT, "x.svm", &ReadOptions::default()).unwrap();
    let (first, second) = TEXT.split_at(12);
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    let files = [
        gzip(TEXT),
        [gzip(first), gzip(second)].concat(),
        zstd(TEXT),
        [&zstd(first)[..], skipped, &zstd(second)].concat(),
    ];
    for bytes in files {
        let table = parse(&bytes, "x.svm", &ReadOptions::default()).unwrap();
        assert_eq!(table, plain);
    }
    for name in ["x.svm.gz", "x.svm.zst", "X.SVM.ZST"] {
        assert!(parse(&zstd(TEXT), name, &ReadOptions::default()).is_ok());
    }
}

#[test]
fn long_data_survives() {
    let text: String = (0..300_000).map(|i| format!("{} 1:{i}\n", i % 2)).collect();
    let plain = parse(text.as_bytes(), "x.svm", &ReadOptions::default()).unwrap();
    for bytes in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        assert!(parse(&bytes, "x.svm", &ReadOptions::default()).unwrap() == plain);
    }
}

#[test]
fn damage_is_found_wherever_it_is() {
    for whole in [gzip(TEXT), zstd(TEXT)] {
        let is_gzip = whole[0] == 0x1f;
        for end in 4..whole.len() {
            let error = parse(&whole[..end], "x.svm", &ReadOptions::default()).unwrap_err();
            match error.problem() {
                Problem::Gzip { .. } if is_gzip => {}
                Problem::Zstd { .. } if !is_gzip => {}
                _ => panic!("cut after {end}: {error}"),
            }
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            let _ = parse(&flipped, "x.svm", &ReadOptions::default());
        }
    }
    let skip_beyond = [&zstd(TEXT)[..], b"\x50\x2a\x4d\x18\xff\xff\xff\xffabc"].concat();
    let error = parse(&skip_beyond, "x.svm", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "x.svm: the zstd data is damaged: a frame is cut short");
}

/// Two gibibytes of nothing in two mebibytes; refused long before all of it came out.
#[test]
fn a_bomb_is_refused() {
    let piece = vec![b'\n'; 16 << 20];
    for bomb in [gzip(&piece).repeat(128), zstd(&piece).repeat(128)] {
        assert!(bomb.len() < 4 << 20, "{}", bomb.len());
        match parse(&bomb, "bomb", &ReadOptions::default()).unwrap_err().problem() {
            Problem::Bomb { size, .. } => assert!(*size <= 65 << 20, "{size}"),
            other => panic!("{other}"),
        }
    }
}
