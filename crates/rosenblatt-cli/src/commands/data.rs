//! Reading for commands.

use std::fs;
use std::path::Path;

use rosenblatt::{
    Body, Classes, Dataset, Error, FeatureMap, Fit, Kernel, Model, Multiplier, Obstruction, Rows, Scaling,
    stratified_split,
};
use rosenblatt_io::{Hashing, ReadOptions, Table, Unknown, read};
use serde_json::{Map, Value, json};

use super::note;
use crate::args::{DataArgs, LearnerArgs, TrainingDataArgs};
use crate::failure::Failure;
use crate::format::{count, plural};

/// Labelled data to learn from.
pub(super) struct Training {
    pub(super) origin: String,
    pub(super) data: Dataset<'static>,
    pub(super) holdout: Option<Dataset<'static>>,
    pub(super) scaling: Option<Scaling>,
    pub(super) map: Option<FeatureMap>,
    pub(super) hashing: Option<Hashing>,
    /// Which rows of the file are in `data`, where not all are.
    kept: Option<Vec<usize>>,
}

/// Rows to learn from, rows held out, and which rows the former are where both come from one file.
pub(super) type Parts = (Dataset<'static>, Option<Dataset<'static>>, Option<Vec<usize>>);

impl Training {
    /// Reads, holds out, scales, maps: in this order, so that held-out rows have no say in scaling and map.
    pub(super) fn read(
        data: &str,
        args: &TrainingDataArgs,
        learner: &LearnerArgs,
        holdout: Option<&str>,
        seed: u64,
    ) -> Result<Self, Failure> {
        Self::of(read_raw(data, args, learner)?, args, learner, holdout, seed)
    }

    /// The same, and the rows to learn from as they were before scaling and map.
    pub(super) fn read_twice(
        data: &str,
        args: &TrainingDataArgs,
        learner: &LearnerArgs,
        holdout: Option<&str>,
        seed: u64,
    ) -> Result<(Dataset<'static>, Self), Failure> {
        let raw = read_raw(data, args, learner)?;
        let rows = raw.data.clone();
        let training = Self::of(raw, args, learner, holdout, seed)?;
        let rows = match &training.kept {
            Some(kept) => rows.select(kept),
            None => rows,
        };
        let rows = match learner.impute {
            Some(kind) => {
                let imputation = rows.imputation(kind);
                rows.imputed_by(&imputation)?
            }
            None => rows,
        };
        Ok((rows, training))
    }

    fn of(
        Raw { origin, hashing, data }: Raw,
        args: &TrainingDataArgs,
        learner: &LearnerArgs,
        holdout: Option<&str>,
        seed: u64,
    ) -> Result<Self, Failure> {
        let rows = (learner.is_precomputed(), learner.impute.is_some());
        let (mut data, mut holdout, kept) = match holdout {
            Some(choice) => hold_out(data, choice, &args.data, rows, seed)?,
            None => (data, None, None),
        };
        if let Some(kind) = learner.impute {
            let imputation = data.imputation(kind);
            data = data.imputed_by(&imputation)?;
            holdout = holdout.map(|rows| rows.imputed_by(&imputation)).transpose()?;
        }
        let scaling = learner.scale.kind().map(|kind| Scaling::fit(kind, data.x()));
        if let Some(scaling) = &scaling {
            data = data.scaled(scaling)?;
            holdout = holdout.map(|rows| rows.scaled(scaling)).transpose()?;
        }
        let map = learner.map.map(|kind| FeatureMap::fit(kind, &data, seed)).transpose()?;
        if let Some(map) = &map {
            data = data.mapped(map)?;
            holdout = holdout.map(|rows| rows.mapped(map)).transpose()?;
        }
        Ok(Training { origin, data, holdout, scaling, map, hashing, kept })
    }

