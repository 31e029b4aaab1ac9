//! Tells the linker of macOS that Python's own symbols are there when the library is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
