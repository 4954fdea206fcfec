//! Ranks over several measures: sums and means of ranks, points, wins less losses, and what breaks ties.

use capeval_choice::{Refusal, named, suggest};
use capeval_metric::Direction;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::grid::{Align, Cell, Grid, Table};
use crate::number::fixed;

named! {
    /// A number that stands for how a system does by several measures.
    pub enum RankScore ("rule for ranks") {
        Ranks = "ranks", "the sum of the ranks by each measure; least is best";
        MeanRank = "mean-rank", "the mean of the ranks by each measure; least is best";
        Points = "points", "3, 2 and 1 points for the first three by each measure";
        Wins = "wins", "the number of systems that are worse less those that are better, over all measures";
    }
}

named! {
    /// The rank of systems with equal scores by a measure.
    #[derive(Default)]
    pub enum RankTies ("rule for equal scores") {
        #[default]
        Least = "least", "all have the best rank of theirs: 1, 2, 2, 4";
        Average = "average", "all have the mean of theirs: 1, 2.5, 2.5, 4";
        Dense = "dense", "all have the best, and the next follows: 1, 2, 2, 3";
    }
}

/// How systems are ranked: by the first of several numbers, then the next one among those that it does not tell apart.
#[derive(Clone, Debug, PartialEq)]
pub struct RankRule {
    text: String,
    terms: Vec<Term>,
    ties: RankTies,
}

/// A number to rank by.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    /// As it was written.
    text: String,
    /// `None` for a measure itself.
    score: Option<RankScore>,
    measures: Vec<TermMeasure>,
}

/// A measure within a term.
#[derive(Clone, Debug, PartialEq)]
struct TermMeasure {
    key: String,
    lower_is_better: bool,
}

/// The numbers of all systems by one term of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct RankColumn {
    /// The term as it was written, such as `points(cider-d, meteor)`.
    pub name: String,
    /// True if lower is better.
    pub lower_is_better: bool,
    /// What it is made by; `None` for a measure itself.
    pub score: Option<RankScore>,
    /// A number for each system; `None` if it has none, which comes last.
    pub values: Vec<Option<f64>>,
}

impl RankColumn {
    /// A number that is the higher the better a system is.
    fn strength(&self, system: usize) -> f64 {
        strength(self.values.get(system).copied().flatten(), self.lower_is_better)
    }
}

/// A number that is the higher the better a score is; a score that is absent comes last.
fn strength(score: Option<f64>, lower_is_better: bool) -> f64 {
    match score.filter(|score| !score.is_nan()) {
        // Zero has one sign.
        Some(score) => (if lower_is_better { -score } else { score }) + 0.0,
        None => f64::NEG_INFINITY,
    }
}

/// The ranks of systems over several measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The rule as it was written.
    pub rule: String,
    /// The treatment of equal scores.
    pub ties: RankTies,
    /// The systems, best first.
    pub places: Vec<Place>,
}

/// The rank of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The system.
    pub system: String,
    /// Its rank; systems that no number tells apart share one.
    pub rank: usize,
    /// The numbers that decide, in their order.
    pub values: Vec<Option<f64>>,
}

impl Ranking {
    /// What decides first, without its measures: `points`.
    pub fn first_term(&self) -> &str {
        self.rule.split(['(', ',']).next().unwrap_or_default().trim()
    }
}

impl Ranking {
    /// The ranks with the numbers that decide.
    pub(crate) fn table(&self, digits: usize) -> Table {
        let terms = split(&self.rule).unwrap_or_default();
        let columns = ["Rank", "System"].into_iter().map(str::to_owned).chain(terms);
        let align = |k: usize| if k == 1 { Align::Left } else { Align::Right };
        let number = |value: &Option<f64>| {
            let shown = |value: f64| fixed(value, if value.fract() == 0.0 { 0 } else { digits });
            Cell::from(value.map_or_else(String::new, shown))
        };
        let row = |place: &Place| {
            let names = [Cell::from(place.rank.to_string()), Cell::from(&*place.system)];
            names.into_iter().chain(place.values.iter().map(number)).collect()
        };
        Table {
            title: Some("ranks".to_owned()),
            grid: Grid {
                columns: columns.enumerate().map(|(k, name)| (name, align(k))).collect(),
                rows: self.places.iter().map(row).collect(),
            },
        }
    }
}

