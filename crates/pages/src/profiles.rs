//! The captions of systems on the page of a report on diversity: lengths, vocabulary, n-grams, and repeated captions.

use capeval_choice::counted;
use capeval_report::charts::{Axis, COLOURS, Chart, Colour, Series};
use capeval_report::{Align, Grid, NgramCount, Profile, Report, Table, significant};

use crate::figures::{Figure, Note, SHOWN, top};

/// The profiles of the captions of systems.
pub(crate) struct Profiles<'r> {
    /// The systems that are drawn.
    pub systems: Vec<&'r str>,
    /// The number of systems that are not drawn, for lack of colours.
    pub n_more: usize,
    pub figures: Vec<Figure>,
    /// For each system that repeats captions, the most frequent ones.
    pub tables: Vec<Table>,
}

/// The profiles of a report; `None` if it has none.
pub(crate) fn profiles(report: &Report) -> Option<Profiles<'_>> {
    let all: Vec<(&str, &Profile)> =
        report.systems.iter().map(|system| system.name.as_str()).zip(&report.profiles).collect();
    let drawn = &all[..all.len().min(COLOURS)];
    if drawn.is_empty() {
        return None;
    }
    let has_new = drawn.iter().any(|(_, profile)| profile.ngrams.iter().any(|of| of.n_new.is_some()));
    let distinct = shares(drawn, "Distinct n-grams", "% that are distinct", |of| Some(of.n_distinct));
    let new = has_new.then(|| shares(drawn, "New n-grams", "% not in the training captions", |of| of.n_new));
    Some(Profiles {
        systems: drawn.iter().map(|(name, _)| *name).collect(),
        n_more: all.len() - drawn.len(),
        figures: [lengths(drawn), growth(drawn), distinct].into_iter().chain(new).collect(),
        tables: all.iter().filter_map(|(name, profile)| frequent(name, profile)).collect(),
    })
}

fn lengths(drawn: &[(&str, &Profile)]) -> Figure {
    let counts = drawn.iter().map(|(_, profile)| &profile.lengths[..]);
    let high = counts.clone().map(|counts| quantile(counts, SHOWN)).max().unwrap_or(0).max(8);
    let n_beyond: usize = counts.map(|counts| counts.iter().skip(high + 1).sum::<usize>()).sum();
    let mut words = String::from("Words per caption.");
    let series = drawn.iter().enumerate().map(|(s, (name, profile))| {
        words.push_str(&format!(" Median of {name}: {}.", quantile(&profile.lengths, 0.5)));
        let n = profile.n_captions().max(1) as f64;
        let points = profile.lengths.iter().take(high + 1).enumerate();
        let points = points.map(|(length, count)| (length as f64, 100.0 * *count as f64 / n));
        Series { colour: Colour::System(s), points: points.collect() }
    });
    let series: Vec<Series> = series.collect();
    let x = Axis::of_counts("words per caption", (-0.5, high as f64 + 0.5));
    let y = Axis::new("% of captions", (0.0, top(&series)));
    let note = match n_beyond {
        0 => "Captions by their number of words".to_owned(),
        n => format!("{} of more than {high} words not drawn", counted(n, "caption")),
    };
    figure("Length", words, note, &Chart::curves(x, y, &series, false))
}

/// The smallest length that this share of the captions does not exceed.
fn quantile(counts: &[usize], share: f64) -> usize {
    let within = (share * counts.iter().sum::<usize>() as f64).ceil() as usize;
    let sums = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    sums.take_while(|sum| *sum < within).count()
}

fn growth(drawn: &[(&str, &Profile)]) -> Figure {
    let mut said = String::from("Vocabulary growth.");
    let mut ends = (0.0_f64, 0.0_f64);
    let series = drawn.iter().enumerate().map(|(s, (name, profile))| {
        let (n, distinct) = profile.growth.last().copied().unwrap_or_default();
        ends = (ends.0.max(n as f64), ends.1.max(distinct as f64));
        said.push_str(&format!(" {name}: {distinct} distinct among {}.", counted(n, "word")));
        let points = profile.growth.iter().map(|(n, distinct)| (*n as f64, *distinct as f64));
        Series { colour: Colour::System(s), points: points.collect() }
    });
    let series: Vec<Series> = series.collect();
    let (x, y) =
        (Axis::of_counts("words read", (0.0, ends.0)), Axis::of_counts("distinct words", (0.0, ends.1)));
    let note = "Distinct words among the first words; a system that falls behind early repeats itself";
    figure("Vocabulary growth", said, note, &Chart::curves(x, y, &series, false))
}

/// The share of some n-grams among all of the same length.
fn shares(
    drawn: &[(&str, &Profile)],
    title: &str,
    label: &str,
    pick: impl Fn(&NgramCount) -> Option<usize>,
) -> Figure {
    let mut words = format!("{title}.");
    let mut orders = 1;
    let series = drawn.iter().enumerate().map(|(s, (name, profile))| {
        let counts = profile.ngrams.iter().enumerate().filter(|(_, of)| of.n > 0);
        let points =
            counts.filter_map(|(k, of)| Some(((k + 1) as f64, 100.0 * pick(of)? as f64 / of.n as f64)));
        let points: Vec<(f64, f64)> = points.collect();
        orders = orders.max(profile.ngrams.len());
        let said = points.iter().map(|(n, share)| format!(" {}% for n = {n}", significant(*share, 3)));
        words.push_str(&format!(" {name}:{}.", said.collect::<Vec<_>>().join(",")));
        Series { colour: Colour::System(s), points }
    });
    let series: Vec<Series> = series.collect();
    let values: Vec<f64> = (1..=orders).map(|n| n as f64).collect();
    let y = Axis::new(label, (0.0, top(&series).min(100.0)));
    let note = "Among all n-grams of n words; longer ones are distinct and new more often";
    figure(title, words, note, &Chart::curves(Axis::of_values("n", &values), y, &series, false))
}

fn frequent(name: &str, profile: &Profile) -> Option<Table> {
    let n = profile.n_captions().max(1) as f64;
    let rows = profile.frequent.iter().map(|(text, times)| {
        let share = format!("{:.2}", 100.0 * *times as f64 / n);
        vec![text.as_str().into(), times.to_string().into(), share.into()]
    });
    let rows: Vec<_> = rows.collect();
    let columns = [("caption", Align::Left), ("times", Align::Right), ("% of captions", Align::Right)];
    let columns = columns.map(|(name, align)| (name.to_owned(), align)).into();
    let title = Some(format!("Most frequent captions of {name}"));
    (!rows.is_empty()).then_some(Table { title, grid: Grid { columns, rows } })
}

fn figure(title: &str, words: String, note: impl Into<String>, chart: &Chart) -> Figure {
    Figure {
        title: title.to_owned(),
        words,
        notes: vec![Note::Text(note.into())],
        cells: None,
        svg: chart.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_length_of_a_caption() {
        let medians = [&[][..], &[1], &[0, 1, 1], &[0, 1, 2]].map(|counts| quantile(counts, 0.5));
        assert_eq!(medians, [0, 0, 1, 2]);
        assert_eq!(quantile(&[0, 990, 9, 0, 1], 0.995), 2);
    }
}
