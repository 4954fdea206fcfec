//! Chooses the columns of both sides by their values.

use std::collections::{HashMap, HashSet};

use capeval_choice::{Argument, Code, counted};

use super::joined;
use super::words::{Gain, Words, gain, sample, words};
use super::{Because, EvidentList, Layout, Pick, Reading};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::merge::merge;
use crate::notice::list_ids;
use crate::policy::Ids;
use crate::{Format, Notice, Remedy, Role, SegmentId};

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

/// Decides how the two sides are read, where their readers left it open. Returns what was not obvious.
///
/// # Errors
/// If a side could be read in two ways, with both named.
pub(crate) fn settle(
    ground: &mut Captions,
    systems: &mut [(String, Captions)],
    ids: Ids,
) -> Result<Vec<Notice>, Error> {
    let mut notices = Vec::new();
    let mut parts = ground.take_parts();
    if let Some((_, first)) = systems.first() {
        for part in parts.iter_mut() {
            notices.extend(settle_ground(part, first, ids)?);
        }
        notices.extend(settle_ground(ground, first, ids)?);
    }
    if !parts.is_empty() {
        *ground = merge(parts, Role::References)?;
    }
    for (_, system) in systems.iter_mut() {
        if system.reading().is_some() {
            let decision = Sides::new(ground, system, ids).decide()?;
            let notice = system.read_again(decision.system, ground.source(), decision.by_gain);
            notices.extend(notice);
            system.set_joined(decision.joined);
        }
        system.drop_reading();
    }
    ground.drop_reading();
    Ok(notices)
}

/// Decides how references are read, if that is open. Returns what was not obvious.
fn settle_ground(ground: &mut Captions, system: &Captions, ids: Ids) -> Result<Option<Notice>, Error> {
    if ground.reading().is_none() {
        return Ok(None);
    }
    let decision = Sides::new(ground, system, ids).decide()?;
    let notice = ground.read_again(decision.ground, system.source(), decision.by_gain);
    ground.drop_reading();
    Ok(notice)
}

/// Refuses captions whose reading only another side could settle.
///
/// # Errors
/// If they are such.
pub(crate) fn refuse_open(captions: &Captions) -> Result<(), Error> {
    captions.parts().iter().try_for_each(refuse_open)?;
    let Some(reading) = captions.reading().filter(|reading| reading.is_open) else { return Ok(()) };
    let Some(list) = reading.lists.first() else { return Ok(()) };
    let columns: Vec<SegmentId> =
        list.caption_columns().into_iter().map(|column| SegmentId::from(list.path(column))).collect();
    let message = format!("several columns could hold captions: {}", list_ids(&columns, columns.len()));
    let remedy = Remedy::give(Argument::CaptionColumns(reading.role)).to("say which one does");
    Err(Error::new(ErrorKind::Shape, captions.source(), message).with_remedy(remedy))
}

impl Captions {
    /// Reads the columns of `pick`, if it differs from the reading so far; says what was chosen if it was not obvious.
    fn read_again(&mut self, pick: Option<Pick>, other: &str, by_gain: bool) -> Option<Notice> {
        let pick = pick?;
        let reading = self.reading()?;
        let list = reading.lists.get(pick.list)?;
        let is_known =
            !list.known.is_empty() && pick.captions.iter().all(|column| list.known.contains(column));
        let has_known_id = reading.named_id || pick.id.is_some_and(|id| list.names_image(id));
        let is_plain = list.list.path.is_empty();
        let is_obvious = is_plain && has_known_id && (is_known || reading.named_captions);
        let notice = (!is_obvious).then(|| list.notice(&pick, self.source(), other, by_gain));
        let because = match (reading.named_captions, by_gain) {
            (true, _) => Because::Named,
            (false, true) => Because::Words,
            (false, false) if is_known => Because::Known,
            (false, false) => Because::Alone,
        };
        let layout = Layout {
            packing: self.layout().packing.clone(),
            member: self.layout().member.clone(),
            split: self.layout().split.clone(),
            ..list.layout(&pick, Some(because))
        };
        if !reading.is_beside && reading.current.as_ref() == Some(&pick) {
            self.set_layout(layout);
            return notice;
        }
        // Lines with fields are a table without a header.
        let format = self.format().map(|format| if format == Format::Lines { Format::Tsv } else { format });
        let mut again = list.captions(&pick, self.source(), format);
        if again.is_empty() {
            return None;
        }
        again.set_layout(layout);
        if pick.id.is_none() {
            again.set_keys(self.keys().clone());
        }
        self.notices().iter().filter(|notice| notice.code != Code::RowNumbers).for_each(|notice| {
            again.notice(notice.clone());
        });
        if self.is_split() {
            again.set_split();
        }
        *self = again;
        notice
    }
}

