//! CIDEr, CIDEr-D and CIDEr-R: agreement with the consensus of the references.
//!
//! Rewards n-grams that are frequent in the references of the image and rare in those of other images. Each caption is
//! turned into one vector per order n = 1..N, whose elements are the n-gram's frequency in the caption times its
//! inverse document frequency `log(images) − log(max(1, df))`, where `df` is the number of images whose references
//! contain the n-gram. The similarity with a reference is
//!
//! - CIDEr: the cosine of the two vectors;
//! - CIDEr-D: `Σ min(c, r) · r / (‖c‖ ‖r‖) · exp(−(l(c) − l(r))² / 2σ²)`, which penalises repeated words and different
//!   lengths;
//! - CIDEr-R: as CIDEr-D, but with `p^0.8 · exp(−(l(c) − l(r))² / l(r)²)^0.2` instead of the exponential, where p is
//!   the penalty of repeated words, so that it also works with long references and with few references.
//!
//! It is averaged over orders and references and multiplied by 10. The corpus score is the mean of the segment scores.
//!
//! Paper: Vedantam, Zitnick and Parikh, *CIDEr: Consensus-based Image Description Evaluation* (2015).
//! Reference programs: pycocoevalcap 1.2, `cider/cider_scorer.py` (its "CIDEr" is CIDEr-D), and
//! vrama91/cider for plain CIDEr. CIDEr-R: dos Santos, Colombini and Avila, *CIDEr-R: Robust
//! Consensus-based Image Description Evaluation* (2021), with gabrielsantosrv/coco-caption, `ciderR/`.
//!
//! Quirks kept on purpose, in the variants named after the programs:
//! - the length in the penalty is the number of bigrams, so captions without words are as long as those of one word;
//! - the term frequency is the plain count, which matters for CIDEr-D because of the minimum;
//! - the mean is always over N orders, so a perfect caption of one word scores 2.5, and of two words 5;
//! - with one image, every weight is `log 1 = 0`, and so is the score;
//! - vectors of norm 0 are not divided by it;
//! - CIDEr-R's lengths are the number of bigrams plus one, so captions without words are as long as those of one word.

use std::f64::consts::E;
use std::hint::black_box;
use std::sync::Arc;

use crate::frequencies::{DocumentFrequencies, Node};
use capeval_choice::{Argument, Code, Remedy};
use capeval_metric::{
    About, Explanation, Figures, Input, Learns, Mean, Metric, Notice, Part, Reading, References, Segment,
    Signature,
};
use capeval_text::ngrams::{MAX_ORDER, Repeats};
use capeval_text::{Stemmer, Symbol, Tokenizer};

use crate::repetition::{Repetition, WordParts};

mod events;
mod explain;
mod kinds;
mod rarity;

pub use self::events::{EventCorpus, EventNgrams};
pub use self::kinds::{CIDER, CIDER_D, CIDER_D_IN_PAPER, CIDER_IN_PAPER, CIDER_R, IDF, SIGMA};
use self::rarity::{Source, TranslatedTable, Weights};

/// The comparison of two vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clipping {
    /// CIDEr: the cosine.
    None,
    /// CIDEr-D: the candidate's elements are clipped to the reference's, and lengths are compared.
    Gaussian {
        /// The standard deviation of the length penalty; 6 in the reference program.
        sigma: f64,
    },
    /// CIDEr-R: elements are clipped as well; repetition and relative length are compared, each raised to a power.
    Robust {
        /// The power of the repetition penalty; 0.8 in the reference program.
        repetition: f64,
        /// The power of the length penalty; 0.2 in the reference program.
        length: f64,
    },
}

capeval_choice::named! {
    /// The term frequency in the elements of a vector.
    pub enum TermFrequency ("term frequency") {
        Count = "count", "the number of occurrences, as in the reference programs";
        Relative = "relative", "the number over that of all n-grams of the order, as in the paper";
    }
}

capeval_choice::named! {
    /// The unit of lengths in the length penalty.
    pub enum Length ("length") {
        Bigrams = "bigrams", "bigrams, as in the reference programs";
        Words = "words", "words, as in the paper";
    }
}

