//! Public and private halves of the images of a phase.
//!
//! Each half is a reference set of its own, made from the same file: `c5` has the public images, and `c5-private` the
//! others. A submission is scored by both in one job. `records::sets` leaves the private set out until it is shown, so
//! no page, response or file needs a rule of its own.

use anyhow::{Context, ensure};
use capeval_api::{FinalRule, Half, Halves};
use capeval_choice::SegmentId;
use capeval_site::blobs::Blobs;
use capeval_site::prelude::*;
use capeval_tasks::{Draw, ImageHalf};

use super::apply::listed_images;
use super::records::ReferenceSet;
use super::settings::{Phase, PhasePlan};
use super::when::When;

/// The end of the name of a private half.
const PRIVATE: &str = "-private";

/// The fewest characters of a seed, so that no one guesses it.
const SEED: usize = 16;

/// The most submissions that a team may choose.
const MOST_CHOSEN: u32 = 10;

/// The name of a half of the references with this name.
pub fn name_of(name: &str, half: Option<Half>) -> String {
    let end = if half == Some(Half::Private) { PRIVATE } else { "" };
    format!("{name}{end}")
}

impl ReferenceSet {
    /// The name of the references in the plan, of which this may be a half.
    pub fn whole(&self) -> &str {
        match self.half {
            Some(Half::Private) => self.name.strip_suffix(PRIVATE).unwrap_or(&self.name),
            _ => &self.name,
        }
    }

    /// Its name for people.
    pub fn label(&self, page: &Page) -> String {
        match self.half {
            None => self.name.clone(),
            Some(Half::Public) => page.t1("{}, public half", self.whole()),
            Some(Half::Private) => page.t1("{}, private half", self.whole()),
        }
    }

    /// The other half of the same references.
    pub fn other_half<'s>(&self, sets: &'s [Self]) -> Option<&'s Self> {
        sets.iter().find(|other| {
            self.half.is_some()
                && other.half.is_some()
                && other.half != self.half
                && other.whole() == self.whole()
        })
    }

    /// The images to keep, for a child; `None` for all.
    pub fn half_for_child(&self, phase: &Phase, app: &App) -> anyhow::Result<Option<ImageHalf>> {
        let Some(half) = self.half else { return Ok(None) };
        let draw = match (&phase.public_ids_hash, phase.public_share) {
            (Some(hash), _) => Draw::Listed(public_ids(&app.hidden, hash)?),
            (None, share) => Draw::Share { share: share.unwrap_or(0.0), seed: phase.public_seed.clone() },
        };
        Ok(Some(ImageHalf { draw, is_public: half == Half::Public }))
    }
}

/// The ids in a stored list of public images.
///
/// # Errors
/// If it is no list of ids.
pub fn public_ids(hidden: &Blobs, hash: &str) -> anyhow::Result<Vec<SegmentId>> {
    let text = String::from_utf8(hidden.read(hash)?).context("public_ids")?;
    listed_images(&text).context("public_ids")
}

/// The number of images of a phase with these reference sets, in all halves.
pub fn n_images(sets: &[ReferenceSet]) -> usize {
    let whole = |set: &ReferenceSet| set.n_images + set.other_half(sets).map_or(0, |other| other.n_images);
    sets.iter().map(whole).max().unwrap_or(0)
}

impl Phase {
    /// Returns true if its images have a public and a private half.
    pub fn has_halves(&self) -> bool {
        self.public_share.is_some() || self.public_ids_hash.is_some()
    }

    /// The time from which the private half is shown, if there is one.
    pub fn private_from(&self) -> Option<i64> {
        self.private_at.or(self.closes_at).filter(|_| self.has_halves())
    }

    /// Returns true if the private half is shown.
    pub fn shows_private(&self) -> bool {
        self.private_from().is_some_and(|time| time <= clock::now())
    }

    /// Returns true if its teams choose submissions for the private half.
    pub fn has_choice(&self) -> bool {
        self.has_halves() && self.final_rule == FinalRule::Chosen
    }

