//! Text columns and fields: n-grams weighted by tf-idf.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use rosenblatt::{Features, Matrix, NgramRange, Role, Rows, with_rows};
use rosenblatt_io::{Blocks, Precision, ReadOptions, Table, TextOptions, parse};

fn text(columns: &[&str], words: &str, chars: &str, min_rows: usize) -> ReadOptions {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    let (words, chars) = (words.parse().unwrap(), chars.parse().unwrap());
    ReadOptions { text: TextOptions { columns, words, chars, min_rows }, ..Default::default() }
}

fn names(table: &Table) -> Vec<&str> {
    table.features.names.as_ref().unwrap().iter().map(String::as_str).collect()
}

fn row(x: &Matrix<'_>, i: usize) -> Vec<(usize, f64)> {
    let mut row = Vec::new();
    with_rows!(x, x => x.each(i, |j, v| row.push((j, v))));
    row
}

fn again(text: &str, name: &str, features: &Features) -> Table {
    let options = ReadOptions { features: Some(features.clone()), ..Default::default() };
    parse(text.as_bytes(), name, &options).unwrap()
}

const MAILS: &str = "class,body\nspam,Free money free!\nham,\"hello, money\"\nham,\n";

#[test]
fn weights_by_hand() {
    let table = parse(MAILS.as_bytes(), "mails.csv", &text(&["body"], "1", "0", 1)).unwrap();
    assert_eq!(names(&table), ["body:free", "body:hello", "body:money"]);
    // Three rows: idf is ln(4/2) + 1 for a word in one of them, ln(4/3) + 1 for one in two.
    let (rare, common) = (2f64.ln() + 1.0, (4.0 / 3.0f64).ln() + 1.0);
    let (spam, ham) = ((4.0 * rare * rare + common * common).sqrt(), (rare * rare + common * common).sqrt());
    assert_eq!(row(&table.x, 0), [(0, 2.0 * rare / spam), (2, common / spam)]);
    assert_eq!(row(&table.x, 1), [(1, rare / ham), (2, common / ham)]);
    assert_eq!(row(&table.x, 2), []);
    assert!(matches!(table.x, Matrix::CsrF64(_)));
    let [column] = &table.features.texts[..] else { panic!("one text") };
    assert_eq!((column.first, column.rows, &column.frequencies[..]), (0, 3, &[1, 1, 2][..]));
    let roles: Vec<&Role> =
        table.features.schema.as_ref().unwrap().columns.iter().map(|column| &column.role).collect();
    assert_eq!(roles, [&Role::Label, &Role::Text { features: 3 }]);
}

#[test]
fn rare_ngrams_are_left_out() {
    let table = parse(MAILS.as_bytes(), "mails.csv", &text(&["body"], "1..2", "0", 2)).unwrap();
    assert_eq!(names(&table), ["body:money"]);
    assert_eq!((row(&table.x, 0), row(&table.x, 2)), (vec![(0, 1.0)], vec![]));
}

#[test]
fn words_and_characters_are_told_apart() {
    let data = "body,class\nab,x\nab c,y\n";
    let table = parse(data.as_bytes(), "t.csv", &text(&["body"], "1", "3..4", 1)).unwrap();
    assert_eq!(names(&table), ["body:ab", "body~\" ab\"", "body~\" ab \"", "body~\" c \"", "body~\"ab \""]);
    assert_eq!(table.x, again(data, "t.csv", &table.features).x);
}

#[test]
fn texts_mix_with_numbers_and_categories() {
    let data = "size,subject,make,body,class\n1,hello,ford,win money,a\n2,win,bmw,,b\n";
    let table = parse(data.as_bytes(), "t.csv", &text(&["4", "subject"], "1", "0", 1)).unwrap();
    let expected =
        ["size", "subject:hello", "subject:win", "make=bmw", "make=ford", "body:money", "body:win"];
    assert_eq!(names(&table), expected);
    let firsts: Vec<usize> = table.features.texts.iter().map(|text| text.first).collect();
    assert_eq!(firsts, [1, 5]);
    assert_eq!(row(&table.x, 1), [(0, 2.0), (2, 1.0), (3, 1.0)]);

    // Columns in another order, words the model does not know.
    let new = "body,class,make,size,subject\nwin WIN lottery,b,ford,3,nothing\n";
    let found = again(new, "t.csv", &table.features);
    assert_eq!(row(&found.x, 0), [(0, 3.0), (4, 1.0), (6, 1.0)]);
    assert_eq!(found.features, table.features);
}

