//! A run, update by update: side by side, or one after the other.

use rosenblatt::{Body, Csr, Dataset, Expansion, Model, Planes, Rows, Step, Trace};

use crate::ink::Ink;
use crate::picture::{Picture, PictureError, Size};
use crate::plane::Plane;
use crate::points::Seen;
use crate::regions::{Outlines, Regions, axes, points, size_of_marks};
use crate::scene::{Anchor, Group, Rect};
use crate::sheet::{BODY, EDGE, Frame, LABEL, Sample, Sheet, tick};

/// Pictures of the boundary after each update of a run.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Order, Perceptron};
/// use rosenblatt_plot::{Regions, Steps, Theme};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let learner = Perceptron { order: Order::Cyclic, pocket: false, ..Perceptron::default() };
/// let (fit, trace) = (learner.fit(&data, &mut ())?, learner.trace(&data)?);
/// let steps = Steps { regions: Regions::new(&fit, &data, "worked"), trace: &trace, prepared: &data, most: 12 };
/// assert!(steps.animation()?.svg(Theme::Auto).contains("@keyframes"));
/// assert!(!steps.strip()?.svg(Theme::Auto).contains("@keyframes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// The fit that the run led to, and its rows.
    pub regions: Regions<'a>,
    /// Every step of the run.
    pub trace: &'a Trace,
    /// The rows as the learner saw them, scaled and mapped.
    pub prepared: &'a Dataset<'a>,
    /// At most so many pictures.
    pub most: usize,
}

/// One picture: what is known after an update.
struct Moment<'a> {
    /// Which update, from 1; nothing before the first.
    update: Option<(usize, &'a Step)>,
    body: Option<Body>,
}

impl<'a> Steps<'a> {
    /// One after the other, as an animated SVG.
    pub fn animation(&self) -> Result<Picture, PictureError> {
        let moments = self.moments()?;
        let (seen, plane) = self.view()?;
        let Regions { size, .. } = self.regions;
        let mut sheet = self.sheet(size);
        sheet.legend(&self.legend());
        let mut area = sheet.rest();
        let line = area.top + 0.8 * BODY;
        area.top += 1.9 * BODY;
        let (x, y) = axes(&plane, area);
        let frame = sheet.chart(area, &x, &y, false)?;
        let scene = sheet.scene.clone();
        for (number, moment) in moments.iter().enumerate() {
            self.outlines(moment, &plane, &frame, 4.0)?.draw(&scene, &frame, Some(number));
        }
        let radius = size_of_marks(seen.shown.len());
        points(&scene, &frame, &plane, &seen, &self.regions.fit.model.classes, radius);
        for (number, moment) in moments.iter().enumerate() {
            scene.group(Group { name: "step", clip: None, frame: Some(number) }, || {
                scene.text(Ink::Text, (EDGE, line), BODY, Anchor::Start, self.about(moment, true));
                Self::current(&sheet, &frame, &plane, moment, radius);
            });
        }
        scene.rect(Ink::Axis, frame.rect);
        Ok(sheet.finish(moments.len()))
    }

    /// Side by side.
    pub fn strip(&self) -> Result<Picture, PictureError> {
        let moments = self.moments()?;
        let (seen, plane) = self.view()?;
        let width = self.regions.size.width;
        let columns = match moments.len() {
            n @ 1..=3 => n,
            4 => 2,
            n => (n.div_ceil(2)).clamp(3, if width >= 900.0 { 5 } else { 4 }),
        };
        let rows = moments.len().div_ceil(columns);
        const GAP: f64 = 14.0;
        let across = (width - 2.0 * EDGE - GAP * (columns as f64 - 1.0)) / columns as f64;
        let (head, down) = (1.9 * LABEL, (across * 0.85).min(0.7 * width));
        let mut sheet = self.sheet(Size { width, height: 10_000.0 });
        sheet.legend(&self.legend());
        let top = sheet.rest().top;
        let height = top + rows as f64 * (head + down + GAP) + 2.0;
        let mut sheet = self.sheet(Size { width, height });
        sheet.legend(&self.legend());
        for (number, moment) in moments.iter().enumerate() {
            let (column, row) = (number % columns, number / columns);
            let left = EDGE + column as f64 * (across + GAP);
            let above = top + row as f64 * (head + down + GAP);
            let at = (left, above + LABEL);
            let about = crate::font::fitted(&self.about(moment, false), LABEL, across);
            sheet.scene.text(Ink::Text, at, LABEL, Anchor::Start, about);
            let area = Rect::new(left, above + head, left + across, above + head + down);
            self.panel(&sheet, area, moment, (&plane, &seen))?;
        }
        Ok(sheet.finish(1))
    }

