//! American spelling: words are looked up in the grammar as if they were spelt in the American way.

use std::borrow::Cow;

/// Words of fewer UTF-16 units stay as they are.
const SHORTEST: usize = 4;
/// Words of fewer UTF-16 units are not changed by pattern.
const SHORTEST_FOR_PATTERNS: usize = 6;

/// Parts that are replaced, their replacements, and the words in which they are.
const WORDS: [(&str, &str, &str); 17] = [
    (
        "our",
        "or",
        "Labour armoured candour clamour coloured colourful colouring discolour discoloured discolouring \
         discolours endeavour endeavoured endeavouring endeavours favour favoured favouring favourite \
         favourites favours fervour flavour flavoured flavouring flavours harbour harbours honour \
         honourable honoured honouring honours humour humoured humouring humours labour laboured \
         labouring labours misdemeanour misdemeanours neighbour neighbourhood neighbourhoods neighbours \
         rumoured rumouring savour savoured savouring savours splendour splendours",
    ),
    (
        "ise",
        "ize",
        "capitalise capitalised finalise finalised localise localised maximise maximised minimise \
         minimised modernise modernised penalise penalised popularise popularised popularises pressurise \
         pressurised pressurises realise realised realises recognise recognised recognises",
    ),
    (
        "isi",
        "izi",
        "finalising maximising minimising modernising popularising pressurising realising recognising",
    ),
    ("isa", "iza", "capitalisation organisation organisations"),
    ("yse", "yze", "analyse analysed"),
    ("ysi", "yzi", "analysing"),
    ("re", "er", "centre fibre fibres meagre theatre theatres titre titres"),
    ("ll", "l", "cancelled cancelling labelled labelling travelled travelling"),
    ("logue", "log", "analogue analogues homologue homologues"),
    ("ae", "e", "anaesthetic chimaeric encyclopaedia"),
    ("fence", "fense", "Defence defence"),
    ("oeuvre", "euver", "manoeuvre manoeuvres"),
    ("oe", "e", "oestrogen oestrogens"),
    ("tis", "tic", "practise practised"),
    ("nt", "ned", "leant learnt"),
    ("grey", "gray", "grey"),
    ("kerb", "curb", "kerb"),
];

/// Days and months get their capital letter; `march` and `may` have other meanings.
const CAPITALISED: &str = "january february april june july august september october november december monday tuesday \
                           wednesday thursday friday saturday sunday";

/// Words that contain one of these keep their -our.
const KEEP_OUR: &str = "abatjour beflour bonjour calambour carrefour cornflour contour detour devour dortour \
                        dyvour downpour giaour glamour holour inpour outpour pandour paramour pompadour \
                        recontour repour ryeflour sompnour tambour troubadour tregetour velour";

/// The American spelling of a word.
pub(super) fn americanize(word: &str) -> Cow<'_, str> {
    let length = word.encode_utf16().count();
    if length < SHORTEST {
        return Cow::Borrowed(word);
    }
    if is_listed(CAPITALISED, word) {
        return Cow::Owned(word[..1].to_ascii_uppercase() + &word[1..]);
    }
    if let Some((british, american, _)) = WORDS.iter().find(|(_, _, words)| is_listed(words, word)) {
        return Cow::Owned(word.replacen(british, american, 1));
    }
    if length < SHORTEST_FOR_PATTERNS { Cow::Borrowed(word) } else { by_pattern(word) }
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Applies the first pattern that fits. CoreNLP looks for any of them first, and its expression for `haemo` then
/// demands `haemao` or `haemato`, so that `haemoglobin` stays British.
fn by_pattern(word: &str) -> Cow<'_, str> {
    let our = before_our(word);
    let leukaemia = ["leukaem", "Leukaem"].iter().any(|part| word.contains(part));
    let programme = word.ends_with("programme") || word.ends_with("programmes");
    let aemia = word.ends_with("aemia");
    let fits = ["haemao", "haemato"].iter().any(|part| word.contains(part));
    if !(fits || aemia || leukaemia || programme || our.is_some()) {
        return Cow::Borrowed(word);
    }
    if ["haemo", "haemato"].iter().any(|part| word.contains(part)) {
        return Cow::Owned(word.replace("haemo", "hemo").replace("haemato", "hemato"));
    }
    if aemia {
        return Cow::Owned(word[..word.len() - 5].to_owned() + "emia");
    }
    if leukaemia {
        return Cow::Owned(word.replace("leukaem", "leukem").replace("Leukaem", "Leukem"));
    }
    if programme {
        let end = word.rfind("programme").unwrap_or_default() + "program".len();
        return Cow::Owned(word[..end].to_owned() + &word[end + 2..]);
    }
    match our {
        Some(stem) if !KEEP_OUR.split(' ').any(|part| word.contains(part)) => {
            Cow::Owned(format!("{stem}or{}", &word[stem.len() + 3..]))
        }
        _ => Cow::Borrowed(word),
    }
}

/// The part before a final -our or -ours, if it is three or more small letters.
fn before_our(word: &str) -> Option<&str> {
    let stem = word.strip_suffix('s').unwrap_or(word).strip_suffix("our")?;
    (stem.len() >= 3 && stem.bytes().all(|byte| byte.is_ascii_lowercase())).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_get_their_american_spelling() {
        for (british, american) in [
            ("grey", "gray"),
            ("theatres", "theaters"),
            ("colourful", "colorful"),
            ("neighbourhood", "neighborhood"),
            ("travelling", "traveling"),
            ("popularised", "popularized"),
            ("organisations", "organizations"),
            ("encyclopaedia", "encyclopedia"),
            ("learnt", "learned"),
            ("practised", "practiced"),
            ("manoeuvres", "maneuvers"),
            ("august", "August"),
            ("programmes", "programs"),
            ("parlours", "parlors"),
            ("anaemia", "anemia"),
            ("leukaemic", "leukemic"),
            ("haematology", "hematology"),
        ] {
            assert_eq!(americanize(british), american);
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for word in [
            "",
            "our",
            "hour",
            "hours",
            "flours",
            "contours",
            "glamour",
            "may",
            "haemoglobin",
            "Colours",
            "日本語",
        ] {
            assert_eq!(americanize(word), word);
        }
    }

    #[test]
    fn every_listed_word_changes() {
        for (british, american, words) in WORDS {
            for word in words.split(' ') {
                assert_eq!(word.matches(british).count(), 1, "{word}");
                assert_ne!(americanize(word), word, "{british} {american}");
            }
        }
    }
}
