//! Every remedy that an error names succeeds on the input that provoked it.

use capeval_corpus::{
    Alignment, Duplicate, Error, GroupedCaptions, Ids, Opposite, Policy, ReadOptions, agree, align,
    read_bytes,
};

use capeval_choice::{Argument, Dialect, Remedy, Role, Task};

/// Two files, and how they are read.
#[derive(Clone)]
struct Run {
    references: (String, &'static str),
    candidates: (String, &'static str),
    reading: [ReadOptions; 2],
    ids: Ids,
    policy: Policy,
}

impl Run {
    fn new(references: (&str, &'static str), candidates: (&str, &'static str)) -> Self {
        Self {
            references: (references.0.to_owned(), references.1),
            candidates: (candidates.0.to_owned(), candidates.1),
            reading: [ReadOptions::references(), ReadOptions::candidates()],
            ids: Ids::AsGiven,
            policy: Policy::default(),
        }
    }

    fn run(&self) -> Result<(Alignment, Vec<String>), Error> {
        let [of_references, of_candidates] = &self.reading;
        let mut references = read_bytes(self.references.0.as_bytes(), self.references.1, of_references)?;
        let candidates = read_bytes(self.candidates.0.as_bytes(), self.candidates.1, of_candidates)?;
        let mut systems = vec![("a".to_owned(), candidates)];
        agree(Opposite::Captions(&mut references), &mut systems, self.ids)?;
        let texts = systems[0].1.iter().map(|(_, text)| text.to_owned()).collect();
        let grouped = GroupedCaptions::new(references, self.ids)?;
        Ok((align(grouped.index(), &systems[0].1, &self.policy)?, texts))
    }

    /// The same run with an argument set.
    fn with(&self, argument: &str, value: &str) -> Option<Self> {
        let mut run = self.clone();
        let (name, role) = argument.split_once(' ').unwrap_or((argument, ""));
        let reading = &mut run.reading[usize::from(role == "Candidates")];
        match name {
            "format" => reading.format = value.parse().ok(),
            "id_column" => reading.id_column = Some(value.to_owned()),
            "caption_columns" => reading.caption_columns = Some(vec![value.to_owned()]),
            "split" => reading.split = Some(vec![value.to_owned()]),
            "drop" => reading.drop.push(value.to_owned()),
            "ids" => run.ids = value.parse().ok()?,
            "missing" => run.policy.missing = value.parse().ok()?,
            "surplus" => run.policy.surplus = value.parse().ok()?,
            // Means of several are not a matter of alignment.
            "several" => run.policy.duplicate = value.parse().unwrap_or(Duplicate::First),
            "empty" => run.policy.empty = value.parse().ok()?,
            _ => return None,
        }
        Some(run)
    }
}

/// Remedies as `argument=value` between bars.
struct Bare;

impl Dialect for Bare {
    fn name(&self, argument: Argument) -> String {
        let role = match argument {
            Argument::Format(role) | Argument::IdColumn(role) | Argument::CaptionColumns(role) => Some(role),
            Argument::Split(role) | Argument::Drop(role) => Some(role),
            _ => None,
        };
        let role = role.map(|role| format!(" {role:?}").replace("Training", "References"));
        format!("{}{}", argument.name(), role.unwrap_or_default())
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        format!("<{}={}>", self.name(argument), value.unwrap_or("?"))
    }

    fn task(&self, _: &Task) -> String {
        String::new()
    }
}

/// The arguments that a remedy sets, with their values; `?` for one that is left to the user.
fn set(remedy: &Remedy) -> Vec<(String, String)> {
    let words = remedy.in_words(&Bare).unwrap_or_default();
    let inner = words.split('<').skip(1).filter_map(|part| part.split_once('>'));
    inner
        .filter_map(|(pair, _)| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Follows every remedy of every error, until the captions are aligned; panics if one leads nowhere.
fn follow(kind: &str, run: &Run, steps: usize) {
    let Err(error) = run.run() else { return };
    let remedy = error.remedy().unwrap_or_else(|| panic!("{kind}: {error} has no remedy"));
    assert!(steps > 0, "{kind}: {error}; {remedy}: the remedies have no end");
    for (argument, value) in set(remedy) {
        if value != "?" {
            let next = run.with(&argument, &value).unwrap_or_else(|| panic!("{kind}: {argument}={value}"));
            let is_same = next.run().is_err_and(|again| again.to_string() == error.to_string());
            assert!(!is_same, "{kind}: {argument}={value} changes nothing: {error}");
            follow(kind, &next, steps - 1);
            continue;
        }
        // The error names what could be given.
        let message = error.to_string();
        let named: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
        let works = |value: &&str| run.with(&argument, value).is_some_and(|next| next.run().is_ok());
        assert!(named.iter().any(works), "{kind}: {message}; no {argument} of {named:?} works");
    }
}

const TEXTS: [&str; 6] = [
    "a dog runs on the beach",
    "two children with a kite",
    "a red train at a station",
    "a man on a surfboard",
    "a bowl of soup",
    "an old clock tower",
];

/// References by ids that `id` makes of numbers.
fn ground(id: impl Fn(usize) -> String) -> String {
    let entry = |(k, text): (usize, &&str)| format!("{:?}: [{:?}]", id(k), format!("{text} there"));
    let entries: Vec<String> = TEXTS.iter().enumerate().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// What `line` makes of each caption.
fn each(separator: &str, line: impl Fn(usize, &str) -> String) -> String {
    TEXTS.iter().enumerate().map(|(k, text)| line(k, text)).collect::<Vec<_>>().join(separator)
}

fn dict(id: impl Fn(usize) -> String) -> String {
    format!("{{{}}}", each(", ", |k, text| format!("{:?}: {text:?}", id(k))))
}

/// A table of the captions of several systems, one below the other.
fn systems(names: &[&str]) -> String {
    let rows = |name: &&str| each("\n", |k, text| format!("{name},im{k},{text} for {name}"));
    format!("system,image_id,caption\n{}", names.iter().map(rows).collect::<Vec<_>>().join("\n"))
}

fn results(texts: [&str; 6]) -> String {
    let entry = |(k, text): (usize, &&str)| format!(r#"{{"image_id": "im{k}", "caption": {text:?}}}"#);
    format!("[{}]", texts.iter().enumerate().map(entry).collect::<Vec<_>>().join(", "))
}

/// Inputs that are refused, each of another kind.
fn refused() -> Vec<(&'static str, Run)> {
    let plain = |k: usize| format!("im{k}");
    let json = "a.json";
    let against =
        |references: &str, candidates: &str, name| Run::new((references, "r.json"), (candidates, name));
    let parts = |k: usize| format!("s{}|{}", k / 2, k % 2);
    let karpathy = format!(
        r#"{{"images": [{}]}}"#,
        each(", ", |k, text| format!(
            r#"{{"cocoid": {}, "imgid": {k}, "split": "test", "sentences": [{{"raw": {text:?}}}]}}"#,
            900 + k
        ))
    );
    let coco = format!(
        r#"{{"images": [{}], "annotations": [{}]}}"#,
        each(", ", |k, _| format!(r#"{{"id": {k}, "open_id": "x{k}y"}}"#)),
        each(", ", |k, text| format!(r#"{{"image_id": {k}, "id": {k}, "caption": {text:?}}}"#))
    );
    let composite = |with: &str| {
        format!(
            "scene,object,caption\n{}",
            each("\n", |k, text| format!("s{},{},{text}{with}", k / 2, k % 2))
        )
    };
    let moments = format!(
        r#"{{"a": {{"timestamps": [[0, 2.5], [1, 4]], "sentences": ["{}", "{}"]}}, "b": {{"timestamps": [[0, 9]],
            "sentences": ["{}"]}}}}"#,
        TEXTS[0], TEXTS[1], TEXTS[2]
    );
    let submission = format!(
        r#"{{"results": {{"a": [{{"sentence": "{}", "timestamp": [0, 3]}}, {{"sentence": "{}", "timestamp": [3, 9]}}],
            "b": [{{"sentence": "{}", "timestamp": [0, 3]}}]}}}}"#,
        TEXTS[0], TEXTS[1], TEXTS[2]
    );
    vec![
        ("a prefix here", against(&ground(plain), &dict(|k| format!("v_im{k}")), json)),
        ("a prefix there", against(&ground(|k| format!("coco_{k}")), &dict(|k| k.to_string()), json)),
        ("a tensor", against(&ground(|k| k.to_string()), &dict(|k| format!("tensor({k})")), json)),
        ("two columns", against(&ground(parts), &composite(""), "a.csv")),
        ("numbers and texts", against(&ground(plain), &dict(|k| format!("a/im{k}.jpg")), json)),
        (
            "addresses",
            against(
                &ground(|k| format!("caf\u{e9} {k}")),
                &dict(|k| format!("http://x/cafe%CC%81%20{k}.jpg?w=2")),
                json,
            ),
        ),
        (
            "paths in a column",
            against(
                &ground(plain),
                &format!("path,said\n{}", each("\n", |k, text| format!("C:\\x\\im{k}.png,{text}"))),
                "a.csv",
            ),
        ),
        ("imgid", against(&karpathy, &dict(|k| k.to_string()), json)),
        ("another id in the list of images", against(&coco, &dict(|k| format!("x{k}y")), json)),
        (
            "two systems",
            against(
                &ground(plain),
                &format!("id,first,second\n{}", each("\n", |k, text| format!("im{k},{text},{text} here"))),
                "a.csv",
            ),
        ),
        ("moments", against(&moments, &submission, json)),
        ("fewer", against(&ground(plain), &format!("{{\"im0\": {:?}}}", TEXTS[0]), json)),
        ("more", against(&format!("{{\"im0\": [{:?}]}}", TEXTS[0]), &dict(plain), json)),
        ("empty", against(&ground(plain), &dict(plain).replace(TEXTS[2], ""), json)),
        (
            "twice",
            against(
                &ground(plain),
                &format!("id,caption\n{}\nim0,again", each("\n", |k, text| format!("im{k},{text}"))),
                "a.csv",
            ),
        ),
        ("systems below each other", against(&ground(plain), &systems(&["x", "y", "z"]), "a.csv")),
        (
            "systems as keys",
            against(
                &ground(plain),
                &format!("{{\"x\": {}, \"y\": {}}}", results(TEXTS), results(TEXTS.map(|text| &text[1..]))),
                json,
            ),
        ),
        (
            "damaged YAML",
            Run::new(
                (&each("\n", |_, text| (*text).to_owned()), "r.txt"),
                ("- a: 1\n  b: [x\n- a: 2\n  b: y\n- a: 3\n  b: z", "a.yaml"),
            ),
        ),
    ]
}

#[test]
fn every_remedy_succeeds() {
    for (kind, run) in refused() {
        assert!(run.run().is_err(), "{kind} is refused");
        follow(kind, &run, 4);
    }
}

#[test]
fn only_names_of_systems_are_taken_for_such() {
    let ground = ground(|k| format!("im{k}"));
    let message = |names: &[&str]| {
        let run = Run::new((&ground, "r.json"), (&systems(names), "a.csv"));
        run.run().unwrap_err().to_string()
    };
    assert!(message(&["x", "y"]).ends_with(r#""system" seems to name their systems: "x", "y""#));
    // Numbers count the captions of an image, and a name that stands twice there names none.
    for names in [&["1", "2"][..], &["0.5", "0.7"], &["x", "x"], &["", "y"]] {
        assert!(!message(names).contains("seems to name"), "{names:?}");
    }
}

#[test]
fn captions_of_moments_become_paragraphs() {
    let moments = refused().into_iter().find(|(kind, _)| *kind == "moments").map(|(_, run)| run).unwrap();
    let whole = moments.with("caption_columns References", "{sentences}").unwrap();
    let whole = whole.with("caption_columns Candidates", "{sentence}").unwrap();
    let (aligned, texts) = whole.run().unwrap();
    assert_eq!(aligned.len(), 2);
    assert_eq!(texts, [format!("{} {}", TEXTS[0], TEXTS[1]), TEXTS[2].to_owned()]);
}

#[test]
fn roles_are_named_in_remedies() {
    let remedy = Remedy::set(Argument::IdColumn(Role::Candidates), "x").or(Remedy::give(Argument::Missing));
    assert_eq!(set(&remedy), [("id_column Candidates".into(), "x".into()), ("missing".into(), "?".into())]);
}
