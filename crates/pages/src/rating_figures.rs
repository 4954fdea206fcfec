//! Cumulative distributions of human ratings and of scores: a line for each system that wrote rated captions, and one
//! for the references.

use capeval_report::charts::{COLOURS, Colour};
use capeval_report::{Correlation, Unit};

use crate::figures::{Figure, cumulative, sorted};

/// Names of systems that mean people.
const PEOPLE: [&str; 7] = ["human", "humans", "people", "reference", "references", "ground truth", "gt"];

/// The name of captions whose system is not known.
const OTHER: &str = "other captions";

/// The figures of rated captions by the system that wrote them.
pub struct RatingFigures {
    /// The systems in the order of their colours.
    pub systems: Vec<String>,
    /// The number of systems that are not drawn, for lack of colours.
    pub n_more: usize,
    /// True if there is a line of references, in grey.
    pub has_references: bool,
    /// The distribution of ratings, then that of each measure; empty without systems and references.
    pub figures: Vec<Figure>,
}

/// The author of a caption.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Author<'a> {
    System(&'a str),
    Other,
    People,
}

/// The cumulative distributions of human ratings and of scores. Captions by people, which are one line, are those of a
/// system with a name such as `human`, and those without a system that are references of their image.
pub fn rated(found: &Correlation) -> RatingFigures {
    let points = &found.points;
    let authors = points.systems.iter().zip(&points.are_references);
    let authors: Vec<Author<'_>> = authors.map(|(system, own)| author(system.as_deref(), *own)).collect();
    let mut lines = authors.clone();
    lines.sort_unstable();
    lines.dedup();
    if lines == [Author::Other] {
        lines.clear();
    }
    let has_references = lines.last() == Some(&Author::People);
    let mut drawn: Vec<Author<'_>> = lines.iter().copied().filter(|line| *line != Author::People).collect();
    let n_more = drawn.len().saturating_sub(COLOURS);
    drawn.truncate(COLOURS);
    let systems: Vec<&str> = drawn.iter().map(|line| name(*line)).collect();
    let mut lines: Vec<(Colour, Author<'_>)> =
        drawn.iter().enumerate().map(|(s, line)| (Colour::System(s), *line)).collect();
    lines.extend(has_references.then_some((Colour::Muted, Author::People)));
    let of = |label: &str, what: &str, unit: &str, values: &[f64], is_counted: &dyn Fn(usize) -> bool| {
        let groups = lines.iter().map(|(colour, line)| {
            let own = values.iter().enumerate().filter(|(k, _)| authors[*k] == *line && is_counted(*k));
            (*colour, name(*line), sorted(own.map(|(_, value)| *value).collect()))
        });
        cumulative(label, &format!("Share of {what} with at most each {label}"), unit, groups.collect())
    };
    // A caption has one score, however many ratings.
    let is_new = |k: usize| {
        let key = |k: usize| (&points.images[k], &points.captions[k], &points.systems[k]);
        k == 0 || key(k - 1) != key(k)
    };
    let (what, unit) = match found.human.unit {
        Unit::Rating => ("ratings", "% of ratings"),
        Unit::Item => ("captions", "% of captions"),
    };
    let ratings = of("human rating", what, unit, &points.ratings, &|_| true);
    let measures = found.head.measures.iter().zip(&points.scores);
    let scores =
        measures.map(|(measure, scores)| of(&measure.label, "captions", "% of captions", scores, &is_new));
    RatingFigures {
        figures: std::iter::once(ratings).chain(scores).flatten().collect(),
        systems: systems.into_iter().map(str::to_owned).collect(),
        n_more,
        has_references,
    }
}

fn author(system: Option<&str>, is_reference: bool) -> Author<'_> {
    match system {
        Some(name) if PEOPLE.iter().any(|people| people.eq_ignore_ascii_case(name.trim())) => Author::People,
        Some(name) => Author::System(name),
        None if is_reference => Author::People,
        None => Author::Other,
    }
}

fn name(author: Author<'_>) -> &str {
    match author {
        Author::System(name) => name,
        Author::Other => OTHER,
        Author::People => "human",
    }
}
