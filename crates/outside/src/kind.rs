//! The kinds of metrics that compare vectors or count objects, by name, with all their settings.

use std::sync::Arc;

use capeval::evaluate::registry;
use capeval::metric::{CardNeeds, Family, MetricCard, MetricKind, Part, Resources, Setting, Settings};
use capeval::{MetricOptions, Outside};
use capeval_choice::Argument;
use capeval_files::Error;
use capeval_neural::ModelPurpose;

use crate::cards::shared;
use crate::sources::OpenSources;
use crate::{chair, embeddings};

/// A function that builds a metric, under the name that the user typed, from its settings and the open sources.
type Build = fn(&str, &Settings<'_>, &OpenSources) -> Result<Arc<dyn Outside>, Error>;

/// The entry of a metric whose scores come from models, vectors or lists. Lists read it by its card.
pub(crate) struct OutsideKind {
    /// The name that users type.
    pub name: &'static str,
    /// The property that it rewards, in one line.
    pub summary: &'static str,
    /// The paper that published it.
    pub paper: &'static str,
    /// The program whose scores it reproduces.
    pub program: &'static str,
    /// What it compares.
    pub family: Family,
    /// What it needs, in words: `a model of CLIP, or vectors of pictures and texts`.
    pub needs: &'static str,
    /// What a person gives for it.
    pub given: &'static [Argument],
    /// What a person may give in its place.
    pub instead: &'static [Argument],
    /// The models that it can use.
    pub models: &'static [ModelPurpose],
    /// Its own settings.
    pub settings: &'static [Setting],
    /// About how many seconds 1,000 captions take on one core, with a tower of texts as that of ViT-B/32, a small model
    /// of sentences, roberta-large, and five references.
    pub seconds: f64,
    /// The scores that it computes.
    pub parts: fn() -> Vec<Part>,
    /// Builds it.
    pub build: Build,
}

/// The kinds, in the order of lists.
pub(crate) fn kinds() -> impl Iterator<Item = &'static OutsideKind> {
    embeddings::KINDS.iter().copied().chain([&chair::KIND])
}

/// The kind of a metric with settings, such as `clip-s:variant=paper`; `None` if it is of another world. Case does not
/// matter, and `_` is `-`.
pub(crate) fn kind(spec: &str) -> Option<&'static OutsideKind> {
    let name = spec.split(':').next().unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    kinds().find(|kind| kind.name == name)
}

impl OutsideKind {
    /// The metric of the engine that it multiplies, if it does, whose settings are also its own.
    pub fn base(&self) -> Option<&'static MetricKind> {
        registry::base(self.name)
    }

    /// What lists, help and documentation say of it.
    pub fn card(&self) -> MetricCard {
        let of_base = self.base().into_iter().flat_map(|base| base.settings);
        MetricCard {
            name: self.name,
            summary: self.summary,
            paper: self.paper,
            program: self.program,
            settings: self.settings.iter().chain(of_base).collect(),
            variants: &[],
            parts: (self.parts)(),
            // It has the hash of a model or a list.
            signature: None,
            family: self.family,
            needs: Some(CardNeeds { what: self.needs, job: None, given: self.given, instead: self.instead }),
            seconds: self.seconds,
        }
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

/// Builds those of the metrics that are of these kinds, under the names that the user typed, with settings for all
/// metrics.
///
/// # Errors
/// When a metric lacks something, or a source is given that none uses.
pub(crate) fn build(options: &MetricOptions, sources: &OpenSources) -> Result<Vec<Arc<dyn Outside>>, Error> {
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
        built.push((kind.build)(spec, &settings, sources).map_err(|error| match error {
            Error::Content(refusal) => refusal.at(kind.name).into(),
            other => other,
        })?);
    }
    sources.refuse_unused()?;
    let counts_objects = |spec: &String| kind(spec).is_some_and(|kind| kind.family == Family::Objects);
    if !options.names.iter().any(counts_objects) {
        sources.named.objects.refuse_unused(options)?;
    }
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
    use crate::embeddings::OpenModel;
    use crate::embeddings::space::{Alone, ROWS_AT_ONCE};
    use crate::embeddings::testing::models;

    #[test]
    fn what_was_scored_is_explained_without_a_model() {
        let folder = tempfile::tempdir().unwrap();
        let mut models = models(&["clip-quick", "roberta", "detector"]);
        models.push(sentence_model(folder.path()));
        let given = OpenSources::new(models, Vec::new());
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
        for kind in embeddings::KINDS {
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
        assert_eq!(explained.len(), embeddings::KINDS.len() - 3, "{explained:?}");
    }

    #[test]
    fn every_setting_is_taken_for_all_metrics_as_it_is_behind_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut models = models(&["clip-quick", "roberta", "detector"]);
        models.push(sentence_model(folder.path()));
        let given = OpenSources::default().offering(models);
        let mut n = 0;
        for kind in embeddings::KINDS {
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
        let base = kind("spider-fl").and_then(OutsideKind::base).unwrap();
        let parts = |spec| split(spec, base);
        let pair = |own: &str, base: &str| (own.to_owned(), base.to_owned());
        assert_eq!(parts("spider-fl"), pair("spider-fl", "spider"));
        let spec = "SPIDEr_FL:sigma=4:penalty=0.5:tok=13a:what";
        assert_eq!(parts(spec), pair("SPIDEr_FL:penalty=0.5:what", "spider:sigma=4:tok=13a"));
        let (mut names, all) =
            (Vec::new(), embeddings::KINDS.iter().flat_map(|kind| kind.base().map(|_| kind)));
        for kind in all {
            names.extend(kind.card().settings.iter().map(|setting| setting.name));
        }
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n, "no setting belongs to both");
    }
}
