//! Metrics on benchmarks in every format: JSON Lines with a line for each benchmark and measure, and CSV with a row for
//! each value.

use std::io::{self, Write};

use capeval::choice::{Refusal, counted};
use capeval::metric::Signature;
use capeval::report::charts::{Colour, Estimate};
use capeval::report::{
    Estimates, Fields, Form, Headings, Kind, Labels, Line, Map, Study, Table, codes, damaged, fields,
    one_signature, study_head,
};
use serde::Serialize;

use crate::export::{OfBenchmark, OfMeasure, items};
use crate::render::about;
use crate::result::{MeasureResult, MetaReport, Outcome, Value};
use crate::run::tests_in_words;
use crate::verdict::Comparison;

/// Metrics on benchmarks.
pub const KIND: Kind = Kind::of::<MetaReport>("benchmark-run");

impl Study for MetaReport {
    study_head!(KIND, head);

    fn headings(&self) -> Headings {
        let titles: Vec<&str> = self.outcomes.iter().map(|o| o.benchmark.title.as_str()).collect();
        Headings {
            title: "Metrics on benchmarks".to_owned(),
            subtitle: format!("{} · {}", titles.join(", "), counted(self.head.measures.len(), "measure")),
            tables: "Agreement with people",
            estimates: "Intervals",
        }
    }

    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let mut tables = vec![Table {
            title: Some("customary coefficients".to_owned()),
            grid: self.matrix(digits, labels),
        }];
        tables.extend(self.others(digits, labels));
        if self.has_differences {
            tables.extend(self.differences(digits, labels));
        }
        tables
    }

    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        let mut lines: Vec<String> = self.outcomes.iter().map(about).collect();
        lines.extend(
            self.head.in_percent.then(|| "coefficients and accuracies are multiplied by 100".to_owned()),
        );
        lines.extend(self.head.resampling.iter().flat_map(tests_in_words));
        lines.push(
            "published: the first source of each benchmark; =: the same digits; ≈: it depends on chance and lies within \
             the interval; otherwise measured minus published"
                .to_owned(),
        );
        lines.extend(self.known());
        lines
    }

    fn signature_lines(&self) -> Vec<String> {
        let of = |outcome: &Outcome| {
            let name = &outcome.benchmark.name;
            outcome.signatures.iter().map(move |signature| format!("{name}: {signature}")).collect::<Vec<_>>()
        };
        self.outcomes.iter().flat_map(of).collect()
    }

    /// Signatures are those of each benchmark, since they say how many images there are.
    fn signatures(&self) -> Vec<Signature> {
        Vec::new()
    }

    /// They are so from the beginning.
    fn scale_to_percent(&mut self) {
        self.head.in_percent = true;
    }

    /// The customary coefficients with their intervals, for drawings.
    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let factor = self.head.factor();
        let of = |outcome: &Outcome| {
            let rows = outcome.measured.iter().filter_map(|measured| {
                let value = measured.customary()?;
                Some(Estimate {
                    name: measured.measure.label.clone(),
                    value: factor * value.value?,
                    interval: value.interval.map(|ends| ends.scaled(factor)),
                    colour: Colour::System(0),
                })
            });
            Estimates {
                title: outcome.benchmark.title.clone(),
                label: outcome.benchmark.coefficient.label().to_owned(),
                rows: rows.collect(),
                none: Some(factor * outcome.benchmark.coefficient.none()),
                digits,
                note: self.head.note_of_intervals("image"),
            }
        };
        self.outcomes.iter().map(of).collect()
    }

    fn body(&self) -> Fields {
        #[derive(Serialize)]
        struct Body<'r> {
            benchmarks: Map<&'r str, OfBenchmark<'r>>,
        }
        let outcomes = self.outcomes.iter().map(|o| (o.benchmark.name.as_str(), OfBenchmark::new(o)));
        fields(&Body { benchmarks: Map(outcomes.collect()) })
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let of = |outcome| Outcome::by_measure(outcome).map(|(m, measured)| outcome.line(m, measured));
        self.outcomes.iter().flat_map(of).collect()
    }

    fn columns(&self) -> Vec<String> {
        let columns = "benchmark,measure,coefficient,category,value,low,high,letters,published,scale,source,verdict,\
                       difference,points,images,signature,notices,level,resamples,seed";
        columns.split(',').map(|name| name.trim().to_owned()).collect()
    }

    /// For each benchmark, measure and coefficient, a row for each published value, or one without any.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for outcome in &self.outcomes {
            for (m, measured) in outcome.by_measure() {
                for value in &measured.values {
                    let mut published: Vec<Option<&Comparison>> = value.published.iter().map(Some).collect();
                    if published.is_empty() {
                        published.push(None);
                    }
                    rows.extend(published.into_iter().map(|one| self.row(outcome, m, value, one)));
                }
            }
        }
        rows
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        items(self, out)
    }

    fn check(&self) -> Result<(), Refusal> {
        let is_whole = |outcome: &Outcome| {
            let n_measures = outcome.measured.len();
            let are_points = outcome.points.as_ref().is_none_or(|points| {
                let n = points.images.len();
                let scores = points.scores.iter().map(Vec::len);
                let others = [points.systems.len(), points.captions.len(), points.ratings.len()];
                points.scores.len() == n_measures && scores.chain(others).all(|len| len == n)
            });
            are_points && outcome.pairs.iter().flatten().all(|pair| pair.scores.len() == n_measures)
        };
        match self.outcomes.iter().all(is_whole) {
            true => Ok(()),
            false => Err(damaged("its items and measures do not belong together")),
        }
    }
}

impl MetaReport {
    /// A row of CSV.
    fn row(&self, outcome: &Outcome, m: usize, value: &Value, published: Option<&Comparison>) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let measured = &outcome.measured[m];
        let mut row = vec![
            outcome.benchmark.name.clone(),
            measured.measure.key.clone(),
            value.coefficient.name().to_owned(),
            value.category.clone().unwrap_or_default(),
            number(value.value),
            number(value.interval.map(|ends| ends.low)),
            number(value.interval.map(|ends| ends.high)),
            measured.letters.clone(),
        ];
        row.extend(published.map_or_else(Default::default, |comparison| {
            let Comparison { source, printed, scale, verdict } = comparison;
            let (verdict, difference) = (verdict.name(), verdict.difference());
            [printed, &scale.to_string(), source, verdict, difference].map(str::to_owned)
        }));
        row.extend([outcome.n_points, outcome.n_images].map(|n| n.to_string()));
        row.push(outcome.signature_of(m).map_or_else(String::new, ToString::to_string));
        row.push(codes(&outcome.notices));
        if let Some(plan) = self.head.resampling {
            row.extend([plan.level.to_string(), plan.resamples.to_string(), plan.seed.to_string()]);
        }
        row
    }
}

impl Outcome {
    /// A line of JSON Lines.
    fn line(&self, m: usize, measured: &MeasureResult) -> Line<'_> {
        #[derive(Serialize)]
        struct Body<'r> {
            benchmark: &'r str,
            measure: &'r str,
            #[serde(flatten)]
            of: OfMeasure<'r>,
            files: &'r [String],
            points: usize,
            images: usize,
        }
        Line {
            body: fields(&Body {
                benchmark: &self.benchmark.name,
                measure: &measured.measure.key,
                of: OfMeasure::new(measured),
                files: &self.files,
                points: self.n_points,
                images: self.n_images,
            }),
            signatures: one_signature(self.signature_of(m)),
            notices: self.notices.iter().collect(),
        }
    }
}
