//! `git.log`, `git.status`, `git.diff`: what a repository can tell, by one fixed `git` that changes nothing.
//!
//! The settings of a repository can name programs: hooks, monitors, differs, filters, transports. Git reads it through a
//! [`RepositoryView`], where none of these settings exists, with or without a sandbox and in every version of git.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shell_run::check_status;
use super::{parse_args, quote_word};
use crate::context::ToolContext;
use crate::meta::{ResolvedCall, ToolEffect, ToolMeta};
use crate::process::{self, CALL_VARIABLE, ProcessSpec};
use crate::repository_view::RepositoryView;
use crate::sandbox::{CommandConfinement, RootAccess};
use crate::text_limit;
use crate::tool::{Tool, ToolAnswer, ToolError, ToolErrorCode};
use planwright_model::event::CallOutcome;
use planwright_model::{StopSignal, ToolResult};

const NO_REPOSITORY: &str = "the workspace is not a git repository";
/// A look at a repository takes no longer than this.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// What git starts with: no pager, and paths that are paths.
const FIXED: &str = "git --no-pager --literal-pathspecs";

#[derive(Deserialize, JsonSchema)]
struct GitLogArgs {
    /// Only commits that touch this file or directory
    path: Option<String>,
    /// A branch, tag, commit or range such as `v1.0..HEAD`; HEAD unless named
    rev: Option<String>,
    /// The most commits to return
    #[serde(default = "default_commits")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// Name the files of each commit
    #[serde(default)]
    files: bool,
}

fn default_commits() -> u32 {
    20
}

#[derive(Deserialize, JsonSchema)]
struct GitStatusArgs {}

#[derive(Deserialize, JsonSchema)]
struct GitDiffArgs {
    /// Only this file or directory
    path: Option<String>,
    /// A branch, tag, commit or range to compare with, such as `v1.0..HEAD`; the index by default
    rev: Option<String>,
    /// What is staged, compared with the last commit
    #[serde(default)]
    staged: bool,
    /// Names and numbers of lines only
    #[serde(default)]
    stat: bool,
}

/// Which of the three a tool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitLook {
    Log,
    Status,
    Diff,
}

pub(super) struct GitTool {
    meta: ToolMeta,
    look: GitLook,
}

impl GitTool {
    pub(super) fn log() -> Self {
        let about = "Commits of the repository, newest first: hash, date, author, subject.";
        let meta = ToolMeta::built_in::<GitLogArgs>("git.log", ToolEffect::Look, about);
        Self { meta: uncached(meta), look: GitLook::Log }
    }

    pub(super) fn status() -> Self {
        let about = "The branch, and which files are changed, staged or not tracked.";
        let meta = ToolMeta::built_in::<GitStatusArgs>("git.status", ToolEffect::Look, about);
        Self { meta: uncached(meta), look: GitLook::Status }
    }

    pub(super) fn diff() -> Self {
        let about = "Changes that are not committed, or the difference to a branch, tag or commit.";
        let meta = ToolMeta::built_in::<GitDiffArgs>("git.diff", ToolEffect::Look, about);
        Self { meta: uncached(meta), look: GitLook::Diff }
    }

    fn arguments(&self, args: &Value) -> Result<GitArguments, ToolError> {
        let mut words: Vec<String> = Vec::new();
        let mut add = |text: &str| words.extend(text.split_whitespace().map(str::to_owned));
        let (rev, path) = match self.look {
            GitLook::Log => {
                let parsed: GitLogArgs = parse_args(args)?;
                add("log --no-color --no-ext-diff --no-textconv --date=short");
                add(&format!("-n {}", parsed.limit));
                add(if parsed.files { "--name-status" } else { "" });
                words.push("--format=%h %ad %an: %s".to_owned());
                (Some(parsed.rev.unwrap_or_else(|| "HEAD".to_owned())), parsed.path)
            }
            GitLook::Status => {
                parse_args::<GitStatusArgs>(args)?;
                add("status --short --branch --untracked-files=normal --ignore-submodules=all");
                return Ok(GitArguments { words, path: ".".to_owned() });
            }
            GitLook::Diff => {
                let parsed: GitDiffArgs = parse_args(args)?;
                add("diff --no-color --no-ext-diff --no-textconv --ignore-submodules=all");
                add(if parsed.staged { "--cached" } else { "" });
                add(if parsed.stat { "--stat" } else { "" });
                (parsed.rev, parsed.path)
            }
        };
        if let Some(rev) = rev {
            check_revision(&rev)?;
            words.push(rev);
        }
        words.push("--".to_owned());
        Ok(GitArguments { words, path: path.unwrap_or_else(|| ".".to_owned()) })
    }
}

