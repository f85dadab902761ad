//! Topic packs: what there is to learn about a subject, in order.

use serde::Deserialize;
use toml::Spanned;

/// One topic pack file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicPack {
    /// Subjects that the pack is for, in lower case.
    pub subjects: Vec<String>,
    /// What the project of the course is: "a command-line tool".
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
    /// Whether the pack is for the subject: one of its names occurs in it as whole words.
    pub fn covers_subject(&self, subject: &str) -> bool {
        let subject = format!(" {} ", subject.to_lowercase());
        self.subjects.iter().any(|name| subject.contains(&format!(" {name} ")))
    }
}
