//! What things look like, light and dark.
//!
//! Colours are those of Okabe and Ito (2008), which people with any kind of colour blindness can tell apart. No picture relies on them alone:
//! classes differ in their marks, lines in their dashes, too.

/// Colours for a light and a dark page, as 0xRRGGBB.
type Pair = (u32, u32);

const PAPER: Pair = (0xFF_FFFF, 0x14_161A);
const TEXT: Pair = (0x1B_1D21, 0xEC_EDEF);
const MUTED: Pair = (0x5A_5F68, 0xA6_ACB6);
const GRID: Pair = (0xE6_E8EB, 0x2A_2E35);
const AXIS: Pair = (0x8A_9099, 0x7C_838E);

/// One of each kind; the lighter ones are where the page is dark.
const COLOURS: [Pair; 8] = [
    (0x00_72B2, 0x56_B4E9),
    (0xD5_5E00, 0xE6_9F00),
    (0x00_9E73, 0x00_9E73),
    (0xCC_79A7, 0xCC_79A7),
    (0xE6_9F00, 0xF0_E442),
    (0x56_B4E9, 0xD5_5E00),
    (0x00_0000, 0xFF_FFFF),
    (0xF0_E442, 0x00_72B2),
];

const DASHES: [&[f64]; 6] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[], &[4.0, 2.0]];

/// Steps of a heat map.
pub(crate) const HEATS: u8 = 24;

/// What a shape is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ink {
    /// The page.
    Paper,
    /// Text and what counts as much.
    Text,
    /// Text that matters less.
    Muted,
    /// Text on a cell of a heat map.
    OnHeat(u8),
    Grid,
    Axis,
    /// Where classes are decided otherwise.
    Boundary,
    /// Where a score is ±1.
    Margin,
    /// From a row to its margin.
    Slack(u8),
    /// The region of a class.
    Tint(u8),
    /// A row of a class.
    Mark(u8),
    /// Around a support vector.
    Ring,
    /// Behind a cross, so that it stands out.
    Halo,
    /// Over a row that is predicted wrongly.
    Wrong,
    /// Around the row that is being learned.
    Current,
    /// A curve.
    Line(u8),
    /// A point of a curve.
    Dot(u8),
    /// An error bar of a curve.
    Whisker(u8),
    /// A bar.
    Bar(u8),
    /// A cell of a heat map.
    Heat(u8),
    /// Around the best cell.
    Best,
}

/// How a shape is filled and stroked.
pub(crate) struct Look {
    pub(crate) fill: Option<Pair>,
    pub(crate) stroke: Option<Stroke>,
}

pub(crate) struct Stroke {
    pub(crate) colour: Pair,
    pub(crate) width: f64,
    pub(crate) dashes: &'static [f64],
}

fn filled(colour: Pair) -> Look {
    Look { fill: Some(colour), stroke: None }
}

fn stroked(colour: Pair, width: f64, dashes: &'static [f64]) -> Look {
    Look { fill: None, stroke: Some(Stroke { colour, width, dashes }) }
}

fn outlined(fill: Pair, colour: Pair, width: f64) -> Look {
    Look { fill: Some(fill), ..stroked(colour, width, &[]) }
}

fn colour(number: u8) -> Pair {
    // After a round of colours the next begins one later, as marks do not: all pairs of mark and colour differ.
    let round = usize::from(number) / COLOURS.len();
    COLOURS[(usize::from(number) + round) % COLOURS.len()]
}

/// So much of a colour, the rest paper.
fn mixed((light, dark): Pair, share: f64) -> Pair {
    let channel = |ink: u32, paper: u32, shift: u32| {
        let [ink, paper] = [ink, paper].map(|colour| f64::from((colour >> shift) & 0xFF));
        ((ink * share + paper * (1.0 - share)).round() as u32) << shift
    };
    let mix = |ink, paper| [16, 8, 0].into_iter().map(|shift| channel(ink, paper, shift)).sum();
    (mix(light, PAPER.0), mix(dark, PAPER.1))
}

/// How much of the colour is in a step of a heat map.
fn share(step: u8) -> f64 {
    0.06 + 0.94 * f64::from(step.min(HEATS - 1)) / f64::from(HEATS - 1)
}

/// What can be read on it: a full blue is dark on a light page, and light on a dark one.
fn on_heat(share: f64) -> Pair {
    (if share > 0.9 { PAPER.0 } else { TEXT.0 }, if share > 0.6 { 0x00_0000 } else { TEXT.1 })
}

