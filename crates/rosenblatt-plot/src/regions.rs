//! Rows on a plane, with the regions a model decides for, its boundary and its margins.

use rosenblatt::{Classes, Dataset, Decision, Fit, Model};

use crate::contour::{Grid, nearest};
use crate::ink::Ink;
use crate::mark;
use crate::picture::{Picture, PictureError, Size};
use crate::plane::{Plane, View};
use crate::points::{ON_MARGIN, Seen};
use crate::scene::{Group, Item, Point, Rect, Scene, Stretch};
use crate::sheet::{Axis, Frame, Sample, Sheet};

/// A picture of a model and rows.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Labels, Learner, Perceptron};
/// use rosenblatt_plot::{Regions, Size, Theme};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["yes", "no", "yes"]))?;
/// let fit = Perceptron::default().fit(&data, &mut ())?;
/// let picture = Regions { size: Size { width: 320.0, height: 240.0 }, ..Regions::new(&fit, &data, "worked") }.draw()?;
/// assert!(picture.svg(Theme::Light).contains("class=\"boundary\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Regions<'a> {
    /// The model and how it came to be.
    pub fit: &'a Fit,
    /// Rows as the model takes them, before scaling and map.
    pub data: &'a Dataset<'a>,
    /// What the rows are called.
    pub origin: &'a str,
    /// The plane that is looked at.
    pub view: View,
    /// How large it becomes.
    pub size: Size,
}

/// Outlines of what a model says.
#[derive(Default)]
pub(crate) struct Outlines {
    /// Where the class is at least 1, at least 2, …
    from_class: Vec<Vec<Stretch>>,
    /// Where the score is at least −1, and at least 1.
    margins: [Vec<Stretch>; 2],
}

/// Of cells, in units of the picture.
const CELL: f64 = 4.0;

impl<'a> Regions<'a> {
    /// The usual picture.
    pub fn new(fit: &'a Fit, data: &'a Dataset<'a>, origin: &'a str) -> Self {
        Regions { fit, data, origin, view: View::Usual, size: Size::default() }
    }

    /// Draws it.
    pub fn draw(&self) -> Result<Picture, PictureError> {
        let seen = Seen::of(self.fit, self.data)?;
        let plane = Plane::new(self.view, &self.fit.model, self.data)?;
        let title = format!("{} on {}", self.fit.report.algorithm, self.origin);
        let mut sheet = Sheet::new(self.size, &title, &self.caption(&seen, &plane));
        sheet.legend(&self.legend(&seen, &plane));
        let (x, y) = axes(&plane, sheet.rest());
        let frame = sheet.chart(sheet.rest(), &x, &y, false)?;
        let outlines = Outlines::of(&plane, &frame, seen.has_margins, CELL)?;
        outlines.draw(&sheet.scene, &frame, None);
        if seen.has_margins && plane.whole {
            self.slacks(&sheet.scene, &frame, &plane, &seen, &outlines);
        }
        points(&sheet.scene, &frame, &plane, &seen, &self.fit.model.classes, size_of_marks(seen.shown.len()));
        sheet.scene.rect(Ink::Axis, frame.rect);
        Ok(sheet.finish(1))
    }

    fn caption(&self, seen: &Seen, plane: &Plane) -> String {
        let rows = seen.labels.len();
        let mut parts = vec![format!("{} of {rows} rows right", rows - seen.wrong())];
        if let Some((support, name)) = &seen.support {
            let n = support.iter().filter(|is| **is).count();
            parts.push(format!("{n} {name}{}", if n == 1 { "" } else { "s" }));
        }
        if seen.shown.len() < rows {
            parts.push(format!("a sample of {} drawn", seen.shown.len()));
        }
        parts.extend(plane.note.clone());
        [self.fit.report.objective.clone(), parts.join("; ")].join("\n").trim().to_owned()
    }

