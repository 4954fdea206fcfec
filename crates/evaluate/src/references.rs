//! The references of a corpus, read once and shared by all metrics and systems.

use std::sync::{Arc, OnceLock};

use capeval_arrays::Buffer;
use capeval_fluency::NgramModel;
use capeval_fluency::metric::estimate;
use capeval_lexical::frequencies::{Counts, DocumentFrequencies, Repeats};
use capeval_metric::{Input, Reading, References};
use capeval_text::ngrams::{NgramCounts, ReferenceNgrams};
use capeval_text::{Ends, Sentences, Texts, Tokenizer, Vocabulary};

/// The references of all images: their texts, and the inputs that metrics have requested.
#[derive(Clone, Default)]
pub struct ReferenceSet {
    pub(crate) texts: Texts,
    /// The end of each image's references among the texts.
    pub(crate) ends: Buffer<u64>,
    pub(crate) views: Vec<View>,
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
    pub(crate) sentences: Sentences,
    pub(crate) ngrams: Option<ReferenceNgrams>,
    /// The number of images in which each n-gram occurs, computed on first request.
    pub(crate) frequencies: OnceLock<Arc<NgramCounts>>,
}

impl ReferenceSet {
    /// References as texts; `ends[i]` is the end of those of image `i`.
    ///
    /// # Panics
    /// When `ends` is not ascending, or does not end at the last text.
    pub fn new(texts: Texts, ends: Vec<u64>) -> Self {
        assert!(ends.is_sorted() && ends.last().copied().unwrap_or(0) == texts.len() as u64);
        Self { texts, ends: ends.into(), views: Vec::new() }
    }

    /// The number of images.
    pub fn n_images(&self) -> usize {
        self.ends.len()
    }

    /// The total number of references.
    pub fn n_references(&self) -> usize {
        self.texts.len()
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
        Ends(&self.ends).range(image).map(|r| self.texts.get(r))
    }

    /// Prepares the references for `inputs`, unless that has been done.
    pub fn prepare(&mut self, inputs: impl IntoIterator<Item = Input>) {
        for input in inputs {
            let view = match self.views.iter().position(|view| view.reading == input.reading) {
                Some(at) => &mut self.views[at],
                None => {
                    let mut vocabulary = Vocabulary::default();
                    let sentences = read(input.reading, &self.texts, Some(&self.ends), &mut vocabulary);
                    self.views.push(View {
                        reading: input.reading,
                        vocabulary: Arc::new(vocabulary),
                        sentences,
                        ngrams: None,
                        frequencies: OnceLock::new(),
                    });
                    self.views.last_mut().expect("just pushed")
                }
            };
            if input.ngrams > view.ngrams.as_ref().map_or(0, ReferenceNgrams::order) {
                view.ngrams = Some(ReferenceNgrams::build(&view.sentences, &self.ends, input.ngrams));
                view.frequencies = OnceLock::new();
            }
        }
    }

    /// Counts document frequencies over all images, for all readings with n-grams.
    pub fn count(&self) {
        let all: Vec<u32> = (0..self.n_images() as u32).collect();
        for view in self.views.iter().filter(|view| view.ngrams.is_some()) {
            let _ = view.frequencies(self, &all);
        }
    }
}

impl ReferenceSet {
    /// The document frequencies of n-grams of up to `order` words in these references in one reading, as a table that can
    /// be saved.
    ///
    /// # Errors
    /// When the corpus is too large for a table.
    pub fn document_frequencies(
        &mut self,
        reading: Reading,
        order: usize,
    ) -> Result<DocumentFrequencies, capeval_lexical::frequencies::Error> {
        self.prepare([Input::new(reading).with_ngrams(order)]);
        let all: Vec<u32> = (0..self.n_images() as u32).collect();
        let mut table = Counts::default();
        for view in self.views.iter().filter(|view| view.reading == reading) {
            let Some(counts) = view.frequencies(self, &all) else { continue };
            let symbols: Vec<_> = view.vocabulary.iter().map(|(symbol, _)| symbol).collect();
            let words =
                view.vocabulary.iter().map(|(_, word)| table.word(word)).collect::<Result<Vec<_>, _>>()?;
            let mut result = Ok(());
            counts.for_each(&symbols, |ngram, count| {
                if result.is_ok() && ngram.len() <= order {
                    let numbers: Vec<u32> = ngram.iter().map(|symbol| words[symbol.index()]).collect();
                    result = table.push(&numbers, count);
                }
            });
            result?;
        }
        table.into_table(self.n_images() as u64, order, Repeats::Add)
    }
}

