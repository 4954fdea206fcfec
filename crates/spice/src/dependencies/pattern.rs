//! Patterns of trees, in a notation that reads like a table, and their matcher.
//!
//! `VP[/V*[/{tell}] /@SBAR[/S[/VP] --NP]]` is a verb phrase with a verb of telling and a subordinate clause, the
//! dependent, that has a clause with a verb phrase and follows a noun phrase. A pattern is a test of a label (see
//! [`labels`](super::labels)) with conditions in brackets, all of which must hold; ` | ` separates alternatives. In
//! front of a test, `@` marks the node that is looked for; behind it, `=name` names the node. Instead of a test,
//! `&name` is the node of that name, and `%name` is any node with the same label. `<name>` stands for the text of a
//! [`FRAGMENTS`] row.
//!
//! A condition is a step to other nodes with a pattern for them:
//!
//! | step | to |
//! |---|---|
//! | `/` `/1` `/2` `/3` `/$` `/.` | any child, the first, second, third, last, only child |
//! | `/#` | the child that is the head |
//! | `/(VP)` | a child, or what is below it through verb phrases only |
//! | `/=` | the node itself or a child |
//! | `//` `//1` `//$` `//#` | all below, the left edge, the right edge, the chain of heads |
//! | `..` `..2` `..#` `...#` | the parent, that of a second child, of a head, all ancestors that it is the head of |
//! | `+` `++` `-` `--` `~` | the next sister, all later ones, the previous one, all earlier ones, any sister |
//! | `=` | the node itself |
//! | `:&name` | a node named elsewhere |
//!
//! `!` in front of a condition negates it; `?` makes it optional. Candidates are tried in the order of the reference
//! program, which decides which match is the first.

use super::heads::Heads;
use super::labels::{PassedTests, Test, Tests};
use super::phrases::Phrases;
use crate::NodeId;

/// Parts of patterns that occur in several.
const FRAGMENTS: &[(&str, &str)] = &[
    ("etc", "FW[/'etc'|'ect']"),
    ("etc phrase", "ADVP|NP[/1FW[/'etc'|'ect']]"),
    ("copula", "{verb}[/{copula}]"),
    ("time", "NN*[/{time}]"),
    // A verb phrase that starts with a participle, or with an adverb and one.
    ("participle", "(/1VBG|VBN | /2VBG|VBN[--ADVP])"),
    // An object: not an adverbial of time, nor directly before another noun phrase unless that is one.
    ("object", "NP|WHNP[((!/#NN*[/{time}] !+NP) | +NP-TMP | +NP[/#NN*[/{time}]])]"),
    // An aside after a noun phrase and a colon is no object.
    ("no aside", "/#_[!++NP[++{:}[++&@]]]"),
    ("wh-clause", "/WHADVP|WHNP[/WRB[!/'how'] !--^RB*|ADVP*] !/S[/VP[/TO]]"),
    ("apposed", "-{,}[(-NP~|VP | -PP[--NP~] | -ADVP[--NP~])]"),
    ("possessive", "(/POS | /VBZ[/{'s}])"),
    ("no possessive", "!//$POS !//$VBZ[/{'s}]"),
    // A verb phrase that may lack its object: no copula, no passive, no object of its own.
    ("gap", "!/{verb}[/{copula} !+VP] !/(VP){verb}[/{copula} +VP[/VBN|VBD]] !/(VP)NP !/SBAR"),
];

/// The largest number of nodes that a pattern may name.
const NAMES: usize = 8;

/// The nodes that have a name, the dependent first.
pub(super) type NamedNodes = [Option<NodeId>; NAMES];

/// A pattern, ready to match.
#[derive(Debug)]
pub(super) struct Pattern {
    top: Shape,
    names: Vec<&'static str>,
    /// Tests that some node of a tree passes if the pattern matches anywhere.
    needs: PassedTests,
}

#[derive(Debug)]
struct Shape {
    test: Check,
    name: Option<usize>,
    conditions: Vec<Condition>,
    names_any: bool,
}

#[derive(Clone, Copy, Debug)]
enum Check {
    Label(Test),
    Same(usize),
    SameLabel(usize),
}

