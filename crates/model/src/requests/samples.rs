//! One request of every kind, made by its constructor: what tests show, answer and check instead of writing their own.

use std::collections::BTreeSet;

use super::{
    AgentInquiry, AppliedCheckReview, AskReason, CallEvidence, CallInDoubt, CandidateComparison,
    ChangeReview, CommandAskReason, CommandPlacement, CommandQuestion, DeskPermissionQuestion,
    DeskQuestionInWords, DraftEvidence, InDoubtAction, ModelFailure, OfflineOutlook, PartialWork,
    ProposedPlan, ReachedCap, Request, RequestId, RequestKind, StageTrouble, TaskSpending,
    ToolCallQuestion, TriedCandidate, agent_question_request, applied_check_request,
    budget_request, candidate_choice_request, cap_request, change_review_request, command_request,
    consent_request, desk_permission_request, desk_question_request, draft_request,
    escalation_request, final_plan_request, goal_request, in_doubt_request, low_confidence_request,
    model_failure_request, partly_done_request, pattern_rfc_request, permission_request,
    planned_request, planning_cap_request, questions_request, submitted_plan_request,
    subtype_rfc_request, task_limit_request, unchanged_plan_request, validation_request,
    widening_detail,
};
use crate::event::RiskClass;
use crate::request::RequestDetail;
use crate::{
    ApplyConflict, ApprovalTarget, Assumption, AssumptionOrigin, CallId, ChangeProposal,
    Confidence, ConfidenceVerdict, Digest, EscalationReason, FailedCheck, GraphFacts, MicroDollars,
    OffsetDateTime, PatternChoice, PatternSpec, PatternType, PlanQuestion, ProposedFile,
    ProposedFileKind, QuestionChoice, Risk, RoadmapOption, RunCap, Schedule, ScheduleRelaxation,
    Severity, Stage, StageAssessment, TaskNode, Violation,
};

/// Every request there is, at least one for each constructor, numbered from 1.
pub fn every_request() -> Vec<Request> {
    let mut requests = plan_requests();
    requests.extend(draft_requests());
    requests.extend(question_requests());
    requests.extend(trouble_requests());
    requests.extend(limit_requests());
    requests.extend(run_requests());
    requests.extend(desk_requests());
    for (number, request) in (1..).zip(&mut requests) {
        request.id = RequestId(number);
    }
    requests
}

/// The requests whose kind a test picks.
pub fn requests_where(is_meant: impl Fn(&RequestKind) -> bool) -> Vec<Request> {
    every_request().into_iter().filter(|request| is_meant(&request.kind)).collect()
}

const ID: RequestId = RequestId(1);

fn call() -> CallId {
    CallId { task: "build".into(), attempt: 1, step: 2 }
}

fn digest() -> Digest {
    Digest::from_json(&serde_json::json!({ "sample": 1 }))
}

fn assessment() -> StageAssessment {
    StageAssessment {
        confidence: Confidence {
            stage: Stage::Outline,
            value: 0.61,
            self_score: Some(0.7),
            rules: 0.5,
            heuristics: 0.66,
            terms: Vec::new(),
            verdict: ConfidenceVerdict::Escalate,
            may_advance: false,
        },
        violations: vec![Violation::new(
            "G306",
            Severity::Repairable,
            "Phase 2 has no tasks.",
            "Add a task.",
        )],
    }
}

fn pattern() -> PatternChoice {
    PatternChoice {
        pattern: PatternSpec {
            subtype: Some("launch".into()),
            ..PatternSpec::new(PatternType::MilestoneProject)
        },
        confidence: 0.64,
        margin: 0.1,
        second: Some(PatternSpec::new(PatternType::RecurringCycle)),
        explanations: Vec::new(),
        others: Vec::new(),
        proposed_pattern: None,
    }
}

fn option(label: &str, effort_minutes: u32, risk: Risk) -> RoadmapOption {
    RoadmapOption {
        id: label.to_lowercase(),
        label: label.into(),
        summary: String::new(),
        tasks: String::new(),
        effort_minutes,
        span_weeks: 2,
        risk,
        score: 0.8,
        chosen: label == "Balanced",
        rationale: String::new(),
    }
}

