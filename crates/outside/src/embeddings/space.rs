//! Comparable vectors of pictures and texts, from a user's files or from a model.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use capeval::metric::{Settings, Signature};
use capeval::{Answers, OutsideRow, Picture, Sight};
use capeval_choice::{Code, Notice, Refusal, counted};

use crate::embeddings::models::PreparedModel;
use crate::embeddings::role::{Purpose, Role};
use crate::embeddings::vectors::Vectors;
use crate::sources::OpenSources;

/// The number of rows whose vectors are made at once.
pub(crate) const ROWS_AT_ONCE: usize = 512;

/// The source of the vectors of a metric.
pub(crate) struct Space {
    model: Option<PreparedModel>,
    wants: Wants,
    pictures: Option<Arc<Vectors>>,
    texts: Option<Arc<Vectors>>,
    references: Option<Arc<Vectors>>,
    candidates: Vec<OfSystem>,
}

/// The vectors of the captions of the system with a name, or of all systems.
struct OfSystem {
    system: Option<String>,
    file: Arc<Vectors>,
    /// True if there is such a system.
    is_met: AtomicBool,
}

/// The vectors that a metric compares beside those of candidates.
#[derive(Clone, Copy)]
pub(crate) struct Wants {
    pub pictures: bool,
    pub references: bool,
}

/// Vectors that a model makes for some rows.
#[derive(Default)]
struct MadeVectors<'w> {
    dims: usize,
    vectors: Vec<f32>,
    texts: HashMap<&'w str, usize>,
    pictures: HashMap<&'w Picture, usize>,
}

/// The vectors of rows.
pub(crate) struct RowVectors<'g> {
    made: MadeVectors<'g>,
    rows: Vec<RowOf<At<'g>>>,
}

/// The vectors of a row.
pub(crate) struct RowOf<V> {
    /// That of its picture; that of the candidate for metrics without pictures.
    pub picture: V,
    pub candidate: V,
    pub references: Vec<V>,
}

