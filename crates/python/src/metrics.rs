//! Lists of metrics, suites and tokenizers; selection of metrics; tokenization.

use std::path::PathBuf;
use std::sync::Arc;

use capeval::evaluate::registry::SUITES;
use capeval::metric::{AnyMetric, Direction, MetricCard, Reading};
use capeval::text::tokenizers::mecab::Language;
use capeval::text::{Following, Scratch, Tokenizer, tokenizers};
use capeval::{KITS, MetricOptions, OutsideMetrics, Selection};
use capeval_files::{Caches, MetricData};
use capeval_outside::cards;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::prelude::*;

use crate::captions::Captions;
use crate::data::data;
use crate::error::{fault, from_file, from_request, value};
use crate::frequencies::DocumentFrequencies;
use crate::outside::refuse_sight;
use crate::run::pool;

/// Selects metrics by name, with settings for all that have them; notices say which ones suites had to leave out.
pub fn select(
    py: Python<'_>,
    options: &MetricOptions,
    frequencies: Option<&DocumentFrequencies>,
) -> PyResult<Selection> {
    Ok(select_with_caches(py, options, frequencies, false)?.0)
}

/// As [`select`], with what is to be saved after the metrics were used; if `uses_cache_folder`, they keep it in the
/// user's folder for caches.
pub fn select_with_caches(
    py: Python<'_>,
    options: &MetricOptions,
    frequencies: Option<&DocumentFrequencies>,
    uses_cache_folder: bool,
) -> PyResult<(Selection, Caches)> {
    let MetricData { resources, caches, .. } = data(py, options, frequencies, uses_cache_folder)?;
    let selection = capeval::select_with_defaults(options, &resources).map_err(from_request)?;
    Ok((selection, caches))
}

pub fn with_settings(names: &[String], settings: &[(String, String)]) -> MetricOptions {
    MetricOptions { settings: settings.iter().cloned().collect(), ..MetricOptions::new(names) }
}

/// As [`select`], for rows whose neighbours are unknown: the captions of a row are read on their own.
pub fn of_rows(
    py: Python<'_>,
    metrics: &[String],
    settings: &[(String, String)],
    frequencies: Option<&DocumentFrequencies>,
    outside: OutsideMetrics,
) -> PyResult<Selection> {
    let options = with_settings(metrics, settings);
    let MetricData { mut resources, .. } = data(py, &options, frequencies, false)?;
    refuse_sight(&outside)?;
    resources.insert(Arc::new(capeval_outside::outside_settings()));
    resources.insert(Arc::new(outside));
    let selection = capeval::select_with_defaults(&options, &resources).map_err(from_request)?;
    let Selection { metrics, notices } = selection;
    Ok(Selection { metrics: metrics.into_iter().map(AnyMetric::each).collect(), notices })
}

/// All metrics in the order of the documentation, each as a dictionary.
#[pyfunction]
pub fn metrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for card in cards() {
        let MetricCard { name, summary, paper, program, parts, settings, signature, needs, family, .. } =
            card;
        let entry = PyDict::new(py);
        entry.set_item("name", name)?;
        entry.set_item("summary", summary)?;
        entry.set_item("paper", paper)?;
        entry.set_item("program", program)?;
        entry.set_item("family", family.name())?;
        entry.set_item("keys", parts.iter().map(|part| part.key.as_str()).collect::<Vec<_>>())?;
        entry.set_item("min", parts.first().map(|part| part.min))?;
        entry.set_item("max", parts.first().map(|part| part.max))?;
        entry.set_item(
            "higher_is_better",
            parts.first().is_none_or(|part| part.direction == Direction::HigherIsBetter),
        )?;
        let all = PyDict::new(py);
        for setting in settings {
            all.set_item(setting.name, (setting.default, setting.meaning()))?;
        }
        entry.set_item("settings", all)?;
        entry.set_item("signature", signature.as_ref().map(ToString::to_string))?;
        entry.set_item("needs", needs.as_ref().map(|needs| needs.what))?;
        list.append(entry)?;
    }
    Ok(list)
}

