"""Compare the tokens of `ptb` with those of the Java program that pycocoevalcap calls.

    run.py ptb [--jar JAR] [--n N] [--seed S] [--batch] [FILE ...]

FILEs have one text per line and may be compressed; N hostile texts (100,000) are added: every rule of the lexer has
material of its own, fragments to which the rule applies, alphabets of its characters, and possible neighbours; lines of the
first FILE are mutated too. JAR is stanford-corenlp-3.4.1.jar, by default that of the Python package pycocoevalcap 1.2. Needs
Java.

Makes two comparisons: the raw tokens (case and punctuation kept), and the tokens after pycocoevalcap's post-processing.
Between the texts there is a line that begins a new sentence, because `ptb-each` assumes one after a text. `--batch` omits it
and compares `ptb`, which receives the texts after each text, as in a whole file of pycocoevalcap; texts that contain line
breaks are then skipped.
"""
import pathlib
import random
import sys
import tempfile

from shared import Comparison, built, lines, options, output

PUNCTUATION = {"''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-",
               ".", "?", "!", ",", ":", "-", "--", "...", ";"}
# The quotes close any attribute value that a text leaves open, and the bracket closes an odd smiley, so that
# no token extends past the line.
FENCE, FENCE_TOKENS = "A xsepx '\"<", "a xsepx ' '' <"
CHUNK = 200_000

