//! A small problem, solved two variables at a time: sequential minimal optimisation.
//!
//! ```text
//! min ½Σ aᵢaⱼKᵢⱼ + Σ φᵢ(αᵢ) + (what the rest adds)          aᵢ = yᵢαᵢ moves from αᵢ = 0 to its upper bound
//! ```
//!
//! vᵢ = −∂/∂aᵢ tells how much is gained by raising aᵢ. Of those that may rise, the i with the largest vᵢ; of those that may fall, the j for which the step along both, aᵢ + t and aⱼ − t, gains most
//! by second order: Fan, Chen, Lin (2005), JMLR 6, WSS 2. Where no sum is held, either moves by itself. All sums are kept in double precision.

use super::term::Term;
use crate::simd::{Loop, widest};

/// Which sums of α the steps must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// None: there is no bias, or it is a weight like others.
    Nothing,
    /// Σ aᵢ: the bias is free.
    Sum,
    /// Σ αᵢ of each class: the bias is free, and so is the margin (ν).
    EachClass,
}

/// A curvature below this share of the largest K(x, x) is taken for it, so that steps end where a kernel is no dot product: Lin and Lin (2003).
const FLATTEST: f64 = 1e-12;

/// Variables that are looked at side by side.
const LANES: usize = 8;

/// The variables of a working set, with kernel values in single or in double precision.
pub(crate) struct Pairs<'k, T, V> {
    term: T,
    held: Held,
    /// Their number, and that rounded up to whole lanes.
    len: usize,
    stride: usize,
    /// Kernel values, row after row.
    kernel: &'k [V],
    /// The least curvature.
    flattest: f64,
    /// K(x, x), and what φ adds to the curvature there.
    own: Vec<f64>,
    bend: Vec<f64>,
    y: Vec<f64>,
    cost: Vec<f64>,
    upper: Vec<f64>,
    alpha: Vec<f64>,
    v: Vec<f64>,
    /// 0 where a may rise, else −∞, for each class by itself where sums of classes are held.
    rises: [Vec<f64>; 2],
    /// 0 where it may fall, else +∞.
    falls: [Vec<f64>; 2],
}

/// A variable as it comes into a working set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) y: f64,
    pub(crate) cost: f64,
    /// The largest α.
    pub(crate) upper: f64,
    pub(crate) alpha: f64,
    /// Its score without the bias.
    pub(crate) score: f64,
}

impl Variable {
    /// −∂/∂a
    #[inline]
    pub(crate) fn v<T: Term>(&self, term: T) -> f64 {
        -self.score - self.y * term.slope_at(self.cost, self.alpha)
    }

    /// Whether a may rise, and whether it may fall.
    #[inline]
    pub(crate) fn ways(&self) -> (bool, bool) {
        let (less, more) = (self.alpha > 0.0, self.alpha < self.upper);
        if self.y > 0.0 { (more, less) } else { (less, more) }
    }
}

