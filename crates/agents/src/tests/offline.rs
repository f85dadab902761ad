//! Without a model: what the workspace offers is used, and nothing is made up.

use super::fixture::*;
use crate::NEEDS_MODEL;

fn write(directory: &std::path::Path, name: &str, text: &str) {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn plain() -> Setup {
    let mut setup = Setup::default();
    setup.settings.web.search_endpoint = None;
    setup
}

#[tokio::test]
async fn research_over_the_workspace_cites_real_lines() {
    let directory = tempfile::tempdir().unwrap();
    write(
        directory.path(),
        "src/lease.rs",
        "//! One writer.\n\npub fn heartbeat() {}\n\nfn renew_lease() {\n    heartbeat();\n}\n",
    );
    write(directory.path(), "src/other.rs", "fn unrelated() {}\n");
    write(directory.path(), "README.md", "# Demo\nThe lease is renewed by a heartbeat.\n");
    let services = offline_services(plain().toolbox(directory.path()));
    let told =
        run_task(&services, task("research", "How is the lease renewed by the heartbeat?")).await;
    let answer = told.end.result.clone().unwrap();
    let mut cited = 0;
    for line in answer.lines().skip(1) {
        let mut parts = line.splitn(3, ':');
        let (path, number) = (parts.next().unwrap(), parts.next().unwrap());
        let text = parts.next().unwrap();
        let file = std::fs::read_to_string(directory.path().join(path)).unwrap();
        let real = file.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap();
        assert_eq!(text.trim(), real.trim(), "{line}");
        cited += 1;
    }
    assert!(cited >= 3, "{answer}");
    assert!(answer.contains("src/lease.rs:3:") && answer.contains("README.md:2:"), "{answer}");
    assert!(!answer.contains("other.rs"));
    assert_eq!(told.tools(), ["grep", "file.read"]);
    assert_eq!(told.progress().task_state().unwrap().pending_steps, Vec::<String>::new());
}

#[tokio::test]
async fn nothing_found_is_no_success() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "a.txt", "nothing of the kind\n");
    let services = offline_services(plain().toolbox(directory.path()));
    let told = run_task(&services, task("research", "Where is the quorum elected?")).await;
    let failure = told.end.result.unwrap_err();
    assert_eq!(failure.code, NEEDS_MODEL);
    assert!(failure.message.contains("found nothing"), "{}", failure.message);
}

#[tokio::test]
async fn what_needs_judgement_says_that_it_needs_a_model() {
    for kind in ["generic", "code_modify", "code_create"] {
        let directory = tempfile::tempdir().unwrap();
        let services = offline_services(plain().toolbox(directory.path()));
        let told = run_task(&services, task(kind, "Make the parser faster")).await;
        let failure = told.end.result.clone().unwrap_err();
        assert_eq!(failure.code, NEEDS_MODEL, "{kind}");
        assert!(failure.message.contains("set up a model"), "{}", failure.message);
        assert!(told.tools().is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_criterion_in_words_is_not_taken_as_met_without_a_model() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "a.txt", "the lease is here\n");
    let services = offline_services(plain().toolbox(directory.path()));
    let mut task = task("research", "Where is the lease?");
    task.exit_criteria = vec![planwright_model::ExitCriterion::Text {
        text: "the answer is convincing".into(),
        on: planwright_model::task::CriterionEffect::Success,
    }];
    let failure = run_task(&services, task).await.end.result.unwrap_err();
    assert_eq!(failure.code, "criteria_unmet");
}
