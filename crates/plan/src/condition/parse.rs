//! Reads the text of a condition.

use super::{ConditionNode, ConditionReference, PlanValue, TaskFact};

/// The longest condition, in bytes.
const MAX_LENGTH: usize = 2000;
/// The deepest nesting.
const MAX_DEPTH: usize = 64;

/// Why a condition cannot be read, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConditionError {
    pub message: String,
    /// The byte of the text.
    pub at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ConditionToken {
    Word(String),
    Text(String),
    Operator(&'static str),
}

pub(super) fn parse_condition(text: &str) -> Result<ConditionNode, ConditionError> {
    if text.len() > MAX_LENGTH {
        let message = format!("is longer than {MAX_LENGTH} bytes");
        return Err(ConditionError { message, at: 0 });
    }
    let tokens = split_tokens(text)?;
    let mut parser = ConditionParser { tokens, next: 0, end: text.len(), depth: 0 };
    let node = parser.read_or()?;
    match parser.tokens.get(parser.next) {
        None => Ok(node),
        Some((token, at)) => {
            let message = format!("does not expect {} there", token.describe());
            Err(ConditionError { message, at: *at })
        }
    }
}

impl ConditionToken {
    fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Text(_) => "text".to_owned(),
            Self::Operator(operator) => format!("`{operator}`"),
        }
    }
}

fn split_tokens(text: &str) -> Result<Vec<(ConditionToken, usize)>, ConditionError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let operator = ["==", "!=", "(", ")"].into_iter().find(|it| rest.starts_with(it));
        if letter.is_whitespace() {
            at += letter.len_utf8();
        } else if let Some(operator) = operator {
            tokens.push((ConditionToken::Operator(operator), at));
            at += operator.len();
        } else if letter == '\'' || letter == '"' {
            let (value, length) = read_quoted(rest, letter)
                .ok_or_else(|| ConditionError { message: "has text without its end".into(), at })?;
            tokens.push((ConditionToken::Text(value), at));
            at += length;
        } else {
            let ends = |c: char| c.is_whitespace() || "()'\"=!".contains(c);
            let length = rest.find(ends).unwrap_or(rest.len());
            if length == 0 {
                let message = format!("does not know the operator `{letter}`");
                return Err(ConditionError { message, at });
            }
            tokens.push((ConditionToken::Word(rest[..length].to_owned()), at));
            at += length;
        }
    }
    Ok(tokens)
}

/// Text in quotes, in which a backslash stands before a quote or a backslash. Returns its length with the quotes.
fn read_quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next()?.1),
            end if end == quote => return Some((value, at + 1)),
            other => value.push(other),
        }
    }
    None
}

struct ConditionParser {
    tokens: Vec<(ConditionToken, usize)>,
    next: usize,
    end: usize,
    depth: usize,
}

impl ConditionParser {
    fn take_word(&mut self, word: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.next), Some((ConditionToken::Word(it), _)) if it == word);
        self.next += usize::from(found);
        found
    }

    fn take_operator(&mut self, operator: &str) -> bool {
        let found = matches!(
            self.tokens.get(self.next),
            Some((ConditionToken::Operator(it), _)) if *it == operator
        );
        self.next += usize::from(found);
        found
    }

    fn read_or(&mut self) -> Result<ConditionNode, ConditionError> {
        let mut node = self.read_and()?;
        while self.take_word("or") {
            node = ConditionNode::Or(Box::new(node), Box::new(self.read_and()?));
        }
        Ok(node)
    }

    fn read_and(&mut self) -> Result<ConditionNode, ConditionError> {
        let mut node = self.read_not()?;
        while self.take_word("and") {
            node = ConditionNode::And(Box::new(node), Box::new(self.read_not()?));
        }
        Ok(node)
    }

    fn read_not(&mut self) -> Result<ConditionNode, ConditionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ConditionError { message: "is nested too deeply".into(), at: 0 });
        }
        let node = if self.take_word("not") {
            self.read_not().map(|inner| ConditionNode::Not(Box::new(inner)))
        } else {
            self.read_comparison()
        };
        self.depth -= 1;
        node
    }

    fn read_comparison(&mut self) -> Result<ConditionNode, ConditionError> {
        let left = self.read_operand()?;
        let equal = if self.take_operator("==") {
            true
        } else if self.take_operator("!=") {
            false
        } else {
            return Ok(left);
        };
        let right = self.read_operand()?;
        Ok(ConditionNode::Compare { left: Box::new(left), right: Box::new(right), equal })
    }

    fn read_operand(&mut self) -> Result<ConditionNode, ConditionError> {
        if self.take_operator("(") {
            let inner = self.read_or()?;
            if self.take_operator(")") {
                return Ok(inner);
            }
            return Err(self.fault("lacks `)`"));
        }
        let Some((token, at)) = self.tokens.get(self.next).cloned() else {
            return Err(self.fault("ends where a value is expected"));
        };
        self.next += 1;
        match token {
            ConditionToken::Text(text) => Ok(ConditionNode::Value(PlanValue::Text(text))),
            ConditionToken::Word(word) => read_word(&word).ok_or_else(|| {
                let message = format!("does not know `{word}`");
                ConditionError { message, at }
            }),
            ConditionToken::Operator(operator) => {
                let message = format!("expects a value in place of `{operator}`");
                Err(ConditionError { message, at })
            }
        }
    }

    fn fault(&self, message: &str) -> ConditionError {
        let at = self.tokens.get(self.next).map_or(self.end, |(_, at)| *at);
        ConditionError { message: message.to_owned(), at }
    }
}

/// A number, a truth, or something to refer to.
fn read_word(word: &str) -> Option<ConditionNode> {
    if let Ok(number) = word.parse() {
        return Some(ConditionNode::Value(PlanValue::Integer(number)));
    }
    if let Ok(truth) = word.parse() {
        return Some(ConditionNode::Value(PlanValue::Boolean(truth)));
    }
    let reference = match word.strip_prefix("tasks.") {
        None => {
            let (space, name) = word.split_once('.')?;
            let is_known = ["vars", "params", "env", "matrix"].contains(&space);
            (is_known && !name.is_empty()).then(|| ConditionReference::Stated(word.to_owned()))?
        }
        Some(rest) => {
            let (task, fact) = if let Some((task, name)) = rest.rsplit_once(".outputs.") {
                (task, TaskFact::Output(name.to_owned()))
            } else if let Some(task) = rest.strip_suffix(".exit_code") {
                (task, TaskFact::ExitCode)
            } else {
                (rest.strip_suffix(".status")?, TaskFact::Status)
            };
            (!task.is_empty()).then(|| ConditionReference::Task { task: task.into(), fact })?
        }
    };
    Some(ConditionNode::Reference(reference))
}
