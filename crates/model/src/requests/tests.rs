//! Every kind has a constructor, and what it makes can be shown and answered.

use std::collections::BTreeSet;

use super::samples::every_request;
use super::*;
use crate::Answer;
use crate::event::RiskClass;
use crate::permission::{PermissionRule, RuleMatcher};

/// The wire names of all kinds, as the decoder lists them: a kind that is added to the enum is in it.
fn kind_names() -> BTreeSet<String> {
    let error = serde_json::from_str::<RequestKind>(r#"{"about":"?"}"#).unwrap_err().to_string();
    let listed = error.split_once("expected one of ").expect("the decoder names the kinds").1;
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn kind_name(kind: &RequestKind) -> String {
    let json = serde_json::to_value(kind).unwrap();
    json["about"].as_str().unwrap().to_owned()
}

#[test]
fn every_kind_of_request_has_a_constructor() {
    let made: BTreeSet<String> =
        every_request().iter().map(|request| kind_name(&request.kind)).collect();
    let kinds = kind_names();
    assert!(kinds.len() >= 15, "{kinds:?}");
    assert_eq!(made, kinds);
}

#[test]
fn every_request_has_a_question_a_reason_and_distinct_choices() {
    for request in every_request() {
        let name = kind_name(&request.kind);
        assert!(!request.question.trim().is_empty(), "{name}");
        assert!(!request.why.trim().is_empty(), "{name}");
        assert!(!request.choices.is_empty(), "{name}");
        let actions: BTreeSet<ChoiceAction> =
            request.choices.iter().map(|choice| choice.action).collect();
        let labels: BTreeSet<&str> =
            request.choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(actions.len(), request.choices.len(), "{name}: {actions:?}");
        assert_eq!(labels.len(), request.choices.len(), "{name}: {labels:?}");
        for choice in &request.choices {
            assert!(!choice.label.is_empty() && !choice.consequence.is_empty(), "{name}");
        }
        for detail in request.verbatim.iter().chain(&request.details) {
            assert!(!detail.label.is_empty(), "{name}");
        }
    }
}

#[test]
fn every_request_round_trips() {
    for request in every_request() {
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request);
    }
}

#[test]
fn every_request_can_be_declined_or_left() {
    use ChoiceAction as A;
    for request in every_request() {
        let refuses = |action: A| {
            let refusals = [
                A::Abandon,
                A::Stop,
                A::StopTask,
                A::Deny,
                A::Decline,
                A::NeverUse,
                A::KeepAndStop,
                A::DiscardChanges,
                A::UndoChanges,
            ];
            refusals.contains(&action)
        };
        let offered = request.choices.iter().any(|choice| {
            refuses(choice.action) && request.available_choice(choice.action).is_some()
        });
        assert!(offered, "{}", kind_name(&request.kind));
    }
}

#[test]
fn the_texts_of_all_requests_read_as_one_document() {
    let mut lines = Vec::new();
    for request in every_request() {
        lines.push(format!("# {}: {}", kind_name(&request.kind), request.question));
        lines.push(request.why.clone());
        for detail in request.verbatim.iter().chain(&request.details) {
            lines.push(format!("  {}: {}", detail.label, detail.text));
        }
        for choice in &request.choices {
            let blocked = choice.unavailable.as_ref().map(|why| format!(" (not now: {why})"));
            let blocked = blocked.unwrap_or_default();
            lines.push(format!("  [{}] {}{blocked}", choice.label, choice.consequence));
        }
        lines.push(String::new());
    }
    let document = lines.join("\n");
    insta::assert_snapshot!(document);
}

#[test]
fn the_reasons_for_asking_read_as_one_document() {
    let text = |text: &str| text.to_owned();
    let class = RiskClass::Write;
    let tool_reasons = [
        AskReason::ProtectedPath { path: text(".git/hooks/pre-commit") },
        AskReason::Dangerous { what: text("the command stops the machine") },
        AskReason::Unsandboxed { why: text("the kernel has no Landlock") },
        AskReason::NewForeignTool,
        AskReason::ChangedForeignTool,
        AskReason::InDoubt,
        AskReason::FirstAfterImport,
        AskReason::Repeated { times: 3 },
        AskReason::Strict,
        AskReason::NotListedForPhase { class },
        AskReason::NotAllowedYet { class },
    ];
    let command_reasons = [
        CommandAskReason::EveryStep,
        CommandAskReason::LowAutonomy,
        CommandAskReason::ForeignPlan,
        CommandAskReason::Dangerous { what: text("the command stops the machine") },
        CommandAskReason::Unconfined { why: text("the kernel has no Landlock") },
    ];
    let workspace = text("~/site");
    let placements = [
        CommandPlacement::Unconfined { workspace: workspace.clone() },
        CommandPlacement::Confined { workspace: workspace.clone() },
        CommandPlacement::BareEnvironment { workspace, why: text("the kernel has no Landlock") },
    ];
    let evidence = [
        CallEvidence::EndedHalfway,
        CallEvidence::EndedWithSession,
        CallEvidence::NoProcess,
        CallEvidence::ProcessGone(4711),
        CallEvidence::StillRunning(vec![4711]),
        CallEvidence::StillRunning(vec![4711, 4712]),
        CallEvidence::FoundRunning(vec![4711]),
        CallEvidence::FoundRunning(vec![4711, 4712]),
    ];
    let sections = [
        ("tool call", tool_reasons.iter().map(AskReason::describe).collect::<Vec<_>>()),
        ("command", command_reasons.iter().map(CommandAskReason::describe).collect()),
        ("placement", placements.iter().map(CommandPlacement::describe_sandbox).collect()),
        ("evidence", evidence.iter().map(CallEvidence::describe).collect()),
    ];
    let document: Vec<String> = sections
        .into_iter()
        .map(|(name, lines)| format!("# {name}\n{}", lines.join("\n")))
        .collect();
    insta::assert_snapshot!(document.join("\n\n"));
}

#[test]
fn no_request_uses_a_field_name_a_rule_code_or_bare_minutes() {
    for request in samples::every_request() {
        let choices = request.choices.iter();
        let texts = choices
            .flat_map(|choice| [choice.label.clone(), choice.consequence.clone()])
            .chain(request.details.iter().flat_map(|fact| [fact.label.clone(), fact.text.clone()]))
            .chain([request.question.clone(), request.why.clone()]);
        for text in texts {
            let own: String = text.split('"').step_by(2).collect();
            let letters = own.as_bytes();
            let snake = letters.windows(3).any(|three| {
                three[1] == b'_' && three[0].is_ascii_lowercase() && three[2].is_ascii_lowercase()
            });
            let code = own.split_whitespace().any(|word| {
                word.len() == 4 && word.starts_with('G') && word[1..].parse::<u16>().is_ok()
            });
            assert!(!snake && !code, "{}: {text}", request.question);
            assert!(!own.contains(" minutes"), "{}: {text}", request.question);
        }
    }
}

#[test]
fn a_class_is_stored_under_its_wire_name() {
    for class in [RiskClass::Read, RiskClass::Write, RiskClass::Execute, RiskClass::Network] {
        let wire = serde_json::to_value(class).unwrap();
        assert_eq!(wire, tool_permission::class_name(class));
    }
}

#[test]
fn a_limit_on_time_offers_no_work_without_a_model() {
    let caps = samples::requests_where(|kind| matches!(kind, RequestKind::Cap { .. }));
    for request in caps {
        let RequestKind::Cap { cap, .. } = request.kind else { continue };
        let offers = request.available_choice(ChoiceAction::GoOffline).is_some();
        assert_eq!(offers, cap != crate::RunCap::RunWallTimeMin, "{}", cap.name());
    }
}

#[test]
fn only_the_costliest_tasks_are_named_and_offline_work_needs_a_task_without_a_model() {
    let row = |task: &str, tokens, cost| TaskSpending {
        task: task.into(),
        title: task.into(),
        tokens,
        cost: crate::MicroDollars(cost),
        attempt: 1,
    };
    let rows = [
        row("unused", 0, 0),
        row("a", 900_000, 0),
        row("b", 1_000, 20_000),
        row("c", 2_000, 0),
        row("d", 1_000_000, 0),
    ];
    let request = cap_request(
        RequestId(1),
        &ReachedCap {
            cap: crate::RunCap::RunTokenLimit,
            used: 2_000_000,
            limit: 2_000_000,
            waiting: 1,
            running: 0,
            done: 4,
            spending: rows.to_vec(),
            offline: Some(OfflineOutlook { agent_tasks: 2, other_tasks: 0 }),
            next_call: None,
        },
    );
    let spent = request.details.iter().find(|detail| detail.label == "Most spent").unwrap();
    assert_eq!(spent.text, "b, $0.02, 1k tokens · d, 1M tokens · a, 900k tokens");
    let offline =
        request.choices.iter().find(|choice| choice.action == ChoiceAction::GoOffline).unwrap();
    assert_eq!(offline.unavailable.as_deref(), Some("only tasks for agents are left"));
}

#[test]
fn a_tool_of_another_program_shows_all_its_arguments() {
    let args = serde_json::json!({ "path": "a.txt" });
    let call = crate::CallId { task: "a".into(), attempt: 1, step: 1 };
    let own = ToolCallQuestion {
        call: &call,
        title: "A task",
        tool: "t",
        class: RiskClass::Write,
        why: &AskReason::NewForeignTool,
        command: None,
        url: None,
        directory: None,
        files: vec!["a.txt"],
        args: &args,
        preview: Some("+ line"),
        is_foreign: false,
        asked_by: None,
        in_copy: false,
        input: None,
        has_network: false,
        unconfined: Some("no sandbox"),
        rule: None,
    };
    let labels = |ask: &ToolCallQuestion<'_>| -> Vec<String> {
        let request = permission_request(RequestId(1), ask);
        // Only a command can be confined.
        assert!(
            request.details.iter().all(|fact| fact.label != "Sandbox"),
            "{:?}",
            request.details
        );
        request.verbatim.into_iter().map(|detail| detail.label).collect()
    };
    assert_eq!(labels(&own), ["File", "Change"]);
    let foreign = ToolCallQuestion { is_foreign: true, ..own.clone() };
    assert_eq!(labels(&foreign), ["File", "Arguments", "What it says it does"]);
    let directory = ToolCallQuestion { directory: Some("."), preview: None, ..own };
    assert_eq!(labels(&directory), ["Arguments"]);
}

