//! Where spools are: a directory for each session beside the store, a file for each attempt.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use planwright_model::event::SpoolRange;
use planwright_model::{CallId, SessionId, TaskId};

use crate::writer::io_error;
use crate::{SpoolError, SpoolPiece, SpoolReader, SpoolWriter};

const EXTENSION: &str = ".spool";

/// The spools of a store.
#[derive(Clone, Debug)]
pub struct SpoolDirectory {
    root: PathBuf,
}

impl SpoolDirectory {
    /// The spools in a data directory. Nothing is made before something is written.
    pub fn in_data_dir(data_dir: &Path) -> Self {
        Self { root: data_dir.join("output") }
    }

    /// A writer for the output of one call.
    pub fn writer(&self, session: &SessionId, call: &CallId, cap: u64) -> SpoolWriter {
        SpoolWriter::new(self.path(session, call), cap)
    }

    /// A writer that adds to what a call printed before.
    pub fn reopen(
        &self,
        session: &SessionId,
        call: &CallId,
        cap: u64,
    ) -> Result<SpoolWriter, SpoolError> {
        SpoolWriter::reopen(self.path(session, call), cap)
    }

    /// A reader from a piece on; 0 is the beginning. `None` if the call printed nothing, or its output was removed.
    pub fn open(
        &self,
        session: &SessionId,
        call: &CallId,
        offset: u64,
    ) -> Result<Option<SpoolReader>, SpoolError> {
        SpoolReader::open(&self.path(session, call), offset)
    }

    /// What a call printed in a stretch. `None` if it printed nothing, or its output was removed.
    pub fn read_range(
        &self,
        session: &SessionId,
        call: &CallId,
        range: SpoolRange,
    ) -> Result<Option<Vec<SpoolPiece>>, SpoolError> {
        self.open(session, call, range.from)?.map(|reader| reader.read_range(range)).transpose()
    }

    /// Removes the spools of a session. Returns how many bytes that freed.
    pub fn remove_session(&self, session: &SessionId) -> Result<u64, SpoolError> {
        let directory = self.session_path(session);
        let bytes = self.session_bytes(session)?;
        match fs::remove_dir_all(&directory) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            Err(source) => Err(io_error(&directory, source)),
        }
    }

    /// How much room the spools of a session take.
    pub fn session_bytes(&self, session: &SessionId) -> Result<u64, SpoolError> {
        let directory = self.session_path(session);
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            Err(source) => return Err(io_error(&directory, source)),
        };
        let mut bytes = 0;
        for entry in entries {
            let entry = entry.map_err(|source| io_error(&directory, source))?;
            // A spool may be compressed while this looks.
            bytes += entry.metadata().map(|data| data.len()).unwrap_or_default();
        }
        Ok(bytes)
    }

    fn session_path(&self, session: &SessionId) -> PathBuf {
        self.root.join(safe_name(session.as_str()))
    }

    /// The file with the output of one call.
    pub fn path(&self, session: &SessionId, call: &CallId) -> PathBuf {
        let CallId { task, attempt, step } = call;
        let name = format!("{}.{attempt}.{step}{EXTENSION}", task_name(task));
        self.session_path(session).join(name)
    }
}

/// A file name for a task: readable where its id allows, and different for different ids.
fn task_name(task: &TaskId) -> String {
    let id = task.as_str();
    let name = safe_name(id);
    if name == id && name.len() <= 80 {
        return name;
    }
    let short: String = name.chars().take(40).collect();
    format!("{short}~{}", &planwright_model::Digest::from_bytes(id.as_bytes()).as_str()[..16])
}

/// Ids of tasks are free text; a name in the file system is not.
fn safe_name(id: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    id.chars().map(|letter| if safe(letter) { letter } else { '~' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(task: &str) -> CallId {
        CallId { task: task.into(), attempt: 1, step: 1 }
    }

    #[test]
    fn every_task_has_a_file_of_its_own_inside_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let spools = SpoolDirectory::in_data_dir(directory.path());
        let session = SessionId::new("s");
        let ids = ["a", "../../a", "a/b", "a~b", "test[linux,3.12]", "test[linux,3.13]", "ä", "."];
        let mut paths: Vec<PathBuf> =
            ids.iter().map(|id| spools.path(&session, &call(id))).collect();
        for path in &paths {
            assert_eq!(path.parent().unwrap(), directory.path().join("output/s"));
        }
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), ids.len());
        let long = spools.path(&session, &call(&"x".repeat(4_000)));
        assert!(long.file_name().unwrap().len() < 120);
    }

    #[test]
    fn the_spools_of_a_session_are_removed_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let spools = SpoolDirectory::in_data_dir(directory.path());
        let session = SessionId::new("s");
        assert_eq!(spools.remove_session(&session).unwrap(), 0);
        let mut writer = spools.writer(&session, &call("a"), 1 << 20);
        writer.append(planwright_model::event::OutputStream::Stdout, 0, "text\n").unwrap();
        writer.finish().unwrap();
        assert!(spools.session_bytes(&session).unwrap() > 5);
        assert!(spools.remove_session(&session).unwrap() > 5);
        assert!(spools.open(&session, &call("a"), 0).unwrap().is_none());
    }
}
