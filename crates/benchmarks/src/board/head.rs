//! The header of the pages of a board: the phase, the references, and the choices that all pages share.

use capeval_api::Half;
use capeval_site::prelude::*;

use super::choices::BoardQuery;
use super::queries::Board;
use crate::records::{self, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::settings::Phase;

/// The view of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    Table,
    Intervals,
    Progress,
}

impl View {
    const ALL: [Self; 3] = [Self::Table, Self::Intervals, Self::Progress];

    /// The name of its page below that of the phase.
    fn page(self) -> &'static str {
        match self {
            Self::Table => "leaderboard",
            Self::Intervals => "intervals",
            Self::Progress => "progress",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Table => say("Table"),
            Self::Intervals => say("Intervals"),
            Self::Progress => say("Progress over time"),
        }
    }
}

/// A link to what could be shown instead.
pub struct Tab {
    pub name: String,
    pub address: String,
    pub is_here: bool,
}

/// The head of a page of a board.
pub struct Head<'a> {
    pub seen: &'a SeenBenchmark,
    pub phase: &'a Phase,
    /// `None` if the visitor may not see any score.
    pub board: Option<&'a Board>,
    pub asked: &'a BoardQuery,
    /// The path of the page.
    pub path: String,
    pub phases: Vec<Tab>,
    pub sets: Vec<Tab>,
    /// All images, and each group; none without groups.
    pub groups: Vec<Tab>,
    pub views: Vec<Tab>,
    /// True if some references could not be prepared.
    pub has_failed: bool,
    /// The address of the visitor's first row.
    pub own: String,
}

impl<'a> Head<'a> {
    pub async fn of(
        app: &App,
        page: &Page,
        of: &'a SeenPhase,
        sets: &[ReferenceSet],
        board: Option<&'a Board>,
        asked: &'a BoardQuery,
        view: View,
    ) -> Result<Self> {
        let path = of.address(view.page());
        let phases = records::phases(&app.store, &of.seen.benchmark.id).await?.into_iter().map(|phase| Tab {
            is_here: phase.id == of.phase.id,
            address: SeenPhase { seen: of.seen.clone(), phase: phase.clone() }.address(view.page()),
            name: phase.title,
        });
        let phases = phases.collect();
        let has_failed = records::have_failed(sets);
        let sets = sets.iter().map(|set| Tab {
            name: set.label(page),
            address: asked.of_set(set, &of.phase.columns).address(&path),
            is_here: board.is_some_and(|board| board.set.id == set.id),
        });
        let names = board.map_or(&[][..], |board| &board.groups[..]);
        let groups = names.iter().take(1).map(|_| "").chain(names.iter().map(String::as_str));
        let groups = groups.map(|group| Tab {
            name: if group.is_empty() { page.t("All images").to_owned() } else { group.to_owned() },
            address: asked.of_group(group).address(&path),
            is_here: asked.group == group,
        });
        let groups = groups.collect();
        let views = View::ALL.map(|other| Tab {
            name: page.t(other.name()).to_owned(),
            address: asked.address(&of.address(other.page())),
            is_here: other == view,
        });
        Ok(Self {
            seen: &of.seen,
            phase: &of.phase,
            board,
            asked,
            sets: sets.collect(),
            groups,
            path,
            phases,
            views: views.into(),
            has_failed,
            own: "#own".to_owned(),
        })
    }

    /// What the half of the images means whose scores are shown.
    pub fn half_note(&self, page: &Page, set: &ReferenceSet) -> Option<String> {
        let note = match (set.half?, self.phase.private_from()) {
            (Half::Private, _) if set.is_withheld => {
                page.t("These are scores of the private half of the images, which only hosts see now.")
            }
            (Half::Private, _) => page.t(
                "These are scores of the private half of the images, which decides. Beside its rank, a team has that on the public half.",
            ),
            (Half::Public, _) if self.phase.shows_private() => page.t(
                "These are scores of the public half of the images, which were shown during the phase. The private half decides.",
            ),
            (Half::Public, Some(time)) => {
                return Some(page.t1(
                    "These are scores of the public half of the images. The private half decides; it is shown on {}.",
                    page.time(&time),
                ));
            }
            (Half::Public, None) => page.t(
                "These are scores of the public half of the images. The private half decides; the hosts will show it.",
            ),
        };
        Some(note.to_owned())
    }

    /// The address of the rows with one tag.
    pub fn tagged(&self, tag: &str) -> String {
        BoardQuery { tags: vec![tag.to_owned()], ..self.asked.clone() }.address(&self.path)
    }

    /// The choices outside the fields of a form, which keeps them.
    pub fn kept(&self, fields: &[&str]) -> Vec<(&'static str, &str)> {
        let mut kept = self.asked.pairs();
        kept.retain(|(name, _)| !fields.contains(name));
        kept
    }
}
