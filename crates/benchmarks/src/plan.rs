//! A benchmark as it is exported: a plan that names its files.
//!
//! Every change of a benchmark goes through `apply`, which has the rules. Plans name files; a file that is not sent
//! along stays as it is, so an export needs no references. In a draft, a phase is created again if something changes
//! that its scores depend on.

use std::collections::HashMap;

use capeval_api::Half;
use capeval_site::prelude::*;
use toml::Value;
use toml::value::Datetime;

use super::files;
use super::records::{self, ReferenceSet};
use super::settings::{BaselinePlan, Benchmark, FilePlan, PhasePlan, Plan, ReferencePlan};
use super::source::Source;

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
        let mut files = files::records::of_benchmark(store, id).await?;
        let mut names = Names::default();
        let phases = records::phases_with_sets(store, Some(id)).await?.remove(id).unwrap_or_default();
        let mut plans = Vec::new();
        for (phase, sets) in &phases {
            // Those of a private half are made again of those of the public one.
            let sets = sets.iter().filter(|set| set.half != Some(Half::Private));
            let references = sets.map(|set| {
                let images = images.iter().find(|(of, ..)| *of == set.id);
                reference(set, &format!("{}-{}", phase.slug, set.name), images, &mut names)
            });
            let references = references.collect();
            let of_phase = baselines.iter().filter(|(of, ..)| *of == phase.id);
            let baselines = of_phase.map(|(_, method, blob, file)| BaselinePlan {
                method: method.clone(),
                file: names.kept(
                    file,
                    &format!("{}-{method}", phase.slug),
                    blob.as_deref().unwrap_or_default(),
                ),
            });
            let baselines = baselines.collect();
            let own = [
                (&phase.vectors_hash, &phase.vectors_file, "vectors.safetensors"),
                (&phase.program_hash, &phase.program_file, "program.zip"),
                (&phase.public_ids_hash, &phase.public_ids_file, "public.json"),
            ];
            let own = own.map(|(hash, file, otherwise)| {
                Some(names.kept(file, &format!("{}-{otherwise}", phase.slug), hash.as_ref()?))
            });
            let files = files.remove(&phase.id).unwrap_or_default().into_iter().map(|file| FilePlan {
                title: file.title,
                file: names.kept(&file.name, &format!("{}-{}", phase.slug, file.name), &file.blob),
            });
            let files = Some(files.collect::<Vec<_>>()).filter(|files| !files.is_empty());
            plans.push(PhasePlan { files, ..PhasePlan::of(phase, own, references, baselines) });
        }
        let hosts = store.fetch(HOSTS, args![id]).await?;
        let end = benchmark.logo_kind.trim_start_matches("image/");
        let logo = benchmark.logo_hash.as_ref();
        let logo = logo.map(|hash| names.kept(&format!("logo.{end}"), &format!("own-logo.{end}"), hash));
        Ok(Self { hosts, logo, phases: plans, ..Self::of_row(benchmark) })
    }

    /// The plan as a file.
    pub fn to_toml(&self) -> anyhow::Result<String> {
        let mut table = toml::Table::try_from(self)?;
        for phase in table.get_mut("phases").and_then(Value::as_array_mut).into_iter().flatten() {
            for name in ["opens", "closes", "reveal", "private_at"] {
                if let Some(date) = phase.get_mut(name)
                    && let Some(read) = date.as_str().and_then(|text| text.parse::<Datetime>().ok())
                {
                    *date = Value::Datetime(read);
                }
            }
        }
        Ok(toml::to_string_pretty(&table)?)
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