    fn legend(&self, seen: &Seen, plane: &Plane) -> Vec<(Sample, String)> {
        const CLASSES: usize = 10;
        let classes = &self.fit.model.classes;
        let named = classes.iter().take(CLASSES).enumerate();
        let mut legend: Vec<(Sample, String)> =
            named.map(|(c, class)| (Sample::Mark(c as u8), class.to_string())).collect();
        if seen.wrong() > 0 {
            legend.push((Sample::Wrong, "misclassified".to_owned()));
        }
        if let Some((support, name)) = &seen.support
            && support.contains(&true)
        {
            legend.push((Sample::Ring, (*name).to_owned()));
        }
        legend.push((Sample::Line(Ink::Boundary), "boundary".to_owned()));
        if seen.has_margins {
            legend.push((Sample::Line(Ink::Margin), "margins, g = ±1".to_owned()));
            let slack = seen.margins.iter().flatten().any(|&m| m < 1.0 - ON_MARGIN);
            if slack && plane.whole {
                legend.push((Sample::Line(Ink::Slack(0)), "slack".to_owned()));
            }
        }
        legend
    }

    /// From each row that is on the wrong side of its margin to the nearest point of this.
    fn slacks(&self, scene: &Scene, frame: &Frame, plane: &Plane, seen: &Seen, outlines: &Outlines) {
        let Some(margins) = &seen.margins else { return };
        let clip = Some(frame.rect);
        scene.group(Group { name: "slacks", clip, frame: None }, || {
            for &row in seen.shown.iter().filter(|&&row| margins[row] < 1.0 - ON_MARGIN) {
                let at = frame.at(plane.places[row].0, plane.places[row].1);
                let class = seen.labels[row];
                let margin = &outlines.margins[usize::from(class == 1)];
                if let Some(end) = nearest_of(at, margin, frame.rect) {
                    scene.line(Ink::Slack(class as u8), vec![at, end]);
                }
            }
        });
    }
}

/// The nearest point of rings, as far as these are seen.
fn nearest_of(at: Point, rings: &[Stretch], rect: Rect) -> Option<Point> {
    let within =
        |p: &Point| (rect.left..=rect.right).contains(&p.0) && (rect.top..=rect.bottom).contains(&p.1);
    let lines = rings.iter().flat_map(|ring| {
        let next = ring.points.iter().skip(1).chain(ring.points.first());
        ring.points.iter().zip(next)
    });
    let ends = lines.map(|(a, b)| nearest(at, *a, *b)).filter(within);
    ends.min_by(|a, b| {
        let square = |p: &Point| (p.0 - at.0).powi(2) + (p.1 - at.1).powi(2);
        square(a).total_cmp(&square(b))
    })
}

pub(crate) fn size_of_marks(rows: usize) -> f64 {
    match rows {
        0..=60 => 6.5,
        61..=250 => 5.0,
        251..=700 => 4.0,
        _ => 3.0,
    }
}

/// Around all rows; where both axes are about as long as each other a unit is as long on one as on the other, so that right angles are.
pub(crate) fn axes(plane: &Plane, area: Rect) -> (Axis, Axis) {
    const PAD: f64 = 0.09;
    const ALIKE: f64 = 3.0;
    let range = |of: fn(&Point) -> f64| {
        let (low, high) = plane
            .places
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let pad = match high - low {
            span if span > 0.0 => PAD * span,
            _ => 0.5 * low.abs().max(1.0),
        };
        (low - pad, high + pad)
    };
    let ((x0, x1), (y0, y1)) = (range(|p| p.0), range(|p| p.1));
    let (mut x, mut y) = (Axis::new(x0, x1, &plane.titles[0]), Axis::new(y0, y1, &plane.titles[1]));
    if y.title.is_empty() {
        y.ticks = 0;
        return (x, y);
    }
    let inner = Sheet::inner(area, &x, &y);
    let (spans, room) = ((x1 - x0, y1 - y0), inner.width() / inner.height().max(1.0));
    if (1.0 / ALIKE..=ALIKE).contains(&(spans.0 / spans.1)) {
        let widen = |axis: &mut Axis, to: f64| {
            let more = (to - (axis.to - axis.from)).max(0.0) / 2.0;
            (axis.from, axis.to) = (axis.from - more, axis.to + more);
        };
        widen(&mut x, spans.1 * room);
        widen(&mut y, spans.0 / room);
    }
    (x, y)
}

