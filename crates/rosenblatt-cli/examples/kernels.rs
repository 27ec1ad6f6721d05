//! What `bench/kernels.py` measures of ours.
//!
//! `kernels blocks FILE dense|sparse SET SETS SCALE`: seconds for SETS blocks of the Gaussian kernel, SET rows against all, with all values divided by SCALE; and the sum of the values.
//! `kernels rows FILE dense|sparse SET SETS SCALE`: seconds for SETS working sets of SET kernel rows each, of which none was kept, with all values divided by SCALE; and the sum of the values.
//! `kernels passes TRAIN TEST DEGREE PASSES`: test errors of the one-vs-rest kernel perceptron after each of these passes, as in `1,2,5`.
//! `kernels stream ROWS forgetron|projectron|none BUDGET`: a kernel perceptron on rows that are made up as they come; at every doubling how it does, and in how much time and memory.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::Instant;

use rosenblatt::{
    Body, Class, Classes, Csr, Dataset, Dense, Forget, Gram, Kernel, KernelName, KernelPerceptron, Learner,
    Matrix, Multiclass, Order, Predictor, Rng, RowCache, Rows,
};
use rosenblatt_io::{ReadOptions, read};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["blocks", file, form, set, sets, scale] => {
            blocks(file, form == "dense", set.parse()?, sets.parse()?, scale.parse()?)
        }
        ["rows", file, form, set, sets, scale] => {
            rows(file, form == "dense", set.parse()?, sets.parse()?, scale.parse()?)
        }
        ["passes", train, test, degree, passes] => {
            let passes: Vec<usize> = passes.split(',').map(str::parse).collect::<Result<_, _>>()?;
            errors(train, test, degree.parse()?, &passes)
        }
        ["stream", rows, forget, budget] => stream(rows.parse()?, forget, budget.parse()?),
        _ => Err("blocks FILE dense|sparse SET SETS SCALE, rows FILE dense|sparse SET SETS SCALE, passes TRAIN TEST DEGREE PASSES, or stream ROWS FORGET BUDGET".into()),
    }
}

fn blocks(file: &str, dense: bool, set: usize, sets: usize, scale: f32) -> Result<(), Box<dyn Error>> {
    let x = divided(file, dense, scale)?;
    let all: Vec<usize> = (0..x.n_rows()).collect();
    let gram = Gram::new(Kernel::Rbf { gamma: 0.02 }, &x)?;
    let mut values = vec![0.0f32; x.n_rows() * set];
    let mut sum = 0.0;
    let mut seconds = 0.0;
    for rows in all.chunks_exact(set).take(sets) {
        let start = Instant::now();
        gram.values(&gram.tiles(&gram, rows), &all, &mut values);
        seconds += start.elapsed().as_secs_f64();
        sum += values.iter().map(|&v| f64::from(v)).sum::<f64>();
    }
    println!("{}", json!({ "seconds": seconds, "sum": sum }));
    Ok(())
}

fn rows(file: &str, dense: bool, set: usize, sets: usize, scale: f32) -> Result<(), Box<dyn Error>> {
    let x = divided(file, dense, scale)?;
    let gram = Gram::new(Kernel::Rbf { gamma: 0.02 }, &x)?;
    let start = Instant::now();
    // Room for two sets: what is evaluated takes the place of what was before.
    let mut cache = RowCache::new(&gram, x.n_rows() * (8 * set + 200) + 4 * x.n_rows() * x.n_cols() * 4)?;
    let ready = start.elapsed().as_secs_f64();
    let all: Vec<usize> = (0..x.n_rows()).collect();
    let (mut sum, mut first, mut rest) = (0.0, 0.0, 0.0);
    for (at, rows) in all.chunks_exact(set).take(sets).enumerate() {
        let start = Instant::now();
        let rows = cache.rows(rows);
        let seconds = start.elapsed().as_secs_f64();
        *(if at < 2 { &mut first } else { &mut rest }) += seconds;
        sum += rows.iter().flat_map(|row| row.iter()).map(|&v| f64::from(v)).sum::<f64>();
    }
    let values = (sets - 2) as f64 * (set * x.n_rows()) as f64;
    println!(
        "{}",
        json!({ "ready": ready, "first two": first, "rest": rest, "ns a value": rest * 1e9 / values, "sum": sum })
    );
    Ok(())
}

