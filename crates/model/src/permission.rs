//! What the person allowed or forbade, and what came of it for a call: plain data, as rules, requests and the journal
//! hold it. Whether a rule fits a call is for `tools`.

use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::event::RiskClass;
pub use crate::requests::AskReason;

/// Whether a rule allows or forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    Allow,
    Deny,
}

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// Files whose place in the workspace fits the pattern.
    Path {
        glob: String,
    },
    Host {
        host: String,
    },
}

/// One thing the person allowed or forbade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PermissionRule {
    pub effect: RuleEffect,
    /// The full name of a tool.
    pub tool: String,
    pub matching: RuleMatcher,
    /// The person wrote by hand that this exact command may run unconfined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsandboxed: bool,
    /// An allowed command may use the network; a deny rule is narrowed to commands that want it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Where the command runs, relative to the workspace. None is the workspace itself for an allow rule, and every
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

    /// Whether it names one command and no other.
    pub fn is_exact(&self) -> bool {
        matches!(self.matching, RuleMatcher::Command { .. })
    }

    /// What the rule would allow, beside a card that shows the call: `exactly this command`.
    pub fn describe_beside_call(&self) -> String {
        let what = match &self.matching {
            RuleMatcher::Any => "every call of this tool".to_owned(),
            RuleMatcher::Command { .. } => "exactly this command".to_owned(),
            RuleMatcher::CommandPrefix { prefix } => {
                format!("single commands that begin with `{prefix}`")
            }
            RuleMatcher::Path { glob } => format!("files like `{glob}`"),
            RuleMatcher::Host { host } => format!("everything on {host}"),
        };
        format!("{what}{}{}", self.describe_place(), self.describe_risks())
    }

    /// Where a command runs, unless that is the workspace itself.
    fn describe_place(&self) -> String {
        match self.directory.as_deref().map(normalize_directory) {
            Some(directory) if directory != WORKSPACE_ROOT => {
                format!(" in the directory `{directory}`")
            }
            _ => String::new(),
        }
    }

    /// What it may do beyond the usual.
    fn describe_risks(&self) -> String {
        let unconfined = if self.unsandboxed { ", even unconfined" } else { "" };
        let network = if self.network { ", with network access" } else { "" };
        format!("{unconfined}{network}")
    }

    /// The rule as a person would say it.
    pub fn describe(&self) -> String {
        let verb = match self.effect {
            RuleEffect::Allow => "allow",
            RuleEffect::Deny => "never allow",
        };
        let tool = &self.tool;
        let unconfined = if self.unsandboxed { ", even unconfined" } else { "" };
        let what = match &self.matching {
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
        let network = if self.network { ", with network access" } else { "" };
        format!("{what}{}{network}", self.describe_place())
    }
}

impl RuleMatcher {
    /// The rule about a command that a person typed: the command itself, or its first words and `*`.
    ///
    /// # Errors
    /// What was typed does not fit the command, so that saving it would not even allow this call.
    pub fn parse_command_rule(command: &str, typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        if typed.is_empty() || typed == command.trim() {
            return Ok(Self::Command { command: command.to_owned() });
        }
        let Some(prefix) = typed.strip_suffix('*').map(str::trim_end) else {
            return Err("type the whole command, or its first words followed by *".to_owned());
        };
        if prefix.is_empty() {
            return Err("a rule needs at least the name of the program before the *".to_owned());
        }
        if command.contains(['\n', ';', '|', '&', '<', '>', '$', '`', '(']) {
            return Err(
                "a rule with * fits only a single plain command; this one does more".to_owned()
            );
        }
        match command.trim().strip_prefix(prefix) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => {
                Ok(Self::CommandPrefix { prefix: prefix.to_owned() })
            }
            _ => Err(format!("this command does not begin with the words `{prefix}`")),
        }
    }
}

/// The workspace itself, as a working directory.
pub const WORKSPACE_ROOT: &str = ".";

/// A directory as people write it (`./sub/`, empty for the workspace) in the form that calls resolve to.
pub fn normalize_directory(directory: &str) -> String {
    let absolute = directory.starts_with('/');
    let names: Vec<&str> = directory.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    match (absolute, names.is_empty()) {
        (true, _) => format!("/{}", names.join("/")),
        (false, true) => WORKSPACE_ROOT.to_owned(),
        (false, false) => names.join("/"),
    }
}

/// May it be called?
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum PermissionVerdict {
    Allow { because: GrantBasis },
    Ask { why: AskReason, offers: AnswerOffers },
    Refuse { code: String, why: String },
}

/// Which rule let a call pass; part of what is journaled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum GrantBasis {
    /// The table lets it pass at this autonomy.
    Harmless,
    /// The approved revision's card listed it.
    Plan {
        revision: Digest,
    },
    /// The person allowed the class for the rest of the phase.
    Phase {
        class: RiskClass,
    },
    Rule {
        words: String,
    },
    Grant {
        words: String,
    },
    /// The person said yes to this very call.
    Person,
}

/// Which answers make sense.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AnswerOffers {
    /// The rule that *for this session* and *always* would make; none where they would not be heeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PermissionRule>,
    /// *For this phase* may be answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub phase: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_rule_is_the_command_or_its_first_words() {
        let parse = |typed| RuleMatcher::parse_command_rule("cargo test --all", typed);
        let exact = RuleMatcher::Command { command: "cargo test --all".to_owned() };
        assert_eq!(parse("cargo test --all"), Ok(exact.clone()));
        assert_eq!(parse(""), Ok(exact));
        let prefix = |prefix: &str| Ok(RuleMatcher::CommandPrefix { prefix: prefix.to_owned() });
        assert_eq!(parse("cargo test *"), prefix("cargo test"));
        assert_eq!(parse("cargo*"), prefix("cargo"));
        for wrong in ["*", "cargo te*", "cargo build *", "cargo test"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let several = RuleMatcher::parse_command_rule("cargo test && rm -r x", "cargo test *");
        assert!(several.is_err(), "{several:?}");
    }
}
