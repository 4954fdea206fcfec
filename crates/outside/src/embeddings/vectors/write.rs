//! Writes files of vectors that can be read again.

use std::io::{self, Write};

use capeval::choice::SegmentId;
use capeval_files::{Error, write_both, write_whole};

use super::{npy, tensors};

/// Writes a matrix with its ids: as `.safetensors`, or as `.npy` with a file of ids beside it. Both appear whole, or
/// not at all.
///
/// # Errors
/// When a file cannot be written.
pub fn write(path: &str, ids: &[SegmentId], dims: usize, rows: &[f32]) -> Result<(), Error> {
    if path.ends_with(".safetensors") {
        return write_whole(path, |out| {
            out.write_all(&tensors::header(ids, dims)?)?;
            numbers(rows, out)
        });
    }
    let stem = path.strip_suffix(".npy").unwrap_or(path);
    let matrix = |out: &mut dyn Write| {
        out.write_all(&npy::header(ids.len(), dims))?;
        numbers(rows, out)
    };
    let names = |mut out: &mut dyn Write| {
        serde_json::to_writer(&mut out, ids)?;
        out.write_all(b"\n")
    };
    // A matrix without ids is refused, and one beside the ids of another would not be.
    write_both((&format!("{stem}.npy"), matrix), (&format!("{stem}.json"), names))
}

fn numbers(rows: &[f32], out: &mut dyn Write) -> io::Result<()> {
    rows.chunks(4096)
        .try_for_each(|rows| out.write_all(&rows.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embeddings::Vectors;

    #[test]
    fn what_is_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let ids: Vec<SegmentId> =
            ["a cat", "ü \"x\"\n"].into_iter().map(SegmentId::from).chain([7.into()]).collect();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for path in [path("texts.safetensors"), path("texts.npy")] {
            write(&path, &ids, 2, &[1.0, 2.0, 3.0, 4.0, -5.5, 1e-30]).unwrap();
            let found = Vectors::open(&path).unwrap();
            assert_eq!((found.len(), found.dims()), (3, 2));
            assert_eq!(found.of_text("ü \"x\"\n"), Some(&[3.0, 4.0][..]));
            assert_eq!(found.one(&7.into()).unwrap(), [-5.5, 1e-30]);
        }
        std::fs::remove_file(folder.path().join("texts.json")).unwrap();
        let why = Vectors::open(&path("texts.npy")).err().unwrap().to_string();
        assert!(why.ends_with("texts.npy: there are no ids of its rows"), "{why}");
    }
}
