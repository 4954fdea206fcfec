//! Reads Java object streams: the format that `java.io.ObjectOutputStream` writes, without any class being loaded.
//!
//! A stream is a sequence of tagged items. Class descriptions, objects, arrays and strings take numbers ("handles") in
//! the order in which they begin, so that later items can refer to them. The reader keeps all of them in one list and
//! knows nothing of their meaning. It never trusts a length: every element that is read takes at least one byte of the
//! stream, and nesting has a limit.

use std::fmt;

/// The deepest nesting of objects; the grammar needs a few dozen levels.
const DEEPEST: usize = 400;
/// The largest number of super classes of a class.
const LONGEST_ANCESTRY: usize = 64;
/// The number of the first handle.
const FIRST_HANDLE: u32 = 0x7E_0000;

/// The reason why a stream cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedStream {
    reason: &'static str,
    offset: usize,
}

impl fmt::Display for MalformedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.offset)
    }
}

/// A field, or an element of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    /// `boolean`, `byte`, `char`, `short`, `int` and `long`.
    Whole(i64),
    Float(f32),
    Double(f64),
    /// The place of an item in the stream.
    Item(usize),
}

#[derive(Debug)]
enum Item {
    /// Its number is taken, and its content is being read.
    Begun,
    Class(Class),
    Text(String),
    Object(Object),
    Array(Vec<Value>),
    /// A class as a value, or a constant of an enumeration.
    Opaque,
}

#[derive(Debug)]
struct Class {
    name: String,
    flags: u8,
    fields: Vec<Field>,
    parent: Option<usize>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    kind: u8,
}

#[derive(Debug)]
struct Object {
    /// From the oldest ancestor to the class of the object itself.
    ancestry: Vec<usize>,
    /// The fields of all classes of `ancestry`, one class after the other.
    fields: Vec<Value>,
    /// The values that `writeObject` of its classes added: the elements of collections.
    extras: Vec<Value>,
}

/// All items of a stream.
#[derive(Debug)]
pub(super) struct Stream {
    items: Vec<Item>,
    root: Value,
}

