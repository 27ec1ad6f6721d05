//! Separability against an oracle that shares no code with it: Fourier–Motzkin elimination in exact fractions.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rosenblatt::{Dataset, Dense, Labels, Rng, Rows, Separability};

/// A finite double as a whole number over 2^1200, which all of these tests' values are.
fn whole(value: f64) -> BigInt {
    let bits = value.abs().to_bits();
    let (biased, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if biased == 0 { (fraction, 1) } else { (fraction | 1 << 52, biased) };
    let size = BigInt::from(mantissa) << (exponent + 1200 - 1075);
    if value < 0.0 { -size } else { size }
}

/// Whether some v has aᵢ·v > 0 for all i. One unknown after the other is taken out: of a·v > 0 with a last number above 0 and b·v > 0 with one below 0 follows a sum of both without the
/// unknown, and what is left has a solution exactly where all had (Fourier 1827).
fn oracle(mut rows: Vec<Vec<BigInt>>) -> bool {
    let dims = rows[0].len();
    for _ in 0..dims {
        let (mut above, mut below, mut next) = (Vec::new(), Vec::new(), Vec::new());
        for mut row in rows {
            let last = row.pop().unwrap();
            match (last.is_zero(), last.is_positive()) {
                (true, _) => next.push(row),
                (_, true) => above.push((row, last)),
                _ => below.push((row, last)),
            }
        }
        for (a, u) in &above {
            for (b, v) in &below {
                let mut row: Vec<BigInt> = a.iter().zip(b).map(|(a, b)| b * u - a * v).collect();
                let by = row.iter().fold(BigInt::zero(), |all, v| num_integer::gcd(all, v.clone()));
                if by > BigInt::one() {
                    row.iter_mut().for_each(|v| *v /= &by);
                }
                next.push(row);
            }
        }
        next.sort();
        next.dedup();
        rows = next;
    }
    // Each row that is left says 0 > 0.
    rows.is_empty()
}

fn lifted(data: &Dataset<'_>, bias: bool) -> Vec<Vec<BigInt>> {
    let row = |i: usize| {
        let sign = if data.y()[i] == 1 { 1.0 } else { -1.0 };
        let mut row = vec![BigInt::zero(); data.n_features()];
        data.x().each(i, |j, v| row[j] = whole(sign * v));
        row.extend(bias.then(|| whole(sign)));
        row
    };
    (0..data.n_rows()).map(row).collect()
}

/// Points of one of many kinds, labelled by a plane or at random.
fn draw(rng: &mut Rng) -> Dataset<'static> {
    let (n, d) = (2 + rng.below(7) as usize, 1 + rng.below(3) as usize);
    let kind = rng.below(6);
    let scales: Vec<f64> = (0..d).map(|_| 2f64.powi(rng.below(400) as i32 - 200)).collect();
    let mut x: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..d).map(|_| if kind == 0 { rng.below(5) as f64 - 2.0 } else { rng.normal() }).collect())
        .collect();
    match kind {
        1 => (1..n).for_each(|i| {
            if rng.below(2) == 0 {
                x[i] = x[rng.below(i as u64) as usize].clone();
            }
        }),
        2 => {
            // On one line, whose points are not rounded.
            let (a, b): (Vec<f64>, Vec<f64>) =
                (0..d).map(|_| (rng.below(9) as f64, rng.below(9) as f64)).unzip();
            for row in &mut x {
                let t = rng.below(8) as f64 - 4.0;
                *row = a.iter().zip(&b).map(|(a, b)| a + t * b).collect();
            }
        }
        3 => x.iter_mut().for_each(|row| row.iter_mut().zip(&scales).for_each(|(v, s)| *v *= s)),
        _ => {}
    }
    let w: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
    let labelled_by_plane = rng.below(2) == 0;
    let mut y: Vec<bool> = x
        .iter()
        .map(|row| match labelled_by_plane {
            true => row.iter().zip(&w).map(|(v, w)| v * w).sum::<f64>() > 0.1,
            false => rng.below(2) == 0,
        })
        .collect();
    if kind == 4 {
        // Both classes a hair's breadth from the plane, down to the last bits of a double.
        let hair = 10f64.powi(-(rng.below(15) as i32) - 2);
        let square: f64 = w.iter().map(|w| w * w).sum();
        for (row, y) in x.iter_mut().zip(&y) {
            let height: f64 = row.iter().zip(&w).map(|(v, w)| v * w).sum();
            let wanted = if *y { hair } else { -hair };
            row.iter_mut().zip(&w).for_each(|(v, w)| *v += (wanted - height) / square * w);
        }
    }
    y[0] = true;
    y[1] = false;
    let labels = Labels::new(y.iter().map(|&y| if y { "1" } else { "-1" }));
    Dataset::new(Dense::new(x.concat(), d).unwrap(), &labels).unwrap()
}

#[test]
fn ten_thousand_small_problems_are_decided_as_by_elimination() {
    let mut rng = Rng::new(1);
    let mut counts = [0; 2];
    for case in 0..10_000 {
        let (data, bias) = (draw(&mut rng), rng.below(4) > 0);
        let answer = Separability::of(&data, bias, &mut ()).unwrap().expect("nobody stopped it");
        let expected = oracle(lifted(&data, bias));
        assert_eq!(answer.is_separable(), expected, "case {case}: {data:?}, bias {bias}");
        assert!(answer.holds(&data, bias), "case {case}: {answer:?}");
        counts[usize::from(expected)] += 1;
        if let Separability::Inseparable(proof) = &answer {
            let rows: Vec<usize> = proof.multipliers.iter().map(|m| m.row).collect();
            assert!(rows.len() <= data.n_features() + 1 + usize::from(bias), "case {case}: {rows:?}");
            let points = lifted(&data, bias);
            // None can be left out.
            for left_out in &rows {
                let others: Vec<_> =
                    rows.iter().filter(|row| *row != left_out).map(|&row| points[row].clone()).collect();
                assert!(others.is_empty() || oracle(others), "case {case}: {rows:?} without {left_out}");
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 2_500), "{counts:?}");
}
