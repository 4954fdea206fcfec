//! The images that phases expect, which stay in memory for the phases requested last.

use std::sync::{Arc, Mutex, PoisonError};

use capeval_choice::SegmentId;
use capeval_site::prelude::*;

use super::records::ReferenceSet;
use super::validation::ExpectedImages;

/// The number of phases whose images are kept.
const KEPT: usize = 8;

/// The images of a few phases by the hashes of their lists.
#[derive(Default)]
pub struct Cache(Mutex<Vec<(String, Arc<ExpectedImages>)>>);

/// The images of all reference sets of a phase.
pub async fn of(app: &App, sets: &[ReferenceSet]) -> Result<Arc<ExpectedImages>> {
    let hashes: Vec<String> = sets.iter().filter_map(|set| set.ids_hash.clone()).collect();
    let (key, cache) = (hashes.join(" "), app.part::<Cache>());
    {
        let mut kept = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = kept.iter().position(|(known, _)| *known == key) {
            let found = kept.remove(place);
            let expected = Arc::clone(&found.1);
            kept.push(found);
            return Ok(expected);
        }
    }
    let has_halves = sets.iter().any(|set| set.half.is_some());
    let hidden = app.hidden.clone();
    let read = move || {
        let mut expected = ExpectedImages::default();
        for hash in hashes {
            expected.add(serde_json::from_slice::<Vec<SegmentId>>(&hidden.read(&hash)?)?);
        }
        if has_halves {
            expected.sort();
        }
        Ok::<_, anyhow::Error>(Arc::new(expected))
    };
    let expected = tokio::task::spawn_blocking(read).await??;
    let mut kept = cache.0.lock().unwrap_or_else(PoisonError::into_inner);
    kept.push((key, Arc::clone(&expected)));
    if kept.len() > KEPT {
        kept.remove(0);
    }
    Ok(expected)
}
