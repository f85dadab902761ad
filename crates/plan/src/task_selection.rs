//! A part of a plan: the tasks that somebody chose, with what they need.

use std::collections::{BTreeMap, BTreeSet};

use planwright_model::{Plan, TaskId, TaskNode};
use planwright_text::nearest_name;

/// Which tasks of a plan are meant. Nothing stated means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSelection {
    /// Ids or groups, with all they depend on.
    pub targets: Vec<String>,
    /// Tasks with one of these tags, with all they depend on.
    pub tags: Vec<String>,
    /// This task and all that depends on it.
    pub from: Option<String>,
    /// This task and all that it depends on.
    pub until: Option<String>,
    /// These tasks alone.
    pub only: Option<Vec<String>>,
}

/// Why nothing can be selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskSelectionError {
    #[error("the plan has no task or group `{name}`")]
    UnknownTask { name: String, nearest: Option<String> },
    #[error("no task of the plan has the tag `{name}`")]
    UnknownTag { name: String, nearest: Option<String> },
    #[error("no task is left of that choice")]
    Empty,
}

impl TaskSelectionError {
    /// Returns what to do instead.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownTask { nearest: Some(near), .. }
            | Self::UnknownTag { nearest: Some(near), .. } => format!("did you mean {near}?"),
            Self::UnknownTask { .. } => "planwright check FILE lists the tasks".to_owned(),
            Self::UnknownTag { .. } => "give tasks a tag with tags = [\"…\"]".to_owned(),
            Self::Empty => "leave out --from or --until, or choose other tasks".to_owned(),
        }
    }
}

