//! The entry of a metric in lists, help and documentation, whatever computes it.

use capeval_choice::{Argument, Task};

use crate::{CorpusKind, CorpusNeed, MetricKind, Part, Refusal, Setting, Signature};

/// What lists, help and documentation say of a metric.
#[derive(Clone)]
pub struct MetricCard {
    /// The name that users type.
    pub name: &'static str,
    /// The property that it rewards, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose scores it reproduces.
    pub program: &'static str,
    /// Its settings.
    pub settings: Vec<&'static Setting>,
    /// Settings with which the suite of all metrics lists it again.
    pub variants: &'static [&'static str],
    /// The scores that it computes.
    pub parts: Vec<Part>,
    /// The signature with default settings; `None` if it depends on a model, a list or a server.
    pub signature: Option<Signature>,
    /// The kind of data that it compares.
    pub family: Family,
    /// Its needs beside captions and references; `None` for nothing.
    pub needs: Option<CardNeeds>,
    /// About how many seconds 1,000 captions take on one core.
    pub seconds: f64,
}

/// The kinds of data that metrics compare, in the order of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The words of a caption and its references.
    Words,
    /// Vectors that models make.
    Vectors,
    /// Objects that captions mention.
    Objects,
    /// The answers of a language model.
    Judges,
    /// All captions of a system.
    Systems,
}

/// The needs of a metric beside captions and references.
#[derive(Clone)]
pub struct CardNeeds {
    /// In words: `a model of CLIP, or vectors of pictures and texts`.
    pub what: &'static str,
    /// The job that installs it, if it is installed.
    pub job: Option<Task>,
    /// The arguments that provide it; none if it is installed.
    pub given: &'static [Argument],
    /// The arguments that may replace these.
    pub instead: &'static [Argument],
}

impl Family {
    /// Returns true if the engine does not compute such metrics itself.
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Vectors | Self::Objects | Self::Judges)
    }

    /// The name in lists for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Vectors => "vectors",
            Self::Objects => "objects",
            Self::Judges => "judges",
            Self::Systems => "systems",
        }
    }
}

impl MetricCard {
    /// The card of a metric that compares words.
    pub fn of_words(kind: &'static MetricKind) -> Result<Self, Refusal> {
        let about = kind.about()?;
        Ok(Self {
            name: kind.name,
            summary: kind.summary,
            paper: kind.paper,
            program: kind.program,
            settings: kind.settings.iter().collect(),
            variants: kind.variants,
            parts: about.parts,
            signature: Some(about.signature),
            family: Family::Words,
            needs: kind.need.as_ref().map(|need| {
                let job = Some(need.task.clone());
                CardNeeds { what: need.what, job, given: &[], instead: &[] }
            }),
            seconds: kind.seconds,
        })
    }

    /// The card of a metric of all captions of a system.
    pub fn of_system(kind: &'static CorpusKind) -> Result<Self, Refusal> {
        let (signature, parts) = kind.sample()?;
        let given: &[Argument] = match kind.needs {
            CorpusNeed::Nothing => &[],
            CorpusNeed::References => &[Argument::References],
            CorpusNeed::Training => &[Argument::Training],
        };
        Ok(Self {
            name: kind.name,
            summary: kind.summary,
            paper: kind.paper,
            program: kind.program,
            settings: kind.settings.iter().collect(),
            variants: &[],
            parts,
            signature: Some(signature),
            family: Family::Systems,
            needs: kind.needs.what().map(|what| CardNeeds { what, job: None, given, instead: &[] }),
            seconds: 0.01,
        })
    }
}
