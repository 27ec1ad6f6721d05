//! Vowpal Wabbit text: any bytes are read or refused, and what is read is consistent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::{DataError, Features, Rows};
use rosenblatt_io::{Format, Precision, ReadOptions, Table, parse};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { format: Some(Format::Vw), ..Default::default() };
    let double = ReadOptions { precision: Some(Precision::F64), ..options.clone() };
    if let Ok(table) = parse(bytes, "fuzz", &double) {
        assert_eq!(table.lines.len(), table.x.n_rows());
        assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
    }
    let numbered = Features { count: 9, ..Features::default() };
    let _ = parse(bytes, "fuzz", &ReadOptions { features: Some(numbered), ..options.clone() });
    let Ok(table) = parse(bytes, "fuzz", &options) else { return };
    assert_eq!(table.features.names.as_ref().map(Vec::len), Some(table.x.n_cols()));
    let again = ReadOptions { features: Some(table.features.clone()), ..options };
    // Only the second time there was a model that might not have known a name.
    let again = parse(bytes, "fuzz", &again).map(|again| Table { unknown: None, ..again });
    assert_eq!(again.as_ref(), Ok(&table));
    let _ = table.into_dataset();
});
