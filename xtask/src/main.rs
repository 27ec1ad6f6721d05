//! One command for everything that is more than cargo. `cargo xtask` lists what there is.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to the person who started it"
)]

mod accuracy;
mod bench;
mod command;
mod fuzz;
mod lint;
mod package;
mod pictures;
mod project;
mod python;
mod run;
mod test;

use std::process::ExitCode;

use command::Command;
use project::Project;

/// Exit code of a task that could not be understood, as in the `rosenblatt` command line.
const BAD_USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", command::list());
        return ExitCode::SUCCESS;
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", command::list());
        return ExitCode::SUCCESS;
    }
    let Some(command) = Command::named(name) else {
        eprint!("error: there is no task `{name}`\n\n{}", command::list());
        return ExitCode::from(BAD_USAGE);
    };
    match (command.run)(&Project::here(), rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
