//! Streams larger than memory, killed, taken up again, answered as they come.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rosenblatt::Rng;
use support::{BINARY, files, json};

/// Sparse rows of three classes that no planes separate, until the file has so many bytes.
fn write_rows(path: &Path, bytes: usize) {
    let mut rng = Rng::new(1);
    let mut out = BufWriter::new(File::create(path).unwrap());
    let (mut written, mut line) = (0, String::new());
    while written < bytes {
        line.clear();
        let class = rng.below(3);
        write!(line, "{}", ["c", "a", "b"][class as usize]).unwrap();
        let mut index = 0;
        for _ in 0..20 {
            index += 1 + rng.below(40);
            let value = rng.below(1000) + if index % 3 == class { 200 } else { 0 };
            write!(line, " {index}:0.{value:05}").unwrap();
        }
        line.push('\n');
        out.write_all(line.as_bytes()).unwrap();
        written += line.len();
    }
}

fn shell(folder: &Path, script: &str) -> Output {
    let script = script.replace("rosenblatt", BINARY);
    Command::new("sh").args(["-c", &script]).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn rosenblatt(folder: &Path, line: &str) -> Output {
    support::rosenblatt(folder, &line.split(' ').collect::<Vec<_>>())
}

/// A program that waits for its input, and what gives it some.
fn with_pipes(folder: &Path, line: &str) -> (Child, ChildStdin) {
    let mut command = Command::new(BINARY);
    command.args(line.split(' ')).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

fn passed(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn same_files(folder: &Path, a: &str, b: &str) {
    assert!(fs::read(folder.join(a)).unwrap() == fs::read(folder.join(b)).unwrap(), "{a} is not {b}");
}

/// All memory the process may have is a tenth of the data, whether it comes from a file or a pipe.
#[test]
fn ten_times_larger_than_memory() {
    const LIMIT_KIB: usize = 40_000;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(&folder.join("rows.svm"), 10 * 1024 * LIMIT_KIB);
    passed(&shell(folder, "rosenblatt train rows.svm --order cyclic --passes 2 -q -o whole.model"));
    let train = "--stream --passes 2 --block 500000 -q -o";
    passed(&shell(
        folder,
        &format!("ulimit -v {LIMIT_KIB}; exec rosenblatt train rows.svm {train} file.model"),
    ));
    same_files(folder, "file.model", "whole.model");
    let piped = format!("(ulimit -v {LIMIT_KIB}; exec rosenblatt train - {train} pipe.model) < rows.svm");
    passed(&shell(folder, &format!("cat rows.svm | {}", piped.replace(" < rows.svm", ""))));
    same_files(folder, "pipe.model", "whole.model");
    let whole =
        shell(folder, &format!("ulimit -v {LIMIT_KIB}; exec rosenblatt train rows.svm --passes 1 -q"));
    assert!(!whole.status.success(), "the limit is one");
    passed(&shell(
        folder,
        &format!("ulimit -v {LIMIT_KIB}; rosenblatt predict whole.model rows.svm -q -o labels.txt"),
    ));
    let lines = |name: &str| BufReader::new(File::open(folder.join(name)).unwrap()).lines().count();
    assert_eq!(lines("labels.txt"), lines("rows.svm"));
}

/// Killed at random moments and taken up again until it is done, a run ends in the bytes of an unbroken one, and nothing but its own files is
/// left meanwhile.
#[test]
fn two_hundred_kills() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(&folder.join("rows.svm"), 8_000_000);
    let line = "train rows.svm --passes 4 -q --block 200000 --checkpoint 0 --resume m.model";
    let start = Instant::now();
    assert_eq!(rosenblatt(folder, line).status.code(), Some(0));
    let whole = start.elapsed();
    fs::rename(folder.join("m.model"), folder.join("whole.model")).unwrap();
    passed(&shell(folder, "rosenblatt train rows.svm --order cyclic --passes 4 -q -o memory.model"));
    same_files(folder, "whole.model", "memory.model");

    let mut rng = Rng::new(u64::from(std::process::id()));
    let (mut kills, mut finished) = (0, 0);
    while kills < 200 {
        let mut child = Command::new(BINARY).args(line.split(' ')).current_dir(folder).spawn().unwrap();
        sleep(whole.mul_f64(rng.uniform() * 0.6));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        let ended = child.wait().unwrap();
        let stray = |name: &String| {
            let side = ["", ".cache", ".checkpoint", ".checkpoint-new"].map(|kind| format!("m.model{kind}"));
            !side.contains(name) && !["memory.model", "rows.svm", "whole.model"].contains(&name.as_str())
        };
        assert_eq!(files(folder).into_iter().find(stray), None);
        if folder.join("m.model").exists() {
            same_files(folder, "m.model", "whole.model");
        }
        if ended.success() {
            finished += 1;
            fs::remove_file(folder.join("m.model")).unwrap();
        }
    }
    assert_eq!(rosenblatt(folder, line).status.code(), Some(0));
    same_files(folder, "m.model", "whole.model");
    assert_eq!(files(folder), ["m.model", "memory.model", "rows.svm", "whole.model"]);
    assert!(finished > 0, "{finished} runs were finished");
}

#[test]
fn predictions_come_as_lines_come() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("rows.csv"), "x,y,class\n1,5,up\n2,-4,down\n1,4,up\n3,-5,down\n").unwrap();
    fs::write(folder.join("rows.svm"), "up 1:1 2:5\ndown 1:2 2:-4\nup 1:1 2:4\ndown 1:3 2:-5\n").unwrap();
    fs::write(folder.join("texts.csv"), "text,class\ngo up,up\ngo down,down\nup,up\n").unwrap();
    let lines = "{\"text\":\"go up\",\"label\":\"up\"}\n{\"label\":\"down\",\"text\":\"go down\"}\n";
    fs::write(folder.join("texts.jsonl"), lines).unwrap();
    for (data, header, up, down) in [
        ("rows.csv", "x,y\n", "1,3\n", "1,-3\n"),
        ("rows.svm", "\n# by hand\n\n", "0 1:1 2:3\n", "0 2:-3\n"),
        ("texts.csv --text text --min-rows 1", "text\n", "Up!\n", "\"down, down\"\n"),
        ("texts.jsonl --text text --min-rows 1", "", "{\"text\":\"UP\"}\n", "{\"text\":\"down\"}\n"),
    ] {
        passed(&rosenblatt(folder, &format!("train {data} -o m.model")));
        let (mut child, mut input) = with_pipes(folder, "predict m.model - --ignore-labels -q");
        let mut output = BufReader::new(child.stdout.take().unwrap());
        input.write_all(header.as_bytes()).unwrap();
        for _ in 0..5 {
            for (row, expected) in [(up, "up\n"), (down, "down\n")] {
                input.write_all(row.as_bytes()).unwrap();
                let mut answer = String::new();
                output.read_line(&mut answer).unwrap();
                assert_eq!(answer, expected, "{data}");
            }
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// A limit on the size of files does what a full disk does.
#[test]
fn full_disks() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(&folder.join("rows.svm"), 3_000_000);
    fs::write(folder.join("m.model"), "what was there").unwrap();
    let full = "trap '' XFSZ; ulimit -f 100; exec rosenblatt train rows.svm";
    for flags in ["--stream -o m.model", "--checkpoint 0 -o m.model", "--resume m.model"] {
        let output = shell(folder, &format!("{full} {flags}"));
        assert_eq!(output.status.code(), Some(1), "{flags}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains("cannot keep the rows in"), "{message}");
        assert_eq!(fs::read_to_string(folder.join("m.model")).unwrap(), "what was there");
        assert!(files(folder).iter().all(|name| !name.starts_with('.')), "{:?}", files(folder));
    }
    let output = shell(
        folder,
        "rosenblatt train rows.svm -q -o n.model && rosenblatt predict n.model rows.svm > /dev/full",
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"));
    let output =
        shell(folder, "trap '' XFSZ; ulimit -f 1; exec rosenblatt predict n.model rows.svm -q -o labels.txt");
    assert!(!output.status.success() && !folder.join("labels.txt").exists());
    assert!(files(folder).iter().all(|name| !name.starts_with('.')), "{:?}", files(folder));
}

#[test]
fn pipes_that_close() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(&folder.join("rows.svm"), 5_000_000);
    let cut =
        shell(folder, "head -c 2000003 rows.svm | rosenblatt train - --stream -q --passes 1 -o cut.model");
    // A line that was cut may still be one; a broken one is an error, and says where.
    let message = String::from_utf8_lossy(&cut.stderr).into_owned();
    assert!(cut.status.success() || message.contains("standard input, line "), "{message}");
    passed(&shell(folder, "rosenblatt train rows.svm -q -o m.model"));
    passed(&shell(folder, "rosenblatt predict m.model rows.svm -q | head -n 3 > three.txt"));
    assert_eq!(fs::read_to_string(folder.join("three.txt")).unwrap().lines().count(), 3);
    passed(&shell(folder, "rosenblatt predict m.model rows.svm -q --scores | head -n 1 > one.txt"));
}

/// Ctrl-C writes the model so far and a checkpoint; the same command goes on.
#[test]
fn ctrl_c_and_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_rows(&folder.join("rows.svm"), 4_000_000);
    let line = "train rows.svm -a arow --passes 200 --block 100000 --resume m.model";
    passed(&shell(folder, "rosenblatt train rows.svm -a arow --order cyclic --passes 200 -q -o whole.model"));
    let child = Command::new(BINARY)
        .args(line.split(' '))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(300));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("--resume m.model` goes on from here"), "{text}");
    let report = json(folder, line);
    assert_eq!(report["status"], "pass_limit");
    assert!(report["progressive"]["resumed"]["pass"].as_u64().is_some());
    same_files(folder, "m.model", "whole.model");
    assert_eq!(files(folder), ["m.model", "rows.svm", "whole.model"]);
}

