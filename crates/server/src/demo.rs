//! Fills an empty site with something to click on: accounts, a benchmark with references of its own making, entries.

mod collection;
mod scenes;

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::accounts::people::{self, NewAccount};
use crate::accounts::{Role, Visitor};
use crate::app::App;
use crate::benchmarks::about::About;
use crate::benchmarks::apply;
use crate::benchmarks::records::{self, Phase};
use crate::benchmarks::submit::{self, Received};
use crate::settings::Settings;
use crate::web::Scope;
use crate::{args, audit};

/// The password of all accounts of the demonstration, which listens on this machine only.
const PASSWORD: &str = "demonstration";

/// What the audit log says of a site that was made here.
const MADE: &str = "demo.fill";

/// The number of images.
const IMAGES: usize = 120;

/// The images that have 40 references as well.
const WITH_FORTY: usize = 40;

const RULES: &str = "\
## What to do

Describe each picture in one sentence.

| file | one caption per image, in COCO's format for results |
|---|---|
| limits | see the phase |

The captions were generated from templates: **these pictures do not exist.**
";

/// A scene that captions describe: who, doing what, where, and how they look.
struct Scene {
    who: [&'static str; 3],
    doing: [&'static str; 3],
    place: [&'static str; 3],
    look: [&'static str; 3],
}

const WHO: [[&str; 3]; 8] = [
    ["dog", "puppy", "brown dog"],
    ["man", "person", "gentleman"],
    ["woman", "lady", "young woman"],
    ["cat", "kitten", "tabby cat"],
    ["child", "boy", "kid"],
    ["horse", "pony", "brown horse"],
    ["cyclist", "biker", "person on a bicycle"],
    ["bird", "seagull", "white bird"],
];
const DOING: [[&str; 3]; 7] = [
    ["running", "racing", "sprinting"],
    ["sitting", "resting", "taking a rest"],
    ["standing", "waiting", "standing still"],
    ["jumping", "leaping", "hopping"],
    ["eating", "having a snack", "chewing"],
    ["looking at the camera", "facing the camera", "posing"],
    ["walking slowly", "strolling", "taking a walk"],
];
const PLACE: [[&str; 3]; 9] = [
    ["on the beach", "at the beach", "on the sand"],
    ["in the park", "in a green park", "on the grass"],
    ["near a red bus", "beside a bus", "next to a large bus"],
    ["in the kitchen", "inside a kitchen", "by the stove"],
    ["on a wooden bench", "on a bench", "on an old bench"],
    ["in the snow", "on a snowy hill", "in deep snow"],
    ["under a tree", "below a tall tree", "in the shade of a tree"],
    ["on a busy street", "in the city", "by the side of a road"],
    ["beside a lake", "near the water", "at the edge of a lake"],
];
const LOOK: [[&str; 3]; 6] = [
    ["small", "little", "tiny"],
    ["big", "large", "huge"],
    ["happy", "cheerful", "smiling"],
    ["wet", "soaked", "dripping wet"],
    ["tired", "sleepy", "weary"],
    ["lonely", "single", "solitary"],
];

impl Scene {
    fn of(image: usize) -> Self {
        Self {
            who: WHO[image % WHO.len()],
            doing: DOING[image / 3 % DOING.len()],
            place: PLACE[(image * 5 + 2) % PLACE.len()],
            look: LOOK[(image * 7 + 1) % LOOK.len()],
        }
    }

    /// One of the sentences that a person might write; the number chooses among them.
    fn sentence(&self, k: usize) -> String {
        let pick = |words: &[&'static str; 3], shift: usize| words[(k / shift + k) % 3];
        let (who, doing) = (pick(&self.who, 2), pick(&self.doing, 3));
        let (place, look) = (pick(&self.place, 5), pick(&self.look, 7));
        match k % 6 {
            0 => format!("A {look} {who} {doing} {place}."),
            1 => format!("A {who} is {doing} {place}."),
            2 => format!("There is a {look} {who} {place}."),
            3 => format!("A {who} that looks {look} is {doing} {place}."),
            4 => format!("{} a {who} is {doing}.", capitalized(place)),
            _ => format!("The {look} {who} keeps {doing} {place}."),
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

fn references(images: usize, each: usize) -> Value {
    let list: Vec<Value> = (0..images).map(|image| json!({ "id": image + 1, "file_name": "" })).collect();
    let mut annotations = Vec::new();
    for image in 0..images {
        for k in 0..each {
            let id = annotations.len() + 1;
            let caption = Scene::of(image).sentence(k * 7 + image);
            annotations.push(json!({ "id": id, "image_id": image + 1, "caption": caption }));
        }
    }
    json!({ "images": list, "annotations": annotations })
}

/// The captions of a method: each image's own, or those of a method that is wrong in `wrong` of ten images.
fn results(words: usize, wrong: usize) -> Value {
    let caption = |image: usize| {
        let seen = if (image * 7 + 3) % 10 < wrong { image * 11 + 5 } else { image };
        let sentence = Scene::of(seen).sentence(image * 5 + wrong);
        let text: Vec<&str> = sentence.trim_end_matches('.').split(' ').take(words).collect();
        json!({ "image_id": image + 1, "caption": text.join(" ") })
    };
    (0..IMAGES).map(caption).collect()
}

/// Teams, their methods, and how good these are.
const METHODS: [(&str, &str, usize, usize); 6] = [
    ("Ada", "Show and ask", 20, 1),
    ("Ada", "Show and ask, first try", 9, 4),
    ("Bao", "Two towers", 20, 2),
    ("Chen", "Tiny captioner", 6, 3),
    ("Dina", "Nearest neighbour", 20, 6),
    ("Emil", "Two and a half towers", 19, 2),
];

/// Makes sure that only the people at this machine can use the accounts, whose password is public.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    if !settings.is_local() {
        bail!(
            "the demo has public passwords, so it does not listen on {}: use 127.0.0.1:8080",
            settings.listen
        );
    }
    if !settings.bucket.is_empty() {
        bail!("the demo keeps its files in a folder of its own, not in the bucket of the settings");
    }
    if !settings.database.is_empty() {
        bail!("the demo keeps its data in a folder of its own, not in the database of the settings");
    }
    Ok(())
}

/// Makes accounts and a benchmark in an empty folder, and returns what to tell people. The entries come while the site
/// is served, since their jobs run there.
pub async fn fill(app: &App) -> anyhow::Result<Vec<String>> {
    let mut lines = vec![format!(
        "sign in as admin@example.org, host@example.org or ada@example.org with the password `{PASSWORD}`"
    )];
    if people::count(&app.store).await? > 0 {
        if !app.store.exists("SELECT 1 FROM audit WHERE action = $1", args![MADE]).await? {
            bail!("{} has the data of another site: give the demo a folder of its own", app.folder.display());
        }
        lines.push(format!("using the existing demo data in {}", app.folder.display()));
        return Ok(lines);
    }
    let password = app.hasher.hash(PASSWORD).await?;
    let mut visitors = Vec::new();
    let mut tx = app.store.begin().await?;
    let names = [("Admin", Role::Admin), ("Host", Role::Host)].into_iter();
    let members = ["Ada", "Bao", "Chen", "Dina", "Emil"].map(|name| (name, Role::Member));
    for (name, role) in names.chain(members) {
        let email = format!("{}@example.org", name.to_lowercase());
        let new = NewAccount { email: &email, name, password: password.clone(), role };
        let id = people::add(&mut tx, new).await?;
        let visitor =
            Visitor { id, name: name.to_owned(), email, role, scopes: Scope::ALL.to_vec(), session: None };
        visitors.push(visitor);
    }
    audit::note(&mut tx, None, MADE, "demo", json!({})).await?;
    tx.commit().await?;

    let folder = tempfile::tempdir()?;
    let write = |name: &str, value: &Value| std::fs::write(folder.path().join(name), value.to_string());
    write("c5.json", &references(IMAGES, 5))?;
    write("c40.json", &references(WITH_FORTY, 40))?;
    write("baseline.json", &results(5, 5))?;
    let mut plan = format!(
        "slug = 'demo'\ntitle = 'Demo captions'\nhosts = ['host@example.org']\n\
         summary = 'References generated from templates for {IMAGES} imaginary pictures.'\nrules = '''\n{RULES}'''\n"
    );
    for (slug, title, more) in [
        ("validation", "Validation", "per_day = 10\nin_total = 100\n"),
        ("test", "Test", "per_day = 2\nin_total = 6\nboard = 'hidden'\nreveal = 2099-12-31\n"),
    ] {
        write!(
            plan,
            "[[phases]]\nslug = '{slug}'\ntitle = '{title}'\nmetrics = ['bleu', 'rouge-l', 'cider-d', 'chrf']\n{more}\
             [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n\
             [[phases.references]]\nname = 'c40'\nfile = 'c40.json'\n\
             [[phases.baselines]]\nmethod = 'Five words'\nfile = 'baseline.json'\n"
        )?;
    }
    apply::apply(app, &toml::from_str(&plan)?, folder.path(), None).await?;
    collection::fill(app, &visitors).await?;
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(error) = submit_entries(&app, &visitors).await {
            tracing::error!(%error, "cannot submit the entries of the demo");
        }
    });
    Ok(lines)
}

/// Submits the entries as soon as the phase is ready.
async fn submit_entries(app: &App, visitors: &[Visitor]) -> anyhow::Result<()> {
    let phase = loop {
        let id: String =
            app.store.fetch_one("SELECT id FROM phase WHERE slug = 'validation'", args![]).await?;
        let phase: Phase = records::phase_of(&app.store, &id).await?;
        if phase.is_closed().is_none() {
            break phase;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    for (name, method, words, wrong) in METHODS {
        let visitor =
            visitors.iter().find(|visitor| visitor.name == name).context("an account is missing")?;
        let mut file = app.blobs.draft()?;
        std::io::Write::write_all(&mut file, results(words, wrong).to_string().as_bytes())?;
        let about = About { method: method.to_owned(), ..About::default() };
        submit::submit(app, visitor, &phase, Received { about, file, name: None }, None).await?;
    }
    Ok(())
}
