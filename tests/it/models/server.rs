//! A scripted model server: drips, drops, hangs, and sends bytes no server should send.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// A piece of a streamed answer.
#[derive(Clone, Debug)]
pub enum Piece {
    Send(Vec<u8>),
    Wait(Duration),
    /// Stays open and sends nothing more.
    Hang,
    /// Breaks the connection.
    Cut,
}

pub fn send(bytes: impl Into<Vec<u8>>) -> Piece {
    Piece::Send(bytes.into())
}

/// What the server does with one request.
#[derive(Clone, Debug)]
pub enum Act {
    /// A complete answer.
    Reply { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    /// An answer in pieces.
    Stream { kind: &'static str, pieces: Vec<Piece> },
    /// Accepts the request and never answers.
    Silence,
    /// Breaks the connection before answering.
    Reset,
    /// Raw bytes, which need not be HTTP, and then the end or silence.
    Raw { bytes: Vec<u8>, then_hang: bool },
}

impl Act {
    pub fn json(body: &Value) -> Self {
        Self::status(200, &body.to_string())
    }

    pub fn status(status: u16, body: &str) -> Self {
        Self::Reply {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            body: body.as_bytes().to_vec(),
        }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Reply { headers, .. } = &mut self {
            headers.retain(|(old, _)| *old != name);
            headers.push((name, value.to_owned()));
        }
        self
    }
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    pub head: String,
    pub body: Value,
}

/// What is done with the request of a number.
type ActRule = Arc<dyn Fn(usize, &Request) -> Act + Send + Sync>;

/// A running server.
pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Notified whenever a client disconnects in the middle of an answer.
    pub abandoned: Arc<Notify>,
    /// How many answers are in progress, and the largest number there ever was.
    busy: Arc<Mutex<(usize, usize)>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Acts one after the other; the last one repeats.
    pub async fn start(acts: Vec<Act>) -> Self {
        Self::start_beside(None, acts).await
    }

    /// The same, with an answer to requests for the model's metadata, which are not part of the acts.
    pub async fn start_beside(about: Option<Act>, acts: Vec<Act>) -> Self {
        let next = move |count: usize, _: &Request| acts[count.min(acts.len() - 1)].clone();
        Self::start_with(about, Arc::new(next)).await
    }

    /// Acts by a rule: from the number of the request, counted from 0, and the request to what is done with it.
    pub async fn start_by(rule: impl Fn(usize, &Request) -> Act + Send + Sync + 'static) -> Self {
        Self::start_with(None, Arc::new(rule)).await
    }

    async fn start_with(about: Option<Act>, rule: ActRule) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let abandoned = Arc::new(Notify::new());
        let busy = Arc::new(Mutex::new((0, 0)));
        let (log, gone, count) = (Arc::clone(&requests), Arc::clone(&abandoned), Arc::clone(&busy));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (rule, log, gone) = (Arc::clone(&rule), Arc::clone(&log), Arc::clone(&gone));
                let (count, about) = (Arc::clone(&count), about.clone());
                tokio::spawn(async move {
                    {
                        let mut count = count.lock().unwrap();
                        count.0 += 1;
                        count.1 = count.1.max(count.0);
                    }
                    if serve(socket, about, &*rule, &log).await.is_none() {
                        gone.notify_one();
                    }
                    count.lock().unwrap().0 -= 1;
                });
            }
        });
        Self { url, requests, abandoned, busy, task }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The largest number of answers in progress at once.
    pub fn busiest(&self) -> usize {
        self.busy.lock().unwrap().1
    }

    pub fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|request| request.body).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves one request and closes. `None` means that the client disconnected first.
async fn serve(
    mut socket: TcpStream,
    about: Option<Act>,
    rule: &(dyn Fn(usize, &Request) -> Act + Send + Sync),
    log: &Mutex<Vec<Request>>,
) -> Option<()> {
    let request = read(&mut socket).await?;
    let asks_about = request.head.starts_with("POST /api/show");
    let act = if let Some(about) = about.filter(|_| asks_about) {
        about
    } else {
        let mut log = log.lock().unwrap();
        let act = rule(log.len(), &request);
        log.push(request);
        act
    };
    match act {
        Act::Reset => {
            socket.set_zero_linger().unwrap();
            Some(())
        }
        Act::Silence => until_gone(&mut socket).await,
        Act::Raw { bytes, then_hang } => {
            socket.write_all(&bytes).await.ok()?;
            if then_hang { until_gone(&mut socket).await } else { Some(()) }
        }
        Act::Reply { status, headers, body } => {
            let mut head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n",
                body.len()
            );
            for (name, value) in headers {
                head.push_str(name);
                head.push_str(": ");
                head.push_str(&value);
                head.push_str("\r\n");
            }
            head.push_str("\r\n");
            socket.write_all(head.as_bytes()).await.ok()?;
            socket.write_all(&body).await.ok()
        }
        Act::Stream { kind, pieces } => stream(&mut socket, kind, pieces).await,
    }
}

async fn stream(socket: &mut TcpStream, kind: &str, pieces: Vec<Piece>) -> Option<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).await.ok()?;
    for piece in pieces {
        match piece {
            Piece::Send(bytes) if bytes.is_empty() => {}
            Piece::Send(bytes) => {
                socket.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await.ok()?;
                socket.write_all(&bytes).await.ok()?;
                socket.write_all(b"\r\n").await.ok()?;
                socket.flush().await.ok()?;
            }
            Piece::Wait(time) => tokio::time::sleep(time).await,
            Piece::Hang => return until_gone(socket).await,
            Piece::Cut => {
                socket.set_zero_linger().unwrap();
                return Some(());
            }
        }
    }
    socket.write_all(b"0\r\n\r\n").await.ok()
}

async fn until_gone(socket: &mut TcpStream) -> Option<()> {
    let mut rest = [0; 64];
    while socket.read(&mut rest).await.is_ok_and(|read| read > 0) {}
    None
}

async fn read(socket: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = socket.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            })
            .unwrap_or(0);
        while bytes.len() < end + 4 + length {
            let count = socket.read(&mut piece).await.ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&piece[..count]);
        }
        let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
        return Some(Request { head, body });
    }
}
