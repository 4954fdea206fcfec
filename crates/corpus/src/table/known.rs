//! The known names of columns and keys: one list for all formats and all kinds of tables.
//!
//! Case, spaces, dashes and underscores do not matter: `Image ID` is `image_id`.

/// The image, in rows of ratings, scores and pairs.
pub(crate) const IMAGE: &[&str] = &[
    "image_id",
    "image",
    "img_id",
    "img",
    "id",
    "image_name",
    "image_path",
    "file_name",
    "file",
    "name",
    "video_id",
    "video",
    "coco_id",
    "sample_id",
    "key",
];

/// The image, in rows of captions; the rest of [`IMAGE`] comes after them.
pub(crate) const IMAGE_OF_CAPTION: &[&str] =
    &["image_id", "id", "image", "file_name", "filename", "name", "image_name"];

/// Returns true if the name of a column means images, or files of them, and not just any ids.
pub(crate) fn means_image(name: &str) -> bool {
    let name = plain(name);
    ["image", "img", "video", "coco", "file"].iter().any(|word| name.contains(word))
}

/// Returns true if the name of a column means ids of images.
pub fn names_image_ids(name: &str) -> bool {
    means_image(name) && plain(name).ends_with("id")
}

/// References in a table with a header: all columns of the first group that it has, with or without numbers. Other
/// known names come after them.
pub(crate) const REFERENCE_COLUMNS: &[&[&str]] = &[
    &["reference", "references", "ref"],
    &["caption", "captions"],
    &["comment"],
    &["text"],
    &["sentence"],
    &["raw"],
];

/// References in an object. Other known names come after them.
pub(crate) const REFERENCE_KEYS: &[&str] = &["references", "refs", "captions", "caption", "text"];

/// A candidate in a table with a header. Other known names come after them.
pub(crate) const CANDIDATE_COLUMNS: &[&str] = &[
    "prediction",
    "predicted_caption",
    "caption_predicted",
    "hypothesis",
    "hyp",
    "candidate",
    "caption",
    "comment",
    "text",
    "sentence",
];

/// A candidate in an object. Other known names come after them.
pub(crate) const CANDIDATE_KEYS: &[&str] = &[
    "prediction",
    "predicted_caption",
    "caption_predicted",
    "hypothesis",
    "hyp",
    "candidate",
    "caption",
    "text",
    "captions",
];

/// The caption that people rated; the rest of [`CANDIDATE`] comes after them.
pub(crate) const JUDGED: &[&str] = &["caption", "candidate", "hypothesis", "description", "text", "sentence"];

/// Several references in one cell.
pub(crate) const REFERENCE_LIST: &[&str] = &["references", "refs", "ground_truth", "gts"];

/// A reference, with or without a number.
pub(crate) const REFERENCE: &[&str] = &["reference", "ref"];

/// A caption that a system wrote or that people rated.
pub(crate) const CANDIDATE: &[&str] = &[
    "prediction",
    "predicted_caption",
    "caption_predicted",
    "hypothesis",
    "hyp",
    "candidate",
    "cand",
    "caption",
    "text",
    "sentence",
    "sent",
    "description",
];

/// Captions in a table that contains only captions.
pub(crate) const CAPTION: &[&str] = &[
    "captions",
    "caption",
    "text",
    "sentence",
    "sentences",
    "sentences_raw",
    "description",
    "comment",
    "raw",
];

/// The system that wrote a caption.
pub(crate) const SYSTEM: &[&str] = &["system", "model", "method", "system_name"];

/// A rating, or a list of them.
pub(crate) const RATING: &[&str] = &[
    "rating",
    "ratings",
    "human",
    "human_rating",
    "human_score",
    "human_judgement",
    "judgement",
    "judgment",
    "score",
];

/// The ratings of one person, with a number or a letter: `rater_1`, `expert a`.
pub(crate) const RATER: &[&str] =
    &["rating", "rater", "annotator", "judge", "score", "human", "expert", "worker"];

/// Two captions in a list.
pub(crate) const TWO_CAPTIONS: &[&str] = &["captions", "candidates", "hypotheses", "sentences"];

/// The category of a pair.
pub(crate) const CATEGORY: &[&str] = &["category", "type", "class", "kind", "group"];

/// Counts of votes, for the first and the second caption.
pub(crate) const VOTES: &[&str] = &["votes", "vote", "wins"];

/// The caption that won.
pub(crate) const WINNER: &[&str] =
    &["winner", "label", "preference", "preferred", "choice", "better", "majority", "vote"];

/// The pair that a vote is about.
pub(crate) const PAIR: &[&str] = &["pair_id", "pair"];

/// The segment, in rows of probabilities; the rest of [`IMAGE`] comes after them.
pub(crate) const SEGMENT: &[&str] = &["id", "image_id"];

/// The probabilities of a segment's tokens.
pub(crate) const PROBABILITIES: &[&str] = &["probs"];

pub(crate) const LOGARITHMS: &[&str] = &["logprobs", "token_logprobs"];

/// The probability of a token, where no list is known.
pub(crate) const PROBABILITY: &[&str] = &["prob", "probability"];

pub(crate) const LOGARITHM: &[&str] = &["logprob", "token_logprob"];

/// The tokens of a segment, or one of them.
pub(crate) const TOKENS: &[&str] = &["tokens", "token"];

/// The probability that a segment ends, or its logarithm.
pub(crate) const END: &[&str] = &["end"];

/// A name in lower case without separators.
pub(crate) fn plain(name: &str) -> String {
    let is_kept = |c: &char| !matches!(c, ' ' | '-' | '_');
    name.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
}

/// Returns true if `name` is exactly `known`, or `known` with a number if `numbered`: `caption_1`.
pub(crate) fn is_called(name: &str, known: &str, numbered: bool) -> bool {
    let mut characters = name.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase);
    let is_known = known.chars().filter(|c| *c != '_').all(|c| characters.next() == Some(c));
    is_known && characters.all(|c| numbered && c.is_ascii_digit())
}

/// Returns true if `name` is `known` in any case, or with a number after it: `caption_1`, `Caption1`.
pub(crate) fn is_numbered(name: &str, known: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = if stem.len() < name.len() { stem.strip_suffix('_').unwrap_or(stem) } else { stem };
    stem.eq_ignore_ascii_case(known)
}

/// The name of a column without what counts it at the end, a number, or a letter after a space or a sign, and without
/// the sign: `caption` of `caption.1`, `caption_b` and `caption2`, and nothing of a number. `None` if nothing counts
/// it.
pub(crate) fn uncounted(name: &str) -> Option<&str> {
    const SIGNS: &[char] = &[' ', '_', '-', '.'];
    let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let unlettered = name.strip_suffix(|c: char| c.is_ascii_alphabetic());
    let stem = unlettered.filter(|stem| stem.ends_with(SIGNS)).unwrap_or(unnumbered);
    (stem.len() < name.len()).then(|| stem.trim_end_matches(SIGNS))
}

/// Returns true if a name is that of one of several raters.
pub(crate) fn is_rater(name: &str) -> bool {
    let name = name.to_lowercase();
    RATER.iter().any(|rater| {
        name.strip_prefix(rater).is_some_and(|rest| {
            let rest = rest.trim_start_matches(['_', '-', ' ', '.']);
            !rest.is_empty() && (rest.len() == 1 || rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    })
}
