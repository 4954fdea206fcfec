//! Random numbers that are the same on every machine, in every version and on every thread.

/// A stream of random numbers that is a function of a seed, a purpose and an index.
///
/// The generator is xoshiro256++ of Blackman and Vigna, *Scrambled Linear Pseudorandom Number Generators*
/// (2021), started as its authors advise from SplitMix64. Streams of different seeds, purposes or indices
/// start from unrelated states.
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

/// The purpose of a stream, so that two uses of one seed never share their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Drawing rows with replacement.
    Bootstrap,
    /// Exchanging the rows of two systems.
    Exchange,
    /// Dealing rows into blocks.
    Blocks,
    /// Any other use; the number keeps uses apart.
    Other(u32),
}

impl Stream {
    /// The stream number `index` of `seed` for one purpose.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let purpose = match purpose {
            Purpose::Bootstrap => 1,
            Purpose::Exchange => 2,
            // Above all numbers of 32 bits, which the other uses take.
            Purpose::Blocks => 1 << 33,
            Purpose::Other(number) => 3 + u64::from(number),
        };
        let mut mixer = SplitMix(seed);
        for word in [purpose, index] {
            mixer = SplitMix(mixer.next() ^ word);
        }
        Self { state: [(); 4].map(|()| mixer.next()) }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Calls `take` with `n` uniform random numbers below `n`.
    ///
    /// Each 64 bits give two numbers; the few that would bias the result are drawn again (Lemire,
    /// *Fast Random Integer Generation in an Interval*, 2019).
    #[inline]
    pub fn draws(&mut self, n: u32, mut take: impl FnMut(u32)) {
        if n == 0 {
            return;
        }
        let unfair = n.wrapping_neg() % n;
        let mut left = n;
        while left > 0 {
            let bits = self.bits();
            for half in [bits as u32, (bits >> 32) as u32] {
                let product = u64::from(half) * u64::from(n);
                if product as u32 >= unfair && left > 0 {
                    take((product >> 32) as u32);
                    left -= 1;
                }
            }
        }
    }

    /// The number of successes in `n` trials of probability `part` / `whole`, of which `whole` is the greater.
    ///
    /// A trial compares random bits with the binary digits of the probability until they differ. How many of the trials
    /// differ at a digit is all that matters, so that a digit takes a bit for each trial that is open, and all digits
    /// two.
    #[inline(always)]
    pub fn binomial(&mut self, n: u32, part: u32, whole: u32) -> u32 {
        let (mut rest, whole) = (u64::from(part), u64::from(whole));
        let (mut successes, mut open) = (0, n);
        while open > 0 && rest > 0 {
            let ones = self.ones(open);
            rest *= 2;
            if rest >= whole {
                rest -= whole;
                successes += open - ones;
                open = ones;
            } else {
                open -= ones;
            }
        }
        successes
    }

    /// The number of ones among `n` random bits.
    #[inline(always)]
    fn ones(&mut self, n: u32) -> u32 {
        let mut ones = 0;
        for _ in 0..n / 64 {
            ones += self.bits().count_ones();
        }
        match n % 64 {
            0 => ones,
            rest => ones + (self.bits() >> (64 - rest)).count_ones(),
        }
    }

    /// Adds `n` uniform random numbers below `below`, which is 1 to 256, to `bytes`.
    #[inline]
    pub(crate) fn bytes(&mut self, below: usize, n: usize, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        let end = start + n;
        if below == 256 {
            bytes.resize(end.next_multiple_of(8) + 8, 0);
            let eights = bytes[start..].as_chunks_mut().0.iter_mut().take(n.div_ceil(8));
            eights.for_each(|eight| *eight = self.bits().to_le_bytes());
        }
        let mask = (below.next_power_of_two() - 1) as u8;
        while bytes.len() < end {
            let eight = self.bits().to_le_bytes().map(|byte| byte & mask);
            bytes.extend(eight.iter().filter(|byte| usize::from(**byte) < below));
        }
        bytes.truncate(end);
    }

    /// `k` different numbers below `n` in the order drawn, every set equally likely; all numbers if `k` is `n` or more.
    pub fn sample(&mut self, n: u32, k: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (0..n).collect();
        let k = k.min(n);
        for at in 0..k {
            let other = at + self.below(n - at);
            all.swap(at as usize, other as usize);
        }
        all.truncate(k as usize);
        all
    }

    /// A uniform random number below `n`; 0 if `n` is 0.
    fn below(&mut self, n: u32) -> u32 {
        let unfair = if n == 0 { 0 } else { n.wrapping_neg() % n };
        loop {
            let product = (self.bits() >> 32) * u64::from(n);
            if product as u32 >= unfair {
                return (product >> 32) as u32;
            }
        }
    }
}

/// The block, below `n`, into which `seed` deals the row named `name`; every block is equally likely.
///
/// It depends on nothing but these three, so it is the same on every machine that sees the row.
pub fn block(seed: u64, name: &str, n: u32) -> u32 {
    Stream::new(seed, Purpose::Blocks, fingerprint(&[name])).below(n)
}

