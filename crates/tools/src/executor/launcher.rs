//! Launchers: a command that carries another one to where it runs, such as `ssh`, `srun`, `docker run` or `kubectl run`. The
//! launcher is a local process, so that output, exit code, time limit and cancelling are those of any command.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::builtin::quote_word;

/// Stands for the command as arguments of their own: a shell, its options, and the command's text.
const ARGUMENTS: &str = "{argv}";
/// Stands for the command as one text that a shell reads, for launchers that join their arguments, as ssh does.
const COMMAND: &str = "{command}";
/// Stands for the directory that the command runs in; quoted for the shell in a word that has the command's text.
const DIRECTORY: &str = "{cwd}";
/// Stands for a name that differs for each attempt, which containers and jobs may have.
const CALL: &str = "{call}";

/// How commands of one executor are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLauncher {
    words: Vec<String>,
    /// Which of several commands of an attempt it carries; empty for the attempt's own.
    part: String,
}

impl CommandLauncher {
    /// Reads the words of `launch`, or says what is wrong with them.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(
                "must begin with a program, such as [\"ssh\", \"build\", \"{command}\"]".into()
            );
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err("must not contain a zero byte".into());
        }
        if words.iter().any(|word| word.contains(ARGUMENTS) && word != ARGUMENTS) {
            return Err("must have {argv} as a word of its own; within one, write {command}".into());
        }
        for placeholder in words.iter().flat_map(|word| placeholders(word)) {
            if ![ARGUMENTS, COMMAND, DIRECTORY, CALL].contains(&placeholder) {
                return Err(format!(
                    "has {placeholder}, which stands for nothing; there are {{argv}}, {{command}}, {{cwd}} and {{call}}"
                ));
            }
        }
        let carriers = words
            .iter()
            .map(|word| word.matches(ARGUMENTS).count() + word.matches(COMMAND).count());
        if carriers.sum::<usize>() != 1 || words[0].contains('{') {
            return Err(
                "must contain {argv} or {command} once, where the command to run goes".into()
            );
        }
        Ok(Self { words: words.to_vec(), part: String::new() })
    }

    /// The same for another command of an attempt, which runs beside the attempt's own: it has another name.
    pub(crate) fn for_part(&self, part: impl Into<String>) -> Self {
        Self { words: self.words.clone(), part: part.into() }
    }

    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The program that is started for a command: `arguments` are its shell with options and its text.
    pub(crate) fn wrap_arguments(
        &self,
        arguments: Vec<String>,
        directory: &Path,
        call: &str,
    ) -> Vec<String> {
        let line = arguments.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ");
        let mut wrapped = Vec::with_capacity(self.words.len() + arguments.len());
        let mut arguments = Some(arguments);
        let (directory, name) = (directory.to_string_lossy(), call_name(call, &self.part));
        let quoted_directory = quote_word(&directory);
        for word in &self.words {
            if word == ARGUMENTS {
                wrapped.extend(arguments.take().unwrap_or_default());
                continue;
            }
            // What stands beside the command is read by the same shell.
            let directory = if word.contains(COMMAND) { &*quoted_directory } else { &*directory };
            wrapped.push(fill_word(word, &line, directory, &name));
        }
        wrapped
    }
}

/// The parts of a word that look like a placeholder: small letters in braces.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.match_indices('{').filter_map(move |(start, _)| {
        let length = word[start..].find('}')?;
        let found = &word[start..=start + length];
        let name = &found[1..found.len() - 1];
        (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase())).then_some(found)
    })
}

/// Fills a word in one pass, so that nothing in the command is taken for a placeholder.
fn fill_word(word: &str, line: &str, directory: &str, call: &str) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = [(COMMAND, line), (DIRECTORY, directory), (CALL, call)];
        let found = known.into_iter().find(|(placeholder, _)| rest.starts_with(placeholder));
        let (taken, value) = found.unwrap_or(("{", "{"));
        filled.push_str(value);
        rest = &rest[taken.len()..];
    }
    filled.push_str(rest);
    filled
}

/// How much of a task's id is in the name of its attempt. With the session before it and the digits after it a name is short
/// enough for a label of a cluster, which has 63 characters.
const SHOWN_TASK: usize = 16;

