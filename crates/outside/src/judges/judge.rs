//! Reads the file of a judge: its query, its model, and the form of its answers.

use std::fmt::Write;

use capeval::metric::Part;
use capeval::{check_outside_key, check_outside_name, toml_place};
use capeval_choice::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::judges::answer::{AnswerFormat, Form, Kind};
use crate::judges::template::{Field, Lines, Template};

/// A judge.
#[derive(Clone, Debug)]
pub struct Judge {
    pub name: String,
    pub version: String,
    pub label: String,
    pub kind: Kind,
    /// The model that it is made for, unless a run names another.
    pub model: Option<String>,
    pub messages: Vec<Message>,
    pub references: Lines,
    pub items: Lines,
    /// Parameters that are sent to the server beside the messages.
    pub parameters: Map<String, Value>,
    pub form: Form,
    /// The least and the greatest grade, which become 0 and 1.
    pub scale: [f64; 2],
    /// The number of answers that are requested until one can be read.
    pub tries: u32,
    /// The score of a caption none of whose answers can be read; without it, such a run ends with an error.
    pub unreadable: Option<f64>,
    pub prices: Option<Prices>,
    /// A hash of what is asked.
    pub asks: String,
    /// A hash of how answers are read.
    pub reads: String,
}

/// A message to the model.
#[derive(Clone, Debug)]
pub struct Message {
    pub role: Role,
    pub text: Template,
}

/// Whose words a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    System,
    User,
    Assistant,
}

/// The prices of tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// For a million tokens of questions.
    pub input: f64,
    /// For a million tokens of answers.
    pub output: f64,
    #[serde(default = "dollars")]
    pub currency: String,
}

fn dollars() -> String {
    "USD".to_owned()
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgeFile {
    /// The version of the format.
    judge: u32,
    name: String,
    version: String,
    label: Option<String>,
    kind: Kind,
    model: Option<String>,
    messages: Vec<WrittenMessage>,
    #[serde(default)]
    format: WrittenFormat,
    #[serde(default)]
    parameters: Map<String, Value>,
    answer: AnswerFormat,
    prices: Option<Prices>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMessage {
    role: Role,
    text: String,
}

/// The format of each of several captions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenFormat {
    references: String,
    items: String,
}

impl Default for WrittenFormat {
    fn default() -> Self {
        Self { references: "- {text}\n".to_owned(), items: "{number}. {text}\n".to_owned() }
    }
}

/// The most answers to one question.
const MOST_TRIES: u32 = 20;

/// Fields that requests hold already, or that would change what an answer is.
const RESERVED: [&str; 6] = ["model", "messages", "stream", "n", "logprobs", "response_format"];

/// Returns true if this file of TOML describes a judge, and not a program.
pub fn is_judge(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    // A file with errors is one if it says so.
    match text.parse::<toml::Table>() {
        Ok(table) => table.contains_key("judge"),
        Err(_) => text.lines().any(|line| {
            line.trim_start().strip_prefix("judge").is_some_and(|rest| rest.trim_start().starts_with('='))
        }),
    }
}

impl Judge {
    /// Reads the bytes of a file; `is_builtin` says whether it is one of capeval's own, whose name is taken by itself.
    pub fn read(bytes: &[u8], is_builtin: bool) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(bytes).map_err(|_| "a judge is text in UTF-8")?;
        let written: JudgeFile = toml::from_str(text).map_err(|error| {
            Refusal::new(format!("{}{}", toml_place(text, &error), error.message()))
                .with_remedy("write it as docs/guides/judges.md shows")
        })?;
        let JudgeFile {
            judge,
            name,
            version,
            label,
            kind,
            model,
            messages,
            format,
            parameters,
            answer,
            prices,
        } = written;
        if judge != 1 {
            return Err(Refusal::new(format!("judge = {judge} is not known; this version reads 1")));
        }
        match is_builtin {
            true => check_outside_key(&name)?,
            false => {
                check_outside_name(&name)?;
                if crate::judges::builtin::is_name(&name) {
                    return Err(Refusal::new(format!("name: capeval has a judge {name} of its own"))
                        .with_remedy("choose another name"));
                }
            }
        }
        if version.trim().is_empty() {
            return Err("version is empty".into());
        }
        if let Some(key) = RESERVED.iter().find(|key| parameters.contains_key(**key)) {
            return Err(Refusal::new(format!("parameters: {key} is not for you to set"))
                .with_remedy("leave it out; answer.form decides what is asked for"));
        }
        let scale = answer.scale.unwrap_or([0.0, 1.0]);
        if !(scale.iter().all(|end| end.is_finite()) && scale[0] < scale[1]) {
            return Err(Refusal::new(format!("scale: {} is not less than {}", scale[0], scale[1])));
        }
        if !(1..=MOST_TRIES).contains(&answer.tries) {
            return Err(Refusal::new(format!("tries: {} is not between 1 and {MOST_TRIES}", answer.tries)));
        }
        if answer.unreadable.is_some_and(|score| !score.is_finite()) {
            return Err("unreadable is not a score".into());
        }
        if let Some(Prices { input, output, .. }) = &prices
            && !(input.is_finite() && output.is_finite() && *input >= 0.0 && *output >= 0.0)
        {
            return Err("prices are not numbers of at least 0".into());
        }
        let form = Form::choose(kind, &answer, scale)?;
        let asks = hash_of_questions(&messages, &format, &parameters, &answer);
        let reads = hash_of_reading(kind, &answer);
        let messages = read_messages(messages)?;
        check_fields(kind, &messages)?;
        Ok(Self {
            label: label.unwrap_or_else(|| name.clone()),
            references: Lines::read(&format.references).map_err(|refusal| refusal.at("format.references"))?,
            items: Lines::read(&format.items).map_err(|refusal| refusal.at("format.items"))?,
            name,
            version,
            kind,
            model,
            messages,
            parameters,
            form,
            scale,
            tries: answer.tries,
            unreadable: answer.unreadable,
            prices,
            asks,
            reads,
        })
    }

    /// Its measures.
    pub fn parts(&self) -> Vec<Part> {
        let (name, label) = (&self.name, &self.label);
        match self.kind {
            Kind::Score | Kind::Pairwise => vec![Part::score(name, label, 0.0..=1.0)],
            Kind::Checklist => vec![
                Part::score(format!("{name}-coverage"), format!("{label} coverage"), 0.0..=1.0),
                Part::score(format!("{name}-precision"), format!("{label} precision"), 0.0..=1.0),
            ],
        }
    }

    /// Returns true if a field is in one of its messages.
    pub fn has(&self, field: Field) -> bool {
        self.messages.iter().flat_map(|message| message.text.fields()).any(|known| known == field)
    }
}

