//! The flags that choose metrics and name their data, and the metrics as they are chosen.

use anyhow::Result;
use capeval::metric::{AnyMetric, Resources, Signature};
use capeval::{IdfSource, MetricOptions, OutsideMetrics};
use capeval_files::{Caches, DataFiles, MetricData};
use capeval_outside::Sources;
use capeval_outside::chair::ObjectFiles;

use crate::fault::fault;
use crate::judging::{self, JudgingArgs};
use crate::options::{self, Metrics};
use crate::written_flags::WrittenFlags;
use crate::{data, messages};

/// Metrics and the data that they need.
#[derive(clap::Args)]
#[command(next_help_heading = options::METRICS)]
pub struct MetricArgs {
    #[command(flatten)]
    chosen: Metrics,
    /// Source of CIDEr's document frequencies [default: that of --df if set, otherwise the references].
    #[arg(long, value_name = "WHICH", value_parser = options::choices::<IdfSource>())]
    idf: Option<IdfSource>,
    /// File with a table of document frequencies for CIDEr; see `capeval df`.
    #[arg(long, value_name = "FILE")]
    df: Option<String>,
    /// Number of images counted in the table, for a pickle that does not contain it.
    #[arg(long, value_name = "N", requires = "df")]
    df_images: Option<u64>,
    /// ARPA file with the language model for the metric perplexity; see `capeval lm`.
    #[arg(long, value_name = "FILE")]
    lm: Option<String>,
    /// Pictures for metrics that look at them, and for pages that show every image: a folder with files named after
    /// image ids; a path (for pages also a URL) with {id}, or {id:012} for an id padded with zeros; or a file that
    /// names each image's picture, such as COCO's annotations or a table with a column of paths. May be repeated: a
    /// table's paths may be in a folder that is also given.
    #[arg(long, value_name = "DIR|PATTERN|FILE")]
    pub pictures: Vec<String>,
    /// Model for metrics that compare vectors, such as clip-s and bert-score: a folder as Hugging Face stores it, or a
    /// name set by `capeval model add`; may be repeated.
    #[arg(long = "model", value_name = "DIR|NAME")]
    models: Vec<String>,
    /// Vectors for these metrics instead of a model, where WHAT is images, texts, references, candidates or
    /// candidates:SYSTEM, and the file .npy or .safetensors; may be repeated.
    #[arg(long, value_name = "WHAT=FILE")]
    vectors: Vec<String>,
    /// List of objects for chair: one per line, its name and synonyms separated by commas.
    #[arg(long, value_name = "FILE")]
    objects: Option<String>,
    /// Objects in each image, for chair: COCO's instances_val2014.json, or a JSON object from image ids to lists of
    /// objects; may be repeated.
    #[arg(long, value_name = "FILE")]
    instances: Vec<String>,
    /// Folder with NLTK's data for chair and meteor-2005:syn=wordnet [default: where NLTK looks, such as ~/nltk_data].
    #[arg(long, value_name = "DIR")]
    nltk_data: Option<String>,
    /// Folder that caches the scores of metrics that are programs, so that later runs compute only new ones; `none` for
    /// no cache [default: a folder in your cache folder, which `capeval data list` shows].
    #[arg(long, value_name = "DIR|none")]
    score_cache: Option<String>,
    /// Install data that a metric needs, such as METEOR's, without asking; SPICE's (521 MB) only if SPICE or SPIDEr is
    /// named, not for a suite. Let judges send their requests without asking.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    judging: JudgingArgs,
}

impl MetricArgs {
    /// Returns true if there is a file with a language model.
    pub fn has_language_model(&self) -> bool {
        self.lm.is_some()
    }

    /// The metrics with their settings.
    pub fn options(&self) -> MetricOptions {
        self.chosen.options(self.idf)
    }

    /// The files with data.
    fn files(&self) -> DataFiles {
        let Self { df, df_images, lm, score_cache, .. } = self;
        let (df, lm, score_cache) = (df.clone(), lm.clone(), score_cache.clone());
        DataFiles { df, df_images: *df_images, lm, score_cache, ..self.chosen.files() }
    }

