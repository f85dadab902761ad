//! The requests the engine asks, in words.

use planwright_model::request::RequestDetail;
use planwright_model::{
    CallId, Choice, ChoiceAction, Digest, Request, RequestId, RequestKind, RunCap, RunKind,
};
use planwright_state::{CallInFlight, PlanRevision, SessionState};
use planwright_text::units::format_counted;

/// Whether the plan may run.
pub fn final_plan_request(id: RequestId, revision: &PlanRevision) -> Request {
    let first = revision.facts.root_tasks.len();
    let missing =
        revision.normalization.iter().filter(|note| note.code == "dependency_missing").count();
    let why = match missing {
        0 => "nothing runs before you approve it".to_owned(),
        1 => "nothing runs before you approve it; 1 unknown dependency was left out".to_owned(),
        count => format!(
            "nothing runs before you approve it; {count} unknown dependencies were left out"
        ),
    };
    let starts = match first {
        1 => "1 task starts now".to_owned(),
        count => format!("{count} tasks can start now"),
    };
    Request {
        id,
        kind: RequestKind::FinalPlan { hash: revision.hash.clone(), revision: revision.revision },
        question: "Run this plan?".to_owned(),
        why,
        verbatim: Vec::new(),
        details: Vec::new(),
        choices: vec![
            Choice::new(ChoiceAction::ApproveAndRun, "approve and run", starts),
            Choice::new(
                ChoiceAction::ApproveAndStop,
                "approve and stop",
                format!("keep r{}, run later", revision.revision),
            ),
            Choice::new(ChoiceAction::Abandon, "abandon", "the plan stays readable"),
        ],
        task: None,
    }
}

/// A limit is reached; the run is held.
pub fn cap_request(
    id: RequestId,
    state: &SessionState,
    cap: RunCap,
    used: u64,
    limit: u64,
) -> Request {
    let left = state.tasks.status_counts();
    let once = crate::caps::raised_limit(cap, used);
    let mut details = vec![RequestDetail::new(
        "left to do",
        format!(
            "{} waiting, {} running, {} done",
            format_counted(left.pending as usize, "task"),
            left.running,
            left.done
        ),
    )];
    details.extend(costliest_tasks(state).map(|text| RequestDetail::new("most spent", text)));
    let mut choices = vec![
        Choice::new(
            ChoiceAction::RaiseOnce,
            "raise once",
            format!("goes on until {}, then asks again", cap.format_amount(once)),
        ),
        Choice::new(
            ChoiceAction::RaiseForSession,
            "raise for the session",
            "no limit until this session ends",
        ),
    ];
    choices.extend(offline_choice(state, cap));
    choices.push(Choice::new(
        ChoiceAction::Stop,
        "stop, keep results",
        "what is done stays; resume later",
    ));
    Request {
        id,
        kind: RequestKind::Cap { cap, used, limit },
        question: format!("{} of {} is reached. Raise it?", cap.name(), cap.format_amount(limit)),
        why: format!(
            "{} used; what runs now finishes, nothing new starts",
            cap.format_amount(used)
        ),
        verbatim: Vec::new(),
        details,
        choices,
        task: None,
    }
}

/// The tasks that took most, by cost where something was paid for, else by tokens.
fn costliest_tasks(state: &SessionState) -> Option<String> {
    let mut rows: Vec<_> = state.tasks.iter().filter(|(_, row)| row.tokens > 0).collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse((row.cost, row.tokens)));
    let words = |(id, row): &(&planwright_model::TaskId, &planwright_state::TaskRow)| {
        let tries = if row.attempt > 1 { format!(", try {}", row.attempt) } else { String::new() };
        let tokens = planwright_text::units::format_whole_tokens(row.tokens);
        match row.cost.0 {
            0 => format!("{id} {tokens} tokens{tries}"),
            _ => format!("{id} {}, {tokens} tokens{tries}", row.cost),
        }
    };
    let said: Vec<String> = rows.iter().take(3).map(words).collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

/// Going on with what needs no model, where a limit on money or tokens leaves that open.
fn offline_choice(state: &SessionState, cap: RunCap) -> Option<Choice> {
    if cap == RunCap::RunWallTimeMin {
        return None;
    }
    let plan = &state.plan.current.as_ref()?.plan;
    let is_agent = |at: usize| matches!(plan.tasks[at].run, RunKind::Agent {});
    let open = |at: &usize| !state.tasks.row(*at).status.is_settled();
    let (agents, others): (Vec<usize>, Vec<usize>) =
        (0..plan.tasks.len().min(state.tasks.len())).filter(open).partition(|at| is_agent(*at));
    let mut choice = Choice::new(
        ChoiceAction::GoOffline,
        "go on offline",
        format!(
            "no paid calls; {} {}, others run",
            format_counted(agents.len(), "agent task"),
            if agents.len() == 1 { "waits" } else { "wait" }
        ),
    );
    if others.is_empty() {
        choice.unavailable = Some("only tasks of agents are left".to_owned());
    }
    Some(choice)
}