impl RankRule {
    /// Reads a rule such as `points(cider-d, meteor, bleu-4), cider-d, meteor` over `measures` by their keys.
    ///
    /// # Errors
    /// When it names something else.
    pub fn parse<'m>(
        text: &str,
        ties: RankTies,
        measures: impl IntoIterator<Item = (&'m str, Direction)>,
    ) -> Result<Self, Refusal> {
        const FORM: &str = "write it as in points(cider-d, meteor, bleu-4), cider-d";
        let known: Vec<(&str, Direction)> = measures.into_iter().collect();
        let refused = |why: String| Refusal::new(format!("{text}: {why}"));
        let measure = |key: &str| match known.iter().find(|(known, _)| *known == key) {
            None => Err(refused(format!("no measure is called '{key}'"))
                .with_remedy(suggest(key, known.iter().map(|(known, _)| *known)))),
            Some((_, Direction::Neither)) => {
                Err(refused(format!("no value of {key} is better than another")).with_remedy("leave it out"))
            }
            Some((_, direction)) => Ok(TermMeasure {
                key: key.to_owned(),
                lower_is_better: matches!(direction, Direction::LowerIsBetter),
            }),
        };
        let mut terms = Vec::new();
        for part in split(text).ok_or_else(|| refused("a bracket has no partner".into()).with_remedy(FORM))? {
            let (score, measures) = match part.split_once('(') {
                None => (None, vec![measure(&part)?]),
                Some((name, rest)) => {
                    let score: RankScore =
                        name.trim().parse().map_err(|error: capeval_choice::UnknownName| {
                            refused(error.to_string()).with_remedy(error.remedy())
                        })?;
                    let keys = rest.strip_suffix(')').ok_or_else(|| {
                        refused(format!("')' is expected at the end of {part}")).with_remedy(FORM)
                    })?;
                    let measures: Result<_, Refusal> =
                        keys.split(',').map(|key| measure(key.trim())).collect();
                    (Some(score), measures?)
                }
            };
            terms.push(Term { text: part, score, measures });
        }
        Ok(Self { text: text.trim().to_owned(), terms, ties })
    }

    /// The numbers of `n_systems` systems by each term. Only those that `competes` returns true for take ranks from
    /// others; the others have the numbers that they would have beside them. `score` returns the score of a system by
    /// the measure of a key.
    pub fn columns(
        &self,
        n_systems: usize,
        competes: impl Fn(usize) -> bool,
        score: impl Fn(usize, &str) -> Option<f64>,
    ) -> Vec<RankColumn> {
        let strengths = |measure: &TermMeasure| -> Vec<f64> {
            let of = |system| strength(score(system, &measure.key), measure.lower_is_better);
            (0..n_systems).map(of).collect()
        };
        let column = |Term { text, score: made, measures }: &Term| match (made, &measures[..]) {
            (None, [measure, ..]) => RankColumn {
                name: text.clone(),
                lower_is_better: measure.lower_is_better,
                score: None,
                values: (0..n_systems)
                    .map(|system| score(system, &measure.key).filter(|score| score.is_finite()))
                    .collect(),
            },
            (made, _) => {
                let made = made.unwrap_or(RankScore::Ranks);
                let mut sums = vec![0.0; n_systems];
                for strengths in measures.iter().map(strengths) {
                    let ladder = Ladder::of((0..n_systems).filter(|k| competes(*k)).map(|k| strengths[k]));
                    for (system, sum) in sums.iter_mut().enumerate() {
                        *sum += ladder.part(made, self.ties, strengths[system], competes(system));
                    }
                }
                let divisor = if made == RankScore::MeanRank { measures.len() as f64 } else { 1.0 };
                RankColumn {
                    name: text.clone(),
                    lower_is_better: matches!(made, RankScore::Ranks | RankScore::MeanRank),
                    score: Some(made),
                    values: sums.into_iter().map(|sum| Some(sum / divisor)).collect(),
                }
            }
        };
        self.terms.iter().map(column).collect()
    }
}

