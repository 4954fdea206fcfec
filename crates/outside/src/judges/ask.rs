//! Sends the queries, several at a time, and records every answer before using it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use capeval::{Answers, after_thoughts};
use capeval_choice::{Argument, Refusal, Remedy, system_words};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::judges::answer::{Answer, Reading, start};
use crate::judges::chat;
use crate::judges::endpoint::{Endpoint, Objection, Outcome};
use crate::judges::judge::Judge;
use crate::judges::pace::{Budget, Pace};
use crate::judges::question::{Question, SentPicture};
use crate::judges::record::{Judgement, Record};

/// The largest number of times that a question is sent until it is answered.
const ATTEMPTS: u32 = 6;

/// The largest number of questions that may fail, if none was answered.
const MOST_FAILURES: u64 = 3;

/// All that threads need that ask.
pub struct Line {
    pub judge: Arc<Judge>,
    pub endpoint: Arc<Endpoint>,
    pub model: String,
    pub record: Arc<Record>,
    pub budget: Arc<Budget>,
    pub pace: Pace,
    /// The questions that wait, by number.
    pub waiting: Mutex<VecDeque<(usize, Question)>>,
    /// Set when no more questions are to be asked.
    pub stop: AtomicBool,
    pub n_answered: AtomicU64,
    pub n_failed: AtomicU64,
}

/// A message of a thread.
enum News {
    /// A question has an answer that can be read, or no more answers are asked for.
    Answered(usize, Arc<Judgement>),
    /// A question has none; with what to do, if asking again cannot help.
    Failed(usize, String, Option<Remedy>),
    /// Nothing more can be asked.
    Ended(Refusal),
}

/// Reads an answer by the rules of a judge.
pub fn read(judge: &Judge, n_items: usize, judgement: &Judgement) -> Reading {
    let text = judgement.answer.as_str();
    // Where tokens count, all of them do, and the program of FLEUR knows no thoughts.
    let after = if judge.form.needs_probabilities() { None } else { after_thoughts(text) };
    let reading = match after {
        Some(None) => Reading::Unreadable(format!("thoughts without an answer: {}", start(text))),
        after => {
            let text = after.flatten().unwrap_or(text).to_owned();
            let answer = Answer { text, tokens: judgement.probabilities.clone() };
            judge.form.read(&answer, judge.scale, n_items)
        }
    };
    match (reading, judgement.finish.as_deref()) {
        (Reading::Unreadable(why), Some("length")) => {
            Reading::Unreadable(format!("{why}; it was cut after max_tokens"))
        }
        (reading, _) => reading,
    }
}