impl ReferenceSet {
    /// An n-gram language model of these references in one reading, with n-grams of up to `order` words, and the orders
    /// that use the discounts in `fallback`.
    ///
    /// # Errors
    /// When `order` is out of range, there are no references, or discounts cannot be estimated and there is no
    /// `fallback`.
    pub fn language_model(
        &mut self,
        reading: Reading,
        order: usize,
        fallback: Option<[f64; 3]>,
    ) -> Result<(NgramModel, Vec<usize>), capeval_fluency::Error> {
        self.prepare([Input::new(reading)]);
        let all: Vec<u32> = (0..self.n_images() as u32).collect();
        let view = self.views.iter().find(|view| view.reading == reading).expect("just prepared");
        let references = view.references(self, &view.vocabulary, &all, None);
        match estimate(&references, order) {
            Some(estimate) => estimate.finish(fallback),
            None => Err(capeval_fluency::Error::order(order)),
        }
    }
}

impl View {
    /// The number of `images` in which each n-gram occurs, which is cached if these are all images; `None` without
    /// n-grams.
    pub(crate) fn frequencies(&self, set: &ReferenceSet, images: &[u32]) -> Option<Arc<NgramCounts>> {
        let ngrams = self.ngrams.as_ref()?;
        let count = || Arc::new(NgramCounts::build(ngrams, &set.ends, images, self.vocabulary.len()));
        Some(match images.len() == set.n_images() {
            true => Arc::clone(self.frequencies.get_or_init(count)),
            false => count(),
        })
    }

    /// The references of `images`, as metrics read them.
    pub(crate) fn references<'a>(
        &'a self,
        set: &'a ReferenceSet,
        vocabulary: &'a Vocabulary,
        images: &'a [u32],
        frequencies: Option<&'a Arc<NgramCounts>>,
    ) -> References<'a> {
        References {
            texts: &set.texts,
            sentences: &self.sentences,
            ends: &set.ends,
            ngrams: self.ngrams.as_ref(),
            vocabulary,
            images,
            frequencies,
        }
    }
}

/// Reads `texts`, adding their words to `vocabulary`.
///
/// The texts of one image, which end at one of `ends`, count as consecutive lines of the file that the reference program
/// writes for its tokenizer. Texts of different images do not, since scores would then depend on the order of images;
/// only `ptb-batch` requires that.
pub(crate) fn read(
    reading: Reading,
    texts: &Texts,
    ends: Option<&[u64]>,
    vocabulary: &mut Vocabulary,
) -> Sentences {
    let text = |k: usize| texts.get(k);
    let in_one_piece =
        matches!(reading, Reading::Tokens(Tokenizer::PtbBatch) | Reading::Stems(Tokenizer::PtbBatch, _));
    let next = |k: usize| {
        let end = if in_one_piece {
            texts.len()
        } else {
            let ends = ends?;
            ends[ends.partition_point(|end| *end <= k as u64)] as usize
        };
        // A blank line is skipped like other white space.
        (k + 1..end).map(|k| texts.get(k)).find(|text| !text.trim().is_empty())
    };
    match reading {
        Reading::Raw => Sentences::blank(texts.len()),
        Reading::Tokens(tokenizer) => Sentences::tokenize(tokenizer, texts.len(), text, next, vocabulary),
        Reading::Lines(tokenizer) => Sentences::tokenize_lines(tokenizer, texts.len(), text, vocabulary),
        Reading::LowerTokens(tokenizer) => {
            let lower: Vec<String> = (0..texts.len()).map(|k| text(k).to_lowercase()).collect();
            let lower = lower.iter().map(String::as_str).collect();
            read(Reading::Tokens(tokenizer), &lower, ends, vocabulary)
        }
        Reading::Stems(tokenizer, stemmer) => {
            let mut words = Vocabulary::default();
            let sentences = Sentences::tokenize(tokenizer, texts.len(), text, next, &mut words);
            let map: Vec<_> = stemmer.stems(&words).iter().map(|stem| vocabulary.intern(stem)).collect();
            sentences.mapped(&map)
        }
    }
}
