//! Kernel rows that many fits ask for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::gram::{Gram, Strips};

/// Kernel rows over all rows of the data, for fits that differ in their costs and in the rows they leave out: a row is evaluated once for all folds and all C.
///
/// A fit adds up the columns that it has. Values do not depend on who asked first: sharing shows in the time alone. What has no room is not kept, and never replaced.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    gram: &'a Gram<'a>,
    /// The rows of the data that are columns.
    members: Vec<usize>,
    /// For each row of the data its column.
    places: Vec<u32>,
    strips: Strips,
    rows: Vec<OnceLock<Box<[f32]>>>,
    /// How many more rows may be kept.
    room: AtomicUsize,
    /// Whether all rows have room, so that it never depends on who came first what is there.
    whole: bool,
    pool: &'a Pool,
}

/// Memory of rows that are no longer needed: what is touched for the first time costs more than a short row's values.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Vec<Box<[f32]>>>);

impl Pool {
    fn take(&self, len: usize) -> Box<[f32]> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.filter(|free| free.len() == len).unwrap_or_else(|| vec![0.0; len].into())
    }

    fn give(&self, rows: impl IntoIterator<Item = Box<[f32]>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(rows);
    }
}

/// Columns are kept laid out for products where that takes no more than this part of the room for rows.
const LAID_OUT: usize = 8;

/// Where a row has no column.
const NONE: u32 = u32::MAX;

impl<'a> Store<'a> {
    /// Room for these rows with each other, in this order, within so many bytes. `place` is the row that one is equal to, for those that are no members.
    pub(crate) fn new(
        gram: &'a Gram<'a>,
        members: Vec<usize>,
        place: impl Fn(usize) -> usize,
        bytes: usize,
        pool: &'a Pool,
    ) -> Self {
        let n = members.len();
        let mut own = vec![NONE; gram.len()];
        members.iter().zip(0..).for_each(|(&row, column)| own[row] = column);
        let places = (0..gram.len()).map(|row| own[place(row)]).collect();
        let fitting = bytes / (n * size_of::<f32>()).max(1);
        let kept = gram.bytes_of_strips(n).is_some_and(|room| room <= bytes / LAID_OUT);
        let strips = gram.strips(members.clone(), kept);
        Store {
            gram,
            places,
            strips,
            rows: (0..n).map(|_| OnceLock::new()).collect(),
            room: AtomicUsize::new(fitting.min(n)),
            whole: fitting >= n,
            members,
            pool,
        }
    }

    /// The column of a row of the data.
    pub(crate) fn column(&self, row: usize) -> u32 {
        self.places[row]
    }

    /// Whether every row has room.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// The kernel row of a column, if it is kept.
    pub(crate) fn row(&self, column: u32) -> Option<&[f32]> {
        self.rows[column as usize].get().map(|row| &**row)
    }

    /// Those of these columns, or none of them unless all are kept; what is missing is evaluated while there is room.
    pub(crate) fn all(&self, columns: &[u32]) -> Option<Vec<&[f32]>> {
        self.bring(columns);
        columns.iter().map(|&column| self.row(column)).collect()
    }

    /// Evaluates what is missing, while there is room.
    pub(crate) fn bring(&self, columns: &[u32]) {
        let missing = |column: &u32| self.rows[*column as usize].get().is_none();
        let mut missing: Vec<u32> = columns.iter().copied().filter(missing).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.truncate(self.claim(missing.len()));
        if missing.is_empty() {
            return;
        }
        let n = self.members.len();
        let mut fresh: Vec<Box<[f32]>> = missing.iter().map(|_| self.pool.take(n)).collect();
        let rows: Vec<usize> = missing.iter().map(|&column| self.members[column as usize]).collect();
        self.gram.kernel_rows(&rows, &self.strips, fresh.iter_mut().map(|row| &mut **row).collect());
        let kept = missing.iter().zip(fresh).map(|(&column, row)| self.rows[column as usize].set(row));
        // Somebody else was faster.
        let twice: Vec<Box<[f32]>> = kept.filter_map(Result::err).collect();
        self.room.fetch_add(twice.len(), Ordering::Relaxed);
        self.pool.give(twice);
    }

    /// Takes room for so many rows, or as many as there is.
    fn claim(&self, wanted: usize) -> usize {
        let take = |room: usize| Some(room - room.min(wanted));
        let before = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.unwrap_or(0).min(wanted)
    }
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        self.pool.give(self.rows.iter_mut().filter_map(OnceLock::take));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix};
    use crate::kernel::Kernel;

    #[test]
    fn rows_are_kept_while_there_is_room_and_their_memory_is_used_again() {
        let x: Matrix<'_> = Dense::new(vec![1.0f32, 2.0, 3.0, 2.0], 1).unwrap().into();
        let gram = Gram::new(Kernel::Linear, &x).unwrap();
        let pool = Pool::default();
        {
            // Row 3 is a copy of row 1.
            let store = Store::new(&gram, vec![2, 0, 1], |row| if row == 3 { 1 } else { row }, 24, &pool);
            assert_eq!((store.column(0), store.column(1), store.column(2), store.column(3)), (1, 2, 0, 2));
            assert!(!store.is_whole());
            assert_eq!(store.all(&[0, 2]), Some(vec![&[9.0f32, 3.0, 6.0][..], &[6.0, 2.0, 4.0]]));
            assert_eq!(store.all(&[1]), None);
            assert_eq!(store.row(1), None);
        }
        assert_eq!(pool.0.lock().unwrap().len(), 2);
        let store = Store::new(&gram, vec![0, 1, 2], |row| row % 3, 1 << 10, &pool);
        assert!(store.is_whole());
        assert_eq!(store.all(&[1]), Some(vec![&[2.0f32, 4.0, 6.0][..]]));
        assert_eq!(pool.0.lock().unwrap().len(), 1);
    }
}
