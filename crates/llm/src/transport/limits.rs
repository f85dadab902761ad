//! How long an answer may take, how large it may be, and when it is asked for again. Pure: no clock, no sockets.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// Limits of one exchange. The whole call, retries included, ends at `total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExchangeLimits {
    pub connect: Duration,
    /// From sending the request to the first piece of the answer. A local model reads its prompt in this time; signs of
    /// life of a server that has accepted the request begin it anew.
    pub first_byte: Duration,
    /// Between two pieces that say something. Comments and pings of a server do not count.
    pub idle: Duration,
    pub total: Duration,
    /// Bytes of one answer, unpacked.
    pub answer_bytes: usize,
    /// Bytes of one line of a stream.
    pub line_bytes: usize,
}

impl Default for ExchangeLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
            answer_bytes: 16 << 20,
            line_bytes: 1 << 20,
        }
    }
}

/// When a failed attempt is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// Attempts after the first that end in silence; each one costs a whole limit.
    pub retries_after_silence: u32,
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// A provider that asks for more patience than this is not waited for; the person is asked.
    pub longest_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            retries_after_silence: 1,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(20),
            longest_retry_after: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before attempt `attempt + 1`, or `None` to give up. `jitter` is a fraction from 0 to 1.
    pub fn retry_delay(
        &self,
        attempt: u32,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Option<Duration> {
        if attempt > self.retries {
            return None;
        }
        let jitter = jitter.clamp(0.0, 1.0);
        if let Some(asked) = retry_after {
            // A little more than asked, so that many clients do not come back in one moment.
            return (asked <= self.longest_retry_after)
                .then(|| asked + self.first_wait.mul_f64(jitter));
        }
        let doubled = 2u32.saturating_pow(attempt.saturating_sub(1).min(16));
        let full = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
        // Half fixed, half random: never at once, never all together.
        Some(full.mul_f64(0.5 + jitter / 2.0))
    }
}

/// Reads a `Retry-After` header: seconds or a date. What makes no sense counts as absent.
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
        let full: Vec<u128> =
            (1..=8).map(|n| policy.retry_delay(n, None, 1.0).unwrap().as_millis()).collect();
        assert_eq!(full, [500, 1000, 2000, 4000, 8000, 16_000, 20_000, 20_000]);
        assert_eq!(policy.retry_delay(1, None, 0.0), Some(Duration::from_millis(250)));
        assert_eq!(policy.retry_delay(11, None, 0.5), None);
    }

    #[test]
    fn a_provider_is_obeyed_up_to_a_point_and_never_earlier_than_it_said() {
        let policy = RetryPolicy::default();
        let asked = Some(Duration::from_secs(7));
        assert_eq!(policy.retry_delay(1, asked, 0.0), asked);
        assert!(policy.retry_delay(1, asked, 1.0) > asked);
        assert_eq!(policy.retry_delay(1, Some(Duration::from_secs(61)), 0.0), None);
        assert_eq!(policy.retry_delay(1, Some(Duration::MAX), 0.5), None);
    }

    #[test]
    fn retry_after_reads_seconds_and_dates_and_ignores_nonsense() {
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
