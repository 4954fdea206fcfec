//! Rows that are scored in parts, as engines of record batches do: document frequencies that are counted in parts are
//! those of the whole, each row has the statistics that it has among all others, and merged sums give the scores.

use std::convert::Infallible;
use std::sync::Arc;

use capeval::{Dealing, Sums, SumsOptions};
use capeval_corpus::Policy;
use capeval_evaluate::registry::{self, Resources};
use capeval_evaluate::{ReferenceSet, System, SystemScores, evaluate};
use capeval_lexical::frequencies::DocumentFrequencies;
use capeval_metric::{AnyMetric, Reading};
use capeval_text::Tokenizer;

use crate::engine::captions;

const METRICS: [&str; 6] = [
    "bleu:tok=ptb-each",
    "rouge-l:tok=ptb-each",
    "cider-d:tok=ptb-each",
    "cider:tok=ptb-each",
    "chrf",
    "ter",
];

/// A row: the candidate, then its references.
type Row = Vec<String>;

fn references(rows: &[Row]) -> ReferenceSet {
    let texts: Vec<Vec<&str>> =
        rows.iter().map(|row| row[1..].iter().map(String::as_str).collect()).collect();
    ReferenceSet::of_rows(&texts)
}

fn frequencies(rows: &[Row]) -> DocumentFrequencies {
    references(rows)
        .document_frequencies(Reading::Tokens(Tokenizer::PtbEach), 4)
        .expect("there are few n-grams")
}

fn scores(rows: &[Row], metrics: &[AnyMetric]) -> SystemScores {
    let texts = rows.iter().map(|row| row[0].as_str()).collect();
    let system = System { name: String::new(), images: (0..rows.len() as u32).collect(), texts };
    evaluate(&mut references(rows), &[system], metrics, &()).swap_remove(0)
}

/// The statistics of each row, metric after metric.
fn statistics(scores: &SystemScores) -> Vec<Vec<f64>> {
    let n = scores.metrics.first().map_or(0, |metric| metric.table.len());
    (0..n)
        .map(|row| scores.metrics.iter().flat_map(|metric| metric.table.row(row)).copied().collect())
        .collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub fn check(bytes: &[u8]) {
    let Some((sizes, bytes)) = bytes.split_first_chunk::<4>() else { return };
    let mut rows = captions(bytes);
    rows.retain(|row| row.len() > 1);
    if rows.is_empty() {
        return;
    }
    let mut sizes = sizes.iter().cycle().map(|size| usize::from(size % 8) + 1);
    let (mut parts, mut rest) = (Vec::new(), &rows[..]);
    while !rest.is_empty() {
        let (part, later) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
        parts.push(part);
        rest = later;
    }

    let whole = frequencies(&rows);
    let counted: Vec<_> = parts.iter().map(|part| frequencies(part)).collect();
    let table = DocumentFrequencies::sum(&counted).expect("they have the same order");
    assert_eq!(table.fingerprint(), whole.fingerprint(), "document frequencies of {} parts", parts.len());

    let resources = Resources::default().with(Some(Arc::new(table)));
    let metrics: Vec<AnyMetric> = METRICS
        .iter()
        .map(|name| registry::build(name, &[], &resources).expect("these need no more data"))
        .collect();
    let expected = scores(&rows, &metrics);
    let mut merged = Sums::new(&metrics, Policy::default());
    let mut done = Vec::new();
    // From last to first, since no order may matter.
    for part in parts.iter().rev() {
        let mut sums = Sums::new(&metrics, Policy::default());
        let measured = statistics(&scores(part, &metrics));
        for (row, measured) in part.iter().zip(&measured) {
            sums.add(0, row.len() as u64 - 1, measured);
        }
        merged.begin_part(sums.settings(), Dealing::new(1, 0)).expect("the metrics are the same");
        for (number, block) in sums.blocks() {
            let Ok(()) = merged.add_block(number, |to| {
                *to = block.clone();
                Ok::<(), Infallible>(())
            });
        }
        done.push(measured);
    }
    let done: Vec<Vec<f64>> = done.into_iter().rev().flatten().collect();
    assert!(statistics(&expected).iter().map(|row| bits(row)).eq(done.iter().map(|row| bits(row))), "rows");
    let options = SumsOptions {
        name: String::new(),
        source: String::new(),
        reference_source: String::new(),
        notices: Vec::new(),
        policy: Policy::default(),
        repeated: Default::default(),
        intervals: None,
    };
    let report = merged.report(&metrics, &options).expect("there are rows");
    let corpus: Vec<f64> = expected.metrics.iter().flat_map(|metric| metric.corpus.clone()).collect();
    assert_eq!(bits(&report.systems[0].scores), bits(&corpus), "corpus scores");
}