    fn panel(
        &self,
        sheet: &Sheet,
        area: Rect,
        moment: &Moment<'_>,
        (plane, seen): (&Plane, &Seen),
    ) -> Result<(), PictureError> {
        let bare = |mut axis: crate::sheet::Axis| {
            (axis.ticks, axis.title) = (0, String::new());
            axis
        };
        let (x, y) = axes(plane, area);
        let frame = sheet.chart(area, &bare(x), &bare(y), false)?;
        self.outlines(moment, plane, &frame, 3.0)?.draw(&sheet.scene, &frame, None);
        let radius = 0.75 * size_of_marks(seen.shown.len());
        points(&sheet.scene, &frame, plane, seen, &self.regions.fit.model.classes, radius);
        Self::current(sheet, &frame, plane, moment, radius);
        sheet.scene.rect(Ink::Axis, frame.rect);
        Ok(())
    }

    fn sheet(&self, size: Size) -> Sheet {
        let Trace { updates, converged, steps, .. } = self.trace;
        let Regions { fit, origin, .. } = self.regions;
        let passes = steps.last().map_or(0, |step| step.pass);
        let end = if *converged { "converged in" } else { "not converged after" };
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "es" });
        let updates = format!("{updates} update{}", if *updates == 1 { "" } else { "s" });
        let caption = format!("{}\n{end} {}, {updates}", fit.report.objective, plural(passes, "pass"));
        Sheet::new(size, &format!("{} on {origin}, step by step", fit.report.algorithm), &caption)
    }

    fn legend(&self) -> Vec<(Sample, String)> {
        let classes = self.regions.fit.model.classes.iter().take(10).enumerate();
        let mut legend: Vec<_> =
            classes.map(|(c, class)| (Sample::Mark(c as u8), class.to_string())).collect();
        legend.push((Sample::Line(Ink::Boundary), "boundary".to_owned()));
        legend.push((Sample::Current, "the row just learned".to_owned()));
        legend
    }

    /// Rows without what only the end of the run tells of them.
    fn view(&self) -> Result<(Seen, Plane), PictureError> {
        let Regions { fit, data, view, .. } = self.regions;
        let mut seen = Seen::of(fit, data)?;
        seen.predicted.clone_from(&seen.labels);
        seen.support = None;
        let model = Model { decision: self.trace.decision, ..fit.model.clone() };
        Ok((seen, Plane::new(view, &model, data)?))
    }

    /// The start and the updates; of many the first ones, and others ever farther apart, up to the last.
    fn moments(&self) -> Result<Vec<Moment<'a>>, PictureError> {
        let all: Vec<(usize, &Step)> =
            (1..).zip(self.trace.steps.iter().filter(|step| step.updated)).collect();
        if all.is_empty() {
            return Err(PictureError::Unsuitable("the run has no update that could be drawn".to_owned()));
        }
        let mut moments = vec![Moment { update: None, body: None }];
        for at in chosen(all.len(), self.most.max(2) - 1) {
            let (number, step) = all[at];
            moments.push(Moment { update: Some((number, step)), body: Some(self.body(step)?) });
        }
        Ok(moments)
    }

    fn body(&self, step: &Step) -> Result<Body, PictureError> {
        if let Some(planes) = &step.weights {
            return Ok(Body::Linear(Planes::clone(planes)));
        }
        let unsuitable = |what: &str| PictureError::Unsuitable(format!("the steps cannot be drawn: {what}"));
        let (Some(alphas), Body::Kernel(expansion)) = (&step.alphas, &self.regions.fit.model.body) else {
            return Err(unsuitable("it is not known what was learned at each"));
        };
        let kernel = expansion.kernel().kernel().ok_or_else(|| unsuitable("the kernel is a function"))?;
        let planes = step.scores.len();
        // The 1 that a bias adds to the kernel adds all coefficients to the constant term.
        let lift = f64::from(u8::from(expansion.is_lifted()));
        let offsets =
            (0..planes).map(|c| lift * alphas.iter().skip(c).step_by(planes).sum::<f64>()).collect();
        let rows = sparse(self.prepared)?;
        let sum = Expansion::from_parts(kernel, rows, alphas.clone(), offsets);
        sum.map(Body::Kernel).map_err(|error| unsuitable(&error.to_string()))
    }

    fn outlines(
        &self,
        moment: &Moment<'_>,
        plane: &Plane,
        frame: &Frame,
        cell: f64,
    ) -> Result<Outlines, PictureError> {
        match &moment.body {
            Some(body) => Outlines::of(&plane.with_body(body.clone()), frame, false, cell),
            None => Ok(Outlines::default()),
        }
    }

    fn current(sheet: &Sheet, frame: &Frame, plane: &Plane, moment: &Moment<'_>, radius: f64) {
        if let Some((_, step)) = moment.update
            && let Some(&(x, y)) = plane.places.get(step.row)
        {
            sheet.scene.circle(Ink::Current, frame.at(x, y), radius + 5.0);
        }
    }

    fn about(&self, moment: &Moment<'_>, long: bool) -> String {
        let Some((number, step)) = moment.update else { return "start: no update yet".to_owned() };
        let short = format!("{number}: pass {}, row {}", step.pass, step.row + 1);
        if !long {
            return short;
        }
        let text = format!("update {short}{}", if step.mistake { ", predicted wrongly" } else { "" });
        match &step.weights {
            Some(planes) if planes.k() == 1 && planes.n_cols() <= 4 => {
                let numbers =
                    |values: &[f64]| values.iter().map(|&v| tick(rounded(v))).collect::<Vec<_>>().join(", ");
                let bias = match planes.is_lifted() {
                    true => format!(", b = {}", numbers(planes.bias())),
                    false => String::new(),
                };
                format!("{text}: w = ({}){bias}", numbers(&planes.normal(0)))
            }
            _ => text,
        }
    }
}

