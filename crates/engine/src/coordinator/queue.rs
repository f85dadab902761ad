//! Which ready task goes first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::EngineFeatures;
use planwright_model::{GraphFacts, Plan, RunKind, TaskNode};
use planwright_plan::graph::SelectionKey;

/// Ready tasks in the order of the contract's key: priority, depth, best affinity, tokens. Among equals the author's order
/// decides.
///
/// The key of a task never changes while a plan runs, so all tasks are ranked once and the queue compares numbers.
#[derive(Debug, Default)]
pub(crate) struct ReadyQueue {
    rank: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    queued: Vec<bool>,
    depends_on_tools: bool,
}

impl ReadyQueue {
    /// Ranks the tasks of a plan by the tools that are available. Without task graphs the planner's own order is the
    /// rank.
    pub(crate) fn new(
        plan: &Plan,
        facts: &GraphFacts,
        features: EngineFeatures,
        available: impl Fn(&str) -> bool,
        computed: impl Fn(&TaskNode) -> Option<f64>,
    ) -> Self {
        let mut order: Vec<usize> = (0..plan.tasks.len()).collect();
        if features.task_graphs {
            let depth = |task: usize| facts.depth.get(task).copied().unwrap_or(0);
            let key = |task: usize| {
                let key = SelectionKey::new(&plan.tasks[task], depth(task), |tool| {
                    features.tool_affinity && available(tool)
                });
                // The sort is stable, so that without ids the order of the file is kept.
                SelectionKey { id: "", ..key }
            };
            order.sort_by(|a, b| key(*a).cmp(&key(*b)));
            if features.tool_affinity {
                order_by_fit(plan, &mut order, depth, &computed);
            }
        }
        let mut rank = vec![0; order.len()];
        for (position, task) in order.into_iter().enumerate() {
            rank[task] = position as u32;
        }
        let rates = |task: &TaskNode| {
            !task.tool_affinity.is_empty() || matches!(task.run, RunKind::Agent(_))
        };
        let goes_by_tools =
            features.task_graphs && features.tool_affinity && plan.tasks.iter().any(rates);
        Self {
            queued: vec![false; rank.len()],
            rank,
            heap: BinaryHeap::new(),
            depends_on_tools: goes_by_tools,
        }
    }

    /// Whether another set of available tools could change the order.
    pub(crate) fn depends_on_tools(&self) -> bool {
        self.depends_on_tools
    }

    /// Adds a task; one that is there already stays once.
    pub(crate) fn push(&mut self, task: usize) {
        if !std::mem::replace(&mut self.queued[task], true) {
            self.heap.push(Reverse((self.rank[task], task as u32)));
        }
    }

    /// Takes the first task.
    pub(crate) fn pop(&mut self) -> Option<usize> {
        let Reverse((_, task)) = self.heap.pop()?;
        self.queued[task as usize] = false;
        Some(task as usize)
    }