    /// The sources of metrics whose scores come from outside of the engine.
    fn sources(&self) -> Result<Sources> {
        let Self { models, vectors, objects, instances, nltk_data, pictures, .. } = self;
        let (objects, instances, nltk_data) = (objects.clone(), instances.clone(), nltk_data.clone());
        Ok(Sources {
            models: models.clone(),
            vectors: vectors.clone(),
            objects: ObjectFiles { objects, instances, nltk_data },
            judging: Some(self.judging.judging()?),
            consent: Some(judging::consent(self.yes)),
            programs: Some(messages::of_programs()),
            pictures: pictures.clone(),
            ..Sources::default()
        })
    }

    /// Chooses metrics, before any file is opened; their missing data are installed first if the user agrees.
    pub fn choose(&self, options: MetricOptions) -> Result<ChosenMetrics> {
        self.choose_from(options, |_| {})
    }

    /// The same with other sources than those that the flags name.
    pub fn choose_from(
        &self,
        options: MetricOptions,
        change: impl FnOnce(&mut Sources),
    ) -> Result<ChosenMetrics> {
        data::complete(&options, self.yes)?;
        let mut data = data::installed(&options)?;
        let mut sources = self.sources()?;
        change(&mut sources);
        sources.open(&options, &mut data.resources)?;
        capeval::check_pictures(&data.resources)?;
        let looks = data.resources.get::<OutsideMetrics>().is_some_and(|all| all.look());
        Ok(ChosenMetrics { options, files: self.files(), data, looks })
    }

    /// Refuses pictures that nothing looks at; `is_shown` says whether a page shows them.
    pub fn refuse_unseen(&self, looks: bool, is_shown: bool) -> Result<()> {
        if self.pictures.is_empty() || looks || is_shown {
            return Ok(());
        }
        Err(fault(
            "--pictures is for metrics that look at pictures and for pages that show every image, and there is neither",
            "leave it out, or add such a metric, or --html FILE",
        ))
    }
}

impl WrittenFlags<MetricArgs> {
    /// The first of these flags on the command line, but those that choose metrics, and pictures, which pages show.
    pub fn first_of_data(&self) -> Option<&str> {
        self.first_but(&["--metrics", "--suite", "--pictures"])
    }
}

/// Metrics, with the data that are installed and the files to read.
#[derive(Default)]
pub struct ChosenMetrics {
    pub options: MetricOptions,
    pub files: DataFiles,
    pub data: MetricData,
    /// True if one of the metrics looks at pictures.
    pub looks: bool,
}

impl ChosenMetrics {
    /// Refuses metrics that do not exist, and settings without effect, unless that depends on files.
    pub fn check_early(&self) -> Result<()> {
        if self.files.complete_metrics() { Ok(()) } else { self.check() }
    }

    /// Reads the files; caches are to be saved after scoring.
    pub fn read(mut self) -> Result<(MetricOptions, Resources, Caches)> {
        self.data.read(&self.files)?;
        if self.files.complete_metrics() {
            self.check()?;
        }
        self.data.open_caches(&self.files)?;
        let MetricData { resources, caches, .. } = self.data;
        Ok((self.options, resources, caches))
    }

    fn check(&self) -> Result<()> {
        let selection = capeval::select_metrics(&self.options, &self.data.resources)?;
        let signatures: Vec<&Signature> = selection.metrics.iter().map(AnyMetric::signature).collect();
        let setting = |name: &str| -> Vec<&str> { signatures.iter().filter_map(|s| s.get(name)).collect() };
        if self.options.idf.is_some() && setting("idf").is_empty() {
            return Err(fault(
                "--idf applies to CIDEr, which is not among the metrics",
                "add -m cider-d, or leave out --idf",
            ));
        }
        if self.files.df.is_some() && !setting("idf").iter().any(|idf| idf.starts_with("table")) {
            return Err(fault(
                "no metric uses the document frequencies of --df",
                "leave out --df, or add a metric that uses it, such as cider-d without idf=corpus or idf=uniform",
            ));
        }
        if self.files.lm.is_some() && !setting("lm").iter().any(|lm| *lm != "references") {
            return Err(fault("no metric uses the model of --lm", "add -m perplexity, or leave out --lm"));
        }
        Ok(())
    }
}
