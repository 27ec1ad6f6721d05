//! `eval`

use std::time::Instant;

use rosenblatt::{Decision, Evaluation, ProbabilityScores, Reliability, auc};
use rosenblatt_io::load;
use serde_json::json;

use super::data::{json_unknown, note_unknown, read_for};
use super::{emit, emit_json};
use crate::args::{Cli, EvalArgs};
use crate::failure::Failure;
use crate::format::{count, number, percent, plural};
use crate::style::{DIM, TITLE};
use crate::table::Table;

/// Of a reliability diagram.
const BINS: usize = 10;

pub(crate) fn run(cli: &Cli, args: &EvalArgs) -> Result<(), Failure> {
    let fit = load(&args.model)?;
    let model = &fit.model;
    let start = Instant::now();
    let table = read_for(&fit, &args.data, &args.read)?;
    let (origin, unknown) = (table.origin.clone(), json_unknown(table.unknown));
    if !(cli.quiet || cli.json) {
        note_unknown(table.unknown);
    }
    let data = table.into_dataset_with(&model.classes)?;
    let read = start.elapsed();
    let start = Instant::now();
    let scores = model.scores(data.x())?;
    let predicted: Vec<u32> =
        scores.chunks(model.body.n_scores()).map(|scores| model.decide(scores) as u32).collect();
    let [read, predict] = [read, start.elapsed()].map(|time| time.as_secs_f64());
    let mut evaluation = Evaluation::new(&model.classes, data.y(), &predicted);
    if let (Decision::Sign(_), 2) = (model.decision, model.classes.len()) {
        evaluation.auc = auc(data.y(), &scores);
    }
    let probabilities: Option<Vec<Vec<f64>>> =
        scores.chunks(model.body.n_scores()).map(|scores| model.probabilities(scores)).collect();
    if let Some(rows) = probabilities {
        evaluation.probabilities = ProbabilityScores::new(data.y(), &rows);
        evaluation.reliability = Reliability::new(data.y(), &rows, BINS);
    }
    match cli.json {
        true => {
            let mut shown = json!(evaluation);
            shown["unknown_features"] = unknown;
            shown["seconds"] = json!({ "read": read, "predict": predict });
            emit_json(&shown)
        }
        false => emit(&text(&evaluation, &origin, &args.model)),
    }
}

fn text(evaluation: &Evaluation, origin: &str, model: &str) -> String {
    let rows = plural(evaluation.rows, "row", "rows");
    let mut text = format!("{TITLE}{model}{TITLE:#} on {origin}: {rows}\n\n");
    text += &format!("  {DIM}accuracy{DIM:#}  {}\n", percent(evaluation.accuracy));
    if let Some(auc) = evaluation.auc {
        text += &format!("  {DIM}AUC{DIM:#}       {}\n", number(auc, 5));
    }
    if let Some(ProbabilityScores { log_loss, brier }) = evaluation.probabilities {
        text += &format!("  {DIM}log loss{DIM:#}  {}\n", number(log_loss, 4));
        text += &format!("  {DIM}Brier{DIM:#}     {}\n", number(brier, 4));
    }
    const LARGEST_SHOWN: usize = 20;
    if evaluation.classes.len() <= LARGEST_SHOWN {
        text += &format!("\n{}", confusion(evaluation));
    }
    text += &format!("\n{}", per_class(evaluation));
    match &evaluation.reliability {
        Some(diagram) => text + &format!("\n{}", reliability(diagram)),
        None => text,
    }
}

/// How often what was said came true: `·` is where the bar would end if it had come true as often as said.
fn reliability(diagram: &Reliability) -> String {
    const WIDTH: f64 = 30.0;
    let of = if diagram.of_second {
        "probability of the second class"
    } else {
        "probability of the predicted class"
    };
    let mut table = Table::new(&[of, ">rows", ">said", ">came true", ""]);
    for bin in diagram.bins.iter().filter(|bin| bin.rows > 0) {
        let [said, share] = [bin.probability, bin.share].map(|p| (p * WIDTH).round() as usize);
        let cell = |at: usize| match at {
            _ if at < share => '█',
            _ if at == said => '·',
            _ => ' ',
        };
        let bar: String = (0..=said.max(share)).map(cell).collect();
        let range = format!("{:.1} to {:.1}", bin.low, bin.high);
        table.row([range, count(bin.rows), percent(bin.probability), percent(bin.share), bar]);
    }
    format!("{table}  {DIM}off by{DIM:#}  {} on average\n", percent(diagram.error))
}

fn confusion(evaluation: &Evaluation) -> Table {
    let names: Vec<String> = evaluation.classes.iter().map(|class| format!(">{class}")).collect();
    let headings: Vec<&str> =
        ["true \\ predicted"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new(&headings);
    for (class, row) in evaluation.classes.iter().zip(&evaluation.confusion) {
        table.row([class.to_string()].into_iter().chain(row.iter().map(|&n| count(n))));
    }
    table
}

fn per_class(evaluation: &Evaluation) -> Table {
    let mut table = Table::new(&["class", ">precision", ">recall", ">F1", ">rows"]);
    for rates in &evaluation.per_class {
        table.row([
            rates.class.to_string(),
            percent(rates.precision),
            percent(rates.recall),
            percent(rates.f1),
            count(rates.rows),
        ]);
    }
    table
}
