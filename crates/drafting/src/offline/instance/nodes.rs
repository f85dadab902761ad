//! The containers and tasks of an instance.

use jiff::civil::Date;
use planwright_model::outline::MAIN_STREAM;
use planwright_model::{
    AssumptionOrigin, NodeType, PlanDate, PlanNode, PreferredTime, Role, StartSource, TaskId,
};

use super::super::blueprint::{BlueprintGroup, BlueprintTask, CalendarSpan, CountSplit};
use super::super::{facts, usual_hours};
use super::dates::add_days;
use super::effort::count_value;
use super::link::{InstanceLag, InstanceLink};
use super::opening_hours::{opening_hours, reachable_hours};
use super::topic::PhaseTopic;
use super::{InstanceBuilder, KeyedPart, SiblingLanes};

/// Private work up to this long is done in one go.
const ONE_PIECE_MINUTES: u32 = 240;
/// Office work up to this long is done in one go.
const OFFICE_PIECE_MINUTES: u32 = 120;

/// What takes longer in the hours of others is several visits.
const LONGEST_VISIT: u32 = 120;

/// Everything about one copy of a task besides its text.
#[derive(Clone, Copy)]
pub(super) struct TaskCopy<'a> {
    pub(super) task: &'a BlueprintTask,
    pub(super) group: Option<&'a BlueprintGroup>,
    /// The number of things in it, if the task is split.
    pub(super) batch: Option<u32>,
    /// Whether it follows the copy before it instead of the task's own predecessors.
    pub(super) follows_copy: bool,
    /// The number of topics that share the time of the task.
    pub(super) sharers: u32,
    /// Which day of how many it is, if the thing itself takes several.
    pub(super) event_day: Option<(u32, u32)>,
}

impl<'a> TaskCopy<'a> {
    /// A task that is done once.
    pub(super) fn of(task: &'a BlueprintTask) -> Self {
        Self { task, group: None, batch: None, follows_copy: false, sharers: 1, event_day: None }
    }
}

impl<'a> InstanceBuilder<'a> {
    /// Adds a container and its content.
    pub(super) fn add_group(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &'a BlueprintGroup,
        lanes: &mut SiblingLanes,
    ) {
        let stream = group.stream.as_deref().unwrap_or(MAIN_STREAM);
        if !self.applies(&group.when, &group.unless, (group.min_weeks, group.max_weeks)) {
            let last = lanes.last_linked(stream);
            self.leave_out(group.key.as_ref(), group.after.as_deref(), last);
            return;
        }
        let node = self.add_container(parent, id, kind, group, lanes);
        let mut inner = SiblingLanes::default();
        for (index, phase) in group.phases.iter().enumerate() {
            let id = format!("{}.p{}", node.id, index + 1);
            self.add_group(&node, id, NodeType::Phase, phase, &mut inner);
        }
        for (index, goal) in group.sub_goals.iter().enumerate() {
            let id = format!("{}.s{}", node.id, index + 1);
            self.add_group(&node, id, NodeType::SubGoal, goal, &mut inner);
        }
        let first = self.plan.nodes.len();
        self.add_group_tasks(&node, group, &mut inner);
        self.hold_back_last_looks(group, first);
        self.open_for_dated_tasks(&node, first);
    }

    /// Lets a phase begin with the first of its tasks that has a day of its own.
    fn open_for_dated_tasks(&mut self, phase: &PlanNode, first: usize) {
        let inner = &self.plan.nodes[first..];
        let dated = inner.iter().filter_map(|node| node.fixed_start).map(|date| date.day).min();
        let later = phase.not_before.zip(dated).is_some_and(|(phase, task)| phase.day > task);
        if let Some(node) = self.plan.nodes.iter_mut().find(|node| node.id == phase.id && later) {
            node.not_before = dated.map(PlanDate::on_day);
        }
    }

    /// Returns when the single tasks of a phase with a share of the weeks may begin. Repeated work of the phases before
    /// has no end that they could wait for; they begin early enough for their own effort.
    fn phase_start(&self, group: &BlueprintGroup) -> Option<Date> {
        let span = self.inputs.span;
        let (from, until) = self.phase_window(group)?;
        let phases = &self.inputs.blueprint.phases;
        let place =
            phases.iter().position(|phase| phase.title.get_ref() == group.title.get_ref())?;
        let repeats = |phase: &BlueprintGroup| phase.tasks.iter().any(|task| task.every.is_some());
        if !phases[..place].iter().any(repeats) {
            return None;
        }
        let once = group.tasks.iter().filter(|task| task.every.is_none());
        let minutes: u32 = once
            .filter_map(|task| self.task_effort(task, Some(group), None))
            .map(super::super::blueprint::EffortRange::likely)
            .sum();
        let days = f64::from(minutes) * 7.0 / f64::from(span.weekly_minutes.max(1)) * 1.2;
        // A weekend may lie in between.
        let needed = add_days(until, -(days.ceil() as i64) - 3);
        Some(from.min(needed)).filter(|day| *day > span.start)
    }

