//! Tiny models against the values of transformers and tokenizers, see `scripts/tiny_models.py`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_neural::{Made, Model, Source};
use serde_json::Value;

/// A folder with files of which some are replaced.
struct Folder {
    path: PathBuf,
    changed: HashMap<String, Option<Vec<u8>>>,
}

impl Folder {
    fn new(name: &str) -> Self {
        Self { path: data().join(name), changed: HashMap::new() }
    }

    fn with(mut self, name: &str, bytes: Option<Vec<u8>>) -> Self {
        self.changed.insert(name.to_owned(), bytes);
        self
    }
}

/// Bytes aligned as those of a mapped file.
struct Aligned(Vec<u64>, usize);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

impl Source for Folder {
    fn get(&self, name: &str) -> Result<Option<SharedBytes>, Refusal> {
        let bytes = match self.changed.get(name) {
            Some(bytes) => bytes.clone(),
            None => std::fs::read(self.path.join(name)).ok(),
        };
        let aligned = |bytes: Vec<u8>| -> SharedBytes {
            let mut words = vec![0; bytes.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
            Arc::new(Aligned(words, bytes.len()))
        };
        Ok(bytes.map(aligned))
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural")
}

fn golden() -> Value {
    serde_json::from_slice(&std::fs::read(data().join("golden.json")).unwrap()).unwrap()
}

fn texts(golden: &Value) -> Vec<String> {
    golden["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as u32).collect()
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-5, "{what}: {worst}");
}

/// The squares of `scripts/tiny_models.py`.
fn pictures(size: usize) -> [Vec<u8>; 2] {
    let square = |of: fn(usize, usize, usize) -> usize| {
        let pixels =
            (0..size).flat_map(|y| (0..size).flat_map(move |x| (0..3).map(move |c| of(x, y, c) as u8)));
        pixels.collect()
    };
    [square(|x, y, c| (x * 7 + y * 13 + c * 29) % 256), square(|x, y, c| (x * y + 50 * c) % 256)]
}

#[test]
fn texts_and_pictures_have_the_vectors_of_clip() {
    let golden = golden();
    for name in ["clip-quick", "clip-gelu"] {
        let (model, golden) = (Model::open(&Folder::new(name)).unwrap(), &golden["models"][name]);
        assert_eq!((model.made(), model.dims(), model.picture_size()), (Made::PicturesAndTexts, 24, 32));
        let texts = texts(&self::golden());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (text, expected) in texts.iter().zip(golden["ids"].as_array().unwrap()) {
            assert_eq!(model.token_ids(text, false), ids(expected), "{name}: {text:?}");
        }
        let vectors = model.text_vectors(&texts, &|_| {});
        for ((vector, expected), text) in
            vectors.chunks(24).zip(golden["texts"].as_array().unwrap()).zip(&texts)
        {
            assert_close(vector, &numbers(expected), text);
        }
        let pictures = pictures(32);
        let seen = model.picture_vectors(&pictures.each_ref().map(Vec::as_slice), &|_| {});
        for (vector, expected) in seen.chunks(24).zip(golden["pictures"].as_array().unwrap()) {
            assert_close(vector, &numbers(expected), "a picture");
        }
    }
}

#[test]
fn tokens_have_the_vectors_of_their_families() {
    let golden = golden();
    let texts = texts(&golden);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for name in ["bert", "bert-cased", "roberta", "distilbert", "mpnet"] {
        let (model, golden) = (Model::open(&Folder::new(name)).unwrap(), &golden["models"][name]);
        assert_eq!((model.made(), model.dims(), model.n_layers()), (Made::Tokens, 32, 3), "{name}");
        for (place, text) in texts.iter().enumerate() {
            assert_eq!(model.token_ids(text, false), ids(&golden["ids"][place]), "{name}: {text:?}");
            if name == "roberta" {
                assert_eq!(model.token_ids(text, true), ids(&golden["spaced"][place]), "{name}: {text:?}");
            }
        }
        for layer in [0, 2, 3] {
            let tokens = model.token_vectors(&texts, layer, false, &|_| {});
            let expected = golden["layers"][layer.to_string()].as_array().unwrap();
            for ((tokens, expected), text) in tokens.iter().zip(expected).zip(&texts) {
                let what = format!("{name}, layer {layer}: {text:?}");
                let rows: Vec<&[f32]> = tokens.vectors.chunks(32).collect();
                assert_close(rows[0], &numbers(&expected[0]), &what);
                assert_close(rows[rows.len() - 1], &numbers(&expected[1]), &what);
                let mean = |k: usize| rows.iter().map(|row| row[k]).sum::<f32>() / rows.len() as f32;
                assert_close(&(0..32).map(mean).collect::<Vec<f32>>(), &numbers(&expected[2]), &what);
            }
        }
    }
}

#[test]
fn errors_are_as_probable_as_for_the_detector_of_fense() {
    let golden = golden();
    let texts = texts(&golden);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let model = Model::open(&Folder::new("detector")).unwrap();
    assert_eq!(model.made(), Made::Errors);
    assert!(model.described().ends_with("f16"), "{}", model.described());
    let expected = numbers(&golden["models"]["detector"]["errors"]);
    assert_close(&model.errors(&texts, &|_| {}), &expected, "probabilities");
    assert!(expected.iter().any(|p| *p > 0.5) && expected.iter().any(|p| *p < 0.5));
}

#[test]
fn a_vector_depends_on_its_text_alone() {
    let golden = golden();
    let texts = texts(&golden);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for name in ["clip-quick", "bert", "mpnet"] {
        let model = Model::open(&Folder::new(name)).unwrap();
        let all = model.text_vectors(&texts, &|_| {});
        for (text, together) in texts.iter().zip(all.chunks(model.dims())) {
            assert_eq!(model.text_vectors(&[text], &|_| {}), together, "{name}: {text:?}");
        }
    }
    let model = Model::open(&Folder::new("clip-quick")).unwrap();
    let pictures = pictures(32);
    let all = model.picture_vectors(&pictures.each_ref().map(Vec::as_slice), &|_| {});
    assert_eq!(model.picture_vectors(&[&pictures[1]], &|_| {}), all[24..]);
}

#[test]
fn what_is_wrong_with_a_folder_is_told() {
    let why = |folder: Folder| Model::open(&folder).err().map(|refusal| refusal.to_string()).unwrap();
    let json = |text: &str| Some(text.as_bytes().to_vec());
    let bert = || Folder::new("bert");
    assert_eq!(why(Folder::new("nothing")), "it has no config.json");
    assert_eq!(why(bert().with("model.safetensors", None)), "it has no model.safetensors");
    let pickle = bert().with("model.safetensors", None).with("pytorch_model.bin", json("x"));
    assert_eq!(
        why(pickle),
        "its weights are in pytorch_model.bin, which is a program for Python rather than data"
    );
    let pointer = json("version https://git-lfs.github.com/spec/v1");
    assert!(
        why(bert().with("model.safetensors", pointer)).contains("stands for weights that were not fetched")
    );
    assert!(why(bert().with("config.json", json("{"))).starts_with("config.json: no JSON"));
    let t5 = why(bert().with("config.json", json(r#"{"model_type": "t5"}"#)));
    assert_eq!(t5, "it is a model of the family t5, which is not computed here");
    let large = why(bert().with("config.json", json(r#"{"model_type": "bert"}"#)));
    assert!(large.contains("has the shape") && large.contains("config.json says"), "{large}");
    let odd = r#"{"model_type": "bert", "hidden_size": 10, "num_attention_heads": 3}"#;
    assert!(why(bert().with("config.json", json(odd))).ends_with("are no model"));
    let act = r#"{"model_type": "bert", "hidden_act": "mish"}"#;
    assert!(why(bert().with("config.json", json(act))).contains("hidden_act is mish"));
    assert_eq!(why(bert().with("tokenizer.json", None)), "there is no tokenizer.json");
    assert!(why(bert().with("tokenizer.json", json("{}"))).contains("has no vocabulary"));
    assert!(
        why(bert().with("tokenizer.json", json(r#"{"model": {"type": "Unigram", "vocab": {}}}"#)))
            .contains("Unigram")
    );
    let index = json(r#"{"weight_map": {"a": "part-2.safetensors"}}"#);
    assert!(why(bert().with("model.safetensors.index.json", index)).contains("it has no part-2.safetensors"));
    let clip = |text: &str| why(Folder::new("clip-quick").with("preprocessor_config.json", json(text)));
    assert_eq!(clip(r#"{"image_std": [1, 0, 1]}"#), "preprocessor_config.json: image_std has a 0");
    assert!(clip(r#"{"resample": 2}"#).contains("resample is 2"));
    let weights = std::fs::read(data().join("bert/model.safetensors")).unwrap();
    assert!(
        why(bert().with("model.safetensors", Some(weights[..weights.len() / 2].to_vec())))
            .contains("safetensors")
    );
}

/// The header and the numbers of a tiny model's weights, with another header.
fn weights_with(model: &str, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Option<Vec<u8>> {
    let bytes = std::fs::read(data().join(model).join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    change(&mut header);
    let text = serde_json::to_vec(&header).unwrap();
    Some([&(text.len() as u64).to_le_bytes(), &text[..], &bytes[8 + length..]].concat())
}

#[test]
fn a_clip_that_lacks_layers_is_refused() {
    let lacking = weights_with("clip-quick", |header| {
        for (name, tensor) in std::mem::take(header) {
            header.insert(name.replace("text_model.encoder.layers.1.", "other."), tensor);
        }
    });
    let why = Model::open(&Folder::new("clip-quick").with("model.safetensors", lacking)).err().unwrap();
    assert_eq!(why.to_string(), "there are 1 layers of texts, and config.json says 3");
}

#[test]
fn tensors_without_numbers_are_refused() {
    let empty =
        r#"{"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 0, "num_attention_heads": 2}"#;
    let header =
        br#"{"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[0,32],"data_offsets":[0,0]}}"#;
    let weights = Some([&(header.len() as u64).to_le_bytes()[..], header].concat());
    let folder =
        Folder::new("bert").with("config.json", Some(empty.into())).with("model.safetensors", weights);
    let why = Model::open(&folder).err().unwrap().to_string();
    assert!(why.contains("has the shape [0, 32], and so no numbers"), "{why}");
}

/// Bytes with some of them changed by a generator of this seed.
fn damaged(bytes: &[u8], seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n.max(1)
    };
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + next(4) {
        let at = next(bytes.len().min(4_000));
        match next(3) {
            0 => bytes[at] = next(256) as u8,
            1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, b"0{}[],\":"[next(8)]),
        }
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_read_and_never_panic() {
    let files = ["config.json", "tokenizer.json", "model.safetensors", "preprocessor_config.json"];
    let mut n_refused = 0;
    for name in ["clip-quick", "roberta", "mpnet"] {
        for file in files {
            let Ok(bytes) = std::fs::read(data().join(name).join(file)) else { continue };
            for seed in 0..60 {
                match Model::open(&Folder::new(name).with(file, Some(damaged(&bytes, seed)))) {
                    Ok(model) => {
                        let _ = model.text_vectors(&["a man's red ball", ""], &|_| {});
                        let _ = model.token_vectors(&["a man"], 2, true, &|_| {});
                        let size = model.picture_size();
                        let _ = model.picture_vectors(&[&vec![7; size * size * 3]], &|_| {});
                    }
                    Err(refusal) => {
                        n_refused += 1;
                        assert!(!refusal.to_string().is_empty() && refusal.remedy().is_some(), "{refusal}");
                    }
                }
            }
        }
    }
    assert!(n_refused > 100, "{n_refused}");
}
