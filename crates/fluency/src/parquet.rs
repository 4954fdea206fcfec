//! Probabilities of tokens as Parquet: the columns `id`, `probs` or `logprobs`, `tokens` and `end`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::Error;
use crate::records::{Base, Fields, Record, record};

/// The columns that are read, with the other names they go by.
const COLUMNS: [(&str, &str); 5] = [
    ("id", "image_id"),
    ("probs", "probs"),
    ("logprobs", "token_logprobs"),
    ("tokens", "tokens"),
    ("end", "end"),
];

/// Reads one record per row, as [`records::read`](crate::records::read) does from JSON Lines; without a column of ids rows are
/// numbered from 1.
///
/// # Errors
/// As [`records::read`](crate::records::read), with the number of the row in place of the line.
pub fn read(bytes: Vec<u8>, base: Base) -> Result<Vec<Record>, Error> {
    // The parquet crate panics on some damaged files that pass its own checks.
    let read = std::panic::AssertUnwindSafe(|| read_table(bytes, base));
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(Error::new("the Parquet data are damaged")))
}

fn read_table(bytes: Vec<u8>, base: Base) -> Result<Vec<Record>, Error> {
    let damaged =
        |cause: &dyn std::fmt::Display| Error::new(format!("the Parquet data cannot be read ({cause})"));
    // Without the embedded Arrow schema, every kind of list and string column comes as a plain one.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let n_bytes = bytes.len();
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::from(bytes), options)
        .map_err(|error| damaged(&error))?;
    let mut chunks = builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    if !chunks.all(|chunk| lies_within(chunk, n_bytes)) {
        return Err(damaged(&"a column lies outside of the file"));
    }
    let is_wanted = |name: &str| COLUMNS.iter().any(|(known, other)| *known == name || *other == name);
    let fields = builder.schema().fields();
    let wanted: Vec<usize> = (0..fields.len()).filter(|k| is_wanted(fields[*k].name())).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let mut records = Vec::new();
    for batch in builder.with_projection(mask).build().map_err(|error| damaged(&error))? {
        read_rows(&batch.map_err(|error| damaged(&error))?, base, &mut records)?;
    }
    Ok(records)
}

/// Whether the bytes of a column chunk are in a file of that length; the crate panics on negative numbers.
fn lies_within(chunk: &ColumnChunkMetaData, n_bytes: usize) -> bool {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(chunk.compressed_size())) else {
        return false;
    };
    let counts = chunk.num_values() >= 0 && chunk.uncompressed_size() >= 0 && chunk.data_page_offset() >= 0;
    counts && start.checked_add(length).is_some_and(|end| end <= n_bytes)
}

fn read_rows(batch: &RecordBatch, base: Base, records: &mut Vec<Record>) -> Result<(), Error> {
    let [ids, probs, logprobs, tokens, end] =
        COLUMNS.map(|(name, other)| batch.column_by_name(name).or_else(|| batch.column_by_name(other)));
    for row in 0..batch.num_rows() {
        let number = records.len() as u64 + 1;
        let refuse = |message: String| Error::new(format!("row {number}: {message}"));
        let id = match ids {
            Some(ids) => {
                id(ids, row).ok_or_else(|| refuse("this is no id; give a number or a text".to_owned()))?
            }
            None => number.to_string(),
        };
        let list = |column: Option<&ArrayRef>, name: &str| match column {
            Some(column) => numbers(column, row)
                .map_err(|kind| refuse(format!("the column '{name}' holds {kind}, not lists of numbers"))),
            None => Ok(None),
        };
        let fields = Fields {
            probs: list(probs, "probs")?,
            logprobs: list(logprobs, "logprobs")?,
            tokens: tokens.and_then(|column| texts(column, row)),
            end: end
                .and_then(|column| floats(column).and_then(|numbers| numbers.get(row).copied().flatten())),
        };
        records.push(record(id, fields, base).map_err(refuse)?);
    }
    Ok(())
}

fn id(column: &ArrayRef, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).to_owned(),
        _ => return None,
    })
}

/// The list of one row; nothing for a null, the type of the column if it is another.
fn element(column: &ArrayRef, row: usize) -> Result<Option<ArrayRef>, String> {
    if column.is_null(row) {
        return Ok(None);
    }
    match column.data_type() {
        DataType::List(_) => Ok(Some(column.as_list::<i32>().value(row))),
        DataType::LargeList(_) => Ok(Some(column.as_list::<i64>().value(row))),
        other => Err(other.to_string()),
    }
}

fn numbers(column: &ArrayRef, row: usize) -> Result<Option<Vec<Option<f64>>>, String> {
    let Some(list) = element(column, row)? else { return Ok(None) };
    floats(&list).map(Some).ok_or_else(|| format!("lists of {}", list.data_type()))
}

fn floats(array: &ArrayRef) -> Option<Vec<Option<f64>>> {
    match array.data_type() {
        DataType::Float64 => Some(array.as_primitive::<Float64Type>().iter().collect()),
        DataType::Float32 => {
            Some(array.as_primitive::<Float32Type>().iter().map(|x| x.map(f64::from)).collect())
        }
        _ => None,
    }
}

fn texts(column: &ArrayRef, row: usize) -> Option<Vec<String>> {
    let list = element(column, row).ok().flatten()?;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    match list.data_type() {
        DataType::Utf8 => Some(list.as_string::<i32>().iter().map(text).collect()),
        DataType::LargeUtf8 => Some(list.as_string::<i64>().iter().map(text).collect()),
        _ => None,
    }
}
