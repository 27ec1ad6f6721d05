//! The plane that is looked at: where rows are on it, and which rows its points are.

use std::borrow::Cow;

use rosenblatt::{Body, Dataset, Decision, Dense, Matrix, Model, Rows, Scale, with_rows};

use crate::pca::Principal;
use crate::picture::PictureError;
use crate::scene::Point;

/// Which plane of the space of features is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// Both features where there are two, else the principal directions.
    #[default]
    Usual,
    /// Two features by their numbers, from 0; all others at their mean.
    Features(usize, usize),
    /// The plane through the mean along which (scaled) rows differ most.
    Principal,
    /// Across the boundary of a single hyperplane, along its normal and the principal direction beside it: how far rows are from it is as it is.
    Across,
}

impl View {
    /// Whether [`Across`](View::Across) can be drawn of a model.
    ///
    /// ```
    /// use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm, Svm};
    /// use rosenblatt_plot::View;
    /// let x = Dense::new(vec![1.0, 1.0, 2.0, 2.5, -1.0, -1.0, -2.0, -0.5], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
    /// assert!(View::is_across(&LinearSvm::default().fit(&data, &mut ())?.model));
    /// assert!(!View::is_across(&Svm::default().fit(&data, &mut ())?.model));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn is_across(model: &Model) -> bool {
        normal(model).is_some()
    }
}

/// w/‖w‖ and b/‖w‖ of the one plane, in the space of scaled features.
fn normal(model: &Model) -> Option<(Vec<f64>, f64)> {
    let (Body::Linear(planes), Decision::Sign(_), None) = (&model.body, model.decision, &model.map) else {
        return None;
    };
    let normal = planes.unit_normal(0)?;
    let length = planes.sq_norm().sqrt();
    Some((normal, planes.bias()[0] / length))
}

/// A plane with the model to be asked about it.
pub(crate) struct Plane {
    model: Model,
    pub(crate) titles: [String; 2],
    /// What is not seen of the rows, in words.
    pub(crate) note: Option<String>,
    /// Whether rows are as far from the boundary as they look: nothing that matters of them is left out.
    pub(crate) whole: bool,
    /// Rows on it as they are projected.
    pub(crate) places: Vec<Point>,
    origin: Vec<f64>,
    axes: [Vec<f64>; 2],
    affine: bool,
}

/// Points that are scored at a time, so that wide rows need no room for all of them.
const VALUES: usize = 1 << 22;

impl Plane {
    pub(crate) fn new(view: View, model: &Model, data: &Dataset<'_>) -> Result<Self, PictureError> {
        let m = data.n_features();
        if let Body::Kernel(expansion) = &model.body
            && expansion.kernel().kernel() == Some(rosenblatt::Kernel::Precomputed)
        {
            let problem = "rows of a precomputed kernel have no features that could be drawn";
            return Err(PictureError::Unsuitable(problem.to_owned()));
        }
        match view {
            View::Features(x, y) if x.max(y) >= m => {
                Err(PictureError::Unsuitable(format!("there is no feature {}, only {m}", x.max(y) + 1)))
            }
            View::Features(x, y) if x == y => {
                Err(PictureError::Unsuitable("the same feature twice is a line; choose two".to_owned()))
            }
            View::Features(x, y) => Ok(Self::of_features(model, data, [x, y])),
            View::Usual if m == 2 => Ok(Self::of_features(model, data, [0, 1])),
            View::Usual if m == 1 => Ok(Self::of_one(model, data)),
            View::Usual | View::Principal => Self::of_principal(model, data),
            View::Across => Self::across(model, data),
        }
    }

