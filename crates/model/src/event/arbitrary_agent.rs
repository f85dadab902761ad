//! Arbitrary events of agents and of planning, for the same property tests.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::arbitrary::{failure, task_id};
use super::{AgentEvent, AnsweredCall, PlanningEvent};
use crate::agent_conversation::{ConversationOpening, ConversationTool, PromptSource};
use crate::agent_decision::{
    AgentDecision, DecisionAction, ExecutorAction, ExecutorDecision, PermittedCall, PlannerAction,
    PlannerDecision, TaskDecision, ToolUse,
};
use crate::agent_work::{AgentWork, CallPurpose, ChildState, ExecutorConclusion};
use crate::gate::{GateDecision, GateSignals};
use crate::permission::{
    AnswerOffers, AskReason, GrantBasis, PermissionRule, PermissionVerdict, RuleMatcher,
};
use crate::task_state::TaskState;
use crate::tool_choice::{ToolAffinity, ToolSelection};
use crate::{
    Actor, AgentNetwork, AgentSession, AgentTodo, AgentTodoStatus, AskingHabit, Digest,
    MicroDollars, PlanDrafter, PlanningToolName, PrdvPhase, ReActStep, ReactLogEntry,
    ReasoningFormat, ReasoningItem, StepAction, StepMetadata, StepRole, StepTrace,
};

fn share() -> BoxedStrategy<f64> {
    (0..100u32).prop_map(|part| f64::from(part) / 100.0).boxed()
}

fn words() -> BoxedStrategy<String> {
    "[ -~]{0,12}".boxed()
}

fn rule() -> BoxedStrategy<PermissionRule> {
    let matching = prop_oneof![
        Just(RuleMatcher::Any),
        words().prop_map(|command| RuleMatcher::Command { command }),
        words().prop_map(|prefix| RuleMatcher::CommandPrefix { prefix }),
        Just(RuleMatcher::Path { glob: "docs/**".into() }),
        Just(RuleMatcher::Host { host: "example.org".into() }),
    ];
    (matching, any::<bool>(), prop::option::of(words()))
        .prop_map(|(matching, network, directory)| PermissionRule {
            network,
            directory,
            ..PermissionRule::allow("shell.run", matching)
        })
        .boxed()
}

fn basis() -> BoxedStrategy<GrantBasis> {
    prop_oneof![
        Just(GrantBasis::Harmless),
        Just(GrantBasis::Plan { revision: Digest::from_json(&json!(1)) }),
        Just(GrantBasis::Phase { class: super::RiskClass::Write }),
        words().prop_map(|words| GrantBasis::Rule { words }),
        words().prop_map(|words| GrantBasis::Grant { words }),
        Just(GrantBasis::Person),
    ]
    .boxed()
}

fn verdict() -> BoxedStrategy<PermissionVerdict> {
    prop_oneof![
        basis().prop_map(|because| PermissionVerdict::Allow { because }),
        prop::option::of(rule()).prop_map(|rule| PermissionVerdict::Ask {
            why: AskReason::Repeated { times: 3 },
            offers: AnswerOffers { rule, phase: true },
        }),
        words().prop_map(|why| PermissionVerdict::Refuse { code: "denied".into(), why }),
    ]
    .boxed()
}

fn task_state() -> BoxedStrategy<TaskState> {
    prop::sample::subsequence(vec!["read", "edit", "verify"], 0..=3)
        .prop_map(|steps| {
            let mut state = TaskState::new("code_modify", 5, steps.into_iter().map(str::to_owned));
            state.complete_step("read", json!({"lines": 3}));
            state
        })
        .boxed()
}

fn work() -> BoxedStrategy<AgentWork> {
    (task_state(), 0..9u32, any::<bool>(), prop::option::of(words()))
        .prop_map(|(state, iteration, full, feedback)| AgentWork {
            iteration,
            full,
            ended: full.then(|| ExecutorConclusion::Escalated { why: "stuck".into() }),
            findings: [(0, full)].into(),
            failed_calls: [Digest::from_json(&json!(iteration))].into(),
            feedback,
            ..AgentWork::new(state, vec!["do it".into()])
        })
        .boxed()
}

fn gate() -> BoxedStrategy<GateDecision> {
    (any::<bool>(), prop::option::of(share()))
        .prop_map(|(should_escalate, complexity)| GateDecision {
            should_escalate,
            heuristics: GateSignals { complexity, ..GateSignals::default() },
            reason: "no_signal".into(),
            ..GateDecision::default()
        })
        .boxed()
}

