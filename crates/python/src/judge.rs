//! Rewards: scores batches of captions, given as texts or token ids, against fixed references.

use std::sync::Arc;

use capeval::corpus::{Ids, SegmentId};
use capeval::evaluate::batch::{Codes, MAX_CODE};
use capeval::metric::AnyMetric;
use capeval::report::Notice;
use capeval::text::Texts;
use capeval::{FirstBatches, MetricOptions, PairingCheck, Scorer, Several};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyString};
use serde::Deserialize;

use crate::captions::{id, id_list, key_value};
use crate::error::{fault, from_request, text, told, type_name, warn_of, within};
use crate::frequencies::DocumentFrequencies;
use crate::metrics::select;
use crate::run::{pool, run_on_pool};
use crate::score::ground;

/// The number of captions that are scored between two checks for Ctrl-C.
const SLICE: usize = 1 << 15;

/// Metrics that were fitted to references.
#[pyclass(frozen, module = "capeval._engine")]
pub struct Judge {
    engine: Arc<Scorer>,
    codes: Option<Codes>,
    /// By requested metric: the position of its first measure, and the keys of its measures without settings.
    places: Vec<(usize, Vec<String>)>,
    notices: Vec<Notice>,
    threads: Option<usize>,
    /// The words of token ids; `None` if these are digits.
    words: Option<Vec<String>>,
    /// What to do about several captions of an image.
    several: Several,
    first_batches: FirstBatches,
}

/// The metrics of a judge, and what captions are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgeOptions {
    metrics: MetricOptions,
    ids: Ids,
    /// The words of token ids; without them, the word for a token id is its decimal digits.
    words: Option<Vec<String>>,
    coded: bool,
    several: Several,
    pairing: PairingCheck,
    threads: Option<usize>,
}

#[pymethods]
impl Judge {
    /// Reads and counts references, and fits metrics to all of them.
    #[new]
    fn new(
        py: Python<'_>,
        references: &Bound<'_, PyAny>,
        frequencies: Option<&DocumentFrequencies>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let options: JudgeOptions = crate::options::options(options)?;
        let JudgeOptions { metrics, ids, words, coded, several, pairing, threads } = options;
        let selection = select(py, &metrics, frequencies)?;
        let notices = selection.notices;
        let table = frequencies.map(|table| Arc::clone(&table.table));
        let places = places(py, &metrics, frequencies, &selection.metrics)?;
        let references = ground(references)?;
        let engine = run_on_pool(py, threads, None, move |progress| {
            Scorer::new(references, ids, selection.metrics, table.as_ref(), progress)
        })?
        .map_err(from_request)?;
        let codes = if coded {
            let codes = match &words {
                Some(words) => engine.engine().codes(words.iter().map(String::as_str)),
                None => engine.engine().digits(),
            };
            Some(codes.map_err(|error| fault(&error))?)
        } else {
            None
        };
        several.check(engine.measures()).map_err(from_request)?;
        let engine = Arc::new(engine);
        let first_batches = FirstBatches::new(pairing);
        Ok(Self { engine, codes, places, notices, threads, words, several, first_batches })
    }

    /// Notices on the choice of metrics, and on the first batches: code and message.
    fn notices(&self) -> Vec<(String, String)> {
        self.notices
            .iter()
            .chain(&self.first_batches.told())
            .map(|notice| (notice.code.to_string(), told(notice)))
            .collect()
    }

    /// The keys of the measures.
    fn keys(&self) -> Vec<&str> {
        self.engine.measures().iter().map(|measure| measure.key.as_str()).collect()
    }

    /// For each requested metric, in order: the position of its first measure, and the keys of its measures without
    /// settings.
    fn places(&self) -> Vec<(usize, Vec<String>)> {
        self.places.clone()
    }

    /// The signatures of the metrics, by key, without the parts that depend on a batch.
    fn signatures(&self) -> Vec<(&str, String)> {
        let metrics = self.engine.metrics().iter().zip(self.engine.engine().metrics());
        metrics.map(|(entry, metric)| (entry.key.as_str(), metric.signature().to_string())).collect()
    }

    /// The names of the statistics of each metric: key, names.
    fn columns(&self) -> Vec<(&str, Vec<String>)> {
        let metrics = self.engine.metrics().iter().zip(self.engine.engine().metrics());
        metrics
            .map(|(entry, metric)| {
                let names = metric.about().columns.iter().map(|column| column.name.clone());
                (entry.key.as_str(), names.collect())
            })
            .collect()
    }

