//! `plot weights`

use rosenblatt::{Decision, Fit, Planes, pairs};
use rosenblatt_io::load;
use rosenblatt_plot::{Picture, PlaneWeights, Weights};

use super::args::WeightsArgs;
use super::page;
use crate::args::Cli;
use crate::commands::largest;
use crate::failure::Failure;
use crate::format::count;

pub(super) fn run(cli: &Cli, args: &WeightsArgs) -> Result<(), Failure> {
    page::check(&args.page)?;
    let fit = load(&args.model)?;
    let picture = picture(&fit, args.top.map(usize::from), args.page.size().width)?;
    page::write(cli, &args.page, &picture)
}

/// Planes beyond this are not drawn.
const PLANES: usize = 12;

pub(in crate::commands) fn picture(fit: &Fit, top: Option<usize>, width: f64) -> Result<Picture, Failure> {
    let Some(planes) = fit.model.body.planes() else {
        return Err(Failure::bad("a model with a kernel has stored examples in place of weights")
            .hint("`rosenblatt inspect` lists them"));
    };
    let top = top.unwrap_or(if planes.k() == 1 { 24 } else { 10 });
    let sides: Vec<PlaneWeights> = sides(fit)
        .into_iter()
        .take(PLANES)
        .enumerate()
        .map(|(c, side)| PlaneWeights { weights: weights(fit, &planes, c, top), ..side })
        .collect();
    let nonzero =
        (0..planes.n_cols()).filter(|&j| (0..planes.k()).any(|c| planes.weight(c, j) != 0.0)).count();
    let which = if top < nonzero { format!("the {top} largest of") } else { "all".to_owned() };
    let mut caption = match sides.len() {
        1 => format!("{which} {} weights", count(nonzero as u64)),
        _ => format!("{which} {} weights for each of {} planes", count(nonzero as u64), planes.k()),
    };
    if planes.k() > PLANES {
        caption += &format!("; the first {PLANES} planes");
    }
    let title = format!("weights of {}", fit.report.algorithm);
    Ok(Weights { title, caption, planes: sides, width }.draw()?)
}

/// What each plane speaks for and against.
fn sides(fit: &Fit) -> Vec<PlaneWeights> {
    let classes = &fit.model.classes;
    let name = |c: usize| classes.get(c).map(ToString::to_string).unwrap_or_default();
    let side = |class: usize, against: Option<usize>| PlaneWeights {
        positive: name(class),
        negative: against.map(name),
        class,
        weights: Vec::new(),
    };
    match fit.model.decision {
        Decision::Sign(_) => vec![side(1, Some(0))],
        Decision::Highest => (0..classes.len()).map(|c| side(c, None)).collect(),
        Decision::Pairs(_) | Decision::Votes => {
            pairs(classes.len()).into_iter().map(|(a, b)| side(b, Some(a))).collect()
        }
    }
}

/// The largest by absolute value, from the most positive to the most negative.
fn weights(fit: &Fit, planes: &Planes, c: usize, top: usize) -> Vec<(String, f64)> {
    let all: Vec<(usize, f64)> =
        planes.normal(c).into_iter().enumerate().filter(|(_, w)| *w != 0.0).collect();
    let mut kept = largest(all, top, |(_, w)| *w);
    kept.sort_by(|a, b| b.1.total_cmp(&a.1));
    kept.into_iter().map(|(j, w)| (fit.model.inner_name(j), w)).collect()
}
