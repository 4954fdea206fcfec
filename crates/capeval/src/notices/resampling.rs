//! Notices about resamples and what is drawn: too few of either.

use capeval_choice::{Argument, Code, Remedy};
use capeval_report::{Comparison, Notice, TooFewResamples};
use capeval_stats::Resampling;

/// The number of resamples below which the bounds of an interval are unreliable.
const ENOUGH_RESAMPLES: usize = 200;

/// A notice if intervals come from few resamples.
pub(crate) fn few_resamples(resamples: usize) -> Option<Notice> {
    (resamples < ENOUGH_RESAMPLES).then(|| {
        let message = format!(
            "with {resamples} resample{}, the ends of intervals are left to chance",
            if resamples == 1 { "" } else { "s" },
        );
        let remedy = Remedy::set(Argument::Resamples, "1000").to("draw enough");
        Notice::new(Code::FewResamples, message).remedy(remedy).count(resamples)
    })
}

capeval_choice::named! {
    /// The unit that is resampled.
    pub(crate) enum Unit ("unit") {
        Image = "image", "an image";
        Video = "video", "a video of dense captions";
        Block = "block", "a block of images";
    }
}

impl Unit {
    /// The code of a notice that an interval is of a single one.
    const fn one(self) -> Code {
        match self {
            Self::Image | Self::Video => Code::IntervalOfOneImage,
            Self::Block => Code::IntervalOfOneBlock,
        }
    }

    /// The code of a notice that there are few.
    const fn few(self) -> Code {
        match self {
            Self::Image | Self::Video => Code::FewImages,
            Self::Block => Code::FewBlocks,
        }
    }
}

/// Notices about the intervals of scores over these numbers of units.
pub(crate) fn of_intervals(
    resampling: Resampling,
    numbers: impl IntoIterator<Item = usize> + Clone,
    unit: Unit,
) -> impl Iterator<Item = Notice> {
    let of_one = numbers.clone().into_iter().any(|n| n == 1).then(|| {
        let message = format!(
            "a confidence interval needs more than one {unit}: every resample of a single one is the same"
        );
        Notice::new(unit.one(), message)
    });
    let least = numbers.into_iter().filter(|n| *n > 1).min();
    [of_one, few_resamples(resampling.resamples), least.and_then(|n| resamples_of_few(n, unit))]
        .into_iter()
        .flatten()
}

/// Results on fewer images than this hardly generalise: with five, not even the sign test can be significant at 95 %.
pub(crate) const FEW_IMAGES: usize = 10;

/// A notice if few units (`n`, at least two) are resampled: images, or blocks of them.
pub(crate) fn resamples_of_few(n: usize, unit: Unit) -> Option<Notice> {
    (2..FEW_IMAGES).contains(&n).then(|| {
        let message = format!(
            "resamples of {n} {unit}s repeat the same few, so that intervals are too narrow and p-values of the \
             bootstrap too small"
        );
        Notice::new(unit.few(), message).count(n)
    })
}

/// A notice if the pairs of a category describe so few images that resamples often contain none of them.
pub(crate) fn rare_categories(rare: &[(&str, usize)]) -> Option<Notice> {
    let listed: Vec<String> = rare
        .iter()
        .map(|(name, n)| format!("{name} ({n} image{})", if *n == 1 { "" } else { "s" }))
        .collect();
    (!rare.is_empty()).then(|| {
        let message = format!(
            "few images have pairs of {}; resamples without any of them are left out of the intervals of these \
             categories and of the mean, which are therefore too narrow",
            listed.join(", ")
        );
        Notice::new(Code::RareCategories, message).count(rare.len())
    })
}

/// Adds notices about reasons to doubt the tests of a comparison.
pub(crate) fn add_doubts(comparison: &mut Comparison) {
    let mut found = Vec::new();
    let unit = comparison.report.unit().parse().unwrap_or(Unit::Image);
    match comparison.report.systems.first().map(|system| system.n_images) {
        Some(1) => found.push(Notice::new(
            Code::FewImages,
            format!(
                "one {unit} tells nothing about others: all its resamples are the same, so that neither its \
                 intervals nor the p-values of the bootstrap mean anything"
            ),
        )),
        n => found.extend(n.and_then(|n| resamples_of_few(n, unit))),
    }
    if let Some(TooFewResamples { tests, resamples, enough }) = comparison.too_few_resamples() {
        let message = format!(
            "with {resamples} resamples and {tests} tests corrected together, no difference can be found, however \
             large"
        );
        let remedy = Remedy::set(Argument::Resamples, enough.to_string())
            .to("draw enough")
            .or(Remedy::say("compare fewer metrics or systems"));
        found.push(Notice::new(Code::TooFewResamples, message).remedy(remedy).count(tests));
    }
    comparison.report.head.notices.append(&mut found);
}
