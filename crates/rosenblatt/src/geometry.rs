//! Distances, margin and radius.

use rayon::prelude::*;

use crate::data::{Dataset, Matrix, Rows};
use crate::model::{Body, Decision, Planes};
use crate::with_rows;

/// Where the rows lie about a hyperplane, or about those between classes of which the highest score wins.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Geometry, Labels, Learner, Perceptron, Bias};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let fit = Perceptron { bias: Bias::None, ..Perceptron::default() }.fit(&data, &mut ())?;
/// let geometry = Geometry::of(&fit.model.body, fit.model.decision, &data).expect("one plane");
/// assert!(geometry.margin.unwrap() > 0.0);
/// assert_eq!(geometry.radius, 13f64.sqrt());
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// ‖w‖, without the bias; with a plane a class √Σ‖w_c‖².
    pub norm: f64,
    /// The smallest y·(w·x+b)/‖w‖; `None` when w is 0. With a plane a class the smallest (g_y(x) − g_c(x))/‖w_y − w_c‖ of a row of class y and another class c, the distance from the
    /// boundary between these two; `None` where there are so many classes and features that it would take longer than the fit.
    pub margin: Option<f64>,
    /// The smallest y·(w·x+b)/‖(w, b)‖, the margin of the lifted problem, for which the mistake bound is proved.
    pub lifted_margin: Option<f64>,
    /// max ‖x‖, of (x, 1) where the bias is lifted.
    pub radius: f64,
}

impl Geometry {
    /// Measures a model with one plane, or with a plane a class; others have no boundary that distances are known from.
    pub fn of(body: &Body, decision: Decision, data: &Dataset<'_>) -> Option<Self> {
        let scores = || body.scores(data.x());
        if let (Body::Linear(planes), Decision::Highest) = (body, decision) {
            let margin = Leads::of(body, decision).and_then(|mut leads| {
                leads.add(&scores(), data.y());
                leads.margin(planes)
            });
            let (norm, radius) = (planes.sq_norm().sqrt(), body.radius(data.x())?);
            return Some(Geometry { norm, margin, lifted_margin: None, radius });
        }
        let (Some(lengths), Decision::Sign(_)) = (Lengths::of(body), decision) else { return None };
        let smallest = Self::smallest(data, &scores());
        Some(Self::new(lengths, smallest, body.radius(data.x())?))
    }

    /// The smallest y·g(x), from the scores of a binary model.
    pub(crate) fn smallest(data: &Dataset<'_>, scores: &[f64]) -> f64 {
        let signs = data.y().iter().map(|&class| if class == 1 { 1.0 } else { -1.0 });
        scores.iter().zip(signs).map(|(g, y)| y * g).fold(f64::INFINITY, f64::min)
    }

    /// From the smallest y·g(x) and the radius, both over all rows.
    pub(crate) fn new(lengths: Lengths, smallest: f64, radius: f64) -> Self {
        let Lengths { norm, lifted_norm } = lengths;
        let over = |length: f64| (length > 0.0).then(|| smallest / length).filter(|m| m.is_finite());
        Geometry { norm, margin: over(norm), lifted_margin: over(lifted_norm), radius }
    }

    /// (R/γ)² of the lifted problem, where the plane separates the data.
    pub fn mistake_bound(&self) -> Option<f64> {
        let gamma = self.lifted_margin.filter(|&gamma| gamma > 0.0)?;
        Some((self.radius / gamma).powi(2)).filter(|bound| bound.is_finite())
    }
}

/// The smallest lead of a row's own class over each other.
pub(crate) struct Leads {
    k: usize,
    /// g_y − g_c, at y·k + c.
    smallest: Vec<f64>,
}

impl Leads {
    /// Of linear models with a plane a class. The lengths of all differences of planes take their number times the features.
    pub(crate) fn of(body: &Body, decision: Decision) -> Option<Self> {
        const MOST: usize = 200_000_000;
        let (Body::Linear(planes), Decision::Highest) = (body, decision) else { return None };
        if planes.k() < 2 {
            return None;
        }
        let pairs = planes.k().saturating_mul(planes.k());
        (pairs.saturating_mul(planes.n_cols().max(1)) <= MOST)
            .then(|| Leads { k: planes.k(), smallest: vec![f64::INFINITY; pairs] })
    }

