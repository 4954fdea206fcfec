//! What a model makes of texts and pictures, for comparison with other programs and for timing by the scripts
//! `token_oracle.py` and `neural_speed.py`: `neural FOLDER ids|texts|tokens|pictures [N]`. Texts are JSON strings on
//! standard input, a line each; `ids` prints those of each text, the others the seconds that the work took.
#![expect(clippy::print_stdout, reason = "this is a program")]

use std::error::Error;
use std::io::BufRead;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_neural::{Model, Source};

struct Folder(PathBuf);

/// Bytes that are aligned for numbers.
struct Aligned(Vec<u64>, usize);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

impl Source for Folder {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let Ok(bytes) = std::fs::read(self.0.join(name)) else { return Ok(None) };
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        Ok(Some(Arc::new(Aligned(words, bytes.len()))))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, what, rest @ ..] = &arguments[..] else { return Err("neural FOLDER WHAT [N]".into()) };
    let model = Model::open(&Folder(folder.into())).map_err(|refusal| refusal.to_string())?;
    let n: usize = rest.first().map_or(Ok(1), |n| n.parse())?;
    let texts = || -> Result<Vec<String>, Box<dyn Error>> {
        std::io::stdin().lock().lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
    };
    let timed = |work: &dyn Fn()| {
        work();
        let start = Instant::now();
        work();
        println!("{}", start.elapsed().as_secs_f64());
    };
    match what.as_str() {
        "ids" => {
            for text in texts()? {
                println!("{:?}", model.token_ids(&text, n > 1));
            }
        }
        "texts" => {
            let texts = texts()?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            timed(&|| drop(model.text_vectors(&texts, &|_| {})));
        }
        "tokens" => {
            let texts = texts()?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            timed(&|| drop(model.token_vectors(&texts, n, false, &|_| {})));
        }
        _ => {
            let size = model.picture_size();
            let pictures: Vec<Vec<u8>> = (0..n)
                .map(|k| (0..size * size * 3).map(|at| ((at * 7 + k * 13) % 256) as u8).collect())
                .collect();
            let pictures: Vec<&[u8]> = pictures.iter().map(Vec::as_slice).collect();
            timed(&|| drop(model.picture_vectors(&pictures, &|_| {})));
        }
    }
    Ok(())
}