fn decision() -> BoxedStrategy<AgentDecision> {
    let tool = || ToolUse { name: "grep".into(), args: json!({"pattern": "x"}) };
    prop_oneof![
        (any::<bool>(), prop::option::of(words()))
            .prop_map(|(resumed, step)| TaskDecision::task_begun(resumed, step).into()),
        (words(), prop::option::of(task_id())).prop_map(|(detail, task)| {
            TaskDecision::normalization("unknown_role", &detail, task).into()
        }),
        gate().prop_map(|gate| TaskDecision::GateDecision(gate.into()).into()),
        (words(), any::<bool>()).prop_map(move |(reasoning, call)| {
            TaskDecision::LoopGuard {
                action: DecisionAction::LoopGuard,
                step: Some("edit".into()),
                reasoning,
                replaced: call.then(tool),
            }
            .into()
        }),
        words().prop_map(|why| {
            PlannerDecision::new(PlannerAction::Execute, "generic", vec!["g".into()], &why).into()
        }),
        (task_state(), words()).prop_map(move |(state, why)| {
            ExecutorDecision::call_tool("edit", tool(), &why).with_state(&state).into()
        }),
        words().prop_map(|why| ExecutorDecision::new(ExecutorAction::Done, &why).into()),
        basis().prop_map(|permission| {
            let (call, tool) = ("a/1/1".into(), "grep".into());
            AgentDecision::Permitted(PermittedCall { permission, call, tool })
        }),
        (0..9u32).prop_map(|depth| {
            serde_json::from_value(json!({"_type": "OMEN", "depth": depth}))
                .expect("reading a decision never fails")
        }),
    ]
    .boxed()
}

fn metadata() -> BoxedStrategy<StepMetadata> {
    let role = prop::sample::select(vec!["planner", "critic", "worker"]);
    let phase = prop::sample::select(PrdvPhase::ALL.to_vec());
    let kept = (prop::option::of(work()), prop::option::of(verdict()), prop::option::of(share()));
    (1..4u32, role, phase, kept, any::<bool>())
        .prop_map(|(call, role, phase, (work, verdict, score), flag)| StepMetadata {
            call: Some(call),
            step: flag.then(|| "edit".into()),
            purpose: Some(if flag { CallPurpose::Step } else { CallPurpose::Lookup }),
            affinity_delta: score,
            work: work.map(Box::new),
            choice: score.map(|score| {
                Box::new(ToolSelection {
                    tool: "grep".into(),
                    affinity: ToolAffinity::from_parts(score, score, score, score),
                    given: flag,
                    others: vec![("shell.run".into(), score)],
                    left_out: Vec::new(),
                })
            }),
            redacted: flag.then_some(true),
            ok: Some(flag),
            verdict: verdict.map(Box::new),
            prdv: Some(phase),
            agent_role: Some(StepRole::from(role.to_owned())),
            iteration: Some(call),
            foreign: flag.then(|| ("theirs".to_owned(), json!([call]))).into_iter().collect(),
            ..StepMetadata::default()
        })
        .boxed()
}

fn step() -> BoxedStrategy<(crate::TaskId, ReActStep)> {
    let action = prop::sample::select(vec![
        StepAction::Thought,
        StepAction::Action,
        StepAction::Observation,
    ]);
    (task_id(), action, words(), metadata(), prop::option::of(share()))
        .prop_map(|(task_id, action, content, metadata, confidence_score)| {
            let step = ReActStep {
                timestamp: Timestamp::UNIX_EPOCH,
                task_id: task_id.clone(),
                action,
                content,
                tool_used: Some("grep".into()),
                tool_input: Some(json!({"pattern": "x"})),
                tool_output: None,
                confidence_score,
                metadata,
            };
            (task_id, step)
        })
        .boxed()
}

fn child_state() -> BoxedStrategy<ChildState> {
    prop_oneof![
        Just(ChildState::Waiting),
        Just(ChildState::Started),
        (any::<bool>(), words()).prop_map(|(ok, summary)| ChildState::Finished {
            ok,
            cache_hit: !ok,
            summary
        }),
        words().prop_map(|why| ChildState::Skipped { why }),
    ]
    .boxed()
}

fn calls() -> BoxedStrategy<Vec<AnsweredCall>> {
    let call = prop::option::of(words()).prop_map(|id| AnsweredCall {
        id,
        name: "grep".into(),
        arguments: json!({"pattern": "x"}),
        problem: None,
        note: Some("one field left out".into()),
        redacted: false,
    });
    prop::collection::vec(call, 0..3).boxed()
}

