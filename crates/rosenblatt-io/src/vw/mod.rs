//! Vowpal Wabbit text: `label importance 'tag |namespace:weight feature:value …`.
//!
//! What stands before the first `|` is read as Vowpal Wabbit does: a word that touches the `|` or begins with an
//! apostrophe is a tag, and the words before it are the label, the importance and the initial prediction.

mod block;
mod long;
mod token;

use rayon::prelude::*;
use rosenblatt::simd::{Loop, widely};

use crate::builder::Value;
use crate::error::ReadError;
use crate::lines::blocks;
use crate::named::{DenseWhen, NamedRows};
use crate::names::Names;
use crate::{ReadOptions, Table};
use block::{Block, Lot};

pub(crate) fn parse<T: Value>(text: &[u8], options: &ReadOptions) -> Result<Table, ReadError> {
    let mut reader = Reader::new(options)?;
    let rows = reader.read::<T>(text, 1)?;
    rows.into_table(&reader.names, options.features.as_ref(), DenseWhen::Never)
}

/// Reads some lines after others; the names it meets keep their columns.
pub(crate) struct Reader {
    names: Names,
    /// Whether every row must have a label.
    labelled: bool,
}

impl Reader {
    pub(crate) fn new(options: &ReadOptions) -> Result<Self, ReadError> {
        options.refuse_columns("Vowpal Wabbit text")?;
        Ok(Reader::with_names(Names::new(options)?, options))
    }

    /// One that goes on with names met before.
    pub(crate) fn with_names(names: Names, options: &ReadOptions) -> Self {
        Reader { names, labelled: options.features.is_none() }
    }

    /// Reads whole lines, of which the first has this number.
    pub(crate) fn read<T: Value>(&mut self, text: &[u8], first_line: u64) -> Result<NamedRows<T>, ReadError> {
        self.read_blocks(&blocks(text), first_line)
    }

    /// Blocks are read side by side, with the names of all blocks before their wave at hand. What is new in a wave is learned after
    /// it, in the order of the file, and columns given for the time being are replaced. Waves grow, for new names
    /// become rare.
    fn read_blocks<T: Value>(&mut self, texts: &[&[u8]], first_line: u64) -> Result<NamedRows<T>, ReadError> {
        let rooms: Vec<usize> = texts.par_iter().map(|text| widely(Words(text))).collect();
        let entries = rooms.iter().sum();
        let (mut columns, mut values) = (vec![0u32; entries], vec![T::narrow(0.0); entries]);
        let mut waiting = divide(texts, &rooms, &mut columns, &mut values).into_iter();
        // After the first lines of a stream new names are rare already.
        let first = if self.names.count() == 0 { rayon::current_num_threads() } else { texts.len() };
        let (mut blocks, mut wave) = (Vec::with_capacity(texts.len()), first.max(1));
        let mut lines_before = first_line - 1;
        while waiting.len() > 0 {
            for lot in self.read_wave(waiting.by_ref().take(wave).collect(), lines_before)? {
                let n_lines = lot.n_lines;
                blocks.push(lot.into_rows(lines_before));
                lines_before += n_lines;
            }
            wave *= 2;
        }
        Ok(join(&blocks, &rooms, columns, values))
    }

    fn read_wave<'a, T: Value>(
        &mut self,
        parts: Vec<(&'a [u8], Lot<'a, T>)>,
        mut lines_before: u64,
    ) -> Result<Vec<Lot<'a, T>>, ReadError> {
        let (names, labelled) = (&self.names, self.labelled);
        let read = |(text, lot)| Block::new(names, lot, labelled).read(text);
        let read: Vec<Result<Lot<'_, T>, ReadError>> = parts.into_par_iter().map(read).collect();
        let mut lots = Vec::with_capacity(read.len());
        for lot in read {
            // The first error in the file is the one reported, whichever was met first.
            let lot = lot.map_err(|error| error.lines_later(lines_before))?;
            lines_before += lot.n_lines;
            lots.push(lot);
        }
        let first_fresh = self.names.first_fresh();
        let columns: Vec<Vec<u32>> =
            lots.iter().map(|lot| self.names.learn(&lot.fresh)).collect::<Result<_, _>>()?;
        lots.par_iter_mut().zip(columns).for_each(|(lot, columns)| lot.renumber(first_fresh, &columns));
        Ok(lots)
    }

    /// The names met so far.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }
}

/// Counts the words behind a space, which is how many entries a block may hold at the most: a feature is one, and so may be what stands
/// behind the label.
struct Words<'a>(&'a [u8]);

impl Loop for Words<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        const SHORT: usize = 128; // counts fit a byte
        let Words(text) = self;
        let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r');
        let is_end = |byte: u8| is_space(byte) | (byte == b'|') | (byte == b'\n');
        let count = |(bytes, next): (&[u8], &[u8])| {
            let starts = |(&byte, &next): (&u8, &u8)| u8::from(is_space(byte) & !is_end(next));
            usize::from(bytes.iter().zip(next).map(starts).sum::<u8>())
        };
        let next = text.get(1..).unwrap_or_default();
        text.chunks(SHORT).zip(next.chunks(SHORT)).map(count).sum()
    }
}

/// Blocks, each with its part of the arrays.
fn divide<'a, T: Value>(
    texts: &[&'a [u8]],
    rooms: &[usize],
    mut columns: &'a mut [u32],
    mut values: &'a mut [T],
) -> Vec<(&'a [u8], Lot<'a, T>)> {
    let mut parts = Vec::with_capacity(texts.len());
    for (&text, &room) in texts.iter().zip(rooms) {
        let (mine, rest) = columns.split_at_mut(room);
        let (my_values, rest_values) = values.split_at_mut(room);
        (columns, values) = (rest, rest_values);
        parts.push((text, Lot::new(mine, my_values)));
    }
    parts
}

