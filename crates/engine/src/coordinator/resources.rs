//! Who uses how much of the plan's shared resources, and who waits for them.
//!
//! The ledger is kept up to date at every start and end, and each resource has its own waiting line, so that an end
//! costs what it lets start: 10,000 tasks that share one resource are not looked at 10,000 times each.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use planwright_model::{Plan, RunKind, TaskHold, TaskId};

/// How many users of a resource are named to whoever waits for it.
const NAMED_USERS: usize = 3;

/// One shared resource.
#[derive(Debug)]
struct ResourcePool {
    name: String,
    capacity: u32,
    used: u32,
    users: BTreeSet<usize>,
    /// Tasks that found too little of it, by rank.
    waiting: BinaryHeap<Reverse<(u32, usize)>>,
}

/// All resources of a plan.
#[derive(Debug, Default)]
pub(crate) struct ResourceLedger {
    pools: Vec<ResourcePool>,
    /// What each task needs: a resource and how many units. Tasks of the person's need nothing.
    demands: Vec<Vec<(usize, u32)>>,
    holding: Vec<bool>,
}

impl ResourceLedger {
    /// The resources of a plan, of which nothing is used.
    pub(crate) fn new(plan: &Plan) -> Self {
        let new_pool = |name: &str, capacity: u32| ResourcePool {
            name: name.to_owned(),
            capacity,
            used: 0,
            users: BTreeSet::new(),
            waiting: BinaryHeap::new(),
        };
        let mut pools: Vec<ResourcePool> =
            plan.resources.iter().map(|(name, capacity)| new_pool(name, *capacity)).collect();
        // There is one terminal, and whoever has it shares it with nobody.
        let terminal = pools.len();
        if plan.tasks.iter().any(|task| task.options.interactive) {
            pools.push(new_pool("the terminal", 1));
        }
        let position: HashMap<&str, usize> =
            pools.iter().enumerate().map(|(at, pool)| (pool.name.as_str(), at)).collect();
        let demands = plan
            .tasks
            .iter()
            .map(|task| match task.run {
                RunKind::Human {} => Vec::new(),
                _ => task
                    .resources
                    .iter()
                    .filter_map(|(name, units)| Some((*position.get(name.as_str())?, *units)))
                    .filter(|(_, units)| *units > 0)
                    .chain(task.options.interactive.then_some((terminal, 1)))
                    .collect(),
            })
            .collect();
        Self { pools, demands, holding: vec![false; plan.tasks.len()] }
    }

    /// Takes or gives back what a task needs, after it started or ended. Returns the tasks that may try again.
    pub(crate) fn sync_task(&mut self, task: usize, is_at_work: bool) -> Vec<usize> {
        if self.demands.get(task).is_none_or(Vec::is_empty)
            || std::mem::replace(&mut self.holding[task], is_at_work) == is_at_work
        {
            return Vec::new();
        }
        let mut woken = Vec::new();
        for at in 0..self.demands[task].len() {
            let (pool, units) = self.demands[task][at];
            if is_at_work {
                self.pools[pool].used = self.pools[pool].used.saturating_add(units);
                self.pools[pool].users.insert(task);
            } else {
                self.pools[pool].used = self.pools[pool].used.saturating_sub(units);
                self.pools[pool].users.remove(&task);
                self.wake_waiting(pool, &mut woken);
            }
        }
        woken
    }

    /// The first resource of which a task needs more than is free.
    pub(crate) fn missing_resource(&self, task: usize) -> Option<usize> {
        let lacks = |(pool, units): &&(usize, u32)| {
            let pool = &self.pools[*pool];
            // More than there is of it would never be free; nobody waits for that.
            (*units).min(pool.capacity) > pool.capacity.saturating_sub(pool.used)
        };
        self.demands.get(task)?.iter().find(lacks).map(|(pool, _)| *pool)
    }

    /// Lets a task wait for a resource. Whoever waits for another one that it would have used may try instead: those
    /// are returned.
    pub(crate) fn park_task(&mut self, task: usize, rank: u32, pool: usize) -> Vec<usize> {
        self.pools[pool].waiting.push(Reverse((rank, task)));
        let mut woken = Vec::new();
        for at in 0..self.demands[task].len() {
            let other = self.demands[task][at].0;
            if other != pool {
                self.wake_waiting(other, &mut woken);
            }
        }
        woken
    }

