//! Refusals of the server, and failures on the way to it, in words.

use std::fmt;

use capeval_choice::{Argument, Refusal, Remedy};
use serde::Deserialize;
use serde_json::Value;

use crate::{Open, Problem, ProblemKind, Problems, Report};

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The server cannot be reached, or does not work.
    Connection,
    /// The token is not valid, or does not allow this.
    Denied,
    /// The request or the results are refused.
    Refused,
}

/// The reason why results could not be submitted.
#[derive(Debug)]
pub struct Error {
    /// The kind.
    pub kind: Kind,
    /// The fault, with its remedy.
    pub refusal: Refusal,
    /// The seconds after which the server would accept the request.
    pub(crate) wait: Option<u64>,
    /// The earlier submission of the same captions.
    pub(crate) same: Option<Box<Value>>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn new(kind: Kind, refusal: Refusal) -> Self {
        Self { kind, refusal, wait: None, same: None }
    }
}

/// An answer that a server of another version may give.
pub(crate) fn unexpected() -> Error {
    let refusal = Refusal::new("unexpected response; this client may be too old for the server");
    Error::new(Kind::Connection, refusal.with_remedy("update capeval"))
}

/// Results that cannot be scored, with what the report of the server lists.
pub(crate) fn invalid(report: &Report) -> Error {
    let mut parts: Vec<String> = report.unreadable.iter().cloned().collect();
    for Problems { kind, count, first } in &report.problems {
        let more = if first.len() < *count { ", …" } else { "" };
        parts.push(format!("{count} {}: {}{more}", in_words(kind), first.join(", ")));
    }
    let refusal = Refusal::new(format!("the results cannot be scored: {}", parts.join("; ")));
    Error::new(
        Kind::Refused,
        refusal.with_remedy("correct the file and submit it again; nothing was counted"),
    )
}

/// The meaning of a kind of problem in a report.
fn in_words(kind: &Open<ProblemKind>) -> String {
    let words = match kind {
        Open::Known(ProblemKind::Missing) => "images have no caption",
        Open::Known(ProblemKind::Unknown) => "captions are of images that are not in this phase",
        Open::Known(ProblemKind::Duplicate) => "images have more than one caption",
        Open::Known(ProblemKind::Empty) => "captions are empty",
        Open::Known(ProblemKind::TooLong) => "captions are too long",
        Open::Known(ProblemKind::NotText) => "captions are not text",
        Open::Known(ProblemKind::BadId) => "ids are neither whole numbers nor text",
        Open::Known(ProblemKind::NotAnObject) => "items are not objects with image_id and caption",
        Open::New(name) => return name.replace('-', " "),
    };
    words.to_owned()
}

/// The error of an answer with a status of 400 or more, whose body is a problem if it is one of an evaluation server.
pub(crate) fn of_answer(base: &str, status: u16, body: Option<&Value>, wait: Option<u64>) -> Error {
    let Some(problem) = body.and_then(|body| Problem::deserialize(body).ok()) else {
        let refusal = match status {
            500.. => Refusal::new(format!("{base} is not working at the moment (status {status})"))
                .with_remedy("try again later"),
            _ => Refusal::new(format!("{base} is not an evaluation server (status {status})"))
                .with_remedy(Remedy::give(Argument::To).to("name the address of the server")),
        };
        return Error::new(Kind::Connection, refusal);
    };
    let detail = problem.detail.trim_end_matches(['.', '。']);
    let refused = Refusal::new(format!("the server rejected the request: {detail}"));
    let account = format!("{base}/account");
    let (kind, refusal) = match (status, problem.code.as_str()) {
        (401, _) => (
            Kind::Denied,
            Refusal::new("the server does not know this token")
                .with_remedy(Remedy::give(Argument::Token).to(format!("use a token created at {account}"))),
        ),
        (403, "scope") => (
            Kind::Denied,
            Refusal::new("this token does not allow submitting results")
                .with_remedy(format!("create a token with the scope `submit` at {account}")),
        ),
        (403, _) => (Kind::Denied, refused),
        (404, _) => (
            Kind::Refused,
            Refusal::new("the server has no such phase or submission, or your account may not see it"),
        ),
        (422, "invalid") => return invalid(&problem.more.report.unwrap_or_default()),
        (429, _) => {
            let remedy =
                wait.map_or("try again later".to_owned(), |wait| format!("try again in {}", duration(wait)));
            (Kind::Refused, refused.with_remedy(remedy))
        }
        (500.., _) => {
            let text = format!("the server failed; its log names the request {}", problem.request_id);
            (
                Kind::Connection,
                Refusal::new(text).with_remedy("try again, or tell the organisers this number"),
            )
        }
        _ => (Kind::Refused, refused),
    };
    // As the server says it, with what this version does not know.
    let same = problem.more.submission.and(body).map(|body| Box::new(body["submission"].clone()));
    Error { wait, same, ..Error::new(kind, refusal) }
}

