//! Reads the pickles in which Python programs store document frequencies, without running any code.
//!
//! A pickle is a program for a stack machine that can call any function. This reader supports the operations that build
//! numbers, words, tuples and dictionaries, in protocols 0 to 5, and four harmless functions
//! (`collections.defaultdict`, NumPy's `dtype` and `scalar`, `_codecs.encode`), whose results it builds itself. It
//! refuses everything else, with its name and position. No operation recurses, and memory is proportional to the length
//! of the input.
//!
//! There are two structures: `{'document_frequency': {tuple of words: number}, 'ref_len': number of images}`
//! (self-critical training), and only the dictionary of tuples (`coco-val-df` of vrama91/cider, whose number of images,
//! 40,504, is part of the program's code).

use std::ops::Range;

use capeval_choice::{Argument, Refusal, Remedy};

use super::{Counts, DocumentFrequencies, refusal_at};

/// The maximum number of dictionaries in a pickle of a table.
const MAX_DICTIONARIES: usize = 16;
/// The maximum number of tuples that do not consist of words; they occur only in NumPy's numbers, about five for each.
const MAX_OTHER_TUPLES: usize = 4096;

/// Reads a table from a pickle.
///
/// `n_images` overrides the pickle's `ref_len`, and is required if there is none.
///
/// # Errors
/// When the bytes are not a pickle of such a table; when the number of images is missing, not a whole number, or
/// smaller than a frequency (some programs save its logarithm).
pub fn read(bytes: &[u8], n_images: Option<u64>) -> Result<DocumentFrequencies, Refusal> {
    let mut machine = Machine::new(bytes);
    let top = machine.run()?;
    let Value::Dictionary(top) = top else {
        return Err(Refusal::new(
            "the pickle contains no dictionary, and so no table of document frequencies",
        ));
    };
    let Machine { dictionaries, mut counts, ngrams, .. } = machine;
    let dictionary = |index: u32| dictionaries.get(index as usize).map_or(&[][..], Vec::as_slice);
    let table_key = counts.word("document_frequency")?;
    let images_key = counts.word("ref_len")?;
    let item = |wanted: u32| {
        dictionary(top).iter().rev().find(|(key, _)| *key == Value::Word(wanted)).map(|(_, value)| *value)
    };
    let entries = match item(table_key) {
        Some(Value::Dictionary(table)) => dictionary(table),
        Some(_) if n_images.is_none() => {
            return Err(Refusal::new("the pickle's 'document_frequency' is not a dictionary"));
        }
        _ => dictionary(top),
    };
    let n_images = match (n_images, item(images_key)) {
        (Some(n), _) => n,
        (None, Some(value)) => whole(value).ok_or_else(|| not_whole(value))?,
        (None, None) => {
            return Err(Refusal::new("the pickle does not contain its number of images ('ref_len')")
                .with_remedy(
                    Remedy::give(Argument::DocumentFrequencyImages)
                        .to("give it, such as 40504 for coco-val-df"),
                ));
        }
    };
    for (key, value) in entries {
        let Value::Ngram { start, len } = *key else {
            // A look-up of a missing key in a defaultdict adds the key with 0.
            if matches!(key, Value::Word(_)) && whole(*value) == Some(0) {
                continue;
            }
            return Err(Refusal::new("a key of the table is not a tuple of words"));
        };
        let ngram = ngrams.get(start as usize..(start + len) as usize).unwrap_or_default();
        let Some(frequency) = whole(*value).and_then(|n| u32::try_from(n).ok()) else {
            let words: Vec<&str> = ngram.iter().map(|word| counts.word_text(*word)).collect();
            return Err(Refusal::new(format!(
                "the frequency of '{}' is not a whole number of images",
                words.join(" ")
            )));
        };
        counts.set(ngram, frequency)?;
    }
    let order = counts.longest().max(1);
    counts.into_table(n_images, order)
}

