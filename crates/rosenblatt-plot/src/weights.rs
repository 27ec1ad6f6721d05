//! The largest weights, by name.

use crate::font;
use crate::ink::Ink;
use crate::picture::{Picture, PictureError, Size};
use crate::scene::{Anchor, Rect};
use crate::sheet::{Axis, BODY, EDGE, Frame, LABEL, Sample, Sheet, tick};

/// The weights of one plane that are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneWeights {
    /// What a positive score speaks for.
    pub positive: String,
    /// What a negative one does, if that is a single class.
    pub negative: Option<String>,
    /// The number of the class that positive weights have the colour of.
    pub class: usize,
    /// Names and weights, largest first.
    pub weights: Vec<(String, f64)>,
}

/// Bars of weights, a panel for each plane.
///
/// ```
/// use rosenblatt_plot::{PlaneWeights, Size, Theme, Weights};
/// let weights = vec![("free".to_owned(), 4.0), ("hello".to_owned(), -2.0)];
/// let plane = PlaneWeights { positive: "spam".into(), negative: Some("ham".into()), class: 1, weights };
/// let picture = Weights { title: "spam".into(), caption: "".into(), planes: vec![plane], width: 640.0 }.draw()?;
/// assert!(picture.svg(Theme::Auto).contains("free"));
/// # Ok::<(), rosenblatt_plot::PictureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The heading.
    pub title: String,
    /// What there is to know.
    pub caption: String,
    /// The planes.
    pub planes: Vec<PlaneWeights>,
    /// The height follows from the number of weights.
    pub width: f64,
}

const BAR: f64 = 19.0;
const GAP: f64 = 22.0;
/// Numbers and what they are.
const FOOT: f64 = 3.2 * LABEL;
/// Planes beside each other.
const MOST: usize = 3;

impl Weights {
    /// Draws them.
    pub fn draw(&self) -> Result<Picture, PictureError> {
        if self.planes.iter().all(|plane| plane.weights.is_empty()) {
            return Err(PictureError::Unsuitable("all weights are 0".to_owned()));
        }
        let columns = self.planes.len().clamp(1, MOST);
        let titled = if self.planes.len() > 1 { 1.7 * BODY } else { 0.0 };
        let height = |planes: &[PlaneWeights]| {
            let most = planes.iter().map(|plane| plane.weights.len()).max().unwrap_or_default();
            titled + most as f64 * BAR + FOOT
        };
        let heights: Vec<f64> = self.planes.chunks(columns).map(height).collect();
        let mut sheet = self.sheet(10_000.0);
        let top = sheet.rest().top;
        let all: f64 = heights.iter().sum::<f64>() + GAP * (heights.len() - 1) as f64;
        sheet = self.sheet(top + all + 0.75 * EDGE);
        let across = (self.width - 2.0 * EDGE - GAP * (columns as f64 - 1.0)) / columns as f64;
        let mut down = top;
        for (planes, height) in self.planes.chunks(columns).zip(heights) {
            for (at, plane) in planes.iter().enumerate() {
                let left = EDGE + at as f64 * (across + GAP);
                let area = Rect::new(left, down, left + across, down + height);
                self.plane(&sheet, area, plane)?;
            }
            down += height + GAP;
        }
        Ok(sheet.finish(1))
    }

    fn sheet(&self, height: f64) -> Sheet {
        let mut sheet = Sheet::new(Size { width: self.width, height }, &self.title, &self.caption);
        if let [PlaneWeights { positive, negative: Some(negative), class, .. }] = &self.planes[..] {
            sheet.legend(&[
                (Sample::Bar(Ink::Bar(*class as u8)), format!("speaks for {positive}")),
                (Sample::Bar(Ink::Bar(0)), format!("for {negative}")),
            ]);
        }
        sheet
    }

    fn plane(&self, sheet: &Sheet, area: Rect, plane: &PlaneWeights) -> Result<(), PictureError> {
        let scene = &sheet.scene;
        let mut area = area;
        if self.planes.len() > 1 {
            let title = match &plane.negative {
                Some(negative) => format!("{} against {negative}", plane.positive),
                None => plane.positive.clone(),
            };
            let title = font::fitted(&title, BODY, area.width());
            scene.bold(Ink::Text, (area.left, area.top + BODY), BODY, Anchor::Start, title);
            area.top += 1.7 * BODY;
        }
        area.bottom = area.top + plane.weights.len() as f64 * BAR + FOOT;
        if plane.weights.is_empty() {
            return Ok(());
        }
        let names = 0.42 * area.width();
        let longest =
            plane.weights.iter().map(|(name, _)| font::width(name, LABEL, false)).fold(0.0, f64::max);
        let left = area.left + (font::SPARE * longest).min(names) + 8.0;
        let (low, high) =
            plane.weights.iter().fold((0.0f64, 0.0f64), |(low, high), (_, w)| (low.min(*w), high.max(*w)));
        let pad = 0.02 * (high - low);
        let mut x = Axis::new(low - pad, high + pad, "weight");
        x.ticks = if area.width() < 250.0 { 3 } else { 6 };
        let mut y = Axis::new(0.0, plane.weights.len() as f64, "");
        y.ticks = 0;
        let frame = sheet.chart(Rect { left, ..area }, &x, &y, true)?;
        scene.named("weights", || {
            for (at, (name, w)) in plane.weights.iter().enumerate() {
                let middle = plane.weights.len() as f64 - at as f64 - 0.5;
                let row = frame.at(0.0, middle).1;
                let name = font::fitted(name, LABEL, names);
                let place = (left - 6.0, row + 0.36 * LABEL);
                scene.text(Ink::Text, place, LABEL, Anchor::End, name);
                bar(sheet, &frame, plane, row, *w);
            }
        });
        let (zero, _) = frame.at(0.0, 0.0);
        scene.line(Ink::Axis, vec![(zero, frame.rect.top), (zero, frame.rect.bottom)]);
        Ok(())
    }
}

fn bar(sheet: &Sheet, frame: &Frame, plane: &PlaneWeights, row: f64, w: f64) {
    let ink = match (w < 0.0, &plane.negative) {
        (false, _) => Ink::Bar(plane.class as u8),
        (true, Some(_)) => Ink::Bar(0),
        (true, None) => Ink::Muted,
    };
    let (zero, end) = (frame.at(0.0, 0.0).0, frame.at(w, 0.0).0);
    let (left, right) = (zero.min(end), zero.max(end));
    let points = Rect::new(left, row - 0.36 * BAR, right, row + 0.36 * BAR).corners();
    let stretches = vec![crate::scene::Stretch { points, closed: true }];
    let about = Some(tick(format!("{w:.3e}").parse().unwrap_or(w)));
    sheet.scene.push(crate::scene::Item::Path { ink, stretches, about });
}
