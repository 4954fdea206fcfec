//! From basic dependencies to the collapsed graph: prepositions and conjunctions become part of names, and what
//! conjuncts share is repeated for each.

use std::borrow::Cow;

use super::net::{Label, Link, LinkId, Net};
use super::prepositions::{is_case_marked, join_prepositions};
use super::relations::Kind;
use super::sentence::Sentence;
use super::sharing::share;
use crate::{WordId, lemma};

/// Verbs with an infinitive and no object: "what" in "what does she seem to have" belongs to "have".
const VERBS_WITHOUT_OBJECT: &str = "acquiesce submit bow defer accede succumb yield capitulate despise disdain dislike \
    regret like love enjoy fear hate pledge proceed begin start commence recommence resume undertake ally collaborate \
    collude conspire discriminate legislate partner protest rebel retaliate scheme sin befriend continue broadcast cable \
    e-mail fax modem netmail phone radio relay satellite semaphore sign signal telecast telegraph telephone telex wire \
    wireless ache crave fall hanker hope hunger itch long lust pine pray thirst wish yearn dangle babble bark bawl bellow \
    bleat blubber boom bray burble bluster cackle call carol chant chatter chirp chortle chuckle cluck coo croak croon crow \
    cry drawl drone gabble gasp gibber groan growl grumble grunt hiss holler hoot howl jabber keen lilt lisp mewl moan \
    mumble murmur mutter nasal natter pant prattle purr quaver rage rant rasp roar rumble scream screech shout shriek \
    sibilate simper sigh sing smatter smile snap snarl snivel snuffle splutter squall squawk squeak squeal stammer stemmer \
    stutter thunder tisk trill trumpet twang twitter vociferate wail warble wheeze whimper whine whisper whistle witter \
    whoop yammer yap yell yelp yodel blare gurgle hum neglect fail forego forgo flub overleap manage omit seem appear prove \
    try attempt intend expect mean plan propose think aim dream imagine yen";

/// Moves question words to the verb that they are the object of, and gives the provisional relations their names.
pub(super) fn settle(net: &mut Net, sentence: &Sentence<'_>) {
    if net.roots().next().is_some() && net.has(Kind::Xcomp) {
        move_question_words(net, sentence);
    }
    name_relatives(net);
}

fn move_question_words(net: &mut Net, sentence: &Sentence<'_>) {
    let copy = net.snapshot();
    for verb in copy.topological() {
        let Some(embedded) = copy.by(verb, Kind::Xcomp).next() else { continue };
        let object_like = |label: &Label| label.is(Kind::Dep) || label.is(Kind::Dobj);
        let Some(question) = copy.children(verb, object_like).next() else { continue };
        let question = copy.link(question).dependent;
        let is_object = |label: &Label| label.is(Kind::Dobj) || label.is(Kind::Iobj);
        let moves = sentence.tag(net, question).starts_with('W')
            && (copy.children(verb, is_object).next().is_some() || {
                let lemma = lemma(sentence.text(net, verb), sentence.tag(net, verb));
                VERBS_WITHOUT_OBJECT.split_ascii_whitespace().any(|verb| verb.eq_ignore_ascii_case(&lemma))
            });
        if let Some(link) = net.between(verb, question).filter(|_| moves) {
            net.remove(link);
            net.add(Link { label: Label::new(Kind::Dobj), head: embedded, dependent: question });
        }
    }
}

/// `prep` becomes `case` of a noun before it ("which she fights for") or `nmod`; `rel` becomes `nmod` or `dobj`.
fn name_relatives(net: &mut Net) {
    let with = |net: &Net, kind: Kind| -> Vec<LinkId> {
        net.all().filter(|link| net.link(*link).label.is(kind)).collect()
    };
    for preposition in with(net, Kind::Prep) {
        let Link { head, dependent, .. } = *net.link(preposition);
        let before = |link: &LinkId| net.place(net.link(*link).dependent).0 <= net.place(dependent).0;
        let nominal = |label: &Label| label.is(Kind::Nmod) || label.is(Kind::Rel);
        let noun = net.children(head, nominal).find(before);
        let Some(link) = noun else {
            net.set_label(preposition, Label::new(Kind::Nmod));
            continue;
        };
        let noun = net.link(link).dependent;
        net.remove(preposition);
        net.add(Link { label: Label::new(Kind::Case), head: noun, dependent });
        net.set_label(link, Label::new(Kind::Nmod));
    }
    for link in with(net, Kind::Rel) {
        net.set_label(link, Label::new(Kind::Dobj));
    }
}

/// Subjects of verbs with a passive auxiliary become passive; links that occur twice are kept once.
pub(super) fn correct(net: &mut Net) {
    if net.roots().next().is_some() && net.has(Kind::Auxpass) {
        let copy = net.snapshot();
        for verb in copy.topological() {
            if copy.by(verb, Kind::Auxpass).next().is_none() {
                continue;
            }
            let active = |label: &Label| label.is(Kind::Nsubj) || label.is(Kind::Csubj);
            for subject in copy.children(verb, active).map(|link| copy.link(link).dependent) {
                let Some(link) = net.between(verb, subject) else { continue };
                let kind = match &net.link(link).label {
                    label if label.is(Kind::Nsubj) => Kind::Nsubjpass,
                    label if label.is(Kind::Csubj) => Kind::Csubjpass,
                    _ => continue,
                };
                net.remove(link);
                net.add(Link { label: Label::new(kind), head: verb, dependent: subject });
            }
        }
    }
    net.remove_duplicates();
}

