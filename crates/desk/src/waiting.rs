//! Waiting for the person: short waits that end with "pending", so that no client gives up in the middle.

use std::time::Duration;

use tokio::time::Instant;

use crate::decision_report::DecisionReport;
use crate::ticket_desk::{DeskError, TicketDesk};
use planwright_engine::controller::desk::permission_digest;
use planwright_model::event::Command;
use planwright_model::{ChoiceAction, DeskInquiry, RequestId, RequestKind, SessionId};
use planwright_state::SessionState;
use serde::Serialize;

/// The longest wait of one call. Clients give up on a call after a minute.
pub const MAX_WAIT: Duration = Duration::from_secs(50);
/// How often the ticket is looked at. A look costs one read of shared memory while nothing is written.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The longest question, in characters, and the most answers that are offered with it.
const MAX_QUESTION: usize = 2_000;
const MAX_CHOICES: usize = 9;

/// What became of something that an agent asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum InquiryOutcome {
    Pending {
        question: String,
        next: &'static str,
    },
    Answered {
        question: String,
        answer: String,
    },
    /// The person does not want to answer, or denies what was asked for.
    Declined {
        question: String,
        reason: String,
    },
    /// The person allows what was asked for.
    Allowed {
        question: String,
    },
}

impl InquiryOutcome {
    fn from_state(state: &SessionState, id: RequestId) -> Option<Self> {
        let question = id.to_string();
        if state.requests.open.contains_key(&id) {
            let next = "The person has not answered. Call ask_person again with the same question.";
            return Some(Self::Pending { question, next });
        }
        let answer = state.desk.answers.get(&id)?;
        let text = answer.text.clone();
        Some(match answer.action {
            ChoiceAction::AllowOnce | ChoiceAction::AllowForSession => Self::Allowed { question },
            ChoiceAction::Deny | ChoiceAction::Decline => Self::Declined { question, reason: text },
            _ => Self::Answered { question, answer: text },
        })
    }

    /// Whether the person has answered.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Pending { .. })
    }
}

impl TicketDesk {
    /// Waits for the person's decision about a ticket, at most so long.
    pub async fn wait_for_decision(
        &self,
        ticket: &str,
        limit: Duration,
    ) -> Result<DecisionReport, DeskError> {
        let store = self.store()?;
        let id = Self::parse_ticket(&store, ticket)?;
        let look = |state: &SessionState| {
            let report = DecisionReport::from_state(state);
            report.is_decided().then_some(report)
        };
        let report = match self.wait_until(&id, limit, look).await? {
            Ok(report) => report,
            Err(state) => DecisionReport::from_state(&state),
        };
        if report.is_decided() {
            let command = Command::ReadDecision { revision: report.revision() };
            // The agent has the decision all the same; only the note that it has is missing then.
            if let Err(error) = self.apply(&id, &command).await {
                tracing::warn!(%error, "that a decision was read can't be kept");
            }
        }
        Ok(report)
    }

    /// Asks the person something and waits for the answer, at most so long. The same question is asked once.
    pub async fn ask_person(
        &self,
        id: &SessionId,
        inquiry: DeskInquiry,
        limit: Duration,
    ) -> Result<InquiryOutcome, DeskError> {
        let request = self.put_question(id, inquiry).await?;
        self.wait_for_answer(id, request, limit).await
    }

    /// Waits for the answer to a question that was asked, at most so long.
    pub async fn wait_for_answer(
        &self,
        id: &SessionId,
        request: RequestId,
        limit: Duration,
    ) -> Result<InquiryOutcome, DeskError> {
        let look = |state: &SessionState| {
            let outcome = InquiryOutcome::from_state(state, request);
            // A question that was withdrawn has no outcome, and nobody waits for it.
            outcome.is_none_or(|outcome| outcome.is_settled()).then_some(())
        };
        let ended = self.wait_until(id, limit, look).await?;
        let state = match ended {
            Ok(()) => Self::ticket_state(&self.store()?, id)?,
            Err(state) => std::sync::Arc::new(state),
        };
        InquiryOutcome::from_state(&state, request).ok_or_else(|| DeskError::Refused {
            message: format!("question {request} was withdrawn"),
        })
    }

