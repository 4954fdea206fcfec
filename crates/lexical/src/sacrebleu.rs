//! BLEU as sacreBLEU computes it.
//!
//! Rewards n-grams that the references also contain, as the COCO evaluation's [`Bleu`] does, with the same counts; but
//! it uses sacreBLEU's tokenizers and smooths orders without a match, its only score is BLEU-N, and it ranges from 0 to
//! 100.
//!
//! With precisions `p_n = 100 · matches_n / totals_n` and the brevity penalty
//! `b = exp(1 − reference length / candidate length)` for corpora that are too short, the score is
//! `b · exp(Σ_n log p_n / N)`.
//!
//! Papers: Papineni et al., *BLEU: a Method for Automatic Evaluation of Machine Translation* (2002); Post,
//! *A Call for Clarity in Reporting BLEU Scores* (2018); Chen and Cherry, *A Systematic Comparison of
//! Smoothing Techniques for Sentence-Level BLEU* (2014). Reference program: sacreBLEU 2.6.0,
//! `metrics/bleu.py`.
//!
//! Quirks kept on purpose:
//! - without any match, the score is 0 for every kind of smoothing;
//! - if the candidates have no n-gram of an order, the product ends: with effective order, the orders before it count,
//!   otherwise the score is 0;
//! - smoothing by `add-k` does not change the counts of single words;
//! - an empty reference is a reference of length 0, so it may be the closest one; only a missing reference does not
//!   count.

use capeval_choice::Remedy;
use capeval_metric::setting::{ORDER, POSITIVE, TOK};
use capeval_metric::{
    About, AnyMetric, Explanation, Input, Metric, MetricKind, Part, Reading, References, Rule, Segment,
    Setting, Signature, Step,
};
use capeval_text::Tokenizer;

use crate::bleu::{Bleu, Counts};
use crate::explain::clipped;

capeval_choice::named! {
    /// The smoothing of orders without a match.
    pub enum Smoothing ("smoothing") {
        None = "none", "nothing: the score is 0";
        Floor = "floor", "it gets 0.1 matches, or the given number";
        AddK = "add-k", "all orders but the first get 1 more match and n-gram, or the given number";
        Exp = "exp", "the k-th such order gets 2^-k matches, as in NIST's mteval";
    }
}

impl Smoothing {
    /// The default number of matches that the reference program smooths by; `None` if there is none.
    fn usual(self) -> Option<f64> {
        match self {
            Self::Floor => Some(0.1),
            Self::AddK => Some(1.0),
            Self::None | Self::Exp => None,
        }
    }
}

capeval_choice::named! {
    /// The choice to leave orders longer than the candidate out of the mean.
    pub enum EffectiveOrder ("effective order") {
        Never = "no", "never";
        Segments = "segments", "in segment scores only, as the reference program recommends and its command line does";
        Always = "yes", "in segment and in corpus scores";
    }
}

capeval_choice::named! {
    /// The treatment of upper and lower case.
    pub enum Case ("case") {
        Mixed = "mixed", "they do";
        Lower = "lc", "text is lower-cased before it is cut";
    }
}

impl Case {
    /// The setting, which several metrics have.
    pub(crate) const SETTING: Setting =
        Setting::choice("case", "mixed", "keep the case of letters, or lower-case them", Self::NAMES);
}

/// The entry of sacreBLEU's BLEU in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "sacrebleu",
    summary: "BLEU as sacreBLEU reports it, from 0 to 100",
    paper: "Post 2018, A Call for Clarity in Reporting BLEU Scores",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { default: "13a", ..TOK },
        ORDER,
        Case::SETTING,
        Setting::choice("smooth", "exp", "smoothing of precisions without a match", Smoothing::NAMES),
        Setting::number("by", "usual", "value for floor or add-k, usually 0.1 and 1", POSITIVE),
        Setting::choice("eff", "segments", "leave out n-grams longer than the text", EffectiveOrder::NAMES),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build: |settings| {
        let bleu = settings.order(SacreBleu::new(settings.tokenizer()?), SacreBleu::with_order)?;
        let (smoothing, by) = (settings.get::<Smoothing>("smooth")?, settings.beside_default("by")?);
        if by.is_some() && smoothing.usual().is_none() {
            return Err(settings
                .error(format!("by is of no use with smooth={smoothing}"))
                .with_remedy(Remedy::say("set smooth=floor or smooth=add-k")));
        }
        let (case, effective_order) = (settings.get("case")?, settings.get("eff")?);
        Ok(AnyMetric::new(SacreBleu { case, smoothing, by, effective_order, ..bleu }))
    },
};

