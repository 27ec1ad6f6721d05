//! Learning curves.

use crate::font;
use crate::ink::Ink;
use crate::mark;
use crate::picture::{Picture, PictureError, Size};
use crate::scene::{Anchor, Rect};
use crate::sheet::{Axis, BODY, LABEL, Sample, Sheet};

/// A line through points, in the order of their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it is of.
    pub name: String,
    /// Place and height of each point.
    pub points: Vec<(f64, f64)>,
}

/// Curves over the same places.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What is above it.
    pub title: String,
    /// What the places are.
    pub places: String,
    /// The curves; those with the same number in each panel look alike.
    pub curves: Vec<Curve>,
    /// A place to be pointed out, and why.
    pub best: Option<(f64, String)>,
}

/// Panels side by side, of shares from 0 to 1 such as accuracies.
///
/// ```
/// use rosenblatt_plot::{Curve, Curves, Panel, Size, Theme};
/// let curve = |name: &str, points| Curve { name: name.into(), points };
/// let curves = vec![curve("train", vec![(1.0, 0.9), (2.0, 1.0)]), curve("held out", vec![(1.0, 0.8), (2.0, 0.7)])];
/// let panel = Panel { title: "by pass".into(), places: "pass".into(), curves, best: Some((1.0, "kept".into())) };
/// let picture = Curves { title: "curves".into(), caption: "".into(), panels: vec![panel], size: Size::default() }.draw()?;
/// assert!(picture.svg(Theme::Auto).contains("held out"));
/// # Ok::<(), rosenblatt_plot::PictureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The heading.
    pub title: String,
    /// What there is to know.
    pub caption: String,
    /// The panels.
    pub panels: Vec<Panel>,
    /// How large it becomes.
    pub size: Size,
}

impl Curves {
    /// Draws them.
    pub fn draw(&self) -> Result<Picture, PictureError> {
        let mut sheet = Sheet::new(self.size, &self.title, &self.caption);
        let mut names: Vec<&str> = Vec::new();
        for curve in self.panels.iter().flat_map(|panel| &panel.curves) {
            if !names.contains(&curve.name.as_str()) {
                names.push(&curve.name);
            }
        }
        let legend: Vec<(Sample, String)> =
            (0..).zip(&names).map(|(n, name)| (Sample::Curve(n), (*name).to_owned())).collect();
        sheet.legend(&legend);
        let heights = self.heights()?;
        let (rest, n) = (sheet.rest(), self.panels.len().max(1) as f64);
        const GAP: f64 = 18.0;
        let across = (rest.width() - GAP * (n - 1.0)) / n;
        for (at, panel) in self.panels.iter().enumerate() {
            let left = rest.left + at as f64 * (across + GAP);
            let area = Rect::new(left, rest.top, left + across, rest.bottom);
            panel_in(&sheet, area, panel, heights, at == 0, &names)?;
        }
        Ok(sheet.finish(1))
    }

    /// From a little below the lowest point to a little above the highest.
    fn heights(&self) -> Result<(f64, f64), PictureError> {
        let all = self.panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
        let (low, high) = all
            .map(|(_, height)| *height)
            .filter(|height| height.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Err(PictureError::Unsuitable("there is no point that could be drawn".to_owned()));
        }
        let pad = (0.12 * (high - low)).max(0.01);
        Ok((low - pad, high + pad))
    }
}

fn panel_in(
    sheet: &Sheet,
    area: Rect,
    panel: &Panel,
    (low, high): (f64, f64),
    first: bool,
    names: &[&str],
) -> Result<(), PictureError> {
    let places = panel.curves.iter().flat_map(|curve| &curve.points).map(|(place, _)| *place);
    let (from, to) =
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), v| (from.min(v), to.max(v)));
    if from > to {
        return Ok(());
    }
    let pad = if to > from { 0.04 * (to - from) } else { 0.5 };
    let mut x = Axis::new(from - pad, to + pad, &panel.places);
    x.ticks = (area.width() / 42.0) as usize;
    let mut y = Axis::new(low, high, if first { "accuracy" } else { "" });
    y.percent = true;
    let title = font::fitted(&panel.title, BODY, area.width());
    sheet.scene.bold(Ink::Text, (area.left, area.top + BODY), BODY, Anchor::Start, title);
    let frame = sheet.chart(Rect { top: area.top + 1.7 * BODY, ..area }, &x, &y, true)?;
    let scene = &sheet.scene;
    if let Some((place, why)) = &panel.best {
        let (at, _) = frame.at(*place, low);
        scene.named("best", || {
            scene.line(Ink::Margin, vec![(at, frame.rect.top), (at, frame.rect.bottom)]);
            let right = at + font::width(why, LABEL, false) + 8.0 < frame.rect.right;
            let (beside, anchor) = if right { (at + 6.0, Anchor::Start) } else { (at - 6.0, Anchor::End) };
            scene.text(Ink::Text, (beside, frame.rect.bottom - 7.0), LABEL, anchor, why.as_str());
        });
    }
    scene.named("curves", || {
        for curve in &panel.curves {
            let n = names.iter().position(|name| *name == curve.name).unwrap_or_default() as u8;
            let points = frame.all(&curve.points);
            scene.line(Ink::Line(n), points.clone());
            const MARKED: usize = 40;
            let every = points.len().div_ceil(MARKED).max(1);
            for point in points.iter().step_by(every) {
                scene.polygon(Ink::Dot(n), mark::outline(n, *point, 4.0));
            }
        }
    });
    Ok(())
}
