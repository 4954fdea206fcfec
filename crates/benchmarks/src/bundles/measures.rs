//! Finds the measure that a column of a board names, by looking for the names in the registry among the words of the
//! column.

use std::collections::HashMap;

use capeval_tasks::offered;

/// The rule that ranks by the mean of ranks.
pub const MEAN_RANK: &str = "mean-rank";

/// A column of a board elsewhere.
#[derive(Clone, Debug, Default)]
pub struct GivenColumn {
    /// The name for the program that scores.
    pub key: String,
    /// The name for people.
    pub title: String,
    pub line: usize,
    pub lower_is_better: bool,
    /// The function of other columns that it is, with their places.
    pub computed: Option<(String, Vec<usize>)>,
}

/// The metrics that stand for columns.
#[derive(Debug, Default)]
pub struct FoundMeasures {
    pub metrics: Vec<String>,
    pub derive: Vec<String>,
    /// The key of the measure that stands for each column, if there is one.
    pub keys: Vec<Option<String>>,
    /// The rule that ranks by the mean of ranks, and the place of its column.
    pub rank_by: Option<(usize, String)>,
    /// What is to be said about columns, with their lines.
    pub notes: Vec<(usize, String)>,
}

/// A measure that may have a name.
#[derive(Clone)]
struct KnownMeasure {
    metric: String,
    key: String,
    lower_is_better: bool,
    /// What it needs that a site may lack.
    needs: Option<&'static str>,
}

/// The measures by their names without spaces and signs.
fn known() -> anyhow::Result<HashMap<String, KnownMeasure>> {
    let mut known = HashMap::new();
    for metric in offered(None)? {
        if metric.name.contains(':') || capeval_tasks::is_dense(std::slice::from_ref(&metric.name)) {
            continue;
        }
        let measure = |part: &capeval_tasks::OfferedMeasure| KnownMeasure {
            metric: metric.name.clone(),
            key: part.key.clone(),
            lower_is_better: part.lower_is_better,
            needs: metric.data,
        };
        for part in &metric.measures {
            for name in [&part.key, &part.label] {
                known.entry(words(name).concat()).or_insert_with(|| measure(part));
            }
        }
        // A metric stands for the last of its measures: BLEU for BLEU-4.
        if let Some(part) = metric.measures.last() {
            known.entry(words(&metric.name).concat()).or_insert_with(|| measure(part));
        }
    }
    Ok(known)
}

/// The words and numbers of a name.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The most words of a name that are looked at.
const MOST_WORDS: usize = 1000;

/// The most words that name a measure: its letters, if each is one.
const LONGEST: usize = 40;

/// The measure that a name contains: as few words as it has besides.
fn measure_in<'m>(known: &'m HashMap<String, KnownMeasure>, name: &str) -> Option<&'m KnownMeasure> {
    let mut words = words(name);
    words.truncate(MOST_WORDS);
    (1..=words.len().min(LONGEST))
        .rev()
        .find_map(|n| words.windows(n).find_map(|run| known.get(&run.concat())))
}

