//! Where in a shell command a value is inserted, and how it is quoted there.
//!
//! The lexer knows quotes, substitutions and comments of POSIX shells. Where it cannot be sure (here-documents,
//! back-quotes, arithmetic, expansions in braces, other shells), only values that mean the same everywhere are inserted.

/// Where a place of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteContext {
    Unquoted,
    InDouble,
    InSingle,
    /// Nobody can say how to quote here.
    Unknown,
}

/// What the lexer is inside of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellFrame {
    Double,
    Single,
    /// `$'…'`
    AnsiC,
    Parenthesis,
    Backquote,
    Brace,
    Arithmetic,
    Comment,
}

/// Reads the pieces of a command in turn and tells where each ends.
#[derive(Debug, Default)]
pub(super) struct ShellLexer {
    frames: Vec<ShellFrame>,
    /// A here-document began: what follows may be its text.
    in_document: bool,
    /// Whether the last character was the start of a word.
    at_word: bool,
    foreign: bool,
}

impl ShellLexer {
    /// For commands that are given to this program; empty is the shell that is used without one.
    pub(super) fn new(shell: &[String], command: &str) -> Self {
        let program = shell.first().map_or("sh", String::as_str);
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_known = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"].contains(&name);
        // Patterns of `case` have parentheses that are not closed.
        let foreign = !is_known || command.contains("esac");
        Self { at_word: true, foreign, ..Self::default() }
    }

    /// Where a value would be inserted now.
    pub(super) fn context(&self) -> QuoteContext {
        if self.foreign || self.in_document {
            return QuoteContext::Unknown;
        }
        let is_unknown = |frame: &ShellFrame| {
            matches!(
                frame,
                ShellFrame::AnsiC
                    | ShellFrame::Backquote
                    | ShellFrame::Brace
                    | ShellFrame::Arithmetic
                    | ShellFrame::Comment
            )
        };
        if self.frames.iter().any(is_unknown) {
            return QuoteContext::Unknown;
        }
        match self.frames.last() {
            Some(ShellFrame::Double) => QuoteContext::InDouble,
            Some(ShellFrame::Single) => QuoteContext::InSingle,
            _ => QuoteContext::Unquoted,
        }
    }

    /// A value was inserted: what follows belongs to its word.
    pub(super) fn pass_value(&mut self) {
        self.at_word = false;
    }

    /// Reads a piece of the command.
    pub(super) fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = self.read_token(letter, rest);
            rest = &rest[length.min(rest.len())..];
        }
    }

    /// Reads one token and returns its length.
    fn read_token(&mut self, letter: char, rest: &str) -> usize {
        let own = letter.len_utf8();
        match self.frames.last() {
            Some(ShellFrame::AnsiC | ShellFrame::Backquote) if letter == '\\' => {
                return escaped_length(rest);
            }
            Some(ShellFrame::Single | ShellFrame::AnsiC) => self.leave_at(letter, '\''),
            Some(ShellFrame::Comment) => self.leave_at(letter, '\n'),
            Some(ShellFrame::Double) => return self.read_double(letter, rest),
            Some(ShellFrame::Backquote) => self.leave_at(letter, '`'),
            _ => return self.read_unquoted(letter, rest),
        }
        own
    }

    fn leave_at(&mut self, letter: char, end: char) {
        if letter == end {
            self.frames.pop();
            self.at_word = end == '\n';
        }
    }

    fn read_double(&mut self, letter: char, rest: &str) -> usize {
        match letter {
            '\\' => return escaped_length(rest),
            '"' => {
                self.frames.pop();
                self.at_word = false;
            }
            '`' => self.frames.push(ShellFrame::Backquote),
            '$' => return self.read_dollar(rest),
            _ => {}
        }
        letter.len_utf8()
    }

    fn read_unquoted(&mut self, letter: char, rest: &str) -> usize {
        let starts_word = std::mem::replace(&mut self.at_word, false);
        match letter {
            '\\' => return escaped_length(rest),
            '\'' => self.frames.push(ShellFrame::Single),
            '"' => self.frames.push(ShellFrame::Double),
            '`' => self.frames.push(ShellFrame::Backquote),
            '$' => return self.read_dollar(rest),
            '(' if rest.starts_with("((") => {
                self.frames.push(ShellFrame::Arithmetic);
                return 2;
            }
            '(' => {
                self.frames.push(ShellFrame::Parenthesis);
                self.at_word = true;
            }
            ')' => self.close_parenthesis(),
            '}' if self.frames.last() == Some(&ShellFrame::Brace) => {
                self.frames.pop();
            }
            '#' if starts_word => self.frames.push(ShellFrame::Comment),
            '<' if rest.starts_with("<<<") => return 3,
            '<' if rest.starts_with("<<") => self.in_document = true,
            ' ' | '\t' | '\n' | ';' | '&' | '|' => self.at_word = true,
            _ => {}
        }
        letter.len_utf8()
    }

    fn read_dollar(&mut self, rest: &str) -> usize {
        let in_double = self.frames.last() == Some(&ShellFrame::Double);
        let (frame, length) = match rest.as_bytes() {
            [_, b'(', b'(', ..] => (ShellFrame::Arithmetic, 3),
            [_, b'(', ..] => (ShellFrame::Parenthesis, 2),
            [_, b'{', ..] => (ShellFrame::Brace, 2),
            [_, b'\'', ..] if !in_double => (ShellFrame::AnsiC, 2),
            _ => return 1,
        };
        self.frames.push(frame);
        self.at_word = frame == ShellFrame::Parenthesis;
        length
    }

    fn close_parenthesis(&mut self) {
        match self.frames.last_mut() {
            Some(frame @ ShellFrame::Arithmetic) => *frame = ShellFrame::Parenthesis,
            Some(ShellFrame::Parenthesis) => {
                self.frames.pop();
            }
            _ => {}
        }
        self.at_word = true;
    }
}

