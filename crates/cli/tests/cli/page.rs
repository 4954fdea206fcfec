//! `--html`: a report as one page.

use crate::program::{capeval, stdout};

#[test]
fn a_page_holds_scores_intervals_captions_and_charts() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    stdout(&["score", "-r", "references.json", "results.json", "--ci", "--resamples", "50", "--html", page]);
    let html = std::fs::read_to_string(page).unwrap();
    for part in
        ["<!doctype html>", "Content-Security-Policy", "<td class=\"n\">", "<small>[", "<svg viewBox="]
    {
        assert!(html.contains(part), "{part}");
    }
    assert!(
        html.contains("two children with a kite") && html.contains("A train crosses a bridge"),
        "captions"
    );
    assert!(html.contains("cider-d|n:4|sigma:6"), "signatures");
}

#[test]
fn the_page_of_a_comparison_shows_differences() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let files = ["compare", "-r", "references.json", "a=results.json", "b=results.json"];
    stdout(&[&files[..], &["-m", "bleu", "--resamples", "50", "--html", page]].concat());
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("b against a") && html.contains("better/equal/worse"));
}

#[test]
fn the_page_of_a_correlation_shows_scores_against_ratings() {
    let folder = tempfile::tempdir().unwrap();
    let (ratings, page) = (folder.path().join("ratings.csv"), folder.path().join("page.html"));
    std::fs::write(&ratings, "image_id,caption,rating\n1,a dog,4\n1,a cat,1\n2,two children,3\n2,a kite,2\n")
        .unwrap();
    let (ratings, page) = (ratings.to_str().unwrap(), page.to_str().unwrap());
    stdout(&["correlate", ratings, "-r", "references.json", "-m", "rouge-l", "--html", page]);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Agreement of metrics with human ratings") && html.contains("Kendall"));
    // A box for each grade.
    assert!(html.contains("class=\"boxes s0\"") && html.contains("box: middle half"));
}

#[test]
fn the_page_of_a_correlation_shows_a_line_for_each_system_and_one_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let (ratings, page) = (folder.path().join("ratings.csv"), folder.path().join("page.html"));
    let rows = "image_id,caption,system,rating\n1,a dog,weak,1\n1,a dog,weak,2\n1,dog,,4\n\
        1,A dog runs along the beach.,,4\n2,two kites,weak,1\n2,two children,good,3\n2,a boy,Human,4\n3,a train,good,3\n";
    std::fs::write(&ratings, rows).unwrap();
    let (ratings, page) = (ratings.to_str().unwrap(), page.to_str().unwrap());
    stdout(&["correlate", ratings, "-r", "references.json", "-m", "rouge-l", "--html", page]);
    let html = std::fs::read_to_string(page).unwrap();
    let of = |start: &str| -> &str {
        let at = html.find(start).unwrap_or_else(|| panic!("no {start}"));
        &html[at..at + html[at..].find('"').unwrap()]
    };
    let grades = of("Share of ratings with at most each human rating.");
    assert!(
        grades.contains("weak: half are at most 1. other captions: half are at most 4. human: half"),
        "{grades}"
    );
    let scores = of("Share of captions with at most each ROUGE-L.");
    assert!(scores.contains("good: half") && scores.contains("human: half"), "{scores}");
    assert!(html.contains("Grey: human, captions that people wrote."));
    assert!(html.contains("<bdi>weak</bdi>") && !html.contains("<bdi>Human</bdi>"));
    assert!(html.contains("class=\"line grey\""));
}

#[test]
fn the_page_of_a_comparison_has_a_forest_plot_that_says_its_level_and_seed() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let files = ["compare", "-r", "references.json", "a=results.json", "b=results.json"];
    stdout(&[&files[..], &["-m", "bleu,ter", "--resamples", "50", "--seed", "7", "--html", page]].concat());
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("class=\"forest s1\"") && html.contains("class=\"zero\""));
    let note =
        "Differences with 95% intervals, percentiles of 50 bootstrap resamples of the images, seed 7; ";
    assert!(html.contains(note));
    // The images where the systems differ most come first.
    assert!(html.contains("\"difference\":[1,0]"));
}

#[test]
fn cumulative_distributions_have_a_line_of_people() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let args =
        ["score", "-r", "references.json", "mine=results.json", "-m", "rouge-l", "--human", "--html", page];
    let table = stdout(&args);
    assert!(table.contains("human"), "{table}");
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("Grey: human, each reference scored against the others of its image."));
    assert!(html.contains("human: half are at most ") && html.contains("class=\"line grey\""));
    // The list of images has no captions of a system of that name.
    assert!(
        html.contains("\"systems\":[\"mine\"]") && html.contains("<title>Caption scores of mine</title>")
    );
}

#[test]
fn preferences_and_diversity_have_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (pairs, page) = (folder.path().join("pairs.csv"), folder.path().join("page.html"));
    let row = "1,a dog runs,a cat,a";
    std::fs::write(&pairs, format!("image_id,caption_a,caption_b,winner\n{row}\n")).unwrap();
    let (pairs, page) = (pairs.to_str().unwrap(), page.to_str().unwrap());
    stdout(&["prefer", pairs, "-r", "references.json", "-m", "rouge-l", "--html", page]);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("<title>Agreement of metrics with human preferences</title>"));
    assert!(html.contains("class=\"forest s0\"") && html.contains("the line is at chance"));
    stdout(&["diversity", "mine=results.json", "--html", page, "--title", "How <varied>?"]);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("<title>How &lt;varied&gt;?</title>") && html.contains("vocabulary"));
    stdout(&["diversity", "a=results.json", "b=results.json", "--html", page]);
    let html = std::fs::read_to_string(page).unwrap();
    let first = html.split("class=\"ends\"").nth(1).and_then(|row| row.split(['>', '<']).nth(1)).unwrap();
    assert!(first.parse::<usize>().is_ok(), "the vocabulary is a count: {first}");
}

