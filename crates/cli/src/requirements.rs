//! What is required of scores, and which exit code follows.

use anyhow::Result;
use capeval::choice::counted;
use capeval::report::Report;
use capeval::{Requirements, check_requirement};
use capeval_files as files;

use crate::fault::{fault, sentence};
use crate::names::{self, SystemFile};
use crate::{messages, results};

/// Conditions on scores.
#[derive(clap::Args)]
pub struct ConditionArgs {
    /// Exit with code 1 unless this holds: a condition, such as 'cider-d>=1.2' or 'spice>=base-0.001', for every system
    /// that it does not name, or, of a comparison, `better` or `not-worse`; may be repeated.
    #[arg(long, value_name = "WHAT", value_parser = requirement, help_heading = REQUIREMENTS)]
    require: Vec<String>,
    /// A saved report with systems that --require may name, the only one after its file unless NAME= is given; may be
    /// repeated.
    #[arg(long, value_name = "[NAME=]FILE", requires = "require", help_heading = REQUIREMENTS)]
    base: Vec<String>,
}

/// The heading of these flags in the help.
pub const REQUIREMENTS: &str = "Requirements";

fn requirement(text: &str) -> Result<String, String> {
    check_requirement(text).map(|()| text.to_owned()).map_err(|refusal| sentence(&refusal))
}

impl ConditionArgs {
    /// Reads the reports that are named; `on` are the measures that verdicts apply to.
    pub fn read(&self, on: &[String]) -> Result<Requirements> {
        let bases = self.base.iter().map(|base| {
            let (name, path) = names::split(base);
            let stem = name.map_or_else(|| names::stem(path, 1), str::to_owned);
            let named = SystemFile { name: stem.clone(), path: path.to_owned(), is_given: name.is_some() };
            let mut report = saved_report(&named)?;
            // Reports of one file, day after day, all have a system of the same name.
            if let [system] = &mut report.systems[..] {
                system.name = stem;
            }
            Ok(report)
        });
        Ok(Requirements {
            required: self.require.clone(),
            on: on.to_vec(),
            bases: bases.collect::<Result<_>>()?,
        })
    }
}

/// Says what does not hold, and returns the exit code.
pub fn exit_code(failures: &[String]) -> u8 {
    messages::tell_failures(failures);
    u8::from(!failures.is_empty())
}

/// The saved report of a file; if it has a single system, a given name is that of the system.
pub fn saved_report(SystemFile { name, path, is_given }: &SystemFile) -> Result<Report> {
    let study = files::result(path, results::kinds())?;
    let Some(mut report) = results::report_of(&*study)? else {
        return Err(fault(format!("{path}: a {}, not a report", study.kind().name), "name a saved report"));
    };
    match &mut report.systems[..] {
        [system] if *is_given => system.name.clone_from(name),
        systems if *is_given => {
            return Err(fault(
                format!("{path}: one name, {name}, for {}", counted(systems.len(), "system")),
                "leave it out",
            ));
        }
        _ => {}
    }
    Ok(report)
}
