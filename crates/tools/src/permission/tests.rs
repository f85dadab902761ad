use serde_json::json;

use planwright_model::permission::RuleMatcher;

use super::*;
use crate::meta::{ToolPin, TouchedPath};

fn resolved(effect: ToolEffect) -> ResolvedCall {
    ResolvedCall::new(effect, json!({}))
}

fn command(text: &str) -> ResolvedCall {
    ResolvedCall { command: Some(text.to_owned()), ..resolved(ToolEffect::Execute) }
}

fn write(path: &str) -> ResolvedCall {
    let protected = crate::workspace::is_protected(path);
    resolved(ToolEffect::Write).with_path(TouchedPath { path: path.to_owned(), protected })
}

fn fetch(host: &str) -> ResolvedCall {
    ResolvedCall { hosts: vec![host.to_owned()], ..resolved(ToolEffect::Network) }
}

fn plan(classes: &[RiskClass]) -> PlanGrant {
    PlanGrant {
        revision: Digest::from_json(&json!("plan")),
        task_classes: classes.iter().copied().collect(),
        phase_classes: classes.iter().copied().collect(),
        phase_grants: BTreeSet::new(),
        commands: BTreeSet::from(["cargo test".to_owned()]),
        checks: BTreeSet::from(["make check".to_owned()]),
        hosts: BTreeSet::from(["docs.rs".to_owned()]),
    }
}

struct Case<'a> {
    tool: &'a str,
    resolved: ResolvedCall,
    autonomy: Autonomy,
    policy: ApprovalPolicy,
    plan: Option<PlanGrant>,
    sandbox: SandboxState,
    rules: Vec<PermissionRule>,
    grants: Vec<PermissionRule>,
}

impl<'a> Case<'a> {
    fn new(tool: &'a str, resolved: ResolvedCall) -> Self {
        Self {
            tool,
            resolved,
            autonomy: Autonomy::Medium,
            policy: ApprovalPolicy::SingleFinal,
            plan: None,
            sandbox: SandboxState::Enforced,
            rules: Vec::new(),
            grants: Vec::new(),
        }
    }

    fn input(&self) -> PermissionInput<'_> {
        PermissionInput {
            tool: self.tool,
            resolved: &self.resolved,
            stage: CallStage::Executing,
            autonomy: self.autonomy,
            approval_policy: self.policy,
            plan: self.plan.as_ref(),
            sandbox: &self.sandbox,
            rules: &self.rules,
            grants: &self.grants,
            secret_at: None,
            secret_variable: None,
            repeated: 0,
            in_doubt: false,
            first_after_import: false,
        }
    }

    fn word(&self) -> &'static str {
        word(&decide_permission(&self.input()))
    }
}

fn word(verdict: &PermissionVerdict) -> &'static str {
    match verdict {
        PermissionVerdict::Allow { because: GrantBasis::Harmless } => "allow",
        PermissionVerdict::Allow { because: GrantBasis::Plan { .. } } => "plan",
        PermissionVerdict::Allow { because: GrantBasis::Rule { .. } } => "rule",
        PermissionVerdict::Allow { because: GrantBasis::Grant { .. } } => "grant",
        PermissionVerdict::Allow { .. } => "phase",
        PermissionVerdict::Ask { .. } => "ask",
        PermissionVerdict::Refuse { .. } => "refuse",
    }
}

/// The table of trust 3.2, row by row, at low, medium and high autonomy.
#[test]
fn the_permission_table_is_enforced() {
    use RiskClass::{Execute, Network, Write};
    let rows: [(&str, ResolvedCall, [&str; 3]); 9] = [
        ("grep", resolved(ToolEffect::Look), ["allow", "allow", "allow"]),
        ("memory.save", resolved(ToolEffect::SessionState), ["ask", "allow", "allow"]),
        ("file.write", write("a.txt"), ["ask", "plan", "plan"]),
        ("shell.run", command("cargo test"), ["ask", "plan", "plan"]),
        ("shell.run", command("cargo check"), ["ask", "ask", "plan"]),
        ("web.fetch", fetch("docs.rs"), ["ask", "plan", "plan"]),
        ("web.fetch", fetch("example.org"), ["ask", "ask", "ask"]),
        ("mcp.a.b", resolved(ToolEffect::Foreign), ["ask", "ask", "ask"]),
        (
            "shell.run",
            ResolvedCall { command: Some("x".into()), ..resolved(ToolEffect::ExecuteNetwork) },
            ["ask", "ask", "ask"],
        ),
    ];
    for (tool, resolved, expected) in rows {
        for (autonomy, expected) in
            [Autonomy::Low, Autonomy::Medium, Autonomy::High].into_iter().zip(expected)
        {
            let mut case = Case::new(tool, resolved.clone());
            case.autonomy = autonomy;
            case.plan = Some(plan(&[Write, Execute, Network]));
            assert_eq!(case.word(), expected, "{tool} {resolved:?} {autonomy:?}");
        }
    }
}