fn not_whole(value: Value) -> Refusal {
    let error = match value {
        Value::Float(x) => Refusal::new(format!(
            "'ref_len' is {x}, not a whole number of images; it may be a logarithm (of {:.1})",
            x.exp()
        )),
        _ => Refusal::new("'ref_len' is not a whole number of images"),
    };
    error.with_remedy(Remedy::give(Argument::DocumentFrequencyImages).to("give the number"))
}

/// The value as a whole number from 0; `None` if it is not one.
fn whole(value: Value) -> Option<u64> {
    match value {
        Value::Int(n) => u64::try_from(n).ok(),
        // Floats represent all whole numbers up to 2^53 exactly.
        Value::Float(x) if (0.0..=9_007_199_254_740_992.0).contains(&x) && x.fract() == 0.0 => Some(x as u64),
        _ => None,
    }
}

/// A value on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    None,
    Int(i64),
    Float(f64),
    /// A text, as the number of its word.
    Word(u32),
    /// Bytes that are not UTF-8, as their index in the list of such bytes.
    Bytes(u32),
    /// A text that represents bytes, one per character, as Python 3 writes bytes for Python 2.
    Latin1(u32),
    /// A tuple of words only.
    Ngram {
        start: u32,
        len: u32,
    },
    /// Any other tuple.
    Tuple(u32),
    Dictionary(u32),
    Callable(Callable),
    Number(NumberType),
}

/// The functions and classes that a pickle may refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Callable {
    DefaultDict,
    /// A default factory: `float`, `int` or `long`.
    Zero,
    NumpyDtype,
    NumpyScalar,
    Encode,
}

/// A numeric type of NumPy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NumberType {
    is_float: bool,
    is_signed: bool,
    n_bytes: u8,
}

struct Machine<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The start of the current operation.
    operation: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: Vec<Option<Value>>,
    n_memoised: usize,
    counts: Counts,
    /// The words of all tuples of words, in sequence.
    ngrams: Vec<u32>,
    /// The ranges of the input that are not UTF-8.
    bytes_at: Vec<Range<usize>>,
    tuples: Vec<Vec<Value>>,
    dictionaries: Vec<Vec<(Value, Value)>>,
    /// A buffer for texts with escapes.
    text: Vec<u8>,
}

