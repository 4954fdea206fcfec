//! Restricts captions to a list of images.

use std::collections::HashSet;

use capeval_choice::{Code, Remedy};
use capeval_corpus::{Captions, Format, Ids, Notice, OtherIds, SegmentId};

use crate::Error;
use crate::references::ReferenceSource;

/// A list of images; its ids are text if ids are compared as text.
pub(crate) struct Subset {
    listed: HashSet<SegmentId>,
    ids: Ids,
    /// The number of all images.
    of: usize,
}

impl Subset {
    /// The images of `list`, which must all be among `references`; `noun` is what they have there: a reference or a
    /// score.
    pub fn new(
        list: &[SegmentId],
        references: &ReferenceSource,
        noun: &str,
        ids: Ids,
    ) -> Result<Self, Error> {
        let known: HashSet<SegmentId> = references.ids().iter().map(|id| normal(id, ids)).collect();
        let unknown: Vec<&SegmentId> = list.iter().filter(|id| !known.contains(&normal(id, ids))).collect();
        if list.is_empty() {
            return Err(Error::request("the list of images is empty"));
        }
        if !unknown.is_empty() {
            let shown: Vec<String> =
                unknown.iter().take(Notice::MAX_IDS).map(|id| id.quoted().to_string()).collect();
            let more = if unknown.len() > shown.len() { ", …" } else { "" };
            let message = format!(
                "{} of the {} listed images {} no {noun} in {}: {}{more}",
                unknown.len(),
                list.len(),
                if unknown.len() == 1 { "has" } else { "have" },
                references.source(),
                shown.join(", "),
            );
            if let Some(other) = OtherIds::of(references.ids(), unknown.iter().copied(), ids) {
                return Err(Error::with_remedy(format!("{message}; {}", other.examples()), other.remedy()));
            }
            return Err(Error::with_remedy(
                message,
                if unknown.len() == 1 { "remove it from the list" } else { "remove them from the list" },
            ));
        }
        Ok(Self { listed: list.iter().map(|id| normal(id, ids)).collect(), ids, of: known.len() })
    }

    /// The captions of listed images.
    pub fn of(&self, captions: &Captions) -> Captions {
        captions.only(|id| self.has(id))
    }

    /// As [`of`](Self::of), for the candidates of images that `references` describe.
    ///
    /// # Errors
    /// When one of the two has no ids and the other's count its lines from 0: alignment would then count them from 0,
    /// but sees the listed ones only.
    pub fn of_candidates(
        &self,
        candidates: &Captions,
        references: &ReferenceSource,
    ) -> Result<Captions, Error> {
        let of_references = references.captions().and_then(Captions::format);
        // As alignment does.
        let count_lines = |ids: &[SegmentId], lines: &[SegmentId]| {
            let mut known = HashSet::new();
            let ids = ids.iter().filter(|id| known.insert(*id));
            let n_lines = lines.iter().collect::<HashSet<_>>().len();
            ids.cloned().eq((0..).take(n_lines).map(SegmentId::Integer))
        };
        let is_text = |format| format == Some(Format::Lines);
        let (without, with) = match (is_text(candidates.format()), is_text(of_references)) {
            (true, false) if count_lines(references.ids(), candidates.ids()) => {
                (candidates.source(), references.source())
            }
            (false, true) if count_lines(candidates.ids(), references.ids()) => {
                (references.source(), candidates.source())
            }
            _ => return Ok(self.of(candidates)),
        };
        Err(Error::with_remedy(
            format!(
                "{without} has no ids, and those of {with} begin with 0: a list of images could mean other lines"
            ),
            Remedy::say(format!("give ids to the captions in {without}")),
        ))
    }

    /// Returns true if an image is listed.
    pub fn has(&self, id: &SegmentId) -> bool {
        self.listed.contains(&normal(id, self.ids))
    }

    /// A notice about the restriction.
    pub fn notice(&self) -> Notice {
        let (n, of) = (self.len(), self.of);
        let message = match n {
            1 => format!("only the listed image of {of} is scored"),
            _ => format!("only the {n} listed images of {of} are scored"),
        };
        Notice::new(Code::Subset, message).count(n)
    }

    /// The number of listed images.
    pub fn len(&self) -> usize {
        self.listed.len()
    }
}

/// The form of an id that is compared.
pub(crate) fn normal(id: &SegmentId, ids: Ids) -> SegmentId {
    ids.form(id).into_owned()
}
