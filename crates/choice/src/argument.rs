//! Everything that a person can set, under one name each.

/// Which of a task's files an option of a reader is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// What people wrote, several captions per image.
    References,
    /// What a system wrote, one caption per image.
    Candidates,
    /// What a system was trained on, read like references.
    Training,
    /// Human ratings of captions.
    Ratings,
    /// Pairs of captions, of which people preferred one.
    Pairs,
    /// Scores that were computed before.
    Scores,
}

macro_rules! arguments {
    ($( $(#[$meta:meta])* $variant:ident $(($role:ty))? = $name:literal, $placeholder:literal; )+) => {
        /// Something that a person can set. A remedy names it; a front end knows how it is written there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Argument {
            $( $(#[$meta])* $variant $(($role))?, )+
        }

        impl Argument {
            /// The name in requests and programs, such as `own_reference`.
            pub const fn name(self) -> &'static str {
                match self { $(arguments!(@pattern $variant $(($role))?) => $name),+ }
            }

            /// What stands for the value where a remedy names none, such as `FILE`.
            pub const fn placeholder(self) -> &'static str {
                match self { $(arguments!(@pattern $variant $(($role))?) => $placeholder),+ }
            }
        }
    };
    (@pattern $variant:ident) => { Argument::$variant };
    (@pattern $variant:ident ($role:ty)) => { Argument::$variant(_) };
}

arguments! {
    /// The format of a file, instead of detecting it from the content.
    Format(Role) = "format", "FORMAT";
    /// The column or key that holds the image's id.
    IdColumn(Role) = "id_column", "NAME";
    /// The columns or keys that hold captions.
    CaptionColumns(Role) = "caption_columns", "NAME";
    /// The column or key that holds the system's name.
    SystemColumn(Role) = "system_column", "NAME";
    /// The columns or keys that hold ratings.
    RatingColumns = "rating_columns", "NAMES";
    /// The splits to keep of a Karpathy file.
    Split(Role) = "split", "SPLIT";
    /// The references.
    References = "references", "FILE";
    /// The captions that a system was trained on.
    Training = "train", "FILE";
    /// Scores that were computed before.
    Scores = "scores", "FILE";
    /// The keys of given scores that are error rates.
    LowerIsBetter = "lower_is_better", "KEYS";
    /// The images to score.
    Images = "images", "FILE";
    /// What to do with images without a candidate.
    Missing = "missing", "POLICY";
    /// What to do with candidates without references.
    Surplus = "surplus", "POLICY";
    /// What to do with several candidates for one image.
    Duplicate = "duplicate", "POLICY";
    /// What to do with candidates without a word.
    Empty = "empty", "POLICY";
    /// How ids are compared.
    Ids = "ids", "HOW";
    /// What to do with a rated caption that is a reference of its image.
    OwnReference = "own_reference", "WHAT";
    /// The metrics.
    Metrics = "metrics", "LIST";
    /// The tokenizer.
    Tokenizer = "tokenizer", "NAME";
    /// Where document frequencies come from.
    Idf = "idf", "SOURCE";
    /// A saved table of document frequencies.
    DocumentFrequencies = "df", "FILE";
    /// How many images a table of document frequencies was counted over.
    DocumentFrequencyImages = "df_images", "N";
    /// A saved n-gram model.
    LanguageModel = "lm", "FILE";
    /// The longest n-grams.
    Order = "n", "N";
    /// The discounts of an n-gram model.
    Discount = "discount", "NUMBERS";
    /// The data of ROUGE-1.5.5.
    RougeData = "rouge_data", "DIR";
    /// MeCab's Japanese dictionary.
    MecabJapanese = "mecab_ja", "DIR";
    /// MeCab's Korean dictionary.
    MecabKorean = "mecab_ko", "DIR";
    /// The number of resamples.
    Resamples = "resamples", "N";
    /// What the resamples start from.
    Seed = "seed", "N";
    /// What a point of a correlation is.
    Unit = "unit", "WHAT";
    /// How many references are drawn for each pair.
    ReferencesPerPair = "references_per_pair", "N";
    /// How many times references are drawn.
    Draws = "draws", "N";
    /// What the draws start from.
    DrawSeed = "draw_seed", "N";
    /// What a tie of people counts.
    HumanTies = "human_ties", "RULE";
    /// What a tie of a metric counts.
    MetricTies = "metric_ties", "RULE";
    /// Scores of every image.
    Segments = "segments", "FILE";
    /// The number of threads.
    Threads = "threads", "N";
}
