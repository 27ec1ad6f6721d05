//! The command line, declared.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rosenblatt::{CalibrationMethod, Features, Impute, Learner, MapKind, NgramRange, Rule, Scale};
use rosenblatt_io::{Format, ModelFormat, Precision, ReadOptions, StreamOptions, TextOptions};

use crate::commands::plot::PlotArgs;
use crate::parameters::ParameterArgs;
use crate::search_args::RangeArgs;

/// Linear classifiers, from the perceptron on, with proof of what was learned.
#[derive(Debug, Parser)]
#[command(
    name = "rosenblatt",
    version,
    about = "Linear classifiers, from the perceptron on, with proof of what was learned",
    disable_help_subcommand = true,
    after_help = "DATA is a file, - for standard input, or an embedded data set (see `rosenblatt datasets`).\nExit codes: 0 done, 1 the request failed, 2 bad usage or bad input."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// One JSON object on standard output, nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Only results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Worker threads [default: one a core]; results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Fixes every random choice
    #[arg(long, global = true, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
}

fn from_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1".to_owned())
}

fn block_size(text: &str) -> Result<usize, String> {
    let sizes = 1..=StreamOptions::LARGEST_BLOCK;
    let size = text.parse().ok().filter(|size| sizes.contains(size));
    size.ok_or_else(|| format!("expected a whole number from 1 to {}", sizes.end()))
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a classifier from data and report on it
    Train(TrainArgs),
    /// Print the predicted label of each row
    Predict(PredictArgs),
    /// Measure a model on labelled data
    Eval(EvalArgs),
    /// Show what is in a model
    Inspect(InspectArgs),
    /// Show what each feature contributes to the scores of a row
    Explain(ExplainArgs),
    /// Show every step of a run as a table
    Trace(TraceArgs),
    /// Decide whether a plane separates the classes, with proof
    #[command(
        after_help = "The answer is checked in exact arithmetic. Exit codes: 0 separable, 1 not separable, 2 bad usage or bad input, 130 stopped before the answer was found.\nOf more than two classes every pair counts, or each class against the rest with --multiclass ovr."
    )]
    Separable(SeparableArgs),
    /// Recompute what a model claims about data, and how far it is from the optimum
    #[command(
        after_help = "Models of LIBSVM and LIBLINEAR work, too: they claim nothing, but how far they are from the optimum is measured.\nExit codes: 0 no claim is broken, 1 one is, 2 bad usage or bad input."
    )]
    Verify(VerifyArgs),
    /// Foretell memory, solver and time of a training; make no model
    Plan(PlanArgs),
    /// Draw rows, boundary and margins, steps of a run, losses, learning curves, weights or a search, as SVG or PNG
    #[command(
        after_help = "DATA and a model, or an algorithm to train: rows of two features, or on the plane of their principal directions.\nDashed lines are margins, rings support vectors, crosses misclassified rows. Colours can be told apart by all, and marks differ."
    )]
    Plot(PlotArgs),
    /// Search algorithms and parameters by cross-validation, and fit the best to all rows
    #[command(
        after_help = "Ranges: 0.01..100 is a value a decade, 0.01..100:9 nine values, 1,10,100 a list; of whole numbers 1..4 is each. Several algorithms: -a svm,linear-svm.\nScaling, imputation and maps are fitted in each fold to the rows that are learned from. Ctrl-C keeps the best so far."
    )]
    Tune(TuneArgs),
    /// Write a model for LIBSVM, LIBLINEAR or as JSON, or one of theirs as ours
    #[command(
        after_help = "Every command takes models of LIBSVM and LIBLINEAR as they are. Labels must be whole numbers in their files.\nliblinear: planes of two classes, or one a class; a stored scaling is folded into the weights.\nlibsvm: kernels linear, poly, rbf, sigmoid and precomputed, of two classes or one-vs-one.\njson: classes, features, scale, map, decision, body, link and report as in the model file, and `arrays`: `weights` (a list for each feature, with a number for each plane) and `bias`, or\n`stored.pointers`, `stored.columns` and `stored.values` (stored row i has the entries from pointer i to i + 1), `coefficients` (a list for each stored row) and `offsets`; `shift` and `factor` of a scaling."
    )]
    Convert(ConvertArgs),
    /// Let learners learn and predict the same rows: accuracy, time, size, and which differences are noise
    #[command(
        after_help = "Parameters are for all learners that have them. Scaling and map are fitted to the training rows of each split alone.\nDifferences from the best are tested by McNemar's test on one split, by the corrected resampled t test (Nadeau and Bengio 2003) on folds; p are corrected for the number of learners (Holm 1979)."
    )]
    Compare(CompareArgs),
    /// List what errors cost by their margin
    Losses,
    /// List the algorithms with their rules and parameters
    Algorithms,
    /// List the kernels with their formulas
    Kernels,
    /// List the embedded data sets
    Datasets,
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    #[command(flatten)]
    pub(crate) learner: LearnerArgs,

    /// Write the model here
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,

    /// Keep the pass that is best on held-out rows: a fraction of the data, or a file
    #[arg(long, value_name = "FRACTION|FILE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<String>,

    /// Learn probabilities, too: fit once more for each of so many parts, without its rows, and see how often scores are right on these
    #[arg(long, value_name = "FOLDS")]
    pub(crate) calibrate: Option<usize>,

    /// Write a page with the report, its tables and pictures here; it needs nothing else to be read
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,

    /// For --calibrate: the form of the curve from scores to probabilities; none of them contradicts a prediction
    #[arg(long, value_enum, value_name = "CURVE", default_value_t = CurveArg::Slope, requires = "calibrate")]
    pub(crate) calibration: CurveArg,

    /// Check Novikoff's inequalities at every update (binary perceptron)
    #[arg(long)]
    pub(crate) audit: bool,

    /// For --audit: the separator, instead of the one found
    #[arg(long, value_name = "MODEL", requires = "audit")]
    pub(crate) separator: Option<String>,

    #[command(flatten)]
    pub(crate) stream: StreamArgs,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Streams: data larger than memory, or without end")]
