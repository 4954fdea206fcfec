//! The forms in use, by name, with the program that each equals.

use std::fmt;
use std::str::FromStr;

use capeval_choice::{Refusal, Remedy, UnknownName, named};

use crate::WordMetric;
use crate::pairs::{Garbage, PairRule};

named! {
    /// A program that scores dense captions, at one version.
    pub enum Program ("form") {
        Capeval = "capeval", "our recommendation: missing videos count 0, nothing random, all references pooled, with SODA_c and F1";
        Densevid2017 = "densevid-2017", "ranjaykrishna/densevid_eval of June 2017";
        Densevid2017b = "densevid-2017b", "ranjaykrishna/densevid_eval of November 2017";
        Densevid2018 = "densevid-2018", "ranjaykrishna/densevid_eval of 2018";
        Densevid2019 = "densevid-2019", "ranjaykrishna/densevid_eval since 2019, which PDVC and those after it call 2021";
        Pdvc2018 = "pdvc-2018", "ttengwang/PDVC with densevid_eval of 2018";
        Pdvc2021 = "pdvc-2021", "ttengwang/PDVC with densevid_eval of 2019";
        PdvcSoda = "pdvc-soda", "SODA_c as ttengwang/PDVC computes it: each reference file alone";
        VidChapters = "vidchapters", "antoyang/VidChapters: videos without predictions are left out";
        VtimeLlm = "vtimellm", "huangb23/VTimeLLM: as vidchapters, without distances";
        Scenic = "scenic", "google-research/scenic (Vid2Seq): thresholds first, then videos";
        TimeChat = "timechat", "RenShuhuai-Andy/TimeChat: as scenic";
        SodaA = "soda-a", "fujiso/SODA, type a: matched by overlap at four thresholds";
        SodaB = "soda-b", "fujiso/SODA, type b: matched by overlap";
        SodaC = "soda-c", "fujiso/SODA, type c: matched by overlap times score; the published SODA";
        SodaD = "soda-d", "fujiso/SODA, type d: overlap alone";
        SoccerNet = "soccernet", "SoccerNet's evaluation of dense video captioning";
        MartParagraph = "mart-paragraph", "jayleicn/recurrent-transformer (MART) and PDVC: the captions of a video as one paragraph";
        ScenicParagraph = "scenic-paragraph", "google-research/scenic (Vid2Seq): METEOR and CIDEr-D of paragraphs";
        TimeChatParagraph = "timechat-paragraph", "RenShuhuai-Andy/TimeChat: METEOR and CIDEr-D of paragraphs";
        MartRepetition = "mart-repetition", "jayleicn/recurrent-transformer (MART): the share of repeated n-grams of each video";
        Vist = "vist", "lichengunc/vist_eval: the stories of albums";
    }
}

named! {
    /// The metric of captions within SODA.
    pub enum SodaMetric ("metric of SODA") {
        Meteor = "meteor", "METEOR, the default";
        Cider = "cider-d", "CIDEr-D, with document frequencies of the video's predictions";
        Rouge = "rouge-l", "ROUGE-L, whose class the program imports without offering it";
        Bleu1 = "bleu-1", "BLEU-1 of sentences, which the program cannot run";
        Bleu2 = "bleu-2", "BLEU-2 of sentences, which the program cannot run";
        Bleu3 = "bleu-3", "BLEU-3 of sentences, which the program cannot run";
        Bleu4 = "bleu-4", "BLEU-4 of sentences, which the program cannot run";
    }
}

impl SodaMetric {
    /// The metric that computes it.
    pub(crate) fn of_words(self) -> WordMetric {
        match self {
            Self::Meteor => WordMetric::Meteor,
            Self::Cider => WordMetric::Cider,
            Self::Rouge => WordMetric::Rouge,
            Self::Bleu1 | Self::Bleu2 | Self::Bleu3 | Self::Bleu4 => WordMetric::Bleu,
        }
    }
}

/// The name that PDVC, and those after it, give to the evaluation of 2019.
const CALLED_2021: &str = "densevid-2021";

/// A form with its settings, as people write it: `densevid-2019`, or `soda-c:cider-d:multi`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Form {
    /// The program.
    pub program: Program,
    /// The metric of SODA.
    pub metric: SodaMetric,
    /// True if SODA compares with each reference file alone and takes the best, as its option `-mr` does.
    pub is_multi: bool,
}

