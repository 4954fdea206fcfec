//! Preferences as JSON and CSV for programs.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use serde::Serialize;

use super::{Accuracy, Preference};
use crate::Coefficient;
use crate::number::full;
use crate::render::{
    self,
    json::{Map, SerialMeasure, SerialNotice, SerialResampling},
};

/// Writes one JSON object, with every number in full; a category without a name has an empty one: `accuracies` (a map from measure to what it scores), `pairs` and
/// `protocol` beside what [`json`](crate::json) writes of measures, signatures, resampling and notices.
///
/// # Errors
/// When `out` does not take what is written.
pub fn json(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Whole::new(found))?;
    out.write_all(b"\n")
}

/// Writes one line per measure: the object that [`json`](fn@json) puts into `accuracies`, with its signature and the
/// notices.
///
/// # Errors
/// When `out` does not take what is written.
pub fn jsonl(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let whole = Whole::new(found);
    for (m, (measure, accuracies)) in whole.accuracies.0.iter().enumerate() {
        let Whole { capeval, pairs, protocol, notices, .. } = &whole;
        let resampling = found.resampling.map(SerialResampling::new);
        let signature = found.signature_of(m).map(ToString::to_string);
        let line = Line { measure, accuracies, pairs, protocol, resampling, signature, notices, capeval };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a header and one row per measure and category, then one for the mean over categories and one for all pairs:
/// the column `of` is `category`, `mean` or `all`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let mut header = ["measure", "of", "category", "accuracy"].map(str::to_owned).to_vec();
    if found.resampling.is_some() {
        header.extend(["accuracy_low", "accuracy_high"].map(str::to_owned));
    }
    let rest = [
        "pairs",
        "references_per_pair",
        "draws",
        "draw_seed",
        "human_ties",
        "metric_ties",
        "signature",
        "notices",
    ];
    header.extend(rest.map(str::to_owned));
    if found.resampling.is_some() {
        header.extend(render::csv::RESAMPLING.map(str::to_owned));
    }
    render::csv::row(out, header.into_iter())?;
    let number = |value: Option<f64>| value.map_or_else(String::new, full);
    let protocol = &found.protocol;
    let references = protocol.references.map_or_else(|| "all".to_owned(), |n| n.to_string());
    let drawing = [references, protocol.draws.to_string(), protocol.seed.to_string()];
    let drawing = if found.is_drawn() { drawing } else { Default::default() };
    let total: usize = found.categories.iter().map(|category| category.n_counted).sum();
    let codes: Vec<&str> = found.notices.iter().map(|notice| notice.code.as_str()).collect();
    for (m, (measure, accuracy)) in found.measures.iter().zip(&found.accuracies).enumerate() {
        let signature = found.signature_of(m).map_or_else(String::new, ToString::to_string);
        let categories = found.categories.iter().zip(&accuracy.by_category);
        let categories = categories
            .filter(|_| found.is_categorised())
            .map(|(category, value)| ("category", category.name.as_str(), value, category.n_counted));
        let totals = [("mean", "", &accuracy.mean, total), ("all", "", &accuracy.all, total)];
        for (of, name, coefficient, n) in categories.chain(totals) {
            let mut fields =
                vec![measure.key.clone(), of.to_owned(), name.to_owned(), number(coefficient.value)];
            if found.resampling.is_some() {
                let interval = coefficient.interval.filter(|interval| !interval.low.is_nan());
                fields.extend([number(interval.map(|i| i.low)), number(interval.map(|i| i.high))]);
            }
            fields.push(n.to_string());
            fields.extend(drawing.clone());
            fields.extend([protocol.human_ties.name(), protocol.metric_ties.name()].map(str::to_owned));
            fields.extend([signature.clone(), codes.join(" ")]);
            fields.extend(found.resampling.map(render::csv::resampling).into_iter().flatten());
            render::csv::row(out, fields.into_iter())?;
        }
    }
    Ok(())
}

/// Writes the pairs behind the numbers, one line each:
/// `{"image_id": …, "category": …, "captions": […], "votes": […], "scores": {"cider-d": […]}, "right": {…}}`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn pairs(found: &Preference, out: &mut impl Write) -> io::Result<()> {
    let keys = || found.measures.iter().map(|measure| measure.key.as_str());
    for pair in &found.pairs {
        let category = found.categories.get(pair.category).map_or("", |category| category.name.as_str());
        let line = SerialPair {
            image_id: &pair.image,
            category: (!category.is_empty()).then_some(category),
            captions: &pair.captions,
            votes: pair.votes,
            scores: Map(keys().zip(pair.scores.iter().copied()).collect()),
            right: Map(keys().zip(pair.right.iter().copied()).collect()),
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct SerialPair<'r> {
    image_id: &'r SegmentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'r str>,
    captions: &'r [String; 2],
    votes: [f64; 2],
    scores: Map<&'r str, [f64; 2]>,
    right: Map<&'r str, Option<f64>>,
}

#[derive(Serialize)]
struct Whole<'r> {
    capeval: &'r str,
    pairs: Pairs<'r>,
    protocol: SerialProtocol,
    accuracies: Map<&'r str, Accuracies>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    signatures: Map<&'r str, String>,
    notices: Vec<SerialNotice<'r>>,
    measures: Vec<SerialMeasure<'r>>,
}

#[derive(Serialize)]
struct Line<'r> {
    measure: &'r str,
    #[serde(flatten)]
    accuracies: &'r Accuracies,
    pairs: &'r Pairs<'r>,
    protocol: &'r SerialProtocol,
    #[serde(skip_serializing_if = "Option::is_none")]
    resampling: Option<SerialResampling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
    notices: &'r [SerialNotice<'r>],
    capeval: &'r str,
}

