//! Help texts: a first screen with what one does most and the commands by what they are for, and for each command its own
//! options, examples, and the global options in a group of their own.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use super::Cli;
use super::help_examples::examples_of;

/// Columns that lines of our own are kept to; clap wraps its parts by the terminal.
const HELP_COLUMNS: usize = 80;

/// What one does most, then every command by what it is for. At most 24 lines with the lines around it.
const FIRST_SCREEN: &str = "\
Plan with an agent in the terminal: approve or revise the plan, run it, and look
back at everything that happened.

Usage: planwright [COMMAND | GOAL] [OPTIONS]

  planwright                         home: type a goal, see what is due
  planwright 'plan a team offsite'   plan a goal, approve or revise the plan
  planwright today                   see what is due today, mark it done
  planwright run plan.toml           approve a plan file, run it, watch it
  planwright replay last             look back at the last run step by step

Plan:       plan, today, facts, answer, comment, template
Run:        run, resume, check, graph, fork
Control:    ps, attach, logs, stop, retry, skip, message, changes
Look back:  replay, sessions, diff, export, import, demo
Agents:     agents, tools, executors, mcp, hook
Set up:     config, doctor, themes, completions, man
";

const AFTER_FIRST_SCREEN: &str = "
`planwright COMMAND --help` explains a command, with examples.
`planwright --help` adds what each command does, global options and exit codes.
`planwright --version` prints the version.
";

pub(super) const ENVIRONMENT: &str = "\
Environment:
  PLANWRIGHT_LOG=LEVEL      write a log for bug reports: error, warn, info, debug,
                            or levels of parts, such as info,store=debug. The file
                            is logs/planwright.log in the data directory; secrets
                            are redacted
  PLANWRIGHT_DATA_DIR, PLANWRIGHT_CONFIG, PLANWRIGHT_PROVIDER
                            as the options with these names
  NO_COLOR                  print without color

Exit codes:
  0    success
  1    a task or the plan failed, even if something else waits for you
  2    wrong usage, or a plan file that can't run
  3    something waits for you
  4    a limit was reached
  129, 130, 131, 143   ended by SIGHUP, SIGINT (Ctrl-C), SIGQUIT, SIGTERM
";

/// Prints the help that the arguments ask for: of the program, or of the command that they name.
pub(super) fn print_help(arguments: &[OsString]) {
    let is_long = arguments.iter().any(|argument| argument == "--help" || argument == "help");
    let (path, command) = named_command(arguments);
    let printed = if path.is_empty() {
        let text = if is_long { program_help(&command) } else { first_screen_alone() };
        crate::console::StdoutWriter::new().write_text(&text).is_ok()
    } else if is_long {
        let below = after_help(&command, &path, &global_options_text(&command));
        without_shared_options(command).after_help(below).print_long_help().is_ok()
    } else {
        let below = after_help(&command, &path, "`planwright --help` lists the global options.");
        without_shared_options(command).after_help(below).print_help().is_ok()
    };
    // Standard output may be closed, as by `| head`.
    tracing::debug!(printed, "help");
}

/// The long help of a command as plain text; of the program where the path is empty.
#[cfg(test)]
fn help_text(command: &Command, path: &[String]) -> String {
    if path.is_empty() {
        return program_help(command);
    }
    let below = after_help(command, path, &global_options_text(command));
    without_shared_options(command.clone())
        .after_help(below)
        .term_width(HELP_COLUMNS)
        .render_long_help()
        .to_string()
}

fn first_screen_alone() -> String {
    format!("{FIRST_SCREEN}{AFTER_FIRST_SCREEN}")
}

fn program_help(command: &Command) -> String {
    let mut text = format!("{FIRST_SCREEN}\nCommands:\n");
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let about = subcommand.get_about().map(ToString::to_string).unwrap_or_default();
        push_row(&mut text, subcommand.get_name(), &about, 13);
    }
    let _ = write!(text, "\n{}\n{ENVIRONMENT}", global_options_text(command));
    text
}

/// The command that the arguments name, with its path. Values of options are not taken for commands.
fn named_command(arguments: &[OsString]) -> (Vec<String>, Command) {
    let mut command = Cli::command();
    command.build();
    let mut path = Vec::new();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if let Some(flag) = word.strip_prefix("--") {
            let takes_value = command
                .get_arguments()
                .any(|arg| arg.get_long() == Some(flag) && arg.get_action().takes_values());
            if takes_value {
                words.next();
            }
        } else if let Some(found) = command.find_subcommand(word) {
            path.push(word.to_owned());
            command = found.clone();
        }
    }
    (path, command)
}

/// The command without the options that every command has.
pub(super) fn without_shared_options(command: Command) -> Command {
    command.mut_args(|arg| {
        let is_shared = arg.is_global_set() || arg.get_id() == "help";
        arg.hide(is_shared)
    })
}

/// What stands below a command's own options.
fn after_help(command: &Command, path: &[String], globals: &str) -> String {
    let name = format!("planwright {}", path.join(" "));
    let mut text = String::new();
    let examples = examples_of(path);
    if !examples.is_empty() {
        text.push_str("Examples:\n");
        let width = examples.iter().map(|example| example.line.chars().count()).max().unwrap_or(0);
        for example in examples {
            let _ = writeln!(text, "  {:width$}   {}", example.line, example.effect);
        }
        text.push('\n');
    }
    if command.has_subcommands() {
        let _ = writeln!(text, "`{name} COMMAND --help` explains a command.\n");
    }
    text.push_str(globals);
    text
}

