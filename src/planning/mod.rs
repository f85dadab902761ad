//! Pure algorithms over plain data: no clock, no input or output, no randomness beyond a given seed.

pub mod rcpsp;
