//! Puts tools together with settings and store: what is known about tools, what is remembered, what was approved.
//!
//! Tools know nothing of the store and the store nothing of tools; here they meet, for a session and for the command
//! line alike.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use planwright_files::{self as files, FileLimit};
use planwright_model::Digest;
use planwright_store::{SideWrite, Store, StoreError, StoreReader, ToolCallRow};
use planwright_tools::affinity::{ToolProfile, ToolProfiles, derive_profile};
use planwright_tools::context::{MemoryHit, MemoryIndex, PinStore};
use planwright_tools::todo::TodoList;
use planwright_tools::{CallConclusion, StoreWrite, ToolMeta, ToolRegistry};

/// What was found, or nothing where the store cannot be read: tools then work as if nothing had been kept.
fn log_store_error<T>(found: Result<Option<T>, StoreError>) -> Option<T> {
    found.unwrap_or_else(|error| {
        tracing::warn!(%error, "what a tool kept cannot be read");
        None
    })
}

/// What tools keep, in the store.
#[derive(Debug)]
pub struct StoreServices {
    store: Store,
    /// Opened for the first tool that asks; most runs have none that does.
    reader: Mutex<Option<StoreReader>>,
}

impl StoreServices {
    pub fn new(store: &Store) -> Arc<Self> {
        Arc::new(Self { store: store.clone(), reader: Mutex::new(None) })
    }

    fn with_reader<T>(
        &self,
        read: impl FnOnce(&StoreReader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let reader = match &mut *reader {
            Some(reader) => reader,
            none => none.insert(self.store.reader()?),
        };
        read(reader)
    }

    /// The to-do list of a session or a workspace.
    pub fn todo_list(&self, scope: &str) -> TodoList {
        let kept = log_store_error(self.with_reader(|reader| reader.todo_list(scope)));
        kept.map(|list| {
            serde_json::from_str(&list).unwrap_or_else(|_| {
                tracing::warn!(bytes = list.len(), "a to-do list cannot be read and begins anew");
                TodoList::default()
            })
        })
        .unwrap_or_default()
    }
}

impl MemoryIndex for StoreServices {
    fn search(&self, query: &str, limit: usize) -> Result<Vec<MemoryHit>, String> {
        let found = self
            .with_reader(|reader| reader.search_memory(query, limit))
            .map_err(|error| error.to_string())?;
        let hit = |hit: planwright_store::RecalledMemory| MemoryHit {
            key: hit.key,
            text: hit.text,
            tags: hit.tags,
            score: hit.score,
        };
        Ok(found.into_iter().map(hit).collect())
    }
}

impl PinStore for StoreServices {
    fn approved_hash(&self, tool: &str) -> Option<Digest> {
        // What cannot be read counts as not approved, and the person is asked.
        let hash = log_store_error(self.with_reader(|reader| reader.tool_pin_hash(tool)))?;
        serde_json::from_value(hash.into()).ok()
    }

    fn approved_definition(&self, tool: &str) -> Option<String> {
        log_store_error(self.with_reader(|reader| reader.tool_pin_definition(tool)))
    }
}

/// What a concluded call leaves in the store. `scope` is the session, or the workspace of a call from the command line.
pub fn side_writes(conclusion: &CallConclusion, scope: &str) -> Vec<SideWrite> {
    let mut writes: Vec<SideWrite> =
        conclusion.writes.iter().map(|write| side_write(write, scope)).collect();
    if let Some(text) = &conclusion.full_output {
        let (scope, call) = (scope.to_owned(), conclusion.call.to_string());
        writes.push(SideWrite::Output { scope, call, text: text.clone() });
    }
    writes
}

fn side_write(write: &StoreWrite, scope: &str) -> SideWrite {
    match write.clone() {
        StoreWrite::Memory { key, text, tags } => SideWrite::Memory { key, text, tags },
        StoreWrite::Todo { list } => SideWrite::Todo {
            scope: scope.to_owned(),
            list: serde_json::to_string(&list).unwrap_or_default(),
        },
        StoreWrite::History(seen) => SideWrite::ToolCall(ToolCallRow {
            tool: seen.tool,
            affinity: seen.affinity,
            ok: seen.ok,
            confidence: seen.confidence,
            latency_ms: seen.latency_ms,
            code: seen.code,
        }),
        StoreWrite::Pin { tool, hash, definition } => {
            SideWrite::Pin { tool, hash: hash.as_str().to_owned(), definition }
        }
    }
}

/// What is known about the tools of a registry.
#[derive(Debug)]
pub struct KnownTools {
    pub profiles: ToolProfiles,
    /// Tools whose profile was made from their description.
    pub derived: BTreeSet<String>,
    pub calls: Vec<(Timestamp, ToolCallRow)>,
}

impl KnownTools {
    /// Built-in profiles, the person's over them, one for each tool without, and what the calls taught.
    pub fn load(
        registry: &ToolRegistry,
        config_dir: &Path,
        reader: Option<&StoreReader>,
    ) -> anyhow::Result<Self> {
        use anyhow::Context;
        let mut profiles = ToolProfiles::built_in();
        let own = config_dir.join("tools.toml");
        if own.symlink_metadata().is_ok() {
            let text = files::read_text(&own, FileLimit::CONFIG)
                .with_context(|| format!("reading {}", own.display()))?;
            profiles.overlay(&text).with_context(|| format!("in {}", own.display()))?;
        }
        let mut derived_names = BTreeSet::new();
        for meta in registry.all_tools() {
            if profiles.get(&meta.name).is_none() {
                profiles.insert(profile_from_meta(meta));
                derived_names.insert(meta.name.clone());
            }
        }
        let calls = reader.map(StoreReader::tool_calls).transpose()?.unwrap_or_default();
        for (at, call) in &calls {
            if let Some(profile) = profiles.get_mut(&call.tool) {
                profile.learn_from_call(call.ok, call.confidence, call.latency_ms);
                profile.last_updated = Some(*at);
            }
        }
        Ok(Self { profiles, derived: derived_names, calls })
    }
}

fn profile_from_meta(meta: &ToolMeta) -> ToolProfile {
    let properties = meta.schema.get("properties").and_then(serde_json::Value::as_object);
    let names: Vec<String> =
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    derive_profile(&meta.name, &meta.description, &names)
}

/// Places that no tool may touch: the store and the config.
pub fn forbidden_paths(data_dir: Option<&Path>, config_path: &Path) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = data_dir.map(Path::to_owned).into_iter().collect();
    if config_path.is_absolute() {
        places.push(config_path.to_owned());
    }
    places
}
