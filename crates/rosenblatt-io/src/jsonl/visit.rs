//! Serde's way through a line.

use std::fmt;
use std::io::Write;

use rosenblatt::Dataset;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Reader;
use super::fields::{Kind, Role};
use crate::Problem;
use crate::builder::Value;
use crate::problem::excerpt;

impl<T: Value> Reader<T> {
    /// Keeps the problem where serde has room for words only.
    fn check<R, E: Error>(&mut self, result: Result<R, Problem>) -> Result<R, E> {
        result.map_err(|problem| {
            self.problem = Some(problem);
            E::custom("refused")
        })
    }
}

/// The object of a line, or one within it.
pub(super) struct Object<'a, T> {
    pub(super) reader: &'a mut Reader<T>,
}

impl<'de, T: Value> DeserializeSeed<'de> for Object<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.reader.path.clear();
        from.deserialize_map(self)
    }
}

impl<'de, T: Value> Visitor<'de> for Object<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let reader = self.reader;
        let outer = reader.path.len();
        while map.next_key_seed(Key { path: &mut reader.path })?.is_some() {
            let met = reader.fields.meet(&reader.path);
            let (field, role) = reader.check(met)?;
            match role {
                Role::Feature => map.next_value_seed(Feature { reader, field, within: Within::Object })?,
                Role::Text(number) => map.next_value_seed(Text { reader, number })?,
                Role::Dropped => map.next_value::<IgnoredAny>().map(|_| ())?,
                Role::Label | Role::Weight => map.next_value_seed(Aside { reader, role })?,
            }
            reader.path.truncate(outer);
        }
        Ok(())
    }
}

/// The name of a field, put behind those of the objects around it.
struct Key<'a> {
    path: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        if !self.path.is_empty() {
            self.path.push(b'.');
        }
        self.path.extend_from_slice(name.as_bytes());
        Ok(())
    }
}

/// Where a feature stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Object,
    Array,
}

/// The value of a field that makes features.
struct Feature<'a, T> {
    reader: &'a mut Reader<T>,
    field: usize,
    within: Within,
}

impl<T: Value> Feature<'_, T> {
    /// Elements of an array have no field of their own.
    fn hold<E: Error>(&mut self, kind: Kind) -> Result<(), E> {
        let held = match (self.within, kind) {
            (Within::Object, _) => self.reader.fields.hold(self.field, kind),
            (Within::Array, Kind::Number | Kind::Array) => Ok(()),
            (Within::Array, _) => Err(Problem::NotInArray),
        };
        self.reader.check(held)
    }

    fn number<E: Error>(mut self, value: f64) -> Result<(), E> {
        self.hold(Kind::Number)?;
        let added = self.reader.number(value);
        self.reader.check(added)
    }
}

impl<'de, T: Value> DeserializeSeed<'de> for Feature<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: Value> Visitor<'de> for Feature<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, a boolean, an array or an object")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.number(f64::from(u8::from(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.number(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.number(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.number(value)
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.hold(Kind::Text)?;
        let added = self.reader.category(text);
        self.reader.check(added)
    }

    /// `null`
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let column = String::from_utf8_lossy(&self.reader.path).into_owned();
        self.reader.check(Err(Problem::MissingCell { text: "null".into(), column, among_texts: false }))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut array: A) -> Result<(), A::Error> {
        self.hold(Kind::Array)?;
        let Feature { reader, field, .. } = self;
        let outer = reader.path.len();
        for index in 0u64.. {
            let _ = write!(reader.path, "[{index}]"); // a vector takes any bytes
            let element = Feature { reader: &mut *reader, field, within: Within::Array };
            let there = array.next_element_seed(element)?.is_some();
            reader.path.truncate(outer);
            if !there {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.hold(Kind::Object)?;
        Object { reader: self.reader }.visit_map(map)
    }
}

/// The value of a field that is read as a text.
struct Text<'a, T> {
    reader: &'a mut Reader<T>,
    number: usize,
}

impl<T: Value> Text<'_, T> {
    fn refuse<E: Error>(self, found: &'static str) -> Result<(), E> {
        self.reader.check(Err(Problem::NotAText { found }))
    }
}

impl<'de, T: Value> DeserializeSeed<'de> for Text<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: Value> Visitor<'de> for Text<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.reader.texts[self.number].push(text);
        Ok(())
    }

    /// `null`: an empty text, as a row without the field has.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.refuse("a boolean")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.refuse("a number")
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.refuse("a number")
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.refuse("a number")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("an object")
    }
}

/// The label or the weight.
struct Aside<'a, T> {
    reader: &'a mut Reader<T>,
    role: Role,
}

impl<T: Value> Aside<'_, T> {
    fn number<E: Error>(self, value: f64, text: String) -> Result<(), E> {
        if self.role == Role::Label {
            self.reader.label = Some(text);
            return Ok(());
        }
        let weight = match (0.0..=Dataset::LARGEST_WEIGHT).contains(&value) {
            true => Ok(Some(value)),
            false => Err(Problem::BadWeight { text }),
        };
        self.reader.weight = self.reader.check(weight)?;
        Ok(())
    }

    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        let refused = match self.role {
            Role::Weight => Err(Problem::BadWeight { text: excerpt(text) }),
            _ if text.is_empty() && self.reader.labelled => {
                Err(Problem::MissingLabel { text: String::new(), column: String::new() })
            }
            _ => Ok(()),
        };
        self.reader.check(refused)?;
        self.reader.label = Some(text.to_owned());
        Ok(())
    }

    fn refuse<E: Error>(self, found: &'static str) -> Result<(), E> {
        self.reader.check(Err(match self.role {
            Role::Weight => Problem::BadWeight { text: found.to_owned() },
            _ => Problem::NotALabel { found },
        }))
    }
}

impl<'de, T: Value> DeserializeSeed<'de> for Aside<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de, T: Value> Visitor<'de> for Aside<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text or a boolean")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.text(if value { "true" } else { "false" })
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.number(value as f64, value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.number(value as f64, value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.number(value, value.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.text(text)
    }

    /// `null`: a label that is not known.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.role {
            Role::Label => Ok(()),
            _ => self.refuse("null"),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("an object")
    }
}