/// Ctrl-C reaches a run that waits for its pipe, and what has come is not lost.
#[test]
fn ctrl_c_while_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = b"a 1:1\nb 2:1\na 1:2\nb 2:3\na 1:";
    fs::write(folder.join("rows"), rows).unwrap();
    let compressed = shell(folder, "gzip -c rows").stdout;
    for bytes in [&rows[..], &compressed] {
        let (child, mut input) = with_pipes(folder, "train - --stream --passes 1 -o m.model --json");
        input.write_all(bytes).unwrap();
        sleep(Duration::from_millis(1000));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((report["status"].as_str(), report["rows"].as_u64()), (Some("interrupted"), Some(4)));
        fs::remove_file(folder.join("m.model")).unwrap();
        drop(input);
    }
}

/// Compressed streams, and lines of ten megabytes.
#[test]
fn long_lines_and_compressed_streams() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let long = |class: &str, first: usize| {
        let pairs: Vec<String> = (0..1_000_000).map(|j| format!("{}:0.5", first + 2 * j)).collect();
        format!("{class} {}\n", pairs.join(" "))
    };
    let text = long("a", 1) + &long("b", 2) + "a 1:1\nb 2:1\n";
    assert!(text.len() > 20_000_000);
    fs::write(folder.join("rows.svm"), &text).unwrap();
    passed(&shell(folder, "rosenblatt train rows.svm --order cyclic -q -o whole.model"));
    passed(&shell(folder, "rosenblatt train rows.svm --stream -q -o stream.model"));
    same_files(folder, "stream.model", "whole.model");
    passed(&shell(folder, "gzip -k rows.svm && rosenblatt train rows.svm.gz --stream -q -o gz.model"));
    same_files(folder, "gz.model", "whole.model");
    passed(&shell(
        folder,
        "cat rows.svm.gz rows.svm.gz | rosenblatt train - --stream -q --passes 2 -o two.model",
    ));
}

