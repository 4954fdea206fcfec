//! Preferences as JSON, JSON Lines with a line per measure, and CSV with a row per measure and category, and the pairs
//! behind them.

use std::io::{self, Write};

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use capeval_stats::Interval;
use serde::Serialize;

use super::{Ends, Export, Line, Map, codes, ends, number, resampling_columns, resampling_fields};
use crate::{Accuracy, Coefficient, Head, Preference, Voters};

impl Export for Preference {
    fn head(&self) -> &Head {
        &self.head
    }

    fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    fn signatures(&self) -> Vec<Signature> {
        self.signatures.clone()
    }

    fn body(&self) -> impl Serialize {
        #[derive(Serialize)]
        struct Body<'r> {
            pairs: Pairs<'r>,
            protocol: Terms,
            accuracies: Map<&'r str, Accuracies<'r>>,
        }
        let accuracies = self.accuracies.iter().map(|accuracy| Accuracies::new(self, accuracy));
        Body {
            pairs: Pairs::new(self),
            protocol: Terms::new(self),
            accuracies: Map(self.head.keys().zip(accuracies).collect()),
        }
    }

    fn tail(&self) -> impl Serialize {}

    fn lines(&self) -> impl Iterator<Item = Line<'_, impl Serialize>> {
        #[derive(Serialize)]
        struct Body<'r> {
            measure: &'r str,
            #[serde(flatten)]
            accuracies: Accuracies<'r>,
            pairs: Pairs<'r>,
            protocol: Terms,
        }
        self.head.keys().zip(&self.accuracies).enumerate().map(|(m, (measure, accuracy))| Line {
            body: Body {
                measure,
                accuracies: Accuracies::new(self, accuracy),
                pairs: Pairs::new(self),
                protocol: Terms::new(self),
            },
            signatures: Map(self.signature_of(m).map(|s| ("signature", s.to_string())).into_iter().collect()),
            notices: self.head.notices.iter().collect(),
        })
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = ["measure", "of", "category", "accuracy"].map(str::to_owned).to_vec();
        if self.head.resampling.is_some() {
            columns.extend(["accuracy_low", "accuracy_high"].map(str::to_owned));
        }
        let rest = "pairs,references_per_pair,draws,draw_seed,human_ties,metric_ties,signature,notices";
        columns.extend(rest.split(',').map(str::to_owned));
        columns.extend(resampling_columns(self.head.resampling));
        columns
    }

    /// For each measure a row per category, then one for the mean over categories and one for all pairs.
    fn rows(&self) -> impl Iterator<Item = Vec<String>> {
        let protocol = &self.protocol;
        let references = protocol.references.map_or_else(|| "all".to_owned(), |n| n.to_string());
        let drawing = [references, protocol.draws.to_string(), protocol.seed.to_string()];
        let drawing = if self.is_drawn() { drawing } else { Default::default() };
        let total: usize = self.categories.iter().map(|category| category.n_counted).sum();
        let mut rows = Vec::new();
        for (m, (key, accuracy)) in self.head.keys().zip(&self.accuracies).enumerate() {
            let signature = self.signature_of(m).map_or_else(String::new, ToString::to_string);
            let categories =
                self.categories.iter().zip(&accuracy.by_category).filter(|_| self.is_categorised());
            let categories = categories.map(|(c, found)| ("category", c.name.as_str(), found, c.n_counted));
            let totals = [("mean", "", &accuracy.mean, total), ("all", "", &accuracy.all, total)];
            for (of, category, found, n) in categories.chain(totals) {
                let mut row = vec![key.to_owned(), of.to_owned(), category.to_owned(), number(found.value)];
                if self.head.resampling.is_some() {
                    let interval = known(found);
                    row.extend([interval.map(|i| i.low), interval.map(|i| i.high)].map(number));
                }
                row.push(n.to_string());
                row.extend(drawing.clone());
                row.extend([protocol.human_ties.name(), protocol.metric_ties.name()].map(str::to_owned));
                row.extend([signature.clone(), codes(&self.head.notices)]);
                row.extend(resampling_fields(self.head.resampling));
                rows.push(row);
            }
        }
        rows.into_iter()
    }
}

