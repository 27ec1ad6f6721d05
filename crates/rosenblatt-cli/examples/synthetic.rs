//! Made-up text for the benches, the same on every machine: `synthetic ROWS PREFIX` writes `PREFIX.svm` (LIBSVM text) and `PREFIX.vw` (Vowpal
//! Wabbit text) with the same rows in the same order.
//!
//! A row has Poisson(75) + 5 words out of 50,000, the word of rank r with probability p ∝ r^−1.05. Its entries are tf-idf,
//! (1 + ln count)·ln(1/(75p) + 1), at unit length. A label is the sign of a linear score, of which a fifth of the words have a say, against
//! its median, after noise of 0.3 standard deviations.
#![allow(clippy::print_stdout, reason = "it says what it wrote")]

use std::error::Error;
use std::f64::consts::TAU;
use std::fs::File;
use std::io::{BufWriter, Write};

use rosenblatt::Rng;

const WORDS: usize = 50_000;
const ZIPF: f64 = 1.05;
const MEAN_WORDS: f64 = 75.0;
const LEAST_WORDS: usize = 5;
const SHARE_WITH_A_SAY: f64 = 0.2;
const NOISE: f64 = 0.3;

/// Independent random numbers for each use.
const WEIGHTS_STREAM: u64 = 0;
const ROWS_STREAM: u64 = 1;
const NOISE_STREAM: u64 = 2;

/// Entries of a row: word from 0, value.
type Row = Vec<(u32, f64)>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, prefix] = arguments.as_slice() else {
        return Err("usage: synthetic ROWS PREFIX".into());
    };
    let rows = texts(rows.parse()?);
    let labels = labels(&rows);
    write(&rows, &labels, prefix)?;
    let entries: usize = rows.iter().map(Vec::len).sum();
    println!("{prefix}.svm and {prefix}.vw: {} rows, {entries} entries", rows.len());
    Ok(())
}

fn texts(n: usize) -> Vec<Row> {
    let words = Words::new();
    let mut rng = Rng::stream(0, ROWS_STREAM);
    (0..n).map(|_| words.text(&mut rng)).collect()
}

/// The language.
struct Words {
    /// Probability of the word or any before it.
    cumulative: Vec<f64>,
    inverse_frequency: Vec<f64>,
}

impl Words {
    fn new() -> Self {
        let mass: Vec<f64> = (1..=WORDS).map(|rank| (rank as f64).powf(-ZIPF)).collect();
        let total: f64 = mass.iter().sum();
        let cumulative = mass.iter().scan(0.0, |sum, m| {
            *sum += m / total;
            Some(*sum)
        });
        let inverse_frequency = mass.iter().map(|m| (total / (MEAN_WORDS * m) + 1.0).ln());
        Words { cumulative: cumulative.collect(), inverse_frequency: inverse_frequency.collect() }
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let u = rng.uniform();
        self.cumulative.partition_point(|&c| c <= u).min(WORDS - 1) as u32
    }

    fn text(&self, rng: &mut Rng) -> Row {
        let length = poisson(MEAN_WORDS, rng) + LEAST_WORDS;
        let mut tokens: Vec<u32> = (0..length).map(|_| self.draw(rng)).collect();
        tokens.sort_unstable();
        let mut row: Row = tokens
            .chunk_by(|a, b| a == b)
            .map(|same| {
                (same[0], (1.0 + (same.len() as f64).ln()) * self.inverse_frequency[same[0] as usize])
            })
            .collect();
        let norm = row.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
        row.iter_mut().for_each(|(_, v)| *v /= norm);
        row
    }
}

/// ±1, both equally often.
fn labels(rows: &[Row]) -> Vec<i8> {
    let mut rng = Rng::stream(0, WEIGHTS_STREAM);
    let weights: Vec<f64> =
        (0..WORDS).map(|_| if rng.uniform() < SHARE_WITH_A_SAY { normal(&mut rng) } else { 0.0 }).collect();
    let score = |row: &Row| row.iter().map(|&(j, v)| weights[j as usize] * v).sum();
    let mut scores: Vec<f64> = rows.iter().map(score).collect();
    let noise = NOISE * standard_deviation(&scores);
    let mut rng = Rng::stream(0, NOISE_STREAM);
    scores.iter_mut().for_each(|score| *score += noise * normal(&mut rng));
    let median = median(&scores);
    scores.iter().map(|&score| if score > median { 1 } else { -1 }).collect()
}

