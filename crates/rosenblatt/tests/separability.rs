//! Separability against oracles that share no code with it, Fourier–Motzkin elimination and the simplex method in exact fractions; and every certificate checked by arithmetic of this
//! file, so that an answer is right whatever `holds` says of it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rosenblatt::{
    Dataset, Dense, Fraction, Labels, Multiclass, Multiplier, Obstruction, Products, Rng, Rows, Separability,
    Separator,
};

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

/// The same by the simplex method: Σ λᵢaᵢ = 0 with Σ λᵢ = 1 and λ ≥ 0 has a solution exactly where no v has aᵢ·v > 0 for all i (Gordan 1873). The column to enter and the row to leave are
/// those with the smallest number, so that it ends (Bland 1977); numbers stay whole, over the pivot before as their denominator (Edmonds 1967).
fn simplex(points: &[Vec<BigInt>]) -> bool {
    let (n, m) = (points.len(), points[0].len() + 1);
    let entry = |k: usize, i: usize| if k + 1 < m { points[i][k].clone() } else { BigInt::one() };
    let right = |k: usize| BigInt::from(u8::from(k + 1 == m));
    let mut rows: Vec<Vec<BigInt>> =
        (0..m).map(|k| (0..n).map(|i| entry(k, i)).chain([right(k)]).collect()).collect();
    // Last the sum of what is still missing in each equation, to be brought down to 0.
    rows.push((0..=n).map(|j| rows.iter().map(|row| &row[j]).sum()).collect());
    let (mut basis, mut before): (Vec<usize>, BigInt) = ((n..n + m).collect(), BigInt::one());
    loop {
        let Some(enter) = (0..n).find(|&j| rows[m][j].is_positive()) else { return !rows[m][n].is_zero() };
        let leave = (0..m).filter(|&k| rows[k][enter].is_positive()).min_by(|&a, &b| {
            let ratios = (&rows[a][n] * &rows[b][enter]).cmp(&(&rows[b][n] * &rows[a][enter]));
            ratios.then(basis[a].cmp(&basis[b]))
        });
        let leave = leave.unwrap();
        let pivot_row = rows[leave].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(k, _)| *k != leave) {
            let factor = row[enter].clone();
            for (v, p) in row.iter_mut().zip(&pivot_row) {
                *v = (&*v * &pivot_row[enter] - &factor * p) / &before;
            }
        }
        basis[leave] = enter;
        before = pivot_row[enter].clone();
    }
}

/// Times a power of two each that makes their numbers short.
fn shortened(points: &[Vec<BigInt>]) -> Vec<Vec<BigInt>> {
    let shorten = |point: &Vec<BigInt>| {
        let twos = point.iter().filter_map(BigInt::trailing_zeros).min().unwrap_or(0);
        point.iter().map(|v| v >> twos).collect()
    };
    points.iter().map(shorten).collect()
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

/// Up to n points of up to d features of one of many kinds, labelled by a plane or at random.
fn draw(rng: &mut Rng, n: u64, d: u64) -> Dataset<'static> {
    let (n, d) = (2 + rng.below(n - 1) as usize, 1 + rng.below(d) as usize);
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

/// Fractions times a common denominator, and this.
fn over_one<'f>(fractions: impl Iterator<Item = &'f Fraction> + Clone) -> (Vec<BigInt>, BigInt) {
    let common =
        fractions.clone().fold(BigInt::one(), |all, f| num_integer::lcm(all, f.denominator().clone()));
    (fractions.map(|f| f.numerator() * (&common / f.denominator())).collect(), common)
}

/// w and, where there is one, b of the plane an answer is about, all times the same positive number.
fn numbers(separator: &Separator, bias: bool) -> Vec<BigInt> {
    match &separator.exact {
        Some((weights, b)) => over_one(weights.iter().chain(bias.then_some(b))).0,
        None => separator.weights.iter().chain(bias.then_some(&separator.bias)).map(|&v| whole(v)).collect(),
    }
}

