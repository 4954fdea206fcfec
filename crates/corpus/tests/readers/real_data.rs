//! Each format on real files, if they are available.

use std::collections::HashMap;

use capeval_choice::Code;
use capeval_corpus::{
    Captions, Error, ErrorKind, Format, GroupedCaptions, Ids, Missing, Policy, ReadOptions, Role, SegmentId,
    align, fit, merge, read_bytes, write,
};

/// The bytes of a file of real data; `None`, and the test is skipped, where it is missing.
fn real(name: &str) -> Option<Vec<u8>> {
    capeval_testkit::real(&format!("data/{name}")).map(|path| std::fs::read(path).unwrap())
}

fn unpack(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes), &mut text).unwrap();
    text
}

/// Reads a file, checks how many captions and images it has, and that all writers give it back.
fn check(
    name: &str,
    options: &ReadOptions,
    format: Format,
    n_captions: usize,
    n_images: usize,
) -> Option<Captions> {
    let bytes = real(name)?;
    let captions = read_bytes(&bytes, name, options).unwrap();
    assert_eq!((captions.format(), captions.len()), (Some(format), n_captions));
    let streamed = capeval_corpus::read(&bytes[..], name, options).unwrap();
    assert!(streamed.iter().eq(captions.iter()));
    let references = GroupedCaptions::new(captions.clone(), Ids::AsGiven).unwrap();
    assert_eq!(references.len(), n_images);
    for format in [Format::CocoAnnotations, Format::ListJson, Format::JsonLines, Format::Csv, Format::Tsv] {
        let mut written = Vec::new();
        write(&captions, format, &mut written).unwrap();
        let back =
            read_bytes(&written, name, &ReadOptions { format: Some(format), ..ReadOptions::references() });
        assert!(back.unwrap().iter().eq(captions.iter()), "{name} as {format}");
    }
    Some(captions)
}

/// Cuts a file short at many places; all of them must be refused, and none may panic.
fn check_damaged(name: &str, options: &ReadOptions) {
    let Some(bytes) = real(name) else { return };
    let text = if name.ends_with(".gz") { unpack(&bytes) } else { bytes };
    let text = &text[..text.len().min(200_000)];
    for i in 1..20 {
        let cut = text.len() * i / 20;
        let error: Error = read_bytes(&text[..cut], name, options).unwrap_err();
        let at_the_end = error.position().byte == Some(cut as u64);
        assert!(at_the_end && error.kind() == ErrorKind::Syntax, "{error}");
    }
}

#[test]
fn coco_val2014() {
    let options = ReadOptions::references();
    let name = "coco/captions_val2014.json.gz";
    let Some(captions) = check(name, &options, Format::CocoAnnotations, 202_654, 40_504) else { return };
    let bytes = unpack(&real(name).unwrap());
    let theirs: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let annotations = theirs["annotations"].as_array().unwrap();
    assert_eq!(annotations.len(), captions.len());
    for ((id, text), annotation) in captions.iter().zip(annotations) {
        assert_eq!(id, &SegmentId::Integer(annotation["image_id"].as_i64().unwrap()));
        assert_eq!(text, annotation["caption"].as_str().unwrap());
    }
    let images = theirs["images"].as_array().unwrap().iter();
    assert!(
        images
            .map(|image| SegmentId::Integer(image["id"].as_i64().unwrap()))
            .eq(captions.declared().to_vec())
    );
    let references = GroupedCaptions::new(captions, Ids::AsGiven).unwrap();
    let mut sizes = HashMap::new();
    (0..references.len()).for_each(|image| *sizes.entry(references.rows(image).len()).or_insert(0) += 1);
    assert_eq!(sizes[&5], 40_373);
    assert!(references.index().without_captions().is_empty());
    check_damaged(name, &options);
}

