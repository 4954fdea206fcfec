//! Small pictures against Pillow's pixels, see `oracle/pictures.py`, and files that are refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use capeval_picture::{MOST_PIXELS, Mode, Order, Picture, Resize, decode, probe};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pictures")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(data().join(name)).unwrap()
}

fn picture(name: &str) -> Picture {
    decode(&read(name)).unwrap()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn pixels_are_those_of_pillow() {
    let golden: Value = serde_json::from_slice(&read("golden.json")).unwrap();
    let files = golden["files"].as_object().unwrap();
    assert!(files.len() > 20);
    for (name, expected) in files {
        let picture = picture(name);
        let mode = match picture.mode {
            Mode::Bit => "1",
            Mode::Grey => "L",
            Mode::GreyAlpha => "LA",
            Mode::Grey16 => "I;16",
            Mode::Palette => "P",
            Mode::Rgb => "RGB",
            Mode::RgbAlpha => "RGBA",
            Mode::Cmyk => "CMYK",
        };
        assert_eq!(expected["mode"], mode, "{name}");
        assert_eq!(expected["size"], serde_json::json!([picture.width, picture.height]), "{name}");
        assert_eq!(expected["raw"], hash(&picture.to_rgb().bytes), "{name}");
        assert_eq!(
            expected["openai"],
            hash(&picture.square(32, Resize::Shorter(32), Order::Openai)),
            "{name}"
        );
        assert_eq!(
            expected["hf"],
            hash(&picture.square(32, Resize::Shorter(32), Order::HuggingFace)),
            "{name}"
        );
    }
}

#[test]
fn orientation_is_not_applied() {
    let turned = picture("turned.jpg");
    assert_eq!((turned.width, turned.height), (61, 43));
}

#[test]
fn palettes_and_bits_are_resized_without_a_filter() {
    for name in ["palette.png", "palette.gif", "bit.png"] {
        let picture = picture(name);
        let colours = picture.to_rgb().bytes.as_chunks::<3>().0.to_vec();
        let square = picture.square(32, Resize::Shorter(32), Order::Openai);
        assert!(square.as_chunks::<3>().0.iter().all(|colour| colours.contains(colour)), "{name}");
        let filtered = picture.square(32, Resize::Shorter(32), Order::HuggingFace);
        assert!(filtered.as_chunks::<3>().0.iter().any(|colour| !colours.contains(colour)), "{name}");
    }
}

#[test]
fn alpha_is_dropped_without_a_background() {
    let mut clear = picture("alpha.png");
    clear.bytes.chunks_exact_mut(4).for_each(|pixel| pixel.copy_from_slice(&[10, 20, 30, 0]));
    assert_eq!(clear.to_rgb().bytes[..3], [10, 20, 30]);
    // Resizing multiplies colours with it, so nothing is left of them.
    assert_eq!(clear.square(32, Resize::Shorter(32), Order::Openai)[..3], [0, 0, 0]);
}

fn why(bytes: &[u8]) -> String {
    let refusal = decode(bytes).unwrap_err();
    assert!(refusal.remedy().is_some(), "{refusal}");
    refusal.to_string()
}

#[test]
fn what_is_no_picture_is_refused_in_words() {
    assert_eq!(why(b""), "the file is empty");
    assert_eq!(why(b"%PDF-1.4"), "this is no picture in JPEG, PNG, WebP or GIF");
    assert_eq!(why(b"\xFF\xD8\xFF"), "the file of JPEG is damaged: it ends early");
    assert_eq!(why(b"\x89PNG\r\n\x1a\n"), "the file of PNG is damaged: it ends in its header");
    assert_eq!(why(b"GIF89a\0"), "the file of GIF is damaged: it ends in its header");
    assert_eq!(why(b"GIF89a\0\0\0\0\0\0\0"), "the file of GIF is damaged: it has no pixels");
    assert!(why(b"RIFF\0\0\0\0WEBP").starts_with("the file of WebP is damaged"));
    let mut arithmetic = read("420.jpg");
    let at = arithmetic.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    arithmetic[at + 1] = 0xC9;
    assert!(why(&arithmetic).ends_with("neither sequential nor progressive with Huffman's codes"));
    let mut deep = read("420.jpg");
    deep[at + 4] = 12;
    assert!(why(&deep).ends_with("its samples have other than 8 bits"));
}

#[test]
fn pictures_that_end_early_are_refused() {
    for name in ["420.jpg", "progressive.jpg", "rgb.png", "palette.gif", "lossy.webp", "lossless.webp"] {
        let bytes = read(name);
        for part in [2, 3, 4] {
            let short = &bytes[..bytes.len() - bytes.len() / part];
            assert!(decode(short).is_err(), "{name} without 1/{part}");
        }
    }
}

#[test]
fn no_byte_of_a_jpeg_or_webp_is_missing() {
    for name in ["420.jpg", "progressive.jpg", "restarts.jpg", "lossy.webp", "lossless.webp"] {
        let bytes = read(name);
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "{name}: {end} of {} bytes", bytes.len());
        }
    }
    // Another marker, or enough bytes to read ahead, end the rows of a sequential picture as well.
    let bytes = read("420.jpg");
    let with = |tail: &[u8]| decode(&[&bytes[..bytes.len() - 2], tail].concat());
    for tail in [&[0; 100][..], b"\xFF\xFE\0\x05abc", b"\xFF\xD0\xFF", b"\xFF\xE5"] {
        assert_eq!(with(tail).unwrap().bytes, picture("420.jpg").bytes, "{tail:?}");
    }
    for tail in [&b"\xFF"[..], &[0; 3]] {
        assert!(with(tail).is_err(), "{tail:?}");
    }
}

