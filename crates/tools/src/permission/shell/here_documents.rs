//! Here-documents: where they begin, which lines belong to them, and what these substitute.

use super::SimpleCommand;
use super::reader::ScriptReader;

/// A here-document whose text begins on the next line.
pub(super) struct PendingDocument {
    position: usize,
    delimiter: String,
    strips_tabs: bool,
    expands: bool,
}

impl ScriptReader {
    pub(super) fn begin_document(&mut self, command: &mut SimpleCommand) {
        self.at += 2;
        let strips_tabs = self.skip("-");
        self.skip_blanks();
        let from = self.at;
        let word = self.read_word();
        self.line.unreadable |= word.dynamic;
        let delimiter = word.text;
        let expands = self.joined_text(from) == delimiter;
        let position = self.documents.len();
        self.documents.push(String::new());
        command.here_document = Some(position);
        self.pending.push(PendingDocument { position, delimiter, strips_tabs, expands });
    }

    /// Reads the here-documents that begin on this line.
    pub(super) fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.at >= self.chars.len() {
                    self.line.unreadable = true;
                    break;
                }
                let (line, continued) = self.read_document_line(document.expands);
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == document.delimiter {
                    // Shells differ in whether a delimiter may span two lines.
                    self.line.unreadable |= continued;
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if document.expands {
                self.read_separately(&text, Self::read_expansions);
            }
            self.documents[document.position] = text;
        }
    }

    /// Reads one line of a here-document. Where text is expanded, a line that ends in a backslash continues on the next
    /// one.
    fn read_document_line(&mut self, expands: bool) -> (String, bool) {
        let mut line = String::new();
        let mut continued = false;
        loop {
            let from = self.at;
            while self.peek().is_some_and(|c| c != '\n') {
                self.at += 1;
            }
            line.push_str(&self.raw_text(from));
            self.at += 1;
            let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
            if !expands || backslashes % 2 == 0 || self.at >= self.chars.len() {
                return (line, continued);
            }
            line.pop();
            continued = true;
        }
    }
}
