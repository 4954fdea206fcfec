//! Chooses classes of states and potentials, so that bounds are tight on captions.
//!
//! It starts from coarse classes: tags on their own, phrases by their plain label, intermediate states by the phrase
//! they belong to. Potentials start from how often the grammar itself expects each state. Then practice captions are
//! parsed with the classes alone. The best parse of a caption may use one state of a class below a rule and another one
//! above; a step along the difference lowers the bound. States for which that happens most often get classes of their
//! own, and all is repeated.

use std::collections::{BTreeMap, HashMap};

use capeval_arrays::Buffer;

use super::classes::{Classes, GROUPS, LEFT_TAGS, PHRASES, RIGHT_TAGS, Refinement};
use super::lists::Lists;
use super::practice::captions;
use super::rules::Rule;
use super::{Grammar, kind};
use crate::parser::Bounds;

/// How many captions make a step.
const BATCH: usize = 15;
/// How often the expected counts of states are passed on; further rounds change nothing.
const ROUNDS_OF_COUNTING: usize = 200;
/// The smallest count, and the inverse of the largest.
const LEAST_COUNT: f64 = 1e-12;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) captions: usize,
    /// How often all captions are parsed between two choices of classes.
    pub(super) rounds: usize,
    /// How often states get classes of their own, and how many at a time.
    pub(super) splits: usize,
    pub(super) states: usize,
}

impl Effort {
    /// No practice, since the parser does not prune at present; 360 captions, 5 rounds and 4 splits of 150 states take
    /// most of a minute.
    pub(super) const FULL: Self = Self { captions: 0, rounds: 0, splits: 1, states: 0 };
}

/// After how many divisions the coarse classes are taken.
const COARSE: usize = 1;

/// Finds coarse and fine classes with their potentials. `names` are those of the states in the grammar's file;
/// `progress` hears of every round, and of their number.
pub(super) fn fit(
    grammar: &Grammar,
    names: &[String],
    effort: Effort,
    progress: &mut dyn FnMut(u64, u64),
) -> [Classes; 2] {
    let captions = captions(effort.captions);
    let captions: Vec<_> = captions.iter().map(|words| grammar.lexicon().tag(words, false)).collect();
    let root = grammar.root();
    let mut class = first_classes(grammar, names);
    let mut potentials = expectations(grammar);
    potentials[usize::from(root)] = 0.0;
    let mut coarse = Classes::default();
    let rounds = (effort.rounds * (effort.splits + 1)) as u64;
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(BATCH));
    let mut bounds: Vec<Bounds> = (0..workers).map(|_| Bounds::default()).collect();
    for split in 0..=effort.splits {
        let shape = Shape::new(grammar, &class);
        let mut weighted = shape.weigh(&potentials, false);
        let mut squares = vec![0.0_f32; potentials.len()];
        let mut conflicts = vec![0_u32; potentials.len()];
        for round in 0..effort.rounds {
            progress((split * effort.rounds + round) as u64, rounds);
            for batch in captions.chunks(BATCH) {
                let parts = batch.chunks(batch.len().div_ceil(workers));
                let slopes = std::thread::scope(|scope| {
                    let weighted = &weighted;
                    let work = |(bounds, part)| scope.spawn(move || weighted.slope(root, part, bounds));
                    let threads: Vec<_> = bounds.iter_mut().zip(parts).map(work).collect();
                    let slopes = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
                    slopes.map(|slope| slope.expect("a worker never panics")).collect::<Vec<_>>()
                });
                // Whole numbers, so that their sums depend on no order.
                let mut slope = vec![0.0_f32; potentials.len()];
                for (state, step, differs) in slopes.into_iter().flatten() {
                    slope[usize::from(state)] += step;
                    conflicts[usize::from(state)] += u32::from(differs);
                }
                for (state, slope) in slope.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
                    squares[state] += slope * slope;
                    if state != usize::from(root) {
                        potentials[state] -= slope / (squares[state] + 1.0).sqrt();
                    }
                }
                weighted = shape.weigh(&potentials, false);
            }
        }
        if split == COARSE {
            coarse = weighted.classes;
        }
        if split < effort.splits {
            isolate(&mut class, &shape.members, &conflicts, effort.states);
        }
    }
    [coarse, Shape::new(grammar, &class).weigh(&potentials, true).classes]
}

/// Numbers the distinct keys in the order of their first appearance.
fn number<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<u16> {
    let mut numbers = BTreeMap::new();
    keys.map(|key| {
        let next = numbers.len() as u16;
        *numbers.entry(key).or_insert(next)
    })
    .collect()
}

