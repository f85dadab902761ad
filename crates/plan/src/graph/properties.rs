//! Compares resolving with naive implementations: a scan for the next task, petgraph for cycles, Bellman's recursion
//! for paths.

use std::collections::BTreeSet;

use petgraph::algo::{is_cyclic_directed, toposort};
use petgraph::graph::DiGraph;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use planwright_model::{CriticalPathMeasure, LinkKind, TaskLink, TaskNode};

const KINDS: [LinkKind; 4] = [LinkKind::FS, LinkKind::SS, LinkKind::FF, LinkKind::SF];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Acyclic,
    Any,
}

/// Graphs with ids that are neither sorted nor of equal length, and with ties in every part of the key.
fn graph(shape: Shape) -> impl Strategy<Value = Vec<TaskNode>> {
    let node = (0i64..3, 1u64..4, 0u8..3, prop::option::weighted(0.9, 0u32..5));
    let link = (any::<Index>(), any::<Index>(), 0usize..8, -3i32..4);
    (prop::collection::vec(node, 1..24), prop::collection::vec(link, 0..40)).prop_map(
        move |(nodes, links)| {
            let count = nodes.len();
            let id = |index: usize| match index % 3 {
                0 => format!("task-{:02}", (index * 7) % 24),
                1 => format!("t{index}"),
                _ => format!("a-rather-long-id-of-a-task-{}", 99 - index),
            };
            let mut tasks: Vec<TaskNode> = nodes
                .into_iter()
                .enumerate()
                .map(|(index, (priority, tokens, affinity, duration))| {
                    let mut task = TaskNode::new(id(index), "x");
                    task.priority = priority;
                    task.estimated_tokens = tokens;
                    task.duration_minutes = duration;
                    task.tool_affinity.insert("x".into(), f64::from(affinity) / 2.0);
                    task
                })
                .collect();
            for (from, to, kind, lag) in links {
                let (from, to) = (from.index(count), to.index(count));
                if shape == Shape::Any || from < to {
                    let kind = KINDS.get(kind).copied().unwrap_or_default();
                    let link =
                        TaskLink { kind, lag_minutes: lag, ..TaskLink::finish_to_start(id(from)) };
                    tasks[to].dependencies.push(link);
                }
            }
            tasks
        },
    )
}

fn twin(tasks: &[TaskNode]) -> DiGraph<usize, (LinkKind, i64)> {
    let mut graph = DiGraph::new();
    let nodes: Vec<_> = (0..tasks.len()).map(|index| graph.add_node(index)).collect();
    for (to, task) in tasks.iter().enumerate() {
        for link in &task.dependencies {
            let from = tasks.iter().position(|other| other.id == link.task).unwrap();
            graph.add_edge(nodes[from], nodes[to], (link.kind, i64::from(link.lag_minutes)));
        }
    }
    graph
}

/// Finds the next task by the key among all of them.
fn naive_order(tasks: &[TaskNode], depth: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = Vec::new();
    while order.len() < tasks.len() {
        let done: BTreeSet<_> = order.iter().map(|&index| &tasks[index as usize].id).collect();
        let next = (0..tasks.len() as u32)
            .filter(|index| !order.contains(index))
            .filter(|&index| {
                tasks[index as usize].dependencies.iter().all(|link| done.contains(&link.task))
            })
            .min_by_key(|&index| {
                SelectionKey::new(&tasks[index as usize], depth[index as usize], |_| true)
            });
        order.push(next.unwrap());
    }
    order
}

fn weight(task: &TaskNode, by: CriticalPathMeasure) -> i64 {
    match by {
        CriticalPathMeasure::Minutes => i64::from(task.duration_minutes.unwrap()),
        CriticalPathMeasure::Tokens => task.estimated_tokens.cast_signed(),
    }
}

/// Computes earliest starts by relaxing every link as often as there are tasks.
fn naive_earliest(tasks: &[TaskNode], by: CriticalPathMeasure) -> Vec<i64> {
    let graph = twin(tasks);
    let mut earliest = vec![0i64; tasks.len()];
    for _ in 0..tasks.len() {
        for edge in graph.edge_indices() {
            let (from, to) = graph.edge_endpoints(edge).unwrap();
            let (kind, lag) = match by {
                CriticalPathMeasure::Minutes => graph[edge],
                CriticalPathMeasure::Tokens => (LinkKind::FS, 0),
            };
            let (from, to) = (graph[from], graph[to]);
            let (before, own) = (weight(&tasks[from], by), weight(&tasks[to], by));
            let bound = match kind {
                LinkKind::FS => earliest[from] + before + lag,
                LinkKind::SS => earliest[from] + lag,
                LinkKind::FF => earliest[from] + before + lag - own,
                LinkKind::SF => earliest[from] + lag - own,
            };
            earliest[to] = earliest[to].max(bound);
        }
    }
    earliest
}

