//! Compiles the one request to valgrind: it is a macro of C.

fn main() {
    println!("cargo::rerun-if-changed=src/taint.c");
    cc::Build::new().file("src/taint.c").compile("taint");
}
