//! `plan`

use std::time::{Duration, Instant};

use rosenblatt::{Forecast, Plan, Planner, Probe, Task};
use serde_json::json;

use super::data::Training;
use super::{emit, emit_json};
use crate::args::{Cli, PlanArgs};
use crate::failure::Failure;
use crate::format::{bytes, count, plural, time};
use crate::progress::Bar;

pub(crate) fn run(cli: &Cli, args: &PlanArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    let start = Instant::now();
    let training = Training::read(&args.data, &args.read, &args.learner, args.holdout.as_deref(), cli.seed)?;
    let read = start.elapsed();
    let task = Task {
        data: &training.data,
        holdout: training.holdout.as_ref(),
        scaling: training.scaling.as_ref(),
        map: training.map.as_ref(),
        start: None,
    };
    let planner = Planner { budget: args.probe.map(|budget| budget.as_secs_f64()), seed: cli.seed };
    let mut bar = Bar::new(cli.quiet || cli.json);
    let plan = planner.plan(learner.as_ref(), &task, &mut bar).map_err(|error| training.blame(error))?;
    drop(bar);
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json(&plan, learner.name(), read)),
        (false, true) => Ok(()),
        (false, false) => {
            let parts = learner.parameters().get("kernel").is_none_or(|kernel| kernel != "precomputed");
            emit(&text(&plan, learner.name(), &training.origin, read, parts))
        }
    }
}

fn json(plan: &Plan, algorithm: &str, read: Duration) -> serde_json::Value {
    json!({
        "algorithm": algorithm,
        "rows": plan.rows,
        "features": plan.features,
        "classes": plan.classes,
        "entries": plan.entries,
        "solver": plan.demand.solver,
        "bytes": { "data": plan.data_bytes, "solver": plan.demand.bytes },
        "probes": plan.probes,
        "seconds": { "read": read.as_secs_f64(), "train": plan.seconds },
    })
}

/// `parts` is whether a part of the rows can be learned from by itself.
fn text(plan: &Plan, algorithm: &str, origin: &str, read: Duration, parts: bool) -> String {
    let (rows, features) = (plural(plan.rows as u64, "row", "rows"), count(plan.features as u64));
    let classes = plural(plan.classes as u64, "class", "classes");
    let entries = count(plan.entries as u64);
    let (data, beside) = (plan.data_bytes, plan.demand.bytes);
    let all = data.saturating_add(beside);
    let lines = [
        format!("{algorithm} on {origin} (a plan: nothing was learned)"),
        format!("  data      {rows}, {features} features, {entries} entries, {classes}"),
        format!("  solver    {}", plan.demand.solver),
        format!(
            "  memory    {} at most: {} of data, {} beside them",
            bytes(all as usize),
            bytes(data as usize),
            bytes(beside as usize)
        ),
        format!("  time      {}", forecast(plan.seconds, read)),
        format!("  measured  {}", probes(&plan.probes, parts)),
    ];
    lines.join("\n") + "\n"
}

fn forecast(seconds: Option<Forecast>, read: Duration) -> String {
    let said = |seconds: f64| time(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    let read = time(read);
    match seconds {
        Some(Forecast { expected, least, most }) => format!(
            "about {} to train, likely from {} to {}; reading took {read}",
            said(expected),
            said(least),
            said(most)
        ),
        None => format!("not known; reading took {read}"),
    }
}

fn probes(probes: &[Probe], parts: bool) -> String {
    if !parts {
        return "nothing: of precomputed kernel values no part can be learned from by itself".to_owned();
    }
    if probes.is_empty() {
        return "nothing: no fit on a part of the rows came to its end; give --probe more time".to_owned();
    }
    let said = |probe: &Probe| {
        format!("{} in {}", count(probe.rows as u64), time(Duration::from_secs_f64(probe.seconds)))
    };
    format!("rows {}", probes.iter().map(said).collect::<Vec<_>>().join(", "))
}
