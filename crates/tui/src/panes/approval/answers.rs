//! The answers of a request and their keys: `a` is the narrow yes, `A` the wider one, which asks which, `x` the no.

use crate::keymap::KeyAction;
use planwright_model::request::Choice;
use planwright_model::{ChoiceAction, Request, RequestKind};

/// One row of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerRow {
    /// The key that gives it.
    pub(crate) action: KeyAction,
    /// What it stands for; several if the key asks which.
    pub(crate) choices: Vec<ChoiceAction>,
    pub(crate) label: String,
    pub(crate) consequence: String,
    pub(crate) unavailable: Option<String>,
    /// What the key asks about, those that cannot be chosen included; empty where it asks nothing.
    pub(crate) parts: Vec<Choice>,
}

impl AnswerRow {
    /// Rows that it takes where every part has one of its own.
    pub(crate) fn height(&self) -> usize {
        self.parts.len().max(1)
    }

    /// Whether it lets something happen, so that everything must have been seen first.
    pub(crate) fn is_consequential(&self) -> bool {
        self.action == KeyAction::YesWider
            || self.choices.iter().any(|choice| is_consequential(*choice))
    }
}

/// The rows of a request, in its order. Choices that share a key become one row that asks which.
pub(crate) fn answer_rows(request: &Request) -> Vec<AnswerRow> {
    let mut rows: Vec<AnswerRow> = Vec::new();
    for choice in &request.choices {
        let action = key_action(&request.kind, choice.action);
        let is_wider = action == KeyAction::YesWider;
        let row = AnswerRow {
            action,
            choices: vec![choice.action],
            label: choice.label.clone(),
            consequence: choice.consequence.clone(),
            unavailable: choice.unavailable.clone(),
            // A wider yes always asks which, even where there is one.
            parts: if is_wider { vec![choice.clone()] } else { Vec::new() },
        };
        match rows.iter_mut().find(|row| row.action == action) {
            Some(other) => merge_rows(other, row, choice, request),
            None => rows.push(row),
        }
    }
    rows
}

fn merge_rows(row: &mut AnswerRow, other: AnswerRow, choice: &Choice, request: &Request) {
    if row.parts.is_empty() {
        let first = row.choices.first();
        let first = request.choices.iter().find(|choice| Some(&choice.action) == first);
        row.parts.extend(first.cloned());
    }
    row.parts.push(choice.clone());
    if other.unavailable.is_some() {
        return;
    }
    if row.unavailable.is_some() {
        *row = AnswerRow { parts: std::mem::take(&mut row.parts), ..other };
        return;
    }
    row.choices.extend(other.choices);
    let possible = row.parts.iter().filter(|part| part.unavailable.is_none());
    let labels: Vec<&str> = possible.map(short_label).collect();
    row.consequence = match labels.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => labels.concat(),
    };
    if row.choices.first().is_some_and(|choice| is_other_start(*choice)) {
        row.consequence.insert_str(0, "start ");
    }
    let shared = match (&request.kind, row.action) {
        // What an agent offers are answers, not drafts.
        (
            RequestKind::AgentQuestion { .. } | RequestKind::DeskQuestion { .. },
            KeyAction::Options,
        ) => Some("pick one"),
        (RequestKind::CandidateChoice { .. }, KeyAction::YesWider) => Some("apply the result of"),
        _ => shared_choice_label(&row.choices),
    };
    shared.unwrap_or(shared_key_label(row.action)).clone_into(&mut row.label);
}

/// Whether a plan is approved and starts at another time or place.
fn is_other_start(action: ChoiceAction) -> bool {
    use ChoiceAction as Choice;
    matches!(action, Choice::ApproveAndStop | Choice::ApproveFromToday | Choice::ApproveFromTask)
}

/// What a choice is called in a row that says already what kind of answer it is.
fn short_label(choice: &Choice) -> &str {
    match choice.action {
        ChoiceAction::ApproveFromToday => "today",
        ChoiceAction::ApproveAndStop => "later",
        ChoiceAction::ApproveFromTask => "at a task",
        _ => choice.label.strip_suffix(" option").unwrap_or(&choice.label),
    }
}

