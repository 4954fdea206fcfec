//! JPEG with the bytes of libjpeg-turbo as Pillow calls it: accurate whole numbers, and smooth enlargement of colours.
//!
//! Source: ITU-T T.81 for the format; `jidctint.c`, `jdsample.c` and `jdcolor.c` of libjpeg-turbo for what its digits
//! are. Sequential and progressive files with Huffman's codes and samples of 8 bits are read.

mod bits;
mod blocks;
mod colours;
mod enlarge;
mod scan;

use crate::picture::{Mode, Picture};
use bits::Table;

/// A component: brightness, a colour, an ink.
#[derive(Clone, Debug)]
struct Component {
    id: u8,
    /// The number of samples across and down where the finest component has the most.
    across: usize,
    down: usize,
    table: usize,
    /// The number of samples in a row and in a column.
    width: usize,
    height: usize,
    /// The number of blocks in a row and a column, filled up to whole units.
    columns: usize,
    rows: usize,
    coefficients: Vec<[i16; 64]>,
}

/// The frame of a file.
#[derive(Clone, Debug)]
struct Frame {
    width: usize,
    height: usize,
    is_progressive: bool,
    most_across: usize,
    most_down: usize,
    components: Vec<Component>,
}

/// The state of a file as its markers are read.
#[derive(Default)]
struct State {
    frame: Option<Frame>,
    quantization: [Option<[u16; 64]>; 4],
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    restart: usize,
    is_jfif: bool,
    /// The transformation that Adobe's marker names.
    adobe: Option<u8>,
}

/// The index of the coefficient at each place in a file.
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

type Why = &'static str;

const SHORT: Why = "it ends early";

/// A segment of a file: its marker, its content, and where the next one begins.
fn segment(bytes: &[u8], mut at: usize) -> Result<(u8, &[u8], usize), Why> {
    // Anything up to the next marker is skipped, and so are repeated first bytes of markers.
    loop {
        match bytes.get(at..at + 2) {
            Some([0xFF, 0xFF]) => at += 1,
            Some([0xFF, marker]) if *marker != 0 => break,
            Some(_) => at += 1,
            None => return Err(SHORT),
        }
    }
    let marker = bytes[at + 1];
    if matches!(marker, 0xD0..=0xD9 | 0x01) {
        return Ok((marker, &[], at + 2));
    }
    let length =
        bytes.get(at + 2..at + 4).map(|n| usize::from(n[0]) << 8 | usize::from(n[1])).ok_or(SHORT)?;
    let content = bytes.get(at + 4..at + 2 + length.max(2)).ok_or(SHORT)?;
    Ok((marker, content, at + 2 + length.max(2)))
}

/// Returns true if a marker begins a frame.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC)
}

/// The width and height of a picture.
pub(crate) fn size(bytes: &[u8]) -> Result<(u32, u32), Why> {
    let mut at = 2;
    loop {
        let (marker, content, next) = segment(bytes, at)?;
        match (marker, content) {
            (marker, [_, h1, h0, w1, w0, ..]) if is_frame(marker) => {
                let number = |high: &u8, low: &u8| u32::from(*high) << 8 | u32::from(*low);
                return Ok((number(w1, w0), number(h1, h0)));
            }
            (0xD9 | 0xDA, _) => return Err("it has no frame"),
            _ => at = next,
        }
    }
}

/// Decodes a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Picture, Why> {
    let mut state = State::default();
    let mut at = 2;
    let mut n_scans = 0;
    loop {
        let (marker, content, next) = match segment(bytes, at) {
            Ok(found) => found,
            // Pillow needs no marker of the end if something else comes after all rows of a sequential picture.
            Err(_) if n_scans > 0 && state.frame.as_ref().is_some_and(|frame| !frame.is_progressive) => break,
            Err(why) => return Err(why),
        };
        at = next;
        match marker {
            0xD9 => break,
            0xC4 => state.huffman(content)?,
            0xDB => state.quantization(content)?,
            0xDD => {
                let [high, low, ..] = content else { return Err(SHORT) };
                state.restart = usize::from(*high) << 8 | usize::from(*low);
            }
            0xE0 if content.starts_with(b"JFIF\0") => state.is_jfif = true,
            0xEE if content.starts_with(b"Adobe") => state.adobe = content.get(11).copied(),
            0xC0..=0xC2 => {
                if state.frame.is_some() {
                    return Err("it has two frames");
                }
                state.frame = Some(Frame::read(content, marker == 0xC2)?);
            }
            marker if is_frame(marker) => {
                return Err("its coding is neither sequential nor progressive with Huffman's codes");
            }
            0xDA => {
                n_scans += 1;
                if n_scans > 1_000 {
                    return Err("it has too many scans");
                }
                at = scan::read(&mut state, content, bytes, at)?;
            }
            _ => {}
        }
    }
    let frame = state.frame.take().filter(|_| n_scans > 0).ok_or("it has no picture")?;
    state.finish(frame)
}

