//! Submitting a plan, and revising one.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use crate::ticket_desk::{DeskError, TicketDesk};
use planwright_engine::controller::desk::ask_about_submission;
use planwright_engine::first_batch;
use planwright_model::event::{
    ApprovalEvent, Command, DeskEvent, Event, FORMAT, PlanEvent, Record, SessionEvent,
};
use planwright_model::{
    CommentReply, Digest, ExitCriterion, Plan, PlanSubmission, RunKind, SessionId, Severity,
    SubmissionFormat, SubmittedRevision, SubmittingAgent, Violation,
};
use planwright_plan::submission::{
    EarlierRevision, ReadSubmission, SubmissionError, SubmittedText, read_submission,
};
use planwright_state::{DeskDecision, SessionState};
use planwright_store::{NewSession, Store};

/// A plan that an agent hands in.
#[derive(Clone, Debug)]
pub struct SubmitRequest {
    pub agent: SubmittingAgent,
    /// What the agent calls the plan; empty if the text says it.
    pub title: String,
    pub format: SubmissionFormat,
    pub text: String,
    /// The directory that the plan is about, by its full path.
    pub workspace: String,
}

/// A step of a plan as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SubmittedNode {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What became of a submission.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubmissionReport {
    pub ticket: String,
    pub revision: u32,
    pub hash: String,
    /// What was found, by node; nothing of it keeps the plan from being decided on.
    pub findings: Vec<Violation>,
    pub nodes: Vec<SubmittedNode>,
}

impl SubmissionReport {
    pub(crate) fn from_state(id: &SessionId, state: &SessionState) -> Self {
        let current = state.plan.current.as_deref();
        let submission = state.desk.submission.as_deref();
        let tasks = current.map(|current| current.plan.tasks.as_slice()).unwrap_or_default();
        let nodes = tasks.iter().map(|task| SubmittedNode {
            id: task.id.to_string(),
            title: task.description.clone(),
            line: submission.and_then(|submission| submission.line_of_node(&task.id)),
        });
        Self {
            ticket: id.to_string(),
            revision: current.map_or(0, |current| current.revision),
            hash: current.map(|current| current.hash.to_string()).unwrap_or_default(),
            findings: submission.map(|found| found.findings.clone()).unwrap_or_default(),
            nodes: nodes.collect(),
        }
    }

    /// The report about a plan that was handed in, also where another client has handed in one since: an agent must not take
    /// the hash of somebody else's plan for that of its own.
    fn about_revision(self, hash: &Digest, plan: &Plan, state: &SessionState) -> Self {
        if self.hash == hash.to_string() {
            return self;
        }
        let own = state.plan.revisions.iter().rfind(|head| head.hash == *hash);
        let nodes = plan.tasks.iter().map(|task| SubmittedNode {
            id: task.id.to_string(),
            title: task.description.clone(),
            line: None,
        });
        Self {
            revision: own.map_or(self.revision, |head| head.revision),
            hash: hash.to_string(),
            nodes: nodes.collect(),
            ..self
        }
    }
}

impl TicketDesk {
    /// Opens a ticket with a plan, or finds the one that this plan already waits in.
    pub async fn submit(&self, request: SubmitRequest) -> Result<SubmissionReport, DeskError> {
        let workspace = existing_directory(&request.workspace)?;
        let store = self.store()?;
        let (read, text) = self.read(&request, None)?;
        let hash = read.plan.digest()?;
        // An agent that lost its connection submits again; the person is asked once.
        if let Some((id, state)) = Self::waiting_ticket(&store, &request.agent, &workspace, &hash)?
        {
            return Ok(SubmissionReport::from_state(&id, &state));
        }
        let agent = self.clean_agent(&request.agent);
        let mut first = self.opening(&store, &agent, &read.plan.title, &workspace);
        let submission = PlanSubmission {
            revision: 1,
            hash: hash.clone(),
            format: request.format,
            text,
            node_lines: read.node_lines,
            findings: read.findings,
        };
        first.push(DeskEvent::Submitted { submission: Arc::new(submission) }.into());
        first.push(
            PlanEvent::Proposed {
                revision: 1,
                hash,
                plan: Arc::new(read.plan),
                facts: Arc::new(read.facts),
                normalization: read.normalization,
            }
            .into(),
        );
        let state = fold_events(&first);
        if let Some(current) = &state.plan.current {
            let request = ask_about_submission(&state, current);
            first.push(ApprovalEvent::Asked { request: Arc::new(request) }.into());
        }
        let (id, state) = self.create(&store, first).await?;
        let title = &state.session.title;
        (self.notify)(&id, &format!("{} submitted a plan: {title}", state.desk.agent_name()));
        Ok(SubmissionReport::from_state(&id, &state))
    }

