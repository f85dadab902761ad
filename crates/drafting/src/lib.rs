//! Planning without a model: the offline planner and its templates, change requests in words, the controller table,
//! executor rules and the scout gate.
//!
//! Pure: time and randomness enter as arguments.

pub mod agent_messages;
mod calendar_names;
pub mod change_requests;
pub mod controller;
pub mod executor;
pub mod fact_reading;
pub mod gate;
pub mod goal_plan;
pub mod goal_reading;
pub mod kind_words;
mod number_names;
pub mod offline;
pub mod own_days_off;
pub mod own_hours;
pub mod person_profile;
pub mod policy_text;
pub mod token_budget;
pub mod working_slots;
