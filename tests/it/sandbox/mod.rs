//! Ways out of the sandbox, each tried for real: as an ordinary user and, where the tests run as root, as root too.

mod battery;
mod builds;
mod place;
