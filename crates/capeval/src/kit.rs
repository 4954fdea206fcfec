//! Kits: how a field evaluates captions, as a file with options that exist anyway.
//!
//! A kit changes only what its options say. Front ends set them where a person does not, so a kit is a preset and no
//! way of its own to evaluate; what a person sets otherwise wins, and the signature then does not name the kit.

use capeval_choice::{Code, Refusal, suggest};
use capeval_corpus::{Empty, Ids, Missing, Surplus};
use capeval_lexical::cider::IdfSource;
use capeval_metric::AnyMetric;
use capeval_report::{GroupFrequencies, Notice};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Cleaning, NonCaption, PairingCheck, ScoreOptions, Several};

macro_rules! kits {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../kits/", $name, ".toml")))),*]
    };
}

/// The kits that come with capeval, by name: their files.
pub const KITS: &[(&str, &str)] = kits![
    "nocaps",
    "vizwiz",
    "textcaps",
    "xm3600",
    "xm3600-words",
    "xm3600-characters",
    "vlmevalkit",
    "lmms-eval",
    "levir-cc",
    "clevr-change",
    "spot-the-diff",
    "r2gen",
    "rsicd",
    "imageclef",
    "imageclef-concepts",
    "aicity",
    "mart",
    "noc",
    "vist",
];

/// How a field evaluates captions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kit {
    /// Small letters, digits and hyphens, as signatures show it.
    pub name: String,
    /// A line that says what it is for.
    pub summary: String,
    /// What every reader of its scores must know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// What else to know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The published program whose numbers it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<KitProgram>,
    /// The options that it sets.
    #[serde(default)]
    pub options: KitOptions,
}

/// The published program whose numbers a kit gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KitProgram {
    /// The address of its repository.
    pub repository: String,
    /// A commit, or the number of a release.
    pub version: String,
    /// The file that has the rule.
    pub file: String,
    /// The captions on which the numbers were compared.
    pub compared: String,
}

/// The options that a kit can set, under the names of flags and keywords; those that are left out stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct KitOptions {
    /// Metrics with their settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
    /// The tokenizer of all metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// The source of CIDEr's document frequencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idf: Option<IdfSource>,
    /// The splits of the references to use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<String>,
    /// The references to leave out, by a key that is true or by its value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ref_drop: Vec<String>,
    /// The candidates to leave out, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
    /// The properties that group images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_by: Vec<String>,
    /// The images that metrics learn from for the scores of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_df: Option<GroupFrequencies>,
    /// Numbers made of measures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub derive: Vec<String>,
    /// Images without a candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Candidates for images without references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surplus: Option<Surplus>,
    /// Several candidates for one image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub several: Option<Several>,
    /// Candidates without any words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    /// The look at how well captions fit their own references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing: Option<PairingCheck>,
    /// The kinds of texts that are no captions and are scored all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<NonCaption>,
    /// The kinds of text to remove before scoring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clean: Vec<Cleaning>,
    /// The rule for comparing ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Ids>,
    /// True to print scores times 100.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub percent: bool,
    /// The digits after the decimal point of printed scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digits: Option<u8>,
}

/// The line of an error in a TOML file, as `line 7: `; empty if it has none.
pub fn toml_place(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    line.map_or(String::new(), |line| format!("line {line}: "))
}

