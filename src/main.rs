//! The thin binary: hands over to the library and turns its result into an exit code.

fn main() -> std::process::ExitCode {
    if planwright::tools::sandbox::is_helper() {
        return planwright::tools::sandbox::helper_main();
    }
    planwright::tools::sandbox::seal_descriptors();
    planwright::tools::sandbox::protect_self();
    planwright::cli::main()
}
