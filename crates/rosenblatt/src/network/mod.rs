//! Networks of units: from rows to scores, back again, and steps.
//!
//! ```text
//! a₀ = x        zₛ = aₛ₋₁·Wₛ + bₛ        aₛ = φ(zₛ)        g(x) = z of the last stage
//! δ of the last stage = (p − t)·weight       δₛ₋₁ = (δₛ·Wₛᵀ) ⊙ φ′(zₛ₋₁)       ∂/∂Wₛ = Σ aₛ₋₁ᵀ·δₛ
//! ```
//!
//! (Rumelhart, Hinton, Williams 1986.) All of it is products of matrices in single precision, which `simd::multiply` makes from panels: every sum is taken in one order, rows ascending, with
//! fused operations, so that neither threads nor processors nor the storage of rows show in the result. Zeros add nothing and are passed over where rows are sparse.

mod optimizer;
mod part;
mod stage;
mod trainer;

pub use optimizer::Optimizer;
pub(crate) use optimizer::Step;
pub(crate) use part::{Part, ROWS, log_loss};
pub use stage::Activation;
pub(crate) use stage::Stage;
pub(crate) use trainer::{Lessons, Rule, Trainer};
