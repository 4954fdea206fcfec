//! Columns of Arrow record batches: captions, references and ids, and the rows that cannot be scored as they are.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, OffsetSizeTrait, RecordBatch};
use arrow_schema::DataType;
use capeval::choice::{Argument, Remedy};
use capeval::corpus::{Empty, Missing, Policy, SegmentId, Surplus, UnknownName};
use capeval::evaluate::ReferenceSet;
use capeval::metric::AnyMetric;
use capeval::text::Texts;
use capeval::{Flaw, OutsideMetrics, ReferenceLookup, ReferenceSource};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::{fault, from_request, sentence, value};
use crate::frequencies::DocumentFrequencies;
use crate::metrics::of_rows;
use crate::run::run_on_pool;
use crate::score::ground;

/// The column of this name, of which there must be one.
pub fn column<'b>(batch: &'b RecordBatch, name: &str) -> PyResult<&'b ArrayRef> {
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

/// A column of strings.
#[derive(Clone)]
pub struct Strings<'a> {
    array: ArrayRef,
    name: &'a str,
}

impl<'a> Strings<'a> {
    /// The strings of a column.
    pub fn new(array: &ArrayRef, name: &'a str) -> PyResult<Self> {
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Ok(Self { array: Arc::clone(array), name })
            }
            other => Err(PyTypeError::new_err(format!("column '{name}' must contain strings, not {other}"))),
        }
    }

    /// The string at `row`; `None` if it is null.
    pub fn get(&self, row: usize) -> PyResult<Option<&str>> {
        if self.array.is_null(row) {
            return Ok(None);
        }
        let bytes = match self.array.data_type() {
            DataType::Utf8 => bytes::<i32>(&self.array, row),
            DataType::LargeUtf8 => bytes::<i64>(&self.array, row),
            _ => self.array.as_string_view().value(row).as_bytes(),
        };
        // Other libraries may hand over any bytes.
        let text = std::str::from_utf8(bytes);
        text.map(Some).map_err(|_| value(&format!("column '{}' is not valid UTF-8", self.name)))
    }
}

fn bytes<O: OffsetSizeTrait>(array: &ArrayRef, row: usize) -> &[u8] {
    let strings = array.as_string::<O>();
    let offset = |at: usize| strings.value_offsets().get(at).map_or(0, |offset| offset.as_usize());
    strings.value_data().get(offset(row)..offset(row + 1)).unwrap_or_default()
}

/// A column of lists of strings; a column of strings has one per row.
struct Lists<'a> {
    array: ArrayRef,
    values: Strings<'a>,
}

impl<'a> Lists<'a> {
    fn new(array: &ArrayRef, name: &'a str) -> PyResult<Self> {
        let values = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().values(),
            DataType::LargeList(_) => array.as_list::<i64>().values(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => array,
            other => {
                return Err(PyTypeError::new_err(format!(
                    "column '{name}' must contain strings or lists of strings, not {other}"
                )));
            }
        };
        Ok(Self { array: Arc::clone(array), values: Strings::new(values, name)? })
    }

    /// The places of the strings of `row`; none if it is null.
    fn range(&self, row: usize) -> Range<usize> {
        fn of<O: OffsetSizeTrait>(array: &ArrayRef, row: usize) -> Range<usize> {
            let offsets = array.as_list::<O>().value_offsets();
            let at = |k: usize| offsets.get(k).map_or(0, |offset| offset.as_usize());
            at(row)..at(row + 1)
        }
        match self.array.data_type() {
            _ if self.array.is_null(row) => 0..0,
            DataType::List(_) => of::<i32>(&self.array, row),
            DataType::LargeList(_) => of::<i64>(&self.array, row),
            _ => row..row + 1,
        }
    }
}

/// A column of ids of images: whole numbers or strings.
pub struct RowIds<'a> {
    array: ArrayRef,
    texts: Option<Strings<'a>>,
}

