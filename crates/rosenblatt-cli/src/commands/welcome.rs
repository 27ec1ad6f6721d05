//! What a bare `rosenblatt` says.

use serde_json::json;

use super::{emit, emit_json};
use crate::args::Cli;
use crate::failure::Failure;
use crate::style::{DIM, TITLE};

const COMMANDS: &[(&str, &str)] = &[
    ("rosenblatt train iris -o iris.model", "learn to tell three kinds of iris apart"),
    ("rosenblatt explain iris.model iris --row 1", "see why a flower is called what it is"),
    ("rosenblatt trace worked-1 -a perceptron", "watch a perceptron learn, step by step"),
];

pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if cli.json {
        let commands: Vec<&str> = COMMANDS.iter().map(|(command, _)| *command).collect();
        return emit_json(&json!({ "name": "rosenblatt", "version": version, "try": commands }));
    }
    let mut text = format!(
        "{TITLE}rosenblatt{TITLE:#} {version} learns classifiers, from Rosenblatt's perceptron on, and proves what it learned.\n\nTry:\n"
    );
    for (command, why) in COMMANDS {
        text += &format!("  {command:<44}{DIM}{why}{DIM:#}\n");
    }
    text += "\nYour own data: `rosenblatt train FILE.csv -o my.model`, then `rosenblatt predict my.model NEW.csv`.\n";
    text += "All commands: `rosenblatt --help`.\n";
    emit(&text)
}
