//! Ids in lines, families of columns, and marks of records: what is one, and what must not be taken for one.

use std::collections::BTreeMap;

use capeval_corpus::{
    Captions, Error, ErrorKind, GroupedCaptions, Ids, Notice, Opposite, Policy, ReadOptions, agree, align,
    read_bytes,
};
use proptest::prelude::*;

/// The caption and two references of some images.
const IMAGES: [(&str, &str, &str); 10] = [
    ("a man riding a wave on a surfboard", "a surfer rides a large wave", "a man on a board, riding a wave"),
    (
        "two dogs playing with a frisbee",
        "two dogs run after a frisbee",
        "dogs chasing a frisbee on the grass",
    ),
    ("a red bus parked on a street", "a red bus is parked beside the road", "a bus on the side of a street"),
    ("a kitchen with a white stove", "a small kitchen, cabinets and a stove", "the kitchen has a white oven"),
    ("a woman holding an umbrella", "a woman walks with a black umbrella", "a lady holding an umbrella"),
    ("a plate of food with rice", "a plate with rice, broccoli and chicken", "food on a white plate"),
    (
        "people flying kites on the beach",
        "many people fly kites at the beach",
        "a crowd with kites in the sky",
    ),
    ("a cat sleeping on a laptop", "a cat is sleeping on a laptop", "a gray cat on the keyboard"),
    ("a young boy swinging a bat", "a little boy swings a bat", "a child is hitting a ball"),
    ("a train near a station", "a train pulls into the station", "a passenger train on railroad tracks"),
];

const IDS: [u32; 10] =
    [391_895, 60_623, 483_108, 384_213, 386_164, 223_648, 403_385, 294_832, 462_565, 436_141];

/// An order of candidates that is not that of the references.
const ORDER: [usize; 10] = [3, 8, 6, 0, 9, 1, 7, 2, 5, 4];

/// Lines of references, two of each image, and of candidates in another order.
fn lines(line: impl Fn(usize, &str) -> String) -> [String; 2] {
    let of_image = |k: usize| line(k, IMAGES[k].1) + "\n" + &line(k, IMAGES[k].2);
    let references = (0..10).map(of_image).collect::<Vec<_>>().join("\n");
    [references, ORDER.map(|k| line(k, IMAGES[k].0)).join("\n")]
}

/// The captions of both sides, once each has told the other's.
fn read(references: &str, candidates: &str) -> Result<(Captions, Captions, Vec<Notice>), Error> {
    let of = |text: &str, name: &str, options: ReadOptions| read_bytes(text.as_bytes(), name, &options);
    let mut references = of(references, "r.txt", ReadOptions::references())?;
    let mut systems = vec![("h".to_owned(), of(candidates, "h.txt", ReadOptions::candidates())?)];
    let notices = agree(Opposite::Captions(&mut references), &mut systems, Ids::AsGiven)?;
    Ok((references, systems.remove(0).1, notices))
}

/// The references of each candidate, after alignment.
fn pairs(references: &str, candidates: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let (references, candidates, _) = read(references, candidates)?;
    let grouped = GroupedCaptions::new(references, Ids::AsGiven)?;
    let aligned = align(grouped.index(), &candidates, &Policy::default())?;
    let of_pair = |pair: &capeval_corpus::Pair| {
        let rows = grouped.rows(pair.image as usize);
        let texts = rows.iter().map(|row| grouped.captions().text(*row as usize).to_owned()).collect();
        Some((candidates.text(pair.candidate? as usize).to_owned(), texts))
    };
    Ok(aligned.pairs.iter().filter_map(of_pair).collect())
}

/// What is right.
fn meant() -> BTreeMap<String, Vec<String>> {
    IMAGES
        .iter()
        .map(|(caption, a, b)| ((*caption).to_owned(), vec![(*a).to_owned(), (*b).to_owned()]))
        .collect()
}

#[test]
fn ids_before_captions_are_read_whatever_parts_them() {
    for separator in [
        "\t", " ", "  ", "\u{a0}", "\u{3000}", ",", ", ", "|", " | ", "|||", ";", ":", ": ", "::", "@@",
        "\u{1}", " - ", " => ",
    ] {
        for form in ["N", "\"N\"", "[N]", "N.jpg", "val/N.png", "000N", "v_N-a"] {
            let line = |k: usize, text: &str| form.replace('N', &IDS[k].to_string()) + separator + text;
            let [references, candidates] = lines(line);
            let pairs = pairs(&references, &candidates)
                .unwrap_or_else(|error| panic!("{form:?} {separator:?}: {error}"));
            assert_eq!(pairs, meant(), "{form:?} {separator:?}");
        }
    }
}