    fn of_features(model: &Model, data: &Dataset<'_>, [x, y]: [usize; 2]) -> Self {
        let m = data.n_features();
        let mut origin = mean(data.x());
        let place = |i| {
            let mut at = (0.0, 0.0);
            data.x().each(i, |j, v| {
                if j == x {
                    at.0 = v;
                } else if j == y {
                    at.1 = v;
                }
            });
            at
        };
        (origin[x], origin[y]) = (0.0, 0.0);
        let others = match m - 2 {
            0 => None,
            1 => Some("the other feature at its mean".to_owned()),
            n => Some(format!("the other {n} features at their mean")),
        };
        Plane {
            model: model.clone(),
            titles: [x, y].map(|j| name(data, j)),
            note: others,
            whole: m == 2,
            places: (0..data.n_rows()).map(place).collect(),
            origin,
            axes: [unit(x, m), unit(y, m)],
            affine: is_affine(model),
        }
    }

    /// A single feature along the page; rows side by side, so that they do not hide each other.
    fn of_one(model: &Model, data: &Dataset<'_>) -> Self {
        let place = |i| {
            let mut x = 0.0;
            data.x().each(i, |_, v| x = v);
            let class = f64::from(data.y()[i]);
            (x, class + 0.6 * ((i as f64 * 0.618_033_988_75).fract() - 0.5))
        };
        Plane {
            model: model.clone(),
            titles: [name(data, 0), String::new()],
            note: Some("one feature; height tells rows of a class apart".to_owned()),
            whole: false,
            places: (0..data.n_rows()).map(place).collect(),
            origin: vec![0.0],
            axes: [vec![1.0], vec![0.0]],
            affine: is_affine(model),
        }
    }

    /// The first coordinate of a row is its signed distance from the boundary.
    fn across(model: &Model, data: &Dataset<'_>) -> Result<Self, PictureError> {
        let Some((normal, offset)) = normal(model) else {
            let problem = "only a single hyperplane over the features themselves can be seen from its side";
            return Err(PictureError::Unsuitable(problem.to_owned()));
        };
        let plane = Self::of_principal(model, data)?;
        let beside = plane.axes.iter().map(|axis| beside(axis, &normal)).find(|(_, length)| *length > 0.5);
        let beside = beside.map_or_else(|| vec![0.0; normal.len()], |(axis, _)| axis);
        let distance = dot(&plane.origin, &normal) + offset;
        let origin: Vec<f64> = plane.origin.iter().zip(&normal).map(|(o, n)| o - distance * n).collect();
        let x = scaled(model, data)?;
        let height = dot(&origin, &beside);
        let place = |i| {
            let along = |v: &[f64]| with_rows!(x.as_ref(), x => x.dot(i, v));
            (along(&normal) + offset, along(&beside) - height)
        };
        let units = if model.scaling.is_some() { " (of scaled rows)" } else { "" };
        Ok(Plane {
            titles: [
                format!("distance from the boundary{units}"),
                "principal direction beside it".to_owned(),
            ],
            note: Some("seen along the boundary".to_owned()),
            whole: true,
            places: (0..x.n_rows()).map(place).collect(),
            origin,
            axes: [normal, beside],
            ..plane
        })
    }

    /// Of rows as the model scales them: without that, the feature with the largest numbers would be all that is seen.
    fn of_principal(model: &Model, data: &Dataset<'_>) -> Result<Self, PictureError> {
        let x = scaled(model, data)?;
        let Principal { mean, directions, shares } = Principal::of(&x);
        let offsets = directions.each_ref().map(|v| dot(&mean, v));
        let place = |i| {
            let along = |k: usize| with_rows!(x.as_ref(), x => x.dot(i, &directions[k])) - offsets[k];
            (along(0), along(1))
        };
        let scaled = if model.scaling.is_some() { "scaled " } else { "" };
        let shown = 100.0 * (shares[0] + shares[1]);
        let title =
            |k: usize, which: &str| format!("{which} principal direction ({:.0}%)", 100.0 * shares[k]);
        let model = Model { scaling: None, ..model.clone() };
        Ok(Plane {
            titles: [title(0, "first"), title(1, "second")],
            note: Some(format!(
                "on the plane through the mean of {scaled}rows with {shown:.0}% of their variance (PCA)"
            )),
            whole: false,
            places: (0..x.n_rows()).map(place).collect(),
            origin: mean,
            axes: directions,
            affine: is_affine(&model),
            model,
        })
    }

