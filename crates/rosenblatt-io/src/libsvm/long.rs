//! Pairs with many digits: the values of most files that a program wrote.

use rosenblatt::simd::{Text, TextLoop};

use crate::builder::Value;
use crate::number::{self, LONG, Word};

/// The longest pair, its space included, and the byte behind it.
const PAIR: usize = 32;
/// Sixteen digits from wherever a value of such a pair may start can be loaded.
const LOADED: usize = PAIR + 16;
/// An index is loaded as one word, with its colon.
const INDEX: usize = 7;

/// Reads pairs of a space, an index and a value of a digit, a point and sixteen or more digits, other than 0, up to the first that is
/// something else. Gives their length, the last index and their number.
pub(super) struct LongPairs<'a, T> {
    pub(super) text: &'a [u8],
    pub(super) before: u64,
    pub(super) limit: u64,
    pub(super) columns: &'a mut [u32],
    pub(super) values: &'a mut [T],
}

impl<T: Value> TextLoop for LongPairs<'_, T> {
    type Output = (usize, u64, usize);

    #[inline(always)]
    fn run(self, look: impl Text) -> Self::Output {
        let (mut at, mut last) = (0, self.before);
        let mut read = 0;
        for (column, place) in self.columns.iter_mut().zip(self.values) {
            let pair = self.text.get(at..).and_then(|text| text.first_chunk());
            let Some((index, value, length)) = pair.and_then(|pair| long_pair::<T>(pair, look)) else {
                break;
            };
            if index <= last || index > self.limit {
                break;
            }
            (*column, *place) = ((index - 1) as u32, value);
            (at, last, read) = (at + length, index, read + 1);
        }
        (at, last, read)
    }
}

/// All ends come from one mask: the place of the next pair is what a reader waits for.
#[inline(always)]
fn long_pair<T: Value>(text: &[u8; LOADED], look: impl Text) -> Option<(u64, T, usize)> {
    let next = |mask: u32| mask & mask.wrapping_sub(1);
    let colons = next(look.no_digits(text.first_chunk()?));
    let (points, ends) = (next(colons), next(next(colons)));
    let place = |mask: u32| mask.trailing_zeros() as usize;
    let (colon, point, end) = (place(colons), place(points), place(ends));
    let long =
        (2..=1 + INDEX).contains(&colon) && point == colon + 2 && (colon + 1 + LONG..PAIR).contains(&end);
    if !long || text[0] != b' ' || text[colon] != b':' || text[point] != b'.' || text[end] > b' ' {
        return None;
    }
    let whole = u64::from(text[colon + 1] - b'0');
    let decimals = look.number(text[point + 1..].first_chunk()?);
    let value = T::round_cut(whole * number::TENS[16] + decimals)?;
    Some((Word::load(text, 1)?.first(colon - 1), value, end))
}
