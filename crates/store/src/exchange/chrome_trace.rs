//! A session as a trace for timeline viewers: Perfetto, `chrome://tracing`, Speedscope. The spans are those of the
//! OpenTelemetry export, laid out in lanes: what ran at the same time stands in different ones.

use serde_json::{Map, Value, json};

use super::otlp;
use planwright_model::SessionId;
use planwright_model::event::Record;

/// The process of all lanes.
const PROCESS: u64 = 1;

/// Renders all spans as complete events (`ph` X) with times in microseconds since the session began, lanes with names, and
/// dependencies as arrows.
pub fn render_chrome_trace(session: &SessionId, title: &str, records: &[Record]) -> Value {
    let document = otlp::session_spans(session, title, records);
    let mut spans: Vec<TimedSpan> = document
        .pointer("/resourceSpans/0/scopeSpans/0/spans")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(TimedSpan::from_otlp)
        .collect();
    // A span begins before what happens inside it, and is written first.
    spans.sort_by(|a, b| (a.start, b.end, &a.id).cmp(&(b.start, a.end, &b.id)));
    let origin = spans.iter().map(|span| span.start).min().unwrap_or_default();
    let lanes = assign_lanes(&spans);
    let mut events = vec![json!({
        "ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "ts": 0, "args": { "name": title },
    })];
    for lane in 0..=lanes.iter().copied().max().unwrap_or_default() {
        let name = if lane == 0 { "run".to_owned() } else { format!("lane {lane}") };
        events.push(json!({
            "ph": "M", "name": "thread_name", "pid": PROCESS, "tid": lane, "ts": 0, "args": { "name": name },
        }));
    }
    for (span, lane) in spans.iter().zip(&lanes) {
        events.push(json!({
            "ph": "X", "name": span.name, "cat": span.category(), "pid": PROCESS, "tid": lane,
            "ts": micros(span.start - origin), "dur": micros(span.end - span.start), "args": span.arguments,
        }));
    }
    add_arrows(&spans, &lanes, origin, &mut events);
    json!({
        "displayTimeUnit": "ms",
        "otherData": { "session": session.as_str(), "version": env!("CARGO_PKG_VERSION") },
        "traceEvents": events,
    })
}

/// Nanoseconds as microseconds, which may have a fraction.
fn micros(nanos: i128) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a viewer shows far fewer digits")]
    let micros = nanos as f64 / 1_000.0;
    json!(micros)
}

/// A span with its times in nanoseconds.
#[derive(Debug)]
struct TimedSpan {
    id: String,
    parent: Option<String>,
    name: String,
    start: i128,
    end: i128,
    /// The spans that had to end before.
    after: Vec<String>,
    arguments: Map<String, Value>,
}

impl TimedSpan {
    fn from_otlp(span: &Value) -> Option<Self> {
        let text = |name: &str| span.get(name).and_then(Value::as_str);
        let mut arguments = Map::new();
        for attribute in span.get("attributes").and_then(Value::as_array).into_iter().flatten() {
            let Some(key) = attribute.get("key").and_then(Value::as_str) else { continue };
            let value = attribute.get("value").and_then(Value::as_object);
            if let Some(value) = value.and_then(|value| value.values().next()) {
                arguments.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(message) = span.pointer("/status/message") {
            arguments.insert("error".to_owned(), message.clone());
        }
        let links = span.get("links").and_then(Value::as_array).into_iter().flatten();
        let after = links.filter_map(|link| Some(link.get("spanId")?.as_str()?.to_owned()));
        Some(Self {
            id: text("spanId")?.to_owned(),
            parent: text("parentSpanId").map(str::to_owned),
            name: text("name")?.to_owned(),
            start: text("startTimeUnixNano")?.parse().ok()?,
            end: text("endTimeUnixNano")?.parse().ok()?,
            after: after.collect(),
            arguments,
        })
    }

    fn category(&self) -> &'static str {
        let failed = self.arguments.contains_key("error");
        match (failed, self.arguments.contains_key("planwright.task.id"), &self.parent) {
            (true, ..) => "failed",
            (false, true, _) => "task",
            (false, false, None) => "run",
            (false, false, Some(_)) => "call",
        }
    }
}

/// What stands in a lane: when its last span ends, and which spans enclose the next one.
#[derive(Debug, Default)]
struct TraceLane {
    /// Ids and ends of the spans that have not ended where the next one begins.
    open: Vec<(String, i128)>,
}

impl TraceLane {
    /// Whether a span may stand here: nothing is open, or only spans that enclose it and one of them is its parent.
    fn takes(&mut self, span: &TimedSpan) -> bool {
        self.open.retain(|(_, end)| *end > span.start);
        self.open
            .last()
            .is_none_or(|(id, end)| span.parent.as_ref() == Some(id) && *end >= span.end)
    }
}

/// The lane of each span: that of its parent where it fits, else the first that is free.
fn assign_lanes(spans: &[TimedSpan]) -> Vec<usize> {
    let mut lanes: Vec<TraceLane> = vec![TraceLane::default()];
    let mut assigned = Vec::with_capacity(spans.len());
    for span in spans {
        // The run is alone in the first lane, so that tasks stand side by side.
        let first = usize::from(span.parent.is_some());
        let home = (first..lanes.len())
            .find(|lane| lanes[*lane].open.iter().any(|(id, _)| span.parent.as_ref() == Some(id)));
        let candidates = home.into_iter().chain(first..lanes.len());
        let free = candidates.into_iter().find(|lane| lanes[*lane].takes(span));
        let lane = free.unwrap_or_else(|| {
            lanes.push(TraceLane::default());
            lanes.len() - 1
        });
        lanes[lane].open.push((span.id.clone(), span.end));
        assigned.push(lane);
    }
    assigned
}

/// Arrows from the end of a task to the start of the one that waited for it.
fn add_arrows(spans: &[TimedSpan], lanes: &[usize], origin: i128, events: &mut Vec<Value>) {
    let mut number = 0_u64;
    for (span, lane) in spans.iter().zip(lanes) {
        for before in &span.after {
            let Some(place) = spans.iter().position(|other| other.id == *before) else { continue };
            let (source, target) = (&spans[place], span);
            number += 1;
            // An arrow starts inside its span, not on the border.
            let left = (source.end - origin - 1).max(source.start - origin);
            events.push(json!({
                "ph": "s", "name": "then", "cat": "after", "id": number, "pid": PROCESS,
                "tid": lanes[place], "ts": micros(left),
            }));
            events.push(json!({
                "ph": "f", "bp": "e", "name": "then", "cat": "after", "id": number, "pid": PROCESS,
                "tid": lane, "ts": micros(target.start - origin),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(id: &str, parent: Option<&str>, start: i128, end: i128) -> TimedSpan {
        TimedSpan {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            name: id.to_owned(),
            start,
            end,
            after: Vec::new(),
            arguments: Map::new(),
        }
    }

    #[test]
    fn what_runs_at_once_stands_in_lanes_and_calls_inside_their_task() {
        let spans = [
            span("run", None, 0, 100),
            span("a", Some("run"), 0, 50),
            span("a.call", Some("a"), 5, 20),
            span("b", Some("run"), 10, 60),
            span("a.other", Some("a"), 15, 45),
            span("c", Some("run"), 60, 90),
        ];
        // The second call of `a` overlaps the first, so it stands beside it.
        assert_eq!(assign_lanes(&spans), [0, 1, 1, 2, 3, 1]);
    }
}