    /// What a learner says of the rows is about this file.
    pub(super) fn blame(&self, error: Error) -> Failure {
        match error {
            Error::Data(error) => Failure::bad(format!("{}: {error}", self.origin)),
            Error::NotSeparable { problem, positive, margin, proof } => {
                let status = if proof.is_some() { "inseparable" } else { "stalled" };
                let details = self.no_plane(status, problem.as_deref(), positive, proof.as_ref());
                let proof = proof.map(|proof| self.in_file(proof));
                Failure::from(Error::NotSeparable { problem, positive, margin, proof }).with(details)
            }
            Error::Inseparable { problem, positive, proof, equal } => {
                let details = self.no_plane("inseparable", problem.as_deref(), positive, proof.as_ref());
                let proof = proof.map(|proof| self.in_file(proof));
                Failure::from(Error::Inseparable { problem, positive, proof, equal }).with(details)
            }
            other => other.into(),
        }
    }

    /// What scripts are told of classes that no plane separates: all rows that prove it, as `separable` has them.
    fn no_plane(
        &self,
        status: &str,
        problem: Option<&str>,
        positive: usize,
        proof: Option<&Obstruction>,
    ) -> Map<String, Value> {
        let treated = self.scaling.is_some() || self.map.is_some();
        let values = if treated { "mapped_values" } else { "values" };
        let name = |j: usize| match &self.map {
            Some(map) => map.name(j),
            None => self.data.features().name(j),
        };
        let row = |multiplier: &Multiplier| {
            let mut object = multiplier_json(&self.data, positive, multiplier);
            object[values] = json!(values_of(&self.data, multiplier.row, name));
            object["row"] = json!(self.row_in_file(multiplier.row) + 1);
            object
        };
        let rows = |proof: &Obstruction| {
            let mut rows: Vec<&Multiplier> = proof.multipliers.iter().collect();
            rows.sort_by_key(|multiplier| self.row_in_file(multiplier.row));
            rows.into_iter().map(row).collect::<Vec<_>>()
        };
        let fields =
            [("status", json!(status)), ("problem", json!(problem)), ("multipliers", json!(proof.map(rows)))];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn row_in_file(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row])
    }

    /// Numbers the support vectors of a model that was learned from these rows as they are in the file.
    pub(super) fn number_in_file(&self, fit: &mut Fit) {
        renumber(fit, |row| self.row_in_file(row as usize) as u64);
    }

    /// The other way round, for a model to start from. Rows that are not among these get a number that no row has.
    pub(super) fn number_here(&self, fit: &mut Fit) {
        if let Some(kept) = &self.kept {
            number_among(kept, fit);
        }
    }

    /// The same with rows as they are numbered in the file.
    pub(super) fn in_file(&self, mut proof: Obstruction) -> Obstruction {
        proof.multipliers.iter_mut().for_each(|multiplier| multiplier.row = self.row_in_file(multiplier.row));
        proof.multipliers.sort_by_key(|multiplier| multiplier.row);
        proof
    }
}

/// Rows as they were read.
struct Raw {
    origin: String,
    hashing: Option<Hashing>,
    data: Dataset<'static>,
}

fn read_raw(data: &str, args: &TrainingDataArgs, learner: &LearnerArgs) -> Result<Raw, Failure> {
    let (precomputed, missing) = (learner.is_precomputed(), learner.impute.is_some());
    let table = read(data, &ReadOptions { precomputed, missing, ..args.options() })?;
    let (origin, hashing) = (table.origin.clone(), table.hashing);
    let mut data = table.into_dataset()?;
    if let Some(path) = &args.weights {
        data = data
            .with_weights(read_weights(path)?)
            .map_err(|error| Failure::bad(format!("{}: {error}", path.display())))?;
    }
    Ok(Raw { origin, hashing, data })
}

/// Numbers the support vectors of a model by their places among some rows of the file, as learning and checking see them. Files of versions before 7 have them so.
pub(super) fn number_among(kept: &[usize], fit: &mut Fit) {
    if !fit.report.older {
        let place = |row: u64| kept.binary_search(&(row as usize)).map_or(u64::MAX, |place| place as u64);
        renumber(fit, place);
    }
}

fn renumber(fit: &mut Fit, number: impl Fn(u64) -> u64) {
    if let Body::Kernel(expansion) = &mut fit.model.body {
        expansion.renumber(number);
    }
}

