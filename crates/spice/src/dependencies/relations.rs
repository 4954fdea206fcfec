//! The grammatical relations, and the patterns of trees in which they hold.

use std::sync::LazyLock;

use super::cleanup::Cleanup;
use super::heads::{Heads, SpecialHeads};
use super::labels::{Test, Tests};
use super::pattern::Pattern;
use super::phrases::Phrases;
use crate::NodeId;

/// A grammatical relation of Universal Dependencies, version 1, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Acl,
    Relcl,
    Advcl,
    Advmod,
    Amod,
    Appos,
    Aux,
    Auxpass,
    Case,
    Cc,
    Preconj,
    Ccomp,
    Compound,
    Prt,
    Conj,
    Cop,
    Csubj,
    Csubjpass,
    Dep,
    Det,
    Predet,
    Discourse,
    Dobj,
    Expl,
    Goeswith,
    Iobj,
    List,
    Mark,
    Mwe,
    Neg,
    Nmod,
    Npmod,
    Poss,
    Tmod,
    Nsubj,
    Nsubjpass,
    Nummod,
    Parataxis,
    Prep,
    Punct,
    Rel,
    Xcomp,
}
use Kind::*;

const NAMES: [(Kind, &str); 42] = [
    (Acl, "acl"),
    (Relcl, "acl:relcl"),
    (Advcl, "advcl"),
    (Advmod, "advmod"),
    (Amod, "amod"),
    (Appos, "appos"),
    (Aux, "aux"),
    (Auxpass, "auxpass"),
    (Case, "case"),
    (Cc, "cc"),
    (Preconj, "cc:preconj"),
    (Ccomp, "ccomp"),
    (Compound, "compound"),
    (Prt, "compound:prt"),
    (Conj, "conj"),
    (Cop, "cop"),
    (Csubj, "csubj"),
    (Csubjpass, "csubjpass"),
    (Dep, "dep"),
    (Det, "det"),
    (Predet, "det:predet"),
    (Discourse, "discourse"),
    (Dobj, "dobj"),
    (Expl, "expl"),
    (Goeswith, "goeswith"),
    (Iobj, "iobj"),
    (List, "list"),
    (Mark, "mark"),
    (Mwe, "mwe"),
    (Neg, "neg"),
    (Nmod, "nmod"),
    (Npmod, "nmod:npmod"),
    (Poss, "nmod:poss"),
    (Tmod, "nmod:tmod"),
    (Nsubj, "nsubj"),
    (Nsubjpass, "nsubjpass"),
    (Nummod, "nummod"),
    (Parataxis, "parataxis"),
    (Prep, "prep"),
    (Punct, "punct"),
    (Rel, "rel"),
    (Xcomp, "xcomp"),
];

