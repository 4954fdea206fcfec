//! Bad inputs: each is refused in words that say where, or read with a remark; none panics.

use capeval_dense::read::{ReadOptions, read};
use capeval_dense::{DenseOptions, EventFile, Form, Program, WordMetric, WordMetrics, score};
use capeval_evaluate::registry::Resources;

use crate::support::metrics;

/// Reads a file, and returns the message and the remedy of the refusal.
fn refused(text: &str) -> String {
    let refusal = read(text, "f.json", &ReadOptions::default()).expect_err(text);
    format!("{refusal}; {}", refusal.remedy().unwrap())
}

#[test]
fn what_is_no_event_is_refused_with_its_place() {
    let cases = [
        ("", "f.json is empty"),
        ("   \n", "f.json is empty"),
        ("[", "EOF"),
        ("{\"v\": [{\"timestamp\": [0, NaN], \"sentence\": \"a\"}]}", "line 1"),
        ("{\"v\": [{\"timestamp\": [0, 1e999], \"sentence\": \"a\"}]}", "line 1"),
        ("{\"v\": [], \"v\": []}", "occurs twice"),
        ("{\"v\": 7}", "v has a number instead of events"),
        ("{\"v\": null}", "v has null instead of events"),
        ("{\"v\": [7]}", "v has a number instead of an event"),
        ("{\"v\": [{\"sentence\": \"a\"}]}", "no start and end"),
        ("{\"v\": [{\"timestamp\": [0, 1]}]}", "has no caption"),
        ("{\"v\": [{\"timestamp\": [0], \"sentence\": \"a\"}]}", "not a start and an end: [0]"),
        ("{\"v\": [{\"timestamp\": [0, 1, 2], \"sentence\": \"a\"}]}", "not a start and an end"),
        ("{\"v\": [{\"timestamp\": [0, null], \"sentence\": \"a\"}]}", "not a start and an end"),
        ("{\"v\": [{\"timestamp\": [\"soon\", \"later\"], \"sentence\": \"a\"}]}", "soon"),
        ("{\"v\": [{\"timestamp\": [0, 1], \"sentence\": 7}]}", "a caption of v is a number"),
        ("{\"v\": [{\"timestamp\": [0, 1], \"sentence\": null}]}", "a caption of v is null"),
        ("{\"v\": [{\"timestamp\": [0, 1], \"one\": \"a\", \"two\": \"b\"}]}", "several texts: one, two"),
        ("{\"v\": {\"timestamps\": [[0, 1], [1, 2]], \"sentences\": [\"a\"]}}", "2 times and 1 captions"),
        ("{\"v\": {\"timestamps\": [[0, 1]]}}", "no list of as many captions"),
        (
            "{\"v\": {\"timestamps\": [[0, 1]], \"sentences\": [\"a\"], \"tags\": [\"b\"]}}",
            "2 lists of texts",
        ),
        (
            "{\"v\": {\"duration\": \"long\", \"timestamps\": [[0, 1]], \"sentences\": [\"a\"]}}",
            "duration of v",
        ),
        ("{\"v\": {\"duration\": -3, \"timestamps\": [[0, 1]], \"sentences\": [\"a\"]}}", "duration of v"),
        ("{\"v\": [{\"start\": \"10%\", \"end\": \"20%\", \"caption\": \"a\"}]}", "duration is not known"),
        ("{\"v\": [{\"start\": \"10%\", \"end\": \"120%\", \"caption\": \"a\"}]}", "v has a time at 120 %"),
        ("{\"v\": [{\"start\": \"-1%\", \"end\": \"20%\", \"caption\": \"a\"}]}", "v has a time at -1 %"),
        ("{\"v\": [{\"start_frame\": 1, \"end_frame\": 9, \"caption\": \"a\"}]}", "set fps"),
        (
            "{\"v\": [{\"start\": true, \"end\": 9, \"caption\": \"a\"}]}",
            "the start of an event of v is no time",
        ),
        ("{\"v\": [{\"start\": \"1:75\", \"end\": 9, \"caption\": \"a\"}]}", "1:75"),
        ("{\"v\": \"I cannot say.\"}", "has no times"),
        ("[{\"timestamp\": [0, 1], \"sentence\": \"a\"}]", "entry 1 names no video"),
        (
            "[{\"video\": \"v\", \"segments\": [[0, 1]], \"captions\": [\"a\"]}, {\"video\": \"v\", \"segments\": [[0, 1]], \"captions\": [\"a\"]}]",
            "occurs twice",
        ),
        ("{\"results\": 7}", "a number instead of videos"),
        ("{\"results\": \"none\"}", "a text instead of videos"),
        ("7", "no header"),
        ("video,start\nv,1\n", "no header"),
        ("video,start,end,caption\nv,1\n", "record 1"),
        ("video,start,end,caption\nv,one,2,a\n", "the start of an event of v is no time: one"),
        ("start,end,caption\n0,1,a\n", "entry 1 names no video"),
    ];
    for (text, part) in cases {
        let said = refused(text);
        assert!(said.contains(part), "{text}: {said}");
        assert!(said.starts_with("f.json"), "{said}");
    }
}

