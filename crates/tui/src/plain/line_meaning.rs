//! What a typed line means. A word counts only when it is exactly that word. Pure.

use planwright_drafting::controller::{UserReply, parse_reply};
use planwright_model::event::Command;
use planwright_model::request::Choice;
use planwright_model::{Actor, Answer, ChoiceAction, Request, RequestId, TaskId};
use planwright_state::{RunPhase, SessionState};

/// What a line leads to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineMeaning {
    Answer {
        id: RequestId,
        answer: Answer,
    },
    Command(Command),
    /// Nothing; what could have been typed.
    Unknown(String),
}

/// The word that stands for a choice.
pub(super) fn choice_phrase(choice: &Choice) -> String {
    use ChoiceAction as Pick;
    match choice.action {
        Pick::ApproveAndRun | Pick::Approve => "approve".to_owned(),
        Pick::ApproveAndStop => "approve and stop".to_owned(),
        Pick::ApproveFromTask => "approve and start at a task".to_owned(),
        Pick::RequestChanges => "propose changes: (your words)".to_owned(),
        Pick::Abandon => "cancel".to_owned(),
        Pick::Reject => "reject".to_owned(),
        Pick::Decline => "decline".to_owned(),
        Pick::Stop => "stop".to_owned(),
        Pick::GoOn => "continue".to_owned(),
        Pick::RaiseOnce => "raise once".to_owned(),
        Pick::RaiseForSession => "raise for the session".to_owned(),
        Pick::GoOffline => "go on offline".to_owned(),
        Pick::AcceptLate => "accept late".to_owned(),
        Pick::UseRelaxation(number) | Pick::PickOption(number) => {
            format!("use {number} ({})", choice.label)
        }
        Pick::SkipQuestions => "skip".to_owned(),
        Pick::Ideas => "ideas".to_owned(),
        Pick::Reply => "(your words)".to_owned(),
        Pick::Deny => "deny: (your reason)".to_owned(),
        _ => choice.label.to_lowercase(),
    }
}

pub(super) fn interpret_line(
    line: &str,
    request: Option<&Request>,
    state: &SessionState,
) -> LineMeaning {
    if let Some(command) = parse_command(line, state) {
        return LineMeaning::Command(command);
    }
    let reply = parse_reply(line);
    let Some(request) = request else {
        if let UserReply::ProposeChanges(text) = reply
            && !text.is_empty()
        {
            return LineMeaning::Command(Command::RequestChanges {
                text,
                nodes: Vec::new(),
                stage: None,
            });
        }
        return LineMeaning::Unknown("That is no command. Type h for help.".to_owned());
    };
    if let Some(answer) = parse_answer(line, reply, request) {
        return LineMeaning::Answer { id: request.id, answer };
    }
    let words = super::lines::choice_phrases(request).join(", ");
    LineMeaning::Unknown(format!("That decides nothing. Choices: {words}."))
}

/// A choice that is offered and can be made.
fn offered_choice(
    request: &Request,
    wanted: impl Fn(ChoiceAction) -> bool,
) -> Option<ChoiceAction> {
    let possible = request.choices.iter().filter(|choice| choice.unavailable.is_none());
    possible.map(|choice| choice.action).find(|action| wanted(*action))
}

fn parse_answer(line: &str, reply: UserReply, request: &Request) -> Option<Answer> {
    use ChoiceAction as Pick;
    let exactly =
        |wanted: Pick| offered_choice(request, |action| action == wanted).map(Answer::from);
    let one_of = |wanted: &[Pick]| {
        offered_choice(request, |action| wanted.contains(&action)).map(Answer::from)
    };
    match reply {
        UserReply::Approve => one_of(&[Pick::ApproveAndRun, Pick::Approve]),
        UserReply::ApproveAndStop => exactly(Pick::ApproveAndStop),
        UserReply::ApproveFromToday => exactly(Pick::ApproveFromToday),
        UserReply::ApproveFromTask(task) => {
            exactly(Pick::ApproveFromTask).map(|answer| Answer { text: Some(task), ..answer })
        }
        UserReply::Reject => exactly(Pick::Reject),
        UserReply::Continue => exactly(Pick::GoOn),
        UserReply::RaiseOnce => exactly(Pick::RaiseOnce),
        UserReply::RaiseForSession => exactly(Pick::RaiseForSession),
        UserReply::GoOffline => exactly(Pick::GoOffline),
        UserReply::Stop => exactly(Pick::Stop),
        UserReply::Cancel => exactly(Pick::Abandon),
        UserReply::Skip => one_of(&[Pick::SkipQuestions, Pick::SkipAlone]),
        UserReply::Decline => exactly(Pick::Decline),
        UserReply::AcceptLate => exactly(Pick::AcceptLate),
        UserReply::Use(number) => one_of(&[Pick::UseRelaxation(number), Pick::PickOption(number)]),
        UserReply::ProposeChanges(text) => exactly(Pick::RequestChanges)
            .filter(|_| !text.is_empty())
            .map(|answer| Answer { text: Some(text), ..answer }),
        UserReply::Text(text) => choice_by_label(line, request)
            .or_else(|| {
                let reason = line.strip_prefix("deny:").or((line == "deny").then_some(""))?;
                let answer = exactly(Pick::Deny)?;
                Some(Answer { text: Some(reason.trim().to_owned()), ..answer })
            })
            .or_else(|| exactly(Pick::Reply).map(|answer| Answer { text: Some(text), ..answer })),
    }
}

