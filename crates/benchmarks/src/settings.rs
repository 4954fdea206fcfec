//! The settings of benchmarks and phases, as a file, a form or a client sends them, and as they are stored. A field is
//! listed here, in a migration, and in `templates/organise`.

use capeval_api::{Admission, BoardKind, FinalRule, PerImage, Visibility};
use capeval_site::prelude::*;
use capeval_site::store::Columns;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::about::Column;
use super::appearance::OwnPage;
use super::source::Source;
use super::when::When;
use super::workers::GivenMeasure;

/// A benchmark as it is stored.
#[derive(Clone, Debug, Deserialize)]
pub struct Benchmark {
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    pub title: String,
    /// Its subject, in a sentence or two.
    pub summary: String,
    /// The rules, in Markdown.
    pub rules: String,
    /// How to cite it, in BibTeX; empty for what its title and address make.
    pub citation: String,
    /// The people who see it.
    pub visibility: Visibility,
    /// True if only its hosts see it.
    pub draft: bool,
    /// The terms that people accept before they submit, in Markdown; empty if there are none.
    pub terms: String,
    /// Their version.
    pub terms_version: u32,
    /// The people who may submit.
    pub admission: Admission,
    /// The addresses and domains that may; empty for all.
    #[serde(deserialize_with = "store::json")]
    pub allow: Vec<String>,
    /// Those that may not.
    #[serde(deserialize_with = "store::json")]
    pub block: Vec<String>,
    /// The most members of a team; 0 for as many as the site allows.
    pub team_size: u32,
    /// Whom to ask: an email address or a page; empty if it is not told.
    pub contact: String,
    /// The colour of a line below headings; empty for none.
    pub accent: String,
    /// The hash of its logo.
    pub logo_hash: Option<String>,
    /// The media type of its logo.
    pub logo_kind: String,
    /// The pages that its hosts wrote.
    #[serde(deserialize_with = "store::json")]
    pub pages: Vec<OwnPage>,
}

/// A phase as it is stored.
#[derive(Clone, Debug, Deserialize)]
pub struct Phase {
    pub id: String,
    /// The id of the benchmark.
    pub benchmark: String,
    /// Its part of addresses.
    pub slug: String,
    pub title: String,
    /// The beginning of submissions.
    pub opens_at: Option<i64>,
    /// The end of submissions.
    pub closes_at: Option<i64>,
    /// Since when a host has stopped them.
    pub frozen_at: Option<i64>,
    /// Submissions of a team on a day.
    pub per_day: i64,
    /// Submissions of a team in all.
    pub in_total: i64,
    /// The people who see the scores.
    pub board: BoardKind,
    /// The time from which everyone sees them.
    pub reveal_at: Option<i64>,
    /// The decimals of shown scores.
    #[serde(deserialize_with = "decimals")]
    pub decimals: usize,
    /// The metrics or suites.
    #[serde(deserialize_with = "store::json")]
    pub metrics: Vec<String>,
    /// Numbers made of their measures.
    #[serde(deserialize_with = "store::json")]
    pub derive: Vec<String>,
    /// The measures that machines of its hosts give.
    #[serde(deserialize_with = "store::json")]
    pub given: Vec<GivenMeasure>,
    /// The column of the references that groups images; empty if there are no groups.
    pub group_by: String,
    /// The reference set that ranks.
    pub main_set: String,
    /// The measure that ranks.
    pub main_metric: String,
    /// The rule that ranks teams over several measures; empty if the measure that ranks does.
    pub rank_by: String,
    /// The keys of the measures that the board shows unless a visitor chooses others; empty for all.
    #[serde(deserialize_with = "store::json")]
    pub board_columns: Vec<String>,
    /// True if the board has a row for people.
    pub human: bool,
    /// The part of the results image by image that teams see of their own submissions.
    pub per_image: PerImage,
    /// The address of the picture of an image, with `{id}`; empty if there are no pictures.
    pub pictures: String,
    /// The hash of a file with vectors of the pictures.
    pub vectors_hash: Option<String>,
    /// The name that it had.
    pub vectors_file: String,
    /// The hash of an archive with a program that is one more metric.
    pub program_hash: Option<String>,
    /// The name that it had.
    pub program_file: String,
    /// The share of images in the public half, which a seed draws.
    pub public_share: Option<f64>,
    pub public_seed: String,
    /// The hash of a file with the ids of the images in the public half.
    pub public_ids_hash: Option<String>,
    /// The name that it had.
    pub public_ids_file: String,
    /// The time from which the private half is shown; its end by default.
    pub private_at: Option<i64>,
    /// The submission that stands for a team on the private half.
    pub final_rule: FinalRule,
    /// The most submissions that a team may choose.
    pub most_chosen: i64,
    /// The columns that hosts define for methods.
    #[serde(deserialize_with = "store::json")]
    pub columns: Vec<Column>,
    /// The part of addresses of the earlier phase by whose ranks it opens; empty if all teams may submit.
    pub from_phase: String,
    /// The number of its first teams that may submit; 0 for all.
    pub top: i64,
    /// True if it takes over what stands for them there.
    pub carry: bool,
    /// When it was decided which teams may.
    pub ranked_at: Option<i64>,
    /// The scores that the board shows; `None` until all references are ready.
    pub score_set: Option<String>,
    /// The number of changes of the rows of its boards.
    pub settled: i64,
}

