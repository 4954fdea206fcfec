//! Flickr8k's own files: `ExpertAnnotations.txt` (image, caption, three ratings from 1 to 4) and
//! `CrowdFlowerAnnotations.txt` (image, caption, share of yes, number of yes, number of no).
//!
//! Captions are named by the image that they were written for and their number, `2549968784_39bfbe44f9.jpg#2`; their
//! texts are in `Flickr8k.token.txt`.

use super::{Gatherer, RatedCaption};
use crate::{Error, ErrorKind, Position, SegmentId};

/// Reads either file; `None` if it has another format.
pub(super) fn read(text: &str, name: &str) -> Result<Option<Gatherer>, Error> {
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((_, first)) = lines().next() else { return Ok(None) };
    let is_ours = |line: &str| {
        let mut fields = line.split('\t');
        fields.next().is_some() && fields.next().and_then(judged).is_some() && fields.count() == 3
    };
    if !is_ours(first) {
        return Ok(None);
    }
    let mut rows = Vec::new();
    for (number, line) in lines() {
        let fault = |message: &str| {
            let position = Position { line: Some(number as u64 + 1), ..Position::default() };
            Error::new(ErrorKind::Shape, name, message).at(position)
        };
        let fields: Vec<&str> = line.trim_end_matches('\r').split('\t').collect();
        let [image, caption, numbers @ ..] = &fields[..] else {
            return Err(fault("expected an image, a caption and three numbers, separated by tabs"));
        };
        let caption = judged(caption).ok_or_else(|| fault("expected a caption such as 123.jpg#2"))?;
        let numbers: Option<Vec<f64>> = numbers
            .iter()
            .map(|text| text.trim().parse().ok().filter(|number: &f64| number.is_finite()))
            .collect();
        let numbers: [f64; 3] = numbers
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or_else(|| fault("expected three numbers after image and caption"))?;
        rows.push((SegmentId::from(*image), caption, numbers));
    }
    // If the first number equals the share of the counts in all rows, it is not a rating by an expert.
    let is_share = |[share, yes, no]: &[f64; 3]| yes + no > 0.0 && (share - yes / (yes + no)).abs() < 1e-3;
    let is_crowd = rows.iter().all(|(_, _, numbers)| is_share(numbers));
    let mut gathered = Gatherer::default();
    for (image, caption, numbers) in rows {
        let ratings = if is_crowd { &numbers[..1] } else { &numbers[..] };
        gathered.add(image, Some(caption), None, ratings);
    }
    Ok(Some(gathered))
}

/// Parses the name of a caption.
fn judged(name: &str) -> Option<RatedCaption> {
    let (image, number) = name.rsplit_once('#')?;
    let number = number.trim().parse().ok()?;
    (!image.is_empty()).then(|| RatedCaption::Reference { image: SegmentId::from(image), number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experts_and_crowds_are_told_apart() {
        let experts = read("a.jpg\tb.jpg#2\t1\t1\t2\nb.jpg\tb.jpg#0\t4\t4\t3\n", "x").unwrap().unwrap().items;
        assert_eq!(experts[0].ratings, [1.0, 1.0, 2.0]);
        assert_eq!(experts[1].caption, Some(RatedCaption::Reference { image: "b.jpg".into(), number: 0 }));
        let crowd = read("a.jpg\tb.jpg#2\t0.333333333333\t1\t2\r\na.jpg\tb.jpg#3\t0\t0\t3\r\n", "x");
        let ratings: Vec<Vec<f64>> =
            crowd.unwrap().unwrap().items.into_iter().map(|item| item.ratings).collect();
        assert_eq!(ratings, [[0.333_333_333_333], [0.0]]);
        assert_eq!(read("image_id,rating\n1,2\n", "x").unwrap(), None);
    }

    #[test]
    fn a_damaged_line_is_named() {
        let error = read("a.jpg\tb.jpg#2\t1\t1\t2\na.jpg\tb.jpg#2\t1\tnan\t2\n", "x").unwrap_err();
        assert_eq!(error.position().line, Some(2));
    }
}
