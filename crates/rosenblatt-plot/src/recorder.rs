//! What plotters draws on: a [`Scene`]. Coordinates, ticks and labels are its work; what they look like is decided later.

use std::convert::Infallible;

use plotters::style::{FontStyle, FontTransform};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use crate::font;
use crate::ink::Ink;
use crate::scene::{Anchor, Item, Point, Rect, Scene, Stretch, Text};

/// Plotters knows whole pixels only, so it is given finer ones.
pub(crate) const FINE: f64 = 64.0;

type Done = Result<(), DrawingErrorKind<Infallible>>;

pub(crate) struct Recorder {
    pub(crate) scene: Scene,
    pub(crate) size: (u32, u32),
}

pub(crate) fn coarse((x, y): BackendCoord) -> Point {
    (f64::from(x) / FINE, f64::from(y) / FINE)
}

fn ink(color: BackendColor) -> Option<Ink> {
    (color.alpha > 0.0).then(|| Ink::of_carried(color.rgb))
}

impl Recorder {
    fn shape(&self, color: BackendColor, points: Vec<Point>, closed: bool) -> Done {
        if let Some(ink) = ink(color) {
            self.scene.paths(ink, vec![Stretch { points, closed }]);
        }
        Ok(())
    }
}

impl DrawingBackend for Recorder {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Done {
        self.draw_rect((x, y), (x + FINE as i32, y + FINE as i32), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.shape(style.color(), path.into_iter().map(coarse).collect(), false)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Done {
        let ((left, top), (right, bottom)) = (coarse(upper_left), coarse(bottom_right));
        self.shape(style.color(), Rect::new(left, top, right, bottom).corners(), true)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Done {
        if let Some(ink) = ink(style.color()) {
            self.scene.circle(ink, coarse(center), f64::from(radius) / FINE);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Done {
        self.shape(style.color(), vert.into_iter().map(coarse).collect(), true)
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, pos: BackendCoord) -> Done {
        let Some(ink) = ink(style.color()) else { return Ok(()) };
        let (size, (x, y)) = (style.size() / FINE, coarse(pos));
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        // From the top of small letters with their ascenders, the middle of capitals, or what hangs below the line, to the baseline.
        let down = size
            * match style.anchor().v_pos {
                VPos::Top => 0.78,
                VPos::Center => 0.36,
                VPos::Bottom => -0.25,
            };
        let (turned, at) = match style.transform() {
            FontTransform::None => (0, (x, y + down)),
            FontTransform::Rotate90 => (90, (x - down, y)),
            FontTransform::Rotate180 => (180, (x, y - down)),
            FontTransform::Rotate270 => (-90, (x + down, y)),
        };
        let bold = matches!(style.style(), FontStyle::Bold);
        self.scene.push(Item::Text(Text { ink, at, size, bold, anchor, turned, text: text.to_owned() }));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let bold = matches!(style.style(), FontStyle::Bold);
        Ok((font::width(text, style.size(), bold).ceil() as u32, style.size().ceil() as u32))
    }
}
