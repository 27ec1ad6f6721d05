//! Every `console` block of the documentation is run, and must print what it shows.
//!
//! Times differ from run to run and are left out of the comparison. With `ROSENBLATT_UPDATE=1` the blocks are rewritten.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;

#[test]
fn readme() {
    check("../../README.md");
}

#[test]
fn proofs() {
    check("../../docs/proofs.md");
}

#[test]
fn command_line_goldens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for name in support::files(&folder) {
        check(&format!("tests/golden/{name}"));
    }
}

fn check(path: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let written = fs::read_to_string(&path).unwrap();
    let real = rerun(&written);
    if std::env::var_os("ROSENBLATT_UPDATE").is_some() {
        fs::write(&path, real).unwrap();
        return;
    }
    let without_times =
        Regex::new(r#"[0-9.]+ (µs|ms|s|min)\b|("(read|train|write|predict|seconds)": )[0-9.e-]+"#).unwrap();
    let steady = |text: &str| without_times.replace_all(text, "$2TIME").into_owned();
    for (line, (shown, printed)) in steady(&written).lines().zip(steady(&real).lines()).enumerate() {
        assert_eq!(shown, printed, "{}, line {}", path.display(), line + 1);
    }
    assert_eq!(written.lines().count(), real.lines().count(), "{}", path.display());
}

/// The document with the real output under each `$ command`.
fn rerun(document: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let mut inside = false;
    for line in document.lines() {
        match (inside, line) {
            (false, _) => {
                inside = line == "```console";
                text += &format!("{line}\n");
            }
            (true, "```") => {
                inside = false;
                text += "```\n";
            }
            (true, _) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    text += &format!("{line}\n{}", output(command, folder.path()));
                }
            }
        }
    }
    text
}

fn output(command: &str, folder: &Path) -> String {
    let command = command.replace("cargo run --release --", "rosenblatt");
    let programs = PathBuf::from(support::BINARY).parent().unwrap().to_path_buf();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let result = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(result.stdout).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
