//! Commands that start other commands: `env`, `xargs`, `sh -c`, `find -exec` and the like.

use super::reader::read_script;
use super::{ShellLine, ShellWord, SimpleCommand};

/// How many levels of commands may start each other before the line is marked unreadable.
const DEEPEST: usize = 12;
/// How many commands are examined in one line.
const MOST: usize = 4000;
/// How many words these may have in total; nesting repeats them, so the number of commands alone would not bound the
/// work.
const MOST_WORDS: usize = 200_000;
/// How many words after a starter may be the command; with more, all of the first ones are treated as the command.
const MOST_UNCERTAIN: usize = 8;

/// A program that runs the command among its arguments.
struct StarterProgram {
    name: &'static str,
    /// Its own arguments before the command, such as the lock file of `flock`.
    operands: usize,
    /// Short options that are followed by a value.
    valued: &'static str,
}

const fn starter_program(
    name: &'static str,
    operands: usize,
    valued: &'static str,
) -> StarterProgram {
    StarterProgram { name, operands, valued }
}

const STARTERS: [StarterProgram; 46] = [
    starter_program("env", 0, "uCS"),
    starter_program("nohup", 0, ""),
    starter_program("time", 0, "fo"),
    starter_program("nice", 0, "n"),
    starter_program("ionice", 0, "cnpPu"),
    starter_program("stdbuf", 0, "ioe"),
    starter_program("command", 0, ""),
    starter_program("exec", 0, "a"),
    starter_program("builtin", 0, ""),
    starter_program("xargs", 0, "nPILdEsa"),
    starter_program("parallel", 0, "jNnILaSd"),
    starter_program("timeout", 1, "sk"),
    starter_program("setsid", 0, ""),
    starter_program("busybox", 0, ""),
    starter_program("toybox", 0, ""),
    starter_program("flock", 1, "wE"),
    starter_program("chroot", 1, ""),
    starter_program("sudo", 0, "ugpCrthTUD"),
    starter_program("doas", 0, "uC"),
    starter_program("pkexec", 0, ""),
    starter_program("runuser", 0, "ugGs"),
    starter_program("taskset", 1, ""),
    starter_program("chrt", 1, "TPD"),
    starter_program("numactl", 0, "CNmipP"),
    starter_program("unshare", 0, "SGRw"),
    starter_program("nsenter", 0, "tSG"),
    starter_program("setpriv", 0, ""),
    starter_program("strace", 0, "eopsuESaPXI"),
    starter_program("ltrace", 0, "eopsuanlxA"),
    starter_program("valgrind", 0, ""),
    starter_program("perf", 1, "eoCF"),
    starter_program("fakeroot", 0, "lisb"),
    starter_program("firejail", 0, ""),
    starter_program("bwrap", 0, ""),
    starter_program("systemd-run", 0, "ptuMHE"),
    starter_program("dbus-run-session", 0, ""),
    starter_program("xvfb-run", 0, "nfspew"),
    starter_program("unbuffer", 0, ""),
    starter_program("rlwrap", 0, ""),
    starter_program("entr", 0, ""),
    starter_program("prlimit", 0, ""),
    starter_program("watch", 0, "nqs"),
    starter_program("ssh", 1, "bcDEeFIiJLlmOopQRSWw"),
    starter_program("proxychains", 0, "f"),
    starter_program("torsocks", 0, "uap"),
    starter_program("catchsegv", 0, ""),
];

/// Whether one of the programs that start others has a name for which `fits` is true.
pub(crate) fn any_starter(fits: impl Fn(&str) -> bool) -> bool {
    const OTHERS: [&str; 26] = [
        "find",
        "eval",
        "script",
        "su",
        "trap",
        "alias",
        "nix",
        "nix-shell",
        "hyperfine",
        "concurrently",
        "git",
        "make",
        "docker",
        "podman",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "php",
        "lua",
        "deno",
    ];
    STARTERS.iter().map(|starter| starter.name).chain(OTHERS).chain(SHELLS).any(fits)
}

const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "ash", "rbash", "csh", "tcsh", "pwsh"];