#[test]
fn the_label_is_the_last_column_that_is_not_a_text() {
    let table = parse(b"class,body\na,xx\nb,yy\n", "t.csv", &text(&["body"], "1", "0", 1)).unwrap();
    assert_eq!(table.features.schema.unwrap().label().unwrap().name, "class");
    let table = parse(b"a,xx yy\nb,yy\na,xx\n", "t.csv", &text(&["2"], "1", "0", 1)).unwrap();
    assert_eq!(table.features.names.unwrap(), ["2:xx", "2:yy"]);
}

const LINES: &str = r#"{"label":"a","body":"Win money","size":2,"in":{"note":"xx"}}
{"size":1,"label":"b","body":null}
{"body":"money money","label":"b","make":"ford"}
"#;

#[test]
fn fields_of_json_lines() {
    let table = parse(LINES.as_bytes(), "t.jsonl", &text(&["body", "in.note"], "1", "0", 1)).unwrap();
    assert_eq!(names(&table), ["size", "make=ford", "body:money", "body:win", "in.note:xx"]);
    assert_eq!((row(&table.x, 1), row(&table.x, 2)), (vec![(0, 1.0)], vec![(1, 1.0), (2, 1.0)]));
    assert_eq!(again(LINES, "t.jsonl", &table.features).x, table.x);
    let new = again("{\"in\":{\"note\":\"xx yy\"},\"body\":\"win\"}\n", "t.jsonl", &table.features);
    assert_eq!(row(&new.x, 0), [(3, 1.0), (4, 1.0)]);
}

#[test]
fn tables_and_json_lines_read_for_each_other() {
    let lines = "{\"body\":\"win money\",\"label\":\"a\",\"size\":2}\n{\"body\":\"money\",\"label\":\"b\",\"size\":3}\n";
    let table = "body,size,label\nwin money,2,a\nmoney,3,b\n";
    let of_lines = parse(lines.as_bytes(), "t.jsonl", &text(&["body"], "1..2", "0", 1)).unwrap();
    assert_eq!(again(table, "t.csv", &of_lines.features).x, of_lines.x);
    let of_table = parse(table.as_bytes(), "t.csv", &text(&["body"], "1..2", "0", 1)).unwrap();
    let read = again(lines, "t.jsonl", &of_table.features);
    assert_eq!((row(&read.x, 0), row(&read.x, 1)), (row(&of_table.x, 0), row(&of_table.x, 1)));
}

