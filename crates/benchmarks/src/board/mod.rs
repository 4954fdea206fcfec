//! The board of a phase, as a page and by the API.

mod choices;
mod export;
mod head;
mod intervals;
mod leader;
mod order;
mod page;
mod progress;
mod queries;
mod ranks;
mod standing;

use capeval_site::prelude::*;

use super::records::SeenPhase;

pub use choices::BoardQuery;
pub use export::{as_csv, csv};
pub use leader::{Leader, leader, short};
pub use order::{Candidate, Interval, LEVEL, entry_name, rounded, score_text, strength};
pub use progress::leaders;
pub use queries::{
    Board, Sight, UncomparedPair, board, final_ranks, forget_agreement, sight, uncompared, with_captions,
};
pub use ranks::check_rank_rule;
pub use standing::{StandingCache, all_changed, changed, outdate, wrong_rows};

pub(super) fn routes() -> Vec<Route> {
    let public = Access::Public;
    vec![
        get("/b/{slug}/{phase}/leaderboard", public, "Show the leaderboard of a phase", page::show),
        get("/b/{slug}/{phase}/intervals", public, "Show the intervals of a leaderboard", intervals::show),
        get("/b/{slug}/{phase}/progress", public, "Show the best scores of a phase by date", progress::show),
        get(
            "/api/v1/phases/{id}/progress",
            public,
            "Get the submissions that have stood on the leaderboard, by date",
            progress::for_programs,
        ),
        get(
            "/api/v1/phases/{id}/leaderboard",
            public,
            "Get the leaderboard of a phase, as JSON or CSV",
            for_programs,
        )
        .sends(200, "text/csv"),
    ]
}

async fn for_programs(
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Answer<capeval_api::Board>> {
    export::export(&app, &of, page.visitor.as_ref(), &asked).await
}
