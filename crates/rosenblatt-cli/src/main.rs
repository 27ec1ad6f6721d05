//! The `rosenblatt` command line.

mod args;
mod commands;
mod failure;
mod format;
mod memory;
mod parameters;
mod progress;
mod remedy;
mod search_args;
mod style;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => failure.report(cli.json),
    }
}

/// Who asks for JSON gets it also where the rest of the line makes no sense.
fn misused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || !std::env::args().any(|arg| arg == "--json") {
        error.exit();
    }
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    Failure::bad(message).hint("`rosenblatt --help` lists all commands and flags").report(true)
}

/// False where the request was a question and the answer is no.
fn run(cli: &Cli) -> Result<bool, Failure> {
    // This thread works, too: another would have to be woken for every piece of work, and this one after it.
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.threads.map_or(0, Into::into))
        .use_current_thread()
        .build_global()
        .map_err(|error| Failure::bad(error.to_string()))?;
    match &cli.command {
        None => commands::welcome::run(cli),
        Some(Command::Train(args)) => commands::train::run(cli, args),
        Some(Command::Predict(args)) => commands::predict::run(cli, args),
        Some(Command::Eval(args)) => commands::eval::run(cli, args),
        Some(Command::Inspect(args)) => commands::inspect::run(cli, args),
        Some(Command::Explain(args)) => commands::explain::run(cli, args),
        Some(Command::Trace(args)) => commands::trace::run(cli, args),
        Some(Command::Separable(args)) => return commands::separable::run(cli, args),
        Some(Command::Verify(args)) => return commands::verify::run(cli, args),
        Some(Command::Plan(args)) => commands::plan::run(cli, args),
        Some(Command::Plot(args)) => commands::plot::run(cli, args),
        Some(Command::Tune(args)) => commands::tune::run(cli, args),
        Some(Command::Convert(args)) => commands::convert::run(cli, args),
        Some(Command::Compare(args)) => commands::compare::run(cli, args),
        Some(Command::Losses) => commands::list::losses(cli),
        Some(Command::Algorithms) => commands::list::algorithms(cli),
        Some(Command::Kernels) => commands::list::kernels(cli),
        Some(Command::Datasets) => commands::list::datasets(cli),
    }
    .map(|()| true)
}
