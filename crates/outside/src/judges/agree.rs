//! Compares two runs of a judge: how often their grades agree, and how far apart they are.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use capeval::metric::Signature;
use capeval::report::charts::{Colour, Estimate};
use capeval::report::{
    Cell, Estimates, Fields, Form, Grid, Head, Headings, Kind, Labels, Line, Study, Style, Table, fields,
    fixed, study_head,
};
use capeval::stats::agreement::krippendorff_ordinal;
use capeval_choice::{Dialect, Refusal};
use capeval_files::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::judges::record::{Judgement, Record};

/// Agreement of two runs of judges.
pub const KIND: Kind = Kind::of::<JudgeAgreement>("judge-agreement");

/// How much two files of judgements agree, judge by judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JudgeAgreement {
    /// The fields that all results share.
    pub head: Head,
    /// The files.
    pub files: [String; 2],
    /// The judges that are in both.
    pub judges: Vec<Agreement>,
}

/// How much two files agree about the questions of one judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The judge, and the models of both runs.
    pub judge: String,
    /// The model of each run, as the server names it; several are joined by `+`.
    pub models: [String; 2],
    /// The number of questions with an answer that could be read in both files.
    pub questions: usize,
    /// The number of questions that only one file has, for each.
    pub only: [usize; 2],
    /// The number of questions of both that could not be read in one of them.
    pub unreadable: usize,
    /// The share of equal grades.
    pub exact: f64,
    /// The mean of the second grade minus the first.
    pub difference: f64,
    /// The mean of the absolute differences.
    pub absolute_difference: f64,
    /// Krippendorff's α for ordered ratings; `None` if all grades are equal.
    pub alpha: Option<f64>,
}

/// Compares the judgements of two files, which must be of one judge.
///
/// # Errors
/// When a file cannot be read, or they have no question of one judge in common.
pub fn agree(first: &str, second: &str) -> Result<JudgeAgreement, Error> {
    let records = [Record::read(first)?, Record::read(second)?];
    let [of_first, of_second] = records.map(|record| by_judge(record.all()));
    let both = of_first.iter().filter_map(|(asks, one)| compared(one, of_second.get(asks)?));
    let judges: Vec<Agreement> = both.collect();
    if judges.is_empty() {
        return Err(Refusal::new(format!("{first} and {second} have no question of one judge in common"))
            .with_remedy("compare two runs of the same judge on the same captions")
            .into());
    }
    let head = Head { version: capeval::VERSION.to_owned(), ..Head::default() };
    Ok(JudgeAgreement { head, files: [first, second].map(str::to_owned), judges })
}

/// The last answer to each question, by what a judge asks.
type ByJudge = BTreeMap<String, BTreeMap<String, Arc<Judgement>>>;

fn by_judge(all: Vec<Arc<Judgement>>) -> ByJudge {
    let mut found = ByJudge::new();
    for judgement in all {
        let of_judge = found.entry(judgement.asks.clone()).or_default();
        // The first answer that can be read counts, as in scores.
        let is_better = of_judge.get(&judgement.question).is_none_or(|known| grade(known).is_none());
        if is_better {
            of_judge.insert(judgement.question.clone(), judgement);
        }
    }
    found
}

/// The grade that was read from an answer; of a checklist, the share of right items.
fn grade(judgement: &Judgement) -> Option<f64> {
    let values: Vec<f64> = serde_json::from_value(judgement.read.get("values")?.clone()).ok()?;
    match values[..] {
        [grade] => Some(grade),
        [items, _, right] if items > 0.0 => Some(right / items),
        _ => None,
    }
}

fn compared(
    one: &BTreeMap<String, Arc<Judgement>>,
    other: &BTreeMap<String, Arc<Judgement>>,
) -> Option<Agreement> {
    let both: Vec<[&Judgement; 2]> =
        one.iter().filter_map(|(question, first)| Some([&**first, &**other.get(question)?])).collect();
    let grades: Vec<[f64; 2]> =
        both.iter().filter_map(|[first, second]| Some([grade(first)?, grade(second)?])).collect();
    let first = both.first()?[0];
    let n = grades.len() as f64;
    let mean =
        |of: &dyn Fn(&[f64; 2]) -> f64| if n == 0.0 { 0.0 } else { grades.iter().map(of).sum::<f64>() / n };
    let models = [0, 1].map(|side| {
        let mut models: Vec<&str> =
            both.iter().map(|pair| pair[side].model.as_deref().unwrap_or(&pair[side].asked)).collect();
        models.sort_unstable();
        models.dedup();
        models.join("+")
    });
    Some(Agreement {
        judge: format!("{} {}", first.judge, first.version),
        models,
        questions: grades.len(),
        only: [one.len() - both.len(), other.len() - both.len()],
        unreadable: both.len() - grades.len(),
        exact: mean(&|[first, second]| f64::from(u8::from(first == second))),
        difference: mean(&|[first, second]| second - first),
        absolute_difference: mean(&|[first, second]| (second - first).abs()),
        alpha: krippendorff_ordinal(grades.iter().map(<[f64; 2]>::as_slice)),
    })
}

