//! `cargo xtask accuracy`: the measured numbers of the documentation.

use std::fs;

use crate::command::{Outcome, no_arguments};
use crate::project::Project;
use crate::run::{cargo, output};

const PAGE: &str = "docs/accuracy.md";

/// The example prints the page; it replaces the old one only when complete.
pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let example = ["run", "--release", "--package", "rosenblatt-cli", "--example", "accuracy"];
    let page = output(cargo(project).args(example))?;
    if page.is_empty() {
        return Err(format!("the example printed nothing; {PAGE} stays as it was"));
    }
    fs::create_dir_all(project.path("docs"))
        .and_then(|()| fs::write(project.path(PAGE), page))
        .map_err(|e| format!("cannot write {PAGE}: {e}"))?;
    println!("Wrote {PAGE}");
    Ok(())
}
