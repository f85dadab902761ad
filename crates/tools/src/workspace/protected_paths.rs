//! Which paths contain what other programs act on by themselves: git hooks and settings, CI pipelines, settings of
//! editors, package managers and agents, our own settings. Names are compared case-insensitively, because some file
//! systems do so.

/// Names that are protected anywhere, with everything below them.
const NAMES: [&str; 47] = [
    ".git",
    ".planwright",
    ".envrc",
    ".direnv",
    ".mcp.json",
    ".husky",
    ".huskyrc",
    ".huskyrc.js",
    ".huskyrc.json",
    ".lefthook",
    ".lefthook-local",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml",
    ".vscode",
    ".devcontainer",
    ".devcontainer.json",
    ".claude",
    ".claude.json",
    ".cursor",
    ".codex",
    ".gemini",
    ".npmrc",
    ".pnpmfile.cjs",
    ".yarnrc",
    ".yarnrc.yml",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci",
    ".travis.yml",
    ".travis.yaml",
    ".buildkite",
    ".cirrus.yml",
    ".drone.yml",
    ".woodpecker",
    ".woodpecker.yml",
    ".woodpecker.yaml",
    ".appveyor.yml",
    "appveyor.yml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    "cloudbuild.yaml",
    "cloudbuild.yml",
    "buildspec.yml",
    "jenkinsfile",
    ".semaphore",
];
/// A directory and what in it is protected, as a prefix of its name.
const PARTS: [(&str, &str); 7] = [
    (".cargo", "config"),
    (".github", "workflows"),
    (".github", "actions"),
    (".gitea", "workflows"),
    (".gitea", "actions"),
    (".forgejo", "workflows"),
    (".forgejo", "actions"),
];
/// Prefixes of file names that are protected anywhere.
const BEGINNINGS: [&str; 4] = ["rust-toolchain", "lefthook.", "lefthook-local.", ".lefthook."];

/// Whether a path is protected.
pub fn is_protected(path: &str) -> bool {
    let lower = path.to_lowercase();
    let names: Vec<&str> = lower.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let above = std::iter::once("").chain(names.iter().copied());
    above.zip(&names).any(|(parent, name)| is_protected_name(parent, name))
}

/// Whether a directory with this name, in lower case, has protected parts.
pub(super) fn has_protected_parts(name: &str) -> bool {
    PARTS.iter().any(|(above, _)| *above == name)
}

/// Whether a name in a directory with another name is protected, both in lower case.
pub(super) fn is_protected_name(parent: &str, name: &str) -> bool {
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || PARTS.iter().any(|(above, part)| *above == parent && name.starts_with(part))
}
