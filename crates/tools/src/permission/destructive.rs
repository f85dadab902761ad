//! Commands that always ask: destruction, privilege escalation, code straight from the network, and hidden commands.

mod git;
mod hidden_commands;

#[cfg(test)]
mod tests;

pub(super) use hidden_commands::runs_unseen_text;

use super::shell::{ShellLine, ShellWord, SimpleCommand, parse_shell_line};
use crate::workspace::is_protected;

/// Describes what is dangerous about a command line, if anything is. When in doubt, it asks.
pub fn find_danger(line: &str) -> Option<String> {
    let parsed = parse_shell_line(line);
    if parsed.unreadable {
        return Some(
            "the command cannot be read to its end (quotes or brackets that do not close or that shells read differently, or too much nesting)"
                .to_owned(),
        );
    }
    let found = parsed.commands.iter().find_map(describe_danger);
    found
        .or_else(|| hidden_commands::describe_fetch_and_run(&parsed))
        .or_else(|| describe_fork_bomb(line, &parsed))
        .map(str::to_owned)
}

/// What is dangerous about one command.
fn describe_danger(command: &SimpleCommand) -> Option<&'static str> {
    if command.writes_to.iter().any(|path| is_device(path)) {
        return Some("the command writes to a device");
    }
    if command.writes_to.iter().any(|path| is_guarded_path(path)) {
        return Some("the command writes to a protected file");
    }
    if let Some(danger) = hidden_commands::describe_hidden(command) {
        return Some(danger);
    }
    let program = command.program()?;
    let arguments = command.arguments();
    describe_escalation(program)
        .or_else(|| describe_destruction(program, arguments))
        .or_else(|| describe_overwrite(program, arguments))
        .or_else(|| describe_unseen_input(command, program))
}

fn describe_escalation(program: &str) -> Option<&'static str> {
    match program {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" | "sudoedit" | "visudo" | "setcap" => {
            Some("the command asks for more rights")
        }
        "nsenter" | "unshare" | "chroot" | "bwrap" | "systemd-run" | "machinectl" => {
            Some("the command leaves the surroundings it was started in")
        }
        "ssh" | "rsh" | "mosh" => Some("the command runs something on another machine"),
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" => {
            Some("the command stops the machine")
        }
        "systemctl" | "service" | "crontab" | "at" | "batch" | "launchctl" => {
            Some("the command changes what the machine does by itself")
        }
        "mount" | "umount" | "insmod" | "modprobe" | "rmmod" | "sysctl" | "iptables" | "nft"
        | "useradd" | "usermod" | "userdel" | "passwd" => Some("the command changes the system"),
        _ => None,
    }
}

fn describe_destruction(program: &str, arguments: &[ShellWord]) -> Option<&'static str> {
    let has = |words: &[&str]| arguments.iter().any(|word| words.contains(&word.text.as_str()));
    let begins = |start: &str| arguments.iter().any(|word| word.text.starts_with(start));
    match program {
        "dd" | "shred" | "wipefs" | "fdisk" | "sfdisk" | "parted" | "blkdiscard" | "truncate"
        | "mkswap" => Some("the command can destroy data for good"),
        name if name.starts_with("mkfs") => Some("the command can destroy data for good"),
        "rm" if removes_directory_tree(arguments) => {
            Some("the command removes a directory that is not for build results")
        }
        "find" | "fd" | "fdfind" if has(&["-delete"]) => Some("the command removes what it finds"),
        "git" => git::describe_git(arguments),
        "chmod" | "chown" | "chgrp" if has_flag(arguments, 'R', "--recursive") => {
            Some("the command changes rights of a whole directory")
        }
        "kill" | "pkill" | "killall" | "skill" if kills_others(arguments) => {
            Some("the command ends processes that it may not have started")
        }
        "rsync" if begins("--del") || begins("--remove-source") => {
            Some("the command removes files that the other side does not have")
        }
        "rsync" if has_flag(arguments, 'e', "--rsh") => {
            Some("the command runs something on another machine")
        }
        "tar" if begins("--checkpoint-action") || begins("--to-command") => {
            Some("the command starts another one by an option")
        }
        "docker" | "podman" if has(&["--privileged"]) => Some("the command asks for more rights"),
        _ => None,
    }
}

