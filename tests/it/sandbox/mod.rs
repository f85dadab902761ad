//! Ways out of the sandbox, each really tried: as an ordinary user and, where the tests run as root, also as root.

mod battery;
mod builds;
mod place;