/// The strengths of systems by one measure.
struct Ladder {
    /// In rising order.
    all: Vec<f64>,
    /// The same, each value once.
    distinct: Vec<f64>,
}

impl Ladder {
    fn of(strengths: impl Iterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = strengths.collect();
        all.sort_by(f64::total_cmp);
        let mut distinct = all.clone();
        distinct.dedup();
        Self { all, distinct }
    }

    /// What the measure adds for a system with this strength, which is or is not among the others.
    fn part(&self, score: RankScore, ties: RankTies, own: f64, is_among: bool) -> f64 {
        let above = |ladder: &[f64]| (ladder.len() - ladder.partition_point(|other| *other <= own)) as f64;
        let (better, worse) = (above(&self.all), self.all.partition_point(|other| *other < own) as f64);
        let equal = self.all.len() as f64 - better - worse + f64::from(u8::from(!is_among));
        let rank = match ties {
            RankTies::Least => better + 1.0,
            RankTies::Average => better + (equal + 1.0) / 2.0,
            RankTies::Dense => above(&self.distinct) + 1.0,
        };
        match score {
            RankScore::Ranks | RankScore::MeanRank => rank,
            RankScore::Points => (4.0 - rank).max(0.0),
            RankScore::Wins => worse - better,
        }
    }
}

/// The parts between commas that are not in brackets; `None` if a bracket has no partner.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut parts, mut depth) = (vec![String::new()], 0_i32);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    (depth == 0).then(|| parts.iter().map(|part| part.trim().to_owned()).collect())
}

impl Report {
    /// Reads a rule over the measures of this report.
    ///
    /// # Errors
    /// As [`RankRule::parse`].
    pub fn rank_rule(&self, text: &str, ties: RankTies) -> Result<RankRule, Refusal> {
        RankRule::parse(
            text,
            ties,
            self.head.measures.iter().map(|measure| (&*measure.key, measure.direction)),
        )
    }

    /// Ranks the systems by a rule, best first, and returns their former indices. The row of people stays behind the
    /// systems and takes no rank from them.
    pub fn rank_by(&mut self, rule: &RankRule) -> Vec<usize> {
        let n_systems = self.n_systems().min(self.systems.len());
        let score = |system: usize, key: &str| self.systems[system].scores.get(self.measure(key)?).copied();
        let columns = rule.columns(n_systems, |_| true, score);
        let compare = |a: &usize, b: &usize| {
            let each = columns.iter().map(|column| column.strength(*b).total_cmp(&column.strength(*a)));
            each.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        let mut order: Vec<usize> = (0..self.systems.len()).collect();
        order[..n_systems].sort_by(compare);
        let mut places: Vec<Place> = Vec::new();
        for (k, system) in order[..n_systems].iter().enumerate() {
            let is_equal = k > 0 && compare(&order[k - 1], system).is_eq();
            places.push(Place {
                system: self.systems[*system].name.clone(),
                rank: places.last().filter(|_| is_equal).map_or(k + 1, |last| last.rank),
                values: columns.iter().map(|column| column.values[*system]).collect(),
            });
        }
        self.ranking = Some(Ranking { rule: rule.text.clone(), ties: rule.ties, places });
        self.arrange(&order);
        order
    }
}

#[cfg(test)]
mod tests {
    use capeval_metric::Number;

    use super::*;
    use crate::{Head, Measure, SystemReport};

    fn report(keys: &[&str], rows: &[(&str, &[f64])]) -> Report {
        let measure = |key: &&str| Measure {
            key: (*key).to_owned(),
            label: (*key).to_owned(),
            direction: if *key == "ter" { Direction::LowerIsBetter } else { Direction::HigherIsBetter },
            number: Number::Real,
            min: 0.0,
            max: 1.0,
        };
        let system = |(name, scores): &(&str, &[f64])| SystemReport {
            name: (*name).to_owned(),
            scores: scores.to_vec(),
            ..SystemReport::default()
        };
        Report {
            head: Head { measures: keys.iter().map(measure).collect(), ..Head::default() },
            systems: rows.iter().map(system).collect(),
            same_images: true,
            ..Report::default()
        }
    }