#[derive(Debug)]
enum Condition {
    Step(Step, Shape),
    Not(Box<Self>),
    Optional(Step, Shape),
    Any(Vec<Vec<Self>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Child,
    Nth(usize),
    Last,
    Only,
    Head,
    Through(Test),
    SelfOrChild,
    Below,
    LeftEdge,
    RightEdge,
    HeadChain,
    Parent,
    ParentOfSecond,
    ParentOfHead,
    AllHeadedBy,
    Next,
    Later,
    Previous,
    Earlier,
    Sister,
    Itself,
    Named,
}

/// Steps and their signs; a sign that starts like another comes first.
const STEPS: &[(&str, Step)] = &[
    ("//1", Step::LeftEdge),
    ("//$", Step::RightEdge),
    ("//#", Step::HeadChain),
    ("//", Step::Below),
    ("/1", Step::Nth(0)),
    ("/2", Step::Nth(1)),
    ("/3", Step::Nth(2)),
    ("/$", Step::Last),
    ("/.", Step::Only),
    ("/#", Step::Head),
    ("/=", Step::SelfOrChild),
    ("/", Step::Child),
    ("...#", Step::AllHeadedBy),
    ("..#", Step::ParentOfHead),
    ("..2", Step::ParentOfSecond),
    ("..", Step::Parent),
    ("++", Step::Later),
    ("+", Step::Next),
    ("--", Step::Earlier),
    ("-", Step::Previous),
    ("~", Step::Sister),
    ("=", Step::Itself),
    (":", Step::Named),
];

impl Pattern {
    /// Reads a pattern, and adds its tests to the others.
    ///
    /// # Panics
    ///
    /// If the text is no pattern: all texts are constants of this crate, and a test reads them all.
    pub(super) fn new(text: &'static str, tests: &mut Tests) -> Self {
        let mut reader = Reader { text, outer: Vec::new(), names: vec!["@"], tests };
        let top = reader.read_shape();
        assert!(reader.text.is_empty() && reader.names.len() <= NAMES, "pattern {text} at {}", reader.text);
        let mut needs = PassedTests::default();
        top.collect_needs(&mut needs);
        Self { top, names: reader.names, needs }
    }

    /// Returns true unless the labels of a tree rule out that the pattern matches.
    pub(super) fn may_match(&self, phrases: &Phrases<'_>) -> bool {
        phrases.may_pass(&self.needs)
    }

    /// Returns true unless the label of a node rules out that the pattern matches there.
    pub(super) fn may_match_at(&self, node: NodeId, phrases: &Phrases<'_>) -> bool {
        !matches!(self.top.test, Check::Label(test) if !test.holds(phrases.passed(node)))
    }

    /// The node of a name in a match; the dependent is `@`.
    pub(super) fn named(&self, name: &str, named: &NamedNodes) -> Option<NodeId> {
        self.names.iter().position(|known| *known == name).and_then(|place| named[place])
    }

    /// Calls `found` for every match with `node` on top, until it returns true, and returns whether it did.
    pub(super) fn each(
        &self,
        node: NodeId,
        phrases: &Phrases<'_>,
        heads: &Heads,
        found: &mut dyn FnMut(&NamedNodes) -> bool,
    ) -> bool {
        Matcher { phrases, heads }.shape(&self.top, node, &mut [None; NAMES], &mut |named| found(named))
    }

    /// The first match with `node` on top.
    pub(super) fn first(&self, node: NodeId, phrases: &Phrases<'_>, heads: &Heads) -> Option<NamedNodes> {
        let mut first = None;
        self.each(node, phrases, heads, &mut |named| {
            first = Some(*named);
            true
        });
        first
    }
}

/// Reads the notation.
struct Reader<'t> {
    text: &'static str,
    /// The text after each of the fragments that are being read.
    outer: Vec<&'static str>,
    names: Vec<&'static str>,
    tests: &'t mut Tests,
}

