//! METEOR with its options and resources, and the workspace for scoring segments.

use capeval_choice::{Refusal, Remedy};
use std::sync::Arc;

use capeval_text::Symbol;

use crate::align::{AlignedPhrase, Aligner, Plan};
use crate::bound::{Prospects, ScoreBound};
use crate::normalize::NormalizerTables;
use crate::options::{Matcher, Options, Unit};
use crate::resources::Resources;
use crate::sentence::{Bars, Reader, ReaderSpace, Sentence, SentenceList};
use crate::stats::{self, MatcherStats, Score, Stats};
use crate::vocabulary::{Dictionaries, Vocabulary};

/// METEOR 1.5 with its settings and resources; shared by all threads.
///
/// The head of `metric.rs` lists the quirks that it copies from the original program on purpose.
#[derive(Debug)]
pub struct Meteor {
    options: Options,
    resources: Arc<Resources>,
    dictionaries: Dictionaries,
    tables: NormalizerTables,
    plan: Plan,
    bound: ScoreBound,
}

/// The result of one segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The counts for the best reference.
    pub stats: Stats,
    /// The score computed from these counts.
    pub score: f64,
    /// The index of the best reference, from 0; the first of equally good ones. `None` without references.
    pub reference: Option<usize>,
}

/// The sentences of a segment as tokenised by METEOR, and the alignment with the best reference.
#[derive(Clone, Debug)]
pub struct Alignment {
    /// The words of the hypothesis.
    pub hypothesis: Vec<String>,
    /// The words of each reference.
    pub references: Vec<Vec<String>>,
    /// The score with each reference.
    pub scores: Vec<f64>,
    /// The counts and the score of the best reference.
    pub segment: Segment,
    /// The matches, in order of position in the best reference.
    pub matches: Vec<AlignedPhrase>,
}

/// A thread's caches of words and phrases, and its buffers for scoring segments.
#[derive(Default)]
pub struct Workspace {
    reader: ReaderSpace,
    vocabulary: Vocabulary,
    aligner: Aligner,
    sentences: SentenceList,
}

impl Meteor {
    /// Combines settings and resources.
    pub fn new(options: Options, resources: Arc<Resources>) -> Result<Self, Refusal> {
        options.validate()?;
        let language = options.language;
        for matcher in &options.matchers {
            let has = match matcher {
                Matcher::Exact => true,
                Matcher::Stem => language.stemmer().is_some() || resources.stem_table(language).is_some(),
                Matcher::Synonym => resources.lexicon(language).is_some(),
                Matcher::Paraphrase => resources.paraphrases(language).is_some(),
            };
            if !has {
                let message = format!(
                    "the installed METEOR resources have no data for the matcher {matcher} in language {language}"
                );
                let leave_out = Remedy::say("leave the matcher out, as in match=exact=1+stem=0.5");
                let install =
                    || Remedy::say(format!("install from a folder whose data/ has paraphrase-{language}.gz"));
                return Err(Refusal::new(message).with_remedy(match matcher {
                    Matcher::Paraphrase => leave_out.or(install()),
                    _ => leave_out,
                }));
            }
        }
        let dictionaries = Dictionaries::new(&resources, &options);
        let tables = NormalizerTables::new(&resources, language);
        let weights = &options.weights;
        let mut ranks: Vec<u8> = (0..weights.len() as u8).collect();
        ranks.sort_by(|a, b| weights[usize::from(*b)].total_cmp(&weights[usize::from(*a)]));
        let bound = ScoreBound::new(options.parameters, weights, &ranks);
        let plan = Plan { matchers: options.matchers.clone(), ranks, beam: options.beam };
        Ok(Self { options, resources, dictionaries, tables, plan, bound })
    }

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The resources.
    pub fn resources(&self) -> &Arc<Resources> {
        &self.resources
    }