/// A vector, or what a model makes one of.
#[derive(Clone, Copy)]
enum VectorSource<'w> {
    Given(&'w [f32]),
    Text(&'w str),
    Picture(&'w Picture),
}

/// The place of a vector.
#[derive(Clone, Copy)]
enum At<'g> {
    File(&'g [f32]),
    Made(usize),
}

impl Space {
    /// The vectors that `given` has for a metric, and a model for what these lack.
    pub fn choose(
        sources: &OpenSources,
        settings: &Settings<'_>,
        purpose: Purpose<'_>,
        wants: Wants,
    ) -> Result<Self, Refusal> {
        let file = |role: Role, is_wanted: bool| if is_wanted { sources.vectors(&role) } else { None };
        let mut space = Self {
            model: None,
            wants,
            pictures: file(Role::Pictures, wants.pictures),
            texts: file(Role::Texts, true),
            references: file(Role::References, wants.references),
            candidates: sources
                .candidates()
                .into_iter()
                .map(|(system, file)| OfSystem { system, file, is_met: AtomicBool::new(false) })
                .collect(),
        };
        // Whether each system has some is known once their captions come.
        let has_candidates = !space.candidates.is_empty();
        let has_texts =
            space.texts.is_some() || has_candidates && (!wants.references || space.references.is_some());
        let is_complete = has_texts && (!wants.pictures || space.pictures.is_some());
        let named = settings.given("model");
        let model = match is_complete && named.is_none() {
            true => None,
            false => sources.model(named, purpose)?,
        };
        space.model = match (model, is_complete) {
            (Some(model), _) => Some(PreparedModel::new(model, purpose)),
            (None, true) => None,
            (None, false) => {
                let lacking = match wants.pictures && space.pictures.is_none() {
                    true => "pictures",
                    false => "texts",
                };
                let model = sources.needed_model(named, purpose);
                return Err(model
                    .err()
                    .unwrap_or_else(|| Refusal::new(format!("nothing gives vectors of {lacking}"))));
            }
        };
        space.check_dims()?;
        Ok(space)
    }

    /// Refuses vectors of different lengths, which cannot be compared.
    fn check_dims(&self) -> Result<(), Refusal> {
        let named = [&self.pictures, &self.texts, &self.references].into_iter().flatten();
        let files = named.chain(self.candidates.iter().map(|of| &of.file));
        let mut all = files
            .map(|file| (file.name(), file.dims()))
            .chain(self.model.iter().map(|prepared| (prepared.model.name(), prepared.model.dims())));
        let Some((first, of_first)) = all.next() else { return Ok(()) };
        match all.find(|(_, dims)| *dims != of_first) {
            None => Ok(()),
            Some((name, dims)) => {
                let message = format!(
                    "the vectors of {name} have {dims} numbers, and those of {first} have {of_first}"
                );
                Err(Refusal::new(message).with_remedy("give vectors of one model"))
            }
        }
    }

    /// The use of pictures, which vectors spare.
    pub fn sight(&self) -> Sight {
        if self.wants.pictures && self.pictures.is_none() { Sight::Needed } else { Sight::None }
    }

    /// Returns true if equal captions of two systems may have different vectors.
    pub fn distinguishes_systems(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// Adds everything that the vectors depend on to a signature.
    pub fn sign(&self, mut signature: Signature) -> Signature {
        let files = [("pictures", &self.pictures), ("texts", &self.texts), ("references", &self.references)];
        for (name, file) in files {
            if let Some(file) = file {
                signature.push(name, format!("vectors-{}", file.short_hash()));
            }
        }
        if !self.candidates.is_empty() {
            let hashes: Vec<&str> = self.candidates.iter().map(|of| of.file.short_hash()).collect();
            signature.push("candidates", format!("vectors-{}", hashes.join("+")));
        }
        if let Some(model) = &self.model {
            signature = model.sign(signature, self.sight() == Sight::Needed);
        }
        signature
    }

    /// Notices about the compared vectors.
    pub fn notices(&self) -> Vec<Notice> {
        let unmet = self.candidates.iter().filter(|of| !of.is_met.load(Ordering::Relaxed));
        let unmet = unmet.map(|of| {
            let system = of.system.as_deref().unwrap_or_default();
            let message =
                format!("the vectors of {} are not used: no system is called {system}", of.file.name());
            Notice::new(Code::UnusedVectors, message).remedy("name a system that is scored")
        });
        let of_model = self
            .model
            .iter()
            .flat_map(|prepared| prepared.model.notices().into_iter().chain(prepared.notices()));
        unmet.chain(of_model).collect()
    }

    /// The vectors of `rows`.
    pub fn gather<'g>(
        &'g self,
        rows: &'g [OutsideRow<'_>],
        answers: &dyn Answers,
    ) -> Result<RowVectors<'g>, Refusal> {
        let wanted = rows.iter().map(|row| self.of_row(row)).collect::<Result<Vec<_>, Refusal>>()?;
        let made = match &self.model {
            Some(model) => MadeVectors::new(model, rows, &wanted, answers)?,
            None => MadeVectors::default(),
        };
        let rows = wanted.iter().map(|row| row.map(|wanted| made.find(*wanted))).collect();
        Ok(RowVectors { made, rows })
    }

    fn of_row<'w>(&'w self, row: &'w OutsideRow<'_>) -> Result<RowOf<VectorSource<'w>>, Refusal> {
        let candidate = self.candidate(row)?;
        let picture = if self.wants.pictures { self.picture(row)? } else { candidate };
        let references = match self.wants.references {
            true => self.references(row)?,
            false => Vec::new(),
        };
        Ok(RowOf { picture, candidate, references })
    }

    fn picture<'w>(&'w self, row: &'w OutsideRow<'_>) -> Result<VectorSource<'w>, Refusal> {
        match (&self.pictures, row.picture) {
            (None, Some(picture)) => Ok(VectorSource::Picture(picture)),
            (None, None) => Err(Refusal::new(format!("{} has no picture", row.told()))
                .with_remedy("give a picture or a vector of each image")),
            (Some(file), _) => file.one(image_of(row, file)?).map(VectorSource::Given),
        }
    }

    fn candidate<'w>(&'w self, row: &'w OutsideRow<'_>) -> Result<VectorSource<'w>, Refusal> {
        let is_of = |of: &&OfSystem| of.system.as_deref().is_none_or(|name| Some(name) == row.system);
        match self.candidates.iter().find(is_of) {
            Some(of) => {
                of.is_met.store(true, Ordering::Relaxed);
                of.file.one(image_of(row, &of.file)?).map(VectorSource::Given)
            }
            None => self.text(row.candidate, row),
        }
    }

    fn references<'w>(&'w self, row: &'w OutsideRow<'_>) -> Result<Vec<VectorSource<'w>>, Refusal> {
        let Some(file) = &self.references else {
            return row.references.iter().map(|text| self.text(text, row)).collect();
        };
        let image = image_of(row, file)?;
        let found: Vec<VectorSource<'w>> = file.all(image).map(VectorSource::Given).collect();
        if found.len() == row.references.len() {
            return Ok(found);
        }
        let message = format!(
            "{}: image {} has {}, and {}",
            file.name(),
            image.quoted(),
            counted(found.len(), "vector"),
            counted(row.references.len(), "reference")
        );
        Err(Refusal::new(message).with_remedy("give a row for each reference, in their order"))
    }

    fn text<'w>(&'w self, text: &'w str, row: &OutsideRow<'_>) -> Result<VectorSource<'w>, Refusal> {
        let found = self.texts.as_ref().and_then(|file| file.of_text(text));
        match (found, &self.model, &self.texts) {
            (Some(vector), ..) => Ok(VectorSource::Given(vector)),
            (None, Some(_), _) => Ok(VectorSource::Text(text)),
            (None, None, Some(file)) => {
                let message = format!("{} has no vector of {text:?} of {}", file.name(), row.told());
                Err(Refusal::new(message).with_remedy("make vectors of all captions and references"))
            }
            (None, None, None) => Err(Refusal::new(format!("nothing gives a vector of {text:?}"))
                .with_remedy("give a model, or vectors of texts")),
        }
    }
}

