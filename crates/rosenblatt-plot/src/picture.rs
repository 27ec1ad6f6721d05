//! A finished picture.

use thiserror::Error;

use crate::scene::Item;
use crate::{png, svg};

/// For which pages a picture is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light ones.
    Light,
    /// Dark ones.
    Dark,
    /// Both: SVGs ask their reader's settings (`prefers-color-scheme`); PNGs are light.
    #[default]
    Auto,
}

/// Width and height, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

impl Default for Size {
    fn default() -> Self {
        Size { width: 640.0, height: 480.0 }
    }
}

/// Why there is no picture.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs, reason = "the messages say what each field is")]
pub enum PictureError {
    #[error("a picture has from 1 to 16,000 pixels a side")]
    Size,
    #[error("the picture could not be encoded: {0}")]
    Encoding(String),
    #[error("{0}")]
    Data(#[from] rosenblatt::DataError),
    #[error("{0}")]
    Unsuitable(String),
}

/// A drawing that can be written as SVG and as PNG. The same drawing gives the same bytes.
///
/// ```
/// use rosenblatt_plot::{Size, Theme, losses};
/// let picture = losses(Size::default());
/// let svg = picture.svg(Theme::Auto);
/// assert!(svg.starts_with("<svg") && svg.contains("squared hinge"));
/// let png = picture.png(Theme::Dark, 2.0)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), rosenblatt_plot::PictureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) items: Vec<Item>,
    /// Of an animation.
    pub(crate) frames: usize,
}

impl Picture {
    /// What it is of.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What there is to know about it.
    pub fn caption(&self) -> &str {
        &self.caption
    }

    /// As a file that needs nothing else.
    pub fn svg(&self, theme: Theme) -> String {
        svg::write(self, theme)
    }

    /// As pixels, `scale` of them a unit. Of an animation the last frame.
    pub fn png(&self, theme: Theme, scale: f64) -> Result<Vec<u8>, PictureError> {
        png::write(self, theme, scale)
    }
}
