//! Two runs side by side: how the plans differ, what became of each task, and where they first went apart.

mod compared_run;

use jiff::Timestamp;
use serde::Serialize;

use super::{History, RecordSourceError};
use compared_run::{ComparedRun, compare_tasks, find_first_divergence};
use planwright_model::{Digest, Seq, SessionId, TaskId};
use planwright_text::units;

/// One of the two runs as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonSide {
    pub session: SessionId,
    pub title: String,
    pub revision: Option<u32>,
    pub hash: Option<Digest>,
    pub done: u32,
    pub total: u32,
    pub time_ms: u64,
    pub tokens: u64,
    pub cost_micro: u64,
    /// How often the person was asked.
    pub asked: u32,
    pub events: u64,
    /// The planned length of the critical path, where all its tasks say how long they take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_minutes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// The session it goes on from, and after which event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<(SessionId, Seq)>,
}

/// How a task of one plan stands to the other plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanRelation {
    Same,
    Changed,
    OnlyInA,
    OnlyInB,
}

/// What became of a task in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskRunOutcome {
    pub status: String,
    pub attempt: u32,
    pub time_ms: u64,
    pub tokens: u64,
    pub cost_micro: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A task in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskComparison {
    pub task: TaskId,
    /// What people call it, in the first plan that has it.
    pub title: String,
    /// Its name in the second run, where only the content is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_in_b: Option<TaskId>,
    pub plan: PlanRelation,
    pub a: Option<TaskRunOutcome>,
    pub b: Option<TaskRunOutcome>,
    /// Which fields of the task differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Whether the second run took the result over instead of working.
    pub reused: bool,
    /// The first thing that the task did otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// Planned minutes of both, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<(u32, u32)>,
}

impl TaskComparison {
    /// What stands out about it, in a word or two.
    pub fn short_note(&self) -> String {
        match (self.plan, self.minutes) {
            (PlanRelation::OnlyInA, _) => "only in A".to_owned(),
            (PlanRelation::OnlyInB, _) => "only in B".to_owned(),
            _ if self.reused => "reused".to_owned(),
            (PlanRelation::Changed, Some((a, b))) => {
                format!("{} → {}", units::format_planned(a.into()), units::format_planned(b.into()))
            }
            (PlanRelation::Changed, None) if !self.changed.is_empty() => {
                "changed in the plan".to_owned()
            }
            (PlanRelation::Changed, None) => "after a changed task".to_owned(),
            _ if self.divergence.is_some() => "went another way".to_owned(),
            (PlanRelation::Same, _) => String::new(),
        }
    }

    /// By how much the second run took longer, in milliseconds.
    pub fn time_change(&self) -> i64 {
        self.figure_change(|outcome| outcome.time_ms)
    }

    pub fn tokens_change(&self) -> i64 {
        self.figure_change(|outcome| outcome.tokens)
    }

    pub fn cost_change(&self) -> i64 {
        self.figure_change(|outcome| outcome.cost_micro)
    }

    fn figure_change(&self, figure: impl Fn(&TaskRunOutcome) -> u64) -> i64 {
        let of = |side: &Option<TaskRunOutcome>| {
            side.as_ref().map_or(0, |side| figure(side).cast_signed())
        };
        of(&self.b) - of(&self.a)
    }

    /// Whether both runs did about the same here: nothing that one would look at twice.
    pub fn is_similar(&self) -> bool {
        let same_end = match (&self.a, &self.b) {
            (Some(a), Some(b)) => a.status == b.status && a.attempt == b.attempt,
            _ => false,
        };
        let taken_over = self.reused || self.time_change().abs() <= ALIKE_MS;
        self.plan == PlanRelation::Same
            && same_end
            && self.divergence.is_none()
            && taken_over
            && self.tokens_change().abs() <= ALIKE_TOKENS
            && self.cost_change().abs() <= ALIKE_MICROS
    }
}

/// What counts as the same: 15 seconds, 2,000 tokens, a cent.
const ALIKE_MS: i64 = 15_000;
const ALIKE_TOKENS: i64 = 2_000;
const ALIKE_MICROS: i64 = 10_000;

/// The first thing that one run did and the other did not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Divergence {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq_a: Option<Seq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq_b: Option<Seq>,
    pub a: String,
    pub b: String,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunComparison {
    pub a: ComparisonSide,
    pub b: ComparisonSide,
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
    pub same: u32,
    /// In the order of the first plan, then those only the second has.
    pub tasks: Vec<TaskComparison>,
    pub first_divergence: Option<Divergence>,
}

/// One figure of both runs, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonFigure {
    pub name: &'static str,
    pub a: String,
    pub b: String,
    /// By how much the second is more.
    pub change: String,
}

