//! The codes of notices: what each means, and what to do about it.

macro_rules! codes {
    ($( $variant:ident = $code:literal, $meaning:literal, $advice:literal; )+) => {
        crate::named! {
            /// The subject of a [`Notice`](crate::Notice).
            pub enum Code ("notice") {
                $( $variant = $code, $meaning; )+
            }
        }

        impl Code {
            /// Advice to readers of such a notice; empty if there is nothing to do.
            pub const fn advice(self) -> &'static str {
                match self { $( Self::$variant => $advice ),+ }
            }
        }
    };
}

// In the order of the alphabet, in which the page of notices lists them.
codes! {
    AbsentScores = "absent-scores", "the human row lacks measures that are computed elsewhere", "";
    BertScoreHash = "bert-score-hash", "bert_score's name for these settings", "";
    BeyondAscii = "beyond-ascii",
        "the metric drops letters beyond ASCII, which the captions contain often",
        "use the tokenizer that it names";
    ByteStrings = "byte-strings",
        "captions are bytes as Python prints them",
        "decode them before they are written";
    ChatRoles = "chat-roles",
        "captions begin with a label, such as the name of a speaker",
        "keep what follows it: `clean` does it";
    CommonImages = "common-images", "only images that all reports or systems have are compared", "";
    ConstantRatings = "constant-ratings",
        "all ratings are equal, so no metric can correlate with them",
        "check the column of ratings";
    ConstantScores = "constant-scores",
        "scores or ratings do not vary, so there is no correlation",
        "see the scores of the rated captions";
    ControlCharacters = "control-characters",
        "captions have control characters or spaces of no width",
        "remove them";
    CopyOfReferences = "copy-of-references",
        "a system's captions are references, word for word",
        "make sure that it is the right file";
    CutCaptions = "cut-captions",
        "many captions have exactly the greatest length, as if they were cut off",
        "raise the greatest length";
    DecomposedLetters = "decomposed-letters",
        "one side writes accents as characters of their own, and the other does not",
        "bring both to one form of Unicode: `clean` does it";
    DifferentImages = "different-images",
        "systems describe different images, so their scores are not comparable",
        "score all on the same images";
    DifferentNumbers = "different-numbers",
        "systems differ in the number of captions per image, which affects diversity",
        "compare equal numbers";
    DirectionAssumed = "direction-assumed",
        "higher is taken to be better by a given score",
        "name the keys that are error rates";
    EmptyReferences = "empty-references",
        "references without words, which count as references",
        "remove them";
    EnglishOnly = "english-only",
        "a metric of the suite knows only English and is left out",
        "name metrics that know the language";
    EscapedCharacters = "escaped-characters",
        "captions have characters in the notation of programs, such as `\\n`",
        "decode them";
    FailedRequests = "failed-requests",
        "captions are refusals or errors of a model",
        "ask for them again";
    FallbackDiscounts = "fallback-discounts",
        "a language model is too small to estimate discounts, and uses default ones",
        "train it on more text";
    Fences = "fences",
        "captions are in code fences",
        "keep what is within them: `clean` does it";
    FewBlocks = "few-blocks", "few blocks of images: their intervals are too narrow", "score more images";
    FewImages = "few-images", "few images: tests rarely find differences", "score more images";
    FewResamples = "few-resamples",
        "so few resamples that the ends of intervals are left to chance",
        "draw 1,000 resamples or more";
    GroupFrequencies = "group-frequencies",
        "the scores of a group differ much with the document frequencies of all images",
        "choose by what others report, and name it";
    HtmlEntities = "html-entities",
        "captions have characters in the notation of HTML",
        "decode them";
    HumanReferences = "human-references",
        "the human row uses one reference fewer, which lowers most scores",
        "";
    IdColumn = "id-column",
        "the column used for image ids, if the choice is not obvious",
        "name the column of ids";
    ImagesWithoutReferences = "images-without-references",
        "images that are listed without any caption, which cannot be scored",
        "";
    Instances = "instances", "some images have no instances for CHAIR", "add the instances of all images";
    IntervalEnds = "interval-ends", "bounds of intervals have neither tests nor intervals", "";
    IntervalOfOneBlock = "interval-of-one-block",
        "a confidence interval on an engine needs more than one block of images",
        "score more images";
    IntervalOfOneImage = "interval-of-one-image",
        "a confidence interval needs more than one image",
        "score more images";
    IntervalsOfBlocks = "intervals-of-blocks", "intervals on an engine resample blocks of images", "";
    Judge = "judge", "the requests that a judge sent, and the number of answers read from the file", "";
    Judgements = "judgements",
        "lines of a file of judgements were cut or changed, and are not used",
        "they are asked for again";
    KeptScores = "kept-scores",
        "scores of a metric of yours come from earlier runs",
        "leave the cache out to compute them again";
    Kit = "kit", "a kit says what readers of its numbers must know", "";
    KitChanged = "kit-changed",
        "an option is set otherwise than in the kit, so the numbers are not those of its program",
        "leave the option out";
    LabelledTexts = "labelled-texts",
        "captions are several texts with labels, such as `Caption: … Tags: …`",
        "keep one of them";
    Labels = "labels",
        "rows are matched by the labels of an index without a name",
        "name the index, or drop it";
    LengthMismatch = "length-mismatch",
        "captions are many times longer or shorter than the references",
        "compare captions of one kind";
    LineNumbers = "line-numbers",
        "a file has no ids, so its lines are counted",
        "add a column of ids if lines do not match";
    ListsInText = "lists-in-text", "lists are written as text, and each of their strings is a caption", "";
    LongCaptions = "long-captions", "captions are longer than SPICE reads", "see the images that it names";
    MeanOfImages = "mean-of-images",
        "given scores are averaged, unlike the metric's own corpus score",
        "score the captions with the metric";
    MissingValues = "missing-values",
        "captions are missing values: written as text, or left out of lists",
        "leave them out";
    MixedRanges = "mixed-ranges",
        "a derived number adds measures of different ranges, so that the greatest decides",
        "multiply each so that all end at one number, unless the number is defined so";
    Mojibake = "mojibake",
        "captions have letters that were decoded wrongly",
        "read the file that they come from as UTF-8";
    NoEndSymbol = "no-end-symbol", "segments give no probability of their end, so it is not counted", "";
    NoExceptions = "no-exceptions",
        "ROUGE-1.5.5 stems without WordNet's exceptions",
        "`stem=porter-exceptions`";
    NoLikeness = "no-likeness",
        "captions are similar to neither picture nor reference, where the program divides 0 by 0",
        "see these images";
    NoMeanOfGroups = "no-mean-of-groups",
        "measures of a saved report are no means of image scores, so groups have none",
        "score the captions by group";
    NoRating = "no-rating", "rows without a rating are left out", "";
    NoSelfCider = "no-self-cider", "Self-CIDEr is not a number for some images, and leaves them out", "";
    NoStatistics = "no-statistics",
        "no test of a measure whose score is no mean: reports hold no more",
        "compare the captions themselves";
    NoTest = "no-test", "a score is not finite, so there is no test", "see the images behind it";
    NoTokens = "no-tokens",
        "segments have no token that counts, so their perplexity of 1 says nothing",
        "see the segment that it names";
    NoValue = "no-value",
        "a derived number divides by 0, or takes a mean of values that have none",
        "write a formula that has a value for these scores";
    NoVote = "no-vote", "pairs without a vote are left out", "";
    NotEnglish = "not-english",
        "captions do not look like English, and the metric supports only English",
        "use the tokenizer that it names";
    NullId = "null-id",
        "rows with null instead of an id, each of which counts as an image of its own",
        "give each row an id";
    NullReferences = "null-references", "nulls among the references, which are left out", "remove them";
    NumbersAsCaptions = "numbers-as-captions",
        "captions are nothing but numbers",
        "decode token ids into words";
    OffScaleRatings = "off-scale-ratings",
        "ratings are far off the scale of all others, as numbers for no answer are",
        "leave these rows out if no one gave these ratings";
    OneDraw = "one-draw", "no pair has more references than are drawn, so there is one draw", "";
    OneImage = "one-image",
        "CIDEr is 0 with one image: every n-gram weighs log 1 = 0",
        "take the document frequencies of a larger corpus";
    OneRater = "one-rater", "every item has one rating, so agreement between raters is unknown", "";
    OneText = "one-text",
        "all captions of a system are one text",
        "make sure that it is the right column";
    OnlyAscii = "only-ascii",
        "ROUGE-1.5.5 drops all words of some texts",
        "use `rouge-score` with `tok=char`";
    OpenCaptions = "open-captions",
        "the last words of some captions depend on the next caption, as in pycocoevalcap",
        "the tokenizer `ptb-each` reads each on its own";
    OtherFile = "other-file",
        "a benchmark file differs from the one that was tested",
        "compare its hash with the source";
    OtherLanguage = "other-language",
        "captions are written in another script than the metric's languages",
        "choose metrics for any language";
    OtherMetrics = "other-metrics", "measures missing from some reports are left out", "";
    OtherScale = "other-scale",
        "given scores are beyond the range of capeval's measure of that name",
        "rename the column";
    OtherScript = "other-script",
        "captions are in another script than the references",
        "make sure that both are in one language";
    OtherSegmentation = "other-segmentation",
        "only one side is split into words, in a script without spaces",
        "use the tokenizer `char`";
    OtherSettings = "other-settings", "published values are of other settings, and are not compared", "";
    OtherWords = "other-words",
        "few words of the captions occur in the references",
        "make sure that both are in one language";
    Pairing = "pairing",
        "captions share no more words with their own references than with those of other images",
        "make sure that both sides list the same images in the same order";
    PathsAsCaptions = "paths-as-captions",
        "captions are paths or addresses",
        "name the column of captions";
    Percent = "percent", "scores are multiplied by 100", "";
    PromptInCaptions = "prompt-in-captions",
        "all captions of a system begin with the same words",
        "remove the prompt";
    Quotes = "quotes",
        "captions are in quotation marks",
        "remove them: `clean` does it";
    RareCategories = "rare-categories", "categories have so few images that a score says little", "";
    Reading = "reading",
        "how a file was understood, where its format and its names alone do not say it",
        "name the columns if it is not what you mean";
    RejectedCaptions = "rejected-captions",
        "captions that are left out since their own data set marks them as unusable, or since you want it so",
        "remove the marks to keep them";
    RepeatedWords = "repeated-words",
        "captions end in the same words again and again, as those of a model that does not stop",
        "let the model stop at its end token";
    RestvalLeftOut = "restval-left-out",
        "the split train of a Karpathy file excludes restval, on which most papers also train",
        "choose both splits, train and restval";
    ReversedInGroups = "reversed-in-groups",
        "a system is better in every group and worse on all images, or the reverse",
        "report the groups: their sizes or difficulty decide the total";
    RowNumbers = "row-numbers",
        "a file has no column of ids, so its rows are numbered",
        "add a column of ids, or name it";
    SacrebleuSignature = "sacrebleu-signature", "sacreBLEU's signature of these settings", "";
    SameCaptions = "same-captions",
        "two systems have the same captions",
        "make sure that these are the right files";
    ScoreCache = "score-cache", "cached scores of a metric cannot be read, and are computed again", "";
    SeveralCandidates = "several-candidates",
        "images have several candidates, which are put together as the signature says",
        "";
    SeveralCaptions = "several-captions",
        "texts are lists of captions",
        "keep one of them";
    SeveralRuns = "several-runs",
        "a row is the mean of several runs, with the standard deviations that the message gives",
        "";
    SingleReferences = "single-references",
        "images with one reference have no human score, and are left out",
        "";
    SmallPool = "small-pool", "pairs have fewer references than are drawn", "";
    SpacedLetters = "spaced-letters",
        "captions have spaces between letters",
        "join the letters of each word";
    SpecialTokens = "special-tokens",
        "captions contain tokens such as `<eos>`, left by a language model",
        "remove them";
    SpiceCache = "spice-cache", "kept parses cannot be read, and captions are parsed again", "";
    StartEndWords = "start-end-words",
        "all captions of a system begin and end with the same words",
        "remove words that mark start and end";
    StructuredText = "structured-text",
        "captions are JSON or dictionaries as text",
        "keep the caption within";
    Subset = "subset", "only listed images are scored", "";
    SubwordMarks = "subword-marks",
        "captions have the marks of subwords",
        "decode them with their tokenizer";
    Swapped = "swapped",
        "the candidates look like references and the references like candidates",
        "swap the files";
    Thoughts = "thoughts",
        "captions begin with the thoughts of a language model",
        "keep what follows them";
    Tokenised = "tokenised", "captions look tokenised, and are tokenised again", "choose the tokenizer `none` if they are";
    TokenizerKept = "tokenizer-kept", "a tokenizer does not apply to metrics that have their own", "";
    TooFewResamples = "too-few-resamples",
        "with so few exchanges no p-value can be small enough after correction",
        "draw as many resamples as it says";
    TwoSystems = "two-systems", "a correlation of two systems is always 1 or −1", "rate more systems";
    UngroupedImages = "ungrouped-images", "images are in no group", "";
    UnknownWords = "unknown-words",
        "a language model does not know many words",
        "use the tokenizer that it was trained with";
    UnmendedTexts = "unmended-texts",
        "OpenAI's tokenizer would mend some texts, and capeval does not",
        "mend entities and quotes first";
    UnmentionedObjects = "unmentioned-objects",
        "no reference mentions some of the objects that are counted, so their F1 is 0",
        "check the spelling of the objects, or leave them out";
    Unreadable = "unreadable",
        "answers of a judge cannot be read",
        "see the answers in the file of judgements";
    Untokenised = "untokenised",
        "captions look untokenised, and the tokenizer splits only on spaces",
        "use the tokenizer that it names";
    UnusedVectors = "unused-vectors", "vectors belong to no system", "name a system that is scored";
    UpperCase = "upper-case",
        "one side is in capitals, which a metric tells from small letters",
        "write both alike";
    VectorCache = "vector-cache", "cached vectors cannot be read, and are computed again", "";
    Versions = "versions", "reports were written by different versions", "score again with one version";
    WordsAsReferences = "words-as-references", "every reference is a single word", "join the words by spaces";
    ZeroProbability = "zero-probability",
        "a token has probability 0, so the perplexity is infinite",
        "see the segment that it names";
}
