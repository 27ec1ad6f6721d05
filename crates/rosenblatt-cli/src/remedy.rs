//! What to type instead of parameters that do not go together.

use serde_json::{Map, Value};

/// For the parameter that was refused, given all of them; nothing where the message says it all.
pub(crate) fn remedy(refused: &str, given: &Map<String, Value>) -> Option<String> {
    match refused {
        "forget" | "projection_error" | "predictor" => on_budget(refused, given),
        "budget" if word(given, "kernel") == "precomputed" => Some("leave out --budget".to_owned()),
        "budget" if word(given, "forget") == "projectron" => {
            Some("type --forget forgetron, or a smaller --budget".to_owned())
        }
        _ => None,
    }
}

/// Flags of a budget that fit each other, as near to those given as can be.
fn on_budget(refused: &str, given: &Map<String, Value>) -> Option<String> {
    const USUAL: u64 = 500;
    let near = given.get("projection_error").and_then(Value::as_f64);
    // Out of its range it is wrong by itself.
    if near.is_some_and(|near| !(near >= 0.0 && near.is_finite())) {
        return None;
    }
    let size = given.get("budget").and_then(Value::as_u64).unwrap_or(USUAL);
    let forget = match (refused, word(given, "forget")) {
        ("forget", "forgetron") if near.is_none() => "forgetron",
        _ => "projectron",
    };
    let mut flags = format!("--budget {size} --forget {forget}");
    if let Some(near) = near {
        flags += &format!(" --projection-error {near}");
    }
    if refused == "predictor" {
        flags += " --predictor averaged";
    }
    let without = if refused == "predictor" { ", or leave out --budget" } else { "" };
    Some(format!("type {flags}{without}"))
}

fn word<'a>(given: &'a Map<String, Value>, name: &str) -> &'a str {
    given.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn told(refused: &str, given: &Value) -> String {
        remedy(refused, given.as_object().unwrap()).unwrap_or_default()
    }

    #[test]
    fn what_was_given_is_kept() {
        let projected = "type --budget 500 --forget projectron";
        assert_eq!(told("forget", &json!({"forget": "projectron"})), projected);
        assert_eq!(told("forget", &json!({"forget": "forgetron"})), "type --budget 500 --forget forgetron");
        assert_eq!(
            told("projection_error", &json!({"projection_error": 0.1})),
            format!("{projected} --projection-error 0.1")
        );
        let given = json!({"projection_error": 0.1, "budget": 70, "forget": "forgetron"});
        assert_eq!(
            told("projection_error", &given),
            "type --budget 70 --forget projectron --projection-error 0.1"
        );
        let given = json!({"budget": 70, "predictor": "voted"});
        assert_eq!(
            told("predictor", &given),
            "type --budget 70 --forget projectron --predictor averaged, or leave out --budget"
        );
    }

    #[test]
    fn what_is_wrong_by_itself_needs_no_more() {
        assert_eq!(told("projection_error", &json!({"projection_error": -1.0, "budget": 5})), "");
        assert_eq!(told("budget", &json!({"budget": 0})), "");
        assert_eq!(told("passes", &json!({"passes": 0})), "");
    }
}