/// The choice whose label was typed in full.
fn choice_by_label(line: &str, request: &Request) -> Option<Answer> {
    let typed = line.to_lowercase();
    let possible = request.choices.iter().filter(|choice| choice.unavailable.is_none());
    let found = possible.into_iter().find(|choice| choice.label.to_lowercase() == typed)?;
    Some(Answer::from(found.action))
}

/// Wishes that need no open request.
fn parse_command(line: &str, state: &SessionState) -> Option<Command> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (id, note) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let task = || Some(TaskId::from(id)).filter(|task| state.tasks.position(task).is_some());
    let paused = state.run.phase == RunPhase::Paused;
    Some(match (verb, rest.trim()) {
        ("pause", "") => Command::Pause,
        ("go", "on") if paused => Command::Continue,
        ("run", "") | ("go", "on") if state.is_runnable() => Command::Run { by: Actor::Person },
        ("done", _) => {
            let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
            Command::CompleteTask { task: task()?, note, by: Actor::Person }
        }
        ("retry", _) => Command::RetryTask { task: task()?, with_dependents: false },
        ("skip", _) => Command::SkipTask { task: task()?, with_dependents: false },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::Fixture;
    use crate::tests::journals::every_request;

    fn of(line: &str, fixture: &Fixture) -> LineMeaning {
        let state = fixture.state();
        let request = state.requests.oldest_open().map(|open| open.request.clone());
        interpret_line(line, request.as_deref(), &state)
    }

    #[test]
    fn a_word_decides_only_when_it_is_exactly_that_word() {
        let plan = Fixture::release();
        let answered = |line: &str| match of(line, &plan) {
            LineMeaning::Answer { answer, .. } => Some(answer.action),
            _ => None,
        };
        assert_eq!(answered("approve"), Some(ChoiceAction::ApproveAndRun));
        assert_eq!(answered("approve and stop"), Some(ChoiceAction::ApproveAndStop));
        assert_eq!(answered("cancel"), Some(ChoiceAction::Abandon));
        for line in ["yes", "y", "a", "approve it", "app", ""] {
            assert_eq!(answered(line), None, "{line}");
        }
    }

    #[test]
    fn every_choice_of_every_request_has_a_word() {
        for (name, fixture) in every_request() {
            let state = fixture.state();
            let request = &state.requests.oldest_open().unwrap().request;
            for choice in request.choices.iter().filter(|choice| choice.unavailable.is_none()) {
                let word = choice_phrase(choice);
                let typed = match word.split_once(" (") {
                    Some((use_it, _)) if word.starts_with("use ") => use_it.to_owned(),
                    _ => word.replace("(your words)", "shorter").replace("(your reason)", "no"),
                };
                match interpret_line(&typed, Some(request), &state) {
                    LineMeaning::Answer { answer, .. } => {
                        assert_eq!(answer.action, choice.action, "{name}: {typed}");
                    }
                    other => panic!("{name}: {typed}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn tasks_are_named_by_their_ids() {
        let running = Fixture::running();
        let task = TaskId::from("keys");
        let done = Command::CompleteTask {
            task,
            note: Some("it is in the safe".into()),
            by: Actor::Person,
        };
        assert_eq!(of("done keys it is in the safe", &running), LineMeaning::Command(done));
        assert!(matches!(of("done nothing", &running), LineMeaning::Unknown(_)));
        assert!(matches!(
            of("retry fuzz", &running),
            LineMeaning::Command(Command::RetryTask { .. })
        ));
    }
}
