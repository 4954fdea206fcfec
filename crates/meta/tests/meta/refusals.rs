//! Tests that files are refused that differ from the registry, with the difference and the source of the real file.

use super::forms::files;
use super::*;

/// The refusal of a benchmark's files, with its remedy.
fn refused(name: &str, files: &[(&str, &[u8])], is_subset: bool) -> String {
    let folder = folder(files);
    let options = MetaOptions { subset: is_subset, ..options(&["rouge-l"]) };
    let error = run_with(&[name], folder.path(), Vec::new(), options).err().unwrap();
    let remedy = error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default();
    format!("{error}; {remedy}").replace(&folder.path().display().to_string(), "DIR")
}

#[track_caller]
fn expect(said: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

#[test]
fn missing_and_wrong_files_are_told() {
    expect(
        &refused("composite", &[], true),
        &[
            "composite: DIR (0 files) has none of its files: composite.json",
            "get them from annotations/composite.json",
        ],
    );
    expect(
        &refused("polaris", &[("a.txt", b"x")], true),
        &["DIR (1 file) has none", "polaris_test.csv", "yuwd/Polaris"],
    );
    // References are missing.
    let thumb = files("thumb");
    expect(
        &refused("thumb", &[(thumb[0].0, &thumb[0].1)], true),
        &["mscoco_THumB-1.0.jsonl with mscoco_references.json"],
    );
    expect(
        &refused("foil", &[("foilv1.0_test_2017.json", b"{}")], true),
        &["foilv1.0_test_2017.json with captions_val2014.json"],
    );
}

#[test]
fn parts_of_a_benchmark_are_refused_unless_they_are_asked_for() {
    let expert = files("flickr8k-expert");
    let said = refused("flickr8k-expert", &[(expert[0].0, &expert[0].1)], false);
    expect(
        &said,
        &[
            "flickr8k-expert: DIR/flickr8k.json holds 4 rated captions and 8 ratings",
            "the real file 5664 rated captions and 16992 ratings",
            "get it from github.com/jmhessel/clipscore",
            "set subset",
        ],
    );
    let pascal = files("pascal-50s");
    expect(&refused("pascal-50s", &[(pascal[0].0, &pascal[0].1)], false), &["2 pairs", "4000 pairs"]);
}

#[test]
fn contents_that_do_not_fit_are_told_with_their_place() {
    for (name, file, content, parts) in [
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs\na,b,\"['c']\"\n",
            &["no column score or human_score holds the rating; the columns are imgid, mt, refs"][..],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,text,refs,score\na,b,\"['c']\",1\n",
            &["no column mt or cand holds the rated caption"],
        ),
        ("polaris", "polaris_test.csv", "imgid,mt,score\na,b,1\n", &["no column refs holds the references"]),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\na,b,\"['c']\",high\n",
            &["polaris_test.csv:2: the score 'high' is not a finite number"],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\na,b,\"['c']\",inf\n",
            &["'inf' is not a finite number"],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\na,b,\"['c']\",1\na,,\"['c']\",1\n",
            &["polaris_test.csv:3: there is no rated caption in mt"],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\na,b,,1\n",
            &["polaris_test.csv:2: there are no references of image \"a\""],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\n,b,\"['c']\",1\n",
            &["polaris_test.csv:2: there is no image id in imgid"],
        ),
        (
            "polaris",
            "polaris_test.csv",
            "imgid,mt,refs,score\na,b,\"['c']\",\n",
            &["there is no rating in this file"],
        ),
        ("polaris", "polaris_test.csv", "", &["the file is empty"]),
        ("msvd-eval", "MSVD-Eval.json", "[1]", &["not a JSON object of objects"]),
        (
            "msvd-eval",
            "MSVD-Eval.json",
            r#"{"v": {"ref": ["a"], "candidate": "b", "human_score": [[1, 2]]}}"#,
            &["v: the ratings are not lists of 5 or more numbers"],
        ),
        (
            "msvd-eval",
            "MSVD-Eval.json",
            r#"{"v": {"ref": "a", "candidate": "b", "human_score": [[1, 2, 3, 4, 5]]}}"#,
            &["v: the references are not a list of texts"],
        ),
        (
            "msvd-eval",
            "MSVD-Eval.json",
            r#"{"v": {"ref": ["a"], "human_score": [[1, 2, 3, 4, 5]]}}"#,
            &["v: there is no candidate, which holds the rated caption"],
        ),
        (
            "pascal-50s",
            "pascal_50s.json",
            r#"{"HC": [{"image": "a", "captions": ["x"], "label": 0, "references": ["y"]}]}"#,
            &["pascal_50s.json"],
        ),
        (
            "flickr8k-expert",
            "flickr8k.json",
            r#"{"a": {"human_judgement": 1}}"#,
            &["not the JSON form of CLIPScore's ratings"],
        ),
        ("composite", "composite.json", "{\"flickr8k\": [{\"image\": \"a\"", &["composite.json"]),
        ("nebula", "nebula_test.csv", "\u{0}\u{1}\u{2}", &["nebula_test.csv"]),
    ] {
        let said = refused(name, &[(file, content.as_bytes())], true);
        assert!(parts.iter().all(|part| said.contains(part)), "{name}, {content:?}: {said}");
        assert!(said.contains(file), "{said}");
    }
}

