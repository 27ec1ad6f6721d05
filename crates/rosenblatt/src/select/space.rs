//! What is searched: algorithms, and values of their parameters.

use serde_json::{Map, Value};

use super::range::Range;
use crate::data::{Impute, Scale};
use crate::error::ParamError;
use crate::feature::MapKind;
use crate::learner::Learner;
use crate::registry::{KERNELS, algorithm};
use crate::rng::Rng;

/// A parameter with the values it is searched over.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The parameter, as its field is named.
    pub name: String,
    /// Its values.
    pub range: Range,
}

impl Axis {
    /// A parameter over a range.
    pub fn new(name: impl Into<String>, range: Range) -> Self {
        Axis { name: name.into(), range }
    }
}

/// An algorithm with the parameters that are given and those that are searched over.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name in the registry.
    pub algorithm: String,
    /// Parameters that stay as they are.
    pub fixed: Map<String, Value>,
    /// Parameters that are searched over.
    pub axes: Vec<Axis>,
}

/// All that is searched: families, and what is done to the rows before, which is fitted in each fold to the rows that are learned from.
///
/// ```
/// use rosenblatt::{Axis, Family, Range, Space};
/// let c = Axis::new("c", Range::parse("0.1..10", false)?);
/// let kernel = Axis::new("kernel", Range::List(vec!["linear".into(), "rbf".into()]));
/// let gamma = Axis::new("gamma", Range::parse("0.1,1", false)?);
/// let family = Family { algorithm: "svm".to_owned(), fixed: Default::default(), axes: vec![c, kernel, gamma] };
/// // Three C for the linear kernel, which has no γ, and three for each γ of the other.
/// assert_eq!(Space::of(vec![family]).size()?, 9);
/// # Ok::<(), rosenblatt::ParamError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// The algorithms.
    pub families: Vec<Family>,
    /// Maps to be tried; none at all is the same as none alone.
    pub maps: Vec<Option<MapKind>>,
    /// How missing values are filled in.
    pub impute: Option<Impute>,
    /// How features are scaled.
    pub scale: Option<Scale>,
}

/// A point of the space.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) family: usize,
    pub(super) map: Option<MapKind>,
    /// Values of what is searched over.
    pub(super) chosen: Map<String, Value>,
}

/// Parameters of kernels, which only some of them have.
const OF_KERNELS: [&str; 4] = ["gamma", "sigma", "degree", "coef0"];

impl Space {
    /// Algorithms on the rows as they are.
    pub fn of(families: Vec<Family>) -> Self {
        Space { families, ..Space::default() }
    }

    /// How many points a grid over it has.
    pub fn size(&self) -> Result<usize, ParamError> {
        Ok(self.grid()?.len())
    }

    fn maps(&self) -> &[Option<MapKind>] {
        if self.maps.is_empty() { &[None] } else { &self.maps }
    }

    /// Every combination, the last axis changing fastest.
    pub(super) fn grid(&self) -> Result<Vec<Candidate>, ParamError> {
        /// Nobody waits for more, and their list takes room.
        const MOST: usize = 1_000_000;
        let mut all: Vec<Candidate> = Vec::new();
        for &map in self.maps() {
            for (number, family) in self.families.iter().enumerate() {
                let axes: Vec<(&str, Vec<Value>)> =
                    family.axes.iter().map(|axis| (&*axis.name, axis.range.values())).collect();
                let points =
                    axes.iter().fold(1usize, |product, (_, values)| product.saturating_mul(values.len()));
                ParamError::unless(
                    points.saturating_add(all.len()) <= MOST,
                    "range",
                    "these ranges have more than a million combinations: give fewer values, or draw some (--random N)",
                )?;
                for point in 0..points {
                    let candidate = Candidate { family: number, map, chosen: combination(&axes, point) };
                    self.push(&mut all, candidate);
                }
            }
        }
        Ok(all)
    }

    /// So many points at random, none twice; fewer where the space has no more.
    pub(super) fn draw(&self, count: usize, seed: u64) -> Vec<Candidate> {
        /// Of a space that is nearly used up.
        const PATIENCE: usize = 100;
        let (mut rng, mut all) = (Rng::stream(seed, u64::MAX - 7), Vec::new());
        for _ in 0..count.saturating_mul(PATIENCE) {
            if all.len() == count || self.families.is_empty() {
                break;
            }
            let map = self.maps()[rng.below(self.maps().len() as u64) as usize];
            let family = rng.below(self.families.len() as u64) as usize;
            let axes = self.families[family].axes.iter();
            let chosen = axes.map(|axis| (axis.name.clone(), axis.range.draw(&mut rng))).collect();
            self.push(&mut all, Candidate { family, map, chosen });
        }
        all
    }

    /// Without what its kernel does not take, unless it is there already.
    fn push(&self, all: &mut Vec<Candidate>, mut candidate: Candidate) {
        if let Some(taken) = self.taken_by_kernel(&candidate) {
            candidate.chosen.retain(|name, _| !OF_KERNELS.contains(&&**name) || taken.contains(&&**name));
        }
        if !all.contains(&candidate) {
            all.push(candidate);
        }
    }

    /// What the kernel of a point takes, where several kernels are tried.
    fn taken_by_kernel(&self, candidate: &Candidate) -> Option<&'static [&'static str]> {
        let kernel = candidate.chosen.get("kernel")?.as_str()?;
        KERNELS.iter().find(|row| row.name == kernel).map(|row| row.parameters)
    }

    /// All parameters that are given or chosen at a point.
    pub(super) fn parameters(&self, candidate: &Candidate) -> Map<String, Value> {
        let mut all = self.families[candidate.family].fixed.clone();
        if let Some(taken) = self.taken_by_kernel(candidate) {
            all.retain(|name, _| !OF_KERNELS.contains(&&**name) || taken.contains(&&**name));
        }
        all.extend(candidate.chosen.clone());
        all
    }

    /// The learner at a point, with other values for some parameters that it has and nobody gave.
    pub(super) fn learner(
        &self,
        candidate: &Candidate,
        otherwise: &[(&str, f64)],
    ) -> Result<Box<dyn Learner>, ParamError> {
        let name = &self.families[candidate.family].algorithm;
        let row = algorithm(name)
            .ok_or_else(|| ParamError::new("algorithm", format!("there is no algorithm {name:?}")))?;
        let mut given = self.parameters(candidate);
        let defaults = row.defaults();
        for &(name, value) in otherwise {
            if defaults.contains_key(name) && !given.contains_key(name) {
                given.insert(name.to_owned(), value.into());
            }
        }
        row.learner(&given)
    }
}

/// Number `point` of all combinations.
fn combination(axes: &[(&str, Vec<Value>)], mut point: usize) -> Map<String, Value> {
    let mut chosen: Vec<(String, Value)> = Vec::with_capacity(axes.len());
    for (name, values) in axes.iter().rev() {
        chosen.push(((*name).to_owned(), values[point % values.len()].clone()));
        point /= values.len();
    }
    chosen.into_iter().rev().collect()
}