/// The mark of a call, `SESSION/TASK/ATTEMPT/STEP`, as a name that containers and jobs may have: small letters, digits and `-`.
/// What a task's id has beside those is not in it, so digits that only this call has tell it from others.
fn call_name(mark: &str, part: &str) -> String {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let (session, rest) = mark.split_once('/').unwrap_or((mark, ""));
    let task = rest.rsplitn(3, '/').last().unwrap_or_default();
    let mut name = String::new();
    for piece in [session, task].into_iter().filter(|piece| !piece.is_empty()) {
        let piece = piece.to_ascii_lowercase();
        let letters = piece.chars().map(|c| if fits(c) { c } else { '-' });
        name.extend(letters.take(if name.is_empty() { usize::MAX } else { SHOWN_TASK }));
        name.push('-');
    }
    let digest = Sha256::digest(format!("{mark}/{part}"));
    digest.iter().take(4).for_each(|byte| {
        let _ = write!(name, "{byte:02x}");
    });
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn wrap(launch: &[&str], command: &[&str]) -> Vec<String> {
        let launcher = CommandLauncher::parse(&words(launch)).unwrap();
        launcher.wrap_arguments(words(command), Path::new("/w/web"), "01AB/build/1/1")
    }

    #[test]
    fn the_command_takes_the_place_that_the_launcher_has_for_it() {
        let command = ["sh", "-euc", "echo '{cwd}' $X"];
        assert_eq!(
            wrap(&["srun", "--quiet", "--", "{argv}"], &command),
            ["srun", "--quiet", "--", "sh", "-euc", "echo '{cwd}' $X"]
        );
        assert_eq!(
            wrap(&["ssh", "build", "cd {cwd} && exec {command}"], &command),
            ["ssh", "build", r"cd '/w/web' && exec 'sh' '-euc' 'echo '\''{cwd}'\'' $X'"]
        );
        assert_eq!(
            wrap(
                &["docker", "run", "--rm", "--name=pw-{call}", "-v{cwd}:/w", "alpine", "{argv}"],
                &["sh"]
            )[3..5],
            ["--name=pw-01ab-build-64418e6f", "-v/w/web:/w"]
        );
    }

    #[test]
    fn a_directory_is_one_word_for_the_shell_that_reads_the_command() {
        let launcher =
            CommandLauncher::parse(&words(&["sh", "-c", "cd {cwd} && exec {command}"])).unwrap();
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("it's $(touch x); done");
        std::fs::create_dir(&directory).unwrap();
        let command = launcher.wrap_arguments(words(&["pwd"]), &directory, "c");
        let ran = std::process::Command::new(&command[0])
            .args(&command[1..])
            .current_dir(parent.path())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim_end(), directory.to_string_lossy());
        assert!(!parent.path().join("x").exists());
    }

    #[test]
    fn each_attempt_and_check_has_a_name_of_its_own_that_clusters_accept() {
        let session = "01K9Z3V0000000000000000000";
        let long = "x".repeat(200);
        let tasks = [
            "build",
            "Build",
            "b-uild",
            "b.uild",
            "test[linux,3.12]",
            "test[linux,3.13]",
            long.as_str(),
        ];
        let marks = tasks.iter().flat_map(|task| {
            [(1, 1), (1, 2), (2, 1)]
                .map(|(attempt, step)| format!("{session}/{task}/{attempt}/{step}"))
        });
        let names = marks.flat_map(|mark| ["", "ready 1"].map(|part| call_name(&mark, part)));
        let names: Vec<String> = names.collect();
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
        for name in names {
            let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
            assert!(name.bytes().all(fits) && name.len() + "pw-".len() <= 63, "{name}");
            assert!(!name.ends_with('-') && !name.starts_with('-'), "{name}");
        }
    }

    #[test]
    fn a_quoted_word_is_read_back_by_a_shell() {
        for word in ["", "a b", "it's", "$HOME", "a\nb", "\"x\"", "*", "~", "#"] {
            let printed = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quote_word(word))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&printed.stdout), word);
        }
    }

    #[test]
    fn mistakes_name_what_is_missing() {
        let wrong = |launch: &[&str]| CommandLauncher::parse(&words(launch)).unwrap_err();
        assert!(wrong(&[]).contains("begin with a program"));
        assert!(wrong(&["ssh", "build"]).contains("{argv} or {command} once"));
        assert!(wrong(&["{argv}"]).contains("{argv} or {command} once"));
        assert!(wrong(&["ssh", "{argv}", "{command}"]).contains("once"));
        assert!(wrong(&["sh", "-c", "exec {argv}"]).contains("a word of its own"));
        assert!(wrong(&["ssh", "{host}", "{argv}"]).contains("{host}"));
        assert!(CommandLauncher::parse(&words(&["awk", "{print $1}", "{argv}"])).is_ok());
    }
}
