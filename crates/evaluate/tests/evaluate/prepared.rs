//! Prepared references score like fresh ones, and damaged files are refused.

use std::sync::Arc;

use capeval_corpus::SegmentId;
use capeval_evaluate::prepared::{PreparedReferences, Source};
use capeval_evaluate::{BatchScorer, ReferenceSet, System, evaluate, evaluate_and_keep, registry};
use capeval_metric::{
    About, AnyMetric, Input, Learns, Mean, Memo, Metric, Part, Reading, References, Resources, Segment,
    Signature,
};
use capeval_text::Tokenizer;

const METRICS: [&str; 6] = ["bleu", "rouge-l", "cider-d", "cider", "cider-d-paper", "cider-paper"];

fn references() -> ReferenceSet {
    let text = |i, r| format!("a {} dog{r} runs over 3 1/2 hill{} of café {}", i % 7, i % 3, i * r);
    let images: Vec<Vec<String>> = (0..40).map(|i| (0..i % 4).map(|r| text(i, r)).collect()).collect();
    images.iter().map(|texts| texts.iter().map(String::as_str)).collect()
}

fn prepared() -> PreparedReferences {
    let metrics: Vec<_> =
        METRICS.map(|name| registry::build(name, &[], &Resources::default()).unwrap()).into();
    let mut references = references();
    references.prepare(metrics.iter().map(AnyMetric::input));
    references.remember(&metrics, &());
    let ids = (0..40).map(|i| if i % 2 == 0 { SegmentId::Integer(i) } else { SegmentId::from("α.jpg") });
    let sources = vec![Source { path: "refs.json".into(), bytes: 7, modified: 0 }];
    PreparedReferences::new(ids.collect(), references, sources)
}

/// The inputs of the metrics.
fn inputs() -> Vec<Input> {
    METRICS.map(|name| registry::build(name, &[], &Resources::default()).unwrap().input()).into()
}

fn scores(references: &mut ReferenceSet, images: &[u32]) -> Vec<(String, Vec<u64>, Vec<u64>)> {
    let metrics: Vec<_> =
        METRICS.map(|name| registry::build(name, &[], &Resources::default()).unwrap()).into();
    let texts: Vec<String> =
        images.iter().map(|i| format!("a {i} dog runs over hill1 of new words")).collect();
    let texts = texts.iter().map(String::as_str).collect();
    let system = System { name: "s".into(), images: images.to_vec(), texts };
    evaluate(references, &[system], &metrics, &())
        .swap_remove(0)
        .metrics
        .into_iter()
        .map(|m| {
            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
            (m.signature.to_string(), bits(&m.corpus), bits(&m.segments()))
        })
        .collect()
}

/// Bytes that start at a multiple of 64, as those of a memory map do.
struct AlignedBytes(Vec<u8>, usize);

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0[self.1..]
    }
}

fn open(bytes: &[u8]) -> Result<PreparedReferences, capeval_arrays::Error> {
    let mut room = vec![0; bytes.len() + 64];
    let start = room.as_ptr().align_offset(64);
    room.truncate(start + bytes.len());
    room[start..].copy_from_slice(bytes);
    PreparedReferences::open(Arc::new(AlignedBytes(room, start)))
}

#[test]
fn prepared_references_score_like_fresh_ones() {
    let mut file = Vec::new();
    prepared().write(&mut file).unwrap();
    let again = open(&file).unwrap();
    assert_eq!(again.ids, prepared().ids);
    assert_eq!(again.sources, prepared().sources);
    assert_eq!((again.n_images(), again.n_references([1, 2, 30])), (40, 5));
    for images in [(0..40).collect::<Vec<u32>>(), vec![1, 2, 30], vec![7]] {
        assert_eq!(
            scores(&mut again.references_for(&inputs()).unwrap(), &images),
            scores(&mut references(), &images)
        );
    }
}

