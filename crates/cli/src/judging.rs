//! The flags of judges: whom they ask, where answers are kept, and how much may be asked.

use std::env;
use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use capeval::choice::Refusal;
use capeval_outside::judges::{Consent, Judging, Key, Limits};

use crate::messages;

/// The environment variable with the key, unless a flag names another.
const KEY: &str = "CAPEVAL_API_KEY";

/// Whom judges ask.
#[derive(clap::Args)]
#[command(next_help_heading = "Judges (language models)")]
pub struct JudgingArgs {
    /// Server with OpenAI's chat API, such as http://localhost:11434/v1 for Ollama.
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// Model to query, if the judge names none, or instead of the one that it names.
    #[arg(long, value_name = "NAME")]
    judge_model: Option<String>,
    /// File with the server's API key [default: the environment variable CAPEVAL_API_KEY, or no key].
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<String>,
    /// Environment variable with the API key, instead of CAPEVAL_API_KEY.
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_file")]
    api_key_env: Option<String>,
    /// File of judgements: every answer is added to it at once, and questions answered in it are not sent again.
    #[arg(long, value_name = "FILE")]
    judgements: Option<String>,
    /// Send no requests; read all answers from the file of judgements.
    #[arg(long)]
    replay: bool,
    /// Number of concurrent requests.
    #[arg(long, value_name = "N", default_value_t = Limits::default().at_once)]
    requests_at_once: usize,
    /// Maximum number of answered requests in this run.
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Maximum number of tokens in this run, in questions and answers.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Seconds to wait for an answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = seconds)]
    answer_timeout: f64,
}

fn seconds(text: &str) -> Result<f64, String> {
    let given = text.parse().ok().filter(|seconds| (0.001..=86_400.0).contains(seconds));
    given.ok_or_else(|| "must be a number of seconds, up to 86,400".to_owned())
}

impl JudgingArgs {
    /// The settings for judges; the key is read only if a question is sent.
    pub fn judging(&self) -> Result<Judging> {
        let key = if self.endpoint.is_some() { self.key()? } else { None };
        Ok(Judging {
            endpoint: self.endpoint.clone(),
            model: self.judge_model.clone(),
            key,
            judgements: self.judgements.clone(),
            replay: self.replay,
            limits: Limits {
                at_once: self.requests_at_once,
                requests: self.max_requests,
                tokens: self.max_tokens,
                timeout: Duration::from_secs_f64(self.answer_timeout),
                ..Limits::default()
            },
        })
    }

    fn key(&self) -> Result<Option<Key>> {
        if let Some(path) = &self.api_key_file {
            let text = capeval_files::text(path)?;
            return Ok(Some(Key::read(&text).map_err(|refusal| refusal.at(path.as_str()))?));
        }
        let name = self.api_key_env.as_deref().unwrap_or(KEY);
        match env::var(name) {
            Ok(text) => Ok(Some(Key::read(&text).map_err(|refusal| refusal.at(name))?)),
            Err(_) if self.api_key_env.is_some() => {
                let refusal =
                    Refusal::new(format!("the environment variable {name} is not set, or not text"));
                Err(refusal.with_remedy("set it to the key, or use --api-key-file FILE").into())
            }
            Err(_) => Ok(None),
        }
    }
}

/// Asks before requests are sent, unless the user has agreed.
pub fn consent(has_agreed: bool) -> Consent {
    Arc::new(move |plan| {
        if has_agreed {
            messages::say(&plan.to_string());
            return Ok(());
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(Refusal::new(plan.to_string()).with_remedy("agree to that with --yes"));
        }
        let mut answer = String::new();
        let asked = write!(io::stderr(), "{plan}. Continue? [y/N] ")
            .and_then(|()| io::stdin().lock().read_line(&mut answer));
        match (asked, answer.trim()) {
            (Ok(_), "y" | "Y" | "yes") => Ok(()),
            _ => Err(Refusal::new("nothing was asked").with_remedy("answer y to go on")),
        }
    })
}
