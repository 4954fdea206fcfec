//! Several captions of an image in a batch, as one row of scores.

use std::collections::HashMap;

use capeval_choice::{Argument, Remedy, counted};
use capeval_metric::Direction;
use capeval_report::Measure;

use crate::{Error, Several};

impl Several {
    /// Refuses a measure that is not computed.
    pub fn check(&self, measures: &[Measure]) -> Result<(), Error> {
        self.best_of(measures).map(|_| ())
    }

    /// The place of the measure by which a caption is the best, and true if lower values are better; `None` if captions
    /// are not compared.
    pub(crate) fn best_of(&self, measures: &[Measure]) -> Result<Option<(usize, bool)>, Error> {
        let Self::Best(key) = self else { return Ok(None) };
        let at = measures.iter().position(|measure| measure.key == *key).ok_or_else(|| {
            let known = measures.iter().map(|measure| measure.key.as_str());
            Error::with_remedy(
                format!("{self}: no measure that is computed is called '{key}'"),
                capeval_choice::suggest(key, known),
            )
        })?;
        Ok(Some((at, measures[at].direction == Direction::LowerIsBetter)))
    }

    /// The rows of a batch, whose captions describe `images`: a row for each image, in the order in which these come
    /// first, or for each caption if each counts. `values` are rows of one value for each of `measures`.
    ///
    /// # Errors
    /// When several captions of an image are an error, or there is no such measure.
    pub fn of_batch(
        &self,
        images: &[u32],
        values: Vec<f64>,
        measures: &[Measure],
    ) -> Result<Vec<f64>, Error> {
        if *self == Self::Each {
            return Ok(values);
        }
        let width = measures.len();
        let row = |k: usize| values.get(k * width..(k + 1) * width).unwrap_or_default();
        let groups = grouped(images);
        let best = self.best_of(measures)?;
        let mut out = Vec::with_capacity(groups.len() * width);
        for group in &groups {
            let (&first, &last) = match (group.first(), group.last()) {
                (Some(first), Some(last)) => (first, last),
                _ => continue,
            };
            match (self, best) {
                (Self::Error, _) if group.len() > 1 => {
                    let n = counted(group.len(), "caption");
                    return Err(Error::with_remedy(
                        format!("caption {last} is one of {n} of its image"),
                        Remedy::set(Argument::Several, "each").to("score each of them").or(Remedy::set(
                            Argument::Several,
                            "mean",
                        )
                        .to("take their mean")),
                    ));
                }
                (Self::Last, _) => out.extend_from_slice(row(last)),
                (Self::Mean, _) => {
                    let sum = |m: usize| group.iter().map(|k| row(*k)[m]).sum::<f64>();
                    out.extend((0..width).map(|m| sum(m) / group.len() as f64));
                }
                (_, Some((at, is_lower_better))) => {
                    let value = |k: usize| if is_lower_better { -row(k)[at] } else { row(k)[at] };
                    // A score that is no number is never better.
                    let better =
                        |best: usize, k: &usize| match value(*k) > value(best) || value(best).is_nan() {
                            true => *k,
                            false => best,
                        };
                    out.extend_from_slice(row(group.iter().fold(first, better)));
                }
                _ => out.extend_from_slice(row(first)),
            }
        }
        Ok(out)
    }
}

/// The captions of each image, in the order in which images come first.
fn grouped(images: &[u32]) -> Vec<Vec<usize>> {
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (k, image) in images.iter().enumerate() {
        let place = *places.entry(*image).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(k),
            None => groups.push(vec![k]),
        }
    }
    groups
}
