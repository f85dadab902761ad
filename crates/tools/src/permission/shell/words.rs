//! Reads one word: its quotes, variables and substitutions.

use super::ShellWord;
use super::reader::{DEEPEST, ScriptReader, is_operator};

impl ScriptReader {
    pub(super) fn read_word(&mut self) -> ShellWord {
        let mut word = ShellWord::default();
        while let Some(c) = self.peek() {
            match c {
                c if is_operator(c) || matches!(c, ' ' | '\t' | '\n') => break,
                '\'' => self.read_single_quotes(&mut word),
                '"' => self.read_double_quotes(&mut word),
                '\\' => {
                    self.at += 1;
                    if let Some(next) = self.peek().filter(|next| *next != '\n') {
                        word.text.push(next);
                    }
                    self.at += 1;
                }
                '$' => self.read_dollar(&mut word),
                '`' => self.read_backticks(&mut word),
                c => {
                    word.pattern |= matches!(c, '*' | '?' | '[') || self.opens_alternatives(c);
                    word.text.push(c);
                    self.at += 1;
                }
            }
        }
        word
    }

    /// Whether `{a,b}` or `{1..3}` begins here. Text that is too long to scan is treated as such.
    fn opens_alternatives(&self, c: char) -> bool {
        const LONGEST: usize = 256;
        if c != '{' {
            return false;
        }
        let rest = self.chars[self.at..].iter().skip(1).take(LONGEST);
        let inside: String = rest.take_while(|c| !c.is_whitespace() && **c != '}').collect();
        inside.contains(',') || inside.contains("..") || inside.chars().count() == LONGEST
    }

    fn read_single_quotes(&mut self, word: &mut ShellWord) {
        self.at += 1;
        loop {
            match self.peek() {
                Some('\'') => break self.at += 1,
                Some(c) => word.text.push(c),
                None => break self.line.unreadable = true,
            }
            self.at += 1;
        }
    }

    fn read_double_quotes(&mut self, word: &mut ShellWord) {
        let outside = std::mem::replace(&mut self.in_quotes, true);
        self.read_quoted_text(word);
        self.in_quotes = outside;
    }

    fn read_quoted_text(&mut self, word: &mut ShellWord) {
        self.at += 1;
        loop {
            match self.peek() {
                Some('"') => break self.at += 1,
                Some('$') => self.read_dollar(word),
                Some('`') => self.read_backticks(word),
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') | None => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                    }
                    self.at += 1;
                }
                Some(c) => {
                    word.text.push(c);
                    self.at += 1;
                }
                None => break self.line.unreadable = true,
            }
        }
    }

    pub(super) fn read_dollar(&mut self, word: &mut ShellWord) {
        let from = self.at;
        self.at += 1;
        // A shell joins the lines first, so `$` may begin a substitution after all.
        self.line.unreadable |= self.starts_with("\\\n");
        match self.peek() {
            Some('\'') => {
                let mut inside = ShellWord::default();
                self.read_ansi_quotes(&mut inside);
                word.dynamic |= inside.dynamic;
                word.text.push_str(&inside.text);
                return;
            }
            Some('(') => self.read_command_substitution(),
            Some('{') => self.skip_braces(),
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                while self.peek().is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
                    self.at += 1;
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => self.at += 1,
            _ => {
                word.text.push('$');
                return;
            }
        }
        word.dynamic = true;
        word.text.push_str(&self.raw_text(from));
    }

    /// `$(...)` or `$((...))`, starting at the first bracket.
    fn read_command_substitution(&mut self) {
        self.at += 1;
        let from = self.at;
        if self.skip("(") {
            if self.skip_arithmetic() {
                return;
            }
            // Some shells still treat it as arithmetic, and continue reading at another position.
            self.line.unreadable = true;
            self.at = from;
        }
        self.read_nested_list(false);
    }

    /// `$'...'`: its escapes can spell anything, so they are not decoded.
    fn read_ansi_quotes(&mut self, word: &mut ShellWord) {
        self.at += 1;
        loop {
            match self.peek() {
                Some('\'') => break self.at += 1,
                Some('\\') => {
                    word.dynamic = true;
                    self.at += 2;
                }
                Some(c) => {
                    word.text.push(c);
                    self.at += 1;
                }
                None => break self.line.unreadable = true,
            }
        }
    }

    /// Skips `${...}`; its substitutions are read.
    fn skip_braces(&mut self) {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            self.mark_unreadable();
        } else {
            self.skip_braces_content();
        }
        self.depth -= 1;
    }

    fn skip_braces_content(&mut self) {
        let mut inside = ShellWord::default();
        loop {
            match self.peek() {
                Some('}') => break self.at += 1,
                Some('\'') => {
                    // Inside double quotes, some shells treat it as a quote and others as a character.
                    self.line.unreadable |= self.in_quotes;
                    self.read_single_quotes(&mut inside);
                }
                Some('"') => self.read_double_quotes(&mut inside),
                Some('$') => self.read_dollar(&mut inside),
                Some('`') => self.read_backticks(&mut inside),
                Some('\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => break self.line.unreadable = true,
            }
        }
    }

    pub(super) fn read_backticks(&mut self, word: &mut ShellWord) {
        let from = self.at;
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.peek() {
                Some('`') => break self.at += 1,
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(c @ ('`' | '\\' | '$')) => inside.push(c),
                        Some(c) => inside.extend(['\\', c]),
                        None => {}
                    }
                    self.at += 1;
                }
                Some(c) => {
                    inside.push(c);
                    self.at += 1;
                }
                None => break self.line.unreadable = true,
            }
        }
        self.read_separately(&inside, |inner| inner.read_list(None, false));
        word.dynamic = true;
        word.text.push_str(&self.raw_text(from));
    }
}