/// A row of a proof for scripts, as far as its values have no part in it.
pub(super) fn multiplier_json(data: &Dataset<'_>, positive: usize, multiplier: &Multiplier) -> Value {
    let class = data.y()[multiplier.row] as usize;
    json!({
        "row": multiplier.row + 1,
        "value": multiplier.value,
        "label": data.classes()[class],
        "y": if class == positive { 1 } else { -1 },
    })
}

/// What is not 0 of a row, by name.
pub(super) fn values_of(
    data: &Dataset<'_>,
    row: usize,
    name: impl Fn(usize) -> String,
) -> Map<String, Value> {
    let mut values = Map::new();
    data.x().each(row, |j, v| {
        if v != 0.0 {
            values.insert(name(j), json!(v));
        }
    });
    values
}

pub(super) fn hold_out(
    data: Dataset<'static>,
    choice: &str,
    args: &DataArgs,
    (precomputed, missing): (bool, bool),
    seed: u64,
) -> Result<Parts, Failure> {
    let Ok(fraction) = choice.parse::<f64>() else {
        let options = args.options(Some(data.features().clone()));
        let table = read(choice, &ReadOptions { precomputed, missing, ..options })?;
        let holdout = table.into_dataset_with(data.classes())?;
        return Ok((data, Some(holdout), None));
    };
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(Failure::bad(format!("--holdout: {fraction} is not a fraction between 0 and 1"))
            .hint("0.2 holds out a fifth of the rows; a file's name holds out its rows"));
    }
    if precomputed {
        let problem =
            "--holdout: a fraction of the rows of a precomputed kernel would leave their columns behind";
        return Err(
            Failure::bad(problem).hint("hold out a file whose rows have their values with all training rows")
        );
    }
    let split = stratified_split(data.y(), fraction, seed);
    if split.holdout.is_empty() {
        return Err(Failure::bad("--holdout: there are too few rows to hold any out"));
    }
    Ok((data.select(&split.train), Some(data.select(&split.holdout)), Some(split.train)))
}

pub(super) fn read_weights(path: &Path) -> Result<Vec<f64>, Failure> {
    let name = path.display();
    let text =
        fs::read_to_string(path).map_err(|error| Failure::bad(format!("cannot read {name}: {error}")))?;
    let weight = |(at, line): (usize, &str)| {
        line.trim().parse::<f64>().map_err(|_| {
            Failure::bad(format!("{name}, line {}: expected one weight, found {line:?}", at + 1))
        })
    };
    text.lines().enumerate().map(weight).collect()
}

/// Data read into the features a model expects.
pub(super) fn read_for(fit: &Fit, data: &str, args: &DataArgs) -> Result<Table, Failure> {
    Ok(read(data, &options_for(&fit.model, args))?)
}

pub(super) fn options_for(model: &Model, args: &DataArgs) -> ReadOptions {
    let precomputed = is_precomputed(&model.body);
    ReadOptions { precomputed, ..args.options(Some(model.features.clone())) }
}

/// Whether rows hold kernel values instead of features.
pub(super) fn is_precomputed(body: &Body) -> bool {
    matches!(body, Body::Kernel(expansion) if expansion.kernel().kernel() == Some(Kernel::Precomputed))
}

/// What a model does not know of the features it was given, if anything, to be said beside the result.
pub(super) fn note_unknown(unknown: Option<Unknown>) {
    if let Some(Unknown { entries: entries @ 1.., of }) = unknown {
        let (are, count_as) = if entries == 1 { ("is", "counts as") } else { ("are", "count as") };
        let of = plural(of, "feature", "features");
        note(&format!("note: {} of {of} {are} not in the model and {count_as} 0", count(entries)));
    }
}

/// The same for scripts; null where features are not looked up by name.
pub(super) fn json_unknown(unknown: Option<Unknown>) -> Value {
    json!(unknown.map(|unknown| unknown.entries))
}

/// "3 classes (a, b, c)"
pub(super) fn describe_classes(classes: &Classes) -> String {
    format!("{} classes ({})", classes.len(), classes.listed())
}
