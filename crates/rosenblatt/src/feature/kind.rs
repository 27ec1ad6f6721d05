//! Maps as they are asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::error::ParamError;
use crate::kernel::{Kernel, KernelChoice, KernelName};

/// A map, as it is asked for: `poly:2`, `homogeneous:3`, `squares`, `lift`, `identity`, `fourier:500`, `nystroem:200`.
///
/// The last two may say more of their kernel, which is the Gaussian unless another is named.
///
/// ```
/// use rosenblatt::{KernelChoice, KernelName, MapKind};
/// let map: MapKind = "poly:2".parse()?;
/// assert_eq!(map, MapKind::Poly(2));
/// let map: MapKind = "fourier:500:gamma=0.1".parse()?;
/// assert_eq!(map, MapKind::Fourier { waves: 500, gamma: Some(0.1) });
/// let map: MapKind = "nystroem:200:laplacian".parse()?;
/// let kernel = KernelChoice { kernel: KernelName::Laplacian, ..KernelChoice::default() };
/// assert_eq!(map, MapKind::Nystroem { landmarks: 200, kernel });
/// # Ok::<(), rosenblatt::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum MapKind {
    /// Each feature squared.
    Squares,
    /// (x, ‖x‖²): circles become planes.
    Lift,
    /// All products of up to so many features, 1 among them, weighted so that dot products are (u·v + 1)^d.
    Poly(u32),
    /// All products of exactly so many features, weighted so that dot products are (u·v)^d.
    Homogeneous(u32),
    /// A feature for each training row: any labelling of different rows can be separated. Other rows are 0.
    Identity,
    /// Cosines along random directions, whose dot products come near exp(−γ‖u − v‖²) as they grow in number (Rahimi and Recht 2007).
    Fourier {
        /// How many.
        waves: usize,
        /// γ; 1 / (features · variance) if it is not given.
        gamma: Option<f64>,
    },
    /// What a kernel sees of rows from where some of them stand: dot products are those of its space, projected onto the span of these landmarks (Williams and Seeger 2001).
    Nystroem {
        /// How many different rows are drawn; all of them where there are fewer.
        landmarks: usize,
        /// The kernel.
        kernel: KernelChoice,
    },
}

/// The highest degree of products.
const STEEPEST: u32 = 64;

impl MapKind {
    pub(crate) fn check(self) -> Result<(), ParamError> {
        let within = |fits: bool, what: &str| {
            if fits { Ok(()) } else { Err(ParamError::new("map", format!("{self}: {what}"))) }
        };
        match self {
            MapKind::Squares | MapKind::Lift | MapKind::Identity => Ok(()),
            MapKind::Poly(degree) | MapKind::Homogeneous(degree) => {
                let steepest = format!("the degree is a whole number from 1 to {STEEPEST}");
                within((1..=STEEPEST).contains(&degree), &steepest)
            }
            MapKind::Fourier { waves, gamma } => {
                within(waves > 0, "there must be at least one wave")?;
                Kernel::Rbf { gamma: gamma.unwrap_or(1.0) }.check_parameters()
            }
            MapKind::Nystroem { landmarks, kernel } => {
                within(landmarks > 0, "there must be at least one landmark")?;
                let computed = kernel.kernel != KernelName::Precomputed;
                within(computed, "a precomputed kernel knows no values of rows to come with landmarks")?;
                kernel.check()
            }
        }
    }

    /// With what the data suggest for all that was left open.
    pub(super) fn completed(self, data: &Dataset<'_>) -> Self {
        match self {
            MapKind::Fourier { waves, gamma } => {
                let kernel = KernelChoice { gamma, ..KernelChoice::default() };
                MapKind::Fourier { waves, gamma: kernel.completed(data).gamma }
            }
            MapKind::Nystroem { landmarks, kernel } => {
                MapKind::Nystroem { landmarks, kernel: kernel.completed(data) }
            }
            kind => kind,
        }
    }
}

impl FromStr for MapKind {
    type Err = ParamError;