impl Benchmark {
    /// The address of the page that is called `page` below that of the benchmark.
    pub fn address(&self, page: &str) -> String {
        format!("/b/{}/{page}", encode(&self.slug))
    }

    /// Returns true if it asks something of those who submit.
    pub fn asks_anything(&self) -> bool {
        !self.terms.is_empty() || self.admission == Admission::Approval
    }

    /// Returns true if not everyone may submit to it or download its files.
    pub fn is_restricted(&self) -> bool {
        self.asks_anything() || !self.allow.is_empty() || !self.block.is_empty()
    }
}

impl Phase {
    /// What ranks: the rule over several measures, or the one that does.
    pub fn ranked_by(&self) -> &str {
        if self.rank_by.is_empty() { &self.main_metric } else { &self.rank_by }
    }
}

/// The most decimals of a score.
pub const MOST_DECIMALS: usize = 12;

/// A column with a number of decimals.
fn decimals<'de, D: Deserializer<'de>>(column: D) -> Result<usize, D::Error> {
    Ok(usize::deserialize(column)?.min(MOST_DECIMALS))
}

/// A benchmark as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BenchmarkPlan", extend("required" = ["slug", "title"]))]
pub struct Plan {
    /// The part of its addresses: small letters, digits, hyphens.
    pub slug: String,
    pub title: String,
    /// Its subject, in a sentence or two.
    pub summary: String,
    /// The rules, in Markdown.
    pub rules: String,
    /// How to cite it, in BibTeX; by default what its title and address make.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub citation: String,
    /// The people who see it.
    pub visibility: Visibility,
    /// True if only its hosts see it, until it is published.
    pub draft: bool,
    /// The terms that people accept before they submit, in Markdown.
    pub terms: String,
    /// Their version: those who accepted a lower one are asked again.
    pub terms_version: u32,
    /// The people who may submit.
    pub admission: Admission,
    /// The email addresses, and domains such as `@uni.edu`, that may submit; all by default.
    pub allow: Vec<String>,
    /// Those that may not.
    pub block: Vec<String>,
    /// The most members of a team; as many as the site allows by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team_size: Option<u32>,
    /// Whom to ask: an email address, or a page that begins with `https://`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub contact: String,
    /// The colour of a line below headings, such as `#2c63c7`, which is seen on light and on dark pages.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub accent: String,
    /// A file with its logo (JPEG, PNG, WebP); the one that is there stays if this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<Source>,
    /// The email addresses of its hosts.
    pub hosts: Vec<String>,
    /// Pages such as prizes or sponsors, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pages: Vec<OwnPage>,
    /// Its phases, in order.
    pub phases: Vec<PhasePlan>,
}

