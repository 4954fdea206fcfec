//! Caption evaluation, equal digit for digit to the reference programs.
//!
//! [`score`] compares the captions of one or more systems with references and returns a [`Report`](report::Report).
//!
//! ```
//! use capeval::corpus::{Captions, SegmentId};
//! use capeval::{ScoreRequest, score};
//!
//! let mut references = Captions::new("references");
//! references.push(SegmentId::from(1), "A dog runs along the beach.");
//! references.push(SegmentId::from(1), "A brown dog is running on the sand.");
//! references.push(SegmentId::from(2), "Two children fly a kite.");
//! references.push(SegmentId::from(2), "A kite is flown by a boy and a girl.");
//!
//! let mut candidates = Captions::new("my system");
//! candidates.push(SegmentId::from(1), "a dog runs along the beach");
//! candidates.push(SegmentId::from(2), "two children with a kite");
//!
//! let report = score(ScoreRequest::new(references, [("mine", candidates)]))?;
//! let bleu_1 = report.score(0, "bleu-1").expect("the suite `coco` includes BLEU");
//! assert!((bleu_1 - 10.0 / 11.0).abs() < 1e-9, "10 of 11 words are in a reference, not {bleu_1}");
//! # Ok::<(), capeval::Error>(())
//! ```
//!
//! [`corpus::read`] reads captions from any `Read`; this crate opens no files and prints nothing. [`report`] renders
//! reports as tables, JSON, Markdown and so on.
//!
//! The parts of the engine are re-exported under the names of their crates: [`text`] (tokenizers and n-grams),
//! [`corpus`] (formats and alignment), [`metric`] (the contract of metrics), [`lexical`] (metrics that compare words),
//! [`fluency`] (perplexity and n-gram models), [`meteor`] (METEOR and its resources), [`evaluate`] (registry and
//! driver), [`stats`] (sums, resampling and tests) and [`frequencies`] (document frequencies).

pub use capeval_arrays as arrays;
pub use capeval_choice as choice;
pub use capeval_corpus as corpus;
pub use capeval_evaluate as evaluate;
pub use capeval_lexical as lexical;
pub use capeval_lexical::cider::IdfSource;
pub use capeval_lexical::{fluency, frequencies};
pub use capeval_meteor as meteor;
pub use capeval_metric as metric;
pub use capeval_report as report;
pub use capeval_spice as spice;
pub use capeval_stats as stats;
pub use capeval_text as text;

mod aligned;
mod common;
mod compare;
mod compare_reports;
mod correlate;
mod derive;
mod diversity;
mod document_frequencies;
mod error;
mod evaluation;
mod explain;
mod findings;
mod first_batches;
mod gallery;
mod given;
mod groups;
mod human;
mod inputs;
mod inspect;
mod intervals;
mod kit;
mod measures;
mod not_captions;
mod notices;
mod options;
mod outside;
mod own_reference;
mod people;
mod perplexity;
mod preference;
mod profile;
mod reference_hash;
mod references;
mod request;
mod requirement;
mod restrict;
mod rouge_list;
mod rows;
mod score;
mod scorer;
mod several;
mod several_rewards;
mod shapes;
mod signing;
mod sums;

pub use compare::{CompareRequest, compare};
pub use compare_reports::{CompareReportsRequest, compare_reports};
pub use correlate::{CorrelateRequest, correlate};
pub use derive::derived_metrics;
pub use diversity::{DiversityRequest, diversity};
pub use document_frequencies::{document_frequencies, table_reading};
pub use error::{Error, remedy};
pub use first_batches::FirstBatches;
pub use given::GivenScores;
pub use groups::{GroupBy, group_reports, group_saved, unknown_property};
pub use inspect::{Inspection, inspect};
pub use kit::{KITS, Kit, KitOptions, KitProgram, toml_place};
pub use measures::{
    NeededData, Selection, entries, knows_only_english, metrics, needed_data, select_metrics,
    select_with_defaults,
};
pub use not_captions::{Cleaning, NonCaption, Removal, after_thoughts};
pub use notices::is_empty;
pub use options::{
    CompareOptions, CorrelateOptions, DiversityOptions, MetricOptions, OwnReference, PairingCheck,
    PerplexityOptions, PreferOptions, PrepareOptions, ScoreOptions,
};
pub use outside::{
    Answers, Identity, KeptScores, Outside, OutsideLabel, OutsideMetrics, OutsideRow, OutsideScores,
    OutsideSettings, Picture, PictureSource, Pictures, ScoreStore, Sight, Summary, check_language,
    check_outside_key, check_outside_name, check_pictures, compute_outside,
};
pub use people::{PeopleOptions, PeopleRequest};
pub use perplexity::{PerplexityRequest, PerplexitySource, language_model, perplexity};
pub use preference::{PreferRequest, prefer};
pub use references::{PrepareRequest, PreparedCleaning, ReferenceLookup, ReferenceSource, prepare};
pub use request::{Request, ScoreRequest};
pub use requirement::{RequiredVerdict, Requirements, check_requirement};
pub use rouge_list::{RougeCaptions, listed};
pub use score::{explain, score};
pub use scorer::Scorer;
pub use several::Several;
pub use sums::{BlockSums, Dealing, Flaw, FlawedRows, Sums, SumsOptions, check_sums};

/// The version of capeval, which appears in every signature.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
