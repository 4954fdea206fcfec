//! Brightness and colours as red, green and blue, with the whole numbers of `jdcolor.c`.

/// The planes beside each other, pixel by pixel.
pub(super) fn together(planes: &[&Vec<u8>]) -> Vec<u8> {
    let n = planes.first().map_or(0, |plane| plane.len());
    (0..n).flat_map(|at| planes.iter().map(move |plane| plane[at])).collect()
}

/// The colour of a pixel.
fn colour(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    let red = y + ((91881 * cr + HALF) >> 16);
    let green = y + ((-22554 * cb - 46802 * cr + HALF) >> 16);
    let blue = y + ((116_130 * cb + HALF) >> 16);
    [red, green, blue].map(|value| value.clamp(0, 255) as u8)
}

/// Pixels in RGB from brightness and colours.
pub(super) fn rgb(y: &[u8], cb: &[u8], cr: &[u8]) -> Vec<u8> {
    y.iter().zip(cb).zip(cr).flat_map(|((y, cb), cr)| colour(*y, *cb, *cr)).collect()
}

/// Pixels in CMYK from brightness and colours of its opposite, and black.
pub(super) fn cmyk(y: &[u8], cb: &[u8], cr: &[u8], k: &[u8]) -> Vec<u8> {
    let ink = |(((y, cb), cr), k): (((&u8, &u8), &u8), &u8)| {
        let [r, g, b] = colour(*y, *cb, *cr);
        [255 - r, 255 - g, 255 - b, *k]
    };
    y.iter().zip(cb).zip(cr).zip(k).flat_map(ink).collect()
}
