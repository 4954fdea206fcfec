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
use capeval::{Answers, Outside, OutsideLabel, OutsideRow, Sight, Summary};
use capeval_choice::{Notice, Refusal};
use capeval_files::Error;
use capeval_neural::ModelPurpose;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::clip_score::{CLIP_S, CROP, MODEL, NEEDS};
use crate::embeddings::role::Purpose;
use crate::embeddings::space::{Space, Wants, dot, norm};
use crate::kind::OutsideKind;
use crate::sources::OpenSources;

/// The ranks within which a hit counts.
const AT: [usize; 3] = [1, 5, 10];

const DIRECTION: Setting =
    Setting::choice("direction", "pictures", "what is found: pictures or captions", Direction::NAMES);

/// The entry of the recall.
pub(crate) const RECALL: OutsideKind = OutsideKind {
    name: "recall",
    summary: "share of captions whose own picture ranks in the top 1, 5 or 10",
    paper: "Karpathy and Fei-Fei 2015, Deep Visual-Semantic Alignments for Generating Image Descriptions",
    program: "LAION-AI/CLIP_benchmark",
    needs: NEEDS,
    models: &[ModelPurpose::PicturesAndTexts],
    settings: &[
        DIRECTION,
        Setting::text("prefix", "", "what stands before each caption", "a text"),
        CROP,
        MODEL,
    ],
    seconds: 6.0,
    parts: recall_parts,
    build: |spec, settings, sources| build(spec, settings, sources, Measure::Recall),
    ..CLIP_S
};

/// The entry of the median rank.
pub(crate) const MEDIAN_RANK: OutsideKind = OutsideKind {
    name: "median-rank",
    summary: "median rank of the caption's picture among all",
    parts: median_parts,
    build: |spec, settings, sources| build(spec, settings, sources, Measure::MedianRank),
    ..RECALL
};

capeval_choice::named! {
    /// The direction of retrieval, by what is ranked.
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
    label: OutsideLabel,
    measure: Measure,
    direction: Direction,
    space: Space,
    /// The pools of the systems, as they are asked about.
    pools: Mutex<Vec<String>>,
}

fn build(
    spec: &str,
    settings: &Settings<'_>,
    sources: &OpenSources,
    measure: Measure,
) -> Result<Arc<dyn Outside>, Error> {
    let purpose = Purpose::Pictures { prefix: settings.text("prefix"), crop: settings.get(CROP.name)? };
    let space = Space::choose(sources, settings, purpose, Wants { pictures: true, references: false })?;
    let parts = if measure == Measure::Recall { recall_parts() } else { median_parts() };
    let direction = settings.get(DIRECTION.name)?;
    Ok(Arc::new(Retrieval {
        label: OutsideLabel::new(spec, parts),
        measure,
        direction,
        space,
        pools: Mutex::default(),
    }))
}

