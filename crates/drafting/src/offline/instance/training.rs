//! A training phase planned week by week, each week with its load and its sessions on different days.

use jiff::civil::Date;

use planwright_model::{LinkKind, NodeType, PlanDate, PlanNode, PreferredTime, TaskId, Weekday};
use planwright_plan::sizing::{self, TrainingWeeks};
use planwright_text::units::format_counted;

use super::super::blueprint::{BlueprintGroup, BlueprintPreference, BlueprintTask, EffortRange};
use super::link::{InstanceLag, InstanceLink};
use super::nodes::TaskCopy;
use super::{InstanceBuilder, SiblingLanes, dates};

/// Half a day of elapsed time: the next session falls on another day.
const NEXT_DAY: i32 = 12 * 60;
/// What lies at least between the starts of two weeks; each week has its own first day, so one that began late does not
/// push the others.
const NEXT_WEEK: i32 = 4 * 24 * 60;
/// A first week of fewer days is not counted as one.
const LEAST_FIRST_DAYS: u32 = 3;
/// The longest session in the days before the race.
const LAST_WEEK_MINUTES: u32 = 40;
/// The days of one, two, three … sessions a week. With four and more, two of them follow each other.
const WEEK_PATTERNS: [&[Weekday]; 6] = [
    &[Weekday::Sun],
    &[Weekday::Wed, Weekday::Sun],
    &[Weekday::Tue, Weekday::Thu, Weekday::Sun],
    &[Weekday::Tue, Weekday::Thu, Weekday::Sat, Weekday::Sun],
    &[Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Sat, Weekday::Sun],
    &[Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat, Weekday::Sun],
];
/// The load of the busiest week of a file that states none.
const DEFAULT_PEAK: u32 = 300;

impl<'a> InstanceBuilder<'a> {
    pub(super) fn add_training_phase(
        &mut self,
        root: &PlanNode,
        index: usize,
        phase: &'a BlueprintGroup,
        lanes: &mut SiblingLanes,
    ) {
        let (total, begin) = self.training_span();
        let weeks = TrainingWeeks::from_total(total);
        let count = weeks.to_array().get(index).copied().unwrap_or(0);
        if index == 0 {
            self.note_adjusted_length(weeks);
        }
        let weekly = self.inputs.blueprint.weekly.as_ref().map(|weekly| *weekly.get_ref());
        let usual = weekly.unwrap_or(DEFAULT_PEAK);
        // Stated hours are the busiest week.
        let peak = self.inputs.goal.weekly_minutes.map_or(usual, |stated| usual.min(stated));
        let loads = sizing::training_loads(weeks, peak);
        let first: u16 = weeks.to_array()[..index.min(4)].iter().sum();
        let id = format!("p{}", index + 1);
        let node = self.add_container(root, id, NodeType::Phase, phase, lanes);
        let mut inner = SiblingLanes::default();
        let (sessions, once): (Vec<_>, Vec<_>) =
            phase.tasks.iter().enumerate().partition(|(_, task)| Self::is_weekly_session(task));
        let opens = |(place, _): &&(usize, &BlueprintTask)| {
            sessions.first().is_some_and(|(first, _)| place < first)
        };
        for (place, task) in once.iter().filter(opens) {
            self.add_task(&node, *place, task, Some(phase), &mut inner);
        }
        for week in first..first + count {
            let load = loads.get(usize::from(week)).copied().unwrap_or(5);
            let from = dates::add_days(begin, i64::from(week) * 7);
            self.add_training_week(&node, (week + 1, from), load, (phase, &sessions), &mut inner);
        }
        for (place, task) in once.iter().filter(|part| !opens(part)) {
            // What has a date of its own does not wait for the last session.
            if task.at.is_some() || task.by.is_some() {
                inner.forget_last();
            }
            self.add_task(&node, *place, task, Some(phase), &mut inner);
        }
    }

    /// Returns the weeks of training before the day, and the day on which they begin: nobody builds up for much longer
    /// than the kind needs. The weeks end with the day, so that the first of them, and not the last, is the one that is cut
    /// short.
    fn training_span(&self) -> (u16, Date) {
        let span = self.inputs.span;
        let last = span.day.unwrap_or(span.last_day);
        let usual = *self.inputs.blueprint.weeks.get_ref();
        let days = dates::days_between(span.start, last) + 1;
        let weeks = if days % 7 < LEAST_FIRST_DAYS { days / 7 } else { days.div_ceil(7) };
        let weeks = u16::try_from(weeks.max(1)).unwrap_or(u16::MAX);
        let weeks = weeks.min(usual.saturating_mul(2));
        let planned: u16 = TrainingWeeks::from_total(weeks).to_array().iter().sum();
        if planned > weeks {
            return (weeks, span.start);
        }
        (weeks, dates::add_days(last, 1 - i64::from(weeks) * 7))
    }

