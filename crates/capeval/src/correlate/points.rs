//! Points: rated captions with their references.

use std::collections::{BTreeSet, HashMap};

use capeval_choice::{Argument, Code, Remedy, Role};
use capeval_corpus::ratings::{Item, RatedCaption, Ratings};
use capeval_corpus::scores::{ScoredSegment, SegmentScores};
use capeval_corpus::{Captions, Fit, Ids, OtherIds, SegmentId, Surplus, fit};
use capeval_evaluate::registry::Resources;
use capeval_evaluate::{Progress, System};
use capeval_metric::AnyMetric;
use capeval_report::{Agreement, Human, Measure, Notice, Unit};
use capeval_stats::ExactSum;

use crate::findings::Findings;
use crate::given::{absent, same_scores};
use crate::notices::numbered;
use crate::outside::{self, CaptionBatch};
use crate::own_reference::{ReferenceRules, same_caption};
use crate::restrict::normal;
use crate::{Error, OwnReference};

/// The maximum number of ids in an error or notice.
const SHOWN: usize = Notice::MAX_IDS;

/// The rated captions, in an order that does not depend on files.
pub(super) struct Judgements {
    pub items: Vec<RatedPoint>,
    pub points: Vec<Point>,
    /// The references of each image, except removed ones.
    references: Vec<Vec<String>>,
    pub own: OwnReference,
}

/// A rated caption.
#[derive(Clone)]
pub(super) struct RatedPoint {
    pub image: SegmentId,
    /// The number of its image.
    pub cluster: usize,
    pub caption: String,
    pub system: Option<String>,
    /// True if the caption is known.
    has_caption: bool,
    /// True if it is itself a reference of its image.
    pub is_reference: bool,
    pub ratings: Vec<f64>,
}

/// An item with the words of its caption, and whether these are a reference of its image.
type Told<'i> = (&'i Item, String, bool);

/// A point to correlate.
pub(super) struct Point {
    pub item: usize,
    pub rating: f64,
}

impl RatedPoint {
    /// The caption, if known.
    pub fn caption(&self) -> Option<&str> {
        (self.has_caption && !self.caption.is_empty()).then_some(&*self.caption)
    }

    /// The mean of its ratings.
    pub fn mean(&self) -> f64 {
        self.ratings.iter().copied().collect::<ExactSum>().value() / self.ratings.len() as f64
    }
}

/// Sorts items by image, caption and system, and the ratings of each.
pub(super) fn ordered(items: &mut [Item]) {
    items.iter_mut().for_each(|item| item.ratings.sort_by(f64::total_cmp));
    items.sort_by(|a, b| (&a.image, &a.caption, &a.system).cmp(&(&b.image, &b.caption, &b.system)));
}

impl Judgements {
    /// How well the rated captions fit the references of their images: the first one of each image.
    pub fn fit(&self) -> Fit {
        let mut firsts: Vec<&RatedPoint> = self.items.iter().collect();
        firsts.dedup_by_key(|item| item.cluster);
        let references = |row: usize| {
            let of = firsts.get(row).and_then(|item| self.references.get(item.cluster));
            of.into_iter().flatten().map(String::as_str).collect()
        };
        fit(firsts.len(), |row| firsts.get(row).map_or("", |item| &item.caption), references)
    }

    /// Points without captions or references.
    pub fn bare(ratings: &Ratings, unit: Unit) -> Self {
        let items = ratings.items.iter().map(|item| match &item.caption {
            Some(RatedCaption::Text(text)) => (item, text.clone(), false),
            _ => (item, String::new(), false),
        });
        Self::of(items, Vec::new(), OwnReference::Keep, unit)
    }

