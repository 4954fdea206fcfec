//! Forms the singular of English nouns by rules, as `singularize` of pattern.en (clips/pattern d25511f) does.
//!
//! Quirks kept on purpose, all from CHAIR's first program: a word is its own singular if a word without a plural ends
//! with it (`ter`, as in butter); every `s` at the end is cut (`bus` is `bu`, `glass` is `glas`), words that end in
//! `our` get `my` (`four` is `fmy`), and those in `ta` or `ia` get `um` (`pasta` is `pastum`).

use std::sync::LazyLock;

use capeval::text::classes::{begins, is_same};
use hashbrown::{HashMap, HashSet};

/// The ends of words that have no plural: a word that is one is its own singular.
static UNINFLECTED_ENDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let ends = |word: &'static str| word.char_indices().map(move |(at, _)| &word[at..]).chain([""]);
    UNINFLECTED.split_whitespace().flat_map(ends).collect()
});

/// Irregular plurals, and their singulars.
static IRREGULARS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let words: Vec<&str> = IRREGULAR.split_whitespace().collect();
    words.as_chunks::<2>().0.iter().map(|[plural, singular]| (*plural, *singular)).collect()
});

/// The words in `ie`, whose plurals stay as they are.
static IE_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| IE.split_whitespace().collect());

/// The words of a table that a word ends in.
fn ends(word: &str, longest: usize) -> impl Iterator<Item = &str> {
    word.char_indices().rev().take(longest).map(move |(at, _)| &word[at..])
}

const UNINFLECTED: &str = "bison debris headquarters pincers trout bream diabetes herpes pliers tuna breeches djinn \
    high-jinks proceedings whiting britches eland homework rabies wildebeest carp elk innings salmon chassis flounder \
    jackanapes scissors christmas gallows mackerel series clippers georgia measles shears cod graffiti mews species \
    contretemps mumps swine corps news swiss advice equipment happiness luggage software bread fruit information \
    mathematics progress understanding butter furniture ketchup mayonnaise research water cheese garbage knowledge meat \
    rice electricity gravel love mustard sand";

const IE: &str = "alergie cutie hoagie newbie softie veggie auntie doggie hottie nightie sortie weenie beanie eyrie indie \
    oldie stoolie yuppie birdie freebie junkie ^pie sweetie zombie bogie goonie laddie pixie techie bombie groupie laramie \
    quickie ^tie collie hankie lingerie reverie toughie cookie hippie meanie rookie valkyrie";

const IRREGULAR: &str = "atlantes atlas atlases atlas axes axe beeves beef brethren brother children child corpora corpus \
    corpuses corpus ephemerides ephemeris feet foot ganglia ganglion geese goose genera genus genii genie graffiti graffito \
    helves helve kine cow leaves leaf loaves loaf men man mongooses mongoose monies money moves move mythoi mythos numena \
    numen occipita occiput octopodes octopus opera opus opuses opus our my oxen ox penes penis penises penis people person \
    sexes sex soliloquies soliloquy teeth tooth testes testis trilbys trilby turves turf zoa zoon";

const PREPOSITIONS: &str = "about before during of till above behind except off to across below for on under after beneath \
    from onto until among beside in out unto around besides into over upon at between near since with athwart betwixt beyond \
    but by";

/// The most letters of a word in the tables.
const LONGEST: usize = 12;

