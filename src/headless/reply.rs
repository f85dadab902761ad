//! Replies typed at a prompt or given on the command line, as answers to a request.

use planwright_drafting::controller::{UserReply, parse_reply};
use planwright_model::requests::action_by_earlier_word;
use planwright_model::{Answer, ChoiceAction as A, Request, RequestKind};

/// What a reply means for a request. `Err` names the replies it takes.
pub(crate) fn parse_answer(request: &Request, text: &str) -> Result<Answer, String> {
    let offered = |action: A| request.available_choice(action).map(|_| Answer::from(action));
    let first = |actions: &[A]| actions.iter().find_map(|action| offered(*action));
    let understood = match parse_reply(text) {
        UserReply::Approve => first(&[A::ApproveAndRun, A::Approve]),
        UserReply::ApproveAndStop => first(&[A::ApproveAndStop]),
        UserReply::ApproveFromToday => first(&[A::ApproveFromToday]),
        UserReply::ApproveFromTask(task) => {
            offered(A::ApproveFromTask).map(|_| Answer::with_text(A::ApproveFromTask, task))
        }
        UserReply::Reject => first(&[A::Reject, A::Deny]),
        UserReply::Continue => first(&[A::GoOn]),
        UserReply::RaiseOnce => first(&[A::RaiseOnce]),
        UserReply::RaiseForSession => first(&[A::RaiseForSession]),
        UserReply::GoOffline => first(&[A::GoOffline]),
        UserReply::Stop => first(&[A::Stop, A::StopTask, A::Abandon]),
        UserReply::Cancel => first(&[A::Abandon, A::Stop]),
        UserReply::Skip => first(&[A::SkipQuestions, A::SkipAlone]),
        UserReply::Decline => first(&[A::Decline]),
        UserReply::AcceptLate => first(&[A::AcceptLate]),
        UserReply::Use(number) => first(&[A::UseRelaxation(number), A::PickOption(number)]),
        UserReply::ProposeChanges(text) => {
            offered(A::RequestChanges).map(|_| Answer::with_text(A::RequestChanges, text))
        }
        UserReply::Text(text) => answer_in_words(request, &text),
    };
    understood.ok_or_else(|| format!("reply with one of: {}", reply_options(request).join(", ")))
}

/// A reply that is no word of the controller: a label of the request, a denial, or an answer in words.
fn answer_in_words(request: &Request, text: &str) -> Option<Answer> {
    let lower = text.to_lowercase();
    let labelled = request
        .choices
        .iter()
        .find(|choice| choice.unavailable.is_none() && choice.label.to_lowercase() == lower);
    if let Some(choice) = labelled {
        return Some(Answer::from(choice.action));
    }
    if let Some(action) = action_by_earlier_word(&lower)
        && request.available_choice(action).is_some()
    {
        return Some(Answer::from(action));
    }
    let word = ["deny", "reject"].into_iter().find(|word| lower.starts_with(word));
    let reason = word.and_then(|word| text.get(word.len()..));
    if let Some(reason) = reason
        && request.available_choice(A::Deny).is_some()
    {
        return Some(Answer::with_text(A::Deny, reason.trim_start_matches(':').trim()));
    }
    let takes_words = matches!(
        request.kind,
        RequestKind::Questions { .. }
            | RequestKind::Goal
            | RequestKind::Validation { .. }
            | RequestKind::LowConfidence { .. }
            | RequestKind::ModelTrouble { .. }
            | RequestKind::AgentQuestion { .. }
            | RequestKind::DeskQuestion { .. }
    );
    (takes_words && !text.is_empty() && request.available_choice(A::Reply).is_some())
        .then(|| Answer::with_text(A::Reply, text))
}

fn is_agent_question(request: &Request) -> bool {
    matches!(request.kind, RequestKind::AgentQuestion { .. } | RequestKind::DeskQuestion { .. })
}

/// The replies that a request takes, as they are typed.
pub(crate) fn reply_options(request: &Request) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for choice in request.choices.iter().filter(|choice| choice.unavailable.is_none()) {
        words.push(match choice.action {
            A::ApproveAndRun | A::Approve => "approve".to_owned(),
            A::ApproveAndStop => "approve and stop".to_owned(),
            A::ApproveFromTask => "approve and start at TASK".to_owned(),
            A::Reject => "reject".to_owned(),
            A::GoOn => "continue".to_owned(),
            A::RaiseOnce => "raise once".to_owned(),
            A::Stop | A::StopTask => "stop".to_owned(),
            A::Abandon => "cancel".to_owned(),
            A::SkipQuestions => "skip".to_owned(),
            A::Ideas => "ideas".to_owned(),
            A::Decline => "decline".to_owned(),
            // An answer that an agent offers is typed as it is offered.
            A::PickOption(_) if is_agent_question(request) => choice.label.clone(),
            A::UseRelaxation(number) | A::PickOption(number) => format!("use {number}"),
            A::RequestChanges => "propose changes: …".to_owned(),
            A::Deny if choice.label == "reject" => "reject: …".to_owned(),
            A::Deny => "deny: …".to_owned(),
            A::Reply => "your answer in words".to_owned(),
            _ => choice.label.to_lowercase(),
        });
    }
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::requests::goal_request;
    use planwright_model::requests::samples::{every_request, requests_where};
    use planwright_model::{ChoiceAction, RequestId};

    #[test]
    fn words_are_answers_only_where_words_are_asked_for() {
        let asked = goal_request(RequestId(1), "");
        assert_eq!(
            parse_answer(&asked, "learn to draw").unwrap(),
            Answer::with_text(A::Reply, "learn to draw")
        );
        assert_eq!(parse_answer(&asked, "cancel").unwrap().action, A::Abandon);
        let escalations = requests_where(|kind| matches!(kind, RequestKind::Escalation));
        let escalation = &escalations[0];
        let relaxes = |choice: &&planwright_model::Choice| {
            matches!(choice.action, ChoiceAction::UseRelaxation(_))
        };
        assert_eq!(escalation.choices.iter().filter(relaxes).count(), 2);
        assert_eq!(parse_answer(escalation, "use 1").unwrap().action, A::UseRelaxation(1));
        let error = parse_answer(escalation, "whatever you like").unwrap_err();
        assert!(error.contains("use 1") && error.contains("keep it as it is"), "{error}");
        assert!(parse_answer(escalation, "use 3").is_err());
    }

    #[test]
    fn a_denial_carries_its_reason() {
        let calls = requests_where(|kind| matches!(kind, RequestKind::Permission { .. }));
        let asked = calls.iter().find(|asked| asked.available_choice(A::Deny).is_some()).unwrap();
        let denied = parse_answer(asked, "deny: not on a Friday").unwrap();
        assert_eq!(denied, Answer::with_text(A::Deny, "not on a Friday"));
    }

    #[test]
    fn the_label_of_a_choice_is_a_reply_to_its_request() {
        for request in every_request() {
            for choice in request.choices.iter().filter(|choice| choice.unavailable.is_none()) {
                let given = parse_answer(&request, &choice.label).map(|answer| answer.action);
                assert_eq!(given, Ok(choice.action), "{}: {}", request.question, choice.label);
            }
        }
    }
}
