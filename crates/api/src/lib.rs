//! The JSON that the evaluation server and its programs exchange, as types: the server writes its answers and its
//! OpenAPI document from them, and the [`client`] (a feature) reads them.
//!
//! Comments on types and fields are the descriptions in the OpenAPI document. Older programs and servers know only the
//! fields of their time, so a field that is added later is an `Option`, none is removed, and a choice in an answer
//! is [`Open`] to new names.

#![allow(
    missing_docs,
    reason = "a comment that restates a name would only repeat it in the OpenAPI document"
)]

mod account;
mod admission;
mod announcement;
mod board;
#[cfg(feature = "client")]
pub mod client;
mod collection;
mod entry;
mod hosting;
mod judging;
mod label;
mod open;
mod organising;
mod paging;
mod phase;
mod problem;
mod question;
mod statistics;
mod submission;
mod team;
mod webhook;
mod worker;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

pub use account::{
    Account, AccountLink, Accounts, Contributions, CreatedToken, ManagedAccount, NewToken, Role, Scope,
    Token, Tokens,
};
pub use admission::{
    AcceptedTerms, Admission, AdmissionAnswer, NewParticipation, Participant, Participants, Participation,
    Terms,
};
pub use announcement::{Announcement, Announcements, CreatedAnnouncement, NewAnnouncement};
pub use board::{
    Board, BoardColumns, BoardRow, DisqualifiedSubmission, JudgedKind, JudgedSystem, Progress, ProgressPoint,
    RowAbove,
};
pub use collection::{
    AddedCaption, AddedRating, CaptionToRate, Collection, CollectionState, Collections, DescribeIn,
    ImageState, LanguageGoal, NewCaption, NewRating, NewReport, Picture, PictureFile, PictureLanguage,
    Pictures, ReleaseAccess, ReportReason, ReportedKind, Skip, SkipReason, ToDescribe, ToRate,
    UploadedPicture, UploadedPictures,
};
pub use entry::{
    About, AboutChange, BoardEntry, Cell, Cells, Column, ColumnKind, ComparedEntry, ComparedImage,
    ComparedImages, ComparedMeasure, ComparedPoint, ComparedSet, ComparisonState, EntryComparison, EntryPair,
    EntryScore, EntryScores, OtherScore, TeamSubmission,
};
pub use hosting::{
    AuditLog, AuditNote, Entries, Entry, Grant, HostedPhase, HostedSubmission, HostedSubmissions, Limits,
    Meter, Qualifier, Qualifiers, Reason, ScoreSet,
};
pub use judging::{EvaluationState, Judging, JudgingPlan, SystemMeasures};
pub use label::{Label, label_words};
pub use open::Open;
pub use organising::{DryRun, ImportedBenchmark, MeasureChoice, MetricChoice, MetricChoices, SuiteChoice};
pub use paging::Place;
pub use phase::{
    Benchmark, Benchmarks, BoardKind, FinalRule, Half, Halves, Measure, PerImage, Phase, PhaseFile,
    PhaseFiles, ReferenceSet, SetState, Visibility,
};
pub use problem::{Details, Flaw, Problem};
pub use question::{
    CreatedQuestion, NewQuestion, NewQuestionAnswer, Question, QuestionAction, QuestionAnswer,
    QuestionChange, QuestionThread, Questions,
};
pub use statistics::{Statistics, StatisticsCount, StatisticsDay};
pub use submission::{
    ImageResults, ImageResultsFiles, ImageResultsState, ProblemKind, Problems, Quota, Report, Scores,
    Submission, SubmissionKind, SubmissionState, Submissions,
};
pub use team::{
    CreatedRequest, CreatedTeam, JoinRequest, NewRequest, NewTeam, OwnRequest, OwnRequests, RequestState,
    Team, TeamInvitation, Teams,
};
pub use webhook::{CreatedWebhook, Delivery, NewWebhook, Webhook, Webhooks};
pub use worker::{Claim, FaultOf, GivenFailure, GivenScores, GivenValues, NewClaim, ScoringQueue};

/// A time in UTC, such as `2026-11-22T15:04:05Z`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub String);

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Describes enums of `named!` by the names and the summaries of their choices.
macro_rules! describe_choices {
    ($($type:ty: $name:literal),* $(,)?) => {$(
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let choices = Self::ALL.iter().map(|choice| {
                    serde_json::json!({ "const": choice.name(), "description": choice.summary() })
                });
                schemars::json_schema!({ "type": "string", "oneOf": choices.collect::<Vec<_>>() })
            }
        }
    )*};
}

use describe_choices;
