//! The page: hostile captions stay text, and nothing comes from elsewhere.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use capeval::choice::Plain;
use capeval::corpus::{Captions, GroupFile, SegmentId};
use capeval::{GroupBy, MetricOptions, ScoreOptions, ScoreRequest, score};
use capeval_pages::{self as pages, Page, Pictures};
use capeval_testkit::ends;

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"'& \u{2028}\u{202e} \u{0}";

fn page(text: &str, page: &Page) -> String {
    let (mut references, mut candidates) = (Captions::new("references"), Captions::new(text));
    for (id, text) in [("1", "A dog runs along the beach."), (text, text), ("3", "")] {
        references.push(SegmentId::from(id), text);
        references.push(SegmentId::from(id), "a dog runs");
        candidates.push(SegmentId::from(id), text);
    }
    let request = ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(["bleu", "rouge-l", "cider-d"]),
            gallery: true,
            empty: capeval::corpus::Empty::Keep,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(references, [(text, candidates.clone()), ("other", candidates)])
    };
    let mut out = Vec::new();
    pages::write(&score(request).unwrap(), page, &Plain, &|_| (), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn hostile_captions_stay_text() {
    let html = page(HOSTILE, &Page { title: Some(HOSTILE.into()), ..Page::default() });
    for tag in ["<script>alert", "<img", "\0"] {
        assert!(!html.contains(tag), "{tag:?}");
    }
    // One script runs; all others are data.
    assert_eq!(html.matches("<script>").count(), 1);
    let scripts = html.matches("<script").count();
    assert_eq!(html.matches("<script type=\"application/").count(), scripts - 1);
    assert_eq!(html.matches("</script>").count(), scripts);
}

#[test]
fn nothing_comes_from_elsewhere() {
    let html = page("a dog", &Page::default());
    for outside in [" src=", "http:", "https:", "@import", "url(", "style="] {
        let places: Vec<&str> = html.match_indices(outside).map(|(at, _)| &html[at - 40..at + 20]).collect();
        let allowed = |place: &&&str| !place.contains("www.w3.org");
        assert!(places.iter().filter(allowed).count() == 0, "{outside}: {places:?}");
    }
    assert!(html.contains("default-src &#39;none&#39;; script-src &#39;sha256-"));
}

#[test]
fn pictures_come_from_one_place_only() {
    let with = |pattern: &str| {
        page("a dog", &Page { pictures: Some(Pictures::Pattern(pattern.into())), ..Page::default() })
    };
    assert!(with("https://example.org/{id}.jpg").contains("img-src data: https://example.org;"));
    assert!(with("pictures/{id:012}.jpg").contains("img-src data: &#39;self&#39; file:;"));
    assert!(with("https://a;script-src *;/{id}").contains("img-src data: &#39;self&#39; file:;"));
}

#[test]
fn the_same_report_gives_the_same_page() {
    assert!(page("a dog", &Page::default()) == page("a dog", &Page::default()));
}

/// Infinite scores once made the page endless.
#[test]
fn scores_that_are_not_finite_are_drawn_around() {
    let (mut references, mut candidates) = (Captions::new("references"), Captions::new("mine"));
    for image in 0..600 {
        references.push(SegmentId::from(image), "a dog runs along the beach");
        candidates.push(SegmentId::from(image), if image % 2 == 0 { "a dog" } else { "a dog runs" });
    }
    let request = ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(["rouge-l", "cider-d"]),
            gallery: true,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(references, [("mine", candidates)])
    };
    let mut report = score(request).unwrap();
    let values = &mut report.systems[0].segments.as_mut().unwrap().values;
    (values[0], values[2], values[5], values[6]) = (f64::INFINITY, f64::NAN, f64::NAN, f64::NEG_INFINITY);
    let page = ends(move || {
        let mut out = Vec::new();
        let options = Page { compress: false, ..Page::default() };
        pages::write(&report, &options, &Plain, &|_| (), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    });
    assert!(page.contains("Mean ROUGE-L of candidates of 2 to 3 words."));
    // Four images have a score that cannot be drawn.
    assert!(page.contains(" against ROUGE-L for 596 images of mine"));
    // The script tells a caption without a finite score from an image without a caption.
    assert!(
        page.contains("\"a dog\",\"a dog runs\"")
            && page.contains("captions[state.system][image] === null) continue")
    );
}

#[test]
fn the_median_of_an_even_number_is_between_the_middle_two() {
    let (mut references, mut candidates) = (Captions::new("references"), Captions::new("mine"));
    for (image, text) in [(1, "a dog"), (2, "a dog"), (3, "a dog runs"), (4, "a dog runs")] {
        references.push(SegmentId::from(image), "a dog runs along the beach");
        candidates.push(SegmentId::from(image), text);
    }
    let request = ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(["rouge-l"]),
            gallery: true,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(references, [("mine", candidates)])
    };
    let mut out = Vec::new();
    pages::write(&score(request).unwrap(), &Page::default(), &Plain, &|_| (), &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert!(
        page.contains("Median of mine: 2.5."),
        "{:?}",
        page.find("Median of mine").map(|at| &page[at..at + 30])
    );
}

/// A report of two systems on 300 images, which take three blocks of evidence.
fn many() -> capeval::report::Report {
    let mut references = Captions::new("references");
    let (mut worse, mut better) = (Captions::new("worse"), Captions::new("better"));
    for image in 0..300 {
        let text = format!("a dog number {image} runs along the beach with {} people", image % 7);
        references.push(SegmentId::from(image), &text);
        references.push(SegmentId::from(image), "a dog runs");
        better.push(SegmentId::from(image), &text);
        worse.push(SegmentId::from(image), if image % 2 == 0 { "a dog" } else { "the cat runs along" });
    }
    let request = ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(["bleu", "rouge-l", "cider-d"]),
            gallery: true,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(references, [("worse", worse), ("better", better)])
    };
    score(request).unwrap()
}