pub(crate) struct StreamArgs {
    /// Learn from rows as they come, in bounded memory; gives the same bytes as --order cyclic --no-pocket
    #[arg(long)]
    pub(crate) stream: bool,

    /// Read the stream once and keep no row, not even on disk: one pass, no accuracy on the training rows; CSV and TSV from plain files only
    #[arg(long, requires = "classes")]
    pub(crate) once: bool,

    /// All classes there will be, so that none can appear late
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) classes: Vec<String>,

    /// Write the state to MODEL.checkpoint this often, so that --resume can go on after a crash
    #[arg(long, value_name = "TIME", value_parser = crate::parameters::duration)]
    pub(crate) checkpoint: Option<Duration>,

    /// Go on from the last checkpoint of this model, or begin if there is none yet; learners with an objective start from the model itself, which may have another C
    #[arg(long, value_name = "MODEL")]
    pub(crate) resume: Option<PathBuf>,

    /// Bytes of text to read at a time [default: 1 MiB a thread, 2 MiB at the least]
    #[arg(long, value_name = "BYTES", hide_short_help = true, value_parser = block_size)]
    pub(crate) block: Option<usize>,
}

impl StreamArgs {
    /// Any of these flags asks for a stream; `--resume` alone does only with learners that cannot start from a model.
    pub(crate) fn is_asked(&self, learner: &dyn Learner) -> bool {
        let streams = self.stream || self.once || !self.classes.is_empty() || self.block.is_some();
        streams || self.checkpoint.is_some() || self.resume.is_some() && !learner.can_go_on()
    }
}

#[derive(Debug, Args)]
pub(crate) struct LearnerArgs {
    /// One of `rosenblatt algorithms`
    #[arg(long, short, default_value = "averaged-perceptron", value_name = "ALGORITHM")]
    pub(crate) algorithm: String,

    /// Fill in what is missing of tables: mean, median, most-frequent, constant (0) or constant:VALUE, column by column; what was filled in is stored in the model
    #[arg(long, value_name = "KIND")]
    pub(crate) impute: Option<Impute>,

    /// Scale the features after that; the scaling is stored in the model
    #[arg(long, value_enum, default_value_t = ScaleArg::None)]
    pub(crate) scale: ScaleArg,

