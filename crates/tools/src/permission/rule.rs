//! Rules as data and as text: what exactly the user allowed or forbade.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::deny_match::{DenyMatch, compare_command, compare_prefix, runs_command, runs_prefix};
use super::shell::is_plain_command;
use crate::meta::{ResolvedCall, ToolEffect};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    Deny,
}

/// What a rule matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "match", rename_all = "snake_case")]
pub enum RuleMatcher {
    /// Every call of the tool.
    Any,
    /// This command, byte for byte.
    Command {
        command: String,
    },
    /// Commands that begin with these words and do nothing else.
    CommandPrefix {
        prefix: String,
    },
    /// Files whose path in the workspace matches the pattern.
    Path {
        glob: String,
    },
    Host {
        host: String,
    },
}

/// One rule of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRule {
    pub effect: RuleEffect,
    /// The full name of a tool.
    pub tool: String,
    pub matching: RuleMatcher,
    /// The user declared by hand that this exact command may run unconfined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsandboxed: bool,
    /// An allowed command may use the network; a deny rule is limited to commands that use it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Where the command runs, relative to the workspace. `None` is the workspace root for an allow rule, and every
    /// directory for a deny rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

impl PermissionRule {
    pub fn allow(tool: &str, matching: RuleMatcher) -> Self {
        Self {
            effect: RuleEffect::Allow,
            tool: tool.to_owned(),
            matching,
            unsandboxed: false,
            network: false,
            directory: None,
        }
    }

    pub fn deny(tool: &str, matching: RuleMatcher) -> Self {
        Self { effect: RuleEffect::Deny, ..Self::allow(tool, matching) }
    }

    /// The narrowest rule that would allow this call next time. `None` if a rule would be too broad.
    pub fn for_call(tool: &str, resolved: &ResolvedCall) -> Option<Self> {
        let matching = match resolved.effect {
            ToolEffect::Execute | ToolEffect::ExecuteNetwork => {
                RuleMatcher::Command { command: resolved.command.clone()? }
            }
            ToolEffect::Write => {
                let [touched] = resolved.paths.as_slice() else { return None };
                RuleMatcher::Path { glob: globset::escape(&touched.path) }
            }
            ToolEffect::Network => {
                let [host] = resolved.hosts.as_slice() else { return None };
                RuleMatcher::Host { host: host.clone() }
            }
            ToolEffect::SessionState
            | ToolEffect::Foreign
            | ToolEffect::Look
            | ToolEffect::Orchestrate => RuleMatcher::Any,
        };
        Some(Self {
            network: resolved.effect == ToolEffect::ExecuteNetwork,
            directory: working_directory(resolved)
                .filter(|directory| *directory != ROOT)
                .map(str::to_owned),
            ..Self::allow(tool, matching)
        })
    }

    /// Whether it matches one command and no other.
    pub fn is_exact(&self) -> bool {
        matches!(self.matching, RuleMatcher::Command { .. })
    }

    pub fn matches(&self, tool: &str, resolved: &ResolvedCall) -> bool {
        if self.tool != tool || !self.covers_circumstances(resolved) {
            return false;
        }
        match &self.matching {
            RuleMatcher::Any => true,
            RuleMatcher::Command { command } => match self.effect {
                RuleEffect::Allow => resolved.command.as_ref() == Some(command),
                RuleEffect::Deny => {
                    resolved.command.as_deref().is_some_and(|line| runs_command(line, command))
                }
            },
            RuleMatcher::CommandPrefix { prefix } => resolved
                .command
                .as_deref()
                .is_some_and(|command| matches_prefix(command, prefix, self.effect)),
            // An allow rule must cover everything the call touches, a deny rule any part of it.
            RuleMatcher::Path { glob } => {
                // Rules are checked when they are read; one that is wrong all the same never allows.
                let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else {
                    return self.effect == RuleEffect::Deny;
                };
                let glob = glob.compile_matcher();
                self.covers_hits(resolved.paths.iter().map(|touched| glob.is_match(&touched.path)))
            }
            RuleMatcher::Host { host } => {
                self.covers_hits(resolved.hosts.iter().map(|found| found == host))
            }
        }
    }

