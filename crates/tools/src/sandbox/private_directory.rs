//! A home and a directory for temporary files that are removed when they are no longer needed.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A directory that only this user can read, with `home` and `tmp` in it.
#[derive(Debug)]
pub struct PrivateDirectory(PathBuf);

impl PrivateDirectory {
    pub fn create() -> io::Result<Self> {
        let path =
            std::env::temp_dir().join(format!("planwright-{}", uuid::Uuid::now_v7().simple()));
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        builder.create(&path)?;
        let created = Self(path);
        builder.create(created.0.join("home"))?;
        builder.create(created.0.join("tmp"))?;
        Ok(created)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        // What cannot be removed is deleted by the system with its other temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