capeval_choice::named! {
    /// The source of document frequencies, by the name that users write.
    pub enum IdfSource ("source of document frequencies") {
        Corpus = "corpus", "the references of the images that are scored";
        Uniform = "uniform", "none: all n-grams have the same weight";
        Table = "table", "a saved table";
    }
}

/// The source of inverse document frequencies.
#[derive(Clone, Debug)]
pub enum Idf {
    /// The references of the images in the evaluation.
    Corpus,
    /// A saved table, so that scores on a few images are comparable with those on many.
    Table(Arc<DocumentFrequencies>),
    /// None: every n-gram has weight 1.
    Uniform,
}

/// CIDEr, CIDEr-D or CIDEr-R.
#[derive(Clone, Debug)]
pub struct Cider {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The stemmer, if any; the paper stems words, the reference programs do not.
    pub stemmer: Option<Stemmer>,
    order: usize,
    /// The comparison of vectors.
    pub clipping: Clipping,
    /// The term frequency in the elements of vectors.
    pub term_frequency: TermFrequency,
    /// The unit of lengths in the length penalty.
    pub length: Length,
    /// The source of document frequencies.
    pub idf: Idf,
    /// The weight of each order; `None` for the mean over all orders, as in the reference programs.
    weights: Option<Vec<f64>>,
}

impl Cider {
    /// CIDEr-D as in pycocoevalcap, whose tables call it CIDEr.
    pub fn d(tokenizer: Tokenizer) -> Self {
        Self {
            tokenizer,
            stemmer: None,
            order: 4,
            clipping: Clipping::Gaussian { sigma: 6.0 },
            term_frequency: TermFrequency::Count,
            length: Length::Bigrams,
            idf: Idf::Corpus,
            weights: None,
        }
    }

    /// CIDEr-D as the paper writes it: relative term frequencies, length in words.
    pub fn d_paper(tokenizer: Tokenizer) -> Self {
        Self { term_frequency: TermFrequency::Relative, length: Length::Words, ..Self::d(tokenizer) }
    }

    /// Plain CIDEr as in vrama91/cider: no stemming.
    pub fn plain(tokenizer: Tokenizer) -> Self {
        Self { clipping: Clipping::None, ..Self::d(tokenizer) }
    }

    /// Plain CIDEr as the paper describes it: words are stemmed, term frequencies relative.
    pub fn plain_paper(tokenizer: Tokenizer) -> Self {
        Self {
            stemmer: Some(Stemmer::English),
            term_frequency: TermFrequency::Relative,
            ..Self::plain(tokenizer)
        }
    }

    /// CIDEr-R as its authors compute it.
    pub fn r(tokenizer: Tokenizer) -> Self {
        Self { clipping: Clipping::Robust { repetition: 0.8, length: 0.2 }, ..Self::d(tokenizer) }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        (1..=MAX_ORDER).contains(&order).then_some(Self { order, ..self })
    }

    /// The length of the longest n-grams, in words.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Sets a weight for each order, whose sum is 1 in the paper; `None` unless there is one weight per order and none
    /// is negative.
    pub fn with_weights(self, weights: Vec<f64>) -> Option<Self> {
        let fits = weights.len() == self.order && weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        fits.then_some(Self { weights: Some(weights), ..self })
    }

    /// Its key, and its label in tables.
    fn names(&self) -> (&'static str, &'static str) {
        match (self.clipping, self.term_frequency) {
            (Clipping::None, TermFrequency::Count) => ("cider", "CIDEr"),
            (Clipping::None, TermFrequency::Relative) => ("cider-paper", "CIDEr (paper)"),
            (Clipping::Gaussian { .. }, TermFrequency::Count) => ("cider-d", "CIDEr-D (COCO's CIDEr)"),
            (Clipping::Gaussian { .. }, TermFrequency::Relative) => ("cider-d-paper", "CIDEr-D (paper)"),
            (Clipping::Robust { .. }, _) => ("cider-r", "CIDEr-R"),
        }
    }
}

/// Document frequencies, and the norms of all references.
pub struct Model {
    source: Source,
    weights: Weights,
    /// For each reference and order, the norm of its vector; 0 for references of images that take no part.
    norms: Arc<[f64]>,
    /// The words as CIDEr-R counts them.
    parts: WordParts,
    n_images: usize,
}