#[test]
fn enormous_pictures_are_refused_before_they_take_memory() {
    let mut png = read("rgb.png");
    png[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    let told = format!("the picture has 65536 × 65536 pixels, and at most {MOST_PIXELS} are read");
    assert_eq!(why(&png), told);
    assert!(probe(&png).is_err());
    let mut jpeg = read("420.jpg");
    let at = jpeg.windows(2).position(|pair| pair == [0xFF, 0xC0]).unwrap();
    jpeg[at + 5..at + 9].copy_from_slice(&[0xFF; 4]);
    assert!(why(&jpeg).contains("65535 × 65535"));
    // A GIF may have a small screen, and a picture in it that is far away.
    let mut gif = read("palette.gif");
    let at = gif.iter().rposition(|byte| *byte == b',').unwrap();
    let at =
        (0..=at).find(|at| gif[*at] == b',' && gif[at + 1..at + 9] == [0, 0, 0, 0, 61, 0, 43, 0]).unwrap();
    gif[at + 1..at + 5].copy_from_slice(&[0xFF; 4]);
    assert!(why(&gif).contains("65596 × 65578 pixels"), "{}", why(&gif));
}

#[test]
fn damaged_files_never_panic() {
    let mut state = 1_u32;
    let mut next = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n.max(1)
    };
    let names = [
        "420.jpg",
        "progressive.jpg",
        "restarts.jpg",
        "cmyk.jpg",
        "palette.png",
        "alpha.png",
        "palette.gif",
        "lossy.webp",
    ];
    for name in names {
        let good = read(name);
        for _ in 0..150 {
            let mut bad = good.clone();
            for _ in 0..1 + next(4) {
                let at = next(bad.len());
                match next(3) {
                    0 => bad[at] = next(256) as u8,
                    1 => drop(bad.remove(at)),
                    _ => bad.insert(at, [0, 0xFF, 0xD9, 0x7F][next(4)]),
                }
            }
            // What claims to be large takes long in a build without optimisation.
            if probe(&bad).is_ok_and(|(width, height)| u64::from(width) * u64::from(height) < 100_000)
                && let Ok(picture) = decode(&bad)
            {
                assert_eq!(picture.square(32, Resize::Shorter(32), Order::Openai).len(), 32 * 32 * 3);
            }
        }
    }
}
