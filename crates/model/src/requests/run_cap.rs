//! A limit of a run is reached and the run is held.

use planwright_text::units::{format_counted, format_whole_tokens};

use super::new_request;
use crate::request::RequestDetail;
use crate::{Choice, ChoiceAction, MicroDollars, Request, RequestId, RequestKind, RunCap, TaskId};

/// How many of the costliest tasks a card names.
const SPENDERS_SHOWN: usize = 3;

/// A limit that is reached, with what the person needs to decide about it.
#[derive(Clone, Debug)]
pub struct ReachedCap<'a> {
    pub cap: RunCap,
    /// What was used and what is allowed, in the unit of the limit.
    pub used: u64,
    pub limit: u64,
    pub waiting: u32,
    pub running: u32,
    pub done: u32,
    /// What each task has used so far, in any order.
    pub spending: Vec<TaskSpending>,
    /// What could still run without a model; none where there is no plan.
    pub offline: Option<OfflineOutlook>,
    /// Why the next call was refused, where it was a call that met the limit.
    pub next_call: Option<&'a str>,
}

/// What one task has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSpending {
    pub task: TaskId,
    /// What the task is called.
    pub title: String,
    pub tokens: u64,
    pub cost: MicroDollars,
    pub attempt: u32,
}

/// The open tasks, by whether they need a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfflineOutlook {
    pub agent_tasks: usize,
    pub other_tasks: usize,
}

/// Whether a limit that is reached is raised.
pub fn cap_request(id: RequestId, reached: &ReachedCap<'_>) -> Request {
    let ReachedCap { cap, used, limit, .. } = *reached;
    let mut asked = new_request(
        id,
        RequestKind::Cap { cap, used, limit },
        format!("Raise {} of {}?", cap.describe(), cap.format_amount(limit)),
        format!(
            "{} of {} is used. What runs now finishes; nothing new starts.",
            cap.format_amount(used),
            cap.format_amount(limit)
        ),
    );
    asked.details = cap_details(reached);
    let amount = cap.raised_limit(used);
    asked.choices = vec![
        Choice::new(ChoiceAction::RaiseOnce, "raise once", once_consequence(cap, amount)),
        Choice::new(
            ChoiceAction::RaiseForSession,
            "raise for this plan",
            "no limit until this plan is done",
        ),
    ];
    if cap.has_chosen_amount() {
        asked.choices.push(Choice::new(
            ChoiceAction::RaiseForGood,
            "raise for good",
            good_consequence(cap, amount),
        ));
    }
    // Without a model nothing is paid for, but time passes all the same.
    if cap != RunCap::RunWallTimeMin {
        asked.choices.extend(reached.offline.map(offline_choice));
    }
    asked.choices.push(Choice::new(
        ChoiceAction::Stop,
        "stop, keep the results",
        "what is done stays; you can resume later",
    ));
    asked
}

fn once_consequence(cap: RunCap, amount: u64) -> String {
    format!("up to {}, then it asks again", cap.format_amount(amount))
}

fn good_consequence(cap: RunCap, amount: u64) -> String {
    format!("{} from now on, in your settings", cap.format_amount(amount))
}

/// The request with another amount in its answers, as the person chose it.
pub fn with_cap_amount(request: &Request, amount: u64) -> Request {
    let mut changed = request.clone();
    let RequestKind::Cap { cap, .. } = request.kind else { return changed };
    for choice in &mut changed.choices {
        match choice.action {
            ChoiceAction::RaiseOnce => choice.consequence = once_consequence(cap, amount),
            ChoiceAction::RaiseForGood => choice.consequence = good_consequence(cap, amount),
            _ => {}
        }
    }
    changed
}

fn cap_details(reached: &ReachedCap<'_>) -> Vec<RequestDetail> {
    let left = format!(
        "{} waiting, {} running, {} done",
        format_counted(reached.waiting as usize, "task"),
        reached.running,
        reached.done
    );
    let mut details = vec![RequestDetail::new("Left to do", left)];
    let spenders = describe_spenders(&reached.spending);
    details.extend(spenders.map(|text| RequestDetail::new("Most spent", text)));
    details.extend(reached.next_call.map(|why| RequestDetail::new("Next call", why)));
    details
}

/// The tasks that took most, by cost where something was paid for, else by tokens.
fn describe_spenders(spending: &[TaskSpending]) -> Option<String> {
    let mut rows: Vec<_> = spending.iter().filter(|row| row.tokens > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.cost, row.tokens)));
    let words = |row: &&TaskSpending| {
        let tries =
            if row.attempt > 1 { format!(", attempt {}", row.attempt) } else { String::new() };
        let (task, tokens) = (&row.title, format_whole_tokens(row.tokens));
        match row.cost.0 {
            0 => format!("{task}, {tokens} tokens{tries}"),
            _ => format!("{task}, {}, {tokens} tokens{tries}", row.cost),
        }
    };
    let named: Vec<String> = rows.iter().take(SPENDERS_SHOWN).map(words).collect();
    (!named.is_empty()).then(|| named.join(" · "))
}

/// Continuing with what needs no model.
fn offline_choice(open: OfflineOutlook) -> Choice {
    let mut choice = Choice::new(
        ChoiceAction::GoOffline,
        "continue without paid calls",
        format!(
            "{} {}, the others run",
            format_counted(open.agent_tasks, "agent task"),
            if open.agent_tasks == 1 { "waits" } else { "wait" }
        ),
    );
    if open.other_tasks == 0 {
        choice.unavailable = Some("only tasks for agents are left".to_owned());
    }
    choice
}
