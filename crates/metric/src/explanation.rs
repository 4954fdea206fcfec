//! How a segment's score came to be, as plain data.

use std::fmt;

use capeval_text::Symbol;

use crate::Segment;

/// How one metric came to the scores of one segment.
///
/// There is one [`Step`] per part of the metric, in the order of [`About::parts`](crate::About::parts), and its
/// value is that part's score. Each step tells from which others it follows, down to what was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The candidate's words as the metric sees them, to which [`Match`]es point.
    pub candidate: Vec<String>,
    /// Each reference's words as the metric sees them.
    pub references: Vec<Vec<String>>,
    /// One step per part of the metric.
    pub scores: Vec<Step>,
}

/// A number, and what it follows from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// What the number is, such as `precision of 2-grams`.
    pub title: String,
    /// The number; a step without one is a heading.
    pub value: Option<f64>,
    /// How the number follows from the values of [`parts`](Self::parts); `None` for what was counted, or learnt
    /// from the references.
    pub rule: Option<Rule>,
    /// What else a reader should know, in words.
    pub note: Option<String>,
    /// Numbers behind this one that are not steps of their own, such as an n-gram's document frequency.
    pub facts: Vec<Fact>,
    /// What the number follows from; those without a value take no part in the rule.
    pub parts: Vec<Step>,
    /// The words that take part in it.
    pub matches: Vec<Match>,
}

/// A named number of a [`Step`].
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What it is, such as `idf`.
    pub name: &'static str,
    /// The number.
    pub value: f64,
}

/// Words of the candidate that meet words of references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// What brought them together: `2-gram`, `subsequence`, `stem`.
    pub matcher: &'static str,
    /// Positions in [`Explanation::candidate`], ascending.
    pub candidate: Vec<usize>,
    /// References, from 0, with positions in their words, ascending.
    pub references: Vec<(usize, Vec<usize>)>,
}

/// How a number follows from others.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The formula as a reader sees it.
    pub formula: &'static str,
    /// The formula, of the values of the parts that have one, in order.
    pub of: fn(&[f64]) -> f64,
}

impl Rule {
    /// The parts together.
    pub const SUM: Self = Self { formula: "sum", of: |parts| parts.iter().sum() };
    /// The parts multiplied.
    pub const PRODUCT: Self = Self { formula: "product", of: |parts| parts.iter().product() };
    /// The mean of the parts; 0 of none.
    pub const MEAN: Self = Self {
        formula: "mean",
        of: |parts| if parts.is_empty() { 0.0 } else { parts.iter().sum::<f64>() / parts.len() as f64 },
    };
    /// The greatest part; 0 of none.
    pub const GREATEST: Self =
        Self { formula: "greatest", of: |parts| parts.iter().copied().reduce(f64::max).unwrap_or(0.0) };
    /// The least part; 0 of none.
    pub const LEAST: Self =
        Self { formula: "least", of: |parts| parts.iter().copied().reduce(f64::min).unwrap_or(0.0) };
    /// The first part over the second; 0 where that is 0.
    pub const QUOTIENT: Self = Self {
        formula: "quotient",
        of: |parts| match parts {
            [above, below] if *below != 0.0 => above / below,
            _ => 0.0,
        },
    };

    /// A rule of one's own.
    ///
    /// ```
    /// # use capeval_metric::Rule;
    /// let f = Rule::new("2PR / (P + R)", |parts| match parts {
    ///     [p, r] if p + r > 0.0 => 2.0 * p * r / (p + r),
    ///     _ => 0.0,
    /// });
    /// assert_eq!((f.of)(&[0.5, 0.5]), 0.5);
    /// ```
    pub const fn new(formula: &'static str, of: fn(&[f64]) -> f64) -> Self {
        Self { formula, of }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.formula)
    }
}

/// Two rules are one if their formulas are.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.formula == other.formula
    }
}

impl Step {
    /// A number that was counted or learnt.
    pub fn given(title: impl Into<String>, value: f64) -> Self {
        Self { title: title.into(), value: Some(value), ..Self::default() }
    }

    /// A number that follows from others.
    pub fn of(title: impl Into<String>, value: f64, rule: Rule, parts: Vec<Self>) -> Self {
        Self { title: title.into(), value: Some(value), rule: Some(rule), parts, ..Self::default() }
    }

