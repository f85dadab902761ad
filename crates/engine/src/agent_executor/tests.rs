//! The built-in agent passes the suite of all executors.

#[path = "own_agent_tests.rs"]
mod own_agent_tests;

use std::path::Path;
use std::sync::atomic::AtomicU32;

use super::*;
use crate::agent_port::AgentPortMessage;
use crate::{AgentPortReceiver, open_agent_port, wall_clock};
use planwright_agents::{AgentAssets, AgentLimits, NobodyThere, ReasoningMode, offline_model};
use planwright_drafting::gate::GatePolicy;
use planwright_llm::protocol::ModelDialogue;
use planwright_llm::{
    DeltaSink, GenerateRequest, GeneratedAnswer, LanguageModel, Message, ModelError, ModelInfo,
};
use planwright_model::SessionId;
use planwright_text::Redactor;
use planwright_tools::executor::conformance::{ConformanceCase, ConformanceTasks, check_executor};
use planwright_tools::mcp::McpServers;
use planwright_tools::sandbox::Sandbox;
use planwright_tools::{
    PermitPool, ToolSettings, Toolbox, ToolboxParts, ToolboxServices, Workspace, builtin,
};

const HANG: &str = "never answers";
const PANIC: &str = "panics";

/// The offline model, except where the task says otherwise.
#[derive(Debug)]
struct CaseModel(Arc<dyn LanguageModel>);

impl LanguageModel for CaseModel {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn generate<'a>(
        &'a self,
        request: &'a GenerateRequest,
        deltas: DeltaSink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<GeneratedAnswer, ModelError>> {
        let asked: String = request.messages.iter().map(Message::text).collect();
        Box::pin(async move {
            assert!(!asked.contains(PANIC), "as the suite asked");
            if asked.contains(HANG) {
                cancel.cancelled().await;
                return Err(ModelError::cancelled("case"));
            }
            self.0.generate(request, deltas, cancel).await
        })
    }
}

struct AgentTasks;

impl ConformanceTasks for AgentTasks {
    fn task_for(&self, case: ConformanceCase) -> Option<TaskNode> {
        let description = match case {
            ConformanceCase::Succeed => "How is the lease renewed by the heartbeat?",
            ConformanceCase::Fail => "How do zebras juggle quasars?",
            ConformanceCase::Hang | ConformanceCase::Overrun => HANG,
            ConformanceCase::Panic => PANIC,
            // What an agent prints goes to the journal as steps, not as output.
            ConformanceCase::PrintInOrder | ConformanceCase::PrintTooMuch => return None,
        };
        let mut task = TaskNode::new("t", description);
        task.task_type = "research".to_owned();
        task.run = RunKind::agent();
        task.timeout_seconds = (case == ConformanceCase::Overrun).then_some(1);
        Some(task)
    }
}

/// Answers what an agent asks its driver, as one does that has nothing to tell.
fn serve_port(receiver: &AgentPortReceiver) {
    serve_port_with(receiver, |_| None);
}

/// The same with somebody who answers questions.
fn serve_port_with(
    receiver: &AgentPortReceiver,
    person: impl Fn(&Request) -> Option<planwright_model::Answer> + Send + 'static,
) {
    let mut messages = receiver.take_receiver().unwrap();
    tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            match message {
                AgentPortMessage::Barrier(done) | AgentPortMessage::Commit(_, _, done) => {
                    let _ = done.send(());
                }
                AgentPortMessage::Brief(_, told) => {
                    let _ = told.send(Some(AgentBrief::default()));
                }
                AgentPortMessage::Progress(_, told) => {
                    let _ = told.send(None);
                }
                AgentPortMessage::Ask(request, answered) => {
                    if let Some(answer) = person(&request) {
                        let _ = answered.send(answer);
                    }
                }
                AgentPortMessage::Record(_) | AgentPortMessage::Review(..) => {}
            }
        }
    });
}

fn executor(workspace: &Path) -> BuiltInAgentExecutor {
    executor_with(workspace, serve_port)
}

fn executor_with(workspace: &Path, serve: impl FnOnce(&AgentPortReceiver)) -> BuiltInAgentExecutor {
    let session = SessionId::new("conformance");
    let (port, receiver) = open_agent_port(session, Vec::new(), wall_clock(), Arc::new(|_| {}));
    serve(&receiver);
    let toolbox = Toolbox::new(ToolboxParts {
        registry: builtin::builtin_registry(),
        servers: McpServers::default(),
        workspace: Arc::new(Workspace::open(workspace, &[], &[]).unwrap()),
        settings: ToolSettings::default(),
        sandbox: Sandbox::unavailable("tests run without it"),
        services: ToolboxServices::default(),
        permits: PermitPool::new(3),
        redactor: Redactor::default(),
        call_host: Arc::new(port.clone()),
        session: "conformance".to_owned(),
    });
    let dialogue = Arc::new(ModelDialogue::new(Arc::new(CaseModel(offline_model()))));
    let assets = AgentAssets::built_in();
    let services = AgentServices {
        planner: Arc::clone(&dialogue),
        judge: Arc::clone(&dialogue),
        summarizer: Arc::clone(&dialogue),
        dialogue,
        toolbox,
        types: Arc::clone(&assets.types),
        prompts: Arc::clone(&assets.prompts),
        recipes: Arc::clone(&assets.recipes),
        limits: AgentLimits::default(),
        person: Arc::new(NobodyThere),
        reasoning_mode: ReasoningMode::Direct,
        gate: GatePolicy::default(),
        clock: wall_clock(),
        next_ask: Arc::new(AtomicU32::new(0)),
        asking: Arc::default(),
    };
    let processes = LocalProcessExecutor::new(Redactor::default(), Vec::new());
    BuiltInAgentExecutor {
        uses_affinity: true,
        processes,
        services,
        port,
        profiles: Arc::new(|_| ToolProfiles::built_in()),
        worktrees: None,
        own_agents: Arc::default(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_built_in_agent_passes_the_conformance_suite() {
    let directory = tempfile::tempdir().unwrap();
    let text = "The lease is renewed by a heartbeat.\nfn renew_lease() { heartbeat(); }\n";
    std::fs::write(directory.path().join("README.md"), text).unwrap();
    check_executor(Arc::new(executor(directory.path())), &AgentTasks, directory.path()).await;
}
