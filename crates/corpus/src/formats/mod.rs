//! How is each format read? One file per format, over text and never over paths.

pub(crate) mod coco;
pub(crate) mod dict;
pub(crate) mod flickr;
pub(crate) mod karpathy;
pub(crate) mod lines;
pub(crate) mod rows;
