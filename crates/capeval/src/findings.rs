//! The collector of notices, which keeps them in the order in which a task finds them.

use capeval_choice::Code;
use capeval_report::Notice;

/// The notices that a task has found so far.
#[derive(Default)]
pub(crate) struct Findings(Vec<Notice>);

impl Findings {
    /// Returns true if there is a notice with this code.
    pub fn has(&self, code: Code) -> bool {
        self.0.iter().any(|notice| notice.code == code)
    }

    /// Adds notices as they are.
    pub fn add(&mut self, notices: impl IntoIterator<Item = Notice>) {
        self.0.extend(notices);
    }

    /// Adds notices, each unless there is one with the same message; a notice about several systems becomes one about
    /// all.
    pub fn add_once(&mut self, notices: impl IntoIterator<Item = Notice>) {
        for notice in notices {
            let is_same = |known: &&mut Notice| {
                (&known.code, &known.message, &known.remedy)
                    == (&notice.code, &notice.message, &notice.remedy)
            };
            match self.0.iter_mut().find(is_same) {
                Some(known) if known.system != notice.system => known.system = None,
                Some(_) => {}
                None => self.0.push(notice),
            }
        }
    }

    /// Adds the notices of kinds that are not here yet: rounds repeat each other's with other numbers.
    pub fn add_new_kinds(&mut self, notices: impl IntoIterator<Item = Notice>) {
        let is_new = |other: &Notice| self.0.iter().all(|known| known.code != other.code);
        let new: Vec<Notice> = notices.into_iter().filter(is_new).collect();
        self.add(new);
    }
}

impl From<Vec<Notice>> for Findings {
    fn from(notices: Vec<Notice>) -> Self {
        Self(notices)
    }
}

impl From<Findings> for Vec<Notice> {
    fn from(found: Findings) -> Self {
        found.0
    }
}