#[test]
fn coco_example_results() {
    let name = "coco/fakecap_results.json";
    let Some(candidates) = check(name, &ReadOptions::candidates(), Format::CocoResults, 1000, 1000) else {
        return;
    };
    check_damaged(name, &ReadOptions::candidates());
    let Some(references) = real("coco/captions_val2014.json.gz") else { return };
    let references = read_bytes(&references, "captions_val2014.json", &ReadOptions::references()).unwrap();
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    let error = align(references.index(), &candidates, &Policy::default()).unwrap_err();
    assert!(error.to_string().contains("39504 of 40504 images"), "{error}");
    let aligned =
        align(references.index(), &candidates, &Policy { missing: Missing::Skip, ..Policy::default() })
            .unwrap();
    assert_eq!(aligned.len(), 1000);
    assert_eq!(aligned.notices[0].code.to_string(), "missing:skip");
    assert_eq!(aligned.notices[0].count, Some(39504));
}

#[test]
fn leave_one_out_pair() {
    let Some(references) =
        check("coco/loo_refs.json.gz", &ReadOptions::references(), Format::CocoAnnotations, 162_150, 40_504)
    else {
        return;
    };
    let Some(candidates) =
        check("coco/loo_hyps.json.gz", &ReadOptions::candidates(), Format::CocoResults, 40_504, 40_504)
    else {
        return;
    };
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    let aligned = align(references.index(), &candidates, &Policy::default()).unwrap();
    assert_eq!(aligned.len(), 40_504);
    assert!(aligned.notices.is_empty());
}

#[test]
fn karpathy_test_systems() {
    let Some(references) = check(
        "coco_karpathy_test/refs.json.gz",
        &ReadOptions::references(),
        Format::CocoAnnotations,
        25_010,
        5000,
    ) else {
        return;
    };
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    for (system, n_captions) in [
        ("magic_magic", 4982),
        ("satic", 5000),
        ("scn_lstm", 5000),
        ("showedittell_rl", 5000),
        ("showedittell_xe", 5000),
        ("smurf_m2transformer_c2", 5000),
    ] {
        let name = format!("coco_karpathy_test/systems/{system}.json.gz");
        let Some(candidates) =
            check(&name, &ReadOptions::candidates(), Format::CocoResults, n_captions, n_captions)
        else {
            continue;
        };
        let policy = Policy { missing: Missing::Skip, ..Policy::default() };
        let aligned = align(references.index(), &candidates, &policy).unwrap();
        assert_eq!(aligned.len(), n_captions);
        assert_eq!(aligned.notices.len(), usize::from(n_captions < 5000));
    }
}

#[test]
fn flickr8k_tokens_in_english_and_chinese() {
    let options = ReadOptions::references();
    let name = "flickr8k/Flickr8k.token.txt.gz";
    // 8092 images and a slip of the file: one caption of 2258277193_586949ec62.jpg says ".jpg.1".
    let Some(captions) = check(name, &options, Format::Tokens, 40_460, 8092 + 1) else { return };
    assert_eq!(
        captions.get(0).unwrap(),
        (
            &SegmentId::from("1000268201_693b08cb0e.jpg"),
            "A child in a pink dress is climbing up a set of stairs in an entry way ."
        )
    );
    for (file, n_captions, n_images) in [
        ("flickr8kzhc.caption", 40_455, 8091),
        ("flickr8kzhb.caption", 40_460, 8092),
        ("flickr8kzhg.caption", 40_460, 8092),
        ("flickr8kzhmtest.captions", 5000, 1000),
    ] {
        check(&format!("flickr8kcn/{file}.txt.gz"), &options, Format::Tokens, n_captions, n_images);
    }
    let text = unpack(&real(name).unwrap());
    let damaged = [&text[..100_000], b"\n1001773457_577c3a7d70.jpg A black dog\n"].concat();
    let error = read_bytes(&damaged, name, &options).unwrap_err();
    assert_eq!((error.kind(), error.position().byte), (ErrorKind::Syntax, Some(100_001)), "{error}");
}

