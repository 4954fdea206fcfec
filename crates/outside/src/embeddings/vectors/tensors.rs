//! Reads vectors from safetensors files: for each id, a tensor of one dimension, or a matrix of several vectors in
//! order; or one matrix with its ids as a JSON list in the metadata, under `ids`.

use std::sync::Arc;

use capeval::choice::SegmentId;
use capeval_arrays::{Buffer, SharedBytes};
use capeval_choice::Refusal;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use super::{Read, ids};

pub(super) fn read(bytes: &SharedBytes) -> Result<Read, Refusal> {
    let all: &[u8] = (**bytes).as_ref();
    let (length, header) = safetensors::SafeTensors::read_metadata(all).map_err(|error| {
        Refusal::new(format!("no file of safetensors: {error}")).with_remedy("save it again")
    })?;
    let start = 8 + length;
    let tensors = header.tensors();
    let mut names: Vec<(&String, &TensorInfo)> = tensors.iter().map(|(name, info)| (name, *info)).collect();
    names.sort_unstable_by_key(|(name, _)| name.as_str());
    if let [(_, info)] = &names[..]
        && let [n, dims] = info.shape[..]
    {
        let ids = ids_of(&header, n)?;
        let rows = numbers(bytes, start, info)?;
        return Ok(Read { ids, dims, rows });
    }
    let dims = names.first().map_or(0, |(_, info)| info.shape.last().copied().unwrap_or(0));
    let mut rows = Vec::new();
    let mut ids = Vec::with_capacity(names.len());
    for (name, info) in names {
        let n = match info.shape[..] {
            [length] if length == dims => 1,
            [n, length] if length == dims => n,
            _ => {
                let shape = &info.shape;
                let message =
                    format!("the tensor {name:?} has the shape {shape:?}, and others have [{dims}]");
                return Err(Refusal::new(message).with_remedy("store vectors of one length, or one matrix"));
            }
        };
        ids.extend(std::iter::repeat_n(SegmentId::from_untyped(name), n));
        rows.extend_from_slice(&numbers(bytes, start, info)?);
    }
    Ok(Read { ids, dims, rows: Buffer::from(rows) })
}

/// The ids of the rows of a matrix.
fn ids_of(header: &Metadata, n: usize) -> Result<Vec<SegmentId>, Refusal> {
    let text = header.metadata().as_ref().and_then(|metadata| metadata.get("ids")).ok_or_else(|| {
        Refusal::new("there are no ids of its rows")
            .with_remedy("store them as a JSON list in the metadata, under ids")
    })?;
    let ids: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| {
        Refusal::new(format!("the ids in the metadata are no JSON list: {error}")).with_remedy("write a list")
    })?;
    if ids.len() != n {
        let message = format!("there are {} ids in the metadata, and {n} rows", ids.len());
        return Err(Refusal::new(message).with_remedy("give an id for each row"));
    }
    ids::list(&ids)
}

/// The head of a file with one matrix of f32, and its ids in the metadata.
pub(super) fn header(ids: &[SegmentId], dims: usize) -> Result<Vec<u8>, serde_json::Error> {
    let n = ids.len();
    let mut text = serde_json::json!({
        "__metadata__": { "ids": serde_json::to_string(ids)? },
        "vectors": { "dtype": "F32", "shape": [n, dims], "data_offsets": [0, n * dims * 4] },
    })
    .to_string();
    // Numbers are aligned.
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.into_bytes());
    Ok(bytes)
}

fn numbers(bytes: &SharedBytes, start: usize, info: &TensorInfo) -> Result<Buffer<f32>, Refusal> {
    let range = start + info.data_offsets.0..start + info.data_offsets.1;
    let damaged = || Refusal::new("the file ends before its vectors").with_remedy("save it again");
    let part = (**bytes).as_ref().get(range.clone()).ok_or_else(damaged)?;
    let halves = || part.as_chunks::<2>().0.iter().map(|half| u16::from_le_bytes(*half));
    Ok(match info.dtype {
        Dtype::F32 => match Buffer::shared(Arc::clone(bytes), range) {
            Some(shared) if cfg!(target_endian = "little") => shared,
            _ => Buffer::from(
                part.as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect::<Vec<_>>(),
            ),
        },
        Dtype::F64 => Buffer::from(
            part.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x) as f32).collect::<Vec<_>>(),
        ),
        Dtype::F16 => Buffer::from(halves().map(capeval_neural::from_f16).collect::<Vec<_>>()),
        Dtype::BF16 => Buffer::from(halves().map(|x| f32::from_bits(u32::from(x) << 16)).collect::<Vec<_>>()),
        other => {
            let message = format!("its numbers are {other:?}, and only f16, bf16, f32 and f64 are read");
            return Err(Refusal::new(message).with_remedy("store it as float32"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_file(header: &str, numbers: &[f32]) -> Result<Read, Refusal> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
        let bytes: SharedBytes = Arc::new(capeval_files::Bytes::copy(&bytes));
        read(&bytes)
    }

    #[test]
    fn vectors_are_tensors_by_id_or_rows_of_a_matrix() {
        let each = r#"{"7":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#;
        let Read { ids, dims, rows } = read_file(each, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((ids, dims, rows.to_vec()), (vec![7.into(), "a".into()], 2, vec![1.0, 2.0, 3.0, 4.0]));
        let one = r#"{"__metadata__":{"ids":"[7, \"a\"]"},"v":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        let Read { ids, dims, rows } = read_file(one, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((ids, dims, rows.to_vec()), (vec![7.into(), "a".into()], 2, vec![1.0, 2.0, 3.0, 4.0]));
    }

    #[test]
    fn an_id_may_have_several_vectors_as_a_matrix() {
        let each = r#"{"7":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"a":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}}"#;
        let Read { ids, dims, rows } = read_file(each, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((ids, dims), (vec![7.into(), 7.into(), "a".into()], 2));
        assert_eq!(rows.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_is_no_set_of_vectors_is_refused() {
        let why =
            |header: &str, n: usize| read_file(header, &vec![1.0; n]).err().map(|e| e.to_string()).unwrap();
        let no_ids = r#"{"v":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        assert_eq!(why(no_ids, 4), "there are no ids of its rows");
        let few = r#"{"__metadata__":{"ids":"[7]"},"v":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        assert_eq!(why(few, 4), "there are 1 ids in the metadata, and 2 rows");
        let uneven = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}"#;
        assert_eq!(why(uneven, 3), "the tensor \"b\" has the shape [1], and others have [2]");
        let whole = r#"{"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}"#;
        assert_eq!(why(whole, 2), "its numbers are I32, and only f16, bf16, f32 and f64 are read");
        assert!(why("{", 0).starts_with("no file of safetensors"));
    }
}