/// Tags, the root, phrases by label, and intermediate states by the phrase they belong to and by whether they complete
/// it.
fn first_classes(grammar: &Grammar, names: &[String]) -> Vec<u16> {
    let is_intermediate = |state: u16| grammar.is(state, kind::INTERMEDIATE);
    let states = 0..grammar.states() as u16;
    let mut phrases: Vec<Option<u16>> = states.clone().map(|s| (!is_intermediate(s)).then_some(s)).collect();
    let mut complete = vec![false; names.len()];
    // From the phrases down to their parts, until nothing is left to do.
    let mut open: Vec<u16> = states.clone().filter(|state| !is_intermediate(*state)).collect();
    while let Some(parent) = open.pop() {
        let rules =
            grammar.by_parent().list(usize::from(parent)).iter().map(|rule| (Rule::unpack(*rule), true));
        let unaries =
            grammar.unaries().list(usize::from(parent)).iter().map(|rule| (Rule::unpack(*rule), false));
        for (rule, is_binary) in rules.chain(unaries) {
            for child in [rule.first, rule.second].into_iter().take(1 + usize::from(is_binary)) {
                if !is_intermediate(child) {
                    continue;
                }
                complete[usize::from(child)] |= !is_intermediate(parent);
                if phrases[usize::from(child)].is_none() {
                    phrases[usize::from(child)] = phrases[usize::from(parent)];
                    open.push(child);
                }
            }
        }
    }
    let label = |state: u16| {
        let name = names[usize::from(state)].split('^').next().unwrap_or_default();
        name.trim_end_matches("-v").trim_end_matches("-B")
    };
    number(states.map(|state| {
        if grammar.is(state, kind::TAG) || state == grammar.root() {
            (0, names[usize::from(state)].as_str(), false)
        } else {
            let label = phrases[usize::from(state)].map_or("", label);
            (1 + u8::from(is_intermediate(state)), label, complete[usize::from(state)])
        }
    }))
}

/// Gives the states with most conflicts classes of their own.
fn isolate(class: &mut [u16], members: &[Vec<u16>], conflicts: &[u32], count: usize) {
    let mut order: Vec<usize> = (0..class.len())
        .filter(|state| conflicts[*state] > 0 && members[usize::from(class[*state])].len() > 1)
        .collect();
    order.sort_by_key(|state| std::cmp::Reverse(conflicts[*state]));
    for (state, new) in order.into_iter().take(count).zip(members.len() as u16..) {
        class[state] = new;
    }
    let numbers = number(class.iter().copied());
    class.copy_from_slice(&numbers);
}

/// The logarithms of how often each state is expected in a sentence that the grammar draws.
fn expectations(grammar: &Grammar) -> Vec<f32> {
    struct Weighted {
        parent: usize,
        first: usize,
        second: Option<usize>,
        weight: f64,
    }
    let n = grammar.states();
    let mut rules = Vec::new();
    for parent in 0..n {
        for (list, is_binary) in
            [(grammar.by_parent().list(parent), true), (grammar.unaries().list(parent), false)]
        {
            rules.extend(list.iter().map(|rule| {
                let rule = Rule::unpack(*rule);
                let second = is_binary.then_some(usize::from(rule.second));
                Weighted {
                    parent,
                    first: usize::from(rule.first),
                    second,
                    weight: f64::from(rule.score).exp(),
                }
            }));
        }
    }
    // The weight of everything below each state.
    let tags: Vec<f64> =
        (0..n).map(|state| f64::from(u8::from(grammar.is(state as u16, kind::TAG)))).collect();
    let mut below = tags.clone();
    for _ in 0..ROUNDS_OF_COUNTING {
        let mut next = tags.clone();
        for rule in &rules {
            next[rule.parent] +=
                rule.weight * below[rule.first] * rule.second.map_or(1.0, |second| below[second]);
        }
        below = next;
    }
    let mut counts = vec![0.0; n];
    for _ in 0..ROUNDS_OF_COUNTING {
        let mut next = vec![0.0; n];
        next[usize::from(grammar.root())] = 1.0;
        for rule in &rules {
            let count = counts[rule.parent] * rule.weight;
            next[rule.first] += count * rule.second.map_or(1.0, |second| below[second]);
            if let Some(second) = rule.second {
                next[second] += count * below[rule.first];
            }
        }
        counts = next;
    }
    let bounded = |count: f64| if count.is_nan() { 1.0 } else { count.clamp(LEAST_COUNT, 1.0 / LEAST_COUNT) };
    counts.into_iter().map(|count| bounded(count).ln() as f32).collect()
}