    /// Map the features after that: squares, lift, poly:2 (products of up to 2), homogeneous:2 (of exactly 2), identity, fourier:500 (500 random Fourier features of the Gaussian kernel; fourier:500:gamma=0.1), nystroem:200 (200 landmarks, by the Nyström method; nystroem:200:laplacian); the map is stored in the model
    #[arg(long, value_name = "MAP")]
    pub(crate) map: Option<MapKind>,

    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    /// As they are
    None,
    /// Mean 0, standard deviation 1
    Standard,
    /// Onto [0, 1]
    Minmax,
    /// Divide by the largest absolute value; keeps zeros
    Maxabs,
    /// Rows to unit length; keeps zeros
    Unit,
}

impl ScaleArg {
    pub(crate) fn kind(self) -> Option<Scale> {
        match self {
            ScaleArg::None => None,
            ScaleArg::Standard => Some(Scale::Standard),
            ScaleArg::Minmax => Some(Scale::Minmax),
            ScaleArg::Maxabs => Some(Scale::Maxabs),
            ScaleArg::Unit => Some(Scale::Unit),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// One or more of `rosenblatt algorithms`, with commas between
    #[arg(long, short, default_value = "svm", value_name = "ALGORITHM,…", value_delimiter = ',')]
    pub(crate) algorithm: Vec<String>,

    /// Write the best model here, fitted to all rows, with the search in it
    #[arg(long, short, value_name = "MODEL")]
    pub(crate) output: Option<PathBuf>,

    /// Fill in what is missing of tables: mean, median, most-frequent, constant (0) or constant:VALUE, column by column
    #[arg(long, value_name = "KIND")]
    pub(crate) impute: Option<Impute>,

    /// Scale the features after that
    #[arg(long, value_enum, default_value_t = ScaleArg::None)]
    pub(crate) scale: ScaleArg,

    /// Map the features after that; several maps, with commas between, are tried one after the other, `none` among them
    #[arg(long, value_name = "MAP,…", value_delimiter = ',', value_parser = map_or_none)]
    pub(crate) map: Vec<MapArg>,

    #[command(flatten)]
    pub(crate) search: SearchArgs,

    #[command(flatten)]
    pub(crate) ranges: RangeArgs,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The search")]
pub(crate) struct SearchArgs {
    /// Parts of the rows, each left out once; classes are spread evenly over them
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) folds: usize,

    /// Deal the rows anew so many times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeats: usize,

    /// Rows that have the same value are left out together: a column, which is then no feature, or a file with a line for each row
    #[arg(long, value_name = "COLUMN|FILE")]
    pub(crate) groups: Option<String>,

    /// Try so many points at random instead of all combinations
    #[arg(long, value_name = "N")]
    pub(crate) random: Option<usize>,

    /// Successive halving: all on few rows, the better of them on FACTOR times as many, and so on
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "3", conflicts_with = "random")]
    pub(crate) halving: Option<usize>,

    /// Take the best candidate, or the simplest within a standard error of it
    #[arg(long, value_enum, default_value_t = RuleArg::Best)]
    pub(crate) rule: RuleArg,

    /// Search again without each of so many parts of the rows, and score the models on these: how good such a search really is
    #[arg(long, value_name = "N")]
    pub(crate) nested: Option<usize>,

    /// Gap, and tolerance, of fits that only rank candidates, unless --gap or --tolerance is given; the best is fitted to the usual ones
    #[arg(long, value_name = "X", default_value_t = 1e-2)]
    pub(crate) search_gap: f64,

    /// Stop the search after this time with the best so far (30s, 5m); the best is fitted after that
    #[arg(long, value_name = "TIME", value_parser = crate::parameters::duration)]
    pub(crate) time_limit: Option<Duration>,

