//! `cargo xtask fuzz`: hostile input for the readers and the model file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Outcome, no_arguments};
use crate::project::Project;
use crate::run::{self, program, succeeds};

const TARGETS: &str = "fuzz/fuzz_targets";
const DEFAULT_SECONDS: u32 = 60;

pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    let seconds = seconds(arguments)?;
    check_tools(project)?;
    for target in targets(&project.path(TARGETS))? {
        let limit = format!("-max_total_time={seconds}");
        let folders = corpus(project, &target)?;
        run::run(nightly(project).args(["fuzz", "run", &target]).args(folders).args(["--", &limit]))?;
    }
    Ok(())
}

/// What libFuzzer finds goes to the first folder, which git ignores; the seeds beside the targets are only read.
fn corpus(project: &Project, target: &str) -> Outcome<Vec<PathBuf>> {
    let found = project.path("fuzz/target/corpus").join(target);
    fs::create_dir_all(&found).map_err(|e| format!("cannot make {}: {e}", found.display()))?;
    let seeds = project.path("fuzz/corpus").join(target);
    Ok([found, seeds].into_iter().filter(|folder| folder.is_dir()).collect())
}

/// The `cargo` that rustup puts on the PATH: only that one knows `+nightly`.
fn nightly(project: &Project) -> Command {
    let mut cargo = program(project, "cargo");
    cargo.arg("+nightly");
    cargo
}

fn check_tools(project: &Project) -> Outcome {
    if !succeeds(nightly(project).arg("--version")) {
        return Err("fuzzing needs a nightly toolchain: rustup toolchain install nightly".into());
    }
    if !succeeds(nightly(project).args(["fuzz", "--version"])) {
        return Err("fuzzing needs cargo-fuzz: cargo install cargo-fuzz".into());
    }
    Ok(())
}

fn seconds(arguments: &[String]) -> Outcome<u32> {
    let Some((first, rest)) = arguments.split_first() else {
        return Ok(DEFAULT_SECONDS);
    };
    no_arguments(rest)?;
    // libFuzzer takes 0 as "for ever".
    first
        .parse()
        .ok()
        .filter(|&seconds| seconds > 0)
        .ok_or_else(|| format!("`{first}` is no number of seconds; for example: cargo xtask fuzz 60"))
}

/// One target a Rust file, in order of their names.
fn targets(folder: &Path) -> Outcome<Vec<String>> {
    let unreadable = |e| format!("cannot read {}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    if names.is_empty() { Err(format!("no targets in {}", folder.display())) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_one_positive_number_or_the_default() {
        let parse =
            |words: &[&str]| seconds(&words.iter().map(|word| String::from(*word)).collect::<Vec<_>>());
        assert_eq!(parse(&[]), Ok(DEFAULT_SECONDS));
        assert_eq!(parse(&["5"]), Ok(5));
        for wrong in [&["0"][..], &["-1"], &["soon"], &["5", "6"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn targets_are_the_rust_files_in_order() {
        let names = targets(&Project::here().path(TARGETS)).unwrap_or_default();
        assert!(!names.is_empty() && names.is_sorted());
        assert!(targets(Path::new("no/such/folder")).is_err());
    }
}