#[test]
fn titles_say_what_a_page_shows() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let titled = |args: &[&str], title: &str| {
        stdout(&[args, &["--html", page]].concat());
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains(&format!("<title>{title}</title>")), "{title}");
    };
    let score = ["score", "-m", "rouge-l", "-r", "references.json", "mine=results.json"];
    titled(&score, "Caption scores of mine");
    titled(&[&score[..], &["b=results.json"]].concat(), "Caption scores of mine and b");
    titled(&[&score[..], &["b=results.json", "--title", "Mine &amp; b"]].concat(), "Mine &amp;amp; b");
    titled(
        &["compare", "-r", "references.json", "a=results.json", "b=results.json"],
        "Comparison of a and b",
    );
    titled(&["diversity", "a=results.json", "-m", "vocabulary"], "Diversity of the captions of a");
}

#[test]
fn pictures_can_be_part_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let (page, pictures) = (folder.path().join("page.html"), folder.path().join("pictures"));
    std::fs::create_dir(&pictures).unwrap();
    std::fs::write(pictures.join("COCO_000000000002.jpg"), b"\x89PNG\r\n").unwrap();
    let pattern = pictures.join("COCO_{id:012}.jpg");
    let (page, pictures) = (page.to_str().unwrap(), pictures.to_str().unwrap());
    let score = ["score", "-r", "references.json", "results.json", "--html", page, "--embed-pictures"];
    for source in [pictures, pattern.to_str().unwrap()] {
        stdout(&[&score[..], &["--pictures", source]].concat());
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("[null,\"data:image/png;base64,iVBORw0K\",null]"), "{source}");
        assert!(html.contains("img-src data:;"), "{source}");
    }
    for (source, says) in
        [("https://example.org/{id}", "not a path"), ("none/{id}", "no picture of any image")]
    {
        let run = capeval(&[&score[..], &["--pictures", source]].concat());
        assert!(run.code == 2 && run.stderr.contains(says), "{}", run.stderr);
    }
}

#[test]
fn pictures_that_no_browser_opens_in_one_page_are_refused_without_reading_them() {
    let folder = tempfile::tempdir().unwrap();
    let (page, picture) = (folder.path().join("page.html"), folder.path().join("2.jpg"));
    std::fs::File::create(picture).unwrap().set_len(500_000_001).unwrap();
    let (page, pictures) = (page.to_str().unwrap(), folder.path().to_str().unwrap());
    let run = capeval(&[
        "compare",
        "-r",
        "references.json",
        "a=results.json",
        "b=results.json",
        "--html",
        page,
        "--pictures",
        pictures,
        "--embed-pictures",
    ]);
    assert_eq!(run.code, 2);
    for said in ["501 MB", "400 MB", "leave out --embed-pictures to link to the pictures", "--images FILE"] {
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn pictures_of_a_folder_are_found_from_where_the_page_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("pictures")).unwrap();
    std::fs::write(folder.path().join("pictures/COCO_000000000002.jpg"), "").unwrap();
    let (page, pictures) = (folder.path().join("page.html"), folder.path().join("pictures"));
    let (page, pictures) = (page.to_str().unwrap(), pictures.to_str().unwrap());
    stdout(&["score", "-r", "references.json", "results.json", "--html", page, "--pictures", pictures]);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("[null,\"pictures/COCO_000000000002.jpg\",null]"), "{html}");
}

#[test]
fn images_may_be_listed_and_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (page, list) = (folder.path().join("page.html"), folder.path().join("ids.txt"));
    std::fs::write(&list, "2\n").unwrap();
    let (page, list) = (page.to_str().unwrap(), list.to_str().unwrap());
    let pattern = "https://example.org/{id:012}.jpg";
    let score = ["score", "-r", "references.json", "results.json", "--html", page];
    let table = stdout(&[&score[..], &["--images", list, "--pictures", pattern]].concat());
    assert!(table.contains("1 image"), "{table}");
    assert!(std::fs::read_to_string(page).unwrap().contains("https://example.org/{id:012}.jpg"));
}

#[test]
fn what_cannot_be_a_page_is_refused_before_any_work() {
    let refused = |args: &[&str]| {
        let run = capeval(&[&["score", "-r", "references.json", "results.json"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        run.stderr
    };
    assert!(refused(&["--html", "-"]).contains("a page cannot be written to standard output"));
    assert!(refused(&["--html", "results.json"]).contains("an input file"));
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    assert!(refused(&["--pictures", "{id}.png"]).contains("there is neither"));
    let gone = refused(&["--html", page, "--pictures", "no-such-folder"]);
    assert!(gone.contains("no-such-folder: cannot look for pictures"), "{gone}");
    let empty = folder.path().to_str().unwrap();
    let none = refused(&["--html", page, "--pictures", empty]);
    assert!(none.contains("named after an image id"), "{none}");
    assert!(!folder.path().join("page.html").exists(), "nothing is left behind");
}