    /// Candidates to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// A map, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapArg(pub(crate) Option<MapKind>);

fn map_or_none(text: &str) -> Result<MapArg, String> {
    match text {
        "none" => Ok(MapArg(None)),
        text => {
            text.parse().map(|map| MapArg(Some(map))).map_err(|error: rosenblatt::ParamError| error.problem)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CurveArg {
    /// A logistic curve through ½ at the boundary, of two classes with a slope on each side
    Slope,
    /// A logistic curve with an offset for each class; as likely, where it would contradict
    Platt,
    /// Any curve that never falls; needs a thousand rows or more
    Isotonic,
}

impl CurveArg {
    pub(crate) fn method(self) -> CalibrationMethod {
        match self {
            CurveArg::Slope => CalibrationMethod::Slope,
            CurveArg::Platt => CalibrationMethod::Platt,
            CurveArg::Isotonic => CalibrationMethod::Isotonic,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RuleArg {
    /// The best score
    Best,
    /// The smallest C, then the smallest γ and degree, of those within a standard error of the best
    OneSe,
}

impl RuleArg {
    pub(crate) fn rule(self) -> Rule {
        match self {
            RuleArg::Best => Rule::Best,
            RuleArg::OneSe => Rule::OneSe,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct DataArgs {
    /// libsvm, csv, tsv, vw, jsonl, idx or parquet [default: by extension, then by content]
    #[arg(long)]
    pub(crate) format: Option<Format>,

    /// Column with the labels, by name or number from 1 [default: the last]; field of JSON lines [default: label]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,

    /// The first line of a table names its columns [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub(crate) header: bool,

    /// The first line of a table is data
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Leave out a column; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) drop: Vec<String>,

    /// f32 or f64 [default: f64 for tables and JSON lines, f32 for all else]
    #[arg(long)]
    pub(crate) precision: Option<Precision>,
}

impl DataArgs {
    pub(crate) fn options(&self, features: Option<Features>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            label: self.label.clone(),
            header: if self.header { Some(true) } else { self.no_header.then_some(false) },
            drop: self.drop.clone(),
            precision: self.precision,
            features,
            ..ReadOptions::default()
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct TrainingDataArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// Take a column as categories although it holds numbers; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) categorical: Vec<String>,

    /// Take a column or field as text: words become features; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Vec<String>,

    /// Words in an n-gram of --text; 0 for none
    #[arg(long, value_name = "N|N..M", default_value_t = TextOptions::default().words, requires = "text")]
    pub(crate) words: NgramRange,

    /// Characters in an n-gram of --text, such as 3..5; 0 for none
    #[arg(long, value_name = "N|N..M", default_value_t = TextOptions::default().chars, requires = "text")]
    pub(crate) chars: NgramRange,

    /// Leave out n-grams of --text that are in fewer rows
    #[arg(long, value_name = "N", default_value_t = TextOptions::default().min_rows, requires = "text")]
    pub(crate) min_rows: usize,

    /// Column with sample weights
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,

    /// Hash the names of features into 2^BITS columns instead of keeping them (Vowpal Wabbit text, JSON lines)
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u8).range(1..=31))]
    pub(crate) hash: Option<u8>,

    /// File with one sample weight a line
    #[arg(long, value_name = "FILE", conflicts_with = "weight")]
    pub(crate) weights: Option<PathBuf>,
}

impl TrainingDataArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            categorical: self.categorical.clone(),
            text: TextOptions {
                columns: self.text.clone(),
                words: self.words,
                chars: self.chars,
                min_rows: self.min_rows,
            },
            weight: self.weight.clone(),
            hash: self.hash,
            ..self.data.options(None)
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// A model file
    pub(crate) model: String,
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Write the predictions here instead of to standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// CSV with the score of each class
    #[arg(long)]
    pub(crate) scores: bool,

    /// CSV with the probability of each class
    #[arg(long, conflicts_with = "scores")]
    pub(crate) probabilities: bool,

    /// Do not look at the labels in the data
    #[arg(long)]
    pub(crate) ignore_labels: bool,

    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// A model file
    pub(crate) model: String,
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// A model file
    pub(crate) model: String,
    /// The rows it was trained on: a file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Rows that were held out of these, as `train` was told
    #[arg(long, value_name = "FRACTION|FILE")]
    pub(crate) holdout: Option<String>,

    /// File with one sample weight a line
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,

    /// C of a model that does not say it; else the largest multiplier (LIBSVM) or 1 (LIBLINEAR)
    #[arg(long, value_name = "X")]
    pub(crate) c: Option<f64>,

    /// Do not train again to compare; faster, but passes, updates and the like stay unchecked
    #[arg(long)]
    pub(crate) no_replay: bool,

    /// How long all of it may take; what is not decided by then is open
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = crate::parameters::seconds)]
    pub(crate) time_limit: f64,

    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A model file
    pub(crate) model: String,

    /// How many of the largest weights to show for each class; 0 shows all
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A model file, of rosenblatt, LIBSVM or LIBLINEAR
    pub(crate) model: String,

    /// Write the result here
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// libsvm, liblinear, rosenblatt or json [default: json if FILE ends so, rosenblatt for models of LIBSVM and LIBLINEAR, else the one of these two that has such models]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<ModelFormat>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A model file
    pub(crate) model: String,
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Row to explain, counted from 1
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub(crate) row: NonZeroUsize,

    /// How many of the largest contributions to show; 0 shows all
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    #[command(flatten)]
    pub(crate) learner: LearnerArgs,

    /// Show Novikoff's inequalities at every update instead (binary perceptron)
    #[arg(long)]
    pub(crate) audit: bool,

    /// For --audit: the separator, instead of the one found
    #[arg(long, value_name = "MODEL", requires = "audit")]
    pub(crate) separator: Option<String>,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SeparableArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Planes through the origin only
    #[arg(long)]
    pub(crate) no_bias: bool,

    /// Of more than two classes: each against the rest, or each pair [default: both, and pairs decide]
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) multiclass: Option<SchemeArg>,

    /// Scale the features first
    #[arg(long, value_enum, default_value_t = ScaleArg::None)]
    pub(crate) scale: ScaleArg,

    /// Map the features after that, as `train` does: squares, lift, poly:2, …; the answer is about the mapped rows as they are rounded
    #[arg(long, value_name = "MAP")]
    pub(crate) map: Option<MapKind>,

    /// Separate in the space of a kernel, exactly
    #[arg(long, value_enum, value_name = "KERNEL")]
    pub(crate) kernel: Option<KernelArg>,

    /// d of the polynomial kernel
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) degree: u32,

    /// c of the polynomial kernel: 0 leaves out lower degrees
    #[arg(long, default_value_t = 1.0, value_name = "X", allow_negative_numbers = true)]
    pub(crate) coef0: f64,

    /// How many of the largest weights to show; 0 shows all
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    #[command(flatten)]
    pub(crate) learner: LearnerArgs,

    /// Hold rows out as train would: a fraction of the data, or a file
    #[arg(long, value_name = "FRACTION|FILE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<String>,

    /// Time for fits on parts of the rows [default: 2s, or a tenth of what they foretell, up to 30s]
    #[arg(long, value_name = "TIME", value_parser = crate::parameters::duration)]
    pub(crate) probe: Option<Duration>,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Learners to compare, of `rosenblatt algorithms` [default: all]
    #[arg(long, short, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) algorithms: Vec<String>,

    /// Each of so many parts is held out in turn
    #[arg(long, value_name = "K", conflicts_with = "holdout")]
    pub(crate) folds: Option<usize>,

    /// Rows to predict: a fraction of the data, or a file [default: 0.25]
    #[arg(long, value_name = "FRACTION|FILE", allow_hyphen_values = true)]
    pub(crate) holdout: Option<String>,

    /// Scale the features first
    #[arg(long, value_enum, default_value_t = ScaleArg::None)]
    pub(crate) scale: ScaleArg,

    /// Map the features after that, as `train` does
    #[arg(long, value_name = "MAP")]
    pub(crate) map: Option<MapKind>,

    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemeArg {
    /// Each class against the rest
    Ovr,
    /// Each pair of classes
    Ovo,
}

/// Kernels whose spaces are known exactly; their widths change nothing in what can be separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelArg {
    /// u·v
    Linear,
    /// (u·v + c)^d
    Poly,
    /// exp(−γ·‖u − v‖²)
    Rbf,
    /// exp(−γ·‖u − v‖₁)
    Laplacian,
    /// tanh(η·u·v + ν), refused with a reason
    #[value(hide = true)]
    Sigmoid,
    /// u·v / (‖u‖·‖v‖), refused with a reason
    #[value(hide = true)]
    Cosine,
    /// exp(−γ·Σ (u − v)²/(u + v)), refused with a reason
    #[value(hide = true)]
    Chi2,
    /// Values in place of features, refused with a reason
    #[value(hide = true)]
    Precomputed,
}
