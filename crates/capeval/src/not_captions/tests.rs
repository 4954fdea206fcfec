//! Tests the detection of texts that are not captions on captions of many kinds.

mod slow;

use super::*;

fn ids(n: usize) -> Vec<SegmentId> {
    (0..n as i64).map(SegmentId::from).collect()
}

/// Captions of people, of which `n` are needed.
fn people(n: usize) -> Vec<String> {
    const WHO: &[&str] =
        &["a dog", "two men", "the girl", "a red bus", "an old woman", "three cats", "a child"];
    const DOES: &[&str] = &["runs", "is sitting", "stands still", "looks up", "waits", "is going away"];
    const WHERE: &[&str] =
        &["on the beach", "in a kitchen", "near a large tree", "at the station", "by the water"];
    (0..n)
        .map(|k| {
            format!("{} {} {}", WHO[k % WHO.len()], DOES[(k / 3) % DOES.len()], WHERE[(k / 2) % WHERE.len()])
        })
        .collect()
}

/// The codes of the notices, or of the kinds that are refused.
fn findings(captions: &[String], references: &[String], metrics: &[&str]) -> Result<Vec<String>, String> {
    let ids = ids(captions.len().max(references.len()));
    let of = |texts: &'_ [String]| -> Vec<(usize, String)> { texts.iter().cloned().enumerate().collect() };
    let (mine, theirs) = (of(captions), of(references));
    let metrics = crate::metrics(metrics.iter().copied(), &[]).unwrap();
    let captions: Vec<Caption<'_>> = mine.iter().map(|(k, text)| (&ids[*k], text.as_str())).collect();
    let references: Vec<Caption<'_>> = theirs.iter().map(|(k, text)| (&ids[*k], text.as_str())).collect();
    let check = CaptionCheck::new(&[], references.len(), |_| references.clone(), &metrics);
    let codes = |notices: Vec<Notice>| notices.iter().map(|notice| notice.code.to_string()).collect();
    check.check(&[("mine", captions)]).map(codes).map_err(|error| {
        let remedy = error.remedy().unwrap().to_string();
        let names = remedy.rsplit_once("accept to \"").unwrap().1.split('"').next().unwrap();
        names.to_owned()
    })
}

/// What is said of captions that `change` makes of those of people.
fn changed(change: impl Fn(&str) -> String) -> Result<Vec<String>, String> {
    let people = people(60);
    let mine: Vec<String> = people.iter().rev().map(|text| change(text)).collect();
    findings(&mine, &people, &["bleu", "cider-d", "sacrebleu"])
}

#[test]
fn captions_of_people_are_captions() {
    assert_eq!(changed(str::to_owned), Ok(vec![]));
    assert_eq!(changed(|text| format!("{text}.")), Ok(vec![]));
}

#[test]
fn most_captions_of_a_kind_that_means_nothing_are_refused() {
    type Change = fn(&str) -> String;
    let kinds: &[(&str, Change)] = &[
        ("thoughts", |text| format!("<think>\nOkay.\n</think>\n\n{text}")),
        ("thoughts", |text| format!("<think></think>\n\n{text}")),
        ("thoughts", |text| format!("<reflection>I see something.</reflection> {text}")),
        ("thoughts", |text| format!("◁think▷It is so.◁/think▷{text}")),
        ("thoughts", |text| format!("[THINK]It is so.[/THINK]{text}")),
        ("thoughts", |text| format!("it is so </think> {text}")),
        ("thoughts", |text| format!("Thought: it is so. Answer: {text}")),
        ("thoughts", |text| format!("Let me look closely at it first. Caption: {text}")),
        ("fences", |text| format!("```\n{text}\n```")),
        ("fences", |text| format!("```json\n{{\"caption\": \"{text}\"}}\n```")),
        ("structured-text", |text| format!("{{\"caption\": \"{text}\"}}")),
        ("structured-text", |text| format!("['{text}']")),
        ("structured-text", |text| format!("('{text}',)")),
        ("structured-text", |text| format!("Caption(text='{text}')")),
        ("byte-strings", |text| format!("b'{text}'")),
        ("subword-marks", |text| text.replace(' ', "▁")),
        ("subword-marks", |text| format!("Ġ{}", text.replace(' ', " Ġ"))),
        ("subword-marks", |text| text.replace("a ", "a@@ ")),
        ("subword-marks", |text| format!("{text} ##s")),
        ("subword-marks", |text| text.replace(' ', "</w> ")),
        ("subword-marks", |text| text.split(' ').map(|word| format!("{word}_NN ")).collect()),
        ("subword-marks", |text| format!("_{}", text.replace(' ', " _"))),
        ("missing-values", |_| "nan".to_owned()),
        ("missing-values", |text| if text.len() % 2 == 0 { "None".to_owned() } else { "NULL".to_owned() }),
        ("failed-requests", |text| format!("I'm sorry, but I can't describe {text}")),
        ("failed-requests", |text| format!("openai.RateLimitError: request {}", text.len())),
        ("spaced-letters", |text| text.chars().filter(|c| *c != ' ').map(|c| format!("{c} ")).collect()),
        ("numbers-as-captions", |text| text.bytes().map(|byte| format!("{byte} ")).collect()),
        ("paths-as-captions", |text| format!("val/{}.jpg", text.len())),
        ("paths-as-captions", |text| format!("COCO_val2014_{:012}", text.len())),
        ("prompt-in-captions", |text| format!("Describe the image in detail: {text}")),
        ("prompt-in-captions", |text| format!("Question: what is here? {text}")),
    ];
    for (kind, change) in kinds {
        let found = changed(change);
        let is_told = matches!(&found, Err(names) if names.split(',').any(|name| name == *kind));
        assert!(is_told, "{kind}: {} gives {found:?}", change("a dog runs"));
    }
}