/// A condition on the part before an ending.
enum Before {
    /// Anything, also nothing.
    Nothing,
    /// A character.
    Any,
    /// One of these characters.
    One(&'static str),
    /// A character, but none of these; or these two.
    NoneOf(&'static str, &'static str),
    /// One of these texts.
    Text(&'static [&'static str]),
    /// The whole word begins here.
    Whole(&'static str),
    /// One of these texts, the first letter of which is written again behind it if it is its own first part.
    Again(&'static [(&'static str, &'static str)]),
}

use Before::{Again, Any, NoneOf, Nothing, One, Text, Whole};

/// Rules in the order in which they are tried: what stands before the ending, the ending, what comes in its place, and
/// whether case matters.
const RULES: &[(Before, &str, &str, bool)] = &[
    (Any, "ae", "a", false),
    (Any, "itis", "itis", false),
    (Any, "eaux", "eau", false),
    (Text(&["quiz"]), "zes", "", false),
    (Text(&["matr"]), "ices", "ix", false),
    (Text(&["ap", "vert", "ind"]), "ices", "ex", false),
    (Text(&["alias", "status"]), "es", "", false),
    (One("octop|vir"), "i", "us", false),
    (Text(&["cris", "ax", "test"]), "es", "is", false),
    (Text(&["shoe"]), "s", "", false),
    (Text(&["o"]), "es", "", false),
    (Text(&["bus"]), "es", "", false),
    (One("m|l"), "ice", "ouse", false),
    (Text(&["x", "ch", "ss", "sh"]), "es", "", false),
    (Text(&["m"]), "ovies", "ovie", false),
    (Any, "ombies", "ombie", false),
    (Text(&["s"]), "eries", "eries", false),
    (NoneOf("aeiouy", "qu"), "ies", "y", false),
    (Text(&["al", "el", "ol"]), "ves", "f", true),
    (NoneOf("d", ""), "eaves", "eaf", true),
    (Nothing, "arves", "arf", true),
    (Nothing, "erves", "erve", true),
    (Text(&["ni", "li", "wi"]), "ves", "fe", true),
    (One("lr"), "ves", "f", false),
    (One("aeo"), "ves", "ve", true),
    (Text(&["sive", "tive", "hive"]), "s", "", false),
    (NoneOf("f", ""), "ves", "fe", false),
    (Whole("analy"), "ses", "sis", false),
    (
        Again(&[
            ("analy", "a"),
            ("ba", ""),
            ("diagno", ""),
            ("parenthe", ""),
            ("progno", ""),
            ("synop", ""),
            ("the", ""),
        ]),
        "ses",
        "sis",
        false,
    ),
    (Any, "opses", "opsis", false),
    (Any, "yses", "ysis", false),
    (Text(&["h", "d", "r", "o", "n", "b", "cl", "p"]), "oses", "ose", false),
    (
        Text(&["fruct", "gluc", "galact", "lact", "ket", "malt", "rib", "sacchar", "cellul"]),
        "ose",
        "ose",
        false,
    ),
    (Any, "oses", "osis", false),
    (One("ti"), "a", "um", false),
    (Text(&["n"]), "ews", "ews", false),
    (Nothing, "s", "", false),
];

/// The singular of a word.
pub fn singular(word: &str) -> String {
    if word.contains('-') {
        let parts: Vec<&str> = word.split('-').collect();
        if PREPOSITIONS.split_whitespace().any(|preposition| preposition == parts[1]) {
            return format!("{}-{}", singular(parts[0]), parts[1..].join("-"));
        }
    }
    if let Some(owner) = word.strip_suffix('\'') {
        return format!("{}'s", singular(owner));
    }
    let small = word.to_lowercase();
    if UNINFLECTED_ENDS.contains(small.as_str()) {
        return word.to_owned();
    }
    if small.strip_suffix('s').is_some_and(|rest| ends(rest, LONGEST).any(|end| IE_WORDS.contains(end))) {
        return small;
    }
    if let Some(plural) = ends(&small, LONGEST).find(|end| IRREGULARS.contains_key(end)) {
        return match stem(word, plural, false) {
            Some(stem) => format!("{stem}{}", IRREGULARS[plural]),
            None => word.to_owned(),
        };
    }
    // Every rule is about an ending but one.
    let is_ox = word.chars().count() >= 4 && begins(&word.chars().take(4).collect::<Vec<_>>(), "oxen");
    if !is_ox && !small.ends_with(['e', 's', 'i', 'a', 'x', 'ſ']) {
        return word.to_owned();
    }
    let chars: Vec<char> = word.chars().collect();
    for (number, (before, ending, new, is_exact)) in RULES.iter().enumerate() {
        if number == 6 && is_ox {
            return chars[..2].iter().chain(&chars[4..]).collect();
        }
        if let Some(stem) = stem(word, ending, *is_exact)
            && let Some(again) = fits(before, stem, *is_exact)
        {
            return format!("{stem}{again}{new}");
        }
    }
    word.to_owned()
}

/// The word without its ending, if it has it.
fn stem<'w>(word: &'w str, ending: &str, is_exact: bool) -> Option<&'w str> {
    if is_exact {
        return word.strip_suffix(ending);
    }
    let mut rest = word.char_indices().rev();
    let mut start = word.len();
    for small in ending.chars().rev() {
        let (at, c) = rest.next()?;
        if !is_same(c, small) {
            return None;
        }
        start = at;
    }
    Some(&word[..start])
}

/// Returns true if a stem ends as a rule demands, with the text that is written behind it again.
fn fits(before: &Before, stem: &str, is_exact: bool) -> Option<&'static str> {
    let last = || stem.chars().next_back();
    let is_one_of = |all: &str| {
        last().is_some_and(|c| {
            all.chars().any(|one| if is_exact { c == one } else { is_same(c, one) || c == one })
        })
    };
    let ends = |text: &str| self::stem(stem, text, is_exact).is_some();
    let found = match before {
        Nothing => true,
        Any => last().is_some(),
        One(all) => is_one_of(all),
        NoneOf(all, pair) => (last().is_some() && !is_one_of(all)) || (!pair.is_empty() && ends(pair)),
        Text(all) => all.iter().any(|text| ends(text)),
        Whole(text) => self::stem(stem, text, false) == Some(""),
        Again(all) => return all.iter().find(|(text, _)| ends(text)).map(|(_, again)| *again),
    };
    found.then_some("")
}
