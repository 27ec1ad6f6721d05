//! How names become columns.

use rosenblatt::Features;

use crate::dictionary::{Dictionary, Key, NONE, NoNumber, Seeds, check_utf8};
use crate::error::ReadError;
use crate::hashing::{Buckets, bucket};
use crate::problem::excerpt_bytes;
use crate::row::Repeats;
use crate::{Hashing, Problem, ReadOptions};

/// The columns that names stand for; it lives as long as its reader, whatever the rows become.
///
/// Readers look names up in it side by side, each with a [`Fresh`] of its own for what it does not know, and teach it
/// those afterwards, in the order of the file.
pub(crate) enum Names {
    /// Every name gets a column, in order of first appearance.
    Learned(Dictionary),
    /// Those a model knows; others are zeros for it, as unseen words are.
    Known(Dictionary),
    /// A model without names: its features are numbers from 1.
    Numbered(u64),
    /// A bucket for each name; while learning, all names are remembered for the report.
    Hashed { bits: u8, met: Option<Buckets> },
}

/// Names that [`Names`] does not know yet, and how many were looked up.
#[derive(Default)]
pub(crate) struct Fresh {
    /// Their numbers follow those of all known names.
    names: Dictionary,
    hashed: Buckets,
    pub(crate) unknown: Unknown,
}

/// Features of a file that a model has never seen, which count as 0.
///
/// ```
/// use rosenblatt_io::{ReadOptions, Unknown, parse};
/// let features = parse(b"1 | a b\n", "x.vw", &ReadOptions::default())?.features;
/// let options = ReadOptions { features: Some(features), ..Default::default() };
/// let table = parse(b"1 | a c\n0 | c\n", "x.vw", &options)?;
/// assert_eq!(table.unknown, Some(Unknown { entries: 2, of: 3 }));
/// # Ok::<(), rosenblatt_io::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// How many entries of the rows have a name the model does not know.
    pub entries: u64,
    /// Entries in all.
    pub of: u64,
}

/// Why a feature is refused; the byte is counted within its name.
pub(crate) enum Refused {
    NotUtf8(usize),
    Problem(Problem),
}

impl Names {
    pub(crate) fn new(options: &ReadOptions) -> Result<Self, ReadError> {
        Ok(match &options.features {
            None => match options.hash {
                Some(bits) => Names::Hashed { bits, met: Some(Buckets::default()) },
                None => Names::Learned(Dictionary::default()),
            },
            Some(Features { hash: Some(bits), .. }) => Names::Hashed { bits: *bits, met: None },
            Some(Features { names: Some(names), .. }) => Names::Known(dictionary(names)?),
            Some(features) => Names::Numbered(features.count as u64),
        })
    }

    /// Names learned before, by number; more may follow.
    pub(crate) fn learned_from(names: Vec<String>) -> Result<Self, ReadError> {
        dictionary(&names).map(Names::Learned)
    }

    /// The same for names that are hashed.
    pub(crate) fn hashed_from(bits: u8, names: &[String]) -> Result<Self, ReadError> {
        let mut met = Buckets::default();
        for name in names.iter().map(String::as_bytes) {
            met.intern(Key::of(name, Seeds::new()), name, bits).map_err(|_| ReadError::new(full()))?;
        }
        Ok(Names::Hashed { bits, met: Some(met) })
    }

