//! Reads answers that are a JSON object.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Options, Reading, start};

/// Reads a grade on a scale, or an option, from the first object in the text that has one.
pub fn read(text: &str, score: &str, reason: &str, options: Option<&Options>, scale: [f64; 2]) -> Reading {
    let Some(object) = objects(text).find(|object| object.contains_key(score)) else {
        return Reading::unreadable(format!("no object of JSON with {score:?} in {}", start(text)));
    };
    let reason = object.get(reason).and_then(Value::as_str).map(str::to_owned);
    let value = &object[score];
    if let Some(options) = options {
        return match value.as_str().and_then(|name| options.worth(name)) {
            Some(worth) => Reading::grade(worth, reason),
            None => Reading::unreadable(format!("{score} is {value}, and not one of {}", options.listed())),
        };
    }
    let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
    match number {
        Some(number) => on_scale(number, scale, reason),
        None => Reading::unreadable(format!("{score} is {value}, which is no number")),
    }
}

/// A number on a scale as a grade from 0 to 1.
pub fn on_scale(number: f64, [low, high]: [f64; 2], reason: Option<String>) -> Reading {
    match (low..=high).contains(&number) {
        true => Reading::grade((number - low) / (high - low), reason),
        false => Reading::unreadable(format!("{number} is not between {low} and {high}")),
    }
}

/// The objects of JSON in a text, whatever stands between them.
pub fn objects(text: &str) -> impl Iterator<Item = Map<String, Value>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('{')?..];
            let mut reader = serde_json::Deserializer::from_str(rest).into_iter::<Object>();
            match reader.next() {
                Some(Ok(Object(object))) => {
                    rest = &rest[reader.byte_offset()..];
                    return Some(object);
                }
                _ => rest = &rest[1..],
            }
        }
    })
}

#[derive(Deserialize)]
struct Object(Map<String, Value>);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grade(text: &str) -> Result<(f64, Option<String>), String> {
        match read(text, "score", "reason", None, [0.0, 10.0]) {
            Reading::Read { values, reason } => Ok((values[0], reason)),
            Reading::Unreadable(why) => Err(why),
        }
    }

    #[test]
    fn the_first_object_with_a_grade_counts() {
        let (score, reason) = grade("Sure!\n```json\n{\"reason\": \"a {dog}\", \"score\": 5}\n```").unwrap();
        assert_eq!((score, reason.as_deref()), (0.5, Some("a {dog}")));
        assert_eq!(grade("{x} {\"a\": 1} {\"score\": \" 2.5 \", \"reason\": 7}").unwrap(), (0.25, None));
        assert_eq!(grade("{\"score\": 10}{\"score\": 0}").unwrap().0, 1.0);
        assert_eq!(
            grade("{\"a\": {\"score\": 1}}").unwrap_err(),
            "no object of JSON with \"score\" in \"{\"a\": {\"score\": 1}}\""
        );
        assert_eq!(grade("{\"score\": 11}").unwrap_err(), "11 is not between 0 and 10");
        assert_eq!(grade("{\"score\": -0.5}").unwrap_err(), "-0.5 is not between 0 and 10");
        assert_eq!(grade("{\"score\": null}").unwrap_err(), "score is null, which is no number");
        assert_eq!(grade("{\"score\": \"8/10\"}").unwrap_err(), "score is \"8/10\", which is no number");
        assert_eq!(grade("{\"score\": \"nan\"}").unwrap_err(), "NaN is not between 0 and 10");
        assert!(grade("").unwrap_err().contains("in \"\""));
        assert!(grade(&"{".repeat(100_000)).is_err() && grade(&"{\"a\":".repeat(1000)).is_err());
    }

    #[test]
    fn an_option_is_known_whatever_its_case() {
        let options = json!({"A": 1, "B": 0, "tie": 0.5});
        let options = Options::read(options.as_object().unwrap(), [0.0, 1.0]).unwrap();
        let of = |text: &str| read(text, "better", "reason", Some(&options), [0.0, 1.0]);
        assert_eq!(of("{\"better\": \"TIE \"}"), Reading::grade(0.5, None));
        assert_eq!(
            of("{\"better\": \"C\"}"),
            Reading::unreadable("better is \"C\", and not one of A, B, tie")
        );
        assert_eq!(of("{\"better\": 1}"), Reading::unreadable("better is 1, and not one of A, B, tie"));
    }
}
