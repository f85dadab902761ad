//! What a command leaves behind: outputs for other tasks, and artifacts, which are copied to a directory of the attempt.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use sha2::{Digest as _, Sha256};

use planwright_model::{CallId, KeptArtifact, SessionId, TaskNode, TaskOutputSource, TaskResults};
use planwright_text::Redactor;

/// Names the file to which a command writes its outputs, `KEY=VALUE` a line.
pub const OUTPUT_VARIABLE: &str = "PLANWRIGHT_OUTPUT";

/// What the artifacts of an attempt may take, in bytes.
const MAX_ARTIFACT_BYTES: u64 = 256 * 1024 * 1024;
const MAX_ARTIFACTS: usize = 10_000;
/// The longest value of an output, in bytes.
const MAX_OUTPUT_VALUE: usize = 64 * 1024;

/// The directories of attempts: one for each session below it.
#[derive(Clone, Debug)]
pub struct ResultStore {
    root: PathBuf,
}

impl ResultStore {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// All that a session kept.
    pub fn session_directory(&self, session: &SessionId) -> PathBuf {
        self.root.join(session.to_string())
    }

    /// What an attempt kept. Ids of tasks may be anything that can be printed.
    pub fn attempt_directory(&self, session: &SessionId, call: &CallId) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = call.task.as_str().chars().map(plain).take(40).collect();
        let hash = hex_digest(call.task.as_str().as_bytes());
        let name = format!("{name}-{}-{}", &hash[..8], call.attempt);
        self.session_directory(session).join(name.trim_start_matches('.'))
    }

    /// Removes all that a session kept.
    pub fn remove_session(&self, session: &SessionId) -> io::Result<()> {
        match fs::remove_dir_all(self.session_directory(session)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Where an attempt leaves its results.
#[derive(Clone, Debug)]
pub(super) struct ResultPlace {
    pub(super) directory: PathBuf,
    pub(super) workspace: PathBuf,
    /// The directory of the task.
    pub(super) base: PathBuf,
}

impl ResultPlace {
    /// The file that the command writes to.
    pub(super) fn output_file(&self) -> PathBuf {
        self.directory.join("output")
    }

    /// Makes an empty place. What an earlier process left of the same attempt is removed.
    pub(super) fn prepare(&self) -> Result<(), String> {
        let made = fs::remove_dir_all(&self.directory)
            .or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
            .and_then(|()| fs::create_dir_all(&self.directory))
            .and_then(|()| File::create(self.output_file()).map(drop));
        made.map_err(|error| format!("preparing {}: {error}", self.directory.display()))
    }

    /// Collects what the task states. `printed` is the end of what its command printed.
    pub(super) fn collect(
        &self,
        task: &TaskNode,
        printed: &str,
        redactor: &Redactor,
    ) -> Result<TaskResults, String> {
        let mut results = TaskResults::default();
        let keys = self.read_keys()?;
        for (name, source) in &task.options.outputs {
            let value = match source {
                TaskOutputSource::LastLine => {
                    let line = printed.lines().rev().find(|line| !line.trim().is_empty());
                    let line =
                        line.ok_or_else(|| format!("it printed no line for its output {name}"));
                    line?.trim_end().to_owned()
                }
                TaskOutputSource::Key(key) => keys.get(key).cloned().ok_or_else(|| {
                    format!("it wrote no line {key}=… to ${OUTPUT_VARIABLE} for its output {name}")
                })?,
                TaskOutputSource::File(path) => self.read_output_file(name, path)?,
            };
            results.outputs.insert(name.clone(), check_value(name, value, redactor)?);
        }
        results.artifacts = self.keep_artifacts(&task.options.artifacts)?;
        Ok(results)
    }

    fn read_keys(&self) -> Result<BTreeMap<String, String>, String> {
        let text = read_limited(&self.output_file(), 1024 * 1024)
            .map_err(|error| format!("reading ${OUTPUT_VARIABLE}: {error}"))?;
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Ok(pairs.map(|(key, value)| (key.trim().to_owned(), value.to_owned())).collect())
    }

    fn read_output_file(&self, name: &str, path: &str) -> Result<String, String> {
        let found = self.inside(&self.base.join(path))?;
        let text = read_limited(&found, MAX_OUTPUT_VALUE as u64)
            .map_err(|error| format!("its output {name} is not in the file {path}: {error}"))?;
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Returns a path unless links lead it out of the workspace.
    fn inside(&self, path: &Path) -> Result<PathBuf, String> {
        let found = path.canonicalize();
        let found = found.map_err(|error| format!("{}: {error}", path.display()))?;
        let workspace = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.clone());
        if found.starts_with(&workspace) {
            Ok(found)
        } else {
            Err(format!("{} leads out of the workspace", path.display()))
        }
    }

    fn keep_artifacts(&self, patterns: &[String]) -> Result<Vec<KeptArtifact>, String> {
        let mut kept: BTreeMap<PathBuf, KeptArtifact> = BTreeMap::new();
        let mut total = 0u64;
        for pattern in patterns {
            let mut found = false;
            for path in matching_files(&self.base, pattern)? {
                found = true;
                let path = self.inside(&path)?;
                if kept.contains_key(&path) {
                    continue;
                }
                let size = fs::metadata(&path).map_err(|error| describe(&path, &error))?.len();
                total = total.saturating_add(size);
                if total > MAX_ARTIFACT_BYTES || kept.len() >= MAX_ARTIFACTS {
                    return Err(format!(
                        "its artifacts are more than {} MB or {MAX_ARTIFACTS} files",
                        MAX_ARTIFACT_BYTES >> 20
                    ));
                }
                kept.insert(path.clone(), self.keep_file(&path)?);
            }
            if !found {
                return Err(format!("no file matches its artifact {pattern}"));
            }
        }
        Ok(kept.into_values().collect())
    }

    fn keep_file(&self, path: &Path) -> Result<KeptArtifact, String> {
        let workspace = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.clone());
        let own = path.strip_prefix(&workspace).unwrap_or(path);
        let target = self.directory.join("files").join(own);
        let copied = target.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            fs::copy(path, &target)?;
            hash_file(&target)
        });
        let (sha256, bytes) = copied.map_err(|error| describe(path, &error))?;
        Ok(KeptArtifact { path: own.to_string_lossy().into_owned(), bytes, sha256 })
    }
}

