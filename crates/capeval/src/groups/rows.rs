//! Groups of rows that each belong to an image, such as rated captions and pairs.

use std::collections::{BTreeMap, HashMap};

use capeval_corpus::{Ids, SegmentId};
use capeval_evaluate::{ReferenceSet, System};
use capeval_metric::Signature;
use capeval_report::{ByGroup, GroupFrequencies, Notice};

use super::GroupBy;
use super::differences::ungrouped_notice;
use super::membership::{GroupName, GroupableImages, Membership};
use crate::Error;
use crate::restrict::normal;

/// Rows, and what may group them.
pub(crate) struct GroupedRows<'r> {
    /// The image of each row.
    pub images: Vec<&'r SegmentId>,
    pub ids: Ids,
    /// The references of each row, or why there are none.
    pub references: Result<&'r ReferenceSet, &'r str>,
    /// The captions of the rows, or why there are none.
    pub captions: Result<&'r System, &'r str>,
    /// The file with the rows, whose columns may say something else of each row of an image.
    pub source: &'r str,
}

impl GroupedRows<'_> {
    /// The result of each group by each property, with notices of rows in no group; `result` is that of some rows,
    /// which ascend.
    pub fn results<R>(
        &self,
        by: &[GroupBy],
        frequencies: GroupFrequencies,
        mut result: impl FnMut(&[u32]) -> R,
    ) -> Result<(Vec<ByGroup<R>>, Vec<Notice>), Error> {
        let mut rows: HashMap<SegmentId, Vec<u32>> = HashMap::new();
        for (row, image) in self.images.iter().enumerate() {
            rows.entry(normal(image, self.ids)).or_default().push(row as u32);
        }
        let find = |id: &SegmentId| rows.get(&normal(id, self.ids)).cloned().unwrap_or_default();
        let n = self.images.len() as u32;
        let systems = self.captions.map(std::slice::from_ref);
        let known = Some((self.images.iter().map(|id| (*id).clone()).collect(), self.ids));
        let images = GroupableImages { references: self.references, systems, n, find: &find, known };
        let (mut all, mut notices): (Vec<ByGroup<R>>, Vec<Notice>) = Default::default();
        for by in by {
            let membership = Membership::new(by, &images)?;
            if all.iter().any(|known| known.by == membership.name()) {
                continue;
            }
            let mut groups: BTreeMap<&GroupName, Vec<u32>> = BTreeMap::new();
            let mut ungrouped: Vec<&SegmentId> = Vec::new();
            for (row, image) in (0..n).zip(&self.images) {
                let own = membership.of(0, row);
                if own.len() > 1 && by.is_of(self.source) {
                    return Err(self.differing(membership.name(), image));
                }
                if own.is_empty() && ungrouped.last() != Some(image) {
                    ungrouped.push(image);
                }
                own.iter().for_each(|label| groups.entry(label).or_default().push(row));
            }
            notices.extend(ungrouped_notice(membership.name(), ungrouped.len(), "image"));
            all.push(ByGroup {
                by: membership.name().to_owned(),
                frequencies,
                without: ungrouped.len(),
                groups: groups.into_iter().map(|(label, rows)| (label.name(), result(&rows))).collect(),
            });
        }
        let is_empty = all.iter().find(|by| by.groups.is_empty());
        match is_empty {
            Some(by) => Err(Error::with_remedy(
                format!("no image of {} is in a group by {}", self.source, by.by),
                "give the groups of its images",
            )),
            None => Ok((all, notices)),
        }
    }

    fn differing(&self, column: &str, image: &SegmentId) -> Error {
        Error::with_remedy(
            format!(
                "{}: '{column}' is not the same for all rows of image {}, and groups are of images",
                self.source,
                image.quoted()
            ),
            "name a column of images, or a file with an id and a group in each row",
        )
    }
}

/// The signatures of scores of groups.
pub(crate) fn signed<R>(by: &mut ByGroup<R>, signatures: impl Fn(&mut R) -> &mut Vec<Signature>) {
    let ByGroup { by, frequencies, groups, .. } = by;
    for signature in groups.iter_mut().flat_map(|(_, result)| signatures(result)) {
        *signature = signature.clone().with("group", &*by).with("group-df", frequencies.name());
    }
}