/// The events of a file with one video.
fn events(text: &str) -> Vec<(f64, f64, String)> {
    let options = ReadOptions {
        durations: [("v".to_owned(), 200.0)].into_iter().collect(),
        fps: Some(25.0),
        ..ReadOptions::default()
    };
    let file = read(text, "f", &options).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
    file.videos["v"].iter().map(|event| (event.start, event.end, event.caption.clone())).collect()
}

#[test]
fn the_same_event_is_read_from_every_form() {
    let forms = [
        r#"{"v": {"duration": 200, "timestamps": [[10, 20]], "sentences": ["a dog"]}}"#,
        r#"{"results": {"v": [{"sentence": "a dog", "timestamp": [10, 20]}]}}"#,
        r#"{"version": "1", "results": {"v": [{"sentence": "a dog", "timestamp": [10, 20]}]}, "external_data": {}}"#,
        r#"{"database": {"v": {"duration": 200, "annotations": [{"segment": [10, 20], "id": 0, "sentence": "a dog"}]}}}"#,
        r#"{"v": [{"timestamp": [10.0, 20.0], "caption": "a dog"}]}"#,
        r#"{"v": [{"start": 10, "end": 20, "text": "a dog"}]}"#,
        r#"{"v": [{"start": "0:10", "end": "0:20", "text": "a dog"}]}"#,
        r#"{"v": [{"start": "5%", "end": "10%", "text": "a dog"}]}"#,
        r#"{"v": [{"start_frame": 250, "end_frame": 500, "text": "a dog"}]}"#,
        r#"{"v": [{"start_ms": 10000, "end_ms": 20000, "text": "a dog"}]}"#,
        r#"{"v": [{"time": "0:10-0:20", "text": "a dog"}]}"#,
        r#"{"v": "10.0 - 20.0 seconds, a dog"}"#,
        r#"{"v": "[10, 20] a dog"}"#,
        r#"{"v": ["[0:10, 0:20] a dog"]}"#,
        r#"{"annotations": [{"image_id": "YouCook2/v", "segments": [[10, 20]], "pure_cap": "a dog"}]}"#,
        r#"[{"video_id": "v", "timestamp": [10, 20], "sentence": "a dog"}]"#,
        "{\"video_id\": \"v\", \"start\": 10, \"end\": 20, \"caption\": \"a dog\"}\n{\"video_id\": \"w\", \"start\": 1, \"end\": 2, \"caption\": \"a cat\"}\n",
        "video,start,end,caption\nv,10,20,a dog\n",
        "video\tstart_time\tend_time\tsentence\nv\t0:10\t0:20\ta dog\n",
    ];
    for text in forms {
        let found = events(text);
        let is_cut = text.contains("pure_cap");
        let caption = if is_cut { "a dog." } else { "a dog" };
        assert_eq!(found, [(10.0, 20.0, caption.to_owned())], "{text}");
    }
}

