//! References in a file, of which a run reads and checks as much as it needs.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use capeval_arrays::{Buffer, Error, Parts, Reader};
use capeval_metric::{Figures, Input, Memo, Reading};
use capeval_text::ngrams::{CountParts, NgramCounts};
use capeval_text::sentences::SentenceParts;
use capeval_text::{Sentences, Symbol, Texts, Vocabulary};
use serde::{Deserialize, Serialize};

use crate::references::{ReferenceSet, StoredFigures, View, is_permutation};

/// The arrays of prepared references, in their file.
pub(crate) struct StoredReferences {
    texts: StoredTexts,
    /// The end of each image's references among the texts.
    ends: Buffer<u64>,
    order: Buffer<u32>,
    views: Vec<StoredView>,
    stored_memos: Vec<StoredMemo>,
    memos: OnceLock<Arc<[Memo]>>,
    /// All of it but memos and what was learnt, from the first request on.
    whole: OnceLock<ReferenceSet>,
}

struct StoredTexts {
    bytes: Parts<u8>,
    ends: Parts<u64>,
}

struct StoredView {
    reading: Reading,
    words: Parts<u8>,
    word_ends: Parts<u32>,
    symbols: Parts<Symbol>,
    ends: Parts<u64>,
    odd: Parts<u64>,
    odd_words: Parts<Symbol>,
    odd_ends: Parts<u64>,
    open: Parts<u64>,
    vocabulary: OnceLock<Arc<Vocabulary>>,
    learnt: Option<StoredLearnt>,
}

/// What the description of a file says of what was learnt.
#[derive(Serialize, Deserialize)]
pub(crate) struct LearntFields {
    /// The length of the longest n-grams.
    pub(crate) order: usize,
    /// The names of figures.
    pub(crate) figures: Vec<String>,
}

struct StoredLearnt {
    order: usize,
    n_images: usize,
    words: Parts<u32>,
    keys: Parts<u64>,
    counts: Parts<u32>,
    slots: Parts<u32>,
    figures: Vec<(String, Parts<f64>)>,
    known: OnceLock<Arc<StoredFigures>>,
}

struct StoredMemo {
    name: String,
    captions: StoredTexts,
    notes: StoredTexts,
}

/// The sources and targets of references: ascending ranges without gaps between the images of one.
struct Runs(Vec<Range<usize>>);

impl Runs {
    /// The references of `images`, which ascend.
    fn new(ends: &[u64], images: &[u32]) -> Self {
        let of = |images: &[u32]| {
            let (first, last) = (images.first()?, images.last()?);
            let start = if *first == 0 { 0 } else { ends[*first as usize - 1] };
            Some(start as usize..ends[*last as usize] as usize)
        };
        Self(images.chunk_by(|a, b| a + 1 == *b).filter_map(of).collect())
    }

    /// Of the references `numbers`, which ascend, those that are taken: their places in the list, and their new
    /// numbers.
    fn taken(&self, numbers: &[u64]) -> (Vec<usize>, Vec<u64>) {
        let (mut places, mut taken) = (Vec::new(), Vec::new());
        let mut before = 0;
        for run in &self.0 {
            let start = numbers.partition_point(|number| (*number as usize) < run.start);
            let end = numbers.partition_point(|number| (*number as usize) < run.end);
            for (place, number) in (start..).zip(numbers.get(start..end).unwrap_or_default()) {
                places.push(place);
                taken.push((before + *number as usize - run.start) as u64);
            }
            before += run.len();
        }
        (places, taken)
    }
}

/// Copies the elements of the lists in `runs`; `ends[k]` is the end of list `k`. Returns them with the new ends.
fn copy<T: bytemuck::Pod>(
    (values, ends): (&Parts<T>, &Parts<u64>),
    runs: &[Range<usize>],
) -> Result<(Vec<T>, Vec<u64>), Error> {
    let n = runs.iter().map(Range::len).sum();
    let (mut taken, mut taken_ends) = (Vec::new(), Vec::with_capacity(n));
    for run in runs {
        let before = run.start.checked_sub(1);
        let start = before.map_or(Ok(0), |before| ends.get(before..run.start).map(|end| end[0]))?;
        let own = ends.get(run.clone())?;
        if !own.is_sorted() || own.first().is_some_and(|first| *first < start) {
            return Err(values.unsound());
        }
        let end = own.last().copied().unwrap_or(start);
        let offset = taken.len() as u64;
        taken.extend_from_slice(values.get(start as usize..end as usize)?);
        taken_ends.extend(own.iter().map(|end| end - start + offset));
    }
    Ok((taken, taken_ends))
}

impl StoredTexts {
    fn open(reader: &mut Reader) -> Result<Self, Error> {
        Ok(Self { bytes: reader.parts()?, ends: reader.parts()? })
    }

    fn all(&self) -> Result<Texts, Error> {
        Texts::from_parts(self.bytes.whole()?, self.ends.whole()?).ok_or_else(|| self.bytes.unsound())
    }

