//! Tests pages in a real browser: reports with `tests/browser/page.mjs` on captions generated here, those of videos
//! with `tests/browser/events.mjs`, and the site of the server with `tests/browser/site.mjs`, `everywhere.mjs`,
//! `organise.mjs`, `tasks.mjs`, `past.mjs` and `life.mjs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::event_page;
use crate::suite::{Build, side_by_side};

/// The packages that drive the browser and check accessibility; installed in `target/`.
const PACKAGES: &[&str] = &["playwright-core@1.65.1", "axe-core@4.14.0"];

/// Command names of suitable browsers.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The reason why the tests cannot run here; `None` if they can.
pub fn obstacle() -> Option<&'static str> {
    let runs = |program: &str| {
        let quiet =
            Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet.is_ok_and(|status| status.success())
    };
    if !runs("node") || !runs("npm") {
        return Some("Node.js with npm was not found");
    }
    // A browser is installed only on build servers; other machines are not changed.
    let may_install = std::env::var_os("CI").is_some();
    (browser().is_none() && !may_install).then_some("Chromium was not found; set CHROMIUM to its path")
}

/// The browser to use: `CHROMIUM`, or the first one found.
fn browser() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("CHROMIUM").filter(|path| !path.is_empty()) {
        return Some(given.into());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let candidates = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.into_iter().find(|path| path.is_file())
}

/// Builds the programs, and tests pages; screenshots are saved in the folder `screenshots`, if given.
pub fn run(root: &Path, build: &Build, screenshots: Option<&Path>) -> Result<()> {
    step("programs", &mut build.cargo("build --bin capeval --bin capeval-server"))?;
    test(root, build, screenshots)
}

/// Tests pages of the programs that the Rust tests were built with.
pub fn test(root: &Path, build: &Build, screenshots: Option<&Path>) -> Result<()> {
    let start = Instant::now();
    let root = root.canonicalize().context("the workspace's root")?;
    let (base, browser) = tools(&root)?;
    let programs = ["capeval", "capeval-server"].map(|name| build.program(name));
    let [capeval, _] = &programs;
    let page = write_page(capeval, &root, &base)?;
    let wide = write_wide_page(capeval, &root, &base)?;
    let pictured = write_pictured_page(capeval, &root, &base)?;
    let plain = write_plain_pages(capeval, &root, &base)?;
    let size = std::fs::metadata(&page)?.len();
    println!("── browser: a page of {size} bytes");
    let mut command = Command::new("node");
    command
        .arg(root.join("tests/browser/page.mjs"))
        .arg(&browser)
        .arg(&base)
        .arg(page)
        .arg(wide)
        .arg(pictured)
        .args(plain);
    if let Some(folder) = screenshots {
        std::fs::create_dir_all(folder)?;
        command.arg(folder);
    }
    step("tests", &mut command)?;
    let events = write_events_page(capeval, &base)?;
    let mut videos = Command::new("node");
    videos.arg(root.join("tests/browser/events.mjs")).arg(&browser).arg(&base).arg(events).args(screenshots);
    step("videos", &mut videos)?;
    let site = root.join("target/site");
    if site.exists() {
        let mut docs = Command::new("node");
        docs.arg(root.join("tests/browser/docs.mjs")).arg(&browser).arg(&base).arg(site).args(screenshots);
        step("documentation", &mut docs)?;
    }
    test_site(&programs, &root, &base, &browser, screenshots)?;
    println!("── browser: {:.0?}", start.elapsed());
    Ok(())
}

/// The folder with the packages that drive a browser, which are installed if need be, and the browser.
fn tools(root: &Path) -> Result<(PathBuf, PathBuf)> {
    let base = root.join("target/browser");
    std::fs::create_dir_all(&base)?;
    if !base.join("node_modules/playwright-core").exists() || !base.join("node_modules/axe-core").exists() {
        let arguments = ["install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--silent"];
        step("packages", Command::new("npm").args(arguments).args(PACKAGES).current_dir(&base))?;
    }
    if browser().is_none() {
        step("browser", Command::new("apt-get").args(["install", "--yes", "--quiet", "chromium"]))?;
    }
    Ok((base, browser().context("Chromium was not found; set CHROMIUM to its path")?))
}

/// Takes the pictures of the documentation: of a page by the program that was built before, and of the board of the
/// gallery.
pub fn pictures(root: &Path, build: &Build) -> Result<()> {
    let (base, browser) = tools(root)?;
    let assets = root.join("docs/assets");
    let quickstart = |name: &str| root.join("examples/quickstart").join(name);
    let page = base.join("page.html");
    let mut score = Command::new(build.program("capeval"));
    score.args(["score", "--references"]).args(["references.json", "good.json", "weak.json"].map(quickstart));
    score.args(["--metrics", "bleu,rouge-l,cider-d", "--ci", "--html"]).arg(&page).stdout(Stdio::null());
    step("page", &mut score)?;
    let mut node = Command::new("node");
    node.arg(root.join("tests/browser/pictures.mjs")).arg(&browser).arg(&base).arg(&assets);
    step("pictures", node.arg(page).arg(root.join("docs/gallery/board.html")))
}

