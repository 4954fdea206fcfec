//! Badges: a picture with two words, such as a benchmark and the place of an entry in it.

use axum::response::Response;
use capeval_site::prelude::*;

use super::public::{as_public, kept, public_board};
use crate::board::{Board, BoardQuery, score_text, short};
use crate::entries::SeenEntry;
use crate::records::SeenPhase;

const KIND: &str = "image/svg+xml; charset=utf-8";

/// The most characters of a side.
const MOST: usize = 40;

pub async fn of_phase(
    app: App,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Response> {
    let of = as_public(of)?;
    let board = public_board(&app, &of, &asked).await?;
    let leader = board.rows.iter().find(|row| row.rank == Some(1));
    let text = leader.map_or_else(
        || "no entries".to_owned(),
        |row| format!("{} · {}", row.entry.team_name, score(&board, &of, row.entry.score(&board.sort))),
    );
    Ok(kept(KIND, svg(&of.seen.benchmark.title, &text)))
}

pub async fn of_entry(
    app: App,
    Visible(entry): Visible<SeenEntry>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Response> {
    let of = as_public(entry.of)?;
    let board = public_board(&app, &of, &asked).await?;
    let row =
        board.rows.iter().find(|row| row.entry.id == entry.submission.id).ok_or_else(Fault::not_found)?;
    let rank = row.rank.map_or(String::new(), |rank| format!("#{rank} of {} · ", board.n_ranked));
    let text = format!("{rank}{}", score(&board, &of, row.entry.score(&board.sort)));
    Ok(kept(KIND, svg(&of.seen.benchmark.title, &text)))
}

fn score(board: &Board, of: &SeenPhase, score: Option<f64>) -> String {
    let score = score.map_or("–".to_owned(), |score| score_text(score, &board.sort, of.phase.decimals));
    format!("{} {score}", short(&board.sort.label))
}

/// Two words beside each other.
fn svg(left: &str, right: &str) -> String {
    let [left, right] = [left, right].map(cut);
    let [first, second] = [&left, &right].map(|text| width(text) + 12);
    let whole = first + second;
    let [left, right] = [&left, &right].map(|text| escaped(text));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"20\" role=\"img\" aria-label=\"{left}: {right}\">\
         <title>{left}: {right}</title><rect width=\"{whole}\" height=\"20\" rx=\"3\" fill=\"#1f4e79\"/>\
         <path d=\"M0 3a3 3 0 0 1 3-3h{}v20H3a3 3 0 0 1-3-3z\" fill=\"#444\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\
         <text x=\"{}\" y=\"14\">{left}</text><text x=\"{}\" y=\"14\">{right}</text></g></svg>",
        first - 3,
        first / 2,
        first + second / 2,
    )
}

fn cut(text: &str) -> String {
    match text.chars().count() > MOST {
        true => text.chars().take(MOST - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// About how wide a text is: the letters of Asia are twice as wide as others.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c as u32 >= 0x1100 { 12 } else { 7 }).sum()
}

fn escaped(text: &str) -> String {
    let named = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")];
    let is_text = |c: &char| !c.is_control();
    named
        .iter()
        .fold(text.chars().filter(is_text).collect(), |text: String, (sign, name)| text.replace(sign, name))
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn badges_are_pictures_whatever_the_names_are() {
        let svg = svg("<script>\"'&", &"描述".repeat(40));
        assert!(svg.contains("&lt;script&gt;&quot;&#39;&amp;: ") && !svg.contains("<script"));
        assert!(svg.contains('…') && svg.ends_with("</svg>"));
    }
}