impl Outlines {
    pub(crate) fn of(plane: &Plane, frame: &Frame, margins: bool, cell: f64) -> Result<Self, PictureError> {
        let grid = Grid::over(frame.rect, cell);
        let model = plane.model();
        let scores = |points: &[Point]| {
            let places: Vec<Point> = points.iter().map(|&point| frame.of(point)).collect();
            plane.scores(&places)
        };
        let at_corners = scores(&grid.corners())?;
        let labels = labels(model, &at_corners);
        let mut outlines = Outlines::default();
        let most = labels.iter().max().copied().unwrap_or_default();
        for class in 1..=most {
            let corners: Vec<bool> = labels.iter().map(|&label| label >= class).collect();
            let inside = |points: &[Point]| {
                Ok::<_, PictureError>(
                    self::labels(model, &scores(points)?).iter().map(|&l| l >= class).collect(),
                )
            };
            outlines.from_class.push(grid.rings(&corners, inside)?);
        }
        if margins && matches!(model.decision, Decision::Sign(_)) {
            for (at, level) in [-1.0, 1.0].into_iter().enumerate() {
                let corners: Vec<bool> = at_corners.iter().map(|&g| g >= level).collect();
                let inside = |points: &[Point]| {
                    Ok::<_, PictureError>(scores(points)?.iter().map(|&g| g >= level).collect())
                };
                outlines.margins[at] = grid.rings(&corners, inside)?;
            }
        }
        Ok(outlines)
    }

    /// Each class is painted over those before it, so that no gap shows where three of them meet.
    pub(crate) fn draw(&self, scene: &Scene, frame: &Frame, step: Option<usize>) {
        let clip = Some(frame.rect);
        scene.group(Group { name: "regions", clip, frame: step }, || {
            scene.rect(Ink::Tint(0), frame.rect);
            for (class, rings) in self.from_class.iter().enumerate() {
                scene.paths(Ink::Tint((class + 1) as u8), rings.clone());
            }
            for rings in &self.margins {
                scene.paths(Ink::Margin, rings.clone());
            }
            let mut drawn: Vec<&Vec<Stretch>> = Vec::new();
            for rings in &self.from_class {
                // Where no point is of a class, its outline is that of the next.
                if !drawn.contains(&rings) {
                    scene.paths(Ink::Boundary, rings.clone());
                    drawn.push(rings);
                }
            }
        });
    }
}

fn labels(model: &Model, scores: &[f64]) -> Vec<usize> {
    scores.chunks(model.body.n_scores().max(1)).map(|scores| model.decide(scores)).collect()
}

/// Rows with their marks; rings and crosses on top.
pub(crate) fn points(
    scene: &Scene,
    frame: &Frame,
    plane: &Plane,
    seen: &Seen,
    classes: &Classes,
    radius: f64,
) {
    const TOLD: usize = 400;
    let at = |row: usize| frame.at(plane.places[row].0, plane.places[row].1);
    let name = |class: u32| classes.get(class as usize).map(ToString::to_string).unwrap_or_default();
    let about = |row: usize| match seen.is_wrong(row) {
        true => {
            format!("row {}: {}, predicted {}", row + 1, name(seen.labels[row]), name(seen.predicted[row]))
        }
        false => format!("row {}: {}", row + 1, name(seen.labels[row])),
    };
    scene.named("points", || {
        // Those that are wrong lie on top, and are larger, so that their marks are seen behind the crosses.
        let right = seen.shown.iter().filter(|&&row| !seen.is_wrong(row)).map(|&row| (row, radius));
        let wrong = seen.shown.iter().filter(|&&row| seen.is_wrong(row)).map(|&row| (row, 1.25 * radius));
        for (row, radius) in right.chain(wrong) {
            let class = seen.labels[row] as u8;
            let stretches = vec![Stretch { points: mark::outline(class, at(row), radius), closed: true }];
            let about = (seen.shown.len() <= TOLD).then(|| about(row));
            scene.push(Item::Path { ink: Ink::Mark(class), stretches, about });
        }
    });
    if let Some((support, _)) = &seen.support {
        scene.named("support", || {
            for &row in seen.shown.iter().filter(|&&row| support[row]) {
                scene.circle(Ink::Ring, at(row), radius + if radius < 5.0 { 1.9 } else { 2.8 });
            }
        });
    }
    scene.named("wrong", || {
        for &row in seen.shown.iter().filter(|&&row| seen.is_wrong(row)) {
            mark::cross(scene, at(row), radius * 1.05);
        }
    });
}
