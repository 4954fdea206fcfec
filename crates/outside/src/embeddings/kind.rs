//! The metrics that compare vectors, by name, with all their settings.

use std::sync::Arc;

use capeval::evaluate::registry;
use capeval::metric::{MetricKind, Part, Resources, Setting, Settings};
use capeval::{MetricOptions, Outside};
use capeval_choice::Refusal;

use crate::cards::shared;
use crate::embeddings::given::Given;
use crate::embeddings::metrics::{bert_score, clip_score, fluency, retrieval, self_similarity, sentence};

/// A function that builds a metric, under the name that the user typed, from its settings and what was given.
type Build = fn(&str, &Settings<'_>, &Given) -> Result<Arc<dyn Outside>, Refusal>;

/// The entry of a metric that compares vectors. Command line, documentation and Python read these.
pub struct EmbeddingKind {
    /// The name that users type.
    pub name: &'static str,
    /// The property that it rewards, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose scores it reproduces.
    pub program: &'static str,
    /// Its needs, in words: `a model of CLIP, or vectors of pictures and texts`.
    pub needs: &'static str,
    /// Its own settings.
    pub settings: &'static [Setting],
    /// About how many seconds 1,000 captions take on one core, with a tower of texts as that of ViT-B/32, a small model
    /// of sentences, roberta-large, and five references.
    pub seconds: f64,
    /// The scores that it computes.
    pub parts: fn() -> Vec<Part>,
    /// Builds it.
    pub(crate) build: Build,
}

/// The metrics, in the order of lists.
pub const KINDS: &[&EmbeddingKind] = &[
    &clip_score::CLIP_S,
    &clip_score::REF_CLIP_S,
    &clip_score::PAC_S,
    &clip_score::REF_PAC_S,
    &bert_score::KIND,
    &sentence::KIND,
    &fluency::FENSE,
    &fluency::FER,
    &fluency::SPIDER_FL,
    &retrieval::RECALL,
    &retrieval::MEDIAN_RANK,
    &self_similarity::KIND,
];

/// The kind of a metric with settings, such as `clip-s:variant=paper`; `None` if it compares no vectors. Case does not
/// matter, and `_` is `-`.
pub fn kind(spec: &str) -> Option<&'static EmbeddingKind> {
    let name = spec.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    KINDS.iter().copied().find(|kind| kind.name == name)
}

impl EmbeddingKind {
    /// The metric of the engine that it multiplies, if it does, whose settings are also its own.
    pub fn base(&self) -> Option<&'static MetricKind> {
        registry::base(self.name)
    }

    /// Its settings, and those of the metric that it multiplies.
    pub fn all_settings(&self) -> impl Iterator<Item = &'static Setting> {
        self.settings.iter().chain(self.base().into_iter().flat_map(|base| base.settings))
    }
}

/// The fields of `spec` with its own settings, and those with settings of `base`, each behind its name.
pub(crate) fn split(spec: &str, base: &MetricKind) -> (String, String) {
    let is_of_base = |field: &&str| {
        let name = field.split('=').next();
        base.settings.iter().any(|setting| Some(setting.name) == name)
    };
    let mut fields = spec.split(':');
    let name = fields.next().unwrap_or_default();
    let (of_base, own): (Vec<&str>, Vec<&str>) = fields.partition(is_of_base);
    ([&[name][..], &own].concat().join(":"), [&[base.name][..], &of_base].concat().join(":"))
}

/// The metrics that the engine computes for these: itself those that compare no vectors, and what others multiply.
pub fn engine_names(names: &[String]) -> Vec<String> {
    let of_engine = |spec: &String| match kind(spec) {
        None => Some(spec.clone()),
        Some(kind) => kind.base().map(|base| split(spec, base).1),
    };
    names.iter().filter_map(of_engine).collect()
}