#[test]
fn what_makes_scores_doubtful_is_told() {
    type Change = fn(&str) -> String;
    let kinds: &[(&str, Change)] = &[
        ("special-tokens", |text| format!("{text} </s>")),
        ("special-tokens", |text| format!("[CLS] {text} [SEP]")),
        ("special-tokens", |text| format!("{text}<|im_end|>")),
        ("special-tokens", |text| format!("{text} <end_of_turn>")),
        ("special-tokens", |text| format!("{text}<0x0A>")),
        ("special-tokens", |text| format!("<｜begin▁of▁sentence｜>{text}<｜end▁of▁sentence｜>")),
        ("special-tokens", |text| format!("{text} ▁</s>")),
        ("start-end-words", |text| format!("startseq {text} endseq")),
        ("start-end-words", |text| format!("sos {text} eos")),
        ("start-end-words", |text| format!("{text} endseq")),
        ("start-end-words", |text| format!("BEGIN {text}")),
        ("start-end-words", |text| format!("The image shows {text}.")),
        ("start-end-words", |text| format!("**{text}**")),
        ("start-end-words", |text| format!("start {text} end")),
        ("chat-roles", |text| format!("ASSISTANT: {text}")),
        ("chat-roles", |text| format!("assistant\n{text}")),
        ("chat-roles", |text| format!("### Response:\n{text}")),
        ("chat-roles", |text| format!("Short caption: {text}")),
        ("quotes", |text| format!("\"{text}\"")),
        ("html-entities", |text| format!("{text} &amp; more")),
        ("special-tokens", |text| format!("<p>{text}</p>")),
        ("special-tokens", |text| format!("{text}<br>")),
        ("escaped-characters", |text| format!("{text}\\n")),
        ("escaped-characters", |text| format!("caf\\u00e9 {text}")),
        ("mojibake", |text| format!("{text} cafÃ©")),
        ("mojibake", |text| format!("{text}â€™s")),
        ("several-captions", |text| format!("1. {text}\n2. {text} again")),
        ("chat-roles", |text| format!("Sure, {}! Here it is:\n\n{text}", text.len())),
        ("control-characters", |text| format!("\u{1b}[32m{text}\u{1b}[0m")),
        ("control-characters", |text| text.replace(' ', "\u{200b}")),
        ("start-end-words", |text| format!("{text} (p=0.{})", text.len())),
        ("start-end-words", |text| format!("[00:0{}.000] {text}", text.len() % 9)),
        ("start-end-words", |text| format!("@@BOUNDARY@@ {text} @@BOUNDARY@@")),
        ("special-tokens", |text| format!("<ref>{text}</ref><box>(12,340),(560,890)</box> there")),
        ("special-tokens", |text| format!("{text} UNK")),
        ("one-text", |_| "a man is on the beach".to_owned()),
        ("length-mismatch", |text| [text; 8].join(" and ")),
        ("length-mismatch", |_| "dog".to_owned()),
        ("other-script", |_| "собака бежит по пляжу".to_owned()),
        ("other-words", |text| text.split(' ').map(|word| format!("{word}x{} ", word.len())).collect()),
        ("upper-case", |text| text.to_uppercase()),
        ("failed-requests", |text| {
            if text.contains("dog") { text.to_owned() } else { "pending review queue".to_owned() }
        }),
    ];
    for (kind, change) in kinds {
        let found = changed(change);
        let is_told = matches!(&found, Ok(codes) if codes.iter().any(|code| code == kind));
        assert!(is_told, "{kind}: {} gives {found:?}", change("a dog runs"));
    }
}

