//! Scores that survive runs: what a metric that is computed outside of the engine has given, stored in a file.
//!
//! Each metric has a file of sorted keys, 128 bits of SHA-256 over all that a score depends on, and of scores, in the
//! container of prepared references, whose checksum tells damage. While a metric runs, the file is rewritten whole with
//! what other processes have added, under a lock, at most every two seconds and for a fiftieth of the time, so a kill
//! costs seconds. A metric is known by its name, its version and its code, and each code has a file. SQLite would do
//! the same with a megabyte of C in every wheel; redb admits one process at a time. 40,504 scores take 1 MB.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use capeval_arrays::{Error, Format, Key, KeyedRows, Reader, SharedBytes, Writer, key_of_hash};
use capeval_choice::{Argument, Code, Notice, Remedy};
use sha2::{Digest, Sha256};

use super::{Identity, OutsideRow, Picture};

const FORMAT: Format = Format { magic: KeptScores::MAGIC, version: 1, noun: "scores" };

/// The greatest number of bytes of a file's arrays.
const MOST_BYTES: usize = 64_000_000;

/// The place where scores survive runs.
pub trait ScoreStore: Send + Sync {
    /// The scores that earlier runs have kept of a metric of this name.
    fn open(&self, name: &str, identity: &str, n_measures: usize) -> KeptScores;
    /// Keeps what was added. What cannot be written is no reason to end a run.
    fn save(&self, scores: &KeptScores);
}

/// The store of a task, for [`Resources`](capeval_evaluate::registry::Resources).
#[derive(Clone)]
pub struct OutsideScores(pub Arc<dyn ScoreStore>);

impl fmt::Debug for OutsideScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OutsideScores")
    }
}

/// The scores of a metric that earlier runs have kept, and those of this run.
pub struct KeptScores {
    name: String,
    /// The identity of the metric: all that its scores depend on beside a row.
    identity: String,
    n_measures: usize,
    known: KeyedRows<f64>,
    /// Marks the known scores that this run needed.
    needed: Vec<AtomicBool>,
    added: Mutex<BTreeMap<Key, Vec<f64>>>,
    notice: Option<Notice>,
}

impl KeptScores {
    /// The first bytes of a file.
    pub const MAGIC: [u8; 8] = *b"capevalM";

    /// The scores in the bytes of a file, which must be aligned to 8 bytes; without bytes, none. There are none and a
    /// notice if the bytes are damaged or of another metric.
    pub fn open(bytes: Option<SharedBytes>, name: &str, identity: &str, n_measures: usize) -> Self {
        let restored = bytes.map(|bytes| restore(bytes, identity, n_measures)).transpose();
        let (known, notice) = match restored {
            Ok(known) => (known, None),
            Err(error) => {
                let message = format!("{error}; scores of {name} are computed again");
                (None, Some(Notice::new(Code::ScoreCache, message)))
            }
        };
        let known = known.unwrap_or_else(|| KeyedRows::new(&BTreeMap::new(), n_measures));
        let needed = (0..known.n_rows()).map(|_| AtomicBool::default()).collect();
        let (name, identity) = (name.to_owned(), identity.to_owned());
        Self { name, identity, n_measures, known, needed, added: Mutex::default(), notice }
    }

    /// The scores of the same metric in the bytes of its file, which another program may have changed since.
    pub fn reopen(&self, bytes: Option<SharedBytes>) -> Self {
        Self::open(bytes, &self.name, &self.identity, self.n_measures)
    }

