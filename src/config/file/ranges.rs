//! The range of every whole number in the config file. A value outside it is refused when it is read: further on,
//! times and sizes are added and multiplied without a second look.

use std::ops::RangeInclusive;

const DAY: u64 = 86_400;

/// What a setting may be, by its name; names mean the same in every table.
pub(super) fn setting_range(name: &str) -> RangeInclusive<u64> {
    match name {
        "connect_sec" => 1..=600,
        "model_call_limit_sec"
        | "first_byte_sec"
        | "idle_sec"
        | "total_sec"
        | "retry_after_max_sec"
        | "command_time_sec"
        | "timeout_sec"
        | "breaker_cooldown_sec" => 1..=DAY,
        "wall_time_sec" | "segment_max_sec" => 1..=7 * DAY,
        // A year.
        "run_wall_time_min" | "task_wall_time_min" => 1..=525_600,
        // A day; with 0 nothing is waited for.
        "outage_wait_min" => 0..=1_440,
        "retries" => 0..=10,
        "answer_mb" => 1..=64,
        "output_cap_mb" => 1..=65_536,
        "concurrency" | "token_budget_factor" => 1..=1_000,
        "result_char_limit" => 1..=100_000_000,
        "run_token_limit" | "task_token_limit" => 1..=1_000_000_000_000,
        "token_budget_buffer" | "max_output_tokens" | "context_window" => 1..=1_000_000_000,
        // Rounds, loops, attempts.
        _ => 1..=1_000_000,
    }
}
