//! Running other programs: shown before they start, and a failure names them.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use crate::command::Outcome;
use crate::project::Project;

/// `cargo` of the toolchain that runs this task, in the root of the project.
pub(crate) fn cargo(project: &Project) -> Command {
    program(project, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Any program, in the root of the project.
pub(crate) fn program(project: &Project, name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(project.root()).stdin(Stdio::null());
    command
}

/// Runs to the end, output passed through.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = announce(command);
    let status = command.status().map_err(|e| not_started(command, &e))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Runs to the end and returns what it printed on standard output.
pub(crate) fn output(command: &mut Command) -> Outcome<Vec<u8>> {
    let line = announce(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| not_started(command, &e))?;
    let status = output.status;
    if status.success() { Ok(output.stdout) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Whether a program is there and content, without a word.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn announce(command: &Command) -> String {
    let line = line(command);
    eprintln!("▸ {line}");
    line
}

/// The command as one would type it, programs without their folder.
fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    let name = command.get_program().to_string_lossy();
    match error.kind() {
        ErrorKind::NotFound => format!("`{name}` is not installed, or not on the PATH"),
        _ => format!("cannot start `{name}`: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/opt/toolchain/bin/cargo");
        assert_eq!(line(command.args(["test", "--workspace"])), "cargo test --workspace");
    }

    #[test]
    fn a_missing_program_is_named() {
        let mut command = Command::new("no-such-program");
        assert!(run(&mut command).is_err_and(|e| e.contains("`no-such-program` is not installed")));
        assert!(!succeeds(&mut command));
    }

    #[test]
    fn output_is_caught() {
        let printed = output(cargo(&Project::here()).arg("--version"));
        assert!(printed.is_ok_and(|bytes| bytes.starts_with(b"cargo ")));
    }

    #[test]
    fn failure_is_passed_on() {
        let failed = run(cargo(&Project::here()).arg("no-such-subcommand").stderr(Stdio::null()));
        assert!(failed.is_err_and(|e| e.contains("no-such-subcommand` failed")));
    }
}
