//! Explains a score by the alignment with the best reference and every factor down to the counts.

use std::ops::Range;

use capeval_metric::{Explanation, Match, Rule, Step};

use crate::meteor::{Alignment, Meteor};
use crate::options::Parameters;
use crate::stats::{MatcherStats, Stats};

const LENGTH: Rule = Rule::new("δ (n − f) + (1 − δ) f", |parts| match parts {
    [n, f, delta] => delta * (n - f) + (1.0 - delta) * f,
    _ => 0.0,
});
const MATCHED: Rule = Rule::new("w (δ c + (1 − δ) f)", |parts| match parts {
    [c, f, w, delta] => w * (delta * c + (1.0 - delta) * f),
    _ => 0.0,
});
const F_MEAN: Rule = Rule::new("1 / ((1 − α) / P + α / R)", |parts| match parts {
    [p, r, alpha] if *p > 0.0 && *r > 0.0 => 1.0 / ((1.0 - alpha) / p + alpha / r),
    _ => 0.0,
});
const FRAGMENTATION: Rule = Rule::new("chunks / half the matched words of both sides", |parts| match parts {
    [chunks, hypothesis, reference] if hypothesis + reference > 0.0 => {
        chunks / ((hypothesis + reference) / 2.0)
    }
    _ => 0.0,
});
const PENALTY: Rule = Rule::new("γ · fragmentation ^ β", |parts| match parts {
    [fragmentation, gamma, beta] => gamma * fragmentation.powf(*beta),
    _ => 0.0,
});
const KEPT: Rule = Rule::new("1 − penalty", |parts| match parts {
    [penalty] => 1.0 - penalty,
    _ => 0.0,
});

/// Replaces NaN and infinity by 0: METEOR scores such segments 0.
fn number(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

impl Meteor {
    /// The tree of numbers that make up the score of `alignment`.
    ///
    /// Score = F mean × (1 − penalty), and so on down to counted words; see [`score`](crate::score).
    pub fn explain(&self, alignment: Alignment) -> Explanation {
        let stats = &alignment.segment.stats;
        let score = self.score(stats);
        let Parameters { alpha, beta, gamma, delta: _ } = self.options().parameters;
        let precision = self.side("precision", stats, number(score.precision), |m| {
            (m.hypothesis_content, m.hypothesis_function)
        });
        let recall =
            self.side("recall", stats, number(score.recall), |m| (m.reference_content, m.reference_function));
        let f_mean =
            Step::of("F mean", number(score.fmean), F_MEAN, vec![precision, recall, Step::given("α", alpha)]);
        let mut chunks = Step::given("penalised chunks", stats.penalized_chunks);
        if stats.penalized_chunks < stats.chunks {
            chunks = chunks.noted("all words of both sides match in one chunk, which is not penalised");
        }
        let fragmentation = Step::of(
            "fragmentation",
            number(score.fragmentation),
            FRAGMENTATION,
            vec![
                chunks,
                Step::given("matched words of the candidate", stats.hypothesis_matched),
                Step::given("matched words of the reference", stats.reference_matched),
            ],
        );
        let penalty = number(score.penalty);
        let parts = vec![fragmentation, Step::given("γ", gamma), Step::given("β", beta)];
        let penalty = Step::of("penalty", penalty, PENALTY, parts);
        let kept = Step::of("1 − penalty", 1.0 - penalty.value.unwrap_or(0.0), KEPT, vec![penalty]);
        let mut parts = vec![f_mean, kept];
        parts.extend(details(&alignment));
        let mut root = Step::of("METEOR", alignment.segment.score, Rule::PRODUCT, parts);
        root.note = match (alignment.segment.reference, alignment.references.len()) {
            (Some(best), n) if n > 1 => Some(format!("reference {} of {n} scores best", best + 1)),
            (Some(_), _) => None,
            (None, _) => Some("there is no reference".to_owned()),
        };
        let Alignment { hypothesis, references, .. } = alignment;
        Explanation { candidate: hypothesis, references, scores: vec![root] }
    }

    /// Precision or recall: matched words divided by all words, with content words weighted by delta.
    fn side(
        &self,
        title: &str,
        stats: &Stats,
        value: f64,
        counts: impl Fn(&MatcherStats) -> (f64, f64),
    ) -> Step {
        let delta = self.options().parameters.delta;
        let per_matcher = self.options().matchers.iter().zip(&self.options().weights).zip(&stats.matches);
        let matched: Vec<Step> = per_matcher
            .filter(|(_, m)| counts(m) != (0.0, 0.0))
            .map(|((matcher, weight), m)| {
                let (content, function) = counts(m);
                let value = weight * (delta * content + (1.0 - delta) * function);
                let parts = vec![
                    Step::given("content words", content),
                    Step::given("function words", function),
                    Step::given("weight", *weight),
                    Step::given("δ", delta),
                ];
                Step::of(matcher.name(), value, MATCHED, parts)
            })
            .collect();
        let sum = matched.iter().filter_map(|step| step.value).sum();
        let (words, function) = match title {
            "precision" => (stats.hypothesis_len, stats.hypothesis_function),
            _ => (stats.reference_len, stats.reference_function),
        };
        let length = delta * (words - function) + (1.0 - delta) * function;
        let length = Step::of(
            "weighted length",
            length,
            LENGTH,
            vec![
                Step::given("words", words),
                Step::given("function words", function),
                Step::given("δ", delta),
            ],
        );
        let matched = Step::of("weighted matches", sum, Rule::SUM, matched);
        Step::of(title, value, Rule::QUOTIENT, vec![matched, length])
    }
}

/// The alignment by chunks, and the scores of all references, as information only.
fn details(alignment: &Alignment) -> Vec<Step> {
    let Some(best) = alignment.segment.reference else { return Vec::new() };
    let words = |sentence: &[String], at: &Range<usize>| {
        sentence.get(at.clone()).map_or_else(String::new, |words| words.join(" "))
    };
    let mut chunks: Vec<Step> = Vec::new();
    for found in &alignment.matches {
        let (ours, theirs) = (
            words(&alignment.hypothesis, &found.hypothesis),
            words(&alignment.references[best], &found.reference),
        );
        let matched = Match {
            matcher: found.matcher.name(),
            candidate: found.hypothesis.clone().collect(),
            references: vec![(best, found.reference.clone().collect())],
        };
        let step = Step::heading(format!("{ours} ~ {theirs}"), Vec::new())
            .noted(found.matcher.name())
            .matched(matched);
        if chunks.len() <= found.chunk {
            chunks.push(Step::heading(format!("chunk {}", found.chunk + 1), Vec::new()));
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.parts.push(step);
        }
    }
    let mut details = vec![Step::heading(format!("alignment with reference {}", best + 1), chunks)];
    if alignment.scores.len() > 1 {
        let scores = alignment.scores.iter().enumerate();
        let scores = scores.map(|(k, score)| {
            Step::heading(format!("reference {}", k + 1), Vec::new()).fact("METEOR", *score)
        });
        details.push(Step::heading("all references", scores.collect()));
    }
    details
}
