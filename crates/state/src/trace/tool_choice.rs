//! Why an agent took the tool it took, read from the step that says what it did.

use serde_json::Value;

use planwright_model::event::{Event, Record};
use planwright_text::units::format_confidence;

/// The parts of a score with their weights, in the order in which they are added up.
const SCORE_PARTS: [(&str, &str); 4] =
    [(".4", "fit"), (".3", "past"), (".2", "context"), (".1", "cost")];

/// The part of its loop (plan, research, debate, validate) that a step of an agent says it belongs to.
pub fn prdv_phase(event: &Event) -> Option<&str> {
    let Event::Agent(event) = event else { return None };
    event.react_step()?.metadata.get("prdv")?.as_str()
}

/// Why this tool and no other, in one line. `None` for steps that chose nothing.
pub fn explain_tool_choice(record: &Record) -> Option<String> {
    let Event::Agent(event) = &record.event else { return None };
    let choice = event.react_step()?.metadata.get("choice")?;
    let number = |name: &str| choice.get("affinity")?.get(name)?.as_f64();
    let tool = choice.get("tool")?.as_str()?;
    let mut text = format!("{tool} {}", format_confidence(number("score")?, 2));
    if choice.get("given").and_then(Value::as_bool) == Some(true) {
        text.push_str(", given in the plan");
    } else {
        let parts: Vec<String> = SCORE_PARTS
            .iter()
            .filter_map(|(weight, name)| {
                Some(format!("{weight} × {name} {}", format_confidence(number(name)?, 2)))
            })
            .collect();
        text.push_str(" = ");
        text.push_str(&parts.join(" + "));
    }
    let pairs = |name: &str| choice.get(name).and_then(Value::as_array).into_iter().flatten();
    let others: Vec<String> = pairs("others")
        .filter_map(|pair| {
            Some(format!("{} {}", pair[0].as_str()?, format_confidence(pair[1].as_f64()?, 2)))
        })
        .collect();
    if !others.is_empty() {
        text.push_str(" · next ");
        text.push_str(&others.join(", "));
    }
    let left_out: Vec<String> = pairs("left_out")
        .filter_map(|pair| {
            Some(format!("{} {}", pair[0].as_str()?, pair[1].as_str()?.replace('_', " ")))
        })
        .collect();
    if !left_out.is_empty() {
        text.push_str(" · left out: ");
        text.push_str(&left_out.join(", "));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use planwright_model::event::AgentEvent;
    use planwright_model::{ReActStep, Seq, StepAction};

    fn acted(choice: Value) -> Record {
        let mut step = ReActStep {
            timestamp: jiff::Timestamp::UNIX_EPOCH,
            task_id: "port".into(),
            action: StepAction::Action,
            content: "file.edit src/error.rs".to_owned(),
            tool_used: Some("file.edit".to_owned()),
            tool_input: None,
            tool_output: None,
            confidence_score: None,
            metadata: serde_json::Map::new(),
        };
        step.metadata.insert("choice".to_owned(), choice);
        let event = AgentEvent::from_step("port".into(), 1, step);
        Record::new(Seq(1), jiff::Timestamp::UNIX_EPOCH, event)
    }

    #[test]
    fn the_parts_of_a_score_stand_with_their_weights() {
        let affinity =
            json!({"fit": 0.85, "past": 0.84, "context": 0.5, "cost": 0.75, "score": 0.77});
        let record = acted(json!({
            "tool": "file.edit",
            "affinity": affinity,
            "others": [["shell.run", 0.71]],
            "left_out": [["test.run", "breaker_open"]],
        }));
        assert_eq!(
            explain_tool_choice(&record).unwrap(),
            "file.edit .77 = .4 × fit .85 + .3 × past .84 + .2 × context .50 + .1 × cost .75 \
             · next shell.run .71 · left out: test.run breaker open"
        );
    }

    #[test]
    fn a_score_from_the_plan_says_so() {
        let record = acted(json!({"tool": "grep", "affinity": {"score": 0.9}, "given": true}));
        assert_eq!(explain_tool_choice(&record).unwrap(), "grep .90, given in the plan");
    }

    #[test]
    fn a_malformed_choice_says_nothing() {
        for odd in [json!(null), json!([]), json!({"tool": 3}), json!({"tool": "x", "affinity": 1})]
        {
            assert_eq!(explain_tool_choice(&acted(odd)), None);
        }
    }
}