/// A small file that decompresses to a line without end costs neither the memory nor the time.
#[test]
fn bombs_in_streams() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    passed(&shell(folder, "head -c 600000000 /dev/zero | tr '\\0' '1' | gzip -1 > bomb.svm.gz"));
    for limit in [100_000, 2_000_000] {
        let output = shell(folder, &format!("ulimit -v {limit}; exec rosenblatt train bomb.svm.gz --stream"));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("a line is longer than"), "{message}");
    }
}

/// Weights in the data count, as they do when it is read at once.
#[test]
fn importances_count() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.vw"), "1 2 | a\n-1 | b\n1 | a\n-1 | a b\n").unwrap();
    for line in ["train rows.vw", "train rows.vw --stream"] {
        let text = support::run(folder.path(), line);
        assert!(text.contains(" train by weight"), "{text}");
    }
}

#[test]
fn what_streams_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    for (line, expected) in [
        ("train iris --stream --holdout 0.2", "--holdout"),
        ("train iris --stream --audit -a perceptron", "--audit"),
        ("train iris --stream --scale standard", "--scale"),
        ("train iris --stream --order shuffle", "--order"),
        ("train iris --stream -a perceptron --pocket", "--pocket"),
        ("train iris --stream --once", "--classes"),
        (
            "train iris --stream --once --classes a,b",
            "line 2: the class \"setosa\" is none of those announced",
        ),
        ("train iris --checkpoint 1s", "-o FILE.model"),
        ("train iris -o a.model --resume b.model", "two models"),
        ("train iris -o a.model --checkpoint=-1", "expected a time from 0 on"),
        ("train iris -o a.model --checkpoint 99999999999999999999", "expected a time from 0 on"),
        ("train iris --block 18446744073709551615", "expected a whole number from 1 to 268435456"),
        ("train iris --block 0", "expected a whole number from 1 to 268435456"),
        ("train iris --once --classes setosa,versicolor,virginica --passes 2", "one pass"),
        ("train iris --once --classes setosa,versicolor,virginica -a winnow --alpha 1.1", "all rows"),
    ] {
        let output = rosenblatt(folder.path(), line);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains(expected), "{line}: {message}");
    }
    assert_eq!(files(folder.path()), [""; 0]);
}
