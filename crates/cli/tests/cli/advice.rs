//! What people are told about files that are nearly right, and the scores that come out when they do what is told.

use std::fs;

use serde_json::{Map, Value, json};

use crate::program::capeval_in;

/// Images with a caption and two references.
const IMAGES: &[(u64, &str, [&str; 2])] = &[
    (
        391_895,
        "a man riding a wave on a surfboard",
        ["a surfer rides a large wave in the ocean", "a man on a surfboard riding a wave"],
    ),
    (
        60_623,
        "two dogs playing with a frisbee in the park",
        ["two dogs run after a frisbee in a grassy park", "dogs chasing a frisbee on the grass"],
    ),
    (
        483_108,
        "a red bus parked on the side of the street",
        ["a red double decker bus is parked beside the road", "a bus parked on the side of a street"],
    ),
    (
        384_213,
        "a kitchen with a white stove and wooden cabinets",
        [
            "a small kitchen with wooden cabinets and a stove",
            "the kitchen has a white oven and brown cupboards",
        ],
    ),
    (
        386_164,
        "a woman holding an umbrella in the rain",
        ["a woman walks in the rain with a black umbrella", "a lady holding an umbrella on a wet street"],
    ),
    (
        223_648,
        "a plate of food with broccoli and rice",
        ["a plate with rice, broccoli and chicken", "food on a white plate on a table"],
    ),
    (
        403_385,
        "a group of people flying kites on the beach",
        ["many people are flying kites at the beach", "a crowd of people on the sand with kites in the sky"],
    ),
    (
        294_832,
        "a cat sleeping on top of a laptop computer",
        ["a cat is sleeping on a laptop", "a gray cat lying on the keyboard of a computer"],
    ),
    (
        462_565,
        "a young boy swinging a baseball bat",
        ["a little boy swings a bat at a baseball game", "a child in a helmet is hitting a ball"],
    ),
    (
        436_141,
        "a train traveling down tracks near a station",
        [
            "a train pulls into the station on the tracks",
            "a passenger train on railroad tracks near a platform",
        ],
    ),
];

/// BLEU-1 of these captions.
const RIGHT: &str = "0.832";

/// An object from ids to what `of` makes of each image.
fn object(of: impl Fn(&(u64, &str, [&str; 2])) -> Value) -> String {
    let all: Map<String, Value> = IMAGES.iter().map(|image| (image.0.to_string(), of(image))).collect();
    Value::from(all).to_string()
}

fn references() -> String {
    object(|(_, _, references)| json!(references))
}

fn captions(change: impl Fn(&str) -> String) -> String {
    object(|(_, caption, _)| change(caption).into())
}

/// A line for each image, below a header.
fn lines(header: &str, of: impl Fn(u64, &str) -> String) -> String {
    let rows: String = IMAGES.iter().map(|(id, caption, _)| of(*id, caption) + "\n").collect();
    format!("{header}\n{rows}")
}

