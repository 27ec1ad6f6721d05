//! Data sets that are always there.

use crate::error::ReadError;
use crate::{Format, Precision, ReadOptions, Table, parse, words};

/// A data set inside the program.
///
/// ```
/// use rosenblatt_io::DATASETS;
/// let iris = DATASETS.iter().find(|set| set.name == "iris").unwrap();
/// assert_eq!((iris.rows, iris.features, iris.classes), (150, 4, 3));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Embedded {
    /// The name it is read by.
    pub name: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Number of features.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// Where it comes from.
    pub source: &'static str,
    /// The terms it may be used under.
    pub licence: &'static str,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Csv(&'static str),
    /// Some columns (the last of which is the label) and classes of a table.
    Cut {
        csv: &'static str,
        columns: &'static [usize],
        classes: &'static [&'static str],
    },
    /// `label<TAB>message` lines.
    Messages(&'static str),
}

const IRIS: &str = include_str!("../data/iris.csv");
const FISHER: &str = "R. A. Fisher (1936), UCI Machine Learning Repository, doi:10.24432/C56C76";
const DRAWN: &str = "drawn at random for this project";
const WORKED: &str = "worked examples of this project";
const CC_BY: &str = "CC BY 4.0";
const OWN: &str = "MIT OR Apache-2.0";

/// All embedded data sets.
pub const DATASETS: &[Embedded] = &[
    Embedded {
        name: "iris",
        title: "three species of iris by the size of their leaves",
        rows: 150,
        features: 4,
        classes: 3,
        source: FISHER,
        licence: CC_BY,
        content: Content::Csv(IRIS),
    },
    Embedded {
        name: "iris-separable",
        title: "setosa against versicolor by sepal and petal length: a line separates them",
        rows: 100,
        features: 2,
        classes: 2,
        source: FISHER,
        licence: CC_BY,
        content: Content::Cut { csv: IRIS, columns: &[0, 2, 4], classes: &["setosa", "versicolor"] },
    },
    Embedded {
        name: "iris-inseparable",
        title: "versicolor against virginica by petal length and width: no line separates them",
        rows: 100,
        features: 2,
        classes: 2,
        source: FISHER,
        licence: CC_BY,
        content: Content::Cut { csv: IRIS, columns: &[2, 3, 4], classes: &["versicolor", "virginica"] },
    },
    Embedded {
        name: "auto-mpg",
        title: "cars of 1970 to 1982: does a gallon last 23 miles (good) or not (bad)?",
        rows: 392,
        features: 38,
        classes: 2,
        source: "R. Quinlan (1993), UCI Machine Learning Repository, doi:10.24432/C5859H",
        licence: CC_BY,
        content: Content::Csv(include_str!("../data/auto-mpg.csv")),
    },
    Embedded {
        name: "sms-spam",
        title: "text messages, spam or ham, by the words in them",
        rows: 1000,
        features: 1363,
        classes: 2,
        source: "T. Almeida and J. M. Gómez Hidalgo (2011), UCI Machine Learning Repository, doi:10.24432/C5CC84",
        licence: CC_BY,
        content: Content::Messages(include_str!("../data/sms-spam.tsv")),
    },
    Embedded {
        name: "xor",
        title: "points about the corners of a square: are the signs of both numbers the same? No line tells, their product does",
        rows: 60,
        features: 2,
        classes: 2,
        source: DRAWN,
        licence: OWN,
        content: Content::Csv(include_str!("../data/xor.csv")),
    },
    Embedded {
        name: "ring",
        title: "a disc inside a ring: no line separates them, a plane does once x² + y² is a feature",
        rows: 100,
        features: 2,
        classes: 2,
        source: DRAWN,
        licence: OWN,
        content: Content::Csv(include_str!("../data/ring.csv")),
    },
    Embedded {
        name: "worked-1",
        title: "three points that a perceptron separates after two mistakes",
        rows: 3,
        features: 2,
        classes: 2,
        source: WORKED,
        licence: OWN,
        content: Content::Csv("x1,x2,label\n3,2,1\n-2,2,-1\n-2,-3,1\n"),
    },
    Embedded {
        name: "worked-2-spam",
        title: "\"free money\" and \"hello money\" as named features",
        rows: 2,
        features: 2,
        classes: 2,
        source: WORKED,
        licence: OWN,
        content: Content::Csv("free,money,label\n1,1,spam\n0,1,ham\n"),
    },
    Embedded {
        name: "worked-2-topics",
        title: "\"win the vote\", \"win the game\" and \"the game\" as named features",
        rows: 3,
        features: 4,
        classes: 3,
        source: WORKED,
        licence: OWN,
        content: Content::Csv("game,the,vote,win,label\n0,1,1,1,POLITICS\n1,1,0,1,SPORTS\n1,1,0,0,TECH\n"),
    },
    Embedded {
        name: "worked-3",
        title: "the corners of a square, opposite ones alike: a quadratic kernel separates them",
        rows: 4,
        features: 2,
        classes: 2,
        source: WORKED,
        licence: OWN,
        content: Content::Csv("x1,x2,label\n1,1,1\n-1,1,-1\n-1,-1,1\n1,-1,-1\n"),
    },
];

impl Embedded {
    /// The data set of this name.
    pub fn find(name: &str) -> Option<&'static Embedded> {
        DATASETS.iter().find(|set| set.name == name)
    }

    /// The names of all.
    pub fn names() -> Vec<&'static str> {
        DATASETS.iter().map(|set| set.name).collect()
    }

    /// Reads it; options that choose columns work as they do for a file.
    pub fn read(&self, options: &ReadOptions) -> Result<Table, ReadError> {
        let origin = format!("{} (embedded)", self.name);
        let options = ReadOptions { format: Some(Format::Csv), header: Some(true), ..options.clone() };
        match self.content {
            Content::Csv(csv) => parse(csv.as_bytes(), &origin, &options),
            Content::Cut { csv, columns, classes } => {
                parse(cut(csv, columns, classes).as_bytes(), &origin, &options)
            }
            Content::Messages(text) => {
                let table = match options.precision.unwrap_or(Precision::F32) {
                    Precision::F32 => words::parse::<f32>(text, &options),
                    Precision::F64 => words::parse::<f64>(text, &options),
                };
                let table = table.map_err(|error| error.in_origin(&origin))?;
                Ok(Table { origin, ..table })
            }
        }
    }
}

/// The header and the rows of these classes, in these columns.
fn cut(csv: &str, columns: &[usize], classes: &[&str]) -> String {
    let mut text = String::new();
    for (row, line) in csv.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        if row == 0 || cells.last().is_some_and(|class| classes.contains(class)) {
            let kept: Vec<&str> = columns.iter().filter_map(|&column| cells.get(column).copied()).collect();
            text.push_str(&kept.join(","));
            text.push('\n');
        }
    }
    text
}
