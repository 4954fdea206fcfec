//! Tries a judge on a few captions, and shows everything that it sends and reads.

use capeval::{OutsideRow, Sight};
use capeval_choice::{Argument, Refusal, Remedy};
use capeval_files::Error;
use serde_json::Value;

use crate::judges::answer::{Answer, Reading, start};
use crate::judges::ask::{advice, read};
use crate::judges::endpoint::{Endpoint, Outcome};
use crate::judges::metric::about;
use crate::judges::record::Judgement;
use crate::judges::template::Field;
use crate::judges::{Judging, chat, one};

/// A question that was sent, and what came of it.
pub struct Trial {
    /// Its subject, such as `image 7`.
    pub told: String,
    /// The body of the request; the data of pictures are cut.
    pub sent: Value,
    /// The answer as it came.
    pub came: Option<String>,
    /// The grade that is read from it, or why there is none.
    pub read: Result<String, Refusal>,
}

/// A judge on trial.
pub struct TrialRequest<'r> {
    /// The name of a judge, or the path of its file.
    pub judge: &'r str,
    /// Whom it asks.
    pub judging: &'r Judging,
    /// The captions that it is asked about.
    pub rows: Vec<OutsideRow<'r>>,
}

/// What a judge on trial needs beside captions.
pub fn trial_needs(name: &str) -> Result<(bool, Sight), Error> {
    let judge = one(name)?;
    let needs_references = judge.has(Field::References) || judge.has(Field::Items);
    Ok((needs_references, if judge.has(Field::Image) { Sight::Needed } else { Sight::None }))
}

/// Asks a judge about each row once, and keeps nothing.
///
/// # Errors
/// When no server or model is named, or the judge cannot be read. What the server says is part of the result.
pub fn try_judge(request: &TrialRequest<'_>) -> Result<Vec<Trial>, Error> {
    let TrialRequest { judge: name, judging, rows } = request;
    let judge = one(name)?;
    let address = judging.endpoint.as_deref().ok_or_else(|| {
        Refusal::new(format!("{name} asks a language model, and no server is named"))
            .with_remedy(Remedy::set(Argument::Endpoint, "http://localhost:11434/v1"))
    })?;
    let model = judging.model.as_deref().or(judge.model.as_deref()).ok_or_else(|| {
        Refusal::new(format!("no model is named that {name} asks"))
            .with_remedy(Remedy::give(Argument::JudgeModel).to("name one that the server has"))
    })?;
    let endpoint = Endpoint::new(address, judging.key.clone(), judging.limits.timeout);
    let endpoint = endpoint.map_err(|refusal| refusal.at(address))?;
    let mut trials = Vec::new();
    for question in rows.iter().flat_map(|row| about(&judge, row)) {
        let shown = question.shown()?;
        let picture = shown.as_ref().map(|shown| shown.address.as_str());
        let body = chat::body(&judge, model, &question.messages, picture);
        let cut = picture.map(|address| address.chars().take(40).chain(['…']).collect::<String>());
        let sent = chat::body(&judge, model, &question.messages, cut.as_deref());
        let (came, read) = match endpoint.ask(&body) {
            Outcome::Answered(response, _) => {
                let chat::Response { answer: Answer { text, tokens }, finish, .. } = *response;
                let judgement =
                    Judgement { answer: text.clone(), probabilities: tokens, finish, ..Judgement::default() };
                let read = match read(&judge, question.n_items, &judgement) {
                    Reading::Read { values, reason } => {
                        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                        let reason = reason.map(|reason| format!(", since {}", start(&reason)));
                        Ok(values.join(", ") + &reason.unwrap_or_default())
                    }
                    Reading::Unreadable(why) => Err(Refusal::new(why)),
                };
                (Some(text), read)
            }
            Outcome::Refused(why, objection) => {
                (None, Err(Refusal::new(why).with_remedy(advice(&judge, &objection))))
            }
            Outcome::Hopeless(refusal) => (None, Err(refusal)),
            Outcome::Failed(why) | Outcome::Busy(why, _) => (None, Err(Refusal::new(why))),
        };
        trials.push(Trial { told: question.told, sent, came, read });
    }
    Ok(trials)
}
