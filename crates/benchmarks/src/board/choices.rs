//! The choices of a visitor of a board. The address contains all of them, so links keep them, and every form of the
//! board follows them.
//!
//! The page, its views, JSON and CSV read this one type, and links write it. Places and marks are computed before rows
//! are left out, so they always refer to the whole board.

use capeval_site::prelude::*;
use capeval_tasks::{MeasureInfo, key_in_group};
use schemars::JsonSchema;
use serde::Deserialize;

use super::order::Candidate;
use super::ranks::is_made;
use crate::about::Column;
use crate::records::ReferenceSet;
use crate::settings::Phase;

/// The value that stands for all columns.
pub const ALL: &str = "all";

/// The query of a board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BoardQuery {
    /// The name of the reference set; the main one by default.
    #[serde(rename = "ref")]
    pub set: String,
    /// The group whose scores are shown; those of all images by default.
    pub group: String,
    /// The key of the measure to sort by; the main one by default.
    pub sort: String,
    /// The keys of the measures to show, or `all`; those that the hosts have chosen by default, or else all. The one
    /// that sorts comes first.
    #[serde(rename = "column")]
    pub columns: Vec<String>,
    /// `all` for the intervals of all measures on the page, which are otherwise those of the one that sorts.
    pub intervals: String,
    /// A part of the name of the team or of the method.
    pub q: String,
    /// Tags that a method must have, all of them.
    #[serde(rename = "tag")]
    pub tags: Vec<String>,
    /// The first day of submission, such as `2026-11-22`.
    pub since: String,
    /// The last day of submission.
    pub until: String,
    /// `json` or `csv`.
    pub format: String,
    /// The page of rows, from 1, on the page for people; programs get all rows.
    pub page: String,
}

impl BoardQuery {
    /// The measure of a set that someone wants to sort by: the main one in their group if they name none.
    pub(super) fn sort_by(&self, set: &ReferenceSet, main: &MeasureInfo) -> Result<MeasureInfo> {
        let find = |key: &str| set.measures.iter().find(|measure| measure.key == key).cloned();
        let (sort, group) = (&self.sort, &self.group);
        match sort.as_str() {
            "" => find(&self.in_group(&main.key))
                .ok_or_else(|| Fault::malformed(&format_args!("group: the board has no group `{group}`"))),
            key => find(key)
                .ok_or_else(|| Fault::malformed(&format_args!("sort: the board has no measure `{sort}`"))),
        }
    }

    /// The page of rows that is asked for, from 1.
    pub fn page(&self) -> Result<usize> {
        match self.page.as_str() {
            "" => Ok(1),
            text => text.parse().ok().filter(|page| *page > 0).ok_or_else(|| {
                Fault::malformed(&format_args!("page: `{text}` is not the number of a page, from 1"))
            }),
        }
    }

    /// The address of another page of the same rows. No other choice keeps the page.
    pub fn at_page(&self, path: &str, page: usize) -> String {
        let address = self.address(path);
        let joint = if address.contains('?') { '&' } else { '?' };
        format!("{address}{joint}page={page}")
    }

    /// The address of a page with these choices.
    pub fn address(&self, page: &str) -> String {
        let mut address = page.to_owned();
        for (place, (name, value)) in self.pairs().into_iter().enumerate() {
            address.push(if place == 0 { '?' } else { '&' });
            address += name;
            address.push('=');
            address += &encode(value);
        }
        address
    }

    /// The names and values of what was chosen, in the order of addresses.
    pub fn pairs(&self) -> Vec<(&'static str, &str)> {
        let Self { set, group, sort, columns, intervals, q, tags, since, until, format, page: _ } = self;
        let mut pairs = vec![("ref", set.as_str()), ("group", group), ("sort", sort)];
        pairs.extend(columns.iter().map(|column| ("column", column.as_str())));
        pairs.extend([("intervals", intervals.as_str()), ("q", q)]);
        pairs.extend(tags.iter().map(|tag| ("tag", tag.as_str())));
        pairs.extend([("since", since.as_str()), ("until", until), ("format", format)]);
        pairs.retain(|(_, value)| !value.is_empty());
        pairs
    }

