//! How much memory this process takes.

use std::fs;
use std::path::Path;

/// What the program takes before it has read anything: its own data, a stack and a pool of free memory for each thread.
pub(crate) const PROGRAM: u64 = 4 << 20;

/// Bytes of pages of files that this process has now: before it has read anything, of the program.
pub(crate) fn of_files() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    kilobytes(&status, "RssFile:").unwrap_or(0)
}

/// The most memory that this process has had so far, but for pages of files, which the system may drop: of the program, and of `data` where it is read where it is. Nothing where the system does not tell.
pub(crate) fn peak(program: u64, data: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let most = kilobytes(&status, "VmHWM:")?;
    let files = match mapped(Path::new(data)) {
        0 => kilobytes(&status, "RssFile:")?,
        length => length + program,
    };
    Some(most.saturating_sub(files))
}

fn kilobytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number << 10)
}

/// Bytes of a file that is read where it is: those of compressed ones are unpacked into memory, and those of small ones copied.
fn mapped(path: &Path) -> u64 {
    const SMALL: u64 = 1 << 20;
    const COMPRESSED: [&[u8]; 2] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    let length = fs::metadata(path).ok().filter(fs::Metadata::is_file).map_or(0, |about| about.len());
    let mut first = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut first));
    let packed = read.is_ok() && COMPRESSED.iter().any(|magic| first.starts_with(magic));
    if packed || length < SMALL { 0 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_is_found_in_what_the_system_says() {
        let status = "Name:\ttest\nVmPeak:\t  900 kB\nVmHWM:\t  123 kB\nVmRSS:\t  99 kB\n";
        assert_eq!(kilobytes(status, "VmHWM:"), Some(123 << 10));
        assert_eq!(kilobytes(status, "VmData:"), None);
    }

    #[test]
    fn only_large_plain_files_are_read_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            mapped(&path)
        };
        let large = vec![b'1'; 2 << 20];
        assert_eq!(file("large", &large), 2 << 20);
        assert_eq!(file("packed", &[&[0x1f, 0x8b][..], &large].concat()), 0);
        assert_eq!(file("small", b"1 1:1\n"), 0);
        assert_eq!(mapped(&folder.path().join("none")), 0);
    }
}
