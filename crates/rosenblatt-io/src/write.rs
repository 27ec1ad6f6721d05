//! Files that are whole or not there.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// A file could not be written; nothing was left behind.
#[derive(Debug, Error)]
#[error("cannot write {}: {}", path.display(), reason(source))]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// Why it was not.
    pub source: io::Error,
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such folder".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

/// Writes a file so that at every moment the old one or the new one is there, whole.
///
/// The new content goes to a temporary file in the same folder, is synced, and takes the name at the end. What is not
/// a regular file, such as `/dev/stdout` or a pipe, is written to directly.
///
/// ```
/// use rosenblatt_io::write_atomically;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("labels.txt");
/// write_atomically(&path, |out| writeln!(out, "spam"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "spam\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let written = match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => write_through(path, write),
        // A link keeps being one: what it points to is replaced.
        Ok(_) => fs::canonicalize(path).and_then(|target| replace(&target, write)),
        Err(_) => replace(path, write),
    };
    written.map_err(|source| WriteError { path: path.to_owned(), source })
}

/// The same through a temporary file of this name, which a process that was killed leaves for the next to write over.
pub(crate) fn write_through_file(
    path: &Path,
    temporary: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let written = || {
        let mut out = BufWriter::new(fs::File::create(temporary)?);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(temporary, path)
    };
    written().map_err(|source| WriteError { path: path.to_owned(), source })?;
    sync_folder(folder_of(path));
    Ok(())
}

fn write_through(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    write(&mut out)?;
    out.flush()
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(path);
    let file = temporary(folder)?;
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder);
    Ok(())
}

/// Other users may read the result as far as the process's mask allows, as with any new file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rosenblatt-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// The rename itself survives a crash only once the folder is synced; the file is whole either way.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// Whether [`write_atomically`] could begin: asked before long work, so that its result has a place to go.
///
/// ```
/// use std::path::Path;
/// assert!(rosenblatt_io::check_writable(Path::new("no/such/folder/my.model")).is_err());
/// ```
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let checked = match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Ok(()),
        // The file tried has no name, so that a process killed just then leaves nothing.
        Ok(_) => {
            fs::canonicalize(path).and_then(|target| tempfile::tempfile_in(folder_of(&target))).map(drop)
        }
        Err(_) => tempfile::tempfile_in(folder_of(path)).map(drop),
    };
    checked.map_err(|source| WriteError { path: path.to_owned(), source })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
