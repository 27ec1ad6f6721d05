//! Kernel values that several problems ask for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The values of rows with all rows of their own class, under a budget of bytes. In one-vs-one a row meets its own class in each of its problems, and the values are the same; who asks first brings
/// them, and what has no room is evaluated again. Values do not depend on who did: sharing shows in the time alone.
#[derive(Debug)]
pub(crate) struct Shared {
    rows: Mutex<Rows>,
}

#[derive(Debug)]
struct Rows {
    values: HashMap<usize, Arc<[f32]>>,
    /// Bytes left.
    room: usize,
}

impl Shared {
    pub(crate) fn new(bytes: usize) -> Self {
        Shared { rows: Mutex::new(Rows { values: HashMap::new(), room: bytes }) }
    }

    /// What is known of a row of the data.
    pub(crate) fn get(&self, row: usize) -> Option<Arc<[f32]>> {
        self.rows.lock().ok()?.values.get(&row).cloned()
    }

    /// Keeps the values of a row, if there is room.
    pub(crate) fn put(&self, row: usize, values: &[f32]) {
        /// Of an entry, beside its values.
        const BESIDE: usize = 64;
        let bytes = size_of_val(values) + BESIDE;
        let Ok(mut rows) = self.rows.lock() else { return };
        if rows.room >= bytes && !rows.values.contains_key(&row) {
            rows.room -= bytes;
            rows.values.insert(row, values.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_is_kept() {
        let shared = Shared::new(2 * (64 + 8) + 10);
        (0..3).for_each(|row| shared.put(row, &[row as f32, 1.0]));
        assert_eq!(shared.get(1).as_deref(), Some(&[1.0, 1.0][..]));
        assert_eq!(shared.get(2), None);
    }
}
