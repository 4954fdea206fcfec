//! Compares systems of saved reports, by the scores of images that these hold.
//!
//! A corpus score that is the mean of the scores of images can be resampled from these alone, with the digits that a
//! comparison of the captions has. The others, such as BLEU's, would need the statistics behind the scores.

use std::collections::HashMap;

use capeval_choice::{Code, SegmentId};
use capeval_corpus::Ids;
use capeval_evaluate::Progress;
use capeval_metric::Signature;
use capeval_report::{Comparison, Notice, Report, Segments, SystemReport};
use capeval_stats::correction::Correction;
use capeval_stats::{ExactSum, Matrix, Resampling};

use crate::Error;
use crate::compare::{Rows, finish, pairs};
use crate::findings::Findings;
use crate::restrict::normal;

/// Reports whose systems are to be compared.
pub struct CompareReportsRequest<'p> {
    /// The reports, with the scores of images.
    pub reports: Vec<Report>,
    /// The way to draw resamples and exchanges.
    pub resampling: Resampling,
    /// The correction of p-values for the number of tests.
    pub correction: Correction,
    /// Compare every system with every other, and not only with the first.
    pub all_pairs: bool,
    /// Receives progress reports.
    pub progress: &'p dyn Progress,
}

impl CompareReportsRequest<'static> {
    /// A request with the usual tests.
    pub fn new(reports: Vec<Report>) -> Self {
        Self {
            reports,
            resampling: Resampling::default(),
            correction: Correction::default(),
            all_pairs: false,
            progress: &(),
        }
    }
}

/// Settings of a signature that may differ between systems that are compared: what each lacked, and the hash of its
/// given scores.
const OF_SYSTEMS: [&str; 7] = ["missing", "surplus", "several", "runs", "empty", "capeval", "file"];

/// Compares the systems of reports by every metric that all of the reports have.
///
/// # Errors
/// When there are fewer than two systems, or one has no scores of images; when two systems have the same name, or were
/// scored on different images, against different references or in different ways.
pub fn compare_reports(request: CompareReportsRequest<'_>) -> Result<Comparison, Error> {
    let CompareReportsRequest { reports, resampling, correction, all_pairs, progress } = request;
    resampling.check()?;
    let report = joined(reports)?;
    let n = report.systems.len();
    if n < 2 {
        return Err(Error::request("a comparison needs at least two systems"));
    }
    let chosen = pairs(n, all_pairs);
    resampling.check_values((n + chosen.len()) * report.head.measures.len())?;
    let rows = rows(&report);
    let mut comparison = rows.compare(report, &chosen, resampling, correction, progress);
    let untested = rows.untested(&comparison.report.head.measures);
    if !untested.is_empty() {
        let message = format!(
            "no test by {}, whose scores are not means of the scores of images, which is all that reports hold",
            untested.join(", ")
        );
        let remedy = "compare the captions themselves to test them";
        let notice = Notice::new(Code::NoStatistics, message).remedy(remedy).count(untested.len());
        comparison.report.head.notices.push(notice);
    }
    finish(&mut comparison);
    Ok(comparison)
}

