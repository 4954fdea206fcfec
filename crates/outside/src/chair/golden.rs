//! Compares our results for captions with those of NLTK and both programs of CHAIR in `testdata/chair`, which
//! `oracle/chair.py` wrote.

use std::collections::HashSet;

use capeval::choice::Code;
use capeval::corpus::{Captions, SegmentId};
use capeval::metric::{Resources, Step};
use capeval::text::tokenizers::treebank::{Rules, tokenize};
use capeval::{MetricOptions, OutsideMetrics, ScoreOptions, ScoreRequest};
use capeval_files::NltkData;
use serde_json::{Value, json};

use super::*;
use crate::Sources;
use crate::chair::words::{part_of_speech, singular};

fn folder(name: &str) -> String {
    format!("{}/../../testdata/chair/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../testdata/chair/golden.json")).unwrap()
}

fn data() -> NltkData {
    NltkData::new(Some(&folder("nltk_data")))
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// A reader with the tiny data and a list, which is read as the published one is.
fn reader(reduce: Reduce, objects: &str) -> Reader {
    let mut hash = Vec::new();
    Reader {
        punkt: punkt(&data(), &mut hash).unwrap(),
        reduction: reduction(reduce, &data(), &mut hash).unwrap(),
        objects: Objects::of(objects, true).unwrap(),
    }
}

const OBJECTS: &str = include_str!("../../../../testdata/chair/objects.txt");

#[test]
fn sentences_words_tags_and_lemmas_equal_those_of_nltk() {
    let lemmas = reader(Reduce::WordNet, OBJECTS);
    let Reduction::Lemma(tagger, wordnet) = &lemmas.reduction else { panic!() };
    let golden = golden();
    let captions = golden["captions"].as_array().unwrap();
    assert!(captions.len() >= 200);
    for row in captions {
        let caption = row["caption"].as_str().unwrap().to_lowercase();
        let sentences = lemmas.punkt.sentences(&caption);
        assert_eq!(sentences, list(&row["sentences"]), "{caption:?}");
        let tokens: Vec<String> =
            sentences.iter().flat_map(|sentence| tokenize(sentence, Rules::Nltk)).collect();
        assert_eq!(tokens, list(&row["tokens"]), "{caption:?}");
        let tags = tagger.tag(&tokens);
        assert_eq!(tags, list(&row["tags"]), "{caption:?}");
        let found: Vec<String> =
            tokens.iter().zip(tags).map(|(token, tag)| wordnet.lemma(token, part_of_speech(tag))).collect();
        assert_eq!(found, list(&row["lemmas"]), "{caption:?}");
        let found: Vec<String> = tokens.iter().map(|token| singular(token)).collect();
        assert_eq!(found, list(&row["singulars"]), "{caption:?}");
    }
}

#[test]
fn singulars_equal_those_of_pattern() {
    for (word, expected) in golden()["singulars"].as_object().unwrap() {
        assert_eq!(singular(word), expected.as_str().unwrap(), "{word}");
    }
}

#[test]
fn counts_equal_those_of_both_programs() {
    let golden = golden();
    let captions = golden["captions"].as_array().unwrap();
    for (reduce, words) in [(Reduce::WordNet, "wordnet"), (Reduce::Pattern, "pattern")] {
        let reader = reader(reduce, OBJECTS);
        for (image, row) in captions.iter().enumerate() {
            let read = reader.read(row["caption"].as_str().unwrap());
            let next = reader.read(captions[(image + 1) % captions.len()]["caption"].as_str().unwrap());
            let instances = list(&row["instances"]);
            let mut objects: HashSet<u16> =
                instances.iter().map(|name| reader.objects.find(name).unwrap()).collect();
            objects.extend(next.mentions.iter().map(|mention| mention.object));
            let row_of = metric::counts(&read, &objects).row();
            let expected: Vec<f64> =
                row["counts"][words].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
            assert_eq!(row_of.to_vec(), expected, "{words}: {}", row["caption"]);
        }
    }
}

fn mentioned(reader: &Reader, caption: &str) -> Vec<String> {
    let read = reader.read(caption);
    read.mentions.iter().map(|mention| reader.objects.name(mention.object).to_owned()).collect()
}

#[test]
fn a_single_bus_is_no_object_of_the_first_program() {
    let [pattern, wordnet] = [Reduce::Pattern, Reduce::WordNet].map(|reduce| reader(reduce, OBJECTS));
    assert_eq!(mentioned(&pattern, "a bus and two buses"), ["bus"]);
    assert_eq!(mentioned(&wordnet, "a bus"), ["bus"]);
}

#[test]
fn pairs_of_words_are_one_after_each_is_reduced() {
    let pattern = reader(Reduce::Pattern, OBJECTS);
    let read = pattern.read("a tennis racket");
    assert_eq!(read.mentions.iter().map(|mention| mention.word.as_str()).collect::<Vec<_>>(), ["racket"]);
    assert_eq!(mentioned(&pattern, "two wine glasses"), ["wine glass"]);
    assert_eq!(mentioned(&pattern, "a baby bear with a bow tie"), ["bear", "tie"]);
}

#[test]
fn where_there_is_a_toilet_a_seat_is_no_chair() {
    let pattern = reader(Reduce::Pattern, OBJECTS);
    assert_eq!(mentioned(&pattern, "a seat near a toilet"), ["toilet"]);
    assert_eq!(mentioned(&pattern, "a toilet seat"), ["toilet"]);
    assert_eq!(mentioned(&pattern, "a seat"), ["chair"]);
}

#[test]
fn words_with_a_space_too_many_and_capitals_never_match_in_the_published_list() {
    let pattern = reader(Reduce::Pattern, OBJECTS);
    assert!(mentioned(&pattern, "an iPhone and a cheesecake").is_empty());
    // In other lists they do, and names of three words, too.
    let own = Reader { objects: Objects::of(OBJECTS, false).unwrap(), ..pattern };
    assert_eq!(mentioned(&own, "an iPhone and a cheesecake"), ["cell phone", "cake"]);
    assert_eq!(mentioned(&own, "a stove top oven"), ["oven"]);
    assert_eq!(own.read("a stove top oven").mentions[0].n, 3);
}

#[test]
fn lists_and_instances_that_are_not_in_order_are_refused() {
    let said = |text: &str| Objects::read(text).unwrap_err().to_string();
    assert_eq!(said(" \n"), "there are no objects in it");
    assert_eq!(said("dog, pup\n,,\n"), "line 2: there is no object");
    assert_eq!(said("dog, pup\ncat, Pup\n"), "line 2: pup is a word for dog and for cat");
    let objects = Objects::read("dog, pup\ncat\n").unwrap();
    let said = |text: &str| Instances::default().add(text.as_bytes(), &objects).unwrap_err().to_string();
    assert!(said("[1]").starts_with("these are no instances (invalid type"), "{}", said("[1]"));
    assert!(
        said("{\"1\": [\"dog\", \"cow\"]}")
            .ends_with("image 1: the object \"cow\" is not in the list of objects")
    );
    let coco = |category: i64, name: &str| {
        json!({
            "annotations": [{"image_id": 1, "category_id": category, "segmentation": [[1.5]]}],
            "categories": [{"id": 3, "name": name}],
        })
        .to_string()
    };
    assert_eq!(said(&coco(3, "cow")), "the category \"cow\" is not in the list of objects");
    assert_eq!(said(&coco(4, "dog")), "an instance has the category 4, which the file does not name");
    let mut instances = Instances::default();
    instances.add(coco(3, "pup").as_bytes(), &objects).unwrap();
    instances.add(b"{\"1\": [\"cat\", \"Dog\"], \"x\": []}", &objects).unwrap();
    assert_eq!(instances.of(&SegmentId::from(1)), [0, 1]);
    assert_eq!(instances.n_images(), 2);
}

#[test]
fn scores_are_quotients_of_sums_and_explanations_add_up() {
    let folder_of = tempfile::tempdir().unwrap();
    let path = |name: &str| folder_of.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("objects.txt"), OBJECTS).unwrap();
    std::fs::write(path("instances.json"), "{\"1\": [\"dog\"], \"2\": [\"cat\", \"car\"]}").unwrap();
    let named = ObjectFiles {
        objects: Some(path("objects.txt")),
        instances: vec![path("instances.json")],
        nltk_data: Some(folder("nltk_data")),
    };
    let names = vec!["chair:words=pattern".to_owned()];
    let captions = |rows: &[(i64, &str)]| {
        let mut captions = Captions::new("captions");
        rows.iter().for_each(|(id, text)| captions.push(SegmentId::from(*id), text));
        captions
    };
    let chair = built(&names, &named).unwrap();
    let request = ScoreRequest {
        resources: Resources::default().with(Some(Arc::new(OutsideMetrics(chair)))),
        options: ScoreOptions {
            metrics: MetricOptions::new(names.clone()),
            segments: true,
            gallery: true,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(
            captions(&[(1, "a dog and a man"), (2, "nothing"), (3, "a bird")]),
            [("mine", captions(&[(1, "two dogs and a horse"), (2, "a puppy"), (3, "Green")]))],
        )
    };
    let report = capeval::score(request).unwrap();
    // Three mentions, of which a horse and a puppy are invented; of five objects a dog is mentioned.
    assert_eq!(report.systems[0].scores, [2.0 / 3.0, 2.0 / 3.0, 1.0 / 5.0, 8.0 / 3.0]);
    let segments = report.systems[0].segments.as_ref().unwrap();
    assert_eq!(segments.values[..4], [0.5, 1.0, 0.5, 5.0]);
    assert_eq!(segments.values[8..], [0.0, 0.0, 0.0, 1.0]);
    let signature = report.systems[0].signatures[0].to_string();
    assert!(signature.starts_with("chair|words:pattern|objects:"), "{signature}");
    let notice = report.head.notices.iter().find(|notice| notice.code == Code::Instances).unwrap();
    assert!(notice.message.starts_with("CHAIR knows no instances of 1 of 3 images"), "{}", notice.message);
    assert_eq!(notice.ids, [SegmentId::from(3)]);
    let chair = built(&names, &named).unwrap().remove(0);
    let id = SegmentId::from(1);
    let row = capeval::OutsideRow {
        system: None,
        image: Some(&id),
        candidate: "two dogs and a horse",
        rival: None,
        references: vec!["a dog and a man"],
        picture: None,
    };
    let explanation = chair.explain(&row).unwrap();
    explanation.scores.iter().for_each(|step| step.check(1e-12).unwrap());
    let notes: Vec<String> =
        explanation.scores.iter().flat_map(Step::all).filter_map(|step| step.note.clone()).collect();
    assert_eq!(notes, ["horse", "dog", "dog, person"]);
    let matched: Vec<&capeval::metric::Match> =
        explanation.scores.iter().flat_map(Step::all).flat_map(|step| &step.matches).collect();
    let found: Vec<_> =
        matched.iter().map(|one| (one.matcher, one.candidate.as_slice(), one.references.len())).collect();
    assert_eq!(found, [("invented object", &[4][..], 0), ("object", &[1][..], 1)]);
}

#[test]
fn all_references_are_read_however_many_there_are() {
    let folder_of = tempfile::tempdir().unwrap();
    let objects = folder_of.path().join("objects.txt").to_string_lossy().into_owned();
    std::fs::write(&objects, "dog\ncat\n").unwrap();
    let named =
        ObjectFiles { objects: Some(objects), instances: Vec::new(), nltk_data: Some(folder("nltk_data")) };
    let names = vec!["chair:words=pattern".to_owned()];
    let (mut references, mut candidates) = (Captions::new("references"), Captions::new("candidates"));
    // More texts than are read at once, all different.
    for id in 0..4_100_i64 {
        references.push(SegmentId::from(id), &format!("a dog at place {id}"));
        candidates.push(SegmentId::from(id), "a dog");
    }
    let resources = Resources::default().with(Some(Arc::new(OutsideMetrics(built(&names, &named).unwrap()))));
    let options = ScoreOptions { metrics: MetricOptions::new(names), ..ScoreOptions::default() };
    let request =
        ScoreRequest { resources, options, ..ScoreRequest::new(references, [("mine", candidates)]) };
    assert_eq!(capeval::score(request).unwrap().systems[0].scores, [0.0, 0.0, 1.0, 2.0]);
}

fn built(names: &[String], objects: &ObjectFiles) -> Result<Vec<Arc<dyn Outside>>, Error> {
    let sources = Sources { objects: objects.clone(), ..Sources::default() };
    sources.metrics(&MetricOptions::new(names))
}

#[test]
fn what_is_missing_is_told() {
    let said = |names: &[&str], named: ObjectFiles| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let error = built(&names, &named).err().unwrap();
        let remedy = error.remedy().map(|remedy| remedy.to_string());
        [error.to_string(), remedy.unwrap_or_default()].join(" / ")
    };
    let error = said(&["chair"], ObjectFiles::default());
    assert!(
        error.starts_with("chair: it counts the objects of a list, and none is named / set objects"),
        "{error}"
    );
    let error = said(&["bleu"], ObjectFiles { objects: Some("x".to_owned()), ..ObjectFiles::default() });
    assert!(error.starts_with("only chair takes objects, instances and data of NLTK"), "{error}");
    let objects = Some(folder("objects.txt"));
    let error = said(
        &["chair"],
        ObjectFiles { objects: objects.clone(), nltk_data: Some(folder("")), ..ObjectFiles::default() },
    );
    assert!(error.contains("tokenizers/punkt_tab of NLTK's data is not in"), "{error}");
    assert!(error.contains("python -m nltk.downloader punkt_tab"), "{error}");
    let named = ObjectFiles { objects, nltk_data: Some(folder("nltk_data")), ..ObjectFiles::default() };
    let error = said(&["chair:words=stems"], named);
    assert!(error.contains("stems"), "{error}");
}
