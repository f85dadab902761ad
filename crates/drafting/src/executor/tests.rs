//! The rules, by example and for arbitrary proposals.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::rules::SEARCHES_IN_A_ROW;
use planwright_model::agent_work::{AgentWork, CallPurpose, PlannedCall};

use super::*;

const LOOKUP: ToolFacts = ToolFacts { read_only: true, search_like: false };
const SEARCH: ToolFacts = ToolFacts { read_only: true, search_like: true };
const CHANGE: ToolFacts = ToolFacts { read_only: false, search_like: false };

fn facts(tool: &str) -> Option<ToolFacts> {
    match tool {
        "internet.research" | "web.search" => Some(SEARCH),
        "file.read" | "grep" | "web.fetch" | "memory.search" => Some(LOOKUP),
        "file.edit" | "file.write" | "test.run" | "skill.generator" | "memory.save" => Some(CHANGE),
        _ => None,
    }
}

fn begin(kind: &str) -> (TaskType, AgentWork) {
    // Loaded once: the property below starts ten thousand tasks.
    static TYPES: std::sync::OnceLock<TaskTypeLibrary> = std::sync::OnceLock::new();
    let kind = TYPES.get_or_init(TaskTypeLibrary::built_in).get(kind).unwrap().clone();
    let work = start_work(&kind, vec!["x".to_owned()], false);
    (kind, work)
}

fn call(tool: &str, args: Value) -> ModelProposal {
    ModelProposal::Call { step: None, tool: tool.to_owned(), args }
}

fn rule(kind: &TaskType, work: &mut AgentWork, proposal: &ModelProposal) -> ExecutorRuling {
    work.rule_on_proposal(kind, proposal, facts, &ExecutorLimits::default())
}

fn seen(ok: bool) -> ObservedCall {
    ObservedCall {
        ok,
        result: json!("r"),
        sources: Vec::new(),
        hits: Vec::new(),
        feedback: None,
        transient: false,
    }
}

/// Rules on a call and gives it a certain result.
fn done(kind: &TaskType, work: &mut AgentWork, tool: &str, args: Value, ok: bool) -> PlannedCall {
    match rule(kind, work, &call(tool, args)) {
        ExecutorRuling::Run(planned) => {
            work.observe_call(kind, &planned, facts(tool).unwrap(), seen(ok));
            planned
        }
        other => panic!("{tool} was not run: {other:?}"),
    }
}

#[test]
fn the_built_in_types_match_the_documentation() {
    let types = TaskTypeLibrary::built_in();
    let pattern = |name: &str| types.get(name).unwrap().step_names().join(" ");
    assert_eq!(pattern("skill_build"), "research generate verify");
    assert_eq!(pattern("code_modify"), "read understand edit verify");
    assert_eq!(pattern("code_create"), "design write test");
    assert_eq!(pattern("research"), "search visit extract synthesize");
    assert_eq!(pattern("memory_op"), "query update");
    assert_eq!(pattern("generic"), "act");
    let most = |name: &str| types.get(name).unwrap().max_steps;
    assert_eq!(["skill_build", "memory_op", "code_modify", "generic"].map(most), [3, 3, 5, 5]);
    let usual = |kind: &str, step: &str| {
        types.get(kind).unwrap().find_step(step).unwrap().tools.first().cloned().unwrap_or_default()
    };
    assert_eq!(usual("code_modify", "read"), "file.read");
    assert_eq!(usual("code_modify", "verify"), "test.run");
    assert_eq!(usual("research", "visit"), "web.fetch");
    assert_eq!(usual("memory_op", "update"), "memory.save");
}

#[test]
fn a_custom_type_needs_no_code_and_an_invalid_one_is_skipped() {
    let own =
        "name = \"tidy\"\ndescription = \"x\"\n[[steps]]\nname = \"look\"\ntools = [\"grep\"]";
    let broken =
        "name = \"odd\"\ndescription = \"x\"\n[[steps]]\nname = \"a\"\non_failure = [\"b\"]";
    let sources = [
        AssetSource { name: "tidy.toml", text: own },
        AssetSource { name: "odd.toml", text: broken },
    ];
    let (types, errors) = TaskTypeLibrary::with_overrides(&sources);
    assert!(types.get("tidy").is_some() && types.get("odd").is_none());
    assert_eq!(errors[0].to_string(), "odd.toml: the step a names b, which is no step");
    assert_eq!(types.get_or_generic("unheard of").name, "generic");
}

#[test]
fn a_repeated_research_is_replaced_by_generate() {
    let (kind, mut work) = begin("skill_build");
    done(&kind, &mut work, "internet.research", json!({"query": "a"}), true);
    let again = rule(&kind, &mut work, &call("internet.research", json!({"query": "b"})));
    assert!(matches!(again, ExecutorRuling::Instead { step, .. } if step == "generate"));
    assert_eq!(work.iteration, 2);
}

