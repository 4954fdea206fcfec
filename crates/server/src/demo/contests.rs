//! Benchmarks in several states, with entries of invented teams over some weeks.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use capeval_benchmarks::about::About;
use capeval_benchmarks::records;
use capeval_benchmarks::settings::Phase;
use capeval_benchmarks::submit::{self, Outcome, ReceivedUpload};
use capeval_benchmarks::{apply, teams};
use capeval_site::prelude::*;

use super::scenes::Scene;
use super::texts::{self, Tongue};

/// The number of images of a benchmark.
const IMAGES: usize = 120;

/// The images that have 40 references as well.
const WITH_FORTY: usize = 40;

/// The teams by who made them: the name, the authors of the methods, and their tags.
const TEAMS: [(&str, &str, &str, &str); 5] = [
    ("Ada", "Harbour Vision", "A. Lindqvist, M. Osei, R. Tanaka", "transformer, reranking"),
    ("Bao", "Kite and Anchor", "B. Nguyen, S. Moreau", "two towers, retrieval"),
    ("Chen", "北山智能", "陈北、林山", "small, distilled"),
    ("Dina", "Small Models Club", "D. Haddad", "small, retrieval"),
    ("Emil", "Lantern", "E. Kovács, J. Brandt", "transformer, zero-shot"),
];

/// The columns that teams fill in.
const COLUMNS: &str = "columns = [{ key = 'parameters', label = 'Parameters', kind = 'number', unit = 'M' }, \
                       { key = 'data', label = 'External data', kind = 'yes-no' }]\n";

/// The pictures that are shown as examples.
const EXAMPLES: [usize; 3] = [0, 6, 13];

const EVERYDAY: &str = "\
Describe each picture in one sentence, as you would for someone who cannot see it.

## What to submit

One caption per image, in COCO's format for results, JSON Lines or CSV. Pictures without a caption are refused.

| phase | what it is for | limit |
|---|---|---|
| Validation | trying things out; scores at once | 10 a day |
| Test | the result; scores when the phase has ended | 2 a day, 6 in total |

## What counts

CIDEr-D with five references ranks. Use any data but the pictures of this benchmark, and say in the description what you used.

These pictures and captions are **invented for the demonstration**: no one has taken them.
";

const CHINESE: &str = "\
用一句中文描述每张图片。每个团队每天可提交 5 次。

按 CIDEr-D 排名，分词使用 `zh`。图片和描述均为演示虚构。
";

const WINTER: &str = "\
Describe pictures of winter in one sentence. The challenge has ended; its board stays as it is.
";

/// A page of each benchmark.
const PRIZES: &str = "[[pages]]\nslug = 'prizes'\ntitle = 'Prizes'\ntitle_zh = '奖项'\n\
    text = 'The first three teams are invited to a workshop, which does **not** exist.'\n\
    text_zh = '前三名团队受邀参加研讨会，该研讨会**并不**存在。'\n";

/// The dates of a phase of the demonstration, in days from now.
struct Dates {
    opens: i64,
    closes: Option<i64>,
}

/// A phase: benchmark, its own name, language, dates, and its entries.
struct Contest {
    benchmark: &'static str,
    phase: &'static str,
    tongue: Tongue,
    dates: Dates,
    entries: &'static [Entry],
}

/// The team, the method, the days since then, and its quality.
type Entry = (&'static str, &'static str, i64, (usize, usize, usize));

