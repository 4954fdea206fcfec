//! Decides how to read both sides, once both are there, and reports decisions that were not obvious.

use capeval_choice::{Argument, Code, counted};

use super::choose::{Sides, UnreadId};
use super::family;
use super::records::Doubt;
use super::{Because, EvidentList, Layout, Pick, systems, text};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind};
use crate::merge::merge;
use crate::notice::list_ids;
use crate::policy::Ids;
use crate::{Format, Notice, Remedy, Role, SegmentId};

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
    let mut telling = None;
    if let Some((_, first)) = systems.first() {
        for part in parts.iter_mut() {
            notices.extend(settle_ground(part, first, ids)?.1);
        }
        let (joined, notice) = settle_ground(ground, first, ids)?;
        (telling, notices) = (joined, notices.into_iter().chain(notice).collect());
    }
    if !parts.is_empty() {
        *ground = merge(parts, Role::References)?;
    }
    for (_, system) in systems.iter_mut() {
        if system.reading().is_some() {
            let decision = Sides::new(ground, system, ids).decide()?;
            if let Some(unread) = &decision.unread.system {
                notices.push(system.unread(unread, ground, Role::Candidates)?);
            }
            let systems = system.reading().and_then(|reading| {
                let pick = decision.system.as_ref().or(reading.current.as_ref())?;
                systems::of(reading.lists.get(pick.list)?, pick)
            });
            let notice = system.read_again(decision.system, ground.source(), decision.by_gain, &[]);
            notices.extend(notice);
            system.set_systems(systems);
            // The columns of references are known no more.
            system.set_joined(decision.joined.or_else(|| telling.take()));
        }
        system.drop_reading();
    }
    ground.drop_reading();
    Ok(notices)
}

/// Decides how references are read, if that is open. Returns columns that tell rows of the system with one id apart,
/// as a template, and what was not obvious.
fn settle_ground(
    ground: &mut Captions,
    system: &Captions,
    ids: Ids,
) -> Result<(Option<String>, Option<Notice>), Error> {
    if ground.reading().is_none() {
        return Ok((None, None));
    }
    let decision = Sides::new(ground, system, ids).decide()?;
    if let Some(unread) = &decision.unread.ground {
        let notice = ground.unread(unread, system, Role::References)?;
        ground.drop_reading();
        return Ok((None, Some(notice)));
    }
    let beside = beside(ground, system, decision.system.as_ref());
    let notice = ground.read_again(decision.ground, system.source(), decision.by_gain, &beside);
    ground.drop_reading();
    Ok((decision.joined, notice))
}

/// The columns of candidates that stand in the file of the references; none if they have their own.
fn beside(ground: &Captions, system: &Captions, pick: Option<&Pick>) -> Vec<String> {
    if ground.source() != system.source() {
        return Vec::new();
    }
    let list =
        pick.zip(system.reading()).and_then(|(pick, reading)| Some((pick, reading.lists.get(pick.list)?)));
    match list {
        Some((pick, list)) => pick.captions.iter().map(|column| list.path(*column).to_owned()).collect(),
        None => system.layout().caption.columns.clone(),
    }
}

/// Refuses captions whose reading only another side could settle.
///
/// # Errors
/// If they are such.
pub fn refuse_open(captions: &Captions) -> Result<(), Error> {
    captions.parts().iter().try_for_each(refuse_open)?;
    let Some(reading) = captions.reading() else { return Ok(()) };
    let Some(list) = reading.lists.first() else { return Ok(()) };
    let key =
        reading.current.as_ref().and_then(|pick| pick.id).filter(|_| !reading.named_id && !reading.is_beside);
    if let Some(own) = key.and_then(|key| list.own_id(key)) {
        let message = format!("its records have ids in {:?} that differ from their keys", list.path(own));
        let remedy = Remedy::set(Argument::IdColumn(reading.role), list.path(own).to_owned()).to("use them");
        return Err(Error::new(ErrorKind::Id, captions.source(), message).with_remedy(remedy));
    }
    if !reading.is_open {
        return Ok(());
    }
    let columns: Vec<SegmentId> =
        list.caption_columns().into_iter().map(|column| SegmentId::from(list.path(column))).collect();
    let message = format!("several columns could hold captions: {}", list_ids(&columns, columns.len()));
    let remedy = Remedy::give(Argument::CaptionColumns(reading.role)).to("say which one does");
    Err(Error::new(ErrorKind::Shape, captions.source(), message).with_remedy(remedy))
}

