//! Taking up a session that another process left, in good order or not.

use std::collections::BTreeMap;

use super::controller::requests::session_in_doubt_request;
use planwright_model::event::{
    ApprovalEvent, CallEvent, CallOutcome, Event, PauseCause, RepeatClass, RunEvent, SessionEvent,
    TaskEvent,
};
use planwright_model::requests::CallEvidence;
use planwright_model::{
    CallId, NodeOrigin, RepeatPolicy, RequestId, RequestKind, RunKind, SessionId, TaskId,
};
use planwright_state::agent_progress::{OpenCallState, unseen_success};
use planwright_state::{AgentProgress, CallInFlight, RunPhase, SessionState, TaskRow, TaskStatus};
use planwright_tools::worktree::WorktreeDirectory;
use planwright_tools::{Workspace, WriteVerification, process, verify_write};

/// How work goes on after a session was taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeMode {
    /// Only look after what is open; nothing new starts.
    View,
    /// Go on with an interrupted run.
    Continue,
}

/// Ends the processes of attempts that outlived the run that started them, except for commands of the person's own: those
/// are asked about first. Comes before anything else on taking up.
pub fn end_leftover_processes(session: &SessionId, state: &SessionState) -> RunLeftovers {
    let mut leftovers = RunLeftovers::new();
    process::end_orphaned_servers();
    for task in 0..state.tasks.len() {
        let row = state.tasks.row(task);
        if row.is_at_work() {
            let call = attempt_call(state, task);
            let mark = format!("{session}/{call}");
            if is_asked_about(state, task) {
                leftovers.alive.insert(call.task, process::find_leftovers(&mark));
                continue;
            }
            let mut ended = process::end_leftovers(&mark);
            // The process of an agent of the person's own, and calls that it made or that were made for it.
            let attempt = format!("{session}/{}/{}/", call.task, call.attempt);
            ended.extend(process::end_leftovers_with_prefix(&attempt));
            // Calls that its calls made.
            ended.extend(process::end_leftovers_with_prefix(&format!("{session}/{}.", call.task)));
            leftovers.ended.insert(call.task, ended);
        }
    }
    leftovers
}

/// Whether a command is the person's own and not safe to repeat, so that they decide what becomes of it.
fn is_asked_about(state: &SessionState, task: usize) -> bool {
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    state.tasks.row(task).checks.is_none()
        && !state.session.foreign
        && node.is_some_and(|node| {
            matches!(node.run, RunKind::Shell(_))
                && node.repeat == RepeatPolicy::Ask
                && node.origin != NodeOrigin::AiAdaptation
        })
}

/// What the run that was interrupted left behind, by task.
#[derive(Clone, Debug, Default)]
pub struct RunLeftovers {
    /// The processes that were found and ended.
    pub ended: BTreeMap<TaskId, Vec<u32>>,
    /// The processes that were found and left alone.
    pub alive: BTreeMap<TaskId, Vec<u32>>,
    /// How many lines commands printed and the last of them, where their spool has more than the journal.
    pub printed: BTreeMap<TaskId, (u64, String)>,
    /// What the disk says about a write whose outcome is not known.
    pub on_disk: BTreeMap<TaskId, WriteVerification>,
}

impl RunLeftovers {
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks at the files that were being written. Comes after the processes were ended.
    /// A task with a copy of its own wrote there.
    pub fn verify_files(
        &mut self,
        state: &SessionState,
        workspace: &Workspace,
        copies: Option<&WorktreeDirectory>,
    ) {
        for task in 0..state.tasks.len() {
            let row = state.tasks.row(task);
            let change = row.doubtful_call().and_then(|call| call.file.as_ref());
            if let (TaskStatus::Running, Some(change)) = (row.status, change) {
                let id = state.tasks.id(task);
                let copy = state.worktrees.pending(id).zip(copies).and_then(|(copy, copies)| {
                    workspace.relocate(&copies.worktree(&copy.directory).files()).ok()
                });
                let place = copy.as_ref().unwrap_or(workspace);
                self.on_disk.insert(id.clone(), verify_write(change, place));
            }
        }
    }
}

fn attempt_call(state: &SessionState, task: usize) -> CallId {
    let row = state.tasks.row(task);
    match &row.call {
        Some(open) => open.call.clone(),
        None => CallId { task: state.tasks.id(task).clone(), attempt: row.attempt, step: 1 },
    }
}

