//! Language models that grade captions. A judge is a file that describes the query and how answers are read. Queries go
//! to any server with OpenAI's chat API. Every answer goes to a file, from which the same scores can be computed again
//! without the server.

mod agree;
mod answer;
mod ask;
mod builtin;
mod chat;
mod endpoint;
mod judge;
mod metric;
mod pace;
mod plan;
mod question;
mod record;
mod template;
mod trial;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use capeval::{Outside, OutsideLabel};
use capeval_choice::{Argument, Refusal, Remedy};
use capeval_files::Error;

pub use agree::{Agreement, JudgeAgreement, KIND, agree};
pub use builtin::{BuiltIn, JUDGES};
pub use endpoint::Key;
pub use plan::Plan;
pub use trial::{Trial, TrialRequest, trial_needs, try_judge};

use crate::programs::is_path;
use endpoint::Endpoint;
use judge::Judge;
use metric::Grader;
use pace::Budget;
use record::Record;

/// Reads bytes as everything that comes from files and servers, for fuzz targets; none of it may panic.
#[cfg(fuzzing)]
pub fn fuzz(bytes: &[u8]) {
    use std::sync::LazyLock;
    let _ = Judge::read(bytes, false);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = chat::response(text);
    chat::complaint(text);
    record::fuzz(text);
    let words: Vec<&str> = text.split('\n').collect();
    static KNOWN: LazyLock<Vec<Judge>> =
        LazyLock::new(|| JUDGES.iter().flat_map(|known| Judge::read(known.file.as_bytes(), true)).collect());
    for judge in KNOWN.iter() {
        let values = template::Values { candidate: text, references: &words, pair: [text, text] };
        for message in &judge.messages {
            message.text.fill(&values, &judge.references, &judge.items);
        }
    }
    answer::fuzz(text);
}

/// Is told what a run is about to ask, and agrees or refuses.
pub type Consent = Arc<dyn Fn(&Plan) -> Result<(), Refusal> + Send + Sync>;

/// Whom judges ask, and where their answers are kept.
#[derive(Clone, Debug, Default)]
pub struct Judging {
    /// The address of a server that speaks OpenAI's chat API.
    pub endpoint: Option<String>,
    /// The model, for judges that name none, and instead of the one that they name.
    pub model: Option<String>,
    /// Its key.
    pub key: Option<Key>,
    /// The file of judgements.
    pub judgements: Option<String>,
    /// True to read recorded judgements only, and send no requests.
    pub replay: bool,
    /// How fast and how much is asked.
    pub limits: Limits,
}

/// How fast and how much is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The number of requests at a time, from 1 to 256.
    pub at_once: usize,
    /// The most requests that may be answered.
    pub requests: Option<u64>,
    /// The most tokens that questions and answers may take.
    pub tokens: Option<u64>,
    /// How long a server may take for an answer.
    pub timeout: Duration,
    /// The pause after the first failure of a request, which doubles with each.
    pub first_pause: Duration,
    /// True if the file of judgements counts, so that the limits are those of all runs together.
    pub over_all_runs: bool,
}

/// The most requests at a time.
const MOST_AT_ONCE: usize = 256;

impl Default for Limits {
    fn default() -> Self {
        Self {
            at_once: 8,
            requests: None,
            tokens: None,
            timeout: Duration::from_secs(300),
            first_pause: Duration::from_millis(500),
            over_all_runs: false,
        }
    }
}

impl Judging {
    /// Returns true if anything is set.
    fn is_set(&self) -> bool {
        self.endpoint.is_some() || self.model.is_some() || self.judgements.is_some() || self.replay
    }
}

/// Returns true if a name of a metric is the path of a file that describes a judge.
pub(crate) fn is_file_of_judge(name: &str) -> Result<bool, Error> {
    Ok(is_path(name) && !name.contains("://") && judge::is_judge(&capeval_files::read(name)?))
}

/// Which of these names of metrics are judges: those of capeval, and paths of files that describe one.
pub fn names(names: &[String]) -> Result<Vec<String>, Error> {
    let mut judges: Vec<String> = Vec::new();
    for name in names {
        if !judges.contains(name) && (builtin::is_name(name) || is_file_of_judge(name)?) {
            judges.push(name.clone());
        }
    }
    Ok(judges)
}

