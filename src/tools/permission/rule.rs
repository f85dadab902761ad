//! Rules as data and in words: what the person allowed or forbade, exactly.

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use super::shell::is_plain;
use crate::tools::meta::{Effect, Resolved};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    Deny,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "match", rename_all = "snake_case")]
pub enum Matching {
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
    /// Files whose place in the workspace fits the pattern.
    Path {
        glob: String,
    },
    Host {
        host: String,
    },
}

/// One thing the person allowed or forbade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub effect: RuleEffect,
    /// The full name of a tool.
    pub tool: String,
    pub matching: Matching,
    /// The person wrote by hand that this exact command may run unconfined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsandboxed: bool,
}

impl Rule {
    pub fn allow(tool: &str, matching: Matching) -> Self {
        Self { effect: RuleEffect::Allow, tool: tool.to_owned(), matching, unsandboxed: false }
    }

    pub fn deny(tool: &str, matching: Matching) -> Self {
        Self { effect: RuleEffect::Deny, ..Self::allow(tool, matching) }
    }

    /// The narrowest rule that would let this call pass next time. None where a rule would say too much.
    pub fn for_call(tool: &str, resolved: &Resolved) -> Option<Self> {
        let matching = match resolved.effect {
            Effect::Execute | Effect::ExecuteNetwork => {
                Matching::Command { command: resolved.command.clone()? }
            }
            Effect::Write => {
                let [touched] = resolved.paths.as_slice() else { return None };
                Matching::Path { glob: globset::escape(&touched.path) }
            }
            Effect::Network => {
                let [host] = resolved.hosts.as_slice() else { return None };
                Matching::Host { host: host.clone() }
            }
            Effect::SessionState | Effect::Foreign | Effect::Look | Effect::Orchestrate => {
                Matching::Any
            }
        };
        Some(Self::allow(tool, matching))
    }

    /// Whether it names one command and no other.
    pub fn is_exact(&self) -> bool {
        matches!(self.matching, Matching::Command { .. })
    }

    pub fn matches(&self, tool: &str, resolved: &Resolved) -> bool {
        if self.tool != tool {
            return false;
        }
        match &self.matching {
            Matching::Any => true,
            Matching::Command { command } => resolved.command.as_ref() == Some(command),
            Matching::CommandPrefix { prefix } => resolved
                .command
                .as_deref()
                .is_some_and(|command| begins(command, prefix, self.effect)),
            // An allow rule must cover everything the call touches, a deny rule any of it.
            Matching::Path { glob } => {
                let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else {
                    return self.effect == RuleEffect::Deny;
                };
                let glob = glob.compile_matcher();
                self.covers(resolved.paths.iter().map(|touched| glob.is_match(&touched.path)))
            }
            Matching::Host { host } => {
                self.covers(resolved.hosts.iter().map(|found| found == host))
            }
        }
    }

    fn covers(&self, mut hits: impl ExactSizeIterator<Item = bool>) -> bool {
        match self.effect {
            RuleEffect::Allow => hits.len() > 0 && hits.all(|hit| hit),
            RuleEffect::Deny => hits.any(|hit| hit),
        }
    }

    /// The rule as a person would say it.
    pub fn words(&self) -> String {
        let verb = match self.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Deny => "never allow",
        };
        let tool = &self.tool;
        let unconfined = if self.unsandboxed { ", even unconfined" } else { "" };
        match &self.matching {
            Matching::Any if self.effect == RuleEffect::Deny => {
                format!("{verb} any call of {tool}")
            }
            Matching::Any => format!("{verb} every call of {tool}"),
            Matching::Command { command } => {
                format!("{verb} {tool} with exactly `{command}`{unconfined}")
            }
            Matching::CommandPrefix { prefix } => {
                format!("{verb} {tool} with a single command that begins with `{prefix}`")
            }
            Matching::Path { glob } => format!("{verb} {tool} for files like `{glob}`"),
            Matching::Host { host } => format!("{verb} {tool} to reach {host}"),
        }
    }
}

/// A prefix ends at the end of a word, and an allowed command does nothing but this one thing.
fn begins(command: &str, prefix: &str, effect: RuleEffect) -> bool {
    let Some(rest) = command.trim_start().strip_prefix(prefix.trim_end()) else { return false };
    let whole_word = rest.is_empty() || rest.starts_with([' ', '\t']);
    match effect {
        RuleEffect::Allow => whole_word && is_plain(command),
        RuleEffect::Deny => whole_word,
    }
}
