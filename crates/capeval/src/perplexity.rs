//! Computes perplexities without references: under an n-gram model, or from token probabilities.

use std::sync::Arc;

use capeval_choice::Code;
use capeval_corpus::probabilities::{Probabilities, Scale, SegmentProbabilities};
use capeval_corpus::{Captions, Ids, SegmentId, refuse_open};
use capeval_evaluate::{MetricScores, evaluate_texts};
use capeval_lexical::fluency::ngram::FALLBACK_DISCOUNTS;
use capeval_lexical::fluency::{Base, EndSymbol, NgramModel, NgramPerplexity, Perplexity, UnknownWords};
use capeval_metric::{AnyMetric, Part, Reading, Signature, Statistics as _};
use capeval_report::{Measure, MetricEntry, Notice, Report, Segments, SystemReport};
use capeval_stats::Table;
use capeval_text::Tokenizer;

use crate::findings::Findings;
use crate::inputs::{check_names, of_readers};
use crate::measures::{corpus_scores, entries, head};
use crate::signing::{unknown_words, with_version};
use crate::{Error, PerplexityOptions, references};

/// Estimates an n-gram model of all captions, split by `tokenizer`, with interpolated modified Kneser-Ney smoothing.
///
/// Also returns the orders that use [`FALLBACK_DISCOUNTS`] because there are too few captions to estimate discounts.
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

/// The data that perplexities are computed from.
pub enum PerplexitySource {
    /// Captions under a model; an image may have any number of them.
    Captions {
        /// The systems: a name, which must be unique, and captions, each of which is a segment.
        systems: Vec<(String, Captions)>,
        /// The model.
        model: Arc<NgramModel>,
    },
    /// Token probabilities of captions: a name, which must be unique, and the probabilities.
    Probabilities(Vec<(String, Probabilities)>),
}

/// Data and options of a report on perplexities.
pub struct PerplexityRequest {
    /// The data.
    pub source: PerplexitySource,
    /// Everything that a person sets.
    pub options: PerplexityOptions,
}

/// Computes perplexities with the end of captions and without it. Under a model, also without the words that the model
/// does not know; from probabilities, only without the end if no file says how probable an end is.
pub fn perplexity(request: PerplexityRequest) -> Result<Report, Error> {
    let PerplexityRequest { source, options } = request;
    match source {
        PerplexitySource::Captions { systems, model } => under_model(systems, &model, &options),
        PerplexitySource::Probabilities(systems) => from_probabilities(systems, &options),
    }
}

fn under_model(
    systems: Vec<(String, Captions)>,
    model: &Arc<NgramModel>,
    options: &PerplexityOptions,
) -> Result<Report, Error> {
    check_names(&systems)?;
    systems.iter().try_for_each(|(_, captions)| refuse_open(captions))?;
    let tokenizer = options.tokenizer.as_deref().unwrap_or("ptb").parse()?;
    let under = NgramPerplexity::under(Arc::clone(model), tokenizer);
    let metrics = [
        under.clone(),
        under.clone().with_end(EndSymbol::Omitted),
        under.with_unknown(UnknownWords::Omitted),
    ]
    .map(AnyMetric::new);
    let (entries, measures) = entries(&metrics);
    let mut found = Findings::default();
    found.add_once(of_readers(&systems));
    let mut reports = Vec::new();
    let same = same_segments(systems.iter().map(|(_, captions)| captions.ids().to_vec()));
    for (name, captions) in systems {
        let texts = captions.iter().map(|(_, text)| text).collect();
        let scores = evaluate_texts(&name, texts, &metrics);
        found.add(scores.first().and_then(|metric| unknown_words(&name, metric, captions.len())));
        let signatures = scores.iter().map(|metric| metric.signature.clone());
        let values: Vec<Vec<f64>> = scores.iter().map(MetricScores::segments).collect();
        reports.push(SystemReport {
            source: captions.source().to_owned(),
            n_images: captions.len(),
            n_references: 0,
            scores: corpus_scores(&scores),
            lengths: None,
            intervals: None,
            runs: None,
            signatures: signatures.map(with_version).collect(),
            reference_hash: None,
            segments: options.segments.then(|| Segments {
                ids: captions.ids().to_vec(),
                values: (0..captions.len()).flat_map(|k| values.iter().map(move |v| v[k])).collect(),
            }),
            name,
        });
    }
    Ok(report(entries, measures, reports, found, same))
}

