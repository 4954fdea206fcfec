//! Metrics that are real processes: those that work, and every way in which one may not.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use capeval::corpus::SegmentId;
use capeval::{Answers, Outside, OutsideMetrics, OutsideRow, Picture};
use capeval_choice::Refusal;
use capeval_outside::programs::Messages;

/// Answers every question with a score of 0.5.
const WORKS: &str = r#"while read -r line; do id=${line#*:}; id=${id%%,*}; echo "{\"id\": $id, \"scores\": {\"m\": 0.5}}"; done"#;

/// The scores of a metric on 20 captions, and its output for people.
struct Tried {
    scores: Result<Vec<Vec<f64>>, Refusal>,
    messages: Vec<String>,
}

/// Collects answers: the scores of rows, measure after measure.
struct Collected<'c> {
    rows: Mutex<Vec<Option<Vec<f64>>>>,
    /// Called for each answer.
    heard: &'c (dyn Fn() + Sync),
}

impl Answers for Collected<'_> {
    fn take(&self, row: usize, scores: &[f64]) {
        let before = self.rows.lock().unwrap()[row].replace(scores.to_vec());
        assert_eq!(before, None, "each row once");
        (self.heard)();
    }

    fn wait(&self) {}
}

/// The scores that a metric gives to rows, measure after measure.
fn scores_of(
    metric: &dyn Outside,
    rows: &[OutsideRow<'_>],
    heard: &(dyn Fn() + Sync),
) -> Result<Vec<Vec<f64>>, Refusal> {
    let collected = Collected { rows: Mutex::new(vec![None; rows.len()]), heard };
    metric.score(rows, &collected)?;
    let rows: Vec<Vec<f64>> = collected.rows.into_inner().unwrap().into_iter().map(Option::unwrap).collect();
    Ok((0..metric.parts().len()).map(|part| rows.iter().map(|row| row[part]).collect()).collect())
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
    try_command(folder.path(), "['sh', 'metric.sh']", more, &|| ())
}

fn run(script: &str) -> Tried {
    run_with(script, "")
}

fn try_command(folder: &Path, command: &str, more: &str, heard_one: &(dyn Fn() + Sync)) -> Tried {
    let path = folder.join("metric.toml");
    let text = format!("protocol = 1\nname = 'm'\nversion = '1'\ncommand = {command}\n{more}");
    std::fs::write(&path, text).unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let messages: Messages = Arc::new(move |name, line| told.lock().unwrap().push(format!("{name}: {line}")));
    let OutsideMetrics(metrics) =
        capeval_outside::programs::read(&[path.display().to_string()], &messages, None).unwrap();
    let ids: Vec<SegmentId> = (100..120).map(SegmentId::Integer).collect();
    let rows: Vec<OutsideRow<'_>> = ids
        .iter()
        .map(|image| OutsideRow {
            system: None,
            image: Some(image),
            candidate: "a \"cat\"\n",
            rival: None,
            references: vec!["a dog", "ein Hund 🐕"],
            picture: None,
        })
        .collect();
    let scores = scores_of(metrics[0].as_ref(), &rows, heard_one);
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
fn answers_are_read_as_programs_write_them() {
    for (script, what) in [
        (WORKS.replace("}}\"", "}}\r\""), "lines as on Windows"),
        (format!("printf '\\357\\273\\277'; {WORKS}"), "the mark of UTF-8"),
        (format!("{{ {WORKS}; }} | tr '\\n' ' ' | sed 's/}} {{/}}\\n{{/g'"), "no line break at the end"),
        (format!("{WORKS}; echo; echo; echo ' '"), "blank lines"),
        (WORKS.replace("\\\"id\\\"", "\\\"seconds\\\": [0.1], \\\"id\\\""), "other keys"),
        (format!("exec 3<&0; {{ {WORKS}; }} <&3 & exec 1>&-; wait"), "from a child"),
        (format!("cat > all; exec 0<&-; {WORKS} < all; rm all"), "after the input is closed"),
        (format!("{WORKS}; exec sleep 600"), "without an end"),
    ] {
        assert_eq!(
            run(&script).scores.unwrap_or_else(|error| panic!("{what}: {error}")),
            [[0.5; 20]],
            "{what}"
        );
    }
    // More than there are captions.
    let more = "batch = 9000000000000000000";
    assert_eq!(run_with(WORKS, more).scores.unwrap(), [[0.5; 20]]);
}

#[test]
fn a_program_that_looks_at_pictures_is_given_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metric.toml");
    std::fs::write(folder.path().join("metric.sh"), "cat >&2; exit 3").unwrap();
    let text = "protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sh', 'metric.sh']\npictures = true\nreferences = false\n";
    std::fs::write(&path, text).unwrap();
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&heard);
    let messages: Messages = Arc::new(move |_, line| told.lock().unwrap().push(line.to_owned()));
    let OutsideMetrics(metrics) =
        capeval_outside::programs::read(&[path.display().to_string()], &messages, None).unwrap();
    assert_eq!(metrics[0].sight(), capeval::Sight::Needed);
    let image = SegmentId::Integer(7);
    let picture = Picture::File { path: "/p/7.jpg".to_owned(), state: String::new() };
    let row = |picture| OutsideRow {
        system: None,
        image: Some(&image),
        candidate: "a cat",
        rival: None,
        references: Vec::new(),
        picture,
    };
    let error = scores_of(metrics[0].as_ref(), &[row(Some(&picture))], &|| ()).unwrap_err().to_string();
    assert!(error.contains("exit status: 3"), "{error}");
    assert_eq!(*heard.lock().unwrap(), [r#"{"id":0,"image_id":7,"candidate":"a cat","image":"/p/7.jpg"}"#]);
    let error = scores_of(metrics[0].as_ref(), &[row(Some(&Picture::Held))], &|| ()).unwrap_err();
    assert_eq!(error.to_string(), "m opens files, and the picture of image 7 is none");
}

#[test]
fn a_program_that_has_changed_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metric.toml");
    let messages: Messages = Arc::new(|_, _| ());
    std::fs::write(&path, "protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sh', 'metric.sh']\n")
        .unwrap();
    let identity = |script: &str| {
        std::fs::write(folder.path().join("metric.sh"), script).unwrap();
        let read = capeval_outside::programs::read(&[path.display().to_string()], &messages, None);
        read.unwrap().0[0].identity().unwrap()
    };
    let first = identity("exit 0");
    assert!(first.knows_images && first.text.starts_with("m|version:1|program:"), "{first:?}");
    assert_eq!(identity("exit 0"), first);
    assert_ne!(identity("exit 1"), first, "though the description is the same");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("'1'", "'2'")).unwrap();
    assert_ne!(identity("exit 0"), first);
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
    let mut told = String::new();
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
            answer("$id", "18446744073709551616"),
            "line 1 of the output of m is no answer with an id and scores",
        ),
        (answer("$id", "-1"), "line 1 of the output of m is no answer with an id and scores"),
        (answer("$id", "$id.0"), "line 1 of the output of m is no answer with an id and scores"),
        (answer("$id", "0, \\\"id\\\": 1"), "line 1 of the output of m is no answer with an id and scores"),
        (answer("0.5", "0.5, \\\"m\\\": 0.25"), "m gives image 100 two scores by m"),
        (
            "printf '{\"id\": 0, \"scores\": {\"m\": '; head -c 10000 /dev/zero | tr '\\0' '['; echo"
                .to_owned(),
            "line 1 of the output of m is no answer: {\"id\": 0, \"scores\": {\"m\": [[[[",
        ),
        (
            "printf '{\"more\": '; head -c 10000 /dev/zero | tr '\\0' '['; echo".to_owned(),
            "line 1 of the output of m is no answer: {\"more\": [[[[",
        ),
        (
            format!("{{ {WORKS}; }} | sed 's/./&\\x00/g'"),
            "line 1 of the output of m is no answer: { \" i d \" :   0 ,",
        ),
        // It writes into its own input, and answers what it has asked itself.
        (
            format!("echo '{{\"id\":77,' > /proc/self/fd/0; {WORKS}"),
            "m answers id 77, and was asked about 20 captions",
        ),
        ("exec 0<&-; exit 0".to_owned(), "m ended after 0 of 20 answers"),
        ("exec 0<&- 1>&- 2>&-; exec sleep 600".to_owned(), "m has closed its output after 0 of 20 answers"),
        ("kill -STOP $$".to_owned(), "m answered 0 of 20 captions, then nothing for 1 s"),
        // A line break now and then is no answer.
        (
            "while :; do echo; sleep 0.01; done".to_owned(),
            "m answered 0 of 20 captions, then nothing for 1 s",
        ),
        ("yes ''".to_owned(), "m answered 0 of 20 captions, then nothing for 1 s"),
        // Neither is an answer that never ends.
        (
            "for c in { i d : 0; do printf '%s' \"$c\"; sleep 0.3; done; sleep 600".to_owned(),
            "m answered 0 of 20 captions, then nothing for 1 s",
        ),
        (
            "yes '{\"id\": 3, \"scores\": {\"m\": 1}}' | head -c 1000000000".to_owned(),
            "m answers id 3 twice, about image 103",
        ),
    ] {
        let is_hanging = words.contains("nothing for 1 s");
        let error = run_with(&script, if is_hanging { "timeout = 1" } else { "" }).error();
        assert!(error.contains(words), "{script}\n{error}");
        told += &format!("{error}\n");
    }
    let script = answer("0.5", "1.5");
    let tried = run_with(&script, "[[measures]]\nkey = 'm'\nrange = [0, 1]");
    assert_eq!(tried.error(), "m: the score by m of image 100 is 1.5, beyond its range from 0 to 1");
    assert_eq!(tried.remedy(), "correct the range in its file");
    told += &format!("{}\n", tried.error());
    let folder = tempfile::tempdir().unwrap();
    told += &try_command(folder.path(), "['no-such-program']", "", &|| ()).error();

    // The documentation says the same.
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/programs.md"))
            .unwrap();
    let table = page.split("## What may go wrong").nth(1).unwrap().split("##").next().unwrap();
    let rows: Vec<&str> = table.lines().filter_map(|line| line.split('`').nth(1)).collect();
    assert!(rows.len() > 15, "{table}");
    for row in rows {
        assert!(told.contains(&row.replace("length-ratio", "m")), "nothing says: {row}\n{told}");
    }
}

