//! Tests what holds for every metric of the registry, on any text.

use capeval_evaluate::registry::{self, kinds};
use capeval_evaluate::{
    ReferenceSet, System, SystemScores, evaluate, evaluate_and_forget, evaluate_and_keep,
};
use capeval_metric::{About, AnyMetric, Direction, Explanation, Resources};
use proptest::prelude::*;

/// An image: its candidate and its references.
type Image = (String, Vec<String>);

fn metrics() -> Vec<AnyMetric> {
    kinds()
        .filter(|kind| kind.need.is_none())
        .map(|kind| registry::build(kind.name, &[], &Resources::default()).unwrap())
        .collect()
}

fn score(images: &[Image], chosen: &[u32]) -> SystemScores {
    let (mut set, system) = inputs(images, chosen);
    evaluate(&mut set, &[system], &metrics(), &()).swap_remove(0)
}

/// The explanations of every image by every metric, metric by metric.
fn explanations(images: &[Image], chosen: &[u32]) -> Vec<Vec<Explanation>> {
    let (mut set, system) = inputs(images, chosen);
    let systems = [system];
    let (_, sessions) = evaluate_and_keep(&mut set, &systems, &metrics(), &());
    sessions.explain(&set, &systems, chosen, |explanation| explanation).swap_remove(0)
}

fn inputs(images: &[Image], chosen: &[u32]) -> (ReferenceSet, System) {
    let set = images.iter().map(|(_, refs)| refs.iter().map(String::as_str)).collect();
    let texts = chosen.iter().map(|i| images[*i as usize].0.as_str()).collect();
    (set, System { name: "s".into(), images: chosen.to_vec(), texts })
}

fn all(images: &[Image]) -> Vec<u32> {
    (0..images.len() as u32).collect()
}

/// Corpus and segment scores to the last bit, with the signature.
fn digits(scores: &SystemScores) -> Vec<(String, Vec<u64>, Vec<u64>)> {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect();
    scores.metrics.iter().map(|m| (m.signature.to_string(), bits(&m.corpus), bits(&m.segments()))).collect()
}

