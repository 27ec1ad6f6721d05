//! IDX images, MNIST's own format: big-endian sizes, then a byte a pixel. The labels are in a file beside it.

use std::fs;
use std::path::{Path, PathBuf};

use rosenblatt::{Dense, Features, Labels};

use crate::builder::Value;
use crate::compressed::decompress;
use crate::error::{ReadError, Unit};
use crate::{Lines, Problem, ReadOptions, Table};

/// Unsigned bytes in three dimensions: images, rows, columns.
const IMAGES: &[u8] = b"\x00\x00\x08\x03";
/// Unsigned bytes in one dimension.
const LABELS: &[u8] = b"\x00\x00\x08\x01";

/// How the names of image files and those of their labels differ.
const NAMES: &[(&str, &str)] = &[("images-idx3", "labels-idx1"), ("images.idx3", "labels.idx1")];

/// Whether the first bytes say so. Three dimensions of bytes begin no text.
pub(crate) fn is_images(bytes: &[u8]) -> bool {
    bytes.starts_with(IMAGES)
}

/// Images from bytes and labels from the file beside `path`. Without a path there are no labels.
pub(crate) fn parse<T: Value>(
    bytes: &[u8],
    path: Option<&Path>,
    options: &ReadOptions,
) -> Result<Table, ReadError> {
    options.refuse_columns("IDX images")?;
    let ([images, rows, columns], pixels) = split::<3>(bytes, IMAGES)?;
    let width = rows.saturating_mul(columns);
    if images == 0 || width == 0 {
        return Err(Problem::Empty.into());
    }
    let features = match &options.features {
        Some(model) if model.count != width => {
            let (found, expected) = (width.to_string(), model.count.to_string());
            return Err(Problem::OtherFeatures { found, expected }.into());
        }
        Some(model) => model.clone(),
        None => Features { count: width, ..Features::default() },
    };
    let labels = path.map_or(Ok(None), |path| labels_beside(path, images, options))?;
    let values: Vec<T> = pixels.iter().map(|&pixel| T::narrow(f64::from(pixel))).collect();
    let x = Dense::new(values, width).map_err(|error| Problem::Data(error.to_string()))?;
    let mut lines = Lines::counted_in(Unit::Row);
    (1..=images as u64).for_each(|line| lines.push(line));
    Ok(Table::new(T::dense(x), labels, None, features, lines))
}

/// The sizes in the header, and exactly as many bytes as they promise.
fn split<'a, const N: usize>(bytes: &'a [u8], magic: &[u8]) -> Result<([usize; N], &'a [u8]), Problem> {
    let Some(rest) = bytes.strip_prefix(magic) else {
        let found = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        let expected = magic.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        return Err(Problem::IdxMagic { found, expected });
    };
    let header = 4 + 4 * N;
    let length = |expected| Problem::IdxLength { expected, found: bytes.len() };
    let (sizes, data) = rest.split_at_checked(4 * N).ok_or_else(|| length(header))?;
    let mut dimensions = [0; N];
    for (dimension, size) in dimensions.iter_mut().zip(sizes.chunks_exact(4)) {
        *dimension = size.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
    }
    let expected = dimensions.iter().fold(1, |product: usize, &size| product.saturating_mul(size));
    match data.len() == expected {
        true => Ok((dimensions, data)),
        false => Err(length(expected.saturating_add(header))),
    }
}

/// To predict, images need no labels; to learn they do.
fn labels_beside(path: &Path, images: usize, options: &ReadOptions) -> Result<Option<Labels>, ReadError> {
    let needed = options.features.is_none();
    let Some(file) = labels_file(path) else {
        return if needed { Err(Problem::IdxName.into()) } else { Ok(None) };
    };
    let name = file.display().to_string();
    match fs::read(&file) {
        Ok(bytes) => {
            let labels = read_labels(&bytes, images)
                .map_err(|problem| Problem::IdxLabels { file: name, reason: problem.to_string() })?;
            Ok(Some(labels))
        }
        Err(reason) if needed || reason.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::IdxLabels { file: name, reason: reason.to_string() }.into())
        }
        Err(_) => Ok(None),
    }
}

/// The name of the labels' file; the images may be compressed and the labels not, or the reverse.
fn labels_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (images, labels) = NAMES.iter().find(|(images, _)| name.contains(images))?;
    let beside = path.with_file_name(name.replace(images, labels));
    let other = match beside.extension().is_some_and(|extension| extension == "gz") {
        true => beside.with_extension(""),
        false => PathBuf::from(format!("{}.gz", beside.display())),
    };
    Some(if !beside.exists() && other.exists() { other } else { beside })
}

fn read_labels(bytes: &[u8], images: usize) -> Result<Labels, Problem> {
    let bytes = decompress(bytes)?;
    let ([count], data) = split::<1>(&bytes, LABELS)?;
    if count != images {
        return Err(Problem::IdxCounts { images, labels: count });
    }
    let names: Vec<String> = (0..=u8::MAX).map(|label| label.to_string()).collect();
    Ok(Labels::new(data.iter().map(|&label| &names[usize::from(label)])))
}
