//! A report in every format.

use std::io::{self, Write};

use capeval_choice::{Dialect, Refusal, counted};
use capeval_metric::Signature;
use serde::Serialize;

use super::group_scores::{GroupRow, GroupScores};
use super::json::{Body, SystemFields, Tail};
use super::tables::{resampling_line, runs_line, write_report};
use super::{RankRule, Report, SystemReport, saved};
use crate::by_group::MOST_DRAWN;
use crate::charts::{COLOURS, Colour, Estimate};
use crate::kind::{damaged, sum};
use crate::number::full;
use crate::render::programs::{codes, resampling_columns, resampling_fields};
use crate::segments::segments;
use crate::study::{Details, Estimates, Fields, Headings, Line, Study, fields};
use crate::{Form, Grid, Head, Kind, Labels, Style, Table};

/// Reports.
pub const KIND: Kind = Kind { name: "report", save: saved::save, read: saved::read };

impl Study for Report {
    crate::study_head!(KIND, head);

    fn headings(&self) -> Headings {
        let title = if self.profiles.is_empty() { "Caption scores" } else { "Diversity of the captions" };
        Headings {
            title: format!("{title} of {}", self.named()),
            subtitle: format!("{} · {}", counted(self.n_systems(), "system"), self.footer()),
            tables: "Scores",
            estimates: if self.head.resampling.is_some() { "Intervals" } else { "Charts" },
        }
    }

    fn tables(&self, digits: usize, _labels: Labels) -> Vec<Table> {
        let whole = Table { title: None, grid: Grid::by_system(self, digits) };
        [whole].into_iter().chain(self.tables_of_groups(digits)).collect()
    }

    /// Measures as rows, beside their ranges.
    fn text_tables(&self, digits: usize) -> Vec<Table> {
        let whole = Table { title: None, grid: Grid::by_measure(self, digits) };
        [whole].into_iter().chain(self.tables_of_groups(digits)).collect()
    }

    fn legend(&self, form: Form, tables: &[Table]) -> Vec<String> {
        let scored = if form == Form::Latex { self.scored() } else { self.footer() };
        let has_best = tables.first().is_some_and(|table| table.grid.has_best());
        let best = has_best.then(|| "bold: best score".to_owned());
        let groups = self.legend_of_groups("bold");
        [scored]
            .into_iter()
            .chain(best)
            .chain(groups)
            .chain(runs_line(self))
            .chain(resampling_line(self))
            .collect()
    }

    /// The settings that all systems share.
    fn signatures(&self) -> Vec<Signature> {
        self.shared_signatures()
    }

    fn signature_lines(&self) -> Vec<String> {
        self.signature_lines()
    }

    fn write_text(&self, style: &Style, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        write_report(self, style, dialect, out)
    }

    fn scale_to_percent(&mut self) {
        self.scale_to_percent();
    }

