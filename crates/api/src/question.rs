//! Questions about a benchmark in public, and what its hosts and others answer.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Time, describe_choices};

named! {
    /// What hosts do with a question or an answer.
    pub enum QuestionAction ("action") {
        Pin = "pin", "keep it above the others";
        Unpin = "unpin", "among the others again";
        Hide = "hide", "seen by hosts only";
        Show = "show", "seen by all again";
    }
}

describe_choices!(QuestionAction: "QuestionAction");

/// The questions about a benchmark, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Questions {
    /// Those that its hosts keep above the others, which every part of the list has.
    pub pinned: Vec<Question>,
    pub questions: Vec<Question>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub id: String,
    pub title: String,
    /// Markdown.
    pub text: String,
    /// The name of the person who asks; `null` if they deleted their account, and with it what they wrote.
    pub author: Option<String>,
    /// True if the author was a host when they wrote it.
    pub is_host: bool,
    pub is_pinned: bool,
    /// The number of answers, and of those by hosts.
    pub answers: i64,
    pub host_answers: i64,
    pub created_at: Time,
    /// The time when hosts hid it; only they see such questions.
    pub hidden_at: Option<Time>,
}

/// A question with its answers, oldest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionThread {
    pub question: Question,
    pub answers: Vec<QuestionAnswer>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswer {
    pub id: String,
    /// Markdown.
    pub text: String,
    pub author: Option<String>,
    /// True if the author was a host when they wrote it.
    pub is_host: bool,
    pub created_at: Time,
    /// The time when hosts hid it; only they see such answers.
    pub hidden_at: Option<Time>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewQuestion {
    pub title: String,
    /// Markdown.
    pub text: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewQuestionAnswer {
    /// Markdown.
    pub text: String,
}

/// A question that was asked, or an answer that was given.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedQuestion {
    pub id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuestionChange {
    pub action: QuestionAction,
}
