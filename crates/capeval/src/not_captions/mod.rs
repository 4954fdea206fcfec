//! Decides what is a caption: reports texts that are not, refuses scores that they make meaningless, and removes them
//! on request.
//!
//! A kind is detected from its form, or as a habit of most captions of one side that captions of the other side lack;
//! lists of words only settle what the form leaves open. Kinds that show in single captions are looked for in all
//! candidates and in a sample of the references (`text`), kinds that captions have in common in a sample of both sides
//! (`shared`, `unlike`). A kind that makes scores meaningless ([`NonCaption`]) is an error if most captions of one side
//! are of this kind, and a notice otherwise.

use std::collections::HashMap;

use capeval_choice::{Argument, Code, NoticeCode, Remedy, SegmentId};
use capeval_metric::AnyMetric;
use capeval_report::Notice;
use rayon::prelude::*;

use crate::Error;

mod census;
mod clean;
mod decoration;
mod kind;
mod labels;
mod shared;
mod text;
mod thoughts;
mod unlike;

pub use clean::Removal;
pub(crate) use clean::clean;
pub use kind::{Cleaning, NonCaption};
pub use thoughts::after_thoughts;

use self::clean::Cleaner;
use self::kind::{KINDS, Kind};
use self::shared::{Habits, REFERENCES};

/// With fewer captions, what they have in common says nothing.
const FEW: usize = 5;

/// With fewer captions, what people may write may be meant: `a b c d` in a test.
const FEW_WRITTEN: usize = 3;

/// The number of texts in which habits are looked for.
const SAMPLE: usize = 2000;

/// A caption, and the image that it describes.
pub(crate) type Caption<'t> = (&'t SegmentId, &'t str);

/// Up to [`SAMPLE`] of some texts, evenly spread.
fn sample<'t>(texts: &[&'t str]) -> impl Iterator<Item = &'t str> {
    texts.iter().copied().step_by(texts.len().div_ceil(SAMPLE).max(1))
}

/// Captions to check, with those of the other side.
pub(crate) struct CaptionCheck<'a> {
    /// The kinds that a person accepts.
    accept: &'a [NonCaption],
    references: Vec<Caption<'a>>,
    /// True if there are more references than these.
    is_sample: bool,
    metrics: &'a [AnyMetric],
}

/// Notices about captions, and those that make scores meaningless.
#[derive(Default)]
pub(crate) struct CaptionFindings {
    pub notices: Vec<Notice>,
    /// Notices of kinds that nothing allows, each with what to do.
    refused: Vec<(NonCaption, Notice)>,
    /// The ways to remove what is refused; `None` if that would leave some.
    cleanings: Option<Vec<Cleaning>>,
}

impl<'a> CaptionCheck<'a> {
    /// A check with a sample of `n` references, spread evenly: `every` returns one of each given number.
    pub fn new(
        accept: &'a [NonCaption],
        n: usize,
        every: impl FnOnce(usize) -> Vec<Caption<'a>>,
        metrics: &'a [AnyMetric],
    ) -> Self {
        let step = n.div_ceil(SAMPLE).max(1);
        Self { accept, references: every(step), is_sample: step > 1, metrics }
    }