/// What is to be said first when a session is taken up: that it was, what became of its interrupted attempts, and that
/// the run goes on. An attempt whose agent has already answered is not interrupted: the driver completes it.
pub fn resume_events(
    state: &SessionState,
    leftovers: &RunLeftovers,
    take_up: ResumeMode,
    jobs: u32,
    program: &str,
) -> Vec<Event> {
    let mut events: Vec<Event> =
        vec![SessionEvent::Opened { program: program.to_owned(), pid: std::process::id() }.into()];
    let was_running =
        matches!(state.run.phase, RunPhase::Running | RunPhase::Paused | RunPhase::Interrupted);
    if !was_running {
        return events;
    }
    let mut next_request = state.requests.next_id();
    for task in 0..state.tasks.len() {
        let is_over = state.is_answered(task) || state.is_in_review(task);
        let row = state.tasks.row(task);
        if row.is_at_work() && !is_over {
            events.extend(interrupted_events(state, leftovers, task, &mut next_request));
        } else if let Some(cut_off) = row.call.as_ref().filter(|_| is_over) {
            // A check of applied changes; the driver makes it again.
            let given_up = CallOutcome::GivenUp;
            let concluded = CallEvent::concluded_without_output(cut_off.call.clone(), given_up);
            events.push(concluded.into());
        }
    }
    if take_up == ResumeMode::Continue
        && state.is_runnable()
        && let Some(current) = &state.plan.current
    {
        events.push(RunEvent::Started { hash: current.hash.clone(), jobs }.into());
        // A limit that was asked about still holds until it is raised.
        let cap = state.requests.open.values().find_map(|open| match open.request.kind {
            RequestKind::Cap { cap, .. } => Some(cap),
            _ => None,
        });
        events.extend(cap.map(|cap| RunEvent::Paused(PauseCause::Cap { cap }).into()));
    }
    events
}

/// What becomes of an attempt that was running when its process left.
fn interrupted_events(
    state: &SessionState,
    leftovers: &RunLeftovers,
    task: usize,
    next_request: &mut RequestId,
) -> Vec<Event> {
    let row = state.tasks.row(task);
    let id = state.tasks.id(task).clone();
    let ended = leftovers.ended.get(&id).map_or(&[][..], Vec::as_slice);
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    if row.checks.is_some() {
        // The command has succeeded and is not repeated; a check that was cut off is, by the driver.
        let cut_off = row.call.as_ref().map(|open| {
            CallEvent::concluded_without_output(open.call.clone(), CallOutcome::GivenUp).into()
        });
        return cut_off.into_iter().collect();
    }
    let is_agent = node.is_some_and(|node| matches!(node.run, RunKind::Agent(_)));
    let free = if is_agent {
        resume_agent(state, task, leftovers)
    } else {
        node.is_some_and(|node| node.repeat == RepeatPolicy::Safe).then(|| ResumedAttempt {
            seen: None,
            outcome: CallOutcome::GivenUp,
            why: "interrupted, safe to repeat",
        })
    };
    if let Some(ResumedAttempt { seen, outcome, why }) = free {
        let mut events: Vec<Event> = seen.into_iter().collect();
        if let Some(call) = &row.call {
            events.push(CallEvent::concluded_without_output(call.call.clone(), outcome).into());
        }
        events.push(TaskEvent::Reset { task: id, why: why.to_owned() }.into());
        return events;
    }
    if is_already_asked(state, task) {
        return Vec::new();
    }
    let open = state.agents.get(&id).and_then(|progress| progress.open.as_ref());
    let call = row.doubtful_call().cloned().unwrap_or_else(|| CallInFlight {
        call: CallId { step: open.map_or(1, |open| open.number), ..attempt_call(state, task) },
        tool: open.map(|open| open.planned.tool.clone()).unwrap_or_default(),
        summary: "".into(),
        intended_at: row.started_at.unwrap_or_default(),
        repeat: RepeatClass::Unsafe,
        file: None,
        process: None,
        output_lines: 0,
        spooled: 0,
        last_line: "".into(),
    });
    let evidence = match leftovers.alive.get(&id).map(Vec::as_slice) {
        None | Some([]) => call_evidence(row, ended),
        Some(alive) => CallEvidence::StillRunning(alive.to_vec()),
    };
    let mut call = call;
    if let Some((lines, last)) = leftovers.printed.get(&id) {
        (call.output_lines, call.last_line) = (*lines, last.as_str().into());
    }
    let request = session_in_doubt_request(*next_request, state, task, &call, evidence);
    *next_request = RequestId(next_request.0 + 1);
    vec![ApprovalEvent::Asked { request: request.into() }.into()]
}

