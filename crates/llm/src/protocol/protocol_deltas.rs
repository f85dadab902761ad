//! What people see of an answer while it arrives. In the protocols that wrap calls into text, only thoughts and words are
//! passed on: half a JSON object, or the line that names a tool, is not something a model says.

use std::sync::{Mutex, PoisonError};

use super::reply_types::AnswerProtocol;
use crate::{AnswerDelta, DeltaSink};

/// A sink that takes the wrapping of a protocol off.
pub(super) struct ProtocolDeltas<'a> {
    inner: DeltaSink<'a>,
    /// `None` where the provider keeps words, thoughts and calls apart itself.
    unwrapper: Option<Mutex<Unwrapper>>,
}

enum Unwrapper {
    Json(JsonUnwrapper),
    Lines(LineUnwrapper),
}

/// Where a piece of text belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeltaChannel {
    Thought,
    Words,
    Hidden,
}

impl<'a> ProtocolDeltas<'a> {
    pub(super) fn new(protocol: AnswerProtocol, has_tools: bool, inner: DeltaSink<'a>) -> Self {
        let unwrapper = match protocol {
            _ if !has_tools => None,
            AnswerProtocol::Tools => None,
            AnswerProtocol::Json => Some(Unwrapper::Json(JsonUnwrapper::default())),
            AnswerProtocol::Text => Some(Unwrapper::Lines(LineUnwrapper::default())),
        };
        Self { inner, unwrapper: unwrapper.map(Mutex::new) }
    }

    pub(super) fn push_delta(&self, delta: AnswerDelta) {
        let (Some(unwrapper), AnswerDelta::Text { text }) = (&self.unwrapper, &delta) else {
            if let (Some(unwrapper), AnswerDelta::Retrying { .. }) = (&self.unwrapper, &delta) {
                unwrapper.lock().unwrap_or_else(PoisonError::into_inner).restart();
            }
            return (self.inner)(delta);
        };
        let pieces = unwrapper.lock().unwrap_or_else(PoisonError::into_inner).push_text(text);
        for (channel, text) in pieces {
            match channel {
                DeltaChannel::Thought => (self.inner)(AnswerDelta::Thinking { text }),
                DeltaChannel::Words => (self.inner)(AnswerDelta::Text { text }),
                DeltaChannel::Hidden => {}
            }
        }
    }
}

impl Unwrapper {
    fn push_text(&mut self, text: &str) -> Vec<(DeltaChannel, String)> {
        let mut pieces = DeltaPieces::default();
        match self {
            Self::Json(json) => text.chars().for_each(|letter| json.push_char(letter, &mut pieces)),
            Self::Lines(lines) => {
                text.chars().for_each(|letter| lines.push_char(letter, &mut pieces));
            }
        }
        pieces.0
    }

    fn restart(&mut self) {
        *self = match self {
            Self::Json(_) => Self::Json(JsonUnwrapper::default()),
            Self::Lines(_) => Self::Lines(LineUnwrapper::default()),
        };
    }
}

/// Pieces of text in their order, those of one channel joined.
#[derive(Default)]
struct DeltaPieces(Vec<(DeltaChannel, String)>);

impl DeltaPieces {
    fn push(&mut self, channel: DeltaChannel, letter: char) {
        match self.0.last_mut() {
            Some((last, text)) if *last == channel => text.push(letter),
            _ => self.0.push((channel, letter.to_string())),
        }
    }
}

