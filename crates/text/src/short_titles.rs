//! Short forms of titles that stay apart: two titles that differ never get the same short form.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::width::{display_width, truncate_end, truncate_middle};

/// Shortens titles to at most `cols` cells each. The first way of shortening under which a title looks like no other
/// is used: fewer words, its start, its ends, its end; a number where even that is not enough.
///
/// Equal titles may get equal forms. The result depends on the titles and the width alone.
pub fn shorten_titles<'a>(titles: &[&'a str], cols: usize) -> Vec<Cow<'a, str>> {
    let mut found: Vec<Option<Cow<'a, str>>> = titles
        .iter()
        .map(|title| (display_width(title) <= cols).then_some(Cow::Borrowed(*title)))
        .collect();
    let mut taken: HashSet<String> = found.iter().flatten().map(ToString::to_string).collect();
    for shorten in [drop_words, cut_end, cut_middle, cut_start] {
        let open: Vec<usize> = (0..titles.len()).filter(|at| found[*at].is_none()).collect();
        let mut groups: HashMap<String, HashSet<&str>> = HashMap::new();
        for at in &open {
            groups.entry(shorten(titles[*at], cols)).or_default().insert(titles[*at]);
        }
        let kept: HashSet<String> = groups
            .into_iter()
            .filter(|(short, of)| of.len() == 1 && !taken.contains(short))
            .map(|(short, _)| short)
            .collect();
        for at in open {
            let short = shorten(titles[at], cols);
            if kept.contains(&short) {
                found[at] = Some(Cow::Owned(short));
            }
        }
        taken.extend(kept);
    }
    number_the_rest(titles, found, taken, cols)
}

/// Gives a number to titles that look alike however they are cut.
fn number_the_rest<'a>(
    titles: &[&'a str],
    found: Vec<Option<Cow<'a, str>>>,
    mut taken: HashSet<String>,
    cols: usize,
) -> Vec<Cow<'a, str>> {
    let mut numbered: HashMap<&str, String> = HashMap::new();
    let mut short_form = |title: &'a str| {
        let known = numbered.entry(title).or_insert_with(|| {
            let mut number = 1_usize;
            loop {
                let mark = format!(" {number}");
                let start = truncate_end(title, cols.saturating_sub(mark.len()).max(1));
                let short = format!("{start}{mark}");
                if taken.insert(short.clone()) {
                    return short;
                }
                number += 1;
            }
        });
        Cow::Owned(known.clone())
    };
    titles
        .iter()
        .zip(found)
        .map(|(title, found)| found.unwrap_or_else(|| short_form(title)))
        .collect()
}

/// Words after which a part of a sentence begins that can be left out as a whole.
const PREPOSITIONS: [&str; 16] = [
    "about", "after", "at", "before", "by", "during", "for", "from", "in", "into", "of", "on",
    "over", "to", "until", "with",
];

/// Up to so many words may do without those in the middle.
const MOST_WORDS: usize = 4;

/// Leaves words out until the rest fits, two words at least: first the articles, then what follows the last
/// preposition with it ("at the bank", "with Ben": what is left says less, but nothing else), then words from the one
/// before the last on. A long sentence would say something else without its middle: it is cut at its end.
fn drop_words(title: &str, cols: usize) -> String {
    let mut words: Vec<&str> = title.split_whitespace().collect();
    while display_width(&words.join(" ")) > cols && words.len() > 2 {
        let last = words.len() - 1;
        if let Some(at) = (1..last).rev().find(|at| is_article(words[*at])) {
            words.remove(at);
        } else if let Some(at) = (2..last).rev().find(|at| PREPOSITIONS.contains(&words[*at])) {
            words.truncate(at);
        } else if words.len() > MOST_WORDS || is_needed(&words, last - 1) {
            break;
        } else {
            words.remove(last - 1);
        }
    }
    truncate_end(&words.join(" "), cols).into_owned()
}

/// Whether the words say something else without the one at a place: a number, a preposition, the word after one.
fn is_needed(words: &[&str], at: usize) -> bool {
    words[at].chars().any(|letter| letter.is_ascii_digit())
        || PREPOSITIONS.contains(&words[at])
        || PREPOSITIONS.contains(&words[at - 1])
}

fn is_article(word: &str) -> bool {
    matches!(word, "the" | "a" | "an" | "The" | "A" | "An")
}

fn cut_end(title: &str, cols: usize) -> String {
    truncate_end(title, cols).into_owned()
}

fn cut_middle(title: &str, cols: usize) -> String {
    truncate_middle(title, cols).into_owned()
}

/// Keeps as much of the end as fits.
fn cut_start(title: &str, cols: usize) -> String {
    let tail = title
        .char_indices()
        .map(|(at, _)| &title[at..])
        .find(|tail| display_width(tail) < cols.max(2))
        .unwrap_or_default();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(titles: &[&str], cols: usize) -> Vec<String> {
        shorten_titles(titles, cols).into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn words_go_before_letters() {
        let titles =
            ["Write the migration guide", "Minimize the crash cases", "Freeze the public API"];
        assert_eq!(short(&titles, 16), ["Write guide", "Minimize cases", "Freeze API"]);
        assert_eq!(
            short(&titles, 21),
            ["Write migration guide", "Minimize crash cases", "Freeze the public API"]
        );
        assert_eq!(short(&["Unbelievably long"], 8), ["Unbelie…"]);
        let places = ["Choose paint at OBI with Ben", "Sign the contract at the bank"];
        assert_eq!(short(&places, 20), ["Choose paint at OBI", "Sign contract"]);
        assert_eq!(short(&["Fuzz for 2 minutes"], 16), ["Fuzz for 2 minu…"]);
        let sentence = ["Write down who reads it and what they get"];
        assert_eq!(short(&sentence, 36), ["Write down who reads it and what th…"]);
    }

    #[test]
    fn titles_that_differ_in_one_word_stay_apart() {
        let titles = ["Build for linux x64", "Build for macos x64", "Build for windows x64"];
        let found = short(&titles, 12);
        let all: HashSet<&String> = found.iter().collect();
        assert_eq!(all.len(), 3, "{found:?}");
        assert!(found.iter().all(|title| display_width(title) <= 12), "{found:?}");
    }

    #[test]
    fn any_titles_stay_apart() {
        let titles: Vec<String> = (0..300)
            .map(|n| format!("{:03} the same words in the middle of all {:03}", n / 10, n % 10))
            .collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        for cols in [8, 12, 20] {
            let found = short(&titles, cols);
            let all: HashSet<&String> = found.iter().collect();
            assert_eq!(all.len(), titles.len(), "{cols}");
            assert!(found.iter().all(|title| display_width(title) <= cols));
        }
    }
}
