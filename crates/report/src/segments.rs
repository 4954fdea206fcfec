//! Scores of single images as JSON Lines.

use std::io::{self, Write};

use crate::Report;

/// The number of bytes to collect before they are written.
const BLOCK: usize = 1 << 16;

/// Writes one line per system and image, in full double precision:
/// `{"system":"a","image_id":42,"scores":{"bleu-1":0.5,…}}`, with its groups, if there are any:
/// `"groups":{"domain":["in-domain"]}`.
///
/// Systems without [`segments`](crate::SystemReport::segments) are left out.
pub fn segments(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::with_capacity(2 * BLOCK);
    let keys = report
        .head
        .measures
        .iter()
        .enumerate()
        .map(|(k, measure)| {
            let key = serde_json::to_string(&measure.key)?;
            Ok(format!("{}{key}:", if k == 0 { "" } else { "," }).into_bytes())
        })
        .collect::<io::Result<Vec<Vec<u8>>>>()?;
    let groups: Vec<_> = report.groups.iter().map(|groups| (groups, groups.names())).collect();
    for system in &report.systems {
        let Some(segments) = &system.segments else { continue };
        let head = format!("{{\"system\":{},\"image_id\":", serde_json::to_string(&system.name)?);
        for (id, values) in segments.ids.iter().zip(segments.values.chunks_exact(keys.len().max(1))) {
            line.extend_from_slice(head.as_bytes());
            serde_json::to_writer(&mut line, id)?;
            line.extend_from_slice(b",\"scores\":{");
            for (key, value) in keys.iter().zip(values) {
                line.extend_from_slice(key);
                serde_json::to_writer(&mut line, value)?;
            }
            line.push(b'}');
            for (k, (groups, names)) in groups.iter().enumerate() {
                line.extend_from_slice(if k == 0 { b",\"groups\":{" } else { b"," });
                serde_json::to_writer(&mut line, &groups.by)?;
                line.push(b':');
                serde_json::to_writer(&mut line, &groups.of(names, &system.name, id))?;
            }
            line.extend_from_slice(if groups.is_empty() { b"}\n" } else { b"}}\n" });
            if line.len() >= BLOCK {
                out.write_all(&line)?;
                line.clear();
            }
        }
    }
    out.write_all(&line)
}
