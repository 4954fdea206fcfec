//! Choices in words: their summaries are sentences of pages, which each feature of the site translates.

use crate::{
    Admission, BoardKind, CollectionState, ColumnKind, EvaluationState, FinalRule, Half, ImageState, Open,
    PerImage, ProblemKind, ReleaseAccess, ReportReason, RequestState, Role, SkipReason, SubmissionState,
    Visibility,
};

/// A choice that pages show in words.
pub trait Label {
    /// The meaning of the choice, in English.
    fn words(&self) -> &'static str;
}

impl<T: Label> Label for &T {
    fn words(&self) -> &'static str {
        T::words(self)
    }
}

impl<T: Label + Copy> Label for Open<T> {
    fn words(&self) -> &'static str {
        // What this server sends, it knows.
        self.known().map_or("", |choice| choice.words())
    }
}

/// Makes labels of choices, and `label_words()`, the words of all of them, for the test that each has a translation.
#[macro_export]
macro_rules! labels {
    ($($choice:ty),+ $(,)?) => {
        $(impl $crate::Label for $choice {
            fn words(&self) -> &'static str {
                self.summary()
            }
        })+

        /// The words of all choices that pages show.
        pub fn label_words() -> Vec<&'static str> {
            [$(<$choice>::ALL.iter().map($crate::Label::words).collect::<Vec<_>>()),+].concat()
        }
    };
}

labels![
    Admission,
    BoardKind,
    CollectionState,
    ColumnKind,
    EvaluationState,
    FinalRule,
    Half,
    ImageState,
    PerImage,
    ProblemKind,
    ReleaseAccess,
    ReportReason,
    RequestState,
    Role,
    SkipReason,
    SubmissionState,
    Visibility,
];
