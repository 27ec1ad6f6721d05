//! A drawing as a list of shapes, which `svg` and `png` write.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ink::Ink;

/// In units of the picture, from its upper left corner.
pub(crate) type Point = (f64, f64);

/// A rectangle by its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rect {
    pub(crate) fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Rect { left, top, right, bottom }
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> Point {
        (f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom))
    }

    pub(crate) fn corners(&self) -> Vec<Point> {
        vec![
            (self.left, self.top),
            (self.right, self.top),
            (self.right, self.bottom),
            (self.left, self.bottom),
        ]
    }
}

/// A line, or a ring if it is closed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stretch {
    pub(crate) points: Vec<Point>,
    pub(crate) closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) ink: Ink,
    /// Of the baseline.
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    /// In degrees, clockwise.
    pub(crate) turned: i32,
    pub(crate) text: String,
}

/// Shapes that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    /// Nothing is drawn outside.
    pub(crate) clip: Option<Rect>,
    /// Shown only while an animation is at this frame.
    pub(crate) frame: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Open(Group),
    Close,
    /// Rings within rings are holes.
    Path {
        ink: Ink,
        stretches: Vec<Stretch>,
        about: Option<String>,
    },
    Circle {
        ink: Ink,
        at: Point,
        radius: f64,
        about: Option<String>,
    },
    Text(Text),
}

/// Shapes on a page as it is drawn. Copies draw on the same page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene(Rc<RefCell<Vec<Item>>>);

impl Scene {
    pub(crate) fn push(&self, item: Item) {
        self.0.borrow_mut().push(item);
    }

    pub(crate) fn into_items(self) -> Vec<Item> {
        self.0.take()
    }

    pub(crate) fn group(&self, group: Group, draw: impl FnOnce()) {
        self.push(Item::Open(group));
        draw();
        self.push(Item::Close);
    }

    pub(crate) fn named(&self, name: &'static str, draw: impl FnOnce()) {
        self.group(Group { name, ..Group::default() }, draw);
    }

    pub(crate) fn polygon(&self, ink: Ink, points: Vec<Point>) {
        self.paths(ink, vec![Stretch { points, closed: true }]);
    }

    pub(crate) fn line(&self, ink: Ink, points: Vec<Point>) {
        self.paths(ink, vec![Stretch { points, closed: false }]);
    }

    pub(crate) fn rect(&self, ink: Ink, rect: Rect) {
        self.polygon(ink, rect.corners());
    }

    pub(crate) fn paths(&self, ink: Ink, stretches: Vec<Stretch>) {
        if !stretches.is_empty() {
            self.push(Item::Path { ink, stretches, about: None });
        }
    }

    pub(crate) fn circle(&self, ink: Ink, at: Point, radius: f64) {
        self.push(Item::Circle { ink, at, radius, about: None });
    }

    pub(crate) fn text(&self, ink: Ink, at: Point, size: f64, anchor: Anchor, text: impl Into<String>) {
        self.push(Item::Text(Text { ink, at, size, bold: false, anchor, turned: 0, text: text.into() }));
    }

    pub(crate) fn bold(&self, ink: Ink, at: Point, size: f64, anchor: Anchor, text: impl Into<String>) {
        self.push(Item::Text(Text { ink, at, size, bold: true, anchor, turned: 0, text: text.into() }));
    }
}
