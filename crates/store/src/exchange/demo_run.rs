//! The bundled demo run: a real journal, recorded by `assets/demo/record` and exported losslessly.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::ImportError;
use planwright_model::event::{Event, Record};
use planwright_model::{Seq, SessionId};

const DEMO_RUN: &[u8] = include_bytes!("../../../../assets/demo/release.jsonl.zst");
/// The plan of the demo run, for users who want to run it.
pub const PLAN: &str = include_str!("../../../../assets/demo/release.toml");

#[derive(Deserialize)]
struct DemoHeader {
    session: String,
}

#[derive(Deserialize)]
struct DemoLine {
    seq: Seq,
    at: Timestamp,
    event: Box<RawValue>,
}

/// The recorded session and its events.
pub fn load_demo_run() -> Result<(SessionId, Vec<Record>), ImportError> {
    let wrong = |error: String| ImportError::Other(format!("the bundled run: {error}"));
    let text = zstd::decode_all(DEMO_RUN).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
    let mut lines = text.lines();
    let header: DemoHeader = serde_json::from_str(lines.next().unwrap_or_default())
        .map_err(|error| wrong(error.to_string()))?;
    let record = |line: &str| {
        let line: DemoLine =
            serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let event =
            Event::decode(line.event.get().as_bytes()).map_err(|error| wrong(error.to_string()))?;
        Ok(Record { seq: line.seq, at: line.at, event })
    };
    Ok((SessionId::new(header.session), lines.map(record).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_state::{SessionState, SessionStatus};

    #[test]
    fn the_bundled_run_can_be_read_by_this_version() {
        let (_, records) = load_demo_run().unwrap();
        let state = SessionState::from_records(&records);
        assert_eq!((state.totals.anomalies, state.totals.unknown), (0, 0));
        assert_eq!(state.status(), SessionStatus::Done);
        let plan = planwright_plan::plan_file::parse_plan_file(
            PLAN,
            planwright_plan::plan_file::PlanFileFormat::Toml,
            "release.toml",
        )
        .unwrap()
        .plan;
        assert_eq!(state.tasks.len(), plan.tasks.len());
        assert!(records.len() > 60);
    }
}
