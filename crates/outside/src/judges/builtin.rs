//! The judges that come with capeval.

use capeval::metric::{CardNeeds, Family, MetricCard, Part};
use capeval_choice::{Argument, Refusal};

use crate::judges::judge::Judge;

/// A judge that comes with capeval. Command line and documentation read these.
pub struct BuiltIn {
    /// The name that users type.
    pub name: &'static str,
    /// The quality that it rewards, in one line.
    pub summary: &'static str,
    /// Its file.
    pub file: &'static str,
}

impl BuiltIn {
    /// What lists, help and documentation say of it.
    pub(crate) fn card(&self) -> MetricCard {
        MetricCard {
            name: self.name,
            summary: self.summary,
            paper: "none",
            program: "none",
            settings: Vec::new(),
            variants: &[],
            parts: self.parts(),
            // It has the name of a model.
            signature: None,
            family: Family::Judges,
            needs: Some(CardNeeds {
                what: "a language model behind a server that speaks OpenAI's chat API",
                job: None,
                given: &[Argument::Endpoint, Argument::JudgeModel, Argument::Judgements],
                instead: &[],
            }),
            seconds: 1000.0,
        }
    }

    /// Its measures.
    pub fn parts(&self) -> Vec<Part> {
        // That each file can be read is tested.
        Judge::read(self.file.as_bytes(), true).map(|judge| judge.parts()).unwrap_or_default()
    }
}

/// The judges, in the order of lists.
pub const JUDGES: &[BuiltIn] = &[
    BuiltIn {
        name: "judge",
        summary: "a language model grades the caption by the references",
        file: include_str!("../../judges/judge.toml"),
    },
    BuiltIn {
        name: "judge-image",
        summary: "a language model grades the caption by the picture",
        file: include_str!("../../judges/judge-image.toml"),
    },
    BuiltIn {
        name: "judge-pair",
        summary: "a language model says which of two captions fits the references better",
        file: include_str!("../../judges/judge-pair.toml"),
    },
    BuiltIn {
        name: "judge-items",
        summary: "a language model says which items the caption mentions, and which rightly",
        file: include_str!("../../judges/judge-items.toml"),
    },
];

/// Returns true if one of them has this name.
pub fn is_name(name: &str) -> bool {
    JUDGES.iter().any(|judge| judge.name == name)
}

/// The judge of this name.
pub fn find(name: &str) -> Option<Result<Judge, Refusal>> {
    let known = JUDGES.iter().find(|judge| judge.name == name)?;
    Some(Judge::read(known.file.as_bytes(), true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judges::answer::Kind;
    use crate::judges::template::Field;

    #[test]
    fn each_file_is_a_judge_of_its_name() {
        for known in JUDGES {
            let judge = find(known.name).unwrap().unwrap();
            assert_eq!(judge.name, known.name);
            assert_eq!(judge.parts(), known.parts());
            assert_eq!(judge.has(Field::Image), known.name == "judge-image");
            assert_eq!(judge.kind == Kind::Pairwise, known.name == "judge-pair");
            // Captions stand in strings of JSON.
            assert!(!known.file.contains("{candidate}") && !known.file.contains("{first}"));
        }
    }
}