impl EvidentList {
    fn notice(&self, pick: &Pick, source: &str, other: &str, by_gain: bool) -> Notice {
        let quoted = |column: usize| format!("{:?}", self.path(column));
        let of_path = match &*self.list.path {
            "" => String::new(),
            path => format!(" in {path}"),
        };
        let id = match pick.id {
            Some(column) => format!("id {} (shared with {other})", quoted(column)),
            None => "rows paired with the other side by position".to_owned(),
        };
        let columns: Vec<String> = pick.captions.iter().map(|column| quoted(*column)).collect();
        let evidence = if by_gain { ", whose words fit the other side" } else { "" };
        let constant =
            |column: &usize| self.evidence.get(*column).is_some_and(|evidence| evidence.is_constant);
        let prompts: Vec<String> = (0..self.evidence.len())
            .filter(|column| constant(column) && self.evidence[*column].may_be_captions())
            .filter(|column| !pick.captions.contains(column))
            .map(quoted)
            .collect();
        let prompts = match prompts.as_slice() {
            [] => String::new(),
            prompts => format!("; {} has the same text everywhere and was left out", prompts.join(", ")),
        };
        let message = format!(
            "read {source}: {}{of_path}, {id}, caption {}{evidence}{prompts}",
            counted(self.list.sheet.len(), "record"),
            columns.join(", "),
        );
        Notice::new(Code::Reading, message)
    }
}

/// What was decided of each side that was open.
#[derive(Default)]
struct Decision {
    ground: Option<Pick>,
    system: Option<Pick>,
    /// Columns that tell rows of the system with one id apart, as a template.
    joined: Option<String>,
    /// True if words decided.
    by_gain: bool,
}

/// A way to identify the rows of a side.
pub(super) struct Rows {
    pub list: usize,
    /// The column, if any.
    pub id: Option<usize>,
    /// The id of each row, as text.
    pub ids: Vec<String>,
    is_known: bool,
}

/// A side, which is a reading or captions as they are.
pub(super) struct Side<'c> {
    pub captions: &'c Captions,
    pub reading: Option<&'c Reading>,
    pub rows: Vec<Rows>,
}

/// The references and a system.
struct Sides<'c> {
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

impl<'c> Side<'c> {
    fn new(captions: &'c Captions, ids: Ids) -> Self {
        let reading = captions.reading();
        let text = |id: &SegmentId| ids.form(id).to_string();
        let mut rows = Vec::new();
        for (number, list) in reading.into_iter().flat_map(|reading| reading.lists.iter()).enumerate() {
            let named =
                reading.filter(|reading| reading.named_id).and_then(|reading| reading.current.as_ref()?.id);
            for column in list.id_columns() {
                if named.is_some_and(|named| named != column) {
                    continue;
                }
                let cells = list.list.sheet.columns.get(column).map(|column| column.cells.as_slice());
                let id = |cell| super::column::id(cell).map_or_else(String::new, |id| text(&id));
                let ids = cells.unwrap_or_default().iter().map(id).collect();
                rows.push(Rows { list: number, id: Some(column), ids, is_known: list.names_image(column) });
            }
        }
        let is_whole = reading.is_none_or(|reading| reading.current.is_none());
        if is_whole {
            let ids = captions.ids().iter().map(text).collect();
            rows.push(Rows { list: usize::MAX, id: None, ids, is_known: true });
        }
        Self { captions, reading, rows }
    }

    fn role(&self) -> Role {
        self.reading.map_or(Role::Candidates, |reading| reading.role)
    }

