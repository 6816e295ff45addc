//! `sealwax ledger`, on a file.

use super::{sealwax, stdout};

/// What the command says is in tests/command.json.
#[test]
fn the_guards_read_the_records_of_the_command() {
    use sealwax::Principal;
    use sealwax_mcp::ledger::{Namespace, RecordKind};

    let path = std::env::temp_dir().join(format!("sealwax-{}.db", std::process::id()));
    let url = format!("sqlite:{}", path.display());
    let run = |command: &str, rest: &[&str]| {
        let args = ["ledger", command, &url, "--audience", "urn:notes"];
        stdout(&sealwax(&[&args[..], rest].concat(), ""))
    };
    let id = "0123456789abcdef0123456789abcdef";
    run("begin", &[]);
    run("revoke", &["--subject", "alice"]);
    run("end", &["--kind", "session", "--id", id]);
    let namespace = Namespace::new("urn:notes", "");
    let revoked = namespace.revoke(&Principal::subject("alice"), None, 0);
    let ended = namespace.end(&[RecordKind::Session], id, None);
    let file = rusqlite::Connection::open(&path).unwrap();
    for key in [&revoked.unwrap().keys[0], &ended.unwrap().keys[4]] {
        let count = "SELECT count(*) FROM sealwax_ledger WHERE key = ?";
        let found: u32 = file.query_row(count, [key], |row| row.get(0)).unwrap();
        assert_eq!(found, 1, "{key}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_file_that_is_damaged_is_not_fit() {
    use sealwax_cli::{Answer, Request, Run, Step};

    let given = [("url", "sqlite:ledger.db"), ("audience", "urn:notes")];
    let mut run = Run::new(Request {
        command: "ledger check".into(),
        options: given.map(|(name, text)| (name.into(), text.into())).into(),
        ..Request::default()
    });
    for said in ["3.50.4", "wal", "*** in database main ***"] {
        let said = sealwax_mcp::ledger::redis::Answer::Texts(vec![said.into()]);
        run.answer(Answer::Store(said));
    }
    let Step::Failed { status, stderr } = run.step(&sealwax::System) else {
        panic!("it is said to be fit")
    };
    assert_eq!(status, 1);
    assert!(stderr.contains("quick_check: expected ok"), "{stderr}");
}
