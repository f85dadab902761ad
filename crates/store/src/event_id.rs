//! One number for an event of any session: the session's key, shifted to make room for the event's own number.
//!
//! Live rows and the full-text index use it as their key, so that all events of a session are contiguous.

use super::session_table::{to_signed, to_unsigned};
use planwright_model::Seq;

/// How far the key is shifted. The migrations use the same number.
const KEY_SHIFT: u32 = 36;

/// The last event a session can have: more would overlap with the numbers of the next session.
pub(super) const LAST: Seq = Seq((1 << KEY_SHIFT) - 1);

pub(super) fn compose_id(key: i64, seq: Seq) -> i64 {
    (key << KEY_SHIFT) + to_signed(seq.min(LAST).0)
}

/// The smallest and the largest number an event of a session can have.
pub(super) fn id_range(key: i64) -> (i64, i64) {
    (compose_id(key, Seq::START), compose_id(key, LAST))
}

pub(super) fn session_key(id: i64) -> i64 {
    id >> KEY_SHIFT
}

pub(super) fn event_seq(id: i64) -> Seq {
    Seq(to_unsigned(id) & LAST.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_contiguous_and_never_overlap() {
        for (name, number) in [(1, 1), (1, LAST.0), (7, 12), ((1 << 27) - 1, LAST.0)] {
            let id = compose_id(name, Seq(number));
            assert_eq!((session_key(id), event_seq(id)), (name, Seq(number)));
        }
        assert_eq!(id_range(3).1 + 1, id_range(4).0);
        assert_eq!(
            compose_id(3, Seq(u64::MAX)),
            id_range(3).1,
            "a hostile number stays within its session"
        );
    }
}
