//! A sum of kernel values with stored examples.

use std::ops::Range;

use rayon::prelude::*;

use super::{History, ModelError, Tie};
use crate::data::{Csr, DataError, Matrix, Rows};
use crate::gram::{Combination, Gram};
use crate::kernel::{Kernel, entries};
use crate::learner::Predictor;
use crate::similarity::Similarity;
use crate::with_rows;

/// g(x) = Σ aₛ·K(xₛ, x) + b over stored examples, for each plane; or the votes of all such sums that a perceptron went through.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    pub(crate) kernel: Similarity,
    /// Whether 1 is added to the kernel, which is what a constant feature does.
    pub(crate) lifted: bool,
    /// The stored examples.
    pub(crate) rows: Matrix<'static>,
    /// Which of the training rows they were, counted from 0; nothing where that is not known.
    pub(crate) numbers: Vec<u64>,
    /// b of each plane; nothing where there is none.
    pub(crate) offsets: Vec<f64>,
    /// How often each was added to each plane, where the coefficients are the mean of what they were on the way there.
    pub(crate) counts: Vec<f64>,
    pub(crate) sum: Sum,
}

/// What is made of the kernel values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sum {
    /// For each stored example its part in each plane.
    Coefficients { planes: usize, values: Vec<f64> },
    /// A history for each binary problem, or one for all classes.
    Votes { tie: Tie, histories: Vec<History> },
}

/// Kernel values kept at a time, in numbers.
const ROOM: usize = 1 << 24;

impl Sum {
    /// The last weights of all problems, or their mean.
    fn of_histories(histories: &[History], n_rows: usize, mean: bool) -> Self {
        let planes = histories.iter().map(|history| history.planes).sum();
        let values =
            if mean { meant(histories, n_rows) } else { added_up(histories, n_rows, History::each_last) };
        Sum::Coefficients { planes, values }
    }
}

/// What the updates of a history add to some weights, one after the other: row, plane, amount.
type Each = fn(&History, &mut dyn FnMut(usize, usize, f64));

/// One sum for each stored example and plane.
fn added_up(histories: &[History], n_rows: usize, each: Each) -> Vec<f64> {
    let planes: usize = histories.iter().map(|history| history.planes).sum();
    let (mut values, mut first) = (vec![0.0; n_rows * planes], 0);
    for history in histories {
        each(history, &mut |row, plane, amount| values[row * planes + first + plane] += amount);
        first += history.planes;
    }
    values
}

/// The mean of the weights. Divided last: as long as examples count whole visits all sums are exact, so that they do not depend on how they are kept.
fn meant(histories: &[History], n_rows: usize) -> Vec<f64> {
    let visits = |history: &History| vec![history.visits().max(f64::MIN_POSITIVE); history.planes];
    let visits: Vec<f64> = histories.iter().flat_map(visits).collect();
    let mut values = added_up(histories, n_rows, History::each_total);
    for of_row in values.chunks_mut(visits.len().max(1)) {
        of_row.iter_mut().zip(&visits).for_each(|(value, visits)| *value /= visits);
    }
    values
}

/// Counts, if that is what they are: not where examples counted in part, or were projected onto others.
pub(crate) fn whole(counts: Vec<f64>) -> Vec<f64> {
    if counts.iter().all(|a| a.fract() == 0.0) { counts } else { Vec::new() }
}

impl Expansion {
    /// A sum from its parts: for each stored example one coefficient a plane, and as many constant terms as there are planes.
    ///
    /// ```
    /// use rosenblatt::{Body, Csr, Dense, Expansion, Kernel};
    /// let stored = Csr::new(vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0], 2)?; // (1, 0) and (0, 2)
    /// let sum = Expansion::from_parts(Kernel::Linear, stored, vec![3.0, -1.0], vec![0.5])?;
    /// let x = Dense::new(vec![1.0, 1.0], 2)?.into();
    /// assert_eq!(Body::Kernel(sum).scores(&x), [1.5]); // 3·1 − 1·2 + 0.5
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_parts(
        kernel: Kernel,
        rows: Csr<'static, f64>,
        coefficients: Vec<f64>,
        offsets: Vec<f64>,
    ) -> Result<Self, ModelError> {
        let contradiction = |what: String| Err(ModelError::Contradiction(what));
        if let Err(error) = kernel.check_parameters() {
            return contradiction(format!("kernel: {error}"));
        }
        if !coefficients.iter().chain(&offsets).all(|value| value.is_finite()) {
            return Err(ModelError::NotFinite("coefficients".to_owned()));
        }
        let planes = offsets.len();
        if rows.n_rows().checked_mul(planes) != Some(coefficients.len()) {
            return contradiction("there is not one coefficient for each stored row and plane".to_owned());
        }
        let rows = Matrix::CsrF64(rows);
        if let Err(error) = rows.check_values() {
            return contradiction(format!("stored rows: {error}"));
        }
        let sum = Sum::Coefficients { planes, values: coefficients };
        Ok(Expansion {
            kernel: kernel.into(),
            lifted: false,
            rows,
            numbers: Vec::new(),
            offsets,
            counts: Vec::new(),
            sum,
        })
    }

