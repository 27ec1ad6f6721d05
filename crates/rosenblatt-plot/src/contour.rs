//! Outlines of what is inside, by marching squares.
//!
//! Crates that do this interpolate between values at the corners of cells; a vote jumps, and has none. Here the place where an edge of a cell is
//! crossed is found by halving, whatever the function, so that lines are as fine as the picture, on a grid of a few thousand cells.

use std::collections::HashMap;

use crate::scene::{Point, Rect, Stretch};

/// Halvings: to a thousandth of a cell.
const HALVINGS: usize = 10;
/// How far, in units of the picture, points may be left out.
const TOLERANCE: f64 = 0.06;

/// Corners of cells over a rectangle and one cell beyond it on all sides, so that lines end outside of what is seen.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    origin: Point,
    step: Point,
    columns: usize,
    rows: usize,
}

/// The corner or corners an edge is between, going right or down.
type Edge = (usize, usize, bool);

impl Grid {
    /// Cells of about this size.
    pub(crate) fn over(rect: Rect, cell: f64) -> Self {
        let count = |length: f64| (length / cell).ceil().max(2.0);
        let (columns, rows) = (count(rect.width()), count(rect.height()));
        let step = (rect.width() / columns, rect.height() / rows);
        // Half a cell off, so that no line through the middle of the picture meets corners only.
        Grid {
            origin: (rect.left - 1.37 * step.0, rect.top - 1.43 * step.1),
            step,
            columns: columns as usize + 4,
            rows: rows as usize + 4,
        }
    }

    fn corner(&self, column: usize, row: usize) -> Point {
        (self.origin.0 + column as f64 * self.step.0, self.origin.1 + row as f64 * self.step.1)
    }

