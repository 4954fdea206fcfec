//! Measures diversity and coverage of systems with any number of captions per image.

use std::collections::BTreeSet;

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::{Captions, GroupedCaptions, Ids, SegmentId};
use capeval_evaluate::ReferenceSet;
use capeval_evaluate::diversity::{CaptionSystem, evaluate_sets};
use capeval_evaluate::registry::{CORPUS_KINDS, CorpusNeed, build_corpus, corpus_kind};
use capeval_metric::{AnyCorpusMetric, CorpusScores};
use capeval_report::{GroupFrequencies, GroupRow, GroupScores, Notice, Provenance, Report, SystemReport};

use crate::findings::Findings;
use crate::groups::{GroupBy, GroupedRows};
use crate::inputs::{check_names, of_readers};
use crate::measures::{entries_of, head};
use crate::profile::profile;
use crate::restrict::normal;
use crate::signing::with_version;
use crate::{DiversityOptions, Error, ReferenceSource, references};

/// Data and options of a diversity report. Start from [`DiversityRequest::new`].
pub struct DiversityRequest {
    /// The systems: a name, which must be unique, and any number of captions per image.
    pub systems: Vec<(String, Captions)>,
    /// References for Self-CIDEr's document frequencies; they may include other images.
    pub references: Option<ReferenceSource>,
    /// The files that the references come from, for the report.
    pub reference_files: Vec<String>,
    /// The captions that the systems were trained on, for the share of novel ones.
    pub training: Option<Captions>,
    /// The properties that group images, for scores of each group.
    pub groups: Vec<GroupBy>,
    /// The options.
    pub options: DiversityOptions,
}

impl DiversityRequest {
    /// A request for all metrics that need only the captions of `systems`.
    pub fn new<N: Into<String>>(systems: impl IntoIterator<Item = (N, Captions)>) -> Self {
        Self {
            systems: systems.into_iter().map(|(name, captions)| (name.into(), captions)).collect(),
            references: None,
            reference_files: Vec::new(),
            training: None,
            groups: Vec::new(),
            options: DiversityOptions::default(),
        }
    }
}

/// Measures how diverse the captions of systems are.
///
/// No digit depends on the number of threads or the other systems; the order of images matters as in
/// [`score`](crate::score()).
pub fn diversity(request: DiversityRequest) -> Result<Report, Error> {
    let DiversityRequest { systems, references, reference_files, training, groups, options } = request;
    let DiversityOptions { metrics, tokenizer, ids, profiles, group_df } = options;
    check_names(&systems)?;
    let mut found = Findings::default();
    found.add_once(of_readers(&systems));
    let read = references.as_ref().and_then(ReferenceSource::captions).into_iter().chain(&training);
    found.add_once(read.flat_map(|captions| captions.notices().iter().cloned()));
    let systems: Vec<ImageGroups> = systems
        .into_iter()
        .map(|(name, captions)| ImageGroups::new(name, captions, ids))
        .collect::<Result<_, _>>()?;
    let given = SideData { references: references.is_some(), training: training.is_some() };
    let specs = match metrics.is_empty() {
        true => given.all(&systems, &mut found),
        false => metrics,
    };
    let built = given.build(&specs, tokenizer.as_deref())?;
    // A group of its own counts the references of its images.
    let own = references.as_ref().filter(|_| !groups.is_empty() && group_df == GroupFrequencies::Own);
    let own = own.filter(|_| built.iter().any(|(needs, _)| *needs == CorpusNeed::References));
    let own = match own {
        Some(source) => Some(GroupedCaptions::new(source.to_captions()?.into_owned(), ids)?),
        None => None,
    };
    let mut learnt_from = LearntFrom {
        references: match references {
            None => ReferenceSet::default(),
            Some(ReferenceSource::Captions(captions)) => references::whole(captions, ids)?.1,
            Some(ReferenceSource::Prepared { prepared, source }) => references::all(&prepared, &source)?,
        },
        training: match training {
            None => ReferenceSet::default(),
            Some(captions) => references::whole(captions, ids)?.1,
        },
    };
    let scores: Vec<Vec<CorpusScores>> =
        systems.iter().map(|of| learnt_from.scores(&of.system, &built)).collect();
    let described = scores.first().into_iter().flatten().map(|s| (s.signature.clone(), s.parts.clone()));
    let (entries, measures) = entries_of(described.collect());
    let asked = DiversityGroups { by: &groups, frequencies: group_df, own: own.as_ref(), ids };
    let groups = asked.scores(&systems, &mut learnt_from, &built, &mut found)?;
    let row = |(system, scores)| learnt_from.row(system, &built, scores, &mut found);
    let reports = systems.iter().zip(scores).map(row).collect();
    let input = built.first().filter(|_| profiles).map(|(_, metric)| metric.input());
    let profiles = input.into_iter().flat_map(|input| {
        let training = &mut learnt_from.training;
        systems.iter().map(move |of| profile(training, &of.system, input)).collect::<Vec<_>>()
    });
    let profiles = profiles.collect();
    let same_images = systems.windows(2).all(|pair| pair[0].ids == pair[1].ids);
    found.add(incomparable(&systems, same_images));
    Ok(Report {
        head: head(entries, measures, None, found),
        same_images,
        groups,
        systems: reports,
        provenance: Provenance {
            files: reference_files,
            n_images: learnt_from.references.n_images(),
            n_references: learnt_from.references.n_references(),
            ids: Some(ids),
            ..Provenance::default()
        },
        profiles,
        ..Report::default()
    })
}

