//! ROUGE-1.5.5's evaluation lists: which candidates are compared with which references, and in which files.
//!
//! The XML format names, for each evaluation, the folder and files of the candidates (`PEERS`) and references
//! (`MODELS`) and the format of their text. The plain format (option `-z`) has one evaluation per line, with the
//! candidate's file first and the references' files after it. [`read_xml`] and [`read_plain`] read the lists;
//! [`Evaluations::load`] requests the files by their paths and turns them into texts, one sentence per line.

use std::io::Read;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::error::{Error, ErrorKind, Position};

/// The format of the text in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextForm {
    /// `SPL`: one sentence per line.
    Lines,
    /// `SEE`: HTML of the Summary Evaluation Environment, `<a name="1">[1]</a> <a href="#1" id=1>sentence</a>`.
    See,
    /// `ISI`: `<S SNTNO="1">sentence</S>`.
    Isi,
}

impl TextForm {
    /// The format with this name in ROUGE, in upper or lower case; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        [("SPL", Self::Lines), ("SEE", Self::See), ("ISI", Self::Isi)]
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, form)| form)
    }

    /// The sentences of a file of this format, joined by line breaks; bytes that are not UTF-8 are replaced.
    ///
    /// Lines that do not have the format are skipped, as in ROUGE-1.5.5.
    pub fn text(self, bytes: &[u8]) -> String {
        let content = String::from_utf8_lossy(bytes);
        let lines = content.split('\n').filter(|line| !line.is_empty());
        let sentences: Vec<&str> = match self {
            Self::Lines => lines.collect(),
            Self::See => lines.filter_map(see_sentence).collect(),
            Self::Isi => lines.filter_map(isi_sentence).collect(),
        };
        sentences.join("\n")
    }
}

/// `text` without `prefix` and the one or more characters of `class` after it; `None` if it does not start with these.
fn after<'t>(text: &'t str, prefix: &str, class: fn(char) -> bool) -> Option<&'t str> {
    let rest = text.strip_prefix(prefix)?;
    let tail = rest.trim_start_matches(class);
    (tail.len() < rest.len()).then_some(tail)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn up_to_tag(text: &str) -> Option<&str> {
    text.split('<').next().filter(|sentence| !sentence.is_empty())
}

fn see_sentence(line: &str) -> Option<&str> {
    let with_size = after(line, "<a size=\"", is_digit).and_then(|rest| after(rest, "\" name=\"", is_digit));
    let rest = with_size.or_else(|| after(line, "<a name=\"", is_digit))?;
    let rest = after(rest, "\">[", is_digit)?;
    let rest = after(rest, "]</a>", |c| c.is_ascii_whitespace() || c == '\u{b}')?;
    let rest = after(rest, "<a href=\"#", is_digit)?;
    let rest = after(rest, "\" id=", is_digit)?;
    up_to_tag(rest.strip_prefix('>')?)
}

fn isi_sentence(line: &str) -> Option<&str> {
    let number = |c: char| c.is_ascii_digit() || c.is_ascii_lowercase() || c == ',';
    let rest = after(line, "<S SNTNO=\"", number)?.strip_prefix("\">")?;
    let sentence = up_to_tag(rest)?;
    rest[sentence.len()..].starts_with("</S>").then_some(sentence)
}

/// A file in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name of the system or reference in the list.
    pub id: String,
    /// The path of the file, including the folder that the list names.
    pub path: String,
}

/// One evaluation of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The name, by which the program sorts evaluations when it draws resamples.
    pub id: String,
    /// The format of the files.
    pub form: TextForm,
    /// The candidates, one per system.
    pub peers: Vec<Document>,
    /// The references.
    pub models: Vec<Document>,
}

/// A list of evaluations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluations(pub Vec<Evaluation>);

/// The texts of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The name of the evaluation.
    pub id: String,
    /// The references, in the order of the list.
    pub references: Vec<String>,
    /// The name and the candidate of each system.
    pub candidates: Vec<(String, String)>,
}

impl Evaluations {
    /// The names of the systems, in order of first appearance.
    pub fn systems(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for peer in self.0.iter().flat_map(|evaluation| &evaluation.peers) {
            if !names.contains(&peer.id.as_str()) {
                names.push(&peer.id);
            }
        }
        names
    }

