//! `train --report`: one page that needs nothing else, with what was learned, its pictures and its proof.

use std::path::Path;

use rosenblatt::{Body, Dataset, Decision, Evaluation, Fit, ProbabilityScores, Report, auc};
use rosenblatt_io::write_atomically;
use rosenblatt_plot::{Curve, Curves, Panel, Picture, Regions, Size, Theme, View};

use super::data::{describe_classes, is_precomputed};
use super::outcome::Outcome;
use super::plot::weights;
use crate::failure::Failure;
use crate::format::{count, number, percent, plural};
use crate::progress::uninterrupted;

/// Writes the page. `raw` are the training rows before scaling and map, `prepared` those after.
pub(super) fn write(
    path: &Path,
    outcome: &Outcome<'_>,
    raw: &Dataset<'_>,
    prepared: &Dataset<'_>,
) -> Result<(), Failure> {
    let page = page(outcome, raw, prepared)?;
    uninterrupted(|| write_atomically(path, |out| out.write_all(page.as_bytes())))?;
    Ok(())
}

fn page(outcome: &Outcome<'_>, raw: &Dataset<'_>, prepared: &Dataset<'_>) -> Result<String, Failure> {
    let fit = &outcome.fit;
    let title = format!("{} on {}", fit.report.algorithm, outcome.origin);
    let mut sections = vec![
        section("What was learned", &facts(outcome)),
        section("Objective and certificate", &certificate(&fit.report)),
    ];
    let pictures: String = pictures(outcome, raw).iter().map(figure).collect();
    if !pictures.is_empty() {
        sections.push(section("Pictures", &pictures));
    }
    sections.push(section("On the training rows", &evaluation(fit, prepared)?));
    sections.extend(passes(&fit.report).map(|table| section("Pass by pass", &table)));
    sections.extend(problems(&fit.report).map(|table| section("Binary problems", &table)));
    sections.push(section("Parameters", &parameters(&fit.report)));
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<p>{1}</p>\n{2}\
         <footer>Made by rosenblatt {3}.</footer>\n</main>\n</body>\n</html>\n",
        escaped(&title),
        escaped(&summary(outcome)),
        sections.concat(),
        env!("CARGO_PKG_VERSION"),
    ))
}

