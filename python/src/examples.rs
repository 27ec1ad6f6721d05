//! Rows with their classes, as the estimators hand them over.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rosenblatt::{Class, Classes, Dataset, Error};

use crate::rows::{Rows, View};

/// A class by its name: a number or a text.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Name {
    Number(f64),
    Text(String),
}

/// A dictionary of these.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Examples<'py> {
    rows: Rows<'py>,
    /// For each row the place of its class among the classes.
    codes: PyReadonlyArray1<'py, u32>,
    classes: Vec<Name>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Of the features.
    names: Option<Vec<String>>,
}

/// The same, to be taken to other threads.
pub(crate) struct Parts<'a> {
    rows: View<'a>,
    codes: Vec<u32>,
    classes: Classes,
    weights: Option<Vec<f64>>,
    names: Option<Vec<String>>,
}

/// Classes in the order given, which is theirs except for labels that no double can hold.
pub(crate) fn classes(names: &[Name]) -> Classes {
    let named: Vec<Class> = names.iter().cloned().map(Class::from).collect();
    Classes::ordered(named.clone()).unwrap_or_else(|| Classes::new(named))
}

impl From<Name> for Class {
    fn from(name: Name) -> Self {
        match name {
            Name::Number(value) => Class::from(value),
            Name::Text(text) => Class::Text(text),
        }
    }
}

impl From<&Class> for Name {
    fn from(class: &Class) -> Self {
        match class {
            Class::Number(value) => Name::Number(*value),
            Class::Text(text) => Name::Text(text.clone()),
        }
    }
}

impl Examples<'_> {
    pub(crate) fn parts(&self) -> PyResult<Parts<'_>> {
        Ok(Parts {
            rows: self.rows.view()?,
            codes: self.codes.as_array().to_vec(),
            classes: classes(&self.classes),
            weights: self.weights.as_ref().map(|weights| weights.as_array().to_vec()),
            names: self.names.clone(),
        })
    }

    pub(crate) fn is_sparse(&self) -> bool {
        self.rows.is_sparse()
    }
}

impl<'a> Parts<'a> {
    pub(crate) fn dataset(self) -> Result<Dataset<'a>, Error> {
        let mut data = Dataset::with_classes(self.rows.matrix()?, self.codes, self.classes)?;
        if let Some(names) = self.names {
            data = data.with_names(names)?;
        }
        if let Some(weights) = self.weights {
            data = data.with_weights(weights)?;
        }
        Ok(data)
    }
}
