//! The systems and references of a task, matched image by image.

use std::collections::HashSet;

use capeval_corpus::{
    Alignment, Captions, ExtraLines, Fit, GroupedCaptions, Ids, Missing, Opposite, Pair, Policy, agree,
    align_by, titles,
};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, System};
use capeval_metric::AnyMetric;
use capeval_report::{Notice, PairedBy, Pairing, SourceReading};
use capeval_text::{Looks, Texts};
use rayon::prelude::*;

use crate::aligned::{AlignedReferences, ReferenceIndex};
use crate::common::Common;
use crate::findings::Findings;
use crate::given::Plan;
use crate::not_captions::{Caption, CaptionCheck, Cleaning, NonCaption};
use crate::outside::{self, CaptionBatch, OutsideMetrics};
use crate::reference_hash::reference_hash;
use crate::references::{PreparedCleaning, ReferenceSource, all_texts};
use crate::restrict::Subset;
use crate::signing::Signing;
use crate::{Error, PairingCheck, ScoreOptions, not_captions, notices, shapes};

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
    /// How the sources were read, the references first.
    pub readings: Vec<SourceReading>,
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
        let named = captions.iter().map(|(name, captions)| (name.as_str(), captions));
        let mut readings = readings(references.captions().filter(|_| has_references), named);
        if let ReferenceSource::Captions(references) = &references
            && has_references
        {
            found.add(references.notices().iter().cloned());
            found.add(notices::empty_references(references));
        }
        found.add_once(of_readers(&captions));
        let cleaned = clean(&mut references, &mut captions, &options.clean)?;
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
            .map(|(_, captions)| align_lines(&index, captions, &policy, &is_empty, has_references))
            .collect::<Result<_, _>>()?;
        if let Some(references) = index.grouped().filter(|_| has_references) {
            found.add(shapes::words_as_references(references));
            found.add(captions.iter().zip(&aligned).flat_map(|((name, captions), aligned)| {
                let copy = notices::copy_of_references(references, name, captions, aligned);
                let swapped = shapes::swapped(references, name, captions, aligned);
                copy.into_iter().chain(swapped)
            }));
            if options.pairing == PairingCheck::Check {
                found.add(look_at_pairs(references, &captions, &aligned, &mut readings));
            }
        }
        found.add(notices::twins(&captions));
        for (aligned, cleaned) in aligned.iter_mut().zip(cleaned) {
            aligned.notices.extend(cleaned);
        }
        let values = plan.align(index.images(), &mut aligned, subset.as_ref(), &policy)?;
        let common = scope.cut(&mut aligned, index.images().len(), policy, found)?;
        let references = index.gather(&aligned, metrics)?;
        let references = if has_references { references } else { references.without_texts() };
        let subset = subset.as_ref().map(Subset::len);
        let systems = Systems { captions, aligned, subset, common, extras: Vec::new(), given: plan.hashes() };
        let given = plan.metrics(values, &references.place);
        Ok(Self { systems, references, given, readings })
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
        Ok(Self { systems, references, given, readings: Vec::new() })
    }
}

impl Inputs {
    /// Names in the signatures what was left out when captions were read, and the kit of `options`, unless an option
    /// is set otherwise; notices about the kit.
    pub fn name_options(&mut self, options: &ScoreOptions, metrics: &[AnyMetric]) -> Vec<Notice> {
        let dropped = [("ref-drop", &options.ref_drop), ("drop", &options.drop)];
        for (name, what) in dropped {
            let what: Vec<&str> = what.iter().map(String::as_str).filter(|what| *what != "none").collect();
            if !what.is_empty() {
                self.systems.extras.push((name, what.join("+")));
            }
        }
        let Some(kit) = &options.kit else { return Vec::new() };
        let (entry, notices) = kit.sign(options, metrics);
        self.systems.extras.extend(entry);
        notices
    }

