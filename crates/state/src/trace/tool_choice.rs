//! Why an agent took the tool it took, read from the step that says what it did.

use planwright_model::PrdvPhase;
use planwright_model::event::{Event, Record};
use planwright_model::tool_choice::{ToolAffinity, ToolSelection};
use planwright_text::units::format_confidence;

/// The part of its loop (plan, research, debate, validate) that a step of an agent says it belongs to.
pub fn prdv_phase(event: &Event) -> Option<PrdvPhase> {
    let Event::Agent(event) = event else { return None };
    event.react_step()?.metadata.prdv
}

/// Why this tool and no other, in one line. `None` for steps that chose nothing.
pub fn explain_tool_choice(record: &Record) -> Option<String> {
    let Event::Agent(event) = &record.event else { return None };
    let choice = event.react_step()?.metadata.choice.as_deref()?;
    let ToolSelection { tool, affinity, given, others, left_out } = choice;
    let mut text = format!("{tool} {}", format_confidence(affinity.score, 2));
    if *given {
        text.push_str(", given in the plan");
    } else {
        text.push_str(" = ");
        text.push_str(&score_parts(affinity));
    }
    let others: Vec<String> = others
        .iter()
        .map(|(other, score)| format!("{other} {}", format_confidence(*score, 2)))
        .collect();
    if !others.is_empty() {
        text.push_str(" · next ");
        text.push_str(&others.join(", "));
    }
    let left_out: Vec<String> =
        left_out.iter().map(|(other, why)| format!("{other} {}", why.replace('_', " "))).collect();
    if !left_out.is_empty() {
        text.push_str(" · left out: ");
        text.push_str(&left_out.join(", "));
    }
    Some(text)
}

/// The parts of a score with their weights, in the order in which they are added up.
fn score_parts(affinity: &ToolAffinity) -> String {
    let ToolAffinity { fit, past, context, cost, .. } = *affinity;
    [(".4", "fit", fit), (".3", "past", past), (".2", "context", context), (".1", "cost", cost)]
        .map(|(weight, name, value)| format!("{weight} × {name} {}", format_confidence(value, 2)))
        .join(" + ")
}

#[cfg(test)]
mod tests {
    use planwright_model::Seq;

    use super::*;

    /// The record of an action with this choice, as the journal has it.
    fn acted(choice: &str) -> Record {
        let row = format!(
            r#"{{"topic":"agent","body":{{"kind":"acted","task":"port","attempt":1,"step":{{
            "timestamp":"1970-01-01T00:00:00Z","task_id":"port","action":"action",
            "content":"file.edit src/error.rs","tool_used":"file.edit",
            "metadata":{{"choice":{choice}}}}}}}}}"#
        );
        let event = Event::decode(row.as_bytes()).unwrap();
        Record::new(Seq(1), jiff::Timestamp::UNIX_EPOCH, event)
    }

    #[test]
    fn the_parts_of_a_score_stand_with_their_weights() {
        let record = acted(
            r#"{
            "tool": "file.edit",
            "affinity": {"fit": 0.85, "past": 0.84, "context": 0.5, "cost": 0.75, "score": 0.77},
            "others": [["shell.run", 0.71]],
            "left_out": [["test.run", "breaker_open"]]
        }"#,
        );
        assert_eq!(
            explain_tool_choice(&record).unwrap(),
            "file.edit .77 = .4 × fit .85 + .3 × past .84 + .2 × context .50 + .1 × cost .75 \
             · next shell.run .71 · left out: test.run breaker open"
        );
    }

    #[test]
    fn a_score_from_the_plan_says_so() {
        let record = acted(r#"{"tool": "grep", "affinity": {"score": 0.9}, "given": true}"#);
        assert_eq!(explain_tool_choice(&record).unwrap(), "grep .90, given in the plan");
    }

    #[test]
    fn a_malformed_choice_says_nothing() {
        for odd in ["null", "[]", r#"{"tool": 3}"#, r#"{"tool": "x", "affinity": 1}"#] {
            assert_eq!(explain_tool_choice(&acted(odd)), None);
        }
    }
}
