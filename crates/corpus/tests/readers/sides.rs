//! What both sides together tell of a file: labels of data frames, ids behind unusual signs, references that are
//! joined, kinds of references, and lines without a like.

use std::fmt::Write;

use capeval_corpus::{
    Captions, Error, ExtraLines, GroupedCaptions, Ids, Notice, Opposite, Policy, ReadOptions, agree, align,
    both_sides, read_bytes,
};

/// Captions and references of images, whose numbers from 1 are their ids.
const IMAGES: [(&str, &str, &str); 8] = [
    ("a man riding a wave on a surfboard", "a surfer rides a large wave", "a man on a board, riding a wave"),
    (
        "two dogs playing with a frisbee",
        "two dogs run after a frisbee",
        "dogs chasing a frisbee on the grass",
    ),
    ("a red bus parked on a street", "a red bus is parked beside the road", "a bus on the side of a street"),
    ("a kitchen with a white stove", "a small kitchen with a stove", "the kitchen has a white oven"),
    ("a woman holding an umbrella", "a woman walks with a black umbrella", "a lady holding an umbrella"),
    ("a plate of food with rice", "a plate with rice and chicken", "food on a white plate"),
    ("people flying kites on a beach", "many people fly kites at the beach", "a crowd with kites in the sky"),
    ("a cat sleeping on a laptop", "a cat is sleeping on a laptop", "a gray cat on the keyboard"),
];

/// An order of candidates that is not that of the references.
const ORDER: [usize; 8] = [3, 6, 0, 7, 1, 2, 5, 4];

fn references() -> String {
    let lists: Vec<String> =
        (0..8).map(|k| format!("\"{}\": [{:?}, {:?}]", k + 1, IMAGES[k].1, IMAGES[k].2)).collect();
    format!("{{{}}}", lists.join(", "))
}

fn candidates(of: impl Fn(usize, &str) -> String, separator: &str) -> String {
    ORDER.map(|k| of(k, IMAGES[k].0)).join(separator)
}

/// Both sides, and all that is said.
fn read(references: &str, (name, text): (&str, &str)) -> Result<(GroupedCaptions, Captions, String), Error> {
    let options = ReadOptions::references();
    let mut ground = read_bytes(references.as_bytes(), "refs", &options)?;
    let mine = read_bytes(text.as_bytes(), name, &ReadOptions::candidates())?;
    let mut systems = vec![("mine".to_owned(), mine)];
    let notices = agree(Opposite::Captions(&mut ground), &mut systems, Ids::AsGiven)?;
    let mine = systems.remove(0).1;
    let all = notices.iter().chain(ground.notices()).chain(mine.notices());
    let said = all.fold(String::new(), |mut said, notice: &Notice| {
        let _ = writeln!(
            said,
            "{}; {}",
            notice.message,
            notice.remedy.as_ref().map_or_else(String::new, ToString::to_string)
        );
        said
    });
    Ok((GroupedCaptions::new(ground, Ids::AsGiven)?, mine, said))
}

/// The number of captions that went to their own image.
fn right(references: &str, file: (&str, &str)) -> Result<usize, Error> {
    let (ground, mine, _) = read(references, file)?;
    let aligned = align(ground.index(), &mine, &Policy::default())?;
    let is_right = |pair: &&capeval_corpus::Pair| {
        let caption = pair.candidate.map_or("", |row| mine.text(row as usize));
        let own = IMAGES.iter().find(|(text, ..)| *text == caption).map(|(_, own, _)| *own);
        ground.texts(pair.image as usize).next() == own
    };
    Ok(aligned.pairs.iter().filter(is_right).count())
}

