//! External tool servers: over HTTP, and in sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use planwright_model::permission::{PermissionRule, RuleMatcher};
use planwright_tools::mcp::McpServers;
use planwright_tools::{McpServerSettings, McpTransport, PermissionAnswer, Toolbox, builtin};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::models::server::Server as ModelServer;
use crate::models::wire::Format;
use crate::tools::{Place, ScriptedCallHost, call_of, not_tested, small_command, toolbox};

const LONG: Duration = Duration::from_secs(60);

/// Implements just enough of the protocol over HTTP, and behaves as the names of its tools indicate.
struct OverHttp {
    url: String,
    /// The head and the method of every request.
    seen: Arc<Mutex<Vec<(String, String)>>>,
    task: tokio::task::JoinHandle<()>,
}

/// Where all requests are redirected to, if set.
type Elsewhere = Option<String>;

impl OverHttp {
    async fn start(elsewhere: Elsewhere) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&log), elsewhere.clone()));
            }
        });
        Self { url, seen, task }
    }

    fn methods(&self) -> Vec<String> {
        self.seen.lock().unwrap().iter().map(|(_, method)| method.clone()).collect()
    }

    fn servers(&self, time_limit: Duration) -> McpServers {
        // Any variable that is set will do as a token.
        let reach = McpTransport::Http {
            url: self.url.clone(),
            token_variable: Some("CARGO_PKG_NAME".to_owned()),
        };
        let server = McpServerSettings { transport: reach, effects: BTreeMap::new(), time_limit };
        McpServers::new(&BTreeMap::from([("far".to_owned(), server)]))
    }
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut socket: TcpStream,
    log: Arc<Mutex<Vec<(String, String)>>>,
    elsewhere: Elsewhere,
) -> Option<()> {
    let (head, body) = read(&mut socket).await?;
    let method = body["method"].as_str().unwrap_or_default().to_owned();
    log.lock().unwrap().push((head.clone(), method.clone()));
    if let Some(elsewhere) = elsewhere {
        let head = format!("location: {elsewhere}\r\n");
        return reply(&mut socket, "307 Temporary Redirect", &head, "").await;
    }
    if !head.starts_with("POST") {
        return reply(&mut socket, "405 Method Not Allowed", "", "").await;
    }
    let result = match method.as_str() {
        "initialize" => json!({
            "protocolVersion": body["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "far", "version": "1" },
        }),
        "tools/list" => {
            let tool = |name: &str| {
                json!({
                    "name": name, "description": format!("Does {name}"),
                    "inputSchema": { "type": "object", "properties": { "word": { "type": "string" } } },
                })
            };
            json!({ "tools": [tool("twice"), tool("hang"), tool("crash")] })
        }
        "tools/call" => match body["params"]["name"].as_str() {
            Some("twice") => {
                let word = body["params"]["arguments"]["word"].as_str().unwrap_or_default();
                json!({ "content": [{ "type": "text", "text": format!("{word} {word}") }] })
            }
            Some("hang") => return std::future::pending().await,
            _ => {
                socket.set_zero_linger().unwrap();
                return None;
            }
        },
        // Notifications get no result.
        _ => return reply(&mut socket, "202 Accepted", "", "").await,
    };
    let answer = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result }).to_string();
    let head = "content-type: application/json\r\nmcp-session-id: s1\r\n";
    reply(&mut socket, "200 OK", head, &answer).await
}

async fn reply(socket: &mut TcpStream, status: &str, head: &str, body: &str) -> Option<()> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(text.as_bytes()).await.ok()
}

async fn read(socket: &mut TcpStream) -> Option<(String, Value)> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = socket.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_ascii_lowercase().replacen("post", "POST", 1);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if body.len() >= length {
            return Some((head, serde_json::from_str(body).unwrap_or_default()));
        }
    }
}

fn anything_once() -> Arc<ScriptedCallHost> {
    Arc::new(ScriptedCallHost {
        answers: vec![PermissionAnswer::Once; 9].into(),
        ..ScriptedCallHost::default()
    })
}

