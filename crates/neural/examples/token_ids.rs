//! The ids of a model's tokens, for comparison with other programs by `oracle/token_ids.py`: `token_ids FOLDER`.
//! Texts are JSON strings on standard input, a line each.
#![expect(clippy::print_stdout, reason = "this is a program")]

use std::error::Error;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_neural::{Model, Source};

struct Folder(PathBuf);

/// Bytes that are aligned for numbers.
struct AlignedBytes(Vec<u64>, usize);

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

impl Source for Folder {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let Ok(bytes) = std::fs::read(self.0.join(name)) else { return Ok(None) };
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some(Arc::new(AlignedBytes(words, bytes.len()))))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("token_ids FOLDER < texts")?;
    let model = Model::open(&Folder(folder.into())).map_err(|refusal| refusal.to_string())?;
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        println!("{:?}", model.token_ids(&text, false));
    }
    Ok(())
}
