//! Noticing change: a cheap stamp of a place for the cache, and the state of protected files around a command.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use super::{Workspace, content_hash};
use crate::model::Digest;

/// The most files whose state a stamp looks at; beyond, it counts as changed each time.
const MOST: usize = 20_000;

impl Workspace {
    /// A value that changes when what is at a place changes, as far as sizes and times tell.
    pub fn stamp(&self, place: &str) -> Value {
        let path = self.root().join(place);
        if !path.is_dir() {
            return of_file(&path);
        }
        let mut all = Vec::new();
        for entry in super::super::walk::files(&path, super::super::walk::Hidden::Shown) {
            if all.len() >= MOST {
                return json!(uuid::Uuid::now_v7().to_string());
            }
            all.push(json!([entry.display().to_string(), of_file(&entry)]));
        }
        all.sort_by_key(Value::to_string);
        json!(Digest::of_json(&Value::Array(all)))
    }
}

fn of_file(path: &Path) -> Value {
    match path.symlink_metadata() {
        Ok(metadata) => json!([
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ]),
        Err(_) => Value::Null,
    }
}

/// Hashes of protected files that a command might change: hooks and settings of git, pipelines, our own settings.
pub fn protected_state(root: &Path) -> BTreeMap<String, Digest> {
    const PLACES: [&str; 14] = [
        ".git/hooks",
        ".git/config",
        ".git/info/attributes",
        ".planwright",
        ".envrc",
        ".mcp.json",
        ".husky",
        ".github/workflows",
        ".github/actions",
        ".gitlab-ci.yml",
        ".circleci",
        ".pre-commit-config.yaml",
        ".cargo/config.toml",
        "Jenkinsfile",
    ];
    let mut found = BTreeMap::new();
    for place in PLACES {
        collect(root, Path::new(place), &mut found);
    }
    found
}

fn collect(root: &Path, place: &Path, found: &mut BTreeMap<String, Digest>) {
    let path = root.join(place);
    let Ok(metadata) = path.symlink_metadata() else { return };
    let name = place.display().to_string();
    if metadata.is_dir() {
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            if found.len() < MOST {
                collect(root, &place.join(entry.file_name()), found);
            }
        }
    } else if metadata.is_symlink() {
        let target = std::fs::read_link(&path).unwrap_or_default();
        found.insert(name, content_hash(target.as_os_str().as_encoded_bytes()));
    } else if metadata.is_file() {
        let bytes = std::fs::read(&path).unwrap_or_default();
        found.insert(name, Digest::of_json(&json!([metadata.mode(), content_hash(&bytes)])));
    }
}
