//! Values of single images from machines: their checks, their file, and the intervals and tests computed from them.

use std::collections::BTreeMap;
use std::io::Write;

use capeval_api::{GivenScores, GivenValues};
use capeval_choice::SegmentId;
use capeval_site::prelude::*;
use capeval_stats::paired::{permutation_p, randomisation_p};
use capeval_stats::resample::{bootstrap, exchange};
use capeval_stats::{ExactSum, Interval, Matrix, Resampling};
use capeval_tasks::{MeasureScore, SetTests};

use super::GivenMeasure;
use crate::settings::Phase;
use crate::validation::ExpectedImages;

/// The number of resamples for intervals on boards.
const RESAMPLES: usize = 1_000;

/// The share by which a mean may differ from the value that was given for it.
const TOLERANCE: f64 = 1e-6;

/// The values of each image in the order of the ids, by measure.
pub type Columns = BTreeMap<String, Vec<f64>>;

/// The scores that a machine gives, checked, with their intervals; and the values of each image.
pub fn checked(
    given: &GivenScores,
    measures: &[GivenMeasure],
    expected: &ExpectedImages,
) -> Result<(Vec<MeasureScore>, Columns)> {
    if let Some(unknown) = given.scores.keys().find(|key| measures.iter().all(|known| known.key != **key)) {
        let keys: Vec<&str> = measures.iter().map(|measure| measure.key.as_str()).collect();
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "measure",
            "The phase declares no measure {}. Its measures: {}", unknown, keys.join(", ")
        });
    }
    let columns = columns(given, measures, expected)?;
    let mut scores = Vec::new();
    for measure in measures {
        let Some(value) = given.scores.get(&measure.key).copied() else {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "measure", "The measure {} has no value.", &measure.key
            });
        };
        require_value(measure, value)?;
        let column = columns.get(&measure.key);
        if let Some(column) = column {
            require_mean(&measure.key, value, column)?;
        }
        let interval = column.filter(|column| column.len() > 1).map(|column| interval(column));
        scores.push(MeasureScore { key: measure.key.clone(), value, interval });
    }
    Ok((scores, columns))
}

fn require_value(measure: &GivenMeasure, value: f64) -> Result<()> {
    if measure.has(value) {
        return Ok(());
    }
    let end = |end: Option<f64>| end.map_or_else(|| "–".to_owned(), |end| end.to_string());
    Err(fault! {
        UNPROCESSABLE_ENTITY, "value",
        "{} cannot be a value of {}, which is between {} and {}.", value, &measure.key, end(measure.min),
        end(measure.max)
    })
}

fn mean(column: &[f64]) -> f64 {
    column.iter().copied().collect::<ExactSum>().value() / column.len() as f64
}

fn require_mean(key: &str, value: f64, column: &[f64]) -> Result<()> {
    let mean = mean(column);
    if (mean - value).abs() <= TOLERANCE * mean.abs().max(value.abs()).max(1.0) {
        return Ok(());
    }
    Err(fault! {
        UNPROCESSABLE_ENTITY, "mean",
        "The value of {} is {}, but the mean over the images is {}. Post no values of images for a measure that is not their mean.",
        key, value, mean
    })
}

/// The values of images as columns, in the order of the ids.
fn columns(given: &GivenScores, measures: &[GivenMeasure], expected: &ExpectedImages) -> Result<Columns> {
    let mut columns = Columns::new();
    let Some(first) = given.images.values().next() else { return Ok(columns) };
    let keys: Vec<&String> = first.keys().collect();
    let mut rows: Vec<(SegmentId, &GivenValues)> = Vec::new();
    for (id, values) in &given.images {
        let segment = SegmentId::from_untyped(id);
        if !expected.has(&segment) {
            return Err(fault!(UNPROCESSABLE_ENTITY, "image", "The phase has no image {}.", id));
        }
        if values.len() != keys.len() || !keys.iter().all(|key| values.contains_key(*key)) {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "image", "The image {} has other measures than the first one.", id
            });
        }
        rows.push((segment, values));
    }
    if rows.len() != expected.len() {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "image",
            "Values of {} images are given, but the phase has {}.", rows.len(), expected.len()
        });
    }
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    for key in keys {
        let Some(measure) = measures.iter().find(|measure| measure.key == *key) else {
            return Err(fault!(UNPROCESSABLE_ENTITY, "measure", "The phase declares no measure {}.", key));
        };
        let column: Vec<f64> =
            rows.iter().map(|(_, values)| values.get(key).copied().unwrap_or(f64::NAN)).collect();
        for value in &column {
            require_value(measure, *value)?;
        }
        columns.insert(key.clone(), column);
    }
    Ok(columns)
}