    fn note_adjusted_length(&mut self, weeks: TrainingWeeks) {
        let planned: u16 = weeks.to_array().iter().sum();
        let asked = self.training_span().0;
        if planned != asked {
            let asked = format_counted(asked.into(), "week");
            self.plan.notes.push(format!(
                "{asked} of training cannot be built up; {planned} weeks are planned"
            ));
        }
    }

    fn add_training_week(
        &mut self,
        phase: &PlanNode,
        (number, first_day): (u16, Date),
        load: u32,
        (group, sessions): (&'a BlueprintGroup, &[(usize, &'a BlueprintTask)]),
        lanes: &mut SiblingLanes,
    ) {
        let id = format!("{}.w{number}", phase.id);
        let mut week = PlanNode::new_child(phase, id, NodeType::SubGoal, format!("Week {number}"));
        week.intensity = phase.intensity;
        if first_day > self.inputs.span.start {
            week.not_before = Some(PlanDate::on_day(first_day));
        }
        // The first week begins with the plan.
        let cut =
            dates::days_between(first_day.min(self.inputs.span.start), self.inputs.span.start);
        let first_day = first_day.max(self.inputs.span.start);
        // Nothing is trained on the day itself or after it.
        let eve = self.inputs.span.day.map(|day| dates::add_days(day, -1));
        let days_left = eve.map_or(7, |eve| dates::days_between(first_day, eve) + 1);
        week.due = eve.filter(|_| days_left < 7).map(PlanDate::on_day);
        self.place_node(&mut week, None, None, true, lanes);
        self.plan.nodes.push(week.clone());
        if number > 1 {
            self.link_to_previous_week(&week.id);
        }
        let goes_on = |(_, task): &&(usize, &'a BlueprintTask)| {
            let until =
                task.until.as_ref().map(|until| self.anchors.resolve_repeated(until.get_ref()));
            until.is_none_or(|until| first_day <= until)
        };
        let mut sessions: Vec<&(usize, &'a BlueprintTask)> =
            sessions.iter().filter(goes_on).collect();
        // The day of the race and the one before it are free.
        let open = if days_left < 7 { days_left.saturating_sub(1) } else { 7 - cut.min(6) };
        // The last days have every other day free, and so do those of a week that is cut short.
        let most = if days_left < 7 || cut > 0 { (open as usize).div_ceil(2).max(1) } else { 7 };
        let all = share_sum(&sessions);
        keep_main_sessions(&mut sessions, most.min(self.open_days(first_day, open)));
        let load = if cut > 0 { load * share_sum(&sessions) / all.max(1) } else { load };
        let weights: Vec<u32> = sessions.iter().map(|(_, task)| task.share.unwrap_or(1)).collect();
        let mut inner = SiblingLanes::default();
        let minutes = sizing::training_week(load, &weights);
        let longest = longest_session(&sessions);
        let last_days = eve.is_some_and(|eve| dates::days_between(first_day, eve) < 7);
        let days = self.session_days(first_day, open, (sessions.len(), longest));
        let mut parts: Vec<_> = sessions.iter().zip(minutes).zip(days).collect();
        parts.sort_by_key(|(_, day)| *day);
        for (((place, task), minutes), day) in parts.into_iter().filter(|((_, own), _)| *own > 0) {
            // Whoever runs long in the last week starts the race tired.
            let minutes = if last_days { minutes.min(LAST_WEEK_MINUTES) } else { minutes };
            let id = format!("{}.t{}", week.id, place + 1);
            let before = self.plan.links.len();
            let copy = TaskCopy { group: Some(group), follows_copy: true, ..TaskCopy::of(task) };
            self.add_copy(&week, id, copy, &mut inner);
            if let Some(node) = self.plan.nodes.last_mut() {
                node.estimate_minutes = Some(minutes);
                // A long run in two halves is two short runs.
                node.in_one_piece = true;
                node.not_before = day.map(PlanDate::on_day);
                let is_longest = longest
                    .and_then(|long| sessions.get(long))
                    .is_some_and(|(long, _)| long == place);
                // Before the race the days count more than the weekend.
                if is_longest && day.is_none_or(is_weekend) {
                    node.preferred_time = Some(PreferredTime::Weekends);
                } else if node.preferred_time == Some(PreferredTime::Weekends) {
                    node.preferred_time = None;
                }
                let range = EffortRange(90, 100, 110).around(minutes);
                self.plan.efforts.insert(node.id.clone(), range);
            }
            for link in self.plan.links.iter_mut().skip(before) {
                link.lag = InstanceLag::exactly(NEXT_DAY);
                "a body needs a night between two sessions".clone_into(&mut link.why);
            }
        }
    }

    /// Returns how many days of a week have hours: whoever trains on three days has three sessions.
    fn open_days(&self, first: Date, days: u32) -> usize {
        let calendar = &self.inputs.context.calendar;
        let dates = (0..i64::from(days)).map(|offset| dates::add_days(first, offset));
        let count = dates.filter(|date| calendar.has_hours_on(*date)).count();
        if days < 7 { count } else { count.max(1) }
    }

    /// Returns the days of the sessions of a week, with days of rest in between and the longest session on the weekend;
    /// none if the days that are left hold too few.
    fn session_days(
        &self,
        first: Date,
        days: u32,
        (count, longest): (usize, Option<usize>),
    ) -> Vec<Option<Date>> {
        if count == 0 {
            return Vec::new();
        }
        let calendar = &self.inputs.context.calendar;
        let open = |day: &Weekday| calendar.working.get(day).is_some_and(|hours| !hours.is_empty());
        let usual = WEEK_PATTERNS.get(count.saturating_sub(1)).copied().unwrap_or(&Weekday::ALL);
        let week: Vec<Weekday> = if usual.iter().all(open) {
            usual.to_vec()
        } else {
            self.spread_days(u16::try_from(count).unwrap_or(7))
        };
        let dates = (0..i64::from(days)).map(|offset| dates::add_days(first, offset));
        // On a holiday nobody trains, and the weeks after it stay where they are.
        let fits =
            |date: &Date| week.contains(&Weekday::from_date(*date)) && calendar.has_hours_on(*date);
        let mut dates: Vec<Date> = dates.filter(fits).collect();
        if dates.len() < count {
            let all = (0..i64::from(days)).map(|offset| dates::add_days(first, offset));
            dates = all.filter(|date| calendar.has_hours_on(*date)).collect();
            // Every other day, if there are days enough.
            if dates.len() >= 2 * count {
                dates = dates.into_iter().step_by(2).collect();
            }
        }
        if dates.len() < count {
            return vec![None; count];
        }
        let long_day = dates.iter().rposition(|date| is_weekend(*date)).unwrap_or(dates.len() - 1);
        let long_day = dates.remove(long_day);
        // What is fast comes first in a file; it is done in the middle of the week, and not the day before a long run.
        dates.sort_by_key(|date| (is_weekend(*date), *date));
        let mut others = dates.into_iter();
        (0..count)
            .map(|place| if longest == Some(place) { Some(long_day) } else { others.next() })
            .collect()
    }

    /// Without this link a light week would be trained in the previous one.
    fn link_to_previous_week(&mut self, week: &TaskId) {
        let weeks = self.plan.nodes.iter().rev().filter(|node| node.node_type == NodeType::SubGoal);
        let Some(before) = weeks.skip(1).map(|node| node.id.clone()).next() else { return };
        self.link_nodes(InstanceLink {
            from: before,
            to: week.clone(),
            kind: LinkKind::SS,
            lag: InstanceLag::exactly(NEXT_WEEK),
            why: "each week's load belongs to its own week".to_owned(),
        });
    }
}

