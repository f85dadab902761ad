//! Events as JSON: `{"topic":…,"body":{"kind":…}}`.
//!
//! Reading never loses what it does not understand: an unknown topic or kind, or a known kind whose fields do not fit,
//! becomes an [`UnknownEvent`] that is written back byte for byte.

use std::borrow::Cow;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{
    AgentEvent, ApprovalEvent, CallEvent, DeskEvent, Event, FactEvent, OutputStream, PlanEvent,
    PlanningEvent, RunEvent, SessionEvent, TaskEvent, WorktreeEvent,
};
use crate::{CallId, Digest, GraphFacts, NormalizationChange, Plan};

/// An event of a kind that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    topic: String,
    kind: String,
    json: String,
}

impl UnknownEvent {
    pub fn topic(&self) -> &str {
        &self.topic
    }

    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The event as it stands in the journal.
    pub fn raw_json(&self) -> &str {
        &self.json
    }
}

/// A row of the journal that is not an event at all.
#[derive(Debug, thiserror::Error)]
#[error("event is not readable JSON")]
pub struct EventDecodeError(#[from] serde_json::Error);

impl Event {
    /// Writes the event as the journal keeps it.
    pub fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Unknown(unknown) => Ok(unknown.json.clone().into_bytes()),
            known => serde_json::to_vec(known),
        }
    }

    /// Reads what [`Event::encode`] wrote, in this version or a newer one of the same major format.
    pub fn decode(bytes: &[u8]) -> Result<Self, EventDecodeError> {
        // The usual case by itself: a seek decodes a hundred of these and more.
        let envelope = serde_json::from_slice::<EventEnvelope<'_>>(bytes);
        if let Some(event) = envelope.ok().and_then(|envelope| envelope.decode_known()) {
            return Ok(event);
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    /// The wire name of what happened, such as `task.started`; the store keeps it beside the payload.
    pub fn kind(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Session(event) => event.kind(),
            Self::Plan(event) => event.kind(),
            Self::Approval(event) => event.kind(),
            Self::Run(event) => event.kind(),
            Self::Task(event) => event.kind(),
            Self::Call(event) => event.kind(),
            Self::Planning(event) => event.kind(),
            Self::Agent(event) => event.kind(),
            Self::Fact(event) => event.kind(),
            Self::Worktree(event) => event.kind(),
            Self::Desk(event) => event.kind(),
            Self::Unknown(unknown) => {
                return Cow::Owned(format!("{}.{}", unknown.topic, unknown.kind));
            }
        })
    }
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(tag = "topic", content = "body", rename_all = "snake_case")]
enum KnownEventRef<'a> {
    Session(&'a SessionEvent),
    Plan(&'a PlanEvent),
    Approval(&'a ApprovalEvent),
    Run(&'a RunEvent),
    Task(&'a TaskEvent),
    Call(&'a CallEvent),
    Planning(&'a PlanningEvent),
    Agent(&'a AgentEvent),
    Fact(&'a FactEvent),
    Worktree(&'a WorktreeEvent),
    Desk(&'a DeskEvent),
}

impl schemars::JsonSchema for Event {
    fn schema_name() -> Cow<'static, str> {
        "Event".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        KnownEventRef::json_schema(generator)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = match self {
            Self::Session(event) => KnownEventRef::Session(event),
            Self::Plan(event) => KnownEventRef::Plan(event),
            Self::Approval(event) => KnownEventRef::Approval(event),
            Self::Run(event) => KnownEventRef::Run(event),
            Self::Task(event) => KnownEventRef::Task(event),
            Self::Call(event) => KnownEventRef::Call(event),
            Self::Planning(event) => KnownEventRef::Planning(event),
            Self::Agent(event) => KnownEventRef::Agent(event),
            Self::Fact(event) => KnownEventRef::Fact(event),
            Self::Worktree(event) => KnownEventRef::Worktree(event),
            Self::Desk(event) => KnownEventRef::Desk(event),
            Self::Unknown(unknown) => {
                let raw = RawValue::from_string(unknown.json.clone()).map_err(S::Error::custom)?;
                return raw.serialize(serializer);
            }
        };
        known.serialize(serializer)
    }
}

#[derive(Deserialize)]
struct EventEnvelope<'a> {
    #[serde(borrow)]
    topic: Cow<'a, str>,
    #[serde(borrow)]
    body: &'a RawValue,
}

impl EventEnvelope<'_> {
    /// The event, if this version knows it.
    fn decode_known(&self) -> Option<Event> {
        let body = self.body.get();
        match &*self.topic {
            "session" => serde_json::from_str(body).map(Event::Session).ok(),
            "plan" => {
                decode_proposed(body).or_else(|| serde_json::from_str(body).ok()).map(Event::Plan)
            }
            "approval" => serde_json::from_str(body).map(Event::Approval).ok(),
            "run" => serde_json::from_str(body).map(Event::Run).ok(),
            "task" => serde_json::from_str(body).map(Event::Task).ok(),
            "call" => {
                decode_output(body).or_else(|| serde_json::from_str(body).ok()).map(Event::Call)
            }
            "planning" => serde_json::from_str(body).map(Event::Planning).ok(),
            "agent" => serde_json::from_str(body).map(Event::Agent).ok(),
            "fact" => serde_json::from_str(body).map(Event::Fact).ok(),
            "worktree" => serde_json::from_str(body).map(Event::Worktree).ok(),
            "desk" => serde_json::from_str(body).map(Event::Desk).ok(),
            _ => None,
        }
    }
}

/// Output is most of a long session. Read by itself it need not be buffered to find out what it is.
fn decode_output(body: &str) -> Option<CallEvent> {
    #[derive(Deserialize)]
    struct OutputBody {
        call: CallId,
        stream: OutputStream,
        text: String,
    }
    if !body.starts_with(r#"{"kind":"output","#) {
        return None;
    }
    let OutputBody { call, stream, text } = serde_json::from_str(body).ok()?;
    Some(CallEvent::Output { call, stream, text })
}

/// The same for plans, which are the largest events, and the first that a screen needs.
fn decode_proposed(body: &str) -> Option<PlanEvent> {
    #[derive(Deserialize)]
    struct ProposedBody {
        revision: u32,
        hash: Digest,
        plan: Arc<Plan>,
        facts: Arc<GraphFacts>,
        #[serde(default)]
        normalization: Vec<NormalizationChange>,
    }
    if !body.starts_with(r#"{"kind":"proposed","#) {
        return None;
    }
    let ProposedBody { revision, hash, plan, facts, normalization } =
        serde_json::from_str(body).ok()?;
    Some(PlanEvent::Proposed { revision, hash, plan, facts, normalization })
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Ok(envelope) = serde_json::from_str::<EventEnvelope<'_>>(raw.get()) else {
            // Not of our making, but still JSON: kept, so that an import loses nothing.
            serde_json::from_str::<serde::de::IgnoredAny>(raw.get()).map_err(D::Error::custom)?;
            return Ok(unknown_event("", raw.get()));
        };
        Ok(envelope.decode_known().unwrap_or_else(|| unknown_event(&envelope.topic, raw.get())))
    }
}

fn unknown_event(topic: &str, json: &str) -> Event {
    #[derive(Deserialize)]
    struct UnknownEnvelope {
        #[serde(default)]
        body: UnknownBody,
    }
    #[derive(Default, Deserialize)]
    struct UnknownBody {
        #[serde(default)]
        kind: String,
    }
    let kind = serde_json::from_str::<UnknownEnvelope>(json)
        .map(|outer| outer.body.kind)
        .unwrap_or_default();
    Event::Unknown(UnknownEvent { topic: topic.to_owned(), kind, json: json.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::arbitrary::event;
    use super::*;
    use crate::TaskId;

    #[test]
    fn an_event_is_written_with_topic_and_kind() {
        let event = Event::from(TaskEvent::HandedOver { task: TaskId::from("keys") });
        let json = r#"{"topic":"task","body":{"kind":"handed_over","task":"keys"}}"#;
        assert_eq!(String::from_utf8(event.encode().unwrap()).unwrap(), json);
        assert_eq!(event.kind(), "task.handed_over");
    }

    #[test]
    fn unknown_topics_kinds_and_misfits_are_kept_verbatim() {
        for json in [
            r#"{"topic":"weather","body":{"kind":"rained","mm":3}}"#,
            r#"{"topic":"task","body":{"kind":"teleported","task":"a"}}"#,
            r#"{"topic":"task","body":{"kind":"handed_over","task":7}}"#,
            r#"{"body":1}"#,
            "[1, 2]",
            "null",
        ] {
            let event = Event::decode(json.as_bytes()).unwrap();
            assert!(matches!(event, Event::Unknown(_)), "{json}");
            assert_eq!(event.encode().unwrap(), json.as_bytes());
            assert_eq!(serde_json::to_string(&event).unwrap(), json);
        }
    }

    #[test]
    fn an_unknown_event_says_what_it_claims_to_be() {
        let event = Event::decode(br#"{"topic":"weather","body":{"kind":"rained"}}"#).unwrap();
        assert_eq!(event.kind(), "weather.rained");
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        assert!(Event::decode(b"{\"topic\":").is_err());
        assert!(Event::decode(b"\xff").is_err());
    }

    proptest! {
        #[test]
        fn the_kind_is_the_topic_and_the_tag(event in event()) {
            let value: serde_json::Value = serde_json::from_slice(&event.encode().unwrap()).unwrap();
            let tags = (value["topic"].as_str().unwrap(), value["body"]["kind"].as_str().unwrap());
            prop_assert_eq!(event.kind(), format!("{}.{}", tags.0, tags.1));
        }

        #[test]
        fn writing_and_reading_back_is_the_identity(event in event()) {
            let bytes = event.encode().unwrap();
            let back = Event::decode(&bytes).unwrap();
            prop_assert_eq!(&back, &event);
            prop_assert_eq!(back.encode().unwrap(), bytes);
        }

        #[test]
        fn numbers_of_a_plan_survive_the_journal_with_the_same_digest(
            numbers in proptest::collection::vec(any::<f64>(), 1..8),
        ) {
            let mut task = crate::TaskNode::new("a", "Weigh it");
            for (at, number) in numbers.iter().enumerate().filter(|(_, number)| number.is_finite()) {
                task.tool_affinity.insert(format!("tool{at}"), *number);
                task.metadata.insert(format!("number{at}"), serde_json::json!(number));
            }
            let plan = crate::Plan { tasks: vec![task], ..crate::Plan::default() };
            let hash = plan.digest().unwrap();
            let event: Event = crate::event::PlanEvent::Proposed {
                revision: 1,
                hash: hash.clone(),
                plan: std::sync::Arc::new(plan.clone()),
                facts: std::sync::Arc::default(),
                normalization: Vec::new(),
            }
            .into();
            let back = Event::decode(&event.encode().unwrap()).unwrap();
            let Event::Plan(crate::event::PlanEvent::Proposed { plan: read, .. }) = back else {
                return Err(TestCaseError::fail("another event"));
            };
            prop_assert_eq!(&*read, &plan);
            prop_assert_eq!(read.digest().unwrap(), hash);
        }

        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Event::decode(&bytes);
        }
    }
}
