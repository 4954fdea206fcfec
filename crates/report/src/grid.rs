//! The tables behind the text, Markdown, LaTeX and HTML forms.

use capeval_stats::Interval;
use unicode_width::UnicodeWidthStr;

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
    /// True if the cell is marked: a best score, or a significant difference.
    pub best: bool,
    /// Text in smaller print after it, such as an interval; may be empty.
    pub note: String,
}

impl Cell {
    /// A number with its interval in brackets, if there is one.
    pub fn estimate(value: f64, interval: Option<Interval>, shown: impl Fn(f64) -> String) -> Self {
        let ends = |ends: Interval| format!("[{}, {}]", shown(ends.low), shown(ends.high));
        Self { text: shown(value), best: false, note: interval.map_or_else(String::new, ends) }
    }

    /// The same with a standard deviation before the interval, if there is one.
    pub(crate) fn deviating(mut self, deviation: Option<f64>, shown: impl Fn(f64) -> String) -> Self {
        if let Some(deviation) = deviation.filter(|deviation| !deviation.is_nan()) {
            let gap = if self.note.is_empty() { "" } else { " " };
            self.note = format!("± {}{gap}{}", shown(deviation), self.note);
        }
        self
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
    /// A table whose first column holds names, and all others numbers.
    pub fn of_numbers<N: Into<String>>(
        names: impl IntoIterator<Item = N>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let align = |k: usize| if k == 0 { Align::Left } else { Align::Right };
        let columns = names.into_iter().enumerate().map(|(k, name)| (name.into(), align(k)));
        Self { columns: columns.collect(), rows: rows.into_iter().collect() }
    }

    /// The grid with [`printable`] column names and cells, since these may come from a file.
    pub(crate) fn printable(&self) -> Self {
        let cell = |cell: &Cell| Cell { text: printable(&cell.text), ..cell.clone() };
        Self {
            columns: self.columns.iter().map(|(name, align)| (printable(name), *align)).collect(),
            rows: self.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
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

    /// Returns true if any cell is marked as [`best`](Cell::best).
    pub fn has_best(&self) -> bool {
        self.rows.iter().flatten().any(|cell| cell.best)
    }
}
