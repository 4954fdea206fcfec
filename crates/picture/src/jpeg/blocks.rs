//! Blocks of coefficients as samples: the accurate transformation in whole numbers of `jidctint.c`.

use super::Component;

/// The number of bits after the point of the constants.
const CONST_BITS: u32 = 13;
/// The number of bits that columns keep for the rows.
const PASS_BITS: u32 = 2;

/// Constants times 2^13, by the digits after their point.
const F_0_298: i32 = 2446;
const F_0_390: i32 = 3196;
const F_0_541: i32 = 4433;
const F_0_765: i32 = 6270;
const F_0_899: i32 = 7373;
const F_1_175: i32 = 9633;
const F_1_501: i32 = 12299;
const F_1_847: i32 = 15137;
const F_1_961: i32 = 16069;
const F_2_053: i32 = 16819;
const F_2_562: i32 = 20995;
const F_3_072: i32 = 25172;

/// The samples of a component, block beside block.
pub(super) fn samples(component: &Component, table: &[u16; 64]) -> Vec<u8> {
    let stride = component.columns * 8;
    let mut samples = vec![0; stride * component.rows * 8];
    for (number, block) in component.coefficients.iter().enumerate() {
        let (row, column) = (number / component.columns.max(1), number % component.columns.max(1));
        let first = row * 8 * stride + column * 8;
        let values = transform(block, table);
        for (y, line) in values.chunks_exact(8).enumerate() {
            samples[first + y * stride..first + y * stride + 8].copy_from_slice(line);
        }
    }
    samples
}

/// Eight values of a column or a row, before they are rounded.
fn eight(input: [i32; 8]) -> [i32; 8] {
    let mul = i32::wrapping_mul;
    let add = i32::wrapping_add;
    let sub = i32::wrapping_sub;
    // Even ones.
    let z1 = mul(add(input[2], input[6]), F_0_541);
    let t2 = sub(z1, mul(input[6], F_1_847));
    let t3 = add(z1, mul(input[2], F_0_765));
    let t0 = add(input[0], input[4]).wrapping_shl(CONST_BITS);
    let t1 = sub(input[0], input[4]).wrapping_shl(CONST_BITS);
    let (e0, e3, e1, e2) = (add(t0, t3), sub(t0, t3), add(t1, t2), sub(t1, t2));
    // Odd ones.
    let [o7, o5, o3, o1] = [input[7], input[5], input[3], input[1]];
    let (z1, z2, z3, z4) = (add(o7, o1), add(o5, o3), add(o7, o3), add(o5, o1));
    let z5 = mul(add(z3, z4), F_1_175);
    let z1 = mul(z1, -F_0_899);
    let z2 = mul(z2, -F_2_562);
    let z3 = add(mul(z3, -F_1_961), z5);
    let z4 = add(mul(z4, -F_0_390), z5);
    let t0 = add(mul(o7, F_0_298), add(z1, z3));
    let t1 = add(mul(o5, F_2_053), add(z2, z4));
    let t2 = add(mul(o3, F_3_072), add(z2, z3));
    let t3 = add(mul(o1, F_1_501), add(z1, z4));
    [add(e0, t3), add(e1, t2), add(e2, t1), add(e3, t0), sub(e3, t0), sub(e2, t1), sub(e1, t2), sub(e0, t3)]
}

/// The samples of a block.
fn transform(block: &[i16; 64], table: &[u16; 64]) -> [u8; 64] {
    let rounded = |value: i32, bits: u32| value.wrapping_add(1 << (bits - 1)) >> bits;
    let mut between = [0_i32; 64];
    for column in 0..8 {
        let input = std::array::from_fn(|row| {
            i32::from(block[row * 8 + column]).wrapping_mul(i32::from(table[row * 8 + column]))
        });
        for (row, value) in eight(input).into_iter().enumerate() {
            between[row * 8 + column] = rounded(value, CONST_BITS - PASS_BITS);
        }
    }
    let mut samples = [0; 64];
    for (from, to) in between.as_chunks::<8>().0.iter().zip(samples.as_chunks_mut::<8>().0) {
        *to =
            eight(*from).map(|value| (rounded(value, CONST_BITS + PASS_BITS + 3) + 128).clamp(0, 255) as u8);
    }
    samples
}
