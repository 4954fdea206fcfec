//! Reads NumPy's array files: a matrix of f16, f32, f64, or of bf16 as `ml_dtypes` stores it, in C or Fortran order.
//!
//! Format: versions 1 to 3 of NEP 1. The header is a Python dictionary with three known keys.

use std::sync::Arc;

use capeval_arrays::{Buffer, SharedBytes};
use capeval_choice::Refusal;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The numbers of a matrix, their number in a row, and the number of rows.
pub(super) fn read(bytes: &SharedBytes) -> Result<(Buffer<f32>, usize, usize), Refusal> {
    let all: &[u8] = (**bytes).as_ref();
    let damaged =
        || Refusal::new("the file of NumPy is damaged").with_remedy("save it again with numpy.save");
    let version = *all.get(6).ok_or_else(damaged)?;
    let (start, length) = match version {
        1 => (10, all.get(8..10).map(|n| usize::from(u16::from_le_bytes([n[0], n[1]])))),
        2 | 3 => (12, all.get(8..12).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize)),
        _ => return Err(damaged()),
    };
    let first = start + length.ok_or_else(damaged)?;
    let header = std::str::from_utf8(all.get(start..first).ok_or_else(damaged)?).map_err(|_| damaged())?;
    let text = |key: &str| value(header, key).map(|value| value.trim_matches(['\'', '"']));
    let kind = text("descr").ok_or_else(damaged)?;
    let shape = value(header, "shape").ok_or_else(damaged)?;
    let sizes: Option<Vec<usize>> = shape
        .trim_matches(['(', ')'])
        .split(',')
        .map(str::trim)
        .filter(|size| !size.is_empty())
        .map(|size| size.parse().ok())
        .collect();
    let sizes = sizes.ok_or_else(damaged)?;
    let &[n, dims] = &sizes[..] else {
        let message = format!("the array has the shape {shape}, and vectors are the rows of a matrix");
        return Err(Refusal::new(message).with_remedy("save a matrix with a row for each vector"));
    };
    if n == 0 || dims == 0 {
        return Err(Refusal::new(format!("the array has the shape {shape}, so there are no vectors"))
            .with_remedy("give at least one"));
    }
    let size = match kind {
        "<f2" | "|V2" | "<V2" => 2,
        "<f4" | ">f4" => 4,
        "<f8" | ">f8" => 8,
        _ => {
            let message =
                format!("its numbers are of the type {kind}, and only f16, f32, f64 and bf16 are read");
            return Err(Refusal::new(message).with_remedy("save it with .astype('float32')"));
        }
    };
    let wanted = n.checked_mul(dims).and_then(|n| n.checked_mul(size)).ok_or_else(damaged)?;
    let numbers = all.get(first..).unwrap_or_default();
    if numbers.len() != wanted {
        let message = format!("{n} × {dims} numbers take {wanted} bytes, and there are {}", numbers.len());
        return Err(Refusal::new(message).with_remedy("save it again with numpy.save"));
    }
    let is_fortran = match value(header, "fortran_order") {
        Some("True") => n > 1 && dims > 1,
        Some("False") => false,
        _ => return Err(damaged()),
    };
    if kind == "<f4"
        && !is_fortran
        && cfg!(target_endian = "little")
        && let Some(shared) = Buffer::shared(Arc::clone(bytes), first..first + wanted)
    {
        return Ok((shared, dims, n));
    }
    let mut rows = numbers_of(kind, numbers);
    if is_fortran {
        rows = (0..n)
            .flat_map(|row| (0..dims).map(move |k| (row, k)))
            .map(|(row, k)| rows[k * n + row])
            .collect();
    }
    Ok((Buffer::from(rows), dims, n))
}

/// Bytes as numbers.
fn numbers_of(kind: &str, bytes: &[u8]) -> Vec<f32> {
    let halves = || bytes.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half));
    match kind {
        "<f2" => halves().map(capeval_neural::from_f16).collect(),
        "|V2" | "<V2" => halves().map(|half| f32::from_bits(u32::from(half) << 16)).collect(),
        "<f4" => bytes.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect(),
        ">f4" => bytes.as_chunks::<4>().0.iter().map(|x| f32::from_be_bytes(*x)).collect(),
        "<f8" => bytes.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x) as f32).collect(),
        _ => bytes.as_chunks::<8>().0.iter().map(|x| f64::from_be_bytes(*x) as f32).collect(),
    }
}

