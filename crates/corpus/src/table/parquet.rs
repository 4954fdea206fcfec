//! Parquet tables.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::basic::{ConvertedType, Type};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::schema::types::ColumnDescriptor;

use super::cell::Cell;
use super::row::{Cells, Consumer, Row};
use crate::SegmentId;
use crate::error::{Error, ErrorKind, Position};
use crate::input::Source;

/// Reads the requested columns; others are not decoded.
///
/// The parquet crate panics on some damaged files that pass its own checks. Cases that fuzzing found are checked first;
/// any other panic becomes an error here, so that a hostile file cannot stop a server.
pub(crate) fn read(source: Source<'_>, consumer: &mut dyn Consumer) -> Result<(), Error> {
    let name = source.name;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read_table(source, consumer)));
    result.unwrap_or_else(|_| Err(Error::new(ErrorKind::Syntax, name, "the Parquet data are damaged")))
}

fn read_table(source: Source<'_>, consumer: &mut dyn Consumer) -> Result<(), Error> {
    let name = source.name;
    let damaged = |cause: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Syntax, name, format!("the Parquet data cannot be read ({cause})"))
    };
    let bytes = bytes::Bytes::from(source.into_bytes().into_owned());
    let n_bytes = bytes.len();
    // Without the embedded Arrow schema, all kinds of string columns are read as plain strings.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)
        .map_err(|error| damaged(&error))?;
    let mut chunks = builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    if !chunks.all(|chunk| lies_within(chunk, n_bytes)) {
        return Err(damaged(&"a column lies outside of the file"));
    }
    let fields = builder.schema().fields();
    let header: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let wanted = consumer.names(&header)?.unwrap_or_else(|| {
        (0..fields.len()).filter(|column| is_readable(fields[*column].data_type())).collect()
    });
    let schema = builder.parquet_schema();
    // Within structures, bytes are pictures, which would take long to decode.
    let is_wanted = |leaf: &usize| {
        let (root, column) = (schema.get_column_root_idx(*leaf), schema.column(*leaf));
        let is_nested = column.path().parts().len() > 1;
        wanted.contains(&root) && !(is_nested && is_bytes(&column))
    };
    let leaves: Vec<usize> = (0..schema.num_columns()).filter(is_wanted).collect();
    let mut columns: Vec<usize> = leaves.iter().map(|leaf| schema.get_column_root_idx(*leaf)).collect();
    columns.dedup();
    let mask = ProjectionMask::leaves(schema, leaves);
    let mut count = 0;
    for batch in builder.with_projection(mask).build().map_err(|error| damaged(&error))? {
        let batch = batch.map_err(|error| damaged(&error))?;
        let mut arrays: Vec<Option<&ArrayRef>> = vec![None; header.len()];
        for (column, array) in columns.iter().zip(batch.columns()) {
            if let Some(place) = arrays.get_mut(*column) {
                *place = Some(array);
            }
        }
        for row in 0..batch.num_rows() {
            count += 1;
            consumer.row(&Row::new(name, &Arrays { name, arrays: &arrays, row, count }))?;
        }
    }
    Ok(())
}

/// Returns true if the bytes of a column chunk are in a file of that length; the crate panics on negative numbers.
fn lies_within(chunk: &ColumnChunkMetaData, n_bytes: usize) -> bool {
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let (Ok(start), Ok(length)) = (usize::try_from(start), usize::try_from(chunk.compressed_size())) else {
        return false;
    };
    let counts = chunk.num_values() >= 0 && chunk.uncompressed_size() >= 0 && chunk.data_page_offset() >= 0;
    counts && start.checked_add(length).is_some_and(|end| end <= n_bytes)
}

/// Returns true for a column of bytes that are not said to be text.
fn is_bytes(column: &ColumnDescriptor) -> bool {
    let is_binary = matches!(column.physical_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
    is_binary && column.logical_type_ref().is_none() && column.converted_type() == ConvertedType::NONE
}

fn is_readable(kind: &DataType) -> bool {
    match kind {
        DataType::List(item) => is_readable(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_readable(field.data_type())),
        DataType::Map(entries, _) => is_readable(entries.data_type()),
        DataType::Utf8 | DataType::Boolean | DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            true
        }
        other => other.is_integer(),
    }
}

struct Arrays<'r> {
    name: &'r str,
    arrays: &'r [Option<&'r ArrayRef>],
    row: usize,
    count: u64,
}

