//! The algorithms' parameters as flags, made from the registry.

use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use rosenblatt::registry::{ALGORITHMS, Algorithm, Kind, PARAMETERS, Parameter, algorithm};
use rosenblatt::{Learner, ParamError};
use serde_json::{Map, Value, json};

use crate::args::LearnerArgs;
use crate::failure::Failure;
use crate::remedy::remedy;

/// The parameters given, by field name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParameterArgs(pub(crate) Map<String, Value>);

/// An algorithm by its name.
pub(crate) fn algorithm_row(name: &str) -> Result<&'static Algorithm, Failure> {
    algorithm(name).ok_or_else(|| {
        let names: Vec<&str> = ALGORITHMS.iter().map(|row| row.name).collect();
        Failure::bad(format!("there is no algorithm {name:?}"))
            .hint(format!("choose one of {}", names.join(", ")))
    })
}

impl LearnerArgs {
    pub(crate) fn row(&self) -> Result<&'static Algorithm, Failure> {
        algorithm_row(&self.algorithm)
    }

    /// The learner, with `defaults` of the command in place of the algorithm's own.
    pub(crate) fn learner(&self, defaults: &[(&str, Value)]) -> Result<Box<dyn Learner>, Failure> {
        let algorithm = self.row()?;
        self.refuse_foreign(algorithm)?;
        self.refuse_both_costs()?;
        let mut given = self.parameters.0.clone();
        for (name, value) in defaults {
            if algorithm.parameters().any(|row| row.name == *name) {
                given.entry(*name).or_insert_with(|| value.clone());
            }
        }
        algorithm.learner(&given).map_err(|error| match remedy(&error.name, &given) {
            Some(hint) => Failure::from(error).hint(hint),
            None => error.into(),
        })
    }

    /// Whether rows hold kernel values instead of features.
    pub(crate) fn is_precomputed(&self) -> bool {
        self.parameters.0.get("kernel").is_some_and(|kernel| kernel == "precomputed")
    }

    /// C and λ say the same: giving both is a contradiction, even where the C is the default.
    fn refuse_both_costs(&self) -> Result<(), Failure> {
        match ["c", "lambda"].iter().all(|name| self.parameters.0.contains_key(*name)) {
            true => Err(ParamError::new("lambda", "give c or lambda, not both").into()),
            false => Ok(()),
        }
    }

    /// A flag that the algorithm would not look at is a mistake of the user's, said in flags.
    fn refuse_foreign(&self, algorithm: &Algorithm) -> Result<(), Failure> {
        let own = |name: &str| algorithm.parameters().any(|row| row.name == name);
        let Some(row) =
            PARAMETERS.iter().find(|row| self.parameters.0.contains_key(row.name) && !own(row.name))
        else {
            return Ok(());
        };
        let flags: Vec<String> = algorithm.parameters().map(|row| format!("--{}", flag(row))).collect();
        Err(Failure::bad(format!("{} has no --{}", algorithm.name, flag(row)))
            .hint(format!("it has {}", flags.join(", "))))
    }
}

/// Users know the flag, not the field.
impl From<ParamError> for Failure {
    fn from(error: ParamError) -> Self {
        // Flags that are no parameters of an algorithm.
        const OTHERS: [&str; 11] = [
            "calibrate",
            "map",
            "impute",
            "calibration",
            "folds",
            "repeats",
            "groups",
            "nested",
            "random",
            "halving",
            "search_gap",
        ];
        let mut flags = PARAMETERS.iter().map(|row| row.name).chain(OTHERS);
        match flags.any(|name| name == error.name) {
            true => Failure::bad(format!("--{}: {}", error.name.replace('_', "-"), error.problem)),
            false => Failure::bad(error.to_string()),
        }
    }
}

/// The seed is a flag of every command.
pub(crate) fn settable() -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(|row| row.name != "seed")
}

pub(crate) fn flag(row: &Parameter) -> String {
    row.name.replace('_', "-")
}

pub(crate) fn arg(row: &'static Parameter) -> Arg {
    let owners: Vec<&str> = ALGORITHMS
        .iter()
        .filter(|algorithm| algorithm.parameters().any(|own| own.name == row.name))
        .map(|algorithm| algorithm.name)
        .collect();
    let owners = match owners.len() == ALGORITHMS.len() {
        true => String::new(),
        false => format!(" ({})", owners.join(", ")),
    };
    let help = format!("{}{owners}{}", row.help, defaults(row));
    let arg = Arg::new(row.name).long(flag(row)).help(help).help_heading("Parameters of the algorithm");
    match row.kind {
        Kind::Integer => arg.value_name("N").value_parser(clap::value_parser!(u64)),
        Kind::Number => arg.value_name("X").value_parser(number).allow_negative_numbers(true),
        Kind::Seconds => arg.value_name("TIME").value_parser(seconds).allow_hyphen_values(true),
        Kind::Bytes => arg.value_name("SIZE").value_parser(bytes),
        Kind::Switch => arg.action(ArgAction::SetTrue).overrides_with(negation(row)),
        Kind::Choice(words) => arg.value_name("CHOICE").value_parser(PossibleValuesParser::new(words)),
        Kind::Sizes => arg.value_name("N,…").value_parser(sizes).allow_hyphen_values(true),
        Kind::ClassWeight => arg.value_name("WEIGHTS").value_parser(class_weight).allow_hyphen_values(true),
    }
}

