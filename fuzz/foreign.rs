//! What holds for any bytes that may be a model of another program. The fuzz target looks for some that break it, and a test of the readers goes through the seeds.

use std::path::Path;

use rosenblatt::Fit;
use rosenblatt_io::{ModelFormat, export, parse_model};

/// It is read or refused; what is read can be saved in our format, and written back it is a file that is read and written the same. Whether it was read.
pub(crate) fn foreign(bytes: &[u8]) -> bool {
    let (format, path) = (ModelFormat::of(bytes), Path::new("fuzz.model"));
    if format == ModelFormat::Rosenblatt {
        return false;
    }
    let Ok(fit) = parse_model(bytes, path) else { return false };
    let saved = fit.to_bytes().expect("what was read can be saved");
    assert_eq!(Fit::from_bytes(&saved).as_ref(), Ok(&fit));
    let written = export(&fit, format).expect("what was read can be written").bytes;
    let again = parse_model(&written, path).expect("what was written can be read");
    assert_eq!(again.model.classes, fit.model.classes);
    assert_eq!(export(&again, format).map(|export| export.bytes), Ok(written));
    true
}
