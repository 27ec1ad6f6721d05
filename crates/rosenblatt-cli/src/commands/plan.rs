//! `plan`

use std::time::{Duration, Instant};

use rosenblatt::{Forecast, Plan, Planner, Probe, Task};
use serde_json::json;

use super::data::Training;
use super::obstacle::Obstacle;
use super::{emit, emit_json};
use crate::args::{Cli, PlanArgs};
use crate::failure::Failure;
use crate::format::{bytes, count, plural, time};
use crate::memory;
use crate::progress::Bar;

pub(crate) fn run(cli: &Cli, args: &PlanArgs) -> Result<(), Failure> {
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    let (start, files) = (Instant::now(), memory::of_files());
    let training = Training::read(&args.data, &args.read, &args.learner, args.holdout.as_deref(), cli.seed)?;
    let read = start.elapsed();
    // What reading took is known, for it has just been done.
    let reading = memory::peak(files, &args.data);
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
    let memory = Memory::of(&plan, reading, Obstacle::bytes(learner.as_ref(), &training));
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json(&plan, &memory, learner.name(), read)),
        (false, true) => Ok(()),
        (false, false) => {
            let parts = learner.parameters().get("kernel").is_none_or(|kernel| kernel != "precomputed");
            emit(&text(&plan, &memory, learner.name(), &training.origin, read, parts))
        }
    }
}

/// What `train` needs at most, in bytes.
struct Memory {
    /// The rows, from the beginning to the end.
    data: u64,
    /// Beside them, while they are read, while they are learned from, or while it is proved that a perceptron cannot converge.
    beside: u64,
    program: u64,
}

impl Memory {
    fn of(plan: &Plan, reading: Option<u64>, proof: u64) -> Self {
        let (data, program) = (plan.data_bytes, memory::PROGRAM);
        let reading = reading.unwrap_or(0).saturating_sub(data.saturating_add(program));
        Memory { data, beside: plan.demand.bytes.max(proof).max(reading), program }
    }

    fn most(&self) -> u64 {
        self.data.saturating_add(self.beside).saturating_add(self.program)
    }
}

fn json(plan: &Plan, memory: &Memory, algorithm: &str, read: Duration) -> serde_json::Value {
    json!({
        "algorithm": algorithm,
        "rows": plan.rows,
        "features": plan.features,
        "classes": plan.classes,
        "entries": plan.entries,
        "solver": plan.demand.solver,
        "bytes": { "data": memory.data, "solver": memory.beside, "program": memory.program, "most": memory.most() },
        "probes": plan.probes,
        "seconds": { "read": read.as_secs_f64(), "train": plan.seconds },
    })
}

/// `parts` is whether a part of the rows can be learned from by itself.
fn text(plan: &Plan, memory: &Memory, algorithm: &str, origin: &str, read: Duration, parts: bool) -> String {
    let (rows, features) = (plural(plan.rows as u64, "row", "rows"), count(plan.features as u64));
    let classes = plural(plan.classes as u64, "class", "classes");
    let entries = count(plan.entries as u64);
    let [all, data, beside, program] =
        [memory.most(), memory.data, memory.beside, memory.program].map(|size| bytes(size as usize));
    let lines = [
        format!("{algorithm} on {origin} (a plan: nothing was learned)"),
        format!("  data      {rows}, {features} features, {entries} entries, {classes}"),
        format!("  solver    {}", plan.demand.solver),
        format!(
            "  memory    {all} at most: {data} of data, {beside} beside them, {program} of the program itself"
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