fn from_probabilities(
    systems: Vec<(String, Probabilities)>,
    options: &PerplexityOptions,
) -> Result<Report, Error> {
    check_names(&systems)?;
    let mut segments = systems.iter().flat_map(|(_, given)| &given.segments);
    let ends: &[EndSymbol] = match segments.any(|segment| segment.end.is_some()) {
        true => &[EndSymbol::Counted, EndSymbol::Omitted],
        false => &[EndSymbol::Omitted],
    };
    let (entries, measures) = ends.iter().enumerate().map(|(k, end)| measure(*end, k == 0)).unzip();
    let ids = |given: &Probabilities| -> Vec<SegmentId> {
        given.segments.iter().map(|segment| segment.id.clone()).collect()
    };
    let same = same_segments(systems.iter().map(|(_, given)| ids(given)));
    let mut found = Findings::default();
    let mut reports = Vec::new();
    for (name, given) in systems {
        let rows: Vec<Vec<Perplexity>> = with_ends(&given.segments, ends, options.log);
        found.add(given.notices.iter().map(|notice| notice.clone().system(&name)));
        found.add(doubts(&given.segments, &rows[0], ends[0], &name));
        let total = |rows: &Vec<Perplexity>| {
            let mut values = vec![0.0; 3 * rows.len()];
            values.chunks_exact_mut(3).zip(rows).for_each(|(row, segment)| segment.store(row));
            Perplexity::load(&Table::new(Perplexity::columns(), values).total()).value()
        };
        let signature = |end: &EndSymbol| {
            let signature = Signature::new("perplexity").with("probabilities", "given");
            with_version(signature.with("log", options.log).with("end", end))
        };
        let values = |k: usize| rows.iter().map(move |rows| rows[k].value());
        reports.push(SystemReport {
            n_images: given.segments.len(),
            n_references: 0,
            scores: rows.iter().map(total).collect(),
            lengths: None,
            intervals: None,
            runs: None,
            signatures: ends.iter().map(signature).collect(),
            reference_hash: None,
            segments: options.segments.then(|| Segments {
                ids: ids(&given),
                values: (0..given.segments.len()).flat_map(values).collect(),
            }),
            source: given.source,
            name,
        });
    }
    Ok(report(entries, measures, reports, found, same))
}

/// The perplexity with or without the end of captions, which its key says unless it is the main one.
fn measure(end: EndSymbol, is_main: bool) -> (MetricEntry, Measure) {
    let part = NgramPerplexity::part();
    let (key, label) = match is_main {
        true => (part.key, part.label),
        false => (format!("{}:end={end}", part.key), format!("{} end={end}", part.label)),
    };
    let Part { direction, number, min, max, .. } = part;
    let entry = MetricEntry { key: key.clone(), n_measures: 1, is_mean: false };
    (entry, Measure { key, label, direction, number, min, max })
}

/// The perplexity of each segment for each of `ends`.
fn with_ends(segments: &[SegmentProbabilities], ends: &[EndSymbol], base: Base) -> Vec<Vec<Perplexity>> {
    let log2 = |scale: Scale, number: f64| match scale {
        Scale::Probability => number.log2(),
        Scale::Logarithm => base.to_log2(number),
    };
    let without = segments.iter().map(|segment| {
        let mut perplexity = Perplexity::default();
        segment.tokens.iter().for_each(|number| perplexity.add(log2(segment.scale, *number)));
        perplexity
    });
    let without: Vec<Perplexity> = without.collect();
    let with = |end: &EndSymbol| {
        let ended = without.iter().zip(segments).map(|(without, segment)| {
            let mut perplexity = *without;
            let end = segment.end.filter(|_| *end == EndSymbol::Counted);
            end.into_iter().for_each(|number| perplexity.add(log2(segment.scale, number)));
            perplexity
        });
        ended.collect()
    };
    ends.iter().map(with).collect()
}

