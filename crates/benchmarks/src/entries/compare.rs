//! Shows two entries side by side, on a page and by the API.

use askama::Template;
use capeval_api::{
    ComparedEntry, ComparedImage, ComparedImages, ComparedMeasure, ComparedPoint, ComparedSet,
    ComparisonState, EntryComparison, EntryPair, SubmissionKind,
};
use capeval_report::charts::{Axis, Chart, Colour, Figure};
use capeval_site::prelude::*;
use capeval_tasks::{ImageContrast, MeasureContrast, MeasureInfo};

use super::contrasts::ByImage;
use super::pairs::{self, ByMeasure, BySet, Choice, Progress, SideBySide, Test};
use super::records::SeenEntry;
use crate::board::{self, rounded};
use crate::pictures;
use crate::records::{SeenBenchmark, SeenPhase};
use crate::settings::Phase;

/// The way in which entries are compared, in the words of the page.
const COMPARISON: &str = "Each measure is tested by paired randomisation with 10,000 exchanges, or by the exact permutation \
    test where there is one, corrected by Holm’s method over the measures of these references, at the level 0.05.";

/// The comparisons that one person may ask for in a minute.
const COMPARISONS: u32 = 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/{phase}/compare", Access::Public, "Show two entries side by side", show)
            .and("/api/v1/phases/{id}/compare"),
        post(
            "/b/{slug}/{phase}/compare",
            Access::Person(Scope::Submit),
            "Have two entries compared",
            compare,
        )
        .and("/api/v1/phases/{id}/compare"),
    ]
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    choices: Vec<Choice>,
    /// The chosen entries; empty for none.
    chosen: [&'a str; 2],
    /// The address of the comparison.
    here: String,
    problem: Option<String>,
    compared: Option<&'a SideBySide>,
    /// The scores of images as a drawing.
    figure: String,
}

impl<'a> ComparePage<'a> {
    fn score_text(&self, value: f64, by: &ByMeasure) -> String {
        board::score_text(value, &by.measure, self.phase.decimals)
    }

    /// Returns true if a job is still to compute something.
    fn is_waiting(&self, compared: &SideBySide) -> bool {
        let mut all = [&compared.progress].into_iter().chain(compared.images.iter().map(|by| &by.progress));
        all.any(|progress| progress.state == ComparisonState::Waiting)
    }

    /// The comparison that someone can request.
    fn open(&self, compared: &'a SideBySide) -> Option<&'a Progress> {
        let mut all = [&compared.progress].into_iter().chain(compared.images.iter().map(|by| &by.progress));
        all.find(|progress| progress.is_open())
    }

    /// A score of an image.
    fn of_image(&self, image: &ImageContrast, place: &usize, by: &ByImage) -> String {
        board::score_text(image.scores[*place], &by.measure, self.phase.decimals)
    }

    /// The address of the picture of an image; `None` if the phase has no pictures.
    fn picture(&self, image: &ImageContrast) -> Option<String> {
        let pictures = Some(&self.phase.pictures).filter(|pictures| !pictures.is_empty())?;
        Some(pictures::of_image(pictures, &image.image.to_string()))
    }

    fn caption<'s>(&self, image: &'s ImageContrast, place: &usize) -> &'s str {
        &image.captions[*place]
    }

    /// The images on which one of the two is better.
    fn better<'s>(&self, found: &'s MeasureContrast, place: &usize) -> &'s [ImageContrast] {
        &found.better[*place]
    }

    /// A name of one of the two that tells them apart: that of the team, unless both have the same one.
    fn short(&self, compared: &'a SideBySide, place: &usize) -> &'a str {
        let [one, other] = &compared.entries;
        let entry = &compared.entries[*place];
        match entry.team_name.as_str() {
            _ if entry.submission.kind == SubmissionKind::Human => self.page.t("People"),
            team if team.is_empty() || one.team_name == other.team_name => &entry.submission.method,
            team => team,
        }
    }

    /// The score of one of the two, and its interval.
    fn score(&self, by: &ByMeasure, place: &usize) -> (String, String) {
        let Some((score, interval)) = by.scores[*place] else { return ("–".to_owned(), String::new()) };
        let interval =
            interval.map(|(low, high)| format!("{}–{}", self.score_text(low, by), self.score_text(high, by)));
        (self.score_text(score, by), interval.unwrap_or_default())
    }

    fn difference(&self, by: &ByMeasure) -> String {
        let Some(difference) = difference(by, self.phase.decimals) else { return "–".to_owned() };
        let text = self.score_text(difference, by);
        if text.starts_with(['-', '−']) { text } else { format!("+{text}") }
    }

    /// The p-value of a measure, corrected.
    fn p(&self, by: &ByMeasure) -> String {
        match by.test {
            None => String::new(),
            Some(test) if test.corrected < 0.0001 => "< 0.0001".to_owned(),
            Some(test) => format!("{:.4}", test.corrected),
        }
    }

    /// The verdict of the test of a measure.
    fn verdict(&self, compared: &SideBySide, by: &ByMeasure) -> String {
        match (by.test, by.better()) {
            (None, _) => String::new(),
            (Some(_), None) => self.page.t("no significant difference").to_owned(),
            (Some(_), Some(better)) => self.page.t1("{} is better", self.short(compared, &better)),
        }
    }

    /// The results of the tests by a reference set, in sentences.
    fn summary(&self, compared: &SideBySide, by: &BySet) -> Vec<String> {
        let tested = by.measures.iter().filter(|by| by.test.is_some()).count();
        let better = |place| by.measures.iter().filter(|by| by.better() == Some(place)).count();
        let sentence = |place| {
            let name = self.short(compared, &place);
            self.page.t3("{} is significantly better by {} of {} measures.", name, better(place), tested)
        };
        if tested == 0 { Vec::new() } else { vec![sentence(0), sentence(1)] }
    }
}

