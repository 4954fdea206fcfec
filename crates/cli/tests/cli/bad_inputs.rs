//! Inputs that cannot be used: each exits with 2, prints nothing on standard output, and says where the
//! trouble is and what to do.

use crate::program::capeval;

/// What was done, the arguments, and the words that the error must hold.
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("a missing file", &["absent.json", "results.json"], &["absent.json", "no such file"]),
    ("a directory", &[".", "results.json"], &["directory", "give a file"]),
    ("an empty file", &["empty.json", "results.json"], &["empty.json", "is empty"]),
    (
        "truncated JSON",
        &["truncated.json", "results.json"],
        &["truncated.json:2:45 (byte 100)", "truncated?"],
    ),
    ("truncated gzip", &["truncated.json.gz", "results.json"], &["gzip", "too early", "fetch"]),
    ("Latin-1", &["latin1.json", "results.json"], &["latin1.json:1:33", "0xE9", "UTF-8"]),
    ("a zip archive", &["archive.json", "results.json"], &["zip archive", "unpack"]),
    ("no references at all", &["no_annotations.json", "results.json"], &["no captions"]),
    ("results without captions", &["references.json", "no_caption.json"], &["no_caption.json:1", "caption"]),
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
        &["record 3", "2", "--duplicate first"],
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
    ("damaged JSON Lines", &["references.json", "damaged.jsonl"], &["damaged.jsonl:2", "--input-format"]),
    ("unknown columns", &["references.json", "columns.csv"], &["\"name\", \"words\"", "--caption-column"]),
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