/// A metric, and what it needs beside captions.
type NeedyMetric = (CorpusNeed, AnyCorpusMetric);

/// Marks the data beside captions that metrics can use.
#[derive(Clone, Copy)]
struct SideData {
    references: bool,
    training: bool,
}

impl SideData {
    /// The metrics by their names, each once.
    fn build(self, specs: &[String], tokenizer: Option<&str>) -> Result<Vec<NeedyMetric>, Error> {
        let common: Vec<(&str, &str)> = tokenizer.map(|name| ("tok", name)).into_iter().collect();
        let mut built: Vec<NeedyMetric> = Vec::new();
        for spec in specs {
            let metric = build_corpus(spec, &common)?;
            let needs = corpus_kind(spec).map_or(CorpusNeed::Nothing, |kind| kind.needs);
            let missing = match needs {
                CorpusNeed::References if !self.references => {
                    Some(("references, for document frequencies", Argument::References))
                }
                CorpusNeed::Training if !self.training => {
                    Some(("the captions that the system was trained on", Argument::Training))
                }
                _ => None,
            };
            if let Some((missing, argument)) = missing {
                return Err(Error::with_remedy(format!("{spec} needs {missing}"), Remedy::give(argument)));
            }
            if built.iter().all(|(_, known)| known.signature() != metric.signature()) {
                built.push((needs, metric));
            }
        }
        Ok(built)
    }

    /// The names of the available metrics; a notice says why each other one is left out.
    fn all(self, systems: &[ImageGroups], found: &mut Findings) -> Vec<String> {
        let single = systems.iter().find(|system| system.most() < 2).map(|system| &system.system.name);
        let mut taken = Vec::new();
        for kind in CORPUS_KINDS {
            let (missing, argument) = match (single, kind.needs) {
                (Some(name), _) if kind.compares => (format!("{name} has one caption per image"), None),
                (_, CorpusNeed::References) if !self.references => (
                    "there are no references for document frequencies".to_owned(),
                    Some(Argument::References),
                ),
                (_, CorpusNeed::Training) if !self.training => {
                    ("there are no training captions".to_owned(), Some(Argument::Training))
                }
                _ => {
                    taken.push(kind.name.to_owned());
                    continue;
                }
            };
            let message = format!("{} is left out, because {missing}", kind.name);
            let remedy = argument.map(Remedy::give);
            found.add([Notice { remedy, ..Notice::without(kind.name, message) }]);
        }
        taken
    }
}

