//! The conversation with a program: captions go in, scores come out in any order, and every failure of the program
//! becomes an error message.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use capeval::corpus::SegmentId;
use capeval::metric::Part;
use capeval::{Answers, OutsideRow, Picture};
use capeval_choice::{Refusal, system_words};
use serde::Serialize;
use serde_json::Value;

use crate::programs::Messages;
use crate::programs::answer::{self, Answer, TO_STDERR, short};
use crate::programs::description::Description;
use crate::programs::process::{GRACE, Process, Streams, await_end};

/// The longest line of a program, in bytes.
const LINE: u64 = 1 << 20;

/// The most answers that wait to be read.
const WAITING: usize = 1024;

/// The time between two looks of a conversation at its end.
const TICK: Duration = Duration::from_millis(50);

/// The number of last lines for people that an error repeats.
const LAST: usize = 5;

/// A line for the program.
#[derive(Serialize)]
struct Question<'q> {
    id: usize,
    image_id: Option<&'q SegmentId>,
    candidate: &'q str,
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<&'q [&'q str]>,
    /// The path of the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'q str>,
}

/// A line that a program has written, or its end.
enum Event {
    Line(Vec<u8>),
    /// A line that is longer than any answer.
    Long,
    End,
}

/// Asks the program for the scores of all rows.
pub fn score(
    description: &Description,
    rows: &[OutsideRow<'_>],
    messages: &Messages,
    answers: &dyn Answers,
) -> Result<(), Refusal> {
    if let Some(row) = rows.iter().find(|row| row.picture == Some(&Picture::Held)) {
        let (name, image) = (&description.name, row.told());
        return Err(Refusal::new(format!("{name} opens files, and the picture of {image} is none"))
            .with_remedy("give the paths of pictures"));
    }
    let share = rows.len().div_ceil(description.workers).max(1);
    let is_over = AtomicBool::new(false);
    let parts: Vec<Result<(), Refusal>> = thread::scope(|scope| {
        let hold = |(k, rows)| {
            let is_over = &is_over;
            let talk = move || {
                let _alarm = Alarm(is_over);
                let conversation =
                    Conversation { description, rows, first: k * share, messages, answers, is_over };
                conversation.hold().inspect_err(|_| is_over.store(true, Ordering::Relaxed))
            };
            let started = thread::Builder::new().spawn_scoped(scope, talk);
            started
                .map_err(|cause| no_thread(&description.name, &cause))
                .inspect_err(|_| is_over.store(true, Ordering::Relaxed))
        };
        let workers: Vec<_> = rows.chunks(share).enumerate().map(hold).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(|worker| worker.and_then(join)).collect()
    });
    // Those that were ended because another had failed have nothing to say of their own.
    let failures: Vec<Refusal> = parts.into_iter().filter_map(Result::err).collect();
    let own = failures.iter().position(|failure| *failure != over()).unwrap_or_default();
    failures.into_iter().nth(own).map_or(Ok(()), Err)
}

/// The error of a conversation for which the system starts no thread.
fn no_thread(name: &str, cause: &io::Error) -> Refusal {
    Refusal::new(format!("{name}: a thread cannot be started: {}", system_words(cause)))
        .with_remedy("allow more threads and processes (ulimit -u), or use fewer workers")
}

/// The error of a conversation that ends since another one has failed.
fn over() -> Refusal {
    Refusal::new("another process has failed")
}

/// Ends all conversations if one of them unwinds.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// A conversation with one process about some rows.
struct Conversation<'c> {
    description: &'c Description,
    rows: &'c [OutsideRow<'c>],
    /// The number of the first row among those of all processes.
    first: usize,
    messages: &'c Messages,
    answers: &'c dyn Answers,
    /// True if another conversation has failed.
    is_over: &'c AtomicBool,
}

/// The answers so far.
struct KnownScores {
    is_known: Vec<bool>,
    count: usize,
    /// The number of lines that were read.
    lines: usize,
}

/// The last lines for people.
type LastLines = Arc<Mutex<VecDeque<String>>>;