    fn ranked(report: &Report, rule: &str, ties: RankTies) -> Vec<String> {
        let mut report = report.clone();
        // The order in which systems are given decides nothing.
        report.systems.reverse();
        let rule = report.rank_rule(rule, ties).unwrap();
        report.rank_by(&rule);
        let places = report.ranking.unwrap().places;
        let shown = |value: &Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
        places
            .iter()
            .map(|place| {
                format!(
                    "{} {} {}",
                    place.rank,
                    place.system,
                    place.values.iter().map(shown).collect::<Vec<_>>().join(" ")
                )
            })
            .collect()
    }

    const KEYS: &[&str] = &["bleu-4", "meteor", "cider-d", "rouge-l"];

    /// The board of the MSR Video to Language Challenge 2016, printed at
    /// <http://ms-multimedia-challenge.com/2016/leaderboard>, which ranks by the sum of ranks. Teams with equal scores
    /// share the best rank: with mean ranks, the eleventh and the twelfth would change places.
    const MSR_2016: &[(&str, &[f64])] = &[
        ("v2t_navigator", &[0.408, 0.282, 0.448, 0.609]),
        ("Aalto", &[0.398, 0.269, 0.457, 0.598]),
        ("VideoLAB", &[0.391, 0.277, 0.441, 0.606]),
        ("ruc-uva", &[0.387, 0.269, 0.459, 0.587]),
        ("Fudan-ILC", &[0.387, 0.268, 0.419, 0.595]),
        ("NUS-TJU", &[0.371, 0.267, 0.410, 0.590]),
        ("Umich-COG", &[0.371, 0.266, 0.411, 0.583]),
        ("MCG-ICT-CAS", &[0.367, 0.264, 0.404, 0.590]),
        ("DeepBrain", &[0.382, 0.259, 0.401, 0.582]),
        ("NTU MiRA", &[0.355, 0.261, 0.383, 0.579]),
        ("NLPRMMC", &[0.348, 0.260, 0.375, 0.575]),
        ("NTHU_VSLab", &[0.344, 0.260, 0.367, 0.584]),
        ("NII-AIST", &[0.364, 0.257, 0.370, 0.577]),
        ("MIC_TJU", &[0.345, 0.258, 0.350, 0.575]),
        ("scorpio", &[0.348, 0.251, 0.367, 0.571]),
        ("KR", &[0.328, 0.253, 0.364, 0.564]),
        ("Shen&Xu", &[0.314, 0.247, 0.338, 0.555]),
        ("VRPGASU", &[0.280, 0.254, 0.260, 0.526]),
        ("AFRL", &[0.289, 0.227, 0.338, 0.504]),
        ("Daedalus", &[0.269, 0.196, 0.127, 0.505]),
        ("Oceans", &[0.157, 0.196, 0.166, 0.457]),
    ];

    #[test]
    fn rank_sums_give_the_printed_boards() {
        let found = ranked(
            &report(KEYS, MSR_2016),
            "ranks(bleu-4, meteor, cider-d, rouge-l), bleu-4",
            RankTies::Least,
        );
        let names: Vec<&str> = found.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
        let printed: Vec<&str> = MSR_2016.iter().map(|(name, _)| name.split(' ').next().unwrap()).collect();
        assert_eq!(names, printed);
        assert_eq!(
            (found[0].as_str(), found[10].as_str()),
            ("1 v2t_navigator 6 0.408", "11 NLPRMMC 46 0.348")
        );
        // Auto-captions on GIF 2020, <http://www.auto-video-captions.top/2020/leaderboard>.
        let gif: &[(&str, &[f64])] = &[
            ("Old-Boys", &[21.14, 17.38, 24.42, 5.65]),
            ("sysu-cs", &[20.41, 17.02, 23.80, 5.39]),
            ("IVIPC-King", &[18.24, 16.46, 21.36, 5.25]),
        ];
        let board = report(&["bleu-4", "meteor", "cider-d", "spice"], gif);
        let found = ranked(&board, "ranks(bleu-4, meteor, cider-d, spice)", RankTies::Least);
        assert_eq!(found, ["1 Old-Boys 4", "2 sysu-cs 8", "3 IVIPC-King 12"]);
        let found = ranked(&board, "mean-rank(bleu-4, meteor, cider-d, spice)", RankTies::Least);
        assert_eq!(found, ["1 Old-Boys 1", "2 sysu-cs 2", "3 IVIPC-King 3"]);
    }

