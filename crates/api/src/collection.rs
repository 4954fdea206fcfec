//! Collections: pictures, captions and ratings that people contribute.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, Time, describe_choices};

named! {
    /// The state of a collection, which says if it takes contributions.
    pub enum CollectionState ("state of a collection") {
        Open = "open", "open";
        Paused = "paused", "paused";
        Closed = "closed", "closed";
    }
}

named! {
    /// The people who may download releases.
    pub enum ReleaseAccess ("access to releases") {
        Contributors = "contributors", "people with accepted contributions";
        Everyone = "everybody", "everyone who can see the collection";
    }
}

named! {
    /// The state of a picture.
    pub enum ImageState ("state of a picture") {
        Processing = "processing", "being processed";
        Pending = "pending", "waiting for a moderator";
        Open = "open", "being described";
        Complete = "complete", "complete";
        Rejected = "rejected", "rejected";
        Quarantined = "quarantined", "reported and hidden for now";
        Withdrawn = "withdrawn", "withdrawn";
    }
}

named! {
    /// The reason why a person skips a picture.
    pub enum SkipReason ("reason to skip") {
        Unclear = "unclear", "I do not understand it";
        Language = "language", "I cannot say it in this language";
        Unpleasant = "unpleasant", "I would rather not look at it";
        Other = "other", "Other reason";
    }
}

named! {
    /// The reason why a person reports a picture or a caption.
    pub enum ReportReason ("reason of a report") {
        Spam = "spam", "Spam or advertising";
        Offensive = "offensive", "Offensive";
        PersonalData = "personal-data", "Personal data, such as player names or chat";
        Copyright = "copyright", "Copyright";
        MachineMade = "machine-made", "Machine-generated";
        Other = "other", "Other reason";
    }
}

named! {
    /// The kinds of contributions that a person can report.
    pub enum ReportedKind ("kind of contribution") {
        Image = "image", "a picture";
        Caption = "caption", "a caption";
    }
}

describe_choices!(
    CollectionState: "CollectionState",
    ReleaseAccess: "ReleaseAccess",
    ImageState: "ImageState",
    SkipReason: "SkipReason",
    ReportReason: "ReportReason",
    ReportedKind: "ReportedKind",
);

impl ImageState {
    /// Returns true if people who take part may see it.
    pub fn is_public(self) -> bool {
        matches!(self, Self::Open | Self::Complete)
    }
}

/// All collections that the account may see, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Collections {
    pub collections: Vec<Collection>,
}

/// A collection and its progress.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Collection {
    /// The name in addresses.
    pub slug: String,
    pub title: String,
    pub summary: String,
    pub state: Open<CollectionState>,
    /// The languages of captions.
    pub languages: Vec<String>,
    /// The licences that uploaders choose from.
    pub licences: Vec<String>,
    /// The accepted captions, by different people, that each picture is to have, in all languages.
    pub captions_per_picture: u32,
    /// The number of complete pictures that is the goal, which progress shows; the largest, if languages have their
    /// own. Reaching it ends nothing.
    pub target: u32,
    /// The goals of each language, if each is complete by itself; empty if captions of all count together.
    #[serde(default)]
    pub goals: Vec<LanguageGoal>,
    pub releases: Open<ReleaseAccess>,
    /// The pictures that people may describe, with the complete ones.
    pub pictures: i64,
    /// The pictures with all captions.
    pub complete: i64,
    pub accepted_captions: i64,
    /// The captions that wait for ratings.
    pub waiting_captions: i64,
}

/// The goal of a language of a collection, and its progress.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LanguageGoal {
    pub language: String,
    /// The accepted captions in this language that each picture is to have.
    pub captions_per_picture: u32,
    /// The number of pictures with all captions in this language that ends it.
    pub target: u32,
    /// The pictures with all captions in this language.
    pub complete: i64,
    pub accepted_captions: i64,
}

/// The progress of a picture in a language.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PictureLanguage {
    pub language: String,
    pub accepted_captions: i64,
    pub captions_per_picture: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pictures {
    pub pictures: Vec<Picture>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    pub id: String,
    pub state: Open<ImageState>,
    /// The reason why it was rejected.
    pub reason: Option<String>,
    /// True if the account has uploaded it.
    pub own: bool,
    pub game: String,
    pub platform: String,
    pub licence: String,
    pub width: i64,
    pub height: i64,
    /// In all languages.
    pub accepted_captions: i64,
    /// In all languages.
    pub captions_per_picture: i64,
    /// Its progress in each language, if each is complete by itself; otherwise empty.
    #[serde(default)]
    pub languages: Vec<PictureLanguage>,
    /// The path of the file.
    pub file: String,
}

/// The result of an upload, file by file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UploadedPictures {
    pub pictures: Vec<UploadedPicture>,
}

/// A file of an upload: the picture that came of it, or why it was not accepted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UploadedPicture {
    /// The name of the file.
    pub name: String,
    /// The id of the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The code of the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The problem as a sentence in a language of Accept-Language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The picture that is reserved for the account.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToDescribe {
    /// `null` if there is none to describe.
    pub picture: Option<Picture>,
    /// The draft of a caption that the account has saved.
    pub draft: Option<String>,
    /// The language for which it is reserved; `null` if captions of all languages count together.
    #[serde(default)]
    pub language: Option<String>,
    pub reserved_until: Option<Time>,
}

/// The language in which the account describes the next picture.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DescribeIn {
    /// One of the languages of the collection; if it is empty, the one of the reserved picture, or one with pictures.
    pub language: String,
}

/// A caption of the account's own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewCaption {
    /// The id of the picture.
    pub image: String,
    pub text: String,
    /// One of the languages of the collection; the first one that fits if it is empty.
    #[serde(default)]
    pub language: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedCaption {
    pub id: String,
}

/// A picture that the account will not be given again.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Skip {
    /// The id of the picture.
    pub image: String,
    pub reason: SkipReason,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToRate {
    /// `null` if there is none to rate.
    pub caption: Option<CaptionToRate>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CaptionToRate {
    /// The id to use in a rating.
    pub item: String,
    pub picture: PictureFile,
    pub language: String,
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PictureFile {
    pub id: String,
    /// The path of the file.
    pub file: String,
}

/// A rating of the caption that was given last.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewRating {
    /// The `item` of the caption.
    pub item: String,
    /// From 1, unrelated to the picture, to 4, without errors.
    pub grade: i64,
    /// The kinds of errors that the caption has; unknown ones are ignored.
    #[serde(default)]
    pub errors: Vec<String>,
}

/// A rating was stored.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedRating {}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewReport {
    pub kind: ReportedKind,
    /// The id of what is reported.
    pub subject: String,
    pub reason: ReportReason,
    #[serde(default)]
    pub note: String,
    /// The page that a form leads to.
    #[serde(default)]
    pub to: String,
}