fn text() -> impl Strategy<Value = String> {
    let odd = ["the", "dog's", "U.S.", "3 1/2", "...", "don't", "café", "我们", "-", "S.", "\u{2028}\r\0"];
    let word = prop_oneof![
        6 => "[a-e]".boxed(),
        3 => proptest::sample::select(odd.map(str::to_owned).to_vec()).boxed(),
        1 => "\\PC{0,6}".boxed(),
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Rows of images: each image is described by the candidates of some others as well.
fn rows(images: &[Image], times: &[usize]) -> Vec<Image> {
    let of_image = |(i, (_, references)): (usize, &Image)| {
        let candidate = move |k: usize| images[(i + k / 2) % images.len()].0.clone();
        (0..times[i % times.len()]).map(move |k| (candidate(k), references.clone())).collect::<Vec<_>>()
    };
    images.iter().enumerate().flat_map(of_image).collect()
}

fn corpus() -> impl Strategy<Value = Vec<Image>> {
    proptest::collection::vec((text(), proptest::collection::vec(text(), 1..4)), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_that_share_references_score_as_if_each_had_its_own(
        images in corpus(),
        times in proptest::collection::vec(0_usize..5, 1..4),
    ) {
        let rows = rows(&images, &times);
        prop_assume!(!rows.is_empty());
        let (mut own, system) = inputs(&rows, &all(&rows));
        let lists: Vec<Vec<&str>> =
            rows.iter().map(|(_, references)| references.iter().map(String::as_str).collect()).collect();
        let mut shared = ReferenceSet::of_rows(&lists);
        for (row, list) in lists.iter().enumerate() {
            prop_assert!(shared.of(row).eq(list.iter().copied()));
        }
        let systems = [system];
        let [own, shared] = [&mut own, &mut shared].map(|set| evaluate(set, &systems, &metrics(), &()).swap_remove(0));
        prop_assert_eq!(digits(&own), digits(&shared));
    }

    #[test]
    fn scores_stay_in_range(images in corpus()) {
        for metric in score(&images, &all(&images)).metrics {
            let parts = metric.metric.parts();
            for (k, value) in metric.corpus.iter().copied().chain(metric.segments()).enumerate() {
                let part = &parts[k % parts.len()];
                let slack = 1e-9 * part.max.abs().clamp(1.0, 100.0);
                prop_assert!(value >= part.min - slack && value <= part.max + slack, "{} = {value}", part.key);
            }
        }
    }

    #[test]
    fn what_calls_itself_a_mean_is_the_mean_of_the_segments(images in corpus()) {
        for scores in score(&images, &all(&images)).metrics.iter().filter(|s| s.metric.about().is_mean) {
            let n_parts = scores.corpus.len();
            let mut corpus = vec![0.0; n_parts];
            scores.metric.score(&scores.table.total(), &mut corpus);
            for (k, value) in corpus.iter().enumerate() {
                let of_part = scores.segments().into_iter().skip(k).step_by(n_parts);
                let mean = of_part.sum::<f64>() / images.len() as f64;
                prop_assert!((value - mean).abs() < 1e-9, "{}: {value}, not {mean}", scores.signature);
            }
        }
    }

    #[test]
    fn the_numbers_of_images_change_no_digit_if_their_order_is_kept(images in corpus(), by in 0usize..8) {
        let mut turned = images.clone();
        let (by, n) = (by % images.len(), images.len());
        turned.rotate_left(by);
        let (set, system) = inputs(&turned, &all(&turned));
        let mut set = set.in_order((0..n).map(|image| ((image + n - by) % n) as u32).collect());
        let turned = evaluate(&mut set, &[system], &metrics(), &()).swap_remove(0);
        let plain = score(&images, &all(&images));
        for (a, b) in plain.metrics.iter().zip(&turned.metrics) {
            prop_assert_eq!(&a.corpus, &b.corpus, "{}", a.signature);
            let mut segments = a.segments();
            segments.rotate_left(by * a.corpus.len());
            prop_assert_eq!(segments, b.segments(), "{}", a.signature);
        }
    }

    #[test]
    fn the_numbers_of_an_explanation_combine_to_the_score(images in corpus()) {
        let scores = score(&images, &all(&images));
        let explained = explanations(&images, &all(&images));
        for (metric, explained) in scores.metrics.iter().zip(&explained) {
            let segments = metric.segments();
            let n_parts = metric.corpus.len();
            prop_assert_eq!(explained.len(), images.len());
            for (values, explanation) in segments.chunks_exact(n_parts).zip(explained) {
                let name = &metric.signature;
                prop_assert!(explanation.is_sound(), "{name}: {explanation:?}");
                prop_assert_eq!(explanation.scores.len(), n_parts, "{}", name);
                for (value, step) in values.iter().zip(&explanation.scores) {
                    prop_assert_eq!(step.value.map(f64::to_bits), Some(value.to_bits()), "{}", name);
                    prop_assert_eq!(step.check(1e-9), Ok(()), "{}", name);
                }
            }
        }
    }

    #[test]
    fn the_order_of_images_changes_no_digit_where_each_is_read_on_its_own(images in corpus(), by in 0usize..8) {
        let mut turned = images.clone();
        let by = by % images.len();
        turned.rotate_left(by);
        let each = |images: &[Image]| {
            let (mut set, system) = inputs(images, &all(images));
            let metrics: Vec<AnyMetric> = metrics().into_iter().map(AnyMetric::each).collect();
            evaluate(&mut set, &[system], &metrics, &()).swap_remove(0)
        };
        for (a, b) in each(&images).metrics.iter().zip(&each(&turned).metrics) {
            prop_assert_eq!(&a.corpus, &b.corpus, "{}", a.signature);
            let mut segments = a.segments();
            segments.rotate_left(by * a.corpus.len());
            prop_assert_eq!(segments, b.segments(), "{}", a.signature);
        }
    }

    #[test]
    fn texts_that_no_metric_reads_are_forgotten_and_change_no_digit(images in corpus(), step in 1_usize..3) {
        let chosen: Vec<u32> = all(&images).into_iter().step_by(step).collect();
        let every = metrics();
        let had_texts = images.iter().any(|(_, references)| references.iter().any(|text| !text.is_empty()));
        for metrics in every.chunks(1).chain([&every[..]]) {
            let (mut set, system) = inputs(&images, &chosen);
            let kept = evaluate(&mut set, std::slice::from_ref(&system), metrics, &()).swap_remove(0);
            let forgotten = evaluate_and_forget(&mut set, vec![system], metrics, &()).swap_remove(0);
            prop_assert_eq!(digits(&kept), digits(&forgotten));
            let reads_texts = metrics.iter().any(|metric| metric.about().reads_texts);
            let has_texts = (0..images.len()).any(|image| set.of(image).any(|text| !text.is_empty()));
            prop_assert_eq!(has_texts, had_texts && (reads_texts || chosen.len() < images.len()));
        }
    }

    #[test]
    fn other_images_change_nothing_where_they_do_not_take_part(images in corpus(), other in corpus()) {
        let alone = score(&images, &all(&images));
        let chosen = all(&images);
        let mixed: Vec<Image> = images.into_iter().chain(other).collect();
        prop_assert_eq!(digits(&alone), digits(&score(&mixed, &chosen)));
    }
}

/// Enough captions for several threads and shards, from a fixed sequence.
fn many() -> Vec<Image> {
    let mut state = 1u64;
    let mut word = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        format!("w{}", (state >> 33) % 97 * ((state >> 50) % 3))
    };
    let mut caption = move || (0..9).map(|_| word()).collect::<Vec<_>>().join(" ");
    (0..3_000).map(|_| (caption(), (0..3).map(|_| caption()).collect())).collect()
}

#[test]
fn threads_change_no_digit() {
    let images = many();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| digits(&score(&images, &all(&images))))
    };
    assert!(on(1) == on(2) && on(1) == on(7));
}

