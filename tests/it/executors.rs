//! Commands that run elsewhere: a launcher of the config carries them there, and everything else is as on this machine.

use std::process::{Command, Stdio};

use crate::program::{Place, json_lines};

/// An executor that is this machine in other clothes: its commands see a variable that nothing else sets.
const ELSEWHERE: &str =
    "[executors.elsewhere]\nlaunch = [\"env\", \"REACHED=elsewhere\", \"{argv}\"]\n";

fn place_with(config: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.dir.path().join("config.toml"), config).unwrap();
    place
}

fn stdout(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_task_runs_where_it_says_with_its_output_code_and_checks() {
    let place = place_with(ELSEWHERE);
    let path = place.plan(
        "[defaults]\non = \"elsewhere\"\n\
         [[tasks]]\nid = \"far\"\nrun = { shell = \"echo from $REACHED; echo \\\"it's\\\" >&2\" }\n\
         exit_criteria = [{ kind = \"command\", command = \"test $REACHED = elsewhere\" }]\n\
         [[tasks]]\nid = \"near\"\non = \"here\"\nrun = { shell = \"echo near${REACHED:-}\" }\n\
         [[tasks]]\nid = \"bad\"\ndepends_on = [\"far\", \"near\"]\nrun = { shell = \"exit 7\" }\n",
    );
    let ran = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(1), "{}", stdout(&ran));
    let log = stdout(&place.run(&["logs", "last", "far"]));
    assert!(log.contains("from elsewhere") && log.contains("it's"), "{log}");
    let log = stdout(&place.run(&["logs", "last", "near"]));
    assert!(log.contains("near\n") && !log.contains("elsewhere"), "{log}");
    assert!(stdout(&ran).contains("exit 7"), "{}", stdout(&ran));
}

#[test]
fn an_executor_that_cannot_start_or_is_gone_says_so() {
    let place = place_with("[executors.lost]\nlaunch = [\"no-such-launcher\", \"{argv}\"]\n");
    let path =
        place.plan("[[tasks]]\nid = \"a\"\non = \"lost\"\nrun = { shell = \"touch ran\" }\n");
    let ran = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(1), "{}", stdout(&ran));
    assert!(stdout(&ran).contains("no-such-launcher"), "{}", stdout(&ran));
    std::fs::write(place.dir.path().join("config.toml"), "").unwrap();
    let retried = place.run(&["resume", "last", "--headless", "--yes", "--retry", "failed"]);
    let said = stdout(&retried) + &String::from_utf8_lossy(&retried.stderr);
    assert!(said.contains("lost"), "{said}");
    assert!(!place.work().join("ran").exists());
}

#[test]
fn a_sandbox_and_an_executor_exclude_each_other() {
    let place = place_with(ELSEWHERE);
    let path = place.plan(
        "sandbox = \"workspace\"\n[[tasks]]\nid = \"a\"\non = \"elsewhere\"\nrun = { shell = \"true\" }\n",
    );
    let ran = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(2));
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("its sandbox does not reach"), "{said}");
}

#[test]
fn executors_are_listed_and_tried() {
    let place = place_with(&format!(
        "{ELSEWHERE}[executors.lost]\nlaunch = [\"sh\", \"-c\", \"echo no route; exit 255; {{command}}\"]\n"
    ));
    let listed = stdout(&place.run(&["executors", "list"]));
    assert!(listed.contains("elsewhere  env REACHED=elsewhere {argv}"), "{listed}");
    let probed = place.run(&["executors", "probe"]);
    assert_eq!(probed.status.code(), Some(1));
    let said = stdout(&probed);
    assert!(said.contains("elsewhere: a command ran in "), "{said}");
    assert!(said.contains("lost: ended with exit code 255: no route"), "{said}");
    let json = json_lines(&place.run(&["executors", "probe", "elsewhere", "--json"]));
    assert!(json[0]["host"].as_str().is_some_and(|host| !host.is_empty()), "{json:?}");
    let missing = place.run(&["executors", "probe", "elsewhre"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("did you mean elsewhere?"));
}

#[test]
fn what_one_machine_made_is_not_up_to_date_on_another() {
    let place = place_with(ELSEWHERE);
    std::fs::write(place.work().join("in.txt"), "").unwrap();
    let run = |on: &str| {
        let path = place.plan(&format!(
            "[[tasks]]\nid = \"a\"\non = \"{on}\"\ncache = true\ninputs = [\"in.txt\"]\nrun = {{ shell = \"echo ${{REACHED:-here}} >> ran.txt\" }}\n"
        ));
        let ran = place.run(&["run", &path, "--headless", "--yes"]);
        assert_eq!(ran.status.code(), Some(0), "{}", stdout(&ran));
        std::fs::read_to_string(place.work().join("ran.txt")).unwrap()
    };
    assert_eq!(run("here"), "here\n");
    assert_eq!(run("elsewhere"), "here\nelsewhere\n");
    assert_eq!(run("elsewhere"), "here\nelsewhere\n", "up to date there as well");
}

#[test]
fn a_directory_with_blanks_reaches_the_shell_of_a_launcher_as_one_word() {
    let place = place_with(
        "[executors.shell]\nlaunch = [\"sh\", \"-c\", \"cd {cwd} && exec {command}\"]\n",
    );
    std::fs::create_dir(place.work().join("it's mine")).unwrap();
    let path = place.plan(
        "[[tasks]]\nid = \"a\"\non = \"shell\"\ncwd = \"it's mine\"\nrun = { shell = \"pwd\" }\n",
    );
    let ran = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stdout(&ran));
    let log = stdout(&place.run(&["logs", "last", "a"]));
    assert!(log.ends_with("/it's mine\n"), "{log}");
}

