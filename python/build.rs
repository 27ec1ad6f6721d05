//! Flags that let the module leave Python's symbols to the interpreter, where the linker asks for them.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
