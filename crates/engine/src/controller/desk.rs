//! What the approval desk decides: revisions, questions and reports of another program's agent, and the person's answers.
//!
//! Only a person's answer approves. Nothing that an agent sends is an answer, a flag is not a person, and a revision
//! never inherits the approval of the one before.

use std::sync::Arc;

use jiff::Timestamp;

use super::planning::DecisionBuilder;
use super::{CommandDecision, DecisionResult, find_task, run_started_event, task_reset_event};
use planwright_model::event::{
    ApprovalEvent, CommandRefusal, DeskEvent, Event, PlanEvent, PlanningEvent,
};
use planwright_model::requests::{
    DeskPermissionQuestion, DeskQuestionInWords, desk_permission_request, desk_question_request,
    submitted_plan_request,
};
use planwright_model::{
    Actor, Answer, ChoiceAction, CommentOutcome, CommentReply, DeskInquiry, Digest, LineComment,
    PlanSubmission, ProgressReport, ReportedTaskState, Request, RequestId, RequestKind,
    SubmittedRevision, TaskId,
};
use planwright_state::{PlanRevision, SessionState, TaskStatus};
use planwright_tools::permission::find_danger;

/// The most questions of an agent that may be open at once.
const MAX_OPEN_INQUIRIES: usize = 16;

fn refuse(what: impl Into<String>) -> CommandRefusal {
    CommandRefusal::OutOfRange { what: what.into() }
}

fn require_ticket(state: &SessionState) -> Result<(), CommandRefusal> {
    if state.desk.is_ticket() {
        return Ok(());
    }
    Err(refuse("no agent submitted this plan"))
}

/// What is allowed for an action of an agent's tool: exactly this, of exactly this tool.
pub fn permission_digest(tool: &str, action: &str, directory: &str) -> Digest {
    Digest::from_json(&serde_json::json!({ "tool": tool, "action": action, "place": directory }))
}

/// The request that asks about the current revision of a submitted plan.
pub fn ask_about_submission(state: &SessionState, revision: &PlanRevision) -> Request {
    let (id, plan) = (state.requests.next_id(), revision.as_proposed_plan());
    submitted_plan_request(id, &plan, state.desk.agent_name())
}

/// Another revision takes the place of the one before and asks for approval, whatever was approved.
pub(super) fn submit_revision(
    state: &SessionState,
    submitted: &SubmittedRevision,
    now: Timestamp,
) -> DecisionResult {
    require_ticket(state)?;
    if state.plan.abandoned {
        return Err(refuse("the plan was rejected; nothing more can be submitted to it"));
    }
    if state.runs_here() {
        return Err(refuse("Planwright carries out this plan now"));
    }
    let hash = submitted.plan.digest().map_err(|error| refuse(error.to_string()))?;
    let number = state.plan.revisions.last().map_or(1, |last| last.revision + 1);
    let mut draft = DecisionBuilder::new(state, now);
    withdraw_plan_requests(&mut draft, number);
    settle_comments(&mut draft, submitted, &hash);
    let submission = PlanSubmission {
        revision: number,
        hash: hash.clone(),
        format: submitted.format,
        text: submitted.text.clone(),
        node_lines: submitted.node_lines.clone(),
        findings: submitted.findings.clone(),
    };
    draft.record(DeskEvent::Submitted { submission: Arc::new(submission) });
    let revision = PlanRevision {
        revision: number,
        hash,
        plan: Arc::new(submitted.plan.clone()),
        facts: Arc::new(submitted.facts.clone()),
        normalization: submitted.normalization.clone(),
    };
    draft.record(PlanEvent::Proposed {
        revision: number,
        hash: revision.hash.clone(),
        plan: Arc::clone(&revision.plan),
        facts: Arc::clone(&revision.facts),
        normalization: revision.normalization.clone(),
    });
    let request = ask_about_submission(draft.state(), &revision);
    draft.record(ApprovalEvent::Asked { request: Arc::new(request) });
    Ok(draft.into_decision())
}

fn withdraw_plan_requests(draft: &mut DecisionBuilder<'_>, number: u32) {
    let open = draft.state().requests.open.values();
    let stale: Vec<RequestId> = open
        .filter(|open| matches!(open.request.kind, RequestKind::FinalPlan { .. }))
        .map(|open| open.request.id)
        .collect();
    for id in stale {
        let why = format!("draft {number} replaces it");
        draft.record(ApprovalEvent::Withdrawn { id, why });
    }
}

