//! Download caches that belong to one workspace.
//!
//! A confined command must not write what the user's next build reads. A command with network access stores its
//! downloads here instead; once there are some, later commands in the same workspace use them, with or without network
//! access.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::ToolchainPaths;
use planwright_model::Digest;

/// The variable that names a tool's cache, the name of its directory, and where in it downloads are.
const CACHES: [(&str, &str, &[&str]); 4] = [
    ("CARGO_HOME", "cargo", &["registry/cache", "git/db"]),
    ("GOMODCACHE", "go", &["cache/download"]),
    ("npm_config_cache", "npm", &["_cacache/content-v2"]),
    ("PIP_CACHE_DIR", "pip", &["http", "http-v2", "wheels"]),
];
/// How deep a file can be below a download directory.
const DEEPEST: usize = 12;

/// The directory of a workspace's caches. `None` if the user has no home directory.
pub(super) fn cache_directory(user_env: &BTreeMap<String, String>, root: &Path) -> Option<PathBuf> {
    let absolute =
        |name: &str| user_env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    let name = Digest::from_json(&serde_json::json!(root.to_string_lossy())).to_string();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let end = name.len().saturating_sub(24);
    Some(caches.join("planwright/workspaces").join(&name[end..]))
}

/// Points tools to the caches of the workspace: all of them if the command has network access, otherwise the non-empty
/// ones.
pub(super) fn use_caches(homes: &mut ToolchainPaths, directory: &Path, network: bool) {
    let settings = homes.variables.iter().find(|(name, _)| name == "CARGO_HOME");
    let settings = settings.map(|(_, home)| Path::new(home).join("config.toml"));
    for (variable, name, downloads) in CACHES {
        let cache = directory.join(name);
        let is_ready = if network {
            DirBuilder::new().recursive(true).mode(0o700).create(&cache).is_ok()
        } else {
            downloads.iter().any(|below| contains_file(&cache.join(below), DEEPEST))
        };
        if !is_ready {
            continue;
        }
        let settings = settings.as_ref().filter(|path| variable == "CARGO_HOME" && path.exists());
        if let Some(settings) = settings {
            // Mirrors and the like. An existing file is kept; without them downloads use the defaults.
            let _ = std::os::unix::fs::symlink(settings, cache.join("config.toml"));
        }
        homes.set_variable(variable, &cache);
        homes.write.push(cache);
    }
}

/// Whether there is a non-empty file anywhere below a directory. The search ends at the first one.
fn contains_file(directory: &Path, depth: usize) -> bool {
    let mut entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.any(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => depth > 0 && contains_file(&entry.path(), depth - 1),
        Ok(metadata) => metadata.is_file() && metadata.len() > 0,
        // It vanished since it was listed.
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_stay_with_the_workspace_and_are_reused() {
        let home = tempfile::tempdir().unwrap();
        let user_env = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        let directory_for = |root: &str| cache_directory(&user_env, Path::new(root)).unwrap();
        assert_ne!(directory_for("/code/a"), directory_for("/code/b"));
        let directory = directory_for("/code/a");
        let with = |network| {
            let mut homes = ToolchainPaths::find_existing(&user_env);
            use_caches(&mut homes, &directory, network);
            homes
        };
        let cargo = directory.join("cargo");
        assert!(!with(false).write.contains(&cargo) && !directory.exists());
        let online = with(true);
        assert!(online.write.contains(&cargo));
        assert!(online.variables.contains(&("CARGO_HOME".into(), cargo.display().to_string())));
        assert!(!with(false).write.contains(&cargo), "nothing was downloaded");
        std::fs::create_dir_all(cargo.join("registry/cache/index")).unwrap();
        std::fs::write(cargo.join("stray"), "x").unwrap();
        assert!(!with(false).write.contains(&cargo), "a stray file is no download");
        std::fs::write(cargo.join("registry/cache/index/a-1.0.0.crate"), "x").unwrap();
        let later = with(false);
        assert!(later.write.contains(&cargo) && !later.write.contains(&directory.join("npm")));
    }

    #[test]
    fn a_cache_that_cannot_be_created_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let mut homes = ToolchainPaths::default();
        std::fs::write(home.path().join("cargo"), "in the way").unwrap();
        use_caches(&mut homes, home.path(), true);
        let names: Vec<&str> = homes.variables.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["GOMODCACHE", "npm_config_cache", "PIP_CACHE_DIR"]);
    }
}
