//! Where a program is that a command names without a directory.
//!
//! A new process tries one directory of `PATH` after the other, and each miss costs it more than a look at the directory costs
//! here. It is looked up for each command: an earlier one may just have made a program that comes first.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The file of a program, as a new process with this environment would find it. `None` where that is left to the system.
pub(super) fn find_program(program: &str) -> Option<PathBuf> {
    if program.is_empty() || program.contains('/') {
        return None;
    }
    search(program, &std::env::var_os("PATH")?)
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
        // What an earlier command made comes first from then on.
        let made = places[0].join("it");
        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(search("it", &path), Some(made));
        assert_eq!(search("it", &OsString::from("here:/bin")), None);
        assert_eq!(find_program("/bin/sh"), None);
    }
}
