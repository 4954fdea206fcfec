//! Pairs with the references to draw from, in an order that does not depend on files.

use std::collections::HashMap;

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::ratings::{Choice, Choices};
use capeval_corpus::scores::SegmentScores;
use capeval_corpus::{Captions, Ids, OtherIds, SegmentId, Surplus};
use capeval_report::Notice;

use crate::findings::Findings;
use crate::given::{absent, same_scores};
use crate::notices::numbered;
use crate::own_reference::{ReferenceRules, same_caption};
use crate::restrict::normal;
use crate::{Error, OwnReference};

/// The maximum number of ids in an error or notice.
const SHOWN: usize = Notice::MAX_IDS;

/// A pair of captions with the votes of people.
#[derive(Clone)]
pub(super) struct JudgedPair {
    pub image: SegmentId,
    pub captions: [String; 2],
    pub votes: [f64; 2],
    /// The category; empty if there is none.
    pub category: String,
    /// The references to draw from.
    pub pool: Vec<String>,
}

/// The pairs, sorted by image, captions and votes.
fn ordered(choices: &Choices) -> Vec<&Choice> {
    let mut items: Vec<&Choice> = choices.items.iter().collect();
    let votes = |choice: &Choice| choice.votes.map(f64::to_bits);
    items.sort_by(|a, b| {
        let of = |c: &Choice| (votes(c), c.references.clone());
        (&a.image, &a.captions, &a.category)
            .cmp(&(&b.image, &b.captions, &b.category))
            .then_with(|| of(a).cmp(&of(b)))
    });
    items
}

fn judged(choice: &Choice, pool: Vec<String>) -> JudgedPair {
    JudgedPair {
        image: choice.image.clone(),
        captions: choice.captions.clone(),
        votes: choice.votes,
        category: choice.category.clone().unwrap_or_default(),
        pool,
    }
}

/// Pairs without references.
pub(super) fn bare(choices: &Choices) -> Vec<JudgedPair> {
    ordered(choices).into_iter().map(|choice| judged(choice, Vec::new())).collect()
}

/// Pairs with the references in `given`, or with their own if none are given.
pub(super) fn with_references(
    choices: &Choices,
    given: Option<&Captions>,
    rules: ReferenceRules,
    found: &mut Findings,
) -> Result<Vec<JudgedPair>, Error> {
    let pairs = pooled(choices, given, rules.ids)?;
    let pairs = without_lost(choices, given, pairs, rules, found)?;
    let pairs = without_own(pairs, rules.own, found);
    if let Some(bare) = pairs.iter().find(|pair| pair.pool.is_empty()) {
        let image = bare.image.quoted();
        return Err(Error::with_remedy(
            format!("{}: a pair of image {image} has no reference but its own captions", choices.source),
            Remedy::set(Argument::OwnReference, "skip").or(Remedy::set(Argument::OwnReference, "keep")),
        ));
    }
    if pairs.is_empty() {
        return Err(Error::request(format!("{}: no pair is left", choices.source)));
    }
    Ok(pairs)
}

/// All pairs with what there is to draw from.
fn pooled(choices: &Choices, given: Option<&Captions>, ids: Ids) -> Result<Vec<JudgedPair>, Error> {
    if given.is_none() && choices.items.iter().all(|choice| choice.references.is_empty()) {
        return Err(Error::with_remedy(
            format!("{}: metrics need references", choices.source),
            Remedy::give(Argument::References)
                .or(Remedy::say("add a list `references` to each pair"))
                .or(Remedy::give(Argument::Scores).to("use scores that were computed before")),
        ));
    }
    let mut known: HashMap<SegmentId, Vec<&str>> = HashMap::new();
    for (id, text) in given.iter().flat_map(|captions| captions.iter()) {
        known.entry(normal(id, ids)).or_default().push(text);
    }
    let pool = |choice: &Choice| -> Vec<String> {
        match given {
            Some(_) => {
                let texts = known.get(&normal(&choice.image, ids)).into_iter().flatten();
                texts.map(|text| (*text).to_owned()).collect()
            }
            None => choice.references.clone(),
        }
    };
    Ok(ordered(choices).into_iter().map(|choice| judged(choice, pool(choice))).collect())
}

/// The pairs that have references.
fn without_lost(
    choices: &Choices,
    given: Option<&Captions>,
    pairs: Vec<JudgedPair>,
    rules: ReferenceRules,
    found: &mut Findings,
) -> Result<Vec<JudgedPair>, Error> {
    let n_all = pairs.len();
    let (kept, lost): (Vec<JudgedPair>, Vec<JudgedPair>) =
        pairs.into_iter().partition(|pair| !pair.pool.is_empty());
    let Some(first) = lost.first() else { return Ok(kept) };
    let message = format!(
        "{} of {n_all} pairs are of images without a reference{}, such as {}",
        lost.len(),
        given.map_or_else(String::new, |captions| format!(" in {}", captions.source())),
        first.image.quoted()
    );
    if rules.surplus == Surplus::Error || kept.is_empty() {
        let ignore = Remedy::set(Argument::Surplus, "ignore").to("leave them out");
        let remedy = match kept.is_empty() {
            true => Remedy::say("check the ids, and give the references they were judged with"),
            false => Remedy::say("give the references they were judged with").or(ignore),
        };
        let message = format!("{}: {message}", choices.source);
        let ids = lost.iter().map(|pair| &pair.image);
        if let Some(other) = given.and_then(|given| OtherIds::of(given.ids(), ids, rules.ids)) {
            return Err(Error::with_remedy(format!("{message}: {}", other.examples()), other.remedy()));
        }
        return Err(match given.and_then(numbered) {
            Some((why, name_them)) => Error::with_remedy(format!("{message}: {why}"), name_them),
            None => Error::with_remedy(message, remedy),
        });
    }
    let notice = Notice::applied(Argument::Surplus, Surplus::Ignore.name(), format!("left out: {message}"));
    found.add([notice.ids(listed(lost.iter())).count(lost.len())]);
    Ok(kept)
}

