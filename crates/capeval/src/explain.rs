//! Explanations of single images.

use capeval_corpus::SegmentId;
use capeval_metric::Explanation;
use capeval_report::ExplainedCaption;
use rayon::prelude::*;

use crate::Error;
use crate::gallery::Scene;

/// The number of images that a thread explains at a time.
const IMAGES_AT_ONCE: usize = 16;

/// Explains the scores of `images`, image by image and system by system.
pub(crate) fn explain_images(images: &[SegmentId], scene: &Scene) -> Result<Vec<ExplainedCaption>, Error> {
    let Scene { references, systems, sessions } = scene;
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let mut wanted = Vec::with_capacity(images.len());
    for id in images {
        let place = references.find(id).or_else(|| references.find(&as_text(id)?));
        let described = |place: &u32| systems.iter().any(|system| system.images.binary_search(place).is_ok());
        wanted.push(place.filter(described).ok_or_else(|| {
            Error::with_remedy(
                format!("image {} cannot be explained, since no system was scored on it", id.quoted()),
                "name an image that was scored",
            )
        })?);
    }
    let mut chosen = wanted.clone();
    chosen.sort_unstable();
    chosen.dedup();
    let parts: Vec<Vec<Vec<Vec<Explanation>>>> = chosen
        .par_chunks(IMAGES_AT_ONCE)
        .map(|chosen| sessions.explain(&references.set, systems, chosen, |explanation| explanation))
        .collect();
    // Back to all images of each system and metric.
    let mut parts = parts.into_iter();
    let mut kept = parts.next().unwrap_or_default();
    for part in parts {
        for (all, more) in kept.iter_mut().flatten().zip(part.into_iter().flatten()) {
            all.extend(more);
        }
    }
    // For each system and chosen image, the index of its caption, and its rank among the chosen images of the system.
    let ranks: Vec<Vec<Option<(usize, usize)>>> = systems
        .iter()
        .map(|system| {
            let mut seen = 0..;
            let caption = |place| system.images.binary_search(place).ok();
            chosen.iter().map(|place| caption(place).and_then(|k| Some((k, seen.next()?)))).collect()
        })
        .collect();
    let mut explained = Vec::new();
    for place in wanted {
        let Ok(nth) = chosen.binary_search(&place) else { continue };
        for (s, ((system, by_metric), ranks)) in systems.iter().zip(&kept).zip(&ranks).enumerate() {
            let Some((k, at)) = ranks.get(nth).copied().flatten() else { continue };
            let of_image: Vec<Explanation> =
                by_metric.iter().filter_map(|images| images.get(at).cloned()).collect();
            let Some(id) = references.id(place) else { continue };
            explained.push(ExplainedCaption {
                system: s,
                id: id.clone(),
                caption: system.texts.get(k).to_owned(),
                references: references.set.of(place as usize).map(str::to_owned).collect(),
                metrics: of_image,
            });
        }
    }
    Ok(explained)
}

/// The same id as text, since ids that users type have no type.
fn as_text(id: &SegmentId) -> Option<SegmentId> {
    match id {
        SegmentId::Integer(number) => Some(SegmentId::Text(number.to_string().into())),
        SegmentId::Text(_) => None,
    }
}
