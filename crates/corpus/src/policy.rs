//! What happens when candidates and references mismatch? One choice per case, strict by default.

capeval_choice::named! {
    /// What to do with an image that has references but no candidate.
    #[derive(Default)]
    pub enum Missing ("policy for missing candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Skip = "skip", "leave the images out of every metric, document frequencies included";
        Empty = "empty", "score the images as if their caption were empty";
    }
}

capeval_choice::named! {
    /// What to do with a candidate whose image has no reference.
    #[derive(Default)]
    pub enum Surplus ("policy for surplus candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Ignore = "ignore", "leave the candidates out";
    }
}

capeval_choice::named! {
    /// What to do with several candidates for one image.
    #[derive(Default)]
    pub enum Duplicate ("policy for duplicate candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        First = "first", "take the first one in the file";
        Last = "last", "take the last one in the file";
    }
}

capeval_choice::named! {
    /// What to do with a candidate that holds nothing but white space.
    #[derive(Default)]
    pub enum Empty ("policy for empty candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Keep = "keep", "score it";
        Skip = "skip", "leave its image out of every metric";
    }
}

capeval_choice::named! {
    /// When two ids are the same.
    #[derive(Default)]
    pub enum Ids ("way to compare ids") {
        #[default]
        AsGiven = "as-given", "the number 1 and the text \"1\" are two ids";
        Text = "text", "the number 1 and the text \"1\" are one id";
    }
}

/// One choice per kind of mismatch between candidates and references. The default is an error in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Images without a candidate.
    pub missing: Missing,
    /// Candidates without a reference.
    pub surplus: Surplus,
    /// Several candidates for one image.
    pub duplicate: Duplicate,
    /// Candidates without a word.
    pub empty: Empty,
}