    /// Points with captions and references.
    pub fn with_captions<'r>(
        ratings: &'r Ratings,
        references: &Captions,
        rules: ReferenceRules,
        unit: Unit,
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let ReferenceRules { own, surplus, ids } = rules;
        let known = KnownReferences::new(references, ids);
        found.add(without_references(ratings, &known, surplus)?);
        let items = ratings.items.iter().filter(|item| known.of(&item.image).is_some());
        let items = items.map(|item| Ok((item, words(item, ratings, &known)?)));
        let is_same = same_caption(own);
        let is_own = |(item, text): (&'r Item, String)| {
            let is_own = known.of(&item.image).is_some_and(|all| all.iter().any(|one| is_same(one, &text)));
            (item, text, is_own)
        };
        let items: Result<Vec<(&Item, String)>, Error> = items.collect();
        let mut items: Vec<Told<'r>> = items?.into_iter().map(is_own).collect();
        let mut removed: HashMap<SegmentId, Vec<String>> = HashMap::new();
        let own_ones: Vec<&Told<'r>> = items.iter().filter(|(_, _, is_own)| *is_own).collect();
        found.add(own_references(&own_ones, own));
        match own {
            // What is held out is left to each caption.
            OwnReference::Keep | OwnReference::HoldOut => {}
            OwnReference::Remove | OwnReference::RemoveSameWords => {
                for (item, text, _) in own_ones {
                    let gone = removed.entry(normal(&item.image, ids)).or_default();
                    if !gone.iter().any(|other| is_same(other, text)) {
                        gone.push(text.clone());
                    }
                }
            }
            OwnReference::Skip => items.retain(|(_, _, is_own)| !is_own),
        }
        if items.is_empty() {
            return Err(Error::request(format!("{}: no rating is left", ratings.source)));
        }
        let left = items.chunk_by(|(a, _, _), (b, _, _)| a.image == b.image).map(|group| {
            let image = &group[0].0.image;
            let mut left: Vec<String> =
                known.of(image).into_iter().flatten().map(|text| (*text).to_owned()).collect();
            for text in removed.get(&normal(image, ids)).into_iter().flatten() {
                match own {
                    OwnReference::RemoveSameWords => left.retain(|other| !is_same(other, text)),
                    // If two references are equal, one of them is kept.
                    _ => drop(left.iter().position(|other| is_same(other, text)).map(|at| left.remove(at))),
                }
            }
            let is_alone = left.len() == 1 && own == OwnReference::HoldOut;
            if left.is_empty() || is_alone && group.iter().any(|(_, _, is_own)| *is_own) {
                let image = image.quoted();
                return Err(Error::with_remedy(
                    format!("{}: image {image} has no reference but rated captions", ratings.source),
                    Remedy::set(Argument::OwnReference, "skip")
                        .or(Remedy::set(Argument::OwnReference, "keep")),
                ));
            }
            Ok(left)
        });
        let references = left.collect::<Result<_, Error>>()?;
        Ok(Self::of(items.into_iter(), references, own, unit))
    }

    /// The captions of all points, as one system that describes an image for each.
    pub fn system(&self) -> System {
        System {
            name: "captions".to_owned(),
            images: (0..self.points.len() as u32).collect(),
            texts: self.points.iter().map(|point| self.items[point.item].caption.as_str()).collect(),
        }
    }

    /// The metrics with the scores of those that are computed outside of the engine.
    pub fn compute(
        &self,
        metrics: &[AnyMetric],
        system: &System,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<AnyMetric>, Error> {
        let batch = || CaptionBatch {
            systems: std::slice::from_ref(system),
            ids: self.points.iter().map(|point| Some(&self.items[point.item].image)).collect(),
            references: self.points.iter().map(|point| self.references_of(point.item)).collect(),
        };
        outside::compute_one(metrics, resources, batch, progress)
    }

    /// `items` are sorted by image.
    fn of<'i>(
        items: impl Iterator<Item = Told<'i>>,
        references: Vec<Vec<String>>,
        own: OwnReference,
        unit: Unit,
    ) -> Self {
        let mut rated: Vec<RatedPoint> = Vec::new();
        for (item, caption, is_reference) in items {
            let cluster = match rated.last() {
                Some(last) if last.image == item.image => last.cluster,
                Some(last) => last.cluster + 1,
                None => 0,
            };
            rated.push(RatedPoint {
                image: item.image.clone(),
                cluster,
                caption,
                system: item.system.clone(),
                has_caption: item.caption.is_some(),
                is_reference,
                ratings: item.ratings.clone(),
            });
        }
        let points = rated.iter().enumerate().flat_map(|(k, item)| {
            let ratings = match unit {
                Unit::Rating => item.ratings.clone(),
                Unit::Item => vec![item.mean()],
            };
            ratings.into_iter().map(move |rating| Point { item: k, rating })
        });
        let points = points.collect();
        Self { items: rated, points, references, own }
    }

    /// Some of the points, by their ascending numbers, without references.
    pub fn some(&self, points: &[u32]) -> Self {
        let mut items: Vec<RatedPoint> = Vec::new();
        let (mut last, mut clusters) = (None, 0);
        let points = points.iter().map(|at| {
            let Point { item, rating } = self.points[*at as usize];
            if last != Some(item) {
                let known = &self.items[item];
                clusters +=
                    usize::from(last.is_none_or(|last: usize| self.items[last].cluster != known.cluster));
                items.push(RatedPoint { cluster: clusters - 1, ..known.clone() });
                last = Some(item);
            }
            Point { item: items.len() - 1, rating }
        });
        let points = points.collect();
        Self { items, points, references: Vec::new(), own: self.own }
    }

    /// The references of an item.
    pub fn references_of(&self, item: usize) -> Vec<&str> {
        let RatedPoint { cluster, caption, is_reference, .. } = &self.items[item];
        let mut list: Vec<&str> =
            self.references.get(*cluster).into_iter().flatten().map(String::as_str).collect();
        if *is_reference && self.own == OwnReference::HoldOut {
            let is_same = same_caption(self.own);
            // If two references are equal, one of them is kept.
            list.iter().position(|text| is_same(text, caption)).map(|at| list.remove(at));
        }
        list
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.items.last().map_or(0, |item| item.cluster + 1)
    }
}

