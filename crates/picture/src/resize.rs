//! Resampling of Pillow, byte for byte: weights of 22 bits, a horizontal pass rounded to bytes, and a vertical one.
//!
//! Source: `src/libImaging/Resample.c` and `Geometry.c` of Pillow 13.

use crate::picture::{Mode, Picture, scaled};

/// The number of bits of weights after the point.
const BITS: u32 = 32 - 8 - 2;

/// The weights with which pixels become one.
struct Weights {
    /// For each new pixel, the first old one and where its weights begin.
    starts: Vec<(usize, usize)>,
    weights: Vec<f64>,
}

/// Pillow's bicubic kernel, with a = −0.5.
fn bicubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

impl Weights {
    fn new(old: usize, new: usize) -> Self {
        let scale = old as f64 / new as f64;
        let filter_scale = scale.max(1.0);
        let support = 2.0 * filter_scale;
        let (mut starts, mut weights) = (Vec::with_capacity(new + 1), Vec::new());
        for place in 0..new {
            let center = (place as f64 + 0.5) * scale;
            // Negative numbers are cut towards 0, as in C.
            let first = ((center - support + 0.5) as i64).max(0) as usize;
            let last = ((center + support + 0.5) as i64).clamp(0, old as i64) as usize;
            starts.push((first, weights.len()));
            let from = weights.len();
            let mut sum = 0.0;
            for x in 0..last.saturating_sub(first) {
                let weight = bicubic((x as f64 + first as f64 - center + 0.5) * (1.0 / filter_scale));
                weights.push(weight);
                sum += weight;
            }
            if sum != 0.0 {
                weights[from..].iter_mut().for_each(|weight| *weight /= sum);
            }
        }
        starts.push((0, weights.len()));
        Self { starts, weights }
    }

    /// The weights as whole numbers.
    fn whole(&self) -> Vec<i32> {
        let one = f64::from(1_u32 << BITS);
        self.weights
            .iter()
            .map(|weight| (if *weight < 0.0 { weight * one - 0.5 } else { weight * one + 0.5 }) as i32)
            .collect()
    }

    /// For each new pixel, the first old one and the range of its weights.
    fn ranges(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + '_ {
        self.starts.windows(2).map(|pair| (pair[0].0, pair[0].1..pair[1].1))
    }
}

fn byte(sum: i32) -> u8 {
    (sum >> BITS).clamp(0, 255) as u8
}

impl Picture {
    /// The picture in another size, as Pillow's `resize` with `BICUBIC` makes it.
    pub(crate) fn resized(&self, width: usize, height: usize) -> Self {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        // A very tall picture is shrunk in its height first.
        if self.height > 100 * self.width && height < self.height && width != self.width {
            return self.resized(self.width, height).resized(width, height);
        }
        match self.mode {
            // Without a filter, and without a word.
            Mode::Bit | Mode::Palette => self.nearest(width, height),
            Mode::GreyAlpha | Mode::RgbAlpha => self.premultiplied().filtered(width, height).unmultiplied(),
            Mode::Grey16 => self.filtered16(width, height),
            Mode::Grey | Mode::Rgb | Mode::Cmyk => self.filtered(width, height),
        }
    }

    /// Each pixel is the nearest old one.
    fn nearest(&self, width: usize, height: usize) -> Self {
        // Steps are added up, as in the program.
        let places = |old: usize, new: usize| -> Vec<usize> {
            let step = old as f64 / new as f64;
            let mut at = step * 0.5;
            (0..new)
                .map(|_| {
                    let place = (at as usize).min(old.saturating_sub(1));
                    at += step;
                    place
                })
                .collect()
        };
        let (columns, rows) = (places(self.width, width), places(self.height, height));
        let bytes =
            rows.iter().flat_map(|y| columns.iter().map(move |x| self.bytes[y * self.width + x])).collect();
        Self { width, height, bytes, ..self.clone() }
    }

