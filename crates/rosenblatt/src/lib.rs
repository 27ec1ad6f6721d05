//! placeholder
mod data;
mod rng;
pub use data::*;
pub use rng::Rng;
