//! Sums of statistics as Arrow batches, which are sent between machines.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::builder::{Float64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::DataType;
use capeval::choice::Notice;
use capeval::corpus::{Policy, SegmentId, UnknownName};
use capeval::metric::AnyMetric;
use capeval::report::ByGroup;
use capeval::stats::{Resampling, Total};
use capeval::{BlockSums, Dealing, Flaw, FlawedRows, SumsOptions};
use pyo3::prelude::*;

use crate::capsule::{ArrowBatch, batches};
use crate::captions;
use crate::columns::{BatchIds, Columns, Rows, column};
use crate::error::{fault, from_request, value};
use crate::study::Study;

/// Sums of the statistics of rows, by block.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Sums {
    sums: Mutex<capeval::Sums>,
    /// The names of the statistics.
    names: Vec<String>,
}

#[pymethods]
impl Sums {
    /// The sums: a row per block.
    fn batch(&self) -> PyResult<ArrowBatch> {
        let sums = self.lock();
        let whole = |of: &dyn Fn(&BlockSums) -> u64| -> ArrayRef {
            Arc::new(sums.blocks().map(|(_, block)| of(block) as i64).collect::<Int64Array>())
        };
        let mut columns: Vec<(String, ArrayRef)> = vec![
            ("block".to_owned(), Arc::new(sums.blocks().map(|(k, _)| k as i32).collect::<Int32Array>())),
            (SETTINGS.to_owned(), whole(&|_| sums.settings())),
            (BLOCKS.to_owned(), whole(&|_| sums.dealing().blocks.into())),
            (SEED.to_owned(), whole(&|_| sums.dealing().seed)),
            ("images".to_owned(), whole(&|block| block.images)),
            ("references".to_owned(), whole(&|block| block.references)),
            ("fewest-references".to_owned(), whole(&|block| block.per_image.unwrap_or_default().0)),
            ("most-references".to_owned(), whole(&|block| block.per_image.unwrap_or_default().1)),
        ];
        for (k, flaw) in Flaw::ALL.iter().enumerate() {
            columns.push((
                flaw.name().to_owned(),
                whole(&|block| block.flawed.get(k).map_or(0, |flawed| flawed.count)),
            ));
            let mut ids = ListBuilder::new(StringBuilder::new());
            for (_, block) in sums.blocks() {
                let of_block = block.flawed.get(k).into_iter().flat_map(FlawedRows::ids);
                of_block.for_each(|id| ids.values().append_value(id.to_string()));
                ids.append(true);
            }
            columns.push((ids_of(*flaw), Arc::new(ids.finish())));
        }
        for (k, name) in self.names.iter().enumerate() {
            let totals = sums.blocks().filter_map(|(_, block)| block.totals.columns().get(k));
            let is_count = matches!(sums.columns().get(k), Some(column) if column.kind == capeval::stats::ColumnKind::Count);
            let array: ArrayRef = if is_count {
                let count = |total: &Total| match total {
                    Total::Count(count) => *count,
                    Total::Sum(_) => 0,
                };
                Arc::new(totals.map(count).collect::<Int64Array>())
            } else {
                let mut lists = ListBuilder::new(Float64Builder::new());
                for total in totals {
                    if let Total::Sum(sum) = total {
                        sum.parts().for_each(|part| lists.values().append_value(part));
                    }
                    lists.append(true);
                }
                Arc::new(lists.finish())
            };
            columns.push((name.clone(), array));
        }
        Ok(ArrowBatch(RecordBatch::try_from_iter(columns).map_err(|error| fault(&error))?))
    }

    /// Adds the sums in a batch or table.
    fn merge(&self, source: &Bound<'_, PyAny>) -> PyResult<()> {
        for batch in batches(source)? {
            let reader = Reader::new(&batch, &self.names)?;
            for row in 0..batch.num_rows() {
                let mut sums = self.lock();
                let (settings, dealing) = reader.origin(row)?;
                sums.begin_part(settings, dealing).map_err(from_request)?;
                sums.add_block(reader.block(row)?, |block| reader.fill(row, block))?;
            }
        }
        Ok(())
    }
}

/// The columns that say which sums may be merged: a fingerprint of metrics and policies, and how rows were dealt.
const SETTINGS: &str = "settings";
const BLOCKS: &str = "blocks";
const SEED: &str = "seed";

/// The name of the column with examples of flawed rows.
fn ids_of(flaw: Flaw) -> String {
    format!("{}-ids", flaw.name())
}

impl Sums {
    /// No sums, for metrics with these statistics.
    pub fn new(metrics: &[AnyMetric], policy: Policy, columns: Vec<(String, bool)>) -> Self {
        let names = columns.into_iter().map(|(name, _)| name).collect();
        Self { sums: Mutex::new(capeval::Sums::new(metrics, policy)), names }
    }

    /// The sums.
    pub fn lock(&self) -> MutexGuard<'_, capeval::Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the statistics of the rows of `batches`, and notes their flaws.
    pub fn add(
        &self,
        batches: &[RecordBatch],
        columns: &Columns,
        read: &Rows,
        rows: &[f64],
        dealing: Dealing,
    ) -> PyResult<()> {
        let mut sums = self.lock();
        let settings = sums.settings();
        sums.begin_part(settings, dealing).map_err(from_request)?;
        let ids = BatchIds::new(batches, columns)?;
        let width = sums.columns().len().max(1);
        let kept = read.kept.iter().zip(read.n_references()).zip(rows.chunks_exact(width));
        for ((row, references), values) in kept {
            let block = if dealing.blocks > 1 { dealing.block(ids.get(*row as usize)?.as_ref()) } else { 0 };
            sums.add(block, references, values);
        }
        for (row, flaw) in &read.flawed {
            let id = ids.get(*row)?;
            sums.add_flawed(dealing.block(id.as_ref()), *flaw, id);
        }
        Ok(())
    }
}

