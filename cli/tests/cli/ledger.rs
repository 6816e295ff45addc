//! `sealwax ledger`, on a file.

use super::{ALICE, sealwax, stdout};

/// A ledger in a file that a server of this audience has used.
fn ledger(name: &str) -> (sealwax_mcp::ledger::Sqlite, String) {
    let path = std::env::temp_dir().join(format!("sealwax-{}-{name}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let url = format!("sqlite:{}", path.display());
    let begin = ["ledger", "begin", &url, "--audience", "urn:notes"];
    assert_eq!(stdout(&sealwax(&begin, "")), "begun\n");
    (sealwax_mcp::ledger::Sqlite::open(&path).unwrap(), url)
}

#[test]
fn an_operator_looks_at_a_ledger_and_writes_to_it() {
    use sealwax::Principal;
    use sealwax_mcp::ledger::{Namespace, RecordKind};

    let (ledger, url) = ledger("written");
    let checked = stdout(&sealwax(
        &["ledger", "check", &url, "--audience", "urn:notes"],
        "",
    ));
    assert!(
        checked.contains("fit: yes") && checked.contains("remembers since: 20"),
        "{checked}"
    );

    // The guards read the records of the command.
    let namespace = Namespace::new("urn:notes", "");
    let revoke = [&["ledger", "revoke", &url], &ALICE[..]].concat();
    stdout(&sealwax(&revoke, ""));
    let mark = namespace
        .revoke(&Principal::subject("alice"), None, 0)
        .unwrap()
        .keys[0]
        .clone();
    let id = "0123456789abcdef0123456789abcdef";
    let end = [
        "ledger",
        "end",
        &url,
        "--audience",
        "urn:notes",
        "--kind",
        "session",
        "--id",
        id,
    ];
    stdout(&sealwax(&end, ""));
    let ended = namespace
        .end(&[RecordKind::Session], id, None)
        .unwrap()
        .keys[4]
        .clone();
    drop(ledger);
    let file = rusqlite::Connection::open(url.strip_prefix("sqlite:").unwrap()).unwrap();
    for key in [mark, ended] {
        let found: u32 = file
            .query_row(
                "SELECT count(*) FROM sealwax_ledger WHERE key = ?",
                [&key],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(found, 1, "{key}");
    }
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
