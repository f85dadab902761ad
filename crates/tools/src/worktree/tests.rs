use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::*;
use crate::workspace::Workspace;
use planwright_model::{AppliedFile, ProposedFileKind};
use planwright_text::Redactor;

/// A workspace, and the copies of a session beside it.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(place.root()).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("work")
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.root().join(path), text);
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.root(), &[], &[]).unwrap()
    }

    fn copy(&self, name: &str) -> (Worktree, SnapshotReport) {
        let copies = WorktreeDirectory::for_session(self.directory.path(), "s");
        copies.create(name, &self.root()).unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git").arg("-C").arg(self.root()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Plans and applies; the conflicting paths if nothing was applied.
    fn apply(&self, copy: &Worktree) -> Result<Vec<AppliedFile>, Vec<String>> {
        let workspace = self.workspace();
        match copy.plan_apply(&workspace).unwrap() {
            ApplyPlan::Conflicts(conflicts) => {
                Err(conflicts.into_iter().map(|conflict| conflict.path).collect())
            }
            ApplyPlan::Ready(edits) => {
                let files = copy.save_plan(&edits).unwrap();
                copy.apply(&files, &workspace).unwrap();
                Ok(files)
            }
        }
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_copy_has_uncommitted_and_new_files_and_leaves_out_what_git_ignores() {
    let place = Place::new(&[("src/a.rs", "one\n"), (".gitignore", "target/\n*.log\n")]);
    place.git(&["init", "-q"]);
    place.git(&["add", "-A"]);
    place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]);
    place.write("src/a.rs", "uncommitted\n");
    place.write("src/new.rs", "new\n");
    place.write("target/debug/big", "built\n");
    place.write("kept.log", "tracked although ignored\n");
    place.git(&["add", "-f", "kept.log"]);
    let head = fs::read(place.root().join(".git/HEAD")).unwrap();
    let (copy, report) = place.copy("a");
    let own = |path: &str| fs::read_to_string(copy.files().join(path)).ok();
    assert_eq!(own("src/a.rs").unwrap(), "uncommitted\n");
    assert_eq!(own("src/new.rs").unwrap(), "new\n");
    assert_eq!(own("kept.log").unwrap(), "tracked although ignored\n");
    assert!(own("target/debug/big").is_none());
    assert_eq!(report.left_out, ["target/"]);
    assert_eq!(copy.changes(&place.root()).unwrap(), WorktreeChanges::default());
    // What is built in the copy is no change of the task.
    write(&copy.files().join("target/debug/out"), "built");
    assert_eq!(copy.changes(&place.root()).unwrap().files, []);
    assert_eq!(fs::read(place.root().join(".git/HEAD")).unwrap(), head);
}

#[test]
fn rules_above_the_workspace_are_obeyed() {
    let place = Place::new(&[(".gitignore", "out/\n"), ("app/a.rs", "one\n")]);
    place.git(&["init", "-q"]);
    let copies = WorktreeDirectory::for_session(place.directory.path(), "s");
    let app = place.root().join("app");
    let (copy, _) = copies.create("a", &app).unwrap();
    write(&copy.files().join("out/x"), "built");
    write(&copy.files().join("b.rs"), "new\n");
    let changed = copy.changes(&app).unwrap();
    assert_eq!(changed.files.iter().map(|file| &file.path[..]).collect::<Vec<_>>(), ["b.rs"]);
}

#[test]
fn applying_touches_only_its_own_files_and_undo_restores_them() {
    let place = Place::new(&[("a.txt", "a\n"), ("gone.txt", "old\n"), ("other.txt", "x\n")]);
    let (copy, _) = place.copy("a");
    write(&copy.files().join("a.txt"), "b\n");
    fs::remove_file(copy.files().join("gone.txt")).unwrap();
    write(&copy.files().join("bin/run.sh"), "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(copy.files().join("bin/run.sh"), mode).unwrap();
    place.write("other.txt", "the person's own work\n");
    let proposal = copy.changes(&place.root()).unwrap().proposal();
    let kinds: Vec<_> = proposal.files.iter().map(|file| (&file.path[..], file.change)).collect();
    let expected = [
        ("a.txt", ProposedFileKind::Modified),
        ("bin/run.sh", ProposedFileKind::Added),
        ("gone.txt", ProposedFileKind::Removed),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(proposal.describe(), "3 files, +2 -2");
    let files = place.apply(&copy).unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "b\n");
    assert_eq!(place.read("gone.txt"), None);
    assert_eq!(place.read("other.txt").unwrap(), "the person's own work\n");
    let script = place.root().join("bin/run.sh").metadata().unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&script.permissions()) & 0o111, 0o111);
    copy.remove_trees().unwrap();
    copy.undo(&files, &place.workspace()).unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "a\n");
    assert_eq!(place.read("gone.txt").unwrap(), "old\n");
    assert_eq!(place.read("bin/run.sh"), None);
}