/// Finds the fields `thought` and `answer` of a step while it is being written.
#[derive(Default)]
struct JsonUnwrapper {
    place: JsonPlace,
    /// The string that is being read, or the last one.
    string: String,
    escape: StringEscape,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum JsonPlace {
    #[default]
    Outside,
    /// In a string; its text is shown if it is the value of one of the fields.
    InString(Option<DeltaChannel>),
    /// After a string that may be the name of a field.
    AfterString,
    /// After the colon of one of the fields.
    AfterColon(DeltaChannel),
}

/// An escape sequence in a string, as far as it was read.
#[derive(Default)]
enum StringEscape {
    #[default]
    None,
    Begun,
    /// Hexadecimal digits, and the first half of a pair.
    Unicode(String, Option<u32>),
    /// The first half of a pair was read; the second must follow.
    HalfPair(u32),
}

impl JsonUnwrapper {
    fn push_char(&mut self, letter: char, pieces: &mut DeltaPieces) {
        match self.place {
            JsonPlace::InString(channel) => self.push_in_string(letter, channel, pieces),
            JsonPlace::AfterColon(channel) if letter == '"' => {
                self.place = JsonPlace::InString(Some(channel));
            }
            JsonPlace::AfterString if letter == ':' => {
                self.place = match self.string.as_str() {
                    "thought" => JsonPlace::AfterColon(DeltaChannel::Thought),
                    "answer" => JsonPlace::AfterColon(DeltaChannel::Words),
                    _ => JsonPlace::Outside,
                };
            }
            _ if letter.is_whitespace() => {}
            _ if letter == '"' => {
                self.string.clear();
                self.place = JsonPlace::InString(None);
            }
            _ => self.place = JsonPlace::Outside,
        }
    }

