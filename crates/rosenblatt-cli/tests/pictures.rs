//! Pictures have in them what they should: points, rings, lines and words, light and dark, as SVG and as PNG.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fs;
use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use support::{json, rosenblatt, run, stderr};

/// A picture that a command draws.
fn svg(folder: &Path, line: &str) -> String {
    run(folder, &format!("{line} -o picture.svg"));
    fs::read_to_string(folder.join("picture.svg")).unwrap()
}

fn parsed(svg: &str) -> Document<'_> {
    Document::parse_with_options(svg, ParsingOptions::default()).unwrap()
}

fn of_class<'a, 'i>(document: &'a Document<'i>, class: &str) -> Vec<Node<'a, 'i>> {
    let is = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    document.descendants().filter(is).collect()
}

fn shapes<'a, 'i>(document: &'a Document<'i>, group: &str) -> Vec<Node<'a, 'i>> {
    let groups = of_class(document, group);
    groups.iter().flat_map(|group| group.children()).filter(Node::is_element).collect()
}

fn words(document: &Document<'_>) -> Vec<String> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// The corners of a path that is written as an absolute place and steps from it.
fn corners(path: &Node<'_, '_>) -> Vec<Vec<(f64, f64)>> {
    let mut rings: Vec<Vec<(f64, f64)>> = Vec::new();
    for part in path.attribute("d").unwrap().split('M').skip(1) {
        let spaced = part.replace('z', "").replace('l', " ").replace('-', " -");
        let numbers: Vec<f64> = spaced.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let mut at = (0.0, 0.0);
        let step = |pair: &[f64]| {
            at = (at.0 + pair[0], at.1 + pair[1]);
            at
        };
        rings.push(numbers.chunks(2).map(step).collect());
    }
    rings
}

/// Nothing is drawn beyond the page but what a clip hides.
fn check_page(document: &Document<'_>) {
    let root = document.root_element();
    let side = |name: &str| root.attribute(name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (side("width"), side("height"));
    for circle in document.descendants().filter(|node| node.has_tag_name("circle")) {
        let of = |name: &str| circle.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!((0.0..=width).contains(&of("cx")) && (0.0..=height).contains(&of("cy")));
    }
    for text in document.descendants().filter(|node| node.has_tag_name("text")) {
        let of = |name: &str| text.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!((0.0..=width).contains(&of("x")) && (0.0..=height).contains(&of("y")), "{text:?}");
    }
    // Every class that something has is in the style sheet, except those of groups.
    let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap().text().unwrap();
    for shape in
        document.descendants().filter(|node| node.has_tag_name("path") || node.has_tag_name("circle"))
    {
        let class = shape.attribute("class").unwrap();
        assert!(style.contains(&format!(".rosenblatt .{class}{{")), "{class}");
    }
}

#[test]
fn a_hard_margin_has_its_points_its_lines_and_its_support_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let line = "plot iris-separable -a hard-margin";
    let text = svg(folder.path(), line);
    let document = parsed(&text);
    check_page(&document);
    let points = shapes(&document, "points");
    assert_eq!(points.len(), 100);
    assert_eq!(of_class(&document, "mark0").len(), 50 + 1, "one in the legend");
    let report = json(folder.path(), "train iris-separable -a hard-margin");
    let rings = shapes(&document, "support").len() as u64;
    assert_eq!(Some(rings), report["support_vectors"].as_u64());
    assert!(shapes(&document, "wrong").is_empty() && shapes(&document, "slacks").is_empty());
    assert_eq!(of_class(&document, "boundary").len(), 2, "one in the legend");
    assert_eq!(of_class(&document, "margin").len(), 3, "two, and one in the legend");
    for word in ["hard-margin on iris-separable", "setosa", "versicolor", "sepal_length", "petal_length"] {
        assert!(words(&document).iter().any(|text| text == word), "{word}: {:?}", words(&document));
    }
}

#[test]
fn the_boundary_is_where_the_model_says() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "train iris-separable -a hard-margin -o m.model --quiet");
    let text = svg(folder.path(), "plot iris-separable --model m.model");
    let document = parsed(&text);
    // Marks of the rows give the scale of the page: their centres are known numbers.
    let data =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../rosenblatt-io/data/iris.csv")).unwrap();
    let rows: Vec<(f64, f64)> = data
        .lines()
        .skip(1)
        .take(100)
        .map(|line| {
            let cells: Vec<f64> = line.split(',').take(4).map(|cell| cell.parse().unwrap()).collect();
            (cells[0], cells[2])
        })
        .collect();
    let centre = |node: &Node<'_, '_>| {
        let ring = corners(node).remove(0);
        let n = ring.len() as f64;
        ring.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n))
    };
    let places: Vec<(f64, f64)> = shapes(&document, "points").iter().map(centre).collect();
    let line = |pairs: Vec<(f64, f64)>| -> (f64, f64) {
        let n = pairs.len() as f64;
        let mean = pairs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
        let (mut xx, mut xy) = (0.0, 0.0);
        for (x, y) in &pairs {
            xx += (x - mean.0).powi(2);
            xy += (x - mean.0) * (y - mean.1);
        }
        (xy / xx, mean.1 - xy / xx * mean.0)
    };
    let (a, b) = line(places.iter().zip(&rows).map(|(place, row)| (place.0, row.0)).collect());
    let (c, d) = line(places.iter().zip(&rows).map(|(place, row)| (place.1, row.1)).collect());
    let model = json(folder.path(), "inspect m.model");
    let plane = &model["planes"][0];
    let weight = |name: &str| {
        let all = plane["largest_weights"].as_array().unwrap();
        all.iter().find(|w| w["feature"] == name).unwrap()["weight"].as_f64().unwrap()
    };
    let (w1, w2, bias) = (weight("sepal_length"), weight("petal_length"), plane["bias"].as_f64().unwrap());
    let score = |(x, y): (f64, f64)| w1 * (a * x + b) + w2 * (c * y + d) + bias;
    let group = of_class(&document, "regions").remove(0);
    let of = |name: &str| group.attribute(name).unwrap().parse::<f64>().unwrap();
    let within = |p: &(f64, f64)| {
        (of("x")..of("x") + of("width")).contains(&p.0) && (of("y")..of("y") + of("height")).contains(&p.1)
    };
    // A straight line has no corners inside the page, so points between its corners are looked at.
    let mut seen = 0;
    for (class, levels) in [("boundary", vec![0.0]), ("margin", vec![-1.0, 1.0])] {
        for path in group.children().filter(|node| node.attribute("class") == Some(class)) {
            for ring in corners(&path) {
                for (p, q) in ring.iter().zip(ring.iter().skip(1)) {
                    for k in 0..=50 {
                        let t = f64::from(k) / 50.0;
                        let point = (p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1));
                        if within(&point) {
                            let g = score(point);
                            assert!(levels.iter().any(|level| (g - level).abs() < 0.02), "{class}: {g}");
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn slack_and_mistakes_of_a_soft_margin_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let line = "plot iris-inseparable -a linear-svm --gap 1e-9";
    let text = svg(folder.path(), line);
    let document = parsed(&text);
    check_page(&document);
    let report = json(folder.path(), "train iris-inseparable -a linear-svm --gap 1e-9");
    let count = |name: &str| report["slacks"][name].as_u64().unwrap() as usize;
    assert_eq!(shapes(&document, "points").len(), 100);
    // Light around each cross.
    assert_eq!(shapes(&document, "wrong").len(), 2 * count("wrong_side"));
    let slacks = shapes(&document, "slacks").len();
    let all = count("wrong_side") + count("inside");
    // Some end beyond the edge of the page.
    assert!(slacks <= all && slacks + 3 >= all, "{slacks} of {all}");
    assert_eq!(Some(shapes(&document, "support").len() as u64), report["support_vectors"].as_u64());
    let told = |text: &str| words(&document).iter().any(|word| word.contains(text));
    assert!(told("misclassified") && told("slack") && told("margins"));
    let wrong = of_class(&document, "points").remove(0).descendants().filter(|node| {
        node.has_tag_name("title") && node.text().is_some_and(|text| text.contains("predicted"))
    });
    assert_eq!(wrong.count(), count("wrong_side"));
}

#[test]
fn curves_of_kernels_and_maps_are_closed_where_they_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let ring = svg(folder.path(), "plot ring -a linear-svm --c 10 --map lift");
    let document = parsed(&ring);
    check_page(&document);
    let boundary = of_class(&document, "regions").remove(0);
    let boundary = boundary.children().find(|node| node.attribute("class") == Some("boundary")).unwrap();
    let rings = corners(&boundary);
    // The region of the second class is all but a disc: an edge out of sight, and a circle.
    assert_eq!(rings.len(), 2, "{rings:?}");
    let circle = rings.iter().min_by_key(|ring| (ring[0].0 - 320.0).abs() as i64).unwrap();
    assert!(circle.len() > 20);
    assert!(shapes(&document, "wrong").is_empty());
    // The corners of worked example 3 by hand: one example makes (x₁ + x₂)², which is positive but on a line.
    let xor = svg(folder.path(), "plot xor -a svm --kernel poly --degree 2 --c 10");
    let document = parsed(&xor);
    check_page(&document);
    assert_eq!(shapes(&document, "points").len(), 60);
    assert!(shapes(&document, "wrong").is_empty());
    let report = json(folder.path(), "train xor -a svm --kernel poly --degree 2 --c 10");
    assert_eq!(Some(shapes(&document, "support").len() as u64), report["support_vectors"].as_u64());
}

#[test]
fn many_classes_and_features_are_projected_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let text = svg(folder.path(), "plot iris -a svm --kernel rbf --scale standard");
    let document = parsed(&text);
    check_page(&document);
    assert_eq!(shapes(&document, "points").len(), 150);
    for class in ["tint0", "tint1", "tint2", "mark0", "mark1", "mark2"] {
        assert!(!of_class(&document, class).is_empty(), "{class}");
    }
    let told = |document: &Document<'_>, text: &str| words(document).join(" ").contains(text);
    assert!(told(&document, "principal direction") && told(&document, "variance (PCA)"));
    let text = svg(folder.path(), "plot iris -a svm --x petal_length --y 4");
    let document = parsed(&text);
    assert!(told(&document, "the other 2 features at their mean") && told(&document, "petal_width"));
    for line in [
        "plot iris --x nonsense --y 2 -o p.svg",
        "plot iris --x 2 --y 2 -o p.svg",
        "plot iris --x 1 -o p.svg",
    ] {
        let output = rosenblatt(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
    }
}

#[test]
fn across_the_boundary_rows_are_where_their_scores_put_them() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "train auto-mpg -a linear-svm --scale standard -o m.model --quiet");
    let text = svg(folder.path(), "plot auto-mpg --model m.model --across");
    let document = parsed(&text);
    check_page(&document);
    assert_eq!(shapes(&document, "points").len(), 392);
    // The boundary is upright, with all rows of a prediction on their side of it.
    let regions = of_class(&document, "regions").remove(0);
    let boundary = regions.children().find(|node| node.attribute("class") == Some("boundary")).unwrap();
    let of = |name: &str| regions.attribute(name).unwrap().parse::<f64>().unwrap();
    let within = |p: &(f64, f64)| (of("x") + 1.0..of("x") + of("width") - 1.0).contains(&p.0);
    // Corners are beyond the edge: one stretch goes from top to bottom.
    let rings = corners(&boundary);
    let through =
        rings[0].windows(2).find(|pair| within(&pair[0]) && (pair[0].1 - pair[1].1).abs() >= of("height"));
    let line = through.unwrap()[0].0;
    assert!((line - through.unwrap()[1].0).abs() < 0.1, "{rings:?}");
    for mark in shapes(&document, "points") {
        let ring = corners(&mark).remove(0);
        let x = ring.iter().map(|p| p.0).sum::<f64>() / ring.len() as f64;
        let told = mark.first_element_child().unwrap().text().unwrap();
        let label = if told.contains(": bad") { "bad" } else { "good" };
        let wrong = told.contains("predicted");
        // "good" is the second class.
        assert_eq!((x > line) != wrong, label == "good", "{told} at {x}, boundary {line}");
    }
    let output = rosenblatt(folder.path(), &["plot", "iris", "-a", "svm", "--across", "-o", "p.svg"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn every_learner_can_be_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json(folder.path(), "algorithms");
    for row in listed["algorithms"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let data = if name == "winnow" { "worked-2-spam" } else { "iris-separable" };
        let text = svg(folder.path(), &format!("plot {data} -a {name}"));
        let document = parsed(&text);
        check_page(&document);
        let rows = if name == "winnow" { 2 } else { 100 };
        assert_eq!(shapes(&document, "points").len(), rows, "{name}");
    }
}

#[test]
fn steps_are_frames_or_panels() {
    let folder = tempfile::tempdir().unwrap();
    let animated = svg(folder.path(), "plot worked-1 -a perceptron --bias none --steps");
    let document = parsed(&animated);
    check_page(&document);
    // The start and two updates, in the regions below the points and in what is said of each.
    for group in ["regions", "step"] {
        let frames = of_class(&document, group);
        assert_eq!(frames.len(), 3, "{group}");
        assert!(frames.iter().all(|frame| frame.attribute("class").unwrap().contains("frame")));
    }
    assert_eq!(shapes(&document, "points").len(), 3);
    assert!(words(&document).iter().any(|text| text.contains("w = (1, −1)")), "{:?}", words(&document));
    let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap().text().unwrap();
    assert!(style.contains("@keyframes") && style.contains("prefers-reduced-motion"));
    let strip = svg(folder.path(), "plot worked-1 -a perceptron --bias none --steps strip");
    let document = parsed(&strip);
    assert_eq!((of_class(&document, "regions").len(), of_class(&document, "frame").len()), (3, 0));
    // Kernels have no weights, but the examples added so far.
    let kernel = svg(
        folder.path(),
        "plot worked-3 -a kernel-perceptron --kernel poly --degree 2 --coef0 0 --bias none --steps strip",
    );
    let document = parsed(&kernel);
    assert_eq!(of_class(&document, "regions").len(), 2);
    assert!(words(&document).iter().any(|text| text == "1: pass 1, row 1"), "{:?}", words(&document));
    let output = rosenblatt(folder.path(), &["plot", "iris", "-a", "svm", "--steps", "-o", "p.svg"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn losses_and_weights_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let text = svg(folder.path(), "plot losses");
    let document = parsed(&text);
    check_page(&document);
    assert_eq!(shapes(&document, "losses").len(), 6);
    for name in ["0/1", "perceptron", "hinge", "squared hinge", "squared", "logistic"] {
        assert!(words(&document).iter().any(|text| text == name), "{name}");
    }
    run(folder.path(), "train sms-spam -a linear-svm -o spam.model --quiet");
    let text = svg(folder.path(), "plot weights spam.model --top 12");
    let document = parsed(&text);
    check_page(&document);
    let bars: Vec<Node<'_, '_>> =
        shapes(&document, "weights").into_iter().filter(|node| node.has_tag_name("path")).collect();
    assert_eq!(bars.len(), 12);
    let model = json(folder.path(), "inspect spam.model --top 12");
    for weight in model["planes"][0]["largest_weights"].as_array().unwrap() {
        let name = weight["feature"].as_str().unwrap();
        assert!(words(&document).iter().any(|text| text == name), "{name}");
    }
    run(folder.path(), "train iris-separable -a svm -o curved.model --quiet");
    let output = rosenblatt(folder.path(), &["plot", "weights", "curved.model", "-o", "p.svg"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn learning_curves_are_tables_json_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let line = "plot curve iris-inseparable -a perceptron --no-pocket --passes 9 --sizes 5";
    let curve = json(folder.path(), &format!("{line} -o curve.svg"));
    let by_pass = curve["by_pass"].as_array().unwrap();
    let by_rows = curve["by_rows"].as_array().unwrap();
    assert_eq!((by_pass.len(), by_rows.len()), (9, 5));
    assert_eq!(by_rows[4]["rows"], curve["rows"]["train"]);
    let best = curve["best_pass"].as_u64().unwrap() as usize;
    let held = |point: &Value| point["holdout_accuracy"].as_f64().unwrap();
    assert!(by_pass.iter().all(|point| held(point) <= held(&by_pass[best - 1])));
    // The fit on all rows keeps that pass.
    assert_eq!(by_rows[4]["test_accuracy"], by_pass[best - 1]["test_accuracy"]);
    let text = fs::read_to_string(folder.path().join("curve.svg")).unwrap();
    let document = parsed(&text);
    check_page(&document);
    assert_eq!(of_class(&document, "curves").len(), 2);
    assert_eq!(shapes(&document, "curves").len(), 3 * (1 + 9) + 3 * (1 + 5));
    let told = run(folder.path(), line);
    for part in ["held out", "test", "← kept", "rows"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let alone = json(folder.path(), "plot curve iris -a linear-svm --holdout 0 --test 0.3");
    assert!(alone["by_pass"].as_array().unwrap().is_empty() && alone["best_pass"].is_null());
    assert!(alone["by_rows"][0]["holdout_accuracy"].is_null());
    let output = rosenblatt(folder.path(), &["plot", "curve", "iris", "--holdout", "0", "--test", "0"]);
    assert_eq!(output.status.code(), Some(2));
}

/// As `tune` writes it, of so many values of C and γ.
fn search(cs: &[f64], gammas: &[f64]) -> Value {
    let mut cells = Vec::new();
    for (i, c) in cs.iter().enumerate() {
        for (j, gamma) in gammas.iter().enumerate() {
            let mean = 0.9 - 0.02 * (i as f64 - 1.0).powi(2) - 0.01 * (j as f64 - 1.0).powi(2);
            let parameters = serde_json::json!({ "c": c, "gamma": gamma });
            cells.push(serde_json::json!({
                "algorithm": "svm", "parameters": parameters, "rows": 100, "scores": [mean], "mean": mean, "error": 0.01,
            }));
        }
    }
    let best = gammas.len().min(2) - 1 + gammas.len();
    serde_json::json!({ "selection": { "cells": cells, "best": best, "chosen": best, "folds": 5 } })
}

#[test]
fn a_search_is_a_heat_map_or_a_curve() {
    let folder = tempfile::tempdir().unwrap();
    let write = |search: &Value| fs::write(folder.path().join("search.json"), search.to_string()).unwrap();
    write(&search(&[0.1, 1.0, 10.0, 100.0], &[0.01, 0.1, 1.0]));
    let text = svg(folder.path(), "plot tune search.json");
    let document = parsed(&text);
    check_page(&document);
    let cells = shapes(&document, "search");
    assert_eq!(cells.iter().filter(|node| node.has_tag_name("path")).count(), 12 + 1, "one is ringed");
    assert_eq!(of_class(&document, "best").len(), 1);
    for word in ["c", "gamma", "100", "0.01", "90.0%"] {
        assert!(words(&document).iter().any(|text| text == word), "{word}: {:?}", words(&document));
    }
    write(&search(&[0.1, 1.0, 10.0, 100.0], &[0.1]));
    let text = svg(folder.path(), "plot tune search.json");
    let document = parsed(&text);
    check_page(&document);
    assert_eq!(of_class(&document, "dot0").len(), 4);
    assert_eq!((of_class(&document, "whisker0").len(), of_class(&document, "ring").len()), (4, 1));
    pixels(folder.path(), "plot tune search.json");
    // Drawn at random: no two have a value in common.
    let mut random = search(&[0.1, 0.3, 2.0, 7.0, 40.0, 300.0], &[0.1]);
    for (at, cell) in random["selection"]["cells"].as_array_mut().unwrap().iter_mut().enumerate() {
        cell["parameters"]["gamma"] = serde_json::json!(0.001 * 3f64.powi(((at * 5) % 7) as i32));
    }
    write(&random);
    let text = svg(folder.path(), "plot tune search.json");
    let document = parsed(&text);
    check_page(&document);
    let points = shapes(&document, "search");
    assert_eq!(points.iter().filter(|node| node.has_tag_name("circle")).count(), 6 + 1, "one is ringed");
    run(folder.path(), "train iris -o m.model --quiet");
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    for line in ["plot tune m.model -o p.svg", "plot tune other.json -o p.svg", "plot tune nothing -o p.svg"]
    {
        let output = rosenblatt(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
    }
}

fn pixels(folder: &Path, line: &str) -> tiny_skia::Pixmap {
    run(folder, &format!("{line} -o picture.png"));
    tiny_skia::Pixmap::load_png(folder.join("picture.png")).unwrap()
}

#[test]
fn pngs_have_their_size_and_are_light_or_dark() {
    let folder = tempfile::tempdir().unwrap();
    let model = "train iris-inseparable -a linear-svm -o m.model --quiet";
    run(folder.path(), model);
    let line = "plot iris-inseparable --model m.model --size 400x300";
    let light = pixels(folder.path(), &format!("{line} --theme light"));
    let dark = pixels(folder.path(), &format!("{line} --theme dark"));
    for picture in [&light, &dark] {
        assert_eq!((picture.width(), picture.height()), (800, 600));
        let mut colours: Vec<[u8; 3]> =
            picture.pixels().iter().map(|p| [p.red(), p.green(), p.blue()]).collect();
        colours.sort_unstable();
        colours.dedup();
        assert!(colours.len() > 50, "{}", colours.len());
        assert!(picture.pixels().iter().all(|pixel| pixel.alpha() == 255));
    }
    let corner = |picture: &tiny_skia::Pixmap| picture.pixel(0, 0).unwrap().red();
    assert!(corner(&light) > 240 && corner(&dark) < 40);
    // All pictures, and the one that moves, too.
    for line in [
        "plot losses",
        "plot worked-1 -a perceptron --steps",
        "plot worked-1 -a perceptron --steps strip",
        "plot curve iris -a perceptron --passes 3 --sizes 2",
        "plot weights m.model",
    ] {
        let picture = pixels(folder.path(), line);
        let paper = picture.pixel(0, 0).unwrap();
        let inked = picture.pixels().iter().filter(|pixel| **pixel != paper).count();
        assert!(inked * 100 > picture.pixels().len(), "{line}: {inked} of {}", picture.pixels().len());
    }
}

#[test]
fn themes_differ_in_colours_alone_and_bytes_do_not_differ() {
    let folder = tempfile::tempdir().unwrap();
    let line = "plot iris-inseparable -a svm --kernel rbf";
    let of = |theme: &str| svg(folder.path(), &format!("{line} --theme {theme}"));
    let (light, dark, auto) = (of("light"), of("dark"), of("auto"));
    assert_ne!(light, dark);
    assert!(auto.contains("@media (prefers-color-scheme:dark)") && !light.contains("@media"));
    let body = |svg: &str| svg.split("</style>").nth(1).unwrap().to_owned();
    assert!(body(&light) == body(&dark) && body(&light) == body(&auto));
    assert_eq!(auto, svg(folder.path(), &format!("{line} --threads 1")));
    assert_eq!(auto, svg(folder.path(), &format!("{line} --threads 2")));
    let png = |threads: u8| {
        run(folder.path(), &format!("{line} --threads {threads} -o p.png"));
        fs::read(folder.path().join("p.png")).unwrap()
    };
    assert_eq!(png(1), png(2));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "train iris-separable -a hard-margin -o m.model --quiet");
    for (line, said) in [
        ("plot iris", "-o picture.svg"),
        ("plot iris -o picture.gif", "neither .svg nor .png"),
        ("plot -o picture.svg", "nothing to plot"),
        ("plot iris -o no/such/folder/p.svg", "no such folder"),
        ("plot iris-separable --model m.model --c 3 -o p.svg", "--model is a model that is there"),
        ("plot losses --size 7x7 -o p.svg", "from 120 to 4000"),
        ("plot weights missing.model -o p.svg", "missing.model"),
    ] {
        let output = rosenblatt(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(stderr(&output).contains(said), "{line}: {}", stderr(&output));
    }
    assert_eq!(support::files(folder.path()), ["m.model"]);
}

#[test]
fn labels_and_names_cannot_break_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "\"a<b>&\"\"c\"\"\",</svg>,label\n1,2,<script>alert(1)</script>\n2,1,\"x & y\"\n3,3,\"x & y\"\n0,1,<script>alert(1)</script>\n";
    fs::write(folder.path().join("hostile.csv"), rows).unwrap();
    let text = svg(folder.path(), "plot hostile.csv -a linear-svm");
    let document = parsed(&text);
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    assert!(words(&document).iter().any(|text| text == "<script>alert(1)</script>"));
    run(folder.path(), "train hostile.csv -a linear-svm --report page.html --quiet");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(!page.contains("<script"));
}

#[test]
fn a_report_is_a_page_that_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let line = "train iris-inseparable -a perceptron --holdout 0.3 --passes 8 --report page.html";
    let told = run(folder.path(), line);
    assert!(told.contains("page.html"), "{told}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in [
        "<!DOCTYPE html>",
        "prefers-color-scheme:dark",
        "Objective and certificate",
        "Pass by pass",
        "Parameters",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<svg xmlns").count(), 2, "rows, and accuracy pass by pass");
    // Nothing is fetched from anywhere; the name of SVG is no address.
    let links = page.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !links.contains("http")
            && !links.contains("<link")
            && !links.contains("src=")
            && !links.contains("url(")
    );
    // Every picture is XML of its own.
    for picture in page.split("<figure>\n").skip(1) {
        check_page(&parsed(picture.split("</figure>").next().unwrap()));
    }
    run(folder.path(), "train sms-spam -a linear-svm --gap 1e-6 --report page.html -o spam.model --quiet");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in ["no solution can be below", "weights of linear-svm", "true \\ predicted", "fingerprint"] {
        assert!(page.contains(part), "{part}");
    }
    let output = rosenblatt(folder.path(), &["train", "iris", "--stream", "--report", "page.html"]);
    assert_eq!(output.status.code(), Some(2));
}
