//! Refusals and failures, as data that pages and programs are told in their own form.

use std::fmt::Display;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use capeval_api::Details;

use crate::retryable::{is_retryable, lacks_space};
use crate::web::language::Language;

/// The seconds after which to try again when the database is away.
const AWAY: i64 = 10;

/// The reason why a request was refused, or the failure.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The status of the answer.
    pub status: StatusCode,
    /// A name for programs, such as `quota-used`.
    pub code: &'static str,
    /// The sentence for people in English, with `{}` for each argument; the table of languages has its translation.
    pub message: &'static str,
    /// The arguments of the message.
    pub args: Vec<String>,
    /// True if the last argument is a reason.
    has_reason: bool,
    /// The seconds to wait before another try.
    pub retry_after: Option<i64>,
    /// More for programs, such as a report.
    pub more: Option<Box<Details>>,
    /// True if its cause passes by itself.
    pub is_retryable: bool,
    /// The failure in the server, which visitors do not see.
    pub cause: Option<String>,
}

/// A result whose error is a [`Fault`], unless it says otherwise.
pub type Result<T, E = Fault> = std::result::Result<T, E>;

/// Builds a [`Fault`] from a status, a code, a message and its arguments.
#[macro_export]
macro_rules! fault {
    ($status:ident, $code:literal, $message:literal $(, $argument:expr)* $(,)?) => {
        $crate::fault::Fault::new(axum::http::StatusCode::$status, $code, $message)$(.arg($argument))*
    };
}

impl Fault {
    /// A fault without arguments; [`fault!`](crate::fault!) is shorter.
    pub fn new(status: StatusCode, code: &'static str, message: &'static str) -> Self {
        Self {
            status,
            code,
            message,
            args: Vec::new(),
            has_reason: false,
            retry_after: None,
            more: None,
            is_retryable: false,
            cause: None,
        }
    }

    /// Adds an argument of the message.
    pub fn arg(mut self, argument: impl Display) -> Self {
        self.args.push(argument.to_string());
        self
    }

    /// Adds a reason as the last argument of the message.
    pub fn because(self, reason: impl Display) -> Self {
        Self { has_reason: true, ..self.arg(reason) }
    }

    /// Itself as a sentence.
    pub fn sentence(&self, language: Language) -> String {
        let mut args = self.args.clone();
        if let Some(reason) = args.last_mut().filter(|_| self.has_reason) {
            *reason = language.reason(reason);
        }
        language.fill(self.message, &args)
    }

    /// Says how many seconds to wait.
    pub fn retry_after(self, seconds: i64) -> Self {
        Self { retry_after: Some(seconds.max(1)), ..self }
    }

    /// Adds more for programs.
    pub fn more(self, more: Details) -> Self {
        Self { more: Some(Box::new(more)), ..self }
    }

    /// Says that it passes by itself.
    pub fn retryable(self) -> Self {
        Self { is_retryable: true, ..self }
    }

    /// There is nothing here, or nothing that the visitor may know of.
    pub fn not_found() -> Self {
        fault!(NOT_FOUND, "not-found", "This page does not exist, or you do not have access to it.")
    }

    /// The request cannot be read.
    pub fn bad_request() -> Self {
        fault!(BAD_REQUEST, "bad-request", "The request is incomplete or malformed.")
    }

    /// The request cannot be read, for a reason that names the field or the place.
    pub fn malformed(reason: &dyn Display) -> Self {
        fault!(BAD_REQUEST, "bad-request", "The request is incomplete or malformed: {}", reason)
    }

    /// A person has contributed something since their contributions were withdrawn.
    pub fn still_contributing() -> Self {
        fault!(CONFLICT, "still-contributing", "New contributions arrived. Please try again.").retryable()
    }

    /// The database does not answer, or it or files cannot be written.
    pub fn unavailable() -> Self {
        fault! {
            SERVICE_UNAVAILABLE, "unavailable",
            "The server cannot reach or change its data at the moment. Please try again in a minute."
        }
        .retry_after(AWAY)
        .retryable()
    }

    /// A failure of the server, whose cause is logged and not shown.
    pub fn internal(cause: &dyn Display) -> Self {
        tracing::error!(cause = %cause, "a request failed");
        let fault =
            fault!(INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side. Please try again.");
        Self { cause: Some(cause.to_string()), ..fault }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence(Language::English))
    }
}

impl std::error::Error for Fault {}

/// The answer has no body; [`finish_response`](crate::web::middleware::finish_response) writes it as a page or as JSON.
impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

impl Fault {
    /// The fault of an error. The cause is in words.
    fn caused_by(error: &(dyn std::error::Error + 'static), cause: &dyn Display) -> Self {
        let internal = Self::internal(cause);
        match lacks_space(error) {
            true => Self { cause: internal.cause, ..Self::unavailable() },
            false => Self { is_retryable: is_retryable(error), ..internal },
        }
    }
}

/// Lets something be read although what is noted beside it cannot be written now.
pub fn beside_reading<E: Into<Fault>>(noted: Result<(), E>) -> Result<()> {
    match noted.map_err(Into::into) {
        Err(fault) if fault.is_retryable => {
            tracing::warn!(%fault, "what was read cannot be noted");
            Ok(())
        }
        noted => noted,
    }
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        Self::caused_by(error.as_ref(), &format_args!("{error:#}"))
    }
}

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::caused_by(&error, &format_args!("{error:#}"))
            }
        }
    )*};
}

failures!(askama::Error, serde_json::Error, std::io::Error, tokio::task::JoinError);

impl From<crate::store::Error> for Fault {
    fn from(error: crate::store::Error) -> Self {
        if crate::store::is_duplicate(&error) {
            return fault! {
                CONFLICT, "at-once",
                "Someone else has just saved the same. Load the page again, and try once more."
            }
            .retryable();
        }
        let internal = Self::internal(&format_args!("{error:#}"));
        if is_retryable(&error) { Self { cause: internal.cause, ..Self::unavailable() } } else { internal }
    }
}
