//! A benchmark as a file, a form and a program describe it, and as it is exported. A setting of a phase is a field of
//! [`PhasePlan`], a column, and a field of `templates/organise/phase.html`.
//!
//! All that changes a benchmark ends in `apply.rs`, which has the rules. Plans name files; what is not sent along stays
//! as it is, so an export needs no references in it. In a draft, a phase whose scores depend on something that changes
//! is made again.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use capeval_api::{BoardKind, PerImage, SetState, Visibility};
use capeval_site::store::{Error, Store};
use capeval_site::{args, clock};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;
use toml::value::Datetime;

use super::about::Column;
use super::records::{self, Benchmark, Phase, ReferenceSet};

/// A benchmark as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BenchmarkPlan")]
pub struct Plan {
    /// The part of its addresses: small letters, digits, hyphens.
    pub slug: String,
    pub title: String,
    /// Its subject, in a sentence or two.
    #[serde(default)]
    pub summary: String,
    /// The rules, in Markdown.
    #[serde(default)]
    pub rules: String,
    /// The people who see it.
    #[serde(default = "public")]
    pub visibility: Visibility,
    /// True if only its hosts see it, until it is published.
    #[serde(default)]
    pub draft: bool,
    /// The email addresses of its hosts.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Its phases, in order.
    #[serde(default)]
    pub phases: Vec<PhasePlan>,
}

fn public() -> Visibility {
    Visibility::Public
}

/// A phase as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhasePlan {
    /// The part of its addresses.
    pub slug: String,
    pub title: String,
    /// The beginning of submissions, in UTC unless it says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<When>,
    /// The end of submissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closes: Option<When>,
    /// Submissions of a team on a day.
    #[serde(default = "five")]
    pub per_day: u32,
    /// Submissions of a team in all.
    #[serde(default = "hundred")]
    pub in_total: u32,
    /// The people who see the scores.
    #[serde(default = "public_board")]
    pub board: BoardKind,
    /// The time from which everyone sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reveal: Option<When>,
    /// The decimals of shown scores.
    #[serde(default = "three")]
    pub decimals: u32,
    /// Metrics or suites, as `capeval score` takes them.
    #[serde(default = "coco")]
    pub metrics: Vec<String>,
    /// The reference set that ranks; the first by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_set: Option<String>,
    /// The measure that ranks.
    #[serde(default = "cider")]
    pub main_metric: String,
    /// The keys of the measures that the board shows unless a visitor chooses others; all by default.
    #[serde(default)]
    pub board_columns: Vec<String>,
    /// True if the board has a row for people.
    #[serde(default = "yes")]
    pub human: bool,
    /// The part of the results image by image that teams see of their own submissions. Scores of single images hint at
    /// the references, and explanations show them, so this is for phases whose references may become known, such as
    /// validation.
    #[serde(default = "nothing")]
    pub per_image: PerImage,
    /// The address of the picture of an image, with `{id}` in place of its id, or `{id:012}` for an id of twelve
    /// digits; pages with results image by image show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pictures: Option<String>,
    /// A file with a vector of the picture of each image, as `capeval embed` writes it (.safetensors), for metrics that
    /// compare captions with pictures, such as `clip-s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors: Option<Source>,
    /// The reference sets, in order.
    #[serde(default)]
    pub references: Vec<ReferencePlan>,
    /// The columns that teams fill in about their methods.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Results that are shown beside those of teams.
    #[serde(default)]
    pub baselines: Vec<BaselinePlan>,
}

fn five() -> u32 {
    5
}
fn hundred() -> u32 {
    100
}
fn three() -> u32 {
    3
}
fn coco() -> Vec<String> {
    vec!["coco".to_owned()]
}
fn cider() -> String {
    "cider-d".to_owned()
}
fn yes() -> bool {
    true
}
fn nothing() -> PerImage {
    PerImage::Nothing
}
fn public_board() -> BoardKind {
    BoardKind::Public
}

