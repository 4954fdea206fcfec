//! The references of a corpus, read once and shared by all metrics and systems.
//!
//! Text is tokenised once per reading, in parallel, with a vocabulary per thread that is then merged in order.
//! Candidates extend the references' vocabulary, which itself does not change.
//!
//! Studies of judged captions score a row for each rating or pair, and document frequencies count every row.
//! Neighbouring rows with equal references share one list, whose tokens, n-grams and scene graph are made once; only
//! the last row of a run has its own, since a caption sees the next one. Flickr8k has 64,822 rows and 1,000 images:
//! with SPICE's parses stored, all classic metrics take 3 seconds of a core, and took 18 without sharing.

use std::sync::{Arc, Once, OnceLock};

use capeval_arrays::Buffer;
use capeval_choice::Refusal;
use capeval_lexical::fluency::NgramModel;
use capeval_lexical::fluency::metric::estimate;
use capeval_lexical::fluency::ngram::MAX_ORDER;
use capeval_lexical::frequencies::{Counts, DocumentFrequencies};
use capeval_metric::{AnyMetric, Figures, Input, Memo, Reading, References};
use capeval_text::ngrams::{NgramCounts, ReferenceLists};
use capeval_text::{Ends, Following, Sentences, Texts, Vocabulary};

use crate::progress::{Progress, Stage};
use crate::sequence::{Sequence, reads_on};

/// The references of all images: their texts, and the inputs that metrics have requested.
#[derive(Clone, Default)]
pub struct ReferenceSet {
    pub(crate) texts: Texts,
    /// The end of each list of references among the texts.
    pub(crate) ends: Buffer<u64>,
    /// The list of each image, ascending; empty if each image has its own.
    pub(crate) lists: Vec<u32>,
    /// The images in the order in which the reference program reads them; empty if it is that of their numbers.
    pub(crate) order: Buffer<u32>,
    pub(crate) views: Vec<View>,
    /// The notes that metrics keep of them.
    pub(crate) memos: Arc<[Memo]>,
}

/// Collects the references of images, in order.
impl<'t, I: IntoIterator<Item = &'t str>> FromIterator<I> for ReferenceSet {
    fn from_iter<S: IntoIterator<Item = I>>(images: S) -> Self {
        let (mut texts, mut ends) = (Vec::new(), Vec::new());
        for image in images {
            texts.extend(image);
            ends.push(texts.len() as u64);
        }
        Self::new(texts.into_iter().collect(), ends)
    }
}

/// The references in one reading.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) reading: Reading,
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// The number of words in the sentences, which may exceed that of the vocabulary.
    n_words: usize,
    pub(crate) sentences: Sentences,
    /// The length of the longest n-grams that have been requested; 0 for none.
    pub(crate) order: usize,
    /// The n-grams of all images, counted on first request, also for clones.
    whole: Arc<OnceLock<Arc<NgramCounts>>>,
    /// The figures that earlier runs learnt from all images.
    pub(crate) learnt: Option<Arc<StoredFigures>>,
}

/// The figures of the n-grams of all images that prepared references store.
pub(crate) struct StoredFigures {
    /// Without n-grams that occur in one image only.
    pub(crate) counts: Arc<NgramCounts>,
    pub(crate) figures: Vec<Figures>,
    /// The length of the longest n-grams.
    pub(crate) order: usize,
}

/// The n-grams of the images that take part in an evaluation, as far as its metrics need them.
#[derive(Default)]
pub(crate) struct ReferenceCounts {
    /// The length of the longest n-grams; 0 if no metric requests any.
    order: usize,
    /// The number of these images in which each n-gram occurs.
    frequencies: Option<Arc<NgramCounts>>,
    learnt: Option<Arc<StoredFigures>>,
}

