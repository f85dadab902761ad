use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A workspace with a secret next to it, links of every kind, and a directory that shares its prefix.
fn workspace_with_links() -> (TempDir, PathBuf) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("work");
    fs::create_dir_all(root.join("dir/deep")).unwrap();
    fs::create_dir_all(outer.path().join("work-evil")).unwrap();
    fs::write(outer.path().join("secret"), "SECRET").unwrap();
    fs::write(outer.path().join("work-evil/secret"), "SECRET").unwrap();
    fs::write(root.join("a.txt"), "inside").unwrap();
    fs::write(root.join("dir/b.txt"), "inside").unwrap();
    fs::write(outer.path().join("twin"), "HARD").unwrap();
    fs::hard_link(outer.path().join("twin"), root.join("linked")).unwrap();
    symlink("../secret", root.join("up")).unwrap();
    symlink(outer.path().join("secret"), root.join("absolute")).unwrap();
    symlink("..", root.join("parent")).unwrap();
    symlink("/", root.join("top")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    symlink("dir", root.join("inner")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    (outer, root)
}

fn both(root: &Path) -> [Workspace; 2] {
    let open = || Workspace::open(root, &[], &[]).unwrap();
    [open(), open().walking()]
}

#[test]
fn files_inside_are_read_by_any_of_their_names() {
    let (_outer, root) = workspace_with_links();
    let absolute = root.canonicalize().unwrap().join("a.txt").display().to_string();
    for workspace in both(&root) {
        for path in ["a.txt", "./a.txt", "dir/../a.txt", "dir//../a.txt", absolute.as_str()] {
            assert_eq!(workspace.read(path, 100).unwrap(), b"inside", "{path}");
        }
        assert_eq!(workspace.list_directory(".").unwrap().len(), 10);
    }
    let [kernel, _] = both(&root);
    assert_eq!(kernel.read("inner/b.txt", 100).unwrap(), b"inside");
    assert_eq!(kernel.resolve_touched("inner/new.txt").unwrap().path, "dir/new.txt");
}

#[test]
fn nothing_outside_is_read_written_or_listed() {
    let (outer, root) = workspace_with_links();
    let twin = outer.path().canonicalize().unwrap().join("work-evil/secret").display().to_string();
    let paths = [
        "../secret",
        "dir/../../secret",
        "up",
        "absolute",
        "parent/secret",
        "top/etc/passwd",
        "magic/etc/passwd",
        "/etc/passwd",
        "inner/../../secret",
        "loop",
        "",
        "..",
        "/",
        "dir/b.txt/../../../secret",
        "../work-evil/secret",
        twin.as_str(),
        "parent/work-evil/secret",
        "/proc/self/environ",
        "up/x",
    ];
    for workspace in both(&root) {
        for path in paths {
            let read = workspace.read(path, 1000);
            assert!(read.is_err(), "{path:?} was read");
            let _ = workspace.write(path, b"EVIL", None);
            let _ = workspace.list_directory(path);
        }
        assert!(workspace.read("a\0b", 10).is_err());
        assert!(workspace.read(&"x/".repeat(3000), 10).is_err());
        assert!(
            workspace.list_directory("parent").is_err() && workspace.list_directory("top").is_err()
        );
    }
    assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "SECRET");
    assert_eq!(fs::read_to_string(outer.path().join("work-evil/secret")).unwrap(), "SECRET");
    assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 4);
}

#[test]
fn a_pipe_or_a_device_is_not_a_file_and_does_not_block() {
    let (_outer, root) = workspace_with_links();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for workspace in both(&root) {
        assert_eq!(workspace.read("pipe", 10).unwrap_err().code, ToolErrorCode::NotAFile);
        assert_eq!(workspace.read("dir", 10).unwrap_err().code, ToolErrorCode::NotAFile);
    }
}