    /// A heading over steps that are there to be read only.
    pub fn heading(title: impl Into<String>, parts: Vec<Self>) -> Self {
        Self { title: title.into(), parts, ..Self::default() }
    }

    /// The same with a sentence.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// The same with one more fact.
    pub fn fact(mut self, name: &'static str, value: f64) -> Self {
        self.facts.push(Fact { name, value });
        self
    }

    /// The same with the words that take part.
    pub fn matched(mut self, matched: Match) -> Self {
        self.matches.push(matched);
        self
    }

    /// Computes every number that has a rule anew from its parts, and compares.
    ///
    /// # Errors
    /// The first step, with its formula, whose value is farther from what its parts give than `tolerance` times
    /// the greater of 1 and the value.
    pub fn check(&self, tolerance: f64) -> Result<(), String> {
        if let (Some(rule), Some(value)) = (self.rule, self.value) {
            let parts: Vec<f64> = self.parts.iter().filter_map(|part| part.value).collect();
            let again = (rule.of)(&parts);
            // Written so that a number that is none is a difference too.
            let is_close = (again - value).abs() <= tolerance * value.abs().max(1.0);
            if !is_close {
                return Err(format!(
                    "{} is {value}, but the {} of {parts:?} is {again}",
                    self.title, rule.formula
                ));
            }
        }
        self.parts.iter().try_for_each(|part| part.check(tolerance))
    }

    /// This step and all below it, in the order in which they are read.
    pub fn all(&self) -> impl Iterator<Item = &Self> + '_ {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let step = waiting.pop()?;
            waiting.extend(step.parts.iter().rev());
            Some(step)
        })
    }
}

impl Explanation {
    /// Nothing explained yet, over the segment's words; over its text cut at white space if the metric's
    /// [`Input`](crate::Input) has no words.
    pub fn over_words(segment: &Segment<'_>) -> Self {
        let vocabulary = segment.references.vocabulary;
        let spelt = |words: &[Symbol], text: &str| -> Vec<String> {
            if words.is_empty() {
                text.split_whitespace().map(str::to_owned).collect()
            } else {
                words.iter().map(|word| vocabulary.word(*word).to_owned()).collect()
            }
        };
        let texts = segment.reference_words().zip(segment.reference_texts());
        Self {
            candidate: spelt(segment.words, segment.text),
            references: texts.map(|(words, text)| spelt(words, text)).collect(),
            scores: Vec::new(),
        }
    }

    /// Whether every match points at words that are there.
    pub fn is_sound(&self) -> bool {
        let points = |words: &[String], at: &[usize]| {
            at.is_sorted_by(|a, b| a < b) && at.last().is_none_or(|last| *last < words.len())
        };
        let mut steps = self.scores.iter().flat_map(Step::all);
        steps.all(|step| {
            step.matches.iter().all(|matched| {
                points(&self.candidate, &matched.candidate)
                    && matched
                        .references
                        .iter()
                        .all(|(r, at)| self.references.get(*r).is_some_and(|words| points(words, at)))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_is_found_wherever_it_stands() {
        let good = Step::of("p", 0.5, Rule::QUOTIENT, vec![Step::given("a", 1.0), Step::given("b", 2.0)]);
        let heading = Step::heading("words", vec![Step::given("c", 7.0)]);
        let mut root =
            Step::of("score", 50.0, Rule::PRODUCT, vec![good, Step::given("scale", 100.0), heading]);
        assert_eq!(root.check(1e-12), Ok(()));
        root.parts[0].parts[1].value = Some(4.0);
        assert_eq!(root.check(1e-12).unwrap_err(), "p is 0.5, but the quotient of [1.0, 4.0] is 0.25");
        assert!(Step::of("nothing", f64::NAN, Rule::SUM, Vec::new()).check(1e-12).is_err());
    }

    #[test]
    fn steps_come_in_the_order_in_which_they_are_read() {
        let inner = Step::heading("b", vec![Step::heading("c", Vec::new())]);
        let root = Step::heading("a", vec![inner, Step::heading("d", Vec::new())]);
        let titles: Vec<&str> = root.all().map(|step| step.title.as_str()).collect();
        assert_eq!(titles, ["a", "b", "c", "d"]);
    }
}