/// One report with the systems of all, by the metrics that all have.
fn joined(reports: Vec<Report>) -> Result<Report, Error> {
    let mut reports = reports.into_iter();
    let mut whole = reports.next().ok_or_else(|| Error::request("no report is given"))?;
    let mut others: Vec<Report> = reports.collect();
    let mut found = Findings::default();

    let shared =
        |key: &str| others.iter().all(|other| other.head.metrics.iter().any(|metric| metric.key == key));
    let keys: Vec<String> =
        whole.head.metrics.iter().map(|metric| metric.key.clone()).filter(|key| shared(key)).collect();
    if keys.is_empty() {
        return Err(Error::with_remedy(
            "the reports have no metric in common",
            "score all systems by one metric",
        ));
    }
    let mut left_out: Vec<String> = Vec::new();
    for report in std::iter::once(&mut whole).chain(&mut others) {
        left_out.extend(restrict(report, &keys));
    }
    left_out.sort_unstable();
    left_out.dedup();
    if !left_out.is_empty() {
        let message = format!("{} left out, which not all of the reports have", listed(&left_out));
        found.add([Notice::new(Code::OtherMetrics, message).count(left_out.len())]);
    }
    if others.iter().any(|other| other.head.measures != whole.head.measures) {
        return Err(Error::with_remedy(
            "the measures of the reports differ",
            "score the captions again, with one version of capeval",
        ));
    }
    if let Some(other) = others.iter().find(|other| other.head.version != whole.head.version) {
        let (one, another) = (&whole.head.version, &other.head.version);
        let message = format!("the reports were made by different versions of capeval, {one} and {another}");
        found.add([Notice::new(Code::Versions, message)]);
    }
    found.add_once(std::mem::take(&mut whole.head.notices));
    for other in others {
        found.add_once(other.head.notices);
        whole.systems.extend(other.systems);
        for file in other.provenance.files {
            if !whole.provenance.files.contains(&file) {
                whole.provenance.files.push(file);
            }
        }
    }
    whole.head.notices = found.into();
    (whole.head.run, whole.sorted_by) = (None, None);
    check(&whole)?;
    whole.same_images = true;
    Ok(whole)
}

/// Keeps the metrics called `keys`, in this order, and returns the keys of the others.
fn restrict(report: &mut Report, keys: &[String]) -> Vec<String> {
    let mut start = 0;
    let mut ranges: HashMap<String, (usize, std::ops::Range<usize>)> = HashMap::new();
    for (m, metric) in report.head.metrics.iter().enumerate() {
        ranges.insert(metric.key.clone(), (m, start..start + metric.n_measures));
        start += metric.n_measures;
    }
    let n = report.head.measures.len().max(1);
    let kept: Vec<(usize, std::ops::Range<usize>)> =
        keys.iter().filter_map(|key| ranges.get(key).cloned()).collect();
    let metrics: Vec<usize> = kept.iter().map(|(metric, _)| *metric).collect();
    let measures: Vec<usize> = kept.iter().flat_map(|(_, range)| range.clone()).collect();
    let others = report.head.metrics.iter().map(|metric| metric.key.clone());
    let others = others.filter(|key| !keys.contains(key)).collect();
    report.head.metrics = chosen(&report.head.metrics, &metrics);
    report.head.measures = chosen(&report.head.measures, &measures);
    for system in &mut report.systems {
        system.scores = chosen(&system.scores, &measures);
        system.signatures = chosen(&system.signatures, &metrics);
        system.intervals = None;
        if let Some(segments) = &mut system.segments {
            segments.values =
                segments.values.chunks_exact(n).flat_map(|row| chosen(row, &measures)).collect();
        }
    }
    others
}

/// The items at these places.
fn chosen<T: Clone>(items: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|place| items.get(*place).cloned()).collect()
}

/// `a is`, `a and b are`.
fn listed(keys: &[String]) -> String {
    match keys {
        [one] => format!("{one} is"),
        _ => format!("{} are", keys.join(", ")),
    }
}

/// Refuses systems that cannot be compared.
fn check(report: &Report) -> Result<(), Error> {
    let Some((first, others)) = report.systems.split_first() else { return Ok(()) };
    for (k, system) in report.systems.iter().enumerate() {
        if report.systems.iter().skip(k + 1).any(|other| other.name == system.name) {
            return Err(Error::with_remedy(
                format!("two systems are called '{}'", system.name),
                "give each its own name",
            ));
        }
        if system.segments.is_none() {
            return Err(Error::with_remedy(
                format!("the report of '{}' has no scores of images, so it cannot be compared", system.name),
                "score its captions again, and save the report with them",
            ));
        }
    }
    for other in others {
        let (a, b) = (&first.name, &other.name);
        if in_order(report, first).1 != in_order(report, other).1 {
            return Err(Error::with_remedy(
                format!(
                    "'{a}' and '{b}' were scored on different images, so they cannot be compared pair by pair"
                ),
                "score them again, each on the same list of images",
            ));
        }
        let hashes = [first, other].map(|system| system.reference_hash.as_deref());
        for (one, another) in first.signatures.iter().zip(&other.signatures) {
            comparable([a, b], [one, another], hashes)?;
        }
    }
    Ok(())
}

