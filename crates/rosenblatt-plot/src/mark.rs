//! Marks of classes: each has a shape of its own, so that no colour needs to be seen.

use std::f64::consts::{PI, TAU};

use crate::ink::Ink;
use crate::scene::{Point, Scene};

/// The outline of a class's mark, all of about the same area.
pub(crate) fn outline(class: u8, (x, y): Point, radius: f64) -> Vec<Point> {
    let at = |angle: f64, length: f64| (x + radius * length * angle.sin(), y - radius * length * angle.cos());
    let regular = |corners: usize, turn: f64, length: f64| -> Vec<Point> {
        (0..corners).map(|k| at(turn + TAU * k as f64 / corners as f64, length)).collect()
    };
    match class % 8 {
        0 => regular(20, 0.0, 1.0),
        1 => regular(3, 0.0, 1.35),
        2 => regular(4, PI / 4.0, 1.28),
        3 => regular(4, 0.0, 1.3),
        4 => regular(3, PI, 1.35),
        5 => plus((x, y), radius),
        6 => (0..10).map(|k| at(TAU * f64::from(k) / 10.0, if k % 2 == 0 { 1.45 } else { 0.65 })).collect(),
        _ => regular(6, 0.0, 1.1),
    }
}

fn plus((x, y): Point, radius: f64) -> Vec<Point> {
    let (long, short) = (1.2 * radius, 0.45 * radius);
    let quarter = [(short, -long), (short, -short), (long, -short)];
    let turned = |k: usize, (a, b): (f64, f64)| match k {
        0 => (x + a, y + b),
        1 => (x - b, y + a),
        2 => (x - a, y - b),
        _ => (x + b, y - a),
    };
    (0..4).flat_map(|k| quarter.map(|corner| turned(k, corner))).collect()
}

/// ×, with light around it.
pub(crate) fn cross(scene: &Scene, (x, y): Point, radius: f64) {
    use crate::scene::Stretch;
    let stroke = |sign: f64| Stretch {
        points: vec![(x - radius, y - sign * radius), (x + radius, y + sign * radius)],
        closed: false,
    };
    for ink in [Ink::Halo, Ink::Wrong] {
        scene.paths(ink, vec![stroke(1.0), stroke(-1.0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_about_as_large_as_each_other_and_in_their_places() {
        for class in 0..8 {
            let points = outline(class, (10.0, 20.0), 5.0);
            let next = points.iter().skip(1).chain(points.first());
            let area = points.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>().abs() / 2.0;
            assert!((45.0..100.0).contains(&area), "{class}: {area}");
            let n = points.len() as f64;
            let centre = points.iter().fold((0.0, 0.0), |c, p| (c.0 + p.0 / n, c.1 + p.1 / n));
            assert!((centre.0 - 10.0).abs() < 1e-9 && (centre.1 - 20.0).abs() < 1e-9, "{class}");
        }
    }
}
