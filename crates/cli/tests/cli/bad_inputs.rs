//! Inputs that cannot be used: each exits with 2, prints nothing on standard output, and says where the
//! trouble is and what to do.

use crate::program::capeval;

/// The case, the arguments, and the words that the error must contain.
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("a missing file", &["absent.json", "results.json"], &["absent.json", "no such file"]),
    (
        "an address",
        &["https://example.org/refs.json", "results.json"],
        &[
            "https://example.org/refs.json: this is an address",
            "--allow-network",
            "curl -LO https://example.org/refs.json",
        ],
    ),
    (
        "an address of a bucket",
        &["references.json", "s3://b/results.json"],
        &["an address", "aws s3 cp s3://b"],
    ),
    (
        "a quoted pattern",
        &["references.json", "results*.json"],
        &["no such file", "leave out the quotation marks"],
    ),
    ("a directory", &[".", "results.json"], &["directory", "give a file"]),
    ("an empty file", &["empty.json", "results.json"], &["empty.json", "is empty"]),
    (
        "truncated JSON",
        &["truncated.json", "results.json"],
        &["truncated.json:2:45 (byte 100)", "the file may be truncated"],
    ),
    ("truncated gzip", &["truncated.json.gz", "results.json"], &["gzip", "too early", "fetch"]),
    ("Latin-1", &["latin1.json", "results.json"], &["latin1.json:1:33", "0xE9", "UTF-8"]),
    ("a damaged zip archive", &["archive.json", "results.json"], &["the zip data are damaged", "fetch"]),
    ("no references at all", &["no_annotations.json", "results.json"], &["no captions"]),
    (
        "results without captions",
        &["references.json", "no_caption.json"],
        &["no_caption.json: holds numbers", "--scores"],
    ),
    (
        "an id beyond 64 bits",
        &["references.json", "huge_id.json"],
        &["huge_id.json:1:15", "64 bits", "string"],
    ),
    (
        "images without a candidate",
        &["references.json", "partial.json"],
        &["2 of 3 images", "2, 3", "--missing skip", "--missing empty"],
    ),
    ("an unknown image", &["references.json", "surplus.json"], &["record 4", "99", "--surplus ignore"]),
    (
        "two candidates for one image",
        &["references.json", "twice.json"],
        &["record 3", "2", "--several first"],
    ),
    (
        "an empty candidate",
        &["references.json", "empty_caption.json"],
        &["record 2", "empty", "--empty keep"],
    ),
    ("ids 1 and \"1\"", &["references.json", "text_ids.json"], &["strings here", "numbers", "--ids text"]),
    ("references and candidates swapped", &["results.json", "references.json"], &["swapped?"]),
    (
        "files of unequal length",
        &["two_lines.txt", "-r", "three_lines.txt", "two_lines.txt"],
        &["3 lines", "2 lines", "line by line"],
    ),
    ("damaged JSON Lines", &["references.json", "damaged.jsonl"], &["damaged.jsonl:2", "get the file again"]),
    (
        "unknown columns",
        &["references.json", "columns.csv"],
        &["columns.csv: 2 of 3 images", "--missing skip"],
    ),
    (
        "the wrong format",
        &["references.json", "columns.csv", "--input-format", "coco-results"],
        &["columns.csv:1:1", "looks like csv"],
    ),
    ("an unknown metric", &["references.json", "results.json", "-m", "blue"], &["'blue'", "bleu, rouge-l"]),
    (
        "a bad setting",
        &["references.json", "results.json", "-m", "cider-d:sigma=wide"],
        &["'wide'", "1e-9 to 1e9"],
    ),
    (
        "a foreign setting",
        &["references.json", "results.json", "-m", "bleu:sigma=4"],
        &["bleu", "'sigma'", "reflen"],
    ),
    ("an unknown suite", &["references.json", "results.json", "-s", "best"], &["'best'", "coco"]),
    ("an unknown tokenizer", &["references.json", "results.json", "-t", "spacy"], &["'spacy'", "13a"]),
    (
        "an output that cannot be written",
        &["references.json", "results.json", "-o", "absent/report.txt"],
        &["absent/report.txt", "cannot write"],
    ),
    (
        "an output that is an input",
        &["references.json", "results.json", "-o", "results.json"],
        &["an input file"],
    ),
    ("standard input twice", &["-", "-"], &["standard input", "once"]),
    (
        "a list with unknown images",
        &["references.json", "results.json", "--images", "unlisted.txt"],
        &["1 of the 2", "7"],
    ),
    (
        "a table that is none",
        &["references.json", "results.json", "--df", "results.json"],
        &["JSON", "df build"],
    ),
    (
        "a split of a file without",
        &["references.json", "results.json", "--split", "test"],
        &["leave out --split"],
    ),
    ("an unknown policy", &["references.json", "results.json", "--missing", "maybe"], &["maybe", "skip"]),
    (
        "too many names",
        &["references.json", "results.json", "--name", "a", "--name", "b"],
        &["2 times", "1 file"],
    ),
    ("a level of nothing", &["references.json", "results.json", "--ci=100"], &["'--ci", "between 0 and 1"]),
    (
        "no resamples",
        &["references.json", "results.json", "--ci", "--resamples", "0"],
        &["0 resamples", "from 1"],
    ),
    ("a seed for nothing", &["references.json", "results.json", "--seed", "1"], &["add --ci"]),
    (
        "report and segments in one place",
        &["references.json", "results.json", "--segments", "-"],
        &["same place", "--output"],
    ),
];

