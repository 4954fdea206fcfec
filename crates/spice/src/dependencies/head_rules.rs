//! Finds the child of each phrase that is its head by meaning rather than by form: `sitting` in `is sitting`, `tall` in
//! `is tall`.

use super::heads::Heads;
use super::labels::{Tests, basic_category};
use super::pattern::Pattern;
use super::phrases::Phrases;
use crate::NodeId;

/// The order in which children are searched for a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// For each category in turn, the leftmost child.
    Left,
    /// For each category in turn, the rightmost child.
    Right,
    /// The rightmost child of any of the categories.
    RightAny,
}
use Search::{Left, Right, RightAny};

type Rule = (&'static str, &'static [(Search, &'static str)]);

const NOUN_PHRASE: &[(Search, &str)] = &[
    (RightAny, "NN NNP NNPS NNS NX NML JJR WP"),
    (Left, "NP PRP"),
    (RightAny, "$ ADJP FW CD JJ QP"),
    (RightAny, "JJS DT WDT NML PRN RB RBR ADVP"),
    (Left, "POS"),
];
const PREPOSITIONAL_PHRASE: &[(Search, &str)] =
    &[(Left, "NP S SBAR SBARQ ADVP PP VP ADJP FRAG UCP PRN"), (Right, "")];
const VERB_PHRASE: &[(Search, &str)] =
    &[(Left, "TO VBD VBN MD VBZ VB VBG VBP VP AUX AUXG ADJP JJP NN NNS JJ NP NNP")];

/// The searches for the head of each category.
const RULES: &[Rule] = &[
    ("NP", NOUN_PHRASE),
    ("VP", VERB_PHRASE),
    ("PP", PREPOSITIONAL_PHRASE),
    ("S", &[(Left, "VP S FRAG SBAR ADJP UCP TO"), (Right, "NP")]),
    (
        "ADJP",
        &[
            (Left, "$"),
            (RightAny, "NNS NN NNP JJ QP VBN VBG"),
            (Left, "ADJP"),
            (RightAny, "JJP JJR JJS DT RB RBR CD IN VBD"),
            (Left, "ADVP NP"),
        ],
    ),
    (
        "ADVP",
        &[
            (RightAny, "RB RBR RBS JJ JJR JJS"),
            (RightAny, "RP DT NN CD NP VBN NNP CC FW NNS ADJP NML"),
            (Left, ""),
        ],
    ),
    ("SBAR", &[(Left, "S SQ SINV SBAR FRAG VP WHNP WHPP WHADVP WHADJP IN DT")]),
    ("SBARQ", &[(Left, "SQ S SINV SBARQ FRAG SBAR")]),
    ("SINV", &[(Left, "VBZ VBD VBP VB MD VBN VP S SINV ADJP JJP NP")]),
    ("SQ", &[(Left, "VP SQ ADJP VB VBZ VBD VBP MD AUX AUXG")]),
    ("FRAG", &[(Left, "IN"), (Right, "RB"), (Left, "NP"), (Left, "ADJP ADVP FRAG S SBAR VP")]),
    ("ROOT", &[(Left, "S SQ SINV SBAR FRAG")]),
    ("NX", NOUN_PHRASE),
    ("NML", NOUN_PHRASE),
    ("NAC", &[(Left, "NN NNS NML NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP JJP FW")]),
    ("QP", &[(Right, "$ NNS NN CD JJ PDT DT IN RB NCD QP JJR JJS")]),
    (
        "WHNP",
        &[
            (RightAny, "NN NNP NNPS NNS NX NML JJR WP"),
            (Left, "WHNP NP"),
            (RightAny, "$ ADJP PRN FW"),
            (Right, "CD"),
            (RightAny, "JJ JJS RB QP"),
            (Left, "WHPP WHADJP WP$ WDT"),
        ],
    ),
    ("WHPP", PREPOSITIONAL_PHRASE),
    ("WHADJP", &[(Left, "ADJP JJ JJR WP"), (Right, "RB"), (Right, "")]),
    ("WHADVP", &[(RightAny, "WRB WHADVP RB JJ")]),
    ("JJP", &[(Left, "NNS NN $ QP JJ VBN VBG ADJP JJP JJR NP JJS DT FW RBR RBS SBAR RB")]),
    ("CONJP", &[(Right, "JJ RB"), (Left, "CC IN"), (Right, "VB")]),
    ("PRN", &[(Left, "VP SQ S SINV SBAR NP ADJP PP ADVP INTJ WHNP NAC VBP JJ NN NNP")]),
    ("PRT", &[(Right, "RP")]),
    ("RRC", &[(Left, "RRC"), (Right, "VP ADJP JJP NP PP ADVP")]),
    ("INTJ", &[(RightAny, "NNS NN NNP"), (Left, "")]),
    ("UCP", &[(Left, "")]),
    ("X", &[(Right, "S VP ADJP JJP NP SBAR PP X")]),
    ("LST", &[(Right, "LS :")]),
    ("XS", &[(Right, "IN")]),
    ("TYPO", &[(Left, "NN NP NML NNP NNPS TO VBD VBN MD VBZ VB VBG VBP VP ADJP JJP FRAG")]),
    ("ADV", &[(Right, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP NML JJS NN")]),
    ("POSSP", &[(Right, "POS")]),
    ("VB", VERB_PHRASE),
    ("EMBED", &[(Right, "INTJ")]),
];

/// Auxiliaries, with the slips of text from the web.
const AUXILIARIES: &[&str] = &[
    "will", "wo", "shall", "sha", "may", "might", "should", "would", "can", "could", "ca", "must", "'ll",
    "ll", "-ll", "cold", "has", "have", "had", "having", "'ve", "ve", "v", "of", "hav", "hvae", "as", "get",
    "gets", "getting", "got", "gotten", "do", "does", "did", "'d", "d", "du", "to", "2", "na", "a", "ot",
    "ta", "the", "too",
];
const COPULAS: &[&str] = &[
    "be", "being", "been", "am", "are", "r", "is", "ai", "was", "were", "'m", "m", "'re", "'s", "s", "`s",
    "art", "ar", "wase",
];
const GETTING: &[&str] = &["get", "getting", "gets", "got", "gotten"];
const VERBAL_TAGS: &[&str] = &["TO", "MD", "VB", "VBD", "VBP", "VBZ", "VBG", "VBN", "AUX", "AUXG"];
const PLAIN_AUXILIARY_TAGS: &[&str] = &["TO", "MD", "AUX", "AUXG"];
const PUNCTUATION_TAGS: &[&str] = &["''", "``", "-LRB-", "-RRB-", ".", ":", ","];

/// Phrases whose head is found by a pattern.
#[derive(Debug)]
pub(super) struct SpecialHeads {
    conjunctions: Vec<Pattern>,
    copulas: Vec<Pattern>,
    timed: Pattern,
}

impl SpecialHeads {
    pub(super) fn new(tests: &mut Tests) -> Self {
        let mut read = |texts: &[&'static str]| texts.iter().map(|text| Pattern::new(text, tests)).collect();
        Self {
            conjunctions: read(&[
                "CONJP[/CC[/.'but'|'and' +@RB[/.'not']]]",
                "CONJP[/CC[/.'but' (+@RB[/.'also'|'rather'] | +@ADVP[/.RB[/.'also'|'rather']])]]",
                "CONJP[/CC[/.'and' (+@RB[/.'yet'] | +@ADVP[/.RB[/.'yet']])]]",
            ]),
            copulas: read(&[
                // "What is wrong", "Who am I to judge", "Tuesday it is".
                "SBARQ[/WHNP[++VB*[/{copula} ++@ADJP]]]",
                "SBARQ[/@WHNP[++VB*[/{copula} +NP !++ADJP]]]",
                "SINV[/@NP[++NP[++VP[/<copula>]]]]",
            ]),
            timed: Pattern::new("VP*[/NP-TMP !/V* !/NNP|NN|NNPS|NNS|NP|JJ|ADJP|S]", tests),
        }
    }
}

impl Heads {
    /// The heads of all phrases of a tree.
    pub(super) fn find(phrases: &Phrases<'_>, special: &SpecialHeads) -> Self {
        let order = phrases.preorder();
        let finder = Finder { phrases, special };
        let mut heads = Self {
            children: vec![None; phrases.len()],
            words: vec![None; phrases.len()],
            tops: (0..phrases.len()).collect(),
        };
        for node in order.iter().rev().copied() {
            heads.words[node] = if phrases.is_leaf(node) {
                Some(node)
            } else {
                heads.children[node] = finder.head(node, None);
                let head = finder.head(node, phrases.parent(node));
                head.and_then(|head| heads.words[head])
            };
        }
        for node in order {
            if let Some(parent) =
                phrases.parent(node).filter(|parent| heads.words[*parent] == heads.words[node])
            {
                heads.tops[node] = heads.tops[parent];
            }
        }
        heads
    }
}

struct Finder<'f, 'a> {
    phrases: &'f Phrases<'a>,
    special: &'f SpecialHeads,
}

impl Finder<'_, '_> {
    fn label(&self, node: NodeId) -> &str {
        self.phrases.label(node)
    }

    fn head(&self, node: NodeId, parent: Option<NodeId>) -> Option<NodeId> {
        let children = self.phrases.children(node);
        if let [only] = children {
            return Some(*only);
        }
        let category = basic_category(self.label(node));
        let patterns = match category {
            "CONJP" => self.special.conjunctions.as_slice(),
            "SBARQ" | "SINV" => &self.special.copulas,
            _ => &[],
        };
        let none = Heads::default();
        for pattern in patterns {
            if let Some(named) = pattern.first(node, self.phrases, &none) {
                return pattern.named("@", &named);
            }
        }
        if matches!(category, "VP" | "SQ" | "SINV") {
            let head = self.head_after_auxiliary(children);
            let head = head.or_else(|| self.complement_of_copula(node, category, children, parent));
            if head.is_some() {
                return head;
            }
        }
        let category = category.strip_prefix('@').unwrap_or(category);
        // The reference program fails on categories without rules; the leftmost child is as good as any.
        let rules =
            RULES.iter().find(|(known, _)| *known == category).map_or(&[(Left, "")][..], |(_, rules)| *rules);
        let found = rules.iter().find_map(|(search, categories)| self.locate(children, *search, categories));
        found.or_else(|| self.any_child(children, rules.last()?.0))
    }

    /// The main verb after an auxiliary, or the adjective after one that can be a copula.
    fn head_after_auxiliary(&self, children: &[NodeId]) -> Option<NodeId> {
        let auxiliary = children.iter().any(|child| self.is_auxiliary(*child, AUXILIARIES, true));
        if !auxiliary && !self.is_passive_or_progressive(children) {
            return None;
        }
        let copular = children.iter().any(|child| self.is_auxiliary(*child, COPULAS, true));
        self.locate(&self.without_adverbials(children), Left, if copular { "VP ADJP" } else { "VP" })
    }

    /// The predicate of a copula: `tall` in `is tall`.
    fn complement_of_copula(
        &self,
        node: NodeId,
        category: &str,
        children: &[NodeId],
        parent: Option<NodeId>,
    ) -> Option<NodeId> {
        let copular = children.iter().any(|child| self.is_auxiliary(*child, COPULAS, false));
        if !copular || self.is_existential(category, parent) || self.is_wh_question(node, parent) {
            return None;
        }
        let search = if category == "SQ" { Right } else { Left };
        let children = self.without_adverbials(children);
        let head = self.locate(&children, search, "VP ADJP NP UCP PP WHADJP WHNP")?;
        // In a question a noun phrase is only a predicate if another one, the subject, is before it.
        let question = category == "SQ" && self.label(head).starts_with("NP");
        let subject = || {
            let before = self.phrases.children(node).iter().take_while(|child| **child != head);
            before.into_iter().any(|child| self.label(*child).starts_with("NP"))
        };
        (!question || subject()).then_some(head)
    }

    fn without_adverbials(&self, children: &[NodeId]) -> Vec<NodeId> {
        let is_adverbial = |node: NodeId| {
            let label = self.label(node);
            let none = Heads::default();
            label.contains("-TMP")
                || label.contains("-ADV")
                || label.starts_with("VP") && self.special.timed.first(node, self.phrases, &none).is_some()
        };
        children.iter().copied().filter(|child| !is_adverbial(*child)).collect()
    }

    /// Returns true if a node is the tag of an auxiliary among the given words, or a tag that only auxiliaries have.
    fn is_auxiliary(&self, node: NodeId, words: &[&str], by_tag: bool) -> bool {
        if !self.phrases.is_tag(node) {
            return false;
        }
        let tag = self.label(node);
        by_tag && PLAIN_AUXILIARY_TAGS.contains(&tag)
            || VERBAL_TAGS.contains(&tag)
                && self.phrases.children(node).iter().any(|word| {
                    let word = self.label(*word);
                    words.contains(&word) || words.contains(&word.to_lowercase().as_str())
                })
    }

    /// Returns true if a form of "be" or "get" comes with a verb phrase that has a participle.
    fn is_passive_or_progressive(&self, children: &[NodeId]) -> bool {
        let (mut verb_phrase, mut auxiliary) = (false, false);
        for child in children.iter().copied() {
            if self.is_auxiliary(child, COPULAS, false) || self.is_auxiliary(child, GETTING, false) {
                auxiliary = true;
            } else if self.phrases.is_phrase(child) && self.label(child).starts_with("VP") {
                verb_phrase |= self.has_participle(child);
            }
            if verb_phrase && auxiliary {
                return true;
            }
        }
        false
    }

    /// Returns true if a verb phrase has a participle, or a phrase with one and then a conjunction. The reference
    /// program compares the category of the verb phrase where it means that of the phrase inside.
    fn has_participle(&self, verb_phrase: NodeId) -> bool {
        let is_participle =
            |node: NodeId| self.phrases.is_tag(node) && matches!(self.label(node), "VBN" | "VBG" | "VBD");
        let mut inside = false;
        for child in self.phrases.children(verb_phrase).iter().copied() {
            if self.phrases.is_tag(child) {
                if is_participle(child) || self.label(child) == "CC" && inside {
                    return true;
                }
            } else if self.phrases.is_phrase(child) && self.label(verb_phrase) == "VP" {
                inside = self.phrases.children(child).iter().any(|node| is_participle(*node));
            }
        }
        false
    }

    /// Returns true if "there" as a subject stands before a verb phrase, or in a question.
    fn is_existential(&self, category: &str, parent: Option<NodeId>) -> bool {
        let sisters = parent.map_or(&[][..], |parent| self.phrases.children(parent)).iter().copied();
        if category == "VP" {
            sisters.take_while(|sister| self.label(*sister) != "VP").any(|sister| self.has_there(sister))
        } else {
            category.starts_with("SQ")
                && sisters
                    .filter(|sister| !self.label(*sister).starts_with("VB"))
                    .any(|sister| self.has_there(sister))
        }
    }

    fn has_there(&self, node: NodeId) -> bool {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if self.phrases.is_tag(node) && self.label(node) == "EX" {
                return true;
            }
            open.extend(self.phrases.children(node));
        }
        false
    }

    fn is_wh_question(&self, node: NodeId, parent: Option<NodeId>) -> bool {
        self.label(node).starts_with("SQ")
            && parent.filter(|parent| self.label(*parent) == "SBARQ").is_some_and(|parent| {
                self.phrases.children(parent).iter().any(|child| self.label(*child).starts_with("WH"))
            })
    }

    /// The child that a rule finds. A rule without categories finds none.
    fn locate(&self, children: &[NodeId], search: Search, categories: &str) -> Option<NodeId> {
        let is = |child: &NodeId, category: &str| basic_category(self.label(*child)) == category;
        let mut categories = categories.split_ascii_whitespace();
        let place = match search {
            Left => categories.find_map(|category| children.iter().position(|child| is(child, category))),
            Right => categories.find_map(|category| children.iter().rposition(|child| is(child, category))),
            RightAny => {
                children.iter().rposition(|child| categories.clone().any(|category| is(child, category)))
            }
        };
        place.map(|place| children[self.first_conjunct(place, children)])
    }

    /// The leftmost or rightmost child, if possible not a mark of punctuation.
    fn any_child(&self, children: &[NodeId], search: Search) -> Option<NodeId> {
        let is_word = |child: &NodeId| !PUNCTUATION_TAGS.contains(&basic_category(self.label(*child)));
        let (place, fallback) = match search {
            Left => (children.iter().position(is_word), children.first()),
            Right | RightAny => (children.iter().rposition(is_word), children.last()),
        };
        place.map(|place| children[self.first_conjunct(place, children)]).or(fallback.copied())
    }

    /// In "a, b and c" the head is "a": the place of the first conjunct if there is a conjunction before the place.
    fn first_conjunct(&self, place: usize, children: &[NodeId]) -> usize {
        let category = |place: usize| basic_category(self.label(children[place]));
        if place < 2 || !matches!(category(place - 1), "CC" | "CONJP") {
            return place;
        }
        let interjection = category(place) == "UH";
        let skipped = |place: usize, label: &str| {
            let aside = !interjection && label == "UH";
            self.phrases.is_tag(children[place]) && (PUNCTUATION_TAGS.contains(&label) || aside)
                || self.label(children[place]) == "INTJ" && !interjection
        };
        let Some(mut first) =
            (0..place - 1).rev().find(|place| !skipped(*place, self.label(children[*place])))
        else {
            return place;
        };
        // Further conjuncts are separated by commas or colons.
        while first >= 2 {
            let mut separated = false;
            let previous = (0..first).rev().find(|place| {
                let label = category(*place);
                let separator = matches!(label, "," | ":");
                separated |= separator;
                !separator && !skipped(*place, label)
            });
            match previous {
                Some(previous) if separated => first = previous,
                _ => break,
            }
        }
        first
    }
}
