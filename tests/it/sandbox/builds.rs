//! Builds in the sandbox, their surroundings, and what commands outside the sandbox inherit.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::tools::{PROGRAM, Place, confined, not_tested};

const ALLOWED: &str = "[[permissions.allow]]\ntool = \"shell.run\"\n";

/// A small unpacked crate in the local registry without dependencies.
fn cached_crate() -> Option<(String, String)> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?.flatten();
    let mut found = registries
        .flat_map(|registry| std::fs::read_dir(registry.path()).into_iter().flatten().flatten())
        .filter_map(|entry| entry.file_name().into_string().ok());
    let known = ["fnv", "cfg-if", "itoa"];
    found.find_map(|name| {
        let (name, version) = name.rsplit_once('-')?;
        known.contains(&name).then(|| (name.to_owned(), version.to_owned()))
    })
}

/// The registry is read-only in the sandbox, and a build that needs it still works.
#[test]
fn cargo_builds_offline_with_a_dependency_and_cannot_change_the_registry() {
    if !confined() {
        return;
    }
    let Some((name, version)) = cached_crate() else {
        not_tested("the local registry of cargo has none of the crates this needs");
        return;
    };
    let place = Place::new(ALLOWED);
    std::fs::create_dir(place.work().join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n{name} = \"={version}\"\n[workspace]\n"
    );
    std::fs::write(place.work().join("Cargo.toml"), manifest).unwrap();
    std::fs::write(place.work().join("src/main.rs"), "fn main() { println!(\"built\"); }").unwrap();
    let command = "cargo run --offline 2>&1; touch \"$CARGO_HOME/registry/evil\" && echo evil";
    let (_, result) = place.call("shell.run", &json!({ "command": command }));
    let output = result["data"]["output"].as_str().unwrap();
    assert!(output.contains("built\n") && !output.contains("evil\n"), "{result}");
}

#[test]
fn git_works_in_the_sandbox() {
    if !confined() {
        return;
    }
    let place = Place::new(ALLOWED);
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(place.work()).output();
        done.is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "-q"]) {
        not_tested("there is no git here");
        return;
    }
    let command = "echo x > f && git add f && git -c user.name=n -c user.email=e commit -qm m && git status -s && git log --oneline";
    let (code, result) = place.call("shell.run", &json!({ "command": command }));
    assert_eq!((code, &result["data"]["exit_code"]), (0, &json!(0)), "{result}");
}

/// A `shell` task of a plan is not confined, and it inherits no descriptor of the calling shell either.
#[test]
fn tasks_of_a_plan_and_servers_inherit_no_descriptors() {
    let place = Place::new(
        "[mcp.looking]\ncommand = [\"/bin/sh\", \"-c\", \"ls /proc/self/fd > seen-by-server\"]\n",
    );
    let plan = "title = \"Look\"\n[[tasks]]\nid = \"look\"\ndescription = \"Look\"\nrun = { shell = \"ls /proc/self/fd > seen-by-task; cat /dev/fd/7 >> seen-by-task; true\" }\n";
    std::fs::write(place.work().join("plan.toml"), plan).unwrap();
    std::fs::write(place.dir.path().join("secret"), "SECRET").unwrap();
    let started = |args: &[&str]| {
        Command::new("/bin/sh")
            .args(["-c", "exec 7<../secret 8>>../secret 9<..; exec \"$@\"", "sh", PROGRAM])
            .args(args)
            .current_dir(place.work())
            .env("PLANWRIGHT_DATA_DIR", place.dir.path().join("data"))
            .env("PLANWRIGHT_CONFIG", place.dir.path().join("config.toml"))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    };
    let ran = started(&["run", "plan.toml", "--headless", "--yes"]);
    started(&["tools", "list"]);
    for name in ["seen-by-task", "seen-by-server"] {
        let seen = std::fs::read_to_string(place.work().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}: {ran:?}"));
        // The last is the one that `ls` itself has open.
        let numbers: Vec<&str> = seen.lines().collect();
        assert_eq!(numbers, ["0", "1", "2", "3"], "{name}");
    }
    // The program itself can still open an inherited descriptor that its arguments name.
    let read = Command::new("/bin/sh")
        .args(["-c", "exec 7<plan.toml; exec \"$0\" check /dev/fd/7", PROGRAM])
        .current_dir(place.work())
        .env("PLANWRIGHT_DATA_DIR", place.dir.path().join("data"))
        .output()
        .unwrap();
    assert_eq!(read.status.code(), Some(0), "{read:?}");
}