    /// Hands in another revision of a ticket's plan. The same plan as the one that waits changes nothing.
    pub async fn revise(
        &self,
        ticket: &str,
        (format, text): (SubmissionFormat, String),
        replies: Vec<CommentReply>,
    ) -> Result<SubmissionReport, DeskError> {
        let store = self.store()?;
        let id = Self::parse_ticket(&store, ticket)?;
        self.settle_letters(&id).await?;
        let state = Self::ticket_state(&store, &id)?;
        let agent = state.desk.agent.clone().unwrap_or_default();
        let title = state.session.title.clone();
        let request = SubmitRequest {
            agent,
            title,
            format,
            text,
            workspace: state.session.workspace.clone(),
        };
        let (read, text) = self.read(&request, Some(&state))?;
        let undecided =
            matches!(state.desk_decision(), DeskDecision::Pending | DeskDecision::Approved { .. });
        let current = state.plan.current.as_ref();
        if undecided
            && current.is_some_and(|now| read.plan.digest().is_ok_and(|hash| hash == now.hash))
        {
            return Ok(SubmissionReport::from_state(&id, &state));
        }
        let (own_hash, own_plan) = (read.plan.digest()?, read.plan.clone());
        let replies = replies
            .into_iter()
            .map(|reply| CommentReply { words: self.redact(&reply.words), ..reply });
        let revision = SubmittedRevision {
            plan: read.plan,
            facts: read.facts,
            normalization: read.normalization,
            format,
            text,
            node_lines: read.node_lines,
            findings: read.findings,
            replies: replies.collect(),
        };
        let command = Command::SubmitRevision { revision: Box::new(revision) };
        let state = self.apply(&id, &command).await?;
        let draft = state.plan.current.as_ref().map_or(0, |current| current.revision);
        let said =
            format!("{} submitted draft {draft}: {}", state.desk.agent_name(), state.session.title);
        (self.notify)(&id, &said);
        Ok(SubmissionReport::from_state(&id, &state).about_revision(&own_hash, &own_plan, &state))
    }

    /// Opens a ticket without a plan, for an agent that asks something.
    pub async fn open_without_plan(
        &self,
        agent: &SubmittingAgent,
        title: &str,
        workspace: &str,
    ) -> Result<SessionId, DeskError> {
        let workspace = existing_directory(workspace)?;
        let store = self.store()?;
        let agent = self.clean_agent(agent);
        let first = self.opening(&store, &agent, &self.redact(title), &workspace);
        Ok(self.create(&store, first).await?.0)
    }

    /// Reads the text of a plan, with secrets covered. A command is never changed by that: it is refused.
    fn read(
        &self,
        request: &SubmitRequest,
        before: Option<&SessionState>,
    ) -> Result<(ReadSubmission, String), DeskError> {
        let current = before.and_then(|state| state.plan.current.as_deref());
        let earlier = before.zip(current).map(|(state, current)| EarlierRevision {
            plan: &current.plan,
            used_ids: &state.desk.used_ids,
        });
        let title = self.redact(&request.title);
        let submitted = |text| SubmittedText { title: &title, format: request.format, text };
        let read = read_submission(submitted(&request.text), earlier)?;
        self.refuse_secrets(&read.plan)?;
        let covered = self.redact(&request.text);
        if covered == request.text {
            return Ok((read, covered));
        }
        Ok((read_submission(submitted(&covered), earlier)?, covered))
    }

