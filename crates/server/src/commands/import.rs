//! The command that imports pictures and captions into a collection.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use capeval_choice::counted;
use capeval_collections::import::{self, LeftOut, Order, Reason, Summary};
use capeval_collections::records;
use capeval_site::app::App;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

#[derive(Args)]
pub(super) struct Import {
    /// Part of the collection's address.
    slug: String,
    /// Folder with the pictures, which may have folders in it.
    #[arg(long, value_name = "DIR")]
    pictures: PathBuf,
    /// File with captions, in any format that `capeval score` reads as references; repeatable. Pictures belong to the
    /// ids after which they are named, or that the list of images of a COCO file gives them. Only pictures that a file
    /// names are imported [default: all pictures of the folder, without captions].
    #[arg(long, value_name = "FILE")]
    captions: Vec<PathBuf>,
    /// The source, as moderators and releases see it, such as "COCO val2014".
    #[arg(long, value_name = "NAME")]
    source: String,
    /// Licence of the pictures and captions, such as CC-BY-4.0.
    #[arg(long)]
    licence: String,
    /// Whom the licence asks to name, and how.
    #[arg(long, value_name = "TEXT", default_value = "")]
    attribution: String,
    /// Language of captions whose file has no column or key `lang` [default: that of the collection, if it has one].
    #[arg(long)]
    language: Option<String>,
    /// Column or key with the ids of images.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// Column or key with captions; repeatable.
    #[arg(long, value_name = "NAME")]
    caption_column: Vec<String>,
    /// Count the captions as accepted, without ratings.
    #[arg(long)]
    accepted: bool,
    /// Email address of the host who answers for the import.
    #[arg(long, value_name = "EMAIL")]
    by: Option<String>,
    /// Import nothing, and tell what would be imported: every picture is decoded, and every caption checked.
    #[arg(long)]
    check: bool,
}

pub(super) async fn import(app: &App, given: Import) -> anyhow::Result<()> {
    let collection = records::by_slug(&app.store, &given.slug).await?.with_context(|| {
        format!("there is no collection {}; create it with `admin collection apply`", given.slug)
    })?;
    let by = match &given.by {
        Some(email) => Some(super::account(app, email).await?),
        None => None,
    };
    let order = Order {
        pictures: given.pictures,
        captions: given.captions,
        id_column: given.id_column,
        caption_columns: (!given.caption_column.is_empty()).then_some(given.caption_column),
        language: given.language,
        source: given.source,
        licence: given.licence,
        attribution: given.attribution,
        are_accepted: given.accepted,
        by,
    };
    let bar = match std::io::stderr().is_terminal() {
        true => ProgressBar::new(0),
        false => ProgressBar::hidden(),
    };
    if let Ok(style) = ProgressStyle::with_template("pictures {wide_bar} {human_pos}/{human_len} {eta} left")
    {
        bar.set_style(style);
    }
    let advance = |done: usize, of: usize| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    };
    let summary = import::run(app, &collection, &order, given.check, advance).await;
    bar.finish_and_clear();
    let summary = summary?;
    let mut text = summary_lines(&summary, given.check, given.accepted);
    if !given.check {
        text.push(app.settings.link(&format!("/c/{}", collection.slug)));
    }
    text.push(String::new());
    // A reader such as `head` may close the pipe early.
    let _ = std::io::stdout().write_all(text.join("\n").as_bytes());
    Ok(())
}

/// The result of an import, or of its check, in lines.
fn summary_lines(summary: &Summary, is_check: bool, are_accepted: bool) -> Vec<String> {
    let Summary { pictures, waiting, captions, known_pictures, known_captions, left_out } = summary;
    let imported = if is_check { "would import" } else { "imported" };
    let n_captions: usize = captions.values().sum();
    let mut lines = vec![
        format!("{imported} {}", counted(*pictures, "picture")),
        format!("{imported} {}{}", counted(n_captions, "caption"), by_language(captions)),
    ];
    if *waiting > 0 {
        let look = if *waiting == 1 { "looks" } else { "look" };
        lines.push(format!(
            "  {} {look} like another, so a moderator decides first",
            counted(*waiting, "picture")
        ));
    }
    if n_captions > 0 {
        lines.push(match are_accepted {
            true => "  the captions count as accepted".to_owned(),
            false => "  the captions wait for ratings".to_owned(),
        });
    }
    if *known_pictures > 0 || *known_captions > 0 {
        lines.push(format!(
            "there already: {}, {}",
            counted(*known_pictures, "picture"),
            counted(*known_captions, "caption")
        ));
    }
    lines.extend(
        Reason::ALL.iter().filter(|reason| left_out.n(**reason) > 0).flat_map(|reason| of(*reason, left_out)),
    );
    lines
}

/// The things left out for a reason: their number, the first of them, and advice.
fn of(reason: Reason, left_out: &LeftOut) -> Vec<String> {
    let (n, first) = (left_out.n(reason), left_out.first(reason));
    let mut lines = vec![format!("left out: {}: {n}", reason.summary())];
    lines.extend(first.iter().map(|told| format!("  {}: {}", told.place, told.why)));
    if !first.is_empty() && n > first.len() {
        lines.push(format!("  and {} more", n - first.len()));
    }
    if !reason.remedy().is_empty() {
        lines.push(format!("  what to do: {}", reason.remedy()));
    }
    lines
}

fn by_language(captions: &BTreeMap<String, usize>) -> String {
    if captions.is_empty() {
        return String::new();
    }
    let each: Vec<String> = captions.iter().map(|(language, n)| format!("{language} {n}")).collect();
    format!(" ({})", each.join(", "))
}
