//! From gradients to steps.

use serde::{Deserialize, Serialize};

use crate::simd::{Loop, widely};

/// How far weights move along a gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimizer {
    /// By means of gradients over the root of means of their squares (Kingma and Ba 2015), with β₁ = 0.9 and β₂ = 0.999.
    #[default]
    Adam,
    /// By a velocity that gradients add to and that fades (Polyak 1964).
    Momentum,
}

impl Optimizer {
    /// The size of a step where none is given.
    pub(crate) fn usual_rate(self) -> f64 {
        match self {
            Optimizer::Adam => 0.001,
            Optimizer::Momentum => 0.05,
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Optimizer::Adam => "Adam",
            Optimizer::Momentum => "gradient descent with momentum",
        }
    }
}

/// A step of number `t`, from 1.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    optimizer: Optimizer,
    /// With Adam's correction for means that began at 0.
    rate: f32,
    momentum: f32,
    /// λ
    decay: f32,
}

const BETA: [f64; 2] = [0.9, 0.999];

impl Step {
    pub(crate) fn new(optimizer: Optimizer, rate: f64, momentum: f64, decay: f64, t: u64) -> Self {
        let power = |beta: f64| 1.0 - beta.powi(i32::try_from(t).unwrap_or(i32::MAX));
        let rate = match optimizer {
            Optimizer::Adam => rate * power(BETA[1]).sqrt() / power(BETA[0]),
            Optimizer::Momentum => rate,
        };
        Step { optimizer, rate: rate as f32, momentum: momentum as f32, decay: decay as f32 }
    }

    /// The same for biases, which nothing keeps small.
    pub(crate) fn of_bias(self) -> Self {
        Step { decay: 0.0, ..self }
    }

    /// Moves weights; `first` and `second` are what is remembered of earlier gradients, the second by Adam alone.
    pub(crate) fn take(self, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        match self.optimizer {
            Optimizer::Adam => widely(Adam { step: self, weights, gradient, first, second }),
            Optimizer::Momentum => widely(Momentum { step: self, weights, gradient, velocity: first }),
        }
    }
}

struct Adam<'a> {
    step: Step,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
}

impl Loop for Adam<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const SMALL: f32 = 1e-8;
        let [beta, gamma] = BETA.map(|beta| beta as f32);
        let Adam { step, weights, gradient, first, second } = self;
        for (((w, g), m), v) in weights.iter_mut().zip(gradient).zip(first).zip(second) {
            let g = g + step.decay * *w;
            *m = beta * *m + (1.0 - beta) * g;
            *v = gamma * *v + (1.0 - gamma) * (g * g);
            *w -= step.rate * *m / (v.sqrt() + SMALL);
        }
    }
}

struct Momentum<'a> {
    step: Step,
    weights: &'a mut [f32],
    gradient: &'a [f32],
    velocity: &'a mut [f32],
}

impl Loop for Momentum<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Momentum { step, weights, gradient, velocity } = self;
        for ((w, g), v) in weights.iter_mut().zip(gradient).zip(velocity) {
            *v = step.momentum * *v - step.rate * (g + step.decay * *w);
            *w += *v;
        }
    }
}
