//! Markdown that people write becomes HTML of a few harmless elements, each with its end, and links to pages alone.

use capeval_site::web::markdown::as_html;

const ELEMENTS: [&str; 25] = [
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
    "del",
];
const LINKS: [&str; 4] = ["https://", "http://", "/", "#"];

/// The tags of a document, without their brackets, whose values may not have any.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).map(|rest| rest.split_once('>').expect("a tag ends").0)
}

fn check_attribute(attribute: &str, html: &str) {
    let (name, value) = attribute.split_once("=\"").expect("an attribute has a value");
    let lower = value.to_ascii_lowercase();
    let is_harmless = match name {
        "href" => LINKS.iter().any(|link| lower.starts_with(link)),
        "style" => value.starts_with("text-align: "),
        "class" => value.starts_with("language-"),
        "start" => value.bytes().all(|byte| byte.is_ascii_digit()),
        _ => name == "title",
    };
    assert!(is_harmless, "{attribute} in {html}");
}

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let html = as_html(text);
    let mut open = Vec::new();
    for tag in tags(&html) {
        if let Some(end) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(end), "{html}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&name), "{name} in {html}");
        let is_empty = attributes == "/";
        if !is_empty {
            open.push(name);
            attributes.split_terminator('"').collect::<Vec<_>>().chunks(2).for_each(|pair| {
                check_attribute(pair.join("\"").trim_start(), &html);
            });
        }
    }
    assert!(open.is_empty(), "{open:?} stay open in {html}");
}
