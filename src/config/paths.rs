//! Where things are kept.

use std::path::PathBuf;

use directories::ProjectDirs;

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "planwright")
}

/// The directory of the store, unless another one is named. `None` when there is no home directory.
pub(crate) fn data_dir() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.data_dir().to_owned())
}

/// The user's config file, unless another one is named.
pub fn config_file() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.config_dir().join("config.toml"))
}
