//! Keys that are drawn: what key stands at a cell of a frame, or in front of the words at it. Whatever shows a key can be
//! clicked, and no pane has to keep the places of its words.

use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Style;

use crate::keymap::KeyChord;

/// A run of characters between gaps of two spaces.
struct RowEntry {
    start: usize,
    text: Vec<char>,
}

/// The key that is drawn at a cell, or in front of the words at it.
pub(crate) fn key_at(frame: &Buffer, at: Position, styles: &[Style]) -> Option<KeyChord> {
    let entries = row_entries(frame, at.y);
    let column = usize::from(at.x - frame.area.x);
    let index = entries
        .iter()
        .position(|entry| (entry.start..entry.start + entry.text.len()).contains(&column))?;
    let is_key_style = |start: usize| {
        let cell = &frame[(frame.area.x + start as u16, at.y)];
        styles.iter().any(|style| {
            style.fg.is_none_or(|fg| fg == cell.fg) && cell.modifier == style.add_modifier
        })
    };
    let keys = |entry: &RowEntry| {
        let found = leading_keys(entry);
        let first = found.first().map(|(start, _)| *start);
        first.filter(|start| is_key_style(*start)).map(|_| found)
    };
    let found = if let Some(found) = keys(&entries[index]) {
        found
    } else {
        // A label beside its key, a column apart.
        let before = entries.get(index.checked_sub(1)?)?;
        let near = entries[index].start - (before.start + before.text.len()) <= 6;
        let found = keys(before).filter(|_| near)?;
        let alone = found.len() == words(before).count();
        Some(found).filter(|_| alone)?
    };
    let under = found.iter().rev().find(|(start, _)| *start <= column);
    let single = found
        .iter()
        .any(|(start, key)| (*start..*start + key.to_string().chars().count()).contains(&column));
    let chosen = if single { under } else { found.first() };
    chosen.map(|(_, key)| *key)
}

fn words(entry: &RowEntry) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut at = entry.start;
    entry.text.split(|letter| *letter == ' ').map(move |word| {
        let start = at;
        at += word.len() + 1;
        (start, word.iter().collect())
    })
}

/// The keys that an entry begins with, before the first word that is not one, and where they stand.
fn leading_keys(entry: &RowEntry) -> Vec<(usize, KeyChord)> {
    let keys = words(entry).map_while(|(start, word)| Some((start, KeyChord::parse(&word)?)));
    keys.collect()
}

/// What stands in a row, apart by two spaces or by the lines of a frame.
fn row_entries(frame: &Buffer, y: u16) -> Vec<RowEntry> {
    let letters: Vec<char> = (frame.area.x..frame.area.right())
        .map(|x| frame[(x, y)].symbol().chars().next().unwrap_or(' '))
        .map(|letter| if ('\u{2500}'..='\u{257f}').contains(&letter) { ' ' } else { letter })
        .collect();
    let mut entries: Vec<RowEntry> = Vec::new();
    let mut blanks = 2;
    for (index, letter) in letters.into_iter().enumerate() {
        if letter == ' ' {
            blanks += 1;
            continue;
        }
        match entries.last_mut().filter(|_| blanks < 2) {
            Some(entry) => {
                entry.text.extend(std::iter::repeat_n(' ', blanks));
                entry.text.push(letter);
            }
            None => entries.push(RowEntry { start: index, text: vec![letter] }),
        }
        blanks = 0;
    }
    entries
}
