//! A comparison in every format.

use std::io::{self, Write};

use capeval_choice::Refusal;
use capeval_metric::Signature;
use capeval_stats::Interval;
use serde::Serialize;

use super::json::ContrastFields;
use super::tables::about;
use super::tail::tail;
use super::{Comparison, Contrast, Pair};
use crate::charts::{Colour, Estimate};
use crate::number::{full, intervals_in_words};
use crate::render::programs::{codes, resampling_columns, resampling_fields};
use crate::report::saved;
use crate::segments::segments;
use crate::study::{Details, Estimates, Fields, Headings, Line, Study, fields};
use crate::{Form, Kind, Labels, Measure, Notice, RankRule, Report, SystemReport, Table, json_float};

/// Comparisons.
pub const KIND: Kind = Kind { name: "comparison", save: saved::save_comparison, read: saved::read };

impl Study for Comparison {
    crate::study_head!(KIND, report.head);

    fn headings(&self) -> Headings {
        Headings { title: format!("Comparison of {}", self.report.named()), ..self.report.headings() }
    }

    /// If there are several pairs, their [matrix](Comparison::matrix); then a table per pair: the scores, their
    /// difference with its interval, the corrected p-values, and the numbers of images on which the system is better,
    /// equal and worse.
    fn tables(&self, digits: usize, labels: Labels) -> Vec<Table> {
        let matrix = (self.pairs.len() > 1).then(|| self.matrix(digits, labels));
        matrix.into_iter().chain(self.pair_tables(digits, labels)).chain(self.tables_beside(digits)).collect()
    }

    /// The matrix alone if there are several pairs: the tables of all pairs would fill many screens.
    fn text_tables(&self, digits: usize) -> Vec<Table> {
        if self.pairs.len() > 1 {
            let mut matrix = self.matrix(digits, Labels::Short);
            matrix.grid.align_notes();
            return [matrix].into_iter().chain(self.tables_beside(digits)).collect();
        }
        self.pair_tables(digits, Labels::Full).into_iter().chain(self.tables_beside(digits)).collect()
    }

    fn legend(&self, form: Form, _tables: &[Table]) -> Vec<String> {
        let scored = if form == Form::Latex { self.report.scored() } else { self.report.footer() };
        let matrix = (self.pairs.len() > 1).then(|| self.about_matrix());
        let pairs = match (form, &matrix) {
            (Form::Table, Some(_)) => vec![format!(
                "{}; the other formats have every difference with its interval and p-values",
                self.about_draws()
            )],
            (Form::Table, None) => about(self, "*"),
            _ => about(self, "bold:"),
        };
        let groups = self.report.legend_of_groups(if form == Form::Table { "*" } else { "bold" });
        [scored].into_iter().chain(matrix).chain(pairs).chain(groups).collect()
    }

    fn signature_lines(&self) -> Vec<String> {
        self.report.signature_lines()
    }

    fn signatures(&self) -> Vec<Signature> {
        self.report.signatures()
    }

    fn scale_to_percent(&mut self) {
        self.scale_to_percent();
    }