impl<'a> RowIds<'a> {
    /// The ids in a column.
    pub fn new(array: &ArrayRef, name: &'a str) -> PyResult<Self> {
        let texts = match array.data_type() {
            kind if kind.is_integer() => None,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Strings::new(array, name)?),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "column '{name}' must contain whole numbers or strings, not {other}"
                )));
            }
        };
        Ok(Self { array: Arc::clone(array), texts })
    }

    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row)
    }

    /// The id at `row`; `None` if it is null.
    pub fn get(&self, row: usize) -> PyResult<Option<SegmentId>> {
        if let Some(texts) = &self.texts {
            return Ok(texts.get(row)?.map(SegmentId::from));
        }
        if self.is_null(row) {
            return Ok(None);
        }
        macro_rules! number {
            ($($kind:ident => $type:ty),+) => {
                match self.array.data_type() {
                    $(DataType::$kind => i64::from(self.array.as_primitive::<$type>().value(row)),)+
                    _ => {
                        let number = self.array.as_primitive::<UInt64Type>().value(row);
                        i64::try_from(number).map_err(|_| value(&format!("the id {number} exceeds 63 bits")))?
                    }
                }
            };
        }
        Ok(Some(SegmentId::Integer(number!(
            Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
            UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type
        ))))
    }
}

/// The ids of the rows of several batches.
pub struct BatchIds<'a> {
    /// The number of rows up to the end of each batch, and its ids.
    batches: Vec<(usize, RowIds<'a>)>,
}

impl<'a> BatchIds<'a> {
    /// The ids in the column of ids; none if there is no such column.
    pub fn new(batches: &[RecordBatch], columns: &'a Columns) -> PyResult<Self> {
        let mut end = 0;
        let mut found = Vec::new();
        if let Some(name) = columns.id.as_deref() {
            for batch in batches {
                end += batch.num_rows();
                found.push((end, RowIds::new(column(batch, name)?, name)?));
            }
        }
        Ok(Self { batches: found })
    }

    /// The id of a row, counted over all batches.
    pub fn get(&self, row: usize) -> PyResult<Option<SegmentId>> {
        let at = self.batches.partition_point(|(end, _)| *end <= row);
        let start = at.checked_sub(1).and_then(|before| self.batches.get(before)).map_or(0, |(end, _)| *end);
        match self.batches.get(at) {
            Some((_, ids)) => ids.get(row - start),
            None => Ok(None),
        }
    }
}

/// References by the id of their image.
#[pyclass(frozen, module = "capeval._engine")]
pub struct References(Arc<ReferenceLookup>);

#[pymethods]
impl References {
    /// Takes captions or prepared references.
    #[new]
    fn new(py: Python<'_>, references: &Bound<'_, PyAny>) -> PyResult<Self> {
        let source: ReferenceSource = ground(references)?;
        let lookup = run_on_pool(py, None, None, move |_| ReferenceLookup::new(source))?;
        Ok(Self(Arc::new(lookup.map_err(from_request)?)))
    }
}

/// The columns of rows to score, by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Columns {
    /// Strings; `None` if only references are wanted.
    candidate: Option<String>,
    /// Strings or lists of strings.
    references: Option<String>,
    /// Ids of images; `None` if rows have none.
    id: Option<String>,
    /// The references in which ids are looked up, instead of a column.
    lookup: Option<Py<References>>,
}

/// The policies for missing, surplus and duplicate rows, and for empty candidates.
pub type Policies = (String, String, String, String);

/// Decides which rows are scored.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Sieve {
    pub policy: Policy,
    is_empty: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

#[pymethods]
impl Sieve {
    /// The sieve for counting the document frequencies of these metrics.
    #[new]
    fn for_counting(
        py: Python<'_>,
        metrics: Vec<String>,
        settings: Vec<(String, String)>,
        policies: Policies,
    ) -> PyResult<Self> {
        let table = DocumentFrequencies::of_nothing()?;
        let selection = of_rows(py, &metrics, &settings, Some(&table), OutsideMetrics::default())?;
        Self::new(&selection.metrics, &policies)
    }
}

impl Sieve {
    /// The sieve for these metrics, whose tokenizers decide which captions are empty.
    pub fn new(metrics: &[AnyMetric], (missing, surplus, duplicate, empty): &Policies) -> PyResult<Self> {
        let fault = |error: UnknownName| fault(&error);
        let policy = Policy {
            missing: missing.parse().map_err(fault)?,
            surplus: surplus.parse().map_err(fault)?,
            duplicate: duplicate.parse().map_err(fault)?,
            empty: empty.parse().map_err(fault)?,
        };
        Ok(Self { policy, is_empty: Box::new(capeval::is_empty(metrics)) })
    }
}

/// The rows of batches that are scored, and those with flaws.
pub struct Rows {
    /// The captions of the rows that are scored.
    pub candidates: Texts,
    references: Texts,
    /// For each row that is scored, the end of its references.
    pub ends: Vec<u64>,
    /// The index of each row that is scored among all rows.
    pub kept: Vec<u32>,
    /// The flawed rows, whether they are scored or not.
    pub flawed: Vec<(usize, Flaw)>,
    /// The number of all rows.
    pub n_rows: usize,
}