/// Numbers from one kernel row of a working set to the next.
pub(crate) fn stride(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

impl<'k, T: Term, V: Copy + Into<f64>> Pairs<'k, T, V> {
    /// Values of the kernel, row after row, [`stride`] apart, with zeros between.
    pub(crate) fn new(
        term: T,
        held: Held,
        variables: impl ExactSizeIterator<Item = Variable>,
        values: &'k [V],
    ) -> Self {
        let len = variables.len();
        let stride = stride(len);
        let zeros = || vec![0.0; stride];
        let mut own: Vec<f64> = (0..len).map(|i| values[i * stride + i].into()).collect();
        let largest = own.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        own.resize(stride, 0.0);
        let mut pairs = Pairs {
            term,
            held,
            len,
            stride,
            own,
            kernel: values,
            flattest: if largest > 0.0 { FLATTEST * largest } else { FLATTEST },
            bend: zeros(),
            y: zeros(),
            cost: vec![1.0; stride],
            upper: zeros(),
            alpha: zeros(),
            v: zeros(),
            rises: [vec![f64::NEG_INFINITY; stride], vec![f64::NEG_INFINITY; stride]],
            falls: [vec![f64::INFINITY; stride], vec![f64::INFINITY; stride]],
        };
        for (i, variable) in variables.enumerate() {
            pairs.v[i] = variable.v(term);
            (pairs.y[i], pairs.cost[i]) = (variable.y, variable.cost);
            (pairs.upper[i], pairs.alpha[i]) = (variable.upper, variable.alpha);
            pairs.bound(i);
        }
        pairs
    }

    /// Steps until no pair is further apart than `tolerance`, or so many are done; the α then.
    pub(crate) fn solve(mut self, tolerance: f64, steps: usize) -> Vec<f64> {
        for _ in 0..steps {
            let Some((i, j)) = self.select(tolerance) else { break };
            if !self.step(i, j) {
                break;
            }
        }
        self.alpha.truncate(self.len);
        self.alpha
    }

    /// Which class a variable's sum is held with.
    fn group(&self, i: usize) -> usize {
        usize::from(self.held == Held::EachClass && self.y[i] > 0.0)
    }

    /// Where α is tells which way a may go.
    fn bound(&mut self, i: usize) {
        let (y, cost, upper, alpha) = (self.y[i], self.cost[i], self.upper[i], self.alpha[i]);
        let (rises, falls) = Variable { y, cost, upper, alpha, score: 0.0 }.ways();
        self.bend[i] = self.own[i] + self.term.curvature_at(cost, alpha);
        let group = self.group(i);
        self.rises[group][i] = if rises { 0.0 } else { f64::NEG_INFINITY };
        self.falls[group][i] = if falls { 0.0 } else { f64::INFINITY };
    }

    /// The next pair; one of both is nobody where no sum is held.
    fn select(&self, tolerance: f64) -> Option<(Option<usize>, Option<usize>)> {
        match self.held {
            Held::Nothing => self.select_any(tolerance),
            Held::Sum => self.select_two(0, tolerance).map(|(i, j, _)| (Some(i), Some(j))),
            Held::EachClass => {
                let both = [0, 1].into_iter().filter_map(|group| self.select_two(group, tolerance));
                both.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(i, j, _)| (Some(i), Some(j)))
            }
        }
    }

    /// One by itself, or a pair where that gains more: along equal rows of both classes, which hold each other, one at a time would creep (Steinwart, Hush, Scovel 2011, JMLR 12).
    fn select_any(&self, tolerance: f64) -> Option<(Option<usize>, Option<usize>)> {
        let one = self.select_one(tolerance);
        let two = self.select_two(0, 2.0 * tolerance);
        match (one, two) {
            (Some((i, up, gain)), two) if two.is_none_or(|two| gain >= two.2) => {
                Some(if up { (Some(i), None) } else { (None, Some(i)) })
            }
            (_, two) => two.map(|(i, j, _)| (Some(i), Some(j))),
        }
    }

    /// Which one, whether it rises, and how much it gains.
    fn select_one(&self, tolerance: f64) -> Option<(usize, bool, f64)> {
        let gain = |i: usize| {
            let up = (self.v[i] + self.rises[0][i]).max(0.0);
            let down = (-self.v[i] - self.falls[0][i]).max(0.0);
            let far = up.max(down);
            (if far > tolerance { far * far / self.bend[i].max(self.flattest) } else { 0.0 }, up > down)
        };
        let best = (0..self.len).max_by(|&i, &j| gain(i).0.total_cmp(&gain(j).0))?;
        let (gained, up) = gain(best);
        (gained > 0.0).then_some((best, up, gained))
    }

    /// i, j and how much they gain.
    fn select_two(&self, group: usize, tolerance: f64) -> Option<(usize, usize, f64)> {
        let (highest, i) = widest(Highest { v: &self.v, rises: &self.rises[group] });
        let row = &self.kernel.get(i * self.stride..)?[..self.stride];
        let (v, falls, bends) = (&self.v, &self.falls[group], &self.bend);
        let (bend, flattest) = (self.bend[i], self.flattest);
        let (gain, j) = widest(Partner { v, falls, bends, row, highest, bend, tolerance, flattest });
        (gain > 0.0).then_some((i, j, gain))
    }

    /// Moves aᵢ up and aⱼ down as far as it pays; whether anything moved.
    fn step(&mut self, i: Option<usize>, j: Option<usize>) -> bool {
        let v = |one: Option<usize>| one.map_or(0.0, |one| self.v[one]);
        let apart = v(i) - v(j);
        let room = i
            .map_or(f64::INFINITY, |i| self.room(i, true))
            .min(j.map_or(f64::INFINITY, |j| self.room(j, false)));
        let t = match T::QUADRATIC {
            true => (apart / self.curvature(i, j).max(self.flattest)).min(room),
            false => self.line(i, j, apart, room),
        };
        if !(t > 0.0 && t.is_finite()) {
            return false;
        }
        let before = (i.map(|i| self.slope(i)), j.map(|j| self.slope(j)));
        self.shift(i, t, t >= room);
        self.shift(j, -t, t >= room);
        let rows =
            [i, j].map(|one| one.map_or(&[][..], |one| &self.kernel[one * self.stride..][..self.stride]));
        widest(Moved { v: &mut self.v, up: rows[0], down: rows[1], t });
        for (one, before) in [(i, before.0), (j, before.1)] {
            if let (Some(one), Some(before)) = (one, before) {
                self.v[one] -= self.y[one] * (self.slope(one) - before);
                self.bound(one);
            }
        }
        true
    }

    fn slope(&self, i: usize) -> f64 {
        self.term.slope_at(self.cost[i], self.alpha[i])
    }

    /// Along the step.
    fn curvature(&self, i: Option<usize>, j: Option<usize>) -> f64 {
        let bend = |one: Option<usize>| one.map_or(0.0, |one| self.bend[one]);
        let both = i.zip(j).map_or(0.0, |(i, j)| self.kernel[i * self.stride + j].into());
        bend(i) + bend(j) - 2.0 * both
    }

    /// How far a may go.
    fn room(&self, i: usize, up: bool) -> f64 {
        match up == (self.y[i] > 0.0) {
            true => self.upper[i] - self.alpha[i],
            false => self.alpha[i],
        }
    }

    /// Where the slope along the step passes 0: Newton's method between two bounds that close in.
    fn line(&self, i: Option<usize>, j: Option<usize>, apart: f64, room: f64) -> f64 {
        const ROUNDS: usize = 60;
        let bend = |one: Option<usize>| one.map_or(0.0, |one| self.bend[one] - self.own[one]);
        let kernel = self.curvature(i, j) - bend(i) - bend(j);
        let moved = |one: Option<usize>, a: f64| {
            one.map_or((0.0, 0.0), |one| {
                let alpha = self.alpha[one] + self.y[one] * a;
                let (cost, y) = (self.cost[one], self.y[one]);
                let change = self.term.slope_at(cost, alpha) - self.slope(one);
                (y * change, self.term.curvature_at(cost, alpha))
            })
        };
        let (mut low, mut high) = (0.0, room);
        let mut t = apart / self.curvature(i, j).max(self.flattest);
        for _ in 0..ROUNDS {
            if !(t > low && t < high) {
                t = 0.5 * (low + high);
            }
            let ((up, bend_i), (down, bend_j)) = (moved(i, t), moved(j, -t));
            let left = apart - kernel * t - up + down;
            *(if left > 0.0 { &mut low } else { &mut high }) = t;
            let next = t + left / (kernel + bend_i + bend_j).max(self.flattest);
            if (next - t).abs() <= 1e-10 * t || high - low <= 1e-14 * high {
                break;
            }
            t = next;
        }
        t.clamp(low, high)
    }

    /// Adds to a; a variable that has used up its room is right on its bound.
    fn shift(&mut self, one: Option<usize>, t: f64, to_bound: bool) {
        let Some(i) = one else { return };
        let upper = self.upper[i];
        let room = self.room(i, t > 0.0);
        let rising = (t > 0.0) == (self.y[i] > 0.0);
        self.alpha[i] = match to_bound && t.abs() >= room {
            true if rising => upper,
            true => 0.0,
            false => (self.alpha[i] + self.y[i] * t).clamp(0.0, upper),
        };
    }
}

