//! Reads scores from the answers of a model: the forms that a judge can request.

mod checklist;
mod clair;
mod fleur;
mod json;
mod options;
mod plain;
mod python;

use std::fmt;

use capeval_choice::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use options::Options;

/// The kind of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It grades a caption.
    Score,
    /// It says which of two captions of an image is better.
    Pairwise,
    /// It says for each of several statements whether a caption contains it, and rightly.
    Checklist,
}

/// The table `answer` in the file of a judge.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFormat {
    pub form: String,
    /// The field of the grade.
    pub score: Option<String>,
    /// The field of the reason.
    pub reason: Option<String>,
    /// Request answers of this form from the server.
    pub schema: Option<bool>,
    /// The worth of each option, in the words of the scale.
    pub options: Option<Map<String, Value>>,
    pub scale: Option<[f64; 2]>,
    #[serde(default = "three")]
    pub tries: u32,
    pub unreadable: Option<f64>,
}

fn three() -> u32 {
    3
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// An object of JSON with a grade, or one of several options, and a reason.
    Json {
        score: String,
        reason: String,
        options: Option<Options>,
        /// Request the form from the server.
        is_asked_for: bool,
    },
    /// An object of JSON with a verdict for each item.
    Checklist { is_asked_for: bool },
    /// The first number.
    Number,
    /// One of several options.
    Letters(Options),
    /// The worth of the options, weighted by the probabilities of the first token.
    Probabilities(Options),
    /// As the program of CLAIR reads it.
    Clair,
    /// As the program of FLEUR reads it.
    Fleur,
}

/// The answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    /// Its tokens, if they were asked for.
    pub tokens: Vec<Token>,
}

/// A token of an answer, and what could have been there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Token {
    pub token: String,
    /// The logarithms of the probabilities of the most probable tokens in its place.
    pub top: Vec<(String, f64)>,
}

/// The content of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// The grade from 0 to 1, or the numbers of items, of mentioned ones, and of right ones; and why.
    Read { values: Vec<f64>, reason: Option<String> },
    /// It says nothing that the form knows, and why.
    Unreadable(String),
}

impl Reading {
    fn grade(value: f64, reason: Option<String>) -> Self {
        Self::Read { values: vec![value], reason }
    }

    fn unreadable(why: impl fmt::Display) -> Self {
        Self::Unreadable(why.to_string())
    }
}

impl Form {
    /// The form that a file chooses, if judges of this kind may have it.
    pub fn choose(kind: Kind, answer: &AnswerFormat, scale: [f64; 2]) -> Result<Self, Refusal> {
        let AnswerFormat { form, score, reason, schema, options, .. } = answer;
        let only = |allowed: &[&str], set: &[(&str, bool)]| match set
            .iter()
            .find(|(name, is_set)| *is_set && !allowed.contains(name))
        {
            Some((name, _)) => Err(Refusal::new(format!("answer.{name} does nothing with form = {form:?}"))
                .with_remedy("leave it out")),
            None => Ok(()),
        };
        let set = [
            ("score", score.is_some()),
            ("reason", reason.is_some()),
            ("schema", schema.is_some()),
            ("options", options.is_some()),
            ("scale", answer.scale.is_some()),
        ];
        let options = || {
            let written = options.as_ref().ok_or_else(|| {
                Refusal::new(format!("answer.options is missing, which form = {form:?} needs"))
                    .with_remedy("give what each option is worth, such as { A = 1, B = 0.5, C = 0 }")
            })?;
            Options::read(written, scale).map_err(|refusal| refusal.at("answer.options"))
        };
        let field = |given: &Option<String>, usual: &str| given.clone().unwrap_or_else(|| usual.to_owned());
        let json = |options| Self::Json {
            score: field(score, if kind == Kind::Pairwise { "better" } else { "score" }),
            reason: field(reason, "reason"),
            options,
            is_asked_for: schema.unwrap_or(true),
        };
        match (form.as_str(), kind) {
            ("json", Kind::Checklist) => {
                only(&["schema"], &set)?;
                Ok(Self::Checklist { is_asked_for: schema.unwrap_or(true) })
            }
            ("json", Kind::Score) => {
                only(&["score", "reason", "schema", "scale"], &set)?;
                Ok(json(None))
            }
            ("json", Kind::Pairwise) => {
                only(&["score", "reason", "schema", "options", "scale"], &set)?;
                Ok(json(Some(options()?)))
            }
            ("number", Kind::Score) => only(&["scale"], &set).map(|()| Self::Number),
            ("letters", Kind::Score | Kind::Pairwise) => {
                only(&["options", "scale"], &set)?;
                Ok(Self::Letters(options()?))
            }
            ("probabilities", Kind::Score | Kind::Pairwise) => {
                only(&["options", "scale"], &set)?;
                Ok(Self::Probabilities(options()?))
            }
            ("clair", Kind::Score) => only(&[], &set).map(|()| Self::Clair),
            ("fleur", Kind::Score) => only(&[], &set).map(|()| Self::Fleur),
            _ => {
                let (kind, forms) = match kind {
                    Kind::Score => ("score", "json, number, letters, probabilities, clair or fleur"),
                    Kind::Pairwise => ("pairwise", "json, letters or probabilities"),
                    Kind::Checklist => ("checklist", "json"),
                };
                Err(Refusal::new(format!("answer.form: {form:?} is not a form for kind = {kind:?}"))
                    .with_remedy(format!("use {forms}")))
            }
        }
    }

