//! Model files: the place for them. Until there is a reader, bytes that look like one must be refused as data.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt_io::{ReadOptions, parse};

fuzz_target!(|bytes: &[u8]| {
    let _ = parse(bytes, "fuzz", &ReadOptions::default());
});
