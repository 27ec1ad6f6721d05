//! The fields met so far: what they are for, and what they hold.

use serde::{Deserialize, Serialize};

use crate::dictionary::{Dictionary, NoNumber};
use crate::{Problem, ReadOptions};

/// What a field is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Feature,
    /// A text, by its number among the texts.
    Text(usize),
    Label,
    Weight,
    Dropped,
}

/// What a field holds; the same in all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Number,
    Text,
    Array,
    Object,
}

impl Kind {
    fn one(self) -> &'static str {
        match self {
            Kind::Number => "a number",
            Kind::Text => "a text",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }

    fn many(self) -> &'static str {
        match self {
            Kind::Number => "numbers",
            Kind::Text => "texts",
            Kind::Array => "arrays",
            Kind::Object => "objects",
        }
    }
}

/// Fields by their full names.
pub(super) struct Fields {
    names: Dictionary,
    states: Vec<State>,
    /// Counted from 1.
    row: u64,
}

/// A field met in rows before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Met {
    name: String,
    kind: Option<Kind>,
    seen: bool,
}

struct State {
    role: Role,
    kind: Option<Kind>,
    /// The last row that had it.
    row: u64,
}

impl Fields {
    pub(super) fn new(label: &str, options: &ReadOptions, texts: &[String]) -> Result<Self, Problem> {
        let mut fields = Fields { names: Dictionary::default(), states: Vec::new(), row: 0 };
        fields.assign(label, Role::Label)?;
        if let Some(weight) = &options.weight {
            fields.assign(weight, Role::Weight)?;
        }
        options.drop.iter().try_for_each(|name| fields.assign(name, Role::Dropped))?;
        for (number, name) in texts.iter().enumerate() {
            fields.assign(name, Role::Text(number))?;
        }
        Ok(fields)
    }

    fn assign(&mut self, name: &str, role: Role) -> Result<(), Problem> {
        let id = self.intern(name.as_bytes())?;
        match std::mem::replace(&mut self.states[id].role, role) {
            before if before == Role::Feature || before == role => Ok(()),
            before => Err(Problem::TwoRoles { name: name.to_owned(), one: says(before), other: says(role) }),
        }
    }

    fn intern(&mut self, name: &[u8]) -> Result<usize, Problem> {
        let id = self.names.intern(name).map_err(|error| match error {
            NoNumber::NotUtf8(_) => Problem::NotUtf8,
            NoNumber::Full => Problem::IndexTooLarge { index: (1u64 << 32).to_string() },
        })? as usize;
        if id == self.states.len() {
            self.states.push(State { role: Role::Feature, kind: None, row: 0 });
        }
        Ok(id)
    }

    pub(super) fn begin_row(&mut self) {
        self.row += 1;
    }

    /// A field of the present row: its number and what it is for.
    pub(super) fn meet(&mut self, name: &[u8]) -> Result<(usize, Role), Problem> {
        let id = self.intern(name)?;
        let state = &mut self.states[id];
        match std::mem::replace(&mut state.row, self.row) == self.row {
            true => Err(Problem::FieldTwice),
            false => Ok((id, state.role)),
        }
    }

    /// A field that holds a number here and a text there would be two features that know nothing of each other.
    pub(super) fn hold(&mut self, id: usize, kind: Kind) -> Result<(), Problem> {
        match self.states[id].kind.replace(kind) {
            Some(before) if before != kind => {
                Err(Problem::MixedField { found: kind.one(), before: before.many() })
            }
            _ => Ok(()),
        }
    }

    /// What is known of the fields, for another reader of the same file.
    pub(super) fn met(&self) -> Vec<Met> {
        let name = |id: usize| String::from_utf8_lossy(self.names.name(id as u32)).into_owned();
        let met =
            |(id, state): (usize, &State)| Met { name: name(id), kind: state.kind, seen: state.row > 0 };
        self.states.iter().enumerate().map(met).collect()
    }

    /// Takes over what another reader knew.
    pub(super) fn take_over(&mut self, met: &[Met]) -> Result<(), Problem> {
        for field in met {
            let id = self.intern(field.name.as_bytes())?;
            (self.states[id].kind, self.states[id].row) = (field.kind, u64::from(field.seen));
        }
        self.row = 1;
        Ok(())
    }

    /// Whether the present row has the field.
    pub(super) fn is_seen(&self, name: &str) -> bool {
        self.state(name).is_some_and(|state| state.row == self.row)
    }

    /// Whether any row had it.
    pub(super) fn was_seen(&self, name: &str) -> bool {
        self.state(name).is_some_and(|state| state.row > 0)
    }

    fn state(&self, name: &str) -> Option<&State> {
        self.names.get(name.as_bytes()).map(|id| &self.states[id as usize])
    }
}

fn says(role: Role) -> &'static str {
    match role {
        Role::Feature => "a feature",
        Role::Text(_) => "a text",
        Role::Label => "the label",
        Role::Weight => "the weight",
        Role::Dropped => "left out",
    }
}