const CONTESTS: [Contest; 4] = [
    Contest {
        benchmark: "everyday",
        phase: "validation",
        tongue: Tongue::English,
        dates: Dates { opens: -48, closes: Some(42) },
        entries: &[
            ("Dina", "Nearest neighbour", 45, (58, 20, 4)),
            ("Bao", "Two towers", 41, (44, 20, 1)),
            ("Ada", "PatchCap-B", 38, (36, 9, 2)),
            ("Chen", "Tiny captioner 40M", 33, (40, 7, 3)),
            ("Emil", "Lantern zero-shot", 29, (30, 20, 0)),
            ("Ada", "PatchCap-L", 24, (24, 12, 2)),
            ("Bao", "Two towers + beam search", 19, (26, 20, 1)),
            ("Chen", "Tiny captioner 40M, distilled", 15, (28, 11, 3)),
            ("Emil", "Lantern fine-tuned", 10, (14, 20, 0)),
            ("Ada", "PatchCap-L, reranked", 6, (11, 20, 2)),
            ("Bao", "Three towers", 3, (15, 20, 1)),
        ],
    },
    Contest {
        benchmark: "everyday",
        phase: "test",
        tongue: Tongue::English,
        dates: Dates { opens: -12, closes: Some(49) },
        entries: &[
            ("Ada", "PatchCap-L, reranked", 5, (13, 20, 2)),
            ("Emil", "Lantern fine-tuned", 4, (15, 20, 0)),
            ("Bao", "Three towers", 2, (17, 20, 1)),
        ],
    },
    Contest {
        benchmark: "huashuo",
        phase: "validation",
        tongue: Tongue::Chinese,
        dates: Dates { opens: -30, closes: Some(70) },
        entries: &[
            ("Chen", "小模型 40M", 26, (40, 10, 3)),
            ("Ada", "PatchCap-L 中文版", 20, (30, 30, 2)),
            ("Chen", "小模型 40M（蒸馏）", 12, (22, 14, 3)),
            ("Emil", "Lantern 多语言", 8, (18, 30, 0)),
            ("Chen", "北山 1B", 4, (10, 30, 1)),
        ],
    },
    Contest {
        benchmark: "winter-2025",
        phase: "final",
        tongue: Tongue::English,
        dates: Dates { opens: -330, closes: Some(-270) },
        entries: &[
            ("Dina", "Templates", 325, (50, 8, 4)),
            ("Bao", "One tower", 310, (42, 14, 1)),
            ("Emil", "Lantern mini", 296, (34, 20, 0)),
            ("Dina", "Templates + detector", 284, (30, 16, 4)),
            ("Bao", "Two towers, early version", 272, (29, 20, 1)),
        ],
    },
];

/// Makes the benchmarks. The entries come while the site is served, since their jobs run there.
pub async fn fill(app: &App, visitors: &[Visitor]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let write =
        |name: &str, value: &serde_json::Value| std::fs::write(folder.path().join(name), value.to_string());
    let (english, chinese) = (Tongue::English, Tongue::Chinese);
    write("en-5.json", &texts::references(english, IMAGES, 5))?;
    write("en-40.json", &texts::references(english, WITH_FORTY, 40))?;
    write("en-few.json", &texts::results(english, IMAGES, (62, 6, 1)))?;
    write("zh-5.json", &texts::references(chinese, IMAGES, 5))?;
    write("zh-few.json", &texts::results(chinese, IMAGES, (60, 9, 1)))?;
    for number in EXAMPLES {
        Scene::of(number).draw().save(folder.path().join(format!("example-{number}.png")))?;
    }
    let both = "[[phases.references]]\nname = 'c5'\nfile = 'en-5.json'\n\
                [[phases.references]]\nname = 'c40'\nfile = 'en-40.json'\n\
                [[phases.baselines]]\nmethod = 'Six words'\nfile = 'en-few.json'\n";
    let one = "[[phases.references]]\nname = 'c5'\nfile = 'en-5.json'\n\
               [[phases.baselines]]\nmethod = 'Six words'\nfile = 'en-few.json'\n";
    let zh = "[[phases.references]]\nname = 'c5'\nfile = 'zh-5.json'\nlanguage = 'zh'\ntokenizer = 'zh'\n\
              [[phases.baselines]]\nmethod = '九个字'\nfile = 'zh-few.json'\n";
    let test = "per_day = 2\nin_total = 6\nboard = 'hidden'\nreveal = 2099-12-31\n";
    let plans = [
        (
            "winter-2025",
            "Winter Scenes 2025",
            "A challenge of last winter: snow, ice and long nights.",
            WINTER,
            vec![("final", "Final", "per_day = 3\nin_total = 30\n", one)],
        ),
        (
            "huashuo",
            "画说日常",
            "用一句中文描述日常生活的图片。Everyday pictures, described in Chinese.",
            CHINESE,
            vec![("validation", "验证集", "per_day = 5\nin_total = 100\nper_image = 'scores'\n", zh)],
        ),
        (
            "everyday",
            "Everyday Scenes",
            "People, animals and what they are up to, in one English sentence.",
            EVERYDAY,
            vec![
                ("validation", "Validation", "per_day = 10\nin_total = 100\nper_image = 'explained'\n", both),
                ("test", "Test", test, both),
            ],
        ),
    ];
    for (slug, title, summary, rules, phases) in plans {
        let mut plan = format!(
            "slug = '{slug}'\ntitle = '{title}'\nsummary = '{summary}'\nhosts = ['host@example.org']\n\
             rules = '''\n{rules}'''\ncontact = 'host@example.org'\naccent = '#14795a'\n{PRIZES}"
        );
        for (slug, title, more, sets) in phases {
            write!(
                plan,
                "[[phases]]\nslug = '{slug}'\ntitle = '{title}'\nmetrics = ['bleu', 'rouge-l', 'cider-d', 'chrf']\n\
                 {more}{COLUMNS}{sets}"
            )?;
            for number in EXAMPLES.into_iter().filter(|_| slug == "validation") {
                let caption = Scene::of(number).sentence(if sets == zh { "zh" } else { "en" }, 0);
                write!(plan, "[[phases.files]]\ntitle = '{caption}'\nfile = 'example-{number}.png'\n")?;
            }
        }
        apply::apply(app, &toml::from_str(&plan)?, folder.path(), None).await?;
    }
    for (maker, name, ..) in TEAMS {
        teams::create(app, person(visitors, maker)?, name).await?;
    }
    let (app, visitors) = (app.clone(), visitors.to_vec());
    tokio::spawn(async move {
        for contest in CONTESTS {
            if let Err(error) = submit_entries(&app, &visitors, &contest).await {
                tracing::error!(%error, "cannot submit the entries of the demo");
            }
        }
    });
    Ok(())
}

