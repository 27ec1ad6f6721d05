//! The algorithms' parameters as flags that take ranges and lists, for `tune`; made from the registry as those of `train` are.

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use rosenblatt::Range;
use rosenblatt::registry::{Kind, Parameter};
use serde_json::{Map, Value, json};

use crate::parameters::{arg, flag, negation, negative_arg, settable};

/// What was given of each parameter: one value, or several to search over.
#[derive(Clone, Debug, Default)]
pub(crate) struct RangeArgs {
    /// One value.
    pub(crate) fixed: Map<String, Value>,
    /// Several.
    pub(crate) ranges: Vec<(String, Range)>,
}

impl RangeArgs {
    /// Whether a parameter was given at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fixed.contains_key(name) || self.ranges.iter().any(|(known, _)| known == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.fixed.keys().map(String::as_str).chain(self.ranges.iter().map(|(name, _)| &**name))
    }
}

/// The search has a time limit, not each fit.
fn searchable() -> impl Iterator<Item = &'static Parameter> {
    settable().filter(|row| row.name != "time_limit")
}

fn range_arg(row: &'static Parameter) -> Arg {
    let of = arg(row);
    match row.kind {
        Kind::Integer => of.value_name("N|N..M|N,M").value_parser(|text: &str| parse(text, true)),
        Kind::Number => of
            .value_name("X|X..Y|X..Y:STEPS|X,Y")
            .allow_hyphen_values(true)
            .value_parser(|text: &str| parse(text, false)),
        Kind::Choice(words) => of.value_name("CHOICE,…").value_parser(move |text: &str| choices(text, words)),
        _ => of,
    }
}

fn parse(text: &str, whole: bool) -> Result<Range, String> {
    Range::parse(text, whole).map_err(|error| error.problem)
}

fn choices(text: &str, words: &[&str]) -> Result<Range, String> {
    let choice = |word: &str| match words.contains(&word) {
        true => Ok(json!(word)),
        false => Err(format!("{word:?} is not one of {}", words.join(", "))),
    };
    text.split(',').map(|word| choice(word.trim())).collect::<Result<_, _>>().map(Range::List)
}

impl Args for RangeArgs {
    fn augment_args(mut command: Command) -> Command {
        for row in searchable() {
            command = command.arg(range_arg(row));
            if row.kind == Kind::Switch {
                command = command.arg(negative_arg(row));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RangeArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = RangeArgs::default();
        for row in searchable() {
            let value = match row.kind {
                Kind::Integer | Kind::Number | Kind::Choice(_) => {
                    if let Some(range) = matches.get_one::<Range>(row.name) {
                        given.take(row.name, range.clone());
                    }
                    None
                }
                Kind::Bytes => matches.get_one::<u64>(row.name).map(|value| json!(value)),
                Kind::Seconds => matches.get_one::<f64>(row.name).map(|value| json!(value)),
                Kind::ClassWeight | Kind::Sizes => matches.get_one::<Value>(row.name).cloned(),
                Kind::Switch if matches.get_flag(row.name) => Some(json!(true)),
                Kind::Switch if matches.get_flag(&negation(row)) => Some(json!(false)),
                Kind::Switch => None,
            };
            given.fixed.extend(value.map(|value| (row.name.to_owned(), value)));
        }
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl RangeArgs {
    fn take(&mut self, name: &str, range: Range) {
        match range.values().as_slice() {
            [one] => {
                self.fixed.insert(name.to_owned(), one.clone());
            }
            _ => self.ranges.push((name.to_owned(), range)),
        }
    }
}

/// How a parameter's flag is written.
pub(crate) fn flag_of(name: &str) -> String {
    settable().find(|row| row.name == name).map_or_else(|| name.replace('_', "-"), flag)
}