impl Frame {
    fn read(content: &[u8], is_progressive: bool) -> Result<Self, Why> {
        let [bits, h1, h0, w1, w0, n, rest @ ..] = content else { return Err(SHORT) };
        if *bits != 8 {
            return Err("its samples have other than 8 bits");
        }
        let number = |high: &u8, low: &u8| usize::from(*high) << 8 | usize::from(*low);
        let (width, height) = (number(w1, w0), number(h1, h0));
        let parts: Vec<&[u8]> = rest.chunks_exact(3).take(usize::from(*n)).collect();
        if !matches!(parts.len(), 1 | 3 | 4) || parts.len() != usize::from(*n) {
            return Err("it has other than 1, 3 or 4 components");
        }
        if width == 0 || height == 0 {
            return Err("it has no pixels");
        }
        let factors = |part: &[u8]| (usize::from(part[1] >> 4), usize::from(part[1] & 15));
        if parts.iter().any(|part| !matches!(factors(part), (1..=4, 1..=4)) || part[2] > 3) {
            return Err("the sizes of its components are impossible");
        }
        let most_across = parts.iter().map(|part| factors(part).0).max().unwrap_or(1);
        let most_down = parts.iter().map(|part| factors(part).1).max().unwrap_or(1);
        let (units_across, units_down) = (width.div_ceil(8 * most_across), height.div_ceil(8 * most_down));
        let component = |part: &&[u8]| {
            let (across, down) = factors(part);
            let (columns, rows) = (units_across * across, units_down * down);
            Component {
                id: part[0],
                across,
                down,
                table: usize::from(part[2]),
                width: (width * across).div_ceil(most_across),
                height: (height * down).div_ceil(most_down),
                columns,
                rows,
                coefficients: vec![[0; 64]; columns * rows],
            }
        };
        let components: Vec<Component> = parts.iter().map(component).collect();
        let is_whole = |one: &Component| most_across % one.across == 0 && most_down % one.down == 0;
        if !components.iter().all(is_whole) {
            return Err("the sizes of its components are no multiples of each other");
        }
        Ok(Self { width, height, is_progressive, most_across, most_down, components })
    }
}

impl State {
    fn huffman(&mut self, mut content: &[u8]) -> Result<(), Why> {
        while let [which, rest @ ..] = content {
            let counts = rest.get(..16).ok_or(SHORT)?;
            let n: usize = counts.iter().map(|n| usize::from(*n)).sum();
            let values = rest.get(16..16 + n).ok_or(SHORT)?;
            content = &rest[16 + n..];
            let tables = if which >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            let place = tables.get_mut(usize::from(which & 15)).ok_or("it has too many tables of codes")?;
            *place = Some(Table::new(counts, values)?);
        }
        Ok(())
    }

    fn quantization(&mut self, mut content: &[u8]) -> Result<(), Why> {
        while let [which, rest @ ..] = content {
            let size = if which >> 4 == 0 { 1 } else { 2 };
            let numbers = rest.get(..64 * size).ok_or(SHORT)?;
            content = &rest[64 * size..];
            let place = self.quantization.get_mut(usize::from(which & 15)).ok_or("it has too many tables")?;
            let mut table = [0; 64];
            for (number, zigzag) in numbers.chunks_exact(size).zip(ZIGZAG) {
                let number = number.iter().fold(0_u16, |number, byte| number << 8 | u16::from(*byte));
                table[usize::from(zigzag)] = number;
            }
            *place = Some(table);
        }
        Ok(())
    }

    /// The pixels of a frame whose coefficients are known.
    fn finish(&self, frame: Frame) -> Result<Picture, Why> {
        let Frame { width, height, most_across, most_down, .. } = frame;
        let mut planes = Vec::with_capacity(frame.components.len());
        for component in &frame.components {
            let table = self.quantization[component.table].ok_or("it lacks a table of quantization")?;
            let samples = blocks::samples(component, &table);
            let plane = enlarge::Plane {
                samples,
                stride: component.columns * 8,
                width: component.width,
                height: component.height,
            };
            planes.push(plane.enlarged(
                most_across / component.across,
                most_down / component.down,
                width,
                height,
            ));
        }
        let ids: Vec<u8> = frame.components.iter().map(|component| component.id).collect();
        let (mode, bytes) = match &planes[..] {
            [grey] => (Mode::Grey, grey.clone()),
            [r, g, b] => {
                let is_rgb = match (self.is_jfif, self.adobe) {
                    (true, _) => false,
                    (false, Some(transformation)) => transformation == 0,
                    (false, None) => ids == *b"RGB",
                };
                (Mode::Rgb, if is_rgb { colours::together(&[r, g, b]) } else { colours::rgb(r, g, b) })
            }
            [c, m, y, k] => {
                let inks = match self.adobe {
                    // Anything but 0 is taken for the opposite of RGB.
                    Some(1..) => colours::cmyk(c, m, y, k),
                    _ => colours::together(&[c, m, y, k]),
                };
                // Pillow takes all inks for inverted, as Adobe's programs write them.
                (Mode::Cmyk, inks.iter().map(|ink| 255 - ink).collect())
            }
            _ => return Err("it has no picture"),
        };
        Ok(Picture { mode, width, height, bytes, palette: Vec::new() })
    }
}