fn describe(path: &Path, error: &io::Error) -> String {
    format!("keeping {}: {error}", path.display())
}

/// Keeps the end of what a command prints, in which its last line is.
pub(super) fn push_last_lines(kept: &mut String, text: &str) {
    const LIMIT: usize = 2 * MAX_OUTPUT_VALUE;
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LIMIT))..];
    kept.push_str(text);
    // Not with every piece: what is kept is moved by it.
    if kept.len() > 4 * LIMIT {
        let cut = kept.ceil_char_boundary(kept.len() - LIMIT);
        kept.drain(..cut);
    }
}

/// Checks a value that goes to the journal and to other tasks.
fn check_value(name: &str, value: String, redactor: &Redactor) -> Result<String, String> {
    if value.len() > MAX_OUTPUT_VALUE {
        return Err(format!("its output {name} is longer than {} kB", MAX_OUTPUT_VALUE >> 10));
    }
    if value.contains('\0') {
        return Err(format!("its output {name} contains a zero byte"));
    }
    if redactor.would_change(&value) {
        return Err(format!("its output {name} contains a secret; pass it on in a file"));
    }
    Ok(value)
}

fn read_limited(path: &Path, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("larger than {} kB", limit >> 10)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("not UTF-8 text"))
}

/// The SHA-256 of a file in hexadecimal digits, and its size.
pub(super) fn hash_file(path: &Path) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let bytes = io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok((format!("{:x}", hasher.finalize()), bytes))
}

