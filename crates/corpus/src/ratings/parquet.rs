//! Records from a Parquet table.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::records::{Cell, Record, Records};
use crate::input::Source;
use crate::{Error, ErrorKind, Position};

/// Reads all columns of strings, numbers and lists of numbers; others are left out. Panics of the parquet crate on
/// damaged files become errors.
pub(super) fn read(source: Source<'_>) -> Result<Records, Error> {
    let name = source.name;
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read_table(source)));
    result.unwrap_or_else(|_| Err(Error::new(ErrorKind::Syntax, name, "the Parquet data are damaged")))
}

fn read_table(source: Source<'_>) -> Result<Records, Error> {
    let name = source.name;
    let damaged = |cause: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Syntax, name, format!("the Parquet data cannot be read ({cause})"))
    };
    let bytes = bytes::Bytes::from(source.into_bytes()?.into_owned());
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)
        .map_err(|error| damaged(&error))?;
    let mut records = Records::new();
    for batch in builder.build().map_err(|error| damaged(&error))? {
        push(&mut records, &batch.map_err(|error| damaged(&error))?);
    }
    Ok(records)
}

fn push(records: &mut Records, batch: &RecordBatch) {
    let names: Vec<usize> = batch.schema().fields().iter().map(|field| records.name(field.name())).collect();
    for row in 0..batch.num_rows() {
        let place = Position { record: Some(records.rows.len() as u64 + 1), ..Position::default() };
        let columns = names.iter().zip(batch.columns());
        let cells = columns.filter_map(|(name, column)| Some((*name, cell(&**column, row)?)));
        records.rows.push(Record { place, cells: cells.collect() });
    }
}

fn cell(column: &dyn Array, row: usize) -> Option<Cell> {
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Utf8 => Cell::Text(column.as_string::<i32>().value(row).to_owned()),
        DataType::Int8 => Cell::Integer(column.as_primitive::<Int8Type>().value(row).into()),
        DataType::Int16 => Cell::Integer(column.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Cell::Integer(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Cell::Integer(column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => Cell::Integer(column.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => Cell::Integer(column.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => Cell::Integer(column.as_primitive::<UInt32Type>().value(row).into()),
        DataType::Float32 => Cell::Number(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Cell::Number(column.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => {
            let number = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(number).map_or(Cell::Number(number as f64), Cell::Integer)
        }
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            let numbers = (0..list.len()).filter(|k| !list.is_null(*k)).map(|k| match cell(&*list, k)? {
                Cell::Integer(integer) => Some(integer as f64),
                Cell::Number(number) => Some(number),
                Cell::Text(_) | Cell::Untyped(_) | Cell::List(_) => None,
            });
            Cell::List(numbers.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
