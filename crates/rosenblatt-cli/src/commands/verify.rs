//! `verify`

use std::time::{Duration, Instant};

use rosenblatt::{Claim, Dataset, Fit, Verdict, Verification, Verifier};
use rosenblatt_io::load;
use serde_json::json;

use super::data::{hold_out, is_precomputed, number_among, read_for, read_weights};
use super::{emit, emit_json};
use crate::args::{Cli, VerifyArgs};
use crate::failure::Failure;
use crate::format::{number, plural, time};
use crate::progress::Bar;
use crate::style::{DIM, ERROR, GOOD, HINT, TITLE, WARN};
use crate::table::Table;

/// True if no claim is broken.
pub(crate) fn run(cli: &Cli, args: &VerifyArgs) -> Result<bool, Failure> {
    let mut fit = load(&args.model)?;
    let table = read_for(&fit, &args.data, &args.read)?;
    let origin = table.origin.clone();
    let mut data = table.into_dataset_with(&fit.model.classes)?;
    if let Some(path) = &args.weights {
        data = data
            .with_weights(read_weights(path)?)
            .map_err(|error| Failure::bad(format!("{}: {error}", path.display())))?;
    }
    let (data, holdout) = match &args.holdout {
        Some(choice) => {
            let precomputed = is_precomputed(&fit.model.body);
            let kinds = (precomputed, fit.model.features.filled.is_some());
            let (data, holdout, kept) = hold_out(data, choice, &args.read, kinds, seed(&fit, cli))?;
            kept.iter().for_each(|kept| number_among(kept, &mut fit));
            (data, holdout)
        }
        None => (data, None),
    };
    let (data, holdout) = match &fit.model.features.filled {
        Some(filled) => (data.imputed_by(filled)?, holdout.map(|rows| rows.imputed_by(filled)).transpose()?),
        None => (data, holdout),
    };
    let start = Instant::now();
    let verification = verify(cli, args, &fit, &data, holdout.as_ref())?;
    let seconds = start.elapsed();
    let hint = hint(&verification, args, &fit, data.n_rows());
    match (cli.json, cli.quiet) {
        (true, _) => {
            let mut shown = json!(verification);
            shown["holds"] = verification.holds().into();
            shown["seconds"] = seconds.as_secs_f64().into();
            if let Some(hint) = hint {
                shown["hint"] = hint.into();
            }
            emit_json(&shown)?;
        }
        (false, true) => {}
        (false, false) => {
            let hint = hint.map(|hint| format!(" {HINT}hint:{HINT:#} {hint}\n")).unwrap_or_default();
            emit(&(text(&verification, args, &fit, (&origin, data.n_rows()), seconds) + &hint))?;
        }
    }
    Ok(verification.holds())
}

/// What may be missing for the rows to be those it was trained on.
fn hint(verification: &Verification, args: &VerifyArgs, fit: &Fit, rows: usize) -> Option<String> {
    let report = &fit.report;
    let other = |claim: &Claim| claim.name == "data" && claim.verdict == Verdict::Broken;
    let other = verification.claims.iter().any(other);
    let said = match () {
        () if report.holdout_accuracy.is_some() && args.holdout.is_none() => {
            "it was trained with rows held out: give --holdout as it was given to `train`"
        }
        () if other && args.weights.is_none() && report.rows == rows as u64 => {
            "values, classes or sample weights are others: give --weights if it was trained with them"
        }
        () if other && args.holdout.is_none() && report.rows < rows as u64 => {
            "it was trained on fewer rows: give --holdout if some of these were held out"
        }
        () => return None,
    };
    Some(said.to_owned())
}

/// Rows were held out with the seed of the run.
fn seed(fit: &Fit, cli: &Cli) -> u64 {
    fit.report.parameters.get("seed").and_then(serde_json::Value::as_u64).unwrap_or(cli.seed)
}

fn verify(
    cli: &Cli,
    args: &VerifyArgs,
    fit: &Fit,
    data: &Dataset<'_>,
    holdout: Option<&Dataset<'_>>,
) -> Result<Verification, Failure> {
    if let Some(c) = args.c.filter(|c| !(*c > 0.0 && c.is_finite())) {
        return Err(Failure::bad(format!("--c: {c} is not more than 0")));
    }
    let verifier = Verifier { c: args.c, replay: !args.no_replay, time_limit: args.time_limit };
    let mut bar = Bar::new(cli.quiet || cli.json);
    Ok(verifier.verify_with(fit, data, holdout, &mut bar)?)
}

fn text(
    verification: &Verification,
    args: &VerifyArgs,
    fit: &Fit,
    (origin, rows): (&str, usize),
    seconds: Duration,
) -> String {
    let rows = plural(rows as u64, "row", "rows");
    let mut text = format!("{TITLE}{}{TITLE:#} on {origin}: {rows}\n\n", args.model);
    if !verification.claims.is_empty() {
        let mut table = Table::new(&["claim", ">the model says", ">found", ""]);
        for Claim { name, claimed, found, verdict } in &verification.claims {
            let style = match verdict {
                Verdict::Held => GOOD,
                Verdict::Broken => ERROR,
                Verdict::Open => WARN,
            };
            let verdict = format!("{style}{}{style:#}", verdict.name());
            table.row([name.clone(), claimed.clone(), found.clone(), verdict]);
        }
        text += &format!("{table}\n");
    }
    text += &format!("  {DIM}objective{DIM:#}  {}\n", fit.report.objective);
    if let Some(c) = verification.assumed_c {
        let whence = if args.c.is_some() { "as given" } else { "taken for it, say --c if it was another" };
        text += &format!("  {DIM}C{DIM:#}          {}, {whence}: the model does not say it\n", number(c, 6));
    }
    if let (Some(primal), Some(dual), Some(gap)) = (verification.primal, verification.dual, verification.gap)
    {
        text += &format!(
            "  {DIM}optimum{DIM:#}    between {} and {}, where the model is: it is at most {} above\n",
            number(dual, 8),
            number(primal, 8),
            format_args!("{}%", number(100.0 * gap, 3)),
        );
    }
    if let Some(why) = &verification.unmeasured {
        text += &format!("  {DIM}optimum{DIM:#}    not measured: {why}\n");
    }
    text += &format!("  {DIM}time{DIM:#}       {}\n\n", time(seconds));
    text + &verdict(verification)
}

fn verdict(verification: &Verification) -> String {
    let count =
        |verdict: Verdict| verification.claims.iter().filter(|claim| claim.verdict == verdict).count();
    match (count(Verdict::Broken), count(Verdict::Open), verification.claims.len()) {
        (_, _, 0) => "The model claims nothing of its own.\n".to_owned(),
        (0, 0, all) => format!("{GOOD}All {all} claims hold.{GOOD:#}\n"),
        (0, open, all) => format!(
            "{GOOD}{} of {all} claims hold{GOOD:#}, {WARN}{open} could not be decided.{WARN:#}\n",
            all - open
        ),
        (broken, _, all) => format!("{ERROR}{broken} of {all} claims are broken.{ERROR:#}\n"),
    }
}