impl Rows {
    /// Reads `batches`. `first` is the number of rows before them, for errors.
    pub fn read(batches: &[RecordBatch], columns: &Columns, sieve: &Sieve, first: usize) -> PyResult<Self> {
        let (mut candidates, mut references) = (TextBuilder::default(), TextBuilder::default());
        let mut rows = Self {
            candidates: Texts::default(),
            references: Texts::default(),
            ends: Vec::new(),
            kept: Vec::new(),
            flawed: Vec::new(),
            n_rows: 0,
        };
        for batch in batches {
            let reader = BatchReader::new(batch, columns)?;
            for row in 0..batch.num_rows() {
                let outcome = reader.row(row, sieve, &mut candidates, &mut references);
                let outcome = outcome.map_err(|fault| fault.at(&reader, row, first + rows.n_rows))?;
                rows.flawed.extend(outcome.flaws.into_iter().map(|flaw| (rows.n_rows, flaw)));
                if outcome.is_scored {
                    rows.kept.push(rows.n_rows as u32);
                    rows.ends.push(references.ends.len() as u64);
                }
                rows.n_rows += 1;
            }
        }
        rows.candidates = candidates.texts();
        rows.references = references.texts();
        Ok(rows)
    }

    /// Takes the references out, for scoring.
    pub fn take_references(&mut self) -> ReferenceSet {
        ReferenceSet::new(std::mem::take(&mut self.references), self.ends.clone())
    }

    /// The number of references of each row that is scored.
    pub fn n_references(&self) -> impl Iterator<Item = u64> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(starts).map(|(end, start)| end - start)
    }

    /// The ids of the rows that are scored.
    pub fn ids(&self, batches: &[RecordBatch], columns: &Columns) -> PyResult<Vec<Option<SegmentId>>> {
        let ids = BatchIds::new(batches, columns)?;
        self.kept.iter().map(|row| ids.get(*row as usize)).collect()
    }

    /// `array` without the rows that are not scored.
    pub fn filter(&self, array: &ArrayRef) -> PyResult<ArrayRef> {
        if self.kept.len() == self.n_rows {
            return Ok(Arc::clone(array));
        }
        let kept: BTreeSet<u32> = self.kept.iter().copied().collect();
        let mask: BooleanArray = (0..self.n_rows as u32).map(|row| Some(kept.contains(&row))).collect();
        arrow_select::filter::filter(array, &mask).map_err(|error| fault(&error))
    }
}

/// Texts under construction.
#[derive(Default)]
struct TextBuilder {
    bytes: Vec<u8>,
    ends: Vec<u64>,
}

impl TextBuilder {
    fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(self.bytes.len() as u64);
    }

    fn texts(self) -> Texts {
        Texts::from_parts(self.bytes.into(), self.ends.into()).unwrap_or_default()
    }
}

/// The outcome for a row.
#[derive(Default)]
struct Outcome {
    is_scored: bool,
    flaws: Vec<Flaw>,
}

/// The reason why a row is refused.
enum Fault {
    Other(PyErr),
    Flaw { column: String, what: &'static str, remedy: Remedy },
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Other(error)
    }
}

impl Fault {
    fn at(self, reader: &BatchReader<'_>, row: usize, number: usize) -> PyErr {
        match self {
            Self::Other(error) => error,
            Self::Flaw { column, what, remedy } => {
                let id = reader.ids.as_ref().and_then(|ids| ids.get(row).ok().flatten());
                let id = id.map(|id| format!(", image {}", id.quoted())).unwrap_or_default();
                let what = format!("column '{column}', row {number} (from 0){id}: {what}");
                value(&sentence(&what, Some(&remedy)))
            }
        }
    }
}

/// The columns of a batch.
struct BatchReader<'a> {
    candidates: Option<Strings<'a>>,
    references: Option<Lists<'a>>,
    ids: Option<RowIds<'a>>,
    lookup: Option<Arc<ReferenceLookup>>,
}