/// How an attempt goes on that nobody has to be asked about.
struct ResumedAttempt {
    /// What is observed of the call it was at.
    seen: Option<Event>,
    /// What became of that call, if it has no outcome yet.
    outcome: CallOutcome,
    why: &'static str,
}

/// An agent goes on at its step, unless the call it was at may have done something that nobody saw the end of. About a
/// write the disk tells.
fn resume_agent(
    state: &SessionState,
    task: usize,
    leftovers: &RunLeftovers,
) -> Option<ResumedAttempt> {
    let goes_on = |seen: Option<Event>, outcome: CallOutcome| {
        Some(ResumedAttempt { seen, outcome, why: "interrupted, resumed where it was" })
    };
    let id = state.tasks.id(task);
    let progress = state.agents.get(id);
    if let Some(own) = progress.filter(|own| own.is_own_agent()) {
        return can_continue_own_agent(state, task, own)
            .then(|| goes_on(None, CallOutcome::GivenUp))
            .flatten();
    }
    let Some((progress, open)) = progress.and_then(|own| Some((own, own.open.as_ref()?))) else {
        return goes_on(None, CallOutcome::GivenUp);
    };
    let seen = |result: &planwright_model::ToolResult| -> Option<Event> {
        let at = state.at.unwrap_or_default();
        Some(open.observation_event(id, progress.attempt, result, at).into())
    };
    // A call whose own calls did something is no safer to repeat than those.
    let within = state.tasks.row(task).call.as_ref();
    let reached_out = within.is_some_and(|call| call.repeat == RepeatClass::Unsafe);
    match (open.call_state(), leftovers.on_disk.get(id)) {
        (OpenCallState::Free, _) if !reached_out => goes_on(None, CallOutcome::GivenUp),
        (OpenCallState::Ended(result), _) => goes_on(seen(&result), CallOutcome::GivenUp),
        (_, Some(WriteVerification::NotYet)) => goes_on(None, CallOutcome::GivenUp),
        (_, Some(WriteVerification::Happened)) => {
            let result =
                unseen_success("the file holds what was to be written").with_confidence(1.0);
            goes_on(seen(&result), CallOutcome::Verified)
        }
        (OpenCallState::Free | OpenCallState::InDoubt, _) => None,
    }
}

/// Whether an agent of the person's own that was interrupted can simply continue: nothing that it did is in doubt. Whether
/// it can load its session turns out when it starts.
fn can_continue_own_agent(state: &SessionState, task: usize, own: &AgentProgress) -> bool {
    let (id, row) = (state.tasks.id(task), state.tasks.row(task));
    let in_flight = row.call.iter().map(|call| &**call).chain(&row.beside);
    let unsure = in_flight.into_iter().any(|call| call.repeat == RepeatClass::Unsafe);
    // What it was still waiting for leave to do has not begun.
    let is_asked = |step: &u32| {
        state.requests.open.values().any(|open| {
            matches!(&open.request.kind, RequestKind::Permission { call, .. }
                if call.task == *id && call.step == *step)
        })
    };
    let unheard = own.under_way.keys().any(|step| !is_asked(step));
    !unsure && !unheard
}

fn is_already_asked(state: &SessionState, task: usize) -> bool {
    let id = state.tasks.id(task);
    state
        .requests
        .open
        .values()
        .any(|open| matches!(&open.request.kind, RequestKind::InDoubt { call } if call.task == *id))
}

