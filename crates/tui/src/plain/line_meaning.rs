//! What a typed line means. A word counts only when it is exactly that word. Pure.

use jiff::tz::TimeZone;

use crate::clock::parse_span;
use crate::panes::approval::takes_text;
use crate::plan_text::row_id_by_number;
use planwright_drafting::controller::{UserReply, parse_reply};
use planwright_model::event::Command;
use planwright_model::request::Choice;
use planwright_model::requests::action_by_earlier_word;
use planwright_model::{Actor, Answer, ChoiceAction, PlanEdit, Request, RequestId, TaskId};
use planwright_state::{RunPhase, SessionState, SessionStatus};

/// What a line leads to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineMeaning {
    /// Shows the row with a number.
    Show(String),
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
        Pick::Decline => "decline".to_owned(),
        Pick::Stop => "stop".to_owned(),
        Pick::GoOn => "continue".to_owned(),
        Pick::Happened => "it finished".to_owned(),
        Pick::KeepWaiting => "keep waiting".to_owned(),
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
    match parse_row_line(line, state) {
        Some(Ok(meaning)) => return meaning,
        Some(Err(remedy)) => return LineMeaning::Unknown(remedy),
        None => {}
    }
    if let Some(command) = parse_fact_line(line) {
        return LineMeaning::Command(command);
    }
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
        return LineMeaning::Unknown("Not a command. Type help for the list.".to_owned());
    };
    if let Some(answer) = parse_answer(line, reply, request) {
        return LineMeaning::Answer { id: request.id, answer };
    }
    let words = super::lines::all_phrases(request, state);
    LineMeaning::Unknown(format!("Not one of the choices: {words}."))
}

/// A line that is the word of a choice and not an answer in the person's own words.
pub(super) fn interpret_question_word(line: &str, request: &Request) -> Option<Answer> {
    parse_answer(line, parse_reply(line), request)
        .filter(|answer| answer.action != ChoiceAction::Reply)
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
            .or_else(|| exactly(action_by_earlier_word(line)?))
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
    let found = possible
        .into_iter()
        .find(|choice| choice.label.to_lowercase() == typed || choice_phrase(choice) == typed)?;
    // What comes with words has a form of its own; a rule without words is exactly what was asked.
    let is_complete = !takes_text(found.action) || found.action == ChoiceAction::AllowAlways;
    is_complete.then(|| Answer::from(found.action))
}

/// Reads `show 2.1` and `edit 2.1 time: 2 h`; the number is that of the printed row.
fn parse_row_line(line: &str, state: &SessionState) -> Option<Result<LineMeaning, String>> {
    let (verb, rest) = line.split_once(' ')?;
    let (number, field) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    if !matches!(verb, "show" | "edit") || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number = number.trim_end_matches(['.', ':']);
    let Some(node) = row_id_by_number(state, number, &TimeZone::UTC) else {
        return Some(Err(format!("No row {number}. Type list for the rows with their numbers.")));
    };
    if verb == "show" {
        return Some(Ok(LineMeaning::Show(number.to_owned())));
    }
    let edit = parse_edit(node, field)
        .map(|edit| LineMeaning::Command(Command::Edit { edits: vec![edit] }));
    Some(edit.ok_or_else(|| {
        format!(
            "Say what to change: edit {number} title: (words), edit {number} time: 2 h, or edit {number} done when: (words)."
        )
    }))
}

/// Reads `correct 3: by 20 June` and `withdraw 3`; the number is that of the list of facts.
fn parse_fact_line(line: &str) -> Option<Command> {
    let (verb, rest) = line.split_once(' ')?;
    let by = Actor::Person;
    match verb {
        "withdraw" => Some(Command::WithdrawFact { id: rest.trim().parse().ok()?, by }),
        "correct" => {
            let (id, text) = rest.trim().split_once([' ', ':'])?;
            let text = text.trim().trim_start_matches(':').trim().to_owned();
            let id = id.parse().ok()?;
            (!text.is_empty()).then_some(Command::CorrectFact { id, text, by })
        }
        _ => None,
    }
}

