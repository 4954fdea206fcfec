//! Policies for mismatches between candidates and references, strict by default.

capeval_choice::named! {
    /// The policy for images with references but without a candidate.
    #[derive(Default)]
    pub enum Missing ("policy for missing candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Skip = "skip", "leave the images out of every metric and of document frequencies";
        Empty = "empty", "score the images as if their caption were empty";
    }
}

capeval_choice::named! {
    /// The policy for candidates of images without references.
    #[derive(Default)]
    pub enum Surplus ("policy for surplus candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Ignore = "ignore", "leave them out";
    }
}

capeval_choice::named! {
    /// The policy for several candidates for one image.
    #[derive(Default)]
    pub enum Duplicate ("policy for duplicate candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        First = "first", "use the first one";
        Last = "last", "use the last one";
    }
}

capeval_choice::named! {
    /// The policy for candidates that are empty or only white space.
    #[derive(Default)]
    pub enum Empty ("policy for empty candidates") {
        #[default]
        Error = "error", "stop, and name the images";
        Keep = "keep", "score them";
        Skip = "skip", "leave their images out of every metric";
    }
}

capeval_choice::named! {
    /// The rule for comparing ids.
    #[derive(Default)]
    pub enum Ids ("way to compare ids") {
        #[default]
        AsGiven = "as-given", "the number 1 and the text \"1\" are two ids";
        Text = "text", "the number 1 and the text \"1\" are one id";
    }
}

/// The policies for all kinds of mismatches between candidates and references. The default is an error for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Images without a candidate.
    pub missing: Missing,
    /// Candidates without a reference.
    pub surplus: Surplus,
    /// Several candidates for one image.
    pub duplicate: Duplicate,
    /// Candidates without any words.
    pub empty: Empty,
}
