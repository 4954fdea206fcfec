//! Reads answers with a verdict for each item of a list.

use serde::Deserialize;
use serde_json::{Value, json};

use super::json::objects;
use super::{Reading, start};

/// The verdict on an item of a caption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    /// It mentions it, and what it says is right.
    Right,
    /// It mentions it, and what it says is wrong.
    Wrong,
    /// It does not mention it.
    Absent,
}

#[derive(Deserialize)]
struct Item {
    item: usize,
    verdict: Verdict,
}

/// The form, for the server.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"items": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "item": {"type": "integer"},
                "verdict": {"type": "string", "enum": ["right", "wrong", "absent"]},
            },
            "required": ["item", "verdict"],
            "additionalProperties": false,
        }}},
        "required": ["items"],
        "additionalProperties": false,
    })
}

/// The numbers of items, of those that the caption mentions, and of those that it mentions rightly.
pub fn read(text: &str, n_items: usize) -> Reading {
    let Some(mut object) = objects(text).find(|object| object.contains_key("items")) else {
        return Reading::unreadable(format!("no object of JSON with \"items\" in {}", start(text)));
    };
    let items: Vec<Item> = match serde_json::from_value(object["items"].take()) {
        Ok(items) => items,
        Err(error) => return Reading::unreadable(format!("items: {error}")),
    };
    let mut verdicts = vec![None; n_items];
    for Item { item, verdict } in items {
        match item.checked_sub(1).and_then(|place| verdicts.get_mut(place)) {
            None => return Reading::unreadable(format!("there is no item {item}; there are {n_items}")),
            Some(Some(_)) => return Reading::unreadable(format!("item {item} has two verdicts")),
            Some(place) => *place = Some(verdict),
        }
    }
    if let Some(missing) = verdicts.iter().position(Option::is_none) {
        return Reading::unreadable(format!("item {} has no verdict", missing + 1));
    }
    let count = |wanted: &[Verdict]| {
        verdicts.iter().flatten().filter(|verdict| wanted.contains(verdict)).count() as f64
    };
    let values = vec![n_items as f64, count(&[Verdict::Right, Verdict::Wrong]), count(&[Verdict::Right])];
    let of = |wanted: Verdict| -> Vec<String> {
        let places = verdicts.iter().enumerate().filter(|(_, verdict)| **verdict == Some(wanted));
        places.map(|(place, _)| (place + 1).to_string()).collect()
    };
    let said = [("right", Verdict::Right), ("wrong", Verdict::Wrong), ("absent", Verdict::Absent)];
    let said = said.map(|(word, verdict)| (word, of(verdict)));
    let said =
        said.iter().filter(|(_, of)| !of.is_empty()).map(|(word, of)| format!("{word}: {}", of.join(", ")));
    Reading::Read { values, reason: Some(said.collect::<Vec<_>>().join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_one_verdict() {
        let item = |item: usize, verdict: &str| format!("{{\"item\": {item}, \"verdict\": \"{verdict}\"}}");
        let all = |items: &[String]| format!("{{\"items\": [{}]}}", items.join(","));
        let good = all(&[item(2, "wrong"), item(1, "right"), item(3, "absent"), item(4, "right")]);
        let reason = Some("right: 1, 4; wrong: 2; absent: 3".to_owned());
        assert_eq!(read(&good, 4), Reading::Read { values: vec![4.0, 3.0, 2.0], reason });
        let refused = |text: &str| match read(text, 2) {
            Reading::Unreadable(why) => why,
            read => panic!("{read:?}"),
        };
        assert_eq!(refused(&good), "there is no item 3; there are 2");
        assert_eq!(refused(&all(&[item(1, "right")])), "item 2 has no verdict");
        assert_eq!(refused(&all(&[item(1, "right"), item(1, "right")])), "item 1 has two verdicts");
        assert_eq!(refused(&all(&[item(0, "right")])), "there is no item 0; there are 2");
        assert!(refused(&all(&[item(1, "maybe")])).contains("unknown variant `maybe`"));
        assert!(refused("{\"items\": 3}").starts_with("items: invalid type"));
        assert!(refused("no").starts_with("no object of JSON"));
    }
}