    /// The scores of points, one after the other.
    pub(crate) fn scores(&self, points: &[Point]) -> Result<Vec<f64>, PictureError> {
        if self.affine && points.len() > 3 {
            return self.affine_scores(points);
        }
        let m = self.origin.len();
        let block = (VALUES / m.max(1)).max(1);
        let mut all = Vec::with_capacity(points.len() * self.model.body.n_scores());
        for points in points.chunks(block) {
            let mut values = Vec::with_capacity(points.len() * m);
            for (a, b) in points {
                let parts = self.origin.iter().zip(&self.axes[0]).zip(&self.axes[1]);
                values.extend(parts.map(|((o, u), v)| o + a * u + b * v));
            }
            all.extend(self.model.scores(&Dense::new(values, m)?.into())?);
        }
        Ok(all)
    }

    /// From three points all others follow.
    fn affine_scores(&self, points: &[Point]) -> Result<Vec<f64>, PictureError> {
        let known = self.scores(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])?;
        let k = self.model.body.n_scores();
        let (base, rest) = known.split_at(k);
        let (right, up) = rest.split_at(k);
        let score = |c: usize, (a, b): &Point| base[c] + a * (right[c] - base[c]) + b * (up[c] - base[c]);
        Ok(points.iter().flat_map(|point| (0..k).map(move |c| score(c, point))).collect())
    }

    /// The same plane for another model of the same features, as of a step of a run.
    pub(crate) fn with_body(&self, body: Body) -> Self {
        let model = Model { body, ..self.model.clone() };
        Plane {
            affine: is_affine(&model),
            model,
            titles: self.titles.clone(),
            note: self.note.clone(),
            places: self.places.clone(),
            origin: self.origin.clone(),
            axes: self.axes.clone(),
            ..*self
        }
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }
}

fn scaled<'x, 'a>(model: &Model, data: &'x Dataset<'a>) -> Result<Cow<'x, Matrix<'a>>, PictureError> {
    Ok(match &model.scaling {
        Some(scaling) => Cow::Owned(scaling.apply(data.x().clone())?),
        None => Cow::Borrowed(data.x()),
    })
}

/// What of a direction is at a right angle to another, made 1 long, and how long it was.
fn beside(axis: &[f64], normal: &[f64]) -> (Vec<f64>, f64) {
    let along = dot(axis, normal);
    let mut rest: Vec<f64> = axis.iter().zip(normal).map(|(a, n)| a - along * n).collect();
    let length = dot(&rest, &rest).sqrt();
    rest.iter_mut().for_each(|part| *part /= length.max(f64::MIN_POSITIVE));
    (rest, length)
}

/// Whether scores change by the same everywhere.
fn is_affine(model: &Model) -> bool {
    let scaling = model.scaling.as_ref().is_none_or(|scaling| scaling.kind != Scale::Unit);
    matches!(model.body, Body::Linear(_)) && model.map.is_none() && scaling
}

/// What a feature is called at an axis.
pub(crate) fn name(data: &Dataset<'_>, j: usize) -> String {
    match &data.features().names {
        Some(_) => data.features().name(j),
        None => format!("x{}", j + 1),
    }
}

fn mean(x: &Matrix<'_>) -> Vec<f64> {
    let mut mean = vec![0.0; x.n_cols()];
    let share = 1.0 / x.n_rows().max(1) as f64;
    with_rows!(x, x => (0..x.n_rows()).for_each(|i| x.axpy(share, i, &mut mean)));
    mean
}

fn unit(j: usize, m: usize) -> Vec<f64> {
    (0..m).map(|k| f64::from(u8::from(k == j))).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
