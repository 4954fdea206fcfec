//! Prepares pictures as CLIP does: the shorter side becomes that of a square, which is cut from the middle.
//!
//! Sources: `_transform` in `clip/clip.py` of OpenAI, with torchvision; `CLIPImageProcessor` on PIL of transformers.
//!
//! Quirks kept on purpose:
//! - orientation in EXIF is not applied;
//! - the longer side is cut down to whole pixels, and not rounded;
//! - OpenAI's cut begins at half of what is too much, halves rounded to even; Hugging Face's rounds them down, so both
//!   differ by a pixel where 3 is left over from a division by 4, as for pictures of 640 × 427;
//! - OpenAI's picture becomes RGB after that, so palettes are resized without a filter, and Hugging Face's before.

use crate::picture::{Mode, Picture};

/// Whose order of steps it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// OpenAI's: resize, cut with halves rounded to even, make it RGB.
    Openai,
    /// Hugging Face's on PIL: make it RGB, resize, cut with halves rounded down.
    HuggingFace,
}

impl Picture {
    /// The square in the middle, with sides of `side` pixels: red, green and blue of each, row by row.
    pub fn square(&self, side: usize, order: Order) -> Vec<u8> {
        let converted;
        let picture = match (order, self.mode) {
            (Order::Openai, _) | (Order::HuggingFace, Mode::Rgb) => self,
            (Order::HuggingFace, _) => {
                converted = self.to_rgb();
                &converted
            }
        };
        let (short, long) = (picture.width.min(picture.height).max(1), picture.width.max(picture.height));
        let longer = side as f64 * long as f64 / short as f64;
        let (width, height) = match picture.width <= picture.height {
            true => (side, longer as usize),
            false => (longer as usize, side),
        };
        // The size of the longer side, cut, is never below that of the square.
        let (width, height) = (width.max(side), height.max(side));
        let resized = if short == side { picture.clone() } else { picture.resized(width, height) };
        let start = |length: usize| {
            let spare = length.saturating_sub(side);
            match order {
                Order::Openai => half_to_even(spare),
                Order::HuggingFace => spare / 2,
            }
        };
        resized.cropped(start(resized.width), start(resized.height), side, side).to_rgb().bytes
    }
}

/// Half of a number; halves are rounded to even, as Python does.
fn half_to_even(number: usize) -> usize {
    let half = number / 2;
    if number % 2 == 1 && half % 2 == 1 { half + 1 } else { half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_of_openai_rounds_halves_to_even() {
        let starts: Vec<usize> = (0..8).map(half_to_even).collect();
        assert_eq!(starts, [0, 0, 1, 2, 2, 2, 3, 4]);
        let picture = Picture {
            mode: Mode::Grey,
            width: 335,
            height: 224,
            bytes: (0..224 * 335).map(|k| (k % 335 % 256) as u8).collect(),
            palette: Vec::new(),
        };
        assert_eq!(picture.square(224, Order::Openai)[0], 56);
        assert_eq!(picture.square(224, Order::HuggingFace)[0], 55);
    }
}
