//! Agents at work: with recorded and arbitrary models, real and made-up tools, interrupted anywhere.

mod assets;
mod conduct;
mod criteria;
mod fixture;
mod hostile;
mod injection;
mod nested;
mod offline;
mod open_answers;
mod open_loop;
mod open_resume;
mod pacing;
mod patterns;
mod repository;
mod resume;
mod routing;
mod scouting;