fn standard_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The lower one of an even number of values; 0 of none.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// Knuth 1969, The Art of Computer Programming 2, 3.4.1: multiplies uniforms until the product falls below e^−mean.
fn poisson(mean: f64, rng: &mut Rng) -> usize {
    let limit = (-mean).exp();
    let mut product = rng.uniform();
    let mut count = 0;
    while product > limit {
        product *= rng.uniform();
        count += 1;
    }
    count
}

/// Box and Muller 1958.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.uniform()).ln()).sqrt();
    radius * (TAU * rng.uniform()).cos()
}

fn write(rows: &[Row], labels: &[i8], prefix: &str) -> std::io::Result<()> {
    let mut svm = BufWriter::new(File::create(format!("{prefix}.svm"))?);
    let mut vw = BufWriter::new(File::create(format!("{prefix}.vw"))?);
    let mut entries = String::new();
    for (row, label) in rows.iter().zip(labels) {
        entries.clear();
        for &(word, value) in row {
            entries.push_str(&format!(" {}:", word + 1));
            push_digits(&mut entries, value);
        }
        writeln!(svm, "{label}{entries}")?;
        writeln!(vw, "{label} |{entries}")?;
    }
    svm.flush()?;
    vw.flush()
}

/// 17 significant digits, so that no bit is lost; without an exponent where that is short.
fn push_digits(text: &mut String, value: f64) {
    let scientific = format!("{value:.16e}");
    match scientific.split_once('e') {
        Some((digits, "0")) => text.push_str(digits),
        Some((digits, exponent @ ("-1" | "-2" | "-3" | "-4"))) => {
            text.push_str("0.");
            (1..exponent.as_bytes()[1] - b'0').for_each(|_| text.push('0'));
            text.extend(digits.chars().filter(|&c| c != '.'));
        }
        _ => text.push_str(&scientific),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_read_back_bit_by_bit() {
        let mut rng = Rng::new(1);
        for exponent in -6..3 {
            for _ in 0..100 {
                let value = rng.uniform() * 10f64.powi(exponent);
                let mut text = String::new();
                push_digits(&mut text, value);
                assert_eq!(text.parse(), Ok(value), "{text}");
            }
        }
        let shown = |value| {
            let mut text = String::new();
            push_digits(&mut text, value);
            text
        };
        assert_eq!(shown(1.0), "1.0000000000000000");
        assert_eq!(shown(0.5), "0.50000000000000000");
        assert_eq!(shown(0.0625), "0.062500000000000000");
        assert_eq!(shown(2f64.powi(-20)), "9.5367431640625000e-7");
    }

    #[test]
    fn rows_are_ascending_words_at_unit_length() {
        for row in texts(50) {
            assert!(
                row.is_sorted_by(|a, b| a.0 < b.0) && row.iter().all(|&(j, v)| j < WORDS as u32 && v > 0.0)
            );
            let norm: f64 = row.iter().map(|(_, v)| v * v).sum();
            assert!((norm - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn moments_are_those_of_the_recipe() {
        let mut rng = Rng::new(2);
        let counts: Vec<f64> = (0..20_000).map(|_| poisson(MEAN_WORDS, &mut rng) as f64).collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        assert!((mean - 75.0).abs() < 0.3, "{mean}");
        assert!((standard_deviation(&counts) - 75f64.sqrt()).abs() < 0.2);
        let normals: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        assert!((standard_deviation(&normals) - 1.0).abs() < 0.03);
        assert!(median(&normals).abs() < 0.03);
    }

    #[test]
    fn labels_are_balanced_and_the_same_each_time() {
        let rows = texts(200);
        let first = labels(&rows);
        assert_eq!(first.iter().filter(|&&label| label == 1).count(), 100);
        assert_eq!(first, labels(&texts(200)));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.0);
        assert_eq!(median(&[]), 0.0);
    }
}