/// Reads sums from a batch.
struct Reader<'b> {
    batch: &'b RecordBatch,
    names: &'b [String],
}

impl<'b> Reader<'b> {
    fn new(batch: &'b RecordBatch, names: &'b [String]) -> PyResult<Self> {
        for array in batch.columns() {
            if array.null_count() > 0 {
                return Err(value("a sum is null"));
            }
        }
        Ok(Self { batch, names })
    }

    fn column(&self, name: &str, is: impl Fn(&DataType) -> bool) -> PyResult<&'b ArrayRef> {
        let array = column(self.batch, name)?;
        if is(array.data_type()) {
            return Ok(array);
        }
        Err(value(&format!("column '{name}' of sums cannot be of type {}", array.data_type())))
    }

    /// The fingerprint of the metrics and policies that a row of sums comes from, and how it was dealt.
    fn origin(&self, row: usize) -> PyResult<(u64, Dealing)> {
        let blocks = self.natural(BLOCKS, row)?;
        let blocks =
            u32::try_from(blocks).map_err(|_| value(&format!("column '{BLOCKS}' of sums holds {blocks}")))?;
        let dealing = Dealing::new(blocks, self.count(SEED, row)? as u64);
        Ok((self.count(SETTINGS, row)? as u64, dealing))
    }

    fn count(&self, name: &str, row: usize) -> PyResult<i64> {
        let array = self.column(name, |kind| *kind == DataType::Int64)?;
        Ok(array.as_primitive::<Int64Type>().value(row))
    }

    fn natural(&self, name: &str, row: usize) -> PyResult<u64> {
        let count = self.count(name, row)?;
        u64::try_from(count).map_err(|_| value(&format!("column '{name}' of sums holds {count}")))
    }

    fn list(&self, name: &str, row: usize) -> PyResult<ArrayRef> {
        let array = self.column(name, |kind| matches!(kind, DataType::List(_) | DataType::LargeList(_)))?;
        Ok(match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().value(row),
            _ => array.as_list::<i64>().value(row),
        })
    }

    fn block(&self, row: usize) -> PyResult<u32> {
        let array = self.column("block", |kind| *kind == DataType::Int32)?;
        let number = array.as_primitive::<Int32Type>().value(row);
        u32::try_from(number).map_err(|_| value(&format!("there is no block {number}")))
    }

    fn fill(&self, row: usize, block: &mut BlockSums) -> PyResult<()> {
        block.images = self.natural("images", row)?;
        block.references = self.natural("references", row)?;
        if block.images > 0 {
            let ends = (self.natural("fewest-references", row)?, self.natural("most-references", row)?);
            block.per_image = Some(ends);
        }
        for (flaw, flawed) in Flaw::ALL.iter().zip(&mut block.flawed) {
            let ids = self.list(&ids_of(*flaw), row)?;
            let texts = crate::columns::Strings::new(&ids, flaw.name())?;
            let mut named = Vec::with_capacity(ids.len());
            for k in 0..ids.len() {
                named.extend(texts.get(k)?.map(SegmentId::from_untyped));
            }
            *flawed = FlawedRows::new(self.natural(flaw.name(), row)?, named);
        }
        for (name, total) in self.names.iter().zip(block.totals.columns_mut()) {
            match total {
                Total::Count(count) => *count = self.count(name, row)?,
                Total::Sum(sum) => {
                    let parts = self.list(name, row)?;
                    if *parts.data_type() != DataType::Float64 || parts.null_count() > 0 {
                        return Err(value(&format!("column '{name}' of sums must hold lists of float64")));
                    }
                    sum.extend(parts.as_primitive::<Float64Type>().values().iter().copied());
                }
            }
        }
        Ok(())
    }
}

/// The groups by a property: the rule for document frequencies, the number of rows in no group, and a report on the
/// rows of each group.
type Groups<'py> = (String, String, usize, Vec<(String, PyRef<'py, Study>)>);

/// The report on all rows with the scores of groups.
#[pyfunction]
pub fn grouped(whole: &Study, groups: Vec<Groups<'_>>) -> PyResult<Study> {
    let mut report = whole.scores()?.clone();
    for (by, frequencies, without, reports) in groups {
        let frequencies = frequencies.parse().map_err(|error: UnknownName| fault(&error))?;
        let of_group = |(name, found): (String, PyRef<'_, Study>)| Ok((name, found.scores()?.clone()));
        let groups = reports.into_iter().map(of_group).collect::<PyResult<_>>()?;
        capeval::group_reports(&mut report, ByGroup { by, frequencies, without, groups });
    }
    Ok(Study::new(report))
}

/// The facts that a report on sums states in addition to them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Summary<'py> {
    name: String,
    source: String,
    reference_source: String,
    /// The ids of several rows: their number, and examples.
    repeated: u64,
    repeated_ids: Vec<Bound<'py, PyAny>>,
    /// The number of resamples, the seed and the level.
    intervals: Option<(usize, u64, f64)>,
}

impl Summary<'_> {
    /// The options of the report.
    pub fn options(self, notices: Vec<Notice>, policy: Policy) -> SumsOptions {
        let ids = self.repeated_ids.iter().filter_map(|id| captions::id(id).ok());
        SumsOptions {
            name: self.name,
            source: self.source,
            reference_source: self.reference_source,
            notices,
            policy,
            repeated: FlawedRows::new(self.repeated, ids),
            intervals: self.intervals.map(|(resamples, seed, level)| Resampling { resamples, seed, level }),
        }
    }
}
