//! A search over parameters: a curve over one of them, a heat map over two, a panel for each choice of the others.

use crate::font;
use crate::ink::{HEATS, Ink};
use crate::mark;
use crate::picture::{Picture, PictureError, Size};
use crate::scene::{Anchor, Item, Rect, Scene, Text};
use crate::sheet::{Axis, BODY, EDGE, Frame, LABEL, Sample, Sheet, tick};

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
            [x, y, rest @ ..] => {
                let grid: usize = ranges.iter().map(|range| range.values.len()).product();
                let sparse = 3 * self.cells.len() < grid && x.numbers().is_some() && y.numbers().is_some();
                if sparse { self.scatter(x, y) } else { self.maps(x, y, rest) }
            }
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

    /// The heat of a mean, from the lowest to the highest.
    fn heat(&self, mean: f64) -> u8 {
        let (low, high) = self.means();
        let share = if high > low { (mean - low) / (high - low) } else { 1.0 };
        (share.clamp(0.0, 1.0) * f64::from(HEATS - 1)).round() as u8
    }

    fn is_taken(&self, number: usize) -> bool {
        Some(number) == self.chosen.or(self.best)
    }

    fn curve(&self, range: &Range) -> Result<Picture, PictureError> {
        let sheet = Sheet::new(self.size, &self.title, &self.caption);
        let (low, high) = self.means();
        let spread = self.cells.iter().filter_map(|cell| cell.error).fold(0.0, f64::max);
        let pad = (0.1 * (high - low)).max(0.005) + spread;
        let n = range.values.len() as f64;
        let x = Axis { ticks: 0, ..Axis::new(-0.5, n - 0.5, "") };
        let y = Axis { percent: true, ..Axis::new(low - pad, high + pad, "mean score") };
        let mut area = sheet.rest();
        area.bottom -= 3.6 * LABEL;
        let frame = sheet.chart(area, &x, &y, true)?;
        self.points(&sheet.scene, &frame, range);
        let (room, below) = (frame.rect.width() / n, frame.rect.bottom);
        for (place, value) in range.values.iter().enumerate() {
            let (at, _) = frame.at(place as f64, low);
            let text = font::fitted(&short(value), LABEL, room - 2.0);
            sheet.scene.text(Ink::Muted, (at, below + 1.5 * LABEL), LABEL, Anchor::Middle, text);
        }
        let under = (frame.rect.middle().0, below + 3.2 * LABEL);
        sheet.scene.text(Ink::Text, under, LABEL, Anchor::Middle, range.name.as_str());
        Ok(sheet.finish(1))
    }

    /// Means with their errors, in the order of the values.
    fn points(&self, scene: &Scene, frame: &Frame, range: &Range) {
        let mut points: Vec<(usize, f64, f64)> = Vec::new();
        for (number, cell) in self.cells.iter().enumerate() {
            if let (Some(place), Some(mean)) = (range.place(cell), cell.mean) {
                points.push((number, place as f64, mean));
            }
        }
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        scene.named("search", || {
            for (number, place, mean) in &points {
                if let Some(error) = self.cells[*number].error {
                    let ends = [mean - error, mean + error].map(|height| frame.at(*place, height));
                    scene.line(Ink::Whisker(0), ends.to_vec());
                }
            }
            scene.line(Ink::Line(0), points.iter().map(|(_, place, mean)| frame.at(*place, *mean)).collect());
            for (number, place, mean) in &points {
                let at = frame.at(*place, *mean);
                scene.polygon(Ink::Dot(0), mark::outline(0, at, 5.0));
                if self.is_taken(*number) {
                    scene.circle(Ink::Ring, at, 9.5);
                }
            }
        });
    }

    fn maps(&self, x: &Range, y: &Range, rest: &[Range]) -> Result<Picture, PictureError> {
        let panels = self.panels(rest);
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
            let map = Map::new(area, x, y)?;
            self.cells_of(&sheet.scene, &map, |cell| in_panel(cell, rest, panel));
            map.labels(&sheet.scene, area);
        }
        Ok(sheet.finish(1))
    }

    /// All choices of other parameters that were tried.
    fn panels<'a>(&self, rest: &'a [Range]) -> Vec<Vec<&'a str>> {
        let mut panels: Vec<Vec<&str>> = vec![Vec::new()];
        for range in rest {
            let with = |panel: &Vec<&'a str>| {
                let each = |value: &'a String| panel.iter().copied().chain([value.as_str()]).collect();
                range.values.iter().map(each).collect::<Vec<Vec<&'a str>>>()
            };
            panels = panels.iter().flat_map(with).collect();
        }
        panels.retain(|panel| self.cells.iter().any(|cell| in_panel(cell, rest, panel)));
        panels
    }

    fn cells_of(&self, scene: &Scene, map: &Map<'_>, within: impl Fn(&Cell) -> bool) {
        scene.named("search", || {
            let mut taken = None;
            for (number, cell) in self.cells.iter().enumerate().filter(|(_, cell)| within(cell)) {
                let (Some(column), Some(row), Some(mean)) = (map.x.place(cell), map.y.place(cell), cell.mean)
                else {
                    continue;
                };
                let (step, rect, text) = (self.heat(mean), map.place(column, row), percent(mean));
                scene.rect(Ink::Heat(step), rect);
                if font::SPARE * font::width(&text, LABEL, false) < map.across && map.down > 1.3 * LABEL {
                    let (cx, cy) = rect.middle();
                    scene.text(Ink::OnHeat(step), (cx, cy + 0.36 * LABEL), LABEL, Anchor::Middle, text);
                }
                if self.is_taken(number) {
                    taken = Some(rect);
                }
            }
            taken.into_iter().for_each(|rect| scene.rect(Ink::Best, rect));
        });
    }

    /// Choices drawn at random have hardly a value in common: each is a point, as far as its values are numbers.
    fn scatter(&self, x: &Range, y: &Range) -> Result<Picture, PictureError> {
        let mut sheet = Sheet::new(self.size, &self.title, &self.caption);
        let (low, high) = self.means();
        sheet.legend(&[
            (Sample::Bar(Ink::Heat(0)), percent(low)),
            (Sample::Bar(Ink::Heat(HEATS - 1)), percent(high)),
            (Sample::Ring, "taken".to_owned()),
        ]);
        let frame = sheet.chart(sheet.rest(), &x.axis(), &y.axis(), true)?;
        sheet.scene.named("search", || {
            for (number, cell) in self.cells.iter().enumerate() {
                let (Some(x), Some(y), Some(mean)) = (x.height(cell), y.height(cell), cell.mean) else {
                    continue;
                };
                let at = frame.at(x, y);
                sheet.scene.circle(Ink::Heat(self.heat(mean)), at, 7.0);
                if self.is_taken(number) {
                    sheet.scene.circle(Ink::Ring, at, 10.0);
                }
            }
        });
        Ok(sheet.finish(1))
    }
}