/// The interval of the mean of a column.
fn interval(column: &[f64]) -> (f64, f64) {
    let resampling = Resampling { resamples: RESAMPLES, ..Resampling::default() };
    let n = column.len() as f64;
    let matrix = Matrix::from_columns(&[column.to_vec()]);
    let means = bootstrap(&matrix, resampling, 1, |_| {}, |sums, values| values[0] = sums[0] / n);
    let Interval { low, high } = Interval::percentile(means, resampling.level);
    (low, high)
}

/// The p-value of the difference of two columns: the exact one, or else that of randomisation.
fn p_value(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.len() != other.len() || one.is_empty() {
        return None;
    }
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    if let Some(p) = permutation_p(&differences) {
        return Some(p);
    }
    let (n, observed) = (differences.len() as f64, mean(&differences));
    let scale = mean(one).abs().max(mean(other).abs());
    // An exchange flips the sign of a difference.
    let matrix = Matrix::from_columns(&[differences]);
    let exchanged = exchange(
        &matrix,
        Resampling::default(),
        1,
        |_| {},
        |sums, values| {
            values[0] = observed - 2.0 * sums[0] / n;
        },
    );
    Some(randomisation_p(&exchanged, observed, scale)).filter(|p| p.is_finite())
}

/// Stores the values of images, and returns the hash of the file.
pub async fn store(app: &App, columns: &Columns) -> Result<Option<String>> {
    if columns.is_empty() {
        return Ok(None);
    }
    let (text, blobs) = (serde_json::to_vec(columns)?, app.blobs.clone());
    let keep = move || {
        let mut draft = blobs.draft()?;
        draft.write_all(&text)?;
        blobs.keep(draft)
    };
    Ok(Some(tokio::task::spawn_blocking(keep).await??))
}

/// The values of images of a submission in a score set.
async fn read(app: &App, score_set: &str, submission: &str) -> Result<Columns, Failure> {
    let sql = "SELECT blob FROM given_values WHERE score_set = $1 AND submission = $2";
    let Some(hash) = app.store.fetch_optional::<String>(sql, args![score_set, submission]).await? else {
        return Ok(Columns::new());
    };
    let path = app.blobs.ready(&hash).await?;
    Ok(serde_json::from_slice(&tokio::fs::read(path).await?)?)
}

/// Adds the tests of the measures that machines gave to those of the engine.
pub async fn add_tests(
    app: &App,
    phase: &Phase,
    set: Option<&str>,
    (one, other): (&str, &str),
    tests: &mut [SetTests],
) -> Result<(), Failure> {
    let score_set = phase.score_set.as_deref().unwrap_or_default();
    let Some(tests) = tests.iter_mut().find(|tests| Some(tests.set.as_str()) == set) else { return Ok(()) };
    if phase.given.is_empty() {
        return Ok(());
    }
    let (one, other) = (read(app, score_set, one).await?, read(app, score_set, other).await?);
    let keys: Vec<String> = phase.given.iter().map(|measure| measure.key.clone()).collect();
    let compare = move || {
        let p = |key: String| {
            let p = one.get(&key).zip(other.get(&key)).and_then(|(one, other)| p_value(one, other));
            (key, p)
        };
        keys.into_iter().map(p).collect::<Vec<_>>()
    };
    tests.tests.extend(tokio::task::spawn_blocking(compare).await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_tests_are_those_of_means() {
        let column: Vec<f64> = (0..50).map(|k| f64::from(k % 7)).collect();
        let (low, high) = interval(&column);
        assert!(low < mean(&column) && mean(&column) < high && high - low < 2.0);
        let better: Vec<f64> = column.iter().map(|value| value + 1.0).collect();
        assert!(p_value(&better, &column).unwrap() < 0.001);
        assert_eq!(p_value(&column, &column), Some(1.0));
        assert_eq!(p_value(&column, &column[1..]), None);
        // As many images as the exact test takes.
        assert_eq!(p_value(&better[..10], &column[..10]), Some(2.0 / 1024.0));
    }
}
