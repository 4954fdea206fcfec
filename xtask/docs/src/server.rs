//! The pages about the server: its settings, and its API as its own description has it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use capeval_server::FEATURES;
use capeval_site::feature;
use capeval_site::settings::Settings;
use capeval_site::web::openapi;
use serde_json::Value;

/// The page of types that requests take.
const REQUESTS: &str = "api-requests.md";

/// The page of types that requests give.
const ANSWERS: &str = "api-answers.md";

/// These pages.
pub fn pages(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let folder = root.join("docs/reference");
    let [requests, takes, gives] = api()?;
    Ok(vec![
        (folder.join("server.md"), settings()?),
        (folder.join("api.md"), requests),
        (folder.join(REQUESTS), takes),
        (folder.join(ANSWERS), gives),
    ])
}

fn settings() -> Result<String> {
    feature::join(FEATURES);
    let mut page = String::from(
        "# Settings of the server\n\n`cargo xtask docs` writes this page. Settings are in `server.toml` in the data folder, or in the \
         file that `--config` names. Environment variables, `CAPEVAL_SERVER_` followed by the name in capitals, override them, and \
         command-line options override both. `capeval-server doctor` prints those in force.\n\n| setting | default | meaning |\n|---|---|---|\n",
    );
    for (name, value, description) in Settings::default().described() {
        writeln!(page, "| `{name}` | `{value}` | {description} |")?;
    }
    page.push_str(
        "\nThe server sends email if `smtp` is set: with `registration = \"open\"`, new users get a link to confirm their address, and \
         participants are told when their submission has scores or cannot be scored. Messages that cannot be sent are retried five \
         times within eight hours. How people [sign in with accounts of other \
         sites](../guides/operate.md#sign-in-with-accounts-of-other-sites), `providers`, has a page of its own.\n",
    );
    Ok(page)
}

/// The requests, the types that they take, and those that they give.
fn api() -> Result<[String; 3]> {
    let document = openapi::document(&feature::routes(FEATURES), "capeval", "/");
    let types = Types::of(&document);
    let mut requests = String::from(
        "# HTTP API\n\n`cargo xtask docs` writes this page from the description that every server gives at `/openapi.json` (OpenAPI 3.1). \
         Programs send a token, `Authorization: Bearer cev_…`, which people create on their account page. A failure is a \
         [problem](api-answers.md#problem) in JSON (`application/problem+json`), whose `code` is for programs and whose `detail` is for \
         people. `429` and `503` come with `Retry-After`.\n\n## Requests\n\n| request | does | needs |\n|---|---|---|\n",
    );
    for (path, methods) in object(&document["paths"]) {
        for (method, operation) in object(methods) {
            let text = |key: &str| cell(operation[key].as_str().unwrap_or_default());
            let call = format!("{} {path}", method.to_uppercase());
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
            let mut does = text("summary");
            for (what, schema) in [("takes", body), ("gives", answer)] {
                if let Some(name) = named(schema) {
                    write!(does, "; {what} {}", types.link(name))?;
                }
            }
            writeln!(requests, "| `{call}` | {does} | {} |", text("description").trim_end_matches('.'))?;
        }
    }
    let mut pages = [
        "# What requests take\n\n`cargo xtask docs` writes this page. [Requests](api.md) take these types in JSON.\n".to_owned(),
        "---\nhide: [toc]\n---\n\n# What requests give\n\n`cargo xtask docs` writes this page. [Requests](api.md) give these types in JSON.\n".to_owned(),
    ];
    for (name, schema) in object(&document["components"]["schemas"]) {
        // Words stand where they are used.
        if !words(schema).is_empty() {
            continue;
        }
        let page = &mut pages[usize::from(!types.is_taken(name))];
        let about = schema["description"].as_str().map(cell).unwrap_or_default();
        writeln!(page, "\n## {name}\n\n{about}")?;
        let fields = object(&schema["properties"]);
        if !fields.is_empty() {
            page.push_str("\n| field | type | meaning |\n|---|---|---|\n");
            // Types of one page need no name of a page.
            let own = if types.is_taken(name) { REQUESTS } else { ANSWERS };
            for (field, schema) in fields {
                let about = schema["description"].as_str().map(cell).unwrap_or_default();
                let kind = types.kind(schema).replace(&format!("({own}#"), "(#");
                writeln!(page, "| `{field}` | {kind} | {about} |")?;
            }
        }
    }
    let [takes, gives] = pages;
    Ok([requests, takes, gives])
}

/// The types that requests take, and those within them.
struct Types<'d> {
    taken: Vec<&'d str>,
    all: &'d Value,
}

impl<'d> Types<'d> {
    fn of(document: &'d Value) -> Self {
        let bodies = object(&document["paths"]).into_iter().flat_map(|(_, methods)| object(methods));
        let mut waiting: Vec<&Value> = bodies.map(|(_, operation)| &operation["requestBody"]).collect();
        let mut taken: Vec<&str> = Vec::new();
        while let Some(value) = waiting.pop() {
            if let Some(name) = named(value)
                && !taken.contains(&name)
            {
                taken.push(name);
                waiting.push(&document["components"]["schemas"][name]);
            }
            match value {
                Value::Object(fields) => waiting.extend(fields.values()),
                Value::Array(values) => waiting.extend(values),
                _ => {}
            }
        }
        Self { taken, all: &document["components"]["schemas"] }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(&name)
    }

    fn link(&self, name: &str) -> String {
        let page = if self.is_taken(name) { REQUESTS } else { ANSWERS };
        format!("[{name}]({page}#{})", name.to_lowercase())
    }

    /// The type of a field, in words.
    fn kind(&self, schema: &Value) -> String {
        if let Some(name) = named(schema) {
            let words = words(&self.all[name]);
            return if words.is_empty() { self.link(name) } else { words };
        }
        for several in ["anyOf", "oneOf"] {
            if let Some(kinds) = schema[several].as_array() {
                return kinds.iter().map(|kind| self.kind(kind)).collect::<Vec<_>>().join(" or ");
            }
        }
        let one = |kind: &str| match kind {
            "array" => format!("list of {}", self.kind(&schema["items"])),
            "object" if schema["additionalProperties"].is_object() => {
                format!("object of {}", self.kind(&schema["additionalProperties"]))
            }
            kind => kind.to_owned(),
        };
        match &schema["type"] {
            Value::String(kind) => one(kind),
            Value::Array(kinds) => {
                kinds.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
            }
            _ => "any".to_owned(),
        }
    }
}

/// The name of the type that a schema refers to.
fn named(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn object(value: &Value) -> Vec<(&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect()
}

/// The words that a type allows, if it is one of words.
fn words(schema: &Value) -> String {
    let listed = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let single = schema["oneOf"].as_array().into_iter().flatten().filter_map(|one| one["const"].as_str());
    listed.chain(single).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}