    fn push_in_string(
        &mut self,
        letter: char,
        channel: Option<DeltaChannel>,
        pieces: &mut DeltaPieces,
    ) {
        let ends = letter == '"' && matches!(self.escape, StringEscape::None);
        if ends {
            self.place =
                if channel.is_some() { JsonPlace::Outside } else { JsonPlace::AfterString };
            return;
        }
        let Some(decoded) = self.escape.decode(letter) else { return };
        match channel {
            Some(channel) => pieces.push(channel, decoded),
            // Names are short; the rest of a long value is of no interest.
            None if self.string.len() < 64 => self.string.push(decoded),
            None => {}
        }
    }
}

impl StringEscape {
    /// The letter that is complete with this one, if one is.
    fn decode(&mut self, letter: char) -> Option<char> {
        match std::mem::take(self) {
            Self::None if letter == '\\' => {
                *self = Self::Begun;
                None
            }
            Self::HalfPair(first) if letter == '\\' => {
                *self = Self::Unicode(String::new(), Some(first));
                None
            }
            Self::None | Self::HalfPair(_) => Some(letter),
            Self::Begun => match letter {
                'n' => Some('\n'),
                't' => Some('\t'),
                'r' | 'b' | 'f' => None,
                'u' => {
                    *self = Self::Unicode(String::new(), None);
                    None
                }
                other => Some(other),
            },
            Self::Unicode(digits, Some(first)) if digits.is_empty() && letter == 'u' => {
                *self = Self::Unicode(digits, Some(first));
                None
            }
            Self::Unicode(mut digits, first) => {
                digits.push(letter);
                if digits.len() < 4 {
                    *self = Self::Unicode(digits, first);
                    return None;
                }
                let code = u32::from_str_radix(&digits, 16).ok()?;
                match (first, code) {
                    (None, 0xD800..=0xDBFF) => {
                        *self = Self::HalfPair(code);
                        None
                    }
                    (Some(high), 0xDC00..=0xDFFF) => {
                        char::from_u32(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
                    }
                    _ => char::from_u32(code),
                }
            }
        }
    }
}

/// Sorts the lines of the text protocol by their labels.
struct LineUnwrapper {
    channel: DeltaChannel,
    /// The beginning of a line that may still become a label.
    held: Option<String>,
    /// Between a label and what follows it.
    after_label: bool,
}

impl Default for LineUnwrapper {
    fn default() -> Self {
        Self { channel: DeltaChannel::Words, held: Some(String::new()), after_label: false }
    }
}

/// The labels of the protocol, and what follows them.
const LABELS: [(&str, DeltaChannel); 11] = [
    ("thought:", DeltaChannel::Thought),
    ("final:", DeltaChannel::Words),
    ("final answer:", DeltaChannel::Words),
    ("action:", DeltaChannel::Hidden),
    ("action input:", DeltaChannel::Hidden),
    ("input:", DeltaChannel::Hidden),
    ("tool:", DeltaChannel::Hidden),
    ("call:", DeltaChannel::Hidden),
    ("observation:", DeltaChannel::Hidden),
    ("```", DeltaChannel::Hidden),
    ("{", DeltaChannel::Hidden),
];

impl LineUnwrapper {
    fn push_char(&mut self, letter: char, pieces: &mut DeltaPieces) {
        let Some(held) = &mut self.held else {
            self.after_label &= matches!(letter, '*' | ' ');
            if self.after_label {
                return;
            }
            pieces.push(self.channel, letter);
            if letter == '\n' {
                self.held = Some(String::new());
            }
            return;
        };
        held.push(letter);
        // Models set labels in bold.
        let label: String =
            held.trim_start().chars().filter(|letter| *letter != '*').collect::<String>();
        let label = label.to_ascii_lowercase();
        let may_grow = LABELS.iter().any(|(name, _)| name.starts_with(label.as_str()));
        match LABELS.iter().find(|(name, _)| *name == label) {
            // "Action:" is a label, and so is what it begins: wait for no more than the colon.
            Some((_, channel)) => {
                self.channel = *channel;
                (self.held, self.after_label) = (None, true);
            }
            None if may_grow && letter != '\n' => {}
            None => {
                let held = self.held.take().unwrap_or_default();
                held.chars().for_each(|letter| pieces.push(self.channel, letter));
                if letter == '\n' {
                    self.held = Some(String::new());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(protocol: AnswerProtocol, text: &str, size: usize) -> Vec<AnswerDelta> {
        let seen = Mutex::new(Vec::new());
        let keep = |delta| seen.lock().unwrap().push(delta);
        let sink = ProtocolDeltas::new(protocol, true, &keep);
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            sink.push_delta(AnswerDelta::Text { text: piece.iter().collect() });
        }
        let mut joined: Vec<AnswerDelta> = Vec::new();
        for delta in seen.into_inner().unwrap() {
            match (joined.last_mut(), delta) {
                (Some(AnswerDelta::Text { text }), AnswerDelta::Text { text: more })
                | (Some(AnswerDelta::Thinking { text }), AnswerDelta::Thinking { text: more }) => {
                    text.push_str(&more);
                }
                (_, delta) => joined.push(delta),
            }
        }
        joined
    }

    fn thought(text: &str) -> AnswerDelta {
        AnswerDelta::Thinking { text: text.into() }
    }

    fn words(text: &str) -> AnswerDelta {
        AnswerDelta::Text { text: text.into() }
    }

    #[test]
    fn of_a_json_step_only_the_thought_and_the_answer_are_shown() {
        let call = r#"{"thought": "I \"look\"\nfirst \u00e9\ud83d\ude00.", "step": {"tool": "file.read", "input": {"path": "a"}}}"#;
        let answer = r#"{"thought":"","step":{"answer":"All done."}}"#;
        for size in [1, 3, 7, 1000] {
            assert_eq!(
                shown(AnswerProtocol::Json, call, size),
                [thought("I \"look\"\nfirst é😀.")]
            );
            assert_eq!(shown(AnswerProtocol::Json, answer, size), [words("All done.")]);
        }
    }

    #[test]
    fn of_the_text_protocol_labels_and_calls_are_not_shown() {
        let call = "Thought: look first\nAction: file.read\nInput: {\"path\": \"a\"}";
        let done = "**Thought:** enough\nFinal: it says hello\nand more";
        let bare = "Actually it is done.\n{\"name\": \"file.read\"}";
        for size in [1, 4, 1000] {
            assert_eq!(shown(AnswerProtocol::Text, call, size), [thought("look first\n")]);
            assert_eq!(
                shown(AnswerProtocol::Text, done, size),
                [thought("enough\n"), words("it says hello\nand more")]
            );
            assert_eq!(shown(AnswerProtocol::Text, bare, size), [words("Actually it is done.\n")]);
        }
    }

    #[test]
    fn native_calls_are_left_as_they_are() {
        let text = "{\"an\": \"object\"}";
        assert_eq!(shown(AnswerProtocol::Tools, text, 3), [words(text)]);
    }
}
