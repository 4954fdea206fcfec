//! Blocks of data in a page, which the browser does not execute.

use std::fmt;
use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// Data shorter than this, in bytes, are not compressed.
const PLAIN: usize = 4_096;

/// Writes a block of data, which the page's script finds by the id `b-` plus `name`: as JSON, or, if `compress` is set
/// and it is long, as deflated JSON in base64.
pub(crate) fn write(
    name: fmt::Arguments<'_>,
    data: &impl Serialize,
    compress: bool,
    out: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let json = serde_json::to_string(data).map_err(|_| fmt::Error)?;
    if compress && json.len() >= PLAIN {
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(json.len() / 3), Compression::default());
        let packed = encoder.write_all(json.as_bytes()).and_then(|()| encoder.finish());
        let packed = BASE64.encode(packed.map_err(|_| fmt::Error)?);
        return writeln!(out, "<script type=\"application/octet-stream\" id=\"b-{name}\">{packed}</script>");
    }
    write!(out, "<script type=\"application/json\" id=\"b-{name}\">")?;
    let mut rest = json.as_str();
    // Nothing in the data may look like a tag or, to old parsers, like a line break.
    while let Some(at) = rest.find(['<', '\u{2028}', '\u{2029}']) {
        out.write_str(&rest[..at])?;
        let mut chars = rest[at..].chars();
        if let Some(c) = chars.next() {
            write!(out, "\\u{:04x}", u32::from(c))?;
        }
        rest = chars.as_str();
    }
    out.write_str(rest)?;
    out.write_str("</script>\n")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    struct Block<T>(T);

    impl<T: Serialize> fmt::Display for Block<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write(format_args!("x"), &self.0, true, f)
        }
    }

    #[test]
    fn hostile_data_cannot_close_the_tag() {
        let hostile = "</script><script>alert('x')</script>\u{2028}\" & \0";
        let block = Block(hostile).to_string();
        let json = block.strip_prefix("<script type=\"application/json\" id=\"b-x\">").unwrap();
        let json = json.strip_suffix("</script>\n").unwrap();
        assert!(!json.contains(['<', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), hostile);
    }

    #[test]
    fn long_data_are_compressed_and_can_be_read_back() {
        let data = vec!["a man"; 5_000];
        let block = Block(&data).to_string();
        assert!(block.len() < 2_000, "{}", block.len());
        let bytes = BASE64.decode(block.split(['>', '<']).nth(2).unwrap()).unwrap();
        let mut json = String::new();
        flate2::read::ZlibDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), data);
    }
}