#[test]
fn ids_behind_captions_are_read() {
    for form in [
        "T | N",
        "T|N",
        "T,N.jpg",
        "T, N",
        "T;N",
        "T (N)",
        "T (utt_N)",
        "T [N]",
        "T N",
        "T img_N",
        "T\tN",
        "T|||N",
    ] {
        let [references, candidates] =
            lines(|k, text| form.replace('T', text).replace('N', &IDS[k].to_string()));
        let pairs = pairs(&references, &candidates).unwrap_or_else(|error| panic!("{form:?}: {error}"));
        assert_eq!(pairs, meant(), "{form:?}");
    }
}

#[test]
fn short_numbers_are_ids_if_both_sides_have_the_same() {
    for first in [0, 1, 17] {
        for form in ["N T", "N. T", "(N) T", "N, T", "N: T", "T (N)", "T | N", "N|T"] {
            let [references, candidates] =
                lines(|k, text| form.replace('T', text).replace('N', &(first + 3 * k).to_string()));
            assert_eq!(pairs(&references, &candidates).unwrap(), meant(), "{form:?} {first}");
        }
    }
}

#[test]
fn fields_of_runs_beside_ids_are_no_words() {
    let [references, candidates] = lines(|k, text| format!("{} 0 {text} 0.{}", IDS[k], k + 11));
    assert_eq!(pairs(&references, &candidates).unwrap(), meant());
    let [references, candidates] = lines(|k, text| format!("0 {} {text}", IDS[k]));
    assert_eq!(pairs(&references, &candidates).unwrap(), meant());
    let [references, candidates] = lines(|k, text| format!("Q0 img_{} {text}", IDS[k]));
    assert_eq!(pairs(&references, &candidates).unwrap(), meant());
}

#[test]
fn numbers_of_a_log_are_those_of_plain_lines() {
    let references = IMAGES.map(|(_, text, _)| text).join("\n");
    let first = |pairs: BTreeMap<String, Vec<String>>| {
        pairs.into_iter().map(|(caption, texts)| (caption, texts[0].clone()))
    };
    let meant: Vec<(String, String)> = first(meant()).collect();
    for form in ["H-N\t-0.52\tT", "H-N\tT", "N. T", "N\tT", "T (N)", "N T"] {
        for start in [0, 1] {
            let candidates =
                ORDER.map(|k| form.replace('T', IMAGES[k].0).replace('N', &(k + start).to_string()));
            let pairs = pairs(&references, &candidates.join("\n"));
            let pairs: Vec<_> =
                first(pairs.unwrap_or_else(|error| panic!("{form:?} {start}: {error}"))).collect();
            assert_eq!(pairs, meant, "{form:?} {start}");
        }
    }
}

/// Captions that begin or end with what is no id.
#[test]
fn captions_that_begin_with_numbers_stay_whole() {
    for (references, candidates) in [
        ("a few dogs run\nsome men sit", "2 dogs run\n3 men sit"),
        ("a few dogs run\nsome men sit\na cat sleeps", "2 dogs run\n3 men sit\n1 cat sleeps"),
        ("2 dogs are running\n3 men are sitting", "2 dogs run\n3 men sit"),
        (
            "2 dogs run\n2 cats sit\n3 men walk\n2 boats sail\n4 kids play",
            "2 dogs\n2 cats\n3 men\n2 boats\n4 kids",
        ),
        ("10,000 people march\n20,000 birds fly", "10,000 people walk\n20,000 birds sit"),
        ("10:30 on a clock\n11:45 on a clock", "10:30 it shows\n11:45 it shows"),
        ("1950 ford parked\n1967 mustang parked", "1950 ford\n1967 mustang"),
        ("a man in 2019\na dog in 2020", "one man in 2019\none dog in 2020"),
        ("well lit room\nt shirt on a bed", "well-lit room\nt-shirt on a bed"),
    ] {
        let (read_references, read_candidates, _) = read(references, candidates).unwrap();
        let texts =
            |captions: &Captions| captions.iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(texts(&read_references).join("\n"), references);
        assert_eq!(texts(&read_candidates).join("\n"), candidates);
    }
}

