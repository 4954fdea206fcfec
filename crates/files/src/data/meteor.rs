//! METEOR's resources: compiled from a wheel of pycocoevalcap, a jar or a folder.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use capeval_choice::Refusal;
use capeval_evaluate::registry;
use capeval_meteor::{Compiler, Language, Resources};

use super::pip::{Package, package};
use super::{CompiledData, DataKind, Progress};
use crate::Error;

/// METEOR's resources.
pub(super) const KIND: DataKind = DataKind {
    name: "meteor",
    title: "METEOR",
    what: "METEOR's resources",
    verb: "are",
    package: Package {
        copy: Some("pycocoevalcap/meteor/meteor-1.5.jar"),
        ..package!("pycocoevalcap", "1.2", "083ed7910f1aec000b0a237ef6665f74edf19954204d0b1cbdb8399ed132228d")
    },
    download: "104 MB",
    stored: "39 MB",
    is_large: false,
    origin: "METEOR's data are taken from the Python package pycocoevalcap 1.2: from an installed copy, or else from \
             your package index through pip, which verifies the hash.",
    credits: "METEOR 1.5: Denkowski and Lavie, Carnegie Mellon University, LGPL 2.1; WordNet 3.0: Princeton \
              University, WordNet licence. Both notices",
    doubt: "these are not the resources of pycocoevalcap 1.2",
    needs: &[],
    member: None,
    stem: "meteor-1.5",
    published: "1fef3228",
    compile: |source, _, progress| compile(source, progress),
    verify: |bytes| {
        let resources = Resources::open(Arc::new(bytes))?;
        resources.verify()?;
        Ok(resources.fingerprint())
    },
    open: |bytes, _| {
        let resources = Resources::open(Arc::new(bytes))?;
        Ok(registry::Resources::default().with(Some(Arc::new(resources))))
    },
};

/// The places of the jar in folders that may contain one.
const JARS: [&str; 3] = ["meteor-1.5.jar", "meteor/meteor-1.5.jar", "pycocoevalcap/meteor/meteor-1.5.jar"];

fn compile(source: &Path, progress: &mut dyn FnMut(Progress)) -> Result<CompiledData, Error> {
    let wrong = |refusal: Refusal| Error::content(source.display(), refusal);
    let mut compiler = Compiler::new();
    add(source, &mut compiler, progress)?;
    let mut bytes = Vec::new();
    let summary = compiler.write(&mut bytes, progress).map_err(wrong)?;
    let bytes = Arc::new(bytes);
    let resources = Resources::open(Arc::clone(&bytes) as _).map_err(wrong)?;
    resources.verify().map_err(wrong)?;
    Ok(CompiledData {
        notice: summary.notice,
        is_recognized: summary.is_recognized,
        fingerprint: resources.fingerprint(),
        bytes,
    })
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
    use crate::Home;

    #[test]
    fn what_is_not_a_source_of_meteor_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        let refused = |source: &Path| home.install(&KIND, Some(source), &[], &mut |_| {}).unwrap_err();
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

        let error = home.install(&KIND, None, &["no such python".into()], &mut |_| {}).unwrap_err();
        assert!(error.to_string().ends_with("with pip: no Python was found"), "{error}");
        assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_stopped_installation_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().to_owned());
        fs::write(folder.path().join(".capeval.7.0.part"), "half").unwrap();
        fs::create_dir(folder.path().join(".fetch.7")).unwrap();
        fs::write(folder.path().join("mine.txt"), "stays").unwrap();
        assert!(!home.remove(&KIND).unwrap());
        fs::write(home.file(&KIND), "x").unwrap();
        assert!(home.remove(&KIND).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