    /// What a phase with a share of the weeks ends with belongs into its last week: the repeated work before it has no
    /// end that it could wait for.
    fn hold_back_last_looks(&mut self, group: &BlueprintGroup, first: usize) {
        let Some((from, until)) = self.phase_window(group) else { return };
        let repeats = self.plan.nodes[first..].iter().any(|node| node.recurrence.is_some());
        let last_week = add_days(until, -6).max(from);
        if !repeats || last_week <= self.inputs.span.start {
            return;
        }
        let mut trailing = true;
        for node in self.plan.nodes[first..].iter_mut().rev() {
            if node.recurrence.is_some() || node.fixed_start.is_some() {
                continue;
            }
            let looks_back = matches!(node.role, Role::Reflection | Role::Review);
            trailing &= looks_back || node.role == Role::Deliverable || node.milestone;
            if looks_back || trailing {
                node.not_before = Some(PlanDate::on_day(last_week));
            }
        }
    }

    pub(super) fn add_container(
        &mut self,
        parent: &PlanNode,
        id: String,
        kind: NodeType,
        group: &'a BlueprintGroup,
        lanes: &mut SiblingLanes,
    ) -> PlanNode {
        let title = self.wording.fill_title(group.title.get_ref());
        let mut node = PlanNode::new_child(parent, id, kind, title);
        node.why = self.wording.fill_text(&group.why);
        node.done_when = self.wording.fill_text(&group.done_when);
        node.intensity = group.intensity.unwrap_or(1).clamp(1, 5);
        node.optional = group.optional;
        node.recurrence = group.every.map(|every| self.group_recurrence(every, group));
        node.not_before = self.phase_start(group).map(PlanDate::on_day);
        self.register_key(group.key.as_ref(), &node);
        // A cycle recurs alongside the phases; only phases and sub-goals depend on the previous one.
        let chained = kind != NodeType::Cycle;
        self.place_node(&mut node, group.stream.as_deref(), group.after.as_deref(), chained, lanes);
        self.plan.nodes.push(node.clone());
        node
    }

    /// Adds the tasks of a group; neighboring tasks per topic are repeated for each topic in turn.
    fn add_group_tasks(
        &mut self,
        node: &PlanNode,
        group: &'a BlueprintGroup,
        lanes: &mut SiblingLanes,
    ) {
        let mut index = 0;
        while let Some(task) = group.tasks.get(index) {
            let run = group.tasks[index..].iter().take_while(|task| task.per_topic).count();
            if run == 0 {
                self.add_task(node, index, task, Some(group), lanes);
                index += 1;
                continue;
            }
            let topics = self.phase_topics(group);
            for (place, topic) in topics.iter().enumerate() {
                for (offset, task) in group.tasks[index..index + run].iter().enumerate() {
                    let id = format!("{}.t{}-{}", node.id, index + offset + 1, place + 1);
                    let sharers = u32::try_from(topics.len()).unwrap_or(1);
                    self.add_topic_task(
                        node,
                        id,
                        (topic, place + 1, sharers),
                        (task, group),
                        lanes,
                    );
                }
            }
            index += run;
        }
    }

    fn add_topic_task(
        &mut self,
        node: &PlanNode,
        id: String,
        (topic, number, sharers): (&PhaseTopic, usize, u32),
        (task, group): (&'a BlueprintTask, &'a BlueprintGroup),
        lanes: &mut SiblingLanes,
    ) {
        let worded = self.wording.with_topic(topic, number);
        let plain = std::mem::replace(&mut self.wording, worded);
        let copy = TaskCopy { group: Some(group), sharers, ..TaskCopy::of(task) };
        self.add_copy(node, id, copy, lanes);
        self.wording = plain;
    }

    /// Adds a task directly under the goal.
    pub(super) fn add_file_task(
        &mut self,
        root: &PlanNode,
        index: usize,
        task: &'a BlueprintTask,
        lanes: &mut SiblingLanes,
    ) {
        self.add_task(root, index, task, None, lanes);
    }

