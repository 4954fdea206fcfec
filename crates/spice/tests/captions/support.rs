//! The golden values of the stages: of captions that were written for this project in `stages.jsonl`, and of others in
//! `golden/spice` of the folder of real data. All are what Stanford CoreNLP 3.6.0 (`tokenize,ssplit,parse,lemma`, with
//! `parse.extradependencies=NONE`) and SPICE 1.0 find, on Java 17.

use capeval_spice::{DependencyGraph, Tree};
use capeval_testkit::real_text;
use serde_json::Value;

use crate::graph::from_notation;

/// A caption with what the reference program found in it.
pub struct Caption {
    pub id: String,
    pub text: String,
    pub sentences: Vec<Sentence>,
    /// One string is an object, two an attribute, three a relation: subject, object, predicate.
    pub tuples: Vec<Vec<String>>,
}

/// A sentence of a caption.
pub struct Sentence {
    pub tokens: Vec<String>,
    pub tags: Vec<String>,
    pub lemmas: Vec<String>,
    pub tree: Tree,
    pub basic: DependencyGraph,
    /// Collapsed, CC-processed dependencies.
    pub graph: DependencyGraph,
}

/// All golden captions; those of real data are left out, with a line that says so, where they are missing.
pub fn golden() -> Vec<Caption> {
    let real = ["stages_4500.jsonl.gz", "stages_hostile_574.jsonl.gz"]
        .map(|name| real_text(&format!("golden/spice/{name}")).unwrap_or_default());
    let own = include_str!("stages.jsonl").lines();
    own.chain(real.iter().flat_map(|text| text.lines())).map(caption).collect()
}

fn caption(line: &str) -> Caption {
    let value: Value = serde_json::from_str(line).unwrap();
    Caption {
        id: value["id"].as_str().unwrap().to_owned(),
        text: value["text"].as_str().unwrap().to_owned(),
        sentences: value["sents"].as_array().unwrap().iter().map(sentence).collect(),
        tuples: value["tuples"].as_array().unwrap().iter().map(strings).collect(),
    }
}

fn sentence(value: &Value) -> Sentence {
    let (tokens, tags) = (strings(&value["tok"]), strings(&value["tag"]));
    let graph = |name: &str| {
        let words = tokens.iter().map(String::as_str).zip(tags.iter().map(String::as_str));
        let dependencies = strings(&value[name]);
        from_notation(words, dependencies.iter().map(String::as_str)).unwrap()
    };
    let tree = value["tree"].as_str().unwrap().parse().unwrap();
    let (basic, graph) = (graph("basic"), graph("cc"));
    Sentence { lemmas: strings(&value["lem"]), tree, basic, graph, tokens, tags }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
