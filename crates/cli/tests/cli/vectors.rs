//! Metrics that compare vectors, on the command line: by a tiny model and by files of vectors, and what is refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{capeval_in, scratch};

/// A folder with pictures, captions and references of three images.
struct Place(tempfile::TempDir);

fn testdata(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    path.canonicalize().unwrap().display().to_string()
}

fn model(name: &str) -> String {
    testdata(&format!("neural/{name}"))
}

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("pictures")).unwrap();
        for (picture, name) in
            [("420.jpg", "COCO_val2014_000000000001.jpg"), ("rgb.png", "2.png"), ("palette.gif", "3.gif")]
        {
            fs::copy(testdata(&format!("pictures/{picture}")), place.path(&format!("pictures/{name}")))
                .unwrap();
        }
        let refs = json!({
            "1": ["a man rides a horse", "two small dogs are playing"],
            "2": ["a bus waits at the street"],
            "3": ["people walk", "birds fly over the lake", "a woman reads"],
        });
        place.write("refs.json", refs.to_string());
        let captions = json!({"1": "a man rides a brown horse", "2": "It's a BUS!", "3": "several birds"});
        place.write("captions.json", captions.to_string());
        place
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.0, name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Runs `capeval`: the exit code, standard output and standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        capeval_in(self.0.path(), args)
    }

    fn printed(&self, args: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(args);
        assert_eq!(code, 0, "{args:?}: {stderr}");
        stdout
    }

    /// Scores the captions by these metrics with more flags.
    fn score(&self, metrics: &str, more: &[&str]) -> (i32, String, String) {
        let (refs, captions) = (self.path("refs.json"), self.path("captions.json"));
        let mut args = vec!["score", "-r", &refs, &captions, "-m", metrics];
        args.extend(more);
        self.run(&args)
    }

    /// The report as JSON.
    fn report(&self, metrics: &str, more: &[&str]) -> Value {
        let (code, stdout, stderr) = self.score(metrics, &[more, &["-f", "json"]].concat());
        assert_eq!(code, 0, "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// The error of a run that must fail, as one line without the frame of errors.
    fn refused(&self, metrics: &str, more: &[&str]) -> String {
        let (code, stdout, stderr) = self.score(metrics, more);
        assert_eq!((code, stdout.as_str()), (2, ""), "{metrics} {more:?}: {stderr}");
        stderr.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn scores(report: &Value) -> Value {
    report["systems"][0]["scores"].clone()
}

#[test]
fn files_of_vectors_give_the_scores_of_their_model() {
    let place = Place::new();
    let (clip, pictures) = (model("clip-quick"), place.path("pictures"));
    let (refs, captions) = (place.path("refs.json"), place.path("captions.json"));
    let (images, texts) = (place.path("images.npy"), place.path("texts.npy"));
    place.printed(&["embed", "--model", &clip, "--folder", &pictures, "-o", &images]);
    let embed = ["embed", "--model", &clip, "--texts", &refs, "--texts", &captions, "-o", &texts];
    place.printed(&embed);
    let (of_images, of_texts) = (format!("images={images}"), format!("texts={texts}"));
    let by_model = |metrics| scores(&place.report(metrics, &["--model", &clip, "--pictures", &pictures]));
    let by_files = |metrics| place.report(metrics, &["--vectors", &of_images, "--vectors", &of_texts]);
    // These have no prefix, and their scores are not clipped.
    let metrics = "clip-s:variant=torchmetrics,recall,self-sim";
    let report = by_files(metrics);
    assert_eq!(by_model(metrics), scores(&report));
    assert_ne!(scores(&report)["clip-s"], json!(0.0));
    let signature = report["systems"][0]["signatures"].to_string();
    assert!(signature.contains("|pictures:vectors-") && signature.contains("|texts:vectors-"), "{signature}");
    // One side from a file, the other from the model.
    let mixed = place.report(metrics, &["--vectors", &of_images, "--model", &clip]);
    assert_eq!(by_model(metrics), scores(&mixed));
    let metrics = "clip-s,ref-clip-s,ref-pac-s";
    place.printed(&[&embed[..], &["--prefix", "A photo depicts "]].concat());
    assert_eq!(by_model(metrics), scores(&by_files(metrics)));
}

#[test]
fn each_system_may_have_vectors_of_its_own() {
    let place = Place::new();
    let (refs, captions) = (place.path("refs.json"), place.path("captions.json"));
    let write = |name: &str, rows: &[[f32; 2]; 3]| {
        let (texts, ids) = (place.path(&format!("{name}.npy")), "[1, 2, 3]");
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(rows.concat().iter().flat_map(|x| x.to_le_bytes()));
        fs::write(&texts, bytes).unwrap();
        place.write(&format!("{name}.json"), ids);
        texts
    };
    let images = format!("images={}", write("images", &[[1.0, 0.0]; 3]));
    let a = format!("candidates:a={}", write("a", &[[3.0, 0.0]; 3]));
    let b = format!("candidates:b={}", write("b", &[[0.0, 2.0]; 3]));
    let c = format!("candidates:c={}", write("c", &[[0.0, 2.0]; 3]));
    let (first, second) = (format!("a={captions}"), format!("b={captions}"));
    let args = ["score", "-r", &refs, &first, &second, "-m", "clip-s", "-f", "json", "--vectors", &images];
    let more = ["--vectors", &a, "--vectors", &b, "--vectors", &c];
    let report: Value = serde_json::from_str(&place.printed(&[&args[..], &more].concat())).unwrap();
    assert_eq!(report["systems"][0]["scores"]["clip-s"], json!(2.5));
    assert_eq!(report["systems"][1]["scores"]["clip-s"], json!(0.0));
    assert!(report["notices"].to_string().contains("no system is called c"), "{}", report["notices"]);
    let (code, _, stderr) = place.run(&[&args[..], &more[..2]].concat());
    assert!(code == 2 && stderr.contains("nothing gives a vector of"), "{stderr}");
    // The metric needs no references, and its signature does not speak of them.
    let alone = place.printed(&[&["score"], &args[3..], &more].concat());
    let alone: Value = serde_json::from_str(&alone).unwrap();
    for k in [0, 1] {
        let [with, without] = [&report, &alone].map(|report| &report["systems"][k]);
        assert_eq!(with["scores"], without["scores"]);
        let signature = without["signatures"]["clip-s"].as_str().unwrap();
        assert!(!signature.contains("nrefs") && without["references"] == json!(0), "{signature}");
    }
    let (code, _, said) =
        place.run(&["score", &first, "-m", "clip-s,bleu", "--vectors", &images, "--vectors", &a]);
    assert!(code == 2 && said.contains("pass -r FILE"), "{said}");
}

#[test]
fn all_metrics_score_with_models_of_their_families() {
    let place = Place::new();
    let (clip, roberta, pictures) = (model("clip-quick"), model("roberta"), place.path("pictures"));
    let metrics = "clip-s,clip-s:variant=torchmetrics,clip-s:crop=hf,bert-score:layer=2,bert-score:layer=2:idf=yes,\
                   bert-score:layer=2:prefix-space=no,recall,recall:direction=captions,median-rank,self-sim,bleu";
    let more = ["--model", &clip, "--model", &roberta, "--pictures", &pictures, "--ci"];
    let report = place.report(metrics, &more);
    let found = scores(&report);
    for key in [
        "clip-s",
        "clip-s:variant=torchmetrics",
        "bert-score-f",
        "bert-score-f:idf=yes",
        "recall-1",
        "self-sim",
    ] {
        assert!(found[key].is_number(), "{key}: {found}");
    }
    assert_ne!(found["bert-score-f"], found["bert-score-f:prefix-space=no"]);
    assert_ne!(found["bert-score-f"], found["bert-score-f:idf=yes"]);
    let notices = report["notices"].to_string();
    assert!(notices.contains("roberta_L2_no-idf_version=capeval-"), "{notices}");
    let signatures = report["systems"][0]["signatures"].to_string();
    assert!(signatures.contains("|pool:3-"));
}

#[test]
fn explanations_name_the_nearest_reference_and_the_tokens_that_match() {
    let place = Place::new();
    let (clip, roberta, pictures) = (model("clip-quick"), model("roberta"), place.path("pictures"));
    let more = ["--model", &clip, "--model", &roberta, "--pictures", &pictures, "--explain", "3"];
    let (code, stdout, stderr) = place.score("ref-clip-s,bert-score:layer=2", &more);
    assert_eq!(code, 0, "{stderr}");
    for part in
        ["cosine with the picture", "similarity to the nearest reference", "is the nearest", "BERTScore F"]
    {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

#[test]
fn every_other_command_takes_them() {
    let place = Place::new();
    let (clip, pictures) = (model("clip-gelu"), place.path("pictures"));
    let (refs, captions) = (place.path("refs.json"), place.path("captions.json"));
    let other = place.write("other.json", r#"{"1": "a dog", "2": "a bus", "3": "birds fly"}"#);
    let with = ["--model", &clip, "--pictures", &pictures, "-m", "clip-s"];
    let compare = [&["compare", "-r", &refs, &captions, &other][..], &with].concat();
    assert!(place.printed(&compare).contains("CLIPScore"));
    let ratings = place.write(
        "ratings.csv",
        "image_id,caption,rating\n1,a man,4\n1,a dog,1\n2,a bus,3\n3,birds,2\n3,a lake,4\n",
    );
    let correlate = [&["correlate", &ratings, "-r", &refs][..], &with].concat();
    assert!(place.printed(&correlate).contains("CLIPScore"));
    let pairs = place.write(
        "pairs.jsonl",
        "{\"image_id\": 1, \"captions\": [\"a man\", \"a dog\"], \"preferred\": 0}\n\
         {\"image_id\": 2, \"captions\": [\"a bus\", \"a cat\"], \"preferred\": 0}\n",
    );
    let prefer = [&["prefer", &pairs, "-r", &refs][..], &with].concat();
    let (code, stdout, stderr) = place.run(&prefer);
    assert!(code == 0 && stdout.contains("CLIPScore"), "{stderr}");
}

#[test]
fn models_have_names_and_say_what_they_are() {
    let place = Place::new();
    let clip = model("clip-quick");
    assert!(place.printed(&["model", "list"]).contains("no model has a name"));
    assert!(
        place.printed(&["model", "add", "tiny", &clip]).starts_with("tiny: CLIP, pictures of 32 × 32 pixels")
    );
    assert!(place.printed(&["model", "list"]).contains(&clip));
    let pictures = place.path("pictures");
    place.report("clip-s:model=tiny", &["--model", "tiny", "--pictures", &pictures]);
    let checked = place.printed(&["model", "check", "tiny", &model("mpnet"), "--format", "json"]);
    let checked: Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(checked[0]["sha256"].as_str().unwrap().len(), 64);
    assert!(checked[1]["description"].as_str().unwrap().starts_with("MPNet, 3 layers of 32"));
    place.printed(&["model", "remove", "tiny"]);
    let (code, _, stderr) = place.run(&["model", "remove", "tiny"]);
    assert!(code == 2 && stderr.contains("no model is called tiny"), "{stderr}");
    let (code, _, stderr) = place.run(&["model", "add", "a b", &clip]);
    assert!(code == 2 && stderr.contains("is not a name"), "{stderr}");
    assert!(place.printed(&["metrics", "clip_s"]).contains("--metrics clip-s:NAME=VALUE"));
}

#[test]
fn what_cannot_be_scored_is_refused_in_words() {
    let place = Place::new();
    let (clip, bert, pictures) = (model("clip-quick"), model("bert"), place.path("pictures"));
    let check = |metrics: &str, more: &[&str], words: &str| {
        let said = place.refused(metrics, more);
        assert!(said.contains(words), "{metrics} {more:?}: {said}");
    };
    let with_clip = ["--model", &clip, "--pictures", &pictures];
    check("clip-s", &[], "it needs a model of pictures and texts, such as CLIP, and there is none");
    check("clip-s", &["--model", &bert], "is a model of tokens");
    check("clip-s", &["--model", &clip], "pass --pictures");
    check("bleu", &with_clip[..2], "no metric uses");
    check("clip-s:variant=x", &with_clip, "variant takes code, paper or torchmetrics, not 'x'");
    check("clip-s:w=2", &with_clip, "clip-s has no setting 'w'");
    check("clip-s:model=other", &with_clip, "no model is called other");
    check("clip-s", &[&with_clip[..], &["--model", &model("clip-gelu")]].concat(), "both suit");
    check("bert-score", &["--model", &bert], "which layer of");
    check("bert-score:layer=9", &["--model", &bert], "has 3 layers, and layer is 9");
    check("bert-score:layer=1:rescale=yes", &["--model", &bert], "no baseline of layer 1");
    let table = place.write("table.tsv", "LAYER,P,R,F\n0,0.1,0.1,0.1\n");
    check(&format!("bert-score:layer=1:rescale={table}"), &["--model", &bert], "it has no layer 1");
    check("fer", &["--model", &bert], "it needs a detector of errors");
    check("clip-s", &["--model", "/no/model"], "there is no such folder");
    check("clip-s", &["--model", &place.path("refs.json")], "this is a file");

    let vectors = place.write("v.npy", b"\x93NUMPY\x01\x00");
    check("clip-s", &["--vectors", &vectors], "what these vectors are of is not said");
    check("clip-s", &["--vectors", &format!("sounds={vectors}")], "vectors cannot be of \"sounds\"");
    check("clip-s", &["--vectors", &format!("images={vectors}")], "the file of NumPy is damaged");
    let text = place.write("v.txt", "1 2 3");
    check("clip-s", &["--vectors", &format!("images={text}")], "this is no file of vectors");
    let matrix = |name: &str, rows: &[&[f32]], ids: &str| {
        let header = format!(
            "{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}\n",
            rows.len(),
            rows[0].len()
        );
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.into_bytes());
        bytes.extend(rows.concat().iter().flat_map(|x| x.to_le_bytes()));
        place.write(&format!("{name}.json"), ids);
        place.write(&format!("{name}.npy"), bytes)
    };
    let few = format!("images={}", matrix("few", &[&[1.0, 2.0]], "[1]"));
    let texts =
        format!("candidates={}", matrix("texts", &[&[1.0, 2.0], &[1.0, 0.0], &[3.0, 1.0]], "[1, 2, 3]"));
    check("clip-s", &["--vectors", &few, "--vectors", &texts], "has no vector of image 2");
    let wide = format!("images={}", matrix("wide", &[&[1.0, 2.0, 3.0]], "[1]"));
    check("clip-s", &["--vectors", &wide, "--vectors", &texts], "have 2 numbers, and those of");
    let zero = format!("images={}", matrix("zero", &[&[0.0, 0.0]], "[1]"));
    check("clip-s", &["--vectors", &zero, "--vectors", &texts], "consists of zeros");
    let nan = format!("images={}", matrix("nan", &[&[f32::NAN, 0.0]], "[\"a\"]"));
    check(
        "clip-s",
        &["--vectors", &nan, "--vectors", &texts],
        "the vector of \"a\" has a number that is not finite",
    );
    let short = format!("images={}", matrix("short", &[&[1.0, 2.0]], "[1, 2]"));
    check("clip-s", &["--vectors", &short, "--vectors", &texts], "there are 2 ids");

    fs::write(place.path("pictures/2.png"), b"no picture").unwrap();
    check("clip-s", &with_clip, "this is no picture in JPEG, PNG, WebP or GIF");
    let good = fs::read(testdata("pictures/rgb.png")).unwrap();
    fs::write(place.path("pictures/2.png"), &good[..good.len() / 2]).unwrap();
    check("clip-s", &with_clip, "2.png (image 2): the file of PNG is damaged");
    let mut bomb = good;
    bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    fs::write(place.path("pictures/2.png"), &bomb).unwrap();
    check("clip-s", &with_clip, "the picture has 65536 × 65536 pixels");
    fs::remove_file(place.path("pictures/2.png")).unwrap();
    check("clip-s", &with_clip, "image 2 has no picture in");
}

/// The files of vectors that runs have kept.
fn kept(place: &Place) -> Vec<std::path::PathBuf> {
    let folders = fs::read_dir(place.path("cache/vectors")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap()).collect::<Result<Vec<_>, _>>().unwrap();
    files.sort_unstable_by_key(fs::DirEntry::path);
    files.iter().map(fs::DirEntry::path).collect()
}

#[test]
fn vectors_of_earlier_runs_give_the_same_bits_and_damage_is_told() {
    let place = Place::new();
    let (clip, pictures) = (model("clip-quick"), place.path("pictures"));
    let score =
        || place.score("clip-s,ref-clip-s", &["--model", &clip, "--pictures", &pictures, "--format", "json"]);
    let (code, first, stderr) = score();
    assert_eq!(code, 0, "{stderr}");
    let files = kept(&place);
    assert_eq!(files.len(), 2, "of texts, and of pictures");
    let whole: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    let systems = |report: &str| serde_json::from_str::<Value>(report).unwrap()["systems"].clone();
    assert_eq!(systems(&score().1), systems(&first));
    assert_eq!(kept(&place), files);
    for (file, whole) in files.iter().zip(&whole) {
        let mut bad = whole.clone();
        bad[whole.len() - 1] ^= 1;
        fs::write(file, bad).unwrap();
    }
    fs::remove_dir_all(place.path("cache/scores")).ok();
    let (_, again, stderr) = score();
    assert_eq!(systems(&again), systems(&first));
    assert!(format!("{again}{stderr}").contains("its vectors are computed again"), "{stderr}");
    assert_eq!(files.iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>(), whole);
}

#[test]
fn embed_shares_its_vectors_with_later_runs() {
    let place = Place::new();
    let (clip, pictures) = (model("clip-quick"), place.path("pictures"));
    let embed = |name: &str| {
        let out = place.path(name);
        place.printed(&["embed", "--model", &clip, "--folder", &pictures, "-o", &out]);
        fs::read(out).unwrap()
    };
    let first = embed("first.npy");
    let files = kept(&place);
    assert_eq!((files.len(), embed("second.npy") == first), (1, true));
    fs::copy(testdata("pictures/444.jpg"), place.path("pictures/4.jpg")).unwrap();
    assert_ne!(embed("third.npy"), first);
    assert_eq!(
        kept(&place).len(),
        2,
        "three vectors are more than twice the new one, and stay where they are"
    );
}