/// The largest v of those that may rise, and which it is.
struct Highest<'a> {
    v: &'a [f64],
    rises: &'a [f64],
}

impl Loop for Highest<'_> {
    type Output = (f64, usize);

    #[inline(always)]
    fn run(self) -> (f64, usize) {
        let mut best = [f64::NEG_INFINITY; LANES];
        let mut place = [0u64; LANES];
        let (v, rises) = (self.v.as_chunks::<LANES>().0, self.rises.as_chunks::<LANES>().0);
        for (at, (v, rises)) in (0u64..).zip(v.iter().zip(rises)) {
            for l in 0..LANES {
                let value = v[l] + rises[l];
                let better = value > best[l];
                best[l] = if better { value } else { best[l] };
                place[l] = if better { at } else { place[l] };
            }
        }
        first_best(best, place)
    }
}

/// The one whose fall, with the rise of i, gains most by second order; 0 where none does.
struct Partner<'a, V> {
    v: &'a [f64],
    falls: &'a [f64],
    bends: &'a [f64],
    row: &'a [V],
    highest: f64,
    bend: f64,
    tolerance: f64,
    flattest: f64,
}

impl<V: Copy + Into<f64>> Loop for Partner<'_, V> {
    type Output = (f64, usize);

    #[inline(always)]
    fn run(self) -> (f64, usize) {
        let mut best = [0.0f32; LANES];
        let mut place = [0u32; LANES];
        let (v, falls) = (self.v.as_chunks::<LANES>().0, self.falls.as_chunks::<LANES>().0);
        let (bends, row) = (self.bends.as_chunks::<LANES>().0, self.row.as_chunks::<LANES>().0);
        for (at, (((v, falls), bends), row)) in (0u32..).zip(v.iter().zip(falls).zip(bends).zip(row)) {
            for l in 0..LANES {
                let apart = self.highest - (v[l] + falls[l]);
                let bend = (self.bend + bends[l] - 2.0 * row[l].into()).max(self.flattest);
                // Which of two is better need not be known to the last digit.
                let (apart, bend) = (if apart > self.tolerance { apart as f32 } else { 0.0 }, bend as f32);
                let gain = apart * apart / bend;
                let better = gain > best[l];
                best[l] = if better { gain } else { best[l] };
                place[l] = if better { at } else { place[l] };
            }
        }
        first_best(best.map(f64::from), place.map(u64::from))
    }
}

/// Of the best of each lane the best, and of equal ones the first.
#[inline(always)]
fn first_best(best: [f64; LANES], place: [u64; LANES]) -> (f64, usize) {
    let at = |l: usize| place[l] as usize * LANES + l;
    let mut winner = 0;
    for l in 1..LANES {
        if best[l] > best[winner] || (best[l] == best[winner] && at(l) < at(winner)) {
            winner = l;
        }
    }
    (best[winner], at(winner))
}

/// What a step does to all v.
struct Moved<'a, V> {
    v: &'a mut [f64],
    up: &'a [V],
    down: &'a [V],
    t: f64,
}

impl<V: Copy + Into<f64>> Loop for Moved<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Moved { v, up, down, t } = self;
        match (up.is_empty(), down.is_empty()) {
            (false, false) => {
                for ((v, &up), &down) in v.iter_mut().zip(up).zip(down) {
                    *v -= t * (up.into() - down.into());
                }
            }
            (false, true) => v.iter_mut().zip(up).for_each(|(v, &up)| *v -= t * up.into()),
            _ => v.iter_mut().zip(down).for_each(|(v, &down)| *v += t * down.into()),
        }
    }
}
