//! Requirements on scores, such as `cider-d>=1.2`, `spice>=base-0.001` and `not-worse`: where they do not hold, in
//! words.

use capeval_choice::{Argument, Condition, Formula, FormulaError, Refusal, Remedy, counted, named, suggest};
use capeval_report::{Comparison, Contrast, Measure, MetricEntry, Report, SystemReport, Verdict};

use crate::Error;
use crate::compare_reports::comparable;

named! {
    /// A verdict that is required of every system but the baseline.
    pub enum RequiredVerdict ("requirement") {
        Better = "better", "it is significantly better than the baseline";
        NotWorse = "not-worse", "it is not significantly worse than the baseline";
    }
}

/// What is required of the systems of a result.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    /// Conditions on scores, or verdicts.
    pub required: Vec<String>,
    /// The measures that verdicts are required by; if empty, all.
    pub on: Vec<String>,
    /// Systems of other reports that conditions may name, each as a report with one system.
    pub bases: Vec<Report>,
}

/// Checks the form of a requirement, before it is known which measures there are.
///
/// # Errors
/// When it is neither a verdict nor a condition.
pub fn check_requirement(text: &str) -> Result<(), Refusal> {
    if text.parse::<RequiredVerdict>().is_ok() {
        return Ok(());
    }
    let is_word = text.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_'));
    match Condition::parse(text, None) {
        Ok(_) => Ok(()),
        Err(_) if is_word => Err(Refusal::new(format!("unknown requirement {text:?}"))
            .with_remedy(suggest(text, RequiredVerdict::NAMES.iter().copied().chain(["cider-d>=1.2"])))),
        Err(error) => Err(refusal(text, &error)),
    }
}

fn refusal(text: &str, error: &FormulaError) -> Refusal {
    let example = || {
        Remedy::say("write it as in cider-d>=1.2, or spice>=base-0.001 for the score of a system called base")
    };
    Refusal::new(format!("{text}: {error}")).with_remedy(error.remedy().unwrap_or_else(example))
}

impl Requirements {
    /// Where a requirement does not hold for a system of a report, in words. A condition is required of every system
    /// that it does not name.
    ///
    /// # Errors
    /// When a requirement cannot be read or decided.
    pub fn unmet(&self, report: &Report) -> Result<Vec<String>, Error> {
        self.refuse_verdicts()?;
        self.unmet_conditions(report, None)
    }

    /// Where a requirement does not hold for a system of a comparison but the baseline, which is the first.
    ///
    /// # Errors
    /// As [`unmet`](Self::unmet).
    pub fn unmet_by_comparison(&self, comparison: &Comparison) -> Result<Vec<String>, Error> {
        let mut unmet = Vec::new();
        for verdict in self.required.iter().filter_map(|text| text.parse().ok()) {
            unmet.extend(self.unmet_verdicts(comparison, verdict)?);
        }
        let baseline = comparison.pairs.first().map(|pair| pair.baseline);
        unmet.extend(self.unmet_conditions(&comparison.report, baseline)?);
        Ok(unmet)
    }

    /// Refuses verdicts, which only comparisons have.
    ///
    /// # Errors
    /// When a verdict is required.
    pub fn refuse_verdicts(&self) -> Result<(), Error> {
        match self.required.iter().find(|text| text.parse::<RequiredVerdict>().is_ok()) {
            Some(verdict) => Err(Error::with_remedy(
                format!("{verdict}: only a comparison of systems has verdicts"),
                "compare the systems, or write a condition, such as cider-d>=base-0.01",
            )),
            None => Ok(()),
        }
    }

    fn unmet_conditions(&self, report: &Report, baseline: Option<usize>) -> Result<Vec<String>, Error> {
        let systems = self.systems(report)?;
        let groups: Vec<String> = report.group_keys().collect();
        let groups = groups.iter().map(String::as_str);
        let known: Vec<&str> =
            report.head.keys().chain(groups).chain(systems.iter().map(SystemScore::name)).collect();
        let mut unmet = Vec::new();
        for text in self.required.iter().filter(|text| text.parse::<RequiredVerdict>().is_err()) {
            let condition = Condition::parse(text, Some(&known))
                .map_err(|error| Error::Request(refusal(text, &error)))?;
            let bound = BoundCondition::new(text, &condition, report, &systems)?;
            for (k, _) in report.systems.iter().enumerate().filter(|(k, _)| Some(*k) != baseline) {
                if !bound.names(k) {
                    unmet.extend(bound.unmet(k)?);
                }
            }
        }
        Ok(unmet)
    }