#[test]
fn a_program_that_hangs_is_ended_with_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = "sleep 600 & echo $! > child; head -n 1 > /dev/null; wait";
    std::fs::write(folder.path().join("metric.sh"), script).unwrap();
    let tried = try_command(folder.path(), "['sh', 'metric.sh']", "timeout = 0.3", &|| ());
    assert_eq!(tried.error(), "m answered 0 of 20 captions, then nothing for 0.3 s");
    assert!(tried.remedy().contains("end each answer with a line break and flush it"));
    assert!(is_gone(folder.path()));
}

/// A program may leave its group of processes, as daemons do.
#[test]
#[cfg(target_os = "linux")]
fn daemons_are_ended_with_their_program() {
    for (script, is_good) in [
        (format!("setsid sh -c 'echo $$ > child; exec sleep 600' & {WORKS}"), true),
        (format!("(setsid sh -c 'setsid sleep 600 & echo $! > child' &) ; {WORKS}"), true),
        ("setsid sh -c 'echo $$ > child; exec sleep 600' & exit 3".to_owned(), false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        // The program ends once the daemon runs.
        let script = format!("{script}; until [ -s child ]; do sleep 0.01; done");
        let script = script.replace("exit 3;", "until [ -s child ]; do sleep 0.01; done; exit 3;");
        std::fs::write(folder.path().join("metric.sh"), &script).unwrap();
        let tried = try_command(folder.path(), "['sh', 'metric.sh']", "", &|| ());
        assert_eq!(tried.scores.is_ok(), is_good, "{script}");
        assert!(is_gone(folder.path()), "{script}");
    }
}

/// A process that a program has left running keeps its output open.
#[test]
fn a_program_that_has_ended_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("metric.sh"), "sleep 600 & echo $! > child; exit 3").unwrap();
    let tried = try_command(folder.path(), "['sh', 'metric.sh']", "", &|| ());
    assert!(
        tried.error().starts_with("m ended with exit status: 3 after 0 of 20 answers"),
        "{}",
        tried.error()
    );
    assert!(is_gone(folder.path()));
}

