//! Scenes as PNG, drawn without any system library.

use tiny_skia::{
    FillRule, Mask, Paint, PathBuilder, Pixmap, Rect as Box, Stroke as Pen, StrokeDash, Transform,
};

use crate::ink::{Ink, Look, Stroke};
use crate::picture::{Picture, PictureError};
use crate::scene::{Anchor, Item, Point, Rect, Stretch, Text};
use crate::{Theme, font};

/// Larger pictures are mistakes.
const LARGEST: f64 = 16_000.0;

struct Brush {
    pixels: Pixmap,
    scale: f32,
    dark: bool,
    /// What groups around let be seen; nothing is cut off outside of any.
    masks: Vec<Option<Mask>>,
}

/// Only the last frame of an animation is seen.
pub(crate) fn write(picture: &Picture, theme: Theme, scale: f64) -> Result<Vec<u8>, PictureError> {
    let side = |length: f64| {
        let pixels = (length * scale).round();
        if (1.0..=LARGEST).contains(&pixels) { Some(pixels as u32) } else { None }
    };
    let size = side(picture.width).zip(side(picture.height));
    let pixels = size.and_then(|(width, height)| Pixmap::new(width, height)).ok_or(PictureError::Size)?;
    let mut brush = Brush { pixels, scale: scale as f32, dark: theme == Theme::Dark, masks: Vec::new() };
    let mut hidden = Vec::new();
    for item in &picture.items {
        match item {
            Item::Open(group) => {
                let early = group.frame.is_some_and(|frame| frame + 1 < picture.frames);
                hidden.push(early || hidden.last() == Some(&true));
                brush.open(group.clip);
            }
            Item::Close => {
                hidden.pop();
                brush.masks.pop();
            }
            shape if hidden.last() != Some(&true) => brush.draw(shape),
            _ => {}
        }
    }
    brush.pixels.encode_png().map_err(|error| PictureError::Encoding(error.to_string()))
}

impl Brush {
    fn transform(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn open(&mut self, clip: Option<Rect>) {
        let before = self.masks.last().cloned().flatten();
        let Some(clip) = clip else { return self.masks.push(before) };
        let corners =
            Box::from_ltrb(clip.left as f32, clip.top as f32, clip.right as f32, clip.bottom as f32);
        let Some(path) = corners.map(PathBuilder::from_rect) else { return self.masks.push(before) };
        let mask = match before {
            Some(mut mask) => {
                mask.intersect_path(&path, FillRule::Winding, true, self.transform());
                Some(mask)
            }
            None => Mask::new(self.pixels.width(), self.pixels.height()).map(|mut mask| {
                mask.fill_path(&path, FillRule::Winding, true, self.transform());
                mask
            }),
        };
        self.masks.push(mask);
    }

    fn draw(&mut self, shape: &Item) {
        match shape {
            Item::Path { ink, stretches, .. } => self.path(*ink, path(stretches), self.transform()),
            Item::Circle { ink, at, radius, .. } => {
                let circle = PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32);
                self.path(*ink, circle, self.transform());
            }
            Item::Text(text) => self.text(text),
            Item::Open(_) | Item::Close => {}
        }
    }

    fn text(&mut self, text: &Text) {
        let Text { ink, at, size, bold, anchor, turned, text } = text;
        let width = font::width(text, *size, *bold);
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let place = self
            .transform()
            .pre_translate(at.0 as f32, at.1 as f32)
            .pre_rotate(*turned as f32)
            .pre_translate(-back as f32, 0.0);
        self.path(*ink, font::outline(text, *size, *bold), place);
    }

    fn paint(&self, (light, dark): (u32, u32)) -> Paint<'static> {
        let [_, r, g, b] = (if self.dark { dark } else { light }).to_be_bytes();
        let mut paint = Paint { anti_alias: true, ..Paint::default() };
        paint.set_color_rgba8(r, g, b, 255);
        paint
    }

    fn path(&mut self, ink: Ink, path: Option<tiny_skia::Path>, transform: Transform) {
        let Some(path) = path else { return };
        let Look { fill, stroke } = ink.look();
        let mask = self.masks.last().and_then(Option::as_ref);
        if let Some(fill) = fill {
            let paint = self.paint(fill);
            // Letters whose parts overlap have no holes there; regions within regions do.
            let rule = if matches!(ink, Ink::Tint(_)) { FillRule::EvenOdd } else { FillRule::Winding };
            self.pixels.fill_path(&path, &paint, rule, transform, mask);
        }
        if let Some(Stroke { colour, width, dashes }) = stroke {
            let paint = self.paint(colour);
            let dashes: Vec<f32> = dashes.iter().map(|&dash| dash as f32).collect();
            let dash = if dashes.is_empty() { None } else { StrokeDash::new(dashes, 0.0) };
            let pen =
                Pen { width: width as f32, dash, line_join: tiny_skia::LineJoin::Round, ..Pen::default() };
            self.pixels.stroke_path(&path, &paint, &pen, transform, mask);
        }
    }
}

fn path(stretches: &[Stretch]) -> Option<tiny_skia::Path> {
    let mut path = PathBuilder::new();
    for Stretch { points, closed } in stretches {
        let single = |(x, y): &Point| (*x as f32, *y as f32);
        for (at, (x, y)) in points.iter().map(single).enumerate() {
            if at == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        if *closed {
            path.close();
        }
    }
    path.finish()
}