/// Builds those of the metrics that compare vectors, under the names that the user typed, with settings for all
/// metrics.
pub fn build(options: &MetricOptions, given: &Given) -> Result<Vec<Arc<dyn Outside>>, Refusal> {
    let mut built: Vec<Arc<dyn Outside>> = Vec::new();
    let (resources, common) = (Resources::default(), options.common());
    for spec in &options.names {
        let Some(kind) = kind(spec) else { continue };
        if built.iter().any(|known| known.name() == spec) {
            continue;
        }
        let own = kind.base().map_or_else(|| spec.clone(), |base| split(spec, base).0);
        let common = shared(&common, kind.settings.iter());
        let settings = Settings::read(kind.name, kind.settings, &own, &common, &resources)?;
        built.push((kind.build)(spec, &settings, given).map_err(|refusal| refusal.at(kind.name))?);
    }
    given.refuse_unused()?;
    Ok(built)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use capeval::choice::SegmentId;
    use capeval::{OutsideRow, Picture};

    use capeval::metric::setting::Values;

    use super::*;
    use crate::embeddings::models::OpenModel;
    use crate::embeddings::space::{Alone, ROWS_AT_ONCE};
    use crate::embeddings::testing::models;

    #[test]
    fn what_was_scored_is_explained_without_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let mut models = models(&["clip-quick", "roberta", "detector"]);
        models.push(sentence_model(folder.path()));
        let given = Given::new(models, Vec::new());
        let file = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pictures").join(name);
            Picture::File { path: path.display().to_string(), state: String::new() }
        };
        let (pictures, references) = (["420.jpg", "rgb.png"].map(file), ["a man rides a horse", "two dogs"]);
        let ids = [1, 2].map(SegmentId::Integer);
        let rows: Vec<OutsideRow<'_>> = (0..2 * ROWS_AT_ONCE)
            .map(|row| OutsideRow {
                system: None,
                image: Some(&ids[row % 2]),
                candidate: if row % 3 == 0 { "a horse" } else { "a brown dog" },
                rival: None,
                references: references[row % 2..].to_vec(),
                picture: Some(&pictures[row % 2]),
            })
            .collect();
        let (mut explained, resources) = (Vec::new(), Resources::default());
        for kind in KINDS {
            let setting = match kind.name {
                // The tiny model is not known by name, so that its layer is not.
                "bert-score" => ":layer=1",
                // Models of sentences suit as well.
                "self-sim" => ":model=clip-quick",
                _ => "",
            };
            let spec = format!("{}{setting}", kind.name);
            let settings = Settings::read(kind.name, kind.settings, &spec, &[], &resources).unwrap();
            let metric = (kind.build)(&spec, &settings, &given).unwrap();
            let before = given.n_read();
            metric.score(&rows, &Alone).unwrap();
            let after = given.n_read();
            assert!(after > before, "{}", kind.name);
            // Whole texts and pictures have vectors, which are made once; tokens and errors are read block by block.
            let has_vectors = !["bert-score", "fense", "fer", "spider-fl"].contains(&kind.name);
            assert!(!has_vectors || after <= before + 6, "{} has read {} times", kind.name, after - before);
            if rows.iter().all(|row| metric.explain(row).is_some()) {
                explained.push(kind.name);
            }
            assert_eq!(given.n_read(), after, "{}", kind.name);
        }
        assert_eq!(explained.len(), KINDS.len() - 3, "{explained:?}");
    }

    #[test]
    fn every_setting_is_taken_for_all_metrics_as_it_is_behind_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut models = models(&["clip-quick", "roberta", "detector"]);
        models.push(sentence_model(folder.path()));
        let given = Given::offering(models, Vec::new());
        let mut n = 0;
        for kind in KINDS {
            let spec = match kind.name {
                "bert-score" => "bert-score:layer=1",
                "self-sim" => "self-sim:model=clip-quick",
                name => name,
            };
            for setting in kind.settings {
                let value = match &setting.values {
                    Values::Choice(names) => names.iter().find(|name| **name != setting.default).unwrap(),
                    Values::YesNo if setting.default == "yes" => "no",
                    Values::YesNo => "yes",
                    Values::Number(_) => "0.5",
                    // Of these, models are needed, or files.
                    Values::Count(_) | Values::Text(_) | Values::Tokenizer | Values::Stemmer => continue,
                };
                n += 1;
                let common = MetricOptions {
                    settings: [(setting.name.to_owned(), value.to_owned())].into(),
                    ..MetricOptions::new([spec])
                };
                let behind = MetricOptions::new([format!("{spec}:{}={value}", setting.name)]);
                let signature = |options: &MetricOptions| build(options, &given).unwrap()[0].signature();
                assert_eq!(signature(&common), signature(&behind), "{} {}", kind.name, setting.name);
                assert_ne!(signature(&common), signature(&MetricOptions::new([spec])), "{}", setting.name);
                let selected = |options: &MetricOptions| {
                    let outside = capeval::OutsideMetrics(build(options, &given).unwrap());
                    let settings = Some(Arc::new(crate::outside_settings()));
                    let resources = Resources::default().with(Some(Arc::new(outside))).with(settings);
                    capeval::select_metrics(options, &resources).map(|selection| selection.metrics.len())
                };
                // What multiplies a metric of the engine needs its data.
                if kind.base().is_none() {
                    assert_eq!(selected(&common).unwrap(), 1, "{} {}", kind.name, setting.name);
                }
                let refused =
                    selected(&MetricOptions { names: vec!["chrf".to_owned()], ..common }).unwrap_err();
                assert!(refused.to_string().starts_with("no chosen metric has the setting"), "{refused}");
            }
        }
        assert!(n > 10, "{n}");
    }

    /// A tiny model of sentences, in this folder.
    fn sentence_model(folder: &Path) -> OpenModel {
        let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural/bert");
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            fs::copy(tiny.join(name), folder.join(name)).unwrap();
        }
        fs::create_dir(folder.join("1_Pooling")).unwrap();
        fs::write(folder.join("1_Pooling/config.json"), r#"{"pooling_mode": "mean"}"#).unwrap();
        let modules =
            r#"[{"type": "x.Transformer", "path": ""}, {"type": "x.Pooling", "path": "1_Pooling"}]"#;
        fs::write(folder.join("modules.json"), modules).unwrap();
        OpenModel::open_at(folder.to_owned()).unwrap()
    }

    #[test]
    fn settings_go_to_the_metric_that_has_them() {
        let base = kind("spider-fl").and_then(EmbeddingKind::base).unwrap();
        let parts = |spec| split(spec, base);
        let pair = |own: &str, base: &str| (own.to_owned(), base.to_owned());
        assert_eq!(parts("spider-fl"), pair("spider-fl", "spider"));
        let spec = "SPIDEr_FL:sigma=4:penalty=0.5:tok=13a:what";
        assert_eq!(parts(spec), pair("SPIDEr_FL:penalty=0.5:what", "spider:sigma=4:tok=13a"));
        let (mut names, all) = (Vec::new(), KINDS.iter().flat_map(|kind| kind.base().map(|_| kind)));
        for kind in all {
            names.extend(kind.all_settings().map(|setting| setting.name));
        }
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n, "no setting belongs to both");
        let names = ["bleu", "clip-s", "spider-fl:tok=13a:penalty=1"].map(str::to_owned);
        assert_eq!(engine_names(&names), ["bleu", "spider:tok=13a"]);
    }
}
