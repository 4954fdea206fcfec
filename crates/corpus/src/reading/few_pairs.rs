//! Checks the pairing of few images: compares each caption with the references of each image.
//!
//! Words weigh more the fewer images contain them. The table of what captions share with images is centred by rows and
//! columns. The sum over pairs, in standard deviations over all possible pairings, is therefore near 0 for captions of
//! other images, however long or common they are. Another order is accepted if it fits far better than the file's own:
//! either an order that is common in files, or the best one of all, if the pairs that each half of the words finds are
//! also good by the other half.

use std::collections::{HashMap, HashSet};

use super::pairing::{Mispairing, Order};
use super::words::Words;

/// With fewer images, or fewer captions that differ, chance decides.
const FEWEST: usize = 8;

/// With fewer, captions that fit no order may be weak ones.
const FEWEST_UNRELATED: usize = 20;

/// Captions that gain fewer standard deviations fit no better than those of other images.
const LEAST_Z: f64 = 0.0;

/// With more than this, the order of the files is the right one.
const MOST_Z: f64 = 2.0;

/// Another order that is common in files must fit this many standard deviations better.
const LAG_Z: f64 = 5.5;

/// Any other order must fit this many better.
const BEST_Z: f64 = 7.0;

/// The most rows by which captions are looked for elsewhere, and the fewest that are shifted.
const FARTHEST: isize = 3;
const FEWEST_SHIFTED: usize = 6;

/// How well captions fit the references of their own images, in standard deviations, and what is wrong if they do not;
/// `None` if they are too few or too alike to tell.
pub(super) fn look(captions: &[Words], references: &[Vec<Words>]) -> Option<(f64, Option<Mispairing>)> {
    let n = captions.len();
    if n < FEWEST {
        return None;
    }
    let table = Table::new(captions, references, |_| true)?;
    let own = table.z(Some);
    let n_distinct =
        captions.iter().collect::<HashSet<_>>().len().min(references.iter().collect::<HashSet<_>>().len());
    let found = usual(&table, own).or_else(|| {
        if n_distinct < FEWEST || own >= MOST_Z {
            return None;
        }
        let is_odd = |word: u64| word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 1;
        let odd = Table::new(captions, references, is_odd);
        let even = Table::new(captions, references, |word| !is_odd(word));
        let best = odd.zip(even).map_or(0.0, |(odd, even)| {
            let (by_odd, by_even) = (odd.best(), even.best());
            (even.z(|row| by_odd.get(row).copied()) + odd.z(|row| by_even.get(row).copied())) / 2.0_f64.sqrt()
        });
        match best >= BEST_Z {
            true => table.example().map(|(row, image)| Mispairing::Reordered(Order::Other { row, image })),
            false => {
                let is_enough = n_distinct >= FEWEST_UNRELATED && own < LEAST_Z;
                is_enough.then_some(Mispairing::Unrelated { t: own })
            }
        }
    });
    Some((own, found))
}

/// The order that files come to have in which captions fit far better than in their own.
fn usual(table: &Table, own: f64) -> Option<Mispairing> {
    let n = table.n;
    let mut found: Vec<(f64, Mispairing)> = Vec::new();
    for rows in (-FARTHEST..=FARTHEST).filter(|rows| *rows != 0) {
        let mut sum = 0.0;
        for row in (0..n).rev() {
            let there = row.checked_add_signed(rows).filter(|there| *there < n);
            sum += there.map_or(0.0, |there| table.at(row, there)) - table.at(row, row);
            if n - row >= FEWEST_SHIFTED {
                found.push((sum, Mispairing::Shifted { rows, from: row + 1 }));
            }
        }
    }
    let reversed = table.z(|row| n.checked_sub(row + 1));
    found.push((reversed - own, Mispairing::Reordered(Order::Reversed)));
    for first in [0, 1] {
        let mut as_text: Vec<usize> = (0..n).collect();
        as_text.sort_by_key(|row| (row + first).to_string());
        let z = table.z(|row| as_text.get(row).copied());
        let back = table.z(|row| as_text.iter().position(|there| *there == row));
        found.push((z.max(back) - own, Mispairing::Reordered(Order::AsText)));
    }
    let best = found.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > LAG_Z).then_some(best.1)
}

/// What each caption shares with the references of each image, in standard deviations of a sum over pairs.
struct Table {
    n: usize,
    values: Vec<f64>,
}

