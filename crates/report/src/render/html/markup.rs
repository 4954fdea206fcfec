//! Text that stays text, and data that no browser runs.

use std::fmt;
use std::io::{self, Write};

use base64::Engine;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

/// Text for element content and attributes.
pub(super) struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c if c.is_control() && c != '\n' && c != '\t' => f.write_str("\u{fffd}")?,
                c => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}

/// Data below this many bytes lie in the page as they are, so that they can be read.
const PLAIN: usize = 4_096;

/// Writes `json` as a block of data that the page's script finds under `b-` and `name`; deflated and in base64
/// if it is long and `compress` says so.
pub(super) fn block(out: &mut impl Write, name: &str, json: &str, compress: bool) -> io::Result<()> {
    if compress && json.len() >= PLAIN {
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(json.len() / 3), Compression::default());
        encoder.write_all(json.as_bytes())?;
        let packed = base64::engine::general_purpose::STANDARD.encode(encoder.finish()?);
        return writeln!(out, "<script type=\"application/octet-stream\" id=\"b-{name}\">{packed}</script>");
    }
    write!(out, "<script type=\"application/json\" id=\"b-{name}\">")?;
    let mut rest = json;
    // Nothing in the data may look like a tag or, to old parsers, like the end of a line.
    while let Some(at) = rest.find(['<', '\u{2028}', '\u{2029}']) {
        let (before, after) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let mut chars = after.chars();
        if let Some(c) = chars.next() {
            write!(out, "\\u{:04x}", u32::from(c))?;
        }
        rest = chars.as_str();
    }
    out.write_all(rest.as_bytes())?;
    writeln!(out, "</script>")
}

/// How a policy names a script or style of the page.
pub(super) fn hash(text: &str) -> String {
    format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script><script>alert('x')</script>\u{2028}\" & \0";
        let escaped = Escaped(hostile).to_string();
        assert!(!escaped.contains(['<', '>', '"', '\'', '\0']), "{escaped}");
        let json = serde_json::to_string(hostile).unwrap();
        let mut out = Vec::new();
        block(&mut out, "x", &json, true).unwrap();
        let out = String::from_utf8(out).unwrap();
        let inner = out.strip_prefix("<script type=\"application/json\" id=\"b-x\">").unwrap();
        let inner = inner.strip_suffix("</script>\n").unwrap();
        assert!(!inner.contains(['<', '\u{2028}']), "{inner}");
        assert_eq!(serde_json::from_str::<String>(inner).unwrap(), hostile);
    }

    #[test]
    fn long_data_are_packed_and_come_back() {
        let json = serde_json::to_string(&vec!["a man"; 5_000]).unwrap();
        let mut out = Vec::new();
        block(&mut out, "x", &json, true).unwrap();
        assert!(out.len() < json.len() / 20, "{}", out.len());
        let out = String::from_utf8(out).unwrap();
        let packed = out.split(['>', '<']).nth(2).unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
        let mut text = String::new();
        io::Read::read_to_string(&mut flate2::read::ZlibDecoder::new(&bytes[..]), &mut text).unwrap();
        assert_eq!(text, json);
    }
}
