//! Reads YAML into a tree that knows the line of each value, and which values were read.
//!
//! Values that aliases name are shared and not copied. Readers of the tree visit them each time, so they count each
//! time: a few lines of aliases can stand for gigabytes.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{Context, bail, ensure};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// Deeper nesting is no description of a challenge.
const MAX_DEPTH: usize = 64;

/// The most values of a description.
const MOST_VALUES: usize = 20_000;

/// A text counts once more for each of so many bytes.
const OF_A_VALUE: usize = 100;

/// A value.
#[derive(Debug)]
pub struct Node {
    /// The line on which it begins.
    pub line: usize,
    kind: Kind,
    /// The number of values that it stands for, itself among them.
    n_values: usize,
    is_read: Cell<bool>,
}

#[derive(Debug)]
enum Kind {
    Null,
    Text(String),
    List(Vec<Rc<Node>>),
    Map(Vec<(String, Rc<Node>)>),
}

/// A list or map that has begun.
struct Open {
    line: usize,
    anchor: usize,
    kind: Kind,
    /// The key whose value comes next.
    key: Option<String>,
}

impl Node {
    /// Reads the first document of a text.
    pub fn parse(text: &str) -> anyhow::Result<Rc<Self>> {
        let mut open: Vec<Open> = Vec::new();
        let mut anchors: HashMap<usize, Rc<Self>> = HashMap::new();
        let mut n_values = 0;
        for event in Parser::new_from_str(text) {
            let (event, span) = event?;
            let line = span.start.line();
            let is_end = matches!(event, Event::SequenceEnd | Event::MappingEnd);
            let begins = |anchor, kind| Open { line, anchor, kind, key: None };
            let node = match event {
                Event::SequenceStart(anchor, _) => {
                    open.push(begins(anchor, Kind::List(Vec::new())));
                    ensure!(open.len() <= MAX_DEPTH, "line {line}: more than {MAX_DEPTH} levels");
                    continue;
                }
                Event::MappingStart(anchor, _) => {
                    open.push(begins(anchor, Kind::Map(Vec::new())));
                    ensure!(open.len() <= MAX_DEPTH, "line {line}: more than {MAX_DEPTH} levels");
                    continue;
                }
                Event::Alias(anchor) => {
                    Rc::clone(anchors.get(&anchor).with_context(|| format!("line {line}: it names itself"))?)
                }
                Event::Scalar(text, style, anchor, _) => {
                    named(&mut anchors, anchor, Self::new(line, scalar(&text, style)))
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Some(Open { line, anchor, kind, .. }) = open.pop() else { continue };
                    named(&mut anchors, anchor, Self::new(line, kind))
                }
                Event::DocumentEnd => break,
                _ => continue,
            };
            // The values of what ends here have been counted.
            n_values += if is_end { 1 } else { node.n_values };
            ensure!(n_values <= MOST_VALUES, "line {line}: it stands for more than {MOST_VALUES} values");
            match open.last_mut() {
                None => return Ok(node),
                Some(parent) => parent.add(node)?,
            }
        }
        bail!("it is empty")
    }

    fn new(line: usize, kind: Kind) -> Self {
        let of_text = |text: &str| 1 + text.len() / OF_A_VALUE;
        let n_values = match &kind {
            Kind::Null => 1,
            Kind::Text(text) => of_text(text),
            Kind::List(items) => 1 + items.iter().map(|item| item.n_values).sum::<usize>(),
            Kind::Map(fields) => {
                1 + fields.iter().map(|(key, node)| of_text(key) + node.n_values).sum::<usize>()
            }
        };
        Self { line, kind, n_values, is_read: Cell::new(false) }
    }

    /// The value of a key; `None` if it is missing or null.
    pub fn get(&self, key: &str) -> Option<&Self> {
        // The last one counts, as in PyYAML.
        let (_, node) = self.fields().iter().rev().find(|(known, _)| known == key)?;
        node.is_read.set(true);
        (!matches!(node.kind, Kind::Null)).then_some(node)
    }