/// Asks all questions with so many threads, and hands out each answer as it comes.
///
/// # Errors
/// When nothing more can be asked, or questions are left without an answer. What was answered is in the record.
pub fn ask(
    line: Line,
    threads: usize,
    answers: &dyn Answers,
    mut take: impl FnMut(usize, Arc<Judgement>),
) -> Result<(), Refusal> {
    let line = Arc::new(line);
    let n = line.waiting.lock().unwrap_or_else(PoisonError::into_inner).len();
    let (tell, news) = mpsc::channel();
    // They are not waited for if this thread unwinds: they end after the request that is on its way, whose answer they
    // still record.
    let stopping = Stopping(&line.stop);
    for k in 0..threads.min(n) {
        let (line, tell) = (Arc::clone(&line), tell.clone());
        let started = std::thread::Builder::new().spawn(move || work(&line, &tell));
        // Fewer threads do the work, too.
        if let Err(cause) = started.map(drop) {
            if k > 0 {
                break;
            }
            return Err(Refusal::new(format!("no thread can be started: {}", system_words(&cause)))
                .with_remedy("allow more threads and processes (ulimit -u)"));
        }
    }
    drop(tell);
    let mut failed: Vec<(usize, String, Option<Remedy>)> = Vec::new();
    let mut ended = None;
    loop {
        match news.recv_timeout(Duration::from_millis(100)) {
            Ok(News::Answered(number, judgement)) => take(number, judgement),
            Ok(News::Failed(number, why, remedy)) => failed.push((number, why, remedy)),
            Ok(News::Ended(refusal)) => ended = ended.or(Some(refusal)),
            Err(RecvTimeoutError::Timeout) => answers.wait(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(stopping);
    if let Some(refusal) = ended {
        return Err(refusal);
    }
    // What can be asked again may still be answered, and is not what a person has to know first.
    failed.sort_by_key(|(number, _, remedy)| (remedy.is_none(), *number));
    match &failed[..] {
        [] => Ok(()),
        [(_, why, remedy), rest @ ..] => {
            let message = match rest.len() {
                0 => why.clone(),
                more => format!("{} questions have no answer: {why}, and {more} more", more + 1),
            };
            let again = || Remedy::say("run again: only what has no answer is asked again");
            Err(Refusal::new(message).with_remedy(remedy.clone().unwrap_or_else(again)))
        }
    }
}

/// What helps if a server objects to a part of a request of a judge.
pub fn advice(judge: &Judge, objection: &Objection) -> Remedy {
    let copy = format!("in a judge of your own (capeval judge show {} > mine.toml)", judge.name);
    match objection {
        Objection::Field(field) if field == "response_format" => {
            Remedy::say(format!("write schema = false under [answer] {copy}"))
        }
        Objection::Field(field) if judge.parameters.contains_key(field) => {
            Remedy::say(format!("change {field} under [parameters] {copy}"))
        }
        Objection::Field(field) => {
            Remedy::say(format!("use a server that knows {field}, or another form under [answer] {copy}"))
        }
        Objection::Length => Remedy::say(format!(
            "start the server with a longer context, or ask with fewer words: a smaller max_tokens under [parameters], or \
             fewer references, {copy}"
        )),
        Objection::Pictures => Remedy::give(Argument::JudgeModel).to("name a model that sees pictures"),
        Objection::Unknown => Remedy::say(
            "asking again brings the same answer: change the judge or the server; capeval judge try shows what is sent",
        ),
    }
}

/// Stops all threads when it is dropped.
struct Stopping<'s>(&'s AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn work(line: &Line, tell: &Sender<News>) {
    loop {
        let next = line.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((number, question)) = next else { return };
        let news = match line.settle(&question) {
            Ok(Some(judgement)) => News::Answered(number, judgement),
            Ok(None) => return,
            Err(Trouble::Question(why, remedy)) => {
                let n_failed = line.n_failed.fetch_add(1, Ordering::Relaxed) + 1;
                if n_failed >= MOST_FAILURES && line.n_answered.load(Ordering::Relaxed) == 0 {
                    line.stop.store(true, Ordering::Relaxed);
                }
                News::Failed(number, format!("{}: {why}", question.told), remedy)
            }
            Err(Trouble::All(refusal)) => {
                line.stop.store(true, Ordering::Relaxed);
                News::Ended(refusal)
            }
        };
        // No one listens any more once the run is over.
        if tell.send(news).is_err() {
            return;
        }
    }
}

/// The reason why there is no answer.
enum Trouble {
    /// To this question; with what to do, if asking again cannot help.
    Question(String, Option<Remedy>),
    /// To any question.
    All(Refusal),
}

impl Line {
    /// Asks a question until an answer can be read, or the judge wants no more answers; `None` if the run is over.
    fn settle(&self, question: &Question) -> Result<Option<Arc<Judgement>>, Trouble> {
        let shown = question.shown().map_err(Trouble::All)?;
        let body = chat::body(
            &self.judge,
            &self.model,
            &question.messages,
            shown.as_ref().map(|shown| shown.address.as_str()),
        );
        let known = question.answers(&self.judge, &self.model, &self.record).map_err(Trouble::All)?;
        let mut number = known.last().map_or(0, |last| last.answer_number);
        loop {
            number += 1;
            let Some(judgement) = self.answer(question, &body, shown.as_ref(), number)? else {
                return Ok(None);
            };
            let is_read = matches!(read(&self.judge, question.n_items, &judgement), Reading::Read { .. });
            if is_read || number >= self.judge.tries {
                return Ok(Some(judgement));
            }
        }
    }

    fn answer(
        &self,
        question: &Question,
        body: &Value,
        shown: Option<&SentPicture>,
        number: u32,
    ) -> Result<Option<Arc<Judgement>>, Trouble> {
        let estimate = question.tokens(&self.judge);
        let mut failures = 0;
        loop {
            self.pace.wait(&self.stop);
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.budget.reserve(estimate).map_err(Trouble::All)?;
            let start = Instant::now();
            let outcome = self.endpoint.ask(body);
            let taken = match &outcome {
                Outcome::Answered(response, _) => Some(response.tokens.unwrap_or(estimate)),
                _ => None,
            };
            self.budget.settle(estimate, taken);
            match outcome {
                Outcome::Answered(response, wait) => {
                    self.pace.answered();
                    if let Some(wait) = wait {
                        self.pace.pause(wait);
                    }
                    self.n_answered.fetch_add(1, Ordering::Relaxed);
                    let judgement = self.judgement(question, *response, shown, number, start);
                    let added = self.record.add(judgement);
                    return added.map(Some).map_err(|error| Trouble::All(error.into()));
                }
                Outcome::Busy(why, wait) => self.pace.turned_away(&why, wait).map_err(Trouble::All)?,
                Outcome::Failed(why) => {
                    failures += 1;
                    if failures >= ATTEMPTS {
                        return Err(Trouble::Question(why, None));
                    }
                    self.pause_alone(self.pace.backoff(failures - 1));
                }
                Outcome::Refused(why, objection) => {
                    let remedy = advice(&self.judge, &objection);
                    return Err(match objection {
                        // So it does to every question.
                        Objection::Field(_) | Objection::Pictures => {
                            Trouble::All(Refusal::new(why).with_remedy(remedy))
                        }
                        Objection::Length | Objection::Unknown => Trouble::Question(why, Some(remedy)),
                    });
                }
                Outcome::Hopeless(refusal) => return Err(Trouble::All(refusal)),
            }
        }
    }

    /// Waits, unless the run is over before.
    fn pause_alone(&self, span: Duration) {
        let end = Instant::now() + span;
        while !self.stop.load(Ordering::Relaxed) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn judgement(
        &self,
        question: &Question,
        response: chat::Response,
        shown: Option<&SentPicture>,
        number: u32,
        start: Instant,
    ) -> Judgement {
        let chat::Response { answer, model, finish, tokens } = response;
        let mut judgement = Judgement {
            judge: self.judge.name.clone(),
            version: self.judge.version.clone(),
            asks: self.judge.asks.clone(),
            asked: self.model.clone(),
            question: question.hash.clone(),
            answer_number: number,
            image: question.image.clone(),
            captions: question.captions.clone(),
            picture: shown.map(|shown| shown.hash.clone()),
            parameters: self.judge.parameters.clone(),
            model,
            answer: answer.text,
            probabilities: answer.tokens,
            finish,
            tokens,
            at: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            seconds: (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
            read: Value::Null,
        };
        judgement.read = match read(&self.judge, question.n_items, &judgement) {
            Reading::Read { values, reason } => json!({"values": values, "reason": reason}),
            Reading::Unreadable(why) => json!({"unreadable": why}),
        };
        judgement
    }
}
