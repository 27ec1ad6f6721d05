//! What is done to rows before a learner sees them, fitted without those that are left out.

use super::space::{Candidate, Space};
use crate::data::{Dataset, Imputation, Scaling};
use crate::error::Error;
use crate::feature::{FeatureMap, MapKind};
use crate::learner::trial::Fold;
use crate::learner::{Fit, Task};
use crate::watch::Watch;

impl Space {
    /// Whether all folds see the same rows: nothing is fitted to any.
    pub(super) fn is_plain(&self, map: Option<MapKind>) -> bool {
        self.impute.is_none() && self.scale.is_none() && map.is_none()
    }
}

/// Some rows, and what was fitted to them.
struct Treated {
    imputation: Option<Imputation>,
    scaling: Option<Scaling>,
    map: Option<FeatureMap>,
    data: Dataset<'static>,
}

impl Treated {
    fn fit(
        space: &Space,
        map: Option<MapKind>,
        mut data: Dataset<'static>,
        seed: u64,
    ) -> Result<Self, Error> {
        let imputation = space.impute.map(|kind| data.imputation(kind));
        if let Some(imputation) = &imputation {
            data = data.imputed_by(imputation)?;
        }
        let scaling = space.scale.map(|kind| Scaling::fit(kind, data.x()));
        if let Some(scaling) = &scaling {
            data = data.scaled(scaling)?;
        }
        let map = map.map(|kind| FeatureMap::fit(kind, &data, seed)).transpose()?;
        if let Some(map) = &map {
            data = data.mapped(map)?;
        }
        Ok(Treated { imputation, scaling, map, data })
    }

    /// Other rows alike.
    fn apply(&self, mut data: Dataset<'static>) -> Result<Dataset<'static>, Error> {
        if let Some(imputation) = &self.imputation {
            data = data.imputed_by(imputation)?;
        }
        if let Some(scaling) = &self.scaling {
            data = data.scaled(scaling)?;
        }
        Ok(match &self.map {
            Some(map) => data.mapped(map)?,
            None => data,
        })
    }
}

/// All rows as a fold sees them.
pub(super) fn fold<'a>(
    space: &Space,
    map: Option<MapKind>,
    data: &'a Dataset<'a>,
    held: &[usize],
    seed: u64,
) -> Result<Fold<'a>, Error> {
    let mut weights: Vec<f64> = (0..data.n_rows()).map(|row| data.weight(row)).collect();
    held.iter().for_each(|&row| weights[row] = 0.0);
    let held = held.to_vec();
    if space.is_plain(map) {
        let held_x = data.x().select(&held);
        return Ok(Fold { data: data.reweighted(weights)?, held, held_x });
    }
    let rows: Vec<usize> = (0..data.n_rows()).filter(|&row| weights[row] > 0.0).collect();
    let treated = Treated::fit(space, map, data.select(&rows), seed)?;
    let all: Vec<usize> = (0..data.n_rows()).collect();
    let data = treated.apply(data.select(&all))?.with_weights(weights)?;
    let held_x = data.x().select(&held);
    Ok(Fold { data, held, held_x })
}

/// The model of a candidate, of all rows.
pub(super) fn fit_on_all(
    space: &Space,
    candidate: &Candidate,
    data: &Dataset<'_>,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Fit, Error> {
    let learner = space.learner(candidate, &[])?;
    if space.is_plain(candidate.map) {
        return learner.learn(&Task::new(data), watch);
    }
    let all: Vec<usize> = (0..data.n_rows()).collect();
    let treated = Treated::fit(space, candidate.map, data.select(&all), seed)?;
    let (scaling, map) = (treated.scaling.as_ref(), treated.map.as_ref());
    learner.learn(&Task { scaling, map, ..Task::new(&treated.data) }, watch)
}
