//! Makes a metric of a judge, which sends queries about captions and turns the answers into scores.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use capeval::corpus::SegmentId;
use capeval::metric::{Explanation, Rule, Signature, Step};
use capeval::stats::Column;
use capeval::{Answers, Outside, OutsideLabel, OutsideRow, Picture, Sight};
use capeval_choice::{Argument, Code, Notice, Refusal, Remedy};
use sha2::{Digest, Sha256};

use crate::judges::answer::Kind;
use crate::judges::answer::{Reading, start};
use crate::judges::ask::{self, Line};
use crate::judges::endpoint::Endpoint;
use crate::judges::judge::{Judge, hex};
use crate::judges::pace::{Budget, Pace, Spent, grouped};
use crate::judges::plan::Plan;
use crate::judges::question::Question;
use crate::judges::record::{Judgement, Record};
use crate::judges::template::Field;
use crate::judges::{Consent, Limits};

/// The most letters of an answer that an explanation shows.
const LONGEST: usize = 2_000;

/// The rule of a pair: the caption that both orders prefer; a half if they do not agree.
const BOTH_ORDERS: Rule =
    Rule::new("1 if both are above a half, 0 if both are below, otherwise a half", |parts| match parts {
        [first, second] if *first > 0.5 && *second > 0.5 => 1.0,
        [first, second] if *first < 0.5 && *second < 0.5 => 0.0,
        _ => 0.5,
    });

/// A judge that grades captions.
pub struct Grader {
    pub label: OutsideLabel,
    pub judge: Arc<Judge>,
    /// The model that is asked, or was asked by the run that is repeated.
    pub model: String,
    pub record: Arc<Record>,
    /// The server to query; `None` if nothing is.
    pub endpoint: Option<Arc<Endpoint>>,
    pub budget: Arc<Budget>,
    pub limits: Limits,
    pub consent: Consent,
    pub known: Mutex<KnownAnswers>,
}

/// The known questions.
#[derive(Default)]
pub struct KnownAnswers {
    /// The last answer to each, by the hash of the question.
    answers: HashMap<String, ReadAnswer>,
    /// The answers that scores were read from since the metric was last asked for its signature.
    used: BTreeSet<String>,
    n_asked: usize,
    n_replayed: usize,
    /// The amount spent on questions of this judge.
    spent: Spent,
    unreadable: BTreeMap<String, (Option<SegmentId>, String)>,
}

#[derive(Clone)]
struct ReadAnswer {
    judgement: Arc<Judgement>,
    reading: Reading,
}

/// The questions about the rows.
struct QuestionTable {
    questions: Vec<Question>,
    /// The numbers of the questions about each row.
    of_row: Vec<Vec<usize>>,
    /// The rows that wait for each question.
    rows: Vec<Vec<usize>>,
}

