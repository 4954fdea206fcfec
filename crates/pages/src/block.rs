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

/// Makes blocks of data, which the page's script finds by the id `b-` and a name.
pub(crate) struct Blocks {
    /// Compresses long blocks; one for all, since it takes as long to make as a block.
    encoder: Option<ZlibEncoder<Vec<u8>>>,
}

impl Blocks {
    /// Makes blocks that are compressed if `compress` is set and they are long.
    pub fn new(compress: bool) -> Self {
        Self { encoder: compress.then(|| ZlibEncoder::new(Vec::new(), LEVEL)) }
    }

    /// The block of `data`.
    pub fn of(&mut self, name: &str, data: &impl Serialize) -> Result<String, fmt::Error> {
        self.of_json(name, &serde_json::to_string(data).map_err(|_| fmt::Error)?)
    }

    /// The block of data in JSON: as they are, or deflated, in base64.
    pub fn of_json(&mut self, name: &str, json: &str) -> Result<String, fmt::Error> {
        let Some(encoder) = self.encoder.as_mut().filter(|_| json.len() >= PLAIN) else {
            return plain(name, json);
        };
        let packed = encoder.write_all(json.as_bytes()).and_then(|()| encoder.reset(Vec::new()));
        let mut block = format!("<script type=\"application/octet-stream\" id=\"b-{name}\">");
        BASE64.encode_string(packed.map_err(|_| fmt::Error)?, &mut block);
        Ok(block + "</script>\n")
    }
}

fn plain(name: &str, json: &str) -> Result<String, fmt::Error> {
    let mut block = format!("<script type=\"application/json\" id=\"b-{name}\">");
    let mut rest = json;
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
        let block = Blocks::new(true).of("x", &hostile).unwrap();
        let json = block.strip_prefix("<script type=\"application/json\" id=\"b-x\">").unwrap();
        let json = json.strip_suffix("</script>\n").unwrap();
        assert!(!json.contains(['<', '\u{2028}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), hostile);
    }

    #[test]
    fn long_data_are_compressed_and_can_be_read_back() {
        let mut blocks = Blocks::new(true);
        for word in ["a man", "two men"] {
            let data = vec![word; 5_000];
            let block = blocks.of("x", &data).unwrap();
            assert!(block.len() < 2_000, "{}", block.len());
            let bytes = BASE64.decode(block.split(['>', '<']).nth(2).unwrap()).unwrap();
            let mut json = String::new();
            flate2::read::ZlibDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
            assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), data);
        }
    }
}
