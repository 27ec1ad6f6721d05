//! The arrays of a model file.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};
use serde_json::{Value, json};

use super::{History, ModelError, Update};
use crate::data::{Csr, DataError, Dense, Features, Float, Matrix, Rows, TextColumn};
use crate::feature::{FeatureMap, Fitted, Landmarks, MapKind, Waves};

/// The one metadata entry.
pub(super) const KEY: &str = "rosenblatt";

/// Arrays on their way into a file, in little-endian bytes.
#[derive(Default)]
pub(super) struct Arrays(Vec<(String, Dtype, Vec<usize>, Vec<u8>)>);

/// A number that arrays are made of.
pub(super) trait Number: Copy {
    const DTYPE: Dtype;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! number {
    ($($type:ty => $dtype:expr),*) => {$(
        impl Number for $type {
            const DTYPE: Dtype = $dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                bytes.try_into().map(<$type>::from_le_bytes).unwrap_or_default()
            }
        }
    )*};
}
number!(u8 => Dtype::U8, f32 => Dtype::F32, f64 => Dtype::F64, u32 => Dtype::U32, i32 => Dtype::I32, u64 => Dtype::U64);

/// No plane, in an array of plane numbers.
const NONE: i32 = -1;

impl Arrays {
    pub(super) fn put<T: Number>(&mut self, name: &str, values: &[T], shape: &[usize]) {
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.write(&mut bytes));
        self.0.push((name.to_owned(), T::DTYPE, shape.to_vec(), bytes));
    }

    /// What the description says of the features. Texts have more n-grams than it has room for, so that with them names and
    /// frequencies are arrays.
    pub(super) fn put_features(&mut self, features: &Features) -> Features {
        if features.texts.is_empty() {
            return features.clone();
        }
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        for name in features.names.iter().flatten() {
            text.extend_from_slice(name.as_bytes());
            ends.push(text.len() as u64);
        }
        self.put("names.text", &text, &[text.len()]);
        self.put("names.ends", &ends, &[ends.len()]);
        for (t, text) in features.texts.iter().enumerate() {
            self.put(&format!("text.{t}.frequencies"), &text.frequencies, &[text.frequencies.len()]);
        }
        let described =
            |text: &TextColumn| TextColumn { name: text.name.clone(), frequencies: Vec::new(), ..*text };
        let texts = features.texts.iter().map(described).collect();
        Features { names: None, schema: features.schema.clone(), texts, ..features.clone() }
    }

    pub(super) fn put_rows(&mut self, name: &str, rows: &Matrix<'_>) {
        match rows {
            Matrix::CsrF32(rows) => self.put_csr(name, rows),
            Matrix::CsrF64(rows) => self.put_csr(name, rows),
            Matrix::DenseF32(_) | Matrix::DenseF64(_) => {}
        }
    }

    /// What a map keeps of the rows it was fitted to.
    pub(super) fn put_map(&mut self, map: &FeatureMap) {
        match &map.fitted {
            Fitted::Free => {}
            Fitted::Known(rows) => self.put_rows("map", rows),
            Fitted::Waves(waves) => {
                self.put_dense("map.directions", &waves.directions);
                self.put("map.phases", &waves.phases, &[waves.phases.len()]);
            }
            Fitted::Landmarks(landmarks) => {
                self.put_rows("map", &landmarks.rows);
                self.put_dense("map.factor", &landmarks.factor);
            }
        }
    }

    fn put_dense(&mut self, name: &str, rows: &Dense<'_, f32>) {
        self.put(name, rows.values(), &[rows.n_rows(), rows.n_cols()]);
    }

    fn put_csr<T: Float + Number>(&mut self, name: &str, rows: &Csr<'_, T>) {
        self.put(&format!("{name}.pointers"), rows.pointers(), &[rows.pointers().len()]);
        self.put(&format!("{name}.columns"), rows.columns(), &[rows.columns().len()]);
        self.put(&format!("{name}.values"), rows.values(), &[rows.values().len()]);
    }

    pub(super) fn put_history(&mut self, name: &str, history: &History) {
        let n = history.updates.len();
        let plane = |plane: Option<u32>| plane.map_or(NONE, |plane| plane as i32);
        let column = |f: fn(&Update) -> Option<u32>| -> Vec<i32> {
            history.updates.iter().map(|update| plane(f(update))).collect()
        };
        let rows: Vec<u32> = history.updates.iter().map(|update| update.row).collect();
        let sizes: Vec<f64> = history.updates.iter().map(|update| update.size).collect();
        self.put(&format!("{name}.rows"), &rows, &[n]);
        self.put(&format!("{name}.up"), &column(|update| update.up), &[n]);
        self.put(&format!("{name}.down"), &column(|update| update.down), &[n]);
        self.put(&format!("{name}.sizes"), &sizes, &[n]);
        self.put(&format!("{name}.survivals"), &history.survivals, &[n + 1]);
    }

    /// Each array as a list, or as a list of lists where it has two dimensions.
    pub(super) fn to_json(&self) -> Value {
        let array = |(name, dtype, shape, bytes): &(String, Dtype, Vec<usize>, Vec<u8>)| {
            let values = listed(*dtype, bytes);
            let value = match shape[..] {
                [rows, columns] => {
                    let row = |i: usize| json!(values[i * columns..][..columns]);
                    (0..rows).map(row).collect()
                }
                _ => Value::Array(values),
            };
            (name.clone(), value)
        };
        Value::Object(self.0.iter().map(array).collect())
    }

    pub(super) fn serialize(self, json: String) -> Result<Vec<u8>, ModelError> {
        let wrong = |error: SafeTensorError| ModelError::NotContainer(error.to_string());
        let views = self.0.iter().map(|(name, dtype, shape, bytes)| {
            TensorView::new(*dtype, shape.clone(), bytes).map(|view| (name.as_str(), view))
        });
        let views: Vec<_> = views.collect::<Result<_, _>>().map_err(wrong)?;
        safetensors::serialize(views, Some(HashMap::from([(KEY.to_owned(), json)]))).map_err(wrong)
    }
}

