//! Model files of LIBSVM and LIBLINEAR.

#![no_main]

#[path = "../foreign.rs"]
mod foreign;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    foreign::foreign(bytes);
});
