//! Results of calls that may be reused for the lifetime of a session (section 8.8).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::context::ToolContext;
use super::meta::{ResolvedCall, ToolEffect, ToolMeta};
use planwright_model::{ApprovalPolicy, Autonomy, Digest, ToolResult};

/// How long an answer from the network stays valid.
const NETWORK_LIFE: Duration = Duration::from_secs(15 * 60);
/// The most results that are kept.
const MOST: usize = 1000;

/// The key of a result, and what it depends on.
#[derive(Clone, Debug)]
pub struct ResultCacheKey {
    hash: Digest,
    /// Paths whose change invalidates it; empty means that every change does.
    touches: BTreeSet<String>,
    network: bool,
}

struct ResultCacheEntry {
    result: ToolResult,
    touches: BTreeSet<String>,
    until: Option<Instant>,
    used: u64,
}

/// Results by key.
#[derive(Default)]
pub struct ResultCache(Mutex<ResultCacheState>);

#[derive(Default)]
struct ResultCacheState {
    entries: BTreeMap<Digest, ResultCacheEntry>,
    clock: u64,
}

impl std::fmt::Debug for ResultCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultCache").finish_non_exhaustive()
    }
}

impl ResultCache {
    /// The key of a call. `None` for tools whose answers are not reused.
    pub fn key_for(
        &self,
        meta: &ToolMeta,
        resolved: &ResolvedCall,
        context: &ToolContext,
        policy: (Autonomy, ApprovalPolicy),
    ) -> Option<ResultCacheKey> {
        if !meta.idempotent {
            return None;
        }
        let toolbox = &context.toolbox;
        let prints: Vec<_> = resolved
            .paths
            .iter()
            .map(|touched| (&touched.path, toolbox.workspace().change_stamp(&touched.path)))
            .collect();
        let model =
            toolbox.services().subtasks.as_ref().map_or("", |subtasks| subtasks.model_name());
        let hash = Digest::from_json(&json!({
            "tool": meta.name,
            "version": meta.version,
            "args": resolved.args,
            "policy": policy,
            "model": model,
            "fingerprints": prints,
        }));
        let touches = resolved.paths.iter().map(|touched| touched.path.clone()).collect();
        Some(ResultCacheKey { hash, touches, network: resolved.effect == ToolEffect::Network })
    }

    pub fn get(&self, key: &ResultCacheKey) -> Option<ToolResult> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let clock = kept.clock;
        let entry = kept.entries.get_mut(&key.hash)?;
        if entry.until.is_some_and(|until| until <= Instant::now()) {
            kept.entries.remove(&key.hash);
            return None;
        }
        entry.used = clock;
        Some(entry.result.clone())
    }

    /// Caches a success; failures are tried again.
    pub fn put(&self, key: ResultCacheKey, result: &ToolResult) {
        if !result.ok {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let entry = ResultCacheEntry {
            result: result.clone(),
            touches: key.touches,
            until: key.network.then(|| Instant::now() + NETWORK_LIFE),
            used: kept.clock,
        };
        kept.entries.insert(key.hash, entry);
        if kept.entries.len() > MOST {
            let oldest = kept.entries.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(hash) = oldest.map(|(hash, _)| hash.clone()) {
                kept.entries.remove(&hash);
            }
        }
    }

    /// Drops what a call invalidated: results that depend on its paths, or everything about files if it may touch any.
    pub fn invalidate_touched(&self, resolved: &ResolvedCall) {
        if resolved.effect == ToolEffect::Network {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if resolved.effect != ToolEffect::Write {
            kept.entries.retain(|_, entry| entry.until.is_some());
            return;
        }
        let written: Vec<&str> =
            resolved.paths.iter().map(|touched| touched.path.as_str()).collect();
        kept.entries.retain(|_, entry| {
            let depends_on_written =
                |dependency: &String| written.iter().any(|path| paths_overlap(dependency, path));
            entry.until.is_some()
                || (!entry.touches.is_empty() && !entry.touches.iter().any(depends_on_written))
        });
    }

    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether one path equals the other or is below it.
fn paths_overlap(one: &str, other: &str) -> bool {
    let below =
        |inner: &str, outer: &str| outer == "." || std::path::Path::new(inner).starts_with(outer);
    below(one, other) || below(other, one)
}