/// The interval; `None` if it is missing or its ends are NaN.
fn known(found: &Coefficient) -> Option<Interval> {
    found.interval.filter(|interval| !interval.low.is_nan())
}

/// Writes the pairs that the accuracies are computed from, one per line:
/// `{"image_id": …, "category": …, "captions": […], "votes": […], "scores": {"cider-d": […]}, "right": {…}}`.
pub(crate) fn pairs(found: &Preference, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct Chosen<'r> {
        image_id: &'r SegmentId,
        #[serde(skip_serializing_if = "Option::is_none")]
        category: Option<&'r str>,
        captions: &'r [String; 2],
        votes: [f64; 2],
        scores: Map<&'r str, [f64; 2]>,
        right: Map<&'r str, Option<f64>>,
    }
    for pair in &found.pairs {
        let category = found.categories.get(pair.category).map_or("", |category| category.name.as_str());
        let chosen = Chosen {
            image_id: &pair.image,
            category: (!category.is_empty()).then_some(category),
            captions: &pair.captions,
            votes: pair.votes,
            scores: Map(found.head.keys().zip(pair.scores.iter().copied()).collect()),
            right: Map(found.head.keys().zip(pair.right.iter().copied()).collect()),
        };
        super::line(&chosen, out)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Pairs<'r> {
    #[serde(flatten)]
    voters: &'r Voters,
    categories: Map<&'r str, usize>,
}

impl<'r> Pairs<'r> {
    fn new(found: &'r Preference) -> Self {
        let categories = found.categories.iter().map(|category| category.n_counted);
        Self { voters: &found.voters, categories: Map(names(found).zip(categories).collect()) }
    }
}

/// The names of the categories; empty if pairs have no categories.
fn names(found: &Preference) -> impl Iterator<Item = &str> {
    found.categories.iter().filter(|_| found.is_categorised()).map(|category| category.name.as_str())
}

/// The protocol as JSON.
#[derive(Serialize)]
struct Terms {
    #[serde(flatten)]
    drawing: Option<Drawing>,
    human_ties: &'static str,
    metric_ties: &'static str,
}

/// The draws of references; left out if scores were given.
#[derive(Serialize)]
struct Drawing {
    references_per_pair: Option<usize>,
    draws: usize,
    draw_seed: u64,
}

impl Terms {
    fn new(found: &Preference) -> Self {
        let protocol = &found.protocol;
        Self {
            drawing: found.is_drawn().then_some(Drawing {
                references_per_pair: protocol.references,
                draws: protocol.draws,
                draw_seed: protocol.seed,
            }),
            human_ties: protocol.human_ties.name(),
            metric_ties: protocol.metric_ties.name(),
        }
    }
}

#[derive(Serialize)]
struct Accuracies<'r> {
    accuracy: Map<&'r str, Option<f64>>,
    mean: Option<f64>,
    all: Option<f64>,
    by_draw: &'r [Option<f64>],
    tied: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Bounds<'r>>,
}

/// The intervals of [`Accuracies`].
#[derive(Serialize)]
struct Bounds<'r> {
    accuracy: Map<&'r str, Option<Ends>>,
    mean: Option<Ends>,
    all: Option<Ends>,
}

impl<'r> Accuracies<'r> {
    fn new(found: &'r Preference, accuracy: &'r Accuracy) -> Self {
        let of = |coefficient: &Coefficient| known(coefficient).map(ends);
        let by_category = || names(found).zip(&accuracy.by_category);
        Self {
            accuracy: Map(by_category().map(|(name, c)| (name, c.value)).collect()),
            mean: accuracy.mean.value,
            all: accuracy.all.value,
            by_draw: &accuracy.by_draw,
            tied: accuracy.tied,
            intervals: found.head.resampling.map(|_| Bounds {
                accuracy: Map(by_category().map(|(name, c)| (name, of(c))).collect()),
                mean: of(&accuracy.mean),
                all: of(&accuracy.all),
            }),
        }
    }
}
