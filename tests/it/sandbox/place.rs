//! Where attempts are made: a workspace, and around it everything that they target.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use planwright_tools::sandbox::{ARGV0, SandboxProfile, ToolchainPaths};
use serde_json::{Value, json};

use crate::tools::PROGRAM;

/// A user id that exists on no machine; it needs no name.
const ORDINARY: u32 = 61_234;
/// A secret in the environment of the program and of the victim.
const SECRET: &str = "secret-of-the-environment";

/// Lets the attempts run without approval.
const ALLOWED: &str = "[[permissions.allow]]\ntool = \"shell.run\"\n";

/// The user who makes the attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The user who runs the tests.
    Same,
    /// An ordinary user, for tests that run as root.
    Ordinary,
}

impl Who {
    /// Starts a program as this user.
    pub fn command(self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if self == Self::Ordinary {
            command.uid(ORDINARY).gid(ORDINARY);
        }
        command
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Compiles the attempts once. A compiler is available wherever `SQLite` was built.
fn attempts() -> &'static Path {
    static ATTEMPTS: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    ATTEMPTS.get_or_init(|| {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sandbox/attempts");
        let own = format!("attempts-{}", std::process::id());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(own);
        let files = ["main", "files", "sockets", "processes", "kernel"];
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let compiled = Command::new(compiler)
            .args(["-O1", "-o"])
            .arg(&program)
            .args(files.map(|name| sources.join(name).with_extension("c")))
            .arg("-lrt")
            .status()
            .unwrap();
        assert!(compiled.success(), "the attempts are compiled");
        program
    })
}

/// One attempt and its result.
#[derive(Clone, Debug)]
pub struct Tried {
    pub group: String,
    pub name: String,
    pub outcome: String,
}

/// The workspace and its surroundings, with the processes and sockets that belong to them.
pub struct Place {
    pub dir: tempfile::TempDir,
    who: Who,
    victim: Child,
    victim_output: BufReader<std::process::ChildStdout>,
    pub listener: TcpListener,
    _sockets: (UnixListener, UnixDatagram),
}

impl Place {
    pub fn new(who: Who) -> Self {
        let dir = tempfile::tempdir().unwrap();
        make_files(dir.path());
        let outside = dir.path().join("outside");
        let sockets = (
            UnixListener::bind(outside.join("stream")).unwrap(),
            UnixDatagram::bind(outside.join("datagram")).unwrap(),
        );
        for name in ["stream", "datagram"] {
            open_to_all(&outside.join(name));
        }
        copy_program(attempts(), &dir.path().join("work/attempts"));
        // The ordinary user may not be able to reach the directory that programs are built in.
        copy_program(PROGRAM.as_ref(), &dir.path().join("planwright"));
        if who == Who::Ordinary {
            give_away(dir.path());
        }
        let mut victim = who
            .command(dir.path().join("work/attempts"))
            .arg("victim")
            .current_dir(&outside)
            .env("OUTSIDE", &outside)
            .env("MY_KEY", SECRET)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let victim_output = BufReader::new(victim.stdout.take().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut place = Self { dir, who, victim, victim_output, listener, _sockets: sockets };
        place.name_targets();
        place
    }

    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub fn outside(&self) -> PathBuf {
        self.dir.path().join("outside")
    }

    /// Tells the attempts where everything is.
    fn name_targets(&mut self) {
        let mut targets = String::new();
        while !targets.ends_with("END=1\n") {
            assert!(self.victim_output.read_line(&mut targets).unwrap() > 0, "{targets}");
        }
        let outside = self.outside();
        let named = [
            ("OUTSIDE", outside.display().to_string()),
            ("HOME_OUTSIDE", outside.join("home").display().to_string()),
            ("WORK", self.work().display().to_string()),
            ("STORE", self.dir.path().join("data").display().to_string()),
            ("CONFIG", self.dir.path().join("config.toml").display().to_string()),
            ("PORT", self.listener.local_addr().unwrap().port().to_string()),
        ];
        targets.extend(named.map(|(name, value)| format!("{name}={value}\n")));
        std::fs::write(self.work().join("targets"), targets).unwrap();
    }

    /// Starts a command with three inherited descriptors from outside the sandbox, as a shell could.
    fn with_descriptors(&self, program: &Path) -> Command {
        let outside = self.outside();
        let mut command = self.who.command("/bin/sh");
        command
            .args([
                "-c",
                "exec 7<\"$1/secret\" 8>>\"$1/secret\" 9<\"$1\"; shift; exec \"$@\"",
                "sh",
            ])
            .arg(&outside)
            .arg(program)
            .current_dir(self.work())
            .env("HOME", outside.join("home"))
            .env("MY_KEY", SECRET)
            .env_remove("CARGO_HOME")
            .env_remove("RUSTUP_HOME")
            .env("XDG_CACHE_HOME", self.dir.path().join("cache"))
            .env("PLANWRIGHT_DATA_DIR", self.dir.path().join("data"))
            .env("PLANWRIGHT_CONFIG", self.dir.path().join("config.toml"))
            .stdin(Stdio::null());
        command
    }

    /// Runs a command of a model through the program and returns the program's answer.
    pub fn run_confined(&self, command: &str, network: bool) -> Value {
        let args = json!({ "command": command, "network": network, "timeout_seconds": 110 });
        let run = || {
            let output = self
                .with_descriptors(&self.dir.path().join("planwright"))
                .args(["tools", "call", "shell.run", &args.to_string(), "--json"])
                .output()
                .unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
            assert!(answer.is_object(), "{output:?}");
            answer
        };
        let answer = run();
        if answer["data"]["error"]["code"] != "needs_person" {
            return answer;
        }
        // A rule may have to mention the network.
        let config = self.dir.path().join("config.toml");
        std::fs::write(config, format!("{ALLOWED}network = true\n")).unwrap();
        run()
    }

    /// Makes all attempts through the program.
    pub fn try_confined(&self, network: bool) -> Vec<Tried> {
        let command = if network { "./attempts targets network" } else { "./attempts targets" };
        let answer = self.run_confined(command, network);
        assert_eq!(answer["data"]["confined"], true, "{answer}");
        read_outcomes(answer["data"]["output"].as_str().unwrap())
    }

    /// Whether this user can have private mounts, so that no metadata of files outside can be changed.
    pub fn has_own_mounts(&self) -> bool {
        let mut probe = self.who.command(self.dir.path().join("planwright"));
        let output = probe.arg0(ARGV0).arg("--probe").env_clear().output().unwrap();
        let probe: Value = serde_json::from_slice(&output.stdout).unwrap();
        probe["enforced"] == true && probe["own_mounts"] == true
    }

    /// Makes all attempts as they would run on a system without namespaces.
    pub fn try_without_mounts(&self) -> Vec<Tried> {
        let home = self.outside().join("home").display().to_string();
        let homes = ToolchainPaths::find_existing(&BTreeMap::from([("HOME".to_owned(), home)]));
        let write = homes.write.into_iter().chain([self.work()]).collect();
        let profile = SandboxProfile { read: homes.read, write, ..SandboxProfile::default() };
        let output = self
            .who
            .command(self.dir.path().join("planwright"))
            .arg0(ARGV0)
            .arg(serde_json::to_string(&profile).unwrap())
            .args(["./attempts", "targets"])
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        read_outcomes(&String::from_utf8_lossy(&output.stdout))
    }

    /// Makes some attempts without a sandbox. The others would cause damage.
    pub fn try_unconfined(&self, names: &[&str]) -> Vec<Tried> {
        let program = self.work().join("attempts");
        let output =
            self.with_descriptors(&program).args(["targets", "only"]).args(names).output().unwrap();
        read_outcomes(&String::from_utf8_lossy(&output.stdout))
    }

    /// The state of the victim: one word for each thing that changed.
    pub fn end_victim(&mut self) -> String {
        drop(self.victim.stdin.take());
        let mut report = String::new();
        self.victim_output.read_to_string(&mut report).unwrap();
        self.victim.wait().unwrap();
        report.trim().to_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Its end of input makes it remove its shared memory and queues, which would outlive a killed process.
        drop(self.victim.stdin.take());
        let _ = self.victim.wait();
    }
}

fn read_outcomes(text: &str) -> Vec<Tried> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split('|').map(str::to_owned);
            Some(Tried { group: fields.next()?, name: fields.next()?, outcome: fields.next()? })
        })
        .collect()
}

