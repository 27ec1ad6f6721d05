//! `cargo xtask test`: everything that can be tested, on a machine with only cargo and Python.

use crate::command::Outcome;
use crate::package;
use crate::project::Project;
use crate::python::{Python, TESTS};
use crate::run::{self, cargo};

pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    let extra = after_dashes(arguments)?;
    run::run(cargo(project).args(["test", "--workspace"]).args(extra))?;
    // Cargo only builds examples unless asked for them.
    run::run(cargo(project).args(["test", "--workspace", "--examples"]).args(extra))?;
    package::build(project)?;
    oracles(project)?;
    package::test(project)
}

/// Independent implementations in Python against the command line; then what the benches compute with.
fn oracles(project: &Project) -> Outcome {
    let binary = project.release_binary("rosenblatt")?;
    let python = Python::prepared(project, &TESTS)?;
    run::run(python.command().args(["-m", "pytest", "tests/oracle", "-q"]).env("ROSENBLATT", binary))?;
    run::run(python.command().args(["-m", "pytest", "bench", "-q"]))
}

/// What is meant for `cargo test`.
fn after_dashes(arguments: &[String]) -> Outcome<&[String]> {
    match arguments.split_first() {
        None => Ok(&[]),
        Some((dashes, extra)) if dashes == "--" => Ok(extra),
        Some((other, _)) => {
            Err(format!("unexpected argument `{other}`; what cargo test shall get goes after `--`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_arguments_follow_two_dashes() {
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        assert_eq!(after_dashes(&[]), Ok(&[][..]));
        assert_eq!(after_dashes(&words("--")), Ok(&[][..]));
        assert_eq!(after_dashes(&words("-- a -- b")), Ok(&words("a -- b")[..]));
        assert!(after_dashes(&words("a")).is_err_and(|e| e.contains("after `--`")));
    }
}
