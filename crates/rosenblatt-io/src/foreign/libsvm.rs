//! Model files of LIBSVM: kernel machines of two classes, or of each pair of classes.
//!
//! Chang, Lin (2011), LIBSVM: a library for support vector machines, ACM TIST 2. Support vectors stand class by class, each with one coefficient for every other class; a sum of
//! kernel values above ρ is a vote for the class of the pair that comes first. Ties of votes go to the label that comes first.

use rosenblatt::{
    Body, Class, Classes, Csr, Decision, Expansion, Features, Fit, Kernel, Model, Rows, Tie, pairs,
};
use serde_json::{Value, json};

use super::lines::{Header, Lines, number, same, shown};
use super::{Export, ExportError, ForeignError, digits, labels, lost, negative, report, two_classes};

const WORDS: [&str; 13] = [
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
];

/// We keep a coefficient for each pair of classes, LIBSVM only those of a vector's own class: beyond 1 GiB of them a file is refused.
const MOST_COEFFICIENTS: usize = 1 << 27;

/// What is said of a file that has more than is read of it.
const DROPPED: &str = "; its probabilities (probA, probB) are not kept";
/// How the objective of a machine begins whose kind cannot be written.
const NU: &str = "LIBSVM nu_svc";

/// What of a file is not in the model that was read from it.
pub(super) fn dropped(fit: &Fit) -> Vec<String> {
    let told = fit.report.objective.ends_with(DROPPED);
    told.then(|| "probabilities (probA, probB)".to_owned()).into_iter().collect()
}

pub(super) fn read(text: &str) -> Result<Fit, ForeignError> {
    let mut lines = Lines::new(text);
    let header = Header::read(&mut lines, &WORDS, "SV")?;
    let (machine, cost) = read_type(&header)?;
    let (kernel, mut parameters) = read_kernel(&header)?;
    if cost == "C" {
        parameters["slack"] = json!("linear");
    }
    (parameters["bias"], parameters["multiclass"]) = (json!("free"), json!("ovo"));
    let dropped = if header.text("probA").is_ok() { DROPPED } else { "" };
    let objective = format!("LIBSVM {machine}, {}; {cost} not in the file{dropped}", space(kernel));
    let n_classes = header.count("nr_class", 2)?;
    let labels = header.labels(n_classes)?;
    let rho = header.numbers("rho", n_classes.saturating_mul(n_classes - 1) / 2)?;
    let members = Members::read(&header, n_classes)?;
    let vectors = Vectors::read(&mut lines, &members, kernel)?;
    lines.expect_end("the support vectors")?;
    let (classes, turned, decision) = match n_classes {
        2 => {
            let (classes, turned, tie) = two_classes(&labels);
            (classes, turned, Decision::Sign(tie))
        }
        _ => {
            let classes = Classes::ordered(labels.iter().map(|&label| Class::from(label)).collect());
            (classes.ok_or_else(|| header.error("label", "a label is there twice"))?, true, Decision::Votes)
        }
    };
    let signed = |value: f64| if turned { negative(value) } else { value };
    let coefficients = vectors.coefficients(&members).into_iter().map(signed).collect();
    let offsets = rho.into_iter().map(|rho| signed(negative(rho))).collect();
    let unfit = |error: String| header.error("kernel_type", error);
    let width = vectors.width;
    let rows = vectors.rows().map_err(|error| unfit(error.to_string()))?;
    let expansion = Expansion::from_parts(kernel, rows, coefficients, offsets).map_err(|error| {
        unfit(error.to_string())
            .hint("kernels have parameters in single precision: gamma above 0, degree from 1 to 64")
    })?;
    let model = Model {
        classes,
        features: Features { count: width, open: true, ..Features::default() },
        scaling: None,
        map: None,
        decision,
        body: Body::Kernel(expansion),
        link: None,
    };
    Ok(Fit { model, report: report("svm", objective, parameters) })
}

fn read_kernel(header: &Header<'_>) -> Result<(Kernel, Value), ForeignError> {
    let gamma = || header.number("gamma");
    let coef0 = || header.number("coef0");
    Ok(match header.text("kernel_type")? {
        "linear" => (Kernel::Linear, json!({ "kernel": "linear" })),
        "polynomial" => {
            let (degree, gamma, coef0) = (header.count("degree", 1)? as u32, gamma()?, coef0()?);
            let parameters = json!({ "kernel": "poly", "gamma": gamma, "degree": degree, "coef0": coef0 });
            (Kernel::Poly { degree, gamma, coef0 }, parameters)
        }
        "rbf" => {
            let gamma = gamma()?;
            (Kernel::Rbf { gamma }, json!({ "kernel": "rbf", "gamma": gamma }))
        }
        "sigmoid" => {
            let (gamma, coef0) = (gamma()?, coef0()?);
            (Kernel::Sigmoid { gamma, coef0 }, json!({ "kernel": "sigmoid", "gamma": gamma, "coef0": coef0 }))
        }
        "precomputed" => (Kernel::Precomputed, json!({ "kernel": "precomputed" })),
        other => {
            let problem =
                format!("expected linear, polynomial, rbf, sigmoid or precomputed, found {}", shown(other));
            return Err(header.error("kernel_type", problem));
        }
    })
}

