//! The battery: every attempt is refused, nothing outside changes, and what a command needs still works.

use std::collections::BTreeMap;

use super::place::{Place, Tried, Who, is_root};
use crate::tools::{confined, not_tested};

/// The minimum number of attempts.
const LEAST: usize = 100;

/// What the victim prints when nothing happened to it.
const UNHARMED: &str =
    "signals=0 limits=0 nice=0 policy=0 affinity=0 memory=0 shared=0 semaphore=0";

/// Makes all attempts as one user. Returns their results, those with a network last.
fn attempts_of(who: Who) -> Vec<Tried> {
    let mut place = Place::new(who);
    let before = listing(&place);
    let mut tried = place.try_confined(false);
    assert!(tried.len() >= LEAST, "{}: {tried:?}", tried.len());
    let with_network = place.try_confined(true).into_iter();
    tried.extend(with_network.map(|tried| Tried { group: "with a network".to_owned(), ..tried }));
    assert!(place.listener.accept().is_err(), "nobody connected");
    assert_eq!(place.end_victim(), UNHARMED);
    if place.has_own_mounts() {
        assert_eq!(listing(&place), before);
    } else {
        // Reported by `doctor`.
        not_tested("modes, times and attributes outside: this system gives no namespaces of users");
        tried.retain(|tried| tried.group != "metadata");
    }
    tried
}