    /// The rule of IntentVC, <https://sites.google.com/view/intentvc/evaluation>: 3, 2 and 1 points by each measure,
    /// and ties by CIDEr, METEOR and BLEU-4.
    #[test]
    fn points_rank_and_measures_break_ties() {
        let rows: &[(&str, &[f64])] = &[
            ("a", &[0.5, 0.3, 1.0, 0.5]),
            ("b", &[0.4, 0.4, 1.2, 0.4]),
            ("c", &[0.3, 0.2, 0.9, 0.6]),
            ("d", &[0.2, 0.1, 0.8, 0.3]),
        ];
        let rule = "points(bleu-4, meteor, cider-d, rouge-l), cider-d, meteor, bleu-4";
        let found = ranked(&report(KEYS, rows), rule, RankTies::Least);
        assert_eq!(found, ["1 b 9 1.2 0.4 0.4", "2 a 9 1 0.3 0.5", "3 c 6 0.9 0.2 0.3", "4 d 0 0.8 0.1 0.2"]);
        let found = ranked(&report(KEYS, rows), "wins(bleu-4, meteor, cider-d, rouge-l)", RankTies::Least);
        assert_eq!(found[0..2].iter().map(|line| &line[..1]).collect::<String>(), "11", "{found:?}");
    }

    #[test]
    fn ties_lower_values_and_absent_scores_are_ranked_as_is_said() {
        let rows: &[(&str, &[f64])] = &[("a", &[0.2]), ("b", &[0.3]), ("c", &[0.3]), ("d", &[f64::NAN])];
        let of = |ties| ranked(&report(&["ter"], rows), "ranks(ter)", ties).join(", ");
        assert!(of(RankTies::Least).starts_with("1 a 1, 2 "), "{}", of(RankTies::Least));
        assert!(of(RankTies::Least).ends_with("4 d 4"));
        assert!(of(RankTies::Average).contains("2 b 2.5") && of(RankTies::Average).contains("2 c 2.5"));
        assert!(of(RankTies::Dense).ends_with("4 d 3"), "{}", of(RankTies::Dense));
        assert!(ranked(&report(&["ter"], rows), "ter", RankTies::Least).join(", ").ends_with("4 d -"));
    }

    #[test]
    fn what_does_not_compete_takes_no_rank() {
        let rule =
            RankRule::parse("points(x), x", RankTies::Average, [("x", Direction::HigherIsBetter)]).unwrap();
        let scores = [3.0, 2.5, 2.0, 2.0, f64::NAN];
        let columns = rule.columns(scores.len(), |system| system != 1, |system, _| Some(scores[system]));
        let [points, x] = &columns[..] else { panic!("{columns:?}") };
        // Beside the others, the second would be second; those behind it are second and third.
        assert_eq!(points.values, [3.0, 2.0, 1.5, 1.5, 0.0].map(Some));
        assert_eq!((points.score, x.score), (Some(RankScore::Points), None));
        assert_eq!(x.values, [Some(3.0), Some(2.5), Some(2.0), Some(2.0), None]);
    }

    #[test]
    fn rules_over_what_is_not_there_are_refused() {
        let report = report(KEYS, MSR_2016);
        for (text, words) in [
            ("points(cider)", "no measure is called 'cider'"),
            ("point(cider-d)", "\"point\""),
            ("points(cider-d", "a bracket has no partner"),
            ("points(cider-d) x", "')' is expected"),
            ("points()", "no measure is called ''"),
            ("", "no measure is called ''"),
            ("cider-d,", "no measure is called ''"),
        ] {
            let refusal = report.rank_rule(text, RankTies::Least).unwrap_err();
            assert!(refusal.to_string().contains(words) && refusal.remedy().is_some(), "{text}: {refusal}");
        }
    }
}