fn make_files(dir: &Path) {
    let outside = dir.join("outside");
    let home = outside.join("home");
    for below in ["work", "data", "outside/empty"] {
        std::fs::create_dir_all(dir.join(below)).unwrap();
    }
    for below in [
        ".cargo/registry/src",
        ".cargo/git",
        ".cargo/bin",
        ".npm/_cacache",
        ".cache/pip",
        "go/pkg",
        ".rustup/toolchains",
        ".ssh",
    ] {
        std::fs::create_dir_all(home.join(below)).unwrap();
    }
    for file in [
        "secret",
        "removable",
        "home/.cargo/registry/src/lib.rs",
        "home/.cargo/.package-cache",
        "home/.cargo/credentials.toml",
        "home/.npmrc",
        "home/.ssh/id_ed25519",
    ] {
        std::fs::File::create(outside.join(file)).unwrap().write_all(b"SECRET").unwrap();
    }
    symlink("/", outside.join("pointer-there")).unwrap();
    std::fs::write(outside.join("program"), "#!/bin/sh\ntrue\n").unwrap();
    open_to_all(&outside.join("program"));
    open_to_all(dir);
    std::fs::write(dir.join("config.toml"), ALLOWED).unwrap();
}

fn open_to_all(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Changes the owner of everything below a directory to the ordinary user.
fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

/// Copies a program in a separate process. A copy made here would be open for writing in every process that another test
/// happens to start at the same time, and the kernel refuses to run a program that is open for writing.
fn copy_program(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg(from).arg(to).status().unwrap();
    assert!(status.success());
}
