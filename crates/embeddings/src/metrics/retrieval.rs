//! Retrieval: does a caption find its picture among all pictures, or a picture its caption?
//!
//! All captions of a system and the pictures of its images are compared by the cosine of their vectors. The rank of a
//! caption's own picture is 1 plus the number of pictures that are nearer to the caption: ties are in its favour.
//! `R@k` is the share of captions whose rank is at most k, for k of 1, 5 and 10. The other way, `direction=captions`,
//! ranks captions for each picture; of several captions of one image the best counts for each of them.
//!
//! Sources: the image-text retrieval of Karpathy and Fei-Fei, *Deep Visual-Semantic Alignments for Generating Image
//! Descriptions* (2015); LAION-AI/CLIP_benchmark, `zeroshot_retrieval.py`, whose ties are decided by torch's sort.
//!
//! A rank depends on the pool: the images of the system's captions. So its size and a hash of its ids are in the
//! signature, scores of systems with different images are not comparable, and confidence intervals draw captions with
//! their ranks as they are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use capeval::choice::SegmentId;
use capeval::metric::{Part, Setting, Settings, Signature};
use capeval::{Answers, Outside, OutsideRow, Sight, Summary};
use capeval_choice::{Notice, Refusal};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::clip_score::{CROP, MODEL, NEEDS};
use crate::given::{Given, Purpose};
use crate::kind::EmbeddingKind;
use crate::space::{Pool, Space, Wants, dot, norm};

/// The ranks within which a hit counts.
const AT: [usize; 3] = [1, 5, 10];

const DIRECTION: Setting =
    Setting::choice("direction", "pictures", "what is found: pictures or captions", Direction::NAMES);

/// The entry of the recall.
pub(crate) const RECALL: EmbeddingKind = EmbeddingKind {
    name: "recall",
    summary: "share of captions that find their picture among all, R@1, R@5 and R@10",
    paper: "Karpathy and Fei-Fei 2015, Deep Visual-Semantic Alignments for Generating Image Descriptions",
    program: "LAION-AI/CLIP_benchmark",
    needs: NEEDS,
    settings: &[
        DIRECTION,
        Setting::text("prefix", "", "what stands before each caption", "a text"),
        CROP,
        MODEL,
    ],
    parts: recall_parts,
    build: |spec, settings, given| build(spec, settings, given, Measure::Recall),
};

/// The entry of the median rank.
pub(crate) const MEDIAN_RANK: EmbeddingKind = EmbeddingKind {
    name: "median-rank",
    summary: "median rank of the caption's picture among all",
    parts: median_parts,
    build: |spec, settings, given| build(spec, settings, given, Measure::MedianRank),
    ..RECALL
};

