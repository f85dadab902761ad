//! The topics for which the tasks of a learning phase are repeated.

use planwright_model::Role;

use super::super::template::Topic;

/// A topic as the tasks of a phase see it.
pub(super) struct PhaseTopic {
    pub(super) name: String,
    study: (String, String),
    practice: (String, String),
}

impl PhaseTopic {
    pub(super) fn from_topic(topic: &Topic) -> Self {
        Self {
            name: topic.name.get_ref().clone(),
            study: (topic.study.clone(), topic.studied_when.clone()),
            practice: (topic.practice.clone(), topic.practised_when.clone()),
        }
    }

    pub(super) fn numbered_unit(number: u32, subject: &str) -> Self {
        let study = format!(
            "Take the contents of your main course or book on {subject}, cut them into seven parts and work through part {number}."
        );
        let practice = format!(
            "Do the exercises of part {number}; where there are none, explain and use three things from it."
        );
        Self {
            name: format!("unit {number} of {subject}"),
            study: (
                study,
                "you can explain the part aloud in three minutes without notes".to_owned(),
            ),
            practice: (practice, "you did it once without looking anything up".to_owned()),
        }
    }

    pub(super) fn role_texts(&self, role: Role) -> (&str, &str) {
        let (description, done_when) =
            if role == Role::Practice { &self.practice } else { &self.study };
        (description, done_when)
    }
}
