//! The effect of reports: they hide a thing from its reporter, and from everyone once two people have reported it.

capeval_choice::named! {
    /// The outcome of a report.
    pub enum ReportState ("state of a report") {
        Open = "open", "waiting for a moderator";
        Upheld = "upheld", "the thing was removed";
        Refused = "refused", "the thing stays";
    }
}

/// Reports by different people that hide a thing from everyone.
pub const REPORTERS: i64 = 2;

/// Refused reports after which a person's reports are not taken any more.
pub const REFUSALS: i64 = 5;

/// Returns true if a thing is hidden from everyone until a moderator decides.
pub fn quarantines(reporters: i64) -> bool {
    reporters >= REPORTERS
}

/// Returns true if a person may report, by how many of their reports were refused.
pub fn may_report(refused: i64) -> bool {
    refused < REFUSALS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_people_quarantine_and_five_refusals_end_the_power() {
        assert!(!quarantines(1) && quarantines(2) && quarantines(3));
        assert!(may_report(0) && may_report(4) && !may_report(5) && !may_report(50));
    }
}
