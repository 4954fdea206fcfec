//! The tables behind the text, Markdown, LaTeX and HTML forms.

use unicode_width::UnicodeWidthStr;

use crate::number::{fixed, range};
use crate::{Lengths, Measure, Report, SystemReport};
use capeval_metric::Direction;
use capeval_stats::Interval;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A table with an optional title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The title above the table.
    pub title: Option<String>,
    /// The columns and rows.
    pub grid: Grid,
}

/// Which form of a measure's label a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// The whole label, with any text in brackets.
    Full,
    /// The label without text in brackets.
    Short,
}

/// The columns and rows of a table, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The name and alignment of each column.
    pub columns: Vec<(String, Align)>,
    /// The cells, row by row.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a [`Grid`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text; may be empty.
    pub text: String,
    /// Whether the cell is marked: a best score, or a significant difference.
    pub best: bool,
    /// Text in smaller print after it, such as an interval; may be empty.
    pub note: String,
}

impl Cell {
    /// A score with its interval, if there is one.
    fn score(value: f64, interval: Option<&Interval>, best: Option<&String>, digits: usize) -> Self {
        let text = fixed(value, digits);
        let note = interval.filter(|interval| !interval.low.is_nan()).map_or_else(String::new, |interval| {
            format!("[{}, {}]", fixed(interval.low, digits), fixed(interval.high, digits))
        });
        Self { best: best == Some(&text), text, note }
    }

    /// The width of the cell in terminal columns.
    pub(crate) fn width(&self) -> usize {
        let note = if self.note.is_empty() { 0 } else { 1 + self.note.width() };
        self.text.width() + note
    }
}

/// The text with control characters, which would move a terminal's cursor or break a row, replaced by spaces.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Grid {
    /// The grid with [`printable`] column names and cells, since these may come from a file.
    pub(crate) fn printable(&self) -> Self {
        let cell = |cell: &Cell| Cell { text: printable(&cell.text), ..cell.clone() };
        Self {
            columns: self.columns.iter().map(|(name, align)| (printable(name), *align)).collect(),
            rows: self.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }

    /// Systems as rows and measures as columns, as in papers.
    pub fn by_system(report: &Report, digits: usize) -> Self {
        let best = best(report, digits);
        let ranks = report.sorted_by.map(|measure| ranks(report, measure));
        let mut columns = vec![("System".to_owned(), Align::Left)];
        columns.extend(ranks.iter().map(|_| ("Rank".to_owned(), Align::Right)));
        columns.extend(report.head.measures.iter().map(|m| (m.short_label().to_owned(), Align::Right)));
        let with_images = differ(report);
        if with_images {
            columns.push(("Images".to_owned(), Align::Right));
        }
        let rows = report.systems.iter().enumerate().map(|(s, system)| {
            let rank = ranks.iter().filter_map(|ranks| ranks.get(s)).map(|rank| rank.to_string().into());
            let scores = report
                .head
                .measures
                .iter()
                .zip(&best)
                .enumerate()
                .map(|(k, (measure, best))| cell(measure, system, k, best.as_ref(), digits));
            let images = with_images.then(|| system.n_images.to_string().into());
            std::iter::once(system.name.as_str().into()).chain(rank).chain(scores).chain(images).collect()
        });
        Self { columns, rows: rows.collect() }
    }

    /// The same with the lengths of captions, if they are known.
    pub(crate) fn by_system_with_lengths(report: &Report, digits: usize) -> Self {
        let mut grid = Self::by_system(report, digits);
        if report.systems.iter().any(|system| system.lengths.is_some()) {
            grid.columns.extend(LENGTHS.map(|name| (name.to_owned(), Align::Right)));
            for (row, system) in grid.rows.iter_mut().zip(&report.systems) {
                row.extend(lengths_in_words(system.lengths.as_ref()).map(Cell::from));
            }
        }
        grid
    }

    /// Measures as rows, with their full labels and ranges, and systems as columns.
    pub fn by_measure(report: &Report, digits: usize) -> Self {
        let best = best(report, digits);
        let mut columns = vec![(String::new(), Align::Left), ("range".to_owned(), Align::Right)];
        columns.extend(report.systems.iter().map(|system| (system.name.clone(), Align::Right)));
        let mut rows: Vec<Vec<Cell>> = report
            .head
            .measures
            .iter()
            .zip(&best)
            .enumerate()
            .map(|(k, (measure, best))| {
                let scores =
                    report.systems.iter().map(|system| cell(measure, system, k, best.as_ref(), digits));
                let head = [measure.label.as_str().into(), range(measure.min, measure.max).into()];
                head.into_iter().chain(scores).collect()
            })
            .collect();
        if report.systems.iter().any(|system| system.lengths.is_some()) {
            let texts = report.systems.iter().map(|system| lengths_in_words(system.lengths.as_ref()));
            let texts: Vec<[String; 3]> = texts.collect();
            for (k, name) in LENGTHS.into_iter().enumerate() {
                let cells = texts.iter().map(|texts| texts[k].as_str().into());
                rows.push([name.into(), Cell::default()].into_iter().chain(cells).collect());
            }
        }
        if differ(report) {
            let images = report.systems.iter().map(|system| system.n_images.to_string().into());
            rows.push(["images".into(), Cell::default()].into_iter().chain(images).collect());
        }
        Self { columns, rows }
    }

    /// Pads the notes of each column to one width, so that the texts before them are below each other.
    pub(crate) fn align_notes(&mut self) {
        for c in 0..self.columns.len() {
            let width = self.rows.iter().filter_map(|row| row.get(c)).map(|cell| cell.note.width()).max();
            for note in self.rows.iter_mut().filter_map(|row| row.get_mut(c)).map(|cell| &mut cell.note) {
                note.extend(std::iter::repeat_n(' ', width.unwrap_or(0) - note.width()));
            }
        }
    }

    /// The width of each column in terminal columns, without the mark of best scores.
    pub fn widths(&self) -> Vec<usize> {
        self.columns
            .iter()
            .enumerate()
            .map(|(c, (name, _))| {
                let cells = self.rows.iter().filter_map(|row| row.get(c)).map(Cell::width);
                cells.max().unwrap_or(0).max(name.width())
            })
            .collect()
    }

    /// Whether any cell is marked as [`best`](Cell::best).
    pub fn has_best(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.best)
    }
}

