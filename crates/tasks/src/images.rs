//! Writes the results of a submission image by image: a page, and its scores as lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval::choice::Plain;
use capeval::report::{Evidence, Explain, Gallery, Report, Shapes, Study};
use capeval::{ReferenceSource, ScoreOptions, ScoreRequest};
use capeval_pages::{self as pages, Page, Pictures};
use serde::{Deserialize, Serialize};

use crate::dense::DenseSet;
use crate::scoring::{Set, candidates, options, prepared, resampling};

/// Scores a file of captions by a reference set, image by image.
#[derive(Serialize, Deserialize)]
pub struct ShowImages {
    /// The captions.
    pub captions: PathBuf,
    /// The reference set.
    pub set: Set,
    /// The name of the captions' author on the page.
    pub system: String,
    /// The name of the references.
    pub references: String,
    /// Explain scores and show references.
    pub is_explained: bool,
    /// The address of the picture of an image, with `{id}`.
    pub pictures: Option<String>,
    /// The decimals of scores of all images together.
    pub digits: usize,
    /// The path of the page to write.
    pub page: PathBuf,
    /// The path of the scores of each image to write, as JSON Lines.
    pub lines: PathBuf,
}

/// The rights that a written page needs.
#[derive(Debug, Serialize, Deserialize)]
pub struct ShownImages {
    /// Its Content-Security-Policy.
    pub policy: String,
}

impl ShowImages {
    pub(crate) fn perform(self) -> anyhow::Result<ShownImages> {
        if let Some(dense) = DenseSet::open(&self.set)? {
            let files: [(&str, &Path); 1] = [(&self.system, &self.captions)];
            let mut report = dense.score(&files, Some(resampling()), self.is_explained)?;
            report.references = vec![self.references.clone()];
            if !self.is_explained {
                // They quote references.
                report.systems.iter_mut().for_each(|system| system.remarks.clear());
            }
            return self.write(&report);
        }
        let references = ReferenceSource::Prepared {
            prepared: Box::new(prepared(&self.set)?),
            source: self.references.clone(),
        };
        let mut report = capeval::score(ScoreRequest {
            options: ScoreOptions {
                intervals: Some(resampling()),
                segments: true,
                gallery: true,
                ..options(&self.set)
            },
            resources: self.set.metrics.resources()?,
            ..ScoreRequest::new(references, [(self.system.clone(), candidates(&self.captions)?)])
        })?;
        if !self.is_explained {
            hide_references(&mut report);
        }
        self.write(&report)
    }

    fn write(self, report: &dyn Study) -> anyhow::Result<ShownImages> {
        let pictures = self.pictures.map(Pictures::Pattern);
        let page = Page { digits: self.digits, pictures, ..Page::default() };
        let mut out = BufWriter::new(File::create(self.page)?);
        pages::write(report, &page, &Plain, &|_| (), &mut out)?;
        out.flush()?;
        let mut out = BufWriter::new(File::create(self.lines)?);
        report.write_items(&mut out)?;
        out.flush()?;
        Ok(ShownImages { policy: pages::policy(&page) })
    }
}

/// Explains nothing.
struct NoExplanations;

impl Explain for NoExplanations {
    fn evidence(&self, _: Range<usize>, _: &mut Shapes) -> Vec<Vec<Vec<Evidence>>> {
        Vec::new()
    }
}

/// Takes the texts of references out of a report, with explanations and notices, which quote them.
fn hide_references(report: &mut Report) {
    report.head.notices.clear();
    if let Some(Gallery { references, explainer, .. }) = &mut report.gallery {
        references.iter_mut().for_each(Vec::clear);
        *explainer = Arc::new(NoExplanations);
    }
}
