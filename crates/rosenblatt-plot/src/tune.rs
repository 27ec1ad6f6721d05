//! A search over parameters: a curve over one of them, a heat map over two, a panel for each choice of the others.

use crate::font;
use crate::ink::{HEATS, Ink};
use crate::mark;
use crate::picture::{Picture, PictureError, Size};
use crate::scene::{Anchor, Rect};
use crate::sheet::{BODY, EDGE, LABEL, Sheet, tick};

/// What one choice of parameters came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// A value for each parameter, as it is written.
    pub values: Vec<String>,
    /// The mean score over the folds, if it was tried to its end.
    pub mean: Option<f64>,
    /// Its standard error, if that is known.
    pub error: Option<f64>,
}

/// A search.
///
/// ```
/// use rosenblatt_plot::{Cell, Search, Size, Theme};
/// let cell = |c: &str, mean| Cell { values: vec![c.to_owned()], mean: Some(mean), error: Some(0.01) };
/// let search = Search {
///     title: "svm".into(),
///     caption: "".into(),
///     parameters: vec!["c".into()],
///     cells: vec![cell("0.1", 0.8), cell("1", 0.9), cell("10", 0.89)],
///     best: Some(1),
///     chosen: Some(1),
///     size: Size::default(),
/// };
/// assert!(search.draw()?.svg(Theme::Auto).contains("class=\"line0\""));
/// # Ok::<(), rosenblatt_plot::PictureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The heading.
    pub title: String,
    /// What there is to know.
    pub caption: String,
    /// What was searched over.
    pub parameters: Vec<String>,
    /// All that was tried.
    pub cells: Vec<Cell>,
    /// The number of the cell with the best mean.
    pub best: Option<usize>,
    /// The number of the cell that was taken, as by the rule of one standard error.
    pub chosen: Option<usize>,
    /// How large it becomes.
    pub size: Size,
}

/// A parameter with its values in order.
struct Range {
    at: usize,
    name: String,
    values: Vec<String>,
}

/// "93.4%"
fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A value as short as it can be told.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => tick(format!("{number:.2e}").parse().unwrap_or(number)),
        _ => value.to_owned(),
    }
}

impl Search {
    /// Draws it.
    pub fn draw(&self) -> Result<Picture, PictureError> {
        let unsuitable = |what: &str| PictureError::Unsuitable(what.to_owned());
        if self.cells.iter().any(|cell| cell.values.len() != self.parameters.len()) {
            return Err(unsuitable("a cell of the search has not one value for each parameter"));
        }
        if !self.cells.iter().any(|cell| cell.mean.is_some_and(f64::is_finite)) {
            return Err(unsuitable("nothing was tried to its end in this search"));
        }
        let mut ranges: Vec<Range> = (0..self.parameters.len()).map(|at| self.range(at)).collect();
        ranges.retain(|range| range.values.len() > 1);
        ranges.sort_by_key(|range| std::cmp::Reverse(range.values.len()));
        match &ranges[..] {
            [] => Err(unsuitable("a search with a single choice has no picture")),
            [one] => self.curve(one),
            [x, y, rest @ ..] => self.maps(x, y, rest),
        }
    }

    fn range(&self, at: usize) -> Range {
        let mut values: Vec<String> = Vec::new();
        for cell in &self.cells {
            if !values.contains(&cell.values[at]) {
                values.push(cell.values[at].clone());
            }
        }
        let number = |value: &String| value.parse::<f64>().ok().filter(|number| !number.is_nan());
        if values.iter().all(|value| number(value).is_some()) {
            values.sort_by(|a, b| number(a).unwrap_or_default().total_cmp(&number(b).unwrap_or_default()));
        }
        Range { at, name: self.parameters[at].clone(), values }
    }

    /// The lowest and the highest mean.
    fn means(&self) -> (f64, f64) {
        let means = self.cells.iter().filter_map(|cell| cell.mean).filter(|mean| mean.is_finite());
        means.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    }

