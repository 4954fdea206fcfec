//! Decodes an uploaded picture and re-encodes it, in the child of a job: what is kept are pixels, without the place
//! and the device that cameras note, and without whatever else was in the file.

use std::io::Cursor;
use std::path::PathBuf;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage};
use serde::{Deserialize, Serialize};

/// The most pixels on a side.
const SIDE: u32 = 8_192;

/// The fewest pixels on a side.
const LEAST: u32 = 64;

/// The most pixels.
const PIXELS: u64 = 40_000_000;

/// The most bytes that decoding may take.
const MEMORY: u64 = 256 << 20;

/// The longer side of small pictures.
const SMALL: u32 = 480;

/// The quality of re-encoded JPEG files.
const QUALITY: u8 = 92;

/// Re-encodes an uploaded picture, and a small one.
#[derive(Serialize, Deserialize)]
pub struct Picture {
    /// The file as it was uploaded.
    pub source: PathBuf,
    /// The path of the picture to write.
    pub picture: PathBuf,
    /// The path of the small picture to write.
    pub thumb: PathBuf,
}

/// The reason why a file is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfit {
    /// It is not a JPEG, PNG or WebP picture.
    WrongType,
    /// It ends too early, or cannot be decoded.
    Damaged,
    /// It has too many or too few pixels.
    WrongSize,
}

/// The facts about a picture once it is re-encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureFacts {
    /// The media type.
    pub kind: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The perceptual hash, as 16 hexadecimal digits.
    pub phash: String,
}

/// Returns true if a file may be a picture of an accepted format, by its first bytes.
pub fn has_known_format(head: &[u8]) -> bool {
    format(head).is_some()
}

/// The format of a file by its first bytes, if it is one that is taken.
fn format(head: &[u8]) -> Option<ImageFormat> {
    let is_webp = head.len() >= 12 && head.starts_with(b"RIFF") && &head[8..12] == b"WEBP";
    match head {
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(ImageFormat::Png),
        _ if is_webp => Some(ImageFormat::WebP),
        _ => None,
    }
}

impl Picture {
    pub(crate) fn perform(self) -> anyhow::Result<Result<PictureFacts, Unfit>> {
        let bytes = std::fs::read(self.source)?;
        let decoded = match decode(&bytes) {
            Ok(decoded) => decoded,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let DecodedPicture { pixels, format, phash } = decoded;
        // Encoders do not tell a full disk from other failures.
        let mut bytes = Vec::new();
        let kind = match format {
            ImageFormat::Jpeg => {
                pixels.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, QUALITY))?;
                "image/jpeg"
            }
            _ => {
                pixels.write_with_encoder(PngEncoder::new(&mut bytes))?;
                "image/png"
            }
        };
        std::fs::write(self.picture, &bytes)?;
        let (width, height) = pixels.dimensions();
        bytes.clear();
        let small = DynamicImage::ImageRgb8(pixels);
        let small = if width.max(height) > SMALL { small.thumbnail(SMALL, SMALL) } else { small };
        small.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 80))?;
        std::fs::write(self.thumb, &bytes)?;
        Ok(Ok(PictureFacts { kind: kind.to_owned(), width, height, phash: format!("{phash:016x}") }))
    }
}

struct DecodedPicture {
    pixels: RgbImage,
    format: ImageFormat,
    phash: u64,
}

fn decode(bytes: &[u8]) -> Result<DecodedPicture, Unfit> {
    let format = format(bytes).ok_or(Unfit::WrongType)?;
    if format == ImageFormat::Jpeg && !is_whole(bytes) {
        return Err(Unfit::Damaged);
    }
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let why = |error: ImageError| match error {
        ImageError::Limits(_) => Unfit::WrongSize,
        _ => Unfit::Damaged,
    };
    let mut decoder = reader.into_decoder().map_err(why)?;
    let (width, height) = decoder.dimensions();
    let is_side = |side| (LEAST..=SIDE).contains(&side);
    if !is_side(width) || !is_side(height) || u64::from(width) * u64::from(height) > PIXELS {
        return Err(Unfit::WrongSize);
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut decoded = DynamicImage::from_decoder(decoder).map_err(why)?;
    decoded.apply_orientation(orientation);
    let phash = dhash(&decoded);
    Ok(DecodedPicture { pixels: on_white(decoded), format, phash })
}

/// The pixels without transparency, as on white paper.
fn on_white(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let image = image.into_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [r, g, b, alpha] = image.get_pixel(x, y).0.map(u32::from);
        image::Rgb([r, g, b].map(|value| ((value * alpha + 255 * (255 - alpha)) / 255) as u8))
    })
}

/// A perceptual hash: whether each of 8 × 8 fields is brighter than the field to its left.
fn dhash(image: &DynamicImage) -> u64 {
    let small = image.resize_exact(9, 8, FilterType::Triangle).into_luma8();
    let mut hash = 0;
    for y in 0..8 {
        for x in 0..8 {
            hash = hash << 1 | u64::from(small.get_pixel(x + 1, y).0[0] > small.get_pixel(x, y).0[0]);
        }
    }
    hash
}