/// Whether a program is a shell, which runs the text it is given.
pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Adds the commands that those of a line start, and the ones that these start in turn.
pub(super) fn add_nested_commands(line: &mut ShellLine) {
    let mut found: Vec<(SimpleCommand, usize)> =
        std::mem::take(&mut line.commands).into_iter().map(|command| (command, 0)).collect();
    let (mut at, mut words) = (0, 0);
    // Breadth-first, with the list as its own queue: everything before `at` has been expanded. Every iteration expands
    // one entry, and `MOST` bounds the list, so the loop ends even for a line that starts itself.
    while let Some((command, level)) = found.get(at).cloned() {
        let mut inner = started_commands(&command);
        for script in embedded_scripts(&command) {
            let read = read_script(&script, level + 1);
            line.unreadable |= read.unreadable;
            inner.extend(read.commands.into_iter().map(|inner| inherit_input(inner, &command)));
        }
        words += inner.iter().map(|command| command.words.len()).sum::<usize>();
        let too_many = found.len() + inner.len() > MOST || words > MOST_WORDS;
        if level >= DEEPEST && !inner.is_empty() || too_many {
            line.unreadable = true;
            break;
        }
        found.extend(inner.into_iter().map(|command| (command, level + 1)));
        at += 1;
    }
    line.commands = found.into_iter().map(|(command, _)| command).collect();
}

/// A command started by a script reads the same input as the command that was given the script.
fn inherit_input(mut inner: SimpleCommand, from: &SimpleCommand) -> SimpleCommand {
    inner.piped |= from.piped;
    inner.fed_arguments |= from.fed_arguments;
    for word in inner.words.iter_mut().filter(|_| from.fed_arguments) {
        word.dynamic |= word.text.contains("{}");
    }
    inner
}

/// The commands among the words of a command.
fn started_commands(command: &SimpleCommand) -> Vec<SimpleCommand> {
    let Some(program) = command.program() else { return Vec::new() };
    if program == "find" {
        return commands_of_find(command);
    }
    let loader = program.starts_with("ld-linux") || program.starts_with("ld-musl");
    let known = STARTERS.iter().find(|starter| starter.name == program);
    let (operands, valued) = match known {
        Some(starter) => (starter.operands, starter.valued),
        None if loader => (0, ""),
        None => return Vec::new(),
    };
    let only_looks = program == "command"
        && command
            .arguments()
            .first()
            .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
    if only_looks {
        Vec::new()
    } else {
        commands_behind_starter(command, program, operands, valued)
    }
}

/// Every position after a starter at which its command may begin. One that could be the value of an option is
/// uncertain.
fn commands_behind_starter(
    command: &SimpleCommand,
    program: &str,
    mut operands: usize,
    valued: &str,
) -> Vec<SimpleCommand> {
    let mut found: Vec<SimpleCommand> = Vec::new();
    let mut value_follows = false;
    let mut long_option = false;
    for (at, word) in command.arguments().iter().enumerate() {
        let text = word.text.as_str();
        if std::mem::take(&mut value_follows) {
            continue;
        }
        // A lone `-` is an option as well: `env -` starts with an empty environment.
        if text.starts_with('-') && !word.dynamic {
            let short = !text.starts_with("--");
            value_follows = short && text.len() == 2 && text.ends_with(|c| valued.contains(c));
            long_option = !short && text.len() > 2 && !text.contains('=');
            continue;
        }
        // It is not known which long options take a value: after one, the word is considered both as its value and as
        // the command.
        let uncertain = std::mem::take(&mut long_option);
        let assigns = text.split_once('=').is_some_and(|(name, _)| super::is_variable_name(name));
        if assigns && program == "env" {
            continue;
        }
        if !uncertain && operands > 0 {
            operands -= 1;
            continue;
        }
        found.push(command_starting_at(command, at + 1, program, uncertain));
        if !uncertain {
            return found;
        }
        if found.len() > MOST_UNCERTAIN {
            break;
        }
    }
    // Without a certain command, one of the uncertain ones must be it, so all are treated as certain.
    found.into_iter().map(|command| SimpleCommand { uncertain: false, ..command }).collect()
}

