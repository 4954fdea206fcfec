//! Shows how sources of captions are read, without scoring them.

use std::collections::HashSet;
use std::io::{self, Write};

use capeval_choice::{Argument, Dialect, Remedy, Role, counted};
use capeval_corpus::{Because, Captions, GroupedCaptions, Ids, Opposite, Policy, SegmentId, agree, align};
use capeval_report::{Notice, SourceReading};
use serde::Serialize;

use crate::inputs::readings;
use crate::references::ReferenceSource;
use crate::{Error, notices, shapes};

/// The number of captions that are shown.
const EXAMPLES: usize = 3;

/// The longest part of a caption that is shown, in characters.
const SHOWN: usize = 200;

/// How sources are read.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The sources, the references first.
    pub sources: Vec<InspectedSource>,
    /// Notices about the sources and their pairs.
    pub notices: Vec<Notice>,
    /// The reasons why the captions cannot be scored as they are, each with what to do about it.
    pub refusals: Vec<Refusal>,
}

/// A source, and what is in it.
#[derive(Debug, Serialize)]
pub struct InspectedSource {
    /// How it was read.
    #[serde(flatten)]
    pub reading: SourceReading,
    /// The number of images with captions.
    pub images: usize,
    /// The number of images that are listed without one.
    pub images_without_captions: usize,
    /// The first captions with their ids.
    pub examples: Vec<(SegmentId, String)>,
    /// The other ways to read it.
    #[serde(skip)]
    pub otherwise: Vec<Remedy>,
}

/// A reason not to score captions.
#[derive(Debug, Serialize)]
pub struct Refusal {
    /// The message, with its position.
    pub message: String,
    /// What to do about it.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

/// Reads systems as [`score`](crate::score()) does, with the references if there are any, and says how.
///
/// # Errors
/// If prepared references are damaged.
pub fn inspect(
    references: Option<ReferenceSource>,
    systems: Vec<(String, Captions)>,
    ids: Ids,
) -> Result<Inspection, Error> {
    let mut found = Inspection { sources: Vec::new(), notices: Vec::new(), refusals: Vec::new() };
    let references = references.as_ref().map(ReferenceSource::to_captions).transpose()?;
    let mut is_ground_told = false;
    for (name, captions) in systems {
        let mut systems = vec![(name, captions)];
        let mut ground = references.as_deref().cloned();
        let settled = ground.as_mut().map(|ground| agree(Opposite::Captions(ground), &mut systems, ids));
        match settled {
            Some(Ok(notices)) => found.notices.extend(notices),
            Some(Err(error)) => found.refuse(&error),
            None => {}
        }
        let (name, captions) = systems.swap_remove(0);
        let mut all = readings(ground.as_ref(), [(name.as_str(), &captions)]);
        let mut of_system = all.pop();
        if let (Some(ground), false) = (&ground, is_ground_told) {
            is_ground_told = true;
            found.add(all.pop(), ground, Role::References);
        }
        match (ground, &mut of_system) {
            (Some(ground), Some(reading)) => found.pair(ground, &name, &captions, reading, ids),
            (None, Some(reading)) => reading.pairing = None,
            _ => {}
        }
        found.add(of_system, &captions, Role::Candidates);
    }
    if let (Some(ground), false) = (references.as_deref(), is_ground_told) {
        found.add(readings(Some(ground), []).pop(), ground, Role::References);
    }
    Ok(found)
}

impl Inspection {
    /// Adds a source with what its reader said.
    fn add(&mut self, reading: Option<SourceReading>, captions: &Captions, role: Role) {
        let Some(reading) = reading else { return };
        let described: HashSet<&SegmentId> = captions.ids().iter().collect();
        let bare: HashSet<&SegmentId> =
            captions.declared().iter().filter(|id| !described.contains(id)).collect();
        let shown = |text: &str| text.chars().take(SHOWN).collect::<String>();
        let examples = captions.iter().take(EXAMPLES).map(|(id, text)| (id.clone(), shown(text))).collect();
        let set = |argument: Argument, purpose: &'static str| {
            move |column: &String| Remedy::set(argument, column.clone()).to(purpose)
        };
        let layout = &reading.layout;
        let otherwise =
            (layout.id.others.iter().map(set(Argument::IdColumn(role), "read its ids from there"))).chain(
                layout.caption.others.iter().map(set(Argument::CaptionColumns(role), "score that one")),
            );
        self.notices.extend(captions.notices().iter().cloned());
        self.sources.push(InspectedSource {
            images: described.len(),
            images_without_captions: bare.len(),
            examples,
            otherwise: otherwise.collect(),
            reading,
        });
    }

