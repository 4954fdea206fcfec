//! Assigns images to groups.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use capeval_corpus::{GroupFile, Ids, SegmentId};
use capeval_evaluate::{ReferenceSet, System};
use capeval_lexical::ObjectWords;
use capeval_text::{Scratch, Tokenizer};

use super::{GroupBy, unknown_property};
use crate::Error;

/// A group: a name for each property, with what they are sorted by.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupName(Vec<(f64, String)>);

impl Eq for GroupName {}

impl Ord for GroupName {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0);
        let each = pairs.map(|((a, one), (b, another))| a.total_cmp(b).then_with(|| one.cmp(another)));
        each.fold(Ordering::Equal, Ordering::then).then(self.0.len().cmp(&other.0.len()))
    }
}

impl PartialOrd for GroupName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl GroupName {
    pub fn name(&self) -> String {
        self.0.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join("×")
    }
}

/// The groups of each image.
type GroupsOfImages = HashMap<u32, Vec<GroupName>>;

/// The groups of images, found from a property.
pub enum Membership {
    /// The same for all systems.
    Images(String, GroupsOfImages),
    /// By system.
    Systems(String, Vec<GroupsOfImages>),
}

/// The images that may be in groups.
pub struct GroupableImages<'s> {
    /// The references, or why there are none.
    pub references: Result<&'s ReferenceSet, &'s str>,
    /// The systems with a caption for each image, or why there are none.
    pub systems: Result<&'s [System], &'s str>,
    /// The number of images.
    pub n: u32,
    /// The numbers of the images with this id.
    pub find: &'s dyn Fn(&SegmentId) -> Vec<u32>,
    /// The ids of the images, and the way to compare them; `None` if there is a single way.
    pub known: Option<(Vec<SegmentId>, Ids)>,
}

impl Membership {
    pub fn name(&self) -> &str {
        match self {
            Self::Images(name, _) | Self::Systems(name, _) => name,
        }
    }

    pub fn of(&self, system: usize, image: u32) -> &[GroupName] {
        let map = match self {
            Self::Images(_, map) => Some(map),
            Self::Systems(_, maps) => maps.get(system),
        };
        map.and_then(|map| map.get(&image)).map_or(&[], Vec::as_slice)
    }

    /// The groups by a property.
    pub fn new(by: &GroupBy, images: &GroupableImages<'_>) -> Result<Self, Error> {
        let name = by.name(None);
        let numbers = || 0..images.n;
        let absent = |why: &str| Error::from(unknown_property(&name, why, &[]));
        Ok(match by {
            GroupBy::WordsOfReferences(bins) => {
                let references = images.references.map_err(absent)?;
                let mean = |image: u32| {
                    let of = references.of(image as usize);
                    let n = of.len().max(1) as f64;
                    of.map(n_words).sum::<usize>() as f64 / n
                };
                let groups = numbers().map(|image| (image, vec![bin(mean(image), bins)])).collect();
                Self::Images(name, groups)
            }
            GroupBy::CountOfReferences => {
                let references = images.references.map_err(absent)?;
                let of_size = |n: usize| GroupName(vec![(n as f64, n.to_string())]);
                let of = |image: u32| (image, vec![of_size(references.of(image as usize).len())]);
                let groups = numbers().map(of).collect();
                Self::Images(name, groups)
            }
            GroupBy::Objects(objects) => {
                let references = images.references.map_err(absent)?;
                let of = |image: u32| (image, mentioned(references.of(image as usize), objects));
                Self::Images(name, numbers().map(of).collect())
            }
            GroupBy::WordsOfCandidate(bins) => {
                let of_system = |system: &System| {
                    let words = |k: usize| n_words(system.texts.get(k)) as f64;
                    system
                        .images
                        .iter()
                        .enumerate()
                        .map(|(k, image)| (*image, vec![bin(words(k), bins)]))
                        .collect()
                };
                let groups = images.systems.map_err(absent)?.iter().map(of_system).collect();
                Self::Systems(name, groups)
            }
            GroupBy::File(file, column, _) => {
                let (found, groups) = of_file(file, column.as_deref(), images)?;
                Self::Images(by.name(Some(&found)), groups)
            }
            GroupBy::Binned(property, bins) => match Self::new(property, images)? {
                Self::Images(_, map) => {
                    let map = binned(map, &name, bins)?;
                    Self::Images(name, map)
                }
                Self::Systems(_, maps) => {
                    let each = maps.into_iter().map(|map| binned(map, &name, bins));
                    let maps = each.collect::<Result<_, Error>>()?;
                    Self::Systems(name, maps)
                }
            },
            GroupBy::Crossed(all) => {
                let all: Vec<Self> =
                    all.iter().map(|one| Self::new(one, images)).collect::<Result<_, _>>()?;
                let name = all.iter().map(Self::name).collect::<Vec<_>>().join("×");
                let of_system = |system: usize| -> GroupsOfImages {
                    let groups = |image: u32| (image, crossed(all.iter().map(|one| one.of(system, image))));
                    numbers().map(groups).collect()
                };
                let n_systems = all.iter().map(|one| match one {
                    Self::Images(..) => 0,
                    Self::Systems(_, maps) => maps.len(),
                });
                match n_systems.max() {
                    None | Some(0) => Self::Images(name, of_system(0)),
                    Some(n) => Self::Systems(name, (0..n).map(of_system).collect()),
                }
            }
        })
    }
}

