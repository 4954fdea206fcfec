//! A decoded picture in one of Pillow's modes, and its colours.

/// The storage of a picture's pixels, by Pillow's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `1`: black and white, as 0 and 255.
    Bit,
    /// `L`: shades of grey.
    Grey,
    /// `LA`: grey with transparency.
    GreyAlpha,
    /// `I;16`: shades of grey in 16 bits, the low byte first.
    Grey16,
    /// `P`: places in a palette.
    Palette,
    /// `RGB`.
    Rgb,
    /// `RGBA`: RGB with transparency.
    RgbAlpha,
    /// `CMYK`.
    Cmyk,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The mode.
    pub mode: Mode,
    /// The number of pixels in a row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The bytes of the pixels, row by row.
    pub bytes: Vec<u8>,
    /// The colours of a palette.
    pub palette: Vec<[u8; 3]>,
}

impl Mode {
    /// The number of bytes of a pixel.
    pub fn size(self) -> usize {
        match self {
            Self::Bit | Self::Grey | Self::Palette => 1,
            Self::GreyAlpha | Self::Grey16 => 2,
            Self::Rgb => 3,
            Self::RgbAlpha | Self::Cmyk => 4,
        }
    }
}

/// a · b / 255, rounded as Pillow does.
pub(crate) fn scaled(a: u8, b: u8) -> u8 {
    let product = u32::from(a) * u32::from(b) + 128;
    (((product >> 8) + product) >> 8) as u8
}

impl Picture {
    /// The same picture in RGB: transparency is dropped without a background, and what exceeds 255 is white.
    pub fn to_rgb(&self) -> Self {
        let pixels = self.bytes.chunks_exact(self.mode.size());
        let colour = |pixel: &[u8]| -> [u8; 3] {
            match (self.mode, pixel) {
                (Mode::Bit | Mode::Grey, [grey]) | (Mode::GreyAlpha, [grey, _]) => [*grey; 3],
                (Mode::Grey16, [low, high]) => [if *high == 0 { *low } else { 255 }; 3],
                (Mode::Palette, [place]) => {
                    self.palette.get(usize::from(*place)).copied().unwrap_or_default()
                }
                (Mode::Rgb, [r, g, b]) | (Mode::RgbAlpha, [r, g, b, _]) => [*r, *g, *b],
                (Mode::Cmyk, [c, m, y, k]) => [*c, *m, *y].map(|ink| (255 - k) - scaled(ink, 255 - k)),
                _ => [0; 3],
            }
        };
        let bytes = pixels.flat_map(colour).collect();
        Self { mode: Mode::Rgb, width: self.width, height: self.height, bytes, palette: Vec::new() }
    }

    /// A part of the picture.
    ///
    /// # Panics
    /// When it is not within the picture.
    pub(crate) fn cropped(&self, left: usize, top: usize, width: usize, height: usize) -> Self {
        let size = self.mode.size();
        let row = |y: usize| {
            let first = (y * self.width + left) * size;
            &self.bytes[first..first + width * size]
        };
        let bytes = (top..top + height).flat_map(row).copied().collect();
        Self { mode: self.mode, width, height, bytes, palette: self.palette.clone() }
    }
}
