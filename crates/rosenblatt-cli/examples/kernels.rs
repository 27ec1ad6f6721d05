//! What `bench/kernels.py` measures of ours.
//!
//! `kernels blocks FILE dense|sparse SET SETS`: seconds for SETS blocks of the Gaussian kernel, SET rows against all, and the sum of the values.
//! `kernels passes TRAIN TEST DEGREE PASSES`: test errors of the one-vs-rest kernel perceptron after each pass.
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::error::Error;
use std::time::Instant;

use rosenblatt::{
    Body, Classes, Dataset, Dense, Gram, Kernel, KernelPerceptron, Learner, Matrix, Multiclass, Order,
    Predictor, Rows,
};
use rosenblatt_io::{ReadOptions, read};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["blocks", file, form, set, sets] => blocks(file, form == "dense", set.parse()?, sets.parse()?),
        ["passes", train, test, degree, passes] => errors(train, test, degree.parse()?, passes.parse()?),
        _ => Err("blocks FILE dense|sparse SET SETS, or passes TRAIN TEST DEGREE PASSES".into()),
    }
}

fn blocks(file: &str, dense: bool, set: usize, sets: usize) -> Result<(), Box<dyn Error>> {
    let table = read(file, &ReadOptions::default())?;
    let x = if dense { full(&table.x)? } else { table.x };
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

fn full(x: &Matrix<'_>) -> Result<Matrix<'static>, Box<dyn Error>> {
    let mut values = vec![0.0f32; x.n_rows() * x.n_cols()];
    for i in 0..x.n_rows() {
        x.each(i, |j, v| values[i * x.n_cols() + j] = v as f32);
    }
    Ok(Dense::new(values, x.n_cols())?.into())
}

fn errors(train: &str, test: &str, degree: u32, passes: usize) -> Result<(), Box<dyn Error>> {
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
        println!(
            "{}",
            json!({
                "degree": degree, "pass": pass, "seconds": seconds, "stored": voted.len(),
                "last": share(wrong(Predictor::Last)?), "averaged": share(wrong(Predictor::Averaged)?),
                "voted": share(wrong(Predictor::Voted)?),
            })
        );
        if end.is_some() {
            break;
        }
    }
    Ok(())
}
