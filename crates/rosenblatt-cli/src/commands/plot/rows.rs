//! `plot DATA`: rows, regions, boundary and margins; or the steps of a run.

use rosenblatt::{Dataset, Features, Fit, Task};
use rosenblatt_io::load;
use rosenblatt_plot::{Picture, Regions, Steps, View};
use serde_json::json;

use super::args::StepsArg;
use super::{PlotArgs, page};
use crate::args::Cli;
use crate::commands::data::{Training, is_precomputed, note_unknown, read_for};
use crate::failure::Failure;
use crate::progress::Bar;

pub(super) fn run(cli: &Cli, args: &PlotArgs) -> Result<(), Failure> {
    let Some(data) = &args.data else {
        return Err(Failure::bad("there is nothing to plot").hint(
            "`rosenblatt plot iris-separable -a linear-svm -o iris.svg`, or losses, curve or weights in place of a data set",
        ));
    };
    page::check(&args.page)?;
    let picture = match &args.model {
        Some(model) => of_model(cli, args, data, model)?,
        None => of_training(cli, args, data)?,
    };
    page::write(cli, &args.page, &picture)
}

fn of_model(cli: &Cli, args: &PlotArgs, data: &str, model: &str) -> Result<Picture, Failure> {
    let asked = &args.learner;
    if !asked.parameters.0.is_empty() || asked.scale.kind().is_some() || asked.map.is_some() {
        return Err(Failure::bad("--model is a model that is there: it has its parameters, scaling and map")
            .hint("leave out the flags of the algorithm, or leave out --model to train another"));
    }
    let fit = load(model)?;
    if is_precomputed(&fit.model.body) {
        return Err(no_features());
    }
    let table = read_for(&fit, data, &args.read.data)?;
    if !(cli.quiet || cli.json) {
        note_unknown(table.unknown);
    }
    let origin = table.origin.clone();
    let rows = table.into_dataset_with(&fit.model.classes)?;
    Ok(regions(args, &fit, &rows, &origin)?.draw()?)
}

fn of_training(cli: &Cli, args: &PlotArgs, data: &str) -> Result<Picture, Failure> {
    if args.learner.is_precomputed() {
        return Err(no_features());
    }
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    let (raw, training) = Training::read_twice(data, &args.read, &args.learner, None, cli.seed)?;
    let task =
        Task { scaling: training.scaling.as_ref(), map: training.map.as_ref(), ..Task::new(&training.data) };
    let Some(how) = args.steps else {
        let fit = learner.learn(&task, &mut Bar::new(cli.quiet || cli.json));
        let fit = fit.map_err(|error| training.blame(error))?;
        return Ok(regions(args, &fit, &raw, &training.origin)?.draw()?);
    };
    // As `trace` does: in the order of the rows, unless told otherwise.
    let learner = args.learner.learner(&[("order", json!("cyclic")), ("seed", json!(cli.seed))])?;
    let trace = learner.trace(&training.data).map_err(|error| training.blame(error))?;
    let fit = learner.learn(&task, &mut Bar::new(cli.quiet || cli.json));
    let fit = fit.map_err(|error| training.blame(error))?;
    let steps = Steps {
        regions: regions(args, &fit, &raw, &training.origin)?,
        trace: &trace,
        prepared: &training.data,
        most: args.frames.into(),
    };
    Ok(match how {
        StepsArg::Animated => steps.animation()?,
        StepsArg::Strip => steps.strip()?,
    })
}

fn no_features() -> Failure {
    Failure::bad("rows of a precomputed kernel have no features that could be drawn")
}

fn regions<'a>(
    args: &PlotArgs,
    fit: &'a Fit,
    data: &'a Dataset<'a>,
    origin: &'a str,
) -> Result<Regions<'a>, Failure> {
    let origin = origin.strip_suffix(" (embedded)").unwrap_or(origin);
    let view = match (&args.x, &args.y) {
        (Some(x), Some(y)) => View::Features(feature(x, data.features())?, feature(y, data.features())?),
        _ if args.pca => View::Principal,
        _ if args.across => View::Across,
        _ => View::Usual,
    };
    let size = args.page.size();
    Ok(Regions { view, size, ..Regions::new(fit, data, origin) })
}

/// A feature by its name, or by its number from 1.
fn feature(asked: &str, features: &Features) -> Result<usize, Failure> {
    let named = features.names.as_ref().and_then(|names| names.iter().position(|name| name == asked));
    let numbered =
        || asked.parse::<usize>().ok().filter(|number| (1..=features.count).contains(number)).map(|n| n - 1);
    named.or_else(numbered).ok_or_else(|| {
        let failure = Failure::bad(format!("there is no feature {asked:?}"));
        match &features.names {
            Some(names) if names.len() <= 40 => failure.hint(format!("choose two of {}", names.join(", "))),
            _ => failure.hint(format!("choose by name, or by number from 1 to {}", features.count)),
        }
    })
}
