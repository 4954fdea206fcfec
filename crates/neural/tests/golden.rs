//! Tiny models against the values of transformers and tokenizers, see `oracle/tiny_models.py`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_arrays::SharedBytes;
use capeval_choice::Refusal;
use capeval_neural::{Model, ModelPurpose, PictureResize, Source};
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
struct AlignedBytes(Vec<u64>, usize);

impl AsRef<[u8]> for AlignedBytes {
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
            Arc::new(AlignedBytes(words, bytes.len()))
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

/// The squares of `oracle/tiny_models.py`.
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
        assert_eq!(
            (model.made(), model.dims(), model.picture_size()),
            (ModelPurpose::PicturesAndTexts, 24, 32)
        );
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
        assert_eq!((model.made(), model.dims(), model.n_layers()), (ModelPurpose::Tokens, 32, 3), "{name}");
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
    assert_eq!(model.made(), ModelPurpose::Errors);
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

/// The tensors of a model of 32 bits: name, shape and bytes.
fn tensors(model: &str) -> Vec<(String, Vec<usize>, Vec<u8>)> {
    let bytes = std::fs::read(data().join(model).join("model.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Map<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let tensor = |(name, about): (String, Value)| {
        assert_eq!(about["dtype"], "F32", "{name}");
        let count = |value: &Value| ids(value).into_iter().map(|n| n as usize).collect::<Vec<_>>();
        let at = count(&about["data_offsets"]);
        (name, count(&about["shape"]), bytes[8 + length + at[0]..8 + length + at[1]].to_vec())
    };
    header.into_iter().filter(|(name, _)| name != "__metadata__").map(tensor).collect()
}

/// A file of these tensors.
fn file_of(tensors: &[(String, Vec<usize>, Vec<u8>)]) -> Option<Vec<u8>> {
    let (mut header, mut content) = (serde_json::Map::new(), Vec::new());
    for (name, shape, bytes) in tensors {
        let offsets = [content.len(), content.len() + bytes.len()];
        let about = serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": offsets });
        header.insert(name.clone(), about);
        content.extend_from_slice(bytes);
    }
    let mut header = serde_json::to_vec(&header).unwrap();
    header.resize(header.len().next_multiple_of(8), b' ');
    Some([&(header.len() as u64).to_le_bytes(), &header[..], &content].concat())
}

/// The vectors of a text and a picture.
fn both(folder: &Folder) -> [Vec<f32>; 2] {
    let model = Model::open(folder).unwrap();
    let texts = model.text_vectors(&["a man's red ball", "two dogs"], &|_| {});
    [texts, model.picture_vectors(&pictures(32).each_ref().map(Vec::as_slice), &|_| {})]
}

#[test]
fn long_texts_are_cut_before_the_last_token() {
    for name in ["clip-quick", "bert", "roberta"] {
        let model = Model::open(&Folder::new(name)).unwrap();
        let long = "red ".repeat(2_000);
        let (ids, longer) = (model.token_ids(&long, false), model.token_ids(&long.repeat(2), false));
        assert_eq!(ids, longer, "{name}");
        assert_eq!(ids.last(), model.token_ids("red", false).last(), "{name}: the token of the end");
        assert!(ids.len() < 1_000, "{name}: {}", ids.len());
    }
}

#[test]
fn special_tokens_take_part_in_the_mean_of_a_sentence() {
    let modules = r#"[{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]"#;
    let sentences = Folder::new("bert")
        .with("modules.json", Some(modules.into()))
        .with("1_Pooling/config.json", Some(r#"{"pooling_mode_mean_tokens": true}"#.into()));
    let found = Model::open(&sentences).unwrap().text_vectors(&["two dogs"], &|_| {});
    let model = Model::open(&Folder::new("bert")).unwrap();
    let tokens = model.token_vectors(&["two dogs"], model.n_layers(), false, &|_| {}).remove(0);
    assert!(tokens.ids.len() > 3 && tokens.ids[0] == model.special_tokens()[0]);
    let mean = |k: usize| {
        tokens.vectors.chunks(tokens.dims).map(|row| row[k]).sum::<f32>() / tokens.ids.len() as f32
    };
    assert_close(&found, &(0..tokens.dims).map(mean).collect::<Vec<f32>>(), "all tokens");
}

#[test]
fn weights_in_several_files_are_those_of_one() {
    let all = tensors("clip-quick");
    let (first, second) = all.split_at(all.len() / 2);
    let part = |name: &'static str, some: &[(String, Vec<usize>, Vec<u8>)]| {
        some.iter().map(|(tensor, ..)| (tensor.clone(), name.into())).collect::<Vec<(String, Value)>>()
    };
    let map = [part("a.safetensors", first), part("b.safetensors", second)].concat();
    let map = Value::Object(map.into_iter().collect());
    let index = serde_json::json!({ "metadata": {}, "weight_map": map }).to_string();
    let folder = Folder::new("clip-quick")
        .with("model.safetensors", None)
        .with("a.safetensors", file_of(first))
        .with("b.safetensors", file_of(second))
        .with("model.safetensors.index.json", Some(index.into_bytes()));
    assert_eq!(both(&folder), both(&Folder::new("clip-quick")));
}

#[test]
fn names_of_openai_and_settings_of_open_clip_are_read() {
    const NAMES: [(&str, &str); 17] = [
        ("text_model.encoder.layers.", "transformer.resblocks."),
        ("vision_model.encoder.layers.", "visual.transformer.resblocks."),
        ("text_model.embeddings.token_embedding", "token_embedding"),
        ("text_model.embeddings.position_embedding.weight", "positional_embedding"),
        ("text_model.final_layer_norm", "ln_final"),
        ("vision_model.embeddings.class_embedding", "visual.class_embedding"),
        ("vision_model.embeddings.position_embedding.weight", "visual.positional_embedding"),
        ("vision_model.embeddings.patch_embedding", "visual.conv1"),
        ("vision_model.pre_layrnorm", "visual.ln_pre"),
        ("vision_model.post_layernorm", "visual.ln_post"),
        ("text_projection.weight", "text_projection"),
        ("visual_projection.weight", "visual.proj"),
        ("self_attn.out_proj", "attn.out_proj"),
        ("layer_norm1", "ln_1"),
        ("layer_norm2", "ln_2"),
        ("mlp.fc1", "mlp.c_fc"),
        ("mlp.fc2", "mlp.c_proj"),
    ];
    let mut renamed: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    for (name, shape, bytes) in tensors("clip-quick") {
        let name = NAMES.iter().fold(name, |name, (from, to)| name.replace(from, to));
        match (name.as_str(), name.split_once("self_attn.")) {
            // The weights of queries, keys and values lie one after another.
            (_, Some((layer, part))) => {
                let kind = part.rsplit('.').next().unwrap();
                let name = format!("{layer}attn.in_proj_{kind}");
                if renamed.iter().any(|(known, ..)| *known == name) {
                    continue;
                }
                let all = ["q", "k", "v"].map(|which| {
                    let own = name.replace("transformer.resblocks.", "encoder.layers.");
                    let own = own
                        .replace(&format!("attn.in_proj_{kind}"), &format!("self_attn.{which}_proj.{kind}"));
                    let tower = if layer.starts_with("visual.") { "vision_model." } else { "text_model." };
                    let own = format!("{tower}{}", own.trim_start_matches("visual."));
                    tensors("clip-quick").into_iter().find(|(known, ..)| *known == own).unwrap().2
                });
                let shape = std::iter::once(3 * shape[0]).chain(shape[1..].iter().copied()).collect();
                renamed.push((name, shape, all.concat()));
            }
            ("text_projection" | "visual.proj", _) => {
                let (rows, columns) = (shape[0], shape[1]);
                let turned = (0..columns).flat_map(|x| (0..rows).map(move |y| y * columns + x));
                let turned = turned.flat_map(|at| bytes[4 * at..4 * at + 4].to_vec()).collect();
                renamed.push((name, vec![columns, rows], turned));
            }
            _ => renamed.push((name, shape, bytes)),
        }
    }
    let config: Value =
        serde_json::from_slice(&std::fs::read(data().join("clip-quick/config.json")).unwrap()).unwrap();
    let of = |part: &str, key: &str| config[part][key].as_u64().unwrap();
    let heads = of("text_config", "num_attention_heads");
    let head_width = of("vision_config", "hidden_size") / of("vision_config", "num_attention_heads");
    let settings = |heads: u64, quick: bool| {
        let model = serde_json::json!({
            "quick_gelu": quick,
            "text_cfg": { "heads": heads },
            "vision_cfg": { "head_width": head_width },
        });
        let folder = Folder::new("clip-quick").with("model.safetensors", file_of(&renamed));
        let open_clip = serde_json::json!({ "model_cfg": model }).to_string();
        folder.with("config.json", None).with("open_clip_config.json", Some(open_clip.into_bytes()))
    };
    let expected = both(&Folder::new("clip-quick"));
    for (found, expected) in both(&settings(heads, true)).iter().zip(&expected) {
        assert_close(found, expected, "the same weights");
    }
    assert_ne!(both(&settings(heads, false)), expected, "the other activation");
    assert_ne!(both(&settings(2 * heads, true)), expected, "other heads");
}

#[test]
fn what_is_prepared_or_pooled_otherwise_is_refused() {
    let refused = |folder: Folder, words: &str| {
        let why = Model::open(&folder).err().unwrap_or_else(|| panic!("{words}")).to_string();
        assert!(why.contains(words), "{why}");
    };
    for (settings, words) in [
        (r#"{"do_normalize": false}"#, "do_normalize is false"),
        (r#"{"do_center_crop": false}"#, "do_center_crop is false"),
        (r#"{"do_center_crop": false, "size": {"height": 40, "width": 32}}"#, "do_center_crop is false"),
        (r#"{"resample": 2}"#, "resample is 2"),
        (
            r#"{"size": {"shortest_edge": 24}}"#,
            "size is {\"shortest_edge\":24}, and the model sees 32 × 32 pixels",
        ),
        (r#"{"size": {"height": 48, "width": 31}}"#, "and the model sees 32 × 32 pixels"),
        (r#"{"size": {"longest_edge": 64}}"#, "and neither shortest_edge nor height and width"),
        (r#"{"size": 1000000000}"#, "and the model sees 32 × 32 pixels"),
        (r#"{"crop_size": 30}"#, "crop_size is 30, and the model sees 32 × 32 pixels"),
        (r#"{"image_std": [1, 0, 1]}"#, "image_std has a 0"),
    ] {
        refused(Folder::new("clip-quick").with("preprocessor_config.json", Some(settings.into())), words);
    }
    let usual = r#"{"size": 32, "crop_size": {"height": 32, "width": 32}, "resample": 3, "do_resize": true}"#;
    let resize = |settings: &str| {
        let folder = Folder::new("clip-quick").with("preprocessor_config.json", Some(settings.into()));
        Model::open(&folder).unwrap().picture_resize()
    };
    for (settings, expected) in [
        (usual, PictureResize::Shorter(32)),
        (r#"{"size": {"shortest_edge": 37}, "crop_size": 32}"#, PictureResize::Shorter(37)),
        (r#"{"size": {"height": 40, "width": 48}, "crop_size": 32}"#, PictureResize::Exact(48, 40)),
        (r#"{"size": {"height": 32, "width": 32}, "do_center_crop": false}"#, PictureResize::Exact(32, 32)),
    ] {
        assert_eq!(resize(settings), expected, "{settings}");
    }
    let squash = r#"{"preprocess_cfg": {"resize_mode": "squash"}}"#;
    let folder = Folder::new("clip-quick").with("preprocessor_config.json", None);
    let folder = folder.with("open_clip_config.json", Some(squash.into()));
    assert_eq!(Model::open(&folder).unwrap().picture_resize(), PictureResize::Exact(32, 32));
    for (modules, words) in [
        (
            &["Transformer", "Pooling", "Dense", "Dense"][..],
            "its modules are Transformer, Pooling, Dense, Dense",
        ),
        (
            &["Transformer", "Normalize", "Pooling"],
            "only Transformer, Pooling, Dense, Normalize are computed",
        ),
        (&["Transformer", "Pooling", "LayerNorm"], "its modules are Transformer, Pooling, LayerNorm"),
    ] {
        let of_kind = |kind: &&str| serde_json::json!({ "type": format!("models.{kind}"), "path": "" });
        let modules = Value::Array(modules.iter().map(of_kind).collect()).to_string();
        refused(Folder::new("bert").with("modules.json", Some(modules.into_bytes())), words);
    }
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
