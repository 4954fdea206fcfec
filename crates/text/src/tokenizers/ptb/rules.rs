//! The rules of the lexer in order: what each matches, where its token ends, and what is printed.
//!
//! The rule with the longest match wins, including its look-ahead; among equally long matches the first rule
//! wins. Literal words match in any case, sets of characters are case-sensitive.

use super::Version;
use super::classes::{
    ALNUM, ANY, APOSTROPHE, AT_END, BREAK, BULLET, CAPITAL, DOTS, FIGURE, FRACTION_BAR, GAP, JOINER, LATIN,
    LETTER, LONE, LONG_DASH, LOOSE_APOSTROPHE, LOWERED, MIDDLE_STOP, MONEY, NO_BREAK_SPACE, NUMBER_POINT,
    NUMERAL, QUOTE, RAISED, SMALL_SIGN, SOFT, SPACE, Set, UPPERCASE, VULGAR, WINDOWS_SIGN, WORD_LETTER,
};
use super::pattern::{Pattern, among, names, one, text, words};

/// The end of the token within the match of its rule; the rest of the match is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenEnd {
    /// At the end of the match.
    Whole,
    /// This many UTF-16 units before the end of the match.
    Before(u8),
    /// After the first character.
    First,
    /// At the first white space, or else one unit before the end.
    AtSpace,
    /// After the first full stop.
    AfterStop,
    /// After the first exclamation mark.
    AfterMark,
    /// Before `'s`, `'re` or a similar clitic at the end of the match.
    BeforeClitic,
    /// Before the `n't` at the end of the match.
    BeforeNot,
    /// Before the last full stop, and before one white space that precedes it if it is `spaced`.
    BeforeStop {
        /// True if white space stands before the full stop.
        spaced: bool,
    },
}

/// The printed form of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The text unchanged.
    Same,
    /// Without soft hyphens.
    Unhyphenated,
    /// With no-break spaces instead of spaces.
    Unbroken,
    /// With no-break spaces instead of spaces, and `-LRB-` and `-RRB-` instead of round brackets.
    Phone,
    /// With `-LRB-` and `-RRB-` instead of round brackets.
    Bracketed,
    /// With `&` instead of `&amp;`.
    Ampersand,
    /// With quotation marks as in TeX; a straight one closes.
    Closing,
    /// With quotation marks as in TeX; a straight one opens.
    Opening,
    /// Common vulgar fractions as `1/2`.
    Fraction,
    /// `cents`, `#` for the pound, `$` for the euro.
    Currency,
    /// The bullet and the trade mark sign of Windows-1252 as those of Unicode.
    Sign,
    /// Two hyphens instead of three or four.
    Hyphens,
    /// Always this text.
    Fixed(&'static str),
    /// An abbreviation with its full stop, followed by another full stop.
    StopTwice,
    /// As `StopTwice`, but a single letter leaves its full stop to the next token.
    Acronym,
    Nothing,
    /// Nothing, and the line ends.
    LineBreak,
}

/// A rule of the lexer.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) pattern: Pattern,
    pub(super) cut: TokenEnd,
    pub(super) form: Form,
}

/// Abbreviations of months, days, states, companies etc., after which a sentence may also end.
const CLOSING_ABBREVIATIONS: &str = "jan feb mar apr jun jul aug sep sept oct nov dec \
    mon tue tues wed thu thurs fri \
    ala ariz calif colo conn ct dak fla ga ind kan kans ky md mich minn mo mont neb nev okla penn tenn va vt \
    wis wisc wyo \
    inc co cos corp ltd plc rt bancorp bhd assn univ intl sys \
    tel est ext sq jr sr bros ed.d ph.d blvd rd esq etc al seq bldg";
/// State abbreviations that are also words, so their first letter must be a capital.
const CAPITALISED_STATES: &str = "Az Ark Del Ill La Mass Miss Ore Pa Tex Wash";
/// Titles and other abbreviations that rarely end a sentence.
const OPENING_ABBREVIATIONS: &str = "mr mrs ms dr drs prof profs sen sens rep reps atty attys lt col gen \
    messrs gov govs adm rev maj sgt cpl pvt capt st ste ave pres lieut hon brig cmdr comdr pfc spc supt supts \
    det mt ft adj adv asst assoc ens insp mlle mme msgr sfc \
    vs alex wm jos cie a.k.a cf treas ph invt elec natl dept";