    /// The names by number, where there are any.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        match self {
            Names::Learned(names) | Names::Known(names) => Some(names.names()),
            Names::Hashed { met, .. } => met.as_ref().map(|met| met.names.names()),
            Names::Numbered(_) => None,
        }
    }

    /// How many columns there are so far.
    pub(crate) fn count(&self) -> usize {
        match self {
            Names::Learned(names) | Names::Known(names) => names.len(),
            Names::Numbered(count) => *count as usize,
            Names::Hashed { bits, .. } => 1 << bits,
        }
    }

    /// The columns from here on are those of fresh names, which may change when they are learned.
    pub(crate) fn first_fresh(&self) -> u32 {
        match self {
            Names::Learned(names) => names.len() as u32,
            _ => u32::MAX,
        }
    }

    /// How names share buckets, where all are remembered.
    pub(crate) fn hashing(&self) -> Option<Hashing> {
        match self {
            Names::Hashed { bits, met: Some(met) } => Some(met.report(*bits)),
            _ => None,
        }
    }

    /// What a feature that appears twice means: buckets may hold several.
    pub(crate) fn repeats(&self, of_one_name: Repeats) -> Repeats {
        match self {
            Names::Hashed { .. } => Repeats::Add,
            _ => of_one_name,
        }
    }

    /// Asks memory for the place of a name that will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: Key) {
        match self {
            Names::Learned(names) | Names::Known(names) => names.prefetch(key),
            Names::Hashed { met: Some(met), .. } => met.names.prefetch(key),
            _ => {}
        }
    }

    /// The columns of names that are found at a glance; `NONE` for others.
    #[inline]
    pub(crate) fn glance(&self, keys: impl Iterator<Item = Key>, columns: &mut [u32]) {
        match self {
            Names::Learned(names) | Names::Known(names) => {
                columns.iter_mut().zip(keys).for_each(|(column, key)| *column = names.glance(key));
            }
            Names::Hashed { met: Some(met), .. } => {
                columns.iter_mut().zip(keys).for_each(|(column, key)| *column = met.glance(key));
            }
            _ => columns.fill(NONE),
        }
    }

    /// The column of a name, if it has one.
    #[inline(always)]
    pub(crate) fn find(&self, key: Key, name: &[u8], fresh: &mut Fresh) -> Result<Option<u32>, Refused> {
        match self {
            Names::Learned(names) => match names.find(key, name) {
                Some(column) => Ok(Some(column)),
                None => fresh.column(key, name, names.len()).map(Some),
            },
            Names::Known(names) => match names.find(key, name) {
                Some(column) => Ok(Some(column)),
                None => {
                    fresh.unknown.entries += 1;
                    check_utf8(name).map(|()| None).map_err(refused)
                }
            },
            Names::Numbered(count) => numbered(name, *count).map(Some).map_err(Refused::Problem),
            Names::Hashed { bits, met: Some(met) } => match met.find(key, name) {
                Some(column) => Ok(Some(column)),
                None => fresh.hashed.intern(key, name, *bits).map(Some).map_err(refused),
            },
            Names::Hashed { bits, met: None } => {
                check_utf8(name).map(|()| Some(bucket(name, *bits))).map_err(refused)
            }
        }
    }

    /// Learns fresh names and gives the column each has from now on.
    pub(crate) fn learn(&mut self, fresh: &Fresh) -> Result<Vec<u32>, ReadError> {
        let full = |_| ReadError::new(full());
        match self {
            Names::Learned(names) => {
                let fresh = &fresh.names;
                let learn = |id: u32| names.intern(fresh.name(id)).map_err(full);
                (0..fresh.len() as u32).map(learn).collect()
            }
            Names::Hashed { bits, met: Some(met) } => {
                let fresh = &fresh.hashed.names;
                let names = (0..fresh.len() as u32).map(|id| fresh.name(id));
                names.into_iter().try_for_each(|name| {
                    met.intern(Key::of(name, Seeds::new()), name, *bits).map(|_| ()).map_err(full)
                })?;
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Learns features that follow all others. Two of one name could not be told apart.
    pub(crate) fn append(&mut self, more: &[String]) -> Result<(), ReadError> {
        let Names::Learned(names) = self else { return Ok(()) };
        for name in more {
            let next = names.len() as u32;
            if names.intern(name.as_bytes()).map_err(|_| full())? != next {
                return Err(Problem::FeatureTwice { name: excerpt_bytes(name.as_bytes()) }.into());
            }
        }
        Ok(())
    }

    /// A column as messages call it.
    pub(crate) fn shown(&self, column: u32, fresh: &Fresh) -> String {
        match self {
            Names::Learned(names) | Names::Known(names) => excerpt_bytes(match names.len() as u32 {
                known if column < known => names.name(column),
                known => fresh.names.name(column - known),
            }),
            Names::Numbered(_) => (u64::from(column) + 1).to_string(),
            Names::Hashed { .. } => format!("#{column}"),
        }
    }

    /// The features of a table; `model` is what the names were made for.
    pub(crate) fn features(&self, model: Option<&Features>) -> Result<Features, ReadError> {
        match (model, self) {
            (Some(model), _) => Ok(model.clone()),
            (None, Names::Learned(names)) if names.len() > 0 => {
                Ok(Features { count: names.len(), names: Some(names.names()), ..Features::default() })
            }
            (None, Names::Hashed { bits, met: Some(met) }) if met.names.len() > 0 => {
                Ok(Features { count: 1 << bits, hash: Some(*bits), ..Features::default() })
            }
            _ => Err(Problem::NoFeatures.into()),
        }
    }
}

impl Fresh {
    #[inline]
    fn column(&mut self, key: Key, name: &[u8], known: usize) -> Result<u32, Refused> {
        let id = self.names.intern_as(key, name).map_err(refused)?;
        let column = u32::try_from(known + id as usize).ok().filter(|&column| column < u32::MAX);
        column.ok_or_else(|| Refused::Problem(full()))
    }
}

/// Two features of one name could not be told apart.
fn dictionary(names: &[String]) -> Result<Dictionary, ReadError> {
    let mut dictionary = Dictionary::default();
    for (column, name) in names.iter().enumerate() {
        if dictionary.intern(name.as_bytes()) != Ok(column as u32) {
            return Err(Problem::Data(format!("the model has two features named {name:?}")).into());
        }
    }
    Ok(dictionary)
}

fn full() -> Problem {
    Problem::IndexTooLarge { index: (1u64 << 32).to_string() }
}

fn refused(no_number: NoNumber) -> Refused {
    match no_number {
        NoNumber::NotUtf8(at) => Refused::NotUtf8(at),
        NoNumber::Full => Refused::Problem(full()),
    }
}

fn numbered(name: &[u8], count: u64) -> Result<u32, Problem> {
    let digits = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    if !digits {
        return Err(Problem::ExpectedNumber { found: excerpt_bytes(name) });
    }
    let next = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    match name.iter().fold(0, next) {
        0 => Err(Problem::IndexZero),
        index if index > count => Err(Problem::IndexBeyondModel { index, count: count as usize }),
        index => u32::try_from(index - 1).map_err(|_| Problem::IndexTooLarge { index: index.to_string() }),
    }
}
