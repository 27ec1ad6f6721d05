//! The font that PNGs are written in and that tells how wide texts are: Noto Sans, which comes as a crate (SIL Open Font License 1.1).

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// How much wider other fonts are than ours, at the most: readers of SVGs have what they have.
pub(crate) const SPARE: f64 = 1.13;

/// What SVGs ask for; others of about the same width follow.
pub(crate) const FAMILY: &str =
    "'Noto Sans','Segoe UI',system-ui,-apple-system,'Helvetica Neue',Arial,sans-serif";

fn face(bold: bool) -> Option<&'static Face<'static>> {
    static FACES: [OnceLock<Option<Face<'static>>>; 2] = [OnceLock::new(), OnceLock::new()];
    let parse = |bytes: &'static [u8]| Face::parse(bytes, 0).ok();
    match bold {
        false => FACES[0].get_or_init(|| parse(notosans::REGULAR_TTF)).as_ref(),
        true => FACES[1].get_or_init(|| parse(notosans::BOLD_TTF)).as_ref(),
    }
}

/// A character that the font has in place of one that it lacks.
fn known(face: &Face<'_>, c: char) -> GlyphId {
    let stand_in = match c {
        '′' => '\'',
        '‖' => '|',
        '→' => '>',
        '²' | '³' | '≤' | '≥' | '×' | '·' | '…' | '−' => c,
        _ => '?',
    };
    face.glyph_index(c).or_else(|| face.glyph_index(stand_in)).unwrap_or_default()
}

/// Glyphs with their places along the line, and its length; in units of the text's size.
fn layout(face: &Face<'_>, text: &str) -> (Vec<(GlyphId, f64)>, f64) {
    let unit = 1.0 / f64::from(face.units_per_em().max(1));
    let mut x = 0.0;
    let mut place = |c| {
        let (glyph, at) = (known(face, c), x);
        x += f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) * unit;
        (glyph, at)
    };
    let glyphs = text.chars().map(&mut place).collect();
    (glyphs, x)
}

/// How long a text is.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    face(bold).map_or(text.chars().count() as f64 * 0.55, |face| layout(face, text).1) * size
}

/// A text shortened to a width, in any font.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    let room = room / SPARE;
    if width(text, size, false) <= room {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() {
        kept.pop();
        let short = kept.iter().collect::<String>().trim_end().to_owned() + "…";
        if width(&short, size, false) <= room {
            return short;
        }
    }
    "…".to_owned()
}

/// A text in lines no longer than a width in any font, as far as its words allow.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let room = room / SPARE;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, false) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Contours of glyphs, turned upright and made as large as they are wanted.
struct Outline {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.path.close();
    }
}

/// The outline of a text whose baseline begins at the origin; nothing if there is nothing to see.
pub(crate) fn outline(text: &str, size: f64, bold: bool) -> Option<Path> {
    let face = face(bold)?;
    let scale = (size / f64::from(face.units_per_em().max(1))) as f32;
    let mut outline = Outline { path: PathBuilder::new(), x: 0.0, scale };
    for (glyph, x) in layout(face, text).0 {
        outline.x = (x * size) as f32;
        face.outline_glyph(glyph, &mut outline);
    }
    outline.path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_the_field_writes() {
        for bold in [false, true] {
            let face = face(bold).expect("the font is whole");
            let missing: String =
                "aZäß0.,;:()−±×·²³≤≥…“”–αγηλξσφ".chars().filter(|&c| face.glyph_index(c).is_none()).collect();
            assert_eq!(missing, "");
        }
    }

    #[test]
    fn texts_are_measured_and_cut() {
        assert!(width("wide text", 10.0, false) > width("text", 10.0, false));
        assert!((width("text", 20.0, false) - 2.0 * width("text", 10.0, false)).abs() < 1e-9);
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted("a long name of a feature", 10.0, 60.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0, false) <= 60.0);
        let lines = wrapped("one two three four five", 10.0, 45.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0, false) <= 45.0));
        assert_eq!(lines.join(" "), "one two three four five");
    }
}