impl Kit {
    /// The kit of this name that comes with capeval.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        let Some((_, text)) = KITS.iter().find(|(known, _)| *known == name) else {
            return Err(Refusal::new(format!("no kit is called '{name}'"))
                .with_remedy(suggest(name, KITS.iter().map(|(known, _)| *known))));
        };
        Self::read(text)
    }

    /// Reads the text of a kit.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        const LARGEST: usize = 1_000_000;
        if text.len() > LARGEST {
            let megabytes = text.len().div_ceil(100_000) as f64 / 10.0;
            return Err(Refusal::new(format!("it has {megabytes:.1} MB, and a kit has at most 1 MB"))
                .with_remedy("give the file of a kit, as docs/guides/kits.md shows"));
        }
        let kit: Self =
            toml::from_str(text).map_err(|error| refusal_of(&toml_place(text, &error), error.message()))?;
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if kit.name.is_empty() || !kit.name.chars().all(is_part) {
            return Err(Refusal::new(format!("a kit cannot be called {:?}", kit.name))
                .with_remedy("use lower-case letters, digits and hyphens, since signatures show the name"));
        }
        Ok(kit)
    }

    /// The kit as a JSON object.
    pub fn to_json(&self) -> String {
        Value::Object(object(self)).to_string()
    }

    /// The options that it sets, by name.
    pub fn settings(&self) -> Map<String, Value> {
        object(&self.options)
    }

    /// The options that are set otherwise, so that the numbers are not those of the field.
    fn departures(&self, options: &ScoreOptions, metrics: &[AnyMetric]) -> Vec<String> {
        let own = &self.options;
        let chosen = &options.metrics;
        let are_listed = chosen.suite.is_none() && chosen.names.iter().all(|name| own.metrics.contains(name));
        let mut settings = chosen.settings.clone();
        let idf = settings.remove("idf").or(chosen.idf.map(|idf| idf.to_string()));
        let has_table = metrics
            .iter()
            .any(|metric| metric.signature().get("idf").is_some_and(|idf| idf.starts_with("table")));
        let of_metrics = [
            ("metrics", are_listed || own.metrics.is_empty()),
            ("tokenizer", chosen.tokenizer == own.tokenizer),
            (
                "idf",
                idf == own.idf.map(|idf| idf.to_string())
                    && (!has_table || own.idf == Some(IdfSource::Table)),
            ),
            ("settings", settings.is_empty()),
            ("derive", options.derive.iter().all(|one| own.derive.contains(one))),
        ];
        // Options of scoring have these names with underscores.
        let now = object(options);
        let is_other = |(key, value): &(String, Value)| {
            !matches!(&**key, "metrics" | "derive")
                && now.get(&key.replace('-', "_")).is_some_and(|now| now != value)
        };
        let others = self.settings().into_iter().filter(is_other);
        let changed = of_metrics.into_iter().filter(|(_, is_kept)| !is_kept).map(|(name, _)| name.to_owned());
        changed.chain(others.map(|(name, _)| name)).collect()
    }

    /// The entry of signatures that names the kit, and what to say about its numbers.
    pub(crate) fn sign(
        &self,
        options: &ScoreOptions,
        metrics: &[AnyMetric],
    ) -> (Option<(&'static str, String)>, Vec<Notice>) {
        let warning = self.warning.clone().map(|warning| Notice::new(Code::Kit, warning));
        let changed = self.departures(options, metrics);
        if changed.is_empty() {
            return (Some(("kit", self.name.clone())), warning.into_iter().collect());
        }
        let message = format!(
            "the kit {} has other values for {}, so these are not its numbers, and the signatures do not name it",
            self.name,
            changed.join(", "),
        );
        let notice =
            Notice::new(Code::KitChanged, message).remedy("leave these options out to get its numbers");
        (None, warning.into_iter().chain([notice]).collect())
    }
}

/// Options by name, as JSON writes them.
fn object(options: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(options) {
        Ok(Value::Object(options)) => options,
        _ => Map::new(),
    }
}

/// The refusal of a text with this error; a key that does not exist gets the most similar one that does.
fn refusal_of(place: &str, message: &str) -> Refusal {
    let refusal = Refusal::new(format!("{place}{message}"));
    // serde names the key and those that exist between backticks.
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(given) if message.starts_with("unknown field") => {
            Refusal::new(format!("{place}a kit has no key '{given}'")).with_remedy(suggest(given, names))
        }
        _ => refusal.with_remedy("write it as docs/guides/kits.md shows"),
    }
}

#[cfg(test)]
mod tests {
    use capeval_choice::Derivation;

    use super::*;

