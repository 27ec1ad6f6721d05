//! Scenes as SVG: one self-contained file, whose style sheet says what its shapes look like.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::Theme;
use crate::font::FAMILY;
use crate::ink::{Ink, Look};
use crate::picture::Picture;
use crate::scene::{Anchor, Group, Item, Point, Rect, Stretch, Text};

/// Two digits behind the point are finer than any screen.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // No other control characters may be in XML.
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

pub(crate) fn write(picture: &Picture, theme: Theme) -> String {
    let (width, height) = (number(picture.width), number(picture.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rosenblatt\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n",
        escaped(&picture.title)
    );
    if !picture.caption.is_empty() {
        svg += &format!("<desc>{}</desc>\n", escaped(&picture.caption));
    }
    svg += &format!("<style>\n{}</style>\n", style(picture, theme));
    let mut open = Vec::new();
    for item in &picture.items {
        write_item(&mut svg, item, &mut open);
    }
    svg + "</svg>\n"
}

fn write_item(svg: &mut String, item: &Item, open: &mut Vec<&'static str>) {
    match item {
        Item::Open(group) => open.push(write_group(svg, group)),
        Item::Close => {
            *svg += open.pop().unwrap_or_default();
            svg.push('\n');
        }
        Item::Path { ink, stretches, about } => {
            *svg += &format!("<path class=\"{}\" d=\"{}\"", ink.name(), data(stretches));
            end(svg, "path", about.as_deref());
        }
        Item::Circle { ink, at, radius, about } => {
            let (x, y, r) = (number(at.0), number(at.1), number(*radius));
            *svg += &format!("<circle class=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"", ink.name());
            end(svg, "circle", about.as_deref());
        }
        Item::Text(text) => write_text(svg, text),
    }
}

fn end(svg: &mut String, element: &str, about: Option<&str>) {
    match about {
        Some(about) => *svg += &format!("><title>{}</title></{element}>\n", escaped(about)),
        None => *svg += "/>\n",
    }
}

/// What is cut off is in an image of its own: a clip path would need a name that no other picture of the same page has.
fn write_group(svg: &mut String, group: &Group) -> &'static str {
    let class = match group.frame {
        Some(frame) => format!("{} frame f{frame}", group.name),
        None => group.name.to_owned(),
    };
    match &group.clip {
        Some(Rect { left, top, right, bottom }) => {
            let [x, y, w, h] = [*left, *top, right - left, bottom - top].map(number);
            *svg += &format!(
                "<svg class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" overflow=\"hidden\">\n"
            );
            "</svg>"
        }
        None => {
            *svg += &format!("<g class=\"{class}\">\n");
            "</g>"
        }
    }
}

/// Steps from point to point, which are shorter than places.
fn data(stretches: &[Stretch]) -> String {
    let mut path = String::new();
    for Stretch { points, closed } in stretches {
        let hundredths = |(x, y): &Point| ((x * 100.0).round() as i64, (y * 100.0).round() as i64);
        let mut last = (0, 0);
        for (at, point) in points.iter().map(hundredths).enumerate() {
            let command = match at {
                0 => "M",
                1 => "l",
                _ => " ",
            };
            let step = if at == 0 { point } else { (point.0 - last.0, point.1 - last.1) };
            last = point;
            let [x, y] = [step.0, step.1].map(|part| number(part as f64 / 100.0));
            let separator = if y.starts_with('-') { "" } else { " " };
            // Writing to a string never fails.
            let _ = write!(path, "{command}{x}{separator}{y}");
        }
        if *closed {
            path.push('z');
        }
    }
    path
}

fn write_text(svg: &mut String, text: &Text) {
    let Text { ink, at, size, bold, anchor, turned, text } = text;
    let (x, y) = (number(at.0), number(at.1));
    *svg += &format!("<text class=\"{}\" x=\"{x}\" y=\"{y}\" font-size=\"{}\"", ink.name(), number(*size));
    if *bold {
        *svg += " font-weight=\"bold\"";
    }
    match anchor {
        Anchor::Start => {}
        Anchor::Middle => *svg += " text-anchor=\"middle\"",
        Anchor::End => *svg += " text-anchor=\"end\"",
    }
    if *turned != 0 {
        *svg += &format!(" transform=\"rotate({turned} {x} {y})\"");
    }
    *svg += &format!(">{}</text>\n", escaped(text));
}

/// Rules for what is there, and nothing else.
fn style(picture: &Picture, theme: Theme) -> String {
    let inks: BTreeSet<Ink> = picture
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Path { ink, .. } | Item::Circle { ink, .. } => Some(*ink),
            Item::Text(text) => Some(text.ink),
            Item::Open(_) | Item::Close => None,
        })
        .collect();
    let mut css = format!(
        ".rosenblatt text{{font-family:{FAMILY}}}\n.rosenblatt path,.rosenblatt circle{{fill:none;fill-rule:evenodd;stroke-linejoin:round}}\n"
    );
    for ink in &inks {
        css += &rule(*ink, theme == Theme::Dark, false);
    }
    if theme == Theme::Auto {
        let dark: String = inks.iter().map(|ink| rule(*ink, true, true)).collect();
        css += &format!("@media (prefers-color-scheme:dark){{\n{dark}}}\n");
    }
    css + &animation(picture.frames)
}

