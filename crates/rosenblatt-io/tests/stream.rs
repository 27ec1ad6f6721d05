//! Streams give the same bytes as data read at once, also when they are stopped and taken up again.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rosenblatt::registry::ALGORITHMS;
use rosenblatt::{Fit, Learner, Progress, Rng, Status, Watch};
use rosenblatt_io::{ReadOptions, StreamError, StreamOptions, Streamed, TextOptions, read, train_stream};
use serde_json::{Map, Value, json};

/// A learner by name, in the order rows stand and without a pocket.
fn learner(name: &str, more: &Value) -> Box<dyn Learner> {
    let row = ALGORITHMS.iter().find(|row| row.name == name).unwrap();
    let mut given: Map<String, Value> = json!({"order": "cyclic", "passes": 3}).as_object().unwrap().clone();
    if row.parameters().any(|parameter| parameter.name == "pocket") {
        given.insert("pocket".into(), json!(false));
    }
    given.extend(more.as_object().unwrap().clone());
    row.learner(&given).unwrap()
}

/// Rows of three classes in each format; the classes appear one after the other.
fn texts(rows: usize) -> [(&'static str, String); 4] {
    let mut rng = Rng::new(7);
    let (mut libsvm, mut vw, mut jsonl) = (String::new(), String::new(), String::new());
    let mut csv = String::from("x,\"colour\nor none\",weight,y,class\n");
    for row in 0..rows {
        let class = ["ham", "eggs", "spam"][(rng.below(3) as usize).min(row / 40)];
        let features: Vec<u64> = (1..12 + row as u64 / 30).filter(|_| rng.below(3) == 0).collect();
        let value = |j: u64| (j * 37 % 11) as f64 / 4.0;
        let pairs: Vec<String> = features.iter().map(|&j| format!("{j}:{}", value(j))).collect();
        libsvm += &format!("{class} {}\n", pairs.join(" "));
        let names: Vec<String> = features.iter().rev().map(|&j| format!("f{j}:{}", value(j))).collect();
        let weight = if row > 150 && row % 5 == 0 { "2" } else { "" };
        vw += &format!("{class} {weight} |a {}\n", names.join(" "));
        let fields: Vec<String> = features.iter().map(|&j| format!("\"f{j}\": {}", value(j))).collect();
        let fields = std::iter::once(format!("\"label\": \"{class}\"")).chain(fields).collect::<Vec<_>>();
        jsonl += &format!("{{{}}}\n\n", fields.join(", "));
        let colour = ["red", "blue", "\"very\n, very red\"", "none at all"][row / 90 % 4];
        csv += &format!("{},{colour},{},{},{class}\n", rng.below(9), rng.below(3), value(row as u64));
    }
    [("rows.svm", libsvm), ("rows.vw", vw), ("rows.jsonl", jsonl), ("rows.csv", csv)]
}

fn at_once(learner: &dyn Learner, path: &Path, options: &ReadOptions) -> Fit {
    let data = read(&path.to_string_lossy(), options).unwrap().into_dataset().unwrap();
    learner.fit(&data, &mut ()).unwrap()
}

fn bytes(fit: &Fit) -> Vec<u8> {
    fit.to_bytes().unwrap()
}

#[test]
fn streams_are_data_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts(400) {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        for row in ALGORITHMS.iter().filter(|row| row.online) {
            for more in [json!({}), json!({"class_weight": "balanced"}), json!({"multiclass": "ovo"})] {
                let learner = learner(row.name, &more);
                let expected = at_once(learner.as_ref(), &path, &ReadOptions::default());
                let options = StreamOptions { block: Some(700), ..Default::default() };
                let data = path.to_string_lossy();
                let streamed =
                    train_stream(learner.as_ref(), &data, &ReadOptions::default(), &options, &mut ())
                        .unwrap();
                assert_eq!(bytes(&streamed.fit), bytes(&expected), "{name} {} {more}", row.name);
                let last = streamed.progressive.last().unwrap();
                assert_eq!((last.rows, last.mistakes), (400, expected.report.passes[0].mistakes));
                assert!(streamed.progressive.windows(2).all(|pair| pair[0].rows < pair[1].rows));
            }
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left behind");
}

/// Rows that are better kept dense are so when they are read at once, which the report tells.
#[test]
fn dense_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    let row = |i: u64| format!("{{\"x\": {}, \"y\": {}, \"label\": {}}}\n", i % 7, i % 5 + 1, i % 2);
    fs::write(&path, (0..90).map(row).collect::<String>()).unwrap();
    let learner = learner("averaged-perceptron", &json!({}));
    let expected = at_once(learner.as_ref(), &path, &ReadOptions::default());
    assert_eq!(expected.report.data.entries, 180);
    let options = with_checkpoints(&folder.path().join("m"));
    let data = path.to_string_lossy();
    let (streamed, _) = in_pieces(learner.as_ref(), &data, &ReadOptions::default(), &options, 3);
    assert_eq!(bytes(&streamed.fit), bytes(&expected));
}

#[test]
fn texts_need_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let text = TextOptions { columns: vec!["body".into()], min_rows: 1, ..Default::default() };
    let options = ReadOptions { text, ..Default::default() };
    let learner = learner("averaged-perceptron", &json!({}));
    for (name, rows) in
        [("rows.csv", "body,class\nwin,1\nlose,0\n"), ("rows.jsonl", "{\"body\":\"win\",\"label\":1}\n")]
    {
        let path = folder.path().join(name);
        fs::write(&path, rows).unwrap();
        let stream = StreamOptions::default();
        let refused = train_stream(learner.as_ref(), &path.to_string_lossy(), &options, &stream, &mut ());
        let Err(StreamError::Read(error)) = refused else { panic!("{name}: texts cannot be streamed") };
        assert!(error.to_string().ends_with("so all rows must be read first"), "{error}");
        assert!(error.hint().unwrap().contains("leave out `--stream`"));
    }
}

