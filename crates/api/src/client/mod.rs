//! Submits results to an evaluation server, and follows them until they have scores.
//!
//! A file's form is checked before it is sent. Faults that only the server can find, such as missing images, are
//! reported before the submission counts.

#![warn(missing_docs)]

mod connection;
mod error;
mod results;
mod worker;

use std::ops::{ControlFlow, Deref};
use std::time::{Duration, Instant};

use capeval_choice::{Argument, Refusal, Remedy};
use serde::Deserialize;
use serde_json::Value;

use crate::{Benchmarks, Column, Open, Phase, Report, SubmissionState};

pub use error::{Error, Kind};
pub use results::Results;

use connection::Connection;

/// The pause before the state of a submission is asked for the first time; it grows to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The longest time between two questions.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The longest silence of a server that starts again.
const SILENCE: Duration = Duration::from_secs(60);

/// The header of results.
const BYTES: (&str, &str) = ("content-type", "application/octet-stream");

/// An evaluation server, with the token of an account.
pub struct Server(Connection);

/// The description of results.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The name of the method.
    pub method: &'a str,
    /// The description for the board.
    pub description: Option<&'a str>,
    /// Its authors.
    pub authors: Option<&'a str>,
    /// The address of a paper or a page.
    pub link: Option<&'a str>,
    /// The address of the code.
    pub code: Option<&'a str>,
    /// Words by which people find it.
    pub tags: &'a [String],
    /// The entries in the columns that hosts define, by their keys.
    pub columns: &'a [(String, String)],
    /// The team, for people in several.
    pub team: Option<&'a str>,
}

/// Submitted results.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The part of the server's answer that this version knows.
    known: crate::Submission,
    /// True if the same captions were submitted before, so nothing was counted.
    pub is_repeated: bool,
    /// All that the server says.
    pub all: Value,
}

impl Submission {
    fn of(all: Value) -> Result<Self, Error> {
        let known = crate::Submission::deserialize(&all).map_err(|_| error::unexpected())?;
        Ok(Self { known, is_repeated: false, all })
    }

    /// Returns true if its state can still change.
    pub fn is_open(&self) -> bool {
        self.state.known().is_some_and(SubmissionState::is_open)
    }
}

impl Deref for Submission {
    type Target = crate::Submission;

    fn deref(&self) -> &crate::Submission {
        &self.known
    }
}

impl About<'_> {
    /// Checks that it fills in the columns that a phase requires, and no others than the phase has, before results are
    /// sent.
    fn fit(&self, phase: &Phase) -> Result<(), Error> {
        let is_given =
            |key: &str| self.columns.iter().any(|(given, value)| given == key && !value.is_empty());
        let lacking: Vec<&str> = phase
            .columns
            .iter()
            .filter(|column| column.required && !is_given(&column.key))
            .map(|column| column.key.as_str())
            .collect();
        let unknown =
            self.columns.iter().find(|(key, _)| phase.columns.iter().all(|column| column.key != *key));
        let what = match (&lacking[..], unknown) {
            ([], None) => return Ok(()),
            ([], Some((key, _))) => format!("{} has no column '{key}'", phase.path()),
            (lacking, _) => format!("{} requires the columns {}", phase.path(), lacking.join(", ")),
        };
        let remedy = match phase.columns.is_empty() {
            true => Remedy::omit(Argument::Columns),
            false => {
                let described: Vec<String> = phase.columns.iter().map(described).collect();
                Remedy::give(Argument::Columns).to(format!("fill in: {}", described.join("; ")))
            }
        };
        Err(Error::new(Kind::Refused, Refusal::new(what).with_remedy(remedy)))
    }
}

/// A column with what it takes, such as `parameters (a number, M)`.
fn described(column: &Column) -> String {
    let takes = match column.choices.is_empty() {
        true => match &column.kind {
            Open::Known(kind) => kind.summary().to_owned(),
            Open::New(name) => name.clone(),
        },
        false => column.choices.join(" | "),
    };
    let unit = if column.unit.is_empty() { String::new() } else { format!(", {}", column.unit) };
    format!("{} ({takes}{unit})", column.key)
}

impl Server {
    /// A server at `address`, such as `https://captions.example.org`.
    pub fn new(address: &str, token: &str) -> Result<Self, Error> {
        Connection::new(address, token).map(Self)
    }

    /// Returns true if the token is sent over the network without TLS.
    pub fn is_in_clear(&self) -> bool {
        self.0.is_in_clear()
    }

