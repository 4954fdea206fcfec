//! No file of vectors, and no list of pictures, makes a reader panic; vectors that are read are whole and finite.

use std::path::PathBuf;
use std::sync::LazyLock;

use capeval_outside::embeddings::Vectors;

/// A folder with ids of three rows beside the file, as `.npy` has them.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("capeval-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is space");
    std::fs::write(folder.join("v.txt"), "1\n2\n3\n").expect("there is space");
    folder
});

pub fn check(bytes: &[u8]) {
    let _ = capeval_corpus::read_picture_names(bytes, "list");
    let path = FOLDER.join("v.npy");
    std::fs::write(&path, bytes).expect("there is space");
    if let Ok(vectors) = Vectors::open(&path.display().to_string()) {
        assert!(vectors.dims() > 0 && !vectors.is_empty());
        let _ = vectors.of_text("1").map(|row| assert!(row.iter().all(|x| x.is_finite())));
    }
}
