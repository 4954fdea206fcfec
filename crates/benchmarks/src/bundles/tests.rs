//! Tests the import of whole bundles of each kind.

use std::fs;
use std::io::Write;

use capeval_api::{BoardKind, ColumnKind};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

const REFERENCES: &[u8] = br#"[{"image_id": 1, "caption": "a cat"}]"#;

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Imports an archive of files; returns the plan as it is written, what is said, and the names of the files.
fn imported(files: &[(&str, &[u8])]) -> (Plan, String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (archive, out) = (folder.path().join("bundle.zip"), folder.path().join("out"));
    fs::write(&archive, zip(files)).unwrap();
    let (_, text) = import(&archive, &out, &["ada@example.org".to_owned()], u64::MAX).unwrap();
    let plan = toml::from_str(&fs::read_to_string(out.join(crate::plan::FILE)).unwrap()).unwrap();
    let mut names: Vec<String> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    (plan, text, names)
}

const CODABENCH: &str = "version: 2
title: Captions of kites
description: Describe kites.
image: logo.png
terms: pages/terms.html
pages:
  - {title: Overview, file: pages/overview.md}
  - {title: Gone, file: pages/gone.md}
tasks:
  - index: 0
    name: c5
    reference_data: reference_data/
    scoring_program: program/
phases:
  - index: 1
    name: Test
    start: 2-1-2027
    max_submissions: 7
    tasks: [0]
  - index: 0
    name: Dev
    description: Tune.
    start: 2027-01-01 12:00:00
    end: 2027-02-01
    max_submissions_per_day: 3
    starting_kit: kit
    tasks: [0]
leaderboards:
  - title: Results
    key: main
    submission_rule: Force_Last
    columns:
      - {title: Mean, key: mean_score, index: 0, sorting: desc, computation: avg, computation_indexes: [1, 2], precision: 4}
      - {title: BLEU-4, key: b4, index: 1, sorting: desc}
      - {title: CIDEr, key: cider, index: 2, sorting: asc}
      - {title: Seconds, key: time, index: 3, sorting: asc}
docker_image: some/image
surprise: {deep: 1}
";