/// A caller that nothing is reported to.
pub(crate) struct Alone;

impl Answers for Alone {
    fn take(&self, _: usize, _: &[f64]) {}

    fn wait(&self) {}
}

/// The id by which a file has the vector of a row.
fn image_of<'r>(row: &OutsideRow<'r>, file: &Vectors) -> Result<&'r capeval::choice::SegmentId, Refusal> {
    row.image.ok_or_else(|| {
        let message =
            format!("vectors of {} are found by the ids of images, and rows have none", file.name());
        Refusal::new(message).with_remedy("give the rows ids")
    })
}

impl<V> RowOf<V> {
    fn map<T>(&self, of: impl Fn(&V) -> T) -> RowOf<T> {
        RowOf {
            picture: of(&self.picture),
            candidate: of(&self.candidate),
            references: self.references.iter().map(of).collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &V> {
        [&self.picture, &self.candidate].into_iter().chain(&self.references)
    }
}

impl<'w> MadeVectors<'w> {
    /// Makes the vectors that are wanted, each once.
    fn new(
        model: &PreparedModel,
        rows: &[OutsideRow<'_>],
        wanted: &[RowOf<VectorSource<'w>>],
        answers: &dyn Answers,
    ) -> Result<Self, Refusal> {
        let mut made = Self { dims: model.model.dims(), ..Self::default() };
        let (mut texts, mut pictures) = (Vec::new(), Vec::new());
        for (row, wanted) in
            rows.iter().zip(wanted).flat_map(|(row, all)| all.all().map(move |one| (row, one)))
        {
            match *wanted {
                VectorSource::Given(_) => {}
                VectorSource::Text(text) => {
                    made.texts.entry(text).or_insert_with(|| {
                        texts.push(text);
                        texts.len() - 1
                    });
                }
                VectorSource::Picture(picture) => {
                    made.pictures.entry(picture).or_insert_with(|| {
                        pictures.push((picture, row.told()));
                        pictures.len() - 1
                    });
                }
            }
        }
        made.vectors = model.pictures(&pictures, answers)?;
        made.vectors.extend(model.texts(&texts, answers)?);
        Ok(made)
    }

    fn find(&self, wanted: VectorSource<'w>) -> At<'w> {
        let place = match wanted {
            VectorSource::Given(vector) => return At::File(vector),
            VectorSource::Picture(picture) => self.pictures.get(picture).copied(),
            // Those of texts come after those of pictures.
            VectorSource::Text(text) => self.texts.get(text).map(|place| self.pictures.len() + place),
        };
        At::Made(place.unwrap_or_default())
    }
}

impl RowVectors<'_> {
    /// The vectors of row number `row`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> RowOf<&[f32]> {
        self.rows[row].map(|at| match *at {
            At::File(vector) => vector,
            At::Made(place) => {
                let dims = self.made.dims;
                self.made.vectors.get(place * dims..(place + 1) * dims).unwrap_or_default()
            }
        })
    }
}

/// The cosine of two vectors; 0 if one of them is zero.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let norms = norm(a) * norm(b);
    if norms == 0.0 { 0.0 } else { dot(a, b) / norms }
}

/// The length of a vector.
pub(crate) fn norm(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

/// The scalar product, summed in eight parts whatever the processor is, so that its bits are the same everywhere.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f64; 8];
    for (a, b) in a.iter().zip(b) {
        // By place, which is vectorised also where iterators are not seen through.
        for k in 0..8 {
            sums[k] += f64::from(a[k]) * f64::from(b[k]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    sums.iter().sum::<f64>() + rest
}