/// For each relation the phrases that it is looked for in, and its patterns: if one matches, the relation holds between
/// the head of the phrase and that of the marked node. `prep` and `rel` are replaced once all relations are known.
const PATTERNS: &[(Kind, &str, &[&str])] = &[
    (
        Acl,
        "WHNP|NP~|NML|NX",
        &[
            "WHNP|NP~|NML|NX[/@VP[/VBG|VBN|VBD --NP~|NML|NX]]",
            "WHNP|NP~|NML|NX[/{,}[+@VP[<participle>]]]",
            "{nominal}[/@WHPP|PP[!/NP~|WHNP|NML !-CC|CONJP[-_] /^*PP*|*CC*|*CONJP*|*{,}* \
         !/PP[/1IN|RB|MWE|PCONJP|VBN|JJ /2NP~]] !/$<etc> !/$<etc phrase>]",
            "NP~[/@S[/VP[/TO] --NP|NN|NNP|NNS]]",
            "NP~[/@SBAR[/S[/VP[/TO]] --NP|NN|NNP|NNS]]",
        ],
    ),
    (
        Relcl,
        "NP~|NML~|ADVP~|WHNP~|WHNML~|WHADVP~",
        &[
            "NP~|WHNP|NML=np[++@SBAR[(/(SBAR)WHPP|WHNP | /.S[!/VP[/TO]])] !--NP~|WHNP|NML !++<etc> !++<etc phrase> \
         ..NP~|WHNP :&np[!++CC|CONJP[++&@]]]",
            "NP|NML[++@SBAR[/WHADVP[/WRB[/'where'*|'why'*|'when'*]]] !--NP|NML !++<etc> !++<etc phrase> ..NP~]",
            "NP~|WHNP[/@RRC /#NP|WHNP|NML|DT|S]",
            "ADVP[/ADVP[/RB[/*where]] /@SBAR]",
            "NP[/NP[++@SBAR[!/IN[/'than'|'that'|'whether'] !/WHPP|WHNP|WHADVP /S[/NP~[++VP[<gap> !/(VP)PP[/$IN|TO]]]] \
         !/.S[!/VP[/TO]]] !++CC[++&@]]]",
        ],
    ),
    (
        Advcl,
        "VP|S|SQ|SINV|SBARQ|NP|ADVP|ADJP",
        &[
            "VP[/@SBAR[/=SBAR[(/IN|MWE[!/'that'|'whether'] | /.SINV[/1VB*|MD*|AUX*] | /RB|IN[/so|now] /IN[/that] | \
         /1ADVP[/RB[/now]] /2IN[/that])]]]",
            "S|SQ|SINV[/@SBAR[/1IN|MWE[!/'that'|'whether' !+NN[/order]] !--^CC*|CONJP*|{``}*|{,}*|INTJ*|PP* !+VP]]",
            "S|SQ|SINV[/@SBAR[/1IN|MWE[!/'that'|'whether' !+NN[/order]] !+VP +{,} ++NP~]]",
            "SBARQ[/@SBAR[/1IN|MWE[!/'that'|'whether' !+NN[/order]] +{,} ++SQ|S|SBARQ]]",
            "S|SQ[/@SBAR[(=SBAR=sbar | /#SBAR=sbar)] :&sbar[<wh-clause> !--{:}]]",
            "VP[/@SBAR[!--{:} (=SBAR=sbar | /#SBAR=sbar)] (!/V*[/{know}] | /&@[--SBAR|S] | (!/V*[/{tell}] /&@[--NP])) \
         :&sbar[<wh-clause>]]",
            "S[/@SBAR[++NP~ ++VP]]",
            "S[/@S[/VP[/TO] +{,}[++NP~]]]",
            "NP[/NP[++@SBAR[/IN|MWE[/'than'] !/WHPP|WHNP|WHADVP /S[/NP~[++VP[<gap> !/(VP)PP[/$IN|TO|MWE]]]] \
         !/.S[!/VP[/TO]]] !++CC[++&@]]]",
            "ADVP[/ADVP /@SBAR]",
            "S|SINV[/@S[(/VP=verb | /VP[/1VP=verb]) (-{,}[(-NP~ | -PP[~NP~])] | +{,}[+NP~])] :&verb[<participle>]]",
            "VP[/@S[/VP[<participle>] <apposed>]]",
            "VP[/@S[/VP[/VBG] --VBG=ing !--{:}[--&ing]]]",
            "VP[/@S[--NP /VP[/TO] !--V*[/{urge}]]]",
            "SBARQ[/WHNP /@S[/VP[/1TO]]]",
            "{adjectival}|VP|SQ|FRAG|PRN|X|RRC|S[/@WHPP|PP[!/NP~|WHNP|NML !-CC|CONJP[-_] !/.IN|TO !/CC|CONJP \
         /^*PP*|*IN*] !/$<etc> !/$<etc phrase>]",
            "VP|ADJP[/@PP /PP[/SBAR|S ++CONJP|CC]]",
        ],
    ),
    (
        Advmod,
        "VP|ADJP|WHADJP|ADVP|WHADVP|{clause}|XS|PP|WHPP|NP~|WHNP~|RRC|CONJP|JJP|QP",
        &[
            "VP|ADJP|JJP|WHADJP|S|SQ|SBAR|SBARQ|SINV|XS|RRC|NP~|WHNP~[/@{adverb}[!/{not} !/<etc> \
         (!/(*ADVP*)ADVP[/IN[/*'at'*]] | !/(*ADVP*)ADVP[/NP])]]",
            "QP[/@IN|RB|RBR|RBS|PDT|DT|JJ|JJR|JJS|XS]",
            "QP[/@MWE[/JJR|RBR|IN[/'more'|'less'] /IN[/'than']]]",
            "ADVP|WHADVP[/@{adverb}|JJ[!/{not} !/'no' !/<etc>] (!/CC*|*CONJP | (/#_=head !/CC*|*CONJP[((++&head --&@) \
         | (--&head ++&@))]))]",
            "SBAR[/@WHNP[/WRB]]",
            "SBARQ[/1@WHADVP]",
            "XS[/@JJ]",
            "*PP[/#_[--@{adverb}[!/{not} !/<etc>]]]",
            "*PP[/NP~|WHNP /@{adverb}[!/{not} !/<etc>]]",
            "CONJP[/@RB[!/{not} !/<etc>]]",
        ],
    ),
    (
        Amod,
        "NP~|NX|NML|NAC|WHNP|ADJP|INTJ",
        &[
            "NP~|NX|NML|NAC|WHNP|INTJ[/@ADJP|WHADJP|JJ|JJR|JJS|JJP|VBN|VBG|VBD|IN[!/QP[!/{$}] !-CC]]",
            "ADJP[!/CC|CONJP /JJ|NNP[~@JJ|NNP]]",
            "WHNP|NP~[/@NP[/.CD -{,} --NP*|WHNP* !~CC|CONJP]]",
        ],
    ),
    (
        Appos,
        "NP~|WHNP~|FRAG",
        &[
            "WHNP|NP~|FRAG[/@NP[!/.CD -{,} --NP*|WHNP*] !/CC|CONJP !/<etc phrase> !/<etc>]",
            "WHNP|NP~|FRAG[/@PRN[/NP[/NN*|CD* --{-LRB-} +{-RRB-}]]]",
            "WHNP|NP~[/@NP[!/.CD /1{-LRB-} /${-RRB-} --NP*|WHNP* !~CC|CONJP]]",
            "NP~[/NNP[+{,}[+@NNP]] !/CC|CONJP !/<etc phrase> !/<etc>]",
            "WHNP|NP~[/@PRN[/1{-LRB-} /${-RRB-} !//POS|WP$|PRP$|{,}|{$}|{#}|CC|RB|CD /(NP)NNP|NN[/{initials}]]]",
            "WHNP|NP~[/@NP[/.NNP -NP*|WHNP*[!/POS]] !/CC|CONJP !/<etc phrase> !/<etc>]",
            "FRAG|NP[/NP[+*{:}*[+@SQ|S] /.NN|NNS]]",
        ],
    ),
    (
        Aux,
        "VP|SQ|SINV|CONJP",
        &[
            "VP[/VP /@MD|VB*|AUX|AUXG|POS]",
            "SQ|SINV[/@VB*|MD*|AUX*[++VP*|ADJP*]]",
            "SINV[/@VP[/{verb}|POS*[/{be}] --VP[/VBG]]]",
        ],
    ),
    (
        Auxpass,
        "VP|SQ|SINV",
        &[
            "VP[/@{verb}|POS*[/{be-get}] /VP|ADJP[(/VBN|VBD | /VP|ADJP[/VBN|VBD] /CC)]]",
            "SQ|SINV[/@{verb}|POS*[/{be} ++VP[/VBD|VBN]]]",
            "SINV[/@VP[/{verb}|POS*[/{be}] --VP[/VBD|VBN]]]",
            "SINV[/@VP[/VP[/{verb}|POS*[/{be}]] --VP[/VBD|VBN]]]",
        ],
    ),
    (
        Case,
        "PP*|WHPP*|SBARQ|NP~|NML~|ADVP~|WHNP~|WHADVP~|WHNML~",
        &[
            "*PP*[/@IN|TO|MWE|PCONJP|VBN|JJ[!+SBAR (!+S | +S[/1VP[/1NN]])]]",
            "NP~|NML~|WHNP~|WHNML~[/@POS]",
            "NP~|NML~|WHNP~|WHNML~[/@VBZ[/{'s}]]",
            "*PP*[/1@CC /2NP]",
            "*PP*[/1@VBG !/PP[/SBAR|S]]",
            "ADVP[/@IN]",
        ],
    ),
    (Cc, "_", &["_[((/@CC[!/{both}] | /@CONJP[!/RB[/'not' +RB|JJ[/{only}]]]) (!..*PP* | !..2NP))]"]),
    (
        Preconj,
        "S|VP|ADJP|PP|ADVP|UCP~|NX|NML|SBAR|NP~",
        &[
            "NP~|NX|NML[/@PDT|CC|DT[/{both} ++CC]]",
            "NP~|NX|NML[/@CONJP[/RB[/'not'] /RB|JJ[/{only}] ++CC|CONJP]]",
            "NP~|NX|NML[/@PDT|CC|DT[/{both}] /NP[/CC]]",
            "{conjoined}[/@PDT|DT|CC[/{both} ++CC]]",
            "{conjoined}[/@CONJP[/RB[/'not'] /RB|JJ[/{only}] ++CC|CONJP]]",
        ],
    ),
    (
        Ccomp,
        "VP|SINV|S|ADJP|ADVP|NP~",
        &[
            "VP[/@S[/VP[!/1TO|VBG|VBN] !--NP]]",
            "VP[/@SBAR[/S[/(S)VP] /1IN|DT[/'that'|'whether']]]",
            "VP[/@SBAR[/SBAR[/S[/(S)VP] /1IN|DT[/'that'|'whether']] /CC|CONJP]]",
            "VP[/@SBAR[/S[/VP] !--NP !/1IN|WHADVP !/2IN|WHADVP[-ADVP|RB]]]",
            "VP[/V*[/{tell}] /@SBAR[/S[/VP] --NP !/1IN|WHADVP !/2IN|WHADVP[-ADVP|RB]]]",
            "VP[/@SBAR[/S[/VP] !--NP /1WHADVP[/WRB[/'how']]]]",
            "VP[/@SBARQ]",
            "VP[/VB*[/{have}] /@S[/NP~ /VP]]",
            "VP[/@SBAR[!--SBAR|S !--{:} (=SBAR=sbar | /#SBAR=sbar)] /V*[/{know}] (/V*[/{tell}] | /&@[!--NP]) \
         :&sbar[<wh-clause>]]",
            "S|SINV[/@S|SBARQ[+{,}|{.}|{''} !-CC|CONJP|{:} !-{,}[-CC|CONJP] !/VP[/TO|VBG|VBN] \
         !/VP[/1VP[<participle>]]] !/S[!=&@ ++&@ !++CC|CONJP]]",
            "ADVP[/@SBAR[(/WHNP | (/IN[/'as'*|'that'*] /S[/VP[!/TO]]))]]",
            "ADJP[/@SBAR[!/IN[/as] /S]]",
            "S[/1@SBAR[/1IN[/'that'|'whether'] !+VP]]",
            "NP~[/JJ|NN|NNS /@SBAR[(!/S[/VP[/TO]] | !--NP|NN|NNP|NNS)]]",
        ],
    ),
    (
        Compound,
        "{nominal}|{adjectival}|NAC~|WHNAC~|QP|WHQP",
        &[
            "{nominal}|NAC~|WHNAC~[/@NP|NML|NN|NNS|NNP|NNPS|FW|AFX[++NN|NNS|NNP|NNPS|FW|CD=sister <no possessive> \
         !-{,} !++POS[++&sister]]]",
            "{nominal}|NAC~|WHNAC~[/JJ|JJR|JJS=sister /@NP|NML|NN|NNS|NNP|NNPS|FW[<no possessive> +&sister] \
         /#NN|NNS|NNP|NNPS <no possessive>]",
            "QP|ADJP[/@CD|{#}[!-CC]]",
            "ADJP|ADVP[/FW[(-@FW[!/'etc'] | -@IN[/in|In])]]",
        ],
    ),
    (Prt, "VP|ADJP", &["VP[/@PRT]", "ADJP[/VB* /@RP]"]),
    (
        Conj,
        "{plain}|QP|VP|{clause}|JJP|RRC|PCONJP",
        &[
            "VP|{clause}|RRC[/CC|CONJP[--^{aside}|MWE* +@^{separator}|SBAR]]",
            "SBAR[/CC|CONJP[--SBAR +@SBAR]]",
            "VP|{clause}|RRC[/CC|CONJP[--^{aside} +ADVP[+@^{separator}]]]",
            "VP|{clause}=root[/CC|CONJP[--^{aside}] /{separator}[+@{content}[(--CC|CONJP[--_[..#&root] \
         !++{:}*|*{,}[++&@]] | --{:}*|*{,}[--_[..#&root] (!--CC*|*CONJP | ++&@[/{,}[++_[..#&@]]])])]]]",
            "{plain}|JJP|QP[(/CC|CONJP[--^{opening} +@^{separator}] | /@<etc> | /@<etc phrase>)]",
            "{plain}[/CC|CONJP[--^{opening} +ADVP[+@^{separator}]]]",
            "{plain}[(/CC|CONJP[--^{opening}] | /<etc> | /<etc phrase>) /{separator}[(+@{content} | +@<etc>)]]",
            "NX|NML[(/CC|CONJP[-_] | /<etc>) /{,}[-@A*|N*|V*|PP*|PRP*|J*|W*|R*|S*]]",
            "{plain}|QP|VP|S|SBAR|SBARQ|SINV[(/CC[++CC|CONJP[+@^{separator}]] | /$@<etc> | /$@<etc phrase>)]",
            "PCONJP[/CC[+@IN|TO]]",
            "_[/_=x[+*{,}*[/*{/}* +@%x]]]",
        ],
    ),
    (
        Cop,
        "VP|SQ|SINV|SBARQ",
        &[
            "VP[/@{verb}[/{copula} (++ADJP*|NP|WHNP|PP*|UCP*[!/VBN|VBD[!++N*]] | ++S[/.ADJP[/JJ]])]]",
            "SQ|SINV[/@{verb}[/{copula} (++ADJP[!/VBN|VBD] | ++NP[++NP] | ++S[/.ADJP[/JJ]])]]",
            "SBARQ[/@<copula> /WHNP[/WP]]",
            "SINV[/#NP[++NP[++@VP[/<copula>]]]]",
        ],
    ),
    (Csubj, "S", &["S[/@SBAR|S[!+{,} ++VP[!--NP]]]"]),
    (
        Csubjpass,
        "S",
        &[
            "S[/@SBAR|S[!+{,} ++VP[/VP[/VBN|VBD] /{verb}[/{be-get}] !--NP]]]",
            "S[/@SBAR|S[!+{,} ++VP[/(VP)VP[/VBN|VBD ..VP[/{verb}[/{be-get}]]] !--NP]]]",
        ],
    ),
    (
        Det,
        "NP~|WHNP~|NAC|NML|NX|X|ADVP|ADJP",
        &[
            "NP~|NAC|NML|NX|X[/@DT[!/{both}|'no' !+DT !++CC ++{countable}=det !++PRP$*|*POS*[++&det !++*{''}*[++&det]]]]",
            "NP~[/@DT[((/{both} !+DT !++CC ++NN*|NX*|NML* !++NP[/CC]) | (!/{both}|'no' ++CC ++NN*|NX*|NML*) | (!/'no' \
         ++JJ*[!+NN*] !++CC !+DT))]]",
            "NP~[//1PRP /$@NP|DT|RB[//$'all'|'both'|'each']]",
            "WHNP[/NP[--@WHNP[/WDT]]]",
            "WHNP|ADVP|ADJP~[/NP*|NN*|CD*|RBS*|JJ*[--@DT|WDT|WP[!/'no' (=WDT|WP | !++CC|CONJP)]]]",
            "NP~[/NP*|NN*|CD*|RBS*[--@WDT|WP]]",
        ],
    ),
    (
        Predet,
        "{nominal}|NAC~|WHNAC~",
        &[
            "NP~|WHNP~|NX|NAC|NML[/@PDT|DT[+DT|WP$|PRP$ ++NN*|NX*|NML* !++CC]]",
            "WHNP|NP~[/@PDT|DT[+DT ++JJ*[!+NN*]] !++CC]",
            "WHNP|NP~[/@PDT /$DT]",
        ],
    ),
    (
        Discourse,
        "_",
        &[
            "_[/@NFP[(/{western-smiley} | /{eastern-smiley})]]",
            "_[(/@INTJ | /@PRN[/1{,}|{-LRB-} /2INTJ (!/3_ | /3{,}|{-RRB-})])]",
        ],
    ),
    (
        Dobj,
        "VP|SQ|SBAR|SBARQ",
        &[
            "VP[!/{verb}[(/{copula} | /{seem})] /@<object> <no aside>]",
            "VP[/S[/@NP|WHNP[++VP[/TO]]]]",
            "SQ[/VB*=verb[!/{copula}] --WHNP !/VP !/VB*[!=&verb] /@<object>]",
            "SBARQ[/@WHNP[!/WRB !/#<time>] /(SQ|SINV|S|VP)VP[!/NP|TO !/S[/VP[/TO]] !/{verb}[/{copula} ++VP[/VBN|VBD]] \
         !/PP[/.IN|TO] --NP[!/{-NONE-}]]]",
            "SBAR[/@WHNP[!/WRB] /S[/NP /VP[!/SBAR !/(VP)PP[/$IN|TO] !/S[/VP[/TO]]]]]",
            "SBARQ[/@WHNP[++{verb}[/{copula} ++ADJP=adj[!/PP[!/NP]] ++NP[++&adj]]]]",
        ],
    ),
    (Expl, "S|SQ|SINV", &["S|SQ|SINV[/@NP[/(NP)EX]]"]),
    (Goeswith, "_", &["_[/@GW]"]),
    (
        Iobj,
        "VP",
        &[
            "VP[/@NP[!/*{$}* !/#<time> +NP[!/#<time>]]]",
            "VP[/@NP[/NP[!/*{$}* ++NP[!/.PRP[/{self}] !/.DT !/NN*[/{lot}]] !~CC|CONJP !~{,} !++{:}]]]",
        ],
    ),
    (
        List,
        "FRAG",
        &[
            "FRAG[/NP[+*{,}*[+@NP[+*{,}*[+NP]]] !++CC|CONJP|MWE]]",
            "FRAG[/NP[+*{,}*[+NP[++*{,}*[+@NP]]] !++CC|CONJP|MWE]]",
        ],
    ),
    (
        Mark,
        "SBAR|VP|PP",
        &[
            "VP[/VP /@TO]",
            "SBAR[/@IN|DT|MWE[++S|FRAG]]",
            "SBAR[/@IN|DT[/that|whether] (--{verb} | -NP|NN|NNS | ..ADJP|PP | ..NP~|UCP~|SBAR[/CC|CONJP --{verb}])]",
            "PP[/@IN|TO|MWE|PCONJP|VBN|JJ[+SBAR|S]]",
        ],
    ),
    (Mwe, "MWE", &["MWE[/@IN|TO|RB|NP|NN|JJ|VB|CC|VBZ|VBD|ADVP|PP|JJS|RBS]"]),
    (
        Neg,
        "VP|ADJP|S|SBAR|SINV|SQ|NP~|FRAG|CONJP|PP|NAC|NML|NX|ADVP|WHADVP",
        &[
            "VP|NP~|ADJP|SQ|S|FRAG|CONJP|PP[/@RB[/{not}]]",
            "VP|ADJP|S|SBAR|SINV|FRAG[/@ADVP[/#RB[/{not}]]]",
            "VP[..SQ --@RB[/{not}]]",
            "NP~|NAC|NML|NX|ADJP|ADVP[/@DT|RB[/'no' ++{countable}]]",
            "ADVP|WHADVP[/@{adverb}|JJ[/'no'] !/CC|CONJP]",
        ],
    ),
    (
        Nmod,
        "_",
        &[
            "{modified}[/@WHPP|PP[(/NP~|WHNP|NML | /PP[/NP~|WHNP|NML])] !/$<etc> !/$<etc phrase>]",
            "{modified}[/@S[/.WHPP|PP]]",
            "WHPP|PP[/@WHPP|PP[!-IN|VBG|VBN|TO]]",
            "S|SINV[/@PP[!/SBAR|S] /VP|S]",
            "SBAR|SBARQ[/@PP*|WHPP* /S|SQ]",
            "NP~[/@UCP~|PRN[/#PP]]",
            "SBARQ[/@WHNP[++{verb}[/{copula} ++ADJP=adj[/PP[/.IN]] ++NP[++&adj]]]]",
            "SBARQ[/@WHNP[(++VP[/PP[/.IN]] | ++SQ[/VP[/PP[/.IN]]])]]",
        ],
    ),
    (
        Npmod,
        "VP|NP~|ADJP~|ADVP~|PP|QP|WHNP~|WHADJP~|WHADVP~|WHPP|WHQP",
        &[
            "ADVP|ADJP~|WHADJP|WHADVP|PP|WHPP[/#JJ|JJR|IN|RB|RBR[!/notwithstanding -@NP~[!/NNP|NNPS]]]",
            "ADJP~[/@NN[++JJ*] !/CC|CONJP]",
            "ADVP[/#RB*|ADVP*[++@NP~]]",
            "NP~|WHNP[/@NP-ADV*]",
            "NP~|WHNP[(/@NP[/.PRP[/{self}]] | /@PRP[/{self}]) :&@[--NP|NN|NNS|NNP|NNPS|PRP=noun \
         !--{,}*|*CC*|*CONJP[--&noun]]]",
            "NP~[/1NP~[//#{%}] /2@NP~[//#days|month|months] !/3_]",
            "VP[/@NP-ADV*]",
            "NP~|ADVP|QP[/(*ADVP*)@ADVP[/IN[/*'at'*] /NP]]",
        ],
    ),
    (
        Poss,
        "{nominal}|ADJP~|WHADJP~|INTJ~|PRN~|NAC~",
        &[
            "{nominal}|ADJP~|WHADJP~|INTJ|PRN|NAC[/@WP$|PRP$]",
            "NP~|NML~|WHNP~|WHNML~[(/@WHNP|WHNML|NP|NML[<possessive>] !/CC|CONJP[++WHNP|WHNML|NP|NML] | \
         /@WHNP|WHNML|NP|NML[/CC|CONJP[++WHNP|WHNML|NP|NML] /WHNP|WHNML|NP|NML[<possessive>]])]",
            "{nominal}[/@NN*|NP*[++POS=pos[/*{'}* ++NN*] !++NN*|NP*[++&pos]]]",
        ],
    ),
    (
        Tmod,
        "VP|S|ADJP|PP|SBAR|SBARQ|NP|RRC",
        &[
            "VP|ADJP|RRC[(/@NP-TMP | /@VP[/#NP-TMP !~{,}*|*CC*|*CONJP] | /@NP[/#<time> !+JJ*[/old]])]",
            "PP[/IN|TO|VBG|FW[++NP~[(+@NP-TMP | +@NP[/#<time>])]]]",
            "S[/@NP-TMP[++VP ~NP]]",
            "S[/@NP[/#<time> ++NP[++VP]]]",
            "SBAR[/WHADVP[/WRB[/when]] /S[/NP[+VP[!/{verb}[/{copula} !+VP]]]] !--CC --NP ..@NP]",
            "SBARQ[/@WHNP[/#<time>] /SQ[/NP~]]",
            "NP[/@NP-TMP]",
        ],
    ),
    (
        Nsubj,
        "{clause}|PRN",
        &[
            "S=subj[/@NP|WHNP[!/EX !/#<time> ++VP=verb] :&subj[!..VP | !//&verb[/TO]]]",
            "S[/@NP[/#<time> !++NP ++VP]]",
            "SQ|PRN[/@NP[!/EX ++VP]]",
            "SQ[/@NP[!/EX -<copula> !++VP]]",
            "SQ[/@NP[!/EX -{verb} !++VP] !--NP|WHNP]",
            "SQ[/@NP[!/EX -RB[-{verb}] !++VP]]",
            "SBARQ[/@WHNP /SQ[/VP[!--NP]]]",
            "SBARQ[/@WHNP /SQ[/VB*[!/{copula} !--NP !++VP]]]",
            "SBARQ[/@SQ[/<copula> !/VP]]",
            "SINV[/@NP|WHNP[(-{finite} | -RB|ADVP[-{finite}] | !-_ !~NP~)]]",
            "SINV[/NP[++@NP[++VP[/<copula>]]]]",
            "S[/@NP[+NP|ADJP] ..VP]",
            "SBAR[/@WHNP (/S[/VP[!--NP] !/SBAR] | /VP[!--NP] !/S)]",
            "SBAR[!/WHNP /S[!/NP[++VP]] ..VP[..S[-@WHNP]]]",
            "SQ[/NP[/EX ++@NP]]",
            "S[/NP[/EX] /(VP)VP[/@NP]]",
            "SBARQ[/<copula> /WHNP[/WP] /@NP]",
            "SBARQ[/@WHNP[++{verb}[/{copula} ++ADJP=adj !++NP[++&adj]]]]",
            "SBARQ[/1@WHNP /SQ[/<copula> (/NP[/EX] | /PP)]]",
        ],
    ),
    (Nsubjpass, "S|SQ", &["S|SQ[/@WHNP|NP[!/EX] /VP[/{verb}[/{be-get}] /VP[/VBN|VBD]]]"]),
    (
        Nummod,
        "NP~|WHNP~|NML|NX|ADJP|WHADJP|QP",
        &["{nominal}[/@CD|QP[!-CC]]", "{nominal}[/@ADJP[/.QP[!/{$}]]]", "QP[/@QP /{$}]"],
    ),
    (
        Parataxis,
        "S|VP|FRAG|NP",
        &[
            "VP[/@PRN[/S|SINV|SBAR]]",
            "VP[~@PRN[(/S|SINV|SBAR | /VP /NP~)]]",
            "S|FRAG|VP[/{:}[+@S*] !/1_[++CC|CONJP]]",
            "S|FRAG[/S|SBARQ|SQ|FRAG[++@S|SBARQ|SQ|FRAG !++CC|CONJP|MWE !++*{:}*[/*{;}*]]]",
            "S|FRAG|VP[/{:}[--V* +@NP~] !/CONJP|CC]",
            "FRAG|NP[/NP[+*{:}*[+@SQ|S] //NNP|NNPS]]",
        ],
    ),
    (Prep, "VP|ADJP", &["VP|ADJP[/@PP[/.IN|TO]]"]),
    (Punct, "_", &["_[/@{punctuation}]", "_[/@NFP[!/{western-smiley} !/{eastern-smiley}]]"]),
    (
        Rel,
        "SBAR|SBARQ",
        &[
            "SBAR[/@WHNP[!/WRB] /S[/NP /VP[(/SBAR | /(VP)PP[/$IN|TO] | /S[/VP[/TO]])]]]",
            "SBARQ[/@WHNP[!/WRB !/#<time>] /(SQ|SINV){verb}[/{copula} !++VP]]",
        ],
    ),
    (
        Xcomp,
        "VP|ADJP|SINV",
        &[
            "VP[/@S[(!--NP | --V*[/{urge}]) !-NN[/order] /VP[/TO]]]",
            "ADJP[/@S[/1VP[/1TO]]]",
            "VP[/@S[!-NN[/order] /NP[+NP|ADJP]]]",
            "VP[/#{verb}[+@VP[/VB|VBG]]]",
            "VP[/@SBAR[/S[!-NN[/order] /VP[/TO]]] !..VP[/VB|AUX[/be]]]",
            "VP[/@S[!-NN[/order] /.NP] ..VP]",
            "VP[/@S[!/VP]]",
            "VP[/VB*[+@S[/ADJP~[/JJ* !--NP~|S]]] --VB*[/{copula}]]",
            "VP[/@S[/VP[/VBG] !/NP !<apposed> !--{:} !--VBG]]",
            "VP[--<copula> /VB*[/{seem}] /@NP]",
            "VP[/{verb}[/{seem}] /@<object> <no aside>]",
            "VP=vp[/@NP /{verb}[/{copula} ...#&vp] !~NP[/EX]]",
            "SINV[/#VP[/<copula> --NP[--@NP]]]",
            "VP[(/@ADJP | (/VB*[((/{seem} ++@VP) | +@S[/ADJP~[/JJ* !--NP~|S]])] !--VB*[/{copula}]))]",
        ],
    ),
];