fn share_sum(sessions: &[&(usize, &BlueprintTask)]) -> u32 {
    sessions.iter().map(|(_, task)| task.share.unwrap_or(1)).sum()
}

fn is_weekend(date: Date) -> bool {
    matches!(Weekday::from_date(date), Weekday::Sat | Weekday::Sun)
}

/// Returns the place of the session for the weekend: the one that its file wants there, or else the longest.
fn longest_session(sessions: &[&(usize, &BlueprintTask)]) -> Option<usize> {
    let on_weekend =
        |(_, task): &&(usize, &BlueprintTask)| task.prefer == Some(BlueprintPreference::Weekends);
    let largest = sessions.iter().enumerate().max_by_key(|(_, (_, task))| task.share.unwrap_or(1));
    sessions.iter().position(on_weekend).or(largest.map(|(place, _)| place))
}

/// Keeps the sessions with the largest shares of the week, in their order.
fn keep_main_sessions(sessions: &mut Vec<&(usize, &BlueprintTask)>, most: usize) {
    if sessions.len() <= most {
        return;
    }
    let mut shares: Vec<u32> = sessions.iter().map(|(_, task)| task.share.unwrap_or(0)).collect();
    shares.sort_unstable_by(|a, b| b.cmp(a));
    let least = shares.get(most.saturating_sub(1)).copied().unwrap_or(0);
    // The larger ones first, so that equals do not take their places.
    let larger = sessions.iter().filter(|(_, task)| task.share.unwrap_or(0) > least).count();
    let mut equals = most.saturating_sub(larger);
    sessions.retain(|(_, task)| {
        let share = task.share.unwrap_or(0);
        let keeps = match share.cmp(&least) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Equal => equals > 0,
            std::cmp::Ordering::Less => false,
        };
        equals -= usize::from(keeps && share == least);
        keeps
    });
}
