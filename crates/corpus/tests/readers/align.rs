//! Candidates and references that meet, and that do not.

use capeval_choice::Code;
use capeval_corpus::{
    Alignment, Captions, Duplicate, Empty, Error, ErrorKind, Format, GroupedCaptions, Ids, Missing, Notice,
    Policy, ReadOptions, SegmentId, Surplus, align, read_bytes,
};

fn captions(name: &str, rows: &[(&str, &str)]) -> Captions {
    let mut captions = Captions::new(name);
    for (id, text) in rows {
        captions.push(id_of(id), text);
    }
    captions
}

/// `7` is a number and `'7` a text.
fn id_of(id: &str) -> SegmentId {
    match id.strip_prefix('\'') {
        Some(text) => SegmentId::from(text),
        None => SegmentId::from_untyped(id),
    }
}

fn run(
    references: &[(&str, &str)],
    candidates: &[(&str, &str)],
    policy: &Policy,
) -> Result<Alignment, Error> {
    let references = GroupedCaptions::new(captions("refs.json", references), Ids::AsGiven)?;
    align(references.index(), &captions("hyps.json", candidates), policy)
}

/// The code and the count of a notice.
fn told(notice: &Notice) -> (String, Option<usize>) {
    (notice.code.to_string(), notice.count)
}

/// The error of the strict policy.
fn refused(references: &[(&str, &str)], candidates: &[(&str, &str)]) -> (ErrorKind, String) {
    let error = run(references, candidates, &Policy::default()).unwrap_err();
    let remedy = error.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"));
    (error.kind(), format!("{error}{remedy}"))
}

const REFERENCES: &[(&str, &str)] = &[("2", "two a"), ("1", "one a"), ("2", "two b"), ("3", "three")];

#[test]
fn images_keep_the_order_of_their_first_reference() {
    let references = GroupedCaptions::new(captions("refs.json", REFERENCES), Ids::AsGiven).unwrap();
    assert_eq!(references.len(), 3);
    assert_eq!(references.id(0), Some(&SegmentId::from(2)));
    assert_eq!(references.rows(0), [0, 2]);
    assert_eq!(references.texts(0).collect::<Vec<_>>(), ["two a", "two b"]);
    assert_eq!(references.rows(3), [0_u32; 0]);
    assert_eq!(references.index().find(&SegmentId::from(3)), Some(2));
    let candidates = captions("hyps.json", &[("1", "x"), ("2", "y"), ("3", "z")]);
    let aligned = align(references.index(), &candidates, &Policy::default()).unwrap();
    let rows = aligned.pairs.iter().map(|pair| (pair.image, pair.candidate));
    assert_eq!(rows.collect::<Vec<_>>(), [(0, Some(1)), (1, Some(0)), (2, Some(2))]);
    assert_eq!(references.id(1), Some(&SegmentId::from(1)));
    assert!(aligned.notices.is_empty());
}

#[test]
fn missing_candidates_follow_the_policy() {
    let candidates = &[("1", "x")];
    assert_eq!(
        refused(REFERENCES, candidates),
        (
            ErrorKind::Missing,
            "hyps.json: 2 of 3 images in refs.json have no candidate: 2, 3; set missing to \"skip\" to leave them out \
             (the score will say so), or missing to \"empty\" to score empty captions"
                .into()
        )
    );
    let skip = Policy { missing: Missing::Skip, ..Policy::default() };
    let aligned = run(REFERENCES, candidates, &skip).unwrap();
    assert_eq!(aligned.pairs.iter().map(|pair| pair.image).collect::<Vec<_>>(), [1]);
    assert_eq!(told(&aligned.notices[0]), ("missing:skip".into(), Some(2)));
    assert_eq!(aligned.notices[0].ids, [SegmentId::from(2), SegmentId::from(3)]);
    let empty = Policy { missing: Missing::Empty, ..Policy::default() };
    let aligned = run(REFERENCES, candidates, &empty).unwrap();
    assert_eq!(aligned.pairs.iter().map(|pair| pair.candidate).collect::<Vec<_>>(), [None, Some(0), None]);
    assert_eq!(told(&aligned.notices[0]), ("missing:empty".into(), Some(2)));
}

