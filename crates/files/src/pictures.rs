//! Which file of a folder shows an image, by its name.

use std::collections::HashMap;

use capeval_choice::SegmentId;

/// The file of each image: the one named after its id, with or without an extension, or, if the id is a number, one
/// whose name ends with that number, as in COCO.
pub fn files_of_images<'f>(files: &'f [String], ids: &[SegmentId]) -> Vec<Option<&'f str>> {
    let mut by_name: HashMap<&str, &str> = HashMap::new();
    let mut by_number: HashMap<i64, &str> = HashMap::new();
    for file in files {
        let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
        by_name.entry(stem).or_insert(file);
        let digits = stem
            .rfind(|c: char| !c.is_ascii_digit())
            .map_or(0, |last| last + stem[last..].chars().next().map_or(1, char::len_utf8));
        let number = stem.get(digits..).and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            by_number.entry(number).or_insert(file);
        }
    }
    for file in files {
        by_name.insert(file, file);
    }
    let of = |id: &SegmentId| {
        let number = match id {
            SegmentId::Integer(number) => by_number.get(number),
            SegmentId::Text(_) => None,
        };
        by_name.get(id.to_string().as_str()).or(number).copied()
    };
    ids.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_numbers_and_whole_names_before_stems() {
        let files = ["42", "42.jpg", "7.png", "COCO_val2014_000000000007.jpg", "a b.png", "ü9.png"];
        let files = files.map(str::to_owned);
        let ids = [SegmentId::from(42), SegmentId::from(7), SegmentId::from(9), SegmentId::from(8)];
        assert_eq!(files_of_images(&files, &ids), [Some("42"), Some("7.png"), Some("ü9.png"), None]);
        let ids = ["a b", "42.jpg", "COCO_val2014_000000000007", "b"].map(SegmentId::from);
        let named = [Some("a b.png"), Some("42.jpg"), Some("COCO_val2014_000000000007.jpg"), None];
        assert_eq!(files_of_images(&files, &ids), named);
    }
}
