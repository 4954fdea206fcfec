//! Blocks of data in a page, which the browser does not execute.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// Higher levels give a page that is little smaller, and take several times as long.
const LEVEL: Compression = Compression::new(3);

/// Data shorter than this, in bytes, are not compressed.
const PLAIN: usize = 4_096;

/// A block of data, which the page's script finds by the id `b-` plus `name`: as JSON, or, if `compress` is set and it
/// is long, as deflated JSON in base64.
pub(crate) fn of(name: &str, data: &impl Serialize, compress: bool) -> Result<String, fmt::Error> {
    let json = serde_json::to_string(data).map_err(|_| fmt::Error)?;
    if compress && json.len() >= PLAIN {
        let mut encoder = ZlibEncoder::new(Vec::with_capacity(json.len() / 3), LEVEL);
        let packed = encoder.write_all(json.as_bytes()).and_then(|()| encoder.finish());
        let mut block = format!("<script type=\"application/octet-stream\" id=\"b-{name}\">");
        BASE64.encode_string(packed.map_err(|_| fmt::Error)?, &mut block);
        return Ok(block + "</script>\n");
    }
    let mut block = format!("<script type=\"application/json\" id=\"b-{name}\">");
    let mut rest = json.as_str();
    // Nothing in the data may look like a tag or, to old parsers, like a line break.
    while let Some(at) = rest.find(['<', '\u{2028}', '\u{2029}']) {
        block.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        if let Some(c) = chars.next() {
            write!(block, "\\u{:04x}", u32::from(c))?;
        }
        rest = chars.as_str();
    }
    Ok(block + rest + "</script>\n")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn hostile_data_cannot_close_the_tag() {
        let hostile = "</script><script>alert('x')</script>\u{2028}\" & \0";
        let block = of("x", &hostile, true).unwrap();
        let json = block.strip_prefix("<script type=\"application/json\" id=\"b-x\">").unwrap();
        let json = json.strip_suffix("</script>\n").unwrap();
        assert!(!json.contains(['<', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), hostile);
    }

    #[test]
    fn long_data_are_compressed_and_can_be_read_back() {
        let data = vec!["a man"; 5_000];
        let block = of("x", &data, true).unwrap();
        assert!(block.len() < 2_000, "{}", block.len());
        let bytes = BASE64.decode(block.split(['>', '<']).nth(2).unwrap()).unwrap();
        let mut json = String::new();
        flate2::read::ZlibDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), data);
    }
}