#[test]
fn a_bundle_of_codabench_is_a_draft() {
    let (plan, text, names) = imported(&[
        ("competition.yaml", CODABENCH.as_bytes()),
        ("logo.png", b"png"),
        ("pages/terms.html", b"<h1>Be fair</h1><p>No <b>test</b> data.</p>"),
        ("pages/overview.md", b"Kites *fly*.\r\n"),
        ("reference_data/ref.json", REFERENCES),
        ("reference_data/README", b"notes"),
        ("kit/example.json", b"[]"),
        ("program/score.py", b"import os"),
    ]);
    assert_eq!(
        (plan.slug.as_str(), plan.title.as_str(), plan.draft),
        ("captions-of-kites", "Captions of kites", true)
    );
    assert_eq!(plan.summary, "Describe kites.");
    let rules = "## Overview\n\nKites *fly*.\n\n## Phases\n\n- **Dev**: Tune.";
    assert_eq!(plan.rules, rules);
    assert_eq!(plan.terms, "### Be fair\n\nNo **test** data.");
    let [dev, test] = &plan.phases[..] else { panic!("{plan:?}") };
    assert_eq!((dev.slug.as_str(), dev.per_day, dev.in_total), ("dev", 3, 100));
    assert_eq!(
        (test.slug.as_str(), test.per_day, test.in_total, test.closes.is_none()),
        ("test", 5, 7, true)
    );
    assert_eq!(test.opens.unwrap().to_string(), "2027-02-01T00:00:00Z");
    assert_eq!(dev.closes, test.opens);
    assert_eq!(dev.metrics, ["bleu", "cider"]);
    assert_eq!(dev.derive, ["mean-score = mean(bleu-4, cider)"]);
    assert_eq!((dev.main_metric.as_str(), dev.decimals), ("mean-score", 4));
    assert_eq!(dev.references[0].file.name(), "dev-ref.json");
    assert_eq!(dev.references[0].name, "c5");
    let files =
        ["IMPORT.md", "benchmark.toml", "dev-kit.zip", "dev-ref.json", "logo-logo.png", "test-ref.json"];
    assert_eq!(names, files);
    for said in [
        "competition.yaml:8: the page pages/gone.md is not in the bundle",
        "competition.yaml:13: the scoring program program/ is not run",
        "competition.yaml:17: the date was read as 2027-02-01T00:00:00Z",
        "`leaderboards.1.submission_rule`: the best submission",
        "the column CIDEr is cider, of which higher is better",
        "the column CIDEr is cider; COCO's program prints cider-d under that name",
        "the column Seconds is no measure of capeval",
        "`docker_image`: nothing that participants send is run",
        "`surprise`\n",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

const CODALAB: &str = "title: Alt texts
admin_names: ada
end_date: 2020-03-01
html: {overview: overview.html, terms: terms.html, how_to_win: win.html}
phases:
  2: {phasenumber: 2, label: Final, start_date: 2020-02-15 18:53:00+00:00, max_submissions_per_day: 0, reference_data: two.zip, scoring_program: p.zip}
  1: {phasenumber: 1, label: Dev, start_date: 2020-01-15, reference_data: one.zip, public_data: data.zip}
leaderboard:
  leaderboards:
    Results: &results {label: Results, rank: 1}
  columns:
    speed: {label: Speed, leaderboard: *results, rank: 2, numeric_format: 2}
    rouge: {label: ROUGE-L, leaderboard: *results, rank: 3, numeric_format: 2}
    cider: {label: CIDEr, leaderboard: *results, rank: 4}
    all: {label: <Rank>, leaderboard: *results, rank: 1, numeric_format: 3, computed: {operation: Avg, fields: 'rouge, cider'}}
";

#[test]
fn a_bundle_of_codalab_is_a_draft() {
    let (one, two) = (
        zip(&[("truth.json", REFERENCES), ("__MACOSX/x", b"")]),
        zip(&[("a.json", b"[]"), ("b.json", b"[]")]),
    );
    let (plan, text, names) = imported(&[
        ("alt/competition.yaml", CODALAB.as_bytes()),
        ("alt/overview.html", b"<p>Hello</p>"),
        ("alt/terms.html", b"<p>Terms</p>"),
        ("alt/win.html", b"<p>Try</p>"),
        ("alt/one.zip", &one),
        ("alt/two.zip", &two),
        ("alt/data.zip", b"PK"),
    ]);
    assert_eq!(plan.rules, "## Overview\n\nHello\n\n## How to win\n\nTry");
    assert_eq!(plan.terms, "Terms");
    let [dev, last] = &plan.phases[..] else { panic!("{plan:?}") };
    assert_eq!(dev.closes, last.opens);
    assert_eq!(last.closes.unwrap().to_string(), "2020-03-01T00:00:00Z");
    assert_eq!((dev.main_metric.as_str(), dev.decimals, last.per_day), ("rouge-l", 3, 5));
    assert_eq!(dev.rank_by.as_deref(), Some("mean-rank(rouge-l, cider)"));
    assert_eq!((dev.references.len(), last.references.len()), (1, 0));
    assert!(
        names.contains(&"dev-truth.json".to_owned()) && names.contains(&"dev-data.zip".to_owned()),
        "{names:?}"
    );
    for said in [
        "competition.yaml:6: `0` is no limit of submissions: 5 was set",
        "not clear which file has the references of the phase final: a.json, b.json",
        "the phase final has no references",
        "`admin_names`: accounts of another site",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("leaderboards"), "{text}");
}

const EVALAI: &str = r#"title: Birds
short_description: Describe birds.
description: templates/description.html
evaluation_script: evaluation_script.zip
start_date: 2019-01-01 00:00:00
end_date: 2099-05-31 23:59:59
leaderboard:
  - id: 1
    schema: {"labels": ["Bleu_4", "METEOR", "CIDEr-D"], "default_order_by": "CIDEr-D", "metadata": {"METEOR": {"sort_ascending": False, "description": "M"}}}
challenge_phases:
  - id: 1
    name: Dev Phase
    description: templates/dev.html
    leaderboard_public: False
    start_date: 2019-01-19 00:00:00
    test_annotation_file: annotations/dev.json
    codename: dev
    max_submissions_per_day: 5
    max_submissions_per_month: 50
    submission_meta_attributes:
      - {name: Training data, description: Sample, type: radio, options: ["COCO", "more"], required: True}
      - {name: Models, description: Sample, type: checkbox, options: ["a", "b"]}
      - {name: Ensemble, type: boolean}
      - {name: Empty, type: radio, options: []}
  - id: 2
    name: Test Phase
    leaderboard_public: True
    test_annotation_file: annotations/test.json
dataset_splits: [{id: 1, name: All, codename: all}]
challenge_phase_splits:
  - {challenge_phase_id: 1, leaderboard_id: 1, dataset_split_id: 1, visibility: 1}
  - {challenge_phase_id: 2, leaderboard_id: 1, dataset_split_id: 1, visibility: 3, leaderboard_decimal_precision: 1}
  - {challenge_phase_id: 2, leaderboard_id: 1, dataset_split_id: 1, visibility: 1}
"#;

#[test]
fn a_challenge_of_evalai_is_a_draft() {
    let (plan, text, _) = imported(&[
        ("challenge_config.yaml", EVALAI.as_bytes()),
        ("templates/description.html", b"<p>Birds.</p>"),
        ("templates/dev.html", b"<p>For tuning.</p>"),
        ("annotations/dev.json", REFERENCES),
        ("annotations/test.json", REFERENCES),
    ]);
    assert_eq!(plan.rules, "## Overview\n\nBirds.\n\n## Dev Phase\n\nFor tuning.");
    let [dev, test] = &plan.phases[..] else { panic!("{plan:?}") };
    assert_eq!((dev.board, test.board, test.decimals), (BoardKind::Hidden, BoardKind::Public, 1));
    assert_eq!(
        (dev.metrics.join(" "), dev.main_metric.as_str()),
        ("bleu meteor cider-d".to_owned(), "cider-d")
    );
    assert_eq!((dev.per_day, dev.in_total), (5, 100_000));
    let kinds: Vec<ColumnKind> = dev.columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnKind::Choice, ColumnKind::Text, ColumnKind::YesNo]);
    assert!(dev.columns[0].required && dev.columns[0].key == "training-data");
    for said in [
        "`challenge_phases.1.max_submissions_per_month`: limits are per day and in total",
        "challenge_config.yaml:33: the phase test-phase has several splits",
        "Models allowed several choices",
        "the question Empty: the column empty: give 2 to 30 different choices",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_is_no_bundle_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (archive, out) = (folder.path().join("bundle.zip"), folder.path().join("out"));
    let refusal = |files: &[(&str, &[u8])]| {
        fs::write(&archive, zip(files)).unwrap();
        let error = import(&archive, &out, &[], u64::MAX).unwrap_err();
        assert!(!out.exists());
        format!("{error:#}")
    };
    assert!(refusal(&[("README", b"x")]).contains("there is none of competition.yaml"));
    assert!(
        refusal(&[("a/competition.yaml", b"x"), ("b/competition.yaml", b"x")]).contains("several challenges")
    );
    assert!(refusal(&[("competition.yaml", b"a: [")]).contains("competition.yaml"));
    let phases = format!("tasks: []\nphases: [{}]", "{name: A}, ".repeat(101));
    assert!(refusal(&[("competition.yaml", phases.as_bytes())]).contains("more than 100 phases"));
    fs::create_dir(&out).unwrap();
    fs::write(out.join("own"), "x").unwrap();
    assert!(format!("{:#}", import(&archive, &out, &[], u64::MAX).unwrap_err()).contains("not empty"));
}
