//! The systems and references of a task, matched image by image.

use std::collections::HashSet;

use capeval_corpus::{Alignment, Captions, Ids, Missing, Opposite, Pair, Policy, agree, align_by};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, System};
use capeval_metric::AnyMetric;
use capeval_report::Notice;
use rayon::prelude::*;

use crate::aligned::{AlignedReferences, ReferenceIndex};
use crate::common::Common;
use crate::findings::Findings;
use crate::given::Plan;
use crate::outside::{self, OutsideMetrics, Scene};
use crate::references::ReferenceSource;
use crate::restrict::Subset;
use crate::signing::Signing;
use crate::{Error, ScoreOptions, notices, shapes};

/// The images on which a system is scored if missing captions are skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The images that it describes.
    Each,
    /// The images that all systems describe.
    Common,
}

/// The inputs of metrics: the captions of systems with references.
pub(crate) struct Inputs {
    pub systems: Systems,
    pub references: AlignedReferences,
    /// Given scores as metrics.
    pub given: Vec<AnyMetric>,
}

/// The captions of systems, and the image of each.
#[derive(Default)]
pub(crate) struct Systems {
    /// The name of each system, and its captions.
    pub captions: Vec<(String, Captions)>,
    pub aligned: Vec<Alignment>,
    /// The number of listed images, if there is a list.
    pub subset: Option<usize>,
    /// The images that all systems describe, if others were left out.
    pub common: Option<Common>,
    /// Other entries of the signatures.
    pub extras: Vec<(&'static str, String)>,
    /// The hashes of the given scores of each system, by measure.
    pub given: Vec<Vec<(String, String)>>,
}

impl Inputs {
    /// Matches the captions of systems, and their given scores, with references, as the policies of `options` allow.
    pub fn align(
        references: Option<ReferenceSource>,
        mut captions: Vec<(String, Captions)>,
        plan: &Plan,
        options: &ScoreOptions,
        metrics: &[AnyMetric],
        scope: Scope,
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let has_references = references.is_some();
        let mut references = references.unwrap_or_else(|| images_of(&captions, options.ids).into());
        let opposite = match &mut references {
            ReferenceSource::Captions(captions) => Opposite::Captions(captions),
            ReferenceSource::Prepared { prepared, source } => Opposite::Ids(&prepared.ids, source),
        };
        found.add(agree(opposite, &mut captions, options.ids)?);
        if let ReferenceSource::Captions(references) = &references
            && has_references
        {
            found.add(references.notices().iter().cloned());
            found.add(notices::empty_references(references));
        }
        found.add_once(of_readers(&captions));
        let subset = match &options.images {
            None => None,
            Some(list) => {
                let subset = Subset::new(list, &references, "reference", options.ids)?;
                for (_, captions) in &mut captions {
                    *captions = subset.of_candidates(captions, &references)?;
                }
                found.add([notices::left_out(subset.notice(), metrics)]);
                Some(subset)
            }
        };
        let index = ReferenceIndex::new(references, subset.as_ref(), options.ids)?;
        let (policy, is_empty) = (options.policy(), notices::is_empty(metrics));
        let mut aligned: Vec<Alignment> = captions
            .par_iter()
            .map(|(_, captions)| align_by(index.images(), captions, &policy, &is_empty))
            .collect::<Result<_, _>>()?;
        if let Some(references) = index.grouped().filter(|_| has_references) {
            found.add(shapes::words_as_references(references));
            found.add(captions.iter().zip(&aligned).flat_map(|((name, captions), aligned)| {
                let copy = notices::copy_of_references(references, name, captions, aligned);
                let swapped = shapes::swapped(references, name, captions, aligned);
                copy.into_iter().chain(swapped).chain(shapes::mispaired(references, name, captions, aligned))
            }));
        }
        found.add(notices::twins(&captions));
        let values = plan.align(index.images(), &mut aligned, subset.as_ref(), &policy)?;
        let common = scope.cut(&mut aligned, index.images().len(), policy, found)?;
        let references = index.gather(&aligned, metrics)?;
        let references = if has_references { references } else { references.without_texts() };
        let subset = subset.as_ref().map(Subset::len);
        let systems = Systems { captions, aligned, subset, common, extras: Vec::new(), given: plan.hashes() };
        let given = plan.metrics(values, &references.place);
        Ok(Self { systems, references, given })
    }