/// sacreBLEU's BLEU.
#[derive(Clone, Debug, PartialEq)]
pub struct SacreBleu {
    /// The counter of n-grams.
    counter: Bleu,
    order: usize,
    /// The treatment of upper and lower case.
    pub case: Case,
    /// The smoothing of orders without a match.
    pub smoothing: Smoothing,
    /// The value to smooth by, instead of the reference program's 0.1 for `floor` and 1 for `add-k`.
    pub by: Option<f64>,
    /// The choice to leave orders longer than the candidate out of the mean.
    pub effective_order: EffectiveOrder,
}

impl SacreBleu {
    /// As in sacreBLEU: four orders, `exp` smoothing, case kept. sacreBLEU's default tokenizer is [`Tokenizer::V13a`],
    /// and [`Tokenizer::Zh`] for Chinese.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self {
            counter: Bleu::coco(tokenizer),
            order: 4,
            case: Case::Mixed,
            smoothing: Smoothing::Exp,
            by: None,
            effective_order: EffectiveOrder::Segments,
        }
    }

    /// Sets the length of the longest n-grams; `None` unless it is 1 to 9.
    pub fn with_order(self, order: usize) -> Option<Self> {
        let counter = self.counter.with_order(order)?;
        Some(Self { counter, order, ..self })
    }

    fn value(&self, counts: &Counts, effective: bool) -> f64 {
        if counts.matches[..self.order].iter().all(|matches| *matches == 0.0) {
            return 0.0;
        }
        let (precisions, used) = self.precisions(counts, effective);
        let logs: f64 = precisions[..used].iter().map(|p| p.ln()).sum();
        brevity(counts) * (logs / used as f64).exp()
    }

    /// The smoothed precisions, and the number of those that count.
    fn precisions(
        &self,
        counts: &Counts,
        effective: bool,
    ) -> ([f64; capeval_text::ngrams::MAX_ORDER], usize) {
        let mut precisions = [0.0; capeval_text::ngrams::MAX_ORDER];
        let by = self.by.or(self.smoothing.usual()).unwrap_or_default();
        let mut smoothed = 1.0;
        let mut used = self.order;
        for (n, precision) in precisions.iter_mut().enumerate().take(self.order) {
            let (mut matches, mut total) = (counts.matches[n], counts.totals[n]);
            if self.smoothing == Smoothing::AddK && n > 0 {
                matches += by;
                total += by;
            }
            if total == 0.0 {
                break;
            }
            if effective {
                used = n + 1;
            }
            *precision = match self.smoothing {
                _ if matches > 0.0 => 100.0 * matches / total,
                Smoothing::Exp => {
                    smoothed *= 2.0;
                    100.0 / (smoothed * total)
                }
                Smoothing::Floor => 100.0 * by / total,
                Smoothing::None | Smoothing::AddK => 0.0,
            };
        }
        (precisions, used)
    }
}

/// The brevity penalty.
fn brevity(counts: &Counts) -> f64 {
    let (candidate, reference) = (counts.candidate_length, counts.reference_length);
    if candidate < reference { (1.0 - reference / candidate).exp() } else { 1.0 }
}

impl Metric for SacreBleu {
    type Model = ();
    type Stats = Counts;
    type Scratch = ();

    fn about(&self) -> About {
        let signature = {
            let Self { counter: Bleu { tokenizer, .. }, order, case, smoothing, by, effective_order } = self;
            let signature = Signature::new("sacrebleu")
                .with("n", order)
                .with("case", case.name())
                .with("eff", effective_order.name())
                .with("smooth", smoothing.name());
            match smoothing.usual() {
                Some(usual) => signature.with("by", by.unwrap_or(usual)),
                None => signature,
            }
            .with("tok", tokenizer)
        };
        let input = {
            let tokenizer = self.counter.tokenizer;
            let reading = match self.case {
                Case::Mixed => Reading::Tokens(tokenizer),
                Case::Lower => Reading::LowerTokens(tokenizer),
            };
            Input::new(reading).with_ngrams(self.order)
        };
        let columns = self.counter.about().columns;
        let parts = vec![Part::score("sacrebleu", "sacreBLEU", 0.0..=100.0)];
        About::new(signature, input, columns, parts).reading_texts(false)
    }