impl Metric for Cider {
    type Model = Model;
    type Stats = Mean;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let signature = {
            let Self { tokenizer, stemmer, order, clipping, term_frequency, length, idf, weights } = self;
            let mut signature = Signature::new(self.names().0).with("n", order);
            match clipping {
                Clipping::None => {}
                Clipping::Gaussian { sigma } => signature.push("sigma", sigma),
                Clipping::Robust { repetition, length } => {
                    signature.push("rep", repetition);
                    signature.push("lenpower", length);
                }
            }
            if *clipping != Clipping::None {
                signature.push("len", length);
            }
            let idf = match idf {
                Idf::Corpus => "corpus".to_owned(),
                Idf::Table(table) => format!("table({:016x},{})", table.fingerprint(), table.n_images()),
                Idf::Uniform => "uniform".to_owned(),
            };
            if let Some(weights) = weights {
                let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
                signature = signature.with("weights", weights.join("/"));
            }
            signature
                .with("tf", term_frequency)
                .with("idf", idf)
                .with("stem", stemmer.map_or("none", Stemmer::name))
                .with("tok", tokenizer)
        };
        let input = {
            let reading = match self.stemmer {
                None => Reading::Tokens(self.tokenizer),
                Some(stemmer) => Reading::Stems(self.tokenizer, stemmer),
            };
            Input::new(reading)
                .with_ngrams(self.order.max(2))
                .with_frequencies(matches!(self.idf, Idf::Corpus))
        };
        let columns = Mean::columns();
        let (key, label) = self.names();
        let parts = vec![Part::score(key, label, 0.0..=10.0)];
        About::new(signature, input, columns, parts).reading_texts(false).learns(match self.clipping {
            Clipping::None | Clipping::Gaussian { .. } => Learns::References,
            Clipping::Robust { .. } => Learns::Everything,
        })
    }

    fn fit(&self, references: &References<'_>) -> Model {
        let n_images = references.images.len();
        let (source, weights) = match &self.idf {
            Idf::Corpus => (Source::Corpus, Weights::over(n_images as u64)),
            Idf::Table(table) => {
                (Source::Table(TranslatedTable::new(table, references)), Weights::over(table.n_images()))
            }
            Idf::Uniform => (Source::Uniform, Weights::uniform()),
        };
        let parts = match self.clipping {
            Clipping::Robust { .. } => WordParts::new(references.vocabulary),
            Clipping::None | Clipping::Gaussian { .. } => WordParts::default(),
        };
        let mut model = Model { source, weights, norms: Arc::default(), parts, n_images };
        let known = self.name_of_norms().and_then(|name| references.figures(&name));
        let known = known.filter(|norms| norms.len() == references.sentences.len() * self.order);
        model.norms = known.cloned().unwrap_or_else(|| self.norms(&model, references));
        model
    }

    fn figures(&self, references: &References<'_>) -> Option<Figures> {
        Some(Figures { name: self.name_of_norms()?, values: self.fit(references).norms })
    }

    fn sign_model(&self, model: &Model, signature: &mut Signature) {
        signature.push("images", model.n_images);
    }

    fn notices(&self, model: &Model) -> Vec<Notice> {
        if model.n_images == 1 && matches!(self.idf, Idf::Corpus) {
            let (_, label) = self.names();
            vec![
                Notice::new(
                    Code::OneImage,
                    format!(
                        "{label} is 0 because the corpus has one image, so every n-gram weighs log 1 = 0"
                    ),
                )
                .remedy(
                    Remedy::give(Argument::DocumentFrequencies)
                        .to("take document frequencies from a saved table")
                        .or(Remedy::set(Argument::Idf, "uniform").to("weigh all n-grams alike")),
                ),
            ]
        } else {
            Vec::new()
        }
    }

    fn measure(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Mean {
        let n_references = segment.references.of(segment.image).len();
        if n_references == 0 {
            return Mean::of(0.0);
        }
        let norms = scratch.weigh(self, model, segment);
        let ngrams = segment.ngrams();
        let reference_norms = self.norms_of(model, segment);
        let mut similarities = [0.0; MAX_ORDER];
        for (r, words) in segment.reference_words().enumerate() {
            let counts = ngrams.reference_counts(r);
            let penalty = self.penalty(model, segment, words, scratch);
            for n in 0..self.order {
                let mut product = 0.0;
                for shared in &scratch.shared[scratch.bounds[n]..scratch.bounds[n + 1]] {
                    let count = counts[shared.ngram as usize];
                    if count > 0 {
                        let reference = self.tf(count, words.len(), n) * shared.idf;
                        let candidate = match self.clipping {
                            Clipping::None => shared.element,
                            Clipping::Gaussian { .. } | Clipping::Robust { .. } => {
                                shared.element.min(reference)
                            }
                        };
                        product += candidate * reference;
                    }
                }
                let reference_norm = reference_norms[r * self.order + n];
                if norms[n] != 0.0 && reference_norm != 0.0 {
                    product /= norms[n] * reference_norm;
                }
                if self.clipping != Clipping::None {
                    product *= penalty;
                }
                similarities[n] += product;
            }
        }
        let over_orders = match &self.weights {
            None => similarities[..self.order].iter().sum::<f64>() / self.order as f64,
            Some(weights) => weights.iter().zip(&similarities).map(|(w, s)| w * s).sum(),
        };
        Mean::of(over_orders / n_references as f64 * 10.0)
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values[0] = stats.value();
    }

    fn explain(&self, model: &Model, segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        self.explained(model, segment, scratch)
    }
}

