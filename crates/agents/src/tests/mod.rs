//! Agents at work: with recorded and arbitrary models, real and made-up tools, interrupted anywhere.

mod assets;
mod conduct;
mod criteria;
mod fixture;
mod hostile;
mod injection;
mod nested;
mod offline;
mod pacing;
mod patterns;
mod repository;
mod resume;