fn heights(points: &[Vec<BigInt>], plane: &[BigInt]) -> Vec<BigInt> {
    points.iter().map(|point| point.iter().zip(plane).map(|(a, b)| a * b).sum()).collect()
}

/// Every row is on its side, and the margin is that of the lowest.
fn check_plane(points: &[Vec<BigInt>], separator: &Separator, bias: bool, case: usize) {
    let plane = numbers(separator, bias);
    assert_eq!(plane.len(), points[0].len(), "case {case}");
    assert!(bias || separator.bias == 0.0, "case {case}");
    let heights = heights(points, &plane);
    assert!(heights.iter().all(BigInt::is_positive), "case {case}: {separator:?}");
    let square: BigInt = plane[..separator.weights.len()].iter().map(|w| w * w).sum();
    let Some(margin) = separator.margin else {
        assert!(square.is_zero(), "case {case}: no margin");
        return;
    };
    // margin·‖w‖ = lowest, squared, each to eight digits.
    let lowest = heights.iter().min().unwrap();
    let (claimed, real) = (whole(margin).pow(2) * square, lowest.pow(2));
    assert!((&claimed - &real).abs() * BigInt::from(100_000_000) <= real, "case {case}: margin {margin:e}");
}

/// Σ λ·y·(x, 1) = 0 with λ above 0 and 1 in all, and the oracle can separate the others if any one row is left out.
fn check_proof(
    points: &[Vec<BigInt>],
    proof: &Obstruction,
    oracle: impl Fn(Vec<Vec<BigInt>>) -> bool,
    case: usize,
) {
    let rows: Vec<usize> = proof.multipliers.iter().map(|m| m.row).collect();
    assert!(rows.is_sorted_by(|a, b| a < b) && !rows.is_empty(), "case {case}: {rows:?}");
    assert!(rows.len() <= points[0].len() + 1, "case {case}: {rows:?}");
    let (factors, one) = over_one(proof.multipliers.iter().map(|m| &m.value));
    assert!(factors.iter().all(BigInt::is_positive), "case {case}");
    assert_eq!(factors.iter().sum::<BigInt>(), one, "case {case}");
    let sum = |j: usize| -> BigInt {
        rows.iter().zip(&factors).map(|(&row, factor)| &points[row][j] * factor).sum()
    };
    assert!((0..points[0].len()).all(|j| sum(j).is_zero()), "case {case}: {proof:?}");
    for left_out in &rows {
        let others: Vec<_> =
            rows.iter().filter(|row| *row != left_out).map(|&row| points[row].clone()).collect();
        assert!(others.is_empty() || oracle(others), "case {case}: {rows:?} without {left_out}");
    }
}

/// What is not right is refused, whatever was changed.
fn check_refusals(data: &Dataset<'_>, answer: &Separability, bias: bool, case: usize) {
    let wrong = match answer {
        Separability::Separable(separator) => wrong_planes(data, separator, bias),
        Separability::Inseparable(proof) => wrong_proofs(data, proof, bias),
    };
    assert!(wrong.len() > 3, "case {case}");
    for (what, answer) in wrong {
        assert!(!answer.holds(data, bias), "case {case}: {what}: {answer:?}");
    }
}