/// Hands the evidence of a draft to a constructor.
fn with_evidence<T>(make: impl FnOnce(&DraftEvidence<'_>) -> T) -> T {
    let assumption = Assumption {
        key: "hours_per_week".into(),
        value: "6".into(),
        origin: AssumptionOrigin::Template,
        question: None,
    };
    make(&DraftEvidence {
        pattern: Some(&pattern()),
        assessment: Some(&assessment()),
        low_confidence: true,
        open_changes: &["use less paper".to_owned()],
        reports: &[],
        assumptions: &[assumption],
        options: &[
            option("Balanced", 600, Risk::Low),
            option("Faster", 480, Risk::Medium),
            option("Thorough", 900, Risk::Low),
        ],
        ideas: &["start with a prototype".to_owned()],
        may_start_today: true,
        lacks_steps: false,
    })
}

fn plan_requests() -> Vec<Request> {
    let hash = digest();
    let facts = GraphFacts { root_tasks: vec!["build".into()], ..GraphFacts::default() };
    let plan = ProposedPlan { hash: &hash, revision: 2, facts: &facts, normalization: &[] };
    let mut wider = final_plan_request(ID, &plan);
    wider.details.push(widening_detail(1, &["\"Deploy\" is new".to_owned()]));
    vec![
        final_plan_request(ID, &plan),
        wider,
        with_evidence(|draft| planned_request(ID, &plan, draft, 90)),
        with_evidence(|draft| unchanged_plan_request(ID, &plan, draft, 0)),
    ]
}

fn draft_requests() -> Vec<Request> {
    let request = |target| with_evidence(|draft| draft_request(ID, target, 1, draft));
    ApprovalTarget::ALL.into_iter().map(request).collect()
}

fn question_requests() -> Vec<Request> {
    let question = |key: &str, text: &str, assumed: &str| PlanQuestion {
        key: key.into(),
        text: text.into(),
        assumed: assumed.into(),
        changes: "It decides how long the plan takes.".into(),
        choices: vec![QuestionChoice { answer: assumed.into(), effect: "a smaller plan".into() }],
    };
    let questions = [
        question("hours_per_week", "How many hours a week do you have?", "6"),
        question("level", "How much do you know already?", "beginner"),
    ];
    let near = "project";
    vec![
        questions_request(ID, &questions[..1]),
        questions_request(ID, &questions),
        goal_request(ID, ""),
        goal_request(ID, "be better"),
        goal_request(ID, &"write it all down ".repeat(60)),
        subtype_rfc_request(ID, "podcast", near, "it has episodes"),
        pattern_rfc_request(ID, "spiral_growth", near, "it grows in rounds"),
    ]
}

fn trouble_requests() -> Vec<Request> {
    let assessment = assessment();
    let ideas = ["start with a prototype".to_owned()];
    let trouble = StageTrouble {
        stage: Stage::Outline,
        assessment: Some(&assessment),
        trouble: None,
        ideas: &ideas,
        is_offline: false,
    };
    let failure = ModelFailure {
        stage: Stage::Roadmap,
        drafter: "ollama",
        why: "the answer was not JSON",
        has_draft: true,
    };
    vec![
        low_confidence_request(ID, &trouble),
        validation_request(ID, &trouble),
        validation_request(ID, &StageTrouble { is_offline: true, ..trouble }),
        model_failure_request(ID, &failure),
        model_failure_request(ID, &ModelFailure { has_draft: false, ..failure }),
    ]
}

fn limit_requests() -> Vec<Request> {
    let start: OffsetDateTime = "2026-06-08T09:00:00+02:00".parse().expect("a literal in RFC 3339");
    let mut schedule = Schedule::new("Europe/Berlin", start, start);
    schedule.lateness_minutes = 130;
    let relaxation = |summary: &str| ScheduleRelaxation {
        changes: Vec::new(),
        summary: summary.into(),
        finish: None,
        dates: Vec::new(),
    };
    schedule.relaxations = vec![relaxation("end 3 days later"), relaxation("drop 1 optional task")];
    let hard: BTreeSet<String> = ["deadline".to_owned()].into();
    vec![
        planning_cap_request(ID, Some(&EscalationReason::CapTurns)),
        planning_cap_request(ID, None),
        budget_request(ID, None, None),
        escalation_request(ID, Some(&schedule), &hard),
        escalation_request(ID, None, &hard),
    ]
}

fn run_requests() -> Vec<Request> {
    let mut requests: Vec<Request> = RunCap::ALL.into_iter().map(reached_cap).collect();
    requests.extend(in_doubt_requests());
    requests.push(command_request(
        ID,
        &CommandQuestion {
            call: &call(),
            description: "Build the site",
            command: "make site",
            input: digest(),
            why: CommandAskReason::EveryStep,
            placement: CommandPlacement::Confined { workspace: "~/site".into() },
            danger: Some("the command removes what it finds".into()),
            dependents: 2,
        },
    ));
    requests.push(tool_call(None));
    requests.push(tool_call(Some("allow make in ~/site".to_owned())));
    let task = TaskNode::new("build", "Build the site");
    requests.push(task_limit_request(ID, &task, "It has used its 12 steps."));
    requests.extend(agent_requests(&task));
    requests.extend(change_reviews(&task));
    requests.push(candidate_choice(&task));
    requests.push(consent_request(ID, "openai", "OPENAI_API_KEY"));
    requests
}

fn agent_requests(task: &TaskNode) -> [Request; 3] {
    let choices = ["The old layout".to_owned(), "The new one".to_owned()];
    let question = "Which layout should the pages keep?";
    let inquiry = AgentInquiry { question, choices: &choices, call: Some(4) };
    let words = AgentInquiry { question: "I cannot find the theme.", choices: &[], call: None };
    let work = PartialWork {
        summary: "The pages build; the search does not.",
        changed_files: &["site/pages.toml".to_owned()],
        left: &["the index of the search".to_owned()],
    };
    [
        agent_question_request(ID, task, inquiry),
        agent_question_request(ID, task, words),
        partly_done_request(ID, task, work),
    ]
}

fn change_reviews(task: &TaskNode) -> [Request; 3] {
    let file = |path: &str, change, added, removed| ProposedFile {
        path: path.to_owned(),
        change,
        added,
        removed,
        protected: false,
    };
    let proposal = ChangeProposal {
        files: vec![
            file("site/pages.toml", ProposedFileKind::Modified, 1, 1),
            file("site/search.md", ProposedFileKind::Added, 2, 0),
        ],
        left_out: Vec::new(),
    };
    let diffs = [
        RequestDetail::new(
            "site/pages.toml +1 -1",
            "@@ -1,2 +1,2 @@\n title = \"Docs\"\n-search = false\n+search = true\n",
        ),
        RequestDetail::new("site/search.md +2 -0", "@@ -0,0 +1,2 @@\n+# Search\n+Type a word.\n"),
    ];
    let review = ChangeReview {
        task,
        attempt: 1,
        proposal: &proposal,
        diffs: &diffs,
        summary: "The search page is there and linked.",
        criteria_met: false,
        left_out: &["target/".to_owned()],
        overlaps: &[],
        conflicts: &[],
        error: None,
        failing: Some("Rename the titles"),
        dependents: &["Publish the site".to_owned()],
    };
    let hunk = "<<<<<<< your workspace, line 2\nsearch = \"title\"\n||||||| before\nsearch = false\n=======\nsearch = true\n>>>>>>> the task";
    let conflict = ApplyConflict {
        hunks: vec![hunk.to_owned()],
        ..ApplyConflict::new("site/pages.toml", "the same lines were changed in the workspace")
    };
    let stuck = ChangeReview { conflicts: &[conflict], ..review.clone() };
    [change_review_request(ID, &review), change_review_request(ID, &stuck), applied_check(task)]
}

fn candidate_choice(task: &TaskNode) -> Request {
    let file = |path: &str, change, added, removed| ProposedFile {
        path: path.to_owned(),
        change,
        added,
        removed,
        protected: false,
    };
    let pages = || file("site/pages.toml", ProposedFileKind::Modified, 1, 1);
    let index = file("site/search.md", ProposedFileKind::Added, 2, 0);
    let first = ChangeProposal { files: vec![pages(), index], left_out: Vec::new() };
    let second = ChangeProposal { files: vec![pages()], left_out: Vec::new() };
    let change = |text: &str| [RequestDetail::new("site/pages.toml +1 -1", text)];
    let first_diffs =
        change("@@ -1,2 +1,2 @@\n title = \"Docs\"\n-search = false\n+search = true\n");
    let second_diffs =
        change("@@ -1,2 +1,2 @@\n title = \"Docs\"\n-search = false\n+search = \"all\"\n");
    let tried = |id: &'static str, title: &str| TriedCandidate {
        task: Box::leak(Box::new(id.into())),
        title: title.to_owned(),
        proposal: None,
        diffs: &[],
        summary: "",
        criteria_met: false,
        elapsed_ms: 95_000,
        tokens: 0,
        unavailable: Some("did not finish: it said nothing for 10 min".to_owned()),
    };
    let done = |own: TriedCandidate<'static>| TriedCandidate {
        criteria_met: true,
        unavailable: None,
        ..own
    };
    let candidates = [
        TriedCandidate {
            proposal: Some(&first),
            diffs: &first_diffs,
            summary: "The search page is there and linked.",
            tokens: 18_400,
            ..done(tried("build.claude", "Claude Code"))
        },
        TriedCandidate {
            proposal: Some(&second),
            diffs: &second_diffs,
            ..done(tried("build.codex", "Codex"))
        },
        tried("build.goose", "goose"),
    ];
    let task = TaskNode {
        exit_criteria: vec![crate::ExitCriterion::FileExists {
            path: "site/pages.toml".to_owned(),
            on: crate::task::CriterionEffect::Success,
        }],
        ..task.clone()
    };
    let dependents = ["Publish the site".to_owned()];
    let compared = CandidateComparison {
        task: &task,
        attempt: 1,
        candidates: &candidates,
        dependents: &dependents,
    };
    candidate_choice_request(ID, &compared)
}