/// What is known about the processes of an attempt.
fn call_evidence(row: &TaskRow, ended: &[u32]) -> CallEvidence {
    match (ended, row.call.as_deref()) {
        ([], None) if row.last_outcome == Some(CallOutcome::Cancelled) => {
            CallEvidence::EndedHalfway
        }
        ([], None) => CallEvidence::EndedWithSession,
        ([], Some(CallInFlight { process: None, .. })) => CallEvidence::NoProcess,
        ([], Some(CallInFlight { process: Some((pid, _)), .. })) => CallEvidence::ProcessGone(*pid),
        (found, _) => CallEvidence::FoundRunning(found.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::controller;
    use planwright_model::event::{AgentEvent, Command, FileChange, PlanEvent, Record, RiskClass};
    use planwright_model::{
        Actor, Answer, ChoiceAction, Digest, GraphFacts, Plan, ReActStep, RunKind, StepAction,
        TaskNode,
    };
    use planwright_tools::workspace::content_hash;

    /// A session whose agent was about to make a call when its process died.
    struct Story {
        state: SessionState,
        workspace: Workspace,
        directory: tempfile::TempDir,
    }

    impl Story {
        fn new(tool: &str, repeat: RepeatClass, file: Option<FileChange>) -> Self {
            let mut node = TaskNode::new("a", "Write it");
            node.run = RunKind::agent();
            let plan = Plan { title: "A plan".into(), tasks: vec![node], ..Plan::default() };
            let hash = plan.digest().unwrap();
            let input = json!({ "path": "a.txt" });
            let step = ReActStep {
                timestamp: jiff::Timestamp::UNIX_EPOCH,
                task_id: "a".into(),
                action: StepAction::Action,
                content: tool.to_owned(),
                tool_used: Some(tool.to_owned()),
                tool_input: Some(input.clone()),
                tool_output: None,
                confidence_score: None,
                metadata: planwright_model::StepMetadata {
                    call: Some(3),
                    step: Some("write".to_owned()),
                    ..planwright_model::StepMetadata::default()
                },
            };
            let facts = Arc::new(GraphFacts { depth: vec![0], ..GraphFacts::default() });
            let started =
                TaskEvent::Started { task: "a".into(), attempt: 1, depth: 0, affinity_delta: 0.0 };
            let events: Vec<Event> = vec![
                PlanEvent::Proposed {
                    revision: 1,
                    hash: hash.clone(),
                    plan: Arc::new(plan),
                    facts,
                    normalization: Vec::new(),
                }
                .into(),
                PlanEvent::Approved { hash: hash.clone(), by: Actor::Person }.into(),
                RunEvent::Started { hash, jobs: 1 }.into(),
                started.into(),
                AgentEvent::Acted { task: "a".into(), attempt: 1, step: Box::new(step) }.into(),
                CallEvent::Intended {
                    call: Self::call(),
                    tool: tool.to_owned(),
                    version: "1".to_owned(),
                    input_hash: Digest::from_json(&input),
                    input,
                    class: RiskClass::Write,
                    repeat,
                    file,
                }
                .into(),
            ];
            let directory = tempfile::tempdir().unwrap();
            let workspace = Workspace::open(directory.path(), &[], &[]).unwrap();
            let mut story = Self { state: SessionState::default(), workspace, directory };
            story.fold(events);
            story
        }

        fn call() -> CallId {
            CallId { task: "a".into(), attempt: 1, step: 3 }
        }

        fn fold(&mut self, events: Vec<Event>) {
            for event in events {
                let record = Record::new(self.state.seq.next(), jiff::Timestamp::UNIX_EPOCH, event);
                self.state.apply(&record);
            }
        }

        /// Takes it up again with this on disk.
        fn taken_up(&mut self, on_disk: Option<&str>) -> Vec<Event> {
            if let Some(text) = on_disk {
                std::fs::write(self.directory.path().join("a.txt"), text).unwrap();
            }
            let mut leftovers = RunLeftovers::new();
            leftovers.verify_files(&self.state, &self.workspace, None);
            let events = resume_events(&self.state, &leftovers, ResumeMode::Continue, 1, "test");
            self.fold(events.clone());
            assert_eq!(self.state.totals.anomalies, 0, "{events:?}");
            events
        }

        fn outcome(events: &[Event]) -> Option<&CallOutcome> {
            events.iter().find_map(|event| match event {
                Event::Call(CallEvent::Concluded { outcome, .. }) => Some(outcome),
                _ => None,
            })
        }

        fn open(&self) -> bool {
            self.state.agents.get(&"a".into()).unwrap().open.is_some()
        }

        fn status(&self) -> TaskStatus {
            self.state.tasks.row(0).status
        }
    }

    fn edit() -> FileChange {
        FileChange {
            path: "a.txt".into(),
            before: Some(content_hash(b"old")),
            after: content_hash(b"new"),
        }
    }

    #[test]
    fn a_write_that_the_disk_shows_is_not_made_again_and_the_agent_reads_that_it_worked() {
        let mut story = Story::new("file.edit", RepeatClass::Unsafe, Some(edit()));
        let events = story.taken_up(Some("new"));
        assert_eq!(Story::outcome(&events), Some(&CallOutcome::Verified));
        assert!(story.state.requests.open.is_empty() && !story.open());
        let progress = story.state.agents.get(&"a".into()).unwrap();
        let noticed = progress.unnoticed.as_ref().unwrap();
        assert!(noticed.result.ok && noticed.planned.tool == "file.edit");
        assert_eq!(story.status(), TaskStatus::Pending);
    }

    #[test]
    fn a_write_that_did_not_take_place_is_made_by_the_agent_without_a_question() {
        let mut story = Story::new("file.edit", RepeatClass::Unsafe, Some(edit()));
        let events = story.taken_up(Some("old"));
        assert_eq!(Story::outcome(&events), Some(&CallOutcome::GivenUp));
        assert!(story.state.requests.open.is_empty() && story.open());
        assert_eq!(story.status(), TaskStatus::Pending);
    }

    #[test]
    fn a_file_that_is_neither_is_in_doubt_and_either_answer_lets_the_agent_go_on() {
        for (action, still_open) in
            [(ChoiceAction::Happened, false), (ChoiceAction::RunAgain, true)]
        {
            let mut story = Story::new("file.edit", RepeatClass::Unsafe, Some(edit()));
            let events = story.taken_up(Some("something else"));
            assert_eq!(Story::outcome(&events), None);
            let id = *story.state.requests.open.keys().next().unwrap();
            assert_eq!(story.status(), TaskStatus::Running);
            let command = Command::Answer { id, answer: Answer::from(action), by: Actor::Person };
            let decided =
                controller::decide_command(&story.state, &command, 1, jiff::Timestamp::UNIX_EPOCH);
            story.fold(decided.events);
            assert_eq!(story.status(), TaskStatus::Pending, "{action:?}");
            assert_eq!(story.open(), still_open, "{action:?}");
            assert_eq!(story.state.totals.anomalies, 0);
        }
    }

    #[test]
    fn what_only_looks_is_repeated_and_a_command_is_always_in_doubt() {
        let mut look = Story::new("grep", RepeatClass::Safe, None);
        look.taken_up(None);
        assert!(look.state.requests.open.is_empty() && look.open());
        let mut command = Story::new("shell.run", RepeatClass::Unsafe, None);
        command.taken_up(None);
        assert_eq!(command.state.requests.open.len(), 1);
        // A call that was ended when its process left may have done half its work.
        let mut ended = Story::new("shell.run", RepeatClass::Unsafe, None);
        ended.fold(vec![
            CallEvent::concluded_without_output(Story::call(), CallOutcome::Cancelled).into(),
        ]);
        ended.taken_up(None);
        assert_eq!(ended.state.requests.open.len(), 1);
    }

    #[test]
    fn an_agent_that_was_thinking_goes_on_and_one_whose_calls_made_others_is_as_safe_as_those() {
        let mut between = Story::new("grep", RepeatClass::Safe, None);
        let code = CallOutcome::Exited { code: 0 };
        between.fold(vec![CallEvent::concluded_without_output(Story::call(), code).into()]);
        between.taken_up(None);
        assert_eq!(between.status(), TaskStatus::Pending);
        assert!(between.state.requests.open.is_empty());
        for (repeat, asked) in [(RepeatClass::Safe, 0), (RepeatClass::Unsafe, 1)] {
            let mut outer = Story::new("parallel_execute", RepeatClass::Safe, None);
            let call = CallId { task: "a.3.1".into(), attempt: 1, step: 1 };
            let input = json!({ "command": "make" });
            let intended = CallEvent::Intended {
                call: call.clone(),
                tool: "shell.run".to_owned(),
                version: "1".to_owned(),
                input_hash: Digest::from_json(&input),
                input,
                class: RiskClass::Execute,
                repeat,
                file: None,
            };
            let ended = CallEvent::concluded_without_output(call, CallOutcome::Exited { code: 0 });
            outer.fold(vec![intended.into(), ended.into()]);
            outer.taken_up(None);
            assert_eq!(outer.state.requests.open.len(), asked, "{repeat:?}");
        }
    }
}
