//! Whether this process may open as many files as it needs. The runtime panics where it cannot open its own, so that
//! this is found out before it starts.

use std::fs::File;

use super::CliProblem;

/// What a run of three commands at once has open beside the standard streams, measured at 26: the runtime, the store
/// with its log and its readers, the pipes of the commands.
const NEEDED: usize = 28;

/// Refuses in one line where the limit on open files is too low to work with.
pub(super) fn check_open_files() -> anyhow::Result<()> {
    let mut open = Vec::with_capacity(NEEDED);
    for _ in 0..NEEDED {
        match File::open("/dev/null") {
            Ok(file) => open.push(file),
            Err(error) if is_file_limit(&error) => {
                return Err(CliProblem::failed(format!(
                    "only {} more files can be opened, and Planwright needs {NEEDED}",
                    open.len()
                ))
                .with_remedy("raise the limit on open files, such as: ulimit -n 256")
                .into());
            }
            // No /dev/null says nothing about limits; what fails later says so itself.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn is_file_limit(error: &std::io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}