#[test]
fn a_write_is_atomic_keeps_the_mode_and_breaks_hard_links() {
    use std::os::unix::fs::PermissionsExt;
    let (outer, root) = workspace_with_links();
    fs::hard_link(outer.path().join("secret"), root.join("hard")).unwrap();
    fs::set_permissions(root.join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = Workspace::open(&root, &[], &[]).unwrap();
    let before = workspace.hash_file("hard", 100).unwrap();
    workspace.write("hard", b"new", before.as_ref()).unwrap();
    assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "SECRET");
    let before = workspace.hash_file("a.txt", 100).unwrap();
    let after = workspace.write("a.txt", b"changed", before.as_ref()).unwrap();
    assert_eq!(workspace.hash_file("a.txt", 100).unwrap(), Some(after));
    assert_eq!(fs::metadata(root.join("a.txt")).unwrap().permissions().mode() & 0o777, 0o755);
    workspace.write("new/dir/x.txt", b"made", None).unwrap();
    assert_eq!(fs::read_to_string(root.join("new/dir/x.txt")).unwrap(), "made");
    assert!(
        fs::read_dir(&root)
            .unwrap()
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains(".tmp"))
    );
}

#[test]
fn a_file_that_changed_in_the_meantime_is_not_written() {
    let (_outer, root) = workspace_with_links();
    let workspace = Workspace::open(&root, &[], &[]).unwrap();
    let before = workspace.hash_file("a.txt", 100).unwrap();
    fs::write(root.join("a.txt"), "somebody else").unwrap();
    let error = workspace.write("a.txt", b"mine", before.as_ref()).unwrap_err();
    assert_eq!(error.code, ToolErrorCode::ChangedMeanwhile);
    assert_eq!(
        workspace.write("a.txt", b"mine", None).unwrap_err().code,
        ToolErrorCode::ChangedMeanwhile
    );
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "somebody else");
}

#[test]
fn a_link_is_not_written_through() {
    let (_outer, root) = workspace_with_links();
    symlink("a.txt", root.join("link")).unwrap();
    let workspace = Workspace::open(&root, &[], &[]).unwrap();
    assert!(workspace.write("link", b"x", None).unwrap_err().message.contains("is a link"));
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "inside");
}

