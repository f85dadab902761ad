//! Whether a run has reached one of its limits.

use jiff::Timestamp;

use planwright_model::{Cap, Caps};
use planwright_state::SessionState;

/// The first limit that is reached, with what was used and what is allowed.
pub fn reached(state: &SessionState, caps: &Caps, now: Timestamp) -> Option<(Cap, u64, u64)> {
    // Offline nothing is paid for, so that only time can run out.
    let counts = |cap: Cap| !state.run.offline || cap == Cap::RunWallTimeMin;
    caps.limits().filter(|(cap, _)| counts(*cap)).find_map(|(cap, limit)| {
        let limit = match state.run.raised.get(&cap) {
            Some(None) => return None,
            Some(Some(raised)) => *raised,
            None => limit,
        };
        let used = used(state, cap, now);
        (used >= limit).then_some((cap, used, limit))
    })
}

pub(super) fn used(state: &SessionState, cap: Cap, now: Timestamp) -> u64 {
    match cap {
        Cap::RunTokenLimit => state.totals.tokens,
        Cap::BudgetPerSessionUsd | Cap::DailyBudgetUsd => state.totals.cost.0,
        Cap::RunWallTimeMin => state.run.worked_ms(now) / 60_000,
    }
}

/// How far *raise once* goes: a tenth of what was used, at least one unit that people notice.
pub fn raised_once(cap: Cap, used: u64) -> u64 {
    let least = match cap {
        Cap::RunWallTimeMin => 10,
        Cap::RunTokenLimit => 10_000,
        Cap::BudgetPerSessionUsd | Cap::DailyBudgetUsd => 100_000,
    };
    used.saturating_add((used / 10).max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_model::event::{Record, RunEvent};
    use planwright_model::{Digest, MicroDollars, Seq};

    #[test]
    fn a_limit_holds_until_it_is_raised_or_lifted() {
        let mut state = SessionState::default();
        state.totals.tokens = 2_000_000;
        let caps = Caps::default();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(reached(&state, &caps, now), Some((Cap::RunTokenLimit, 2_000_000, 2_000_000)));
        state
            .run
            .raised
            .insert(Cap::RunTokenLimit, Some(raised_once(Cap::RunTokenLimit, 2_000_000)));
        assert_eq!(reached(&state, &caps, now), None);
        state.totals.tokens = 2_200_000;
        assert_eq!(reached(&state, &caps, now).map(|(cap, ..)| cap), Some(Cap::RunTokenLimit));
        state.run.raised.insert(Cap::RunTokenLimit, None);
        assert_eq!(reached(&state, &caps, now), None);
        state.totals.cost = MicroDollars(2_000_000);
        assert_eq!(
            reached(&state, &caps, now).map(|(cap, ..)| cap),
            Some(Cap::BudgetPerSessionUsd)
        );
    }

    #[test]
    fn offline_only_time_runs_out() {
        let mut state = SessionState::default();
        state.totals.tokens = 2_000_000;
        state.run.offline = true;
        let caps = Caps { wall_time_min: Some(0), ..Caps::default() };
        let found = reached(&state, &caps, Timestamp::UNIX_EPOCH).map(|(cap, ..)| cap);
        assert_eq!(found, Some(Cap::RunWallTimeMin));
        let caps = Caps::default();
        assert_eq!(reached(&state, &caps, Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn time_counts_from_the_start_of_the_run() {
        let mut state = SessionState::default();
        let started = RunEvent::Started { hash: Digest::of(&1).unwrap(), jobs: 1 };
        state.apply(&Record::new(Seq(1), Timestamp::UNIX_EPOCH, started));
        let caps = Caps { wall_time_min: Some(30), ..Caps::default() };
        let after = |minutes: i64| Timestamp::from_second(minutes * 60).unwrap();
        assert_eq!(reached(&state, &caps, after(29)), None);
        assert_eq!(reached(&state, &caps, after(30)), Some((Cap::RunWallTimeMin, 30, 30)));
    }
}
