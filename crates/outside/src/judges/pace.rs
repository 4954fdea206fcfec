//! Limits the rate of requests to a server, and their total.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use capeval_choice::{Argument, Refusal, Remedy};

use crate::judges::judge::Prices;

/// The longest pause that a server can ask for.
const PATIENCE: Duration = Duration::from_secs(600);

/// The longest pause between attempts of our own.
const LONGEST: Duration = Duration::from_secs(60);

/// The number of requests in a row that a busy server may turn away.
const MOST_IN_A_ROW: u32 = 100;

/// The pauses between requests, which all threads keep.
#[derive(Debug)]
pub struct Pace {
    /// The first pause after a failure, which doubles with each.
    base: Duration,
    until: Mutex<Option<Instant>>,
    turned_away: AtomicU32,
}

impl Pace {
    pub fn new(base: Duration) -> Self {
        Self { base, until: Mutex::default(), turned_away: AtomicU32::new(0) }
    }

    /// Waits until the server wants requests again, or `stop` is set.
    pub fn wait(&self, stop: &AtomicBool) {
        while let Some(until) = *self.until.lock().unwrap_or_else(PoisonError::into_inner) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    /// Makes all threads wait.
    pub fn pause(&self, span: Duration) {
        let mut until = self.until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Some(Instant::now() + span));
    }

    /// A server is busy; the error if it has been for too long.
    pub fn turned_away(&self, why: &str, wait: Option<Duration>) -> Result<(), Refusal> {
        let n = self.turned_away.fetch_add(1, Ordering::Relaxed);
        if let Some(wait) = wait.filter(|wait| *wait > PATIENCE) {
            let minutes = wait.as_secs().div_ceil(60);
            return Err(Refusal::new(format!("{why}; it wants a pause of {minutes} minutes"))
                .with_remedy("run again then: what was answered is kept"));
        }
        if n >= MOST_IN_A_ROW {
            return Err(Refusal::new(format!("{why}; so it did {n} times, and answered nothing in between"))
                .with_remedy("run again later: what was answered is kept"));
        }
        self.pause(wait.unwrap_or_else(|| self.backoff(n.min(8))));
        Ok(())
    }

    /// An answer came.
    pub fn answered(&self) {
        self.turned_away.store(0, Ordering::Relaxed);
    }

    /// The pause after failure number `n`: twice as long as the one before, and up to half of it shorter, so that
    /// threads do not come back together.
    pub fn backoff(&self, n: u32) -> Duration {
        let span = self.base.saturating_mul(1 << n.min(16)).min(LONGEST);
        let random = RandomState::new().hash_one(Instant::now()) >> 11;
        span.mul_f64(1.0 - 0.5 * (random as f64 / (1_u64 << 53) as f64))
    }
}

/// The limits of requests, and the requests so far.
#[derive(Debug, Default)]
pub struct Budget {
    most_requests: Option<u64>,
    most_tokens: Option<u64>,
    spent: Mutex<Spent>,
}

/// The requests so far, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub requests: u64,
    /// The tokens of questions and answers, as the server counts them, or as they were estimated.
    pub tokens: [u64; 2],
    /// Tokens that requests on their way may take.
    reserved: u64,
}

impl Spent {
    /// The requests since then.
    pub fn since(self, before: Self) -> Self {
        let tokens = [0, 1].map(|side| self.tokens[side] - before.tokens[side]);
        Self { requests: self.requests - before.requests, tokens, reserved: 0 }
    }
}

impl Budget {
    pub fn new(most_requests: Option<u64>, most_tokens: Option<u64>) -> Self {
        Self { most_requests, most_tokens, spent: Mutex::default() }
    }

    /// Allows a request that takes about so many tokens.
    pub fn reserve(&self, tokens: [u64; 2]) -> Result<(), Refusal> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let refuse = |argument, most: u64| {
            Err(Refusal::new(format!("the limit of {most} is reached; what was answered is kept"))
                .with_remedy(Remedy::give(argument).to("go on with the next run")))
        };
        if let Some(most) = self.most_requests.filter(|most| spent.requests >= *most) {
            return refuse(Argument::MaxRequests, most);
        }
        let taken = spent.tokens.iter().sum::<u64>() + spent.reserved + tokens.iter().sum::<u64>();
        if let Some(most) = self.most_tokens.filter(|most| taken > *most) {
            return refuse(Argument::MaxTokens, most);
        }
        spent.requests += 1;
        spent.reserved += tokens.iter().sum::<u64>();
        Ok(())
    }

    /// Counts a request of an earlier run.
    pub fn count(&self, tokens: [u64; 2]) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.requests += 1;
        (0..2).for_each(|side| spent.tokens[side] += tokens[side]);
    }

    /// The requests so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what a request took; `None` if it brought nothing.
    pub fn settle(&self, reserved: [u64; 2], taken: Option<[u64; 2]>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.reserved = spent.reserved.saturating_sub(reserved.iter().sum());
        match taken {
            Some([question, answer]) => {
                spent.tokens[0] += question;
                spent.tokens[1] += answer;
            }
            None => spent.requests = spent.requests.saturating_sub(1),
        }
    }
}

impl Prices {
    /// The cost of tokens.
    pub fn cost(&self, [question, answer]: [u64; 2]) -> f64 {
        (question as f64 * self.input + answer as f64 * self.output) / 1e6
    }

    /// The cost of tokens, in words.
    pub fn told(&self, tokens: [u64; 2]) -> String {
        let cost = self.cost(tokens);
        let digits = if cost < 0.1 { 4 } else { 2 };
        format!("{cost:.digits$} {}", self.currency)
    }
}

/// A number with separators between thousands.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_holds_and_gives_back_what_brought_nothing() {
        let budget = Budget::new(Some(2), Some(100));
        budget.reserve([40, 10]).unwrap();
        let said = budget.reserve([40, 20]).unwrap_err();
        assert_eq!(said.to_string(), "the limit of 100 is reached; what was answered is kept");
        budget.settle([40, 10], None);
        budget.reserve([40, 20]).unwrap();
        budget.settle([40, 20], Some([5, 5]));
        budget.reserve([40, 10]).unwrap();
        let later = Budget::new(Some(2), Some(100));
        later.count([60, 30]);
        assert!(later.reserve([10, 10]).unwrap_err().to_string().contains("limit of 100"));
        later.reserve([5, 5]).unwrap();
        assert!(later.reserve([0, 0]).unwrap_err().to_string().contains("limit of 2"));
        assert!(budget.reserve([1, 1]).unwrap_err().to_string().contains("limit of 2"));
    }

    #[test]
    fn pauses_double_and_differ() {
        let pace = Pace::new(Duration::from_millis(100));
        for n in 0..20 {
            let most = Duration::from_millis(100).saturating_mul(1 << n).min(LONGEST);
            let span = pace.backoff(n);
            assert!(span <= most && span >= most / 2, "{n}: {span:?}");
        }
        assert!(pace.turned_away("busy", Some(Duration::from_secs(3600))).is_err());
    }

    #[test]
    fn costs_are_told() {
        let prices = Prices { input: 0.15, output: 0.6, currency: "USD".to_owned() };
        assert_eq!(prices.told([1_000_000, 500_000]), "0.45 USD");
        assert_eq!(prices.told([1000, 10]), "0.0002 USD");
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