#[test]
fn labels_of_data_frames_are_ids() {
    let index = ORDER.map(|k| (k + 1).to_string()).join(", ");
    let data = candidates(|_, text| format!("[{text:?}]"), ", ");
    let values = candidates(|_, text| format!("{text:?}"), ", ");
    let columns = r#""columns": ["caption"]"#;
    for frame in [
        format!(r#"{{{columns}, "index": [{index}], "data": [{data}]}}"#),
        format!(
            r#"{{"index": [{index}], {columns}, "data": [{data}], "index_names": [null], "column_names": [null]}}"#
        ),
        format!(r#"{{"index": [{index}], {columns}, "data": [{data}], "index_names": ["image_id"]}}"#),
        format!(r#"{{"name": "caption", "index": [{index}], "data": [{values}]}}"#),
        format!(r#"{{"name": null, "index": [{index}], "data": [{values}]}}"#),
    ] {
        assert_eq!(right(&references(), ("mine.json", &frame)).unwrap(), 8, "{frame}");
    }
    // Labels that count the rows are ids where the other side has the same, and nothing otherwise.
    let counted = format!(r#"{{{columns}, "index": [0, 1, 2, 3, 4, 5, 6, 7], "data": [{data}]}}"#);
    let of_rows = |k: usize| format!("\"{k}\": [{:?}]", IMAGES[ORDER[k]].1);
    let same = [5, 3, 0, 1, 2, 4, 7, 6].map(of_rows).join(", ");
    assert_eq!(right(&format!("{{{same}}}"), ("mine.json", &counted)).unwrap(), 8);
    let lines = ORDER.map(|k| IMAGES[k].1).join("\n");
    assert_eq!(right(&lines, ("mine.json", &counted)).unwrap(), 8);
    let other = references().replace("\"1\"", "\"21\"");
    assert!(right(&other, ("mine.json", &counted)).is_err());
}

#[test]
fn any_sign_parts_ids_from_captions_also_below_a_header() {
    for sign in ["^", "~", ":", ": ", " - ", " ", "  ", " => ", "@@"] {
        let lines = candidates(|k, text| format!("{}{sign}{text}", k + 1), "\n");
        for (name, text) in [
            ("mine.txt", lines.clone()),
            ("mine.txt", format!("image_id{sign}caption\n{lines}")),
            ("mine.csv", format!("image_id{sign}caption\n{lines}\n")),
            ("mine.tsv", format!("id{sign}caption\n{lines}\n")),
        ] {
            let right = right(&references(), (name, &text));
            assert_eq!(right.unwrap_or_else(|error| panic!("{name} {text}: {error}")), 8, "{name} {text}");
        }
    }
    for form in [
        "img N - T",
        "step N T",
        "Image N: T",
        "photo no. N: T",
        "N/8 T",
        "[N/8] T",
        "#N T",
        "id=N T",
        "image_id=N caption=T",
        "frame #N T",
    ] {
        let lines = candidates(|k, text| form.replace('T', text).replace('N', &(k + 1).to_string()), "\n");
        let right = right(&references(), ("mine.txt", &lines));
        assert_eq!(right.unwrap_or_else(|error| panic!("{form}: {error}")), 8, "{form}");
    }
}

#[test]
fn captions_that_begin_with_words_and_numbers_are_captions() {
    let ground = (0..8).map(|k| IMAGES[k].1).collect::<Vec<_>>().join("\n");
    for form in ["there are 2 T", "T 3 times", "image 2 T"] {
        let mine = (0..8).map(|k| form.replace('T', IMAGES[k].0)).collect::<Vec<_>>().join("\n");
        let (_, mine, _) = read(&ground, ("mine.txt", &mine)).unwrap();
        assert_eq!(mine.text(2), form.replace('T', IMAGES[2].0));
    }
    // A column whose name has two words holds captions.
    let table = (0..8).map(|k| IMAGES[k].0).collect::<Vec<_>>().join("\n");
    let (_, mine, _) = read(&ground, ("mine.csv", &format!("image caption\n{table}\n"))).unwrap();
    assert_eq!((mine.len(), mine.text(0)), (8, IMAGES[0].0));
}

#[test]
fn references_that_a_mark_joins_are_several() {
    let mine: Vec<String> = (0..8).map(|k| format!("\"{}\": {:?}", k + 1, IMAGES[k].0)).collect();
    let mine = format!("{{{}}}", mine.join(", "));
    for mark in ["###", " # ", " [SEP] ", "<sep>", "</s>", " <|sep|> ", "\\t", "||", " • "] {
        let joined: Vec<String> =
            (0..8).map(|k| format!("\"{}\": \"{}{mark}{}\"", k + 1, IMAGES[k].1, IMAGES[k].2)).collect();
        let (ground, _, said) = read(&format!("{{{}}}", joined.join(", ")), ("mine.json", &mine)).unwrap();
        assert_eq!(ground.texts(0).collect::<Vec<_>>(), [IMAGES[0].1, IMAGES[0].2], "{mark}");
        assert!(said.contains("each is read as a caption"), "{said}");
    }
    let lines = IMAGES.map(|(_, a, b)| format!("{a}\t{b}")).join("\n");
    let (ground, _, _) = read(&lines, ("mine.txt", &IMAGES.map(|(text, ..)| text).join("\n"))).unwrap();
    assert_eq!(ground.texts(7).count(), 2);
    let tags = IMAGES.map(|(_, a, _)| format!("{a} #pic")).join("\n");
    let (ground, _, _) = read(&tags, ("mine.txt", &IMAGES.map(|(text, ..)| text).join("\n"))).unwrap();
    assert_eq!(ground.texts(7).count(), 1);
}

#[test]
fn kinds_of_references_are_told() {
    let mine: Vec<String> = (0..8).map(|k| format!("\"{}\": {:?}", k + 1, IMAGES[k].0)).collect();
    let mine = format!("{{{}}}", mine.join(", "));
    let table = |column: &str, values: [&str; 3], third: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..8)
            .flat_map(|k| {
                let texts = [IMAGES[k].1.to_owned(), IMAGES[k].2.replace(',', ""), third(k)];
                texts
                    .into_iter()
                    .zip(values)
                    .map(move |(text, value)| format!("{},{value},{text}", k + 1))
                    .collect::<Vec<_>>()
            })
            .collect();
        format!("image_id,{column},caption\n{}\n", rows.join("\n"))
    };
    let foreign = |k: usize| format!("ein Bild der Nummer {k} mit Sachen darauf");
    let own = |k: usize| IMAGES[k].0.to_owned();
    let asked = |k: usize| format!("what is {}?", IMAGES[k].0);
    let said = |text: &str| read(text, ("mine.json", &mine)).unwrap().2;
    for (column, values, third) in [
        ("lang", ["en", "en", "fr"], &foreign as &dyn Fn(usize) -> String),
        ("locale", ["en", "en", "de"], &foreign),
        ("xyz", ["a", "a", "b"], &foreign),
        ("split", ["one", "one", "two"], &asked),
        ("source", ["human", "human", "gpt4"], &own),
    ] {
        let said = said(&table(column, values, third));
        let option = format!("{column}={}", values[2]);
        assert!(
            said.contains(&format!("\"{column}\" divides the references")) && said.contains(&option),
            "{said}"
        );
    }
    for (column, values) in [("annotator", ["a", "b", "c"]), ("number", ["1", "2", "3"]), ("lang", ["en"; 3])]
    {
        let said = said(&table(column, values, &own));
        assert!(!said.contains("divides"), "{said}");
    }
    let records: Vec<String> = (0..8)
        .flat_map(|k| {
            [("en", IMAGES[k].1), ("fr", "un homme dans la rue")].map(|(language, text)| {
                format!(r#"{{"image_id": {}, "language": "{language}", "caption": "{text} {k}"}}"#, k + 1)
            })
        })
        .collect();
    let coco = format!(r#"{{"annotations": [{}]}}"#, records.join(", "));
    let said = said(&coco);
    assert!(said.contains("\"language\" divides") && said.contains("language=fr"), "{said}");
}

#[test]
fn lines_without_a_like_are_named() {
    let ground = IMAGES.map(|(_, a, _)| a).join("\n");
    let mine = IMAGES.map(|(text, ..)| text);
    for (mine, line) in [
        (
            format!("Generated captions by model X\n{}", mine.join("\n")),
            "line 1 (\"Generated captions by model X\")",
        ),
        (format!("{}\n8 captions in all", mine.join("\n")), "line 9 "),
        (format!("{}\n---\n{}", mine[..4].join("\n"), mine[4..].join("\n")), "line 5 "),
        (format!("begin\nhere\n{}\nend", mine.join("\n")), "lines 1 (\"begin\"), 2 (\"here\"), 11 "),
    ] {
        let (ground, mine, _) = read(&ground, ("mine.txt", &mine)).unwrap();
        let extra = ExtraLines::find(&ground, &mine).unwrap();
        let error = align(ground.index(), &mine, &Policy::default()).unwrap_err();
        let help = error.remedy().unwrap().to_string();
        assert!(!help.contains("ignore") && help.contains("remove what has no like"), "{help}");
        let error = extra.explain(error).to_string();
        assert!(error.contains(line) && error.contains("of mine.txt, the others fit"), "{error}");
    }
    let titled = format!("Reference captions of X\n{ground}");
    let (ground, mine, _) = read(&titled, ("mine.txt", &mine.join("\n"))).unwrap();
    let extra = ExtraLines::find(&ground, &mine).unwrap();
    let error = align(ground.index(), &mine, &Policy::default()).unwrap_err();
    assert!(!error.remedy().unwrap().to_string().contains("skip"));
    assert!(extra.explain(error).to_string().contains("line 1 (\"Reference captions of X\") of refs"));
}

#[test]
fn one_file_gives_its_ids_and_all_of_its_references() {
    let read = |of: &dyn Fn(usize) -> String| {
        let text: Vec<String> = (0..8).map(of).collect();
        let text = text.join("\n");
        let read = |options: ReadOptions| read_bytes(text.as_bytes(), "both.jsonl", &options).unwrap();
        let sides = (read(ReadOptions::references()), read(ReadOptions::candidates()));
        both_sides(sides.0, sides.1, Ids::AsGiven).unwrap().unwrap()
    };
    let said = |captions: &Captions| {
        captions.notices().iter().map(|notice| notice.message.clone()).collect::<Vec<_>>().join("\n")
    };
    let (ground, mine) = read(&|k| {
        let (text, a, b) = IMAGES[k];
        format!(r#"{{"id": {}, "target": "{a}", "answers": ["{a}", "{b}"], "prediction": "{text}"}}"#, k + 70)
    });
    assert_eq!((ground.len(), mine.len()), (16, 8), "{}", said(&ground));
    assert!(said(&ground).contains("id \"id\""), "{}", said(&ground));
    let (ground, _) = read(&|k| {
        let (text, a, b) = IMAGES[k];
        format!(r#"{{"id": {}, "target": "{a}", "answers": ["{b}"], "prediction": "{text}"}}"#, k + 70)
    });
    assert!(
        ground.len() == 16 || said(&ground).contains("\"answers\" could hold references as well"),
        "{}",
        said(&ground)
    );
    let (_, mine) = read(&|k| {
        let (text, a, b) = IMAGES[k % 7];
        format!(
            r#"{{"doc_id": {k}, "target": ["{a}", "{b}"], "doc": {{"image_id": {}}}, "resps": [["{text}"]], "filtered_resps": ["{text}"]}}"#,
            k + 70
        )
    });
    assert_eq!(mine.ids()[0].to_string(), "70");
}

/// What a model thought is no candidate beside its answer, before it or after it.
#[test]
fn parts_that_are_thoughts_stand_apart_from_the_answer() {
    let thought = r#"{"text": "I see an image and should describe it in a few words.", "thought": true}"#;
    for is_first in [true, false] {
        let row = |k: usize, text: &str| {
            let answer = format!("{{\"text\": {text:?}}}");
            let parts = if is_first { [thought, &answer] } else { [&answer, thought] }.join(", ");
            let content = format!("{{\"parts\": [{parts}], \"role\": \"model\"}}");
            format!("{{\"key\": {}, \"response\": {{\"candidates\": [{{\"content\": {content}}}]}}}}", k + 1)
        };
        let lines = candidates(row, "\n");
        let (_, mine, said) = read(&references(), ("gemini.jsonl", &lines)).unwrap();
        let texts: Vec<&str> = (0..mine.len()).map(|row| mine.text(row)).collect();
        assert_eq!(texts, ORDER.map(|k| IMAGES[k].0), "{said}");
    }
}
