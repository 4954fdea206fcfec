//! Files under names that no list has: read right, or refused, never wrong.

use std::fmt::Write as _;

use capeval_corpus::{Captions, Error, Ids, Notice, Opposite, ReadOptions, Role, agree, merge, read_bytes};

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }

    /// A name of letters that means nothing.
    fn name(&mut self) -> String {
        let letters = "bcdfghklmnprstvz";
        let vowels = "aeiou";
        let mut name = String::new();
        for _ in 0..2 + self.below(2) {
            name.push_str(&letters[self.below(16)..][..1]);
            name.push_str(&vowels[self.below(5)..][..1]);
        }
        name + "x"
    }
}

const WHO: &[&str] = &[
    "dog", "woman", "child", "man", "cat", "horse", "train", "bird", "boy", "girl", "bus", "elephant",
    "surfer", "chef", "zebra", "skier", "boat", "player",
];
const DOES: &[&str] = &[
    "runs", "sits", "sleeps", "stands", "jumps", "waits", "eats", "plays", "rides", "looks", "walks", "swims",
];
const WHERE: &[&str] = &[
    "on the beach",
    "in a kitchen",
    "near a red car",
    "under the old bridge",
    "at a station",
    "with a green ball",
    "behind the white house",
    "in tall grass",
    "on a wooden table",
    "by the river",
    "next to a tree",
    "in the snow",
];
const PROMPTS: &[&str] = &[
    "Describe this image in one sentence.",
    "What do you see here?",
    "Please write a short caption.",
    "Tell me about the picture.",
    "Give a brief description of the photo.",
];

/// Images with references and a candidate.
struct World {
    ids: Vec<String>,
    references: Vec<Vec<String>>,
    candidates: Vec<String>,
}

impl World {
    fn new(chance: &mut Chance, n: usize) -> Self {
        let style = chance.below(4);
        let base = 1000 + chance.below(900_000);
        let ids = (0..n).map(|k| match style {
            0 => (base + 37 * k).to_string(),
            1 => format!("img_{}.jpg", base + k),
            2 => format!("v{:x}", (base + k) * 7919),
            _ => format!("clip-{}_{}", base + k, k * 3),
        });
        let mut world = Self { ids: ids.collect(), references: Vec::new(), candidates: Vec::new() };
        let language = chance.below(4);
        for _ in 0..n {
            let (who, does, place) = (chance.pick(WHO), chance.pick(DOES), chance.pick(WHERE));
            let reference = |chance: &mut Chance| {
                let does = if chance.below(2) == 0 { does } else { chance.pick(DOES) };
                format!("{} {who} {does} {place}", chance.pick(&["a", "the", "one", "A small", "some"]))
            };
            let many = 1 + chance.below(6);
            world.references.push((0..many).map(|_| reference(chance)).collect());
            let place = if chance.below(5) == 0 { chance.pick(WHERE) } else { place };
            world.candidates.push(match chance.below(12) {
                0 => format!("a {who}"),
                _ => format!("there is a {who} that {} {place}", chance.pick(DOES)),
            });
        }
        if language == 0 {
            world.translate();
        }
        world
    }

    /// Writes all words in another script: Greek letters, or Chinese ones without spaces.
    fn translate(&mut self) {
        let is_chinese = self.ids.len().is_multiple_of(2);
        let letter = |c: char| match c {
            ' ' if is_chinese => String::new(),
            'a'..='z' | 'A'..='Z' => {
                let base =
                    if is_chinese { 0x4E00 + 40 * (u32::from(c) % 32) } else { 0x3B0 + u32::from(c) % 26 };
                char::from_u32(base).map(String::from).unwrap_or_default()
            }
            c => c.to_string(),
        };
        let texts = self.candidates.iter_mut().chain(self.references.iter_mut().flatten());
        texts.for_each(|text| *text = text.chars().map(letter).collect());
    }

    /// The references as a dictionary.
    fn ground(&self) -> String {
        let entries = self.ids.iter().zip(&self.references);
        let entries: Vec<String> = entries.map(|(id, texts)| format!("{id:?}: {texts:?}")).collect();
        format!("{{{}}}", entries.join(", "))
    }
}

