//! Steps of a network, a batch of rows at a time.

use rayon::prelude::*;

use super::part::{Aim, Part, ROWS};
use super::stage::{Activation, Panels, Scaled, Stage};
use super::{Optimizer, Step};
use crate::data::Rows;
use crate::simd::widely;

/// Inputs whose weights are moved by one task.
const INPUTS: usize = 48;

/// A network that learns.
pub(crate) struct Trainer {
    pub(crate) stages: Vec<Stage>,
    activation: Activation,
    rule: Rule,
    /// What is remembered of gradients: of weights and of biases of each stage, twice each.
    memory: Vec<[Vec<f32>; 4]>,
    /// Weights of all stages but the first, turned over.
    turned: Vec<Panels>,
    parts: Vec<Part>,
    steps: u64,
}

/// How it moves.
#[derive(Clone, Copy)]
pub(crate) struct Rule {
    pub(crate) optimizer: Optimizer,
    pub(crate) rate: f64,
    pub(crate) momentum: f64,
    pub(crate) lambda: f64,
}

/// Rows to learn from.
#[derive(Clone, Copy)]
pub(crate) struct Lessons<'a, R> {
    pub(crate) x: &'a R,
    pub(crate) y: &'a [u32],
    pub(crate) weights: Option<&'a [f64]>,
    /// Whether zeros are left out.
    pub(crate) sparse: bool,
    /// The mean weight of rows.
    pub(crate) mean: f64,
}

/// What a batch came to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub(crate) loss: f64,
    pub(crate) mistakes: u64,
}

impl Trainer {
    pub(crate) fn new(stages: Vec<Stage>, activation: Activation, rule: Rule) -> Self {
        let room = |stage: &Stage| {
            let (w, b) = (stage.weights.len(), stage.bias.len());
            [w, w, b, b].map(|length| vec![0.0; length])
        };
        let memory = stages.iter().map(room).collect();
        let turned = stages.iter().skip(1).map(turned).collect();
        Trainer { stages, activation, rule, memory, turned, parts: Vec::new(), steps: 0 }
    }

    /// One step, by the gradient of the mean loss of these rows.
    pub(crate) fn step<R: Rows>(&mut self, lessons: &Lessons<'_, R>, batch: &[usize]) -> Outcome {
        let outcome = self.slopes(lessons, batch);
        self.steps += 1;
        let Rule { optimizer, rate, momentum, lambda } = self.rule;
        let step = Step::new(optimizer, rate, momentum, lambda, self.steps);
        for s in 0..self.stages.len() {
            let entries = if s == 0 && lessons.sparse { Some(by_input(lessons.x, batch)) } else { None };
            let slopes = self.joined_slopes(s, batch.len());
            let stage = &mut self.stages[s];
            let [first, second, bias_first, bias_second] = &mut self.memory[s];
            let (chunk, stride, parts) = (INPUTS * stage.stride, stage.stride, &self.parts);
            let seen =
                Inputs { parts, s, slopes: &slopes, rows: batch.len(), stride, entries: entries.as_deref() };
            stage
                .weights
                .par_chunks_mut(chunk)
                .zip(first.par_chunks_mut(chunk))
                .zip(second.par_chunks_mut(chunk))
                .enumerate()
                .for_each(|(c, ((weights, first), second))| {
                    let gradient = seen.gradient(c, weights.len());
                    step.take(weights, &gradient, first, second);
                });
            let gradient = bias_gradient(parts, s, stride);
            step.of_bias().take(&mut stage.bias, &gradient, bias_first, bias_second);
            if entries.is_none() {
                stage.pack();
            }
            if s > 0 {
                self.turned[s - 1] = turned(stage);
            }
        }
        outcome
    }

    /// There and back: activations and slopes of all rows of a batch.
    fn slopes<R: Rows>(&mut self, lessons: &Lessons<'_, R>, batch: &[usize]) -> Outcome {
        let needed = batch.len().div_ceil(ROWS);
        while self.parts.len() < needed {
            self.parts.push(Part::new(&self.stages));
        }
        self.parts.truncate(needed);
        let (stages, turned, activation) = (&self.stages, &self.turned, self.activation);
        let scale = 1.0 / (batch.len() as f64 * lessons.mean);
        let aim = |&i: &usize| Aim {
            class: lessons.y[i],
            weight: lessons.weights.map_or(1.0, |weights| weights[i]),
        };
        self.parts.par_iter_mut().zip(batch.par_chunks(ROWS)).for_each(|(part, rows)| {
            part.forward(stages, activation, lessons.x, rows.iter().copied(), lessons.sparse);
            part.backward(stages, turned, activation, rows.iter().map(aim), scale);
        });
        self.parts.iter().fold(Outcome::default(), |all, part| Outcome {
            loss: all.loss + part.loss,
            mistakes: all.mistakes + part.mistakes,
        })
    }

