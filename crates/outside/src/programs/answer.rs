//! Reads a line of a program's output, and says why it may not be an answer.

use std::fmt;

use capeval_choice::Refusal;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The most characters of a line that an error repeats.
const SHOWN: usize = 80;

/// The remedy for output that is no answer.
pub const TO_STDERR: &str =
    "print nothing but answers on standard output, and what people should read on standard error";

/// The scores of a caption. Other keys are not read.
#[derive(Deserialize)]
pub struct Answer {
    pub id: usize,
    /// The scores as they were written, so that none hides another.
    #[serde(deserialize_with = "all")]
    pub scores: Vec<(String, Value)>,
}

/// The reason why a line is no answer.
pub enum NoAnswer {
    /// It is text in another encoding.
    Utf16,
    /// It is no JSON, or not the object that an answer is.
    Json(serde_json::Error),
}

/// Reads a line, which may end as on Windows, and begin with the mark of UTF-8.
pub fn read(line: &[u8]) -> Result<Answer, NoAnswer> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.contains(&0) {
        return Err(NoAnswer::Utf16);
    }
    serde_json::from_slice(line).map_err(NoAnswer::Json)
}

impl NoAnswer {
    /// The error about line `number` of the program `name`.
    pub fn of(&self, name: &str, number: usize, line: &[u8]) -> Refusal {
        let text = String::from_utf8_lossy(line);
        let (why, remedy) = match self {
            Self::Utf16 => ("", "print UTF-8, without zero bytes"),
            _ if text.contains("NaN") || text.contains("Infinity") => {
                ("", "give every caption a number; JSON knows neither NaN nor Infinity")
            }
            Self::Json(error) if error.is_data() => {
                (OF_DATA, "print {\"id\": …, \"scores\": {…}} with the id of the caption, a whole number")
            }
            Self::Json(_) => ("", TO_STDERR),
        };
        let message = format!("line {number} of the output of {name} is no answer{why}: {}", short(&text));
        Refusal::new(message).with_remedy(remedy)
    }
}

/// The fault of JSON that is another object.
const OF_DATA: &str = " with an id and scores";

/// The entries of an object in order, with those whose keys are equal.
fn all<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Value)>, D::Error> {
    struct Entries;

    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, Value)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("scores by measure")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                if entries.len() == MOST {
                    return Err(A::Error::custom("too many scores"));
                }
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    /// More scores than any metric has.
    const MOST: usize = 10_000;

    deserializer.deserialize_map(Entries)
}

/// The beginning of a text, on one line.
pub fn short(text: &str) -> String {
    let plain: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN + 1).collect();
    match plain.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}
