//! Perplexity without references: under an n-gram model, or from the probabilities that a model gave.

use std::collections::HashSet;
use std::sync::Arc;

use capeval_corpus::{Captions, Ids, SegmentId};
use capeval_evaluate::{MetricScores, ReferenceSet, System, evaluate};
use capeval_fluency::ngram::FALLBACK_DISCOUNTS;
use capeval_fluency::{
    Base, EndSymbol, NgramModel, NgramPerplexity, Perplexity, Record, UnknownWords, records,
};
use capeval_metric::{AnyMetric, Reading, Signature, Statistics as _};
use capeval_report::{Head, Measure, MetricEntry, Notice, Provenance, Report, Segments, SystemReport};
use capeval_stats::Table;
use capeval_text::{Texts, Tokenizer};

use crate::measures::entries;
use crate::score::{check_names, from_corpus, from_remark, push_once};
use crate::{Error, VERSION, references};

/// Estimates an n-gram model of all captions, cut by `tokenizer`: interpolated modified Kneser-Ney.
///
/// Returns the orders too whose discounts could not be estimated, for there are too few captions, and were
/// taken from [`FALLBACK_DISCOUNTS`].
///
/// # Errors
/// When `order` is out of range, when there is no caption, or, without `fallback`, when there are too few.
pub fn language_model(
    captions: Captions,
    ids: Ids,
    tokenizer: Tokenizer,
    order: usize,
    fallback: bool,
) -> Result<(NgramModel, Vec<usize>), Error> {
    let (_, mut set) = references::whole(captions, ids)?;
    Ok(set.language_model(Reading::Tokens(tokenizer), order, fallback.then_some(FALLBACK_DISCOUNTS))?)
}

/// The perplexities of captions under `model`: with the end of captions and without it, and without the words
/// that the model does not know. Each caption is a segment; an image may have any number of them.
///
/// # Errors
/// When no system is given or two have the same name.
pub fn perplexity(
    systems: Vec<(String, Captions)>,
    model: &Arc<NgramModel>,
    tokenizer: Tokenizer,
    segments: bool,
) -> Result<Report, Error> {
    check_names(&systems)?;
    let under = NgramPerplexity::under(Arc::clone(model), tokenizer);
    let metrics = [
        under.clone(),
        under.clone().with_end(EndSymbol::Omitted),
        under.with_unknown(UnknownWords::Omitted),
    ]
    .map(AnyMetric::new);
    let (entries, measures) = entries(&metrics);
    let mut notices = Vec::new();
    let mut reports = Vec::new();
    let same = same_segments(systems.iter().map(|(_, captions)| captions.ids().to_vec()));
    for (name, captions) in &systems {
        for notice in captions.notices() {
            push_once(&mut notices, from_corpus(notice, Some(name)));
        }
    }
    for (name, captions) in systems {
        let images: Vec<u32> = (0..captions.len() as u32).collect();
        let mut nothing = ReferenceSet::new(Texts::default(), vec![0; captions.len()]);
        let texts = captions.iter().map(|(_, text)| text).collect();
        let system = System { name: name.clone(), images, texts };
        let scores = evaluate(&mut nothing, &[system], &metrics, &());
        let scores = scores.into_iter().flat_map(|system| system.metrics).collect::<Vec<_>>();
        notices.extend(scores.first().and_then(|metric| unknown_words(&name, metric, captions.len())));
        let signatures = scores.iter().map(|metric| metric.signature.clone());
        let values: Vec<Vec<f64>> = scores.iter().map(MetricScores::segments).collect();
        reports.push(SystemReport {
            source: captions.source().to_owned(),
            n_images: captions.len(),
            n_references: 0,
            scores: scores.iter().flat_map(|metric| metric.corpus.iter().copied()).collect(),
            intervals: None,
            signatures: signatures.map(signed).collect(),
            segments: segments.then(|| Segments {
                ids: captions.ids().to_vec(),
                values: (0..captions.len()).flat_map(|k| values.iter().map(move |v| v[k])).collect(),
            }),
            name,
        });
    }
    Ok(report(entries, measures, reports, notices, same))
}

/// Says how many words of a system the saved model of `metric` does not know, if it is a perplexity under one.
pub(crate) fn unknown_words(name: &str, metric: &MetricScores, n_captions: usize) -> Option<Notice> {
    let signature = &metric.signature;
    let has_end = signature.get("end") != Some(EndSymbol::Omitted.name());
    if signature.metric() != "perplexity" || signature.get("lm").is_none_or(|lm| lm == "references") {
        return None;
    }
    let total = Perplexity::load(&metric.table.total());
    let words = total.tokens - if has_end { n_captions as f64 } else { 0.0 };
    let message = format!(
        "the model does not know {} of {words} words of {name}, so they count as <unk>",
        total.unknown
    );
    let remedy = format!(
        "make sure that the model was trained with the same tokenizer ({})",
        signature.get("tok").unwrap_or("ptb")
    );
    let notice = || Notice::new("unknown-words", message).remedy(remedy);
    (total.unknown > 0.0).then(|| Notice { system: Some(name.to_owned()), ..notice() })
}