    /// Notices about captions and references that are none; an error if scores would mean nothing.
    pub fn check(&self, accept: &[NonCaption], metrics: &[AnyMetric]) -> Result<Vec<Notice>, Error> {
        let references = &self.references;
        let place = |image: u32| references.place.get(image as usize).copied();
        let scored = self.systems.aligned.iter().flat_map(|aligned| &aligned.pairs).map(|pair| pair.image);
        let scored: Vec<u32> = distinct(scored).into_iter().filter_map(place).collect();
        let n = scored.iter().map(|image| references.set.of(*image as usize).len()).sum();
        let check = CaptionCheck::new(accept, n, |step| references.every(step, &scored), metrics);
        let mut systems: Vec<(&str, Vec<Caption<'_>>)> = Vec::new();
        for ((name, captions), aligned) in self.systems.captions.iter().zip(&self.systems.aligned) {
            let caption = |pair: &Pair| {
                let text = pair.candidate.map_or("", |row| captions.text(row as usize));
                Some((references.id(place(pair.image)?)?, text))
            };
            systems.push((name, aligned.pairs.iter().filter_map(caption).collect()));
        }
        check.check(&systems)
    }

    /// The hash of the references of each system's images; none if there are no references.
    pub fn reference_hashes(&self) -> Vec<String> {
        let references = &self.references;
        if references.n_references == 0 {
            return Vec::new();
        }
        let hash = |aligned: &Alignment| {
            let of = |pair: &Pair| {
                let image = *references.place.get(pair.image as usize)?;
                Some((references.id(image)?, references.set.of(image as usize)))
            };
            reference_hash(aligned.pairs.par_iter().filter_map(of))
        };
        let mut hashes: Vec<String> = Vec::new();
        let mut known: Option<&Alignment> = None;
        for aligned in &self.systems.aligned {
            let is_same = |known: &Alignment| {
                known.len() == aligned.len()
                    && known.pairs.iter().zip(&aligned.pairs).all(|(a, b)| a.image == b.image)
            };
            let before = if known.is_some_and(is_same) { hashes.last().cloned() } else { None };
            hashes.push(before.unwrap_or_else(|| hash(aligned)));
            known = Some(aligned);
        }
        hashes
    }

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
        let batch = || CaptionBatch {
            systems: &systems,
            ids: (0..set.n_images()).map(|image| self.references.id(image as u32)).collect(),
            references: (0..set.n_images()).map(|image| set.of(image).collect()).collect(),
        };
        outside::compute_one(metrics, resources, batch, progress)
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
            system(name, aligned, chosen_texts(captions, aligned), references)
        };
        self.captions.par_iter().zip(&self.aligned).map(system).collect()
    }

    /// The same, and counts over the captions of each system, which move to the engine.
    pub fn move_to_engine(&mut self, references: &AlignedReferences) -> (Vec<System>, Vec<(String, Looks)>) {
        let each = |((name, captions), aligned): (&mut (String, Captions), &Alignment)| {
            let none = Captions::new(captions.source());
            let captions = std::mem::replace(captions, none);
            let looks = notices::look_at(captions.len(), |k| captions.text(k));
            let mut rows = aligned.pairs.iter().map(|pair| pair.candidate).zip(0..);
            let texts = match captions.len() == aligned.len() && rows.all(|(row, k)| row == Some(k)) {
                true => all_texts(captions),
                false => chosen_texts(&captions, aligned),
            };
            (system(name, aligned, texts, references), (name.clone(), looks))
        };
        self.captions.par_iter_mut().zip(&self.aligned).map(each).unzip()
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

/// Pairs captions with their images; if captions are counted, says which of them have no like on the other side.
fn align_lines(
    index: &ReferenceIndex,
    captions: &Captions,
    policy: &Policy,
    is_empty: impl Fn(&str) -> bool,
    has_references: bool,
) -> Result<Alignment, Error> {
    let grouped = index.grouped().filter(|_| has_references);
    let extra = grouped.and_then(|references| ExtraLines::find(references, captions));
    let aligned = align_by(index.images(), captions, policy, is_empty);
    let mut aligned = aligned.map_err(|error| match &extra {
        Some(extra) => extra.explain(error),
        None => error,
    })?;
    aligned.notices.extend(extra.as_ref().map(ExtraLines::notice));
    aligned.notices.extend(grouped.and_then(|references| titles(references, captions)));
    Ok(aligned)
}

/// The text of each image's candidate.
fn chosen_texts(captions: &Captions, aligned: &Alignment) -> Texts {
    let text = |row: u32| captions.text(row as usize);
    aligned.pairs.iter().map(|pair| pair.candidate.map_or("", text)).collect()
}

fn system(name: &str, aligned: &Alignment, texts: Texts, references: &AlignedReferences) -> System {
    let place = |pair: &Pair| references.place.get(pair.image as usize).copied();
    System { name: name.to_owned(), images: aligned.pairs.iter().filter_map(place).collect(), texts }
}

/// Numbers of images in ascending order, each once.
pub(crate) fn distinct(images: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut distinct: Vec<u32> = images.collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// How the sources were read, the references first.
pub(crate) fn readings<'c>(
    ground: Option<&Captions>,
    systems: impl IntoIterator<Item = (&'c str, &'c Captions)>,
) -> Vec<SourceReading> {
    let of = |captions: &Captions, system: Option<&str>, pairing| SourceReading {
        file: captions.source().to_owned(),
        system: system.map(str::to_owned),
        format: captions.format().map(|format| format.name().to_owned()),
        layout: captions.layout().clone(),
        captions: captions.len(),
        pairing,
    };
    let is_counted = |captions: &Captions| captions.keys().are_counted();
    let by = |captions: &Captions| match ground.is_some_and(is_counted) || is_counted(captions) {
        true => PairedBy::Position,
        false => PairedBy::Ids,
    };
    let of_systems = systems.into_iter().map(|(name, captions)| {
        of(captions, Some(name), Some(Pairing { by: by(captions), images: 0, t: None }))
    });
    ground.map(|references| of(references, None, None)).into_iter().chain(of_systems).collect()
}

/// Looks at how well the captions of each system fit their own references; notes it, and returns notices if they do
/// not.
fn look_at_pairs(
    references: &GroupedCaptions,
    systems: &[(String, Captions)],
    aligned: &[Alignment],
    readings: &mut [SourceReading],
) -> Vec<Notice> {
    let pairings = readings.iter_mut().filter_map(|reading| reading.pairing.as_mut());
    let fits: Vec<Fit> = systems
        .par_iter()
        .zip(aligned)
        .map(|((_, captions), aligned)| shapes::fit_of(references, captions, aligned))
        .collect();
    for (pairing, fit) in pairings.zip(&fits) {
        (pairing.images, pairing.t) = (fit.images, fit.t.filter(|t| t.is_finite()));
    }
    let mut found: Vec<Notice> =
        systems.iter().zip(&fits).filter_map(|((name, _), fit)| shapes::mispaired(name, fit)).collect();
    // A file that does not fit is hidden by those that do.
    if let (true, [(name, captions), ..], [aligned, ..]) = (found.is_empty(), systems, aligned) {
        found = shapes::mispaired_files(name, references, captions, aligned);
    }
    found
}

/// Removes kinds of text from references and candidates; the notices of each system say what was removed.
fn clean(
    references: &mut ReferenceSource,
    systems: &mut [(String, Captions)],
    kinds: &[Cleaning],
) -> Result<Vec<Vec<Notice>>, Error> {
    let prepared = match references {
        ReferenceSource::Captions(_) => None,
        ReferenceSource::Prepared { prepared, source } => {
            let prepared = PreparedCleaning::of(prepared);
            Some((prepared.kinds(kinds, source)?, prepared.cleaned))
        }
    };
    let kinds = prepared.as_ref().map_or(kinds, |(kinds, _)| kinds);
    if kinds.is_empty() {
        return Ok(vec![Vec::new(); systems.len()]);
    }
    let owned = |captions: &Captions| captions.iter().map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
    let before = systems.first().map(|(_, captions)| owned(captions)).unwrap_or_default();
    let theirs = references.captions().map(owned).unwrap_or_default();
    fn texts(owned: &[String]) -> Vec<&str> {
        owned.iter().map(String::as_str).collect()
    }
    let of_references = match references {
        ReferenceSource::Captions(captions) => not_captions::clean(captions, kinds, &texts(&before)),
        // They were cleaned when they were prepared.
        ReferenceSource::Prepared { .. } => {
            prepared.as_ref().map_or_else(Vec::new, |(_, cleaned)| cleaned.clone())
        }
    };
    let of_system = |(name, captions): &mut (String, Captions)| {
        let of_system = not_captions::clean(captions, kinds, &texts(&theirs));
        let of_system = of_system.into_iter().map(|removal| removal.notice(name));
        of_system.chain(of_references.iter().map(|removal| removal.notice("the references"))).collect()
    };
    Ok(systems.iter_mut().map(of_system).collect())
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