#[test]
fn a_few_of_many_are_told_and_not_refused() {
    let people = people(60);
    let with = |text: &str| {
        let mut mine = people.clone();
        mine.reverse();
        mine[7] = text.to_owned();
        findings(&mine, &people, &["bleu"])
    };
    assert_eq!(with("<think>so</think> a dog"), Ok(vec!["thoughts".to_owned()]));
    assert_eq!(with("nan"), Ok(vec!["missing-values".to_owned()]));
    assert_eq!(with("Error: 429 Too Many Requests"), Ok(vec!["failed-requests".to_owned()]));
}

#[test]
fn what_all_begin_with_is_not_told_beside_what_they_are() {
    assert_eq!(
        changed(|text| format!("<think>\nOkay, let me look at it.\n</think>\n\n{text}")),
        Err("thoughts".to_owned())
    );
}

#[test]
fn ids_on_both_sides_are_as_meant() {
    let ids: Vec<String> = (0..60).map(|k| format!("{} {} {}", k % 7, k % 5, k % 3)).collect();
    let mine: Vec<String> = ids.iter().rev().cloned().collect();
    assert_eq!(findings(&mine, &ids, &["cider-d"]), Ok(vec!["numbers-as-captions".to_owned(); 2]));
}

#[test]
fn what_surrounds_captions_of_both_sides_is_told() {
    type Change = fn(&str) -> String;
    let of_both = |change: Change| {
        let theirs: Vec<String> = people(60).iter().map(|text| change(text)).collect();
        let mine: Vec<String> = theirs.iter().rev().cloned().collect();
        findings(&mine, &theirs, &["bleu", "cider-d"]).unwrap()
    };
    let told: &[Change] = &[
        |text| format!("**{text}**"),
        |text| format!("\\boxed{{{text}}}"),
        |text| format!("\"{text}\""),
        |text| format!("{}. {text}", text.len()),
        |text| format!("[{}, {}] {text}", text.len() % 7, text.len()),
        |text| format!("(0:0{}-0:12) {text}", text.len() % 9),
        |text| format!("{text} (0.{})", text.len()),
        |text| format!("{text}\t-12.{}", text.len()),
        |text| format!("Here is a caption for the image: {text}"),
        |text| format!("Sure! {text}"),
        |text| format!("caption en\n{text}"),
    ];
    for change in told {
        let found = of_both(*change);
        let is_told = |code: &String| code == "start-end-words" || code == "quotes";
        assert!(found.iter().any(is_told), "{}: {found:?}", change("a dog runs"));
    }
    let ordinary: &[Change] = &[
        |text| format!("{text}."),
        |text| format!("{} of {text}", text.len()),
        |text| format!("{text} in 19{}.", text.len()),
        |text| format!("a photo of {text}"),
        |text| format!("No acute disease. {text}"),
    ];
    for change in ordinary {
        assert_eq!(of_both(*change), Vec::<String>::new(), "{}", change("a dog runs"));
    }
    // Of references alone, announcements and marks are told, and templates are not.
    let of_references = |change: Change| {
        let mine: Vec<String> = people(60).iter().rev().cloned().collect();
        let theirs: Vec<String> = people(60).iter().map(|text| change(text)).collect();
        findings(&mine, &theirs, &["bleu"]).unwrap()
    };
    assert_eq!(
        of_references(|text| format!("Here is a caption for the image: {text}")),
        ["prompt-in-captions"]
    );
    assert_eq!(of_references(|text| format!("Sure! {text}")), ["start-end-words"]);
    assert_eq!(of_references(|text| format!("a photo of {text}")), Vec::<String>::new());
}

