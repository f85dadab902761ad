/* Sockets of every family and protocol, and ways to another machine or another program. */
#include "attempts.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

static int makes(int family, int type, int protocol) { return did(socket(family, type, protocol)); }

static struct sockaddr_in local(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(target_number("PORT"))};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int connects(int protocol)
{
	struct sockaddr_in address = local();
	int made = socket(AF_INET, SOCK_STREAM, protocol);
	return made >= 0 && did(connect(made, (struct sockaddr *)&address, sizeof address));
}

static struct sockaddr_un named(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	return address;
}

#define SOCKET(name, family, type, protocol) ATTEMPT("sockets", name, { return makes(family, type, protocol); })
#define NEVER(name, family, type, protocol) WITH_NETWORK("sockets", name, { return makes(family, type, protocol); })

SOCKET(inet_stream, AF_INET, SOCK_STREAM, 0)
SOCKET(inet_stream_with_flags, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP)
SOCKET(inet_mptcp, AF_INET, SOCK_STREAM, 262)
SOCKET(inet_datagram, AF_INET, SOCK_DGRAM, 0)
SOCKET(inet_udp, AF_INET, SOCK_DGRAM, IPPROTO_UDP)
SOCKET(inet6_stream, AF_INET6, SOCK_STREAM, 0)
SOCKET(inet6_mptcp, AF_INET6, SOCK_STREAM, 262)
SOCKET(inet6_datagram, AF_INET6, SOCK_DGRAM, 0)
NEVER(inet_raw, AF_INET, SOCK_RAW, IPPROTO_RAW)
NEVER(inet_raw_icmp, AF_INET, SOCK_RAW, IPPROTO_ICMP)
NEVER(inet_ping, AF_INET, SOCK_DGRAM, IPPROTO_ICMP)
NEVER(inet_sctp, AF_INET, SOCK_STREAM, 132)
NEVER(inet_sctp_messages, AF_INET, SOCK_SEQPACKET, 132)
NEVER(inet_udplite, AF_INET, SOCK_DGRAM, 136)
NEVER(inet_dccp, AF_INET, 6, 33)
NEVER(inet_smc, AF_INET, SOCK_STREAM, 256)
NEVER(inet6_raw, AF_INET6, SOCK_RAW, IPPROTO_RAW)
NEVER(inet6_ping, AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6)
NEVER(inet6_sctp, AF_INET6, SOCK_STREAM, 132)
NEVER(inet6_udplite, AF_INET6, SOCK_DGRAM, 136)
NEVER(unix_stream, AF_UNIX, SOCK_STREAM, 0)
NEVER(unix_datagram, AF_UNIX, SOCK_DGRAM, 0)
NEVER(unix_messages, AF_UNIX, SOCK_SEQPACKET, 0)
NEVER(packet_raw, AF_PACKET, SOCK_RAW, 0x300)
NEVER(packet_datagram, AF_PACKET, SOCK_DGRAM, 0x300)
NEVER(vsock_stream, AF_VSOCK, SOCK_STREAM, 0)
NEVER(vsock_datagram, AF_VSOCK, SOCK_DGRAM, 0)
NEVER(netlink_user, AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK)
NEVER(netlink_diagnosis, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)
NEVER(netlink_audit, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)
NEVER(netlink_netfilter, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)
NEVER(netlink_devices, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)
NEVER(netlink_generic, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)
NEVER(kernel_crypto, AF_ALG, SOCK_SEQPACKET, 0)
NEVER(bluetooth, 31, SOCK_RAW, 1)
NEVER(can, 29, SOCK_RAW, 1)
NEVER(tipc, 30, SOCK_SEQPACKET, 0)
NEVER(rds, 21, SOCK_SEQPACKET, 0)
NEVER(kcm, 41, SOCK_DGRAM, 0)
NEVER(qipcrtr, 42, SOCK_DGRAM, 0)
NEVER(smc, 43, SOCK_STREAM, 0)
NEVER(xdp, 44, SOCK_RAW, 0)
NEVER(mctp, 45, SOCK_DGRAM, 0)
NEVER(appletalk, AF_APPLETALK, SOCK_DGRAM, 0)
NEVER(ax25, AF_AX25, SOCK_DGRAM, 0)
NEVER(x25, AF_X25, SOCK_SEQPACKET, 0)
NEVER(llc, 26, SOCK_STREAM, 0)
NEVER(phonet, 35, SOCK_DGRAM, 0)
NEVER(radio_802154, 36, SOCK_DGRAM, 0)
NEVER(nfc, 39, SOCK_SEQPACKET, 1)
NEVER(ppp, 24, SOCK_STREAM, 0)
NEVER(key_management, 15, SOCK_RAW, 2)
NEVER(unknown_family, 63, SOCK_STREAM, 0)