const STYLE: &str = ":root{color-scheme:light dark;--paper:#fff;--text:#1b1d21;--muted:#5a5f68;--line:#d9dce1;--shade:#f5f6f8}
@media (prefers-color-scheme:dark){:root{--paper:#14161a;--text:#ecedef;--muted:#a6acb6;--line:#343a43;--shade:#1c1f25}}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.5 'Noto Sans','Segoe UI',system-ui,-apple-system,'Helvetica Neue',Arial,sans-serif}
main{max-width:46rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .6rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{padding:.25rem .8rem .25rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--muted)}
td.n,th.n{text-align:right}
tr.kept td{background:var(--shade);font-weight:600}
figure{margin:1.2rem 0}
svg.rosenblatt{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}
code{overflow-wrap:anywhere}
p.formula{background:var(--shade);padding:.6rem .8rem;border-radius:6px}
footer{margin-top:3rem;color:var(--muted);font-size:.85rem}
";

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

fn section(title: &str, body: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escaped(title))
}

fn figure(picture: &Picture) -> String {
    format!("<figure>\n{}</figure>\n", picture.svg(Theme::Auto))
}

/// Columns with `>` are numbers.
fn table(headings: &[&str], rows: &[Vec<String>], kept: Option<usize>) -> String {
    let class = |at: usize| match headings.get(at) {
        Some(heading) if heading.starts_with('>') => " class=\"n\"",
        _ => "",
    };
    let cells = |tag: &str, cells: Vec<&str>| -> String {
        let cell = |(at, text): (usize, &str)| format!("<{tag}{}>{}</{tag}>", class(at), escaped(text));
        cells.into_iter().enumerate().map(cell).collect()
    };
    let mut html = String::from("<div class=\"scroll\"><table>\n");
    if headings.iter().any(|heading| !heading.is_empty()) {
        let names = headings.iter().map(|heading| heading.trim_start_matches('>')).collect();
        html += &format!("<tr>{}</tr>\n", cells("th", names));
    }
    for (at, row) in rows.iter().enumerate() {
        let mark = if kept == Some(at) { " class=\"kept\"" } else { "" };
        html += &format!("<tr{mark}>{}</tr>\n", cells("td", row.iter().map(String::as_str).collect()));
    }
    html + "</table></div>\n"
}

fn summary(outcome: &Outcome<'_>) -> String {
    let Fit { model, report } = &outcome.fit;
    format!(
        "{} × {}, {}",
        plural(report.rows, "row", "rows"),
        plural(model.features.count as u64, "feature", "features"),
        describe_classes(&model.classes)
    )
}

/// What the command line says, without its colours.
fn facts(outcome: &Outcome<'_>) -> String {
    let plain = |text: &str| anstream::adapter::strip_str(text).to_string();
    let rows = outcome.lines().into_iter().filter(|(name, _)| *name != "rule");
    let rows: Vec<Vec<String>> = rows.map(|(name, value)| vec![plain(name), plain(&value)]).collect();
    table(&["", ""], &rows, None)
}

fn certificate(report: &Report) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, value: Option<f64>, meaning: &str| {
        if let Some(value) = value {
            rows.push(vec![name.to_owned(), number(value, 6), meaning.to_owned()]);
        }
    };
    row("primal", report.primal, "the objective reached");
    row("dual", report.dual, "no solution can be below");
    row("gap", report.gap, "(primal − dual) / primal: so much could be saved at the most");
    row(
        "margin γ",
        report.margin,
        "from the boundary to the nearest row; negative if a row is on the wrong side",
    );
    row("corridor", report.corridor, "2/‖w‖, from g(x) = −1 to g(x) = 1");
    row("radius R", report.radius, "the longest row");
    row("bound", report.mistake_bound, "(R/γ)²: a perceptron makes no more mistakes");
    let mistakes = report.mistake_bound.map(|_| report.mistakes as f64);
    row("mistakes", mistakes, "made while learning");
    let mut html = format!("<p class=\"formula\"><code>{}</code></p>\n", escaped(&report.objective));
    if rows.is_empty() {
        html += "<p>This algorithm proves nothing of its answer; <code>rosenblatt verify</code> measures it.</p>\n";
    } else {
        html += &table(&["", ">value", "meaning"], &rows, None);
    }
    let data = &report.data;
    html + &format!(
        "<p>Trained on {} × {} values with the fingerprint <code>{}</code>; <code>rosenblatt verify MODEL DATA</code> computes all of this anew.</p>\n",
        count(data.rows),
        count(data.features),
        escaped(&data.hash)
    )
}

/// Those that can be drawn.
fn pictures(outcome: &Outcome<'_>, raw: &Dataset<'_>) -> Vec<Picture> {
    let fit = &outcome.fit;
    let origin = outcome.origin.strip_suffix(" (embedded)").unwrap_or(&outcome.origin);
    let mut pictures = Vec::new();
    if !is_precomputed(&fit.model.body) {
        let many = raw.n_features() > 2;
        let view = if many && View::is_across(&fit.model) { View::Across } else { View::Usual };
        pictures.extend(Regions { view, ..Regions::new(fit, raw, origin) }.draw().ok());
    }
    pictures.extend(curves(&fit.report));
    if matches!(fit.model.body, Body::Linear(_) | Body::Voted(_)) && fit.model.n_inner() > 2 {
        pictures.extend(weights::picture(fit, None, Size::default().width).ok());
    }
    pictures
}

fn curves(report: &Report) -> Option<Picture> {
    let held = |pass: &rosenblatt::Pass| Some((pass.pass as f64, pass.holdout_accuracy?));
    let train = |pass: &rosenblatt::Pass| Some((pass.pass as f64, pass.train_accuracy?));
    let curves = vec![
        Curve { name: "train".to_owned(), points: report.passes.iter().filter_map(train).collect() },
        Curve { name: "held out".to_owned(), points: report.passes.iter().filter_map(held).collect() },
    ];
    if curves[1].points.len() < 2 {
        return None;
    }
    let best = report.best_pass.map(|pass| (pass as f64, "kept".to_owned()));
    let panels = vec![Panel { title: String::new(), places: "pass".to_owned(), curves, best }];
    let (title, caption) = ("accuracy pass by pass".to_owned(), String::new());
    Curves { title, caption, panels, size: Size { width: 640.0, height: 360.0 } }.draw().ok()
}