    /// Adds a task, once or in copies, unless the goal makes it superfluous.
    pub(super) fn add_task(
        &mut self,
        parent: &PlanNode,
        index: usize,
        task: &'a BlueprintTask,
        group: Option<&'a BlueprintGroup>,
        lanes: &mut SiblingLanes,
    ) {
        let stream = task.stream.as_deref().unwrap_or(MAIN_STREAM);
        if !self.applies(&task.when, &task.unless, (task.min_weeks, task.max_weeks)) {
            let last = lanes.last_linked(stream);
            self.leave_out(task.key.as_ref(), task.after.as_deref(), last);
            return;
        }
        let prefix = if parent.level == 1 { String::new() } else { format!("{}.", parent.id) };
        let id = format!("{prefix}t{}", index + 1);
        let copy = TaskCopy { group, ..TaskCopy::of(task) };
        if let Some((days, all)) = self.days_of_task(task) {
            for (place, number) in days.enumerate() {
                let event_day = Some((number, all)).filter(|_| all > 1);
                let copy = TaskCopy { event_day, follows_copy: place > 0, ..copy };
                self.add_copy(parent, format!("{id}-{number}"), copy, lanes);
            }
            return;
        }
        let Some(split) = task.split.as_ref().map(toml::Spanned::get_ref) else {
            self.add_copy(parent, id, copy, lanes);
            return;
        };
        let total = count_value(self.inputs.context, self.inputs.blueprint, &split.by);
        let plain = self.wording.clone();
        for (number, (from, to)) in (1..).zip(split_batches(total, split)) {
            self.wording = plain.with_batch(number, from, to);
            let batch = Some(to + 1 - from);
            let copy = TaskCopy { batch, follows_copy: number > 1, ..copy };
            let node = format!("{id}-{number}");
            self.add_copy(parent, node.clone(), copy, lanes);
            if let Some(apart) = split.apart.filter(|_| number > 1) {
                self.wait_before(&node.into(), apart);
            }
        }
        self.wording = plain;
    }

    /// Lets a copy wait after the one before it. A short plan shortens the wait to a night.
    fn wait_before(&mut self, id: &TaskId, apart: CalendarSpan) {
        let minutes = i32::try_from(apart.in_minutes()).unwrap_or(i32::MAX);
        let least = minutes.min(12 * 60);
        for link in self.plan.links.iter_mut().filter(|link| link.to == *id) {
            link.lag = InstanceLag::Elapsed { minutes, least };
        }
    }

    pub(super) fn add_copy(
        &mut self,
        parent: &PlanNode,
        id: String,
        copy: TaskCopy<'a>,
        lanes: &mut SiblingLanes,
    ) {
        let task = copy.task;
        let mut title = self.wording.fill_title(task.title.get_ref());
        if let Some((number, all)) = copy.event_day {
            title = super::super::wording::fit_title(&format!("{title}, day {number} of {all}"));
        }
        let mut node = PlanNode::new_child(parent, id, NodeType::Task, title);
        node.why = self.wording.fill_text(&task.why);
        node.done_when = self.wording.fill_text(&task.done_when);
        node.role = task.role;
        node.milestone = task.is_instant();
        node.optional =
            !task.keep && (task.optional || copy.group.is_some_and(|group| group.optional));
        node.in_one_piece = task.whole;
        node.intensity = task.intensity.unwrap_or(parent.intensity).clamp(1, 5);
        node.risks.clone_from(&task.risks);
        node.owner = task.who.clone().unwrap_or_default();
        let wanted =
            task.prefer.and_then(super::super::blueprint::BlueprintPreference::to_preferred_time);
        let private = usual_hours::is_private(self.inputs.blueprint);
        let needed = opening_hours(task).filter(|_| private);
        let calendar = &self.inputs.context.calendar;
        let usual = usual_hours::time_beside_errands(self.inputs.blueprint, calendar)
            .filter(|_| task.at.is_none() && task.prefer.is_none());
        node.preferred_time =
            needed.map(|needed| reachable_hours(needed, calendar)).or(wanted).or(usual);
        node.recurrence = task.every.map(|every| self.task_recurrence(every, task, copy.group));
        self.set_dates(&mut node, task);
        if let Some((number, _)) = copy.event_day
            && let Some(date) = &mut node.fixed_start
        {
            date.day = add_days(date.day, i64::from(number) - 1);
        }
        if let Some(effort) = self.task_effort(task, copy.group, copy.batch) {
            let effort = match copy.sharers {
                0 | 1 => effort,
                sharers => effort.around((effort.likely() / sharers / 5 * 5).max(5)),
            };
            node.estimate_minutes = Some(effort.likely());
            // A visit or an evening of painting is one piece; only long office work is cut.
            let most = if private { ONE_PIECE_MINUTES } else { OFFICE_PIECE_MINUTES };
            node.in_one_piece |= task.share.is_none() && effort.likely() <= most;
            // Three firms come on three days.
            let visits = needed == Some(PreferredTime::OfficeHours) && !task.whole;
            node.in_one_piece &= !visits || effort.likely() <= LONGEST_VISIT;
            // What is longer than a week's hours is cut, unless it has a day of its own.
            let weekly = self.inputs.context.constraints.weekly_minutes.unwrap_or(u32::MAX);
            node.in_one_piece &= node.fixed_start.is_some() || effort.likely() <= weekly;
            let daily = facts::daily_minutes(self.inputs.goal, self.inputs.blueprint);
            node.in_one_piece &=
                node.fixed_start.is_some() || daily.is_none_or(|most| effort.likely() <= most);
            let stated = self.stated_most(daily);
            if node.has_proposed_day() && stated.is_some_and(|most| effort.likely() > most) {
                // More than the person works at a time is done until that day instead of on it.
                node.due = node.fixed_start.take().map(|date| PlanDate::on_day(date.day));
                (node.start_source, node.in_one_piece) = (StartSource::default(), false);
            }
            self.plan.efforts.insert(node.id.clone(), effort);
        }
        self.register_key(task.key.as_ref(), &node);
        let chained = task.every.is_none();
        let after = if copy.follows_copy { None } else { task.after.as_deref() };
        self.place_node(&mut node, task.stream.as_deref(), after, chained, lanes);
        self.plan.nodes.push(node);
    }