    fn list(&self, number: usize) -> Option<&'c EvidentList> {
        self.reading?.lists.get(number)
    }

    /// The columns of captions to choose from; a single empty choice for captions as they are.
    fn choices(&self, rows: &Rows) -> Vec<Vec<usize>> {
        let (Some(list), Some(reading)) = (self.list(rows.list), self.reading) else {
            return vec![Vec::new()];
        };
        if reading.named_captions {
            let current = reading.current.as_ref().map(|pick| pick.captions.clone());
            return current.into_iter().collect();
        }
        let columns: Vec<usize> =
            list.caption_columns().into_iter().filter(|one| rows.id != Some(*one)).collect();
        let mut choices: Vec<Vec<usize>> = columns.iter().map(|column| vec![*column]).collect();
        if list.known.len() > 1 {
            choices.retain(|choice| !choice.iter().all(|column| list.known.contains(column)));
            choices.insert(0, list.known.clone());
        }
        if reading.role != Role::Candidates {
            choices = joined(list, choices);
        }
        choices
    }

    /// The texts of a row in some columns.
    fn texts(&self, rows: &Rows, columns: &[usize], row: usize) -> Vec<String> {
        match self.list(rows.list) {
            None => vec![self.captions.text(row).to_owned()],
            Some(list) => columns
                .iter()
                .filter_map(|column| list.list.sheet.columns.get(*column)?.cells.get(row))
                .flat_map(super::column::texts)
                .map(std::borrow::Cow::into_owned)
                .collect(),
        }
    }

    /// The name of a choice, for people.
    fn name(&self, rows: &Rows, columns: &[usize]) -> String {
        let Some(list) = self.list(rows.list) else { return String::new() };
        columns.iter().map(|column| format!("{:?}", list.path(*column))).collect::<Vec<_>>().join(", ")
    }

    /// 1 if a choice is called like references, −1 if it is called like what models answer.
    fn leaning(&self, rows: &Rows, columns: &[usize]) -> i32 {
        const REFERENCE: &[&str] =
            &["ref", "truth", "gt", "gold", "target", "human", "label", "annot", "ground"];
        const CANDIDATE: &[&str] =
            &["pred", "hyp", "cand", "output", "response", "answer", "generat", "model", "result"];
        let Some(list) = self.list(rows.list) else { return 0 };
        let means = |names: &[&str]| {
            columns.iter().any(|column| {
                let path = list.path(*column).to_lowercase();
                names.iter().any(|name| path.contains(name))
            })
        };
        i32::from(means(REFERENCE)) - i32::from(means(CANDIDATE))
    }

    fn pick(&self, rows: &Rows, columns: &[usize]) -> Option<Pick> {
        let reading = self.reading?;
        let list = reading.lists.get(rows.list)?;
        let is_candidate = reading.role == Role::Candidates;
        let id = rows.id.filter(|_| !is_candidate || list.evidence.len() > 1);
        let is_joined = reading.current.as_ref().is_some_and(|pick| pick.is_joined);
        Some(Pick { list: rows.list, id, captions: columns.to_vec(), is_joined })
    }
}

/// Joins the columns whose names differ in a number at the end: they are the references of an image.
fn joined(list: &EvidentList, choices: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut joined: Vec<(String, Vec<usize>)> = Vec::new();
    for choice in choices {
        let path = choice.first().map_or("", |column| list.path(*column));
        let stem = path.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_numbered = choice.len() == 1 && stem.len() < path.len() && !stem.is_empty();
        let key = if is_numbered { stem.to_owned() } else { format!("\0{path}") };
        match joined.iter_mut().find(|(known, _)| *known == key) {
            Some((_, columns)) => columns.extend(choice),
            None => joined.push((key, choice)),
        }
    }
    joined.into_iter().map(|(_, columns)| columns).collect()
}

impl<'c> Sides<'c> {
    fn new(ground: &'c Captions, system: &'c Captions, ids: Ids) -> Self {
        Self { ground: Side::new(ground, ids), system: Side::new(system, ids) }
    }

    fn decide(&self) -> Result<Decision, Error> {
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
        Ok(Decision {
            ground: self.ground.pick(way.ground, &scored.ground),
            system: self.system.pick(way.system, &scored.system),
            joined: joined::telling(&self.ground, &self.system, way.system),
            by_gain: scored.gain.mean > LEAST_GAIN && scored.gain.n >= FEWEST_IMAGES,
        })
    }

