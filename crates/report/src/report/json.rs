//! A report as a JSON object, which is also its file.

use std::borrow::Cow;

use capeval_corpus::{Duplicate, Empty, Ids, Missing, Policy, SegmentId, Surplus};
use capeval_stats::correction::Correction;
use serde::{Deserialize, Serialize};

use super::group_scores::GroupFields;
use super::ranking::Ranking;
use super::{Lengths, Provenance, Report, SystemReport};
use crate::Profile;
use crate::comparison::json::PairFields;
use crate::json_float::{self, JsonFloat};
use crate::render::programs::{Ends, Map, by_metric, ends};

/// The first fields of a report in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct Body<'r> {
    pub systems: Vec<NamedSystem<'r>>,
}

impl<'r> Body<'r> {
    /// The systems of a report, with the scores of every image or without them.
    pub fn of(report: &'r Report, has_images: bool) -> Self {
        let named = |system: &'r SystemReport| NamedSystem {
            name: Cow::Borrowed(&*system.name),
            system: SystemFields {
                segments: if has_images { Images::of(report, system) } else { None },
                ..SystemFields::new(report, system)
            },
        };
        Self { systems: report.systems.iter().map(named).collect() }
    }
}

/// A system of a report.
#[derive(Serialize, Deserialize)]
pub(crate) struct NamedSystem<'r> {
    pub name: Cow<'r, str>,
    #[serde(flatten)]
    pub system: SystemFields<'r>,
}

/// The fields of a system besides its name.
#[derive(Serialize, Deserialize)]
pub(crate) struct SystemFields<'r> {
    pub file: Cow<'r, str>,
    pub images: usize,
    pub references: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_hash: Option<Cow<'r, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Words>,
    pub scores: Map<Cow<'r, str>, JsonFloat>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Map<Cow<'r, str>, Ends>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunFields<'r>>,
    pub signatures: Map<Cow<'r, str>, String>,
    /// In saved reports only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Images<'r>>,
}

/// The runs of a system.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunFields<'r> {
    pub n: usize,
    pub deviations: Map<Cow<'r, str>, JsonFloat>,
}

/// The lengths of all captions of a system.
#[derive(Serialize, Deserialize)]
pub(crate) struct Words {
    #[serde(with = "json_float")]
    pub candidates: f64,
    #[serde(with = "json_float")]
    pub references: f64,
    #[serde(with = "json_float")]
    ratio: f64,
}

impl Words {
    fn of(lengths: &Lengths) -> Self {
        let Lengths { candidates, references } = *lengths;
        Self { candidates, references, ratio: lengths.ratio() }
    }
}

/// The scores of every image, measure by measure.
#[derive(Serialize, Deserialize)]
pub(crate) struct Images<'r> {
    pub ids: Cow<'r, [SegmentId]>,
    pub scores: Map<Cow<'r, str>, Vec<JsonFloat>>,
}

impl<'r> Images<'r> {
    fn of(report: &'r Report, system: &'r SystemReport) -> Option<Self> {
        let segments = system.segments.as_ref()?;
        let n = report.head.measures.len().max(1);
        let column = |k: usize| segments.values.iter().skip(k).step_by(n).copied().map(JsonFloat).collect();
        let scores = report.head.keys().enumerate().map(|(k, key)| (Cow::Borrowed(key), column(k)));
        Some(Self { ids: Cow::Borrowed(&segments.ids), scores: Map(scores.collect()) })
    }
}

impl<'r> SystemFields<'r> {
    pub fn new(report: &'r Report, system: &'r SystemReport) -> Self {
        let head = &report.head;
        let keys = || head.keys().map(Cow::Borrowed);
        let intervals = system.intervals.as_ref();
        Self {
            file: Cow::Borrowed(&system.source),
            images: system.n_images,
            references: system.n_references,
            reference_hash: system.reference_hash.as_deref().map(Cow::Borrowed),
            lengths: system.lengths.as_ref().map(Words::of),
            scores: Map(keys().zip(system.scores.iter().copied().map(JsonFloat)).collect()),
            intervals: intervals.map(|i| Map(keys().zip(i.iter().copied().map(ends)).collect())),
            runs: system.runs.as_ref().map(|runs| RunFields {
                n: runs.n,
                deviations: Map(keys().zip(runs.deviations.iter().copied().map(JsonFloat)).collect()),
            }),
            signatures: by_metric(head, &system.signatures),
            segments: None,
        }
    }
}

/// The last fields of a report, and of a comparison, in JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct Tail<'r> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References<'r>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policies>,
    pub same_images: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sorted_by: Option<Cow<'r, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranking: Option<Cow<'r, Ranking>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<Vec<PairFields<'r>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupFields<'r>>,
    /// In saved reports on diversity only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<Cow<'r, [Profile]>>,
}

impl<'r> Tail<'r> {
    /// The last fields of a report.
    pub fn of(report: &'r Report) -> Self {
        let Provenance { policy, ids, files, n_images, n_references } = &report.provenance;
        let sorted_by = report.sorted_by.and_then(|measure| report.head.measures.get(measure));
        Self {
            references: (*n_references > 0).then_some(References {
                files: Cow::Borrowed(files),
                images: *n_images,
                references: *n_references,
            }),
            policy: (policy.is_some() || ids.is_some()).then(|| Policies {
                missing: policy.map(|policy| policy.missing),
                surplus: policy.map(|policy| policy.surplus),
                duplicate: policy.map(|policy| policy.duplicate),
                empty: policy.map(|policy| policy.empty),
                ids: *ids,
            }),
            same_images: report.same_images,
            sorted_by: sorted_by.map(|measure| Cow::Borrowed(&*measure.key)),
            ranking: report.ranking.as_ref().map(Cow::Borrowed),
            correction: None,
            comparisons: None,
            groups: report.groups.iter().map(|scores| GroupFields::new(report, scores)).collect(),
            profiles: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct References<'r> {
    pub files: Cow<'r, [String]>,
    pub images: usize,
    pub references: usize,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Policies {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    surplus: Option<Surplus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duplicate: Option<Duplicate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    empty: Option<Empty>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Ids>,
}

impl Policies {
    /// The policies for mismatches of candidates and references, if there are all of them.
    pub fn policy(&self) -> Option<Policy> {
        let Self { missing, surplus, duplicate, empty, ids: _ } = *self;
        Some(Policy { missing: missing?, surplus: surplus?, duplicate: duplicate?, empty: empty? })
    }
}