    /// Matches captions with references, and says how well they fit.
    fn pair(
        &mut self,
        ground: Captions,
        name: &str,
        captions: &Captions,
        reading: &mut SourceReading,
        ids: Ids,
    ) {
        self.notices.extend(notices::empty_references(&ground));
        let grouped = match GroupedCaptions::new(ground, ids) {
            Ok(grouped) => grouped,
            Err(error) => return self.refuse(&error),
        };
        match align(grouped.index(), captions, &Policy::default()) {
            Ok(aligned) => {
                let fit = shapes::fit_of(&grouped, captions, &aligned);
                if let Some(pairing) = &mut reading.pairing {
                    (pairing.images, pairing.t) = (fit.images, fit.t.filter(|t| t.is_finite()));
                }
                self.notices.extend(aligned.notices.iter().cloned());
                self.notices.extend(shapes::mispaired(name, &fit));
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &capeval_corpus::Error) {
        self.refusals.push(Refusal { message: error.to_string(), remedy: error.remedy().cloned() });
    }

    /// The inspection as text, with remedies in the words of a front end.
    pub fn write_text(&self, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        for (k, source) in self.sources.iter().enumerate() {
            if k > 0 {
                writeln!(out)?;
            }
            source.write_text(dialect, out)?;
        }
        if !self.notices.is_empty() || !self.refusals.is_empty() {
            writeln!(out)?;
        }
        for notice in &self.notices {
            writeln!(out, "note: {}", notice.in_words(dialect))?;
        }
        for Refusal { message, remedy } in &self.refusals {
            writeln!(out, "refused: {message}")?;
            if let Some(help) = remedy.as_ref().and_then(|remedy| remedy.in_words(dialect)) {
                writeln!(out, "help: {help}")?;
            }
        }
        Ok(())
    }
}

impl InspectedSource {
    fn write_text(&self, dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        let SourceReading { file, system, format, layout, captions, pairing } = &self.reading;
        let role = if system.is_some() { "candidates" } else { "references" };
        writeln!(out, "{file}: {role}")?;
        let mut line = |name: &str, text: &str| match text {
            "" => Ok(()),
            text => writeln!(out, "  {name:<10}{text}"),
        };
        let packing: Vec<&str> =
            layout.packing.iter().map(String::as_str).chain(layout.member.as_deref()).collect();
        line("packed", &packing.join(", "))?;
        line("format", format.as_deref().unwrap_or("in memory"))?;
        line("records", &layout.records)?;
        for (name, chosen) in [("id", &layout.id), ("caption", &layout.caption)] {
            let columns: Vec<String> = chosen.columns.iter().map(|column| format!("{column:?}")).collect();
            let others: Vec<String> = chosen.others.iter().map(|column| format!("{column:?}")).collect();
            let others = match &others[..] {
                [] => String::new(),
                others => format!("; {} could be meant as well", others.join(", ")),
            };
            let separator = if columns.is_empty() { "" } else { ": " };
            let because = match chosen.because {
                Because::Alone if !chosen.others.is_empty() => "the first of several",
                because => because.summary(),
            };
            if layout.records.is_empty() && format.is_none() && columns.is_empty() {
                continue;
            }
            line(name, &format!("{}{separator}{because}{others}", columns.join(", ")))?;
        }
        line("split", &layout.split.as_ref().map(|split| split.join(", ")).unwrap_or_default())?;
        let bare = match self.images_without_captions {
            0 => String::new(),
            n => format!(", and {n} without one"),
        };
        let counts = format!("{} of {}{bare}", counted(*captions, "caption"), counted(self.images, "image"));
        line("captions", &counts)?;
        for (k, (id, text)) in self.examples.iter().enumerate() {
            line(if k == 0 { "first" } else { "" }, &format!("{}: {text}", id.quoted()))?;
        }
        if let Some(pairing) = pairing {
            let fit = match pairing.t {
                Some(t) => format!(
                    "; t = {t:.1} over {} (3 and more if captions fit their own references)",
                    counted(pairing.images, "image")
                ),
                None => String::new(),
            };
            line("pairs", &format!("{}{fit}", pairing.by.summary()))?;
        }
        for remedy in &self.otherwise {
            line("otherwise", &remedy.in_words(dialect).unwrap_or_default())?;
        }
        Ok(())
    }
}
