//! Some rows on their way through a network and back.

use super::stage::{Activation, Panels, Stage};
use crate::data::Rows;

/// Rows of a part: two groups of those that `simd::multiply` takes at once.
pub(crate) const ROWS: usize = 24;

/// What a row is to be, and what it counts.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) class: u32,
    pub(crate) weight: f64,
}

/// Activations and slopes of up to [`ROWS`] rows, stage by stage.
pub(crate) struct Part {
    /// Rows that are there.
    pub(crate) rows: usize,
    /// The rows themselves, where they are dense.
    pub(crate) x: Vec<f32>,
    pub(crate) activations: Vec<Vec<f32>>,
    pub(crate) slopes: Vec<Vec<f32>>,
    /// Σ weight · log loss
    pub(crate) loss: f64,
    pub(crate) mistakes: u64,
}

impl Part {
    pub(crate) fn new(stages: &[Stage]) -> Self {
        let room = || stages.iter().map(|stage| vec![0.0; ROWS * stage.stride]).collect();
        Part { rows: 0, x: Vec::new(), activations: room(), slopes: room(), loss: 0.0, mistakes: 0 }
    }

    /// Scores of these rows, in the last activations.
    pub(crate) fn forward<R: Rows>(
        &mut self,
        stages: &[Stage],
        activation: Activation,
        x: &R,
        rows: impl ExactSizeIterator<Item = usize> + Clone,
        sparse: bool,
    ) {
        self.rows = rows.len();
        if !sparse {
            self.gather(x, rows.clone(), stages[0].inputs);
        }
        for (s, stage) in stages.iter().enumerate() {
            let (before, after) = self.activations.split_at_mut(s);
            let out = &mut after[0][..self.rows * stage.stride];
            out.chunks_exact_mut(stage.stride).for_each(|row| row.copy_from_slice(&stage.bias));
            match before.last() {
                None if sparse => {
                    for (out, i) in out.chunks_exact_mut(stage.stride).zip(rows.clone()) {
                        stage.add_row(x, i, out);
                    }
                }
                None => stage.panels.add_product(
                    &inputs(&self.x, stage.inputs, stage, self.rows),
                    out,
                    stage.stride,
                ),
                Some(before) => {
                    let inputs = inputs(before, stages[s - 1].stride, stage, self.rows);
                    stage.panels.add_product(&inputs, out, stage.stride);
                }
            }
            if s + 1 < stages.len() {
                activation.apply(out);
            }
        }
    }

    fn gather<R: Rows>(&mut self, x: &R, rows: impl ExactSizeIterator<Item = usize>, width: usize) {
        self.x.resize(ROWS * width, 0.0);
        for (to, i) in self.x.chunks_exact_mut(width).zip(rows) {
            to.fill(0.0);
            x.each(i, |j, v| to[j] = v as f32);
        }
    }

    /// Slopes of the loss where each stage receives its inputs; `turned` are the weights of all stages but the first, turned over.
    pub(crate) fn backward(
        &mut self,
        stages: &[Stage],
        turned: &[Panels],
        activation: Activation,
        aims: impl Iterator<Item = Aim>,
        scale: f64,
    ) {
        let Some(last) = stages.last() else { return };
        (self.loss, self.mistakes) = (0.0, 0);
        let at = stages.len() - 1;
        let rows = self.activations[at].chunks_exact(last.stride);
        for ((z, slopes), aim) in rows.zip(self.slopes[at].chunks_exact_mut(last.stride)).zip(aims) {
            let scores: Vec<f64> = z[..last.units].iter().map(|&z| f64::from(z)).collect();
            let (loss, right) = aim.slopes(&scores, scale, slopes);
            self.loss += aim.weight * loss;
            self.mistakes += u64::from(!right);
        }
        for s in (1..stages.len()).rev() {
            let (before, after) = self.slopes.split_at_mut(s);
            let (stage, width) = (&stages[s], stages[s - 1].stride);
            let left: Vec<&[f32]> =
                after[0].chunks_exact(stage.stride).take(self.rows).map(|row| &row[..stage.units]).collect();
            let out = &mut before[s - 1][..self.rows * width];
            out.fill(0.0);
            turned[s - 1].add_product(&left, out, width);
            let activations = &self.activations[s - 1];
            out.iter_mut().zip(activations).for_each(|(slope, &a)| *slope *= activation.slope(a));
        }
    }
}

/// The rows that a stage sees.
fn inputs<'a>(from: &'a [f32], stride: usize, stage: &Stage, rows: usize) -> Vec<&'a [f32]> {
    from.chunks_exact(stride).take(rows).map(|row| &row[..stage.inputs]).collect()
}

impl Aim {
    /// Loss of a row, whether it is predicted rightly, and how its loss changes with each score.
    fn slopes(self, scores: &[f64], scale: f64, slopes: &mut [f32]) -> (f64, bool) {
        let weight = scale * self.weight;
        let own = self.class as usize;
        let (loss, right) = (log_loss(scores, own), decides(scores) == own);
        match scores {
            [score] => {
                let p = 1.0 / (1.0 + (-score).exp());
                slopes[0] = (weight * (p - f64::from(self.class))) as f32;
            }
            _ => {
                let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
                for (c, (slope, score)) in slopes.iter_mut().zip(scores).enumerate() {
                    let p = (score - most).exp() / total;
                    *slope = (weight * (p - f64::from(u8::from(c == own)))) as f32;
                }
            }
        }
        (loss, right)
    }
}

fn decides(scores: &[f64]) -> usize {
    match scores {
        [score] => usize::from(*score > 0.0),
        _ => (1..scores.len()).fold(0, |best, c| if scores[c] > scores[best] { c } else { best }),
    }
}

/// −log p of a class, given one score of two classes or one a class.
pub(crate) fn log_loss(scores: &[f64], class: usize) -> f64 {
    match scores {
        [score] => {
            let margin = if class == 1 { *score } else { -score };
            // log(1 + e^−m) without overflow.
            (-margin.abs()).exp().ln_1p() + (-margin).max(0.0)
        }
        _ => {
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            total.ln() + most - scores[class]
        }
    }
}
