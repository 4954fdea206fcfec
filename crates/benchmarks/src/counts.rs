//! Writes numbers of images and captions in words.

use capeval_site::web::Page;

/// What pages call these numbers.
pub trait Counts {
    /// The number of images.
    fn images(&self, n: &usize) -> String;

    /// The number of captions.
    fn captions(&self, n: &usize) -> String;

    /// The number of images and captions of a reference set.
    fn images_and_captions(&self, images: &usize, captions: &usize) -> String;
}

impl Counts for Page {
    fn images(&self, n: &usize) -> String {
        if *n == 1 { self.t("1 image").to_owned() } else { self.t1("{} images", n) }
    }

    fn captions(&self, n: &usize) -> String {
        if *n == 1 { self.t("1 caption").to_owned() } else { self.t1("{} captions", n) }
    }

    fn images_and_captions(&self, images: &usize, captions: &usize) -> String {
        self.t2("{}, {}", self.images(images), self.captions(captions))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use capeval_site::feature::{self, Features};
    use capeval_site::web::language::Language;

    use super::*;

    #[test]
    fn one_is_not_several() {
        static FEATURES: Features = &[&capeval_site::BASE, &crate::FEATURE];
        feature::join(FEATURES);
        let shown = |language, images, captions| {
            let page = Page {
                language,
                visitor: None,
                path: "/".to_owned(),
                site: Arc::from(""),
                done: None,
                problem: None,
            };
            page.images_and_captions(&images, &captions)
        };
        assert_eq!(shown(Language::English, 1, 5), "1 image, 5 captions");
        assert_eq!(shown(Language::English, 2, 1), "2 images, 1 caption");
        assert_eq!(shown(Language::Chinese, 1, 5), "1 幅图像，5 条描述");
    }
}