fn parse_edit(node: TaskId, field: &str) -> Option<PlanEdit> {
    let (name, value) = field.split_once(':')?;
    let value = value.trim();
    match name.trim() {
        _ if value.is_empty() => None,
        "title" => Some(PlanEdit::Rename { node, title: value.to_owned() }),
        "done when" => Some(PlanEdit::SetDoneWhen { node, done_when: value.to_owned() }),
        "time" => {
            let minutes = parse_span(&short_units(value))?.as_secs() / 60;
            let minutes = u32::try_from(minutes).ok().filter(|minutes| *minutes > 0)?;
            Some(PlanEdit::SetEstimate { node, minutes })
        }
        _ => None,
    }
}

/// A span with its units as one letter: `1 h 30 min` becomes `1h30m`.
fn short_units(text: &str) -> String {
    let mut short: String = text.to_lowercase().split_whitespace().collect();
    for (word, letter) in
        [("hours", "h"), ("hour", "h"), ("minutes", "m"), ("minute", "m"), ("min", "m")]
    {
        short = short.replace(word, letter);
    }
    short
}

/// Commands that need no open request.
fn parse_command(line: &str, state: &SessionState) -> Option<Command> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (id, note) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    // A task is named by its number in the printed plan, or by its id.
    let by_number = || row_id_by_number(state, id, &TimeZone::UTC);
    let task = || {
        let known = |task: &TaskId| state.tasks.position(task).is_some();
        Some(TaskId::from(id)).filter(known).or_else(|| by_number().filter(known))
    };
    let paused = state.run.phase == RunPhase::Paused;
    Some(match (verb, rest.trim()) {
        ("pause", "") => Command::Pause,
        ("undo" | "restore", "") if state.status() == SessionStatus::Abandoned => {
            Command::RestorePlan { by: Actor::Person }
        }
        ("undo", "") => Command::Undo,
        ("redo", "") => Command::Redo,
        ("resume", "") | ("go", "on") if paused => Command::Continue,
        ("run" | "resume", "") | ("go", "on") if state.is_runnable() => {
            Command::Run { by: Actor::Person }
        }
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
    fn rows_are_shown_and_edited_by_their_numbers() {
        let plan = crate::tests::planned::scheduled();
        assert_eq!(of("show 1.1", &plan), LineMeaning::Show("1.1".into()));
        let edited = |line: &str| match of(line, &plan) {
            LineMeaning::Command(Command::Edit { mut edits }) => edits.pop(),
            _ => None,
        };
        assert!(matches!(
            edited("edit 1.1 time: 1 h 30 min"),
            Some(PlanEdit::SetEstimate { minutes: 90, .. })
        ));
        assert!(matches!(edited("edit 1.1 title: Call Anna"), Some(PlanEdit::Rename { .. })));
        for line in ["edit 1.1", "edit 1.1 time: soon", "edit 9.9 title: x", "show 9.9"] {
            assert!(matches!(of(line, &plan), LineMeaning::Unknown(_)), "{line}");
        }
    }

    #[test]
    fn facts_are_corrected_and_withdrawn_by_their_numbers() {
        let plan = crate::tests::planned::scheduled();
        let by = Actor::Person;
        let text = "by 20 June".to_owned();
        for line in ["correct 3: by 20 June", "correct 3 by 20 June"] {
            let command = Command::CorrectFact { id: 3, text: text.clone(), by };
            assert_eq!(of(line, &plan), LineMeaning::Command(command), "{line}");
        }
        let withdrawn = Command::WithdrawFact { id: 12, by };
        assert_eq!(of("withdraw 12", &plan), LineMeaning::Command(withdrawn));
        for line in ["withdraw", "withdraw it", "correct 3", "correct"] {
            assert!(matches!(of(line, &plan), LineMeaning::Unknown(_)), "{line}");
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
