//! A board to embed in a page of another site: a table without menu, forms or the visitor's account, which any page may
//! frame.

use askama::Template;
use axum::response::Response;
use capeval_api::SubmissionKind;
use capeval_site::prelude::*;
use capeval_site::web::middleware::embeddable;
use capeval_tasks::MeasureInfo;

use super::public::{as_public, public_board};
use crate::board::{Board, BoardQuery, Candidate, score_text, short};
use crate::records::SeenPhase;

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbeddedBoard<'a> {
    page: &'a Page,
    of: &'a SeenPhase,
    board: &'a Board,
    address: String,
}

impl EmbeddedBoard<'_> {
    fn label(&self, measure: &MeasureInfo) -> String {
        short(&measure.label).to_owned()
    }

    fn score(&self, entry: &Candidate, measure: &MeasureInfo) -> String {
        entry
            .score(measure)
            .map_or_else(String::new, |score| score_text(score, measure, self.of.phase.decimals))
    }
}

pub async fn show(
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Response> {
    let of = as_public(of)?;
    let board = public_board(&app, &of, &asked).await?;
    // A frame shows nothing of the person who looks at it.
    let page = Page { visitor: None, done: None, ..page };
    let address = app.settings.link(&asked.address(&of.address("leaderboard")));
    let shown = page.show(&EmbeddedBoard { page: &page, of: &of, board: &board, address })?;
    Ok(embeddable(shown))
}
