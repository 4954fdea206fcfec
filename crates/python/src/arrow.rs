//! Scores and statistics of Arrow record batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use capeval::choice::{Argument, Notice, Remedy};
use capeval::evaluate::{BatchScorer, System, evaluate};
use capeval::metric::{AnyMetric, ColumnKind, Family, Reading, Resources};
use capeval::report::{Measure, MetricEntry};
use capeval::stats::Table;
use capeval::text::Texts;
use capeval::{Dealing, Outside, OutsideMetrics, Selection, entries};
use capeval_outside::Sources;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use crate::capsule::{ArrowBatch, batches};
use crate::columns::{Columns, Policies, RowIds, Rows, Sieve, Strings, column};
use crate::error::{fault, from_file, from_request, sentence, value};
use crate::frequencies::DocumentFrequencies;
use crate::function::{Function, TOGETHER};
use crate::judge::Judge;
use crate::metrics::{of_rows, with_settings};
use crate::outside::{Functions, called, held, messages};
use crate::run::{Caller, run_on_pool};
use crate::study::Study;
use crate::sums::{Summary, Sums};

/// Scores rows that contain a candidate and its references.
#[pyclass(frozen, module = "capeval._engine")]
pub struct RowScorer {
    metrics: Vec<AnyMetric>,
    /// Those of them whose scores come from outside, without functions.
    opened: Vec<Arc<dyn Outside>>,
    functions: Functions,
    /// Notices about the selection of the metrics.
    notices: Vec<Notice>,
    names: Names,
    sieve: Sieve,
    threads: Option<usize>,
}

/// The metrics of rows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowOptions {
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
    models: Vec<String>,
    threads: Option<usize>,
}