impl Stream {
    /// Reads the first object of a stream, and everything that it refers to.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, MalformedStream> {
        let mut reader = Reader { bytes, at: 0, items: Vec::new(), depth: 0 };
        if reader.take(4)? != [0xAC, 0xED, 0, 5] {
            return Err(MalformedStream { reason: "this is not a Java object stream", offset: 0 });
        }
        let root = reader.content()?.ok_or_else(|| reader.fail("an object is expected"))?;
        Ok(Self { items: reader.items, root })
    }

    /// The first object.
    pub(super) fn root(&self) -> Value {
        self.root
    }

    fn item(&self, value: Value) -> Option<&Item> {
        match value {
            Value::Item(at) => self.items.get(at),
            _ => None,
        }
    }

    /// The field of an object with this name; that of the youngest class if several classes have one.
    pub(super) fn field(&self, object: Value, name: &str) -> Option<Value> {
        let Some(Item::Object(object)) = self.item(object) else { return None };
        let classes = object.ancestry.iter().filter_map(|class| self.class(*class));
        let names = classes.flat_map(|class| &class.fields);
        let place = names.enumerate().filter(|(_, field)| field.name == name).last()?.0;
        object.fields.get(place).copied()
    }

    fn class(&self, at: usize) -> Option<&Class> {
        match self.items.get(at) {
            Some(Item::Class(class)) => Some(class),
            _ => None,
        }
    }

    /// The values that an object's own way of writing added: the elements of a list, or keys and values of a map by
    /// turns.
    pub(super) fn elements(&self, object: Value) -> Option<&[Value]> {
        match self.item(object) {
            Some(Item::Object(object)) => Some(&object.extras),
            _ => None,
        }
    }

    /// The elements of an array.
    pub(super) fn array(&self, array: Value) -> Option<&[Value]> {
        match self.item(array) {
            Some(Item::Array(values)) => Some(values),
            _ => None,
        }
    }

    pub(super) fn text(&self, text: Value) -> Option<&str> {
        match self.item(text) {
            Some(Item::Text(text)) => Some(text),
            _ => None,
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    items: Vec<Item>,
    depth: usize,
}

impl Reader<'_> {
    fn fail(&self, reason: &'static str) -> MalformedStream {
        MalformedStream { reason, offset: self.at }
    }

    fn take(&mut self, length: usize) -> Result<&[u8], MalformedStream> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.fail("the stream ends too early"))?;
        let bytes = &self.bytes[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    /// A number of `width` bytes, the highest first.
    fn unsigned(&mut self, width: usize) -> Result<u64, MalformedStream> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn byte(&mut self) -> Result<u8, MalformedStream> {
        self.unsigned(1).map(|byte| byte as u8)
    }

    /// A number of elements, which cannot exceed the number of bytes that are left.
    fn length(&mut self, width: usize) -> Result<usize, MalformedStream> {
        let length = self.unsigned(width)?;
        let left = (self.bytes.len() - self.at) as u64;
        if length > left { Err(self.fail("a length exceeds the stream")) } else { Ok(length as usize) }
    }

    /// Text in Java's modified UTF-8, in which every UTF-16 unit is written on its own.
    fn text(&mut self, width: usize) -> Result<String, MalformedStream> {
        let length = self.length(width)?;
        let bytes = self.take(length)?;
        if bytes.is_ascii() {
            return Ok(String::from_utf8_lossy(bytes).into_owned());
        }
        let mut units = Vec::with_capacity(length);
        let mut rest = bytes;
        while let [first, tail @ ..] = rest {
            let low = |at: usize| tail.get(at).map_or(0, |byte| u16::from(byte & 0x3F));
            let first = u16::from(*first);
            let (unit, more) = match first {
                0..0x80 => (first, 0),
                0x80..0xE0 => ((first & 0x1F) << 6 | low(0), 1),
                _ => ((first & 0xF) << 12 | low(0) << 6 | low(1), 2),
            };
            units.push(unit);
            rest = tail.get(more..).unwrap_or_default();
        }
        Ok(String::from_utf16_lossy(&units))
    }

    /// Gives the next number to an item that begins here.
    fn begin(&mut self) -> usize {
        self.items.push(Item::Begun);
        self.items.len() - 1
    }

    fn finish(&mut self, at: usize, item: Item) -> Value {
        self.items[at] = item;
        Value::Item(at)
    }

    fn reference(&mut self) -> Result<Value, MalformedStream> {
        let handle = (self.unsigned(4)? as u32).checked_sub(FIRST_HANDLE).map(|handle| handle as usize);
        let known = handle.filter(|handle| *handle < self.items.len());
        known.map(Value::Item).ok_or_else(|| self.fail("a reference leads nowhere"))
    }

    /// Reads one item; `None` where a block of bytes or the end of an object's extras stands instead.
    fn content(&mut self) -> Result<Option<Value>, MalformedStream> {
        if self.depth == DEEPEST {
            return Err(self.fail("objects are nested too deeply"));
        }
        self.depth += 1;
        let value = self.tagged()?;
        self.depth -= 1;
        Ok(value)
    }

    fn tagged(&mut self) -> Result<Option<Value>, MalformedStream> {
        let value = match self.byte()? {
            0x70 => Value::Null,
            0x71 => self.reference()?,
            0x72 => self.class()?,
            0x73 => self.object()?,
            tag @ (0x74 | 0x7C) => {
                let at = self.begin();
                let text = self.text(if tag == 0x74 { 2 } else { 8 })?;
                self.finish(at, Item::Text(text))
            }
            0x75 => self.elements()?,
            0x76 => {
                self.class_reference()?;
                let at = self.begin();
                self.finish(at, Item::Opaque)
            }
            tag @ (0x77 | 0x7A) => {
                let length = self.length(if tag == 0x77 { 1 } else { 4 })?;
                self.take(length)?;
                return Ok(None);
            }
            0x7E => {
                self.class_reference()?;
                let at = self.begin();
                self.value(b'L')?;
                self.finish(at, Item::Opaque)
            }
            _ => return Err(self.fail("an unknown kind of item begins")),
        };
        Ok(Some(value))
    }

    /// A class description, after its tag.
    fn class(&mut self) -> Result<Value, MalformedStream> {
        let name = self.text(2)?;
        self.take(8)?;
        let at = self.begin();
        let flags = self.byte()?;
        let count = self.length(2)?;
        let mut fields = Vec::new();
        for _ in 0..count {
            let kind = self.byte()?;
            let name = self.text(2)?;
            if matches!(kind, b'L' | b'[') {
                self.value(b'L')?;
            }
            fields.push(Field { name, kind });
        }
        self.extras()?;
        let parent = self.class_reference()?;
        Ok(self.finish(at, Item::Class(Class { name, flags, fields, parent })))
    }

    /// A class description, or a reference to one, or nothing.
    fn class_reference(&mut self) -> Result<Option<usize>, MalformedStream> {
        match self.content()? {
            Some(Value::Null) => Ok(None),
            Some(Value::Item(at)) if matches!(self.items.get(at), Some(Item::Class(_))) => Ok(Some(at)),
            _ => Err(self.fail("a class is expected")),
        }
    }

    fn object(&mut self) -> Result<Value, MalformedStream> {
        let class = self.class_reference()?;
        let at = self.begin();
        let mut ancestry = Vec::new();
        let mut next = class;
        while let Some(class) = next {
            if ancestry.len() == LONGEST_ANCESTRY {
                return Err(self.fail("a class has too many super classes"));
            }
            ancestry.push(class);
            next = match self.items.get(class) {
                Some(Item::Class(class)) => class.parent,
                _ => None,
            };
        }
        ancestry.reverse();
        let (mut fields, mut extras) = (Vec::new(), Vec::new());
        for class in &ancestry {
            let Some(Item::Class(class)) = self.items.get(*class) else { continue };
            let (flags, kinds) =
                (class.flags, class.fields.iter().map(|field| field.kind).collect::<Vec<_>>());
            if flags & 2 == 0 {
                return Err(self.fail("an object is written in a way of its own"));
            }
            for kind in kinds {
                fields.push(self.value(kind)?);
            }
            if flags & 1 == 1 {
                extras.append(&mut self.extras()?);
            }
        }
        Ok(self.finish(at, Item::Object(Object { ancestry, fields, extras })))
    }

    /// Items up to the end mark, without blocks of bytes.
    fn extras(&mut self) -> Result<Vec<Value>, MalformedStream> {
        let mut extras = Vec::new();
        while self.bytes.get(self.at) != Some(&0x78) {
            extras.extend(self.content()?);
        }
        self.at += 1;
        Ok(extras)
    }

    /// An array, after its tag.
    fn elements(&mut self) -> Result<Value, MalformedStream> {
        let class = self.class_reference()?;
        let kind = match class.and_then(|class| self.items.get(class)) {
            Some(Item::Class(class)) => class.name.as_bytes().get(1).copied(),
            _ => None,
        };
        let kind = kind.ok_or_else(|| self.fail("an array of an unknown kind"))?;
        let at = self.begin();
        let count = self.length(4)?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value(kind)?);
        }
        Ok(self.finish(at, Item::Array(values)))
    }

    /// A value of the type that this letter stands for.
    fn value(&mut self, kind: u8) -> Result<Value, MalformedStream> {
        Ok(match kind {
            b'B' => Value::Whole(i64::from(self.byte()?.cast_signed())),
            b'Z' => Value::Whole(i64::from(self.byte()?)),
            b'C' => Value::Whole(self.unsigned(2)?.cast_signed()),
            b'S' => Value::Whole(i64::from((self.unsigned(2)? as u16).cast_signed())),
            b'I' => Value::Whole(i64::from((self.unsigned(4)? as u32).cast_signed())),
            b'J' => Value::Whole(self.unsigned(8)?.cast_signed()),
            b'F' => Value::Float(f32::from_bits(self.unsigned(4)? as u32)),
            b'D' => Value::Double(f64::from_bits(self.unsigned(8)?)),
            b'L' | b'[' => self.content()?.ok_or_else(|| self.fail("an object is expected"))?,
            _ => return Err(self.fail("a field of an unknown type")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes that Java 17 writes for an object with a field of each type, an array, a map, a list, a class and an
    /// enum.
    const WRITTEN: &str = "aced00057372000553657224512e266a6f8b797e280200084200016243000163440001644a00016c5a00037965735b00016e\
        7400025b494c00046e616d657400124c6a6176612f6c616e672f537472696e673b4c00056f746865727400124c6a6176612f\
        6c616e672f4f626a6563743b78720005536572245014473bc3929f2971020003490001614600016653000173787000000007\
        3fc00000fffeff00783fd0000000000000000001000000000001757200025b494dba602676eab2a502000078700000000200\
        000001fffffffe74000c636166c3a920eda0b5edb080737200116a6176612e7574696c2e486173684d61700507dac1c31660\
        d103000246000a6c6f6164466163746f724900097468726573686f6c6478703f4000000000000c7708000000100000000474\
        000163767200106a6176612e6c616e672e537472696e67a0f0a4387a3bb3420200007870740001657e720005536572244500\
        000000000000001200007872000e6a6176612e6c616e672e456e756d000000000000000012000078707400034f4e45740001\
        6b71007e00057400016c737200136a6176612e7574696c2e41727261794c6973747881d21d99c7619d03000149000473697a\
        6578700000000277040000000274000161740001627878";

    fn bytes() -> Vec<u8> {
        let digits = WRITTEN.as_bytes().as_chunks::<2>().0;
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.iter().map(byte).collect()
    }

    #[test]
    fn fields_of_all_types_are_read() {
        let stream = Stream::read(&bytes()).unwrap();
        let root = stream.root();
        let field = |name| stream.field(root, name).unwrap();
        for (name, expected) in
            [("a", 7), ("s", -2), ("b", -1), ("c", i64::from(b'x')), ("l", 1 << 40), ("yes", 1)]
        {
            assert_eq!(field(name), Value::Whole(expected), "{name}");
        }
        assert_eq!((field("d"), field("f")), (Value::Double(0.25), Value::Float(1.5)));
        assert_eq!(stream.text(field("name")), Some("café 𝐀"));
        assert_eq!(stream.array(field("n")), Some(&[Value::Whole(1), Value::Whole(-2)][..]));
        assert_eq!(stream.field(root, "none"), None);
    }

    #[test]
    fn collections_hold_their_elements_and_refer_back() {
        let stream = Stream::read(&bytes()).unwrap();
        let map = stream.elements(stream.field(stream.root(), "other").unwrap()).unwrap();
        let entries = map.as_chunks::<2>().0;
        let value = |key| entries.iter().find(|[k, _]| stream.text(*k) == Some(key)).unwrap()[1];
        assert_eq!((entries.len(), value("k")), (4, stream.root()));
        let list = stream.elements(value("l")).unwrap();
        assert_eq!(list.iter().map(|text| stream.text(*text).unwrap()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn damage_is_refused_or_read_and_never_panics() {
        let good = bytes();
        for length in 0..good.len() {
            assert!(Stream::read(&good[..length]).is_err(), "cut to {length} bytes");
        }
        for at in 0..good.len() {
            for value in 0..=255 {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = Stream::read(&bad).is_ok();
            }
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        let mut deep = vec![0xAC, 0xED, 0, 5];
        deep.extend([0x76].repeat(1 << 20));
        assert!(Stream::read(&deep).unwrap_err().to_string().contains("too deeply"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut stream = vec![0xAC, 0xED, 0, 5];
            stream.extend(tail);
            let _ = Stream::read(&stream).is_ok();
        }
    }
}
