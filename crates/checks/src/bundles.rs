//! No description and no archive of another site's benchmark makes the import panic or leaves half of a plan, and the
//! plan that it writes can be read.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use capeval_benchmarks::{bundles, plan};
use tempfile::TempDir;

use crate::plans;

/// Files that descriptions name.
const FILES: [(&str, &str); 7] = [
    ("ref.json", r#"[{"image_id": 1, "caption": "a cat"}]"#),
    ("reference_data/ref.json", r#"[{"image_id": 1, "caption": "a cat"}]"#),
    ("reference_data/README", "notes"),
    ("page.md", "Kites *fly*.\r\n"),
    ("page.html", "<h1>Be <i>fair</i></h1><ul><li>No <b>test</b> data.<p>&lt;3"),
    ("kit/example.json", "[]"),
    ("logo.png", "png"),
];

/// A folder with those files, in which the description changes.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("there is space");
    for (name, text) in FILES {
        let path = folder.path().join("bundle").join(name);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("there is space");
        fs::write(path, text).expect("there is space");
    }
    folder
});

fn import(bundle: &Path) {
    let out = FOLDER.path().join("out");
    if let Ok((read, _)) = bundles::import(bundle, &out, &["ada@example.org".to_owned()], u64::MAX) {
        plans::survives(&read);
        let written = fs::read_to_string(out.join(plan::FILE)).expect("a plan is there");
        plans::survives(&toml::from_str(&written).expect("the written plan can be read"));
        fs::remove_dir_all(&out).expect("it was made");
    } else {
        assert!(!out.exists(), "what is refused leaves a folder");
    }
}

pub fn check(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        let archive = FOLDER.path().join("bundle.zip");
        fs::write(&archive, bytes).expect("there is space");
        import(&archive);
        return;
    }
    let folder = FOLDER.path().join("bundle");
    for name in ["competition.yaml", "challenge_config.yaml"] {
        fs::write(folder.join(name), bytes).expect("there is space");
        import(&folder);
        fs::remove_file(folder.join(name)).expect("it was made");
    }
}
