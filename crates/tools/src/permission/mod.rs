//! The one function that decides whether a call may be made.
//!
//! Pure: everything it depends on is in [`PermissionInput`]. The order is that of trust 3.2: what is never allowed,
//! what the user forbids, what always asks, the strict policy, what the user allows, grants of the session, the plan.

mod deny_match;
mod destructive;
mod rule;
mod shell;

#[cfg(test)]
mod differential_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use destructive::find_danger;
pub use rule::{RuleMatching, working_directory};
pub use shell::{is_plain_command, simple_commands};

use super::meta::{PinStatus, ResolvedCall, ToolEffect};
use super::tool::ToolErrorCode;
use planwright_model::event::RiskClass;
use planwright_model::permission::{
    AnswerOffers, AskReason, GrantBasis, PermissionRule, PermissionVerdict, RuleEffect,
};
use planwright_model::{ApprovalPolicy, Autonomy, Digest};

/// How many identical calls in a row are allowed without asking.
pub const IDENTICAL_CALLS: u32 = 3;

/// The part of a session that makes the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStage {
    /// Its tools change session state and nothing else.
    Planning,
    #[default]
    Executing,
}

/// Whether commands are confined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "sandbox", rename_all = "snake_case")]
pub enum SandboxState {
    Enforced,
    /// Missing or incomplete; the text is shown to the user.
    NotEnforced {
        why: String,
    },
}

/// What the card of the approved revision listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanGrant {
    pub revision: Digest,
    /// Listed for the calling task.
    pub task_classes: BTreeSet<RiskClass>,
    /// Listed for any task of its phase.
    pub phase_classes: BTreeSet<RiskClass>,
    /// Granted for the rest of the phase by an answer of the user.
    #[serde(default)]
    pub phase_grants: BTreeSet<RiskClass>,
    /// Commands of the plan, byte for byte.
    #[serde(default)]
    pub commands: BTreeSet<String>,
    /// Commands by which the plan checks whether the calling task is done, byte for byte.
    #[serde(default)]
    pub checks: BTreeSet<String>,
    #[serde(default)]
    pub hosts: BTreeSet<String>,
}

/// Everything a decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct PermissionInput<'a> {
    pub tool: &'a str,
    pub resolved: &'a ResolvedCall,
    pub stage: CallStage,
    pub autonomy: Autonomy,
    pub approval_policy: ApprovalPolicy,
    pub plan: Option<&'a PlanGrant>,
    pub sandbox: &'a SandboxState,
    /// The user's rules, from their own config.
    pub rules: &'a [PermissionRule],
    /// Grants of this session.
    pub grants: &'a [PermissionRule],
    /// The path in the arguments where a secret was found.
    pub secret_at: Option<&'a str>,
    /// The environment variable that contains the secret, if any.
    pub secret_variable: Option<&'a str>,
    /// How many calls with the same arguments came right before this one.
    pub repeated: u32,
    /// The outcome of an earlier attempt of this call is unknown; it would be repeated.
    pub in_doubt: bool,
    /// Nothing has been called since the session was imported, or forked from an import.
    pub first_after_import: bool,
}

/// Decides. The first match wins; nothing matching asks.
pub fn decide_permission(input: &PermissionInput<'_>) -> PermissionVerdict {
    check_refused(input)
        .or_else(|| check_denied(input))
        .or_else(|| check_always_asks(input))
        .or_else(|| check_strict_policy(input))
        .or_else(|| check_allow_rules(input))
        .or_else(|| check_session_grants(input))
        .or_else(|| check_autonomy_table(input))
        .unwrap_or_else(|| ask_by_default(input))
}

fn refusal_verdict(code: ToolErrorCode, why: impl Into<String>) -> PermissionVerdict {
    PermissionVerdict::Refuse { code: code.as_str().to_owned(), why: why.into() }
}

/// What no policy, rule or answer allows. Paths outside the workspace and private addresses never get this far: a tool
/// cannot resolve them.
fn check_refused(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let effect = input.resolved.effect;
    if let Some(path) = input.secret_at.filter(|_| effect.has_external_effect()) {
        return Some(refusal_verdict(
            ToolErrorCode::SecretInArguments,
            secret_message(path, input.secret_variable),
        ));
    }
    if input.stage == CallStage::Planning && effect.has_external_effect() {
        return Some(refusal_verdict(
            ToolErrorCode::Refused,
            format!("{} is not available while a plan is made", input.tool),
        ));
    }
    None
}

fn secret_message(path: &str, variable: Option<&str>) -> String {
    match variable {
        None => format!(
            "{path} holds what looks like a secret; put it in an environment variable and name that"
        ),
        Some(name) => format!(
            "{path} holds the value of the environment variable {name}, which is kept secret; write ${name} \
             instead (`environment` in [tools] lets commands see it), or, if it is not a secret, start Planwright \
             without it: `env -u {name} planwright`"
        ),
    }
}

fn check_denied(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let rule = find_rule(input.rules, RuleEffect::Deny, input)?;
    let why = if rule.matches_possibly(input.resolved) {
        format!(
            "part of this command is only known when it runs, so it could be what a rule forbids ({}); name each program and subcommand plainly, without variables, patterns or text piped into a shell",
            rule.describe()
        )
    } else {
        format!("your rule says: {}", rule.describe())
    };
    Some(refusal_verdict(ToolErrorCode::Denied, why))
}

fn find_rule<'r>(
    rules: &'r [PermissionRule],
    effect: RuleEffect,
    input: &PermissionInput<'_>,
) -> Option<&'r PermissionRule> {
    rules.iter().find(|rule| rule.effect == effect && rule.matches(input.tool, input.resolved))
}