impl RunComparison {
    /// Both runs as a whole, figure by figure.
    pub fn summary_figures(&self) -> Vec<ComparisonFigure> {
        let (a, b) = (&self.a, &self.b);
        let change = |a: u64, b: u64| b.cast_signed() - a.cast_signed();
        let elapsed = |ms: u64| units::format_elapsed(std::time::Duration::from_millis(ms));
        let count = |a: u32, b: u32| match i64::from(b) - i64::from(a) {
            0 => "0".to_owned(),
            more => format!("{more:+}"),
        };
        let figure = |name, a, b, change| ComparisonFigure { name, a, b, change };
        vec![
            figure(
                "done",
                format!("{} of {}", a.done, a.total),
                format!("{} of {}", b.done, b.total),
                count(a.done, b.done),
            ),
            figure(
                "time without idle",
                elapsed(a.time_ms),
                elapsed(b.time_ms),
                units::format_elapsed_change(change(a.time_ms, b.time_ms)),
            ),
            figure(
                "tokens",
                units::format_whole_tokens(a.tokens),
                units::format_whole_tokens(b.tokens),
                format_tokens_change(change(a.tokens, b.tokens)),
            ),
            figure(
                "cost",
                units::format_money(a.cost_micro),
                units::format_money(b.cost_micro),
                units::format_money_change(change(a.cost_micro, b.cost_micro)),
            ),
        ]
    }

    /// Where the runs first went apart, in a sentence.
    pub fn first_difference_text(&self) -> String {
        let Some(first) = &self.first_divergence else {
            return "no difference in what they did".to_owned();
        };
        let Some(task) = &first.task else {
            let event = first.seq_a.map(|seq| (seq, "A")).or(first.seq_b.map(|seq| (seq, "B")));
            return event.map_or_else(String::new, |(seq, side)| {
                format!("event {} of {side}", units::format_count(seq.0))
            });
        };
        let found = self.tasks.iter().find(|other| other.task == *task);
        let title = found.map_or(task.as_str(), |found| &found.title);
        match (found.map(|found| found.plan), self.b.revision) {
            (Some(PlanRelation::Changed), Some(version)) if self.a.revision != self.b.revision => {
                format!("B uses version {version}: {title}")
            }
            _ => title.to_owned(),
        }
    }

    /// The same in lines, with what each of them did.
    pub fn divergence_lines(&self) -> Vec<String> {
        let text = self.first_difference_text();
        let Some(first) = &self.first_divergence else { return vec![text] };
        vec![
            format!("first difference: {text}"),
            format!("  A  {}", first.a),
            format!("  B  {}", first.b),
        ]
    }

    /// How the plans differ, in a line.
    pub fn plan_line(&self) -> String {
        let parts = [
            (self.added, "+", "added"),
            (self.removed, "-", "removed"),
            (self.changed, "~", "changed"),
        ];
        let mut words: Vec<String> = parts
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, sign, word)| format!("{sign} {count} {word}"))
            .collect();
        words.push(format!("{} same", self.same));
        words.join("  ")
    }

    /// The same two runs, the other way round.
    pub fn swap_sides(&self) -> Self {
        let turn = |found: &Divergence| Divergence {
            task: found.task.clone(),
            seq_a: found.seq_b,
            seq_b: found.seq_a,
            a: found.b.clone(),
            b: found.a.clone(),
        };
        let tasks = self.tasks.iter().map(|task| TaskComparison {
            task: task.task_in_b.clone().unwrap_or_else(|| task.task.clone()),
            task_in_b: task.task_in_b.is_some().then(|| task.task.clone()),
            plan: match task.plan {
                PlanRelation::OnlyInA => PlanRelation::OnlyInB,
                PlanRelation::OnlyInB => PlanRelation::OnlyInA,
                other => other,
            },
            a: task.b.clone(),
            b: task.a.clone(),
            divergence: task.divergence.as_ref().map(turn),
            minutes: task.minutes.map(|(a, b)| (b, a)),
            ..task.clone()
        });
        Self {
            a: self.b.clone(),
            b: self.a.clone(),
            added: self.removed,
            removed: self.added,
            changed: self.changed,
            same: self.same,
            tasks: tasks.collect(),
            first_divergence: self.first_divergence.as_ref().map(turn),
        }
    }
}

/// Small changes in full, since a thousand is nothing to round to here.
fn format_tokens_change(change: i64) -> String {
    if change == 0 { "0".to_owned() } else { units::format_tokens_change(change) }
}