/// Puts the blocks together, closing gaps left by zeros and repetitions.
fn join<T: Value>(
    blocks: &[NamedRows<T>],
    rooms: &[usize],
    mut columns: Vec<u32>,
    mut values: Vec<T>,
) -> NamedRows<T> {
    let mut rows = NamedRows::default();
    let (mut from, mut to) = (0, 0);
    for (block, room) in blocks.iter().zip(rooms) {
        let entries = block.pointers.last().map_or(0, |&end| end as usize);
        if from != to {
            columns.copy_within(from..from + entries, to);
            values.copy_within(from..from + entries, to);
        }
        rows.pointers.extend(block.pointers[1..].iter().map(|end| to as u64 + end));
        rows.append_facts(block);
        (from, to) = (from + room, to + entries);
    }
    columns.truncate(to);
    values.truncate(to);
    NamedRows { columns, values, ..rows }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Whole = Result<(NamedRows<f32>, Option<Vec<String>>), ReadError>;

    fn lines(text: &str) -> Vec<&[u8]> {
        text.split_inclusive('\n').map(str::as_bytes).collect()
    }

    fn read(options: &ReadOptions, texts: &[&[u8]]) -> Whole {
        let mut reader = Reader::new(options)?;
        let rows = reader.read_blocks(texts, 1)?;
        Ok((rows, reader.names().names()))
    }

    /// Chunk after chunk, each a few lines.
    fn read_in_chunks(options: &ReadOptions, text: &str, size: usize) -> Whole {
        let (mut reader, mut all, mut line) = (Reader::new(options)?, NamedRows::default(), 1);
        for chunk in lines(text).chunks(size) {
            all.append(reader.read(&chunk.concat(), line)?);
            line += chunk.len() as u64;
        }
        Ok((all, reader.names().names()))
    }

    fn model(names: &[&str]) -> Option<rosenblatt::Features> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Some(rosenblatt::Features { count: names.len(), names: Some(names), ..Default::default() })
    }

    fn all_options() -> Vec<ReadOptions> {
        let default = ReadOptions::default();
        vec![
            ReadOptions { hash: Some(3), ..default.clone() },
            ReadOptions { features: model(&["a", "b^b", "abababababab"]), ..default.clone() },
            default,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn blocks_and_chunks_are_the_whole(
            lines_of in prop::collection::vec("([01]( 2)? )?(\\|[ab]{0,2}( [ab]{1,2}(:[0-3])?| [ab]{10,13}:1| :){0,4}){1,2}", 0..9),
            size in 1..4usize,
        ) {
            let text = lines_of.join("\n");
            for options in all_options() {
                let whole = read(&options, &[text.as_bytes()]);
                prop_assert_eq!(&read(&options, &lines(&text)), &whole);
                prop_assert_eq!(&read_in_chunks(&options, &text, size), &whole);
            }
        }
    }

    /// Names keep appearing for the first time in blocks that are read side by side.
    #[test]
    fn many_blocks() {
        let mut text = String::new();
        for i in 0..100_000u64 {
            let word = |j: u64| (i * 7919 + j * 104_729) % (50 + i / 3);
            text += &format!(
                "{} |w w{}:0.5 {} w{} |long-namespace x{}:2\n",
                i % 2,
                word(1),
                word(2),
                word(3),
                word(4)
            );
        }
        let options = ReadOptions::default();
        assert!(blocks(text.as_bytes()).len() > 3);
        let (rows, names) = read(&options, &blocks(text.as_bytes())).unwrap();
        let in_one = read(&options, &[text.as_bytes()]).unwrap();
        assert_eq!((&rows, &names), (&in_one.0, &in_one.1));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let alone = pool.install(|| read(&options, &blocks(text.as_bytes()))).unwrap();
        assert_eq!((rows, names), alone);
    }

    #[test]
    fn the_first_error_of_the_file_is_reported() {
        let mut texts: Vec<&[u8]> = vec![b"1 | a:1\n"; 5];
        texts.extend([&b"1 | a b\xff:1 c:x\n"[..], b"1 | a:x\n"]);
        let error = read(&ReadOptions::default(), &texts).unwrap_err();
        assert_eq!((error.line(), error.column()), (Some(6), Some(8)));
        assert_eq!(error.problem(), &crate::Problem::NotUtf8);
    }

    #[test]
    fn a_reader_goes_on_where_another_stopped() {
        let options = ReadOptions::default();
        for options in [ReadOptions { hash: Some(2), ..options.clone() }, options] {
            let mut reader = Reader::new(&options).unwrap();
            reader.read::<f32>(b"1 | b a\n", 1).unwrap();
            let kept = reader.names().names().unwrap();
            let names = match options.hash {
                Some(bits) => Names::hashed_from(bits, &kept).unwrap(),
                None => Names::learned_from(kept).unwrap(),
            };
            let mut again = Reader::with_names(names, &options);
            let line = b"0 | c a d\n";
            assert_eq!(again.read::<f32>(line, 2).unwrap(), reader.read::<f32>(line, 2).unwrap());
            assert_eq!(again.names().names(), reader.names().names());
            assert_eq!(again.names().names().unwrap(), ["b", "a", "c", "d"]);
        }
    }
}
