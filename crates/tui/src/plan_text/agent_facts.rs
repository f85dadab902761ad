//! What is known of an agent's work on a task, label and value: on the card of the task and in the pane beside the plan.

use crate::theme::ThemeRole;
use planwright_model::AgentTodoStatus;
use planwright_model::agent_work::ChildState;
use planwright_state::AgentProgress;
use planwright_text::{clean_line, clean_text};

/// How far an agent is with it: what it said last, what it does, its steps and what it used.
pub(crate) fn agent_facts(agent: &AgentProgress) -> Vec<(&'static str, String, ThemeRole)> {
    let mut lines = Vec::new();
    if !agent.said.is_empty() {
        lines.push(("It says", format!("\"{}\"", clean_text(&agent.said)), ThemeRole::Untrusted));
    }
    if agent.doing != agent.said && agent.answer.is_none() {
        lines.push(("Does now", clean_text(&agent.doing).into_owned(), ThemeRole::Untrusted));
    }
    if let Some(work) = agent.task_state() {
        let done = work.completed_steps.iter().map(|step| format!("✓ {step}"));
        let open = work.pending_steps.iter().map(|step| format!("· {step}"));
        lines.push(("Steps", done.chain(open).collect::<Vec<_>>().join("  "), ThemeRole::Text));
    }
    let todo = agent.todo.iter().map(|item| match item.status {
        AgentTodoStatus::Done => format!("✓ {}", clean_line(&item.text)),
        AgentTodoStatus::UnderWay => format!("► {}", clean_line(&item.text)),
        AgentTodoStatus::Open => format!("· {}", clean_line(&item.text)),
    });
    lines.push(("Its list", todo.collect::<Vec<_>>().join("\n"), ThemeRole::Untrusted));
    let children = agent.children.values();
    let children =
        children.map(|(title, state)| format!("{} {}", subtask_sign(state), clean_line(title)));
    lines.push(("Subtasks", children.collect::<Vec<_>>().join("\n"), ThemeRole::Untrusted));
    if agent.tokens > 0 {
        let tokens = planwright_text::units::format_tokens(agent.tokens);
        let used = match agent.cost.0 {
            0 => format!("{tokens} tokens"),
            _ => format!("{tokens} tokens, {}", agent.cost),
        };
        lines.push(("So far", used, ThemeRole::Text));
    }
    let answer = agent.answer.as_deref().unwrap_or_default();
    let answer = clean_line(answer.lines().next().unwrap_or_default());
    lines.push(("Answer", answer.into_owned(), ThemeRole::Untrusted));
    lines.retain(|(_, value, _)| !value.trim().is_empty());
    lines
}

fn subtask_sign(state: &ChildState) -> &'static str {
    match state {
        ChildState::Finished { ok: true, .. } => "✓",
        ChildState::Finished { .. } | ChildState::Skipped { .. } => "✗",
        ChildState::Waiting => "·",
        ChildState::Started => "►",
    }
}
