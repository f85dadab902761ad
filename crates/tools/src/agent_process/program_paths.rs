//! Where the program of an agent is, and what belongs to it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds a program by its path, or by its name on a search path.
pub fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return (path.is_absolute() && is_program(&path)).then_some(path);
    }
    let directories =
        std::env::split_paths(search_path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let about = std::fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Directories that a program needs to read besides those of the system: where it and the files in its arguments are.
/// Of a Node program these are all of its packages.
pub(super) fn program_directories(command: &[String], program: &Path) -> Vec<PathBuf> {
    let named = command.iter().skip(1).map(PathBuf::from);
    let files = named.filter(|path| path.is_absolute() && path.is_file());
    let mut directories = Vec::new();
    for file in files.chain([program.to_owned()]) {
        let Ok(real) = file.canonicalize() else { continue };
        for path in [file, real] {
            directories.extend(package_directory(&path));
        }
    }
    directories.sort();
    directories.dedup();
    directories
}

/// The outermost directory of packages above a file, or else the directory it is in.
fn package_directory(file: &Path) -> Option<PathBuf> {
    let packages = file.ancestors().filter(|path| path.ends_with("node_modules")).last();
    packages.or(file.parent()).filter(|path| *path != Path::new("/")).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn programs_are_found_with_their_packages() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let script = root.join("lib/node_modules/@a/b/dist/index.js");
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, "").unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        let link = root.join("bin/agent");
        std::os::unix::fs::symlink("../lib/node_modules/@a/b/dist/index.js", &link).unwrap();
        let found = find_program("agent", root.join("bin").as_os_str()).unwrap();
        assert_eq!(found, link);
        let wanted = [root.join("bin"), root.join("lib/node_modules")];
        assert_eq!(program_directories(&["agent".into()], &found), wanted);
        assert_eq!(find_program("other", root.join("bin").as_os_str()), None);
        assert_eq!(find_program("./agent", OsStr::new("/")), None);
    }
}