/// A value in a table.
#[derive(Clone)]
enum Value {
    Text(String),
    Bare(String),
}

impl Value {
    fn json(&self) -> String {
        match self {
            Self::Text(text) => format!("{text:?}"),
            Self::Bare(text) => text.clone(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) | Self::Bare(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        }
    }
}

/// The table of a world under meaningless names, with columns that mislead.
fn columns(chance: &mut Chance, world: &World) -> Vec<(String, Vec<Value>)> {
    let n = world.ids.len();
    let ids = world.ids.iter().map(|id| match id.parse::<i64>() {
        Ok(_) => Value::Bare(id.clone()),
        Err(_) => Value::Text(id.clone()),
    });
    let text = |text: &String| Value::Text(text.clone());
    let mut columns = vec![
        (chance.name(), ids.collect()),
        (chance.name() + "y", world.candidates.iter().map(text).collect()),
    ];
    for _ in 0..chance.below(6) {
        let prompt = chance.pick(PROMPTS);
        let values: Vec<Value> = match chance.below(9) {
            0 => vec![Value::Text(prompt.to_owned()); n],
            1 => (0..n).map(|_| Value::Text(chance.pick(PROMPTS).to_owned())).collect(),
            2 => world.references.iter().map(|texts| text(&texts[texts.len() / 2])).collect(),
            3 => (0..n).map(|_| Value::Bare(format!("0.{}", 100 + chance.below(899)))).collect(),
            4 => (0..n).map(|_| Value::Bare((chance.below(2) == 0).to_string())).collect(),
            5 => (0..n).map(|k| Value::Text(format!("data/images/part{}/{k}.png", k % 3))).collect(),
            6 => vec![Value::Text("llava-1.5-7b".to_owned()); n],
            7 => (0..n).map(|k| Value::Bare(k.to_string())).collect(),
            _ => (0..n).map(|k| text(&world.candidates[(k + n / 2) % n])).collect(),
        };
        let name = format!("{}{}", chance.name(), (b'a' + columns.len() as u8) as char);
        columns.push((name, values));
    }
    for k in (1..columns.len()).rev() {
        let other = chance.below(k + 1);
        columns.swap(k, other);
    }
    columns
}

/// A table in a random container, with the name of the file.
fn write(chance: &mut Chance, columns: &[(String, Vec<Value>)], id: usize) -> (String, &'static str) {
    let n = columns[0].1.len();
    let field =
        |(name, values): &(String, Vec<Value>), row: usize| format!("{name:?}: {}", values[row].json());
    let object = |row: usize| {
        let fields: Vec<String> = columns.iter().map(|column| field(column, row)).collect();
        format!("{{{}}}", fields.join(", "))
    };
    let objects: Vec<String> = (0..n).map(object).collect();
    let list = format!("[{}]", objects.join(",\n"));
    let separated = |separator: &str| {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let mut text = names.join(separator) + "\n";
        for row in 0..n {
            let cells: Vec<String> = columns.iter().map(|(_, values)| values[row].csv()).collect();
            writeln!(text, "{}", cells.join(separator)).unwrap();
        }
        text
    };
    match chance.below(9) {
        0 => (list, "a.json"),
        1 => (objects.join("\n"), "a.jsonl"),
        2 => (format!("{{\"version\": \"1\", {:?}: {list}}}", chance.name()), "a.json"),
        3 => (separated(","), "a.csv"),
        4 => (separated("\t"), "a.tsv"),
        5 => (separated(";"), "a.csv"),
        6 => {
            let keyed = (0..n).map(|row| match &columns[id].1[row] {
                Value::Text(id) | Value::Bare(id) => format!("{id:?}: {}", objects[row]),
            });
            (format!("{{{}}}", keyed.collect::<Vec<_>>().join(",\n")), "a.json")
        }
        7 => {
            let by_column = columns.iter().map(|(name, values)| {
                let cells: Vec<String> = values
                    .iter()
                    .enumerate()
                    .map(|(row, value)| format!("\"{row}\": {}", value.json()))
                    .collect();
                format!("{name:?}: {{{}}}", cells.join(", "))
            });
            (format!("{{{}}}", by_column.collect::<Vec<_>>().join(", ")), "a.json")
        }
        _ => {
            let rows = (0..n).map(|row| {
                let cells: Vec<String> = columns.iter().map(|(_, values)| values[row].json()).collect();
                format!("[{}]", cells.join(", "))
            });
            let names: Vec<&String> = columns.iter().map(|(name, _)| name).collect();
            let rows: Vec<String> = rows.collect();
            (format!("{{\"columns\": {names:?}, \"data\": [{}]}}", rows.join(", ")), "a.json")
        }
    }
}

/// The candidates as both sides together are understood.
fn understand(ground: &str, table: &str, name: &str) -> Result<(Captions, Vec<Notice>), Error> {
    let mut references = read_bytes(ground.as_bytes(), "references.json", &ReadOptions::references())?;
    let candidates = read_bytes(table.as_bytes(), name, &ReadOptions::candidates())?;
    let mut systems = vec![("a".to_owned(), candidates)];
    let notices = agree(Opposite::Captions(&mut references), &mut systems, Ids::Text)?;
    Ok((systems.remove(0).1, notices))
}

#[test]
fn random_tables_are_read_right_or_refused() {
    read_random_tables(1_500);
}

/// Takes a minute and a half.
#[test]
#[ignore = "many cases of the test above it"]
fn ten_thousand_tables_are_read_right_or_refused() {
    read_random_tables(10_000);
}

#[expect(clippy::print_stdout, reason = "figures for people")]
fn read_random_tables(cases: usize) {
    let mut chance = Chance(20_261_128);
    let (mut right, mut refused) = (0, 0);
    for case in 0..cases {
        let rows = [2, 3, 5, 6, 14, 50, 120][chance.below(7)];
        let world = World::new(&mut chance, rows);
        let columns = columns(&mut chance, &world);
        let is_id = |(_, values): &(String, Vec<Value>)| match &values[0] {
            Value::Text(text) | Value::Bare(text) => *text == world.ids[0],
        };
        let id = columns.iter().position(is_id).unwrap();
        let (table, name) = write(&mut chance, &columns, id);
        match understand(&world.ground(), &table, name) {
            Err(_) => refused += 1,
            Ok((captions, _)) => {
                let read: Vec<(String, &str)> =
                    captions.iter().map(|(id, text)| (id.to_string(), text)).collect();
                let meant: Vec<(String, &str)> =
                    world.ids.iter().cloned().zip(world.candidates.iter().map(String::as_str)).collect();
                assert_eq!(read, meant, "case {case}, {name}: {}", table.get(..1500).unwrap_or(&table));
                right += 1;
            }
        }
    }
    println!("of {cases} tables, {right} were read right and {refused} refused");
    assert!(4 * right >= 3 * cases, "of {cases} tables, {right} were read right and {refused} refused");
}

/// Six captions, in the words of their references and of no other.
const MEANT: [(&str, &str); 6] = [
    ("v1", "a dog runs on the beach"),
    ("v2", "two children with a kite"),
    ("v3", "a red train at a station"),
    ("v4", "a man on a surfboard"),
    ("v5", "a bowl of soup"),
    ("v6", "an old clock tower"),
];

/// References of [`MEANT`].
const GROUND: &str = r#"{"v1": ["a dog runs along the beach"], "v2": ["two children fly a kite"],
    "v3": ["a train stops at a station"], "v4": ["a man rides a surfboard"], "v5": ["soup in a bowl"],
    "v6": ["a tower with an old clock"]}"#;