#[test]
fn a_command_that_checks_the_task_was_approved_with_the_plan() {
    for (autonomy, expected) in
        [(Autonomy::Low, "ask"), (Autonomy::Medium, "plan"), (Autonomy::High, "plan")]
    {
        let mut case = Case::new("shell.run", command("make check"));
        case.autonomy = autonomy;
        case.plan = Some(plan(&[]));
        assert_eq!(case.word(), expected, "{autonomy:?}");
    }
    // A command of another task is none of this one's checks.
    let mut other = Case::new("shell.run", command("cargo test"));
    other.plan = Some(plan(&[]));
    assert_eq!(other.word(), "ask");
}

#[test]
fn without_a_plan_that_lists_it_every_change_asks() {
    for resolved in [write("a"), command("cargo test"), fetch("docs.rs")] {
        let mut case = Case::new("any", resolved);
        case.autonomy = Autonomy::High;
        assert_eq!(case.word(), "ask");
        case.plan = Some(plan(&[]));
        assert_eq!(case.word(), "ask");
    }
}

#[test]
fn milestones_ask_once_for_a_class_that_the_phase_does_not_list() {
    let mut case = Case::new("file.write", write("a"));
    case.policy = ApprovalPolicy::MilestoneApprovals;
    case.plan = Some(plan(&[]));
    let PermissionVerdict::Ask { why: AskReason::NotListedForPhase { .. }, offers } =
        decide_permission(&case.input())
    else {
        panic!()
    };
    assert!(offers.phase);
    case.plan.as_mut().unwrap().phase_grants.insert(RiskClass::Write);
    assert_eq!(case.word(), "phase");
}

#[test]
fn the_order_of_checks_matches_the_specification() {
    let rule = |effect: fn(&str, RuleMatcher) -> PermissionRule| {
        effect("file.write", RuleMatcher::Path { glob: "**".into() })
    };
    let mut case = Case::new("file.write", write("a"));
    case.grants = vec![rule(PermissionRule::allow)];
    assert_eq!(case.word(), "grant");
    case.rules = vec![rule(PermissionRule::allow)];
    assert_eq!(case.word(), "rule");
    case.policy = ApprovalPolicy::StrictEveryStep;
    assert_eq!(case.word(), "ask", "strict goes before rules and grants");
    case.rules.push(rule(PermissionRule::deny));
    assert_eq!(case.word(), "refuse", "a deny rule goes before all");
    let mut protected = Case::new("file.write", write(".git/hooks/pre-commit"));
    protected.rules = vec![rule(PermissionRule::allow)];
    assert_eq!(protected.word(), "ask", "always-ask goes before allow rules");
    let mut secret = Case::new("file.write", write("a"));
    secret.rules = vec![rule(PermissionRule::allow)];
    let input = PermissionInput { secret_at: Some("content"), ..secret.input() };
    assert!(
        matches!(decide_permission(&input), PermissionVerdict::Refuse { code, .. } if code == "secret_in_arguments")
    );
    let input = PermissionInput { secret_variable: Some("SHOP_TOKEN"), ..input };
    let PermissionVerdict::Refuse { why, .. } = decide_permission(&input) else {
        panic!("refused")
    };
    assert!(why.contains("write $SHOP_TOKEN") && why.contains("env -u SHOP_TOKEN"), "{why}");
}

#[test]
fn strict_asks_for_every_external_effect_and_nothing_else() {
    for (effect, expected) in [
        (ToolEffect::Look, "allow"),
        (ToolEffect::SessionState, "allow"),
        (ToolEffect::Write, "ask"),
        (ToolEffect::Execute, "ask"),
        (ToolEffect::Network, "ask"),
        (ToolEffect::Foreign, "ask"),
    ] {
        let mut case = Case::new("x", resolved(effect));
        case.policy = ApprovalPolicy::StrictEveryStep;
        assert_eq!(case.word(), expected, "{effect:?}");
    }
}