    fn fit(&self, _references: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Counts {
        Metric::measure(&self.counter, &(), segment, &mut ())
    }

    fn score(&self, counts: &Counts, values: &mut [f64]) {
        values[0] = self.value(counts, self.effective_order == EffectiveOrder::Always);
    }

    fn score_segment(&self, counts: &Counts, values: &mut [f64]) {
        values[0] = self.value(counts, self.effective_order != EffectiveOrder::Never);
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Explanation {
        let counts = self.measure(&(), segment, &mut ());
        let effective = self.effective_order != EffectiveOrder::Never;
        let value = self.value(&counts, effective);
        let (precisions, used) = self.precisions(&counts, effective);
        let precisions = precisions[..used].iter().enumerate().map(|(n, precision)| {
            let step = Step::given(format!("precision of {}-grams", n + 1), *precision)
                .fact("matches", counts.matches[n])
                .fact("in the candidate", counts.totals[n]);
            let plain =
                if counts.totals[n] > 0.0 { 100.0 * counts.matches[n] / counts.totals[n] } else { 0.0 };
            let step = Step { parts: vec![Step::heading("matches", clipped(segment, n))], ..step };
            if (plain - precision).abs() > 1e-9 { step.noted("smoothed") } else { step }
        });
        let precisions: Vec<Step> = precisions.collect();
        let values: Vec<f64> = precisions.iter().filter_map(|step| step.value).collect();
        let mean = Step::of("geometric mean of the precisions", (MEAN.of)(&values), MEAN, precisions);
        let lengths = vec![
            Step::given("words in the candidate", counts.candidate_length),
            Step::given("words in the closest reference", counts.reference_length),
        ];
        let penalty = Step::of("brevity penalty", brevity(&counts), BREVITY, lengths);
        let step = if counts.matches[..self.order].iter().all(|matches| *matches == 0.0) {
            let step = Step::given("sacreBLEU", value).noted("there is no match, so the score is 0");
            Step { parts: vec![penalty], ..step }
        } else {
            Step::of("sacreBLEU", value, Rule::PRODUCT, vec![mean, penalty])
        };
        Explanation { scores: vec![step], ..Explanation::over_words(segment) }
    }
}

const MEAN: Rule = Rule::new("exp of the mean logarithm", |parts| {
    let logs: f64 = parts.iter().map(|part| part.ln()).sum();
    (logs / parts.len().max(1) as f64).exp()
});
const BREVITY: Rule = Rule::new("exp(1 − reference / candidate), at most 1", |parts| match parts {
    [candidate, reference] if candidate < reference => (1.0 - reference / candidate).exp(),
    _ => 1.0,
});

/// The signature of [`SacreBleu`], [`Chrf`](crate::Chrf) or [`Ter`](crate::Ter) as sacreBLEU 2.6.0 writes it, for a
/// corpus with `n_references` references per segment, or with varying numbers of references for `None`.
///
/// It is less complete than capeval's signature: the longest n-grams of BLEU and the β of chrF are missing, and it is
/// that of the corpus score, which differs from that of segment scores in BLEU's effective order. Returns `None` for
/// other metrics, and for tokenizers that sacreBLEU does not have.
pub fn sacrebleu_signature(signature: &Signature, n_references: Option<usize>) -> Option<String> {
    let get = |name: &str| signature.get(name);
    let settings = match signature.metric() {
        "sacrebleu" => {
            let tokenizer = match get("tok")? {
                "ja-mecab" => "ja-mecab-0.996-IPA",
                "ko-mecab" => "ko-mecab-0.996/ko-0.9.2-KO",
                same @ ("13a" | "intl" | "zh" | "char" | "none") => same,
                _ => return None,
            };
            let effective = if get("eff")? == "yes" { "yes" } else { "no" };
            let by = match get("by") {
                Some(value) => format!("[{:.2}]", value.parse::<f64>().ok()?),
                None => String::new(),
            };
            let (case, smooth) = (get("case")?, get("smooth")?);
            format!("case:{case}|eff:{effective}|tok:{tokenizer}|smooth:{smooth}{by}")
        }
        "chrf" | "chrf+" | "chrf++" => {
            let (case, effective, chars) = (get("case")?, get("eff")?, get("chars")?);
            let (words, space) = (get("words")?, get("space")?);
            format!("case:{case}|eff:{effective}|nc:{chars}|nw:{words}|space:{space}")
        }
        "ter" => {
            let (case, norm, punct, asian) = (get("case")?, get("norm")?, get("punct")?, get("asian")?);
            format!("case:{case}|tok:tercom|norm:{norm}|punct:{punct}|asian:{asian}")
        }
        _ => return None,
    };
    let n_references = n_references.map_or("var".to_owned(), |n| n.to_string());
    Some(format!("nrefs:{n_references}|{settings}|version:2.6.0"))
}

#[cfg(test)]
mod tests {
    use capeval_metric::Statistics;

    use super::*;

    /// Counts of `matches / totals` by order.
    fn counts(matches: [f64; 4], totals: [f64; 4], candidate: f64, reference: f64) -> Counts {
        let row: Vec<f64> = [[candidate, reference].as_slice(), &matches, &totals].concat();
        Counts::load(&row)
    }

    fn score(bleu: &SacreBleu, counts: &Counts) -> [f64; 2] {
        let (mut corpus, mut segment) = ([0.0], [0.0]);
        bleu.score(counts, &mut corpus);
        bleu.score_segment(counts, &mut segment);
        [corpus[0], segment[0]]
    }

    fn close(ours: f64, theirs: f64) {
        assert!((ours - theirs).abs() <= 1e-12 * theirs.abs(), "{ours} against {theirs}");
    }

    fn plain(smoothing: Smoothing) -> SacreBleu {
        SacreBleu { smoothing, ..SacreBleu::new(Tokenizer::V13a) }
    }

    // The expected values are those of sacreBLEU 2.6.0's `BLEU.compute_bleu` on the same counts.

    #[test]
    fn orders_without_a_match_are_smoothed() {
        let some = counts([3.0, 1.0, 0.0, 0.0], [6.0, 5.0, 4.0, 3.0], 6.0, 7.0);
        close(score(&plain(Smoothing::Exp), &some)[0], 15.207218222740094);
        close(score(&plain(Smoothing::Floor), &some)[0], 8.087648627794572);
        close(score(&plain(Smoothing::AddK), &some)[0], 25.57539057896621);
        assert_eq!(score(&plain(Smoothing::None), &some)[0], 0.0);
    }

    #[test]
    fn add_k_leaves_single_words_alone() {
        let full = counts([2.0, 1.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], 2.0, 2.0);
        close(score(&plain(Smoothing::AddK), &full)[0], 100.0);
    }

    #[test]
    fn without_any_match_the_score_is_zero_whatever_the_smoothing() {
        let none = counts([0.0; 4], [6.0, 5.0, 4.0, 3.0], 6.0, 6.0);
        for smoothing in Smoothing::ALL {
            assert_eq!(score(&plain(*smoothing), &none), [0.0, 0.0]);
        }
    }

    #[test]
    fn orders_beyond_the_candidate_count_only_without_effective_order() {
        let short = counts([2.0, 1.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], 2.0, 2.0);
        let [corpus, segment] = score(&plain(Smoothing::Exp), &short);
        assert_eq!(corpus, 0.0);
        close(segment, 100.0);
        let always = SacreBleu { effective_order: EffectiveOrder::Always, ..SacreBleu::new(Tokenizer::V13a) };
        close(score(&always, &short)[0], 100.0);
    }

    /// The expected lines are those of sacreBLEU 2.6.0's `get_signature()`.
    #[test]
    fn signatures_can_be_written_as_sacrebleu_does() {
        let check = |signature: Signature, n, expected| {
            assert_eq!(sacrebleu_signature(&signature, n).as_deref(), Some(expected));
        };
        let bleu = SacreBleu::new(Tokenizer::V13a);
        check(bleu.about().signature, Some(1), "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
        let floor = SacreBleu { smoothing: Smoothing::Floor, case: Case::Lower, ..bleu };
        check(
            floor.about().signature,
            None,
            "nrefs:var|case:lc|eff:no|tok:13a|smooth:floor[0.10]|version:2.6.0",
        );
        let chrf = crate::Chrf::new().with_orders(6, 2).unwrap().about().signature;
        check(chrf, Some(5), "nrefs:5|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0");
        let ter = crate::Ter::new().about().signature;
        check(ter, Some(5), "nrefs:5|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
        let ja = SacreBleu::new(Tokenizer::Mecab(capeval_text::tokenizers::mecab::Language::Japanese));
        let expected = "nrefs:1|case:mixed|eff:no|tok:ja-mecab-0.996-IPA|smooth:exp|version:2.6.0";
        check(ja.about().signature, Some(1), expected);
        assert_eq!(sacrebleu_signature(&SacreBleu::new(Tokenizer::Ptb).about().signature, None), None);
    }

    #[test]
    fn signatures_tell_every_setting_apart() {
        let base = SacreBleu::new(Tokenizer::V13a);
        let others = [
            SacreBleu::new(Tokenizer::Zh),
            base.clone().with_order(2).unwrap_or_else(|| base.clone()),
            SacreBleu { case: Case::Lower, ..base.clone() },
            SacreBleu { effective_order: EffectiveOrder::Always, ..base.clone() },
            SacreBleu { smoothing: Smoothing::Floor, ..base.clone() },
            SacreBleu { smoothing: Smoothing::Floor, by: Some(0.2), ..base.clone() },
        ];
        for (k, other) in others.iter().enumerate() {
            assert_ne!(other.about().signature, base.about().signature);
            assert!(
                others.iter().skip(k + 1).all(|third| third.about().signature != other.about().signature)
            );
        }
    }
}
