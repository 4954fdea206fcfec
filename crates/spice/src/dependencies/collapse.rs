//! From basic dependencies to the collapsed graph: prepositions and conjunctions become part of names, and what conjuncts
//! share is repeated for each.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::net::{Label, Link, LinkId, Net};
use super::relations::Kind;
use crate::{WordId, lemma};

/// The words of a sentence.
pub(super) struct Sentence<'s> {
    pub(super) texts: Vec<&'s str>,
    pub(super) tags: Vec<&'s str>,
    pub(super) lower: Vec<String>,
}

impl Sentence<'_> {
    fn text(&self, net: &Net, word: WordId) -> &str {
        self.texts.get(net.place(word).0 - 1).copied().unwrap_or_default()
    }

    fn lower(&self, net: &Net, word: WordId) -> &str {
        self.lower.get(net.place(word).0 - 1).map_or("", String::as_str)
    }

    fn tag(&self, net: &Net, word: WordId) -> &str {
        self.tags.get(net.place(word).0 - 1).copied().unwrap_or_default()
    }
}

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

/// Prepositions of two words that both depend on the noun: "off of it".
const PAIRS: &[&str] = &[
    "across from",
    "along with",
    "alongside of",
    "apart from",
    "as for",
    "as from",
    "as of",
    "as per",
    "as to",
    "aside from",
    "based on",
    "close by",
    "close to",
    "contrary to",
    "compared to",
    "compared with",
    "except for",
    "exclusive of",
    "far from",
    "followed by",
    "inside of",
    "irrespective of",
    "next to",
    "near to",
    "off of",
    "out of",
    "outside of",
    "owing to",
    "preliminary to",
    "preparatory to",
    "previous to",
    "pursuant to",
    "regardless of",
    "subsequent to",
    "thanks to",
    "together with",
];

/// Prepositions of two words of which the first may govern the noun: "away from it".
const GOVERNING_PAIRS: &[&str] = &[
    "apart from",
    "as from",
    "aside from",
    "away from",
    "close by",
    "close to",
    "contrary to",
    "far from",
    "next to",
    "near to",
    "out of",
    "outside of",
    "pursuant to",
    "regardless of",
    "together with",
];

/// Prepositions of three words of which the second governs the noun: "in front of it".
const TRIPLES: &[&str] = &[
    "by means of",
    "in accordance with",
    "in addition to",
    "in case of",
    "in front of",
    "in lieu of",
    "in place of",
    "in spite of",
    "on account of",
    "on behalf of",
    "on top of",
    "with regard to",
    "with respect to",
];

/// Relations that connect two clauses.
const CLAUSES: &[Kind] = &[
    Kind::Conj,
    Kind::Xcomp,
    Kind::Ccomp,
    Kind::Acl,
    Kind::Advcl,
    Kind::Relcl,
    Kind::Parataxis,
    Kind::Appos,
    Kind::List,
];

/// Prepositions of several words become one, headed by their first word.
fn join_prepositions(net: &mut Net, sentence: &Sentence<'_>) {
    let mut words: Vec<WordId> = net.vertices().collect();
    words.sort_unstable();
    let texts: Vec<&str> = words.iter().map(|word| sentence.lower(net, *word)).collect();
    let places = |preposition: &str| -> Vec<WordId> {
        let parts: Vec<&str> = preposition.split(' ').collect();
        let starts = texts.windows(parts.len()).zip(&words).filter(|(window, _)| **window == parts[..]);
        let mut places: Vec<WordId> = starts.map(|(_, word)| *word).collect();
        places.sort_by_key(|word| (word + 1) % 16);
        // The words must also be neighbours in the sentence.
        places.retain(|word| (1..parts.len()).all(|next| words.binary_search(&(word + next)).is_ok()));
        places
    };
    let found = |list: &'static [&str]| list.iter().flat_map(|text| places(text)).collect::<Vec<_>>();
    let (pairs, governing, triples) = (found(PAIRS), found(GOVERNING_PAIRS), found(TRIPLES));
    if pairs.is_empty() && governing.is_empty() && triples.is_empty() {
        return;
    }
    let order = net.topological();
    pairs.into_iter().for_each(|first| join_pair(net, &order, first));
    governing.into_iter().for_each(|first| join_governing_pair(net, first));
    triples.into_iter().for_each(|first| join_triple(net, first));
}

