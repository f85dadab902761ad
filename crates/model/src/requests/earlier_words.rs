//! Replies that earlier versions asked for. They keep working, in scripts and in habits; no screen shows them.

use crate::ChoiceAction;

/// The answer that a reply of an earlier version stands for.
pub fn action_by_earlier_word(reply: &str) -> Option<ChoiceAction> {
    Some(match reply.trim().to_lowercase().as_str() {
        "it happened" => ChoiceAction::Happened,
        "run it" => ChoiceAction::RunAgain,
        "skip the task" => ChoiceAction::SkipAlone,
        "skip with dependents" => ChoiceAction::SkipWithDependents,
        "raise for the session" => ChoiceAction::RaiseForSession,
        "go on" => ChoiceAction::GoOn,
        "go on offline" | "offline draft" | "use the offline planner" => ChoiceAction::GoOffline,
        "keep the plan and stop" => ChoiceAction::KeepAndStop,
        "accept late" => ChoiceAction::AcceptLate,
        "try again" => ChoiceAction::TryAgain,
        "edit by hand" => ChoiceAction::Edit,
        "none of these" => ChoiceAction::Reject,
        "abandon" => ChoiceAction::Abandon,
        "approve and run" => ChoiceAction::ApproveAndRun,
        "for this session" => ChoiceAction::AllowForSession,
        "always" => ChoiceAction::AllowAlways,
        "hand it to me" => ChoiceAction::HandToMe,
        "use it" => ChoiceAction::UseProvider,
        "offline this time" => ChoiceAction::OfflineThisTime,
        _ => return None,
    })
}
