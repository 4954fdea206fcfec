//! A small grammar whose scores bound those of the real one from above: its states are classes of states.
//!
//! A rule between classes has the largest score of the rules between their members. To make that bound tight, every
//! state has a potential: the score of a rule is raised by the potential of its parent and lowered by those of its
//! children, and that of a word is raised by that of its tag. All of them cancel out over a whole tree, since the
//! potential of the root is zero. No digit of a parse depends on classes or potentials, which [`fit`](super::fit)
//! chooses; they decide how much work can be left out.

use capeval_arrays::{Buffer, Error, Reader, Writer};

use super::lists::{Lists, View};
use super::rules::Rule;

/// The rules of one parent are listed in three groups.
pub(crate) const GROUPS: usize = 3;
/// Neither child is a tag.
pub(crate) const PHRASES: usize = 0;
/// The left child is a tag, so that it covers one word.
pub(crate) const LEFT_TAGS: usize = 1;
/// The right child is a tag.
pub(crate) const RIGHT_TAGS: usize = 2;

/// Classes of states, and the rules between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    /// The class of each state, and its place among the members of the class.
    pub(super) class: Buffer<u16>,
    pub(super) rank: Buffer<u16>,
    /// The states of each class, ascending.
    pub(super) members: Lists<u16>,
    /// Of each state.
    pub(super) potentials: Buffer<f32>,
    /// Rules by left child: the parent and the right child, which is no tag.
    pub(super) by_left: Lists<u64>,
    /// The same for right children that are tags.
    pub(super) by_left_of_tag: Lists<u64>,
    /// Rules by parent and group: both children. A rule's number is its place among all of them.
    pub(super) by_parent: Lists<u64>,
    /// Chains of unary rules by child, and by parent.
    pub(super) up: Lists<u64>,
    pub(super) down: Lists<u64>,
    /// For each rule by its number, the rules of the real grammar that it stands for: the ranks of the parent and of
    /// the left child, that of the right child, and the bits of the score.
    pub(super) refinements: Lists<[u32; 3]>,
}

impl Classes {
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.owned(&self.class);
        out.owned(&self.rank);
        self.members.write(out);
        out.owned(&self.potentials);
        for rules in [&self.by_left, &self.by_left_of_tag, &self.by_parent, &self.up, &self.down] {
            rules.write(out);
        }
        self.refinements.write(out);
    }

    /// Takes the next arrays of a file, whose grammar has this many states.
    pub(super) fn open(reader: &mut Reader, states: usize) -> Result<Self, Error> {
        let classes = Self {
            class: reader.array()?,
            rank: reader.array()?,
            members: Lists::open(reader)?,
            potentials: reader.array()?,
            by_left: Lists::open(reader)?,
            by_left_of_tag: Lists::open(reader)?,
            by_parent: Lists::open(reader)?,
            up: Lists::open(reader)?,
            down: Lists::open(reader)?,
            refinements: Lists::open(reader)?,
        };
        if classes.is_sound(states) { Ok(classes) } else { Err(reader.unsound()) }
    }

    fn is_sound(&self, states: usize) -> bool {
        let n = self.len();
        let size = |class: usize| self.members.list(class).len();
        let is_member = |(state, (class, rank)): (usize, (&u16, &u16))| {
            self.members
                .list(usize::from(*class))
                .get(usize::from(*rank))
                .is_some_and(|s| usize::from(*s) == state)
        };
        let have_classes = |rules: &Lists<u64>| {
            let mut rules = rules.items().iter().map(|rule| Rule::unpack(*rule));
            rules.all(|rule| {
                usize::from(rule.first) < n && usize::from(rule.second) < n && !rule.score.is_nan()
            })
        };
        let lists = [&self.by_left, &self.by_left_of_tag, &self.by_parent, &self.up, &self.down];
        let refine = |list: usize| {
            let range = self.by_parent.view().range(list);
            range.zip(self.by_parent.list(list)).all(|(number, rule)| {
                let rule = Rule::unpack(*rule);
                let (parent, left, right) =
                    (list / GROUPS, usize::from(rule.first), usize::from(rule.second));
                self.refinements.list(number).iter().all(|refinement| {
                    let refinement = Refinement::unpack(*refinement);
                    refinement.parent < size(parent)
                        && refinement.left < size(left)
                        && refinement.right < size(right)
                })
            })
        };
        (self.class.len(), self.rank.len(), self.potentials.len(), self.members.items().len())
            == (states, states, states, states)
            && self.class.iter().zip(self.rank.iter()).enumerate().all(is_member)
            && self.potentials.iter().all(|potential| potential.is_finite())
            && lists.iter().all(|rules| have_classes(rules))
            && [&self.by_left, &self.by_left_of_tag, &self.up, &self.down]
                .iter()
                .all(|rules| rules.len() == n)
            && self.by_parent.len() == GROUPS * n
            && self.refinements.len() == self.by_parent.items().len()
            && (0..GROUPS * n).all(refine)
    }

    /// The number of classes.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn view(&self) -> ClassView<'_> {
        ClassView {
            class: &self.class,
            rank: &self.rank,
            members: self.members.view(),
            potentials: &self.potentials,
            by_left: self.by_left.view(),
            by_left_of_tag: self.by_left_of_tag.view(),
            by_parent: self.by_parent.view(),
            up: self.up.view(),
            down: self.down.view(),
            refinements: self.refinements.view(),
        }
    }
}

/// The arrays as slices, for inner loops.
#[derive(Clone, Copy)]
pub(crate) struct ClassView<'a> {
    pub(crate) class: &'a [u16],
    pub(crate) rank: &'a [u16],
    pub(crate) members: View<'a, u16>,
    pub(crate) potentials: &'a [f32],
    pub(crate) by_left: View<'a, u64>,
    pub(crate) by_left_of_tag: View<'a, u64>,
    pub(crate) by_parent: View<'a, u64>,
    pub(crate) up: View<'a, u64>,
    pub(crate) down: View<'a, u64>,
    pub(crate) refinements: View<'a, [u32; 3]>,
}

/// One of the real rules that a rule between classes stands for, by the ranks of its states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refinement {
    pub(crate) parent: usize,
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) score: f32,
}

impl Refinement {
    pub(super) fn pack(self) -> [u32; 3] {
        [self.parent as u32 | (self.left as u32) << 16, self.right as u32, self.score.to_bits()]
    }

    pub(crate) fn unpack([both, right, score]: [u32; 3]) -> Self {
        let (parent, left) = ((both & 0xFFFF) as usize, (both >> 16) as usize);
        Self { parent, left, right: right as usize, score: f32::from_bits(score) }
    }
}