    /// Rows by their scores.
    pub(crate) fn add(&mut self, scores: &[f64], y: &[u32]) {
        for (scores, &y) in scores.chunks_exact(self.k).zip(y) {
            let Some(own) = scores.get(y as usize) else { continue };
            let smallest = &mut self.smallest[y as usize * self.k..][..self.k];
            smallest.iter_mut().zip(scores).for_each(|(least, g)| *least = least.min(own - g));
        }
    }

    /// The smallest distance of a row from a boundary between its class and another. Classes with equal weights have no boundary, and no row of theirs a distance from it.
    pub(crate) fn margin(&self, planes: &Planes) -> Option<f64> {
        let mut squares = vec![0.0; self.smallest.len()];
        for weights in planes.weights.chunks_exact(self.k) {
            for (squares, own) in squares.chunks_exact_mut(self.k).zip(weights) {
                squares.iter_mut().zip(weights).for_each(|(square, w)| *square += (own - w) * (own - w));
            }
        }
        let pairs = (0..self.smallest.len()).filter(|at| at / self.k != at % self.k);
        let distances =
            pairs.filter(|&at| squares[at] > 0.0).map(|at| self.smallest[at] / squares[at].sqrt());
        Some(distances.fold(f64::INFINITY, f64::min)).filter(|margin| margin.is_finite())
    }
}

/// ‖w‖, and ‖(w, b)‖ where the bias is a weight, of the one plane of a binary model; with a kernel in its space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    norm: f64,
    lifted_norm: f64,
}

impl Lengths {
    /// With ‖w‖² as it is known, where it is: a kernel's takes as many values as there are pairs of stored examples.
    pub(crate) fn known(body: &Body, square: Option<f64>) -> Option<Self> {
        match (body, square) {
            (Body::Kernel(expansion), Some(square)) => {
                expansion.dot_product()?;
                let bias = expansion.bias()?;
                Some(Lengths {
                    norm: square.max(0.0).sqrt(),
                    lifted_norm: (square + bias * bias).max(0.0).sqrt(),
                })
            }
            _ => Lengths::of(body),
        }
    }

    /// Nothing for votes, which have no single plane, and for kernels that are no dot products.
    pub(crate) fn of(body: &Body) -> Option<Self> {
        let (square, bias) = match body {
            Body::Linear(planes) => {
                (planes.sq_norm(), if planes.is_lifted() { planes.bias()[0] } else { 0.0 })
            }
            Body::Kernel(expansion) => expansion.sq_norm()?,
            Body::Voted(_) | Body::Bayes(_) | Body::Layers(_) => return None,
        };
        Some(Lengths { norm: square.max(0.0).sqrt(), lifted_norm: (square + bias * bias).max(0.0).sqrt() })
    }
}

impl Body {
    /// The longest row, in the space of the kernel where there is one; nothing where there is no such space.
    pub(crate) fn radius(&self, x: &Matrix<'_>) -> Option<f64> {
        match self {
            Body::Linear(planes) => Some(radius(x, planes.is_lifted())),
            Body::Kernel(expansion) => expansion.radius(x),
            Body::Voted(_) | Body::Bayes(_) | Body::Layers(_) => None,
        }
    }
}

/// max ‖x‖, of (x, 1) where `lifted`.
pub fn radius(x: &Matrix<'_>, lifted: bool) -> f64 {
    let lift = if lifted { 1.0 } else { 0.0 };
    let longest =
        with_rows!(x, x => (0..x.n_rows()).into_par_iter().map(|i| x.sq_norm(i)).reduce(|| 0.0, f64::max));
    (longest + lift).sqrt()
}

impl Planes {
    /// w/‖w‖ of plane `c`; `None` when w is 0.
    pub fn unit_normal(&self, c: usize) -> Option<Vec<f64>> {
        let mut normal = self.normal(c);
        let length = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
        normal.iter_mut().for_each(|w| *w /= length);
        (length > 0.0).then_some(normal)
    }

    /// (w·xᵢ + b)/‖w‖ for plane `c`; `None` when w is 0.
    pub fn signed_distance(&self, c: usize, x: &Matrix<'_>, i: usize) -> Option<f64> {
        let normal = self.normal(c);
        let length = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
        (length > 0.0).then(|| (x.dot(i, &normal) + self.bias[c]) / length)
    }
}