/// The captions that metrics learn from.
struct LearntFrom {
    references: ReferenceSet,
    training: ReferenceSet,
}

impl LearntFrom {
    /// The scores of a system by each metric, which learns from the training captions or from the references.
    fn scores(&mut self, system: &CaptionSystem, built: &[NeedyMetric]) -> Vec<CorpusScores> {
        let mut scores: Vec<Option<CorpusScores>> = built.iter().map(|_| None).collect();
        for (learnt_from, is_training) in [(&mut self.references, false), (&mut self.training, true)] {
            let of = |needs: CorpusNeed| (needs == CorpusNeed::Training) == is_training;
            let places: Vec<usize> = (0..built.len()).filter(|k| of(built[*k].0)).collect();
            let metrics: Vec<AnyCorpusMetric> = places.iter().map(|k| built[*k].1.clone()).collect();
            for (k, found) in places.iter().zip(evaluate_sets(learnt_from, system, &metrics)) {
                scores[*k] = Some(found);
            }
        }
        scores.into_iter().flatten().collect()
    }

    /// The row of a system, signed.
    fn row(
        &self,
        ImageGroups { ids, system, source }: &ImageGroups,
        built: &[NeedyMetric],
        scores: Vec<CorpusScores>,
        found: &mut Findings,
    ) -> SystemReport {
        let notices = scores.iter().flat_map(|scores| scores.notices.iter().cloned());
        found.add_once(notices.map(|notice| notice.system(&system.name)));
        let sign = |((needs, _), scores): (&NeedyMetric, &CorpusScores)| {
            let mut signature = scores.signature.clone();
            match needs {
                CorpusNeed::Nothing => {}
                CorpusNeed::References => signature.push("df-images", self.references.n_images()),
                CorpusNeed::Training => signature.push("training", self.training.n_references()),
            }
            signature.push("captions", captions_per_image(&system.ends));
            with_version(signature)
        };
        SystemReport {
            name: system.name.clone(),
            source: source.clone(),
            n_images: ids.len(),
            n_references: self.references.n_references(),
            scores: scores.iter().flat_map(|scores| scores.values.iter().copied()).collect(),
            lengths: None,
            intervals: None,
            runs: None,
            signatures: built.iter().zip(&scores).map(sign).collect(),
            reference_hash: None,
            segments: None,
        }
    }
}

/// What is asked of groups.
struct DiversityGroups<'r> {
    by: &'r [GroupBy],
    frequencies: GroupFrequencies,
    /// The references, of which each group counts its own; `None` if it counts all.
    own: Option<&'r GroupedCaptions>,
    ids: Ids,
}

impl DiversityGroups<'_> {
    /// The scores of the groups of each system.
    fn scores(
        &self,
        systems: &[ImageGroups],
        learnt_from: &mut LearntFrom,
        built: &[NeedyMetric],
        found: &mut Findings,
    ) -> Result<Vec<GroupScores>, Error> {
        let images: BTreeSet<SegmentId> =
            systems.iter().flat_map(|of| &of.ids).map(|id| normal(id, self.ids)).collect();
        let grouped = GroupedRows {
            images: images.iter().collect(),
            ids: self.ids,
            references: Err("diversity compares no captions with references"),
            captions: Err("an image may have several captions"),
            source: "",
        };
        let images: Vec<&SegmentId> = images.iter().collect();
        let (by, notices) = grouped.results(self.by, self.frequencies, |rows| {
            let inside: BTreeSet<&SegmentId> = rows.iter().map(|row| images[*row as usize]).collect();
            let is_inside = |id: &SegmentId| inside.contains(&normal(id, self.ids));
            let whole =
                self.own.map(|own| std::mem::replace(&mut learnt_from.references, of_images(own, is_inside)));
            let row = |some: ImageGroups| GroupRow {
                n_images: some.ids.len(),
                scores: learnt_from
                    .scores(&some.system, built)
                    .into_iter()
                    .flat_map(|scores| scores.values)
                    .collect(),
                system: some.system.name,
                ..GroupRow::default()
            };
            let some = systems.iter().map(|of| of.some(is_inside)).filter(|some| !some.ids.is_empty());
            let scored: Vec<GroupRow> = some.map(row).collect();
            if let Some(whole) = whole {
                learnt_from.references = whole;
            }
            scored
        })?;
        found.add(notices);
        Ok(by.into_iter().map(GroupScores::from).collect())
    }
}