#[test]
fn without_a_sandbox_every_command_asks_unless_a_handwritten_exact_rule_allows_it() {
    let mut case = Case::new("shell.run", command("make"));
    case.sandbox = SandboxState::NotEnforced { why: "no Landlock".into() };
    case.rules =
        vec![PermissionRule::allow("shell.run", RuleMatcher::Command { command: "make".into() })];
    assert!(matches!(
        decide_permission(&case.input()),
        PermissionVerdict::Ask { why: AskReason::Unsandboxed { .. }, .. }
    ));
    case.rules[0].unsandboxed = true;
    assert_eq!(case.word(), "rule");
    case.rules[0].matching = RuleMatcher::CommandPrefix { prefix: "make".into() };
    assert_eq!(case.word(), "ask");
}

#[test]
fn some_things_ask_under_any_rule() {
    let any = vec![PermissionRule::allow("x", RuleMatcher::Any)];
    let pinned = |standing| ResolvedCall {
        pin: Some(ToolPin { hash: Digest::from_json(&json!(1)), standing }),
        ..resolved(ToolEffect::Foreign)
    };
    for (resolved, expected) in [
        (pinned(PinStatus::New), "ask"),
        (pinned(PinStatus::Changed), "ask"),
        (pinned(PinStatus::Approved), "rule"),
        (command("rm -rf /"), "ask"),
        (write(".github/workflows/ci.yml"), "ask"),
    ] {
        let mut case = Case::new("x", resolved.clone());
        case.rules = any.clone();
        assert_eq!(case.word(), expected, "{resolved:?}");
    }
    let mut case = Case::new("x", resolved(ToolEffect::Look));
    case.rules = any;
    let base = case.input();
    for input in [
        PermissionInput { in_doubt: true, ..base },
        PermissionInput { first_after_import: true, ..base },
        PermissionInput { repeated: IDENTICAL_CALLS, ..base },
    ] {
        assert_eq!(word(&decide_permission(&input)), "ask");
    }
    assert_eq!(
        word(&decide_permission(&PermissionInput { repeated: IDENTICAL_CALLS - 1, ..base })),
        "rule"
    );
}

#[test]
fn planning_has_no_external_effects() {
    let case = Case::new("file.write", write("a"));
    let planning = PermissionInput { stage: CallStage::Planning, ..case.input() };
    assert_eq!(word(&decide_permission(&planning)), "refuse");
    let looking = Case::new("grep", resolved(ToolEffect::Look));
    assert_eq!(
        word(&decide_permission(&PermissionInput {
            stage: CallStage::Planning,
            ..looking.input()
        })),
        "allow"
    );
}

#[test]
fn a_prefix_never_covers_a_second_command() {
    let rule = PermissionRule::allow(
        "shell.run",
        RuleMatcher::CommandPrefix { prefix: "cargo test".into() },
    );
    for fits in ["cargo test", "cargo test --lib", "  cargo test -q"] {
        assert!(rule.matches("shell.run", &command(fits)), "{fits}");
    }
    for other in [
        "cargo testament",
        "cargo test; rm x",
        "cargo test && x",
        "cargo test || x",
        "cargo test | x",
        "cargo test $(x)",
        "cargo test `x`",
        "cargo test\nx",
        "cargo test < x",
        "cargo test > x",
        "A=1 cargo test",
        "cargo test & x",
        "cargo test $HOME",
        "cargo build",
    ] {
        assert!(!rule.matches("shell.run", &command(other)), "{other}");
    }
    assert!(!rule.matches("test.run", &command("cargo test")));
}

#[test]
fn an_exact_rule_matches_its_bytes_alone() {
    let rule =
        PermissionRule::allow("shell.run", RuleMatcher::Command { command: "a && b".into() });
    assert!(rule.matches("shell.run", &command("a && b")));
    assert!(!rule.matches("shell.run", &command("a && b ")));
}

