//! Steps keep their ids from one revision to the next: by the same words first, then by similar ones.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::step_text::words;
use super::{DETAILS_FIELD, EarlierRevision, ReadSubmission};
use planwright_model::{TaskId, TaskNode};

/// From this share of common words on two steps are the same one, changed.
const SIMILAR: f64 = 0.5;
/// The most pairs of steps that are compared word by word. Beyond it only steps near each other are.
const MAX_PAIRS: usize = 60_000;
/// How far apart two steps may be then.
const NEAR: usize = 10;

/// Gives steps that were there before the ids they had, and others ids that were never used.
pub(super) fn keep_ids(read: &mut ReadSubmission, before: EarlierRevision<'_>) {
    let matches = match_steps(&read.plan.tasks, &before.plan.tasks);
    let mut taken: BTreeSet<TaskId> = before.used_ids.clone();
    taken.extend(before.plan.tasks.iter().map(|task| task.id.clone()));
    let mut renamed: HashMap<TaskId, TaskId> = HashMap::new();
    for (at, task) in read.plan.tasks.iter().enumerate() {
        let id = match matches.get(&at) {
            Some(old) => before.plan.tasks[*old].id.clone(),
            None => free_id(&task.id, &taken),
        };
        taken.insert(id.clone());
        renamed.insert(task.id.clone(), id);
    }
    rename_nodes(read, &renamed);
}

fn free_id(id: &TaskId, taken: &BTreeSet<TaskId>) -> TaskId {
    let numbered = (2u32..).map(|number| TaskId::from(format!("{id}-{number}")));
    let mut candidates = std::iter::once(id.clone()).chain(numbered);
    candidates.find(|id| !taken.contains(id)).unwrap_or_else(|| id.clone())
}

fn rename_nodes(read: &mut ReadSubmission, renamed: &HashMap<TaskId, TaskId>) {
    let rename = |id: &mut TaskId| {
        if let Some(new) = renamed.get(id) {
            id.clone_from(new);
        }
    };
    for task in &mut read.plan.tasks {
        rename(&mut task.id);
        task.dependencies.iter_mut().for_each(|link| rename(&mut link.task));
    }
    read.node_lines.iter_mut().for_each(|lines| rename(&mut lines.node));
    for finding in &mut read.findings {
        finding.node_ids.iter_mut().for_each(&rename);
    }
}

/// For each new step the old one that it is, by position.
fn match_steps(new: &[TaskNode], old: &[TaskNode]) -> HashMap<usize, usize> {
    let mut matches = HashMap::new();
    let mut free: HashSet<usize> = (0..old.len()).collect();
    // The same title in the same order, so that two steps of one title stay apart.
    let mut by_title: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for (at, task) in old.iter().enumerate().rev() {
        by_title.entry(words(&task.description)).or_default().push(at);
    }
    for (at, task) in new.iter().enumerate() {
        if let Some(same) = by_title.get_mut(&words(&task.description)).and_then(Vec::pop) {
            free.remove(&same);
            matches.insert(at, same);
        }
    }
    let open: Vec<usize> = (0..new.len()).filter(|at| !matches.contains_key(at)).collect();
    for (at, was) in similar_pairs(new, &open, old, &free) {
        if !matches.contains_key(&at) && free.remove(&was) {
            matches.insert(at, was);
        }
    }
    matches
}

/// Pairs of steps that say nearly the same, the most similar first, then those nearest to each other.
fn similar_pairs(
    new: &[TaskNode],
    open: &[usize],
    old: &[TaskNode],
    free: &HashSet<usize>,
) -> Vec<(usize, usize)> {
    let mut old_steps: Vec<(usize, StepWords)> =
        free.iter().map(|at| (*at, StepWords::new(&old[*at]))).collect();
    old_steps.sort_by_key(|(at, _)| *at);
    let everywhere = open.len() * old_steps.len() <= MAX_PAIRS;
    let mut pairs: Vec<(f64, usize, usize, usize)> = Vec::new();
    for at in open {
        let own = StepWords::new(&new[*at]);
        for (was, other) in &old_steps {
            let apart = at.abs_diff(*was);
            if !everywhere && apart > NEAR {
                continue;
            }
            let score = own.similarity(other);
            if score >= SIMILAR {
                pairs.push((score, apart, *at, *was));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    pairs.into_iter().map(|(_, _, at, was)| (at, was)).collect()
}

/// The words of a step.
struct StepWords {
    title: BTreeSet<String>,
    details: BTreeSet<String>,
}

impl StepWords {
    fn new(task: &TaskNode) -> Self {
        let details = task.metadata.get(DETAILS_FIELD).and_then(serde_json::Value::as_str);
        Self {
            title: words(&task.description).into_iter().collect(),
            details: words(details.unwrap_or_default()).into_iter().collect(),
        }
    }

    /// How much two steps have in common, from 0 to 1. The same details count where the titles differ much.
    fn similarity(&self, other: &Self) -> f64 {
        let title = shared_part(&self.title, &other.title);
        if self.details.is_empty() && other.details.is_empty() {
            return title;
        }
        title.max(0.5 * title + 0.5 * shared_part(&self.details, &other.details))
    }
}

/// The Dice coefficient of two sets of words.
fn shared_part(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let total = one.len() + other.len();
    if total == 0 {
        return 0.0;
    }
    2.0 * one.intersection(other).count() as f64 / total as f64
}