    /// The systems that conditions may name: those of the report, and those of other reports.
    fn systems<'r>(&'r self, report: &'r Report) -> Result<Vec<SystemScore<'r>>, Error> {
        let of = |report: &'r Report| report.systems.iter().map(move |system| SystemScore { report, system });
        let systems: Vec<SystemScore<'_>> = of(report).chain(self.bases.iter().flat_map(of)).collect();
        for (k, system) in systems.iter().enumerate() {
            if systems.iter().take(k).any(|other| other.name() == system.name()) {
                return Err(Error::with_remedy(
                    format!("two systems are called '{}'", system.name()),
                    "give the one of the saved report another name",
                ));
            }
        }
        Ok(systems)
    }

    /// Where a verdict does not hold, by pair with the baseline and by measure.
    fn unmet_verdicts(
        &self,
        comparison: &Comparison,
        verdict: RequiredVerdict,
    ) -> Result<Vec<String>, Error> {
        let measures = &comparison.report.head.measures;
        if let Some(unknown) = self.on.iter().find(|key| comparison.report.measure(key).is_none()) {
            return Err(Error::with_remedy(
                format!("no measure is called '{unknown}'"),
                suggest(unknown, comparison.report.head.keys()),
            ));
        }
        let baseline = comparison.pairs.first().map(|pair| pair.baseline);
        let contrasts = || {
            comparison.pairs.iter().filter(|pair| Some(pair.baseline) == baseline).flat_map(|pair| {
                let asked = pair.contrasts.iter().zip(measures);
                let asked = asked.filter(|(_, m)| self.on.is_empty() || self.on.contains(&m.key));
                asked.map(move |(contrast, measure)| (pair.system, contrast, measure))
            })
        };
        if let Some((.., end)) = contrasts().find(|(_, c, m)| !c.has_test && self.on.contains(&m.key)) {
            return Err(Error::with_remedy(
                format!("{} is a bound of an interval, for which there is no test", end.key),
                "leave it out",
            ));
        }
        let contrasts = || contrasts().filter(|(_, contrast, _)| contrast.has_test);
        if let Some((.., measure)) = contrasts().find(|(_, c, _)| c.randomisation.value.is_nan()) {
            let remedy = Remedy::give(Argument::Segments).to("find the images that cause it");
            return Err(Error::with_remedy(
                format!("{verdict} cannot be decided by {}: a score is not finite", measure.key),
                remedy.or(Remedy::give(Argument::On).to("name the measures that decide")),
            ));
        }
        if let Some(few) = comparison.too_few_resamples()
            && contrasts().any(|(_, contrast, _)| contrast.permutation.is_none())
        {
            let (resamples, tests) = (counted(few.resamples, "resample"), counted(few.tests, "test"));
            let remedy = Remedy::set(Argument::Resamples, few.enough.to_string());
            return Err(Error::with_remedy(
                format!("{verdict} cannot be decided with {resamples} and {tests}"),
                remedy.or(Remedy::say("use fewer metrics")),
            ));
        }
        let fails = |(_, contrast, _): &(usize, &Contrast, &Measure)| match verdict {
            RequiredVerdict::Better => contrast.verdict != Verdict::Better,
            RequiredVerdict::NotWorse => contrast.verdict == Verdict::Worse,
        };
        let name = |system: usize| comparison.report.systems.get(system).map_or("", |s| s.name.as_str());
        let in_words = |(system, contrast, measure): (usize, &Contrast, &Measure)| {
            let verdict = match contrast.verdict {
                Verdict::Better => "better than",
                Verdict::Worse => "worse than",
                Verdict::Undecided => "not significantly different from",
            };
            let p = contrast.permutation.unwrap_or(contrast.randomisation).adjusted;
            let (system, baseline) = (name(system), name(baseline.unwrap_or_default()));
            let p = if p < 0.0001 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
            format!("{system} is {verdict} {baseline} by {}: {:+.4}, {p}", measure.key, contrast.difference)
        };
        Ok(contrasts().filter(fails).map(in_words).collect())
    }
}

/// A system with the report that its scores stand in.
#[derive(Clone, Copy)]
struct SystemScore<'r> {
    report: &'r Report,
    system: &'r SystemReport,
}

impl<'r> SystemScore<'r> {
    fn name(&self) -> &'r str {
        &self.system.name
    }

    fn score(&self, key: &str) -> Option<f64> {
        let whole = self.report.measure(key).and_then(|measure| self.system.scores.get(measure)).copied();
        whole.or_else(|| self.report.group_score(self.name(), key))
    }

    /// The signature of the metric behind a measure, of all images or of a group.
    fn signature(&self, key: &str) -> Option<&'r capeval_metric::Signature> {
        let key = key.split_once('@').map_or(key, |(measure, _)| measure);
        let metric = MetricEntry::of_measure(&self.report.head.metrics, self.report.measure(key)?)?;
        self.system.signatures.get(metric)
    }
}

