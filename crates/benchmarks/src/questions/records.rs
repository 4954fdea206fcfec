//! Questions and answers in the database, and the rules of their content, their number, and who sees them.

use capeval_api::{QuestionAction, QuestionAnswer};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;
use capeval_site::{newest_first, oldest_first, outbox};
use serde::Deserialize;
use serde_json::json;

use super::mailing;
use crate::records::SeenBenchmark;
use crate::{admission, notes};

/// The most characters of a title and of a text.
pub(super) const TITLE: usize = 120;
pub(super) const TEXT: usize = 5_000;

/// The most questions and answers of a person in a benchmark in 24 hours; hosts answer as much as they like.
const QUESTIONS_PER_DAY: usize = 5;
const ANSWERS_PER_DAY: usize = 20;

/// The most pinned questions of a benchmark.
const PINNED: i64 = 5;

/// A question, or an answer, which has no title.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    pub id: String,
    /// The id of the question that it answers.
    pub answers: Option<String>,
    /// The name of its author; `None` if they deleted their account.
    pub author: Option<String>,
    pub title: String,
    /// Markdown.
    pub text: String,
    /// True if a host wrote it.
    pub is_host: bool,
    pub pinned_at: Option<i64>,
    pub hidden_at: Option<i64>,
    pub created_at: i64,
    /// The number of its answers, and of those by hosts.
    pub answer_count: i64,
    pub host_count: i64,
}

impl Question {
    /// The text as HTML.
    pub fn html(&self) -> String {
        as_html(&self.text)
    }

    /// Itself, for programs.
    pub fn for_programs(&self) -> capeval_api::Question {
        let Self { id, title, text, author, is_host, .. } = self.clone();
        capeval_api::Question {
            id,
            title,
            text,
            author,
            is_host,
            is_pinned: self.pinned_at.is_some(),
            answers: self.answer_count,
            host_answers: self.host_count,
            created_at: clock::time(self.created_at),
            hidden_at: self.hidden_at.map(clock::time),
        }
    }

    /// An answer, for programs.
    pub fn answer_for_programs(&self) -> QuestionAnswer {
        let capeval_api::Question { id, text, author, is_host, created_at, hidden_at, .. } =
            self.for_programs();
        QuestionAnswer { id, text, author, is_host, created_at, hidden_at }
    }
}

/// The columns of a question or an answer.
macro_rules! rows {
    ($condition:literal) => {
        concat!(
            "SELECT question.id AS id, question.answers AS answers, account.name AS author, question.title AS title, \
             question.text AS text, question.is_host AS is_host, question.pinned_at AS pinned_at, \
             question.hidden_at AS hidden_at, question.created_at AS created_at, \
             (SELECT COUNT(*) FROM question AS answer WHERE answer.answers = question.id \
             AND answer.hidden_at IS NULL) AS answer_count, \
             (SELECT COUNT(*) FROM question AS answer WHERE answer.answers = question.id \
             AND answer.hidden_at IS NULL AND answer.is_host = 1) AS host_count \
             FROM question LEFT JOIN account ON account.id = question.account WHERE ",
            $condition
        )
    };
}

/// The questions about a benchmark that are not pinned; hosts also see those that are hidden.
pub const QUESTIONS: List = newest_first!(
    rows!(
        "question.benchmark = $3 AND question.answers IS NULL AND question.pinned_at IS NULL \
         AND ($4 = 1 OR question.hidden_at IS NULL)"
    ),
    "question.id"
);

/// The answers to a question, likewise.
pub const ANSWERS: List =
    oldest_first!(rows!("question.answers = $3 AND ($4 = 1 OR question.hidden_at IS NULL)"), "question.id");

/// The questions about a benchmark at a place, and those that are pinned.
pub(super) async fn page(
    store: &Store,
    seen: &SeenBenchmark,
    at: At,
) -> Result<(Vec<Question>, Rows<Question>), Error> {
    let pinned = rows!(
        "question.benchmark = $1 AND question.pinned_at IS NOT NULL \
         AND ($2 = 1 OR question.hidden_at IS NULL) ORDER BY question.pinned_at DESC, question.id"
    );
    let values = || args![&seen.benchmark.id, seen.is_host];
    let pinned = store.fetch(pinned, values()).await?;
    Ok((pinned, QUESTIONS.page(store, at, values(), |one: &Question| &one.id).await?))
}

/// The answers to a question at a place.
pub(super) async fn answers(store: &Store, of: &SeenQuestion, at: At) -> Result<Rows<Question>, Error> {
    let values = args![&of.question.id, of.seen.is_host];
    ANSWERS.page(store, at, values, |one: &Question| &one.id).await
}

/// A question or an answer that the visitor may see, with its benchmark.
pub struct SeenQuestion {
    pub seen: SeenBenchmark,
    pub question: Question,
}