impl Kind {
    /// The name of the relation.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// Whether the other relation is a kind of this one.
    pub(super) fn includes(self, other: Self) -> bool {
        let more_general = match other {
            Auxpass | Cop => Aux,
            Nsubjpass => Nsubj,
            Csubjpass => Csubj,
            Tmod => Nmod,
            Neg => Advmod,
            _ => Dep,
        };
        self == other || self == more_general || self == Dep
    }
}

/// Relations that hold between two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds(u64);

impl Kinds {
    pub(super) fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u64;
    }

    /// The one relation that stays: going through them by name, each that is a kind of the one before replaces it.
    pub(super) fn most_specific(self) -> Kind {
        let present = NAMES.iter().map(|(kind, _)| *kind).filter(|kind| self.0 >> *kind as u64 & 1 == 1);
        present.fold(Dep, |found, kind| if found.includes(kind) { kind } else { found })
    }
}

/// All rules of the conversion, ready to match.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) tests: Tests,
    pub(super) cleanup: Cleanup,
    pub(super) heads: SpecialHeads,
    patterns: Vec<RelationPattern>,
}

/// A way in which a relation holds in some phrases.
#[derive(Debug)]
struct RelationPattern {
    kind: Kind,
    phrases: Test,
    pattern: Pattern,
}