impl From<Program> for Form {
    fn from(program: Program) -> Self {
        Self { program, metric: SodaMetric::Meteor, is_multi: false }
    }
}

impl Form {
    /// All forms of events, without settings.
    pub fn all() -> impl Iterator<Item = Self> {
        Program::ALL.iter().map(|program| Self::from(*program)).filter(|form| !form.is_text())
    }

    /// One form by its name, or those of [`Form::all`] for `all`.
    ///
    /// # Errors
    /// When there is no such form.
    pub fn several(text: &str) -> Result<Vec<Self>, Refusal> {
        if text == "all" { Ok(Self::all().collect()) } else { Ok(vec![text.parse()?]) }
    }

    /// Returns true if the form compares whole texts, so that times do not matter.
    pub fn is_text(self) -> bool {
        use Program::{MartParagraph, MartRepetition, ScenicParagraph, TimeChatParagraph, Vist};
        matches!(self.program, MartParagraph | ScenicParagraph | TimeChatParagraph | MartRepetition | Vist)
    }

    /// Returns true if a measure of the form is METEOR, or is made of it.
    pub fn has_meteor(self) -> bool {
        match self.program {
            Program::SodaD | Program::MartRepetition => false,
            Program::SodaA | Program::SodaB | Program::SodaC => self.metric == SodaMetric::Meteor,
            _ => true,
        }
    }

    /// Returns true if this is SODA's own program.
    pub fn is_soda(self) -> bool {
        use Program::{SodaA, SodaB, SodaC, SodaD};
        matches!(self.program, SodaA | SodaB | SodaC | SodaD)
    }

    /// The rule by which captions are paired, if the form compares pairs.
    pub(crate) fn rule(self) -> Option<PairRule> {
        use Program::*;
        let later = PairRule::LATER;
        Some(match self.program {
            Densevid2017 => PairRule { garbage: Garbage::LastOnly, is_video_alone: true, ..later },
            Densevid2017b => PairRule { garbage: Garbage::PerFile, ..later },
            Densevid2018 | Pdvc2018 => PairRule { garbage: Garbage::Fixed, ..later },
            Densevid2019 | Pdvc2021 | VidChapters | VtimeLlm => later,
            Capeval => PairRule { is_ascii: false, ..later },
            Scenic | TimeChat => PairRule { is_ascii: false, is_ordered: true, ..later },
            SoccerNet => PairRule { is_strict: true, thresholds: &[0.0], ..later },
            _ => return None,
        })
    }

    /// Returns true if the program stops without the keys `version` and `external_data`.
    pub(crate) fn requires_keys(self) -> bool {
        use Program::{Densevid2017, Densevid2017b, Densevid2018, Densevid2019, Pdvc2018, Pdvc2021};
        matches!(
            self.program,
            Densevid2017 | Densevid2017b | Densevid2018 | Densevid2019 | Pdvc2018 | Pdvc2021
        )
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program.name())?;
        if self.is_soda() {
            write!(f, ":{}", self.metric.name())?;
            if self.is_multi {
                f.write_str(":multi")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Form {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut parts = text.split(':');
        let program = match parts.next().unwrap_or_default() {
            CALLED_2021 => Program::Densevid2019,
            name => name.parse()?,
        };
        let mut form = Self::from(program);
        for setting in parts {
            if !form.is_soda() {
                return Err(Refusal::new(format!("the form {} has no settings", program.name()))
                    .with_remedy(Remedy::say(format!("write {}", program.name()))));
            }
            match setting {
                "multi" => form.is_multi = true,
                metric => {
                    form.metric = metric.parse().map_err(|mut unknown: UnknownName| {
                        unknown.choices.push("multi");
                        Refusal::from(unknown)
                    })?;
                }
            }
        }
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_are_written() {
        for text in ["densevid-2019", "capeval", "soda-c:meteor", "soda-a:cider-d:multi"] {
            assert_eq!(text.parse::<Form>().unwrap().to_string(), text);
        }
        let refused = |text: &str| {
            let refusal = text.parse::<Form>().unwrap_err();
            format!("{refusal}; {}", refusal.remedy().unwrap())
        };
        assert_eq!("densevid-2021".parse::<Form>().unwrap().to_string(), "densevid-2019");
        assert!(
            refused("densevid-2020").starts_with("unknown form \"densevid-2020\"; did you mean densevid-201")
        );
        assert!(refused("scenic:multi").contains("has no settings"));
        assert!(refused("soda-c:bleu").contains("multi"));
    }
}
