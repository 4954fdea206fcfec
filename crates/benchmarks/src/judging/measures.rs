//! Summarises judgements: the measures M1 to M4 of the COCO captioning challenge of 2015.

use std::collections::HashMap;

use capeval_api::SystemMeasures;
use serde::Deserialize;

/// A judgement of a caption.
#[derive(Clone, Debug, Deserialize)]
pub struct Judgement {
    /// The submission; `None` for a reference.
    pub system: Option<String>,
    pub image: String,
    /// 4 describes it without errors, 3 with minor errors, 2 is somewhat related, 1 is unrelated.
    pub grade: i64,
    /// True if it was taken for a machine's.
    pub is_machine: bool,
    /// 1 lacks detail, 5 is very detailed.
    pub detail: i64,
}

/// Sums and the number of values.
#[derive(Default)]
struct Mean(i64, usize);

impl Mean {
    fn add(&mut self, value: i64) {
        self.0 += value;
        self.1 += 1;
    }
}

/// The measures of each system, the best by M1 first, and the references last.
pub fn measure(judgements: &[Judgement]) -> Vec<SystemMeasures> {
    let mut grades: HashMap<(Option<&str>, &str), Mean> = HashMap::new();
    let mut by_system: HashMap<Option<&str>, Vec<&Judgement>> = HashMap::new();
    for judgement in judgements {
        let system = judgement.system.as_deref();
        grades.entry((system, &judgement.image)).or_default().add(judgement.grade);
        by_system.entry(system).or_default().push(judgement);
    }
    let mut measured: Vec<SystemMeasures> = by_system
        .into_iter()
        .map(|(system, judgements)| {
            let n = judgements.len() as f64;
            let share =
                |is: &dyn Fn(&Judgement) -> bool| judgements.iter().filter(|one| is(one)).count() as f64 / n;
            let mean =
                |of: fn(&Judgement) -> i64| judgements.iter().map(|one| of(one)).sum::<i64>() as f64 / n;
            let compared = grades.iter().filter(|((of, _), _)| system.is_some() && *of == system);
            let compared: Vec<bool> = compared
                .filter_map(|((_, image), own)| {
                    let person = grades.get(&(None, image))?;
                    // Means without rounding: a/b >= c/d for positive b and d.
                    Some(own.0 * person.1 as i64 >= person.0 * own.1 as i64)
                })
                .collect();
            let good = compared.iter().filter(|is_good| **is_good).count() as f64;
            SystemMeasures {
                system: system.map(str::to_owned),
                judgements: judgements.len(),
                m1: (!compared.is_empty()).then(|| good / compared.len() as f64),
                m2: share(&|one| !one.is_machine),
                m3: mean(|one| one.grade),
                m4: mean(|one| one.detail),
                at_least: [4, 3, 2].map(|grade| share(&|one| one.grade >= grade)),
            }
        })
        .collect();
    measured.sort_by(|a, b| {
        let best = |one: &SystemMeasures| one.m1.unwrap_or(-1.0);
        let by_m1 = best(b).total_cmp(&best(a));
        a.system
            .is_none()
            .cmp(&b.system.is_none())
            .then(by_m1)
            .then(b.m2.total_cmp(&a.m2))
            .then(a.system.cmp(&b.system))
    });
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(system: &str, image: &str, grade: i64, is_machine: bool, detail: i64) -> Judgement {
        let system = (!system.is_empty()).then(|| system.to_owned());
        Judgement { system, image: image.to_owned(), grade, is_machine, detail }
    }

    #[test]
    fn systems_are_compared_with_people_image_by_image() {
        let judgements = [
            judgement("", "1", 4, false, 5),
            judgement("", "1", 3, false, 3),
            judgement("", "2", 2, true, 1),
            // 3.5 of 3.5, 4 of 2; the third image has no judgement of a person's caption.
            judgement("a", "1", 4, true, 2),
            judgement("a", "1", 3, false, 2),
            judgement("a", "2", 4, false, 2),
            judgement("a", "3", 1, true, 2),
            judgement("b", "1", 3, true, 5),
            judgement("b", "2", 2, true, 4),
        ];
        let measured = measure(&judgements);
        let names: Vec<Option<&str>> = measured.iter().map(|one| one.system.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("b"), None]);
        assert_eq!((measured[0].m1, measured[1].m1, measured[2].m1), (Some(1.0), Some(0.5), None));
        assert_eq!((measured[0].m2, measured[1].m2), (0.5, 0.0));
        assert_eq!((measured[0].m3, measured[0].m4), (3.0, 2.0));
        assert_eq!(measured[0].at_least, [0.5, 0.75, 0.75]);
        assert_eq!(measured[2].judgements, 3);
        assert_eq!(measure(&[]), []);
    }
}
