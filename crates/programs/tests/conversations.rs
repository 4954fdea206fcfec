//! Metrics that are real processes: those that work, and every way in which one may not.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use capeval::corpus::SegmentId;
use capeval::evaluate::Progress;
use capeval::{OutsideMetrics, OutsideRow};
use capeval_choice::Refusal;
use capeval_programs::Messages;

/// Answers every question with a score of 0.5.
const WORKS: &str = r#"while read -r line; do id=${line#*:}; id=${id%%,*}; echo "{\"id\": $id, \"scores\": {\"m\": 0.5}}"; done"#;

/// What a metric gives on 20 captions, and what it wrote for people.
struct Tried {
    scores: Result<Vec<Vec<f64>>, Refusal>,
    messages: Vec<String>,
}

impl Tried {
    fn error(&self) -> String {
        self.scores.as_ref().unwrap_err().to_string()
    }

    fn remedy(&self) -> String {
        self.scores.as_ref().unwrap_err().remedy().map(ToString::to_string).unwrap_or_default()
    }
}

/// Runs a shell script as a metric, with other lines in its description.
fn run_with(script: &str, more: &str) -> Tried {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metric.sh"), script).unwrap();
    try_command(folder.path(), "['sh', 'metric.sh']", more, &())
}

fn run(script: &str) -> Tried {
    run_with(script, "")
}

fn try_command(folder: &Path, command: &str, more: &str, progress: &dyn Progress) -> Tried {
    let path = folder.join("metric.toml");
    let text = format!("protocol = 1\nname = 'm'\nversion = '1'\ncommand = {command}\n{more}");
    std::fs::write(&path, text).unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let messages: Messages = Arc::new(move |name, line| told.lock().unwrap().push(format!("{name}: {line}")));
    let OutsideMetrics(metrics) = capeval_programs::read(&[path.display().to_string()], &messages).unwrap();
    let ids: Vec<SegmentId> = (100..120).map(SegmentId::Integer).collect();
    let rows: Vec<OutsideRow<'_>> = ids
        .iter()
        .map(|image| OutsideRow {
            image: Some(image),
            candidate: "a \"cat\"\n",
            references: vec!["a dog", "ein Hund 🐕"],
        })
        .collect();
    let scores = metrics[0].score(&rows, progress);
    let messages = heard.lock().unwrap().clone();
    Tried { scores, messages }
}

#[test]
fn answers_may_come_in_any_order_and_late() {
    assert_eq!(run(WORKS).scores.unwrap(), [[0.5; 20]]);
    let reversed = format!("{WORKS} | tac");
    assert_eq!(run(&reversed).scores.unwrap(), [[0.5; 20]]);
    for more in ["workers = 3", "workers = 64", "batch = 1", "batch = 7\nworkers = 2", "references = false"] {
        assert_eq!(run_with(WORKS, more).scores.unwrap(), [[0.5; 20]], "{more}");
    }
}