/// The references of some images, in the order in which the reference program reads all.
fn of_images(references: &GroupedCaptions, is_inside: impl Fn(&SegmentId) -> bool) -> ReferenceSet {
    let order = references.order();
    let images = order.iter().map(|image| *image as usize);
    let images = images.filter(|image| references.id(*image).is_some_and(&is_inside));
    images.map(|image| references.texts(image).collect::<Vec<_>>()).collect()
}

/// Notices of what keeps the scores of systems from being compared.
fn incomparable(systems: &[ImageGroups], same_images: bool) -> Vec<Notice> {
    let counts = |system: &ImageGroups| captions_per_image(&system.system.ends);
    let same_counts = systems.windows(2).all(|pair| counts(&pair[0]) == counts(&pair[1]));
    let images = Notice::new(
        Code::DifferentImages,
        "the systems describe different images, so their scores do not compare",
    );
    let numbers = Notice::new(
        Code::DifferentNumbers,
        "the systems have different numbers of captions per image, on which diversity depends; their scores do not \
         compare",
    );
    [(same_images, images), (same_counts, numbers)]
        .into_iter()
        .filter_map(|(same, notice)| (!same).then_some(notice))
        .collect()
}

/// The captions of a system by image, images in the order of their ids.
struct ImageGroups {
    ids: Vec<SegmentId>,
    system: CaptionSystem,
    source: String,
}

impl ImageGroups {
    fn new(name: String, captions: Captions, ids: Ids) -> Result<Self, Error> {
        let source = captions.source().to_owned();
        let index = GroupedCaptions::new(captions, ids)?;
        let mut images: Vec<(SegmentId, usize)> =
            (0..index.len()).filter_map(|image| Some((index.id(image)?.clone(), image))).collect();
        images.sort();
        let ends = images.iter().scan(0_u64, |end, (_, image)| {
            *end += index.rows(*image).len() as u64;
            Some(*end)
        });
        let ends: Vec<u64> = ends.collect();
        let texts = images.iter().flat_map(|(_, image)| index.texts(*image)).collect();
        let ids = images.into_iter().map(|(id, _)| id).collect();
        Ok(Self { ids, system: CaptionSystem { name, texts, ends }, source })
    }

    /// Some of its images.
    fn some(&self, is_inside: impl Fn(&SegmentId) -> bool) -> Self {
        let (mut ids, mut texts, mut own_ends) = (Vec::new(), Vec::new(), Vec::new());
        let starts = std::iter::once(0).chain(self.system.ends.iter().copied());
        for ((id, start), end) in self.ids.iter().zip(starts).zip(&self.system.ends) {
            if is_inside(id) {
                ids.push(id.clone());
                texts.extend((start..*end).map(|k| self.system.texts.get(k as usize)));
                own_ends.push(texts.len() as u64);
            }
        }
        let texts = texts.into_iter().collect();
        let system = CaptionSystem { name: self.system.name.clone(), texts, ends: own_ends };
        Self { ids, system, source: self.source.clone() }
    }

    /// The maximum number of captions of an image.
    fn most(&self) -> u64 {
        numbers(&self.system.ends).max().unwrap_or(0)
    }
}

/// The number of captions of each image.
fn numbers(ends: &[u64]) -> impl Iterator<Item = u64> + Clone {
    std::iter::once(0).chain(ends.iter().copied()).zip(ends).map(|(start, end)| end - start)
}

fn captions_per_image(ends: &[u64]) -> String {
    let (least, most) = (numbers(ends).min().unwrap_or(0), numbers(ends).max().unwrap_or(0));
    if least == most { least.to_string() } else { format!("{least}-{most}") }
}
