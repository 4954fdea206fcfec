//! The published values come out of the real files.

use capeval::choice::Code;
use capeval_meta::Verdict;
use capeval_testkit::real;

use super::*;

#[test]
fn published_values_of_flickr8k_are_met() {
    let Some(folder) = real("data/flickr8k") else { return };
    let options = MetaOptions { subset: false, ..options(&["bleu", "rouge-l", "cider-d"]) };
    let report = run_with(&["flickr8k-expert", "flickr8k-cf"], &folder, Vec::new(), options).unwrap();
    assert_eq!(report.unmet(), [""; 0]);
    let [expert, crowd] = &report.outcomes[..] else { panic!("two benchmarks") };
    assert_eq!((expert.n_points, crowd.n_points), (16_992, 47_830));
    for (outcome, key, printed) in [
        (expert, "cider-d", "43.9"),
        (expert, "bleu-1", "32.3"),
        (crowd, "rouge-l", "19.9"),
        (crowd, "bleu-4", "16.9"),
    ] {
        let published = &outcome.measured(key).unwrap().customary().unwrap().published[0];
        assert_eq!((&*published.printed, &published.verdict), (printed, &Verdict::Equal), "{key}");
    }
    assert_eq!(expert.measured("cider-d").unwrap().letters, "a");
    assert!(expert.notices.iter().all(|notice| notice.code != Code::OtherFile));
}