#[pymethods]
impl RowScorer {
    /// Accepts metrics whose scores depend only on the row and on saved document frequencies. The captions of a row are
    /// read on their own.
    #[new]
    fn new(
        py: Python<'_>,
        frequencies: Option<&DocumentFrequencies>,
        functions: Vec<Py<Function>>,
        vectors: (Vec<String>, Bound<'_, PyAny>),
        policies: Policies,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let RowOptions { metrics, settings, models, threads } = crate::options::options(options)?;
        let (files, in_memory) = vectors;
        refuse_families(&metrics)?;
        let sources = Sources {
            models,
            vectors: files,
            held_vectors: held(&in_memory)?,
            programs: Some(messages()),
            ..Sources::default()
        };
        let opened = sources.metrics(&with_settings(&metrics, &settings)).map_err(from_file)?;
        let functions: Functions = functions.into_iter().map(Arc::new).collect();
        let outside = outside(&opened, &functions, &Caller::no_one());
        let Selection { metrics, notices } = of_rows(py, &metrics, &settings, frequencies, outside)?;
        for metric in &metrics {
            refuse_fitted(metric, frequencies.is_some())?;
        }
        let (entries, measures) = entries(&metrics);
        let names = Names::new(&entries, &measures);
        let sieve = Sieve::new(&metrics, &policies)?;
        Ok(Self { metrics, opened, functions, notices, names, sieve, threads })
    }

    /// The keys of the scores.
    fn keys(&self) -> Vec<String> {
        self.names.scores.clone()
    }

    /// The names of the statistics, and whether they are whole numbers.
    fn columns(&self) -> Vec<(String, bool)> {
        let metrics = self.metrics.iter().zip(&self.names.metrics);
        let named = metrics.flat_map(|(metric, name)| {
            let columns = metric.about().columns.iter();
            columns.map(move |column| (format!("{name}/{}", column.name), column.kind == ColumnKind::Count))
        });
        named.collect()
    }

    /// The scores, or the statistics, of the rows of a batch or table.
    fn rows(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        columns: Columns,
        keep: Vec<String>,
        statistics: bool,
    ) -> PyResult<Vec<ArrowBatch>> {
        let (mut done, mut first) = (Vec::new(), 0);
        for batch in batches(source)? {
            let (read, rows) = self.measure(py, std::slice::from_ref(&batch), &columns, first)?;
            first += batch.num_rows();
            let kept = (&batch, Some(&read), &*keep);
            done.push(ArrowBatch(output(kept, &self.metrics, &self.names, &rows, statistics)?));
        }
        Ok(done)
    }

    /// Adds the sums of the statistics of the rows of a batch or table, which are dealt into blocks by a seed.
    fn add(
        &self,
        py: Python<'_>,
        sums: &Sums,
        source: &Bound<'_, PyAny>,
        columns: Columns,
        dealing: (u32, u64),
    ) -> PyResult<()> {
        let batches = batches(source)?;
        let (read, rows) = self.measure(py, &batches, &columns, 0)?;
        sums.add(&batches, &columns, &read, &rows, Dealing::new(dealing.0, dealing.1))
    }

    /// No sums, to add to. Refuses metrics whose corpus scores are not functions of sums.
    fn sums(&self) -> PyResult<Sums> {
        capeval::check_sums(&self.metrics).map_err(from_request)?;
        Ok(Sums::new(&self.metrics, self.sieve.policy, self.columns()))
    }

    /// The report on sums: a name, sources, ids of several rows, and how intervals are computed.
    fn report(&self, py: Python<'_>, sums: &Sums, about: Summary) -> PyResult<Study> {
        let options = about.options(self.notices.clone(), self.sieve.policy);
        let sums = sums.lock().clone();
        let metrics = &self.metrics;
        let found = run_on_pool(py, self.threads, None, |_| sums.report(metrics, &options))?;
        Ok(Study::new(found.map_err(from_request)?))
    }

    /// Corpus scores from the statistics of any batches: one value per key.
    fn corpus(&self, py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let read = batches(source)?;
        if read.iter().all(|batch| batch.num_rows() == 0) {
            let what = "there are no rows of statistics, and a corpus without captions has no score";
            return Err(value(&sentence(
                what,
                Some(&Remedy::say("pass the statistics of at least one row")),
            )));
        }
        let mut tables = Vec::with_capacity(self.metrics.len());
        for (metric, name) in self.metrics.iter().zip(&self.names.metrics) {
            let columns = &metric.about().columns;
            let mut rows = Vec::new();
            for batch in &read {
                let mut parts = Vec::with_capacity(columns.len());
                for known in columns {
                    parts.push(reals(column(batch, &format!("{name}/{}", known.name))?)?);
                }
                for k in 0..batch.num_rows() {
                    rows.extend(parts.iter().map(|part| part.get(k).copied().unwrap_or_default()));
                }
            }
            tables.push(Table::new(columns.clone(), rows));
        }
        let metrics = &self.metrics;
        run_on_pool(py, self.threads, None, move |_| {
            let mut values = Vec::new();
            for (metric, table) in metrics.iter().zip(&tables) {
                let mut scores = vec![0.0; metric.parts().len()];
                metric.score_table(table, &mut scores);
                values.extend(scores);
            }
            values
        })
    }
}

impl RowScorer {
    /// The rows of `batches`, and the statistics of those that are scored, row after row.
    fn measure(
        &self,
        py: Python<'_>,
        batches: &[RecordBatch],
        columns: &Columns,
        first: usize,
    ) -> PyResult<(Rows, Vec<f64>)> {
        let mut read = Rows::read(batches, columns, &self.sieve, first)?;
        let n = read.kept.len();
        let references = read.take_references();
        let texts = std::mem::take(&mut read.candidates);
        let system = System { name: String::new(), images: (0..n as u32).collect(), texts };
        let ids = if self.opened.is_empty() && self.functions.is_empty() {
            Vec::new()
        } else {
            read.ids(batches, columns)?
        };
        let rows = run_on_pool(py, self.threads, None, move |progress| {
            let mut references = references;
            let outside = outside(&self.opened, &self.functions, &progress.caller);
            let resources = Resources::default().with(Some(Arc::new(outside)));
            let metrics =
                capeval::compute_outside(&self.metrics, &resources, &system, &ids, &references, progress)
                    .map_err(|error| progress.caller.take_raised().unwrap_or_else(|| from_request(error)))?;
            let scored = evaluate(&mut references, &[system], &metrics, progress);
            let tables: Vec<Table> =
                scored.into_iter().flat_map(|system| system.metrics).map(|metric| metric.table).collect();
            Ok::<_, PyErr>(join(&tables, n))
        })??;
        Ok((read, rows))
    }
}

/// Metrics whose scores come from outside, with functions, which `caller` calls.
fn outside(opened: &[Arc<dyn Outside>], functions: &Functions, caller: &Arc<Caller>) -> OutsideMetrics {
    OutsideMetrics(opened.iter().cloned().chain(called(functions, caller, None)).collect())
}

/// Refuses metrics that need more than a row.
fn refuse_families(metrics: &[String]) -> PyResult<()> {
    for name in metrics {
        let why = match capeval_outside::family(name).map_err(from_file)? {
            Some(Family::Judges) => "asks a language model, which rows of tables cannot",
            Some(Family::Objects) => "reads instances of images, which rows of tables have not",
            _ => continue,
        };
        return Err(PyValueError::new_err(format!("{name} {why}; leave it out of the metrics")));
    }
    Ok(())
}

/// Refuses a metric that is fitted to all references.
fn refuse_fitted(metric: &AnyMetric, has_table: bool) -> PyResult<()> {
    let signature = metric.signature();
    let remedy = match (signature.get("idf"), signature.get("lm")) {
        (Some("corpus"), _) if has_table => Remedy::say("leave out idf=corpus, and it uses the table"),
        (Some("corpus"), _) => Remedy::give(Argument::DocumentFrequencies),
        (_, Some("references")) => Remedy::say("leave it out"),
        _ if signature.get("captions") == Some(TOGETHER) => Remedy::say("leave it out"),
        _ => return Ok(()),
    };
    let all = if signature.get("captions").is_some() { "captions" } else { "references" };
    let what =
        format!("{} needs all {all}, so the score of a row would depend on its batch", signature.metric());
    Err(value(&sentence(&what, Some(&remedy))))
}

/// The requirements for a table of document frequencies: tokenizer, stemmer, length of n-grams. `None` if the metrics
/// need no table.
#[pyfunction]
pub fn needed_frequencies(
    py: Python<'_>,
    metrics: Vec<String>,
    settings: Vec<(String, String)>,
) -> PyResult<Option<(String, Option<String>, usize)>> {
    let table = DocumentFrequencies::of_nothing()?;
    let metrics = of_rows(py, &metrics, &settings, Some(&table), OutsideMetrics::default())?.metrics;
    let mut needed: Option<(String, Option<String>, usize)> = None;
    for metric in &metrics {
        refuse_fitted(metric, true)?;
        if metric.signature().get("idf").is_none_or(|idf| !idf.starts_with("table(")) {
            continue;
        }
        let input = metric.input();
        let (tokenizer, stemmer) = match input.reading {
            Reading::Tokens(tokenizer) => (tokenizer, None),
            Reading::Stems(tokenizer, stemmer) => (tokenizer, Some(stemmer.name().to_owned())),
            _ => continue,
        };
        let mine = (tokenizer.to_string(), stemmer, input.ngrams);
        match &mut needed {
            None => needed = Some(mine),
            Some((tokenizer, stemmer, n)) if (&*tokenizer, &*stemmer) == (&mine.0, &mine.1) => {
                *n = mine.2.max(*n);
            }
            Some(_) => {
                let what = "the metrics need document frequencies of different tokenizers or stemmers";
                let remedy = Remedy::say("score them one by one");
                return Err(value(&sentence(what, Some(&remedy))));
            }
        }
    }
    Ok(needed)
}

/// The names of the columns of a result; unique even if one metric is used with two settings.
struct Names {
    /// One per metric: the prefix of its statistics.
    metrics: Vec<String>,
    /// One per measure.
    scores: Vec<String>,
}

impl Names {
    fn new(entries: &[MetricEntry], measures: &[Measure]) -> Self {
        Self {
            metrics: entries.iter().map(|entry| entry.key.clone()).collect(),
            scores: measures.iter().map(|measure| measure.key.clone()).collect(),
        }
    }
}

/// The scores or the statistics of rows, whose `columns` are of image ids and captions, against the references of a
/// judge.
#[pyfunction]
pub fn judge_rows(
    py: Python<'_>,
    judge: &Judge,
    source: &Bound<'_, PyAny>,
    columns: (String, String),
    keep: Vec<String>,
    statistics: bool,
) -> PyResult<Vec<ArrowBatch>> {
    let (id, candidate) = (&*columns.0, &*columns.1);
    let (mut done, mut first) = (Vec::new(), 0);
    let engine: &BatchScorer = judge.engine().engine();
    let names = Names::new(judge.engine().metrics(), judge.engine().measures());
    for batch in batches(source)? {
        let ids = RowIds::new(column(&batch, id)?, id)?;
        let captions = Strings::new(column(&batch, candidate)?, candidate)?;
        let null = |name: &str, row: usize, what: &str| {
            value(&format!(
                "column '{name}', row {} (from 0): null instead of {what}; leave such rows out",
                first + row
            ))
        };
        let mut images = Vec::with_capacity(batch.num_rows());
        let mut texts = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let found = ids.get(row)?.ok_or_else(|| null(id, row, "an image id"))?;
            images.push(
                judge.engine().image(&found).ok_or_else(|| {
                    PyKeyError::new_err(format!("image {} has no references", found.quoted()))
                })?,
            );
            texts.push(captions.get(row)?.ok_or_else(|| null(candidate, row, "a caption"))?);
        }
        let texts: Texts = texts.into_iter().collect();
        let rows = run_on_pool(py, judge.threads(), None, move |_| engine.statistics(&images, &texts))?;
        done.push(ArrowBatch(output((&batch, None, &keep), engine.metrics(), &names, &rows, statistics)?));
        first += batch.num_rows();
    }
    Ok(done)
}