/// Abbreviations only before a number.
const NUMBER_ABBREVIATIONS: &str = "ca fig figs prop no nos art bldg pp op";
/// All the lists above, for the fast path.
pub(super) const ABBREVIATION_LISTS: [&str; 4] =
    [CLOSING_ABBREVIATIONS, CAPITALISED_STATES, OPENING_ABBREVIATIONS, NUMBER_ABBREVIATIONS];
/// The abbreviations that the rules spell out because some letters must be in lower case.
pub(super) const MORE_ABBREVIATIONS: &str = "pty pte ptys ptes ppty ppte pptys pptes mfg mtg";
/// Words that indicate that a new sentence begins after an acronym.
const SENTENCE_OPENERS: &str = "About According Additionally After An A As At But Earlier He Her Here \
    However If In It Last Many More Mr. Ms. Now Once One Other Our She Since So Some Such That The Their Then \
    There These They This We When While What Yet You";
/// Further ones that version 3.6.0 knows.
const MORE_SENTENCE_OPENERS: &str = "Did During How Who Why";
/// File name extensions.
const EXTENSIONS: &str = "bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov \
    mp3 pdf php pl png ppt ps py sql tar txt wav x xml zip";
/// Further ones that version 3.6.0 knows.
const MORE_EXTENSIONS: &str = "bz2 3gp wma wmv avi flv mp4 mpg";

/// Characters that always end a web or email address.
const ADDRESS_END: Set = Set::of(" \t\x0c\r\"<>|()");

fn letter() -> Pattern {
    let accented = among("&") + among("aeiouAEIOU") + words("acute grave uml") + text(";");
    one(WORD_LETTER) | accented
}

fn word() -> Pattern {
    let part = || letter() + (letter() | one(NUMERAL)).any();
    part() + (among(".!?") + part()).any()
}

fn apostrophe() -> Pattern {
    one(APOSTROPHE) | text("&apos;")
}

fn loose_apostrophe() -> Pattern {
    one(LOOSE_APOSTROPHE) | text("&apos;")
}

/// 's 'm 'd 're 've 'll
fn clitic() -> Pattern {
    apostrophe() + (among("msdMSD") | words("re ve ll"))
}

/// n't
fn not() -> Pattern {
    text("n") + loose_apostrophe() + text("t")
}

fn line_break() -> Pattern {
    (among("\r") + one(AT_END)) | one(BREAK)
}

fn white() -> Pattern {
    one(SPACE) | line_break()
}

/// An opening tag with attributes, a closing tag, or a declaration.
fn tag(version: Version) -> Pattern {
    let spaces = || among(" ").any();
    let name = || one(LATIN) + one(ALNUM | Set::of("_:.-")).any();
    let quoted = |mark: &str| among(mark) + one(!Set::of(mark)).any() + among(mark);
    let quotation = quoted("'") | quoted("\"");
    let value = match version {
        Version::V341 => quotation,
        Version::V360 => quotation | name(),
    };
    let value = among(" ").any() + among("=") + spaces() + value;
    let attribute = among(" ").many() + name() + value.maybe();
    let declaration = among("!?") + one(LATIN | Set::of("-")) + one(!Set::of(">\r")).any();
    let opening = name() + attribute.any() + spaces() + among("/").maybe();
    let closing = among("/") + name();
    among("<") + (declaration | opening | closing) + spaces() + among(">")
}

/// Letters separated by dots, and a few names that end in them.
fn dotted(letters_after: Pattern) -> Pattern {
    let american = words("canada sino korean eu japan non") + text("-u.s");
    let joint = text("u.s.-") + words("u.k u.s.s.r");
    (one(LATIN) + letters_after) | american | joint
}

fn dotted_letter() -> Pattern {
    among(".") + one(LATIN)
}

fn acronym() -> Pattern {
    dotted(dotted_letter().any())
}

/// An abbreviation, with its full stop, that may end a sentence.
fn closing_abbreviation() -> Pattern {
    let proprietary = text("p") + text("p").maybe() + text("t") + among("ye") + text("s").maybe();
    (words(CLOSING_ABBREVIATIONS) | names(CAPITALISED_STATES) | proprietary) + among(".")
}

