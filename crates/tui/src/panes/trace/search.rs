//! Searching the trace step by step, so that a hundred thousand steps never hold up a key.

use planwright_model::Seq;

/// Hits beyond this are not marked on the bar.
const MOST_HITS: usize = 2_000;

/// What is looked for, and how far the search has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TraceSearch {
    query: String,
    scan: Option<SearchScan>,
    /// Steps that have the words, and the next one to look at for them.
    hits: Vec<Seq>,
    counted: usize,
}

/// A search on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SearchScan {
    /// The next step to look at.
    at: usize,
    forward: bool,
    /// How many steps have not been looked at.
    left: usize,
}

impl TraceSearch {
    pub(crate) fn new(query: &str) -> Self {
        Self { query: query.to_lowercase(), scan: None, hits: Vec::new(), counted: 0 }
    }

    pub(crate) fn query(&self) -> &str {
        &self.query
    }

    /// Starts to look after or before a step, around the ends and back to it.
    pub(crate) fn start(&mut self, from: usize, forward: bool, total: usize) {
        self.scan = (total > 0).then(|| {
            let at = wrapping_step(from, forward, total);
            SearchScan { at, forward, left: total }
        });
    }

    /// The steps that are known to have the words.
    pub(crate) fn hits(&self) -> &[Seq] {
        &self.hits
    }

    /// The next step to be counted; `None` once all were, or enough of them.
    pub(crate) fn next_uncounted(&mut self, total: usize) -> Option<usize> {
        let more = self.counted < total && self.hits.len() < MOST_HITS;
        more.then(|| {
            self.counted += 1;
            self.counted - 1
        })
    }

    pub(crate) fn is_counting(&self, total: usize) -> bool {
        self.counted < total && self.hits.len() < MOST_HITS
    }

    pub(crate) fn record_hit(&mut self, seq: Seq) {
        self.hits.push(seq);
    }

    pub(crate) fn is_running(&self) -> bool {
        self.scan.is_some()
    }

    pub(crate) fn stop(&mut self) {
        self.scan = None;
    }

    /// The next step to look at; `None` once all were.
    pub(crate) fn next_step(&mut self, total: usize) -> Option<usize> {
        let scan = self.scan.as_mut()?;
        if scan.left == 0 || total == 0 {
            self.scan = None;
            return None;
        }
        let at = scan.at.min(total - 1);
        scan.at = wrapping_step(at, scan.forward, total);
        scan.left -= 1;
        Some(at)
    }
}

fn wrapping_step(from: usize, forward: bool, total: usize) -> usize {
    if forward { (from + 1) % total } else { from.checked_sub(1).unwrap_or(total - 1) }
}

/// Where a text first has the words, whatever their case. `query` is in lower case.
pub(crate) fn find_match(text: &str, query: &str) -> Option<(usize, usize)> {
    if query.is_empty() {
        return None;
    }
    let mut starts = text.char_indices().map(|(at, _)| at);
    starts.find_map(|from| match_length(&text[from..], query).map(|length| (from, from + length)))
}

/// How many bytes at the start of a text are the words.
fn match_length(text: &str, query: &str) -> Option<usize> {
    let mut wanted = query.chars();
    let mut next = wanted.next();
    for (at, letter) in text.char_indices() {
        for lower in letter.to_lowercase() {
            match next {
                None => return Some(at),
                Some(expected) if expected == lower => next = wanted.next(),
                Some(_) => return None,
            }
        }
    }
    next.is_none().then_some(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_found_whatever_their_case() {
        assert_eq!(find_match("The ParseError", "parse"), Some((4, 9)));
        assert_eq!(find_match("Straße", "ß"), Some((4, 6)));
        assert_eq!(find_match("abc", "d"), None);
        assert_eq!(find_match("abc", ""), None);
    }

    #[test]
    fn a_search_goes_around_and_ends_where_it_began() {
        let mut search = TraceSearch::new("x");
        search.start(1, true, 4);
        let seen: Vec<usize> = std::iter::from_fn(|| search.next_step(4)).collect();
        assert_eq!(seen, [2, 3, 0, 1]);
        search.start(1, false, 4);
        let seen: Vec<usize> = std::iter::from_fn(|| search.next_step(4)).collect();
        assert_eq!(seen, [0, 3, 2, 1]);
        assert!(!search.is_running());
    }

    proptest! {
        #[test]
        fn what_is_found_are_whole_characters(text in ".{0,60}", query in ".{1,3}") {
            if let Some((from, to)) = find_match(&text, &query.to_lowercase()) {
                prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to) && from < to);
            }
        }
    }
}
