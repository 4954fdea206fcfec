//! A metric is asked about the captions whose scores are not known yet, and its scores are kept as they come.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use capeval_arrays::Key;
use capeval_choice::Notice;
use capeval_evaluate::Progress;

use super::kept;
use super::{Answers, KeptScores, Outside, OutsideRow, OutsideScores, width};
use crate::Error;

/// The shortest time after which scores are kept.
const PAUSE: Duration = Duration::from_secs(2);

/// The shortest time between two writes of scores, as a multiple of the time that a write took.
const PAUSES: u32 = 50;

/// The captions that a metric scores, and the known scores.
pub(super) struct Asking<'a> {
    one: &'a dyn Outside,
    rows: &'a [OutsideRow<'a>],
    progress: &'a dyn Progress,
    kept: Option<ScoreMemory<'a>>,
    /// The scores, row after row.
    scores: Mutex<Scores>,
    /// The rows to ask about, by call.
    asked: Vec<Vec<usize>>,
}

/// The rows of a call.
struct Call<'c> {
    asking: &'c Asking<'c>,
    rows: &'c [usize],
}

struct Scores {
    values: Vec<f64>,
    is_known: Vec<bool>,
}

/// The scores of earlier runs and of this one.
struct ScoreMemory<'a> {
    store: &'a OutsideScores,
    scores: KeptScores,
    /// The key of each row, if it has one.
    keys: Vec<Option<Key>>,
    saved: Mutex<LastSave>,
}

/// The time when scores were last kept.
struct LastSave {
    at: Instant,
    took: Duration,
    n_added: usize,
}

impl<'a> Asking<'a> {
    /// About `rows`, of which consecutive shares are scored together if the metric takes all captions together.
    pub fn new(
        one: &'a dyn Outside,
        rows: &'a [OutsideRow<'a>],
        shares: &[usize],
        store: Option<&'a OutsideScores>,
        progress: &'a dyn Progress,
    ) -> Self {
        let n = width(one);
        let ends = shares.iter().scan(0, |end, share| {
            *end += share;
            Some(*end)
        });
        let shares: Vec<Range<usize>> = ends.zip(shares).map(|(end, share)| end - share..end).collect();
        let kept = store.and_then(|store| ScoreMemory::open(one, rows, &shares, store));
        let mut scores = Scores { values: vec![f64::NAN; rows.len() * n], is_known: vec![false; rows.len()] };
        for (row, key) in kept.iter().flat_map(|kept| kept.keys.iter().enumerate()) {
            let known = kept.as_ref().zip(*key).and_then(|(kept, key)| kept.scores.get(key));
            if let Some(known) = known {
                scores.values[row * n..(row + 1) * n].copy_from_slice(known);
                scores.is_known[row] = true;
            }
        }
        let is_asked = |row: &usize| !scores.is_known[*row];
        let asked = shares.into_iter().map(|share| match one.takes_all_together() {
            true if share.clone().any(|row| is_asked(&row)) => share.collect(),
            true => Vec::new(),
            false => share.filter(is_asked).collect(),
        });
        let asked: Vec<Vec<usize>> = asked.filter(|rows: &Vec<usize>| !rows.is_empty()).collect();
        asked.iter().flatten().for_each(|row| scores.is_known[*row] = false);
        Self { one, rows, progress, kept, scores: Mutex::new(scores), asked }
    }

    /// The scores, row after row, and what there is to say about them.
    pub fn ask(self) -> Result<(Vec<f64>, Vec<Notice>), Error> {
        let n_known = self.rows.len() - self.asked.iter().map(Vec::len).sum::<usize>();
        self.progress.advance(n_known);
        // Also when the metric fails or is interrupted.
        let keeping = Keeping(self.kept.as_ref());
        for asked in &self.asked {
            let rows: Vec<OutsideRow<'_>> = asked.iter().map(|row| self.rows[*row].clone()).collect();
            self.one.score(&rows, &Call { asking: &self, rows: asked })?;
            self.check(asked)?;
        }
        drop(keeping);
        let notices = self.kept.iter().flat_map(|kept| {
            kept.scores.notice().into_iter().chain(kept::told(kept.scores.name(), n_known, self.rows.len()))
        });
        let notices = notices.chain(self.one.notices()).collect();
        Ok((self.scores.into_inner().unwrap_or_else(PoisonError::into_inner).values, notices))
    }

    /// Checks that there is a number for each of these rows and each measure.
    fn check(&self, rows: &[usize]) -> Result<(), Error> {
        let (name, n) = (self.one.name(), width(self.one));
        let scores = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.iter().any(|row| !scores.is_known[*row]) {
            return Err(Error::request(format!("{name} has not scored each of {} captions", rows.len())));
        }
        for row in rows {
            let of_row = &scores.values[row * n..(row + 1) * n];
            if let Some(value) = of_row.iter().position(|score| score.is_nan()) {
                let what = self.rows[*row].told();
                let key = self.one.parts().get(value).map_or(name, |part| &part.key);
                return Err(Error::with_remedy(
                    format!("the score by {key} of {what} is not a number (NaN)"),
                    format!("make {name} give every caption a number, such as 0"),
                ));
            }
        }
        Ok(())
    }

    /// Takes the scores of a row.
    fn take(&self, row: usize, scores: &[f64]) {
        let n = width(self.one);
        {
            let mut known = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
            known.values[row * n..(row + 1) * n].copy_from_slice(scores);
            known.is_known[row] = true;
        }
        if let Some(kept) = &self.kept {
            kept.keep(row, scores);
        }
        self.progress.advance(1);
    }
}