impl QuestionTable {
    fn new(judge: &Judge, rows: &[OutsideRow<'_>]) -> Self {
        let (mut questions, mut by_hash) = (Vec::new(), HashMap::new());
        let mut waiting: Vec<Vec<usize>> = Vec::new();
        let mut of_row = Vec::with_capacity(rows.len());
        for (row, one) in rows.iter().enumerate() {
            let of_one = about(judge, one).into_iter().map(|question: Question| {
                let number = *by_hash.entry(question.hash.clone()).or_insert_with(|| {
                    questions.push(question);
                    waiting.push(Vec::new());
                    questions.len() - 1
                });
                waiting[number].push(row);
                number
            });
            of_row.push(of_one.collect());
        }
        Self { questions, of_row, rows: waiting }
    }
}

/// The questions about a row: one, or one for each order of two captions.
pub fn about(judge: &Judge, row: &OutsideRow<'_>) -> Vec<Question> {
    match (judge.kind, row.rival) {
        (Kind::Pairwise, Some(rival)) => vec![
            Question::of_pair(judge, row, [row.candidate, rival]),
            Question::of_pair(judge, row, [rival, row.candidate]),
        ],
        (Kind::Pairwise, None) => Vec::new(),
        (Kind::Score | Kind::Checklist, _) => vec![Question::of(judge, row)],
    }
}

impl Grader {
    fn lock(&self) -> std::sync::MutexGuard<'_, KnownAnswers> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses rows of which nothing can be asked.
    fn check(&self, rows: &[OutsideRow<'_>]) -> Result<(), Refusal> {
        let name = &self.judge.name;
        for row in rows {
            let what = row.told();
            if self.judge.kind == Kind::Pairwise && row.rival.is_none() {
                return Err(Refusal::new(format!("{name} compares two captions, and {what} has one"))
                    .with_remedy("give it pairs, or two systems that describe the same images"));
            }
            if self.judge.kind == Kind::Checklist && row.references.is_empty() {
                return Err(Refusal::new(format!("{name} checks items, and {what} has none"))
                    .with_remedy("give the items as references of the image"));
            }
            if matches!(row.picture, Some(Picture::Held)) {
                return Err(Refusal::new(format!(
                    "{name} sends files of pictures, and that of {what} is no file"
                ))
                .with_remedy(Remedy::give(Argument::Pictures).to("give a folder of files")));
            }
        }
        Ok(())
    }

    /// The scores of a row, if its questions have answers.
    fn scores(
        &self,
        questions: &[usize],
        asked: &QuestionTable,
        known: &mut KnownAnswers,
    ) -> Option<Vec<f64>> {
        let mut grades = Vec::with_capacity(questions.len());
        for number in questions {
            let question = &asked.questions[*number];
            let answered = known.answers.get(&question.hash)?.clone();
            known.used.insert(fingerprint(&answered.judgement));
            match answered.reading {
                Reading::Read { values, .. } => grades.push(values),
                Reading::Unreadable(why) => {
                    let entry = (question.image.clone(), format!("{}: {why}", question.told));
                    known.unreadable.insert(question.hash.clone(), entry);
                    let score = self.judge.unreadable.unwrap_or(f64::NAN);
                    grades.push(match self.judge.kind {
                        Kind::Score | Kind::Pairwise => vec![score],
                        Kind::Checklist => vec![question.n_items as f64, 0.0, 0.0],
                    });
                }
            }
        }
        match (self.judge.kind, &grades[..]) {
            (Kind::Pairwise, [first, second]) => {
                let grades = [first.first()?, second.first()?].map(|grade| *grade);
                Some(vec![(BOTH_ORDERS.of)(&[grades[0], 1.0 - grades[1]])])
            }
            (_, [grade]) => Some(grade.clone()),
            _ => None,
        }
    }

    /// Takes an answer to a question.
    fn learn(&self, question: &Question, judgement: Arc<Judgement>, known: &mut KnownAnswers) {
        let reading = ask::read(&self.judge, question.n_items, &judgement);
        known.answers.insert(question.hash.clone(), ReadAnswer { judgement, reading });
    }

    fn refuse_unreadable(&self) -> Result<(), Refusal> {
        let known = self.lock();
        let Some((_, (_, why))) = known.unreadable.iter().next() else { return Ok(()) };
        if self.judge.unreadable.is_some() {
            return Ok(());
        }
        let more = match known.unreadable.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let name = &self.judge.name;
        Err(Refusal::new(format!("{name}: no answer can be read about {why}{more}")).with_remedy(format!(
            "read the answers in {}; then change the judge, or say in it what such captions score: unreadable = 0",
            self.record.path()
        )))
    }

    /// Refuses a run without questions to which some have no answer.
    fn replayed(&self, missing: &[&Question]) -> Result<(), Refusal> {
        let shown: Vec<&str> =
            missing.iter().take(Notice::MAX_IDS).map(|question| question.told.as_str()).collect();
        let n = missing.len();
        let (questions, have) = if n == 1 { ("question", "has") } else { ("questions", "have") };
        let why = format!(
            "{n} {questions} of {} to {} {have} no answer in {}: {}",
            self.judge.name,
            self.model,
            self.record.path(),
            shown.join(", ")
        );
        Err(Refusal::new(why).with_remedy(Remedy::omit(Argument::Replay).to("ask for them").or(Remedy::say(
            "use the captions, the references and the judge of the run that wrote the file",
        ))))
    }

    fn ask(
        &self,
        endpoint: &Arc<Endpoint>,
        asked: &QuestionTable,
        missing: &[usize],
        answers: &dyn Answers,
    ) -> Result<(), Refusal> {
        let tokens = missing.iter().map(|number| asked.questions[*number].tokens(&self.judge));
        let plan = Plan {
            judge: self.judge.name.clone(),
            model: self.model.clone(),
            host: endpoint.host().to_owned(),
            record: self.record.path().to_owned(),
            n_questions: missing.len(),
            n_known: asked.questions.len() - missing.len(),
            tokens: tokens.fold([0, 0], |[q, a], [question, answer]| [q + question, a + answer]),
            prices: self.judge.prices.clone(),
        };
        (self.consent)(&plan)?;
        let waiting: VecDeque<(usize, Question)> =
            missing.iter().map(|number| (*number, asked.questions[*number].clone())).collect();
        let line = Line {
            judge: Arc::clone(&self.judge),
            endpoint: Arc::clone(endpoint),
            model: self.model.clone(),
            record: Arc::clone(&self.record),
            budget: Arc::clone(&self.budget),
            pace: Pace::new(self.limits.first_pause),
            waiting: Mutex::new(waiting),
            stop: AtomicBool::default(),
            n_answered: AtomicU64::default(),
            n_failed: AtomicU64::default(),
        };
        let before = self.budget.spent();
        let asked = ask::ask(line, self.limits.at_once, answers, |number, judgement| {
            let mut known = self.lock();
            self.learn(&asked.questions[number], judgement, &mut known);
            known.n_asked += 1;
            for row in &asked.rows[number] {
                if let Some(scores) = self.scores(&asked.of_row[*row], asked, &mut known) {
                    answers.take(*row, &scores);
                }
            }
            answers.remark(&self.spent(self.budget.spent().since(before)));
        });
        self.lock().spent = self.budget.spent().since(before);
        asked
    }

    /// The amount spent, in words.
    fn spent(&self, Spent { tokens, .. }: Spent) -> String {
        match &self.judge.prices {
            Some(prices) => prices.told(tokens),
            None => format!("{} tokens", grouped(tokens.iter().sum())),
        }
    }
}

/// The part of an answer on which a score depends.
fn fingerprint(judgement: &Judgement) -> String {
    let Judgement { question, answer, probabilities, model, .. } = judgement;
    let all = serde_json::json!([question, answer, probabilities]);
    format!("{} {}", hex(&Sha256::digest(all.to_string()), 16), model.as_deref().unwrap_or_default())
}

impl Outside for Grader {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let Judge { name, version, asks, reads, .. } = &*self.judge;
        Signature::new(name).with("version", version).with("prompt", asks).with("reading", reads)
    }