#[test]
fn what_some_captions_begin_with_is_told() {
    let of_some = |change: &dyn Fn(&str) -> String, every: usize| {
        let change = |(k, text): (usize, &String)| if k % every == 0 { change(text) } else { text.clone() };
        let people = people(60);
        let mine: Vec<String> = people.iter().rev().enumerate().map(change).collect();
        findings(&mine, &people, &["bleu"]).unwrap()
    };
    for every in [2, 5] {
        assert_eq!(of_some(&|text| format!("**{text}**"), every), ["start-end-words"]);
        assert_eq!(of_some(&|text| format!("- {text}"), every), ["start-end-words"]);
        assert_eq!(of_some(&|text| format!("{}. {text}", text.len()), every), ["start-end-words"]);
        assert_eq!(
            of_some(&|text| format!("Here is a caption for the image: {text}"), every),
            ["start-end-words"]
        );
        assert_eq!(of_some(&|text| format!("Sure! {text}"), every), ["start-end-words"]);
        assert_eq!(of_some(&|text| format!("{} dogs and {text}", text.len()), every), Vec::<String>::new());
        assert_eq!(of_some(&|text| format!("a sign: {text}!"), 20), Vec::<String>::new());
        assert_eq!(of_some(&|text| format!("\"Stop\" and {text}"), every), Vec::<String>::new());
        assert_eq!(of_some(&|text| format!("a photo of {text}"), every), Vec::<String>::new());
    }
}

#[test]
fn marks_of_decoders_on_some_captions_are_told_and_removed() {
    let people = people(60);
    let marked = |change: &dyn Fn(&str) -> String, every: usize| -> Vec<String> {
        let change = |(k, text): (usize, &String)| if k % every == 0 { change(text) } else { text.clone() };
        people.iter().rev().enumerate().map(change).collect()
    };
    let ends = ["endseq", "END", "<|e|>", "xxeos", "[EOS]", "zzz"];
    for (every, end) in [2, 5, 9].into_iter().flat_map(|every| ends.map(|end| (every, end))) {
        let mine = marked(&|text| format!("{text} {end}"), every);
        let told = findings(&mine, &people, &["bleu"]).unwrap();
        assert!(told == ["start-end-words"] || told == ["special-tokens"], "{end} every {every}: {told:?}");
        if told == ["start-end-words"] {
            let (mine, others): (Vec<&str>, Vec<&str>) =
                (mine.iter().map(String::as_str).collect(), people.iter().map(String::as_str).collect());
            let cleaner = Cleaner::new(&[Cleaning::StartEndWords], &mine, &others);
            assert!(mine.iter().zip(others.iter().rev()).all(|(text, bare)| cleaner.clean(text).0 == *bare));
        }
        let both = marked(&|text| format!("startseq {text} {end}"), every);
        assert_ne!(findings(&both, &people, &["bleu"]).unwrap(), Vec::<String>::new(), "{end} every {every}");
    }
    for word in ["outside", "end", "weekend", "background", "2"] {
        let mine = marked(&|text| format!("{text} {word}"), 5);
        assert_eq!(findings(&mine, &people, &["bleu"]).unwrap(), Vec::<String>::new(), "{word}");
    }
    // A few captions without the end that nearly all have, and a word that only ends as it does.
    let mut mine = marked(&|text| format!("{text} endseq"), 1);
    mine[0] = "a long weekendseq".to_owned();
    let mine: Vec<&str> = mine.iter().map(String::as_str).collect();
    let others: Vec<&str> = people.iter().map(String::as_str).collect();
    assert_eq!(Cleaner::new(&[Cleaning::StartEndWords], &mine, &others).clean(mine[0]).0, mine[0]);
}