fn shared_choice_label(choices: &[ChoiceAction]) -> Option<&'static str> {
    match choices {
        [ChoiceAction::PickOption(_), ..] => Some("other versions"),
        [ChoiceAction::RaiseForSession, ..] => Some("raise further"),
        [ChoiceAction::AllowForSession | ChoiceAction::AllowAlways, ..] => Some("allow more"),
        [ChoiceAction::UseRelaxation(_) | ChoiceAction::AcceptLate, ..] => Some("choose"),
        [first, ..] if is_other_start(*first) => Some("approve, but"),
        [ChoiceAction::OfflineThisTime | ChoiceAction::NeverUse, ..] => Some("not now"),
        [ChoiceAction::KeepAndStop, ..] => Some("stop"),
        [ChoiceAction::Reject, ChoiceAction::Abandon] => Some("discard"),
        _ => None,
    }
}

fn shared_key_label(action: KeyAction) -> &'static str {
    match action {
        KeyAction::PassOver => "skip",
        KeyAction::Ideas => "ideas",
        KeyAction::Options => "other versions",
        KeyAction::No => "no",
        KeyAction::Again => "run again",
        KeyAction::YesWider => "more ways",
        _ => "yes",
    }
}

/// The letter of an answer in the list that its key opens; none for those that are chosen by a number.
pub(crate) fn sub_key(action: ChoiceAction) -> Option<char> {
    use ChoiceAction as Choice;
    Some(match action {
        Choice::PickOption(number)
        | Choice::UseRelaxation(number)
        | Choice::TakeIdea(number)
        | Choice::PickKind(number) => char::from_digit(number.into(), 10)?,
        Choice::AllowForSession => 's',
        Choice::AllowAlways | Choice::UseProvider => 'w',
        Choice::RaiseForSession => 'p',
        Choice::RaiseForGood => 'g',
        Choice::ApproveFromToday => 't',
        Choice::ApproveAndStop => 'l',
        Choice::ApproveFromTask => 'f',
        Choice::MoveOverlaps => 'm',
        Choice::ApproveAndRunHere => 'h',
        Choice::SkipAlone => 'a',
        Choice::SkipWithDependents | Choice::Abandon => 'd',
        Choice::OfflineThisTime | Choice::Reject => 'n',
        Choice::NeverUse => 'v',
        Choice::KeepAndStop | Choice::AcceptLate | Choice::AcceptPart => 'k',
        Choice::GoOffline => 'o',
        _ => return None,
    })
}

