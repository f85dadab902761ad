//! The answers of a request and their keys: `a` is the narrow yes, `s` the wider one, `x` the no.

use crate::model::{ChoiceAction, Request};
use crate::tui::keymap::Action;

/// One row of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerRow {
    /// The key that gives it.
    pub(crate) action: Action,
    /// What it stands for; two if the key asks which.
    pub(crate) choices: Vec<ChoiceAction>,
    pub(crate) label: String,
    pub(crate) consequence: String,
    pub(crate) unavailable: Option<String>,
}

/// The rows of a request, in its order. Skipping alone and with dependents share a key that asks.
pub(crate) fn answer_rows(request: &Request) -> Vec<AnswerRow> {
    let mut rows: Vec<AnswerRow> = Vec::new();
    for choice in &request.choices {
        let action = key_of(choice.action);
        let row = AnswerRow {
            action,
            choices: vec![choice.action],
            label: choice.label.clone(),
            consequence: choice.consequence.clone(),
            unavailable: choice.unavailable.clone(),
        };
        match rows.iter_mut().find(|row| row.action == action) {
            Some(other) if action == Action::PassOver => join(other, row),
            // Two answers with one key: the second has none and cannot be given by mistake.
            Some(_) => {}
            None => rows.push(row),
        }
    }
    rows
}

fn join(row: &mut AnswerRow, other: AnswerRow) {
    if other.unavailable.is_some() {
        return;
    }
    if row.unavailable.is_some() {
        *row = other;
        return;
    }
    row.consequence = format!("asks: {}, or {}", row.label, other.label);
    "skip".clone_into(&mut row.label);
    row.choices.extend(other.choices);
}

fn key_of(action: ChoiceAction) -> Action {
    use ChoiceAction as Choice;
    match action {
        Choice::ApproveAndRun
        | Choice::Approve
        | Choice::Happened
        | Choice::RaiseOnce
        | Choice::Reply
        | Choice::GoOn
        | Choice::UseRelaxation(_)
        | Choice::PickOption(_)
        | Choice::AllowOnce
        | Choice::UseProvider => Action::Yes,
        Choice::ApproveAndStop
        | Choice::RaiseForSession
        | Choice::SkipQuestions
        | Choice::AcceptLate
        | Choice::KeepAndStop
        | Choice::AllowForSession
        | Choice::AllowAlways
        | Choice::OfflineThisTime => Action::YesWider,
        Choice::Abandon
        | Choice::Stop
        | Choice::Reject
        | Choice::Decline
        | Choice::Deny
        | Choice::StopTask
        | Choice::NeverUse => Action::No,
        Choice::RunAgain
        | Choice::TryAgain
        | Choice::RequestChanges
        | Choice::Edit
        | Choice::GoOffline => Action::Again,
        Choice::SkipAlone | Choice::SkipWithDependents | Choice::HandToMe => Action::PassOver,
    }
}

/// Whether an answer lets something happen, so that everything must have been seen first.
pub(crate) fn is_yes(action: Action) -> bool {
    matches!(action, Action::Yes | Action::YesWider | Action::Again)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::request::Choice;
    use crate::model::{CallId, RequestId, RequestKind};

    fn request(actions: &[ChoiceAction]) -> Request {
        Request {
            id: RequestId(1),
            kind: RequestKind::InDoubt {
                call: CallId { task: "load".into(), attempt: 1, step: 1 },
            },
            question: String::new(),
            why: String::new(),
            verbatim: vec![],
            details: vec![],
            choices: actions.iter().map(|action| Choice::new(*action, "label", "effect")).collect(),
            task: None,
        }
    }

    #[test]
    fn every_answer_of_a_request_has_a_key_of_its_own() {
        use ChoiceAction as A;
        for actions in [
            vec![A::ApproveAndRun, A::ApproveAndStop, A::Abandon],
            vec![A::Happened, A::RunAgain, A::SkipAlone, A::SkipWithDependents, A::Stop],
        ] {
            let rows = answer_rows(&request(&actions));
            let given: usize = rows.iter().map(|row| row.choices.len()).sum();
            assert_eq!(given, actions.len(), "{actions:?}");
        }
    }
}