async fn code_of(toolbox: &Toolbox, tool: &str) -> String {
    let result = toolbox.invoke(call_of(tool, json!({ "word": "hi" }))).await.result;
    result.to_failure().map(|failure| failure.code).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_over_http_is_listed_and_called_and_may_hang_or_break_off() {
    let dir = tempfile::tempdir().unwrap();
    let far = OverHttp::start(None).await;
    let servers = far.servers(LONG);
    let mut registry = builtin::builtin_registry();
    let reports = servers.register_tools(&mut registry).await;
    let names = reports[0].outcome.clone().unwrap();
    assert_eq!(names, ["mcp.far.twice", "mcp.far.hang", "mcp.far.crash"]);
    let call_host_script = anything_once();
    let near = toolbox(dir.path(), registry, servers.clone(), &call_host_script);
    let reply = near.invoke(call_of("mcp.far.twice", json!({ "word": "hi" }))).await.result;
    assert_eq!(reply.data["text"], "hi hi", "{reply:?}");
    assert_eq!(
        call_host_script.asked.lock().unwrap().len(),
        1,
        "it asks like any tool of somebody else"
    );
    let token = format!("authorization: bearer {}", env!("CARGO_PKG_NAME"));
    assert!(far.seen.lock().unwrap().iter().all(|(head, _)| head.contains(&token)));

    assert_eq!(code_of(&near, "mcp.far.crash").await, "server_unavailable");
    assert_eq!(code_of(&near, "mcp.far.twice").await, "", "it is reached again");
    servers.stop_all().await;

    let slow = far.servers(Duration::from_secs(3));
    let mut registry = builtin::builtin_registry();
    slow.register_tools(&mut registry).await;
    let near = toolbox(dir.path(), registry, slow.clone(), &anything_once());
    assert_eq!(code_of(&near, "mcp.far.hang").await, "timeout");
    slow.stop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirecting_server_receives_neither_token_nor_arguments_elsewhere() {
    let other = OverHttp::start(None).await;
    let far = OverHttp::start(Some(other.url.clone())).await;
    let servers = far.servers(LONG);
    let reports = servers.register_tools(&mut builtin::builtin_registry()).await;
    assert!(reports[0].outcome.is_err(), "{reports:?}");
    assert!(!far.methods().is_empty());
    assert_eq!(other.methods(), Vec::<String>::new(), "nothing was sent to another host");
    servers.stop_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_tool_while_its_server_runs_is_asked_about_before_the_next_call() {
    let dir = tempfile::tempdir().unwrap();
    let flag = dir.path().join("changed");
    let reach = McpTransport::Process {
        command: small_command(),
        environment: Vec::new(),
        set: BTreeMap::from([
            ("SMALL_SERVER".to_owned(), "Says a word twice".to_owned()),
            ("SMALL_SERVER_CHANGES".to_owned(), flag.display().to_string()),
        ]),
    };
    let server = McpServerSettings { transport: reach, effects: BTreeMap::new(), time_limit: LONG };
    let servers = McpServers::new(&BTreeMap::from([("small".to_owned(), server)]));
    let call_host_script = Arc::new(ScriptedCallHost {
        rules: vec![PermissionRule::allow("mcp.small.twice", RuleMatcher::Any)],
        answers: vec![PermissionAnswer::Once].into(),
        ..ScriptedCallHost::default()
    });
    let near = toolbox(dir.path(), builtin::builtin_registry(), servers, &call_host_script);
    assert_eq!(code_of(&near, "mcp.small.twice").await, "unknown_tool", "nobody started it yet");
    let reports = near.connect_servers().await;
    assert!(reports[0].outcome.is_ok(), "{reports:?}");
    assert!(near.connect_servers().await.is_empty(), "it is started once");
    assert_eq!(code_of(&near, "mcp.small.twice").await, "");
    std::fs::write(&flag, "").unwrap();
    // The server has changed when it comes back.
    near.stop_servers().await;
    assert_eq!(code_of(&near, "mcp.small.twice").await, "changed_meanwhile");
    assert_eq!(code_of(&near, "mcp.small.twice").await, "needs_person");
    let asked = call_host_script.asked.lock().unwrap().clone();
    assert!(asked.last().unwrap().contains("changed since you allowed it"), "{asked:?}");
    near.stop_servers().await;
}

const AGENT: &str = "title = \"Say it\"\n[[tasks]]\nid = \"say\"\ndescription = \"Say hi twice\"\nrun = { agent = {} }\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_in_a_session_sees_and_calls_the_tools_of_a_server() {
    let call = Format::OpenAi.call("mcp_small_twice", &json!({ "word": "hi" }));
    let done = Format::OpenAi.call("task_done", &json!({ "answer": "It said hi hi." }));
    let acts = vec![Format::OpenAi.stream(call), Format::OpenAi.stream(done)];
    let model = ModelServer::start(acts).await;
    let command: Vec<String> = small_command().iter().map(|word| format!("{word:?}")).collect();
    let tag = std::process::id();
    let config = format!(
        "provider = \"mock\"\nprotocol = \"tools\"\n\
         [providers.mock]\nkind = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"m\"\napi_key_cmd = \"echo a-key-for-tests\"\nconsent = true\n\
         [mcp.small]\ncommand = [{}]\nset = {{ SMALL_SERVER = \"Says a word twice\", SESSION_TEST = \"{tag}\" }}\n\
         [[permissions.allow]]\ntool = \"mcp.small.twice\"\n",
        model.url,
        command.join(", ")
    );
    let place = Place::new(&config);
    let plan = place.dir.path().join("plan.toml");
    std::fs::write(&plan, AGENT).unwrap();
    let run = ["run", plan.to_str().unwrap(), "--headless", "--yes", "--json"];

    // Nobody has approved the tool yet, and nobody is there to do it.
    let first = tokio::task::block_in_place(|| place.run(&run));
    assert_eq!(first.status.code(), Some(3), "{}", String::from_utf8_lossy(&first.stdout));
    assert!(String::from_utf8_lossy(&first.stdout).contains("\"tool\":\"mcp.small.twice\""));
    let tools = model.bodies()[0]["tools"].to_string();
    assert!(tools.contains("mcp_small_twice") && tools.contains("Says a word twice"), "{tools}");

    // With the open question answered the agent continues with the same call.
    let answer = ["answer", "last", "next", "allow once", "--json"];
    let answered = tokio::task::block_in_place(|| place.answer_and_resume(&answer));
    let printed = String::from_utf8_lossy(&answered.stdout).into_owned();
    assert_eq!(answered.status.code(), Some(0), "{printed}{answered:?}");
    assert!(model.bodies()[1].to_string().contains("hi hi"), "{:?}", model.bodies());
    if !std::path::Path::new("/proc/self/environ").exists() {
        return not_tested("this system does not tell which processes run");
    }
    let left = crate::hostile_servers::processes_with(&format!("SESSION_TEST={tag}"));
    assert!(left.is_empty(), "the server ends with the session: {left:?}");
}
