//! Commands that hide what they run: names from variables, text piped into a shell, code in another language.

use crate::permission::shell::{
    ShellLine, ShellWord, SimpleCommand, base_name, interpreter_code, is_interpreter, is_shell,
};

const PIPED: &str = "the command runs text that another command writes";
const GIVEN: &str = "the command gives a shell text to run";

/// What a command hides, if anything.
pub(super) fn describe_hidden(command: &SimpleCommand) -> Option<&'static str> {
    if command.assignments.iter().any(|(name, _)| variable_starts_program(name)) {
        return Some("the command sets a variable that makes other programs start something");
    }
    let head = command.words.first()?;
    if head.is_hidden() {
        let danger =
            "the command hides which program it starts (a variable, substitution or pattern)";
        return (!command.uncertain).then_some(danger);
    }
    let program = base_name(&head.text);
    describe_hidden_input(command, program)
        .or_else(|| describe_hidden_arguments(command, program))
        .or_else(|| describe_hidden_code(command, program))
}

fn variable_starts_program(variable: &str) -> bool {
    matches!(
        variable,
        "LD_PRELOAD"
            | "LD_AUDIT"
            | "BASH_ENV"
            | "PROMPT_COMMAND"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_EXEC_PATH"
            | "GIT_PROXY_COMMAND"
            | "PERL5OPT"
            | "RUBYOPT"
            | "PYTHONSTARTUP"
    )
}

/// Whether a command runs text that is not in the line: from a pipe, from its input, or through `sed`.
pub(crate) fn runs_unseen_text(command: &SimpleCommand) -> bool {
    let Some(program) = command.program() else { return false };
    let arguments = command.arguments();
    match program {
        "parallel" => starts_input(arguments, program),
        "sed" => {
            let script = arguments.iter().find(|word| !word.text.starts_with('-'));
            script.is_some_and(|word| word.dynamic && word.text.starts_with(['$', '`']))
                || arguments.iter().any(|word| sed_executes(&word.text))
        }
        _ => describe_hidden_input(command, program).is_some_and(|danger| danger != GIVEN),
    }
}

/// Text on its input that it runs.
fn describe_hidden_input(command: &SimpleCommand, program: &str) -> Option<&'static str> {
    let sources = matches!(program, "source" | ".");
    if command.substitutes_process && (sources || program == "eval" || is_interpreter(program)) {
        return Some(PIPED);
    }
    let device = |path: &str| path.starts_with("/dev/") && path != "/dev/null";
    if sources && command.arguments().iter().any(|word| device(&word.text)) {
        return Some(PIPED);
    }
    if !is_interpreter(program) {
        return None;
    }
    if is_shell(program) && command.here_text.is_some() {
        return Some(GIVEN);
    }
    let device = command.reads_from.iter().any(|path| device(path));
    if (command.piped || device) && reads_code_from_input(command, program) {
        return Some(PIPED);
    }
    let fed = command.fed_arguments && !has_code(command, program);
    fed.then_some("the command runs whatever its input names")
}

fn has_code(command: &SimpleCommand, program: &str) -> bool {
    if is_shell(program) {
        let given = |word: &ShellWord| {
            word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c')
        };
        return command.arguments().iter().any(given);
    }
    interpreter_code(command).is_some()
}

fn reads_code_from_input(command: &SimpleCommand, program: &str) -> bool {
    let arguments = command.arguments();
    let operands: Vec<&str> = arguments
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !text.starts_with('-') || *text == "-")
        .collect();
    let has = |flag: &str| arguments.iter().any(|word| word.text == flag);
    if has_code(command, program) && command.here_text.is_none() {
        return false;
    }
    let from_input = operands.first().is_none_or(|first| matches!(*first, "-" | "/dev/stdin"));
    from_input && !has("--version") && !has("-V") && !has("--help")
        || is_shell(program) && has("-s")
}

/// Text in its arguments that it runs and that is not visible.
fn describe_hidden_arguments(command: &SimpleCommand, program: &str) -> Option<&'static str> {
    let arguments = command.arguments();
    let any_dynamic = arguments.iter().any(|word| word.dynamic);
    let splits = |word: &ShellWord| {
        let text = word.text.as_str();
        text.starts_with("--split-string")
            || text.starts_with('-') && !text.starts_with("--") && text.contains('S')
    };
    match program {
        "env" if arguments.iter().any(splits) => {
            Some("the command hides another one in the text behind env -S")
        }
        "eval" if any_dynamic => Some("the command runs text that is only known when it runs"),
        "xargs" | "parallel" if starts_input(arguments, program) => {
            Some("the command runs whatever its input names")
        }
        "sed" if arguments.iter().any(|word| sed_executes(&word.text)) => {
            Some("the command has sed start another one")
        }
        _ => None,
    }
}

/// `parallel` without a command runs its input; `xargs` without one prints it.
fn starts_input(arguments: &[ShellWord], program: &str) -> bool {
    let operands = arguments.iter().filter(|word| !word.text.starts_with('-'));
    program == "parallel" && operands.take_while(|word| word.text != ":::").count() == 0
}

