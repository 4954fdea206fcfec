//! Tests that rows whose column of ids is in doubt are identified by another, or that a notice says so.

use capeval_corpus::{
    Captions, Format, Ids, KeyGathering, KeyName, Opposite, ReadOptions, SegmentId, agree, identify,
    read_bytes,
};

/// Captions from a table with a header, separated by semicolons and lines.
fn table(rows: &str, options: &ReadOptions) -> Captions {
    let options = ReadOptions { format: Some(Format::Csv), ..options.clone() };
    read_bytes(rows.replace(';', "\n").as_bytes(), "table.csv", &options)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The matches of candidates: the text of the reference for each candidate, and the codes of notices; or the error.
fn matched(references: &str, candidates: &str) -> Result<(Vec<String>, Vec<String>), String> {
    both(table(references, &ReadOptions::references()), table(candidates, &ReadOptions::candidates()))
}

fn both(mut references: Captions, candidates: Captions) -> Result<(Vec<String>, Vec<String>), String> {
    let mut systems = vec![("s".to_owned(), candidates)];
    let told = agree(Opposite::Captions(&mut references), &mut systems, Ids::AsGiven);
    let told = told.map_err(|error| match error.remedy() {
        Some(remedy) => format!("{error}: {remedy}"),
        None => error.to_string(),
    })?;
    let codes = told.iter().chain(references.notices()).map(|notice| notice.code.to_string()).collect();
    let text = |id: &SegmentId| {
        references.iter().find(|(other, _)| *other == id).map_or("none", |(_, text)| text).to_owned()
    };
    Ok((systems[0].1.ids().iter().map(text).collect(), codes))
}

/// Names of columns of ids as data sets have them; none is known to the readers.
const UNKNOWN: &[&str] = &[
    "question_id",
    "uid",
    "idx",
    "index",
    "qid",
    "doc_id",
    "pid",
    "clip",
    "youtube_id",
    "ytid",
    "audiocap_id",
    "sound_id",
    "wav",
    "segment_id",
    "path",
    "photo",
    "url",
    "Nummer",
    "ид",
    "x",
];

#[test]
fn a_column_that_both_sides_have_identifies_rows_whatever_it_is_called() {
    for name in UNKNOWN {
        for ids in [["7", "8", "9"], ["a.wav", "b.wav", "c.wav"], ["0", "1", "2"], ["1", "2", "3"]] {
            let [a, b, c] = ids;
            let references = format!("{name},caption;{a},one;{b},two;{c},three");
            let candidates = format!("{name},prediction;{c},x;{a},y;{b},z");
            let (texts, codes) = matched(&references, &candidates).unwrap();
            assert_eq!(texts, ["three", "one", "two"], "{name} {ids:?}");
            assert_eq!(codes, ["id-column"], "{name}");
        }
    }
}

#[test]
fn several_references_in_rows_of_their_own_share_the_id() {
    let references = "clip,caption;a,one;a,uno;b,two;b,due";
    let (texts, _) = matched(references, "clip,caption;b,x;a,y").unwrap();
    assert_eq!(texts, ["two", "one"]);
}

#[test]
fn ids_that_count_the_rows_give_way_to_a_column_that_names_them() {
    let (texts, codes) =
        matched("id,url,caption;0,u/a,one;1,u/b,two", "id,url,caption;0,u/b,x;1,u/a,y").unwrap();
    assert_eq!((texts, codes), (vec!["two".to_owned(), "one".to_owned()], vec!["id-column".to_owned()]));
    // Ids that match the same rows stay.
    let (texts, codes) =
        matched("id,url,caption;0,u/a,one;1,u/b,two", "id,url,caption;0,u/a,x;1,u/b,y").unwrap();
    assert_eq!((texts, codes), (vec!["one".to_owned(), "two".to_owned()], Vec::new()));
}

#[test]
fn ids_that_count_the_rows_do_not_give_way_to_lengths() {
    let lengths =
        matched("id,length,caption;0,5,one;1,7,two;2,9,three", "id,length,caption;0,7,x;1,4,y;2,8,z");
    assert_eq!(lengths.unwrap().0, ["one", "two", "three"]);
    let permuted = matched("id,length,caption;0,5,one;1,7,two", "id,length,caption;0,7,x;1,5,y");
    assert!(permuted.unwrap_err().contains("match different rows"));
}

#[test]
fn ids_of_captions_give_way_to_the_images_that_both_sides_name() {
    let (texts, codes) = matched("id,clip,caption;11,a,one;12,b,two", "id,clip,caption;1,b,x;2,a,y").unwrap();
    assert_eq!((texts, codes), (vec!["two".to_owned(), "one".to_owned()], vec!["id-column".to_owned()]));
    let (texts, codes) =
        matched("id,clip,caption;11,a,one;12,b,two", "id,clip,caption;12,b,x;11,a,y").unwrap();
    assert_eq!((texts, codes), (vec!["two".to_owned(), "one".to_owned()], Vec::new()));
}

#[test]
fn ids_that_mean_images_stay_even_if_they_count_the_rows() {
    let (texts, codes) =
        matched("image_id,url,caption;1,a,one;2,b,two", "image_id,url,caption;1,b,x;2,a,y").unwrap();
    assert_eq!(texts, ["one", "two"]);
    assert!(codes.is_empty());
}

#[test]
fn columns_that_one_side_lacks_are_refused_with_the_one_to_name() {
    for name in UNKNOWN {
        let error = matched("image_id,caption;7,one;8,two", &format!("{name},caption;8,x;7,y")).unwrap_err();
        assert!(error.contains(&format!("{name:?}, whose values are ids of the references")), "{error}");
        let error = matched(&format!("{name},caption;7,one;8,two"), "image_id,caption;8,x;7,y").unwrap_err();
        assert!(error.contains("whose values are ids of the candidates"), "{error}");
        let error = matched("caption;one;two", &format!("{name},caption;8,x;7,y")).unwrap_err();
        assert!(error.contains("no column is known to hold image ids"), "{error}");
    }
    let error = matched("clip,caption;a,one;b,two", "qid,caption;b,x;a,y").unwrap_err();
    assert!(error.contains("\"clip\" could"), "{error}");
}

#[test]
fn rows_are_matched_in_order_only_where_nothing_identifies_them() {
    let (texts, codes) = matched("caption;one;two", "caption;x;y").unwrap();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(codes, ["row-numbers"]);
    // A split, a score and a model are no ids.
    let rest = matched("caption,split;one,test;two,test", "caption,score,model;x,0.5,m;y,0.25,m").unwrap();
    assert_eq!(rest.1, ["row-numbers"]);
    assert!(matched("image_id,caption;7,one;8,two", "caption;x;y").is_err());
    assert!(matched("image_id,caption;1,one;2,two", "caption;x;y").is_ok());
}

#[test]
fn columns_that_match_different_rows_are_refused() {
    let error =
        matched("clip,url,caption;a,u/a,one;b,u/b,two", "clip,url,caption;a,u/b,x;b,u/a,y").unwrap_err();
    assert!(error.contains("\"clip\" and \"url\", which match different rows"), "{error}");
}

#[test]
fn plain_text_is_matched_in_order() {
    let lines = || read_bytes(b"x\ny\n", "h.txt", &ReadOptions::candidates()).unwrap();
    let (texts, codes) =
        both(table("clip,caption;a,one;b,two", &ReadOptions::references()), lines()).unwrap();
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(codes, ["row-numbers"]);
}

/// Captions with labels and no other key, as a series has.
fn labelled(rows: &[(i64, &str)]) -> Captions {
    let mut captions = Captions::new("series");
    let mut keys = KeyGathering::new(None, false, [KeyName::Labels]);
    for (row, (label, text)) in rows.iter().enumerate() {
        captions.push(SegmentId::from(row as i64), text);
        keys.row(1, |_, _| Some(SegmentId::from(*label)));
    }
    captions.set_keys(keys.finish());
    captions
}

#[test]
fn labels_are_ids_if_both_sides_have_the_same() {
    let (texts, codes) = both(labelled(&[(0, "one"), (1, "two")]), labelled(&[(1, "x"), (0, "y")])).unwrap();
    assert_eq!((texts, codes), (vec!["two".to_owned(), "one".to_owned()], vec!["labels".to_owned()]));
    let (texts, codes) = both(labelled(&[(0, "one"), (1, "two")]), labelled(&[(0, "x"), (1, "y")])).unwrap();
    assert_eq!((texts.len(), codes.len()), (2, 0));
    for others in [&[(0, "x"), (2, "y")][..], &[(5, "x")], &[(1, "x"), (1, "y")]] {
        let error = both(labelled(&[(0, "one"), (1, "two")]), labelled(others)).unwrap_err();
        assert!(error.contains("labels of its index"), "{error}");
    }
    let with_ids = table("image_id,caption;4,one;5,two", &ReadOptions::references());
    assert_eq!(both(with_ids.clone(), labelled(&[(5, "x"), (4, "y")])).unwrap().0, ["two", "one"]);
    assert!(both(with_ids, labelled(&[(5, "x"), (6, "y")])).is_err());
}

#[test]
fn references_that_meet_candidates_later_need_ids() {
    let alone = |rows| identify(&mut table(rows, &ReadOptions::references()));
    assert!(alone("clip,caption;a,one;b,two").unwrap_err().to_string().contains("\"clip\" could"));
    alone("caption,split;one,test;two,test").unwrap();
    alone("image_id,caption;a,one;b,two").unwrap();
}

#[test]
fn references_that_meet_candidates_later_have_the_labels_of_their_rows() {
    let ids = |rows: &[(i64, &str)]| {
        let mut references = labelled(rows);
        identify(&mut references).map(|()| references.ids().to_vec()).map_err(|error| error.to_string())
    };
    let numbers = |all: &[i64]| Ok(all.iter().map(|id| SegmentId::from(*id)).collect::<Vec<_>>());
    for labels in [&[1, 0, 2][..], &[0, 1, 2], &[7, 7, 3], &[5]] {
        let rows: Vec<(i64, &str)> = labels.iter().map(|label| (*label, "a dog")).collect();
        assert_eq!(ids(&rows), numbers(labels));
    }
    let error = ids(&[(0, "a"), (1, "b"), (0, "c")]).unwrap_err();
    assert!(error.contains("rows in several places have the label 0"), "{error}");
    // The order of candidates without ids says nothing of references with other numbers.
    let prepared = |ids: &[i64], captions: Captions| {
        let ids: Vec<SegmentId> = ids.iter().map(|id| SegmentId::from(*id)).collect();
        let mut systems = vec![("s".to_owned(), captions)];
        agree(Opposite::Ids(&ids, "r"), &mut systems, Ids::AsGiven).map_err(|error| error.to_string())
    };
    let lines = || read_bytes(b"x\ny\nz\n", "h.txt", &ReadOptions::candidates()).unwrap();
    prepared(&[1, 2, 3], lines()).unwrap();
    assert!(prepared(&[2, 1, 3], lines()).unwrap_err().contains("have numbers in another order"));
    prepared(&[2, 0, 1], labelled(&[(1, "x"), (0, "y"), (2, "z")])).unwrap();
    prepared(&[2, 0, 1], table("image_id,caption;1,x;0,y;2,z", &ReadOptions::candidates())).unwrap();
}

#[test]
fn every_table_format_keeps_what_may_identify_its_rows() {
    let files: [(&[u8], &[u8]); 3] = [
        (
            b"{\"qid\": 8, \"caption\": \"one\"}\n{\"qid\": 9, \"caption\": \"two\"}\n",
            b"{\"qid\": 9, \"caption\": \"x\"}\n{\"qid\": 8, \"caption\": \"y\"}\n",
        ),
        (
            b"[{\"qid\": 8, \"caption\": \"one\"}, {\"caption\": \"two\", \"qid\": 9}]",
            b"[{\"caption\": \"x\", \"qid\": 9, \"n\": null}, {\"qid\": 8, \"caption\": \"y\"}]",
        ),
        (b"qid\tcaption\n8\tone\n9\ttwo\n", b"qid\tcaption\n9\tx\n8\ty\n"),
    ];
    for (references, candidates) in files {
        let references = read_bytes(references, "r", &ReadOptions::references()).unwrap();
        let candidates = read_bytes(candidates, "c", &ReadOptions::candidates()).unwrap();
        assert_eq!(both(references, candidates).unwrap().0, ["two", "one"]);
    }
}

#[test]
fn columns_that_tell_rows_apart_together_identify_them() {
    // Names, and the ids of four images of which no column tells them apart.
    let cases: &[(&str, [&str; 4])] = &[
        ("scene,object", ["s0,1", "s0,2", "s1,1", "s1,2"]),
        ("img1,img2", ["a.png,c.png", "a.png,b.png", "c.png,b.png", "c.png,a.png"]),
        ("youtube_id,start_time", ["x-1,0", "x-1,10", "zz,0", "zz,10"]),
        ("show,season,episode", ["lost,1,1", "lost,1,2", "lost,2,1", "dark,1,1"]),
        ("split,lang,line", ["a,de,1", "a,fr,1", "a,de,2", "a,fr,2"]),
    ];
    for (names, ids) in cases {
        let rows = |order: [usize; 4], text: &str, copies: usize| {
            let row = |k: usize| (0..copies).map(move |_| format!("{},{text} {k} is here", ids[k]));
            format!("{names},caption;{}", order.into_iter().flat_map(row).collect::<Vec<_>>().join(";"))
        };
        for copies in [1, 5] {
            let (texts, codes) =
                matched(&rows([0, 1, 2, 3], "reference", copies), &rows([2, 0, 3, 1], "candidate", 1))
                    .unwrap();
            let expected = [2, 0, 3, 1].map(|k| format!("reference {k} is here"));
            assert_eq!((texts, codes), (expected.to_vec(), vec!["id-column".to_owned()]), "{names} {copies}");
        }
    }
    // Another set of pairs on one side identifies nothing, nor do columns that differ.
    let references = "scene,object,caption;s0,1,a x;s0,2,b x;s1,1,c x;s1,2,d x";
    for candidates in [
        "scene,object,caption;s0,1,a y;s0,2,b y;s1,1,c y;s1,7,d y",
        "scene,place,caption;s0,1,a y;s0,2,b y;s1,1,c y;s1,2,d y",
    ] {
        let read = matched(references, candidates);
        assert!(read.as_ref().is_err() || read.as_ref().unwrap().1 != ["id-column"], "{read:?}");
    }
}
