//! Readers of pairs of captions that people chose between, on whole and damaged samples.

use capeval_corpus::ratings::{Choice, Choices, read_pairs};
use capeval_corpus::scores::read_scores;
use capeval_corpus::{Error, SegmentId};

fn read(text: &str) -> Result<Choices, Error> {
    read_pairs(text.as_bytes(), "f")
}

/// The error with its remedy.
fn with_remedy(error: Error) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"))
}

fn choice(image: impl Into<SegmentId>, votes: [f64; 2], category: Option<&str>, pool: &[&str]) -> Choice {
    Choice {
        image: image.into(),
        captions: ["a dog".into(), "a cat".into()],
        votes,
        category: category.map(str::to_owned),
        references: pool.iter().map(|text| (*text).to_owned()).collect(),
    }
}

#[test]
fn counts_of_votes_are_read_from_every_form() {
    let expected = [choice(1, [30.0, 18.0], Some("HI"), &["the dog", "one dog"])];
    let forms = [
        r#"{"image_id": 1, "captions": ["a dog", "a cat"], "votes": [30, 18], "category": "HI", "references": ["the dog", "one dog"]}"#,
        r#"[{"image": 1, "caption_a": " a dog ", "caption_b": "a cat", "votes_a": 30, "votes_b": 18, "type": "HI", "refs": ["the dog", "one dog"]}]"#,
        r#"[{"id": 1, "hyp0": {"text": "a dog"}, "hyp1": {"text": "a cat"}, "votes": [30, 18], "class": "HI", "refs": [{"text": "the dog"}, {"caption": "one dog"}]}]"#,
        "image_id,caption 1,caption 2,votes 1,votes 2,category,reference_1,reference_2,reference_3\n1,a dog,a cat,30,18,HI,the dog,one dog,\n",
        "image_id\tcandidate_a\tcandidate_b\tvotes\tcategory\treferences\n1\ta dog\ta cat\t[30, 18]\tHI\t\"[\"\"the dog\"\", \"\"one dog\"\"]\"\n",
        "image_id,caption_a,caption_b,votes_a,votes_b,category,references\n1,a dog,a cat,30,18,HI,\"['the dog', 'one dog']\"\n",
    ];
    for text in forms {
        assert_eq!(read(text).unwrap().items, expected, "{text}");
    }
}

#[test]
fn lists_by_category_bring_their_category() {
    let text = r#"{"HC": [{"image": "x.jpg", "captions": ["a dog", "a cat"], "label": 1}],
                   "MM": [{"image": "x.jpg", "captions": ["a dog", "a cat"], "label": 0}]}"#;
    let expected =
        [choice("x.jpg", [0.0, 1.0], Some("HC"), &[]), choice("x.jpg", [1.0, 0.0], Some("MM"), &[])];
    assert_eq!(read(text).unwrap().items, expected);
}

#[test]
fn a_row_for_each_rater_is_a_vote_on_its_pair() {
    let expected = [choice(1, [1.0, 2.0], None, &[]), choice(2, [1.0, 0.0], None, &[])];
    for text in [
        "image_id,caption_a,caption_b,votes_a,votes_b\n1,a dog,a cat,1,2\n2,a dog,a cat,1,0\n",
        "image_id,caption_a,caption_b,winner\n1,a dog,a cat,a\n1,a dog,a cat,b\n1,a dog,a cat,b\n2,a dog,a cat,a\n",
        "image_id,rater,caption_a,caption_b,winner\n1,r0,a dog,a cat,a\n2,r0,a dog,a cat,a\n1,r1,a cat,a dog,a\n1,r2,a dog,a cat,b\n",
        "image_id,caption_a,caption_b,votes_a,votes_b\n1,a dog,a cat,1,0\n1,a dog,a cat,0,2\n2,a dog,a cat,1,0\n",
    ] {
        assert_eq!(read(text).unwrap().items, expected, "{text}");
    }
    let pools = r#"[{"image_id": 1, "captions": ["a dog", "a cat"], "winner": "a", "references": ["x", "y"]},
                    {"image_id": 1, "captions": ["a cat", "a dog"], "winner": "a", "references": ["x", "y"]}]"#;
    assert_eq!(read(pools).unwrap().items, [choice(1, [1.0, 1.0], None, &["x", "y"])]);
    let apart = "pair_id,image_id,caption_a,caption_b,winner\n1,1,a dog,a cat,a\n2,1,a dog,a cat,b\n";
    assert_eq!(read(apart).unwrap().items.len(), 2, "ids tell pairs apart");
}