    /// The reference set that ranks now, of sets in the order of `records::sets`.
    pub fn main_of<'s>(&self, sets: &'s [ReferenceSet]) -> Option<&'s ReferenceSet> {
        sets.iter().find(|set| set.whole() == self.main_set)
    }

    /// The description of its halves for programs.
    pub fn halves_for_programs(&self) -> Option<Halves> {
        self.has_halves().then(|| Halves {
            private_from: self.private_from().map(clock::time),
            is_private_shown: self.shows_private(),
            final_rule: self.final_rule.into(),
            chosen: self.has_choice().then_some(self.most_chosen),
        })
    }
}

impl PhasePlan {
    /// The halves that its references have.
    pub fn halves(&self) -> &'static [Option<Half>] {
        match self.public.is_some() || self.public_ids.is_some() {
            true => &[Some(Half::Public), Some(Half::Private)],
            false => &[None],
        }
    }

    /// The time from which it shows the private half.
    fn private_from(&self) -> Option<i64> {
        self.private_at.or(self.closes).map(|When(time)| time)
    }
}

/// Refuses a plan whose halves make no sense.
pub fn check(plan: &PhasePlan) -> anyhow::Result<()> {
    let has_halves = plan.halves().len() > 1;
    ensure!(
        plan.public.is_none_or(|share| share > 0.0 && share < 1.0),
        reason!("public is a share between 0 and 1, such as 0.3")
    );
    ensure!(
        plan.public.is_none() || plan.public_ids.is_none(),
        reason!("give public or public_ids, not both")
    );
    ensure!(
        has_halves
            || plan.public_seed.is_none() && plan.private_at.is_none() && plan.final_rule == FinalRule::Best,
        reason!("public_seed, private_at and final need a public half: set public or public_ids",)
    );
    ensure!(
        plan.public_seed.as_ref().is_none_or(|seed| seed.chars().count() >= SEED),
        reason!(
            "public_seed has at least {} characters, so that no one guesses it; without one, the server draws one",
            SEED
        )
    );
    let is_after = |When(at): When| plan.closes.is_some_and(|When(closes)| closes <= at);
    ensure!(plan.private_at.is_none_or(is_after), reason!("private_at needs closes, and is not before it"));
    // A score that a host's machine gives is over all images, so it would give away the private half.
    ensure!(
        !has_halves || plan.given.is_empty(),
        reason!("given scores have no halves: leave out public and public_ids, or given")
    );
    ensure!(
        (1..=MOST_CHOSEN).contains(&plan.chosen),
        reason!("chosen is a number from 1 to {}", MOST_CHOSEN)
    );
    let taken = plan.references.iter().find(|set| has_halves && set.name.ends_with(PRIVATE));
    if let Some(set) = taken {
        anyhow::bail!(reason!("{} would be the name of a private half: choose another", set.name));
    }
    Ok(())
}

/// The seed of a phase: that of the plan, or the one that it has, or a new one.
pub fn seed(plan: &PhasePlan, known: Option<&Phase>) -> anyhow::Result<String> {
    if plan.public.is_none() {
        return Ok(String::new());
    }
    let known = known.map(|known| known.public_seed.clone()).filter(|seed| !seed.is_empty());
    match plan.public_seed.clone().or(known) {
        Some(seed) => Ok(seed),
        None => Ok(ids::secret()?),
    }
}

/// Refuses a plan that hides a private half again that people have seen, or that allows a team fewer submissions than
/// it has chosen.
pub async fn require_kept(tx: &mut Tx, known: &Phase, plan: &PhasePlan) -> anyhow::Result<()> {
    let is_hidden = plan.private_from().is_none_or(|time| time > clock::now());
    ensure!(
        !(known.shows_private() && is_hidden),
        reason!("the private half is shown, so the phase cannot open again: make a new one")
    );
    ensure!(
        !known.shows_private() || known.final_rule == plan.final_rule,
        reason!("the private half is shown, so final cannot change")
    );
    let most = "SELECT COUNT(*) AS n FROM submission WHERE phase = $1 AND chosen_at IS NOT NULL GROUP BY team \
                ORDER BY n DESC LIMIT 1";
    let most: i64 = tx.fetch_optional(most, args![&known.id]).await?.unwrap_or(0);
    ensure!(
        most <= i64::from(plan.chosen),
        reason!("chosen cannot be {}: a team has chosen {} submissions", plan.chosen, most)
    );
    Ok(())
}