/// What was minimised, and what weighs its errors.
fn read_type(header: &Header<'_>) -> Result<(&'static str, &'static str), ForeignError> {
    match header.text("svm_type")? {
        "c_svc" => Ok(("c_svc (½‖w‖² + C·Σ max(0, 1 − y·g))", "C")),
        "nu_svc" => Ok(("nu_svc (½‖w‖² + Σ (max(0, ρ − y·g) − ν·ρ))", "ν")),
        other => {
            let problem = format!("expected a classifier, c_svc or nu_svc, found {}", shown(other));
            Err(header.error("svm_type", problem).hint("train with `-s 0` or `-s 1`"))
        }
    }
}

fn space(kernel: Kernel) -> String {
    match kernel {
        Kernel::Precomputed => "precomputed kernel".to_owned(),
        _ => format!("φ(u)·φ(v) = {}", kernel.formula()),
    }
}

/// How many support vectors each class has.
struct Members(Vec<usize>);

impl Members {
    fn read(header: &Header<'_>, n_classes: usize) -> Result<Self, ForeignError> {
        let text = header.text("nr_sv")?;
        let whole = |word: &str| {
            let count = word.parse::<u32>().map(|count| count as usize);
            count
                .map_err(|_| header.error("nr_sv", format!("expected a whole number, found {}", shown(word))))
        };
        let counts = text.split_whitespace().map(whole).collect::<Result<Vec<_>, _>>()?;
        same("nr_sv", n_classes, counts.len(), header.line("nr_sv"))?;
        let (total, all) = (header.count("total_sv", 0)?, counts.iter().sum::<usize>());
        if total != all {
            return Err(
                header.error("nr_sv", format!("expected numbers of sum {total} (total_sv), found sum {all}"))
            );
        }
        let n_pairs = n_classes * (n_classes - 1) / 2;
        if total.checked_mul(n_pairs).is_none_or(|values| values > MOST_COEFFICIENTS) {
            let problem =
                format!("{total} support vectors for {n_pairs} pairs of classes take too much memory");
            return Err(header
                .error("nr_class", problem)
                .hint("at most 134,217,728 coefficients can be kept"));
        }
        Ok(Members(counts))
    }

    fn n_classes(&self) -> usize {
        self.0.len()
    }

    /// The class of each vector, in the order of the file.
    fn classes(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(class, &count)| std::iter::repeat_n(class, count))
    }
}

/// Lines of the file: coefficients with all other classes, then entries.
struct Vectors {
    /// For each vector one less than there are classes.
    coefficients: Vec<f64>,
    pointers: Vec<u64>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl Vectors {
    fn read(lines: &mut Lines<'_>, members: &Members, kernel: Kernel) -> Result<Self, ForeignError> {
        let mut all = Vectors {
            coefficients: Vec::new(),
            pointers: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
            width: 1,
        };
        let (others, total) = (members.n_classes() - 1, members.0.iter().sum::<usize>());
        for vector in 1..=total {
            let line =
                lines.next().ok_or_else(|| lines.cut_off(&format!("support vector {vector} of {total}")))?;
            let (at, mut words) = (lines.number, line.split_whitespace());
            let coefficients = words.by_ref().take(others).map(|word| number(word, at));
            let coefficients = coefficients.collect::<Result<Vec<_>, _>>()?;
            same("coefficients of a support vector", others, coefficients.len(), at)?;
            all.coefficients.extend(coefficients);
            match kernel {
                Kernel::Precomputed => all.push_number(words.next(), at)?,
                _ => words.try_for_each(|word| all.push_entry(word, at))?,
            }
            all.pointers.push(all.columns.len() as u64);
        }
        Ok(all)
    }

    fn push(&mut self, index: u32, value: f64) {
        self.columns.push(index - 1);
        self.values.push(value);
        self.width = self.width.max(index as usize);
    }

    /// LIBSVM numbers features, and rows of a precomputed kernel, from 1.
    fn index(word: &str, at: u64) -> Result<u32, ForeignError> {
        let index = word.parse::<u32>().ok().filter(|index| (1..=i32::MAX.cast_unsigned()).contains(index));
        index.ok_or_else(|| {
            ForeignError::new(at, format!("expected a whole number from 1, found {}", shown(word)))
        })
    }

    fn push_entry(&mut self, word: &str, at: u64) -> Result<(), ForeignError> {
        let expected = || ForeignError::new(at, format!("expected index:value, found {}", shown(word)));
        let (index, value) = word.split_once(':').ok_or_else(expected)?;
        let (index, value) = (Self::index(index, at)?, number(value, at)?);
        let begins = self.pointers.last().is_some_and(|&start| start == self.columns.len() as u64);
        if !begins && self.columns.last().is_some_and(|&last| last >= index - 1) {
            return Err(ForeignError::new(at, format!("index {index}: expected ascending indices")));
        }
        self.push(index, value);
        Ok(())
    }

    /// Of a precomputed kernel only the number of the training row.
    fn push_number(&mut self, word: Option<&str>, at: u64) -> Result<(), ForeignError> {
        let serial = word.and_then(|word| word.strip_prefix("0:"));
        let found = || {
            ForeignError::new(
                at,
                format!("expected 0:number of a training row, found {}", shown(word.unwrap_or_default())),
            )
        };
        let index = Self::index(serial.ok_or_else(found)?, at)?;
        self.push(index, 1.0);
        Ok(())
    }

    /// For each vector its part in each pair of classes, in the order of pairs.
    fn coefficients(&self, members: &Members) -> Vec<f64> {
        let n_classes = members.n_classes();
        let pairs = pairs(n_classes);
        let part = |class: usize, others: &[f64], (a, b): (usize, usize)| match class {
            _ if class == a => others[b - 1],
            _ if class == b => others[a],
            _ => 0.0,
        };
        let vectors = members.classes().zip(self.coefficients.chunks(n_classes - 1));
        vectors.flat_map(|(class, others)| pairs.iter().map(move |&pair| part(class, others, pair))).collect()
    }

    fn rows(self) -> Result<Csr<'static, f64>, rosenblatt::DataError> {
        Csr::new(self.pointers, self.columns, self.values, self.width)
    }
}