    fn refuse_secrets(&self, plan: &Plan) -> Result<(), DeskError> {
        for task in &plan.tasks {
            let own = match &task.run {
                RunKind::Shell(command) => Some(command),
                _ => None,
            };
            let checks = task.exit_criteria.iter().filter_map(|criterion| match criterion {
                ExitCriterion::Command { command, .. } => Some(command),
                _ => None,
            });
            let mut commands = own.into_iter().chain(checks).chain(task.env.values());
            if commands.any(|command| self.redactor.redact(command) != command.as_str()) {
                let message = format!("the command of {} contains a secret", task.id);
                let fix = "Read the value from an environment variable.";
                let finding = Violation::new("secret_in_arguments", Severity::Fatal, message, fix)
                    .with_nodes([task.id.clone()]);
                return Err(SubmissionError::Invalid { findings: vec![finding] }.into());
            }
        }
        Ok(())
    }

    /// What an agent says of itself, on one short line each.
    fn clean_agent(&self, agent: &SubmittingAgent) -> SubmittingAgent {
        let clean = |text: &str, most: usize| {
            let line = planwright_text::clean_line(text).trim().to_owned();
            planwright_text::truncate_end(&self.redact(&line), most).into_owned()
        };
        SubmittingAgent {
            name: clean(&agent.name, 40),
            version: clean(&agent.version, 20),
            channel: agent.channel,
            conversation: clean(&agent.conversation, 100),
        }
    }

    /// The first events of a ticket. That an agent opened it is always the second.
    fn opening(
        &self,
        store: &Store,
        agent: &SubmittingAgent,
        title: &str,
        workspace: &str,
    ) -> Vec<Event> {
        let created = SessionEvent::Created {
            format: FORMAT,
            program: self.program.clone(),
            title: title.to_owned(),
            goal: None,
            workspace: workspace.to_owned(),
            plan_file: None,
        };
        let mut first = vec![created.into(), DeskEvent::Opened { agent: agent.clone() }.into()];
        first.extend((self.opening_events)(store));
        first
    }

    async fn create(
        &self,
        store: &Store,
        first: Vec<Event>,
    ) -> Result<(SessionId, SessionState), DeskError> {
        let (id, created_at) = (SessionId::from_uuid(uuid::Uuid::now_v7()), self.now());
        let (state, batch) = first_batch(&id, SessionState::default(), first, created_at)?;
        let summary = batch.summary.clone().unwrap_or_default();
        let new = NewSession { id: id.clone(), created_at, format: FORMAT, parent: None, summary };
        let store = store.clone();
        let written = tokio::task::spawn_blocking(move || {
            store.begin_session(new, batch).and_then(planwright_store::Journal::release)
        });
        match written.await {
            Ok(written) => written?,
            Err(error) => return Err(DeskError::Unwritable(error.to_string())),
        }
        Ok((id, state))
    }

    /// A ticket of the same agent and workspace in which exactly this plan waits for the person.
    fn waiting_ticket(
        store: &Store,
        agent: &SubmittingAgent,
        workspace: &str,
        hash: &Digest,
    ) -> Result<Option<(SessionId, Arc<SessionState>)>, DeskError> {
        for (id, state) in Self::recent_tickets(store)? {
            let same = state.desk.agent.as_ref().is_some_and(|own| {
                own.name == agent.name && own.conversation == agent.conversation
            });
            let current = state.plan.current.as_ref();
            if same
                && state.session.workspace == workspace
                && current.is_some_and(|current| current.hash == *hash)
                && state.desk_decision() == DeskDecision::Pending
            {
                return Ok(Some((id, state)));
            }
        }
        Ok(None)
    }
}

fn fold_events(events: &[Event]) -> SessionState {
    let mut state = SessionState::default();
    for event in events {
        let at = jiff::Timestamp::UNIX_EPOCH;
        state.apply(&Record::new(state.seq.next(), at, event.clone()));
    }
    state
}

/// A directory that exists, in full.
fn existing_directory(path: &str) -> Result<String, DeskError> {
    let bad = || DeskError::BadWorkspace(planwright_text::clean_line(path).into_owned());
    let given = Path::new(path);
    if !given.is_absolute() {
        return Err(bad());
    }
    let found = given.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(bad)?;
    Ok(found.to_string_lossy().into_owned())
}
