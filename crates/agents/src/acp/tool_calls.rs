//! The calls that an agent makes, as its updates tell them piece by piece.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use planwright_model::agent_work::CallPurpose;
use planwright_tools::ActionTarget;

/// The most calls of one turn that are told apart.
const MOST_CALLS: usize = 20_000;
/// How much of a call's output is kept.
const MOST_OUTPUT: usize = 12_000;
/// Fields in which agents name a file.
const PATH_FIELDS: [&str; 6] =
    ["file_path", "filePath", "filepath", "path", "absolute_path", "notebook_path"];
/// Fields in which agents name the directory of a command.
const DIRECTORY_FIELDS: [&str; 4] = ["cwd", "workdir", "directory", "working_directory"];

/// Where a call stands, in the words of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl CallStatus {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => return None,
        })
    }

    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// How a call was decided, if the agent asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CallDecision {
    /// It did not ask, or not yet.
    #[default]
    NotAsked,
    Allowed,
    Denied,
}

/// A file that a call changes, as the agent shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallDiff {
    pub(crate) path: String,
    old: String,
    new: String,
}

/// A call of an agent, as far as it is known.
#[derive(Clone, Debug)]
pub(crate) struct TrackedCall {
    /// Its number within the attempt; 0 until it is announced.
    pub(crate) number: u32,
    kind: String,
    title: String,
    name: String,
    pub(crate) input: Value,
    /// It has an input, even if that is empty so far.
    has_input: bool,
    paths: Vec<String>,
    pub(crate) diffs: Vec<CallDiff>,
    text: String,
    pub(crate) status: CallStatus,
    pub(crate) decision: CallDecision,
    /// It is in the journal as an action.
    pub(crate) announced: bool,
    /// What came of it is in the journal.
    pub(crate) observed: bool,
    pub(crate) begun: Instant,
}

impl TrackedCall {
    fn new() -> Self {
        Self {
            number: 0,
            kind: String::new(),
            title: String::new(),
            name: String::new(),
            input: Value::Null,
            has_input: false,
            paths: Vec::new(),
            diffs: Vec::new(),
            text: String::new(),
            status: CallStatus::default(),
            decision: CallDecision::default(),
            announced: false,
            observed: false,
            begun: Instant::now(),
        }
    }

    /// Takes in what an update says; what it does not mention stays.
    fn merge(&mut self, update: &Value, root: &Path) {
        let text = |name: &str| update.get(name).and_then(Value::as_str);
        for (field, name) in
            [(&mut self.kind, "kind"), (&mut self.title, "title"), (&mut self.name, "name")]
        {
            if let Some(value) = text(name).filter(|value| !value.is_empty()) {
                *field = planwright_tools::text_limit::truncate_chars(value, 4_000);
            }
        }
        if let Some(status) = text("status").and_then(CallStatus::parse) {
            self.status = status;
        }
        self.has_input |= update.get("rawInput").is_some();
        let input = update.get("rawInput").filter(|input| !is_empty(input));
        if let Some(input) = input {
            self.input = input.clone();
        }
        if self.diffs.is_empty() {
            self.diffs.extend(self.stated_change(root));
        }
        if let Some(locations) = update.get("locations").and_then(Value::as_array) {
            let paths = locations.iter().filter_map(|place| place.get("path")?.as_str());
            let paths: Vec<String> = paths.map(|path| path_in(root, path)).collect();
            if !paths.is_empty() {
                self.paths = paths;
            }
        }
        if let Some(content) = update.get("content").and_then(Value::as_array) {
            self.merge_content(content, root);
        }
        if self.text.is_empty()
            && let Some(output) = update.get("rawOutput").filter(|output| !is_empty(output))
        {
            self.text = output_text(output);
        }
    }

    fn merge_content(&mut self, content: &[Value], root: &Path) {
        let mut texts = Vec::new();
        let mut diffs = Vec::new();
        for item in content {
            match item.get("type").and_then(Value::as_str) {
                Some("content") => {
                    texts.extend(item.pointer("/content/text").and_then(Value::as_str));
                }
                Some("diff") => diffs.extend(read_diff(item, root)),
                _ => {}
            }
        }
        if !diffs.is_empty() {
            self.diffs = diffs;
        }
        if !texts.is_empty() {
            self.text =
                planwright_tools::text_limit::truncate_chars(&texts.join("\n"), MOST_OUTPUT);
        }
    }