/// Returns true if a JPEG file has its end, whose absence decoders ignore.
fn is_whole(bytes: &[u8]) -> bool {
    let mut at = 2;
    let mut in_scan = false;
    while at + 1 < bytes.len() {
        if bytes[at] != 0xff {
            if !in_scan {
                return false;
            }
            at += 1;
            continue;
        }
        match bytes[at + 1] {
            0xd9 => return true,
            0xff => at += 1,
            0x00 | 0xd0..=0xd7 | 0x01 => at += 2,
            marker => {
                let Some(length) = bytes.get(at + 2..at + 4) else { return false };
                at += 2 + usize::from(length[0]) * 256 + usize::from(length[1]);
                in_scan = marker == 0xda;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of stripes, which differ with `seed`.
    fn stripes(width: u32, height: u32, seed: u32) -> DynamicImage {
        DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| {
            let value = (x * (seed + 3) / 7 + y * (seed * 5 + 1) / 11) % 256;
            image::Rgb([value as u8, (255 - value) as u8, (seed * 40 % 256) as u8])
        }))
    }

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn processed(bytes: &[u8]) -> Result<(PictureFacts, Vec<u8>), Unfit> {
        let folder = tempfile::tempdir().unwrap();
        let [source, picture, thumb] = ["source", "picture", "thumb"].map(|name| folder.path().join(name));
        std::fs::write(&source, bytes).unwrap();
        let task = Picture { source, picture: picture.clone(), thumb: thumb.clone() };
        let pictured = task.perform().unwrap()?;
        assert_eq!(format(&std::fs::read(&thumb).unwrap()), Some(ImageFormat::Jpeg));
        Ok((pictured, std::fs::read(&picture).unwrap()))
    }

    #[test]
    fn pictures_are_written_anew_in_their_format() {
        let image = stripes(600, 300, 2);
        for (given, kind) in [
            (ImageFormat::Jpeg, "image/jpeg"),
            (ImageFormat::Png, "image/png"),
            (ImageFormat::WebP, "image/png"),
        ] {
            let (pictured, bytes) = processed(&encoded(&image, given)).unwrap();
            assert_eq!((pictured.kind.as_str(), pictured.width, pictured.height), (kind, 600, 300));
            assert!(!bytes.is_empty());
        }
    }

    #[test]
    fn hidden_content_is_gone() {
        // A JPEG with a position in its metadata, and a program behind its end.
        let jpeg = encoded(&stripes(200, 100, 1), ImageFormat::Jpeg);
        let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0GPS 31.2 121.5";
        let mut polyglot = jpeg[..2].to_vec();
        polyglot.extend([0xff, 0xe1]);
        polyglot.extend(((exif.len() + 2) as u16).to_be_bytes());
        polyglot.extend(exif);
        polyglot.extend(&jpeg[2..]);
        polyglot.extend(b"<?php system($_GET['x']); ?><script>alert(1)</script>PK\x03\x04");
        let (pictured, bytes) = processed(&polyglot).unwrap();
        // The metadata say that the camera was turned.
        assert_eq!((pictured.width, pictured.height), (100, 200));
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("GPS") && !text.contains("php") && !text.contains("script"));
    }

    #[test]
    fn hostile_files_are_refused_in_words() {
        let image = stripes(200, 100, 1);
        let [jpeg, png, webp] =
            [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP].map(|format| encoded(&image, format));
        for wrong in [
            &b""[..],
            b"GIF89a",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"%PDF-1.7",
            b"\xff\xd8",
            b"RIFF\0\0\0\0WAVE",
        ] {
            assert_eq!(processed(wrong), Err(Unfit::WrongType), "{wrong:?}");
        }
        for whole in [&jpeg, &png, &webp] {
            for part in [20, whole.len() / 2, whole.len() - whole.len() / 10] {
                assert_eq!(processed(&whole[..part]), Err(Unfit::Damaged), "{part} of {}", whole.len());
            }
        }
        // A JPEG whose thumbnail has an end, and which has none itself.
        let mut ruin = jpeg.clone();
        ruin.truncate(jpeg.len() - 2);
        assert_eq!(processed(&ruin), Err(Unfit::Damaged));
        for (width, height) in [(60_000, 60_000), (8_193, 100), (8_000, 8_000), (10, 100), (0, 100)] {
            let mut bomb = png.clone();
            bomb[16..20].copy_from_slice(&u32::to_be_bytes(width));
            bomb[20..24].copy_from_slice(&u32::to_be_bytes(height));
            let sum = crc(&bomb[12..29]);
            bomb[29..33].copy_from_slice(&sum.to_be_bytes());
            let refused = processed(&bomb).unwrap_err();
            assert!([Unfit::WrongSize, Unfit::Damaged].contains(&refused), "{width} {height}: {refused:?}");
        }
    }

    /// The sum of a PNG chunk.
    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(
                sum ^ u32::from(*byte),
                |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
            )
        })
    }

    #[test]
    fn pictures_that_look_the_same_have_nearly_the_same_hash() {
        let image = stripes(640, 360, 3);
        let own = dhash(&image);
        let smaller = dhash(&image.resize_exact(320, 180, FilterType::Triangle));
        let other = dhash(&stripes(640, 360, 9));
        assert!((own ^ smaller).count_ones() <= 6, "{own:x} {smaller:x}");
        assert!((own ^ other).count_ones() > 6, "{own:x} {other:x}");
    }
}
