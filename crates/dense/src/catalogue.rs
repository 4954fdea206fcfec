//! The table that finds the form of a paper: who uses which form, and how the forms differ.

use crate::Program;

impl Program {
    /// The papers and programs that print this form.
    pub const fn users(self) -> &'static str {
        match self {
            Self::Capeval => "new work: say that it is capeval's form",
            Self::Densevid2017 => "the ActivityNet challenge of 2017; Krishna et al. 2017",
            Self::Densevid2017b => "papers of late 2017 and early 2018",
            Self::Densevid2018 => {
                "challenges of 2018; papers until 2019, and MDVC and BMT where they say 2018"
            }
            Self::Densevid2019 => "MDVC, BMT, and most papers since 2019",
            Self::Pdvc2018 => "PDVC and papers built on its code, with the option 2018",
            Self::Pdvc2021 => "PDVC, and papers built on its code; called 2021 there",
            Self::PdvcSoda => "PDVC and papers built on its code, as SODA_c",
            Self::VidChapters => "VidChapters-7M and papers on chapters",
            Self::VtimeLlm => "VTimeLLM, and video language models that use its evaluation",
            Self::Scenic => "Vid2Seq, Streaming DVC",
            Self::TimeChat => "TimeChat, and video language models that use its evaluation",
            Self::SodaA | Self::SodaB | Self::SodaD => "Fujita et al. 2020, in its comparison of types",
            Self::SodaC => "Fujita et al. 2020, and papers that print SODA without saying more",
            Self::SoccerNet => "the SoccerNet challenges of dense video captioning",
            Self::MartParagraph => "MART, PDVC, and papers on paragraphs of ActivityNet and YouCook2",
            Self::ScenicParagraph => "Vid2Seq, Streaming DVC",
            Self::TimeChatParagraph => "TimeChat, and video language models that use its evaluation",
            Self::MartRepetition => "MART and papers that print R@4 or RE-4",
            Self::Vist => "papers on visual storytelling (VIST)",
        }
    }

    /// The differences from `densevid-2019`, which most papers use.
    pub const fn differences(self) -> &'static str {
        match self {
            Self::Capeval => {
                "captions as densevid-2019, with letters beyond ASCII kept; F1 of each video; SODA_c with missing videos at 0"
            }
            Self::Densevid2017 => {
                "a prediction without a match counts only if it is the last pair of its video, against four words instead \
                 of one; precision is divided by one less than there are predictions, so it can exceed 1; the program \
                 prints the names of precision and recall exchanged, and capeval does not"
            }
            Self::Densevid2017b => {
                "a prediction without a match counts once for each reference file, even if the next file has its match, \
                 against four words instead of one"
            }
            Self::Densevid2018 | Self::Pdvc2018 => {
                "a prediction without a match is compared with four words for METEOR instead of one, so METEOR is lower"
            }
            Self::Densevid2019 => "the form that the others are compared with",
            Self::Pdvc2021 => "none: the same numbers",
            Self::PdvcSoda => {
                "another measure: SODA_c with METEOR for each reference file alone, then the mean over files"
            }
            Self::VidChapters => {
                "videos without predictions are left out instead of counting 0, so all scores are higher where some are \
                 missing; F1 of the mean precision and recall"
            }
            Self::VtimeLlm => "as vidchapters, without distances; an end in percent is moved by one percent",
            Self::Scenic | Self::TimeChat => {
                "the two ends of an event are put in order, so reversed times count; letters beyond ASCII are kept; F1 of \
                 each video; SODA_c without sorting, with the scores of predictions in the order of their numbers as text"
            }
            Self::SodaA => {
                "another measure: matched one to one in order by overlap at .3 .5 .7 .9, mean score of the pairs"
            }
            Self::SodaB => "another measure: matched one to one in order by overlap, mean score of the pairs",
            Self::SodaC => {
                "another measure: one-to-one matching in order of overlap times score, METEOR with its arguments exchanged; \
                 videos without predictions are left out"
            }
            Self::SodaD => "another measure: one-to-one matching in order by overlap, without captions",
            Self::MartParagraph => {
                "whole paragraphs: everything but letters removed, no tokenizer, one corpus over all videos; a missing video \
                 is an empty text and counts"
            }
            Self::ScenicParagraph | Self::TimeChatParagraph => {
                "whole paragraphs: everything but letters removed; METEOR and CIDEr-D alone"
            }
            Self::MartRepetition => {
                "another measure: repeated n-grams of one to four words, over videos with predictions; no references needed \
                 but their list of videos"
            }
            Self::Vist => {
                "whole stories: no tokenizer, capitals and punctuation kept; METEOR by the weights of HTER; albums without a \
                 story are left out"
            }
            Self::SoccerNet => {
                "one threshold: any overlap of windows of 30 seconds; SODA_c with all metrics, CIDEr of which is always 0"
            }
        }
    }
}