/// Refuses scores of two systems that were computed in different ways: names, signatures and hashes of references.
pub(crate) fn comparable(
    [a, b]: [&str; 2],
    [one, another]: [&Signature; 2],
    [hash, other_hash]: [Option<&str>; 2],
) -> Result<(), Error> {
    if let (Some(hash), Some(other_hash)) = (hash, other_hash)
        && hash != other_hash
    {
        return Err(Error::with_remedy(
            format!("'{a}' and '{b}' were scored against different references ({hash} and {other_hash})"),
            "score both against the same references",
        ));
    }
    let differing = one
        .settings()
        .chain(another.settings())
        .find(|(name, _)| !OF_SYSTEMS.contains(name) && one.get(name) != another.get(name));
    let Some((name, _)) = differing else { return Ok(()) };
    let value = |value: Option<&str>| value.map_or_else(|| "none".to_owned(), str::to_owned);
    let (metric, [one, another]) = (one.metric(), [one, another].map(|s| value(s.get(name))));
    Err(Error::with_remedy(
        format!("'{a}' and '{b}' were scored by different {metric}: {name} is {one} and {another}"),
        "score both with the same settings",
    ))
}

/// The way in which the report compares ids.
fn ids(report: &Report) -> Ids {
    report.provenance.ids.unwrap_or_default()
}

/// The places of the images of a system in the order of their ids, and the ids in this order, as they are compared.
fn in_order(report: &Report, system: &SystemReport) -> (Vec<usize>, Vec<SegmentId>) {
    let given = system.segments.iter().flat_map(|segments| &segments.ids);
    let mut images: Vec<(SegmentId, usize)> = given.map(|id| normal(id, ids(report))).zip(0..).collect();
    images.sort_unstable();
    images.into_iter().map(|(id, place)| (place, id)).unzip()
}

/// The scores of images as statistics. Images are in the order of their ids, as in a comparison of captions.
fn rows(report: &Report) -> Rows<'static> {
    let is_mean: Vec<bool> = report
        .head
        .metrics
        .iter()
        .flat_map(|metric| std::iter::repeat_n(metric.is_mean, metric.n_measures))
        .collect();
    let n = is_mean.len();
    let by_measure = |system: &SystemReport| {
        let values = system.segments.as_ref().map_or(&[][..], |Segments { values, .. }| values);
        let (order, _) = in_order(report, system);
        let column = |m: usize| order.iter().filter_map(|at| values.get(at * n + m).copied()).collect();
        (0..n).map(column).collect()
    };
    let segments: Vec<Vec<Vec<f64>>> = report.systems.iter().map(by_measure).collect();
    let n_images = segments.first().and_then(|system| system.first()).map_or(0, Vec::len) as f64;
    let tested: Vec<usize> = (0..n).filter(|m| is_mean[*m]).collect();
    let columns: Vec<Vec<f64>> =
        segments.iter().flat_map(|system| tested.iter().map(|m| system[*m].clone())).collect();
    let total = |system: &Vec<Vec<f64>>| {
        tested.iter().map(|m| system[*m].iter().copied().collect::<ExactSum>().value()).collect()
    };
    Rows {
        matrix: Matrix::from_columns(&columns),
        totals: segments.iter().map(total).collect(),
        score: Box::new(move |_, sums, values| {
            values.fill(f64::NAN);
            for (m, sum) in tested.iter().zip(sums) {
                if let Some(value) = values.get_mut(*m) {
                    *value = sum / n_images;
                }
            }
        }),
        segments,
        has_interval: is_mean.clone(),
        is_mean,
    }
}
