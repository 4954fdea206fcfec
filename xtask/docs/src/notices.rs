//! The page about notices: what each code means and what to do. Every code in the sources must be in the table.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

use crate::cards::walk;

/// Each code, what it says, and what to do about it; an empty remedy is nothing.
const NOTICES: &[(&str, &str, &str)] = &[
    ("absent-scores", "people's row lacks measures that are computed elsewhere", ""),
    ("bert-score-hash", "the name that bert_score gives these settings", ""),
    (
        "beyond-ascii",
        "the metric drops letters beyond ASCII, of which the captions have many",
        "use the tokenizer that it names",
    ),
    ("common-images", "only images that all reports or systems have are compared", ""),
    (
        "constant-ratings",
        "all ratings are equal, so nothing can agree with them",
        "check the column of ratings",
    ),
    (
        "constant-scores",
        "scores or ratings do not vary, so there is no correlation",
        "see the scores of the rated captions",
    ),
    (
        "copy-of-references",
        "a system's captions are references, word for word",
        "make sure that it is the right file",
    ),
    (
        "different-images",
        "systems describe different images, so their scores do not compare",
        "score all on the same images",
    ),
    (
        "different-numbers",
        "systems have different numbers of captions per image, on which diversity depends",
        "compare equal numbers",
    ),
    ("direction-assumed", "higher is taken to be better by a given score", "`--lower-is-better KEYS`"),
    ("empty-references", "references without words, which count as references", "remove them"),
    (
        "english-only",
        "a metric of the suite knows only English and is left out",
        "name metrics that know the language",
    ),
    (
        "fallback-discounts",
        "a language model is too small for its discounts, and takes usual ones",
        "train it on more text",
    ),
    ("few-images", "few images: tests rarely find differences", "score more images"),
    (
        "few-resamples",
        "so few resamples that the ends of intervals are left to chance",
        "`--resamples 1000` or more",
    ),
    (
        "id-column",
        "the column by which images are identified, because it was not the first that came to mind",
        "`--id-column NAME`",
    ),
    ("instances", "CHAIR knows no instances of some images", "give the instances of all"),
    ("interval-ends", "bounds of intervals have neither tests nor intervals", ""),
    ("intervals-of-blocks", "intervals on an engine resample blocks of images", ""),
    ("judge", "what a judge asked, and how many answers it read from the file", ""),
    (
        "judgements",
        "lines of a file of judgements were cut or changed, and are not used",
        "they are asked for again",
    ),
    (
        "kept-scores",
        "scores of a metric of yours come from earlier runs",
        "`--score-cache none` computes them again",
    ),
    ("labels", "rows are matched by the labels of an index without a name", "name the index, or drop it"),
    (
        "line-numbers",
        "a file has no ids, so its lines are counted",
        "add a column of ids if lines do not match",
    ),
    ("lists-in-text", "lists are written as text, and each of their strings is a caption", ""),
    ("long-captions", "captions are longer than SPICE reads", "see the images that it names"),
    (
        "mean-of-images",
        "given scores are averaged, which is not what the metric gives for a corpus",
        "score the captions with the metric",
    ),
    ("no-exceptions", "ROUGE-1.5.5 stems without WordNet's exceptions", "`stem=porter-exceptions`"),
    (
        "no-likeness",
        "captions are like neither picture nor reference, where the program divides 0 by 0",
        "see these images",
    ),
    ("no-rating", "rows without a rating are left out", ""),
    ("no-self-cider", "Self-CIDEr is not a number for some images, and leaves them out", ""),
    (
        "no-statistics",
        "no test of a measure whose score is no mean: reports hold no more",
        "compare the captions themselves",
    ),
    ("no-test", "a score is not finite, so there is no test", "see the images behind it"),
    ("no-vote", "pairs without a vote are left out", ""),
    (
        "not-english",
        "captions do not look like English, and the metric knows only English",
        "use the tokenizer that it names",
    ),
    ("one-draw", "no pair has more references than are drawn, so there is one draw", ""),
    (
        "one-image",
        "CIDEr is 0 with one image: every n-gram weighs log 1 = 0",
        "`--df TABLE` of a larger corpus",
    ),
    ("one-rater", "every item has one rating, so agreement between raters is unknown", ""),
    ("only-ascii", "ROUGE-1.5.5 drops all words of some texts", "use `rouge-score` with `tok=char`"),
    (
        "open-captions",
        "the last words of some captions depend on the next caption, as in pycocoevalcap",
        "`-t ptb-each` reads each on its own",
    ),
    (
        "other-file",
        "a file of a benchmark has another content than the one that was tried",
        "compare its hash with the source",
    ),
    ("other-metrics", "measures that not all reports have are left out", ""),
    (
        "other-scale",
        "given scores are beyond the range of capeval's measure of that name",
        "rename the column",
    ),
    ("other-settings", "published values are of other settings, and are not compared", ""),
    ("percent", "scores are multiplied by 100", ""),
    ("rare-categories", "categories have so few images that a score says little", ""),
    ("renamed-tokenizer", "a tokenizer has a new name", "write the new one"),
    (
        "restval-left-out",
        "the split train of a Karpathy file leaves restval out, which most papers train on",
        "`--split train --split restval`",
    ),
    ("sacrebleu-signature", "the signature that sacreBLEU gives these settings", ""),
    ("same-captions", "two systems have the same captions", "make sure that these are the right files"),
    ("score-cache", "kept scores of a metric cannot be read, and are computed again", ""),
    ("single-references", "images with one reference have no human score, and are left out", ""),
    ("small-pool", "pairs have fewer references than are drawn", ""),
    ("special-tokens", "captions hold tokens such as `<eos>`, left by a language model", "remove them"),
    ("spice-cache", "kept parses cannot be read, and captions are parsed again", ""),
    ("subset", "only listed images are scored", ""),
    ("swapped", "the candidates look like references and the references like candidates", "swap the files"),
    ("tokenised", "captions look tokenised, and are tokenised again", "`-t none` if they are"),
    ("tokenizer-kept", "a tokenizer does not apply to metrics that have their own", ""),
    (
        "too-few-resamples",
        "with so few exchanges no p-value can be small enough after correction",
        "`--resamples N` as it says",
    ),
    ("two-systems", "a correlation of two systems is always 1 or −1", "rate more systems"),
    (
        "unknown-words",
        "a language model does not know many words",
        "use the tokenizer that it was trained with",
    ),
    (
        "unmended-texts",
        "OpenAI's tokenizer would mend some texts, and capeval does not",
        "mend entities and quotes first",
    ),
    ("unreadable", "answers of a judge cannot be read", "see the answers in the file of judgements"),
    (
        "untokenised",
        "captions look untokenised, and the tokenizer splits only on spaces",
        "use the tokenizer that it names",
    ),
    ("unused-vectors", "vectors belong to no system", "name a system that is scored"),
    ("vector-cache", "kept vectors cannot be read, and are computed again", ""),
    ("versions", "reports are by different versions", "score again with one version"),
    ("human-references", "people's row has one reference fewer, which lowers most scores", ""),
    ("words-as-references", "every reference is a single word", "join the words by spaces"),
];

