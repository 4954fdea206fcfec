//! Arithmetic over the names of measures, and conditions on it: `mean(bleu-4, meteor)`, `spice >= base - 0.001`.
//!
//! Names of measures contain hyphens, so a text is read with the names that exist: the longest of them at a place is
//! meant, and `bleu-4-0.01` is BLEU-4 less 0.01.

mod derive;
mod parse;

pub use derive::{Derivation, Trend};
pub use parse::FormulaError;

/// A formula over names of measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A measure, or anything else with this name.
    Name(String),
    /// A measure of a system by name, as in `base[cider-d]`.
    Item(String, String),
    /// Minus a value.
    Negative(Box<Self>),
    /// Two values, joined by an operator.
    Binary(Box<Self>, Operator, Box<Self>),
    /// A function of values, of which there is at least one.
    Call(Function, Vec<Self>),
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

crate::named! {
    /// A function of several values.
    pub enum Function ("function") {
        Mean = "mean", "the arithmetic mean";
        HarmonicMean = "hmean", "the harmonic mean";
        GeometricMean = "gmean", "the geometric mean";
        Sum = "sum", "the sum";
        Percent = "percent", "a value times 100";
        Min = "min", "the least value";
        Max = "max", "the greatest value";
    }
}

crate::named! {
    /// A relation between two values.
    pub enum Relation ("relation") {
        AtLeast = ">=", "at least";
        AtMost = "<=", "at most";
        Above = ">", "above";
        Below = "<", "below";
    }
}

/// A condition: a relation between two formulas.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The formula before the relation.
    pub left: Formula,
    /// The relation that must hold.
    pub relation: Relation,
    /// The formula behind it.
    pub right: Formula,
}

impl Formula {
    /// Reads a formula over the names of `known`; if there are none, any word is a name, so that only the form is
    /// checked.
    ///
    /// # Errors
    /// When the text is no formula, or names what is not known; the error says where.
    pub fn parse(text: &str, known: Option<&[&str]>) -> Result<Self, FormulaError> {
        parse::formula(text, known)
    }

    /// The value, if names have those that `value` returns for the system, if one is named, and the name.
    pub fn value(&self, value: &dyn Fn(Option<&str>, &str) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Name(name) => value(None, name),
            Self::Item(system, name) => value(Some(system), name),
            Self::Negative(formula) => -formula.value(value),
            Self::Binary(left, operator, right) => operator.apply(left.value(value), right.value(value)),
            Self::Call(function, formulas) => {
                function.apply(formulas.iter().map(|formula| formula.value(value)))
            }
        }
    }

    /// All names, each with its system if that is named, in the order in which they are written.
    pub fn names(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Name(name) => vec![(None, name)],
            Self::Item(system, name) => vec![(Some(system), name)],
            Self::Negative(formula) => formula.names(),
            Self::Binary(left, _, right) => [left.names(), right.names()].concat(),
            Self::Call(_, formulas) => formulas.iter().flat_map(Self::names).collect(),
        }
    }
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Over => left / right,
        }
    }
}

impl Function {
    fn apply(self, values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let n = values.len() as f64;
        // A value that is no number makes the result none.
        let pick =
            |a: f64, b: f64, is_taken: bool| if a.is_nan() || !b.is_nan() && !is_taken { a } else { b };
        match self {
            Self::Mean => values.sum::<f64>() / n,
            // A value of 0 makes both 0; below, there is none.
            Self::HarmonicMean => values
                .map(|value| if value < 0.0 { f64::NAN } else { value })
                .fold(Harmonic::default(), Harmonic::with)
                .mean(n),
            Self::GeometricMean => {
                let product: f64 = values.map(|value| if value < 0.0 { f64::NAN } else { value.ln() }).sum();
                (product / n).exp()
            }
            Self::Sum => values.sum(),
            Self::Percent => 100.0 * values.sum::<f64>(),
            Self::Min => values.reduce(|a, b| pick(a, b, b < a)).unwrap_or(f64::NAN),
            Self::Max => values.reduce(|a, b| pick(a, b, b > a)).unwrap_or(f64::NAN),
        }
    }
}

/// The sum of reciprocals, unless a value is 0.
#[derive(Default)]
struct Harmonic {
    sum: f64,
    has_zero: bool,
}

impl Harmonic {
    fn with(self, value: f64) -> Self {
        let sum = self.sum + if value == 0.0 { 0.0 } else { value.recip() };
        Self { sum, has_zero: self.has_zero || value == 0.0 }
    }

    fn mean(self, n: f64) -> f64 {
        if self.has_zero && !self.sum.is_nan() { 0.0 } else { n / self.sum }
    }
}

impl Condition {
    /// Reads a condition, as [`Formula::parse`] reads a formula.
    ///
    /// # Errors
    /// As [`Formula::parse`].
    pub fn parse(text: &str, known: Option<&[&str]>) -> Result<Self, FormulaError> {
        parse::condition(text, known)
    }
}

impl Relation {
    /// Returns true if it holds between two values; between a number and none, nothing does.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::AtLeast => left >= right,
            Self::AtMost => left <= right,
            Self::Above => left > right,
            Self::Below => left < right,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["bleu-4", "bleu-1", "cider-d", "meteor", "base", "my system"];

