//! Detects changes: a cheap stamp of a path for the cache.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use super::Workspace;
use planwright_model::Digest;

/// The most files a stamp covers; beyond that, every stamp is different.
const MOST: usize = 20_000;

impl Workspace {
    /// A value that changes when the content at a path changes, as far as sizes and times show.
    pub fn change_stamp(&self, path: &str) -> Value {
        let path = self.root().join(path);
        if !path.is_dir() {
            return file_stamp(&path);
        }
        let mut all = Vec::new();
        for entry in super::super::file_walk::walk_files(
            &path,
            super::super::file_walk::HiddenFiles::Included,
        ) {
            if all.len() >= MOST {
                return json!(uuid::Uuid::now_v7().to_string());
            }
            all.push(json!([entry.display().to_string(), file_stamp(&entry)]));
        }
        all.sort_by_key(Value::to_string);
        json!(Digest::from_json(&Value::Array(all)))
    }
}

fn file_stamp(path: &Path) -> Value {
    match path.symlink_metadata() {
        Ok(metadata) => json!([
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        ]),
        // It vanished, which is a change as well.
        Err(_) => Value::Null,
    }
}
