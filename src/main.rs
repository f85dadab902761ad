//! The thin binary: hands over to the library and turns its result into an exit code.

#[expect(clippy::print_stderr, reason = "there is nothing yet that could show it otherwise")]
fn main() -> std::process::ExitCode {
    if planwright_tools::sandbox::is_helper() {
        return planwright_tools::sandbox::helper_main();
    }
    if let Err(problem) = planwright_tools::sandbox::seal_descriptors() {
        eprintln!("planwright: warning: {problem}");
    }
    planwright_tools::sandbox::protect_self();
    if planwright_tools::process::is_spare_reader() {
        return planwright_tools::process::spare_reader_main();
    }
    planwright::main()
}