/// Detects writing by a command instead of `>`.
fn describe_overwrite(program: &str, arguments: &[ShellWord]) -> Option<&'static str> {
    let paths: Vec<&str> = arguments
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !text.starts_with('-'))
        .collect();
    let written: &[&str] = match program {
        "tee" | "mv" | "rm" | "unlink" | "chmod" | "chown" | "sponge" => &paths,
        "cp" | "install" | "ln" | "rsync" => paths.split_at(paths.len().saturating_sub(1)).1,
        "sed" | "perl" if has_flag(arguments, 'i', "--in-place") => &paths,
        _ => &[],
    };
    if written.iter().any(|path| is_device(path)) {
        return Some("the command writes to a device");
    }
    written
        .iter()
        .any(|path| is_guarded_path(path))
        .then_some("the command changes a protected file")
}

/// Detects commands whose arguments come from input, so that their targets are not visible.
fn describe_unseen_input(command: &SimpleCommand, program: &str) -> Option<&'static str> {
    let acts = matches!(
        program,
        "rm" | "unlink"
            | "mv"
            | "kill"
            | "chmod"
            | "chown"
            | "tee"
            | "ln"
            | "rmdir"
            | "curl"
            | "wget"
    );
    let git = program == "git" && !git::is_harmless_git(command.arguments());
    (command.fed_arguments && (acts || git))
        .then_some("the command acts on whatever its input names")
}

/// Whether a short flag, alone or combined with others, or its long form is given.
fn has_flag(arguments: &[ShellWord], short: char, long: &str) -> bool {
    arguments.iter().map(|word| word.text.as_str()).any(|word| {
        word == long
            || word.strip_prefix(long).is_some_and(|rest| rest.starts_with('='))
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(short))
    })
}

/// Build directories recognized by their name alone, at any depth.
const BUILD_DIRECTORIES: [&str; 8] = [
    "target",
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".next",
    ".mypy_cache",
    ".ruff_cache",
    ".gradle",
];
/// Names that source directories have as well (`src/build`): these are build directories only at the top level.
const TOP_BUILD_DIRECTORIES: [&str; 4] = ["build", "dist", "out", "coverage"];

fn removes_directory_tree(arguments: &[ShellWord]) -> bool {
    let recursive = has_flag(arguments, 'r', "--recursive")
        || has_flag(arguments, 'R', "--recursive")
        || arguments.iter().any(|word| word.is_hidden() && word.text.starts_with(['$', '{', '`']));
    let paths: Vec<&ShellWord> =
        arguments.iter().filter(|word| !word.text.starts_with('-')).collect();
    recursive && (paths.is_empty() || paths.iter().any(|path| !is_build_directory(path)))
}

fn is_build_directory(path: &ShellWord) -> bool {
    let text = path.text.strip_prefix("./").unwrap_or(&path.text);
    let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
    let stays = !text.starts_with(['/', '~']) && !names.contains(&"..");
    stays
        && !path.is_hidden()
        && !text.contains(['$', '*', '?', '['])
        && (names.first().is_some_and(|name| TOP_BUILD_DIRECTORIES.contains(name))
            || [names.first(), names.last()]
                .iter()
                .flatten()
                .any(|n| BUILD_DIRECTORIES.contains(n)))
}

/// Stopping a job of the same line is fine; any other process may belong to someone else.
fn kills_others(arguments: &[ShellWord]) -> bool {
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let targets = match words.as_slice() {
        ["-l" | "-L" | "--list" | "-0", ..] => return false,
        ["-s" | "-n" | "--signal", _, rest @ ..] => rest,
        ["--", ..] => &words[..],
        [first, rest @ ..] if first.starts_with('-') => rest,
        all => all,
    };
    targets.iter().any(|word| *word != "--" && !word.starts_with('%') && *word != "$!")
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
        && !matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        && !path.starts_with("/dev/fd/")
        && !path.starts_with("/dev/shm/")
}

/// Files that other programs act on by themselves, inside and outside the workspace.
fn is_guarded_path(path: &str) -> bool {
    const OUTSIDE: [&str; 6] = ["~/.", "$HOME/.", "${HOME}/.", "/etc/", "/boot/", "/proc/"];
    is_protected(path) || OUTSIDE.iter().any(|start| path.starts_with(start))
}

/// A function that starts itself twice: `:(){ :|:& };:` under any name.
fn describe_fork_bomb(line: &str, parsed: &ShellLine) -> Option<&'static str> {
    let bare: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let copies = |name: &str| {
        !name.is_empty()
            && bare.contains(&format!("{name}(){{"))
            && bare.contains(&format!("{name}|{name}"))
    };
    let names = parsed.commands.iter().filter_map(|command| command.words.first());
    let mut names = names.map(|word| word.text.as_str());
    names.any(copies).then_some("the command starts copies of itself without end")
}