/// A number of seconds in words.
fn duration(seconds: u64) -> String {
    let plural = |n: u64, unit: &str| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0) => plural(seconds, "second"),
        (0, minutes) => plural(minutes + u64::from(!seconds.is_multiple_of(60)), "minute"),
        (hours, minutes) => format!("{} and {}", plural(hours, "hour"), plural(minutes, "minute")),
    }
}

/// The error of a request without an answer.
pub(crate) fn of_connection(base: &str, error: &ureq::Error) -> Error {
    use std::io::ErrorKind;
    let address = || Remedy::give(Argument::To).to("name another address");
    let (what, remedy) = match error {
        ureq::Error::HostNotFound => ("unknown host".to_owned(), address()),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => {
            ("connection refused".to_owned(), address())
        }
        ureq::Error::Io(error) if is_tls(error) => (
            format!("the connection is not trusted: {error}"),
            Remedy::say("check the address, or tell the organisers"),
        ),
        ureq::Error::Rustls(error) => (
            format!("the connection is not trusted: {error}"),
            Remedy::say("check the address, or tell the organisers"),
        ),
        ureq::Error::Timeout(_) => ("timed out".to_owned(), Remedy::say("try again later")),
        other => (other.to_string(), Remedy::say("try again later")),
    };
    Error::new(Kind::Connection, Refusal::new(format!("cannot reach {base}: {what}")).with_remedy(remedy))
}

/// Returns true if an error of a connection is one of TLS in disguise.
fn is_tls(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::InvalidData
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(status: u16, problem: &Value, wait: Option<u64>) -> (Kind, String, String) {
        let error = of_answer("https://c.example", status, Some(problem), wait);
        let remedy = error.refusal.remedy().map(ToString::to_string).unwrap_or_default();
        (error.kind, error.to_string(), remedy)
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let of = |code: &str, detail: &str| {
            let (title, kind) = ("Refused", "about:blank");
            json!({
                "type": kind, "title": title, "status": 400, "code": code, "detail": detail, "request_id": "7",
            })
        };
        let (kind, text, remedy) = words(401, &of("token", "Send a valid token."), None);
        assert_eq!((kind, text.as_str()), (Kind::Denied, "the server does not know this token"));
        assert!(remedy.contains("https://c.example/account"), "{remedy}");
        assert!(words(403, &of("scope", ""), None).2.contains("the scope `submit`"));
        assert_eq!(words(404, &of("not-found", ""), None).0, Kind::Refused);
        let (_, text, remedy) =
            words(429, &of("day-used", "Your team has used its 5 submissions of today."), Some(7260));
        assert_eq!(text, "the server rejected the request: Your team has used its 5 submissions of today");
        assert_eq!(remedy, "try again in 2 hours and 1 minute");
        assert!(words(500, &of("internal", ""), None).1.contains("the request 7"));
        let report = json!({ "unreadable": null, "problems": [
            { "kind": "missing", "count": 21, "first": ["1", "2"] }, { "kind": "new-kind", "count": 1, "first": ["x"] },
        ] });
        let mut invalid = of("invalid", "");
        invalid["report"] = report;
        let (_, text, remedy) = words(422, &invalid, None);
        assert_eq!(text, "the results cannot be scored: 21 images have no caption: 1, 2, …; 1 new kind: x");
        assert!(remedy.contains("nothing was counted"));
        // A proxy, or another site.
        let proxy = of_answer("https://c.example", 502, None, None);
        assert_eq!(proxy.to_string(), "https://c.example is not working at the moment (status 502)");
        let other = of_answer("https://c.example", 404, Some(&json!({ "error": "x" })), None);
        assert!(other.to_string().contains("is not an evaluation server"));
    }

    #[test]
    fn durations_are_words() {
        let all = [1, 59, 60, 61, 3600, 7325].map(duration);
        assert_eq!(
            all,
            [
                "1 second",
                "59 seconds",
                "1 minute",
                "2 minutes",
                "1 hour and 0 minutes",
                "2 hours and 2 minutes"
            ]
        );
    }
}