/// Collapses a corrected graph and repeats what conjuncts share.
pub(super) fn collapse(net: &mut Net, sentence: &Sentence<'_>) {
    correct(net);
    if net.roots().next().is_some() {
        join_prepositions(net, sentence);
        let coordinated = net.has(Kind::Cc);
        if coordinated {
            expand_phrases(net, sentence);
            expand_prepositions(net, sentence);
        }
        name_by_case(net, sentence);
        if coordinated {
            name_by_conjunction(net, sentence);
        }
    }
    share(net, sentence);
}

/// Matches that a conjunction and a conjunct share a head, those of the same head and conjunction together.
#[derive(Debug)]
struct Coordination {
    head: WordId,
    conjunction: WordId,
    conjuncts: Vec<WordId>,
}

#[derive(Default)]
struct Coordinations(Vec<Coordination>);

impl Coordinations {
    fn add(&mut self, head: WordId, conjunction: WordId, conjunct: WordId) {
        match self.0.last_mut().filter(|last| (last.head, last.conjunction) == (head, conjunction)) {
            Some(last) => last.conjuncts.push(conjunct),
            None => self.0.push(Coordination { head, conjunction, conjuncts: vec![conjunct] }),
        }
    }
}

/// "flies to France and from Serbia": the verb is copied for the second phrase.
fn expand_phrases(net: &mut Net, sentence: &Sentence<'_>) {
    let copy = net.snapshot();
    let mut found = Coordinations::default();
    for governor in copy.topological() {
        for link in copy.children(governor, is_case_marked) {
            let head = copy.link(link).dependent;
            // Each preposition is a match of its own.
            for _ in copy.by(head, Kind::Case) {
                for conjunction in copy.by(head, Kind::Cc) {
                    for conjunct in copy.by(head, Kind::Conj) {
                        for _ in copy.by(conjunct, Kind::Case) {
                            found.add(head, conjunction, conjunct);
                        }
                    }
                }
            }
        }
    }
    for Coordination { head, conjunction, conjuncts } in found.0 {
        let Some(link) = net.parent(head).and_then(|parent| net.between(parent, head)) else { continue };
        let label = net.link(link).label.clone();
        let original = net.original(net.link(link).head);
        let mut copies = Vec::new();
        for conjunct in conjuncts {
            let (copy, source) = net.copy_head(link);
            if let Some(link) = net.between(head, conjunct) {
                net.remove(link);
                net.add_from(Link { label: label.clone(), head: copy, dependent: conjunct }, source);
            }
            net.add(Link { label: Label::new(Kind::Conj), head: original, dependent: copy });
            copies.push(copy);
        }
        if let Some(link) = net.between(head, conjunction) {
            net.remove(link);
            net.add(Link { label: Label::new(Kind::Cc), head: original, dependent: conjunction });
        }
        name_conjuncts(net, sentence, &Coordination { head: original, conjunction, conjuncts: copies });
    }
}

/// "flies to and from Serbia": the verb is copied for the second preposition.
fn expand_prepositions(net: &mut Net, sentence: &Sentence<'_>) {
    let copy = net.snapshot();
    let mut found = Coordinations::default();
    for noun in copy.topological() {
        for head in copy.by(noun, Kind::Case) {
            for conjunction in copy.by(head, Kind::Cc) {
                copy.by(head, Kind::Conj).for_each(|conjunct| found.add(head, conjunction, conjunct));
            }
        }
    }
    for Coordination { head, conjunction, conjuncts } in found.0 {
        let Some(noun) = net.parent(head) else { continue };
        let Some(link) = net.parent(noun).and_then(|parent| net.between(parent, noun)) else { continue };
        let label = net.link(link).label.clone();
        let original = net.original(net.link(link).head);
        let mut copies = Vec::new();
        for conjunct in conjuncts {
            let (copy, source) = net.copy_head(link);
            net.add(Link { label: Label::new(Kind::Conj), head: original, dependent: copy });
            copies.push(copy);
            net.add_from(Link { label: label.clone(), head: copy, dependent: noun }, source);
            name_by_words(net, sentence, copy, noun, &[conjunct]);
        }
        name_conjuncts(net, sentence, &Coordination { head: original, conjunction, conjuncts: copies });
    }
}