/// A server of the machine's own, for one key that is made for it. None where no ssh server is installed.
struct LocalSshServer {
    server: std::process::Child,
    launch: String,
}

impl LocalSshServer {
    fn start(directory: &std::path::Path) -> Option<Self> {
        let program = "/usr/sbin/sshd";
        if !std::path::Path::new(program).exists() {
            return None;
        }
        let file = |name: &str| directory.join(name).to_string_lossy().into_owned();
        for name in ["host_key", "own_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &file(name)])
                .status();
            assert!(made.is_ok_and(|status| status.success()));
        }
        std::fs::copy(file("own_key.pub"), file("authorized")).unwrap();
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        // The server wants its directory for the separation of privileges, which only root can make.
        let _ = std::fs::create_dir_all("/run/sshd");
        let server = Command::new(program)
            .args(["-D", "-e", "-f", "/dev/null", "-h", &file("host_key")])
            .args(["-o", "ListenAddress=127.0.0.1", "-o", &format!("Port={port}")])
            .args(["-o", &format!("AuthorizedKeysFile={}", file("authorized"))])
            .args(["-o", "StrictModes=no", "-o", "UsePAM=no", "-o", "PidFile=none"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..200 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        let launch = format!(
            "[executors.build]\nlaunch = [\"ssh\", \"-F\", \"/dev/null\", \"-p\", \"{port}\", \"-i\", \"{}\", \"-o\", \"StrictHostKeyChecking=no\", \"-o\", \"UserKnownHostsFile=/dev/null\", \"-o\", \"BatchMode=yes\", \"127.0.0.1\", \"cd {{cwd}} && exec {{command}}\"]\n",
            file("own_key")
        );
        Some(Self { server, launch })
    }
}

impl Drop for LocalSshServer {
    fn drop(&mut self) {
        // It is ours, and nothing else waits for it.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn commands_run_over_ssh() {
    let place = Place::new();
    let Some(server) = LocalSshServer::start(place.dir.path()) else {
        eprintln!("skipped: no ssh server is installed");
        return;
    };
    std::fs::write(place.dir.path().join("config.toml"), &server.launch).unwrap();
    let probed = place.run(&["executors", "probe", "build"]);
    if probed.status.code() != Some(0) {
        eprintln!(
            "skipped: this user can't sign in to an ssh server of its own: {}",
            stdout(&probed)
        );
        return;
    }
    let path = place.plan(
        "[[tasks]]\nid = \"a\"\non = \"build\"\nrun = { shell = \"echo \\\"${SSH_CONNECTION:+over ssh}\\\"; pwd > here; exit 3\" }\n",
    );
    let ran = place.run(&["run", &path, "--headless", "--yes"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(stdout(&ran).contains("exit 3"), "{}", stdout(&ran));
    let log = stdout(&place.run(&["logs", "last"]));
    assert!(log.contains("over ssh"), "{log}");
    let here = std::fs::read_to_string(place.work().join("here")).unwrap();
    assert_eq!(here.trim(), place.work().canonicalize().unwrap().to_string_lossy());
}