impl<'b> Machine<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            operation: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            n_memoised: 0,
            counts: Counts::default(),
            ngrams: Vec::new(),
            bytes_at: Vec::new(),
            tuples: Vec::new(),
            dictionaries: Vec::new(),
            text: Vec::new(),
        }
    }

    #[cold]
    fn error(&self, message: impl Into<String>) -> Refusal {
        refusal_at(self.operation, message)
    }

    /// Runs the pickle to its end and returns its result.
    ///
    /// It is long because each operation of the protocol has an arm of its own, and no arm says more than what it
    /// does to the stack.
    fn run(&mut self) -> Result<Value, Refusal> {
        loop {
            self.operation = self.at;
            let code = self.byte()?;
            match code {
                b'.' => return self.pop(),
                // PROTO, FRAME
                0x80 => {
                    let protocol = self.byte()?;
                    if protocol > 5 {
                        return Err(self.error(format!("pickle protocol {protocol}; 0 to 5 are known")));
                    }
                }
                0x95 => {
                    self.take(8)?;
                }
                // MARK, POP, POP_MARK, DUP
                b'(' => self.marks.push(self.stack.len()),
                b'0' => {
                    if self.marks.last() == Some(&self.stack.len()) {
                        self.marks.pop();
                    } else {
                        self.pop()?;
                    }
                }
                b'1' => {
                    let from = self.mark()?;
                    self.stack.truncate(from);
                }
                b'2' => {
                    let top = self.pop()?;
                    self.stack.push(top);
                    self.stack.push(top);
                }
                // Numbers and constants
                b'N' => self.stack.push(Value::None),
                0x88 => self.stack.push(Value::Int(1)),
                0x89 => self.stack.push(Value::Int(0)),
                b'F' | b'I' | b'L' => {
                    let value = self.decimal(code)?;
                    self.stack.push(value);
                }
                b'J' => {
                    let n = i32::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(n.into()));
                }
                b'K' => {
                    let n = self.byte()?;
                    self.stack.push(Value::Int(n.into()));
                }
                b'M' => {
                    let n = u16::from_le_bytes(self.array()?);
                    self.stack.push(Value::Int(n.into()));
                }
                b'G' => {
                    let x = f64::from_be_bytes(self.array()?);
                    self.stack.push(Value::Float(x));
                }
                0x8a => {
                    let len = self.byte()?;
                    self.long(len.into())?;
                }
                0x8b => {
                    let len = u32::from_le_bytes(self.array()?);
                    self.long(len as usize)?;
                }
                // Texts: by line, with a length of 8, 32 or 64 bits
                b'S' => self.quoted()?,
                b'V' => self.escaped()?,
                b'U' | 0x8c | b'C' => {
                    let len = self.byte()?;
                    self.counted(len.into())?;
                }
                b'T' | b'X' | b'B' => {
                    let len = u32::from_le_bytes(self.array()?);
                    self.counted(len as usize)?;
                }
                0x8d | 0x8e => {
                    let len = u64::from_le_bytes(self.array()?);
                    self.counted(usize::try_from(len).unwrap_or(usize::MAX))?;
                }
                // Tuples
                b't' => {
                    let from = self.mark()?;
                    self.tuple(from)?;
                }
                b')' => self.tuple(self.stack.len())?,
                0x85..=0x87 => {
                    let len = usize::from(code - 0x84);
                    let from = self.below(len)?;
                    self.tuple(from)?;
                }
                // Dictionaries
                b'}' => self.dictionary()?,
                b'd' => {
                    let from = self.mark()?;
                    let items = self.stack.split_off(from);
                    self.dictionary()?;
                    self.set_items(&items)?;
                }
                b's' => {
                    let from = self.below(2)?;
                    let items = [self.stack[from], self.stack[from + 1]];
                    self.stack.truncate(from);
                    self.set_items(&items)?;
                }
                b'u' => {
                    let from = self.mark()?;
                    let items = self.stack.split_off(from);
                    self.set_items(&items)?;
                }
                // The memo
                b'p' => {
                    let index = self.decimal_index()?;
                    self.put(index)?;
                }
                b'q' => {
                    let index = self.byte()?;
                    self.put(index.into())?;
                }
                b'r' => {
                    let index = u32::from_le_bytes(self.array()?);
                    self.put(index as usize)?;
                }
                0x94 => self.put(self.n_memoised)?,
                b'g' => {
                    let index = self.decimal_index()?;
                    self.get(index)?;
                }
                b'h' => {
                    let index = self.byte()?;
                    self.get(index.into())?;
                }
                b'j' => {
                    let index = u32::from_le_bytes(self.array()?);
                    self.get(index as usize)?;
                }
                // Functions by name, and their results
                b'c' => {
                    let module = self.line()?;
                    let name = self.line()?;
                    let (module, name) = (lossy(module), lossy(name));
                    self.name(&module, &name)?;
                }
                0x93 => {
                    let from = self.below(2)?;
                    let (Value::Word(module), Value::Word(name)) = (self.stack[from], self.stack[from + 1])
                    else {
                        return Err(self.error("a function whose name is not text"));
                    };
                    self.stack.truncate(from);
                    let module = self.counts.word_text(module).to_owned();
                    let name = self.counts.word_text(name).to_owned();
                    self.name(&module, &name)?;
                }
                b'R' | 0x81 => self.call()?,
                b'b' => self.build()?,
                _ => {
                    return Err(self.error(format!(
                        "operation {} does not belong to a table of document frequencies",
                        operation_name(code)
                    )));
                }
            }
        }
    }

    fn byte(&mut self) -> Result<u8, Refusal> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| self.error("the pickle stops short"))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, len: usize) -> Result<Range<usize>, Refusal> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.error("the pickle stops short"))?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let range = self.take(N)?;
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[range]);
        Ok(array)
    }

    /// The rest of the line, without its line break.
    fn line(&mut self) -> Result<&'b [u8], Refusal> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest.iter().position(|byte| *byte == b'\n');
        let len = len.ok_or_else(|| self.error("the pickle stops short"))?;
        self.at += len + 1;
        Ok(&rest[..len])
    }

    fn pop(&mut self) -> Result<Value, Refusal> {
        let from = self.below(1)?;
        let value = self.stack[from];
        self.stack.truncate(from);
        Ok(value)
    }

    /// The index of the `n`-th value from the top of the stack, if there is no mark above it.
    fn below(&self, n: usize) -> Result<usize, Refusal> {
        self.stack
            .len()
            .checked_sub(n)
            .filter(|from| self.marks.last().is_none_or(|mark| mark <= from))
            .ok_or_else(|| self.error("the pickle takes more values than it has made"))
    }

    fn mark(&mut self) -> Result<usize, Refusal> {
        self.marks
            .pop()
            .filter(|from| *from <= self.stack.len())
            .ok_or_else(|| self.error("the pickle goes back to a mark that it has not set"))
    }

    /// A number written in decimal digits.
    fn decimal(&mut self, code: u8) -> Result<Value, Refusal> {
        let line = self.line()?;
        // A shortcut for small whole floats, of which tables consist.
        if let [digits @ .., b'.', b'0'] = line
            && code == b'F'
            && let Some(n) = small(digits)
        {
            return Ok(Value::Float(f64::from(n)));
        }
        let text = std::str::from_utf8(line).unwrap_or("").trim();
        let value = match code {
            b'F' => text.parse().ok().map(Value::Float),
            b'L' => text.strip_suffix('L').unwrap_or(text).parse().ok().map(Value::Int),
            _ => text.parse().ok().map(Value::Int),
        };
        value
            .ok_or_else(|| self.error(format!("'{}' is not a number that this reader supports", lossy(line))))
    }

    fn decimal_index(&mut self) -> Result<usize, Refusal> {
        let line = self.line()?;
        small(line)
            .map(|n| n as usize)
            .ok_or_else(|| self.error(format!("'{}' is not a place in the memo", lossy(line))))
    }

    /// A whole number as `len` bytes, the lowest first, in two's complement.
    fn long(&mut self, len: usize) -> Result<(), Refusal> {
        let range = self.take(len)?;
        let bytes = &self.bytes[range];
        let fill = if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
        let mut array = [fill; 8];
        match array.get_mut(..len) {
            Some(low) => low.copy_from_slice(bytes),
            None => return Err(self.error(format!("a whole number of {len} bytes; 8 are enough"))),
        }
        self.stack.push(Value::Int(i64::from_le_bytes(array)));
        Ok(())
    }

    fn counted(&mut self, len: usize) -> Result<(), Refusal> {
        let range = self.take(len)?;
        self.text_at(range)
    }

    /// A text that is stored in the input without escapes.
    fn text_at(&mut self, range: Range<usize>) -> Result<(), Refusal> {
        let value = match std::str::from_utf8(self.bytes.get(range.clone()).unwrap_or_default()) {
            Ok(text) => Value::Word(self.counts.word(text)?),
            Err(_) => {
                self.bytes_at.push(range);
                Value::Bytes(self.bytes_at.len() as u32 - 1)
            }
        };
        self.stack.push(value);
        Ok(())
    }

    /// A text of protocol 0 as Python's `repr` writes it.
    fn quoted(&mut self) -> Result<(), Refusal> {
        let line = self.line()?;
        let inner = match line {
            [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
            _ => return Err(self.error("a text without quotation marks")),
        };
        if !inner.contains(&b'\\') {
            // The name of the operation and the first quotation mark come before.
            let start = self.operation + 2;
            return self.text_at(start..start + inner.len());
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let mut rest = inner.iter().copied();
        while let Some(byte) = rest.next() {
            let resolved = match (byte, byte == b'\\') {
                (byte, false) => Some(byte),
                _ => match rest.next() {
                    Some(byte @ (b'\\' | b'\'' | b'"')) => Some(byte),
                    Some(b'n') => Some(b'\n'),
                    Some(b'r') => Some(b'\r'),
                    Some(b't') => Some(b'\t'),
                    Some(b'x') => hexadecimal(&mut rest, 2).and_then(|n| u8::try_from(n).ok()),
                    _ => None,
                },
            };
            text.push(resolved.ok_or_else(|| self.error("an escape sequence that Python does not write"))?);
        }
        let word = match std::str::from_utf8(&text) {
            Ok(text) => self.counts.word(text)?,
            Err(_) => {
                return Err(self
                    .error("a text that is not UTF-8")
                    .with_remedy("save the table again with Python 3"));
            }
        };
        self.stack.push(Value::Word(word));
        self.text = text;
        Ok(())
    }

    /// A text of protocol 0 in Latin-1 with `\u` and `\U` escapes.
    fn escaped(&mut self) -> Result<(), Refusal> {
        let line = self.line()?;
        let mut text = String::with_capacity(line.len());
        let mut rest = line.iter().copied();
        while let Some(byte) = rest.next() {
            let mut ahead = rest.clone();
            let n_digits = match ahead.next() {
                Some(b'u') if byte == b'\\' => 4,
                Some(b'U') if byte == b'\\' => 8,
                _ => {
                    text.push(char::from(byte));
                    continue;
                }
            };
            let c = hexadecimal(&mut ahead, n_digits).and_then(char::from_u32);
            text.push(c.ok_or_else(|| self.error("an escape sequence that is not a character"))?);
            rest = ahead;
        }
        let word = self.counts.word(&text)?;
        self.stack.push(Value::Word(word));
        Ok(())
    }

    /// Builds a tuple of the values from `from` on.
    fn tuple(&mut self, from: usize) -> Result<(), Refusal> {
        let start = self.ngrams.len();
        let values = self.stack.get(from..).unwrap_or_default();
        let n_values = values.len();
        self.ngrams.extend(values.iter().map_while(|value| match value {
            Value::Word(word) => Some(*word),
            _ => None,
        }));
        let value = if self.ngrams.len() - start == n_values {
            let (Ok(start), Ok(len), Ok(_)) =
                (u32::try_from(start), u32::try_from(n_values), u32::try_from(self.ngrams.len()))
            else {
                return Err(self.error("more words than 32 bits can number"));
            };
            Value::Ngram { start, len }
        } else {
            self.ngrams.truncate(start);
            if self.tuples.len() >= MAX_OTHER_TUPLES {
                return Err(self.error("tuples of other things than words, as no table holds"));
            }
            self.tuples.push(values.to_vec());
            Value::Tuple(self.tuples.len() as u32 - 1)
        };
        self.stack.truncate(from);
        self.stack.push(value);
        Ok(())
    }

    fn dictionary(&mut self) -> Result<(), Refusal> {
        if self.dictionaries.len() >= MAX_DICTIONARIES {
            return Err(self.error("more dictionaries than a table of document frequencies has"));
        }
        self.stack.push(Value::Dictionary(self.dictionaries.len() as u32));
        self.dictionaries.push(Vec::new());
        Ok(())
    }

    /// Adds alternating keys and values to the dictionary on top of the stack.
    fn set_items(&mut self, items: &[Value]) -> Result<(), Refusal> {
        let top = self.below(1)?;
        let Value::Dictionary(index) = self.stack[top] else {
            return Err(self.error("items for something that is not a dictionary"));
        };
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.error("a key without a value"));
        }
        for [key, value] in pairs {
            if !matches!(key, Value::Ngram { .. } | Value::Word(_)) {
                return Err(self.error("a key that is neither a tuple of words nor a word"));
            }
            self.dictionaries[index as usize].push((*key, *value));
        }
        Ok(())
    }

    fn put(&mut self, index: usize) -> Result<(), Refusal> {
        let top = self.below(1)?;
        // Python numbers memo entries in sequence, from 0 or 1.
        if index > 2 * self.n_memoised + 256 {
            return Err(self.error(format!("place {index} in the memo after {} others", self.n_memoised)));
        }
        if index >= self.memo.len() {
            self.memo.resize(index + 1, None);
        }
        self.memo[index] = Some(self.stack[top]);
        self.n_memoised += 1;
        Ok(())
    }

    fn get(&mut self, index: usize) -> Result<(), Refusal> {
        let value = self.memo.get(index).copied().flatten();
        let value = value.ok_or_else(|| self.error(format!("nothing is at place {index} of the memo")))?;
        self.stack.push(value);
        Ok(())
    }

    fn name(&mut self, module: &str, name: &str) -> Result<(), Refusal> {
        let callable = match (module, name) {
            ("collections", "defaultdict") => Callable::DefaultDict,
            // Python 3 writes `int` as `long` in the protocols that Python 2 reads.
            ("builtins", "float" | "int") | ("__builtin__", "float" | "int" | "long") => Callable::Zero,
            ("numpy", "dtype") => Callable::NumpyDtype,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Callable::NumpyScalar,
            ("_codecs", "encode") => Callable::Encode,
            _ => {
                return Err(self.error(format!(
                    "the pickle asks for {module}.{name}, which no table of document frequencies needs; \
                     do not load this file with Python unless you trust it"
                )));
            }
        };
        self.stack.push(Value::Callable(callable));
        Ok(())
    }

    /// Builds the result of calling the callable below the tuple of arguments.
    fn call(&mut self) -> Result<(), Refusal> {
        let from = self.below(2)?;
        let Value::Callable(callable) = self.stack[from] else {
            return Err(self.error("a call of something that is not a function"));
        };
        let mut buffer = [Value::None; 3];
        let arguments: &[Value] = match self.stack[from + 1] {
            Value::Tuple(index) => &self.tuples[index as usize],
            Value::Ngram { start, len } if len as usize <= buffer.len() => {
                let words = self.ngrams.iter().skip(start as usize);
                for (slot, word) in buffer.iter_mut().take(len as usize).zip(words) {
                    *slot = Value::Word(*word);
                }
                &buffer[..len as usize]
            }
            _ => return Err(self.error("a call without a tuple of arguments")),
        };
        let made = match (callable, arguments) {
            (Callable::DefaultDict, [] | [Value::Callable(Callable::Zero) | Value::None]) => None,
            (Callable::NumpyDtype, [Value::Word(code), ..]) => {
                let code = self.counts.word_text(*code);
                Some(Value::Number(
                    number_type(code).ok_or_else(|| {
                        self.error(format!("NumPy's type '{code}', which is none of numbers"))
                    })?,
                ))
            }
            (Callable::NumpyScalar, [Value::Number(kind), bytes]) => {
                let bytes = match *bytes {
                    Value::Bytes(place) => {
                        let range = self.bytes_at.get(place as usize).cloned().unwrap_or_default();
                        self.bytes.get(range).unwrap_or_default().to_vec()
                    }
                    Value::Word(word) => self.counts.word_text(word).as_bytes().to_vec(),
                    // A character outside Latin-1 shortens the bytes, so their length is wrong.
                    Value::Latin1(word) => {
                        self.counts.word_text(word).chars().filter_map(|c| u8::try_from(c).ok()).collect()
                    }
                    _ => Vec::new(),
                };
                Some(kind.number(&bytes).ok_or_else(|| self.error("a NumPy number of the wrong length"))?)
            }
            (Callable::Encode, [Value::Word(text), Value::Word(encoding)])
                if self.counts.word_text(*encoding) == "latin1" =>
            {
                Some(Value::Latin1(*text))
            }
            _ => return Err(self.error("a call with arguments that no table needs")),
        };
        self.stack.truncate(from);
        match made {
            Some(value) => self.stack.push(value),
            None => self.dictionary()?,
        }
        Ok(())
    }

    /// Checks the state of NumPy's type, the only object with a state: it must be little-endian.
    fn build(&mut self) -> Result<(), Refusal> {
        let from = self.below(2)?;
        let state = match self.stack[from + 1] {
            Value::Tuple(index) => self.tuples.get(index as usize).map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        let (Value::Number(_), [_, Value::Word(byte_order), ..]) = (self.stack[from], state) else {
            return Err(self.error("a state (BUILD) for something that needs none"));
        };
        if self.counts.word_text(*byte_order) == ">" {
            return Err(self
                .error("a big-endian NumPy number")
                .with_remedy("save the table with plain numbers"));
        }
        self.stack.truncate(from + 1);
        Ok(())
    }
}