/// The references that are given, by image.
struct KnownReferences<'c> {
    texts: HashMap<SegmentId, Vec<&'c str>>,
    /// The ids of the images, as they are given.
    images: &'c [SegmentId],
    ids: Ids,
    source: &'c str,
    /// The reason why the ids are none that a person gave, with a remedy.
    numbered: Option<(String, Remedy)>,
}

impl<'c> KnownReferences<'c> {
    fn new(references: &'c Captions, ids: Ids) -> Self {
        let mut texts: HashMap<SegmentId, Vec<&str>> = HashMap::new();
        for (id, text) in references.iter() {
            texts.entry(normal(id, ids)).or_default().push(text);
        }
        let images = references.ids();
        Self { texts, images, ids, source: references.source(), numbered: numbered(references) }
    }

    fn of(&self, image: &SegmentId) -> Option<&Vec<&'c str>> {
        self.texts.get(&normal(image, self.ids))
    }
}

/// A notice of ratings that are left out because their image has no reference.
fn without_references(
    ratings: &Ratings,
    known: &KnownReferences<'_>,
    surplus: Surplus,
) -> Result<Option<Notice>, Error> {
    let unknown: Vec<&Item> = ratings.items.iter().filter(|item| known.of(&item.image).is_none()).collect();
    let Some(first) = unknown.first() else { return Ok(None) };
    let n_ratings =
        |items: &mut dyn Iterator<Item = &Item>| items.map(|item| item.ratings.len()).sum::<usize>();
    let message = format!(
        "{} of {} ratings are of images without a reference in {}, such as {}",
        n_ratings(&mut unknown.iter().copied()),
        n_ratings(&mut ratings.items.iter()),
        known.source,
        first.image.quoted()
    );
    if surplus == Surplus::Error || unknown.len() == ratings.items.len() {
        let ignore = Remedy::set(Argument::Surplus, "ignore").to("leave such ratings out");
        let remedy = match unknown.len() == ratings.items.len() {
            true => Remedy::say("check the ids, and give the references they were rated with"),
            false => Remedy::say("give the references they were rated with").or(ignore),
        };
        let message = format!("{}: {message}", ratings.source);
        let ids = unknown.iter().map(|item| &item.image);
        if let Some(other) = OtherIds::of(known.images, ids, known.ids) {
            return Err(Error::with_remedy(format!("{message}: {}", other.examples()), other.remedy()));
        }
        return Err(match &known.numbered {
            Some((why, name_them)) => Error::with_remedy(format!("{message}: {why}"), name_them.clone()),
            None => Error::with_remedy(message, remedy),
        });
    }
    let ids = unknown.iter().take(SHOWN).map(|item| item.image.clone()).collect();
    let notice = Notice::applied(Argument::Surplus, Surplus::Ignore.name(), format!("left out: {message}"));
    Ok(Some(notice.ids(ids).count(unknown.len())))
}

