//! No condition and no property of images makes a parser panic, and what is a condition without names is one with them.

use capeval::{GroupBy, check_requirement};
use capeval_choice::{Condition, Refusal};

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let accepts = check_requirement(text).is_ok();
    if let Ok(condition) = Condition::parse(text, None) {
        assert!(accepts, "{text}");
        let names: Vec<&str> = [&condition.left, &condition.right]
            .into_iter()
            .flat_map(|side| side.names())
            .flat_map(|(system, name)| system.into_iter().chain([name]))
            .collect();
        let value = |_: Option<&str>, _: &str| 0.5;
        condition.relation.holds(condition.left.value(&value), condition.right.value(&value));
        // Without names, a hyphen is always a part of one.
        let _ = Condition::parse(text, Some(&names)).map(|other| assert_eq!(other, condition));
    }
    let _ = GroupBy::parse(text, &mut |name| Err(Refusal::new(name)));
}