    /// The request for a question: one that was asked before in the same words, else a new one.
    pub async fn put_question(
        &self,
        id: &SessionId,
        inquiry: DeskInquiry,
    ) -> Result<RequestId, DeskError> {
        let inquiry = self.clean_inquiry(inquiry)?;
        let store = self.store()?;
        self.settle_letters(id).await?;
        let state = Self::ticket_state(&store, id)?;
        if let Some(known) = find_inquiry(&state, &inquiry) {
            return Ok(known);
        }
        let before = state.requests.next_id();
        let state = self.apply(id, &Command::AskPerson { inquiry: inquiry.clone() }).await?;
        let asked = find_inquiry(&state, &inquiry).unwrap_or(before);
        if let Some(open) = state.requests.open.get(&asked) {
            let said = format!("{}: {}", state.desk.agent_name(), open.request.question);
            (self.notify)(id, &said);
        }
        Ok(asked)
    }

    /// Takes a question back that nobody waits for any more.
    pub async fn withdraw_question(
        &self,
        id: &SessionId,
        request: RequestId,
        why: &str,
    ) -> Result<(), DeskError> {
        let command = Command::WithdrawInquiry { request, why: why.to_owned() };
        self.apply(id, &command).await.map(drop)
    }

    fn clean_inquiry(&self, inquiry: DeskInquiry) -> Result<DeskInquiry, DeskError> {
        Ok(match inquiry {
            DeskInquiry::Question { question, choices, task } => {
                let question = planwright_text::clean_text(&question).trim().to_owned();
                if question.is_empty() {
                    return Err(DeskError::BadArgument("the question is empty".to_owned()));
                }
                if question.chars().count() > MAX_QUESTION {
                    let what = format!("the question is longer than {MAX_QUESTION} characters");
                    return Err(DeskError::BadArgument(what));
                }
                let choices = choices.into_iter().take(MAX_CHOICES);
                let line = |text: String| {
                    let line = planwright_text::clean_line(&text).trim().to_owned();
                    self.redact(&planwright_text::truncate_end(&line, 120))
                };
                let choices = choices.map(line).filter(|text| !text.is_empty()).collect();
                DeskInquiry::Question { question: self.redact(&question), choices, task }
            }
            // What is allowed must be seen byte for byte. What a secret is in is shown covered, and the digest of the
            // covered text is what is allowed.
            DeskInquiry::Permission { tool, action, is_command, directory, reason } => {
                DeskInquiry::Permission {
                    tool: planwright_text::clean_line(&tool).into_owned(),
                    action: self.redact(&action),
                    is_command,
                    directory,
                    reason: self.redact(&planwright_text::clean_line(&reason)),
                }
            }
        })
    }

    /// Looks at a ticket until something is found. `Ok(Err(state))` is the ticket at the end of the time.
    async fn wait_until<T>(
        &self,
        id: &SessionId,
        limit: Duration,
        look: impl Fn(&SessionState) -> Option<T>,
    ) -> Result<Result<T, SessionState>, DeskError> {
        let store = self.store()?;
        let begun = Instant::now();
        let (mut seen, mut state) = (None, None);
        loop {
            self.settle_letters(id).await?;
            let head = store.session_info(id)?.head;
            if seen != Some(head) {
                let now = Self::ticket_state(&store, id)?;
                if let Some(found) = look(&now) {
                    return Ok(Ok(found));
                }
                (seen, state) = (Some(head), Some(now));
            }
            let elapsed = begun.elapsed();
            if elapsed >= limit.min(MAX_WAIT) {
                let state = match state {
                    Some(state) => state,
                    None => Self::ticket_state(&store, id)?,
                };
                return Ok(Err(SessionState::clone(&state)));
            }
            let rest = limit.min(MAX_WAIT).saturating_sub(elapsed);
            tokio::time::sleep(POLL_INTERVAL.min(rest)).await;
        }
    }
}

/// The request that asks exactly this, open or answered. A permission that was given once is not given again.
fn find_inquiry(state: &SessionState, inquiry: &DeskInquiry) -> Option<RequestId> {
    let is_same = |kind: &RequestKind, question: &str| match (inquiry, kind) {
        (
            DeskInquiry::Question { question: asked, task, .. },
            RequestKind::DeskQuestion { task: about },
        ) => asked == question && task == about,
        (
            DeskInquiry::Permission { tool, action, directory, .. },
            RequestKind::DeskPermission { tool: known, action: digest },
        ) => known == tool && *digest == permission_digest(tool, action, directory),
        _ => false,
    };
    let open = state.requests.open.values().map(|open| &open.request);
    let open = open.into_iter().find(|asked| is_same(&asked.kind, &asked.question));
    let answered = state.desk.answers.iter().rev().find(|(_, answer)| {
        let is_permission = matches!(answer.kind, RequestKind::DeskPermission { .. });
        is_same(&answer.kind, &answer.question)
            && (!is_permission || answer.action == ChoiceAction::AllowForSession)
    });
    open.map(|asked| asked.id).or_else(|| answered.map(|(id, _)| *id))
}