/// GNU sed runs the pattern space with the flag `e` of `s`, and a command with `e`.
fn sed_executes(script: &str) -> bool {
    let script = script.strip_prefix("--expression=").unwrap_or(script);
    let script = script.strip_prefix("-e").unwrap_or(script);
    script.split([';', '\n', '{']).map(skip_sed_address).any(|part| {
        let flags = part.rsplit(['/', '|', '#', ',']).next().unwrap_or_default();
        let substitutes = part.starts_with('s') && part.len() > 4;
        let flagged = flags.len() <= 4
            && flags.contains('e')
            && flags.chars().all(|c| "gpeiIm0123456789".contains(c));
        substitutes && flagged || part == "e" || part.starts_with("e ") || part.starts_with("e\t")
    })
}

/// What follows the address of a sed command: `1,$`, `/pattern/`, `2!`.
fn skip_sed_address(part: &str) -> &str {
    let mut rest = part.trim();
    loop {
        let plain = |c: char| c.is_ascii_digit() || "$,!~+ \t".contains(c);
        rest = rest.trim_start_matches(plain);
        let Some(pattern) = rest.strip_prefix('/') else { return rest.trim_end() };
        let mut escaped = false;
        let end = pattern.find(|c| {
            let ends = c == '/' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { return rest.trim_end() };
        rest = &pattern[end + 1..];
    }
}

/// Code in another language that starts processes, removes files or hides what it does.
fn describe_hidden_code(command: &SimpleCommand, program: &str) -> Option<&'static str> {
    let code = interpreter_code(command)?;
    if program.ends_with("awk") {
        let found = awk_starts_commands(&code);
        return found.then_some("the command has awk start another one");
    }
    let dynamic = command.arguments().iter().any(|word| word.dynamic && word.text == code);
    if dynamic {
        return Some("the command runs text that is only known when it runs");
    }
    let acts = code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(is_suspicious_name)
        || [".rm(", "os.remove", "Deno.remove", "%x", "`", "|\"", "\"|", "|'", "'|", "\\x", "\\u"]
            .iter()
            .any(|sign| code.contains(sign));
    acts.then_some(
        "the command runs code that starts processes, removes files or hides what it does",
    )
}

/// Names by which code starts processes, removes files or hides what it does.
const SUSPICIOUS_NAMES: [&str; 37] = [
    "system",
    "popen",
    "subprocess",
    "child_process",
    "fork",
    "kill",
    "killpg",
    "rmtree",
    "unlink",
    "unlinkSync",
    "removedirs",
    "rmdir",
    "rmdirSync",
    "rmSync",
    "rm_rf",
    "rm_r",
    "FileUtils",
    "qx",
    "eval",
    "exec",
    "__import__",
    "importlib",
    "getattr",
    "b64decode",
    "fromhex",
    "fromCharCode",
    "atob",
    "marshal",
    "ctypes",
    "pty",
    "passthru",
    "shell_exec",
    "proc_open",
    "truncate",
    "remove_tree",
    "Command",
    "runpy",
];

fn is_suspicious_name(word: &str) -> bool {
    let lower = word.to_lowercase();
    SUSPICIOUS_NAMES.contains(&word)
        || lower.starts_with("popen")
        || lower.starts_with("spawn")
        || lower.starts_with("execv")
        || lower.starts_with("execl")
        || lower.starts_with("execsync")
        || lower.starts_with("execfile")
}

/// `system(...)`, `print | "command"` and `"command" | getline`.
fn awk_starts_commands(code: &str) -> bool {
    let mut outside = String::new();
    let mut inside = false;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if inside => {
                chars.next();
            }
            '"' => {
                inside = !inside;
                outside.push('"');
            }
            c if !inside => outside.push(c),
            _ => {}
        }
    }
    let outside = outside.replace("||", " ");
    let spaced = outside.contains(" | ") && outside.contains("print");
    let beside_text = outside.split('|').collect::<Vec<_>>().windows(2).any(|pair| {
        pair[0].trim_end().ends_with('"') || pair[1].trim_start().starts_with(['"', '&'])
    });
    let words = |name: &str| {
        outside.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
    };
    words("system") || spaced || beside_text || outside.contains('|') && words("getline")
}

/// Downloading and running in one line, even if nothing is piped.
pub(super) fn describe_fetch_and_run(line: &ShellLine) -> Option<&'static str> {
    const FETCHERS: [&str; 4] = ["curl", "wget", "fetch", "aria2c"];
    let fetches = line
        .commands
        .iter()
        .any(|command| command.program().is_some_and(|name| FETCHERS.contains(&name)));
    let runs = line.commands.iter().any(|command| {
        command.program().is_some_and(|name| {
            matches!(name, "source" | "." | "eval")
                || is_interpreter(name) && (command.words.len() == 1 || has_code(command, name))
        })
    });
    (fetches && runs).then_some("the command runs what it fetches from the network")
}
