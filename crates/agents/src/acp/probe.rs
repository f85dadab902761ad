//! A harmless test of an agent: whether it starts, is signed in, and asks before it runs a command. It works in an empty
//! directory, and what it asks leave for is not allowed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::bounded_lines::LineBounds;
use super::connection::{AgentMessage, METHOD_NOT_FOUND, RequestError};
use super::live_agent::{AgentLaunch, LiveAgent, SessionFault, is_sign_in_error, sign_in_failure};
use super::permission::PermissionReply;
use crate::own_agent::{AgentProbe, OwnAgent};
use planwright_model::{AskingHabit, Category, ExecutionFailure};
use planwright_tools::agent_process::UnconfinedAgent;
use planwright_tools::sandbox::Sandbox;

/// How long the agent may take to do what it is asked.
const PROBE_TIME: Duration = Duration::from_secs(90);
/// The file that it is asked to make, and may not.
const PROBE_FILE: &str = "planwright-test.txt";

/// What the agent is asked, unless the person has other words for it.
pub fn probe_prompt() -> String {
    format!(
        "Run exactly this shell command in the current directory, then stop: touch {PROBE_FILE}"
    )
}

/// Tests an agent in an empty directory.
pub async fn probe_agent(
    agent: &OwnAgent,
    sandbox: &Sandbox,
    directory: &Path,
    prompt: &str,
) -> Result<AgentProbe, ExecutionFailure> {
    let launch = AgentLaunch {
        agent,
        sandbox,
        directory: directory.to_owned(),
        readable: Vec::new(),
        mark: format!("probe/{}/{}", agent.name, std::process::id()),
        unconfined: UnconfinedAgent::Refused,
        report: Arc::new(|_: &str| {}),
        bounds: LineBounds::default(),
    };
    let mut live = LiveAgent::start(launch, None).await.map_err(|fault| match fault {
        SessionFault::Failed(failure) => failure,
        SessionFault::NotLoaded { why } => {
            ExecutionFailure::new("agent_error", Category::Recoverable, why)
        }
    })?;
    let answered = tokio::time::timeout(PROBE_TIME, run_probe(&mut live, prompt)).await;
    let session = live.session.clone();
    let Ok((asked, answer)) = answered else {
        let error = RequestError::NoAnswer { seconds: PROBE_TIME.as_secs() };
        return Err(live.end_broken(agent, &error).await);
    };
    if let Err(error) = answer {
        if let RequestError::Refused { code, message } = &error
            && is_sign_in_error(*code, message)
        {
            live.end().await;
            return Err(sign_in_failure(agent, message));
        }
        // Some agents end a turn with an error when what they asked for is not allowed.
        if !asked {
            return Err(live.end_broken(agent, &error).await);
        }
    }
    live.end().await;
    let made = directory.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    let asks = match (asked, made) {
        (_, true) => AskingHabit::DoesNotAsk,
        (true, false) => AskingHabit::Asks,
        (false, false) => AskingHabit::Untested,
    };
    Ok(AgentProbe { session, asks })
}

/// Sends the prompt and allows nothing. Whether the agent asked, and how its turn ended.
async fn run_probe(live: &mut LiveAgent, prompt: &str) -> (bool, Result<Value, RequestError>) {
    let LiveAgent { connection, incoming, session, .. } = live;
    let params = json!({
        "sessionId": session.id,
        "prompt": [{ "type": "text", "text": prompt }],
    });
    let answer = connection.request("session/prompt", params);
    tokio::pin!(answer);
    let mut asked = false;
    loop {
        tokio::select! {
            biased;
            Some(message) = incoming.recv() => asked |= refuse_message(message),
            answered = &mut answer => {
                while let Ok(message) = incoming.try_recv() {
                    asked |= refuse_message(message);
                }
                return (asked, answered);
            }
        }
    }
}

/// Answers a request with no. Whether it was a question, or work that the agent leaves to us.
fn refuse_message(message: AgentMessage) -> bool {
    let AgentMessage::Request { method, params, reply } = message else { return false };
    if method == "session/request_permission" {
        let options = params.get("options").cloned().unwrap_or(Value::Null);
        reply.send(PermissionReply::RejectOnce.answer(&options).0);
        return true;
    }
    reply.refuse(METHOD_NOT_FOUND, "not in a test");
    matches!(method.as_str(), "terminal/create" | "fs/write_text_file")
}
