//! Describes a benchmark and its files in Croissant, the vocabulary for data sets of machine learning. References are
//! hidden, so it lists only the files for participants.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use capeval_site::prelude::*;
use serde_json::{Value, json};

use super::citation;
use crate::files::records::{self as files, PhaseFile};
use crate::records::{self, SeenBenchmark, SeenPhase};

pub const KIND: &str = "application/ld+json";

/// The media types of files by the ends of their names.
const KINDS: [(&str, &str); 8] = [
    (".json", "application/json"),
    (".jsonl", "application/jsonlines"),
    (".csv", "text/csv"),
    (".tsv", "text/tab-separated-values"),
    (".txt", "text/plain"),
    (".zip", "application/zip"),
    (".gz", "application/gzip"),
    (".parquet", "application/vnd.apache.parquet"),
];

/// The context that Croissant 1.0 prescribes.
fn context() -> Value {
    let of = |name: &str| format!("cr:{name}");
    let mut context = json!({
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
        "conformsTo": "dct:conformsTo",
        "data": { "@id": "cr:data", "@type": "@json" },
        "dataType": { "@id": "cr:dataType", "@type": "@vocab" },
        "examples": { "@id": "cr:examples", "@type": "@json" },
    });
    for name in [
        "citeAs",
        "column",
        "equivalentProperty",
        "extract",
        "field",
        "fileProperty",
        "fileObject",
        "fileSet",
        "format",
        "includes",
        "isLiveDataset",
        "jsonPath",
        "key",
        "md5",
        "parentField",
        "path",
        "recordSet",
        "references",
        "regex",
        "repeated",
        "replace",
        "samplingRate",
        "separator",
        "source",
        "subField",
        "transform",
    ] {
        context[name] = of(name).into();
    }
    context
}

pub async fn show(app: App, Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    let benchmark = &seen.benchmark;
    let created: i64 =
        app.store.fetch_one("SELECT created_at FROM benchmark WHERE id = $1", args![&benchmark.id]).await?;
    let mut all = files::of_benchmark(&app.store, &benchmark.id).await?;
    let mut distribution = Vec::new();
    for phase in records::phases(&app.store, &benchmark.id).await? {
        let files = all.remove(&phase.id).unwrap_or_default();
        let of = SeenPhase { seen: seen.clone(), phase };
        distribution.extend(files.iter().map(|file| file_object(&app, &of, file)));
    }
    let text = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": benchmark.title,
        "description": if benchmark.summary.is_empty() { &benchmark.title } else { &benchmark.summary },
        "url": app.settings.url(&format!("/b/{}", benchmark.slug)),
        "datePublished": &clock::iso(created)[..10],
        "publisher": { "@type": "sc:Organization", "name": app.settings.title },
        "citeAs": citation::of(&app, benchmark).await?.trim_end(),
        "isLiveDataset": true,
        "distribution": distribution,
    });
    Ok(([(header::CONTENT_TYPE, KIND)], serde_json::to_string_pretty(&text)?).into_response())
}

fn file_object(app: &App, of: &SeenPhase, file: &PhaseFile) -> Value {
    let kind = KINDS.iter().find(|(end, _)| file.name.to_ascii_lowercase().ends_with(end));
    json!({
        "@type": "cr:FileObject",
        "@id": format!("{}/{}", of.phase.slug, file.name),
        "name": file.name,
        "description": format!("{} ({})", file.title, of.phase.title),
        "contentUrl": app.settings.url(&of.address(&format!("files/{}", file.encoded()))),
        "contentSize": format!("{} B", file.size),
        "encodingFormat": kind.map_or("application/octet-stream", |(_, kind)| *kind),
        "sha256": file.blob,
    })
}
