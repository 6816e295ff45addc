//! What pages show, and others run: tests/published/cargo_new.py the server of README.md, `official` the test of docs/testing.md.

#[test]
fn a_page_shows_what_is_run() {
    let server = include_str!("../../examples/rounds.rs");
    let (_, server) = server.split_once("\n\n").unwrap();
    let shown = format!("```rust,no_run\n{server}```\n");
    assert!(include_str!("../../README.md").contains(&shown));

    let tests = include_str!("../official/testing.rs");
    let begins = tests.find("#[tokio::test]").unwrap();
    let ends = begins + tests[begins..].find("\n}\n").unwrap() + 3;
    let shown = format!("```rust,ignore\n{}```\n", &tests[begins..ends]);
    assert!(include_str!("../../../../docs/testing.md").contains(&shown));
}
