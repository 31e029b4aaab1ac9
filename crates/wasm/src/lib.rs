//! The package `epitome-context` as WebAssembly: [`epitome_binding::Dispatcher`] behind three functions of addresses and lengths.
//!
//! What a call means is in `epitome-binding`, what JavaScript sees of it in `packages/epitome-context`. The module imports
//! nothing: neither a clock nor randomness, files nor a network.
//!
//! Three functions of numbers need no generator of bindings, whose version a build would have to match, and load the same way
//! in browsers, workers and hosts that give plug-ins nothing but WebAssembly itself.

mod border;