    /// The change that the input of a call states: agents such as goose show no difference and have one kind for all. A
    /// file that is written whole counts as new; what was there before is seen when the copy is compared.
    fn stated_change(&self, root: &Path) -> Option<CallDiff> {
        if self.command().is_some() || matches!(self.kind.as_str(), "read" | "search" | "fetch") {
            return None;
        }
        let text = |name: &str| self.input.get(name)?.as_str();
        let path = PATH_FIELDS.iter().find_map(|name| text(name))?;
        let parts = [("before", "after"), ("old_string", "new_string")];
        let replaced = parts.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)));
        let (old, new) = replaced.or_else(|| Some(("", text("content")?)))?;
        Some(CallDiff { path: path_in(root, path), old: old.to_owned(), new: new.to_owned() })
    }

    /// Whether enough is known to say what it does.
    pub(crate) fn can_be_announced(&self) -> bool {
        !self.announced
            && (self.status != CallStatus::Pending
                || !is_empty(&self.input)
                || !self.diffs.is_empty())
    }

    /// The command that it runs, if it says so. What kind of call it says it is matters less: some agents have one
    /// kind for all.
    fn command(&self) -> Option<String> {
        if matches!(self.kind.as_str(), "edit" | "read" | "search" | "delete" | "move") {
            return None;
        }
        // Gemini CLI shows a command as the title of a call that never has an input.
        if self.kind == "execute" && !self.has_input && !self.title.is_empty() {
            return Some(self.title.clone());
        }
        match self.input.get("command").or_else(|| self.input.get("cmd"))? {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => {
                let words = words.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
                Some(join_words(&words))
            }
            _ => None,
        }
    }

    /// Files that it names.
    fn named_paths(&self) -> Vec<String> {
        if !self.diffs.is_empty() {
            return self.diffs.iter().map(|diff| diff.path.clone()).collect();
        }
        if !self.paths.is_empty() {
            return self.paths.clone();
        }
        let named = PATH_FIELDS.iter().find_map(|name| self.input.get(*name)?.as_str());
        named.map(str::to_owned).into_iter().collect()
    }

    /// What it touches, for the permission function.
    pub(crate) fn target(&self) -> ActionTarget {
        if let Some(command) = self.command() {
            let directory =
                DIRECTORY_FIELDS.iter().find_map(|name| self.input.get(*name)?.as_str());
            let directory = directory.filter(|path| !path.is_empty()).unwrap_or(".").to_owned();
            return ActionTarget::Command { command, directory };
        }
        let paths = self.named_paths();
        match self.kind.as_str() {
            "edit" | "delete" | "move" if !paths.is_empty() => {
                ActionTarget::Edit { paths, preview: self.preview() }
            }
            _ if !self.diffs.is_empty() => ActionTarget::Edit { paths, preview: self.preview() },
            "read" | "search" if paths.is_empty() => ActionTarget::Read { paths: vec![".".into()] },
            "read" | "search" => ActionTarget::Read { paths },
            "fetch" => match self.input.get("url").and_then(Value::as_str) {
                Some(url) => ActionTarget::Fetch { url: url.to_owned() },
                None => ActionTarget::Other,
            },
            _ => ActionTarget::Other,
        }
    }

    /// The change that it makes, as a difference.
    pub(crate) fn preview(&self) -> Option<String> {
        let parts: Vec<String> = self.diffs.iter().map(CallDiff::unified).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }

    /// What the agent calls it: its tool, or else its kind.
    pub(crate) fn tool_word(&self) -> String {
        let word = if self.name.is_empty() { &self.kind } else { &self.name };
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        let word: String = word.chars().take(40).map(plain).collect();
        if word.is_empty() { "other".to_owned() } else { word }
    }

    /// Whether it only looks.
    pub(crate) fn purpose(&self) -> CallPurpose {
        match self.target() {
            ActionTarget::Read { .. } => CallPurpose::Lookup,
            ActionTarget::Other if matches!(self.kind.as_str(), "think" | "switch_mode") => {
                CallPurpose::Lookup
            }
            _ => CallPurpose::Step,
        }
    }

    /// One line that says what it does.
    pub(crate) fn headline(&self, tool: &str) -> String {
        let what = match self.target() {
            ActionTarget::Command { command, .. } => command,
            ActionTarget::Edit { paths, .. } | ActionTarget::Read { paths } => paths.join(", "),
            ActionTarget::Fetch { url } => url,
            ActionTarget::Other if self.title.is_empty() => self.tool_word(),
            ActionTarget::Other => return first_line(&self.title),
        };
        format!("{tool}  {}", first_line(&what))
    }

    /// What came of it, in words.
    pub(crate) fn outcome_text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(preview) = self.preview() {
            parts.push(preview);
        }
        let text = plain_output(&self.text);
        if !text.is_empty() {
            parts.push(text);
        }
        if parts.is_empty() {
            parts
                .push(if self.status == CallStatus::Failed { "failed" } else { "done" }.to_owned());
        }
        parts.join("\n")
    }
}

