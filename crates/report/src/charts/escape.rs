//! The escaper of templates.

use std::fmt;

/// Escapes text for element content and attributes; control characters, which are not allowed in HTML, become U+FFFD.
#[derive(Clone, Copy)]
pub struct Text;

impl askama::filters::Escaper for Text {
    fn write_escaped_str<W: fmt::Write>(&self, mut out: W, text: &str) -> fmt::Result {
        let mut rest = text;
        let needs_care = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || is_forbidden(c);
        while let Some(at) = rest.find(needs_care) {
            out.write_str(&rest[..at])?;
            let mut chars = rest[at..].chars();
            out.write_str(match chars.next() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some('\'') => "&#39;",
                _ => "\u{fffd}",
            })?;
            rest = chars.as_str();
        }
        out.write_str(rest)
    }
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use askama::filters::Escaper;

    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let mut out = String::new();
        Text.write_escaped_str(&mut out, "</b><script>alert('é')</script>\" & \0\n").unwrap();
        assert_eq!(out, "&lt;/b&gt;&lt;script&gt;alert(&#39;é&#39;)&lt;/script&gt;&quot; &amp; \u{fffd}\n");
    }
}
