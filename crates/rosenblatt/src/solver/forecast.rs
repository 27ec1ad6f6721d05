//! When a certificate is worth the passes over all rows that it takes.

/// Foretells the gap that a certificate would show from what descents through the dual see as they go.
pub(super) struct Forecast {
    /// What the epoch before saw.
    before: Option<f64>,
    /// What is expected is about so many times the gap.
    factor: f64,
}

impl Forecast {
    pub(super) fn new() -> Self {
        Forecast { before: None, factor: 1.1 }
    }

    /// P − D at the end of an epoch that saw so much of it, each row before its step: epochs leave about the same part of the gap, and rows are met when most of that is still to come. Where epochs are `short`, for
    /// most rows are left alone, one more costs less than a certificate that fails.
    pub(super) fn after(&mut self, gap: f64, short: bool) -> f64 {
        const CARE: f64 = 1.25;
        let left = match self.before {
            Some(before) if gap < before => (gap / before).max(0.01),
            _ => 1.0,
        };
        self.before = Some(gap);
        gap * left / self.factor * if short { CARE } else { 1.0 }
    }

    /// P − D was so much where less was expected.
    pub(super) fn correct(&mut self, expected: f64, gap: f64) {
        self.factor *= 0.95 * expected / gap;
    }
}
