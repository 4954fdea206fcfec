//! Results as JSON against `docs/reference/result.schema.json`: every value is as it says, and every key is in it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::program::{quickstart, stdout};

/// The keys of an object that a schema names.
type NamedKeys = BTreeSet<String>;

/// A JSON Schema of the few keywords that the file uses.
struct Schema(Value);

impl Schema {
    fn open() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/result.schema.json");
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    /// The fault of a result; `None` if it has none.
    fn fault(&self, result: &Value) -> Option<String> {
        self.check(&self.0, result, "").err()
    }

    /// Checks a value with all that it contains.
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let named = self.named(schema, value, at)?;
        let unnamed = value.as_object().and_then(|object| object.keys().find(|key| !named.contains(*key)));
        unnamed.map_or(Ok(()), |key| Err(format!("{at}/{key} is not in the schema")))
    }

    /// Checks a value: the keys that this part of the schema names.
    fn named(&self, schema: &Value, value: &Value, at: &str) -> Result<NamedKeys, String> {
        let mut named = NamedKeys::new();
        for (keyword, operand) in schema.as_object().unwrap() {
            named.extend(self.by(keyword, operand, schema, (value, at))?);
        }
        Ok(named)
    }

    fn by(
        &self,
        keyword: &str,
        operand: &Value,
        schema: &Value,
        (value, at): (&Value, &str),
    ) -> Result<NamedKeys, String> {
        let none = Map::new();
        let object = value.as_object().unwrap_or(&none);
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        let listed = || operand.as_array().unwrap();
        let mut named = NamedKeys::new();
        let holds = match keyword {
            "$ref" => {
                let part = self.0.pointer(&operand.as_str().unwrap()[1..]).unwrap();
                return self.named(part, value, at);
            }
            "allOf" => {
                for part in listed() {
                    named.extend(self.named(part, value, at)?);
                }
                true
            }
            "oneOf" => {
                let found: Vec<_> = listed().iter().map(|part| self.named(part, value, at)).collect();
                let mut fitting = found.iter().flatten();
                let (Some(one), None) = (fitting.next(), fitting.next()) else {
                    return Err(format!("{at} fits not exactly one of {found:?}"));
                };
                return Ok(one.clone());
            }
            "type" => {
                operand.as_array().map_or_else(|| is(value, operand), |all| all.iter().any(|t| is(value, t)))
            }
            "const" => operand == value,
            "enum" => listed().contains(value),
            "required" => listed().iter().all(|key| object.contains_key(key.as_str().unwrap())),
            "properties" => {
                for (key, part) in operand.as_object().unwrap() {
                    if let Some(inner) = object.get(key) {
                        self.check(part, inner, &format!("{at}/{key}"))?;
                        named.insert(key.clone());
                    }
                }
                true
            }
            "additionalProperties" => {
                assert!(schema.get("properties").is_none(), "a map has no keys of its own");
                for (key, inner) in object {
                    self.check(operand, inner, &format!("{at}/{key}"))?;
                }
                named.extend(object.keys().cloned());
                true
            }
            "items" => {
                for (k, inner) in list.iter().enumerate() {
                    self.check(operand, inner, &format!("{at}/{k}"))?;
                }
                true
            }
            "minItems" => list.len() as u64 >= operand.as_u64().unwrap(),
            "maxItems" => list.len() as u64 <= operand.as_u64().unwrap(),
            "$schema" | "$defs" | "title" | "description" => true,
            other => panic!("the check does not know the keyword {other}"),
        };
        // A whole result would hide the faults of the other parts.
        let begins: String = value.to_string().chars().take(80).collect();
        if holds { Ok(named) } else { Err(format!("{at} is {begins}, against {keyword} {operand}")) }
    }
}

fn is(value: &Value, name: &Value) -> bool {
    match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("no type is called {other}"),
    }
}

