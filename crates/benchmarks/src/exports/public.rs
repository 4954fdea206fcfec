//! What everyone may see, regardless of who sends the request: for responses that caches keep and other sites show.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use capeval_site::prelude::*;

use crate::board::{self, Board, BoardQuery};
use crate::records::{self, SeenBenchmark, SeenPhase, Visibility};

/// How long others keep an answer.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// A phase as someone sees it who is not signed in; not found if they do not.
pub fn as_public(of: SeenPhase) -> Result<SeenPhase> {
    let SeenPhase { seen: SeenBenchmark { benchmark, .. }, phase } = of;
    if benchmark.draft || benchmark.visibility != Visibility::Public {
        return Err(Fault::not_found());
    }
    Ok(SeenPhase { seen: SeenBenchmark { benchmark, is_host: false }, phase })
}

/// The board of such a phase; not found if its scores are not for everyone.
pub async fn public_board(app: &App, of: &SeenPhase, asked: &BoardQuery) -> Result<Board> {
    let sets = records::sets(&app.store, of).await?;
    board::board(app, of, &sets, None, asked).await?.ok_or_else(Fault::not_found)
}

/// An answer that caches may keep.
pub fn kept(kind: &'static str, text: String) -> Response {
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(kind)), (header::CACHE_CONTROL, KEPT)];
    (headers, text).into_response()
}