/// A column of statistics.
fn reals(array: &ArrayRef) -> PyResult<Vec<f64>> {
    if array.null_count() > 0 {
        return Err(PyValueError::new_err("a statistic is null"));
    }
    match array.data_type() {
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().values().iter().map(|n| *n as f64).collect()),
        DataType::Float64 => Ok(array.as_primitive::<Float64Type>().values().to_vec()),
        other => Err(PyTypeError::new_err(format!("statistics must be int64 or float64, not {other}"))),
    }
}

/// The rows of all tables, joined column-wise, row after row.
fn join(tables: &[Table], n: usize) -> Vec<f64> {
    let mut iterators: Vec<_> = tables.iter().map(Table::rows).collect();
    let mut rows = Vec::new();
    for _ in 0..n {
        for table in &mut iterators {
            rows.extend_from_slice(table.next().unwrap_or_default());
        }
    }
    rows
}

/// The columns to keep of a batch, and the scores or the statistics of its rows: of those that were read, or of all.
fn output(
    (batch, read, keep): (&RecordBatch, Option<&Rows>, &[String]),
    metrics: &[AnyMetric],
    names: &Names,
    rows: &[f64],
    statistics: bool,
) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for name in keep {
        let array = column(batch, name)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(read.map_or_else(|| Ok(Arc::clone(array)), |read| read.filter(array))?);
    }
    let width: usize = metrics.iter().map(|metric| metric.about().columns.len()).sum();
    let n_rows = rows.len() / width.max(1);
    let mut first = 0;
    let mut keys = names.scores.iter();
    for (metric, name) in metrics.iter().zip(&names.metrics) {
        let (columns, parts) = (&metric.about().columns, metric.parts());
        let mine = first..first + columns.len();
        let of_metric = rows.chunks_exact(width.max(1)).filter_map(|row| row.get(mine.clone()));
        if statistics {
            for (k, known) in columns.iter().enumerate() {
                let values = of_metric.clone().filter_map(|row| row.get(k).copied());
                let array: ArrayRef = match known.kind {
                    ColumnKind::Count => Arc::new(values.map(|count| count as i64).collect::<Int64Array>()),
                    ColumnKind::Sum => Arc::new(values.collect::<Float64Array>()),
                };
                fields.push(Field::new(format!("{name}/{}", known.name), array.data_type().clone(), false));
                arrays.push(array);
            }
        } else {
            let mut scores = vec![0.0; parts.len()];
            let mut by_part = vec![Vec::with_capacity(n_rows); parts.len()];
            for row in of_metric {
                metric.score_segment(row, &mut scores);
                for (column, score) in by_part.iter_mut().zip(&scores) {
                    column.push(*score);
                }
            }
            for (values, key) in by_part.into_iter().zip(keys.by_ref()) {
                fields.push(Field::new(key, DataType::Float64, false));
                arrays.push(Arc::new(Float64Array::from(values)));
            }
        }
        first += columns.len();
    }
    let twice = fields
        .iter()
        .enumerate()
        .find(|(k, field)| fields.iter().take(*k).any(|before| before.name() == field.name()));
    if let Some((_, field)) = twice {
        return Err(PyValueError::new_err(format!(
            "two columns would be called '{}'; rename the one to keep",
            field.name()
        )));
    }
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(n_rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|error| fault(&error))
}
