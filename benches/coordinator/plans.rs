//! The plans that are run: tasks that may be repeated, so that grouped durability has something to group.

use planwright_model::{Plan, RepeatPolicy, RunKind, TaskLink, TaskNode};

/// Tasks that each wait for up to six earlier ones, three on average, never for one of the last few: so that several
/// tasks are always ready at once, as in a typical parallel plan.
pub fn layered(count: usize) -> Plan {
    let mut random = Random(count as u64);
    let tasks = (0..count).map(|task| {
        let earlier = task.saturating_sub(32);
        let links = if earlier == 0 { 0 } else { random.below(7) };
        let mut before: Vec<usize> =
            (0..links).map(|_| earlier.saturating_sub(1 + random.below(64.min(earlier)))).collect();
        before.sort_unstable();
        before.dedup();
        node(task, before)
    });
    plan(tasks.collect())
}

/// One task after the other.
pub fn chain(count: usize) -> Plan {
    plan((0..count).map(|task| node(task, task.checked_sub(1).into_iter().collect())).collect())
}

fn plan(tasks: Vec<TaskNode>) -> Plan {
    Plan { title: "Nothing, many times".into(), tasks, ..Plan::default() }
}

fn node(task: usize, before: Vec<usize>) -> TaskNode {
    let mut node = TaskNode::new(id(task), "Do nothing");
    node.run = RunKind::Shell("true".into());
    node.repeat = RepeatPolicy::Safe;
    node.dependencies = before.into_iter().map(|on| TaskLink::finish_to_start(id(on))).collect();
    node
}

fn id(task: usize) -> String {
    format!("task-{task:05}")
}

/// The plan as a file, for the program itself.
pub fn as_file(plan: &Plan) -> String {
    use std::fmt::Write as _;
    let mut text = format!("title = \"{}\"\n", plan.title);
    for task in &plan.tasks {
        let on: Vec<String> =
            task.dependencies.iter().map(|link| format!("\"{}\"", link.task)).collect();
        let _ = write!(
            text,
            "[[tasks]]\nid = \"{}\"\ndescription = \"Do nothing\"\ndepends_on = [{}]\nrun = {{ shell = \"true\" }}\n",
            task.id,
            on.join(", ")
        );
    }
    text
}

/// The generator of Steele and others (`SplitMix64`), so that every run measures the same plans.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}
