//! The words of states and reasons, for the table of languages.

use super::records::{Collection, ReleaseAccess};
use super::rules::reports::ReportReason;
use super::rules::states::{CaptionState, CollectionState, ImageState};
use crate::benchmarks::records::Visibility;
use crate::web::language::say;

/// What has a name in the language of a page.
pub trait InWords {
    /// The name in English, for the table of languages.
    fn in_words(&self) -> &'static str;
}

impl InWords for Visibility {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Public => say("everybody"),
            Self::Registered => say("people with an account"),
            Self::Hidden => say("hosts and moderators"),
        }
    }
}

impl InWords for ReleaseAccess {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Contributors => say("people with accepted contributions"),
            Self::Everybody => say("everybody who sees the collection"),
        }
    }
}

impl InWords for CollectionState {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Open => say("open"),
            Self::Paused => say("paused"),
            Self::Closed => say("closed"),
        }
    }
}

impl Collection {
    /// Its state, for the table of languages.
    pub fn state_in_words(&self) -> &'static str {
        self.state.in_words()
    }
}

impl InWords for ImageState {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Processing => say("being processed"),
            Self::Pending => say("waits for a moderator"),
            Self::Open => say("being described"),
            Self::Complete => say("complete"),
            Self::Rejected => say("refused"),
            Self::Quarantined => say("reported, and hidden for now"),
            Self::Withdrawn => say("withdrawn"),
        }
    }
}

impl InWords for CaptionState {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Submitted => say("waits for ratings"),
            Self::Accepted => say("accepted"),
            Self::Rejected => say("refused"),
            Self::Split => say("waits for a moderator"),
            Self::Quarantined => say("reported, and hidden for now"),
            Self::Withdrawn => say("withdrawn"),
        }
    }
}

impl InWords for ReportReason {
    fn in_words(&self) -> &'static str {
        match self {
            Self::Spam => say("Spam or advertising"),
            Self::Offensive => say("Offensive"),
            Self::PersonalData => say("Personal data, such as names or chat of players"),
            Self::Copyright => say("Copyright"),
            Self::MachineMade => say("Made by a machine"),
            Self::Other => say("Another reason"),
        }
    }
}
