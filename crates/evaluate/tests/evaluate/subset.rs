//! Scores of some images equal those of a run on these images alone, bit for bit.

use capeval_evaluate::registry::Resources;
use capeval_evaluate::{ReferenceSet, System, SystemScores, evaluate, evaluate_and_keep};
use capeval_metric::AnyMetric;

use crate::support::{build_from, meteor_resources};

/// Captions with ends at which the tokenizer `ptb` reads on, and others.
const ENDS: [&str; 6] = ["vitamin c.", "a dog.", "plan b.", "two men on a hill", "mr. j.", ""];
const STARTS: [&str; 4] = ["a", "The", "it is", "\"so"];

fn caption(image: usize, r: usize) -> String {
    let (start, end) = (STARTS[(image * 3 + r) % STARTS.len()], ENDS[(image * 5 + r * 2) % ENDS.len()]);
    format!("{start} man {} near {end}", ["runs", "sits", "plays"][(image + r) % 3])
}

fn references(images: &[u32], order: Option<&[u32]>) -> ReferenceSet {
    let texts: Vec<Vec<String>> = images
        .iter()
        .map(|image| *image as usize)
        .map(|image| (0..1 + image % 4).map(|r| caption(image, r)).collect())
        .collect();
    let set: ReferenceSet = texts.iter().map(|texts| texts.iter().map(String::as_str)).collect();
    match order {
        Some(order) => {
            let place = |image: &u32| images.binary_search(image).ok().map(|place| place as u32);
            set.in_order(order.iter().filter_map(place).collect())
        }
        None => set,
    }
}

fn system(name: &str, described: &[u32], among: &[u32], shift: usize) -> System {
    let described: Vec<u32> = described.iter().copied().filter(|image| among.contains(image)).collect();
    let text = |image: &u32| caption(*image as usize + shift, shift);
    let place = |image: &u32| among.binary_search(image).unwrap() as u32;
    let texts: Vec<String> = described.iter().map(text).collect();
    System {
        name: name.into(),
        images: described.iter().map(place).collect(),
        texts: texts.iter().map(String::as_str).collect(),
    }
}

fn bits(scores: &SystemScores) -> Vec<(String, Vec<u64>, Vec<u64>)> {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
    let of =
        |m: &capeval_evaluate::MetricScores| (m.signature.to_string(), bits(&m.corpus), bits(&m.segments()));
    scores.metrics.iter().map(of).collect()
}

#[test]
fn some_images_score_as_if_they_were_alone() {
    let resources = Resources::default().with(meteor_resources());
    let mut names =
        vec!["bleu", "rouge-l", "cider-d", "cider", "cider-d-paper", "bleu:tok=13a", "rouge155", "chrf"];
    if resources.has::<capeval_meteor::Resources>() {
        names.push("meteor");
    }
    let metrics: Vec<AnyMetric> = build_from(&names, &resources);
    let all: Vec<u32> = (0..60).collect();
    let reverse: Vec<u32> = all.iter().rev().copied().collect();
    let some: Vec<u32> = all.iter().copied().filter(|image| image % 5 != 1).collect();
    let groups: Vec<Vec<u32>> = vec![
        all.clone(),
        all.iter().copied().filter(|image| image % 2 == 0).collect(),
        all.iter().copied().filter(|image| image % 7 == 3).collect(),
        vec![11],
        vec![1],
        Vec::new(),
        (20..37).collect(),
    ];
    for order in [None, Some(&reverse[..])] {
        let mut set = references(&all, order);
        let systems = [system("a", &all, &all, 1), system("b", &some, &all, 2)];
        let (whole, sessions) = evaluate_and_keep(&mut set, &systems, &metrics, &());
        let mut differing = 0;
        for group in &groups {
            for (s, described) in [&all, &some].into_iter().enumerate() {
                let here = sessions.evaluate_some(&set, (&systems, s), &metrics, &whole[s], group);
                let alone = system("alone", described, group, s + 1);
                let images: Vec<u32> = alone.images.iter().map(|place| group[*place as usize]).collect();
                assert_eq!(here.images, images);
                let alone = evaluate(&mut references(group, order), &[alone], &metrics, &()).swap_remove(0);
                assert_eq!(bits(&here), bits(&alone), "{group:?} {s}");
                differing += usize::from(bits(&whole[s].select(group)) != bits(&here));
            }
        }
        assert!(differing >= 8, "the groups' own document frequencies change scores: {differing}");
    }
}