#[test]
fn multi30k_lines() {
    let files: Option<Vec<Captions>> = (1..=5)
        .map(|i| {
            let name = format!("multi30k/train.{i}.en.gz");
            real(&name).map(|bytes| read_bytes(&bytes, &name, &ReadOptions::references()).unwrap())
        })
        .collect();
    let Some(files) = files else { return };
    assert!(files.iter().all(|file| file.format() == Some(Format::Lines)));
    let merged = merge(files.clone(), Role::References).unwrap();
    assert_eq!(merged.len(), 5 * 29_000);
    let references = GroupedCaptions::new(merged, Ids::AsGiven).unwrap();
    assert_eq!((references.len(), references.rows(0)), (29_000, &[0, 29_000, 58_000, 87_000, 116_000][..]));
    let name = "multi30k/val.1.en.gz";
    let Some(shorter) = real(name) else { return };
    let shorter = read_bytes(&shorter, name, &ReadOptions::references()).unwrap();
    let error = merge(vec![files[0].clone(), shorter], Role::References).unwrap_err();
    assert_eq!(
        error.to_string(),
        "multi30k/val.1.en.gz: has 1014 lines, but multi30k/train.1.en.gz has 29000 lines; files of references must be \
         aligned line by line"
    );
}

#[test]
fn clotho_and_the_audio_examples() {
    let options = ReadOptions::references();
    let name = "audio/clotho_eval.csv.gz";
    if check(name, &options, Format::Csv, 5225, 1045).is_none() {
        return;
    }
    let text = unpack(&real(name).unwrap());
    let damaged = &text[..text.len() - 160];
    let error = read_bytes(damaged, name, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax, "{error}");
    for (name, n) in [("audio/example_1.csv.gz", 464), ("audio/example_2.csv.gz", 912)] {
        check(name, &options, Format::Csv, n * 5, n);
        if let Some(candidates) = check(name, &ReadOptions::candidates(), Format::Csv, n, n) {
            assert_eq!(candidates.notices()[0].code, Code::RowNumbers);
        }
    }
}

#[test]
fn clotho_is_read_as_the_csv_crate_reads_it() {
    let Some(bytes) = real("audio/clotho_eval.csv.gz") else { return };
    let captions = read_bytes(&bytes, "clotho", &ReadOptions::references()).unwrap();
    let text = unpack(&bytes);
    let mut expected = Vec::new();
    for record in csv::Reader::from_reader(&text[..]).records() {
        let record = record.unwrap();
        let id = SegmentId::from_untyped(&record[0]);
        expected.extend(record.iter().skip(1).map(|text| (id.clone(), text.to_owned())));
    }
    let ours: Vec<_> = captions.iter().map(|(id, text)| (id.clone(), text.to_owned())).collect();
    assert_eq!(ours, expected);
}

#[test]
fn few_right_pairs_of_real_systems_are_never_called_wrong() {
    const SYSTEMS: [&str; 6] =
        ["magic_magic", "satic", "scn_lstm", "showedittell_rl", "showedittell_xe", "smurf_m2transformer_c2"];
    let Some(bytes) = real("coco_karpathy_test/refs.json.gz") else { return };
    let references = read_bytes(&bytes, "refs", &ReadOptions::references()).unwrap();
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    let of_image: HashMap<&SegmentId, usize> =
        (0..references.len()).map(|image| (references.id(image).unwrap(), image)).collect();
    for system in SYSTEMS {
        let Some(bytes) = real(&format!("coco_karpathy_test/systems/{system}.json.gz")) else { return };
        let captions = read_bytes(&bytes, system, &ReadOptions::candidates()).unwrap();
        let texts = |id: &SegmentId| references.texts(of_image[id]).collect::<Vec<&str>>();
        let rows: Vec<(&str, Vec<&str>)> = captions.iter().map(|(id, text)| (text, texts(id))).collect();
        let (mut n_draws, mut n_found) = (0, 0);
        for draw in 0..400 {
            let n = 8 + draw % 42;
            let start = draw * 7919 % (rows.len() - n);
            for n_references in [1, 5] {
                let found = |order: &dyn Fn(usize) -> usize| {
                    let texts = |row: usize| rows[start + row].1[..n_references].to_vec();
                    fit(n, |row| rows[start + order(row)].0, texts).mispairing
                };
                assert_eq!(found(&|row| row), None, "{system} {start} {n} {n_references}");
                if n >= 24 && n_references == 5 {
                    n_draws += 2;
                    n_found += usize::from(found(&|row| (row + 1) % n).is_some());
                    // A number that has no factor in common with any of these.
                    n_found += usize::from(found(&|row| (row * 53 + 5) % n).is_some());
                }
            }
        }
        assert!(100 * n_found > 90 * n_draws, "{system}: {n_found} of {n_draws}");
    }
}