#[test]
fn changes_of_two_tasks_in_one_file_are_merged_and_overlapping_lines_conflict() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let place = Place::new(&[("a.txt", text)]);
    let ((first, _), (second, _), (third, _)) = (place.copy("1"), place.copy("2"), place.copy("3"));
    write(&first.files().join("a.txt"), &text.replace("1\n", "one\n"));
    write(&second.files().join("a.txt"), &text.replace("9\n", "nine\n"));
    write(&third.files().join("a.txt"), &text.replace("1\n", "uno\n"));
    write(&third.files().join("b.txt"), "b\n");
    place.apply(&first).unwrap();
    place.apply(&second).unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert_eq!(place.apply(&third).unwrap_err(), ["a.txt"]);
    assert_eq!(place.read("b.txt"), None, "nothing is half applied");
    let merge = third.merge_workspace(&place.root()).unwrap();
    assert_eq!((merge.files, merge.conflicts), (vec!["a.txt".into()], vec!["a.txt".into()]));
    let marked = fs::read_to_string(third.files().join("a.txt")).unwrap();
    assert!(marked.contains("<<<<<<<") && marked.contains("uno") && marked.contains("nine"));
    write(&third.files().join("a.txt"), "one, uno\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    place.apply(&third).unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "one, uno\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert_eq!(place.read("b.txt").unwrap(), "b\n");
}

#[test]
fn an_apply_that_fails_half_way_restores_what_it_wrote() {
    let place = Place::new(&[("a.txt", "a\n"), ("z/b.txt", "b\n")]);
    let (copy, _) = place.copy("a");
    write(&copy.files().join("a.txt"), "A\n");
    write(&copy.files().join("z/b.txt"), "B\n");
    let workspace = place.workspace();
    let ApplyPlan::Ready(edits) = copy.plan_apply(&workspace).unwrap() else { panic!() };
    let files = copy.save_plan(&edits).unwrap();
    // What was saved for the second file is gone when its turn comes.
    fs::remove_file(copy.root.join("after/z/b.txt")).unwrap();
    let conflicts = copy.apply(&files, &workspace).unwrap_err();
    assert_eq!(conflicts.len(), 1, "{conflicts:?}");
    assert_eq!(place.read("a.txt").unwrap(), "a\n", "restored");
}

#[test]
fn an_undo_of_files_that_changed_since_changes_nothing() {
    let place = Place::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let (copy, _) = place.copy("a");
    write(&copy.files().join("a.txt"), "A\n");
    write(&copy.files().join("b.txt"), "B\n");
    let files = place.apply(&copy).unwrap();
    place.write("b.txt", "the person's\n");
    assert_eq!(copy.undo(&files, &place.workspace()).unwrap_err()[0].path, "b.txt");
    assert_eq!(place.read("a.txt").unwrap(), "A\n");
    assert_eq!(place.read("b.txt").unwrap(), "the person's\n");
}

#[test]
fn links_and_secrets_are_not_applied_or_shown_silently() {
    let place = Place::new(&[("a.txt", "a\n")]);
    let (copy, _) = place.copy("a");
    std::os::unix::fs::symlink("/etc/passwd", copy.files().join("link")).unwrap();
    write(&copy.files().join("a.txt"), "token-123\n");
    let changes = copy.changes(&place.root()).unwrap();
    assert_eq!(changes.left_out, ["link: links are not applied"]);
    let redactor = Redactor::new(["token-123".to_owned()]);
    let shown = changes.shown_diffs(&redactor);
    assert_eq!(shown[0].0, "a.txt +1 -1");
    assert!(!shown[0].1.contains("token-123") && shown[0].1.contains("-a"), "{shown:?}");
}

#[test]
fn a_copy_is_no_way_out_of_it() {
    let place = Place::new(&[("a.txt", "a\n")]);
    let data = place.directory.path().to_owned();
    let workspace = Workspace::open(&place.root(), &[], &[data.join("worktrees")]).unwrap();
    let (copy, _) = place.copy("a");
    let inside = workspace.relocate(&copy.files()).unwrap();
    assert_eq!(inside.read("a.txt", 10).unwrap(), b"a\n");
    assert!(!inside.contains_forbidden());
    assert!(inside.read("../base/a.txt", 10).is_err());
    assert!(inside.read(place.root().join("a.txt").to_str().unwrap(), 10).is_err());
}