/// The value of a key in the header.
fn value<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let after = header.split_once(&format!("'{key}':"))?.1.trim_start();
    let end = match after.starts_with('(') {
        true => after.find(')')? + 1,
        false => after.find([',', '}'])?,
    };
    Some(after[..end].trim())
}

/// The header of a matrix of f32 in C order.
pub(super) fn header(n: usize, dims: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n}, {dims}), }}");
    // NumPy aligns numbers to 64 bytes.
    let padding = (64 - (10 + text.len() + 1) % 64) % 64;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are aligned as those of a mapped file.
    fn read_bytes(bytes: &[u8]) -> Result<(Vec<f32>, usize, usize), Refusal> {
        let bytes: SharedBytes = Arc::new(capeval_files::Bytes::copy(bytes));
        read(&bytes).map(|(rows, dims, n)| (rows.to_vec(), dims, n))
    }

    fn file(descr: &str, order: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.into_bytes());
        bytes.extend(numbers);
        bytes
    }

    #[test]
    fn matrices_of_all_kinds_are_read() {
        let f4: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let rows = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(read_bytes(&file("<f4", "False", "(2, 3)", &f4)).unwrap(), (rows, 3, 2));
        let turned = vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0];
        assert_eq!(read_bytes(&file("<f4", "True", "(2, 3)", &f4)).unwrap(), (turned, 3, 2));
        let f8: Vec<u8> = [0.5_f64, -1.0].iter().flat_map(|x| x.to_be_bytes()).collect();
        assert_eq!(read_bytes(&file(">f8", "False", "(1, 2)", &f8)).unwrap().0, [0.5, -1.0]);
        assert_eq!(read_bytes(&file("<f2", "False", "(1, 2)", &[0, 0x3C, 0, 0xC0])).unwrap().0, [1.0, -2.0]);
        assert_eq!(
            read_bytes(&file("|V2", "False", "(1, 2)", &[0x80, 0x3F, 0, 0x40])).unwrap().0,
            [1.0, 2.0]
        );
        let mut written = header(1, 2);
        assert_eq!(written.len() % 64, 0);
        written.extend(&f4[..8]);
        assert_eq!(read_bytes(&written).unwrap(), (vec![1.0, 2.0], 2, 1));
    }

    #[test]
    fn what_is_no_matrix_is_refused_in_words() {
        let why = |bytes: &[u8]| read_bytes(bytes).unwrap_err().to_string();
        let shape = "the array has the shape (4,), and vectors are the rows of a matrix";
        assert_eq!(why(&file("<f4", "False", "(4,)", &[0; 16])), shape);
        let kind = "its numbers are of the type <i8, and only f16, f32, f64 and bf16 are read";
        assert_eq!(why(&file("<i8", "False", "(1, 1)", &[0; 8])), kind);
        let short = "2 × 2 numbers take 16 bytes, and there are 8";
        assert_eq!(why(&file("<f4", "False", "(2, 2)", &[0; 8])), short);
        // An id for each of so many rows of nothing would not fit the memory.
        let nothing = "the array has the shape (18446744073709551615, 0), so there are no vectors";
        assert_eq!(why(&file("<f4", "False", "(18446744073709551615, 0)", &[])), nothing);
        let huge = "(18446744073709551615, 18446744073709551615)";
        assert_eq!(why(&file("<f4", "False", huge, &[])), "the file of NumPy is damaged");
        assert_eq!(why(b"\x93NUMPY\x01"), "the file of NumPy is damaged");
        assert_eq!(why(b"\x93NUMPY\x09\x00\xFF\xFF"), "the file of NumPy is damaged");
    }

    #[test]
    fn damaged_files_never_panic() {
        let good = file("<f4", "False", "(2, 3)", &[7; 24]);
        for at in 0..good.len() {
            for byte in [0, b'(', b',', b'9', 0xFF] {
                let mut bad = good.clone();
                bad[at] = byte;
                let _ = read_bytes(&bad);
                let _ = read_bytes(&good[..at]);
            }
        }
    }
}
