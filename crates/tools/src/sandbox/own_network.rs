//! A network of its own for an agent: only loopback, and sockets that listen in it and are answered from outside.
//!
//! The sockets are made inside and handed over to whoever started the agent. A connection to one of them therefore
//! leaves the network of the agent, and nothing else does.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

/// How many sockets can be handed over at once.
pub(crate) const MOST_PORTS: usize = 16;

/// Makes the sockets and hands them over, in the order of their ports. The process must be in its new network already.
pub(super) fn hand_over_listeners(handover: &Path, ports: &[u16]) -> Result<(), String> {
    raise_loopback()?;
    let listen = |port: &u16| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, *port))
            .map_err(|error| format!("listening on port {port}: {error}"))
    };
    let listeners = ports.iter().map(listen).collect::<Result<Vec<_>, _>>()?;
    if listeners.len() > MOST_PORTS {
        return Err(format!("more than {MOST_PORTS} ports"));
    }
    let channel =
        UnixStream::connect(handover).map_err(|error| format!("handing over: {error}"))?;
    let descriptors: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PORTS))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !attached.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err("the sockets do not fit into one message".to_owned());
    }
    let sent =
        rustix::net::sendmsg(&channel, &[IoSlice::new(b".")], &mut attached, SendFlags::empty());
    sent.map(|_| ()).map_err(|error| format!("handing over: {error}"))
}

/// Brings the loopback interface up, which is down in a new network.
pub(super) fn raise_loopback() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("bringing loopback up: {error}");
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Routes and links, which is number 0.
        None,
    )
    .map_err(failed)?;
    let kernel = SocketAddrNetlink::new(0, 0);
    let request = set_link_up(LOOPBACK);
    rustix::net::sendto(&socket, &request, SendFlags::empty(), &kernel).map_err(failed)?;
    let mut answer = [0_u8; 512];
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], rustix::net::RecvFlags::empty())
        .map_err(failed)?;
    match acknowledged_error(&answer[..length]) {
        Some(0) => Ok(()),
        Some(code) => Err(failed(rustix::io::Errno::from_raw_os_error(-code))),
        None => Err("bringing loopback up: the kernel did not answer".to_owned()),
    }
}

/// Loopback is the first interface of every network.
const LOOPBACK: i32 = 1;

/// A netlink message that sets an interface up: `nlmsghdr` and `ifinfomsg`, in the byte order of the machine.
fn set_link_up(index: i32) -> Vec<u8> {
    const NEW_LINK: u16 = 16;
    const REQUEST_WITH_ANSWER: u16 = 0x1 | 0x4;
    const UP: u32 = 0x1;
    const LENGTH: u32 = 32;
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
    // Sequence number and sender, which nobody needs here.
    message.extend([0; 8]);
    // Family and type, unspecified.
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

/// The error code in an answer of netlink; 0 means success.
fn acknowledged_error(answer: &[u8]) -> Option<i32> {
    const ERROR: u16 = 2;
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let code = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == ERROR).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_netlink_have_the_length_they_state() {
        let message = set_link_up(LOOPBACK);
        assert_eq!(message.len(), 32);
        assert_eq!(message[..4], 32_u32.to_ne_bytes());
        let mut answer = vec![0; 36];
        answer[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(acknowledged_error(&answer), Some(-1));
        assert_eq!(acknowledged_error(&answer[..10]), None);
    }
}
