//! Facts about models, cached so that they are detected only once: capabilities, and how estimates compare to reports.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::cost::TokenCalibration;
use super::{ModelCapability, ModelInfo};
use planwright_files::{self as files, FileLimit};

/// What is known about one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CapabilityCacheEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<ModelCapability>,
    #[serde(default)]
    pub calibration: TokenCalibration,
}

/// Caches facts about models. Losing an entry costs a few small calls, so write errors are not reported.
pub trait ModelCapabilityCache: Send + Sync + fmt::Debug {
    fn load_entry(&self, key: &str) -> Option<CapabilityCacheEntry>;
    fn store_entry(&self, key: &str, notes: CapabilityCacheEntry);
}

/// The cache key of a model: the same name at a different address is a different model.
pub fn model_cache_key(info: &ModelInfo) -> String {
    format!("{}@{}/{}", info.provider, info.host, info.model)
}

/// A cache for the lifetime of the process.
#[derive(Debug, Default)]
pub struct MemoryCapabilityCache(Mutex<BTreeMap<String, CapabilityCacheEntry>>);

impl ModelCapabilityCache for MemoryCapabilityCache {
    fn load_entry(&self, key: &str) -> Option<CapabilityCacheEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn store_entry(&self, key: &str, notes: CapabilityCacheEntry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), notes);
    }
}

/// A cache in a file of the data directory. Two processes may share it: the latest entry for a model wins.
#[derive(Debug)]
pub struct FileCapabilityCache {
    path: PathBuf,
    writing: Mutex<()>,
}

impl FileCapabilityCache {
    /// The name of the file in the data directory.
    pub const FILE: &str = "models.json";

    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), writing: Mutex::new(()) }
    }

    fn read_entries(&self) -> BTreeMap<String, CapabilityCacheEntry> {
        // A file that cannot be read is as good as none: what it said is found out again.
        let text = match files::read_text(&self.path, FileLimit::MODEL_NOTES) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, "the notes on models cannot be read");
                }
                return BTreeMap::new();
            }
        };
        serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(line = error.line(), "the notes on models cannot be understood");
            BTreeMap::new()
        })
    }

    fn write_entry(&self, key: &str, notes: CapabilityCacheEntry) -> io::Result<()> {
        let mut all = self.read_entries();
        all.insert(key.to_owned(), notes);
        if let Some(parent) = self.path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // Renamed into place, so that a reader never sees a partial file.
        let draft = self.path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&draft, serde_json::to_vec_pretty(&all)?)?;
        std::fs::rename(&draft, &self.path)
    }
}

impl ModelCapabilityCache for FileCapabilityCache {
    fn load_entry(&self, key: &str) -> Option<CapabilityCacheEntry> {
        self.read_entries().get(key).copied()
    }

    fn store_entry(&self, key: &str, notes: CapabilityCacheEntry) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.write_entry(key, notes) {
            tracing::warn!(%error, "the notes on models cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_outlive_the_process_and_a_damaged_file_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join(FileCapabilityCache::FILE);
        let notes = CapabilityCacheEntry {
            capability: Some(ModelCapability::FULL),
            ..CapabilityCacheEntry::default()
        };
        FileCapabilityCache::new(&path).store_entry("a@h/m", notes);
        FileCapabilityCache::new(&path).store_entry("b@h/m", CapabilityCacheEntry::default());
        assert_eq!(FileCapabilityCache::new(&path).load_entry("a@h/m"), Some(notes));
        std::fs::write(&path, "{").unwrap();
        assert_eq!(FileCapabilityCache::new(&path).load_entry("a@h/m"), None);
        FileCapabilityCache::new(&path).store_entry("a@h/m", notes);
        assert_eq!(FileCapabilityCache::new(&path).load_entry("a@h/m"), Some(notes));
    }
}