    #[test]
    fn every_file_is_listed_under_its_name() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kits");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
        files.sort();
        let mut listed: Vec<String> = KITS.iter().map(|(name, _)| format!("{name}.toml")).collect();
        listed.sort();
        assert_eq!(files, listed);
        for (name, text) in KITS {
            let kit = Kit::read(text).unwrap();
            assert_eq!(kit.name, *name);
            assert!(!kit.settings().is_empty() && kit.program.is_some(), "{name}");
        }
    }

    #[test]
    fn a_misspelt_key_is_refused_with_the_nearest() {
        let refusal = |text: &str| {
            let refusal = Kit::read(text).unwrap_err();
            format!("{refusal}; {}", refusal.remedy().map(ToString::to_string).unwrap_or_default())
        };
        let head = "name = \"mine\"\nsummary = \"x\"\n";
        let misspelt = refusal(&format!("{head}[options]\nmising = \"skip\"\n"));
        assert!(
            misspelt.starts_with("line 4: a kit has no key 'mising'; did you mean missing? "),
            "{misspelt}"
        );
        let top = refusal(&format!("{head}note = \"x\"\n"));
        assert!(top.starts_with("line 3: a kit has no key 'note'; did you mean notes? "), "{top}");
        let value = refusal(&format!("{head}[options]\nmissing = \"skipp\"\n"));
        assert!(value.contains("line 4: ") && value.contains("did you mean skip?"), "{value}");
        assert!(refusal("summary = \"x\"").contains("missing field `name`"));
        assert!(
            refusal("name = \"My kit|x\"\nsummary = \"x\"").contains("a kit cannot be called \"My kit|x\"")
        );
        assert!(
            Kit::named("viswiz").unwrap_err().remedy().unwrap().to_string().contains("did you mean vizwiz?")
        );
    }

    /// CCExpert-7b on LEVIR-CC, as the README of Meize0729/CCExpert prints it at 0b9dca2a. Its other row has 80.99, and
    /// columns whose mean is 80.97.
    #[test]
    fn s_star_of_a_published_table_comes_out() {
        let printed = [("bleu-4", 65.49), ("meteor", 41.82), ("rouge-l", 76.55), ("cider-d", 143.32)];
        let kit = Kit::named("levir-cc").unwrap();
        let sm = Derivation::parse(&kit.options.derive[0], &printed.map(|(key, _)| key), &[]).unwrap();
        let of = |_: Option<&str>, key: &str| printed.iter().find(|(known, _)| *known == key).unwrap().1;
        assert_eq!(
            (sm.name.as_str(), format!("{:.1}", sm.formula.value(&of))),
            ("sm-star", "81.8".to_owned())
        );
        assert!((sm.formula.value(&of) - 81.80).abs() < 0.0051, "{}", sm.formula.value(&of));
    }

    #[test]
    fn an_option_that_is_set_otherwise_takes_the_name_away() {
        let kit = Kit::named("vizwiz").unwrap();
        let names = kit.options.metrics.clone();
        let options = ScoreOptions {
            metrics: crate::MetricOptions::new(names),
            missing: Missing::Skip,
            surplus: Surplus::Ignore,
            ref_drop: kit.options.ref_drop.clone(),
            ..ScoreOptions::default()
        };
        let changed = |options: &ScoreOptions| kit.departures(options, &[]).join(" ");
        assert_eq!(changed(&options), "");
        let one = ScoreOptions { metrics: crate::MetricOptions::new(["cider-d"]), ..options.clone() };
        assert_eq!(changed(&one), "", "fewer metrics have the same digits");
        let other = ScoreOptions { missing: Missing::Empty, ids: Ids::Text, ..options.clone() };
        assert_eq!(changed(&other), "missing", "the kit says nothing of ids");
        let mut metrics = crate::MetricOptions::new(["cider-d", "bleu:n=2"]);
        metrics.tokenizer = Some("13a".to_owned());
        metrics.settings.insert("idf".to_owned(), "uniform".to_owned());
        assert_eq!(changed(&ScoreOptions { metrics, ..options }), "metrics tokenizer idf");
    }
}
