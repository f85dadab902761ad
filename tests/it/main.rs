//! Integration tests: the engine on a real store, and the whole program.

#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a test binary has no outside, and its panics are its findings"
)]

mod agents;
mod background;
mod bad_plans;
mod calls_in_doubt;
mod command_permission;
mod conversation;
mod conversation_dials;
mod crash;
mod daily_use;
mod desk;
mod detaching;
mod diagnostics;
mod empty_sessions;
mod engine;
mod exchange;
mod executors;
mod export_consumers;
mod failed_runs;
mod faults;
mod field_differences;
mod fixtures;
mod fuzz;
mod goals_table;
mod home;
mod hostile_files;
mod hostile_servers;
mod kept_formats;
mod large_output;
mod left_answers;
mod live_planning;
mod live_spans;
mod models;
mod names;
mod notices;
mod offline_plans;
mod opening;
mod output_spools;
mod own_agents;
mod person_decisions;
mod plan_examples;
mod plan_fields;
mod plan_file_fields;
mod plan_life;
mod plan_portfolio;
mod planning;
mod printed_lines;
mod program;
mod project;
mod replaying;
mod run_reports;
mod sandbox;
mod screen;
mod screens_defects;
mod screens_followed;
mod servers;
mod setting_differences;
mod spare_reader;
mod supply_chain;
mod support;
mod terminal_tasks;
mod tools;
mod torture;
mod transcripts;
mod wording;
mod workspace;