    fn from_str(text: &str) -> Result<Self, ParamError> {
        let wrong = |problem: String| ParamError::new("map", problem);
        let parts: Vec<&str> = text.split(':').collect();
        let whole = |digits: &str, what: &str| {
            digits
                .parse()
                .map_err(|_| wrong(format!("{text}: the {what} is a whole number from 1 to {STEEPEST}")))
        };
        let count = |digits: &str, what: &str| {
            digits
                .parse()
                .map_err(|_| wrong(format!("{text}: the number of {what} is a whole number from 1")))
        };
        let kernel = |parts: &[&str]| kernel(parts).map_err(|problem| wrong(format!("{text}: {problem}")));
        let kind = match parts[..] {
            ["squares"] => MapKind::Squares,
            ["lift"] => MapKind::Lift,
            ["identity"] => MapKind::Identity,
            ["poly", digits] => MapKind::Poly(whole(digits, "degree")?),
            ["homogeneous", digits] => MapKind::Homogeneous(whole(digits, "degree")?),
            ["fourier", digits, ref rest @ ..] => {
                let kernel = kernel(rest)?;
                if kernel.kernel != KernelName::Rbf {
                    return Err(wrong(format!(
                        "{text}: waves stand for rbf alone; nystroem takes any kernel"
                    )));
                }
                MapKind::Fourier { waves: count(digits, "waves")?, gamma: kernel.gamma() }
            }
            ["nystroem", digits, ref rest @ ..] => {
                MapKind::Nystroem { landmarks: count(digits, "landmarks")?, kernel: kernel(rest)? }
            }
            _ => {
                let known = "squares, lift, poly:2 (up to degree 2), homogeneous:2 (exactly 2), identity, \
                             fourier:500, nystroem:200";
                return Err(wrong(format!("{text:?} is none of {known}")));
            }
        };
        kind.check().map(|()| kind)
    }
}

/// `laplacian`, `gamma=0.1`, in any order.
fn kernel(parts: &[&str]) -> Result<KernelChoice, String> {
    let (given, names): (Vec<&str>, Vec<&str>) = parts.iter().partition(|part| part.contains('='));
    let kernel = match names[..] {
        [] => KernelName::Rbf,
        [name] => kernel_named(name)
            .ok_or_else(|| format!("{name:?} is no kernel; `rosenblatt kernels` lists them"))?,
        _ => return Err("one kernel at the most".to_owned()),
    };
    let mut choice = KernelChoice { kernel, ..KernelChoice::default() };
    for part in given {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        if !kernel.takes(name) {
            return Err(format!("the kernel {} has no {name:?}", kernel.name()));
        }
        let number = value.parse().map_err(|_| format!("{name} is a number, found {value:?}"));
        match name {
            "gamma" => choice.gamma = Some(number?),
            "sigma" => choice.sigma = Some(number?),
            "coef0" => choice.coef0 = Some(number?),
            _ => {
                choice.degree =
                    value.parse().map_err(|_| format!("{name} is a whole number, found {value:?}"))?
            }
        }
    }
    choice.check().map(|()| choice).map_err(|error| error.to_string())
}

fn kernel_named(name: &str) -> Option<KernelName> {
    serde_json::from_value(serde_json::Value::from(name)).ok()
}

impl fmt::Display for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, name: &str, value: Option<f64>| match value {
            Some(value) => write!(f, ":{name}={value}"),
            None => Ok(()),
        };
        match self {
            MapKind::Squares => write!(f, "squares"),
            MapKind::Lift => write!(f, "lift"),
            MapKind::Poly(degree) => write!(f, "poly:{degree}"),
            MapKind::Homogeneous(degree) => write!(f, "homogeneous:{degree}"),
            MapKind::Identity => write!(f, "identity"),
            MapKind::Fourier { waves, gamma } => {
                write!(f, "fourier:{waves}")?;
                part(f, "gamma", *gamma)
            }
            MapKind::Nystroem { landmarks, kernel } => {
                write!(f, "nystroem:{landmarks}:{}", kernel.kernel.name())?;
                part(f, "gamma", kernel.gamma)?;
                part(f, "sigma", kernel.sigma)?;
                part(f, "degree", kernel.kernel.takes("degree").then_some(f64::from(kernel.degree)))?;
                part(f, "coef0", kernel.coef0)
            }
        }
    }
}
