//! Components with fewer samples than pixels, enlarged as `jdsample.c` does: smoothly by 2, by repetition otherwise.

/// The samples of a component.
pub(super) struct Plane {
    pub samples: Vec<u8>,
    /// The number of samples from one row to the next.
    pub stride: usize,
    /// The number of samples of the picture in a row, and of rows.
    pub width: usize,
    pub height: usize,
}

impl Plane {
    /// The samples for a picture of this size, where each stands for `across` × `down` pixels.
    pub fn enlarged(&self, across: usize, down: usize, width: usize, height: usize) -> Vec<u8> {
        // Narrow ones are repeated.
        let is_wide = self.width > 2;
        let mut out = Vec::with_capacity(width * height);
        let mut line: Vec<u8> = Vec::new();
        for y in 0..height {
            let row = self.row(y / down);
            line.clear();
            match (across, down) {
                (1, 1) => line.extend_from_slice(row),
                (2, 1) if is_wide => smooth_across(row, &mut line),
                (1, 2) => {
                    // The rows beyond the first and the last are these again.
                    let is_upper = y % 2 == 0;
                    let bias = if is_upper { 1 } else { 2 };
                    let sum = |(near, far): (&u8, &u8)| {
                        ((3 * u16::from(*near) + u16::from(*far) + bias) >> 2) as u8
                    };
                    line.extend(row.iter().zip(self.other(y / 2, is_upper)).map(sum));
                }
                (2, 2) if is_wide => {
                    let sum = |(near, far): (&u8, &u8)| 3 * u16::from(*near) + u16::from(*far);
                    let sums: Vec<u16> = row.iter().zip(self.other(y / 2, y % 2 == 0)).map(sum).collect();
                    smooth_sums(&sums, &mut line);
                }
                _ => line.extend(row.iter().flat_map(|sample| std::iter::repeat_n(*sample, across))),
            }
            line.resize(width, 0);
            out.extend_from_slice(&line);
        }
        out
    }

    fn row(&self, y: usize) -> &[u8] {
        let first = y.min(self.height.saturating_sub(1)) * self.stride;
        &self.samples[first..first + self.width]
    }

    /// The row above or below.
    fn other(&self, y: usize, is_above: bool) -> &[u8] {
        self.row(if is_above { y.saturating_sub(1) } else { y + 1 })
    }
}

/// Twice as many samples: three parts of the nearer one and one of the other; halves are rounded down and up in turn.
fn smooth_across(row: &[u8], line: &mut Vec<u8>) {
    let sample = |at: usize| u16::from(row[at]);
    let last = row.len() - 1;
    for at in 0..row.len() {
        let own = 3 * sample(at);
        line.push(if at == 0 { row[0] } else { ((own + sample(at - 1) + 1) >> 2) as u8 });
        line.push(if at == last { row[last] } else { ((own + sample(at + 1) + 2) >> 2) as u8 });
    }
}

/// The same of sums of two rows, of which each is four times a sample.
fn smooth_sums(sums: &[u16], line: &mut Vec<u8>) {
    let last = sums.len() - 1;
    for (at, sum) in sums.iter().enumerate() {
        let left = if at == 0 { 4 * sum + 8 } else { 3 * sum + sums[at - 1] + 8 };
        let right = if at == last { 4 * sum + 7 } else { 3 * sum + sums[at + 1] + 7 };
        line.extend([(left >> 4) as u8, (right >> 4) as u8]);
    }
}