/// An abbreviation, without its full stop, that is followed by a name.
fn opening_abbreviation(version: Version) -> Pattern {
    let manufacturing = text("m") + among("ft") + text("g");
    let all = words(OPENING_ABBREVIATIONS) | names("Miss") | manufacturing | acronym();
    match version {
        Version::V341 => all,
        Version::V360 => all | among("v"),
    }
}

/// `d'`, `o'`, `l'` before a letter or digit, then letters and digits, possibly repeated after hyphens.
fn hyphenated_name() -> Pattern {
    let prefix = || (among("dDoOlL") + loose_apostrophe() + one(LETTER | NUMERAL)).maybe();
    let part = || prefix() + one(LETTER | NUMERAL).many();
    part() + (one(JOINER) + part()).any()
}

/// ASCII letters and digits with dots and commas inside, then parts after hyphens.
fn hyphenated() -> Pattern {
    let acronym = dotted(dotted_letter().many()) + among(".");
    let part = among("-") + (one(ALNUM | SOFT).many() | acronym);
    one(ALNUM) + one(ALNUM | Set::of(".,") | SOFT).any() + part.many()
}

fn apostrophe_word() -> Pattern {
    let vowel_inside = one(LETTER).many()
        + among("aeiouyAEIOUY")
        + loose_apostrophe()
        + one(CAPITAL | Set::of("aeiou"))
        + one(LETTER).any();
    let capital_first = one(Set::range(b'A', b'H').or(Set::range(b'J', b'X')).or(Set::of("Zn")))
        + loose_apostrophe()
        + one(LETTER)
        + one(LETTER).many();
    (apostrophe() + text("n") + apostrophe().maybe())
        | (among("lLdDjJ") + apostrophe())
        | (words("dunkin somethin ol") + apostrophe())
        | (apostrophe() + words("em til till cause"))
        | capital_first
        | (apostrophe() + one(Set::range(b'2', b'9')) + text("0s"))
        | vowel_inside
        | (text("cont'd") + among(".").maybe())
        | words("'twas nor'easter c'mon e'er s'mores ev'ry li'l nat'l")
        | (text("o") + loose_apostrophe() + text("o"))
}

fn web_path_end() -> Pattern {
    one(!(ADDRESS_END | Set::of(".!?{},-")))
}

/// http:// or https:// and the rest of the address.
fn web_address() -> Pattern {
    text("http")
        + text("s").maybe()
        + text("://")
        + one(!(ADDRESS_END | Set::of("{}"))).many()
        + web_path_end()
}

/// A host name that begins with www. or ends in one of four domains, with or without a path.
fn bare_web_address() -> Pattern {
    let label = one(!(ADDRESS_END | Set::of(".!?{},"))).many() + among(".");
    // The reference program has a range from comma to underscore here, which excludes capitals and digits.
    let plain_label = one(!(ADDRESS_END | Set::of("`'!?{}$") | Set::range(b',', b'_'))).many() + among(".");
    let host = (text("www.") + label.many() + one(LATIN).times(2, 4))
        | (plain_label.many() + words("com net org edu"));
    let path = text("/") + one(!ADDRESS_END).many() + web_path_end();
    host + path.maybe()
}

fn mail_address() -> Pattern {
    let end = ADDRESS_END | Set::of("{}") | NO_BREAK_SPACE;
    let opening = among("<") | text("&lt;");
    let closing = among(">") | text("&gt;");
    let label = one(!(end | Set::of("."))).many();
    opening.maybe()
        + one(ALNUM)
        + one(!end).any()
        + among("@")
        + (label.clone() + among(".")).any()
        + label
        + closing.maybe()
}

fn digits(least: usize, most: usize) -> Pattern {
    one(FIGURE).times(least, most)
}

fn numerals(least: usize, most: usize) -> Pattern {
    one(NUMERAL).times(least, most)
}

fn number() -> Pattern {
    let decimal = one(NUMERAL).any() + (one(NUMBER_POINT) + one(NUMERAL).many()).many();
    among("+-").maybe() + (one(NUMERAL).many() | decimal)
}