    /// The text of a key.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::text)
    }

    /// True if a key says so.
    pub fn is(&self, key: &str) -> bool {
        self.text_of(key).is_some_and(|text| ["true", "yes", "on"].contains(&&*text.to_ascii_lowercase()))
    }

    /// The values of the list of a key.
    pub fn list_of(&self, key: &str) -> &[Rc<Self>] {
        self.get(key).map_or(&[], Self::items)
    }

    /// A text, which may be a number, without white space around it.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// The values of a list, and those of a map without its keys.
    pub fn items(&self) -> &[Rc<Self>] {
        let Kind::List(items) = &self.kind else { return &[] };
        items.iter().for_each(|item| item.is_read.set(true));
        items
    }

    /// The fields of a map in order.
    pub fn fields(&self) -> &[(String, Rc<Self>)] {
        match &self.kind {
            Kind::Map(fields) => fields,
            _ => &[],
        }
    }

    /// The fields of a map, which are read with this.
    pub fn read_fields(&self) -> &[(String, Rc<Self>)] {
        self.fields().iter().for_each(|(_, node)| node.is_read.set(true));
        self.fields()
    }

    /// Passes over fields that mean nothing elsewhere.
    pub fn pass(&self, keys: &[&str]) {
        keys.iter().filter_map(|key| self.get(key)).for_each(Self::pass_all);
    }

    fn pass_all(&self) {
        let fields = self.fields().iter().map(|(_, node)| node);
        let items = if let Kind::List(items) = &self.kind { &items[..] } else { &[] };
        // What was passed over, or read, is not looked at again: aliases may name it many times.
        fields.chain(items).filter(|node| !node.is_read.replace(true)).for_each(|node| node.pass_all());
    }

    /// The paths of the fields that were not read, in order, each with its line.
    pub fn unread(&self) -> Vec<(String, usize)> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    fn collect(&self, path: &str, found: &mut Vec<(String, usize)>) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for (name, node) in self.fields() {
            match node.is_read.replace(true) {
                false if !matches!(node.kind, Kind::Null) => found.push((below(name), node.line)),
                false => {}
                true => node.collect(&below(name), found),
            }
        }
        if let Kind::List(items) = &self.kind {
            for (k, item) in items.iter().enumerate().filter(|(_, item)| item.is_read.get()) {
                item.collect(&below(&(k + 1).to_string()), found);
            }
        }
    }
}

impl Open {
    fn add(&mut self, node: Rc<Node>) -> anyhow::Result<()> {
        match (&mut self.kind, self.key.take()) {
            (Kind::List(items), _) => items.push(node),
            (Kind::Map(fields), Some(key)) => fields.push((key, node)),
            _ => match &node.kind {
                Kind::Text(text) => self.key = Some(text.clone()),
                _ => bail!("line {}: this cannot be the name of a field", node.line),
            },
        }
        Ok(())
    }
}

fn named(anchors: &mut HashMap<usize, Rc<Node>>, anchor: usize, node: Node) -> Rc<Node> {
    let node = Rc::new(node);
    if anchor > 0 {
        anchors.insert(anchor, Rc::clone(&node));
    }
    node
}

fn scalar(text: &str, style: ScalarStyle) -> Kind {
    match style == ScalarStyle::Plain && ["", "~", "null", "Null", "NULL"].contains(&text) {
        true => Kind::Null,
        false => Kind::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines_and_whether_they_were_read() {
        let text = "title: A\nend: null\nphases:\n  1:\n    label: Dev\n    color: green\nboards:\n- {key: x, y: [1]}\n";
        let node = Node::parse(text).unwrap();
        assert_eq!(node.text_of("title"), Some("A"));
        assert!(node.get("end").is_none() && node.get("none").is_none());
        let (number, phase) = &node.get("phases").unwrap().read_fields()[0];
        assert_eq!((number.as_str(), phase.text_of("label"), phase.line), ("1", Some("Dev"), 5));
        assert_eq!(node.list_of("boards")[0].text_of("key"), Some("x"));
        assert_eq!(node.unread(), [("phases.1.color".to_owned(), 6), ("boards.1.y".to_owned(), 8)]);
    }

    #[test]
    fn bombs_and_ruins_end_in_words() {
        let shared = "a: &a [x]\nb: &b {x: *a, y: *a}\nc: [*b, *b]\n";
        assert_eq!(Node::parse(shared).unwrap().unread().len(), 3);
        // Levels that double what is below, with names that lead to each again, and levels as deep as there are lines.
        let lines = |start: &str, line: &dyn Fn(usize) -> String| {
            start.to_owned() + &(1..1000).map(line).collect::<String>()
        };
        let bomb = lines("a0: &a0 [x]\n", &|k| format!("a{k}: &a{k} [*a{0}, *a{0}]\n", k - 1));
        let twice = lines("a0: &a0 {x: 1}\n", &|k| {
            format!("a{k}: &a{k} {{x: *a{0}, y: *a{0}}}\nb{k}: *a{k}\n", k - 1)
        });
        let chain = lines("a0: &a0 [x]\n", &|k| format!("a{k}: &a{k} [*a{}]\n", k - 1));
        let long = format!("a: &a {}\nb: [{}]", "x".repeat(100_000), "*a,".repeat(100));
        for (text, reason) in [
            ("", "empty"),
            ("a: [", ""),
            ("a: &x [*x]", ""),
            ("? [a]\n: b", "line 1"),
            (&bomb, "values"),
            (&twice, "values"),
            (&chain, "values"),
            (&long, "line 2: it stands for more than 20000 values"),
            (&format!("a: {}{}", "[".repeat(100), "]".repeat(100)), "levels"),
            (&format!("a: {}", "[".repeat(100_000)), ""),
        ] {
            let error = Node::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
