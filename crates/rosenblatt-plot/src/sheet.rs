//! A page in the making: heading, legend, axes.

use std::convert::Infallible;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::{Color, IntoFont, TextStyle};

use crate::font;
use crate::ink::Ink;
use crate::mark;
use crate::picture::{Picture, PictureError, Size};
use crate::recorder::{FINE, Recorder, coarse};
use crate::scene::{Anchor, Point, Rect, Scene};

pub(crate) const TITLE: f64 = 18.0;
pub(crate) const BODY: f64 = 13.0;
pub(crate) const LABEL: f64 = 13.0;
pub(crate) const EDGE: f64 = 16.0;

/// What stands for an entry of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sample {
    Mark(u8),
    Line(Ink),
    Curve(u8),
    Ring,
    Current,
    Wrong,
    Bar(Ink),
}

/// One direction of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) title: String,
    /// At most so many numbers along it; 0 for none.
    pub(crate) ticks: usize,
    pub(crate) percent: bool,
    /// Whether numbers are powers of ten.
    pub(crate) log: bool,
}

impl Axis {
    pub(crate) fn new(from: f64, to: f64, title: impl Into<String>) -> Self {
        Axis { from, to, title: title.into(), ticks: 7, percent: false, log: false }
    }

    fn label(&self, value: f64) -> String {
        let value = if value.abs() < 1e-9 * (self.to - self.from).abs() { 0.0 } else { value };
        match (self.percent, self.log) {
            (true, _) => format!("{}%", tick(100.0 * value)),
            (false, true) => tick(format!("{:.1e}", 10f64.powf(value)).parse().unwrap_or_default()),
            (false, false) => tick(value),
        }
    }
}

/// A number as it stands at an axis.
pub(crate) fn tick(value: f64) -> String {
    let size = value.abs();
    let text = if size != 0.0 && !(1e-4..1e6).contains(&size) {
        format!("{value:.2e}").replace(".00e", "e").replace("0e", "e")
    } else {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    text.replace('-', "−")
}

/// Where numbers are in a chart.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) rect: Rect,
    x: (f64, f64),
    y: (f64, f64),
    spec: Flat,
}

impl Frame {
    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        coarse(self.spec.translate(&(x, y)))
    }

    /// The numbers at a point of the picture, which may be outside of the chart.
    pub(crate) fn of(&self, (x, y): Point) -> Point {
        let Rect { left, top, .. } = self.rect;
        let (right, down) = ((x - left) / self.rect.width(), (y - top) / self.rect.height());
        (self.x.0 + right * (self.x.1 - self.x.0), self.y.1 - down * (self.y.1 - self.y.0))
    }

    pub(crate) fn all(&self, points: &[Point]) -> Vec<Point> {
        points.iter().map(|&(x, y)| self.at(x, y)).collect()
    }
}

pub(crate) struct Sheet {
    pub(crate) scene: Scene,
    pub(crate) size: Size,
    /// What is above is taken.
    pub(crate) top: f64,
    title: String,
    caption: String,
}

fn failed(error: DrawingAreaErrorKind<Infallible>) -> PictureError {
    PictureError::Unsuitable(format!("the axes cannot be drawn: {error}"))
}

impl Sheet {
    /// With a heading, and what there is to know under it.
    pub(crate) fn new(size: Size, title: &str, caption: &str) -> Self {
        let scene = Scene::default();
        scene.rect(Ink::Paper, Rect::new(0.0, 0.0, size.width, size.height));
        let mut top = EDGE;
        let room = size.width - 2.0 * EDGE;
        scene.named("heading", || {
            if !title.is_empty() {
                let shown = font::fitted(title, TITLE * 1.04, room);
                scene.bold(Ink::Text, (EDGE, top + 0.78 * TITLE), TITLE, Anchor::Start, shown);
                top += 1.4 * TITLE;
            }
            for line in caption.lines().flat_map(|line| font::wrapped(line, BODY, room)) {
                scene.text(Ink::Muted, (EDGE, top + 0.78 * BODY), BODY, Anchor::Start, line);
                top += 1.4 * BODY;
            }
        });
        Sheet { scene, size, top, title: title.to_owned(), caption: caption.to_owned() }
    }

    pub(crate) fn legend(&mut self, entries: &[(Sample, String)]) {
        const SAMPLE: f64 = 26.0;
        const GAP: f64 = 11.0;
        if entries.is_empty() {
            return;
        }
        let (scene, mut x, mut y) = (self.scene.clone(), EDGE, self.top + 0.6 * LABEL);
        scene.named("legend", || {
            for (sample, text) in entries {
                let text = font::fitted(text, LABEL, 0.4 * self.size.width);
                let long = SAMPLE + font::SPARE * font::width(&text, LABEL, false);
                if x > EDGE && x + long > self.size.width - EDGE {
                    (x, y) = (EDGE, y + 1.6 * LABEL);
                }
                self.sample(*sample, (x + 9.0, y));
                scene.text(Ink::Text, (x + SAMPLE, y + 0.36 * LABEL), LABEL, Anchor::Start, text);
                x += long + GAP;
            }
        });
        self.top = y + 1.1 * LABEL;
    }