/// What two tasks and the person do to a few small files.
fn content() -> impl Strategy<Value = Option<String>> {
    let lines = prop::collection::vec(prop::sample::select(vec!["a\n", "b\n", "c\n"]), 0..5);
    prop::option::weighted(0.8, lines.prop_map(|lines| lines.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However an apply is cut off, running it again either completes it or leaves the workspace as it was, and an undo
    /// restores every byte.
    #[test]
    fn an_interrupted_apply_is_completed_or_undone(
        base in prop::collection::vec(content(), 3),
        own in prop::collection::vec(content(), 3),
        cut in 0..4usize,
        disturb in any::<bool>(),
    ) {
        let place = Place::new(&[]);
        let put = |root: &Path, contents: &[Option<String>]| {
            for (at, text) in contents.iter().enumerate() {
                let path = root.join(format!("f{at}"));
                match text {
                    Some(text) => fs::write(path, text).unwrap(),
                    None => drop(fs::remove_file(path)),
                }
            }
        };
        let now = || (0..3).map(|at| place.read(&format!("f{at}"))).collect::<Vec<_>>();
        put(&place.root(), &base);
        let (copy, _) = place.copy("a");
        put(&copy.files(), &own);
        let workspace = place.workspace();
        let ApplyPlan::Ready(edits) = copy.plan_apply(&workspace).unwrap() else { panic!() };
        let files = copy.save_plan(&edits).unwrap();
        // The first files were written when the process died.
        copy.apply(&files[..cut.min(files.len())], &workspace).unwrap();
        if disturb && let Some(last) = files.last() {
            place.write(&last.path, "somebody else\n");
            let mut expected = base.clone();
            expected[last.path[1..].parse::<usize>().unwrap()] = Some("somebody else\n".into());
            prop_assert!(copy.apply(&files, &workspace).is_err());
            prop_assert_eq!(now(), expected);
        } else {
            copy.apply(&files, &workspace).unwrap();
            prop_assert_eq!(now(), own);
            copy.undo(&files, &workspace).unwrap();
            prop_assert_eq!(now(), base);
        }
    }
}

#[test]
fn git_works_in_a_copy_on_no_branch_and_leaves_the_repository_alone() {
    let place = Place::new(&[("a.rs", "one\n")]);
    place.git(&["init", "-q"]);
    place.git(&["add", "-A"]);
    place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first"]);
    place.git(&["tag", "v1"]);
    place.write("a.rs", "two\n");
    let (copy, _) = place.copy("t");
    let git = |arguments: &[&str]| {
        let done =
            Command::new("git").arg("-C").arg(copy.files()).args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    assert_eq!(git(&["describe", "--tags"]), "v1\n");
    assert_eq!(git(&["status", "--short"]), " M a.rs\n", "uncommitted work is uncommitted there");
    write(&copy.files().join("b.rs"), "new\n");
    git(&["add", "-A"]);
    git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "second"]);
    let objects = || fs::read_dir(place.root().join(".git/objects")).unwrap().count();
    let (before, refs) = (objects(), fs::read(place.root().join(".git/HEAD")).unwrap());
    let changes = copy.changes(&place.root()).unwrap();
    let names: Vec<&str> = changes.files.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(names, ["b.rs"], "nothing of .git is a change");
    assert_eq!((objects(), fs::read(place.root().join(".git/HEAD")).unwrap()), (before, refs));
    place.git(&["fsck", "--strict"]);
}

#[test]
fn no_program_of_a_hostile_repository_is_started_for_a_copy() {
    let place = Place::new(&[("a.rs", "one\n"), (".gitignore", "out/\n")]);
    place.git(&["init", "-q"]);
    place.git(&["add", "-A"]);
    place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first"]);
    let mark = place.root().join("out/started");
    fs::create_dir_all(mark.parent().unwrap()).unwrap();
    let program = format!("touch {}", mark.display());
    for name in ["core.fsmonitor", "filter.x.clean", "core.pager", "alias.ls-files"] {
        place.git(&["config", name, &program]);
    }
    place.git(&["config", "core.worktree", "/"]);
    fs::write(place.root().join(".gitattributes"), "* filter=x\n").unwrap();
    fs::write(place.root().join("a.rs"), "two\n").unwrap();
    let (copy, _) = place.copy("t");
    assert_eq!(fs::read_to_string(copy.files().join("a.rs")).unwrap(), "two\n");
    assert!(copy.files().join(".git/HEAD").exists() && !copy.files().join("out").exists());
    assert!(!mark.exists(), "a program of the repository was started");
}

#[test]
fn a_linked_work_tree_gets_copies_with_its_own_commit() {
    let place = Place::new(&[("a.rs", "one\n")]);
    place.git(&["init", "-q"]);
    place.git(&["add", "-A"]);
    place.git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first"]);
    let linked = place.root().join("linked");
    place.git(&["worktree", "add", "-q", "-b", "other", &linked.display().to_string()]);
    assert_eq!(borrowed_objects(&linked), borrowed_objects(&place.root()));
    // A file that names a repository which does not name it in turn leads nowhere.
    let forged = place.root().join("forged");
    fs::create_dir(&forged).unwrap();
    fs::copy(linked.join(".git"), forged.join(".git")).unwrap();
    assert_eq!(borrowed_objects(&forged), None);
}
