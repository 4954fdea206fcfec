//! chrF and chrF++: F-scores of character n-grams, as sacreBLEU computes them.
//!
//! Rewards character n-grams that the references also contain, which suits languages with rich morphology and needs no
//! tokenizer. Precision P and recall R are averaged over character n-grams of orders 1 to 6 (and word n-grams of orders
//! 1 and 2 in chrF++), and the score is `100 · (1 + β²) P R / (β² P + R)` with β = 2. The corpus score is computed from
//! the counts of the whole corpus; each segment counts the reference with the best score.
//!
//! Papers: Popović, *chrF: character n-gram F-score for automatic MT evaluation* (2015) and *chrF++: words
//! helping character n-grams* (2017). Reference program: sacreBLEU 2.6.0, `metrics/chrf.py`.
//!
//! Quirks kept on purpose:
//! - orders without n-grams in the candidate or the reference are left out of the average; with [`Orders::All`], the
//!   F-scores of all orders are averaged instead, as in chrF++.py, and precision and recall of such orders are 1e-16;
//! - if the reference has no n-gram of an order, those of the candidate do not count;
//! - if several references have the same score, the first one counts;
//! - white space is dropped, not collapsed; if it is kept, it is kept unchanged, also at the ends;
//! - for word n-grams, one punctuation mark is split off each word, at its end or else at its start, so `(hi)` becomes
//!   `(hi` and `)`; only ASCII marks are split off, and a word of one character is never split.

use capeval_metric::setting::POSITIVE;
use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Metric, MetricKind, Part, Reading, References, Refusal,
    Rule, Segment, Setting, Settings, Signature, Statistics, Step,
};
use capeval_text::Vocabulary;
use capeval_text::tokenizers::plain::is_python_space;

use crate::overlap::Overlap;
use crate::sacrebleu::Case;

/// The precision and recall of an order without n-grams.
const EPSILON: f64 = 1e-16;

/// The maximum number of orders of a [`Chrf`].
const MAX_ORDERS: usize = 64;

capeval_choice::named! {
    /// The choice to count white space as characters.
    pub enum Blanks ("white space") {
        Kept = "yes", "it is part of the character n-grams";
        Dropped = "no", "it is dropped before characters are counted";
    }
}

capeval_choice::named! {
    /// The choice to leave empty orders out of the average.
    pub enum Orders ("effective order") {
        Effective = "yes", "only orders of which candidate and reference both hold n-grams count";
        All = "no", "all orders count, smoothed by 1e-16, as in chrF++.py, Moses and NLTK";
    }
}

/// The entry of chrF in the registry.
pub const CHRF: MetricKind = MetricKind {
    name: "chrf",
    summary: "F-score of character n-grams, from 0 to 100",
    paper: "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
    program: "sacreBLEU 2.6.0",
    settings: &[WORDS, CHARS, BETA, Case::SETTING, SPACE, EFF],
    variants: &[],
    need: None,
    seconds: 0.01,
    build,
};

/// The entry of chrF++ in the registry.
pub const CHRF_PLUS_PLUS: MetricKind = MetricKind {
    name: "chrf++",
    summary: "F-score of character n-grams, and of words and pairs of words, from 0 to 100",
    paper: "Popović 2017, chrF++: words helping character n-grams",
    program: "sacreBLEU 2.6.0",
    settings: &[Setting { default: "2", ..WORDS }, CHARS, BETA, Case::SETTING, SPACE, EFF],
    variants: &[],
    need: None,
    seconds: 0.01,
    build,
};

const WORDS: Setting = Setting::count("words", "0", "longest word n-grams", 0..=MAX_ORDERS);
const CHARS: Setting = Setting::count("chars", "6", "longest character n-grams", 0..=MAX_ORDERS);
const BETA: Setting = Setting::number("beta", "2", "importance of recall relative to precision", POSITIVE);
const SPACE: Setting = Setting::choice("space", "no", "count white space as characters", Blanks::NAMES);
const EFF: Setting = Setting::choice(
    "eff",
    "yes",
    "leave out empty n-gram orders, instead of counting them as 1e-16",
    Orders::NAMES,
);

