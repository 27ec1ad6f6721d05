//! `cargo xtask lint`: nothing to say about format, code and documentation.

use crate::command::{Outcome, no_arguments};
use crate::project::Project;
use crate::run::{self, cargo};

pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    run::run(cargo(project).args(["fmt", "--all", "--check"]))?;
    let strict = ["--", "-D", "warnings"];
    run::run(cargo(project).args(["clippy", "--workspace", "--all-targets"]).args(strict))?;
    let mut doc = cargo(project);
    run::run(doc.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}
