//! The choices that pages show: their summaries are sentences, which `locales` translates.

use capeval_api::{
    BoardKind, CollectionState, ColumnKind, EvaluationState, ImageState, Open, PerImage, ProblemKind,
    ReleaseAccess, ReportReason, RequestState, SkipReason, SubmissionState, Visibility,
};

use crate::accounts::Role;
use crate::collections::Refusal;
use crate::collections::import::Reason;
use crate::collections::import::records::ImportState;
use crate::collections::release::records::ReleaseState;
use crate::collections::rules::acceptance::Mistake;
use crate::collections::rules::states::CaptionState;
use crate::web::Label;

macro_rules! shown {
    ($($choice:ty),+ $(,)?) => {
        $(impl Label for $choice {
            fn words(&self) -> &'static str {
                self.summary()
            }
        })+

        /// The sentences of all these choices, for the test that each has a translation.
        #[cfg(test)]
        pub fn sentences() -> Vec<&'static str> {
            [$(<$choice>::ALL.iter().map(Label::words).collect::<Vec<_>>()),+].concat()
        }
    };
}

shown![
    BoardKind,
    CaptionState,
    CollectionState,
    ColumnKind,
    EvaluationState,
    ImageState,
    ImportState,
    Mistake,
    PerImage,
    ProblemKind,
    Reason,
    Refusal,
    ReleaseAccess,
    ReleaseState,
    ReportReason,
    RequestState,
    Role,
    SkipReason,
    SubmissionState,
    Visibility,
];

impl<T: Label + Copy> Label for Open<T> {
    fn words(&self) -> &'static str {
        // What this server sends, it knows.
        self.known().map_or("", |choice| choice.words())
    }
}
