//! Features with short names and values of many digits.

use rosenblatt::simd::{Text, TextLoop};

use super::block::{Block, Namespace};
use crate::builder::Value;
use crate::dictionary::Key;
use crate::number::{self, LONG};

/// The longest feature, the space before it included, and the byte behind it.
const FEATURE: usize = 32;
/// Sixteen bytes from wherever a part of such a feature may start can be loaded.
const LOADED: usize = FEATURE + 16;

/// Reads features of a space, a name, a colon, a digit, a point and sixteen or more digits, up to the first that is something else, and gives the place of that one.
pub(super) struct LongFeatures<'b, 'n, 'a, T> {
    pub(super) block: &'b mut Block<'n, 'a, T>,
    pub(super) text: &'b [u8],
    pub(super) at: usize,
    pub(super) namespace: Namespace,
}

impl<T: Value> TextLoop for LongFeatures<'_, '_, '_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self, look: impl Text) -> usize {
        let LongFeatures { block, text, mut at, namespace } = self;
        let room = Key::ROOM.saturating_sub(namespace.prefix);
        while block.has_room() {
            let feature = text.get(at..).and_then(|text| text.first_chunk());
            let Some((name, length, value, end)) = feature.and_then(|f| long_feature::<T>(f, room, look))
            else {
                break;
            };
            block.add(namespace.key(name, length), value, at + 1, namespace);
            at += end;
        }
        at
    }
}

/// The bytes of the name, its length, the value and where it ends. All ends come from one mask: the place of the next feature is what a reader waits for.
#[inline(always)]
fn long_feature<T: Value>(
    text: &[u8; LOADED],
    room: usize,
    look: impl Text,
) -> Option<(u128, usize, T, usize)> {
    let shown = text.first_chunk::<FEATURE>()?;
    let next = |mask: u32| mask & mask.wrapping_sub(1);
    let place = |mask: u32| mask.trailing_zeros() as usize;
    let colons = next(look.ends(shown));
    let (colon, end) = (place(colons), place(next(colons)));
    let long = (2..=1 + room).contains(&colon) && (colon + 1 + LONG..FEATURE).contains(&end);
    if !long || text[0] != b' ' || text[colon] != b':' || text[colon + 2] != b'.' {
        return None;
    }
    let others = look.no_digits(shown) & ((1 << end) - (1 << (colon + 1)));
    if others != 1 << (colon + 2) || !matches!(text[end], b' ' | b'\n' | b'\t' | b'\r' | b'|') {
        return None;
    }
    let whole = u64::from(text[colon + 1] - b'0');
    let decimals = look.number(text[colon + 3..].first_chunk()?);
    let value = T::round_cut(whole * number::TENS[16] + decimals)?;
    Some((u128::from_le_bytes(*text[1..].first_chunk()?), colon - 1, value, end))
}