    fn curve(&self, range: &Range) -> Result<Picture, PictureError> {
        let sheet = Sheet::new(self.size, &self.title, &self.caption);
        let (low, high) = self.means();
        let spread = self.cells.iter().filter_map(|cell| cell.error).fold(0.0, f64::max);
        let pad = (0.1 * (high - low)).max(0.005) + spread;
        let n = range.values.len() as f64;
        let mut x = crate::sheet::Axis::new(-0.5, n - 0.5, "");
        x.ticks = 0;
        let mut y = crate::sheet::Axis::new(low - pad, high + pad, "mean score");
        y.percent = true;
        let mut area = sheet.rest();
        area.bottom -= 3.6 * LABEL;
        let frame = sheet.chart(area, &x, &y, true)?;
        let scene = &sheet.scene;
        let mut points: Vec<(usize, f64, f64, Option<f64>)> = Vec::new();
        for (number, cell) in self.cells.iter().enumerate() {
            let place = range.values.iter().position(|value| *value == cell.values[range.at]);
            if let Some((place, mean)) = place.zip(cell.mean.filter(|mean| mean.is_finite())) {
                points.push((number, place as f64, mean, cell.error));
            }
        }
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        scene.named("search", || {
            for (_, place, mean, error) in &points {
                if let Some(error) = error {
                    let ends = [mean - error, mean + error].map(|height| frame.at(*place, height));
                    scene.line(Ink::Whisker(0), ends.to_vec());
                }
            }
            scene.line(Ink::Line(0), points.iter().map(|p| frame.at(p.1, p.2)).collect());
            for (number, place, mean, _) in &points {
                let at = frame.at(*place, *mean);
                scene.polygon(Ink::Dot(0), mark::outline(0, at, 5.0));
                if Some(*number) == self.chosen.or(self.best) {
                    scene.circle(Ink::Ring, at, 9.5);
                }
            }
        });
        let room = frame.rect.width() / n;
        for (place, value) in range.values.iter().enumerate() {
            let (at, _) = frame.at(place as f64, low);
            let text = font::fitted(&short(value), LABEL, room - 2.0);
            scene.text(Ink::Muted, (at, frame.rect.bottom + 1.5 * LABEL), LABEL, Anchor::Middle, text);
        }
        let (middle, _) = frame.rect.middle();
        let below = frame.rect.bottom + 3.2 * LABEL;
        scene.text(Ink::Text, (middle, below), LABEL, Anchor::Middle, range.name.as_str());
        Ok(sheet.finish(1))
    }

