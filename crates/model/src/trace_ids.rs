//! Ids of traces and spans, the same in an export as in the environment of commands.

use serde_json::json;

use crate::{CallId, Digest, SessionId};

/// The trace of a session: 32 hexadecimal digits.
pub fn session_trace_id(session: &SessionId) -> String {
    Digest::from_json(&json!(session.as_str())).as_str()[..32].to_owned()
}

/// The span of a call: 16 hexadecimal digits.
pub fn call_span_id(session: &SessionId, call: &CallId) -> String {
    named_span_id(session, &call.to_string())
}

/// The same for a call by its name.
pub fn named_span_id(session: &SessionId, call: &str) -> String {
    Digest::from_json(&json!([session.as_str(), call])).as_str()[..16].to_owned()
}

/// The value of `TRACEPARENT` for what a call starts, as W3C Trace Context has it.
pub fn call_trace_parent(session: &SessionId, call: &CallId) -> String {
    format!("00-{}-{}-01", session_trace_id(session), call_span_id(session, call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_parent_has_the_form_of_the_standard() {
        let call = CallId { task: "a".into(), attempt: 1, step: 1 };
        let text = call_trace_parent(&SessionId::new("s"), &call);
        let parts: Vec<&str> = text.split('-').collect();
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2]);
        let is_hex = |part: &&str| part.chars().all(|digit| matches!(digit, '0'..='9' | 'a'..='f'));
        assert!(parts.iter().all(is_hex), "{text}");
        let other = CallId { attempt: 2, ..call };
        assert_ne!(call_trace_parent(&SessionId::new("s"), &other), text);
    }
}
