//! Readers of human ratings, on whole and damaged samples.

use capeval_corpus::ratings::{Item, RatedCaption, RatingOptions, Ratings, read_ratings};
use capeval_corpus::scores::read_scores;
use capeval_corpus::{Error, SegmentId};
use proptest::prelude::*;

fn read(text: &str) -> Result<Ratings, Error> {
    read_ratings(text.as_bytes(), "f", &RatingOptions::default())
}

fn item(image: impl Into<SegmentId>, caption: Option<&str>, system: Option<&str>, ratings: &[f64]) -> Item {
    Item {
        image: image.into(),
        caption: caption.map(|text| RatedCaption::Text(text.into())),
        system: system.map(str::to_owned),
        ratings: ratings.to_vec(),
    }
}

#[test]
fn raters_may_be_in_rows_or_in_columns() {
    let rows = "image_id,caption,rater,rating\n1,a dog,x,3\n1,a dog,y,4\n2,a cat,x,1\n";
    let columns = "image_id\tcaption\trater_1\trater_2\n1\ta dog\t3\t4\n2\ta cat\t1\t\n";
    let json = r#"[{"image_id": 1, "caption": "a dog", "ratings": [3, 4]}, {"image_id": 2, "caption": "a cat", "ratings": [1]}]"#;
    let lines = "{\"image_id\": 1, \"caption\": \"a dog\", \"rating\": 3}\n{\"image_id\": 1, \"caption\": \"a dog\", \"rating\": 4.0}\n{\"image_id\": 2, \"caption\": \"a cat\", \"rating\": 1}\n";
    let expected = [item(1, Some("a dog"), None, &[3.0, 4.0]), item(2, Some("a cat"), None, &[1.0])];
    for text in [rows, columns, json, lines] {
        assert_eq!(read(text).unwrap().items, expected, "{text}");
    }
}

#[test]
fn references_beside_ratings_are_read() {
    let lines = "{\"image_id\": 1, \"caption\": \"a dog\", \"rating\": 3, \"references\": [\"x y\", \"z\"]}\n\
                 {\"image_id\": 1, \"caption\": \"a cat\", \"rating\": 4, \"references\": [\"x y\", \"z\"]}\n";
    let csv = "image_id,caption,rating,references\n1,a dog,3,\"[\"\"x y\"\", \"\"z\"\"]\"\n1,a cat,4,\"[\"\"x y\"\", \"\"z\"\"]\"\n";
    for text in [lines, csv] {
        let references = read(text).unwrap().references.unwrap();
        let found: Vec<_> = references.iter().map(|(id, text)| (id.to_string(), text)).collect();
        assert_eq!(found, [("1".into(), "x y"), ("1".into(), "z")], "{text}");
    }
    let found = read(&lines.replacen("x y", "other", 1)).unwrap();
    assert!(found.references.is_none());
    assert_eq!(found.no_references.as_deref(), Some("rows of image 1 have different references"));
    let numbers = read("image_id,caption,rating,reference\n1,a dog,3,7\n").unwrap();
    assert!(numbers.references.is_none() && numbers.no_references.is_none());
}

#[test]
fn systems_keep_items_apart() {
    let found = read("image,system,score\nx.jpg,a,1\nx.jpg,b,2\nx.jpg,a,3\n").unwrap();
    let expected = [item("x.jpg", None, Some("a"), &[1.0, 3.0]), item("x.jpg", None, Some("b"), &[2.0])];
    assert_eq!(found.items, expected);
}

#[test]
fn columns_may_be_named() {
    let options = RatingOptions {
        id_column: Some("pic".into()),
        caption_column: Some("words".into()),
        rating_columns: vec!["good".into(), "true".into()],
        ..RatingOptions::default()
    };
    let found = read_ratings(b"pic,words,good,true\n7,a b,1,2\n", "f", &options).unwrap();
    assert_eq!(found.items, [item(7, Some("a b"), None, &[1.0, 2.0])]);
}