fn wrong_planes(data: &Dataset<'_>, separator: &Separator, bias: bool) -> Vec<(&'static str, Separability)> {
    let points = lifted(data, bias);
    let mut wrong: Vec<(&str, Separator)> = Vec::new();
    let mut add = |what, change: &dyn Fn(&mut Separator)| {
        let mut changed = separator.clone();
        change(&mut changed);
        wrong.push((what, changed));
    };
    add("no weights", &|s| s.weights.clear());
    add("a weight too many", &|s| s.weights.push(0.0));
    add("not a number", &|s| s.weights[0] = f64::NAN);
    add("an infinite bias", &|s| s.bias = f64::INFINITY);
    add("all below", &|s| {
        s.weights.iter_mut().for_each(|w| *w = -*w);
        s.bias = -s.bias;
        s.exact = None;
    });
    add("a bias that no row outweighs", &|s| (s.bias, s.exact) = (-1e300, None));
    add("another margin", &|s| s.margin = Some(s.margin.map_or(1.0, |margin| margin * (1.0 + 1e-6))));
    add("a smaller margin", &|s| s.margin = Some(s.margin.map_or(0.5, |margin| margin * 0.5)));
    if separator.margin.is_some() {
        add("no margin", &|s| s.margin = None);
    }
    if separator.exact.is_none() {
        // One weight is moved until one row is as far on the other side as it was on its own, as far as rounding lets it.
        for row in 0..data.n_rows() {
            let sign = if data.y()[row] == 1 { 1.0 } else { -1.0 };
            let (mut height, mut entries) = (sign * separator.bias, Vec::new());
            data.x().each(row, |j, v| {
                height += sign * v * separator.weights[j];
                entries.push((j, sign * v));
            });
            for (j, v) in entries {
                let mut moved = separator.clone();
                moved.weights[j] -= 2.0 * height / v;
                let is_wrong = moved.weights[j].is_finite()
                    && heights(&points, &numbers(&moved, bias)).iter().any(|height| !height.is_positive());
                if is_wrong {
                    wrong.push(("a row on the wrong side", moved));
                }
            }
        }
    }
    wrong.into_iter().map(|(what, separator)| (what, Separability::Separable(separator))).collect()
}

fn wrong_proofs(data: &Dataset<'_>, proof: &Obstruction, bias: bool) -> Vec<(&'static str, Separability)> {
    let points = lifted(data, bias);
    let times = |value: &Fraction, above: i64, below: i64| {
        Fraction::new(value.numerator() * above, value.denominator() * below).unwrap()
    };
    let less = |value: &Fraction, other: &Fraction| {
        let above = value.numerator() * other.denominator() - other.numerator() * value.denominator();
        Fraction::new(above, value.denominator() * other.denominator()).unwrap()
    };
    let mut wrong: Vec<(&str, Vec<Multiplier>)> = Vec::new();
    let all = &proof.multipliers;
    for at in 0..all.len() {
        let mut changed = all.clone();
        changed[at].value = times(&all[at].value, 2, 1);
        wrong.push(("another multiplier", changed.clone()));
        changed[at].value = times(&all[at].value, -1, 1);
        wrong.push(("a multiplier below 0", changed));
        if all.len() > 1 {
            // Half of one goes to the next: the sum is 1 as before.
            let (mut changed, next) = (all.clone(), (at + 1) % all.len());
            changed[at].value = times(&all[at].value, 1, 2);
            changed[next].value = less(&all[next].value, &times(&all[at].value, -1, 2));
            wrong.push(("other multipliers of the same sum", changed));
        }
        // The others still sum to 1.
        let mut changed = all.clone();
        let rest = less(&Fraction::new(1.into(), 1.into()).unwrap(), &changed.remove(at).value);
        for multiplier in &mut changed {
            let value = &multiplier.value;
            let (above, below) =
                (value.numerator() * rest.denominator(), value.denominator() * rest.numerator());
            multiplier.value = Fraction::new(above, below).unwrap();
        }
        wrong.push(("a row left out", changed));
        for other in (0..data.n_rows()).filter(|other| all.iter().all(|m| m.row != *other)) {
            if points[other] != points[all[at].row] {
                let mut changed = all.clone();
                changed[at].row = other;
                changed.sort_by_key(|multiplier| multiplier.row);
                wrong.push(("another row", changed));
            }
        }
        let mut changed = all.clone();
        changed[at].row = data.n_rows() + at;
        changed.sort_by_key(|multiplier| multiplier.row);
        wrong.push(("a row that is not there", changed));
    }
    let scaled = |above, below| {
        let scale = |m: &Multiplier| Multiplier { row: m.row, value: times(&m.value, above, below) };
        all.iter().map(scale).collect::<Vec<_>>()
    };
    wrong.push(("a sum of 1/2", scaled(1, 2)));
    wrong.push(("a sum of -1", scaled(-1, 1)));
    wrong.push(("nothing", Vec::new()));
    let twice = all.iter().flat_map(|m| {
        let half = Multiplier { row: m.row, value: times(&m.value, 1, 2) };
        [half.clone(), half]
    });
    wrong.push(("rows twice", twice.collect()));
    let answer = |multipliers| Separability::Inseparable(Obstruction { multipliers });
    wrong.into_iter().map(|(what, multipliers)| (what, answer(multipliers))).collect()
}