    /// For each measure, the scores of all systems; of the diversity of a single one, all scores between 0 and 1.
    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let note = self.head.note_of_intervals(self.unit());
        if let ([system], false) = (&self.systems[..], self.profiles.is_empty()) {
            let bounded =
                self.head.measures.iter().zip(&system.scores).filter(|(measure, _)| measure.max <= 1.0);
            let rows = bounded.map(|(measure, score)| Estimate {
                name: measure.short_label().to_owned(),
                value: *score,
                interval: None,
                colour: Colour::System(0),
            });
            let (title, label) = (system.name.clone(), "score".to_owned());
            let figure = Estimates { title, label, rows: rows.collect(), none: None, digits, note };
            let whole = (!figure.rows.is_empty()).then_some(figure);
            return whole.into_iter().chain(self.estimates_of_groups(digits)).collect();
        }
        let n_coloured = self.n_systems().min(COLOURS);
        let by_measure = self.head.measures.iter().enumerate().map(|(m, measure)| {
            let rows = self.systems.iter().enumerate().map(|(s, system)| Estimate {
                name: system.name.clone(),
                value: system.scores.get(m).copied().unwrap_or(f64::NAN),
                interval: system.interval(m).copied(),
                colour: if s < n_coloured { Colour::System(s) } else { Colour::Muted },
            });
            Estimates {
                title: measure.short_label().to_owned(),
                label: measure.short_label().to_owned(),
                rows: rows.collect(),
                none: None,
                digits: measure.digits(digits),
                note: note.clone(),
            }
        });
        // A single system has nothing beside it but its groups.
        let is_alone = self.systems.len() == 1 && !self.groups.is_empty();
        by_measure.filter(|_| !is_alone).chain(self.estimates_of_groups(digits)).collect()
    }

    fn details(&self) -> Details<'_> {
        Details::Scores(self, None)
    }

    fn body(&self) -> Fields {
        fields(&Body::of(self, false))
    }

    fn tail(&self) -> Fields {
        fields(&Tail::of(self))
    }

    fn lines(&self) -> Vec<Line<'_>> {
        #[derive(Serialize)]
        struct Body<'r> {
            system: &'r str,
            #[serde(flatten)]
            rest: SystemFields<'r>,
        }
        let line = |system: &'_ SystemReport| Line {
            body: fields(&Body { system: &system.name, rest: SystemFields::new(self, system) }),
            signatures: Vec::new(),
            notices: self.head.notices.iter().filter(|notice| notice.concerns(&system.name)).collect(),
        };
        let of_groups = self.groups.iter().flat_map(|groups| groups.lines(self));
        let of_groups = of_groups.map(|body| Line { body, signatures: Vec::new(), notices: Vec::new() });
        self.systems.iter().map(line).chain(of_groups).collect()
    }

    fn columns(&self) -> Vec<String> {
        let Head { resampling, measures, .. } = &self.head;
        let groups: &[&str] = if self.groups.is_empty() { &[] } else { &["group_by", "group"] };
        let mut columns: Vec<String> =
            ["system"].iter().chain(groups).map(|name| (*name).to_owned()).collect();
        columns.push(format!("{}s", self.unit()));
        columns.extend(self.head.keys().map(str::to_owned));
        columns.extend(["signatures", "notices"].map(str::to_owned));
        let intervals = measures.iter().filter(|_| resampling.is_some());
        columns.extend(intervals.flat_map(|m| [format!("{}_low", m.key), format!("{}_high", m.key)]));
        columns.extend(resampling_columns(*resampling));
        columns.push("reference_hash".to_owned());
        if self.systems.iter().any(|system| system.runs.is_some()) {
            columns.push("runs".to_owned());
            columns.extend(measures.iter().map(|measure| format!("{}_sd", measure.key)));
        }
        columns
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let whole = self.systems.iter().map(|system| {
            let row = GroupRow {
                system: system.name.clone(),
                n_images: system.n_images,
                scores: system.scores.clone(),
                intervals: system.intervals.clone(),
                ..GroupRow::default()
            };
            self.csv_row(system, None, &row)
        });
        let of_groups = self.groups.iter().flat_map(|groups| {
            let system = |row: &GroupRow| self.systems.iter().find(|system| system.name == row.system);
            groups.rows.iter().filter_map(move |row| Some(self.csv_row(system(row)?, Some(groups), row)))
        });
        whole.chain(of_groups).collect()
    }

    fn write_items(&self, out: &mut dyn Write) -> io::Result<()> {
        segments(self, out)
    }

    fn sort_by(&mut self, key: &str) -> Option<()> {
        self.sort_by(key).map(drop)
    }

    fn report_mut(&mut self) -> Option<&mut Report> {
        Some(self)
    }

    fn rank_by(&mut self, rule: &RankRule) -> Option<()> {
        self.rank_by(rule);
        Some(())
    }

    /// Everything else is checked where it is read.
    fn check(&self) -> Result<(), Refusal> {
        let are_counted = self.profiles.iter().all(|profile| sum(profile.lengths.iter().copied()).is_some());
        if are_counted { self.head.check() } else { Err(damaged("its captions cannot be counted")) }
    }
}