/// Says which segments of a system hold a token of probability zero or none at all, and whether ends were to be counted
/// that the file does not give.
fn doubts(
    segments: &[SegmentProbabilities],
    perplexities: &[Perplexity],
    end: EndSymbol,
    system: &str,
) -> Vec<Notice> {
    let mut found = Vec::new();
    let mut say = |code: Code, message: String| found.push(Notice::new(code, message).system(system));
    let those = |are: fn(&Perplexity) -> bool| -> Vec<&SegmentId> {
        let chosen = perplexities.iter().zip(segments).filter(|(perplexity, _)| are(perplexity));
        chosen.map(|(_, segment)| &segment.id).collect()
    };
    let n = segments.len();
    if let [first, others @ ..] = &those(|perplexity| perplexity.value().is_infinite())[..] {
        let others = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
        let message = format!(
            "a token of segment {first}{others} has probability 0, or one too small to tell from it, so the \
             perplexity is infinite"
        );
        say(Code::ZeroProbability, message);
    }
    let bare = those(|perplexity| perplexity.tokens == 0.0);
    if let [first, ..] = &bare[..] {
        let message = format!(
            "{} of {n} segments have no token that counts, the first being {first}; a perplexity of 1 says nothing \
             there",
            bare.len()
        );
        say(Code::NoTokens, message);
    }
    let without = segments.iter().filter(|segment| segment.end.is_none()).count();
    if end == EndSymbol::Counted && without > 0 {
        let message =
            format!("{without} of {n} segments give no probability of their end, so it is not counted there");
        say(Code::NoEndSymbol, message);
    }
    found
}

/// Returns true if all systems have captions of the same ids, in whatever order, and as many of each.
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
    found: Findings,
    same_images: bool,
) -> Report {
    Report { head: head(metrics, measures, None, found), systems, same_images, ..Report::default() }
}

#[cfg(test)]
mod tests {
    use capeval_corpus::probabilities::read_probabilities;

    use super::*;

    fn report(lines: &str, log: Base) -> Report {
        let given = read_probabilities(lines.as_bytes(), "f").unwrap();
        let source = PerplexitySource::Probabilities(vec![("mine".to_owned(), given)]);
        let options = PerplexityOptions { log, segments: true, ..PerplexityOptions::default() };
        perplexity(PerplexityRequest { source, options }).unwrap()
    }

    fn value(lines: &str, log: Base) -> f64 {
        report(lines, log).score(0, "perplexity").unwrap()
    }

    #[test]
    fn the_worked_example_holds_for_probabilities_and_for_every_base() {
        let probabilities = [0.6_f64, 0.8, 0.3, 0.4, 0.3, 0.5, 0.6];
        let mut values = vec![value(&format!(r#"{{"id": 7, "probs": {probabilities:?}}}"#), Base::E)];
        for (base, log) in
            [(Base::E, f64::ln as fn(f64) -> f64), (Base::Two, f64::log2), (Base::Ten, f64::log10)]
        {
            let line = format!(r#"{{"id": "x", "logprobs": {:?}}}"#, probabilities.map(log));
            values.push(value(&line, base));
        }
        for value in values {
            assert_eq!(format!("{value:.2}"), "2.12");
        }
    }

    #[test]
    fn the_end_symbol_counts_in_one_of_two_numbers() {
        let report = report(r#"{"id": 1, "probs": [0.5, 0.5], "end": 0.125}"#, Base::E);
        assert_eq!(report.score(0, "perplexity:end=no"), Some(2.0));
        assert_eq!(report.score(0, "perplexity"), Some(f64::exp2(5.0 / 3.0)));
    }

    #[test]
    fn a_zero_probability_is_noticed_with_its_segment() {
        for zero in [r#""probs":[0.0, 0.5]"#, r#""logprobs":[-1e308]"#, r#""logprobs":[-1.0, -Infinity]"#] {
            let lines = format!("{{\"id\":1,\"probs\":[1]}}\n\n{{\"id\":\"b\",{zero}}}\n");
            let report = report(&lines, Base::E);
            assert_eq!(report.score(0, "perplexity"), Some(f64::INFINITY));
            assert_eq!(report.systems[0].segments.as_ref().unwrap().values, [1.0, f64::INFINITY]);
            let [notice] = &report.head.notices[..] else { panic!("{:?}", report.head.notices) };
            assert!(notice.message.contains("segment b has probability 0"), "{}", notice.message);
        }
    }

    #[test]
    fn a_corpus_divides_total_bits_by_total_tokens() {
        let lines = "{\"id\":1,\"probs\":[0.5]}\n{\"id\":2,\"probs\":[0.125,0.125,0.125]}";
        assert_eq!(value(lines, Base::E), f64::exp2(2.5));
    }

    #[test]
    fn tokens_without_a_number_are_not_counted() {
        assert_eq!(value(r#"{"id":1,"logprobs":[null,-1.0]}"#, Base::Two), 2.0);
    }
}
