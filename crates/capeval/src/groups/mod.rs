//! Groups images by properties of captions, columns and files, alone or crossed, and scores these groups.
//!
//! `membership` assigns images to groups. Groups are then scored in four ways: from the statistics of a run (`scores`),
//! as rows that each belong to an image, such as rated captions (`rows`), separately, with a report for each
//! (`reports`), and from a saved report, without captions (`saved`). `capeval_files::GroupSources` finds the file that
//! a name refers to.

mod differences;
mod jackknife;
mod membership;
mod reports;
mod rows;
mod saved;
mod scores;

use std::sync::Arc;

use capeval_choice::{Argument, Refusal, Remedy, suggest};
use capeval_corpus::GroupFile;
use capeval_lexical::ObjectWords;
use capeval_text::Tokenizer;

pub use self::reports::group_reports;
pub(crate) use self::rows::{GroupedRows, signed};
pub use self::saved::group_saved;
pub(crate) use self::scores::GroupRequest;

/// The greatest numbers of words in bins, unless others are given.
const BINS: [usize; 4] = [5, 10, 15, 20];

/// The built-in properties.
const PROPERTIES: [&str; 4] =
    ["words:references", "words:candidate", "references:count", "objects:references"];

/// A property that groups images.
#[derive(Clone, Debug)]
pub enum GroupBy {
    /// The mean number of words of an image's references, in bins that end at these numbers.
    WordsOfReferences(Vec<usize>),
    /// The number of words of a candidate, in such bins.
    WordsOfCandidate(Vec<usize>),
    /// The number of references of an image.
    CountOfReferences,
    /// The objects that an image's references mention.
    Objects(ObjectWords),
    /// A file that says so: its column, if it is named, and what the property is called, if not as the column.
    File(Arc<GroupFile>, Option<String>, Option<String>),
    /// The numbers that another property gives, in bins that end at these numbers.
    Binned(Box<GroupBy>, Vec<usize>),
    /// Several properties together.
    Crossed(Vec<GroupBy>),
}

impl GroupBy {
    /// Reads a property as users write it: `words:candidate=8,12`, or properties joined by `×` or ` x `. What is not
    /// built in is what `named` finds.
    ///
    /// # Errors
    /// When bins do not ascend, or `named` finds nothing.
    pub fn parse<E: From<Refusal>>(
        text: &str,
        named: &mut dyn FnMut(&str) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let text = text.replace(" x ", "×");
        let parts: Vec<&str> = text.split('×').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(unknown_property(&text, "it lacks a property", &[]).into());
        }
        let mut all = Vec::new();
        for part in parts {
            all.push(match Self::built_in(part)? {
                Some(property) => property,
                None => match part.rsplit_once('=') {
                    Some((property, bins)) => Self::Binned(Box::new(named(property)?), ends(part, bins)?),
                    None => match named(part) {
                        Ok(property) => property,
                        Err(error) => return Err(several(part, named).map_or(error, E::from)),
                    },
                },
            });
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Self::Crossed(all) })
    }

    /// The built-in property that a text names, if it names one.
    fn built_in(text: &str) -> Result<Option<Self>, Refusal> {
        let (name, bins) = match text.split_once('=') {
            Some((name, bins)) => (name, Some(bins)),
            None => (text, None),
        };
        let read = |bins: Option<&str>| bins.map_or_else(|| Ok(BINS.to_vec()), |bins| ends(text, bins));
        Ok(match (name, bins) {
            ("words:references", bins) => Some(Self::WordsOfReferences(read(bins)?)),
            ("words:candidate" | "words:candidates", bins) => Some(Self::WordsOfCandidate(read(bins)?)),
            ("references:count", None) => Some(Self::CountOfReferences),
            ("objects:references", lists) => {
                let lists = lists.unwrap_or(ObjectWords::DEFAULT);
                Some(Self::Objects(ObjectWords::parse(lists, Tokenizer::Noc)?))
            }
            ("references:count", Some(_)) => return Err(unknown_property(text, "it has no bins", &[])),
            _ => None,
        })
    }

    /// Returns true if the file `source` says it, alone or among others.
    fn is_of(&self, source: &str) -> bool {
        match self {
            Self::File(file, ..) => file.source() == source,
            Self::Binned(property, _) => property.is_of(source),
            Self::Crossed(all) => all.iter().any(|one| one.is_of(source)),
            Self::WordsOfReferences(_)
            | Self::WordsOfCandidate(_)
            | Self::CountOfReferences
            | Self::Objects(_) => false,
        }
    }

    /// The name of the property; `found` is that of the column that its file turned out to have.
    fn name(&self, found: Option<&str>) -> String {
        let bins = |name: &str, bins: &[usize]| {
            let own: Vec<String> = bins.iter().map(ToString::to_string).collect();
            if bins == BINS { name.to_owned() } else { format!("{name}={}", own.join(",")) }
        };
        match self {
            Self::WordsOfReferences(bounds) => bins(PROPERTIES[0], bounds),
            Self::WordsOfCandidate(bounds) => bins(PROPERTIES[1], bounds),
            Self::CountOfReferences => PROPERTIES[2].to_owned(),
            Self::Objects(objects) if objects.text() == ObjectWords::DEFAULT => PROPERTIES[3].to_owned(),
            Self::Objects(objects) => format!("{}={}", PROPERTIES[3], objects.text()),
            Self::File(file, column, name) => {
                let name = name.as_deref().or(column.as_deref()).or(found);
                name.unwrap_or_else(|| file.source()).to_owned()
            }
            Self::Binned(property, bounds) => bins(&property.name(found), bounds),
            Self::Crossed(all) => all.iter().map(|one| one.name(None)).collect::<Vec<_>>().join("×"),
        }
    }
}

