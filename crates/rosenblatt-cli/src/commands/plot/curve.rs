//! `plot curve`

use rosenblatt::{CurveRows, Dataset, LearningCurve, PassPoint, SizePoint, stratified_split};
use rosenblatt_io::{ReadOptions, read};
use rosenblatt_plot::{Curve, Curves, Panel};
use serde_json::json;

use super::args::CurveArgs;
use super::page;
use crate::args::Cli;
use crate::commands::{data, emit, emit_json};
use crate::failure::Failure;
use crate::format::{count, percent};
use crate::progress::Bar;
use crate::style::{DIM, TITLE};
use crate::table::Table;

/// Rows for each purpose.
struct Parts {
    origin: String,
    train: Dataset<'static>,
    holdout: Option<Dataset<'static>>,
    test: Option<Dataset<'static>>,
}

/// What was measured.
struct Measured {
    by_pass: Vec<PassPoint>,
    by_rows: Vec<SizePoint>,
}

pub(super) fn run(cli: &Cli, args: &CurveArgs) -> Result<(), Failure> {
    if args.page.output.is_some() {
        page::check(&args.page)?;
    }
    if args.learner.is_precomputed() {
        return Err(Failure::bad(
            "parts of the rows of a precomputed kernel would leave their columns behind",
        ));
    }
    let learner = args.learner.learner(&[("seed", json!(cli.seed))])?;
    let parts = Parts::read(args, cli.seed)?;
    let curve = LearningCurve {
        scale: args.learner.scale.kind(),
        map: args.learner.map,
        seed: cli.seed,
        ..LearningCurve::new(learner.as_ref())
    };
    let rows = CurveRows { train: &parts.train, holdout: parts.holdout.as_ref(), test: parts.test.as_ref() };
    let mut bar = Bar::new(cli.quiet || cli.json);
    let measured = Measured {
        by_pass: curve.by_pass(&rows, &mut bar)?,
        by_rows: curve.by_rows(&rows, &shares(args.sizes.into()), &mut bar)?,
    };
    drop(bar);
    let title = format!("{} on {}", args.learner.algorithm, parts.origin);
    if args.page.output.is_some() {
        page::save(&args.page, &measured.picture(&title, &parts.caption(), &args.page)?)?;
    }
    match (cli.json, cli.quiet) {
        (true, _) => emit_json(&json!({
            "algorithm": args.learner.algorithm,
            "rows": parts.sizes(),
            "by_pass": measured.by_pass,
            "best_pass": measured.best_pass(),
            "by_rows": measured.by_rows,
            "picture": args.page.output,
        })),
        (false, true) => Ok(()),
        (false, false) => {
            let wrote = args.page.output.as_ref().map(|path| format!("\nWrote {}\n", path.display()));
            let text =
                format!("{TITLE}{title}{TITLE:#}: {DIM}{}{DIM:#}\n\n{}", parts.caption(), measured.text());
            emit(&(text + &wrote.unwrap_or_default()))
        }
    }
}

/// From a twentieth to all, each larger by the same factor.
fn shares(n: usize) -> Vec<f64> {
    const LEAST: f64 = 0.05;
    let power = |k: usize| (n - k) as f64 / (n.max(2) - 1) as f64;
    (1..=n).map(|k| LEAST.powf(power(k))).collect()
}

impl Parts {
    /// Test rows are taken first: they must not depend on what is held out.
    fn read(args: &CurveArgs, seed: u64) -> Result<Self, Failure> {
        let table = read(&args.data, &args.read.options())?;
        let origin = table.origin.strip_suffix(" (embedded)").unwrap_or(&table.origin).to_owned();
        let mut all = table.into_dataset()?;
        if let Some(path) = &args.read.weights {
            all = all.with_weights(data::read_weights(path)?)?;
        }
        let (all, test) = part(all, "--test", &args.test, args, seed.wrapping_add(1))?;
        let (train, holdout) = part(all, "--holdout", &args.holdout, args, seed)?;
        if holdout.is_none() && test.is_none() {
            return Err(Failure::bad("without held-out and test rows there is nothing to compare with")
                .hint("give --holdout, --test or both"));
        }
        Ok(Parts { origin, train, holdout, test })
    }

    fn sizes(&self) -> serde_json::Value {
        let rows = |data: &Option<Dataset<'_>>| data.as_ref().map(Dataset::n_rows);
        json!({ "train": self.train.n_rows(), "holdout": rows(&self.holdout), "test": rows(&self.test) })
    }

    fn caption(&self) -> String {
        let mut parts = vec![format!("{} training rows", count(self.train.n_rows() as u64))];
        let named = [("held out, which decide on the pass", &self.holdout), ("to test", &self.test)];
        for (name, data) in named {
            parts.extend(data.as_ref().map(|data| format!("{} {name}", count(data.n_rows() as u64))));
        }
        parts.join(", ")
    }
}

