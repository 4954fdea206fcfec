//! Rewards are the scores of the forms, whatever else is in a batch.

use capeval_dense::{Event, EventFile, Program, SodaMetric, WordMetric, WordMetrics, evaluate, reward};
use capeval_evaluate::registry::Resources;

fn light() -> WordMetrics {
    WordMetrics::new(&Resources::default(), &[WordMetric::Cider, WordMetric::Rouge]).unwrap()
}

fn event(start: f64, caption: &str) -> Event {
    Event { start, end: start + 8.0, caption: caption.to_owned() }
}

fn file(events: &[Event]) -> EventFile {
    EventFile { videos: [("v".to_owned(), events.to_vec())].into_iter().collect(), ..EventFile::default() }
}

#[test]
fn rewards_are_the_scores_of_the_forms() {
    let metrics = light();
    let references = [
        file(&[event(0.0, "a man rides a horse"), event(10.0, "the horse jumps")]),
        file(&[event(2.0, "a rider on a horse")]),
    ];
    let candidates = [
        vec![event(0.0, "a man rides"), event(11.0, "the horse jumps over a capital T.")],
        vec![event(30.0, "nothing of it")],
        vec![],
        vec![event(0.0, "..."), event(1.0, "")],
    ];
    let batch: Vec<(&str, &[Event])> = candidates.iter().map(|events| ("v", &events[..])).collect();
    for metric in [SodaMetric::Cider, SodaMetric::Rouge] {
        let rewards = reward(&references, &batch, metric, &metrics).unwrap();
        for (k, events) in candidates.iter().enumerate() {
            let alone = reward(&references, &batch[k..=k], metric, &metrics).unwrap();
            assert_eq!(rewards[k], alone[0], "a batch changes no digit");
            if events.is_empty() || k == 3 {
                assert_eq!(rewards[k].soda_c, 0.0);
                continue;
            }
            let soda = format!("soda-c:{metric}").parse().unwrap();
            let forms = evaluate(&references, &file(events), &[soda, Program::Capeval.into()], &metrics);
            assert_eq!(rewards[k].soda_c, forms[0].measure("f1").unwrap().value);
            assert_eq!(rewards[k].f1, forms[1].measure("f1").unwrap().value);
        }
        assert!(rewards[0].soda_c > 0.0 && rewards[0].f1 > 0.0);
    }
    let refusal = reward(&references, &[("w", &candidates[0])], SodaMetric::Cider, &metrics).unwrap_err();
    assert!(refusal.to_string().contains("no events of the video w"));
    let refusal = reward(&references, &batch, SodaMetric::Meteor, &metrics).unwrap_err();
    assert!(refusal.to_string().contains("needs meteor"), "{refusal}");
}
