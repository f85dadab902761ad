//! Turns characters into commands: redirections, here-documents and compound commands. Words are read in `words`.

use super::here_documents::PendingDocument;
use super::{ShellLine, ShellWord, SimpleCommand, is_variable_name};

/// How deeply substitutions may be nested before a line is marked unreadable. Each level is a recursive call, so this
/// also bounds the stack.
pub(super) const DEEPEST: usize = 16;

/// Reads a script. `depth` is the number of scripts it is nested in.
pub(super) fn read_script(text: &str, depth: usize) -> ShellLine {
    let mut reader = ScriptReader::new(text, depth);
    reader.read_list(None, false);
    reader.finish()
}

pub(super) struct ScriptReader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// The characters being read are between double quotes, or in a text that is expanded like one.
    pub(super) in_quotes: bool,
    pub(super) line: ShellLine,
    /// Here-documents whose text begins on the next line.
    pub(super) pending: Vec<PendingDocument>,
    /// Texts of here-documents; commands refer to them by position.
    pub(super) documents: Vec<String>,
}

/// The state of the command list being read.
#[derive(Default)]
struct CommandListState {
    draft: SimpleCommand,
    /// All commands of the list may read from a pipe: it is in a group after one.
    piped: bool,
    open_cases: usize,
    /// The words belong to `for` or `select` and are not a command.
    loop_header: bool,
}

impl CommandListState {
    /// Whether a bare word ends the header of a loop: `for name do`, `for ((...)) {`. After `in` it is an item.
    fn ends_header(&self, word: &str) -> bool {
        self.loop_header && self.draft.words.len() == 2 && matches!(word, "do" | "{")
    }
}