fn model_event() -> BoxedStrategy<AgentEvent> {
    let cost = || prop::option::of((0..99u64).prop_map(MicroDollars));
    let task = || prop::option::of(task_id());
    prop_oneof![
        (task(), 1..5u32, cost()).prop_map(|(task, ask, estimated_cost)| AgentEvent::ModelAsked {
            task,
            ask,
            purpose: "decision".into(),
            provider: "offline".into(),
            model: "scripted".into(),
            prompt_ref: Digest::from_json(&json!(ask)),
            estimated_tokens: 7,
            estimated_cost,
        }),
        (task(), 1..5u32, prop::option::of(calls()), cost()).prop_map(
            |(task, ask, calls, cost)| {
                let text = "words".into();
                let reasoning = (ask == 3).then(reasoning_item).into_iter().collect();
                AgentEvent::ModelAnswered {
                    task,
                    ask,
                    text,
                    calls,
                    reasoning,
                    cut_off: ask == 3,
                    fault: (ask == 4).then(|| "the answer is empty".into()),
                    tokens: 7,
                    cost,
                    elapsed_ms: 3,
                }
            }
        ),
        (task(), 1..5u32, failure(), cost()).prop_map(|(task, ask, failure, cost)| {
            AgentEvent::ModelFailed { task, ask, failure, tokens: 1, cost }
        }),
        (task(), 1..5u32, words()).prop_map(|(task, ask, text)| AgentEvent::Partial {
            task,
            ask,
            text,
            thought: ask == 2,
        }),
        waiting_event(),
    ]
    .boxed()
}

fn reasoning_item() -> ReasoningItem {
    ReasoningItem {
        format: ReasoningFormat::Anthropic,
        position: 0,
        text: "hm".into(),
        raw: json!({"type": "thinking", "signature": "x"}),
    }
}

fn waiting_event() -> BoxedStrategy<AgentEvent> {
    let model = || "Sonnet".to_owned();
    let task = || prop::option::of(task_id());
    prop_oneof![
        (task(), 1..5u32, any::<bool>()).prop_map(move |(task, ask, writing)| {
            let (elapsed_sec, tokens) = (38, 12);
            AgentEvent::ModelWaiting { task, ask, model: model(), elapsed_sec, tokens, writing }
        }),
        (task(), 1..5u32, words()).prop_map(move |(task, ask, why)| {
            AgentEvent::ModelDelayed { task, ask, model: model(), why, wait_sec: 30 }
        }),
        (task(), 1..5u32, words()).prop_map(|(task, ask, what)| AgentEvent::ProtocolDemoted {
            task,
            ask,
            what
        }),
    ]
    .boxed()
}

fn conversation_event() -> BoxedStrategy<AgentEvent> {
    let sources = vec![PromptSource::Loop, PromptSource::Person, PromptSource::Retry];
    prop_oneof![
        (task_id(), 1..3u32, words()).prop_map(|(task, attempt, briefing)| {
            let tool = ConversationTool {
                name: "grep".into(),
                description: "looks".into(),
                schema: json!({"type": "object"}),
                read_only: true,
            };
            let opening = ConversationOpening {
                task: Digest::from_json(&json!(attempt)),
                system: "You work.".into(),
                briefing,
                tools: vec![tool],
                result_tokens: 9_000,
                agent: None,
            };
            AgentEvent::ConversationOpened { task, attempt, opening: Box::new(opening) }
        }),
        (task_id(), 1..3u32, prop::sample::select(sources), words(), prop::option::of(1..3u32))
            .prop_map(|(task, attempt, source, text, message)| AgentEvent::Prompted {
                task,
                attempt,
                source,
                text,
                message
            }),
        (task_id(), 1..3u32, 1..9u32).prop_map(|(task, attempt, through)| {
            AgentEvent::ResultsCompacted { task, attempt, through }
        }),
        (task_id(), 1..3u32)
            .prop_map(|(task, attempt)| AgentEvent::BudgetRenewed { task, attempt }),
        (task_id(), 1..3u32, words()).prop_map(|(task, number, text)| AgentEvent::MessageSent {
            task,
            number,
            text,
            by: Actor::Person,
            interrupt: number == 2,
        }),
        (task_id(), 1..3u32, words(), any::<bool>()).prop_map(|(task, attempt, id, can_load)| {
            let session = AgentSession {
                agent: "claude".into(),
                title: "Claude Code".into(),
                version: can_load.then(|| "2.1".into()),
                mode: Some("default".into()),
                model: None,
                asks: AskingHabit::Asks,
                network: AgentNetwork::Hosts,
                id,
                can_load,
                loaded: false,
            };
            AgentEvent::SessionOpened { task, attempt, session: Box::new(session) }
        }),
        (task_id(), 1..3u32, prop::collection::vec(words(), 0..3)).prop_map(
            |(task, attempt, texts)| {
                let item = |text| AgentTodo { text, status: AgentTodoStatus::UnderWay };
                let items = texts.into_iter().map(item).collect();
                AgentEvent::TodoListed { task, attempt, items }
            }
        ),
        (task_id(), 1..3u32, prop::option::of(0..9_000u64)).prop_map(|(task, attempt, tokens)| {
            let cost = tokens.map(MicroDollars);
            AgentEvent::UsageReported { task, attempt, tokens, cost }
        }),
    ]
    .boxed()
}