#[test]
fn hashed_and_scaled() {
    let folder = tempfile::tempdir().unwrap();
    let [_, (name, text), ..] = texts(300);
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let learner = learner("arow", &json!({}));
    let hashed = ReadOptions { hash: Some(4), ..Default::default() };
    let options = StreamOptions { block: Some(700), unit: true, ..Default::default() };
    let streamed =
        train_stream(learner.as_ref(), &path.to_string_lossy(), &hashed, &options, &mut ()).unwrap();
    let data = read(&path.to_string_lossy(), &hashed).unwrap();
    assert_eq!(streamed.hashing, data.hashing);
    let data = data.into_dataset().unwrap();
    let scaling = rosenblatt::Scaling::fit(rosenblatt::Scale::Unit, data.x());
    let data = data.scaled(&scaling).unwrap();
    let task = rosenblatt::Task { scaling: Some(&scaling), ..rosenblatt::Task::new(&data) };
    assert_eq!(bytes(&streamed.fit), bytes(&learner.learn(&task, &mut ()).unwrap()));
}

/// Stops a run after so many blocks.
struct After(usize);

impl Watch for After {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn with_checkpoints(model: &Path) -> StreamOptions {
    StreamOptions {
        model: Some(model.to_owned()),
        checkpoint: Some(Duration::ZERO),
        resume: true,
        block: Some(900),
        ..Default::default()
    }
}

/// Goes on until it ends, stopped again and again.
fn in_pieces(
    learner: &dyn Learner,
    data: &str,
    read: &ReadOptions,
    options: &StreamOptions,
    seed: u64,
) -> (Streamed, usize) {
    let mut rng = Rng::new(seed);
    for pieces in 1.. {
        match train_stream(learner, data, read, options, &mut After(1 + rng.below(9) as usize)) {
            Ok(streamed) if streamed.fit.report.status != Status::Interrupted => return (streamed, pieces),
            Ok(_) | Err(StreamError::TooEarly { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!()
}

#[test]
fn stopped_and_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts(400) {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        for (algorithm, more) in [
            ("averaged-perceptron", json!({})),
            ("voted-perceptron", json!({"multiclass": "ovr"})),
            ("arow", json!({"class_weight": "balanced"})),
            ("alma", json!({"multiclass": "ovo"})),
            ("winnow", json!({"alpha": 1.5})),
        ] {
            let learner = learner(algorithm, &more);
            let read = ReadOptions::default();
            let options = with_checkpoints(&folder.path().join("m"));
            let (streamed, pieces) =
                in_pieces(learner.as_ref(), &path.to_string_lossy(), &read, &options, 11);
            assert!(pieces > 3 && streamed.resumed.is_some(), "{pieces}");
            let expected = at_once(learner.as_ref(), &path, &read);
            assert_eq!(bytes(&streamed.fit), bytes(&expected), "{name} {algorithm}");
            assert_eq!(streamed.progressive.last().unwrap().mistakes, expected.report.passes[0].mistakes);
            options.clean_up();
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left behind");
}

#[test]
fn once_gives_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let [(name, text), ..] = texts(400);
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let learner = learner("arow", &json!({"passes": 1}));
    let classes = Some(["eggs", "ham", "spam"].map(str::to_owned).to_vec());
    let options = StreamOptions { once: true, classes, block: Some(500), ..Default::default() };
    let read = ReadOptions::default();
    let data = path.to_string_lossy();
    let streamed = train_stream(learner.as_ref(), &data, &read, &options, &mut ()).unwrap();
    let expected = at_once(learner.as_ref(), &path, &read);
    assert_eq!(streamed.fit.model, expected.model);
    assert_eq!(streamed.fit.report.passes, expected.report.passes);
    assert_eq!((streamed.cached, streamed.fit.report.train_accuracy), (0, None));
    let two = Some(["eggs", "ham"].map(str::to_owned).to_vec());
    let error = train_stream(
        learner.as_ref(),
        &data,
        &read,
        &StreamOptions { classes: two, ..options.clone() },
        &mut (),
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains(", line ") && error.contains("\"spam\""), "{error}");
    for (name, more) in [("arow", json!({})), ("winnow", json!({"passes": 1}))] {
        let refused = train_stream(self::learner(name, &more).as_ref(), &data, &read, &options, &mut ());
        assert!(matches!(refused, Err(StreamError::Unsuitable(_))), "{name}");
    }
}

#[test]
fn another_input_or_other_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [(name, text), ..] = texts(400);
    let path = folder.path().join(name);
    fs::write(&path, &text).unwrap();
    let data = path.to_string_lossy();
    let (read, options) = (ReadOptions::default(), with_checkpoints(&folder.path().join("m")));
    let averaged = learner("averaged-perceptron", &json!({}));
    let run =
        |learner: &dyn Learner, blocks| train_stream(learner, &data, &read, &options, &mut After(blocks));
    run(averaged.as_ref(), 6).unwrap();
    let error = |learner: &dyn Learner| run(learner, 1000).unwrap_err().to_string();
    assert!(error(learner("arow", &json!({})).as_ref()).contains("other options"));
    assert!(
        error(learner("averaged-perceptron", &json!({"passes": 9})).as_ref()).contains("other parameters")
    );
    let other = folder.path().join("other.svm");
    fs::write(&other, &text).unwrap();
    let other = train_stream(averaged.as_ref(), &other.to_string_lossy(), &read, &options, &mut ());
    let message = other.unwrap_err().to_string();
    assert!(message.contains("rows.svm, and this is ") && message.contains("other.svm; give"), "{message}");
    fs::write(&path, text.replace(':', ":1")).unwrap();
    assert!(error(averaged.as_ref()).contains("not the input"));
    fs::write(&path, &text).unwrap();
    let checkpoint = folder.path().join("m.checkpoint");
    let mut damaged = fs::read(&checkpoint).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&checkpoint, damaged).unwrap();
    assert!(error(averaged.as_ref()).contains("damaged"));
}

/// A run that begins anew and is killed before its first checkpoint leaves none that goes with other rows.
#[test]
fn beginning_anew_forgets_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let [(name, text), ..] = texts(400);
    let path = folder.path().join(name);
    fs::write(&path, &text).unwrap();
    let (data, read) = (path.to_string_lossy(), ReadOptions::default());
    let resumed = with_checkpoints(&folder.path().join("m"));
    let averaged = learner("averaged-perceptron", &json!({}));
    train_stream(averaged.as_ref(), &data, &read, &resumed, &mut After(6)).unwrap();
    assert!(folder.path().join("m.checkpoint").exists());
    // Nothing is saved, as nothing is when a process is killed early.
    let anew = StreamOptions { resume: false, checkpoint: Some(Duration::MAX), ..resumed.clone() };
    let broken = train_stream(averaged.as_ref(), "no such file", &read, &anew, &mut ());
    assert!(broken.is_err() && !folder.path().join("m.checkpoint").exists());
    let streamed = train_stream(averaged.as_ref(), &data, &read, &resumed, &mut ()).unwrap();
    assert_eq!(streamed.resumed, None);
    assert_eq!(bytes(&streamed.fit), bytes(&at_once(averaged.as_ref(), &path, &read)));
}

/// Later passes go over kept rows: a file that is another by then is refused, not ignored.
#[test]
fn changed_data_is_noticed_in_later_passes() {
    let folder = tempfile::tempdir().unwrap();
    let [(name, text), ..] = texts(400);
    let path = folder.path().join(name);
    fs::write(&path, &text).unwrap();
    let (data, read) = (path.to_string_lossy(), ReadOptions::default());
    let options = with_checkpoints(&folder.path().join("m"));
    let averaged = learner("averaged-perceptron", &json!({"passes": 1000}));
    let go_on = || train_stream(averaged.as_ref(), &data, &read, &options, &mut After(6));
    while go_on().unwrap().resumed.is_none_or(|(pass, _)| pass < 2) {}
    fs::write(&path, [text.clone(), text].concat()).unwrap();
    let error = go_on().unwrap_err().to_string();
    assert!(error.contains("has changed since it was read"), "{error}");
}

/// A table that comes out of a pipe would have to be kept to be gone through first.
#[cfg(unix)]
#[test]
fn tables_through_pipes_are_not_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let table = b"x,class\n1,a\n2,b\n";
    let learner = learner("arow", &json!({"passes": 1}));
    let classes = Some(["a", "b"].map(str::to_owned).to_vec());
    let options = StreamOptions { once: true, classes, ..Default::default() };
    let train = |data: &str| train_stream(learner.as_ref(), data, &ReadOptions::default(), &options, &mut ());
    let refused = through_pipe(folder.path(), table, train);
    let Err(StreamError::Read(error)) = refused else { panic!("a table cannot be read once") };
    assert!(error.hint().unwrap().contains("plain file"), "{error}");
    let path = folder.path().join("rows.csv");
    fs::write(&path, table).unwrap();
    assert_eq!(train(&path.to_string_lossy()).unwrap().fit.report.rows, 2);
}

/// A mark that does not begin a cell is text: the table is cut at the same lines as when it is read at once.
#[test]
fn marks_within_cells() {
    let folder = tempfile::tempdir().unwrap();
    let learner = learner("averaged-perceptron", &json!({}));
    for (name, delimiter) in [("rows.csv", ','), ("rows.tsv", '\t')] {
        let path = folder.path().join(name);
        let row =
            |i: u64| format!("{}{delimiter}{}\"{delimiter}{}\n", i % 7, i % 5, ["a", "b"][i as usize % 2]);
        let header = format!("x{delimiter}inches{delimiter}class\n");
        fs::write(&path, header + &(0..90).map(row).collect::<String>()).unwrap();
        let (read, data) = (ReadOptions::default(), path.to_string_lossy());
        let options = StreamOptions { block: Some(100), ..Default::default() };
        let streamed = train_stream(learner.as_ref(), &data, &read, &options, &mut ()).unwrap();
        assert_eq!(bytes(&streamed.fit), bytes(&at_once(learner.as_ref(), &path, &read)), "{name}");
        assert!(streamed.cached > 0);
    }
}

/// Gives bytes through a named pipe, as `<(…)` of a shell does.
#[cfg(unix)]
fn through_pipe<T>(folder: &Path, bytes: &[u8], read: impl FnOnce(&str) -> T) -> T {
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&pipe, bytes));
        read(&pipe.to_string_lossy())
    });
    fs::remove_file(pipe).unwrap();
    answer
}