/// Returns true if the process whose id is in the file `child` has ended.
fn is_gone(folder: &Path) -> bool {
    let child = std::fs::read_to_string(folder.join("child")).unwrap();
    let state = Command::new("ps").args(["-o", "stat=", "-p", child.trim()]).output().unwrap().stdout;
    state.is_empty() || state.starts_with(b"Z")
}

#[test]
fn nothing_runs_on_after_an_interruption() {
    // After the first answer, as Ctrl-C does in Python.
    let interrupt = || std::panic::resume_unwind(Box::new("interrupted"));
    let folder = tempfile::tempdir().unwrap();
    let script = format!("sleep 600 & echo $! > child; {}", WORKS.replace("; done", "; sleep 1; done"));
    std::fs::write(folder.path().join("metric.sh"), script).unwrap();
    let caught = std::panic::catch_unwind(|| {
        try_command(folder.path(), "['sh', 'metric.sh']", "", &interrupt);
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
            "m: no-such-program cannot be started: no such file",
            "install it, or correct",
        ),
        ("['./none']", "m: ./none cannot be started: no such file", "it runs in "),
        (
            "['./plain']",
            "m: ./plain cannot be started: permission denied",
            "make it executable: chmod +x ./plain",
        ),
    ] {
        let tried = try_command(folder.path(), command, "", &|| ());
        assert!(tried.error().starts_with(words), "{}", tried.error());
        assert!(tried.remedy().contains(remedy), "{}", tried.remedy());
    }
}

#[test]
fn an_address_is_not_run() {
    let messages: Messages = Arc::new(|_, _| ());
    let refused =
        capeval_outside::programs::read(&["https://example.org/m.toml".to_owned()], &messages, None)
            .unwrap_err();
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
        .map(|image| OutsideRow {
            system: None,
            image: Some(image),
            candidate: &long,
            rival: None,
            references: Vec::new(),
            picture: None,
        })
        .collect();
    let path = folder.path().join("m.toml");
    let text = "protocol = 1\nname = 'm'\nversion = '1'\ncommand = ['sleep', '600']\ntimeout = 0.3\n";
    std::fs::write(&path, text).unwrap();
    let messages: Messages = Arc::new(|_, _| ());
    let OutsideMetrics(metrics) =
        capeval_outside::programs::read(&[path.display().to_string()], &messages, None).unwrap();
    let error = scores_of(metrics[0].as_ref(), &rows, &|| ()).unwrap_err();
    assert_eq!(error.to_string(), "m answered 0 of 5 captions, then nothing for 0.3 s");
}