impl Report {
    /// The row of CSV of a system, or of a group of its images.
    fn csv_row(&self, system: &SystemReport, groups: Option<&GroupScores>, of: &GroupRow) -> Vec<String> {
        let mut row = vec![of.system.clone()];
        if !self.groups.is_empty() {
            row.extend([groups.map_or_else(String::new, |groups| groups.by.clone()), of.group.clone()]);
        }
        row.push(of.n_images.to_string());
        row.extend(of.scores.iter().map(|score| full(*score)));
        let signature = |signature: &Signature| match groups {
            Some(groups) => groups.signature(signature).to_string(),
            None => signature.to_string(),
        };
        let signatures: Vec<String> = system.signatures.iter().map(signature).collect();
        let notices = self.head.notices.iter().filter(|notice| notice.concerns(&system.name));
        row.extend([signatures.join(" "), codes(notices)]);
        row.extend(of.intervals.iter().flatten().flat_map(|i| [i.low, i.high]).map(full));
        row.extend(resampling_fields(self.head.resampling));
        row.push(system.reference_hash.clone().filter(|_| groups.is_none()).unwrap_or_default());
        match system.runs.as_ref().filter(|_| groups.is_none()) {
            Some(runs) => {
                row.push(runs.n.to_string());
                row.extend(runs.deviations.iter().copied().map(full));
            }
            None if self.systems.iter().any(|system| system.runs.is_some()) => {
                row.resize(row.len() + 1 + self.head.measures.len(), String::new());
            }
            None => {}
        }
        row
    }

    /// For each property and measure, the scores of all groups; none if they are too many to be read.
    fn estimates_of_groups(&self, digits: usize) -> impl Iterator<Item = Estimates> + '_ {
        let few = self.groups.iter().filter(|groups| groups.rows.len() <= MOST_DRAWN);
        few.flat_map(move |groups| {
            self.head.measures.iter().enumerate().map(move |(m, measure)| {
                let row = |row: &GroupRow| {
                    let at =
                        self.systems.iter().position(|system| system.name == row.system).unwrap_or_default();
                    let is_alone = self.systems.len() == 1;
                    Estimate {
                        name: if is_alone {
                            row.group.clone()
                        } else {
                            format!("{} · {}", row.group, row.system)
                        },
                        value: row.scores.get(m).copied().unwrap_or(f64::NAN),
                        interval: row.intervals.as_ref().and_then(|all| all.get(m)).copied(),
                        colour: if at < COLOURS { Colour::System(at) } else { Colour::Muted },
                    }
                };
                Estimates {
                    title: format!("{} by {}", measure.short_label(), groups.by),
                    label: measure.short_label().to_owned(),
                    rows: groups.rows.iter().map(row).collect(),
                    none: None,
                    digits: measure.digits(digits),
                    note: format!(
                        "{}. {}",
                        groups.legend(self.unit()),
                        self.head.note_of_intervals(self.unit())
                    ),
                }
            })
        })
    }

    /// The number of systems, without the human row.
    pub fn n_systems(&self) -> usize {
        self.gallery.as_ref().map_or(self.systems.len(), |gallery| gallery.systems.len())
    }

    /// The names of the systems, or their number if they are many.
    pub fn named(&self) -> String {
        let systems = self.systems.iter().take(self.n_systems());
        let names: Vec<&str> = systems.map(|system| system.name.as_str()).collect();
        match &names[..] {
            [one] => (*one).to_owned(),
            [a, b] => format!("{a} and {b}"),
            [a, b, c] => format!("{a}, {b} and {c}"),
            names => counted(names.len(), "system"),
        }
    }
}