#[test]
fn bad_inputs_are_refused_with_place_and_remedy() {
    for (what, args, words) in CASES {
        let args = [&["score", "-r"], *args].concat();
        let run = capeval(&args);
        let shown = format!("{what}: capeval {}\n{}{}", args.join(" "), run.stdout, run.stderr);
        assert_eq!(run.code, 2, "{shown}");
        assert_eq!(run.stdout, "", "{shown}");
        assert!(run.stderr.starts_with("error: "), "{shown}");
        for word in *words {
            assert!(run.stderr.contains(word), "'{word}' is not said of {shown}");
        }
    }
}

#[test]
fn a_failed_run_leaves_no_output_behind_and_old_output_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (new, old) = (crate::program::scratch(&folder, "new"), crate::program::scratch(&folder, "old"));
    std::fs::write(&old, "what was there").unwrap();
    let args = ["score", "-r", "references.json", "partial.json", "-o", &new, "--segments", &old];
    assert_eq!(capeval(&args).code, 2);
    assert!(!std::path::Path::new(&new).exists());
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "what was there");
}

const REFERENCES: &str = r#"[{"image_id":1,"caption":"a cat sits"},{"image_id":2,"caption":"a dog runs"}]"#;

/// References, the name of the candidates, their content, and words that are said; by default about [`REFERENCES`].
const REFUSED: &[(&str, &str, &str, &[&str])] = &[
    (REFERENCES, "a.json", "[1, 2]", &["a JSON array without captions", "give an array of captions"]),
    (REFERENCES, "a.json", r#"["a", null]"#, &["1 candidate is empty: 2", "--empty keep"]),
    (REFERENCES, "a.json", r#"[{"image_id":1.5,"caption":"a"}]"#, &["1.5 is not an integer"]),
    (REFERENCES, "a.json", r#"[{"image_id":NaN,"caption":"a"}]"#, &["found NaN"]),
    (REFERENCES, "a.json", r#"[{"image_id":1,"caption":NaN}]"#, &["found NaN"]),
    (REFERENCES, "a.json", r#"{"1":"...","2":"a"}"#, &["1 candidate has no words: 1", "--empty keep"]),
    (REFERENCES, "a.json", r#"{"1":"?","2":"!"}"#, &["2 candidates have no words: 1, 2"]),
    (REFERENCES, "a.txt", "a\nb\nc\n", &["paired by their numbers"]),
    (REFERENCES, "a.json", "\0\0\0\0", &["binary data"]),
    (
        REFERENCES,
        "a.jsonl",
        "{\"question_id\":2,\"caption\":\"a\"}\n{\"question_id\":1,\"caption\":\"b\"}\n",
        &["\"question_id\" could", "--id-column question_id", "whose values are ids of the references"],
    ),
    (
        REFERENCES,
        "a.json",
        r#"{"COCO_val2014_000000000001.jpg":"a","x/2.png":"b"}"#,
        &["2 image ids are written in another way", "--ids file-name"],
    ),
];

/// As [`REFUSED`], for files that can be scored; the words are those of a note.
const DOUBTED: &[(&str, &str, &str, &[&str])] = &[
    (
        r#"[{"image_id":2,"caption":"a cat"},{"image_id":1,"caption":"a dog"}]"#,
        "a.txt",
        "a\nb\n",
        &["no ids", "numbered from 1", "went to the images"],
    ),
    (REFERENCES, "a.json", REFERENCES, &["word for word a reference", "right file"]),
    (
        "[{\"qid\":7,\"caption\":\"a\"},{\"qid\":8,\"caption\":\"b\"}]",
        "a.jsonl",
        "{\"qid\":8,\"caption\":\"c\"}\n{\"qid\":7,\"caption\":\"d\"}\n",
        &["identified by the column \"qid\"", "--id-column"],
    ),
    (
        "image_id,caption\n1,\"['a cat', 'one cat']\"\n2,b\n",
        "a.json",
        r#"{"1":"c","2":"d"}"#,
        &["1 caption of", "is a list written as text", "['a cat', 'one cat']"],
    ),
    (r#"{"1":"a","2":"b"}"#, "a.json", r#"{"1":["c"],"2":["d"]}"#, &["are the two swapped?"]),
    (
        r#"{"1":["a",""],"2":["b"]}"#,
        "a.json",
        r#"{"1":"c","2":"d"}"#,
        &["1 reference is empty", "of image 1"],
    ),
];

/// Runs `capeval score` on two files of this content.
fn score(references: &str, name: &str, candidates: &str, args: &[&str]) -> crate::program::Run {
    let folder = tempfile::tempdir().unwrap();
    let (given, path) =
        (crate::program::scratch(&folder, "refs.json"), crate::program::scratch(&folder, name));
    std::fs::write(&given, references).unwrap();
    std::fs::write(&path, candidates).unwrap();
    capeval(&[&["score", "-r", &given, &path, "-m", "bleu"], args].concat())
}

#[test]
fn contents_that_cannot_be_scored_are_refused_with_advice() {
    for (references, name, candidates, words) in REFUSED {
        let run = score(references, name, candidates, &[]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{candidates}: {}", run.stderr);
        for word in *words {
            assert!(run.stderr.contains(word), "'{word}' is not said of {candidates}: {}", run.stderr);
        }
    }
}

#[test]
fn contents_that_are_probably_not_meant_are_noted() {
    for (references, name, candidates, words) in DOUBTED {
        let run = score(references, name, candidates, &[]);
        let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(run.code, 0, "{candidates}: {}", run.stderr);
        for word in *words {
            assert!(said.contains(word), "'{word}' is not said of {candidates}: {said}");
        }
    }
}

#[test]
fn ids_that_are_whole_floats_are_integers_in_all_formats() {
    let json = r#"[{"image_id":1.0,"caption":"a cat"},{"image_id":2.0,"caption":"a dog"}]"#;
    let dict = r#"{"1.0":"a cat","2.0":"a dog"}"#;
    let csv = "image_id,caption\n1.0,a cat\n2.0,a dog\n";
    let lines = "a cat\na dog\n";
    let array = r#"["a cat", "a dog"]"#;
    let scores = |name: &str, content: &str| {
        let run = score(REFERENCES, name, content, &["--format", "csv"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{content}");
        run.stdout
    };
    let expected = scores("a.json", json);
    for (name, content) in [("a.json", dict), ("a.csv", csv), ("a.txt", lines), ("a.json", array)] {
        assert_eq!(scores(name, content), expected, "{content}");
    }
}

#[test]
fn candidates_of_punctuation_are_scored_on_request_as_before() {
    let candidates = r#"{"1":"...","2":"a dog runs"}"#;
    let kept = score(REFERENCES, "a.json", candidates, &["--empty", "keep"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert!(kept.stdout.contains("has no words and is scored as it is"), "{}", kept.stdout);
    assert!(kept.stdout.contains("empty:keep(1)"), "{}", kept.stdout);
    // A tokenizer that keeps punctuation finds words.
    let words = score(REFERENCES, "a.json", candidates, &["-t", "13a"]);
    assert_eq!(words.code, 0, "{}", words.stderr);
}

#[test]
fn a_table_of_frequencies_is_not_merged_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let (table, merged) =
        (crate::program::scratch(&folder, "a.df"), crate::program::scratch(&folder, "b.df"));
    crate::program::said(&["df", "build", "references.json", "-o", &table]);
    let run = capeval(&["df", "merge", &table, &table, "-o", &merged]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("the same table") && run.stderr.contains("different images"),
        "{}",
        run.stderr
    );
    assert!(!std::path::Path::new(&merged).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn inputs_without_end_are_refused() {
    for (args, words) in [
        (&["score", "-r", "references.json", "/dev/urandom"][..], ""),
        (&["score", "-r", "/dev/zero", "results.json"], "binary data"),
        (&["correlate", "/dev/zero", "-r", "references.json"], "binary data"),
        (&["prefer", "/dev/zero", "-r", "references.json"], "binary data"),
        (&["perplexity", "/dev/zero"], "binary data"),
        (&["df", "show", "/dev/zero"], ""),
    ] {
        let run = capeval(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.stderr.contains("error: ") && run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
}