    /// Returns the most minutes at a time that the person stated: of a day, or of a week.
    fn stated_most(&self, daily: Option<u32>) -> Option<u32> {
        let context = self.inputs.context;
        let weekly = context.find_assumption(facts::WEEKLY);
        let weekly = weekly.filter(|found| found.origin == AssumptionOrigin::User);
        let weekly = weekly.and(context.constraints.weekly_minutes);
        daily.into_iter().chain(weekly).min()
    }

    pub(super) fn register_key(&mut self, key: Option<&'a toml::Spanned<String>>, node: &PlanNode) {
        if let Some(key) = key {
            self.keys.insert(key.get_ref(), KeyedPart::Node(node.id.clone()));
        }
    }

    fn leave_out(
        &mut self,
        key: Option<&'a toml::Spanned<String>>,
        after: Option<&'a [super::BlueprintLink]>,
        last: Option<planwright_model::TaskId>,
    ) {
        let Some(key) = key else { return };
        let part = match after {
            Some(after) => KeyedPart::LeftOut { after, last: None },
            None => KeyedPart::LeftOut { after: &[], last },
        };
        self.keys.insert(key.get_ref(), part);
    }

    /// Returns whether a part belongs into the plan of this goal.
    pub(super) fn applies(
        &self,
        when: &[toml::Spanned<String>],
        unless: &[String],
        (least, most): (Option<u16>, Option<u16>),
    ) -> bool {
        let goal = self.inputs.goal;
        let weeks = self.inputs.span.weeks();
        let fits =
            least.is_none_or(|least| weeks >= least) && most.is_none_or(|most| weeks <= most);
        let given = |noun: &String| {
            goal.given.iter().any(|known| known == noun || known.ends_with(&format!(" {noun}")))
                || (noun.starts_with('\'') && self.wording.is_stated(noun, goal))
        };
        fits && !unless.iter().any(given)
            && when.iter().all(|condition| self.wording.is_stated(condition.get_ref(), goal))
    }

    /// Links two nodes of the instance.
    pub(super) fn link_nodes(&mut self, link: InstanceLink) {
        self.plan.links.push(link);
    }

    /// Returns whether a task of a training phase is done every week.
    pub(super) fn is_weekly_session(task: &BlueprintTask) -> bool {
        task.share.is_some() && task.role == Role::Practice && task.every.is_none()
    }
}

/// Cuts a count into batches, each with its first and last number.
fn split_batches(total: u32, split: &CountSplit) -> Vec<(u32, u32)> {
    let total = total.max(1);
    let copies = total.div_ceil(split.size.max(1)).clamp(1, split.most.max(1));
    (0..copies)
        .map(|index| {
            let at = |place: u32| {
                u32::try_from(u64::from(total) * u64::from(place) / u64::from(copies))
                    .unwrap_or(total)
            };
            (at(index) + 1, at(index + 1))
        })
        .filter(|(from, to)| from <= to)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_every_number_once() {
        let split = |size, most| CountSplit { by: "servers".to_owned(), size, most, apart: None };
        assert_eq!(split_batches(200, &split(50, 6)), [(1, 50), (51, 100), (101, 150), (151, 200)]);
        assert_eq!(split_batches(7, &split(5, 6)), [(1, 3), (4, 7)]);
        assert_eq!(split_batches(1000, &split(50, 3)), [(1, 333), (334, 666), (667, 1000)]);
        assert_eq!(split_batches(0, &split(50, 6)), [(1, 1)]);
    }
}