    /// Slopes of all rows as the right side of a product.
    fn joined_slopes(&self, s: usize, rows: usize) -> Panels {
        let (parts, stride) = (&self.parts, self.stages[s].stride);
        let mut panels = Panels::default();
        panels.fill(rows, stride, |row, first, to| {
            let slopes = &parts[row / ROWS].slopes[s][(row % ROWS) * stride + first..];
            to.copy_from_slice(&slopes[..to.len()]);
        });
        panels
    }

    /// With panels for products made anew where that was put off.
    pub(crate) fn finished(&self) -> Vec<Stage> {
        let mut stages = self.stages.clone();
        stages.iter_mut().for_each(Stage::pack);
        stages
    }
}

fn turned(stage: &Stage) -> Panels {
    let mut panels = Panels::default();
    panels.pack_turned(&stage.weights, stage.units, stage.inputs, stage.stride);
    panels
}

/// An entry of a row of a batch.
struct Entry {
    input: u32,
    row: u32,
    value: f32,
}

/// Entries that are not 0 by the task their inputs belong to, rows ascending.
fn by_input<R: Rows>(x: &R, batch: &[usize]) -> Vec<Vec<Entry>> {
    let mut tasks: Vec<Vec<Entry>> = Vec::new();
    tasks.resize_with(x.n_cols().div_ceil(INPUTS), Vec::new);
    for (row, &i) in batch.iter().enumerate() {
        x.each(i, |j, v| {
            let value = v as f32;
            if value != 0.0 {
                tasks[j / INPUTS].push(Entry { input: (j % INPUTS) as u32, row: row as u32, value });
            }
        });
    }
    tasks
}

/// What a stage saw of a batch, and what it should have given.
struct Inputs<'a> {
    parts: &'a [Part],
    s: usize,
    slopes: &'a Panels,
    rows: usize,
    stride: usize,
    entries: Option<&'a [Vec<Entry>]>,
}

impl Inputs<'_> {
    /// Of the weights of a task, so many of them: Σ input · slopes over the rows, one after the other.
    fn gradient(&self, task: usize, length: usize) -> Vec<f32> {
        let mut gradient = vec![0.0; length];
        match self.entries {
            Some(entries) => {
                for Entry { input, row, value } in &entries[task] {
                    let sums = &mut gradient[*input as usize * self.stride..][..self.stride];
                    let slopes = &self.parts[*row as usize / ROWS].slopes[self.s];
                    let row = &slopes[(*row as usize % ROWS) * self.stride..][..self.stride];
                    widely(Scaled { value: *value, row, sums });
                }
            }
            None => {
                let columns = self.columns(task, length / self.stride);
                let left: Vec<&[f32]> = columns.chunks_exact(self.rows).collect();
                self.slopes.add_product(&left, &mut gradient, self.stride);
            }
        }
        gradient
    }

    /// Inputs of a task turned over: each with its values in all rows.
    fn columns(&self, task: usize, inputs: usize) -> Vec<f32> {
        let mut columns = vec![0.0; inputs * self.rows];
        for (p, part) in self.parts.iter().enumerate() {
            let from = if self.s == 0 { &part.x } else { &part.activations[self.s - 1] };
            // Parts have room for all their rows, whether these are there or not.
            let width = from.len() / ROWS;
            for (r, row) in from.chunks_exact(width).take(part.rows).enumerate() {
                for (column, value) in columns.chunks_exact_mut(self.rows).zip(&row[task * INPUTS..]) {
                    column[p * ROWS + r] = *value;
                }
            }
        }
        columns
    }
}

fn bias_gradient(parts: &[Part], s: usize, stride: usize) -> Vec<f32> {
    let mut sums = vec![0.0; stride];
    for part in parts {
        for row in part.slopes[s].chunks_exact(stride).take(part.rows) {
            sums.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope);
        }
    }
    sums
}
