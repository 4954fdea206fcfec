//! A report as comma-separated values, one row per system.

use std::io::{self, Write};

use capeval_stats::Resampling;

use crate::Report;
use crate::number::full;

/// Writes a header and one row per system: its name, how many images were scored, one column per measure
/// with its full value, the signatures of its metrics and the codes of its notices, separated by blanks.
/// Confidence intervals, where there are any, follow in two columns per measure, `KEY_low` and `KEY_high`, and how
/// they came about in `level`, `resamples` and `seed`.
///
/// # Errors
/// When `out` does not take what is written.
pub fn csv(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let keys = report.measures.iter().map(|measure| measure.key.clone());
    let header = ["system", "images"].into_iter().map(str::to_owned).chain(keys);
    let ends = |key: &str| [format!("{key}_low"), format!("{key}_high")];
    let intervals = report.measures.iter().filter(|_| report.resampling.is_some()).flat_map(|m| ends(&m.key));
    let words = ["signatures".to_owned(), "notices".to_owned()];
    let drawn = report.resampling.map(|_| RESAMPLING.map(str::to_owned));
    row(out, header.chain(words).chain(intervals).chain(drawn.into_iter().flatten()))?;
    for system in &report.systems {
        let signatures: Vec<String> = system.signatures.iter().map(ToString::to_string).collect();
        let notices = report.notices.iter().filter(|notice| notice.concerns(&system.name));
        let codes: Vec<&str> = notices.map(|notice| notice.code.as_str()).collect();
        let head = [system.name.clone(), system.n_images.to_string()];
        let scores = system.scores.iter().map(|score| full(*score));
        let tail = [signatures.join(" "), codes.join(" ")];
        let intervals = system.intervals.iter().flatten().flat_map(|i| [full(i.low), full(i.high)]);
        let drawn = report.resampling.map(resampling).into_iter().flatten();
        row(out, head.into_iter().chain(scores).chain(tail).chain(intervals).chain(drawn))?;
    }
    Ok(())
}

/// The columns that say how intervals came about.
pub(crate) const RESAMPLING: [&str; 3] = ["level", "resamples", "seed"];

/// The fields of the columns [`RESAMPLING`].
pub(crate) fn resampling(Resampling { resamples, seed, level }: Resampling) -> [String; 3] {
    [full(level), resamples.to_string(), seed.to_string()]
}

/// Writes one row.
pub(crate) fn row(out: &mut impl Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let fields: Vec<String> = fields.map(quoted).collect();
    writeln!(out, "{}", fields.join(","))
}

/// A field as RFC 4180 wants it.
fn quoted(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(quoted("a,\"b\"".into()), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("plain".into()), "plain");
    }
}