    /// The phase that a user calls `name`: `benchmark/phase`, an id, or the name of the phase if only one benchmark has
    /// such a phase.
    pub fn phase(&self, name: &str) -> Result<Phase, Error> {
        let list: Benchmarks = self.0.get("/api/v1/benchmarks")?;
        let phases: Vec<Phase> = list.benchmarks.into_iter().flat_map(|benchmark| benchmark.phases).collect();
        let name = name.trim_matches('/');
        let exact = phases.iter().find(|phase| phase.id == name || phase.path() == name);
        let mut named = phases.iter().filter(|phase| phase.phase == name);
        match (exact, named.next(), named.next()) {
            (Some(phase), ..) | (None, Some(phase), None) => Ok(phase.clone()),
            (None, first, _) => {
                let what = if first.is_some() { "several phases are" } else { "no phase is" };
                let choices = match phases.is_empty() {
                    true => "this account sees no benchmark on this server".to_owned(),
                    false => phases.iter().map(Phase::path).collect::<Vec<_>>().join(", "),
                };
                let refusal = Refusal::new(format!("{what} called '{name}'"));
                let remedy = Remedy::give(Argument::Phase).to(format!("name one of: {choices}"));
                Err(Error::new(Kind::Refused, refusal.with_remedy(remedy)))
            }
        }
    }

    /// Has the server check results without submitting them.
    pub fn check(&self, phase: &Phase, results: &Results) -> Result<(), Error> {
        let report =
            self.0.post(&format!("/api/v1/phases/{}/validate", phase.id), results.bytes(), &[BYTES])?;
        let report = Report::deserialize(report).map_err(|_| error::unexpected())?;
        if report.is_valid { Ok(()) } else { Err(error::invalid(&report)) }
    }

    /// Submits results. A request whose answer is lost is sent again and counted once.
    pub fn submit(&self, phase: &Phase, results: &Results, about: &About<'_>) -> Result<Submission, Error> {
        if !phase.is_open {
            let reason =
                phase.refusal.as_deref().unwrap_or("The server gives no reason").trim_end_matches('.');
            let text = format!("{} takes no submissions now: {reason}", phase.path());
            return Err(Error::new(Kind::Refused, Refusal::new(text)));
        }
        about.fit(phase)?;
        let team = about.team.map(|name| self.team(name)).transpose()?;
        let tags = Some(about.tags.join(",")).filter(|tags| !tags.is_empty());
        let given = [
            ("description", about.description),
            ("authors", about.authors),
            ("link", about.link),
            ("code", about.code),
            ("tags", tags.as_deref()),
            ("team", team.as_deref()),
        ];
        let mut path =
            format!("/api/v1/phases/{}/submissions?method={}", phase.id, connection::encode(about.method));
        for (name, value) in given {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", connection::encode(value)));
            }
        }
        for (key, value) in about.columns {
            path.push_str(&format!("&column.{}={}", connection::encode(key), connection::encode(value)));
        }
        let key = connection::random_key();
        let answer = self.0.post(&path, results.bytes(), &[BYTES, ("idempotency-key", &key)]);
        let (all, is_repeated) = match answer {
            Err(Error { same: Some(earlier), .. }) => (*earlier, true),
            answer => (answer?, false),
        };
        Ok(Submission { is_repeated, ..Submission::of(all)? })
    }

    /// The id of the team that a user calls `name`, by its name or its id.
    fn team(&self, name: &str) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct List {
            teams: Vec<Team>,
        }
        #[derive(Deserialize)]
        struct Team {
            id: String,
            name: String,
        }
        let List { teams } = self.0.get("/api/v1/teams")?;
        let found = teams.iter().find(|team| team.id == name || team.name == name);
        found.map(|team| team.id.clone()).ok_or_else(|| {
            let refusal = Refusal::new(format!("you are in no team called '{name}'"));
            let remedy = match teams.is_empty() {
                true => Remedy::omit(Argument::Team),
                false => {
                    let names = teams.iter().map(|team| team.name.as_str()).collect::<Vec<_>>().join(", ");
                    Remedy::give(Argument::Team).to(format!("name one of: {names}"))
                }
            };
            Error::new(Kind::Refused, refusal.with_remedy(remedy))
        })
    }

    /// Follows a submission until its state cannot change any more, or `watch`, which gets each state, breaks. A server
    /// that restarts is waited for.
    pub fn follow(
        &self,
        mut submission: Submission,
        watch: &mut dyn FnMut(&Submission) -> ControlFlow<()>,
    ) -> Result<Submission, Error> {
        let mut pause = FIRST_PAUSE;
        let mut heard = Instant::now();
        while submission.is_open() && watch(&submission).is_continue() {
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
            let all = match self.0.get(&format!("/api/v1/submissions/{}", submission.id)) {
                Err(error) if error.kind == Kind::Connection && heard.elapsed() < SILENCE => continue,
                answer => answer?,
            };
            heard = Instant::now();
            submission = Submission { is_repeated: submission.is_repeated, ..Submission::of(all)? };
        }
        Ok(submission)
    }
}