impl<'a> BatchReader<'a> {
    fn new(batch: &RecordBatch, columns: &'a Columns) -> PyResult<Self> {
        let found = |name: &'a Option<String>| {
            name.as_deref().map(|name| Ok::<_, PyErr>((column(batch, name)?, name))).transpose()
        };
        let lookup = columns.lookup.as_ref().map(|lookup| Arc::clone(&lookup.get().0));
        let references = if lookup.is_some() { None } else { found(&columns.references)? };
        Ok(Self {
            candidates: found(&columns.candidate)?
                .map(|(array, name)| Strings::new(array, name))
                .transpose()?,
            references: references.map(|(array, name)| Lists::new(array, name)).transpose()?,
            ids: found(&columns.id)?.map(|(array, name)| RowIds::new(array, name)).transpose()?,
            lookup,
        })
    }

    /// Reads a row, and adds its texts if it is scored.
    fn row(
        &self,
        row: usize,
        sieve: &Sieve,
        candidates: &mut TextBuilder,
        references: &mut TextBuilder,
    ) -> Result<Outcome, Fault> {
        let policy = &sieve.policy;
        let mut outcome = Outcome::default();
        let (bytes, before) = (references.bytes.len(), references.ends.len());
        self.push_references(row, policy, references, &mut outcome)?;
        let has_references = references.ends.len() > before;
        if !has_references {
            if policy.surplus == Surplus::Error {
                let remedy = Remedy::set(Argument::Surplus, Surplus::Ignore.name()).to("leave such rows out");
                return Err(self.flaw(false, "no references", remedy));
            }
            outcome.flaws = vec![Flaw::Surplus];
            return Ok(outcome);
        }
        let candidate = match &self.candidates {
            None => Some(""),
            Some(column) => column.get(row)?,
        };
        let candidate = match (candidate, policy.missing) {
            (Some(text), _) => {
                if self.candidates.is_some() && (sieve.is_empty)(text) {
                    if policy.empty == Empty::Error {
                        let keep = Remedy::set(Argument::Empty, Empty::Keep.name()).to("score it");
                        let skip = Remedy::set(Argument::Empty, Empty::Skip.name()).to("leave such rows out");
                        return Err(self.flaw(true, "the caption is empty", keep.or(skip)));
                    }
                    outcome.flaws.push(Flaw::Empty);
                }
                Some(text).filter(|_| policy.empty != Empty::Skip || !outcome.flaws.contains(&Flaw::Empty))
            }
            (None, Missing::Error) => {
                let remedy = Remedy::set(Argument::Missing, Missing::Skip.name()).to("leave such rows out");
                return Err(self.flaw(true, "null instead of a caption", remedy));
            }
            (None, missing) => {
                outcome.flaws.push(Flaw::Missing);
                (missing == Missing::Empty).then_some("")
            }
        };
        match candidate {
            Some(text) => {
                candidates.push(text);
                outcome.is_scored = true;
                if self.ids.as_ref().is_some_and(|ids| ids.is_null(row)) {
                    outcome.flaws.push(Flaw::NullId);
                }
            }
            None => {
                references.bytes.truncate(bytes);
                references.ends.truncate(before);
            }
        }
        Ok(outcome)
    }

    fn push_references(
        &self,
        row: usize,
        policy: &Policy,
        references: &mut TextBuilder,
        outcome: &mut Outcome,
    ) -> Result<(), Fault> {
        if let Some(lookup) = &self.lookup {
            let id = self.ids.as_ref().map(|ids| ids.get(row)).transpose()?.flatten();
            id.iter().flat_map(|id| lookup.of(id)).for_each(|text| references.push(text));
            return Ok(());
        }
        let Some(lists) = &self.references else { return Ok(()) };
        for place in lists.range(row) {
            match lists.values.get(place)? {
                Some(text) => references.push(text),
                None if policy.surplus == Surplus::Error => {
                    let remedy = Remedy::set(Argument::Surplus, Surplus::Ignore.name()).to("leave nulls out");
                    return Err(self.flaw(false, "null instead of a reference", remedy));
                }
                None if outcome.flaws.is_empty() => outcome.flaws.push(Flaw::NullReferences),
                None => {}
            }
        }
        Ok(())
    }

    fn flaw(&self, of_candidate: bool, what: &'static str, remedy: Remedy) -> Fault {
        let name = |strings: Option<&Strings<'_>>| strings.map(|strings| strings.name.to_owned());
        let column = if of_candidate {
            name(self.candidates.as_ref())
        } else {
            name(self.references.as_ref().map(|lists| &lists.values))
        };
        Fault::Flaw { column: column.unwrap_or_else(|| "references".to_owned()), what, remedy }
    }
}