    /// The ways to match the rows of both sides by ids that they share, the best ones alone.
    fn ways(&self) -> Vec<Way<'_>> {
        let mut ways = Vec::new();
        for ground in &self.ground.rows {
            let mut there: HashMap<&str, Vec<usize>> = HashMap::new();
            for (row, id) in ground.ids.iter().enumerate().filter(|(_, id)| !id.is_empty()) {
                there.entry(id).or_default().push(row);
            }
            for system in &self.system.rows {
                let distinct: HashSet<&String> = system.ids.iter().collect();
                let is_own = system.id.is_none() || system.is_known;
                if !is_own && distinct.len() * 20 < system.ids.len() * 19 {
                    continue;
                }
                let rows = system.ids.iter().enumerate();
                let matches: Matches =
                    rows.filter_map(|(row, id)| Some((row, there.get(id.as_str())?.clone()))).collect();
                let common = distinct.iter().filter(|id| there.contains_key(id.as_str())).count();
                let share = matches.len() as f64 / system.ids.len().max(1) as f64;
                let back = common as f64 / there.len().max(1) as f64;
                // What matches a single image of many identifies nothing.
                let tells = common >= 2 || there.len() == 1;
                if share >= SHARED_IDS && tells {
                    let known = f64::from(u8::from(ground.is_known)) + f64::from(u8::from(system.is_known));
                    let whole =
                        f64::from(u8::from(ground.id.is_some())) + f64::from(u8::from(system.id.is_some()));
                    let rank = share + 0.3 * back + 0.02 * known + 0.01 * whole;
                    ways.push(Way { ground, system, matches, rank });
                }
            }
        }
        // Ids within lines come before the numbers of lines.
        let is_whole = |way: &Way<'_>| {
            let of_lines = |side: &Side<'_>, rows: &Rows| side.reading.is_some() && rows.list == usize::MAX;
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
        let n = scored.first().map_or(0, |one| one.gain.n);
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
            is_open(one) && (answers(one) || is_known)
        };
        let beaten =
            scored.iter().filter(|one| is_meant(one)).max_by(|a, b| a.gain.mean.total_cmp(&b.gain.mean));
        let beaten = beaten.cloned().into_iter();
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
        if good.len() == 1 && !predicted_wins(&good) {
            good.extend(beaten);
        }
        let mut good = good.into_iter();
        let Some(first) = good.next() else { return Err(self.doubt("")) };
        if let Some(other) = good.next() {
            let (side, rows, a, b) = if other.system != first.system {
                (&self.system, way.system, &first.system, &other.system)
            } else {
                (&self.ground, way.ground, &first.ground, &other.ground)
            };
            let message =
                format!("{} and {} could both hold captions", side.name(rows, a), side.name(rows, b));
            let role = side.role();
            let remedy = Remedy::give(Argument::CaptionColumns(role)).to("say which one does");
            return Err(Error::new(ErrorKind::Shape, side.captions.source(), message).with_remedy(remedy));
        }
        Ok(first)
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
            _ => {
                let names: Vec<String> =
                    scored.iter().map(|one| self.system.name(way.system, &one.system)).collect();
                Err(self.doubt(&names.join(", ")))
            }
        }
    }

    fn doubt(&self, names: &str) -> Error {
        let side = if self.system.reading.is_some() { &self.system } else { &self.ground };
        let message = format!("several columns could hold captions: {names}");
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
            if let Some(template) = joined::of(side, other) {
                let argument = Argument::IdColumn(side.role());
                let message =
                    format!("no column has the ids of {}, but two together do", other.captions.source());
                let remedy = Remedy::set(argument, template).to("join them");
                return Err(Error::new(ErrorKind::Id, side.captions.source(), message).with_remedy(remedy));
            }
        }
        self.refuse_other_ids()?;
        for side in [&self.ground, &self.system] {
            refuse_open(side.captions)?;
        }
        Ok(Decision::default())
    }
}

/// A way to match the rows of both sides.
struct Way<'r> {
    ground: &'r Rows,
    system: &'r Rows,
    matches: Matches,
    rank: f64,
}