/// How an ink looks; or only its colours, where the rest was said before.
fn rule(ink: Ink, dark: bool, colours: bool) -> String {
    let Look { fill, stroke } = ink.look();
    let hex = |(light, night): (u32, u32)| format!("#{:06X}", if dark { night } else { light });
    let mut css = format!(".rosenblatt .{}{{", ink.name());
    css += &fill.map(|fill| format!("fill:{};", hex(fill))).unwrap_or_default();
    if let Some(stroke) = stroke {
        css += &format!("stroke:{};", hex(stroke.colour));
        if !colours {
            css += &format!("stroke-width:{};", number(stroke.width));
            if !stroke.dashes.is_empty() {
                let dashes: Vec<String> = stroke.dashes.iter().map(|&dash| number(dash)).collect();
                css += &format!("stroke-dasharray:{};", dashes.join(" "));
            }
        }
    }
    css.trim_end_matches(';').to_owned() + "}\n"
}

/// Each frame is seen for a second, the last for three. Who wants nothing to move, or has a viewer that knows no animations, sees the last.
fn animation(frames: usize) -> String {
    if frames < 2 {
        return String::new();
    }
    const LAST: usize = 3;
    let (all, last) = (frames - 1 + LAST, frames - 1);
    let share = |part: usize| number(100.0 * part as f64 / all as f64);
    let mut css = format!(
        "@keyframes frame{{0%{{visibility:visible}}{}%,100%{{visibility:hidden}}}}\n@keyframes last{{0%{{visibility:visible}}{}%,100%{{visibility:hidden}}}}\n",
        share(1),
        share(LAST)
    );
    css += &format!(".frame{{visibility:hidden}}\n.f{last}{{visibility:visible}}\n");
    css += "@media (prefers-reduced-motion:no-preference){\n";
    css += &format!(".frame{{animation:frame {all}s step-end infinite}}\n.f{last}{{animation-name:last}}\n");
    for frame in 0..frames {
        // A negative delay: as if it had begun before, so that only one frame is seen from the start.
        let delay = (all - frame) % all;
        css += &format!(".f{frame}{{animation-delay:-{delay}s}}\n");
    }
    css + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(1.0, "1"), (0.5, "0.5"), (-0.001, "0"), (12.346, "12.35"), (100.0, "100")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn paths_are_steps_that_end_where_they_should() {
        let points = vec![(1.0, 2.0), (1.5, 1.0), (4.004, 3.0)];
        let line = [Stretch { points, closed: true }];
        assert_eq!(data(&line), "M1 2l0.5-1 2.5 2z");
    }

    #[test]
    fn texts_cannot_break_out() {
        assert_eq!(escaped("a<b & \"c\">\u{1}"), "a&lt;b &amp; &quot;c&quot;&gt; ");
    }

    #[test]
    fn one_frame_is_seen_at_a_time() {
        // Frames 0 and 1 for a second each, 2 for three: five seconds.
        let css = animation(3);
        assert!(css.contains("animation:frame 5s"), "{css}");
        for rule in [".f0{animation-delay:-0s}", ".f1{animation-delay:-4s}", ".f2{animation-delay:-3s}"] {
            assert!(css.contains(rule), "{rule}: {css}");
        }
        assert_eq!(animation(1), "");
    }
}