/// What is left, and what was taken: a fraction of the rows, or those of a file.
fn part(
    all: Dataset<'static>,
    flag: &str,
    choice: &str,
    args: &CurveArgs,
    seed: u64,
) -> Result<(Dataset<'static>, Option<Dataset<'static>>), Failure> {
    let Ok(fraction) = choice.parse::<f64>() else {
        let options: ReadOptions = args.read.data.options(Some(all.features().clone()));
        let taken = read(choice, &options)?.into_dataset_with(all.classes())?;
        return Ok((all, Some(taken)));
    };
    if fraction == 0.0 {
        return Ok((all, None));
    }
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Failure::bad(format!("{flag}: {fraction} is not a fraction from 0 to 1"))
            .hint("0.2 takes a fifth of the rows; a file's name takes its rows"));
    }
    let split = stratified_split(all.y(), fraction, seed);
    if split.holdout.is_empty() {
        return Err(Failure::bad(format!("{flag}: there are too few rows to take any")));
    }
    Ok((all.select(&split.train), Some(all.select(&split.holdout))))
}

impl Measured {
    /// The first with the best accuracy on rows held out: the one that `train` keeps.
    fn best_pass(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for point in &self.by_pass {
            if let Some(accuracy) = point.holdout_accuracy
                && best.is_none_or(|(_, most)| accuracy > most)
            {
                best = Some((point.pass, accuracy));
            }
        }
        best.map(|(pass, _)| pass)
    }

    fn text(&self) -> String {
        let share = |accuracy: Option<f64>| accuracy.map(percent).unwrap_or_default();
        let mut text = String::new();
        if !self.by_pass.is_empty() {
            let mut table = Table::new(&[">pass", ">train", ">held out", ">test", ""]);
            let shown = passes_shown(self.by_pass.len());
            let best = self.best_pass();
            for (at, point) in self.by_pass.iter().enumerate() {
                let kept = best == Some(point.pass);
                if shown.contains(&at) || kept {
                    let cells =
                        [point.train_accuracy, point.holdout_accuracy, point.test_accuracy].map(share);
                    let kept = if kept { "← kept" } else { "" };
                    table.row([count(point.pass as u64)].into_iter().chain(cells).chain([kept.to_owned()]));
                }
            }
            text += &format!("{table}\n");
        }
        let mut table = Table::new(&[">rows", ">train", ">held out", ">test"]);
        for point in &self.by_rows {
            let cells = [Some(point.train_accuracy), point.holdout_accuracy, point.test_accuracy].map(share);
            table.row([count(point.rows as u64)].into_iter().chain(cells));
        }
        text + &table.to_string()
    }

    fn picture(
        &self,
        title: &str,
        caption: &str,
        page: &super::PageArgs,
    ) -> Result<rosenblatt_plot::Picture, Failure> {
        let mut panels = Vec::new();
        if self.by_pass.len() > 1 {
            let of = |get: fn(&PassPoint) -> Option<f64>| -> Vec<(f64, f64)> {
                self.by_pass.iter().filter_map(|point| Some((point.pass as f64, get(point)?))).collect()
            };
            let curves = [
                ("train", of(|point| point.train_accuracy)),
                ("held out", of(|point| point.holdout_accuracy)),
                ("test", of(|point| point.test_accuracy)),
            ];
            let best = self.best_pass().map(|pass| (pass as f64, "kept".to_owned()));
            panels.push(panel("pass by pass", "pass", curves, best));
        }
        let of = |get: fn(&SizePoint) -> Option<f64>| -> Vec<(f64, f64)> {
            self.by_rows.iter().filter_map(|point| Some((point.rows as f64, get(point)?))).collect()
        };
        let curves = [
            ("train", of(|point| Some(point.train_accuracy))),
            ("held out", of(|point| point.holdout_accuracy)),
            ("test", of(|point| point.test_accuracy)),
        ];
        panels.push(panel("by number of rows", "training rows", curves, None));
        let (title, caption) = (format!("learning curves of {title}"), caption.to_owned());
        let size = page.size.unwrap_or(rosenblatt_plot::Size { width: 720.0, height: 400.0 });
        Ok(Curves { title, caption, panels, size }.draw()?)
    }
}

fn panel(
    title: &str,
    places: &str,
    curves: [(&str, Vec<(f64, f64)>); 3],
    best: Option<(f64, String)>,
) -> Panel {
    let curve = |(name, points): (&str, Vec<(f64, f64)>)| Curve { name: name.to_owned(), points };
    let curves = curves.into_iter().filter(|(_, points)| !points.is_empty()).map(curve).collect();
    Panel { title: title.to_owned(), places: places.to_owned(), curves, best }
}

/// Of many passes the first ones, then ever fewer, and the last.
fn passes_shown(n: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..n.min(10)).collect();
    let mut next = 15;
    while next < n {
        shown.push(next - 1);
        next = next * 3 / 2;
    }
    shown.extend(n.checked_sub(1));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_grow_to_all() {
        let all = shares(8);
        assert_eq!(all.len(), 8);
        assert!((all[0] - 0.05).abs() < 1e-12 && all[7] == 1.0, "{all:?}");
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(shares(1), [1.0]);
    }
}