/// Returns the number of links of a shortest cycle, by breadth-first search from every task.
fn naive_girth(tasks: &[TaskNode]) -> usize {
    let graph = twin(tasks);
    let mut best = usize::MAX;
    for start in graph.node_indices() {
        let mut layer = BTreeSet::from([start]);
        for links in 1..=tasks.len() {
            layer = layer.iter().flat_map(|&node| graph.neighbors(node)).collect();
            if layer.contains(&start) {
                best = best.min(links);
                break;
            }
        }
    }
    best
}

proptest! {
    #[test]
    fn the_order_equals_that_of_the_naive_scan(tasks in graph(Shape::Acyclic)) {
        let resolved = resolve_graph(&tasks, |_| true).unwrap();
        prop_assert_eq!(&resolved.order, &naive_order(&tasks, &resolved.to_facts(&tasks).depth));
        for (index, task) in tasks.iter().enumerate() {
            let depth = task.dependencies.iter().map(|link| {
                let from = tasks.iter().position(|other| other.id == link.task).unwrap();
                resolved.depth(from as u32) + 1
            });
            prop_assert_eq!(resolved.depth(index as u32), depth.max().unwrap_or(0));
        }
        let mut by_rank: Vec<_> = (0..tasks.len()).collect();
        let ranks = resolved.selection_ranks();
        by_rank.sort_by_key(|&index| ranks[index]);
        let key = |index: &usize| SelectionKey::new(&tasks[*index], resolved.depth(*index as u32), |_| true);
        prop_assert!(by_rank.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
    }

    #[test]
    fn earliest_times_and_the_critical_path_equal_those_of_the_naive_recursion(tasks in graph(Shape::Acyclic)) {
        let resolved = resolve_graph(&tasks, |_| true).unwrap();
        let by = resolved.critical_path_by;
        let timed = tasks.iter().all(|task| task.duration_minutes.is_some());
        prop_assert_eq!(by == CriticalPathMeasure::Minutes, timed);
        let earliest = naive_earliest(&tasks, by);
        let own: Vec<i64> = (0..tasks.len() as u32).map(|index| resolved.earliest_start(index).cast_signed()).collect();
        prop_assert_eq!(&own, &earliest);
        let length = (0..tasks.len()).map(|index| earliest[index] + weight(&tasks[index], by)).max().unwrap();
        prop_assert_eq!(resolved.length.cast_signed(), length);
        let last = *resolved.critical_path.last().unwrap() as usize;
        prop_assert_eq!(earliest[last] + weight(&tasks[last], by), length);
        prop_assert_eq!(earliest[resolved.critical_path[0] as usize], 0);
        for pair in resolved.critical_path.windows(2) {
            prop_assert!(resolved.dependents.neighbors(pair[0]).contains(&pair[1]));
        }
        for &index in &resolved.critical_path {
            prop_assert_eq!(resolved.slack(index), 0);
        }
    }

    #[test]
    fn a_task_may_use_its_slack_and_no_more(tasks in graph(Shape::Acyclic), pick in any::<Index>()) {
        let mut tasks = tasks;
        for task in &mut tasks {
            task.duration_minutes.get_or_insert(2);
            for link in &mut task.dependencies {
                (link.kind, link.lag_minutes) = (LinkKind::FS, 0);
            }
        }
        let before = resolve_graph(&tasks, |_| true).unwrap();
        let pick = pick.index(tasks.len());
        let slack = before.slack(pick as u32) as u32;
        *tasks[pick].duration_minutes.as_mut().unwrap() += slack;
        prop_assert_eq!(resolve_graph(&tasks, |_| true).unwrap().length, before.length);
        *tasks[pick].duration_minutes.as_mut().unwrap() += 1;
        prop_assert_eq!(resolve_graph(&tasks, |_| true).unwrap().length, before.length + 1);
    }

    #[test]
    fn shuffled_input_gives_the_same_result(tasks in graph(Shape::Any), seed in any::<u64>()) {
        let mut shuffled = tasks.clone();
        shuffled.sort_by_key(|task| seed.rotate_left(task.id.as_str().bytes().map(u32::from).sum()));
        match (resolve_graph(&tasks, |_| true), resolve_graph(&shuffled, |_| true)) {
            (Ok(one), Ok(two)) => {
                let (one, two) = (one.to_facts(&tasks), two.to_facts(&shuffled));
                prop_assert_eq!(one.execution_order, two.execution_order);
                prop_assert_eq!(one.critical_path, two.critical_path);
                prop_assert_eq!(one.root_tasks, two.root_tasks);
            }
            (one, two) => prop_assert_eq!(one.unwrap_err(), two.unwrap_err()),
        }
    }

    #[test]
    fn a_cycle_is_reported_exactly_when_petgraph_finds_one_and_none_is_shorter(tasks in graph(Shape::Any)) {
        let graph = twin(&tasks);
        match resolve_graph(&tasks, |_| true) {
            Ok(_) => prop_assert!(toposort(&graph, None).is_ok()),
            Err(cycle) => {
                prop_assert!(is_cyclic_directed(&graph));
                for pair in cycle.path.windows(2) {
                    let successor = tasks.iter().find(|task| task.id == pair[1]).unwrap();
                    prop_assert!(successor.dependencies.iter().any(|link| link.task == pair[0]));
                }
                prop_assert_eq!(cycle.path.first(), cycle.path.last());
                prop_assert_eq!(cycle.path.len() - 1, naive_girth(&tasks));
            }
        }
    }
}

fn task(id: &str, depends_on: &[&str]) -> TaskNode {
    let mut task = TaskNode::new(id, "x");
    task.dependencies = depends_on.iter().map(|id| TaskLink::finish_to_start(*id)).collect();
    task
}

#[test]
fn a_cycle_is_displayed_as_its_path() {
    let tasks = [task("b", &["a"]), task("a", &["b"]), task("c", &["b"])];
    assert_eq!(resolve_graph(&tasks, |_| true).unwrap_err().to_string(), "a → b → a");
    assert_eq!(resolve_graph(&[task("x", &["x"])], |_| true).unwrap_err().to_string(), "x → x");
}

#[test]
fn an_empty_graph_resolves_to_an_empty_order() {
    let resolved = resolve_graph(&[], |_| true).unwrap();
    assert_eq!((resolved.layers, resolved.length, resolved.order.len()), (0, 0, 0));
}

#[test]
fn lags_lengthen_the_critical_path_in_minutes() {
    let mut tasks = [task("a", &[]), task("b", &["a"])];
    for task in &mut tasks {
        task.duration_minutes = Some(60);
    }
    tasks[1].dependencies[0].lag_minutes = 480;
    let resolved = resolve_graph(&tasks, |_| true).unwrap();
    assert_eq!((resolved.length, resolved.critical_path_by), (600, CriticalPathMeasure::Minutes));
    assert_eq!(resolved.to_facts(&tasks).critical_path, ["a".into(), "b".into()]);
}

#[test]
fn example_16_the_resolved_order_follows_the_key() {
    let mut tasks = [
        task("a", &["z"]),
        task("b", &[]),
        task("c", &[]),
        task("d", &["y"]),
        task("y", &["z"]),
        task("z", &[]),
    ];
    for (task, affinity) in tasks.iter_mut().zip([0.9, 0.4, 0.7, 0.1, 0.0, 0.0]) {
        task.tool_affinity.insert("t".into(), affinity);
    }
    tasks[3].priority = 1;
    (tasks[4].priority, tasks[5].priority) = (2, 2);
    let resolved = resolve_graph(&tasks, |_| true).unwrap();
    let order: Vec<String> =
        resolved.to_facts(&tasks).execution_order.iter().map(ToString::to_string).collect();
    assert_eq!(order, ["z", "y", "d", "c", "b", "a"]);
}

#[test]
fn an_unavailable_tool_gives_no_affinity() {
    let mut tasks = [task("a", &[]), task("b", &[])];
    tasks[1].tool_affinity.insert("web.fetch".into(), 0.9);
    assert_eq!(resolve_graph(&tasks, |_| true).unwrap().order, [1, 0]);
    assert_eq!(resolve_graph(&tasks, |_| false).unwrap().order, [0, 1]);
}