impl ScriptReader {
    fn new(text: &str, depth: usize) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            depth,
            in_quotes: false,
            line: ShellLine { unreadable: depth > DEEPEST, ..ShellLine::default() },
            pending: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn finish(mut self) -> ShellLine {
        // The text of a here-document is missing, so what it would have substituted is unknown.
        self.line.unreadable |= !self.pending.is_empty();
        for command in &mut self.line.commands {
            if let Some(text) = command.here_document.take().and_then(|at| self.documents.get(at)) {
                command.here_text = Some(text.clone());
            }
        }
        self.line
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.chars.get(self.at + offset) == Some(&c))
    }

    pub(super) fn skip(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.skip(" ") || self.skip("\t") || self.skip("\\\n") {}
    }

    pub(super) fn raw_text(&self, from: usize) -> String {
        let end = self.at.min(self.chars.len());
        self.chars[from.min(end)..end].iter().collect()
    }

    /// Reads separate text, such as the inside of backticks, and adds its commands.
    pub(super) fn read_separately(&mut self, text: &str, read: impl FnOnce(&mut Self)) {
        let mut inner = Self::new(text, self.depth + 1);
        if !inner.line.unreadable {
            read(&mut inner);
        }
        let inner = inner.finish();
        self.line.unreadable |= inner.unreadable;
        self.line.commands.extend(inner.commands);
    }

    /// Reads commands up to the closing bracket, or to the end of the text.
    pub(super) fn read_list(&mut self, end: Option<char>, piped: bool) {
        let mut list = CommandListState { piped, ..CommandListState::default() };
        list.draft.piped = piped;
        loop {
            self.skip_blanks();
            let Some(c) = self.peek() else {
                self.line.unreadable |= end.is_some();
                break;
            };
            match c {
                '\n' => {
                    self.at += 1;
                    self.end_command(&mut list, false);
                    self.read_documents();
                }
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ')' if end == Some(')') => {
                    self.at += 1;
                    break;
                }
                // A stray `)` means that this reader and the shell disagree about the structure. Reading continues, so
                // that the commands after it are found as well.
                ')' => {
                    self.at += 1;
                    self.line.unreadable = true;
                }
                ';' | '&' | '|' => self.read_operator(&mut list),
                '(' => self.read_bracket(&mut list),
                '<' | '>' => self.read_redirection(&mut list.draft),
                _ => self.read_command_word(&mut list),
            }
        }
        self.end_command(&mut list, false);
    }

    fn end_command(&mut self, list: &mut CommandListState, pipes: bool) {
        let command = std::mem::take(&mut list.draft);
        list.draft.piped = pipes || list.piped;
        let header = std::mem::take(&mut list.loop_header);
        let empty = command.words.is_empty()
            && command.writes_to.is_empty()
            && command.assignments.is_empty();
        if !header && !empty {
            self.line.commands.push(command);
        }
    }

    fn read_operator(&mut self, list: &mut CommandListState) {
        if self.starts_with("&>") {
            self.at += 1;
            self.read_redirection(&mut list.draft);
        } else if self.skip(";;&") || self.skip(";;") || self.skip(";&") {
            self.end_command(list, false);
            if list.open_cases > 0 {
                self.skip_case_pattern();
            }
        } else if self.skip("||") || self.skip("&&") {
            self.end_command(list, false);
        } else if self.skip("|&") || self.skip("|") {
            self.end_command(list, true);
        } else {
            self.at += 1;
            self.end_command(list, false);
        }
    }

    fn read_bracket(&mut self, list: &mut CommandListState) {
        // `((` may be arithmetic or two nested subshells, depending on the shell and on what follows. Arithmetic is
        // tried first; if it does not close with `))`, the text is read again as subshells.
        if self.starts_with("((") && (list.draft.words.is_empty() || list.loop_header) {
            let from = self.at;
            self.at += 2;
            if self.skip_arithmetic() {
                let inside: String = self.chars[from + 2..self.at - 2].iter().collect();
                if list.loop_header {
                    list.draft.words.push(ShellWord { text: inside, ..ShellWord::default() });
                } else {
                    // A shell without arithmetic commands runs it in a subshell of a subshell.
                    self.line.unreadable |= inside.contains(" #") || inside.contains("\t#");
                    self.read_separately(&inside, |inner| inner.read_list(None, false));
                }
                return;
            }
            self.at = from;
        }
        self.at += 1;
        if list.draft.words.len() == 1 {
            // `name()` defines a function: the name starts nothing; its body is read like any other group.
            let from = self.at;
            self.skip_blanks();
            if self.skip(")") {
                list.draft.words.clear();
                return;
            }
            self.at = from;
        }
        let piped = list.draft.piped;
        self.end_command(list, false);
        self.read_nested_list(piped);
    }

    fn read_command_word(&mut self, list: &mut CommandListState) {
        let from = self.at;
        let word = self.read_word();
        // Quoted text is never a keyword, a descriptor number or the end of a header.
        let bare = self.joined_text(from) == word.text;
        if bare && list.ends_header(&word.text) {
            self.end_command(list, false);
            return;
        }
        let digits = word.text.chars().all(|c| c.is_ascii_digit());
        if bare && digits && matches!(self.peek(), Some('<' | '>')) {
            return; // The number of a descriptor, not a word.
        }
        if bare && list.draft.words.is_empty() && self.read_keyword(&word.text, list) {
            return;
        }
        match word.text.split_once('=') {
            Some((name, value))
                if list.draft.words.is_empty() && is_variable_name(name.trim_end_matches('+')) =>
            {
                let name = name.trim_end_matches('+').to_owned();
                list.draft.assignments.push((name, value.to_owned()));
            }
            _ => list.draft.words.push(word),
        }
    }

    /// Handles a reserved word where a command may begin.
    fn read_keyword(&mut self, word: &str, list: &mut CommandListState) -> bool {
        match word {
            "if" | "while" | "until" | "{" => list.piped |= list.draft.piped,
            "then" | "else" | "elif" | "do" | "fi" | "done" | "}" | "!" | "coproc" => {}
            "for" | "select" => {
                list.piped |= list.draft.piped;
                list.loop_header = true;
                list.draft.words.push(ShellWord { text: word.to_owned(), ..ShellWord::default() });
            }
            "function" => {
                self.skip_blanks();
                self.read_word();
                self.skip_blanks();
                self.skip("()");
            }
            "case" => {
                list.piped |= list.draft.piped;
                list.open_cases += 1;
                self.skip_blanks();
                self.read_word();
                self.skip_space();
                let found = self.read_word().text == "in";
                self.line.unreadable |= !found;
                self.skip_case_pattern();
            }
            "esac" => list.open_cases = list.open_cases.saturating_sub(1),
            "[[" => self.skip_condition(),
            _ => return false,
        }
        true
    }

    fn skip_space(&mut self) {
        loop {
            self.skip_blanks();
            if !self.skip("\n") {
                break;
            }
        }
    }

    /// Skips `pattern)` of a `case`; its substitutions are read.
    fn skip_case_pattern(&mut self) {
        self.skip_space();
        if self.starts_with("esac") {
            return;
        }
        self.skip("(");
        loop {
            self.skip_space();
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return;
                }
                Some('|') => self.at += 1,
                Some(c) if !is_operator(c) => {
                    self.read_word();
                }
                _ => {
                    self.mark_unreadable();
                    return;
                }
            }
        }
    }

    /// Skips `[[ ... ]]`, in which `<`, `&&` and brackets have different meanings.
    fn skip_condition(&mut self) {
        let from = self.at;
        let mut end = self.at;
        loop {
            self.skip_space();
            let start = self.at;
            match self.peek() {
                None => break self.line.unreadable = true,
                Some('#') => break self.mark_unreadable(),
                Some(c) if is_operator(c) => self.at += 1,
                Some(_) => {
                    self.read_word();
                    if self.joined_text(start) == "]]" {
                        break;
                    }
                }
            }
            end = self.at;
        }
        let inside: String = self.chars[from..end.min(self.chars.len())].iter().collect();
        self.read_condition_as_commands(&inside);
    }

    /// A shell without `[[` runs what follows its operators.
    fn read_condition_as_commands(&mut self, inside: &str) {
        let first = self.line.commands.len();
        self.read_separately(&format!("[ {inside}"), |inner| inner.read_list(None, false));
        let single = inside.replace("&&", "");
        let separates = inside.contains("||")
            || single.contains([';', '\n'])
            || single.contains(['|', '&']) && !inside.contains("=~");
        // Without `[[` nothing after `&&` runs. A variable there is an operand of the condition.
        for command in self.line.commands[first..].iter_mut().filter(|_| !separates) {
            command.uncertain |= command.words.first().is_some_and(ShellWord::is_hidden);
        }
    }

    /// Skips the rest of `((...))`. Returns false if it is not arithmetic after all.
    pub(super) fn skip_arithmetic(&mut self) -> bool {
        let from = self.at;
        let mut open = 2;
        for at in from..self.chars.len() {
            match self.chars[at] {
                '(' => open += 1,
                ')' => open -= 1,
                // A shell ignores brackets in quotes.
                '\'' | '"' | '\\' => self.line.unreadable = true,
                _ => {}
            }
            if open == 1 {
                let closes = self.chars.get(at + 1) == Some(&')');
                if closes {
                    self.at = at + 2;
                    let inside: String = self.chars[from..at].iter().collect();
                    self.read_separately(&inside, Self::read_expansions);
                }
                return closes;
            }
        }
        false
    }

    fn read_redirection(&mut self, command: &mut SimpleCommand) {
        // A shell joins the lines first, so another operator may follow here.
        self.line.unreadable |=
            self.chars.get(self.at + 1..).is_some_and(|rest| rest.starts_with(&['\\', '\n']));
        if self.starts_with("<(") || self.starts_with(">(") {
            let word = self.read_process_substitution(command);
            command.words.push(word);
        } else if self.skip("<<<") {
            self.skip_blanks();
            let word = self.read_word();
            command.here_text = Some(word.text);
        } else if self.starts_with("<<") {
            self.begin_document(command);
        } else {
            let reads = self.starts_with("<");
            let both = self.skip("<>");
            let duplicates = !both && (self.skip("<&") || self.skip(">&"));
            let _ = both || duplicates || self.skip(">>") || self.skip(">|") || {
                self.at += 1;
                true
            };
            self.skip_blanks();
            let target = if self.starts_with("<(") || self.starts_with(">(") {
                self.read_process_substitution(command)
            } else {
                self.read_word()
            };
            let descriptor = target.text.chars().all(|c| c.is_ascii_digit() || c == '-');
            if duplicates && descriptor {
                return;
            }
            if reads {
                command.reads_from.push(target.text.clone());
            }
            if !reads || both {
                command.writes_to.push(target.text);
            }
        }
    }

    fn read_process_substitution(&mut self, command: &mut SimpleCommand) -> ShellWord {
        let from = self.at;
        let reads_what_is_written = self.starts_with(">");
        self.at += 2;
        command.substitutes_process = true;
        self.read_nested_list(reads_what_is_written);
        ShellWord { text: self.raw_text(from), dynamic: true, pattern: false }
    }

    pub(super) fn read_nested_list(&mut self, piped: bool) {
        let quoted = std::mem::take(&mut self.in_quotes);
        self.depth += 1;
        if self.depth > DEEPEST {
            self.mark_unreadable();
        } else {
            self.read_list(Some(')'), piped);
        }
        self.depth -= 1;
        self.in_quotes = quoted;
    }

    /// Marks the line as unreadable and skips to its end.
    pub(super) fn mark_unreadable(&mut self) {
        self.line.unreadable = true;
        self.at = self.chars.len();
    }

    /// Text from the line as a shell sees it: with continued lines joined.
    pub(super) fn joined_text(&self, from: usize) -> String {
        self.raw_text(from).replace("\\\n", "")
    }

    /// Reads only the substitutions of a text.
    pub(super) fn read_expansions(&mut self) {
        self.in_quotes = true;
        let mut word = ShellWord::default();
        while let Some(c) = self.peek() {
            match c {
                '\\' => self.at += 2,
                '$' => self.read_dollar(&mut word),
                '`' => self.read_backticks(&mut word),
                _ => self.at += 1,
            }
        }
    }
}

pub(super) fn is_operator(c: char) -> bool {
    matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
