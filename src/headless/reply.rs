//! Replies typed at a prompt or given on the command line, as answers to a request.

use planwright_drafting::controller::{Reply, parse_reply};
use planwright_model::{Answer, ChoiceAction as A, Request, RequestKind};

/// What a reply means for a request. `Err` names the replies it takes.
pub fn answer(request: &Request, text: &str) -> Result<Answer, String> {
    let offered = |action: A| request.choice(action).map(|_| Answer::from(action));
    let first = |actions: &[A]| actions.iter().find_map(|action| offered(*action));
    let understood = match parse_reply(text) {
        Reply::Approve => first(&[A::ApproveAndRun, A::Approve]),
        Reply::ApproveAndStop => first(&[A::ApproveAndStop]),
        Reply::Reject => first(&[A::Reject]),
        Reply::Continue => first(&[A::GoOn]),
        Reply::RaiseOnce => first(&[A::RaiseOnce]),
        Reply::RaiseForSession => first(&[A::RaiseForSession]),
        Reply::GoOffline => first(&[A::GoOffline]),
        Reply::Stop => first(&[A::Stop, A::StopTask, A::Abandon]),
        Reply::Cancel => first(&[A::Abandon, A::Stop]),
        Reply::Skip => first(&[A::SkipQuestions, A::SkipAlone]),
        Reply::Decline => first(&[A::Decline]),
        Reply::AcceptLate => first(&[A::AcceptLate]),
        Reply::Use(number) => first(&[A::UseRelaxation(number), A::PickOption(number)]),
        Reply::ProposeChanges(text) => {
            offered(A::RequestChanges).map(|_| Answer::saying(A::RequestChanges, text))
        }
        Reply::Text(text) => in_words(request, &text),
    };
    understood.ok_or_else(|| format!("reply with one of: {}", words(request).join(", ")))
}

/// A reply that is no word of the controller: a label of the request, a denial, or an answer in words.
fn in_words(request: &Request, text: &str) -> Option<Answer> {
    let lower = text.to_lowercase();
    let labelled = request
        .choices
        .iter()
        .find(|choice| choice.unavailable.is_none() && choice.label.to_lowercase() == lower);
    if let Some(choice) = labelled {
        return Some(Answer::from(choice.action));
    }
    let reason = lower.strip_prefix("deny").map(|_| text["deny".len()..].trim_start_matches(':'));
    if let Some(reason) = reason
        && request.choice(A::Deny).is_some()
    {
        return Some(Answer::saying(A::Deny, reason.trim()));
    }
    let takes_words = matches!(
        request.kind,
        RequestKind::Questions { .. }
            | RequestKind::Goal
            | RequestKind::Validation { .. }
            | RequestKind::LowConfidence { .. }
            | RequestKind::ModelTrouble { .. }
    );
    (takes_words && !text.is_empty() && request.choice(A::Reply).is_some())
        .then(|| Answer::saying(A::Reply, text))
}

/// The replies that a request takes, as they are typed.
pub fn words(request: &Request) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for choice in request.choices.iter().filter(|choice| choice.unavailable.is_none()) {
        words.push(match choice.action {
            A::ApproveAndRun | A::Approve => "approve".to_owned(),
            A::ApproveAndStop => "approve and stop".to_owned(),
            A::Reject => "reject".to_owned(),
            A::GoOn => "continue".to_owned(),
            A::RaiseOnce => "raise once".to_owned(),
            A::RaiseForSession => "raise for the session".to_owned(),
            A::GoOffline => "go on offline".to_owned(),
            A::Stop | A::StopTask => "stop".to_owned(),
            A::Abandon => "cancel".to_owned(),
            A::SkipQuestions => "skip".to_owned(),
            A::Ideas => "ideas".to_owned(),
            A::Decline => "decline".to_owned(),
            A::AcceptLate => "accept late".to_owned(),
            A::UseRelaxation(number) | A::PickOption(number) => format!("use {number}"),
            A::RequestChanges => "propose changes: …".to_owned(),
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
    use planwright_model::{Choice, RequestId};

    fn request(kind: RequestKind, actions: &[A]) -> Request {
        Request {
            id: RequestId(1),
            kind,
            question: String::new(),
            why: String::new(),
            verbatim: vec![],
            details: vec![],
            choices: actions.iter().map(|action| Choice::new(*action, "run it", "")).collect(),
            task: None,
        }
    }

    #[test]
    fn words_are_answers_only_where_words_are_asked_for() {
        let asked = request(RequestKind::Goal, &[A::Reply, A::Abandon]);
        assert_eq!(
            answer(&asked, "learn to draw").unwrap(),
            Answer::saying(A::Reply, "learn to draw")
        );
        assert_eq!(answer(&asked, "cancel").unwrap().action, A::Abandon);
        let escalation = request(RequestKind::Escalation, &[A::UseRelaxation(1), A::AcceptLate]);
        assert_eq!(answer(&escalation, "use 1").unwrap().action, A::UseRelaxation(1));
        let error = answer(&escalation, "whatever you like").unwrap_err();
        assert!(error.contains("use 1") && error.contains("accept late"), "{error}");
        assert!(answer(&escalation, "use 2").is_err());
    }

    #[test]
    fn a_denial_carries_its_reason() {
        let call = planwright_model::CallId { task: "a".into(), attempt: 1, step: 1 };
        let kind = RequestKind::Permission {
            call,
            tool: "shell.run".into(),
            class: "execute".into(),
            input: None,
        };
        let asked = request(kind, &[A::AllowOnce, A::Deny]);
        let denied = answer(&asked, "deny: not on a Friday").unwrap();
        assert_eq!(denied, Answer::saying(A::Deny, "not on a Friday"));
    }
}
