//! Preferences in every format: JSON Lines with a line per measure, and CSV with a row per measure and category.

use std::io::{self, Write};

use capeval_choice::{Refusal, counted};
use capeval_metric::Signature;
use serde::Serialize;

use super::json::{Accuracies, PairCounts, Terms, known, pairs};
use super::tables::{about, grid, shown};
use super::{Accuracy, ChosenPair, KIND, Preference};
use crate::by_group::{are_like, csv_columns, csv_rows, tail};
use crate::charts::{Colour, Estimate};
use crate::kind::{damaged, sum};
use crate::render::programs::{
    Map, both_ends, codes, number, one_signature, resampling_columns, resampling_fields,
};
use crate::study::{Estimates, Fields, Headings, Line, Study, fields};
use crate::{ByGroup, Coefficient, Form, Labels, Table};

impl Study for Preference {
    crate::study_head!(KIND, head);

    fn headings(&self) -> Headings {
        Headings {
            title: "Agreement of metrics with human preferences".to_owned(),
            subtitle: format!("{} · {}", self.voters.source, counted(self.voters.n_pairs, "pair")),
            tables: "Agreement with people",
            estimates: "Accuracies",
        }
    }

    /// The accuracies of each measure, also in groups.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let short = |one: &Self| grid(one, digits, Labels::Short);
        let by = self.groups.iter().map(|by| by.table(self, "Pairs", |one| one.voters.n_pairs, short));
        std::iter::once(Table { title: None, grid: grid(self, digits, labels) }).chain(by).collect()
    }

    /// The choices of people, and the computation of the accuracies, in sentences.
    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        about(self)
    }

    fn signatures(&self) -> Vec<Signature> {
        self.signatures.clone()
    }

    fn scale_to_percent(&mut self) {
        self.head.show_percent("accuracies");
        self.groups.iter_mut().flat_map(|by| &mut by.groups).for_each(|(_, one)| one.scale_to_percent());
    }

    /// For each category of pairs, and over all, how often each measure agrees with people.
    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let note = format!("{}; the line is at chance", self.head.note_of_intervals("image"));
        let of = |title: String, pick: &dyn Fn(&Accuracy) -> Option<Coefficient>| {
            let rows = self.head.measures.iter().zip(&self.accuracies).filter_map(|(measure, accuracy)| {
                let coefficient = pick(accuracy)?;
                Some(Estimate {
                    name: measure.label.clone(),
                    value: coefficient.value?,
                    interval: coefficient.interval,
                    colour: Colour::System(0),
                })
            });
            let (label, rows) = ("accuracy".to_owned(), rows.collect());
            Estimates { title, label, rows, none: Some(0.5), digits, note: note.clone() }
        };
        let has_categories = self.categories.len() > 1;
        let title = if has_categories { "Mean over categories" } else { "Accuracy" };
        let mean = of(title.to_owned(), &|accuracy| Some(accuracy.mean));
        let categories = self.categories.iter().enumerate().filter(|_| has_categories);
        let by_category = categories.map(|(k, category)| {
            let title = format!("{}, {}", shown(&category.name), counted(category.n_counted, "pair"));
            of(title, &|accuracy| accuracy.by_category.get(k).copied())
        });
        let figures = std::iter::once(mean).chain(by_category);
        let figures = figures.filter(|figure| !figure.rows.is_empty());
        figures.chain(self.groups.iter().filter_map(|by| by.estimates(digits))).collect()
    }

    fn body(&self) -> Fields {
        #[derive(Serialize)]
        struct Body<'r> {
            pairs: PairCounts<'r>,
            protocol: Terms,
            accuracies: Map<&'r str, Accuracies<'r>>,
        }
        let accuracies = self.accuracies.iter().map(|accuracy| Accuracies::new(self, accuracy));
        fields(&Body {
            pairs: PairCounts::new(self),
            protocol: Terms::new(self),
            accuracies: Map(self.head.keys().zip(accuracies).collect()),
        })
    }

    fn lines(&self) -> Vec<Line<'_>> {
        #[derive(Serialize)]
        struct Body<'r> {
            measure: &'r str,
            #[serde(flatten)]
            accuracies: Accuracies<'r>,
            pairs: PairCounts<'r>,
            protocol: Terms,
        }
        let line = |(m, (measure, accuracy)): (usize, (_, &_))| Line {
            body: fields(&Body {
                measure,
                accuracies: Accuracies::new(self, accuracy),
                pairs: PairCounts::new(self),
                protocol: Terms::new(self),
            }),
            signatures: one_signature(self.signature_of(m)),
            notices: self.head.notices.iter().collect(),
        };
        let whole = self.head.keys().zip(&self.accuracies).enumerate().map(line);
        whole.chain(self.groups.iter().flat_map(ByGroup::lines)).collect()
    }

    fn tail(&self) -> Fields {
        tail(&self.groups)
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = ["measure", "of", "category", "accuracy"].map(str::to_owned).to_vec();
        if self.head.resampling.is_some() {
            columns.extend(["accuracy_low", "accuracy_high"].map(str::to_owned));
        }
        let rest = "pairs,references_per_pair,draws,draw_seed,human_ties,metric_ties,signature,notices";
        columns.extend(rest.split(',').map(str::to_owned));
        columns.extend(resampling_columns(self.head.resampling));
        csv_columns(&self.groups, columns)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        csv_rows(&self.groups, self, Self::own_rows)
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        pairs(self, out)
    }

    fn check(&self) -> Result<(), Refusal> {
        self.head.check()?;
        let (n_measures, n_categories) = (self.head.measures.len(), self.categories.len());
        let is_whole = |pair: &ChosenPair| {
            pair.category < n_categories && [pair.scores.len(), pair.right.len()] == [n_measures; 2]
        };
        let are_whole = self.accuracies.len() == n_measures
            && self.accuracies.iter().all(|accuracy| accuracy.by_category.len() == n_categories)
            && sum(self.categories.iter().map(|category| category.n_counted)).is_some()
            && self.pairs.iter().all(is_whole)
            && are_like(&self.groups, self, |one| one.groups.is_empty());
        if are_whole { Ok(()) } else { Err(damaged("its pairs and measures do not belong together")) }
    }
}

impl Preference {
    /// The rows of CSV without groups: for each measure one per category, then one for the mean over categories and one
    /// for all pairs.
    fn own_rows(&self) -> Vec<Vec<String>> {
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
                    row.extend(both_ends(known(found)));
                }
                row.push(n.to_string());
                row.extend(drawing.clone());
                row.extend([protocol.human_ties.name(), protocol.metric_ties.name()].map(str::to_owned));
                row.extend([signature.clone(), codes(&self.head.notices)]);
                row.extend(resampling_fields(self.head.resampling));
                rows.push(row);
            }
        }
        rows
    }
}
