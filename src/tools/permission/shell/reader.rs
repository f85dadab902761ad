//! From characters to commands: redirections, here-documents and compound commands. Words are read in `words`.

use super::{ShellLine, ShellWord, SimpleCommand, is_name};

/// How deeply substitutions may be nested before a line is not read any further.
const DEEPEST: usize = 16;

/// Reads a script. `depth` says how many others it is part of.
pub(super) fn read_script(text: &str, depth: usize) -> ShellLine {
    let mut reader = ScriptReader::new(text, depth);
    reader.read_list(None, false);
    reader.finish()
}

pub(super) struct ScriptReader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    depth: usize,
    pub(super) line: ShellLine,
    /// Here-documents whose text begins on the next line.
    pending: Vec<PendingDocument>,
    /// Texts of here-documents; commands name them by position.
    documents: Vec<String>,
}

struct PendingDocument {
    position: usize,
    delimiter: String,
    strips_tabs: bool,
    expands: bool,
}

/// What is known about the list of commands that is being read.
#[derive(Default)]
struct ListState {
    draft: SimpleCommand,
    /// All commands of the list may read from a pipe: it stands in a group behind one.
    piped: bool,
    open_cases: usize,
    /// The words belong to `for` or `select` and are no command.
    loop_header: bool,
}

impl ScriptReader {
    fn new(text: &str, depth: usize) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            depth,
            line: ShellLine { unreadable: depth > DEEPEST, ..ShellLine::default() },
            pending: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn finish(mut self) -> ShellLine {
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

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.chars.get(self.at + offset) == Some(&c))
    }

    fn skip(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn skip_blanks(&mut self) {
        while self.skip(" ") || self.skip("\t") || self.skip("\\\n") {}
    }

    pub(super) fn raw(&self, from: usize) -> String {
        let end = self.at.min(self.chars.len());
        self.chars[from.min(end)..end].iter().collect()
    }

    /// Reads text of its own, such as the inside of backticks, and keeps its commands.
    pub(super) fn read_apart(&mut self, text: &str, read: impl FnOnce(&mut Self)) {
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
        let mut list = ListState { piped, ..ListState::default() };
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

    fn end_command(&mut self, list: &mut ListState, pipes: bool) {
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

    fn read_operator(&mut self, list: &mut ListState) {
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

    fn read_bracket(&mut self, list: &mut ListState) {
        if self.starts_with("((") && (list.draft.words.is_empty() || list.loop_header) {
            let from = self.at;
            self.at += 2;
            if self.skip_arithmetic() {
                return;
            }
            self.at = from;
        }
        self.at += 1;
        if list.draft.words.len() == 1 {
            // `name()` defines a function: the name starts nothing, its body is read like any other group.
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

    fn read_command_word(&mut self, list: &mut ListState) {
        let from = self.at;
        let word = self.read_word();
        let bare = self.raw(from) == word.text;
        let digits = word.text.chars().all(|c| c.is_ascii_digit());
        if bare && digits && matches!(self.peek(), Some('<' | '>')) {
            return; // The number of a descriptor, not a word.
        }
        if bare && list.draft.words.is_empty() && self.read_keyword(&word.text, list) {
            return;
        }
        match word.text.split_once('=') {
            Some((name, value))
                if list.draft.words.is_empty() && is_name(name.trim_end_matches('+')) =>
            {
                let name = name.trim_end_matches('+').to_owned();
                list.draft.assignments.push((name, value.to_owned()));
            }
            _ => list.draft.words.push(word),
        }
    }

    /// Takes a word with a meaning of its own where a command may begin.
    fn read_keyword(&mut self, word: &str, list: &mut ListState) -> bool {
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

    /// Goes past `pattern)` of a `case`; what it substitutes is read.
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
                    self.line.unreadable = true;
                    self.at = self.chars.len();
                    return;
                }
            }
        }
    }

    /// Goes past `[[ ... ]]`, in which `<`, `&&` and brackets have other meanings.
    fn skip_condition(&mut self) {
        let from = self.at;
        while self.at < self.chars.len() && !self.starts_with(" ]]") {
            self.at += 1;
        }
        let inside = self.raw(from);
        self.line.unreadable |= !self.skip(" ]]");
        self.read_apart(&inside, Self::read_expansions);
    }

    /// Goes past the rest of `((...))`. False if it is not arithmetic after all.
    pub(super) fn skip_arithmetic(&mut self) -> bool {
        let from = self.at;
        let mut open = 2;
        let mut at = self.at;
        while let Some(c) = self.chars.get(at) {
            open = match c {
                '(' => open + 1,
                ')' => open - 1,
                _ => open,
            };
            if open == 0 {
                if self.chars.get(at.wrapping_sub(1)) != Some(&')') || at == from {
                    return false;
                }
                self.at = at + 1;
                let inside: String = self.chars[from..at - 1].iter().collect();
                self.read_apart(&inside, Self::read_expansions);
                return true;
            }
            at += 1;
        }
        false
    }

    fn read_redirection(&mut self, command: &mut SimpleCommand) {
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
        ShellWord { text: self.raw(from), dynamic: true, pattern: false }
    }

    pub(super) fn read_nested_list(&mut self, piped: bool) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.line.unreadable = true;
            self.at = self.chars.len();
        } else {
            self.read_list(Some(')'), piped);
        }
        self.depth -= 1;
    }

    fn begin_document(&mut self, command: &mut SimpleCommand) {
        self.at += 2;
        let strips_tabs = self.skip("-");
        self.skip_blanks();
        let from = self.at;
        let delimiter = self.read_word().text;
        let expands = self.raw(from) == delimiter;
        let position = self.documents.len();
        self.documents.push(String::new());
        command.here_document = Some(position);
        self.pending.push(PendingDocument { position, delimiter, strips_tabs, expands });
    }

    /// Reads the here-documents that begin on this line.
    fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.at >= self.chars.len() {
                    self.line.unreadable = true;
                    break;
                }
                let from = self.at;
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                let line = self.raw(from);
                self.at += 1;
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == document.delimiter {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if document.expands {
                self.read_apart(&text, Self::read_expansions);
            }
            self.documents[document.position] = text;
        }
    }

    /// Reads nothing but the substitutions of a text.
    fn read_expansions(&mut self) {
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
