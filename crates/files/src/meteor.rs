//! Installs METEOR's resources from a wheel, a jar or a folder into one file in the user's folder for data.

use std::fs::File;
use std::io::BufReader;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capeval_choice::Refusal;
use capeval_meteor::{Compiler, Language, Progress, Recognized, Resources};

use crate::home::{Home, Installed};
use crate::pip::{self, METEOR};
use crate::{Bytes, Error};

/// The places of the jar in folders that may contain one.
const JARS: [&str; 3] = ["meteor-1.5.jar", "meteor/meteor-1.5.jar", "pycocoevalcap/meteor/meteor-1.5.jar"];

/// The names of METEOR's files, without their endings.
const STEM: &str = "meteor-1.5";

/// The place of METEOR's resources.
#[derive(Clone, Debug)]
pub struct MeteorHome(Home);

impl Deref for MeteorHome {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.0
    }
}

impl MeteorHome {
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

    /// The resources, opened with [`open`](crate::open) or [`read`](crate::read); `None` if they are not installed.
    ///
    /// # Errors
    /// When the file cannot be read, is truncated or of another version.
    pub fn resources(&self, open: fn(&str) -> Result<Bytes, Error>) -> Result<Option<Resources>, Error> {
        self.opened(open, |_| Ok(()))
    }

    /// As [`resources`](Self::resources), but verifies every byte, which takes longer.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or of another version.
    pub fn verified(&self, open: fn(&str) -> Result<Bytes, Error>) -> Result<Option<Resources>, Error> {
        self.opened(open, Resources::verify)
    }

    fn opened(
        &self,
        open: fn(&str) -> Result<Bytes, Error>,
        check: fn(&Resources) -> Result<(), Refusal>,
    ) -> Result<Option<Resources>, Error> {
        let Some((bytes, path)) = self.content(open)? else { return Ok(None) };
        let resources = Resources::open(Arc::new(bytes)).and_then(|resources| {
            check(&resources)?;
            Ok(resources)
        });
        resources.map(Some).map_err(|refusal| Error::content(path, refusal))
    }

    /// Compiles the resources in `source`: a wheel of the package, a `meteor-1.5.jar` with `data/` beside it, or a
    /// folder with these. Without a source, uses the published package of the first of `pythons` that has it, or
    /// downloads it with pip.
    ///
    /// The file is verified and then moved to its place, so that concurrent readers and installations see only complete
    /// files.
    ///
    /// # Errors
    /// When the source cannot be read or downloaded or does not contain METEOR, or the folder cannot be written.
    pub fn install(
        &self,
        source: Option<&Path>,
        pythons: &[String],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Installed, Error> {
        self.make()?;
        match source.map(Path::to_owned).or_else(|| pip::installed_package(pythons)) {
            Some(source) => self.compile(&source, progress),
            None => {
                progress(Progress { stage: "fetching pycocoevalcap 1.2", done: 0, total: None });
                let wheel = pip::fetch(self.folder(), &METEOR, pythons)?;
                self.compile(&wheel.path, progress)
            }
        }
    }

    fn compile(&self, source: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Installed, Error> {
        let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
        let mut compiler = Compiler::new();
        add(source, &mut compiler, progress)?;
        let mut bytes = Vec::new();
        let summary = compiler.write(&mut bytes, progress).map_err(wrong)?;
        let bytes = Arc::new(bytes);
        let resources = Resources::open(Arc::clone(&bytes) as _).map_err(wrong)?;
        resources.verify().map_err(wrong)?;
        self.write(&bytes, &summary.notice)?;
        let is_recognized = summary.recognized == Recognized::Yes;
        Ok(Installed { is_recognized, fingerprint: resources.fingerprint() })
    }
}

/// Adds a wheel, a jar with `data/` beside it, or a folder with both.
fn add(source: &Path, compiler: &mut Compiler, progress: &mut dyn FnMut(Progress)) -> Result<(), Error> {
    if source.is_dir() {
        let jar = JARS.iter().map(|name| source.join(name)).find(|path| path.exists());
        let jar =
            jar.ok_or_else(|| Error::content(source.display(), "this folder contains no meteor-1.5.jar"))?;
        return add(&jar, compiler, progress);
    }
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    let file = File::open(source).map_err(|cause| Error::system("open the file", source.display(), cause))?;
    if source.extension().is_none_or(|extension| extension != "jar") {
        return compiler.wheel(BufReader::new(file), progress).map_err(wrong);
    }
    compiler.jar(BufReader::new(file)).map_err(wrong)?;
    let data = source.parent().unwrap_or(Path::new("")).join("data");
    let mut found = false;
    for language in Language::all() {
        let table = data.join(format!("paraphrase-{language}.gz"));
        if let Ok(file) = File::open(&table) {
            let size = file.metadata().ok().map(|metadata| metadata.len());
            compiler
                .paraphrases(language, file, size, progress)
                .map_err(|refusal| Error::content(table.display(), refusal))?;
            found |= language == Language::English;
        }
    }
    if !found {
        let message = "there is no data/paraphrase-en.gz beside this jar";
        let refusal = Refusal::new(message).with_remedy("keep both as in the published package");
        return Err(Error::content(source.display(), refusal));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_not_a_source_of_meteor_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = MeteorHome::new(folder.path().join("home"));
        let refused = |source: &Path| home.install(Some(source), &[], &mut |_| {}).unwrap_err();
        let none = folder.path().join("none.whl");
        let error = refused(&none);
        assert!(error.to_string().starts_with(&*none.to_string_lossy()), "{error}");
        assert!(error.to_string().ends_with("cannot open the file: no such file or directory"), "{error}");
        assert!(error.cause().is_some());

        let text = folder.path().join("text.whl");
        fs::write(&text, "no wheel").unwrap();
        assert!(refused(&text).to_string().contains("text.whl"));
        let error = refused(folder.path());
        assert!(error.to_string().ends_with("this folder contains no meteor-1.5.jar"), "{error}");
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);

        let error = home.install(None, &["no such python".into()], &mut |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("with pip: no Python was found"), "{error}");
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_stopped_installation_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = MeteorHome::new(folder.path().to_owned());
        fs::write(folder.path().join(".capeval.7.0.part"), "half").unwrap();
        fs::create_dir(folder.path().join(".fetch.7")).unwrap();
        fs::write(folder.path().join("mine.txt"), "stays").unwrap();
        assert!(!home.remove().unwrap());
        fs::write(home.file(), "x").unwrap();
        assert!(home.remove().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
