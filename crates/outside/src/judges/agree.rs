//! Two runs of a judge compared: how often they say the same, and how far they are apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use capeval::stats::agreement::krippendorff_ordinal;
use capeval_choice::Refusal;
use capeval_files::Error;
use serde::Serialize;

use crate::judges::record::{Judgement, Record};

/// How much two files of judgements agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// The judge, and the models of both runs.
    pub judge: String,
    /// The model of each run, as the server names it; several are joined by `+`.
    pub models: [String; 2],
    /// The number of questions with an answer that could be read in both files.
    pub questions: usize,
    /// The number of questions that only one file has, for each.
    pub only: [usize; 2],
    /// The number of questions of both that could not be read in one of them.
    pub unreadable: usize,
    /// The share of equal grades.
    pub exact: f64,
    /// The mean of the second grade minus the first.
    pub difference: f64,
    /// The mean of the absolute differences.
    pub absolute_difference: f64,
    /// Krippendorff's α for ordered ratings; `None` if all grades are equal.
    pub alpha: Option<f64>,
}

/// Compares the judgements of two files, which must be of one judge.
///
/// # Errors
/// When a file cannot be read, or they have no question of one judge in common.
pub fn agree(first: &str, second: &str) -> Result<Vec<Agreement>, Error> {
    let records = [Record::read(first)?, Record::read(second)?];
    let [of_first, of_second] = records.map(|record| by_judge(record.all()));
    let mut found = Vec::new();
    for (asks, one) in &of_first {
        if let Some(other) = of_second.get(asks) {
            found.extend(compared(one, other));
        }
    }
    if found.is_empty() {
        return Err(Refusal::new(format!("{first} and {second} have no question of one judge in common"))
            .with_remedy("compare two runs of the same judge on the same captions")
            .into());
    }
    Ok(found)
}

/// The last answer to each question, by what a judge asks.
type ByJudge = BTreeMap<String, BTreeMap<String, Arc<Judgement>>>;

fn by_judge(all: Vec<Arc<Judgement>>) -> ByJudge {
    let mut found = ByJudge::new();
    for judgement in all {
        let of_judge = found.entry(judgement.asks.clone()).or_default();
        // The first answer that can be read counts, as in scores.
        let is_better = of_judge.get(&judgement.question).is_none_or(|known| grade(known).is_none());
        if is_better {
            of_judge.insert(judgement.question.clone(), judgement);
        }
    }
    found
}

/// The grade that was read from an answer; of a checklist, the share of right items.
fn grade(judgement: &Judgement) -> Option<f64> {
    let values: Vec<f64> = serde_json::from_value(judgement.read.get("values")?.clone()).ok()?;
    match values[..] {
        [grade] => Some(grade),
        [items, _, right] if items > 0.0 => Some(right / items),
        _ => None,
    }
}

fn compared(
    one: &BTreeMap<String, Arc<Judgement>>,
    other: &BTreeMap<String, Arc<Judgement>>,
) -> Option<Agreement> {
    let both: Vec<[&Judgement; 2]> =
        one.iter().filter_map(|(question, first)| Some([&**first, &**other.get(question)?])).collect();
    let grades: Vec<[f64; 2]> =
        both.iter().filter_map(|[first, second]| Some([grade(first)?, grade(second)?])).collect();
    let first = both.first()?[0];
    let n = grades.len() as f64;
    let mean =
        |of: &dyn Fn(&[f64; 2]) -> f64| if n == 0.0 { 0.0 } else { grades.iter().map(of).sum::<f64>() / n };
    let models = [0, 1].map(|side| {
        let mut models: Vec<&str> =
            both.iter().map(|pair| pair[side].model.as_deref().unwrap_or(&pair[side].asked)).collect();
        models.sort_unstable();
        models.dedup();
        models.join("+")
    });
    Some(Agreement {
        judge: format!("{} {}", first.judge, first.version),
        models,
        questions: grades.len(),
        only: [one.len() - both.len(), other.len() - both.len()],
        unreadable: both.len() - grades.len(),
        exact: mean(&|[first, second]| f64::from(u8::from(first == second))),
        difference: mean(&|[first, second]| second - first),
        absolute_difference: mean(&|[first, second]| (second - first).abs()),
        alpha: krippendorff_ordinal(grades.iter().map(<[f64; 2]>::as_slice)),
    })
}