    /// Reads the files of all evaluations, one after the other, through `open`.
    pub fn load<R: Read>(
        &self,
        mut open: impl FnMut(&str) -> std::io::Result<R>,
    ) -> Result<Vec<Texts>, Error> {
        let mut text = |form: TextForm, path: &str| {
            let mut bytes = Vec::new();
            open(path)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .map_err(|cause| Error::io(path, "cannot read", cause))?;
            Ok(form.text(&bytes))
        };
        let read = |evaluation: &Evaluation| {
            let Evaluation { id, form, peers, models } = evaluation;
            Ok(Texts {
                id: id.clone(),
                references: models.iter().map(|m| text(*form, &m.path)).collect::<Result<_, _>>()?,
                candidates: peers
                    .iter()
                    .map(|peer| Ok((peer.id.clone(), text(*form, &peer.path)?)))
                    .collect::<Result<_, _>>()?,
            })
        };
        self.0.iter().map(read).collect()
    }
}

/// Reads a plain list: a line contains the path of a candidate and those of its references, separated by white space;
/// lines that start with `#` and blank lines are skipped. Evaluations are numbered from 1.
///
/// `system` is the name of the candidates' system; errors call the list `name`.
pub fn read_plain(
    mut source: impl Read,
    name: &str,
    system: &str,
    form: TextForm,
) -> Result<Evaluations, Error> {
    let mut text = String::new();
    source.read_to_string(&mut text).map_err(|cause| Error::io(name, "cannot read", cause))?;
    let mut evaluations: Vec<Evaluation> = Vec::new();
    for (k, line) in text.split('\n').enumerate() {
        let mut paths = line.split_ascii_whitespace();
        let Some(peer) = paths.next().filter(|_| !line.starts_with('#')) else { continue };
        let models: Vec<Document> = paths
            .enumerate()
            .map(|(m, path)| Document { id: format!("M.{}", m + 1), path: path.to_owned() })
            .collect();
        if models.is_empty() {
            let position = Position { line: Some(k as u64 + 1), ..Position::default() };
            return Err(Error::new(
                ErrorKind::Shape,
                name,
                "a line should hold the path of a candidate and at least one of a reference",
            )
            .at(position));
        }
        evaluations.push(Evaluation {
            id: (evaluations.len() + 1).to_string(),
            form,
            peers: vec![Document { id: system.to_owned(), path: peer.to_owned() }],
            models,
        });
    }
    Ok(Evaluations(evaluations))
}

/// Reads a list in XML; errors call it `name`. Names of elements may be in upper or lower case.
pub fn read_xml(mut source: impl Read, name: &str) -> Result<Evaluations, Error> {
    let mut text = String::new();
    source.read_to_string(&mut text).map_err(|cause| Error::io(name, "cannot read", cause))?;
    let mut list = Xml { name, text: &text, evaluations: Vec::new(), open: None, target: None };
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    loop {
        let at = reader.buffer_position() as usize;
        match reader.read_event() {
            Ok(Event::Start(element)) => list.start(&element, at)?,
            Ok(Event::Empty(element)) => {
                list.start(&element, at)?;
                list.end(element.local_name().as_ref(), at)?;
            }
            Ok(Event::End(element)) => list.end(element.local_name().as_ref(), at)?,
            Ok(Event::Text(content)) => list.characters(&content.xml10_content()),
            Ok(Event::CData(content)) => list.characters(&content.xml10_content()),
            Ok(Event::GeneralRef(reference)) => {
                let c = match reference.resolve_char_ref() {
                    Ok(Some(c)) => Some(c),
                    _ => match reference.as_ref() {
                        "amp" => Some('&'),
                        "lt" => Some('<'),
                        "gt" => Some('>'),
                        "quot" => Some('"'),
                        "apos" => Some('\''),
                        _ => None,
                    },
                };
                let c =
                    c.ok_or_else(|| list.refuse(ErrorKind::Syntax, at, "an entity that XML does not know"))?;
                list.characters(c.encode_utf8(&mut [0; 4]));
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                let at = reader.error_position() as usize;
                return Err(list.refuse(ErrorKind::Syntax, at, &error.to_string()));
            }
        }
    }
    if list.open.is_some() {
        return Err(list.refuse(ErrorKind::Syntax, text.len(), "the list ends within an evaluation"));
    }
    Ok(Evaluations(list.evaluations))
}

/// A list under construction.
struct Xml<'t> {
    name: &'t str,
    text: &'t str,
    evaluations: Vec<Evaluation>,
    open: Option<Open>,
    target: Option<Target>,
}

/// An evaluation that has not ended.
#[derive(Default)]
struct Open {
    id: String,
    form: Option<TextForm>,
    peer_root: String,
    model_root: String,
    peers: Vec<Document>,
    models: Vec<Document>,
}

