//! Putting the hook into an agent's settings file and taking it out again, without touching anything else in it.

use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::{HookGate, HookedAgent};

/// Why a settings file is left alone.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("`{0}` in it is not what {1} has there")]
    UnknownShape(String, &'static str),
}

/// The command that an agent runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    /// The whole line, quoted for a shell.
    pub line: String,
}

/// A settings file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    pub before: String,
    pub after: String,
}

impl SettingsChange {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// The change as a person reads it.
    pub fn diff(&self, file: &str) -> String {
        TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .context_radius(3)
            .header(file, file)
            .to_string()
    }
}

/// The settings with a hook for each gate. An older entry of ours is replaced.
pub fn installed_settings(
    agent: HookedAgent,
    text: &str,
    gates: &[HookGate],
    command: &HookCommand,
) -> Result<SettingsChange, SettingsError> {
    let mut settings = parse(text)?;
    remove_own(agent, &mut settings)?;
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or_else(|| unknown("hooks", agent))?;
    for (event, matcher) in gates.iter().filter_map(|gate| agent.hook_event(*gate)) {
        let groups = hooks.entry(event).or_insert_with(|| json!([]));
        let groups = groups.as_array_mut().ok_or_else(|| unknown(event, agent))?;
        groups.push(json!({
            "matcher": matcher,
            "hooks": [{ "type": "command", "command": command.line, "timeout": agent.timeout() }],
        }));
    }
    Ok(changed(text, &settings))
}

/// The settings without our hook.
pub fn removed_settings(agent: HookedAgent, text: &str) -> Result<SettingsChange, SettingsError> {
    let mut settings = parse(text)?;
    remove_own(agent, &mut settings)?;
    Ok(changed(text, &settings))
}

fn parse(text: &str) -> Result<Map<String, Value>, SettingsError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err(SettingsError::NotJson("it is not an object".to_owned())),
        Err(error) => Err(SettingsError::NotJson(error.to_string())),
    }
}

/// The text stays as it is, byte for byte, where the settings do.
fn changed(text: &str, settings: &Map<String, Value>) -> SettingsChange {
    let before = text.to_owned();
    if parse(text).is_ok_and(|known| known == *settings) {
        return SettingsChange { after: before.clone(), before };
    }
    let mut after = serde_json::to_string_pretty(settings).unwrap_or_default();
    after.push('\n');
    SettingsChange { before, after }
}

fn remove_own(agent: HookedAgent, settings: &mut Map<String, Value>) -> Result<(), SettingsError> {
    let Some(hooks) = settings.get_mut("hooks") else { return Ok(()) };
    let events = hooks.as_object_mut().ok_or_else(|| unknown("hooks", agent))?;
    let mut emptied = Vec::new();
    for (event, groups) in events.iter_mut() {
        let Some(groups) = groups.as_array_mut() else { continue };
        let had = groups.len();
        groups.retain_mut(|group| !is_emptied_by_removal(agent, group));
        if groups.is_empty() && had > 0 {
            emptied.push(event.clone());
        }
    }
    for event in emptied {
        events.shift_remove(&event);
    }
    if events.is_empty() {
        settings.shift_remove("hooks");
    }
    Ok(())
}

/// Takes our commands out of a group of hooks, and says whether nothing else was in it.
fn is_emptied_by_removal(agent: HookedAgent, group: &mut Value) -> bool {
    let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) else { return false };
    let had = hooks.len();
    hooks.retain(|hook| !is_own_command(agent, hook.get("command").and_then(Value::as_str)));
    hooks.is_empty() && had > 0
}

fn is_own_command(agent: HookedAgent, command: Option<&str>) -> bool {
    let Some((program, rest)) = command.and_then(|line| line.split_once(" hook ")) else {
        return false;
    };
    program.contains("planwright") && rest.split_whitespace().next() == Some(agent.name())
}

fn unknown(key: &str, agent: HookedAgent) -> SettingsError {
    SettingsError::UnknownShape(key.to_owned(), agent.product())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: &str = r#"{
  "model": "large",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {
            "type": "command",
            "command": "check.sh"
          }
        ]
      }
    ]
  },
  "permissions": {
    "allow": [
      "Bash(ls)"
    ]
  }
}
"#;

    fn command(agent: HookedAgent) -> HookCommand {
        HookCommand { line: format!("/usr/bin/planwright hook {}", agent.name()) }
    }

    #[test]
    fn installing_adds_installing_again_changes_nothing_and_removing_restores_every_byte() {
        for agent in HookedAgent::ALL {
            for text in ["", OTHERS] {
                let installed =
                    installed_settings(agent, text, agent.gates(), &command(agent)).unwrap();
                assert!(!installed.is_empty());
                let parsed: Value = serde_json::from_str(&installed.after).unwrap();
                for (event, matcher) in
                    agent.gates().iter().filter_map(|gate| agent.hook_event(*gate))
                {
                    let groups = parsed["hooks"][event].as_array().unwrap();
                    let own = groups.last().unwrap();
                    assert_eq!(own["matcher"], matcher);
                    assert_eq!(own["hooks"][0]["command"], command(agent).line);
                }
                let again =
                    installed_settings(agent, &installed.after, agent.gates(), &command(agent));
                assert!(again.unwrap().is_empty());
                let removed = removed_settings(agent, &installed.after).unwrap();
                let rest = if text.is_empty() { "{}\n" } else { text };
                assert_eq!(removed.after, rest, "{}", agent.name());
                assert!(removed_settings(agent, text).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn files_that_are_not_understood_are_left_alone() {
        let agent = HookedAgent::Claude;
        let install = |text| installed_settings(agent, text, agent.gates(), &command(agent));
        assert!(matches!(install("{ // comment\n}"), Err(SettingsError::NotJson(_))));
        assert!(matches!(install("[]"), Err(SettingsError::NotJson(_))));
        let odd = install(r#"{"hooks": {"PreToolUse": "x"}}"#);
        assert_eq!(
            odd.unwrap_err().to_string(),
            "`PreToolUse` in it is not what Claude Code has there"
        );
    }
}