fn escaped_length(rest: &str) -> usize {
    rest.chars().take(2).map(char::len_utf8).sum()
}

/// Whether a value means the same wherever it is inserted.
fn is_plain_word(value: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:@%+,-".contains(letter);
    !value.is_empty() && value.chars().all(is_plain)
}

/// The text of a value at a place of a command; `None` where it cannot be quoted safely.
pub(super) fn quote_value(value: &str, context: QuoteContext) -> Option<String> {
    if is_plain_word(value) {
        return Some(value.to_owned());
    }
    match context {
        QuoteContext::Unquoted => Some(format!("'{}'", value.replace('\'', "'\\''"))),
        QuoteContext::InSingle => Some(value.replace('\'', "'\\''")),
        QuoteContext::InDouble => {
            let mut quoted = String::new();
            for letter in value.chars() {
                if "$`\"\\!".contains(letter) {
                    // History expansion ignores a backslash in double quotes, so that `!` leaves them.
                    quoted.push_str(if letter == '!' { "\"'" } else { "\\" });
                    quoted.push(letter);
                    quoted.push_str(if letter == '!' { "'\"" } else { "" });
                } else {
                    quoted.push(letter);
                }
            }
            Some(quoted)
        }
        QuoteContext::Unknown => None,
    }
}

/// The text by which a command reads a variable; `None` where that cannot be written safely.
pub(super) fn read_variable(name: &str, context: QuoteContext) -> Option<String> {
    match context {
        QuoteContext::Unquoted => Some(format!("\"${{{name}}}\"")),
        QuoteContext::InDouble => Some(format!("${{{name}}}")),
        QuoteContext::InSingle => Some(format!("'\"${{{name}}}\"'")),
        QuoteContext::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The context of the place that is marked with `@@`.
    fn context(command: &str) -> QuoteContext {
        let (before, _) = command.split_once("@@").unwrap();
        let mut lexer = ShellLexer::new(&[], command);
        lexer.read(before);
        lexer.context()
    }

    #[test]
    fn the_lexer_knows_where_a_value_is() {
        use QuoteContext::{InDouble, InSingle, Unknown, Unquoted};
        for (command, expected) in [
            ("echo @@", Unquoted),
            ("echo \"a @@", InDouble),
            ("echo 'a @@", InSingle),
            ("echo 'a' @@", Unquoted),
            ("echo \"'@@", InDouble),
            ("echo \"$(cat @@", Unquoted),
            ("echo \"$(cat \"@@", InDouble),
            ("echo \"$(cat x) @@", InDouble),
            ("echo \\\" @@", Unquoted),
            ("# it's fine\necho @@", Unquoted),
            ("echo a#'b @@", InSingle),
            ("echo # @@", Unknown),
            ("echo `x @@", Unknown),
            ("cat <<END\n@@", Unknown),
            ("cat <<< @@", Unquoted),
            ("echo ${x:-@@", Unknown),
            ("echo $((1+@@", Unknown),
            ("echo $((1+2)) @@", Unquoted),
            ("echo $'a\\' @@", Unknown),
            ("case a in a) echo @@;; esac", Unknown),
        ] {
            assert_eq!(context(command), expected, "{command}");
        }
        let mut foreign = ShellLexer::new(&["python3".to_owned(), "-c".to_owned()], "");
        foreign.read("print(");
        assert_eq!(foreign.context(), Unknown);
    }

    #[test]
    fn a_value_is_one_word_for_the_shell_in_every_context() {
        let hostile = "a b'; echo \"$HOME\" `id` $(id) \\ ! \n#";
        for command in
            ["printf %s @@", "printf %s \"@@\"", "printf %s '@@'", "printf %s \"$(printf %s @@)\""]
        {
            let (before, after) = command.split_once("@@").unwrap();
            let mut lexer = ShellLexer::new(&[], command);
            lexer.read(before);
            let quoted = quote_value(hostile, lexer.context()).unwrap();
            let output = std::process::Command::new("sh")
                .args(["-c", &format!("{before}{quoted}{after}")])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), hostile, "{command}");
            assert!(output.stderr.is_empty(), "{output:?}");
        }
        assert_eq!(quote_value("2.1", QuoteContext::Unknown).as_deref(), Some("2.1"));
        assert_eq!(quote_value("a b", QuoteContext::Unknown), None);
    }
}
