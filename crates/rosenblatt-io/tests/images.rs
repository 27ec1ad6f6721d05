//! IDX images and the labels beside them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use flate2::{Compression, write::GzEncoder};
use rosenblatt::{Dense, Features, Matrix};
use rosenblatt_io::{Format, Precision, ReadOptions, Table, parse, read};
use std::fs;
use std::io::Write;
use std::path::Path;

fn idx(magic: &[u8; 4], sizes: &[u32], data: &[u8]) -> Vec<u8> {
    let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_be_bytes()).collect();
    [&magic[..], &sizes, data].concat()
}

/// Two images of two by three pixels.
fn images() -> Vec<u8> {
    idx(b"\0\0\x08\x03", &[2, 2, 3], &[0, 1, 2, 3, 4, 5, 255, 254, 253, 0, 0, 7])
}

fn labels(labels: &[u8]) -> Vec<u8> {
    idx(b"\0\0\x08\x01", &[labels.len() as u32], labels)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read_at(path: &Path) -> Result<Table, String> {
    read(path.to_str().unwrap(), &ReadOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn pixels_and_labels_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train-images-idx3-ubyte");
    fs::write(&path, images()).unwrap();
    fs::write(folder.path().join("train-labels-idx1-ubyte"), labels(&[7, 200])).unwrap();
    let table = read_at(&path).unwrap();
    let pixels = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 255.0, 254.0, 253.0, 0.0, 0.0, 7.0f32];
    assert_eq!(table.x, Matrix::from(Dense::new(pixels.to_vec(), 6).unwrap()));
    assert_eq!(table.features, Features { count: 6, ..Features::default() });
    let found = table.labels.as_ref().unwrap();
    assert_eq!((found.text(0), found.text(1)), ("7", "200"));
    assert_eq!(table.lines.get(1), Some(2));
    assert_eq!(table.into_dataset().unwrap().classes().listed(), "7, 200");

    let double = ReadOptions { precision: Some(Precision::F64), ..Default::default() };
    assert!(!read(path.to_str().unwrap(), &double).unwrap().x.is_single());
}

#[test]
fn labels_are_found_compressed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("t10k-images-idx3-ubyte.gz"), gzip(&images())).unwrap();
    fs::write(at("t10k-labels-idx1-ubyte.gz"), gzip(&labels(&[0, 1]))).unwrap();
    assert!(read_at(&at("t10k-images-idx3-ubyte.gz")).unwrap().labels.is_some());
    fs::write(at("t10k-images-idx3-ubyte"), images()).unwrap();
    assert!(read_at(&at("t10k-images-idx3-ubyte")).unwrap().labels.is_some());
    fs::write(at("a-images.idx3-ubyte.gz"), gzip(&images())).unwrap();
    fs::write(at("a-labels.idx1-ubyte"), labels(&[0, 1])).unwrap();
    assert!(read_at(&at("a-images.idx3-ubyte.gz")).unwrap().labels.is_some());
}

#[test]
fn labels_that_are_wrong_or_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("images-idx3"), folder.path().join("labels-idx1"));
    fs::write(&path, images()).unwrap();
    let (name, expected) = (path.display(), beside.display());
    let error = read_at(&path).unwrap_err();
    assert!(error.starts_with(&format!("{name}: the labels, expected in {expected}: ")), "{error}");
    let model = Features { count: 6, ..Features::default() };
    let options = ReadOptions { features: Some(model), ..Default::default() };
    assert_eq!(read(path.to_str().unwrap(), &options).unwrap().labels, None);

    let cases = [
        (labels(&[1, 2, 3]), "3 labels for 2 images"),
        (images(), "expected an IDX file that begins with 00 00 08 01, found 00 00 08 03"),
        (labels(&[1, 2])[..9].to_vec(), "expected 10 bytes by its header, found 9"),
    ];
    for (bytes, reason) in cases {
        fs::write(&beside, bytes).unwrap();
        assert_eq!(
            read_at(&path).unwrap_err(),
            format!("{name}: the labels, expected in {expected}: {reason}")
        );
    }
    let other = folder.path().join("pictures");
    fs::write(&other, images()).unwrap();
    let error = read_at(&other).unwrap_err();
    assert!(error.ends_with(": the name of the file does not tell where the labels are"), "{error}");
}

#[test]
fn images_that_are_damaged() {
    let options = ReadOptions { format: Some(Format::Idx), ..Default::default() };
    let whole = images();
    let long = [&whole[..], b"x"].concat();
    let cases: &[(&[u8], &str)] = &[
        (&whole[..27], "expected 28 bytes by its header, found 27"),
        (&long, "expected 28 bytes by its header, found 29"),
        (&whole[..10], "expected 16 bytes by its header, found 10"),
        (b"\0\0\x0d\x03", "expected an IDX file that begins with 00 00 08 03, found 00 00 0d 03"),
        (b"1,2", "expected an IDX file that begins with 00 00 08 03, found 31 2c 32"),
        (&idx(b"\0\0\x08\x03", &[0, 2, 2], &[]), "it is empty"),
        (&idx(b"\0\0\x08\x03", &[2, 0, 2], &[]), "it is empty"),
        (
            &idx(b"\0\0\x08\x03", &[u32::MAX; 3], &[1]),
            "expected 18446744073709551615 bytes by its header, found 17",
        ),
    ];
    for (bytes, message) in cases {
        let error = parse(bytes, "f", &options).unwrap_err();
        assert_eq!(error.to_string(), format!("f: {message}"));
    }
    let model = Features { count: 5, ..Features::default() };
    let error = parse(&whole, "f", &ReadOptions { features: Some(model), ..Default::default() }).unwrap_err();
    assert_eq!(error.to_string(), "f: these are 6 features, and the model expects 5");
    assert_eq!(parse(&whole, "f", &ReadOptions::default()).unwrap().labels, None);
}