#[test]
fn clipscores_form_brings_its_references() {
    let text = r#"{"x": {"image_id": "x", "ground_truth": ["A  dog .", "One dog"], "human_judgement":
        [{"image_id": "x", "caption": "a\n dog", "rating": 2.0}, {"caption": "a dog", "rating": 3},
         {"caption": "a cat", "rating": null}]}}"#;
    let found = read(text).unwrap();
    assert_eq!(found.items, [item("x", Some("a dog"), None, &[2.0, 3.0])]);
    let references = found.references.unwrap();
    assert_eq!(references.iter().map(|(_, text)| text).collect::<Vec<_>>(), ["A dog .", "One dog"]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        ("", "is empty"),
        ("image_id,rating\n", "no rating"),
        ("image_id,rating\n1,2\n2,nan\n", "f:3: the rating 'nan' is not a finite number"),
        ("image_id,rating\n1,inf\n", "leave the cell empty"),
        ("image_id,rating\n1,good\n", "'good'"),
        ("[{\"image_id\": 1, \"ratings\": [5, \"bad\", 3]}]", "'[5,\"bad\",3]'"),
        ("image_id,rating\n,3\n", "f:2: there is no image_id"),
        ("picture,rating\n1,2\n", "set id_column"),
        ("image_id,points\n1,2\n", "set rating_columns"),
        ("image_id,rating\n1,2,3\n", "f:2"),
        ("[{\"image_id\": 1, \"rating\": 2}", "f:1"),
        ("[1, 2]", "f:1:2 (byte 1): expected an object with keys"),
        ("{\"x\": {\"human_judgement\": 3}}", "CLIPScore"),
        ("a.jpg\tb.jpg#0\t1\t2\t3\na.jpg\tb.jpg#1\t1\t2\n", "f:2"),
        ("[{\"image_id\": [1], \"rating\": 2}]", "not an image id"),
    ];
    for (text, words) in cases {
        let error = read(text).unwrap_err();
        let error = error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}; {remedy}"));
        assert!(error.contains(words), "{text:?} gives {error:?} without {words:?}");
    }
    assert!(read_ratings(b"PAR1....PAR1", "f", &RatingOptions::default()).is_err());
}

#[test]
fn scores_of_segments_are_read_as_score_writes_them() {
    let text = "{\"system\":\"a\",\"image_id\":42,\"scores\":{\"bleu-1\":0.5,\"cider-d\":1}}\n";
    let found = read_scores(text.as_bytes(), "f", None).unwrap();
    assert_eq!(found.keys, ["bleu-1", "cider-d"]);
    let row = &found.rows[0];
    assert_eq!((&row.image, row.system.as_deref(), row.caption.as_deref()), (&42.into(), Some("a"), None));
    assert_eq!(row.scores, [0.5, 1.0]);
    let table = read_scores(b"image_id,caption,m\nx,a dog,0.25\n", "f", None).unwrap();
    let row = &table.rows[0];
    assert_eq!(
        (&row.image, row.caption.as_deref(), &row.scores[..]),
        (&"x".into(), Some("a dog"), &[0.25][..])
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z_,\\t\\n\\{\\}\\[\\]\":0-9.#-]{0,120}") {
        let _ = read(&text);
        let _ = read_scores(text.as_bytes(), "f", None);
    }

    #[test]
    fn every_rating_of_a_table_is_kept(rows in proptest::collection::vec((0i64..5, 0u8..4, -9i32..9), 1..30)) {
        let mut text = "image_id,caption,rating\n".to_owned();
        for (image, caption, rating) in &rows {
            text.push_str(&format!("{image},c{caption},{rating}\n"));
        }
        let found = read(&text).unwrap();
        prop_assert_eq!(found.items.iter().map(|item| item.ratings.len()).sum::<usize>(), rows.len());
        let mut keys: Vec<_> = found.items.iter().map(|item| (item.image.clone(), item.caption.clone())).collect();
        keys.sort();
        prop_assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