/// A phase as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("required" = ["slug", "title"]))]
pub struct PhasePlan {
    /// The part of its addresses.
    pub slug: String,
    pub title: String,
    /// The beginning of submissions, in UTC unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens: Option<When>,
    /// The end of submissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes: Option<When>,
    /// Submissions of a team on a day.
    pub per_day: u32,
    /// Submissions of a team in all.
    pub in_total: u32,
    /// The people who see the scores.
    pub board: BoardKind,
    /// The time from which everyone sees them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reveal: Option<When>,
    /// The decimals of shown scores.
    pub decimals: u32,
    /// Metrics or suites, as `capeval score` takes them.
    pub metrics: Vec<String>,
    /// Numbers made of their measures, as `capeval score --derive` takes them, such as
    /// `aic = mean(100*bleu-4, 100*meteor)`. They are measures like the others.
    pub derive: Vec<String>,
    /// Measures that machines of the hosts give through the API, beside those of the metrics. Submissions wait for
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<GivenMeasure>,
    /// A column or key of the references that groups images, such as `domain`: the board shows the scores of each
    /// group, too, computed as if its images were evaluated alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The reference set that ranks; the first by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main_set: Option<String>,
    /// The measure that ranks. It chooses the submission that stands for a team, too.
    pub main_metric: String,
    /// The rule that ranks teams over several measures, as `capeval score --rank-by` takes it, such as
    /// `points(cider-d, meteor, bleu-4), cider-d`; by default the measure that ranks does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_by: Option<String>,
    /// The keys of the measures that the board shows unless a visitor chooses others; all by default.
    pub board_columns: Vec<String>,
    /// True if the board has a row for people.
    pub human: bool,
    /// The part of the results image by image that teams see of their own submissions. Scores of single images hint at
    /// the references, and explanations show them, so this is for phases whose references may become known, such as
    /// validation.
    pub per_image: PerImage,
    /// The address of the picture of an image, with `{id}` in place of its id, or `{id:012}` for an id of twelve
    /// digits; pages with results image by image show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pictures: Option<String>,
    /// A file with a vector of the picture of each image, as `capeval embed` writes it (.safetensors), for metrics that
    /// compare captions with pictures, such as `clip-s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vectors: Option<Source>,
    /// A metric of the hosts' own that is a program: a ZIP archive with its files and the TOML file that describes it,
    /// as `capeval score -m ./metric.toml` takes it. The server runs it in a sandbox without a network, if the
    /// operator allows that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Source>,
    /// The share of the images in the public half, such as 0.3: until the private half is shown, people see scores of
    /// the public half only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<f64>,
    /// The seed that draws the public half; the server draws one by default. Only hosts see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_seed: Option<String>,
    /// Instead of a share, a file with the ids of the images in the public half: a JSON array, or one id per line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_ids: Option<Source>,
    /// The time from which the private half is shown; by default the end of submissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub private_at: Option<When>,
    /// The submission that stands for a team on the private half.
    #[serde(rename = "final")]
    pub final_rule: FinalRule,
    /// The most submissions that a team may choose, where `final` is `chosen`.
    pub chosen: u32,
    /// An earlier phase of the benchmark: only teams on its leaderboard may submit, as it is ranked when this one
    /// opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The number of its first teams that may submit, and teams as good as the last of them; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<u32>,
    /// True if the submissions that stand for them there are taken over and scored, without counting.
    #[serde(skip_serializing_if = "is_false")]
    pub carry: bool,
    /// The reference sets, in order.
    pub references: Vec<ReferencePlan>,
    /// The columns that teams fill in about their methods.
    pub columns: Vec<Column>,
    /// Results that are shown beside those of teams.
    pub baselines: Vec<BaselinePlan>,
    /// The files for those who take part, such as a starting kit; those that are there stay if this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FilePlan>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
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

/// A file for those who take part, as it is described.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilePlan {
    /// What it is, such as `Starting kit`.
    pub title: String,
    pub file: Source,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            slug: String::new(),
            title: String::new(),
            summary: String::new(),
            rules: String::new(),
            citation: String::new(),
            visibility: Visibility::Public,
            draft: false,
            terms: String::new(),
            terms_version: 1,
            admission: Admission::Open,
            allow: Vec::new(),
            block: Vec::new(),
            team_size: None,
            contact: String::new(),
            accent: String::new(),
            logo: None,
            hosts: Vec::new(),
            pages: Vec::new(),
            phases: Vec::new(),
        }
    }
}

impl Plan {
    /// A draft without phases.
    pub fn draft(host: String) -> Self {
        Self { draft: true, hosts: vec![host], ..Self::default() }
    }

    /// A benchmark as it is now, apart from its hosts and phases.
    pub fn of_row(benchmark: &Benchmark) -> Self {
        Self {
            slug: benchmark.slug.clone(),
            title: benchmark.title.clone(),
            summary: benchmark.summary.clone(),
            rules: benchmark.rules.clone(),
            citation: benchmark.citation.clone(),
            visibility: benchmark.visibility,
            draft: benchmark.draft,
            terms: benchmark.terms.clone(),
            terms_version: benchmark.terms_version,
            admission: benchmark.admission,
            allow: benchmark.allow.clone(),
            block: benchmark.block.clone(),
            team_size: Some(benchmark.team_size).filter(|size| *size > 0),
            contact: benchmark.contact.clone(),
            accent: benchmark.accent.clone(),
            logo: None,
            hosts: Vec::new(),
            pages: benchmark.pages.clone(),
            phases: Vec::new(),
        }
    }

    /// The columns that store what may change.
    pub fn columns(&self) -> Result<Columns, Error> {
        Ok(columns! {
            title: &self.title,
            summary: &self.summary,
            rules: &self.rules,
            citation: &self.citation,
            visibility: self.visibility.name(),
            draft: self.draft,
            terms: &self.terms,
            terms_version: self.terms_version,
            admission: self.admission.name(),
            allow: store::list(&self.allow)?,
            block: store::list(&self.block)?,
            team_size: self.team_size.unwrap_or(0),
        })
    }

