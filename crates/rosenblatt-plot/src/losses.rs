//! The losses of a margin in one picture.

use rosenblatt::loss::{Hinge, Logistic, MarginLoss, PerceptronLoss, SquaredHinge};

use crate::ink::Ink;
use crate::mark;
use crate::picture::{Picture, Size};
use crate::scene::{Group, Point};
use crate::sheet::{Axis, Sample, Sheet};

/// Name, value, and where its mark is.
type Loss = (&'static str, fn(f64) -> f64, f64);

const LOSSES: [Loss; 6] = [
    ("0/1", |m| if m <= 0.0 { 1.0 } else { 0.0 }, -2.2),
    ("perceptron", |m| PerceptronLoss.value(m), -1.8),
    ("hinge", |m| Hinge.value(m), -1.4),
    ("squared hinge", |m| SquaredHinge.value(m), -0.6),
    ("squared", |m| (1.0 - m).powi(2), 2.6),
    ("logistic", |m| Logistic.value(m), -2.5),
];

const FROM: f64 = -3.0;
const TO: f64 = 3.0;
const HIGHEST: f64 = 4.0;

/// 0/1, perceptron, hinge, squared hinge, squared and logistic loss of the margin m = y·g(x).
///
/// ```
/// use rosenblatt_plot::{Size, Theme, losses};
/// assert!(losses(Size::default()).svg(Theme::Light).contains("margin"));
/// ```
pub fn losses(size: Size) -> Picture {
    let caption = "what a row costs, by its margin m = y·g(x); below 0 it is predicted wrongly";
    let mut sheet = Sheet::new(size, "losses", caption);
    let legend = (0..).zip(&LOSSES).map(|(n, (name, ..))| (Sample::Curve(n), (*name).to_owned()));
    sheet.legend(&legend.collect::<Vec<_>>());
    let (x, y) = (Axis::new(FROM, TO, "margin m"), Axis::new(0.0, HIGHEST, "loss"));
    // A page with no room for axes shows its heading.
    let Ok(frame) = sheet.chart(sheet.rest(), &x, &y, true) else { return sheet.finish(1) };
    let scene = sheet.scene.clone();
    // A line along the edge is seen as wide as others.
    let mut clip = frame.rect;
    (clip.top, clip.bottom) = (clip.top - 2.0, clip.bottom + 2.0);
    scene.group(Group { name: "losses", clip: Some(clip), frame: None }, || {
        // Where two are the same, the dashes of one lie on the other.
        let mut losses: Vec<(u8, &Loss)> = (0..).zip(&LOSSES).collect();
        losses.sort_by_key(|(n, _)| {
            Ink::Line(*n).look().stroke.is_some_and(|stroke| !stroke.dashes.is_empty())
        });
        for (n, (_, value, _)) in losses {
            scene.line(Ink::Line(n), frame.all(&curve(*value)));
        }
    });
    scene.named("marks", || {
        for (n, (_, value, at)) in (0..).zip(&LOSSES) {
            scene.polygon(Ink::Dot(n), mark::outline(n, frame.at(*at, value(*at)), 5.5));
        }
    });
    sheet.finish(1)
}

/// As far as it is seen; a jump is upright.
fn curve(value: fn(f64) -> f64) -> Vec<Point> {
    const STEPS: i32 = 240;
    let step = (TO - FROM) / f64::from(STEPS);
    let mut points: Vec<Point> = Vec::new();
    for k in 0..=STEPS {
        let m = FROM + f64::from(k) * step;
        let point = (m, value(m));
        if let Some(&(before, last)) = points.last()
            && (last - point.1).abs() > 20.0 * step
        {
            points.push((before, point.1));
        }
        points.push(point);
    }
    points.retain(|(_, loss)| *loss < 1.2 * HIGHEST);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_what_they_are_called() {
        let at = |m: f64| LOSSES.map(|(_, value, _)| value(m));
        assert_eq!(at(0.0), [1.0, 0.0, 1.0, 1.0, 1.0, 2f64.ln()]);
        assert_eq!(at(-1.0)[..5], [1.0, 1.0, 2.0, 4.0, 4.0]);
        assert_eq!(at(2.0)[..5], [0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn the_jump_is_where_margins_become_positive() {
        let jump = curve(LOSSES[0].1).windows(2).find(|pair| pair[0].1 != pair[1].1).map(|pair| pair[0].0);
        assert!(jump.is_some_and(|at| at.abs() < 0.03), "{jump:?}");
    }
}