impl Table {
    /// By the words that count; `None` if all captions share the same with all images.
    fn new(captions: &[Words], references: &[Vec<Words>], counts: impl Fn(u64) -> bool) -> Option<Self> {
        let n = captions.len();
        let mut n_images: HashMap<u64, usize> = HashMap::new();
        for image in references {
            let distinct: HashSet<u64> = image.iter().flatten().copied().collect();
            distinct.into_iter().for_each(|word| *n_images.entry(word).or_default() += 1);
        }
        let weight = |word: u64| match counts(word) {
            true => (n as f64 / n_images.get(&word).map_or(1.0, |images| *images as f64)).ln(),
            false => 0.0,
        };
        let weigh =
            |bag: &Words| -> Vec<(u64, f64)> { bag.iter().map(|word| (*word, weight(*word))).collect() };
        let there: Vec<Vec<Vec<(u64, f64)>>> =
            references.iter().map(|image| image.iter().map(weigh).collect()).collect();
        let mut values = Vec::with_capacity(n * n);
        for own in captions.iter().map(weigh) {
            values.extend(
                there.iter().map(|image| image.iter().map(|bag| shared(&own, bag)).fold(0.0, f64::max)),
            );
        }
        let mean = |values: &mut dyn Iterator<Item = &f64>| values.sum::<f64>() / n as f64;
        let rows: Vec<f64> = values.chunks(n).map(|row| mean(&mut row.iter())).collect();
        let columns: Vec<f64> =
            (0..n).map(|column| mean(&mut values.iter().skip(column).step_by(n))).collect();
        let all = mean(&mut rows.iter());
        for (k, value) in values.iter_mut().enumerate() {
            *value -= rows[k / n] + columns[k % n] - all;
        }
        let squares: f64 = values.iter().map(|value| value * value).sum();
        let deviation = (squares / (n as f64 - 1.0)).sqrt();
        values.iter_mut().for_each(|value| *value /= deviation);
        (deviation > 1e-9).then_some(Self { n, values })
    }

    fn at(&self, row: usize, image: usize) -> f64 {
        self.values.get(row * self.n + image).copied().unwrap_or_default()
    }

    /// How well an order fits.
    fn z(&self, image: impl Fn(usize) -> Option<usize>) -> f64 {
        (0..self.n).filter_map(|row| Some(self.at(row, image(row)?))).sum()
    }

    /// The row that another image fits best in the best order, with this image, both from 1.
    fn example(&self) -> Option<(usize, usize)> {
        let others = self.best().into_iter().enumerate().filter(|(row, image)| row != image);
        let gain = |(row, image): &(usize, usize)| self.at(*row, *image) - self.at(*row, *row);
        let example = others.max_by(|a, b| gain(a).total_cmp(&gain(b)));
        example.map(|(row, image)| (row + 1, image + 1))
    }

    /// The image of each row in the order that fits best, by the method of Kuhn and Munkres with potentials.
    fn best(&self) -> Vec<usize> {
        let n = self.n;
        let (mut of_row, mut of_image) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        // Row and image 0 stand for none.
        let mut rows = vec![0; n + 1];
        for row in 1..=n {
            rows[0] = row;
            let (mut least, mut before, mut is_seen) =
                (vec![f64::INFINITY; n + 1], vec![0; n + 1], vec![false; n + 1]);
            let mut image = 0;
            while rows[image] != 0 {
                is_seen[image] = true;
                let (here, mut step, mut next) = (rows[image], f64::INFINITY, 0);
                for other in (1..=n).filter(|other| !is_seen[*other]) {
                    let cost = -self.at(here - 1, other - 1) - of_row[here] - of_image[other];
                    if cost < least[other] {
                        (least[other], before[other]) = (cost, image);
                    }
                    if least[other] < step {
                        (step, next) = (least[other], other);
                    }
                }
                for other in 0..=n {
                    match is_seen[other] {
                        true => {
                            of_row[rows[other]] += step;
                            of_image[other] -= step;
                        }
                        false => least[other] -= step,
                    }
                }
                image = next;
            }
            while image != 0 {
                rows[image] = rows[before[image]];
                image = before[image];
            }
        }
        let mut images = vec![0; n];
        (1..=n).for_each(|image| images[rows[image] - 1] = image - 1);
        images
    }
}

/// The F1 of two sets of words with weights.
fn shared(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0.0);
    while let (Some((x, weight)), Some((y, _))) = (a.get(i), b.get(j)) {
        common += if x == y { *weight } else { 0.0 };
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    let all: f64 = a.iter().chain(b).map(|(_, weight)| weight).sum();
    if common == 0.0 { 0.0 } else { 2.0 * common / all }
}
