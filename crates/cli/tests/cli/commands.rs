//! The other commands.

#[cfg(unix)]
use std::process::Command;

use crate::program::{
    capeval, capeval_with, expect, fixtures, json, quickstart, scratch, stdout, without_run,
};

#[test]
fn tokenizers_can_be_compared() {
    // Some builds have a tokenizer more.
    let shown = stdout(&["tokenize", "-t", "all", "A man's dog (it's 3.5 years old) isn't here!"]);
    let lines = shown.lines().filter(|line| !line.starts_with("jieba "));
    expect("tokenize_all.txt", &lines.map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(stdout(&["tokenize", "A dog.", "Two?", "-f", "json"]), "[\"a\",\"dog\"]\n[\"two\"]\n");
}

#[test]
fn lines_of_standard_input_are_tokenised_one_by_one() {
    let run = capeval_with(&["tokenize"], "A dog.\n\nIsn't\u{2028}it");
    assert_eq!((run.code, run.stdout.as_str()), (0, "a dog\n\nis n't it\n"));
    let run = capeval_with(&["tokenize", "-0", "-t", "13a"], "one\ntwo.\0three");
    assert_eq!(run.stdout, "one two .\0three\0");
}

#[test]
fn metrics_are_listed_with_papers_and_signatures() {
    expect("metric_cider_d.txt", &stdout(&["metrics", "cider-d"]));
    let list = stdout(&["metrics"]);
    for word in ["bleu-4", "Papineni", "0 to 10, higher is better", "idf:corpus", "suites"] {
        assert!(list.contains(word), "{word}\n{list}");
    }
    let entries: serde_json::Value = serde_json::from_str(&stdout(&["metrics", "--format", "json"])).unwrap();
    assert_eq!(entries[0]["name"], "bleu");
    let run = capeval(&["metrics", "blue"]);
    assert!(run.code == 2 && run.stderr.contains("no metric is called 'blue'"));
}

#[test]
fn metrics_of_other_families_are_suggested_too() {
    let (references, results) = (quickstart("references.json"), quickstart("results.json"));
    for (given, meant) in [("BERTScore", "bert-score"), ("clipscore", "clip-s"), ("CIDErD", "cider-d")] {
        let run = capeval(&["score", "-r", &references, &results, "-m", given]);
        assert!(run.code == 2 && run.stderr.contains(&format!("did you mean {meant}?")), "{}", run.stderr);
    }
}

#[test]
fn captions_are_converted_without_loss() {
    let folder = tempfile::tempdir().unwrap();
    let scores = |references: &str, results: &str| {
        json(&["score", "-r", references, results])["systems"][0]["scores"].clone()
    };
    let whole = scores("references.json", "results.json");
    for format in ["coco", "list-json", "dict-json", "jsonl", "csv", "tsv"] {
        let (references, results) = (scratch(&folder, "references"), scratch(&folder, "results"));
        stdout(&["convert", "references.json", "--format", format, "-o", &references]);
        stdout(&["convert", "results.json", "--format", format, "-o", &results, "--role", "candidates"]);
        assert_eq!(scores(&references, &results), whole, "{format}");
    }
    let run = capeval(&["convert", "references.json", "--format", "coco-results"]);
    assert!(run.code == 2 && run.stderr.contains("record 2"), "{}", run.stderr);
}

#[test]
fn shells_and_the_manual_have_every_command_and_no_other() {
    let help = stdout(&["--help"]);
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Summaries that are wrapped go on further to the right.
    let commands: Vec<&str> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(commands.len() > 12 && commands.contains(&"score"), "{help}");
    let named = |text: &str, start: &str, end: &str| -> Vec<String> {
        let found =
            text.lines().filter_map(|line| Some(line.split_once(start)?.1.split_once(end)?.0.to_owned()));
        found.collect()
    };
    let (bash, zsh, fish, man) = (
        stdout(&["completions", "bash"]),
        stdout(&["completions", "zsh"]),
        stdout(&["completions", "fish"]),
        stdout(&["man"]),
    );
    assert_eq!(named(&fish, "-n \"__fish_capeval_needs_command\" -f -a \"", "\""), commands);
    let mut sorted = commands.clone();
    sorted.sort_unstable();
    assert_eq!(named(&bash, "            capeval,", ")"), sorted);
    assert_eq!(named(&man, "capeval\\-", "(1)"), commands);
    assert!(commands.iter().all(|name| zsh.lines().any(|line| line.trim() == format!("({name})"))), "{zsh}");
    for script in [&bash, &zsh, &fish] {
        assert!(script.contains("missing"), "the flag --missing is not in {script}");
    }
    assert!(stdout(&["--version"]).starts_with("capeval "));
}

#[test]
fn shells_complete_metrics_suites_and_tokenizers() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&["completions", shell]);
        for name in ["cider-d", "sacrebleu-family", "whitespace", "self-cider"] {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    let help = stdout(&["score", "--help"]);
    assert!(!help.contains("possible values: bleu"), "{help}");
}