/// A rule between classes, and one that it stands for.
struct Pair {
    /// Parent, group, children.
    key: (u16, usize, u16, u16),
    states: [u16; 3],
    score: f32,
}

/// The rules between classes without their scores.
struct Shape {
    class: Vec<u16>,
    rank: Vec<u16>,
    members: Vec<Vec<u16>>,
    /// Ascending by key.
    pairs: Vec<Pair>,
    /// Ascending by classes.
    chains: Vec<Chain>,
}

/// A chain of unary rules.
struct Chain {
    /// Of the child and of the parent.
    classes: (u16, u16),
    parent: u16,
    child: u16,
    score: f32,
}

/// Classes with scores, and which rule gave each score.
struct Weighted {
    classes: Classes,
    /// The states of the best rule, for each rule between classes.
    best: Vec<[u16; 3]>,
    /// The best chain between two classes: child and parent class, then parent and child.
    chains: HashMap<(u16, u16), (u16, u16)>,
}

impl Shape {
    fn new(grammar: &Grammar, class: &[u16]) -> Self {
        let n = class.iter().max().map_or(0, |last| usize::from(*last) + 1);
        let mut members = vec![Vec::new(); n];
        let mut rank = Vec::with_capacity(class.len());
        for (class, state) in class.iter().zip(0..) {
            let members: &mut Vec<u16> = &mut members[usize::from(*class)];
            rank.push(members.len() as u16);
            members.push(state);
        }
        let of = |state: u16| class[usize::from(state)];
        let (mut pairs, mut chains) = (Vec::new(), Vec::new());
        for state in 0..grammar.states() as u16 {
            for rule in grammar.by_parent().list(usize::from(state)) {
                let Rule { first, second, score } = Rule::unpack(*rule);
                let group = match (grammar.is(first, kind::TAG), grammar.is(second, kind::TAG)) {
                    (_, true) => RIGHT_TAGS,
                    (true, _) => LEFT_TAGS,
                    _ => PHRASES,
                };
                pairs.push(Pair {
                    key: (of(state), group, of(first), of(second)),
                    states: [state, first, second],
                    score,
                });
            }
            for chain in grammar.chains().list(usize::from(state)) {
                let Rule { first: parent, score, .. } = Rule::unpack(*chain);
                chains.push(Chain { classes: (of(state), of(parent)), parent, child: state, score });
            }
        }
        pairs.sort_by_key(|pair| (pair.key, pair.states));
        chains.sort_by_key(|chain| (chain.classes, chain.parent, chain.child));
        Self { class: class.to_vec(), rank, members, pairs, chains }
    }

    /// Computes the scores. Refinements are only needed by parsers.
    fn weigh(&self, potentials: &[f32], with_refinements: bool) -> Weighted {
        let n = self.members.len();
        let potential = |state: u16| potentials[usize::from(state)];
        let rank = |state: u16| usize::from(self.rank[usize::from(state)]);
        let (mut by_parent, mut by_left, mut by_left_of_tag) =
            (vec![vec![]; GROUPS * n], vec![vec![]; n], vec![vec![]; n]);
        let (mut best, mut refinements) = (Vec::new(), Vec::new());
        for pairs in self.pairs.chunk_by(|a, b| a.key == b.key) {
            let (parent, group, left, right) = pairs[0].key;
            let mut score = f32::NEG_INFINITY;
            let mut states = pairs[0].states;
            for pair in pairs {
                let [parent, left, right] = pair.states;
                let raised = pair.score + potential(parent) - potential(left) - potential(right);
                if raised > score {
                    (score, states) = (raised, pair.states);
                }
            }
            by_parent[usize::from(parent) * GROUPS + group]
                .push(Rule { first: left, second: right, score }.pack());
            let lists = if group == RIGHT_TAGS { &mut by_left_of_tag } else { &mut by_left };
            lists[usize::from(left)].push(Rule { first: parent, second: right, score }.pack());
            best.push(states);
            let refine = |pair: &Pair| {
                let [parent, left, right] = pair.states.map(rank);
                Refinement { parent, left, right, score: pair.score }.pack()
            };
            refinements.push(if with_refinements { pairs.iter().map(refine).collect() } else { Vec::new() });
        }
        let (mut up, mut down, mut chains) = (vec![vec![]; n], vec![vec![]; n], HashMap::new());
        for group in self.chains.chunk_by(|a, b| a.classes == b.classes) {
            let raised = |chain: &Chain| chain.score + potential(chain.parent) - potential(chain.child);
            let Some(chain) = group.iter().max_by(|a, b| raised(a).total_cmp(&raised(b))) else { continue };
            let ((child, parent), score) = (chain.classes, raised(chain));
            if child != parent || score > 0.0 {
                up[usize::from(child)].push(Rule { first: parent, second: 0, score }.pack());
                down[usize::from(parent)].push(Rule { first: child, second: 0, score }.pack());
                chains.insert(chain.classes, (chain.parent, chain.child));
            }
        }
        let classes = Classes {
            class: self.class.clone().into(),
            rank: self.rank.clone().into(),
            members: Lists::new(self.members.iter().map(|members| members.iter().copied())),
            potentials: Buffer::from(potentials.to_vec()),
            by_left: Lists::new(by_left),
            by_left_of_tag: Lists::new(by_left_of_tag),
            by_parent: Lists::new(by_parent),
            up: Lists::new(up),
            down: Lists::new(down),
            refinements: Lists::new(refinements),
        };
        Weighted { classes, best, chains }
    }
}

