//! The forms that results are written in, and the results that can be written in each.

use std::io::{self, Write};

use capeval_corpus::UnknownName;

use crate::{
    Comparison, Correlation, Preference, Report, Style, comparison, correlation, preference, render,
};

/// A form of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// For a person at a terminal.
    #[default]
    Table,
    /// One JSON object.
    Json,
    /// JSON Lines, one object per row.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// A Markdown table.
    Markdown,
    /// A LaTeX table, for booktabs.
    Latex,
}

impl Form {
    /// Every form.
    pub const ALL: &[Self] = &[Self::Table, Self::Json, Self::Jsonl, Self::Csv, Self::Markdown, Self::Latex];

    /// The name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
            Self::Latex => "latex",
        }
    }
}

impl std::str::FromStr for Form {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|form| form.name() == name).ok_or_else(|| UnknownName {
            what: "form of results",
            given: name.into(),
            choices: Self::ALL.iter().map(|form| form.name()).collect(),
        })
    }
}

/// A result that can be written in every [`Form`].
pub trait Written {
    /// Writes the result. The digits of `style` go for the forms for people; programs get every digit.
    ///
    /// # Errors
    /// When `out` does not take what is written.
    fn write(&self, form: Form, style: &Style, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what stands behind the result, a line of JSON each: images, rated captions, or pairs.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_rows(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl Written for Report {
    /// The table is followed by the explanations of single scores, if any were asked for.
    fn write(&self, form: Form, style: &Style, mut out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Table => {
                render::table(self, style, &mut out)?;
                if self.explained.is_empty() {
                    return Ok(());
                }
                writeln!(out)?;
                crate::explanations(self, style, &mut out)
            }
            Form::Json => render::json(self, &mut out),
            Form::Jsonl => render::jsonl(self, &mut out),
            Form::Csv => render::csv(self, &mut out),
            Form::Markdown => render::markdown(self, style.digits, &mut out),
            Form::Latex => render::latex(self, style.digits, &mut out),
        }
    }

    fn write_rows(&self, mut out: &mut dyn Write) -> io::Result<()> {
        crate::segments(self, &mut out)
    }
}

/// For results whose renderers lie together in a module.
macro_rules! written {
    ($result:ty, $module:ident, |$found:ident, $out:ident| $rows:expr) => {
        impl Written for $result {
            fn write(&self, form: Form, style: &Style, mut out: &mut dyn Write) -> io::Result<()> {
                match form {
                    Form::Table => $module::table(self, style, &mut out),
                    Form::Json => $module::json(self, &mut out),
                    Form::Jsonl => $module::jsonl(self, &mut out),
                    Form::Csv => $module::csv(self, &mut out),
                    Form::Markdown => $module::markdown(self, style.digits, &mut out),
                    Form::Latex => $module::latex(self, style.digits, &mut out),
                }
            }

            fn write_rows(&self, mut $out: &mut dyn Write) -> io::Result<()> {
                let $found = self;
                $rows
            }
        }
    };
}

written!(Comparison, comparison, |found, out| crate::segments(&found.report, &mut out));
written!(Correlation, correlation, |found, out| correlation::points(found, &mut out));
written!(Preference, preference, |found, out| preference::pairs(found, &mut out));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_a_name_of_its_own() {
        for form in Form::ALL {
            assert_eq!(form.name().parse(), Ok(*form));
        }
        assert!("html".parse::<Form>().is_err());
    }
}
