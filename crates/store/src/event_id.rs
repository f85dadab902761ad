//! One number for an event of any session: the session's key, moved to make room for the event's own number.
//!
//! Live rows and the full-text index go by it, so that all events of a session lie behind each other.

use super::sessions::{signed, unsigned};
use planwright_model::Seq;

/// How far the key is moved. The migrations say the same.
const KEY_SHIFT: u32 = 36;

/// The last event that a session can have: more would run into the numbers of the next session.
pub(super) const LAST: Seq = Seq((1 << KEY_SHIFT) - 1);

pub(super) fn of(key: i64, seq: Seq) -> i64 {
    (key << KEY_SHIFT) + signed(seq.min(LAST).0)
}

/// The smallest and the largest number that an event of a session can have.
pub(super) fn all(key: i64) -> (i64, i64) {
    (of(key, Seq::START), of(key, LAST))
}

pub(super) fn key(id: i64) -> i64 {
    id >> KEY_SHIFT
}

pub(super) fn seq(id: i64) -> Seq {
    Seq(unsigned(id) & LAST.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_lie_behind_each_other_and_never_overlap() {
        for (name, number) in [(1, 1), (1, LAST.0), (7, 12), ((1 << 27) - 1, LAST.0)] {
            let id = of(name, Seq(number));
            assert_eq!((key(id), seq(id)), (name, Seq(number)));
        }
        assert_eq!(all(3).1 + 1, all(4).0);
        assert_eq!(of(3, Seq(u64::MAX)), all(3).1, "a hostile number stays within its session");
    }
}
