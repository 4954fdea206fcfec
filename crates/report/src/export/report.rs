//! Reports as JSON, JSON Lines and CSV, with a line or row per system.

use capeval_corpus::Ids;
use capeval_metric::Signature;
use serde::Serialize;

use super::{Export, Line, Map, codes, ends, resampling_columns, resampling_fields, signatures};
use crate::number::full;
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
        #[derive(Serialize)]
        struct Body<'r> {
            systems: Vec<Named<'r>>,
        }
        #[derive(Serialize)]
        struct Named<'r> {
            name: &'r str,
            #[serde(flatten)]
            system: System<'r>,
        }
        let systems = self.systems.iter();
        let systems = systems.map(|system| Named { name: &system.name, system: System::new(self, system) });
        Body { systems: systems.collect() }
    }

    fn tail(&self) -> impl Serialize {
        let Provenance { policy, ids, files, n_images, n_references } = &self.provenance;
        Tail {
            references: (*n_references > 0).then_some(References {
                files,
                images: *n_images,
                references: *n_references,
            }),
            policy: (policy.is_some() || ids.is_some()).then(|| Policies {
                missing: policy.map(|policy| policy.missing.name()),
                surplus: policy.map(|policy| policy.surplus.name()),
                duplicate: policy.map(|policy| policy.duplicate.name()),
                empty: policy.map(|policy| policy.empty.name()),
                ids: ids.map(Ids::name),
            }),
        }
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
        columns
    }

    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        self.systems.iter().map(|system| {
            let mut row = vec![system.name.clone(), system.n_images.to_string()];
            row.extend(system.scores.iter().map(|score| full(*score)));
            let signatures: Vec<String> = system.signatures.iter().map(ToString::to_string).collect();
            let notices = self.head.notices.iter().filter(|notice| notice.concerns(&system.name));
            row.extend([signatures.join(" "), codes(notices)]);
            row.extend(system.intervals.iter().flatten().flat_map(|i| ends(*i).map(full)));
            row.extend(resampling_fields(self.head.resampling));
            row
        })
    }
}

/// The fields of a system besides its name.
#[derive(Serialize)]
struct System<'r> {
    file: &'r str,
    images: usize,
    references: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    lengths: Option<Words>,
    scores: Map<&'r str, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Map<&'r str, [f64; 2]>>,
    signatures: Map<&'r str, String>,
}

/// The lengths of all captions of a system.
#[derive(Serialize)]
struct Words {
    candidates: f64,
    references: f64,
    ratio: f64,
}

impl Words {
    fn of(lengths: &Lengths) -> Self {
        let Lengths { candidates, references } = *lengths;
        Self { candidates, references, ratio: lengths.ratio() }
    }
}

impl<'r> System<'r> {
    fn new(report: &'r Report, system: &'r SystemReport) -> Self {
        let head = &report.head;
        let intervals = system.intervals.as_ref();
        Self {
            file: &system.source,
            images: system.n_images,
            references: system.n_references,
            lengths: system.lengths.as_ref().map(Words::of),
            scores: Map(head.keys().zip(system.scores.iter().copied()).collect()),
            intervals: intervals.map(|i| Map(head.keys().zip(i.iter().copied().map(ends)).collect())),
            signatures: signatures(head, &system.signatures),
        }
    }
}

#[derive(Serialize)]
struct Tail<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<References<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Policies>,
}

#[derive(Serialize)]
struct References<'r> {
    files: &'r [String],
    images: usize,
    references: usize,
}

#[derive(Serialize)]
struct Policies {
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surplus: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<&'static str>,
}
