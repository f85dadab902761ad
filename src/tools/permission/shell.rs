//! Reading a command line as far as a decision needs it: where one command ends and the next begins.
//!
//! This is not a shell. Where a line is too clever to be read, it counts as more dangerous, never as less.

/// Whether a line is one simple command: nothing chained, piped, substituted, redirected or assigned.
pub fn is_plain(command: &str) -> bool {
    let operators = [';', '&', '|', '`', '<', '>', '\n', '\r', '(', ')', '$', '{', '}', '\0'];
    let assigns = command
        .split_whitespace()
        .next()
        .is_some_and(|word| word.split_once('=').is_some_and(|(name, _)| is_name(name)));
    !command.contains(operators) && !assigns
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// One command of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Words without their quotes; assignments before the command and prefixes such as `env` are left out.
    pub words: Vec<String>,
    /// Whether it reads what the command before it writes.
    pub piped: bool,
    /// Where output is sent with `>`.
    pub writes_to: Vec<String>,
}

/// The commands of a line, those inside `$(...)`, backticks and `sh -c '...'` included.
pub fn simple_commands(line: &str) -> Vec<SimpleCommand> {
    let mut found = Vec::new();
    collect(line, 0, &mut found);
    found
}

const DEEPEST: usize = 8;

fn collect(line: &str, depth: usize, found: &mut Vec<SimpleCommand>) {
    if depth > DEEPEST {
        return;
    }
    let mut splitter = Splitter::default();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match (splitter.quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => splitter.quote = None,
            (Some('\''), c) => splitter.push(c),
            (None, '\'' | '"') => {
                splitter.quote = Some(c);
                splitter.in_word = true;
            }
            (_, '\\') => {
                if let Some(next) = rest.next().filter(|next| *next != '\n') {
                    splitter.push(next);
                }
            }
            // Substitutions are commands of their own, also inside double quotes.
            (_, '`') => splitter.end_command(found, false),
            (_, '$') if rest.peek() == Some(&'(') => {
                rest.next();
                splitter.quote = None;
                splitter.end_command(found, false);
            }
            (Some(_), c) => splitter.push(c),
            (None, '|') => {
                let either = rest.peek() == Some(&'|');
                if either {
                    rest.next();
                }
                splitter.end_command(found, !either);
            }
            (None, ';' | '&' | '\n' | '(' | ')') => splitter.end_command(found, false),
            (None, '{' | '}' | '!') if !splitter.in_word => {}
            (None, '#') if !splitter.in_word => while rest.next_if(|c| *c != '\n').is_some() {},
            (None, '>') => splitter.redirect(),
            (None, '<') => splitter.end_word(),
            (None, c) if c.is_whitespace() => splitter.end_word(),
            (None, c) => splitter.push(c),
        }
    }
    splitter.end_command(found, false);
    for script in found.clone().iter().filter_map(script_of) {
        let mut inner = Vec::new();
        collect(&script, depth + 1, &mut inner);
        for command in inner {
            if !found.contains(&command) {
                found.push(command);
            }
        }
    }
}

#[derive(Default)]
struct Splitter {
    quote: Option<char>,
    word: String,
    in_word: bool,
    command: SimpleCommand,
    redirecting: bool,
}

impl Splitter {
    fn push(&mut self, c: char) {
        self.word.push(c);
        self.in_word = true;
    }

    fn redirect(&mut self) {
        // A number right before `>` is a descriptor, not a word.
        if self.word.chars().all(|c| c.is_ascii_digit()) {
            self.word.clear();
            self.in_word = false;
        }
        self.end_word();
        self.redirecting = true;
    }

    fn end_word(&mut self) {
        if !self.in_word {
            return;
        }
        self.in_word = false;
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.redirecting) {
            self.command.writes_to.push(word);
        } else {
            self.command.words.push(word);
        }
    }

    fn end_command(&mut self, found: &mut Vec<SimpleCommand>, pipes_on: bool) {
        self.end_word();
        self.redirecting = false;
        let mut command = std::mem::take(&mut self.command);
        self.command.piped = pipes_on;
        command.words = without_prefixes(command.words);
        if !command.words.is_empty() || !command.writes_to.is_empty() {
            found.push(command);
        }
    }
}

/// Takes away what stands before the command itself: assignments, keywords, and programs that only start another one.
fn without_prefixes(words: Vec<String>) -> Vec<String> {
    const STARTERS: [&str; 12] = [
        "env", "nohup", "time", "nice", "ionice", "stdbuf", "command", "exec", "builtin", "xargs",
        "timeout", "setsid",
    ];
    const KEYWORDS: [&str; 7] = ["if", "then", "else", "elif", "do", "while", "until"];
    let mut rest: &[String] = &words;
    let mut after_starter = false;
    while let Some((first, tail)) = rest.split_first() {
        let assigns = first.split_once('=').is_some_and(|(name, _)| is_name(name));
        let starts = STARTERS.contains(&base_name(first));
        let option = after_starter
            && (first.starts_with('-') || first.chars().next().is_some_and(|c| c.is_ascii_digit()));
        if !(assigns || starts || option || KEYWORDS.contains(&first.as_str())) {
            break;
        }
        after_starter |= starts;
        rest = tail;
    }
    rest.to_vec()
}

/// The name of a program without its directory.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The script that a command hands to another shell, or evaluates itself.
fn script_of(command: &SimpleCommand) -> Option<String> {
    let (program, arguments) = command.words.split_first()?;
    match base_name(program) {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "busybox" => {
            let flag = arguments.iter().position(|word| {
                word.starts_with('-') && !word.starts_with("--") && word.contains('c')
            })?;
            arguments.get(flag + 1).cloned()
        }
        "eval" => Some(arguments.join(" ")),
        _ => None,
    }
}
