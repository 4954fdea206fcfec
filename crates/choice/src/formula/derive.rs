//! Numbers made of measures, such as `sm = mean(bleu-4, meteor)`: their range, and which way they improve.

use super::{Formula, Function, Operator};
use crate::{Refusal, Remedy};

/// The way in which a value changes while all measures improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// It stays.
    Stays,
    /// It rises, or stays.
    Rises,
    /// It falls, or stays.
    Falls,
    /// It depends.
    Depends,
}

/// A number that a formula makes of measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// Its key: `sm`.
    pub name: String,
    /// The formula as it was written.
    pub text: String,
    /// The formula.
    pub formula: Formula,
    /// The trend, if it is given: `lower` or `higher` behind a semicolon.
    pub trend: Option<Trend>,
}

impl Trend {
    fn flipped(self) -> Self {
        match self {
            Self::Rises => Self::Falls,
            Self::Falls => Self::Rises,
            same => same,
        }
    }

    /// The trend of a value that rises with both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Stays, trend) | (trend, Self::Stays) => trend,
            (one, another) if one == another => one,
            _ => Self::Depends,
        }
    }

    fn times(self, sign: f64) -> Self {
        if sign < 0.0 { self.flipped() } else { self }
    }
}

/// The most values of a formula, and its greatest depth, with those that earlier names stand for: each derivation can
/// double what stands before it.
const MOST: (usize, usize) = (1000, 200);

impl Derivation {
    /// Reads `NAME = FORMULA`, with `; lower` or `; higher` behind it where that cannot be inferred; `known` are the
    /// measures, and names that were derived before with their formulas.
    ///
    /// # Errors
    /// When it is no such thing, names what is not known, or divides by zero.
    pub fn parse(text: &str, known: &[&str], before: &[Self]) -> Result<Self, Refusal> {
        const FORM: &str = "write a name, = and a formula, as in sm = mean(bleu-4, meteor)";
        let refused = |why: &str, remedy: Remedy| Refusal::new(format!("{text}: {why}")).with_remedy(remedy);
        let (name, rest) = text.split_once('=').ok_or_else(|| refused("it has no name", FORM.into()))?;
        let (formula, trend) = match rest.split_once(';') {
            Some((formula, trend)) => (formula, Some(trend.trim())),
            None => (rest, None),
        };
        let trend = match trend {
            None => None,
            Some("lower") => Some(Trend::Falls),
            Some("higher") => Some(Trend::Rises),
            Some(other) => {
                let why = format!("'{other}' is no direction of better values");
                return Err(refused(&why, "write ; lower or ; higher".into()));
            }
        };
        let name = name.trim();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        if name.is_empty() || !name.chars().all(is_name) || !name.starts_with(char::is_alphabetic) {
            let remedy = "begin with a letter, and use letters, digits and - _ . only";
            return Err(refused(&format!("'{name}' cannot be the name of a measure"), remedy.into()));
        }
        let is_taken = known.contains(&name) || before.iter().any(|other| other.name == name);
        if is_taken || name.parse::<Function>().is_ok() {
            return Err(refused(
                &format!("'{name}' is something else already"),
                "choose another name".into(),
            ));
        }
        let all: Vec<&str> = known.iter().copied().chain(before.iter().map(|other| &*other.name)).collect();
        let read = Formula::parse(formula, Some(&all)).map_err(|mut error| {
            // The formula stands behind the name.
            error.place += text.chars().count() - rest.chars().count();
            let remedy = error
                .remedy()
                .map(|remedy| remedy.or(Remedy::say("choose the metric that computes it, too")));
            refused(&error.to_string(), remedy.unwrap_or_else(|| FORM.into()))
        })?;
        if let Some((Some(system), _)) = read.names().into_iter().find(|(system, _)| system.is_some()) {
            return Err(refused(
                &format!("{system}[…] names a system"),
                "write the name of a measure".into(),
            ));
        }
        let (values, depth) = read.extent(before);
        if values > MOST.0 || depth > MOST.1 {
            return Err(refused(
                &format!("with what its names stand for, it has {values} values in {depth} steps"),
                Remedy::say(format!("write at most {} values in {} steps", MOST.0, MOST.1)),
            ));
        }
        let formula = read.with(before);
        if formula.divides_by_zero() {
            return Err(refused("it divides by zero", "divide by another number".into()));
        }
        if formula.names().is_empty() {
            return Err(refused("it names no measure", FORM.into()));
        }
        Ok(Self {
            name: name.to_owned(),
            text: rest.split(';').next().unwrap_or_default().trim().to_owned(),
            formula,
            trend,
        })
    }
}