fn check(data: &Dataset<'_>, bias: bool, oracle: impl Fn(Vec<Vec<BigInt>>) -> bool, case: usize) -> bool {
    let points = lifted(data, bias);
    let answer = Separability::of(data, bias, &mut ()).unwrap().expect("nobody stopped it");
    let expected = oracle(points.clone());
    assert_eq!(answer.is_separable(), expected, "case {case}: {data:?}, bias {bias}");
    match &answer {
        Separability::Separable(separator) => check_plane(&points, separator, bias, case),
        Separability::Inseparable(proof) => check_proof(&points, proof, oracle, case),
    }
    assert!(answer.holds(data, bias), "case {case}: {answer:?}");
    check_refusals(data, &answer, bias, case);
    expected
}

#[test]
fn ten_thousand_small_problems_are_decided_as_by_elimination() {
    let mut rng = Rng::new(1);
    let mut counts = [0; 2];
    for case in 0..10_000 {
        let (data, bias) = (draw(&mut rng, 8, 3), rng.below(4) > 0);
        let apart = check(&data, bias, oracle, case);
        assert_eq!(simplex(&shortened(&lifted(&data, bias))), apart, "case {case}: the oracles differ");
        counts[usize::from(apart)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 2_500), "{counts:?}");
}

#[test]
fn larger_problems_are_decided_as_by_the_simplex_method() {
    let mut rng = Rng::new(2);
    let mut counts = [0; 2];
    for case in 0..2_000 {
        let (data, bias) = (draw(&mut rng, 14, 6), rng.below(4) > 0);
        let apart = check(&data, bias, |points| simplex(&shortened(&points)), case);
        counts[usize::from(apart)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 400), "{counts:?}");
}

/// Each row asks for a weight that is 2^1554 times the next at least: no doubles do that.
#[test]
fn where_no_doubles_separate_fractions_do() {
    let (tiny, huge) = (2f64.powi(-1074), 2f64.powi(480));
    let rows = [[tiny, -huge, 0.0], [0.0, tiny, -huge], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]];
    let labels = Labels::new(["b", "b", "b", "a"]);
    let data = Dataset::new(Dense::new(rows.concat(), 3).unwrap(), &labels).unwrap();
    let answer = Separability::of(&data, false, &mut ()).unwrap().unwrap();
    let Separability::Separable(separator) = &answer else { panic!("{answer:?}") };
    let (weights, bias) = separator.exact.clone().expect("fractions");
    assert!(heights(&lifted(&data, false), &numbers(separator, false)).iter().all(BigInt::is_positive));
    assert!(answer.holds(&data, false));
    let with = |change: &dyn Fn(&mut Separator)| {
        let mut changed = separator.clone();
        change(&mut changed);
        Separability::Separable(changed).holds(&data, false)
    };
    assert!(with(&|_| ()));
    assert!(!with(&|s| s.exact = None), "the doubles are only near it");
    assert!(!with(&|s| s.weights[0] *= -1.0), "doubles that are not near it");
    let one = |number: i64| Fraction::new(number.into(), 1.into()).unwrap();
    assert!(!with(&|s| s.exact = Some((weights.clone(), one(1)))), "a bias where none is allowed");
    assert!(!with(&|s| s.exact = Some((weights[1..].to_vec(), bias.clone()))), "a weight is missing");
    let even = vec![one(1), one(1), one(1)];
    assert!(!with(&|s| (s.weights, s.exact) = (vec![1.0; 3], Some((even.clone(), bias.clone())))));
}

