//! The parameters in the query of an address: those of a route are the fields of what its handler reads, and others
//! are refused by name.
//!
//! A misspelt filter that is ignored in silence gives an answer to another question, so all routes of the API refuse
//! what they do not read, and so do pages where a format is asked for. Other pages ignore it: what refers to a page
//! adds parameters (`utm_source`, `fbclid`), and a person who follows a link cannot mend it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::middleware::Next;
use axum::response::Response;
use capeval_choice::nearest;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use super::is_program;
use super::signature::Contract;
use crate::fault;
use crate::fault::{Fault, Result};

/// The most parameters that a refusal names.
const NAMED: usize = 10;

/// The parameters of a route by name, each with its schema. A name that ends with `*` stands for all that begin so.
pub fn parameters(contract: &Contract, mut generator: SchemaGenerator) -> Map<String, Value> {
    let Some(describe) = contract.query else { return Map::new() };
    // The type itself, and not a reference to it: each of its fields is a parameter.
    let schema = describe(&mut generator);
    let name = schema.get("$ref").and_then(|name| name.as_str()?.rsplit('/').next().map(str::to_owned));
    let definition = name.and_then(|name| generator.definitions().get(&name).cloned());
    let schema = definition.unwrap_or_else(|| schema.to_value());
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// The names of the parameters that a route reads.
#[derive(Clone)]
pub struct KnownParameters(Arc<[String]>);

impl KnownParameters {
    /// Those of the handler with this contract.
    pub fn of(contract: &Contract) -> Self {
        let mut names: Vec<String> =
            parameters(contract, SchemaGenerator::default()).into_iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        Self(names.into())
    }

    /// The names; one that ends with `*` stands for all that begin so.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == known,
        })
    }

    /// Refuses an address with parameters that are not read.
    fn check(&self, uri: &Uri) -> Result<()> {
        let query = uri.query().unwrap_or("");
        let given: Vec<(String, String)> = serde_html_form::from_str(query).unwrap_or_default();
        let asks_for_format = self.has("format") && given.iter().any(|(name, _)| name == "format");
        let is_strict = is_program(uri.path()) || asks_for_format;
        if !is_strict {
            return Ok(());
        }
        let mut unknown: Vec<&str> = Vec::new();
        for (name, _) in &given {
            if !self.has(name) && !unknown.contains(&name.as_str()) && unknown.len() < NAMED {
                unknown.push(name);
            }
        }
        if unknown.is_empty() { Ok(()) } else { Err(self.refusal(&unknown)) }
    }

    /// The refusal of parameters, with those that may have been meant, or else all that there are.
    fn refusal(&self, unknown: &[&str]) -> Fault {
        let known = || self.0.iter().map(String::as_str);
        let meant: Vec<&str> = unknown.iter().filter_map(|name| nearest(name, known())).collect();
        let names = unknown.join(", ");
        if self.0.is_empty() {
            return fault! {
                BAD_REQUEST, "unknown-parameters",
                "The address has parameters that do not exist: {}. There are none here.", names
            };
        }
        match meant.is_empty() {
            true => fault! {
                BAD_REQUEST, "unknown-parameters",
                "The address has parameters that do not exist: {}. There are: {}", names,
                known().collect::<Vec<_>>().join(", ")
            },
            false => fault! {
                BAD_REQUEST, "unknown-parameters",
                "The address has parameters that do not exist: {}. Did you mean {}?", names, meant.join(", ")
            },
        }
    }
}

/// The layer of each route.
pub async fn check(State(known): State<KnownParameters>, request: Request, next: Next) -> Result<Response> {
    known.check(request.uri())?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::super::signature::describe;
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Choices {
        format: String,
        sort: String,
        #[schemars(rename = "ref")]
        set: String,
        #[schemars(rename = "column.*")]
        columns: String,
    }

    fn refused(address: &str) -> Option<String> {
        let contract = Contract { query: Some(describe::<Choices>), ..Contract::default() };
        let checked = KnownParameters::of(&contract).check(&address.parse().unwrap());
        checked.err().map(|fault| fault.to_string())
    }

    #[test]
    fn parameters_that_are_not_read_are_named() {
        for fine in ["/api/v1/x", "/api/v1/x?ref=a&sort=b&column.n=1", "/api/v1/x?", "/x?utm_source=a&srot=b"]
        {
            assert_eq!(refused(fine), None, "{fine}");
        }
        let start = "The address has parameters that do not exist: ";
        let cases = [
            ("/api/v1/x?srot=a&ref=b&srot=c", "srot. Did you mean sort?"),
            ("/api/v1/x?Sort=a&refs=b", "Sort, refs. Did you mean sort, ref?"),
            ("/api/v1/x?%7A%7A&sort=", "zz. There are: column.*, format, ref, sort"),
            ("/x?format=csv&srot=a", "srot. Did you mean sort?"),
        ];
        for (address, said) in cases {
            assert_eq!(refused(address).as_deref(), Some(&*format!("{start}{said}")), "{address}");
        }
        let none = KnownParameters::of(&Contract::default()).check(&"/api/v1/x?a=1".parse().unwrap());
        assert_eq!(none.unwrap_err().to_string(), format!("{start}a. There are none here."));
    }
}