    fn maps(&self, x: &Range, y: &Range, rest: &[Range]) -> Result<Picture, PictureError> {
        let mut panels: Vec<Vec<&str>> = vec![Vec::new()];
        for range in rest {
            panels = panels
                .iter()
                .flat_map(|panel| {
                    range.values.iter().map(move |value| {
                        panel.iter().copied().chain([value.as_str()]).collect::<Vec<&str>>()
                    })
                })
                .collect();
        }
        panels.retain(|panel| self.cells.iter().any(|cell| in_panel(cell, rest, panel)));
        let columns = match panels.len() {
            1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let rows = panels.len().div_ceil(columns);
        let height = if rows > 1 { self.size.height * 0.5 * (rows as f64 + 0.4) } else { self.size.height };
        let sheet = Sheet::new(Size { height, ..self.size }, &self.title, &self.caption);
        let all = sheet.rest();
        const GAP: f64 = 16.0;
        let across = (all.width() - GAP * (columns as f64 - 1.0)) / columns as f64;
        let down = (all.height() - GAP * (rows as f64 - 1.0)) / rows as f64;
        for (number, panel) in panels.iter().enumerate() {
            let left = all.left + (number % columns) as f64 * (across + GAP);
            let top = all.top + (number / columns) as f64 * (down + GAP);
            let mut area = Rect::new(left, top, left + across, top + down);
            if !panel.is_empty() {
                let named =
                    rest.iter().zip(panel).map(|(range, value)| format!("{} {}", range.name, short(value)));
                let title = font::fitted(&named.collect::<Vec<_>>().join(", "), BODY, across);
                sheet.scene.bold(Ink::Text, (left, top + BODY), BODY, Anchor::Start, title);
                area.top += 1.6 * BODY;
            }
            self.map(&sheet, area, (x, y), (rest, panel))?;
        }
        Ok(sheet.finish(1))
    }

    fn map(
        &self,
        sheet: &Sheet,
        area: Rect,
        (x, y): (&Range, &Range),
        (rest, panel): (&[Range], &[&str]),
    ) -> Result<(), PictureError> {
        let scene = &sheet.scene;
        let wide = |value: &String| font::width(&short(value), LABEL, false);
        let names = y.values.iter().map(wide).fold(0.0, f64::max).min(0.3 * area.width());
        let inner =
            Rect::new(area.left + names + 2.2 * LABEL, area.top, area.right, area.bottom - 3.0 * LABEL);
        let (across, down) = (inner.width() / x.values.len() as f64, inner.height() / y.values.len() as f64);
        if !(across >= 4.0 && down >= 4.0) {
            return Err(PictureError::Unsuitable("the picture is too small for so many values".to_owned()));
        }
        let place = |column: usize, row: usize| {
            let (left, bottom) = (inner.left + column as f64 * across, inner.bottom - row as f64 * down);
            Rect::new(left + 0.75, bottom - down + 0.75, left + across - 0.75, bottom - 0.75)
        };
        let (low, high) = self.means();
        let mut ringed = Vec::new();
        scene.named("search", || {
            for (number, cell) in
                self.cells.iter().enumerate().filter(|(_, cell)| in_panel(cell, rest, panel))
            {
                let of =
                    |range: &Range| range.values.iter().position(|value| *value == cell.values[range.at]);
                let (Some(column), Some(row), Some(mean)) = (of(x), of(y), cell.mean) else { continue };
                let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
                let step = (share.clamp(0.0, 1.0) * f64::from(HEATS - 1)).round() as u8;
                let rect = place(column, row);
                scene.rect(Ink::Heat(step), rect);
                let text = percent(mean);
                if font::width(&text, LABEL, false) + 4.0 < across && down > 1.3 * LABEL {
                    let (cx, cy) = rect.middle();
                    scene.text(Ink::OnHeat(step), (cx, cy + 0.36 * LABEL), LABEL, Anchor::Middle, text);
                }
                if Some(number) == self.chosen.or(self.best) {
                    ringed.push(rect);
                }
            }
            ringed.iter().for_each(|rect| scene.rect(Ink::Best, *rect));
        });
        let every = |range: &Range, room: f64, size: fn(&String) -> f64| {
            let longest = range.values.iter().map(size).fold(LABEL, f64::max);
            ((longest + 4.0) / room).ceil().max(1.0) as usize
        };
        for column in (0..x.values.len()).step_by(every(x, across, |v| font::width(&short(v), LABEL, false)))
        {
            let at = (place(column, 0).middle().0, inner.bottom + 1.2 * LABEL);
            scene.text(Ink::Muted, at, LABEL, Anchor::Middle, short(&x.values[column]));
        }
        for row in (0..y.values.len()).step_by(every(y, down, |_| LABEL)) {
            let at = (inner.left - 6.0, place(0, row).middle().1 + 0.36 * LABEL);
            scene.text(
                Ink::Muted,
                at,
                LABEL,
                Anchor::End,
                font::fitted(&short(&y.values[row]), LABEL, names),
            );
        }
        let (cx, cy) = inner.middle();
        scene.text(Ink::Text, (cx, inner.bottom + 2.7 * LABEL), LABEL, Anchor::Middle, x.name.as_str());
        scene.push(crate::scene::Item::Text(crate::scene::Text {
            ink: Ink::Text,
            at: ((area.left + LABEL).max(EDGE), cy),
            size: LABEL,
            bold: false,
            anchor: Anchor::Middle,
            turned: -90,
            text: y.name.clone(),
        }));
        Ok(())
    }
}

fn in_panel(cell: &Cell, rest: &[Range], panel: &[&str]) -> bool {
    rest.iter().zip(panel).all(|(range, value)| cell.values[range.at] == *value)
}