/// Ids that the other side does not have are told, and lines are not paired with as many others.
#[test]
fn ids_that_are_read_as_words_are_told() {
    let [references, candidates] = lines(|k, text| format!("{} {text}", IDS[k]));
    let plain = IMAGES.map(|(caption, ..)| caption).join("\n");
    let error = read(&references, &plain).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Id);
    assert!(error.to_string().contains("what may be an id (\"391895\")"), "{error}");
    let (_, read_candidates, notices) = read(&plain, &candidates).unwrap();
    assert_eq!(read_candidates.text(0), "384213 a kitchen with a white stove");
    assert!(notices.iter().any(|notice| notice.message.contains("counts as a word")), "{notices:?}");
    let (.., notices) = read("2 dogs are running\n3 men are sitting", "2 dogs run\n3 men sit").unwrap();
    assert!(notices.iter().any(|notice| notice.message.contains("counts as a word")), "{notices:?}");
    let (.., notices) = read("a few dogs run\nsome men sit", "2 dogs run\n3 men sit").unwrap();
    assert_eq!(notices, []);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// The order of lines does not matter where both sides have ids.
    #[test]
    fn any_order_of_lines_gives_the_same_pairs(
        order in Just((0..10).collect::<Vec<usize>>()).prop_shuffle(),
        form in prop::sample::select(vec!["N T", "N,T", "T (N)", "T | N", "N: T", "N|T", "T,N"]),
        scale in 1_usize..90_000,
        first in 0_usize..2,
    ) {
        let line = |k: usize, text: &str| form.replace('T', text).replace('N', &(first + k * scale).to_string());
        let [references, _] = lines(line);
        let candidates = order.iter().map(|k| line(*k, IMAGES[*k].0)).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(pairs(&references, &candidates).unwrap(), meant());
    }
}

/// The texts and the messages of references in a file.
fn references(text: &str, name: &str) -> (Vec<String>, String) {
    let captions = read_bytes(text.as_bytes(), name, &ReadOptions::references()).unwrap();
    let texts = captions.iter().map(|(_, text)| text.to_owned()).collect();
    let messages: Vec<&str> = captions.notices().iter().map(|notice| &*notice.message).collect();
    (texts, messages.join("; "))
}

/// A table of references in two columns.
fn table(one: &str, other: &str) -> String {
    let row = |k: usize| format!("{},\"{}\",\"{}\"", IDS[k], IMAGES[k].1, IMAGES[k].2);
    format!("image_id,{one},{other}\n{}", (0..10).map(row).collect::<Vec<_>>().join("\n"))
}

