//! Times in the database: whole microseconds since 1970.

use std::path::Path;

use jiff::Timestamp;

use super::error::StoreError;

pub(super) fn micros_now() -> i64 {
    Timestamp::now().as_microsecond()
}

pub(super) fn from_micros(micros: i64, database: &Path) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(micros)
        .map_err(|_| StoreError::damaged(database, format!("{micros} is not a time")))
}
