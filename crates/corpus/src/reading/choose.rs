//! Chooses the columns of references and candidates by their values.

use std::collections::{HashMap, HashSet};

use capeval_choice::Argument;

use super::evidence;
use super::settle::refuse_open;
use super::side::{Rows, Side};
use super::words::{Gain, Words, gain, sample, words};
use super::{Pick, joined_ids, text};
use crate::Remedy;
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::policy::Ids;

/// With fewer images, chance decides what captions share.
const FEWEST_IMAGES: usize = 5;

/// Captions that describe their images gain at least this, and other texts less.
const LEAST_GAIN: f64 = 0.03;

/// Another column with this share of the best gain could be meant as well.
const RIVAL: f64 = 0.3;

/// A column that equals a reference on this share of the rows is a copy of references.
const COPY: f64 = 0.6;

/// At least this share of a side's ids must be ids of the other side.
const SHARED_IDS: f64 = 0.5;

/// The images that are looked at.
const IMAGES: usize = 400;

/// What was decided of each side that was open.
#[derive(Default)]
pub(super) struct Decision {
    pub ground: Option<Pick>,
    pub system: Option<Pick>,
    /// Columns that tell rows of the system with one id apart, as a template.
    pub joined: Option<String>,
    /// True if words decided.
    pub by_gain: bool,
    /// What lines of each side begin or end with that may be ids, but is read as words.
    pub unread: Unread,
}

/// What may be ids in the lines of both sides, where whole lines are read.
#[derive(Default)]
pub(super) struct Unread {
    pub ground: Option<UnreadId>,
    pub system: Option<UnreadId>,
}

/// What may be the id in a line.
pub(super) struct UnreadId {
    /// That of the first line.
    pub example: String,
    /// The column that would hold ids.
    pub column: String,
    /// True if lines of the other side have the same.
    pub is_shared: bool,
}

/// The references and a system.
pub(super) struct Sides<'c> {
    ground: Side<'c>,
    system: Side<'c>,
}

/// Rows of the system and the rows of the references with the same id.
type Matches = Vec<(usize, Vec<usize>)>;

/// A column of each side, and what its captions gain.
#[derive(Clone)]
struct PairScore {
    ground: Vec<usize>,
    system: Vec<usize>,
    gain: Gain,
    /// The share of rows on which the caption is a reference, word for word.
    copies: f64,
}

impl<'c> Sides<'c> {
    pub fn new(ground: &'c Captions, system: &'c Captions, ids: Ids) -> Self {
        Self { ground: Side::new(ground, ids), system: Side::new(system, ids) }
    }

    pub fn decide(&self) -> Result<Decision, Error> {
        let mut ways = self.ways();
        if ways.is_empty() {
            return self.by_name();
        }
        let mut best: Option<(usize, PairScore)> = None;
        for (number, way) in ways.iter().enumerate() {
            let Some(scored) = self.columns(way)? else { continue };
            let is_better =
                best.as_ref().is_none_or(|(_, so_far)| scored.gain.mean > so_far.gain.mean + 1e-9);
            if is_better {
                best = Some((number, scored));
            }
        }
        let Some((number, scored)) = best else { return self.by_name() };
        let way = ways.swap_remove(number);
        let unread = match way.ground.is_whole() && way.system.is_whole() {
            true => self.unread(),
            false => Unread::default(),
        };
        // Lines are not paired by position if their ids are the same in another form.
        if unread.ground.is_some() && unread.system.is_some() {
            self.refuse_other_ids()?;
        }
        Ok(Decision {
            unread,
            ground: self.ground.pick(way.ground, &scored.ground),
            system: self.system.pick(way.system, &scored.system),
            joined: joined_ids::telling(&self.ground, &self.system, way.system),
            by_gain: scored.gain.mean > LEAST_GAIN && scored.gain.n >= FEWEST_IMAGES,
        })
    }