/// Any event of an agent.
pub(super) fn agent_event() -> BoxedStrategy<AgentEvent> {
    prop_oneof![
        2 => model_event(),
        2 => conversation_event(),
        3 => (step(), 1..3u32)
            .prop_map(|((task, step), attempt)| AgentEvent::from_step(task, attempt, step)),
        1 => (task_id(), 1..3u32, work()).prop_map(|(task, attempt, work)| {
            AgentEvent::StateSaved { task, attempt, state: Box::new(work) }
        }),
        3 => (task_id(), 1..3u32, decision()).prop_map(|(task, attempt, decision)| {
            AgentEvent::Decided { task, attempt, decision: Box::new(decision) }
        }),
        1 => gate().prop_map(|gate| AgentEvent::Gated { decision: Box::new(gate) }),
        1 => rule().prop_map(|rule| AgentEvent::Granted { words: rule.describe(), rule }),
        1 => rule().prop_map(|rule| AgentEvent::Revoked { rule }),
        1 => (task_id(), child_state()).prop_map(|(task, state)| AgentEvent::ChildMoved {
            child: format!("{task}.1").into(),
            task,
            title: "Look".into(),
            state,
        }),
        1 => (task_id(), 1..3u32, words()).prop_map(|(task, attempt, answer)| {
            AgentEvent::Concluded { task, attempt, answer, tokens: 3 }
        }),
        1 => (task_id(), 1..3u32, words(), any::<bool>()).prop_map(|(task, attempt, answer, criteria_met)| {
            AgentEvent::HandedIn { task, attempt, answer, tokens: 3, criteria_met }
        }),
        1 => (task_id(), 1..3u32, any::<bool>()).prop_map(|(task, attempt, person)| {
            let candidate = format!("{task}.claude").into();
            let by = person.then_some(Actor::Person);
            AgentEvent::CandidatePicked { task, attempt, candidate, agent: "claude".into(), by }
        }),
    ]
    .boxed()
}

/// Events of planning that name who drafts or which tool worked.
pub(super) fn planning_event() -> BoxedStrategy<PlanningEvent> {
    let tool = prop_oneof![
        4 => prop::sample::select(PlanningToolName::KNOWN.to_vec()),
        1 => "[A-Z][a-z]{0,8}".prop_map(PlanningToolName::from),
    ];
    prop_oneof![
        prop::sample::select(vec!["offline", "you", "ollama/qwen3", ""])
            .prop_map(|name| PlanningEvent::DrafterSet { drafter: PlanDrafter::from(name) }),
        (1..9u32, tool, prop::option::of(share())).prop_map(|(seq, tool, confidence)| {
            let step = StepTrace {
                seq,
                session_id: "user_x:g".into(),
                stage: "draft_outline".into(),
                tool,
                duration_ms: 1,
                confidence,
                cost_delta: 0,
                violations: Vec::new(),
                adaptations: Vec::new(),
                outcome: "success".into(),
                cache_hit: false,
                explanations: vec!["n".into()],
                why: Vec::new(),
            };
            PlanningEvent::Traced { step }
        }),
        (1..9u32, words()).prop_map(|(seq, raw)| PlanningEvent::Logged {
            entry: ReactLogEntry {
                seq,
                kind: "planner.trace".into(),
                prompt_ref: None,
                prompt: Some(raw.clone()),
                raw_response: Some(raw),
                warnings: Vec::new(),
            }
        }),
        words().prop_map(|why| PlanningEvent::WentOffline { why }),
        (1..90u32, words())
            .prop_map(|(entries, text)| PlanningEvent::ConversationSummarized { entries, text }),
    ]
    .boxed()
}