/// Names, modes, owners, times and contents of everything outside the workspace.
fn listing(place: &Place) -> String {
    let output = std::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(
            "find . -printf '%p %m %u %g %n %s %T@ %l\\n' | sort; find . -type f -exec cksum {} + | sort; \
             getfattr -dR . 2>/dev/null",
        )
        .current_dir(place.outside())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_attempt_to_leave_the_sandbox_is_refused() {
    if !confined() {
        return;
    }
    let mut columns = Vec::new();
    if is_root() {
        columns.push(("as a user", attempts_of(Who::Ordinary)));
        columns.push(("as root", attempts_of(Who::Same)));
    } else {
        not_tested("attempts as root, because the tests do not run as root");
        columns.push(("as a user", attempts_of(Who::Same)));
    }
    print_tables(&columns);
    for (name, all) in &columns {
        let through: Vec<&Tried> = all.iter().filter(|tried| got_through(tried)).collect();
        assert!(through.is_empty(), "{name}: {through:?}");
    }
}

/// Every attempt by name, and how many of each group succeeded.
#[expect(clippy::print_stderr, reason = "the tables are what the test is run for")]
fn print_tables(columns: &[(&str, Vec<Tried>)]) {
    for (name, all) in columns {
        for tried in all {
            eprintln!("{name:<10} {:<16} {:<40} {}", tried.group, tried.name, tried.outcome);
        }
    }
    let mut groups: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (column, (_, all)) in columns.iter().enumerate() {
        for tried in all {
            let group = groups.entry(&tried.group).or_insert_with(|| vec![(0, 0); columns.len()]);
            group[column].0 += 1;
            group[column].1 += usize::from(got_through(tried));
        }
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    eprintln!("| attempts at | {} |", names.join(" | "));
    for (group, counts) in groups {
        let counts = counts.iter().map(|(tried, through)| format!("{through} of {tried}"));
        eprintln!("| {group} | {} |", counts.collect::<Vec<_>>().join(" | "));
    }
}

fn got_through(tried: &Tried) -> bool {
    !matches!(tried.outcome.as_str(), "refused" | "judged")
}

/// On a system without namespaces, the metadata of files outside can be changed, and nothing else.
#[test]
fn without_namespaces_only_metadata_is_open() {
    if !confined() {
        return;
    }
    let users = if is_root() { &[Who::Ordinary, Who::Same][..] } else { &[Who::Same] };
    for who in users {
        let mut place = Place::new(*who);
        let tried = place.try_without_mounts();
        assert!(tried.len() >= LEAST, "{tried:?}");
        let through = tried.iter().filter(|tried| got_through(tried));
        let other: Vec<&Tried> = through.filter(|tried| tried.group != "metadata").collect();
        assert!(other.is_empty(), "{who:?}: {other:?}");
        assert_eq!(place.end_victim(), UNHARMED);
    }
}

/// Attempts that fail everywhere prove nothing about the sandbox: most of them must succeed without it.
#[test]
fn the_attempts_work_where_nothing_confines_them() {
    let who = if is_root() { Who::Ordinary } else { Who::Same };
    let place = Place::new(who);
    let names = [
        "read_a_file_outside",
        "write_a_file_outside",
        "cargo_registry",
        "cargo_credentials",
        "mode_of_a_file",
        "times_of_a_file",
        "inet_stream",
        "inet_udp",
        "unix_stream",
        "connect_tcp",
        "connect_with_data",
        "send_from_a_pair_to_a_named_socket",
        "send_from_a_raw_pair_to_a_named_socket",
        "test_the_victim",
        "file_size_of_the_victim",
        "priority_of_the_victim",
        "processors_of_the_victim",
        "environment_of_the_victim",
        "any_above_two",
        "read_a_file_of_the_caller",
        "attach_a_segment",
        "list_by_name",
        "a_new_one",
    ];
    let tried = place.try_unconfined(&names);
    assert_eq!(tried.len(), names.len(), "{tried:?}");
    for tried in tried {
        assert_eq!(tried.outcome, "SUCCEEDED", "{}", tried.name);
    }
}

/// What every build and script needs.
const NEEDED: [(&str, &str); 17] = [
    ("write in the workspace", "echo x > made && test -s made"),
    ("make and remove directories", "mkdir -p d/e && rmdir d/e d"),
    (
        "modes, times and links of own files",
        "touch f && chmod 700 f && touch -t 200001010000 f && ln -sf f g && ln -f f h",
    ),
    ("private temporary files", "t=$(mktemp) && echo x > $t && rm $t"),
    ("pipes and children", "test $(printf 'a\\nb\\n' | sort -r | head -1) = b"),
    ("background jobs", "sleep 0.01 & wait $!"),
    ("own signals", "sleep 60 & kill $! && ! wait $!"),
    ("own limits", "ulimit -n 64 && test $(ulimit -n) = 64"),
    ("own priority", "nice -n 5 true"),
    ("read the system", "cat /etc/hosts /etc/passwd /proc/self/status /proc/meminfo > /dev/null"),
    ("swallow output", "echo x > /dev/null; head -c 8 /dev/urandom > /dev/null"),
    ("a home of its own", "echo x > $HOME/x && test -s $HOME/x"),
    (
        "archives",
        "echo x > a.txt && tar cf a.tar a.txt && rm a.txt && tar xf a.tar && test -s a.txt",
    ),
    ("copies with modes and times", "echo x > c && cp -p c c2 && mv c2 c3"),
    ("its mark", "test -n \"$PLANWRIGHT_CALL_ID\""),
    ("no secret of the environment", "test -z \"$MY_KEY\""),
    (
        "pairs of sockets and threads",
        "command -v python3 > /dev/null || exit 0; python3 -c 'import socket, threading; socket.socketpair(); t = threading.Thread(target=print); t.start(); t.join()'",
    ),
];

#[test]
fn ordinary_commands_work_in_the_sandbox() {
    if !confined() {
        return;
    }
    let users = if is_root() { &[Who::Ordinary, Who::Same][..] } else { &[Who::Same] };
    for who in users {
        let place = Place::new(*who);
        let lines = NEEDED.iter().enumerate();
        let script: Vec<String> = lines
            .map(|(number, (_, command))| format!("(set -e; {command}) && echo done {number}.\n"))
            .collect();
        std::fs::write(place.work().join("needed.sh"), script.concat()).unwrap();
        let answer = place.run_confined("sh needed.sh", false);
        let output = answer["data"]["output"].as_str().unwrap();
        for (number, (name, _)) in NEEDED.iter().enumerate() {
            assert!(output.contains(&format!("done {number}.")), "{who:?}, {name}: {output}");
        }
        // With a network, the only way to reach another machine works.
        let command = "command -v python3 > /dev/null || exit 0; python3 -c 'import socket; \
            p = int([l for l in open(\"targets\") if l.startswith(\"PORT=\")][0][5:]); \
            socket.create_connection((\"127.0.0.1\", p), 5); socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'";
        let answer = place.run_confined(command, true);
        assert_eq!(answer["data"]["exit_code"], 0, "{who:?}: {answer}");
    }
}

#[test]
fn a_directory_that_cannot_be_read_is_reported() {
    if !confined() {
        return;
    }
    let who = if is_root() { Who::Ordinary } else { Who::Same };
    let place = Place::new(who);
    let reported = |answer: serde_json::Value| answer.to_string().contains("could be compared");
    assert!(!reported(place.run_confined("mkdir -p closed", false)));
    assert!(reported(place.run_confined("chmod 311 closed", false)));
    place.run_confined("chmod 755 closed", false);
}