fn build(settings: &Settings<'_>) -> Result<AnyMetric, Refusal> {
    let (chars, words) = (settings.get("chars")?, settings.get("words")?);
    let chrf = Chrf::new().with_orders(chars, words).ok_or_else(|| {
        settings.error(format!("chars and words are 1 to {MAX_ORDERS} together, not {chars} and {words}"))
    })?;
    Ok(AnyMetric::new(Chrf {
        beta: settings.get("beta")?,
        case: settings.get("case")?,
        blanks: settings.get("space")?,
        orders: settings.get("eff")?,
        ..chrf
    }))
}

/// chrF or chrF++.
#[derive(Clone, Debug, PartialEq)]
pub struct Chrf {
    char_order: usize,
    word_order: usize,
    /// The importance of recall relative to precision; 2 in the reference program.
    pub beta: f64,
    /// The treatment of upper and lower case.
    pub case: Case,
    /// The choice to count white space as characters.
    pub blanks: Blanks,
    /// The orders that the score averages over.
    pub orders: Orders,
}

impl Chrf {
    /// chrF as in sacreBLEU: characters up to order 6, β = 2.
    pub fn new() -> Self {
        Self {
            char_order: 6,
            word_order: 0,
            beta: 2.0,
            case: Case::Mixed,
            blanks: Blanks::Dropped,
            orders: Orders::Effective,
        }
    }

    /// Sets the lengths of the longest n-grams of characters and of words; `None` unless their sum is 1 to 64.
    pub fn with_orders(self, characters: usize, words: usize) -> Option<Self> {
        (1..=MAX_ORDERS).contains(&characters.saturating_add(words)).then_some(Self {
            char_order: characters,
            word_order: words,
            ..self
        })
    }

    /// The end of the metric's name: a plus sign per order of words, as its author writes it.
    fn plus(&self) -> &'static str {
        ["", "+", "++"][self.word_order.min(2)]
    }

    fn value(&self, orders: &[Order]) -> f64 {
        let factor = self.beta * self.beta;
        let (mut precisions, mut recalls, mut f_scores, mut effective) = (0.0, 0.0, 0.0, 0.0);
        for Order { candidate, reference, matches } in orders {
            let precision = if *candidate > 0.0 { matches / candidate } else { EPSILON };
            let recall = if *reference > 0.0 { matches / reference } else { EPSILON };
            let weighted = factor * precision + recall;
            f_scores += if weighted > 0.0 { (1.0 + factor) * precision * recall / weighted } else { EPSILON };
            if *candidate > 0.0 && *reference > 0.0 {
                precisions += precision;
                recalls += recall;
                effective += 1.0;
            }
        }
        if self.orders == Orders::All {
            return 100.0 * f_scores / orders.len() as f64;
        }
        if effective == 0.0 || precisions + recalls == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precisions / effective, recalls / effective);
        let product = (1.0 + factor) * precision * recall;
        100.0 * (product / (factor * precision + recall))
    }
}

impl Default for Chrf {
    fn default() -> Self {
        Self::new()
    }
}

/// The numbers of n-grams of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Order {
    /// In the candidate; 0 if the reference has none.
    pub candidate: f64,
    /// In the reference.
    pub reference: f64,
    /// In both.
    pub matches: f64,
}

/// The counts of chrF: character orders first, then word orders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts(pub Vec<Order>);

impl Statistics for Counts {
    fn store(&self, row: &mut [f64]) {
        for (row, order) in row.chunks_exact_mut(3).zip(&self.0) {
            row.copy_from_slice(&[order.candidate, order.reference, order.matches]);
        }
    }

    fn load(row: &[f64]) -> Self {
        let order = |row: &[f64]| Order { candidate: row[0], reference: row[1], matches: row[2] };
        Self(row.chunks_exact(3).map(order).collect())
    }
}

impl Metric for Chrf {
    type Model = ();
    type Stats = Counts;
    type Scratch = Scratch;

