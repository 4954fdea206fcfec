//! The upload of pictures: up to 20 files, with what their uploader declares about them.

pub(super) mod intake;
mod pages;

pub(super) use pages::routes;
