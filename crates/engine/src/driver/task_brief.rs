//! What an agent is told about the plan around its task: what the tasks before it brought, and who else works where.

use planwright_agents::DependencyResult;
use planwright_model::event::CallOutcome;
use planwright_model::{RunKind, TaskId, TaskNode};
use planwright_state::trace::outcome_text;
use planwright_state::{SessionState, TaskRow, TaskStatus};

/// The most tasks of the plan that are listed.
const MOST_TASKS: usize = 60;

fn task_node(state: &SessionState, task: usize) -> Option<&TaskNode> {
    state.plan.current.as_ref().and_then(|current| current.plan.tasks.get(task))
}

/// What came of the tasks that a task depends on, whoever did them.
pub(super) fn dependency_results(state: &SessionState, task: usize) -> Vec<DependencyResult> {
    let result = |on: usize| {
        let (id, row) = (state.tasks.id(on).clone(), state.tasks.row(on));
        let node = task_node(state, on);
        let answer = match state.agents.final_answer(&id) {
            Some(answer) => answer.to_owned(),
            None => plain_result(node, row),
        };
        DependencyResult {
            title: node.map(|node| node.description.clone()).unwrap_or_default(),
            outcome: row.status.label().to_owned(),
            answer,
            task: id,
        }
    };
    state.tasks.dependencies(task).map(result).collect()
}

/// What a command or a person left: how it ended, the end of its output, what was noted.
fn plain_result(node: Option<&TaskNode>, row: &TaskRow) -> String {
    let mut lines = Vec::new();
    if let Some(RunKind::Shell(command)) = node.map(|node| &node.run) {
        lines.push(format!("command: {command}"));
    }
    lines.extend(row.last_outcome.as_ref().map(|outcome: &CallOutcome| outcome_text(outcome)));
    let tail = row.output_tail.trim_end();
    if !tail.is_empty() {
        lines.push(format!("last lines of its output:\n{tail}"));
    }
    lines.extend(row.notes.iter().map(|note| format!("note: {}", note.text)));
    lines.join("\n")
}

/// What the person said that the plan must respect. The goal itself is told apart.
pub(super) fn stated_facts(state: &SessionState) -> Vec<String> {
    let goal = state.session.goal.as_deref().unwrap_or_default().trim();
    let facts = state.planning.facts.active().map(|fact| fact.text.trim());
    facts.filter(|text| !text.is_empty() && *text != goal).map(str::to_owned).collect()
}

/// What the person remarked about a task: comments on the plan, and notes.
pub(super) fn task_comments(state: &SessionState, id: &TaskId) -> Vec<String> {
    let comments = state.planning.comments.iter().filter(|comment| comment.node == *id);
    let comments = comments.map(|comment| comment.text.clone());
    let notes = state.tasks.get(id).into_iter().flat_map(|row| &row.notes);
    comments.chain(notes.map(|note| note.text.to_string())).collect()
}

/// The plan, a line for each task, this one marked. What runs now says what it is at.
pub(super) fn plan_overview(state: &SessionState, own: usize) -> Vec<String> {
    let total = state.tasks.len();
    // Around the task itself, where not all of them fit.
    let first = own.saturating_sub(MOST_TASKS / 2).min(total.saturating_sub(MOST_TASKS));
    let last = total.min(first + MOST_TASKS);
    let mut lines: Vec<String> = (first..last).map(|task| task_line(state, task, own)).collect();
    if first > 0 {
        lines.insert(0, format!("({first} tasks before)"));
    }
    if last < total {
        lines.push(format!("({} tasks after)", total - last));
    }
    lines
}

fn task_line(state: &SessionState, task: usize, own: usize) -> String {
    let title = task_node(state, task).map(|node| node.description.as_str()).unwrap_or_default();
    let title = planwright_text::clean_line(title);
    let title = planwright_text::truncate_end(&title, 120);
    let id = state.tasks.id(task);
    if task == own {
        return format!("- {id} [this task] {title}");
    }
    let row = state.tasks.row(task);
    let mut line = format!("- {id} [{}] {title}", row.status.label());
    if state.tasks.dependencies(own).any(|on| on == task) {
        line.push_str(" (this task builds on it)");
    }
    if state.tasks.dependents(own).any(|dependent| dependent == task) {
        line.push_str(" (waits for this task)");
    }
    if row.status == TaskStatus::Running
        && let Some(doing) = state.agents.get(id).map(|progress| progress.doing.as_str())
        && !doing.is_empty()
    {
        let doing = planwright_text::clean_line(doing);
        let place = match state.worktrees.pending(id) {
            Some(_) => "; works in its own copy now: ",
            None => "; works in the same directory now: ",
        };
        line.extend([place, &doing]);
    }
    line
}