#[test]
fn captions_that_end_in_repeated_words_are_told() {
    let people = people(60);
    let told = |change: &dyn Fn(&str) -> String, every: usize| {
        let change = |(k, text): (usize, &String)| if k % every == 0 { change(text) } else { text.clone() };
        let mine: Vec<String> = people.iter().rev().enumerate().map(change).collect();
        findings(&mine, &people, &["bleu"]).unwrap().contains(&"repeated-words".to_owned())
    };
    let repeated: [fn(&str) -> String; 8] = [
        |text| format!("{text}, a man, a man, a man"),
        |text| format!("{}. {text} .", text.to_uppercase()),
        |text| [text; 2].join(" "),
        |text| [text; 3].join("\n"),
        |text| format!("{text} {text} {}", text.split_once(' ').unwrap().0),
        |text| format!("{text} in front of a tree in front of a tree in front of a tree"),
        |text| format!("{text} and a and a and a"),
        |text| format!("{text} red red red red"),
    ];
    for (k, change) in repeated.iter().enumerate() {
        assert!(told(change, 1) && told(change, 5), "{k}");
        assert!(!told(change, 30), "{k}");
    }
    let plain: [fn(&str) -> String; 4] = [
        |text| format!("{text} and another one and another one"),
        |text| format!("{text}, bye bye bye"),
        |text| format!("{text} near {text}"),
        |text| text.split_once(' ').unwrap().0.repeat(2),
    ];
    for (k, change) in plain.iter().enumerate() {
        assert!(!told(change, 1), "{k}");
    }
}

#[test]
fn letters_and_accents_in_two_forms_are_told() {
    let whole: Vec<String> = people(60).iter().map(|text| text.replace('e', "é")).collect();
    let apart: Vec<String> = whole.iter().rev().map(|text| text.replace('é', "e\u{301}")).collect();
    let is_told = |mine: &[String], theirs: &[String]| {
        let found = findings(mine, theirs, &["bleu"]).unwrap();
        found.contains(&"decomposed-letters".to_owned())
    };
    assert!(is_told(&apart, &whole) && is_told(&whole, &apart));
    let mixed: Vec<String> = whole.iter().zip(&apart).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    assert!(is_told(&mixed, &whole) && is_told(&whole, &mixed));
    assert!(!is_told(&whole, &whole) && !is_told(&apart, &apart) && !is_told(&people(60), &apart));
    // What cannot be composed is as its language writes it.
    let thai: Vec<String> = (0..9).map(|k| format!("คนกำลังเล่นน้ำที่ชายหาด{k}")).collect();
    assert!(!is_told(&thai, &thai));
    let cleaner = Cleaner::with(&[Cleaning::DecomposedLetters], Habits::default());
    assert_eq!(cleaner.clean("cafe\u{301} 한국").0, "café 한국");
}

#[test]
fn captions_cut_at_one_length_are_told() {
    let people = people(60);
    let mine: Vec<String> =
        people.iter().map(|text| text.split(' ').take(5).collect::<Vec<_>>().join(" ")).collect();
    let mine: Vec<String> = mine
        .into_iter()
        .enumerate()
        .map(|(k, text)| {
            if k % 4 == 0 {
                format!("{text} of the")
            } else if k % 5 == 0 {
                "a dog".to_owned()
            } else {
                text + " of the"
            }
        })
        .collect();
    let found = findings(&mine, &people, &["bleu"]).unwrap();
    assert!(found.contains(&"cut-captions".to_owned()), "{found:?}");
}

#[test]
fn segmented_and_unsegmented_texts_are_told() {
    let whole: Vec<String> = (0..9).map(|_| "两只小狗在草地上玩耍".to_owned()).collect();
    let split: Vec<String> =
        (0..9).map(|k| format!("{} 只 小狗 在 草地 上 玩耍", ["两", "三"][k % 2])).collect();
    let found = findings(&split, &whole, &["bleu"]).unwrap();
    assert!(found.contains(&"other-segmentation".to_owned()), "{found:?}");
    for (mine, theirs) in [(&split, &whole), (&whole, &split)] {
        // Spaces say neither how many words there are nor which.
        let found = findings(mine, theirs, &["bleu:tok=char"]).unwrap();
        let of_words = ["other-segmentation", "length-mismatch", "other-words"];
        assert!(!of_words.iter().any(|code| found.contains(&(*code).to_owned())), "{found:?}");
    }
}

#[test]
fn letters_and_full_stops_of_any_script_are_no_marks() {
    let people = people(60);
    for end in ["။", "።", "។", "॥", "်", "์", "e\u{301}", "ํ"] {
        let theirs: Vec<String> = people.iter().map(|text| format!("{text} က{end}")).collect();
        let mine: Vec<String> = people.iter().rev().cloned().collect();
        let found = findings(&mine, &theirs, &["bleu"]).unwrap();
        assert!(!found.contains(&"start-end-words".to_owned()), "{end}: {found:?}");
    }
}

