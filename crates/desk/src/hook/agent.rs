//! The agents whose hooks are known, and where they keep their settings.

use std::path::{Path, PathBuf};

/// A coding agent that asks through hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookedAgent {
    Claude,
    Codex,
    Gemini,
}

/// What a hook asks the person about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookGate {
    /// The plan with which the agent wants to leave its plan mode.
    Plans,
    /// A tool call that the agent would ask about.
    Permissions,
}

impl HookedAgent {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The name that people know.
    pub fn product(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// What its hooks can ask about. Codex has no hook for plans, Gemini CLI none for permissions.
    pub fn gates(self) -> &'static [HookGate] {
        match self {
            Self::Claude => &[HookGate::Plans, HookGate::Permissions],
            Self::Codex => &[HookGate::Permissions],
            Self::Gemini => &[HookGate::Plans],
        }
    }

    /// The settings file that has its hooks, in the person's home directory. `variable` looks up the environment.
    pub fn settings_file(self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let own_directory = |name: &str, usual: &str| variable(name).unwrap_or(home.join(usual));
        match self {
            Self::Claude => own_directory("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
            Self::Codex => own_directory("CODEX_HOME", ".codex").join("hooks.json"),
            Self::Gemini => home.join(".gemini").join("settings.json"),
        }
    }

    /// The settings file that has its hooks for one project.
    pub fn project_settings_file(self, project: &Path) -> PathBuf {
        match self {
            Self::Claude => project.join(".claude/settings.local.json"),
            Self::Codex => project.join(".codex/hooks.json"),
            Self::Gemini => project.join(".gemini/settings.json"),
        }
    }

    /// The event and the tools by which its hook is called for a gate.
    pub(super) fn hook_event(self, gate: HookGate) -> Option<(&'static str, &'static str)> {
        match (self, gate) {
            (Self::Claude, HookGate::Plans) => Some(("PreToolUse", "ExitPlanMode")),
            (Self::Gemini, HookGate::Plans) => Some(("BeforeTool", "exit_plan_mode")),
            (Self::Claude | Self::Codex, HookGate::Permissions) => Some(("PermissionRequest", "*")),
            (Self::Codex, HookGate::Plans) | (Self::Gemini, HookGate::Permissions) => None,
        }
    }

    /// How long the agent waits for a hook, in its own unit: a day.
    pub(super) fn timeout(self) -> u64 {
        const DAY: u64 = 24 * 60 * 60;
        match self {
            Self::Claude | Self::Codex => DAY,
            // In milliseconds.
            Self::Gemini => DAY * 1_000,
        }
    }
}
