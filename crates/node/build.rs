//! Tells the linker how a library for Node is linked on this platform.

fn main() {
    napi_build::setup();
}
