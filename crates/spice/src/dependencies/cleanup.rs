//! Tidies a parse before relations are looked for: expressions of several words, flat coordination, dates, ….

use super::coordination;
use super::heads::NO_HEADS;
use super::labels::Tests;
use super::pattern::{NamedNodes, Pattern};
use super::phrases::Phrases;
use crate::NodeId;

/// An edit of the nodes that a pattern names.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Puts a phrase around the sisters from the first node to the second.
    Wrap(&'static str, &'static str, &'static str),
    /// Moves the first node to the place after the second.
    After(&'static str, &'static str),
    /// Makes the first node the first child of the second.
    Into(&'static str, &'static str),
    /// Puts the children of the node in its place.
    Dissolve(&'static str),
    /// Removes the node with all below it.
    Cut(&'static str),
    /// Changes the label.
    Relabel(&'static str, &'static str),
    /// Changes the category, and keeps the function.
    Recategorise(&'static str, &'static str),
}
use Edit::{After, Cut, Dissolve, Into, Recategorise, Relabel, Wrap};

/// A pattern and its edits, which are made where it matches, again until it matches no more. An edit whose first node
/// was not found is skipped.
type Rule = (&'static [&'static str], &'static [Edit]);

/// Expressions of several words become phrases of the category `MWE`, in this order.
const EXPRESSIONS: Rule = (
    &[
        "CONJP[/1RB=a[/'as'] /2RB=b[/'well'] /$IN=c[/'as']]",
        "ADVP|CONJP[/1RB=a[/'as'] /$IN|RB=b[/'well']]",
        "PP[/JJ=a[/'such' +IN=b[/'as']]]",
        "PP[/JJ|IN=a[/'due' +IN|TO=b[/'to']]]",
        "PP|CONJP[/IN|RB=a[/'because'|'instead' +IN=b[/of]]]",
        "ADVP|SBAR[/IN|RB=a[/'in' +NN=b[/'case']]]",
        "ADVP|PP[/IN|RB=a[/'of' +NN|RB=b[/'course']]]",
        "SBAR|PP[/IN|RB=a[/'in' +NN|NP|RB=b[/'order' | /.NN[/'order']]]]",
        "PP|CONJP|SBAR[/IN|RB=a[/'rather' +IN=b[/'than']]]",
        "CONJP[/IN|RB=a[/'not' +TO=b[/'to' +VB|RB=c[/'mention']]]]",
        "PP|SBAR[/JJ|IN|RB=a[/'so' +IN|TO=b[/'that']]]",
        "SBAR[/IN|RB=a[/'as' +IN=b[/'if']]]",
        "PP[/JJ|RB=a[/'prior' +TO|IN=b[/'to']]]",
        "PP[/IN=a[/'as' +TO|IN=b[/'to']]]",
        "ADVP[/RB|NN=a[/'kind' +IN|RB=b[/'of']]]",
        "SBAR[/IN|RB=a[/'whether' +CC=b[/'or' +RB=c[/'not']]]]",
        "CONJP[/IN=a[/'as' +VBN=b[/'opposed' +TO|IN=c[/'to']]]]",
        "ADVP|CONJP[/VB|RB|VBD=a[/'let' +RB|JJ=b[/'alone']]]",
        "ADVP|PP[/IN|RB=a[/'in' +IN|NP|PP|RB|ADVP=b[/'between' | /.IN|RB[/'between']]]]",
        "ADVP|QP|ADJP~[/DT|RB=a[/'all' +CC|RB|IN=b[/'but']]]",
        "ADVP|INTJ[/NN|DT|RB=a[/'that' +VBZ|RB=b[/'is']]]",
        "WHADVP[/WRB=a[/'how' +VB=b[/'come']]]",
        "VP[/VBD=a[/had|{'d} +PRT|ADVP=b[/.RBR[/'better']]]]",
        "QP|XS[/JJR|RBR|IN=a[/'more'|'less' +IN=b[/'than']]]",
        "QP[/JJR|RBR|IN=a[/'up' +IN|TO=b[/'to']]]",
        "S|SQ|VP|ADVP|PP[/ADVP[/IN|RB=a[/'at' +JJS|RBS=b[/'least']] !+RB[/*'once'*|*'twice'*]]]",
    ],
    &[Wrap("MWE", "a", "b"), After("c", "b")],
);

/// The rules that apply before flat coordination is restructured.
const BEFORE: &[Rule] = &[
    EXPRESSIONS,
    // "according to"
    (
        &["PP[/VBG=a[/'according' +PP=inner[/TO|IN=b[/to]]]]"],
        &[Wrap("MWE", "a", "a"), After("b", "a"), Dissolve("inner")],
    ),
    // "but also" is no expression: "also" is an adverb of what follows.
    (
        &["CONJP=conjp[/CC=cc[/but] /RB=rb[/also] ?+_=next[/_[/_]]]"],
        &[
            After("cc", "conjp"),
            After("rb", "cc"),
            Into("rb", "next"),
            Wrap("ADVP", "rb", "rb"),
            Cut("conjp"),
        ],
    ),
    // "at best", "at all": a preposition and a noun.
    (
        &["ADVP|QP[/IN|RB=a[/'at' +JJS|RBS=b]]"],
        &[Relabel("a", "IN"), Wrap("ADVP", "a", "a"), After("b", "a"), Wrap("NP", "b", "b")],
    ),
    (
        &["ADVP=phrase[/RB|IN=a[/'at' +RB|DT=b[/'all']]]"],
        &[Relabel("phrase", "PP"), Relabel("a", "IN"), Wrap("NP", "b", "b")],
    ),
    // "to and from Serbia"
    (&["PP[/1IN|TO=a[+CC=cc[+IN|TO=b]]]"], &[Wrap("PCONJP", "a", "cc"), After("b", "cc")]),
    // Phrases of unlike conjuncts are named after the first.
    (
        &[
            "UCP*=ucp[(/1JJ*|ADJP*=adjp | (/1DT /2JJ*|ADJP*=adjp) | /$ADJP=adjp[/JJR[/'younger'|'older']] | /1N*=np | \
             (/1DT /2N*=np) | /1ADVP*=advp)]",
        ],
        &[Recategorise("adjp", "ADJP"), Recategorise("np", "NP"), Recategorise("advp", "ADVP")],
    ),
];

/// The rules that apply afterwards.
const AFTER: &[Rule] = &[
    // Quantities.
    (&["NP[/QP=a[+QP=b[/CC]]]"], &[Wrap("QP", "a", "b"), Dissolve("a"), Dissolve("b")]),
    (&["QP[/CC[-_=b +_=c ?--{$}*|*CC=left ?++{$}*|*CC=right] /1_=a /$_=d !/_[/_[/_]]]"], &[]),
    (&["QP[/{$}[!++^{$}*|CD* !++_[/_[/_]] +_=a] /$_=b]"], &[Wrap("QP", "a", "b")]),
    // "What is that" is flattened, unless the verb is an auxiliary, or the question is about a place or a "there".
    (
        &[
            "SBARQ[/WHNP[/WP +SQ=sq[/VB*=verb[/{copula}] !/VB*[/^{copula}] !/V*[/VB*[/^{copula}]] !/PP[-&verb] \
             !/1VB*[/{copula} +NP[/EX[/there]]] !/ADJP[/PP[/.IN|TO]]]]]",
        ],
        &[Dissolve("sq")],
    ),
    // "May 2012", "May 5, 2012"
    (&["NP[/1NP=a[/.NNP[/.{month}]] /2NP=b[/.CD[/._]] /$&b]"], &[Dissolve("a"), Dissolve("b")]),
    (
        &["NP[/1NP=a[/1NNP[/.{month}] /2CD=day[/._] /$&day] /2{,}[/.{,}] /3NP=b[/.CD[/._]] /$&b]"],
        &[Dissolve("a"), Dissolve("b")],
    ),
    // A phrase over one of the same category.
    (&["_=outer[/.%outer[/_]]"], &[Dissolve("outer")]),
    // "and yet", "and so"
    (
        &[
            "S*|PP*|VP*[/{clausal}|PP*|VP*[++CC=a[+RB|ADVP[+{clausal}|PP*|VP*] (/and +RB=b[/yet] | /and +RB=b[/so] | \
             /and +ADVP=b[/RB|IN[/so]])]]]",
        ],
        &[Wrap("CONJP", "a", "b")],
    ),
    // "not" and adverbs belong to the phrase after them.
    (
        &[
            "S*|PP*|VP*|NP*[/S*|PP*|VP*|NP*[++{,}|CC|CONJP[(+RB=adverb[(/not | /then)] | +ADVP=adverb[/.RB])]] \
             :&adverb[+{clausal}|PP*|VP*|NP*=phrase]]",
            "ADVP*[/ADVP*[++{,}|CC|CONJP[(+RB=adverb[(/not | /then)] | +ADVP=adverb[/.RB])]] \
             :&adverb[+NP-ADV*|ADVP*|PP*=phrase]]",
            "FRAG*[/ADVP|RB=adverb[+VP=phrase]]",
        ],
        &[Into("adverb", "phrase")],
    ),
    // "the day after he left"
    (
        &["NP[/NP[++SBAR=sbar[/IN[/'after'|'before'|'until'|'since'|'during' ++S]]]]"],
        &[Relabel("sbar", "PP")],
    ),
    // "now that"
    (&["ADVP=advp[/1RB[/'now'] /2SBAR=sbar[/1IN[/'that']]]"], &[Relabel("advp", "SBAR"), Dissolve("sbar")]),
];

/// All rules, ready to match.
#[derive(Debug)]
pub(super) struct Cleanup {
    before: Vec<(Pattern, &'static [Edit])>,
    after: Vec<(Pattern, &'static [Edit])>,
}

impl Cleanup {
    pub(super) fn new(tests: &mut Tests) -> Self {
        let mut read = |rules: &[Rule]| {
            let rules = rules.iter().flat_map(|(texts, edits)| texts.iter().map(move |text| (*text, *edits)));
            rules.map(|(text, edits)| (Pattern::new(text, tests), edits)).collect()
        };
        Self { before: read(BEFORE), after: read(AFTER) }
    }

    /// Tidies a tree.
    pub(super) fn run(&self, phrases: &mut Phrases<'_>) {
        apply(&self.before, phrases);
        coordination::restructure(phrases);
        apply(&self.after, phrases);
    }
}

fn apply(rules: &[(Pattern, &'static [Edit])], phrases: &mut Phrases<'_>) {
    let mut order = phrases.preorder();
    for (pattern, edits) in rules {
        // No rule makes more edits than there are nodes, but no tree should prove it by an endless loop.
        for _ in 0..=order.len() {
            let Some(named) = order.iter().find_map(|node| pattern.first(*node, phrases, &NO_HEADS)) else {
                break;
            };
            if edits.is_empty() {
                split_quantity(pattern, &named, phrases);
            }
            for edit in *edits {
                make(*edit, &|name| pattern.named(name, &named), phrases);
            }
            order = phrases.preorder();
        }
    }
}

/// "between 5 and 10": each side of the conjunction becomes a phrase, a quantity if it has a sign of currency.
fn split_quantity(pattern: &Pattern, named: &NamedNodes, phrases: &mut Phrases<'_>) {
    for (first, last, sign) in [("a", "b", "left"), ("c", "d", "right")] {
        let node = |name| pattern.named(name, named);
        if let (Some(first), Some(last)) = (node(first), node(last)) {
            phrases.wrap(if node(sign).is_some() { "QP" } else { "NP" }, first, last);
        }
    }
}

fn make(edit: Edit, node: &dyn Fn(&str) -> Option<NodeId>, phrases: &mut Phrases<'_>) -> Option<()> {
    match edit {
        Wrap(label, first, last) => {
            phrases.wrap(label, node(first)?, node(last)?);
        }
        After(moved, sister) => phrases.move_after(node(moved)?, node(sister)?),
        Into(moved, parent) => phrases.move_into(node(moved)?, node(parent)?, 0),
        Dissolve(dissolved) => phrases.dissolve(node(dissolved)?),
        Cut(cut) => phrases.detach(node(cut)?),
        Relabel(relabelled, label) => phrases.relabel(node(relabelled)?, label),
        Recategorise(sign, category) => {
            node(sign)?;
            let phrase = node("ucp")?;
            let function = phrases.label(phrase).strip_prefix("UCP").unwrap_or_default();
            let function = if category == "ADVP" { "" } else { function };
            phrases.relabel(phrase, format!("{category}{function}"));
        }
    }
    Some(())
}
