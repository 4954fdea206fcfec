//! Agreement with human ratings in every format: JSON Lines and CSV with a line or row per measure.

use std::io::{self, Write};

use capeval_choice::{Refusal, counted};
use capeval_metric::Signature;
use serde::Serialize;

use super::json::{Coefficients, WilliamsTest, points, williams};
use super::tables::{about, tables};
use super::{Agreement, Correlation, Human, KIND, Points};
use crate::by_group::{are_like, csv_columns, csv_rows, tail};
use crate::charts::{Colour, Estimate};
use crate::kind::damaged;
use crate::render::programs::{
    Map, both_ends, codes, number, one_signature, resampling_columns, resampling_fields,
};
use crate::study::{Details, Estimates, Fields, Headings, Line, Study, fields};
use crate::{ByGroup, Form, Labels, Table};

impl Study for Correlation {
    crate::study_head!(KIND, head);

    fn headings(&self) -> Headings {
        Headings {
            title: "Agreement of metrics with human ratings".to_owned(),
            subtitle: format!("{} · {}", self.human.source, counted(self.human.n_ratings, "rating")),
            tables: "Agreement with people",
            estimates: "Coefficients",
        }
    }

    /// The coefficients of each measure, those at system level, and Williams' tests.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        tables(self, digits, labels)
    }

    /// The rated things, and the computation of the coefficients, in sentences.
    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        about(self)
    }

    fn signatures(&self) -> Vec<Signature> {
        self.signatures.clone()
    }

    fn scale_to_percent(&mut self) {
        self.head.show_percent("coefficients and accuracies");
        self.groups.iter_mut().flat_map(|by| &mut by.groups).for_each(|(_, one)| one.scale_to_percent());
    }

    /// For each coefficient, the agreement of all measures with people.
    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let titles = ["Pearson's r", "Spearman's ρ", "Kendall's τ-b", "Kendall's τ-c", "Accuracy"];
        let note = self.head.note_of_intervals("image");
        let figures = titles.iter().enumerate().map(|(k, title)| {
            let rows = self.head.measures.iter().zip(&self.agreements).filter_map(|(measure, agreement)| {
                let (_, coefficient) = agreement.coefficients()[k];
                Some(Estimate {
                    name: measure.label.clone(),
                    value: coefficient.value?,
                    interval: coefficient.interval,
                    colour: Colour::System(0),
                })
            });
            Estimates {
                title: (*title).to_owned(),
                label: (*title).to_owned(),
                rows: rows.collect(),
                none: Some(if *title == "Accuracy" { 0.5 } else { 0.0 }),
                digits,
                note: note.clone(),
            }
        });
        let figures = figures.filter(|figure| !figure.rows.is_empty());
        figures.chain(self.groups.iter().filter_map(|by| by.estimates(digits))).collect()
    }

    fn details(&self) -> Details<'_> {
        Details::Ratings(self)
    }

    fn body(&self) -> Fields {
        #[derive(Serialize)]
        struct Body<'r> {
            ratings: &'r Human,
            correlations: Map<&'r str, Coefficients<'r>>,
            williams: Vec<WilliamsTest<'r>>,
        }
        let coefficients = self.agreements.iter().enumerate();
        let coefficients = coefficients.map(|(m, agreement)| Coefficients::new(self, m, agreement));
        fields(&Body {
            ratings: &self.human,
            correlations: Map(self.head.keys().zip(coefficients).collect()),
            williams: self.differences.iter().map(|difference| WilliamsTest::new(self, difference)).collect(),
        })
    }

    fn lines(&self) -> Vec<Line<'_>> {
        #[derive(Serialize)]
        struct Body<'r> {
            measure: &'r str,
            #[serde(flatten)]
            coefficients: Coefficients<'r>,
            williams: Vec<WilliamsTest<'r>>,
            ratings: &'r Human,
        }
        let line = |(m, (measure, agreement)): (usize, (_, &_))| {
            let tests = self.differences.iter().filter(|d| d.a == m || d.b == m);
            Line {
                body: fields(&Body {
                    measure,
                    coefficients: Coefficients::new(self, m, agreement),
                    williams: tests.map(|difference| WilliamsTest::new(self, difference)).collect(),
                    ratings: &self.human,
                }),
                signatures: one_signature(self.signature_of(m)),
                notices: self.head.notices.iter().collect(),
            }
        };
        let whole = self.head.keys().zip(&self.agreements).enumerate().map(line);
        whole.chain(self.groups.iter().flat_map(ByGroup::lines)).collect()
    }

    fn tail(&self) -> Fields {
        tail(&self.groups)
    }

    fn columns(&self) -> Vec<String> {
        let is_resampled = self.head.resampling.is_some();
        let mut columns = ["measure", "points", "items", "images"].map(str::to_owned).to_vec();
        for key in ["pearson", "spearman", "tau_b", "tau_c", "accuracy"] {
            columns.push(key.to_owned());
            if is_resampled {
                columns.extend([format!("{key}_low"), format!("{key}_high")]);
            }
        }
        let rest = ["pairs", "krippendorff_alpha", "fleiss_kappa", "signature", "notices", "unit"];
        columns.extend(rest.map(str::to_owned));
        columns.extend(resampling_columns(self.head.resampling));
        if self.systems.is_some() {
            columns.push("systems".to_owned());
            let of_systems = ["pearson", "spearman", "tau_b", "accuracy"];
            columns.extend(of_systems.map(|name| format!("system_level_{name}")));
        }
        if !self.differences.is_empty() {
            columns.extend(["williams_r", "williams_df"].map(str::to_owned));
            let of = |key: &str| ["r", "t", "p"].map(|name| format!("{key}_williams_{name}"));
            columns.extend(self.head.keys().flat_map(of));
        }
        csv_columns(&self.groups, columns)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        csv_rows(&self.groups, self, |one| self.rows_of(one))
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        points(self, out)
    }

    fn check(&self) -> Result<(), Refusal> {
        self.head.check()?;
        let Points { images, captions, systems, are_references, ratings, item_ratings, scores } =
            &self.points;
        let (n, n_measures) = (images.len(), self.head.measures.len());
        let of_points =
            [captions.len(), systems.len(), are_references.len(), ratings.len(), item_ratings.len()];
        let systems = self.systems.as_ref().map_or(n_measures, Vec::len);
        let are_whole = of_points.iter().all(|len| *len == n)
            && scores.iter().all(|scores| scores.len() == n)
            && [self.agreements.len(), scores.len(), systems].iter().all(|len| *len == n_measures)
            && self.differences.iter().all(|d| d.a < n_measures && d.b < n_measures)
            && are_like(&self.groups, self, |one| one.groups.is_empty());
        if are_whole { Ok(()) } else { Err(damaged("its points and measures do not belong together")) }
    }
}