fn command_starting_at(
    command: &SimpleCommand,
    at: usize,
    program: &str,
    uncertain: bool,
) -> SimpleCommand {
    let fed = matches!(program, "xargs" | "parallel");
    let words = command.words[at..]
        .iter()
        .cloned()
        .map(|word| ShellWord { dynamic: word.dynamic || fed && word.text.contains("{}"), ..word });
    SimpleCommand {
        words: words.collect(),
        piped: command.piped && !fed,
        reads_from: command.reads_from.clone(),
        here_text: command.here_text.clone().filter(|_| !fed),
        substitutes_process: command.substitutes_process,
        fed_arguments: fed || command.fed_arguments,
        uncertain,
        ..SimpleCommand::default()
    }
}

fn commands_of_find(command: &SimpleCommand) -> Vec<SimpleCommand> {
    let begins =
        |word: &ShellWord| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let mut found = Vec::new();
    let mut rest = command.words.as_slice();
    while let Some(start) = rest.iter().position(begins) {
        rest = &rest[start + 1..];
        let ends = |word: &ShellWord| word.text == ";" || word.text == "+";
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        let words = rest[..end]
            .iter()
            .cloned()
            .map(|word| ShellWord { dynamic: word.dynamic || word.text.contains("{}"), ..word });
        let inner = SimpleCommand {
            words: words.collect(),
            fed_arguments: true,
            ..SimpleCommand::default()
        };
        found.extend(Some(inner).filter(|inner| !inner.words.is_empty()));
        rest = &rest[end..];
    }
    found
}

/// The texts that a command passes to a shell, or evaluates itself.
fn embedded_scripts(command: &SimpleCommand) -> Vec<String> {
    let Some(program) = command.program() else { return Vec::new() };
    let arguments = command.arguments();
    let joined = |words: &[ShellWord]| {
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    match program {
        name if is_shell(name) => shell_script(command).into_iter().collect(),
        "eval" => vec![joined(arguments)],
        "env" => option_value(arguments, 'S', "--split-string").into_iter().collect(),
        "script" | "su" | "runuser" | "flock" => {
            option_value(arguments, 'c', "--command").into_iter().collect()
        }
        "trap" => arguments.first().map(|word| word.text.clone()).into_iter().collect(),
        "alias" => arguments
            .iter()
            .filter_map(|word| word.text.split_once('=').map(|(_, value)| value.to_owned()))
            .collect(),
        "nix-shell" | "nix" => ["--run", "--command"]
            .iter()
            .filter_map(|option| option_value(arguments, '\0', option))
            .collect(),
        "watch" | "parallel" | "hyperfine" | "concurrently" | "ssh" => arguments
            .iter()
            .filter(|word| word.text.contains(char::is_whitespace))
            .map(|word| word.text.clone())
            .collect(),
        "git" => git_scripts(arguments),
        _ => Vec::new(),
    }
}

/// What a shell is given to run: after `-c`, or on its input.
fn shell_script(command: &SimpleCommand) -> Option<String> {
    let arguments = command.arguments();
    let flag = arguments.iter().position(|word| {
        let text = word.text.as_str();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    });
    match flag {
        Some(flag) => {
            let rest = arguments.get(flag + 1..)?;
            rest.iter()
                .find(|word| !word.text.starts_with(['-', '+']))
                .map(|word| word.text.clone())
        }
        None => command.here_text.clone(),
    }
}

/// The value of an option, attached to it or following it.
fn option_value(arguments: &[ShellWord], short: char, long: &str) -> Option<String> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let text = word.text.as_str();
        let next = || arguments.get(at + 1).map(|word| word.text.clone());
        if text == long {
            return next();
        }
        if let Some(value) = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
        let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let (_, value) = cluster.split_once(short)?;
        if value.is_empty() { next() } else { Some(value.to_owned()) }
    })
}

/// Commands that git is told to run.
fn git_scripts(arguments: &[ShellWord]) -> Vec<String> {
    let text = |word: &ShellWord| word.text.clone();
    let after = |name: &str| {
        let at = arguments.iter().position(|word| word.text == name)?;
        let rest: Vec<String> = arguments[at + 1..]
            .iter()
            .skip_while(|word| word.text.starts_with('-'))
            .map(text)
            .collect();
        Some(rest.join(" "))
    };
    let has = |name: &str| arguments.iter().any(|word| word.text == name);
    let mut found = Vec::new();
    if has("submodule") {
        found.extend(after("foreach"));
    }
    if has("bisect") {
        found.extend(after("run"));
    }
    if has("rebase") {
        found.extend(option_value(arguments, 'x', "--exec"));
    }
    let settings = arguments.windows(2).filter(|pair| pair[0].text == "-c");
    found.extend(settings.filter_map(|pair| {
        let (name, value) = pair[1].text.split_once('=')?;
        let runs = value.starts_with('!') || setting_names_program(name);
        runs.then(|| value.trim_start_matches('!').to_owned())
    }));
    found.retain(|script| !script.trim().is_empty());
    found
}

