//! Names of teams: which characters they may contain, and which names look alike.
//!
//! Names are compared by their look: the keys of a team are the skeletons of its name by Unicode Technical Standard 39,
//! before and after case folding, and no two teams share a key.

use std::collections::BTreeSet;

use capeval_site::prelude::*;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_security::confusable_detection::skeleton;

/// The most letters of a name.
const LETTERS: usize = 80;

/// The most marks on one letter.
const MARKS: usize = 4;

/// Names that would pass for someone else: rows of boards, and those who run the site.
const RESERVED: &[&str] = &[
    "admin",
    "administrator",
    "administrators",
    "anonymous",
    "baseline",
    "capeval",
    "deleted",
    "host",
    "hosts",
    "human",
    "humans",
    "moderator",
    "moderators",
    "official",
    "organiser",
    "organisers",
    "organizer",
    "organizers",
    "people",
    "references",
    "root",
    "staff",
    "support",
    "system",
    "webmaster",
    "人类",
    "参考描述",
    "主办方",
    "管理员",
    "官方",
    "基线",
];

/// Returns true if a letter leaves no trace of ink, or belongs to no script.
fn is_invisible(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate, Unassigned,
    };
    // Fillers of Hangul, Khitan and hieroglyphs, the blank pattern of Braille, and variation selectors count as letters
    // or marks.
    let is_blank = matches!(c, '\u{13441}' | '\u{13442}' | '\u{16fe4}' | '\u{1d159}' | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{34f}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let category = c.general_category();
    is_blank
        || matches!(
            category,
            Control | Format | LineSeparator | ParagraphSeparator | PrivateUse | Surrogate | Unassigned
        )
}

fn is_mark(c: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark};
    matches!(c.general_category(), EnclosingMark | NonspacingMark)
}

/// A text with composed letters and single spaces.
pub fn composed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").nfc().collect()
}

/// A name as it is shown.
///
/// # Errors
/// If it is empty or too long, has letters that no one sees, or passes for someone else's.
pub fn checked(text: &str) -> Result<String> {
    let name = composed(text);
    if let Some(odd) = name.chars().find(|c| is_invisible(*c)) {
        let code = format!("U+{:04X}", u32::from(odd));
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "name", "A team name cannot have the invisible character {}.", code
        });
    }
    let n = name.chars().count();
    if n > LETTERS || !name.chars().any(char::is_alphanumeric) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "name",
            "A team name must have 1 to {} characters, with at least one letter or digit.", LETTERS
        });
    }
    let is_piled = name.chars().scan(0, |marks, c| {
        *marks = if is_mark(c) { *marks + 1 } else { 0 };
        Some(*marks > MARKS)
    });
    if is_piled.into_iter().any(|is_piled| is_piled) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "name", "A team name cannot have more than {} marks on one letter.", MARKS
        });
    }
    if is_reserved(&name) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "name", "The team name {} is reserved. Choose another one.", name
        });
    }
    Ok(name)
}

/// The name of a person as that of a team: without what a team name cannot have. `None` if nothing of it is left.
pub fn of_person(name: &str) -> Option<String> {
    let visible: String = name.chars().filter(|c| !is_invisible(*c)).take(LETTERS - 10).collect();
    checked(&visible).ok()
}

fn is_reserved(name: &str) -> bool {
    let keys = keys(name);
    RESERVED.iter().any(|reserved| !keys.is_disjoint(&self::keys(reserved)))
}

fn folded(text: &str) -> String {
    // Upper case first, which makes one of letters that have several lower-case forms.
    text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The look of a name, with its letters as they are and in lower case, in which letters of different scripts differ
/// that look alike as capitals. Names that share one of these are too similar (Unicode Technical Standard 39,
/// skeletons). Of a capital that looks like another, the lower case of that has a look of its own.
pub fn keys(name: &str) -> BTreeSet<String> {
    let compatible: String = name.nfkc().collect();
    let look = |text: &str| skeleton(&folded(&skeleton(text).collect::<String>())).collect::<String>();
    BTreeSet::from([look(&compatible), look(&folded(&compatible))])
}

/// Gives a team the keys of its name, in place of those that it has.
///
/// # Errors
/// If another team has one of them.
pub async fn claim(tx: &mut Tx, team: &str, name: &str) -> Result<()> {
    tx.execute("DELETE FROM team_key WHERE team = $1", args![team]).await?;
    for key in keys(name) {
        let claimed = tx.add_row("team_key", columns! { key: &key, team }).await?;
        if !claimed {
            let sql = "SELECT team.name FROM team_key JOIN team ON team.id = team_key.team WHERE key = $1";
            let other: Option<String> = tx.fetch_optional(sql, args![&key]).await?;
            return Err(match other {
                Some(other) if other != name => {
                    fault! {
                        CONFLICT, "team-name",
                        "The team name {} is too much like {}, which is taken.", name, other
                    }
                }
                _ => fault!(CONFLICT, "team-name", "The team name {} is already taken.", name),
            });
        }
    }
    Ok(())
}

/// Returns true if a team could have this name.
pub async fn is_free(tx: &mut Tx, name: &str) -> Result<bool, Error> {
    for key in keys(name) {
        if tx.exists("SELECT 1 FROM team_key WHERE key = $1", args![key]).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_a_key_in_common() {
        for (one, other) in [
            ("Team One", "team one"),
            ("Team One", "Ｔｅａｍ Ｏｎｅ"),
            ("paper", "рареr"),
            ("ВАСЯ", "вася"),
            ("BABE", "ВАВЕ"),
            ("Team One", "ΤΕΑΜ ΟΝΕ"),
            ("Team One", "Тeаm оnе"),
            ("v-tea", "ν‐tеа"),
            ("Team 1", "Team ①"),
            ("Al lab", "AI lab"),
            ("Straße", "STRASSE"),
            ("modern", "modem"),
            ("ﬁnal", "final"),
            ("O2", "02"),
        ] {
            assert!(!keys(one).is_disjoint(&keys(other)), "{one} {other}: {:?} {:?}", keys(one), keys(other));
        }
        for (one, other) in
            [("Team 1", "Team 2"), ("北京", "北东"), ("fog", "dog"), ("Åsa", "Asa"), ("A-B", "AB")]
        {
            assert!(keys(one).is_disjoint(&keys(other)), "{one} {other}");
        }
    }

    #[test]
    fn names_that_no_one_sees_or_that_pass_for_others_are_refused() {
        for wrong in [
            "",
            "   ",
            "a\u{200b}b",
            "a\u{202e}b",
            "\u{3164}",
            "\u{2800}",
            "x\u{fe0f}",
            "x\u{13442}",
            "x\u{16fe4}y",
            "team\u{200d}one",
            "team\u{200f}one",
            "team\u{61c}one",
            "Οfficial",
            "ＣａｐＥｖａⅼ",
            "—",
            "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}",
            "Admin",
            "аdmin",
            "ＢＡＳＥＬＩＮＥ",
            "官方",
            &"x".repeat(81),
        ] {
            assert!(checked(wrong).is_err(), "{wrong:?}");
        }
        for (given, name) in
            [("  Team\t 7 ", "Team 7"), ("λ-net 🚀", "λ-net 🚀"), ("नमस्ते", "नमस्ते"), ("e\u{301}t", "ét")]
        {
            assert_eq!(checked(given).unwrap(), name);
        }
    }

    #[test]
    fn people_give_their_names_to_teams_without_what_no_one_sees() {
        assert_eq!(of_person("A\u{200d}da").as_deref(), Some("Ada"));
        assert_eq!(of_person("Admin"), None);
        assert_eq!(of_person("—"), None);
    }
}