/// Three classes on a line: pairs can be told apart, the one between from the rest cannot.
#[test]
fn of_several_problems_each_has_an_answer_that_holds() {
    let x = Dense::new(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 1).unwrap();
    let data = Dataset::new(x, &Labels::new(["a", "a", "b", "b", "c", "c"])).unwrap();
    let decided = |scheme| Separability::of_problems(&data, scheme, true, &mut ()).unwrap().unwrap();
    let (pairs, rest) = (decided(Multiclass::Ovo), decided(Multiclass::Ovr));
    assert!(pairs.iter().all(|problem| problem.answer.is_separable()));
    let separable: Vec<bool> = rest.iter().map(|problem| problem.answer.is_separable()).collect();
    assert_eq!(separable, [true, false, true]);
    for problem in pairs.iter().chain(&rest) {
        assert!(problem.holds(&data, true), "{}", problem.title);
        // An answer is about two classes, and these have three.
        assert!(!problem.answer.holds(&data, true), "{}", problem.title);
        let mut other = problem.clone();
        (other.positive, other.negative) = match problem.negative {
            Some(negative) => (negative, Some(problem.positive)),
            None => ((problem.positive + 1) % 3, None),
        };
        assert!(!other.holds(&data, true), "{} is not about class {}", problem.title, other.positive);
        other.positive = 3;
        assert!(!other.holds(&data, true), "there is no such class");
        (other.positive, other.negative) = (problem.positive, Some(problem.positive));
        assert!(!other.holds(&data, true), "a class against itself");
    }
    let first = |scheme| Separability::first_inseparable(&data, scheme, true, &mut ()).unwrap();
    assert_eq!(first(Multiclass::Ovo), None);
    let found = first(Multiclass::Ovr).expect("b against the rest");
    assert_eq!((&*found.title, &found.answer), ("b against the rest", &rest[1].answer));
}

/// Rows of weight 0 have no say, not even in a check.
#[test]
fn rows_of_weight_0_are_passed_over() {
    let x = Dense::new(vec![0.0, 1.0, 2.0], 1).unwrap();
    let data = Dataset::new(x, &Labels::new(["a", "b", "a"])).unwrap();
    let proof = Separability::of(&data, true, &mut ()).unwrap().unwrap();
    assert!(!proof.is_separable() && proof.holds(&data, true));
    let data = data.with_weights(vec![1.0, 1.0, 0.0]).unwrap();
    assert!(!proof.holds(&data, true));
    let answer = Separability::of(&data, true, &mut ()).unwrap().unwrap();
    assert!(answer.is_separable() && answer.holds(&data, true));
}

/// All products of `least` to `degree` of two numbers, by degree, then by how often the second comes: in units of 2^−1200·degree.
fn products_of(row: &[f64], least: u32, degree: u32) -> Vec<BigInt> {
    let (a, b) = (whole(row[0]), whole(row[1]));
    let product = |k: u32, second: u32| whole(1.0).pow(degree - k) * a.pow(k - second) * b.pow(second);
    (least..=degree)
        .flat_map(|k| (0..=k).map(move |second| (k, second)))
        .map(|(k, s)| product(k, s))
        .collect()
}

