//! No file makes the decoders of pictures panic, and what they accept can be prepared for a model.

use capeval_picture::{Order, Resize, decode, probe};

pub fn check(bytes: &[u8]) {
    // Large pictures take long, and nothing else.
    let is_small = probe(bytes).is_ok_and(|(width, height)| u64::from(width) * u64::from(height) < 1 << 18);
    if is_small && let Ok(picture) = decode(bytes) {
        assert_eq!(picture.to_rgb().bytes.len(), 3 * picture.width * picture.height);
        for order in [Order::Openai, Order::HuggingFace] {
            assert_eq!(picture.square(16, Resize::Shorter(16), order).len(), 3 * 16 * 16);
        }
    }
}
