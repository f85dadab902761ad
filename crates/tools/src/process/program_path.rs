//! Where a program is that a command names without a directory, looked up once.
//!
//! A new process tries one directory of `PATH` after the other, and each miss costs. Thousands of commands of a plan are
//! given to the same shell.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Access, access};

/// By program and `PATH`.
type KnownPrograms = HashMap<(String, OsString), PathBuf>;

static KNOWN: Mutex<Option<KnownPrograms>> = Mutex::new(None);

/// The file of a program, as a new process with this environment would find it. `None` where that is left to the system.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    if program.is_empty() || program.contains('/') {
        return None;
    }
    let key = (program.to_owned(), std::env::var_os("PATH")?);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    // One that was there and is gone is looked up again.
    if let Some(path) = known.get(&key).filter(|path| is_program(path)) {
        return Some(path.clone());
    }
    let path = search(program, &key.1)?;
    known.insert(key, path.clone());
    Some(path)
}

/// The first program of this name. An entry that is no absolute path means another directory for each command.
fn search(program: &str, path: &OsString) -> Option<PathBuf> {
    for directory in std::env::split_paths(path) {
        if !directory.is_absolute() {
            return None;
        }
        let file = directory.join(program);
        if is_program(&file) {
            return Some(file);
        }
    }
    None
}

fn is_program(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok() && file.is_file()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_first_program_that_can_be_run_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let places = ["one", "two", "three"].map(|name| directory.path().join(name));
        for (place, mode) in places.iter().zip([0o644, 0o755, 0o755]) {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("it"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(place.join("it"), std::fs::Permissions::from_mode(mode))
                .unwrap();
        }
        std::fs::create_dir(places[0].join("dir")).unwrap();
        let path = std::env::join_paths(&places).unwrap();
        assert_eq!(search("it", &path), Some(places[1].join("it")));
        assert_eq!(search("dir", &path), None);
        assert_eq!(search("nowhere", &path), None);
        assert_eq!(search("it", &OsString::from("here:/bin")), None);
        assert_eq!(find_program("/bin/sh"), None);
    }
}
