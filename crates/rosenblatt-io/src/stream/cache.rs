//! Rows on disk, in blocks: what passes after the first read instead of text.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rosenblatt::{Csr, DataError, Dense, Float, Matrix, Rows};
use xxhash_rust::xxh3::xxh3_64;

/// Some rows, their labels as numbers of a list kept elsewhere.
pub(crate) struct Block {
    pub(crate) labels: Vec<u32>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) x: Matrix<'static>,
}

/// A file of blocks that is only ever appended to. Not for exchange: numbers are as this machine writes them in little-endian order.
pub(crate) struct Cache {
    file: File,
    /// Where each block ends.
    ends: Vec<u64>,
    /// A record on its way to or from the file.
    record: Vec<u8>,
}

/// rows, stored values, columns, kind of matrix, whether there are weights
const HEADER: usize = 5 * 8;

impl Cache {
    /// A file that no other process sees and that is gone with this one.
    pub(crate) fn temporary(folder: &Path) -> io::Result<Cache> {
        Ok(Cache { file: tempfile::tempfile_in(folder)?, ends: Vec::new(), record: Vec::new() })
    }

    /// A file that stays, taken up again after its first blocks; what stands behind them is dropped.
    pub(crate) fn at(path: &Path, ends: Vec<u64>) -> io::Result<Cache> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let length = ends.last().copied().unwrap_or_default();
        if file.metadata()?.len() < length {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is shorter than the checkpoint says"));
        }
        file.set_len(length)?;
        Ok(Cache { file, ends, record: Vec::new() })
    }

    /// Where each block ends.
    pub(crate) fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// Number of blocks.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or_default()
    }

    /// What has been appended survives a crash of the machine.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(crate) fn append(
        &mut self,
        labels: &[u32],
        weights: Option<&[f64]>,
        x: &Matrix<'_>,
    ) -> io::Result<()> {
        let (start, record) = (self.bytes(), &mut self.record);
        record.clear();
        let (rows, columns) = (labels.len() as u64, x.n_cols() as u64);
        let weighted = u64::from(weights.is_some());
        put(record, &[rows, x.entries() as u64, columns, Kind::of(x) as u64, weighted]);
        put(record, labels);
        put(record, weights.unwrap_or_default());
        match x {
            Matrix::DenseF32(x) => put(record, x.values()),
            Matrix::DenseF64(x) => put(record, x.values()),
            Matrix::CsrF32(x) => put_csr(record, x),
            Matrix::CsrF64(x) => put_csr(record, x),
        }
        let checksum = xxh3_64(record);
        put(record, &[checksum]);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.write_all(record)?;
        self.ends.push(start + record.len() as u64);
        Ok(())
    }

    /// A block by number, from 0.
    pub(crate) fn read(&mut self, number: usize) -> io::Result<Block> {
        let (start, end) = self.range(number);
        let length = end.checked_sub(start).ok_or_else(|| damaged("a block ends before it begins"))?;
        self.load(start, length)?;
        let body = self.record.len().checked_sub(8).ok_or_else(|| damaged("a block is cut short"))?;
        let (record, checksum) = self.record.split_at(body);
        if xxh3_64(record).to_le_bytes() != checksum {
            return Err(damaged("a checksum is another"));
        }
        let mut fields = Fields(record);
        let header = fields.header()?;
        let (labels, weights) = (fields.take(header.rows)?, fields.weights(&header)?);
        let x = fields.matrix(&header)?;
        Ok(Block { labels, weights, x })
    }

    /// Labels and weights alone.
    pub(crate) fn read_labels(&mut self, number: usize) -> io::Result<(Vec<u32>, Option<Vec<f64>>)> {
        let (start, _) = self.range(number);
        self.load(start, HEADER as u64)?;
        let header = Fields(&self.record).header()?;
        let per_row = if header.weighted { 12 } else { 4 };
        self.load(start, header.rows.saturating_mul(per_row).saturating_add(HEADER) as u64)?;
        let mut fields = Fields(&self.record);
        fields.header()?;
        Ok((fields.take(header.rows)?, fields.weights(&header)?))
    }

    fn range(&self, number: usize) -> (u64, u64) {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        (start, self.ends[number])
    }

    fn load(&mut self, start: u64, length: u64) -> io::Result<()> {
        self.record.clear();
        self.file.seek(SeekFrom::Start(start))?;
        let read = (&self.file).take(length).read_to_end(&mut self.record)?;
        if read as u64 == length { Ok(()) } else { Err(damaged("it ends too early")) }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[derive(Clone, Copy)]
enum Kind {
    DenseF32,
    DenseF64,
    CsrF32,
    CsrF64,
}

impl Kind {
    fn of(x: &Matrix<'_>) -> Kind {
        match x {
            Matrix::DenseF32(_) => Kind::DenseF32,
            Matrix::DenseF64(_) => Kind::DenseF64,
            Matrix::CsrF32(_) => Kind::CsrF32,
            Matrix::CsrF64(_) => Kind::CsrF64,
        }
    }

    fn numbered(number: u64) -> Option<Kind> {
        [Kind::DenseF32, Kind::DenseF64, Kind::CsrF32, Kind::CsrF64].get(number as usize).copied()
    }
}

/// A number that arrays on disk are made of.
trait Plain: Copy {
    fn write(self, bytes: &mut [u8]);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        impl Plain for $type {
            #[inline]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map(<$type>::from_le_bytes).unwrap_or_default()
            }
        }
    )*};
}
plain!(u32, u64, f32, f64);

fn put<T: Plain>(record: &mut Vec<u8>, values: &[T]) {
    let start = record.len();
    record.resize(start + size_of_val(values), 0);
    let places = record[start..].chunks_exact_mut(size_of::<T>());
    places.zip(values).for_each(|(place, value)| value.write(place));
}

