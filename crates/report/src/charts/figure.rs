//! A drawing with its caption and what it shows, in words.

use askama::Template;

/// A figure as HTML, which a page shows as it is.
#[derive(Template)]
#[template(path = "figure.html")]
pub struct Figure<'a> {
    /// The caption; may be empty under a heading that says it.
    pub title: &'a str,
    /// The content of the drawing in words, for those who do not see it.
    pub words: &'a str,
    /// The drawing, as [`Chart`](super::Chart) and [`Forest`](super::Forest) give it.
    pub svg: &'a str,
    /// The notes below it.
    pub notes: &'a [String],
    /// Data for a script of the page.
    pub cells: Option<&'a str>,
}

impl<'a> Figure<'a> {
    /// A figure without notes.
    pub fn new(title: &'a str, words: &'a str, svg: &'a str) -> Self {
        Self { title, words, svg, notes: &[], cells: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_drawings_are_not() {
        let html = Figure { notes: &["a < b".to_owned()], ..Figure::new("<i>", "\"x\"", "<svg></svg>") };
        let expected = "<figure class=\"drawn\"><figcaption>&lt;i&gt;</figcaption><div role=\"img\" \
                        aria-label=\"&quot;x&quot;\"><svg></svg></div><p class=\"note\">a &lt; b</p></figure>";
        assert_eq!(html.to_string().trim_end(), expected);
        assert!(!Figure::new("", "x", "<svg></svg>").to_string().contains("figcaption"));
    }
}