    /// Checks the captions of all systems, and the references.
    ///
    /// # Errors
    /// When most captions of a system or most references are of a kind that makes scores meaningless, and the other
    /// side is not, unless it is accepted.
    pub fn check(&self, systems: &[(&str, Vec<Caption<'_>>)]) -> Result<Vec<Notice>, Error> {
        self.findings(systems).finish()
    }

    /// As [`Self::check`], for those who are told of everything and decide themselves.
    pub fn tell(&self, systems: &[(&str, Vec<Caption<'_>>)]) -> Vec<Notice> {
        let CaptionFindings { notices, refused, .. } = self.findings(systems);
        refused.into_iter().map(|(_, notice)| notice).chain(notices).collect()
    }

    fn findings(&self, systems: &[(&str, Vec<Caption<'_>>)]) -> CaptionFindings {
        let texts =
            |captions: &[Caption<'a>]| -> Vec<&'a str> { captions.iter().map(|(_, text)| *text).collect() };
        let references = texts(&self.references);
        let mut findings = CaptionFindings::default();
        let mut of_systems = Side::default();
        for (name, captions) in systems {
            let texts: Vec<&str> = captions.iter().map(|(_, text)| *text).collect();
            let side = Side::of(captions, Habits::of(&texts, &references));
            let whose = format!("captions of {name}");
            if let Some(notice) = shared::one_text(&whose, &texts) {
                // What else it is follows from that, unless it is no caption by itself.
                findings.notices.push(notice.system(*name));
            }
            findings.add(&side, &whose, captions, self.accept, |code| self.is_of_references(code));
            let habits = side.habits.notices(&whose, texts.len()).into_iter();
            findings.notices.extend(habits.map(|notice| notice.system(*name)));
            findings.notices.extend(unlike::unlike(name, &texts, &references, self.metrics));
            of_systems
                .rows
                .extend(side.rows.into_iter().filter(|(_, rows)| rows.len() * 2 >= captions.len()));
        }
        let first = systems.first().map_or(&[][..], |(_, captions)| captions);
        let candidates: Vec<&str> = first.iter().map(|(_, text)| *text).collect();
        // People may give several images one caption.
        let habits = Habits { placeholders: Vec::new(), ..Habits::of(&references, &candidates) };
        let side = Side::of(&self.references, habits);
        let is_of_systems = |code: Code| of_systems.rows.contains_key(&code);
        let whose = if self.is_sample { "references looked at" } else { REFERENCES };
        findings.add(&side, whose, &self.references, self.accept, is_of_systems);
        findings.notices.extend(side.habits.beyond_templates().notices(REFERENCES, references.len()));
        findings
    }

    /// Returns true if most references are of a kind.
    fn is_of_references(&self, code: Code) -> bool {
        let is_it = |(_, text): &&Caption<'_>| text::kind_of(text) == Some(code);
        NonCaption::of(code).is_some()
            && self.references.iter().filter(is_it).count() * 2 >= self.references.len().max(1)
    }
}

/// The captions of one side by their kinds.
#[derive(Default)]
struct Side {
    habits: Habits,
    rows: HashMap<Code, Vec<usize>>,
}

impl Side {
    fn of(captions: &[Caption<'_>], habits: Habits) -> Self {
        let found: Vec<(Code, usize)> = captions
            .par_iter()
            .enumerate()
            .filter_map(|(row, (_, text))| Some((habits.kind_of(text)?, row)))
            .collect();
        let mut rows: HashMap<Code, Vec<usize>> = HashMap::new();
        for (kind, row) in found {
            rows.entry(kind).or_default().push(row);
        }
        // What all captions begin with follows from what they are, such as thoughts.
        let is_one_kind = rows.iter().any(|(code, rows)| {
            *code != Code::FailedRequests
                && NonCaption::of(*code).is_some()
                && rows.len() * 2 >= captions.len()
        });
        let habits = Habits { prompt: habits.prompt.filter(|_| !is_one_kind), ..habits };
        Self { habits, rows }
    }
}

impl CaptionFindings {
    /// Adds what the captions of one side are; `is_of_others` knows what most captions of the other side are.
    fn add(
        &mut self,
        side: &Side,
        whose: &str,
        captions: &[Caption<'_>],
        accept: &[NonCaption],
        is_of_others: impl Fn(Code) -> bool,
    ) {
        let system = whose.strip_prefix("captions of ");
        let is_reference = system.is_none();
        let mut offer = |kind: Option<&Kind>, code: Code, notice: Notice, rows: &[usize]| {
            let notice = Notice { system: system.map(str::to_owned), ..notice };
            let is_written = kind.is_some_and(|kind| kind.is_written);
            // A text that stands for several images may be all that a poor system has to say.
            let is_sure = |row: &&usize| {
                let text = captions.get(**row).map_or("", |(_, text)| text.trim());
                text::kind_of(text).is_some() || !side.habits.placeholders.iter().any(|known| known == text)
            };
            let n_sure = rows.iter().filter(is_sure).count();
            let are_most = n_sure * 2 >= captions.len() && (!is_written || n_sure >= FEW_WRITTEN);
            let non_caption = NonCaption::of(code).filter(|_| are_most && !is_of_others(code));
            let cleaning = Cleaning::of(code)
                .map(|cleaning| Remedy::set(Argument::Clean, cleaning.name()).to("remove them"));
            let advice = kind.map(|kind| Remedy::say(kind.advice));
            match non_caption {
                Some(non_caption) if !accept.contains(&non_caption) => {
                    let texts = rows.iter().filter_map(|row| captions.get(*row)).map(|(_, text)| *text);
                    self.cleanings = match self.refused.is_empty() {
                        true => cleanings(&side.habits, texts),
                        false => self.cleanings.take().and_then(|mut known| {
                            known.extend(cleanings(&side.habits, texts)?);
                            known.sort_unstable();
                            known.dedup();
                            Some(known)
                        }),
                    };
                    let advice = advice.filter(|_| code == Code::LabelledTexts);
                    self.refused.push((non_caption, Notice { remedy: advice, ..notice }));
                }
                Some(non_caption) => {
                    let code = NoticeCode::Applied(Argument::Accept, non_caption.name());
                    self.notices.push(Notice { code, ..notice });
                }
                None => {
                    let remedy = cleaning.or(advice);
                    self.notices.push(Notice { remedy: remedy.or(notice.remedy.clone()), ..notice });
                }
            }
        };
        for kind in KINDS {
            let Some(rows) = side.rows.get(&kind.code) else { continue };
            // A few of many are what people wrote: "I am unable to see the image above." is in COCO.
            if (kind.is_written || is_reference) && rows.len() * 100 < captions.len() {
                continue;
            }
            if let Some(mut notice) = notice(kind, whose, captions, rows) {
                if kind.code == Code::LabelledTexts {
                    let first = rows.first().and_then(|row| captions.get(*row)).map_or("", |(_, text)| text);
                    notice.message = format!("{}, with {}", notice.message, side.habits.named_labels(first));
                }
                offer(Some(kind), kind.code, notice, rows);
            }
        }
        if side.habits.is_asked() && !is_reference {
            let all: Vec<usize> = (0..captions.len()).collect();
            if let Some(notice) = side.habits.prompt_notice(&format!("nearly all {whose}"), captions.len()) {
                offer(None, Code::PromptInCaptions, notice, &all);
            }
        }
    }

    fn finish(self) -> Result<Vec<Notice>, Error> {
        if self.refused.is_empty() {
            return Ok(self.notices);
        }
        let mut names: Vec<&str> = self.refused.iter().map(|(non_caption, _)| non_caption.name()).collect();
        names.sort_unstable();
        names.dedup();
        let messages: Vec<&str> = self.refused.iter().map(|(_, notice)| notice.message.as_str()).collect();
        let accept = Remedy::set(Argument::Accept, names.join(",")).to("score them as they are");
        let remedy = match self.cleanings.filter(|kinds| !kinds.is_empty()) {
            Some(kinds) => {
                let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                Remedy::set(Argument::Clean, kinds.join(",")).to("remove what is no caption").or(accept)
            }
            None => match self.refused.iter().find_map(|(_, notice)| notice.remedy.clone()) {
                Some(advice) => advice.or(accept),
                None => accept,
            },
        };
        Err(Error::with_remedy(messages.join("; "), remedy))
    }
}

/// The ways to remove what is no caption from these texts; `None` if some would be left, or nothing of a caption.
fn cleanings<'t>(habits: &Habits, texts: impl Iterator<Item = &'t str>) -> Option<Vec<Cleaning>> {
    let texts: Vec<&str> = texts.collect();
    let mut kinds: Vec<Cleaning> = Vec::new();
    for _ in Cleaning::ALL {
        let cleaner = Cleaner::with(&kinds, habits.clone());
        let mut next: Option<Cleaning> = None;
        for text in &texts {
            let (cleaned, _) = cleaner.clean(text);
            if cleaned.trim().is_empty() {
                return None;
            }
            let kind = habits.kind_of(&cleaned);
            let Some(code) = kind.filter(|code| NonCaption::of(*code).is_some()) else { continue };
            next = Some(Cleaning::of(code).filter(|cleaning| !kinds.contains(cleaning))?);
            break;
        }
        match next {
            Some(kind) => kinds.push(kind),
            None => {
                kinds.sort_unstable();
                return Some(kinds);
            }
        }
    }
    None
}

/// A notice that some captions are of a kind.
fn notice(kind: &Kind, whose: &str, captions: &[Caption<'_>], rows: &[usize]) -> Option<Notice> {
    let (id, text) = captions.get(*rows.first()?)?;
    let predicate = match (rows.len(), kind.predicate.split_once(' ')) {
        (1, Some(("are", rest))) => format!("is {rest}"),
        (1, Some(("have", rest))) => format!("has {rest}"),
        (1, Some((verb, rest))) => format!("{verb}s {rest}"),
        _ => kind.predicate.to_owned(),
    };
    let message = format!(
        "{} of {} {whose} {predicate}, for example image {}: {}",
        rows.len(),
        captions.len(),
        id.quoted(),
        excerpt(text),
    );
    let ids = rows.iter().filter_map(|row| captions.get(*row)).take(Notice::MAX_IDS);
    Some(Notice::new(kind.code, message).count(rows.len()).ids(ids.map(|(id, _)| (*id).clone()).collect()))
}

/// The beginning of a text in quotes.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 50;
    let shown: String = text.trim().chars().take(SHOWN).collect();
    let more = if text.trim().chars().count() > SHOWN { "…" } else { "" };
    format!("{:?}", shown + more)
}

/// A notice of texts that are no captions among some captions without references, such as those of a training loop.
pub(crate) fn check_texts(texts: &[&str]) -> Vec<Notice> {
    let id = SegmentId::from(0);
    let captions: Vec<Caption<'_>> = texts.iter().map(|text| (&id, *text)).collect();
    let mut rows: HashMap<Code, Vec<usize>> = HashMap::new();
    for (row, text) in texts.iter().enumerate() {
        if let Some(kind) = text::kind_of(text) {
            rows.entry(kind).or_default().push(row);
        }
    }
    let notice = |kind: &Kind| {
        let rows = rows.get(&kind.code).filter(|rows| rows.len() * 2 >= captions.len())?;
        let first = captions.get(*rows.first()?)?.1;
        let message =
            format!("{} of {} captions {}: {}", rows.len(), captions.len(), kind.predicate, excerpt(first));
        NonCaption::of(kind.code)
            .map(|_| Notice::new(kind.code, message).count(rows.len()).remedy(kind.advice))
    };
    KINDS.iter().filter_map(notice).collect()
}

#[cfg(test)]
mod tests;