/// A repository changes between two calls with the same arguments, without anything that a cache could see.
fn uncached(mut meta: ToolMeta) -> ToolMeta {
    meta.idempotent = false;
    meta
}

/// The words after `git`, and the path that they are about.
struct GitArguments {
    words: Vec<String>,
    path: String,
}

/// A revision is letters, digits and what git's own syntax needs; never an option.
fn check_revision(rev: &str) -> Result<(), ToolError> {
    let fits = |c: char| c.is_alphanumeric() || "._/~^@{}-+".contains(c);
    if rev.is_empty() || rev.starts_with('-') || !rev.chars().all(fits) {
        let message = format!("`rev` \"{rev}\" is not a branch, tag, commit or range");
        return Err(ToolError::new(ToolErrorCode::BadArgs, message));
    }
    Ok(())
}

impl Tool for GitTool {
    fn meta(&self) -> &ToolMeta {
        &self.meta
    }

    fn resolve(&self, args: &Value, context: &ToolContext) -> Result<ResolvedCall, ToolError> {
        let wanted = self.arguments(args)?;
        let touched = context.toolbox.workspace().resolve_touched(&wanted.path)?;
        Ok(ResolvedCall::new(ToolEffect::Look, args.clone()).with_path(touched))
    }

    fn call<'a>(
        &'a self,
        resolved: &'a ResolvedCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolAnswer> {
        Box::pin(async move {
            let path = resolved.paths.first().map_or(".", |touched| touched.path.as_str());
            match self.arguments(&resolved.args) {
                Ok(wanted) => run_git(&wanted.words, self.look, path, context).await.into(),
                Err(error) => error.into(),
            }
        })
    }
}

async fn run_git(
    words: &[String],
    look: GitLook,
    path: &str,
    context: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let toolbox = &context.toolbox;
    let settings = toolbox.settings();
    let root = toolbox.workspace().root().to_owned();
    let opened = RepositoryView::open(&root)
        .map_err(|error| ToolError::new(ToolErrorCode::NotConfigured, error.to_string()))?;
    let view = opened.ok_or_else(|| ToolError::new(ToolErrorCode::NotConfigured, NO_REPOSITORY))?;
    let roots: Vec<PathBuf> = std::iter::once(root.clone()).chain(view.read_roots()).collect();
    let cell =
        CommandConfinement::prepare_access(toolbox.sandbox(), settings, roots, RootAccess::Read)
            .map_err(|error| {
                ToolError::new(ToolErrorCode::Io, format!("confining git: {error}"))
            })?;
    let words: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    let path = if look == GitLook::Status { "-- .".to_owned() } else { quote_word(path) };
    let spec = ProcessSpec {
        shell: Vec::new(),
        command: format!("exec {FIXED} {} {path}", words.join(" ")),
        directory: root,
        without: Vec::new(),
        with: call_environment(&view, &toolbox.process_mark(&context.call)),
        time_limit: TIME_LIMIT,
        output_limit: settings.kept_output_bytes,
        spool: None,
        redactor: toolbox.redactor().clone(),
        launch: cell.launch_mode(),
        launcher: None,
        stop: StopSignal::default(),
    };
    let cancel = context.cancel.clone();
    let ran = process::run_and_collect(spec, cancel, context.call.clone(), |_| ()).await;
    let output = planwright_text::clean_text(&ran.output);
    if check_status(&ran.outcome).is_err() {
        return Err(git_error(&ran.outcome, &output));
    }
    let shown = text_limit::truncate_middle(&output, settings.model_output_bytes);
    let cut = ran.dropped_bytes > 0 || shown.len() < output.len();
    let empty = output.trim().is_empty();
    let shown = if empty { "nothing to show" } else { shown.as_ref() };
    Ok(ToolResult::success(json!({
        "lines": if empty { 0 } else { output.lines().count() },
        "output": shown,
        "truncated": cut,
    })))
}