    /// Whether a deny rule matches only because it cannot be determined from the line what it runs.
    pub(super) fn matches_possibly(&self, resolved: &ResolvedCall) -> bool {
        let Some(line) = resolved.command.as_deref() else { return false };
        let found = match &self.matching {
            RuleMatcher::Command { command } => compare_command(line, command),
            RuleMatcher::CommandPrefix { prefix } => compare_prefix(line, prefix),
            _ => DenyMatch::None,
        };
        found == DenyMatch::Possible
    }

    /// Whether network and directory of a command are covered by the rule. Other calls have neither.
    fn covers_circumstances(&self, resolved: &ResolvedCall) -> bool {
        let Some(directory) = working_directory(resolved) else { return true };
        let wants_network = resolved.effect == ToolEffect::ExecuteNetwork;
        let own = self.directory.as_deref().map(normalize_directory);
        match self.effect {
            RuleEffect::Allow => {
                (self.network || !wants_network) && own.as_deref().unwrap_or(ROOT) == directory
            }
            RuleEffect::Deny => {
                (wants_network || !self.network) && own.is_none_or(|own| own == directory)
            }
        }
    }

    fn covers_hits(&self, mut hits: impl ExactSizeIterator<Item = bool>) -> bool {
        match self.effect {
            RuleEffect::Allow => hits.len() > 0 && hits.all(|hit| hit),
            RuleEffect::Deny => hits.any(|hit| hit),
        }
    }

    /// The rule as a sentence.
    pub fn describe(&self) -> String {
        let verb = match self.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Deny => "never allow",
        };
        let tool = &self.tool;
        let unconfined = if self.unsandboxed { ", even unconfined" } else { "" };
        let subject = match &self.matching {
            RuleMatcher::Any if self.effect == RuleEffect::Deny => {
                format!("{verb} any call of {tool}")
            }
            RuleMatcher::Any => format!("{verb} every call of {tool}"),
            RuleMatcher::Command { command } => {
                format!("{verb} {tool} with exactly `{command}`{unconfined}")
            }
            RuleMatcher::CommandPrefix { prefix } if self.effect == RuleEffect::Deny => {
                format!("{verb} {tool} with `{prefix}` anywhere in the command")
            }
            RuleMatcher::CommandPrefix { prefix } => {
                format!("{verb} {tool} with a single command that begins with `{prefix}`")
            }
            RuleMatcher::Path { glob } => format!("{verb} {tool} for files like `{glob}`"),
            RuleMatcher::Host { host } => format!("{verb} {tool} to reach {host}"),
        };
        let directory_text = match self.directory.as_deref().map(normalize_directory) {
            Some(directory) if directory != ROOT => format!(" in the directory `{directory}`"),
            _ => String::new(),
        };
        let network = if self.network { ", with network access" } else { "" };
        format!("{subject}{directory_text}{network}")
    }
}

/// The workspace root, as a working directory.
const ROOT: &str = ".";

/// Where a command would run, relative to the workspace; `None` for calls that run no command.
pub fn working_directory(resolved: &ResolvedCall) -> Option<&str> {
    let executes = matches!(resolved.effect, ToolEffect::Execute | ToolEffect::ExecuteNetwork);
    let touched = resolved.paths.first().map_or(ROOT, |touched| touched.path.as_str());
    executes.then_some(touched)
}

/// A directory as users write it (`./sub/`, empty for the workspace) in the form that calls resolve to.
fn normalize_directory(directory: &str) -> String {
    let absolute = directory.starts_with('/');
    let names: Vec<&str> = directory.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    match (absolute, names.is_empty()) {
        (true, _) => format!("/{}", names.join("/")),
        (false, true) => ROOT.to_owned(),
        (false, false) => names.join("/"),
    }
}

/// An allowed prefix ends at the end of a word, and the command does nothing else. A forbidden one is searched for in
/// every command of the line.
fn matches_prefix(command: &str, prefix: &str, effect: RuleEffect) -> bool {
    if effect == RuleEffect::Deny {
        return runs_prefix(command, prefix);
    }
    let Some(rest) = command.trim_start().strip_prefix(prefix.trim_end()) else { return false };
    (rest.is_empty() || rest.starts_with([' ', '\t'])) && is_plain_command(command)
}