impl Formula {
    /// The formula with those of earlier derivations in the place of their names.
    fn with(self, before: &[Derivation]) -> Self {
        match self {
            Self::Name(name) => {
                let known = before.iter().find(|other| other.name == name);
                known.map_or(Self::Name(name), |other| other.formula.clone())
            }
            Self::Negative(value) => Self::Negative(Box::new(value.with(before))),
            Self::Binary(left, operator, right) => {
                Self::Binary(Box::new(left.with(before)), operator, Box::new(right.with(before)))
            }
            Self::Call(function, values) => {
                Self::Call(function, values.into_iter().map(|value| value.with(before)).collect())
            }
            other => other,
        }
    }

    /// The number of values and steps that [`with`](Self::with) returns.
    fn extent(&self, before: &[Derivation]) -> (usize, usize) {
        let known = |name: &str| before.iter().find(|other| other.name == name);
        if let Self::Name(name) = self
            && let Some(other) = known(name)
        {
            return other.formula.extent(&[]);
        }
        let parts = self.parts().into_iter().map(|part| part.extent(before));
        parts.fold((1, 1), |(values, depth), (more, below)| (values + more, depth.max(below + 1)))
    }

    /// The formulas that this one joins.
    fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Name(_) | Self::Item(..) => Vec::new(),
            Self::Negative(value) => vec![value],
            Self::Binary(left, _, right) => vec![left, right],
            Self::Call(_, values) => values.iter().collect(),
        }
    }

    /// The value, if it names nothing.
    fn constant(&self) -> Option<f64> {
        self.names().is_empty().then(|| self.value(&|_, _| f64::NAN))
    }

    fn divides_by_zero(&self) -> bool {
        let here = matches!(self, Self::Binary(_, Operator::Over, right) if right.constant() == Some(0.0));
        here || self.parts().into_iter().any(Self::divides_by_zero)
    }

    /// The least and the greatest value, if names have those that `range` returns.
    pub fn range(&self, range: &dyn Fn(&str) -> (f64, f64)) -> (f64, f64) {
        let all = |values: &[Self], join: fn(&[f64]) -> f64| -> (f64, f64) {
            let ranges: Vec<(f64, f64)> = values.iter().map(|value| value.range(range)).collect();
            let (lows, highs): (Vec<f64>, Vec<f64>) = ranges.into_iter().unzip();
            (join(&lows), join(&highs))
        };
        match self {
            Self::Number(number) => (*number, *number),
            Self::Name(name) | Self::Item(_, name) => range(name),
            Self::Negative(value) => {
                let (low, high) = value.range(range);
                (-high, -low)
            }
            Self::Binary(left, operator, right) => {
                let ((a, b), (c, d)) = (left.range(range), right.range(range));
                let ends = |values: [f64; 4]| {
                    // Nothing times infinity is nothing: a score is finite.
                    let values = values.map(|value| if value.is_nan() { 0.0 } else { value });
                    (
                        values.into_iter().fold(f64::INFINITY, f64::min),
                        values.into_iter().fold(f64::NEG_INFINITY, f64::max),
                    )
                };
                match operator {
                    Operator::Plus => (a + c, b + d),
                    Operator::Minus => (a - d, b - c),
                    Operator::Times => ends([a * c, a * d, b * c, b * d]),
                    Operator::Over if c <= 0.0 && d >= 0.0 => (f64::NEG_INFINITY, f64::INFINITY),
                    Operator::Over => ends([a / c, a / d, b / c, b / d]),
                }
            }
            Self::Call(function, values) => match function {
                Function::Mean => all(values, |ends| ends.iter().sum::<f64>() / ends.len() as f64),
                Function::Sum => all(values, |ends| ends.iter().sum()),
                Function::Percent => all(values, |ends| 100.0 * ends.iter().sum::<f64>()),
                Function::Min => all(values, |ends| ends.iter().copied().fold(f64::INFINITY, f64::min)),
                Function::Max => all(values, |ends| ends.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
                Function::HarmonicMean | Function::GeometricMean => {
                    let (low, _) = all(values, |ends| ends.iter().copied().fold(f64::INFINITY, f64::min));
                    let (_, high) =
                        all(values, |ends| ends.iter().copied().fold(f64::NEG_INFINITY, f64::max));
                    (low.max(0.0), high)
                }
            },
        }
    }

    /// The way in which the value changes while all names improve in the way that `trend` returns, within `range`.
    pub fn trend(&self, trend: &dyn Fn(&str) -> Trend, range: &dyn Fn(&str) -> (f64, f64)) -> Trend {
        match self {
            Self::Number(_) => Trend::Stays,
            Self::Name(name) | Self::Item(_, name) => trend(name),
            Self::Negative(value) => value.trend(trend, range).flipped(),
            Self::Call(_, values) => {
                values.iter().map(|value| value.trend(trend, range)).fold(Trend::Stays, Trend::and)
            }
            Self::Binary(left, operator, right) => {
                let (one, another) = (left.trend(trend, range), right.trend(trend, range));
                let another = match operator {
                    Operator::Minus | Operator::Over => another.flipped(),
                    Operator::Plus | Operator::Times => another,
                };
                if matches!(operator, Operator::Plus | Operator::Minus) {
                    return one.and(another);
                }
                if let Some(factor) = right.constant() {
                    return one.times(factor);
                }
                if let Some(factor) = left.constant() {
                    return another.times(factor);
                }
                let is_positive = |formula: &Self| formula.range(range).0 >= 0.0;
                if is_positive(left) && is_positive(right) { one.and(another) } else { Trend::Depends }
            }
        }
    }

    /// Returns true if the value of a mean of rows is the mean of their values.
    pub fn is_linear(&self) -> bool {
        match self {
            Self::Number(_) | Self::Name(_) | Self::Item(..) => true,
            Self::Negative(value) => value.is_linear(),
            Self::Binary(left, operator, right) => {
                let both = left.is_linear() && right.is_linear();
                both && match operator {
                    Operator::Plus | Operator::Minus => true,
                    Operator::Times => left.constant().is_some() || right.constant().is_some(),
                    Operator::Over => right.constant().is_some(),
                }
            }
            Self::Call(function, values) => {
                matches!(function, Function::Mean | Function::Sum | Function::Percent)
                    && values.iter().all(Self::is_linear)
            }
        }
    }

    /// Returns true if it adds up values, or takes their mean, although their ranges end elsewhere.
    pub fn mixes(&self, range: &dyn Fn(&str) -> (f64, f64)) -> bool {
        let parts: Vec<&Self> = match self {
            Self::Binary(left, Operator::Plus, right) => vec![left, right],
            Self::Call(Function::Percent, _) => Vec::new(),
            Self::Call(_, values) => values.iter().collect(),
            _ => Vec::new(),
        };
        let varying = parts.into_iter().filter(|part| part.constant().is_none());
        let ends: Vec<f64> = varying.map(|part| part.range(range).1).collect();
        let here = ends.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 1e-9 * pair[0].abs());
        here || self.parts().into_iter().any(|part| part.mixes(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["bleu-4", "meteor", "rouge-l", "cider-d", "ter"];

    fn range(name: &str) -> (f64, f64) {
        match name {
            "cider-d" => (0.0, 10.0),
            "ter" => (0.0, f64::INFINITY),
            _ => (0.0, 1.0),
        }
    }

    fn trend(name: &str) -> Trend {
        if name == "ter" { Trend::Falls } else { Trend::Rises }
    }

    fn read(text: &str) -> Result<Derivation, String> {
        Derivation::parse(text, KNOWN, &[]).map_err(|refusal| {
            format!("{refusal}; {}", refusal.remedy().map(ToString::to_string).unwrap_or_default())
        })
    }

    #[test]
    fn derivations_that_grow_by_each_other_are_refused_before_they_fill_the_memory() {
        let grow = |next: fn(&str) -> String| {
            let mut before = vec![Derivation::parse("a0 = bleu-4", KNOWN, &[]).unwrap()];
            for k in 1..100 {
                let text = format!("a{k} = {}", next(&before[k - 1].name));
                match Derivation::parse(&text, KNOWN, &before) {
                    Ok(derivation) => before.push(derivation),
                    Err(refusal) => return refusal.to_string(),
                }
            }
            String::new()
        };
        let wide = grow(|last| format!("{last} + {last}"));
        assert!(wide.ends_with("it has 1023 values in 10 steps"), "{wide}");
        let deep = grow(|last| format!("{}{last}", "-".repeat(90)));
        assert!(deep.ends_with("it has 271 values in 271 steps"), "{deep}");
    }

    #[test]
    fn ranges_and_trends_are_inferred() {
        for (text, ends, way, is_linear, mixes) in [
            ("mean(bleu-4, meteor, rouge-l, cider-d)", (0.0, 3.25), Trend::Rises, true, true),
            ("mean(100*bleu-4, 100*meteor, 10*cider-d)", (0.0, 100.0), Trend::Rises, true, false),
            ("bleu-4 - ter", (f64::NEG_INFINITY, 1.0), Trend::Rises, true, false),
            ("1 - bleu-4", (0.0, 1.0), Trend::Falls, true, false),
            ("hmean(bleu-4, meteor)", (0.0, 1.0), Trend::Rises, false, false),
            ("bleu-4 * meteor", (0.0, 1.0), Trend::Rises, false, false),
            ("bleu-4 / ter", (f64::NEG_INFINITY, f64::INFINITY), Trend::Rises, false, false),
            ("bleu-4 - meteor", (-1.0, 1.0), Trend::Depends, true, false),
            ("percent(bleu-4)", (0.0, 100.0), Trend::Rises, true, false),
            ("max(bleu-4, meteor)", (0.0, 1.0), Trend::Rises, false, false),
            // What is below 0 turns ends and ways round.
            ("(bleu-4 - meteor) * rouge-l", (-1.0, 1.0), Trend::Depends, false, false),
            ("bleu-4 * -2", (-2.0, 0.0), Trend::Falls, true, false),
            ("-2 * ter", (f64::NEG_INFINITY, 0.0), Trend::Rises, true, false),
            ("bleu-4 / -2", (-0.5, 0.0), Trend::Falls, true, false),
        ] {
            let Derivation { formula, .. } = read(&format!("x = {text}")).unwrap();
            assert_eq!(formula.range(&range), ends, "{text}");
            assert_eq!(formula.trend(&trend, &range), way, "{text}");
            assert_eq!((formula.is_linear(), formula.mixes(&range)), (is_linear, mixes), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_derived_is_refused() {
        for (text, words) in [
            ("mean(bleu-4)", "it has no name"),
            ("= bleu-4", "'' cannot be the name"),
            ("a b = bleu-4", "'a b' cannot be the name"),
            ("1x = bleu-4", "'1x' cannot be the name"),
            ("meteor = bleu-4", "'meteor' is something else"),
            ("mean = bleu-4", "'mean' is something else"),
            ("x = bleu-5", "character 5: nothing is called 'bleu-5'; did you mean bleu-4"),
            ("x = bleu-4 / 0", "divides by zero"),
            ("x = bleu-4 / (1 - 1)", "divides by zero"),
            ("x = 3", "names no measure"),
            ("x =", "a value is expected"),
            ("x = a[bleu-4]", "nothing is called 'a'"),
            ("x = bleu-4; up", "'up' is no direction"),
            ("ü = mean(bleu-4", "character 16: ) is expected"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_number_may_be_made_of_earlier_ones() {
        let first = read("sm = mean(bleu-4, meteor)").unwrap();
        let second = Derivation::parse("twice = 2*sm; lower", KNOWN, &[first]).unwrap();
        assert_eq!(second.formula.value(&|_, name| if name == "meteor" { 0.5 } else { 0.25 }), 0.75);
        assert_eq!((second.trend, second.text.as_str()), (Some(Trend::Falls), "2*sm"));
    }
}
