//! Paths that lead to devices, pipes, sockets, directories, links and endless files: each command reports it and ends.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Creates something under a name that is not a regular file of a usable size.
type Hostile = (&'static str, fn(&Path));

const HOSTILE: [Hostile; 7] = [
    ("a device without end", |at| symlink("/dev/zero", at).unwrap()),
    ("a pipe that nobody writes to", |at| {
        assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
    }),
    ("a directory", |at| std::fs::create_dir(at).unwrap()),
    ("a socket", |at| drop(UnixListener::bind(at).unwrap())),
    ("a file that is too large", |at| {
        // Sparse: it uses no disk space.
        std::fs::File::create(at).unwrap().set_len(3 << 30).unwrap();
    }),
    ("a link that leads nowhere", |at| symlink("nowhere", at).unwrap()),
    ("a link to itself", |at| symlink(at, at).unwrap()),
];

struct TestHome {
    dir: TempDir,
}

impl TestHome {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work/.planwright", "config/blueprints", "config/topics", "config/recipes"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("config/config.toml"), "").unwrap();
        Self { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the program with little memory and kills it after a minute: what is tested may use all memory, or hang.
    fn run(&self, args: &[&str]) -> Output {
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_planwright")])
            .args(args)
            .env("PLANWRIGHT_DATA_DIR", self.at("data"))
            .env("PLANWRIGHT_CONFIG", self.at("config/config.toml"))
            .current_dir(self.at("work"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                child.kill().unwrap();
                panic!("{args:?} hangs");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        child.wait_with_output().unwrap()
    }
}

/// The path of the file, and the command that reads it.
const READERS: [(&str, &[&str]); 13] = [
    ("config/config.toml", &["config", "show"]),
    ("work/.planwright/config.toml", &["tools", "list"]),
    ("plan.toml", &["check", "../plan.toml"]),
    ("plan.json", &["graph", "../plan.json"]),
    ("plan.md", &["run", "../plan.md", "--headless", "--yes"]),
    ("config/blueprints/own.toml", &["plan", "Paint the fence", "--headless"]),
    ("config/topics/own.toml", &["plan", "Paint the fence", "--headless"]),
    ("config/tools.toml", &["tools", "list", "--json"]),
    ("busy.ics", &["plan", "Paint the fence", "--headless", "--calendar", "../busy.ics"]),
    ("trace.jsonl", &["import", "../trace.jsonl"]),
    ("session.jsonl", &["replay", "../session.jsonl", "--headless"]),
    (
        "tape.jsonl",
        &["plan", "Paint the fence", "--headless", "--provider", "recorded:../tape.jsonl"],
    ),
    (
        "new.jsonl",
        &[
            "plan",
            "Paint the fence",
            "--headless",
            "--provider",
            "recorded:../new.jsonl",
            "--record",
            "../new.jsonl",
        ],
    ),
];

#[test]
fn commands_report_unusable_files_and_end() {
    for (file, args) in READERS {
        for (what, put) in HOSTILE {
            let test_home = TestHome::new();
            let _ = std::fs::remove_file(test_home.at(file));
            put(&test_home.at(file));
            let output = test_home.run(args);
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let code = output.status.code();
            assert!(!words.contains("panicked"), "{file} is {what}: {words}");
            assert!(matches!(code, Some(1..=3)), "{file} is {what}: {code:?} {words}");
            let (_, name) = file.rsplit_once('/').unwrap_or(("", file));
            let is_reported = words.contains(name) || words.contains("was not imported");
            assert!(is_reported, "{file} is {what}, which is not said: {words}");
            assert!(!test_home.at("work/done.txt").exists());
            println!("{file}: {what}: {code:?} {}", words.lines().next().unwrap_or(""));
        }
    }
}

#[test]
fn a_project_file_that_leads_out_of_the_project_is_refused() {
    let test_home = TestHome::new();
    std::fs::write(test_home.at("elsewhere.toml"), "run_token_limit = 5\n").unwrap();
    symlink(test_home.at("elsewhere.toml"), test_home.at("work/.planwright/config.toml")).unwrap();
    let output = test_home.run(&["tools", "list"]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{words}");
    assert!(words.contains("leads out of the project"), "{words}");
}

/// Custom prompts, task types and recipes are skipped where they cannot be read, and nothing waits for them.
#[test]
fn optional_files_do_not_block_a_command() {
    for (what, put) in HOSTILE {
        let test_home = TestHome::new();
        std::fs::create_dir_all(test_home.at("config/prompts")).unwrap();
        put(&test_home.at("config/prompts/outline.md"));
        put(&test_home.at("config/recipes/own.toml"));
        let output = test_home.run(&[
            "plan",
            "Paint the fence",
            "--headless",
            "--yes",
            "--provider",
            "offline",
        ]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some(), "{what}: {words}");
        assert!(!words.contains("panicked"), "{what}: {words}");
    }
}
