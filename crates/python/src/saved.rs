//! Reports and comparisons as plain Python data, for pickle.
//!
//! Images for pages and explanations are left out: they hold the evidence of every score, which is as large as the
//! page.

use capeval::choice::{Remedy, SegmentId};
use capeval::corpus::{Policy, UnknownName};
use capeval::metric::{Direction, Number, Signature};
use capeval::report::{
    self, Contrast, Head, Lengths, Measure, MetricEntry, Notice, P, Pair, Provenance, Segments, SystemReport,
    Verdict,
};
use capeval::stats::paired::Tally;
use capeval::stats::{Interval, Resampling};
use pyo3::prelude::*;

use crate::error::{told_remedy, value};

#[derive(FromPyObject, IntoPyObject)]
enum Id {
    Integer(i64),
    Text(String),
}

impl Id {
    fn of(id: &SegmentId) -> Self {
        match id {
            SegmentId::Integer(number) => Self::Integer(*number),
            SegmentId::Text(text) => Self::Text(text.to_string()),
        }
    }

    fn id(self) -> SegmentId {
        match self {
            Self::Integer(number) => SegmentId::from(number),
            Self::Text(text) => SegmentId::from(&*text),
        }
    }
}

/// The resamples, the seed and the level.
type Draws = (usize, u64, f64);

fn draws(given: Resampling) -> Draws {
    (given.resamples, given.seed, given.level)
}

fn resampling((resamples, seed, level): Draws) -> Resampling {
    Resampling { resamples, seed, level }
}

fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