/// The call that an agent was at, as it was to be made.
fn open_call_detail(state: &SessionState, task: usize) -> Option<RequestDetail> {
    let open = state.agents.get(state.tasks.id(task))?.open.as_ref()?;
    let args = &open.planned.args;
    Some(if let Some(command) = args.get("command").and_then(serde_json::Value::as_str) {
        RequestDetail::new("command", command)
    } else {
        let args = serde_json::to_string_pretty(args).unwrap_or_default();
        RequestDetail::new("call", format!("{} {args}", open.planned.tool))
    })
}

/// What is known about the processes of a call in doubt.
#[derive(Debug)]
pub struct CallEvidence {
    pub words: String,
    /// It was found at work after its program had gone, and was ended.
    pub was_running: bool,
}

/// Whether a call without a known outcome took place. `evidence` says what is known about its process.
pub fn in_doubt_request(
    id: RequestId,
    state: &SessionState,
    task: usize,
    call: &CallInFlight,
    evidence: &CallEvidence,
) -> Request {
    let task_id = state.tasks.id(task).clone();
    let node = state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task));
    let is_agent = node.is_some_and(|node| matches!(node.run, RunKind::Agent {}));
    let verbatim = match node.map(|node| &node.run) {
        Some(RunKind::Shell(command)) => RequestDetail::new("command", command.clone()),
        _ => open_call_detail(state, task)
            .unwrap_or_else(|| RequestDetail::new("command", call.summary.to_string())),
    };
    let dependents = state.tasks.descendants(task).len();
    let last = if call.last_line.is_empty() {
        String::new()
    } else {
        format!(", last: {}", call.last_line)
    };
    Request {
        id,
        kind: RequestKind::InDoubt { call: call.call.clone() },
        question: if is_agent { "Did this call take place?" } else { "Did this command finish?" }
            .to_owned(),
        why: if is_agent {
            format!("{task_id} was at this call of {}, and its outcome is not known", call.tool)
        } else if evidence.was_running {
            format!("{task_id} was still running without Planwright, and was ended on the way")
        } else {
            format!("{task_id} was started, and its outcome is not known")
        },
        verbatim: vec![verbatim],
        details: vec![
            RequestDetail::new(
                "evidence",
                format!(
                    "{}, {} captured{last}",
                    evidence.words,
                    format_counted(call.output_lines as usize, "line")
                ),
            ),
            RequestDetail::new(
                "repeat",
                "running it again may do its work twice; other branches go on",
            ),
        ],
        choices: [
            Choice::new(
                ChoiceAction::Happened,
                "it happened",
                if is_agent {
                    "the agent goes on after it, without its output".to_owned()
                } else {
                    format!("{task_id} is done")
                },
            ),
            Choice::new(
                ChoiceAction::RunAgain,
                "run it",
                if is_agent {
                    "the agent makes this very call again, then goes on".to_owned()
                } else {
                    format!("{task_id} is started again")
                },
            ),
        ]
        .into_iter()
        .chain(skip_or_stop_choices(dependents))
        .collect(),
        task: Some(task_id),
    }
}

/// How to go on without a task, or not at all.
fn skip_or_stop_choices(dependents: usize) -> [Choice; 3] {
    [
        Choice::new(ChoiceAction::SkipAlone, "skip the task", "dependents go on without it"),
        Choice::new(
            ChoiceAction::SkipWithDependents,
            "skip with dependents",
            match dependents {
                1 => "1 task that needs it is skipped too".to_owned(),
                _ => format!("{dependents} tasks that need it are skipped too"),
            },
        ),
        Choice::new(ChoiceAction::Stop, "stop", "the session stops, the question stays open"),
    ]
}

/// A command of the plan that is asked about before it runs.
#[derive(Debug)]
pub struct CommandQuestion<'a> {
    pub task: usize,
    pub call: &'a CallId,
    pub command: &'a str,
    /// What the answer holds for: this command in this place.
    pub input: Digest,
    pub why: &'a str,
    /// How it runs, in words.
    pub place: String,
    pub danger: Option<String>,
}

/// Whether a command of the plan may run now.
pub fn command_request(
    id: RequestId,
    state: &SessionState,
    asked: &CommandQuestion<'_>,
) -> Request {
    let task = state.tasks.id(asked.task).clone();
    let node = state.plan.current.as_ref().and_then(|now| now.plan.tasks.get(asked.task));
    let mut details = vec![
        RequestDetail::new("task", node.map(|node| node.description.clone()).unwrap_or_default()),
        RequestDetail::new("runs in", asked.place.clone()),
    ];
    details.extend(asked.danger.as_ref().map(|what| RequestDetail::new("danger", what.clone())));
    let allow =
        Choice::new(ChoiceAction::AllowOnce, "allow once", "this very command, and nothing else");
    let dependents = state.tasks.descendants(asked.task).len();
    let apart =
        |choice: &Choice| dependents > 0 || choice.action != ChoiceAction::SkipWithDependents;
    Request {
        id,
        kind: RequestKind::Permission {
            call: asked.call.clone(),
            tool: "shell".to_owned(),
            class: "execute".to_owned(),
            input: Some(asked.input.clone()),
        },
        question: format!("Run the command of {task}?"),
        why: asked.why.to_owned(),
        verbatim: vec![RequestDetail::new("command", asked.command)],
        details,
        choices: std::iter::once(allow)
            .chain(skip_or_stop_choices(dependents).into_iter().filter(apart))
            .collect(),
        task: Some(task),
    }
}
