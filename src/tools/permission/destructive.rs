//! Commands that always ask: destruction, escalation, and code straight from the network.

use super::shell::{SimpleCommand, base_name, simple_commands};

/// Says what is dangerous about a command line, if something is. It errs on the side of asking.
pub fn danger(line: &str) -> Option<String> {
    let commands = simple_commands(line);
    let single = commands.iter().find_map(of_one);
    single.map(str::to_owned).or_else(|| from_the_network(&commands)).or_else(|| {
        line.contains(":(){").then(|| "the command starts copies of itself without end".to_owned())
    })
}

fn of_one(command: &SimpleCommand) -> Option<&'static str> {
    if command.writes_to.iter().any(|place| is_device(place)) {
        return Some("the command writes to a device");
    }
    let (program, arguments) = command.words.split_first()?;
    let has = |words: &[&str]| arguments.iter().any(|word| words.contains(&word.as_str()));
    match base_name(program) {
        "sudo" | "doas" | "su" | "pkexec" | "runuser" => Some("the command asks for more rights"),
        "dd" | "shred" | "wipefs" | "fdisk" | "parted" | "blkdiscard" => {
            Some("the command can destroy data for good")
        }
        name if name.starts_with("mkfs") || name == "mkswap" => {
            Some("the command can destroy data for good")
        }
        "rm" if removes_a_tree(arguments) => {
            Some("the command removes a directory that is not for build results")
        }
        "find" if has(&["-delete"]) || runs_rm(arguments) => {
            Some("the command removes what it finds")
        }
        "git" => git(arguments),
        "chmod" | "chown" | "chgrp" if flag(arguments, 'R', "--recursive") => {
            Some("the command changes rights of a whole directory")
        }
        "kill" | "pkill" | "killall" | "skill" if kills_others(arguments) => {
            Some("the command ends processes that it may not have started")
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => Some("the command stops the machine"),
        "systemctl" | "service" | "crontab" | "at" | "launchctl" => {
            Some("the command changes what the machine does by itself")
        }
        "mount" | "umount" | "insmod" | "modprobe" => Some("the command changes the system"),
        _ => None,
    }
}

/// Whether a short flag, alone or among others, or its long form is given.
fn flag(arguments: &[String], short: char, long: &str) -> bool {
    arguments.iter().any(|word| {
        word == long || (word.starts_with('-') && !word.starts_with("--") && word.contains(short))
    })
}

const BUILD_DIRECTORIES: [&str; 12] = [
    "target",
    "build",
    "dist",
    "out",
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".next",
    "coverage",
    ".mypy_cache",
    ".ruff_cache",
    ".gradle",
];

fn removes_a_tree(arguments: &[String]) -> bool {
    let recursive = flag(arguments, 'r', "--recursive") || flag(arguments, 'R', "--recursive");
    let places: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    recursive && (places.is_empty() || places.iter().any(|place| !is_build_directory(place)))
}

fn is_build_directory(place: &str) -> bool {
    let place = place.strip_prefix("./").unwrap_or(place);
    let names: Vec<&str> = place.split('/').filter(|name| !name.is_empty()).collect();
    let stays = !place.starts_with(['/', '~']) && !names.contains(&"..");
    stays
        && !place.contains(['$', '*', '?', '['])
        && names.iter().any(|name| BUILD_DIRECTORIES.contains(name))
}

fn runs_rm(arguments: &[String]) -> bool {
    arguments.windows(2).any(|pair| {
        matches!(pair[0].as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
            && matches!(base_name(&pair[1]), "rm" | "unlink" | "shred" | "sh" | "bash")
    })
}

fn git(arguments: &[String]) -> Option<&'static str> {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let forced =
        arguments.iter().any(|word| word.starts_with("--force")) || flag(arguments, 'f', "--force");
    if has("push")
        && (forced
            || has("--mirror")
            || has("--delete")
            || flag(arguments, 'd', "--delete")
            || arguments.iter().any(|word| word.starts_with('+')))
    {
        return Some("the command rewrites a remote repository");
    }
    if has("reset") && has("--hard") {
        return Some("the command throws away changes");
    }
    if has("clean") && forced {
        return Some("the command removes files that git does not know");
    }
    let throws_away = (has("checkout") || has("restore")) && has(".")
        || has("branch") && flag(arguments, 'D', "--delete")
        || has("stash") && (has("drop") || has("clear"));
    if throws_away {
        return Some("the command throws away changes");
    }
    if has("filter-branch") || has("reflog") && has("expire") {
        return Some("the command rewrites history");
    }
    // Settings can name programs that git starts by itself.
    let sets = has("config") && !has("--get") && !has("--list") && !has("-l");
    sets.then_some("the command changes the settings of git")
}

/// Ending a job of the same line is fine; any other process may be somebody else's.
fn kills_others(arguments: &[String]) -> bool {
    arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .any(|word| !word.starts_with('%') && word != "$!")
}

fn is_device(place: &str) -> bool {
    place.starts_with("/dev/")
        && !matches!(place, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        && !place.starts_with("/dev/fd/")
}

fn from_the_network(commands: &[SimpleCommand]) -> Option<String> {
    const FETCHERS: [&str; 4] = ["curl", "wget", "fetch", "aria2c"];
    const RUNNERS: [&str; 13] = [
        "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "perl", "ruby", "node",
        "php", "eval",
    ];
    let named = |command: &SimpleCommand, names: &[&str]| {
        command.words.first().is_some_and(|word| names.contains(&base_name(word)))
    };
    let fetches = commands.iter().any(|command| named(command, &FETCHERS));
    let runs = commands.iter().any(|command| {
        let runner = named(command, &RUNNERS);
        runner && (command.piped || command.words.len() == 1 || command.words[1] == "-c")
            || runner && command.words[0] == "eval"
            || command.words.first().is_some_and(|word| word == "source" || word == ".")
    });
    (fetches && runs).then(|| "the command runs what it fetches from the network".to_owned())
}