    /// The same, sorted by a measure that has intervals and a history where a rule over several measures ranks.
    pub fn by_measure(&self, phase: &Phase, sets: &[ReferenceSet]) -> Self {
        let is_ranked = self.sort.is_empty() || sets.iter().any(|set| is_made(phase, set, &self.sort));
        match is_ranked && !phase.rank_by.is_empty() {
            true => Self { sort: self.in_group(&phase.main_metric), ..self.clone() },
            false => self.clone(),
        }
    }

    /// The key of a measure for the group that is shown.
    pub fn in_group(&self, key: &str) -> String {
        match self.group.is_empty() || key.contains('@') {
            true => key.to_owned(),
            false => key_in_group(key, &self.group),
        }
    }

    /// Returns true if a measure is of the group that is shown.
    pub fn shows(&self, measure: &MeasureInfo) -> bool {
        measure.group.as_deref().unwrap_or_default() == self.group
    }

    /// The same for another group.
    pub fn of_group(&self, group: &str) -> Self {
        Self { group: group.to_owned(), sort: String::new(), columns: Vec::new(), ..self.clone() }
    }

    /// The same without filters.
    pub fn unfiltered(&self) -> Self {
        Self {
            q: String::new(),
            tags: Vec::new(),
            since: String::new(),
            until: String::new(),
            ..self.clone()
        }
    }

    /// The same for another set of the phase, without the measures that it lacks.
    pub fn of_set(&self, set: &ReferenceSet, details: &[Column]) -> Self {
        let has = |key: &String| {
            set.measures.iter().any(|measure| measure.key == *key)
                || details.iter().any(|column| column.key == *key)
        };
        Self {
            set: set.name.clone(),
            sort: Some(&self.sort).filter(|key| has(key)).cloned().unwrap_or_default(),
            columns: self.columns.iter().filter(|key| *key == ALL || has(key)).cloned().collect(),
            ..self.clone()
        }
    }

    /// The columns that hosts define to show.
    pub fn details(&self, phase: &Phase) -> Vec<Column> {
        let wanted = self.wanted(phase);
        let is_wanted = |column: &&Column| {
            wanted.is_empty() || wanted.iter().any(|key| *key == ALL || *key == column.key)
        };
        phase.columns.iter().filter(is_wanted).cloned().collect()
    }

    /// The keys of the columns that were chosen, by the visitor or else by the hosts.
    fn wanted<'a>(&'a self, phase: &'a Phase) -> &'a [String] {
        if self.columns.is_empty() { &phase.board_columns } else { &self.columns }
    }

    /// The measures to show of a reference set, that which sorts first. A key is refused that no set of the phase has,
    /// and that is not of a column that hosts define.
    pub fn columns(
        &self,
        phase: &Phase,
        sets: &[ReferenceSet],
        set: &ReferenceSet,
        sort: &MeasureInfo,
    ) -> Result<Vec<MeasureInfo>> {
        let known = |key: &String| {
            sets.iter().flat_map(|set| &set.measures).any(|known| known.key == *key)
                || phase.columns.iter().any(|known| known.key == *key)
        };
        if let Some(key) = self.columns.iter().find(|key| *key != ALL && !known(key)) {
            return Err(Fault::malformed(&format_args!("column: the board has no column `{key}`")));
        }
        let wanted = self.wanted(phase);
        let of_set = |key: &String| {
            let key = self.in_group(key);
            set.measures.iter().find(|measure| measure.key == key)
        };
        let mut columns: Vec<&MeasureInfo> = match wanted.is_empty() || wanted.iter().any(|key| key == ALL) {
            true => set.measures.iter().filter(|measure| self.shows(measure)).collect(),
            false => wanted.iter().filter_map(of_set).collect(),
        };
        columns.retain(|column| column.key != sort.key);
        let mut chosen = vec![sort.clone()];
        for column in columns {
            if !chosen.iter().any(|known| known.key == column.key) {
                chosen.push(column.clone());
            }
        }
        Ok(chosen)
    }

