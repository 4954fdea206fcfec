//! The legend of signatures: what every field says.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use capeval::evaluate::registry::kinds;

/// Fields that are no settings, with what they say.
const FIELDS: &[(&str, &str)] = &[
    ("align", "which of several alignments counts"),
    ("average", "how scores of units become the score of the corpus"),
    (
        "best",
        "which reference counts where there are several: the best by F, or by precision and recall each",
    ),
    ("capeval", "the version of capeval"),
    ("captions", "diversity: the number of captions per image; references: that of all"),
    ("data", "the fingerprint of the data of METEOR or SPICE"),
    ("df-images", "diversity: the number of images whose references were counted"),
    ("drop", "the key, with its value, by which candidates were left out"),
    ("duplicate", "how several candidates of an image were handled, and of how many images"),
    ("eff", "whether orders of n-grams without any count"),
    ("empty", "how empty candidates were handled, and how many"),
    ("fingerprint", "that of a saved table or model"),
    ("formula", "how the scores of several references are joined"),
    ("group", "the property that groups images"),
    ("group-df", "the images that metrics learn from for a group: its own, or all"),
    ("hash", "references: the hash of their ids and texts, whatever their order"),
    ("held-out", "people's row: one reference is held out, in so many rounds"),
    (
        "images",
        "the number of images whose references were counted for document frequencies; references: of all",
    ),
    ("jackknife", "whether each reference is left out in turn"),
    ("kit", "the kit that set the options"),
    ("len", "what the length penalty counts"),
    ("lenpower", "the power of the length penalty"),
    ("limit", "how many words or bytes of a caption count"),
    ("missing", "how images without a candidate were handled, and how many"),
    ("nrefs", "the number of references per image, or the least and the greatest"),
    ("own-reference", "how rated captions that are references were handled"),
    ("ref-drop", "the key, with its value, by which references were left out"),
    ("reflen", "the reference length that the length of a candidate is compared with"),
    ("rep", "the weight of repetition, beside that of length"),
    ("smooth", "how counts of 0 are smoothed"),
    ("stem", "the stemmer"),
    ("subset", "the number of images that were listed"),
    ("surplus", "how candidates of images without references were handled, and how many"),
    ("tf", "term frequencies: counts, or relative ones"),
    ("tok", "the tokenizer"),
    ("training", "diversity: the number of training captions"),
    ("unit", "what scores are computed for before they are averaged"),
];

/// The page about signatures.
pub fn page() -> Result<String> {
    let mut page = String::from(
        "# Signatures\n\n`cargo xtask docs` writes this page from the code; [how to read a signature](../guides/signature.md) is \
         the introduction.\n\nTwo scores are comparable if their signatures are equal, and so are their references, which no \
         field of a metric names. Their own line comes last, `references|images:…|captions:…|hash:…`; in JSON and CSV \
         it is `reference_hash`.\n\n",
    );
    for kind in kinds() {
        let signature = kind.about()?.signature;
        let has_meaning = |name: &str| {
            kind.settings.iter().any(|setting| setting.name == name)
                || FIELDS.iter().any(|(field, _)| *field == name)
        };
        if let Some((name, _)) = signature.settings().find(|(name, _)| !has_meaning(name)) {
            bail!("{}: the legend of signatures does not say what {name} is", kind.name);
        }
        writeln!(page, "- `{signature}`")?;
    }
    page.push_str(
        "\nFields are settings of the metric, which its [card](metrics/index.md) lists, and:\n\n| field | meaning |\n|---|---|\n",
    );
    FIELDS.iter().try_for_each(|(field, meaning)| writeln!(page, "| `{field}` | {meaning} |"))?;
    Ok(page)
}
