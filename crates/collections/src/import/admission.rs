//! Admits captions of an image: those in a language of the collection that keep its rules, each once, as long as there
//! are places.

use std::collections::HashSet;

use capeval_site::web::language::Language;

use super::Summary;
use super::left_out::Reason;
use super::source::Item;
use crate::records::Collection;
use crate::rules::lint::{self, Level};
use crate::rules::text;
use crate::settings::Goal;

/// The number of characters of a caption that are shown beside its problem.
const SHOWN: usize = 60;

/// The captions that a picture has, and those that it can still get.
pub(super) struct Room {
    /// The places for each goal; its language is empty if captions of all languages count together.
    pub free: Vec<(String, i64)>,
    /// The captions that it has: languages, and texts without case, space and punctuation.
    pub known: HashSet<(String, String)>,
}

/// A caption that is taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AdmittedCaption {
    pub language: String,
    /// The text, clean.
    pub text: String,
    /// The codes of rules that warn.
    pub warnings: Vec<String>,
}

impl Room {
    /// The room of a picture that is not there yet.
    pub fn new(collection: &Collection) -> Self {
        let place = |goal: &Goal| (goal.language.clone(), i64::from(goal.captions));
        Self { free: collection.goals.iter().map(place).collect(), known: HashSet::new() }
    }

    /// The captions of an image that are taken; all others are counted.
    pub fn admit(
        &mut self,
        collection: &Collection,
        item: &Item,
        summary: &mut Summary,
    ) -> Vec<AdmittedCaption> {
        let (mut admitted, mut taken) = (Vec::new(), HashSet::new());
        for given in &item.captions {
            let place = || format!("{}, image {}", given.place, item.id);
            if !collection.languages.contains(&given.language) {
                let why = format!("its language is {}", given.language);
                summary.left_out.add(Reason::OtherLanguage, place(), why);
                continue;
            }
            let clean = text::clean(&given.text);
            let broken = lint::broken(&clean, &given.language, &collection.shortest);
            if let Some(rule) = broken.iter().find(|rule| rule.level == Level::Refuse) {
                let why = format!("{} “{}”", rule.text(Language::English), short(&clean));
                summary.left_out.add(Reason::Rule, place(), why);
                continue;
            }
            let key = (given.language.clone(), text::norm(&clean));
            if self.known.contains(&key) {
                summary.known_captions += 1;
                continue;
            }
            if !taken.insert(key) {
                summary.left_out.add(Reason::SameCaption, place(), format!("“{}”", short(&clean)));
                continue;
            }
            let goal = self.free.iter_mut().find(|(goal, _)| goal.is_empty() || *goal == given.language);
            match goal {
                Some((_, free)) if *free > 0 => *free -= 1,
                _ => {
                    let why = format!("the picture has all its captions: “{}”", short(&clean));
                    summary.left_out.add(Reason::Surplus, place(), why);
                    continue;
                }
            }
            *summary.captions.entry(given.language.clone()).or_default() += 1;
            let warnings = broken.iter().map(|rule| rule.code.clone()).collect();
            admitted.push(AdmittedCaption { language: given.language.clone(), text: clean, warnings });
        }
        admitted
    }
}

fn short(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { shown + "…" } else { shown }
}
