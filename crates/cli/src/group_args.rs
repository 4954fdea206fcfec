//! Flags about groups of images.

use anyhow::Result;
use capeval::report::GroupFrequencies;
use capeval::{GroupBy, ScoreOptions};
use capeval_files::GroupSources;

use crate::fault::fault;
use crate::options::{GROUPS, choices};

/// Groups of images, which are scored beside all of them.
#[derive(clap::Args)]
#[command(next_help_heading = GROUPS)]
pub struct GroupArgs {
    /// Score groups of images, too: by a column or key of the references or captions, by FILE or FILE:COLUMN with a
    /// group for each id, or by `words:references`, `words:candidate=8,12`, `references:count`, `objects:references`;
    /// joined by `×` or ` x `, every combination is a group. May be repeated; `none` leaves out the groups of a kit.
    #[arg(long, value_name = "WHAT")]
    group_by: Vec<String>,
    /// Images that metrics such as CIDEr learn document frequencies from, for the scores of a group.
    #[arg(long, value_name = "RULE", default_value_t, value_parser = choices::<GroupFrequencies>())]
    pub group_df: GroupFrequencies,
}

impl GroupArgs {
    /// What groups images; a bare name is a column of one of the files `captions`, whose ids are in `id_columns` where
    /// these are given.
    pub fn read<'p>(
        &self,
        captions: impl IntoIterator<Item = &'p str>,
        id_columns: [Option<&str>; 2],
    ) -> Result<Vec<GroupBy>> {
        let mut sources = GroupSources::new(captions).with_ids(id_columns.into_iter().flatten());
        // A kit may set what groups images, so that this is known only now.
        if self.group_by.is_empty() && self.group_df != GroupFrequencies::default() {
            return Err(fault("--group-df has no effect without groups", "add --group-by, or leave it out"));
        }
        self.group_by.iter().filter(|what| *what != "none").map(|what| Ok(sources.find(what)?)).collect()
    }

    /// Sets the options of these flags.
    pub fn apply(&self, options: ScoreOptions) -> ScoreOptions {
        ScoreOptions { group_df: self.group_df, ..options }
    }
}
