//! Files of vectors, written so that they can be read again.

use capeval::choice::SegmentId;
use capeval_files::{Error, write_whole};

use super::npy;

/// Writes a matrix as `.npy`, and then its ids beside it as `.json`; each file appears whole or not at all.
///
/// # Errors
/// When a file cannot be written.
pub fn write(path: &str, ids: &[SegmentId], dims: usize, rows: &[f32]) -> Result<(), Error> {
    let stem = path.strip_suffix(".npy").unwrap_or(path);
    write_whole(&format!("{stem}.json"), |out| {
        serde_json::to_writer(&mut *out, ids)?;
        out.write_all(b"\n")
    })?;
    write_whole(&format!("{stem}.npy"), |out| {
        out.write_all(&npy::header(ids.len(), dims))?;
        rows.chunks(4096).try_for_each(|rows| {
            out.write_all(&rows.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vectors;

    #[test]
    fn what_is_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts.npy").display().to_string();
        let ids: Vec<SegmentId> =
            ["a cat", "ü \"x\"\n"].into_iter().map(SegmentId::from).chain([7.into()]).collect();
        write(&path, &ids, 2, &[1.0, 2.0, 3.0, 4.0, -5.5, 1e-30]).unwrap();
        let found = Vectors::open(&path).unwrap();
        assert_eq!((found.len(), found.dims()), (3, 2));
        assert_eq!(found.of_text("ü \"x\"\n"), Some(&[3.0, 4.0][..]));
        assert_eq!(found.one(&7.into()).unwrap(), [-5.5, 1e-30]);
        std::fs::remove_file(folder.path().join("texts.json")).unwrap();
        let why = Vectors::open(&path).err().unwrap().to_string();
        assert!(why.ends_with("texts.npy: there are no ids of its rows"), "{why}");
    }
}