pub(super) fn write(fit: &Fit) -> Result<Export, ExportError> {
    let model = &fit.model;
    let mut labels = labels(&model.classes)?;
    let expansion = expansion(model)?;
    let kernel = kernel_lines(expansion)?;
    let tie = match model.decision {
        Decision::Sign(tie) if labels.len() == 2 => tie,
        Decision::Pairs(tie) => tie,
        Decision::Votes => Tie::Positive,
        Decision::Sign(_) | Decision::Highest => {
            let problem = "LIBSVM has a machine for each pair of classes, this model one a class";
            return Err(ExportError::new(problem, "train with `--multiclass ovo`, or use --to json"));
        }
    };
    // A score of 0 is a vote for the later of two labels.
    let order = Order { n_classes: labels.len(), reversed: tie != Tie::Positive };
    if order.reversed {
        labels.reverse();
    }
    let (counts, vectors) = order.vectors(expansion);
    let rho: Vec<String> = order.offsets(expansion).into_iter().map(|b| digits(negative(b))).collect();
    let spaced = |words: Vec<String>| words.join(" ");
    let text = format!(
        "svm_type c_svc\n{kernel}nr_class {}\ntotal_sv {}\nrho {}\nlabel {}\nnr_sv {}\nSV\n{vectors}",
        labels.len(),
        counts.iter().sum::<usize>(),
        spaced(rho),
        spaced(labels.iter().map(i32::to_string).collect()),
        spaced(counts.iter().map(usize::to_string).collect()),
    );
    let mut lost = lost(fit);
    if model.link.as_ref().is_some_and(|link| link.tells(model.decision))
        && !lost.iter().any(|what| what == "probabilities")
    {
        lost.push("probabilities".to_owned());
    }
    if fit.report.objective.starts_with(NU) {
        lost.push("that it is a nu_svc (c_svc is written, which predicts the same)".to_owned());
    }
    if matches!(model.decision, Decision::Pairs(_)) && labels.len() > 2 {
        lost.push(
            "summed scores as tie-breakers of votes (LIBSVM takes the label that comes first)".to_owned(),
        );
    }
    Ok(Export { bytes: text.into_bytes(), lost })
}

fn expansion(model: &Model) -> Result<&Expansion, ExportError> {
    let problem = match (&model.body, &model.scaling, &model.map) {
        (Body::Bayes(_) | Body::Layers(_), ..) => {
            return Err(ExportError::new("LIBSVM has kernel machines, this model is none", "use --to json"));
        }
        (Body::Linear(_) | Body::Voted(_), ..) => {
            return Err(ExportError::new(
                "LIBSVM has kernel machines, this model has planes",
                "use --to liblinear, or --to json",
            ));
        }
        (Body::Kernel(expansion), None, None) if expansion.voters().is_none() => return Ok(expansion),
        (_, Some(scaling), _) => {
            format!("LIBSVM stores no scaling, this model scales features first ({})", scaling.kind.name())
        }
        (_, _, Some(map)) => {
            format!("LIBSVM knows no maps, this model maps its features first ({})", map.kind)
        }
        _ => "LIBSVM has sums of kernel values, this model is a vote of many".to_owned(),
    };
    Err(ExportError::new(problem, "scale the data before training, without votes and maps; or use --to json"))
}

