//! Whether a run has reached one of its limits.

use std::time::Duration;

use jiff::Timestamp;

use planwright_model::{RunCap, RunCapSettings};
use planwright_state::SessionState;

/// The first limit that is reached, with what was used and what is allowed.
pub fn reached_cap(
    state: &SessionState,
    caps: &RunCapSettings,
    now: Timestamp,
) -> Option<(RunCap, u64, u64)> {
    // Offline nothing is paid for, so that only time can run out.
    let counts = |cap: RunCap| !state.run.offline || cap == RunCap::RunWallTimeMin;
    caps.configured_limits().filter(|(cap, _)| counts(*cap)).find_map(|(cap, limit)| {
        let limit = match state.run.raised.get(&cap) {
            Some(None) => return None,
            Some(Some(raised)) => *raised,
            None => limit,
        };
        let used = cap_usage(state, cap, now);
        (used >= limit).then_some((cap, used, limit))
    })
}

/// How long a run may still work before its limit of time is reached. `None` without one.
pub(super) fn wall_time_left(
    state: &SessionState,
    caps: &RunCapSettings,
    now: Timestamp,
) -> Option<Duration> {
    let (_, limit) = caps.configured_limits().find(|(cap, _)| *cap == RunCap::RunWallTimeMin)?;
    let limit = match state.run.raised.get(&RunCap::RunWallTimeMin) {
        Some(raised) => (*raised)?,
        None => limit,
    };
    let worked = state.run.worked_ms(now);
    Some(Duration::from_millis(limit.saturating_mul(60_000).saturating_sub(worked)))
}

pub(super) fn cap_usage(state: &SessionState, cap: RunCap, now: Timestamp) -> u64 {
    match cap {
        RunCap::RunTokenLimit => state.totals.tokens,
        RunCap::BudgetPerSessionUsd | RunCap::DailyBudgetUsd => state.totals.cost.0,
        RunCap::RunWallTimeMin => state.run.worked_ms(now) / 60_000,
    }
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
        let caps = RunCapSettings::default();
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(
            reached_cap(&state, &caps, now),
            Some((RunCap::RunTokenLimit, 2_000_000, 2_000_000))
        );
        state
            .run
            .raised
            .insert(RunCap::RunTokenLimit, Some(RunCap::RunTokenLimit.raised_limit(2_000_000)));
        assert_eq!(reached_cap(&state, &caps, now), None);
        state.totals.tokens = 2_200_000;
        assert_eq!(
            reached_cap(&state, &caps, now).map(|(cap, ..)| cap),
            Some(RunCap::RunTokenLimit)
        );
        state.run.raised.insert(RunCap::RunTokenLimit, None);
        assert_eq!(reached_cap(&state, &caps, now), None);
        state.totals.cost = MicroDollars(2_000_000);
        assert_eq!(
            reached_cap(&state, &caps, now).map(|(cap, ..)| cap),
            Some(RunCap::BudgetPerSessionUsd)
        );
    }

    #[test]
    fn offline_only_time_runs_out() {
        let mut state = SessionState::default();
        state.totals.tokens = 2_000_000;
        state.run.offline = true;
        let caps = RunCapSettings { wall_time_min: Some(0), ..RunCapSettings::default() };
        let found = reached_cap(&state, &caps, Timestamp::UNIX_EPOCH).map(|(cap, ..)| cap);
        assert_eq!(found, Some(RunCap::RunWallTimeMin));
        let caps = RunCapSettings::default();
        assert_eq!(reached_cap(&state, &caps, Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn time_counts_from_the_start_of_the_run() {
        let mut state = SessionState::default();
        let started = RunEvent::Started { hash: Digest::from_value(&1).unwrap(), jobs: 1 };
        state.apply(&Record::new(Seq(1), Timestamp::UNIX_EPOCH, started));
        let caps = RunCapSettings { wall_time_min: Some(30), ..RunCapSettings::default() };
        let after = |minutes: i64| Timestamp::from_second(minutes * 60).unwrap();
        assert_eq!(wall_time_left(&state, &caps, after(29)), Some(Duration::from_secs(60)));
        assert_eq!(wall_time_left(&state, &RunCapSettings::default(), after(29)), None);
        assert_eq!(reached_cap(&state, &caps, after(29)), None);
        assert_eq!(reached_cap(&state, &caps, after(30)), Some((RunCap::RunWallTimeMin, 30, 30)));
    }
}