/// `1/2`, `3 1/2` or `3-1/2`, possibly with a backslash before the slash.
fn fraction() -> Pattern {
    let whole = numerals(1, 4) + one(GAP | Set::of("-"));
    let bar = (among("\\").maybe() + among("/")) | one(FRACTION_BAR);
    whole.maybe() + numerals(1, 4) + bar + numerals(1, 4)
}

/// Two or three words separated by slashes, each with up to two parts after hyphens.
fn slashed() -> Pattern {
    let part = || one(ALNUM).many() + (among("-") + one(LATIN).many()).times(0, 2);
    part() + (among("\\").maybe() + among("/") + part()).times(1, 2)
}

fn phone() -> Pattern {
    let gap = || one(GAP | Set::of("-"));
    let country = || (among("+") + among("+").maybe()).maybe();
    let area = among("(") + digits(2, 3) + among(")") + one(GAP).maybe();
    let codes = country() + (digits(2, 4) + gap()).maybe() + digits(2, 4) + gap();
    let spaced = (area | codes) + digits(3, 4) + gap().maybe() + digits(3, 5);
    let pointed = (country() + digits(2, 4) + among(".")).maybe()
        + digits(2, 4)
        + among(".")
        + digits(3, 4)
        + among(".")
        + digits(3, 5);
    spaced | pointed
}

fn eastern_smiley() -> Pattern {
    let face = || among("-^x=~<>'");
    let cheek = || among("^x=~<>'");
    // The reference program has one backslash too many in its first kind of face, with a curious result.
    let broken = among("^x=~<>") + text(".[^x=") + one(!Set::of("<")).any() + text("<>]");
    broken
        | (face() + among("_") + face())
        | (among("(") + face() + among("_.").maybe() + face() + among(")"))
        | (among("(") + cheek() + among("-") + (cheek() | among("`")) + among(")"))
}

/// Spellings that the Treebank keeps together.
fn treebank_word(version: Version) -> Pattern {
    let and = || text("&") | text("&amp;");
    let words = (text("-") + words("rrb lrb rcb lcb rsb lsb") + text("-"))
        | words("c.d.s pro- anti-")
        | (text("s") + and() + words("p-500 ls"))
        | (text("cap") + apostrophe() + text("n"))
        | (text("c") + apostrophe() + text("est"));
    let starred = || {
        let ending = (text("in") + among("g'")) | (text("e") + among("dr"));
        (text("f*") + among("c*") + text("k") + ending.maybe()) | (text("sh*t") + text("ty").maybe())
    };
    match version {
        Version::V341 => words,
        Version::V360 => words | starred(),
    }
}

