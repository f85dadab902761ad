//! How many tasks may run at once when that is left to Planwright.

use serde::{Deserialize, Serialize};

/// The least number of tasks at once. The most is the number of processors.
const AUTO_MIN: u32 = 1;

/// What speaks for more or fewer tasks at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobPressure {
    /// Processes that want to run, per core.
    pub load_per_core: f64,
    /// How many tools have an open breaker.
    pub open_breakers: u32,
    /// How many calls were refused by a rate limit since the last look.
    pub rate_limited: u32,
    /// Tasks that are ready and wait for a permit.
    pub waiting: u32,
}

/// The next number, with the reason for a change. One step at a time upwards, so that it does not swing; halved when
/// somebody says "too much". `most` is the number of processors.
pub fn next_jobs(now: u32, most: u32, pressure: JobPressure) -> Option<(u32, String)> {
    let (next, why) = if pressure.rate_limited > 0 {
        (now / 2, format!("{} calls were refused by a rate limit", pressure.rate_limited))
    } else if pressure.open_breakers > 0 {
        (now.saturating_sub(1), format!("{} breakers are open", pressure.open_breakers))
    } else if pressure.load_per_core > 1.5 {
        (now.saturating_sub(1), format!("load is {:.1} per core", pressure.load_per_core))
    } else if pressure.waiting > 0 && pressure.load_per_core < 0.9 {
        (
            now + 1,
            format!(
                "{} tasks wait and load is {:.1} per core",
                pressure.waiting, pressure.load_per_core
            ),
        )
    } else {
        return None;
    };
    let next = next.clamp(AUTO_MIN, most.max(AUTO_MIN));
    (next != now).then_some((next, why))
}

/// The load of this machine per core, where the system tells; elsewhere nothing is slowed down for it.
pub(crate) fn load_per_core() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").ok().and_then(|text| {
        text.split_whitespace().next().and_then(|first| first.parse::<f64>().ok())
    });
    load.unwrap_or(0.0) / f64::from(processor_count())
}

/// How many processors this process may use.
pub(crate) fn processor_count() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MOST: u32 = 8;

    fn next(now: u32, pressure: JobPressure) -> Option<u32> {
        next_jobs(now, MOST, pressure).map(|(next, _)| next)
    }

    #[test]
    fn waiting_tasks_on_an_idle_machine_get_one_more_permit() {
        let pressure = JobPressure { waiting: 4, load_per_core: 0.2, ..JobPressure::default() };
        assert_eq!(next(3, pressure), Some(4));
        assert_eq!(next(MOST, pressure), None);
        assert_eq!(next(3, JobPressure { waiting: 0, ..pressure }), None);
    }

    #[test]
    fn load_breakers_and_rate_limits_take_permits_away() {
        assert_eq!(
            next(4, JobPressure { load_per_core: 2.0, waiting: 9, ..JobPressure::default() }),
            Some(3)
        );
        assert_eq!(
            next(4, JobPressure { open_breakers: 1, waiting: 9, ..JobPressure::default() }),
            Some(3)
        );
        assert_eq!(
            next(8, JobPressure { rate_limited: 2, waiting: 9, ..JobPressure::default() }),
            Some(4)
        );
        assert_eq!(next(1, JobPressure { rate_limited: 2, ..JobPressure::default() }), None);
    }

    proptest! {
        #[test]
        fn the_number_stays_within_its_bounds(now in 1..9u32, load in 0.0..9.0f64, open in 0..4u32, limited in 0..4u32, waiting in 0..9u32) {
            let pressure = JobPressure { load_per_core: load, open_breakers: open, rate_limited: limited, waiting };
            if let Some((next, why)) = next_jobs(now, MOST, pressure) {
                prop_assert!((AUTO_MIN..=MOST).contains(&next) && next != now && !why.is_empty());
            }
        }
    }
}
