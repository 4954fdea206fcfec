//! The options of which an answer names one, with their values.

use capeval_choice::Refusal;
use serde_json::{Map, Value};

use super::{Answer, Reading};

/// The worth of each option, from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Options(Vec<(String, f64)>);

impl Options {
    /// Reads a table whose numbers lie on the scale.
    pub fn read(written: &Map<String, Value>, [low, high]: [f64; 2]) -> Result<Self, Refusal> {
        let mut all: Vec<(String, f64)> = Vec::new();
        for (name, value) in written {
            let worth = value.as_f64().filter(|worth| (low..=high).contains(worth));
            let worth =
                worth.ok_or_else(|| Refusal::new(format!("{name} is not a number from {low} to {high}")))?;
            if name.trim() != name || name.is_empty() {
                return Err(Refusal::new(format!("{name:?} is no name of an option")));
            }
            if all.iter().any(|(known, _)| is_same(known, name)) {
                return Err(Refusal::new(format!("{name} is there twice, since case does not matter")));
            }
            all.push((name.clone(), (worth - low) / (high - low)));
        }
        if all.len() < 2 {
            return Err("there are fewer than two".into());
        }
        Ok(Self(all))
    }

    /// The names.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The worth of the option of this name.
    pub fn worth(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| is_same(known, name.trim())).map(|(_, worth)| *worth)
    }

    /// The options as a list for people.
    pub fn listed(&self) -> String {
        self.names().join(", ")
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// The mean worth of the options, by the probabilities of the first token that is not white space.
///
/// Tokens of one option, such as `A` and ` A`, add up; those of no option are left out.
pub fn expected(answer: &Answer, options: &Options) -> Reading {
    let Some(token) = answer.tokens.iter().find(|token| !token.token.trim().is_empty()) else {
        return Reading::unreadable("the server sent no probabilities of tokens");
    };
    let (mut total, mut sum) = (0.0, 0.0);
    for (name, logarithm) in &token.top {
        if let Some(worth) = options.worth(name) {
            let probability = logarithm.exp();
            total += probability;
            sum += probability * worth;
        }
    }
    if total > 0.0 && sum.is_finite() {
        Reading::grade(sum / total, None)
    } else {
        Reading::unreadable(format!("none of {} is among the most probable tokens", options.listed()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Token;
    use super::*;

    fn options(value: &Value) -> Options {
        Options::read(value.as_object().unwrap(), [1.0, 5.0]).unwrap()
    }

    #[test]
    fn probabilities_of_options_weigh_what_they_are_worth() {
        let options = options(&json!({"1": 1, "3": 3, "5": 5}));
        let token = |token: &str, top: &[(&str, f64)]| Token {
            token: token.to_owned(),
            top: top.iter().map(|(token, p)| ((*token).to_owned(), p.ln())).collect(),
        };
        let tokens =
            vec![token(" \n", &[]), token("3", &[("3", 0.4), (" 3", 0.2), ("5", 0.2), ("Five", 0.1)])];
        let answer = Answer { text: "3".to_owned(), tokens };
        let Reading::Read { values, .. } = expected(&answer, &options) else { panic!() };
        assert!((values[0] - (0.6 * 0.5 + 0.2) / 0.8).abs() < 1e-12, "{values:?}");
        for tokens in [vec![], vec![token("x", &[("x", 1.0)])], vec![token("x", &[])]] {
            let answer = Answer { text: "3".to_owned(), tokens };
            assert!(matches!(expected(&answer, &options), Reading::Unreadable(_)));
        }
    }

    #[test]
    fn options_are_checked() {
        let said =
            |value: Value| Options::read(value.as_object().unwrap(), [0.0, 1.0]).unwrap_err().to_string();
        assert_eq!(said(json!({"A": 2, "B": 0})), "A is not a number from 0 to 1");
        assert_eq!(said(json!({"A": "x", "B": 0})), "A is not a number from 0 to 1");
        assert_eq!(said(json!({"A": 1})), "there are fewer than two");
        assert_eq!(said(json!({"A": 1, "a": 0})), "a is there twice, since case does not matter");
        assert_eq!(said(json!({" A": 1, "B": 0})), "\" A\" is no name of an option");
    }
}