    fn about(&self) -> About {
        let Self { char_order, word_order, beta, case, blanks, orders } = self;
        let plus = self.plus();
        let signature = Signature::new(&format!("chrf{plus}"))
            .with("chars", char_order)
            .with("words", word_order)
            .with("beta", beta)
            .with("case", case)
            .with("space", blanks)
            .with("eff", orders);
        let input = Input::new(Reading::Raw);
        let columns = [("characters", *char_order), ("words", *word_order)]
            .into_iter()
            .flat_map(|(kind, order)| (1..=order).map(move |n| (kind, n)))
            .flat_map(|(kind, n)| {
                ["candidate", "reference", "matches"].map(|what| Column::count(format!("{kind}-{n}-{what}")))
            })
            .collect();
        let parts = vec![Part::score(format!("chrf{plus}"), format!("chrF{plus}"), 0.0..=100.0)];
        About::new(signature, input, columns, parts)
    }

    fn fit(&self, _references: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, scratch: &mut Scratch) -> Counts {
        let n_orders = self.char_order + self.word_order;
        let Scratch { chars, words, vocabulary, items, matches } = scratch;
        let text = self.cased(segment.text);
        self.characters(&text, items);
        chars.prepare(items, self.char_order);
        let n_chars = items.len();
        items.clear();
        if self.word_order > 0 {
            split(&text, |word| items.push(vocabulary.intern(word).number()));
            words.prepare(items, self.word_order);
        }
        let n_words = items.len();
        let mut best: Option<(f64, Vec<Order>)> = None;
        for reference in segment.reference_texts() {
            let text = self.cased(reference);
            matches.clear();
            matches.resize(n_orders, 0.0);
            let (char_matches, word_matches) = matches.split_at_mut(self.char_order);
            self.characters(&text, items);
            chars.count(items, char_matches);
            let lengths = (n_chars, items.len());
            let mut orders: Vec<Order> = Vec::with_capacity(n_orders);
            orders.extend(char_matches.iter().enumerate().map(|(n, matches)| order(n, lengths, *matches)));
            if self.word_order > 0 {
                items.clear();
                split(&text, |word| {
                    items.push(vocabulary.get(word).map_or(u32::MAX, capeval_text::Symbol::number));
                });
                words.count(items, word_matches);
                let lengths = (n_words, items.len());
                orders
                    .extend(word_matches.iter().enumerate().map(|(n, matches)| order(n, lengths, *matches)));
            }
            let score = self.value(&orders);
            if best.as_ref().is_none_or(|(best, _)| score > *best) {
                best = Some((score, orders));
            }
        }
        Counts(best.map_or_else(|| vec![Order::default(); n_orders], |(_, orders)| orders))
    }

    fn score(&self, counts: &Counts, values: &mut [f64]) {
        values[0] = self.value(&counts.0);
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, scratch: &mut Scratch) -> Explanation {
        let Counts(orders) = self.measure(&(), segment, scratch);
        let name = |k: usize| match k.checked_sub(self.char_order) {
            None => format!("{}-grams of characters", k + 1),
            Some(words) => format!("{}-grams of words", words + 1),
        };
        let counted = |k: usize, order: &Order, with_f: bool| {
            let shared = || Step::given("in both", order.matches);
            let share = |title: &str, side: &str, n: f64| {
                let value = if n > 0.0 { order.matches / n } else { EPSILON };
                let parts = vec![shared(), Step::given(format!("in the {side}"), n)];
                Step::of(if with_f { title.to_owned() } else { name(k) }, value, SHARE, parts)
            };
            [
                share("precision P", "candidate", order.candidate),
                share("recall R", "reference", order.reference),
            ]
        };
        let mean = |title: &str, parts: Vec<Step>| {
            let sum: f64 = parts.iter().filter_map(|part| part.value).sum();
            let value = if parts.is_empty() { 0.0 } else { sum / parts.len() as f64 };
            Step::of(title, value, Rule::MEAN, parts)
        };
        let beta = || Step::given("β", self.beta);
        let parts = match self.orders {
            Orders::Effective => {
                let effective =
                    orders.iter().enumerate().filter(|(_, o)| o.candidate > 0.0 && o.reference > 0.0);
                let (precisions, recalls) = effective
                    .map(|(k, order)| counted(k, order, false))
                    .map(|[precision, recall]| (precision, recall))
                    .unzip();
                vec![
                    mean("precision P, over orders", precisions),
                    mean("recall R, over orders", recalls),
                    beta(),
                ]
            }
            Orders::All => {
                let each = orders.iter().enumerate().map(|(k, order)| {
                    let [precision, recall] = counted(k, order, true);
                    let parts = vec![precision, recall, beta()];
                    let values: Vec<f64> = parts.iter().filter_map(|part| part.value).collect();
                    Step::of(name(k), (F_SMOOTHED.of)(&values), F_SMOOTHED, parts)
                });
                vec![mean("F, over orders", each.collect())]
            }
        };
        let rule = if self.orders == Orders::All { HUNDRED } else { F_SCORE };
        let step = Step::of(format!("chrF{}", self.plus()), self.value(&orders), rule, parts)
            .noted("of several references, the one with the best score counts");
        Explanation { scores: vec![step], ..Explanation::over_words(segment) }
    }
}

