//! Finished attempts that need not be repeated: a task with `cache` is up to date when its command, variables,
//! parameters and inputs are those of an attempt that succeeded, and its artifacts are there.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::results::{ResultPlace, hash_file, matching_files};
use super::{CommandLauncher, TaskAttempt};
use planwright_model::{CallId, KeptArtifact, RunKind, SessionId, TaskId, TaskNode, TaskResults};

/// What is known about a finished attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CachedAttempt {
    /// Who made it, in words.
    pub(super) origin: String,
    /// Where its artifacts were kept.
    pub(super) directory: PathBuf,
    pub(super) results: TaskResults,
}

/// Where finished attempts are remembered, one file for each.
#[derive(Clone, Debug)]
pub struct TaskCache {
    root: PathBuf,
    unconfirmed: Arc<Mutex<UnconfirmedAttempts>>,
}

/// Attempts that have ended and whose exit criteria are still being checked, with their keys.
type UnconfirmedAttempts = HashMap<(SessionId, TaskId), (CallId, String, CachedAttempt)>;

impl TaskCache {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), unconfirmed: Arc::default() }
    }

    /// The attempt with this key, if its artifacts are there or can be put back.
    pub(super) fn find(&self, key: &str, place: &ResultPlace) -> Option<CachedAttempt> {
        let text = fs::read_to_string(self.root.join(format!("{key}.json"))).ok()?;
        let cached: CachedAttempt = serde_json::from_str(&text)
            .inspect_err(|error| tracing::warn!(%error, "a cached attempt cannot be read"))
            .ok()?;
        let restored = cached.results.artifacts.iter().all(|artifact| {
            restore(artifact, &cached.directory, &place.workspace)
                .inspect_err(|error| tracing::info!(%error, path = artifact.path, "not cached"))
                .is_ok()
        });
        restored.then_some(cached)
    }

    pub(super) fn remember(&self, key: &str, cached: &CachedAttempt) {
        if let Err(error) = self.write_entry(key, cached) {
            tracing::warn!(%error, "a finished attempt cannot be remembered");
        }
    }

    /// Remembers an attempt once its exit criteria are met. Until then nobody can use it.
    pub(super) fn remember_when_confirmed(
        &self,
        attempt: &TaskAttempt,
        key: String,
        cached: CachedAttempt,
    ) {
        let own = (attempt.session.clone(), attempt.call.task.clone());
        let mut unconfirmed = self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner);
        unconfirmed.insert(own, (attempt.call.clone(), key, cached));
    }

    pub(super) fn confirm(&self, session: &SessionId, call: &CallId) {
        let own = (session.clone(), call.task.clone());
        let mut unconfirmed = self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = unconfirmed.remove(&own);
        drop(unconfirmed);
        if let Some((_, key, cached)) = found.filter(|(made_by, ..)| made_by == call) {
            self.remember(&key, &cached);
        }
    }

    fn write_entry(&self, key: &str, cached: &CachedAttempt) -> io::Result<()> {
        fs::create_dir_all(&self.root)?;
        let path = self.root.join(format!("{key}.json"));
        let partial = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&partial, serde_json::to_vec(cached)?)?;
        fs::rename(partial, path)
    }
}

/// Leaves an artifact that is as it was, and puts back one that is not there.
fn restore(artifact: &KeptArtifact, kept: &Path, workspace: &Path) -> io::Result<()> {
    let target = workspace.join(&artifact.path);
    match hash_file(&target) {
        Ok((sha256, _)) if sha256 == artifact.sha256 => return Ok(()),
        // What the person changed is not overwritten: the command runs again.
        Ok(_) => return Err(io::Error::other("the artifact has changed")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let source = kept.join("files").join(&artifact.path);
    let (sha256, _) = hash_file(&source)?;
    if sha256 != artifact.sha256 {
        return Err(io::Error::other("the kept artifact is damaged"));
    }
    target.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(source, target).map(drop)
}

/// What decides whether an attempt is the same as another one.
pub(super) struct CacheQuestion<'a> {
    pub(super) task: &'a TaskNode,
    /// All variables that the task states, with their values.
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) params: &'a BTreeMap<String, String>,
    pub(super) place: &'a ResultPlace,
    /// What carries its command to another machine.
    pub(super) launcher: Option<&'a CommandLauncher>,
}

impl CacheQuestion<'_> {
    /// A key that only attempts with the same command, variables, parameters and inputs have.
    pub(super) fn key(&self) -> Result<String, String> {
        let mut hasher = Sha256::new();
        let mut add = |part: &str| {
            // The length keeps parts apart from each other.
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        };
        let task = self.task;
        add("planwright task 1");
        add(&self.place.workspace.to_string_lossy());
        add(match &task.run {
            RunKind::Shell(command) => command,
            RunKind::Agent(_) | RunKind::Human {} => return Err("it is not a command".to_owned()),
        });
        add(&task.cwd);
        task.shell.iter().for_each(|word| add(word));
        if let Some(launcher) = self.launcher {
            add("on");
            launcher.words().iter().for_each(|word| add(word));
        }
        for values in [self.variables, self.params] {
            add(&values.len().to_string());
            for (name, value) in values {
                add(name);
                add(value);
            }
        }
        task.options.artifacts.iter().for_each(|pattern| add(pattern));
        add(&serde_json::to_string(&task.options.outputs).unwrap_or_default());
        for pattern in &task.options.inputs {
            let files = matching_files(&self.place.base, pattern)?;
            if files.is_empty() {
                return Err(format!("no file matches its input {pattern}"));
            }
            add(pattern);
            for path in files {
                let own = path.strip_prefix(&self.place.base).unwrap_or(&path);
                add(&own.to_string_lossy());
                let hashed = hash_file(&path);
                add(&hashed.map_err(|error| format!("{}: {error}", path.display()))?.0);
            }
        }
        Ok(format!("{:x}", hasher.finalize()))
    }
}