/// The exit code and all that is said of a run on files, in one line.
fn run(files: &[(&str, &str)], args: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    files.iter().for_each(|(name, text)| fs::write(path(name), text).unwrap());
    let is_file = |arg: &str| files.iter().any(|(name, _)| *name == arg);
    let args: Vec<String> =
        args.split(' ').map(|arg| if is_file(arg) { path(arg) } else { arg.to_owned() }).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, err) = capeval_in(folder.path(), &args);
    let said = format!("{out}{err}").replace(&path(""), "");
    (code, said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What is said of candidates, and BLEU-1.
fn scored(mine: &str, more: &str) -> (String, String) {
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    let (code, said) = run(
        &[("refs.json", &references()), ("mine.json", mine)],
        &format!("score -r refs.json mine.json -m bleu{more}"),
    );
    assert_eq!(code, 0, "{said}");
    let bleu = said.split_once("BLEU-1 0–1 ").map(|(_, rest)| rest[..5].to_owned());
    (said, bleu.unwrap_or_default())
}

/// Asserts that a refusal has all of these words.
fn refused(files: &[(&str, &str)], args: &str, words: &[&str]) {
    let (code, said) = run(files, args);
    assert_eq!(code, 2, "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_missing_caption_is_the_same_in_every_form() {
    let lost = |value: Value| {
        object(move |(id, caption, _)| if *id == 384_213 { value.clone() } else { (*caption).into() })
    };
    let nan = lost("NaN".into()).replace("\"NaN\"", "NaN");
    for mine in [lost(Value::Null), lost(json!([])), lost(json!([null])), nan] {
        let files = [("refs.json", references()), ("mine.json", mine)];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        refused(&files, "score -r refs.json mine.json -m bleu", &["no candidate: 384213", "--missing skip"]);
        refused(&files, "score -r mine.json refs.json -m bleu --several first", &["no reference", "384213"]);
    }
    for (value, found) in
        [(json!(5), "a number"), (json!(false), "true or false"), (json!([["a"]]), "an array")]
    {
        let files = [("refs.json", references()), ("mine.json", lost(value))];
        let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
        let (code, said) = run(&files, "score -r refs.json mine.json -m bleu");
        assert!(code == 2 && said.contains(&format!("found {found} for image 384213")), "{said}");
        assert!(!said.contains("--input-format"), "{said}");
    }
}

#[test]
fn an_empty_reference_is_named_with_its_file() {
    let texts = |k: usize, lost: &[usize]| {
        let text = |(row, (_, _, references)): (usize, &(u64, &str, [&str; 2]))| {
            if lost.contains(&row) { String::new() } else { references[k].to_owned() }
        };
        IMAGES.iter().enumerate().map(text).collect::<Vec<_>>().join("\n") + "\n"
    };
    let mine: String = IMAGES.iter().map(|(_, caption, _)| format!("{caption}\n")).collect();
    let said = |lost: [&[usize]; 3]| {
        let texts = [texts(0, lost[0]), texts(1, lost[1]), texts(0, lost[2])];
        let files = [("a.txt", &*texts[0]), ("b.txt", &texts[1]), ("c.txt", &texts[2]), ("mine.txt", &mine)];
        run(&files, "score -r a.txt -r b.txt -r c.txt mine.txt -m bleu").1
    };
    assert!(said([&[], &[], &[3, 5]]).contains("2 references are empty in c.txt, the first one of image 4"));
    assert!(said([&[], &[2], &[]]).contains("1 reference is empty in b.txt, that of image 3"));
    assert!(said([&[0], &[2], &[]]).contains("2 references are empty in a.txt (1), b.txt (1)"));
}

#[test]
fn templates_of_conversations_leave_the_caption() {
    type Change = fn(&str) -> String;
    let changes: &[Change] = &[
        |text| format!("<|im_start|>assistant\n{text}<|im_end|>"),
        |text| format!("<|im_start|>user\nDescribe it.<|im_end|>\n<|im_start|>assistant\n{text}<|im_end|>"),
        |text| format!("<|start_header_id|>assistant<|end_header_id|>\n\n{text}<|eot_id|>"),
        |text| format!("<start_of_turn>model\n{text}<end_of_turn>"),
        |text| format!("<|assistant|>\n{text}</s>"),
        |text| format!("<s>[INST] What is it? [/INST] {text}</s>"),
        |text| format!("<|im_start|> assistant: {text}"),
    ];
    for change in changes {
        let mine = captions(change);
        let (_, bleu) = scored(&mine, "--clean special-tokens --accept prompt-in-captions");
        assert_eq!(bleu, RIGHT, "{}", change("a dog"));
    }
    let changes: &[Change] = &[
        |text| format!("assistant\n{text}"),
        |text| format!("user\nDescribe it.\nassistant\n{text}"),
        |text| format!("### Assistant:\n{text}"),
        |text| format!("### Assistant: {text}"),
    ];
    for change in changes {
        assert_eq!(scored(&captions(change), "--clean chat-roles").1, RIGHT, "{}", change("a dog"));
    }
    let both = captions(|text| format!("<s> startseq {text} endseq </s>"));
    let (said, bleu) = scored(&both, "--clean special-tokens,start-end-words");
    assert!(bleu == RIGHT && !said.contains("to remove them"), "{said}");
}

#[test]
fn labels_say_which_text_is_the_caption() {
    type Change = fn(&str) -> String;
    let changes: &[(&str, Change)] = &[
        ("chat-roles", |text| format!("{text}\n\nExplanation: I see {} words in {text}", text.len())),
        ("chat-roles", |text| format!("{text}\n\nUser: Describe it.\nGPT: this is {text}")),
        ("chat-roles", |text| format!("Caption: {text}\nTags: a, {}", text.len())),
        ("chat-roles", |text| format!("Caption: {text}\nAlt text: {text} again")),
        ("chat-roles", |text| format!("Answer: {text}\nConfidence: 0.9")),
        ("thoughts", |text| {
            format!("Thought: it has {} letters.\nAnswer: {text}\nConfidence: 0.9", text.len())
        }),
        ("thoughts", |text| format!("I see {} words in {text}\nCaption: {text}", text.len())),
    ];
    let refs = references();
    for (cleaning, change) in changes {
        let mine = captions(change);
        let advice = format!("--clean {cleaning}");
        let files = [("refs.json", &*refs), ("mine.json", &*mine)];
        refused(&files, "score -r refs.json mine.json -m bleu", &[&advice]);
        assert_eq!(scored(&mine, &advice).1, RIGHT, "{}", change("a dog"));
    }
    let unclear: &[Change] = &[
        |text| format!("Caption 1: {text}\nCaption 2: {text} again"),
        |text| format!("EN: {text}\nDE: ein {text}"),
        |text| format!("Short: {text}\nLong: {text} again"),
    ];
    for change in unclear {
        let mine = captions(change);
        let files = [("refs.json", &*refs), ("mine.json", &*mine)];
        for clean in ["", " --clean thoughts", " --clean chat-roles"] {
            let words = ["hold several texts with labels", "keep one of them for each image"];
            refused(&files, &format!("score -r refs.json mine.json -m bleu{clean}"), &words);
        }
    }
    for change in [
        |text: &str| format!("{text}<|im_end|>\n<|im_start|>user\nNow?<|im_end|>\n<|im_start|>assistant\nno"),
        |text: &str| format!("{text}</s>[INST] next"),
        |text: &str| format!("<s>{text}</s><s>more of it</s>"),
        |text: &str| format!("{text}<|endoftext|>Q: what now?"),
    ] {
        assert_eq!(scored(&captions(change), "--clean special-tokens").1, RIGHT, "{}", change("a dog"));
    }
}

#[test]
fn decoration_is_told_and_ordinary_words_are_not() {
    type Change = fn(&str) -> String;
    let decorated: &[Change] = &[
        |text| format!("**{text}**"),
        |text| format!("\\boxed{{{text}}}"),
        |text| format!("> {text}"),
        |text| format!("• {text}"),
        |text| format!("a photo of {text}"),
        |text| format!("The image shows {text}"),
        |text| format!("there is {text}"),
    ];
    for change in decorated {
        let (said, _) = scored(&captions(change), "");
        assert!(said.contains("nearly all captions of mine"), "{said}");
        assert!(!said.contains("--clean"), "{said}");
    }
    for change in [str::to_owned, |text: &str| format!("{text}."), |text: &str| format!("{text} in color")] {
        let (said, _) = scored(&captions(change), "");
        assert!(!said.contains("nearly all"), "{said}");
    }
}

#[test]
fn advice_on_ids_is_one_everywhere() {
    let jpg = |header: &str, rest: &str| lines(header, |id, _| format!("{id}.jpg{rest}"));
    let refs = references();
    let rated = lines("image_id,caption,rating", |id, caption| format!("{id}.jpg,{caption},{}", id % 5));
    let pairs =
        lines("image_id,caption_a,caption_b,winner", |id, caption| format!("{id}.jpg,{caption},a man,a"));
    let groups = jpg("id,domain", ",in");
    let list = lines("60623.jpg", |id, _| format!("{id}.jpg"));
    let mine = captions(str::to_owned);
    for (file, args) in [
        (&rated, "correlate other.csv -r refs.json -m rouge-l"),
        (&pairs, "prefer other.csv -r refs.json -m rouge-l"),
        (&groups, "score -r refs.json mine.json -m bleu --group-by other.csv"),
        (&list, "score -r refs.json mine.json -m bleu --images other.csv"),
    ] {
        let files = [("refs.json", &*refs), ("mine.json", &*mine), ("other.csv", file)];
        refused(&files, args, &["there", "--ids file-name"]);
        let (code, said) = run(&files, &format!("{args} --ids file-name"));
        assert_eq!(code, 0, "{args}: {said}");
    }
}

#[test]
fn references_that_write_ids_in_several_ways_are_put_together() {
    let of = |k: usize, id: fn(u64) -> Value| {
        let record = |(image, _, references): &(u64, &str, [&str; 2])| json!({"image_id": id(*image), "caption": references[k]});
        Value::from(IMAGES.iter().map(record).collect::<Vec<_>>()).to_string()
    };
    let number: fn(u64) -> Value = Value::from;
    let mine: Vec<Value> =
        IMAGES.iter().map(|(id, caption, _)| json!({"image_id": id, "caption": caption})).collect();
    let mine = Value::from(mine).to_string();
    let first = of(0, number);
    for (second, way) in
        [(of(1, |id| id.to_string().into()), "text"), (of(1, |id| format!("{id}.jpg").into()), "file-name")]
    {
        let files = [("a.json", &*first), ("b.json", &*second), ("mine.json", &*mine)];
        let args = "score -r a.json -r b.json mine.json -m bleu";
        refused(&files, args, &["in several ways", &format!("--ids {way}")]);
        let (code, said) = run(&files, &format!("{args} --ids {way}"));
        assert!(code == 0 && said.contains(&format!("BLEU-1 0–1 {RIGHT}")), "{said}");
    }
}

#[test]
fn semicolons_and_decimal_commas_are_read_everywhere() {
    let (refs, mine) = (references(), captions(str::to_owned));
    let rated = lines("image_id;caption;rating", |id, caption| format!("{id};{caption};{},5", id % 5));
    let pairs = lines("image_id;caption_a;caption_b;winner", |id, caption| format!("{id};{caption};a man;a"));
    let groups = lines("id;domain", |id, _| format!("{id};{}", id % 2));
    let scores = lines("image_id;clip", |id, _| format!("{id};0,{}", id % 9));
    for (file, args, words) in [
        (&rated, "correlate other.csv -r refs.json -m rouge-l", "10 "),
        (&pairs, "prefer other.csv -r refs.json -m rouge-l", "10 "),
        (&groups, "score -r refs.json mine.json -m bleu --group-by other.csv", "by domain"),
        (&scores, "score --scores other.csv", "10 segments"),
    ] {
        let (code, said) = run(&[("refs.json", &refs), ("mine.json", &mine), ("other.csv", file)], args);
        assert!(code == 0 && said.contains(words), "{args}: {said}");
    }
    let headless = lines("", |id, _| format!("{id},{}", id % 2));
    let files = [("refs.json", &*refs), ("mine.json", &*mine), ("mygroups.csv", headless.trim_start())];
    let (_, said) = run(&files, "score -r refs.json mine.json -m bleu --group-by mygroups.csv");
    assert!(said.contains("by mygroups") && !said.contains("in no group"), "{said}");
}

#[test]
fn scores_of_a_whole_system_are_not_those_of_images() {
    for text in [
        r#"{"Bleu_1": 0.7, "CIDEr": 1.1}"#,
        r#"{"Bleu_1": 0.7, "Bleu_2": 0.5, "ROUGE_L": 0.5, "SPICE": 0.2}"#,
        r#"{"overall": {"CIDEr": 1.1, "SPICE": 0.2}}"#,
        "name,score\nMETEOR,0.2\nCIDEr,1.1\n",
    ] {
        refused(&[("s.json", text)], "score --scores s.json", &["scores of a whole system"]);
    }
    for (text, words) in [
        (object(|_| json!({"image_id": 1, "CIDEr": 0.5, "SPICE": {"All": {"f": 0.2}}})), "SPICE 0–2 0.200"),
        (
            format!(
                r#"{{"overall": {{"CIDEr": 1}}, "imgToEval": {}}}"#,
                object(|_| json!({"CIDEr": 0.5, "caption": "a b"}))
            ),
            "CIDEr 0–10 0.500",
        ),
        (object(|_| json!({"SPICE": {"f": 0.2, "pr": 0.1}})), "SPICE.f"),
        (object(|_| json!({"ROUGE": {"rouge1": {"fmeasure": 0.3}}})), "ROUGE.rouge1.fmeasure"),
    ] {
        let (code, said) = run(&[("s.json", &text)], "score --scores s.json");
        assert!(code == 0 && said.contains(words) && said.contains("10 segments"), "{said}");
    }
}

#[test]
fn moments_in_columns_are_told() {
    let table = |header: &str| {
        let rows =
            |(id, caption, _): &(u64, &str, [&str; 2])| format!("v{id},0,5,{caption}\nv{id},5,9,a dog\n");
        format!("{header}\n{}", IMAGES.iter().map(rows).collect::<String>())
    };
    for header in
        ["video_id,start,end,caption", "video_id,start_time,end_time,sentence", "video_id,tStart,tEnd,text"]
    {
        let file = table(header);
        let files = [("refs.csv", &*file), ("mine.csv", &*file)];
        refused(&files, "score -r refs.csv mine.csv -m bleu", &["capeval dense", "captions of moments"]);
    }
    let whole = lines("video_id,start,end,caption", |id, caption| format!("{id},0,5,{caption}"));
    let (code, said) =
        run(&[("refs.json", &references()), ("mine.csv", &whole)], "score -r refs.json mine.csv -m bleu");
    assert!(code == 0 && said.contains(RIGHT), "{said}");
}

#[test]
fn another_format_is_advised_only_if_it_reads_the_file() {
    let (refs, mine) = (references(), captions(str::to_owned));
    let truncated = mine.get(..mine.len() - 30).unwrap();
    let nested = object(|(_, _, references)| json!([references]));
    let xml =
        lines("<?xml version=\"1.0\"?>", |id, caption| format!("<caption id=\"{id}\">{caption}</caption>"));
    for (file, words) in [
        (truncated, "get the file again"),
        (&*nested, "one list of captions"),
        (&*xml, "write its captions as a JSON object"),
        ("image_id,caption\n1,\"a dog\n2,a cat\n", "missing quotation mark"),
    ] {
        let files = [("refs.json", &*refs), ("mine", file)];
        let (code, said) = run(&files, "score -r refs.json mine -m bleu");
        assert!(code == 2 && said.contains(words), "{said}");
        assert!(!said.contains("--input-format"), "{said}");
    }
    let files = [("refs.json", "a dog\na cat\n"), ("mine.txt", "a dog\na cat\n")];
    refused(&files, "score -r refs.json mine.txt -m bleu", &["--ref-format lines"]);
}

#[test]
fn no_policy_is_advised_where_captions_are_counted() {
    let refs: String = IMAGES.iter().map(|(_, _, references)| format!("{}\n", references[0])).collect();
    let mine: String = IMAGES.iter().map(|(_, caption, _)| format!("{caption}\n")).collect();
    let titled = format!("Generated by model X\n{mine}");
    let files = [("refs.txt", &*refs), ("mine.txt", &*titled)];
    let (code, said) = run(&files, "score -r refs.txt mine.txt -m bleu");
    assert!(code == 2 && said.contains("without line 1 (\"Generated by model X\") of mine.txt"), "{said}");
    assert!(!said.contains("--surplus"), "{said}");
    let (_, said) = run(&files, "score -r refs.txt mine.txt -m bleu --surplus ignore");
    assert!(said.contains("without line 1 (\"Generated by model X\")"), "{said}");
    // The references of an image one below the other.
    let all: String = IMAGES.iter().map(|(_, _, [a, b])| format!("{a}\n{b}\n")).collect();
    let (code, said) = run(&[("refs.txt", &all), ("mine.txt", &mine)], "score -r refs.txt mine.txt -m bleu");
    assert!(
        code == 2 && said.contains("2 of each, put a blank line between") && !said.contains("--missing"),
        "{said}"
    );
    let blocks: String = IMAGES.iter().map(|(_, _, [a, b])| format!("{a}\n{b}\n\n")).collect();
    let (code, said) =
        run(&[("refs.txt", &blocks), ("mine.txt", &mine)], "score -r refs.txt mine.txt -m bleu");
    assert!(code == 0 && said.contains(RIGHT), "{said}");
    // Titles of both sides.
    let both =
        [("refs.txt", format!("Reference captions\n{refs}")), ("mine.txt", format!("Captions of X\n{mine}"))];
    let both = both.each_ref().map(|(name, text)| (*name, text.as_str()));
    let (_, said) = run(&both, "score -r refs.txt mine.txt -m bleu");
    assert!(said.contains("look like titles"), "{said}");
}

#[test]
fn values_in_advice_are_those_of_a_shell() {
    let refs = references();
    for (form, option) in [
        ("img N", "'img {}'"),
        ("img(N)", "'img({})'"),
        ("a|N", "'a|{}'"),
        ("$N", "'${}'"),
        ("it's N", "'it'\\''s {}'"),
        ("v_N", "v_{}"),
    ] {
        let mine = object(|(_, caption, _)| (*caption).into());
        let mine: Map<String, Value> = serde_json::from_str::<Map<String, Value>>(&mine)
            .unwrap()
            .into_iter()
            .map(|(id, value)| (form.replace('N', &id), value))
            .collect();
        let mine = Value::from(mine).to_string();
        let words = format!("pass --ref-id-column {option} to");
        refused(
            &[("refs.json", &refs), ("mine.json", &mine)],
            "score -r refs.json mine.json -m bleu",
            &[&words],
        );
    }
}

#[test]
fn advice_on_formats_is_given_where_it_helps() {
    let refs = references();
    let rows: String = IMAGES
        .iter()
        .map(|(id, text, _)| format!("{}\n", json!({"image_id": id, "caption": text})))
        .collect();
    for (name, text) in [
        ("mine.jsonl", format!("Loading the model\n{rows}")),
        ("mine.json", format!("// mine\n{}", captions(str::to_owned))),
    ] {
        let files = [("refs.json", refs.as_str()), (name, text.as_str())];
        let (code, said) = run(&files, &format!("score -r refs.json {name} -m bleu"));
        assert!(
            code == 2 && said.contains("delete its first line") && !said.contains("lines to read"),
            "{said}"
        );
    }
    let arrays: String = IMAGES.iter().map(|(id, text, _)| format!("{}\n", json!([id, text]))).collect();
    assert_eq!(scored(&arrays, "").1, RIGHT);
    let wrapped = json!({"data": IMAGES.iter().map(|(id, text, _)| json!([id, text])).collect::<Vec<_>>()});
    assert_eq!(scored(&wrapped.to_string(), "").1, RIGHT);
    let letters = object(|(_, text, _)| text.chars().map(String::from).collect::<Vec<_>>().into());
    let words = ["every one is a single letter", "join the letters"];
    refused(&[("refs.json", &refs), ("mine.json", &letters)], "score -r refs.json mine.json -m bleu", &words);
    let arpa = "\\data\\\nngram 1=1\n\n\\1-grams:\n-1\ta\n\n\\end\\\n";
    refused(&[("lm.arpa", arpa)], "diversity lm.arpa", &["a language model in ARPA format"]);
}