    fn needs_references(&self) -> bool {
        self.judge.has(Field::References) || self.judge.has(Field::Items)
    }

    fn compares_pairs(&self) -> bool {
        self.judge.kind == Kind::Pairwise
    }

    fn sight(&self) -> Sight {
        // A run that asks nothing shows nothing.
        match (self.judge.has(Field::Image), &self.endpoint) {
            (false, _) => Sight::None,
            (true, Some(_)) => Sight::Needed,
            (true, None) => Sight::Optional,
        }
    }

    fn columns(&self) -> Option<Vec<Column>> {
        (self.judge.kind == Kind::Checklist)
            .then(|| ["items", "mentioned", "right"].map(Column::count).to_vec())
    }

    fn combine(&self, _n: f64, sums: &[f64], scores: &mut [f64]) {
        if let ([items, mentioned, right], [coverage, precision]) = (sums, scores) {
            let share = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
            *coverage = share(*mentioned, *items);
            *precision = share(*right, *mentioned);
        }
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        self.check(rows)?;
        let asked = QuestionTable::new(&self.judge, rows);
        let mut missing = Vec::new();
        for (number, question) in asked.questions.iter().enumerate() {
            let known = question.answers(&self.judge, &self.model, &self.record)?;
            let mut by_reading = known.iter().map(|judgement| {
                (
                    judgement,
                    matches!(ask::read(&self.judge, question.n_items, judgement), Reading::Read { .. }),
                )
            });
            // The first answer that can be read counts, or the last one if there were as many as the judge wants.
            let first = by_reading.find(|(_, is_read)| *is_read).map(|(judgement, _)| judgement);
            let is_done = known.last().is_some_and(|last| last.answer_number >= self.judge.tries);
            match first.or(known.last().filter(|_| is_done)) {
                Some(judgement) => {
                    let mut state = self.lock();
                    self.learn(question, Arc::clone(judgement), &mut state);
                    state.n_replayed += 1;
                }
                None => missing.push(number),
            }
            answers.wait();
        }
        {
            let mut known = self.lock();
            for (row, questions) in asked.of_row.iter().enumerate() {
                if let Some(scores) = self.scores(questions, &asked, &mut known) {
                    answers.take(row, &scores);
                }
            }
        }
        match &self.endpoint {
            _ if missing.is_empty() => {}
            Some(endpoint) => self.ask(endpoint, &asked, &missing, answers)?,
            None => {
                self.replayed(&missing.iter().map(|number| &asked.questions[*number]).collect::<Vec<_>>())?;
            }
        }
        self.refuse_unreadable()
    }

