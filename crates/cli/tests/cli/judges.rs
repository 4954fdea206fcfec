//! Judges on the command line: consent, keys, pages, kills, and two runs compared.

use std::collections::HashSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use capeval_testkit::chat::{Chat, Reply};
use capeval_testkit::eventually;
use serde_json::{Value, json};

use crate::program::{capeval_in, path, quickstart, scratch, start};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        scratch(&self.0, name)
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        capeval_in(self.0.path(), args)
    }

    /// Scores the quickstart by judges that ask `chat`.
    fn score(&self, metrics: &str, chat: &Chat, more: &[&str]) -> (i32, String, String) {
        let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
        let judgements = self.path("judgements.jsonl");
        let args = ["score", "-r", &references, &good, &weak, "-m", metrics, "--endpoint", chat.address()];
        let judging = ["--judge-model", "tiny", "--judgements", &judgements];
        self.run(&[&args[..], &judging, more].concat())
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("judgements.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn grading() -> Chat {
    Chat::new(|request, _| {
        let grade = request.asked().len() % 11;
        Reply::says(&format!("{{\"reason\": \"<i>so</i> & so\", \"score\": {grade}}}"))
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_is_asked_without_consent() {
    let (place, chat) = (Place::new(), grading());
    let (code, stdout, stderr) = place.score("judge", &chat, &[]);
    assert_eq!((code, stdout.as_str(), chat.requests().len()), (2, "", 0));
    let said = one_line(&stderr);
    assert!(said.starts_with("error: judge asks tiny at 127.0.0.1 24 questions, at most about"), "{said}");
    assert!(said.ends_with("help: agree to that with --yes"), "{said}");
    let (code, stdout, stderr) = place.score("judge,rouge-l", &chat, &["--yes", "--ci"]);
    assert_eq!((code, chat.requests().len()), (0, 24), "{stderr}");
    assert!(
        stdout.contains("judge|version:1|prompt:") && stdout.contains("|model:tiny-2026-11|"),
        "{stdout}"
    );
    assert!(one_line(&stdout).contains("note: judge: 24 answers are new in"), "{stdout}");
    // What is there needs no consent, and neither does a run that asks nothing.
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let judgements = place.path("judgements.jsonl");
    let replay = ["--judgements", &judgements, "--replay"];
    for more in
        [&["--endpoint", chat.address(), "--judge-model", "tiny", "--judgements", &judgements][..], &replay]
    {
        let args = ["score", "-r", &references, &good, &weak, "-m", "judge,rouge-l", "--ci"];
        let (code, again, stderr) = place.run(&[&args[..], more].concat());
        assert_eq!(code, 0, "{stderr}");
        let table = |text: &str| text.split("note:").next().map(str::to_owned);
        assert_eq!(table(&again), table(&stdout));
    }
    assert_eq!(chat.requests().len(), 24);
}

#[test]
fn the_key_comes_from_a_file_or_the_environment_and_no_output_has_it() {
    const CANARY: &str = "sk-canary-77";
    let place = Place::new();
    let chat = Chat::new(|request, _| {
        let echo = json!({"reason": request.headers, "score": 3});
        Reply::says(&echo.to_string())
    });
    let key = place.path("key");
    fs::write(&key, format!("{CANARY}\n")).unwrap();
    let (page, report, segments) =
        (place.path("page.html"), place.path("report.json"), place.path("s.jsonl"));
    let files = ["--html", &page, "--save", &report, "--segments", &segments];
    let more = [&["--yes", "--api-key-file", &key][..], &files].concat();
    let (code, stdout, stderr) = place.score("judge", &chat, &more);
    assert_eq!(code, 0, "{stderr}");
    let sent = chat.requests()[0].headers.to_lowercase();
    assert!(sent.contains(&format!("authorization: bearer {CANARY}")), "{sent}");
    let mut all = vec![stdout, stderr];
    all.extend(
        [page, report, segments, place.path("judgements.jsonl")]
            .map(|path| fs::read_to_string(path).unwrap()),
    );
    assert!(all.iter().all(|text| !text.contains(CANARY)));
    assert!(all[5].contains("Bearer [key]"), "{}", all[5]);

    let run = |variable: &str, args: &[&str]| {
        let [references, good] = ["references.json", "good.json"].map(quickstart);
        let output = Command::new(path())
            .args(["score", "-r", &references, &good, "-m", "judge", "--yes", "--judge-model", "other"])
            .args(["--endpoint", chat.address(), "--judgements", &place.path("other.jsonl")])
            .args(args)
            .env(variable, CANARY)
            .output()
            .unwrap();
        (output.status.code(), one_line(&String::from_utf8(output.stderr).unwrap()))
    };
    let n = chat.requests().len();
    assert_eq!(run("CAPEVAL_API_KEY", &[]).0, Some(0));
    assert!(chat.requests()[n..].iter().all(|request| request.headers.contains(CANARY)));
    let (code, said) = run("ANY", &["--api-key-env", "MISSING_KEY"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("the environment variable MISSING_KEY is not set"), "{said}");
}

#[test]
fn a_page_shows_what_the_judge_said() {
    let (place, chat) = (Place::new(), grading());
    let page = place.path("page.html");
    let (code, _, stderr) = place.score("judge", &chat, &["--yes", "--html", &page]);
    assert_eq!(code, 0, "{stderr}");
    let (code, explained, stderr) = place.score("judge", &chat, &["--explain", "101"]);
    assert_eq!(code, 0, "{stderr}");
    for words in ["judged by tiny-2026-11", "reason", "<i>so</i> & so", "answer"] {
        assert!(explained.contains(words), "{words}: {explained}");
    }
    // In the page, it is in compressed blocks; the browser's tests open one. What is plain is escaped.
    assert!(!fs::read_to_string(page).unwrap().contains("<i>so</i>"));
}

#[test]
fn five_kills_lose_no_answer_and_ask_for_none_again() {
    let place = Place::new();
    let chat = Chat::new(|request, _| {
        let grade = request.asked().len() % 11;
        Reply::says(&format!("{{\"score\": {grade}}}")).after(Duration::from_millis(2))
    });
    let (mut references, mut captions) = (json!({}), json!({}));
    for k in 0..1000 {
        references[k.to_string()] = json!(["a dog"]);
        captions[k.to_string()] = json!(format!("caption {} of {k}", "x".repeat(k % 7)));
    }
    let (refs, caps) = (place.path("refs.json"), place.path("caps.json"));
    fs::write(&refs, references.to_string()).unwrap();
    fs::write(&caps, captions.to_string()).unwrap();
    let judgements = place.path("judgements.jsonl");
    let args = ["score", "-r", &refs, &caps, "-m", "judge", "--yes", "--judge-model", "tiny", "-f", "json"];
    let judging = ["--endpoint", chat.address(), "--judgements", &judgements, "--requests-at-once", "32"];
    let args = [&args[..], &judging].concat();
    // Each run is killed once the server has seen so many requests more, whatever the run is doing then.
    let mut seen = 0;
    for more in [41, 163, 7, 257, 98] {
        let mut child = start(place.0.path(), &args);
        seen += more;
        eventually("the server sees requests", || (chat.requests().len() >= seen).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        seen = chat.requests().len();
    }
    let (code, stdout, stderr) = place.run(&args);
    assert_eq!(code, 0, "{stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["systems"][0]["images"], 1000);
    let lines = place.lines();
    let questions: HashSet<String> = lines.iter().map(|line| line["question"].to_string()).collect();
    assert_eq!((lines.len(), questions.len()), (1000, 1000));
    // What was kept would be there twice if it had been asked again; a kill costs at most the requests on their way.
    assert!(chat.requests().len() <= 1000 + 5 * 32, "{}", chat.requests().len());
}

#[test]
fn two_runs_are_compared_and_judges_are_shown() {
    let (place, chat) = (Place::new(), grading());
    place.score("judge", &chat, &["--yes"]);
    let judgements = place.path("judgements.jsonl");
    let (code, stdout, stderr) = place.run(&["judge", "agree", &judgements, &judgements]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stdout.contains("questions in both files     24")
            && stdout.contains("equal grades                100.0 %"),
        "{stdout}"
    );
    let (_, stdout, _) = place.run(&["judge", "agree", &judgements, &judgements, "-f", "json"]);
    let found: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&found[0]["questions"], &found[0]["alpha"]), (&json!(24), &json!(1.0)));
    let place = Place::new();
    let (_, listed, _) = place.run(&["judge", "list"]);
    for line in listed.lines() {
        let name = line.split(' ').next().unwrap();
        let (code, file, _) = place.run(&["judge", "show", name]);
        assert_eq!(code, 0);
        // It is a file that can be a judge of another name.
        let own = place.path("own.toml");
        fs::write(&own, file.replacen(&format!("name = \"{name}\""), "name = \"mine\"", 1)).unwrap();
        let (code, _, stderr) = place.score(&own, &chat, &["--yes", "--max-requests", "0"]);
        let said = one_line(&stderr);
        let expected = if name == "judge-image" { "needs pictures" } else { "the limit of 0 is reached" };
        assert!(code == 2 && said.contains(expected), "{name}: {said}");
    }
    let (code, _, stderr) = place.run(&["judge", "show", "judges"]);
    assert!(code == 2 && stderr.contains("capeval has no judge judges"), "{stderr}");
}

#[test]
fn flags_of_judges_without_a_judge_are_refused() {
    let (place, chat) = (Place::new(), grading());
    let (code, _, stderr) = place.score("rouge-l", &chat, &[]);
    let said = one_line(&stderr);
    assert!(code == 2 && said.contains("no metric is a judge, which alone asks a language model"), "{said}");
    let output = place.path("x.capeval");
    let remedies = [
        ("judge", "leave it out"),
        ("chair", "leave it out"),
        ("clip-s", "leave it out"),
        ("spider-fl", "name spider instead"),
    ];
    for (name, remedy) in remedies {
        let metrics = format!("bleu,{name}");
        let (code, _, stderr) =
            place.run(&["prepare", &quickstart("references.json"), "-m", &metrics, "-o", &output]);
        let said = one_line(&stderr);
        let is_told = said.contains(&format!("there is nothing to prepare for {name}"));
        assert!(code == 2 && is_told && said.contains(remedy), "{said}");
    }
    let (_, _, stderr) = place.score("judge", &chat, &["--replay"]);
    let said = one_line(&stderr);
    assert!(said.contains("leave out --endpoint, or leave out --replay"), "{said}");
}

#[test]
fn a_server_without_response_format_is_told_in_words_with_the_setting_that_helps() {
    let chat = Chat::new(|request, _| {
        let is_asked = request.body.get("response_format").is_some();
        if is_asked {
            Reply::error(400, "invalid", "response_format is not supported")
        } else {
            Reply::says("{\"score\": 5}")
        }
    });
    let place = Place::new();
    let (code, _, stderr) = place.score("judge", &chat, &["--yes"]);
    let said = one_line(&stderr);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("schema = false under [answer]") && !said.contains("run again"), "{said}");
    // The advice works.
    let (_, file, _) = place.run(&["judge", "show", "judge"]);
    let file = file.replace("name = \"judge\"", "name = \"mine\"");
    let file = file.replacen("[answer]", "[answer]\nschema = false", 1).replace("schema = true\n", "");
    fs::write(place.path("mine.toml"), file).unwrap();
    let (code, _, stderr) = place.score(&place.path("mine.toml"), &chat, &["--yes"]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn the_answer_is_what_follows_the_thoughts() {
    let chat = Chat::new(|_, _| {
        Reply::says("<think>{\"score\": 1} is too low.</think>\n{\"score\": 9, \"reason\": \"so\"}")
    });
    let place = Place::new();
    let (code, _, stderr) = place.score("judge", &chat, &["--yes"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(place.lines().iter().all(|line| line["read"]["values"] != json!([0.1])), "{:?}", place.lines());
    let cut = Chat::new(|_, _| Reply::says("<think>the score is 5"));
    let (code, _, stderr) = Place::new().score("judge", &cut, &["--yes"]);
    assert!(code != 0 && one_line(&stderr).contains("thoughts without an answer"), "{stderr}");
}

#[test]
fn a_judge_is_tried_on_three_captions() {
    let (place, chat) = (Place::new(), grading());
    let [references, good] = ["references.json", "good.json"].map(quickstart);
    let args = [
        "judge",
        "try",
        "judge",
        &good,
        "-r",
        &references,
        "--endpoint",
        chat.address(),
        "--judge-model",
        "tiny",
    ];
    let (code, stdout, stderr) = place.run(&args);
    assert_eq!((code, chat.requests().len()), (0, 3), "{stderr}");
    assert!(stdout.contains("sent: {") && stdout.contains("came: ") && stdout.contains("read: "), "{stdout}");
    assert!(place.lines().is_empty());
}
