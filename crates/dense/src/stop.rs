//! Describes the places where a reference program stops with an exception.

use std::fmt;

use capeval_choice::Refusal;

use crate::SodaMetric;

/// The reason why a program gives no scores, or only some of them. A video that is named is the first such one.
#[derive(Clone, Debug)]
pub enum Stop {
    /// `ZeroDivisionError`: precision is divided by one less than the number of predictions.
    OnePrediction(String),
    /// `UnboundLocalError`: an empty list takes its divisor from the video before, and there is none.
    FirstEmpty(String),
    /// `ZeroDivisionError` in precision and recall, `ValueError` in SODA.
    NoEvents(String),
    /// `ValueError`: CIDEr takes the greatest of no document frequencies.
    BlankReferences(String),
    /// `IndexError`: the mean over no video.
    NoVideos,
    /// `ValueError`: METEOR is asked for the score of nothing; then the program hangs.
    EmptyList(String),
    /// `IOError`: the program requires these keys beside `results`.
    MissingKeys(Vec<&'static str>),
    /// `IndexError`: the last character of an empty text is asked for.
    BlankSentence(String),
    /// `ValueError`: in SODA, CIDEr takes the greatest of no document frequencies.
    BlankEvents(String),
    /// A metric cannot be built; not a stop of a program.
    NoScores(Refusal),
    /// SODA needs a metric that is not wanted; not a stop of a program.
    LeftOut(SodaMetric),
    /// More pairs of events in a video than can be matched in any reasonable time; not a stop of a program.
    TooManyEvents(String),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnePrediction(video) => write!(
                f,
                "{video} has one prediction, and this program divides precision by one less (ZeroDivisionError)"
            ),
            Self::FirstEmpty(video) => write!(
                f,
                "{video} has an empty list of predictions before any video with predictions, where this program stops \
                 (UnboundLocalError)"
            ),
            Self::NoEvents(video) => write!(
                f,
                "{video} has no events in a reference file, and this program divides by their number \
                 (ZeroDivisionError)"
            ),
            Self::BlankReferences(video) => write!(
                f,
                "no reference that the predictions of {video} are compared with has a word, where the program's CIDEr \
                 stops (ValueError)"
            ),
            Self::NoVideos => write!(
                f,
                "no video is in both the results and the references, and this program takes the mean of nothing \
                 (IndexError)"
            ),
            Self::EmptyList(video) => write!(
                f,
                "{video} has an empty list of predictions, with which SODA stops (ValueError) and then hangs"
            ),
            Self::MissingKeys(keys) => {
                write!(
                    f,
                    "the results have no {}, which this program requires (IOError)",
                    keys.join(" and no ")
                )
            }
            Self::BlankSentence(video) => {
                write!(f, "{video} has a caption without words, where this program stops (IndexError)")
            }
            Self::BlankEvents(video) => write!(
                f,
                "the captions of {video} that SODA takes for references have no word, where the program's CIDEr stops \
                 (ValueError)"
            ),
            Self::NoScores(refusal) => write!(f, "{refusal}"),
            Self::LeftOut(metric) => {
                write!(f, "SODA is left out, because it needs {metric}, which is not among the metrics")
            }
            Self::TooManyEvents(video) => {
                write!(
                    f,
                    "{video} has so many events that matching them would take days: over 4,294,967,296 pairs"
                )
            }
        }
    }
}
