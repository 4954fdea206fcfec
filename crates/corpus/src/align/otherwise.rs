//! Ids that would be known if they were compared in another way: the only place that finds it out, and advises it.

use capeval_choice::Argument;

use super::ImageIndex;
use crate::policy::Ids;
use crate::{Remedy, SegmentId};

/// A way to compare ids under which unknown ones are those of known images.
#[derive(Clone, Debug)]
pub struct OtherIds {
    way: Ids,
    /// The ids that are then known, each with its image's.
    found: Vec<(SegmentId, SegmentId)>,
}

impl OtherIds {
    /// The first way under which ids of `unknown` are among `known`: as text if any of them is, and by names of files
    /// if all of them are.
    pub fn of<'i>(
        known: &[SegmentId],
        unknown: impl Iterator<Item = &'i SegmentId> + Clone,
        comparison: Ids,
    ) -> Option<Self> {
        let n = unknown.clone().count();
        let ways = match comparison {
            _ if n == 0 => &[][..],
            Ids::AsGiven => &[Ids::Text, Ids::FileName, Ids::Loose][..],
            Ids::Text => &[Ids::FileName, Ids::Loose],
            Ids::FileName => &[Ids::Loose],
            Ids::Loose => &[],
        };
        ways.iter().find_map(|way| {
            let images = ImageIndex::of("", known.iter().cloned(), *way).ok()?;
            let there = |id: &SegmentId| images.id(images.find(id)?).cloned();
            let found: Vec<_> = unknown.clone().filter_map(|id| Some((id.clone(), there(id)?))).collect();
            let is_enough = found.len() == n || *way == Ids::Text && !found.is_empty();
            is_enough.then_some(Self { way: *way, found })
        })
    }

    /// The way to compare them.
    pub fn way(&self) -> Ids {
        self.way
    }

    /// The ids that are then known, each with its image's.
    pub fn found(&self) -> &[(SegmentId, SegmentId)] {
        &self.found
    }

    /// Some of the ids as they are and as their images have them: `"7.jpg" is 7 there`.
    pub fn examples(&self) -> String {
        const EXAMPLES: usize = 3;
        let example =
            |(id, there): &(SegmentId, SegmentId)| format!("{} is {} there", id.quoted(), there.quoted());
        let mut examples: Vec<String> = self.found.iter().map(example).collect();
        examples.dedup();
        examples.truncate(EXAMPLES);
        examples.join(", ")
    }

    /// The advice to compare ids so.
    pub fn remedy(&self) -> Remedy {
        let purpose = match self.way {
            Ids::FileName => "compare the names of files",
            Ids::Loose => "compare them so",
            _ => "compare them as text",
        };
        Remedy::set(Argument::Ids, self.way.name()).to(purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(known: &[SegmentId], unknown: &[SegmentId], comparison: Ids) -> Option<&'static str> {
        OtherIds::of(known, unknown.iter(), comparison).map(|other| other.way().name())
    }

    #[test]
    fn the_first_way_that_knows_the_ids_is_found() {
        let known: Vec<SegmentId> = vec![7.into(), 8.into(), "Café".into()];
        let of = |unknown: &[SegmentId]| way(&known, unknown, Ids::AsGiven);
        assert_eq!(of(&["7".into(), "9".into()]), Some("text"));
        assert_eq!(of(&["7.jpg".into(), "val/COCO_val2014_000000000008.jpg".into()]), Some("file-name"));
        assert_eq!(of(&["7.jpg".into(), "9.jpg".into()]), None, "not all are known by names of files");
        assert_eq!(of(&["http://x.org/caf%C3%A9.jpg".into()]), Some("loose"));
        assert_eq!(of(&[9.into()]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(way(&known, &["7.png".into()], Ids::Loose), None, "it is looked up so already");
        let two: Vec<SegmentId> = vec!["a/7.jpg".into(), "b/7.jpg".into()];
        assert_eq!(way(&two, &["7".into()], Ids::AsGiven), None, "two images would be one");
    }
}