    /// All corners, row after row.
    pub(crate) fn corners(&self) -> Vec<Point> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.corner(column, row))).collect()
    }

    /// Rings around what is inside, given whether each corner is, and a function that tells it of any points.
    pub(crate) fn rings<E>(
        &self,
        corners: &[bool],
        mut inside: impl FnMut(&[Point]) -> Result<Vec<bool>, E>,
    ) -> Result<Vec<Stretch>, E> {
        // Outermost corners count as outside: rings close there, out of sight.
        let at = |column: usize, row: usize| {
            let edge = column == 0 || row == 0 || column + 1 == self.columns || row + 1 == self.rows;
            !edge && corners[row * self.columns + column]
        };
        let crossed = self.crossed(&at);
        let places = self.places(&crossed, &at, &mut inside)?;
        let middles = self.saddles(&at);
        let full = inside(&middles.iter().map(|&(c, r)| self.middle(c, r)).collect::<Vec<_>>())?;
        let saddles: HashMap<(usize, usize), bool> = middles.into_iter().zip(full).collect();
        let next = self.links(&at, &saddles);
        let numbers: HashMap<Edge, usize> = crossed.iter().copied().zip(0..).collect();
        Ok(trace(&crossed, &numbers, &next)
            .into_iter()
            .map(|ring| simplified(ring.into_iter().map(|edge| places[edge]).collect()))
            .filter(|points| points.len() > 2)
            .map(|points| Stretch { points, closed: true })
            .collect())
    }

    fn middle(&self, column: usize, row: usize) -> Point {
        let (x, y) = self.corner(column, row);
        (x + self.step.0 / 2.0, y + self.step.1 / 2.0)
    }

    /// Edges with one end inside.
    fn crossed(&self, at: &impl Fn(usize, usize) -> bool) -> Vec<Edge> {
        let mut edges = Vec::new();
        for row in 0..self.rows {
            for column in 0..self.columns {
                if column + 1 < self.columns && at(column, row) != at(column + 1, row) {
                    edges.push((column, row, true));
                }
                if row + 1 < self.rows && at(column, row) != at(column, row + 1) {
                    edges.push((column, row, false));
                }
            }
        }
        edges
    }

    /// Where each of these edges is crossed.
    fn places<E>(
        &self,
        edges: &[Edge],
        at: &impl Fn(usize, usize) -> bool,
        inside: &mut impl FnMut(&[Point]) -> Result<Vec<bool>, E>,
    ) -> Result<Vec<Point>, E> {
        let mut ends: Vec<(Point, Point)> = edges
            .iter()
            .map(|&(column, row, right)| {
                let other = if right { (column + 1, row) } else { (column, row + 1) };
                let (one, other) = ((column, row), other);
                let (within, without) = if at(one.0, one.1) { (one, other) } else { (other, one) };
                (self.corner(within.0, within.1), self.corner(without.0, without.1))
            })
            .collect();
        let middle = |(a, b): &(Point, Point)| (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
        for _ in 0..HALVINGS {
            let middles: Vec<Point> = ends.iter().map(middle).collect();
            for ((end, middle), within) in ends.iter_mut().zip(&middles).zip(inside(&middles)?) {
                *(if within { &mut end.0 } else { &mut end.1 }) = *middle;
            }
        }
        Ok(ends.iter().map(middle).collect())
    }

    /// Cells of which only opposite corners are inside.
    fn saddles(&self, at: &impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
        let cells = (0..self.rows - 1).flat_map(|row| (0..self.columns - 1).map(move |column| (column, row)));
        cells
            .filter(|&(c, r)| {
                let [a, b, d, e] = [at(c, r), at(c + 1, r), at(c + 1, r + 1), at(c, r + 1)];
                a == d && b == e && a != b
            })
            .collect()
    }

    /// Which edges each cell connects.
    fn links(
        &self,
        at: &impl Fn(usize, usize) -> bool,
        saddles: &HashMap<(usize, usize), bool>,
    ) -> HashMap<Edge, Vec<Edge>> {
        let mut links: HashMap<Edge, Vec<Edge>> = HashMap::new();
        let mut link = |a: Edge, b: Edge| {
            links.entry(a).or_default().push(b);
            links.entry(b).or_default().push(a);
        };
        for r in 0..self.rows - 1 {
            for c in 0..self.columns - 1 {
                let (top, right, bottom, left) =
                    ((c, r, true), (c + 1, r, false), (c, r + 1, true), (c, r, false));
                let [a, b, d, e] = [at(c, r), at(c + 1, r), at(c + 1, r + 1), at(c, r + 1)];
                if let Some(&full) = saddles.get(&(c, r)) {
                    // Corners that are alike are joined through the middle, or cut off each for itself.
                    if full == a {
                        link(top, right);
                        link(bottom, left);
                    } else {
                        link(top, left);
                        link(bottom, right);
                    }
                    continue;
                }
                let cut = [(top, a != b), (right, b != d), (bottom, d != e), (left, e != a)];
                let cut: Vec<Edge> = cut.into_iter().filter(|(_, cut)| *cut).map(|(edge, _)| edge).collect();
                if let [one, other] = cut[..] {
                    link(one, other);
                }
            }
        }
        links
    }
}

/// Edge after edge until the first comes again.
fn trace(
    crossed: &[Edge],
    numbers: &HashMap<Edge, usize>,
    links: &HashMap<Edge, Vec<Edge>>,
) -> Vec<Vec<usize>> {
    let mut seen = vec![false; crossed.len()];
    let mut rings = Vec::new();
    for start in 0..crossed.len() {
        let (mut ring, mut now) = (Vec::new(), start);
        while !seen[now] {
            seen[now] = true;
            ring.push(now);
            let neighbours = links.get(&crossed[now]).into_iter().flatten();
            if let Some(&next) = neighbours.filter_map(|edge| numbers.get(edge)).find(|&&edge| !seen[edge]) {
                now = next;
            }
        }
        if !ring.is_empty() {
            rings.push(ring);
        }
    }
    rings
}