#[test]
fn mistakes_are_named() {
    let data = "class,body\na,xx\nb,yy\n";
    let asked = |options: ReadOptions, data: &str, name: &str| {
        let error = parse(data.as_bytes(), name, &options).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default().to_owned())
    };
    let on_table = |options| asked(options, data, "t.csv");
    let label = |label: &str| ReadOptions { label: Some(label.into()), ..text(&["body"], "1", "0", 1) };
    let (message, _) = on_table(text(&["bdy"], "1", "0", 1));
    assert_eq!(message, "t.csv: there is no column \"bdy\"; the columns are class, body");
    assert_eq!(on_table(label("body")).0, "t.csv: the column \"body\" cannot be a text and the label");
    let drop = ReadOptions { drop: vec!["body".into()], ..text(&["body"], "1", "0", 1) };
    assert_eq!(on_table(drop).0, "t.csv: the column \"body\" cannot be a text and left out");
    let (message, hint) = on_table(text(&["body"], "1", "0", 3));
    assert_eq!(message, "t.csv, column 2 (body): no n-gram of the text \"body\" is in 3 rows or more");
    assert_eq!(hint, "lower `--min-rows`");
    let (message, hint) = on_table(text(&["body"], "0", "0", 1));
    assert_eq!(message, "t.csv: a text becomes n-grams of words or of characters, and neither is asked for");
    assert!(hint.contains("--words 1..2"));
    let empty = asked(text(&["body"], "1", "0", 1), "class,body\na,\nb,?!\n", "t.csv");
    assert_eq!(
        empty.0,
        "t.csv, column 2 (body): the texts of \"body\" are all empty: there is not one word in them"
    );
    for (data, name, what) in [("1 1:1\n", "t.svm", "LIBSVM text"), ("1 | a\n", "t.vw", "Vowpal Wabbit text")]
    {
        let (message, _) = asked(text(&["body"], "1", "0", 1), data, name);
        assert_eq!(message, format!("{name}: `--text` is for tables, and this is {what}"));
    }
    let line = "{\"label\":1,\"body\":7}\n";
    let (message, _) = asked(text(&["body"], "1", "0", 1), line, "t.jsonl");
    assert_eq!(message, "t.jsonl, line 1, column 19 (body): expected a text, found a number");
    let (message, _) = asked(text(&["note"], "1", "0", 1), "{\"label\":1,\"x\":7}\n", "t.jsonl");
    assert_eq!(message, "t.jsonl: no line has a field \"note\"");
    let hashed = ReadOptions { hash: Some(9), ..text(&["body"], "1", "0", 1) };
    let (message, hint) = asked(hashed, line, "t.jsonl");
    assert_eq!(message, "t.jsonl: `--hash` keeps no names, by which the n-grams of texts are known");
    assert_eq!(hint, "leave out `--hash` or `--text`");
    let (message, _) =
        asked(text(&["body"], "1", "0", 1), "{\"label\":1,\"body\":\"xx\",\"body:xx\":2}\n", "t.jsonl");
    assert_eq!(message, "t.jsonl: the feature \"body:xx\" appears twice");
    let features = parse(data.as_bytes(), "t.csv", &text(&["body"], "1", "0", 1)).unwrap().features;
    let model = ReadOptions { features: Some(features), ..Default::default() };
    let (message, _) = asked(model.clone(), "class,x\na,1\n", "t.csv");
    assert_eq!(message, "t.csv, column 2: the model does not know a column \"x\"");
    let (message, _) = asked(model.clone(), "class\na\n", "t.csv");
    assert!(message.contains("the model expects a column \"body\""), "{message}");
    let (message, _) = asked(model, "{\"x\":7}\n", "t.jsonl");
    assert_eq!(message, "t.jsonl: the model expects a column \"body\", which is not there");
}

#[test]
fn tampered_models_are_refused() {
    let good = parse(MAILS.as_bytes(), "t.csv", &text(&["body"], "1", "0", 1)).unwrap().features;
    let tamper = |change: fn(&mut Features)| {
        let mut features = good.clone();
        change(&mut features);
        let options = ReadOptions { features: Some(features), ..Default::default() };
        parse(MAILS.as_bytes(), "t.csv", &options).unwrap_err().to_string()
    };
    assert!(tamper(|f| f.texts[0].frequencies[0] = 9).contains("more rows than there are"));
    assert!(tamper(|f| f.texts[0].first = usize::MAX).contains("no features of its own"));
    assert!(tamper(|f| f.texts[0].name = "x".into()).contains("is not an n-gram of it"));
    assert!(tamper(|f| f.texts.clear()).contains("disagree"));
    assert!(tamper(|f| f.texts.push(f.texts[0].clone())).contains("no features of its own"));
    assert!(tamper(|f| (f.count, f.hash) = (4, Some(2))).contains("features, but describes"));
    assert!(tamper(|f| f.names.as_mut().unwrap()[1] = "body:free".into()).contains("two features"));
}