    fn filtered(&self, width: usize, height: usize) -> Self {
        let size = self.mode.size();
        let across = if width == self.width { self.bytes.clone() } else { self.horizontal(width) };
        if height == self.height {
            return Self { width, bytes: across, ..self.clone() };
        }
        let weights = Weights::new(self.height, height);
        let whole = weights.whole();
        let row = width * size;
        let mut bytes = Vec::with_capacity(height * row);
        let mut sums = vec![0_i32; row];
        for (first, range) in weights.ranges() {
            sums.fill(1 << (BITS - 1));
            for (y, weight) in (first..).zip(&whole[range]) {
                for (sum, old) in sums.iter_mut().zip(&across[y * row..(y + 1) * row]) {
                    *sum += i32::from(*old) * weight;
                }
            }
            bytes.extend(sums.iter().map(|sum| byte(*sum)));
        }
        Self { width, height, bytes, ..self.clone() }
    }

    /// All rows with another number of pixels.
    fn horizontal(&self, width: usize) -> Vec<u8> {
        match self.mode.size() {
            1 => self.horizontal_of::<1>(width),
            2 => self.horizontal_of::<2>(width),
            3 => self.horizontal_of::<3>(width),
            _ => self.horizontal_of::<4>(width),
        }
    }

    fn horizontal_of<const SIZE: usize>(&self, width: usize) -> Vec<u8> {
        let weights = Weights::new(self.width, width);
        let whole = weights.whole();
        let mut bytes = Vec::with_capacity(self.height * width * SIZE);
        for row in self.bytes.chunks_exact(self.width * SIZE) {
            let (pixels, _) = row.as_chunks::<SIZE>();
            for (first, range) in weights.ranges() {
                let mut sums = [1_i32 << (BITS - 1); SIZE];
                for (pixel, weight) in pixels[first..].iter().zip(&whole[range]) {
                    for (sum, old) in sums.iter_mut().zip(pixel) {
                        *sum += i32::from(*old) * weight;
                    }
                }
                bytes.extend(sums.map(byte));
            }
        }
        bytes
    }

    /// Shades of 16 bits are summed as numbers with a point, and rounded after each pass.
    fn filtered16(&self, width: usize, height: usize) -> Self {
        let shades: Vec<u16> =
            self.bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect();
        let rounded = |sum: f64| (sum + 0.5).floor().clamp(0.0, f64::from(u16::MAX)) as u16;
        let pass = |shades: &[u16], columns: usize, rows: usize, new: usize, is_across: bool| -> Vec<u16> {
            let weights = Weights::new(if is_across { columns } else { rows }, new);
            let ranges: Vec<_> = weights.ranges().collect();
            let (new_columns, new_rows) = if is_across { (new, rows) } else { (columns, new) };
            let mut out = Vec::with_capacity(new_columns * new_rows);
            for y in 0..new_rows {
                for x in 0..new_columns {
                    let (first, range) = ranges[if is_across { x } else { y }].clone();
                    let old = |at: usize| {
                        if is_across { shades[y * columns + at] } else { shades[at * columns + x] }
                    };
                    let sum = (first..)
                        .zip(&weights.weights[range])
                        .map(|(at, weight)| f64::from(old(at)) * weight);
                    out.push(rounded(sum.sum()));
                }
            }
            out
        };
        let across = match width == self.width {
            true => shades,
            false => pass(&shades, self.width, self.height, width, true),
        };
        let both = match height == self.height {
            true => across,
            false => pass(&across, width, self.height, height, false),
        };
        let bytes = both.iter().flat_map(|shade| shade.to_le_bytes()).collect();
        Self { width, height, bytes, ..self.clone() }
    }

    /// Colours times transparency.
    fn premultiplied(&self) -> Self {
        self.with_colours(scaled)
    }

    /// Colours as they were before, as far as transparency lets it be known.
    fn unmultiplied(&self) -> Self {
        self.with_colours(|colour, alpha| match alpha {
            0 | 255 => colour,
            _ => (255 * u32::from(colour) / u32::from(alpha)).min(255) as u8,
        })
    }

    /// Other colours by themselves and transparency.
    fn with_colours(&self, of: impl Fn(u8, u8) -> u8) -> Self {
        let mut bytes = self.bytes.clone();
        for pixel in bytes.chunks_exact_mut(self.mode.size()) {
            if let Some((alpha, colours)) = pixel.split_last_mut() {
                colours.iter_mut().for_each(|colour| *colour = of(*colour, *alpha));
            }
        }
        Self { bytes, ..self.clone() }
    }
}
