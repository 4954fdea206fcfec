//! Lists the files in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use capeval_choice::Refusal;

use crate::Error;
use crate::path::expanded;

/// Folders are searched to this depth.
const DEPTH: usize = 8;

/// The largest number of files and folders that are looked at.
const MOST: usize = 200_000;

/// The paths of all files in a folder and the folders in it that are not hidden, in order.
///
/// # Errors
/// If the folder cannot be read, is no folder, or holds more than 200,000 files.
pub fn files_in(folder: &str) -> Result<Vec<String>, Error> {
    let root = PathBuf::from(&*expanded(folder));
    let system = |cause| Error::system("look into the folder", folder, cause);
    if root.is_file() {
        return Err(Error::content(
            folder,
            Refusal::new("this is a file").with_remedy("give the folder that it is in"),
        ));
    }
    let (mut files, mut seen) = (Vec::new(), 0);
    let mut folders = vec![(root, 0)];
    while let Some((folder_here, depth)) = folders.pop() {
        let listed = match fs::read_dir(&folder_here) {
            Err(cause) if depth == 0 => return Err(system(cause)),
            // What a person may not look into is not theirs to offer.
            Err(_) => continue,
            Ok(listed) => listed,
        };
        for path in listed.filter_map(|entry| Some(entry.ok()?.path())) {
            seen += 1;
            if seen > MOST {
                let refusal = Refusal::new(format!("there are more than {MOST} files in this folder"));
                return Err(Error::content(folder, refusal.with_remedy("give one that holds only the data")));
            }
            if is_hidden(&path) {
                continue;
            }
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && depth < DEPTH => folders.push((path, depth + 1)),
                Ok(metadata) if metadata.is_file() => files.extend(path.into_os_string().into_string().ok()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_folders_are_listed_in_order_except_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("b/c")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        for file in ["z.csv", "b/c/a.csv", "b/x.csv", ".git/y.csv", ".hidden"] {
            fs::write(root.join(file), "x").unwrap();
        }
        let root = root.display().to_string();
        let names: Vec<String> =
            files_in(&root).unwrap().iter().map(|path| path.replacen(&root, "", 1)).collect();
        assert_eq!(names, ["/b/c/a.csv", "/b/x.csv", "/z.csv"]);
        let file = files_in(&format!("{root}/z.csv")).unwrap_err();
        assert!(file.to_string().ends_with("this is a file") && file.remedy().is_some());
        let none = files_in(&format!("{root}/none")).unwrap_err();
        assert!(none.to_string().contains("cannot look into the folder: no such file"), "{none}");
    }

    /// A link to a folder above would be followed for ever without the limit on depth.
    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_end() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.csv"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(files_in(&folder.path().display().to_string()).unwrap().len(), DEPTH + 1);
    }
}
