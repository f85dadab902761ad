//! An agent of the person's own passes the suite of all executors. It is a shell script that speaks just enough of the
//! protocol, started without a sandbox, because there is no program here that could be one's helper.

use std::path::Path;

use super::super::*;
use super::{executor_with, serve_port_with};
use crate::worktree_runner::WorktreeRunner;
use planwright_model::{AgentProduct, AgentRun, Answer, AskingHabit};
use planwright_text::Redactor;
use planwright_tools::Workspace;
use planwright_tools::executor::conformance::{ConformanceCase, ConformanceTasks, check_executor};
use planwright_tools::worktree::WorktreeDirectory;

/// Answers by what stands in the line; the number of a request is taken from it.
const AGENT: &str = r#"
trap '' TERM
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"session/prompt"'*'never answers'*) while :; do sleep 1; done ;;
    *'"session/prompt"'*'goes wrong'*) answer '"error":{"code":-32603,"message":"the model is gone"}' ;;
    *'"session/prompt"'*) answer '"result":{"stopReason":"end_turn"}' ;;
    *'"initialize"'*) answer '"result":{"protocolVersion":1}' ;;
    *'"session/new"'*) answer '"result":{"sessionId":"s"}' ;;
    *'"session/cancel"'*) ;;
  esac
done
"#;

struct OwnAgentTasks;

impl ConformanceTasks for OwnAgentTasks {
    fn task_for(&self, case: ConformanceCase) -> Option<TaskNode> {
        let description = match case {
            ConformanceCase::Succeed => "It ends well",
            ConformanceCase::Fail => "It goes wrong",
            ConformanceCase::Hang | ConformanceCase::Overrun => "It never answers",
            // A script cannot make the executor panic, and what an agent says goes to the journal as steps.
            ConformanceCase::Panic
            | ConformanceCase::PrintInOrder
            | ConformanceCase::PrintTooMuch => return None,
        };
        let mut task = TaskNode::new("t", description);
        task.run = RunKind::Agent(AgentRun::with_agent("mine"));
        task.timeout_seconds = (case == ConformanceCase::Overrun).then_some(1);
        Some(task)
    }
}

fn executor(directory: &Path, workspace: &Path) -> BuiltInAgentExecutor {
    let script = directory.join("agent.sh");
    std::fs::write(&script, AGENT).unwrap();
    let allows = |_: &Request| Some(Answer::from(ChoiceAction::AllowOnce));
    let mut executor = executor_with(workspace, |receiver| serve_port_with(receiver, allows));
    let agent = OwnAgent {
        name: "mine".to_owned(),
        product: AgentProduct::Custom,
        command: vec!["sh".to_owned(), script.display().to_string()],
        mode: None,
        model: None,
        environment: Vec::new(),
        hosts: Vec::new(),
        readable: Vec::new(),
        writable: Vec::new(),
        asks: AskingHabit::Untested,
        silence: planwright_agents::SILENCE,
    };
    executor.own_agents = Arc::new([("mine".to_owned(), agent)].into());
    executor.worktrees = Some(WorktreeRunner {
        directory: WorktreeDirectory::for_session(&directory.join("data"), "conformance"),
        workspace: Arc::new(Workspace::open(workspace, &[], &[]).unwrap()),
        redactor: Redactor::default(),
        port: executor.port.clone(),
    });
    executor
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_the_persons_own_passes_the_conformance_suite() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    std::fs::write(workspace.join("a.txt"), "one\n").unwrap();
    let executor = executor(directory.path(), &workspace);
    check_executor(Arc::new(executor), &OwnAgentTasks, &workspace).await;
}
