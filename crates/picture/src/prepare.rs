//! Prepares pictures as CLIP does: they are resized, as a rule so that the shorter side becomes that of a square, which
//! is cut from the middle.
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

/// The size of a picture before the square is cut from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resize {
    /// The shorter side has this length, and the longer one keeps its share.
    Shorter(usize),
    /// The width and the height, whatever the shape was.
    Exact(usize, usize),
}

impl Picture {
    /// The square in the middle, with sides of `side` pixels: red, green and blue of each, row by row. No side of the
    /// resized picture is below it.
    pub fn square(&self, side: usize, resize: Resize, order: Order) -> Vec<u8> {
        let converted;
        let picture = match (order, self.mode) {
            (Order::Openai, _) | (Order::HuggingFace, Mode::Rgb) => self,
            (Order::HuggingFace, _) => {
                converted = self.to_rgb();
                &converted
            }
        };
        let (width, height) = match resize {
            Resize::Shorter(shorter) => picture.shrunk(shorter),
            Resize::Exact(width, height) => (width, height),
        };
        let resized = picture.resized(width.max(side), height.max(side));
        let start = |length: usize| {
            let spare = length.saturating_sub(side);
            match order {
                Order::Openai => half_to_even(spare),
                Order::HuggingFace => spare / 2,
            }
        };
        resized.cropped(start(resized.width), start(resized.height), side, side).to_rgb().bytes
    }

    /// The width and the height if the shorter side is `shorter`.
    fn shrunk(&self, shorter: usize) -> (usize, usize) {
        let (short, long) = (self.width.min(self.height).max(1), self.width.max(self.height));
        // Cut, and never below the shorter side.
        let longer = ((shorter as f64 * long as f64 / short as f64) as usize).max(shorter);
        if self.width <= self.height { (shorter, longer) } else { (longer, shorter) }
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
        assert_eq!(picture.square(224, Resize::Shorter(224), Order::Openai)[0], 56);
        assert_eq!(picture.square(224, Resize::Shorter(224), Order::HuggingFace)[0], 55);
    }

    /// By the formulas of `get_resize_output_image_size` and `center_crop` of transformers.
    #[test]
    fn the_square_is_cut_from_a_picture_of_any_size() {
        let picture = |width: usize, height: usize| Picture {
            mode: Mode::Rgb,
            width,
            height,
            bytes: (0..width * height).flat_map(|k| [(k % width) as u8, (k / width) as u8, 0]).collect(),
            palette: Vec::new(),
        };
        assert_eq!(picture(640, 427).shrunk(336), (503, 336), "336 · 640 / 427 is 503.6");
        assert_eq!(picture(427, 640).shrunk(384), (384, 575), "384 · 640 / 427 is 575.5");
        // Nothing is resized, so that the first pixel says where the cut begins: at (60 − 32) / 2 and (48 − 32) / 2.
        for resize in [Resize::Shorter(48), Resize::Exact(60, 48)] {
            for order in [Order::Openai, Order::HuggingFace] {
                assert_eq!(picture(60, 48).square(32, resize, order)[..3], [14, 8, 0]);
            }
        }
        let squashed = picture(60, 48).square(32, Resize::Exact(32, 32), Order::HuggingFace);
        let right = squashed[31 * 3];
        assert!((57..=59).contains(&right), "the last column is near that of the picture: {right}");
    }
}