/// As PASCAL-50S was collected: which of B and C is more like A?
#[test]
fn triplets_of_one_pair_are_put_together() {
    let text = "image_id,A,B,C,winner\n1,the dog,a dog,a cat,1\n1,one dog,a dog,a cat,-1\n\
                1,my dog,a dog,a cat,1\n1,no dog,a dog,a cat,0\n2,the dog,a dog,a cat,-1\n";
    let expected = [
        choice(1, [2.5, 1.5], None, &["the dog", "one dog", "my dog", "no dog"]),
        choice(2, [0.0, 1.0], None, &["the dog"]),
    ];
    assert_eq!(read(text).unwrap().items, expected);
    // A pair that was judged twice is two pairs if the file has different pair ids.
    let text =
        "image_id,pair,reference,caption_a,caption_b,winner\n1,7,r,a dog,a cat,a\n1,8,s,a dog,a cat,b\n";
    let expected = [choice(1, [1.0, 0.0], None, &["r"]), choice(1, [0.0, 1.0], None, &["s"])];
    assert_eq!(read(text).unwrap().items, expected);
}

#[test]
fn winners_are_words_or_three_kinds_of_numbers() {
    let votes = |winners: &[&str]| {
        let rows = winners.iter().enumerate().map(|(k, winner)| format!("1,a dog,cat {k},{winner}\n"));
        let text = format!("image_id,caption_a,caption_b,winner\n{}", rows.collect::<String>());
        read(&text).map(|found| found.items.iter().map(|item| item.votes).collect::<Vec<_>>())
    };
    let (a, b, tie) = ([1.0, 0.0], [0.0, 1.0], [0.5, 0.5]);
    assert_eq!(votes(&["a", "B", " tie", "first", "right"]).unwrap(), [a, b, tie, a, b]);
    assert_eq!(votes(&["1", "-1", "0"]).unwrap(), [a, b, tie], "signs");
    assert_eq!(votes(&["0", "1", "1.0"]).unwrap(), [a, b, b], "indices");
    assert_eq!(votes(&["1", "2", "0"]).unwrap(), [a, b, tie], "ordinals");
    for wrong in [&["1", "1"][..], &["-1", "2"], &["0", "3"], &["a", "c"], &["0", "nan"]] {
        let error = with_remedy(votes(wrong).unwrap_err());
        assert!(error.contains("a, b or tie"), "{wrong:?}: {error}");
    }
}

#[test]
fn pairs_without_a_vote_are_counted() {
    let text = "image_id,caption_a,caption_b,winner\n1,a dog,a cat,a\n1,a dog,a cat,\n";
    let found = read(text).unwrap();
    assert_eq!((found.items.len(), found.unvoted), (1, 1));
    let found = read(
        r#"[{"id": 1, "captions": ["a", "b"], "votes": [0, 0]}, {"id": 1, "captions": ["a", "b"], "votes": [0, 2]}]"#,
    );
    assert_eq!(found.unwrap().unvoted, 1);
}