impl ReferenceSet {
    /// References as texts; `ends[i]` is the end of those of image `i`.
    ///
    /// # Panics
    /// When `ends` is not ascending, or does not end at the last text.
    pub fn new(texts: Texts, ends: Vec<u64>) -> Self {
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == texts.len() as u64);
        Self { texts, ends: ends.into(), ..Self::default() }
    }

    /// The references of rows that are scored like images, of which neighbours may have equal ones: these are stored,
    /// read and prepared once, and no score changes. Each system must describe every row.
    ///
    /// The tokens of a last reference may depend on the text that follows it, so that the last of such rows has a list
    /// of its own; and a list without words does not end such a look ahead, so that it is not shared.
    pub fn of_rows<'t, T: AsRef<[&'t str]>>(rows: &[T]) -> Self {
        let (mut texts, mut ends, mut lists) = (Vec::new(), Vec::new(), Vec::with_capacity(rows.len()));
        let mut add = |row: &[&'t str]| {
            texts.extend_from_slice(row);
            ends.push(texts.len() as u64);
            ends.len() as u32 - 1
        };
        for same in rows.chunk_by(|a, b| a.as_ref() == b.as_ref()) {
            let row = same[0].as_ref();
            let has_words = row.iter().any(|text| !text.trim().is_empty());
            let n_shared = if has_words { same.len() - 1 } else { 0 };
            if n_shared > 0 {
                lists.extend(std::iter::repeat_n(add(row), n_shared));
            }
            lists.extend(same[n_shared..].iter().map(|_| add(row)));
        }
        let set = Self::new(Texts::of(texts.iter().copied()), ends);
        let are_shared = lists.len() > set.ends.len();
        Self { lists: if are_shared { lists } else { Vec::new() }, ..set }
    }

    /// The same references, whose images the reference program reads in another order than that of their numbers.
    ///
    /// # Panics
    /// When `order` does not hold every image once, images share lists, or inputs have been prepared.
    pub fn in_order(mut self, order: Vec<u32>) -> Self {
        assert!(self.views.is_empty(), "the order is known before texts are read");
        assert!(!self.are_shared(), "rows are read in their order");
        assert!(is_permutation(&order, self.n_images()), "every image once");
        self.order = if order.is_sorted() { Buffer::default() } else { order.into() };
        self
    }

    /// The same references, with what metrics remember of others.
    pub fn with_memos_of(self, others: &Self) -> Self {
        Self { memos: Arc::clone(&others.memos), ..self }
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        if self.lists.is_empty() { self.ends.len() } else { self.lists.len() }
    }

    /// The list of references of an image.
    fn list(&self, image: u32) -> u32 {
        if self.lists.is_empty() { image } else { self.lists[image as usize] }
    }

    /// Returns true if images share lists, so that only all of them can be scored.
    pub(crate) fn are_shared(&self) -> bool {
        !self.lists.is_empty()
    }

    /// The total number of references, each list counted once.
    pub fn n_references(&self) -> usize {
        self.texts.len()
    }

    /// The images in the order in which the reference program reads them.
    pub fn order(&self) -> impl Iterator<Item = u32> + '_ {
        let numbered = if self.order.is_empty() { 0..self.n_images() as u32 } else { 0..0 };
        self.order.iter().copied().chain(numbered)
    }

    /// The references, image by image.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The references of `image`.
    ///
    /// # Panics
    /// When there is no such image.
    pub fn of(&self, image: usize) -> impl ExactSizeIterator<Item = &str> + '_ {
        Ends(&self.ends).range(self.list(image as u32) as usize).map(|r| self.texts.get(r))
    }

    /// Prepares the references for `inputs`, unless that has been done.
    pub fn prepare(&mut self, inputs: impl IntoIterator<Item = Input>) {
        self.prepare_over(inputs, |_| Vocabulary::default());
    }

    /// As [`prepare`](Self::prepare), with a vocabulary for each reading that may have words already.
    pub(crate) fn prepare_over(
        &mut self,
        inputs: impl IntoIterator<Item = Input>,
        vocabulary: impl Fn(Reading) -> Vocabulary,
    ) {
        for input in inputs {
            let view = match self.views.iter().position(|view| view.reading == input.reading) {
                Some(at) => &mut self.views[at],
                None => {
                    let mut vocabulary = vocabulary(input.reading);
                    let sequence = Sequence::new(&self.order, &self.ends);
                    let sentences = read(input.reading, &self.texts, &sequence, &mut vocabulary);
                    self.views.push(View::new(input.reading, Arc::new(vocabulary), sentences));
                    self.views.last_mut().expect("just pushed")
                }
            };
            if input.ngrams > view.order {
                view.order = input.ngrams;
                view.whole = Arc::default();
            }
        }
    }
}

