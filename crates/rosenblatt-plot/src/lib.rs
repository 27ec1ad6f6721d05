//! Pictures of classifiers: rows and regions, steps of a run, losses, learning curves, weights, searches.
//!
//! A [`Picture`] is a list of shapes that is written as SVG or PNG, for light pages, dark ones, or both ([`Theme`]). Colours are those of Okabe and Ito; marks and
//! dashes say the same without them. No system library is needed, and the same picture gives the same bytes.
//!
//! ```
//! use rosenblatt::{Dataset, Dense, Labels, Learner, LinearSvm};
//! use rosenblatt_plot::{Regions, Theme};
//!
//! let x = Dense::new(vec![1.0, 1.0, 2.0, 2.5, -1.0, -1.0, -2.0, -0.5], 2)?;
//! let data = Dataset::new(x, &Labels::new(["yes", "yes", "no", "no"]))?;
//! let fit = LinearSvm::default().fit(&data, &mut ())?;
//! let picture = Regions::new(&fit, &data, "four points").draw()?;
//! let svg = picture.svg(Theme::Auto);
//! assert_eq!(svg.matches("<title>row ").count(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contour;
mod curve;
mod font;
mod ink;
mod losses;
mod mark;
mod pca;
mod picture;
mod plane;
mod png;
mod points;
mod recorder;
mod regions;
mod scene;
mod sheet;
mod steps;
mod svg;
mod tune;
mod weights;

pub use curve::{Curve, Curves, Panel};
pub use losses::losses;
pub use picture::{Picture, PictureError, Size, Theme};
pub use plane::View;
pub use regions::Regions;
pub use steps::Steps;
pub use tune::{Cell, Search};
pub use weights::{PlaneWeights, Weights};