fn evaluation(fit: &Fit, prepared: &Dataset<'_>) -> Result<String, Failure> {
    const LARGEST_SHOWN: usize = 20;
    let (model, k) = (&fit.model, fit.model.body.n_scores().max(1));
    let scores = model.body.scores(prepared.x());
    let predicted: Vec<u32> = scores.chunks(k).map(|scores| model.decide(scores) as u32).collect();
    let found = Evaluation::new(&model.classes, prepared.y(), &predicted);
    let mut html = format!("<p>{} of {} right", percent(found.accuracy), plural(found.rows, "row", "rows"));
    if let (Decision::Sign(_), 2) = (model.decision, model.classes.len())
        && let Some(area) = auc(prepared.y(), &scores)
    {
        html += &format!("; area under the ROC curve {}", number(area, 5));
    }
    let probabilities: Option<Vec<Vec<f64>>> =
        scores.chunks(k).map(|scores| model.probabilities(scores)).collect();
    if let Some(found) = probabilities.and_then(|rows| ProbabilityScores::new(prepared.y(), &rows)) {
        html += &format!("; log loss {}, Brier score {}", number(found.log_loss, 4), number(found.brier, 4));
    }
    html += ".</p>\n";
    if found.classes.len() <= LARGEST_SHOWN {
        let names: Vec<String> = found.classes.iter().map(|class| format!(">{class}")).collect();
        let headings: Vec<&str> =
            ["true \\ predicted"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let rows: Vec<Vec<String>> = found
            .classes
            .iter()
            .zip(&found.confusion)
            .map(|(class, row)| {
                [class.to_string()].into_iter().chain(row.iter().map(|&n| count(n))).collect()
            })
            .collect();
        html += &table(&headings, &rows, None);
    }
    let rows: Vec<Vec<String>> = found
        .per_class
        .iter()
        .map(|rates| {
            let shares = [rates.precision, rates.recall, rates.f1].map(percent);
            [rates.class.to_string()].into_iter().chain(shares).chain([count(rates.rows)]).collect()
        })
        .collect();
    Ok(html + "<p></p>\n" + &table(&["class", ">precision", ">recall", ">F1", ">rows"], &rows, None))
}

fn passes(report: &Report) -> Option<String> {
    if report.passes.is_empty() {
        return None;
    }
    let share = |accuracy: Option<f64>| accuracy.map(percent).unwrap_or_default();
    let rows: Vec<Vec<String>> = report
        .passes
        .iter()
        .map(|pass| {
            vec![
                count(pass.pass as u64),
                count(pass.mistakes),
                count(pass.updates),
                share(pass.train_accuracy),
                share(pass.holdout_accuracy),
            ]
        })
        .collect();
    let kept = report.best_pass.and_then(|best| report.passes.iter().position(|pass| pass.pass == best));
    Some(table(&[">pass", ">mistakes", ">updates", ">train", ">held out"], &rows, kept))
}

fn problems(report: &Report) -> Option<String> {
    if report.problems.is_empty() {
        return None;
    }
    let rows: Vec<Vec<String>> = report
        .problems
        .iter()
        .map(|problem| {
            let gap = problem.gap.map(|gap| format!("{gap:.1e}")).unwrap_or_default();
            let converged = if problem.converged { "yes" } else { "no" };
            vec![problem.title.clone(), count(problem.passes as u64), gap, converged.to_owned()]
        })
        .collect();
    Some(table(&["problem", ">passes", ">gap", "converged"], &rows, None))
}

fn parameters(report: &Report) -> String {
    let serde_json::Value::Object(parameters) = &report.parameters else { return String::new() };
    let rows: Vec<Vec<String>> = parameters
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| vec![name.clone(), value.to_string().trim_matches('"').to_owned()])
        .collect();
    table(&["", ""], &rows, None)
}