    /// How early a task goes; smaller is earlier.
    pub(crate) fn rank(&self, task: usize) -> u32 {
        self.rank.get(task).copied().unwrap_or(u32::MAX)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

/// Where the plan gives no score, the calculated ones order agents' tasks of the same priority and depth. They change
/// places among themselves alone, so that commands and persons' tasks stay where the plan has them.
fn order_by_fit(
    plan: &Plan,
    order: &mut [usize],
    depth: impl Fn(usize) -> u32,
    computed: impl Fn(&TaskNode) -> Option<f64>,
) {
    let mut groups: BTreeMap<(i64, u32), Vec<(usize, f64)>> = BTreeMap::new();
    for (place, task) in order.iter().enumerate() {
        let node = &plan.tasks[*task];
        if node.tool_affinity.is_empty()
            && let Some(score) = computed(node)
        {
            groups.entry((node.priority, depth(*task))).or_default().push((place, score));
        }
    }
    for places in groups.into_values().filter(|places| places.len() > 1) {
        let mut best_first = places.clone();
        best_first.sort_by(|one, other| other.1.total_cmp(&one.1));
        let tasks: Vec<usize> = best_first.iter().map(|(place, _)| order[*place]).collect();
        for ((place, _), task) in places.into_iter().zip(tasks) {
            order[place] = task;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, priority: i64, affinity: f64) -> TaskNode {
        let mut task = TaskNode::new(id, id);
        task.priority = priority;
        task.tool_affinity = BTreeMap::from([("tool".to_owned(), affinity)]);
        task
    }

    fn popped(plan: &Plan, depth: Vec<u32>, features: EngineFeatures) -> Vec<String> {
        let facts = GraphFacts { depth, ..GraphFacts::default() };
        let score = |task: &TaskNode| {
            matches!(task.run, RunKind::Agent(_))
                .then(|| if task.description.contains("code") { 0.87 } else { 0.63 })
        };
        let mut queue = ReadyQueue::new(plan, &facts, features, |tool| tool != "gone", score);
        (0..plan.tasks.len()).for_each(|task| queue.push(task));
        (0..plan.tasks.len()).for_each(|task| queue.push(task));
        std::iter::from_fn(|| queue.pop()).map(|task| plan.tasks[task].id.to_string()).collect()
    }

    #[test]
    fn example_16_ready_tasks_are_taken_in_the_order_of_the_key() {
        let tasks =
            vec![task("a", 0, 0.9), task("b", 0, 0.4), task("c", 0, 0.7), task("d", 1, 0.1)];
        let plan = Plan { tasks, ..Plan::default() };
        assert_eq!(
            popped(&plan, vec![1, 0, 0, 2], EngineFeatures::default()),
            ["d", "c", "b", "a"]
        );
    }

    #[test]
    fn a_tool_that_is_not_available_does_not_count() {
        let mut tasks = vec![task("a", 0, 0.1), task("b", 0, 0.2)];
        tasks[0].tool_affinity.insert("gone".to_owned(), 0.9);
        let plan = Plan { tasks, ..Plan::default() };
        assert_eq!(popped(&plan, vec![0, 0], EngineFeatures::default()), ["b", "a"]);
    }

    #[test]
    fn without_affinity_the_order_of_the_file_decides_between_equals() {
        let tasks = vec![task("c", 0, 0.9), task("b", 0, 0.1), task("a", 0, 0.5)];
        let plan = Plan { tasks, ..Plan::default() };
        let features = EngineFeatures { tool_affinity: false, ..EngineFeatures::default() };
        assert_eq!(popped(&plan, vec![0, 0, 0], features), ["c", "b", "a"]);
    }

    #[test]
    fn calculated_scores_order_the_tasks_of_agents_and_leave_others_in_their_place() {
        let plain = |id: &str, description: &str, is_agent: bool| {
            let mut task = TaskNode::new(id, id);
            task.description = description.to_owned();
            task.run = if is_agent {
                RunKind::Agent(planwright_model::AgentRun::default())
            } else {
                RunKind::Human {}
            };
            task
        };
        let tasks = vec![
            plain("picture", "Draw a picture", true),
            plain("call", "Call Anna", false),
            plain("code", "Fix the code", true),
        ];
        let plan = Plan { tasks, ..Plan::default() };
        let with = EngineFeatures::default();
        assert_eq!(popped(&plan, vec![0, 0, 0], with), ["code", "call", "picture"]);
        let without = EngineFeatures { tool_affinity: false, ..with };
        assert_eq!(popped(&plan, vec![0, 0, 0], without), ["picture", "call", "code"]);
    }

    #[test]
    fn without_task_graphs_the_order_is_the_planners() {
        let tasks = vec![task("c", 0, 0.1), task("a", 9, 0.1), task("b", 0, 0.9)];
        let plan = Plan { tasks, ..Plan::default() };
        let features = EngineFeatures { task_graphs: false, ..EngineFeatures::default() };
        assert_eq!(popped(&plan, vec![0, 0, 0], features), ["c", "a", "b"]);
    }
}
