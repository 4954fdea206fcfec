//! Computes the overlap of two events in time: intersection over union, in the order of operations of the reference
//! programs.
//!
//! Quirks kept on purpose: the union grows by 1e-8, so that [0, 3] and [0, 10] overlap by 0.2999999997, less than 0.3,
//! and an event and itself by less than 1; an event that ends before it starts overlaps with no other.

use crate::Event;

/// The overlap of a prediction with a reference.
pub fn overlap(prediction: &Event, reference: &Event) -> f64 {
    intersection_over_union((prediction.start, prediction.end), (reference.start, reference.end))
}

/// As [`overlap`], with the two ends of each event put in order first, as scenic and TimeChat do.
pub fn ordered_overlap(prediction: &Event, reference: &Event) -> f64 {
    let ordered = |event: &Event| (event.start.min(event.end), event.start.max(event.end));
    intersection_over_union(ordered(prediction), ordered(reference))
}

fn intersection_over_union((start, end): (f64, f64), (other_start, other_end): (f64, f64)) -> f64 {
    let intersection = (other_end.min(end) - other_start.max(start)).max(0.0);
    let union = (other_end.max(end) - other_start.min(start)).min(other_end - other_start + end - start);
    intersection / (union + 1e-8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event((start, end): (f64, f64)) -> Event {
        Event { start, end, caption: String::new() }
    }

    #[test]
    fn a_hundred_millionth_in_the_union_decides_at_thresholds() {
        let of = |a, b| overlap(&event(a), &event(b));
        assert_eq!(of((0.0, 3.0), (0.0, 10.0)), 0.299_999_999_699_999_96);
        assert_eq!(of((0.0, 10.0), (0.0, 10.0)), 0.999_999_998_999_999_9);
        assert_eq!(of((0.0, 3.000_000_003), (0.0, 10.0)), 0.299_999_999_999_999_93);
        assert_eq!(of((0.0, 1.0), (2.0, 3.0)), 0.0);
    }

    #[test]
    fn an_event_that_ends_before_it_starts_overlaps_only_if_its_ends_are_put_in_order() {
        let (reversed, other) = (event((10.0, 5.0)), event((0.0, 20.0)));
        assert_eq!(overlap(&reversed, &other), 0.0);
        assert_eq!(ordered_overlap(&reversed, &other), 0.249_999_999_875);
    }
}
