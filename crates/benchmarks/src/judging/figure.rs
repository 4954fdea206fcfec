//! The cumulative distributions of judges' grades.

use capeval_api::SystemMeasures;
use capeval_report::charts::{Axis, COLOURS, Chart, Colour, Figure, Series};
use capeval_site::web::Page;

const GRADES: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// The colour of what was judged: that of the system in this place, or grey for the references.
pub fn colour(measured: &SystemMeasures, place: usize) -> Colour {
    if measured.system.is_some() { Colour::System(place) } else { Colour::Muted }
}

/// The share of captions with at most each grade.
fn shares(measured: &SystemMeasures) -> [f64; 4] {
    let [four, three, two] = measured.at_least;
    [1.0 - two, 1.0 - three, 1.0 - four, 1.0].map(|share| 100.0 * share)
}

/// A line for each of the judged systems, with its name, which rises at each grade.
pub fn figure(page: &Page, judged: &[(String, &SystemMeasures)]) -> String {
    let mut words = page.t("Cumulative distributions").to_owned();
    let series = judged.iter().enumerate().map(|(place, (name, measured))| {
        let shares = shares(measured);
        let said = (1..).zip(shares).map(|(grade, share)| format!("{grade}: {share:.0} %"));
        words.push_str(&format!("; {name} {}", said.collect::<Vec<_>>().join(", ")));
        // Beyond the axis, which ends the line at its edges.
        let mut points = vec![(f64::MIN, 0.0)];
        let mut before = 0.0;
        for (grade, share) in GRADES.into_iter().zip(shares) {
            points.extend([(grade, before), (grade, share)]);
            before = share;
        }
        points.push((f64::MAX, before));
        Series { colour: colour(measured, place % COLOURS), points }
    });
    let series: Vec<Series> = series.collect();
    let x = Axis::of_values(page.t("Grade"), &GRADES);
    let y = Axis::new(page.t("% of captions"), (0.0, 100.0));
    let svg = Chart::curves(x, y, &series, false).to_string();
    Figure::new("", &words, &svg).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use capeval_site::web::language::Language;

    #[test]
    fn lines_rise_to_the_whole_at_the_best_grade() {
        let mut measured = SystemMeasures {
            system: Some("a".to_owned()),
            judgements: 4,
            m1: None,
            m2: 0.5,
            m3: 2.5,
            m4: 3.0,
            at_least: [0.25, 0.5, 0.75],
        };
        let page = Page {
            language: Language::English,
            visitor: None,
            path: "/".to_owned(),
            site: Arc::from(""),
            done: None,
            problem: None,
        };
        let html = figure(&page, &[("<a>".to_owned(), &measured)]);
        assert!(html.contains("&lt;a&gt; 1: 25 %, 2: 50 %, 3: 75 %, 4: 100 %"), "{html}");
        let line = "M68.0 228.0L122.0 228.0L122.0 173.0L212.0 173.0L212.0 118.0L302.0 118.0L302.0 63.0L392.0 63.0\
                    L392.0 8.0L446.0 8.0";
        assert!(html.contains(&format!("class=\"line s0\" d=\"{line}\"")), "{html}");
        measured.system = None;
        assert!(figure(&page, &[(String::new(), &measured)]).contains("class=\"line grey\""));
    }
}