/// The page, after a look at the sources.
pub fn page(root: &Path) -> Result<String> {
    let mut files = Vec::new();
    walk(&root.join("crates"), &mut files)?;
    let shipped = files.iter().filter(|(path, _)| path.components().all(|part| part.as_os_str() != "tests"));
    let texts: Vec<&str> =
        shipped.map(|(_, text)| text.split("#[cfg(test)]").next().unwrap_or(text)).collect();
    let said: Vec<&str> = texts.iter().flat_map(|text| codes(text)).collect();
    let unknown: Vec<&&str> =
        said.iter().filter(|code| !NOTICES.iter().any(|(known, ..)| known == *code)).collect();
    if !unknown.is_empty() {
        bail!("xtask/docs/src/notices.rs does not say what these notices mean: {unknown:?}");
    }
    let literal = |code: &str| format!("\"{code}\"");
    if let Some((gone, ..)) =
        NOTICES.iter().find(|(code, ..)| !texts.iter().any(|text| text.contains(&literal(code))))
    {
        bail!("xtask/docs/src/notices.rs: no source has the notice {gone}");
    }
    let mut page = String::from(
        "# Notices\n\n`cargo xtask docs` writes this page. A notice says what a reader of a score should know. It stands below \
         tables, on pages, and in JSON, where `code` names its kind for programs; in Python, `report.notices` has them. Nothing \
         is left out of a score without one.\n\n## Choices\n\nWhere a flag chose what happens, the code is the argument and its value, \
         such as `missing:skip`, `surplus:ignore`, `duplicate:first`, `empty:keep` or `own-reference:remove`, and the number of \
         captions concerned stands beside it. The [signature](signatures.md) has it, too.\n\n## Kinds\n\n| code | says | what to do \
         |\n|---|---|---|\n",
    );
    let mut rows: Vec<_> = NOTICES.iter().collect();
    rows.sort();
    for (code, says, remedy) in rows {
        writeln!(page, "| `{code}` | {says} | {remedy} |")?;
    }
    page.push_str("\nErrors are [elsewhere](errors.md): they end a run, and no score is printed.\n");
    Ok(page)
}

/// The codes of notices that a source makes.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    let calls = ["Notice::new(", " notice("].into_iter().flat_map(|call| text.split(call).skip(1));
    calls.filter_map(|rest| {
        let code = rest.trim_start().strip_prefix('"')?.split('"').next()?;
        code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-').then_some(code)
    })
}