/// A path as it is seen from where the agent works.
fn path_in(root: &Path, path: &str) -> String {
    let inside = Path::new(path).strip_prefix(root).ok().filter(|rest| rest.as_os_str() != "");
    inside.map_or_else(|| path.to_owned(), |rest| rest.display().to_string())
}

fn first_line(text: &str) -> String {
    planwright_tools::text_limit::truncate_chars(text.lines().next().unwrap_or_default(), 160)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// The text in an agent's own form of a result.
fn output_text(output: &Value) -> String {
    let text = match output {
        Value::String(text) => text.clone(),
        Value::Object(fields) => ["output", "stdout", "text", "content", "message"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_str().map(str::to_owned))
            .unwrap_or_else(|| output.to_string()),
        other => other.to_string(),
    };
    planwright_tools::text_limit::truncate_chars(&text, MOST_OUTPUT)
}

/// Output without the fence that some agents put around it.
fn plain_output(text: &str) -> String {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = inside.and_then(|rest| rest.split_once('\n')).map(|(_, inside)| inside.trim_end());
    inside.unwrap_or(text).to_owned()
}

fn read_diff(item: &Value, root: &Path) -> Option<CallDiff> {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    Some(CallDiff {
        path: path_in(root, text("path")?),
        old: text("oldText").unwrap_or_default().to_owned(),
        new: text("newText")?.to_owned(),
    })
}

impl CallDiff {
    fn unified(&self) -> String {
        let diff = planwright_tools::builtin::unified_diff(&self.path, &self.old, &self.new);
        planwright_tools::text_limit::truncate_chars(&diff, MOST_OUTPUT)
    }
}

/// Words as a command line that a shell reads as these words.
pub(crate) fn join_words(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    let quote = |word: &&str| {
        if !word.is_empty() && word.chars().all(plain) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The calls of an attempt, by the agent's names for them.
#[derive(Debug, Default)]
pub(crate) struct CallTracker {
    /// Where the agent works; paths in it are told from there.
    root: PathBuf,
    calls: BTreeMap<String, TrackedCall>,
    /// How many calls were made for the agent that it has no name for.
    nameless: u32,
}

/// Calls that are made for an agent are numbered beyond those that it announces.
const FIRST_NAMELESS: u32 = 1_000_000;

impl CallTracker {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, ..Self::default() }
    }

    /// A number for a call that the agent has no name for.
    pub(crate) fn nameless_number(&mut self) -> u32 {
        self.nameless += 1;
        FIRST_NAMELESS + self.nameless
    }

    /// Takes in an update about a call. `None` where it names none, or too many were named.
    pub(crate) fn update(&mut self, update: &Value) -> Option<&mut TrackedCall> {
        let id = update.get("toolCallId")?.as_str()?.to_owned();
        if !self.calls.contains_key(&id) {
            if self.calls.len() >= MOST_CALLS {
                return None;
            }
            self.calls.insert(id.clone(), TrackedCall::new());
        }
        let call = self.calls.get_mut(&id)?;
        call.merge(update, &self.root);
        Some(call)
    }

    pub(crate) fn by_number(&mut self, number: u32) -> Option<&mut TrackedCall> {
        self.calls.values_mut().find(|call| call.number == number)
    }

    /// Calls of which nothing more was heard.
    pub(crate) fn unobserved(&mut self) -> impl Iterator<Item = &mut TrackedCall> {
        self.calls.values_mut().filter(|call| call.announced && !call.observed)
    }
}

/// What a finished call leaves for whoever looks into its result.
pub(crate) fn outcome_data(call: &TrackedCall, files: &[(String, Option<String>)]) -> Value {
    let mut data = json!({ "title": call.title });
    if let Some(preview) = call.preview() {
        data["diff"] = json!(preview);
    }
    if let Some((path, hash)) = files.first() {
        data["path"] = json!(path);
        if let Some(hash) = hash {
            data["file_hash"] = json!(hash);
        }
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(update: &Value) -> TrackedCall {
        let mut tracker = CallTracker::default();
        let mut update = update.clone();
        update["toolCallId"] = json!("x");
        tracker.update(&update).unwrap().clone()
    }

    #[test]
    fn a_command_is_one_whatever_its_kind_is_called() {
        let target = |update: Value| call(&update).target();
        let command = |command: &str, directory: &str| ActionTarget::Command {
            command: command.into(),
            directory: directory.into(),
        };
        assert_eq!(
            target(json!({"kind": "other", "rawInput": {"command": "touch x"}})),
            command("touch x", ".")
        );
        assert_eq!(
            target(
                json!({"kind": "execute", "rawInput": {"command": ["sh", "-c", "a 'b'"], "cwd": "/w"}})
            ),
            command(r"sh -c 'a '\''b'\'''", "/w")
        );
        assert_eq!(
            target(json!({"kind": "execute", "title": "touch x"})),
            command("touch x", "."),
            "an agent without inputs"
        );
        let unknown = target(json!({"kind": "execute", "title": "Terminal", "rawInput": {}}));
        assert_eq!(unknown, ActionTarget::Other, "its input is still to come");
        let write = json!({"kind": "other", "rawInput": {"path": "/w/b.txt", "content": "y\n"}});
        let ActionTarget::Edit { paths, preview } = target(write) else { panic!("a write") };
        assert_eq!(paths, ["/w/b.txt"]);
        assert!(preview.unwrap().contains("+y"));
        let edit = json!({"kind": "edit", "content": [
            {"type": "diff", "path": "/w/a.txt", "oldText": "x\n", "newText": "y\n"}]});
        let ActionTarget::Edit { paths, preview } = target(edit) else { panic!("an edit") };
        assert_eq!(paths, ["/w/a.txt"]);
        assert!(preview.unwrap().contains("-x\n+y"), "a difference");
        assert_eq!(
            target(json!({"kind": "read", "rawInput": {"path": "b"}})),
            ActionTarget::Read { paths: vec!["b".into()] }
        );
        assert_eq!(
            target(json!({"kind": "switch_mode", "rawInput": {"plan": "x"}})),
            ActionTarget::Other
        );
    }

    #[test]
    fn a_call_is_told_piece_by_piece() {
        let mut tracker = CallTracker::new(PathBuf::from("/w"));
        let first = json!({"toolCallId": "a", "title": "Terminal", "kind": "execute", "rawInput": {}, "status": "pending"});
        let call = tracker.update(&first).unwrap();
        assert!(!call.can_be_announced(), "nobody knows yet what it does");
        let more = json!({"toolCallId": "a", "rawInput": {"command": "ls"}, "title": "ls"});
        let call = tracker.update(&more).unwrap();
        assert!(call.can_be_announced());
        assert_eq!(call.headline("shell.run"), "shell.run  ls");
        let done = json!({"toolCallId": "a", "status": "completed", "content": [
            {"type": "content", "content": {"type": "text", "text": "```console\nx\n```"}}]});
        assert_eq!(tracker.update(&done).unwrap().outcome_text(), "x");
    }
}
