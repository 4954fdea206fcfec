//! Columns that hosts define for teams' answers about their methods, such as the number of parameters.

use std::collections::HashSet;

use anyhow::{bail, ensure};
use capeval_api::{Cell, ColumnKind};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most columns of a phase.
const COLUMNS: usize = 12;

/// The most choices of a column.
const CHOICES: usize = 30;

/// The most characters of a label, a unit or a choice.
const LABEL: usize = 40;

/// The most characters of a text in a column.
pub const TEXT: usize = 200;

/// A column as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ColumnPlan")]
pub struct Column {
    /// The name for programs: small letters, digits, hyphens.
    pub key: String,
    /// The name for people.
    pub label: String,
    pub kind: ColumnKind,
    /// The unit of numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The choices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// True if a submission must fill it in.
    #[serde(default)]
    pub required: bool,
}

/// Checks the columns of a phase.
///
/// # Errors
/// If a column cannot be filled in, or a name is not one.
pub fn check(columns: &[Column]) -> anyhow::Result<()> {
    ensure!(columns.len() <= COLUMNS, reason!("a phase has at most {} columns", COLUMNS));
    let mut keys = HashSet::new();
    for column in columns {
        let Column { key, label, kind, unit, choices, .. } = column;
        if !clean_text::is_key(key, LABEL) {
            bail!(reason!(
                "`{}` is not the key of a column: use at most {} lowercase letters, digits and hyphens",
                key,
                LABEL
            ));
        }
        ensure!(keys.insert(key), reason!("two columns have the key {}", key));
        for name in choices.iter().chain([label]) {
            ensure!(
                !name.is_empty() && clean_text::line(name) == *name && name.chars().count() <= LABEL,
                reason!("the column {}: `{}` is not a text of 1 to {} characters", key, name, LABEL)
            );
        }
        ensure!(
            clean_text::line(unit) == *unit && unit.chars().count() <= LABEL,
            reason!("the column {}: `{}` is not a unit of at most {} characters", key, unit, LABEL)
        );
        ensure!(
            unit.is_empty() || *kind == ColumnKind::Number,
            reason!("the column {}: only a column of the kind `number` has a unit", key)
        );
        match kind {
            ColumnKind::Choice => ensure!(
                (2..=CHOICES).contains(&choices.len())
                    && choices.iter().collect::<HashSet<_>>().len() == choices.len(),
                reason!("the column {}: give 2 to {} different choices", key, CHOICES)
            ),
            _ => ensure!(
                choices.is_empty(),
                reason!("the column {}: only a column of the kind `choice` has choices", key)
            ),
        }
    }
    Ok(())
}

impl Column {
    /// The value of a text in the column; `None` if it is empty.
    pub fn read(&self, given: &str) -> Result<Option<Cell>> {
        let (given, label) = (clean_text::line(given), &self.label);
        if given.is_empty() && !self.required {
            return Ok(None);
        }
        if given.is_empty() {
            return Err(fault!(UNPROCESSABLE_ENTITY, "column", "{}: this is required.", label));
        }
        let cell = match self.kind {
            ColumnKind::Number => match given.parse::<f64>() {
                Ok(number) if number.is_finite() => Cell::Number(number),
                _ => {
                    return Err(fault! {
                        UNPROCESSABLE_ENTITY, "column", "{}: give a number, such as 120 or 0.5.", label
                    });
                }
            },
            ColumnKind::Text if given.chars().count() <= TEXT => Cell::Text(given),
            ColumnKind::Text => {
                return Err(fault! {
                    UNPROCESSABLE_ENTITY, "column", "{}: give at most {} characters.", label, TEXT
                });
            }
            ColumnKind::YesNo => match given.as_str() {
                "yes" | "true" => Cell::YesNo(true),
                "no" | "false" => Cell::YesNo(false),
                _ => {
                    return Err(fault!(UNPROCESSABLE_ENTITY, "column", "{}: answer yes or no.", label));
                }
            },
            ColumnKind::Choice if self.choices.contains(&given) => Cell::Text(given),
            ColumnKind::Choice => {
                return Err(fault! {
                    UNPROCESSABLE_ENTITY, "column", "{}: choose one of {}.", label, self.choices.join(", ")
                });
            }
        };
        Ok(Some(cell))
    }