#[test]
fn a_rule_that_is_typed_replaces_the_offered_one() {
    let args = serde_json::json!({});
    let call = crate::CallId { task: "a".into(), attempt: 1, step: 1 };
    let ask = ToolCallQuestion {
        call: &call,
        title: "A task",
        tool: "shell",
        class: RiskClass::Execute,
        why: &AskReason::Strict,
        command: Some("cargo test --all"),
        url: None,
        directory: None,
        files: Vec::new(),
        args: &args,
        preview: None,
        is_foreign: false,
        asked_by: None,
        in_copy: false,
        input: None,
        has_network: false,
        unconfined: None,
        rule: Some("exactly this command".to_owned()),
    };
    let request = permission_request(RequestId(1), &ask);
    let offered = PermissionRule::allow(
        "shell",
        RuleMatcher::Command { command: "cargo test --all".to_owned() },
    );
    let saved = |text: &str| {
        let answer = Answer::with_text(ChoiceAction::AllowAlways, text.to_owned());
        request.apply_typed_rule(offered.clone(), &answer)
    };
    let prefix = RuleMatcher::CommandPrefix { prefix: "cargo test".to_owned() };
    assert_eq!(saved("cargo test *").matching, prefix);
    assert_eq!(saved("cargo test --all"), offered);
    let wrong = Answer::with_text(ChoiceAction::AllowAlways, "npm *".to_owned());
    assert!(request.parse_typed_rule(&wrong).is_err());
    assert_eq!(request.apply_typed_rule(offered.clone(), &wrong), offered);
    let any = PermissionRule { matching: RuleMatcher::Any, ..offered };
    let typed = Answer::with_text(ChoiceAction::AllowAlways, "cargo *".to_owned());
    assert_eq!(request.apply_typed_rule(any.clone(), &typed), any);
}