    /// The differences by all measures if there is one pair, or else those of all pairs for each measure.
    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let name = |system: usize| self.report.systems.get(system).map_or("", |system| &system.name);
        let estimate = |name: String, colour, contrast: &Contrast| Estimate {
            name,
            value: contrast.difference,
            interval: contrast.has_test.then_some(contrast.interval),
            colour,
        };
        let figure = |title: &str, rows: Vec<Estimate>| Estimates {
            title: title.to_owned(),
            label: "difference".to_owned(),
            rows,
            none: Some(0.0),
            digits,
            note: format!(
                "Differences with {}; the line is at no difference",
                intervals_in_words(&self.resampling, self.report.unit())
            ),
        };
        let measures = self.report.head.measures.iter().enumerate();
        if let [pair] = &self.pairs[..] {
            // Measures without a bound have scales of their own.
            let (bounded, others): (Vec<_>, Vec<_>) = measures.partition(|(_, measure)| measure.max <= 10.0);
            let groups = std::iter::once(bounded).chain(others.into_iter().map(|one| vec![one]));
            let title = format!("{} minus {}", name(pair.system), name(pair.baseline));
            let colour = Colour::System(pair.system);
            let row = |(m, measure): &(usize, &Measure)| {
                Some(estimate(measure.short_label().to_owned(), colour, pair.contrasts.get(*m)?))
            };
            let groups = groups.filter(|group| !group.is_empty());
            return groups.map(|group| figure(&title, group.iter().filter_map(row).collect())).collect();
        }
        let figures = measures.map(|(m, measure)| {
            let rows = self.pairs.iter().filter_map(|pair| {
                let title = format!("{} − {}", name(pair.system), name(pair.baseline));
                Some(estimate(title, Colour::System(pair.system), pair.contrasts.get(m)?))
            });
            figure(measure.short_label(), rows.collect())
        });
        figures.collect()
    }

    fn details(&self) -> Details<'_> {
        Details::Scores(&self.report, Some(self))
    }

    fn body(&self) -> Fields {
        self.report.body()
    }

    fn tail(&self) -> Fields {
        fields(&tail(self))
    }

    fn lines(&self) -> Vec<Line<'_>> {
        #[derive(Serialize)]
        struct Body<'r> {
            baseline: &'r str,
            system: &'r str,
            measure: &'r str,
            images: usize,
            #[serde(with = "json_float")]
            baseline_score: f64,
            #[serde(with = "json_float")]
            baseline_interval: Interval,
            #[serde(with = "json_float")]
            system_score: f64,
            #[serde(with = "json_float")]
            system_interval: Interval,
            #[serde(flatten)]
            contrast: ContrastFields,
            correction: &'static str,
        }
        let line = |Row { baseline, system, measure, contrast, notices }| Line {
            body: fields(&Body {
                baseline: baseline.name,
                system: system.name,
                measure: &measure.key,
                images: system.images,
                baseline_score: baseline.score,
                baseline_interval: baseline.interval,
                system_score: system.score,
                system_interval: system.interval,
                contrast: ContrastFields::new(contrast),
                correction: self.correction.name(),
            }),
            signatures: vec![
                ("baseline_signature", baseline.signature),
                ("system_signature", system.signature),
            ],
            notices,
        };
        rows(self).map(line).collect()
    }

    fn columns(&self) -> Vec<String> {
        let columns = "baseline,system,measure,baseline_score,system_score,difference,low,high,bootstrap_p,\
                       bootstrap_adjusted,randomisation_p,randomisation_adjusted,sign_p,sign_adjusted,exact_p,\
                       exact_adjusted,wins,ties,losses,cohens_d,superiority,verdict,notices,images,baseline_low,\
                       baseline_high,system_low,system_high,baseline_signature,system_signature,correction";
        columns.split(',').map(str::to_owned).chain(resampling_columns(Some(self.resampling))).collect()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |Row { baseline, system, measure, contrast, notices }| {
            let Contrast { difference, bootstrap, randomisation, sign, permutation, .. } = *contrast;
            let mut row = vec![baseline.name.to_owned(), system.name.to_owned(), measure.key.clone()];
            row.extend(
                [baseline.score, system.score, difference]
                    .into_iter()
                    .chain(both(contrast.interval))
                    .map(full),
            );
            for p in [Some(bootstrap), Some(randomisation), sign, permutation] {
                row.extend(p.map_or([const { String::new() }; 2], |p| [full(p.value), full(p.adjusted)]));
            }
            let tally = contrast.tally;
            row.extend([tally.wins, tally.ties, tally.losses].map(|n| n.to_string()));
            row.extend([contrast.cohens_d, tally.superiority()].map(full));
            row.extend([contrast.verdict.name().to_owned(), codes(notices), system.images.to_string()]);
            row.extend([baseline.interval, system.interval].into_iter().flat_map(both).map(full));
            row.extend([baseline.signature, system.signature, self.correction.name().to_owned()]);
            row.extend(resampling_fields(Some(self.resampling)));
            row
        };
        rows(self).map(row).collect()
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        segments(&self.report, out)
    }

    fn sort_by(&mut self, key: &str) -> Option<()> {
        self.sort_by(key)
    }

    fn report_mut(&mut self) -> Option<&mut Report> {
        Some(&mut self.report)
    }

    fn rank_by(&mut self, rule: &RankRule) -> Option<()> {
        self.rank_by(rule);
        Some(())
    }

    /// Everything else is checked where it is read.
    fn check(&self) -> Result<(), Refusal> {
        self.report.head.check()
    }
}

impl Comparison {
    /// The tables of ranks and groups, which stand behind those of pairs.
    fn tables_beside(&self, digits: usize) -> Vec<Table> {
        let ranks = self.report.ranking.as_ref().map(|ranking| ranking.table(digits));
        ranks.into_iter().chain(self.report.tables_of_groups(digits)).collect()
    }
}

/// One pair by one measure.
struct Row<'r> {
    baseline: Side<'r>,
    system: Side<'r>,
    measure: &'r Measure,
    contrast: &'r Contrast,
    notices: Vec<&'r Notice>,
}

/// One system of a pair by one measure.
struct Side<'r> {
    name: &'r str,
    images: usize,
    score: f64,
    interval: Interval,
    signature: String,
}

fn both(Interval { low, high }: Interval) -> [f64; 2] {
    [low, high]
}

/// The rows, by pair and then by measure.
fn rows(comparison: &Comparison) -> impl Iterator<Item = Row<'_>> {
    let report = &comparison.report;
    let of_pair = |pair: &Pair| Some((report.systems.get(pair.baseline)?, report.systems.get(pair.system)?));
    let pairs = comparison.pairs.iter().filter_map(move |pair| Some((pair, of_pair(pair)?)));
    pairs.flat_map(move |(pair, (baseline, system))| {
        let contrasts = pair.contrasts.iter().zip(&report.head.measures).enumerate();
        contrasts.map(move |(m, (contrast, measure))| Row {
            baseline: side(comparison, baseline, m),
            system: side(comparison, system, m),
            measure,
            contrast,
            notices: report
                .head
                .notices
                .iter()
                .filter(|notice| notice.concerns(&baseline.name) || notice.concerns(&system.name))
                .collect(),
        })
    })
}

fn side<'r>(comparison: &Comparison, system: &'r SystemReport, measure: usize) -> Side<'r> {
    let metric = comparison.report.head.metric_of(measure);
    let signature = metric.and_then(|metric| system.signatures.get(metric));
    Side {
        name: &system.name,
        images: system.n_images,
        score: system.scores.get(measure).copied().unwrap_or(f64::NAN),
        interval: system.interval(measure).copied().unwrap_or(Interval { low: f64::NAN, high: f64::NAN }),
        signature: signature.map_or_else(String::new, ToString::to_string),
    }
}
