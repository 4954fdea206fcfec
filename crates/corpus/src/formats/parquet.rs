//! Parquet tables: one row per caption, or a column of lists.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use crate::captions::Captions;
use crate::error::{Error, ErrorKind, Position};
use crate::formats::delimited::Columns;
use crate::input::Source;
use crate::options::ReadOptions;
use crate::records::numbered_notice;
use crate::{Remedy, SegmentId};

/// Reads the id and caption columns, which are found by name as in CSV; other columns are not decoded. Without an id
/// column rows are numbered from 1. A null caption is no caption.
///
/// The parquet crate panics on some damaged files that pass its own checks. What fuzzing found is checked before;
/// a panic that is left becomes an error here, so that a hostile file cannot stop a server.
pub(crate) fn read(source: Source<'_>, options: &ReadOptions, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let result =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read_table(source, options, captions)));
    result.unwrap_or_else(|_| Err(Error::new(ErrorKind::Syntax, name, "the Parquet data are damaged")))
}

fn read_table(source: Source<'_>, options: &ReadOptions, captions: &mut Captions) -> Result<(), Error> {
    let name = source.name;
    let damaged = |cause: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Syntax, name, format!("the Parquet data cannot be read ({cause})"))
    };
    let bytes = bytes::Bytes::from(source.into_bytes()?.into_owned());
    let n_bytes = bytes.len();
    // Without the embedded Arrow schema, every kind of string column comes as plain strings.
    let reader_options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, reader_options)
        .map_err(|error| damaged(&error))?;
    let chunks = builder.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    if !chunks.into_iter().all(|chunk| lies_within(chunk, n_bytes)) {
        return Err(damaged(&"a column lies outside of the file"));
    }
    let header: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns = Columns::choose(&header, options).map_err(|(message, remedy)| {
        remedy.into_iter().fold(Error::new(ErrorKind::Shape, name, message), Error::with_remedy)
    })?;
    let wanted: Vec<usize> = columns.id.iter().chain(&columns.captions).copied().collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
    let batches = builder.with_projection(mask).build().map_err(|error| damaged(&error))?;
    let mut reader = Rows { name, header: &header, columns: &columns, count: 0 };
    for batch in batches {
        reader.read(&batch.map_err(|error| damaged(&error))?, captions)?;
    }
    if columns.id.is_none() {
        captions.notice(numbered_notice(name, usize::try_from(reader.count).unwrap_or(usize::MAX), options));
    }
    Ok(())
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

struct Rows<'a> {
    name: &'a str,
    header: &'a [String],
    columns: &'a Columns,
    /// Rows read before the current one.
    count: u64,
}

impl Rows<'_> {
    fn read(&mut self, batch: &RecordBatch, captions: &mut Captions) -> Result<(), Error> {
        let ids = self.columns.id.map(|column| self.column(batch, column)).transpose()?;
        let texts = self.columns.captions.iter().map(|column| self.column(batch, *column));
        let texts: Vec<_> = texts.collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            self.count += 1;
            let id = match ids {
                Some(ids) => self.id(ids, row)?,
                None => SegmentId::Integer(i64::try_from(self.count).unwrap_or(i64::MAX)),
            };
            let mut any = false;
            for texts in &texts {
                any |= self.push(*texts, row, &id, captions)?;
            }
            if !any {
                captions.declare(id);
            }
        }
        Ok(())
    }

    fn column<'b>(&self, batch: &'b RecordBatch, column: usize) -> Result<&'b dyn Array, Error> {
        let found = self.header.get(column).and_then(|name| batch.column_by_name(name));
        found.map(|array| &**array).ok_or_else(|| self.error(ErrorKind::Shape, "a column is missing".into()))
    }

    fn error(&self, kind: ErrorKind, message: String) -> Error {
        let position = Position { record: Some(self.count), ..Position::default() };
        Error::new(kind, self.name, message).at(position)
    }

    fn id(&self, ids: &dyn Array, row: usize) -> Result<SegmentId, Error> {
        if ids.is_null(row) {
            return Err(self.error(ErrorKind::Id, "the image id is null".into()));
        }
        let integer = match ids.data_type() {
            DataType::Utf8 => return Ok(SegmentId::from(ids.as_string::<i32>().value(row))),
            DataType::Int8 => i64::from(ids.as_primitive::<Int8Type>().value(row)),
            DataType::Int16 => i64::from(ids.as_primitive::<Int16Type>().value(row)),
            DataType::Int32 => i64::from(ids.as_primitive::<Int32Type>().value(row)),
            DataType::Int64 => ids.as_primitive::<Int64Type>().value(row),
            DataType::UInt8 => i64::from(ids.as_primitive::<UInt8Type>().value(row)),
            DataType::UInt16 => i64::from(ids.as_primitive::<UInt16Type>().value(row)),
            DataType::UInt32 => i64::from(ids.as_primitive::<UInt32Type>().value(row)),
            DataType::UInt64 => {
                let id = ids.as_primitive::<UInt64Type>().value(row);
                let too_large = |_| {
                    self.error(ErrorKind::Id, format!("the image id {id} does not fit into 64 bits"))
                        .with_remedy(Remedy::say("write it as a string"))
                };
                i64::try_from(id).map_err(too_large)?
            }
            other => {
                let message = format!("image ids must be integers or strings, and this column holds {other}");
                return Err(self.error(ErrorKind::Id, message));
            }
        };
        Ok(SegmentId::Integer(integer))
    }

    /// Adds the caption or captions of a cell, and tells whether there was any.
    fn push(
        &self,
        texts: &dyn Array,
        row: usize,
        id: &SegmentId,
        captions: &mut Captions,
    ) -> Result<bool, Error> {
        if texts.is_null(row) {
            return Ok(false);
        }
        let inner;
        let (strings, range) = match texts.data_type() {
            DataType::Utf8 => (texts.as_string::<i32>(), row..row + 1),
            DataType::List(item) if item.data_type() == &DataType::Utf8 => {
                inner = texts.as_list::<i32>().value(row);
                (inner.as_string::<i32>(), 0..inner.len())
            }
            other => {
                let message =
                    format!("captions must be strings or lists of strings, and this column holds {other}");
                return Err(self.error(ErrorKind::Shape, message));
            }
        };
        let mut any = false;
        for place in range.filter(|place| !strings.is_null(*place)) {
            captions.push(id.clone(), strings.value(place));
            any = true;
        }
        Ok(any)
    }
}