/// The destination of the characters of the current element.
enum Target {
    PeerRoot,
    ModelRoot,
    Peer,
    Model,
}

impl Xml<'_> {
    fn refuse(&self, kind: ErrorKind, at: usize, message: &str) -> Error {
        Error::new(kind, self.name, message).at(Position::in_text(self.text, at, 0))
    }

    fn attribute(&self, element: &BytesStart<'_>, wanted: &str, at: usize) -> Result<String, Error> {
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|e| self.refuse(ErrorKind::Syntax, at, &e.to_string()))?;
            if attribute.key.as_ref().eq_ignore_ascii_case(wanted) {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0);
                let value = value.map_err(|e| self.refuse(ErrorKind::Syntax, at, &e.to_string()))?;
                return Ok(value.into_owned());
            }
        }
        Err(self.refuse(ErrorKind::Shape, at, &format!("this element should have the attribute {wanted}")))
    }

    fn start(&mut self, element: &BytesStart<'_>, at: usize) -> Result<(), Error> {
        let tag = element.local_name().as_ref().to_ascii_uppercase();
        if tag == "EVAL" {
            if self.open.is_some() {
                return Err(self.refuse(ErrorKind::Shape, at, "an evaluation is inside another"));
            }
            self.open = Some(Open { id: self.attribute(element, "ID", at)?, ..Open::default() });
            return Ok(());
        }
        let id = match tag.as_str() {
            "P" | "M" => self.attribute(element, "ID", at)?,
            "INPUT-FORMAT" => self.attribute(element, "TYPE", at)?,
            _ => String::new(),
        };
        let Some(open) = &mut self.open else { return Ok(()) };
        self.target = match tag.as_str() {
            "PEER-ROOT" => Some(Target::PeerRoot),
            "MODEL-ROOT" => Some(Target::ModelRoot),
            "P" => {
                open.peers.push(Document { id, path: String::new() });
                Some(Target::Peer)
            }
            "M" => {
                open.models.push(Document { id, path: String::new() });
                Some(Target::Model)
            }
            "INPUT-FORMAT" => {
                open.form = TextForm::from_name(&id);
                if open.form.is_none() {
                    let message = format!("'{id}' is not a format of text");
                    let error = self.refuse(ErrorKind::Format, at, &message);
                    return Err(error.with_remedy("give SPL, SEE or ISI".into()));
                }
                None
            }
            _ => None,
        };
        Ok(())
    }

    fn characters(&mut self, content: &str) {
        let (Some(open), Some(target)) = (&mut self.open, &self.target) else { return };
        let place = match target {
            Target::PeerRoot => Some(&mut open.peer_root),
            Target::ModelRoot => Some(&mut open.model_root),
            Target::Peer => open.peers.last_mut().map(|document| &mut document.path),
            Target::Model => open.models.last_mut().map(|document| &mut document.path),
        };
        if let Some(place) = place {
            place.push_str(content);
        }
    }

    fn end(&mut self, tag: &str, at: usize) -> Result<(), Error> {
        self.target = None;
        if !tag.eq_ignore_ascii_case("EVAL") {
            return Ok(());
        }
        let Some(open) = self.open.take() else { return Ok(()) };
        let Some(form) = open.form else {
            let message = format!("evaluation {} should have an INPUT-FORMAT", open.id);
            return Err(self.refuse(ErrorKind::Shape, at, &message));
        };
        let within = |root: &str, documents: Vec<Document>| {
            let path = |path: &str| format!("{}/{}", root.trim(), path.trim());
            documents
                .into_iter()
                .map(|Document { id, path: file }| Document { id, path: path(&file) })
                .collect()
        };
        self.evaluations.push(Evaluation {
            id: open.id,
            form,
            peers: within(&open.peer_root, open.peers),
            models: within(&open.model_root, open.models),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIST: &str = r#"<ROUGE_EVAL version="1.5.5">
<!-- two systems -->
<EVAL ID="7">
  <PEER-ROOT> systems </PEER-ROOT><MODEL-ROOT>models</MODEL-ROOT>
  <INPUT-FORMAT TYPE="SPL"></INPUT-FORMAT>
  <PEERS><P ID="1">a&amp;b.txt</P><P ID="2">c.txt</P></PEERS>
  <MODELS><M ID="A">m.txt</M>
  <M ID="B">
    n.txt
  </M></MODELS>
</EVAL>
<eval id="8"><peer-root>s</peer-root><model-root>m</model-root><input-format type="see"/>
<peers><p id="2">d.html</p></peers><models><m id="A">o.html</m></models></eval>
</ROUGE_EVAL>"#;

    #[test]
    fn a_list_in_xml_names_its_files() {
        let list = read_xml(LIST.as_bytes(), "list.xml").unwrap();
        let paths = |documents: &[Document]| {
            documents.iter().map(|d| format!("{}={}", d.id, d.path)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(list.0.len(), 2);
        assert_eq!(paths(&list.0[0].peers), "1=systems/a&b.txt 2=systems/c.txt");
        assert_eq!(paths(&list.0[0].models), "A=models/m.txt B=models/n.txt");
        assert_eq!((list.0[1].id.as_str(), list.0[1].form), ("8", TextForm::See));
        assert_eq!(list.systems(), ["1", "2"]);
    }

    #[test]
    fn files_are_loaded_by_path() {
        let list = read_xml(LIST.as_bytes(), "list.xml").unwrap();
        let open = |path: &str| -> std::io::Result<std::io::Cursor<String>> {
            Ok(std::io::Cursor::new(match path {
                "s/d.html" => "<html>\n<a name=\"1\">[1]</a> <a href=\"#1\" id=1>A cat.</a>\n".to_owned(),
                "m/o.html" => {
                    "<a size=\"3\" name=\"2\">[2]</a>  <a href=\"#2\" id=2>The cat &</a>".to_owned()
                }
                path => format!("text of {path}\n\nmore\n"),
            }))
        };
        let texts = list.load(open).unwrap();
        assert_eq!(texts[0].references[1], "text of models/n.txt\nmore");
        assert_eq!(texts[1].candidates, [("2".to_owned(), "A cat.".to_owned())]);
        assert_eq!(texts[1].references, ["The cat &"]);
        let missing = list.load(|_| Err::<&[u8], _>(std::io::ErrorKind::NotFound.into())).unwrap_err();
        assert!(missing.to_string().starts_with("models/m.txt: cannot read"), "{missing}");
    }

    #[test]
    fn sentences_of_isi_files_stand_in_their_tags() {
        let file = b"<S SNTNO=\"1\">One.</S>\n<S SNTNO=\"2a,b\">Two.</S>\n <S SNTNO=\"3\">no</S>\n<S SNTNO=\"4\">no\n";
        assert_eq!(TextForm::Isi.text(file), "One.\nTwo.");
    }

    #[test]
    fn a_plain_list_has_one_evaluation_a_line() {
        let list =
            read_plain(&b"# peer models\nh1 r1 r2\n\n  h2\tr3\n"[..], "list", "s", TextForm::Lines).unwrap();
        assert_eq!(list.0.len(), 2);
        assert_eq!(list.0[0].models[1], Document { id: "M.2".into(), path: "r2".into() });
        assert_eq!((list.0[1].id.as_str(), list.0[1].peers[0].path.as_str()), ("2", "h2"));
        let error = read_plain(&b"h1 r1\nh2\n"[..], "list", "s", TextForm::Lines).unwrap_err();
        assert!(error.to_string().starts_with("list:2: "), "{error}");
    }

    #[test]
    fn errors_say_where() {
        for (text, place, what) in [
            ("<a>\n<EVAL>", "l:2:1", "attribute ID"),
            ("<EVAL ID='1'></EVAL>", "l:1:14", "INPUT-FORMAT"),
            ("<EVAL ID='1'>\n<INPUT-FORMAT TYPE='TXT'/></EVAL>", "l:2:1", "not a format of text"),
            ("<EVAL ID='1'><EVAL ID='2'>", "l:1:14", "inside another"),
            ("<EVAL ID='1'>", "l:1:14", "ends within"),
            ("<a></b>", "l:1:", ""),
            ("<EVAL ID='1'>&nbsp;</EVAL>", "l:1:14", "entity"),
        ] {
            let error = read_xml(text.as_bytes(), "l").unwrap_err().to_string();
            assert!(error.starts_with(place) && error.contains(what), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in "(<|>|/|&|;|\"|'|=| |\n|EVAL|ID|P|M|PEERS|INPUT-FORMAT|TYPE|SPL|a|é){0,60}") {
            let _ = read_xml(text.as_bytes(), "x");
            let _ = read_plain(text.as_bytes(), "x", "s", TextForm::Lines);
            for form in [TextForm::Lines, TextForm::See, TextForm::Isi] {
                let _ = form.text(text.as_bytes());
            }
        }
    }
}