fn interval((low, high): (f64, f64)) -> Interval {
    Interval { low, high }
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Report {
    version: String,
    metrics: Vec<(String, usize)>,
    measures: Vec<(String, String, Option<bool>, bool, f64, f64)>,
    resampling: Option<Draws>,
    notices: Vec<Note>,
    systems: Vec<System>,
    same_images: bool,
    files: Vec<String>,
    n_images: usize,
    n_references: usize,
    policy: Option<[String; 4]>,
    ids: Option<String>,
}

/// A notice, with its remedy in words.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Note {
    code: String,
    message: String,
    remedy: Option<String>,
    system: Option<String>,
    count: Option<usize>,
    ids: Vec<Id>,
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct System {
    name: String,
    source: String,
    n_images: usize,
    n_references: usize,
    scores: Vec<f64>,
    intervals: Option<Vec<(f64, f64)>>,
    signatures: Vec<String>,
    lengths: Option<(f64, f64)>,
    segments: Option<(Vec<Id>, Vec<u8>)>,
}

impl Report {
    /// The data of a report.
    pub fn of(found: &report::Report) -> Self {
        let report::Report { head, systems, same_images, provenance, .. } = found;
        let policy = provenance.policy.map(|Policy { missing, surplus, duplicate, empty }| {
            [missing.name(), surplus.name(), duplicate.name(), empty.name()].map(str::to_owned)
        });
        let measures = head.measures.iter().map(|m| {
            let (higher, counts) = (m.direction.is_higher(), m.number == Number::Count);
            (m.key.clone(), m.label.clone(), higher, counts, m.min, m.max)
        });
        let notices = head.notices.iter().map(|notice| {
            let Notice { code, message, system, count, ids, .. } = notice;
            Note {
                code: code.to_string(),
                message: message.clone(),
                remedy: told_remedy(notice),
                system: system.clone(),
                count: *count,
                ids: ids.iter().map(Id::of).collect(),
            }
        });
        Self {
            version: head.version.clone(),
            metrics: head.metrics.iter().map(|metric| (metric.key.clone(), metric.n_measures)).collect(),
            measures: measures.collect(),
            resampling: head.resampling.map(draws),
            notices: notices.collect(),
            systems: systems.iter().map(System::of).collect(),
            same_images: *same_images,
            files: provenance.files.clone(),
            n_images: provenance.n_images,
            n_references: provenance.n_references,
            policy,
            ids: provenance.ids.map(|ids| ids.name().to_owned()),
        }
    }

    /// The report again.
    pub fn report(self) -> PyResult<report::Report> {
        let fault = |error: UnknownName| value(&error.to_string());
        let policy = match self.policy {
            None => None,
            Some([missing, surplus, duplicate, empty]) => Some(Policy {
                missing: missing.parse().map_err(fault)?,
                surplus: surplus.parse().map_err(fault)?,
                duplicate: duplicate.parse().map_err(fault)?,
                empty: empty.parse().map_err(fault)?,
            }),
        };
        let measures = self.measures.into_iter().map(|(key, label, higher, counts, min, max)| Measure {
            key,
            label,
            direction: match higher {
                Some(true) => Direction::HigherIsBetter,
                Some(false) => Direction::LowerIsBetter,
                None => Direction::Neither,
            },
            number: if counts { Number::Count } else { Number::Real },
            min,
            max,
        });
        let notices = self.notices.into_iter().map(|note| Notice {
            remedy: note.remedy.map(Remedy::say),
            system: note.system,
            count: note.count,
            ids: note.ids.into_iter().map(Id::id).collect(),
            ..Notice::new(note.code, note.message)
        });
        let metrics = self.metrics.into_iter().map(|(key, n_measures)| MetricEntry { key, n_measures });
        let head = Head {
            version: self.version,
            metrics: metrics.collect(),
            measures: measures.collect(),
            resampling: self.resampling.map(resampling),
            notices: notices.collect(),
            run: None,
        };
        let provenance = Provenance {
            files: self.files,
            n_images: self.n_images,
            n_references: self.n_references,
            policy,
            ids: self.ids.map(|ids| ids.parse().map_err(fault)).transpose()?,
        };
        let systems = self.systems.into_iter().map(System::system).collect::<PyResult<Vec<_>>>()?;
        let same_images = self.same_images;
        check(&head, &systems)?;
        Ok(report::Report {
            head,
            systems,
            same_images,
            sorted_by: None,
            provenance,
            explained: Vec::new(),
            gallery: None,
        })
    }
}

/// Refuses systems whose scores do not belong to the measures and metrics of `head`.
fn check(head: &Head, systems: &[SystemReport]) -> PyResult<()> {
    let n = head.measures.len();
    let of_metrics = head.metrics.iter().try_fold(0_usize, |sum, metric| sum.checked_add(metric.n_measures));
    let is_whole = |system: &SystemReport| {
        system.scores.len() == n
            && system.signatures.len() == head.metrics.len()
            && system.intervals.as_ref().is_none_or(|intervals| intervals.len() == n)
            && system
                .segments
                .as_ref()
                .is_none_or(|segments| segments.ids.len().checked_mul(n) == Some(segments.values.len()))
    };
    if of_metrics != Some(n) {
        return Err(value("the report is damaged: its metrics have other measures"));
    }
    match systems.iter().find(|system| !is_whole(system)) {
        Some(system) => Err(value(&format!("the report is damaged: '{}' has other measures", system.name))),
        None => Ok(()),
    }
}

impl System {
    fn of(system: &SystemReport) -> Self {
        let segments = system.segments.as_ref().map(|segments| {
            let ids = segments.ids.iter().map(Id::of).collect();
            (ids, bytemuck::cast_slice(&segments.values).to_vec())
        });
        Self {
            name: system.name.clone(),
            source: system.source.clone(),
            n_images: system.n_images,
            n_references: system.n_references,
            scores: system.scores.clone(),
            intervals: system.intervals.as_ref().map(|all| all.iter().copied().map(ends).collect()),
            signatures: system.signatures.iter().map(Signature::to_string).collect(),
            lengths: system.lengths.map(|Lengths { candidates, references }| (candidates, references)),
            segments,
        }
    }

    fn system(self) -> PyResult<SystemReport> {
        let signatures =
            self.signatures.iter().map(|line| line.parse().map_err(|error: String| value(&error)));
        let segments = self.segments.map(|(ids, values)| Segments {
            ids: ids.into_iter().map(Id::id).collect(),
            values: values.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect(),
        });
        Ok(SystemReport {
            name: self.name,
            source: self.source,
            n_images: self.n_images,
            n_references: self.n_references,
            scores: self.scores,
            intervals: self.intervals.map(|all| all.into_iter().map(interval).collect()),
            signatures: signatures.collect::<PyResult<_>>()?,
            lengths: self.lengths.map(|(candidates, references)| Lengths { candidates, references }),
            segments,
        })
    }
}

#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Comparison {
    report: Report,
    resampling: Draws,
    correction: String,
    pairs: Vec<(usize, usize, Vec<Row>)>,
}