#[test]
fn what_is_no_file_of_pairs_is_refused_with_a_reason() {
    let cases = [
        ("", "empty"),
        ("[]", "no pair"),
        ("image_id,caption_a,caption_b,winner\n", "no pair"),
        ("image_id,caption_a,caption_b,winner\n1,a,b,\n", "no vote in this file; fill in votes"),
        ("image_id,caption,rating\n1,a,2\n", "two captions"),
        ("image_id,caption_a,caption_b\n1,a,b\n", "votes"),
        ("caption_a,caption_b,winner\na,b,a\n", "image_id"),
        ("image_id,caption_a,caption_b,winner\n1,a,,a\n", "f:2: expected two captions"),
        (r#"[{"id": 1, "captions": ["a", " "], "winner": "a"}]"#, "a caption is empty"),
        (r#"[{"id": 1, "captions": ["a"], "winner": "a"}]"#, "expected two captions"),
        (
            r#"[{"id": 1, "captions": ["a", ""], "winner": "a"}]"#,
            "the second of \"captions\"; write it, or leave the row out",
        ),
        (
            r#"[{"id": 1.5, "captions": ["a", "b"], "winner": "a"}]"#,
            "'1.5' is not an image id; write it as a string",
        ),
        (
            r#"[{"id": true, "captions": ["a", "b"], "winner": "a"}]"#,
            "'true' is not an image id; write it as a string",
        ),
        (
            r#"[{"id": 99999999999999999999, "captions": ["a", "b"], "winner": "a"}]"#,
            "is not an image id; write it as a string",
        ),
        (r#"[{"id": null, "captions": ["a", "b"], "winner": "a"}]"#, "there is no id in this row"),
        (r#"[{"id": 1, "captions": ["a", "b"], "votes": [1, -1]}]"#, "not a number of votes"),
        (r#"[{"id": 1, "captions": ["a", "b"], "votes": "many"}]"#, "two numbers"),
        (r#"[{"id": 1, "captions": ["a", "b"], "votes": [1, 2], "refs": [1]}]"#, "list of references"),
        (r#"[7]"#, "expected an object"),
        ("{\"id\": 1\n", "unexpected end of JSON"),
        ("MATLAB 5.0 MAT-file, Platform: GLNXA64", "scripts/pascal50s.py"),
        ("PAR1", "Parquet"),
    ];
    for (text, words) in cases {
        let error = with_remedy(read(text).unwrap_err());
        assert!(error.contains(words), "'{words}' is not said of {text:?}: {error}");
    }
}

#[test]
fn contradictions_are_refused_with_their_place() {
    let cases = [
        (
            "image_id,caption_a,caption_b,votes_a,votes_b,winner\n1,a,b,3,1,a\n1,a,b,3,1,b\n",
            "f:3: winner is 'b', but the votes are 3 and 1",
        ),
        (
            "image_id,caption_a,caption_b,votes_a,votes_b,winner\n1,a,b,0,0,a\n",
            "f:2: winner is 'a', but the votes are 0 and 0",
        ),
        (
            r#"[{"id": 1, "captions": ["a", "b"], "votes": [1, 2], "votes_a": 2, "votes_b": 1}]"#,
            "f (record 1): votes are given both in",
        ),
        (
            "image_id,caption_a,caption_b,caption_c,winner\n1,a,b,,a\n1,a,b,c,a\n",
            "f:3: expected two captions, but there is \"caption_c\" beside",
        ),
        (
            "image_id,caption_a,caption_b,votes_a,votes_b,votes_c\n1,a,b,1,2,3\n",
            "f:2: expected two numbers of votes, but there is \"votes_c\"",
        ),
        ("image_id,A,B,C,D,winner\n1,r,b,c,d,a\n", "there is \"D\" beside"),
        (
            r#"[{"id": 1, "captions": ["a", "b", "c"], "winner": "a"}]"#,
            "expected two captions in \"captions\", not 3",
        ),
        (
            r#"[{"id": 1, "captions": ["a", "b"], "votes": [1, 2, 3]}]"#,
            "expected two numbers of votes in \"votes\", not 3",
        ),
        (
            r#"[{"id": 1, "captions": ["a", "b"], "caption_a": "c", "caption_b": "d", "winner": "a"}]"#,
            "captions are given both in",
        ),
        (
            r#"[{"id": 1, "captions": ["a", "b"], "winner": "a", "preferred": "b"}]"#,
            "winners are given both in \"winner\" and in \"preferred\"",
        ),
        ("image_id,caption_a,caption_b,winner,winner\n1,a,b,a,b\n", "the column winner is given twice"),
        (
            "image_id,caption_a,caption_b,Winner,winner\n1,a,b,a,b\n",
            "given twice, as \"Winner\" and \"winner\"",
        ),
        (
            "{\"id\": 1, \"captions\": [\"a\", \"b\"], \"winner\": \"a\"}\n{\"id\": 1, \"captions\": [\"a\", \"b\"], \"winner\": \"a\", \"winner\": \"b\"}",
            "the key \"winner\" appears twice",
        ),
        (r#"[{"id": 1, "captions": ["a", "b"], "preferred": true}]"#, "preferred: 'true' is not a winner"),
        (
            r#"[{"id": 1, "captions": ["a", "b"], "votes": [true, false]}]"#,
            "'true' in \"votes\" is not a number of votes",
        ),
        (
            "image_id,caption_a,caption_b,votes_a,votes_b\n1,a,b,3,\n",
            "is missing; write 0 where there are no votes",
        ),
        (
            "id,A,B,C,category,winner\n1,r,a,b,HC,a\n1,s,b,a,HI,a\n",
            "f:3: the votes of a pair name two categories, 'HI' here and 'HC' in line 2",
        ),
        (
            r#"{"HC": [{"id": 1, "captions": ["a", "b"], "winner": "a", "category": "HI"}]}"#,
            "'HI' appears in the list of 'HC'",
        ),
    ];
    for (text, words) in cases {
        let error = with_remedy(read(text).unwrap_err());
        assert!(error.contains(words), "'{words}' is not said of {text:?}: {error}");
    }
}

#[test]
fn counts_or_winner_are_chosen_for_each_row() {
    let text = "{\"id\": 1, \"captions\": [\"a dog\", \"a cat\"], \"winner\": \"a\"}\n\
                {\"id\": 2, \"captions\": [\"a dog\", \"a cat\"], \"votes\": [2, 5]}\n\
                {\"id\": 3, \"caption_a\": \"a dog\", \"caption_b\": \"a cat\", \"votes\": [2, 5], \"winner\": \"b\"}";
    let expected =
        [(1, [1.0, 0.0]), (2, [2.0, 5.0]), (3, [2.0, 5.0])].map(|(id, votes)| choice(id, votes, None, &[]));
    let found = read(text).unwrap();
    assert_eq!((&found.items[..], found.unvoted), (&expected[..], 0));
}

/// If all winners are 1, they may mean the first or the second caption, unless there are counts.
#[test]
fn counts_in_the_same_rows_decide_the_meaning_of_winners() {
    let votes = |rows: &str| {
        let text = format!("image_id,caption_a,caption_b,votes_a,votes_b,winner\n{rows}");
        read(&text).map(|found| found.items.iter().map(|item| item.votes).collect::<Vec<_>>())
    };
    assert_eq!(votes("1,a,b,3,1,1\n2,a,b,,,1\n").unwrap(), [[3.0, 1.0], [1.0, 0.0]]);
    assert_eq!(votes("1,a,b,1,3,1\n2,a,b,,,1\n").unwrap(), [[1.0, 3.0], [0.0, 1.0]]);
    assert!(votes("1,a,b,1,3,1\n2,a,b,3,1,1\n").unwrap_err().to_string().contains("but the votes are"));
    assert!(votes("1,a,b,1,3,b\n2,a,b,,,1\n").unwrap_err().to_string().contains("is unclear"));
}

#[test]
fn votes_with_exchanged_captions_are_of_one_pair() {
    let text =
        "image_id,A,B,C,winner\n1,the dog,a dog,a cat,1\n1,one dog,a cat,a dog,1\n1,my dog,a cat,a dog,-1\n";
    assert_eq!(read(text).unwrap().items, [choice(1, [2.0, 1.0], None, &["the dog", "one dog", "my dog"])]);
}

#[test]
fn a_vote_row_without_a_vote_keeps_its_reference() {
    let text =
        "image_id,A,B,C,winner\n1,the dog,a dog,a cat,\n1,one dog,a dog,a cat,a\n2,the dog,a dog,a cat,\n";
    let found = read(text).unwrap();
    assert_eq!(found.items, [choice(1, [1.0, 0.0], None, &["the dog", "one dog"])]);
    assert_eq!(found.unvoted, 1, "the second image has no votes");
}

#[test]
fn a_category_may_have_no_pair() {
    let text = r#"{"HC": [], "HI": [{"id": 1, "captions": ["a dog", "a cat"], "winner": "a"}]}"#;
    assert_eq!(read(text).unwrap().items, [choice(1, [1.0, 0.0], Some("HI"), &[])]);
}

#[test]
fn segments_of_pairs_are_named_where_scores_are_expected() {
    let row = r#"{"image_id": 1, "captions": ["a", "b"], "votes": [1, 0], "scores": {"m": [1, 2]}, "right": {"m": 0}}"#;
    let error = with_remedy(read_scores(row.as_bytes(), "f", None).unwrap_err());
    assert!(
        error.contains("these are segments of pairs") && error.contains("one row for each caption"),
        "{error}"
    );
}