/// Scores depend on the stored numbers of images with an n-gram, and an explanation shows them.
#[test]
fn stored_counts_are_used_and_explained_as_if_they_had_been_counted() {
    let mut file = Vec::new();
    prepared().write(&mut file).unwrap();
    let again = open(&file).unwrap();
    let mut rewritten = Vec::new();
    again.write(&mut rewritten).unwrap();
    assert!(rewritten == file, "nothing is lost when an opened file is written");
    let metrics = [registry::build("cider-d", &[], &Resources::default()).unwrap()];
    let input = metrics[0].input();
    let explained = |mut references: ReferenceSet| {
        let texts: Vec<&str> = (0..40).map(|_| "a 2 dog1 runs over 3 hill1 of café 7").collect();
        let system =
            System { name: "s".into(), images: (0..40).collect(), texts: texts.into_iter().collect() };
        let systems = [system];
        let (scores, sessions) = evaluate_and_keep(&mut references, &systems, &metrics, &());
        let explained =
            sessions.explain(&references, &systems, &[7], |explanation| format!("{explanation:?}"));
        (scores[0].metrics[0].segments(), explained)
    };
    let counted = explained(references());
    assert_eq!(explained(again.references_for(&[input]).unwrap()), counted);
    // What matches is in the references of one image at least, though tables do not list those of one.
    let facts = format!("{counted:?}");
    let shown = |n: f64| facts.contains(&format!(r#"images with it\", value: {n:?}"#));
    assert!(shown(1.0) && !shown(0.0), "{facts}");
    let mut references = again.references_for(&[input]).unwrap();
    let table = |set: &mut ReferenceSet| {
        let table = set.document_frequencies(input.reading, 4).unwrap();
        (table.fingerprint(), table.n_images())
    };
    assert_eq!(table(&mut references), table(&mut self::references()), "tables list n-grams of one image");
}

#[test]
fn the_references_of_some_images_score_like_fresh_ones() {
    let mut file = Vec::new();
    prepared().write(&mut file).unwrap();
    let again = open(&file).unwrap();
    let inputs = inputs();
    for images in [vec![], vec![0], vec![1, 2, 3, 7, 30], vec![39], (21..40).collect::<Vec<u32>>()] {
        let mut some = again.references_of(&images, &inputs).unwrap().unwrap();
        let places: Vec<u32> = (0..images.len() as u32).collect();
        let all = references();
        let mut fresh: ReferenceSet = images.iter().map(|image| all.of(*image as usize)).collect();
        assert_eq!(scores(&mut some, &places), scores(&mut fresh, &places), "{images:?}");
    }
    assert!(again.references_of(&(0..40).collect::<Vec<u32>>(), &inputs).unwrap().is_none());
}

/// The text that follows a caption decides whether a single letter at its end keeps its full stop.
#[test]
fn the_references_of_some_images_are_read_as_if_there_were_no_others() {
    let texts = ["a shirt with a t.", "The b t.", "c t.", "dogs", "cats", "mice", "birds", "bees"];
    let read = |images: &[usize]| {
        let mut references: ReferenceSet = images.iter().map(|image| [texts[*image]]).collect();
        let rouge = registry::build("rouge-l", &[], &Resources::default()).unwrap();
        references.prepare([rouge.input()]);
        (references, rouge)
    };
    let (all, rouge) = read(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let ids = (0..8).map(SegmentId::Integer).collect();
    let mut file = Vec::new();
    PreparedReferences::new(ids, all, Vec::new()).write(&mut file).unwrap();
    let stored = open(&file).unwrap();
    let score = |mut references: ReferenceSet| {
        let n = references.n_images() as u32;
        let candidates = (0..n).map(|_| "b t c a t").collect();
        let system = System { name: "s".into(), images: (0..n).collect(), texts: candidates };
        evaluate(&mut references, &[system], std::slice::from_ref(&rouge), &())[0].metrics[0].segments()
    };
    for images in [vec![0, 1], vec![0, 2], vec![0, 3], vec![1, 2], vec![1, 3, 7], vec![2]] {
        let numbers: Vec<u32> = images.iter().map(|image| *image as u32).collect();
        let some = stored.references_of(&numbers, &[rouge.input()]).unwrap().unwrap();
        assert_eq!(score(some), score(read(&images).0), "{images:?}");
    }
}

#[test]
fn equal_references_give_equal_files() {
    let write = || {
        let mut file = Vec::new();
        prepared().write(&mut file).unwrap();
        file
    };
    assert!(write() == write());
}

#[test]
fn damaged_files_are_refused() {
    let mut file = Vec::new();
    prepared().write(&mut file).unwrap();
    for length in (0..file.len()).step_by(97) {
        assert!(open(&file[..length]).is_err(), "cut to {length} bytes");
    }
    let inputs = inputs();
    for at in (64..file.len()).step_by(193) {
        let mut bad = file.clone();
        bad[at] ^= 0x10;
        let used = open(&bad).and_then(|prepared| {
            let some = prepared.references_of(&[1, 3], &inputs).map(drop);
            assert_eq!(
                some.is_err(),
                prepared.references_for(&inputs).is_err(),
                "the file is a single piece"
            );
            some
        });
        assert!(used.is_err(), "byte {at}");
    }
}

#[test]
fn a_wrong_structure_under_a_right_checksum_does_not_panic() {
    let mut file = Vec::new();
    prepared().write(&mut file).unwrap();
    let mut state = 7u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let (mut opened, inputs) = (0, inputs());
    for _ in 0..4_000 {
        let mut bad = file.clone();
        for _ in 0..1 + next() % 3 {
            let at = next() % bad.len();
            bad[at] = [0, 1, 0xff, next() as u8][next() % 4];
        }
        assert!(capeval_arrays::reseal(&mut bad));
        let Ok(again) = open(&bad) else { continue };
        let some = again.references_of(&[1, 3, 30], &inputs).ok().flatten();
        for mut references in some.into_iter().chain(again.references_for(&inputs).ok()) {
            opened += 1;
            let images: Vec<u32> = (0..references.n_images() as u32).collect();
            let _ = scores(&mut references, &images);
        }
    }
    assert!(opened > 0, "some changes, in texts or padding, do no harm");
}

/// Counts the letters of references that are shorter, or not shorter, than a number, and remembers the counts.
struct Letters(std::ops::Range<usize>);

impl Metric for Letters {
    type Model = u8;
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let input = Input::new(Reading::Tokens(Tokenizer::Ptb));
        let part = Part::score("letters", "letters", 0.0..=f64::INFINITY);
        About::new(Signature::new("letters"), input, Mean::columns(), vec![part]).learns(Learns::Words)
    }

    fn fit(&self, _: &References<'_>) -> u8 {
        0
    }

    fn remember(&self, references: &References<'_>, advance: &(dyn Fn(usize) + Sync)) -> Option<Memo> {
        let texts = (0..references.texts.len()).map(|k| references.texts.get(k));
        let texts = texts.filter(|text| self.0.contains(&text.len()));
        let notes = texts.map(|text| (text.to_owned(), text.len().to_string())).collect();
        advance(references.texts.len());
        Some(Memo::new("letters".to_owned(), &notes))
    }

    fn measure(&self, _: &u8, segment: &Segment<'_>, (): &mut ()) -> Mean {
        let memo = segment.references.memo("letters");
        let known = segment.reference_texts().filter_map(|text| memo?.get(text)?.parse::<f64>().ok());
        Mean::of(known.sum())
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values.fill(stats.value());
    }
}

#[test]
fn what_metrics_remember_of_references_is_stored_with_them() {
    let letters = [AnyMetric::new(Letters(0..20)), AnyMetric::new(Letters(20..usize::MAX))];
    let count = |mut references: ReferenceSet| {
        let texts = ["a", "b"].into_iter().collect();
        let system = System { name: "s".into(), images: vec![2, 5], texts };
        evaluate(&mut references, &[system], &letters, &())[0].metrics[0].segments()
    };
    let mut references = prepared().references().unwrap();
    assert_eq!(count(references.clone()), [0.0, 0.0]);
    references.prepare([letters[0].input()]);
    references.remember(&letters, &());
    let expected: Vec<f64> =
        [2, 5].map(|image| references.of(image).map(|text| text.len() as f64).sum()).to_vec();
    let mut bytes = Vec::new();
    PreparedReferences::new(prepared().ids, references, Vec::new()).write(&mut bytes).unwrap();
    let references = open(&bytes).unwrap().references().unwrap();
    assert_eq!(count(references.clone()), expected, "the notes of both metrics, which have one name");
    let batches = BatchScorer::new(references, letters.to_vec(), [].into_iter(), &());
    let scores = batches.score(&[2, 5], &["a", "b"].into_iter().collect());
    let first: Vec<f64> = scores.values.chunks(scores.n_parts).map(|values| values[0]).collect();
    assert_eq!(first, expected, "batches read the notes as well");
}