    fn some(&self, runs: &Runs) -> Result<Texts, Error> {
        let (bytes, ends) = copy((&self.bytes, &self.ends), &runs.0)?;
        Texts::from_parts(bytes.into(), ends.into()).ok_or_else(|| self.bytes.unsound())
    }
}

impl StoredLearnt {
    fn open(described: LearntFields, n_images: usize, reader: &mut Reader) -> Result<Self, Error> {
        let LearntFields { order, figures } = described;
        let (words, keys, counts, slots) =
            (reader.parts()?, reader.parts()?, reader.parts()?, reader.parts()?);
        let figures = figures.into_iter().map(|name| Ok((name, reader.parts()?)));
        let figures = figures.collect::<Result<_, Error>>()?;
        Ok(Self { order, n_images, words, keys, counts, slots, figures, known: OnceLock::new() })
    }

    fn get(&self) -> Result<Arc<StoredFigures>, Error> {
        if let Some(known) = self.known.get() {
            return Ok(Arc::clone(known));
        }
        let Self { order, n_images, words, keys, counts, slots, figures, known } = self;
        let (words, keys, counts, slots) = (words.whole()?, keys.whole()?, counts.whole()?, slots.whole()?);
        let (order, n_images) = (*order, *n_images);
        let parts =
            CountParts { order, n_images, words: &*words, keys: &*keys, counts: &*counts, slots: &*slots };
        let counts = NgramCounts::from_parts(&parts).ok_or_else(|| self.words.unsound())?;
        let figures = figures
            .iter()
            .map(|(name, values)| Ok(Figures { name: name.clone(), values: (*values.whole()?).into() }));
        let learnt = StoredFigures {
            counts: Arc::new(counts),
            figures: figures.collect::<Result<_, Error>>()?,
            order,
        };
        Ok(Arc::clone(known.get_or_init(|| Arc::new(learnt))))
    }
}

impl StoredView {
    fn open(
        reading: Reading,
        learnt: Option<LearntFields>,
        n_images: usize,
        reader: &mut Reader,
    ) -> Result<Self, Error> {
        Ok(Self {
            reading,
            words: reader.parts()?,
            word_ends: reader.parts()?,
            symbols: reader.parts()?,
            ends: reader.parts()?,
            odd: reader.parts()?,
            odd_words: reader.parts()?,
            odd_ends: reader.parts()?,
            open: reader.parts()?,
            vocabulary: OnceLock::new(),
            learnt: learnt.map(|learnt| StoredLearnt::open(learnt, n_images, reader)).transpose()?,
        })
    }

    fn unsound(&self) -> Error {
        self.words.unsound()
    }

    fn vocabulary(&self) -> Result<Arc<Vocabulary>, Error> {
        if let Some(known) = self.vocabulary.get() {
            return Ok(Arc::clone(known));
        }
        let words = String::from_utf8(self.words.whole()?.to_vec()).map_err(|_| self.unsound())?;
        let vocabulary = Vocabulary::from_parts(&words, &self.word_ends.whole()?);
        let vocabulary = Arc::new(vocabulary.ok_or_else(|| self.unsound())?);
        Ok(Arc::clone(self.vocabulary.get_or_init(|| vocabulary)))
    }

    fn all(&self, n_references: usize) -> Result<View, Error> {
        let vocabulary = self.vocabulary()?;
        let sentences = SentenceParts {
            symbols: self.symbols.whole()?,
            ends: self.ends.whole()?,
            odd: self.odd.whole()?,
            odd_words: self.odd_words.whole()?,
            odd_ends: self.odd_ends.whole()?,
            open: self.open.whole()?,
        };
        let sentences = Sentences::from_parts(sentences, vocabulary.len());
        let sentences = sentences.filter(|sentences| sentences.len() == n_references);
        Ok(View::new(self.reading, vocabulary, sentences.ok_or_else(|| self.unsound())?))
    }

    fn some(&self, runs: &Runs) -> Result<View, Error> {
        let vocabulary = self.vocabulary()?;
        let (symbols, ends) = copy((&self.symbols, &self.ends), &runs.0)?;
        let (odd, open) = (self.odd.whole()?, self.open.whole()?);
        if !odd.is_sorted() || !open.is_sorted() {
            return Err(self.unsound());
        }
        let (places, odd) = runs.taken(&odd);
        let odd_runs: Vec<Range<usize>> = places.iter().map(|place| *place..place + 1).collect();
        let (odd_words, odd_ends) = copy((&self.odd_words, &self.odd_ends), &odd_runs)?;
        let (_, open) = runs.taken(&open);
        let sentences = SentenceParts {
            symbols: symbols.into(),
            ends: ends.into(),
            odd: odd.into(),
            odd_words: odd_words.into(),
            odd_ends: odd_ends.into(),
            open: open.into(),
        };
        let sentences = Sentences::from_parts(sentences, vocabulary.len());
        Ok(View::new(self.reading, vocabulary, sentences.ok_or_else(|| self.unsound())?))
    }
}

