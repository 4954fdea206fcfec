//! Scans: the coefficients of blocks, all at once or in steps of precision.

use super::bits::{Bits, Table};
use super::{SHORT, State, Why, ZIGZAG};

/// The part of each block that a scan contains.
struct Scan {
    /// The component of each part, and its tables of codes.
    parts: Vec<(usize, usize, usize)>,
    first: usize,
    last: usize,
    /// The number of low bits that come later, and whether this scan adds one to what came before.
    low: u32,
    refines: bool,
    is_progressive: bool,
}

/// Reads a scan that begins at `at`; where it ends.
pub(super) fn read(state: &mut State, content: &[u8], bytes: &[u8], at: usize) -> Result<usize, Why> {
    let State { frame, dc, ac, restart, .. } = state;
    let frame = frame.as_mut().ok_or("it has a scan before its frame")?;
    let [n, rest @ ..] = content else { return Err(SHORT) };
    let n = usize::from(*n);
    let (parts, steps) = rest.split_at_checked(2 * n).ok_or(SHORT)?;
    let [first, last, precision, ..] = steps else { return Err(SHORT) };
    let part = |part: &[u8]| {
        let component = frame.components.iter().position(|component| component.id == part[0]);
        component.map(|component| (component, usize::from(part[1] >> 4), usize::from(part[1] & 15)))
    };
    let parts: Option<Vec<_>> = parts.chunks_exact(2).map(part).collect();
    let parts = parts.filter(|parts| !parts.is_empty()).ok_or("a scan has an unknown component")?;
    let is_progressive = frame.is_progressive;
    let scan = Scan {
        parts,
        first: if is_progressive { usize::from(*first) } else { 0 },
        last: if is_progressive { usize::from(*last) } else { 63 },
        low: if is_progressive { u32::from(precision & 15) } else { 0 },
        refines: is_progressive && precision >> 4 > 0,
        is_progressive,
    };
    let is_possible = scan.first <= scan.last
        && scan.last < 64
        && scan.low <= 13
        && (!is_progressive || (scan.first == 0) == (scan.last == 0))
        && (scan.first == 0 || scan.parts.len() == 1);
    if !is_possible {
        return Err("the steps of a scan are impossible");
    }
    let mut bits = Bits::new(bytes, at);
    let mut before = [0_i32; 4];
    let mut run = 0_u32;
    // A scan of one component has its own blocks; one of several has units with blocks of all.
    let (columns, rows) = match scan.parts[..] {
        [(one, ..)] => {
            let component = &frame.components[one];
            (component.width.div_ceil(8), component.height.div_ceil(8))
        }
        _ => (frame.width.div_ceil(8 * frame.most_across), frame.height.div_ceil(8 * frame.most_down)),
    };
    let mut until_restart = *restart;
    for row in 0..rows {
        for column in 0..columns {
            if *restart > 0 && until_restart == 0 {
                bits.restart();
                (before, run, until_restart) = ([0; 4], 0, *restart);
            }
            until_restart = until_restart.saturating_sub(1);
            for (place, (component, of_dc, of_ac)) in scan.parts.iter().enumerate() {
                let component = &mut frame.components[*component];
                let (across, down) =
                    if scan.parts.len() == 1 { (1, 1) } else { (component.across, component.down) };
                for y in 0..down {
                    for x in 0..across {
                        let at = (row * down + y) * component.columns + column * across + x;
                        let block =
                            component.coefficients.get_mut(at).ok_or("a block is outside of the picture")?;
                        let dc = dc.get(*of_dc).and_then(Option::as_ref);
                        let ac = ac.get(*of_ac).and_then(Option::as_ref);
                        scan.block(&mut bits, block, dc, ac, &mut before[place % 4], &mut run)?;
                    }
                }
            }
            if bits.ended() {
                return Err(SHORT);
            }
        }
    }
    if bits.starved() {
        return Err(SHORT);
    }
    Ok(bits.end())
}

const NO_TABLE: Why = "it lacks a table of codes";

