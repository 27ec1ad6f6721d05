//! IDX images: any bytes are read or refused, and what is read is as large as it says.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::Rows;
use rosenblatt_io::{Format, ReadOptions, parse};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { format: Some(Format::Idx), ..Default::default() };
    let Ok(table) = parse(bytes, "fuzz", &options) else { return };
    assert_eq!(table.lines.len(), table.x.n_rows());
    assert_eq!(table.features.count, table.x.n_cols());
    let again = ReadOptions { features: Some(table.features.clone()), ..options };
    assert_eq!(parse(bytes, "fuzz", &again).as_ref(), Ok(&table));
    let _ = table.into_dataset();
});