    fn sign(&self) -> Vec<(&'static str, String)> {
        let used = std::mem::take(&mut self.lock().used);
        let models: BTreeSet<&str> = used
            .iter()
            .filter_map(|one| Some(one.split_once(' ')?.1))
            .filter(|model| !model.is_empty())
            .collect();
        let model = match models.len() {
            0 => self.model.clone(),
            _ => models.into_iter().collect::<Vec<_>>().join("+"),
        };
        let all: Vec<&str> = used.iter().map(String::as_str).collect();
        let judgements = hex(&Sha256::digest(all.join("\n")), 6);
        vec![("model", written(&model)), ("judgements", judgements)]
    }

    fn notices(&self) -> Vec<Notice> {
        let mut known = self.lock();
        let (n_asked, n_replayed) =
            (std::mem::take(&mut known.n_asked), std::mem::take(&mut known.n_replayed));
        let unreadable = std::mem::take(&mut known.unreadable);
        let (name, path) = (&self.judge.name, self.record.path());
        let mut notices: Vec<Notice> = self.record.notice().into_iter().collect();
        let message = match (n_asked, n_replayed) {
            (0, old) => format!("{name}: all {} answers were in {path}", grouped(old as u64)),
            (new, old) => {
                let spent = std::mem::take(&mut known.spent);
                let cost = match &self.judge.prices {
                    Some(prices) => format!(", {}", prices.told(spent.tokens)),
                    None => String::new(),
                };
                let [question, answer] = spent.tokens.map(grouped);
                let before = if old > 0 {
                    format!(", and {} were there before", grouped(old as u64))
                } else {
                    String::new()
                };
                format!(
                    "{name}: {} answers are new in {path}{before}; they took {} requests, {question} tokens of \
                     questions and {answer} of answers{cost}",
                    grouped(new as u64),
                    grouped(spent.requests),
                )
            }
        };
        notices.push(Notice::new(Code::Judge, message));
        if let Some((_, why)) = unreadable.values().next() {
            let n = unreadable.len();
            let score = self.judge.unreadable.unwrap_or_default();
            let what = if n == 1 {
                "1 answer cannot be read, and counts"
            } else {
                "answers cannot be read, and count"
            };
            let what = if n == 1 { what.to_owned() } else { format!("{n} {what}") };
            let message = format!("{name}: {what} as {score}, as the judge says: {why}");
            let images = unreadable.values().filter_map(|(image, _)| image.clone()).take(Notice::MAX_IDS);
            notices.push(Notice::new(Code::Unreadable, message).count(n).ids(images.collect()));
        }
        notices
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let known = self.lock();
        let answered: Vec<ReadAnswer> = about(&self.judge, row)
            .iter()
            .map(|question| known.answers.get(&question.hash).cloned())
            .collect::<Option<_>>()?;
        drop(known);
        let grade = |one: &ReadAnswer, at: usize| match &one.reading {
            Reading::Read { values, .. } => values.get(at).copied().unwrap_or_default(),
            Reading::Unreadable(_) => self.judge.unreadable.unwrap_or_default(),
        };
        let labels: Vec<&str> = self.parts().iter().map(|part| part.label.as_str()).collect();
        let scores = match (self.judge.kind, &answered[..], &labels[..]) {
            (Kind::Score, [one], [label]) => {
                vec![Step { parts: vec![said(one)], ..Step::given(*label, grade(one, 0)) }]
            }
            (Kind::Pairwise, [first, second], [label]) => {
                let order = |title: &str, value: f64, one: &ReadAnswer| Step {
                    parts: vec![said(one)],
                    ..Step::given(title, value)
                };
                let parts = vec![
                    order("shown first", grade(first, 0), first),
                    order("shown second", 1.0 - grade(second, 0), second),
                ];
                let values: Vec<f64> = parts.iter().filter_map(|part| part.value).collect();
                vec![Step::of(*label, (BOTH_ORDERS.of)(&values), BOTH_ORDERS, parts)]
            }
            (Kind::Checklist, [one], [coverage, precision]) => {
                let [items, mentioned, right] = [0, 1, 2].map(|at| grade(one, at));
                let quotient = |label: &str, above: (&str, f64), below: (&str, f64)| {
                    let parts = [above, below].map(|(title, value)| Step::given(title, value)).to_vec();
                    Step::of(label, (Rule::QUOTIENT.of)(&[above.1, below.1]), Rule::QUOTIENT, parts)
                };
                let mut scores = vec![
                    quotient(coverage, ("mentioned", mentioned), ("items", items)),
                    quotient(precision, ("right", right), ("mentioned", mentioned)),
                ];
                scores[0].parts.push(said(one));
                scores
            }
            _ => return None,
        };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let references = row.references.iter().map(|reference| words(reference)).collect();
        Some(Explanation { candidate: words(row.candidate), references, scores })
    }
}

/// The answer of a model, for people.
fn said(one: &ReadAnswer) -> Step {
    let ReadAnswer { judgement, reading } = one;
    let answer = match judgement.answer.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &judgement.answer[..end]),
        None => judgement.answer.clone(),
    };
    let why = match reading {
        Reading::Read { reason, .. } => reason.clone().filter(|reason| !reason.is_empty()),
        Reading::Unreadable(why) => Some(format!("cannot be read: {why}")),
    };
    let mut parts = vec![Step::heading("answer", Vec::new()).noted(answer)];
    if let Some(why) = why {
        parts.insert(0, Step::heading("reason", Vec::new()).noted(why));
    }
    let model = judgement.model.as_deref().unwrap_or(&judgement.asked);
    Step::heading(format!("judged by {}", start(model).trim_matches('"')), parts)
}

/// A name as it can stand in a signature.
fn written(name: &str) -> String {
    name.chars()
        .map(|c| if c == '|' || c == ':' || c.is_whitespace() || c.is_control() { '_' } else { c })
        .collect()
}