impl Cider {
    /// The factor for length and repetition in the similarity with the reference `words`.
    fn penalty(&self, model: &Model, segment: &Segment<'_>, words: &[Symbol], scratch: &mut Scratch) -> f64 {
        let length = self.length_of(segment.words.len());
        match self.clipping {
            Clipping::None => 1.0,
            Clipping::Gaussian { sigma } => {
                let delta = length - self.length_of(words.len());
                scratch.penalty(delta, sigma)
            }
            Clipping::Robust { repetition, length: power } => {
                let repeated = scratch.repetition.penalty(&model.parts, segment.words, words);
                let reference = self.length_of(words.len()) + 1.0;
                let delta = length + 1.0 - reference;
                let lengths = f64::powf(black_box(E), -delta.powi(2) / reference.powi(2));
                repeated.powf(repetition) * lengths.powf(power)
            }
        }
    }

    fn length_of(&self, n_words: usize) -> f64 {
        match self.length {
            Length::Words => n_words as f64,
            Length::Bigrams if self.order < 2 => 0.0,
            Length::Bigrams => n_words.saturating_sub(1) as f64,
        }
    }

    /// The term frequency of an n-gram of order `n` (from 0) that occurs `count` times in a caption of `n_words` words.
    fn tf(&self, count: u32, n_words: usize, n: usize) -> f64 {
        match self.term_frequency {
            TermFrequency::Count => f64::from(count),
            TermFrequency::Relative => f64::from(count) / n_words.saturating_sub(n).max(1) as f64,
        }
    }

    /// The name of the document frequencies on which the norms of references depend, if they are no table.
    fn name_of_norms(&self) -> Option<String> {
        let Self { order, term_frequency, .. } = self;
        matches!(self.idf, Idf::Corpus).then(|| format!("norms n={order} tf={term_frequency}"))
    }

    /// The norms of the references of a segment, one for each order.
    fn norms_of<'m>(&self, model: &'m Model, segment: &Segment<'_>) -> &'m [f64] {
        let references = segment.references.of(segment.image);
        &model.norms[references.start * self.order..references.end * self.order]
    }

    fn norms(&self, model: &Model, references: &References<'_>) -> Arc<[f64]> {
        let lists = references.reference_lists();
        let by_shard = lists.by_shard(|(repeats, images): &mut (Repeats, Vec<u32>), shard, of_shard| {
            let mut count = model.source.counter(references, shard);
            let mut norms = Vec::new();
            for words in of_shard.iter().flat_map(|(list, _)| lists.of_list(*list)) {
                count(words, images);
                norms.extend_from_slice(
                    &self.norms_of_text(words, images, &model.weights, repeats)[..self.order],
                );
            }
            (of_shard.iter().map(|(list, _)| *list).collect::<Vec<u32>>(), norms)
        });
        let n = references.sentences.len() * self.order;
        let mut all: Arc<[f64]> = std::iter::repeat_n(0.0, n).collect();
        let norms_of_all = Arc::make_mut(&mut all);
        for (lists, norms) in &by_shard {
            let mut norms = &norms[..];
            for list in lists {
                let place = references.of_list(*list as usize);
                let (own, later) = norms.split_at(place.len() * self.order);
                norms_of_all[place.start * self.order..place.end * self.order].copy_from_slice(own);
                norms = later;
            }
        }
        all
    }

