//! Dates and numbers as other languages write them. They are read whatever the language of the goal is.

use std::ops::Range;

/// Months in German, French, Spanish, Italian, Portuguese and Dutch that English does not spell alike, from January.
const MONTHS: [&[&str]; 12] = [
    &["januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["februar", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"],
    &["märz", "maerz", "mars", "marzo", "março", "maart"],
    &["avril", "abril", "aprile"],
    &["mai", "mayo", "maggio", "maio", "mei"],
    &["juni", "juin", "junio", "giugno", "junho"],
    &["juli", "juillet", "julio", "luglio", "julho"],
    &["août", "aout", "agosto", "augustus"],
    &["septembre", "septiembre", "settembre", "setembro"],
    &["oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["novembre", "noviembre", "novembro"],
    &["dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];

/// Words between a day and its month.
pub(super) const DAY_LINKS: [&str; 5] = ["of", "de", "di", "van", "do"];

/// Words of other languages that mean "by".
pub(super) const UNTIL: [&str; 8] =
    ["bis", "hasta", "jusqu'au", "jusqu'à", "entro", "até", "tot", "spätestens"];

/// Finds a month by its name in another language.
pub(super) fn find_foreign_month(text: &str) -> Option<i8> {
    let place = MONTHS.iter().position(|names| names.contains(&text))?;
    i8::try_from(place + 1).ok()
}

/// Returns a word with its leading number written plainly: "60,000-word" is "60000-word", and "1.500" is "1500".
pub(super) fn plain_number(text: &str) -> String {
    let end = text
        .find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, ',' | '.' | '\'')))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    for mark in [',', '.', '\''] {
        let mut groups = number.split(mark);
        let first = groups.next().unwrap_or_default();
        let mut count = 0;
        let whole = groups.all(|group| {
            count += 1;
            group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit())
        });
        let led = (1..=3).contains(&first.len())
            && !first.starts_with('0')
            && first.bytes().all(|byte| byte.is_ascii_digit());
        if count > 0 && whole && led {
            return format!("{}{rest}", number.replace(mark, ""));
        }
    }
    text.to_owned()
}

/// Cuts "6月12日" out of a word of a script without spaces; nothing if there is no such date, or nothing beside it.
pub(super) fn cut_written_date(text: &str) -> Option<Vec<Range<usize>>> {
    let month = text.find('月')?;
    let day = text[month..].find('日')? + month;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(&text[month + '月'.len_utf8()..day]) {
        return None;
    }
    let led = |until: usize| text[..until].bytes().rev().take_while(u8::is_ascii_digit).count();
    let mut start = month - led(month);
    if start == month {
        return None;
    }
    if let Some(before) = text[..start].strip_suffix('年') {
        start = before.len() - led(before.len());
    }
    let end = day + '日'.len_utf8();
    let parts = [0..start, start..end, end..text.len()];
    let parts: Vec<Range<usize>> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (parts.len() > 1).then_some(parts)
}

/// Parses "6月12日" and "2027年6月12日" as year, month and day.
pub(super) fn parse_written_date(text: &str) -> Option<(Option<i32>, i8, i32)> {
    let (year, rest) = match text.split_once('年') {
        Some((year, rest)) => (Some(year.parse().ok()?), rest),
        None => (None, text),
    };
    let (month, day) = rest.strip_suffix('日')?.split_once('月')?;
    Some((year, month.parse().ok()?, day.parse().ok()?))
}
