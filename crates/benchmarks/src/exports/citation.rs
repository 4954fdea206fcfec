//! The citation of a benchmark: the one that its hosts set, or else its title, site, address and year.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use capeval_site::prelude::*;

use crate::records::SeenBenchmark;
use crate::settings::Benchmark;

/// The day on which a benchmark was created.
async fn day(app: &App, benchmark: &Benchmark) -> Result<String, Error> {
    let sql = "SELECT created_at FROM benchmark WHERE id = $1";
    let created: i64 = app.store.fetch_one(sql, args![&benchmark.id]).await?;
    Ok(clock::iso(created)[..10].to_owned())
}

/// The citation of a benchmark in BibTeX.
pub async fn of(app: &App, benchmark: &Benchmark) -> Result<String, Error> {
    if !benchmark.citation.is_empty() {
        return Ok(format!("{}\n", benchmark.citation.trim_end()));
    }
    let address = app.settings.url(&format!("/b/{}", benchmark.slug));
    let day = day(app, benchmark).await?;
    Ok(format!(
        "@misc{{{},\n  title = {{{{{}}}}},\n  publisher = {{{}}},\n  year = {{{}}},\n  howpublished = {{\\url{{{address}}}}}\n}}\n",
        benchmark.slug,
        in_tex(&benchmark.title),
        in_tex(&app.settings.title),
        &day[..4]
    ))
}

/// A text without signs that mean something in TeX.
fn in_tex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

pub async fn bibtex(app: App, Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    let text = of(&app, &seen.benchmark).await?;
    Ok(([(header::CONTENT_TYPE, "application/x-bibtex; charset=utf-8")], text).into_response())
}

pub async fn cff(
    app: App,
    Visible(SeenBenchmark { benchmark, .. }): Visible<SeenBenchmark>,
) -> Result<Response> {
    // Texts of JSON are texts of YAML.
    let quoted = |text: &str| serde_json::to_string(text);
    let text = format!(
        "cff-version: 1.2.0\nmessage: \"If you use this benchmark, please cite it.\"\ntype: dataset\ntitle: {}\n\
         authors:\n  - name: {}\nabstract: {}\nurl: {}\ndate-released: {}\n",
        quoted(&benchmark.title)?,
        quoted(&app.settings.title)?,
        quoted(if benchmark.summary.is_empty() { &benchmark.title } else { &benchmark.summary })?,
        quoted(&app.settings.url(&format!("/b/{}", benchmark.slug)))?,
        day(&app, &benchmark).await?
    );
    Ok(([(header::CONTENT_TYPE, "application/yaml; charset=utf-8")], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::in_tex;

    #[test]
    fn titles_are_no_commands() {
        assert_eq!(
            in_tex("A&B_{x} \\input~^100%"),
            "A\\&B\\_\\{x\\} \\textbackslash{}input\\textasciitilde{}\\textasciicircum{}100\\%"
        );
    }
}