fn written(report: &capeval::report::Report, advance: pages::Advance<'_>) -> String {
    let mut out = Vec::new();
    pages::write(report, &Page { compress: false, ..Page::default() }, &Plain, advance, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_page_does_not_depend_on_threads_and_tells_its_progress() {
    let report = many();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let page = written(&report, &|n| {
        done.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(done.into_inner(), 300);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| written(&report, &|_| ())) == page, "{threads} threads");
    }
}

#[test]
fn sorted_systems_keep_their_evidence() {
    let mut report = many();
    let first_candidate = |report: &capeval::report::Report| {
        let page = written(report, &|_| ());
        let (_, evidence) = page.split_once("id=\"b-evidence-0\">").unwrap();
        let (_, candidate) = evidence.split_once("\"candidate\":{\"known\":[\"").unwrap();
        candidate.split('"').next().unwrap().to_owned()
    };
    assert_eq!(first_candidate(&report), "a dog");
    report.sort_by("rouge-l").unwrap();
    assert_eq!(first_candidate(&report), "a dog number 0 runs along the beach with 0 people");
}

#[test]
fn images_carry_the_groups_of_each_system() {
    let (mut references, mut short) = (Captions::new("references"), Captions::new("short"));
    let mut long = Captions::new("long");
    for image in [1, 2, 3] {
        references.push(SegmentId::from(image), "a dog runs along the beach");
        short.push(SegmentId::from(image), "a dog");
        long.push(SegmentId::from(image), if image == 3 { "a dog" } else { "a dog runs" });
    }
    let kinds =
        [(1, "sea"), (1, HOSTILE), (2, "sea")].map(|(id, kind)| (SegmentId::from(id), kind.to_owned()));
    let page = |groups: Vec<GroupBy>| {
        let request = ScoreRequest {
            options: ScoreOptions {
                metrics: MetricOptions::new(["rouge-l"]),
                gallery: true,
                ..ScoreOptions::default()
            },
            groups,
            ..ScoreRequest::new(references.clone(), [("short", short.clone()), ("long", long.clone())])
        };
        written(&score(request).unwrap(), &|_| ())
    };
    let without = page(Vec::new());
    assert!(!without.contains("id=\"b-groups-") && !without.contains("\"groups\":"));
    let file = GroupFile::of_pairs("kind", kinds);
    let page = page(vec![GroupBy::File(file.into(), None, None), GroupBy::WordsOfCandidate(vec![2])]);
    assert!(page.contains(r#""groups":[{"by":"kind","names":["\u003c/script>"#));
    assert!(page.contains(r#""sea"]},{"by":"words:candidate=2","names":["0-2","3+"]}]"#));
    for (system, words) in [(0, "[[0],[0],[0]]"), (1, "[[1],[1],[0]]")] {
        let block = format!(r#"id="b-groups-{system}">[[[0,1],[1],[]],{words}]</script>"#);
        assert!(
            page.contains(&block),
            "{system}: {:?}",
            page.split("b-groups-").nth(system + 1).map(|rest| &rest[..60])
        );
    }
}
