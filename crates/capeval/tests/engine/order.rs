//! The tokenizer `ptb` reads captions in the order of pycocoevalcap: what follows a caption decides whether a single
//! letter at its end keeps its full stop. The expected tokens are those of pycocoevalcap 1.2.

use capeval::corpus::{Captions, Empty, Missing, SegmentId};
use capeval::{MetricOptions, PrepareOptions, PrepareRequest, ReferenceSource, ScoreOptions, ScoreRequest};

fn captions(name: &str, rows: &[(i64, &str)]) -> Captions {
    let mut captions = Captions::new(name);
    rows.iter().for_each(|(id, text)| captions.push(SegmentId::from(*id), text));
    captions
}

/// ROUGE-L of each image, in the order of the report.
fn rouge(
    references: impl Into<ReferenceSource>,
    candidates: &[(i64, &str)],
    images: Option<&[i64]>,
) -> Vec<f64> {
    let options = ScoreOptions {
        metrics: MetricOptions::new(["rouge-l"]),
        missing: Missing::Skip,
        empty: Empty::Keep,
        images: images.map(|images| images.iter().map(|id| SegmentId::from(*id)).collect()),
        segments: true,
        ..ScoreOptions::default()
    };
    let request = ScoreRequest::new(references, [("system", captions("system", candidates))]);
    let report = capeval::score(request.map(|_| options)).unwrap();
    report.systems[0].segments.clone().unwrap().values
}

/// Returns true if the reference of each image, which ends in `t.`, has lost its full stop.
fn lost(references: impl Into<ReferenceSource>, described: &[i64], images: Option<&[i64]>) -> Vec<bool> {
    let candidates: Vec<(i64, &str)> = described.iter().map(|id| (*id, "one t")).collect();
    rouge(references, &candidates, images).into_iter().map(|score| score > 0.0).collect()
}

fn prepared(references: Captions) -> ReferenceSource {
    let prepared = capeval::prepare(PrepareRequest {
        references,
        sources: Vec::new(),
        options: PrepareOptions { metrics: MetricOptions::new(["rouge-l"]), ..PrepareOptions::default() },
        resources: capeval::evaluate::registry::Resources::default(),
        progress: &(),
    });
    ReferenceSource::Prepared { prepared: Box::new(prepared.unwrap()), source: "prepared".into() }
}

#[test]
fn a_candidate_equal_to_its_reference_matches_it() {
    let references = captions("r", &[(1, "a shirt with a t."), (1, "a man in black")]);
    assert_eq!(rouge(references, &[(1, "a shirt with a t.")], None), [1.0]);
}

#[test]
fn images_without_a_list_are_read_in_the_order_of_the_references() {
    let rows = [(7, "a t."), (3, "The b t."), (7, "c t."), (5, "a t.")];
    // 7: "a t.", "c t.", 3: "The b t.", 5: "a t.".
    assert_eq!(lost(captions("r", &rows), &[3, 5, 7], None), [true, false, false]);
}

#[test]
fn images_are_read_in_the_order_of_cocos_list() {
    let rows = [(7, "a t."), (3, "The b t."), (5, "a t.")];
    let mut references = captions("r", &rows);
    [5, 3, 7, 9].into_iter().for_each(|id| references.declare(SegmentId::from(id)));
    assert_eq!(lost(references, &[3, 5, 7], None), [false, false, true]);
    let mut references = captions("r", &rows);
    // An image that the list lacks comes last.
    [3, 7].into_iter().for_each(|id| references.declare(SegmentId::from(id)));
    assert_eq!(lost(references, &[3, 5, 7], None), [false, false, false]);
}

#[test]
fn an_image_that_takes_no_part_is_not_read() {
    let rows = [(1, "a t."), (2, "The b t."), (3, "the t."), (4, "In t.")];
    let all = [true, false, true, false];
    assert_eq!(lost(captions("r", &rows), &[1, 2, 3, 4], None), all);
    assert_eq!(lost(prepared(captions("r", &rows)), &[1, 2, 3, 4], None), all);
    for (taken, expected) in [
        (&[1, 3, 4][..], &[false, true, false][..]),
        (&[1, 2, 4], &[true, true, false]),
        (&[1, 4], &[true, false]),
        (&[1], &[false]),
    ] {
        for images in [None, Some(taken)] {
            assert_eq!(lost(captions("r", &rows), taken, images), expected, "{taken:?} {images:?}");
            assert_eq!(lost(prepared(captions("r", &rows)), taken, images), expected, "{taken:?} {images:?}");
        }
    }
}

#[test]
fn a_look_ahead_passes_over_blank_captions() {
    let rows = [(1, "a t."), (1, ""), (2, " "), (2, "The b"), (3, "a t."), (4, "\t"), (4, "the b")];
    assert_eq!(lost(captions("r", &rows), &[1, 2, 3], None), [true, false, false]);
    assert_eq!(lost(captions("r", &rows), &[1, 3], None), [false, false]);
}

#[test]
fn candidates_are_read_in_the_order_of_images_too() {
    let references = || {
        let mut references = captions("r", &[(1, "a t"), (2, "b t"), (3, "the c t")]);
        [2, 3, 1].into_iter().for_each(|id| references.declare(SegmentId::from(id)));
        references
    };
    let scores = |candidates: &[(i64, &str)]| {
        rouge(references(), candidates, None).into_iter().map(|score| score == 1.0).collect::<Vec<_>>()
    };
    // 2: "b t.", 3: "The c t.", 1: "a t.", and the file ends.
    assert_eq!(scores(&[(3, "The c t."), (2, "b t."), (1, "a t.")]), [false, true, false]);
    assert_eq!(scores(&[(1, "A t."), (2, "b t."), (3, "The c t.")]), [false, true, true]);
    assert_eq!(scores(&[(1, "A t."), (2, "b t.")]), [false, true]);
    assert_eq!(scores(&[(1, ""), (2, "b t."), (3, " ")]), [false, false, false]);
}