/// Finds the measures that columns mean.
pub fn find(columns: &[GivenColumn]) -> anyhow::Result<FoundMeasures> {
    let known = known()?;
    let mut found = FoundMeasures::default();
    for column in columns.iter().filter(|column| column.computed.is_none()) {
        let named = measure_in(&known, &column.title).or_else(|| measure_in(&known, &column.key));
        let (title, line) = (&column.title, column.line);
        let key = match named {
            None => {
                found.notes.push((
                    line,
                    format!("the column {title} is no measure of capeval: its program is not run"),
                ));
                None
            }
            Some(KnownMeasure { metric, needs: Some("models"), .. }) => {
                let note =
                    format!("the column {title} may be {metric}, which needs a model: add it to `metrics`");
                found.notes.push((line, note));
                None
            }
            Some(measure) => {
                if measure.lower_is_better != column.lower_is_better {
                    let better = if measure.lower_is_better { "lower" } else { "higher" };
                    found.notes.push((
                        line,
                        format!("the column {title} is {}, of which {better} is better", measure.key),
                    ));
                }
                if measure.key == "cider" {
                    found.notes.push((
                        line,
                        format!("the column {title} is cider; COCO's program prints cider-d under that name"),
                    ));
                }
                if !found.metrics.contains(&measure.metric) {
                    found.metrics.push(measure.metric.clone());
                }
                Some(measure.key.clone())
            }
        };
        found.keys.push(key);
    }
    // Those that are computed name others, which may follow.
    let mut own = found.keys.drain(..).collect::<Vec<_>>().into_iter();
    let keys: Vec<Option<String>> = columns
        .iter()
        .map(|column| column.computed.is_none().then(|| own.next().flatten()).flatten())
        .collect();
    found.keys.clone_from(&keys);
    for (place, column) in columns.iter().enumerate() {
        let Some((function, of)) = &column.computed else { continue };
        if function == MEAN_RANK
            && let Some(of) = keys_of(of, &keys)
        {
            found.rank_by = Some((place, format!("{MEAN_RANK}({})", of.join(", "))));
            continue;
        }
        match derived(column, function, of, &keys) {
            Some((name, formula)) if !known.contains_key(&words(&name).concat()) => {
                found.derive.push(formula);
                found.keys[place] = Some(name);
            }
            _ => found.notes.push((
                column.line,
                format!("the column {} is computed from others: add it to `derive`", column.title),
            )),
        }
    }
    Ok(found)
}

/// The formula of a column that is computed from others, all of which are measures.
fn derived(
    column: &GivenColumn,
    function: &str,
    of: &[usize],
    keys: &[Option<String>],
) -> Option<(String, String)> {
    let function = match function {
        "avg" | "average" | "mean" => "mean",
        "sum" => "sum",
        "min" => "min",
        "max" => "max",
        _ => return None,
    };
    let of = keys_of(of, keys)?;
    let name = words(&column.key).join("-");
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.is_ascii();
    is_name.then(|| (name.clone(), format!("{name} = {function}({})", of.join(", "))))
}

/// The keys of columns, all of which are measures.
fn keys_of<'k>(of: &[usize], keys: &'k [Option<String>]) -> Option<Vec<&'k str>> {
    let of: Vec<&str> = of.iter().map(|place| keys.get(*place)?.as_deref()).collect::<Option<_>>()?;
    Some(of).filter(|of| !of.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(title: &str) -> GivenColumn {
        GivenColumn { key: "x".to_owned(), title: title.to_owned(), line: 1, ..GivenColumn::default() }
    }

    #[test]
    fn columns_are_measures_by_what_the_registry_calls_them() {
        let titles =
            ["Bleu_4", "CIDEr", "test1 ROUGE-L", "SPICE (F)", "METEOR", "BLEU-1", "Accuracy", "CLIP-S"];
        let found = find(&titles.map(column)).unwrap();
        let keys: Vec<&str> = found.keys.iter().map(|key| key.as_deref().unwrap_or("")).collect();
        assert_eq!(keys, ["bleu-4", "cider", "rouge-l", "spice", "meteor", "bleu-1", "", ""]);
        assert_eq!(found.metrics, ["bleu", "cider", "rouge-l", "spice", "meteor"]);
        assert!(
            found.notes[1].1.contains("Accuracy") && found.notes[2].1.contains("needs a model"),
            "{:?}",
            found.notes
        );
    }

    #[test]
    fn a_long_name_takes_no_longer_than_its_words() {
        assert!(find(&[column(&"word ".repeat(100_000))]).unwrap().metrics.is_empty());
    }

    #[test]
    fn computed_columns_are_derived_if_all_their_columns_are_measures() {
        let computed = |of: &[usize]| GivenColumn {
            key: "all_of".to_owned(),
            computed: Some(("avg".to_owned(), of.to_vec())),
            ..column("All")
        };
        let found = find(&[computed(&[1, 2]), column("BLEU-4"), column("CIDEr")]).unwrap();
        assert_eq!(found.derive, ["all-of = mean(bleu-4, cider)"]);
        assert_eq!(found.keys[0].as_deref(), Some("all-of"));
        for broken in [computed(&[1, 7]), computed(&[]), computed(&[0])] {
            let found = find(&[broken, column("BLEU-4")]).unwrap();
            assert!(found.derive.is_empty() && found.notes.len() == 1, "{found:?}");
        }
    }
}