impl TaskSelection {
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the plan with the chosen tasks alone. Links to others are left out: what is not chosen is not waited for.
pub fn select_tasks(plan: &Plan, selection: &TaskSelection) -> Result<Plan, TaskSelectionError> {
    if selection.is_everything() {
        return Ok(plan.clone());
    }
    let links = PlanLinks::new(plan);
    let mut chosen: BTreeSet<usize> = (0..plan.tasks.len()).collect();
    if !selection.targets.is_empty() || !selection.tags.is_empty() {
        let mut wanted = BTreeSet::new();
        for name in &selection.targets {
            wanted.extend(find_target(plan, name)?);
        }
        for tag in &selection.tags {
            wanted.extend(find_tagged(plan, tag)?);
        }
        chosen = reach_tasks(wanted, &links.before);
    }
    if let Some(from) = &selection.from {
        let after = reach_tasks([find_task(plan, from)?].into(), &links.after);
        chosen = chosen.intersection(&after).copied().collect();
    }
    if let Some(until) = &selection.until {
        let before = reach_tasks([find_task(plan, until)?].into(), &links.before);
        chosen = chosen.intersection(&before).copied().collect();
    }
    if let Some(only) = &selection.only {
        chosen.retain(|task| only.iter().any(|id| id == plan.tasks[*task].id.as_str()));
    }
    if chosen.is_empty() {
        return Err(TaskSelectionError::Empty);
    }
    let kept: BTreeSet<&TaskId> = chosen.iter().map(|task| &plan.tasks[*task].id).collect();
    let tasks = chosen.iter().map(|task| {
        let mut task = plan.tasks[*task].clone();
        task.dependencies.retain(|link| kept.contains(&link.task));
        task
    });
    Ok(Plan { tasks: tasks.collect(), ..plan.clone() })
}

/// The positions of the tasks before and after each task.
struct PlanLinks {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl PlanLinks {
    fn new(plan: &Plan) -> Self {
        let count = plan.tasks.len();
        let position: BTreeMap<&TaskId, usize> =
            plan.tasks.iter().enumerate().rev().map(|(at, task)| (&task.id, at)).collect();
        let mut links = Self { before: vec![Vec::new(); count], after: vec![Vec::new(); count] };
        for (task, node) in plan.tasks.iter().enumerate() {
            for on in node.dependencies.iter().filter_map(|link| position.get(&link.task)) {
                links.before[task].push(*on);
                links.after[*on].push(task);
            }
        }
        links
    }
}

fn reach_tasks(start: BTreeSet<usize>, links: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut stack: Vec<usize> = start.iter().copied().collect();
    let mut found = start;
    while let Some(task) = stack.pop() {
        stack.extend(links[task].iter().copied().filter(|next| found.insert(*next)));
    }
    found
}

fn find_task(plan: &Plan, name: &str) -> Result<usize, TaskSelectionError> {
    let ids = || plan.tasks.iter().map(|task| task.id.as_str());
    ids().position(|id| id == name).ok_or_else(|| TaskSelectionError::UnknownTask {
        name: name.to_owned(),
        nearest: nearest_name(name, ids()).map(str::to_owned),
    })
}

fn find_target(plan: &Plan, name: &str) -> Result<Vec<usize>, TaskSelectionError> {
    let in_group = |(at, task): (usize, &TaskNode)| (task.group == name).then_some(at);
    if let Ok(task) = find_task(plan, name) {
        return Ok(vec![task]);
    }
    let group: Vec<usize> = plan.tasks.iter().enumerate().filter_map(in_group).collect();
    if !group.is_empty() {
        return Ok(group);
    }
    let names = plan.tasks.iter().flat_map(|task| [task.id.as_str(), task.group.as_str()]);
    let nearest = nearest_name(name, names.filter(|known| !known.is_empty()));
    Err(TaskSelectionError::UnknownTask {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    })
}

fn find_tagged(plan: &Plan, tag: &str) -> Result<Vec<usize>, TaskSelectionError> {
    let tagged =
        |(at, task): (usize, &TaskNode)| task.tags.iter().any(|known| known == tag).then_some(at);
    let found: Vec<usize> = plan.tasks.iter().enumerate().filter_map(tagged).collect();
    if found.is_empty() {
        let tags = plan.tasks.iter().flat_map(|task| task.tags.iter().map(String::as_str));
        let nearest = nearest_name(tag, tags).map(str::to_owned);
        return Err(TaskSelectionError::UnknownTag { name: tag.to_owned(), nearest });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::TaskLink;

    fn plan() -> Plan {
        let task = |id: &str, on: &[&str], group: &str, tags: &[&str]| {
            let mut task = TaskNode::new(id, id);
            task.dependencies = on.iter().map(|on| TaskLink::finish_to_start(*on)).collect();
            task.group = group.to_owned();
            task.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
            task
        };
        let tasks = vec![
            task("fetch", &[], "", &[]),
            task("build", &["fetch"], "core", &["fast"]),
            task("test", &["build"], "core", &[]),
            task("docs", &["fetch"], "", &["fast"]),
            task("publish", &["test", "docs"], "", &[]),
        ];
        Plan { tasks, ..Plan::default() }
    }

    fn selected(selection: &TaskSelection) -> Result<Vec<String>, TaskSelectionError> {
        let plan = select_tasks(&plan(), selection)?;
        let known: BTreeSet<TaskId> = plan.tasks.iter().map(|task| task.id.clone()).collect();
        for link in plan.tasks.iter().flat_map(|task| &task.dependencies) {
            assert!(known.contains(&link.task), "{link:?}");
        }
        Ok(plan.tasks.iter().map(|task| task.id.to_string()).collect())
    }

    #[test]
    fn targets_groups_and_tags_come_with_what_they_need() {
        let targets = |names: &[&str]| TaskSelection {
            targets: names.iter().map(|name| (*name).to_owned()).collect(),
            ..TaskSelection::default()
        };
        assert_eq!(selected(&targets(&["build"])).unwrap(), ["fetch", "build"]);
        assert_eq!(selected(&targets(&["core"])).unwrap(), ["fetch", "build", "test"]);
        assert_eq!(selected(&targets(&["croe"])).unwrap_err().hint(), "did you mean core?");
        let tags = TaskSelection { tags: vec!["fast".into()], ..TaskSelection::default() };
        assert_eq!(selected(&tags).unwrap(), ["fetch", "build", "docs"]);
        assert_eq!(selected(&TaskSelection::default()).unwrap().len(), 5);
    }

    #[test]
    fn from_and_until_cut_a_plan_and_mistakes_are_named() {
        let cut = |from: Option<&str>, until: Option<&str>| {
            let (from, until) = (from.map(str::to_owned), until.map(str::to_owned));
            selected(&TaskSelection { from, until, ..TaskSelection::default() })
        };
        assert_eq!(cut(Some("test"), None).unwrap(), ["test", "publish"]);
        assert_eq!(cut(None, Some("test")).unwrap(), ["fetch", "build", "test"]);
        assert_eq!(cut(Some("build"), Some("test")).unwrap(), ["build", "test"]);
        assert_eq!(cut(Some("docs"), Some("test")), Err(TaskSelectionError::Empty));
        let unknown = cut(Some("tests"), None).unwrap_err();
        assert_eq!(unknown.to_string(), "the plan has no task or group `tests`");
        assert_eq!(unknown.hint(), "did you mean test?");
        let tags = TaskSelection { tags: vec!["slow".into()], ..TaskSelection::default() };
        assert!(selected(&tags).unwrap_err().to_string().contains("has the tag `slow`"));
    }
}