    /// The norms of a text, one for each order, summed in order of first appearance. `images` has the number of images
    /// of the n-gram at each place: of all words, then of all bigrams, and so on.
    fn norms_of_text(
        &self,
        words: &[Symbol],
        images: &[u32],
        weights: &Weights,
        repeats: &mut Repeats,
    ) -> [f64; MAX_ORDER] {
        let mut starts = [0; MAX_ORDER];
        for n in 1..self.order {
            starts[n] = starts[n - 1] + (words.len() + 1).saturating_sub(n);
        }
        let mut norms = [0.0; MAX_ORDER];
        repeats.each(words, self.order, |n, place, count| {
            let tf = self.tf(count, words.len(), n);
            norms[n] += weights.element(tf, images[starts[n] + place]).1;
        });
        norms.map(f64::sqrt)
    }
}

/// Buffers of [`Cider`].
#[derive(Default)]
pub struct Scratch {
    /// The candidate's n-grams that occur in a reference of the image.
    shared: Vec<SharedNgram>,
    /// The start of each order in `shared`.
    bounds: Vec<usize>,
    /// The candidate's n-grams that are in a saved table.
    nodes: Vec<Option<Node>>,
    repetition: Repetition,
    /// Length penalties by difference, for one σ.
    penalties: Vec<f64>,
}

#[derive(Clone, Copy)]
struct SharedNgram {
    ngram: u32,
    /// The number of images in which it occurs; 0 if all n-grams have the same weight.
    images: u32,
    idf: f64,
    element: f64,
}

impl Scratch {
    /// Weights the candidate's n-grams; returns the norms of its vectors.
    fn weigh(&mut self, cider: &Cider, model: &Model, segment: &Segment<'_>) -> [f64; MAX_ORDER] {
        let ngrams = segment.ngrams();
        self.shared.clear();
        self.nodes.clear();
        self.bounds.clear();
        self.bounds.push(0);
        let mut norms = [0.0; MAX_ORDER];
        for (n, norm) in norms.iter_mut().enumerate().take(cider.order) {
            let mut sum = 0.0;
            for (k, ngram) in ngrams.range(n).zip(ngrams.order(n)) {
                let df = match &model.source {
                    // A stored table does not list n-grams of one image.
                    Source::Corpus => ngram.images.max(u32::from(ngram.is_shared)),
                    Source::Table(tabled) => {
                        let found = tabled.find(ngram.prefix, ngram.symbol, &self.nodes);
                        self.nodes.push(found.map(|(node, _)| node));
                        found.map_or(0, |(_, df)| df)
                    }
                    Source::Uniform => 0,
                };
                let tf = cider.tf(ngram.count, segment.words.len(), n);
                let (element, square) = model.weights.element(tf, df);
                sum += square;
                if ngram.is_shared {
                    let idf = model.weights.of(df).0;
                    self.shared.push(SharedNgram { ngram: k as u32, images: df, idf, element });
                }
            }
            *norm = f64::sqrt(sum);
            self.bounds.push(self.shared.len());
        }
        norms
    }

    /// `e^(−Δ² / 2σ²)`, computed as a power of e as in the reference program.
    fn penalty(&mut self, delta: f64, sigma: f64) -> f64 {
        let compute = |delta: f64| f64::powf(black_box(E), -delta.powi(2) / (2.0 * sigma.powi(2)));
        let at = delta.abs() as usize;
        if at >= 256 {
            return compute(delta);
        }
        if self.penalties.is_empty() {
            self.penalties = (0..256).map(|delta| compute(f64::from(delta))).collect();
        }
        self.penalties[at]
    }
}