/// A contrast.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Row {
    difference: f64,
    interval: (f64, f64),
    bootstrap: (f64, f64),
    randomisation: (f64, f64),
    sign: Option<(f64, f64)>,
    permutation: Option<(f64, f64)>,
    tally: (usize, usize, usize),
    cohens_d: f64,
    has_test: bool,
    verdict: String,
}

fn p((value, adjusted): (f64, f64)) -> P {
    P { value, adjusted }
}

fn numbers(p: P) -> (f64, f64) {
    (p.value, p.adjusted)
}

impl Comparison {
    /// The data of a comparison.
    pub fn of(found: &report::Comparison) -> Self {
        let report::Comparison { report, resampling, correction, pairs } = found;
        let pairs = pairs.iter().map(|pair| {
            let rows = pair.contrasts.iter().map(Row::of).collect();
            (pair.baseline, pair.system, rows)
        });
        Self {
            report: Report::of(report),
            resampling: draws(*resampling),
            correction: correction.name().to_owned(),
            pairs: pairs.collect(),
        }
    }

    /// The comparison again.
    pub fn comparison(self) -> PyResult<report::Comparison> {
        let report = self.report.report()?;
        let (n_systems, n_measures) = (report.systems.len(), report.head.measures.len());
        let pairs = self.pairs.into_iter().map(|(baseline, system, rows)| {
            if baseline.max(system) >= n_systems || rows.len() != n_measures {
                return Err(value("the comparison is damaged: a pair has other systems or measures"));
            }
            let contrasts = rows.into_iter().map(Row::contrast).collect::<PyResult<_>>()?;
            Ok(Pair { baseline, system, contrasts })
        });
        Ok(report::Comparison {
            pairs: pairs.collect::<PyResult<_>>()?,
            report,
            resampling: resampling(self.resampling),
            correction: self.correction.parse().map_err(|error: UnknownName| value(&error.to_string()))?,
        })
    }
}

impl Row {
    fn of(contrast: &Contrast) -> Self {
        let Tally { wins, ties, losses } = contrast.tally;
        Self {
            difference: contrast.difference,
            interval: ends(contrast.interval),
            bootstrap: numbers(contrast.bootstrap),
            randomisation: numbers(contrast.randomisation),
            sign: contrast.sign.map(numbers),
            permutation: contrast.permutation.map(numbers),
            tally: (wins, ties, losses),
            cohens_d: contrast.cohens_d,
            has_test: contrast.has_test,
            verdict: contrast.verdict.name().to_owned(),
        }
    }

    fn contrast(self) -> PyResult<Contrast> {
        let (wins, ties, losses) = self.tally;
        let verdicts = [Verdict::Better, Verdict::Worse, Verdict::Undecided];
        let verdict = verdicts.into_iter().find(|verdict| verdict.name() == self.verdict);
        Ok(Contrast {
            difference: self.difference,
            interval: interval(self.interval),
            bootstrap: p(self.bootstrap),
            randomisation: p(self.randomisation),
            sign: self.sign.map(p),
            permutation: self.permutation.map(p),
            tally: Tally { wins, ties, losses },
            cohens_d: self.cohens_d,
            has_test: self.has_test,
            verdict: verdict.ok_or_else(|| value(&format!("no verdict is called {:?}", self.verdict)))?,
        })
    }
}