fn read_messages(written: Vec<WrittenMessage>) -> Result<Vec<Message>, Refusal> {
    let read = |(nth, WrittenMessage { role, text }): (usize, WrittenMessage)| {
        let text = Template::read(&text).map_err(|refusal| refusal.at(format!("message {}", nth + 1)))?;
        if role != Role::User && text.fields().any(|field| field == Field::Image) {
            return Err(Refusal::new(format!(
                "message {}: pictures stand in messages of the user only",
                nth + 1
            )));
        }
        Ok(Message { role, text })
    };
    written.into_iter().enumerate().map(read).collect()
}

/// Checks that messages have the fields that judges of this kind need, and no others.
fn check_fields(kind: Kind, messages: &[Message]) -> Result<(), Refusal> {
    use Field::{Candidate, First, Image, Items, References, Second};
    let (needed, allowed): (&[Field], &[Field]) = match kind {
        Kind::Score => (&[Candidate], &[References, Image]),
        Kind::Pairwise => (&[First, Second], &[References, Image]),
        Kind::Checklist => (&[Candidate, Items], &[Image]),
    };
    let fields: Vec<Field> = messages.iter().flat_map(|message| message.text.fields()).collect();
    if let Some(missing) = needed.iter().find(|field| !fields.contains(field)) {
        return Err(Refusal::new(format!("no message has {}", missing.written()))
            .with_remedy("say where in a message it belongs"));
    }
    match fields.iter().find(|field| !needed.contains(field) && !allowed.contains(field)) {
        Some(field) => {
            Err(Refusal::new(format!("{} has no meaning in a judge of this kind", field.written())))
        }
        None => Ok(()),
    }
}

/// A hash of what is asked, on which answers depend beside the model: as much of SHA-256 as signatures can hold.
fn hash_of_questions(
    messages: &[WrittenMessage],
    format: &WrittenFormat,
    parameters: &Map<String, Value>,
    answer: &AnswerFormat,
) -> String {
    let messages: Vec<Value> =
        messages.iter().map(|message| json!({"role": message.role, "text": message.text})).collect();
    let AnswerFormat { form, score, reason, schema, .. } = answer;
    let formats = [&format.references, &format.items];
    hex(&Sha256::digest(json!([messages, formats, parameters, form, score, reason, schema]).to_string()), 6)
}

/// A hash of how answers are read.
fn hash_of_reading(kind: Kind, answer: &AnswerFormat) -> String {
    let AnswerFormat { form, score, reason: _, schema: _, options, scale, tries, unreadable } = answer;
    let all = json!([kind, form, score, options, scale, tries, unreadable]);
    hex(&Sha256::digest(all.to_string()), 6)
}

/// The first bytes of a hash, in hexadecimal digits.
pub fn hex(hash: &[u8], n_bytes: usize) -> String {
    hash.iter().take(n_bytes).fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
