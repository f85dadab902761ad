//! How long an answer may take, how large it may be, and when it is retried. Pure: no clock, no sockets.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// Limits of one exchange. There is one limit on time: how long a server may be silent in between is not limited,
/// because models that think are silent for minutes. A connection that died is noticed by its keep-alives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExchangeLimits {
    pub connect: Duration,
    /// From sending a request to the end of its answer; the setting `model_call_limit_sec`. Waiting between two attempts
    /// is not part of it.
    pub call: Duration,
    /// Size of one answer in bytes, after decompression.
    pub answer_bytes: usize,
    /// Bytes of one line of a stream.
    pub line_bytes: usize,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            call: Duration::from_secs(600),
            answer_bytes: 16 << 20,
            line_bytes: 1 << 20,
        }
    }
}

/// When a failed attempt is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// How long a provider that is known to work is waited for, in more attempts; the setting `outage_wait_min`.
    pub outage_wait: Duration,
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// If a provider asks for a longer wait than this, the call fails and the user decides.
    pub longest_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            outage_wait: Duration::from_secs(30 * 60),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
            longest_retry_after: Duration::from_secs(900),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before attempt `attempt + 1`, or `None` to give up. `jitter` is a fraction from 0 to 1; `outage`
    /// is how long the provider has been failing, if it is one that is waited for.
    pub(crate) fn retry_delay(
        &self,
        attempt: u32,
        outage: Option<Duration>,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Option<Duration> {
        let waited_for = outage.is_some_and(|since| since < self.outage_wait);
        if attempt > self.retries && !waited_for {
            return None;
        }
        let jitter = jitter.clamp(0.0, 1.0);
        if let Some(requested) = retry_after {
            // Slightly more than requested, so that many clients do not return at the same moment.
            return (requested <= self.longest_retry_after)
                .then(|| requested + self.first_wait.mul_f64(jitter));
        }
        let doubled = 2u32.saturating_pow(attempt.saturating_sub(1).min(16));
        let full = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
        // Half fixed, half random: never immediately, never all at once.
        Some(full.mul_f64(0.5 + jitter / 2.0))
    }
}

/// Parses a `Retry-After` header: seconds or a date. An invalid value is treated as absent.
pub fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return (seconds.is_finite() && seconds >= 0.0)
            .then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(date.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_with_jitter_up_to_the_longest_and_end() {
        let policy = RetryPolicy { retries: 10, ..RetryPolicy::default() };
        let delay = |n, jitter| policy.retry_delay(n, None, None, jitter);
        let full: Vec<u128> = (1..=9).map(|n| delay(n, 1.0).unwrap().as_millis()).collect();
        assert_eq!(full, [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!(delay(1, 0.0), Some(Duration::from_millis(250)));
        assert_eq!(delay(11, 0.5), None);
    }

    #[test]
    fn an_outage_is_waited_for_until_its_time_is_over() {
        let policy = RetryPolicy::default();
        let minutes = |minutes: u64| Some(Duration::from_secs(minutes * 60));
        assert_eq!(policy.retry_delay(50, minutes(29), None, 1.0), minutes(1));
        assert_eq!(policy.retry_delay(50, minutes(30), None, 1.0), None);
        assert_eq!(policy.retry_delay(50, None, None, 1.0), None, "it is not waited for");
        let none = RetryPolicy { outage_wait: Duration::ZERO, retries: 0, ..policy };
        assert_eq!(none.retry_delay(1, Some(Duration::ZERO), None, 1.0), None);
    }

    #[test]
    fn retry_after_is_respected_up_to_a_limit_and_never_shortened() {
        let policy = RetryPolicy::default();
        let requested = Some(Duration::from_secs(7));
        assert_eq!(policy.retry_delay(1, None, requested, 0.0), requested);
        assert!(policy.retry_delay(1, None, requested, 1.0) > requested);
        assert_eq!(policy.retry_delay(1, None, Some(Duration::from_secs(901)), 0.0), None);
        assert_eq!(policy.retry_delay(1, None, Some(Duration::MAX), 0.5), None);
    }

    #[test]
    fn retry_after_parses_seconds_and_dates_and_ignores_invalid_values() {
        let now: Timestamp = "2026-06-05T07:28:00Z".parse().unwrap();
        let read = |text| parse_retry_after(text, now);
        assert_eq!(read("7"), Some(Duration::from_secs(7)));
        assert_eq!(read(" 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(read("Fri, 05 Jun 2026 07:28:30 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(read("Fri, 05 Jun 2026 07:00:00 GMT"), Some(Duration::ZERO), "in the past");
        assert_eq!(read("1e300"), Some(Duration::MAX));
        for nonsense in ["", "-1", "NaN", "inf", "soon", "Fri, 99 Jun 2026 07:00:00 GMT"] {
            assert_eq!(read(nonsense), None, "{nonsense}");
        }
    }
}