ABBREVIATIONS = """jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri ala ariz az
ark calif colo conn ct dak del fla ga ill ind kan kans ky la mass md mich minn miss mo mont neb nev okla ore pa
penn tenn tex va vt wash wis wisc wyo inc co cos corp pty ppty pte ptys ltd plc rt bancorp bhd assn univ intl
sys tel est ext sq jr sr bros ed.d ph.d blvd rd esq etc al seq bldg mr mrs ms dr drs prof profs sen sens rep
reps atty attys lt col gen messrs gov govs adm rev maj sgt cpl pvt capt st ste ave pres lieut hon brig cmdr
comdr pfc spc supt supts det mt ft adj adv asst assoc ens insp mlle mme msgr sfc vs alex wm jos cie a.k.a cf
treas ph invt elec natl mfg mtg dept ca fig figs prop no nos art pp op a b c i x z u.s u.s.a u.k e.g i.e a.m
p.m d.c non-u.s eu-u.s canada-u.s u.s.-u.k u.s.-u.s.s.r sat sun may june fed""".split()
OPENERS = """About According Additionally After An A As At But Earlier He Her Here However If In It Last Many
More Mr. Ms. Now Once One Other Our She Since So Some Such That The Their Then There These They This We When
While What Yet You the a dog Dog 5 12 <b> <a href='x'> </b> é É Ω""".split()
EXTENSIONS = """bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl
png ppt ps py sql tar txt wav x xml zip mp4 rs""".split()
CONTRACTIONS = """cannot gonna gotta lemme gimme wanna 'tis 'twas dunno whaddya can't won't don't isn't ain't
shan't doesn't wasn't n't hasn't didn't I'm I've I'll I'd you're they're he's she's it's who's dog's dogs' y'all
y'know o'clock O'Brien d'art l'avion j'ai n'est c'est c'mon ol' dunkin' somethin' rock'n'roll 'n' 'n 'em 'til
'till 'cause 'tisn't cont'd cont'd. nor'easter e'er s'mores ev'ry li'l nat'l cap'n o'o B'Gosh Shi'ite Qur'an
D'Angelo '90s '99 '05 'hello 'a 'A' 's 're 've 'll 'm 'd n`t o`clock""".split()
WORDS = """a man woman dog cat in on the of with and sitting standing red black-and-white tennis racket t-shirt
close-up double-decker multi-colored train street food pizza STOP Sign McDonald's New York co-ed x-ray foo.bar
hello!there what?ever 4x4 1st 2nd 20th iPhone AT&T R&D S&P-500 S&Ls M&amp;M A+B c++ C++ c# f# C.D.s pro- anti-
pro-life anti-war and/or his/her w/o w/ black/white 24/7 1/2 3/4 3-1/2 1\\/2 half-1/2""".split()
NUMBERS = """0 1 5 12 007 1,000 1,000,000 3.14 .5 -5 +3 +-3 12:30 1:2:3 1990 1990's 1990s 90s 5'10" 6ft 6'
1-2-99 01/02/2003 1/2/03 12-31-1999 3 1/2 10 3/4 555-1234 (555)123-4567 +1 800 555 1234 555.123.4567
++49.30.1234.56789 1-800-555-1234 $5 $5.00 US$5 HK$ A$ £5 €5 5% #1 #5 5c 10¢ ¥100 ½ ¼ ¾ ⅓ ⅔ ⅛ 1½ x² x³ H₂O ¹
⁻¹ ₋₂ 1⁄2 ٣ ٣٫٥ १२ 2,4-D 1.5-inch 4.5.6 1,2,3""".split()
ADDRESSES = """http://a.b https://www.x.org/a?b=c http://x http://ab https://😀 www.foo.com www.a.b.c.de foo.com
foo.org/bar foo.net/bar/baz. bar.edu, Foo.com foo1.com a-b.com bar@x.edu <bar@x.edu> &lt;bar@x.edu&gt; a.b@c.d.e
@user @_x @1 #tag #é #tag1 x@y mailto:a@b.c http://a.b/(c) ftp://a.b http://a|b www.a.b/ www.a.b/c- a.com.au""".split()
TAGS = """<b> </b> <br/> <br /> <a href="x y"> <a href='x > y'> <img src = "a.jpg" alt='b'/> <!-- c --> <!x y>
<?xml version="1.0"?> <> < b> <b <3 <<>> << >> <p class=x> <a  b  c > </b > <b/ > <a b='> <a b="'"> <a:b.c-d_e>""".split("\n")
TAGS = [tag for line in TAGS for tag in line.replace("> ", ">\0").split("\0")]
ENTITIES = """&amp; &AMP; &lt; &gt; &quot; &QUOT; &apos; &APOS; &nbsp; &NBSP; &mdash; &ndash; &MD; &HT; &TL; &UR;
&LR; &QC; &QL; &QR; &odq; &cdq; &#39; &#x27; &eacute; &Egrave; &uuml; &iuml; &ntilde; caf&eacute; &; &amp
it&apos;s don&apos;t &quot;x&quot; &quot; A&amp;B""".split()
FACES = """:) :( :-) ;-) =) :D :P :p :d :O :o) :'( :*( <:-) >:( :-{ :-@ :-| :[ :] :\\ =\\ ^_^ -_- >_< x_x ~_~
'_' (^_^) (^.^) (^^) (x-x) (^-`) (=.=) (-_-) ^.[^x=<>] x.[^X=abc<>] ^.[^x= a . b <>] ^.[^x=~<>] :-)x :)) ;) :3""".split(" ")
FACES = [face for line in FACES for face in line.split("\n") if face]
MARKS = """. .. ... .... ..... ...... . . . .. .. , ; : ! ? ?! !!! ??? - -- --- ---- ----- – — ― ‐ ‑ _ __ * ** ***
\\* \\*\\* @ @@ # ## + % & ~ ^ | \\ / // = == ` `` ' '' " "" ( ) [ ] { } < > “ ” ‘ ’ ‚ „ ‛ ‟ ‹ › « » 、 。 ¡ ¿
… § ° ± × ÷ → ∀ © ® ™ ¦ ¨ ¬ ¯ ´ ¸ • ‰ ※ ⓐ Ⓐ Ⅷ ⅷ ⁄ ｡ ＠ ・ -LRB- -rrb- -LSB- *NL* \\/""".split()
SPECIAL = [chr(c) for c in (
    0, 1, 7, 9, 0xb, 0xc, 0xd, 0x1c, 0x1f, 0x7f, 0x80, 0x85, 0x91, 0x92, 0x93, 0x94, 0x96, 0x97, 0x9f, 0xa0, 0xad,
    0x130, 0x131, 0x17f, 0x212a, 0x300, 0x301, 0x483, 0x5d0, 0x5b0, 0x627, 0x64b, 0x660, 0x66b, 0x66c, 0x7c0,
    0x904, 0x93e, 0xe01, 0xe33, 0xe50, 0x10a0, 0x13a0, 0x1e9e, 0x2000, 0x200a, 0x200b, 0x200d, 0x200e, 0x2010,
    0x2011, 0x2028, 0x2029, 0x202f, 0x2060, 0x2070, 0x2079, 0x207b, 0x2080, 0x208b, 0x20a0, 0x20ac, 0x2153,
    0x2160, 0x24b6, 0x3000, 0x3001, 0x3002, 0x3042, 0x30fb, 0x4e00, 0xac00, 0xfe0f, 0xfeff, 0xff21, 0xff10,
    0xff0c, 0xffe1, 0xfffd, 0xffff, 0x10000, 0x1d400, 0x1f600, 0x1f468, 0x20000, 0xe0001, 0x10ffff)]