/// To four digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// At most so many of a number of updates, the last of all among them.
fn chosen(all: usize, most: usize) -> Vec<usize> {
    if all <= most {
        return (0..all).collect();
    }
    let first = most / 2;
    let later = most - first;
    let factor = (all as f64 / first.max(1) as f64).powf(1.0 / later as f64);
    let mut chosen: Vec<usize> = (0..first).collect();
    for k in 1..=later {
        let at = (first.max(1) as f64 * factor.powi(k as i32)).round() as usize;
        let least = chosen.last().map_or(0, |last| last + 1);
        chosen.push(at.saturating_sub(1).clamp(least, all - (later - k) - 1));
    }
    chosen
}

fn sparse(data: &Dataset<'_>) -> Result<Csr<'static, f64>, PictureError> {
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..data.n_rows() {
        data.x().each(i, |j, v| {
            columns.push(j as u32);
            values.push(v);
        });
        pointers.push(columns.len() as u64);
    }
    Ok(Csr::new(pointers, columns, values, data.n_features())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_updates_the_first_and_the_last_are_shown() {
        assert_eq!(chosen(3, 5), [0, 1, 2]);
        for (all, most) in [(6, 5), (100, 11), (1_000_000, 20), (12, 11), (50, 2)] {
            let picked = chosen(all, most);
            assert_eq!(picked.len(), most, "{all} {most}");
            assert_eq!(picked.last(), Some(&(all - 1)));
            assert!(picked.windows(2).all(|pair| pair[0] < pair[1]), "{picked:?}");
        }
    }
}