#[test]
fn a_program_sees_what_is_documented() {
    let tried = run("head -n 1 >&2; sed -n 1p >/dev/null; exit 3");
    let question =
        r#"m: {"id":0,"image_id":100,"candidate":"a \"cat\"\n","references":["a dog","ein Hund 🐕"]}"#;
    assert_eq!(tried.messages, [question]);
    let tried = run_with("head -n 1 >&2; exit 3", "references = false");
    assert_eq!(tried.messages, [r#"m: {"id":0,"image_id":100,"candidate":"a \"cat\"\n"}"#]);
    let tried = run_with("echo $COLOUR >&2; pwd >&2; exit 3", "environment = { COLOUR = 'green' }");
    assert_eq!(tried.messages[0], "m: green");
    assert_eq!(tried.messages.len(), 2);
}

#[test]
fn several_measures_are_answered_at_once() {
    let script = WORKS.replace(r#"{\"m\": 0.5}"#, r#"{\"a\": $id, \"b\": -1}"#);
    let tried = run_with(&script, "[[measures]]\nkey = 'a'\n[[measures]]\nkey = 'b'");
    let counted: Vec<f64> = (0..20).map(f64::from).collect();
    assert_eq!(tried.scores.unwrap(), [counted, vec![-1.0; 20]]);
}

/// Everything that a program may do wrong, with the words that a person reads.
#[test]
fn what_breaks_is_told_in_words() {
    let answer = |from: &str, to: &str| WORKS.replace(from, to);
    for (script, words) in [
        (
            "echo loading >&2; exit 2".to_owned(),
            "m ended with exit status: 2 after 0 of 20 answers, none about image 100; its last words: loading",
        ),
        ("exit 0".to_owned(), "m ended after 0 of 20 answers, none about image 100"),
        ("kill -SEGV $$".to_owned(), "m ended with signal: 11 (SIGSEGV)"),
        ("kill -9 $$".to_owned(), "m ended with signal: 9 (SIGKILL)"),
        ("exec 1>&-; exec sleep 600".to_owned(), "m has closed its output after 0 of 20 answers"),
        (
            format!("echo Loading the model; {WORKS}"),
            "line 1 of the output of m is no answer: Loading the model",
        ),
        (format!("head -c 100 /dev/urandom; {WORKS}"), "of the output of m is no answer"),
        (answer("0.5", "NaN"), "is no answer: {\"id\": 0, \"scores\": {\"m\": NaN}}"),
        (answer("0.5", "null"), "m: the score by m of image 100 is null, not a number"),
        (answer("0.5", r#"\"0.5\""#), "m: the score by m of image 100 is \"0.5\", not a number"),
        (answer("0.5", "1e999"), "is no answer"),
        (answer("$id", "0"), "m answers id 0 twice, about image 100"),
        (answer("$id", "$((id + 1))"), "m answers id 20, and was asked about 20 captions"),
        (answer("$id", "\\\"$id\\\""), "is no answer"),
        (answer("\\\"m\\\"", "\\\"n\\\""), "m gives image 100 no score by m"),
        (answer("0.5", "0.5, \\\"n\\\": 1"), "m gives image 100 a score by n, which its file does not list"),
        (
            WORKS.replace("; done", "; done | head -n 13"),
            "m ended after 13 of 20 answers, none about image 113",
        ),
        (
            WORKS.replace("; done", "; done | grep -v 7"),
            "m ended after 18 of 20 answers, none about image 107",
        ),
        (format!("{WORKS}; exit 4"), "m ended with exit status: 4 after 20 of 20 answers"),
        ("head -c 1000000000 /dev/zero".to_owned(), "m prints a line of more than 1048576 bytes"),
        (
            "yes '{\"id\": 3, \"scores\": {\"m\": 1}}' | head -c 1000000000".to_owned(),
            "m answers id 3 twice, about image 103",
        ),
    ] {
        let error = run(&script).error();
        assert!(error.contains(words), "{script}\n{error}");
    }
    let script = answer("0.5", "1.5");
    let tried = run_with(&script, "[[measures]]\nkey = 'm'\nrange = [0, 1]");
    assert_eq!(tried.error(), "m: the score by m of image 100 is 1.5, beyond its range from 0 to 1");
    assert_eq!(tried.remedy(), "correct the range in its file");
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 600 & echo $! > child; head -n 1 > /dev/null; wait";
    std::fs::write(folder.path().join("metric.sh"), script).unwrap();
    let tried = try_command(folder.path(), "['sh', 'metric.sh']", "timeout = 0.3", &());
    assert_eq!(tried.error(), "m has answered 0 of 20 captions, and nothing for 0.3 s");
    assert!(tried.remedy().contains("print each answer at once"));
    assert!(is_gone(folder.path()));
}

/// Whether the process whose id is in the file `child` has ended.
fn is_gone(folder: &Path) -> bool {
    let child = std::fs::read_to_string(folder.join("child")).unwrap();
    let state = Command::new("ps").args(["-o", "stat=", "-p", child.trim()]).output().unwrap().stdout;
    state.is_empty() || state.starts_with(b"Z")
}

#[test]
fn nothing_runs_on_after_an_interruption() {
    /// Interrupts after the first answer, as Ctrl-C does in Python.
    struct Interrupt;
    impl Progress for Interrupt {
        fn advance(&self, n: usize) {
            if n > 0 {
                std::panic::resume_unwind(Box::new("interrupted"));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!("sleep 600 & echo $! > child; {}", WORKS.replace("; done", "; sleep 1; done"));
    std::fs::write(folder.path().join("metric.sh"), script).unwrap();
    let caught = std::panic::catch_unwind(|| {
        try_command(folder.path(), "['sh', 'metric.sh']", "", &Interrupt);
    });
    assert!(caught.is_err());
    assert!(is_gone(folder.path()));
}

#[test]
fn what_cannot_be_started_is_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain"), "").unwrap();
    for (command, words, remedy) in [
        (
            "['no-such-program']",
            "m: no-such-program cannot be started: No such file",
            "install it, or correct",
        ),
        ("['./none']", "m: ./none cannot be started: No such file", "it runs in "),
        (
            "['./plain']",
            "m: ./plain cannot be started: Permission denied",
            "make it executable: chmod +x ./plain",
        ),
    ] {
        let tried = try_command(folder.path(), command, "", &());
        assert!(tried.error().starts_with(words), "{}", tried.error());
        assert!(tried.remedy().contains(remedy), "{}", tried.remedy());
    }
}

#[test]
fn an_address_is_not_run() {
    let messages: Messages = Arc::new(|_, _| ());
    let refused = capeval_programs::read(&["https://example.org/m.toml".to_owned()], &messages).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "https://example.org/m.toml: a program is described by a file on this machine"
    );
}

#[test]
fn a_program_that_does_not_read_hangs_no_longer_than_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let long = "word ".repeat(60_000);
    let ids: Vec<SegmentId> = (0..5).map(SegmentId::Integer).collect();
    let rows: Vec<OutsideRow<'_>> = ids
        .iter()
        .map(|image| OutsideRow { image: Some(image), candidate: &long, references: Vec::new() })
        .collect();
    let path = folder.path().join("m.toml");
    let text = "protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sleep', '600']\ntimeout = 0.3\n";
    std::fs::write(&path, text).unwrap();
    let messages: Messages = Arc::new(|_, _| ());
    let OutsideMetrics(metrics) = capeval_programs::read(&[path.display().to_string()], &messages).unwrap();
    let error = metrics[0].score(&rows, &()).unwrap_err();
    assert_eq!(error.to_string(), "m has answered 0 of 5 captions, and nothing for 0.3 s");
}