/// The metrics that the engine itself computes for these names.
#[pyfunction]
pub fn engine_names(names: Vec<String>) -> PyResult<Vec<String>> {
    capeval_outside::engine_names(&names).map_err(from_file)
}

/// The names of the kits.
#[pyfunction]
pub fn kit_names() -> Vec<&'static str> {
    KITS.iter().map(|(name, _)| *name).collect()
}

/// The kit of this name or in this file, as JSON.
#[pyfunction]
pub fn kit(name: &str) -> PyResult<String> {
    Ok(capeval_files::kit(name).map_err(from_file)?.to_json())
}

/// The suites: name, summary and metrics.
#[pyfunction]
pub fn suites() -> Vec<(&'static str, &'static str, Vec<String>)> {
    SUITES.iter().map(|suite| (suite.name, suite.summary, suite.metrics())).collect()
}

/// The tokenizers: name and summary.
#[pyfunction]
pub fn tokenizer_names() -> Vec<(&'static str, &'static str)> {
    tokenizers::ALL
        .iter()
        .chain(tokenizers::WITH_DICTIONARY)
        .map(|(_, name, summary)| (*name, *summary))
        .collect()
}

/// Registers the folder of MeCab's Japanese or Korean dictionary.
#[pyfunction]
pub fn provide_dictionary(language: &str, folder: PathBuf) -> PyResult<()> {
    let language = match language {
        "ja" => Language::Japanese,
        "ko" => Language::Korean,
        other => return Err(value(&format!("MeCab has no language {other:?}"))),
    };
    capeval_files::provide_dictionary(language, folder);
    Ok(())
}

/// The tokenizer of this name.
pub fn tokenizer(name: &str) -> PyResult<Tokenizer> {
    name.parse().map_err(|refusal: capeval::choice::Refusal| fault(&refusal))
}

/// The reading (tokenizer and stemmer) that a table of document frequencies is counted in.
pub fn reading(tok: &str, stem: Option<&str>) -> PyResult<Reading> {
    capeval::table_reading(tok, stem.unwrap_or("none")).map_err(from_request)
}

/// The tokens of each text, joined by single spaces, or as lists.
#[pyfunction]
pub fn tokenize<'py>(
    py: Python<'py>,
    texts: &Captions,
    tokenizer: &str,
    join: bool,
) -> PyResult<Bound<'py, PyList>> {
    let tokenizer = self::tokenizer(tokenizer)?;
    let pool = pool(py, None)?;
    let rows = &texts.rows;
    let chunks: Vec<Vec<Tokens>> = py.detach(|| {
        pool.install(|| {
            let chunk = rows.len().div_ceil(4 * rayon::current_num_threads()).max(256);
            (0..rows.len().div_ceil(chunk))
                .into_par_iter()
                .map(|c| cut(tokenizer, rows, c * chunk..((c + 1) * chunk).min(rows.len())))
                .collect()
        })
    });
    let list = PyList::empty(py);
    for (text, ends) in chunks.into_iter().flatten() {
        if join {
            list.append(text)?;
        } else {
            let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
            let pieces = starts.zip(&ends).map(|(start, end)| text.get(start..*end).unwrap_or_default());
            list.append(pieces.collect::<Vec<_>>())?;
        }
    }
    Ok(list)
}

/// The tokens of a text separated by spaces, and the end of each token.
type Tokens = (String, Vec<usize>);

fn cut(tokenizer: Tokenizer, rows: &capeval::corpus::Captions, range: std::ops::Range<usize>) -> Vec<Tokens> {
    let n = if tokenizer == Tokenizer::Ptb { rows.len() } else { 0 };
    let mut scratch = Scratch::default();
    range
        .map(|k| {
            let (mut line, mut ends) = (String::new(), Vec::new());
            let following = || -> Following<'_> { Box::new((k + 1..n).map(|k| rows.text(k))) };
            tokenizer.tokenize_before(rows.text(k), &following, &mut scratch, |piece| {
                if !ends.is_empty() {
                    line.push(' ');
                }
                line.push_str(piece);
                ends.push(line.len());
            });
            (line, ends)
        })
        .collect()
}