/// What `line` makes of each caption, between the others' separators.
fn each(separator: &str, line: impl Fn(&str, &str) -> String) -> String {
    MEANT.map(|(id, text)| line(id, text)).join(separator)
}

#[test]
fn the_same_captions_are_read_from_every_shape() {
    let object = |id: &str, text: &str| format!(r#"{{"image_id": "{id}", "caption": "{text}"}}"#);
    let list = format!("[{}]", each(", ", object));
    let prompted = |id: &str, text: &str| {
        format!(r#"{{"image_id": "{id}", "text": "Describe this image in one sentence.", "said": "{text}"}}"#)
    };
    let nested = |id: &str, text: &str| {
        format!(
            r#"{{"custom_id": "{id}", "response": {{"choices": [{{"message": {{"content": "{text}"}}}}]}}}}"#
        )
    };
    let turns = |id: &str, text: &str| {
        let human = r#"{"from": "human", "value": "What is in the picture?"}"#;
        format!(r#"{{"id": "{id}", "conversations": [{human}, {{"from": "gpt", "value": "{text}"}}]}}"#)
    };
    for (kind, name, text) in [
        ("lines with ids", "a.txt", each("\n", |id, text| format!("{id}\t{text}"))),
        ("lines with spaces", "a.txt", each("\n", |id, text| format!("{id} {text}"))),
        ("wrapped", "a.json", format!(r#"{{"version": "1", "results": {list}}}"#)),
        ("wrapped twice", "a.json", format!(r#"{{"output": {{"n": 6, "items": {list}}}}}"#)),
        ("lists of processes", "a.json", format!("[{list}]")),
        (
            "keyed",
            "a.json",
            format!("{{{}}}", each(", ", |id, text| format!(r#""{id}": {}"#, object(id, text)))),
        ),
        (
            "lists by id",
            "a.json",
            format!("{{{}}}", each(", ", |id, text| format!(r#""{id}": [{{"caption": "{text}"}}]"#))),
        ),
        (
            "one key each",
            "a.json",
            format!("[{}]", each(", ", |id, text| format!(r#"{{"{id}": "{text}"}}"#))),
        ),
        ("pairs", "a.json", format!("[{}]", each(", ", |id, text| format!(r#"["{id}", "{text}"]"#)))),
        ("lines with commas", "a.jsonl", each(",\n", object)),
        (
            "Python's notation",
            "a.json",
            each("\n", |id, text| format!("{{'path': '{id}', 'said': '{text}'}}")),
        ),
        ("YAML", "a.yaml", each("\n", |id, text| format!("- image_id: {id}\n  caption: {text}"))),
        (
            "no header",
            "a.csv",
            each("\n", |id, text| format!("{id},\"{text}, and so on\"")).replace(", and so on", ""),
        ),
        ("semicolons", "a.csv", format!("picture;said\n{}", each("\n", |id, text| format!("{id};{text}")))),
        ("a prompt", "a.jsonl", each("\n", prompted)),
        ("nested", "a.jsonl", each("\n", nested)),
        (
            "columns",
            "a.json",
            format!(
                r#"{{"picture": [{}], "said": [{}]}}"#,
                each(", ", |id, _| format!("{id:?}")),
                each(", ", |_, text| format!("{text:?}"))
            ),
        ),
        ("conversations", "a.json", format!("[{}]", each(", ", turns))),
        (
            "a table in a text",
            "a.txt",
            format!("item,said\n{}", each("\n", |id, text| format!("{id},{text}"))),
        ),
        ("a word before ids", "a.txt", each("\n", |id, text| format!("video {id}: {text}"))),
        (
            "a title",
            "a.csv",
            format!("Results,\n,\nitem,said\n{}", each("\n", |id, text| format!("{id},{text}"))),
        ),
        (
            "a table of Markdown",
            "a.md",
            format!("| id | caption |\n|---:|:---|\n{}", each("\n", |id, text| format!("| {id} | {text} |"))),
        ),
        (
            "a printed dictionary",
            "a.txt",
            format!(
                "defaultdict(<class 'list'>, {{{}}})",
                each(", ", |id, text| format!("'{id}': ['{text}']"))
            ),
        ),
        (
            "batches",
            "a.jsonl",
            [&MEANT[..4], &MEANT[4..]]
                .map(|batch| {
                    let list = |values: Vec<&str>| format!("{values:?}");
                    let ids = list(batch.iter().map(|(id, _)| *id).collect());
                    let texts = list(batch.iter().map(|(_, text)| *text).collect());
                    format!(r#"{{"item": {ids}, "said": {texts}}}"#)
                })
                .join("\n"),
        ),
    ] {
        let (captions, _) = understand(GROUND, &text, name).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let read: Vec<(String, &str)> = captions.iter().map(|(id, text)| (id.to_string(), text)).collect();
        assert_eq!(read, MEANT.map(|(id, text)| (id.to_owned(), text)), "{kind}");
    }
}

#[test]
fn two_systems_in_one_table_are_refused_with_both_named() {
    let text = format!("id,first,second\n{}", each("\n", |id, text| format!("{id},{text},{text} there")));
    let error = understand(GROUND, &text, "a.csv").unwrap_err().to_string();
    assert!(error.contains("\"first\"") && error.contains("\"second\""), "{error}");
}

/// Files whose captions nothing but their words would choose.
/// Objects with `image_id` and `caption` are COCO's results only if they have no other text.
#[test]
fn what_a_model_said_is_read_beside_a_text_that_is_called_caption() {
    let row = |id: &str, text: &str| {
        let about = ["outdoor scene", "nice picture"][usize::from(id > "v3")];
        format!(r#"{{"image_id": "{id}", "caption": "some {about}", "said": "{text}"}}"#)
    };
    let (captions, _) = understand(GROUND, &format!("[{}]", each(", ", row)), "a.json").unwrap();
    assert_eq!(captions.iter().map(|(_, text)| text).collect::<Vec<_>>(), MEANT.map(|(_, text)| text));
}

#[test]
fn a_single_image_is_found_by_its_id_under_any_name() {
    let ground = r#"{"v1": ["a dog runs along the beach"]}"#;
    let (captions, _) = understand(ground, "whose,said\nv1,a dog runs on the beach\n", "a.csv").unwrap();
    let read: Vec<(String, &str)> = captions.iter().map(|(id, text)| (id.to_string(), text)).collect();
    assert_eq!(read, [("v1".to_owned(), MEANT[0].1)]);
}

#[test]
fn a_list_of_different_ids_is_no_id() {
    let row = |id: &str, text: &str| format!(r#"{{"whose": ["{id}", "w{id}"], "said": "{text}"}}"#);
    if let Ok((captions, _)) = understand(GROUND, &format!("[{}]", each(", ", row)), "a.json") {
        assert!(captions.iter().all(|(id, _)| MEANT.iter().all(|(known, _)| id.to_string() != *known)));
    }
    let same = |id: &str, text: &str| format!(r#"{{"whose": ["{id}", "{id}"], "said": "{text}"}}"#);
    let (captions, _) = understand(GROUND, &format!("[{}]", each(", ", same)), "a.json").unwrap();
    assert!(captions.iter().zip(MEANT).all(|((id, text), meant)| (id.to_string().as_str(), text) == meant));
}

/// An answer alone is what a model said; beside a prediction, it is the right one.
#[test]
fn beside_a_prediction_an_answer_is_not_the_caption() {
    let right = [
        "a dog on a beach",
        "children and a kite",
        "a train in a station",
        "a man and a surfboard",
        "a bowl with soup",
        "a clock tower",
    ];
    let rows: String =
        MEANT.iter().zip(right).map(|((id, text), right)| format!("{id},{right},{text}\n")).collect();
    let (captions, _) = understand(GROUND, &format!("id,theanswer,mypred\n{rows}"), "a.csv").unwrap();
    assert_eq!(captions.iter().map(|(_, text)| text).collect::<Vec<_>>(), MEANT.map(|(_, text)| text));
    let alone: String = MEANT.map(|(id, text)| format!("{id},{text}\n")).concat();
    let (captions, _) = understand(GROUND, &format!("id,theanswer\n{alone}"), "a.csv").unwrap();
    assert_eq!(captions.iter().map(|(_, text)| text).collect::<Vec<_>>(), MEANT.map(|(_, text)| text));
}

#[test]
fn free_texts_that_words_alone_would_choose_are_refused() {
    let poor = ["some animal", "people outside", "a vehicle", "one person", "food here", "tall thing"];
    let row = |id: &str, text: &str| {
        let place = MEANT.iter().position(|(known, _)| *known == id).unwrap();
        format!("{id},{text},{}", poor[place])
    };
    let table = |first: &str, second: &str| format!("id,{first},{second}\n{}", each("\n", row));
    let error = understand(GROUND, &table("base", "ours"), "a.csv").unwrap_err().to_string();
    assert!(error.contains("\"base\" and \"ours\" could both hold captions"), "{error}");
    let (captions, _) = understand(GROUND, &table("output", "remark"), "a.csv").unwrap();
    assert_eq!(captions.text(0), MEANT[0].1);
}

#[test]
fn three_columns_make_ids_in_every_run() {
    let span = |id: &str| if id > "v3" { (2, 9) } else { (12, 19) };
    let ground = each(", ", |id, text| {
        let (from, to) = span(id);
        format!("\"x{}_{from}_{to}\": [{text:?}]", id.len() + usize::from(id.as_bytes()[1] % 3))
    });
    let rows = each("\n", |id, text| {
        let (from, to) = span(id);
        format!("x{},{from},{to},{text}", id.len() + usize::from(id.as_bytes()[1] % 3))
    });
    let table = format!("clip,begin,end,said\n{rows}");
    for _ in 0..20 {
        let error = understand(&format!("{{{ground}}}"), &table, "a.csv").unwrap_err();
        assert!(error.remedy().unwrap().to_string().contains("{clip}_{begin}_{end}"), "{error}");
    }
}

#[test]
fn lines_of_several_kinds_are_refused_with_their_letters() {
    let log = each("\n", |id, text| {
        let number = &id[1..];
        format!("S-{number}\tsource\nT-{number}\t{text} there\nD-{number}\t-0.3\t{text}")
    });
    let ground = GROUND.replace("\"v", "\"");
    let error = understand(&ground, &log, "a.txt").unwrap_err().to_string();
    assert!(error.contains("\"D-\" and \"T-\" could both hold captions"), "{error}");
    let options = ReadOptions { caption_columns: Some(vec!["D-".to_owned()]), ..ReadOptions::candidates() };
    let captions = read_bytes(log.as_bytes(), "a.txt", &options).unwrap();
    assert_eq!(captions.text(0), MEANT[0].1);
}

#[test]
fn references_between_blank_lines_belong_to_one_image() {
    let lines = each("\n", |_, text| text.to_owned());
    let blocks = each("\n\n", |_, text| format!("{text} there\n{text} here"));
    let mut references = read_bytes(blocks.as_bytes(), "r.txt", &ReadOptions::references()).unwrap();
    let candidates = read_bytes(lines.as_bytes(), "a.txt", &ReadOptions::candidates()).unwrap();
    let mut systems = vec![("a".to_owned(), candidates)];
    agree(Opposite::Captions(&mut references), &mut systems, Ids::Text).unwrap();
    let read: Vec<(String, &str)> = references.iter().map(|(id, text)| (id.to_string(), text)).collect();
    assert_eq!(read.len(), 12);
    assert_eq!(read[3], ("2".to_owned(), "two children with a kite here"));
    // What a notice names can be given.
    let named = ReadOptions {
        id_column: Some("block".to_owned()),
        caption_columns: Some(vec!["the lines".to_owned()]),
        ..ReadOptions::references()
    };
    assert_eq!(read_bytes(blocks.as_bytes(), "r.txt", &named).unwrap().len(), 12);
}

#[test]
fn lists_that_stand_in_each_record_of_an_image_are_read_once() {
    let record = |id: &str, text: &str| {
        let one = format!(r#"{{"item": "{id}", "strings": ["{text} there", "{text} here"], "n": 1}}"#);
        format!("{one}, {one}")
    };
    let text = format!(r#"{{"data": [{}]}}"#, each(", ", record));
    let captions = read_bytes(text.as_bytes(), "r.json", &ReadOptions::references()).unwrap();
    assert_eq!(captions.len(), 24, "rows without a known id are counted");
    let named = ReadOptions { id_column: Some("item".to_owned()), ..ReadOptions::references() };
    assert_eq!(read_bytes(text.as_bytes(), "r.json", &named).unwrap().len(), 12);
}

#[test]
fn files_without_captions_say_what_they_hold() {
    let scores = format!("[{}]", each(", ", |id, _| format!(r#"{{"image_id": "{id}", "CIDEr": 1.25}}"#)));
    let cue = |id: &str, text: &str| format!("{id}\n00:00:00,000 --> 00:00:01,500\n{text}\n");
    for (name, bytes, words) in [
        ("a.json", scores, "holds numbers, not captions: \"CIDEr\""),
        ("a.json", "[[9488, 3, 17, 0], [9488, 4, 18, 0]]".to_owned(), "numbers of tokens"),
        ("a.srt", each("\n", cue), "subtitles, with times such as 00:00 --> 00:01"),
        ("a.db", "SQLite format 3\0 and more".to_owned(), "an SQLite database"),
    ] {
        let error = read_bytes(bytes.as_bytes(), name, &ReadOptions::candidates()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn several_files_of_references_are_understood_one_by_one() {
    let file = |name: &str, extra: &str| {
        let rows = each("\n", |id, text| {
            format!(r#"{{"k": "{id}", "ask": "What is in it?", "{name}": "{text}{extra}"}}"#)
        });
        read_bytes(rows.as_bytes(), "r.jsonl", &ReadOptions::references()).unwrap()
    };
    let files = vec![file("one", " there"), file("two", " here")];
    let mut references = merge(files, Role::References).unwrap();
    let candidates = each(", ", |id, text| format!("{id:?}: {text:?}"));
    let candidates = read_bytes(format!("{{{candidates}}}").as_bytes(), "a.json", &ReadOptions::candidates());
    let mut systems = vec![("a".to_owned(), candidates.unwrap())];
    agree(Opposite::Captions(&mut references), &mut systems, Ids::Text).unwrap();
    let read: Vec<String> = references.iter().map(|(id, text)| format!("{id} {text}")).collect();
    let meant = |extra: &str| MEANT.map(|(id, text)| format!("{id} {text}{extra}"));
    assert_eq!(read, [meant(" there"), meant(" here")].concat());
}

#[test]
fn splits_are_keys_columns_or_stand_beside() {
    let half = |from: usize| {
        let record = |(id, text): &(&str, &str)| format!(r#"{{"id": "{id}", "report": "{text}"}}"#);
        MEANT[from..from + 3].iter().map(record).collect::<Vec<_>>().join(", ")
    };
    let keys = format!(r#"{{"train": [{}], "test": [{}]}}"#, half(0), half(3));
    let videos = each(", ", |id, _| {
        format!(r#"{{"video_id": "{id}", "split": "{}"}}"#, if id > "v3" { "test" } else { "train" })
    });
    let sentences = each(", ", |id, text| format!(r#"{{"video_id": "{id}", "caption": "{text}"}}"#));
    let beside = format!(r#"{{"videos": [{videos}], "sentences": [{sentences}]}}"#);
    let options = ReadOptions { split: Some(vec!["test".to_owned()]), ..ReadOptions::references() };
    for text in [&keys, &beside] {
        let captions = read_bytes(text.as_bytes(), "a.json", &options).unwrap();
        assert_eq!(
            captions.iter().map(|(_, text)| text).collect::<Vec<_>>(),
            MEANT[3..].iter().map(|(_, text)| *text).collect::<Vec<_>>()
        );
    }
    let none = ReadOptions { split: Some(vec!["other".to_owned()]), ..ReadOptions::references() };
    assert!(read_bytes(keys.as_bytes(), "a.json", &none).unwrap_err().to_string().contains("other"));
}

#[test]
fn captions_marked_as_unusable_are_left_out_under_named_columns() {
    let states = |id: &str, text: &str| format!("{id},{text} there,Approved\n{id},spam,Rejected");
    let table = format!("item,said,Status\n{}", each("\n", states));
    let named = ReadOptions {
        id_column: Some("item".to_owned()),
        caption_columns: Some(vec!["said".to_owned()]),
        ..ReadOptions::references()
    };
    let mut references = read_bytes(table.as_bytes(), "r.csv", &named).unwrap();
    let lines = each("\n", |id, text| format!("{id}\t{text}"));
    let candidates = read_bytes(lines.as_bytes(), "a.txt", &ReadOptions::candidates()).unwrap();
    let mut systems = vec![("a".to_owned(), candidates)];
    agree(Opposite::Captions(&mut references), &mut systems, Ids::Text).unwrap();
    assert_eq!(references.len(), 6);
}

#[test]
fn records_are_left_out_by_a_key_or_its_value() {
    let read = |text: &str, name: &str, drop: &[&str]| {
        let drop = drop.iter().map(|what| (*what).to_owned()).collect();
        let options = ReadOptions { drop, ..ReadOptions::references() };
        read_bytes(text.as_bytes(), name, &options)
    };
    let kept = |text: &str, name: &str, drop: &[&str]| {
        let captions = read(text, name, drop).unwrap();
        captions.iter().map(|(id, text)| format!("{id} {text}")).collect::<Vec<_>>().join(", ")
    };
    let coco = r#"{"images": [{"id": 1, "domain": "in"}, {"id": 2, "domain": "out"}], "annotations": [
        {"id": 7, "image_id": 1, "caption": "a dog", "ok": true, "votes": 3, "lang": "en"},
        {"id": 8, "image_id": 1, "caption": "ein Hund", "ok": false, "votes": 1, "lang": "de"},
        {"id": 9, "image_id": 2, "caption": "a cat", "ok": true, "votes": 3, "lang": "en"}]}"#;
    for (drop, left) in [
        (&["ok"][..], "1 ein Hund"),
        (&["ok=false"], "1 a dog, 2 a cat"),
        (&["votes=3"], "1 ein Hund"),
        (&["lang = de", "domain=out"], "1 a dog"),
        (&["none"], "1 a dog, 1 ein Hund, 2 a cat"),
        (&["lang=fr"], "1 a dog, 1 ein Hund, 2 a cat"),
    ] {
        assert_eq!(kept(coco, "a.json", drop), left, "{drop:?}");
    }
    let notices = |drop: &[&str]| read(coco, "a.json", drop).unwrap().notices().to_vec();
    assert_eq!(notices(&["ok=false"])[0].message, "1 record of a.json is left out by ok=false");
    assert_eq!(notices(&["lang=fr"])[0].message, "no record of a.json is left out by lang=fr");
    let table = "image_id,caption,spam_score,junk\n1,a dog,0.1,0\n1,buy now,0.9,1\n2,a cat,0.1,False\n";
    assert_eq!(kept(table, "a.csv", &["junk"]), "1 a dog, 2 a cat");
    let lines = "{\"id\": 1, \"caption\": \"a dog\", \"meta\": {\"junk\": 1}}\n{\"id\": 2, \"caption\": \"a cat\", \"meta\": {\"junk\": 0}}\n";
    assert_eq!(kept(lines, "a.jsonl", &["junk"]), "2 a cat");

    for (text, name, drop, words) in [
        (coco, "a.json", "okay", "it has no key 'okay' by which to leave captions out"),
        (coco, "a.json", "", "it has no key ''"),
        (
            "[{\"image_id\": 1, \"caption\": \"a\", \"x\": 1}]",
            "a.json",
            "x",
            "all captions are left out by x",
        ),
        ("a dog\na cat\n", "a.txt", "x", "no key"),
    ] {
        let error = read(text, name, &[drop]).unwrap_err();
        let remedy = error.remedy().unwrap().to_string();
        assert!(error.to_string().contains(words) && !remedy.contains(" ,"), "{drop}: {error}; {remedy}");
    }
}

#[test]
fn captions_marked_as_unusable_are_left_out() {
    let text = r#"{"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a dog", "is_rejected": false},
        {"image_id": 1, "caption": "spam", "is_rejected": true}]}"#;
    let captions = read_bytes(text.as_bytes(), "a.json", &ReadOptions::references()).unwrap();
    assert_eq!(captions.iter().map(|(_, text)| text).collect::<Vec<_>>(), ["a dog"]);
    assert_eq!(captions.notices()[0].count, Some(1));
}
