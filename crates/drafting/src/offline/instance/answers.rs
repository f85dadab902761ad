//! Time for others to answer, and how waiting times give way in a short plan.

use std::collections::BTreeMap;

use planwright_model::{LinkKind, NodeType, TaskId};
use planwright_text::{dates, units};

use super::dates::{add_days, days_between, usual_lead};
use super::link::{InstanceLag, WaitPolicy};
use super::{BlueprintLink, InstanceBuilder};

/// The share of a kind's own time below which its waiting times are cut.
const SHORT_RATIO: f64 = 0.75;

/// The share below which everybody is asked for an answer by the next day.
const PRESSED_RATIO: f64 = 0.15;

/// A plan with fewer days waits for a night at most.
const ANSWER_SPAN: u32 = 15;
/// A plan with fewer days has no time to wait for answers.
const LEAST_SPAN: u32 = 6;

/// A night, in minutes.
const NIGHT: i32 = 12 * 60;

/// What is asked of others, by the first word of a title, a word in it, and the days until the answer can be expected.
const ANSWERS: [(&[&str], &[&str], i32); 9] = [
    (&["get", "ask", "request", "collect", "show"], &["quote", "offers", "valuations"], 5),
    (&["choose", "compare"], &["room you reserve", "school"], 2),
    (&["reserve", "recruit", "poll"], &[""], 2),
    (&["open"], &["poll"], 2),
    (
        &["ask"],
        &["people", "couple", "guests", "reader", "landlord", "neighbor", "town", "owner"],
        2,
    ),
    (&["send", "give"], &["reader", "people", "colleague", "friend"], 2),
    (&["invite"], &[""], 2),
    (&["have"], &["checked", "reviewed", "approved", "read"], 2),
    (&["get"], &["approved", "confirmed"], 2),
];

/// Returns the days after which what a task asks of others can be expected.
fn answer_days(title: &str) -> Option<i32> {
    let lower = title.to_lowercase();
    let first = lower.split(' ').next().unwrap_or_default();
    let asked = ANSWERS.iter().find(|(verbs, words, _)| {
        verbs.contains(&first) && words.iter().any(|word| lower.contains(word))
    });
    asked.map(|(_, _, days)| *days)
}

impl InstanceBuilder<'_> {
    /// Gives others time to answer: nobody has three quotes on the evening on which they were asked for. A file that
    /// states a wait of its own keeps it; a plan that is short of time waits for a night.
    pub(super) fn wait_for_answers(&mut self) {
        let span = self.inputs.span;
        let room = days_between(span.start, span.day.unwrap_or(span.last_day)) + 1;
        if room < LEAST_SPAN {
            return;
        }
        let short = self.anchors.lead_ratio() < SHORT_RATIO || room < ANSWER_SPAN;
        let waits: BTreeMap<&TaskId, i32> = self
            .plan
            .nodes
            .iter()
            .filter(|node| node.recurrence.is_none() && node.node_type == NodeType::Task)
            .filter(|node| node.fixed_start.is_none())
            .filter_map(|node| Some((&node.id, answer_days(&node.title)?)))
            .collect();
        for link in &mut self.plan.links {
            let plain = link.kind == LinkKind::FS && link.lag == InstanceLag::None;
            if let Some(days) = waits.get(&link.from).filter(|_| plain) {
                let minutes = if short { NIGHT } else { days * 24 * 60 };
                link.lag = InstanceLag::Elapsed { minutes, least: 0 };
            }
        }
    }

    /// Waiting times hold. Only if there is far less time than the kind takes may they be cut, and the plan says so.
    pub(super) fn wait_policy(&mut self) -> WaitPolicy {
        let ratio = self.anchors.lead_ratio();
        if ratio >= SHORT_RATIO {
            return WaitPolicy::Keep;
        }
        let waits = |link: &BlueprintLink| {
            link.kind == LinkKind::FS && link.lag.is_some_and(|lag| lag.in_days() > 1)
        };
        if self.waiting.iter().any(|(_, link)| waits(link)) {
            let note = self.describe_short_time(ratio);
            self.plan.notes.push(note);
        }
        if ratio < PRESSED_RATIO { WaitPolicy::Press } else { WaitPolicy::Halve }
    }

    /// Says how much less time there is than usual, and when it would end if others take their time.
    fn describe_short_time(&self, ratio: f64) -> String {
        let span = self.inputs.span;
        let last = span.day.unwrap_or(span.last_day);
        let there = units::format_counted(
            usize::try_from(days_between(span.start, last) + 1).unwrap_or(usize::MAX),
            "day",
        );
        let usual = units::format_counted((*self.inputs.blueprint.weeks.get_ref()).into(), "week");
        let late = add_days(span.start, i64::from(usual_lead(self.inputs.blueprint)));
        let late = dates::format_date(late, span.start);
        let cut = if ratio < PRESSED_RATIO {
            "it only works if everybody answers by the next day"
        } else {
            "waiting times are cut, some to half"
        };
        let short =
            format!("Time is short: this usually takes {usual}, and there are {there}. So {cut}");
        // A wedding is on its day; what others can't do by then is done without them.
        if span.day.is_some() && self.inputs.goal.day.is_some() {
            return format!(
                "{short}; ask first those who are booked early, and have a second choice for each."
            );
        }
        format!("{short}; if others take their usual time, it is done about {late}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_have_days_to_answer() {
        assert_eq!(answer_days("Get 3 written quotes from movers"), Some(5));
        assert_eq!(answer_days("Open a group chat and poll date and budget"), Some(2));
        assert_eq!(answer_days("Write the draft and have it checked"), None);
        assert_eq!(answer_days("Have the design reviewed for security"), Some(2));
        assert_eq!(answer_days("Choose three songs to work toward"), None);
    }
}
