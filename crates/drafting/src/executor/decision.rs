//! Reads decisions of the executor and the planner above it from what a model says, as the contracts write them.

use serde_json::Value;

use planwright_model::agent_decision::{ExecutorDecision, PlannerDecision, truncate_reasoning};

/// The number of positions in an answer at which an object is tried.
const MAX_POSITIONS: usize = 24;

/// The first decision of an executor written out in an answer, if one is.
pub fn find_executor_decision(text: &str) -> Option<ExecutorDecision> {
    find_json_objects(text).filter(|value| may_be(value, "EXECUTOR_DECISION")).find_map(|value| {
        let mut decision: ExecutorDecision = serde_json::from_value(value).ok()?;
        decision.reasoning = truncate_reasoning(&decision.reasoning);
        Some(decision)
    })
}

/// Reads a decision of a planner; what does not fit is said in words.
pub fn parse_planner_decision(value: Value) -> Result<PlannerDecision, String> {
    const TYPE: &str = "PLANNER_DECISION";
    if !may_be(&value, TYPE) {
        return Err(format!("unknown variant {}, expected `{TYPE}`", value["_type"]));
    }
    let mut decision: PlannerDecision =
        serde_json::from_value(value).map_err(|error| error.to_string())?;
    decision.reasoning = truncate_reasoning(&decision.reasoning);
    Ok(decision)
}

/// Models may leave the type out; one that names another type means something else.
fn may_be(value: &Value, kind: &str) -> bool {
    value.get("_type").is_none_or(|found| found == kind)
}

/// Returns complete JSON objects anywhere in a text, in order.
fn find_json_objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.match_indices('{').take(MAX_POSITIONS).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok().filter(Value::is_object)
    })
}

#[cfg(test)]
mod tests {
    use planwright_model::agent_decision::ExecutorAction;
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_a_decision_inside_other_text() {
        let text = "I will look.\n```json\n{\"_type\":\"EXECUTOR_DECISION\",\"action\":\"CALL_TOOL\",\"step\":\"read\",\"tool\":{\"name\":\"file.read\",\"args\":{\"path\":\"a\"}},\"reasoning\":\"x\"}\n```";
        let decision = find_executor_decision(text).unwrap();
        assert_eq!(decision.action, ExecutorAction::CallTool);
        assert_eq!(decision.tool.unwrap().args, json!({"path": "a"}));
        assert!(find_executor_decision("{not json} {\"a\": 1}").is_none());
    }

    #[test]
    fn a_decision_of_another_type_is_none() {
        let planner = r#"{"_type":"PLANNER_DECISION","action":"DONE"}"#;
        assert_eq!(find_executor_decision(planner), None);
        let executor = json!({"_type": "EXECUTOR_DECISION", "action": "EXECUTE"});
        assert!(parse_planner_decision(executor).unwrap_err().contains("EXECUTOR_DECISION"));
    }

    #[test]
    fn a_planner_that_says_little_means_generic() {
        let decision = parse_planner_decision(json!({"action": "EXECUTE"})).unwrap();
        assert_eq!((decision.task_type.as_str(), decision.goals.len()), ("generic", 0));
        assert!(parse_planner_decision(json!({"action": "DANCE"})).is_err());
    }
}
