//! Parses a command line as far as a decision needs it: which commands it starts, with which words.
//!
//! This is not a shell and runs nothing. When a line is too complex, the result is marked `unreadable`, and the caller
//! treats it as more dangerous, never as less. The invariant for all of these modules: everything the shell would start
//! is either in the result, or the result is unreadable. `differential_tests` checks it against `/bin/sh`. Commands
//! that the shell would not start may be in the result; that only causes a question too many.

mod here_documents;
mod nested_commands;
mod reader;
mod words;

pub(super) use nested_commands::{
    any_starter, interpreter_code, is_interpreter, is_shell, setting_names_program,
};

/// Whether a line is one simple command: nothing chained, piped, substituted, redirected or assigned.
pub fn is_plain_command(command: &str) -> bool {
    let operators = [';', '&', '|', '`', '<', '>', '\n', '\r', '(', ')', '$', '{', '}', '\0'];
    let assigns = command
        .split_whitespace()
        .next()
        .is_some_and(|word| word.split_once('=').is_some_and(|(name, _)| is_variable_name(name)));
    !command.contains(operators) && !assigns
}

fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// One word of a command, without its quotes. Expansions stay in the text unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellWord {
    pub text: String,
    /// It contains a variable or a substitution, so its value is only known when it runs.
    pub dynamic: bool,
    /// It contains an unquoted glob or braces, which the shell replaces with other words.
    pub pattern: bool,
}

impl ShellWord {
    /// Whether the word cannot be determined from the line.
    pub fn is_hidden(&self) -> bool {
        self.dynamic || (self.pattern && !matches!(self.text.as_str(), "[" | "[["))
    }
}

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// `NAME=value` in front of the command, or alone.
    pub assignments: Vec<(String, String)>,
    /// The program and its arguments.
    pub words: Vec<ShellWord>,
    /// Whether its input is the output of another command.
    pub piped: bool,
    /// Targets of output redirections.
    pub writes_to: Vec<String>,
    /// Sources of input redirections.
    pub reads_from: Vec<String>,
    /// The text of a here-document or here-string.
    pub here_text: Option<String>,
    /// Whether `<(...)` or `>(...)` is among its words.
    pub substitutes_process: bool,
    /// Whether further arguments come from input, as with `xargs`.
    pub fed_arguments: bool,
    /// It may be the value of an option instead of a command: `--signal KILL` before one.
    pub uncertain: bool,
    here_document: Option<usize>,
}

impl SimpleCommand {
    /// The name of the program without its directory, if it is known.
    pub fn program(&self) -> Option<&str> {
        self.words.first().filter(|word| !word.is_hidden()).map(|word| base_name(&word.text))
    }

    /// The arguments of the program.
    pub fn arguments(&self) -> &[ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Everything that a line would start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellLine {
    pub commands: Vec<SimpleCommand>,
    /// Quotes or brackets are not closed, or nesting is too deep: there may be more than was found.
    pub unreadable: bool,
}

/// The commands in a line, including those inside `$(...)` and backticks.
pub fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    reader::read_script(line, 0).commands
}

/// The same, with the commands that these start in turn: after `env` or `xargs`, in `sh -c '...'`, in a here-document.
pub(super) fn parse_shell_line(line: &str) -> ShellLine {
    let mut line = reader::read_script(line, 0);
    nested_commands::add_nested_commands(&mut line);
    line
}

/// The name of a program without its directory.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