/// Row pointers as lengths of rows, then columns and values.
fn put_csr<T: Float + Plain>(record: &mut Vec<u8>, x: &Csr<'_, T>) {
    let lengths: Vec<u32> = x.pointers().windows(2).map(|ends| (ends[1] - ends[0]) as u32).collect();
    put(record, &lengths);
    put(record, x.columns());
    put(record, x.values());
}

struct Header {
    rows: usize,
    entries: usize,
    columns: usize,
    kind: Kind,
    weighted: bool,
}

/// The rest of a record.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<T: Plain>(&mut self, count: usize) -> io::Result<Vec<T>> {
        let length = count.saturating_mul(size_of::<T>());
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| damaged("a block is cut short"))?;
        self.0 = rest;
        Ok(taken.chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    fn header(&mut self) -> io::Result<Header> {
        let words: Vec<u64> = self.take(HEADER / 8)?;
        let &[rows, entries, columns, kind, weighted] = &words[..] else {
            return Err(damaged("a block is cut short"));
        };
        let kind = Kind::numbered(kind).ok_or_else(|| damaged("a block is of an unknown kind"))?;
        let [rows, entries, columns] = [rows, entries, columns].map(|n| n as usize);
        Ok(Header { rows, entries, columns, kind, weighted: weighted != 0 })
    }

    fn weights(&mut self, header: &Header) -> io::Result<Option<Vec<f64>>> {
        header.weighted.then(|| self.take(header.rows)).transpose()
    }

    fn matrix(&mut self, header: &Header) -> io::Result<Matrix<'static>> {
        let x = match header.kind {
            Kind::DenseF32 => {
                Dense::new(self.take::<f32>(header.entries)?, header.columns).map(Matrix::DenseF32)
            }
            Kind::DenseF64 => {
                Dense::new(self.take::<f64>(header.entries)?, header.columns).map(Matrix::DenseF64)
            }
            Kind::CsrF32 => self.csr::<f32>(header)?.map(Matrix::CsrF32),
            Kind::CsrF64 => self.csr::<f64>(header)?.map(Matrix::CsrF64),
        };
        x.map_err(|error| damaged(&error.to_string()))
    }

    fn csr<T: Float + Plain>(&mut self, header: &Header) -> io::Result<Result<Csr<'static, T>, DataError>> {
        let lengths: Vec<u32> = self.take(header.rows)?;
        let mut pointers = Vec::with_capacity(header.rows + 1);
        pointers.push(0);
        let mut end = 0;
        pointers.extend(lengths.iter().map(|&length| {
            end += u64::from(length);
            end
        }));
        let (columns, values) = (self.take::<u32>(header.entries)?, self.take::<T>(header.entries)?);
        Ok(Csr::new(pointers, columns, values, header.columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: usize, seed: u64) -> Block {
        let mut rng = rosenblatt::Rng::new(seed);
        let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..rows {
            for column in (0..9).filter(|_| rng.below(2) == 0).collect::<Vec<u32>>() {
                columns.push(column);
                values.push(rng.uniform() as f32);
            }
            pointers.push(columns.len() as u64);
        }
        let x = Csr::new(pointers, columns, values, 9).unwrap().into();
        let weights = seed.is_multiple_of(2).then(|| (0..rows).map(|_| rng.uniform()).collect());
        Block { labels: (0..rows as u32).collect(), weights, x }
    }

    fn same(a: &Block, b: &Block) -> bool {
        a.labels == b.labels && a.weights == b.weights && a.x == b.x
    }

    fn append(cache: &mut Cache, block: &Block) {
        cache.append(&block.labels, block.weights.as_deref(), &block.x).unwrap();
    }

    #[test]
    fn blocks_come_back_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = Cache::temporary(folder.path()).unwrap();
        let dense = Dense::new(vec![1.5, -0.0, f64::MIN_POSITIVE, 4.0], 2).unwrap().into();
        let mut blocks: Vec<Block> = (0..5).map(|seed| block(20 * seed as usize, seed)).collect();
        blocks.push(Block { labels: vec![7, 8], weights: None, x: dense });
        blocks.iter().for_each(|block| append(&mut cache, block));
        for number in [5, 0, 3, 1, 4, 2] {
            assert!(same(&cache.read(number).unwrap(), &blocks[number]));
            let (labels, weights) = cache.read_labels(number).unwrap();
            assert_eq!((labels, weights), (blocks[number].labels.clone(), blocks[number].weights.clone()));
        }
    }

    #[test]
    fn taken_up_again_it_drops_what_was_not_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.cache");
        let mut cache = Cache::at(&path, Vec::new()).unwrap();
        append(&mut cache, &block(10, 1));
        let ends = cache.ends().to_vec();
        append(&mut cache, &block(10, 2));
        let mut cache = Cache::at(&path, ends).unwrap();
        append(&mut cache, &block(10, 3));
        assert_eq!(cache.len(), 2);
        assert!(same(&cache.read(0).unwrap(), &block(10, 1)) && same(&cache.read(1).unwrap(), &block(10, 3)));
        assert!(Cache::at(&path, vec![1 << 20]).is_err());
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.cache");
        let mut cache = Cache::at(&path, Vec::new()).unwrap();
        append(&mut cache, &block(10, 2));
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            std::fs::write(&path, &bytes).unwrap();
            assert!(cache.read(0).is_err(), "byte {at}");
        }
        let descending = vec![whole.len() as u64, 1];
        let mut cache = Cache { file: cache.file, ends: descending, record: Vec::new() };
        assert!(cache.read(1).is_err());
    }
}