#[derive(Serialize)]
struct Pairs<'r> {
    file: &'r str,
    images: usize,
    pairs: usize,
    tied: usize,
    votes: f64,
    majority: f64,
    categories: Map<String, usize>,
}

#[derive(Serialize)]
struct SerialProtocol {
    #[serde(flatten)]
    drawing: Option<Drawing>,
    human_ties: &'static str,
    metric_ties: &'static str,
}

/// Left out where scores were given.
#[derive(Serialize)]
struct Drawing {
    references_per_pair: Option<usize>,
    draws: usize,
    draw_seed: u64,
}

#[derive(Serialize)]
struct Accuracies {
    accuracy: Map<String, Option<f64>>,
    mean: Option<f64>,
    all: Option<f64>,
    by_draw: Vec<Option<f64>>,
    tied: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Ends>,
}

/// The ends of the intervals of [`Accuracies`].
#[derive(Serialize)]
struct Ends {
    accuracy: Map<String, Option<[f64; 2]>>,
    mean: Option<[f64; 2]>,
    all: Option<[f64; 2]>,
}

impl<'r> Whole<'r> {
    fn new(found: &'r Preference) -> Self {
        let names = || found.categories.iter().filter(|_| found.is_categorised()).map(|c| c.name.clone());
        let (voters, protocol) = (&found.voters, &found.protocol);
        let accuracies = |accuracy: &Accuracy| {
            let ends = |c: &Coefficient| {
                let interval = c.interval.filter(|interval| !interval.low.is_nan());
                interval.map(|interval| [interval.low, interval.high])
            };
            let by_category = || names().zip(&accuracy.by_category);
            Accuracies {
                accuracy: Map(by_category().map(|(name, c)| (name, c.value)).collect()),
                mean: accuracy.mean.value,
                all: accuracy.all.value,
                by_draw: accuracy.by_draw.clone(),
                tied: accuracy.tied,
                intervals: found.resampling.map(|_| Ends {
                    accuracy: Map(by_category().map(|(name, c)| (name, ends(c))).collect()),
                    mean: ends(&accuracy.mean),
                    all: ends(&accuracy.all),
                }),
            }
        };
        let measures = found.measures.iter().zip(&found.accuracies);
        Self {
            capeval: &found.version,
            pairs: Pairs {
                file: &voters.source,
                images: voters.n_images,
                pairs: voters.n_pairs,
                tied: voters.n_tied,
                votes: voters.n_votes,
                majority: voters.majority,
                categories: Map(names().zip(found.categories.iter().map(|c| c.n_counted)).collect()),
            },
            protocol: SerialProtocol {
                drawing: found.is_drawn().then_some(Drawing {
                    references_per_pair: protocol.references,
                    draws: protocol.draws,
                    draw_seed: protocol.seed,
                }),
                human_ties: protocol.human_ties.name(),
                metric_ties: protocol.metric_ties.name(),
            },
            accuracies: Map(measures.map(|(m, accuracy)| (m.key.as_str(), accuracies(accuracy))).collect()),
            resampling: found.resampling.map(SerialResampling::new),
            signatures: render::json::signatures(&found.metrics, &found.signatures),
            measures: render::json::measures(&found.measures),
            notices: found.notices.iter().map(render::json::notice).collect(),
        }
    }
}
