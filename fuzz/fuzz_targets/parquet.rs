//! Parquet: any bytes are read or refused, and what is read is consistent. The first byte chooses options.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::{DataError, Rows};
use rosenblatt_io::{Format, Precision, ReadOptions, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, file)) = bytes.split_first() else { return };
    let has = |bit: u8| choice & (1 << bit) != 0;
    let options = ReadOptions {
        format: Some(Format::Parquet),
        label: has(0).then(|| "1".to_owned()),
        drop: has(1).then(|| "2".to_owned()).into_iter().collect(),
        categorical: has(2).then(|| "1".to_owned()).into_iter().collect(),
        precision: has(3).then_some(Precision::F32),
        ..Default::default()
    };
    let Ok(table) = parse(file, "fuzz", &options) else { return };
    assert_eq!(table.lines.len(), table.x.n_rows());
    assert_eq!(table.features.count, table.x.n_cols());
    assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
    let model = ReadOptions { features: Some(table.features.clone()), categorical: Vec::new(), ..options };
    let again = parse(file, "fuzz", &model).expect("a table is read into its own features");
    assert_eq!((&again.x, &again.labels), (&table.x, &table.labels));
    let _ = table.into_dataset();
});