fn kernel_lines(expansion: &Expansion) -> Result<String, ExportError> {
    Ok(match expansion.kernel().kernel() {
        Some(Kernel::Linear) => "kernel_type linear\n".to_owned(),
        Some(Kernel::Poly { degree, gamma, coef0 }) => {
            let (gamma, coef0) = (digits(gamma), digits(coef0));
            format!("kernel_type polynomial\ndegree {degree}\ngamma {gamma}\ncoef0 {coef0}\n")
        }
        Some(Kernel::Rbf { gamma }) => format!("kernel_type rbf\ngamma {}\n", digits(gamma)),
        Some(Kernel::Sigmoid { gamma, coef0 }) => {
            format!("kernel_type sigmoid\ngamma {}\ncoef0 {}\n", digits(gamma), digits(coef0))
        }
        Some(Kernel::Precomputed) => "kernel_type precomputed\n".to_owned(),
        Some(Kernel::Laplacian { .. } | Kernel::Cosine | Kernel::Chi2 { .. }) | None => {
            let problem = format!(
                "LIBSVM has the kernels linear, poly, rbf, sigmoid and precomputed, this model has {}",
                expansion.kernel().formula()
            );
            return Err(ExportError::new(
                problem,
                "train on precomputed values of the kernel, or use --to json",
            ));
        }
    })
}

/// Classes as LIBSVM gets them: in our order, or from the last to the first, so that a score of 0 means the same.
struct Order {
    n_classes: usize,
    reversed: bool,
}

impl Order {
    fn class(&self, place: usize) -> usize {
        if self.reversed { self.n_classes - 1 - place } else { place }
    }

    /// LIBSVM's scores are for the first of a pair, ours for the second.
    fn signed(&self, value: f64) -> f64 {
        if self.reversed { value } else { negative(value) }
    }

    /// The number of a pair among ours.
    fn plane(&self, a: usize, b: usize) -> usize {
        let (a, b) = (a.min(b), a.max(b));
        a * (2 * self.n_classes - a - 1) / 2 + b - a - 1
    }

    /// The constant terms, pair by pair in LIBSVM's order.
    fn offsets(&self, expansion: &Expansion) -> Vec<f64> {
        let mut offsets = expansion.offsets();
        if expansion.is_lifted() {
            let n_planes = offsets.len().max(1);
            for row in expansion.coefficients().chunks(n_planes) {
                offsets.iter_mut().zip(row).for_each(|(b, a)| *b += a);
            }
        }
        let of_pair = |(i, j)| self.signed(offsets[self.plane(self.class(i), self.class(j))]);
        pairs(self.n_classes).into_iter().map(of_pair).collect()
    }

    /// How many vectors each class has, and their lines. A coefficient speaks for the class that its sign favours: equal rows of two classes are one of ours and two of LIBSVM's.
    fn vectors(&self, expansion: &Expansion) -> (Vec<usize>, String) {
        let n_planes = pairs(self.n_classes).len();
        let coefficients = expansion.coefficients();
        let (mut counts, mut text) = (vec![0; self.n_classes], String::new());
        for (place, count) in counts.iter_mut().enumerate() {
            for (s, of_row) in coefficients.chunks(n_planes).enumerate() {
                let parts: Vec<f64> =
                    self.others(place).map(|other| self.part(place, other, of_row)).collect();
                if parts.iter().any(|&part| part != 0.0) {
                    *count += 1;
                    text += &parts.iter().map(|&part| digits(part) + " ").collect::<String>();
                    text += &entries(expansion, s);
                    text.push('\n');
                }
            }
        }
        (counts, text)
    }

    fn others(&self, place: usize) -> impl Iterator<Item = usize> {
        (0..self.n_classes).filter(move |&other| other != place)
    }

    fn part(&self, place: usize, other: usize, of_row: &[f64]) -> f64 {
        let (mine, theirs) = (self.class(place), self.class(other));
        let value = of_row[self.plane(mine, theirs)];
        let is_mine = if mine > theirs { value > 0.0 } else { value < 0.0 };
        if is_mine { self.signed(value) } else { 0.0 }
    }
}

fn entries(expansion: &Expansion, s: usize) -> String {
    let precomputed = expansion.kernel().kernel() == Some(Kernel::Precomputed);
    let mut text = String::new();
    expansion.rows().each(s, |j, v| {
        text += &if precomputed { format!("0:{} ", j + 1) } else { format!("{}:{} ", j + 1, digits(v)) };
    });
    text
}