/// The first score minus the second, of scores as they are shown.
fn difference(by: &ByMeasure, decimals: usize) -> Option<f64> {
    let round = |value| rounded(value, &by.measure, decimals);
    let [a, b] = by.scores;
    Some(round(round(a?.0) - round(b?.0)))
}

/// The scores of images by both entries.
fn figure(page: &Page, by: &ByImage, found: &MeasureContrast, names: [&str; 2]) -> String {
    let (low, high) = found.range;
    let margin = 0.03 * (high - low);
    let axis = |name: &str| Axis::new(name, (low - margin, high + margin));
    let points: Vec<(f64, f64)> = found
        .points
        .iter()
        .flat_map(|(one, other, images)| std::iter::repeat_n((*one, *other), *images as usize))
        .collect();
    let svg = Chart::scatter(axis(names[0]), axis(names[1]), &points, Colour::System(0)).to_string();
    let words = page.t3(
        "The scores of {} images: across those of {}, up those of {}. The lists below have the images that differ most.",
        found.images,
        names[0],
        names[1],
    );
    Figure::new(&by.measure.label, &words, &svg).to_string()
}

fn images_for_programs(of: &SeenPhase, by: &ByImage) -> ComparedImages {
    let round = |score: f64| rounded(score, &by.measure, of.phase.decimals);
    let listed = |place: usize| {
        let images = by.found.iter().flat_map(|found| &found.better[place]);
        let image = |of: &ImageContrast| ComparedImage {
            image: of.image.to_string(),
            scores: of.scores.map(round),
            captions: of.captions.clone(),
        };
        images.map(image).collect()
    };
    let points = by.found.iter().flat_map(|found| &found.points);
    ComparedImages {
        state: by.progress.state.into(),
        reason: by.progress.reason.clone().filter(|_| of.seen.is_host),
        reference_set: by.set.clone(),
        measure: by.measure.key.clone(),
        images: by.found.as_ref().map_or(0, |found| found.images),
        points: points
            .map(|(one, other, images)| ComparedPoint {
                scores: [round(*one), round(*other)],
                images: *images,
            })
            .collect(),
        first_better: listed(0),
        second_better: listed(1),
    }
}