impl Arrays<'_> {
    /// The items of all lists of a column, and the range of this row; `None` if the cell is not a list.
    fn list(&self, column: usize) -> Option<(&dyn Array, Range<usize>)> {
        let array = self.arrays.get(column).copied().flatten()?;
        let lists = array.as_list_opt::<i32>().filter(|lists| lists.is_valid(self.row))?;
        let [start, end] = *lists.value_offsets().get(self.row..)?.first_chunk()?;
        Some((lists.values(), usize::try_from(start).ok()?..usize::try_from(end).ok()?))
    }
}

/// A part of an array of numbers; null is `None`.
fn slice<T: ArrowPrimitiveType<Native: Into<f64>>>(
    items: &PrimitiveArray<T>,
    range: Range<usize>,
) -> Vec<Option<f64>> {
    range.map(|k| items.is_valid(k).then(|| items.value(k).into())).collect()
}

impl Cells for Arrays<'_> {
    fn len(&self) -> usize {
        self.arrays.len()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, Error> {
        let array = self.arrays.get(column).copied().flatten();
        Ok(array.map_or(Cell::Null, |array| cell(&**array, self.row)))
    }

    fn id(&self, column: usize) -> Result<SegmentId, Error> {
        let cell = self.cell(column)?;
        cell.id().ok_or_else(|| {
            let (kind, message) = match cell {
                Cell::Number(number) => {
                    (ErrorKind::Id, format!("the image id {number} is not an integer of 64 bits"))
                }
                other => {
                    let kind =
                        if matches!(other, Cell::Object(_)) { ErrorKind::Shape } else { ErrorKind::Id };
                    (kind, format!("an image id must be an integer or a string, found {}", other.kind()))
                }
            };
            Error::new(kind, self.name, message).at(self.place())
        })
    }

    fn numbers(&self, column: usize) -> Option<Vec<Option<f64>>> {
        let (items, range) = self.list(column)?;
        match items.data_type() {
            DataType::Float16 => Some(slice(items.as_primitive::<Float16Type>(), range)),
            DataType::Float32 => Some(slice(items.as_primitive::<Float32Type>(), range)),
            DataType::Float64 => Some(slice(items.as_primitive::<Float64Type>(), range)),
            _ => None,
        }
    }

    fn last(&self, column: usize) -> Option<(usize, Cell<'_>)> {
        let (items, range) = self.list(column)?;
        let last = range.clone().last()?;
        Some((range.len(), cell(items, last)))
    }

    fn place(&self) -> Position {
        Position { record: Some(self.count), ..Position::default() }
    }

    fn position(&self, _: Option<usize>) -> Position {
        self.place()
    }
}

fn cell(array: &dyn Array, row: usize) -> Cell<'_> {
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Utf8 => Cell::Text(Cow::Borrowed(array.as_string::<i32>().value(row))),
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::Int8 => Cell::Integer(array.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => Cell::Integer(array.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Cell::Integer(array.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Cell::Integer(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => Cell::Integer(array.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => Cell::Integer(array.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => Cell::Integer(array.as_primitive::<UInt32Type>().value(row).into()),
        DataType::Float16 => Cell::Number(array.as_primitive::<Float16Type>().value(row).into()),
        DataType::Float32 => Cell::Number(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Cell::Number(array.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => {
            let number = array.as_primitive::<UInt64Type>().value(row);
            i64::try_from(number).map_or(Cell::Number(number as f64), Cell::Integer)
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>().value(row);
            Cell::List((0..list.len()).map(|k| cell(&*list, k).into_owned()).collect())
        }
        DataType::Struct(fields) => {
            let values = array.as_struct().columns();
            let value =
                |(name, values): (&String, &ArrayRef)| (name.clone(), cell(&**values, row).into_owned());
            Cell::Object(fields.iter().map(|field| field.name()).zip(values).map(value).collect())
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let [keys, values] = [0, 1].map(|column| entries.column(column));
            let value = |k: usize| (cell(&**keys, k).to_string(), cell(&**values, k).into_owned());
            Cell::Object((0..entries.len()).map(value).collect())
        }
        // Some programs do not say that bytes are text.
        DataType::Binary if let Ok(text) = std::str::from_utf8(array.as_binary::<i32>().value(row)) => {
            Cell::Text(Cow::Borrowed(text))
        }
        other => Cell::Other(format!("a value of type {other}")),
    }
}
