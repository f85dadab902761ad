//! What was found out about models, kept so that it is found out once: abilities, and how estimates compare to reports.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::cost::Calibration;
use super::{Capability, ModelInfo};
use planwright_files::{self as files, FileLimit};

/// What is known about one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelNotes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<Capability>,
    #[serde(default)]
    pub calibration: Calibration,
}

/// Keeps notes about models. Losing them costs a few small calls, so that writing never fails loudly.
pub trait Notebook: Send + Sync + fmt::Debug {
    fn recall(&self, key: &str) -> Option<ModelNotes>;
    fn remember(&self, key: &str, notes: ModelNotes);
}

/// The key of a model: the same name behind another address is another model.
pub fn key(info: &ModelInfo) -> String {
    format!("{}@{}/{}", info.provider, info.host, info.model)
}

/// Notes for the life of the process.
#[derive(Debug, Default)]
pub struct MemoryNotebook(Mutex<BTreeMap<String, ModelNotes>>);

impl Notebook for MemoryNotebook {
    fn recall(&self, key: &str) -> Option<ModelNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn remember(&self, key: &str, notes: ModelNotes) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), notes);
    }
}

/// Notes in a file of the data directory. Two processes may share it: the newest note about a model wins.
#[derive(Debug)]
pub struct FileNotebook {
    path: PathBuf,
    writing: Mutex<()>,
}

impl FileNotebook {
    /// The name of the file in the data directory.
    pub const FILE: &str = "models.json";

    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), writing: Mutex::new(()) }
    }

    fn read(&self) -> BTreeMap<String, ModelNotes> {
        // A file that cannot be read is as good as none.
        let text = files::read_text(&self.path, FileLimit::MODEL_NOTES).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, key: &str, notes: ModelNotes) -> io::Result<()> {
        let mut all = self.read();
        all.insert(key.to_owned(), notes);
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // Renamed into place, so that a reader never sees half of it.
        let draft = self.path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&draft, serde_json::to_vec_pretty(&all)?)?;
        std::fs::rename(&draft, &self.path)
    }
}

impl Notebook for FileNotebook {
    fn recall(&self, key: &str) -> Option<ModelNotes> {
        self.read().get(key).copied()
    }

    fn remember(&self, key: &str, notes: ModelNotes) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.write(key, notes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_outlive_the_process_and_a_damaged_file_is_as_good_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join(FileNotebook::FILE);
        let notes = ModelNotes { capability: Some(Capability::FULL), ..ModelNotes::default() };
        FileNotebook::new(&path).remember("a@h/m", notes);
        FileNotebook::new(&path).remember("b@h/m", ModelNotes::default());
        assert_eq!(FileNotebook::new(&path).recall("a@h/m"), Some(notes));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(FileNotebook::new(&path).recall("a@h/m"), None);
        FileNotebook::new(&path).remember("a@h/m", notes);
        assert_eq!(FileNotebook::new(&path).recall("a@h/m"), Some(notes));
    }
}
