//! The tasks: one row each.

use crate::project::Project;
use crate::{accuracy, bench, fuzz, lint, package, pictures, test};

/// What a task comes to: nothing, or one message that says what went wrong.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// A task by name.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    arguments: &'static str,
    about: &'static str,
    pub(crate) run: fn(&Project, &[String]) -> Outcome,
}

const COMMANDS: [Command; 8] = [
    Command {
        name: "test",
        arguments: "[-- ARGS]",
        about: "all tests: Rust, Python oracles against the release binary, the Python package; ARGS go to cargo test",
        run: test::run,
    },
    Command {
        name: "lint",
        arguments: "",
        about: "formatting, clippy and rustdoc, warnings as errors",
        run: lint::run,
    },
    Command {
        name: "accuracy",
        arguments: "",
        about: "measure the learners and rewrite docs/accuracy.md",
        run: accuracy::run,
    },
    Command {
        name: "pictures",
        arguments: "",
        about: "draw the pictures in docs/pictures anew",
        run: pictures::run,
    },
    Command {
        name: "bench",
        arguments: "[NAME…]",
        about: "measure ours and the peers side by side; lists the benches when none is named",
        run: bench::run,
    },
    Command {
        name: "wheel",
        arguments: "",
        about: "make the wheel of the Python package, and run the README's examples with it alone",
        run: package::wheel,
    },
    Command {
        name: "parity",
        arguments: "",
        about: "compare the Python package with scikit-learn on twelve data sets and rewrite docs/parity.md",
        run: package::parity,
    },
    Command {
        name: "fuzz",
        arguments: "[SECONDS]",
        about: "run each fuzz target for so many seconds, 60 unless told",
        run: fuzz::run,
    },
];

impl Command {
    pub(crate) fn named(name: &str) -> Option<&'static Command> {
        COMMANDS.iter().find(|command| command.name == name)
    }
}

/// The table that `cargo xtask` prints.
pub(crate) fn list() -> String {
    let mut text = String::from("Tasks:\n");
    for Command { name, arguments, about, .. } in &COMMANDS {
        let usage = format!("{name} {arguments}");
        text += &format!("  cargo xtask {usage:<16} {about}\n");
    }
    text
}

/// Refuses arguments to a task that takes none.
pub(crate) fn no_arguments(arguments: &[String]) -> Outcome {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => Err(format!("unexpected argument `{argument}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_and_listed() {
        for command in &COMMANDS {
            assert!(Command::named(command.name).is_some_and(|found| found.about == command.about));
            assert!(list().contains(&format!("cargo xtask {}", command.name)));
        }
        assert!(Command::named("nonsense").is_none());
    }

    #[test]
    fn arguments_are_refused_where_none_are_taken() {
        assert_eq!(no_arguments(&[]), Ok(()));
        assert!(no_arguments(&["--fast".into()]).is_err_and(|e| e.contains("`--fast`")));
    }
}