impl Answers for Call<'_> {
    fn take(&self, row: usize, scores: &[f64]) {
        if let Some(row) = self.rows.get(row)
            && scores.len() == width(self.asking.one)
        {
            self.asking.take(*row, scores);
        }
    }

    fn wait(&self) {
        if let Some(kept) = &self.asking.kept {
            kept.save_in_time();
        }
        self.asking.progress.advance(0);
    }

    fn remark(&self, text: &str) {
        self.asking.progress.remark(text);
    }
}

impl<'a> ScoreMemory<'a> {
    fn open(
        one: &dyn Outside,
        rows: &[OutsideRow<'_>],
        shares: &[Range<usize>],
        store: &'a OutsideScores,
    ) -> Option<Self> {
        let identity = one.identity()?;
        let signature = one.signature();
        // Other measures and ranges are another metric, whatever it says of itself.
        let parts = one.parts().iter().map(|part| format!("|{}:{}..{}", part.key, part.min, part.max));
        let text: String = std::iter::once(identity.text.clone()).chain(parts).collect();
        let scores = store.0.open(signature.metric(), &text, width(one));
        let mut keys: Vec<Option<Key>> = rows.iter().map(|row| kept::key(&identity, row)).collect();
        if one.takes_all_together() {
            shares.iter().for_each(|share| kept::join(&mut keys[share.clone()]));
        }
        let saved = Mutex::new(LastSave { at: Instant::now(), took: Duration::ZERO, n_added: 0 });
        Some(Self { store, scores, keys, saved })
    }

    fn keep(&self, row: usize, scores: &[f64]) {
        if let Some(key) = self.keys[row] {
            self.scores.keep(key, scores);
            self.save_in_time();
        }
    }

    /// Saves scores that have waited long, unless another thread is about it.
    fn save_in_time(&self) {
        if let Ok(mut saved) = self.saved.try_lock()
            && saved.at.elapsed() > PAUSE.max(saved.took * PAUSES)
        {
            self.save(&mut saved);
        }
    }

    fn save(&self, saved: &mut LastSave) {
        let n_added = self.scores.n_added();
        let start = Instant::now();
        if n_added > saved.n_added {
            self.store.0.save(&self.scores);
        }
        *saved = LastSave { at: Instant::now(), took: start.elapsed(), n_added };
    }
}

/// Keeps scores when it is dropped.
struct Keeping<'k>(Option<&'k ScoreMemory<'k>>);

impl Drop for Keeping<'_> {
    fn drop(&mut self) {
        if let Some(kept) = self.0 {
            kept.save(&mut kept.saved.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}
