//! Tables: any bytes are read or refused, and what is read is consistent. The first byte chooses options.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::{DataError, Rows};
use rosenblatt_io::{Format, ReadOptions, TextOptions, parse};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let has = |bit: u8| choice & (1 << bit) != 0;
    let options = ReadOptions {
        format: Some(if has(0) { Format::Csv } else { Format::Tsv }),
        label: has(1).then(|| "1".to_owned()),
        header: has(2).then_some(has(3)),
        drop: has(4).then(|| "2".to_owned()).into_iter().collect(),
        categorical: has(5).then(|| "3".to_owned()).into_iter().collect(),
        weight: has(6).then(|| "4".to_owned()),
        text: TextOptions { columns: has(7).then(|| "5".to_owned()).into_iter().collect(), ..Default::default() },
        ..Default::default()
    };
    let Ok(table) = parse(text, "fuzz", &options) else { return };
    assert_eq!(table.lines.len(), table.x.n_rows());
    assert_eq!(table.features.count, table.x.n_cols());
    assert!(!matches!(table.x.check_values(), Err(DataError::NotFinite { .. })));
    let header = table.features.schema.as_ref().map(|schema| schema.header);
    let model = ReadOptions { features: Some(table.features.clone()), header, ..Default::default() };
    let model = ReadOptions { format: options.format, ..model };
    let again = parse(text, "fuzz", &model).expect("a table is read into its own features");
    assert_eq!((&again.x, &again.labels, &again.weights), (&table.x, &table.labels, &table.weights));
    let _ = table.into_dataset();
});