/// All rules of a version, in order.
///
/// This is one long table because the order of its lines decides which rule wins; it follows that of the grammar of
/// Stanford's tokenizer.
pub(super) fn rules(version: Version) -> Vec<Rule> {
    let newer = version == Version::V360;
    let if_newer = |form: Form| if newer { form } else { Form::Same };
    let tag = || tag(version);
    let opening_abbreviation = || opening_abbreviation(version);
    let mut rules = Vec::with_capacity(96);
    let mut rule = |form: Form, cut: TokenEnd, pattern: Pattern| rules.push(Rule { pattern, cut, form });
    let stopped = |word: Pattern| word + among(".") + one(MIDDLE_STOP);
    let spaces = || one(SPACE).many();
    let whites = || white().many();

    rule(Form::Same, TokenEnd::Whole, text("c++") | words("c# f#"));
    rule(Form::Same, TokenEnd::Before(3), words("cannot 'twas"));
    rule(Form::Same, TokenEnd::Before(2), words("'tis gonna gotta lemme gimme wanna"));
    rule(Form::Unbroken, TokenEnd::Whole, tag());
    rule(
        Form::Fixed("--"),
        TokenEnd::Whole,
        (text("&") + words("md mdash ndash") + text(";")) | one(LONG_DASH),
    );
    rule(Form::Ampersand, TokenEnd::Whole, text("&amp;"));
    let entity = words("ht tl ur lr qc ql qr odq cdq") | (among("#") + one(FIGURE).many());
    rule(Form::Same, TokenEnd::Whole, text("&") + entity + text(";"));

    rule(Form::Unhyphenated, TokenEnd::BeforeClitic, word() + clitic());
    let n_free = one(Set::range(b'A', b'M').or(Set::range(b'O', b'Z')))
        | one(Set::range(b'a', b'm').or(Set::range(b'o', b'z')));
    let negated = one(LATIN | SOFT).any() + n_free + one(SOFT).any();
    rule(Form::Unhyphenated, TokenEnd::BeforeNot, negated + not());
    rule(Form::Unhyphenated, TokenEnd::Whole, word());
    rule(if_newer(Form::Closing), TokenEnd::Whole, apostrophe_word());
    rule(Form::Same, TokenEnd::Before(1), text("y") + apostrophe() + one(LETTER));
    rule(Form::Same, TokenEnd::Whole, web_address());
    rule(Form::Same, TokenEnd::Whole, bare_web_address());
    rule(Form::Same, TokenEnd::Whole, mail_address());
    let handle = among("@") + one(LATIN | Set::of("_")) + one(ALNUM | Set::of("_")).any();
    rule(Form::Same, TokenEnd::Whole, handle | (among("#") + letter().many()));
    rule(Form::Closing, TokenEnd::Before(1), clitic() + one(!LATIN | AT_END));
    rule(Form::Closing, TokenEnd::Before(1), not() + one(!LATIN | AT_END));

    let date = numerals(1, 2) + among("-/") + numerals(1, 2) + among("-/") + numerals(2, 4);
    rule(Form::Same, TokenEnd::Whole, date);
    rule(Form::Unhyphenated, TokenEnd::Whole, number());
    rule(Form::Same, TokenEnd::Whole, one(SMALL_SIGN).maybe() + (one(RAISED).many() | one(LOWERED).many()));
    rule(Form::Unbroken, TokenEnd::Whole, fraction());
    rule(Form::Fraction, TokenEnd::Whole, one(VULGAR));
    rule(Form::Ampersand, TokenEnd::Whole, treebank_word(version));
    if newer {
        rule(Form::Same, TokenEnd::Whole, words("e! yahoo! jeopardy!"));
        rule(Form::Same, TokenEnd::AfterMark, text("ok!") + white() + text("magazine"));
    }
    rule(Form::Same, TokenEnd::Whole, slashed());
    rule(Form::Same, TokenEnd::Whole, (one(CAPITAL).any() + among("$")) | among("#"));
    rule(Form::Currency, TokenEnd::Whole, one(MONEY));

    let mut opener = names(SENTENCE_OPENERS) | tag();
    if newer {
        opener = opener | names(MORE_SENTENCE_OPENERS);
    }
    rule(Form::Acronym, TokenEnd::AtSpace, acronym() + among(".") + whites() + opener + white());
    let numbered = words(NUMBER_ABBREVIATIONS) + among(".") + white().maybe() + one(NUMERAL);
    rule(Form::Same, TokenEnd::AfterStop, numbered);
    let company = (text("pt") + among("eyEY")) | text("co");
    rule(Form::Same, TokenEnd::Before(4), company + among(".") + one(SPACE) + words("ltd lim"));
    let sentence_end = white() + (white() | one(UPPERCASE) | tag());
    rule(Form::StopTwice, TokenEnd::AtSpace, closing_abbreviation() + sentence_end);
    rule(Form::Same, TokenEnd::Before(2), closing_abbreviation() + one(ANY) + one(ANY));
    rule(Form::StopTwice, TokenEnd::Whole, closing_abbreviation());
    rule(Form::Same, TokenEnd::Whole, opening_abbreviation() + among("."));
    rule(Form::Same, TokenEnd::Before(1), opening_abbreviation() + one(SPACE));
    rule(Form::Same, TokenEnd::AtSpace, acronym() + white());
    rule(Form::Same, TokenEnd::AtSpace, apostrophe() + digits(2, 2) + white());
    let run = || (letter() | one(NUMERAL)).many();
    let (joint, extension) = match version {
        Version::V341 => (among("."), words(EXTENSIONS)),
        Version::V360 => (among("._-"), words(EXTENSIONS) | words(MORE_EXTENSIONS)),
    };
    let file = run() + (joint + run()).any() + among(".") + extension;
    rule(Form::Same, TokenEnd::AtSpace, file + (white() | among(".?!,")));
    rule(Form::Unhyphenated, TokenEnd::Before(1), stopped(word()));
    rule(Form::Phone, TokenEnd::Whole, phone());

    let double_quote = || among("\"") | text("&quot;");
    rule(Form::Opening, TokenEnd::Before(1), double_quote() + one(ALNUM | Set::of("$")));
    rule(Form::Closing, TokenEnd::Whole, double_quote());
    rule(Form::Fixed("<"), TokenEnd::Whole, among("<") | text("&lt;"));
    rule(Form::Fixed(">"), TokenEnd::Whole, among(">") | text("&gt;"));
    let smiley = among("<>").maybe() + among(":;=") + among("-o*'").maybe() + among("()DPdpO\\{@|[]");
    rule(Form::Bracketed, TokenEnd::Before(1), smiley + one(!ALNUM | AT_END));
    rule(Form::Bracketed, TokenEnd::Whole, eastern_smiley());
    for (bracket, name) in
        [("{", "-LCB-"), ("}", "-RCB-"), ("[", "-LSB-"), ("]", "-RSB-"), ("(", "-LRB-"), (")", "-RRB-")]
    {
        rule(Form::Fixed(name), TokenEnd::Whole, among(bracket));
    }
    rule(Form::Hyphens, TokenEnd::Whole, among("-").many());
    let dot = || among(".");
    if newer {
        let dots = || (dot() + dot() + dot().many()) | one(DOTS);
        let spaced = || dot() + one(GAP) + (dot() + one(GAP)).many() + dot();
        let last = || dot() + whites() + one(LETTER);
        rule(Form::Fixed("..."), TokenEnd::BeforeStop { spaced: false }, dots() + last());
        rule(Form::Fixed("..."), TokenEnd::BeforeStop { spaced: true }, spaced() + one(SPACE) + last());
        rule(Form::Fixed("..."), TokenEnd::Whole, dots() | spaced());
    } else {
        let dots = dot().times(3, 5) | ((dot() + one(GAP)).times(2, 4) + dot()) | one(DOTS);
        rule(Form::Fixed("..."), TokenEnd::Whole, dots);
    }
    for mark in ["@", "#", "_", "*"] {
        rule(Form::Same, TokenEnd::Whole, among(mark).many());
    }
    rule(Form::Same, TokenEnd::Whole, text("\\*").times(1, 3));
    rule(Form::Same, TokenEnd::Whole, one(MIDDLE_STOP));
    rule(Form::Same, TokenEnd::Whole, among("?!").many());
    rule(Form::Same, TokenEnd::Whole, if newer { among("=").many() | among("/") } else { among("=/") });

    rule(Form::Unhyphenated, TokenEnd::Before(1), stopped(hyphenated()));
    rule(Form::Unhyphenated, TokenEnd::Whole, hyphenated());
    rule(if_newer(Form::Closing), TokenEnd::Before(1), stopped(hyphenated_name()));
    rule(if_newer(Form::Closing), TokenEnd::Whole, hyphenated_name());
    let joined = || {
        let and = among("+&") | text("&amp;");
        one(CAPITAL).many() + (and + one(CAPITAL).many()).many()
    };
    rule(Form::Ampersand, TokenEnd::Before(1), stopped(joined()));
    rule(Form::Ampersand, TokenEnd::Whole, joined());
    rule(Form::Opening, TokenEnd::First, among("'") + one(LATIN) + one(!(Set::of(" \t\r") | NO_BREAK_SPACE)));
    rule(Form::Closing, TokenEnd::Whole, clitic());
    rule(Form::Closing, TokenEnd::Whole, not());
    rule(Form::Closing, TokenEnd::Whole, apostrophe() | text("''") | one(QUOTE).times(1, 2));
    rule(Form::Same, TokenEnd::Whole, words("<< >>"));
    rule(Form::Same, TokenEnd::Whole, one(LONE));
    if newer {
        rule(Form::Same, TokenEnd::Whole, one(BULLET));
        rule(Form::Sign, TokenEnd::Whole, one(WINDOWS_SIGN));
    }
    rule(Form::Nothing, TokenEnd::Whole, spaces());
    rule(Form::LineBreak, TokenEnd::Whole, line_break());
    rule(Form::Nothing, TokenEnd::Whole, text("&nbsp;"));
    rules
}
