//! A progress bar on standard error, for work that takes more than a second.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use capeval::evaluate::{Progress, Stage};
use capeval_pages::Advance;
use indicatif::{ProgressBar, ProgressStyle};

use crate::messages;

/// The time before a bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest name of a system beside a bar, in columns.
const LONGEST_NAME: usize = 24;

/// Shows the progress of a task.
pub struct Bar {
    start: Instant,
    watched: bool,
    done: AtomicU64,
    state: Mutex<State>,
}

struct State {
    /// The current task, in words.
    message: String,
    /// The system that is next, in words.
    system: String,
    /// A further remark.
    remark: String,
    total: u64,
    bar: Option<ProgressBar>,
}

impl State {
    fn told(&self) -> String {
        format!("{}{}", self.message, self.remark)
    }
}

impl Bar {
    /// A bar that appears only if standard error is a terminal.
    pub fn new() -> Self {
        let state = State {
            message: String::new(),
            system: String::new(),
            remark: String::new(),
            total: 0,
            bar: None,
        };
        let watched = messages::is_watched();
        Self { start: Instant::now(), watched, done: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// Shows the progress of writing a page of `n` images; the bar is gone afterwards.
    pub fn write_page<T>(&self, n: usize, write: impl FnOnce(Advance<'_>) -> T) -> T {
        self.begin(Stage::Writing, n);
        let written = write(&|n| self.advance(n));
        if let Ok(mut state) = self.state.lock()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
        written
    }
}

impl Progress for Bar {
    fn begin(&self, stage: Stage, n: usize) {
        if !self.watched {
            return;
        }
        let Ok(mut state) = self.state.lock() else { return };
        state.message = match stage {
            Stage::Reading => "reading".to_owned(),
            Stage::Fitting => "learning".to_owned(),
            Stage::Measuring => format!("scoring{}", state.system),
            Stage::Writing => "writing the page".to_owned(),
            Stage::Resampling => "resampling".to_owned(),
        };
        state.remark.clear();
        state.total = n as u64;
        self.done.store(0, Ordering::Relaxed);
        if let Some(bar) = &state.bar {
            bar.set_position(0);
            bar.set_length(state.total);
            bar.set_message(state.message.clone());
            bar.reset_eta();
        }
    }

    fn system(&self, name: &str, number: usize, n: usize) {
        if let Ok(mut state) = self.state.lock() {
            let count = if n > 1 { format!(" ({number} of {n})") } else { String::new() };
            state.system = format!(" {}{count}", console::truncate_str(name, LONGEST_NAME, "…"));
        }
    }

    fn remark(&self, text: &str) {
        if let Ok(mut state) = self.state.lock() {
            state.remark = format!(", {text}");
            let message = state.told();
            if let Some(bar) = &state.bar {
                bar.set_message(message);
            }
        }
    }

    fn advance(&self, n: usize) {
        if !self.watched {
            return;
        }
        let done = self.done.fetch_add(n as u64, Ordering::Relaxed) + n as u64;
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let Ok(mut state) = self.state.lock() else { return };
        let (message, total) = (state.told(), state.total);
        let bar = state.bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{msg:10} {wide_bar} {human_pos}/{human_len} {eta} left")
                    .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(total).with_style(style).with_message(message)
        });
        bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
    }
}
