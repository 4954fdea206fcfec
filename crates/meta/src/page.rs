//! Metrics on benchmarks as a page.

use std::io::{self, Write};

use capeval::choice::{Dialect, counted};
use capeval_pages::{Page, tabulated};

use crate::result::MetaReport;

/// Writes the page: its tables, and the coefficients as forest plots.
pub fn page(found: &MetaReport, page: &Page, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<&str> = found.outcomes.iter().map(|outcome| outcome.benchmark.title.as_str()).collect();
    let subtitle = format!("{} · {}", titles.join(", "), counted(found.head.measures.len(), "measure"));
    tabulated(found, ("Metrics on benchmarks", subtitle), found.estimates(), page, dialect, out)
}