/// Compares two sessions as they stand.
pub fn compare_runs(
    (a, past_of_a): (&SessionId, &mut History),
    (b, past_of_b): (&SessionId, &mut History),
) -> Result<RunComparison, RecordSourceError> {
    let (mut left, mut right) =
        (ComparedRun::read_session(a, past_of_a)?, ComparedRun::read_session(b, past_of_b)?);
    left.drop_shared_steps(&right.side.session);
    right.drop_shared_steps(&left.side.session);
    let tasks = compare_tasks(&left, &right);
    let count = |kin: PlanRelation| tasks.iter().filter(|task| task.plan == kin).count() as u32;
    Ok(RunComparison {
        added: count(PlanRelation::OnlyInB),
        removed: count(PlanRelation::OnlyInA),
        changed: count(PlanRelation::Changed),
        same: count(PlanRelation::Same),
        first_divergence: find_first_divergence(&left.steps, &right.steps),
        a: left.side,
        b: right.side,
        tasks,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::replay::MemorySource;
    use planwright_model::event::{Event, PlanEvent, Record, SessionEvent, TaskEvent};
    use planwright_model::{Category, ExecutionFailure, Plan, TaskLink, TaskNode};
    use planwright_plan::graph::resolve_graph;

    fn history(events: Vec<Event>) -> History {
        let records = events.into_iter().zip(1..).map(|(event, second)| {
            let at = Timestamp::from_second(1_780_000_000 + second).unwrap();
            Record::new(Seq(second.unsigned_abs()), at, event)
        });
        History::new(MemorySource::new(records.collect()))
    }

    fn plan() -> Event {
        let mut tasks = vec![TaskNode::new("a", "First"), TaskNode::new("b", "Second")];
        tasks[1].dependencies = vec![TaskLink::finish_to_start("a")];
        let facts = resolve_graph(&tasks, |_| true).unwrap().to_facts(&tasks);
        let plan = Plan { title: "Two".into(), tasks, ..Plan::default() };
        let hash = plan.digest().unwrap();
        let (plan, facts) = (Arc::new(plan), Arc::new(facts));
        PlanEvent::Proposed { revision: 1, hash, plan, facts, normalization: Vec::new() }.into()
    }

    fn did(task: &str, attempt: u32, well: bool) -> Vec<Event> {
        let task = planwright_model::TaskId::from(task);
        let start =
            TaskEvent::Started { task: task.clone(), attempt, depth: 0, affinity_delta: 0.0 };
        let end = if well {
            TaskEvent::Completed { task, attempt, elapsed_ms: 1, by: None, note: None }
        } else {
            let failure = ExecutionFailure::new("exit_status", Category::Critical, "exit 1");
            TaskEvent::Failed { task, attempt, elapsed_ms: 1, failure, retry_in_ms: None }
        };
        vec![start.into(), end.into()]
    }

    fn compared(a: Vec<Event>, b: Vec<Event>) -> RunComparison {
        let (one, two) = (SessionId::new("aaaa"), SessionId::new("bbbb"));
        compare_runs((&one, &mut history(a)), (&two, &mut history(b))).unwrap()
    }

    /// What both have in common, then the fork, then what it did with `b`.
    fn fork(well: bool) -> Vec<Event> {
        let mut events = [vec![plan()], did("a", 1, true), did("b", 1, false)].concat();
        let at = Seq(events.len() as u64);
        events.push(
            SessionEvent::Forked {
                parent: "aaaa".into(),
                at,
                reuses: 1,
                reruns: 1,
                imported: false,
            }
            .into(),
        );
        events.push(TaskEvent::Reset { task: "b".into(), why: "again".into() }.into());
        events.extend(did("b", 2, well));
        events
    }

    #[test]
    fn a_fork_that_comes_to_the_same_does_not_differ() {
        let parent = [vec![plan()], did("a", 1, true), did("b", 1, false)].concat();
        let same = compared(parent.clone(), fork(false));
        assert_eq!(same.first_divergence, None);
        assert!(same.tasks[0].reused && !same.tasks[1].reused);
        assert_eq!(same.tasks[1].b.as_ref().unwrap().attempt, 1, "its first try in the fork");
        let other = compared(parent, fork(true));
        let first = other.first_divergence.unwrap();
        assert_eq!(first.task, Some("b".into()));
        assert!(first.a.contains("exit 1"), "{first:?}");
        assert_eq!(other.tasks[1].short_note(), "went another way");
        assert_eq!(other.b.done, 2);
    }

    #[test]
    fn swapping_twice_changes_nothing() {
        let parent = [vec![plan()], did("a", 1, true)].concat();
        let found = compared(parent, fork(true));
        assert_eq!(found.swap_sides().swap_sides(), found);
        assert_ne!(found.swap_sides(), found);
    }
}