impl Weighted {
    /// How the bounds of some captions change with the potentials: states, by how much, and whether it was a conflict.
    fn slope(
        &self,
        root: u16,
        captions: &[Vec<Vec<(u16, f32)>>],
        bounds: &mut Bounds,
    ) -> Vec<(u16, f32, bool)> {
        let mut steps = Vec::new();
        for words in captions {
            bounds.fill_inside(&self.classes, root, words, None);
            self.walk(bounds, root, words, &mut |above, state| {
                steps.extend([(above, -1.0, above != state), (state, 1.0, above != state)]);
            });
        }
        steps
    }

    /// Visits the best parse in terms of classes. At each place, `visit` gets the state that the rule above was made
    /// for and the one that the rule below was made for.
    fn walk(&self, bounds: &Bounds, root: u16, words: &[Vec<(u16, f32)>], visit: &mut dyn FnMut(u16, u16)) {
        let mut open = vec![(root, 0, words.len())];
        // A chain of unary rules is followed by none.
        let mut after_chain = false;
        while let Some((above, start, end)) = open.pop() {
            let class = self.classes.view().class[usize::from(above)];
            let score = bounds.score(class, start, end);
            let found = self
                .word(class, score, start, end, words)
                .or_else(|| self.rule(bounds, class, score, start, end))
                .or_else(|| if after_chain { None } else { self.chain(bounds, class, score, start, end) });
            let Some((state, children)) = found else { return };
            visit(above, state);
            after_chain = children.first().is_some_and(|child| (child.1, child.2) == (start, end));
            open.extend(children);
        }
    }

    fn word(
        &self,
        class: u16,
        score: f32,
        start: usize,
        end: usize,
        words: &[Vec<(u16, f32)>],
    ) -> Option<Found> {
        let view = self.classes.view();
        let tags = words.get(start).filter(|_| start + 1 == end)?;
        let fits = |(state, word): &&(u16, f32)| {
            let state = usize::from(*state);
            view.class[state] == class && word + view.potentials[state] == score
        };
        tags.iter().find(fits).map(|(state, _)| (*state, Vec::new()))
    }

    fn rule(&self, bounds: &Bounds, class: u16, score: f32, start: usize, end: usize) -> Option<Found> {
        let view = self.classes.view();
        for list in (0..GROUPS).map(|group| usize::from(class) * GROUPS + group) {
            for (number, rule) in view.by_parent.range(list).zip(view.by_parent.list(list)) {
                let rule = Rule::unpack(*rule);
                for split in start + 1..end {
                    let left = bounds.score(rule.first, start, split);
                    if rule.score + left + bounds.score(rule.second, split, end) == score
                        && left > f32::NEG_INFINITY
                    {
                        let [parent, left, right] = self.best[number];
                        return Some((parent, vec![(left, start, split), (right, split, end)]));
                    }
                }
            }
        }
        None
    }

    fn chain(&self, bounds: &Bounds, class: u16, score: f32, start: usize, end: usize) -> Option<Found> {
        let chains =
            self.classes.view().down.list(usize::from(class)).iter().map(|chain| Rule::unpack(*chain));
        let mut fitting = chains.filter(|chain| bounds.score(chain.first, start, end) + chain.score == score);
        let (parent, child) = *self.chains.get(&(fitting.next()?.first, class))?;
        Some((parent, vec![(child, start, end)]))
    }
}

/// A state, and the children from which it was made, with their spans.
type Found = (u16, Vec<(u16, usize, usize)>);