/// The error of a text that names several properties, joined by a sign that means nothing; `None` if it names none.
fn several<E: From<Refusal>>(
    text: &str,
    named: &mut dyn FnMut(&str) -> Result<GroupBy, E>,
) -> Option<Refusal> {
    let mut is_known = |part: &str| {
        matches!(GroupBy::built_in(part), Ok(Some(_))) || !part.is_empty() && named(part).is_ok()
    };
    let mut joined = [",", ";", "+", "*", "&", "/", "x"].into_iter().filter(|sign| text.contains(sign));
    let parts = joined.find_map(|sign| {
        let parts: Vec<&str> = text.split(sign).map(str::trim).collect();
        parts.iter().all(|part| is_known(part)).then_some(parts)
    })?;
    let each: Vec<String> = parts.iter().map(|part| format!("'{part}'")).collect();
    let one_by_one = format!("give {} one by one to score the groups of each", each.join(" and "));
    let remedy = Remedy::set(Argument::GroupBy, parts.join("×")).to("score every combination");
    let remedy = remedy.or(Remedy::say(one_by_one));
    Some(Refusal::new(format!("'{text}' names {} properties at once", parts.len())).with_remedy(remedy))
}

/// The last numbers of bins.
fn ends(text: &str, bins: &str) -> Result<Vec<usize>, Refusal> {
    let bounds: Option<Vec<usize>> = bins.split(',').map(|bin| bin.trim().parse().ok()).collect();
    bounds.filter(|bounds| bounds.is_sorted_by(|a, b| a < b)).ok_or_else(|| {
        let name = text.rsplit_once('=').map_or(text, |(name, _)| name);
        Refusal::new(format!("{text}: '{bins}' is not a list of ascending numbers"))
            .with_remedy(format!("write the last number of each bin, as in {name}=8,12"))
    })
}

/// The error of a property that does not exist.
pub fn unknown_property(text: &str, why: &str, columns: &[&str]) -> Refusal {
    let known = PROPERTIES.iter().copied().chain(columns.iter().copied());
    let remedy = suggest(text, known).or(Remedy::say("name a file with an id and a group in each row"));
    Refusal::new(format!("nothing groups images by '{text}': {why}")).with_remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let mut named = |text: &str| -> Result<GroupBy, Refusal> {
            match text {
                "domain" | "split" => {
                    let file = GroupFile::of_pairs(text, []);
                    Ok(GroupBy::File(Arc::new(file), Some(text.to_owned()), None))
                }
                other => Err(unknown_property(other, "no such column", &["domain", "split"])),
            }
        };
        GroupBy::parse(text, &mut named).map(|by| by.name(None)).map_err(|error| error.to_string())
    }

    #[test]
    fn properties_are_read_as_they_are_written() {
        for (text, name) in [
            ("words:references", "words:references"),
            ("words:candidate=8,12", "words:candidate=8,12"),
            ("references:count", "references:count"),
            ("objects:references", "objects:references"),
            ("objects:references=bus/buses+sofa", "objects:references=bus/buses+sofa"),
            ("domain", "domain"),
            ("domain×split", "domain×split"),
            ("domain x words:candidate", "domain×words:candidate"),
        ] {
            assert_eq!(read(text), Ok(name.to_owned()));
        }
        for (text, words) in [
            ("domian", "nothing groups images by 'domian'"),
            ("", "lacks a property"),
            ("domain×", "lacks a property"),
            ("words:candidate=", "not a list of ascending numbers"),
            ("words:candidate=12,8", "not a list of ascending numbers"),
            ("words:candidate=x", "not a list of ascending numbers"),
            ("references:count=3", "no bins"),
            ("objects:references=bus stop", "no single word"),
            ("words", "no such column"),
            ("domain,split", "'domain,split' names 2 properties at once"),
            ("domain; words:candidate", "names 2 properties at once"),
            ("domainxsplit", "names 2 properties at once"),
            ("domain,other", "nothing groups images by 'domain,other'"),
        ] {
            assert!(read(text).unwrap_err().contains(words), "{text}: {:?}", read(text));
        }
    }
}