fn person<'v>(visitors: &'v [Visitor], name: &str) -> anyhow::Result<&'v Visitor> {
    visitors.iter().find(|visitor| visitor.name == name).context("an account of the demo is missing")
}

/// What a team says about a method of this quality.
fn about(name: &str, method: &str, quality: (usize, usize, usize)) -> anyhow::Result<About> {
    let known = TEAMS.iter().find(|(maker, ..)| *maker == name);
    let (.., authors, tags) = known.context("a team of the demo is missing")?;
    let (errors, words, _) = quality;
    let page = format!("https://example.org/{}/{errors}", name.to_lowercase());
    let given = [
        ("method", method.to_owned()),
        ("description", format!("An invented method that gets about {errors} of 100 parts wrong.")),
        ("authors", (*authors).to_owned()),
        ("link", format!("{page}.pdf")),
        ("code", page),
        ("tags", (*tags).to_owned()),
        ("column.parameters", (40 + (60 - errors.min(60)) * 12).to_string()),
        ("column.data", if words < 12 { "no" } else { "yes" }.to_owned()),
    ];
    Ok(About::of(given.map(|(name, text)| (name.to_owned(), text))))
}

/// Submits the entries as soon as the phase is ready, and puts them where they belong in time.
async fn submit_entries(app: &App, visitors: &[Visitor], contest: &Contest) -> anyhow::Result<()> {
    let sql = "SELECT phase.id FROM phase JOIN benchmark ON benchmark.id = phase.benchmark \
               WHERE benchmark.slug = $1 AND phase.slug = $2";
    let id: String = app.store.fetch_one(sql, args![contest.benchmark, contest.phase]).await?;
    let phase: Phase = loop {
        let phase = records::phase_of(&app.store, &id).await?;
        if phase.refusal().is_none() {
            break phase;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let now = clock::now();
    for (name, method, days, quality) in contest.entries {
        let mut file = app.blobs.draft()?;
        let results = texts::results(contest.tongue, IMAGES, *quality);
        std::io::Write::write_all(&mut file, results.to_string().as_bytes())?;
        let about = about(name, method, *quality)?;
        let received = ReceivedUpload { about, file, name: Some("results.json".to_owned()) };
        match submit::submit(app, person(visitors, name)?, &phase, received, None).await? {
            Outcome::Queued(submission) => {
                // Not at the same minute of the day.
                let at = now - days * clock::DAY - days % 7 * 3_541_000;
                let sql = "UPDATE submission SET created_at = $2 WHERE id = $1";
                app.store.execute(sql, args![&submission, at]).await?;
            }
            _ => bail!("{method} cannot be scored"),
        }
    }
    let Dates { opens, closes } = contest.dates;
    let day = |days: i64| clock::next_day(now) + days * clock::DAY;
    // Scores that are hidden appear a week after the end.
    let sql = "UPDATE phase SET opens_at = $2, closes_at = $3, \
               reveal_at = CASE WHEN reveal_at IS NULL THEN NULL ELSE $4 END WHERE id = $1";
    let reveal = closes.map(|days| day(days + 7));
    app.store.execute(sql, args![&id, day(opens), closes.map(day), reveal]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use capeval_site::web::markdown::as_html;

    #[test]
    fn no_rule_shows_the_stars_of_bold_text() {
        for rules in [EVERYDAY, CHINESE, WINTER] {
            assert!(!as_html(rules).contains("**"), "{rules}");
        }
    }
}