impl Outside for Retrieval {
    fn label(&self) -> &OutsideLabel {
        &self.label
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
        let gathered = self.space.gather(rows, answers)?;
        let images = images_of(rows)?;
        let n_images = images.iter().max().map_or(0, |last| last + 1);
        self.pools.lock().unwrap_or_else(PoisonError::into_inner).push(pool_of(rows, n_images));
        let mut firsts = vec![usize::MAX; n_images];
        for (row, image) in images.iter().enumerate() {
            firsts[*image] = firsts[*image].min(row);
        }
        let pictures = Units::of(firsts.len(), |image| gathered.row(firsts[image]).picture);
        let captions = Units::of(rows.len(), |row| gathered.row(row).candidate);
        let likeness = |row: usize| dot(captions.row(row), pictures.row(images[row]));
        let ranks: Vec<usize> = match self.direction {
            Direction::Pictures => {
                let own: Vec<f64> = (0..rows.len()).into_par_iter().map(likeness).collect();
                ranks(&captions, &pictures, &own)
            }
            Direction::Captions => {
                let mut best = vec![f64::NEG_INFINITY; n_images];
                for (row, image) in images.iter().enumerate() {
                    best[*image] = best[*image].max(likeness(row));
                }
                let of_image = ranks(&pictures, &captions, &best);
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
        let mut pools = std::mem::take(&mut *self.pools.lock().unwrap_or_else(PoisonError::into_inner));
        pools.sort_unstable();
        pools.dedup();
        if pools.is_empty() { Vec::new() } else { vec![("pool", pools.join("+"))] }
    }

    fn notices(&self) -> Vec<Notice> {
        self.space.notices()
    }
}

/// Vectors of length 1, one after another.
struct Units {
    numbers: Vec<f32>,
    dims: usize,
}

impl Units {
    fn of<'v>(n: usize, vector: impl Fn(usize) -> &'v [f32] + Sync) -> Self {
        let unit = |at: usize| {
            let vector = vector(at);
            let norm = norm(vector);
            vector.iter().map(move |x| if norm == 0.0 { 0.0 } else { (f64::from(*x) / norm) as f32 })
        };
        let dims = if n == 0 { 0 } else { vector(0).len() };
        Self { numbers: (0..n).into_par_iter().flat_map_iter(unit).collect(), dims }
    }

    fn row(&self, at: usize) -> &[f32] {
        &self.numbers[at * self.dims..(at + 1) * self.dims]
    }
}

/// For each of `from`, 1 plus the number of `among` that are nearer to it than its `own`.
fn ranks(from: &Units, among: &Units, own: &[f64]) -> Vec<usize> {
    /// The number of rows whose products are computed at once.
    const AT_ONCE: usize = 64;
    /// The largest error of products in single precision.
    const DOUBT: f64 = 1e-5;
    let dims = from.dims.max(1);
    let n = among.numbers.len() / dims;
    let of_block = |(block, vectors): (usize, &[f32])| -> Vec<usize> {
        let products = capeval_neural::products(vectors, &among.numbers, dims);
        let rank = |(k, products): (usize, &[f32])| {
            let (row, own) = (vectors.get(k * dims..(k + 1) * dims), own[block * AT_ONCE + k]);
            // What is as near as makes no difference in single precision is compared again in double.
            let is_nearer = |(other, product): (usize, &f32)| match f64::from(*product) - own {
                apart if apart.abs() > DOUBT => apart > 0.0,
                _ => row.is_some_and(|row| dot(row, among.row(other)) > own),
            };
            1 + products.iter().enumerate().filter(|pair| is_nearer(*pair)).count()
        };
        products.chunks_exact(n.max(1)).enumerate().map(rank).collect()
    };
    from.numbers.par_chunks(AT_ONCE * dims).enumerate().flat_map_iter(of_block).collect()
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
    use crate::embeddings::testing::{Row, scores_of};

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
    fn ranks_are_those_of_all_cosines() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few values, so that there are many ties.
            (state >> 29) as f32 - 3.0
        };
        let mut vector = || [next(), next() + 0.5];
        let some: Vec<([f32; 2], [f32; 2])> = (0..150).map(|_| (vector(), vector())).collect();
        let found = scores_of("median-rank", &rows(&some)).concat();
        for (k, (own, caption)) in some.iter().enumerate() {
            let unit = |v: &[f32; 2]| {
                let n = f64::from(v[0]).hypot(f64::from(v[1]));
                [(f64::from(v[0]) / n) as f32, (f64::from(v[1]) / n) as f32].map(f64::from)
            };
            let product = |v: &[f32; 2]| {
                let (a, b) = (unit(v), unit(caption));
                a[0] * b[0] + a[1] * b[1]
            };
            let nearer = some.iter().filter(|(other, _)| product(other) > product(own) + 1e-12).count();
            assert_eq!(found[k], nearer as f64 + 1.0, "{k}");
        }
    }

    #[test]
    fn captions_are_found_for_pictures_the_other_way() {
        let some = rows(&[([1.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [1.0, 0.2])]);
        assert_eq!(scores_of("median-rank:direction=captions", &some).concat(), [2.0, 2.0]);
    }
}