    /// The rows to show.
    pub fn filter(&self) -> Result<Filter> {
        let time = |name: &'static str, text: &str| match text.trim() {
            "" => Ok(None),
            text => clock::parse(text).map(Some).ok_or_else(|| {
                Fault::malformed(&format_args!("{name}: `{text}` is not a date such as 2026-11-22"))
            }),
        };
        let until = time("until", &self.until)?;
        // A day ends with its last millisecond.
        let is_day = self.until.trim().len() == "2026-11-22".len();
        Ok(Filter {
            tags: self
                .tags
                .iter()
                .map(|tag| tag.trim().to_lowercase())
                .filter(|tag| !tag.is_empty())
                .collect(),
            words: self.q.split_whitespace().map(str::to_lowercase).collect(),
            since: time("since", &self.since)?,
            until: until.map(|until| if is_day { until + clock::DAY - 1 } else { until }),
        })
    }
}

/// The rows of a board that are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Parts of names, in lowercase.
    words: Vec<String>,
    /// In lowercase, as tags are kept.
    tags: Vec<String>,
    since: Option<i64>,
    until: Option<i64>,
}

impl Filter {
    /// Returns true if it hides nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if an entry or a baseline is shown.
    pub fn shows(&self, entry: &Candidate) -> bool {
        let is_in_time = self.since.is_none_or(|since| since <= entry.created_at)
            && self.until.is_none_or(|until| entry.created_at <= until);
        if !self.tags.iter().all(|tag| entry.method_details.tags.contains(tag)) {
            return false;
        }
        if !is_in_time || self.words.is_empty() {
            return is_in_time;
        }
        let names = [&entry.team_name, &entry.method].map(|name| name.to_lowercase());
        self.words.iter().all(|word| names.iter().any(|name| name.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use capeval_api::SubmissionKind;

    use super::*;
    use crate::about::MethodDetails;

    fn asked(query: &str) -> BoardQuery {
        serde_html_form::from_str(query).unwrap()
    }

    fn entry(team_name: &str, method: &str, day: &str) -> Candidate {
        Candidate {
            id: String::new(),
            kind: SubmissionKind::Entry,
            team: None,
            team_name: team_name.to_owned(),
            method: method.to_owned(),
            link: String::new(),
            method_details: MethodDetails {
                tags: vec!["open".to_owned(), team_name.to_lowercase()],
                ..MethodDetails::default()
            },
            blob: None,
            created_at: clock::parse(day).unwrap(),
            scores: Default::default(),
        }
    }

    #[test]
    fn addresses_keep_every_choice() {
        let query = "ref=c5&sort=cider-d&column=bleu-4&column=rouge-l&intervals=all&q=two%20towers%26&tag=open&tag=a%2Cb&since=2026-01-01\
                     &until=2026-02-01";
        assert_eq!(asked(query).address("/board"), format!("/board?{query}"));
        assert_eq!(asked(&asked(query).address("")[1..]), asked(query));
        assert_eq!(asked("q=&since=&column=a").address("/board"), "/board?column=a");
        assert_eq!(asked("").address("/board"), "/board");
        assert_eq!(
            asked(query).unfiltered().address(""),
            "?ref=c5&sort=cider-d&column=bleu-4&column=rouge-l&intervals=all"
        );
    }

    #[test]
    fn filters_hide_what_they_say() {
        let shows = |query: &str| {
            let filter = asked(query).filter().unwrap();
            let entries = [entry("Ada", "Two Towers", "2026-03-01"), entry("Bao", "Ö", "2026-03-02 23:59")];
            entries.iter().map(|entry| filter.shows(entry)).collect::<Vec<_>>()
        };
        assert_eq!(shows("q=+"), [true, true]);
        assert_eq!(shows("q=tower+ADA"), [true, false]);
        assert_eq!(shows("q=ö"), [false, true]);
        assert_eq!(shows("tag=Open&tag="), [true, true]);
        assert_eq!(shows("tag=open&tag=ada"), [true, false]);
        assert_eq!(shows("since=2026-03-02"), [false, true]);
        assert_eq!(shows("until=2026-03-02"), [true, true]);
        assert_eq!(shows("until=2026-03-02T12:00:00Z"), [true, false]);
        assert_eq!(shows("until=2026-03-01&q=bao"), [false, false]);
        assert!(
            asked("q=+&sort=x").filter().unwrap().is_empty() && !asked("q=a").filter().unwrap().is_empty()
        );
        let refused = asked("until=soon").filter().unwrap_err();
        assert!(refused.to_string().contains("until: `soon` is not a date"), "{refused}");
    }
}