/// Tests the collections of the server: their pages, and the whole life of one.
fn test_site(
    [capeval, server]: &[PathBuf; 2],
    root: &Path,
    base: &Path,
    browser: &Path,
    screenshots: Option<&Path>,
) -> Result<()> {
    let test = |name: &str| {
        let mut command = Command::new("node");
        command.arg(root.join("tests/browser").join(name)).arg(browser).arg(base);
        command.arg(server);
        command
    };
    let mut everywhere = test("everywhere.mjs");
    everywhere.arg(root.join("crates")).args(screenshots);
    let mut pages = test("site.mjs");
    pages.arg(root.join("crates/collections/tests/data/lint.json"));
    side_by_side(
        || step("every page", &mut everywhere),
        || {
            step("site", &mut pages)?;
            step("a benchmark from nothing", test("organise.mjs").args(screenshots))?;
            step("what visitors do most", &mut test("tasks.mjs"))?;
            step("challenges of the past", test("past.mjs").arg(capeval).args(screenshots))?;
            step("life of a collection", test("life.mjs").arg(capeval))
        },
    )
}

/// Writes a page with two systems and just over a thousand images, some with hostile captions.
fn write_page(program: &Path, root: &Path, base: &Path) -> Result<PathBuf> {
    let (mut references, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    let subjects = ["a man", "two dogs", "a red bus", "the old woman", "a child", "three birds", "a cat"];
    let verbs = ["rides", "looks at", "stands near", "runs past", "sits on", "jumps over"];
    let things = ["a wave", "the fence", "a wooden bench", "a large truck", "the water", "a kite", "a train"];
    for id in 0..1_003_usize {
        let pick = |step: usize| {
            let (s, v, t) = (id * step, id * step / 3, id * step / 7);
            let parts = [subjects[s % subjects.len()], verbs[v % verbs.len()], things[t % things.len()]];
            parts.join(" ")
        };
        let mut texts = [pick(1), pick(2)];
        let (mut one, mut other) = (pick(1), pick(3));
        match id {
            17 => {
                texts = ["A man rides a unicycle.".into(), "A woman rides a bicycle.".into()];
                (one, other) = ("A man rides a unicycle, slowly!".into(), "a woman rides a bicycle".into());
            }
            18 => texts[0] = "An odd velocipede.".into(),
            1_000 => one = "hostile-tags </script><script>document.title='taken'</script> \u{2028}".into(),
            1_001 => one = "hostile-quotes \"><img src=x onerror=document.title='taken'> \u{202e}משהו".into(),
            1_002 => one = format!("hostile-long {}", "word🙂\u{1}".repeat(1_500)),
            _ => {}
        }
        for text in texts {
            references.push(serde_json::json!({ "id": references.len(), "image_id": id, "caption": text }));
        }
        first.push(serde_json::json!({ "image_id": id, "caption": one }));
        second.push(serde_json::json!({ "image_id": id, "caption": other }));
    }
    let write = |name: &str, value: serde_json::Value| -> Result<PathBuf> {
        let path = base.join(name);
        std::fs::write(&path, value.to_string()).with_context(|| path.display().to_string())?;
        Ok(path)
    };
    let references = write("references.json", serde_json::json!({ "annotations": references }))?;
    let first = write("first.json", first.into())?;
    let second = write("second.json", second.into())?;
    let page = base.join("page.html");
    let mut command = Command::new(program);
    command.args(["score", "--references"]);
    command.arg(references).args([first, second]);
    command
        .args(["--metrics", "bleu,rouge-l,cider-d,ter", "--ci", "--resamples", "200", "--html"])
        .arg(&page);
    step("page", command.current_dir(root).stdout(Stdio::null()))?;
    Ok(page)
}

/// Writes a page of the quick-start data with every metric, where one system has a long name.
fn write_wide_page(program: &Path, root: &Path, base: &Path) -> Result<PathBuf> {
    let quickstart = |name: &str| root.join("examples/quickstart").join(name);
    let page = base.join("wide.html");
    let mut command = Command::new(program);
    command.args(["score", "--references"]);
    command.args(["references.json", "good.json", "weak.json"].map(quickstart));
    command.args(["--name", "good", "--name"]).arg(format!("weak_{}", "of_a_long_name".repeat(8)));
    command.args(["--suite", "all", "--ci", "--resamples", "200", "--html"]).arg(&page);
    step("wide page", command.current_dir(root).stdout(Stdio::null()))?;
    Ok(page)
}

/// Writes a page that compares two systems on the quick-start data, with pictures in it, and groups of its images: the
/// first image is in two of a kind, and the last in none.
fn write_pictured_page(program: &Path, root: &Path, base: &Path) -> Result<PathBuf> {
    let quickstart = root.join("examples/quickstart");
    let references = std::fs::read_to_string(quickstart.join("references.json"))?;
    let references: serde_json::Value = serde_json::from_str(&references)?;
    let pictures = base.join("pictures");
    std::fs::create_dir_all(&pictures)?;
    let known = references["annotations"].as_array().context("the references have no annotations")?;
    let images: BTreeSet<i64> = known.iter().filter_map(|row| row["image_id"].as_i64()).collect();
    for image in &images {
        std::fs::write(pictures.join(format!("{image}.gif")), PIXEL)?;
    }
    let images: Vec<i64> = images.into_iter().collect();
    let kinds = base.join("kinds.json");
    let groups = serde_json::json!({ "a = b & <i>": &images[..1], "most": &images[..images.len() - 1] });
    std::fs::write(&kinds, groups.to_string())?;
    let page = base.join("pictured.html");
    let mut command = Command::new(program);
    command.args(["compare", "--references"]);
    command.args(["references.json", "weak.json", "good.json"].map(|name| quickstart.join(name)));
    command.args([
        "--metrics",
        "bleu,rouge-l,cider-d",
        "--resamples",
        "200",
        "--embed-pictures",
        "--pictures",
    ]);
    command.arg(pictures).arg("--html").arg(&page).args(["--title", "Good or weak?"]);
    command.arg("--group-by").arg(kinds).args(["--group-by", "words:candidate"]);
    step("pictured page", command.stdout(Stdio::null()))?;
    Ok(page)
}

/// Writes pages without images: of ratings, of pairs, and of the diversity of captions.
fn write_plain_pages(program: &Path, root: &Path, base: &Path) -> Result<[PathBuf; 3]> {
    let quickstart = root.join("examples/quickstart");
    let weak: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(quickstart.join("weak.json"))?)?;
    let good: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(quickstart.join("good.json"))?)?;
    let (weak, good) = (weak.as_array().context("a list")?, good.as_array().context("a list")?);
    let (mut ratings, mut pairs) = (String::new(), String::new());
    for (k, (a, b)) in weak.iter().zip(good).enumerate() {
        let id = &a["image_id"];
        for (system, row, rating) in [("weak", a, 1 + k % 3), ("good", b, 2 + k % 3)] {
            let caption = &row["caption"];
            let rated =
                serde_json::json!({ "image_id": id, "caption": caption, "system": system, "rating": rating });
            ratings += &format!("{rated}\n");
        }
        let category = if k % 2 == 0 { "even" } else { "odd" };
        let captions = [&a["caption"], &b["caption"]];
        let pair = serde_json::json!({ "image_id": id, "captions": captions, "votes": [k % 3, 2], "category": category });
        pairs += &format!("{pair}\n");
    }
    std::fs::write(base.join("ratings.jsonl"), ratings)?;
    std::fs::write(base.join("pairs.jsonl"), pairs)?;
    let references = quickstart.join("references.json");
    let write = |name: &str, command: &str, input: PathBuf, options: &[&str]| -> Result<PathBuf> {
        let page = base.join(name);
        let mut run = Command::new(program);
        run.arg(command).arg(input);
        run.arg("--references").arg(&references).args(options).arg("--html").arg(&page);
        step(name, run.current_dir(root).stdout(Stdio::null()))?;
        Ok(page)
    };
    let intervals = ["--ci", "--resamples", "200"];
    Ok([
        write("rated.html", "correlate", base.join("ratings.jsonl"), &intervals)?,
        write("paired.html", "prefer", base.join("pairs.jsonl"), &intervals)?,
        write("diverse.html", "diversity", references.clone(), &[])?,
    ])
}

/// Writes the page of a saved result of dense captions.
fn write_events_page(program: &Path, base: &Path) -> Result<PathBuf> {
    let (result, page) = (base.join("events.json"), base.join("events.html"));
    std::fs::write(&result, event_page::result())?;
    let mut show = Command::new(program);
    show.arg("show").arg(&result).arg("--html").arg(&page);
    step("page of videos", show.stdout(Stdio::null()))?;
    Ok(page)
}

/// A red GIF of one pixel.
const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\xc0\x30\x30\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

fn step(label: &str, command: &mut Command) -> Result<()> {
    println!("── browser: {label}");
    let start = Instant::now();
    let status = command.status().with_context(|| format!("{label}: {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{label} failed");
    }
    println!("── browser: {label}: {:.0?}", start.elapsed());
    Ok(())
}