impl Ink {
    pub(crate) fn look(self) -> Look {
        match self {
            Ink::Paper => filled(PAPER),
            Ink::Text => filled(TEXT),
            Ink::Muted => filled(MUTED),
            Ink::OnHeat(step) => filled(on_heat(share(step))),
            Ink::Grid => stroked(GRID, 1.0, &[]),
            Ink::Axis => stroked(AXIS, 1.0, &[]),
            Ink::Boundary => stroked(TEXT, 2.2, &[]),
            Ink::Margin => stroked(TEXT, 1.3, &[6.0, 4.0]),
            Ink::Slack(class) => stroked(colour(class), 1.5, &[]),
            Ink::Tint(class) => filled(mixed(colour(class), 0.17)),
            Ink::Mark(class) => outlined(colour(class), PAPER, 0.9),
            Ink::Ring => stroked(TEXT, 1.4, &[]),
            Ink::Halo => stroked(PAPER, 3.4, &[]),
            Ink::Wrong => stroked(TEXT, 1.8, &[]),
            Ink::Current => stroked(TEXT, 2.6, &[4.0, 2.5]),
            Ink::Line(number) => stroked(colour(number), 2.4, DASHES[usize::from(number) % DASHES.len()]),
            Ink::Dot(number) => outlined(colour(number), PAPER, 1.0),
            Ink::Whisker(number) => stroked(colour(number), 1.4, &[]),
            Ink::Bar(number) => filled(colour(number)),
            Ink::Heat(step) => filled(mixed(COLOURS[0], share(step))),
            Ink::Best => stroked(TEXT, 3.0, &[]),
        }
    }

    /// Its class in a style sheet.
    pub(crate) fn name(self) -> String {
        match self {
            Ink::Slack(n) => format!("slack{n}"),
            Ink::Tint(n) => format!("tint{n}"),
            Ink::Mark(n) => format!("mark{n}"),
            Ink::Line(n) => format!("line{n}"),
            Ink::Dot(n) => format!("dot{n}"),
            Ink::Whisker(n) => format!("whisker{n}"),
            Ink::Bar(n) => format!("bar{n}"),
            Ink::Heat(n) => format!("heat{n}"),
            Ink::OnHeat(n) => format!("onheat{n}"),
            plain => format!("{plain:?}").to_lowercase(),
        }
    }
}

/// Colours in which plotters can carry inks: it knows nothing else of what it draws.
const CARRIED: [Ink; 4] = [Ink::Text, Ink::Muted, Ink::Grid, Ink::Axis];

impl Ink {
    pub(crate) fn carried(self) -> plotters::style::RGBColor {
        let at = CARRIED.iter().position(|ink| *ink == self).unwrap_or_default();
        plotters::style::RGBColor(at as u8, 0, 0)
    }

    pub(crate) fn of_carried((number, ..): (u8, u8, u8)) -> Ink {
        CARRIED.get(usize::from(number)).copied().unwrap_or(Ink::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carried_inks_come_back() {
        for ink in CARRIED {
            let plotters::style::RGBColor(r, g, b) = ink.carried();
            assert_eq!(Ink::of_carried((r, g, b)), ink);
        }
    }

    #[test]
    fn colours_of_classes_differ_round_after_round() {
        let marks: std::collections::BTreeSet<_> = (0..56u8).map(|n| (n % 8, colour(n).0)).collect();
        assert_eq!(marks.len(), 56);
    }

    /// (L₁ + 0.05)/(L₂ + 0.05) of relative luminances, as WCAG 2 has it.
    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour: u32| {
            let part = |shift: u32| {
                let c = f64::from((colour >> shift) & 0xFF) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn text_can_be_read_on_paper_and_on_every_region() {
        for ink in [TEXT, MUTED] {
            assert!(contrast(ink.0, PAPER.0) > 4.5 && contrast(ink.1, PAPER.1) > 4.5);
        }
        for class in 0..8 {
            let tint = Ink::Tint(class).look().fill.unwrap_or(PAPER);
            assert!(contrast(TEXT.0, tint.0) > 7.0 && contrast(TEXT.1, tint.1) > 7.0);
        }
        for step in 0..HEATS {
            let heat = Ink::Heat(step).look().fill.unwrap_or(PAPER);
            let on = Ink::OnHeat(step).look().fill.unwrap_or(PAPER);
            assert!(contrast(on.0, heat.0) > 4.0 && contrast(on.1, heat.1) > 4.0, "{step}");
        }
    }
}
