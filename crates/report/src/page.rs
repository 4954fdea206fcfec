//! What a page shows besides its report.

/// How a report becomes a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// What stands on top; names of systems or of files will do.
    pub title: String,
    /// Digits after the point in the table of scores.
    pub digits: usize,
    /// Where the images' pictures are, if they shall be shown.
    pub pictures: Option<Pictures>,
    /// Scores beside people's ratings, a chart each.
    pub ratings: Vec<RatingPlot>,
    /// Whether long data are packed; if not, the page is larger, and browsers before 2023 can show it.
    pub compress: bool,
}

impl Default for Page {
    /// Three digits, no pictures, packed.
    fn default() -> Self {
        Self {
            title: "Caption scores".into(),
            digits: 3,
            pictures: None,
            ratings: Vec::new(),
            compress: true,
        }
    }
}

/// Where pictures are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// An address or a path with `{id}`, or `{id:012}` for an id filled up with zeros to twelve digits.
    Pattern(String),
    /// For each image of the [`Gallery`](crate::Gallery), the path of its picture as seen from the page.
    Files(Vec<Option<String>>),
}

/// Scores beside people's ratings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatingPlot {
    /// What the ratings are: `mean of three experts`.
    pub ratings: String,
    /// What the scores are: the label of a measure.
    pub scores: String,
    /// Their agreement in words: `Kendall τ-c 0.439`.
    pub summary: String,
    /// Each caption's rating and score.
    pub points: Vec<(f64, f64)>,
}
