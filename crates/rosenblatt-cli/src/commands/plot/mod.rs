//! `plot`

mod args;
pub(super) mod curve;
mod page;
mod rows;
mod tune;
pub(super) mod weights;

pub(crate) use args::{PageArgs, PlotArgs, PlotCommand};

use rosenblatt_plot::losses;

use crate::args::Cli;
use crate::failure::Failure;

pub(crate) fn run(cli: &Cli, args: &PlotArgs) -> Result<(), Failure> {
    match &args.command {
        None => rows::run(cli, args),
        Some(PlotCommand::Losses(page)) => {
            page::check(page)?;
            page::write(cli, page, &losses(page.size()))
        }
        Some(PlotCommand::Curve(args)) => curve::run(cli, args),
        Some(PlotCommand::Weights(args)) => weights::run(cli, args),
        Some(PlotCommand::Tune(args)) => tune::run(cli, args),
    }
}