    /// The phase with this slug.
    pub fn phase(&self, slug: &str) -> Option<&PhasePlan> {
        self.phases.iter().find(|phase| phase.slug == slug)
    }
}

impl Default for PhasePlan {
    fn default() -> Self {
        Self {
            slug: String::new(),
            title: String::new(),
            opens: None,
            closes: None,
            per_day: 5,
            in_total: 100,
            board: BoardKind::Public,
            reveal: None,
            decimals: 3,
            metrics: vec!["coco".to_owned()],
            derive: Vec::new(),
            given: Vec::new(),
            group_by: None,
            main_set: None,
            main_metric: "cider-d".to_owned(),
            rank_by: None,
            board_columns: Vec::new(),
            human: true,
            per_image: PerImage::Nothing,
            pictures: None,
            vectors: None,
            program: None,
            public: None,
            public_seed: None,
            public_ids: None,
            private_at: None,
            final_rule: FinalRule::Best,
            chosen: 2,
            from: None,
            top: None,
            carry: false,
            references: Vec::new(),
            columns: Vec::new(),
            baselines: Vec::new(),
            files: None,
        }
    }
}

impl PhasePlan {
    /// A phase with the defaults.
    pub fn new(slug: &str, title: &str) -> Self {
        Self { slug: slug.to_owned(), title: title.to_owned(), ..Self::default() }
    }

    /// A phase as it is now, apart from its files.
    pub fn of(
        phase: &Phase,
        [vectors, program, public_ids]: [Option<Source>; 3],
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
            derive: phase.derive.clone(),
            given: phase.given.clone(),
            group_by: Some(phase.group_by.clone()).filter(|column| !column.is_empty()),
            main_set: Some(phase.main_set.clone()).filter(|set| !set.is_empty()),
            main_metric: phase.main_metric.clone(),
            rank_by: Some(phase.rank_by.clone()).filter(|rule| !rule.is_empty()),
            board_columns: phase.board_columns.clone(),
            human: phase.human,
            per_image: phase.per_image,
            pictures: Some(phase.pictures.clone()).filter(|pictures| !pictures.is_empty()),
            vectors,
            program,
            public: phase.public_share,
            public_seed: Some(phase.public_seed.clone()).filter(|seed| !seed.is_empty()),
            public_ids,
            private_at: phase.private_at.map(When),
            final_rule: phase.final_rule,
            chosen: limit(phase.most_chosen),
            from: Some(phase.from_phase.clone()).filter(|from| !from.is_empty()),
            top: Some(limit(phase.top)).filter(|top| *top > 0),
            carry: phase.carry,
            references,
            columns: phase.columns.clone(),
            baselines,
            files: None,
        }
    }

    /// The reference set that ranks.
    pub fn main_set(&self) -> Option<&String> {
        self.main_set.as_ref().or(self.references.first().map(|set| &set.name))
    }

    /// The column that groups images; empty if there is none.
    pub fn group_by(&self) -> &str {
        self.group_by.as_deref().map_or("", str::trim)
    }

    /// The rule that ranks; empty if there is none.
    pub fn rank_by(&self) -> &str {
        self.rank_by.as_deref().map_or("", str::trim)
    }

    /// The phase by whose ranks it opens; empty if there is none.
    pub fn from(&self) -> &str {
        self.from.as_deref().map_or("", str::trim)
    }

    /// The address of pictures; empty if there are none.
    pub fn pictures(&self) -> &str {
        self.pictures.as_deref().map_or("", str::trim)
    }

    /// The columns that store what may change, apart from files.
    pub fn columns(&self) -> Result<Columns, Error> {
        Ok(columns! {
            title: &self.title,
            opens_at: self.opens.map(|When(time)| time),
            closes_at: self.closes.map(|When(time)| time),
            per_day: self.per_day,
            in_total: self.in_total,
            board: self.board.name(),
            reveal_at: self.reveal.map(|When(time)| time),
            decimals: self.decimals,
            main_set: self.main_set().cloned().unwrap_or_default(),
            main_metric: &self.main_metric,
            rank_by: self.rank_by(),
            board_columns: store::list(&self.board_columns)?,
            columns: store::list(&self.columns)?,
            per_image: self.per_image.name(),
            pictures: self.pictures(),
            private_at: self.private_at.map(|When(time)| time),
            final_rule: self.final_rule.name(),
            most_chosen: self.chosen,
            from_phase: self.from(),
            top: self.top.unwrap_or(0),
            carry: self.carry,
        })
    }
}