ALPHABETS = [
    "0123456789.,:/-+ ()$#\u00a0", "019/-. ⁄\\", "0123-–./ 's", "()+-. \u00a00123456789",
    "<>/='\" a!?-b1", "<a b='c\">/ ", ":;=-o*'()DPdpO\\{@|[]<>a1 ", "^x=~<>'-_.()` [X]", "&;aeioumpltgqdAEHTL#1 ",
    "'’`‘‛\u0091\u0092aeiouyntAENTsdmrvl ", "nNtT'’`&apos; \u00add", "aeO'’bN.-", "ld'-a1_‐", "wW.comnetrgdu/:@-_ ~",
    "htps:/.aw?(){}|,- ", "a@.b<>&lt;g ", "A&+amp;.,B ", "aB-./\\1 ", "aB1.,-\u00ad ", "abA.-USKRnoCEJ ", "a.b!c?1 ",
    ". \u00a0.…\u0085!?", "-–—_‐ ", "`'\"‘’“”«»‹›„‚ aA1$", "*\\#@_ a1é", "\u00ad-n't a.,", "éÉüñ日本аяΩΣσς.'- ",
    "ΑΣσας.'’-:\u00ad Σ", "İIıiſsKk'.nt ", "\r\x0b\x0c\u2028\u2029\u0085 .aA'1", "ab ", "ab .,", "\u2000\u3000\u200b\ufeff a.comx",
]
GLUE = ["", "", " ", " ", " ", "  ", ",", ".", ". ", ", ", "'", "-", "/", "\u00a0", "\t", "\"", "!", "? ", " . ", "@", "’", "_", "\u00ad"]
GROUPS = [ABBREVIATIONS, OPENERS, CONTRACTIONS, WORDS, NUMBERS, ADDRESSES, TAGS, ENTITIES, FACES, MARKS, SPECIAL]
BREAKS = dict.fromkeys(map(ord, "\n"), " ")


def cased(rng, word):
    return rng.choice((word, word, word.upper(), word.capitalize(), word.lower(),
                       "".join(rng.choice((c, c.upper())) for c in word)))


def fragments(rng):
    out = []
    for _ in range(rng.randint(1, 9)):
        fragment = rng.choice(rng.choice(GROUPS))
        out += [cased(rng, fragment) if rng.random() < 0.4 else fragment, rng.choice(GLUE)]
    return "".join(out)


def one_group(rng):
    group = rng.choice(GROUPS)
    return "".join(part for _ in range(rng.randint(1, 6)) for part in (rng.choice(group), rng.choice(GLUE)))


def abbreviation(rng):
    return (rng.choice(("", "the ", "(", "\"", "'", "-", "x.", "a ")) + cased(rng, rng.choice(ABBREVIATIONS))
            + rng.choice((".", ".", ".", "", "..", ".,", ".'s", ".-x", "'s", ". .", ".\u00ad"))
            + rng.choice((" ", " ", "  ", "\t", "\r", "\x0b", "\u2028", "\u00a0", "\u3000", "\u0085", ""))
            + rng.choice(OPENERS) + rng.choice((" ", " dog", "", ".", ". The", "\r", "\u2028")))


def alphabet(rng):
    letters = rng.choice(ALPHABETS)
    if rng.random() < 0.3:
        letters += rng.choice(ALPHABETS)
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 24)))


def files(rng):
    return (rng.choice(("photo", "a.b", "é", "日本", "x1", "1", "a-b", "")) + "." + cased(rng, rng.choice(EXTENSIONS))
            + rng.choice((" ", ".", "?", "!", ",", ";", "x", "", "\r", "\u00a0", ".x", "'s")) + rng.choice(WORDS))


def unicode_text(rng):
    def char():
        kind = rng.random()
        if kind < 0.5:
            c = rng.randrange(0x80, 0x3100)
        elif kind < 0.8:
            c = rng.randrange(1, 0x10000)
        else:
            c = rng.randrange(0x10000, 0x110000)
        return "a" if 0xd800 <= c < 0xe000 else chr(c)
    around = "aZ1 .,'-@/:&<\"$"
    return "".join(rng.choice((char(), char(), rng.choice(around), rng.choice(SPECIAL))) for _ in range(rng.randint(1, 16)))


