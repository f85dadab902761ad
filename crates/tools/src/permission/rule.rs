//! Whether a rule fits a call, and which rule would. The rules themselves are data of the model.

use globset::GlobBuilder;

use super::deny_match::{DenyMatch, compare_command, compare_prefix, runs_command, runs_prefix};
use super::shell::is_plain_command;
use crate::meta::{ResolvedCall, ToolEffect};
use planwright_model::permission::{
    PermissionRule, RuleEffect, RuleMatcher, WORKSPACE_ROOT, normalize_directory,
};

/// How rules meet calls.
pub trait RuleMatching: Sized {
    /// The narrowest rule that would let this call pass next time. None where a rule would say too much.
    fn for_call(tool: &str, resolved: &ResolvedCall) -> Option<Self>;

    /// Whether the rule is about this call.
    fn matches(&self, tool: &str, resolved: &ResolvedCall) -> bool;

    /// Whether a deny rule matches only because nobody can tell from the line what it runs.
    fn matches_possibly(&self, resolved: &ResolvedCall) -> bool;
}

impl RuleMatching for PermissionRule {
    fn for_call(tool: &str, resolved: &ResolvedCall) -> Option<Self> {
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
                .filter(|directory| *directory != WORKSPACE_ROOT)
                .map(str::to_owned),
            ..Self::allow(tool, matching)
        })
    }

    fn matches(&self, tool: &str, resolved: &ResolvedCall) -> bool {
        if self.tool != tool || !covers_circumstances(self, resolved) {
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
                covers_hits(
                    self.effect,
                    resolved.paths.iter().map(|touched| glob.is_match(&touched.path)),
                )
            }
            RuleMatcher::Host { host } => {
                covers_hits(self.effect, resolved.hosts.iter().map(|found| found == host))
            }
        }
    }

    fn matches_possibly(&self, resolved: &ResolvedCall) -> bool {
        let Some(line) = resolved.command.as_deref() else { return false };
        let found = match &self.matching {
            RuleMatcher::Command { command } => compare_command(line, command),
            RuleMatcher::CommandPrefix { prefix } => compare_prefix(line, prefix),
            _ => DenyMatch::None,
        };
        found == DenyMatch::Possible
    }
}

/// Whether network and directory of a command are within the rule. Other calls have neither.
fn covers_circumstances(rule: &PermissionRule, resolved: &ResolvedCall) -> bool {
    let Some(directory) = working_directory(resolved) else { return true };
    let wants_network = resolved.effect == ToolEffect::ExecuteNetwork;
    let own = rule.directory.as_deref().map(normalize_directory);
    match rule.effect {
        RuleEffect::Allow => {
            (rule.network || !wants_network)
                && own.as_deref().unwrap_or(WORKSPACE_ROOT) == directory
        }
        RuleEffect::Deny => {
            (wants_network || !rule.network) && own.is_none_or(|own| own == directory)
        }
    }
}

fn covers_hits(effect: RuleEffect, mut hits: impl ExactSizeIterator<Item = bool>) -> bool {
    match effect {
        RuleEffect::Allow => hits.len() > 0 && hits.all(|hit| hit),
        RuleEffect::Deny => hits.any(|hit| hit),
    }
}

/// Where a command would run, relative to the workspace; `None` for calls that run no command.
pub fn working_directory(resolved: &ResolvedCall) -> Option<&str> {
    let executes = matches!(resolved.effect, ToolEffect::Execute | ToolEffect::ExecuteNetwork);
    let touched = resolved.paths.first().map_or(WORKSPACE_ROOT, |touched| touched.path.as_str());
    executes.then_some(touched)
}

/// An allowed prefix ends at the end of a word, and the command does nothing but this one thing. A forbidden one is
/// looked for in every command of the line.
fn matches_prefix(command: &str, prefix: &str, effect: RuleEffect) -> bool {
    if effect == RuleEffect::Deny {
        return runs_prefix(command, prefix);
    }
    let Some(rest) = command.trim_start().strip_prefix(prefix.trim_end()) else { return false };
    (rest.is_empty() || rest.starts_with([' ', '\t'])) && is_plain_command(command)
}