fn applied_check(task: &TaskNode) -> Request {
    let failure = FailedCheck {
        task: "build".into(),
        check: "make test".to_owned(),
        outcome: "exit 2".to_owned(),
        output: "FAIL search: no page has a title\n1 failed, 8 passed".to_owned(),
    };
    let review = AppliedCheckReview {
        task,
        attempt: 1,
        failures: &[failure],
        changes: "2 files, +3 -1".to_owned(),
        meanwhile: &["Rename the titles".to_owned()],
        conflicts: &[],
        dependents: &["Publish the site".to_owned()],
    };
    applied_check_request(ID, &review)
}

fn reached_cap(cap: RunCap) -> Request {
    let spending = TaskSpending {
        task: "build".into(),
        title: "Build the site".into(),
        tokens: 120_000,
        cost: MicroDollars(1_400_000),
        attempt: 2,
    };
    cap_request(
        ID,
        &ReachedCap {
            cap,
            used: 2_000_000,
            limit: 2_000_000,
            waiting: 3,
            running: 1,
            done: 4,
            spending: vec![spending],
            offline: Some(OfflineOutlook { agent_tasks: 1, other_tasks: 2 }),
            next_call: Some("the next call may cost $0.30"),
        },
    )
}

fn in_doubt_requests() -> Vec<Request> {
    let args = serde_json::json!({ "path": "notes.md" });
    let call = call();
    let doubt = CallInDoubt {
        call: &call,
        task: &call.task,
        title: "Build the site",
        tool: "file.write",
        by_agent: true,
        action: InDoubtAction::ToolCall { tool: "file.write", args: &args },
        evidence: CallEvidence::NoProcess,
        output_lines: 0,
        last_line: "",
        dependents: 1,
    };
    let command = CallInDoubt {
        tool: "shell",
        by_agent: false,
        action: InDoubtAction::Command("make site"),
        evidence: CallEvidence::FoundRunning(vec![4711]),
        output_lines: 7,
        last_line: "linking",
        ..doubt.clone()
    };
    let running =
        CallInDoubt { evidence: CallEvidence::StillRunning(vec![4711]), ..command.clone() };
    [doubt, command, running].iter().map(|doubt| in_doubt_request(ID, doubt)).collect()
}