/// A hash of a list of texts, for seeding a [`Stream`] by content rather than by position: FNV-1a over the texts and
/// their lengths.
pub fn fingerprint(texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain((text.len() as u64).to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// SplitMix64 of Steele, Lea and Flood (2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the authors' `xoshiro256plusplus.c` from the state 1, 2, 3, 4, as the crate
    /// rand_xoshiro 0.8 tests them too.
    #[test]
    fn numbers_equal_those_of_the_authors_program() {
        let mut stream = Stream { state: [1, 2, 3, 4] };
        let expected = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!([(); 4].map(|()| stream.bits()), expected);
    }

    /// The first outputs of the authors' `splitmix64.c` from 1234567, which many ports test.
    #[test]
    fn mixing_equals_that_of_the_authors_program() {
        let mut mixer = SplitMix(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| mixer.next()), expected);
    }

    #[test]
    fn draws_are_below_their_bound_and_fair() {
        let mut counts = [0_u32; 10];
        for index in 0..10_000 {
            Stream::new(1, Purpose::Bootstrap, index).draws(10, |row| counts[row as usize] += 1);
        }
        assert_eq!(counts.iter().sum::<u32>(), 100_000);
        let chi_square: f64 = counts.iter().map(|n| (f64::from(*n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi_square < 27.9, "{counts:?}: beyond the 0.1 % point of 9 degrees of freedom");
    }

    /// The numbers of successes follow the binomial law, for probabilities that end after a digit and that do not.
    #[test]
    fn successes_are_as_many_as_the_binomial_law_says() {
        for (part, whole, n) in [(1_u32, 2_u32, 3_u32), (1, 3, 5), (2048, 3907, 4), (9, 10, 2)] {
            let mut counts = vec![0.0; n as usize + 1];
            for index in 0..20_000 {
                let successes = Stream::new(5, Purpose::Other(2), index).binomial(n, part, whole);
                counts[successes as usize] += 1.0;
            }
            let p = f64::from(part) / f64::from(whole);
            let mut ways = 1.0;
            let mut square = 0.0;
            for (k, count) in (0..=n).zip(counts) {
                let expected = 2e4 * ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
                ways *= f64::from(n - k) / f64::from(k + 1);
                square += (count - expected).powi(2) / expected;
            }
            assert!(square < 20.6, "{square}: beyond the 0.1 % point of 5 degrees of freedom");
        }
        let many = Stream::new(5, Purpose::Other(3), 0).binomial(1_000_000, 1, 3);
        assert!(many.abs_diff(333_333) < 5 * 472, "{many}");
        assert_eq!(Stream::new(5, Purpose::Other(3), 0).binomial(0, 1, 3), 0);
    }

    #[test]
    fn samples_hold_no_number_twice_and_each_as_often() {
        let mut counts = [0_u32; 6];
        for index in 0..20_000 {
            let mut sample = Stream::new(3, Purpose::Other(1), index).sample(6, 2);
            sample.iter().for_each(|number| counts[*number as usize] += 1);
            sample.sort_unstable();
            sample.dedup();
            assert_eq!(sample.len(), 2);
        }
        let chi_square: f64 = counts.iter().map(|n| (f64::from(*n) - 2e4 / 3.0).powi(2) / (2e4 / 3.0)).sum();
        assert!(chi_square < 20.5, "{counts:?}: beyond the 0.1 % point of 5 degrees of freedom");
        let mut all = Stream::new(3, Purpose::Other(1), 0).sample(4, 9);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(Stream::new(3, Purpose::Other(1), 0).sample(0, 2), [0_u32; 0]);
    }

    /// FNV-1a of 64 bits, of no byte and of `a` and eight bytes of its length, computed by hand with Python's integers.
    #[test]
    fn fingerprints_distinguish_lists_of_texts() {
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
        let all = [fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]), fingerprint(&["c", "ab"])];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert_eq!(fingerprint(&["a"]), 0xdedf_9f98_2e43_402d);
    }

    #[test]
    fn blocks_are_fair_and_depend_on_seed_and_name_only() {
        let mut counts = [0_u32; 8];
        for row in 0..80_000 {
            counts[block(7, &row.to_string(), 8) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|n| (f64::from(*n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi_square < 24.3, "{counts:?}: beyond the 0.1 % point of 7 degrees of freedom");
        let moved = (0..1000).filter(|row| block(7, &row.to_string(), 8) != block(8, &row.to_string(), 8));
        assert!((800..950).contains(&moved.count()), "another seed deals differently");
        assert_eq!(block(7, "a", 1), 0);
    }

    #[test]
    fn seeds_purposes_and_indices_keep_streams_apart() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).bits();
        let all = [
            first(0, Purpose::Bootstrap, 0),
            first(0, Purpose::Bootstrap, 1),
            first(1, Purpose::Bootstrap, 0),
            first(0, Purpose::Exchange, 0),
            first(0, Purpose::Other(0), 0),
        ];
        for (k, one) in all.iter().enumerate() {
            assert!(!all[..k].contains(one));
        }
    }
}