    /// Returns true if a cell fits the column, which its hosts may have changed.
    pub fn has(&self, cell: &Cell) -> bool {
        matches!(
            (self.kind, cell),
            (ColumnKind::Number, Cell::Number(_))
                | (ColumnKind::YesNo, Cell::YesNo(_))
                | (ColumnKind::Text | ColumnKind::Choice, Cell::Text(_))
        )
    }

    /// A cell in the language of a page.
    pub fn cell_text(&self, page: &Page, cell: &Cell) -> String {
        match cell {
            Cell::YesNo(true) => page.t("yes").to_owned(),
            Cell::YesNo(false) => page.t("no").to_owned(),
            Cell::Number(number) if *number != 0.0 && !(1e-6..1e15).contains(&number.abs()) => {
                format!("{number:e} {}", self.unit).trim_end().to_owned()
            }
            other => format!("{other} {}", self.unit).trim_end().to_owned(),
        }
    }

    /// The label with the unit.
    pub fn title(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{} ({})", self.label, self.unit) }
    }

    /// Itself for programs.
    pub fn for_programs(&self) -> capeval_api::Column {
        let Self { key, label, kind, unit, choices, required } = self.clone();
        capeval_api::Column { key, label, kind: kind.into(), unit, choices, required }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(toml: &str) -> Column {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn columns_that_cannot_be_filled_in_are_refused() {
        let refused = |more: &str| {
            let column = column(&format!("key = 'a'\nlabel = 'A'\n{more}"));
            check(&[column]).unwrap_err().to_string()
        };
        assert!(refused("kind = 'choice'").contains("give 2 to 30 different choices"));
        assert!(refused("kind = 'choice'\nchoices = ['x', 'x']").contains("give 2 to 30 different choices"));
        assert!(
            refused("kind = 'number'\nchoices = ['x', 'y']").contains("only a column of the kind `choice`")
        );
        assert!(refused("kind = 'text'\nunit = 'M'").contains("only a column of the kind `number`"));
        assert!(
            refused("kind = 'choice'\nchoices = ['x', '']")
                .contains("`` is not a text of 1 to 40 characters")
        );
        let twice = column("key = 'a'\nlabel = 'A'\nkind = 'text'");
        assert!(
            check(&[twice.clone(), twice]).unwrap_err().to_string().contains("two columns have the key a")
        );
        let odd = column("key = 'A b'\nlabel = 'A'\nkind = 'text'");
        assert!(check(&[odd]).unwrap_err().to_string().contains("`A b` is not the key of a column"));
    }

    #[test]
    fn cells_are_what_the_column_says() {
        let number = column("key = 'n'\nlabel = 'N'\nkind = 'number'\nunit = 'M'");
        assert_eq!(number.read(" 1.5e3 ").unwrap(), Some(Cell::Number(1500.0)));
        assert_eq!(number.read("").unwrap(), None);
        for wrong in ["x", "inf", "NaN", "1,200", "1e999"] {
            assert!(number.read(wrong).unwrap_err().to_string().starts_with("N: give a number"), "{wrong}");
        }
        assert_eq!(number.title(), "N (M)");
        let choice = column("key = 'c'\nlabel = 'C'\nkind = 'choice'\nchoices = ['x', 'y']\nrequired = true");
        assert_eq!(choice.read("x").unwrap(), Some(Cell::Text("x".to_owned())));
        assert_eq!(choice.read("z").unwrap_err().to_string(), "C: choose one of x, y.");
        assert_eq!(choice.read(" ").unwrap_err().to_string(), "C: this is required.");
        let yes_no = column("key = 'y'\nlabel = 'Y'\nkind = 'yes-no'");
        assert_eq!(yes_no.read("no").unwrap(), Some(Cell::YesNo(false)));
        assert_eq!(yes_no.read("maybe").unwrap_err().to_string(), "Y: answer yes or no.");
        let text = column("key = 't'\nlabel = 'T'\nkind = 'text'");
        assert_eq!(text.read("a\u{202e}b\n c").unwrap(), Some(Cell::Text("ab c".to_owned())));
        assert!(text.read(&"x".repeat(201)).unwrap_err().to_string().contains("at most 200 characters"));
        assert!(number.has(&Cell::Number(1.0)) && !number.has(&Cell::Text(String::new())));
    }
}