impl Reader<'_> {
    /// Takes a sign if it is next. A fragment that has come to its end is left, and one that starts is entered.
    fn take(&mut self, sign: &str) -> bool {
        self.cross();
        let rest = self.text.strip_prefix(sign);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    /// Takes a blank or the end of a line, with a bar after it or without.
    fn take_blank(&mut self, bar: bool) -> bool {
        self.cross();
        let rest = self.text.trim_start();
        let found = rest.len() < self.text.len() && rest.starts_with("| ") == bar;
        if found {
            self.text = rest.strip_prefix("| ").unwrap_or(rest);
        }
        found
    }

    fn cross(&mut self) {
        loop {
            if self.text.is_empty()
                && let Some(outer) = self.outer.pop()
            {
                self.text = outer;
            } else if let Some((name, rest)) =
                self.text.strip_prefix('<').and_then(|text| text.split_once('>'))
            {
                let fragment = FRAGMENTS.iter().find(|(known, _)| *known == name);
                self.outer.push(rest);
                self.text = fragment.unwrap_or_else(|| unreachable!("{name} names no fragment")).1;
            } else {
                return;
            }
        }
    }

    fn read_shape(&mut self) -> Shape {
        let marked = self.take("@");
        let test = if self.take("&") {
            Check::Same(self.read_name())
        } else if self.take("%") {
            Check::SameLabel(self.read_name())
        } else {
            Check::Label(self.read_test())
        };
        let name = if marked {
            Some(0)
        } else if self.text.starts_with('=') && self.take("=") {
            Some(self.read_name())
        } else {
            None
        };
        let conditions = if self.text.starts_with('[') && self.take("[") {
            let alternatives = self.read_alternatives();
            assert!(self.take("]"), "no ] at {}", self.text);
            all_of(alternatives)
        } else {
            Vec::new()
        };
        let names_any = name.is_some() || conditions.iter().any(Condition::names_any);
        Shape { test, name, conditions, names_any }
    }

    fn read_test(&mut self) -> Test {
        let end = self.text.find(['[', ']', ' ', '\n', '(', ')', '=']);
        let (test, rest) = self.text.split_at(end.unwrap_or(self.text.len()));
        self.text = rest;
        self.tests.add(test)
    }

    fn read_name(&mut self) -> usize {
        let end = self.text.find(|c: char| !c.is_ascii_lowercase() && c != '@').unwrap_or(self.text.len());
        let (name, rest) = self.text.split_at(end);
        self.text = rest;
        self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn read_alternatives(&mut self) -> Vec<Vec<Condition>> {
        let mut alternatives = vec![self.read_conditions()];
        while self.take_blank(true) {
            alternatives.push(self.read_conditions());
        }
        alternatives
    }

    fn read_conditions(&mut self) -> Vec<Condition> {
        let mut conditions = vec![self.read_condition()];
        while self.take_blank(false) {
            conditions.push(self.read_condition());
        }
        conditions
    }

    fn read_condition(&mut self) -> Condition {
        if self.take("!") {
            return Condition::Not(Box::new(self.read_condition()));
        }
        if self.take("(") {
            let alternatives = self.read_alternatives();
            assert!(self.take(")"), "no ) at {}", self.text);
            return Condition::Any(alternatives);
        }
        let optional = self.take("?");
        let step = if self.take("/(") {
            let through = self.read_test();
            assert!(self.take(")"), "no ) at {}", self.text);
            Step::Through(through)
        } else {
            let step = STEPS.iter().find(|(sign, _)| self.take(sign));
            step.unwrap_or_else(|| unreachable!("no step at {}", self.text)).1
        };
        let shape = self.read_shape();
        if optional { Condition::Optional(step, shape) } else { Condition::Step(step, shape) }
    }
}

impl Shape {
    fn collect_needs(&self, needs: &mut PassedTests) {
        if let Check::Label(test) = self.test {
            test.set(needs);
        }
        for condition in &self.conditions {
            if let Condition::Step(_, shape) = condition {
                shape.collect_needs(needs);
            }
        }
    }
}

fn all_of(mut alternatives: Vec<Vec<Condition>>) -> Vec<Condition> {
    match alternatives.len() {
        1 => alternatives.swap_remove(0),
        _ => vec![Condition::Any(alternatives)],
    }
}

impl Condition {
    /// Returns true if a match may name nodes, so that it matters which one is found.
    fn names_any(&self) -> bool {
        match self {
            Self::Step(_, shape) | Self::Optional(_, shape) => shape.names_any,
            Self::Not(_) => false,
            Self::Any(alternatives) => alternatives.iter().flatten().any(Self::names_any),
        }
    }
}

/// The continuation with the nodes named so far; true ends the search.
type Then<'c> = &'c mut dyn FnMut(&mut NamedNodes) -> bool;

struct Matcher<'m, 'a> {
    phrases: &'m Phrases<'a>,
    heads: &'m Heads,
}

impl Matcher<'_, '_> {
    /// Calls `then` for each way in which the node has the shape.
    fn shape(&self, shape: &Shape, node: NodeId, named: &mut NamedNodes, then: Then<'_>) -> bool {
        let passes = match shape.test {
            Check::Label(test) => test.holds(self.phrases.passed(node)),
            Check::Same(name) => named[name] == Some(node),
            Check::SameLabel(name) => {
                named[name].is_some_and(|other| self.phrases.label(other) == self.phrases.label(node))
            }
        };
        if !passes {
            return false;
        }
        let Some(name) = shape.name else { return self.all(&shape.conditions, node, named, then) };
        let before = named[name].replace(node);
        let ended = self.all(&shape.conditions, node, named, then);
        named[name] = before;
        ended
    }

    /// Calls `then` for each way in which all conditions hold.
    fn all(&self, conditions: &[Condition], node: NodeId, named: &mut NamedNodes, then: Then<'_>) -> bool {
        let Some((condition, rest)) = conditions.split_first() else { return then(named) };
        if !condition.names_any() {
            return self.holds(condition, node, named) && self.all(rest, node, named, then);
        }
        match condition {
            Condition::Step(step, shape) => self.step(*step, shape, node, named, &mut |named, next| {
                self.shape(shape, next, named, &mut |named| self.all(rest, node, named, then))
            }),
            Condition::Optional(step, shape) => {
                let mut first = None;
                self.step(*step, shape, node, named, &mut |named, next| {
                    self.shape(shape, next, named, &mut |named| {
                        first = Some(*named);
                        true
                    })
                });
                self.all(rest, node, &mut first.unwrap_or(*named), then)
            }
            Condition::Any(alternatives) => alternatives.iter().any(|alternative| {
                self.all(alternative, node, named, &mut |named| self.all(rest, node, named, then))
            }),
            Condition::Not(_) => unreachable!("a negation names nothing"),
        }
    }

    /// Returns true if the condition holds in some way.
    fn holds(&self, condition: &Condition, node: NodeId, named: &mut NamedNodes) -> bool {
        match condition {
            Condition::Step(step, shape) => self.step(*step, shape, node, named, &mut |named, next| {
                self.shape(shape, next, named, &mut |_| true)
            }),
            Condition::Optional(..) => true,
            Condition::Not(condition) => !self.holds(condition, node, named),
            Condition::Any(alternatives) => {
                alternatives.iter().any(|alternative| self.all(alternative, node, named, &mut |_| true))
            }
        }
    }

    /// Calls `visit` for the nodes that a step leads to, until it returns true.
    fn step(
        &self,
        step: Step,
        shape: &Shape,
        node: NodeId,
        named: &mut NamedNodes,
        visit: &mut dyn FnMut(&mut NamedNodes, NodeId) -> bool,
    ) -> bool {
        let phrases = self.phrases;
        let children = phrases.children(node);
        let sisters =
            || phrases.place(node).map_or((&[][..], 0), |(parent, at)| (phrases.children(parent), at));
        let mut one = |next: Option<NodeId>| next.is_some_and(|next| visit(named, next));
        match step {
            Step::Itself => one(Some(node)),
            Step::Nth(nth) => one(children.get(nth).copied()),
            Step::Last => one(children.last().copied()),
            Step::Only => one(if let [only] = children { Some(*only) } else { None }),
            Step::Head => one(self.heads.child(node)),
            Step::Parent => one(phrases.parent(node)),
            Step::ParentOfSecond => {
                one(phrases.place(node).filter(|(_, at)| *at == 1).map(|(parent, _)| parent))
            }
            Step::ParentOfHead => one(self.heads.parent_of_head(node, phrases)),
            Step::Next => {
                let (sisters, at) = sisters();
                one(sisters.get(at + 1).copied())
            }
            Step::Previous => {
                let (sisters, at) = sisters();
                one(sisters[..at].last().copied())
            }
            Step::Named => {
                let Check::Same(name) = shape.test else { return false };
                let next = named[name];
                next.is_some_and(|next| visit(named, next))
            }
            Step::Child => children.iter().any(|child| visit(named, *child)),
            Step::SelfOrChild => visit(named, node) || children.iter().any(|child| visit(named, *child)),
            Step::Later => {
                let (sisters, at) = sisters();
                sisters.iter().skip(at + 1).rev().any(|sister| visit(named, *sister))
            }
            Step::Earlier => {
                let (sisters, at) = sisters();
                sisters[..at].iter().any(|sister| visit(named, *sister))
            }
            Step::Sister => {
                let (sisters, _) = sisters();
                sisters.iter().any(|sister| *sister != node && visit(named, *sister))
            }
            Step::Below => self.below(node, |_| true, named, visit),
            Step::Through(test) => self.below(node, |node| test.holds(phrases.passed(node)), named, visit),
            Step::LeftEdge => walk(node, |node| phrases.children(node).first().copied(), named, visit),
            Step::RightEdge => walk(node, |node| phrases.children(node).last().copied(), named, visit),
            Step::HeadChain => walk(node, |node| self.heads.child(node), named, visit),
            Step::AllHeadedBy => walk(node, |node| self.heads.parent_of_head(node, phrases), named, visit),
        }
    }

    /// Calls `visit` for what is below a node, each before its children, through nodes for which `through` holds.
    fn below(
        &self,
        node: NodeId,
        through: impl Fn(NodeId) -> bool,
        named: &mut NamedNodes,
        visit: &mut dyn FnMut(&mut NamedNodes, NodeId) -> bool,
    ) -> bool {
        let mut open: Vec<NodeId> = self.phrases.children(node).iter().rev().copied().collect();
        while let Some(next) = open.pop() {
            if visit(named, next) {
                return true;
            }
            if through(next) {
                open.extend(self.phrases.children(next).iter().rev());
            }
        }
        false
    }
}

/// Calls `visit` along a path.
fn walk(
    node: NodeId,
    next: impl Fn(NodeId) -> Option<NodeId>,
    named: &mut NamedNodes,
    visit: &mut dyn FnMut(&mut NamedNodes, NodeId) -> bool,
) -> bool {
    std::iter::successors(next(node), |node| next(*node)).any(|node| visit(named, node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;
    use crate::dependencies::labels::Tests;

    /// The labels of the marked nodes below which the pattern matches at the top, in the order of the matches.
    fn marked(pattern: &'static str, tree: &str) -> String {
        let mut tests = Tests::default();
        let pattern = Pattern::new(pattern, &mut tests);
        let tests: &'static Tests = Box::leak(Box::new(tests.finish()));
        let tree: Tree = tree.parse().unwrap();
        let phrases = Phrases::new(&tree, tests).unwrap();
        let mut labels = Vec::new();
        pattern.each(phrases.root(), &phrases, &Heads::default(), &mut |named| {
            labels.extend(pattern.named("@", named).map(|node| phrases.label(node).to_owned()));
            false
        });
        labels.join(" ")
    }

    #[test]
    fn steps_lead_to_their_nodes() {
        let tree = "(S (NP (DT a) (NN dog)) (VP (VBZ is) (VP (VBG running) (RB now))) (. .))";
        for (pattern, expected) in [
            ("S[/@_]", "NP VP ."),
            ("S[/1@_]", "NP"),
            ("S[/2@_]", "VP"),
            ("S[/$@_]", "."),
            ("S[/._]", ""),
            ("S[/=@S|VP]", "S VP"),
            ("S[/(VP)@V*]", "VP VBZ VP VBG"),
            ("S[//@N*]", "NP NN"),
            ("S[//1@_]", "NP DT a"),
            ("S[//$@_]", ". ."),
            ("S[/NP[++@_]]", ". VP"),
            ("S[/NP[+@_]]", "VP"),
            ("S[/{.}[--@_]]", "NP VP"),
            ("S[/{.}[-@_]]", "VP"),
            ("S[/VP[~@_]]", "NP ."),
            ("S[//RB[..@_]]", "VP"),
            ("S[//VP=x[..2S ..@_]]", "S"),
            ("S[/NP=x[=@_] /VP[--&x]]", "NP"),
            ("S[/NP=x[++VP] :&x[/@DT]]", "DT"),
            ("S[/VP=x[/@%x]]", "VP"),
            ("S[/@NP[!/DT | /NN]]", "NP"),
            ("S[/@_[!/DT !/V*]]", "."),
            ("S[?/@VP[/VP] /NP]", "VP"),
            ("S[/@NP|VP[/'DOG'\n        | /VBZ[/is]]]", "VP"),
        ] {
            assert_eq!(marked(pattern, tree), expected, "{pattern}");
        }
    }
}
