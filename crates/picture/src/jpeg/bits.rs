//! Bits of a scan, and Huffman's codes in them.

use super::Why;

/// The codes of a table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// For each of the first 9 bits: the length of a code in them, or 0, and its value.
    quick: Vec<(u8, u8)>,
    /// For each length: the greatest code, or −1, and what to add to a code for its value's place.
    most: [i32; 18],
    shift: [i32; 17],
    values: Vec<u8>,
}

const QUICK: u32 = 9;

impl Table {
    pub fn new(counts: &[u8], values: &[u8]) -> Result<Self, Why> {
        let mut quick = vec![(0, 0); 1 << QUICK];
        let (mut most, mut shift) = ([-1_i32; 18], [0_i32; 17]);
        let (mut code, mut place) = (0_i32, 0_i32);
        for (length, count) in (1_usize..).zip(counts) {
            let count = i32::from(*count);
            shift[length] = place - code;
            if count > 0 {
                if code + count > 1 << length {
                    return Err("its codes are impossible");
                }
                for k in 0..count {
                    if length as u32 <= QUICK {
                        let spare = QUICK - length as u32;
                        let first = ((code + k) as usize) << spare;
                        let value = values[(place + k) as usize];
                        quick[first..first + (1 << spare)].fill((length as u8, value));
                    }
                }
                code += count;
                place += count;
                most[length] = code - 1;
            }
            code <<= 1;
        }
        Ok(Self { quick, most, shift, values: values.to_vec() })
    }
}

/// Reads bits up to the next marker, after which there are only zeros.
pub(super) struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
    held: u64,
    n: u32,
    /// The number of bits that were made up at the end.
    made_up: u32,
}

impl<'b> Bits<'b> {
    pub fn new(bytes: &'b [u8], at: usize) -> Self {
        Self { bytes, at, held: 0, n: 0, made_up: 0 }
    }

    fn fill(&mut self) {
        while self.n <= 48 {
            let next = match self.bytes.get(self.at..) {
                Some([0xFF, 0, ..]) => {
                    self.at += 2;
                    0xFF
                }
                Some([0xFF, ..]) | Some([]) | None => {
                    self.made_up += 8;
                    0
                }
                Some([byte, ..]) => {
                    self.at += 1;
                    *byte
                }
            };
            self.held |= u64::from(next) << (56 - self.n);
            self.n += 8;
        }
    }

    /// Returns true if the file ended where bits were needed, and false if a marker came.
    pub fn ended(&self) -> bool {
        self.made_up > self.n && self.bytes.get(self.at..).is_none_or(|rest| rest.len() < 2)
    }

    /// Returns true if the file ended while bits were read ahead, and false if a marker came: libjpeg waits for more.
    pub fn starved(&self) -> bool {
        self.made_up > 0 && self.bytes.get(self.at..).is_none_or(|rest| rest.len() < 2)
    }

    /// The next `n` bits, at most 16.
    pub fn take(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        if self.n < n {
            self.fill();
        }
        let bits = (self.held >> (64 - n)) as u32;
        self.held <<= n;
        self.n -= n;
        bits
    }

    /// The next number with this many bits: those that begin with 0 are negative.
    pub fn number(&mut self, n: u32) -> i32 {
        let bits = self.take(n) as i32;
        if n > 0 && bits < 1 << (n - 1) { bits - (1 << n) + 1 } else { bits }
    }

    /// The value of the next code.
    pub fn code(&mut self, table: &Table) -> Result<u8, Why> {
        if self.n < 16 {
            self.fill();
        }
        let (length, value) = table.quick[(self.held >> (64 - QUICK)) as usize];
        if length > 0 {
            self.held <<= length;
            self.n -= u32::from(length);
            return Ok(value);
        }
        for length in QUICK + 1..=16 {
            let code = (self.held >> (64 - length)) as i32;
            let most = table.most[length as usize];
            if most >= 0 && code <= most {
                self.held <<= length;
                self.n -= length;
                let place = code + table.shift[length as usize];
                return table.values.get(place as usize).copied().ok_or("a code has no value");
            }
        }
        Err("a code is not in its table")
    }

    /// Skips to the restart marker that ends this part; where it is missing, everything up to the next marker.
    pub fn restart(&mut self) {
        (self.held, self.n, self.made_up) = (0, 0, 0);
        let mut at = self.at;
        while let Some(pair) = self.bytes.get(at..at + 2) {
            match pair {
                [0xFF, 0xD0..=0xD7] => {
                    self.at = at + 2;
                    return;
                }
                [0xFF, 0 | 0xFF] | [0..=0xFE, _] => at += 1,
                _ => return,
            }
        }
    }

    /// The end of the scan.
    pub fn end(&self) -> usize {
        self.at
    }
}
