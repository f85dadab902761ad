//! Links between tasks: what must hold of one before another may start or finish.

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TaskId;

/// Which ends of two tasks a link ties together.
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
    JsonSchema,
)]
pub enum LinkKind {
    /// The successor starts after the predecessor finished.
    #[default]
    #[serde(alias = "finish_to_start", alias = "fs")]
    FS,
    /// The successor starts after the predecessor started.
    #[serde(alias = "start_to_start", alias = "ss")]
    SS,
    /// The successor finishes after the predecessor finished.
    #[serde(alias = "finish_to_finish", alias = "ff")]
    FF,
    /// The successor finishes after the predecessor started.
    #[serde(alias = "start_to_finish", alias = "sf")]
    SF,
}

/// Whether a lag counts working minutes or minutes on the clock.
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
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LagBasis {
    #[default]
    Working,
    Elapsed,
}

/// Who drew a link.
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
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LinkOrigin {
    #[default]
    System,
    UserFeedback,
    AiAdaptation,
    Inferred,
}

/// A dependency as its successor states it. Written as the bare id when only the id differs from the default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskLink {
    pub task: TaskId,
    pub kind: LinkKind,
    /// Negative means a lead.
    pub lag_minutes: i32,
    pub lag_basis: LagBasis,
    pub origin: LinkOrigin,
}

impl TaskLink {
    /// A plain finish-to-start link.
    pub fn finish_to_start(task: impl Into<TaskId>) -> Self {
        Self {
            task: task.into(),
            kind: LinkKind::FS,
            lag_minutes: 0,
            lag_basis: LagBasis::Working,
            origin: LinkOrigin::System,
        }
    }

    fn is_default_link(&self) -> bool {
        self.kind == LinkKind::FS
            && self.lag_minutes == 0
            && self.lag_basis == LagBasis::Working
            && self.origin == LinkOrigin::System
    }

    /// Whether the start of the successor waits for it: finish-to-finish and start-to-finish hold its end.
    pub fn blocks_execution(&self) -> bool {
        matches!(self.kind, LinkKind::FS | LinkKind::SS)
    }
}

/// A link with all of its fields.
#[derive(schemars::JsonSchema)]
#[schemars(rename = "TaskLinkFields")]
#[expect(dead_code, reason = "described, never read")]
struct TaskLinkFields {
    task: TaskId,
    kind: LinkKind,
    #[schemars(skip_serializing_if = "Option::is_none")]
    lag_minutes: Option<i32>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    lag_basis: Option<LagBasis>,
    #[schemars(skip_serializing_if = "Option::is_none")]
    origin: Option<LinkOrigin>,
}

impl schemars::JsonSchema for TaskLink {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskLink".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (id, fields) =
            (generator.subschema_for::<TaskId>(), generator.subschema_for::<TaskLinkFields>());
        schemars::json_schema!({ "anyOf": [id, fields] })
    }
}

impl Serialize for TaskLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_default_link() {
            return self.task.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("task", &self.task)?;
        map.serialize_entry("kind", &self.kind)?;
        if self.lag_minutes != 0 {
            map.serialize_entry("lag_minutes", &self.lag_minutes)?;
        }
        if self.lag_basis != LagBasis::Working {
            map.serialize_entry("lag_basis", &self.lag_basis)?;
        }
        if self.origin != LinkOrigin::System {
            map.serialize_entry("origin", &self.origin)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for TaskLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaskLinkVisitor)
    }
}

struct TaskLinkVisitor;

impl<'de> Visitor<'de> for TaskLinkVisitor {
    type Value = TaskLink;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a task id or a link with a task id")
    }

    fn visit_str<E: de::Error>(self, id: &str) -> Result<TaskLink, E> {
        Ok(TaskLink::finish_to_start(id))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TaskLink, A::Error> {
        let mut link = TaskLink::finish_to_start("");
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "task" => link.task = map.next_value()?,
                "kind" => link.kind = map.next_value()?,
                "lag_minutes" => link.lag_minutes = map.next_value()?,
                "lag_basis" => link.lag_basis = map.next_value()?,
                "origin" => link.origin = map.next_value()?,
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                }
            }
        }
        if link.task.as_str().is_empty() {
            return Err(de::Error::missing_field("task"));
        }
        Ok(link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_link_is_written_as_its_id() {
        let link = TaskLink::finish_to_start("build");
        assert_eq!(serde_json::to_string(&link).unwrap(), r#""build""#);
        assert_eq!(serde_json::from_str::<TaskLink>(r#""build""#).unwrap(), link);
    }

    #[test]
    fn a_link_with_kind_and_lag_round_trips() {
        let link = TaskLink {
            kind: LinkKind::SS,
            lag_minutes: -30,
            lag_basis: LagBasis::Elapsed,
            origin: LinkOrigin::Inferred,
            ..TaskLink::finish_to_start("docs")
        };
        let json = serde_json::to_string(&link).unwrap();
        assert_eq!(serde_json::from_str::<TaskLink>(&json).unwrap(), link);
    }

    #[test]
    fn long_kind_names_are_understood() {
        let link: TaskLink =
            serde_json::from_str(r#"{"task":"a","kind":"start_to_start"}"#).unwrap();
        assert_eq!(link.kind, LinkKind::SS);
    }
}
