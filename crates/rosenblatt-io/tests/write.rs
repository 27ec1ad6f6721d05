//! A file is whole or not there.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io;
use std::path::Path;

use rosenblatt_io::write_atomically;
use tempfile::tempdir;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn failure_keeps_the_old_file_and_leaves_nothing_behind() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    write_atomically(&path, |out| out.write_all(b"old")).unwrap();
    let error = write_atomically(&path, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("the disk is full"))
    });
    let message = error.unwrap_err().to_string();
    assert_eq!(message, format!("cannot write {}: the disk is full", path.display()));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["model"]);
}

#[test]
fn failure_of_a_new_file_leaves_an_empty_folder() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("model");
    assert!(write_atomically(&path, |_| Err(io::Error::other("no"))).is_err());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn missing_folders_and_folders_are_named() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("no/model");
    let message = write_atomically(&path, |_| Ok(())).unwrap_err().to_string();
    assert!(message.ends_with("no/model: there is no such folder"), "{message}");
    let message = write_atomically(folder.path(), |_| Ok(())).unwrap_err().to_string();
    assert!(message.ends_with("it is a folder"), "{message}");
}

#[cfg(unix)]
#[test]
fn permissions_links_and_devices_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempdir().unwrap();
    let (path, link) = (folder.path().join("model"), folder.path().join("link"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    write_atomically(&link, |out| out.write_all(b"new")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    write_atomically(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
}