    /// Reads an answer; `n_items` is the number of items of a checklist.
    pub fn read(&self, answer: &Answer, scale: [f64; 2], n_items: usize) -> Reading {
        match self {
            Self::Json { score, reason, options, .. } => {
                json::read(&answer.text, score, reason, options.as_ref(), scale)
            }
            Self::Checklist { .. } => checklist::read(&answer.text, n_items),
            Self::Number => plain::number(&answer.text, scale),
            Self::Letters(options) => plain::letter(&answer.text, options),
            Self::Probabilities(options) => options::expected(answer, options),
            Self::Clair => clair::read(&answer.text),
            Self::Fleur => fleur::read(answer),
        }
    }

    /// Returns true if it needs the probabilities of tokens.
    pub fn needs_probabilities(&self) -> bool {
        matches!(self, Self::Probabilities(_) | Self::Fleur)
    }

    /// The schema of answers that is sent to the server.
    pub fn schema(&self) -> Option<Value> {
        match self {
            // The reason comes first, so that the grade follows from it.
            Self::Json { score, reason, options, is_asked_for: true } => {
                let grade = match options {
                    None => json!({"type": "number"}),
                    Some(options) => json!({"type": "string", "enum": options.names()}),
                };
                Some(json!({
                    "type": "object",
                    "properties": {reason: {"type": "string"}, score: grade},
                    "required": [reason, score],
                    "additionalProperties": false,
                }))
            }
            Self::Checklist { is_asked_for: true } => Some(checklist::schema()),
            _ => None,
        }
    }
}

/// Reads a text by all forms, for fuzz targets.
#[cfg(fuzzing)]
pub fn fuzz(text: &str) {
    let options = json!({"A": 1, "B": 0.5, "tie": 0});
    let Some(options) = options.as_object().and_then(|all| Options::read(all, [0.0, 1.0]).ok()) else {
        return;
    };
    let json = |options| Form::Json {
        score: "score".to_owned(),
        reason: "reason".to_owned(),
        options,
        is_asked_for: false,
    };
    let tokens = text.split(' ').map(|token| Token {
        token: token.to_owned(),
        top: token.chars().map(|c| (c.to_string(), -1.0)).collect(),
    });
    let answer = Answer { text: text.to_owned(), tokens: tokens.collect() };
    let forms = [
        json(None),
        json(Some(options.clone())),
        Form::Checklist { is_asked_for: false },
        Form::Number,
        Form::Letters(options.clone()),
        Form::Probabilities(options),
        Form::Clair,
        Form::Fleur,
    ];
    for form in forms {
        if let Reading::Read { values, .. } = form.read(&answer, [0.0, 100.0], 3) {
            assert!(values.iter().all(|value| value.is_finite()), "{form:?} gives what is no number");
        }
    }
}

