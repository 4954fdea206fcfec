//! The tasks of child processes of the evaluation server: prepare references, read submissions and imports, score,
//! write pages of single images, compare, correlate, and re-encode pictures.
//!
//! The server makes an [`Order`] of a [`Task`], and reads the [`Answer`]. A task is performed by [`serve`] alone, which
//! enters the sandbox first, so the process that answers requests cannot score.
#![allow(missing_docs, reason = "no users outside of the workspace")]

mod agreement;
mod contrast;
mod dense;
mod half;
mod images;
mod import;
mod input;
mod metrics;
mod order;
mod picture;
mod probe;
mod program;
mod references;
mod sandbox;
mod scoring;
mod submission;

pub use agreement::{Agreement, Beyond, Correlate, DrawnFigure, Estimate, MeasureAgreement};
pub use contrast::{Contrast, ImageContrast, MeasureContrast, SetContrast};
pub use dense::is_dense;
pub use half::{Draw, ImageHalf};
pub use images::{ShowImages, ShownImages};
pub use import::{ImportedCaption, ImportedImage, ReadImport};
pub use metrics::{
    ImageGroups, ImageVectors, MeasureInfo, MetricSelection, Metrics, OfferedMeasure, OfferedMetric,
    OfferedSuite, UnsuitedMetrics, absence, check_metrics, each_metric, key_in_group, missing_data, offered,
    offered_suites, unsuited,
};
pub use order::{Answer, Order, Task, serve};
pub use picture::{Picture, PictureFacts, Unfit, has_known_format};
pub use probe::{Possible, Probe};
pub use program::{PROGRAM_COMMAND, Program, program_measures, run_program};
pub use references::{Prepare, ReferenceSummary, Sample};
pub use sandbox::Allowance;
pub use scoring::{Compare, MeasureScore, Score, Set, SetScores, SetTests};
pub use submission::ReadCaptions;

/// The version of the engine.
pub const ENGINE: &str = capeval::VERSION;
