//! No plan of a benchmark and no form of a phase makes its readers panic, and a plan that is read can be written and
//! read again.

use capeval_benchmarks::settings::Plan;

/// Writes the plan that another site's bundle, a file or a request describes, and reads it again.
pub fn survives(plan: &Plan) {
    let written = toml::to_string(plan).expect("a plan is TOML");
    let again: Plan = toml::from_str(&written).expect("the written plan can be read");
    assert_eq!(toml::to_string(&again).expect("a plan is TOML"), written);
    let json = serde_json::to_value(plan).expect("a plan is JSON");
    let again: Plan = serde_json::from_value(json.clone()).expect("the written plan can be read");
    assert_eq!(serde_json::to_value(again).expect("a plan is JSON"), json);
    let _ = plan.columns();
    for phase in &plan.phases {
        assert!(plan.phase(&phase.slug).is_some());
        let _ = (phase.columns(), phase.main_set(), phase.group_by(), phase.rank_by(), phase.pictures());
    }
}

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = [toml::from_str(text).ok(), serde_json::from_str(text).ok()];
    read.iter().flatten().for_each(survives);
    #[cfg(fuzzing)]
    survives_a_form(text);
}

/// A form, with a field on each line.
#[cfg(fuzzing)]
fn survives_a_form(text: &str) {
    let field =
        |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.replace('\\', "\n")));
    let fields: Vec<_> = text.lines().filter_map(field).collect();
    let phase = capeval_benchmarks::of_fields(fields.clone(), None);
    let _ = capeval_benchmarks::of_fields(fields, Some(&phase));
    survives(&Plan { phases: vec![phase], ..Plan::draft("ada@example.org".to_owned()) });
}