impl ReferenceSet {
    /// The same references after each one whose tokens may depend on the next is read again, before the reference that
    /// now follows it.
    pub(crate) fn read_open_again(mut self) -> Self {
        let sequence = Sequence::new(&self.order, &self.ends);
        for view in self.views.iter_mut().filter(|view| reads_on(view.reading)) {
            let places: Vec<usize> = view.sentences.open().iter().map(|k| *k as usize).collect();
            let mut vocabulary = Vocabulary::over(Arc::clone(&view.vocabulary));
            let texts = &self.texts;
            let reread =
                read_some(view.reading, texts, places.len(), |j| places[j], &sequence, &mut vocabulary);
            if (0..).zip(&places).any(|(j, k)| reread.pieces(j) != view.sentences.pieces(*k)) {
                let sentences = view.sentences.replaced(&places, &reread);
                *view = View::new(view.reading, Arc::new(vocabulary), sentences);
            }
        }
        self
    }
}

impl ReferenceSet {
    /// Lets metrics take notes on the references, which are stored with them. Each metric's input must be prepared.
    /// Progress is reported if a metric takes any.
    pub fn remember(&mut self, metrics: &[AnyMetric], progress: &dyn Progress) {
        let n_references = self.n_references();
        let images: Vec<u32> = (0..self.n_images() as u32).collect();
        let counted = ReferenceCounts::default();
        for metric in metrics {
            let begun = Once::new();
            let advance = |done| {
                begun.call_once(|| progress.begin(Stage::Fitting, n_references));
                progress.advance(done);
            };
            let Some(view) = self.views.iter().find(|view| view.reading == metric.input().reading) else {
                continue;
            };
            // A caption that another metric has noted is not read again.
            let references = view.references(self, &view.vocabulary, &images, &counted);
            let mut memos = self.memos.to_vec();
            for memo in metric.remember(&references, &advance) {
                match memos.iter_mut().find(|known| known.name() == memo.name()) {
                    Some(known) => *known = memo.with(known),
                    None => memos.push(memo),
                }
            }
            self.memos = memos.into();
        }
        for v in 0..self.views.len() {
            let learnt = self.learn(&self.views[v], metrics, &images);
            self.views[v].learnt = learnt.map(Arc::new);
        }
    }

    /// The figures that `metrics` learn from the n-grams of all images in one reading, and that can be stored.
    fn learn(&self, view: &View, metrics: &[AnyMetric], images: &[u32]) -> Option<StoredFigures> {
        let mine = || metrics.iter().filter(|metric| metric.input().reading == view.reading);
        let input = mine().map(AnyMetric::input).filter(|input| input.frequencies).reduce(Input::and)?;
        let counted = view.counted(self, images, input);
        let counts = counted.frequencies.clone().filter(|counts| counts.parts().is_some())?;
        let references = view.references(self, &view.vocabulary, images, &counted);
        let mut figures: Vec<Figures> = Vec::new();
        for new in mine().flat_map(|metric| metric.figures(&references)) {
            if figures.iter().all(|known| known.name != new.name) {
                figures.push(new);
            }
        }
        Some(StoredFigures { counts, figures, order: view.order })
    }
}

impl ReferenceSet {
    /// The document frequencies of n-grams of up to `order` words in these references in one reading, as a table that
    /// can be saved.
    pub fn document_frequencies(
        &mut self,
        reading: Reading,
        order: usize,
    ) -> Result<DocumentFrequencies, Refusal> {
        let mut counts = Counts::default();
        self.count_ngrams(reading, order, &mut counts)?;
        counts.into_table(self.n_images() as u64, order)
    }