impl Range {
    /// Which of the values a cell has.
    fn place(&self, cell: &Cell) -> Option<usize> {
        self.values.iter().position(|value| *value == cell.values[self.at])
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(|value| value.parse().ok().filter(|number: &f64| number.is_finite())).collect()
    }

    /// Whether equal factors, and not equal differences, are equally far from each other.
    fn is_log(&self) -> bool {
        let Some(numbers) = self.numbers() else { return false };
        let (low, high) =
            numbers.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
        low > 0.0 && high / low > 20.0
    }

    fn height(&self, cell: &Cell) -> Option<f64> {
        let number: f64 = cell.values[self.at].parse().ok()?;
        Some(if self.is_log() { number.log10() } else { number }).filter(|number| number.is_finite())
    }

    fn axis(&self) -> Axis {
        let log = self.is_log();
        let heights = self.numbers().unwrap_or_default().into_iter().map(|v| if log { v.log10() } else { v });
        let (low, high) =
            heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let pad = 0.06 * (high - low);
        Axis { log, ..Axis::new(low - pad, high + pad, self.name.as_str()) }
    }
}

/// Where the cells of a heat map are.
struct Map<'a> {
    x: &'a Range,
    y: &'a Range,
    inner: Rect,
    /// Room for the names of rows.
    names: f64,
    across: f64,
    down: f64,
}

impl<'a> Map<'a> {
    fn new(area: Rect, x: &'a Range, y: &'a Range) -> Result<Self, PictureError> {
        let wide = |value: &String| font::width(&short(value), LABEL, false);
        let names = y.values.iter().map(wide).fold(0.0, f64::max) * font::SPARE;
        let names = names.min(0.3 * area.width());
        let inner =
            Rect::new(area.left + names + 2.2 * LABEL, area.top, area.right, area.bottom - 3.0 * LABEL);
        let (across, down) = (inner.width() / x.values.len() as f64, inner.height() / y.values.len() as f64);
        if across >= 4.0 && down >= 4.0 {
            return Ok(Map { x, y, inner, names, across, down });
        }
        Err(PictureError::Unsuitable("the picture is too small for so many values".to_owned()))
    }

    fn place(&self, column: usize, row: usize) -> Rect {
        const SEAM: f64 = 0.75;
        let left = self.inner.left + column as f64 * self.across;
        let bottom = self.inner.bottom - row as f64 * self.down;
        Rect::new(left + SEAM, bottom - self.down + SEAM, left + self.across - SEAM, bottom - SEAM)
    }

    /// Values and names along both sides; of many values as many as there is room for.
    fn labels(&self, scene: &Scene, area: Rect) {
        let every = |longest: f64, room: f64| ((longest + 4.0) / room).ceil().max(1.0) as usize;
        let wide = |value: &String| font::width(&short(value), LABEL, false);
        let widest = self.x.values.iter().map(wide).fold(LABEL, f64::max);
        for column in (0..self.x.values.len()).step_by(every(widest, self.across)) {
            let at = (self.place(column, 0).middle().0, self.inner.bottom + 1.2 * LABEL);
            scene.text(Ink::Muted, at, LABEL, Anchor::Middle, short(&self.x.values[column]));
        }
        for row in (0..self.y.values.len()).step_by(every(LABEL, self.down)) {
            let at = (self.inner.left - 6.0, self.place(0, row).middle().1 + 0.36 * LABEL);
            let text = font::fitted(&short(&self.y.values[row]), LABEL, self.names);
            scene.text(Ink::Muted, at, LABEL, Anchor::End, text);
        }
        let (cx, cy) = self.inner.middle();
        let below = (cx, self.inner.bottom + 2.7 * LABEL);
        scene.text(Ink::Text, below, LABEL, Anchor::Middle, self.x.name.as_str());
        scene.push(Item::Text(Text {
            ink: Ink::Text,
            at: ((area.left + LABEL).max(EDGE), cy),
            size: LABEL,
            bold: false,
            anchor: Anchor::Middle,
            turned: -90,
            text: self.y.name.clone(),
        }));
    }
}

fn in_panel(cell: &Cell, rest: &[Range], panel: &[&str]) -> bool {
    rest.iter().zip(panel).all(|(range, value)| cell.values[range.at] == *value)
}