const SHARE: Rule = Rule::new("quotient", |parts| match parts {
    [matches, n] if *n > 0.0 => matches / n,
    _ => EPSILON,
});
const F_SCORE: Rule = Rule::new("100 (1 + β²) P R / (β² P + R)", |parts| match parts {
    [precision, recall, beta] if precision + recall > 0.0 => {
        100.0 * ((1.0 + beta * beta) * precision * recall / (beta * beta * precision + recall))
    }
    _ => 0.0,
});
const F_SMOOTHED: Rule = Rule::new("(1 + β²) P R / (β² P + R), at least 1e-16", |parts| match parts {
    [precision, recall, beta] if beta * beta * precision + recall > 0.0 => {
        (1.0 + beta * beta) * precision * recall / (beta * beta * precision + recall)
    }
    _ => EPSILON,
});
const HUNDRED: Rule = Rule::new("100 F", |parts| 100.0 * parts.first().copied().unwrap_or(0.0));

/// The numbers of n-grams of n + 1 items in a candidate and a reference of these lengths.
fn order(n: usize, (candidate, reference): (usize, usize), matches: f64) -> Order {
    let reference = reference.saturating_sub(n) as f64;
    let candidate = if reference > 0.0 { candidate.saturating_sub(n) as f64 } else { 0.0 };
    Order { candidate, reference, matches }
}

impl Chrf {
    fn cased<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        match self.case {
            Case::Mixed => text.into(),
            Case::Lower => text.to_lowercase().into(),
        }
    }

    fn characters(&self, text: &str, items: &mut Vec<u32>) {
        items.clear();
        match self.blanks {
            Blanks::Kept => items.extend(text.chars().map(u32::from)),
            Blanks::Dropped => {
                items.extend(text.chars().filter(|c| !is_python_space(*c)).map(u32::from));
            }
        }
    }
}

/// Calls `word` with each word of `text` after splitting off one punctuation mark.
fn split(text: &str, mut word: impl FnMut(&str)) {
    for whole in text.split(is_python_space).filter(|whole| !whole.is_empty()) {
        let mut chars = whole.chars();
        let (first, last) = (chars.next(), chars.next_back());
        match (first, last) {
            (Some(_), Some(last)) if last.is_ascii_punctuation() => {
                let (rest, mark) = whole.split_at(whole.len() - 1);
                word(rest);
                word(mark);
            }
            (Some(first), Some(_)) if first.is_ascii_punctuation() => {
                let (mark, rest) = whole.split_at(1);
                word(mark);
                word(rest);
            }
            _ => word(whole),
        }
    }
}

/// Buffers of [`Chrf`].
#[derive(Default)]
pub struct Scratch {
    chars: Overlap,
    words: Overlap,
    /// The words of all candidates so far.
    vocabulary: Vocabulary,
    items: Vec<u32>,
    matches: Vec<f64>,
}