/// The options that every command understands, a row each.
fn global_options_text(command: &Command) -> String {
    let mut text = "Global options:\n".to_owned();
    for arg in command.get_arguments().filter(|arg| arg.is_global_set() && !arg.is_hide_set()) {
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if let Some(variable) = arg.get_env().and_then(OsStr::to_str) {
            let _ = write!(help, " [env: {variable}]");
        }
        push_row(&mut text, &option_spelling(arg), &help, 24);
    }
    text
}

fn option_spelling(arg: &Arg) -> String {
    let mut spelling = match arg.get_short() {
        Some(short) => format!("-{short}, "),
        None => "    ".to_owned(),
    };
    if let Some(long) = arg.get_long() {
        let _ = write!(spelling, "--{long}");
    }
    if arg.get_action().takes_values() {
        for name in arg.get_value_names().unwrap_or_default() {
            let _ = write!(spelling, " <{name}>");
        }
    }
    spelling
}

/// A row of two columns; what doesn't fit beside the first goes on below, in the second.
fn push_row(text: &mut String, left: &str, right: &str, width: usize) {
    let indent = width + 4;
    let mut line = format!("  {left:width$}");
    if left.chars().count() > width {
        text.push_str(line.trim_end());
        text.push('\n');
        line = " ".repeat(indent - 2);
    }
    line.push_str("  ");
    let mut used = 0;
    for word in right.split_whitespace() {
        let word_width = word.chars().count();
        if used > 0 && indent + used + 1 + word_width > HELP_COLUMNS {
            text.push_str(&line);
            text.push('\n');
            line = " ".repeat(indent);
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += word_width;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

/// Whether these words ask for help: `help`, or `help` with the name of a command. `help my sister move` is a goal.
pub(super) fn is_asked_for(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    first == "help"
        && match rest.first() {
            None => true,
            Some(name) => Cli::command().find_subcommand(name).is_some() && rest.len() <= 2,
        }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;

    use super::*;

    fn every_command() -> Vec<(Vec<String>, Command)> {
        fn collect(path: &[String], command: &Command, found: &mut Vec<(Vec<String>, Command)>) {
            found.push((path.to_vec(), command.clone()));
            for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
                let path = [path, &[subcommand.get_name().to_owned()]].concat();
                collect(&path, subcommand, found);
            }
        }
        let mut root = Cli::command();
        root.build();
        let mut found = Vec::new();
        collect(&[], &root, &mut found);
        found
    }

    #[test]
    fn the_first_screen_has_24_lines_and_every_command() {
        let screen = first_screen_alone();
        assert!(screen.lines().count() <= 24, "{}", screen.lines().count());
        assert!(screen.lines().all(|line| line.chars().count() <= HELP_COLUMNS));
        let groups: Vec<&str> = screen
            .lines()
            .filter_map(|line| line.split_once(": ").filter(|(group, _)| group.len() < 10))
            .flat_map(|(_, names)| names.split(','))
            .map(str::trim)
            .collect();
        for name in Cli::command().get_subcommands().map(|command| command.get_name().to_owned()) {
            assert_eq!(groups.iter().filter(|listed| **listed == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn every_command_has_two_examples_that_are_understood() {
        for (path, _) in every_command().into_iter().skip(1) {
            // These are started by the hooks of agents, never by hand.
            if let [hook, agent] = &path[..]
                && hook == "hook"
                && ["claude", "codex", "gemini"].contains(&agent.as_str())
            {
                continue;
            }
            let enough = if path.len() > 2 { 1 } else { 2 };
            assert!(examples_of(&path).len() >= enough, "{path:?}");
        }
        for example in examples_of(&[]) {
            let words = split_words(example.line);
            let parsed = Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{}: {}", example.line, parsed.err().unwrap());
        }
    }

    fn split_words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in line.chars() {
            match c {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn help_is_asked_for_with_a_word_as_well_and_goals_are_not_taken_for_it() {
        let asked = |words: &[&str]| {
            is_asked_for(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
        };
        assert!(
            asked(&["help"]) && asked(&["help", "run"]) && asked(&["help", "sessions", "list"])
        );
        assert!(!asked(&["help", "my", "sister", "move"]) && !asked(&["run"]));
        assert!(!asked(&["help", "plan", "a", "wedding"]));
    }

    #[test]
    fn values_of_options_are_not_taken_for_commands() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let (path, _) = named_command(&words("planwright --data-dir run sessions list --help"));
        assert_eq!(path, ["sessions", "list"]);
    }

    /// The command reference is what help prints. `UPDATE_DOCS=1` writes it anew.
    #[test]
    fn the_command_reference_is_what_help_prints() {
        let mut text =
            "# Commands\n\nWhat `planwright COMMAND --help` prints. This page is generated: \
             `UPDATE_DOCS=1 cargo test -p planwright --lib help`.\n"
                .to_owned();
        for (path, command) in every_command() {
            let name = format!("planwright {}", path.join(" "));
            let help = help_text(&command, &path);
            let own =
                if path.is_empty() { &help } else { help.split("Global options:").next().unwrap() };
            let _ = write!(text, "\n## {}\n\n```text\n{}\n```\n", name.trim(), own.trim_end());
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == text,
            "docs/commands.md is not what help prints; UPDATE_DOCS=1 writes it anew"
        );
    }
}