fn hex_digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The files below a directory that match a pattern, in order. Links are not followed. A directory stands for all
/// below it.
pub(super) fn matching_files(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let is_glob =
        |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let fixed: PathBuf =
        Path::new(pattern).components().take_while(|part| !is_glob(part)).collect();
    let has_glob = Path::new(pattern).components().any(|part| is_glob(&part));
    let start = base.join(&fixed);
    let matcher = has_glob.then(|| compile_pattern(pattern)).transpose()?;
    let walk = WalkBuilder::new(&start)
        .standard_filters(false)
        .follow_links(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .build();
    let files = walk
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path);
    let matches = |path: &PathBuf| {
        let own = path.strip_prefix(base).unwrap_or(path);
        matcher.as_ref().is_none_or(|matcher| matcher.is_match(own))
    };
    Ok(files.filter(matches).collect())
}

fn compile_pattern(pattern: &str) -> Result<GlobMatcher, String> {
    let trimmed = pattern.trim_start_matches("./");
    let glob = GlobBuilder::new(trimmed).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("{pattern}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, ResultPlace) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let (workspace, base) = (root.join("work"), root.join("work/web"));
        fs::create_dir_all(base.join("dist/a")).unwrap();
        let place = ResultPlace { directory: root.join("kept"), workspace, base };
        place.prepare().unwrap();
        (directory, place)
    }

    fn task(outputs: &[(&str, TaskOutputSource)], artifacts: &[&str]) -> TaskNode {
        let mut task = TaskNode::new("a", "a");
        task.options.outputs =
            outputs.iter().map(|(name, source)| ((*name).to_owned(), source.clone())).collect();
        task.options.artifacts = artifacts.iter().map(|text| (*text).to_owned()).collect();
        task
    }

    #[test]
    fn outputs_and_artifacts_are_collected_and_copied() {
        let (_root, place) = place();
        fs::write(place.base.join("out.txt"), "dist/a/x\n").unwrap();
        fs::write(place.base.join("dist/a/x"), "one").unwrap();
        fs::write(place.base.join("dist/.hidden"), "two").unwrap();
        fs::write(place.output_file(), "id=1\nURL = http://x/?a=b\nid=7\n").unwrap();
        let task = task(
            &[
                ("path", TaskOutputSource::File("out.txt".into())),
                ("id", TaskOutputSource::Key("id".into())),
                ("url", TaskOutputSource::Key("URL".into())),
                ("last", TaskOutputSource::LastLine),
            ],
            &["dist/**", "dist/a"],
        );
        let results = place.collect(&task, "first\nthe last \n\n", &Redactor::default()).unwrap();
        let expected =
            [("id", "7"), ("last", "the last"), ("path", "dist/a/x"), ("url", " http://x/?a=b")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(results.outputs, expected.into());
        let paths: Vec<&str> = results.artifacts.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["web/dist/.hidden", "web/dist/a/x"]);
        assert_eq!(results.artifacts[1].bytes, 3);
        let kept = fs::read_to_string(place.directory.join("files/web/dist/a/x")).unwrap();
        assert_eq!(kept, "one");
    }

    #[test]
    fn what_is_missing_or_leads_outside_is_refused_in_words() {
        let (_root, place) = place();
        std::os::unix::fs::symlink("/etc/hostname", place.base.join("out.txt")).unwrap();
        let secret = Redactor::new(["swordfish-1234"]);
        fs::write(place.output_file(), "token=swordfish-1234\n").unwrap();
        for (outputs, artifacts, expected) in [
            (vec![("x", TaskOutputSource::Key("x".into()))], vec![], "no line x=…"),
            (vec![("x", TaskOutputSource::File("none".into()))], vec![], "none"),
            (
                vec![("x", TaskOutputSource::File("out.txt".into()))],
                vec![],
                "leads out of the workspace",
            ),
            (vec![("x", TaskOutputSource::Key("token".into()))], vec![], "contains a secret"),
            (vec![], vec!["lib/*.so"], "no file matches its artifact lib/*.so"),
        ] {
            let error = place.collect(&task(&outputs, &artifacts), "", &secret).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
