//! Distances, margin and radius.

use rayon::prelude::*;

use crate::data::{Dataset, Matrix, Rows};
use crate::model::{Body, Decision, Planes};
use crate::with_rows;

/// Where the rows lie about a binary hyperplane.
///
/// ```
/// use rosenblatt::{Dataset, Dense, Geometry, Labels, Learner, Perceptron, Bias};
/// let x = Dense::new(vec![3.0, 2.0, -2.0, 2.0, -2.0, -3.0], 2)?;
/// let data = Dataset::new(x, &Labels::new(["1", "-1", "1"]))?;
/// let fit = Perceptron { bias: Bias::None, ..Perceptron::default() }.fit(&data, &mut ())?;
/// let geometry = Geometry::of(&fit.model.body, fit.model.decision, &data).expect("binary and linear");
/// assert!(geometry.margin.unwrap() > 0.0);
/// assert_eq!(geometry.radius, 13f64.sqrt());
/// # Ok::<(), rosenblatt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// ‖w‖, without the bias.
    pub norm: f64,
    /// The smallest y·(w·x+b)/‖w‖; `None` when w is 0.
    pub margin: Option<f64>,
    /// The smallest y·(w·x+b)/‖(w, b)‖, the margin of the lifted problem, for which the mistake bound is proved.
    pub lifted_margin: Option<f64>,
    /// max ‖x‖, of (x, 1) where the bias is lifted.
    pub radius: f64,
}

impl Geometry {
    /// Measures a binary linear model; other models have no single hyperplane.
    pub fn of(body: &Body, decision: Decision, data: &Dataset<'_>) -> Option<Self> {
        let (Some(lengths), Decision::Sign(_)) = (Lengths::of(body), decision) else { return None };
        let smallest = Self::smallest(data, &body.scores(data.x()));
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
            Body::Voted(_) => return None,
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
            Body::Voted(_) => None,
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
