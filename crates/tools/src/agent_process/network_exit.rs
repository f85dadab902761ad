//! The only way out of an agent's network: sockets that listen inside it and are answered here.
//!
//! One of them is a proxy that connects to the hosts of the list and to nothing else. Services of this machine that are
//! on the list have a socket of their own, because programs reach those without a proxy.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::allowed_hosts::AllowedHost;
use super::proxy::{ExitProxy, ExitReport};
use crate::sandbox::AgentNetworkRights;

/// How many sockets an agent's network may have: the proxy, and services of this machine.
const MOST_SOCKETS: usize = 16;
/// The port of the proxy in the agent's network, unless a service has it.
const PROXY_PORT: u16 = 3128;
/// How long the agent's process may take to hand its sockets over.
const HANDOVER_TIME: Duration = Duration::from_secs(10);

/// A way out that waits for the sockets of an agent's network.
#[derive(Debug)]
pub(super) struct NetworkExit {
    handover: UnixListener,
    path: PathBuf,
    proxy_port: u16,
    /// Ports of services of this machine.
    services: Vec<u16>,
    proxy: Arc<ExitProxy>,
}

/// A way out that is open until it is dropped.
#[derive(Debug)]
pub(super) struct OpenExit {
    _sockets: JoinSet<()>,
}

impl NetworkExit {
    /// Prepares the way out. The directory must be the agent's own: whoever connects to the socket in it first is
    /// taken for the agent.
    pub(super) fn prepare(
        directory: &Path,
        hosts: &[AllowedHost],
        report: ExitReport,
    ) -> io::Result<Self> {
        let path = directory.join("exit.sock");
        let handover = UnixListener::bind(&path)?;
        handover.set_nonblocking(true)?;
        let mut services: Vec<u16> =
            hosts.iter().filter(|host| host.is_loopback()).map(AllowedHost::port).collect();
        services.sort_unstable();
        services.dedup();
        services.truncate(MOST_SOCKETS - 1);
        let free = |port: &u16| !services.contains(port);
        let proxy_port = (PROXY_PORT..u16::MAX).find(free).unwrap_or(PROXY_PORT);
        let proxy = Arc::new(ExitProxy::new(hosts.to_vec(), report));
        Ok(Self { handover, path, proxy_port, services, proxy })
    }

    /// What the agent's process does when it starts.
    pub(super) fn rights(&self) -> AgentNetworkRights {
        let ports = std::iter::once(self.proxy_port).chain(self.services.iter().copied());
        AgentNetworkRights::Own { handover: self.path.clone(), ports: ports.collect() }
    }

    /// Variables by which programs find the proxy. What is on this machine is reached without it.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let proxy = format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.proxy_port);
        let named = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].into_iter();
        let named = named.flat_map(|name| [name.to_owned(), name.to_lowercase()]);
        let mut variables: Vec<_> = named.map(|name| (name, proxy.clone())).collect();
        for name in ["NO_PROXY", "no_proxy"] {
            variables.push((name.to_owned(), "localhost,127.0.0.1,::1".to_owned()));
        }
        // Node reads the variables above only if it is told to.
        variables.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
        variables
    }

    /// Takes the sockets from the agent's process and answers them from now on.
    pub(super) async fn open(self) -> io::Result<OpenExit> {
        let Self { handover, path, services, proxy, .. } = self;
        let taken = tokio::task::spawn_blocking(move || receive_sockets(&handover)).await;
        // Nobody else is to find it.
        let _ = std::fs::remove_file(&path);
        let mut sockets = taken.map_err(io::Error::other)??.into_iter();
        let mut tasks = JoinSet::new();
        let missing = || io::Error::other("the agent's network has too few sockets");
        let front = listen(sockets.next().ok_or_else(missing)?)?;
        tasks.spawn(serve_proxy(front, proxy));
        for port in services {
            let socket = listen(sockets.next().ok_or_else(missing)?)?;
            tasks.spawn(serve_bridge(socket, port));
        }
        Ok(OpenExit { _sockets: tasks })
    }
}

fn listen(socket: OwnedFd) -> io::Result<TcpListener> {
    let socket = std::net::TcpListener::from(socket);
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket)
}

/// Waits for the agent's process, for as long as it may take.
fn receive_sockets(handover: &UnixListener) -> io::Result<Vec<OwnedFd>> {
    let until = Instant::now() + HANDOVER_TIME;
    let channel = loop {
        match handover.accept() {
            Ok((channel, _)) => break channel,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    };
    channel.set_nonblocking(false)?;
    channel.set_read_timeout(Some(HANDOVER_TIME))?;
    read_descriptors(&channel)
}

fn read_descriptors(channel: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SOCKETS))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8; 1];
    rustix::net::recvmsg(
        channel,
        &mut [IoSliceMut::new(&mut byte)],
        &mut attached,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut sockets = Vec::new();
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            sockets.extend(received);
        }
    }
    Ok(sockets)
}

async fn serve_proxy(socket: TcpListener, proxy: Arc<ExitProxy>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = socket.accept().await {
        while connections.try_join_next().is_some() {}
        let proxy = Arc::clone(&proxy);
        connections.spawn(async move { proxy.serve(stream).await });
    }
}

/// Joins each connection to a service of this machine.
async fn serve_bridge(socket: TcpListener, port: u16) {
    let mut connections = JoinSet::new();
    while let Ok((mut inside, _)) = socket.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            // Nobody listens outside: what the agent sees is a closed connection.
            let Ok(mut outside) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
                return;
            };
            // A connection that breaks is over for both sides.
            let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
        });
    }
}