impl StoredReferences {
    /// Opens the references of `n_images` images.
    pub(crate) fn open(
        n_images: usize,
        views: Vec<(Reading, Option<LearntFields>)>,
        memos: Vec<String>,
        reader: &mut Reader,
    ) -> Result<Self, Error> {
        let texts = StoredTexts::open(reader)?;
        let ends = reader.array::<u64>()?;
        let total = ends.last().copied().unwrap_or(0);
        if ends.len() != n_images || !ends.is_sorted() || total != texts.ends.len() as u64 {
            return Err(reader.unsound());
        }
        let order = reader.array::<u32>()?;
        if !order.is_empty() && !is_permutation(&order, n_images) {
            return Err(reader.unsound());
        }
        let views =
            views.into_iter().map(|(reading, learnt)| StoredView::open(reading, learnt, n_images, reader));
        let views: Vec<StoredView> = views.collect::<Result<_, _>>()?;
        if views.iter().any(|view| view.ends.len() != texts.ends.len()) {
            return Err(reader.unsound());
        }
        let mut memo = |name: String| {
            Ok(StoredMemo { name, captions: StoredTexts::open(reader)?, notes: StoredTexts::open(reader)? })
        };
        let stored_memos = memos.into_iter().map(&mut memo).collect::<Result<_, Error>>()?;
        let (memos, whole) = (OnceLock::new(), OnceLock::new());
        Ok(Self { texts, ends, order, views, stored_memos, memos, whole })
    }

    /// The end of each image's references.
    pub(crate) fn ends(&self) -> &[u64] {
        &self.ends
    }

    /// All references, which stay in the file, with what metrics remember of them.
    pub(crate) fn all(&self) -> Result<ReferenceSet, Error> {
        Ok(ReferenceSet { memos: self.memos()?, ..self.plain()? })
    }

    /// All references with what is stored for metrics that read `inputs`.
    pub(crate) fn all_for(&self, inputs: &[Input]) -> Result<ReferenceSet, Error> {
        self.with_learnt(self.plain()?, inputs.iter().any(|input| input.memos), |view| {
            inputs.iter().any(|input| input.reading == view.reading && input.frequencies)
        })
    }

    /// All that is stored.
    pub(crate) fn everything(&self) -> Result<ReferenceSet, Error> {
        self.with_learnt(self.plain()?, true, |_| true)
    }

    fn with_learnt(
        &self,
        mut set: ReferenceSet,
        reads_memos: bool,
        reads: impl Fn(&StoredView) -> bool,
    ) -> Result<ReferenceSet, Error> {
        if reads_memos {
            set.memos = self.memos()?;
        }
        for (view, stored) in set.views.iter_mut().zip(&self.views).filter(|(_, stored)| reads(stored)) {
            view.learnt = stored.learnt.as_ref().map(StoredLearnt::get).transpose()?;
        }
        Ok(set)
    }

    fn plain(&self) -> Result<ReferenceSet, Error> {
        if let Some(known) = self.whole.get() {
            return Ok(known.clone());
        }
        let texts = self.texts.all()?;
        let views = self.views.iter().map(|view| view.all(texts.len())).collect::<Result<_, _>>()?;
        let (ends, order) = (self.ends.clone(), self.order.clone());
        let set = ReferenceSet { texts, ends, order, views, ..ReferenceSet::default() };
        Ok(self.whole.get_or_init(|| set).clone())
    }

    /// A copy of the references of `images`, which ascend, with what metrics that read `inputs` need.
    pub(crate) fn some(&self, images: &[u32], inputs: &[Input]) -> Result<ReferenceSet, Error> {
        let runs = Runs::new(&self.ends, images);
        let views = self.views.iter().filter(|view| inputs.iter().any(|input| input.reading == view.reading));
        let views = views.map(|view| view.some(&runs)).collect::<Result<_, _>>()?;
        let mut end = 0;
        let ends = images.iter().map(|image| {
            let range = capeval_text::Ends(&self.ends).range(*image as usize);
            end += range.len() as u64;
            end
        });
        let ends: Vec<u64> = ends.collect();
        let places = self.order.iter().filter_map(|image| images.binary_search(image).ok());
        let order: Vec<u32> = places.map(|place| place as u32).collect();
        let order = if order.is_sorted() { Buffer::default() } else { order.into() };
        let texts = self.texts.some(&runs)?;
        let reads_memos = inputs.iter().any(|input| input.memos);
        let memos = if reads_memos { self.memos()? } else { Arc::default() };
        let set = ReferenceSet { texts, ends: ends.into(), lists: Vec::new(), order, views, memos };
        Ok(set.read_open_again())
    }

    fn memos(&self) -> Result<Arc<[Memo]>, Error> {
        if let Some(known) = self.memos.get() {
            return Ok(Arc::clone(known));
        }
        let memo = |memo: &StoredMemo| {
            let StoredMemo { name, captions, notes } = memo;
            Memo::from_parts(name.clone(), captions.all()?, notes.all()?)
                .ok_or_else(|| captions.bytes.unsound())
        };
        let memos = self.stored_memos.iter().map(memo).collect::<Result<_, _>>()?;
        Ok(Arc::clone(self.memos.get_or_init(|| memos)))
    }
}