#[test]
fn surplus_candidates_follow_the_policy() {
    let candidates = &[("1", "x"), ("9", "y"), ("2", "z"), ("3", "w")];
    assert_eq!(
        refused(REFERENCES, candidates),
        (
            ErrorKind::Surplus,
            "hyps.json (record 2): 1 candidate has no reference in refs.json: 9; set surplus to \"ignore\" to leave it out"
                .into()
        )
    );
    let ignore = Policy { surplus: Surplus::Ignore, ..Policy::default() };
    let aligned = run(REFERENCES, candidates, &ignore).unwrap();
    assert_eq!(aligned.len(), 3);
    assert_eq!(told(&aligned.notices[0]), ("surplus:ignore".into(), Some(1)));
}

#[test]
fn two_captions_for_one_image_follow_the_policy() {
    let candidates = &[("1", "x"), ("2", "first"), ("3", "w"), ("2", "second"), ("2", "third")];
    assert_eq!(
        refused(REFERENCES, candidates),
        (
            ErrorKind::Duplicate,
            "hyps.json (record 4): 1 image has several candidates: 2 (the first one at caption 2 and caption 4); \
             set several to \"first\" or several to \"last\" to take one of them, or several to \"each\" to score all \
             of them"
                .into()
        )
    );
    for (duplicate, row) in [(Duplicate::First, 1), (Duplicate::Last, 4)] {
        let policy = Policy { duplicate, ..Policy::default() };
        let aligned = run(REFERENCES, candidates, &policy).unwrap();
        assert_eq!(aligned.pairs[0].candidate, Some(row));
        assert_eq!(told(&aligned.notices[0]), (format!("several:{duplicate}"), Some(1)));
    }
}

#[test]
fn empty_candidates_follow_the_policy() {
    let candidates = &[("1", " \u{3000}\n"), ("2", ""), ("3", "w")];
    assert_eq!(
        refused(REFERENCES, candidates),
        (
            ErrorKind::EmptyCandidate,
            "hyps.json (record 2): 2 candidates are empty: 2, 1; set empty to \"keep\" to score them, or empty to \"skip\" to \
             leave their images out"
                .into()
        )
    );
    let keep = run(REFERENCES, candidates, &Policy { empty: Empty::Keep, ..Policy::default() }).unwrap();
    assert_eq!(keep.len(), 3);
    assert_eq!(told(&keep.notices[0]), ("empty:keep".into(), Some(2)));
    let skip = run(REFERENCES, candidates, &Policy { empty: Empty::Skip, ..Policy::default() }).unwrap();
    assert_eq!(skip.pairs.iter().map(|pair| pair.image).collect::<Vec<_>>(), [2]);
}