    /// Whether it is that of a kernel machine, so that its examples are support vectors: it has a constant term for each plane.
    pub fn is_machine(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// The kernel.
    pub fn kernel(&self) -> &Similarity {
        &self.kernel
    }

    /// The stored examples; of a precomputed kernel their numbers alone: 1 in the column that the training row had.
    pub fn rows(&self) -> &Matrix<'static> {
        &self.rows
    }

    /// Which of the training rows were stored, counted from 0: the support vectors of a kernel machine. Nothing where that is not known.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Gives the training rows other numbers, as where they were some of the rows of a file.
    ///
    /// ```
    /// use rosenblatt::{Body, Dataset, Dense, Labels, Learner, Svm};
    /// let all = Dataset::new(Dense::new(vec![9.0, 1.0, 9.0, 2.0], 1)?, &Labels::new(["a", "a", "b", "b"]))?;
    /// let kept = [1, 3];
    /// let mut model = Svm::default().fit(&all.select(&kept), &mut ())?.model;
    /// let Body::Kernel(expansion) = &mut model.body else { unreachable!() };
    /// expansion.renumber(|row| kept[row as usize] as u64);
    /// assert_eq!(expansion.numbers(), [1, 3]);
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        self.numbers.iter_mut().for_each(|row| *row = number(*row));
    }

    /// The constant term of each plane, apart from the 1 that may be added to the kernel ([`is_lifted`](Expansion::is_lifted)).
    pub fn offsets(&self) -> Vec<f64> {
        if self.offsets.is_empty() { vec![0.0; self.planes()] } else { self.offsets.clone() }
    }

    /// Whether 1 is added to the kernel, so that coefficients add to the constant term, too.
    pub fn is_lifted(&self) -> bool {
        self.lifted
    }

    /// The constant term of the one plane.
    pub(crate) fn bias(&self) -> Option<f64> {
        let Sum::Coefficients { planes: 1, values } = &self.sum else { return None };
        Some(self.lift() * values.iter().sum::<f64>() + self.offsets.first().copied().unwrap_or_default())
    }

    /// The coefficients of all stored examples, one for each plane; of a vote the signed counts of its updates.
    ///
    /// ```
    /// use rosenblatt::{Body, Dataset, Dense, KernelName, KernelPerceptron, Labels, Learner, Order};
    /// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["1", "-1", "1", "-1"]))?;
    /// let learner = KernelPerceptron {
    ///     kernel: KernelName::Poly, degree: 2, coef0: Some(0.0), order: Order::Cyclic, ..KernelPerceptron::default()
    /// };
    /// let Body::Kernel(expansion) = learner.fit(&data, &mut ())?.model.body else { unreachable!() };
    /// assert_eq!((expansion.len(), expansion.coefficients()), (1, vec![1.0]));
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn coefficients(&self) -> Vec<f64> {
        match &self.sum {
            Sum::Coefficients { values, .. } => values.clone(),
            Sum::Votes { histories, .. } => added_up(histories, self.len(), History::each_last),
        }
    }

    /// How often each stored example was added to each plane, with its sign, where that is known: of a perceptron that predicts with the mean of its weights these are not its coefficients.
    ///
    /// ```
    /// use rosenblatt::{Body, Dataset, Dense, KernelName, KernelPerceptron, Labels, Learner, Order, Predictor};
    /// let x = Dense::new(vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0], 2)?;
    /// let data = Dataset::new(x, &Labels::new(["-1", "1", "-1", "1"]))?;
    /// let learner = KernelPerceptron {
    ///     kernel: KernelName::Linear, order: Order::Cyclic, passes: 1, predictor: Predictor::Averaged, ..KernelPerceptron::default()
    /// };
    /// let Body::Kernel(expansion) = learner.fit(&data, &mut ())?.model.body else { unreachable!() };
    /// assert_eq!(expansion.counts(), [1.0, 1.0]); // the second and the fourth row, each once
    /// assert_eq!(expansion.coefficients(), [0.75, 0.25]); // there for three of four rows, and for the last
    /// # Ok::<(), rosenblatt::Error>(())
    /// ```
    pub fn counts(&self) -> Vec<f64> {
        match &self.sum {
            Sum::Coefficients { values, .. } if self.counts.is_empty() => {
                let counted = !self.is_machine() && values.iter().all(|a| a.fract() == 0.0);
                if counted { values.clone() } else { Vec::new() }
            }
            Sum::Coefficients { .. } => self.counts.clone(),
            Sum::Votes { .. } => self.coefficients(),
        }
    }

    /// The coefficients of all stored examples, one for each plane; of a vote those of the mean of its vectors, which is what can be looked at.
    pub(crate) fn mean(&self) -> Vec<f64> {
        match &self.sum {
            Sum::Coefficients { values, .. } => values.clone(),
            Sum::Votes { histories, .. } => meant(histories, self.len()),
        }
    }

    /// The kernel values of a row with all stored examples, with the 1 of a bias: in double precision where the kernel is known in it.
    pub(crate) fn values(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let mut values: Vec<f64> = match self.kernel.kernel() {
            Some(kernel) => {
                let row = entries(x, i);
                (0..self.len()).map(|s| kernel.of_entries(&entries(&self.rows, s), &row)).collect()
            }
            None => self.values_of_user(x, i),
        };
        values.iter_mut().for_each(|value| *value += self.lift());
        values
    }

    fn values_of_user(&self, x: &Matrix<'_>, i: usize) -> Vec<f64> {
        let (stored, new) = Gram::both(&self.kernel, &self.rows, x);
        let all: Vec<usize> = (0..self.len()).collect();
        let mut values = vec![0.0; all.len()];
        stored.values(&stored.tiles(&new, &[i]), &all, &mut values);
        values.into_iter().map(f64::from).collect()
    }

    /// ‖w‖² and the bias of a sum with one plane; nothing for votes, and where the kernel is no dot product.
    pub(crate) fn sq_norm(&self) -> Option<(f64, f64)> {
        let Sum::Coefficients { planes: 1, values } = &self.sum else { return None };
        self.dot_product()?;
        let bias = self.bias()?;
        let scores = self.scores_while(&self.rows, || true)?;
        let square: f64 = values.iter().zip(scores).map(|(a, g)| a * (g - bias)).sum();
        Some((square, bias))
    }

    /// The longest row in the space of the kernel; nothing where there is no such space.
    pub(crate) fn radius(&self, x: &Matrix<'_>) -> Option<f64> {
        let kernel = self.dot_product()?;
        let own = |square: f64| kernel.own(square);
        let longest = with_rows!(x, x => (0..x.n_rows()).map(|i| own(x.sq_norm(i))).fold(0.0, f64::max));
        Some((longest + self.lift()).sqrt())
    }

    /// The kernel, where it is known to be a dot product.
    pub(crate) fn dot_product(&self) -> Option<Kernel> {
        self.kernel.kernel().filter(|kernel| kernel.is_positive())
    }

    /// Of a vote, the sum that the last of its vectors are, or their mean: one run tells all three. Sums stay what they are.
    pub fn predicting(&self, predictor: Predictor) -> Self {
        let sum = match (&self.sum, predictor) {
            (Sum::Votes { histories, .. }, Predictor::Last) => {
                Sum::of_histories(histories, self.len(), false)
            }
            (Sum::Votes { histories, .. }, Predictor::Averaged) => {
                Sum::of_histories(histories, self.len(), true)
            }
            (sum, _) => sum.clone(),
        };
        let means = matches!((&self.sum, predictor), (Sum::Votes { .. }, Predictor::Averaged));
        let counts = if means { whole(self.coefficients()) } else { self.counts.clone() };
        Expansion { sum, counts, ..self.clone() }
    }

    /// How many examples are stored.
    pub fn len(&self) -> usize {
        self.rows.n_rows()
    }

    /// Whether there are none: every score is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many weight vectors vote; nothing where none do.
    pub fn voters(&self) -> Option<usize> {
        match &self.sum {
            Sum::Coefficients { .. } => None,
            Sum::Votes { histories, .. } => Some(histories.iter().map(History::voters).sum()),
        }
    }

    pub(crate) fn planes(&self) -> usize {
        match &self.sum {
            Sum::Coefficients { planes, .. } => *planes,
            Sum::Votes { histories, .. } => histories.iter().map(|history| history.planes).sum(),
        }
    }

    fn lift(&self) -> f64 {
        if self.lifted { 1.0 } else { 0.0 }
    }

    /// The scores of all rows, row after row, unless told to stop.
    pub(crate) fn scores_while(&self, x: &Matrix<'_>, go_on: impl Fn() -> bool + Sync) -> Option<Vec<f64>> {
        let (stored, new) = Gram::both(&self.kernel, &self.rows, x);
        let histories = match &self.sum {
            Sum::Votes { tie, histories } => (*tie, &histories[..]),
            Sum::Coefficients { planes, values } => {
                let (examples, all) =
                    ((0..self.len()).collect::<Vec<_>>(), (0..x.n_rows()).collect::<Vec<_>>());
                let (stored_rows, lift) = (&examples[..], self.lift());
                let sum = Combination { stored: stored_rows, coefficients: values, planes: *planes, lift };
                let mut scores = new.combine_while(&all, &stored, sum, go_on)?;
                if !self.offsets.is_empty() {
                    let rows = scores.chunks_mut(self.offsets.len());
                    rows.for_each(|row| row.iter_mut().zip(&self.offsets).for_each(|(g, b)| *g += b));
                }
                if self.is_machine() {
                    self.rescore((&stored, &new), values, &mut scores);
                }
                return Some(scores);
            }
        };
        let planes = self.planes();
        let mut all = vec![0.0; x.n_rows() * planes];
        let block = (ROOM / self.len().max(1)).clamp(16, 256);
        let blocks = all.par_chunks_mut(block * planes).enumerate();
        let finished = blocks.map_init(Vec::new, |room, (b, out)| {
            let first = b * block;
            let done = go_on();
            if done {
                self.vote(histories, &stored, &new, first..first + out.len() / planes, room, out);
            }
            done
        });
        finished.all(|done| done).then_some(all)
    }

    /// Refuses rows that cannot be compared with the stored ones.
    pub(crate) fn check_new(&self, x: &Matrix<'_>) -> Result<(), DataError> {
        match self.is_machine() && Self::tells_precisely(&self.kernel) {
            true => self.kernel.check_range(x, 0),
            false => Gram::check_new(&self.kernel, &self.rows, x),
        }
    }

    /// Whether a machine tells distances in double precision where single precision cannot.
    pub(crate) fn tells_precisely(kernel: &Similarity) -> bool {
        matches!(kernel.kernel(), Some(Kernel::Rbf { .. }))
    }

    /// Whether it was not learned here: a machine that does not know which rows it was made of.
    pub(crate) fn is_of_another_program(&self) -> bool {
        self.is_machine() && self.numbers.len() != self.len()
    }

    /// Rows that are nearer to a boundary than single precision can tell are scored anew in double precision. Those of machines of other programs stay where these put them for sure; ours stay where the solver, which knows
    /// where single precision is too coarse, has seen them: where errors that add up by chance may be a good part of the margin.
    fn rescore(&self, (stored, new): (&Gram<'_>, &Gram<'_>), coefficients: &[f64], scores: &mut [f64]) {
        /// Of what single precision may be off at the most.
        const USUAL: f64 = 0.1;
        const MARGIN: f64 = 0.1;
        let (Some(kernel), planes) = (self.kernel.kernel(), self.planes()) else { return };
        let longest = (0..self.len()).map(|s| stored.length(s)).fold(0.0, f64::max);
        let of_plane = |plane: usize| coefficients.iter().skip(plane).step_by(planes);
        let foreign = self.is_of_another_program();
        let size = |plane: usize| match foreign {
            true => of_plane(plane).map(|a| a.abs()).sum::<f64>(),
            false => USUAL * of_plane(plane).map(|a| a * a).sum::<f64>().sqrt(),
        };
        let sizes: Vec<f64> = (0..planes).map(size).collect();
        let least = if foreign { 0.0 } else { MARGIN };
        scores.par_chunks_mut(planes).enumerate().for_each(|(i, scores)| {
            let off = kernel.coarseness(new.length(i), longest);
            let unclear = |(score, size): (&f64, &f64)| off * size >= least && score.abs() <= off * size;
            if scores.iter().zip(&sizes).any(unclear) {
                self.score_precisely(kernel, &entries(new.rows(), i), coefficients, scores);
            }
        });
    }

    fn score_precisely(
        &self,
        kernel: Kernel,
        row: &[(usize, f64)],
        coefficients: &[f64],
        scores: &mut [f64],
    ) {
        let mut sums = vec![0.0; scores.len()];
        for (s, of_row) in coefficients.chunks(scores.len()).enumerate() {
            let value = kernel.of_entries(row, &entries(&self.rows, s));
            for (sum, a) in sums.iter_mut().zip(of_row).filter(|(_, a)| **a != 0.0) {
                *sum += a * value;
            }
        }
        let sums = sums.iter().zip(&self.offsets);
        scores.iter_mut().zip(sums).for_each(|(score, (sum, offset))| *score = sum + offset);
    }

    fn vote(
        &self,
        (tie, histories): (Tie, &[History]),
        stored: &Gram<'_>,
        new: &Gram<'_>,
        rows: Range<usize>,
        room: &mut Vec<f32>,
        out: &mut [f64],
    ) {
        let rows: Vec<usize> = rows.collect();
        let all: Vec<usize> = (0..self.len()).collect();
        let (width, planes, lift) = (rows.len(), self.planes(), self.lift());
        room.clear();
        room.resize(all.len() * width, 0.0);
        stored.values(&stored.tiles(new, &rows), &all, room);
        let mut first = 0;
        for history in histories {
            history.vote(tie, room, width, lift, &mut out[first..], planes);
            first += history.planes;
        }
    }
}
