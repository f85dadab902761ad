//! Typed ids. An id says what it names, so that a task cannot be passed where a request is meant.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identifies a saved session: twelve hexadecimal digits, random, so that a short prefix is enough to name it.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// How many characters of the id a screen shows.
    pub const SHORT: usize = 6;

    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Takes the random tail of a fresh UUID.
    pub fn from_uuid(uuid: uuid::Uuid) -> Self {
        let text = uuid.simple().to_string();
        Self(text[text.len() - 12..].into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form a screen shows.
    pub fn short_id(&self) -> &str {
        self.0.get(..Self::SHORT).unwrap_or(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a task over outline, roadmap, schedule and graph. Never reused within a session.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TaskId(Arc<str>);

impl TaskId {
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Finds the task that this id belongs to: the one of this name or, for a subtask, the one with the longest name
    /// before a dot. Ids of a plan may contain dots, so that `a.1` is a subtask of `a` only where no task is named `a.1`.
    pub fn find_owner<T>(&self, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut id = self.as_str();
        loop {
            if let Some(owner) = find(id) {
                return Some(owner);
            }
            id = id.rsplit_once('.')?.0;
        }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TaskId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for TaskId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl Borrow<str> for TaskId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The place of an event in its session: 1, 2, 3 and so on, without gaps. Zero means "before the first event".
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    pub const START: Seq = Seq(0);

    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Numbers the requests of a session in the order they were asked; shown as `q3`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct RequestId(pub u32);

impl RequestId {
    /// Stands in the request of an agent until the driver numbers it.
    pub const UNASSIGNED: Self = Self(0);
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "q{}", self.0)
    }
}

impl std::str::FromStr for RequestId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix('q').unwrap_or(text).parse().map(Self)
    }
}

/// Names one tool call as task, attempt and step. Never random, so that a resumed run names the same call alike.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct CallId {
    pub task: TaskId,
    pub attempt: u32,
    pub step: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.task, self.attempt, self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_twelve_random_digits_with_a_short_form() {
        let id = SessionId::from_uuid(uuid::Uuid::now_v7());
        assert_eq!(id.as_str().len(), 12);
        assert_eq!(id.short_id().len(), 6);
        assert!(id.as_str().starts_with(id.short_id()));
    }

    #[test]
    fn an_id_belongs_to_the_longest_task_id_that_matches() {
        let tasks = ["a", "a.1", "b"];
        let owner =
            |id: &str| TaskId::from(id).find_owner(|id| tasks.into_iter().find(|task| *task == id));
        for (id, expected) in [
            ("a", Some("a")),
            ("a.1", Some("a.1")),
            ("a.1.2", Some("a.1")),
            ("a.2.1", Some("a")),
            ("a.10", Some("a")),
            ("ab", None),
            ("c.1", None),
        ] {
            assert_eq!(owner(id), expected, "{id}");
        }
    }

    #[test]
    fn request_ids_parse_with_and_without_their_letter() {
        assert_eq!("q7".parse(), Ok(RequestId(7)));
        assert_eq!("7".parse(), Ok(RequestId(7)));
        assert!("x".parse::<RequestId>().is_err());
    }
}