impl Correlation {
    /// The rows of CSV of this result, or of one of its groups.
    fn rows_of(&self, one: &Self) -> Vec<Vec<String>> {
        let row = |(m, (key, agreement)): (usize, (&str, &Agreement))| {
            let human = &one.human;
            let mut row = vec![key.to_owned()];
            row.extend([human.n_points, human.n_items, human.n_images].map(|n| n.to_string()));
            for (_, coefficient) in agreement.coefficients() {
                row.push(number(coefficient.value));
                if self.head.resampling.is_some() {
                    row.extend(both_ends(coefficient.interval));
                }
            }
            row.push(agreement.n_pairs.to_string());
            row.extend([human.krippendorff_alpha, human.fleiss_kappa].map(number));
            row.push(one.signature_of(m).map_or_else(String::new, ToString::to_string));
            row.extend([codes(&self.head.notices), human.unit.name().to_owned()]);
            row.extend(resampling_fields(self.head.resampling));
            if self.systems.is_some() {
                let system = one.systems.as_ref().and_then(|systems| systems.get(m));
                row.push(system.map_or_else(String::new, |s| s.n_systems.to_string()));
                let values = system.map_or([None; 4], |s| [s.pearson, s.spearman, s.tau_b, s.accuracy]);
                row.extend(values.map(number));
            }
            if !self.differences.is_empty() {
                row.extend(williams(one, m));
            }
            row
        };
        self.head.keys().zip(&one.agreements).enumerate().map(row).collect()
    }
}