#[test]
fn our_own_paths_are_not_touched_even_inside_the_workspace() {
    let (_outer, root) = workspace_with_links();
    fs::create_dir_all(root.join("data")).unwrap();
    fs::write(root.join("data/planwright.db"), "x").unwrap();
    symlink("data", root.join("alias")).unwrap();
    let workspace = Workspace::open(&root, &[], &[root.join("data")]).unwrap();
    for path in ["data/planwright.db", "alias/planwright.db", "data/new"] {
        assert!(workspace.read(path, 10).is_err(), "{path}");
        assert_eq!(
            workspace.resolve_touched(path).unwrap_err().code,
            ToolErrorCode::Refused,
            "{path}"
        );
        assert!(workspace.write(path, b"x", None).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(root.join("data/planwright.db")).unwrap(), "x");
}

#[test]
fn another_root_is_reached_by_its_full_path() {
    let (outer, root) = workspace_with_links();
    let more = outer.path().join("work-evil");
    let workspace = Workspace::open(&root, std::slice::from_ref(&more), &[]).unwrap();
    let path = more.canonicalize().unwrap().join("secret").display().to_string();
    assert_eq!(workspace.read(&path, 100).unwrap(), b"SECRET");
    assert_eq!(workspace.resolve_touched(&path).unwrap().path, path);
    assert!(workspace.read(&format!("{path}/../../secret"), 100).is_err());
}

#[test]
fn protected_paths_are_recognized_by_any_name() {
    for path in [
        ".git/hooks/x",
        ".git",
        "sub/.git/config",
        ".GIT/config",
        ".github/workflows/a.yml",
        ".envrc",
        ".planwright/x",
        "a/.mcp.json",
        "Jenkinsfile",
        ".cargo/config",
        "sub/.Cargo/Config.toml",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".cursor/rules",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".devcontainer/devcontainer.json",
        "web/.npmrc",
        "rust-toolchain",
        "a/rust-toolchain.toml",
        "lefthook.yml",
        ".pre-commit-config.yaml",
        ".git/modules/lib/hooks/pre-commit",
    ] {
        assert!(is_protected(path), "{path}");
    }
    for path in [
        "git/hooks",
        ".gitignore",
        "github/workflows/a",
        ".github/README.md",
        "src/envrc",
        ".cargo/x",
        "config.toml",
    ] {
        assert!(!is_protected(path), "{path}");
    }
    let (_outer, root) = workspace_with_links();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    symlink(".git", root.join("innocent")).unwrap();
    let workspace = Workspace::open(&root, &[], &[]).unwrap();
    assert!(workspace.resolve_touched("innocent/hooks/pre-commit").unwrap().protected);
}

/// G13: a directory is replaced by a link to the outside and back, as fast as possible, while tools read and write.
#[test]
fn replacing_a_directory_with_a_link_while_in_use_never_leads_outside() {
    let (outer, root) = workspace_with_links();
    fs::create_dir_all(outer.path().join("target")).unwrap();
    fs::write(outer.path().join("target/b.txt"), "SECRET").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, root, outside) = (Arc::clone(&stop), root.clone(), outer.path().join("target"));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let _ = fs::rename(root.join("dir"), root.join("kept"));
                let _ = symlink(&outside, root.join("dir"));
                let _ = fs::remove_file(root.join("dir"));
                let _ = fs::rename(root.join("kept"), root.join("dir"));
            }
        })
    };
    for workspace in both(&root) {
        for _ in 0..1000 {
            if let Ok(bytes) = workspace.read("dir/b.txt", 100) {
                assert_eq!(bytes, b"inside");
            }
            let _ = workspace.write("dir/new.txt", b"mine", None);
            if let Ok(entries) = workspace.list_directory("dir") {
                assert!(entries.iter().all(|entry| entry.name != "outside.txt"));
            }
            let _ = workspace.write(
                "dir/b.txt",
                b"inside",
                workspace.hash_file("dir/b.txt", 100).ok().flatten().as_ref(),
            );
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert_eq!(fs::read_to_string(outer.path().join("target/b.txt")).unwrap(), "SECRET");
    assert_eq!(fs::read_dir(outer.path().join("target")).unwrap().count(), 1);
}

fn path_part() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("..".to_owned()),
        Just(".".to_owned()),
        Just(String::new()),
        prop::sample::select(vec![
            "dir",
            "deep",
            "inner",
            "parent",
            "top",
            "up",
            "magic",
            "absolute",
            "loop",
            "secret",
            "work",
            "work-evil",
            "etc",
            "a.txt",
            "A.TXT",
            "Parent",
            "linked",
            "twin",
            "proc",
            "self",
            "root",
            "cwd",
            "fd",
            "0",
            "a\0b",
            "\0"
        ])
        .prop_map(str::to_owned),
        "[a-z.~$ ]{1,4}",
        (200usize..5000).prop_map(|length| "n".repeat(length)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// G13: no combination of path components reads or changes anything outside.
    #[test]
    fn no_path_leads_outside(parts in prop::collection::vec(path_part(), 1..8), absolute in any::<bool>()) {
        thread_local!(static PLACE: (TempDir, PathBuf, [Workspace; 2]) = {
            let (outer, root) = workspace_with_links();
            let spaces = both(&root);
            (outer, root, spaces)
        });
        PLACE.with(|(outer, _, spaces)| -> Result<(), TestCaseError> {
            let path = format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"));
            for workspace in spaces {
                if let Ok(bytes) = workspace.read(&path, 1 << 20) {
                    prop_assert_ne!(bytes, b"SECRET".to_vec(), "{}", path);
                }
                let _ = workspace.write(&path, b"EVIL", None);
                if let Ok(touched) = workspace.resolve_touched(&path) {
                    prop_assert!(touched.path.split('/').all(|name| name != "..") && !touched.path.starts_with('/'), "{}", touched.path);
                }
            }
            prop_assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "SECRET");
            prop_assert_eq!(fs::read_to_string(outer.path().join("twin")).unwrap(), "HARD");
            prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 4);
            prop_assert_eq!(fs::read_dir(outer.path().join("work-evil")).unwrap().count(), 1);
            Ok(())
        })?;
    }
}