    /// The name of the metric.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The identity of the metric: all that its scores depend on beside a row.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// The number of scores that this run has added.
    pub fn n_added(&self) -> usize {
        self.added.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The reason why the bytes of a file are not used.
    pub(super) fn notice(&self) -> Option<Notice> {
        self.notice.clone()
    }

    /// The scores under a key, by measure; `None` if they were not kept.
    pub(super) fn get(&self, key: Key) -> Option<&[f64]> {
        let row = self.known.find(key)?;
        self.needed[row].store(true, Ordering::Relaxed);
        Some(self.known.row(row))
    }

    /// Keeps the scores of a row; what is no number is not kept.
    pub(super) fn keep(&self, key: Key, scores: &[f64]) {
        if scores.len() == self.n_measures && !scores.iter().any(|score| score.is_nan()) {
            self.added.lock().unwrap_or_else(PoisonError::into_inner).insert(key, scores.to_vec());
        }
    }

    /// Writes the scores that this run added, those that it needed, and those that are `stored` by now, as many as fit.
    pub fn write(&self, stored: &Self, out: impl Write) -> io::Result<()> {
        self.write_within(MOST_BYTES, stored, out)
    }

    fn write_within(&self, room: usize, stored: &Self, out: impl Write) -> io::Result<()> {
        let n = self.n_measures;
        let room = room / (size_of::<Key>() + n * size_of::<f64>());
        let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.known.iter().zip(&self.needed);
        let needed = known.filter(|(_, needed)| needed.load(Ordering::Relaxed)).map(|(row, _)| row);
        let all = added
            .iter()
            .map(|(key, scores)| (*key, scores.as_slice()))
            .chain(needed)
            .chain(stored.known.iter());
        let mut kept: BTreeMap<Key, &[f64]> = BTreeMap::new();
        for (key, scores) in all {
            if kept.len() == room {
                break;
            }
            kept.entry(key).or_insert(scores);
        }
        let rows = KeyedRows::new(&kept, n);
        let mut writer = Writer::default();
        rows.write(&mut writer);
        writer.write(&FORMAT, &self.identity, out)
    }
}

/// The rows in a file, if they are of this metric.
fn restore(bytes: SharedBytes, identity: &str, n_measures: usize) -> Result<KeyedRows<f64>, Error> {
    let mut reader = Reader::open(&FORMAT, bytes)?;
    if reader.description() != identity {
        return Err(Error::new("this file of scores is of another metric"));
    }
    KeyedRows::read(&mut reader, n_measures, |score: &f64| !score.is_nan())
}

/// The hash of all that a score depends on beside the metric; `None` if the picture has no path, so that no later run
/// could tell it from another. Each part has a letter of its own before it, since some parts may be absent.
pub(super) fn key(identity: &Identity, row: &OutsideRow<'_>) -> Option<Key> {
    let mut hash = Sha256::new();
    let mut add = |letter: u8, text: &str| {
        hash.update([letter]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    match row.picture {
        None => {}
        Some(Picture::File { path, state }) => {
            add(b'p', path);
            add(b'f', state);
        }
        Some(Picture::Held) => return None,
    }
    if identity.knows_images {
        add(b'i', &row.told());
    }
    row.system.iter().for_each(|system| add(b's', system));
    row.rival.iter().for_each(|rival| add(b'o', rival));
    add(b'c', row.candidate);
    row.references.iter().for_each(|reference| add(b'r', reference));
    Some(key_of_hash(&hash.finalize()))
}

/// Makes each key one of all of them in this order, since a score depends on all.
pub(super) fn join(keys: &mut [Option<Key>]) {
    let mut hash = Sha256::new();
    let all: Option<Vec<Key>> = keys.iter().copied().collect();
    all.iter().flatten().flatten().for_each(|half| hash.update(half.to_le_bytes()));
    for (number, key) in keys.iter_mut().enumerate() {
        *key = all
            .as_ref()
            .map(|_| key_of_hash(&hash.clone().chain_update((number as u64).to_le_bytes()).finalize()));
    }
}

/// The notice in a report about scores that were not computed in its run.
pub(super) fn told(name: &str, n_known: usize, n: usize) -> Option<Notice> {
    let which = if n_known == n { "all".to_owned() } else { format!("{n_known} of {n}") };
    let message = format!("{which} scores by {name} were computed in earlier runs");
    let again = Remedy::set(Argument::ScoreCache, "none").to("compute them again");
    (n_known > 0).then(|| Notice::new(Code::KeptScores, message).remedy(again).count(n_known))
}

#[cfg(test)]
mod tests {
    use capeval_corpus::SegmentId;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn open(file: &[u8]) -> KeptScores {
        let mut words = vec![0_u64; file.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..file.len()].copy_from_slice(file);
        struct Words(Vec<u64>, usize);
        impl AsRef<[u8]> for Words {
            fn as_ref(&self) -> &[u8] {
                &bytemuck::cast_slice(&self.0)[..self.1]
            }
        }
        let words = Words(words, file.len());
        KeptScores::open((!file.is_empty()).then(|| Arc::new(words) as SharedBytes), "m", "m|1", 2)
    }

    fn written_within(room: usize, scores: &KeptScores, file: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        scores.write_within(room, &open(file), &mut out).unwrap();
        out
    }

    fn written(scores: &KeptScores, file: &[u8]) -> Vec<u8> {
        written_within(MOST_BYTES, scores, file)
    }

    /// A file with these keys, each of which has itself and its half as scores.
    fn file(keys: &[u64]) -> Vec<u8> {
        let scores = open(b"");
        keys.iter().for_each(|key| scores.keep([7, *key], &[*key as f64, *key as f64 / 2.0]));
        written(&scores, b"")
    }

    fn keys(file: &[u8]) -> Vec<u64> {
        let scores = open(file);
        assert_eq!(scores.notice, None);
        scores.known.iter().map(|(key, _)| key[1]).collect()
    }

    #[test]
    fn no_other_caption_has_the_key_of_a_row() {
        let row = OutsideRow {
            system: None,
            image: None,
            candidate: "x",
            rival: None,
            references: vec!["y"],
            picture: None,
        };
        let other = OutsideRow { rival: Some("x"), candidate: "y", references: Vec::new(), ..row.clone() };
        let identity = Identity { text: "m".to_owned(), knows_images: true };
        assert_ne!(key(&identity, &row), key(&identity, &other));
    }

    proptest! {
        #[test]
        fn keys_are_equal_if_rows_are(rows in proptest::array::uniform2(parts())) {
            let identity = Identity { text: "m".to_owned(), knows_images: true };
            let [one, two] = rows.each_ref().map(RowParts::row);
            prop_assert_eq!(one == two, key(&identity, &one) == key(&identity, &two));
        }
    }

    /// The parts of a row, borrowed.
    #[derive(Clone, Debug)]
    struct RowParts {
        names: [Option<String>; 2],
        image: Option<SegmentId>,
        candidate: String,
        references: Vec<String>,
        picture: Option<Picture>,
    }

    impl RowParts {
        fn row(&self) -> OutsideRow<'_> {
            let [system, rival] = self.names.each_ref().map(Option::as_deref);
            OutsideRow {
                system,
                image: self.image.as_ref(),
                candidate: &self.candidate,
                rival,
                references: self.references.iter().map(String::as_str).collect(),
                picture: self.picture.as_ref(),
            }
        }
    }

    /// Parts of rows of few letters, so that what separates them decides.
    fn parts() -> impl Strategy<Value = RowParts> {
        let text = || "[xy]{0,2}";
        let maybe = || proptest::option::of(text());
        let image = prop_oneof![
            text().prop_map(|id| SegmentId::from(id.as_str())),
            (0..2_i64).prop_map(SegmentId::from)
        ];
        let picture = (text(), text()).prop_map(|(path, state)| Picture::File { path, state });
        let all = (
            [maybe(), maybe()],
            proptest::option::of(image),
            text(),
            vec(text(), 0..3),
            proptest::option::of(picture),
        );
        all.prop_map(|(names, image, candidate, references, picture)| RowParts {
            names,
            image,
            candidate,
            references,
            picture,
        })
    }

    #[test]
    fn what_is_kept_comes_back_in_the_next_run() {
        let scores = open(&file(&[3, 1, 2]));
        assert_eq!((scores.get([7, 3]), scores.get([7, 1])), (Some(&[3.0, 1.5][..]), Some(&[1.0, 0.5][..])));
        assert_eq!((scores.get([7, 4]), scores.get([6, 3]), scores.n_added()), (None, None, 0));
        scores.keep([7, 5], &[f64::NAN, 0.0]);
        scores.keep([7, 6], &[0.0]);
        assert_eq!(scores.n_added(), 0, "neither what is no number nor what is not complete");
    }

    #[test]
    fn two_runs_at_once_lose_nothing() {
        let first = file(&[1]);
        let (one, other) = (open(&first), open(&first));
        one.keep([7, 2], &[0.0; 2]);
        other.keep([7, 3], &[0.0; 2]);
        assert_eq!(keys(&written(&other, &written(&one, &first))), [1, 2, 3]);
    }

    #[test]
    fn what_a_run_needed_stays_where_not_everything_fits() {
        let all = file(&[1, 2, 3, 4]);
        let scores = open(&all);
        scores.get([7, 4]);
        scores.keep([7, 5], &[0.0; 2]);
        let each = size_of::<Key>() + 2 * size_of::<f64>();
        for (room, kept) in [(5, &[1, 2, 3, 4, 5][..]), (4, &[1, 2, 4, 5]), (2, &[4, 5]), (1, &[5]), (0, &[])]
        {
            assert_eq!(keys(&written_within(room * each, &scores, &all)), kept);
            assert_eq!(keys(&written_within((room + 1) * each - 1, &scores, &all)), kept);
        }
    }

    #[test]
    fn a_file_that_cannot_be_used_is_told_and_begun_again() {
        let good = file(&[1, 2]);
        let why = |file: &[u8]| open(file).notice.map(|notice| notice.message).unwrap_or_default();
        for length in 1..good.len() {
            assert!(why(&good[..length]).contains("scores of m are computed again"));
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(!why(&bad).is_empty(), "byte {at}");
        }
    }

    #[test]
    fn damage_with_a_correct_checksum_does_not_panic() {
        let good = file(&[1, 2, 3]);
        for at in 0..good.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                assert!(capeval_arrays::reseal(&mut bad));
                let scores = open(&bad);
                (0..5).for_each(|key| drop(scores.get([7, key]).map(<[f64]>::to_vec)));
                scores.keep([7, 9], &[0.0; 2]);
                assert!(keys(&written(&scores, &bad)).contains(&9));
            }
        }
    }
}
