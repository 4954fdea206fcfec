//! The states of captions, and how they change the counters of their pictures.

capeval_choice::named! {
    pub enum CaptionState ("state of a caption") {
        Submitted = "submitted", "waiting for ratings";
        Accepted = "accepted", "accepted";
        Rejected = "rejected", "rejected";
        Split = "split", "waiting for a moderator";
        Quarantined = "quarantined", "reported and hidden for now";
        Withdrawn = "withdrawn", "withdrawn";
    }
}

impl CaptionState {
    /// Returns true if a caption takes one of the places of its picture.
    pub fn has_slot(self) -> bool {
        matches!(self, Self::Submitted | Self::Accepted | Self::Split | Self::Quarantined)
    }

    /// Returns true if a caption counts as one that is wanted.
    pub fn counts(self) -> bool {
        self == Self::Accepted
    }

    /// The change of the counters of the picture, slots and accepted captions, with a change of the state.
    pub fn change(self, to: Self) -> (i64, i64) {
        let delta = |before: bool, after: bool| i64::from(after) - i64::from(before);
        (delta(self.has_slot(), to.has_slot()), delta(self.counts(), to.counts()))
    }

    /// Returns true if the author may still edit it: no one has rated it.
    pub fn is_editable(self, ratings: i64) -> bool {
        self == Self::Submitted && ratings == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_follow_the_states_of_captions() {
        use CaptionState::{Accepted, Quarantined, Rejected, Split, Submitted, Withdrawn};
        assert_eq!(Submitted.change(Accepted), (0, 1));
        assert_eq!(Submitted.change(Rejected), (-1, 0));
        assert_eq!(Submitted.change(Split), (0, 0));
        assert_eq!(Split.change(Accepted), (0, 1));
        assert_eq!(Accepted.change(Withdrawn), (-1, -1));
        // A reported caption keeps its place until a moderator decides, so that it can come back.
        assert_eq!(Accepted.change(Quarantined), (0, -1));
        assert_eq!(Quarantined.change(Accepted), (0, 1));
        assert_eq!(Quarantined.change(Rejected), (-1, 0));
        // There and back is nothing, for all states.
        for from in CaptionState::ALL {
            for to in CaptionState::ALL {
                let (there, back) = (from.change(*to), to.change(*from));
                assert_eq!((there.0 + back.0, there.1 + back.1), (0, 0), "{from} {to}");
            }
        }
    }
}
