//! The thin binary: hands over to the library and turns its result into an exit code.

fn main() -> std::process::ExitCode {
    planwright::cli::main()
}
