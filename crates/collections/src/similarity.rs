//! Compares two pictures by their perceptual hashes.

/// Perceptual hashes that differ in no more bits are of pictures that are nearly the same.
pub const NEAR: u32 = 6;

/// The parts of a perceptual hash, of which two have one in common if they differ in at most seven bits.
pub fn bands(phash: &str) -> Vec<String> {
    let parts = phash.as_bytes().chunks(2).enumerate();
    parts.map(|(k, part)| format!("{k}{}", String::from_utf8_lossy(part))).collect()
}

/// In how many bits two perceptual hashes differ.
pub fn distance(a: &str, b: &str) -> u32 {
    match (u64::from_str_radix(a, 16), u64::from_str_radix(b, 16)) {
        (Ok(a), Ok(b)) => (a ^ b).count_ones(),
        _ => u64::BITS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_hashes_have_a_part_in_common() {
        let (hash, near) = ("0f1e2d3c4b5a6978", "0f1e2d3c4b5a6907");
        assert_eq!(distance(hash, near), 7);
        assert_eq!(bands(hash).len(), 8);
        assert!(bands(hash).iter().any(|band| bands(near).contains(band)));
        assert_eq!(distance("", "x"), 64);
    }
}