/// The name of the column of a file that groups images, and their groups by it.
fn of_file(
    file: &GroupFile,
    column: Option<&str>,
    images: &GroupableImages<'_>,
) -> Result<(String, GroupsOfImages), Error> {
    let find = |id: &SegmentId| {
        let found = (images.find)(id);
        if found.is_empty() { (images.find)(&other_type(id)) } else { found }
    };
    let found = file.groups(column, &|id| !find(id).is_empty()).map_err(|error| {
        let other = images.known.as_ref().and_then(|(known, way)| file.other_ids(column, known, *way));
        match other {
            Some(other) => {
                let message =
                    format!("{}: its ids are written in another way: {}", file.source(), other.examples());
                Error::with_remedy(message, other.remedy())
            }
            None => Error::from(error),
        }
    })?;
    let are_numbers = found.pairs.iter().all(|(_, group)| group.parse::<f64>().is_ok());
    let mut groups = GroupsOfImages::new();
    for (id, group) in &found.pairs {
        let rank = if are_numbers { group.parse().unwrap_or_default() } else { 0.0 };
        let name = GroupName(vec![(rank, group.clone())]);
        for image in find(id) {
            let of_image = groups.entry(image).or_default();
            if !of_image.contains(&name) {
                of_image.push(name.clone());
            }
        }
    }
    Ok((found.name, groups))
}

/// The bins of groups that are numbers.
fn binned(groups: GroupsOfImages, property: &str, bins: &[usize]) -> Result<GroupsOfImages, Error> {
    let one = |group: GroupName| match group.name().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(bin(value, bins)),
        _ => Err(Error::with_remedy(
            format!("{property}: '{}' is no number, so it is in no bin", group.name()),
            "leave out the bins",
        )),
    };
    let of_image = |(image, groups): (u32, Vec<GroupName>)| {
        Ok((image, groups.into_iter().map(one).collect::<Result<_, Error>>()?))
    };
    groups.into_iter().map(of_image).collect()
}

/// Every combination of a group of each list.
fn crossed<'l>(lists: impl Iterator<Item = &'l [GroupName]>) -> Vec<GroupName> {
    lists.fold(vec![GroupName(Vec::new())], |so_far, list| {
        let with = |group: &GroupName| {
            let own = group.0.clone();
            list.iter().map(move |other| GroupName([&own[..], &other.0].concat())).collect::<Vec<_>>()
        };
        so_far.iter().flat_map(with).collect()
    })
}

/// A group for each object that a text mentions, in the order of the objects.
fn mentioned<'t>(texts: impl Iterator<Item = &'t str>, objects: &ObjectWords) -> Vec<GroupName> {
    let mut found: BTreeSet<usize> = BTreeSet::new();
    let mut scratch = Scratch::default();
    for text in texts {
        Tokenizer::Noc.tokenize(text, &mut scratch, |word| found.extend(objects.of(word)));
    }
    found.into_iter().map(|k| GroupName(vec![(k as f64, objects.names()[k].clone())])).collect()
}

fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The bin of a number: `6-10`, or `21+` beyond the last one.
fn bin(value: f64, bins: &[usize]) -> GroupName {
    let at = bins.iter().position(|bound| value <= *bound as f64);
    let first =
        |at: usize| at.checked_sub(1).and_then(|before| bins.get(before)).map_or(0, |bound| bound + 1);
    let name = match at {
        Some(at) => match (first(at), bins[at]) {
            (one, last) if one == last => one.to_string(),
            (one, last) => format!("{one}-{last}"),
        },
        None => format!("{}+", first(bins.len())),
    };
    GroupName(vec![(at.unwrap_or(bins.len()) as f64, name)])
}

/// The same id as a text instead of a number, or the reverse.
fn other_type(id: &SegmentId) -> SegmentId {
    match id {
        SegmentId::Integer(number) => SegmentId::Text(number.to_string().into()),
        SegmentId::Text(text) => SegmentId::from_untyped(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_their_names_say() {
        let name = |value: f64| bin(value, &[5, 6, 10]).name();
        assert_eq!([0.0, 5.0, 5.5, 6.0, 10.0, 10.5].map(name), ["0-5", "0-5", "6", "6", "7-10", "11+"]);
        assert_eq!(bin(3.0, &[0]).name(), "1+");
    }

    #[test]
    fn an_image_is_with_each_object_that_a_reference_mentions() {
        let objects = ObjectWords::parse("bus/buses+sofa+dog", Tokenizer::Noc).unwrap();
        let groups = mentioned(["A sofa.", "two Buses, one sofa"].into_iter(), &objects);
        assert_eq!(groups.iter().map(GroupName::name).collect::<Vec<_>>(), ["bus", "sofa"]);
        assert!(mentioned(["a busstop", ""].into_iter(), &objects).is_empty());
    }
}