    /// Adds the document frequencies of n-grams of up to `order` words in these references in one reading to `table`.
    pub fn count_ngrams(
        &mut self,
        reading: Reading,
        order: usize,
        table: &mut Counts,
    ) -> Result<(), Refusal> {
        self.prepare([Input::new(reading).with_ngrams(order)]);
        let all: Vec<u32> = (0..self.n_images() as u32).collect();
        for view in self.views.iter().filter(|view| view.reading == reading) {
            let counts = view.count(self, &all, order, 1);
            let symbols: Vec<_> = view.vocabulary.iter().map(|(symbol, _)| symbol).collect();
            let words =
                view.vocabulary.iter().map(|(_, word)| table.word(word)).collect::<Result<Vec<_>, _>>()?;
            let mut result: Result<(), Refusal> = Ok(());
            counts.for_each(&symbols, order, |prefix, symbol, count| {
                let mut add = || {
                    let ngram = table.extend(prefix, words[symbol.index()])?;
                    table.add(ngram, count)?;
                    Ok(ngram)
                };
                // After an error, nothing that is counted matters.
                if result.is_err() {
                    return 0;
                }
                add().unwrap_or_else(|error| {
                    result = Err(error);
                    0
                })
            });
            result?;
        }
        Ok(())
    }
}

impl ReferenceSet {
    /// An n-gram language model of these references in one reading, with n-grams of up to `order` words, and the orders
    /// that use the discounts in `fallback`.
    pub fn language_model(
        &mut self,
        reading: Reading,
        order: usize,
        fallback: Option<[f64; 3]>,
    ) -> Result<(NgramModel, Vec<usize>), Refusal> {
        self.prepare([Input::new(reading)]);
        let all: Vec<u32> = (0..self.n_images() as u32).collect();
        let view = self.views.iter().find(|view| view.reading == reading).expect("just prepared");
        let nothing = ReferenceCounts::default();
        let references = view.references(self, &view.vocabulary, &all, &nothing);
        match estimate(&references, order) {
            Some(estimate) => estimate.finish(fallback),
            None => Err(Refusal::new(format!("n-grams of {order} words cannot be counted"))
                .with_remedy(format!("give a number from 1 to {MAX_ORDER}"))),
        }
    }
}

/// The value that `cell` keeps. It is made outside of the cell: while a thread of the pool waits for others, it may
/// take up another call that needs the same, and would wait for itself.
fn kept<T>(cell: &OnceLock<Arc<T>>, make: impl FnOnce() -> T) -> Arc<T> {
    if let Some(known) = cell.get() {
        return Arc::clone(known);
    }
    let made = Arc::new(make());
    Arc::clone(cell.get_or_init(|| made))
}

impl View {
    /// Sentences of which nothing is counted.
    pub(crate) fn new(reading: Reading, vocabulary: Arc<Vocabulary>, sentences: Sentences) -> Self {
        let n_words = vocabulary.len();
        Self { reading, vocabulary, n_words, sentences, order: 0, whole: Arc::default(), learnt: None }
    }

    /// The n-grams of `images` that `input` requests, which must be prepared; those of all images are kept.
    pub(crate) fn counted(&self, set: &ReferenceSet, images: &[u32], input: Input) -> ReferenceCounts {
        if input.ngrams == 0 {
            return ReferenceCounts::default();
        }
        let (order, is_whole) = (self.order, images.len() == set.n_images());
        let learnt = self.learnt.as_ref().filter(|learnt| is_whole && input.ngrams <= learnt.order);
        if let Some(learnt) = learnt.filter(|_| input.frequencies) {
            let frequencies = Some(Arc::clone(&learnt.counts));
            return ReferenceCounts { order, frequencies, learnt: Some(Arc::clone(learnt)) };
        }
        // N-grams of one image weigh as much as those of none.
        let count = || self.count(set, images, self.order, 2);
        let frequencies =
            input.frequencies.then(|| if is_whole { kept(&self.whole, count) } else { Arc::new(count()) });
        ReferenceCounts { order, frequencies, learnt: None }
    }

    /// The number of these images in which each n-gram of up to `order` words occurs, if there are `least` or more.
    fn count(&self, set: &ReferenceSet, images: &[u32], order: usize, least: u8) -> NgramCounts {
        let lists = images.iter().map(|image| set.list(*image));
        NgramCounts::build(
            &ReferenceLists::new(&self.sentences, &set.ends, lists, order),
            self.n_words,
            least,
        )
    }