fn tool_call(rule: Option<String>) -> Request {
    permission_request(
        ID,
        &ToolCallQuestion {
            call: &call(),
            title: "Build the site",
            tool: "shell.run",
            class: RiskClass::Execute,
            why: &AskReason::NotAllowedYet { class: RiskClass::Execute },
            command: Some("make site"),
            url: None,
            directory: Some("site"),
            files: Vec::new(),
            args: &serde_json::json!({ "command": "make site" }),
            preview: None,
            is_foreign: false,
            asked_by: None,
            in_copy: false,
            input: None,
            has_network: true,
            unconfined: Some("the kernel has no Landlock"),
            rule,
        },
    )
}

fn desk_requests() -> Vec<Request> {
    let (hash, facts) = (digest(), GraphFacts::default());
    let plan = ProposedPlan { hash: &hash, revision: 1, facts: &facts, normalization: &[] };
    let permission = |tool: &'static str, action: &'static str, is_command| {
        let asks = DeskPermissionQuestion {
            agent: "Claude Code",
            tool,
            action,
            is_command,
            directory: "/home/ana/parser",
            reason: "remove the generated parser",
            danger: is_command.then_some("it deletes files"),
            digest: digest(),
        };
        desk_permission_request(ID, &asks)
    };
    vec![
        submitted_plan_request(ID, &plan, "Claude Code"),
        desk_question_request(
            ID,
            DeskQuestionInWords {
                agent: "Codex",
                question: "Keep the old command-line flags?",
                choices: &["yes, with a warning".to_owned(), "no".to_owned()],
                task: Some((&"flags".into(), "Port the flags")),
            },
        ),
        permission("Bash", "rm -rf src/generated", true),
        permission("WebFetch", "{\"url\":\"https://example.org\"}", false),
    ]
}