/// The columns of CSV.
const COLUMNS: &str =
    "judge,model_1,model_2,questions,only_1,only_2,unreadable,exact,difference,absolute_difference,alpha";

impl Study for JudgeAgreement {
    study_head!(KIND, head);

    fn headings(&self) -> Headings {
        Headings {
            title: "Agreement of two runs of judges".to_owned(),
            subtitle: self.files.join(" and "),
            tables: "Grades",
            estimates: "Agreement",
        }
    }

    fn tables(&self, digits: usize, _labels: Labels) -> Vec<Table> {
        let names =
            ["", "questions", "equal", "mean difference", "mean absolute difference", "Krippendorff's α"];
        let rows = self.judges.iter().map(|one| {
            let numbers = [self.head.factor() * one.exact, one.difference, one.absolute_difference];
            let numbers = numbers.into_iter().chain([one.alpha.unwrap_or(f64::NAN)]);
            let name = format!("{}: {} and {}", one.judge, one.models[0], one.models[1]);
            let cells = [name, one.questions.to_string()].into_iter();
            cells.chain(numbers.map(|number| fixed(number, digits))).map(Cell::from).collect()
        });
        vec![Table { title: None, grid: Grid::of_numbers(names, rows) }]
    }

    fn legend(&self, _form: Form, _tables: &[Table]) -> Vec<String> {
        vec![
            format!("grades in {} and {} (capeval {})", self.files[0], self.files[1], self.head.version),
            "equal: the share of equal grades; differences: second minus first".to_owned(),
        ]
    }

    fn signatures(&self) -> Vec<Signature> {
        Vec::new()
    }

    fn write_text(&self, _style: &Style, _dialect: &dyn Dialect, out: &mut dyn Write) -> io::Result<()> {
        self.judges.iter().try_for_each(|one| out.write_all(one.in_words().as_bytes()))
    }

    fn scale_to_percent(&mut self) {
        self.head.show_percent("shares of equal grades");
    }

    fn estimates(&self, digits: usize) -> Vec<Estimates> {
        let figure = |title: &str, pick: &dyn Fn(&Agreement) -> Option<f64>| Estimates {
            title: title.to_owned(),
            label: title.to_owned(),
            rows: self
                .judges
                .iter()
                .filter_map(|one| {
                    Some(Estimate {
                        name: one.judge.clone(),
                        value: pick(one)?,
                        interval: None,
                        colour: Colour::System(0),
                    })
                })
                .collect(),
            none: None,
            digits,
            note: self.head.note_of_intervals("image"),
        };
        vec![figure("Equal grades", &|one| Some(one.exact)), figure("Krippendorff's α", &|one| one.alpha)]
    }

    fn body(&self) -> Fields {
        Fields::new()
    }

    /// A list of the judges.
    fn json(&self) -> Value {
        json!(self.judges)
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let line = |one| Line { body: fields(one), signatures: Vec::new(), notices: Vec::new() };
        self.judges.iter().map(line).collect()
    }

    fn columns(&self) -> Vec<String> {
        COLUMNS.split(',').map(str::to_owned).collect()
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |one: &Agreement| {
            let mut row = vec![one.judge.clone()];
            row.extend(one.models.clone());
            row.extend([one.questions, one.only[0], one.only[1], one.unreadable].map(|n| n.to_string()));
            row.extend(
                [one.exact, one.difference, one.absolute_difference].map(|number| format!("{number:?}")),
            );
            row.push(one.alpha.map_or_else(String::new, |alpha| format!("{alpha:?}")));
            row
        };
        self.judges.iter().map(row).collect()
    }

    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }
}

impl Agreement {
    /// The text for a terminal.
    fn in_words(&self) -> String {
        let Self {
            judge,
            models,
            questions,
            only,
            unreadable,
            exact,
            difference,
            absolute_difference,
            alpha,
        } = self;
        let alpha =
            alpha.map_or_else(|| "not defined, since all grades are equal".to_owned(), |a| format!("{a:.3}"));
        format!(
            "{judge}: {} and {}\n  questions in both files     {questions}\n  only in one of them         {} and {}\n  \
             unreadable in one of them   {unreadable}\n  equal grades                {:.1} %\n  mean difference             \
             {difference:+.4} (second minus first)\n  mean absolute difference    {absolute_difference:.4}\n  \
             Krippendorff's α            {alpha}\n",
            models[0],
            models[1],
            only[0],
            only[1],
            100.0 * exact,
        )
    }
}