#[test]
fn two_numbers_in_brackets_are_times_where_texts_begin_with_such() {
    for text in [
        "[0, 9] a man rides. [11, 19] a dog sits.",
        "[0, 9] a man rides. \\n[11, 19] a dog sits.",
        "(0:00,0:09): a man rides.\\n(0:11,0:19): a dog sits.",
        "[0s, 9s] a man rides. [11s, 19s] a dog sits.",
    ] {
        let found = events(&format!("{{\"v\": \"{text}\"}}"));
        let expected = [(0.0, 9.0, "a man rides."), (11.0, 19.0, "a dog sits.")];
        assert_eq!(found, expected.map(|(start, end, caption)| (start, end, caption.to_owned())), "{text}");
    }
    let found = events(r#"{"v": "0 - 9: a man jumps (2, 3) times. 11 - 19: a dog."}"#);
    assert_eq!((found.len(), found[0].2.as_str()), (2, "a man jumps (2, 3) times."));
}

/// A start, an end and a caption.
type Row = (f64, f64, &'static str);

fn file(name: &str, videos: &[(&str, &[Row])]) -> EventFile {
    let events = |events: &[Row]| {
        let event = |(start, end, caption): &Row| capeval_dense::Event {
            start: *start,
            end: *end,
            caption: (*caption).to_owned(),
        };
        events.iter().map(event).collect()
    };
    let videos = videos.iter().map(|(id, all)| ((*id).to_owned(), events(all))).collect();
    EventFile { name: name.to_owned(), videos, ..EventFile::default() }
}

#[test]
fn what_a_file_lacks_is_said_and_stops_are_words() {
    let Some(metrics) = metrics() else { return };
    let references =
        [file("r", &[("v_1", &[(0.0, 9.0, "a man")]), ("v_2", &[]), ("v_3", &[(0.0, 1.0, "...")])])];
    let results =
        file("p", &[("v_1", &[]), ("v_2", &[(5.0, 1.0, "")]), ("v_9", &[]), ("v_3", &[(0.0, 1.0, "x")])]);
    let options = DenseOptions { segments: true, ..DenseOptions::new(Form::all().collect()) };
    let report = score(&references, vec![("p".to_owned(), results)], &options, &metrics).unwrap();
    let system = &report.systems[0];
    for part in [
        "1 video with an empty list",
        "1 video that the references lack",
        "1 event with a start after the end",
    ] {
        assert!(system.remarks.iter().any(|remark| remark.contains(part)), "{part}: {:?}", system.remarks);
    }
    let silent: Vec<&str> =
        system.forms.iter().filter(|form| form.stops.is_empty()).map(|form| form.form.as_str()).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn ids_match_with_and_without_their_prefix() {
    let Some(metrics) = metrics() else { return };
    let references = [file("r", &[("v_1", &[(0.0, 9.0, "a man sings")])])];
    let results = file("p", &[("1", &[(0.0, 9.0, "a man sings")])]);
    let options = DenseOptions::new(vec![Program::Capeval.into()]);
    let report = score(&references, vec![("p".to_owned(), results)], &options, &metrics).unwrap();
    let system = &report.systems[0];
    assert!(system.remarks[0].contains("v_ is added or removed"));
    assert!(system.forms[0].measures[0].value.0 > 0.9, "{:?}", system.forms[0].measures[0]);
}

#[test]
fn a_million_events_are_scored() {
    let Some(metrics) = metrics() else { return };
    let many: Vec<Row> = (0..1_000_000).map(|k| (f64::from(k), f64::from(k) + 1.0, "a man")).collect();
    let references = [file("r", &[("v", &[(0.0, 9.0, "a man")])])];
    let results = file("p", &[("v", &many)]);
    let options = DenseOptions::new(vec![Program::Capeval.into()]);
    let report = score(&references, vec![("p".to_owned(), results)], &options, &metrics).unwrap();
    assert_eq!(report.systems[0].counts.cut, 999_000);
}

/// The files of which each pair is refused, or is scored with a remark, and what is said.
#[test]
fn files_that_do_not_fit_are_refused_or_remarked() {
    let metrics = WordMetrics::new(&Resources::default(), &[WordMetric::Bleu]).unwrap();
    let one = |name: &str, id: &str, row: Row| file(name, &[(id, &[row])]);
    let good = (0.0, 9.0, "a man sings");
    let none = || file("p", &[]);
    let p = || one("p", "v_1", good);
    let r = || one("r", "v_1", good);
    type Files = (Vec<EventFile>, EventFile);
    let refused: [(Files, &str); 5] = [
        ((vec![r(), one("s", "1", good)], p()), "same but for v_"),
        ((vec![r()], one("p", "w", good)), "no video of p is in the references"),
        ((vec![r()], none()), "the first is none there and v_1"),
        ((vec![file("r", &[])], p()), "the references have no video"),
        ((vec![], p()), "the references have no video"),
    ];
    let run = |(references, results): Files| {
        let options = DenseOptions::new(vec![Program::Capeval.into()]);
        score(&references, vec![("p".to_owned(), results)], &options, &metrics)
    };
    for (files, part) in refused {
        let refusal = run(files).expect_err(part);
        let said = format!("{refusal}; {}", refusal.remedy().unwrap());
        assert!(said.contains(part), "{said}");
    }
    let many =
        file("p", &[("v_1", &[good, (9.0, 1.0, "x"), (2.0, 2.0, "")]), ("v_2", &[]), ("v_9", &[good])]);
    let mut references =
        file("r", &[("v_1", &[good, (5.0, 1.0, "late")]), ("v_2", &[good]), ("v_3", &[good])]);
    references.durations.insert("v_1".to_owned(), 8.5);
    let report = run((vec![references], many)).unwrap();
    let remarks = report.systems[0].remarks.join("\n");
    for part in [
        "p: 1 video of the references without predictions",
        "p: 1 video with an empty list",
        "p: 1 video that the references lack, left out",
        "p: 1 event with a start after the end, never matched but by scenic and timechat",
        "r: 1 event with a start after the end, never matched",
        "p: 1 event with a start after the end of the video: make sure that times are in seconds",
    ] {
        assert!(remarks.contains(part), "{part}: {remarks}");
    }
    let without = run((vec![file("r", &[("v_1", &[])])], p())).unwrap();
    let stops = &without.systems[0].forms[0].stops;
    assert_eq!(stops.iter().filter(|stop| stop.contains("v_1 has no events")).count(), 1, "{stops:?}");
    let refusal = WordMetrics::new(&Resources::default(), &[WordMetric::Meteor]).err().unwrap();
    assert!(refusal.to_string().to_lowercase().contains("meteor"), "{refusal}");
}

#[test]
fn no_references_are_refused() {
    let Some(metrics) = metrics() else { return };
    let options = DenseOptions::new(vec![Program::Capeval.into()]);
    assert!(score(&[], Vec::new(), &options, &metrics).is_err());
}