fn listed(dtype: Dtype, bytes: &[u8]) -> Vec<Value> {
    fn of<T: Number + Into<Value>>(bytes: &[u8]) -> Vec<Value> {
        bytes.chunks_exact(size_of::<T>()).map(|bytes| T::read(bytes).into()).collect()
    }
    match dtype {
        Dtype::F64 => of::<f64>(bytes),
        Dtype::F32 => of::<f32>(bytes),
        Dtype::U64 => of::<u64>(bytes),
        Dtype::U32 => of::<u32>(bytes),
        Dtype::I32 => of::<i32>(bytes),
        _ => of::<u8>(bytes),
    }
}

/// Arrays of a file, checked as they are taken out.
pub(super) struct Reader<'a>(pub(super) SafeTensors<'a>);

impl Reader<'_> {
    pub(super) fn vector<T: Number>(
        &self,
        name: &str,
        shape: &[Option<usize>],
    ) -> Result<Vec<T>, ModelError> {
        let view = self.0.tensor(name).map_err(|_| ModelError::Missing(name.to_owned()))?;
        if view.dtype() != T::DTYPE {
            let (expected, found) = (format!("{:?}", T::DTYPE), format!("{:?}", view.dtype()));
            return Err(ModelError::Type { name: name.to_owned(), expected, found });
        }
        let found = view.shape().to_vec();
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
        if !fits {
            let wanted = |length: &Option<usize>| length.map_or("any".to_owned(), |n| n.to_string());
            let expected = format!("[{}]", shape.iter().map(wanted).collect::<Vec<_>>().join(", "));
            return Err(ModelError::Shape { name: name.to_owned(), expected, found });
        }
        Ok(view.data().chunks_exact(size_of::<T>()).map(T::read).collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok()
    }

    pub(super) fn is_empty(&self, name: &str) -> bool {
        self.0.tensor(name).is_ok_and(|view| view.data().is_empty())
    }

    pub(super) fn floats<T: Float + Number>(
        &self,
        name: &str,
        shape: &[usize],
    ) -> Result<Vec<T>, ModelError> {
        let shape: Vec<Option<usize>> = shape.iter().copied().map(Some).collect();
        let values: Vec<T> = self.vector(name, &shape)?;
        match values.iter().all(|value| value.wide().is_finite()) {
            true => Ok(values),
            false => Err(ModelError::NotFinite(name.to_owned())),
        }
    }

    /// What `put_features` put aside.
    pub(super) fn read_ngrams(&self, features: &mut Features) -> Result<(), ModelError> {
        if features.texts.is_empty() {
            return Ok(());
        }
        let text: Vec<u8> = self.vector("names.text", &[None])?;
        let ends: Vec<u64> = self.vector("names.ends", &[Some(features.count)])?;
        let torn = || ModelError::Contradiction("the names of the features are torn".to_owned());
        let text = String::from_utf8(text).map_err(|_| torn())?;
        let (mut names, mut start) = (Vec::with_capacity(ends.len()), 0);
        for end in ends {
            let end = usize::try_from(end).map_err(|_| torn())?;
            names.push(text.get(start..end).ok_or_else(torn)?.to_owned());
            start = end;
        }
        if start != text.len() {
            return Err(torn());
        }
        features.names = Some(names);
        for (t, text) in features.texts.iter_mut().enumerate() {
            text.frequencies = self.vector(&format!("text.{t}.frequencies"), &[None])?;
        }
        Ok(())
    }

    pub(super) fn rows(&self, name: &str, n_cols: usize) -> Result<Matrix<'static>, ModelError> {
        let values = format!("{name}.values");
        let single = self.0.tensor(&values).is_ok_and(|view| view.dtype() == Dtype::F32);
        let rows = match single {
            true => Matrix::CsrF32(self.csr(name, n_cols)?),
            false => Matrix::CsrF64(self.csr(name, n_cols)?),
        };
        rows.check_values().map(|()| rows).map_err(|_| ModelError::NotFinite(values))
    }

    /// What `put_map` put.
    pub(super) fn map(&self, kind: MapKind, inputs: &Features) -> Result<FeatureMap, ModelError> {
        let contradiction = |error: DataError| ModelError::Contradiction(error.to_string());
        let n_cols = inputs.count;
        let mut map = FeatureMap { kind, inputs: inputs.clone(), fitted: Fitted::Free };
        map.check().map_err(contradiction)?;
        map.fitted = match kind {
            MapKind::Identity => Fitted::Known(self.rows("map", n_cols)?),
            MapKind::Fourier { waves, gamma } => {
                let directions = self.floats("map.directions", &[waves, n_cols])?;
                let phases = self.floats("map.phases", &[waves])?;
                let gamma = gamma.ok_or_else(without_gamma)?;
                Fitted::Waves(Waves::new(gamma, directions, phases, n_cols).map_err(contradiction)?)
            }
            MapKind::Nystroem { landmarks, kernel } => {
                let rows = self.rows("map", n_cols)?;
                if rows.n_rows() > landmarks {
                    return Err(ModelError::Contradiction(
                        "it has more landmarks than were asked for".to_owned(),
                    ));
                }
                let factor = self.floats("map.factor", &[rows.n_rows(), rows.n_rows()])?;
                let kernel = kernel.with(kernel.gamma().ok_or_else(without_gamma)?);
                Fitted::Landmarks(Landmarks::new(kernel, rows, factor).map_err(contradiction)?)
            }
            _ => Fitted::Free,
        };
        map.check().map(|()| map).map_err(contradiction)
    }

    fn csr<T: Float + Number>(&self, name: &str, n_cols: usize) -> Result<Csr<'static, T>, ModelError> {
        let pointers: Vec<u64> = self.vector(&format!("{name}.pointers"), &[None])?;
        let columns: Vec<u32> = self.vector(&format!("{name}.columns"), &[None])?;
        let values: Vec<T> = self.vector(&format!("{name}.values"), &[Some(columns.len())])?;
        Csr::new(pointers, columns, values, n_cols.max(1))
            .map_err(|error| ModelError::Contradiction(format!("stored rows of {name}: {error}")))
    }

    pub(super) fn history(&self, name: &str, planes: usize, n_rows: usize) -> Result<History, ModelError> {
        let part = |part: &str| format!("{name}.{part}");
        let row: Vec<u32> = self.vector(&part("rows"), &[None])?;
        let n = row.len();
        let up: Vec<i32> = self.vector(&part("up"), &[Some(n)])?;
        let down: Vec<i32> = self.vector(&part("down"), &[Some(n)])?;
        let sizes = self.floats(&part("sizes"), &[n])?;
        let survivals = self.floats(&part("survivals"), &[n + 1])?;
        if survivals.iter().any(|&visits| visits < 0.0) {
            return Err(ModelError::Contradiction(format!("{name} counts visits below 0")));
        }
        let missing = || {
            let problem = format!("updates of {name} name rows or planes that do not exist");
            ModelError::Contradiction(problem)
        };
        let plane = |plane: i32| match plane {
            NONE => Ok(None),
            plane => u32::try_from(plane).map(Some).map_err(|_| missing()),
        };
        let update =
            |i: usize| Ok(Update { row: row[i], up: plane(up[i])?, down: plane(down[i])?, size: sizes[i] });
        let updates = (0..n).map(update).collect::<Result<_, ModelError>>()?;
        let history = History { planes, updates, survivals };
        if history.fits(planes, n_rows) { Ok(history) } else { Err(missing()) }
    }
}

fn without_gamma() -> ModelError {
    ModelError::Contradiction("the map has been fitted, but gamma is open".to_owned())
}
