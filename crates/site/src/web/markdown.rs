//! Markdown that people write, as HTML.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// Markdown as HTML: without HTML of its own; of pictures, and of links to anything but pages, the text is left.
pub fn as_html(markdown: &str) -> String {
    let is_page = |address: &str| {
        let lower = address.to_ascii_lowercase();
        lower.starts_with("https://")
            || lower.starts_with("http://")
            || lower.starts_with('/')
            || lower.starts_with('#')
    };
    // Of each open link, whether it is kept: addresses within a link are links as well.
    let mut open = Vec::new();
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => None,
        Event::Start(Tag::Link { link_type, ref dest_url, .. }) => {
            let is_kept = link_type != LinkType::Email && is_page(dest_url);
            open.push(is_kept);
            is_kept.then_some(event)
        }
        Event::End(TagEnd::Link) => open.pop().unwrap_or_default().then_some(event),
        other => Some(other),
    });
    let mut text = String::new();
    html::push_html(&mut text, events);
    text
}

#[cfg(test)]
mod tests {
    use super::as_html;

    #[test]
    fn rules_cannot_hold_scripts() {
        for attack in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,1)",
            "![x](javascript:alert(1))",
            "<javascript:alert(1)>",
        ] {
            let html = as_html(attack);
            let lower = html.to_lowercase();
            let tags = lower.match_indices('<').map(|(at, _)| &lower[at..]).collect::<Vec<_>>();
            assert!(
                tags.iter().all(|tag| ["<p>", "</p>", "<a ", "</a>"].iter().any(|ok| tag.starts_with(ok))),
                "{html}"
            );
            assert!(!lower.contains("href=\"javascript") && !lower.contains("href=\"data"), "{html}");
        }
        assert_eq!(as_html("[a](b.md) ![c](https://d.org/e.png)"), "<p>a c</p>\n");
        // A mailbox may begin as an address on the site does.
        assert_eq!(as_html("<#a@b.org>"), "<p>#a@b.org</p>\n");
        let nested = "[a <b@c.org> <https://d.org> e](javascript:f)";
        let kept = "<a href=\"https://d.org\">https://d.org</a>";
        assert_eq!(as_html(nested), format!("<p>a b@c.org {kept} e</p>\n"));
        assert_eq!(as_html("*a* [b](https://c.org)"), "<p><em>a</em> <a href=\"https://c.org\">b</a></p>\n");
    }
}
