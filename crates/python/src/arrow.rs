//! Scores and statistics of Arrow record batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, OffsetSizeTrait, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use capeval::arrays::{Buffer, SharedBytes};
use capeval::choice::{Argument, Remedy};
use capeval::corpus::SegmentId;
use capeval::entries;
use capeval::evaluate::{BatchScorer, ReferenceSet, System, evaluate};
use capeval::metric::{AnyMetric, ColumnKind};
use capeval::report::{Measure, MetricEntry};
use capeval::stats::Table;
use capeval::text::Texts;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::capsule::{ArrowBatch, batches};
use crate::error::{fault, noticed, sentence, value};
use crate::frequencies::DocumentFrequencies;
use crate::judge::Judge;
use crate::metrics::select;
use crate::run::long;

/// The bytes of an Arrow array, kept alive by the array's owner.
struct Bytes(arrow_buffer::Buffer);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Scores rows that contain a candidate and its references.
#[pyclass(frozen, module = "capeval._engine")]
pub struct RowScorer {
    metrics: Vec<AnyMetric>,
    names: Names,
    threads: Option<usize>,
}

#[pymethods]
impl RowScorer {
    /// Accepts metrics whose scores depend only on the row and on saved document frequencies. The captions of a row are
    /// read on their own.
    #[new]
    fn new(
        py: Python<'_>,
        metrics: Vec<String>,
        settings: Vec<(String, String)>,
        frequencies: Option<&DocumentFrequencies>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let selection = select(py, &metrics, &settings, frequencies)?;
        if let Some(notice) = selection.notices.first() {
            return Err(noticed(notice));
        }
        let metrics: Vec<AnyMetric> = selection.metrics.into_iter().map(AnyMetric::each).collect();
        for metric in &metrics {
            let signature = metric.signature();
            if signature.get("idf") == Some("corpus") || signature.get("lm") == Some("references") {
                let what = format!(
                    "{} needs all references, so the score of a row would depend on its batch",
                    signature.metric()
                );
                return Err(value(&sentence(&what, Some(&Remedy::give(Argument::DocumentFrequencies)))));
            }
        }
        let (entries, measures) = entries(&metrics);
        let names = Names::new(&entries, &measures);
        Ok(Self { metrics, names, threads })
    }

    /// The keys of the scores.
    fn keys(&self) -> Vec<String> {
        self.names.scores.clone()
    }

    /// The scores, or the statistics, of the rows of a batch or table.
    fn rows(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        candidate: &str,
        references: &str,
        keep: Vec<String>,
        statistics: bool,
    ) -> PyResult<Vec<ArrowBatch>> {
        let (mut done, mut first) = (Vec::new(), 0);
        for batch in batches(source)? {
            let n = batch.num_rows();
            let texts = strings(column(&batch, candidate)?.as_ref(), &Place { column: candidate, first })?;
            let (refs, ends) = lists(column(&batch, references)?, &Place { column: references, first })?;
            first += n;
            let system = System { name: String::new(), images: (0..n as u32).collect(), texts };
            let metrics = &self.metrics;
            let scored = long(py, self.threads, None, move |progress| {
                evaluate(&mut ReferenceSet::new(refs, ends), &[system], metrics, progress)
            })?;
            let tables: Vec<Table> =
                scored.into_iter().flat_map(|system| system.metrics).map(|metric| metric.table).collect();
            let rows = join(&tables, n);
            done.push(ArrowBatch(output(&batch, &keep, &self.metrics, &self.names, &rows, statistics)?));
        }
        Ok(done)
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
        long(py, self.threads, None, move |_| {
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

/// The scores or the statistics of rows of image ids and captions, against the references of a judge.
#[pyfunction]
pub fn judge_rows(
    py: Python<'_>,
    judge: &Judge,
    source: &Bound<'_, PyAny>,
    id: &str,
    candidate: &str,
    keep: Vec<String>,
    statistics: bool,
) -> PyResult<Vec<ArrowBatch>> {
    let (mut done, mut first) = (Vec::new(), 0);
    let engine: &BatchScorer = judge.engine().engine();
    let names = Names::new(judge.engine().metrics(), judge.engine().measures());
    for batch in batches(source)? {
        let images = ids(column(&batch, id)?, &Place { column: id, first })?
            .iter()
            .map(|id| {
                let image = judge.engine().image(id);
                image.ok_or_else(|| PyKeyError::new_err(format!("image {} has no references", id.quoted())))
            })
            .collect::<PyResult<Vec<u32>>>()?;
        let texts = strings(column(&batch, candidate)?.as_ref(), &Place { column: candidate, first })?;
        first += batch.num_rows();
        let rows = long(py, judge.threads(), None, move |_| engine.statistics(&images, &texts))?;
        done.push(ArrowBatch(output(&batch, &keep, engine.metrics(), &names, &rows, statistics)?));
    }
    Ok(done)
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<&'b ArrayRef> {
    let schema = batch.schema();
    let n = schema.fields().iter().filter(|field| field.name() == name).count();
    if n > 1 {
        return Err(PyValueError::new_err(format!("{n} columns are called '{name}'; keep only one of them")));
    }
    batch.column_by_name(name).ok_or_else(|| {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        PyValueError::new_err(format!("there is no column '{name}'; the columns are {}", names.join(", ")))
    })
}

/// A column in a table of several batches, for errors.
struct Place<'n> {
    column: &'n str,
    /// The number of rows in the batches before.
    first: usize,
}

impl Place<'_> {
    /// An error in a row of the batch.
    fn at(&self, row: usize, what: &str) -> PyErr {
        PyValueError::new_err(format!("column '{}', row {} (from 0): {what}", self.column, self.first + row))
    }

    /// Refuses a column with nulls.
    fn refuse_nulls(&self, array: &dyn Array, instead_of: &str) -> PyResult<()> {
        match (0..array.len()).find(|row| array.is_null(*row)).filter(|_| array.null_count() > 0) {
            Some(row) => Err(self.at(row, &format!("null instead of {instead_of}; leave such rows out"))),
            None => Ok(()),
        }
    }
}

/// The strings of a column, without a copy unless the column is of type `Utf8View`.
fn strings(array: &dyn Array, place: &Place<'_>) -> PyResult<Texts> {
    place.refuse_nulls(array, "a caption")?;
    texts(array, place.column)
}

/// The strings of an array without nulls.
fn texts(array: &dyn Array, name: &str) -> PyResult<Texts> {
    let texts = match array.data_type() {
        DataType::Utf8 => {
            let strings = array.as_string::<i32>();
            shared(strings.values(), strings.value_offsets())
        }
        DataType::LargeUtf8 => {
            let strings = array.as_string::<i64>();
            shared(strings.values(), strings.value_offsets())
        }
        DataType::Utf8View => {
            let strings = array.as_string_view();
            Some((0..strings.len()).map(|k| strings.value(k)).collect())
        }
        other => {
            return Err(PyTypeError::new_err(format!("column '{name}' must contain strings, not {other}")));
        }
    };
    texts.ok_or_else(|| PyValueError::new_err(format!("column '{name}' is not valid UTF-8")))
}

fn shared<O: OffsetSizeTrait>(values: &arrow_buffer::Buffer, offsets: &[O]) -> Option<Texts> {
    let (first, last) = (offsets.first()?.as_usize(), offsets.last()?.as_usize());
    let bytes: SharedBytes = Arc::new(Bytes(values.clone()));
    let ends: Vec<u64> = offsets.iter().skip(1).map(|offset| (offset.as_usize() - first) as u64).collect();
    Texts::from_parts(Buffer::shared(bytes, first..last)?, ends.into())
}

/// The strings of a column of lists, and the end of each row among them; a column of strings has one per row.
fn lists(array: &ArrayRef, place: &Place<'_>) -> PyResult<(Texts, Vec<u64>)> {
    place.refuse_nulls(array, "references")?;
    match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            of_lists(lists.values(), lists.value_offsets(), place)
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            of_lists(lists.values(), lists.value_offsets(), place)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            Ok((texts(array.as_ref(), place.column)?, (1..=array.len() as u64).collect()))
        }
        other => Err(PyTypeError::new_err(format!(
            "column '{}' must contain strings or lists of strings, not {other}",
            place.column
        ))),
    }
}