    /// Matches given scores of systems, of which there are no captions, with `images`, a list without words.
    pub fn of_scores(
        images: ReferenceSource,
        plan: &Plan,
        options: &ScoreOptions,
        scope: Scope,
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let subset = options.images.as_ref();
        let subset = subset.map(|list| Subset::new(list, &images, "score", options.ids)).transpose()?;
        found.add(subset.as_ref().map(Subset::notice));
        let index = ReferenceIndex::new(images, subset.as_ref(), options.ids)?;
        let n_images = index.images().len();
        let pairs: Vec<Pair> = (0..n_images as u32).map(|image| Pair { image, candidate: None }).collect();
        let captions: Vec<(String, Captions)> =
            plan.systems().map(|(name, files)| (name.to_owned(), Captions::new(files))).collect();
        let mut aligned = vec![Alignment { pairs, notices: Vec::new() }; captions.len()];
        let values = plan.align(index.images(), &mut aligned, subset.as_ref(), &options.policy())?;
        let common = scope.cut(&mut aligned, n_images, options.policy(), found)?;
        let references = index.gather(&aligned, &[])?.without_texts();
        let subset = subset.as_ref().map(Subset::len);
        let systems = Systems { captions, aligned, subset, common, extras: Vec::new(), given: plan.hashes() };
        let given = plan.metrics(values, &references.place);
        Ok(Self { systems, references, given })
    }
}

impl Inputs {
    /// The metrics with the scores of those that are computed outside of the engine.
    pub fn compute(
        &self,
        metrics: &[AnyMetric],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<AnyMetric>, Error> {
        let set = &self.references.set;
        let systems = if resources.has::<OutsideMetrics>() {
            self.systems.for_engine(&self.references)
        } else {
            Vec::new()
        };
        let scene = || Scene {
            systems: &systems,
            ids: (0..set.n_images()).map(|image| self.references.id(image as u32)).collect(),
            references: (0..set.n_images()).map(|image| set.of(image).collect()).collect(),
        };
        outside::compute_one(metrics, resources, scene, progress)
    }
}

impl Scope {
    /// Restricts alignments to common images, if they are meant and some systems lack images.
    fn cut(
        self,
        aligned: &mut [Alignment],
        n_images: usize,
        policy: Policy,
        found: &mut Findings,
    ) -> Result<Option<Common>, Error> {
        let common = match self == Self::Common && policy.missing == Missing::Skip {
            true => Common::cut(aligned, n_images)?,
            false => None,
        };
        found.add(common.as_ref().map(Common::notice));
        Ok(common)
    }
}

impl Systems {
    /// The systems as the engine takes them.
    pub fn for_engine(&self, references: &AlignedReferences) -> Vec<System> {
        let system = |((name, captions), aligned): (&(String, Captions), &Alignment)| {
            let place = |image: u32| references.place.get(image as usize).copied();
            let text = |row: u32| captions.text(row as usize);
            System {
                name: name.clone(),
                images: aligned.pairs.iter().filter_map(|pair| place(pair.image)).collect(),
                texts: aligned.pairs.iter().map(|pair| pair.candidate.map_or("", text)).collect(),
            }
        };
        self.captions.par_iter().zip(&self.aligned).map(system).collect()
    }

    /// The source of the captions of system number `k`.
    pub fn source(&self, k: usize) -> &str {
        self.captions.get(k).map_or("", |(_, captions)| captions.source())
    }

    /// The entries of the signatures of system number `k`.
    pub fn signing(&self, k: usize) -> Signing<'_> {
        let notices = self.aligned.get(k).map_or(&[][..], |aligned| &aligned.notices);
        let given = self.given.get(k).map_or(&[][..], Vec::as_slice);
        Signing {
            notices,
            subset: self.subset,
            common: self.common.as_ref(),
            extras: &self.extras,
            given,
            several: None,
        }
    }
}

/// The images that systems describe, in the place of references: a list without words.
fn images_of(systems: &[(String, Captions)], ids: Ids) -> Captions {
    let mut images = Captions::new("the candidates");
    let mut seen = HashSet::new();
    for id in systems.iter().flat_map(|(_, captions)| captions.ids()) {
        if seen.insert(ids.form(id).into_owned()) {
            images.push(id.clone(), "");
        }
    }
    images
}

/// The notices of the readers of captions.
pub(crate) fn of_readers(systems: &[(String, Captions)]) -> impl Iterator<Item = Notice> {
    systems.iter().flat_map(|(name, captions)| {
        captions.notices().iter().map(move |notice| notice.clone().system(name.as_str()))
    })
}

/// Checks that there are systems, and that each has its own name.
pub(crate) fn check_names<C>(systems: &[(String, C)]) -> Result<(), Error> {
    if systems.is_empty() {
        return Err(Error::request("there is no system to score"));
    }
    for (k, (name, _)) in systems.iter().enumerate() {
        if systems.iter().take(k).any(|(other, _)| other == name) {
            return Err(Error::with_remedy(
                format!("two systems are called '{name}'"),
                "give each its own name",
            ));
        }
    }
    Ok(())
}
