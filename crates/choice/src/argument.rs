//! Everything that a user can set, each with a unique name.

/// The input file to which a reading option applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Captions written by people, several per image.
    References,
    /// Captions written by a system, one per image.
    Candidates,
    /// Captions on which a system was trained; read like references.
    Training,
    /// Human ratings of captions.
    Ratings,
    /// Pairs of captions with the preferences of people.
    Pairs,
    /// Scores that were computed earlier.
    Scores,
}

macro_rules! arguments {
    ($( $(#[$meta:meta])* $variant:ident $(($role:ty))? = $name:literal, $placeholder:literal; )+) => {
        /// Something that a user can set. Remedies refer to it, and each front end knows how to write it.
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

            /// The placeholder for a value that a remedy does not specify, such as `FILE`.
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
    /// The column or key that contains the image id.
    IdColumn(Role) = "id_column", "NAME";
    /// The columns or keys that contain captions.
    CaptionColumns(Role) = "caption_columns", "NAME";
    /// The column or key that contains the name of the system.
    SystemColumn(Role) = "system_column", "NAME";
    /// The columns or keys that contain ratings.
    RatingColumns = "rating_columns", "NAMES";
    /// The splits of a Karpathy file to keep.
    Split(Role) = "split", "SPLIT";
    /// The records to leave out, by a key that is true or by its value.
    Drop(Role) = "drop", "KEY[=VALUE]";
    /// The references.
    References = "references", "FILE";
    /// The captions on which a system was trained.
    Training = "train", "FILE";
    /// Scores that were computed earlier.
    Scores = "scores", "FILE";
    /// The ids of scores that are a list of numbers.
    ScoreIds = "score_ids", "FILE";
    /// The keys of given scores that are error rates.
    LowerIsBetter = "lower_is_better", "KEYS";
    /// The images to score.
    Images = "images", "FILE";
    /// The properties that group images.
    GroupBy = "groups", "WHAT";
    /// The images that metrics learn from for the scores of a group.
    GroupFrequencies = "group_df", "RULE";
    /// Numbers made of measures.
    Derive = "derive", "NAME=FORMULA";
    /// The treatment of images without a candidate.
    Missing = "missing", "POLICY";
    /// The treatment of candidates without references.
    Surplus = "surplus", "POLICY";
    /// The treatment of several candidates for one image.
    Several = "several", "POLICY";
    /// The treatment of candidates without words.
    Empty = "empty", "POLICY";
    /// The kinds of texts that are no captions and are scored all the same.
    Accept = "accept", "KINDS";
    /// The kinds of text to remove from captions.
    Clean = "clean", "KINDS";
    /// The way to compare ids.
    Ids = "ids", "HOW";
    /// The look at how well captions fit their own references.
    Pairing = "pairing", "HOW";
    /// The treatment of a rated caption that is also a reference of its image.
    OwnReference = "own_reference", "WHAT";
    /// The metrics.
    Metrics = "metrics", "LIST";
    /// The tokenizer.
    Tokenizer = "tokenizer", "NAME";
    /// The source of document frequencies.
    Idf = "idf", "SOURCE";
    /// A saved table of document frequencies.
    DocumentFrequencies = "df", "FILE";
    /// The number of images from which a table of document frequencies was counted.
    DocumentFrequencyImages = "df_images", "N";
    /// A saved n-gram model.
    LanguageModel = "lm", "FILE";
    /// A file of parses that survive runs.
    SpiceCache = "spice_cache", "FILE";
    /// A folder of scores that survive runs.
    ScoreCache = "score_cache", "DIR";
    /// The frames per second of videos.
    Fps = "fps", "NUMBER";
    /// A model that makes vectors.
    Model = "model", "DIR";
    /// Files of vectors.
    Vectors = "vectors", "WHAT=FILE";
    /// The pictures of images.
    Pictures = "pictures", "DIR";
    /// Put the pictures into the page.
    EmbedPictures = "embed_pictures", "";
    /// The list of objects that captions can mention.
    Objects = "objects", "FILE";
    /// The objects that are in images.
    Instances = "instances", "FILE";
    /// A folder with data of NLTK.
    NltkData = "nltk_data", "DIR";
    /// The address of a server with language models.
    Endpoint = "endpoint", "URL";
    /// The language model that judges.
    JudgeModel = "judge_model", "NAME";
    /// The key of an API.
    ApiKey = "api_key", "FILE";
    /// The file of judgements.
    Judgements = "judgements", "FILE";
    /// Read recorded judgements only; never ask the model.
    Replay = "replay", "";
    /// The most requests.
    MaxRequests = "max_requests", "N";
    /// The most tokens.
    MaxTokens = "max_tokens", "N";
    /// The maximum length of n-grams.
    Order = "n", "N";
    /// Do without discounts that could not be estimated, in an n-gram model.
    NoFallback = "no_fallback", "";
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
    /// The seed for resampling.
    Seed = "seed", "N";
    /// Accept files with a part of a benchmark.
    Subset = "subset", "";
    /// The unit of a point in a correlation.
    Unit = "unit", "WHAT";
    /// The number of references drawn for each pair.
    ReferencesPerPair = "references_per_pair", "N";
    /// The number of times that references are drawn.
    Draws = "draws", "N";
    /// The seed for drawing references.
    DrawSeed = "draw_seed", "N";
    /// The treatment of ties between people's judgements.
    HumanTies = "human_ties", "RULE";
    /// The treatment of ties between scores of a metric.
    MetricTies = "metric_ties", "RULE";
    /// A requirement of scores.
    Require = "require", "WHAT";
    /// The measures that a required verdict applies to.
    On = "on", "KEYS";
    /// A saved report whose systems a requirement names.
    Base = "base", "FILE";
    /// A file of scores for every image.
    Segments = "segments", "FILE";
    /// Accept inputs that are larger than usual.
    NoLimits = "no_limits", "";
    /// Fetch files from addresses.
    AllowNetwork = "allow_network", "";
    /// The address of an evaluation server.
    To = "to", "URL";
    /// The token of an account of an evaluation server.
    Token = "token", "TOKEN";
    /// The team that submits results.
    Team = "team", "TEAM";
    /// The entries of a method in the columns of a phase.
    Columns = "columns", "KEY=VALUE";
    /// The benchmark and phase.
    Phase = "phase", "PHASE";
    /// Let the server only check results.
    Check = "check", "";
    /// The number of threads.
    Threads = "threads", "N";
}