    fn sample(&self, sample: Sample, at: Point) {
        let line = |ink| self.scene.line(ink, vec![(at.0 - 9.0, at.1), (at.0 + 13.0, at.1)]);
        match sample {
            Sample::Mark(class) => self.scene.polygon(Ink::Mark(class), mark::outline(class, at, 5.5)),
            Sample::Line(ink) => line(ink),
            Sample::Curve(number) => {
                line(Ink::Line(number));
                self.scene.polygon(Ink::Dot(number), mark::outline(number, (at.0 + 2.0, at.1), 4.5));
            }
            Sample::Ring => self.scene.circle(Ink::Ring, at, 7.0),
            Sample::Current => self.scene.circle(Ink::Current, at, 7.0),
            Sample::Wrong => mark::cross(&self.scene, at, 5.0),
            Sample::Bar(ink) => {
                self.scene.rect(ink, Rect::new(at.0 - 6.0, at.1 - 6.0, at.0 + 6.0, at.1 + 6.0));
            }
        }
    }

    /// All that is left of the page.
    pub(crate) fn rest(&self) -> Rect {
        Rect::new(EDGE, self.top + 4.0, self.size.width - EDGE, self.size.height - EDGE * 0.75)
    }

    /// Room for numbers and titles beside a chart.
    pub(crate) fn inner(area: Rect, x: &Axis, y: &Axis) -> Rect {
        let labels = |axis: &Axis| if axis.ticks > 0 { 1.0 } else { 0.0 };
        let title = |axis: &Axis| if axis.title.is_empty() { 0.0 } else { LABEL * 1.6 };
        // As wide as the longest number is likely to be.
        let widest = [y.from, y.to, f64::midpoint(y.from, y.to)]
            .map(|value| font::width(&y.label(rounded(value, y.to - y.from)), LABEL, false));
        let left = labels(y) * (widest.into_iter().fold(0.0, f64::max) + 12.0) + title(y);
        let bottom = labels(x) * LABEL * 1.6 + title(x);
        Rect::new(area.left + left, area.top, area.right, area.bottom - bottom)
    }

    /// Draws axes inside an area.
    pub(crate) fn chart(&self, area: Rect, x: &Axis, y: &Axis, grid: bool) -> Result<Frame, PictureError> {
        let inner = Self::inner(area, x, y);
        if !(inner.width() >= 20.0 && inner.height() >= 20.0) {
            return Err(PictureError::Unsuitable("the picture is too small for what is in it".to_owned()));
        }
        let recorder =
            Recorder { scene: self.scene.clone(), size: (fine(self.size.width), fine(self.size.height)) };
        let root = recorder.into_drawing_area();
        let mut spec = None;
        let mut outcome = Ok(());
        self.scene.named("axes", || {
            let chart = ChartBuilder::on(&root)
                .margin_left(fine(area.left))
                .margin_right(fine(self.size.width - area.right))
                .margin_top(fine(area.top))
                .margin_bottom(fine(self.size.height - area.bottom))
                .x_label_area_size(fine(area.bottom - inner.bottom))
                .y_label_area_size(fine(inner.left - area.left))
                .build_cartesian_2d(x.from..x.to, y.from..y.to);
            outcome = chart.and_then(|mut chart| {
                spec = Some(chart.as_coord_spec().clone());
                mesh(&mut chart, inner, (x, y), grid)
            });
        });
        outcome.map_err(failed)?;
        let spec = spec.ok_or(PictureError::Size)?;
        let (from, to) = (coarse(spec.translate(&(x.from, y.to))), coarse(spec.translate(&(x.to, y.from))));
        let rect = Rect::new(from.0, from.1, to.0, to.1);
        Ok(Frame { rect, x: (x.from, x.to), y: (y.from, y.to), spec })
    }

    pub(crate) fn finish(self, frames: usize) -> Picture {
        Picture {
            width: self.size.width,
            height: self.size.height,
            title: self.title,
            caption: self.caption,
            items: self.scene.into_items(),
            frames,
        }
    }
}

type Flat = Cartesian2d<RangedCoordf64, RangedCoordf64>;

fn fine(length: f64) -> u32 {
    (length * FINE).round().max(0.0) as u32
}

/// Lines, ticks, numbers and titles.
fn mesh(
    chart: &mut ChartContext<'_, Recorder, Flat>,
    inner: Rect,
    (x, y): (&Axis, &Axis),
    grid: bool,
) -> Result<(), DrawingAreaErrorKind<Infallible>> {
    let text = |ink: Ink| {
        let font = ("sans-serif", LABEL * FINE).into_font();
        TextStyle { color: ink.carried().to_backend_color(), ..TextStyle::from(font) }
    };
    let (of_x, of_y) = (|v: &f64| x.label(*v), |v: &f64| y.label(*v));
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(x.ticks)
        .y_labels(y.ticks)
        .max_light_lines(0)
        .bold_line_style(Ink::Grid.carried())
        .axis_style(Ink::Axis.carried())
        .label_style(text(Ink::Muted))
        .axis_desc_style(text(Ink::Text))
        .x_label_formatter(&of_x)
        .y_label_formatter(&of_y)
        .set_all_tick_mark_size(fine(if x.ticks + y.ticks > 0 { 4.0 } else { 0.0 }));
    if !x.title.is_empty() {
        mesh.x_desc(font::fitted(&x.title, LABEL, inner.width()));
    }
    if !y.title.is_empty() {
        mesh.y_desc(font::fitted(&y.title, LABEL, inner.height()));
    }
    if !grid {
        mesh.disable_mesh();
    }
    mesh.draw()
}

/// To the digits that ticks over such a range have.
fn rounded(value: f64, range: f64) -> f64 {
    let step = 10f64.powf((range.abs() / 5.0).log10().floor());
    if step.is_normal() { (value / step).round() * step } else { value }
}
