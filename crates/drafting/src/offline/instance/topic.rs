//! The topics for which the tasks of a learning phase are repeated.

use super::super::blueprint::{BlueprintGroup, Topic};
use super::InstanceBuilder;

/// A topic as the tasks of a phase see it.
#[derive(Clone, Debug)]
pub(in super::super) struct PhaseTopic {
    pub(in super::super) name: String,
    pub(in super::super) study: String,
    pub(in super::super) studied_when: String,
    pub(in super::super) practice: String,
    pub(in super::super) practised_when: String,
}

impl PhaseTopic {
    fn from_topic(topic: &Topic) -> Self {
        Self {
            name: topic.name.get_ref().clone(),
            study: topic.study.clone(),
            studied_when: topic.studied_when.clone(),
            practice: topic.practice.clone(),
            practised_when: topic.practised_when.clone(),
        }
    }

    /// A part of the person's own book or course, for a subject without a topic pack.
    fn numbered_part(number: u32, parts: u32) -> Self {
        Self {
            name: format!("part {number} of {parts} of your main source"),
            study: format!(
                "Cut the contents of your main book or course into {parts} parts and work through part {number}."
            ),
            studied_when: "you can explain the part aloud in three minutes without notes"
                .to_owned(),
            practice: format!(
                "Do the exercises of part {number}; where there are none, use three things from it."
            ),
            practised_when: "you did it once without looking anything up".to_owned(),
        }
    }
}

/// The parts into which a course without known topics is cut, by phase: three at first, four after.
const PARTS: [(u32, u32); 2] = [(1, 3), (4, 7)];

impl InstanceBuilder<'_> {
    /// Returns the topics of a phase: from the pack, or else parts of the person's main source.
    pub(super) fn phase_topics(&self, group: &BlueprintGroup) -> Vec<PhaseTopic> {
        let key = group.key.as_ref().map(|key| key.get_ref().as_str()).unwrap_or_default();
        let known: Vec<PhaseTopic> = self
            .topics
            .iter()
            .filter(|topic| topic.phase == key)
            .map(PhaseTopic::from_topic)
            .collect();
        if !known.is_empty() {
            return known;
        }
        let repeated = self
            .inputs
            .blueprint
            .phases
            .iter()
            .filter(|phase| phase.tasks.iter().any(|task| task.per_topic));
        let place = repeated
            .take_while(|phase| phase.title.get_ref() != group.title.get_ref())
            .count()
            .min(PARTS.len() - 1);
        let (first, last) = PARTS[place];
        let parts = PARTS[PARTS.len() - 1].1;
        (first..=last).map(|number| PhaseTopic::numbered_part(number, parts)).collect()
    }
}
