//! Iterations that are used up, and how much an agent thinks before it acts.

use serde_json::{Value, json};

use super::{AgentEnv, ModelAnswer, code, words};
use crate::program::json_lines;

fn saves(count: usize) -> Vec<ModelAnswer<'static>> {
    let save = |number: usize| {
        let args = json!({"key": format!("k{number}"), "text": format!("note {number}")});
        ("Another note.", Some(("memory.save", args)))
    };
    (0..count).map(save).collect()
}

#[test]
fn without_a_person_a_task_fails_at_its_limit_and_a_retry_begins_anew() {
    let env = AgentEnv::new("react_max_iterations = 3\n");
    let provider = env.tape("tape", &saves(12));
    let plan = env.plan("generic", "Take notes", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 1, "{}", words(&output));
    assert!(words(&output).contains("stopped at a limit"), "{}", words(&output));
    assert_eq!(env.tools().len(), 3, "{:?}", env.tools());
    let asked = env.bodies("approval", "asked").pop().unwrap()["request"].clone();
    assert_eq!(asked["kind"]["about"], "task_cap", "{asked}");
    let offered: Vec<&Value> =
        asked["choices"].as_array().unwrap().iter().map(|choice| &choice["action"]).collect();
    assert_eq!(offered, ["go_on", "hand_to_me", "stop_task"]);
    let provider = env.tape("later", &[("No more notes.", None)]);
    let output = env.run(&provider, &["resume", "last", "--retry", "failed"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    assert_eq!(env.answer().as_deref(), Some("No more notes."));
    env.require_intact_store();
}

#[test]
fn the_reasoning_mode_is_a_setting() {
    let decision = json!({"_type": "PLANNER_DECISION", "action": "EXECUTE", "task_type": "generic",
        "goals": ["Say hello"], "reasoning": "short is good"})
    .to_string();
    let done =
        json!({"action": "COMPLETE", "task_type": "generic", "goals": [], "reasoning": "said"})
            .to_string();
    let faults = |list: &[&str]| json!({"contradictions": list, "missing_facts": [], "broken_constraints": []});
    let (one, none) = (faults(&["too long"]).to_string(), faults(&[]).to_string());
    let debate: [ModelAnswer<'_>; 8] = [
        ("A long speech.", None),
        (&one, None),
        (&decision, None),
        ("One word.", None),
        (&none, None),
        (&decision, None),
        ("Hello.", None),
        (&done, None),
    ];
    let env = AgentEnv::new("reasoning_mode = \"dialectical\"\nloops = 2\n");
    let provider = env.tape("tape", &debate);
    let plan = env.plan("generic", "Greet", "");
    let output = env.run(&provider, &["run", &plan, "--yes"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let thoughts = env.bodies("agent", "thought");
    let of = |name: &str| -> Vec<String> {
        let word = |body: &Value| body["step"]["metadata"][name].as_str().map(str::to_owned);
        thoughts.iter().filter_map(word).collect()
    };
    let round = ["proposer", "critic", "synthesizer"];
    assert_eq!(of("agent_role")[..6], [round, round].concat());
    assert_eq!(of("prdv")[..3], ["plan", "debate", "validate"]);
    // A trace can be read by these labels alone.
    let traces = json_lines(&env.place.run(&["sessions", "traces", "last", "--json"]));
    let id = traces[0]["trace_id"].as_str().unwrap();
    let shown = |more: &[&str]| -> Vec<Value> {
        let args = [&["sessions", "show", "last", "--json", "--trace", id], more].concat();
        let output = env.place.run(&args);
        let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
        trace["steps"].as_array().unwrap().clone()
    };
    let critics = shown(&["--prdv", "debate"]);
    assert_eq!(critics.len(), 2, "{critics:?}");
    assert!(critics.iter().all(|step| step["metadata"]["agent_role"] == "critic"), "{critics:?}");
    assert!(shown(&[]).len() > critics.len());

    // In direct mode there is no debate; without a setting, the `--gate` flag decides.
    let env = AgentEnv::new("reasoning_mode = \"direct\"\n");
    let provider = env.tape("tape", &[("Hello.", None)]);
    let plan = env.plan("generic", "Greet", "");
    assert_eq!(code(&env.run(&provider, &["run", &plan, "--yes"])), 0);
    assert_eq!(env.bodies("agent", "thought").len(), 1);
    let scouted = |env: &AgentEnv| {
        let decided = env.bodies("agent", "decided");
        let find = |kind: &str| {
            decided.iter().map(|body| &body["decision"]).find(|one| one["_type"] == kind).cloned()
        };
        (find("SCOUT_COMPLETED"), find("GATE_DECISION"))
    };
    assert_eq!(scouted(&env), (None, None));
    let env = AgentEnv::new("");
    let provider = env.tape("tape", &debate[3..]);
    let plan = env.plan("generic", "Greet", "");
    let output = env.run(&provider, &["run", &plan, "--yes", "--gate", "force_debate"]);
    assert_eq!(code(&output), 0, "{}", words(&output));
    let (scout, gate) = scouted(&env);
    let scout = scout.unwrap();
    for field in ["tokens", "elapsed_ms", "cost", "signals"] {
        assert!(!scout[field].is_null(), "{field} in {scout}");
    }
    assert_eq!(gate.unwrap()["reason"], "force_full");
    // The debate starts from the scout's observations.
    let first = env.prompts().into_iter().next().unwrap();
    assert!(first.contains("\"scout\""), "{first}");
}