    /// The ways to match the rows of both sides by ids that they share, the best ones alone.
    fn ways(&self) -> Vec<Way<'_>> {
        let mut ways = Vec::new();
        for ground in &self.ground.rows {
            for system in &self.system.rows {
                ways.extend(self.way(ground, system));
            }
        }
        // Ids within lines come before the numbers of lines.
        let is_whole = |way: &Way<'_>| {
            let of_lines = |side: &Side<'_>, rows: &Rows| side.reading.is_some() && rows.is_whole();
            of_lines(&self.ground, way.ground) || of_lines(&self.system, way.system)
        };
        if ways.iter().any(|way| !is_whole(way)) {
            ways.retain(|way| !is_whole(way));
        }
        let best = ways.iter().map(|way| way.rank).fold(0.0, f64::max);
        ways.retain(|way| way.rank >= best - 0.25);
        ways.sort_by(|a, b| b.rank.total_cmp(&a.rank));
        ways.truncate(8);
        ways
    }

    /// What lines begin or end with that may be ids, if whole lines are read.
    fn unread(&self) -> Unread {
        let of_lines = |side: &'_ Side<'c>| side.reading.is_some_and(|reading| reading.current.is_none());
        let id = |side: &Side<'_>, rows: &Rows, is_shared: bool| {
            let column = side.list(rows.list)?.path(rows.id?).to_owned();
            Some(UnreadId { example: rows.ids.first()?.clone(), column, is_shared })
        };
        let own = |side: &Side<'c>, is_ground: bool| {
            let column = |rows: &Rows| Some(side.list(rows.list)?.path(rows.id?));
            let is_of_lines = |rows: &Rows| column(rows).is_some_and(|column| column != text::BLOCK);
            let seem = |rows: &&Rows| is_of_lines(rows) && evidence::seem_ids(rows, is_ground);
            side.rows.iter().filter(|_| of_lines(side)).find(seem).and_then(|rows| id(side, rows, false))
        };
        let (grounds, systems) = (&self.ground.rows, &self.system.rows);
        let mut pairs = grounds.iter().flat_map(|ground| systems.iter().map(move |system| (ground, system)));
        let shared = pairs.find(|(ground, system)| evidence::may_be_ids(ground, system));
        match shared.filter(|_| of_lines(&self.ground) && of_lines(&self.system)) {
            Some((ground, system)) => {
                Unread { ground: id(&self.ground, ground, true), system: id(&self.system, system, true) }
            }
            None => Unread { ground: own(&self.ground, true), system: own(&self.system, false) },
        }
    }

    /// The way to match rows by ids, if the two share enough of them.
    fn way<'s>(&'s self, ground: &'s Rows, system: &'s Rows) -> Option<Way<'s>> {
        let (of_ground, of_system) = (evidence::counted(ground, system), evidence::counted(system, ground));
        let mut there: HashMap<&str, Vec<usize>> = HashMap::new();
        for (row, id) in of_ground.iter().enumerate().filter(|(_, id)| !id.is_empty()) {
            there.entry(id).or_default().push(row);
        }
        let distinct: HashSet<&String> = of_system.iter().collect();
        let is_own = system.id.is_none() || system.is_known;
        if !is_own && distinct.len() * 20 < of_system.len() * 19 {
            return None;
        }
        let rows = of_system.iter().enumerate();
        let matches: Matches =
            rows.filter_map(|(row, id)| Some((row, there.get(id.as_str())?.clone()))).collect();
        let common = distinct.iter().filter(|id| there.contains_key(id.as_str())).count();
        let share = matches.len() as f64 / of_system.len().max(1) as f64;
        let back = common as f64 / there.len().max(1) as f64;
        // What matches a single image of many identifies nothing.
        let tells = common >= 2 || there.len() == 1;
        let is_told = || evidence::are_ids(ground, system);
        (share >= SHARED_IDS && tells && is_told()).then(|| {
            let known = f64::from(u8::from(ground.is_known)) + f64::from(u8::from(system.is_known));
            let whole = f64::from(u8::from(ground.id.is_some())) + f64::from(u8::from(system.id.is_some()));
            let rank = share + 0.3 * back + 0.02 * known + 0.01 * whole;
            Way { ground, system, matches, rank }
        })
    }

    /// The best columns of captions under a way to match the rows; `None` if a side has none.
    fn columns(&self, way: &Way<'_>) -> Result<Option<PairScore>, Error> {
        let (grounds, systems) = (self.ground.choices(way.ground), self.system.choices(way.system));
        if grounds.is_empty() || systems.is_empty() {
            return Ok(None);
        }
        let images: Vec<&(usize, Vec<usize>)> = {
            let step = way.matches.len().div_ceil(IMAGES).max(1);
            sample(way.matches.len()).step_by(step).filter_map(|k| way.matches.get(k)).collect()
        };
        let texts =
            |side: &Side<'_>, rows: &Rows, columns: &[usize], row: usize| side.texts(rows, columns, row);
        let of_ground: Vec<Vec<Vec<String>>> = grounds
            .iter()
            .map(|columns| {
                let of_image = |(_, there): &&(usize, Vec<usize>)| {
                    there.iter().flat_map(|row| texts(&self.ground, way.ground, columns, *row)).collect()
                };
                images.iter().map(of_image).collect()
            })
            .collect();
        let of_system: Vec<Vec<Vec<String>>> = systems
            .iter()
            .map(|columns| {
                let of_image =
                    |(row, _): &&(usize, Vec<usize>)| texts(&self.system, way.system, columns, *row);
                images.iter().map(of_image).collect()
            })
            .collect();
        let bags = |all: &[Vec<Vec<String>>]| -> Vec<Vec<Vec<Words>>> {
            let bag = |texts: &Vec<String>| texts.iter().map(|text| words(text)).collect();
            all.iter().map(|images| images.iter().map(bag).collect()).collect()
        };
        let (ground_words, system_words) = (bags(&of_ground), bags(&of_system));
        let mut scored = Vec::new();
        for (g, ground) in grounds.iter().enumerate() {
            for (s, system) in systems.iter().enumerate() {
                let pairs: Vec<(Words, Vec<Words>)> = system_words[s]
                    .iter()
                    .zip(&ground_words[g])
                    .filter(|(_, references)| !references.is_empty())
                    .filter_map(|(captions, references)| {
                        Some((captions.first()?.clone(), references.clone()))
                    })
                    .collect();
                let same = of_system[s].iter().zip(&of_ground[g]);
                let copies = same.filter(|(captions, references)| {
                    captions.first().is_some_and(|one| references.contains(one))
                });
                let copies = copies.count() as f64 / images.len().max(1) as f64;
                scored.push(PairScore {
                    ground: ground.clone(),
                    system: system.clone(),
                    gain: gain(&pairs),
                    copies,
                });
            }
        }
        self.choose(way, scored).map(Some)
    }

    /// The pair of columns that is meant.
    fn choose(&self, way: &Way<'_>, scored: Vec<PairScore>) -> Result<PairScore, Error> {
        let by_default =
            |scored: Vec<PairScore>| -> Result<PairScore, Error> { self.by_default(way, scored) };
        if scored.len() == 1 {
            return by_default(scored);
        }
        let is_open = |one: &PairScore| one.copies < COPY;
        let best = scored.iter().filter(|one| is_open(one)).map(|one| one.gain.mean).fold(0.0, f64::max);
        let n = scored.iter().map(|one| one.gain.n).max().unwrap_or(0);
        if n < FEWEST_IMAGES || best <= LEAST_GAIN {
            return by_default(scored);
        }
        let answers = |one: &PairScore| self.system.leaning(way.system, &one.system) < 0;
        let system_known =
            self.system.list(way.system.list).map(|list| list.known.clone()).unwrap_or_default();
        // A bad system's captions fit worse than those of others, but its column may say that they are meant.
        let is_meant = |one: &PairScore| {
            let is_known =
                !system_known.is_empty() && one.system == system_known && one.gain.mean > LEAST_GAIN / 3.0;
            is_open(one) && (answers(one) || is_known || self.system.is_free(way.system, &one.system))
        };
        let meant: Vec<PairScore> = scored.iter().filter(|one| is_meant(one)).cloned().collect();
        // Columns that are the references, word for word, are no candidates beside them.
        let copies: Vec<(Vec<usize>, Vec<usize>)> = scored
            .iter()
            .filter(|one| !is_open(one))
            .map(|one| (one.ground.clone(), one.system.clone()))
            .collect();
        let predicted_wins = |good: &[PairScore]| {
            good.iter().any(|one| answers(one) || !system_known.is_empty() && one.system == system_known)
        };
        let mut good: Vec<PairScore> =
            scored.into_iter().filter(|one| is_open(one) && one.gain.mean > RIVAL * best).collect();
        // Names break ties: those of references first, which more files have.
        let known = self.ground.list(way.ground.list).map(|list| list.known.clone()).unwrap_or_default();
        let lean = |one: &PairScore| {
            self.ground.leaning(way.ground, &one.ground) - self.system.leaning(way.system, &one.system)
        };
        if good.len() > 1 {
            let most = good.iter().map(lean).max().unwrap_or(0);
            good.retain(|one| lean(one) == most);
        }
        if good.len() > 1 && good.iter().any(|one| !known.is_empty() && one.ground == known) {
            good.retain(|one| one.ground == known);
        }
        let predicted = self.system.list(way.system.list).map(|list| list.known.clone()).unwrap_or_default();
        let is_predicted = self.system.leaning(way.system, &predicted) < 0;
        if good.len() > 1 && is_predicted && good.iter().any(|one| one.system == predicted) {
            good.retain(|one| one.system == predicted);
        }
        good.sort_by(|a, b| b.gain.mean.total_cmp(&a.gain.mean));
        // Columns with the same text in every row are one; the first of them is meant.
        if let [first, others @ ..] = good.as_slice()
            && others.iter().all(|one| {
                self.system.are_one(way.system, &first.system, &one.system)
                    && self.ground.are_one(way.ground, &first.ground, &one.ground)
            })
        {
            good.truncate(1);
        }
        if good.len() == 1 && !predicted_wins(&good) {
            let (ground, system) = (good[0].ground.clone(), good[0].system.clone());
            let is_copy = |other: &[usize]| copies.iter().any(|(own, copy)| *own == ground && copy == other);
            let is_other = |one: &PairScore| {
                one.system != system
                    && !is_copy(&one.system)
                    && !self.system.have_same_texts(way.system, &one.system, &system)
            };
            let rivals = meant.into_iter().filter(is_other);
            good.extend(rivals.max_by(|a, b| a.gain.mean.total_cmp(&b.gain.mean)));
        }
        match good.len() {
            1 => Ok(good.remove(0)),
            _ => Err(self.doubt(way, &good)),
        }
    }

    /// What names say, or else the only column, where words say nothing.
    fn by_default(&self, way: &Way<'_>, mut scored: Vec<PairScore>) -> Result<PairScore, Error> {
        let known = |side: &Side<'_>, rows: &Rows| {
            side.list(rows.list).map(|list| list.known.clone()).filter(|known| !known.is_empty())
        };
        if let Some(ground) = known(&self.ground, way.ground)
            && scored.iter().any(|one| one.ground == ground)
        {
            scored.retain(|one| one.ground == ground);
        }
        if let Some(system) = known(&self.system, way.system)
            && scored.iter().any(|one| one.system == system)
        {
            scored.retain(|one| one.system == system);
        }
        if scored.len() > 1 {
            let lean = |one: &PairScore| {
                self.ground.leaning(way.ground, &one.ground) - self.system.leaning(way.system, &one.system)
            };
            let most = scored.iter().map(lean).max().unwrap_or(0);
            scored.retain(|one| lean(one) == most);
        }
        match scored.len() {
            1 => Ok(scored.remove(0)),
            _ => Err(self.doubt(way, &scored)),
        }
    }

    /// Refuses the side that could be read in several ways, and names them.
    fn doubt(&self, way: &Way<'_>, scored: &[PairScore]) -> Error {
        let of_system = scored.windows(2).any(|pair| pair[0].system != pair[1].system);
        let (side, rows) = if of_system { (&self.system, way.system) } else { (&self.ground, way.ground) };
        let mut names: Vec<String> = Vec::new();
        for one in scored {
            let name = side.name(rows, if of_system { &one.system } else { &one.ground });
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let message = match names.as_slice() {
            [one, other] => format!("{one} and {other} could both hold captions"),
            _ => format!("several columns could hold captions: {}", names.join(", ")),
        };
        let role = side.role();
        let remedy = Remedy::give(Argument::CaptionColumns(role)).to("say which one does");
        Error::new(ErrorKind::Shape, side.captions.source(), message).with_remedy(remedy)
    }

    /// Refuses columns whose values would be ids of the other side if they were compared in another way.
    fn refuse_other_ids(&self) -> Result<(), Error> {
        const NEARLY_ALL: f64 = 0.9;
        for way in [Ids::Text, Ids::FileName, Ids::Loose] {
            let sides = Sides::new(self.ground.captions, self.system.captions, way);
            let ways = sides.ways();
            let is_of_column = |way: &&Way<'_>| way.system.id.is_some() || way.ground.id.is_some();
            let found = ways
                .iter()
                .filter(is_of_column)
                .find(|way| way.matches.len() as f64 >= NEARLY_ALL * way.system.ids.len() as f64);
            let Some(found) = found else { continue };
            let (side, other, rows) = match found.system.id {
                Some(_) => (&sides.system, &sides.ground, found.system),
                None => (&sides.ground, &sides.system, found.ground),
            };
            let columns: Vec<usize> = rows.id.into_iter().collect();
            let other = other.captions.source();
            let message = format!(
                "the values of {} are ids of {other}, written in another way",
                side.name(rows, &columns)
            );
            let remedy = Remedy::set(Argument::Ids, way.name()).to(format!("compare them as {}", way.name()));
            return Err(Error::new(ErrorKind::MixedIds, side.captions.source(), message).with_remedy(remedy));
        }
        Ok(())
    }

    /// The readings as they are, where the sides share no ids.
    fn by_name(&self) -> Result<Decision, Error> {
        for (side, other) in [(&self.system, &self.ground), (&self.ground, &self.system)] {
            if let Some(template) = joined_ids::of(side, other) {
                let argument = Argument::IdColumn(side.role());
                let message =
                    format!("no column has the ids of {}, but several together do", other.captions.source());
                let remedy = Remedy::set(argument, template).to("join them");
                return Err(Error::new(ErrorKind::Id, side.captions.source(), message).with_remedy(remedy));
            }
        }
        self.refuse_other_ids()?;
        for side in [&self.ground, &self.system] {
            refuse_open(side.captions)?;
        }
        Ok(Decision { unread: self.unread(), ..Decision::default() })
    }
}

/// A way to match the rows of both sides.
struct Way<'r> {
    ground: &'r Rows,
    system: &'r Rows,
    matches: Matches,
    rank: f64,
}