/// The result of every command that writes one, with and without what is optional.
fn results() -> Vec<(&'static str, Value)> {
    let [refs, a, b] = ["references.json", "weak.json", "good.json"].map(quickstart);
    let [refs, a, b] = [&refs, &a, &b].map(String::as_str);
    let metrics = ["-m", "bleu,rouge-l,cider-d"];
    let ci = ["--ci", "--resamples", "300"];
    let rated = ["correlate", "ratings.csv", "-r", "references.json", "-m", "bleu,cider-d"];
    let preferred = ["prefer", "pairs.csv", "--scores", "caption_scores.csv"];
    let grouped = ["--group-by", "words:candidate=3,9", "--derive", "sm = mean(bleu-4, rouge-l)"];
    let runs: [(&str, Vec<&str>); 13] = [
        ("report", [&["score", "-r", refs, a, b][..], &metrics, &ci, &grouped].concat()),
        (
            "comparison",
            [&["compare", "-r", refs, a, b, "--resamples", "300"][..], &metrics, &grouped].concat(),
        ),
        ("report", [&["score", "-r", refs, a, b][..], &metrics].concat()),
        ("report", [&["score", "-r", refs, a, b, "--sort", "cider-d"][..], &metrics, &ci].concat()),
        (
            "report",
            vec!["score", "-r", "references.json", "partial.json", "-m", "rouge-l", "--missing", "skip"],
        ),
        ("report", [&["human", "-r", refs, "--group-by", "references:count"][..], &metrics].concat()),
        ("report", vec!["diversity", a, b]),
        ("comparison", [&["compare", "-r", refs, a, b, "--resamples", "300"][..], &metrics].concat()),
        ("correlation", rated.to_vec()),
        ("correlation", [&rated[..], &ci].concat()),
        ("correlation", [&rated[..], &["--unit", "item", "--group-by", "words:candidate=3,9"]].concat()),
        ("preference", preferred.to_vec()),
        ("preference", [&preferred[..], &ci].concat()),
    ];
    let result = |args: &[&str]| {
        let run = crate::program::capeval(&[args, &["-f", "json"]].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    };
    runs.iter().map(|(kind, args)| (*kind, result(args))).collect()
}

#[test]
fn every_result_is_as_the_schema_says_and_begins_with_its_kind() {
    let schema = Schema::open();
    for (kind, result) in results() {
        assert_eq!(schema.fault(&result), None, "{result:#}");
        let first: Vec<&String> = result.as_object().unwrap().keys().take(3).collect();
        assert_eq!(
            (&first[..], &result["result"]),
            (&["result", "version", "capeval"].map(str::to_owned).each_ref()[..], &kind.into())
        );
    }
}

#[test]
fn the_schema_describes_every_kind_of_result_of_the_engine() {
    let Schema(schema) = Schema::open();
    let described = schema["oneOf"].as_array().unwrap().iter().map(|part| &part["$ref"]);
    let kinds = capeval::report::KINDS.iter().map(|kind| format!("#/$defs/{}", kind.name));
    assert_eq!(described.cloned().collect::<Vec<_>>(), kinds.map(Value::from).collect::<Vec<_>>());
}

#[test]
fn the_schema_refuses_what_a_result_is_not() {
    let schema = Schema::open();
    let refs = quickstart("references.json");
    let text = stdout(&["human", "-r", &refs, "-m", "bleu", "-f", "json"]);
    let whole: Value = serde_json::from_str(&text).unwrap();
    for (path, value) in [
        ("/result", json!("comparison")),
        ("/result", json!("scores")),
        ("/version", json!(2)),
        ("/systems/0/images", json!("3")),
        ("/systems/0/scores/bleu-1", json!("high")),
        ("/systems/0/lengths", json!({"ratio": 1})),
        ("/same_images", json!(null)),
        ("/measures/0/better", json!("up")),
    ] {
        let mut changed = whole.clone();
        *changed.pointer_mut(path).unwrap() = value;
        assert!(schema.fault(&changed).is_some(), "{path}");
    }
    let mut changed = whole;
    changed["systems"][0]["colour"] = json!("red");
    assert!(schema.fault(&changed).is_some_and(|fault| {
        fault.contains("/systems/0/colour is not in the schema") || fault.contains("colour")
    }));
}
