//! The flags of `plot`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use rosenblatt_plot::{Size, Theme};

use crate::args::{LearnerArgs, TrainingDataArgs};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct PlotArgs {
    #[command(subcommand)]
    pub(crate) command: Option<PlotCommand>,

    /// A file, - for standard input, or an embedded data set
    pub(crate) data: Option<String>,

    /// Draw this model instead of training one
    #[arg(long, value_name = "MODEL", conflicts_with = "algorithm")]
    pub(crate) model: Option<String>,

    /// Feature along the page, by name or number from 1; others stay at their mean [default: both of two, else the principal directions]
    #[arg(long, value_name = "FEATURE", requires = "y")]
    pub(crate) x: Option<String>,

    /// Feature up the page
    #[arg(long, value_name = "FEATURE", requires = "x")]
    pub(crate) y: Option<String>,

    /// The plane along which rows differ most, also where there are two features
    #[arg(long, conflicts_with = "x")]
    pub(crate) pca: bool,

    /// Across the boundary of a single hyperplane: how far rows are from it is as it is
    #[arg(long, conflicts_with_all = ["x", "pca"])]
    pub(crate) across: bool,

    /// The boundary after each update of a run (learners that `trace` knows): an animated SVG, or a strip of pictures
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, default_missing_value = "animated", conflicts_with_all = ["model", "across"])]
    pub(crate) steps: Option<StepsArg>,

    /// For --steps: at most so many pictures, from the first updates to the last
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(2..=200), requires = "steps")]
    pub(crate) frames: u16,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    #[command(flatten)]
    pub(crate) learner: LearnerArgs,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlotCommand {
    /// 0/1, perceptron, hinge, squared hinge, squared and logistic loss
    Losses(PageArgs),
    /// Learning curves: train and measure, pass by pass and on ever more rows
    Curve(Box<CurveArgs>),
    /// The largest weights of a model, by name
    Weights(WeightsArgs),
    /// A search over parameters: a curve over one, a heat map over two
    Tune(TuneArgs),
}

/// The picture itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "The picture")]
pub(crate) struct PageArgs {
    /// Write the picture here, as SVG or PNG
    #[arg(long, short, value_name = "FILE.svg|FILE.png")]
    pub(crate) output: Option<PathBuf>,

    /// For light pages, dark ones, or as the reader's settings are (PNGs are light then)
    #[arg(long, value_enum, default_value_t = ThemeArg::Auto)]
    pub(crate) theme: ThemeArg,

    /// Width and height; a PNG has twice as many pixels
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<Size>,
}

#[derive(Debug, Args)]
pub(crate) struct CurveArgs {
    /// A file, - for standard input, or an embedded data set
    pub(crate) data: String,

    /// Rows that decide which pass is kept: a fraction of the data, or a file; 0 for none
    #[arg(long, value_name = "FRACTION|FILE", default_value = "0.2", allow_hyphen_values = true)]
    pub(crate) holdout: String,

    /// Rows that decide nothing: a fraction of the data, or a file; 0 for none
    #[arg(long, value_name = "FRACTION|FILE", default_value = "0.2", allow_hyphen_values = true)]
    pub(crate) test: String,

    /// Train on so many parts of the rows, each larger than the one before
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) sizes: u16,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    #[command(flatten)]
    pub(crate) learner: LearnerArgs,

    #[command(flatten)]
    pub(crate) read: TrainingDataArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WeightsArgs {
    /// A model file
    pub(crate) model: String,

    /// How many of the largest weights to show for each class [default: 24 of one plane, 10 each of several]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=500))]
    pub(crate) top: Option<u16>,

    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A model that came from a search, or the search as JSON
    pub(crate) search: String,

    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StepsArg {
    /// One after the other
    Animated,
    /// Side by side
    Strip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArg {
    /// As the reader's settings are
    Auto,
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

impl ThemeArg {
    pub(crate) fn theme(self) -> Theme {
        match self {
            ThemeArg::Auto => Theme::Auto,
            ThemeArg::Light => Theme::Light,
            ThemeArg::Dark => Theme::Dark,
        }
    }
}

impl PageArgs {
    pub(crate) fn size(&self) -> Size {
        self.size.unwrap_or_default()
    }
}

fn size(text: &str) -> Result<Size, String> {
    let side = |text: &str| text.parse::<u16>().ok().filter(|side| (120..=4000).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
    let expected = || "expected width and height from 120 to 4000, such as 640x480".to_owned();
    let (width, height) = sides.ok_or_else(expected)?;
    Ok(Size { width: width.into(), height: height.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_lengths() {
        assert_eq!(size("640x480"), Ok(Size { width: 640.0, height: 480.0 }));
        for text in ["", "640", "640x", "x480", "0x0", "640x480x2", "-640x480", "1e3x480", "99999x480"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