/// A reference set as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReferencePlan {
    /// The name, such as `c5`.
    pub name: String,
    /// The file, in any format that capeval reads.
    pub file: Source,
    /// The language of the captions.
    #[serde(default = "english")]
    pub language: String,
    /// The tokenizer; by default that of each metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// A file with the ids of the images to keep: a JSON array, or one id per line. All by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Source>,
}

fn english() -> String {
    "en".to_owned()
}

/// A baseline as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselinePlan {
    /// The name of the method.
    pub method: String,
    /// The results.
    pub file: Source,
}

/// A time, in UTC unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When(pub i64);

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&clock::exact(self.0))
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = When;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a date such as 2027-01-10 or 2027-01-10T12:00:00Z")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<When, E> {
                let time = clock::parse(text).map(When);
                time.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            // A date of TOML.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<When, A::Error> {
                let date = Datetime::deserialize(MapAccessDeserializer::new(map))?;
                self.visit_str(&date.to_string())
            }
        }
        deserializer.deserialize_any(Text)
    }
}

impl JsonSchema for When {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "When".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// The content of a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Source {
    /// A file by its name, among those that came with the plan.
    Named(String),
    /// The bytes themselves.
    Bytes { name: String, bytes: Arc<[u8]> },
    /// A file that is stored already.
    Kept { name: String, hash: String },
}

impl From<String> for Source {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.name().to_owned()
    }
}

impl Source {
    /// The name of the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::Bytes { name, .. } | Self::Kept { name, .. } => name,
        }
    }
}

/// Names of exported files: each stands for one content.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    /// The name under which a file is exported: its own, if no other file has it.
    fn of(&mut self, own: &str, otherwise: &str, hash: &str) -> String {
        let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
        let safe = |name: &str| name.replace(|c| !is_safe(c), "-").trim_start_matches(['.', ' ']).to_owned();
        let own = Some(safe(own)).filter(|own| !own.is_empty());
        let name = own.into_iter().chain([safe(otherwise)]).find(|name| self.is_free(name, hash));
        let name = name.unwrap_or_else(|| hash.to_owned());
        self.0.insert(name.clone(), hash.to_owned());
        name
    }

    fn is_free(&self, name: &str, hash: &str) -> bool {
        name != FILE && self.0.get(name).is_none_or(|known| known == hash)
    }

    fn kept(&mut self, own: &str, otherwise: &str, hash: &str) -> Source {
        Source::Kept { name: self.of(own, otherwise, hash), hash: hash.to_owned() }
    }
}

/// The name of the exported plan.
pub const FILE: &str = "benchmark.toml";

impl PhasePlan {
    fn of(
        phase: &Phase,
        vectors: Option<Source>,
        references: Vec<ReferencePlan>,
        baselines: Vec<BaselinePlan>,
    ) -> Self {
        let limit = |limit: i64| u32::try_from(limit).unwrap_or(0);
        Self {
            slug: phase.slug.clone(),
            title: phase.title.clone(),
            opens: phase.opens_at.map(When),
            closes: phase.closes_at.map(When),
            per_day: limit(phase.per_day),
            in_total: limit(phase.in_total),
            board: phase.board,
            reveal: phase.reveal_at.map(When),
            decimals: phase.decimals as u32,
            metrics: phase.metrics.clone(),
            main_set: Some(phase.main_set.clone()).filter(|set| !set.is_empty()),
            main_metric: phase.main_metric.clone(),
            board_columns: phase.board_columns.clone(),
            human: phase.human,
            per_image: phase.per_image,
            pictures: Some(phase.pictures.clone()).filter(|pictures| !pictures.is_empty()),
            vectors,
            references,
            columns: phase.columns.clone(),
            baselines,
        }
    }
}