#[test]
fn context_replaces_research() {
    let kind = TaskTypeLibrary::built_in().get("skill_build").unwrap().clone();
    let work = start_work(&kind, Vec::new(), true);
    assert_eq!(work.state.pending_steps, ["generate", "verify"]);
}

#[test]
fn failing_tests_request_another_edit_and_the_third_escalates_to_the_planner() {
    let (kind, mut work) = begin("code_modify");
    done(&kind, &mut work, "file.read", json!({"path": "a"}), true);
    done(&kind, &mut work, "file.edit", json!({"n": 1}), true);
    assert!(work.state.is_step_completed("understand"), "weighed before the edit");
    done(&kind, &mut work, "test.run", json!({}), false);
    assert_eq!(work.state.pending_steps, ["edit", "verify"]);
    let same = rule(&kind, &mut work, &call("test.run", json!({})));
    assert!(matches!(same, ExecutorRuling::Reject { code: "same_args", .. }));
    done(&kind, &mut work, "file.edit", json!({"n": 2}), true);
    done(&kind, &mut work, "test.run", json!({}), false);
    let third = rule(&kind, &mut work, &call("file.edit", json!({"n": 3})));
    assert!(matches!(third, ExecutorRuling::Escalate { .. }), "{third:?}");
}

#[test]
fn a_check_made_before_the_edit_is_repeated_after_it() {
    let (kind, mut work) = begin("code_modify");
    done(&kind, &mut work, "test.run", json!({}), true);
    assert!(work.state.is_step_completed("verify"));
    done(&kind, &mut work, "file.read", json!({"path": "a"}), true);
    done(&kind, &mut work, "file.edit", json!({}), true);
    assert_eq!(work.state.pending_steps, ["verify"]);
}

#[test]
fn two_rejections_escalate_to_the_planner() {
    let (kind, mut work) = begin("code_modify");
    let done_already = ModelProposal::Done { answer: "done".to_owned() };
    assert!(matches!(
        rule(&kind, &mut work, &done_already),
        ExecutorRuling::Reject { code: "steps_pending", .. }
    ));
    assert!(matches!(rule(&kind, &mut work, &done_already), ExecutorRuling::Escalate { .. }));
    let (kind, mut work) = begin("code_modify");
    let elsewhere = ModelProposal::Call {
        step: Some("dance".into()),
        tool: "file.edit".into(),
        args: json!({}),
    };
    assert!(matches!(
        rule(&kind, &mut work, &elsewhere),
        ExecutorRuling::Reject { code: "step_not_pending", .. }
    ));
    assert!(matches!(rule(&kind, &mut work, &elsewhere), ExecutorRuling::Escalate { .. }));
}

#[test]
fn lookups_are_free_up_to_a_limit() {
    let (kind, mut work) = begin("generic");
    for at in 0..12 {
        let planned = done(&kind, &mut work, "grep", json!({ "pattern": at }), true);
        assert_eq!(planned.purpose, CallPurpose::Lookup);
    }
    assert_eq!((work.iteration, work.calls), (0, 0));
    let more = rule(&kind, &mut work, &call("grep", json!({"pattern": "x"})));
    assert!(matches!(more, ExecutorRuling::Reject { code: "lookups_used_up", .. }));
}

#[test]
fn a_generic_task_has_five_calls_unless_the_person_grants_more() {
    let (kind, mut work) = begin("generic");
    for at in 0..5 {
        done(&kind, &mut work, "file.write", json!({ "n": at }), true);
    }
    let sixth = call("file.write", json!({"n": 6}));
    assert!(matches!(rule(&kind, &mut work, &sixth), ExecutorRuling::Cap { cap: "max_steps", .. }));
    let granted = ExecutorLimits { granted: 2, ..ExecutorLimits::default() };
    assert!(matches!(
        work.rule_on_proposal(&kind, &sixth, facts, &granted),
        ExecutorRuling::Run(_)
    ));
    assert!(matches!(
        rule(&kind, &mut work, &ModelProposal::Text { text: "done".into() }),
        ExecutorRuling::Done { .. }
    ));
}