#[test]
fn captions_are_captions() {
    for text in [
        "a dog runs",
        "",
        "A man & a woman; both smile.",
        "b is a letter",
        "a sign [that] says <hello>",
        "2 dogs",
        "none of the dogs sleep",
        "a # 5 bus",
        "the error on the screen",
        "a b c d wall",
        "User interface of a phone",
        "<b> a dog",
        "一只狗",
        "no. 12 bus at 10:30",
        "a website called dogs.com",
        "a sign with https://dogs.com on it",
        "É um cão",
        "Il-kelb ta' Ġanni",
        "a man (left) and \"a dog\"",
        "AT&T; the shop",
        "a sign that says C:\\new",
        "c'est l'été à la plage…",
        "a jersey with A380 on it",
        "<3 dogs",
        "#dog #cat #cute",
        "3 > 2",
        "a self-portrait",
        "well-known",
    ] {
        assert_eq!(text::kind_of(text), None, "{text}");
    }
}

#[test]
fn what_is_removed_leaves_the_caption() {
    let habits = |label: &str| Habits {
        label: Some(labels::Labels::first(label)),
        start: Some("startseq".to_owned()),
        end: Some("endseq".to_owned()),
        quotes: true,
        ..Habits::default()
    };
    let all: Vec<Cleaning> = Cleaning::ALL.to_vec();
    for text in [
        "a dog runs",
        "<think>\nOkay.\n</think>\n\na dog runs",
        "<think>so</think><answer>a dog runs</answer>",
        "```\na dog runs\n```",
        "```json\n{\"caption\": \"a dog runs\"}\n```",
        "<think>so</think>```json\n{\"caption\": \"a dog runs\", \"score\": 0.5}\n```",
        "['a dog runs']",
        "b'a dog runs'",
        "<s> a dog runs </s>",
        "&lt;s&gt; a dog runs &lt;/s&gt;",
        "<｜begin▁of▁sentence｜>a dog runs<｜end▁of▁sentence｜>",
        "<｜Assistant｜> a dog runs <｜end▁of▁sentence｜>",
        "a dog runs ▁</s>",
        "<s>▁a▁dog▁runs</s>",
        "[CLS] a dog runs [SEP] [PAD] [PAD]",
        "ASSISTANT: a dog runs<|im_end|>",
        "### Response:\na dog runs",
        "Short caption: a dog runs",
        "startseq a dog runs endseq",
        "▁a▁dog▁runs",
        "Ġa Ġdog Ġruns",
        "a do@@ g runs",
        "a do ##g runs",
        "a</w> dog</w> runs</w>",
        "\"a dog runs\"",
        "a dog&#32;runs",
    ] {
        let cleaner = Cleaner::with(&all, habits("short caption"));
        assert_eq!(cleaner.clean(text).0, "a dog runs", "{text}");
    }
    let kinds = [Cleaning::ByteStrings, Cleaning::HtmlEntities];
    let cleaner = Cleaner::with(&kinds, Habits::default());
    assert_eq!(cleaner.clean("b'caf\\xc3\\xa9 &amp; \\'bar\\''").0, "café & 'bar'");
}

#[test]
fn a_remedy_is_offered_only_if_it_leaves_captions() {
    let words = |texts: [&'static str; 2]| {
        let found = cleanings(&Habits::default(), texts.into_iter());
        found.map(|kinds| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>())
    };
    assert_eq!(words(["<think>so</think> a dog", "a cat"]), Some(vec!["thoughts"]));
    assert_eq!(
        words(["```json\n{\"caption\": \"a dog\"}\n```", "a"]),
        Some(vec!["fences", "structured-text"])
    );
    assert_eq!(words(["<think>it goes on", "a cat"]), None);
    assert_eq!(words(["nan", "a cat"]), None);
}

/// Minutes pass if a look begins again at each sign.
#[test]
fn long_texts_of_signs_are_walked_through_once() {
    let references = people(20);
    for sign in ["<", "[", "{", "&", "&#", "a: ", ":", "- : ", "/", "</a ", "[a] ", "_a ", "@@ ", "\\", "a？"]
    {
        let mut captions = people(20);
        captions[0] = sign.repeat(200_000 / sign.len());
        findings(&captions, &references, &["cider-d"]).unwrap();
    }
}
