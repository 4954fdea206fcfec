//! The choices that pages show: their summaries are sentences, which `locales` translates.

use capeval_api::{BoardKind, EvaluationState, Open, ProblemKind, SubmissionState};

use crate::accounts::Role;
use crate::benchmarks::records::Visibility;
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
    EvaluationState,
    ImageState,
    ProblemKind,
    ReleaseAccess,
    ReportReason,
    Role,
    SubmissionState,
    Visibility,
];

impl<T: Shown + Copy> Shown for Open<T> {
    fn words(&self) -> &'static str {
        // What this server sends, it knows.
        self.known().map_or("", |choice| choice.words())
    }
}
