//! JSON lines: any bytes are read or refused, and what is read is consistent. The first byte chooses options.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::{DataError, Rows};
use rosenblatt_io::{Format, Precision, ReadOptions, Table, TextOptions, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let has = |bit: u8| choice & (1 << bit) != 0;
    let options = ReadOptions {
        format: Some(Format::Jsonl),
        label: has(0).then(|| "x".to_owned()),
        drop: has(1).then(|| "a.b".to_owned()).into_iter().collect(),
        weight: has(2).then(|| "w".to_owned()),
        precision: has(3).then_some(Precision::F32),
        text: TextOptions { columns: has(4).then(|| "t".to_owned()).into_iter().collect(), ..Default::default() },
        ..Default::default()
    };
    let Ok(table) = parse(text, "fuzz", &options) else { return };
    assert_eq!(table.lines.len(), table.x.n_rows());
    assert_eq!(table.features.names.as_ref().map(Vec::len), Some(table.x.n_cols()));
    assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
    let again = ReadOptions { features: Some(table.features.clone()), ..options };
    // Only the second time there was a model that might not have known a name.
    let again = parse(text, "fuzz", &again).map(|again| Table { unknown: None, ..again });
    assert_eq!(again.as_ref(), Ok(&table));
    let _ = table.into_dataset();
});
