//! How the command of the inner loop and of the checks is linked.

#![allow(clippy::print_stdout)]

use std::env::var;

/// Debug builds on Linux are linked for one address (`-no-pie` of the GCC manual, "Link Options"): tests start the command ten thousand
/// times, and nearly half of the time of a start went to the 3 MB of addresses that the loader writes into a program that may lie
/// anywhere. What users build may lie anywhere.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let set = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if set("PROFILE", "debug")
        && set("CARGO_CFG_TARGET_OS", "linux")
        && set("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