    /// The ids of the images, in order.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        id_list(py, self.engine.ids())
    }

    /// The scores of captions: float64, caption after caption, or image after image if several captions of an image
    /// count as one. The captions of an id are consecutive, and each has the same number of them.
    #[pyo3(signature = (ids, captions, statistics = false))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyList>,
        captions: &Bound<'py, PyList>,
        statistics: bool,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let images = self.images(ids, captions.len())?;
        let held: Vec<Bound<'py, PyAny>> = captions.iter().collect();
        let mut views = Vec::with_capacity(held.len());
        for (k, caption) in held.iter().enumerate() {
            let string = caption.cast::<PyString>().map_err(|_| {
                PyTypeError::new_err(format!("caption {k} must be a string, not {}", type_name(caption)))
            })?;
            views.push(text(string).map_err(|error| within(py, &format!("caption {k}"), &error))?);
        }
        if self.first_batches.are_wanted() {
            let some = views.get(..FirstBatches::SAMPLE).unwrap_or(&views);
            self.look(py, &images, some, true)?;
        }
        let engine = self.engine.engine();
        let pool = pool(py, self.threads)?;
        let mut values = Vec::new();
        for (images, texts) in images.chunks(SLICE).zip(views.chunks(SLICE)) {
            let texts: Texts = texts.iter().copied().collect();
            let part = py.detach(|| {
                pool.install(|| {
                    let rows = engine.statistics(images, &texts);
                    if statistics { rows } else { engine.scores(&rows).values }
                })
            });
            values.extend(part);
            py.check_signals()?;
        }
        if statistics {
            return numbers(py, &values);
        }
        self.rows(py, &images, values)
    }

    /// As `score`, for captions given as an int64 matrix of token ids with a row per caption; `cut` says which
    /// tokens count.
    fn score_codes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyList>,
        tokens: &Bound<'py, PyBytes>,
        width: usize,
        cut: TokenFilter,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let Some(codes) = &self.codes else {
            return Err(PyValueError::new_err(
                "this reward was made for texts; pass tokens=True or words=[…] to Reward() to use token ids",
            ));
        };
        let bytes = tokens.as_bytes();
        let n = (bytes.len() / 8).checked_div(width).unwrap_or(ids.len());
        let images = self.images(ids, n)?;
        if self.first_batches.are_wanted() {
            let some = images.get(..FirstBatches::SAMPLE).unwrap_or(&images);
            if let Ok((words, ends)) = cut.rows(bytes, some.len(), width, 0, self.n_words()) {
                let texts: Vec<String> = self.spelt(&words, &ends).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                self.look(py, some, &texts, false)?;
            }
        }
        let engine = self.engine.engine();
        let pool = pool(py, self.threads)?;
        let mut values = Vec::new();
        for (at, images) in images.chunks(SLICE).enumerate() {
            let rows = bytes.get(at * SLICE * 8 * width..).unwrap_or_default();
            let part = py.detach(|| {
                let (words, ends) = cut.rows(rows, images.len(), width, at * SLICE, self.n_words())?;
                Ok(pool.install(|| engine.score_codes(codes, images, &words, &ends).values))
            });
            values.extend(part.map_err(|sentence: String| PyValueError::new_err(sentence))?);
            py.check_signals()?;
        }
        self.rows(py, &images, values)
    }
}

impl Judge {
    /// The scorer behind this object.
    pub fn engine(&self) -> &Scorer {
        &self.engine
    }

    /// The number of threads; `None` for the default.
    pub fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// The number of words of token ids; `None` if these are digits.
    fn n_words(&self) -> Option<usize> {
        self.words.as_ref().map(Vec::len)
    }

