//! Files of pictures, opened in the modes in which Pillow opens them.

use std::io::Cursor;

use capeval_choice::Refusal;

use crate::jpeg;
use crate::picture::{Mode, Picture};

/// The greatest number of pixels of a picture. Pillow warns above half as many, and refuses twice as many.
pub const MOST_PIXELS: u64 = 100_000_000;

/// The formats that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
}

impl Format {
    fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        match bytes {
            [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Ok(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Ok(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Ok(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok(Self::WebP),
            [] => Err(Refusal::new("the file is empty").with_remedy("save the picture again")),
            _ => Err(Refusal::new("this is no picture in JPEG, PNG, WebP or GIF")
                .with_remedy("save it in one of these formats")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
        }
    }

    fn refuse(self, why: impl std::fmt::Display) -> Refusal {
        Refusal::new(format!("the file of {} is damaged: {why}", self.name()))
            .with_remedy("save the picture again, or leave its image out")
    }
}

/// The width and height of a picture, from the beginning of its file.
///
/// # Errors
/// When it is no picture, or one of more than [`MOST_PIXELS`].
pub fn probe(bytes: &[u8]) -> Result<(u32, u32), Refusal> {
    let format = Format::of(bytes)?;
    let short = || format.refuse("it ends in its header");
    let at = |range: std::ops::Range<usize>| bytes.get(range).ok_or_else(short);
    let (width, height) = match format {
        Format::Png => {
            let size = at(16..24)?;
            let number = |n: usize| u32::from_be_bytes([size[n], size[n + 1], size[n + 2], size[n + 3]]);
            (number(0), number(4))
        }
        Format::Gif => {
            let size = at(6..10)?;
            (u32::from(size[0]) | u32::from(size[1]) << 8, u32::from(size[2]) | u32::from(size[3]) << 8)
        }
        Format::Jpeg => jpeg::size(bytes).map_err(|why| format.refuse(why))?,
        Format::WebP => {
            let decoder =
                image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(|error| format.refuse(error))?;
            decoder.dimensions()
        }
    };
    if width == 0 || height == 0 {
        return Err(format.refuse("it has no pixels"));
    }
    refuse_enormous(u64::from(width), u64::from(height))?;
    Ok((width, height))
}

fn refuse_enormous(width: u64, height: u64) -> Result<(), Refusal> {
    if width * height <= MOST_PIXELS {
        return Ok(());
    }
    let message = format!("the picture has {width} × {height} pixels, and at most {MOST_PIXELS} are read");
    Err(Refusal::new(message).with_remedy("make it smaller"))
}

/// Opens a picture as Pillow does; of several, the first one.
///
/// # Errors
/// As [`probe`], and when the file is damaged or ends early.
pub fn decode(bytes: &[u8]) -> Result<Picture, Refusal> {
    let (width, height) = probe(bytes)?;
    let (width, height) = (width as usize, height as usize);
    let format = Format::of(bytes)?;
    let picture = match format {
        Format::Png => png(bytes).map_err(|error| format.refuse(error))?,
        Format::Gif => gif(bytes, width, height).map_err(|error| format.refuse(error))?,
        Format::Jpeg => jpeg::decode(bytes).map_err(|why| format.refuse(why))?,
        Format::WebP => webp(bytes, width, height).map_err(|error| format.refuse(error))?,
    };
    match picture.bytes.len() == picture.width * picture.height * picture.mode.size() {
        true => Ok(picture),
        false => Err(format.refuse("it has other pixels than its header says")),
    }
}

fn png(bytes: &[u8]) -> Result<Picture, Box<dyn std::error::Error>> {
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: 1 << 30 });
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info()?;
    let mut raw = vec![0; reader.output_buffer_size().ok_or("it is too large")?];
    let frame = reader.next_frame(&mut raw)?;
    raw.truncate(frame.buffer_size());
    let info = reader.info();
    let (width, height) = (info.width as usize, info.height as usize);
    let palette: Vec<[u8; 3]> =
        info.palette.iter().flat_map(|palette| palette.as_chunks::<3>().0).copied().collect();
    let bits = frame.bit_depth as usize;
    let row = frame.line_size;
    // Samples of fewer than 8 bits are packed from the left, row by row.
    let unpacked = |raw: &[u8], of: &dyn Fn(u8) -> u8| -> Vec<u8> {
        let sample = |line: &[u8], x: usize| {
            let bit = x * bits;
            let byte = line.get(bit / 8).copied().unwrap_or_default();
            of(byte >> (8 - bits - bit % 8) & ((1_u16 << bits) - 1) as u8)
        };
        raw.chunks_exact(row.max(1)).flat_map(|line| (0..width).map(move |x| sample(line, x))).collect()
    };
    let highs = |raw: &[u8]| raw.iter().step_by(2).copied().collect::<Vec<u8>>();
    let (mode, bytes) = match (frame.color_type, bits) {
        (png::ColorType::Grayscale, 1) => (Mode::Bit, unpacked(&raw, &|bit| bit * 255)),
        (png::ColorType::Grayscale, 2) => (Mode::Grey, unpacked(&raw, &|shade| shade * 85)),
        (png::ColorType::Grayscale, 4) => (Mode::Grey, unpacked(&raw, &|shade| shade * 17)),
        (png::ColorType::Grayscale, 16) => {
            (Mode::Grey16, raw.as_chunks::<2>().0.iter().flat_map(|[high, low]| [*low, *high]).collect())
        }
        (png::ColorType::Grayscale, _) => (Mode::Grey, raw),
        (png::ColorType::Indexed, 8) => (Mode::Palette, raw),
        (png::ColorType::Indexed, _) => (Mode::Palette, unpacked(&raw, &|place| place)),
        (png::ColorType::Rgb, 16) => (Mode::Rgb, highs(&raw)),
        (png::ColorType::Rgb, _) => (Mode::Rgb, raw),
        (png::ColorType::GrayscaleAlpha, 16) => {
            let pixel = |[grey, _, alpha, _]: &[u8; 4]| [*grey, *grey, *grey, *alpha];
            (Mode::RgbAlpha, raw.as_chunks::<4>().0.iter().flat_map(pixel).collect())
        }
        (png::ColorType::GrayscaleAlpha, _) => (Mode::GreyAlpha, raw),
        (png::ColorType::Rgba, 16) => (Mode::RgbAlpha, highs(&raw)),
        (png::ColorType::Rgba, _) => (Mode::RgbAlpha, raw),
    };
    // What comes after the pixels must be whole, too.
    reader.finish()?;
    Ok(Picture { mode, width, height, bytes, palette })
}

fn gif(bytes: &[u8], width: usize, height: usize) -> Result<Picture, Box<dyn std::error::Error>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    if let Some(most) = std::num::NonZeroU64::new(MOST_PIXELS) {
        options.set_memory_limit(gif::MemoryLimit::Bytes(most));
    }
    let mut decoder = options.read_info(Cursor::new(bytes))?;
    let global = decoder.global_palette().map(<[u8]>::to_vec);
    let frame = decoder.read_next_frame()?.ok_or("it has no picture")?;
    let palette = frame.palette.clone().or(global).ok_or("it has no palette")?;
    let palette: Vec<[u8; 3]> = palette.as_chunks::<3>().0.to_vec();
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let (columns, rows) = (usize::from(frame.width), usize::from(frame.height));
    // The screen grows with a picture that is larger. Around a smaller one is the transparent colour, or the first.
    let (width, height) = (width.max(left + columns), height.max(top + rows));
    refuse_enormous(width as u64, height as u64)?;
    let empty = frame.transparent.unwrap_or(0);
    let mut bytes = vec![empty; width * height];
    for (y, line) in frame.buffer.chunks_exact(columns.max(1)).take(rows).enumerate() {
        let first = (top + y) * width + left;
        bytes[first..first + columns].copy_from_slice(line);
    }
    let is_grey = palette.iter().enumerate().all(|(k, [r, g, b])| k == usize::from(*r) && r == g && g == b);
    let mode = if is_grey { Mode::Grey } else { Mode::Palette };
    Ok(Picture { mode, width, height, bytes, palette })
}

fn webp(bytes: &[u8], width: usize, height: usize) -> Result<Picture, Box<dyn std::error::Error>> {
    let size =
        bytes.get(4..8).map_or(0, |size| u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize);
    if size + 8 > bytes.len() {
        return Err("it ends early".into());
    }
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(bytes))?;
    decoder.set_memory_limit(1 << 30);
    let mut bytes = vec![0; decoder.output_buffer_size().ok_or("it is too large")?];
    decoder.read_image(&mut bytes)?;
    let mode = if decoder.has_alpha() { Mode::RgbAlpha } else { Mode::Rgb };
    Ok(Picture { mode, width, height, bytes, palette: Vec::new() })
}
