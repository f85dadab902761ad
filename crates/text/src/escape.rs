//! Finds the end of terminal control sequences (ECMA-48, plus the xterm extensions).

/// Escape, which begins every seven-bit sequence.
pub(super) const ESC: char = '\u{1B}';

/// What follows an introducer.
enum EscapeForm {
    /// Parameters, intermediates, one final character.
    Control,
    /// A string up to a terminator. An operating system command also ends at a bell and is aborted by a line ending.
    String { command: bool },
    /// The introducer alone is the sequence.
    Single,
}

/// Returns the length in bytes of the complete sequence at the start of `text`, or `None` if `text` does not start with
/// one or the sequence never ends.
///
/// The caller treats an unterminated sequence as a stray control followed by text: a terminal would swallow what
/// follows, but then one character would be enough to hide the rest of a message. The next introducer aborts a string,
/// so that hostile text takes linear time.
pub(super) fn sequence_len(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let (form, introducer) = if first == ESC {
        let second = text[1..].chars().next()?;
        match second {
            ' '..='/' => return intermediates_len(&text[1..]).map(|len| len + 1),
            '0'..='~' => (escape_form(second), 2),
            _ => return None,
        }
    } else {
        // The eight-bit introducers are the letters of the seven-bit ones plus 0x40.
        let letter = char::from_u32(u32::from(first).checked_sub(0x40)?)?;
        (escape_form(letter), first.len_utf8())
    };
    let body = &text[introducer..];
    let len = match form {
        EscapeForm::Single if first == ESC => 0,
        // A single eight-bit control is treated as a stray one.
        EscapeForm::Single => return None,
        EscapeForm::Control => control_len(body)?,
        EscapeForm::String { command } => string_len(body, command)?,
    };
    Some(introducer + len)
}

fn escape_form(letter: char) -> EscapeForm {
    match letter {
        '[' => EscapeForm::Control,
        ']' => EscapeForm::String { command: true },
        'P' | 'X' | '^' | '_' => EscapeForm::String { command: false },
        _ => EscapeForm::Single,
    }
}

fn intermediates_len(text: &str) -> Option<usize> {
    let end = text.bytes().position(|byte| !(b' '..=b'/').contains(&byte))?;
    matches!(text.as_bytes()[end], b'0'..=b'~').then_some(end + 1)
}

fn control_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let parameters = bytes.iter().position(|byte| !(b'0'..=b'?').contains(byte))?;
    let intermediates =
        bytes[parameters..].iter().position(|byte| !(b' '..=b'/').contains(byte))?;
    let end = parameters + intermediates;
    matches!(bytes[end], b'@'..=b'~').then_some(end + 1)
}

fn string_len(text: &str, command: bool) -> Option<usize> {
    for (at, c) in text.char_indices() {
        match c {
            '\u{9C}' => return Some(at + c.len_utf8()),
            ESC => return text[at + 1..].starts_with('\\').then_some(at + 2),
            '\u{07}' if command => return Some(at + 1),
            '\n' | '\r' if command => return None,
            '\u{18}' | '\u{1A}' | '\u{80}'..='\u{9F}' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_sequences_have_a_length() {
        let complete = [
            "\x1b[31m",
            "\x1b[?25l",
            "\x1b[0 q",
            "\x1b[m",
            "\x1b]0;title\x07",
            "\x1b]8;;http://x\x1b\\",
            "\x1b]52;c;aGk=\u{9c}",
            "\x1bP1$r\n0m\x1b\\",
            "\x1bXsos\x1b\\",
            "\x1b^pm\x1b\\",
            "\x1b_apc\x1b\\",
            "\x1bc",
            "\x1b(B",
            "\x1b#8",
            "\x1b7",
            "\u{9b}1;2H",
            "\u{9d}0;t\u{9c}",
            "\u{90}q\u{9c}",
            "\u{9f}a\x1b\\",
        ];
        for sequence in complete {
            assert_eq!(
                sequence_len(&format!("{sequence}rest")),
                Some(sequence.len()),
                "{sequence:?}"
            );
        }
    }

    #[test]
    fn unfinished_and_single_controls_have_none() {
        let open = [
            "",
            "a",
            "\x1b",
            "\x1b\x1b",
            "\x1b[31",
            "\x1b[31\n",
            "\x1b]0;title",
            "\x1b]0;a\nb\x07",
            "\x1bPabc",
            "\x1b]0;\x1b[0m\x07",
            "\x1bé",
            "\x1b(",
            "\u{9b}",
            "\u{84}",
            "\u{9d}x\u{9d}y\u{9c}",
            "\x1b]x\x18\x07",
        ];
        for sequence in open {
            assert_eq!(sequence_len(sequence), None, "{sequence:?}");
        }
    }
}