    fn reader(&self) -> Reader<'_> {
        Reader {
            resources: &self.resources,
            dictionaries: &self.dictionaries,
            tables: &self.tables,
            text: self.options.text,
            unit: self.options.unit,
        }
    }

    /// The score for the counts of one segment, or for the sum of the rows of many.
    pub fn score(&self, stats: &Stats) -> Score {
        stats::score(stats, &self.options.parameters, &self.options.weights)
    }

    /// Scores `hypothesis` with each of its references and returns the best result.
    pub fn segment<'t>(
        &self,
        workspace: &mut Workspace,
        hypothesis: &str,
        references: impl IntoIterator<Item = &'t str>,
    ) -> Segment {
        let Workspace { reader: space, vocabulary, aligner, sentences } = workspace;
        let reader = self.reader();
        sentences.clear();
        reader.push(space, vocabulary, sentences, hypothesis);
        for reference in references {
            reader.push(space, vocabulary, sentences, reference);
        }
        self.best(vocabulary, aligner, sentences)
    }

    /// As [`segment`](Self::segment), but returns the alignment behind the score, for display; slower.
    pub fn alignment<'t>(
        &self,
        workspace: &mut Workspace,
        hypothesis: &str,
        references: impl IntoIterator<Item = &'t str>,
    ) -> Alignment {
        let segment = self.segment(workspace, hypothesis, references);
        self.align_again(workspace, segment)
    }

    /// The alignment of `segment`, which was scored last with `workspace`.
    pub(crate) fn align_again(&self, workspace: &mut Workspace, segment: Segment) -> Alignment {
        let Workspace { vocabulary, aligner, sentences, .. } = workspace;
        let hypothesis = sentences.get(0);
        let mut scores = Vec::new();
        let mut matches = Vec::new();
        for index in 1..sentences.len() {
            let reference = sentences.get(index);
            let stats = self.pair(vocabulary, aligner, index - 1, (&hypothesis, &reference));
            scores.push(self.score(&stats).score);
            if segment.reference == Some(index - 1) {
                matches = aligner.aligned(&self.options.matchers);
            }
        }
        let spell = |index| {
            let words = sentences.get(index).words;
            words.iter().map(|word| vocabulary.text(*word).to_owned()).collect()
        };
        Alignment {
            hypothesis: spell(0),
            references: (1..sentences.len()).map(spell).collect(),
            scores,
            segment,
            matches,
        }
    }

    /// As [`segment`](Self::segment), for text tokenised as in pycocoevalcap: `|||` is removed from the
    /// hypothesis and divides a reference into several.
    ///
    /// `generation` must change whenever the meaning of the symbols changes.
    pub(crate) fn symbols<'s>(
        &self,
        workspace: &mut Workspace,
        (symbols, generation): (&capeval_text::Vocabulary, u64),
        hypothesis: &[Symbol],
        references: impl IntoIterator<Item = &'s [Symbol]>,
    ) -> Segment {
        let Workspace { reader: space, vocabulary, aligner, sentences } = workspace;
        let reader = self.reader();
        space.use_symbols(generation, symbols.len());
        sentences.clear();
        reader.push_pieces(space, vocabulary, sentences, (hypothesis, symbols), Bars::Vanish);
        for reference in references {
            reader.push_pieces(space, vocabulary, sentences, (reference, symbols), Bars::Divide);
        }
        self.best(vocabulary, aligner, sentences)
    }

    /// Scores the first sentence with each of the others.
    ///
    /// The most promising reference goes first, so that the bounds of the others avoid more searches.
    fn best(&self, vocabulary: &Vocabulary, aligner: &mut Aligner, sentences: &SentenceList) -> Segment {
        let hypothesis = sentences.get(0);
        aligner.set_hypothesis(vocabulary, sentences);
        let mut best = Segment { stats: Stats::default(), score: -1.0, reference: None };
        let mut order = std::mem::take(&mut aligner.order);
        order.clear();
        for index in 1..sentences.len() {
            let reference = sentences.get(index);
            let prospects = aligner.find(vocabulary, &self.plan, &reference);
            let only = sentences.len() == 2;
            let bound = if only { f64::INFINITY } else { self.bound(prospects, &hypothesis, &reference) };
            order.push((bound, index));
        }
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (bound, index) in &order {
            if *bound <= best.score {
                continue;
            }
            let reference = sentences.get(*index);
            let stats = self.pair(vocabulary, aligner, index - 1, (&hypothesis, &reference));
            let score = self.score(&stats).score;
            let is_first = best.reference.is_none_or(|known| *index - 1 < known);
            if score > best.score || score == best.score && is_first {
                best = Segment { stats, score, reference: Some(index - 1) };
            }
        }
        aligner.order = order;
        best.score = best.score.max(0.0);
        best
    }

    /// An upper bound on the score of the reference whose matches were found last.
    fn bound(
        &self,
        prospects: Option<Prospects>,
        hypothesis: &Sentence<'_>,
        reference: &Sentence<'_>,
    ) -> f64 {
        let Some(prospects) = prospects.filter(|_| self.options.unit == Unit::Words) else {
            return f64::INFINITY;
        };
        let delta = self.options.parameters.delta;
        let length = |sentence: &Sentence<'_>| {
            delta * f64::from(sentence.length - sentence.function)
                + (1.0 - delta) * f64::from(sentence.function)
        };
        self.bound.score(&prospects, (length(hypothesis), length(reference)))
    }

    /// The counts for the hypothesis and reference `number`, whose matches have been found.
    fn pair(
        &self,
        vocabulary: &Vocabulary,
        aligner: &mut Aligner,
        number: usize,
        (hypothesis, reference): (&Sentence<'_>, &Sentence<'_>),
    ) -> Stats {
        let alignment = aligner.align(vocabulary, &self.plan, number, reference);
        let mut stats = Stats {
            hypothesis_len: f64::from(hypothesis.length),
            reference_len: f64::from(reference.length),
            hypothesis_function: f64::from(hypothesis.function),
            reference_function: f64::from(reference.function),
            chunks: f64::from(alignment.chunks),
            ..Stats::default()
        };
        for found in alignment.matches {
            let MatcherStats {
                hypothesis_content,
                reference_content,
                hypothesis_function,
                reference_function,
            } = &mut stats.matches[usize::from(found.module)];
            let sides = [
                (hypothesis, found.hypothesis, found.hypothesis_len, hypothesis_content, hypothesis_function),
                (reference, found.reference, found.reference_len, reference_content, reference_function),
            ];
            for (sentence, start, len, content, function) in sides {
                for word in &sentence.words[start as usize..(start + len) as usize] {
                    let facts = vocabulary.word(*word);
                    let size = if self.options.unit == Unit::Words { 1.0 } else { f64::from(facts.length) };
                    *(if facts.is_function { &mut *function } else { &mut *content }) += size;
                }
            }
            stats.hypothesis_matched += f64::from(found.hypothesis_len);
            stats.reference_matched += f64::from(found.reference_len);
        }
        stats.with_penalized_chunks()
    }
}
