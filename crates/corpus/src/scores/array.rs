//! Numbers without ids: lists in JSON, and arrays as numpy saves them.

use crate::json::Json;
use crate::table::{Cell, Origin, read_value};
use crate::{Error, ErrorKind, Remedy};

/// The first bytes of files of numpy.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Returns true if a list in JSON begins with a number.
pub(super) fn is_list(text: &str) -> bool {
    let first = text.trim_start().strip_prefix('[').map(str::trim_start).and_then(|rest| rest.chars().next());
    first.is_some_and(|first| first.is_ascii_digit() || matches!(first, '-' | 'N' | 'n' | 'I'))
}

/// The numbers of a list in JSON; NaN for null.
pub(super) fn of_list(text: &str, name: &str) -> Result<Vec<f64>, Error> {
    let origin = Origin { name, text, base: 0, line: None };
    let mut json = Json::new(text);
    let list = origin.check(read_value(&mut json))?;
    origin.check(json.end())?;
    let Cell::List(cells) = list else { return Ok(Vec::new()) };
    let number = |(k, cell): (usize, Cell<'_>)| match cell {
        Cell::Null => Ok(f64::NAN),
        Cell::Integer(_) | Cell::Number(_) => Ok(cell.number().unwrap_or(f64::NAN)),
        other => {
            let message = format!("value {} of the list is {}, not a number", k + 1, other.kind());
            Err(Error::new(ErrorKind::Shape, name, message))
        }
    };
    cells.into_iter().enumerate().map(number).collect()
}

/// The numbers of an array that numpy saved: one dimension, or one column.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<Vec<f64>, Error> {
    let fault = |what: String| Error::new(ErrorKind::Format, name, format!("this array of numpy: {what}"));
    let early = || fault("it ends early".to_owned());
    let version = bytes.get(MAGIC.len()).copied().ok_or_else(early)?;
    let (start, length) = match version {
        1 => {
            let length = bytes.get(8..10).and_then(|bytes| bytes.try_into().ok()).ok_or_else(early)?;
            (10, usize::from(u16::from_le_bytes(length)))
        }
        _ => {
            let length = bytes.get(8..12).and_then(|bytes| bytes.try_into().ok()).ok_or_else(early)?;
            (12, u32::from_le_bytes(length) as usize)
        }
    };
    let end = start + length;
    let header = bytes.get(start..end).ok_or_else(early)?;
    let header = str::from_utf8(header).map_err(|_| fault("its header is damaged".to_owned()))?;
    let odd = || fault("its header says neither type nor shape".to_owned());
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest.trim_start_matches([':', ' ']));
    let described = after("'descr'").ok_or_else(odd)?;
    if described.starts_with('[') {
        return Err(fault("it holds records, not numbers".to_owned())
            .with_remedy(Remedy::say("save each field as an array of its own, or the table as CSV")));
    }
    let kind = described.split('\'').nth(1).ok_or_else(odd)?;
    let shape =
        after("'shape'").and_then(|rest| rest.strip_prefix('(')).and_then(|rest| rest.split(')').next());
    let shape = shape.ok_or_else(odd)?;
    let sizes: Result<Vec<usize>, _> =
        shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse).collect();
    let count = match sizes.as_deref() {
        Ok([count] | [count, 1]) => *count,
        _ => {
            return Err(fault(format!("its shape is ({shape}), not one number for each image"))
                .with_remedy(Remedy::say("save each measure as an array of its own")));
        }
    };
    let (is_big, kind_of) = match kind.strip_prefix(['<', '|', '=']) {
        Some(rest) => (false, rest),
        None => (true, kind.trim_start_matches('>')),
    };
    let decode = decoder(kind_of).ok_or_else(|| fault(format!("it holds {kind}, not numbers")))?;
    let width = kind_of.get(1..).and_then(|width| width.parse::<usize>().ok()).ok_or_else(odd)?;
    let needed = count.checked_mul(width).ok_or_else(early)?;
    let data = bytes.get(end..).and_then(|data| data.get(..needed)).ok_or_else(early)?;
    let number = |bytes: &[u8]| {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        if is_big {
            word[..width].reverse();
        }
        decode(u64::from_le_bytes(word))
    };
    Ok(data.chunks_exact(width).map(number).collect())
}

/// The conversion of the bits of a type of numpy to a number; `None` for types that are no numbers.
fn decoder(kind: &str) -> Option<fn(u64) -> f64> {
    Some(match kind {
        "f8" => f64::from_bits,
        "f4" => |bits| f64::from(f32::from_bits(bits as u32)),
        "f2" => half,
        "i8" => |bits| bits as i64 as f64,
        "i4" => |bits| f64::from(bits as u32 as i32),
        "i2" => |bits| f64::from(bits as u16 as i16),
        "i1" => |bits| f64::from(bits as u8 as i8),
        "u8" | "u4" | "u2" | "u1" | "b1" => |bits| bits as f64,
        _ => return None,
    })
}

/// A number of 16 bits.
fn half(bits: u64) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15 & 1, (bits >> 10 & 31) as i32, (bits & 1023) as f64);
    let size = match exponent {
        0 => fraction / 1024.0 * 2_f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    };
    if sign == 1 { -size } else { size }
}