#[test]
fn rules_for_paths_and_hosts_cover_everything_a_call_touches() {
    let docs = PermissionRule::allow("file.write", RuleMatcher::Path { glob: "docs/*.md".into() });
    assert!(docs.matches("file.write", &write("docs/a.md")));
    assert!(!docs.matches("file.write", &write("docs/deep/a.md")));
    assert!(!docs.matches("file.write", &write("src/a.md")));
    let both = write("docs/a.md").with_path(TouchedPath { path: "b".into(), protected: false });
    assert!(!docs.matches("file.write", &both));
    assert!(PermissionRule { effect: RuleEffect::Deny, ..docs }.matches("file.write", &both));
    assert!(
        !PermissionRule::allow("file.write", RuleMatcher::Path { glob: "**".into() })
            .matches("file.write", &resolved(ToolEffect::Write))
    );
}

#[test]
fn the_offered_rule_is_the_narrowest_and_allows_the_same_call() {
    for (tool, resolved) in [
        ("shell.run", command("make a*b")),
        ("file.write", write("a[1].txt")),
        ("web.fetch", fetch("docs.rs:8080")),
    ] {
        let rule = PermissionRule::for_call(tool, &resolved).unwrap();
        assert!(rule.matches(tool, &resolved), "{}", rule.describe());
    }
    let rule = PermissionRule::for_call("file.write", &write("a[1].txt")).unwrap();
    assert!(!rule.matches("file.write", &write("a1.txt")));
}

#[test]
fn rules_are_described_as_text_and_stored_as_data() {
    let rule =
        PermissionRule::allow("shell.run", RuleMatcher::Command { command: "cargo test".into() });
    assert_eq!(rule.describe(), "allow shell.run with exactly `cargo test`");
    let json = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<PermissionRule>(&json).unwrap(), rule);
    assert_eq!(
        PermissionRule::deny("web.fetch", RuleMatcher::Host { host: "a.b".into() }).describe(),
        "never allow web.fetch to reach a.b"
    );
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reading_a_command_never_panics(line in "[ -~\n]{0,80}") {
            find_danger(&line);
            simple_commands(&line);
        }

        #[test]
        fn no_external_effect_is_allowed_without_plan_rule_or_grant(
            effect in prop::sample::select(vec![ToolEffect::Write, ToolEffect::Execute, ToolEffect::ExecuteNetwork, ToolEffect::Network, ToolEffect::Foreign]),
            autonomy in prop::sample::select(vec![Autonomy::Low, Autonomy::Medium, Autonomy::High]),
            policy in prop::sample::select(vec![ApprovalPolicy::SingleFinal, ApprovalPolicy::MilestoneApprovals, ApprovalPolicy::StrictEveryStep]),
        ) {
            let mut case = Case::new("x", resolved(effect));
            case.autonomy = autonomy;
            case.policy = policy;
            prop_assert_eq!(case.word(), "ask");
        }
    }
}

fn in_directory(text: &str, directory: &str, effect: ToolEffect) -> ResolvedCall {
    ResolvedCall { effect, ..command(text) }
        .with_path(TouchedPath { path: directory.to_owned(), protected: false })
}

/// Network access and the working directory belong to every rule: config rules, offered rules and session grants.
#[test]
fn network_and_directory_are_part_of_every_allow_rule() {
    use ToolEffect::{Execute, ExecuteNetwork};
    let exact =
        || PermissionRule::allow("shell.run", RuleMatcher::Command { command: "make".into() });
    let prefix =
        || PermissionRule::allow("shell.run", RuleMatcher::CommandPrefix { prefix: "make".into() });
    let any = || PermissionRule::allow("shell.run", RuleMatcher::Any);
    for make_rule in [exact, prefix, any] as [fn() -> PermissionRule; 3] {
        let plain = make_rule();
        let with_network = PermissionRule { network: true, ..make_rule() };
        let elsewhere = PermissionRule { directory: Some("./sub/".into()), ..make_rule() };
        for (rule, directory, effect, expected) in [
            (&plain, ".", Execute, true),
            (&plain, ".", ExecuteNetwork, false),
            (&plain, "sub", Execute, false),
            (&with_network, ".", ExecuteNetwork, true),
            (&with_network, ".", Execute, true),
            (&with_network, "sub", ExecuteNetwork, false),
            (&elsewhere, "sub", Execute, true),
            (&elsewhere, ".", Execute, false),
            (&elsewhere, "sub/deeper", Execute, false),
            (&elsewhere, "sub", ExecuteNetwork, false),
        ] {
            let resolved = in_directory("make", directory, effect);
            let mut case = Case::new("shell.run", resolved.clone());
            case.rules = vec![rule.clone()];
            assert_eq!(case.word() == "rule", expected, "{} {resolved:?}", rule.describe());
            case.rules.clear();
            case.grants = vec![rule.clone()];
            assert_eq!(case.word() == "grant", expected, "{} {resolved:?}", rule.describe());
        }
    }
}

