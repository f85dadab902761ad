//! Topic packs: what there is to learn about a subject, in order.

use serde::Deserialize;
use toml::Spanned;

/// One topic pack file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicPack {
    /// Subjects that the pack covers, in lowercase.
    pub subjects: Vec<String>,
    /// The project of the course: "a command-line tool".
    pub project: String,
    #[serde(rename = "topic")]
    pub topics: Vec<Topic>,
}

/// One topic with what to study and what to try.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    pub name: Spanned<String>,
    /// The key of the phase it belongs to.
    pub phase: String,
    pub study: String,
    pub studied_when: String,
    pub practice: String,
    pub practised_when: String,
}

impl TopicPack {
    /// Returns whether the pack covers the subject: one of its names occurs in it as complete words.
    pub fn covers_subject(&self, subject: &str) -> bool {
        let subject = format!(" {} ", subject.to_lowercase());
        self.subjects.iter().any(|name| subject.contains(&format!(" {name} ")))
    }
}