fn git_error(outcome: &CallOutcome, output: &str) -> ToolError {
    let said = output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let missing = matches!(outcome, CallOutcome::Exited { code: 126 | 127 });
    if missing {
        return ToolError::new(ToolErrorCode::NotConfigured, "git is not installed");
    }
    if said.contains("not a git repository") {
        return ToolError::new(ToolErrorCode::NotConfigured, NO_REPOSITORY);
    }
    if said.is_empty() {
        return check_status(outcome).err().unwrap_or_else(|| {
            ToolError::new(ToolErrorCode::Internal, "git ended without saying why")
        });
    }
    ToolError::new(ToolErrorCode::BadArgs, format!("git: {said}"))
}

/// The variables of a call: its mark, the view, and no settings of anybody.
fn call_environment(view: &RepositoryView, mark: &str) -> Vec<(String, String)> {
    let view = view.environment().into_iter();
    let view = view.map(|(name, value)| (name.to_owned(), value.display().to_string()));
    let own = [(CALL_VARIABLE, mark), ("GIT_CONFIG_GLOBAL", "/dev/null")];
    view.chain(own.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::fixture::Fixture;

    fn git(fixture: &Fixture, arguments: &[&str]) {
        let done = Command::new("git")
            .current_dir(fixture.root())
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(["-c", "init.defaultBranch=main"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    fn repository() -> Fixture {
        let fixture = Fixture::new();
        git(&fixture, &["init", "-q"]);
        fixture.file("a.txt", "one\n");
        git(&fixture, &["add", "."]);
        git(&fixture, &["commit", "-q", "-m", "first words"]);
        fixture.file("a.txt", "one\ntwo\n");
        fixture.file("new.txt", "new\n");
        fixture
    }

    async fn output(fixture: &Fixture, tool: &str, args: Value) -> String {
        let result = fixture.call(tool, args).await.result;
        assert!(result.ok, "{result:?}");
        result.data["output"].as_str().unwrap().to_owned()
    }

    #[tokio::test]
    async fn commits_status_and_differences_are_read() {
        let fixture = repository();
        let log = output(&fixture, "git.log", json!({"files": true})).await;
        assert!(log.contains(" Ada: first words") && log.contains("A   a.txt"), "{log}");
        assert_eq!(
            output(&fixture, "git.log", json!({"path": "new.txt"})).await,
            "nothing to show"
        );
        let status = output(&fixture, "git.status", json!({})).await;
        assert!(status.contains("## main") && status.contains("?? new.txt"), "{status}");
        let diff = output(&fixture, "git.diff", json!({"path": "a.txt"})).await;
        assert!(diff.contains("+two"), "{diff}");
        assert_eq!(output(&fixture, "git.diff", json!({"staged": true})).await, "nothing to show");
        let stat = output(&fixture, "git.diff", json!({"rev": "HEAD", "stat": true})).await;
        assert!(stat.contains("1 file changed"), "{stat}");
        fixture.file("a.txt", "one\n");
        assert_eq!(output(&fixture, "git.diff", json!({})).await, "nothing to show");
        assert!(fixture.script.log().iter().all(|line| !line.starts_with("ask")));
    }

    #[tokio::test]
    async fn no_program_of_a_repository_is_started() {
        let fixture = repository();
        let mark = fixture.root().join("started");
        let program = format!("touch {}", mark.display());
        let hook = fixture.root().join(".git/hooks/post-index-change");
        std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
        std::fs::write(&hook, format!("#!/bin/sh\n{program}\n")).unwrap();
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let named = [
            "core.fsmonitor",
            "core.pager",
            "pager.log",
            "diff.external",
            "diff.x.textconv",
            "diff.x.command",
            "filter.x.clean",
            "filter.x.process",
            "gpg.program",
            "alias.log",
        ];
        for name in named {
            git(&fixture, &["config", name, &program]);
        }
        git(&fixture, &["config", "filter.x.required", "true"]);
        git(&fixture, &["config", "log.showSignature", "true"]);
        fixture.file(".gitattributes", "*.txt diff=x filter=x\n");
        // A file whose time differs from the index is compared by its content, through filters.
        fixture.file("a.txt", "one\ntwo\n");
        for tool in ["git.status", "git.diff", "git.log"] {
            output(&fixture, tool, json!({})).await;
        }
        assert!(!mark.exists(), "a program of the repository was started");
    }

    /// What is missing of a partial clone would be fetched, over a transport that is a command.
    #[tokio::test]
    async fn nothing_is_fetched() {
        let fixture = repository();
        let mark = fixture.root().join("started");
        let url = format!("ext::sh -c touch% {}", mark.display());
        let settings = [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", url.as_str()),
            ("protocol.allow", "always"),
            ("protocol.ext.allow", "always"),
        ];
        for (name, value) in settings {
            git(&fixture, &["config", name, value]);
        }
        let objects = fixture.root().join(".git/objects");
        let name = Command::new("git")
            .current_dir(fixture.root())
            .args(["rev-parse", "HEAD:a.txt"])
            .output()
            .unwrap();
        let name = String::from_utf8(name.stdout).unwrap().trim().to_owned();
        std::fs::remove_file(objects.join(&name[..2]).join(&name[2..])).unwrap();
        // Git by itself starts the command, so that the test can tell.
        let plain = Command::new("git").current_dir(fixture.root()).arg("diff").output().unwrap();
        assert!(!plain.status.success() && mark.exists(), "{plain:?}");
        std::fs::remove_file(&mark).unwrap();
        assert_eq!(fixture.code("git.diff", json!({})).await, "bad_args");
        assert!(!mark.exists(), "a transport of the repository was started");
    }

    #[tokio::test]
    async fn settings_and_links_do_not_lead_out_of_the_repository() {
        let secret = repository();
        secret.file("a.txt", "a secret\n");
        let fixture = repository();
        git(&fixture, &["config", "core.worktree", &secret.root().display().to_string()]);
        let diff = output(&fixture, "git.diff", json!({})).await;
        assert!(diff.contains("+two") && !diff.contains("secret"), "{diff}");
        // Files of another repository in the place of its own.
        for part in ["objects", "refs", "index"] {
            let fixture = repository();
            let own = fixture.root().join(".git").join(part);
            std::fs::rename(&own, fixture.root().join("kept")).unwrap();
            std::os::unix::fs::symlink(secret.root().join(".git").join(part), &own).unwrap();
            assert_eq!(fixture.code("git.log", json!({})).await, "not_configured", "{part}");
        }
        // A file that names another repository, which knows nothing of it.
        let fixture = Fixture::new();
        let target = secret.root().join(".git");
        fixture.file(".git", &format!("gitdir: {}\n", target.display()));
        assert_eq!(fixture.code("git.log", json!({})).await, "not_configured");
        let fixture = Fixture::new();
        fixture.file(".git/HEAD", "ref: refs/heads/main\n");
        fixture.file(".git/commondir", &format!("{}\n", target.display()));
        assert_eq!(fixture.code("git.log", json!({})).await, "not_configured");
    }

    #[tokio::test]
    async fn linked_work_trees_and_directories_below_are_read() {
        let fixture = repository();
        let linked = Fixture::new();
        let path = linked.root().display().to_string();
        git(&fixture, &["worktree", "add", "-q", "-f", "-b", "other", &path]);
        linked.file("b.txt", "b\n");
        let status = output(&linked, "git.status", json!({})).await;
        assert!(status.contains("## other") && status.contains("?? b.txt"), "{status}");
        assert!(!status.contains("a.txt"), "{status}");
        let log = output(&linked, "git.log", json!({"rev": "main"})).await;
        assert!(log.contains("first words"), "{log}");
    }

    #[tokio::test]
    async fn what_is_no_revision_or_no_repository_is_refused() {
        let fixture = repository();
        for rev in ["--output=x", "-n1", "a b", "$(id)", ""] {
            assert_eq!(fixture.code("git.log", json!({"rev": rev})).await, "bad_args", "{rev}");
        }
        assert_eq!(fixture.code("git.log", json!({"rev": "nowhere"})).await, "bad_args");
        assert_eq!(fixture.code("git.diff", json!({"path": "../x"})).await, "outside_workspace");
        let plain = Fixture::new();
        assert_eq!(plain.code("git.status", json!({})).await, "not_configured");
    }
}