/// The start of a text, to show a person.
pub fn start(text: &str) -> String {
    const LONGEST: usize = 80;
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("\"{}…\"", &line[..end]),
        None => format!("\"{line}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a file that `oracle/judges.py` wrote.
    fn rows(file: &str) -> Vec<Value> {
        let file: Value = serde_json::from_str(file).unwrap();
        file["rows"].as_array().unwrap().clone()
    }

    #[test]
    fn answers_are_read_as_the_program_of_clair_reads_them() {
        let rows = rows(include_str!("../../../../../testdata/judges/clair.json"));
        assert!(rows.len() >= 500);
        for row in &rows {
            let text = row["answer"].as_str().unwrap();
            match (clair::read(text), row["score"].as_f64()) {
                (Reading::Read { values, reason }, Some(score)) => {
                    assert_eq!(values[0].to_bits(), score.to_bits(), "{text:?}");
                    if let Some(said) = row["reason"].as_str() {
                        assert_eq!(reason.as_deref(), Some(said), "{text:?}");
                    }
                }
                // Its errors, what is not finite, and three tries in vain.
                (Reading::Unreadable(_), None) => {}
                (read, score) => panic!("{text:?}: {read:?} instead of {score:?}"),
            }
        }
    }

    #[test]
    fn answers_are_smoothed_as_the_program_of_fleur_does() {
        let file: Value =
            serde_json::from_str(include_str!("../../../../../testdata/judges/fleur.json")).unwrap();
        let words: Vec<&str> = file["tokens"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let rows = file["rows"].as_array().unwrap();
        assert!(rows.len() >= 200);
        for row in rows {
            let text = row["answer"].as_str().unwrap();
            let places = row["thousandths"].as_array().unwrap().iter().zip(row["tokens"].as_array().unwrap());
            let token = |(place, token): (&Value, &Value)| Token {
                token: words[token.as_u64().unwrap() as usize].to_owned(),
                top: words
                    .iter()
                    .zip(place.as_array().unwrap())
                    .map(|(word, share)| ((*word).to_owned(), (share.as_f64().unwrap() / 1000.0).ln()))
                    .collect(),
            };
            let answer = Answer { text: text.to_owned(), tokens: places.map(token).collect() };
            match (fleur::read(&answer), row["score"].as_f64()) {
                (Reading::Read { values, .. }, Some(score)) => {
                    assert!((values[0] - score).abs() < 1e-12, "{text:?}: {} is not {score}", values[0]);
                }
                (Reading::Unreadable(_), None) => {}
                (read, score) => panic!("{text:?}: {read:?} instead of {score:?}"),
            }
        }
    }

    fn clair_of(text: &str) -> Option<f64> {
        match clair::read(text) {
            Reading::Read { values, .. } => Some(values[0]),
            Reading::Unreadable(_) => None,
        }
    }

    #[test]
    fn clair_a_brace_in_the_reason_cuts_the_json_and_a_missing_one_is_mended() {
        assert_eq!(clair_of("{\"score\": 85, \"reason\": \"a } brace\"} 12"), Some(0.85));
        assert_eq!(clair_of("1 {\"score\": 85, \"reason\": \"a } brace\"}"), Some(0.01 * 100.0 / 100.0));
        assert_eq!(clair_of("7 {\"score\": 85"), Some(0.85));
    }

    #[test]
    fn clair_a_number_below_one_in_prose_is_multiplied_and_in_json_it_is_not() {
        assert_eq!(clair_of("0.85"), Some(0.85));
        assert_eq!(clair_of("{\"score\": 0.85}"), Some(0.0085));
        assert_eq!(clair_of("10/10"), Some(0.1));
    }

    #[test]
    fn clair_scores_are_not_cut_to_the_range() {
        assert_eq!(clair_of("{\"score\": 250}"), Some(2.5));
        assert_eq!(clair_of("{\"score\": -5}"), Some(-0.05));
    }

    #[test]
    fn clair_truth_values_and_text_are_numbers_and_the_last_score_counts() {
        assert_eq!(clair_of("{\"score\": true}"), Some(0.01));
        assert_eq!(clair_of("{\"score\": \" 8_5 \"}"), Some(0.85));
        assert_eq!(clair_of("{\"score\": \"٨٥\"}"), Some(0.85));
        assert_eq!(clair_of("{\"score\": 85, \"score\": 15}"), Some(0.15));
    }

    #[test]
    fn clair_what_ends_the_program_cannot_be_read() {
        for score in ["null", "[85]", "\"85/100\"", "NaN", "1e999", &"9".repeat(400), &"9".repeat(5000)] {
            assert_eq!(clair_of(&format!("{{\"score\": {score}}}")), None, "{score}");
        }
        assert_eq!(clair_of(&format!("{{\"a\": {}}}", "[".repeat(100_000))), None);
    }

    #[test]
    fn forms_read_any_text_without_a_panic() {
        let rows = rows(include_str!("../../../../../testdata/judges/clair.json"));
        let options = json!({"A": 1, "B": 0});
        let options = Options::read(options.as_object().unwrap(), [0.0, 1.0]).unwrap();
        let json = |options| Form::Json {
            score: "score".to_owned(),
            reason: "reason".to_owned(),
            options,
            is_asked_for: true,
        };
        let forms = [
            json(None),
            json(Some(options.clone())),
            Form::Checklist { is_asked_for: true },
            Form::Number,
            Form::Letters(options.clone()),
            Form::Probabilities(options),
            Form::Clair,
            Form::Fleur,
        ];
        for row in &rows {
            let text = row["answer"].as_str().unwrap().to_owned();
            let token =
                Token { token: text.clone(), top: vec![(text.clone(), f64::NAN), ("A".to_owned(), -1.0)] };
            let answer = Answer { text, tokens: vec![token] };
            for form in &forms {
                if let Reading::Read { values, .. } = form.read(&answer, [0.0, 100.0], 3) {
                    assert!(values.iter().all(|value| value.is_finite()), "{form:?}: {answer:?}");
                }
            }
        }
    }
}
