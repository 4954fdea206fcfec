//! The choices that pages show: their summaries are sentences, which `locales` translates.

use crate::accounts::Role;
use crate::benchmarks::records::{BoardKind, Visibility};
use crate::benchmarks::validation::Kind;
use crate::collections::records::ReleaseAccess;
use crate::collections::rules::reports::ReportReason;
use crate::collections::rules::states::{CaptionState, CollectionState, ImageState};
use crate::web::Shown;

macro_rules! shown {
    ($($choice:ty),+ $(,)?) => {
        $(impl Shown for $choice {
            fn words(&self) -> &'static str {
                self.summary()
            }
        })+

        /// The sentences of all these choices, for the test that each has a translation.
        #[cfg(test)]
        pub fn sentences() -> Vec<&'static str> {
            [$(<$choice>::ALL.iter().map(Shown::words).collect::<Vec<_>>()),+].concat()
        }
    };
}

shown![
    BoardKind,
    CaptionState,
    CollectionState,
    ImageState,
    Kind,
    ReleaseAccess,
    ReportReason,
    Role,
    Visibility,
];