/// Closes comments that the agent replied to, and those whose row or line is gone.
fn settle_comments(draft: &mut DecisionBuilder<'_>, submitted: &SubmittedRevision, hash: &Digest) {
    let state = draft.state();
    let same_plan = state.plan.current.as_ref().is_some_and(|current| current.hash == *hash);
    let reply_to = |id: u32| submitted.replies.iter().find(|reply| reply.comment == id);
    let on_nodes = state.planning.comments.iter().filter(|comment| comment.outcome.is_none());
    let mut settled: Vec<Event> = Vec::new();
    for comment in on_nodes {
        let row = row_after(state, submitted, &comment.node);
        if let Some(outcome) = comment_outcome(reply_to(comment.id), row, same_plan) {
            settled.push(PlanningEvent::CommentSettled { id: comment.id, outcome }.into());
        }
    }
    let on_lines = state.desk.line_comments.iter().filter(|comment| comment.outcome.is_none());
    for comment in on_lines {
        let kept = submitted.text.lines().any(|line| line == comment.quote);
        let row = if kept { CommentedRow::Unchanged } else { CommentedRow::Gone };
        if let Some(outcome) = comment_outcome(reply_to(comment.id), row, same_plan) {
            settled.push(DeskEvent::LineCommentSettled { id: comment.id, outcome }.into());
        }
    }
    for event in settled {
        draft.record(event);
    }
}

/// What a revision did to the row or line that a comment is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommentedRow {
    Gone,
    Changed,
    Unchanged,
}

fn row_after(state: &SessionState, submitted: &SubmittedRevision, node: &TaskId) -> CommentedRow {
    let before = state.plan.current.iter().flat_map(|current| &current.plan.tasks);
    let before = before.into_iter().find(|task| task.id == *node);
    match submitted.plan.tasks.iter().find(|task| task.id == *node) {
        None => CommentedRow::Gone,
        Some(after) if before == Some(after) => CommentedRow::Unchanged,
        Some(_) => CommentedRow::Changed,
    }
}

/// How a comment ended. What the agent claims about a plan that is as it was is not believed.
fn comment_outcome(
    reply: Option<&CommentReply>,
    row: CommentedRow,
    same_plan: bool,
) -> Option<CommentOutcome> {
    let Some(reply) = reply else {
        return (row == CommentedRow::Gone).then_some(CommentOutcome::Stale);
    };
    let words = reply.words.trim().to_owned();
    if !reply.addressed {
        return Some(CommentOutcome::Declined { why: words });
    }
    if same_plan {
        let why = format!("the plan is as it was; the agent says: {words}");
        return Some(CommentOutcome::Declined { why });
    }
    Some(CommentOutcome::Addressed { how: words })
}

/// Leaves a remark on a line of the submitted text.
pub(super) fn comment_line(state: &SessionState, line: u32, text: &str) -> DecisionResult {
    require_ticket(state)?;
    let submission = state.desk.submission.as_deref().ok_or(CommandRefusal::NoPlan)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(refuse("a comment needs words"));
    }
    let quote = submission.line(line).ok_or_else(|| {
        let count = submission.text.lines().count();
        refuse(format!("the text has lines 1 to {count}, not {line}"))
    })?;
    let comment = LineComment {
        id: state.desk.next_comment_id(&state.planning.comments),
        revision: submission.revision,
        line,
        quote: quote.to_owned(),
        text: text.to_owned(),
        node: submission.node_at_line(line).cloned(),
        outcome: None,
    };
    Ok(CommandDecision::from_event(DeskEvent::LineCommented { comment }))
}

/// Keeps what an agent says about a task. The report must name the revision that is approved.
pub(super) fn report_progress(state: &SessionState, report: &ProgressReport) -> DecisionResult {
    require_ticket(state)?;
    let current = state.plan.current.as_ref().ok_or(CommandRefusal::NoPlan)?;
    if !state.is_runnable() {
        return Err(CommandRefusal::NotApproved);
    }
    if report.hash != current.hash {
        return Err(refuse(format!(
            "the report is about revision {}, and revision {} is approved",
            report.hash.short_hex(),
            current.hash.short_hex()
        )));
    }
    if state.runs_here() {
        return Err(refuse("Planwright carries out this plan now"));
    }
    find_task(state, &report.task)?;
    let claims_end = matches!(report.state, ReportedTaskState::Done | ReportedTaskState::Failed);
    if claims_end && report.evidence.iter().all(|text| text.trim().is_empty()) {
        return Err(refuse("say what shows it: files, a command with its result, or a link"));
    }
    Ok(CommandDecision::from_event(DeskEvent::Reported { report: report.clone() }))
}