/// Builds the judges of these names, which [`names`] gave.
///
/// # Errors
/// When a file describes no judge, when nothing says whom to ask or where answers are kept, or when something is set
/// and there is no judge.
pub fn read(names: &[String], judging: &Judging, consent: &Consent) -> Result<Vec<Arc<dyn Outside>>, Error> {
    if names.is_empty() {
        return if judging.is_set() {
            Err(Refusal::new("no metric is a judge, which alone asks a language model")
                .with_remedy("add one, such as judge, or leave out what is set for judges")
                .into())
        } else {
            Ok(Vec::new())
        };
    }
    let Judging { endpoint, model, key, judgements, replay, limits } = judging;
    if !(1..=MOST_AT_ONCE).contains(&limits.at_once) {
        let why = format!("{} requests at a time are not between 1 and {MOST_AT_ONCE}", limits.at_once);
        return Err(Refusal::new(why).into());
    }
    let first = &names[0];
    let path = judgements.as_deref().ok_or_else(|| {
        Refusal::new(format!("{first} keeps every answer in a file, and none is named"))
            .with_remedy(Remedy::set(Argument::Judgements, "judgements.jsonl"))
    })?;
    let endpoint = match (endpoint, replay) {
        (Some(_), true) => {
            return Err(Refusal::new("a run that only reads judgements asks no server")
                .with_remedy(Remedy::omit(Argument::Endpoint).or(Remedy::omit(Argument::Replay)))
                .into());
        }
        (None, true) => None,
        (Some(address), false) => {
            let endpoint = Endpoint::new(address, key.clone(), limits.timeout);
            Some(Arc::new(endpoint.map_err(|refusal| refusal.at(address.as_str()))?))
        }
        (None, false) => {
            return Err(Refusal::new(format!("{first} asks a language model, and no server is named"))
                .with_remedy(
                    Remedy::set(Argument::Endpoint, "http://localhost:11434/v1")
                        .or(Remedy::give(Argument::Replay).to("use the judgements that are there")),
                )
                .into());
        }
    };
    let judges: Vec<(String, Judge)> =
        names.iter().map(|name| Ok((name.clone(), one(name)?))).collect::<Result<_, Error>>()?;
    let record = Arc::new(if *replay { Record::read(path)? } else { Record::open(path)? });
    let budget = Budget::new(limits.requests, limits.tokens);
    if limits.over_all_runs {
        record.all().iter().for_each(|judgement| budget.count(judgement.tokens.unwrap_or_default()));
    }
    let budget = Arc::new(budget);
    let mut built: Vec<Arc<dyn Outside>> = Vec::with_capacity(judges.len());
    for (spec, judge) in judges {
        let model = asked(&judge, model.as_deref(), &record, *replay)?;
        built.push(Arc::new(Grader {
            label: OutsideLabel::new(spec, judge.parts()),
            judge: Arc::new(judge),
            model,
            record: Arc::clone(&record),
            endpoint: endpoint.clone(),
            budget: Arc::clone(&budget),
            limits: limits.clone(),
            consent: Arc::clone(consent),
            known: Mutex::default(),
        }));
    }
    Ok(built)
}

fn one(name: &str) -> Result<Judge, Error> {
    if let Some(judge) = builtin::find(name) {
        return Ok(judge?);
    }
    let bytes = capeval_files::read(name)?;
    Ok(Judge::read(&bytes, false).map_err(|refusal| refusal.at(name))?)
}

/// The model that a judge asks; without one, a run that only reads judgements takes the one that was asked.
fn asked(judge: &Judge, model: Option<&str>, record: &Record, is_replay: bool) -> Result<String, Refusal> {
    if let Some(model) = model.or(judge.model.as_deref()) {
        return Ok(model.to_owned());
    }
    let name = &judge.name;
    let models = if is_replay { record.asked(&judge.asks) } else { Vec::new() };
    match &models[..] {
        [model] => Ok(model.clone()),
        [] if is_replay => {
            Err(Refusal::new(format!("{}: there is no answer to what {name} asks", record.path()))
                .with_remedy("use the judge of the run that wrote the file"))
        }
        [] => Err(Refusal::new(format!("no model is named that {name} asks"))
            .with_remedy(Remedy::give(Argument::JudgeModel).to("name one that the server has"))),
        [..] => {
            let why = format!("{}: {name} asked {}", record.path(), models.join(" and "));
            Err(Refusal::new(why).with_remedy(Remedy::give(Argument::JudgeModel).to("name one of them")))
        }
    }
}