fn of_lists<O: OffsetSizeTrait>(
    values: &ArrayRef,
    offsets: &[O],
    place: &Place<'_>,
) -> PyResult<(Texts, Vec<u64>)> {
    let of = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
    let Range { start, end } = of(offsets.first())..of(offsets.last());
    let values = values.slice(start, end - start);
    let ends: Vec<u64> = offsets.iter().skip(1).map(|offset| (offset.as_usize() - start) as u64).collect();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    if let Some(row) = starts.zip(&ends).position(|(start, end)| start == *end) {
        return Err(place.at(row, "no references; leave such rows out"));
    }
    if let Some(null) = (0..values.len()).find(|k| values.is_null(*k)).filter(|_| values.null_count() > 0) {
        let row = ends.partition_point(|end| *end <= null as u64);
        return Err(place.at(row, "null instead of a reference; leave it out of the list"));
    }
    Ok((texts(values.as_ref(), place.column)?, ends))
}

/// Ids of images: whole numbers or strings.
fn ids(array: &ArrayRef, place: &Place<'_>) -> PyResult<Vec<SegmentId>> {
    place.refuse_nulls(array, "an image id")?;
    macro_rules! numbers {
        ($($kind:ident => $type:ty),+) => {
            match array.data_type() {
                $(DataType::$kind => array
                    .as_primitive::<$type>()
                    .values()
                    .iter()
                    .map(|number| SegmentId::from(i64::from(*number)))
                    .collect(),)+
                _ => {
                    let texts = texts(array.as_ref(), place.column)?;
                    (0..texts.len()).map(|k| SegmentId::from(texts.get(k))).collect()
                }
            }
        };
    }
    Ok(numbers!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type
    ))
}

/// A column of statistics.
fn reals(array: &ArrayRef) -> PyResult<Vec<f64>> {
    if array.null_count() > 0 {
        return Err(PyValueError::new_err("a statistic is null"));
    }
    match array.data_type() {
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().values().iter().map(|n| *n as f64).collect()),
        DataType::Float64 => Ok(array.as_primitive::<arrow_array::types::Float64Type>().values().to_vec()),
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

/// The columns to keep of a batch, and the scores or the statistics of its rows.
fn output(
    batch: &RecordBatch,
    keep: &[String],
    metrics: &[AnyMetric],
    names: &Names,
    rows: &[f64],
    statistics: bool,
) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for name in keep {
        let array = column(batch, name)?;
        fields.push(Field::new(name, array.data_type().clone(), true));
        arrays.push(Arc::clone(array));
    }
    let width: usize = metrics.iter().map(|metric| metric.about().columns.len()).sum();
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
            let mut by_part = vec![Vec::with_capacity(batch.num_rows()); parts.len()];
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
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|error| fault(&error))
}
