//! What an agent tells its hook on standard input.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::HookedAgent;

/// The most that is read from an agent, in bytes. A plan has at most two million.
pub const MAX_INPUT: u64 = 8 * 1024 * 1024;
/// The longest plan file that is read; what is longer is refused when it is submitted.
const MAX_PLAN_FILE: u64 = 4 * 1024 * 1024;

/// Why the words of an agent can't be used.
#[derive(Debug, thiserror::Error)]
pub enum HookInputError {
    #[error("the hook was given more than 8 MB")]
    TooLong,
    #[error("standard input can't be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("the hook was not given JSON: {0}")]
    NotJson(String),
    #[error("the plan file {0} can't be found")]
    NoPlanFile(String),
}

/// What a hook is called with. Every agent sends more; the rest is not needed.
#[derive(Clone, Debug, Deserialize)]
pub struct HookInput {
    #[serde(default)]
    pub session_id: String,
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
    #[serde(default)]
    pub cwd: PathBuf,
    #[serde(default)]
    pub hook_event_name: String,
    #[serde(default)]
    pub tool_name: String,
    #[serde(default)]
    pub tool_input: Map<String, Value>,
}

/// What the agent wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookRequest {
    /// Leave its plan mode with this plan.
    Plan { markdown: String },
    /// Use one of its tools.
    Permission { tool: String, action: String, is_command: bool, reason: String },
    /// Something that the person is not asked about.
    Other,
}

impl HookInput {
    /// Reads the one JSON object that an agent writes.
    pub fn read(from: impl std::io::Read) -> Result<Self, HookInputError> {
        let mut text = Vec::new();
        from.take(MAX_INPUT + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_INPUT {
            return Err(HookInputError::TooLong);
        }
        serde_json::from_slice(&text).map_err(|error| HookInputError::NotJson(error.to_string()))
    }

    /// What this agent wants, by the event and the tool it names.
    pub fn request(&self, agent: HookedAgent) -> Result<HookRequest, HookInputError> {
        match (agent, self.hook_event_name.as_str(), self.tool_name.as_str()) {
            (HookedAgent::Claude, "PreToolUse" | "PermissionRequest", "ExitPlanMode") => {
                Ok(HookRequest::Plan { markdown: self.text_of("plan").to_owned() })
            }
            (HookedAgent::Gemini, "BeforeTool", "exit_plan_mode") => {
                Ok(HookRequest::Plan { markdown: self.gemini_plan()? })
            }
            (HookedAgent::Claude | HookedAgent::Codex, "PermissionRequest", tool) => {
                Ok(self.permission(tool))
            }
            _ => Ok(HookRequest::Other),
        }
    }

    fn text_of(&self, name: &str) -> &str {
        self.tool_input.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A command is shown as it is, everything else as the JSON that the tool gets.
    fn permission(&self, tool: &str) -> HookRequest {
        let reason = self.text_of("description").to_owned();
        let tool = tool.to_owned();
        if let Some(Value::String(command)) = self.tool_input.get("command") {
            return HookRequest::Permission {
                tool,
                action: command.clone(),
                is_command: true,
                reason,
            };
        }
        let action = serde_json::to_string_pretty(&self.tool_input).unwrap_or_default();
        HookRequest::Permission { tool, action, is_command: false, reason }
    }

    /// Gemini CLI names the file that its plan is in: beside the transcript of the conversation, or in the project.
    fn gemini_plan(&self) -> Result<String, HookInputError> {
        let named = ["plan_filename", "plan_path"].map(|name| self.text_of(name));
        let named = named.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let missing = || HookInputError::NoPlanFile(named.to_owned());
        let name = Path::new(named).file_name().ok_or_else(missing)?;
        let files = self.plan_directories().into_iter().map(|directory| directory.join(name));
        let inside = Some(self.cwd.join(named)).filter(|path| is_inside(path, &self.cwd));
        let file = files.chain(inside).find(|path| path.is_file()).ok_or_else(missing)?;
        let mut text = Vec::new();
        fs::File::open(file)?.take(MAX_PLAN_FILE).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn plan_directories(&self) -> Vec<PathBuf> {
        let Some(transcript) = &self.transcript_path else { return Vec::new() };
        let above = transcript.ancestors().skip(1).take(3);
        above
            .flat_map(|place| [place.join(&self.session_id).join("plans"), place.join("plans")])
            .collect()
    }
}

fn is_inside(path: &Path, directory: &Path) -> bool {
    match (path.canonicalize(), directory.canonicalize()) {
        (Ok(path), Ok(directory)) => path.starts_with(directory),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> HookInput {
        HookInput::read(value.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn plans_and_permissions_are_told_apart() {
        let plan = read(&json!({"hook_event_name": "PreToolUse", "tool_name": "ExitPlanMode",
            "tool_input": {"plan": "1. Do it"}}));
        let asked = plan.request(HookedAgent::Claude).unwrap();
        assert_eq!(asked, HookRequest::Plan { markdown: "1. Do it".to_owned() });
        assert_eq!(plan.request(HookedAgent::Codex).unwrap(), HookRequest::Other);
        let command = read(&json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": "rm -r build", "description": "Clean"}, "more": 1}));
        let asked = command.request(HookedAgent::Codex).unwrap();
        assert_eq!(
            asked,
            HookRequest::Permission {
                tool: "Bash".to_owned(),
                action: "rm -r build".to_owned(),
                is_command: true,
                reason: "Clean".to_owned()
            }
        );
        let edit = read(&json!({"hook_event_name": "PermissionRequest", "tool_name": "Edit",
            "tool_input": {"file_path": "/a"}}));
        let HookRequest::Permission { action, is_command, .. } =
            edit.request(HookedAgent::Claude).unwrap()
        else {
            panic!("an edit needs a permission");
        };
        assert_eq!((action.as_str(), is_command), ("{\n  \"file_path\": \"/a\"\n}", false));
        let after = read(&json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"}));
        assert_eq!(after.request(HookedAgent::Claude).unwrap(), HookRequest::Other);
    }

    #[test]
    fn a_plan_file_is_found_beside_the_transcript_and_never_outside_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let plans = dir.path().join("tmp/p/s1/plans");
        fs::create_dir_all(&plans).unwrap();
        fs::create_dir_all(dir.path().join("project")).unwrap();
        fs::write(plans.join("x.md"), "1. Do it").unwrap();
        fs::write(dir.path().join("secret.md"), "none of its business").unwrap();
        let input = |name: &str| {
            read(&json!({"hook_event_name": "BeforeTool", "tool_name": "exit_plan_mode",
                "session_id": "s1", "cwd": dir.path().join("project"),
                "transcript_path": dir.path().join("tmp/p/chats/session.json"),
                "tool_input": {"plan_filename": name}}))
        };
        let found = input("x.md").request(HookedAgent::Gemini).unwrap();
        assert_eq!(found, HookRequest::Plan { markdown: "1. Do it".to_owned() });
        let outside = input("../secret.md").request(HookedAgent::Gemini);
        assert!(matches!(outside, Err(HookInputError::NoPlanFile(_))), "{outside:?}");
    }

    #[test]
    fn what_is_not_json_or_too_long_is_refused() {
        assert!(matches!(HookInput::read(&b"hello"[..]), Err(HookInputError::NotJson(_))));
        let long = std::io::repeat(b' ');
        assert!(matches!(HookInput::read(long), Err(HookInputError::TooLong)));
    }
}