/// Puts a question of an agent to the person.
pub(super) fn ask_person(state: &SessionState, inquiry: &DeskInquiry) -> DecisionResult {
    require_ticket(state)?;
    let is_inquiry = |kind: &RequestKind| {
        matches!(kind, RequestKind::DeskQuestion { .. } | RequestKind::DeskPermission { .. })
    };
    let open = state.requests.open.values().filter(|open| is_inquiry(&open.request.kind)).count();
    if open >= MAX_OPEN_INQUIRIES {
        return Err(refuse(format!("{open} questions are open; wait for their answers")));
    }
    let (id, agent) = (state.requests.next_id(), state.desk.agent_name());
    let request = match inquiry {
        DeskInquiry::Question { question, choices, task } => {
            if question.trim().is_empty() {
                return Err(refuse("the question is empty"));
            }
            let position = task.as_ref().map(|task| find_task(state, task)).transpose()?;
            let title = position.map(|at| state.task_title(at)).unwrap_or_default();
            let task = task.as_ref().map(|task| (task, title));
            desk_question_request(id, DeskQuestionInWords { agent, question, choices, task })
        }
        DeskInquiry::Permission { tool, action, is_command, directory, reason } => {
            let danger = is_command.then(|| find_danger(action)).flatten();
            let asks = DeskPermissionQuestion {
                agent,
                tool,
                action,
                is_command: *is_command,
                directory,
                reason,
                danger: danger.as_deref(),
                digest: permission_digest(tool, action, directory),
            };
            desk_permission_request(id, &asks)
        }
    };
    Ok(CommandDecision::from_event(ApprovalEvent::Asked { request: Arc::new(request) }))
}

/// Takes a question back that its agent no longer waits for.
pub(super) fn withdraw_inquiry(state: &SessionState, id: RequestId, why: &str) -> DecisionResult {
    require_ticket(state)?;
    let open = state.requests.open.get(&id).ok_or(CommandRefusal::NotPending { id })?;
    match open.request.kind {
        RequestKind::DeskQuestion { .. } | RequestKind::DeskPermission { .. } => {
            Ok(CommandDecision::from_event(ApprovalEvent::Withdrawn { id, why: why.to_owned() }))
        }
        _ => Err(refuse("only what the agent asked can be withdrawn")),
    }
}

/// Keeps that the agent was given a decision; once is enough.
pub(super) fn read_decision(state: &SessionState, revision: u32) -> DecisionResult {
    require_ticket(state)?;
    if state.desk.read_revision == Some(revision) {
        return Ok(CommandDecision::default());
    }
    Ok(CommandDecision::from_event(DeskEvent::DecisionRead { revision }))
}

/// What the person's answer about a submitted plan leads to. A flag of the command line is not a person's answer to
/// what another program's agent wants.
pub(super) fn answer_submitted_plan(
    state: &SessionState,
    answered: CommandDecision,
    answer: &Answer,
    (id, hash): (RequestId, &Digest),
    by: Actor,
    jobs: u32,
) -> DecisionResult {
    if by != Actor::Person {
        return Err(CommandRefusal::NotOffered { id });
    }
    let approved = PlanEvent::Approved { hash: hash.clone(), by };
    match answer.action {
        ChoiceAction::Approve => Ok(answered.with_event(approved)),
        ChoiceAction::ApproveAndRunHere => {
            let mut after = state.clone();
            after.plan.record_approval(hash, by, state.at.unwrap_or_default());
            let run = run_started_event(&after, jobs)?;
            let mut decision = answered.with_event(approved);
            decision.events.extend(takeover_resets(state));
            Ok(decision.with_event(run))
        }
        ChoiceAction::RequestChanges => {
            if lacks_words(answer) && !has_open_comments(state) {
                return Err(refuse("say what should be different, or comment on a row"));
            }
            Ok(answered)
        }
        ChoiceAction::Deny => Ok(answered.with_event(PlanEvent::Abandoned { by })),
        _ => Err(CommandRefusal::NotOffered { id }),
    }
}

/// What the person's answer to an agent's question leads to.
pub(super) fn answer_inquiry(
    answered: CommandDecision,
    answer: &Answer,
    id: RequestId,
    by: Actor,
) -> DecisionResult {
    if by != Actor::Person {
        return Err(CommandRefusal::NotOffered { id });
    }
    if answer.action == ChoiceAction::Reply && lacks_words(answer) {
        return Err(refuse("say it in words"));
    }
    Ok(answered)
}

fn lacks_words(answer: &Answer) -> bool {
    answer.text.as_deref().unwrap_or_default().trim().is_empty()
}

fn has_open_comments(state: &SessionState) -> bool {
    state.planning.comments.iter().any(|comment| comment.outcome.is_none())
        || state.desk.line_comments.iter().any(|comment| comment.outcome.is_none())
}

/// Tasks that the agent said it had started begin anew when Planwright carries out the plan.
pub(super) fn takeover_resets(state: &SessionState) -> Vec<Event> {
    if !state.desk.is_ticket() || state.runs_here() {
        return Vec::new();
    }
    let started = state.tasks.iter().filter(|(_, row)| row.status == TaskStatus::Running);
    started.map(|(id, _)| task_reset_event(id, "Planwright carries out the plan now")).collect()
}