/// The words of a rated caption.
fn words(item: &Item, ratings: &Ratings, known: &KnownReferences<'_>) -> Result<String, Error> {
    let fault = |what: &str, remedy: Remedy| {
        let message = format!("{}: image {}: {what}", ratings.source, item.image.quoted());
        Error::with_remedy(message, remedy)
    };
    match (&item.caption, &ratings.no_caption) {
        (Some(RatedCaption::Text(text)), _) => Ok(text.clone()),
        (Some(RatedCaption::Reference { image, number }), _) => {
            let text = known.of(image).and_then(|texts| texts.get(*number));
            text.map(|text| (*text).to_owned()).ok_or_else(|| {
                let what = format!("the rated caption {image}#{number} is not in {}", known.source);
                fault(&what, Remedy::say("give the file that holds all captions"))
            })
        }
        (None, Some(place)) => Err(Error::with_remedy(
            format!("{}: {place} has a rating but an empty caption", ratings.source),
            "add the caption, or remove the row",
        )),
        (None, None) => Err(fault(
            "the ratings have no caption",
            Remedy::give(Argument::CaptionColumns(Role::Ratings))
                .to("name its column")
                .or(Remedy::give(Argument::Scores).to("use scores that were computed before")),
        )),
    }
}

/// A notice of rated captions that are themselves references.
fn own_references(found: &[&Told<'_>], own: OwnReference) -> Option<Notice> {
    let what = format!("{} rated captions are themselves references of their image", found.len());
    let message = match own {
        OwnReference::Keep => format!("{what} and are scored against themselves too"),
        OwnReference::Remove | OwnReference::RemoveSameWords => {
            format!("{what}; there they are not used as references, for any caption of that image")
        }
        OwnReference::HoldOut => format!("{what}; each is compared with the others of its image"),
        OwnReference::Skip => format!("left out: {what}"),
    };
    let remedy = Remedy::set(Argument::OwnReference, "remove")
        .to("remove them from the references")
        .or(Remedy::set(Argument::OwnReference, "hold-out").to("compare each with the others"))
        .or(Remedy::set(Argument::OwnReference, "skip").to("leave their ratings out"));
    let ids = found.iter().take(SHOWN).map(|(item, _, _)| item.image.clone()).collect();
    let notice = Notice::applied(Argument::OwnReference, own.name(), message).ids(ids).count(found.len());
    let remedy = (own == OwnReference::Keep).then_some(remedy);
    (!found.is_empty()).then_some(Notice { remedy, ..notice })
}

/// The given scores of each point, measure after measure.
pub(super) fn given(
    judgements: &Judgements,
    scores: &SegmentScores,
    ids: Ids,
) -> Result<Vec<Vec<f64>>, Error> {
    type Key<'k> = (SegmentId, Option<&'k str>, Option<&'k str>);
    let told = |of: fn(&ScoredSegment) -> bool| scores.rows.iter().any(of);
    let by_system =
        told(|row| row.system.is_some()) && judgements.items.iter().any(|item| item.system.is_some());
    let by_caption =
        told(|row| row.caption.is_some()) && judgements.items.iter().any(|item| item.has_caption);
    let mut known: HashMap<Key<'_>, &[f64]> = HashMap::new();
    for ScoredSegment { image, system, caption, scores: values, .. } in &scores.rows {
        let system = system.as_deref().filter(|_| by_system);
        let key = (normal(image, ids), system, caption.as_deref().filter(|_| by_caption));
        if known.insert(key, values).is_some_and(|other| !same_scores(other, values)) {
            let image = image.quoted();
            return Err(Error::with_remedy(
                format!(
                    "{}: image {image} has several scores, and nothing tells which caption each is of",
                    scores.source
                ),
                "add a column caption or system to both files",
            ));
        }
    }
    let mut missing = Vec::new();
    let rows: Vec<&[f64]> = judgements
        .items
        .iter()
        .map(|item| {
            let caption = by_caption.then_some(item.caption.as_str());
            let key = (normal(&item.image, ids), item.system.as_deref().filter(|_| by_system), caption);
            known.get(&key).copied().unwrap_or_else(|| {
                missing.push(item);
                &[]
            })
        })
        .collect();
    if let Some(first) = missing.first() {
        let system = first.system.as_ref().filter(|_| by_system);
        let message = format!(
            "{}: {} of {} rated items have no score, such as that of image {}{}",
            scores.source,
            missing.len(),
            judgements.items.len(),
            first.image.quoted(),
            system.map_or_else(String::new, |name| format!(" by system '{name}'")),
        );
        return Err(Error::with_remedy(message, remedy(scores, ids, first, (by_system, by_caption))));
    }
    let lacking = judgements.items.iter().zip(&rows).find_map(|(item, row)| absent(scores, &item.image, row));
    if let Some(error) = lacking {
        return Err(error);
    }
    let column = |m: usize| judgements.points.iter().map(|point| rows[point.item][m]).collect();
    Ok((0..scores.keys.len()).map(column).collect())
}

/// The remedy for an item without a score.
fn remedy(
    scores: &SegmentScores,
    ids: Ids,
    item: &RatedPoint,
    (by_system, by_caption): (bool, bool),
) -> Remedy {
    let image = normal(&item.image, ids);
    let of_image = || scores.rows.iter().filter(|row| normal(&row.image, ids) == image);
    let systems: BTreeSet<&str> = of_image().filter_map(|row| row.system.as_deref()).collect();
    if by_system && !systems.is_empty() && !item.system.as_deref().is_some_and(|own| systems.contains(own)) {
        let shown: Vec<String> = systems.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
        let more = if systems.len() > SHOWN { ", …" } else { "" };
        let shown = shown.join(", ");
        return Remedy::say(format!(
            "use the same names of systems in both files; those that it has scores of are {shown}{more}"
        ));
    }
    if by_caption && of_image().next().is_some() {
        return Remedy::say("score the captions that were rated; the file has scores of other captions");
    }
    Remedy::say("score the captions that were rated")
}

/// A notice about rows without ratings.
pub(super) fn unrated(ratings: &Ratings) -> Option<Notice> {
    (ratings.unrated > 0).then(|| {
        let rows =
            if ratings.unrated == 1 { "1 row".to_owned() } else { format!("{} rows", ratings.unrated) };
        let message = format!("left out: {rows} of {} without a rating", ratings.source);
        Notice::new(Code::NoRating, message).count(ratings.unrated)
    })
}

/// A notice about one value far off a scale of whole numbers, such as 999 or -1 beside 1 to 5: it may stand for no
/// answer.
pub(super) fn off_scale(ratings: impl Iterator<Item = f64>) -> Option<Notice> {
    const FEWEST_STEPS: usize = 3;
    let mut sorted: Vec<f64> = ratings.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut values = sorted.clone();
    values.dedup();
    let [first, inner @ .., last] = &*values else { return None };
    let of = |low: f64, high: f64, rest: &[f64]| {
        let steps = rest.windows(2).map(|pair| pair[1] - pair[0]);
        let step = steps.min_by(f64::total_cmp)?;
        (rest.len() >= FEWEST_STEPS && rest.iter().all(|value| value.fract() == 0.0))
            .then_some((step, low, high))
    };
    let (lowest, highest) = (*inner.first()?, *inner.last()?);
    let above = of(*first, highest, &values[..values.len() - 1])
        .filter(|(step, low, high)| *last - high > step.max(high - low));
    let below = of(lowest, *last, &values[1..])
        .filter(|(step, low, _)| *first < 0.0 && *low >= 0.0 && low - *first > *step);
    let (value, (_, low, high)) = above.map(|of| (*last, of)).or(below.map(|of| (*first, of)))?;
    let count = sorted.iter().filter(|rating| **rating == value).count();
    let verb = if count == 1 { "is" } else { "are" };
    let message = format!(
        "{count} of {} ratings {verb} {value}, and all others are from {low} to {high}: does it stand for no answer?",
        sorted.len()
    );
    Some(Notice::new(Code::OffScaleRatings, message).count(count))
}

/// Notices about reasons to doubt the coefficients.
pub(super) fn doubts(human: &Human, agreements: &[Agreement], measures: &[Measure]) -> Vec<Notice> {
    let mut found = Vec::new();
    if human.scale.low == human.scale.high {
        let message = "all ratings are equal, so nothing can agree with them".to_owned();
        found.push(Notice::new(Code::ConstantRatings, message).count(human.n_ratings));
    }
    if human.n_items == human.n_ratings {
        let message = "every item has a single rating, so agreement between raters is unknown".to_owned();
        found.push(Notice::new(Code::OneRater, message).count(human.n_items));
    }
    let constant: Vec<&str> = agreements
        .iter()
        .zip(measures)
        .filter(|(agreement, _)| agreement.pearson.value.is_none() && human.scale.low < human.scale.high)
        .map(|(_, measure)| measure.key.as_str())
        .collect();
    if !constant.is_empty() {
        let message = format!(
            "no correlation by {}: scores or ratings do not vary, or are not finite",
            constant.join(", ")
        );
        found.push(Notice::new(Code::ConstantScores, message).count(constant.len()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_far_off_a_scale_of_whole_numbers_is_told() {
        let told = |ratings: &[f64]| off_scale(ratings.iter().copied()).map(|notice| notice.message);
        let scale = [1.0, 2.0, 3.0, 4.0, 2.0];
        for (odd, words) in [
            (999.0, "2 of 7 ratings are 999, and all others are from 1 to 4"),
            (99.0, "are 99,"),
            (9.0, "are 9,"),
            (-1.0, "are -1,"),
            (-99.0, "are -99,"),
        ] {
            let found = told(&[&scale[..], &[odd, odd]].concat()).unwrap();
            assert!(found.contains(words), "{odd}: {found}");
        }
        for ratings in [
            &scale[..],
            &[1.0, 2.0, 3.0, 5.0],
            &[-1.0, 0.0, 1.0],
            &[-2.0, -1.0, 0.0, 1.0, 2.0],
            &[-1.0, 0.0, 1.0, 2.0, 3.0],
            &[0.0, 25.0, 50.0, 75.0, 100.0],
            &[0.1, 0.5, 0.7, 9.5],
            &[1.0, 5.0],
            &[],
        ] {
            assert_eq!(told(ratings), None, "{ratings:?}");
        }
    }
}
