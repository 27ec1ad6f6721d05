//! Running the program as a user does.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rosenblatt");

pub(crate) fn rosenblatt<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Output {
    let command = Command::new(BINARY).args(args).current_dir(folder).stdin(Stdio::null()).output();
    command.expect("the program starts")
}

pub(crate) fn rosenblatt_with_input<S: AsRef<OsStr>>(folder: &Path, args: &[S], input: &[u8]) -> Output {
    let mut child = Command::new(BINARY)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that refuses its input early closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the program ends")
}

/// Runs a command that must succeed and returns its JSON object.
pub(crate) fn json(folder: &Path, line: &str) -> Value {
    let args: Vec<&str> = line.split_whitespace().chain(["--json"]).collect();
    let output = rosenblatt(folder, &args);
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
}

pub(crate) fn run(folder: &Path, line: &str) -> String {
    let args: Vec<&str> = line.split_whitespace().collect();
    let output = rosenblatt(folder, &args);
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Names of the files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
