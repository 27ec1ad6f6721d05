//! Model files: any bytes are loaded or refused, and what is loaded is saved to a file that loads the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rosenblatt::Fit;

fuzz_target!(|bytes: &[u8]| {
    let Ok(fit) = Fit::from_bytes(bytes) else { return };
    let saved = fit.to_bytes().expect("a loaded model can be saved");
    let again = Fit::from_bytes(&saved).expect("a saved model can be loaded");
    assert_eq!(again.to_bytes().ok(), Some(saved));
});