/// What is read at once is read from a pipe once.
#[cfg(unix)]
#[test]
fn images_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let mut images = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2];
    images.extend([1, 2, 3, 4]);
    let features = rosenblatt::Features { count: 2, ..Default::default() };
    let options = ReadOptions { features: Some(features), ..Default::default() };
    through_pipe(folder.path(), &images, |pipe| {
        let mut blocks = rosenblatt_io::Blocks::open(pipe, &options).unwrap();
        assert_eq!(blocks.next().unwrap().unwrap().n_rows(), 2);
    });
}

/// The format is told by the first line that says something, and compressed pipes are as plain ones.
#[cfg(unix)]
#[test]
fn pipes_that_begin_with_little() {
    let folder = tempfile::tempdir().unwrap();
    let learner = learner("averaged-perceptron", &json!({}));
    let text = "\n\n# by hand\n\n1 1:1\n0 2:1\n1 1:2\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
    for bytes in [text.as_bytes(), &gzip.finish().unwrap()] {
        through_pipe(folder.path(), bytes, |pipe| {
            let (read, options) = (ReadOptions::default(), StreamOptions::default());
            let streamed = train_stream(learner.as_ref(), pipe, &read, &options, &mut ()).unwrap();
            assert_eq!(streamed.fit.report.rows, 3);
        });
    }
}

#[test]
fn errors_have_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.svm");
    let good = "a 1:1 2:3\nb 2:1\n".repeat(200);
    let options = StreamOptions { block: Some(100), ..Default::default() };
    let run = |text: &str| {
        fs::write(&path, text).unwrap();
        let learner = learner("averaged-perceptron", &json!({}));
        let streamed = train_stream(
            learner.as_ref(),
            &path.to_string_lossy(),
            &ReadOptions::default(),
            &options,
            &mut (),
        );
        streamed.unwrap_err().to_string()
    };
    assert!(run(&format!("{good}a 1:x\n")).ends_with("line 401, column 5: expected a number, found \"x\""));
    assert!(run("").ends_with("it is empty"));
    assert!(run(&"a 1:1\n".repeat(100)).contains("all rows have the class"));
    assert!(run("a\nb\n").contains("no line has a feature"));
}