#[test]
fn research_stops_at_three_sources_or_without_new_results() {
    let (kind, mut work) = begin("research");
    let search = |work: &mut AgentWork, tool: &str, at: u32, sources: &[&str]| {
        let ExecutorRuling::Run(planned) = rule(&kind, work, &call(tool, json!({ "n": at })))
        else {
            panic!("not run")
        };
        let sources = sources.iter().map(|one| (*one).to_owned()).collect();
        work.observe_call(
            &kind,
            &planned,
            facts(tool).unwrap(),
            ObservedCall { sources, ..seen(true) },
        );
    };
    let mut dull = work.clone();
    search(&mut work, "internet.research", 1, &["a", "b", "c"]);
    assert_eq!(work.state.pending_steps, ["extract", "synthesize"]);
    search(&mut dull, "internet.research", 1, &[]);
    assert_eq!(dull.state.next_step(), Some("visit"));
    search(&mut dull, "grep", 2, &[]);
    assert_eq!(dull.state.pending_steps, ["extract", "synthesize"]);
}

#[test]
fn text_is_the_result_of_thinking_steps_and_otherwise_the_end() {
    let (kind, mut work) = begin("code_create");
    let text = ModelProposal::Text { text: "a small module".into() };
    assert_eq!(
        rule(&kind, &mut work, &text),
        ExecutorRuling::Thought { steps: vec!["design".into()] }
    );
    work.record_thoughts(&["design".into()], "a small module");
    assert!(matches!(rule(&kind, &mut work, &text), ExecutorRuling::Reject { .. }));
    let (kind, mut work) = begin("research");
    work.finish_search_steps(&kind);
    assert!(matches!(rule(&kind, &mut work, &text), ExecutorRuling::Done { .. }));
}

fn proposal() -> impl Strategy<Value = ModelProposal> {
    let tool = prop::sample::select(vec![
        "internet.research",
        "web.search",
        "file.read",
        "grep",
        "web.fetch",
        "file.edit",
        "file.write",
        "test.run",
        "skill.generator",
        "memory.search",
        "memory.save",
        "rm.everything",
    ]);
    let step = prop::option::weighted(
        0.3,
        prop::sample::select(vec![
            "research", "generate", "verify", "read", "edit", "nonsense", "act",
        ]),
    );
    prop_oneof![
        6 => (step, tool, 0..6u8).prop_map(|(step, tool, n)| ModelProposal::Call {
            step: step.map(str::to_owned),
            tool: tool.to_owned(),
            args: json!({ "n": n }),
        }),
        1 => "\\PC{0,20}".prop_map(|text| ModelProposal::Text { text }),
        1 => "\\PC{0,20}".prop_map(|answer| ModelProposal::Done { answer }),
        1 => Just(ModelProposal::Escalate { why: "stuck".into() }),
        1 => Just(ModelProposal::Unusable { why: "junk".into() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// For arbitrary proposals: no unknown tool, no more iterations than allowed, no run of searches, no step both done
    /// and open, and the work survives serialization.
    #[test]
    fn arbitrary_wishes_stay_within_bounds(
        kind in prop::sample::select(vec!["skill_build", "code_modify", "code_create", "research", "memory_op", "generic"]),
        proposals in prop::collection::vec((proposal(), any::<bool>()), 1..24),
    ) {
        let (kind, mut work) = begin(kind);
        let bounds = ExecutorLimits::default();
        let (mut row, mut researches) = (0, 0);
        for (proposal, ok) in &proposals {
            match work.rule_on_proposal(&kind, proposal, facts, &bounds) {
                ExecutorRuling::Run(planned) => {
                    let facts = facts(&planned.tool);
                    prop_assert!(facts.is_some(), "unknown tool {}", planned.tool);
                    let facts = facts.unwrap();
                    if facts.search_like { row += 1 } else if planned.purpose == CallPurpose::Step { row = 0 }
                    prop_assert!(row <= SEARCHES_IN_A_ROW, "{row} searches in a row");
                    if kind.name == "skill_build" && *ok {
                        researches += u32::from(facts.search_like);
                        prop_assert!(researches <= 1);
                    }
                    work.observe_call(&kind, &planned, facts, seen(*ok));
                    prop_assert!(work.calls <= work.state.max_steps);
                }
                ExecutorRuling::Instead { step, .. } => {
                    prop_assert!(work.state.is_step_pending(&step));
                    row = 0;
                }
                ExecutorRuling::Thought { steps } => work.record_thoughts(&steps, "thought"),
                ExecutorRuling::Reject { .. } => {}
                ExecutorRuling::Done { .. } | ExecutorRuling::Escalate { .. } | ExecutorRuling::Cap { .. } => break,
            }
            prop_assert!(work.iteration <= bounds.react_max_iterations);
            prop_assert!(work.state.completed_steps.iter().all(|step| !work.state.is_step_pending(step)));
        }
        let text = serde_json::to_string(&work).unwrap();
        prop_assert_eq!(serde_json::from_str::<AgentWork>(&text).unwrap(), work);
    }
}