capeval_choice::named! {
    /// What is ranked.
    enum Direction ("direction") {
        Pictures = "pictures", "the pictures of all images, for each caption";
        Captions = "captions", "all captions, for each picture";
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Measure {
    Recall,
    MedianRank,
}

fn recall_parts() -> Vec<Part> {
    AT.iter().map(|k| Part::score(format!("recall-{k}"), format!("R@{k}"), 0.0..=1.0)).collect()
}

fn median_parts() -> Vec<Part> {
    vec![Part::score("median-rank", "Median rank", 1.0..=f64::INFINITY).lower().without_interval()]
}

struct Retrieval {
    spec: String,
    measure: Measure,
    parts: Vec<Part>,
    direction: Direction,
    space: Space,
    /// The pools of the systems, as they are asked about.
    pools: Mutex<Vec<String>>,
}

fn build(
    spec: &str,
    settings: &Settings<'_>,
    given: &Given,
    measure: Measure,
) -> Result<Arc<dyn Outside>, Refusal> {
    let purpose = Purpose::Pictures { prefix: settings.text("prefix"), crop: settings.get(CROP.name)? };
    let space = Space::choose(given, settings, purpose, Wants { pictures: true, references: false })?;
    let parts = if measure == Measure::Recall { recall_parts() } else { median_parts() };
    let direction = settings.get(DIRECTION.name)?;
    Ok(Arc::new(Retrieval {
        spec: spec.to_owned(),
        measure,
        parts,
        direction,
        space,
        pools: Mutex::default(),
    }))
}

impl Outside for Retrieval {
    fn name(&self) -> &str {
        &self.spec
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn signature(&self) -> Signature {
        let name = if self.measure == Measure::Recall { RECALL.name } else { MEDIAN_RANK.name };
        self.space.sign(Signature::new(name).with("direction", self.direction).with("ties", "first"))
    }

    fn needs_references(&self) -> bool {
        false
    }

    fn takes_all_together(&self) -> bool {
        true
    }

    fn distinguishes_systems(&self) -> bool {
        self.space.distinguishes_systems()
    }

    fn sight(&self) -> Sight {
        self.space.sight()
    }

    fn summary(&self) -> Summary {
        if self.measure == Measure::Recall { Summary::Mean } else { Summary::Median }
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let mut pool = Pool::default();
        let gathered = self.space.gather(rows, &mut pool, answers)?;
        let images = images_of(rows)?;
        let n_images = images.iter().max().map_or(0, |last| last + 1);
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool_of(rows, n_images));
        let mut firsts = vec![usize::MAX; n_images];
        for (row, image) in images.iter().enumerate() {
            firsts[*image] = firsts[*image].min(row);
        }
        let unit = |vector: &[f32]| -> Vec<f32> {
            let norm = norm(vector);
            vector.iter().map(|x| if norm == 0.0 { 0.0 } else { (f64::from(*x) / norm) as f32 }).collect()
        };
        let pictures: Vec<Vec<f32>> = firsts.par_iter().map(|row| unit(gathered.row(*row).picture)).collect();
        let captions: Vec<Vec<f32>> =
            (0..rows.len()).into_par_iter().map(|row| unit(gathered.row(row).candidate)).collect();
        let ranks: Vec<usize> = match self.direction {
            Direction::Pictures => (0..rows.len())
                .into_par_iter()
                .map(|row| {
                    let own = dot(&captions[row], &pictures[images[row]]);
                    1 + pictures.iter().filter(|picture| dot(&captions[row], picture) > own).count()
                })
                .collect(),
            Direction::Captions => {
                let mut best = vec![f64::NEG_INFINITY; n_images];
                for (row, image) in images.iter().enumerate() {
                    best[*image] = best[*image].max(dot(&captions[row], &pictures[*image]));
                }
                let of_image: Vec<usize> = pictures
                    .par_iter()
                    .zip(&best)
                    .map(|(picture, best)| {
                        1 + captions.iter().filter(|caption| dot(caption, picture) > *best).count()
                    })
                    .collect();
                images.iter().map(|image| of_image[*image]).collect()
            }
        };
        for (row, rank) in ranks.into_iter().enumerate() {
            match self.measure {
                Measure::Recall => answers.take(row, &AT.map(|k| f64::from(u8::from(rank <= k)))),
                Measure::MedianRank => answers.take(row, &[rank as f64]),
            }
        }
        Ok(())
    }

    fn sign(&self) -> Vec<(&'static str, String)> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        pools.sort_unstable();
        pools.dedup();
        if pools.is_empty() { Vec::new() } else { vec![("pool", pools.join("+"))] }
    }

    fn notices(&self) -> Vec<Notice> {
        self.space.notices()
    }
}

/// The number of each row's image, in order of first appearance.
fn images_of(rows: &[OutsideRow<'_>]) -> Result<Vec<usize>, Refusal> {
    let mut known: HashMap<&SegmentId, usize> = HashMap::new();
    let mut images = Vec::with_capacity(rows.len());
    for row in rows {
        let image = row.image.ok_or_else(|| {
            Refusal::new("retrieval needs the ids of images").with_remedy("give the rows ids")
        })?;
        let next = known.len();
        images.push(*known.entry(image).or_insert(next));
    }
    Ok(images)
}

/// The size of a pool and a hash of its ids.
fn pool_of(rows: &[OutsideRow<'_>], n_images: usize) -> String {
    let mut ids: Vec<String> = rows.iter().filter_map(|row| row.image.map(ToString::to_string)).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut hash = Sha256::new();
    for id in &ids {
        hash.update((id.len() as u64).to_le_bytes());
        hash.update(id);
    }
    let hash: String = hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{n_images}-{hash}")
}

#[cfg(test)]
mod tests {
    use crate::testing::{Row, scores_of};

    /// Captions in the plane, each with the picture of its image; ids are in order.
    fn rows(pairs: &[([f32; 2], [f32; 2])]) -> Vec<Row> {
        let row = |(picture, caption): &([f32; 2], [f32; 2])| Row {
            picture: picture.to_vec(),
            candidate: caption.to_vec(),
            references: Vec::new(),
        };
        pairs.iter().map(row).collect()
    }

    #[test]
    fn ties_are_in_favour_of_the_own_picture() {
        let same = rows(&[([1.0, 0.0], [1.0, 0.0]), ([2.0, 0.0], [1.0, 0.1]), ([0.0, 1.0], [1.0, 0.0])]);
        let ranks: Vec<f64> = scores_of("median-rank", &same).concat();
        assert_eq!(ranks, [1.0, 1.0, 3.0]);
        assert_eq!(scores_of("recall", &same), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]);
    }

    #[test]
    fn captions_are_found_for_pictures_the_other_way() {
        let some = rows(&[([1.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [1.0, 0.2])]);
        assert_eq!(scores_of("median-rank:direction=captions", &some).concat(), [2.0, 2.0]);
    }
}