/// The advice of the tasks behind a run, such as another treatment of references, cannot be followed here.
#[test]
fn what_a_run_lacks_is_not_advised() {
    let row = |caption: &str| {
        format!(
            r#"{{"image": "1.jpg", "caption": "{caption}", "references": ["a dog runs", "A dog runs."], "human": 3}}"#
        )
    };
    let file = format!(r#"{{"flickr8k": [{}, {}]}}"#, row("a dog runs"), row("a cat"));
    let said = refused("composite", &[("composite.json", file.as_bytes())], true);
    expect(
        &said,
        &[
            "image \"1.jpg\" has no reference but rated captions",
            "get the real file from annotations/composite.json",
        ],
    );
    assert!(!said.contains("own_reference"), "{said}");
    // What is possible stays.
    let composite = files("composite");
    let folder = folder(&[(composite[0].0, &composite[0].1)]);
    for (metric, remedy) in [
        ("rouge-l:tok=nonesuch", "did you mean none?"),
        ("rouge155:stem=porter-exceptions", "set metrics to choose others"),
    ] {
        let error = run_with(&["composite"], folder.path(), Vec::new(), options(&[metric])).err().unwrap();
        let found = error.remedy().map(|remedy| remedy.to_string()).unwrap_or_default();
        assert!(found.contains(remedy) && !found.contains("rouge_data"), "{error}; {found}");
    }
}

#[test]
fn files_of_several_lines_must_fit_together() {
    let mut files = files("elliott-keller-2014");
    files[1].1 = b"a cat sleeps\n".to_vec();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    expect(
        &refused("elliott-keller-2014", &files, true),
        &["DIR/candidates has 1 line, and DIR/judgements 2 rows"],
    );
    expect(&refused("elliott-keller-2014", &files[..4], true), &["ref-0, ref-1, ref-2, ref-3, ref-4"]);
}

#[test]
fn foils_without_a_right_caption_or_references_are_told() {
    let coco = files("foil")[1].1.clone();
    for (annotation, said) in [
        (
            r#"{"id": 1, "image_id": 1, "caption": "a", "foil": true}"#,
            "annotation 1 has a wrong caption and no right one",
        ),
        (
            r#"{"id": 1, "image_id": 9, "caption": "a", "foil": true}, {"id": 1, "image_id": 9, "caption": "b", "foil": false}"#,
            "image 9 has no references in",
        ),
        (
            r#"{"id": 1, "image_id": 2, "caption": "a", "foil": true}, {"id": 1, "image_id": 2, "caption": "children fly a kite in a park", "foil": false}"#,
            "image 2 has no reference but the right caption",
        ),
        ("", "there is no pair in this file"),
        (r#"{"id": "x"}"#, "not FOIL's JSON with annotations"),
    ] {
        let text = format!(r#"{{"annotations": [{annotation}]}}"#);
        let found = refused(
            "foil",
            &[("foilv1.0_test_2017.json", text.as_bytes()), ("captions_val2014.json", &coco)],
            true,
        );
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn several_files_of_one_name_are_refused_unless_they_are_equal() {
    let one = files("polaris")[0].1.clone();
    let other = String::from_utf8(one.clone()).unwrap().replace(",5\n", ",4.5\n").into_bytes();
    let said = refused("polaris", &[("a/polaris_test.csv", &one), ("b/polaris_test.csv", &other)], true);
    expect(
        &said,
        &[
            "several files could be polaris_test.csv: DIR/a/polaris_test.csv, DIR/b/polaris_test.csv",
            "leave one of them",
        ],
    );
    assert!(
        run_on("polaris", &[("a/polaris_test.csv", &one), ("b/polaris_test.csv", &one)], &["rouge-l"])
            .is_ok()
    );
}

#[test]
fn folders_and_requests_that_make_no_sense_are_refused() {
    let plain = files("polaris");
    let data = folder(&[(plain[0].0, &plain[0].1)]);
    let file = data.path().join("polaris_test.csv");
    let said =
        |error: Error| format!("{error}; {}", error.remedy().map(|r| r.to_string()).unwrap_or_default());
    let run = |names: &[&str], path: &Path, given: Vec<BenchmarkScores>, options: MetaOptions| {
        said(run_with(names, path, given, options).err().unwrap())
    };
    let usual = || options(&["rouge-l"]);
    assert!(run(&["polaris"], &file, Vec::new(), usual()).contains("this is a file; give the folder"));
    assert!(
        run(&["polaris"], Path::new("/none/at/all"), Vec::new(), usual())
            .contains("cannot look into the folder")
    );
    assert!(run(&[], data.path(), Vec::new(), usual()).contains("no benchmark is named"));
    let none = MetaOptions { intervals: Resampling { resamples: 0, ..Resampling::default() }, ..usual() };
    assert!(run(&["polaris"], data.path(), Vec::new(), none).contains("0 resamples cannot be drawn"));
    let foreign = vec![scores(Some("nebula"), "image_id,caption,x\na,b,1\n")];
    assert!(
        run(&["polaris"], data.path(), foreign, usual())
            .contains("scores are given for nebula, which is not among")
    );
    let lacking = vec![scores(None, "image_id,caption,x\na.jpg,a cat sleeps,1\n")];
    assert!(run(&["polaris"], data.path(), lacking, usual()).contains("3 of 4 rated items have no score"));
    let twice = vec![scores(None, "image_id,caption,x\na.jpg,a cat sleeps,1\na.jpg,a cat sleeps,2\n")];
    assert!(run(&["polaris"], data.path(), twice, usual()).contains("several scores"));
    assert!(run(&["polaris"], data.path(), Vec::new(), options(&["blue"])).contains("blue"));
}