impl NumberType {
    /// Decodes a number; `None` if `bytes` have the wrong length.
    fn number(self, bytes: &[u8]) -> Option<Value> {
        let mut array = [0; 8];
        let low = array.get_mut(..usize::from(self.n_bytes))?;
        if bytes.len() != low.len() {
            return None;
        }
        low.copy_from_slice(bytes);
        let bits = u64::from_le_bytes(array);
        Some(match (self.is_float, self.n_bytes) {
            (true, 8) => Value::Float(f64::from_bits(bits)),
            (true, _) => Value::Float(f32::from_bits(bits as u32).into()),
            (false, _) if self.is_signed => {
                let unused = 64 - 8 * u32::from(self.n_bytes);
                Value::Int((bits << unused) as i64 >> unused)
            }
            _ => Value::Int(i64::try_from(bits).ok()?),
        })
    }
}

/// NumPy's type by its code, such as `f8`.
fn number_type(code: &str) -> Option<NumberType> {
    let (is_float, is_signed, n_bytes) = match code {
        "f8" => (true, true, 8),
        "f4" => (true, true, 4),
        "i8" => (false, true, 8),
        "i4" => (false, true, 4),
        "i2" => (false, true, 2),
        "i1" => (false, true, 1),
        "u8" => (false, false, 8),
        "u4" => (false, false, 4),
        "u2" => (false, false, 2),
        "u1" => (false, false, 1),
        _ => return None,
    };
    Some(NumberType { is_float, is_signed, n_bytes })
}