/// Whether git runs the value of this setting.
pub(crate) fn setting_names_program(setting: &str) -> bool {
    const WORDS: [&str; 14] = [
        "command",
        "pager",
        "editor",
        "fsmonitor",
        "hookspath",
        "askpass",
        "helper",
        "external",
        "textconv",
        "cmd",
        "program",
        "filter",
        "driver",
        "uploadpack",
    ];
    let setting = setting.to_lowercase();
    WORDS.iter().any(|word| setting.contains(word)) || setting.starts_with("alias.")
}

/// The code that an interpreter is given on its command line or input, if any.
pub(crate) fn interpreter_code(command: &SimpleCommand) -> Option<String> {
    let program = command.program()?;
    let flags = code_flags(program)?;
    let arguments = command.arguments();
    if program.ends_with("awk") {
        return awk_program(arguments);
    }
    code_argument(arguments, &flags).or_else(|| command.here_text.clone())
}

/// The code after `-c` or `-e`. Arguments after the name of a script belong to the script.
fn code_argument(arguments: &[ShellWord], flags: &CodeFlags) -> Option<String> {
    const VALUED: [&str; 7] = ["-W", "-X", "-r", "--require", "--import", "-I", "-L"];
    let mut value_follows = false;
    for (at, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let next = || arguments.get(at + 1).map(|word| word.text.clone()).unwrap_or_default();
        if flags.long.contains(&text) {
            return Some(next());
        }
        if std::mem::take(&mut value_follows) {
            continue;
        }
        if !text.starts_with('-') || text == "-" {
            return None;
        }
        value_follows = VALUED.contains(&text);
        let cluster = text.strip_prefix('-').filter(|rest| {
            !rest.starts_with(CLUSTER_OF_ONE) || rest.starts_with(|c| flags.short.contains(c))
        });
        let position = cluster.and_then(|rest| rest.find(|c| flags.short.contains(c)));
        if let (Some(cluster), Some(position)) = (cluster, position) {
            let attached = &cluster[position + 1..];
            return Some(if attached.is_empty() { next() } else { attached.to_owned() });
        }
    }
    None
}

/// First letters of options whose rest is a value, not more options: `-Mstrict`, `-rjson`, and long options.
const CLUSTER_OF_ONE: [char; 7] = ['-', 'M', 'm', 'I', 'r', 'W', 'X'];

struct CodeFlags {
    short: &'static str,
    long: &'static [&'static str],
}

fn code_flags(program: &str) -> Option<CodeFlags> {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (short, long): (&'static str, &'static [&'static str]) = match stem {
        "python" | "pypy" | "tclsh" | "expect" | "guile" => ("c", &[]),
        "perl" => ("eE", &[]),
        "ruby" | "lua" | "luajit" | "Rscript" | "osascript" | "elixir" | "groovy" => ("e", &["-e"]),
        "node" | "nodejs" | "bun" => ("ep", &["--eval", "--print"]),
        "deno" => ("", &["eval"]),
        "php" => ("r", &["--run"]),
        "awk" | "gawk" | "mawk" | "nawk" => ("", &[]),
        _ => return None,
    };
    Some(CodeFlags { short, long })
}

/// The program text of `awk`: its first word that is not an option, unless it is in a file.
fn awk_program(arguments: &[ShellWord]) -> Option<String> {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-f" | "--file" => return None,
            "-v" | "-F" | "--assign" | "--field-separator" => {
                rest.next();
            }
            text if text.starts_with('-') && text.len() > 1 => {}
            text => return Some(text.to_owned()),
        }
    }
    None
}

/// Whether a program runs code: a shell, or an interpreter of another language.
pub(crate) fn is_interpreter(name: &str) -> bool {
    is_shell(name) || code_flags(name).is_some_and(|_| !name.ends_with("awk"))
}