/// The products count as they are, whatever double precision makes of them: those of whole numbers it holds, those of tenths it does not.
#[test]
fn the_spaces_of_polynomial_kernels_are_separated_as_by_the_simplex_method() {
    let mut rng = Rng::new(3);
    let mut counts = [[0; 2]; 2];
    for case in 0..1_200 {
        let (degree, coef0) = (2 + rng.below(2) as u32, rng.below(2) as f64);
        let (n, step) = (2 + rng.below(13) as usize, if case % 2 == 0 { 1.0 } else { 0.1 });
        let x: Vec<f64> = (0..2 * n).map(|_| step * (rng.below(7) as f64 - 3.0)).collect();
        let y: Vec<&str> =
            (0..n).map(|i| if i < 2 { ["a", "b"][i] } else { ["a", "b"][rng.below(2) as usize] }).collect();
        let data = Dataset::new(Dense::new(x.clone(), 2).unwrap(), &Labels::new(y.clone())).unwrap();
        let least = if coef0 > 0.0 { 0 } else { degree };
        let bias = rng.below(4) > 0;
        let point = |i: usize| -> Vec<BigInt> {
            let mut point = products_of(&x[2 * i..2 * i + 2], least, degree);
            point.extend(bias.then(|| whole(1.0).pow(degree)));
            if y[i] == "b" { point } else { point.into_iter().map(|v| -v).collect() }
        };
        let points: Vec<Vec<BigInt>> = (0..n).map(point).collect();
        let expected = simplex(&shortened(&points));
        let products = Products::of(&data, degree, coef0).unwrap();
        let problem = products.separability(Multiclass::Ovo, bias, &mut ()).unwrap().unwrap().remove(0);
        assert_eq!(
            problem.answer.is_separable(),
            expected,
            "case {case}: {data:?}, {degree}, {coef0}, {bias}"
        );
        assert!(products.holds(&problem, bias), "case {case}");
        let turned = Labels::new(y.iter().map(|y| if *y == "a" { "b" } else { "a" }));
        let turned = Dataset::new(Dense::new(x.clone(), 2).unwrap(), &turned).unwrap();
        let turned = Products::of(&turned, degree, coef0).unwrap();
        match &problem.answer {
            Separability::Separable(separator) => {
                let heights = heights(&points, &numbers(separator, bias));
                assert!(heights.iter().all(BigInt::is_positive), "case {case}: {separator:?}");
                assert!(
                    !turned.holds(&problem, bias),
                    "case {case}: a plane with the classes on the wrong sides"
                );
            }
            Separability::Inseparable(proof) => {
                check_proof(&points, proof, |points| simplex(&shortened(&points)), case);
                let mut wrong = problem.clone();
                let Separability::Inseparable(proof) = &mut wrong.answer else { panic!() };
                let value = &mut proof.multipliers[0].value;
                *value = Fraction::new(value.numerator().clone(), value.denominator() * 2).unwrap();
                assert!(!products.holds(&wrong, bias), "case {case}");
            }
        }
        counts[case % 2][usize::from(expected)] += 1;
    }
    assert!(counts.iter().flatten().all(|&count| count > 100), "{counts:?}");
}

/// Weighted by roots, as the kernel has them, these products are rounded, and a plane of margin 1e-31 appears where there is none.
#[test]
fn on_a_line_squares_do_not_separate_every_other_point() {
    let x = Dense::new(vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0], 2).unwrap();
    let data = Dataset::new(x, &Labels::new(["a", "b", "a", "b"])).unwrap();
    let products = Products::of(&data, 2, 1.0).unwrap();
    let problem = products.separability(Multiclass::Ovo, true, &mut ()).unwrap().unwrap().remove(0);
    let Separability::Inseparable(proof) = &problem.answer else { panic!("{problem:?}") };
    let multipliers: Vec<String> = proof.multipliers.iter().map(|m| m.value.to_string()).collect();
    assert_eq!(multipliers, ["1/8", "3/8", "3/8", "1/8"]);
}

/// What cannot be held is said, not guessed: numbers out of range, and a kernel that is no dot product.
#[test]
fn products_that_double_precision_cannot_hold_are_refused() {
    let of = |values: [f64; 2], degree, coef0| {
        let x = Dense::new(values.to_vec(), 1).unwrap();
        let data = Dataset::new(x, &Labels::new(["a", "b"])).unwrap();
        Products::of(&data, degree, coef0).map(|products| products.len()).map_err(|error| error.to_string())
    };
    assert_eq!(of([1.0, 2.0], 3, 1.0), Ok(4));
    for far in [1e-150, 1e120] {
        let error = of([1.0, far], 3, 1.0).unwrap_err();
        assert!(error.contains("row 2") && error.contains("scale"), "{error}");
    }
    assert!(of([1.0, 2.0], 2, -1.0).unwrap_err().contains("coef0"));
}
