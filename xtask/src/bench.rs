//! `cargo xtask bench`: ours and the peers side by side. Each bench is a Python file of its name in `bench/`.

use std::fs;

use crate::command::Outcome;
use crate::package;
use crate::project::Project;
use crate::python::{BENCH, Python};
use crate::run::{self, cargo};

/// The one whose environment is that of the package.
const PACKAGE: &str = "package";

struct Bench {
    name: &'static str,
    about: &'static str,
}

const BENCHES: [Bench; 11] = [
    Bench { name: "read", about: "LIBSVM text into memory, against scikit-learn's load_svmlight_file" },
    Bench { name: "online", about: "file to model in one pass, against Vowpal Wabbit" },
    Bench { name: "mnist", about: "ten-class perceptron, 10 passes in memory, against scikit-learn's" },
    Bench {
        name: "linear",
        about: "linear SVM and logistic regression in memory, against LIBLINEAR, scikit-learn and Snap ML",
    },
    Bench {
        name: "kernels",
        about: "kernel blocks against numpy and scikit-learn; the kernel perceptron on MNIST, degree by degree",
    },
    Bench {
        name: "svm",
        about: "support vector machines with the Gaussian kernel, against scikit-learn and scikit-learn-intelex",
    },
    Bench {
        name: "growth",
        about: "time and memory of batch learners as the data grows; makes 5 GB of text",
    },
    Bench { name: "plan", about: "what plan foretells against what then happens" },
    Bench { name: PACKAGE, about: "what Python costs: fit against train, and the memory of a fit on 1 GB" },
    Bench {
        name: "tune",
        about: "searches by cross-validation, against scikit-learn's over scikit-learn-intelex and LinearSVC, and LIBLINEAR's -C",
    },
    Bench { name: "separable", about: "whether data is separable, decided and checked in exact arithmetic" },
];

/// Options of a bench, each with a number above 0.
const OPTIONS: [(&str, &str); 2] = [
    ("--runs", "how often each is run, alternating; 3 unless told"),
    ("--rows", "rows of the synthetic text; 200000 unless told"),
];

pub(crate) fn run(project: &Project, arguments: &[String]) -> Outcome {
    let Request { benches, options } = Request::parse(arguments)?;
    if benches.is_empty() {
        print!("{}", list());
        return Ok(());
    }
    let build = ["build", "--release", "--package", "rosenblatt-cli", "--bin", "rosenblatt"];
    run::run(cargo(project).args(build).args(["--example", "synthetic", "--example", "kernels"]))?;
    let data = project.target()?.join("bench-data");
    fs::create_dir_all(&data).map_err(|e| format!("cannot make {}: {e}", data.display()))?;
    for Bench { name, .. } in benches {
        let mut bench = environment(project, name)?.command();
        bench.arg(format!("bench/{name}.py")).args(&options);
        bench.env("ROSENBLATT", project.release_binary("rosenblatt")?);
        bench.env("SYNTHETIC", project.release_binary("examples/synthetic")?);
        bench.env("KERNELS", project.release_binary("examples/kernels")?);
        run::run(bench.env("BENCH_DATA", &data))?;
    }
    Ok(())
}

fn environment<'a>(project: &'a Project, name: &str) -> Outcome<Python<'a>> {
    if name != PACKAGE {
        return Python::prepared(project, &BENCH);
    }
    package::build(project)?;
    package::installed(project)
}

fn list() -> String {
    let mut text = String::from("Benches:\n");
    for Bench { name, about } in &BENCHES {
        text += &format!("  cargo xtask bench {name:<9} {about}\n");
    }
    text += "  cargo xtask bench all       all of them\n\nOptions:\n";
    for (option, about) in OPTIONS {
        text += &format!("  {option} N  {about}\n");
    }
    text
}

#[derive(Default)]
struct Request {
    benches: Vec<&'static Bench>,
    options: Vec<String>,
}

impl Request {
    fn parse(arguments: &[String]) -> Outcome<Request> {
        let mut request = Request::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if OPTIONS.iter().any(|(option, _)| option == word) {
                request.options.extend([word.clone(), number(word, words.next())?]);
            } else if word == "all" {
                request.benches = BENCHES.iter().collect();
            } else {
                let bench = BENCHES.iter().find(|bench| bench.name == word);
                request
                    .benches
                    .push(bench.ok_or_else(|| format!("there is no bench `{word}`\n\n{}", list()))?);
            }
        }
        Ok(request)
    }
}

fn number(option: &str, given: Option<&String>) -> Outcome<String> {
    let number = given.and_then(|text| text.parse::<u32>().ok()).filter(|&number| number > 0);
    number.map(|number| number.to_string()).ok_or_else(|| format!("{option} takes a number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<(Vec<&'static str>, Vec<String>)> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let Request { benches, options } = Request::parse(&words)?;
        Ok((benches.iter().map(|bench| bench.name).collect(), options))
    }

    #[test]
    fn names_and_options_mix() {
        assert_eq!(parse(""), Ok((vec![], vec![])));
        assert_eq!(parse("mnist read"), Ok((vec!["mnist", "read"], vec![])));
        assert_eq!(parse("--runs 5 read"), Ok((vec!["read"], vec!["--runs".into(), "5".into()])));
        assert_eq!(parse("all").map(|(names, _)| names.len()), Ok(BENCHES.len()));
    }

    #[test]
    fn slips_are_named() {
        assert!(parse("raed").is_err_and(|e| e.contains("`raed`") && e.contains("bench read")));
        for wrong in ["read --runs", "read --runs 0", "read --runs few", "--rows -1 read"] {
            assert!(parse(wrong).is_err_and(|e| e.contains("a number above 0")), "{wrong}");
        }
    }

    #[test]
    fn each_bench_is_a_file_and_listed() {
        for Bench { name, about } in &BENCHES {
            assert!(Project::here().path(&format!("bench/{name}.py")).is_file(), "{name}");
            assert!(list().contains(name) && list().contains(about));
        }
    }
}
