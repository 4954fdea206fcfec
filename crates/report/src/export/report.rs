//! Reports as JSON, JSON Lines and CSV, with a line or row per system.

use std::borrow::Cow;

use capeval_corpus::{Duplicate, Empty, Ids, Missing, Policy, SegmentId, Surplus};
use capeval_metric::Signature;
use capeval_stats::correction::Correction;
use serde::{Deserialize, Serialize};

use super::comparison::Compared;
use super::{Ends, Export, Line, Map, codes, ends, resampling_columns, resampling_fields, signatures};
use crate::number::full;
use crate::real::{self, Real};
use crate::{Head, Lengths, Provenance, Report, SystemReport};

impl Export for Report {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    /// The settings that all systems share.
    fn signatures(&self) -> Vec<Signature> {
        self.shared_signatures()
    }

    fn body(&self) -> impl Serialize {
        Body::of(self, false)
    }

    fn tail(&self) -> impl Serialize {
        Tail::of(self)
    }

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            system: &'r str,
            #[serde(flatten)]
            rest: System<'r>,
        }
        self.systems.iter().map(|system| Line {
            body: Body { system: &system.name, rest: System::new(self, system) },
            signatures: Map(Vec::new()),
            notices: self.head.notices.iter().filter(|notice| notice.concerns(&system.name)).collect(),
        })
    }

    fn columns(&self) -> Vec<String> {
        let Head { resampling, measures, .. } = &self.head;
        let mut columns = ["system", "images"].map(str::to_owned).to_vec();
        columns.extend(self.head.keys().map(str::to_owned));
        columns.extend(["signatures", "notices"].map(str::to_owned));
        let intervals = measures.iter().filter(|_| resampling.is_some());
        columns.extend(intervals.flat_map(|m| [format!("{}_low", m.key), format!("{}_high", m.key)]));
        columns.extend(resampling_columns(*resampling));
        columns.push("reference_hash".to_owned());
        columns
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.systems.iter().map(|system| {
            let mut row = vec![system.name.clone(), system.n_images.to_string()];
            row.extend(system.scores.iter().map(|score| full(*score)));
            let signatures: Vec<String> = system.signatures.iter().map(ToString::to_string).collect();
            let notices = self.head.notices.iter().filter(|notice| notice.concerns(&system.name));
            row.extend([signatures.join(" "), codes(notices)]);
            row.extend(system.intervals.iter().flatten().flat_map(|i| [i.low, i.high]).map(full));
            row.extend(resampling_fields(self.head.resampling));
            row.push(system.reference_hash.clone().unwrap_or_default());
            row
        })
    }
}

/// The first fields of a report in JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct Body<'r> {
    pub systems: Vec<Named<'r>>,
}

impl<'r> Body<'r> {
    /// The systems of a report, with the scores of every image or without them.
    pub fn of(report: &'r Report, has_images: bool) -> Self {
        let named = |system: &'r SystemReport| Named {
            name: Cow::Borrowed(&*system.name),
            system: System {
                segments: if has_images { Images::of(report, system) } else { None },
                ..System::new(report, system)
            },
        };
        Self { systems: report.systems.iter().map(named).collect() }
    }
}

/// A system of a report.
#[derive(Serialize, Deserialize)]
pub(super) struct Named<'r> {
    pub name: Cow<'r, str>,
    #[serde(flatten)]
    pub system: System<'r>,
}

/// The fields of a system besides its name.
#[derive(Serialize, Deserialize)]
pub(super) struct System<'r> {
    pub file: Cow<'r, str>,
    pub images: usize,
    pub references: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_hash: Option<Cow<'r, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Words>,
    pub scores: Map<Cow<'r, str>, Real>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Map<Cow<'r, str>, Ends>>,
    pub signatures: Map<Cow<'r, str>, String>,
    /// In saved reports only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Images<'r>>,
}

/// The lengths of all captions of a system.
#[derive(Serialize, Deserialize)]
pub(super) struct Words {
    #[serde(with = "real")]
    pub candidates: f64,
    #[serde(with = "real")]
    pub references: f64,
    #[serde(with = "real")]
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
pub(super) struct Images<'r> {
    pub ids: Cow<'r, [SegmentId]>,
    pub scores: Map<Cow<'r, str>, Vec<Real>>,
}

impl<'r> Images<'r> {
    fn of(report: &'r Report, system: &'r SystemReport) -> Option<Self> {
        let segments = system.segments.as_ref()?;
        let n = report.head.measures.len().max(1);
        let column = |k: usize| segments.values.iter().skip(k).step_by(n).copied().map(Real).collect();
        let scores = report.head.keys().enumerate().map(|(k, key)| (Cow::Borrowed(key), column(k)));
        Some(Self { ids: Cow::Borrowed(&segments.ids), scores: Map(scores.collect()) })
    }
}

impl<'r> System<'r> {
    fn new(report: &'r Report, system: &'r SystemReport) -> Self {
        let head = &report.head;
        let keys = || head.keys().map(Cow::Borrowed);
        let intervals = system.intervals.as_ref();
        Self {
            file: Cow::Borrowed(&system.source),
            images: system.n_images,
            references: system.n_references,
            reference_hash: system.reference_hash.as_deref().map(Cow::Borrowed),
            lengths: system.lengths.as_ref().map(Words::of),
            scores: Map(keys().zip(system.scores.iter().copied().map(Real)).collect()),
            intervals: intervals.map(|i| Map(keys().zip(i.iter().copied().map(ends)).collect())),
            signatures: signatures(head, &system.signatures),
            segments: None,
        }
    }
}

/// The last fields of a report, and of a comparison, in JSON.
#[derive(Serialize, Deserialize)]
pub(super) struct Tail<'r> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<References<'r>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policies>,
    pub same_images: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sorted_by: Option<Cow<'r, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Correction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<Vec<Compared<'r>>>,
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
            correction: None,
            comparisons: None,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct References<'r> {
    pub files: Cow<'r, [String]>,
    pub images: usize,
    pub references: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Policies {
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