fn divided(file: &str, dense: bool, scale: f32) -> Result<Matrix<'static>, Box<dyn Error>> {
    let table = read(file, &ReadOptions::default())?;
    let mut x = if dense { full(&table.x)? } else { sparse(&table.x)? };
    match &mut x {
        Matrix::DenseF32(x) => x.values_mut().iter_mut().for_each(|v| *v /= scale),
        Matrix::CsrF32(x) => x.values_mut().iter_mut().for_each(|v| *v /= scale),
        _ => {}
    }
    Ok(x)
}

fn sparse(x: &Matrix<'_>) -> Result<Matrix<'static>, Box<dyn Error>> {
    let (mut pointers, mut columns, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for i in 0..x.n_rows() {
        x.each(i, |j, v| {
            if v != 0.0 {
                columns.push(j as u32);
                values.push(v as f32);
            }
        });
        pointers.push(columns.len() as u64);
    }
    Ok(Csr::new(pointers, columns, values, x.n_cols())?.into())
}

fn full(x: &Matrix<'_>) -> Result<Matrix<'static>, Box<dyn Error>> {
    let mut values = vec![0.0f32; x.n_rows() * x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| values[i * x.n_cols() + j] = v as f32);
    }
    Ok(Dense::new(values, x.n_cols())?.into())
}

/// Three sweeps over the test rows take longer than a pass over the others where few mistakes are left, so that it is not done after every pass.
fn errors(train: &str, test: &str, degree: u32, looked_at: &[usize]) -> Result<(), Box<dyn Error>> {
    let (train, test) = (read(train, &ReadOptions::default())?, read(test, &ReadOptions::default())?);
    let (mut x, mut new) = (train.x, test.x);
    let width = x.n_cols().max(new.n_cols());
    for matrix in [&mut x, &mut new] {
        if let Matrix::CsrF32(rows) = matrix {
            rows.widen(width);
        }
    }
    let labels = train.labels.ok_or("no labels")?;
    let data = Dataset::new(x, &labels)?;
    let classes: &Classes = data.classes();
    let expected = test.labels.ok_or("no labels")?;
    let passes = looked_at.iter().copied().max().unwrap_or(0);
    let learner = KernelPerceptron {
        degree,
        multiclass: Multiclass::Ovr,
        order: Order::Cyclic,
        passes,
        predictor: Predictor::Voted,
        ..KernelPerceptron::default()
    };
    let mut run = learner.run(classes.clone(), width, None)?;
    let mut seconds = 0.0;
    for pass in 1..=passes {
        let start = Instant::now();
        run.learn(&data)?;
        let end = run.end_pass();
        seconds += start.elapsed().as_secs_f64();
        if end.is_none() && !looked_at.contains(&pass) {
            continue;
        }
        let start = Instant::now();
        let model = run.model();
        let Body::Kernel(voted) = &model.body else { return Err("no kernel".into()) };
        let wrong = |predictor: Predictor| -> Result<usize, Box<dyn Error>> {
            let body = Body::Kernel(voted.predicting(predictor));
            let found = rosenblatt::Model { body, ..model.clone() }.predict(&new)?;
            let right =
                |(i, class): &(usize, &u32)| classes.find(expected.text(*i)) != Some(**class as usize);
            Ok(found.iter().enumerate().filter(right).count())
        };
        let share = |wrong: usize| wrong as f64 / new.n_rows() as f64;
        let (last, averaged) = (share(wrong(Predictor::Last)?), share(wrong(Predictor::Averaged)?));
        let voted_share = share(wrong(Predictor::Voted)?);
        println!(
            "{}",
            json!({
                "degree": degree, "pass": pass, "seconds": seconds, "stored": voted.len(), "last": last,
                "averaged": averaged, "voted": voted_share, "tested": start.elapsed().as_secs_f64(),
            })
        );
        if end.is_some() {
            break;
        }
    }
    Ok(())
}

/// Rows about centres, each of a class by chance, one in twenty rows of the other: no plane will do, and mistakes do not end.
struct Clusters {
    centres: Vec<([f32; FEATURES], u32)>,
    rng: Rng,
}

const FEATURES: usize = 20;
const CENTRES: usize = 100;
const SPREAD: f64 = 0.5;
const NOISE: f64 = 0.05;
const GAMMA: f64 = 0.1;

impl Clusters {
    fn new(stream: u64) -> Self {
        let mut rng = Rng::stream(0, 0);
        let centre = |_| (std::array::from_fn(|_| normal(&mut rng) as f32), rng.below(2) as u32);
        Clusters { centres: (0..CENTRES).map(centre).collect(), rng: Rng::stream(0, 1 + stream) }
    }

    fn take(&mut self, n: usize) -> Result<Dataset<'static>, Box<dyn Error>> {
        let (mut values, mut y) = (Vec::with_capacity(n * FEATURES), Vec::with_capacity(n));
        for _ in 0..n {
            let (centre, class) = &self.centres[self.rng.below(CENTRES as u64) as usize];
            values.extend(centre.iter().map(|c| c + (SPREAD * normal(&mut self.rng)) as f32));
            y.push(class ^ u32::from(self.rng.uniform() < NOISE));
        }
        let classes = Classes::new(["a", "b"].map(Class::from).to_vec());
        Ok(Dataset::with_classes(Dense::new(values, FEATURES)?, y, classes)?)
    }
}

/// Box and Muller's.
fn normal(rng: &mut Rng) -> f64 {
    let (u, v) = (1.0 - rng.uniform(), rng.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn stream(rows: usize, forget: &str, budget: usize) -> Result<(), Box<dyn Error>> {
    const BLOCK: usize = 8192;
    let forget = match forget {
        "none" => None,
        "forgetron" => Some(Forget::Forgetron),
        "projectron" => Some(Forget::Projectron),
        _ => return Err("forgetron, projectron or none".into()),
    };
    let learner = KernelPerceptron {
        kernel: KernelName::Rbf,
        gamma: Some(GAMMA),
        order: Order::Cyclic,
        passes: 1,
        budget: forget.map(|_| budget),
        forget,
        ..KernelPerceptron::default()
    };
    let (mut coming, held_out) = (Clusters::new(0), Clusters::new(1).take(10_000)?);
    let mut run = learner.run(held_out.classes().clone(), FEATURES, None)?;
    let (mut seconds, mut seen, mut next) = (0.0, 0, rows.div_ceil(16));
    while seen < rows {
        let block = coming.take(BLOCK.min(rows - seen).min(next - seen))?;
        let start = Instant::now();
        run.learn(&block)?;
        seconds += start.elapsed().as_secs_f64();
        seen += block.n_rows();
        if seen == next {
            next = rows.min(2 * next);
            let model = run.model();
            let Body::Kernel(expansion) = &model.body else { return Err("no kernel".into()) };
            let found = model.predict(held_out.x())?;
            let right = found.iter().zip(held_out.y()).filter(|(a, b)| a == b).count();
            println!(
                "{}",
                json!({
                    "rows": seen, "seconds": seconds, "mistakes": run.mistakes(), "stored": expansion.len(),
                    "accuracy": right as f64 / held_out.n_rows() as f64, "peak_mib": peak_mib(),
                })
            );
        }
    }
    Ok(())
}

/// The most memory this process has had so far, where the system tells.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}