/// What a model thought of the captions of one system.
pub struct Probabilities {
    /// The system's name, which must be unique.
    pub name: String,
    /// Where the records come from: a path, or `-` for standard input.
    pub source: String,
    /// The records.
    pub records: Vec<Record>,
}

/// The perplexities of captions from the probabilities that models gave to their tokens: with the end of
/// captions and without it, or without alone if no file says how probable an end is.
///
/// `base` is that of the logarithms the records were read with, for the signature.
///
/// # Errors
/// When no system is given or two have the same name, or a system has two records of one id.
pub fn perplexity_of(systems: Vec<Probabilities>, base: Base, segments: bool) -> Result<Report, Error> {
    let names: Vec<(String, ())> = systems.iter().map(|system| (system.name.clone(), ())).collect();
    check_names(&names)?;
    for Probabilities { source, records, .. } in &systems {
        let mut seen = HashSet::new();
        if let Some(twice) = records.iter().find(|record| !seen.insert(record.id.as_str())) {
            return Err(Error::with_remedy(
                format!("{source}: segment {} appears twice", twice.id),
                "give each caption one record",
            ));
        }
    }
    let has_ends = systems.iter().flat_map(|system| &system.records).any(|record| record.end.is_some());
    let ends = if has_ends { &[EndSymbol::Counted, EndSymbol::Omitted][..] } else { &[EndSymbol::Omitted] };
    let mut measures = Vec::new();
    let mut entries = Vec::new();
    for (k, end) in ends.iter().enumerate() {
        let (suffix, label) = if k == 0 { (String::new(), String::new()) } else { end_suffix(*end) };
        let part = NgramPerplexity::part();
        let key = format!("{}{suffix}", part.key);
        entries.push(MetricEntry { key: key.clone(), n_measures: 1 });
        measures.push(Measure {
            key,
            label: format!("{}{label}", part.label),
            direction: part.direction,
            number: part.number,
            min: part.min,
            max: part.max,
        });
    }
    let mut notices = Vec::new();
    let mut reports = Vec::new();
    let ids = |records: &[Record]| records.iter().map(|record| SegmentId::from_untyped(&record.id)).collect();
    let same = same_segments(systems.iter().map(|system| ids(&system.records)));
    for Probabilities { name, source, records } in systems {
        let tables = ends.iter().map(|end| {
            let mut values = vec![0.0; 3 * records.len()];
            for (row, record) in values.chunks_exact_mut(3).zip(&records) {
                record.perplexity(*end).store(row);
            }
            Table::new(Perplexity::columns(), values)
        });
        let tables: Vec<Table> = tables.collect();
        let first = ends.first().copied().unwrap_or(EndSymbol::Omitted);
        for remark in records::remarks(&records, first) {
            notices.push(from_remark(&remark, Some(&name)));
        }
        let signature = |end: &EndSymbol| {
            let signature = Signature::new("perplexity").with("probabilities", "given");
            signed(signature.with("log", base.name()).with("end", end.name()))
        };
        let by_segment: Vec<Vec<f64>> = tables
            .iter()
            .map(|table| table.rows().map(|row| Perplexity::load(row).value()).collect())
            .collect();
        reports.push(SystemReport {
            n_images: records.len(),
            n_references: 0,
            scores: tables.iter().map(|table| Perplexity::load(&table.total()).value()).collect(),
            intervals: None,
            signatures: ends.iter().map(signature).collect(),
            segments: segments.then(|| Segments {
                ids: ids(&records),
                values: (0..records.len()).flat_map(|k| by_segment.iter().map(move |v| v[k])).collect(),
            }),
            name,
            source,
        });
    }
    Ok(report(entries, measures, reports, notices, same))
}

fn end_suffix(end: EndSymbol) -> (String, String) {
    (format!(":end={}", end.name()), format!(" end={}", end.name()))
}

fn signed(mut signature: Signature) -> Signature {
    signature.push("capeval", VERSION);
    signature
}

/// Whether all systems have captions of the same ids, in whatever order, and as many of each.
fn same_segments(systems: impl Iterator<Item = Vec<SegmentId>>) -> bool {
    let mut sorted = systems.map(|mut ids| {
        ids.sort_unstable();
        ids
    });
    let first = sorted.next();
    sorted.all(|ids| Some(ids) == first)
}

fn report(
    metrics: Vec<MetricEntry>,
    measures: Vec<Measure>,
    systems: Vec<SystemReport>,
    notices: Vec<Notice>,
    same_images: bool,
) -> Report {
    Report {
        head: Head { version: VERSION.to_owned(), metrics, measures, resampling: None, notices },
        systems,
        same_images,
        provenance: Provenance { files: Vec::new(), n_images: 0, n_references: 0, policy: None, ids: None },
        explained: Vec::new(),
        gallery: None,
    }
}