/// The rules are the same for all trees.
pub(super) static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut tests = Tests::default();
    let cleanup = Cleanup::new(&mut tests);
    let heads = SpecialHeads::new(&mut tests);
    let mut patterns = Vec::new();
    for (kind, phrases, texts) in PATTERNS {
        let phrases = tests.add(phrases);
        let relation = |text: &&'static str| {
            let pattern = Pattern::new(text, &mut tests);
            RelationPattern { kind: *kind, phrases, pattern }
        };
        patterns.extend(texts.iter().map(relation));
    }
    Grammar { tests: tests.finish(), cleanup, heads, patterns }
});

impl Grammar {
    /// Calls `found` for the relations between phrases and the nodes that depend on them, each phrase before those in it.
    pub(super) fn each_relation(
        &self,
        phrases: &Phrases<'_>,
        heads: &Heads,
        found: &mut dyn FnMut(NodeId, Kind, NodeId),
    ) {
        let candidates = self.patterns.iter().filter(|relation| relation.pattern.may_match(phrases));
        let candidates: Vec<&RelationPattern> = candidates.collect();
        for node in phrases.preorder().into_iter().filter(|node| phrases.is_phrase(*node)) {
            let passed = phrases.passed(node);
            for RelationPattern { kind, pattern, .. } in candidates.iter().filter(|relation| {
                relation.phrases.holds(passed) && relation.pattern.may_match_at(node, phrases)
            }) {
                pattern.each(node, phrases, heads, &mut |named| {
                    if let Some(dependent) = pattern.named("@", named) {
                        found(node, *kind, dependent);
                    }
                    false
                });
            }
        }
    }
}