#[test]
fn a_deny_rule_covers_every_directory_and_network_unless_it_names_them() {
    use ToolEffect::{Execute, ExecuteNetwork};
    let rule = PermissionRule::deny("shell.run", RuleMatcher::Command { command: "make".into() });
    for (directory, effect) in [(".", Execute), ("sub", Execute), ("sub", ExecuteNetwork)] {
        assert!(rule.matches("shell.run", &in_directory("make", directory, effect)));
    }
    let network = PermissionRule { network: true, ..rule.clone() };
    assert!(network.matches("shell.run", &in_directory("make", ".", ExecuteNetwork)));
    assert!(!network.matches("shell.run", &in_directory("make", ".", Execute)));
    let elsewhere = PermissionRule { directory: Some("sub".into()), ..rule };
    assert!(elsewhere.matches("shell.run", &in_directory("make", "sub", Execute)));
    assert!(!elsewhere.matches("shell.run", &in_directory("make", ".", Execute)));
}

#[test]
fn an_offered_rule_names_network_and_directory_and_old_rules_have_neither() {
    let with_network = in_directory("make", "sub", ToolEffect::ExecuteNetwork);
    let rule = PermissionRule::for_call("shell.run", &with_network).unwrap();
    assert_eq!(
        rule.describe(),
        "allow shell.run with exactly `make` in the directory `sub`, with network access"
    );
    assert!(rule.matches("shell.run", &with_network));
    assert!(!rule.matches("shell.run", &in_directory("make", ".", ToolEffect::ExecuteNetwork)));
    let old: PermissionRule = serde_json::from_value(json!({
        "effect": "allow", "tool": "shell.run", "matching": { "match": "command", "command": "make" },
    }))
    .unwrap();
    assert!(old.matches("shell.run", &in_directory("make", ".", ToolEffect::Execute)));
    assert!(!old.matches("shell.run", &with_network));
}

#[test]
fn a_command_of_the_plan_is_approved_for_the_workspace_itself() {
    for (directory, expected) in [(".", "plan"), ("sub", "ask")] {
        let mut case =
            Case::new("shell.run", in_directory("cargo test", directory, ToolEffect::Execute));
        case.plan = Some(plan(&[RiskClass::Execute]));
        assert_eq!(case.word(), expected, "{directory}");
    }
}

#[test]
fn deep_nesting_is_marked_unreadable_instead_of_overflowing_the_stack() {
    let read = || {
        for opening in ["${", "\"${", "$(", "`", "((", "{", "$((", "<(", "\"$(", "[[ ", "$(${"] {
            let line = format!("echo {}", opening.repeat(30_000));
            simple_commands(&line);
            find_danger(&line);
            find_danger(&opening.repeat(30_000));
        }
        find_danger(&format!("echo {}", "${".repeat(30_000))).is_some()
    };
    let reader = std::thread::Builder::new().stack_size(2 << 20).spawn(read).unwrap();
    assert!(reader.join().unwrap());
}

#[test]
fn a_line_that_might_be_forbidden_is_refused_with_that_reason() {
    let reason = |line: &str| {
        let mut case = Case::new("shell.run", command(line));
        let matching = RuleMatcher::CommandPrefix { prefix: "git push".into() };
        case.rules = vec![PermissionRule::deny("shell.run", matching)];
        match decide_permission(&case.input()) {
            PermissionVerdict::Refuse { why, .. } => why,
            other => panic!("{line}: {other:?}"),
        }
    };
    for line in ["$X push", "echo 'unclosed", "printf x | sh", "/bin/g?t push"] {
        let reason = reason(line);
        assert!(
            reason.contains("only known when it runs") && reason.contains("`git push`"),
            "{reason}"
        );
    }
    for line in ["git push", "true; git push", "git push 'unclosed", "$X; git push"] {
        assert!(reason(line).starts_with("your rule says"), "{line}");
    }
}