/// The pairs, treated as the policy says if one of their captions is also a reference of theirs.
fn without_own(mut pairs: Vec<JudgedPair>, own: OwnReference, found: &mut Findings) -> Vec<JudgedPair> {
    let is_same = same_caption(own);
    let is_own = |pair: &JudgedPair| {
        pair.pool.iter().any(|text| pair.captions.iter().any(|caption| is_same(text, caption)))
    };
    let of_own: Vec<&JudgedPair> = pairs.iter().filter(|pair| is_own(pair)).collect();
    found.add(own_captions(&of_own, own));
    match own {
        OwnReference::Keep => {}
        OwnReference::Remove | OwnReference::RemoveSameWords | OwnReference::HoldOut => {
            for pair in &mut pairs {
                let captions = &pair.captions;
                pair.pool.retain(|text| !captions.iter().any(|caption| is_same(text, caption)));
            }
        }
        OwnReference::Skip => pairs.retain(|pair| !is_own(pair)),
    }
    pairs
}

/// A notice about pairs with a caption that is also a reference of theirs.
fn own_captions(pairs: &[&JudgedPair], own: OwnReference) -> Option<Notice> {
    let what = match pairs.len() {
        0 => return None,
        1 => "1 pair has a caption that is itself a reference of it".to_owned(),
        n => format!("{n} pairs have a caption that is itself a reference of theirs"),
    };
    let message = match own {
        OwnReference::Keep => what,
        OwnReference::Remove | OwnReference::RemoveSameWords | OwnReference::HoldOut => {
            format!("{what}; there, such references are not drawn")
        }
        OwnReference::Skip => format!("left out: {what}"),
    };
    let remedy = Remedy::set(Argument::OwnReference, "remove").to("draw no such reference").or(Remedy::set(
        Argument::OwnReference,
        "skip",
    )
    .to("leave such pairs out"));
    let remedy = (own == OwnReference::Keep).then_some(remedy);
    let notice = Notice::applied(Argument::OwnReference, own.name(), message);
    Some(Notice { remedy, ..notice.ids(listed(pairs.iter().copied())).count(pairs.len()) })
}

fn listed<'j>(pairs: impl Iterator<Item = &'j JudgedPair>) -> Vec<SegmentId> {
    pairs.take(SHOWN).map(|pair| pair.image.clone()).collect()
}

/// The given scores of the first and of the second captions, measure after measure.
pub(super) fn given(
    judged: &[JudgedPair],
    scores: &SegmentScores,
    ids: Ids,
) -> Result<Vec<Vec<Vec<f64>>>, Error> {
    let fault = |message: String| format!("{}: {message}", scores.source);
    let mut known: HashMap<(SegmentId, String), &[f64]> = HashMap::new();
    for row in &scores.rows {
        let Some(caption) = &row.caption else {
            return Err(Error::with_remedy(
                fault(format!("a score of image {} is without its caption", row.image.quoted())),
                "add a column caption, since a pair has two",
            ));
        };
        let key = (normal(&row.image, ids), caption.trim().to_owned());
        if known.insert(key, &row.scores).is_some_and(|other| !same_scores(other, &row.scores)) {
            let message = format!("image {} has several scores of one caption", row.image.quoted());
            return Err(Error::request(fault(message)));
        }
    }
    let of = |pair: &JudgedPair, caption: &str| {
        known.get(&(normal(&pair.image, ids), caption.to_owned())).copied()
    };
    let missing: Vec<&JudgedPair> = judged
        .iter()
        .filter(|pair| pair.captions.iter().any(|caption| of(pair, caption).is_none()))
        .collect();
    if let Some(first) = missing.first() {
        let message = format!(
            "{} of {} pairs have a caption without a score, such as one of image {}",
            missing.len(),
            judged.len(),
            first.image.quoted()
        );
        return Err(Error::with_remedy(fault(message), "score both captions of every pair"));
    }
    let rows = |k: usize| judged.iter().filter_map(move |pair| Some((pair, of(pair, &pair.captions[k])?)));
    let lacking = rows(0).chain(rows(1)).find_map(|(pair, row)| absent(scores, &pair.image, row));
    if let Some(error) = lacking {
        return Err(error);
    }
    let column = |m: usize, k: usize| rows(k).filter_map(|(_, row)| row.get(m).copied()).collect();
    Ok((0..scores.keys.len()).map(|m| vec![column(m, 0), column(m, 1)]).collect())
}

/// A notice about rows without votes.
pub(super) fn unvoted(choices: &Choices) -> Option<Notice> {
    (choices.unvoted > 0).then(|| {
        let rows =
            if choices.unvoted == 1 { "1 row".to_owned() } else { format!("{} rows", choices.unvoted) };
        let message = format!("left out: {rows} of {} without a vote", choices.source);
        Notice::new(Code::NoVote, message).count(choices.unvoted)
    })
}