fn for_programs(app: &App, of: &SeenPhase, compared: &SideBySide, here: &str) -> EntryComparison {
    let entry = |entry: &SeenEntry| ComparedEntry {
        submission: entry.submission.id.clone(),
        kind: entry.submission.kind.into(),
        team: entry.team_name.clone(),
        method: entry.submission.method.clone(),
    };
    let round = |value: f64, measure: &MeasureInfo| rounded(value, measure, of.phase.decimals);
    let measure = |by: &ByMeasure| ComparedMeasure {
        measure: by.measure.key.clone(),
        label: by.measure.label.clone(),
        lower_is_better: by.measure.lower_is_better,
        scores: by.scores.map(|score| score.map(|(score, _)| round(score, &by.measure))),
        intervals: by.scores.map(|score| {
            let (low, high) = score?.1?;
            Some([low, high].map(|end| round(end, &by.measure)))
        }),
        difference: difference(by, of.phase.decimals),
        p: by.test.map(|test| test.p),
        p_corrected: by.test.map(|test| test.corrected),
        differs: by.test.map(Test::differs),
    };
    let set = |by: &BySet| ComparedSet {
        name: by.set.name.clone(),
        measures: by.measures.iter().map(measure).collect(),
    };
    EntryComparison {
        benchmark: of.seen.benchmark.slug.clone(),
        phase: of.phase.slug.clone(),
        state: compared.progress.state.into(),
        reason: compared.progress.reason.clone().filter(|_| of.seen.is_host),
        entries: compared.entries.iter().map(entry).collect(),
        comparison: COMPARISON.to_owned(),
        reference_sets: compared.sets.iter().map(set).collect(),
        images: compared.images.as_ref().map(|by| images_for_programs(of, by)),
        page: app.settings.url(here),
    }
}

/// The two entries that are asked for.
fn two(asked: &EntryPair) -> Result<[&str; 2]> {
    match asked.entries.as_slice() {
        [a, b] if a != b && !a.is_empty() && !b.is_empty() => Ok([a, b]),
        _ => Err(fault!(UNPROCESSABLE_ENTITY, "pair", "Choose two different entries.")),
    }
}

/// The address of a comparison.
fn address(of: &SeenPhase, asked: &EntryPair) -> String {
    let entries = asked.entries.iter().map(|id| ("entry", id));
    let choices = [("ref", &asked.set), ("measure", &asked.measure)].into_iter();
    let choices = choices.filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> =
        entries.chain(choices).map(|(name, value)| format!("{name}={}", encode(value))).collect();
    of.address(&format!("compare?{}", pairs.join("&")))
}

async fn show(
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<EntryPair>,
) -> Result<Answer<EntryComparison>> {
    let visitor = page.visitor.as_ref();
    let (compared, problem, here) = match two(&asked) {
        Ok(ids) => {
            let entries = pairs::entries(&app, &of, ids, visitor).await?;
            let compared = pairs::side_by_side(&app, &of, entries, &asked).await?;
            (Some(compared), None, address(&of, &asked))
        }
        Err(fault) if page.is_program() => return Err(fault),
        // One that was chosen waits for the other; there is nothing wrong yet.
        Err(fault) => (None, (asked.entries.len() > 1).then(|| page.fault(&fault)), String::new()),
    };
    if let (Some(compared), true) = (&compared, page.is_program()) {
        return Ok(Answer::json(&for_programs(&app, &of, compared, &here)));
    }
    let mut chosen = asked.entries.iter().filter(|id| !id.is_empty()).map(String::as_str);
    let mut template = ComparePage {
        page: &page,
        seen: &of.seen,
        phase: &of.phase,
        choices: pairs::choices(&app, &of, visitor, &asked.entries).await?,
        chosen: [chosen.next().unwrap_or_default(), chosen.next().unwrap_or_default()],
        here,
        problem,
        compared: compared.as_ref(),
        figure: String::new(),
    };
    if let Some(compared) = &compared
        && let Some(by) = &compared.images
        && let Some(found) = &by.found
    {
        let names = [0, 1].map(|place| template.short(compared, &place));
        template.figure = figure(&page, by, found, names);
    }
    Ok(pictures::show(&page, &template, &of.phase.pictures)?.into())
}

/// Has two entries compared in a job, of which one person asks for a few in a minute.
async fn compare(
    app: App,
    page: Page,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<EntryPair>,
) -> Result<Answer<EntryComparison>> {
    let ids = two(&asked)?;
    let entries = pairs::entries(&app, &of, ids, Some(&by)).await?;
    app.limits.take("comparisons", &by.id, COMPARISONS)?;
    let compared = pairs::side_by_side(&app, &of, entries.clone(), &asked).await?;
    pairs::compare(&app, &compared).await?;
    let compared = pairs::side_by_side(&app, &of, entries, &asked).await?;
    let here = address(&of, &asked);
    Ok(page.then(&here, &for_programs(&app, &of, &compared, &here)))
}

#[cfg(test)]
mod tests {
    use super::COMPARISON;

    #[test]
    fn the_comparison_has_the_same_words_everywhere() {
        let page = include_str!("../../templates/compare.html");
        assert!(page.contains(&format!("page.t(\"{COMPARISON}\")")));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(include_str!("../../../../docs/guides/submitting.md")).contains(COMPARISON));
    }
}