#[test]
fn a_reference_as_candidate_beats_another_caption() {
    let images = many()[..50].to_vec();
    let copies: Vec<Image> = images.iter().map(|(_, refs)| (refs[1].clone(), refs.clone())).collect();
    let (plain, copies) = (score(&images, &all(&images)), score(&copies, &all(&images)));
    // The F1 of objects sees the words of objects only.
    let both = plain.metrics.iter().zip(&copies.metrics);
    for (plain, copy) in both.filter(|(plain, _)| plain.signature.metric() != "object-f1") {
        for ((part, a), b) in plain.metric.parts().iter().zip(&plain.corpus).zip(&copy.corpus) {
            let better = match part.direction {
                Direction::HigherIsBetter => b > a,
                Direction::LowerIsBetter => b < a,
                Direction::Neither => true,
            };
            assert!(better, "{}: {b} for a copy, {a} for another caption", part.key);
        }
    }
}

#[test]
fn every_metric_is_named_once_and_described() {
    for (k, kind) in kinds().enumerate() {
        assert!(kinds().take(k).all(|other| other.name != kind.name), "{} twice", kind.name);
        assert!(!kind.summary.is_empty() && !kind.paper.is_empty() && !kind.program.is_empty());
        let About { signature, parts, .. } = kind.about().unwrap();
        assert_eq!(signature.metric(), kind.name);
        assert!(parts.iter().all(|part| part.key.starts_with(kind.name)), "{}", kind.name);
        assert_eq!(
            registry::build(kind.name, &[], &Resources::default()).is_ok(),
            kind.need.is_none(),
            "{}",
            kind.name
        );
        if kind.need.is_some() {
            continue;
        }
        for setting in kind.settings {
            let spec = format!("{}:{}={}", kind.name, setting.name, setting.default);
            let set =
                registry::build(&spec, &[], &Resources::default()).map(|metric| metric.signature().clone());
            assert_eq!(set.as_ref(), Ok(&signature), "the default of {spec}");
        }
    }
}

#[test]
fn every_choice_of_every_setting_builds_and_changes_the_signature() {
    for kind in kinds().filter(|kind| kind.need.is_none()) {
        let sign = |spec: &str| {
            let metric = registry::build(spec, &[], &Resources::default());
            metric.map(|metric| metric.signature().clone())
        };
        for setting in kind.settings {
            let mut signatures = vec![kind.about().unwrap().signature];
            for value in setting.values.names().into_iter().filter(|value| *value != setting.default) {
                match sign(&format!("{}:{}={value}", kind.name, setting.name)) {
                    Ok(signature) => {
                        assert!(!signatures.contains(&signature), "{signature} twice");
                        signatures.push(signature);
                    }
                    // Some choices need data.
                    Err(error) => {
                        let needs =
                            error.remedy().is_some_and(|remedy| remedy.to_string().starts_with("set "));
                        assert!(needs && !error.to_string().contains("takes"), "{error}");
                    }
                }
            }
        }
    }
}