    /// What a task that waits for a resource waits for.
    pub(crate) fn describe_hold(&self, pool: usize, id: impl Fn(usize) -> TaskId) -> TaskHold {
        let pool = &self.pools[pool];
        TaskHold::Resource {
            name: pool.name.clone(),
            capacity: pool.capacity,
            used: pool.used,
            users: pool.users.iter().take(NAMED_USERS).map(|task| id(*task)).collect(),
        }
    }

    /// Takes as many out of the waiting line as what is free could serve, best rank first.
    fn wake_waiting(&mut self, pool: usize, woken: &mut Vec<usize>) {
        let mut free = self.pools[pool].capacity.saturating_sub(self.pools[pool].used);
        while free > 0 {
            let Some(Reverse((_, task))) = self.pools[pool].waiting.pop() else { return };
            let needs = self.demands[task].iter().find(|(other, _)| *other == pool);
            free = free.saturating_sub(needs.map_or(1, |(_, units)| *units));
            woken.push(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::TaskNode;

    fn plan(capacities: &[(&str, u32)], tasks: &[&[(&str, u32)]]) -> Plan {
        let tasks = tasks.iter().enumerate().map(|(index, needs)| {
            let mut task = TaskNode::new(format!("t{index}"), "x");
            task.run = RunKind::Shell("true".into());
            task.resources = needs.iter().map(|(name, units)| ((*name).into(), *units)).collect();
            task
        });
        Plan {
            resources: capacities.iter().map(|(name, units)| ((*name).into(), *units)).collect(),
            tasks: tasks.collect(),
            ..Plan::default()
        }
    }

    /// Runs everything with a ledger; returns how often a task was looked at.
    fn run_all(plan: &Plan) -> usize {
        let mut ledger = ResourceLedger::new(plan);
        let mut ready: Vec<usize> = (0..plan.tasks.len()).rev().collect();
        let (mut working, mut done, mut looks) = (Vec::<usize>::new(), 0, 0);
        while done < plan.tasks.len() {
            while let Some(task) = ready.pop() {
                looks += 1;
                if let Some(pool) = ledger.missing_resource(task) {
                    ready.extend(ledger.park_task(task, task as u32, pool));
                } else {
                    ready.extend(ledger.sync_task(task, true));
                    working.push(task);
                }
            }
            let ended = working.pop().expect("something runs while not all is done");
            ready.extend(ledger.sync_task(ended, false));
            done += 1;
        }
        looks
    }

    #[test]
    fn many_tasks_on_one_resource_are_looked_at_a_constant_number_of_times() {
        let needs: &[(&str, u32)] = &[("db", 1)];
        let plan = plan(&[("db", 1)], &vec![needs; 10_000]);
        assert!(run_all(&plan) <= 20_000);
    }

    #[test]
    fn tasks_that_need_several_resources_all_run_in_the_end() {
        let both: &[(&str, u32)] = &[("db", 1), ("net", 2)];
        let db: &[(&str, u32)] = &[("db", 2)];
        let net: &[(&str, u32)] = &[("net", 3)];
        let tasks: Vec<&[(&str, u32)]> = (0..99).map(|at| [both, db, net][at % 3]).collect();
        let plan = plan(&[("db", 2), ("net", 3)], &tasks);
        assert!(run_all(&plan) >= 99);
    }

    #[test]
    fn who_waits_is_told_for_what_and_for_whom() {
        let one: &[(&str, u32)] = &[("db", 1)];
        let mut ledger = ResourceLedger::new(&plan(&[("db", 1)], &[one, one]));
        assert_eq!(ledger.missing_resource(0), None);
        ledger.sync_task(0, true);
        let pool = ledger.missing_resource(1).unwrap();
        let hold = ledger.describe_hold(pool, |task| TaskId::from(format!("t{task}")));
        let users = vec!["t0".into()];
        assert_eq!(hold, TaskHold::Resource { name: "db".into(), capacity: 1, used: 1, users });
        assert_eq!(ledger.park_task(1, 1, pool), [0; 0]);
        assert_eq!(ledger.sync_task(0, false), [1]);
        assert_eq!(ledger.sync_task(0, false), [0; 0], "given back once");
    }
}