fn join_pair(net: &mut Net, order: &[WordId], first: WordId) {
    let second = first + 1;
    if !net.is_leaf(first) || !net.is_leaf(second) {
        return;
    }
    let marks = |label: &Label| label.is(Kind::Case) || label.is(Kind::Advmod);
    let governs = |noun: &WordId| {
        net.children(*noun, marks).any(|link| net.link(link).dependent == first)
            && net.by(*noun, Kind::Case).any(|word| word == second)
    };
    if let Some(noun) = order.iter().copied().find(governs) {
        join(net, noun, Kind::Case, &[first, second]);
    }
}

fn join_governing_pair(net: &mut Net, first: WordId) {
    let second = first + 1;
    let governs = |noun: &WordId| net.by(*noun, Kind::Case).any(|word| word == second);
    let noun = net.by(first, Kind::Nmod).find(governs).filter(|_| net.is_leaf(second));
    let Some((noun, link)) = noun.and_then(|noun| Some((noun, net.between(first, noun)?))) else { return };
    let label = net.link(link).label.clone();
    if net.is_root(first) {
        net.remove(link);
        net.remove_root(first);
        net.add_root(noun);
    } else {
        let Some(head) = net.heads(first).next() else { return };
        net.remove(link);
        let copular = net.by(first, Kind::Cop).next().is_some();
        let outer = net.between(head, first).map(|link| net.link(link).label.clone());
        let outer = outer.filter(|label| copular && label.is_plain() && CLAUSES.contains(&label.kind));
        net.add(Link { label: outer.unwrap_or(label), head, dependent: noun });
    }
    move_children(net, first, noun);
    join(net, noun, Kind::Case, &[first, second]);
}

fn join_triple(net: &mut Net, first: WordId) {
    let (second, third) = (first + 1, first + 2);
    let marks = |label: &Label| label.is(Kind::Case) || label.is(Kind::Mark);
    let governs = |noun: &WordId| net.children(*noun, marks).any(|link| net.link(link).dependent == third);
    let noun = net.children(second, is_case_marked).map(|link| net.link(link).dependent).find(governs);
    let fits =
        net.is_leaf(first) && net.is_leaf(third) && net.by(second, Kind::Case).any(|word| word == first);
    let Some((noun, link)) = noun.filter(|_| fits).and_then(|noun| Some((noun, net.between(second, noun)?)))
    else {
        return;
    };
    let inner = net.link(link).label.clone();
    let mut mark = Kind::Case;
    if net.is_root(second) {
        net.remove(link);
        net.remove_root(second);
        net.add_root(noun);
    } else {
        let Some(head) = net.heads(second).next() else { return };
        net.remove(link);
        let Some(outer) = net.between(head, second).map(|link| net.link(link).label.clone()) else { return };
        let clausal = outer.is(Kind::Nmod) && (inner.is(Kind::Acl) || inner.is(Kind::Advcl));
        if clausal {
            mark = Kind::Mark;
        }
        net.add(Link { label: if clausal { inner } else { outer }, head, dependent: noun });
    }
    move_children(net, second, noun);
    join(net, noun, mark, &[first, second, third]);
}

/// Makes all that depends on one word depend on another.
fn move_children(net: &mut Net, from: WordId, to: WordId) {
    let mut links: Vec<LinkId> = net.outgoing(from).collect();
    links.sort_by(|a, b| {
        let (a, b) = (net.link(*a), net.link(*b));
        net.place(a.dependent).cmp(&net.place(b.dependent)).then_with(|| a.label.name.cmp(&b.label.name))
    });
    let mut source = None;
    for link in links {
        let moved = Link { head: to, ..net.link(link).clone() };
        net.remove(link);
        let source = *source.get_or_insert(net.next_link());
        net.add_from(moved, source);
    }
}

/// Makes the words one expression that marks `head`.
fn join(net: &mut Net, head: WordId, mark: Kind, words: &[WordId]) {
    let Some(first) = words.first().copied() else { return };
    for word in words.iter().copied() {
        if let Some(link) = net.parent(word).and_then(|parent| net.between(parent, word)) {
            net.remove(link);
        }
        let (kind, head) = if word == first { (mark, head) } else { (Kind::Mwe, first) };
        net.add(Link { label: Label::new(kind), head, dependent: word });
    }
}

fn is_case_marked(label: &Label) -> bool {
    label.is(Kind::Nmod) || label.is(Kind::Acl) || label.is(Kind::Advcl)
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

/// What holds for the first conjunct holds for the others: heads, and subjects of verbs and adjectives without one.
fn share(net: &mut Net, sentence: &Sentence<'_>) {
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