def mutated(rng, captions):
    text = list(rng.choice(captions))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        at = rng.randint(0, len(text))
        what = rng.random()
        if what < 0.4:
            text[at:at] = rng.choice(rng.choice(GROUPS))
        elif what < 0.6:
            text[at:at] = rng.choice(SPECIAL)
        elif what < 0.75:
            del text[at:at + rng.randint(1, 4)]
        elif what < 0.9:
            text[at:at + 1] = rng.choice(rng.choice(ALPHABETS))
        else:
            text[at:at + 3] = [c.upper() for c in text[at:at + 3]]
    return "".join(text)


def spaced(rng):
    """Only plain words and punctuation, as handled by a fast path."""
    out = []
    for _ in range(rng.randint(1, 12)):
        out.append(cased(rng, rng.choice(rng.choice((WORDS, CONTRACTIONS, ABBREVIATIONS, OPENERS, NUMBERS)))))
        out.append(rng.choice(("", "", "", ".", ",", "!", "?", ";", ":", "\"", ")", "'s", "n't")))
        out.append(rng.choice((" ", " ", " ", " ", "  ", "\"", " (", " '", "")))
    return "".join(out)


def hostile(n, seed, captions):
    rng = random.Random(seed)
    captions = captions or [" ".join(WORDS[k:k + 12]) for k in range(20)]
    kinds = [fragments, fragments, one_group, abbreviation, alphabet, alphabet, files, unicode_text, spaced]
    for _ in range(n):
        kind = rng.randrange(len(kinds) + 1)
        text = kinds[kind](rng) if kind < len(kinds) else mutated(rng, captions)
        yield text.translate(BREAKS)


def java(jar, text, lower):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "texts")
        file.write_text(text, encoding="utf-8", newline="\n")
        command = ["java", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines"]
        return output([*command, *["-lowerCase"] * lower, file]).split("\n")


def java_fenced(jar, texts, lower):
    """The lines that the Java program prints for each text."""
    groups, group = [], []
    for line in java(jar, "".join(f"{text}\n{FENCE}\n" for text in texts), lower):
        if line.lower() == FENCE_TOKENS:
            groups.append(group)
            group = []
        else:
            group.append(line)
    if len(groups) != len(texts):
        sys.exit(f"{len(groups)} groups of lines for {len(texts)} texts: a token extends over a line break")
    return groups


def finished(line):
    """pycocoevalcap's post-processing of one line."""
    return " ".join(word for word in line.rstrip().split(" ") if word not in PUNCTUATION)


def compare(comparison, given, source, texts):
    for name, lower in (("ptb-raw", False), ("ptb" if given.batch else "ptb-each", True)):
        if given.batch:
            theirs = [[line] for line in java(given.jar, "\n".join(texts), lower)]
        else:
            theirs = java_fenced(given.jar, texts, lower)
        theirs = [" ".join(filter(None, some if name == "ptb-raw" else map(finished, some))) for some in theirs]
        command = [built("capeval-text", "tokenize"), name, *["--next"] * given.batch]
        ours = output(command, "".join(text + "\n" for text in texts)).split("\n")[:-1]
        comparison.texts(f"{source}, {name}", ours, theirs, texts)


def main(arguments):
    parser = options(__doc__, ("files", {"nargs": "*", "metavar": "FILE"}), "--jar", ("--batch", {"action": "store_true"}))
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    if given.jar is None:
        import pycocoevalcap.tokenizer

        given.jar = pathlib.Path(next(iter(pycocoevalcap.tokenizer.__path__)), "stanford-corenlp-3.4.1.jar")
    sources = {path: [line for line in lines(path) if line] for path in given.files}
    real = next(iter(sources.values()), [])
    if given.n:
        sources[f"hostile, seed {given.seed}"] = list(hostile(given.n, given.seed, real))
    comparison = Comparison(20)
    for source, texts in sources.items():
        if given.batch:
            texts = [text for text in texts if not set(text) & set("\r\x0b\x0c\x85\u2028\u2029")]
        size = max(len(texts), 1) if given.batch else CHUNK
        for start in range(0, len(texts), size):
            compare(comparison, given, f"{source} from {start}", texts[start : start + size])
    return comparison.end()
