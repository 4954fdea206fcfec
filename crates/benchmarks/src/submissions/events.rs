//! Streams the progress of a submission as events, so that clients need not poll.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use capeval_api::SubmissionState;
use capeval_site::prelude::*;
use futures_util::Stream;
use futures_util::stream::unfold;

use super::records::{SeenSubmission, api_submission};

/// The time between two looks at the state.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest time of a stream; clients then request another.
const LONGEST: Duration = Duration::from_secs(60);

/// Streams that one person may ask for in a minute.
const STREAMS: u32 = 60;

/// A stream that is being sent.
struct Progress {
    app: App,
    visitor: Visitor,
    id: String,
    /// The event that was sent last.
    last: String,
    start: Instant,
    is_over: bool,
}

/// Sends the submission as JSON now and whenever it changes, until its state cannot change any more.
pub(super) async fn events(
    app: App,
    visitor: Visitor,
    Own(of): Own<SeenSubmission>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    app.limits.take("streams", &visitor.id, STREAMS)?;
    let id = of.submission.id;
    let progress =
        Progress { app, visitor, id, last: String::new(), start: clock::instant(), is_over: false };
    Ok(Sse::new(unfold(progress, next)).keep_alive(KeepAlive::default()))
}

async fn next(mut progress: Progress) -> Option<(Result<Event, Infallible>, Progress)> {
    loop {
        if progress.is_over
            || progress.app.is_stopping.load(Ordering::Relaxed)
            || clock::instant().saturating_duration_since(progress.start) > LONGEST
        {
            return None;
        }
        let submission = api_submission(&progress.app, &progress.visitor, &progress.id).await.ok()?;
        progress.is_over = !submission.state.known().is_some_and(SubmissionState::is_open);
        let text = serde_json::to_string(&submission).ok()?;
        if text != progress.last {
            progress.last.clone_from(&text);
            return Some((Ok(Event::default().event("submission").data(text)), progress));
        }
        tokio::time::sleep(PAUSE).await;
    }
}