/// What tables show of lengths: names, and the texts of a system.
const LENGTHS: [&str; 3] = ["words", "reference words", "length ratio"];

/// The texts beside [`LENGTHS`]; empty without lengths.
fn lengths_in_words(lengths: Option<&Lengths>) -> [String; 3] {
    let length = |words: f64| fixed(words, if words.fract() == 0.0 { 0 } else { 1 });
    let text = |lengths: &Lengths| {
        [length(lengths.candidates), length(lengths.references), fixed(lengths.ratio(), 3)]
    };
    lengths.map_or_else(Default::default, text)
}

/// The cell with a system's score by measure number `k`.
fn cell(measure: &Measure, system: &SystemReport, k: usize, best: Option<&String>, digits: usize) -> Cell {
    match system.scores.get(k) {
        Some(score) => Cell::score(*score, system.interval(k), best, measure.digits(digits)),
        None => Cell::default(),
    }
}

/// The rank of each system by one measure; equal scores share a rank.
fn ranks(report: &Report, measure: usize) -> Vec<usize> {
    let lower = report.head.measures.get(measure).is_some_and(|m| m.direction == Direction::LowerIsBetter);
    let score = |system: &SystemReport| {
        let score = system.scores.get(measure).copied().filter(|score| !score.is_nan());
        score.map_or(f64::INFINITY, |score| if lower { score } else { -score })
    };
    let better = |system: &SystemReport| {
        report.systems.iter().filter(|other| score(other).total_cmp(&score(system)).is_lt()).count()
    };
    report.systems.iter().map(|system| better(system) + 1).collect()
}

/// Whether systems were scored on different numbers of images.
fn differ(report: &Report) -> bool {
    report.systems.windows(2).any(|pair| matches!(pair, [a, b] if a.n_images != b.n_images))
}

/// The best score of each measure as it is printed, so that equal-looking scores are all marked; `None` where all
/// scores look equal, where no score is better than another, or where systems were scored on different images.
fn best(report: &Report, digits: usize) -> Vec<Option<String>> {
    if !report.same_images {
        return vec![None; report.head.measures.len()];
    }
    report
        .head
        .measures
        .iter()
        .enumerate()
        .map(|(k, measure)| {
            let scores = report.systems.iter().filter_map(|system| system.scores.get(k).copied());
            let better = match measure.direction {
                Direction::HigherIsBetter => f64::max,
                Direction::LowerIsBetter => f64::min,
                Direction::Neither => return None,
            };
            let digits = measure.digits(digits);
            let best = fixed(scores.clone().reduce(better)?, digits);
            scores.map(|score| fixed(score, digits)).any(|shown| shown != best).then_some(best)
        })
        .collect()
}