#[test]
fn references_in_columns_of_one_family_are_all_read() {
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    let meant = || sorted(IMAGES.iter().flat_map(|(_, a, b)| [(*a).to_owned(), (*b).to_owned()]).collect());
    for (one, other) in [
        ("caption", "caption.1"),
        ("caption", "caption_b"),
        ("caption", "caption 2"),
        ("caption_x", "caption_y"),
        ("text", "text.1"),
        ("sentence", "sentence_2"),
        ("raw", "raw.1"),
        ("Reference", "Reference.1"),
        ("en", "en.1"),
    ] {
        let (texts, messages) = references(&table(one, other), "r.csv");
        assert_eq!((sorted(texts), messages.as_str()), (meant(), ""), "{one}, {other}");
    }
    for (one, other) in
        [("caption", "captions"), ("reference", "references"), ("text", "texts"), ("sentence", "sentences")]
    {
        let object = |k: usize| {
            let (_, a, b) = IMAGES[k];
            format!(r#"{{"image_id": {}, "{one}": "{a}", "{other}": ["{b}"]}}"#, IDS[k])
        };
        let (texts, _) =
            references(&format!("[{}]", (0..10).map(object).collect::<Vec<_>>().join(", ")), "r.json");
        assert_eq!(sorted(texts), meant(), "{one}, {other}");
        // A list that has the single one as well is read alone.
        let object = |k: usize| {
            let (_, a, b) = IMAGES[k];
            format!(r#"{{"image_id": {}, "{one}": "{a}", "{other}": ["{a}", "{b}"]}}"#, IDS[k])
        };
        let (texts, _) =
            references(&format!("[{}]", (0..10).map(object).collect::<Vec<_>>().join(", ")), "r.json");
        assert_eq!(sorted(texts), meant(), "{one} within {other}");
    }
}

#[test]
fn references_in_lists_without_names_are_all_read() {
    let row = |k: usize| format!("[{}, {:?}, {:?}]", IDS[k], IMAGES[k].1, IMAGES[k].2);
    let (texts, _) = references(&format!("[{}]", (0..10).map(row).collect::<Vec<_>>().join(", ")), "r.json");
    assert_eq!(texts.len(), 20);
}

#[test]
fn columns_that_may_hold_references_are_told() {
    for (one, other) in [
        ("caption", "paraphrase"),
        ("caption", "extra_caption"),
        ("references", "more_references"),
        ("caption", "spoken"),
    ] {
        let (texts, messages) = references(&table(one, other), "r.csv");
        assert_eq!(texts.len(), 10, "{one}, {other}");
        assert!(
            messages.contains(&format!("{other:?} could hold references as well")),
            "{one}, {other}: {messages}"
        );
    }
    let texts = IMAGES.map(|(caption, ..)| caption);
    let candidates =
        texts.iter().zip(IDS).map(|(text, id)| format!("{id}\t{text}")).collect::<Vec<_>>().join("\n");
    let open = table("human_caption", "second_caption");
    let mut ground = read_bytes(open.as_bytes(), "r.csv", &ReadOptions::references()).unwrap();
    let system = read_bytes(candidates.as_bytes(), "h.txt", &ReadOptions::candidates()).unwrap();
    agree(Opposite::Captions(&mut ground), &mut [("h".to_owned(), system)], Ids::AsGiven).unwrap();
    let is_told =
        |notice: &Notice| notice.message.contains("\"second_caption\" could hold references as well");
    assert!(ground.notices().iter().any(is_told), "{:?}", ground.notices());
    for other in ["prediction", "model_output"] {
        let (_, messages) = references(&table("caption", other), "r.csv");
        assert_eq!(messages, "", "{other}");
    }
    let text = "image_id,caption,license,caption_length\n1,a dog runs,CC BY 4.0,3\n2,a cat sits,CC BY 4.0,3\n3,a bird,CC BY 4.0,2";
    assert_eq!(references(text, "r.csv").1, "");
}

#[test]
fn several_columns_without_another_side_are_refused() {
    let row = |k: usize| format!("{},{},the {}", IDS[k], IMAGES[k].0, IMAGES[k].0);
    let text = format!("image_id,blip,git\n{}", (0..10).map(row).collect::<Vec<_>>().join("\n"));
    for options in [ReadOptions::references(), ReadOptions::candidates()] {
        let captions = read_bytes(text.as_bytes(), "c.csv", &options).unwrap();
        let message = "several columns could hold captions: \"blip\", \"git\"";
        let error = GroupedCaptions::new(captions.clone(), Ids::AsGiven).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let error = capeval_corpus::refuse_open(&captions).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        let named = ReadOptions { caption_columns: Some(vec!["git".to_owned()]), ..options };
        let captions = read_bytes(text.as_bytes(), "c.csv", &named).unwrap();
        assert!(GroupedCaptions::new(captions, Ids::AsGiven).is_ok());
    }
}

/// Records of two images, of which one is marked.
fn marked(key: &str, no: &str, yes: &str) -> [String; 2] {
    let values = [no, no, no, no, no, yes];
    let object = |(k, value): (usize, &&str)| {
        format!(r#"{{"image_id": {}, "caption": "{}", "{key}": {value}}}"#, k % 3, IMAGES[k].1)
    };
    let objects: Vec<String> = values.iter().enumerate().map(object).collect();
    let list = objects.join(", ");
    [
        format!("[{list}]"),
        format!(r#"{{"images": [{{"id": 0}}, {{"id": 1}}, {{"id": 2}}], "annotations": [{list}]}}"#),
    ]
}

#[test]
fn marks_are_read_however_they_are_written() {
    for key in ["is_rejected", "Rejected", "reject", "exclude", "is_spam", "wasCancelled"] {
        for (no, yes) in [
            ("false", "true"),
            ("0", "1"),
            ("\"False\"", "\"True\""),
            ("\"n\"", "\"y\""),
            ("\"no\"", "\"Yes\""),
            ("\"0\"", "\"1\""),
        ] {
            for text in marked(key, no, yes) {
                let (texts, messages) = references(&text, "r.json");
                assert_eq!(texts.len(), 5, "{key} {yes}: {text}");
                assert!(
                    messages.contains(&format!("1 caption of r.json is marked as unusable by {key}")),
                    "{messages}"
                );
            }
        }
    }
}

#[test]
fn columns_of_truths_by_which_few_records_stand_apart_are_told() {
    for (key, no, yes, value) in [
        ("valid", "true", "false", "false"),
        ("is_valid", "1", "0", "0"),
        ("accepted", "true", "false", "false"),
        ("approved", "\"yes\"", "\"no\"", "no"),
        ("hidden", "false", "true", "true"),
        ("flagged", "0", "1", "1"),
        ("qc", "\"True\"", "\"False\"", "False"),
    ] {
        for text in marked(key, no, yes) {
            let (texts, messages) = references(&text, "r.json");
            assert_eq!(texts.len(), 6, "{key}");
            let expected = format!("{key:?} is {value} for 1 of 6 records of r.json");
            assert!(messages.contains(&expected), "{key}: {messages:?} {text}");
            let drop = vec![format!("{key}={value}")];
            let options = ReadOptions { drop, ..ReadOptions::references() };
            let captions = read_bytes(text.as_bytes(), "r.json", &options).unwrap();
            assert_eq!(captions.len(), 5, "{key}: {text}");
        }
    }
    // All have the same, or half of them; what is no truth; and scores.
    for (no, yes) in [("true", "true"), ("\"a\"", "\"b\""), ("1", "2"), ("null", "true")] {
        for text in marked("valid", no, yes) {
            assert_eq!(references(&text, "r.json").1, "", "{no} {yes}");
        }
    }
}

#[test]
fn a_comma_in_a_row_is_at_fault_where_there_is_no_header() {
    let row = |k: usize| format!("{},{}", IDS[k], IMAGES[k].1);
    let text = (0..10).map(row).collect::<Vec<_>>().join("\n");
    let error = read_bytes(text.as_bytes(), "r.csv", &ReadOptions::references()).unwrap_err().to_string();
    assert!(error.contains("this row has 3 fields"), "{error}");
    // A table with a header of unknown names is at fault for its names.
    let text = "number,length\n1,2\n3,4";
    let error = read_bytes(text.as_bytes(), "r.csv", &ReadOptions::references()).unwrap_err().to_string();
    assert!(error.contains("column"), "{error}");
}

#[test]
fn ids_in_any_frame_pair_lines() {
    let letter = |k: usize| char::from(b'a' + k as u8);
    type Frame<'f> = &'f dyn Fn(usize, &str) -> String;
    let frames: &[Frame<'_>] = &[
        &|k, text| format!("{}:\n    {text}", IDS[k]),
        &|k, text| format!(">{}\n{text}", IDS[k]),
        &|k, text| format!("[{}]\n{text}", IDS[k]),
        &|k, text| format!("Reading photo_{}.png ...\nText: {text}", IDS[k]),
        &|k, text| format!("item {{\n  id: {}\n  text: \"{text}\"\n}}", IDS[k]),
        &|k, text| format!("{}) {text}", letter(k)),
        &|k, text| format!("図{}：{text}", k + 1),
        &|k, text| format!("the photos/no {}.png {text}", IDS[k]),
        &|k, text| format!("INSERT INTO c VALUES ({}, '{text}');", IDS[k]),
        &|k, text| format!("{{image: {}, text: '{text}'}},", IDS[k]),
        &|k, text| format!("level=info image={} caption=\"{text}\"", IDS[k]),
    ];
    for (number, frame) in frames.iter().enumerate() {
        let join = |lines: Vec<String>| lines.join("\n");
        let references = join((0..10).map(|k| frame(k, IMAGES[k].1)).collect());
        let candidates = join(ORDER.map(|k| frame(k, IMAGES[k].0)).to_vec());
        let (references, candidates, _) = read(&references, &candidates).unwrap();
        for (row, k) in ORDER.into_iter().enumerate() {
            let (id, text) = candidates.get(row).unwrap();
            let of_image = references.iter().find(|(other, _)| *other == id).map(|(_, text)| text);
            assert_eq!((text, of_image), (IMAGES[k].0, Some(IMAGES[k].1)), "{number}");
        }
    }
}

#[test]
fn ids_in_two_spellings_are_refused_with_the_option_that_works() {
    let references: Vec<String> =
        (0..10).map(|k| format!("COCO_val2014_{:012}.jpg {}", IDS[k], IMAGES[k].1)).collect();
    let candidates: Vec<String> = ORDER.map(|k| format!("{} {}", IDS[k], IMAGES[k].0)).to_vec();
    let error = read(&references.join("\n"), &candidates.join("\n")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MixedIds, "{error}");
    assert!(error.to_string().contains("written in another way"), "{error}");
    // Numbers that are no ids stay words.
    let references: Vec<String> = (0..10).map(|k| format!("IMG_{k:04}.jpg {}", IMAGES[k].1)).collect();
    let candidates: Vec<String> = ORDER.map(|k| format!("{} dogs and {}", k + 2, IMAGES[k].0)).to_vec();
    assert!(read(&references.join("\n"), &candidates.join("\n")).is_ok());
}
