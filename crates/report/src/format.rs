//! Output formats.

capeval_choice::named! {
    /// An output format.
    #[derive(Default)]
    pub enum Form ("output format") {
        #[default]
        Table = "table", "a table for the terminal";
        Json = "json", "one JSON object";
        Jsonl = "jsonl", "JSON Lines, one object per row";
        Csv = "csv", "comma-separated values";
        Markdown = "markdown", "a Markdown table";
        Latex = "latex", "a LaTeX table, for booktabs";
    }
}

impl Form {
    /// The form that the ending of a file's name stands for; `None` for a page of HTML, and for other endings.
    pub fn of_ending(ending: &str) -> Option<Self> {
        Some(match ending.to_ascii_lowercase().as_str() {
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::Jsonl,
            "csv" => Self::Csv,
            "md" | "markdown" => Self::Markdown,
            "tex" => Self::Latex,
            _ => return None,
        })
    }

    /// Returns true if people read it, and not programs: numbers are rounded.
    pub fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Markdown | Self::Latex)
    }
}