    /// The texts of captions of token ids.
    fn spelt<'w>(&'w self, tokens: &'w [u32], ends: &'w [u64]) -> impl Iterator<Item = String> + 'w {
        let word = |token: &u32| match &self.words {
            Some(words) => words.get(*token as usize).cloned().unwrap_or_default(),
            None => token.to_string(),
        };
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(move |(start, end)| {
            let tokens = tokens.get(*start as usize..*end as usize).unwrap_or_default();
            tokens.iter().map(word).collect::<Vec<_>>().join(" ")
        })
    }

    /// Looks at captions of a first batch. The interpreter stays attached, so that no fork finds a lock taken; the
    /// threads are those of this process, which the common ones of a forked process are not.
    fn look(&self, py: Python<'_>, images: &[u32], texts: &[&str], are_texts: bool) -> PyResult<()> {
        let look = || self.first_batches.look(&self.engine, images, texts, are_texts);
        self.warn(py, &pool(py, self.threads)?.install(look))
    }

    /// Warns of what is wrong with the first batches.
    fn warn(&self, py: Python<'_>, notices: &[Notice]) -> PyResult<()> {
        notices.iter().try_for_each(|notice| warn_of(py, notice))
    }

    /// The scores of captions of `images`, in which several of an image count as the reward was told.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        images: &[u32],
        values: Vec<f64>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let rows = self.several.of_batch(images, values, self.engine.measures()).map_err(from_request)?;
        numbers(py, &rows)
    }

    /// The indices of the images of `n` captions, with the same number of captions for each id.
    fn images(&self, ids: &Bound<'_, PyList>, n: usize) -> PyResult<Vec<u32>> {
        let n_ids = ids.len();
        if n_ids == 0 && n == 0 {
            return Ok(Vec::new());
        }
        if n_ids == 0 || !n.is_multiple_of(n_ids) {
            return Err(PyValueError::new_err(format!(
                "there are {n} captions, but {n_ids} image ids; pass one id per caption, or per group of equal size"
            )));
        }
        let per_image = n / n_ids;
        let mut images = Vec::with_capacity(n);
        for key in ids {
            let key = key_value(&key).map_or_else(|| id(&key), Ok)?;
            let Some(image) = self.engine.image(&key) else {
                let other = match &key {
                    SegmentId::Integer(number) => Some(SegmentId::from(number.to_string().as_str())),
                    text => text.to_string().parse().ok().map(SegmentId::Integer),
                };
                let hint = match other.filter(|other| self.engine.image(other).is_some()) {
                    Some(other) => {
                        format!("; {} has, so pass ids as in the references, or ids=\"text\"", other.quoted())
                    }
                    None => String::new(),
                };
                return Err(PyKeyError::new_err(format!("image {} has no references{hint}", key.quoted())));
            };
            images.extend(std::iter::repeat_n(image, per_image));
        }
        Ok(images)
    }
}

/// The position of the first measure of each name in `options` among those of all `metrics`, and its keys without
/// settings.
fn places(
    py: Python<'_>,
    options: &MetricOptions,
    frequencies: Option<&DocumentFrequencies>,
    metrics: &[AnyMetric],
) -> PyResult<Vec<(usize, Vec<String>)>> {
    let mut places = Vec::with_capacity(options.names.len());
    for name in &options.names {
        let alone = MetricOptions { names: vec![name.clone()], ..options.clone() };
        let alone = select(py, &alone, frequencies)?.metrics;
        let Some(signature) = alone.first().map(AnyMetric::signature) else { continue };
        let before = metrics.iter().take_while(|metric| metric.signature() != signature);
        let first = before.map(|metric| metric.parts().len()).sum();
        let keys = alone.iter().flat_map(AnyMetric::parts).map(|part| part.key.clone());
        places.push((first, keys.collect()));
    }
    Ok(places)
}

/// The tokens of a row that count: those before one of `ends`, or up to it if `keep_end`, except those in `skip`.
#[derive(FromPyObject)]
struct TokenFilter {
    #[pyo3(item)]
    ends: Vec<i64>,
    #[pyo3(item)]
    skip: Vec<i64>,
    #[pyo3(item)]
    keep_end: bool,
}

impl TokenFilter {
    /// The words of `n` rows of int64, and the end of each caption; `first` is the number of the first row.
    fn rows(
        &self,
        bytes: &[u8],
        n: usize,
        width: usize,
        first: usize,
        n_words: Option<usize>,
    ) -> Result<(Vec<u32>, Vec<u64>), String> {
        let (mut words, mut ends) = (Vec::with_capacity(n * width), Vec::with_capacity(n));
        for k in 0..n {
            let row = bytes.get(8 * width * k..8 * width * (k + 1)).unwrap_or_default();
            for token in row.chunks_exact(8) {
                let token = i64::from_ne_bytes(token.try_into().unwrap_or_default());
                let is_end = self.ends.contains(&token);
                if !is_end && self.skip.contains(&token) {
                    continue;
                }
                if !is_end || self.keep_end {
                    match u32::try_from(token).ok().filter(|code| *code <= MAX_CODE) {
                        Some(code) if n_words.is_some_and(|n| code as usize >= n) => {
                            let n = n_words.unwrap_or_default();
                            return Err(format!(
                                "row {}: the token {code} is none of the {n} words; the usual cause is the vocabulary of \
                                 another model, or an offset by one",
                                first + k
                            ));
                        }
                        Some(code) => words.push(code),
                        None => {
                            return Err(format!(
                                "row {}: {token} is not a token id; ids are 0 to 2^30, and pad_id says what stands \
                                 for nothing",
                                first + k
                            ));
                        }
                    }
                }
                if is_end {
                    break;
                }
            }
            ends.push(words.len() as u64);
        }
        Ok((words, ends))
    }
}

/// Numbers as memory that numpy reads without a copy.
pub fn numbers<'py>(py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, values.len() * 8, |room| {
        room.copy_from_slice(bytemuck::cast_slice(values));
        Ok(())
    })
}
