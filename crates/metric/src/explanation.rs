//! Explanations of a segment's scores, as plain data.

use std::fmt;

use capeval_text::Symbol;

use crate::Segment;

/// Explains how one metric computes the scores of one segment.
///
/// There is one [`Step`] per part of the metric, in the order of [`About::parts`](crate::About::parts); its value is
/// the score of that part. Each step names the steps that it is computed from, down to counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The candidate's words as the metric reads them; [`Match`]es refer to their positions.
    pub candidate: Vec<String>,
    /// Each reference's words as the metric reads them.
    pub references: Vec<Vec<String>>,
    /// One step per part of the metric.
    pub scores: Vec<Step>,
}

/// A number, and the numbers that it is computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The name of the number, such as `precision of 2-grams`.
    pub title: String,
    /// The number; a step without one is a heading.
    pub value: Option<f64>,
    /// The rule that computes the number from the values of [`parts`](Self::parts); `None` for counts and for values
    /// from the model.
    pub rule: Option<Rule>,
    /// A remark for readers.
    pub note: Option<String>,
    /// Related numbers that are not separate steps, such as the document frequency of an n-gram.
    pub facts: Vec<Fact>,
    /// The steps that the number is computed from; the rule ignores those without a value.
    pub parts: Vec<Step>,
    /// The matching words that the number counts.
    pub matches: Vec<Match>,
    /// The statement about the image that a step without a number makes.
    pub statement: Option<Statement>,
}

/// A part of a scene graph, which a page draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// A thing, or a thing and its attribute, or a thing, its relation to another thing, and that thing.
    pub terms: Vec<String>,
    /// True if the other side states it, too.
    pub is_matched: bool,
}

/// A named number of a [`Step`].
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The name, such as `idf`.
    pub name: &'static str,
    /// The number.
    pub value: f64,
}

/// Words of the candidate that match words of references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The kind of match: `2-gram`, `subsequence`, `stem`.
    pub matcher: &'static str,
    /// Positions in [`Explanation::candidate`], ascending.
    pub candidate: Vec<usize>,
    /// Indices of references, from 0, with ascending positions in their words.
    pub references: Vec<(usize, Vec<usize>)>,
}

/// A rule that computes a number from others.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The formula, for readers.
    pub formula: &'static str,
    /// The formula as a function of the parts' values, in order, without parts that have no value.
    pub of: fn(&[f64]) -> f64,
}

impl Rule {
    /// The sum of the parts.
    pub const SUM: Self = Self { formula: "sum", of: |parts| parts.iter().sum() };
    /// The product of the parts.
    pub const PRODUCT: Self = Self { formula: "product", of: |parts| parts.iter().product() };
    /// The mean of the parts; 0 without parts.
    pub const MEAN: Self = Self {
        formula: "mean",
        of: |parts| if parts.is_empty() { 0.0 } else { parts.iter().sum::<f64>() / parts.len() as f64 },
    };
    /// The greatest part; 0 without parts.
    pub const GREATEST: Self =
        Self { formula: "greatest", of: |parts| parts.iter().copied().reduce(f64::max).unwrap_or(0.0) };
    /// The smallest part; 0 without parts.
    pub const LEAST: Self =
        Self { formula: "least", of: |parts| parts.iter().copied().reduce(f64::min).unwrap_or(0.0) };
    /// The first part divided by the second; 0 if the second is 0.
    pub const QUOTIENT: Self = Self {
        formula: "quotient",
        of: |parts| match parts {
            [above, below] if *below != 0.0 => above / below,
            _ => 0.0,
        },
    };

    /// A rule with any formula.
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

/// Two rules are equal if their formulas are.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.formula == other.formula
    }
}

impl Step {
    /// A number without a rule: a count, or a value from the model.
    pub fn given(title: impl Into<String>, value: f64) -> Self {
        Self { title: title.into(), value: Some(value), ..Self::default() }
    }

    /// A number that `rule` computes from `parts`.
    pub fn of(title: impl Into<String>, value: f64, rule: Rule, parts: Vec<Self>) -> Self {
        Self { title: title.into(), value: Some(value), rule: Some(rule), parts, ..Self::default() }
    }

    /// A heading over steps that are only for readers.
    pub fn heading(title: impl Into<String>, parts: Vec<Self>) -> Self {
        Self { title: title.into(), parts, ..Self::default() }
    }

    /// A statement without a number; its terms are the title.
    pub fn stating(terms: Vec<String>, is_matched: bool) -> Self {
        Self {
            title: terms.join(" – "), statement: Some(Statement { terms, is_matched }), ..Self::default()
        }
    }

    /// Sets the note.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Adds a fact.
    pub fn fact(mut self, name: &'static str, value: f64) -> Self {
        self.facts.push(Fact { name, value });
        self
    }

    /// Adds a match.
    pub fn matched(mut self, matched: Match) -> Self {
        self.matches.push(matched);
        self
    }

    /// Recomputes every number that has a rule from its parts, and compares.
    ///
    /// # Errors
    /// The first step, with its formula, whose value differs from the recomputed one by more than `tolerance` times the
    /// greater of 1 and the value.
    pub fn check(&self, tolerance: f64) -> Result<(), String> {
        if let (Some(rule), Some(value)) = (self.rule, self.value) {
            let parts: Vec<f64> = self.parts.iter().filter_map(|part| part.value).collect();
            let again = (rule.of)(&parts);
            // Written so that NaN counts as a difference.
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

    /// This step and all steps below it, in reading order.
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
    /// An explanation without steps, with the segment's words; with its text split at white space if the metric's
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

    /// Returns true if the positions of all matches are in range.
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