    fn value(text: &str) -> f64 {
        let of = |system: Option<&str>, name: &str| match (system, name) {
            (None, "bleu-4") => 0.25,
            (None, "cider-d") => 1.5,
            (None, "meteor") => 0.5,
            (Some("base" | "my system"), "cider-d") => 1.0,
            _ => f64::NAN,
        };
        Formula::parse(text, Some(KNOWN)).unwrap().value(&of)
    }

    fn error(text: &str) -> String {
        Condition::parse(text, Some(KNOWN)).unwrap_err().to_string()
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), 5.0);
        assert_eq!(value("-(1 + 2) * 3"), -9.0);
        assert_eq!(value("2 - 1 - 1"), 0.0);
        assert_eq!(value("1e-3*2e+3"), 2.0);
        assert_eq!(value("mean(bleu-4, meteor)"), 0.375);
        assert_eq!(value("max(bleu-4, min(meteor, 7))"), 0.5);
        assert_eq!(value("hmean(bleu-4, meteor)"), 1.0 / 3.0);
        assert_eq!([value("hmean(0, 1)"), value("gmean(0, 1)")], [0.0, 0.0]);
        assert!((value("gmean(bleu-4, 1)") - 0.5).abs() < 1e-15);
        assert_eq!(value("sum(1, 2, meteor) × 2 ÷ 7 − 1"), 0.0);
        assert_eq!(value("percent(bleu-4)"), 25.0);
        assert!(value("hmean(0, 0 - 1)").is_nan() && value("gmean(1, 0 - 1)").is_nan());
        assert!(value("max(1, bleu-1)").is_nan() && value("min(bleu-1, 1)").is_nan());
    }

    #[test]
    fn the_longest_name_is_meant() {
        assert_eq!(value("bleu-4-0.25"), 0.0);
        assert_eq!(value("bleu-4-bleu-4"), 0.0);
        assert_eq!(value("base[cider-d]-1"), 0.0);
        assert_eq!(value("'my system'[cider-d] - 1"), 0.0);
        assert_eq!(value("2*meteor"), 1.0);
    }

    #[test]
    fn a_number_is_a_name_only_in_quotation_marks_or_before_a_bracket() {
        let known = ["0", "2", "2nd"];
        let of = |system: Option<&str>, name: &str| match (system, name) {
            (None, "0") => 5.0,
            (None, "2nd") => 6.0,
            (Some("2"), "0") => 7.0,
            _ => f64::NAN,
        };
        let value = |text: &str| Formula::parse(text, Some(&known)).unwrap().value(&of);
        assert_eq!([value("0"), value("2"), value("0.5")], [0.0, 2.0, 0.5]);
        assert_eq!([value("'0'"), value("2nd"), value("2['0']"), value("\"2\" [0]")], [5.0, 6.0, 7.0, 7.0]);
    }

    #[test]
    fn equal_values_are_at_least_and_at_most_and_neither_above_nor_below() {
        for (relation, [less, equal, more, none]) in [
            (Relation::AtLeast, [false, true, true, false]),
            (Relation::AtMost, [true, true, false, false]),
            (Relation::Above, [false, false, true, false]),
            (Relation::Below, [true, false, false, false]),
        ] {
            let found = [0.5, 1.0, 1.5, f64::NAN].map(|left| relation.holds(left, 1.0));
            assert_eq!(found, [less, equal, more, none], "{relation}");
        }
    }

    #[test]
    fn an_error_says_what_is_wrong_and_where() {
        for (text, words) in [
            ("cider-d>=bse-0.001", "character 10: nothing is called 'bse-0.001'"),
            ("cider-d>=", "character 10: a value is expected, and the text ends"),
            ("cider-d", "character 8: one of >=, <=, >, < is expected, and the text ends"),
            ("cider-d == 1", "character 9: one of >=, <=, >, < is expected, not '=='"),
            ("cider-d >= 1 2", "character 14: the end is expected, not '2'"),
            ("(cider-d >= 1", "character 10: ) is expected, not '>='"),
            ("mean() >= 1", "character 6: a value is expected, not ')'"),
            ("median(cider-d) >= 1", "character 1: no function is called 'median'"),
            ("mean >= 1", "character 6: ( is expected, not '>='"),
            ("cider-d >= 1..2", "character 12: '1..2' is no number"),
            ("cider-d >= 'x", "character 12: a quotation mark has no partner"),
            ("é >= 1", "character 1: nothing is called 'é'"),
            ("cider-d >= é", "character 12: nothing is called 'é'"),
            ("percent(cider-d, 1) >= 1", "character 20: percent takes one value"),
            ("cider-d@out >= 1", "character 1: nothing is called 'cider-d@out'"),
        ] {
            assert_eq!(error(text), words, "{text}");
        }
    }

    #[test]
    fn no_text_makes_the_parser_fail_otherwise() {
        let deep = "(".repeat(100_000) + "1" + &")".repeat(100_000) + ">1";
        assert!(error(&deep).contains("too deep"));
        assert!(error(&("-".repeat(100_000) + "1>1")).contains("too deep"));
        for text in ["", " ", "[", "base[", "base[cider-d", ">", "\u{0}", "1e", "mean(1,", "''", "1e999 > 1"]
        {
            error(text);
        }
    }

    #[test]
    fn a_form_is_checked_without_names() {
        assert!(Condition::parse("spice>=base-0.001", None).is_ok());
        assert!(Condition::parse("spice>>1", None).is_err());
    }
}