/// Long enough for several blocks.
#[test]
fn blocks_are_the_whole() {
    let word = |i: usize| ["win", "money", "hello", "free", "vote", "game", "the"][i * i % 7];
    let body =
        |row: usize| (0..40).map(|i| format!("{} {} ", word(row + i), row * i % 97)).collect::<String>();
    let class = |row: usize| ["a", "b"][row % 2];
    let table: String =
        (0..30_000).map(|row| format!("\"{}\n\",{row},{}\n", body(row), class(row))).collect();
    let json = |row: usize| match row % 5 {
        0 => format!("{{\"size\":{row},\"label\":\"{}\"}}\n", class(row)),
        _ => format!("{{\"body\":\"{}\",\"label\":\"{}\",\"size\":{row}}}\n", body(row), class(row)),
    };
    let lines: String = (0..30_000).map(json).collect();
    let folder = tempfile::tempdir().unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (name, data) in [("t.csv", format!("body,size,class\n{table}")), ("t.jsonl", lines)] {
        let path = folder.path().join(name);
        std::fs::write(&path, &data).unwrap();
        let learned = parse(data.as_bytes(), name, &text(&["body"], "1..2", "3", 5)).unwrap();
        let options = ReadOptions { features: Some(learned.features.clone()), ..Default::default() };
        let (mut before, mut blocks) = (0, 0);
        pool.install(|| {
            let mut parts = Blocks::open(&path.to_string_lossy(), &options).unwrap();
            while let Some(part) = parts.next().unwrap() {
                for i in 0..part.n_rows() {
                    assert_eq!(row(&part.x, i), row(&learned.x, before + i), "{name}, row {}", before + i);
                    assert_eq!(part.lines.get(i), learned.lines.get(before + i));
                }
                before += part.n_rows();
                blocks += 1;
            }
        });
        assert_eq!(before, learned.n_rows());
        assert!(blocks > 1, "{name}: {} bytes are one block", data.len());
    }
}

/// Large enough for several batches.
#[test]
fn threads_do_not_show() {
    let word = |i: usize| ["win", "money", "hello", "free", "vote", "game", "the"][i * i % 7];
    let words =
        |row: usize| (0..400).map(|i| format!("{} {} ", word(row + i), row * i % 1000)).collect::<String>();
    let text_of = |row: usize| format!("{},{}\n", ["a", "b"][row % 2], words(row));
    let data = (0..6000).map(text_of).collect::<String>();
    assert!(data.len() > 17 << 20);
    let read = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| parse(data.as_bytes(), "t.csv", &text(&["2"], "1..2", "0", 2)).unwrap())
    };
    let (one, three) = (read(1), read(3));
    assert_eq!(one, three);
    assert_eq!(again(&data, "t.csv", &one.features).x, one.x);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_into_its_own_features(
        texts in prop::collection::vec(any::<String>(), 1..8),
        words in 0..3usize,
        chars in 0..4usize,
        single in any::<bool>(),
    ) {
        let quoted = |(row, text): (usize, &String)| {
            format!("{},\"{}\"\n", row % 2, text.replace('"', "\"\"").replace('\0', " "))
        };
        let data = format!("class,body\n{}", texts.iter().enumerate().map(quoted).collect::<String>());
        let range = |longest| NgramRange::new(1, longest).unwrap_or(NgramRange::NONE);
        let text = TextOptions { columns: vec!["body".into()], words: range(words), chars: range(chars), min_rows: 1 };
        let precision = Some(if single { Precision::F32 } else { Precision::F64 });
        let options = ReadOptions { text, header: Some(true), precision, ..Default::default() };
        if let Ok(table) = parse(data.as_bytes(), "t.csv", &options) {
            let model = ReadOptions { features: Some(table.features.clone()), precision, ..Default::default() };
            let again = parse(data.as_bytes(), "t.csv", &model).unwrap();
            prop_assert_eq!(&again.x, &table.x);
            for i in 0..table.x.n_rows() {
                let length: f64 = row(&table.x, i).iter().map(|(_, v)| v * v).sum();
                prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5);
            }
        }
    }
}