impl Scan {
    fn block(
        &self,
        bits: &mut Bits<'_>,
        block: &mut [i16; 64],
        dc: Option<&Table>,
        ac: Option<&Table>,
        before: &mut i32,
        run: &mut u32,
    ) -> Result<(), Why> {
        if !self.is_progressive {
            self.first_dc(bits, block, dc, before)?;
            return self.first_ac(bits, block, ac, 1, &mut 0);
        }
        match (self.first, self.refines) {
            (0, false) => self.first_dc(bits, block, dc, before),
            (0, true) => {
                if bits.take(1) > 0 {
                    block[0] |= 1 << self.low;
                }
                Ok(())
            }
            (first, false) => self.first_ac(bits, block, ac, first, run),
            (_, true) => self.refine_ac(bits, block, ac.ok_or(NO_TABLE)?, run),
        }
    }

    fn first_dc(
        &self,
        bits: &mut Bits<'_>,
        block: &mut [i16; 64],
        table: Option<&Table>,
        before: &mut i32,
    ) -> Result<(), Why> {
        let n = u32::from(bits.code(table.ok_or(NO_TABLE)?)?);
        if n > 16 {
            return Err("a coefficient is too large");
        }
        *before = before.wrapping_add(bits.number(n));
        block[0] = (*before << self.low) as i16;
        Ok(())
    }

    fn first_ac(
        &self,
        bits: &mut Bits<'_>,
        block: &mut [i16; 64],
        table: Option<&Table>,
        first: usize,
        run: &mut u32,
    ) -> Result<(), Why> {
        if *run > 0 {
            *run -= 1;
            return Ok(());
        }
        let table = table.ok_or(NO_TABLE)?;
        let mut k = first;
        while k <= self.last {
            let code = bits.code(table)?;
            let (zeros, n) = (usize::from(code >> 4), u32::from(code & 15));
            match (zeros, n) {
                (15, 0) => k += 16,
                (zeros, 0) => {
                    // The end of this block and, in steps, of others.
                    if self.is_progressive && zeros > 0 {
                        *run = (1 << zeros) + bits.take(zeros as u32) - 1;
                    }
                    break;
                }
                (zeros, n) => {
                    k += zeros;
                    let number = bits.number(n);
                    if let Some(zigzag) = ZIGZAG.get(k) {
                        block[usize::from(*zigzag)] = (number << self.low) as i16;
                    }
                    k += 1;
                }
            }
        }
        Ok(())
    }

    fn refine_ac(
        &self,
        bits: &mut Bits<'_>,
        block: &mut [i16; 64],
        table: &Table,
        run: &mut u32,
    ) -> Result<(), Why> {
        let step = 1_i16 << self.low;
        // What is there already gets a bit, away from 0.
        let refine = |bits: &mut Bits<'_>, value: &mut i16| {
            if bits.take(1) > 0 && *value & step == 0 {
                *value = value.wrapping_add(if *value >= 0 { step } else { -step });
            }
        };
        let mut k = self.first;
        if *run == 0 {
            while k <= self.last {
                let code = bits.code(table)?;
                let (mut zeros, n) = (usize::from(code >> 4), code & 15);
                let new = match (zeros, n) {
                    (_, 1) => {
                        if bits.take(1) > 0 {
                            step
                        } else {
                            -step
                        }
                    }
                    (15, 0) => 0,
                    (zeros, 0) => {
                        *run = (1 << zeros) + bits.take(zeros as u32);
                        break;
                    }
                    _ => return Err("a coefficient of a later scan is too large"),
                };
                while k <= self.last {
                    let value = &mut block[usize::from(ZIGZAG[k])];
                    if *value != 0 {
                        refine(bits, value);
                    } else if zeros == 0 {
                        if new != 0 {
                            *value = new;
                        }
                        break;
                    } else {
                        zeros -= 1;
                    }
                    k += 1;
                }
                k += 1;
            }
        }
        if *run > 0 {
            while k <= self.last {
                let value = &mut block[usize::from(ZIGZAG[k])];
                if *value != 0 {
                    refine(bits, value);
                }
                k += 1;
            }
            *run -= 1;
        }
        Ok(())
    }
}