impl Plan {
    /// A benchmark as it is now; its files keep the names under which they came.
    pub async fn of(store: &Store, benchmark: &Benchmark) -> Result<Self, Error> {
        const IMAGES: &str = "SELECT reference_set.id, images, images_file FROM reference_set JOIN phase \
            ON phase.id = reference_set.phase WHERE phase.benchmark = $1 AND images IS NOT NULL";
        const BASELINES: &str = "SELECT phase, method, blob, file FROM submission WHERE kind = 'baseline' \
            AND phase IN (SELECT id FROM phase WHERE benchmark = $1) ORDER BY submission.id";
        const HOSTS: &str = "SELECT email FROM account JOIN benchmark_host ON account.id = benchmark_host.account \
            WHERE benchmark = $1 ORDER BY email";
        let id = benchmark.id.as_str();
        let images: Vec<(String, String, String)> = store.fetch(IMAGES, args![id]).await?;
        let baselines: Vec<(String, String, Option<String>, String)> =
            store.fetch(BASELINES, args![id]).await?;
        let mut names = Names::default();
        let phases = records::phases_with_sets(store, Some(id)).await?.remove(id).unwrap_or_default();
        let mut plans = Vec::new();
        for (phase, sets) in &phases {
            let references = sets.iter().map(|set| {
                let images = images.iter().find(|(of, ..)| *of == set.id);
                reference(set, &format!("{}-{}", phase.slug, set.name), images, &mut names)
            });
            let references = references.collect();
            let own = baselines.iter().filter(|(of, ..)| *of == phase.id);
            let baselines = own.map(|(_, method, blob, file)| BaselinePlan {
                method: method.clone(),
                file: names.kept(
                    file,
                    &format!("{}-{method}", phase.slug),
                    blob.as_deref().unwrap_or_default(),
                ),
            });
            let baselines = baselines.collect();
            let vectors = phase.vectors_hash.as_ref().map(|hash| {
                names.kept(&phase.vectors_file, &format!("{}-vectors.safetensors", phase.slug), hash)
            });
            plans.push(PhasePlan::of(phase, vectors, references, baselines));
        }
        Ok(Self {
            slug: benchmark.slug.clone(),
            title: benchmark.title.clone(),
            summary: benchmark.summary.clone(),
            rules: benchmark.rules.clone(),
            visibility: benchmark.visibility,
            draft: benchmark.draft,
            hosts: store.fetch(HOSTS, args![id]).await?,
            phases: plans,
        })
    }

    /// The plan as a file.
    pub fn to_toml(&self) -> anyhow::Result<String> {
        let mut table = toml::Table::try_from(self)?;
        for phase in table.get_mut("phases").and_then(Value::as_array_mut).into_iter().flatten() {
            for name in ["opens", "closes", "reveal"] {
                if let Some(date) = phase.get_mut(name)
                    && let Some(read) = date.as_str().and_then(|text| text.parse::<Datetime>().ok())
                {
                    *date = Value::Datetime(read);
                }
            }
        }
        Ok(toml::to_string_pretty(&table)?)
    }

    /// The phase with this slug.
    pub fn phase(&self, slug: &str) -> Option<&PhasePlan> {
        self.phases.iter().find(|phase| phase.slug == slug)
    }
}

fn reference(
    set: &ReferenceSet,
    otherwise: &str,
    images: Option<&(String, String, String)>,
    names: &mut Names,
) -> ReferencePlan {
    let images = images.map(|(_, ids, own)| Source::Bytes {
        name: names.of(own, &format!("{otherwise}-images.json"), ids),
        bytes: ids.clone().into_bytes().into(),
    });
    ReferencePlan {
        name: set.name.clone(),
        file: names.kept(&set.file, otherwise, &set.source_hash),
        language: set.language.clone(),
        tokenizer: set.tokenizer.clone(),
        images,
    }
}

impl ReferencePlan {
    /// Returns true if its references can be scored with, among the sets of its phase as they are now.
    pub fn is_ready(&self, sets: &[ReferenceSet]) -> bool {
        sets.iter().any(|set| set.name == self.name && set.state == SetState::Ready)
    }
}