/// A ring without points that lie on lines between others (Ramer 1972; Douglas and Peucker 1973).
fn simplified(ring: Vec<Point>) -> Vec<Point> {
    let Some(first) = ring.first() else { return ring };
    let square = |p: &Point| (p.0 - first.0).powi(2) + (p.1 - first.1).powi(2);
    let far = (0..ring.len()).max_by(|&a, &b| square(&ring[a]).total_cmp(&square(&ring[b]))).unwrap_or(0);
    let mut kept = vec![false; ring.len() + 1];
    let closed: Vec<Point> = ring.iter().chain([first]).copied().collect();
    let mut open = vec![(0, far), (far, ring.len())];
    while let Some((from, to)) = open.pop() {
        (kept[from], kept[to]) = (true, true);
        let worst = (from + 1..to).map(|at| (at, off(closed[at], closed[from], closed[to])));
        if let Some((at, distance)) = worst.max_by(|a, b| a.1.total_cmp(&b.1))
            && distance > TOLERANCE
        {
            open.extend([(from, at), (at, to)]);
        }
    }
    ring.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| point).collect()
}

/// How far a point is from a line between two others.
pub(crate) fn off(p: Point, a: Point, b: Point) -> f64 {
    let (x, y) = nearest(p, a, b);
    (p.0 - x).hypot(p.1 - y)
}

/// The point of a line between two others that is nearest.
pub(crate) fn nearest(p: Point, a: Point, b: Point) -> Point {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { ((p.0 - a.0) * dx + (p.1 - a.1) * dy) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (a.0 + along * dx, a.1 + along * dy)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn rings(inside: impl Fn(Point) -> bool) -> Vec<Stretch> {
        let grid = Grid::over(Rect::new(0.0, 0.0, 100.0, 80.0), 4.0);
        let corners: Vec<bool> = grid.corners().into_iter().map(&inside).collect();
        let all = |points: &[Point]| Ok::<_, Infallible>(points.iter().map(|&p| inside(p)).collect());
        grid.rings(&corners, all).unwrap_or_else(|never| match never {})
    }

    fn area(ring: &[Point]) -> f64 {
        let next = ring.iter().skip(1).chain(ring.first());
        ring.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>().abs() / 2.0
    }

    #[test]
    fn a_circle_is_found_as_exactly_as_it_is_drawn() {
        let rings = rings(|(x, y)| (x - 50.0).hypot(y - 40.0) < 20.0);
        assert_eq!(rings.len(), 1);
        for (x, y) in &rings[0].points {
            assert!(((x - 50.0).hypot(y - 40.0) - 20.0).abs() < 0.01);
        }
        // What is left out lies within the tolerance of the outline.
        let (whole, outline) = (std::f64::consts::PI * 400.0, std::f64::consts::TAU * 20.0);
        let left_out = whole - area(&rings[0].points);
        assert!((-0.01 * outline..TOLERANCE * outline).contains(&left_out), "{left_out}");
    }

    #[test]
    fn a_hole_is_a_ring_of_its_own_and_a_line_is_straight() {
        let ring = |(x, y): Point| (10.0..25.0).contains(&(x - 50.0).hypot(y - 40.0));
        assert_eq!(rings(ring).len(), 2);
        let half = rings(|(x, y)| y > 0.7 * x + 3.0);
        assert_eq!(half.len(), 1);
        let within = |p: &&Point| (0.0..100.0).contains(&p.0) && (0.0..80.0).contains(&p.1);
        // Its ends are beyond the edge, and nothing is between them.
        assert!(half[0].points.iter().filter(within).count() <= 1, "{half:?}");
    }

    #[test]
    fn opposite_corners_are_joined_as_the_function_says() {
        let joined = |(x, y): Point| (x - 50.0) * (y - 40.0) > -1.0;
        let apart = |(x, y): Point| (x - 50.0) * (y - 40.0) > 1.0;
        assert_eq!((rings(joined).len(), rings(apart).len()), (1, 2));
        assert!(rings(|_| false).is_empty());
        assert_eq!(rings(|_| true).len(), 1);
    }

    #[test]
    fn the_nearest_point_of_a_line_is_on_it() {
        assert_eq!(nearest((0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)), (0.0, 0.0));
        assert_eq!(nearest((5.0, 1.0), (-1.0, 0.0), (1.0, 0.0)), (1.0, 0.0));
        assert_eq!(off((0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)), 1.0);
    }
}
