//! Names the shared library after its ABI, as version.rs has it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => link(&["-soname", "libsealwax.so.1"]),
        Ok("macos") => {
            // Otherwise programs would look for it in the folder that it was built in.
            link(&["-install_name", "@rpath/libsealwax.1.dylib"]);
            link(&["-compatibility_version", "1"]);
        }
        _ => {}
    }
}

fn link(arguments: &[&str]) {
    // A linker that is not called through a compiler takes its arguments as they are.
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let through = if flags.contains("-Clinker-flavor=") {
        ""
    } else {
        "-Wl,"
    };
    for argument in arguments {
        println!("cargo::rustc-cdylib-link-arg={through}{argument}");
    }
}