/// Names nominal modifiers and clauses after their prepositions, and agents of passive verbs.
fn name_by_case(net: &mut Net, sentence: &Sentence<'_>) {
    if !net.has(Kind::Case) {
        return;
    }
    if net.has(Kind::Auxpass) {
        name_agents(net, sentence);
    }
    // Each preposition is to name one noun, but only the last one is remembered.
    let mut last = Vec::new();
    for words in if net.has(Kind::Mwe) { 1..=3 } else { 1..=1 }.rev() {
        let copy = net.snapshot();
        for head in copy.topological() {
            for link in copy.children(head, is_case_marked) {
                let noun = copy.link(link).dependent;
                for first in copy.by(noun, Kind::Case) {
                    for mut markers in expressions(&copy, first, words) {
                        markers.sort_by_key(|word| copy.place(*word));
                        if markers != last {
                            name_by_words(net, sentence, head, noun, &markers);
                            last = markers;
                        }
                    }
                }
            }
        }
    }
}

/// The noun after "by" is the agent of a passive verb.
fn name_agents(net: &mut Net, sentence: &Sentence<'_>) {
    let copy = net.snapshot();
    for verb in copy.topological().into_iter().filter(|verb| copy.by(*verb, Kind::Auxpass).next().is_some()) {
        for agent in copy.by(verb, Kind::Nmod) {
            let is_by = |word: WordId| sentence.text(&copy, word).eq_ignore_ascii_case("by");
            if let Some(link) = net.between(verb, agent).filter(|_| copy.by(agent, Kind::Case).any(is_by)) {
                net.set_label(link, Label::specific(Kind::Nmod, "agent"));
            }
        }
    }
}

/// The expressions of so many words that a word heads.
fn expressions(net: &Net, first: WordId, words: usize) -> Vec<Vec<WordId>> {
    let second = || net.by(first, Kind::Mwe);
    match words {
        1 => vec![vec![first]],
        2 => second().map(|second| vec![first, second]).collect(),
        _ => {
            let pairs = second().flat_map(|b| second().filter(move |c| *c != b).map(move |c| (b, c)));
            pairs.map(|(b, c)| vec![first, b, c]).collect()
        }
    }
}

/// Names the link between two words after the words of a preposition. Words that are no neighbours make several links.
fn name_by_words(net: &mut Net, sentence: &Sentence<'_>, head: WordId, noun: WordId, words: &[WordId]) {
    let Some(link) = net.between(head, noun) else { return };
    let named = |net: &Net, text: &str| match &net.link(link).label {
        label if matches!(label.kind, Kind::Nmod | Kind::Acl | Kind::Advcl) => {
            Label::specific(label.kind, text)
        }
        label => label.clone(),
    };
    let mut text = String::new();
    let mut previous: Option<usize> = None;
    let mut joined = false;
    for word in words.iter().copied() {
        let index = net.place(word).0;
        if previous.is_none_or(|previous| index == previous + 1) {
            if joined {
                text.push('_');
            }
            text.push_str(sentence.lower(net, word));
            joined = true;
        } else {
            net.add(Link { label: named(net, &text), head, dependent: noun });
            sentence.lower(net, word).clone_into(&mut text);
            joined = false;
        }
        previous = Some(index);
    }
    let label = named(net, &text);
    net.set_label(link, label);
}

/// Names conjuncts after their conjunctions.
fn name_by_conjunction(net: &mut Net, sentence: &Sentence<'_>) {
    let copy = net.snapshot();
    let mut found = Coordinations::default();
    for head in copy.topological() {
        for conjunction in copy.by(head, Kind::Cc) {
            copy.by(head, Kind::Conj).for_each(|conjunct| found.add(head, conjunction, conjunct));
        }
    }
    found.0.iter().for_each(|coordination| name_conjuncts(net, sentence, coordination));
}

/// A conjunct that has no name yet, or that follows the conjunction, is named after it.
fn name_conjuncts(net: &mut Net, sentence: &Sentence<'_>, coordination: &Coordination) {
    let Coordination { head, conjunction, conjuncts } = coordination;
    for conjunct in conjuncts {
        let Some(link) = net.between(*head, *conjunct) else { continue };
        if net.link(link).label.is(Kind::Conj) || net.place(*conjunct).0 > net.place(*conjunction).0 {
            let name = conjunction_name(net, sentence, *conjunction);
            net.set_label(link, Label::specific(Kind::Conj, &name));
        }
    }
}

/// A conjunction, or what those of several words mean.
fn conjunction_name<'s>(net: &Net, sentence: &'s Sentence<'_>, word: WordId) -> Cow<'s, str> {
    let index = net.original(word);
    let lower = |index: Option<WordId>| {
        let index = index.filter(|index| *index < sentence.lower.len());
        index
            .filter(|index| {
                net.places()
                    .iter()
                    .enumerate()
                    .any(|(word, place)| place.0 == index + 1 && net.contains(word))
            })
            .map(|index| sentence.lower[index].as_str())
    };
    let first = sentence.lower[index].as_str();
    if first == "not" && lower(index.checked_sub(1)) == Some("but") {
        return "negcc".into();
    }
    let Some(second) = lower(Some(index + 1)) else { return sentence.texts[index].into() };
    let name = match (first, second) {
        ("but", "rather") | ("if", "not") | ("instead", "of") | ("rather", "than") => "negcc",
        ("but", "also") | ("as", "well") => "and",
        ("not", "to") if lower(Some(index + 2)) == Some("mention") => "and",
        _ => first,
    };
    name.into()
}