impl Captions {
    /// Says that lines begin or end with what may be ids, but are read whole.
    ///
    /// # Errors
    /// If the other side has another number of lines, so that lines would be paired that do not belong together.
    fn unread(&self, id: &UnreadId, other: &Self, role: Role) -> Result<Notice, Error> {
        let end = if id.column == text::LAST { "ends" } else { "begins" };
        let has = match id.is_shared {
            true => format!("as in {}", other.source()),
            false => format!("and {} has no such ids", other.source()),
        };
        let example = &id.example;
        let whole = Remedy::set(Argument::Format(role), Format::Lines.name());
        let are_lines = self.format() == Some(Format::Lines) && other.format() == self.format();
        if are_lines && self.len() != other.len() {
            let message = format!(
                "each line {end} with what may be an id ({example:?}), {has}; nor are there as many lines ({} here, {} \
                 there)",
                self.len(),
                other.len(),
            );
            let remedy = Remedy::say("give both files ids in the same form").or(whole.to("read whole lines"));
            return Err(Error::new(ErrorKind::Id, self.source(), message).with_remedy(remedy));
        }
        let message = format!(
            "each line of {} {end} with what may be an id ({example:?}), {has}: whole lines were read, so that it counts \
             as a word, and paired by position",
            self.source(),
        );
        let remedy = match id.is_shared {
            true => {
                Remedy::set(Argument::IdColumn(role), id.column.clone()).to("read it as an id, on both sides")
            }
            false => Remedy::say("give both files ids in the same form"),
        };
        let remedy = remedy.or(whole.to("say that it is a word"));
        Ok(Notice::new(Code::LineNumbers, message).remedy(remedy))
    }

    /// Reads the columns of `pick`, if it differs from the reading so far; says what was chosen if it was not obvious.
    /// The columns `beside` are those of the other side in one file.
    fn read_again(
        &mut self,
        pick: Option<Pick>,
        other: &str,
        by_gain: bool,
        beside: &[String],
    ) -> Option<Notice> {
        let pick = pick?;
        let reading = self.reading()?;
        let list = reading.lists.get(pick.list)?;
        let is_known =
            !list.known.is_empty() && pick.captions.iter().all(|column| list.known.contains(column));
        let has_known_id = reading.named_id || pick.id.is_some_and(|id| list.names_image(id));
        let is_plain = list.list.path.is_empty();
        let is_obvious = is_plain && has_known_id && (is_known || reading.named_captions);
        let notice = (!is_obvious).then(|| list.notice(&pick, self.source(), other, by_gain));
        let notice = notice.map(|notice| match list.list.doubt {
            Doubt::None | Doubt::Counted => notice,
            _ => notice.remedy(
                Remedy::set(Argument::Format(reading.role), Format::Lines.name())
                    .to("read whole lines as captions"),
            ),
        });
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
        let left_out = family::left_out_beside(list, &pick, beside, self.source(), reading.role)
            .filter(|_| !reading.named_captions);
        if !reading.is_beside && reading.current.as_ref() == Some(&pick) {
            let left_out = left_out.filter(|_| reading.left_out.is_none());
            self.set_layout(layout);
            left_out.into_iter().for_each(|notice| self.notice(notice));
            return notice;
        }
        // Lines with fields are a table without a header.
        let format = self.format().map(|format| if format == Format::Lines { Format::Tsv } else { format });
        let mut again = list.captions(&pick, self.source(), format);
        if again.is_empty() {
            return None;
        }
        again.set_layout(layout);
        again.set_times(self.times().to_vec());
        if pick.id.is_none() {
            again.set_keys(self.keys().clone());
        }
        let is_stale = |notice: &Notice| reading.left_out.as_ref() == Some(notice);
        let kept =
            self.notices().iter().filter(|notice| notice.code != Code::RowNumbers && !is_stale(notice));
        kept.for_each(|notice| again.notice(notice.clone()));
        left_out.into_iter().for_each(|notice| again.notice(notice));
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
