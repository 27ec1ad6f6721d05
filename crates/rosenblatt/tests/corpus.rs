//! What fuzzing starts from and what it found, without a fuzzer.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail as tests do")]

mod common;
#[path = "../../../fuzz/laws.rs"]
mod laws;

use std::fs;
use std::panic::catch_unwind;
use std::path::PathBuf;

use common::noisy;
use rosenblatt::{
    Body, FeatureMap, Fit, KernelName, KernelPerceptron, Learner, Multiclass, Perceptron, Predictor, Task,
};

fn folder(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn seed(target: &str, name: &str) -> Vec<u8> {
    fs::read(folder(target).join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Seeds with kernels and maps, small enough to be changed in all places.
const MODELS: [&str; 5] = ["kernel-last", "kernel-averaged", "kernel-voted", "fourier", "nystroem"];

fn model(name: &str) -> Fit {
    let kernel = |predictor, multiclass| {
        let kernel = KernelPerceptron {
            kernel: KernelName::Rbf,
            gamma: Some(0.5),
            passes: 1,
            ..KernelPerceptron::default()
        };
        KernelPerceptron { predictor, multiclass, ..kernel }
    };
    let mapped = |kind: &str| {
        let data = noisy(2, 6, 2, 3).data();
        let map = FeatureMap::fit(kind.parse().unwrap(), &data, 0).unwrap();
        let data = data.mapped(&map).unwrap();
        Perceptron { passes: 2, ..Perceptron::default() }
            .learn(&Task { map: Some(&map), ..Task::new(&data) }, &mut ())
    };
    let fit = match name {
        "kernel-last" => kernel(Predictor::Last, Multiclass::Native).fit(&noisy(2, 6, 2, 3).data(), &mut ()),
        "kernel-averaged" => {
            kernel(Predictor::Averaged, Multiclass::Native).fit(&noisy(3, 6, 2, 3).data(), &mut ())
        }
        "kernel-voted" => kernel(Predictor::Voted, Multiclass::Ovo).fit(&noisy(3, 6, 2, 3).data(), &mut ()),
        "fourier" => mapped("fourier:3"),
        _ => mapped("nystroem:3:laplacian"),
    };
    fit.unwrap()
}

/// Names with the byte that says whose they are.
const CHECKPOINTS: [(&str, u8); 3] = [("kernel-voted", 240), ("forgetron", 241), ("projectron", 242)];

/// A run between two blocks, its budget full.
fn checkpoint(first: u8) -> Vec<u8> {
    let learner = laws::learner(first);
    let data = noisy(3, 12, 6, 5).data();
    let mut run = learner.run(laws::rows().classes().clone(), 6, None).unwrap();
    let data = rosenblatt::Dataset::with_classes(
        data.x().clone(),
        data.y().to_vec(),
        laws::rows().classes().clone(),
    );
    run.learn(&data.unwrap()).unwrap();
    [&[first], &run.to_bytes()[..]].concat()
}

/// Run with `--ignored` to make those that are not there yet.
#[test]
#[ignore = "writes seeds"]
fn write_seeds() {
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let path = folder(target).join(name);
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    };
    MODELS.iter().for_each(|name| write("model", name, &model(name).to_bytes().unwrap()));
    CHECKPOINTS.iter().for_each(|&(name, first)| write("checkpoint", name, &checkpoint(first)));
}

#[test]
fn nothing_kept_breaks_a_law() {
    for (path, bytes) in files("model") {
        let kept = catch_unwind(|| laws::model(&bytes));
        assert!(kept.is_ok(), "{}", path.display());
    }
    for (path, bytes) in files("checkpoint") {
        let kept = catch_unwind(|| laws::checkpoint(&bytes));
        assert!(kept.is_ok(), "{}", path.display());
    }
}

/// A seed that is refused would lead the fuzzer nowhere.
#[test]
fn seeds_are_what_they_are_named_for() {
    let load = |name: &str| Fit::from_bytes(&seed("model", name)).unwrap().model;
    for (name, voters) in [("kernel-last", false), ("kernel-averaged", false), ("kernel-voted", true)] {
        let Body::Kernel(expansion) = load(name).body else { panic!("{name} has no kernel") };
        assert_eq!(expansion.voters().is_some(), voters, "{name}");
        assert!(!expansion.is_empty(), "{name}");
    }
    for (name, kind) in [("fourier", "fourier:3"), ("nystroem", "nystroem:3:laplacian")] {
        let map = load(name).map.unwrap();
        assert!(map.kind.to_string().starts_with(kind), "{}", map.kind);
    }
    for (name, first) in CHECKPOINTS {
        let bytes = seed("checkpoint", name);
        assert_eq!(bytes[0], first, "{name}");
        assert!(laws::checkpoint(&bytes), "{name} is refused");
    }
}

/// Those that were seeds before a field was added, and before they said of which form they are.
#[test]
fn checkpoints_of_other_versions_are_refused_and_say_so() {
    for (name, first) in CHECKPOINTS {
        for version in [1, 2] {
            let bytes = seed("checkpoint", &format!("{name}-{version}"));
            let refused = laws::learner(bytes[0]).resume(&bytes[1..]).err().map(|error| error.to_string());
            let message = refused.unwrap_or_else(|| panic!("{name}-{version} is taken up"));
            assert!(bytes[0] == first && message.contains("another version"), "{name}-{version}: {message}");
        }
    }
}

/// A flipped bit here and there, and ends that are missing: what a fuzzer does first.
#[test]
fn damaged_seeds_break_no_law() {
    let damaged = |bytes: &[u8], check: &dyn Fn(&[u8])| {
        for at in 0..bytes.len() {
            let mut other = bytes.to_vec();
            other[at] ^= 1 << (at % 8);
            check(&other);
            if at % 7 == 0 {
                check(&bytes[..at]);
            }
        }
    };
    for name in MODELS {
        damaged(&seed("model", name), &laws::model);
    }
    for (name, _) in CHECKPOINTS {
        damaged(&seed("checkpoint", name), &|bytes| {
            laws::checkpoint(bytes);
        });
    }
}
