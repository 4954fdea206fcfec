//! Shares the heads and subjects of conjuncts.

use std::collections::{BTreeMap, HashMap};

use super::net::{Label, Link, LinkId, Net};
use super::relations::Kind;
use super::sentence::Sentence;
use crate::WordId;

/// Applies to the other conjuncts what holds for the first: heads, and subjects of verbs and adjectives without one.
pub(super) fn share(net: &mut Net, sentence: &Sentence<'_>) {
    let is_named =
        |link: &LinkId| net.link(*link).label.kind == Kind::Conj && !net.link(*link).label.is_plain();
    if !net.all().any(|link| is_named(&link)) {
        return;
    }
    let mut heads: BTreeMap<WordId, Vec<Link>> = BTreeMap::new();
    let mut subjects: HashMap<WordId, Link> = HashMap::new();
    let mut passive: Vec<WordId> = Vec::new();
    let mut relative: Vec<WordId> = Vec::new();
    for link in net.all().map(|link| net.link(link)) {
        heads.entry(link.dependent).or_default().push(link.clone());
        match link.label.kind {
            Kind::Auxpass => passive.push(link.head),
            Kind::Relcl => relative.push(link.head),
            Kind::Nsubj | Kind::Nsubjpass | Kind::Csubj | Kind::Csubjpass => {
                subjects.entry(link.head).or_insert_with(|| link.clone());
            }
            _ => {}
        }
    }
    for links in heads.values_mut() {
        links.sort_by(|a, b| {
            net.place(a.head).cmp(&net.place(b.head)).then_with(|| a.label.name.cmp(&b.label.name))
        });
        links.dedup();
    }
    let copy = net.snapshot();
    let conjuncts: Vec<(WordId, WordId)> = copy
        .all()
        .map(|link| copy.link(link))
        .filter(|link| link.label.kind == Kind::Conj && !link.label.is_plain())
        .map(|link| (link.head, link.dependent))
        .collect();
    for (first, conjunct) in conjuncts {
        let both_relative = relative.contains(&first) && relative.contains(&conjunct);
        for link in heads.get(&first).into_iter().flatten() {
            let own = both_relative && matches!(link.label.kind, Kind::Dobj | Kind::Nsubj);
            if link.head != conjunct && link.label.kind != Kind::Case && !own {
                net.add(Link { dependent: conjunct, ..link.clone() });
            }
        }
        let tag = sentence.tag(net, conjunct);
        let needs_subject =
            (tag.starts_with("VB") || tag.starts_with("JJ")) && !subjects.contains_key(&conjunct);
        if let Some(subject) = subjects.get(&first).filter(|_| needs_subject) {
            let active = matches!(tag, "VB" | "VBZ" | "VBP") || tag.starts_with("JJ");
            let kind = match subject.label.kind {
                Kind::Nsubjpass if active => Kind::Nsubj,
                Kind::Csubjpass if active => Kind::Csubj,
                Kind::Nsubj if passive.contains(&conjunct) => Kind::Nsubjpass,
                Kind::Csubj if passive.contains(&conjunct) => Kind::Csubjpass,
                kind => kind,
            };
            net.add(Link { label: Label::new(kind), head: conjunct, dependent: subject.dependent });
        }
    }
}