    /// The view that the reference program has where only `images` take part, which ascend; new words are added to
    /// `vocabulary`. `None` if it is this one: the tokens of few references depend on the next image.
    pub(crate) fn of_images(
        &self,
        set: &ReferenceSet,
        images: &[u32],
        vocabulary: &mut Vocabulary,
    ) -> Option<Self> {
        let Self { reading, sentences, .. } = self;
        let takes_part = |k: &usize| {
            let image = set.ends.partition_point(|end| *end <= *k as u64);
            images.binary_search(&(image as u32)).is_ok()
        };
        let open = sentences.open().iter().map(|k| *k as usize);
        let open: Vec<usize> = open.filter(takes_part).collect();
        if images.len() == set.n_images() || open.is_empty() || !reads_on(*reading) {
            return None;
        }
        let all = Sequence::new(&set.order, &set.ends);
        let some = Sequence::of_images(&set.order, &set.ends, images);
        let is_followed_anew =
            |k: &usize| all.seen_after(*reading, *k, &set.texts) != some.seen_after(*reading, *k, &set.texts);
        let places: Vec<usize> = open.into_iter().filter(is_followed_anew).collect();
        let reread = read_some(*reading, &set.texts, places.len(), |j| places[j], &some, vocabulary);
        if (0..).zip(&places).all(|(j, k)| reread.pieces(j) == sentences.pieces(*k)) {
            return None;
        }
        let sentences = sentences.replaced(&places, &reread);
        Some(Self {
            reading: *reading,
            vocabulary: Arc::clone(&self.vocabulary),
            n_words: vocabulary.len(),
            sentences,
            order: self.order,
            whole: Arc::default(),
            learnt: None,
        })
    }

    /// The references of `images`, as metrics read them.
    pub(crate) fn references<'a>(
        &'a self,
        set: &'a ReferenceSet,
        vocabulary: &'a Vocabulary,
        images: &'a [u32],
        counted: &'a ReferenceCounts,
    ) -> References<'a> {
        References {
            texts: &set.texts,
            sentences: &self.sentences,
            ends: &set.ends,
            lists: &set.lists,
            order: counted.order,
            vocabulary,
            images,
            frequencies: counted.frequencies.as_ref(),
            memos: &set.memos,
            figures: counted.learnt.as_ref().map_or(&[], |learnt| &learnt.figures),
        }
    }
}

/// Returns true if `order` holds each number below `n` once.
pub(crate) fn is_permutation(order: &[u32], n: usize) -> bool {
    let mut seen = vec![false; n];
    let fresh = |at: &u32| seen.get_mut(*at as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    order.len() == n && order.iter().all(fresh)
}

/// Reads `texts`, which the reference program reads in the order of `sequence`, and adds their words to `vocabulary`.
pub(crate) fn read(
    reading: Reading,
    texts: &Texts,
    sequence: &Sequence<'_>,
    vocabulary: &mut Vocabulary,
) -> Sentences {
    read_some(reading, texts, texts.len(), |k| k, sequence, vocabulary)
}

/// The same for `n` of the texts: those `at` 0, 1 and so on.
pub(crate) fn read_some(
    reading: Reading,
    texts: &Texts,
    n: usize,
    at: impl Fn(usize) -> usize + Sync,
    sequence: &Sequence<'_>,
    vocabulary: &mut Vocabulary,
) -> Sentences {
    let text = |k: usize| texts.get(at(k));
    let following =
        |k: usize| -> Following<'_> { Box::new(sequence.after(reading, at(k)).map(|k| texts.get(k))) };
    match reading {
        Reading::Raw => Sentences::blank(n),
        Reading::Tokens(tokenizer) => Sentences::tokenize(tokenizer, n, text, following, vocabulary),
        Reading::Lines(tokenizer) => Sentences::tokenize_lines(tokenizer, n, text, vocabulary),
        Reading::LowerTokens(tokenizer) => {
            let lower: Vec<String> = (0..texts.len()).map(|k| texts.get(k).to_lowercase()).collect();
            let lower = lower.iter().map(String::as_str).collect();
            read_some(Reading::Tokens(tokenizer), &lower, n, at, sequence, vocabulary)
        }
        Reading::Stems(tokenizer, stemmer) => {
            let mut words = Vocabulary::default();
            let sentences = Sentences::tokenize(tokenizer, n, text, following, &mut words);
            let map: Vec<_> = stemmer.stems(&words).iter().map(|stem| vocabulary.intern(stem)).collect();
            sentences.mapped(&map)
        }
    }
}
