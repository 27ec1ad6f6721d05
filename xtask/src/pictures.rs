//! `cargo xtask pictures`: the pictures of the documentation.

use std::fs;
use std::path::Path;

use crate::command::{Outcome, no_arguments};
use crate::project::Project;
use crate::run::{cargo, output};

const FOLDER: &str = "docs/pictures";

/// What is drawn, by the command line itself; `SPAM` is a model that is trained first.
const PICTURES: [(&str, &str); 10] = [
    ("iris-separable", "plot iris-separable -a hard-margin --size 640x520"),
    ("iris-inseparable", "plot iris-inseparable -a linear-svm"),
    ("iris", "plot iris -a svm --kernel rbf --scale standard"),
    ("xor", "plot xor -a svm --kernel poly --degree 2 --c 10 --size 560x600"),
    ("ring", "plot ring -a linear-svm --c 10 --map lift --size 560x600"),
    ("steps", "plot worked-1 -a perceptron --bias none --steps"),
    ("strip", "plot iris-separable -a perceptron --scale standard --steps strip --frames 8"),
    ("losses", "plot losses"),
    (
        "curve",
        "plot curve auto-mpg -a kernel-perceptron --kernel rbf --gamma 0.3 --scale standard --passes 15 --holdout 0.3 --test 0.3",
    ),
    ("spam-weights", "plot weights SPAM"),
];

/// Draws all anew.
pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let folder = project.path(FOLDER);
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make {FOLDER}: {e}"))?;
    let model = project.target()?.join("spam.model");
    let spam = model.display().to_string();
    draw(project, &format!("train sms-spam -a linear-svm --quiet -o {spam}"), None)?;
    for (name, command) in PICTURES {
        let file = folder.join(format!("{name}.svg"));
        draw(project, &command.replace("SPAM", &spam), Some(&file))?;
        println!("Wrote {FOLDER}/{name}.svg");
    }
    fs::remove_file(&model).map_err(|e| format!("cannot remove {spam}: {e}"))
}

fn draw(project: &Project, command: &str, to: Option<&Path>) -> Outcome {
    let mut program = cargo(project);
    program.args(["run", "--quiet", "--release", "--package", "rosenblatt-cli", "--"]);
    program.args(command.split(' '));
    if let Some(file) = to {
        program.arg("-o").arg(file);
    }
    output(&mut program).map(drop)
}