/// Calls that ask regardless of policy, rules and flags.
fn check_always_asks(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let resolved = input.resolved;
    let executes = matches!(resolved.effect, ToolEffect::Execute | ToolEffect::ExecuteNetwork);
    let protected = resolved.paths.iter().find(|touched| touched.protected);
    let writes = resolved.effect == ToolEffect::Write;
    let pin = resolved.pin.as_ref().map(|pin| pin.standing);
    let why = if let Some(touched) = protected.filter(|_| writes) {
        AskReason::ProtectedPath { path: touched.path.clone() }
    } else if let Some(what) = resolved.command.as_deref().and_then(find_danger) {
        AskReason::Dangerous { what }
    } else if let (true, Some(why)) = (executes, unsandboxed_reason(input)) {
        AskReason::Unsandboxed { why }
    } else if pin == Some(PinStatus::New) {
        AskReason::NewForeignTool
    } else if pin == Some(PinStatus::Changed) {
        AskReason::ChangedForeignTool
    } else if input.in_doubt {
        AskReason::InDoubt
    } else if input.first_after_import && resolved.effect != ToolEffect::Orchestrate {
        AskReason::FirstAfterImport
    } else if input.repeated >= IDENTICAL_CALLS {
        AskReason::Repeated { times: input.repeated }
    } else {
        return None;
    };
    Some(PermissionVerdict::Ask { why, offers: AnswerOffers::default() })
}

/// Why a command would not be confined, unless the user wrote a rule for exactly this command.
fn unsandboxed_reason(input: &PermissionInput<'_>) -> Option<String> {
    let SandboxState::NotEnforced { why } = input.sandbox else { return None };
    let by_hand = input.rules.iter().any(|rule| {
        rule.effect == RuleEffect::Allow
            && rule.unsandboxed
            && rule.is_exact()
            && rule.matches(input.tool, input.resolved)
    });
    (!by_hand).then(|| why.clone())
}

fn check_strict_policy(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let asks = input.approval_policy == ApprovalPolicy::StrictEveryStep
        && input.resolved.effect.has_external_effect();
    asks.then(|| PermissionVerdict::Ask { why: AskReason::Strict, offers: AnswerOffers::default() })
}

fn check_allow_rules(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let rule = find_rule(input.rules, RuleEffect::Allow, input)?;
    Some(PermissionVerdict::Allow { because: GrantBasis::Rule { words: rule.describe() } })
}

fn check_session_grants(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let rule = find_rule(input.grants, RuleEffect::Allow, input)?;
    Some(PermissionVerdict::Allow { because: GrantBasis::Grant { words: rule.describe() } })
}

/// The table of trust 3.2.
fn check_autonomy_table(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let low = input.autonomy == Autonomy::Low;
    let effect = input.resolved.effect;
    let looks = matches!(effect, ToolEffect::Look | ToolEffect::Orchestrate);
    if looks || (effect == ToolEffect::SessionState && !low) {
        return Some(PermissionVerdict::Allow { because: GrantBasis::Harmless });
    }
    if let Some(plan) = input.plan.filter(|plan| !low && is_listed_command(input, &plan.checks)) {
        let revision = plan.revision.clone();
        return Some(PermissionVerdict::Allow { because: GrantBasis::Plan { revision } });
    }
    let plan_is_enough = match effect {
        ToolEffect::Write => true,
        ToolEffect::Execute => is_command_in_plan(input) || input.autonomy == Autonomy::High,
        ToolEffect::Network => are_hosts_in_plan(input),
        _ => false,
    };
    if plan_is_enough && !low { check_plan_classes(input) } else { None }
}

fn is_command_in_plan(input: &PermissionInput<'_>) -> bool {
    input.plan.is_some_and(|plan| is_listed_command(input, &plan.commands))
}

/// Whether a command without network is one of a list. Commands of a plan run in the workspace root: approving one does
/// not approve it in another directory.
fn is_listed_command(input: &PermissionInput<'_>, listed: &BTreeSet<String>) -> bool {
    let at_root = working_directory(input.resolved) == Some(".");
    let executes = input.resolved.effect == ToolEffect::Execute;
    let command = input.resolved.command.as_ref().filter(|_| at_root && executes);
    command.is_some_and(|command| listed.contains(command))
}

fn are_hosts_in_plan(input: &PermissionInput<'_>) -> bool {
    let hosts = &input.resolved.hosts;
    !hosts.is_empty()
        && input.plan.is_some_and(|plan| hosts.iter().all(|host| plan.hosts.contains(host)))
}

/// *plan*: the card of the approved revision listed this class for this task.
fn check_plan_classes(input: &PermissionInput<'_>) -> Option<PermissionVerdict> {
    let plan = input.plan?;
    let class = input.resolved.effect.risk_class();
    if plan.phase_grants.contains(&class) {
        return Some(PermissionVerdict::Allow { because: GrantBasis::Phase { class } });
    }
    let milestones = input.approval_policy == ApprovalPolicy::MilestoneApprovals;
    if milestones && !plan.phase_classes.contains(&class) {
        return Some(PermissionVerdict::Ask {
            why: AskReason::NotListedForPhase { class },
            offers: AnswerOffers {
                rule: PermissionRule::for_call(input.tool, input.resolved),
                phase: true,
            },
        });
    }
    let because = GrantBasis::Plan { revision: plan.revision.clone() };
    plan.task_classes.contains(&class).then_some(PermissionVerdict::Allow { because })
}

fn ask_by_default(input: &PermissionInput<'_>) -> PermissionVerdict {
    PermissionVerdict::Ask {
        why: AskReason::NotAllowedYet { class: input.resolved.effect.risk_class() },
        offers: AnswerOffers {
            rule: PermissionRule::for_call(input.tool, input.resolved),
            phase: false,
        },
    }
}
