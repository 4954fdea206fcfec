//! Exports: an archive of a benchmark for its hosts; for everyone, badges, a feed, a board to embed, a citation, and
//! descriptions in the formats of other sites.
//!
//! All scores are read through the board, so no export contains what the board hides.

mod archive;
mod badge;
mod citation;
mod croissant;
mod embed;
mod entry_files;
mod feed;
mod public;

use capeval_site::prelude::*;

pub use archive::write as write_archive;
pub use citation::of as citation;

pub(super) fn routes() -> Vec<Route> {
    let (public, host) = (Access::Public, Access::Host);
    vec![
        get("/b/{slug}/archive.zip", host, "Download all of a benchmark but its references", archive::send)
            .and("/api/v1/host/benchmarks/{slug}/archive")
            .sends(200, archive::KIND),
        get("/b/{slug}/cite.bib", public, "Cite a benchmark, as BibTeX", citation::bibtex),
        get("/b/{slug}/CITATION.cff", public, "Cite a benchmark, as a citation file", citation::cff),
        get(
            "/b/{slug}/croissant.json",
            public,
            "Describe a benchmark and its files, as Croissant",
            croissant::show,
        )
        .and("/api/v1/benchmarks/{slug}/croissant")
        .sends(200, croissant::KIND),
        get(
            "/b/{slug}/feed.json",
            public,
            "Follow announcements and new leaders, as a JSON Feed",
            feed::show,
        )
        .and("/api/v1/benchmarks/{slug}/feed")
        .sends(200, feed::KIND),
        get("/b/{slug}/{phase}/badge.svg", public, "Show who leads a phase, as a badge", badge::of_phase),
        get(
            "/b/{slug}/{phase}/leaderboard/embed",
            public,
            "Show a leaderboard in a page of another site",
            embed::show,
        ),
        get(
            "/b/{slug}/{phase}/entries/{submission}/badge.svg",
            public,
            "Show the place of an entry, as a badge",
            badge::of_entry,
        ),
        get(
            "/b/{slug}/{phase}/entries/{submission}/every-eval-ever.json",
            public,
            "Describe an entry, as Every Eval Ever",
            entry_files::every_eval_ever,
        )
        .and("/api/v1/phases/{id}/entries/{submission}/every-eval-ever")
        .sends(200, "application/json"),
        get(
            "/b/{slug}/{phase}/entries/{submission}/eval-results.yaml",
            public,
            "Describe an entry, as a file of .eval_results of Hugging Face",
            entry_files::eval_results,
        ),
    ]
}