/// " [default: 100, else 10]" where algorithms differ; nothing for what is off or unset.
fn defaults(row: &Parameter) -> String {
    let mut shown: Vec<String> = Vec::new();
    for algorithm in
        ALGORITHMS.iter().filter(|algorithm| algorithm.parameters().any(|own| own.name == row.name))
    {
        let value = match &algorithm.defaults()[row.name] {
            Value::Null | Value::Bool(false) => continue,
            Value::Number(number) => crate::format::number(number.as_f64().unwrap_or_default(), 4),
            Value::Bool(true) => "on".to_owned(),
            Value::Array(sizes) => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            other => other.to_string().trim_matches('"').to_owned(),
        };
        match shown.iter_mut().find(|text| text.starts_with(&format!("{value} for "))) {
            Some(text) => *text += &format!(", {}", algorithm.name),
            None => shown.push(format!("{value} for {}", algorithm.name)),
        }
    }
    match &shown[..] {
        [] => String::new(),
        [one] => format!(" [default: {}]", one.split(" for ").next().unwrap_or_default()),
        many => format!(" [default: {}]", many.join("; ")),
    }
}

pub(crate) fn negation(row: &Parameter) -> String {
    format!("no_{}", row.name)
}

pub(crate) fn negative_arg(row: &'static Parameter) -> Arg {
    Arg::new(negation(row))
        .long(format!("no-{}", flag(row)))
        .action(ArgAction::SetTrue)
        .overrides_with(row.name)
        .help(format!("the opposite of --{}", flag(row)))
        .help_heading("Parameters of the algorithm")
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if value.is_finite() { Ok(value) } else { Err("expected a finite number".to_owned()) }
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, unit) = text.split_at(split);
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 30s, 5m or 2h".to_owned()),
    };
    Ok(number(amount)? * factor)
}

/// A size: 1GiB, 500 MB, 4096.
fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (amount, unit) = text.split_at(split);
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return Err("expected a size such as 4096, 500MB or 1GiB".to_owned()),
    };
    let size = number(amount.trim())? * factor;
    match (0.0..1e18).contains(&size) {
        true => Ok(size.round() as u64),
        false => Err("expected a size from 0 to a billion GB".to_owned()),
    }
}

/// The same for what only time can pass.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = |_| "expected a time from 0 on that a clock can tell, such as 30s, 5m or 2h".to_owned();
    Duration::try_from_secs_f64(seconds(text)?).map_err(expected)
}

fn class_weight(text: &str) -> Result<Value, String> {
    if text == "balanced" {
        return Ok(json!("balanced"));
    }
    let mut weights = Map::new();
    for part in text.split(',') {
        let (class, weight) =
            part.rsplit_once('=').ok_or("expected `balanced` or class=weight,class=weight")?;
        if weights.insert(class.trim().to_owned(), json!(number(weight.trim())?)).is_some() {
            return Err(format!("the class {class:?} is named twice"));
        }
    }
    Ok(json!({ "each": weights }))
}

/// 100,50
fn sizes(text: &str) -> Result<Value, String> {
    let size = |part: &str| {
        part.trim().parse::<u32>().map_err(|_| "expected whole numbers such as 100 or 100,50".to_owned())
    };
    Ok(json!(text.split(',').map(size).collect::<Result<Vec<u32>, String>>()?))
}

impl Args for ParameterArgs {
    fn augment_args(mut command: Command) -> Command {
        for row in settable() {
            command = command.arg(arg(row));
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

impl FromArgMatches for ParameterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = Map::new();
        for row in settable() {
            let value = match row.kind {
                Kind::Integer | Kind::Bytes => matches.get_one::<u64>(row.name).map(|value| json!(value)),
                Kind::Number | Kind::Seconds => matches.get_one::<f64>(row.name).map(|value| json!(value)),
                Kind::Choice(_) => matches.get_one::<String>(row.name).map(|value| json!(value)),
                Kind::ClassWeight | Kind::Sizes => matches.get_one::<Value>(row.name).cloned(),
                Kind::Switch if matches.get_flag(row.name) => Some(json!(true)),
                Kind::Switch if matches.get_flag(&negation(row)) => Some(json!(false)),
                Kind::Switch => None,
            };
            given.extend(value.map(|value| (row.name.to_owned(), value)));
        }
        Ok(ParameterArgs(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        let sizes = [
            ("0", 0),
            ("4096", 4096),
            ("12B", 12),
            ("1.5kB", 1500),
            ("2MB", 2_000_000),
            ("3 GB", 3_000_000_000),
            ("1KiB", 1024),
            ("0.5MiB", 524_288),
            ("1GiB", 1 << 30),
        ];
        for (text, expected) in sizes {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "GiB", "1 gallon", "1Gib", "-1", "inf", "nan", "1e30", "1GiBs"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