#[test]
fn ids_of_mixed_type_differ_or_are_compared_as_text() {
    let candidates = &[("'1", "x"), ("'2", "y"), ("3", "z")];
    assert_eq!(
        refused(REFERENCES, candidates),
        (
            ErrorKind::MixedIds,
            "hyps.json: 2 image ids are given as strings here (\"1\", \"2\") and as numbers in refs.json; set ids to \
             \"text\" to compare them as text"
                .into()
        )
    );
    let references = GroupedCaptions::new(captions("refs.json", REFERENCES), Ids::Text).unwrap();
    let aligned = align(references.index(), &captions("hyps.json", candidates), &Policy::default()).unwrap();
    assert_eq!(aligned.len(), 3);
    let both = captions("refs.json", &[("1", "a"), ("'1", "b"), ("'01", "c")]);
    assert_eq!(GroupedCaptions::new(both.clone(), Ids::AsGiven).unwrap().len(), 3);
    let references = GroupedCaptions::new(both, Ids::Text).unwrap();
    assert_eq!(references.len(), 2);
    assert_eq!(references.texts(0).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(references.index().find(&SegmentId::from("1")), Some(0));
}

#[test]
fn files_without_a_common_image_show_both_kinds_of_id() {
    assert_eq!(
        refused(REFERENCES, &[("a.jpg", "x"), ("b.jpg", "y")]),
        (
            ErrorKind::Surplus,
            "hyps.json: none of its image ids (\"a.jpg\", \"b.jpg\") has a reference in refs.json, whose ids are 2, \
             1, 3; are these the right two files?"
                .into()
        )
    );
}

#[test]
fn swapped_files_are_suspected() {
    let one_each = &[("1", "a"), ("2", "b")];
    let many = &[("1", "x"), ("1", "y"), ("2", "z"), ("2", "w")];
    let (kind, message) = refused(one_each, many);
    assert_eq!(kind, ErrorKind::Duplicate);
    assert!(message.ends_with("are references and candidates swapped?"), "{message}");

    let references = br#"[{"image_id": 1, "caption": "a"}]"#;
    let references = read_bytes(references, "hyps.json", &ReadOptions::references()).unwrap();
    let candidates = br#"{"images": [{"id": 1}], "annotations": [{"image_id": 1, "caption": "a"}]}"#;
    let candidates = read_bytes(candidates, "refs.json", &ReadOptions::candidates()).unwrap();
    assert_eq!(candidates.format(), Some(Format::CocoAnnotations));
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    let aligned = align(references.index(), &candidates, &Policy::default()).unwrap();
    assert!(aligned.notices.len() == 1 && aligned.notices[0].code == Code::Swapped);
}

#[test]
fn images_without_reference_are_noticed() {
    let references =
        br#"{"images": [{"id": 1}, {"id": 7}], "annotations": [{"image_id": 1, "caption": "a"}]}"#;
    let references = read_bytes(references, "refs.json", &ReadOptions::references()).unwrap();
    let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
    assert_eq!(references.index().without_captions(), [SegmentId::from(7)]);
    let aligned =
        align(references.index(), &captions("hyps.json", &[("1", "x")]), &Policy::default()).unwrap();
    assert_eq!(aligned.notices[0].code, Code::ImagesWithoutReferences);
    let candidates = captions("hyps.json", &[("7", "x"), ("1", "y")]);
    let error = align(references.index(), &candidates, &Policy::default()).unwrap_err();
    assert!(error.to_string().contains("(it lists the first one, without a caption)"), "{error}");
}

#[test]
fn nothing_left_is_an_error() {
    let policy = Policy { empty: Empty::Skip, missing: Missing::Skip, ..Policy::default() };
    let error = run(REFERENCES, &[("1", "")], &policy).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NothingLeft);
    let error = GroupedCaptions::new(Captions::new("refs.json"), Ids::AsGiven).unwrap_err();
    assert_eq!(error.to_string(), "refs.json: holds no captions");
}

#[test]
fn at_most_five_ids_are_named() {
    let many: Vec<(String, &str)> = (0..100).map(|id| (id.to_string(), "x")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(id, text)| (id.as_str(), *text)).collect();
    let (_, message) = refused(&many, &[("0", "x")]);
    assert!(
        message.contains("99 of 100 images in refs.json have no candidate: 1, 2, 3, 4, 5, …;"),
        "{message}"
    );
}

/// Lines of text are numbered from 1, and from 0 where the other file counts from 0.
#[test]
fn lines_count_as_the_ids_of_the_other_file_do() {
    let read = |text: &str, options: ReadOptions| read_bytes(text.as_bytes(), "x", &options).unwrap();
    let aligned = |references: &str, candidates: &str| {
        let references = read(references, ReadOptions::references());
        let references = GroupedCaptions::new(references, Ids::AsGiven).unwrap();
        let candidates = read(candidates, ReadOptions::candidates());
        align(references.index(), &candidates, &Policy::default()).map(|aligned| {
            let rows: Vec<_> = aligned.pairs.iter().map(|pair| (pair.image, pair.candidate)).collect();
            (rows, aligned.notices.iter().map(|notice| notice.message.clone()).collect::<Vec<_>>())
        })
    };
    let by_id = |first: u32| format!(r#"{{"{first}": "a", "{}": "b", "{}": "c"}}"#, first + 1, first + 2);
    let lines = "a cat sits\na dog runs\na bird flies\n";
    let in_order = vec![(0, Some(0)), (1, Some(1)), (2, Some(2))];
    for (references, candidates) in [(by_id(0), lines.to_owned()), (lines.to_owned(), by_id(0))] {
        let (rows, notices) = aligned(&references, &candidates).unwrap();
        assert_eq!(rows, in_order);
        assert_eq!(notices, ["x has no ids, so its lines are counted from 0, as the ids of x are"]);
    }
    assert_eq!(aligned(&by_id(1), lines).unwrap(), (in_order, vec![]));
    let shuffled = r#"{"1": "a", "0": "b", "2": "c"}"#;
    assert!(aligned(shuffled, lines).is_err(), "ids that do not count from 0 or 1 are compared with 1, 2, 3");
}