fn key_action(kind: &RequestKind, action: ChoiceAction) -> KeyAction {
    use ChoiceAction as Choice;
    let out_of_steps = matches!(
        kind,
        RequestKind::TaskCap { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::PartlyDone { .. }
    );
    match action {
        Choice::StopTask if out_of_steps => KeyAction::No,
        // It is written to the workspace; nothing of that is done by a number alone.
        Choice::PickOption(_) if matches!(kind, RequestKind::CandidateChoice { .. }) => {
            KeyAction::YesWider
        }
        Choice::ApproveAndRun
        | Choice::Approve
        | Choice::Happened
        | Choice::KeepWaiting
        | Choice::RaiseOnce
        | Choice::GoOn
        | Choice::AllowOnce
        | Choice::ApplyChanges
        | Choice::MergeChanges
        | Choice::UseProviderOnce => KeyAction::Yes,
        Choice::ApproveAndStop
        | Choice::ApproveFromToday
        | Choice::ApproveFromTask
        | Choice::MoveOverlaps
        | Choice::ApproveAndRunHere
        | Choice::RaiseForSession
        | Choice::RaiseForGood
        | Choice::AllowForSession
        | Choice::AllowAlways
        | Choice::UseProvider
        | Choice::UseRelaxation(_)
        | Choice::AcceptPart
        | Choice::AcceptLate => KeyAction::YesWider,
        Choice::RequestChanges => KeyAction::RequestChanges,
        Choice::Edit => KeyAction::Edit,
        Choice::Reply => KeyAction::Reply,
        Choice::Ideas => KeyAction::Ideas,
        Choice::PickOption(_) | Choice::TakeIdea(_) | Choice::PickKind(_) => KeyAction::Options,
        Choice::Abandon
        | Choice::Stop
        | Choice::Decline
        | Choice::Deny
        | Choice::KeepAndStop
        | Choice::Reject
        | Choice::DiscardChanges
        | Choice::UndoChanges
        | Choice::OfflineThisTime
        | Choice::NeverUse => KeyAction::No,
        Choice::StopTask => KeyAction::StopIt,
        Choice::HandToMe => KeyAction::TakeOver,
        Choice::RunAgain | Choice::TryAgain => KeyAction::Again,
        Choice::SkipAlone
        | Choice::SkipWithDependents
        | Choice::SkipQuestions
        | Choice::GoOffline => KeyAction::PassOver,
    }
}

/// Whether an answer sets something in motion that the request describes. Another option comes back as a draft of its
/// own, so that it may be asked for before all of this one was read.
fn is_consequential(action: ChoiceAction) -> bool {
    use ChoiceAction as Choice;
    matches!(
        action,
        Choice::ApproveAndRun
            | Choice::ApproveAndStop
            | Choice::ApproveFromToday
            | Choice::ApproveFromTask
            | Choice::ApproveAndRunHere
            | Choice::Approve
            | Choice::Happened
            | Choice::RunAgain
            | Choice::KeepWaiting
            | Choice::RaiseOnce
            | Choice::RaiseForSession
            | Choice::RaiseForGood
            | Choice::GoOn
            | Choice::UseRelaxation(_)
            | Choice::AcceptLate
            | Choice::AcceptPart
            | Choice::AllowOnce
            | Choice::ApplyChanges
            | Choice::DiscardChanges
            | Choice::UndoChanges
            | Choice::AllowForSession
            | Choice::AllowAlways
            | Choice::UseProvider
            | Choice::UseProviderOnce
    )
}

/// Whether an answer is given together with text.
pub(crate) fn takes_text(action: ChoiceAction) -> bool {
    use ChoiceAction as Choice;
    matches!(action, Choice::RequestChanges | Choice::Reply | Choice::Deny | Choice::AllowAlways)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::journals::{card_request, every_request};

    #[test]
    fn every_answer_of_a_request_can_be_given() {
        use ChoiceAction as A;
        let mut offered = std::collections::BTreeSet::new();
        for (name, fixture) in every_request() {
            let state = fixture.state();
            let request = &state.requests.oldest_open().unwrap().request;
            let rows = answer_rows(request);
            let given: Vec<A> = rows.into_iter().flat_map(|row| row.choices).collect();
            assert_eq!(given.len(), request.choices.len(), "{name}: {given:?}");
            offered.extend(request.choices.iter().map(|choice| choice.action));
        }
        for actions in [
            vec![A::ApproveAndRun, A::ApproveAndStop, A::RequestChanges, A::Edit, A::Abandon],
            vec![A::Happened, A::RunAgain, A::SkipAlone, A::SkipWithDependents, A::Stop],
            vec![A::Approve, A::RequestChanges, A::Reject, A::PickOption(2), A::PickOption(3)],
            vec![A::Reply, A::SkipQuestions, A::Ideas, A::Decline],
            vec![A::UseRelaxation(1), A::UseRelaxation(2), A::AcceptLate],
            vec![A::AllowOnce, A::AllowForSession, A::AllowAlways, A::Deny, A::StopTask],
            vec![A::RaiseOnce, A::RaiseForSession, A::RaiseForGood, A::GoOffline],
            vec![A::UseProvider, A::OfflineThisTime, A::NeverUse],
            vec![A::TryAgain, A::KeepAndStop, A::GoOn, A::HandToMe],
        ] {
            for action in actions {
                assert!(offered.contains(&action), "{action:?} is in no recorded request");
            }
        }
    }

    #[test]
    fn an_answer_that_cannot_be_chosen_gives_way_to_one_that_can() {
        let mut one = card_request("roadmap");
        let option = |choice: &Choice| matches!(choice.action, ChoiceAction::PickOption(_));
        one.choices.retain(option);
        one.choices[0].unavailable = Some("it is the one shown".into());
        let rows = answer_rows(&one);
        assert_eq!(rows[0].choices, [ChoiceAction::PickOption(3)]);
        assert_eq!(rows[0].unavailable, None);
        // It stays to be read, with its reason.
        assert_eq!(rows[0].parts[0].unavailable.as_deref(), Some("it is the one shown"));
    }
}
