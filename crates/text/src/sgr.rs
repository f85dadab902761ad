//! Colors that programs print, as far as a screen keeps them: the eight basic ones, bold and dim. Every other escape
//! sequence is dropped, and the text is clean.

use super::clean::clean_line;
use super::escape::sequence_len;

/// The color of a piece of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutputColor {
    #[default]
    Plain,
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// Splits one line of output into clean pieces of one color each. What a carriage return wrote over is left out.
pub fn split_colors(line: &str) -> Vec<(OutputColor, String)> {
    let line = line.trim_end_matches(['\r', '\n']);
    let mut rest = line.rsplit('\r').find(|part| !part.is_empty()).unwrap_or(line);
    let mut color = OutputColor::Plain;
    let mut pieces: Vec<(OutputColor, String)> = Vec::new();
    let mut push = |color: OutputColor, text: &str| {
        let clean = clean_line(text);
        match pieces.last_mut() {
            _ if clean.is_empty() => {}
            Some((last, text)) if *last == color => text.push_str(&clean),
            _ => pieces.push((color, clean.into_owned())),
        }
    };
    while let Some(at) = rest.find(['\u{1B}', '\u{9B}']) {
        push(color, &rest[..at]);
        let sequence = &rest[at..];
        let Some(length) = sequence_len(sequence) else {
            // A stray control stands for itself; the next call cleans it away.
            let first = sequence.chars().next().map_or(1, char::len_utf8);
            push(color, &sequence[..first]);
            rest = &sequence[first..];
            continue;
        };
        let inner = sequence[..length].trim_start_matches(['\u{1B}', '\u{9B}', '[']);
        if let Some(codes) = inner.strip_suffix('m') {
            color = color_after(color, codes);
        }
        rest = &sequence[length..];
    }
    push(color, rest);
    pieces
}

/// The color after a sequence that selects one.
fn color_after(before: OutputColor, codes: &str) -> OutputColor {
    let mut color = before;
    let mut numbers = codes.split([';', ':']).map(|code| code.parse::<u32>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        color = match number {
            0 | 39 => OutputColor::Plain,
            1 if color == OutputColor::Plain => OutputColor::Bold,
            2 if color == OutputColor::Plain => OutputColor::Dim,
            22 if matches!(color, OutputColor::Bold | OutputColor::Dim) => OutputColor::Plain,
            30..=37 | 90..=97 => basic_color(number % 10),
            // A color by number or by its parts; the first sixteen are the basic ones.
            38 | 48 => match (numbers.next(), numbers.next()) {
                (Some(5), Some(index @ 0..=15)) if number == 38 => basic_color(index % 8),
                (Some(2), Some(_)) => {
                    numbers.by_ref().take(2).for_each(drop);
                    color
                }
                _ => color,
            },
            _ => color,
        };
    }
    color
}

fn basic_color(index: u32) -> OutputColor {
    match index {
        1 => OutputColor::Red,
        2 => OutputColor::Green,
        3 => OutputColor::Yellow,
        4 => OutputColor::Blue,
        5 => OutputColor::Magenta,
        6 => OutputColor::Cyan,
        // Black and white are the terminal's own text.
        _ => OutputColor::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(line: &str) -> Vec<(OutputColor, String)> {
        split_colors(line)
    }

    #[test]
    fn basic_colors_are_kept_and_the_rest_is_dropped() {
        let line = "\x1b[0m\x1b[1m\x1b[31merror\x1b[0m: \x1b]0;title\x07no \x1b[38;5;2mgreen\x1b[m\x1b[2J.";
        assert_eq!(
            pieces(line),
            [
                (OutputColor::Red, "error".to_owned()),
                (OutputColor::Plain, ": no ".to_owned()),
                (OutputColor::Green, "green".to_owned()),
                (OutputColor::Plain, ".".to_owned()),
            ]
        );
        assert_eq!(pieces("\x1b[38;2;1;2;3mrgb"), [(OutputColor::Plain, "rgb".to_owned())]);
        assert_eq!(
            pieces("\x1b[1mbold\x1b[22m not"),
            [(OutputColor::Bold, "bold".to_owned()), (OutputColor::Plain, " not".to_owned())]
        );
    }

    #[test]
    fn only_what_was_left_of_a_progress_line_is_shown() {
        assert_eq!(pieces("10 %\r100 %\r\n"), [(OutputColor::Plain, "100 %".to_owned())]);
        assert_eq!(pieces("\r\n"), []);
    }

    #[test]
    fn nothing_that_acts_gets_through() {
        for line in
            ["\x1b[31", "\x1b", "a\u{9b}31mb", "\x1b[999999999999m", "\x1b[;;;m", "日\x1b[35m本"]
        {
            for (_, text) in pieces(line) {
                assert!(!text.chars().any(char::is_control), "{line:?}: {text:?}");
            }
        }
    }
}