/// A condition with the measures and systems that it names.
struct BoundCondition<'r> {
    text: &'r str,
    condition: &'r Condition,
    report: &'r Report,
    /// The systems that the condition names, and the measures of each.
    named: Vec<(SystemScore<'r>, Vec<&'r str>)>,
}

impl<'r> BoundCondition<'r> {
    /// Finds what the condition names. A system without a measure stands for what is before the relation, with the
    /// scores of this system.
    fn new(
        text: &'r str,
        condition: &'r Condition,
        report: &'r Report,
        systems: &[SystemScore<'r>],
    ) -> Result<Self, Error> {
        let is_of_group = |name: &str| report.group_keys().any(|key| key == name);
        let is_measure = |name: &str| report.measure(name).is_some() || is_of_group(name);
        let unknown = |name: &str, what: &str, known: Vec<&str>| {
            Error::with_remedy(format!("{text}: no {what} is called '{name}'"), suggest(name, known))
        };
        let mut measures: Vec<&str> = Vec::new();
        for (system, name) in condition.left.names() {
            match system {
                None if is_measure(name) => measures.push(name),
                Some(_) => {}
                None => return Err(unknown(name, "measure", report.head.keys().collect())),
            }
        }
        let mut named: Vec<(SystemScore<'r>, Vec<&str>)> = Vec::new();
        for (system, name) in condition.left.names().into_iter().chain(condition.right.names()) {
            let (system, keys) = match system {
                None if is_measure(name) => continue,
                None => (name, measures.clone()),
                Some(system) if is_measure(name) => (system, vec![name]),
                Some(_) => return Err(unknown(name, "measure", report.head.keys().collect())),
            };
            let found = systems.iter().find(|one| one.name() == system);
            let found = found
                .ok_or_else(|| unknown(system, "system", systems.iter().map(SystemScore::name).collect()))?;
            if let Some(lacking) = keys.iter().find(|key| found.score(key).is_none()) {
                return Err(Error::with_remedy(
                    format!("{text}: the report of '{system}' has no {lacking}"),
                    "score its captions by this metric, too",
                ));
            }
            named.push((*found, keys));
        }
        Ok(Self { text, condition, report, named })
    }

    /// Returns true if the condition names system number `k` of the report.
    fn names(&self, k: usize) -> bool {
        let name = self.report.systems.get(k).map(|system| system.name.as_str());
        self.named.iter().any(|(one, _)| Some(one.name()) == name)
    }

    /// The failure of the condition for system number `k`, in words; `None` if it holds.
    fn unmet(&self, k: usize) -> Result<Option<String>, Error> {
        let Some(system) = self.report.systems.get(k) else { return Ok(None) };
        let own = SystemScore { report: self.report, system };
        for (other, keys) in &self.named {
            for key in keys {
                if let (Some(one), Some(another)) = (own.signature(key), other.signature(key)) {
                    let hashes = [&own, other].map(|one| one.system.reference_hash.as_deref());
                    comparable([own.name(), other.name()], [one, another], hashes)?;
                }
            }
        }
        let left = self.value(&self.condition.left, own);
        let right = self.value(&self.condition.right, own);
        if left.is_nan() || right.is_nan() {
            return Err(Error::with_remedy(
                format!("{} cannot be decided for {}: a score is not finite", self.text, own.name()),
                Remedy::give(Argument::Segments).to("find the images that cause it"),
            ));
        }
        let relation = self.condition.relation;
        Ok((!relation.holds(left, right)).then(|| {
            let [left, right] = told_apart(left, right);
            format!(
                "{} does not meet {}: {left} is not {} {right}",
                own.name(),
                self.text,
                relation.summary()
            )
        }))
    }

    /// The value of a formula for a system. A bare name is a measure, or a system that stands for the left side.
    fn value(&self, formula: &Formula, own: SystemScore<'_>) -> f64 {
        formula.value(&|system, name| {
            let named = |system: &str| self.named.iter().map(|(one, _)| one).find(|one| one.name() == system);
            match system {
                Some(system) => named(system).and_then(|one| one.score(name)),
                None => own.score(name).or_else(|| {
                    let base = named(name)?;
                    Some(self.condition.left.value(&|system, name| {
                        system.map_or(Some(base), named).and_then(|one| one.score(name)).unwrap_or(f64::NAN)
                    }))
                }),
            }
            .unwrap_or(f64::NAN)
        })
    }
}

/// Two numbers with four digits, or with as many as tell them apart.
fn told_apart(left: f64, right: f64) -> [String; 2] {
    let with = |digits: usize| [left, right].map(|value| format!("{value:.digits$}"));
    (4..17).map(with).find(|[left, right]| left != right).unwrap_or_else(|| with(4))
}
