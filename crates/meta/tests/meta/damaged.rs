//! Damaged files end in words, and never in a panic.

use capeval_meta::benchmarks;

use super::forms::files;
use super::*;

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below.max(1)
    }
}

fn damage(content: &[u8], kind: usize, numbers: &mut Numbers) -> Vec<u8> {
    let mut damaged = content.to_vec();
    let at = numbers.next(damaged.len());
    match kind {
        0 => damaged.truncate(at),
        1 => damaged[at] ^= 1 << numbers.next(8),
        2 => damaged[at] = b"\x00\xff\"',[]{}\n:0-"[numbers.next(12)],
        3 => drop(damaged.remove(at)),
        4 => {
            let part = damaged[at..(at + 20).min(damaged.len())].to_vec();
            let to = numbers.next(damaged.len());
            damaged.splice(to..to, part);
        }
        _ => {
            let other = numbers.next(damaged.len());
            damaged.swap(at, other);
        }
    }
    damaged
}

#[test]
fn damaged_files_end_in_words() {
    let mut numbers = Numbers(30);
    let (mut read, mut refused) = (0, 0);
    for benchmark in benchmarks() {
        // The six of LongCap-Arena have one form.
        if benchmark.name.starts_with("longcap-arena") && !benchmark.name.ends_with("a-desc") {
            continue;
        }
        let whole = files(&benchmark.name);
        for round in 0..36 {
            let mut all = whole.clone();
            let file = round % all.len();
            all[file].1 = damage(&all[file].1, round % 6, &mut numbers);
            let all: Vec<(&str, &[u8])> =
                all.iter().map(|(name, content)| (*name, content.as_slice())).collect();
            match run_on(&benchmark.name, &all, &["rouge-l"]) {
                Ok(report) => {
                    read += 1;
                    assert!(text(&report, Form::Json).contains(&benchmark.name));
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().len() > 10, "{error}");
                }
            }
        }
    }
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}
