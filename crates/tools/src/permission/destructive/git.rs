//! Git commands that destroy work, rewrite history or start other programs.

use super::has_flag;
use crate::permission::shell::{ShellWord, setting_names_program};

/// What is dangerous about a git command.
pub(super) fn describe_git(arguments: &[ShellWord]) -> Option<&'static str> {
    let (settings, rest) = split_global_options(arguments);
    if settings.iter().any(|setting| setting_starts_program(setting)) {
        return Some(STARTS);
    }
    let (subcommand, arguments) = rest.split_first()?;
    if subcommand.is_hidden() {
        return Some("the command hides what git is to do");
    }
    describe_subcommand(&subcommand.text, arguments)
}

/// Whether a command only reads the repository, or adds to the index.
pub(super) fn is_harmless_git(arguments: &[ShellWord]) -> bool {
    const HARMLESS: [&str; 13] = [
        "add",
        "diff",
        "log",
        "show",
        "status",
        "blame",
        "grep",
        "ls-files",
        "cat-file",
        "rev-parse",
        "hash-object",
        "check-ignore",
        "check-attr",
    ];
    let (_, rest) = split_global_options(arguments);
    rest.first().is_some_and(|word| !word.is_hidden() && HARMLESS.contains(&word.text.as_str()))
}

/// The options before the subcommand with their values, and what follows them.
fn split_global_options(arguments: &[ShellWord]) -> (Vec<String>, &[ShellWord]) {
    const VALUED: [&str; 7] =
        ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];
    let mut settings = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        if !word.text.starts_with('-') || word.dynamic {
            break;
        }
        at += 1;
        let mut setting = word.text.clone();
        if VALUED.contains(&setting.as_str()) {
            let value = arguments.get(at).map(|word| word.text.as_str()).unwrap_or_default();
            setting = format!("{setting} {value}");
            at += 1;
        }
        settings.push(setting);
    }
    (settings, arguments.get(at..).unwrap_or_default())
}

fn setting_starts_program(setting: &str) -> bool {
    let named = setting.strip_prefix("-c ").and_then(|pair| pair.split('=').next());
    named.is_some_and(|name| setting_names_program(name) || name.contains('$'))
        || setting.starts_with("--exec-path=")
        || setting.starts_with("--config-env")
}

fn describe_subcommand(subcommand: &str, arguments: &[ShellWord]) -> Option<&'static str> {
    let has = |word: &str| arguments.iter().any(|argument| argument.text == word);
    let begins = |start: &str| arguments.iter().any(|word| word.text.starts_with(start));
    let forced = begins("--force") || has_flag(arguments, 'f', "--force");
    let found = match subcommand {
        "push" if forced || rewrites_remote(arguments) => {
            "the command rewrites a remote repository"
        }
        "reset" if has("--hard") || has("--merge") || has("--keep") => THROWS_AWAY,
        "clean" if forced || begins("-") && !has("-n") && !has("--dry-run") && !has("-i") => {
            "the command removes files that git does not know"
        }
        "checkout" if forced || has(".") || has("--") || has_flag(arguments, 'B', "-B") => {
            THROWS_AWAY
        }
        "switch" if forced || has("--discard-changes") || has("-C") || has("--force-create") => {
            THROWS_AWAY
        }
        "restore" if !has("--staged") && !has("-S") || has("--worktree") || has("-W") => {
            THROWS_AWAY
        }
        "branch"
            if has_flag(arguments, 'D', "--delete") || forced || has_flag(arguments, 'M', "-M") =>
        {
            THROWS_AWAY
        }
        "stash" if has("drop") || has("clear") => THROWS_AWAY,
        "rm" if forced => THROWS_AWAY,
        "worktree" if has("remove") && forced || has("prune") => THROWS_AWAY,
        "update-ref" if has_flag(arguments, 'd', "--delete") || has("--stdin") => REWRITES,
        "filter-branch" | "filter-repo" | "replace" => REWRITES,
        "reflog" if has("expire") || has("delete") => REWRITES,
        "gc" if begins("--prune") => REWRITES,
        "prune" | "symbolic-ref" if !arguments.is_empty() || subcommand == "prune" => REWRITES,
        "config" if !reads_settings(arguments) => "the command changes the settings of git",
        "difftool" | "mergetool" if has_flag(arguments, 'x', "--extcmd") => STARTS,
        "daemon" | "http-backend" | "send-email" => "the command reaches out by itself",
        _ => return None,
    };
    Some(found)
}

const THROWS_AWAY: &str = "the command throws away changes";
const STARTS: &str = "the command gives git a program to start";
const REWRITES: &str = "the command rewrites history";

fn rewrites_remote(arguments: &[ShellWord]) -> bool {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    words.any(|word| {
        matches!(word, "--mirror" | "--delete" | "--prune" | "-d")
            // `+ref` forces, `:ref` deletes; the value of a variable may be either.
            || word.starts_with(['+', ':'])
    }) || arguments.iter().any(ShellWord::is_hidden)
}

/// Settings can name programs that git starts by itself, so only reading them is harmless.
fn reads_settings(arguments: &[ShellWord]) -> bool {
    const READING: [&str; 9] = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "get",
        "list",
        "--show-origin",
    ];
    let operands = arguments.iter().filter(|word| !word.text.starts_with('-')).count();
    arguments.iter().any(|word| READING.contains(&word.text.as_str()))
        || operands == 1 && !arguments.iter().any(|word| word.text.starts_with("--"))
}
