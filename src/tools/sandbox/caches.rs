//! Caches of downloads that belong to one workspace.
//!
//! A confined command must not write what the person's next build reads. A command with a network keeps its downloads
//! here instead; once there are some, later commands in the same workspace use them, with a network or without.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::Homes;
use crate::model::Digest;

/// The variable that names a tool's cache, and the name of the directory for it.
const CACHES: [(&str, &str); 4] = [
    ("CARGO_HOME", "cargo"),
    ("GOMODCACHE", "go"),
    ("npm_config_cache", "npm"),
    ("PIP_CACHE_DIR", "pip"),
];

/// Where the caches of a workspace are. None where the person has no home.
pub(super) fn directory_of(person: &BTreeMap<String, String>, root: &Path) -> Option<PathBuf> {
    let absolute =
        |name: &str| person.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    let name = Digest::of_json(&serde_json::json!(root.to_string_lossy())).to_string();
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let end = name.len().saturating_sub(24);
    Some(caches.join("planwright/workspaces").join(&name[end..]))
}

/// Points tools to the caches of the workspace: all of them if the command has a network, else those with something in.
pub(super) fn use_caches(homes: &mut Homes, directory: &Path, network: bool) {
    let settings = homes.variables.iter().find(|(name, _)| name == "CARGO_HOME");
    let settings = settings.map(|(_, home)| Path::new(home).join("config.toml"));
    for (variable, name) in CACHES {
        let place = directory.join(name);
        if network {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
            let settings =
                settings.as_ref().filter(|path| variable == "CARGO_HOME" && path.exists());
            if let (Ok(()), Some(settings)) = (made, settings) {
                // Mirrors and the like. What is there already stays.
                let _ = std::os::unix::fs::symlink(settings, place.join("config.toml"));
            }
        }
        if network || is_used(&place) {
            homes.set(variable, &place);
            homes.write.push(place);
        }
    }
}

fn is_used(place: &Path) -> bool {
    let names = std::fs::read_dir(place).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name()).any(|name| name != "config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_stay_with_the_workspace_and_are_found_again() {
        let home = tempfile::tempdir().unwrap();
        let person = BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        let place = |root: &str| directory_of(&person, Path::new(root)).unwrap();
        assert_ne!(place("/work/a"), place("/work/b"));
        let directory = place("/work/a");
        let with = |network| {
            let mut homes = Homes::find(&person);
            use_caches(&mut homes, &directory, network);
            homes
        };
        let cargo = directory.join("cargo");
        assert!(!with(false).write.contains(&cargo) && !directory.exists());
        let online = with(true);
        assert!(online.write.contains(&cargo));
        assert!(online.variables.contains(&("CARGO_HOME".into(), cargo.display().to_string())));
        assert!(!with(false).write.contains(&cargo), "nothing was downloaded");
        std::fs::create_dir(cargo.join("registry")).unwrap();
        let later = with(false);
        assert!(later.write.contains(&cargo) && !later.write.contains(&directory.join("npm")));
    }
}