ATTEMPT("network", connect_tcp, { return connects(0); })
ATTEMPT("network", connect_mptcp, { return connects(262); })
ATTEMPT("network", connect_with_data, { struct sockaddr_in to = local(); int made = socket(AF_INET, SOCK_STREAM, 0); return made >= 0 && did(sendto(made, "out", 3, MSG_FASTOPEN, (struct sockaddr *)&to, sizeof to)); })
ATTEMPT("network", connect_with_data_option, { struct sockaddr_in to = local(); int one = 1; int made = socket(AF_INET, SOCK_STREAM, 0); if (made < 0) return 0; setsockopt(made, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one); return did(connect(made, (struct sockaddr *)&to, sizeof to)) && did(write(made, "out", 3)); })
ATTEMPT("network", send_udp, { struct sockaddr_in to = local(); int made = socket(AF_INET, SOCK_DGRAM, 0); return made >= 0 && did(sendto(made, "out", 3, 0, (struct sockaddr *)&to, sizeof to)); })
ATTEMPT("network", listen_tcp, { struct sockaddr_in any = {.sin_family = AF_INET}; int made = socket(AF_INET, SOCK_STREAM, 0); return made >= 0 && did(bind(made, (struct sockaddr *)&any, sizeof any)) && did(listen(made, 1)); })
ATTEMPT("network", connect_tcp6, { struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(target_number("PORT")), .sin6_addr = IN6ADDR_LOOPBACK_INIT}; int made = socket(AF_INET6, SOCK_STREAM, 0); return made >= 0 && (did(connect(made, (struct sockaddr *)&to, sizeof to)) || errno == ECONNREFUSED); })
WITH_NETWORK("network", connect_to_a_named_socket, { struct sockaddr_un to = named(outside("stream")); int made = socket(AF_UNIX, SOCK_STREAM, 0); return made >= 0 && did(connect(made, (struct sockaddr *)&to, sizeof to)); })
WITH_NETWORK("network", send_from_a_pair_to_a_named_socket, { struct sockaddr_un to = named(outside("datagram")); int pair[2]; return did(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) && did(sendto(pair[0], "out", 3, 0, (struct sockaddr *)&to, sizeof to)); })
WITH_NETWORK("network", send_from_a_raw_pair_to_a_named_socket, { struct sockaddr_un to = named(outside("datagram")); int pair[2]; return did(socketpair(AF_UNIX, SOCK_RAW, 0, pair)) && did(sendto(pair[0], "out", 3, 0, (struct sockaddr *)&to, sizeof to)); })
WITH_NETWORK("network", connect_a_pair_anew, { struct sockaddr_un to = named(outside("stream")); int pair[2]; if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0; close(pair[1]); return did(connect(pair[0], (struct sockaddr *)&to, sizeof to)); })
WITH_NETWORK("network", send_from_a_pair_of_messages, { struct sockaddr_un to = named(outside("datagram")); int pair[2]; if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) return 0; close(pair[1]); return did(sendto(pair[0], "out", 3, MSG_NOSIGNAL, (struct sockaddr *)&to, sizeof to)); })
WITH_NETWORK("network", pair_of_another_family, { int pair[2]; return did(socketpair(30, SOCK_STREAM, 0, pair)); })
#ifdef __x86_64__
ATTEMPT("network", socket_of_x32, { return did(syscall(0x40000000 | 41, AF_INET, SOCK_STREAM, 0)); })
ATTEMPT("network", socket_of_i386, { int result; __asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(AF_INET), "c"(SOCK_STREAM), "d"(0) : "memory"); return result >= 0; })
#endif