/// The proposals of bash for the last of `words`.
#[cfg(unix)]
fn bash_completes(words: &[&str]) -> Vec<String> {
    let (last, previous) = (words[words.len() - 1], words[words.len() - 2]);
    let script = format!(
        "source <(\"$1\" completions bash); COMP_WORDS=({}); COMP_CWORD={}; \
         _capeval_lists capeval {last} {previous}; echo \"${{COMPREPLY[*]}}\"",
        words.join(" "),
        words.len() - 1
    );
    let run = Command::new("bash").args(["-c", &script, "bash", crate::program::path()]).output();
    let Ok(run) = run else { return Vec::new() };
    assert!(run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8_lossy(&run.stdout).split_whitespace().map(str::to_owned).collect()
}

#[test]
#[cfg(unix)]
fn names_are_completed_after_a_comma_and_keys_for_sort() {
    assert_eq!(bash_completes(&["capeval", "score", "-m", "bleu,rouge-l"]), ["bleu,rouge-l"]);
    let after = bash_completes(&["capeval", "score", "--metrics", "bleu,rouge-l,sa"]);
    assert!(after.contains(&"bleu,rouge-l,sacrebleu".to_owned()), "{after:?}");
    assert_eq!(bash_completes(&["capeval", "score", "--sort", "bleu-4"]), ["bleu-4"]);
    assert_eq!(bash_completes(&["capeval", "compare", "--on", "ter,bleu-1"]), ["ter,bleu-1"]);
    assert!(stdout(&["completions", "zsh"]).contains("compset -P '*,'"));
    assert!(stdout(&["completions", "fish"]).contains("-l metrics -n __capeval_in_list -x"));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    stdout(&["man", folder.path().to_str().unwrap()]);
    for name in ["capeval", "capeval-score", "capeval-human", "capeval-df-build", "capeval-data-install"] {
        let page = std::fs::read_to_string(folder.path().join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
}

#[test]
fn the_help_of_tokenizers_alone_has_the_folders_of_mecab() {
    assert!(!stdout(&["score", "--help"]).contains("mecab"));
    assert!(stdout(&["tokenize", "--help"]).contains("--mecab-ja DIR"));
}

#[test]
fn files_keep_their_names_in_errors() {
    let path = fixtures().join("empty.json");
    let run = capeval(&["tokenize", "--file", path.to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""));
}

#[test]
fn metrics_are_understood_as_papers_and_programs_write_them() {
    let score = |metrics: &str| {
        capeval(&["score", "-r", "references.json", "results.json", "-f", "json", "-m", metrics])
    };
    let report = |metrics: &str| without_run(&score(metrics).stdout);
    assert_eq!(report("ROUGE_L,CIDEr-D:sigma=4,chrF"), report("rouge-l,cider-d:sigma=4,chrf"));
    for (name, answer) in [
        ("CIDEr", "give cider-d for the CIDEr of COCO's evaluation"),
        ("Bleu_4", "give bleu"),
        ("bleu-4", "give bleu"),
        ("SPICE", "SPICE's data are not installed"),
        ("SPIDEr", "SPICE's data are not installed"),
        ("bleau", "did you mean bleu?"),
    ] {
        let run = score(name);
        assert!(run.code == 2 && run.stderr.contains(answer), "{name}: {}", run.stderr);
    }
}

#[test]
fn keys_are_listed_under_given_settings() {
    let keys = |spec: &str| {
        let shown = stdout(&["metrics", spec]);
        let line = shown.lines().find_map(|line| line.strip_prefix("  keys       ").map(str::to_owned));
        line.unwrap_or_else(|| panic!("{shown}"))
    };
    assert_eq!(keys("bleu"), "bleu-1 bleu-2 bleu-3 bleu-4");
    assert_eq!(keys("bleu:n=2"), "bleu-1 bleu-2");
    assert_eq!(keys("chrf:words=2"), "chrf++");
    let run = capeval(&["metrics", "bleu:q=2"]);
    assert!(run.code == 2 && run.stderr.contains("'q'"), "{}", run.stderr);
}

#[test]
fn a_quiet_program_prints_no_notes_below_tables_and_keeps_notices_for_programs() {
    let score = ["score", "-r", "references.json", "partial.json", "--missing", "skip"];
    let run = |args: &[&str]| capeval(&[&score[..], args].concat()).stdout;
    for format in ["table", "markdown", "latex"] {
        assert!(run(&["-f", format]).contains("note: "), "{format}");
        for quiet in ["-q", "--quiet"] {
            let said = run(&["-f", format, quiet]);
            assert!(!said.contains("note: ") && said.contains("bleu|n:4"), "{said}");
        }
    }
    let found: serde_json::Value = serde_json::from_str(&run(&["-f", "json", "-q"])).unwrap();
    assert_eq!(found["notices"][0]["code"], "missing:skip");
}

#[test]
fn every_command_has_a_version() {
    for args in [&["--version"][..], &["score", "--version"], &["df", "build", "-V"]] {
        let said = capeval(args).stdout;
        assert!(said.trim_end().ends_with(env!("CARGO_PKG_VERSION")), "{args:?}: {said}");
    }
}

#[test]
fn a_quiet_program_prints_only_results_and_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (references, file) = (quickstart("references.json"), scratch(&folder, "out.csv"));
    let convert = ["convert", &references, "--format", "csv", "-o", &file];
    let loud = capeval(&convert).stderr;
    assert!(loud.starts_with("wrote "), "{loud}");
    assert_eq!(capeval(&[&["--quiet"], &convert[..]].concat()).stderr, "");
    assert_eq!(capeval(&[&convert[..], &["--quiet"]].concat()).stderr, "");
    let failed = capeval(&["--quiet", "convert", "absent.json", "--format", "csv"]);
    assert!(failed.code == 2 && failed.stderr.starts_with("error: absent.json"), "{}", failed.stderr);
}

#[test]
fn colours_can_be_forced_and_forbidden() {
    let good = [quickstart("references.json"), quickstart("good.json"), quickstart("weak.json")];
    let score = |when: &str| {
        capeval(&["--color", when, "score", "-m", "bleu", "-r", &good[0], &good[1], &good[2]]).stdout
    };
    assert!(score("always").contains("\u{1b}["));
    assert!(!score("never").contains('\u{1b}') && !score("auto").contains('\u{1b}'));
}
