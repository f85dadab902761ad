//! Replies typed at a prompt. A reply is a controller command only if it is exactly that word.

use planwright_model::Stage;

/// The meaning of a typed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserReply {
    Approve,
    ApproveAndStop,
    ApproveFromToday,
    /// `approve and start at <task>`, with the id or the title of the task.
    ApproveFromTask(String),
    Reject,
    Continue,
    RaiseOnce,
    RaiseForSession,
    GoOffline,
    Stop,
    Cancel,
    Skip,
    Decline,
    AcceptLate,
    /// `use <n>`, counted from 1.
    Use(u8),
    ProposeChanges(String),
    /// Anything else; accepted only where free text is requested.
    Text(String),
}

/// The prefixes of a change request; the first is the one shown.
const PROPOSE: [&str; 4] = ["propose changes:", "request changes:", "changes:", "revise:"];

/// What comes before the name of the task that a plan should start at.
const START_AT: [&str; 2] = ["approve and start at ", "start at "];

/// Parses a reply.
pub fn parse_reply(text: &str) -> UserReply {
    let trimmed = text.trim();
    let lower = trimmed.to_lowercase();
    match lower.as_str() {
        "approve" => return UserReply::Approve,
        "approve and stop" | "approve and start later" | "start later" => {
            return UserReply::ApproveAndStop;
        }
        "approve and start today" | "start today" => return UserReply::ApproveFromToday,
        "reject" => return UserReply::Reject,
        "continue" => return UserReply::Continue,
        "raise once" => return UserReply::RaiseOnce,
        "raise for the session" | "raise for this plan" => return UserReply::RaiseForSession,
        "go on offline" | "continue without paid calls" | "use the built-in planner" => {
            return UserReply::GoOffline;
        }
        "stop" => return UserReply::Stop,
        "cancel" => return UserReply::Cancel,
        "skip" => return UserReply::Skip,
        "decline" => return UserReply::Decline,
        "accept late" | "keep it as it is" => return UserReply::AcceptLate,
        _ => {}
    }
    if let Some(number) = lower.strip_prefix("use ").and_then(|rest| rest.trim().parse().ok()) {
        return UserReply::Use(number);
    }
    for opening in START_AT {
        if let Some((head, rest)) = trimmed.split_at_checked(opening.len())
            && head.eq_ignore_ascii_case(opening)
        {
            let task = rest.trim().trim_matches('"').to_owned();
            return UserReply::ApproveFromTask(if task == "a task" { String::new() } else { task });
        }
    }
    for opening in PROPOSE {
        if let Some((head, rest)) = trimmed.split_at_checked(opening.len())
            && head.eq_ignore_ascii_case(opening)
        {
            return UserReply::ProposeChanges(rest.trim().to_owned());
        }
    }
    UserReply::Text(trimmed.to_owned())
}

/// Words that assign a change request to a stage; the first list that matches decides, and without a match it is about
/// the structure.
const STRUCTURE: [&str; 20] = [
    "add",
    "remove",
    "drop",
    "delete",
    "rename",
    "phase",
    "split",
    "merge",
    "pattern",
    "structure",
    "task for",
    "another task",
    "instead of",
    "without",
    "include",
    "replace",
    "move",
    "call it",
    "milestone",
    "subtask",
];
const ORDER: [&str; 16] = [
    "estimate", "takes", "minutes", "longer", "shorter", "before", "after", "depends", "order",
    "link", "parallel", "first", "effort", "lag", "overlap", "in hours",
];
const DATES: [&str; 28] = [
    "deadline",
    "date",
    "hours a week",
    "hours per week",
    "h a week",
    "hours a day",
    "morning",
    "afternoon",
    "evening",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekend",
    "by the end of",
    "start on",
    "start in",
    "later",
    "earlier",
    "tomorrow",
    "next week",
    "o'clock",
    "day off",
    "holiday",
    "at night",
];

/// Returns the stage that a change request goes to. The words decide if they are clear; the person may choose an
/// earlier stage, and decides if the words are not clear.
pub fn resolve_change_stage(text: &str, requested: Option<Stage>) -> Stage {
    match (detect_change_stage(text), requested) {
        (Some(read), Some(requested)) => read.min(requested),
        (read, requested) => read.or(requested).unwrap_or(Stage::Outline),
    }
}

/// Returns the stage that the words are about: the structure, dates and hours, order and estimates. `None` if they
/// match none of these.
pub fn detect_change_stage(text: &str) -> Option<Stage> {
    let text = format!(" {} ", text.to_lowercase());
    let names = |words: &[&str]| {
        words.iter().any(|word| {
            text.match_indices(word).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + word.len()..].chars().next();
                !before.is_some_and(char::is_alphanumeric)
                    && !after.is_some_and(|c| c.is_alphanumeric() && c != 's')
            })
        })
    };
    if names(&STRUCTURE) {
        Some(Stage::Outline)
    } else if names(&DATES) {
        Some(Stage::Schedule)
    } else if names(&ORDER) {
        Some(Stage::Roadmap)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exact_word_is_a_command() {
        assert_eq!(parse_reply("  Approve "), UserReply::Approve);
        assert_eq!(parse_reply("USE 2"), UserReply::Use(2));
        assert_eq!(parse_reply("use many"), UserReply::Text("use many".into()));
        assert_eq!(parse_reply("approve it please"), UserReply::Text("approve it please".into()));
        assert_eq!(
            parse_reply("Propose changes: shorter"),
            UserReply::ProposeChanges("shorter".into())
        );
        assert_eq!(parse_reply("Revise: shorter"), UserReply::ProposeChanges("shorter".into()));
        assert_eq!(parse_reply("go on offline"), UserReply::GoOffline);
    }

    #[test]
    fn a_change_request_goes_to_the_stage_it_is_about() {
        for (text, stage) in [
            ("add a phase for testing", Stage::Outline),
            ("the landing page takes 3 hours", Stage::Roadmap),
            ("do the announcement before the landing page", Stage::Roadmap),
            ("I have 4 hours a week", Stage::Schedule),
            ("not on mondays", Stage::Schedule),
            ("make it better", Stage::Outline),
        ] {
            assert_eq!(resolve_change_stage(text, None), stage, "{text}");
        }
    }

    #[test]
    fn the_person_may_choose_an_earlier_stage_and_decides_if_words_do_not() {
        assert_eq!(resolve_change_stage("make it better", Some(Stage::Schedule)), Stage::Schedule);
        assert_eq!(resolve_change_stage("not on mondays", Some(Stage::Outline)), Stage::Outline);
        assert_eq!(
            resolve_change_stage("split p1.t1 in two", Some(Stage::Schedule)),
            Stage::Outline
        );
    }
}