impl Conversation<'_> {
    /// Asks about the rows, and hears the answers.
    fn hold(&self) -> Result<(), Refusal> {
        let started = Process::start(self.description).inspect_err(|_| await_end());
        let (process, Streams { input, output, messages }) =
            started.map_err(|error| self.not_started(&error))?;
        let last = LastLines::default();
        // Not scoped: whatever a program has left running may keep its streams open.
        let heard = {
            let (name, last) = (self.description.name.clone(), Arc::clone(&last));
            let (tell, heard) = mpsc::sync_channel::<()>(0);
            let show = Arc::clone(self.messages);
            self.start(move || {
                listen(messages, &name, &last, &show);
                drop(tell);
            })?;
            heard
        };
        let (send, events) = mpsc::sync_channel(WAITING);
        self.start(move || read(output, &send))?;
        let asked = AtomicUsize::new(0);
        let (permit, permits) = mpsc::sync_channel(self.description.batch.min(self.rows.len()));
        let mut known = KnownScores { is_known: vec![false; self.rows.len()], count: 0, lines: 0 };
        thread::scope(|scope| {
            // Ends before the thread is waited for, which then finds no reader.
            let (mut process, permits) = (process, permits);
            let ask = || self.ask(input, &asked, permit);
            thread::Builder::new()
                .spawn_scoped(scope, ask)
                .map_err(|cause| no_thread(&self.description.name, &cause))?;
            let patience = self.hear(&mut process, &events, &permits, &asked, &mut known)?;
            self.end(&mut process, patience, &heard, &last, &known)
        })
        .inspect_err(|_| await_end())
    }

    /// Starts a thread that no one waits for.
    fn start(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Refusal> {
        let started = thread::Builder::new().spawn(work);
        started.map(drop).map_err(|cause| no_thread(&self.description.name, &cause))
    }

    /// Writes all questions; those of a batch wait for permits.
    fn ask(&self, input: ChildStdin, asked: &AtomicUsize, permit: SyncSender<()>) {
        let mut input = BufWriter::new(input);
        let has_batch = self.description.batch > 0;
        for (id, row) in self.rows.iter().enumerate() {
            if has_batch && permit.send(()).is_err() {
                return;
            }
            let references = self.description.references.then_some(row.references.as_slice());
            let image = match row.picture {
                Some(Picture::File { path, .. }) => Some(path.as_str()),
                _ => None,
            };
            let question = Question { id, image_id: row.image, candidate: row.candidate, references, image };
            // A program that does not read has ended, or will be told so by its answers.
            let written = serde_json::to_writer(&mut input, &question).map_err(io::Error::from);
            if written.and_then(|()| input.write_all(b"\n")).is_err() {
                return;
            }
            if has_batch && input.flush().is_err() {
                return;
            }
            asked.store(id + 1, Ordering::Relaxed);
        }
        let _ = input.flush();
    }

    /// Reads answers until the output ends, or the program does not after its last answer. Returns how long to wait for
    /// its end.
    fn hear(
        &self,
        process: &mut Process,
        events: &Receiver<Event>,
        permits: &Receiver<()>,
        asked: &AtomicUsize,
        known: &mut KnownScores,
    ) -> Result<Duration, Refusal> {
        let Description { name, timeout, .. } = self.description;
        // Only answers and questions count: lines without an answer may go on for ever.
        let (mut since, mut n_asked) = (Instant::now(), 0);
        let mut ended: Option<Instant> = None;
        let mut next_look = Instant::now() + TICK;
        loop {
            match events.recv_timeout(TICK) {
                Ok(Event::Line(line)) => {
                    if let Some((id, scores)) = self.take(&line, known)? {
                        since = Instant::now();
                        let _ = permits.try_recv();
                        self.answers.take(self.first + id, &scores);
                    }
                }
                Ok(Event::Long) => {
                    let message =
                        format!("{name} prints a line of more than {LINE} bytes, which is no answer");
                    return Err(Refusal::new(message).with_remedy(TO_STDERR));
                }
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return Ok(GRACE),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() < next_look {
                continue;
            }
            next_look = Instant::now() + TICK;
            self.answers.wait();
            if self.is_over.load(Ordering::Relaxed) {
                return Err(over());
            }
            let asked = asked.load(Ordering::Relaxed);
            if asked > n_asked {
                (since, n_asked) = (Instant::now(), asked);
            }
            if process.has_ended() && ended.is_none() {
                ended = Some(Instant::now());
            }
            let is_silent = |from: Instant, time: Duration| from.max(since).elapsed() > time;
            let is_complete = known.count == self.rows.len();
            // What a program that has ended left running may keep its output open.
            let is_over = ended.is_some_and(|ended| is_complete || is_silent(ended, GRACE));
            if is_over || is_complete && is_silent(since, GRACE) {
                return Ok(Duration::ZERO);
            }
            if !is_complete && is_silent(since, *timeout) {
                let (count, n) = (known.count, self.rows.len());
                let seconds = timeout.as_secs_f64();
                let message =
                    format!("{name} answered {count} of {n} captions, then nothing for {seconds} s");
                return Err(Refusal::new(message).with_remedy(
                    "let it end each answer with a line break and flush it, or set a longer timeout in its file",
                ));
            }
        }
    }

    /// Takes a line of the program: the number of a row and its scores, if the line is not blank.
    fn take(&self, line: &[u8], known: &mut KnownScores) -> Result<Option<(usize, Vec<f64>)>, Refusal> {
        let Description { name, parts, .. } = self.description;
        known.lines += 1;
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let Answer { id, mut scores } = answer::read(line).map_err(|why| why.of(name, known.lines, line))?;
        let Some(row) = self.rows.get(id) else {
            let n = self.rows.len();
            return Err(Refusal::new(format!(
                "{name} answers id {id}, and was asked about {n} captions, from 0 on"
            ))
            .with_remedy("repeat the id of each line"));
        };
        let image = row.told();
        if std::mem::replace(&mut known.is_known[id], true) {
            return Err(Refusal::new(format!("{name} answers id {id} twice, about {image}")));
        }
        let mut numbers = Vec::with_capacity(parts.len());
        for Part { key, min, max, .. } in parts {
            let value = scores.iter().position(|(other, _)| other == key).map(|at| scores.swap_remove(at).1);
            let number = value.as_ref().and_then(Value::as_f64);
            match (number, value) {
                (Some(number), _) if (*min..=*max).contains(&number) => numbers.push(number),
                (Some(number), _) => {
                    return Err(Refusal::new(format!(
                        "{name}: the score by {key} of {image} is {number}, beyond its range from {min} to {max}"
                    ))
                    .with_remedy("correct the range in its file"));
                }
                (None, Some(value)) => {
                    let value = short(&value.to_string());
                    let message = format!("{name}: the score by {key} of {image} is {value}, not a number");
                    return Err(Refusal::new(message));
                }
                (None, None) => {
                    return Err(Refusal::new(format!("{name} gives {image} no score by {key}"))
                        .with_remedy("answer with every measure that its file lists"));
                }
            }
        }
        if let Some((other, _)) = scores.first() {
            if parts.iter().any(|part| part.key == *other) {
                let message = format!("{name} gives {image} two scores by {other}");
                return Err(Refusal::new(message));
            }
            let message =
                format!("{name} gives {image} a score by {}, which its file does not list", short(other));
            return Err(Refusal::new(message).with_remedy("list it among the measures"));
        }
        known.count += 1;
        Ok(Some((id, numbers)))
    }

    /// Waits for the end of a program that has closed its output, and says what is missing.
    fn end(
        &self,
        process: &mut Process,
        patience: Duration,
        heard: &Receiver<()>,
        last: &LastLines,
        known: &KnownScores,
    ) -> Result<(), Refusal> {
        let Description { name, .. } = self.description;
        let status = process.ended(patience).map_err(|error| Refusal::new(format!("{name}: {error}")))?;
        if status.is_some() {
            // Its last words come before its end, and are soon here.
            let _ = heard.recv_timeout(TICK * 20);
        }
        let is_complete = known.count == self.rows.len();
        if is_complete && status.is_none_or(|status| status.success()) {
            return Ok(());
        }
        let how = match status {
            None => "has closed its output".to_owned(),
            Some(status) if status.success() => "ended".to_owned(),
            Some(status) => format!("ended with {status}"),
        };
        let (count, n) = (known.count, self.rows.len());
        let left_out = known.is_known.iter().zip(self.rows).find(|(is_known, _)| !**is_known);
        let left_out = left_out.map_or(String::new(), |(_, row)| format!(", none about {}", row.told()));
        let last: Vec<String> = last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        let last = match last.is_empty() {
            true => String::new(),
            false => format!("; its last words: {}", last.join(" / ")),
        };
        Err(Refusal::new(format!("{name} {how} after {count} of {n} answers{left_out}{last}")))
    }

    fn not_started(&self, error: &io::Error) -> Refusal {
        let Description { name, command, folder, .. } = self.description;
        let program = command.first().map_or("", String::as_str);
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => format!("make it executable: chmod +x {program}"),
            _ => format!("install it, or correct the command in its file; it runs in {}", folder.display()),
        };
        let why = system_words(error);
        Refusal::new(format!("{name}: {program} cannot be started: {why}")).with_remedy(remedy)
    }
}

/// Passes on what a program writes for people, and keeps the last lines.
fn listen(messages: ChildStderr, name: &str, last: &LastLines, show: &Messages) {
    let mut messages = BufReader::new(messages);
    loop {
        let mut line = Vec::new();
        match (&mut messages).take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        show(name, &line);
        if !line.is_empty() {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() == LAST {
                last.pop_front();
            }
            last.push_back(short(&line));
        }
    }
}

/// Reads the lines of a program.
fn read(output: ChildStdout, events: &SyncSender<Event>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let event = match (&mut output).take(LINE + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Event::End,
            Ok(n) if n as u64 > LINE => Event::Long,
            Ok(_) => Event::Line(line),
        };
        let is_last = !matches!(event, Event::Line(_));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}