/// Up to nine decimal digits as a number.
fn small(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    digits.iter().try_fold(0, |n, digit| digit.is_ascii_digit().then(|| n * 10 + u32::from(digit - b'0')))
}

/// The next `n` characters as a hexadecimal number.
fn hexadecimal(rest: &mut impl Iterator<Item = u8>, n: usize) -> Option<u32> {
    (0..n).try_fold(0, |number, _| Some(number << 4 | char::from(rest.next()?).to_digit(16)?))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..bytes.len().min(80)).unwrap_or_default()).into_owned()
}

/// The name of a refused operation in Python's `pickletools`.
fn operation_name(code: u8) -> String {
    let name = match code {
        b']' => "EMPTY_LIST",
        b'l' => "LIST",
        b'a' => "APPEND",
        b'e' => "APPENDS",
        b'i' => "INST",
        b'o' => "OBJ",
        b'P' => "PERSID",
        b'Q' => "BINPERSID",
        0x82 => "EXT1",
        0x83 => "EXT2",
        0x84 => "EXT4",
        0x8f => "EMPTY_SET",
        0x90 => "ADDITEMS",
        0x91 => "FROZENSET",
        0x92 => "NEWOBJ_EX",
        0x96 => "BYTEARRAY8",
        0x97 => "NEXT_BUFFER",
        0x98 => "READONLY_BUFFER",
        _ => return format!("{code:#04x}, which pickles do not have,"),
    };
    name.to_owned()
}