/// `{slug}` and `{question}`
impl Subject for SeenQuestion {
    const KIND: &'static str = "question";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let seen = SeenBenchmark::find(app, names, visitor).await?;
        let sql = rows!(
            "question.id = $1 AND question.benchmark = $2 AND ($3 = 1 OR question.hidden_at IS NULL \
             AND NOT EXISTS (SELECT 1 FROM question AS thread WHERE thread.id = question.answers \
             AND thread.hidden_at IS NOT NULL))"
        );
        let values = args![names.require("question")?, &seen.benchmark.id, seen.is_host];
        let question = app.store.fetch_optional(sql, values).await?.ok_or_else(Fault::not_found)?;
        Ok(Self { seen, question })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

impl SeenQuestion {
    /// The id of the question, also of an answer.
    pub fn thread(&self) -> &str {
        self.question.answers.as_ref().unwrap_or(&self.question.id)
    }
}

/// Asks a question, and returns its id. The hosts get an email.
pub(super) async fn ask(
    app: &App,
    by: &Visitor,
    seen: &SeenBenchmark,
    (title, text): (&str, &str),
) -> Result<String> {
    let (title, text) = (clean_text::line(title), clean_text::lines(text));
    let fits = |text: &str, most: usize| (1..=most).contains(&text.chars().count());
    if !fits(&title, TITLE) || !fits(&text, TEXT) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "question",
            "A question needs a title of 1 to {} characters and a text of 1 to {}.", TITLE, TEXT
        });
    }
    write(app, by, seen, None, (&title, &text)).await
}

/// Answers a question, and returns the id of the answer. The person who asked gets an email.
pub(super) async fn answer(app: &App, by: &Visitor, of: &SeenQuestion, text: &str) -> Result<String> {
    let text = clean_text::lines(text);
    if !(1..=TEXT).contains(&text.chars().count()) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "answer", "An answer needs a text of 1 to {} characters.", TEXT
        });
    }
    if of.question.answers.is_some() {
        return Err(Fault::not_found());
    }
    write(app, by, &of.seen, Some(&of.question.id), ("", &text)).await
}

async fn write(
    app: &App,
    by: &Visitor,
    seen: &SeenBenchmark,
    answers: Option<&str>,
    (title, text): (&str, &str),
) -> Result<String> {
    let benchmark = &seen.benchmark;
    let mut tx = app.store.begin().await?;
    // Two at once must not both be the last one of a day.
    tx.lock("account", &by.id).await?;
    people::require_enabled(&mut tx, &by.id).await?;
    if !seen.is_host {
        admission::require_listed(&mut tx, benchmark, by).await?;
        require_few(&mut tx, &benchmark.id, by, answers.is_some()).await?;
    }
    let id = ids::new_id();
    let row = columns! {
        id: &id, benchmark: &benchmark.id, answers, account: &by.id, title, text, is_host: seen.is_host,
        created_at: clock::now(),
    };
    tx.insert_row("question", row).await?;
    mailing::tell(&mut tx, app, benchmark, by, (&id, answers)).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// Refuses a person who has asked or answered as much as a day allows.
async fn require_few(tx: &mut Tx, benchmark: &str, by: &Visitor, is_answer: bool) -> Result<()> {
    let most = if is_answer { ANSWERS_PER_DAY } else { QUESTIONS_PER_DAY };
    let now = clock::now();
    let earlier = "SELECT created_at FROM question WHERE account = $1 AND benchmark = $2 AND created_at > $3 \
                   AND (answers IS NULL) = ($4 = 0) ORDER BY created_at";
    let earlier: Vec<i64> = tx.fetch(earlier, args![&by.id, benchmark, now - clock::DAY, is_answer]).await?;
    let Some(first) = earlier.first().filter(|_| earlier.len() >= most) else { return Ok(()) };
    let fault = match is_answer {
        true => fault!(TOO_MANY_REQUESTS, "answers", "You can give {} answers in 24 hours.", most),
        false => fault!(TOO_MANY_REQUESTS, "questions", "You can ask {} questions in 24 hours.", most),
    };
    Err(fault.retry_after((first + clock::DAY - now) / 1000))
}

/// Pins or hides a question or an answer, or takes that back.
pub(super) async fn change(
    app: &App,
    by: &Visitor,
    SeenQuestion { seen, question }: &SeenQuestion,
    action: QuestionAction,
) -> Result<()> {
    let (now, never) = (clock::now(), None::<i64>);
    let (row, word) = match action {
        QuestionAction::Pin => (columns! { pinned_at: now }, "question.pin"),
        QuestionAction::Unpin => (columns! { pinned_at: never }, "question.unpin"),
        QuestionAction::Hide => (columns! { hidden_at: now }, "question.hide"),
        QuestionAction::Show => (columns! { hidden_at: never }, "question.show"),
    };
    let benchmark = &seen.benchmark.id;
    let mut tx = app.store.begin().await?;
    tx.lock("benchmark", benchmark).await?;
    if action == QuestionAction::Pin {
        if question.answers.is_some() {
            return Err(fault!(CONFLICT, "answer", "Only questions can be pinned."));
        }
        let others =
            "SELECT COUNT(*) FROM question WHERE benchmark = $1 AND pinned_at IS NOT NULL AND id <> $2";
        let others: i64 = tx.fetch_one(others, args![benchmark, &question.id]).await?;
        if others >= PINNED {
            return Err(fault!(CONFLICT, "pinned", "A benchmark can have {} pinned questions.", PINNED));
        }
    }
    tx.change_row("question", &question.id, row).await?;
    if action == QuestionAction::Hide {
        outbox::take_back(&mut tx, &question.id).await?;
    }
    notes::note(&mut tx, Some(&by.id), word, benchmark, json!({ "question": question.id })).await?;
    Ok(tx.commit().await?)
}
